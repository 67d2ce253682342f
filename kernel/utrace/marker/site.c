// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: breakpoints in files
 *
 * A site is a place in a file.  uprobes installs a breakpoint for it in the
 * processes that have an owner's share of the site.  For utrace a site is one
 * more kind of word: "writing" it means to install the breakpoint, together
 * with which uprobes increments the semaphore of an SDT marker.  So perf,
 * bpftrace and other users of uprobes can probe the same place.
 *
 * A place has one site for hits and one for returns, and so at most two
 * consumers, however many owners there are: uprobes calls each consumer of a
 * place when a process hits or maps it.  Which semaphores are incremented
 * depends on the address space, which has one word for each of them.  Owners of
 * the system (everywhere.c) have sites of their own, one for each semaphore,
 * which apply to all processes.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/rculist.h>
#include <linux/rcupdate_trace.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/uprobes.h>
#include <uapi/linux/magic.h>

#include "marker.h"

/**
 * struct marker_site_key - key of a site in the table
 * @inode: the inode whose pages are mapped; for an overlay the real inode
 * @offset: offset of the instruction
 * @semaphore: with @everywhere: file offset of the semaphore; else 0
 * @is_return: a hit is the return of the function
 * @everywhere: the breakpoint is in all processes
 */
struct marker_site_key {
	struct inode *inode;
	loff_t offset;
	loff_t semaphore;
	u32 is_return;
	u32 everywhere;
};

/**
 * struct marker_site - a place in a file
 * @node: entry in sites
 * @key: key in the table
 * @ref: references, under sites_lock
 * @events: struct marker_event of owners of the system.  Written under
 *	sites_lock, read under RCU by handlers
 * @uprobe: the breakpoint, which holds @key.inode while @consumer is registered
 * @consumer: the callbacks for uprobes
 * @rcu: frees the site when hits in progress have finished
 *
 * Constant but for @node, @ref and @events.
 */
struct marker_site {
	struct rhash_head node;
	struct marker_site_key key;
	unsigned int ref;
	struct list_head events;
	struct uprobe *uprobe;
	struct uprobe_consumer consumer;
	struct rcu_head rcu;
};

static struct rhashtable sites;
static DEFINE_SPINLOCK(sites_lock);	/* innermost */

static const struct rhashtable_params site_params = {
	.head_offset		= offsetof(struct marker_site, node),
	.key_offset		= offsetof(struct marker_site, key),
	.key_len		= sizeof(struct marker_site_key),
	.automatic_shrinking	= true,
};

static int __init site_init(void)
{
	return rhashtable_init(&sites, &site_params);
}
core_initcall(site_init);

static struct marker_site *site_of(struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct marker_site, consumer);
}

/* The lowest semaphore >= @from that the address space wants, or -1. */
static loff_t site_next(struct uprobe_consumer *consumer, struct mm_struct *mm,
			loff_t from)
{
	struct marker_mm *memory = utrace_marker_mm_find(mm);
	loff_t next;

	if (!memory)
		return -1;
	next = utrace_marker_next_semaphore(memory, site_of(consumer), from);
	utrace_marker_mm_put(memory);
	return next;
}

/*
 * Called by uprobes: check whether an address space wants the breakpoint.
 * mmap_lock is held.
 */
static bool site_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	return site_next(consumer, mm, 0) >= 0;
}

/* Called by uprobes: iterate over the wanted semaphores.  mmap_lock is held. */
static loff_t site_next_ref_ctr(struct uprobe_consumer *consumer,
				struct mm_struct *mm, loff_t last)
{
	return max(site_next(consumer, mm, last + 1), 0);
}

static int site_handler(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	return utrace_marker_hit(site_of(consumer), instruction_pointer(regs),
				 regs);
}

/* Handle the entry of a function whose return is the hit. */
static int site_entry_handler(struct uprobe_consumer *consumer,
			      struct pt_regs *regs)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	bool wants;

	if (!memory)
		return UPROBE_HANDLER_REMOVE;
	/* An owner that may no longer see the task does not get the return. */
	wants = utrace_marker_wants(memory, site_of(consumer));
	utrace_marker_mm_put(memory);
	return wants ? 0 : UPROBE_HANDLER_REMOVE;
}

static int site_ret_handler(struct uprobe_consumer *consumer,
			    unsigned long function, struct pt_regs *regs)
{
	utrace_marker_hit(site_of(consumer), function, regs);
	return 0;
}

/* Handle the entry of a function whose return will not be seen. */
static void site_ret_missed(struct uprobe_consumer *consumer)
{
	utrace_marker_missed(site_of(consumer));
}

/* The handlers of sites of all processes */

static int all_handler(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	utrace_marker_hit_everywhere(&site_of(consumer)->events,
				     instruction_pointer(regs), regs);
	return 0;
}

static int all_ret_handler(struct uprobe_consumer *consumer,
			   unsigned long function, struct pt_regs *regs)
{
	utrace_marker_hit_everywhere(&site_of(consumer)->events, function,
				     regs);
	return 0;
}

static void all_ret_missed(struct uprobe_consumer *consumer)
{
	utrace_marker_missed_everywhere(&site_of(consumer)->events);
}

static const struct uprobe_consumer site_consumers[2][2] = {
	{
		{
			.filter		= site_filter,
			.next_ref_ctr	= site_next_ref_ctr,
			.handler	= site_handler,
		}, {
			.filter		= site_filter,
			.next_ref_ctr	= site_next_ref_ctr,
			.handler	= site_entry_handler,
			.ret_handler	= site_ret_handler,
			.ret_missed	= site_ret_missed,
		},
	}, {
		{
			.handler	= all_handler,
		}, {
			.ret_handler	= all_ret_handler,
			.ret_missed	= all_ret_missed,
		},
	},
};

static void site_free_rcu(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct marker_site, rcu));
}

/* The inode that uprobes finds in mappings of the file. */
static struct inode *site_inode(const struct file *file)
{
	return d_real_inode(file->f_path.dentry);
}

/*
 * Check whether the caller and the opener of the device may have breakpoints in
 * pages of the inode.  uprobes holds locks that other processes need while it
 * reads a page.  A FUSE server, which any user may run, may never supply the
 * page; the same holds for file systems stacked on FUSE.  So these are reserved
 * to callers that could harm the machine anyway.
 */
static bool site_is_allowed(const struct inode *inode, const struct cred *opener)
{
	const struct super_block *sb = inode->i_sb;

	return (sb->s_magic != FUSE_SUPER_MAGIC && !sb->s_stack_depth) ||
	       utrace_viewer_capable(opener, CAP_SYS_ADMIN);
}

static struct uprobe *site_register(struct marker_site *site)
{
	const struct marker_site_key *key = &site->key;

	if (key->everywhere)
		return uprobe_register(key->inode, key->offset, key->semaphore,
				       &site->consumer);
	return uprobe_register_unapplied(key->inode, key->offset,
					 &site->consumer);
}

static struct marker_site *site_new(const struct marker_site_key *key)
{
	struct marker_site *site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);
	struct uprobe *uprobe;

	if (!site)
		return ERR_PTR(-ENOMEM);
	site->key = *key;
	site->ref = 1;
	INIT_LIST_HEAD(&site->events);
	site->consumer = site_consumers[key->everywhere][key->is_return];
	uprobe = site_register(site);
	if (IS_ERR(uprobe)) {
		kfree(site);
		return ERR_CAST(uprobe);
	}
	site->uprobe = uprobe;
	return site;
}

/* End a site that is not in the table. */
static void site_end(struct marker_site *site)
{
	if (site->key.everywhere)
		uprobe_unregister_nosync(site->uprobe, &site->consumer);
	else
		uprobe_unregister_unapplied(site->uprobe, &site->consumer);
	utrace_marker_after_hits(&site->rcu, site_free_rcu);
}

/* Find a site.  Returns it with a reference, or NULL. */
static struct marker_site *site_find(const struct marker_site_key *key)
{
	struct marker_site *site;

	lockdep_assert_held(&sites_lock);

	site = rhashtable_lookup_fast(&sites, key, site_params);
	if (site)
		site->ref++;
	return site;
}

/* Add a new site, or find the one that another task has added before. */
static struct marker_site *site_add(struct marker_site *new)
{
	struct marker_site *site;
	int ret = 0;

	spin_lock(&sites_lock);
	site = site_find(&new->key);
	if (!site)
		ret = rhashtable_insert_fast(&sites, &new->node, site_params);
	spin_unlock(&sites_lock);
	if (!site && !ret)
		return new;
	site_end(new);
	return site ?: ERR_PTR(-ENOMEM);
}

/**
 * utrace_marker_site_get() - find or create a site
 * @file: the file
 * @offset: offset of the instruction
 * @semaphore: file offset of the semaphore, or 0; without @everywhere it is
 *	only checked
 * @is_return: a hit is the return of the function
 * @everywhere: the breakpoint is in all processes; else in none before
 *	utrace_marker_site_apply()
 * @opener: credentials of the opener of the device; NULL: the caller is the
 *	kernel, which is responsible for the file
 *
 * Context: Process context; sleeps for memory.  With @everywhere, takes the
 * mmap_lock of each process that has the file mapped, and dup_mmap_sem, which
 * blocks fork(2).
 * Return: the site, with a reference, or
 * * -EINVAL - an offset is invalid
 * * -EACCES - the opener may have no breakpoints in this file
 * * -ENOMEM - there is no memory, or the table is being enlarged
 * * another error of uprobe_register()
 */
struct marker_site *utrace_marker_site_get(struct file *file, loff_t offset,
					   loff_t semaphore, bool is_return,
					   bool everywhere,
					   const struct cred *opener)
{
	/*
	 * Look up the inode only once: an overlay may copy the file up at any
	 * time.
	 */
	struct marker_site_key key = {
		.inode = site_inode(file),
		.offset = offset,
		.semaphore = everywhere ? semaphore : 0,
		.is_return = is_return,
		.everywhere = everywhere,
	};
	struct marker_site *site;

	if (!IS_ALIGNED(semaphore, sizeof(u16)) ||
	    max(offset, semaphore) >= i_size_read(key.inode))
		return ERR_PTR(-EINVAL);
	if (opener && !site_is_allowed(key.inode, opener))
		return ERR_PTR(-EACCES);
	scoped_guard(spinlock, &sites_lock)
		site = site_find(&key);
	if (site)
		return site;
	site = site_new(&key);
	return IS_ERR(site) ? site : site_add(site);
}

/* Drop a reference.  Returns true if that was the last one. */
static bool site_put(struct marker_site *site)
{
	guard(spinlock)(&sites_lock);
	if (--site->ref)
		return false;
	rhashtable_remove_fast(&sites, &site->node, site_params);
	return true;
}

/**
 * utrace_marker_site_drop() - drop a reference to a site
 * @site: the site; no address space has a breakpoint for the caller any longer
 *
 * Context: Process context; sleeps, but does not wait for hits in progress.
 */
void utrace_marker_site_drop(struct marker_site *site)
{
	if (site_put(site))
		site_end(site);
}

/**
 * utrace_marker_site_is() - check whether a site is at a place
 * @site: the site
 * @offset: offset of the instruction
 * @is_return: a hit is the return of the function
 *
 * Context: Any.
 * Return: true if it is.
 */
bool utrace_marker_site_is(const struct marker_site *site, u64 offset,
			   bool is_return)
{
	return site->key.offset == offset && site->key.is_return == is_return;
}

/*
 * Map an error of a removal.  What could not be removed for lack of time or
 * memory must be retried: a semaphore would stay raised as long as another
 * consumer has the breakpoint.  The rest is removed by a hit.
 */
static int site_removed(int error)
{
	switch (error) {
	case -EAGAIN:
	case -EINTR:
	case -ENOMEM:
		return -EINTR;
	default:
		return 0;
	}
}

/**
 * utrace_marker_site_apply() - install or remove the breakpoints of a site in a
 * process
 * @place: the site, which is not one of all processes, and the semaphore
 * @mm: the address space; the caller has a reference, as of mmget()
 * @add: install them
 *
 * Context: Process context; sleeps.  Takes mmap_lock for writing.
 * Return:
 * * 0 - success; a breakpoint that could not be removed is removed by its next
 *   hit
 * * -EINTR - the caller or the process was killed; or, without @add, out of
 *   memory
 * * -ERANGE - the semaphore would be negative
 * * -ENXIO - the process cannot read the instruction
 * * -EBUSY - this process has changed the instruction, or a debugger has a
 *   breakpoint there
 * * -EOPNOTSUPP - there can be no breakpoint at the instruction
 * * another error of uprobe_apply_mm()
 */
int utrace_marker_site_apply(const struct marker_place *place,
			     struct mm_struct *mm, bool add)
{
	int ret = uprobe_apply_mm(place->site->uprobe, mm, place->semaphore,
				  add);

	if (!add)
		return site_removed(ret);
	switch (ret) {
	case -EINVAL:
		/*
		 * From change_ref_ctr(), or for the zero page, which contains
		 * no code.
		 */
		return -ERANGE;
	case -EFAULT:
		/*
		 * The arguments of the program were readable: the error is the
		 * process's.
		 */
		return -ENXIO;
	default:
		return ret;
	}
}

/**
 * utrace_marker_site_try_remove() - remove the breakpoints of a site from a
 * process
 * @site: the site, which no owner wants there any longer
 * @mm: the address space; the caller has a reference, as of mmget()
 *
 * Context: Process context; sleeps for memory, and does not wait for the
 * process.
 * Return: 0, or -EINTR if that is not possible now.
 */
int utrace_marker_site_try_remove(struct marker_site *site,
				  struct mm_struct *mm)
{
	return site_removed(uprobe_try_unapply(site->uprobe, mm));
}

/**
 * utrace_marker_site_list() - add an event of an owner of the system to its
 * site
 * @event: the event, which hits can find from here on; its site is one of all
 *	processes
 *
 * Context: Process context.
 */
void utrace_marker_site_list(struct marker_event *event)
{
	guard(spinlock)(&sites_lock);
	list_add_tail_rcu(&event->everywhere, &event->site->events);
}

/**
 * utrace_marker_site_unlist() - remove an event of an owner of the system from
 * its site
 * @event: the event; hits may still use it until uprobe_unregister_sync()
 *
 * Context: Process context.
 */
void utrace_marker_site_unlist(struct marker_event *event)
{
	guard(spinlock)(&sites_lock);
	list_del_rcu(&event->everywhere);
}

/**
 * utrace_marker_after_hits() - call a function after hits in progress have
 * finished
 * @head: argument of @func
 * @func: the function
 *
 * Context: Any but NMI.
 */
void utrace_marker_after_hits(struct rcu_head *head, rcu_callback_t func)
{
	/* The grace period that uprobe_unregister_sync() waits for. */
	call_rcu_tasks_trace(head, func);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: breakpoints in files
 *
 * A site is a place in a file, of which uprobes makes a breakpoint in the processes
 * that have an owner's share of the site.  For utrace a site is one more kind of
 * word: what is "written" is the breakpoint, and uprobes counts the semaphore of an
 * SDT marker together with that.  So perf, bpftrace and others can have the same
 * place.
 *
 * A place has one site for hits and one for returns, and so at most two consumers, for all
 * owners: uprobes asks each consumer of a place when a process hits or maps it.  Which
 * semaphores are counted depends on the memory, of which each word has one.  Owners of the
 * system (everywhere.c) have sites of their own, one for each semaphore, which all processes
 * want.
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
 * struct marker_site_key - which site
 * @inode: the inode whose pages are mapped, which an overlay has below its own
 * @offset: offset of the instruction
 * @semaphore: with @everywhere: offset of the semaphore; else 0
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
 * @key: what it is found by
 * @ref: references, under sites_lock
 * @events: struct marker_event of owners of the system.  Written under sites_lock,
 *	read under RCU by handlers
 * @uprobe: the breakpoint, which holds @key.inode while @consumer is registered
 * @consumer: what uprobes calls
 * @rcu: frees the site when hits that are going on are over
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

/* The next semaphore of a site at @from or behind that memory may have, or -1. */
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

/* uprobes asks whether memory wants the breakpoint.  mmap_lock is held. */
static bool site_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	return site_next(consumer, mm, 0) >= 0;
}

/* uprobes asks which semaphores memory wants to be counted.  mmap_lock is held. */
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

/* The entry of a function whose return is the hit. */
static int site_entry_handler(struct uprobe_consumer *consumer,
			      struct pt_regs *regs)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	bool wants;

	if (!memory)
		return UPROBE_HANDLER_REMOVE;
	/* Whoever may not see the task any more is not told of the return. */
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

/* The entry of a function whose return will not be seen. */
static void site_ret_missed(struct uprobe_consumer *consumer)
{
	utrace_marker_missed(site_of(consumer));
}

/* Likewise, of sites of all processes. */

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
 * May the caller and the opener of the device have a breakpoint in pages of the inode?
 * uprobes holds locks that other processes need while a page is read in.  A server of
 * FUSE, which any user may be, need not bring the page, nor need what is stacked on one; so
 * these are for callers that could harm the machine anyway.
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

/* Returns the site, with a reference, or NULL. */
static struct marker_site *site_find(const struct marker_site_key *key)
{
	struct marker_site *site;

	lockdep_assert_held(&sites_lock);

	site = rhashtable_lookup_fast(&sites, key, site_params);
	if (site)
		site->ref++;
	return site;
}

/* Add a new site, or find the one that somebody else has added meanwhile. */
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
 * utrace_marker_site_get() - find or make a site
 * @file: the file
 * @offset: offset of the instruction
 * @semaphore: offset of the semaphore, or 0; without @everywhere it is only checked
 * @is_return: a hit is the return of the function
 * @everywhere: the breakpoint is in all processes; else in none before
 *	utrace_marker_site_apply()
 * @opener: credentials of the opener of the device; NULL: the caller is the kernel, and
 *	answers for the file
 *
 * Context: Process context; sleeps for memory.  With @everywhere, takes the mmap_lock of
 * each process that has the file mapped, and dup_mmap_sem, for which forks wait.
 * Return: the site, with a reference, or
 * * -EINVAL - an offset does not make sense
 * * -EACCES - the opener may have no breakpoints in this file
 * * -ENOMEM - there is no memory, or the table is being enlarged
 * * another error - of uprobe_register()
 */
struct marker_site *utrace_marker_site_get(struct file *file, loff_t offset,
					   loff_t semaphore, bool is_return,
					   bool everywhere,
					   const struct cred *opener)
{
	/* The inode is looked up once, as an overlay may copy the file at any time. */
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
 * @site: the site, of which no memory has a breakpoint for the caller any more
 *
 * Context: Process context; sleeps, but does not wait for hits.
 */
void utrace_marker_site_drop(struct marker_site *site)
{
	if (site_put(site))
		site_end(site);
}

/**
 * utrace_marker_site_is() - is a site at this place?
 * @site: the site
 * @offset: offset of the instruction
 * @is_return: a hit is the return of the function
 *
 * Context: Any.
 * Return: true if so.
 */
bool utrace_marker_site_is(const struct marker_site *site, u64 offset,
			   bool is_return)
{
	return site->key.offset == offset && site->key.is_return == is_return;
}

/*
 * What is left for lack of time or memory is removed later: a semaphore would stay raised
 * as long as others have the breakpoint.
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
 * utrace_marker_site_apply() - install or remove the breakpoints of a site in a process
 * @place: the site, which is not one of all processes, and the semaphore
 * @mm: the memory; the caller has a reference, as of mmget()
 * @add: install them
 *
 * Context: Process context; sleeps.  Takes mmap_lock for writing.
 * Return:
 * * 0 - done; of what was to be removed, a hit takes away what is left
 * * -EINTR - the caller is being killed, or the process is; or there is no memory to remove
 *   them now
 * * -ERANGE - the semaphore would be negative
 * * -ENXIO - the process cannot read the instruction
 * * -EBUSY - only this process has changed the instruction, or a debugger has a breakpoint
 *   there
 * * -EOPNOTSUPP - there can be no breakpoint at the instruction
 * * another error - see uprobe_apply_mm()
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
		/* From change_ref_ctr(), or of the zero page, which is no code. */
		return -ERANGE;
	case -EFAULT:
		/* What the program gave can be read: this is the process. */
		return -ENXIO;
	default:
		return ret;
	}
}

/**
 * utrace_marker_site_try_remove() - remove the breakpoints of a site from a process
 * @site: the site, which nobody wants there any more
 * @mm: the memory; the caller has a reference, as of mmget()
 *
 * Context: Process context; sleeps for memory, and does not wait for the process.
 * Return: 0 or -EINTR if that is not possible now.
 */
int utrace_marker_site_try_remove(struct marker_site *site,
				  struct mm_struct *mm)
{
	return site_removed(uprobe_try_unapply(site->uprobe, mm));
}

/**
 * utrace_marker_site_list() - add an event of an owner of the system to its site
 * @event: the event, which hits find from here on; its site is one of all processes
 *
 * Context: Process context.
 */
void utrace_marker_site_list(struct marker_event *event)
{
	guard(spinlock)(&sites_lock);
	list_add_tail_rcu(&event->everywhere, &event->site->events);
}

/**
 * utrace_marker_site_unlist() - remove an event of an owner of the system from its site
 * @event: the event, which hits may use until uprobe_unregister_sync()
 *
 * Context: Process context.
 */
void utrace_marker_site_unlist(struct marker_event *event)
{
	guard(spinlock)(&sites_lock);
	list_del_rcu(&event->everywhere);
}

/**
 * utrace_marker_after_hits() - call a function when hits that are going on have been told
 * @head: argument of @func
 * @func: what is called
 *
 * Context: Any but NMI.
 */
void utrace_marker_after_hits(struct rcu_head *head, rcu_callback_t func)
{
	/* What uprobe_unregister_sync() waits for. */
	call_rcu_tasks_trace(head, func);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: breakpoints in files
 *
 * A site is a place in a file, of which uprobes makes a breakpoint in the processes
 * that have an owner's share of the site.  For utrace a site is one more kind of
 * word: what is "written" is the breakpoint, and uprobes counts the semaphore of an
 * SDT marker together with that.  So perf, bpftrace and others can have the same
 * place.  Owners of the system (everywhere.c) have sites of their own, which all
 * processes want.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/path.h>
#include <linux/rculist.h>
#include <linux/rcupdate_trace.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/uprobes.h>
#include <linux/workqueue.h>
#include <uapi/linux/magic.h>

#include "marker.h"

/**
 * struct marker_site_key - which site
 * @file: the inode of the file that was opened
 * @inode: the inode whose pages are mapped, which an overlay has below @file, and may
 *	change for another one
 * @offset: offset of the instruction
 * @semaphore: offset of the semaphore, or 0
 * @is_return: a hit is the return of the function
 * @everywhere: the breakpoint is in all processes
 */
struct marker_site_key {
	const struct inode *file;
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
 * @path: the file, held so that a look-up of its name finds the same inode
 * @events: struct marker_event of owners of the system.  Written under sites_lock,
 *	read under RCU by handlers
 * @uprobe: the breakpoint, which holds @key.inode while @consumer is registered
 * @consumer: what uprobes calls
 * @rcu: queues @free when hits that are going on are over
 * @free: frees the site
 *
 * Constant but for @node, @ref and @events.
 */
struct marker_site {
	struct rhash_head node;
	struct marker_site_key key;
	unsigned int ref;
	struct path path;
	struct list_head events;
	struct uprobe *uprobe;
	struct uprobe_consumer consumer;
	struct rcu_head rcu;
	struct work_struct free;
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

/* uprobes asks whether memory wants the breakpoint.  mmap_lock is held. */
static bool site_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	struct marker_site *site = container_of(consumer, struct marker_site,
						consumer);
	struct marker_mm *memory;
	bool wants;

	memory = utrace_marker_mm_find(mm);
	if (!memory)
		return false;
	wants = utrace_marker_wants(memory, site);
	utrace_marker_mm_put(memory);
	return wants;
}

static struct marker_site *site_of(struct uprobe_consumer *consumer)
{
	return container_of(consumer, struct marker_site, consumer);
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
	return site_filter(consumer, current->mm) ? 0 : UPROBE_HANDLER_REMOVE;
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
			.handler	= site_handler,
		}, {
			.filter		= site_filter,
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

static void site_free(struct work_struct *work)
{
	struct marker_site *site = container_of(work, struct marker_site, free);

	path_put(&site->path);
	kfree(site);
}

/* path_put() may sleep. */
static void site_free_rcu(struct rcu_head *rcu)
{
	queue_work(system_unbound_wq,
		   &container_of(rcu, struct marker_site, rcu)->free);
}

/* The inode that uprobes finds in mappings of the file. */
static struct inode *site_inode(const struct file *file)
{
	return d_real_inode(file->f_path.dentry);
}

/*
 * May the caller have a breakpoint in pages of the inode?  uprobes holds locks that other
 * processes need while a page is read in.  A server of FUSE, which any user may be, need
 * not bring the page, nor need what is stacked on one; so these are for callers that
 * could harm the machine anyway.
 */
static bool site_is_allowed(const struct inode *inode)
{
	const struct super_block *sb = inode->i_sb;

	return (sb->s_magic != FUSE_SUPER_MAGIC && !sb->s_stack_depth) ||
	       capable(CAP_SYS_ADMIN);
}

static struct uprobe *site_register(struct marker_site *site)
{
	const struct marker_site_key *key = &site->key;

	return (key->everywhere ? uprobe_register : uprobe_register_unapplied)
	       (key->inode, key->offset, key->semaphore, &site->consumer);
}

/* uprobes has a number of the kernel's own. */
static int site_error(int error)
{
	return error == -ENOTSUPP ? -EOPNOTSUPP : error;
}

static struct marker_site *site_new(struct file *file,
				    const struct marker_site_key *key)
{
	struct marker_site *site;
	struct uprobe *uprobe;

	if (!IS_ALIGNED(key->semaphore, sizeof(u16)) ||
	    max(key->offset, key->semaphore) >= i_size_read(key->inode))
		return ERR_PTR(-EINVAL);
	site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);
	if (!site)
		return ERR_PTR(-ENOMEM);
	site->key = *key;
	site->ref = 1;
	INIT_LIST_HEAD(&site->events);
	INIT_WORK(&site->free, site_free);
	site->consumer = site_consumers[key->everywhere][key->is_return];
	uprobe = site_register(site);
	if (IS_ERR(uprobe)) {
		kfree(site);
		return ERR_PTR(site_error(PTR_ERR(uprobe)));
	}
	site->uprobe = uprobe;
	site->path = file->f_path;
	path_get(&site->path);
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
 * @semaphore: offset of the semaphore, or 0
 * @is_return: a hit is the return of the function
 * @everywhere: the breakpoint is in all processes; else in none before
 *	utrace_marker_site_apply()
 * @trusted: the caller is the kernel, and answers for the file
 *
 * Context: Process context; sleeps for memory.  With @everywhere, takes the mmap_lock of
 * each process that has the file mapped, and dup_mmap_sem, for which forks wait.
 * Return: the site, with a reference, or
 * * -EINVAL - an offset does not make sense
 * * -EIO - the file cannot have breakpoints, or not those of the current task
 * * -ENOMEM - there is no memory, or the table is being enlarged
 * * another error - of uprobe_register()
 */
struct marker_site *utrace_marker_site_get(struct file *file, loff_t offset,
					   loff_t semaphore, bool is_return,
					   bool everywhere, bool trusted)
{
	/* The inode is looked up once, as an overlay may copy the file at any time. */
	struct marker_site_key key = {
		.file = file_inode(file),
		.inode = site_inode(file),
		.offset = offset,
		.semaphore = semaphore,
		.is_return = is_return,
		.everywhere = everywhere,
	};
	struct marker_site *site;

	if (!trusted && !site_is_allowed(key.inode))
		return ERR_PTR(-EIO);
	scoped_guard(spinlock, &sites_lock)
		site = site_find(&key);
	if (site)
		return site;
	site = site_new(file, &key);
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
 * @file: the file
 * @offset: offset of the instruction
 * @is_return: a hit is the return of the function
 *
 * Context: Any.
 * Return: true if so.
 */
bool utrace_marker_site_is(const struct marker_site *site,
			   const struct file *file, u64 offset, bool is_return)
{
	return site->key.file == file_inode(file) &&
	       site->key.offset == offset && site->key.is_return == is_return;
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
 * @site: the site, which is not one of all processes
 * @mm: the memory; the caller has a reference, as of mmget()
 * @add: install them
 *
 * Context: Process context; sleeps.  Takes mmap_lock for writing.
 * Return:
 * * 0 - done; of what was to be removed, a hit takes away what is left
 * * -EINTR - the caller is being killed, or the process is; or there is no memory to remove
 *   them now
 * * -ERANGE - the semaphore would be negative
 * * -EBUSY - only this process has changed the instruction, or a debugger has a breakpoint
 *   there
 * * -EOPNOTSUPP - there can be no breakpoint at the instruction
 * * another error - see uprobe_apply_mm()
 */
int utrace_marker_site_apply(struct marker_site *site, struct mm_struct *mm,
			     bool add)
{
	int ret = uprobe_apply_mm(site->uprobe, &site->consumer, mm, add);

	if (!add)
		return site_removed(ret);
	/* From change_ref_ctr(), or of the zero page, which is no code. */
	return ret == -EINVAL ? -ERANGE : site_error(ret);
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
 * utrace_marker_site_list() - add an event of an owner of the system, or remove one
 * @site: the site, one of all processes
 * @event: the event
 * @add: add it; else it is removed
 *
 * An event that is removed may be in use until uprobe_unregister_sync().
 *
 * Context: Process context.
 */
void utrace_marker_site_list(struct marker_site *site,
			     struct marker_event *event, bool add)
{
	guard(spinlock)(&sites_lock);
	if (add)
		list_add_tail_rcu(&event->everywhere, &site->events);
	else
		list_del_rcu(&event->everywhere);
}

/**
 * utrace_marker_site_sync() - wait until hits that are going on have been told
 *
 * Context: Process context; sleeps.
 */
void utrace_marker_site_sync(void)
{
	uprobe_unregister_sync();
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

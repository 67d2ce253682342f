// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: breakpoints in files
 *
 * A site is a place in a file, of which uprobes makes a breakpoint in the processes
 * that have an owner's share of the site.  For utrace a site is one more kind of
 * word: what is "written" is the breakpoint, and uprobes counts the semaphore of an
 * SDT marker together with that.  So perf, bpftrace and others can have the same
 * site.  While the site has an event of an owner of the system (everywhere.c), all
 * processes want the breakpoint.
 */
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <linux/rculist.h>
#include <linux/rcupdate_trace.h>
#include <linux/slab.h>
#include <linux/uprobes.h>
#include <linux/workqueue.h>
#include <uapi/linux/magic.h>

#include "marker.h"

/**
 * struct marker_site - a place in a file
 * @list: entry in sites
 * @ref: references, under sites_lock
 * @path: the file, held so that a look-up of its name finds the same inode
 * @inode: the inode whose pages are mapped, which an overlay has below that of @path;
 *	@uprobe holds it while @consumer is registered
 * @offset: offset of the instruction
 * @semaphore: offset of the semaphore, or 0
 * @is_return: a hit is the return of the function
 * @everywhere: struct marker_event of owners of the system.  Written under sites_lock,
 *	read under RCU by handlers, and by the filter
 * @uprobe: the breakpoint
 * @consumer: what uprobes calls
 * @rcu: queues @free when hits that are going on are over
 * @free: frees the site
 *
 * Constant but for @list, @ref and @everywhere.
 */
struct marker_site {
	struct list_head list;
	unsigned int ref;
	struct path path;
	struct inode *inode;
	loff_t offset;
	loff_t semaphore;
	bool is_return;
	struct list_head everywhere;
	struct uprobe *uprobe;
	struct uprobe_consumer consumer;
	struct rcu_head rcu;
	struct work_struct free;
};

static LIST_HEAD(sites);
static DEFINE_MUTEX(sites_lock);	/* outside of the locks of uprobes */

/* uprobes asks whether memory wants the breakpoint.  mmap_lock is held. */
static bool site_filter(struct uprobe_consumer *consumer, struct mm_struct *mm)
{
	struct marker_site *site = container_of(consumer, struct marker_site,
						consumer);
	struct marker_mm *memory;
	bool wants;

	if (!list_empty(&site->everywhere))
		return true;
	memory = utrace_marker_mm_find(mm);
	if (!memory)
		return false;
	wants = utrace_marker_wants(memory, site);
	utrace_marker_mm_put(memory);
	return wants;
}

static noinline int site_hit_everywhere(struct marker_site *site,
					unsigned long ip, struct pt_regs *regs)
{
	int ret = utrace_marker_hit_everywhere(&site->everywhere, ip, regs);

	return ret & utrace_marker_hit(site, ip, regs);
}

/* A hit of the current task, for all owners.  Returns what a handler returns. */
static __always_inline int site_hit(struct marker_site *site,
				    unsigned long ip, struct pt_regs *regs)
{
	if (unlikely(!list_empty(&site->everywhere)))
		return site_hit_everywhere(site, ip, regs);
	return utrace_marker_hit(site, ip, regs);
}

static int site_handler(struct uprobe_consumer *consumer, struct pt_regs *regs)
{
	return site_hit(container_of(consumer, struct marker_site, consumer),
			instruction_pointer(regs), regs);
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
	site_hit(container_of(consumer, struct marker_site, consumer), function,
		 regs);
	return 0;
}

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

static struct marker_site *site_new(struct file *file, struct inode *inode,
				    loff_t offset, loff_t semaphore,
				    bool is_return)
{
	struct marker_site *site;

	if (!IS_ALIGNED(semaphore, sizeof(u16)) ||
	    max(offset, semaphore) >= i_size_read(inode))
		return ERR_PTR(-EINVAL);
	site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);
	if (!site)
		return ERR_PTR(-ENOMEM);
	site->ref = 1;
	INIT_LIST_HEAD(&site->everywhere);
	INIT_WORK(&site->free, site_free);
	site->path = file->f_path;
	site->inode = inode;
	site->offset = offset;
	site->semaphore = semaphore;
	site->is_return = is_return;
	site->consumer.filter = site_filter;
	site->consumer.handler = is_return ? site_entry_handler : site_handler;
	site->consumer.ret_handler = is_return ? site_ret_handler : NULL;
	site->uprobe = uprobe_register_unapplied(inode, offset, semaphore,
						 &site->consumer);
	if (IS_ERR(site->uprobe)) {
		struct marker_site *error = ERR_CAST(site->uprobe);

		kfree(site);
		return error;
	}
	path_get(&site->path);
	list_add(&site->list, &sites);
	return site;
}

static struct marker_site *site_find(struct file *file,
				     const struct inode *inode, loff_t offset,
				     loff_t semaphore, bool is_return)
{
	struct marker_site *site;

	lockdep_assert_held(&sites_lock);

	/* An overlay may have copied the file since a site was made. */
	list_for_each_entry(site, &sites, list)
		if (site->inode == inode && site->semaphore == semaphore &&
		    utrace_marker_site_is(site, file, offset, is_return))
			return site;
	return NULL;
}

/**
 * utrace_marker_site_get() - find or make a site
 * @file: the file
 * @offset: offset of the instruction
 * @semaphore: offset of the semaphore, or 0
 * @is_return: a hit is the return of the function
 * @trusted: the caller is the kernel, and answers for the file
 *
 * Context: Process context; sleeps.
 * Return: the site, with a reference, or
 * * -EINVAL - an offset does not make sense
 * * -EIO - the file cannot have breakpoints, or not those of the current task
 * * -EINTR - the caller is being killed
 * * -ENOMEM - there is no memory
 */
struct marker_site *utrace_marker_site_get(struct file *file, loff_t offset,
					   loff_t semaphore, bool is_return,
					   bool trusted)
{
	/* The inode is looked up once, as an overlay may copy the file at any time. */
	struct inode *inode = site_inode(file);
	struct marker_site *site;

	if (!trusted && !site_is_allowed(inode))
		return ERR_PTR(-EIO);
	if (mutex_lock_killable(&sites_lock))
		return ERR_PTR(-EINTR);
	site = site_find(file, inode, offset, semaphore, is_return);
	if (!site)
		site = site_new(file, inode, offset, semaphore, is_return);
	else
		site->ref++;
	mutex_unlock(&sites_lock);
	return site;
}

/* Drop a reference.  Returns true if that was the last one. */
static bool site_put(struct marker_site *site)
{
	guard(mutex)(&sites_lock);
	if (--site->ref)
		return false;
	list_del(&site->list);
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
	if (!site_put(site))
		return;
	uprobe_unregister_unapplied(site->uprobe, &site->consumer);
	utrace_marker_after_hits(&site->rcu, site_free_rcu);
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
	return d_inode(site->path.dentry) == file_inode(file) &&
	       site->offset == offset && site->is_return == is_return;
}

/**
 * utrace_marker_site_apply() - install or remove the breakpoints of a site
 * @site: the site
 * @mm: the memory; the caller has a reference, as of mmget().  NULL: all processes, of
 *	which those are passed over in which that is not possible
 * @add: install them
 *
 * Context: Process context; sleeps.  Takes mmap_lock for writing; for all processes
 * also dup_mmap_sem, for which forks wait.
 * Return:
 * * 0 - done
 * * -EINTR - the caller is being killed
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

	/* A breakpoint that is left is told to nobody, and goes when it is hit. */
	if (!add && ret != -EINTR)
		return 0;
	switch (ret) {
	case -ENOTSUPP:	/* a number of the kernel's own */
		return -EOPNOTSUPP;
	case -EINVAL:	/* from change_ref_ctr(), or the zero page, which is no code */
		return -ERANGE;
	default:
		return ret;
	}
}

/**
 * utrace_marker_site_list() - add an event of an owner of the system, or remove one
 * @site: the site
 * @event: the event
 * @add: add it; else it is removed
 *
 * An event that is removed may be in use until uprobe_unregister_sync().
 *
 * Context: Process context; sleeps.
 */
void utrace_marker_site_list(struct marker_site *site,
			     struct marker_event *event, bool add)
{
	guard(mutex)(&sites_lock);
	if (add)
		list_add_tail_rcu(&event->everywhere, &site->everywhere);
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

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
 * the system have sites of their own, one for each semaphore, which apply to all
 * processes.
 *
 * An owner of the system has neither an engine nor shares.  Its events are
 * listed in its sites, which have their breakpoint in all processes, as a probe
 * of perf has: uprobes finds the processes that have the file mapped, and those
 * that map it later.  The probe stays registered although a process may have no
 * memory for the breakpoint, or a semaphore that cannot be incremented.  uprobes
 * keeps what hits read: handlers run in sections that uprobe_unregister_sync()
 * waits for.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/rculist.h>
#include <linux/rcupdate_trace.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/uprobes.h>
#include <linux/user_namespace.h>
#include <uapi/linux/magic.h>
#include <uapi/linux/utrace.h>

#include "../viewer.h"
#include "event.h"
#include "marker.h"
#include "owner.h"
#include "site.h"

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

static struct marker_site *site_new(const struct marker_site_key *key,
				    const struct uprobe_consumer *consumer)
{
	struct marker_site *site = kzalloc(sizeof(*site), GFP_KERNEL_ACCOUNT);
	struct uprobe *uprobe;

	if (!site)
		return ERR_PTR(-ENOMEM);
	site->key = *key;
	site->ref = 1;
	INIT_LIST_HEAD(&site->events);
	site->consumer = *consumer;
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
 * @arg: the place; without @everywhere the semaphore is only checked
 * @everywhere: the breakpoint is in all processes; else in none before
 *	utrace_marker_site_apply()
 * @opener: credentials of the opener of the device; NULL: the caller is the
 *	kernel, which is responsible for the file
 * @consumer: the callbacks for uprobes of a new site
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
struct marker_site *
utrace_marker_site_get(struct file *file, const struct utrace_marker *arg,
		       bool everywhere, const struct cred *opener,
		       const struct uprobe_consumer *consumer)
{
	const loff_t offset = arg->offset, semaphore = arg->semaphore;
	/*
	 * Look up the inode only once: an overlay may copy the file up at any
	 * time.
	 */
	struct marker_site_key key = {
		.inode = site_inode(file),
		.offset = offset,
		.semaphore = everywhere ? semaphore : 0,
		.is_return = !!(arg->flags & UTRACE_MARKER_F_RETURN),
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
	site = site_new(&key, consumer);
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

/*
 * Remove an event from its site.  Hits may still use it until
 * uprobe_unregister_sync().
 */
static void site_unlist(struct marker_event *event)
{
	guard(spinlock)(&sites_lock);
	list_del_rcu(&event->everywhere);
}

/**
 * utrace_marker_end_everywhere() - end an event of an owner of the system
 * @event: the event, which utrace_marker_site_list() has added
 *
 * When this returns, deliveries of hits of @event have finished.  The
 * breakpoints are removed with the site.
 *
 * Context: Process context; sleeps.  Waits for hits in progress.
 */
void utrace_marker_end_everywhere(struct marker_event *event)
{
	site_unlist(event);
	uprobe_unregister_sync();
}

/**
 * utrace_marker_end_all_everywhere() - end all events of an owner of the system
 * @owner: the owner, whose target ends
 *
 * Context: As utrace_marker_end_everywhere().
 */
void utrace_marker_end_all_everywhere(struct marker_owner *owner)
{
	struct marker_event *event;

	if (list_empty(&owner->events))
		return;
	list_for_each_entry(event, &owner->events, list)
		site_unlist(event);
	uprobe_unregister_sync();
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

/* The limit of a user */

/* user.max_utrace_sites of the initial user namespace. */
#define MARKER_SITES_OF_USER	4096

static int __init marker_limit_init(void)
{
	init_user_ns.ucount_max[UCOUNT_UTRACE_SITES] = MARKER_SITES_OF_USER;
	return 0;
}
core_initcall(marker_limit_init);

/**
 * utrace_marker_charge() - charge a place to the user who opened the device
 * @event: the event
 *
 * The owners of the enclosing user namespaces are charged as well.  A module is
 * not limited.
 *
 * Context: Any but NMI.
 * Return: 0 or -EUSERS.
 */
int utrace_marker_charge(struct marker_event *event)
{
	const struct utrace_viewer *viewer = event->owner->viewer;
	const struct cred *opener;

	if (!viewer)
		return 0;
	opener = viewer->opener;
	event->ucounts = inc_ucount(opener->user_ns, opener->euid,
				    UCOUNT_UTRACE_SITES);
	return event->ucounts ? 0 : -EUSERS;
}

/**
 * utrace_marker_uncharge() - undo the charge of an event for its place
 * @event: the event; no process has its breakpoint any longer
 *
 * Context: Any but NMI.
 */
void utrace_marker_uncharge(struct marker_event *event)
{
	if (event->ucounts)
		dec_ucount(event->ucounts, UCOUNT_UTRACE_SITES);
}

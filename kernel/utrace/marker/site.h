/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: breakpoints in files */
#ifndef _KERNEL_UTRACE_MARKER_SITE_H
#define _KERNEL_UTRACE_MARKER_SITE_H

#include <linux/errno.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable-types.h>
#include <linux/types.h>
#include <linux/uprobes.h>

struct cred;
struct file;
struct inode;
struct marker_event;
struct marker_owner;
struct marker_place;
struct mm_struct;
struct utrace_marker;

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

#ifdef CONFIG_UTRACE_SITES

struct marker_site *
utrace_marker_site_get(struct file *file, const struct utrace_marker *arg,
		       bool everywhere, const struct cred *opener,
		       const struct uprobe_consumer *consumer);
void utrace_marker_site_drop(struct marker_site *site);
bool utrace_marker_site_is(const struct marker_site *site, u64 offset,
			   bool is_return);
int utrace_marker_site_apply(const struct marker_place *place,
			     struct mm_struct *mm, bool add);
int utrace_marker_site_try_remove(struct marker_site *site,
				  struct mm_struct *mm);
void utrace_marker_site_list(struct marker_event *event);
void utrace_marker_end_everywhere(struct marker_event *event);
void utrace_marker_end_all_everywhere(struct marker_owner *owner);
void utrace_marker_after_hits(struct rcu_head *head, rcu_callback_t func);
int utrace_marker_charge(struct marker_event *event);
void utrace_marker_uncharge(struct marker_event *event);

#else

static inline void utrace_marker_site_drop(struct marker_site *site) { }

static inline int utrace_marker_site_apply(const struct marker_place *place,
					   struct mm_struct *mm, bool add)
{
	return -EOPNOTSUPP;
}

static inline int utrace_marker_site_try_remove(struct marker_site *site,
						struct mm_struct *mm)
{
	return 0;
}

static inline void utrace_marker_end_everywhere(struct marker_event *event) { }

static inline void
utrace_marker_end_all_everywhere(struct marker_owner *owner)
{
}

static inline void utrace_marker_after_hits(struct rcu_head *head,
					    rcu_callback_t func)
{
	func(head);
}

static inline void utrace_marker_uncharge(struct marker_event *event) { }

#endif

#endif /* _KERNEL_UTRACE_MARKER_SITE_H */

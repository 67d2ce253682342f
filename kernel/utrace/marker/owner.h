/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: owners of shares of words */
#ifndef _KERNEL_UTRACE_MARKER_OWNER_H
#define _KERNEL_UTRACE_MARKER_OWNER_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct marker_share;
struct pid;
struct pid_namespace;
struct task_struct;
struct utrace_engine;
struct utrace_markers_ops;
struct utrace_viewer;

/**
 * enum marker_changed - the state of change notifications of an owner
 * @MARKER_KNOWN: no state of a word has changed since the last LIST
 * @MARKER_CHANGED: the state of a word may have changed; the session has
 *	counted it
 * @MARKER_ENDED: the target has ended, so changes are no longer counted
 */
enum marker_changed {
	MARKER_KNOWN,
	MARKER_CHANGED,
	MARKER_ENDED,
};

/**
 * struct marker_owner - an owner of shares of words
 * @ref: one reference for the target, one for the engine, one for each share,
 *	one for each hit that sleeps during delivery, one for each ioctl
 * @mutex: serializes ARM and DISARM
 * @lock: protects @shares, @leaving, @nshares, @events, @nevents, @newest,
 *	@closed, @engine and @user
 * @shares: struct marker_share that are not leaving, and the cursors of
 *	utrace_marker_next_share()
 * @leaving: struct marker_share that are leaving, and cursors
 * @nshares: number of shares in @shares and @leaving
 * @events: struct marker_event, see event.c
 * @nevents: number of elements of @events.  Written under @mutex and @lock
 * @newest: marker_event.number of the event that was added last.  Written under
 *	@lock
 * @number: unique among all owners since boot; constant
 * @closed: the target has ended.  Written under @mutex and @lock
 * @armed: struct marker_armed, see armed.c.  Under @mutex
 * @narmed: number of elements of @armed.  Under @mutex
 * @changed: enum marker_changed.  Changed without a lock
 * @follow: children of fork(2) get the words as well; constant
 * @engine: the engine, with a reference; NULL once it is detached
 * @target: engine of the target for which hits are recorded, counted; NULL for
 *	@client and @kernel.  Constant
 * @process: the process that has the words, counted; for @system the process
 *	that has created the owner.  Constant
 * @viewer: the target's viewer, which decides who may see and change the
 *	processes, counted; constant.  NULL for @client and @kernel
 * @user: the process that made the last ioctl, counted; the argument @reader of
 *	utrace_viewer_ask().  NULL: none.  Under @lock; compared without
 * @ns: pid namespace of the opener, counted; constant
 * @end: frees the events; a work item because the last reference may be that of
 *	a hit, in a handler of uprobes
 * @free: frees the owner when hits have finished
 * @client: callbacks of the module, see client.c; NULL if the owner is not a
 *	module.  Constant
 * @data: argument of the callbacks of @client; constant
 * @calls: one reference for the client, one for each callback that is running
 * @called: completed when @calls is 0
 * @kernel: the owner is a part of the kernel, see words.c; constant
 * @system: the owner has markers in all processes, and no engine; hits of
 *	@process are ignored, see site.c; constant
 * @users: for @kernel: number of users that have not called utrace_words_put()
 * @left: for @kernel: threads have to be asked, see utrace_words_write().
 *	Under a lock of the caller
 * @lacking: for @kernel: a bit could not be wanted for lack of memory or room,
 *	see utrace_words_want().  Set once, without a lock
 */
struct marker_owner {
	struct kref ref;
	struct mutex mutex;	/* serializes ARM and DISARM */
	spinlock_t lock;	/* innermost */
	struct list_head shares;
	struct list_head leaving;
	unsigned int nshares;
	struct list_head events;
	unsigned int nevents;
	u64 newest;
	u64 number;
	bool closed;
	struct list_head armed;
	unsigned int narmed;
	atomic_t changed;
	bool follow;
	struct utrace_engine *engine;
	struct utrace_engine *target;
	struct pid *process;
	struct utrace_viewer *viewer;
	struct pid *user;
	struct pid_namespace *ns;
	struct work_struct end;
	struct rcu_work free;
	const struct utrace_markers_ops *client;
	void *data;
	refcount_t calls;
	struct completion called;
	bool kernel;
	bool system;
	refcount_t users;
	bool left;
	bool lacking;
};

struct marker_owner *utrace_marker_owner_alloc(struct task_struct *task,
					       struct pid_namespace *ns);
bool utrace_marker_call_begin(struct marker_owner *owner);
void utrace_marker_call_end(struct marker_owner *owner);
void utrace_marker_owner_put(struct marker_owner *owner);
struct utrace_engine *utrace_marker_engine_get(struct marker_owner *owner);
bool utrace_marker_follows(struct marker_owner *owner);
void utrace_marker_detach_if_done(struct marker_owner *owner);
void utrace_marker_ask_all(struct marker_owner *owner, bool now);
void utrace_marker_tell(struct marker_owner *owner);
bool utrace_marker_may_trace(struct marker_owner *owner);
bool utrace_marker_may_tell(struct marker_owner *owner);
bool utrace_marker_next_share(struct marker_owner *owner,
			      struct list_head *shares,
			      struct marker_share *cursor,
			      bool (*fn)(struct marker_share *share, void *arg),
			      void *arg);

#endif /* _KERNEL_UTRACE_MARKER_OWNER_H */

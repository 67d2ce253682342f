/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - viewers, and their rights to see and change tasks
 *
 * Each client of /dev/utrace calls viewer.c before each access to a task.  An
 * answer is cached together with the state on which it depends, so the next
 * check only compares the state.
 */
#ifndef _KERNEL_UTRACE_VIEWER_H
#define _KERNEL_UTRACE_VIEWER_H

#include <linux/cred.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mm_types.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>

struct pid;

/**
 * struct utrace_viewer - the subject of checks of rights
 * @ref: counts targets, consumers and owners of words that use it
 * @opener: credentials of the opener of the device, counted
 * @caller: credentials of the process that requested this use, counted.
 *	Security modules do not distinguish them from @opener
 * @unchecked: the process may trace the whole system, so rights to single tasks
 *	are not checked
 * @thread: the thread that made the request, counted
 * @process: its process, counted
 * @views: struct utrace_view of tasks; under views_lock
 *
 * Describes the use of a session by one process.  All but @ref and @views is
 * constant.  A client in the kernel has no viewer: NULL sees all.
 */
struct utrace_viewer {
	struct kref ref;
	const struct cred *opener;
	const struct cred *caller;
	bool unchecked;
	struct pid *thread;
	struct pid *process;
	struct list_head views;
};

/**
 * struct utrace_viewed - a cached answer about a task
 * @cred: credentials of the task at the last check, counted; NULL: there was
 *	none
 * @state: utrace_viewer_state() of that time, with %UTRACE_VIEW_HIDDEN if the
 *	task may not be seen; 0: there is no valid answer
 * @modules: the answer of the security modules, %UTRACE_MODULES_UNASKED if they
 *	were not asked.  It does not depend on the dumpability of the memory
 * @reported: for clients that report hidden tasks to a reader: this task was
 *	reported
 *
 * Only the task itself uses it, until it is freed.
 */
struct utrace_viewed {
	const struct cred *cred;
	u64 state;
	enum {
		UTRACE_MODULES_UNASKED,
		UTRACE_MODULES_ALLOW,
		UTRACE_MODULES_REFUSE,
	} modules;
	bool reported;
};

/* In utrace_viewed.state, above the dumpability: the task may not be seen. */
#define UTRACE_VIEW_HIDDEN	BIT(2)
/* Added to utrace_viewer_changes by a change for all viewers and tasks. */
#define UTRACE_VIEW_CHANGE	8

static_assert(MMF_DUMPABLE_MASK < UTRACE_VIEW_HIDDEN);

/*
 * A multiple of UTRACE_VIEW_CHANGE, not 0; grows when
 * kernel.utrace.unprivileged or the policy of a security module changes.  At a
 * million changes a second, 64 bits last for 70000 years.
 */
extern atomic64_t utrace_viewer_changes;

/*
 * The state on which an answer about the current task depends, in addition to
 * viewer and credentials.  @mm is its memory.
 */
static __always_inline u64 utrace_viewer_state(const struct mm_struct *mm)
{
	return atomic64_read(&utrace_viewer_changes) +
	       (READ_ONCE(mm->flags) & MMF_DUMPABLE_MASK);
}

/*
 * Check for a valid answer that the current task, whose memory is @mm, may be
 * seen.  Any context, in the task itself.
 */
static __always_inline bool
utrace_viewed_seen(const struct utrace_viewed *viewed, const struct mm_struct *mm)
{
	return likely(viewed->state == utrace_viewer_state(mm)) &&
	       likely(viewed->cred == current_real_cred());
}

/*
 * Check for a valid answer that the current task may not be seen.  Arguments
 * and context as for utrace_viewed_seen().
 */
static __always_inline bool
utrace_viewed_hidden(const struct utrace_viewed *viewed, const struct mm_struct *mm)
{
	return viewed->state == (utrace_viewer_state(mm) | UTRACE_VIEW_HIDDEN) &&
	       viewed->cred == current_real_cred();
}

/* viewer.c */
extern int utrace_unprivileged;
void utrace_viewers_changed(void);
struct utrace_viewer *utrace_viewer_new(const struct cred *opener,
					bool unchecked);
struct utrace_viewer *utrace_viewer_get(struct utrace_viewer *viewer);
void utrace_viewer_put(struct utrace_viewer *viewer);
bool utrace_viewer_is_covered(const struct utrace_viewer *viewer);
bool utrace_viewer_is_enabled(const struct utrace_viewer *viewer);
bool utrace_viewer_capable(const struct cred *opener, int cap);
bool utrace_viewer_ask(const struct utrace_viewer *viewer, struct pid *reader,
		       struct utrace_viewed *viewed);
struct utrace_viewed *utrace_viewer_viewed(struct utrace_viewer *viewer);
bool utrace_viewer_sees(struct utrace_viewer *viewer, struct pid *reader);
bool utrace_viewer_knows(const struct utrace_viewer *viewer);
bool utrace_viewer_may_see_memory(const struct utrace_viewer *viewer);
bool utrace_viewer_may_attach(const struct utrace_viewer *viewer,
			      struct task_struct *task);
bool utrace_viewer_may_noaudit(const struct utrace_viewer *viewer,
			       struct task_struct *task);
bool utrace_viewer_may_see_all(const struct cred *opener);

#endif /* _KERNEL_UTRACE_VIEWER_H */

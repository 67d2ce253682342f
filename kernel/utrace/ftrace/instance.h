/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: instances
 *
 * An instance of ftrace whose tracer is "process" has a struct process_trace
 * with its settings and one system-wide engine.  It has a struct process_task
 * (stat.h) for each task that it follows.
 *
 * Lock order, outermost first: event_mutex and trace_types_lock of ftrace,
 * utrace_ftrace_mutex, utrace_change_mutex.  Callbacks take none of them: a
 * page fault that user space serves may delay a callback.  For the same reason
 * a holder of these locks must not wait for callbacks.
 */
#ifndef _KERNEL_UTRACE_FTRACE_INSTANCE_H
#define _KERNEL_UTRACE_FTRACE_INSTANCE_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>

#include "../../trace/trace.h"

#include "../count/count.h"
#include "settings.h"

struct task_struct;
struct trace_event_file;
struct utrace_engine;
struct utrace_engine_ops;
struct utrace_match;

/**
 * struct process_trace - state of the tracer in one instance
 * @ref: one reference for the instance, one for each engine until its release()
 * @tr: the instance; NULL while it uses another tracer.  Written
 *	under utrace_ftrace_mutex, read under RCU.
 * @active: entry in process_active while the tracer is current.  Written under
 *	utrace_ftrace_mutex, read under RCU.
 * @engine: the engine, counted, while the tracer is current; else NULL.
 *	Written under utrace_ftrace_mutex.  Callbacks read it under RCU or with
 *	preemption off.
 * @match: match of the engine, counted; NULL without one.  Under
 *	utrace_ftrace_mutex.
 * @file: the instance's file of each event.  Set before @engine; a callback
 *	uses it with preemption off, after it has found its engine in @engine.
 * @settings: the settings in force.  Callbacks read all but the targets without
 *	a lock, at any time.
 * @counts: the tasks, each in a struct process_task, and their counts
 * @started: ktime_get_ns() at the start of the tracer, or at the last change of
 *	the events or system calls that it follows.  A call that a task entered
 *	before may have ended without a report to the instance.
 * @lost: captures and tasks that were lost for lack of memory or room; lost
 *	counts of calls are in @counts
 *
 * @settings and @started are written under utrace_ftrace_mutex, and read
 * without a lock.
 */
struct process_trace {
	struct kref ref;
	struct trace_array __rcu *tr;
	struct list_head active;
	struct utrace_engine __rcu *engine;
	struct utrace_match *match;
	struct trace_event_file *file[PROCESS_NRECORDS];
	struct process_settings settings;
	struct utrace_counts counts;
	u64 started;
	atomic_long_t lost;
};

/* ftrace_engine.c */
extern const struct utrace_engine_ops utrace_ftrace_ops;

/* instance.c */
extern struct mutex utrace_ftrace_mutex;

static inline bool process_wants(const struct process_trace *pt,
				 enum process_event event)
{
	return READ_ONCE(pt->settings.events) & BIT(event);
}

/* Check whether @tr uses the tracer "process"; the caller holds RCU. */
static inline bool process_is_active(const struct trace_array *tr)
{
	return tr->process && rcu_access_pointer(tr->process->tr);
}

static inline struct utrace_engine *
utrace_ftrace_engine(const struct process_trace *pt)
{
	return rcu_dereference_protected(pt->engine,
					 lockdep_is_held(&utrace_ftrace_mutex));
}

void utrace_ftrace_put(void *pt);
bool utrace_ftrace_choose(struct task_struct *task, void *data);
bool utrace_ftrace_follows(struct process_trace *pt, struct task_struct *task);
bool utrace_ftrace_is_first(struct process_trace *pt, enum process_event event,
			    unsigned int nr);
void utrace_ftrace_start(struct process_trace *pt, struct trace_array *tr,
			 struct utrace_engine *engine);
void utrace_ftrace_stop(struct process_trace *pt);

#endif /* _KERNEL_UTRACE_FTRACE_INSTANCE_H */

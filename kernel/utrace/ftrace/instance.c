// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: its instances
 *
 * An instance follows the tasks of its match and of ftrace's own lists of pids
 * (set_event_pid, set_event_notrace_pid).  ftrace keeps the lists; with its
 * option event-fork it adds children and removes dead tasks.
 *
 * Stopping the tracer does not wait for callbacks, since ftrace stops it under
 * trace_types_lock, and a callback may be in a page fault that user space
 * serves.  A callback that is still running finds pt->engine changed and drops
 * its record.
 */
#include <linux/bug.h>
#include <linux/kref.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include "../match.h"
#include "instance.h"
#include "targets.h"

/* Guards the settings, the start and the end of the tracer in all instances. */
DEFINE_MUTEX(utrace_ftrace_mutex);

/*
 * Instances whose current tracer is "process".  Changed under
 * utrace_ftrace_mutex, read under RCU.
 */
static LIST_HEAD(process_active);

/* The instance and its last engine are gone, so no callback can use @pt. */
static void process_trace_free(struct kref *ref)
{
	struct process_trace *pt = container_of(ref, struct process_trace, ref);

	utrace_counts_end(&pt->counts);
	utrace_ftrace_free_settings(&pt->settings);
	kfree(pt);
}

/**
 * utrace_ftrace_put() - drop a reference to the tracer's state in an instance
 * @pt: struct process_trace; the caller's reference is consumed
 *
 * Is also ops->release() of the engine.
 *
 * Context: Process context.  The last put may sleep, and takes
 * utrace_counts.lock.
 */
void utrace_ftrace_put(void *pt)
{
	kref_put(&((struct process_trace *)pt)->ref, process_trace_free);
}

/* Which tasks an instance follows */

/**
 * utrace_ftrace_choose() - check whether ftrace's lists of pids choose a task
 * @task: the current task, for the match of the engine
 * @data: struct process_trace
 *
 * Context: The task itself.  Does not sleep.
 * Return:
 * * true - the lists choose the task
 * * false - they do not, or the instance uses another tracer
 */
bool utrace_ftrace_choose(struct task_struct *task, void *data)
{
	struct process_trace *pt = data;
	struct trace_array *tr;

	guard(rcu)();
	tr = rcu_dereference(pt->tr);
	return tr && !trace_ignore_this_task(rcu_dereference(tr->filtered_pids),
					     rcu_dereference(tr->filtered_no_pids),
					     task);
}

/**
 * utrace_ftrace_follows() - check whether an instance follows a task
 * @pt: the instance; the caller holds a reference, or RCU
 * @task: the task; the caller holds a reference, or RCU
 *
 * The answer is the verdict at the task's last event.
 *
 * Context: Any but NMI, without utrace->lock.
 * Return: true if the engine covers the task and does not reject it.
 */
bool utrace_ftrace_follows(struct process_trace *pt, struct task_struct *task)
{
	struct utrace_engine *engine;

	guard(rcu)();
	engine = rcu_dereference(pt->engine);
	return engine && utrace_reports_to(engine, task);
}

/* Callbacks read the settings without a lock, at any time. */
static bool process_follows_call(const struct process_trace *pt,
				 unsigned int nr)
{
	return !READ_ONCE(pt->settings.chosen) ||
	       test_bit(process_call_bit(nr), pt->settings.calls);
}

/**
 * utrace_ftrace_is_first() - check whether an instance must fire the tracepoint
 * @pt: the instance, whose engine has reported the event
 * @event: the event
 * @nr: number of the system call; 0 for other events
 *
 * Several instances may get one event, but listeners must see it once.  The
 * first of these instances in process_active fires the tracepoint.
 *
 * Context: The task whose event it is.
 * Return: true if @pt is the first.
 */
bool utrace_ftrace_is_first(struct process_trace *pt, enum process_event event,
			    unsigned int nr)
{
	struct process_trace *other;

	guard(rcu)();
	list_for_each_entry_rcu(other, &process_active, active) {
		if (other == pt)
			return true;
		if (!process_wants(other, event))
			continue;
		if (event <= PROCESS_SYS_EXIT &&
		    !process_follows_call(other, nr))
			continue;
		if (utrace_ftrace_follows(other, current))
			return false;
	}
	return true;
}

/* Start and end */

/**
 * utrace_ftrace_start() - start the tracer in an instance
 * @pt: the tracer's state in the instance; @file is set
 * @tr: the instance
 * @engine: its new engine; consumes the caller's reference
 *
 * Context: Process context.  utrace_ftrace_mutex is held.
 */
void utrace_ftrace_start(struct process_trace *pt, struct trace_array *tr,
			 struct utrace_engine *engine)
{
	kref_get(&pt->ref);
	rcu_assign_pointer(pt->engine, engine);
	WRITE_ONCE(pt->started, ktime_get_ns());
	rcu_assign_pointer(pt->tr, tr);
	list_add_tail_rcu(&pt->active, &process_active);
}

/**
 * utrace_ftrace_stop() - stop the tracer in an instance
 * @pt: the tracer's state in the instance
 *
 * A callback writes its record with preemption off and only while pt->engine is
 * its engine (process_begin()).  So after synchronize_rcu() no callback uses
 * pt->file, and ftrace may free the files.
 *
 * Context: Process context; sleeps.  utrace_ftrace_mutex is held.
 */
void utrace_ftrace_stop(struct process_trace *pt)
{
	struct utrace_engine *engine = utrace_ftrace_engine(pt);
	int ret;

	rcu_assign_pointer(pt->tr, NULL);
	list_del_rcu(&pt->active);
	rcu_assign_pointer(pt->engine, NULL);
	/*
	 * A callback that is still running finds pt->engine cleared and drops
	 * its record.
	 */
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS);
	utrace_match_put(pt->match);
	pt->match = NULL;
	synchronize_rcu();
	utrace_engine_put(engine);
}

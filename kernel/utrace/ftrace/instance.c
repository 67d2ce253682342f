// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: its instances
 *
 * Pids are those of the instance's set_event_pid and set_event_notrace_pid:
 * ftrace keeps the lists, and adds children and removes the dead if its option
 * event-fork is set.
 *
 * The engine is not waited for when the tracer ends: a callback may be held up
 * by a page fault that user space serves.  It finds process_trace.tr NULL when
 * it wants to write its record.
 */
#include <linux/init.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include "../capture/capture.h"
#include "../match.h"
#include "process.h"

/* Who writes settings, and starts and ends the tracer. */
DEFINE_MUTEX(utrace_ftrace_mutex);

/* Instances that have the tracer.  Under utrace_ftrace_mutex; read under RCU. */
static LIST_HEAD(process_active);

static void process_trace_free(struct kref *ref)
{
	struct process_trace *pt = container_of(ref, struct process_trace, ref);

	utrace_ftrace_free_tasks(pt);
	utrace_ftrace_free_targets(pt);
	utrace_match_put(pt->match);
	kfree(pt);
}

/**
 * utrace_ftrace_put - drop a reference
 * @pt: struct process_trace
 *
 * Context: Any but NMI.
 */
void utrace_ftrace_put(void *pt)
{
	kref_put(&((struct process_trace *)pt)->ref, process_trace_free);
}

/* Whom an instance follows. */

/**
 * utrace_ftrace_choose - what do ftrace's own lists say of the current task?
 * @task: the current task, which a match asks about
 * @data: struct process_trace
 *
 * Context: The task itself.
 * Return: true if the instance follows the task.
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
 * utrace_ftrace_follows - is an instance told of a task's system calls?
 * @pt: the instance
 * @task: on which the caller has a reference, or RCU
 *
 * Context: Any but NMI.
 * Return: true if so, by the verdict of the task's last event.
 */
bool utrace_ftrace_follows(struct process_trace *pt, struct task_struct *task)
{
	struct utrace_engine *engine;

	guard(rcu)();
	engine = rcu_dereference(pt->engine);
	return engine && utrace_is_told(engine, task);
}

static bool process_follows_call(const struct process_trace *pt,
				 unsigned int nr)
{
	return !READ_ONCE(pt->chosen) ||
	       test_bit(process_call_bit(nr), pt->calls);
}

/**
 * utrace_ftrace_is_first - is an instance the one to tell listeners of an event?
 * @pt: the instance, which was told of the event
 * @event: which
 * @nr: of a system call: its number
 *
 * Of all instances that are told of the event it is the first.
 *
 * Context: The task whose event it is.
 * Return: true if so.
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
		if (event <= PROCESS_SYS_EXIT && !process_follows_call(other, nr))
			continue;
		if (utrace_ftrace_follows(other, current))
			return false;
	}
	return true;
}

/* Instances of ftrace. */

static struct process_trace *process_trace_new(void)
{
	struct process_trace *pt = kzalloc(sizeof(*pt), GFP_KERNEL);
	unsigned int i;

	if (!pt)
		return NULL;
	utrace_ftrace_init_tasks(pt);
	kref_init(&pt->ref);
	for (i = 0; i < PROCESS_NTARGETS; i++)
		INIT_LIST_HEAD(&pt->targets[i]);
	pt->events = BIT(PROCESS_NRECORDS) - 1;
	pt->args = UTRACE_CAPTURE_STRINGS;
	utrace_ftrace_update_captures(pt);
	return pt;
}

/* The one of an instance: made when its files are, or when it is started. */
static struct process_trace *process_trace_of(struct trace_array *tr)
{
	lockdep_assert_held(&utrace_ftrace_mutex);

	if (!tr->process)
		tr->process = process_trace_new();
	return tr->process;
}

/* From kernel/trace: the files of an instance are being made. */
void utrace_ftrace_create(struct trace_array *tr, struct dentry *dir)
{
	guard(mutex)(&utrace_ftrace_mutex);
	if (process_trace_of(tr))
		utrace_ftrace_create_files(tr, dir);
}

/* From kernel/trace: the instance ends, its tracer and its files are gone. */
void utrace_ftrace_remove(struct trace_array *tr)
{
	if (tr->process)
		utrace_ftrace_put(tr->process);
	tr->process = NULL;
}

/* From kernel/trace: one of the lists of pids is another one. */
void utrace_ftrace_pids_changed(struct trace_array *tr)
{
	struct utrace_engine *engine;

	guard(mutex)(&utrace_ftrace_mutex);
	engine = tr->process ? utrace_ftrace_engine(tr->process) : NULL;
	if (!engine)
		return;
	/* The same match: its chooser says something else now. */
	WARN_ON_ONCE(utrace_set_match(engine, tr->process->match));
}

/* The files of events come and go under trace_types_lock too, which is held. */
static int process_find_files(struct process_trace *pt, struct trace_array *tr)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < PROCESS_NRECORDS; i++) {
		snprintf(name, sizeof(name), "utrace_%s", utrace_ftrace_event_names[i]);
		pt->file[i] = __find_event_file(tr, "utrace", name);
		if (!pt->file[i])
			return -ENODEV;
	}
	return 0;
}

static void process_stop(struct process_trace *pt)
{
	struct utrace_engine *engine = utrace_ftrace_engine(pt);
	int ret;

	rcu_assign_pointer(pt->tr, NULL);
	list_del_rcu(&pt->active);
	rcu_assign_pointer(pt->engine, NULL);
	/* Who is in a callback and has not written its record never will. */
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS);
	synchronize_rcu();
	utrace_engine_put(engine);
}

static int process_tracer_init(struct trace_array *tr)
{
	struct process_trace *pt;
	struct utrace_engine *engine;
	int ret;

	guard(mutex)(&utrace_ftrace_mutex);
	pt = process_trace_of(tr);
	if (!pt)
		return -ENOMEM;
	ret = process_find_files(pt, tr);
	if (ret)
		return ret;
	engine = utrace_attach_system(UTRACE_ATTACH_OBSERVER, &utrace_ftrace_ops, pt);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	kref_get(&pt->ref);
	rcu_assign_pointer(pt->engine, engine);
	WRITE_ONCE(pt->started, local_clock());
	rcu_assign_pointer(pt->tr, tr);
	list_add_tail_rcu(&pt->active, &process_active);
	ret = utrace_ftrace_apply(pt);
	if (ret)
		process_stop(pt);
	return ret;
}

static void process_tracer_reset(struct trace_array *tr)
{
	guard(mutex)(&utrace_ftrace_mutex);
	process_stop(tr->process);
}

static struct tracer process_tracer __read_mostly = {
	.name		= "process",
	.init		= process_tracer_init,
	.reset		= process_tracer_reset,
	.print_line	= utrace_ftrace_print_line,
	.allow_instances = true,
};

static int __init process_tracer_register(void)
{
	return register_tracer(&process_tracer);
}

/* After the core; in time for ftrace=process on the command line. */
core_initcall_sync(process_tracer_register);

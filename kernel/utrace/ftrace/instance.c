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
#include <linux/init.h>
#include <linux/timekeeping.h>
#include <linux/slab.h>

#include "../match.h"
#include "process.h"

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
	utrace_match_put(pt->match);
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
	return engine && utrace_is_told(engine, task);
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

/* Instances of ftrace */

static struct process_trace *process_trace_new(void)
{
	struct process_trace *pt = kzalloc(sizeof(*pt), GFP_KERNEL_ACCOUNT);

	if (!pt)
		return NULL;
	utrace_ftrace_init_tasks(pt);
	kref_init(&pt->ref);
	utrace_ftrace_init_settings(&pt->settings);
	return pt;
}

/*
 * Get the state of the tracer in @tr.  It is allocated with the files of the
 * instance, or if that failed, when the tracer starts.  NULL: no memory.
 */
static struct process_trace *process_trace_of(struct trace_array *tr)
{
	lockdep_assert_held(&utrace_ftrace_mutex);

	if (!tr->process)
		tr->process = process_trace_new();
	return tr->process;
}

/**
 * utrace_ftrace_create() - create the tracer's state and files of an instance
 * @tr: the instance, which kernel/trace is creating
 * @dir: its folder
 *
 * Context: Process context.  Takes utrace_ftrace_mutex.
 */
void utrace_ftrace_create(struct trace_array *tr, struct dentry *dir)
{
	guard(mutex)(&utrace_ftrace_mutex);
	if (process_trace_of(tr))
		utrace_ftrace_create_files(tr, dir);
}

/**
 * utrace_ftrace_remove() - drop the tracer's state in an instance
 * @tr: the instance, which kernel/trace is removing.  Its tracer was stopped
 *	and its files were removed, so only callbacks can still use the state.
 *
 * Context: Process context.  event_mutex and trace_types_lock are held.
 */
void utrace_ftrace_remove(struct trace_array *tr)
{
	if (tr->process)
		utrace_ftrace_put(tr->process);
	tr->process = NULL;
}

/**
 * utrace_ftrace_pids_changed() - apply new lists of pids to all tasks
 * @tr: the instance.  kernel/trace has replaced one of its lists, and has not
 *	freed the old one yet.
 *
 * Context: Process context.  event_mutex is held.  Takes utrace_ftrace_mutex.
 */
void utrace_ftrace_pids_changed(struct trace_array *tr)
{
	struct utrace_engine *engine;

	guard(mutex)(&utrace_ftrace_mutex);
	engine = tr->process ? utrace_ftrace_engine(tr->process) : NULL;
	if (!engine)
		return;
	/*
	 * Set the same match again: it is evaluated again for all tasks, and
	 * utrace_ftrace_choose() reads the new lists.
	 */
	WARN_ON_ONCE(utrace_set_match(engine, tr->process->match));
}

/*
 * Find the instance's file of each event.  ftrace adds and removes these files
 * under event_mutex and trace_types_lock; the caller of ->init() holds
 * trace_types_lock.  A file lives until the instance is removed, after the
 * tracer was stopped.
 */
static int process_find_files(struct process_trace *pt, struct trace_array *tr)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < PROCESS_NRECORDS; i++) {
		snprintf(name, sizeof(name), "utrace_%s",
			 utrace_ftrace_event_names[i]);
		pt->file[i] = __find_event_file(tr, "utrace", name);
		if (!pt->file[i])
			return -ENODEV;
	}
	return 0;
}

/*
 * Stop the tracer in an instance.  A callback writes its record with preemption
 * off and only while pt->engine is its engine (process_begin()).  So after
 * synchronize_rcu() no callback uses pt->file, and ftrace may free the files.
 */
static void process_stop(struct process_trace *pt)
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
	engine = utrace_attach_system(UTRACE_ATTACH_OBSERVER,
				      &utrace_ftrace_ops, pt);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	kref_get(&pt->ref);
	rcu_assign_pointer(pt->engine, engine);
	WRITE_ONCE(pt->started, ktime_get_ns());
	rcu_assign_pointer(pt->tr, tr);
	list_add_tail_rcu(&pt->active, &process_active);
	ret = utrace_ftrace_apply(pt, &pt->settings);
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

/*
 * After core_initcall(), in which the core creates its caches; before
 * ftrace=process on the command line takes effect.
 */
core_initcall_sync(process_tracer_register);

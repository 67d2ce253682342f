// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: instances and their engines
 *
 * An instance of ftrace whose current tracer is "process" has an engine on the
 * whole system, with a match for its targets.  Pids are those of the instance's
 * set_event_pid and set_event_notrace_pid: ftrace keeps the lists, and adds
 * children and removes the dead if its option event-fork is set.
 *
 * The engine is not waited for when the tracer ends: a callback may be held up
 * by a page fault that user space serves.  It finds process_trace.tr NULL when
 * it wants to write its record.
 */
#include <linux/init.h>
#include <linux/sched/clock.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "capture.h"
#include "ftrace_engine.h"
#include "match.h"

/* Who writes settings, and starts and ends the tracer. */
DEFINE_MUTEX(process_mutex);

/* Instances that have the tracer.  Under process_mutex; read under RCU. */
static LIST_HEAD(process_active);

static void process_trace_free(struct kref *ref)
{
	struct process_trace *pt = container_of(ref, struct process_trace, ref);

	process_free_tasks(pt);
	process_free_targets(pt);
	utrace_match_put(pt->match);
	kfree(pt);
}

static void process_trace_put(void *pt)
{
	kref_put(&((struct process_trace *)pt)->ref, process_trace_free);
}

/* Whom an instance follows. */

/* Asked by the match, for the current task: what do ftrace's own lists say? */
static bool process_choose(struct task_struct *task, void *data)
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
 * process_follows - is an instance told of a task's system calls?
 * @pt: the instance
 * @task: on which the caller has a reference, or RCU
 *
 * Context: Any but NMI.
 * Return: true if so, by the verdict of the task's last event.
 */
bool process_follows(struct process_trace *pt, struct task_struct *task)
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
 * process_is_first - is an instance the one to tell listeners of an event?
 * @pt: the instance, which was told of the event
 * @event: which
 * @nr: of a system call: its number
 *
 * Of all instances that are told of the event it is the first.
 *
 * Context: The task whose event it is.
 * Return: true if so.
 */
bool process_is_first(struct process_trace *pt, enum process_event event,
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
		if (process_follows(other, current))
			return false;
	}
	return true;
}

/* The engine. */

static u32 process_clone(u32 action, struct utrace_engine *engine,
			 unsigned long clone_flags, struct task_struct *child)
{
	process_record_fork(engine, child, clone_flags);
	return UTRACE_RESUME;
}

/*
 * A thread other than the first has another pid now, and ftrace looks at it only
 * when tasks are switched: until then it would drop records by the old one.
 */
static void process_refresh_pid(struct process_trace *pt)
{
	struct trace_array *tr;

	guard(preempt_notrace)();
	tr = rcu_dereference_sched(pt->tr);
	if (tr)
		this_cpu_write(tr->array_buffer.data->ignore_pid,
			       trace_ignore_this_task(rcu_dereference_sched(tr->filtered_pids),
						      rcu_dereference_sched(tr->filtered_no_pids),
						      current));
}

static u32 process_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
			const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;

	process_refresh_pid(pt);
	process_task_execs(pt);
	if (process_wants(pt, PROCESS_EXEC))
		process_record_exec(engine, bprm, regs);
	return UTRACE_RESUME;
}

static u32 process_exit(u32 action, struct utrace_engine *engine,
			long orig_code, long *code)
{
	struct process_trace *pt = engine->data;

	if (process_wants(pt, PROCESS_EXIT))
		process_record_end(engine, *code);
	process_task_ends(pt);
	return UTRACE_RESUME;
}

static u32 process_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, kernel_siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	if (orig_ka)
		process_record_signal(engine, info, orig_ka, regs);
	return UTRACE_RESUME | utrace_signal_action(action);
}

static u32 process_jobctl(u32 action, struct utrace_engine *engine, int type,
			  int notify)
{
	process_record_jobctl(engine, type, notify);
	return UTRACE_RESUME;
}

static const struct utrace_engine_ops process_ops = {
	.name			= "ftrace",
	.report_syscall_entry	= process_sys_enter,
	.report_syscall_exit	= process_sys_exit,
	.report_clone		= process_clone,
	.report_exec		= process_exec,
	.report_exit		= process_exit,
	.report_signal		= process_signal,
	.report_jctl		= process_jobctl,
	.release		= process_trace_put,
};

static struct utrace_engine *process_engine(struct process_trace *pt)
{
	return rcu_dereference_protected(pt->engine,
					 lockdep_is_held(&process_mutex));
}

/* What the engine has to be told of for the instance to record its events. */
static unsigned long process_engine_events(const struct process_trace *pt)
{
	static const unsigned long events[PROCESS_NEVENTS] = {
		[PROCESS_SYS_ENTER]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_SYS_EXIT]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_FORK]		= UTRACE_EVENT(CLONE),
		[PROCESS_EXEC]		= UTRACE_EVENT(EXEC),
		[PROCESS_EXIT]		= UTRACE_EVENT(EXIT),
		[PROCESS_SIGNAL]	= UTRACE_EVENT(SIGNAL) |
					  UTRACE_EVENT(SIGNAL_STOP) |
					  UTRACE_EVENT(SIGNAL_TERM) |
					  UTRACE_EVENT(SIGNAL_CORE),
		[PROCESS_JOBCTL]	= UTRACE_EVENT(JCTL),
		[PROCESS_STAT]		= UTRACE_EVENT_SYSCALL,
	};
	unsigned long all = 0;
	unsigned int i;

	for_each_set_bit(i, &pt->events, PROCESS_NEVENTS)
		all |= events[i];
	/* What is known of a task is given up at its end. */
	if (all & UTRACE_EVENT_SYSCALL)
		all |= UTRACE_EVENT(EXIT);
	/* Its pid may be another one. */
	if (all)
		all |= UTRACE_EVENT(EXEC);
	return all;
}

/* The system calls that were chosen, for the core to leave out the others. */
static int process_set_filter(struct process_trace *pt,
			      struct utrace_engine *engine)
{
	int *nrs __free(kfree) = kmalloc_array(PROCESS_CALLS, sizeof(*nrs),
					       GFP_KERNEL);
	unsigned int bit, n = 0;

	if (!nrs)
		return -ENOMEM;
	if (pt->chosen)
		for_each_set_bit(bit, pt->calls, PROCESS_CALLS)
			nrs[n++] = process_call_nr(bit);
	return utrace_set_syscall_filter(engine, nrs, n);
}

/**
 * process_apply - have the engine of an instance do what its settings say
 * @pt: the instance, whose current tracer may be another one
 *
 * Context: Process context.  process_mutex is held.
 * Return: 0; -ENOSPC: too many targets; -ENOMEM.  Not all of it is done then.
 */
int process_apply(struct process_trace *pt)
{
	struct utrace_engine *engine = process_engine(pt);
	struct utrace_match *match;
	int ret;

	match = process_make_match(pt);
	if (IS_ERR(match))
		return PTR_ERR(match);
	utrace_match_chooser(match, process_choose, pt);
	ret = engine ? process_set_filter(pt, engine) : 0;
	if (!ret && engine)
		ret = utrace_set_match(engine, match);
	if (ret) {
		utrace_match_put(match);
		return ret;
	}
	utrace_match_put(pt->match);
	pt->match = match;
	if (!engine)
		return 0;
	ret = utrace_set_events(NULL, engine, process_engine_events(pt));
	/* Callbacks that run now may record by the settings of before. */
	return ret == -EINPROGRESS ? 0 : ret;
}

/* Instances of ftrace. */

static struct process_trace *process_trace_new(void)
{
	struct process_trace *pt = kzalloc(sizeof(*pt), GFP_KERNEL);
	unsigned int i;

	if (!pt)
		return NULL;
	process_init_tasks(pt);
	kref_init(&pt->ref);
	for (i = 0; i < PROCESS_NTARGETS; i++)
		INIT_LIST_HEAD(&pt->targets[i]);
	pt->events = BIT(PROCESS_NRECORDS) - 1;
	pt->args = UTRACE_CAPTURE_STRINGS;
	process_update_captures(pt);
	return pt;
}

/* The one of an instance: made when its files are, or when it is started. */
static struct process_trace *process_trace_of(struct trace_array *tr)
{
	lockdep_assert_held(&process_mutex);

	if (!tr->process)
		tr->process = process_trace_new();
	return tr->process;
}

/* From kernel/trace: the files of an instance are being made. */
void process_trace_create(struct trace_array *tr, struct dentry *dir)
{
	guard(mutex)(&process_mutex);
	if (process_trace_of(tr))
		process_create_files(tr, dir);
}

/* From kernel/trace: the instance ends, its tracer and its files are gone. */
void process_trace_remove(struct trace_array *tr)
{
	if (tr->process)
		process_trace_put(tr->process);
	tr->process = NULL;
}

/* From kernel/trace: one of the lists of pids is another one. */
void process_trace_pids_changed(struct trace_array *tr)
{
	struct utrace_engine *engine;

	guard(mutex)(&process_mutex);
	engine = tr->process ? process_engine(tr->process) : NULL;
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
		snprintf(name, sizeof(name), "utrace_%s", process_event_names[i]);
		pt->file[i] = __find_event_file(tr, "utrace", name);
		if (!pt->file[i])
			return -ENODEV;
	}
	return 0;
}

static void process_stop(struct process_trace *pt)
{
	struct utrace_engine *engine = process_engine(pt);
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

	guard(mutex)(&process_mutex);
	pt = process_trace_of(tr);
	if (!pt)
		return -ENOMEM;
	ret = process_find_files(pt, tr);
	if (ret)
		return ret;
	engine = utrace_attach_system(UTRACE_ATTACH_OBSERVER, &process_ops, pt);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	kref_get(&pt->ref);
	rcu_assign_pointer(pt->engine, engine);
	WRITE_ONCE(pt->started, local_clock());
	rcu_assign_pointer(pt->tr, tr);
	list_add_tail_rcu(&pt->active, &process_active);
	ret = process_apply(pt);
	if (ret)
		process_stop(pt);
	return ret;
}

static void process_tracer_reset(struct trace_array *tr)
{
	guard(mutex)(&process_mutex);
	process_stop(tr->process);
}

static struct tracer process_tracer __read_mostly = {
	.name		= "process",
	.init		= process_tracer_init,
	.reset		= process_tracer_reset,
	.print_line	= process_print_line,
	.allow_instances = true,
};

static int __init process_tracer_register(void)
{
	return register_tracer(&process_tracer);
}

/* After the core; in time for ftrace=process on the command line. */
core_initcall_sync(process_tracer_register);

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: records
 *
 * An event is recorded in two steps.  First the task captures data of the
 * event, which may fault and sleep.  Then it writes the record with preemption
 * off, unless the instance has stopped the tracer in between.
 *
 * A record goes to the instance whose engine was called, through the instance's
 * own file of the event.  Other listeners (perf, BPF, instances with another
 * tracer) use the tracepoint, which fires once for an event: for the first
 * instance that gets it.  An instance with this tracer may have enabled the
 * event, too.  Its probe (PROCESS_PROBE) ignores the tracepoint, or the event
 * would be recorded twice.
 */
#include <linux/binfmts.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/unaligned.h>

#include <asm/syscall.h>

#include "../../trace/trace_output.h"

#include "../builtin.h"
#include "../capture/capture.h"
#include "calls.h"
#include "instance.h"
#include "print.h"
#include "record.h"
#include "stat.h"
#ifdef __CHECKER__
/* sparse cannot take an initializer with the names of all calls. */
#define UTRACE_CALL_NAMES	{ 0, "read" }
#else
#include "names.h"
#endif
#include "../syscall_current.h"
#include "../decode/items.h"
#include "../decode/print.h"
#include "../decode/table.h"

#define CREATE_TRACE_POINTS
#include <trace/events/utrace.h>

/* For an event that captured nothing: two empty strings and no items. */
static const struct utrace_captured process_nothing = {
	.str = { "", "" },
};

/**
 * struct process_capture - data captured with an event
 * @capture: the capture; without a buffer while nothing was captured
 * @seen: @capture in the format of the trace event
 *
 * Lives on the stack of the function that records the event.
 */
struct process_capture {
	struct utrace_capture capture;
	struct utrace_captured seen;
};

#define PROCESS_CAPTURE_INIT \
	{ .capture = UTRACE_CAPTURE_INIT(UTRACE_CAPTURE_SIZE) }

static void process_capture_stack(const struct process_trace *pt,
				  struct process_capture *pc,
				  struct pt_regs *regs)
{
	static const unsigned int what[PROCESS_NSTACKS] = {
		[PROCESS_STACK_FRAMES]	= UTRACE_CAPTURE_STACK,
		[PROCESS_STACK_RAW]	= UTRACE_CAPTURE_RAW_STACK,
	};

	utrace_capture_stacks(&pc->capture, regs,
			      what[READ_ONCE(pt->settings.stack)]);
}

/*
 * Describe the capture for the trace event: all items, and the first two
 * strings among them.  Lost items are counted in @pt->lost.
 */
static const struct utrace_captured *
process_captured(struct process_trace *pt, struct process_capture *pc)
{
	const struct utrace_item *item = NULL;
	struct utrace_captured *seen = &pc->seen;

	if (pc->capture.lost)
		atomic_long_add(pc->capture.lost, &pt->lost);
	if (!pc->capture.data)
		return &process_nothing;
	*seen = process_nothing;
	seen->data = pc->capture.data;
	seen->size = pc->capture.used;
	while ((item = utrace_item_next(seen->data, seen->size, item))) {
		if (item->kind != UTRACE_ITEM_STRING)
			continue;
		seen->str[seen->nstr] = item->data;
		seen->len[seen->nstr] = item->len;
		if (++seen->nstr == ARRAY_SIZE(seen->str))
			break;
	}
	return seen;
}

/*
 * If an event is not enabled and gets a trigger, ftrace soft-disables the
 * event: it runs the trigger and drops the record.  The tracer needs the
 * record, and writes it through this copy of the file without triggers.
 */
static struct trace_event_file process_bare_file(struct trace_event_file *file)
{
	return (struct trace_event_file) {
		.event_call = file->event_call,
		.filter = rcu_dereference_sched(file->filter),
		.tr = file->tr,
		.flags = file->flags & (EVENT_FILE_FL_FILTERED |
					EVENT_FILE_FL_PID_FILTER),
	};
}

/*
 * Begin to write a record.  Returns true if @engine is still the engine of its
 * instance; preemption is then off until process_end().  utrace_ftrace_stop()
 * clears pt->engine and then waits for process_end() by synchronize_rcu().  Returns
 * false if the instance has stopped or restarted the tracer since the callback
 * began.
 */
static bool process_begin(struct utrace_engine *engine)
{
	const struct process_trace *pt = engine->data;

	preempt_disable_notrace();
	if (likely(rcu_access_pointer(pt->engine) == engine))
		return true;
	preempt_enable_notrace();
	return false;
}

static void process_end(void)
{
	preempt_enable_notrace();
}

/*
 * Readers of a trace look up the name of a task by its pid.  ftrace saves the
 * name only while trace_taskinfo_save of this CPU is set; the commit of a
 * record sets this variable.  If a filter has dropped the record, the variable
 * may be clear, and no name is saved.  ftrace clears it when it has saved the
 * name; then
 * @task->saved keeps the name for process_is_saved().
 */
static void process_save_comm(struct process_task *task)
{
	if (!__this_cpu_read(trace_taskinfo_save))
		return;
	tracing_record_cmdline(current);
	if (task && !__this_cpu_read(trace_taskinfo_save))
		memcpy(task->saved, current->comm, TASK_COMM_LEN);
}

/* Write a record through the instance's own file.  Preemption is off. */
#define process_write(pt, which, name, ...)				\
do {									\
	struct trace_event_file *__file = (pt)->file[which];		\
									\
	trace_event_raw_event_##name(__file, __VA_ARGS__);		\
	if (unlikely(__file->flags & EVENT_FILE_FL_SOFT_DISABLED)) {	\
		struct trace_event_file __bare = process_bare_file(__file); \
									\
		trace_event_raw_event_##name(&__bare, __VA_ARGS__);	\
	}								\
} while (0)

/*
 * Write a record, unless the instance has stopped the tracer, and fire the
 * tracepoint for all other listeners, if this instance must do that.
 * utrace_ftrace_is_first() takes utrace->lock, so it is called with preemption
 * on.  @task may be NULL.
 */
#define process_record(engine, task, which, name, nr, ...)		\
do {									\
	struct process_trace *__pt = (engine)->data;			\
	bool __fire = trace_##name##_enabled() &&			\
		      utrace_ftrace_is_first(__pt, which, nr);		\
									\
	if (process_begin(engine)) {					\
		process_write(__pt, which, name, __VA_ARGS__);		\
		process_save_comm(task);				\
		if (__fire)						\
			trace_##name(__VA_ARGS__);			\
		process_end();						\
	}								\
} while (0)

/*
 * Probe of the tracepoint for an instance.  An instance with this tracer gets
 * its records from its engine.
 */
#define PROCESS_PROBE(name, proto, ...)					\
static void process_probe_##name(void *data, proto)			\
{									\
	struct trace_event_file *file = data;				\
									\
	if (!process_is_active(file->tr))				\
		trace_event_raw_event_##name(data, __VA_ARGS__);	\
}

PROCESS_PROBE(utrace_sys_enter,
	      PARAMS(long id, const unsigned long *args,
		     const struct utrace_captured *c), id, args, c)
PROCESS_PROBE(utrace_sys_exit,
	      PARAMS(long id, long ret, s64 duration,
		     const struct utrace_captured *c), id, ret, duration, c)
PROCESS_PROBE(utrace_fork,
	      PARAMS(struct task_struct *child, unsigned long clone_flags),
	      child, clone_flags)
PROCESS_PROBE(utrace_exec,
	      PARAMS(const char *filename, unsigned int len,
		     const struct utrace_captured *c), filename, len, c)
PROCESS_PROBE(utrace_exit, PARAMS(long code, pid_t exec_pid), code, exec_pid)
PROCESS_PROBE(utrace_signal,
	      PARAMS(const struct kernel_siginfo *info,
		     const struct k_sigaction *ka, pid_t sender,
		     const struct utrace_captured *c), info, ka, sender, c)
PROCESS_PROBE(utrace_jobctl, PARAMS(int type, int notify, int sig), type, notify,
	      sig)

/**
 * utrace_ftrace_init() - replace the generated probes by those above
 *
 * Context: Called by kernel/trace at boot, before the command line or user
 * space can enable the events.
 */
void __init utrace_ftrace_init(void)
{
	event_class_utrace_sys_enter.probe = process_probe_utrace_sys_enter;
	event_class_utrace_sys_exit.probe = process_probe_utrace_sys_exit;
	event_class_utrace_fork.probe = process_probe_utrace_fork;
	event_class_utrace_exec.probe = process_probe_utrace_exec;
	event_class_utrace_exit.probe = process_probe_utrace_exit;
	event_class_utrace_signal.probe = process_probe_utrace_signal;
	event_class_utrace_jobctl.probe = process_probe_utrace_jobctl;
}

/* Flags of a file with a filter or a trigger. */
#define PROCESS_FL_SPECIAL	(EVENT_FILE_FL_FILTERED |		\
				 EVENT_FILE_FL_SOFT_DISABLED |		\
				 EVENT_FILE_FL_TRIGGER_MODE |		\
				 EVENT_FILE_FL_TRIGGER_COND)

/*
 * Make the field id of a trace event: a number as in raw_syscalls, or the two
 * halves that utrace_current_asked() returns for a number outside the tables.
 */
static long process_id(u64 nr)
{
	return nr >> 32 ? (long)nr : (int)nr;
}

/* Inverse of process_id(). */
static u64 process_number(long id)
{
	return (u32)id == UTRACE_SYSCALL_NONE ? (u64)id : (u32)id;
}

/*
 * Slow path for an entry, with captures, filters, triggers and listeners.
 */
static noinline void process_full_entry(struct utrace_engine *engine,
					struct process_task *task,
					u64 nr, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;
	unsigned long args[6];

	utrace_current_args(regs, args);
	utrace_capture_call(&pc.capture, nr, args,
			    READ_ONCE(pt->settings.args));
	process_capture_stack(pt, &pc, regs);
	process_record(engine, task, PROCESS_SYS_ENTER, utrace_sys_enter, nr,
		       process_id(nr), args, process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

/* Slow path for an exit, with captures, filters, triggers and listeners. */
static noinline void process_full_exit(struct utrace_engine *engine,
				       struct process_task *task,
				       u64 nr, long ret, s64 duration,
				       struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;
	unsigned long args[6];

	utrace_current_args(regs, args);
	utrace_capture_result(&pc.capture, nr, args, ret,
			      READ_ONCE(pt->settings.args));
	process_record(engine, task, PROCESS_SYS_EXIT, utrace_sys_exit, nr,
		       process_id(nr), ret, duration,
		       process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

/*
 * Check whether ftrace has saved the current name of the current task.  Another
 * task may change the name at the same time; the next event notices it then.
 */
static __always_inline bool process_is_saved(const struct process_task *task)
{
	const struct task_struct *me = current;

	return get_unaligned((u64 *)task->saved) ==
	       get_unaligned((u64 *)me->comm) &&
	       get_unaligned((u64 *)(task->saved + 8)) ==
	       get_unaligned((u64 *)(me->comm + 8));
}

static_assert(TASK_COMM_LEN == 16);

/*
 * Check whether the record of a system call can be written in place.  Most
 * calls are of the native table and have nothing to capture, and most files
 * have no filter, trigger or stack trace.  The caller has checked that the
 * tracepoint has no listener.
 *
 * Writing in place skips what trace_event_buffer_commit() does in addition:
 * exports of ftrace and tp_printk do not get these records.
 *
 * Preemption is off.  False also if the instance has stopped the tracer; then
 * process_begin() drops the record.
 */
static __always_inline bool process_is_plain(struct utrace_engine *engine,
					     const struct process_trace *pt,
					     const struct process_task *task,
					     enum process_event event,
					     u64 nr,
					     const unsigned long *captured)
{
	const struct trace_event_file *file;

	if (unlikely(rcu_access_pointer(pt->engine) != engine))
		return false;
	file = pt->file[event];
	return !(file->tr->trace_flags & (TRACE_ITER_STACKTRACE |
					  TRACE_ITER_USERSTACKTRACE)) &&
	       !(file->flags & PROCESS_FL_SPECIAL) &&
	       nr < PROCESS_CALLS / 2 && !test_bit(nr, captured) &&
	       process_is_saved(task);
}

/* Get the ring of the instance, read once: a snapshot swaps the rings. */
static __always_inline struct trace_buffer *
process_ring(struct trace_event_file *file)
{
	return READ_ONCE(file->tr->array_buffer.buffer);
}

/*
 * Fill in the header of a reserved record.  The context is 0: a task that may
 * sleep was neither in an interrupt nor had preemption off before
 * process_begin().
 */
static __always_inline void *
process_begin_entry(struct trace_event_file *file,
		    struct ring_buffer_event *event)
{
	struct trace_entry *entry = ring_buffer_event_data(event);

	tracing_generic_entry_update(entry, file->event_call->event.type, 0);
	return entry;
}

/*
 * Write the record of an entry without captures in place.  Preemption is off.
 */
static __always_inline void process_plain_entry(struct trace_event_file *file,
						unsigned int nr,
						struct pt_regs *regs)
{
	struct trace_event_raw_utrace_sys_enter *entry;
	struct trace_buffer *ring = process_ring(file);
	struct ring_buffer_event *event;
	unsigned int at = offsetof(typeof(*entry), __data);

	/* The NULs of two empty strings follow the fields. */
	event = ring_buffer_lock_reserve(ring, sizeof(*entry) + 2);
	if (unlikely(!event))
		return;
	entry = process_begin_entry(file, event);
	entry->id = (int)nr;
	syscall_get_arguments(current, regs, entry->args);
	entry->nstr = 0;
	entry->__data_loc_str1 = 1 << 16 | at;
	entry->__data_loc_str2 = 1 << 16 | (at + 1);
	entry->__data_loc_data = at + 2;
	entry->__data[0] = '\0';
	entry->__data[1] = '\0';
	ring_buffer_unlock_commit(ring);
}

/* Write the record of an exit without captures in place.  Preemption is off. */
static __always_inline void process_plain_exit(struct trace_event_file *file,
					       unsigned int nr, long ret,
					       s64 duration)
{
	struct trace_event_raw_utrace_sys_exit *entry;
	struct trace_buffer *ring = process_ring(file);
	struct ring_buffer_event *event;

	event = ring_buffer_lock_reserve(ring, sizeof(*entry));
	if (unlikely(!event))
		return;
	entry = process_begin_entry(file, event);
	entry->id = (int)nr;
	entry->ret = ret;
	entry->duration = duration;
	entry->__data_loc_data = offsetof(typeof(*entry), __data);
	ring_buffer_unlock_commit(ring);
}

/* Record an entry: in place if possible, else by the slow path. */
static __always_inline void process_record_entry(struct utrace_engine *engine,
						 struct process_trace *pt,
						 struct process_task *task,
						 u64 nr,
						 struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = !trace_utrace_sys_enter_enabled() &&
		process_is_plain(engine, pt, task, PROCESS_SYS_ENTER, nr,
				 pt->settings.entry_args);
	if (likely(plain))
		process_plain_entry(pt->file[PROCESS_SYS_ENTER], nr, regs);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_entry(engine, task, nr, regs);
}

/* Record an exit: in place if possible, else by the slow path. */
static __always_inline void process_record_exit(struct utrace_engine *engine,
						struct process_trace *pt,
						struct process_task *task,
						u64 nr, long ret,
						s64 duration,
						struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = !trace_utrace_sys_exit_enabled() &&
		process_is_plain(engine, pt, task, PROCESS_SYS_EXIT, nr,
				 pt->settings.exit_args);
	if (likely(plain))
		process_plain_exit(pt->file[PROCESS_SYS_EXIT], nr, ret,
				   duration);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_exit(engine, task, nr, ret, duration, regs);
}

/*
 * Each callback for system calls consists of three functions: counting alone
 * need not save the registers that recording uses, and most calls that are only
 * counted take an inlined fast path.
 */

/* utrace_ftrace_sys_enter() of an instance that records no entries. */
static noinline u32 process_enter_counted(u32 action,
					  struct utrace_engine *engine,
					  struct pt_regs *regs)
{
	process_enter(engine->data, utrace_current_asked(regs));
	return UTRACE_RESUME | utrace_syscall_action(action);
}

/* utrace_ftrace_sys_enter() of an instance that records entries. */
static noinline u32 process_enter_recorded(u32 action,
					   struct utrace_engine *engine,
					   struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	u64 nr = utrace_current_asked(regs);
	struct process_task *task = process_enter(pt, nr);

	if (likely(task))
		process_record_entry(engine, pt, task, nr, regs);
	else
		process_full_entry(engine, NULL, nr, regs);
	return UTRACE_RESUME | utrace_syscall_action(action);
}

/**
 * utrace_ftrace_sys_enter() - report_syscall_entry of the engine
 * @action: answer of the previous engines
 * @engine: the engine; its data is struct process_trace
 * @regs: registers of the current task
 *
 * Context: A callback, in the task itself; may fault and sleep.
 * Return: UTRACE_RESUME, with the action for the system call unchanged.
 */
u32 utrace_ftrace_sys_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	if (process_wants(engine->data, PROCESS_SYS_ENTER))
		return process_enter_recorded(action, engine, regs);
	if (process_enter_usual(engine->data, action, regs))
		return UTRACE_RESUME;
	return process_enter_counted(action, engine, regs);
}

/* utrace_ftrace_sys_exit() of an instance that records no exits. */
static noinline u32 process_exit_counted(u32 action,
					 struct utrace_engine *engine,
					 struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_task *task = process_find_task(pt);

	if (likely(task))
		process_leave(pt, task, action, regs);
	return UTRACE_RESUME;
}

/* utrace_ftrace_sys_exit() of an instance that records exits. */
static noinline u32 process_exit_recorded(u32 action,
					  struct utrace_engine *engine,
					  struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_task *task = process_find_task(pt);
	/*
	 * Use the number stored at the entry: after sigreturn the registers are
	 * those of the code that the signal interrupted.
	 */
	u64 nr = task ? task->nr : PROCESS_IN_NO_CALL;
	s64 duration = task ? process_leave(pt, task, action, regs) : -1;
	long ret = syscall_get_return_value(current, regs);

	if (likely(duration >= 0))
		process_record_exit(engine, pt, task, nr, ret, duration, regs);
	else
		process_full_exit(engine, task, utrace_current_asked(regs), ret,
				  -1, regs);
	return UTRACE_RESUME;
}

/**
 * utrace_ftrace_sys_exit() - report_syscall_exit of the engine
 * @action: may have UTRACE_SYSCALL_UNPAIRED
 * @engine: the engine; its data is struct process_trace
 * @regs: registers of the current task
 *
 * Context: A callback, in the task itself; may fault and sleep.
 * Return: UTRACE_RESUME.
 */
u32 utrace_ftrace_sys_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs)
{
	if (process_wants(engine->data, PROCESS_SYS_EXIT))
		return process_exit_recorded(action, engine, regs);
	if (process_exit_usual(engine->data, action, regs))
		return UTRACE_RESUME;
	return process_exit_counted(action, engine, regs);
}

/**
 * utrace_ftrace_record_fork() - record that the current task creates a task
 * @engine: the engine; its data is struct process_trace
 * @child: the new task, which the callback keeps from running
 * @clone_flags: flags of clone(), with the exit signal in the low byte
 *
 * Context: report_clone, in the task itself.
 */
void utrace_ftrace_record_fork(struct utrace_engine *engine,
			       struct task_struct *child,
			       unsigned long clone_flags)
{
	process_record(engine, NULL, PROCESS_FORK, utrace_fork, 0, child,
		       clone_flags);
}

/* Maximum length of the program's name in an exec record, in bytes. */
#define PROCESS_NAME_MAX	1024

/* The ring drops a record larger than its pages, without counting it. */
static_assert(UTRACE_CAPTURE_SIZE + PROCESS_NAME_MAX < PAGE_SIZE - 512);
static_assert(UTRACE_CAPTURE_SIZE + 2 * UTRACE_ITEM_SIZE < PAGE_SIZE - 512);

/**
 * utrace_ftrace_record_exec() - record that the current task has a new program
 * @engine: the engine; its data is struct process_trace
 * @bprm: the program
 * @regs: registers of the current task; not used
 *
 * Captures program, arguments, directory and ids if any arguments are captured.
 *
 * Context: report_exec, in the task itself; may fault and sleep.
 */
void utrace_ftrace_record_exec(struct utrace_engine *engine,
			       const struct linux_binprm *bprm,
			       struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;

	if (READ_ONCE(pt->settings.args) && utrace_capture_start(&pc.capture))
		utrace_capture_exec(&pc.capture, &init_user_ns);
	process_record(engine, NULL, PROCESS_EXEC, utrace_exec, 0,
		       bprm->filename,
		       strnlen(bprm->filename, PROCESS_NAME_MAX),
		       process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

/**
 * utrace_ftrace_record_end() - record that the current task exits
 * @engine: the engine; its data is struct process_trace
 * @code: exit status, as from wait()
 *
 * Context: report_exit, in the task itself.
 */
void utrace_ftrace_record_end(struct utrace_engine *engine, long code)
{
	struct pid *by = utrace_superseded_by();

	process_record(engine, NULL, PROCESS_EXIT, utrace_exit, 0, code,
		       pid_nr(by));
	put_pid(by);
}

/*
 * Get the pid of the sender; 0: none.  In the siginfo of other signals the pid
 * shares its memory with a timer or a band.
 */
static pid_t process_sender(const struct kernel_siginfo *info)
{
	switch (siginfo_layout(info->si_signo, info->si_code)) {
	case SIL_KILL:
	case SIL_RT:
		return SI_FROMUSER(info) ? info->si_pid : 0;
	default:
		return 0;
	}
}

/**
 * utrace_ftrace_record_signal() - record that the current task takes a signal
 * @engine: the engine; its data is struct process_trace
 * @info: the signal
 * @ka: its disposition
 * @regs: registers of the current task
 *
 * Context: report_signal, in the task itself; may fault and sleep.
 */
void utrace_ftrace_record_signal(struct utrace_engine *engine,
				 const struct kernel_siginfo *info,
				 const struct k_sigaction *ka,
				 struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;

	process_capture_stack(pt, &pc, regs);
	process_record(engine, NULL, PROCESS_SIGNAL, utrace_signal, 0, info, ka,
		       process_sender(info), process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

/**
 * utrace_ftrace_record_jobctl() - record that the process stops or continues
 * @engine: the engine; its data is struct process_trace
 * @type: CLD_STOPPED or CLD_CONTINUED
 * @notify: CLD_ code for the parent; 0: none
 *
 * Context: report_jctl, in the task itself.
 */
void utrace_ftrace_record_jobctl(struct utrace_engine *engine, int type,
				 int notify)
{
	int sig = type == CLD_STOPPED ? utrace_stop_signal() : 0;

	process_record(engine, NULL, PROCESS_JOBCTL, utrace_jobctl, 0, type,
		       notify, sig);
}

/* Reading records */

/*
 * Data and size of a dynamic array in a record: its __data_loc_ field holds the
 * offset in the lower half and the size in the upper half.
 */
#define process_array(entry, field)					\
	((const void *)(entry) + ((entry)->__data_loc_##field & 0xffff))
#define process_array_size(entry, field)				\
	((entry)->__data_loc_##field >> 16)

/* Check whether a record in a ring is one of the tracer. */
static bool process_is_record(const struct trace_entry *entry)
{
	static const struct trace_event_call * const call[] = {
		&event_utrace_sys_enter, &event_utrace_sys_exit,
		&event_utrace_fork, &event_utrace_exec, &event_utrace_exit,
		&event_utrace_signal, &event_utrace_jobctl,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(call); i++)
		if (entry->type == call[i]->event.type)
			return true;
	return false;
}

/* Print a record of the tracer, without its time and task. */
static void process_print_record(struct seq_buf *s,
				 const struct trace_entry *entry)
{
	if (entry->type == event_utrace_sys_enter.event.type) {
		const struct trace_event_raw_utrace_sys_enter *e = (void *)entry;

		utrace_ftrace_print_entry(s, process_number(e->id), e->args,
					  process_array(e, data),
					  process_array_size(e, data));
	} else if (entry->type == event_utrace_sys_exit.event.type) {
		const struct trace_event_raw_utrace_sys_exit *e = (void *)entry;

		utrace_ftrace_print_exit(s, process_number(e->id), e->ret,
					 e->duration,
					 process_array(e, data),
					 process_array_size(e, data));
	} else if (entry->type == event_utrace_fork.event.type) {
		const struct trace_event_raw_utrace_fork *e = (void *)entry;

		utrace_ftrace_print_fork(s, e->child_pid, e->clone_flags);
	} else if (entry->type == event_utrace_exec.event.type) {
		const struct trace_event_raw_utrace_exec *e = (void *)entry;

		utrace_ftrace_print_exec(s, process_array(e, filename),
					 process_array(e, data),
					 process_array_size(e, data));
	} else if (entry->type == event_utrace_exit.event.type) {
		const struct trace_event_raw_utrace_exit *e = (void *)entry;

		utrace_ftrace_print_end(s, e->code, e->exec_pid);
	} else if (entry->type == event_utrace_signal.event.type) {
		const struct trace_event_raw_utrace_signal *e = (void *)entry;

		utrace_ftrace_print_signal(s, e->sig, e->code, e->sender,
					   process_array(e, data),
					   process_array_size(e, data));
	} else if (entry->type == event_utrace_jobctl.event.type) {
		const struct trace_event_raw_utrace_jobctl *e = (void *)entry;

		utrace_ftrace_print_jobctl(s, e->type, e->sig);
	}
}

/**
 * utrace_ftrace_print_line() - print a record for ftrace's readers
 * @iter: the reader's position; @iter->ent is the record
 *
 * This is ->print_line() of the tracer, so it is called only while the instance
 * uses the tracer.
 *
 * Context: A read of a trace file.
 * Return:
 * * TRACE_TYPE_HANDLED - the line is printed
 * * TRACE_TYPE_PARTIAL_LINE - the line does not fit; ftrace tries again
 * * TRACE_TYPE_UNHANDLED - ftrace must print the record: it is from another
 *   event, or an option asks for raw output
 */
enum print_line_t utrace_ftrace_print_line(struct trace_iterator *iter)
{
	const unsigned int raw = TRACE_ITER_RAW | TRACE_ITER_HEX |
				 TRACE_ITER_BIN | TRACE_ITER_FIELDS |
				 TRACE_ITER_LATENCY_FMT;
	struct trace_seq *s = &iter->seq;
	size_t len;

	if (iter->tr->trace_flags & raw || !process_is_record(iter->ent))
		return TRACE_TYPE_UNHANDLED;
	if (iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO &&
	    !trace_print_context(iter))
		return TRACE_TYPE_PARTIAL_LINE;
	len = s->seq.len;
	process_print_record(&s->seq, iter->ent);
	if (seq_buf_has_overflowed(&s->seq)) {
		/* Remove the partial line, as the functions of trace_seq do. */
		s->seq.len = len;
		s->full = 1;
		return TRACE_TYPE_PARTIAL_LINE;
	}
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

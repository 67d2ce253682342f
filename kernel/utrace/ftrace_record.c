// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: records
 *
 * What is taken along with an event is captured first, since that may fault and
 * sleep, and then the record is written, with preemption off.  The instance may
 * have gone away in between.
 *
 * A record goes to the instance whose engine was called, through its file of
 * that event.  For everybody else who listens to the event there is the
 * tracepoint: it fires once, for the first instance that chose the task.  The
 * probes by which instances listen pass over those that have the tracer.
 */
#include <linux/binfmts.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <asm/syscall.h>

#include "capture.h"
#include "ftrace_engine.h"
#ifdef __CHECKER__
/* All of them are more than sparse can take. */
#define UTRACE_CALL_NAMES	{ 0, "read" }
#else
#include "syscall_names.h"
#endif
#include "syscall_print.h"
#include "syscall_table.h"

#define CREATE_TRACE_POINTS
#include <trace/events/utrace.h>

static const struct utrace_captured process_nothing = {
	.str = { "", "" },
};

/**
 * struct process_capture - a capture, if there is anything to capture
 * @capture: @buffer is its memory
 * @buffer: NULL: nothing
 * @seen: for the record
 */
struct process_capture {
	struct utrace_capture capture;
	void *buffer;
	struct utrace_captured seen;
};

/* Without memory the record goes without, and that is counted. */
static bool process_capture_begin(struct process_trace *pt,
				  struct process_capture *pc)
{
	pc->buffer = kmalloc(UTRACE_CAPTURE_SIZE, GFP_KERNEL);
	if (!pc->buffer) {
		atomic_long_inc(&pt->lost);
		return false;
	}
	utrace_capture_init(&pc->capture, pc->buffer, UTRACE_CAPTURE_SIZE);
	return true;
}

static void process_capture_stack(struct process_trace *pt,
				  struct process_capture *pc,
				  struct pt_regs *regs)
{
	enum process_stack stack = READ_ONCE(pt->stack);

	if (stack == PROCESS_STACK_NONE)
		return;
	if (!pc->buffer && !process_capture_begin(pt, pc))
		return;
	if (stack == PROCESS_STACK_RAW)
		utrace_capture_raw_stack(&pc->capture, regs);
	else
		utrace_capture_stack(&pc->capture, regs);
}

/* What the record gets to see of it. */
static const struct utrace_captured *process_captured(struct process_capture *pc)
{
	const struct utrace_item *item = NULL;
	struct utrace_captured *seen = &pc->seen;

	if (!pc->buffer)
		return &process_nothing;
	*seen = process_nothing;
	seen->data = pc->buffer;
	seen->size = pc->capture.used;
	while ((item = utrace_capture_next(seen->data, seen->size, item))) {
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
 * A trigger on an event that is not enabled hides its records.  The instance
 * has them for its tracer, so they are written by a file that has no triggers.
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

/* May a record be written?  Then until process_end(), with preemption off. */
static bool process_begin(struct process_trace *pt)
{
	preempt_disable_notrace();
	if (likely(rcu_access_pointer(pt->tr)))
		return true;
	preempt_enable_notrace();
	return false;
}

static void process_end(void)
{
	preempt_enable_notrace();
}

/* Write a record by the instance's own file. */
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

/* Let the tracepoint fire for all others, if that is for this instance to do. */
#define process_tell(pt, which, name, nr, ...)				\
do {									\
	if (trace_##name##_enabled() && process_is_first(pt, which, nr)) \
		trace_##name(__VA_ARGS__);				\
} while (0)

#define process_record(pt, which, name, nr, ...)			\
do {									\
	if (process_begin(pt)) {					\
		process_write(pt, which, name, __VA_ARGS__);		\
		process_tell(pt, which, name, nr, __VA_ARGS__);		\
		process_end();						\
	}								\
} while (0)

/* The probe of an instance: one that has the tracer hears from its engine. */
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
PROCESS_PROBE(utrace_exit, PARAMS(long code), code)
PROCESS_PROBE(utrace_signal,
	      PARAMS(const struct kernel_siginfo *info,
		     const struct k_sigaction *ka,
		     const struct utrace_captured *c), info, ka, c)
PROCESS_PROBE(utrace_jobctl, PARAMS(int type, int notify), type, notify)

/* From kernel/trace: before anybody can enable the events, on the command line too. */
void __init process_trace_init(void)
{
	event_class_utrace_sys_enter.probe = process_probe_utrace_sys_enter;
	event_class_utrace_sys_exit.probe = process_probe_utrace_sys_exit;
	event_class_utrace_fork.probe = process_probe_utrace_fork;
	event_class_utrace_exec.probe = process_probe_utrace_exec;
	event_class_utrace_exit.probe = process_probe_utrace_exit;
	event_class_utrace_signal.probe = process_probe_utrace_signal;
	event_class_utrace_jobctl.probe = process_probe_utrace_jobctl;
}

/* int $0x80 from 64-bit code leaves anything in the upper halves. */
static void process_get_args(unsigned int nr, struct pt_regs *regs,
			     unsigned long args[6])
{
	unsigned int i;

	syscall_get_arguments(current, regs, args);
	if (unlikely(nr & UTRACE_SYSCALL_IA32 && nr != PROCESS_NO_CALL))
		for (i = 0; i < 6; i++)
			args[i] = (u32)args[i];
}

#define PROCESS_FL_SPECIAL	(EVENT_FILE_FL_FILTERED |		\
				 EVENT_FILE_FL_SOFT_DISABLED |		\
				 EVENT_FILE_FL_TRIGGER_MODE |		\
				 EVENT_FILE_FL_TRIGGER_COND)

/*
 * Readers know the name of a task by its pid only.  ftrace takes it after a
 * record on this CPU; a filter may have dropped ours.
 */
static void process_save_comm(struct process_trace *pt, enum process_event event,
			      struct process_task *task)
{
	if (!process_begin(pt))
		return;
	tracing_record_cmdline(current);
	if (task && !(pt->file[event]->flags & PROCESS_FL_SPECIAL))
		task->named = true;
	process_end();
}

static noinline void process_full_entry(struct process_trace *pt,
					struct process_task *task,
					unsigned int nr, struct pt_regs *regs)
{
	struct process_capture pc = {};
	unsigned long args[6];

	process_get_args(nr, regs, args);
	if (test_bit(process_call_bit(nr), pt->entry_args) &&
	    utrace_call_of(nr) && process_capture_begin(pt, &pc))
		utrace_capture_entry(&pc.capture, utrace_call_of(nr), args,
				     READ_ONCE(pt->args));
	process_capture_stack(pt, &pc, regs);
	process_record(pt, PROCESS_SYS_ENTER, utrace_sys_enter, nr, (int)nr, args,
		       process_captured(&pc));
	process_save_comm(pt, PROCESS_SYS_ENTER, task);
	kfree(pc.buffer);
}

static noinline void process_full_exit(struct process_trace *pt,
				       struct process_task *task,
				       unsigned int nr, long ret, s64 duration,
				       struct pt_regs *regs)
{
	struct process_capture pc = {};
	unsigned long args[6];

	if (test_bit(process_call_bit(nr), pt->exit_args) &&
	    utrace_call_of(nr) && process_capture_begin(pt, &pc)) {
		process_get_args(nr, regs, args);
		utrace_capture_exit(&pc.capture, utrace_call_of(nr), args, ret,
				    READ_ONCE(pt->args));
	}
	process_record(pt, PROCESS_SYS_EXIT, utrace_sys_exit, nr, (int)nr, ret,
		       duration, process_captured(&pc));
	process_save_comm(pt, PROCESS_SYS_EXIT, task);
	kfree(pc.buffer);
}

/*
 * Most calls are of the native table and have nothing to capture, and most
 * events no filter, no trigger and no other listener.  Their records are written
 * in place.  Of what stands between a record and its ring in general only the
 * exports of ftrace and tp_printk would be needed then, which do without them.
 */
/* With preemption off.  False also if there is nothing to write to any more. */
static __always_inline bool process_is_plain(struct process_trace *pt,
					     enum process_event event,
					     unsigned int nr,
					     const unsigned long *captured)
{
	const struct trace_array *tr = rcu_dereference_sched(pt->tr);

	return likely(tr) &&
	       !(tr->trace_flags & (TRACE_ITER_STACKTRACE |
				    TRACE_ITER_USERSTACKTRACE)) &&
	       !(pt->file[event]->flags & PROCESS_FL_SPECIAL) &&
	       nr < PROCESS_CALLS / 2 && !test_bit(nr, captured);
}

/* The ring of an instance; a snapshot puts another one in its place. */
static __always_inline struct trace_buffer *process_ring(struct trace_event_file *file)
{
	return READ_ONCE(file->tr->array_buffer.buffer);
}

/* Reserve a record of an event; all of it happens in user context. */
static __always_inline void *process_reserve(struct trace_event_file *file,
					     struct trace_buffer *ring,
					     size_t size)
{
	struct ring_buffer_event *event;
	struct trace_entry *entry;

	event = ring_buffer_lock_reserve(ring, size);
	if (unlikely(!event))
		return NULL;
	entry = ring_buffer_event_data(event);
	tracing_generic_entry_update(entry, file->event_call->event.type,
				     need_resched() ? TRACE_FLAG_NEED_RESCHED << 16 : 0);
	return entry;
}

static __always_inline void process_plain_entry(struct trace_event_file *file,
						unsigned int nr,
						struct pt_regs *regs)
{
	struct trace_event_raw_utrace_sys_enter *entry;
	struct trace_buffer *ring = process_ring(file);
	unsigned int at = offsetof(typeof(*entry), __data);

	/* Two empty strings. */
	entry = process_reserve(file, ring, sizeof(*entry) + 2);
	if (unlikely(!entry))
		return;
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

static __always_inline void process_plain_exit(struct trace_event_file *file,
					       unsigned int nr, long ret,
					       s64 duration)
{
	struct trace_event_raw_utrace_sys_exit *entry;
	struct trace_buffer *ring = process_ring(file);

	entry = process_reserve(file, ring, sizeof(*entry));
	if (unlikely(!entry))
		return;
	entry->id = (int)nr;
	entry->ret = ret;
	entry->duration = duration;
	entry->__data_loc_data = offsetof(typeof(*entry), __data);
	ring_buffer_unlock_commit(ring);
}

static __always_inline void process_record_entry(struct process_trace *pt,
						 struct process_task *task,
						 unsigned int nr,
						 struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = likely(task) && task->named && !trace_utrace_sys_enter_enabled() &&
		process_is_plain(pt, PROCESS_SYS_ENTER, nr, pt->entry_args);
	if (likely(plain))
		process_plain_entry(pt->file[PROCESS_SYS_ENTER], nr, regs);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_entry(pt, task, nr, regs);
}

static __always_inline void process_record_exit(struct process_trace *pt,
						struct process_task *task,
						unsigned int nr, long ret,
						s64 duration,
						struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = likely(task) && task->named && !trace_utrace_sys_exit_enabled() &&
		process_is_plain(pt, PROCESS_SYS_EXIT, nr, pt->exit_args);
	if (likely(plain))
		process_plain_exit(pt->file[PROCESS_SYS_EXIT], nr, ret, duration);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_exit(pt, task, nr, ret, duration, regs);
}

/* With the flag that tells the tables of system calls apart. */
static unsigned int process_call(struct pt_regs *regs)
{
	unsigned int nr = syscall_get_nr(current, regs);

	/* No call of any table: a program may ask for whatever it wants. */
	if (unlikely(nr & UTRACE_SYSCALL_IA32))
		return PROCESS_NO_CALL;
#ifdef CONFIG_IA32_EMULATION
	if (in_ia32_syscall())
		nr |= UTRACE_SYSCALL_IA32;
#endif
	return nr;
}

u32 process_sys_enter(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	unsigned int nr = process_call(regs);
	struct process_task *task = process_enter(pt, nr);

	if (process_wants(pt, PROCESS_SYS_ENTER))
		process_record_entry(pt, task, nr, regs);
	return UTRACE_RESUME | utrace_syscall_action(action);
}

u32 process_sys_exit(u32 action, struct utrace_engine *engine,
		     struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	long ret = syscall_get_return_value(current, regs);
	unsigned int nr = process_call(regs);
	struct process_task *task;
	s64 duration;

	task = process_leave(pt, !(action & UTRACE_SYSCALL_UNPAIRED), &nr, ret,
			     &duration);
	if (process_wants(pt, PROCESS_SYS_EXIT))
		process_record_exit(pt, task, nr, ret, duration, regs);
	return UTRACE_RESUME;
}

void process_record_fork(struct process_trace *pt, struct task_struct *child,
			 unsigned long clone_flags)
{
	process_record(pt, PROCESS_FORK, utrace_fork, 0, child, clone_flags);
	process_save_comm(pt, PROCESS_FORK, NULL);
}

/* Bytes of a file's name: with all else a record is to fit into a page. */
#define PROCESS_NAME_MAX	1024

void process_record_exec(struct process_trace *pt,
			 const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct process_capture pc = {};

	if (READ_ONCE(pt->args) && process_capture_begin(pt, &pc))
		utrace_capture_exec(&pc.capture);
	process_record(pt, PROCESS_EXEC, utrace_exec, 0, bprm->filename,
		       strnlen(bprm->filename, PROCESS_NAME_MAX),
		       process_captured(&pc));
	process_save_comm(pt, PROCESS_EXEC, NULL);
	kfree(pc.buffer);
}

void process_record_end(struct process_trace *pt, long code)
{
	process_record(pt, PROCESS_EXIT, utrace_exit, 0, code);
	process_save_comm(pt, PROCESS_EXIT, NULL);
}

void process_record_signal(struct process_trace *pt,
			   const struct kernel_siginfo *info,
			   const struct k_sigaction *ka, struct pt_regs *regs)
{
	struct process_capture pc = {};

	process_capture_stack(pt, &pc, regs);
	process_record(pt, PROCESS_SIGNAL, utrace_signal, 0, info, ka,
		       process_captured(&pc));
	process_save_comm(pt, PROCESS_SIGNAL, NULL);
	kfree(pc.buffer);
}

void process_record_jobctl(struct process_trace *pt, int type, int notify)
{
	process_record(pt, PROCESS_JOBCTL, utrace_jobctl, 0, type, notify);
	process_save_comm(pt, PROCESS_JOBCTL, NULL);
}

/* Reading them. */

/* A field that is an array, of a record that is being read. */
#define process_array(entry, field)					\
	((const void *)(entry) + ((entry)->__data_loc_##field & 0xffff))
#define process_array_size(entry, field)				\
	((entry)->__data_loc_##field >> 16)

/**
 * process_is_record - is this one of the tracer's records?
 * @entry: a record in a ring
 *
 * Return: true if so.
 */
bool process_is_record(const struct trace_entry *entry)
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

/**
 * process_print_record - print a record, without its time and task
 * @s: where to
 * @entry: a record of the tracer
 */
void process_print_record(struct seq_buf *s, const struct trace_entry *entry)
{
	if (entry->type == event_utrace_sys_enter.event.type) {
		const struct trace_event_raw_utrace_sys_enter *e = (void *)entry;

		process_print_entry(s, e->id, e->args, process_array(e, data),
				    process_array_size(e, data));
	} else if (entry->type == event_utrace_sys_exit.event.type) {
		const struct trace_event_raw_utrace_sys_exit *e = (void *)entry;

		process_print_exit(s, e->id, e->ret, e->duration,
				   process_array(e, data),
				   process_array_size(e, data));
	} else if (entry->type == event_utrace_fork.event.type) {
		const struct trace_event_raw_utrace_fork *e = (void *)entry;

		process_print_fork(s, e->child_pid, e->clone_flags);
	} else if (entry->type == event_utrace_exec.event.type) {
		const struct trace_event_raw_utrace_exec *e = (void *)entry;

		process_print_exec(s, process_array(e, filename),
				   process_array(e, data),
				   process_array_size(e, data));
	} else if (entry->type == event_utrace_exit.event.type) {
		const struct trace_event_raw_utrace_exit *e = (void *)entry;

		process_print_end(s, e->code);
	} else if (entry->type == event_utrace_signal.event.type) {
		const struct trace_event_raw_utrace_signal *e = (void *)entry;

		process_print_signal(s, e->sig, e->code, e->sender,
				     process_array(e, data),
				     process_array_size(e, data));
	} else if (entry->type == event_utrace_jobctl.event.type) {
		const struct trace_event_raw_utrace_jobctl *e = (void *)entry;

		process_print_jobctl(s, e->type);
	}
}

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
#include <linux/unaligned.h>

#include <asm/syscall.h>

#include "../capture/capture.h"
#include "process.h"
#ifdef __CHECKER__
/* All of them are more than sparse can take. */
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

static const struct utrace_captured process_nothing = {
	.str = { "", "" },
};

/**
 * struct process_capture - what is taken along with an event
 * @capture: empty if there is nothing to take
 * @seen: what the record gets to see of @capture
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

	utrace_capture_stacks(&pc->capture, regs, what[READ_ONCE(pt->stack)]);
}

/* What the record gets to see of it. */
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

/*
 * May a record be written?  Not when the instance was left or started anew since
 * the engine was called.  If so then until process_end(), with preemption off.
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
 * Readers know the name of a task by its pid only.  ftrace takes it after a
 * record on this CPU, which a filter may have dropped.
 */
static void process_save_comm(struct process_task *task)
{
	if (!__this_cpu_read(trace_taskinfo_save))
		return;
	tracing_record_cmdline(current);
	if (task && !__this_cpu_read(trace_taskinfo_save))
		memcpy(task->saved, current->comm, TASK_COMM_LEN);
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
	if (trace_##name##_enabled() && utrace_ftrace_is_first(pt, which, nr)) \
		trace_##name(__VA_ARGS__);				\
} while (0)

#define process_record(engine, task, which, name, nr, ...)		\
do {									\
	struct process_trace *__pt = (engine)->data;			\
									\
	if (process_begin(engine)) {					\
		process_write(__pt, which, name, __VA_ARGS__);		\
		process_save_comm(task);				\
		process_tell(__pt, which, name, nr, __VA_ARGS__);	\
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
		     const struct k_sigaction *ka, pid_t sender,
		     const struct utrace_captured *c), info, ka, sender, c)
PROCESS_PROBE(utrace_jobctl, PARAMS(int type, int notify), type, notify)

/* From kernel/trace: before anybody can enable the events, on the command line too. */
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

#define PROCESS_FL_SPECIAL	(EVENT_FILE_FL_FILTERED |		\
				 EVENT_FILE_FL_SOFT_DISABLED |		\
				 EVENT_FILE_FL_TRIGGER_MODE |		\
				 EVENT_FILE_FL_TRIGGER_COND)

static noinline void process_full_entry(struct utrace_engine *engine,
					struct process_task *task,
					unsigned int nr, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;
	unsigned long args[6];

	utrace_current_args(regs, args);
	utrace_capture_call(&pc.capture, nr, args, READ_ONCE(pt->args));
	process_capture_stack(pt, &pc, regs);
	process_record(engine, task, PROCESS_SYS_ENTER, utrace_sys_enter, nr,
		       (int)nr, args, process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

static noinline void process_full_exit(struct utrace_engine *engine,
				       struct process_task *task,
				       unsigned int nr, long ret, s64 duration,
				       struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;
	unsigned long args[6];

	utrace_current_args(regs, args);
	utrace_capture_result(&pc.capture, nr, args, ret, READ_ONCE(pt->args));
	process_record(engine, task, PROCESS_SYS_EXIT, utrace_sys_exit, nr,
		       (int)nr, ret, duration, process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

/* Does ftrace know the name?  It may change at any time. */
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
 * Most calls are of the native table and have nothing to capture, and most
 * events no filter, no trigger and no other listener.  Their records are written
 * in place.  Of what stands between a record and its ring in general only the
 * exports of ftrace and tp_printk would be needed then, which do without them.
 *
 * With preemption off.  False also if there is nothing to write to any more.
 */
static __always_inline bool process_is_plain(struct utrace_engine *engine,
					     const struct process_trace *pt,
					     const struct process_task *task,
					     enum process_event event,
					     unsigned int nr,
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

/* The ring of an instance; a snapshot puts another one in its place. */
static __always_inline struct trace_buffer *process_ring(struct trace_event_file *file)
{
	return READ_ONCE(file->tr->array_buffer.buffer);
}

/* What a reserved record begins with; all of it is in a task that may sleep. */
static __always_inline void *process_begin_entry(struct trace_event_file *file,
						 struct ring_buffer_event *event)
{
	struct trace_entry *entry = ring_buffer_event_data(event);

	tracing_generic_entry_update(entry, file->event_call->event.type, 0);
	return entry;
}

static __always_inline void process_plain_entry(struct trace_event_file *file,
						unsigned int nr,
						struct pt_regs *regs)
{
	struct trace_event_raw_utrace_sys_enter *entry;
	struct trace_buffer *ring = process_ring(file);
	struct ring_buffer_event *event;
	unsigned int at = offsetof(typeof(*entry), __data);

	/* Two empty strings. */
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

static __always_inline void process_record_entry(struct utrace_engine *engine,
						 struct process_trace *pt,
						 struct process_task *task,
						 unsigned int nr,
						 struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = !trace_utrace_sys_enter_enabled() &&
		process_is_plain(engine, pt, task, PROCESS_SYS_ENTER, nr,
				 pt->entry_args);
	if (likely(plain))
		process_plain_entry(pt->file[PROCESS_SYS_ENTER], nr, regs);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_entry(engine, task, nr, regs);
}

static __always_inline void process_record_exit(struct utrace_engine *engine,
						struct process_trace *pt,
						struct process_task *task,
						unsigned int nr, long ret,
						s64 duration,
						struct pt_regs *regs)
{
	bool plain;

	preempt_disable_notrace();
	plain = !trace_utrace_sys_exit_enabled() &&
		process_is_plain(engine, pt, task, PROCESS_SYS_EXIT, nr,
				 pt->exit_args);
	if (likely(plain))
		process_plain_exit(pt->file[PROCESS_SYS_EXIT], nr, ret, duration);
	preempt_enable_notrace();
	if (unlikely(!plain))
		process_full_exit(engine, task, nr, ret, duration, regs);
}

/* The current task enters a system call. */
static __always_inline void process_enter(struct process_trace *pt,
					  struct process_task *task,
					  unsigned int nr)
{
	WRITE_ONCE(task->since, local_clock());
	WRITE_ONCE(task->nr, nr);
	task->counting = process_wants(pt, PROCESS_STAT);
	if (unlikely(task->counting))
		task->cpu_since = task_sched_runtime(current);
}

/* It leaves the one that it entered. */
static __always_inline void process_leave(struct process_trace *pt,
					  struct process_task *task,
					  long ret, s64 duration)
{
	unsigned int nr = task->nr;

	WRITE_ONCE(task->nr, -1);
	if (unlikely(task->counting))
		utrace_ftrace_count(pt, task, nr, ret, duration);
}

u32 utrace_ftrace_sys_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_task *task = process_find_task(pt);
	bool wanted = process_wants(pt, PROCESS_SYS_ENTER);
	unsigned int nr = utrace_current_call(regs);

	if (unlikely(!task))
		task = utrace_ftrace_new_task(pt);
	if (likely(task)) {
		process_enter(pt, task, nr);
		if (wanted)
			process_record_entry(engine, pt, task, nr, regs);
	} else if (wanted) {
		process_full_entry(engine, NULL, nr, regs);
	}
	return UTRACE_RESUME | utrace_syscall_action(action);
}

u32 utrace_ftrace_sys_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_task *task = process_find_task(pt);
	bool wanted = process_wants(pt, PROCESS_SYS_EXIT);
	long ret = syscall_get_return_value(current, regs);
	unsigned int nr;
	s64 duration;

	/* Was it not seen to enter? */
	if (unlikely(!task || task->nr < 0 || action & UTRACE_SYSCALL_UNPAIRED)) {
		if (task)
			WRITE_ONCE(task->nr, -1);
		if (wanted)
			process_full_exit(engine, task, utrace_current_call(regs), ret,
					  -1, regs);
		return UTRACE_RESUME;
	}
	/* Of sigreturn the registers do not tell any more. */
	nr = task->nr;
	duration = process_since(task);
	process_leave(pt, task, ret, duration);
	if (wanted)
		process_record_exit(engine, pt, task, nr, ret, duration, regs);
	return UTRACE_RESUME;
}

void utrace_ftrace_record_fork(struct utrace_engine *engine,
			       struct task_struct *child, unsigned long clone_flags)
{
	process_record(engine, NULL, PROCESS_FORK, utrace_fork, 0, child,
		       clone_flags);
}

/* Bytes of a file's name. */
#define PROCESS_NAME_MAX	1024

/* What does not fit into a page of the ring is dropped, and not counted. */
static_assert(UTRACE_CAPTURE_SIZE + PROCESS_NAME_MAX < PAGE_SIZE - 512);
static_assert(UTRACE_CAPTURE_SIZE + 2 * UTRACE_CAPTURE_ITEM < PAGE_SIZE - 512);

void utrace_ftrace_record_exec(struct utrace_engine *engine,
			       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;

	if (READ_ONCE(pt->args) && utrace_capture_start(&pc.capture))
		utrace_capture_exec(&pc.capture, &init_user_ns);
	process_record(engine, NULL, PROCESS_EXEC, utrace_exec, 0, bprm->filename,
		       strnlen(bprm->filename, PROCESS_NAME_MAX),
		       process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

void utrace_ftrace_record_end(struct utrace_engine *engine, long code)
{
	process_record(engine, NULL, PROCESS_EXIT, utrace_exit, 0, code);
}

/* Only these have a pid where others have a timer or a band. */
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

void utrace_ftrace_record_signal(struct utrace_engine *engine,
				 const struct kernel_siginfo *info,
				 const struct k_sigaction *ka, struct pt_regs *regs)
{
	struct process_trace *pt = engine->data;
	struct process_capture pc = PROCESS_CAPTURE_INIT;

	process_capture_stack(pt, &pc, regs);
	process_record(engine, NULL, PROCESS_SIGNAL, utrace_signal, 0, info, ka,
		       process_sender(info), process_captured(pt, &pc));
	utrace_capture_free(&pc.capture);
}

void utrace_ftrace_record_jobctl(struct utrace_engine *engine, int type, int notify)
{
	process_record(engine, NULL, PROCESS_JOBCTL, utrace_jobctl, 0, type,
		       notify);
}

/* Reading them. */

/* A field that is an array, of a record that is being read. */
#define process_array(entry, field)					\
	((const void *)(entry) + ((entry)->__data_loc_##field & 0xffff))
#define process_array_size(entry, field)				\
	((entry)->__data_loc_##field >> 16)

/**
 * utrace_ftrace_is_record - is this one of the tracer's records?
 * @entry: a record in a ring
 *
 * Return: true if so.
 */
bool utrace_ftrace_is_record(const struct trace_entry *entry)
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
 * utrace_ftrace_print_record - print a record, without its time and task
 * @s: where to
 * @entry: a record of the tracer
 */
void utrace_ftrace_print_record(struct seq_buf *s, const struct trace_entry *entry)
{
	if (entry->type == event_utrace_sys_enter.event.type) {
		const struct trace_event_raw_utrace_sys_enter *e = (void *)entry;

		utrace_ftrace_print_entry(s, e->id, e->args, process_array(e, data),
					  process_array_size(e, data));
	} else if (entry->type == event_utrace_sys_exit.event.type) {
		const struct trace_event_raw_utrace_sys_exit *e = (void *)entry;

		utrace_ftrace_print_exit(s, e->id, e->ret, e->duration,
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

		utrace_ftrace_print_end(s, e->code);
	} else if (entry->type == event_utrace_signal.event.type) {
		const struct trace_event_raw_utrace_signal *e = (void *)entry;

		utrace_ftrace_print_signal(s, e->sig, e->code, e->sender,
					   process_array(e, data),
					   process_array_size(e, data));
	} else if (entry->type == event_utrace_jobctl.event.type) {
		const struct trace_event_raw_utrace_jobctl *e = (void *)entry;

		utrace_ftrace_print_jobctl(s, e->type);
	}
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - trace events of the core
 *
 * The events record each attach and detach of an engine, each pass that changes
 * the task, and the begin and the end of each stop.  The events of the traced
 * tasks are in <trace/events/utrace.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM utrace_core

#if !defined(_TRACE_UTRACE_CORE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UTRACE_CORE_H

#include <linux/sched.h>
#include <linux/tracepoint.h>

/*
 * An engine was attached or detached.  @pid is its target, 0 for the system;
 * @state has the bits UTRACE_STATE_* of kernel/utrace/internal.h.
 */
DECLARE_EVENT_CLASS(utrace_core_engine,
	TP_PROTO(const void *engine, const char *name, pid_t pid,
		 unsigned int state),
	TP_ARGS(engine, name, pid, state),
	TP_STRUCT__entry(
		__field(const void *, engine)
		__string(name, name)
		__field(pid_t, pid)
		__field(unsigned int, state)
	),
	TP_fast_assign(
		__entry->engine = engine;
		__assign_str(name);
		__entry->pid = pid;
		__entry->state = state;
	),
	TP_printk("engine=%p name=%s pid=%d state=%#x", __entry->engine,
		  __get_str(name), __entry->pid, __entry->state)
);

DEFINE_EVENT(utrace_core_engine, utrace_attach,
	TP_PROTO(const void *engine, const char *name, pid_t pid,
		 unsigned int state),
	TP_ARGS(engine, name, pid, state)
);

DEFINE_EVENT(utrace_core_engine, utrace_detach,
	TP_PROTO(const void *engine, const char *name, pid_t pid,
		 unsigned int state),
	TP_ARGS(engine, name, pid, state)
);

/*
 * The engines of a pass have changed the holds, the steps or the resume action
 * of the task.  @action is the smallest resume action, @result the action for
 * the event.
 */
TRACE_EVENT(utrace_report,
	TP_PROTO(struct task_struct *task, unsigned int action, u32 result),
	TP_ARGS(task, action, result),
	TP_STRUCT__entry(
		__field(pid_t, pid)
		__field(unsigned int, action)
		__field(u32, result)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
		__entry->action = action;
		__entry->result = result;
	),
	TP_printk("pid=%d action=%u result=%#x", __entry->pid,
		  __entry->action, __entry->result)
);

/* A task begins to stop; @hold has the slots of the engines that hold it. */
TRACE_EVENT(utrace_stop,
	TP_PROTO(struct task_struct *task, u64 hold),
	TP_ARGS(task, hold),
	TP_STRUCT__entry(
		__field(pid_t, pid)
		__field(u64, hold)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
		__entry->hold = hold;
	),
	TP_printk("pid=%d hold=%#llx", __entry->pid, __entry->hold)
);

/* A task leaves utrace_stop(). */
TRACE_EVENT(utrace_resume,
	TP_PROTO(struct task_struct *task),
	TP_ARGS(task),
	TP_STRUCT__entry(
		__field(pid_t, pid)
	),
	TP_fast_assign(
		__entry->pid = task->pid;
	),
	TP_printk("pid=%d", __entry->pid)
);

#endif /* _TRACE_UTRACE_CORE_H */

#include <trace/define_trace.h>

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - trace events of traced tasks
 *
 * The tracer "process" of ftrace writes these events for the tasks that it
 * follows.  Fields have the same names as in the events of raw_syscalls, sched
 * and signal.  An event that can have a capture ends with the field @data, with
 * items in the format of kernel/utrace/capture/capture.h.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM utrace

#if !defined(_TRACE_UTRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _TRACE_UTRACE_H

#include <linux/binfmts.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/tracepoint.h>

#ifndef _UTRACE_TRACE_CAPTURED
#define _UTRACE_TRACE_CAPTURED
/**
 * struct utrace_captured - data that was captured for a record
 * @str: the first two strings that were captured, without a NUL at the end
 * @len: lengths of these strings in bytes
 * @nstr: number of these strings
 * @size: size of @data in bytes
 * @data: items, see kernel/utrace/capture/capture.h
 *
 * The caller of the tracepoint owns the memory; the record gets a copy.
 */
struct utrace_captured {
	const char *str[2];
	unsigned int len[2];
	unsigned int nstr;
	unsigned int size;
	const void *data;
};
#endif

/*
 * @id is or-ed with UTRACE_SYSCALL_IA32 if it is from the 32-bit table.  If a
 * program passes a number with that bit, the lower half of @id is 0x1fffffff,
 * and the upper half is the number.
 */
TRACE_EVENT(utrace_sys_enter,

	TP_PROTO(long id, const unsigned long *args,
		 const struct utrace_captured *c),

	TP_ARGS(id, args, c),

	TP_STRUCT__entry(
		__field(long, id)
		__array(unsigned long, args, 6)
		__field(unsigned int, nstr)
		__string_len(str1, c->str[0], c->len[0])
		__string_len(str2, c->str[1], c->len[1])
		__dynamic_array(u8, data, c->size)
	),

	TP_fast_assign(
		__entry->id = id;
		memcpy(__entry->args, args, sizeof(__entry->args));
		__entry->nstr = c->nstr;
		__assign_str(str1);
		__assign_str(str2);
		memcpy(__get_dynamic_array(data), c->data, c->size);
	),

	TP_printk("%s(0x%lx, 0x%lx, 0x%lx, 0x%lx, 0x%lx, 0x%lx)%s%s%s%s%s",
		  __print_symbolic(__entry->id, UTRACE_CALL_NAMES),
		  __entry->args[0], __entry->args[1], __entry->args[2],
		  __entry->args[3], __entry->args[4], __entry->args[5],
		  __entry->nstr > 0 ? " '" : "", __get_str(str1),
		  __entry->nstr > 1 ? "', '" : "", __get_str(str2),
		  __entry->nstr > 0 ? "'" : "")
);

/* @duration is the time since the entry in ns, -1 if the entry was not seen. */
TRACE_EVENT(utrace_sys_exit,

	TP_PROTO(long id, long ret, s64 duration,
		 const struct utrace_captured *c),

	TP_ARGS(id, ret, duration, c),

	TP_STRUCT__entry(
		__field(long, id)
		__field(long, ret)
		__field(s64, duration)
		__dynamic_array(u8, data, c->size)
	),

	TP_fast_assign(
		__entry->id = id;
		__entry->ret = ret;
		__entry->duration = duration;
		memcpy(__get_dynamic_array(data), c->data, c->size);
	),

	TP_printk("%s = %ld (%lld ns)",
		  __print_symbolic(__entry->id, UTRACE_CALL_NAMES),
		  __entry->ret, __entry->duration)
);

TRACE_EVENT(utrace_fork,

	TP_PROTO(struct task_struct *child, unsigned long clone_flags),

	TP_ARGS(child, clone_flags),

	TP_STRUCT__entry(
		__array(char, parent_comm, TASK_COMM_LEN)
		__field(pid_t, parent_pid)
		__array(char, child_comm, TASK_COMM_LEN)
		__field(pid_t, child_pid)
		__field(unsigned long, clone_flags)
	),

	TP_fast_assign(
		memcpy(__entry->parent_comm, current->comm, TASK_COMM_LEN);
		__entry->parent_pid = current->pid;
		memcpy(__entry->child_comm, child->comm, TASK_COMM_LEN);
		__entry->child_pid = child->pid;
		__entry->clone_flags = clone_flags;
	),

	TP_printk("comm=%s pid=%d child_comm=%s child_pid=%d clone_flags=0x%lx",
		  __entry->parent_comm, __entry->parent_pid,
		  __entry->child_comm, __entry->child_pid,
		  __entry->clone_flags)
);

TRACE_EVENT(utrace_exec,

	TP_PROTO(const char *filename, unsigned int len,
		 const struct utrace_captured *c),

	TP_ARGS(filename, len, c),

	TP_STRUCT__entry(
		__string_len(filename, filename, len)
		__field(pid_t, pid)
		__dynamic_array(u8, data, c->size)
	),

	TP_fast_assign(
		__assign_str(filename);
		__entry->pid = current->pid;
		memcpy(__get_dynamic_array(data), c->data, c->size);
	),

	TP_printk("filename=%s pid=%d", __get_str(filename), __entry->pid)
);

/*
 * @code is the status that wait(2) reports.  If the task is a leader that
 * another thread replaces by calling execve(2), @exec_pid is the pid of that
 * thread, else 0.
 */
TRACE_EVENT(utrace_exit,

	TP_PROTO(long code, pid_t exec_pid),

	TP_ARGS(code, exec_pid),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, code)
		__field(pid_t, exec_pid)
	),

	TP_fast_assign(
		memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		__entry->pid = current->pid;
		__entry->code = code;
		__entry->exec_pid = exec_pid;
	),

	TP_printk("comm=%s pid=%d code=0x%x exec_pid=%d", __entry->comm,
		  __entry->pid, __entry->code, __entry->exec_pid)
);

/* @sender is the pid of the sender as the task sees it, 0 for the kernel. */
TRACE_EVENT(utrace_signal,

	TP_PROTO(const struct kernel_siginfo *info,
		 const struct k_sigaction *ka, pid_t sender,
		 const struct utrace_captured *c),

	TP_ARGS(info, ka, sender, c),

	TP_STRUCT__entry(
		__field(int, sig)
		__field(int, errno)
		__field(int, code)
		__field(unsigned long, sa_handler)
		__field(unsigned long, sa_flags)
		__field(pid_t, sender)
		__dynamic_array(u8, data, c->size)
	),

	TP_fast_assign(
		__entry->sig = info->si_signo;
		__entry->errno = info->si_errno;
		__entry->code = info->si_code;
		__entry->sa_handler = (unsigned long)ka->sa.sa_handler;
		__entry->sa_flags = ka->sa.sa_flags;
		__entry->sender = sender;
		memcpy(__get_dynamic_array(data), c->data, c->size);
	),

	TP_printk("sig=%d errno=%d code=%d sa_handler=%lx sa_flags=%lx sender=%d",
		  __entry->sig, __entry->errno, __entry->code,
		  __entry->sa_handler, __entry->sa_flags, __entry->sender)
);

/*
 * @type is CLD_STOPPED or CLD_CONTINUED.  @notify is the code that the task
 * reports to the parent, or 0.  @sig is the signal that stops the process, or
 * 0.
 */
TRACE_EVENT(utrace_jobctl,

	TP_PROTO(int type, int notify, int sig),

	TP_ARGS(type, notify, sig),

	TP_STRUCT__entry(
		__array(char, comm, TASK_COMM_LEN)
		__field(pid_t, pid)
		__field(int, type)
		__field(int, notify)
		__field(int, sig)
	),

	TP_fast_assign(
		memcpy(__entry->comm, current->comm, TASK_COMM_LEN);
		__entry->pid = current->pid;
		__entry->type = type;
		__entry->notify = notify;
		__entry->sig = sig;
	),

	TP_printk("comm=%s pid=%d type=%s notify=%d sig=%d", __entry->comm,
		  __entry->pid,
		  __print_symbolic(__entry->type, { 5, "stopped" },
				   { 6, "continued" }),
		  __entry->notify, __entry->sig)
);

#endif /* _TRACE_UTRACE_H */

/* This part must be outside protection */
#include <trace/define_trace.h>

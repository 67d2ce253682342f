// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a module that defines names of its own beginning with
 * utrace_
 *
 * SystemTap's runtime does so and does not include <linux/utrace.h>: the names
 * of the kernel must not be visible to such a module.  The test is that this
 * file compiles; the loaded module logs which functions it called.
 */
#include <linux/binfmts.h>
#include <linux/cgroup.h>
#include <linux/compat.h>
#include <linux/debugfs.h>
#include <linux/entry-common.h>
#include <linux/freezer.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/highmem.h>
#include <linux/io_uring.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/ptrace.h>
#include <linux/resume_user_mode.h>
#include <linux/sched.h>
#include <linux/sched/jobctl.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/seccomp.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/signal.h>
#include <linux/syscalls.h>
#include <linux/task_work.h>
#include <linux/thread_info.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uprobes.h>
#include <linux/user-return-notifier.h>
#include <trace/events/sched.h>
#include <trace/events/signal.h>
#include <trace/events/syscalls.h>
#include <trace/events/task.h>

#include <asm/syscall.h>

#ifdef UTRACE_API_VERSION
#error <linux/utrace.h> was included by somebody
#endif

#define UTRACE_ATTACH_CREATE	1
#define UTRACE_EVENT(type)	OWN_##type

enum utrace_events { OWN_CLONE, OWN_EXEC };

enum utrace_resume_action {
	UTRACE_STOP, UTRACE_INTERRUPT, UTRACE_REPORT, UTRACE_SINGLESTEP,
	UTRACE_BLOCKSTEP, UTRACE_RESUME, UTRACE_DETACH,
};

enum utrace_signal_action { UTRACE_SIGNAL_DELIVER };
enum utrace_syscall_action { UTRACE_SYSCALL_RUN, UTRACE_SYSCALL_ABORT };

struct utrace {
	int unused;
};

struct utrace_engine {
	int calls;
};

struct utrace_set {
	int unused;
};

struct utrace_engine_ops {
	int unused;
};

struct utrace_examiner {
	int unused;
};

static struct utrace_engine engine;

/* One function for each name, with a prototype unlike the kernel's. */
#define OWN(name)				\
static noinline void name(void)			\
{						\
	engine.calls++;				\
}

OWN(utrace_init)
OWN(utrace_exit)
OWN(utrace_free)
OWN(utrace_attach_task)
OWN(utrace_attach_pid)
OWN(utrace_control)
OWN(utrace_control_pid)
OWN(utrace_set_events)
OWN(utrace_set_events_pid)
OWN(utrace_set_syscall_filter)
OWN(utrace_barrier)
OWN(utrace_barrier_pid)
OWN(utrace_barrier_sync)
OWN(utrace_prepare_examine)
OWN(utrace_finish_examine)
OWN(utrace_engine_get)
OWN(utrace_engine_put)
OWN(utrace_engine_release)
OWN(utrace_reset)
OWN(utrace_stop)
OWN(utrace_resume)
OWN(utrace_wakeup)
OWN(utrace_report_clone)
OWN(utrace_report_exec)
OWN(utrace_report_exit)
OWN(utrace_report_death)
OWN(utrace_report_syscall_entry)
OWN(utrace_report_syscall_exit)
OWN(utrace_syscall_get_arg)
OWN(utrace_get_signal)
OWN(utrace_signal_handler)
OWN(utrace_release_task)
OWN(task_utrace_struct)
OWN(task_utrace_flags)

static void (*const names[])(void) = {
	utrace_init, utrace_exit, utrace_free, utrace_attach_task,
	utrace_attach_pid, utrace_control, utrace_control_pid,
	utrace_set_events, utrace_set_events_pid, utrace_set_syscall_filter,
	utrace_barrier, utrace_barrier_pid, utrace_barrier_sync,
	utrace_prepare_examine, utrace_finish_examine, utrace_engine_get,
	utrace_engine_put, utrace_engine_release, utrace_reset, utrace_stop,
	utrace_resume, utrace_wakeup, utrace_report_clone,
	utrace_report_exec, utrace_report_exit, utrace_report_death,
	utrace_report_syscall_entry, utrace_report_syscall_exit,
	utrace_syscall_get_arg, utrace_get_signal, utrace_signal_handler,
	utrace_release_task, task_utrace_struct, task_utrace_flags,
};

static int __init ownnames_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		names[i]();
	pr_info("ownnames: %d calls of its own\n", engine.calls);
	return 0;
}

static void __exit ownnames_exit(void)
{
}

module_init(ownnames_init);
module_exit(ownnames_exit);
MODULE_DESCRIPTION("utrace test: a module with names of its own");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the hooks that the core kernel calls
 *
 * Every hook is one test of a word that belongs to the task and, where that
 * fires, one call.  With CONFIG_UTRACE=n all of this is empty.  Only .c files
 * of the core kernel include this: modules have names of their own that begin
 * with utrace_.
 */
#ifndef _LINUX_UTRACE_HOOKS_H
#define _LINUX_UTRACE_HOOKS_H

#include <linux/sched.h>
#include <linux/sched/jobctl.h>
#include <linux/thread_info.h>

struct kernel_clone_args;
struct ksignal;
struct linux_binprm;
struct pid_namespace;
struct pt_regs;
struct seq_file;

bool __utrace_syscall_entry(struct pt_regs *regs, bool skip);
void __utrace_syscall_exit(struct pt_regs *regs);

#ifdef CONFIG_UTRACE

/*
 * Bits of task_struct::utrace_events that the hooks test, the events of
 * <linux/utrace.h>.  kernel/utrace/report.c asserts that they agree.
 */
#define UTRACE_HOOK_REAP		BIT(1)
#define UTRACE_HOOK_CLONE		BIT(2)
#define UTRACE_HOOK_EXEC		BIT(3)
#define UTRACE_HOOK_EXIT		BIT(4)
#define UTRACE_HOOK_SIGNALS		(BIT(8) | BIT(9) | BIT(10) | \
					 BIT(11) | BIT(12))
#define UTRACE_HOOK_IGN			BIT(9)
#define UTRACE_HOOK_FATAL		(BIT(11) | BIT(12))
#define UTRACE_HOOK_JCTL		BIT(13)
#define UTRACE_HOOK_VFORK_DONE		BIT(14)
#define UTRACE_HOOK_CREDS		BIT(15)

void __utrace_fork_prepare(struct task_struct *child, u64 clone_flags);
void __utrace_fork(struct task_struct *child, u64 clone_flags);
void __utrace_fork_done(struct task_struct *child);
void __utrace_report_clone(const struct kernel_clone_args *args,
			   struct task_struct *child);
void __utrace_vfork_stop(void);
void __utrace_report_vfork_done(pid_t child);
void __utrace_report_creds(const struct linux_binprm *bprm);
void __utrace_report_exec(const struct linux_binprm *bprm);
void __utrace_report_exit(long *code);
void __utrace_exit_begin(void);
void __utrace_report_death(bool group_dead, bool autoreap);
void __utrace_release_task(struct task_struct *task);
void __utrace_free_task(struct task_struct *task);
int __utrace_signal(int signr, struct ksignal *ksig, enum pid_type type,
		    struct k_sigaction **ka);
int __utrace_signal_trap(struct ksignal *ksig, struct k_sigaction **ka);
bool __utrace_signal_handler(bool stepping);
void __utrace_report_jctl(int type, int notify);
void __utrace_mark_killed(void);
void __utrace_ptrace_stopped(void);
void __utrace_ptrace_notified(void);
void utrace_kill_group(struct task_struct *task);
bool __utrace_step_trap(void);
int proc_pid_utrace(struct seq_file *m, struct pid_namespace *ns,
		    struct pid *pid, struct task_struct *task);

/* Lent to the hold loop by kernel/signal.c, which owns this code. */
bool signal_utrace_group_stop(void);
void signal_utrace_notify_stop(void);
void signal_utrace_recalc(void);

/* dup_task_struct() copied the parent's members byte by byte. */
static inline void utrace_init_task(struct task_struct *child)
{
	child->utrace_events = 0;
	child->utrace_set = NULL;
	child->utrace = NULL;
	clear_task_syscall_work(child, SYSCALL_UTRACE);
}

static inline void utrace_free_task(struct task_struct *task)
{
	if (unlikely(task->utrace))
		__utrace_free_task(task);
}

/* What the child will need is allocated here, where that may still sleep. */
static inline void utrace_fork_prepare(struct task_struct *child,
				       u64 clone_flags)
{
	if (unlikely(current->utrace_events))
		__utrace_fork_prepare(child, clone_flags);
}

/* Under tasklist_lock and the parent's siglock: the child inherits. */
static inline void utrace_fork(struct task_struct *child, u64 clone_flags)
{
	if (unlikely(current->utrace_events))
		__utrace_fork(child, clone_flags);
}

/* The locks are dropped: what could not be had in utrace_fork() follows. */
static inline void utrace_fork_done(struct task_struct *child)
{
	if (unlikely(child->utrace_events))
		__utrace_fork_done(child);
}

static inline void utrace_report_clone(const struct kernel_clone_args *args,
				       struct task_struct *child)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_CLONE))
		__utrace_report_clone(args, child);
}

static inline void utrace_vfork_stop(void)
{
	if (unlikely(current->utrace_events))
		__utrace_vfork_stop();
}

static inline void utrace_report_vfork_done(struct pid *child)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_VFORK_DONE))
		__utrace_report_vfork_done(pid_nr(child));
}

/* The new credentials hold; exec_update_lock keeps everybody else out. */
static inline void utrace_report_creds(const struct linux_binprm *bprm)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_CREDS))
		__utrace_report_creds(bprm);
}

static inline void utrace_report_exec(const struct linux_binprm *bprm)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_EXEC))
		__utrace_report_exec(bprm);
}

static inline void utrace_report_exit(long *code)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_EXIT))
		__utrace_report_exit(code);
}

/* From here until the death report is done, reaping waits for it. */
static inline void utrace_exit_begin(void)
{
	if (unlikely(current->utrace_events))
		__utrace_exit_begin();
}

/* Not the event word: it is to undo what utrace_exit_begin() did. */
static inline void utrace_report_death(bool group_dead, bool autoreap)
{
	if (unlikely(current->utrace))
		__utrace_report_death(group_dead, autoreap);
}

static inline void utrace_release_task(struct task_struct *task)
{
	if (unlikely(READ_ONCE(task->utrace_events) & UTRACE_HOOK_REAP))
		__utrace_release_task(task);
}

/* May be called for any task whose sighand is locked. */
static inline bool utrace_wants_ignored(struct task_struct *task)
{
	return READ_ONCE(task->utrace_events) & UTRACE_HOOK_IGN;
}

static inline bool utrace_wants_fatal(struct task_struct *a,
				      struct task_struct *b)
{
	return (READ_ONCE(a->utrace_events) | READ_ONCE(b->utrace_events)) &
	       UTRACE_HOOK_FATAL;
}

static inline int utrace_signal(int signr, struct ksignal *ksig,
				enum pid_type type, struct k_sigaction **ka)
{
	if (unlikely(current->utrace_events & UTRACE_HOOK_SIGNALS))
		return __utrace_signal(signr, ksig, type, ka);
	return signr;
}

/* The frame of a handler is set up; true if ptrace was stepping up to it. */
static inline int utrace_signal_handler(int stepping)
{
	if (unlikely(current->utrace))
		return __utrace_signal_handler(stepping);
	return stepping;
}

/*
 * Something came up that a held task has to see: ptrace wants it, or a group
 * stop.  It is back in its hold soon.  siglock is held.
 */
static inline void utrace_wake_held(struct task_struct *task)
{
	if (unlikely(task->jobctl & JOBCTL_UTRACE))
		wake_up_state(task, __TASK_TRACED);
}

/* The same for a signal, which only ptrace has a use for. */
static inline void utrace_wake_traced(struct task_struct *task)
{
	if (unlikely(task->jobctl & JOBCTL_UTRACE) && task->ptrace)
		wake_up_state(task, __TASK_TRACED);
}

static inline bool utrace_wants_jctl(void)
{
	return unlikely(current->utrace_events & UTRACE_HOOK_JCTL);
}

static inline void utrace_report_jctl(int type, int notify)
{
	if (utrace_wants_jctl())
		__utrace_report_jctl(type, notify);
}

static inline void utrace_mark_killed(void)
{
	if (unlikely(current->utrace_events))
		__utrace_mark_killed();
}

/* At the end of a ptrace stop, with siglock held: did ptrace ask to step? */
static inline void utrace_ptrace_stopped(void)
{
	if (unlikely(current->utrace))
		__utrace_ptrace_stopped();
}

/* After a ptrace stop at an event or system call: does an engine hold it? */
static inline void utrace_ptrace_notified(void)
{
	if (unlikely(current->utrace_events))
		__utrace_ptrace_notified();
}

/* A uprobe stepped out of line; the safe point was passed over for that. */
static inline void utrace_uprobe_done(void)
{
	if (unlikely(current->utrace_events))
		set_thread_flag(TIF_NOTIFY_RESUME);
}

/*
 * True if the single-step trap was an engine's and nobody else's.  Not the
 * event word: the engine may have detached since it asked for the step.
 */
static inline bool utrace_step_trap(void)
{
	return unlikely(current->utrace) && __utrace_step_trap();
}

#else /* !CONFIG_UTRACE */

static inline void utrace_init_task(struct task_struct *child) { }
static inline void utrace_free_task(struct task_struct *task) { }
static inline void utrace_fork_prepare(struct task_struct *child,
				       u64 clone_flags) { }
static inline void utrace_fork(struct task_struct *child, u64 clone_flags) { }
static inline void utrace_fork_done(struct task_struct *child) { }
static inline void utrace_report_clone(const struct kernel_clone_args *args,
				       struct task_struct *child) { }
static inline void utrace_vfork_stop(void) { }
static inline void utrace_report_vfork_done(struct pid *child) { }
static inline void utrace_report_creds(const struct linux_binprm *bprm) { }
static inline void utrace_report_exec(const struct linux_binprm *bprm) { }
static inline void utrace_report_exit(long *code) { }
static inline void utrace_exit_begin(void) { }
static inline void utrace_report_death(bool group_dead, bool autoreap) { }
static inline void utrace_release_task(struct task_struct *task) { }

static inline bool utrace_wants_ignored(struct task_struct *task)
{
	return false;
}

static inline bool utrace_wants_fatal(struct task_struct *a,
				      struct task_struct *b)
{
	return false;
}

static inline int utrace_signal(int signr, struct ksignal *ksig,
				enum pid_type type, struct k_sigaction **ka)
{
	return signr;
}

static inline int __utrace_signal_trap(struct ksignal *ksig,
				       struct k_sigaction **ka)
{
	return 0;
}

static inline int utrace_signal_handler(int stepping)
{
	return stepping;
}

static inline void utrace_wake_held(struct task_struct *task) { }
static inline void utrace_wake_traced(struct task_struct *task) { }
static inline bool utrace_wants_jctl(void) { return false; }
static inline void utrace_report_jctl(int type, int notify) { }
static inline void utrace_mark_killed(void) { }
static inline void utrace_ptrace_stopped(void) { }
static inline void utrace_ptrace_notified(void) { }
static inline void utrace_uprobe_done(void) { }
static inline void utrace_kill_group(struct task_struct *task) { }
static inline bool utrace_step_trap(void) { return false; }

#endif /* CONFIG_UTRACE */

#endif /* _LINUX_UTRACE_HOOKS_H */

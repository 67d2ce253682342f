/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the hooks that the core kernel calls
 *
 * A hook for an event tests task->utrace_events.  A hook that must run for
 * every traced task tests task->utrace.  A few hooks test something else; their
 * comments say why.  If the test is true, the hook calls one function.  With
 * CONFIG_UTRACE=n all hooks are empty.
 *
 * No header that modules use may include this one, since modules define their
 * own names that begin with utrace_.
 */
#ifndef _LINUX_UTRACE_HOOKS_H
#define _LINUX_UTRACE_HOOKS_H

#include <linux/jump_label.h>
#include <linux/sched.h>
#include <linux/sched/jobctl.h>
#include <linux/thread_info.h>

struct kernel_clone_args;
struct ksignal;
struct linux_binprm;
struct pid_namespace;
struct pt_regs;
struct seq_file;

/*
 * Bits of task_struct::utrace_events.  They are those of UTRACE_EVENT(), as
 * kernel/utrace/report.c asserts.  Only FATAL is no event.
 */
#define UTRACE_HOOK_REAP		BIT(1)
#define UTRACE_HOOK_CLONE		BIT(2)
#define UTRACE_HOOK_EXEC		BIT(3)
#define UTRACE_HOOK_EXIT		BIT(4)
#define UTRACE_HOOK_SIGNALS		(BIT(8) | BIT(9) | BIT(10) | \
					 BIT(11) | BIT(12))
#define UTRACE_HOOK_IGN			BIT(9)
#define UTRACE_HOOK_JCTL		BIT(13)
#define UTRACE_HOOK_VFORK_DONE		BIT(14)
#define UTRACE_HOOK_CREDS		BIT(15)
#define UTRACE_HOOK_FATAL		BIT(31)	/* UTRACE_WORD_FATAL */
#define UTRACE_HOOK_ANY			(~0UL)

/*
 * In signal_struct::flags beside SIGNAL_GROUP_EXIT, under siglock.
 * complete_signal() sets the flag when a signal that is sent kills the group at
 * once.  The signal stays in its queue, and was not reported to any engine.
 * utrace_report_killer() clears the flag and reports the signal.
 */
#define UTRACE_GROUP_UNREPORTED	(IS_ENABLED(CONFIG_UTRACE) ? 0x00000080 : 0)

/**
 * enum utrace_step_why - why a step of a task is reported
 * @UTRACE_STEP_TRAP: the task has executed an instruction
 * @UTRACE_STEP_SYSCALL: the task has reached the end of a system call
 * @UTRACE_STEP_HANDLER: the frame of a signal handler was set up, which the
 *	task enters next
 * @UTRACE_STEP_AGAIN: the trap flag is set again after a time without it, or
 *	the instruction pointer has changed since the last step was seen.  A
 *	debugger or the kernel may have changed the registers
 *
 * Only the client that follows all steps gets the last two.
 */
enum utrace_step_why {
	UTRACE_STEP_TRAP,
	UTRACE_STEP_SYSCALL,
	UTRACE_STEP_HANDLER,
	UTRACE_STEP_AGAIN,
};

bool __utrace_syscall_entry(struct pt_regs *regs);
bool __utrace_syscall_skipped(struct pt_regs *regs);
void __utrace_syscall_exit(struct pt_regs *regs);
void __utrace_init_task(struct task_struct *child);
void __utrace_free_task(struct task_struct *task);
int __utrace_fork(struct task_struct *child, u64 clone_flags);
void __utrace_report_clone(const struct kernel_clone_args *args,
			   struct task_struct *child);
void __utrace_report_vfork_done(pid_t child);
void __utrace_report_creds(const struct linux_binprm *bprm);
void __utrace_report_exec(const struct linux_binprm *bprm);
long __utrace_report_exit(long code);
void __utrace_report_death(bool group_dead);
void __utrace_release_task(struct task_struct *task);
bool __utrace_wants_ignored(struct task_struct *task);
struct k_sigaction *__utrace_signal(struct ksignal *ksig, enum pid_type type,
				    struct k_sigaction *ka);
bool __utrace_signal_trap(struct ksignal *ksig);
bool __utrace_signal_handler(bool stepping);
void __utrace_report_jctl(int type, int notify);
void __utrace_forget_group_stop(struct task_struct *task);
bool __utrace_before_group_stop(void);
void __utrace_mark_killed(void);
void __utrace_kill_group(struct task_struct *task);
void __utrace_oom_victim(struct task_struct *task);
void __utrace_stop_or_step(void);
void __utrace_clone_stop(bool vfork);
bool __utrace_freezer_stop(void);
bool __utrace_in_group_stop(struct task_struct *task);
void __utrace_await_group_stop(struct task_struct *task);
void __utrace_ptrace_stopped(void);
void __utrace_wake_freeze_waiters(struct task_struct *task);
int utrace_await_thaw(struct task_struct *task);
bool __utrace_step_trap(enum utrace_step_why why);
void __utrace_step_dispatched(void);
bool __utrace_exit_moved(struct pt_regs *regs);
void __utrace_verdict_changed(struct task_struct *task);
void __utrace_cgroup_changed(struct task_struct *leader, bool threadgroup);
int proc_pid_utrace(struct seq_file *m, struct pid_namespace *ns,
		    struct pid *pid, struct task_struct *task);

DECLARE_STATIC_KEY_FALSE(utrace_matching);

/* Job-control helpers in kernel/signal.c, for utrace_stop(). */
bool signal_utrace_group_stop(void);
void signal_utrace_notify_stop(void);
void signal_utrace_recalc(void);
void signal_utrace_trap(void);

/* In kernel/entry/common.c: the part of an entry that follows the engines. */
long syscall_trace_enter_rest(struct pt_regs *regs);

/*
 * The tests of the hooks.  They take no lock: a hook that runs while the word
 * changes sees the old word or the new one.  A struct utrace is freed with its
 * task.  A task that only engines of the system cover may have a word and no
 * struct utrace.
 */
#ifdef CONFIG_UTRACE
static __always_inline bool utrace_wants(const struct task_struct *task,
					 unsigned long events)
{
	/* Lockless, see above. */
	return unlikely(data_race(task->utrace_events) & events);
}

static __always_inline unsigned long utrace_word(const struct task_struct *task)
{
	/* Lockless, see above. */
	return data_race(task->utrace_events);
}

/* All events that engines of the system want, see task.c. */
extern unsigned long utrace_system_events;

static __always_inline unsigned long utrace_system_word(void)
{
	return READ_ONCE(utrace_system_events);
}

static __always_inline bool utrace_known(const struct task_struct *task)
{
	/* Lockless, see above. */
	return unlikely(data_race(task->utrace));
}
#else
static __always_inline bool utrace_wants(const struct task_struct *task,
					 unsigned long events)
{
	return false;
}

static __always_inline unsigned long utrace_word(const struct task_struct *task)
{
	return 0;
}

static __always_inline unsigned long utrace_system_word(void)
{
	return 0;
}

static __always_inline bool utrace_known(const struct task_struct *task)
{
	return false;
}
#endif

/*
 * dup_task_struct() has copied ->utrace, ->utrace_set and the event word of
 * @parent, while an attach may have written them.  An attach writes ->utrace
 * before ->utrace_set, and nothing clears ->utrace of a living task.  So if
 * ->utrace of @parent is NULL after the copy, both pointers of @child are NULL,
 * and its word is that of a bare task, which utrace_fork() recomputes.
 */
static inline void utrace_init_task(struct task_struct *parent,
				    struct task_struct *child)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		smp_rmb(); /* Pairs with smp_mb() in utrace_update_locked(). */
	if (utrace_known(parent))
		__utrace_init_task(child);
}

static inline void utrace_free_task(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_free_task(task);
}

/*
 * Let @child, which is not visible yet, inherit engines.  The caller holds
 * tasklist_lock for writing and the parent's siglock.  Returns 0 or -ENOMEM.
 */
static inline int utrace_fork(struct task_struct *child, u64 clone_flags)
{
	/*
	 * The child's word is a copy, which may be older than the parent's
	 * word.  The walk of utrace_system_refresh() may not have reached the
	 * parent yet, and may end before the child is in the list.  So read the
	 * system's word as well.
	 */
	if (unlikely(utrace_word(current) | utrace_word(child) |
		     utrace_system_word()))
		return __utrace_fork(child, clone_flags);
	return 0;
}

static inline void utrace_report_clone(const struct kernel_clone_args *args,
				       struct task_struct *child)
{
	if (utrace_wants(current, UTRACE_HOOK_CLONE))
		__utrace_report_clone(args, child);
}

/*
 * Called when the child has started.  Stop here if an engine requested that at
 * CLONE, or, if an engine holds the task at all, before vfork() waits for the
 * child.  The hook does not test the word: the request must be cleared even if
 * the engine was detached since.
 */
static inline void utrace_clone_stop(u64 clone_flags)
{
	if (utrace_known(current))
		__utrace_clone_stop(clone_flags & CLONE_VFORK);
}

static inline void utrace_report_vfork_done(struct pid *child)
{
	if (utrace_wants(current, UTRACE_HOOK_VFORK_DONE))
		__utrace_report_vfork_done(pid_nr(child));
}

/* Called after commit_creds(), under cred_guard_mutex and exec_update_lock. */
static inline void utrace_report_creds(const struct linux_binprm *bprm)
{
	if (utrace_wants(current, UTRACE_HOOK_CREDS))
		__utrace_report_creds(bprm);
}

static inline void utrace_report_exec(const struct linux_binprm *bprm)
{
	if (utrace_wants(current, UTRACE_HOOK_EXEC))
		__utrace_report_exec(bprm);
}

/*
 * Report the exit.  The hook tests for any event, since a report of the death
 * may follow.  Returns the wait status, which engines may have changed.
 */
static inline long utrace_report_exit(long code)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		return __utrace_report_exit(code);
	return code;
}

/*
 * The hook does not test the word: __utrace_report_death() must set
 * UTRACE_TASK_DEAD, after which no thread engine can add DEATH, and must wake
 * utrace_freeze(), whatever events engines want.
 */
static inline void utrace_report_death(bool group_dead)
{
	if (utrace_known(current))
		__utrace_report_death(group_dead);
}

/*
 * The hook does not test the word: __utrace_release_task() has to claim the
 * task, so that no attach gives the task a set from here on.
 */
static inline void utrace_release_task(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_release_task(task);
}

/*
 * Check whether an engine wants signals that @task ignores.  siglock of @task
 * is held; @task need not be current.
 */
static inline bool utrace_wants_ignored(struct task_struct *task)
{
	return utrace_wants(task, UTRACE_HOOK_IGN) &&
	       __utrace_wants_ignored(task);
}

/* Check whether an engine of @a or @b may change what a fatal signal does. */
static inline bool utrace_wants_fatal(struct task_struct *a,
				      struct task_struct *b)
{
	return utrace_wants(a, UTRACE_HOOK_FATAL) ||
	       utrace_wants(b, UTRACE_HOOK_FATAL);
}

static inline bool utrace_wants_signals(void)
{
	return utrace_wants(current, UTRACE_HOOK_SIGNALS);
}

/*
 * Called when a handler's frame was set up.  Returns true if ptrace requested a
 * step.
 */
static inline int utrace_signal_handler(int stepping)
{
	if (utrace_known(current))
		return __utrace_signal_handler(stepping);
	return stepping;
}

/*
 * Wake a task that engines hold, for ptrace or for a group stop.  The task
 * handles these in utrace_stop() and stops again.  A frozen task is woken when
 * it is thawed.  siglock is held.
 */
static inline void utrace_wake_from_stop(struct task_struct *task)
{
	if (likely(!(task->jobctl & JOBCTL_UTRACE)))
		return;
	if (task->jobctl & JOBCTL_UTRACE_FROZEN)
		task->jobctl |= JOBCTL_UTRACE_WOKEN;
	else
		wake_up_state(task, __TASK_TRACED);
}

/*
 * Wake a task that engines hold, for a signal that only ptrace must see, or
 * when the cgroup freezer lets the task handle signals again.
 */
static inline void utrace_wake_ptraced(struct task_struct *task)
{
	if (task->ptrace)
		utrace_wake_from_stop(task);
}

static inline bool utrace_wants_jctl(void)
{
	return utrace_wants(current, UTRACE_HOOK_JCTL);
}

static inline void utrace_report_jctl(int type, int notify)
{
	if (utrace_wants_jctl())
		__utrace_report_jctl(type, notify);
}

/*
 * Called when a group stop begins for @task, or SIGCONT is sent.  Its siglock
 * is held.
 */
static inline void utrace_forget_group_stop(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_forget_group_stop(task);
}

/*
 * Report a group stop.  siglock is held and may be dropped.  Returns false if
 * the caller must not stop: the group stop has ended, or a further tracer lets
 * the task run.
 */
static inline bool utrace_before_group_stop(void)
{
	return !utrace_wants_jctl() || __utrace_before_group_stop();
}

/*
 * Check whether engines hold @task in a group stop.  Such a task is not
 * TASK_STOPPED.  siglock is held.
 */
static inline bool utrace_in_group_stop(struct task_struct *task)
{
	return utrace_known(task) && __utrace_in_group_stop(task);
}

/*
 * Called by a tracer that has attached to @task, which may be about to enter
 * its group stop.
 */
static inline void utrace_await_group_stop(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_await_group_stop(task);
}

/*
 * Called when the group is being killed.  siglock is held and may be dropped.
 */
static inline void utrace_mark_killed(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		__utrace_mark_killed();
}

/*
 * Called when SIGKILL was sent to a process that is dying already.  siglock is
 * held.
 */
static inline void utrace_kill_group(struct task_struct *task)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		__utrace_kill_group(task);
}

/*
 * Called when the OOM killer finds that its victim is dying already, to which
 * it sends no SIGKILL.
 */
static inline void utrace_oom_victim(struct task_struct *task)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		__utrace_oom_victim(task);
}

/*
 * Wake the clients that wait to freeze @task.  Call this when the task has set
 * its state for a stop, or is being killed.  siglock is held.
 */
static inline void utrace_wake_freeze_waiters(struct task_struct *task)
{
	if (unlikely(task->jobctl & JOBCTL_UTRACE_AWAITED))
		__utrace_wake_freeze_waiters(task);
}

/*
 * Called before the task sleeps for the cgroup freezer.  If an engine holds the
 * task, the task stops in utrace_stop() instead, where clients can examine it;
 * this counts as frozen, too.  If a report is due first, the task makes the
 * report in get_signal() and stops after it.  siglock is held.  If this returns
 * true, siglock was dropped and the caller must repeat its checks.
 */
static inline bool utrace_freezer_stop(void)
{
	return utrace_known(current) && __utrace_freezer_stop();
}

/* Called at the end of a ptrace stop, to note whether ptrace wants a step. */
static inline void utrace_ptrace_stopped(void)
{
	if (utrace_known(current))
		__utrace_ptrace_stopped();
}

/*
 * Called when ptrace has resumed the task from a stop at an event or a system
 * call.  If an engine holds the task, utrace_control() may have reported the
 * task as stopped, so it must stop here.  After other ptrace stops the task
 * reaches the safe point.
 */
static inline void utrace_ptrace_notified(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		__utrace_stop_or_step();
}

/*
 * Called after a change of the task's name, and before commit_creds() makes the
 * task undumpable.  The task evaluates its matches again at its next event.
 */
static inline void utrace_verdict_changed(struct task_struct *task)
{
#ifdef CONFIG_UTRACE_MATCH
	if (static_branch_unlikely(&utrace_matching))
		__utrace_verdict_changed(task);
#endif
}

/* Called after a task, or all threads of its process, moved to another cgroup. */
static inline void utrace_cgroup_changed(struct task_struct *leader,
					 bool threadgroup)
{
#ifdef CONFIG_UTRACE_MATCH
	if (static_branch_unlikely(&utrace_matching))
		__utrace_cgroup_changed(leader, threadgroup);
#endif
}

/*
 * Called when uprobes has ended a step out of line.  The safe point did nothing
 * during the step, so make the task pass the safe point again.
 */
static inline void utrace_uprobe_done(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		set_thread_flag(TIF_NOTIFY_RESUME);
}

/*
 * Check whether only engines requested the step that has trapped.  The hook
 * does not test the word: the engine may have been detached since.
 */
static inline bool utrace_step_trap(enum utrace_step_why why)
{
	return utrace_known(current) && __utrace_step_trap(why);
}

/*
 * Called when syscall user dispatch has returned a system call to a program
 * that is stepped.
 */
static inline void utrace_step_dispatched(void)
{
	if (utrace_known(current))
		__utrace_step_dispatched();
}

#endif /* _LINUX_UTRACE_HOOKS_H */

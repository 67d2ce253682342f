/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the hooks that the core kernel calls
 *
 * Every hook is one test of a word that belongs to the task, in copy_process() of
 * three words, and, where that fires, one call.  With CONFIG_UTRACE=n all of this is
 * empty.  Only .c files of the core kernel include this: modules have names of their
 * own that begin with utrace_.
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
#define UTRACE_HOOK_JCTL		BIT(13)
#define UTRACE_HOOK_VFORK_DONE		BIT(14)
#define UTRACE_HOOK_CREDS		BIT(15)
#define UTRACE_HOOK_FATAL		BIT(19)	/* UTRACE_WORD_FATAL */
#define UTRACE_HOOK_ANY			(~0UL)

/*
 * In signal_struct::flags beside SIGNAL_GROUP_EXIT, under siglock: the group
 * was killed by a signal when that was sent, so the signal is in a queue still
 * and no engine was told.  Whoever tells the engines clears it.
 */
#define UTRACE_GROUP_UNTOLD	(IS_ENABLED(CONFIG_UTRACE) ? 0x00000080 : 0)

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
void __utrace_report_death(bool group_dead, bool autoreap);
void __utrace_release_task(struct task_struct *task);
bool __utrace_wants_ignored(struct task_struct *task);
struct k_sigaction *__utrace_signal(struct ksignal *ksig, enum pid_type type,
				    struct k_sigaction *ka);
bool __utrace_signal_trap(struct ksignal *ksig);
bool __utrace_signal_handler(bool stepping);
void __utrace_report_jctl(int type, int notify);
bool __utrace_tell_group_stop(void);
void __utrace_mark_killed(void);
void __utrace_kill_group(struct task_struct *task);
void __utrace_oom_victim(struct task_struct *task);
void __utrace_stop_if_held(void);
void __utrace_ptrace_stopped(void);
bool __utrace_step_trap(void);
void __utrace_user_changed(void);
int proc_pid_utrace(struct seq_file *m, struct pid_namespace *ns,
		    struct pid *pid, struct task_struct *task);

DECLARE_STATIC_KEY_FALSE(utrace_matching);

/* Lent to the hold loop by kernel/signal.c, which owns this code. */
bool signal_utrace_group_stop(void);
void signal_utrace_notify_stop(void);
void signal_utrace_recalc(void);

/* And by kernel/entry/common.c: what follows the engines at an entry. */
long syscall_utrace_entered(struct pt_regs *regs);

/*
 * The tests that hooks begin with.  Lockless by design: a hook that runs
 * while the word changes may see either.  A struct utrace stays for as long as
 * the task is there; a task that only engines of the system cover may have a word
 * without one.
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

/* What the engines of the system want, together; see kernel/utrace/scope_system.c. */
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
 * dup_task_struct() copied the parent's members byte by byte.  ->utrace is set
 * before there is a set and never taken back: if it is NULL now, so was the set,
 * and the word is that of a bare task, which utrace_fork() will write anew.
 */
static inline void utrace_init_task(struct task_struct *parent,
				    struct task_struct *child)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		smp_rmb(); /* The copy before this look; pairs with utrace_turn_locked(). */
	if (utrace_known(parent))
		__utrace_init_task(child);
}

static inline void utrace_free_task(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_free_task(task);
}

/*
 * Under tasklist_lock and the parent's siglock, and not visible yet: the child
 * inherits.  0 or -ENOMEM.
 */
static inline int utrace_fork(struct task_struct *child, u64 clone_flags)
{
	/*
	 * The word of the child is a copy that may be older than that of the parent.
	 * The walk of utrace_system_tell() may not have come to the parent yet, and may
	 * be over before the child is in the list; so the system's word is read as well.
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

/* Before a vfork() waits for its child: a stop that was asked for meanwhile. */
static inline void utrace_vfork_stop(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		__utrace_stop_if_held();
}

static inline void utrace_report_vfork_done(struct pid *child)
{
	if (utrace_wants(current, UTRACE_HOOK_VFORK_DONE))
		__utrace_report_vfork_done(pid_nr(child));
}

/* The new credentials hold; exec_update_lock keeps everybody else out. */
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
 * Any event: from here until the death report is done, reaping waits for it.
 * Returns the exit code, which engines may change.
 */
static inline long utrace_report_exit(long code)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		return __utrace_report_exit(code);
	return code;
}

/* Not the event word: it is to undo what the report of the exit did. */
static inline void utrace_report_death(bool group_dead, bool autoreap)
{
	if (utrace_known(current))
		__utrace_report_death(group_dead, autoreap);
}

/* Not the event word: from here on there is to be no set any more. */
static inline void utrace_release_task(struct task_struct *task)
{
	if (utrace_known(task))
		__utrace_release_task(task);
}

/* May be called for any task whose sighand is locked. */
static inline bool utrace_wants_ignored(struct task_struct *task)
{
	return utrace_wants(task, UTRACE_HOOK_IGN) &&
	       __utrace_wants_ignored(task);
}

/* May an engine on one of them change what a fatal signal does? */
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

/* The frame of a handler is set up; true if ptrace was stepping up to it. */
static inline int utrace_signal_handler(int stepping)
{
	if (utrace_known(current))
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
	return utrace_wants(current, UTRACE_HOOK_JCTL);
}

static inline void utrace_report_jctl(int type, int notify)
{
	if (utrace_wants_jctl())
		__utrace_report_jctl(type, notify);
}

/* With siglock, which is dropped meanwhile; false if the stop is off. */
static inline bool utrace_tell_group_stop(void)
{
	return !utrace_wants_jctl() || __utrace_tell_group_stop();
}

/* The group is marked for death.  With siglock, which is dropped meanwhile. */
static inline void utrace_mark_killed(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		__utrace_mark_killed();
}

/* SIGKILL came for a process that is dying already; siglock is held. */
static inline void utrace_kill_group(struct task_struct *task)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		__utrace_kill_group(task);
}

/* The OOM killer wants the memory; to who exits already it sends no SIGKILL. */
static inline void utrace_oom_victim(struct task_struct *task)
{
	if (IS_ENABLED(CONFIG_UTRACE))
		__utrace_oom_victim(task);
}

/* At the end of a ptrace stop, with siglock held: did ptrace ask to step? */
static inline void utrace_ptrace_stopped(void)
{
	if (utrace_known(current))
		__utrace_ptrace_stopped();
}

/*
 * ptrace let its tracee go from a stop at an event or system call.  If an
 * engine holds the task, control() told it that it is stopped, so it stays;
 * other ptrace stops are on the way to the safe point.
 */
static inline void utrace_ptrace_notified(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		__utrace_stop_if_held();
}

/* A task acts as another user. */
static inline void utrace_user_changed(void)
{
#ifdef CONFIG_UTRACE_MATCH
	if (static_branch_unlikely(&utrace_matching))
		__utrace_user_changed();
#endif
}

/* A uprobe stepped out of line; the safe point was passed over for that. */
static inline void utrace_uprobe_done(void)
{
	if (utrace_wants(current, UTRACE_HOOK_ANY))
		set_thread_flag(TIF_NOTIFY_RESUME);
}

/*
 * True if the single-step trap was an engine's and nobody else's.  Not the
 * event word: the engine may have detached since it asked for the step.
 */
static inline bool utrace_step_trap(void)
{
	return utrace_known(current) && __utrace_step_trap();
}

#endif /* _LINUX_UTRACE_HOOKS_H */

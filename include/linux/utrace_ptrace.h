/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - further tracers of a task by ptrace(2): what the core kernel calls
 *
 * The first tracer of a task is the one in task_struct: ->ptrace, ->parent,
 * ->ptracer_cred.  If kernel.ptrace_max_tracers is more than 1, further tracers
 * may attach to the task.  Each of them is an engine of utrace; see
 * kernel/utrace/ptrace_engine.c.  Until the sysctl is first set to more than 1,
 * a static key disables the tests here, except utrace_ptrace_runs(), which
 * tests jobctl.
 */
#ifndef _LINUX_UTRACE_PTRACE_H
#define _LINUX_UTRACE_PTRACE_H

#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/signal_types.h>
#include <linux/utrace_hooks.h>

struct kernel_clone_args;
struct pid_namespace;
struct seq_file;
struct user_namespace;
struct wait_opts;

/*
 * In signal_struct::flags, set under siglock and lost at exit: a thread of the
 * process is or was a further tracer.  Without the flag, wait(2) skips the
 * lists of tracees.
 */
#define UTRACE_GROUP_TRACES	0x00000100

/*
 * In task_struct::ptrace: the first tracer has set a debug register.  fork(2)
 * copies the bit, which counts only while a register is enabled.
 */
#define PT_UTRACE_DEBUGREGS	0x80000000

#ifdef CONFIG_UTRACE_PTRACE
DECLARE_STATIC_KEY_FALSE(utrace_ptracers);

/* Check whether the kernel may have further tracers at all. */
static __always_inline bool utrace_ptrace_many(void)
{
	return static_branch_unlikely(&utrace_ptracers);
}
#else
static __always_inline bool utrace_ptrace_many(void)
{
	return false;
}
#endif

int __utrace_ptrace_may_join(struct task_struct *task, unsigned int flags);
int __utrace_ptrace_attach(struct task_struct *task, unsigned int flags);
void __utrace_ptrace_attached(struct task_struct *task);
int __utrace_ptrace_traceme(void);
bool __utrace_ptrace_traces(struct task_struct *tracer,
			    struct task_struct *task);
bool __utrace_ptrace_traces_group(struct task_struct *thread,
				  struct task_struct *task);
int __utrace_ptrace_ask(int (*fn)(struct task_struct *tracer, void *arg),
			void *arg);
bool __utrace_ptrace_traced(struct task_struct *task);
bool __utrace_ptrace_capable(struct task_struct *task,
			     struct user_namespace *ns);
bool __utrace_ptrace_caller_capable(struct task_struct *task,
				    struct user_namespace *ns);
int __utrace_ptrace_sandbox(struct task_struct *task);
bool __utrace_ptrace_sees_debugregs(struct task_struct *task);
int __utrace_ptrace_take_debugregs(struct task_struct *task, bool in_use);
void __utrace_ptrace_show(struct seq_file *m, struct pid_namespace *ns,
			  struct task_struct *task);
int __utrace_ptrace_check(struct task_struct *task, bool ignore_state);
void __utrace_ptrace_thaw(struct task_struct *task);
int utrace_ptrace_request(struct task_struct *task, long request,
			  unsigned long data);
int utrace_ptrace_setoptions(struct task_struct *task, unsigned long data);
int utrace_ptrace_getsiginfo(struct task_struct *task, kernel_siginfo_t *info);
int utrace_ptrace_setsiginfo(struct task_struct *task,
			     const kernel_siginfo_t *info);
unsigned long utrace_ptrace_message(struct task_struct *task);
void __utrace_ptrace_died(struct task_struct *task);
long __utrace_ptrace_wait(struct wait_opts *wo);
void __utrace_ptrace_continued(int why);
void __utrace_ptrace_trap_notify(struct task_struct *task, bool stops);
void __utrace_ptrace_exchanged(struct task_struct *task);
int __utrace_ptrace_prepare(const struct kernel_clone_args *args);
void __utrace_ptrace_unprepare(void);
void __utrace_ptrace_fork(struct task_struct *child);
void __utrace_ptrace_born(struct task_struct *child);
void __utrace_ptrace_exit(void);
struct task_struct *__utrace_ptrace_tracer(struct task_struct *task);
bool __utrace_ptrace_closes_circle(struct task_struct *tracer,
				   struct task_struct *task);

/*
 * In kernel/signal.c: notify @parent, or a tracer, of a stop or the end of
 * @tsk.
 */
void do_notify_status(struct task_struct *tsk, struct task_struct *parent,
		      int why, int status);

/*
 * In kernel/capability.c: check whether the first tracer of @tsk may trace in
 * @ns.
 */
bool first_ptracer_capable(struct task_struct *tsk, struct user_namespace *ns);

/* In kernel/exit.c: check whether wait(2) reports @p, a tracee if @ptrace. */
int wait_consider_task(struct wait_opts *wo, int ptrace, struct task_struct *p);

/*
 * Check whether the caller of ptrace(2) is a further tracer of @task.  The
 * caller is a tracer, as ptrace_check_attach() has checked.
 */
static inline bool utrace_ptrace_further(struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       !(task->ptrace && task->parent == current);
}

/*
 * Check whether the caller, with its rights, may become one more tracer of
 * @task, the first or a further one.
 */
static inline int utrace_ptrace_may_join(struct task_struct *task,
					 unsigned int flags)
{
	return utrace_ptrace_many() ? __utrace_ptrace_may_join(task, flags) : 0;
}

/* Become a further tracer of @task.  cred_guard_mutex of @task is held. */
static inline int utrace_ptrace_attach(struct task_struct *task,
				       unsigned int flags)
{
	return utrace_ptrace_many() ? __utrace_ptrace_attach(task, flags) :
				      -EPERM;
}

/*
 * Called when the caller has become a further tracer of @task.  No mutex is
 * held.
 */
static inline void utrace_ptrace_attached(struct task_struct *task)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_attached(task);
}

/* Make the parent of the current task, which has a tracer, a further one. */
static inline int utrace_ptrace_traceme(void)
{
	return utrace_ptrace_many() ? __utrace_ptrace_traceme() : -EPERM;
}

/* Check whether @tracer is a further tracer of @task. */
static inline bool utrace_ptrace_traces(struct task_struct *tracer,
					struct task_struct *task)
{
	return utrace_ptrace_many() && __utrace_ptrace_traces(tracer, task);
}

/*
 * Check whether a thread of the process of @thread is a further tracer of
 * @task.
 */
static inline bool utrace_ptrace_traces_group(struct task_struct *thread,
					      struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       __utrace_ptrace_traces_group(thread, task);
}

/*
 * Call @fn for each further tracer of the current task until it returns
 * nonzero.  cred_guard_mutex of the current task is held.  Returns the last
 * result of @fn.
 */
static inline int
utrace_ptrace_ask(int (*fn)(struct task_struct *tracer, void *arg), void *arg)
{
	return utrace_ptrace_many() ? __utrace_ptrace_ask(fn, arg) : 0;
}

/* Check whether @task has a further tracer. */
static inline bool utrace_ptrace_traced(struct task_struct *task)
{
	return utrace_ptrace_many() && __utrace_ptrace_traced(task);
}

/*
 * Check whether a fatal signal that is sent to @p must wait until @t, the
 * thread that takes it, is in get_signal().  It must if @p or @t has a further
 * tracer, which may drop the signal, even if the tracer has not set its events
 * yet.
 *
 * For init, sig_ignored() does not drop the signal if there is a tracer.  The
 * tracer detaches without siglock of init and may be gone here.  The signal
 * must not kill init, which ignores it in get_signal().
 */
static inline bool utrace_ptrace_decides(struct task_struct *p,
					 struct task_struct *t)
{
	return utrace_ptrace_many() &&
	       ((p->signal->flags & SIGNAL_UNKILLABLE) ||
		__utrace_ptrace_traced(p) || __utrace_ptrace_traced(t));
}

/* Check whether a further tracer lets @task run during a group stop. */
static inline bool utrace_ptrace_runs(struct task_struct *task)
{
	return task->jobctl & JOBCTL_UTRACE_RUNS;
}

/*
 * Check whether all further tracers of @task may trace a program with more
 * rights in @ns.
 */
static inline bool utrace_ptrace_capable(struct task_struct *task,
					 struct user_namespace *ns)
{
	return !utrace_ptrace_many() || __utrace_ptrace_capable(task, ns);
}

/*
 * Check whether the caller, a tracer of @task, may trace a program with more
 * rights in @ns.
 */
static inline bool utrace_ptrace_caller_capable(struct task_struct *task,
						struct user_namespace *ns)
{
	return utrace_ptrace_further(task) ?
	       __utrace_ptrace_caller_capable(task, ns) :
	       first_ptracer_capable(task, ns);
}

/*
 * Check whether the first tracer of @task may use an option that is safe only
 * if no other tracer can undo it.  Returns 0, or -EPERM if another tracer
 * could.
 */
static inline int utrace_ptrace_sandbox(struct task_struct *task)
{
	return utrace_ptrace_many() ? __utrace_ptrace_sandbox(task) : 0;
}

/*
 * Freeze @task for a request of the caller, which is not the first tracer.
 * Returns 0 if the caller is a further tracer and, unless @ignore_state, @task
 * is stopped for it and is frozen now.  Otherwise returns -ESRCH, or
 * -ERESTARTSYS if the caller is being killed.
 */
static inline int utrace_ptrace_check(struct task_struct *task,
				      bool ignore_state)
{
	return utrace_ptrace_many() ?
	       __utrace_ptrace_check(task, ignore_state) : -ESRCH;
}

/*
 * Called when the first tracer has frozen @task for a request: wait until no
 * further tracer has the task frozen.  Returns 0, or -ERESTARTSYS if the caller
 * is killed.
 */
static inline int utrace_ptrace_alone(struct task_struct *task)
{
	return utrace_ptrace_many() ? utrace_await_thaw(task) : 0;
}

/* Called when the request of the first tracer is over.  siglock is held. */
static inline void utrace_ptrace_thawed(struct task_struct *task)
{
	if (utrace_ptrace_many())
		utrace_wake_freeze_waiters(task);
}

/* Called when the request of a further tracer is over. */
static inline void utrace_ptrace_thaw(struct task_struct *task)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_thaw(task);
}

/*
 * Check whether the caller, a tracer of @task, owns the debug registers of
 * @task.
 */
static inline bool utrace_ptrace_sees_debugregs(struct task_struct *task)
{
	return !utrace_ptrace_many() || __utrace_ptrace_sees_debugregs(task);
}

/*
 * Take the debug registers of @task for the caller, a tracer that is about to
 * set one.  @in_use: one of them is enabled.  Returns 0, or -EBUSY if another
 * tracer owns them.
 */
static inline int utrace_ptrace_take_debugregs(struct task_struct *task,
					       bool in_use)
{
	if (utrace_ptrace_many())
		return __utrace_ptrace_take_debugregs(task, in_use);
	if (IS_ENABLED(CONFIG_UTRACE_PTRACE))
		task->ptrace |= PT_UTRACE_DEBUGREGS;
	return 0;
}

/* Show all tracers of @task in /proc/PID/status, if there are several. */
static inline void utrace_ptrace_show(struct seq_file *m,
				      struct pid_namespace *ns,
				      struct task_struct *task)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_show(m, ns, task);
}

/*
 * Check whether a thread of the process of @thread is or was a further tracer.
 */
static inline bool utrace_ptrace_group_traces(struct task_struct *thread)
{
	return utrace_ptrace_many() &&
	       (READ_ONCE(thread->signal->flags) & UTRACE_GROUP_TRACES);
}

/*
 * The part of __do_wait() for further tracers.  Returns as __do_wait(), or 0.
 * If another thread is about to become the first further tracer of the process,
 * a stop of its tracee wakes the caller later.  A wait(2) that finds nothing
 * makes no other test.
 */
static inline long utrace_ptrace_wait(struct wait_opts *wo)
{
	return utrace_ptrace_group_traces(current) ?
	       __utrace_ptrace_wait(wo) : 0;
}

/*
 * Check whether the process of the caller of wait(2) is a further tracer of its
 * child @p.  If so, wait(2) reports the stops of @p to it only as a tracer, not
 * also as the parent.
 */
static inline bool utrace_ptrace_waits(struct task_struct *p)
{
	return utrace_ptrace_group_traces(current) &&
	       __utrace_ptrace_traces_group(current, p);
}

/* Called when SIGCONT has ended a group stop.  tasklist_lock is held. */
static inline void utrace_ptrace_continued(int why)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_continued(why);
}

/*
 * Called when a group stop begins for @task if @stops is true, else when
 * SIGCONT is sent.  siglock of @task is held.
 */
static inline void utrace_ptrace_trap_notify(struct task_struct *task, bool stops)
{
	utrace_forget_group_stop(task);
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_trap_notify(task, stops);
}

/* Called when a pid is allocated. */
static inline void utrace_ptrace_init_pid(struct pid *pid)
{
#ifdef CONFIG_UTRACE_PTRACE
	INIT_HLIST_HEAD(&pid->utrace_ends);
#endif
}

/*
 * Check whether a tracer has not yet read the exit status of a task with this
 * number.  tasklist_lock is held.
 */
static inline bool utrace_ptrace_keeps_pid(struct pid *pid)
{
#ifdef CONFIG_UTRACE_PTRACE
	return utrace_ptrace_many() && !hlist_empty(&pid->utrace_ends);
#else
	return false;
#endif
}

/*
 * Called when execve(2) has given @task, which was not the leader, the pid of
 * the leader.  tasklist_lock is held for writing.
 */
static inline void utrace_ptrace_exchanged(struct task_struct *task)
{
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_exchanged(task);
}

/*
 * Called before the current task creates a task.  Returns 0, or -ENOMEM if
 * there is no memory for the further tracers of the new task.
 */
static inline int utrace_ptrace_prepare(const struct kernel_clone_args *args)
{
	return utrace_ptrace_many() && utrace_known(current) ?
	       __utrace_ptrace_prepare(args) : 0;
}

/* Called if the current task failed to create the task. */
static inline void utrace_ptrace_unprepare(void)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_unprepare();
}

/* Called when @child becomes visible.  tasklist_lock is held for writing. */
static inline void utrace_ptrace_fork(struct task_struct *child)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_fork(child);
}

/* Called when @child is visible, and does not run yet.  No lock is held. */
static inline void utrace_ptrace_born(struct task_struct *child)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_born(child);
}

/*
 * Called when @task has died, or when the last other thread of a dead leader is
 * reaped.  tasklist_lock is held for writing.
 */
static inline void utrace_ptrace_died(struct task_struct *task)
{
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_died(task);
}

/* Detach the current task, which exits, from its tracees. */
static inline void utrace_ptrace_exit(void)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_exit();
}

/* Return the oldest further tracer of @task, or NULL.  Under RCU. */
static inline struct task_struct *utrace_ptrace_tracer(struct task_struct *task)
{
	return utrace_ptrace_many() ? __utrace_ptrace_tracer(task) : NULL;
}

/*
 * Check whether the process of @task traces @tracer, directly or through other
 * tracers.  If @tracer is NULL, check the parent of @task.
 */
static inline bool utrace_ptrace_closes_circle(struct task_struct *tracer,
					       struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       __utrace_ptrace_closes_circle(tracer, task);
}

extern struct mutex utrace_ptrace_link_mutex;

/* Lock the links of tracers.  Returns NULL if nothing was locked. */
static inline void *utrace_ptrace_lock_links(void)
{
	if (!utrace_ptrace_many())
		return NULL;
	mutex_lock(&utrace_ptrace_link_mutex);
	return &utrace_ptrace_link_mutex;
}

/*
 * Keeps other tracers from attaching between the check for a circle and the
 * link.
 */
DEFINE_LOCK_GUARD_0(utrace_ptrace_link, _T->lock = utrace_ptrace_lock_links(),
		    mutex_unlock(_T->lock))

#endif /* _LINUX_UTRACE_PTRACE_H */

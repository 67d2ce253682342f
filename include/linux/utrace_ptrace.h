/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - further tracers of a task by ptrace(2): what the core kernel calls
 *
 * The first tracer of a task is the one that task_struct knows: ->ptrace,
 * ->parent, ->ptracer_cred.  If kernel.ptrace_max_tracers is more than 1, other
 * tracers may follow the task too.  Each of them is an engine of utrace; see
 * kernel/utrace/ptrace_engine.c.  As long as the sysctl was always 1, the
 * tests here are patched out, but for utrace_ptrace_runs(), which tests jobctl.
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
 * In signal_struct::flags, set under siglock, and gone when the process exits: a
 * thread of the process is or was a further tracer.  Without it, wait(2) looks into no
 * list of tracees.
 */
#define UTRACE_GROUP_TRACES	0x00000100

/*
 * In task_struct::ptrace: the first tracer has set a debug register.  Forks copy the
 * bit, which counts only while a register is enabled.
 */
#define PT_UTRACE_DEBUGREGS	0x80000000

#ifdef CONFIG_UTRACE_PTRACE
DECLARE_STATIC_KEY_FALSE(utrace_ptracers);

/* May there be further tracers at all? */
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

/* In kernel/signal.c: tell @parent, or a tracer, of a stop or the end of @tsk. */
void do_notify_status(struct task_struct *tsk, struct task_struct *parent,
		      int why, int status);

/* In kernel/capability.c: could the first tracer of @tsk, if any, trace in @ns? */
bool first_ptracer_capable(struct task_struct *tsk, struct user_namespace *ns);

/* In kernel/exit.c: look whether wait(2) tells of @p, a tracee if @ptrace. */
int wait_consider_task(struct wait_opts *wo, int ptrace, struct task_struct *p);

/*
 * Is the caller of ptrace(2) a further tracer of @task?  ptrace_check_attach()
 * has found that the caller is a tracer.
 */
static inline bool utrace_ptrace_further(struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       !(task->ptrace && task->parent == current);
}

/*
 * May @task have one more tracer, the first or a further one?  Asked with the
 * rights of the caller.
 */
static inline int utrace_ptrace_may_join(struct task_struct *task,
					 unsigned int flags)
{
	return utrace_ptrace_many() ? __utrace_ptrace_may_join(task, flags) : 0;
}

/* Become a further tracer of @task; cred_guard_mutex of @task is held. */
static inline int utrace_ptrace_attach(struct task_struct *task,
				       unsigned int flags)
{
	return utrace_ptrace_many() ? __utrace_ptrace_attach(task, flags) :
				      -EPERM;
}

/* The caller has become a further tracer of @task; no mutex is held. */
static inline void utrace_ptrace_attached(struct task_struct *task)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_attached(task);
}

/* The current task has a tracer, and asks its parent to be another one. */
static inline int utrace_ptrace_traceme(void)
{
	return utrace_ptrace_many() ? __utrace_ptrace_traceme() : -EPERM;
}

/* Is @tracer a further tracer of @task? */
static inline bool utrace_ptrace_traces(struct task_struct *tracer,
					struct task_struct *task)
{
	return utrace_ptrace_many() && __utrace_ptrace_traces(tracer, task);
}

/* Is a thread of the process of @thread a further tracer of @task? */
static inline bool utrace_ptrace_traces_group(struct task_struct *thread,
					      struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       __utrace_ptrace_traces_group(thread, task);
}

/*
 * Ask @fn about each further tracer of the current task, whose cred_guard_mutex
 * is held, up to one for which @fn does not return 0.  Returns what @fn returned.
 */
static inline int
utrace_ptrace_ask(int (*fn)(struct task_struct *tracer, void *arg), void *arg)
{
	return utrace_ptrace_many() ? __utrace_ptrace_ask(fn, arg) : 0;
}

/* Has @task a further tracer? */
static inline bool utrace_ptrace_traced(struct task_struct *task)
{
	return utrace_ptrace_many() && __utrace_ptrace_traced(task);
}

/*
 * Must a fatal signal that is sent to @p wait until @t, the thread that takes it, comes
 * to get_signal()?  It must if a further tracer of one of them may decide about it,
 * also if the tracer has not asked for its events yet.  sig_ignored() lets the signal to
 * init pass because a tracer is there.  The tracer leaves without siglock of init, so it
 * may be gone here, and the signal must not kill init, which ignores it in get_signal().
 */
static inline bool utrace_ptrace_decides(struct task_struct *p,
					 struct task_struct *t)
{
	return utrace_ptrace_many() &&
	       ((p->signal->flags & SIGNAL_UNKILLABLE) ||
		__utrace_ptrace_traced(p) || __utrace_ptrace_traced(t));
}

/* Does a further tracer let @task run in spite of a group stop? */
static inline bool utrace_ptrace_runs(struct task_struct *task)
{
	return task->jobctl & JOBCTL_UTRACE_RUNS;
}

/* Could all further tracers of @task trace a program with more rights in @ns? */
static inline bool utrace_ptrace_capable(struct task_struct *task,
					 struct user_namespace *ns)
{
	return !utrace_ptrace_many() || __utrace_ptrace_capable(task, ns);
}

/* Could the caller, a tracer of @task, trace a program with more rights in @ns? */
static inline bool utrace_ptrace_caller_capable(struct task_struct *task,
						struct user_namespace *ns)
{
	return utrace_ptrace_further(task) ?
	       __utrace_ptrace_caller_capable(task, ns) :
	       first_ptracer_capable(task, ns);
}

/*
 * The first tracer of @task relies on being alone, which can be seen: -EPERM if
 * another tracer could undo what it does.
 */
static inline int utrace_ptrace_sandbox(struct task_struct *task)
{
	return utrace_ptrace_many() ? __utrace_ptrace_sandbox(task) : 0;
}

/*
 * The caller is not the first tracer of @task.  Returns 0 if the caller is a further one
 * and, unless @ignore_state, @task is stopped for it, and frozen now; else -ESRCH, or
 * -ERESTARTSYS if the caller is being killed.
 */
static inline int utrace_ptrace_check(struct task_struct *task,
				      bool ignore_state)
{
	return utrace_ptrace_many() ?
	       __utrace_ptrace_check(task, ignore_state) : -ESRCH;
}

/*
 * The first tracer has frozen @task for a request: wait until no further tracer
 * works on the task.  Returns 0, or -ERESTARTSYS if the caller is killed.
 */
static inline int utrace_ptrace_alone(struct task_struct *task)
{
	return utrace_ptrace_many() ? utrace_await_thaw(task) : 0;
}

/* The request of the first tracer is over; siglock is held. */
static inline void utrace_ptrace_thawed(struct task_struct *task)
{
	if (utrace_ptrace_many())
		utrace_wake_freeze_waiters(task);
}

/* The request of a further tracer is over. */
static inline void utrace_ptrace_thaw(struct task_struct *task)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_thaw(task);
}

/* Are the debug registers of @task those of the caller, who traces @task? */
static inline bool utrace_ptrace_sees_debugregs(struct task_struct *task)
{
	return !utrace_ptrace_many() || __utrace_ptrace_sees_debugregs(task);
}

/*
 * The caller, who traces @task, is about to set a debug register: -EBUSY if
 * another tracer has them.  @in_use: one is enabled.
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

/* Is or was a thread of the process of @thread a further tracer? */
static inline bool utrace_ptrace_group_traces(struct task_struct *thread)
{
	return utrace_ptrace_many() &&
	       (READ_ONCE(thread->signal->flags) & UTRACE_GROUP_TRACES);
}

/*
 * The part of __do_wait() for further tracers; returns as __do_wait(), or 0.  If
 * another thread is about to be the first one to trace, a stop of its task wakes
 * the caller later.  This is the only test in a wait(2) that finds nothing.
 */
static inline long utrace_ptrace_wait(struct wait_opts *wo)
{
	return utrace_ptrace_group_traces(current) ?
	       __utrace_ptrace_wait(wo) : 0;
}

/*
 * Is the process of the caller of wait(2) a further tracer of its child @p?  Then it is
 * told of the stops of @p as a tracer, and not as the parent, too.
 */
static inline bool utrace_ptrace_waits(struct task_struct *p)
{
	return utrace_ptrace_group_traces(current) &&
	       __utrace_ptrace_traces_group(current, p);
}

/* SIGCONT has ended a group stop; tasklist_lock is held. */
static inline void utrace_ptrace_continued(int why)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_continued(why);
}

/* A group stop begins for @task if @stops, or SIGCONT is sent; its siglock is held. */
static inline void utrace_ptrace_trap_notify(struct task_struct *task, bool stops)
{
	utrace_forget_group_stop(task);
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_trap_notify(task, stops);
}

/* A pid is allocated. */
static inline void utrace_ptrace_init_pid(struct pid *pid)
{
#ifdef CONFIG_UTRACE_PTRACE
	INIT_HLIST_HEAD(&pid->utrace_ends);
#endif
}

/*
 * Does a tracer still have to read how a task with this number ended?
 * tasklist_lock is held.
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
 * execve(2) has given @task, which was no leader, the pid of the leader.
 * tasklist_lock is held for writing.
 */
static inline void utrace_ptrace_exchanged(struct task_struct *task)
{
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_exchanged(task);
}

/*
 * The current task is about to create a task.  Returns 0, or -ENOMEM if the
 * further tracers could not follow it.
 */
static inline int utrace_ptrace_prepare(const struct kernel_clone_args *args)
{
	return utrace_ptrace_many() && utrace_known(current) ?
	       __utrace_ptrace_prepare(args) : 0;
}

/* The current task could not create the task after all. */
static inline void utrace_ptrace_unprepare(void)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_unprepare();
}

/* @child becomes visible; tasklist_lock is held for writing. */
static inline void utrace_ptrace_fork(struct task_struct *child)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_fork(child);
}

/* @child is visible, and does not run yet; no lock is held. */
static inline void utrace_ptrace_born(struct task_struct *child)
{
	if (utrace_ptrace_many() && utrace_known(current))
		__utrace_ptrace_born(child);
}

/*
 * @task has died, or was the leader of other threads that are gone by now.
 * tasklist_lock is held for writing.
 */
static inline void utrace_ptrace_died(struct task_struct *task)
{
	if (utrace_ptrace_many() && utrace_known(task))
		__utrace_ptrace_died(task);
}

/* The current task exits: it traces nobody any more. */
static inline void utrace_ptrace_exit(void)
{
	if (utrace_ptrace_many())
		__utrace_ptrace_exit();
}

/* The further tracer of @task that came first, or NULL.  Under RCU. */
static inline struct task_struct *utrace_ptrace_tracer(struct task_struct *task)
{
	return utrace_ptrace_many() ? __utrace_ptrace_tracer(task) : NULL;
}

/*
 * Is @tracer traced by the process of @task, maybe by way of others?  NULL is the
 * parent of @task.
 */
static inline bool utrace_ptrace_closes_circle(struct task_struct *tracer,
					       struct task_struct *task)
{
	return utrace_ptrace_many() &&
	       __utrace_ptrace_closes_circle(tracer, task);
}

extern struct mutex utrace_ptrace_link_mutex;

/* Returns NULL if nothing is locked. */
static inline void *utrace_ptrace_lock_links(void)
{
	if (!utrace_ptrace_many())
		return NULL;
	mutex_lock(&utrace_ptrace_link_mutex);
	return &utrace_ptrace_link_mutex;
}

/* No tracer is linked to a task between the search for a circle and a new link. */
DEFINE_LOCK_GUARD_0(utrace_ptrace_link, _T->lock = utrace_ptrace_lock_links(),
		    mutex_unlock(_T->lock))

#endif /* _LINUX_UTRACE_PTRACE_H */

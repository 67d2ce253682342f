// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - lists of the further tracers of all tasks
 *
 * A ptracer is in two lists, that of its task and that of the process of its
 * tracer, from the attach until the tracer leaves or has read the end of the
 * task.  While the end is unread, a third list, that of the pid, keeps the
 * number of the dead task from being reused, as a zombie does.  The lists are
 * walked under RCU.
 */
#include <linux/cred.h>
#include <linux/lockdep.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/utrace_hooks.h>

#include "ptracer.h"

static_assert(!(UTRACE_GROUP_TRACES &
		(SIGNAL_STOP_MASK | SIGNAL_GROUP_EXIT | SIGNAL_CLD_MASK |
		 SIGNAL_UNKILLABLE | UTRACE_GROUP_UNREPORTED)));

/**
 * ptracer_of_process() - find a ptracer among those of a tracing process
 * @thread: a thread of the process
 * @fn: returns true for the wanted ptracer
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: the ptracer, with a reference for the caller, or NULL.
 */
struct ptracer *ptracer_of_process(struct task_struct *thread, ptracer_fn fn,
				   void *arg)
{
	struct ptracer *p;

	guard(rcu)();
	hlist_for_each_entry_rcu(p, &thread->signal->utrace_tracees, by_tracer)
		if (fn(p, arg) && ptracer_tryget(p))
			return p;
	return NULL;
}

/**
 * ptracer_of_end() - find a ptracer whose tracer has not read the end yet
 * @pid: the pid of the dead task, or NULL
 * @fn: returns true for the wanted ptracer
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: the ptracer, with a reference for the caller, or NULL.
 */
struct ptracer *ptracer_of_end(struct pid *pid, ptracer_fn fn, void *arg)
{
	struct ptracer *p;

	if (!pid)
		return NULL;
	guard(rcu)();
	hlist_for_each_entry_rcu(p, &pid->utrace_ends, by_pid)
		if (fn(p, arg) && ptracer_tryget(p))
			return p;
	return NULL;
}

/**
 * ptracer_of_task() - find a ptracer among those of a task
 * @task: the traced task
 * @fn: returns true for the wanted ptracer
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: the ptracer, with a reference for the caller, or NULL.
 */
struct ptracer *ptracer_of_task(struct task_struct *task, ptracer_fn fn,
				void *arg)
{
	struct ptracer *p;

	guard(rcu)();
	ptracer_for_each(p, task)
		if (fn(p, arg) && ptracer_tryget(p))
			return p;
	return NULL;
}

/**
 * ptracer_any_of_task() - check whether a task has a matching ptracer
 * @task: the traced task
 * @fn: returns true for a matching ptracer
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: true if @fn has returned true.
 */
bool ptracer_any_of_task(struct task_struct *task, ptracer_fn fn, void *arg)
{
	struct ptracer *p;

	guard(rcu)();
	ptracer_for_each(p, task)
		if (fn(p, arg))
			return true;
	return false;
}

static bool ptracer_is_alive_of(struct ptracer *p, void *tracer)
{
	return p->tracer == tracer && ptracer_lives(p);
}

/**
 * ptracer_find() - find the ptracer of a tracer for a living task
 * @tracer: the tracer
 * @task: the task
 *
 * Context: Any.
 * Return: the ptracer, with a reference for the caller, or NULL.
 */
struct ptracer *ptracer_find(struct task_struct *tracer,
			     struct task_struct *task)
{
	return ptracer_of_task(task, ptracer_is_alive_of, tracer);
}

/**
 * ptracer_get_further() - get the further tracers of a task
 * @task: the task.  The result is complete and stays so while the caller holds
 *	cred_guard_mutex of @task, or if the caller is @task
 * @tracers: filled in, in the order of their attach
 *
 * Context: Any.
 * Return: the number of tracers, for ptracer_put_all().
 */
unsigned int ptracer_get_further(struct task_struct *task,
				 struct task_struct *tracers[PTRACER_MAX])
{
	struct ptracer *p;
	unsigned int n = 0;

	guard(rcu)();
	ptracer_for_each(p, task)
		if (n < PTRACER_MAX)
			tracers[n++] = get_task_struct(p->tracer);
	return n;
}

/**
 * ptracer_get_all() - get the tracers of a task
 * @task: as for ptracer_get_further()
 * @tracers: filled in: the first tracer, if there is one, then the further ones
 *
 * Context: Any.
 * Return: the number of tracers, for ptracer_put_all().
 */
unsigned int ptracer_get_all(struct task_struct *task,
			     struct task_struct *tracers[PTRACER_ALL])
{
	unsigned int n = 0;

	scoped_guard(rcu) {
		struct task_struct *first = ptrace_parent(task);

		if (first)
			tracers[n++] = get_task_struct(first);
	}
	return n + ptracer_get_further(task, tracers + n);
}

/**
 * ptracer_put_all() - drop the references to the tracers of a task
 * @tracers: from ptracer_get_all() or ptracer_get_further()
 * @n: number of elements of @tracers
 *
 * Context: Any but NMI.
 */
void ptracer_put_all(struct task_struct **tracers, unsigned int n)
{
	while (n--)
		put_task_struct(tracers[n]);
}

/**
 * __utrace_ptrace_traces() - check whether a thread is a further tracer
 * @tracer: the thread
 * @task: the task
 *
 * Context: Any.
 * Return: true if @tracer is a further tracer of @task, which lives.
 */
bool __utrace_ptrace_traces(struct task_struct *tracer, struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_alive_of, tracer);
}

/**
 * __utrace_ptrace_traced() - check whether a task has further tracers
 * @task: the task
 *
 * Context: Any.
 * Return: true if it has at least one.
 */
bool __utrace_ptrace_traced(struct task_struct *task)
{
	return !hlist_empty(utrace_tracers_of(task));
}

static bool ptracer_is_of_group(struct ptracer *p, void *thread)
{
	return same_thread_group(p->tracer, thread);
}

/**
 * __utrace_ptrace_traces_group() - check whether a process has a further tracer
 * @thread: a thread of the process
 * @task: the traced task
 *
 * Context: Any.
 * Return: true if a thread of the process is a further tracer of @task.
 */
bool __utrace_ptrace_traces_group(struct task_struct *thread,
				  struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_of_group, thread);
}

/**
 * __utrace_ptrace_tracer() - get the further tracer of a task that came first
 * @task: the task
 *
 * A tracer leaves the lists before it is dead, so its task_struct stays until
 * the end of the RCU section.
 *
 * Context: Under RCU.
 * Return: the tracer, or NULL.
 */
struct task_struct *__utrace_ptrace_tracer(struct task_struct *task)
{
	struct ptracer *p;

	ptracer_for_each(p, task)
		return p->tracer;
	return NULL;
}

/**
 * ptracer_new() - allocate a ptracer, which is in no list yet
 * @tracer: the tracer
 * @cred: the credentials of the attach
 * @flags: PT_PTRACED, PT_SEIZED and options
 *
 * Context: Process context, sleeps.
 * Return: the ptracer, for ptracer_set_task() or ptracer_free(); NULL if there
 * is no memory.
 */
struct ptracer *ptracer_new(struct task_struct *tracer,
			    const struct cred *cred, unsigned int flags)
{
	struct ptracer *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	spin_lock_init(&p->lock);
	p->tracer = get_task_struct(tracer);
	p->cred = get_cred(cred);
	p->flags = flags;
	p->step = UTRACE_RESUME;
	return p;
}

/**
 * ptracer_set_task() - set the task of a new ptracer
 * @p: the ptracer, in no list
 * @task: the task.  Its pid must not change before the ptracer is in the lists,
 *	so the caller holds cred_guard_mutex, or @task is current or not visible
 *	yet
 *
 * Context: Any.
 */
void ptracer_set_task(struct ptracer *p, struct task_struct *task)
{
	p->task = get_task_struct(task);
	p->pid = get_task_pid(task, PIDTYPE_PID);
}

/* Readers under RCU may use what the ptracer points to. */
static void ptracer_free_rcu(struct rcu_head *rcu)
{
	struct ptracer *p = container_of(rcu, struct ptracer, rcu);

	put_pid(p->message_pid);
	put_pid(p->vfork_pid);
	put_pid(p->pgrp);
	put_pid(p->old_pid);
	put_pid(p->pid);
	put_cred(p->cred);
	put_task_struct(p->tracer);
	if (p->task)
		put_task_struct(p->task);
	kfree(p);
}

/**
 * ptracer_free() - free a ptracer that has no engine
 * @data: the ptracer
 *
 * Context: Any but NMI.
 */
void ptracer_free(void *data)
{
	struct ptracer *p = data;

	call_rcu(&p->rcu, ptracer_free_rcu);
}

/* Append a ptracer to the list of its task; utrace_tracers_lock() is held. */
static void ptracer_add_last(struct ptracer *p)
{
	struct hlist_head *list = utrace_tracers_of(p->task);
	struct ptracer *other, *last = NULL;

	hlist_for_each_entry(other, list, by_task)
		last = other;
	if (last)
		hlist_add_behind_rcu(&p->by_task, &last->by_task);
	else
		hlist_add_head_rcu(&p->by_task, list);
}

/*
 * Add a ptracer to the list of its task, unless the task has @max tracers.  The
 * siglock of the tracer is held.
 */
static int ptracer_enter_task(struct ptracer *p, unsigned int max)
{
	unsigned int n = p->task->ptrace ? 1 : 0;
	struct ptracer *other;

	guard(spinlock)(utrace_tracers_lock(p->task));
	hlist_for_each_entry(other, utrace_tracers_of(p->task), by_task) {
		if (other->tracer == p->tracer)
			return -EPERM;
		n++;
	}
	if (n >= max)
		return -EPERM;
	ptracer_add_last(p);
	return 0;
}

/**
 * ptracer_enter() - add a ptracer to the lists
 * @p: the ptracer, with its engine and task
 * @max: maximum number of tracers of the task, including this one
 *
 * A tracer that exits sets PF_EXITING, takes its siglock and then empties its
 * list: either this function sees the flag, or the exiting tracer sees the
 * ptracer.
 *
 * Context: tasklist_lock is held, so that the task gets no first tracer now.
 * Return:
 * * 0 - success
 * * -EPERM - the task has @max tracers, or this one already
 * * -ESRCH - the tracer is exiting, or the task is dead
 */
int ptracer_enter(struct ptracer *p, unsigned int max)
{
	struct task_struct *tracer = p->tracer;
	unsigned long flags;
	int ret = -ESRCH;

	lockdep_assert_held(&tasklist_lock);

	/* The task has died, so its end would not be reported. */
	if (p->task->exit_state)
		return -ESRCH;
	if (p->task->ptrace && p->task->parent == tracer)
		return -EPERM;
	if (!lock_task_sighand(tracer, &flags))
		return -ESRCH;
	if (!(tracer->flags & PF_EXITING))
		ret = ptracer_enter_task(p, max);
	if (!ret) {
		utrace_engine_get(p->engine);
		tracer->signal->flags |= UTRACE_GROUP_TRACES;
		hlist_add_head_rcu(&p->by_tracer,
				   &tracer->signal->utrace_tracees);
	}
	unlock_task_sighand(tracer, &flags);
	return ret;
}

/* Remove a ptracer from the two lists.  Returns true if it was there. */
static bool ptracer_leave(struct ptracer *p)
{
	unsigned long flags;
	bool listed;

	/* A dead tracer has already left its lists. */
	if (!lock_task_sighand(p->tracer, &flags))
		return false;
	listed = !hlist_unhashed(&p->by_tracer);
	hlist_del_init_rcu(&p->by_tracer);
	scoped_guard(spinlock, utrace_tracers_lock(p->task))
		hlist_del_init_rcu(&p->by_task);
	unlock_task_sighand(p->tracer, &flags);
	return listed;
}

/* Map errors that depend on the state of the task and not on the call. */
static int ptracer_result(int ret)
{
	if (ret == -EINPROGRESS)
		ret = 0;
	else if (ret == -EALREADY)
		ret = -ESRCH;
	WARN_ON_ONCE(ret && ret != -ESRCH);
	return ret;
}

/**
 * ptracer_control() - stop or resume the task, or detach
 * @p: the ptracer; the caller has a reference
 * @action: for utrace_control()
 *
 * Does nothing if the task has died.  After UTRACE_DETACH a callback may still
 * be running; the core holds a reference until it ends.
 *
 * Context: Process context.
 */
void ptracer_control(struct ptracer *p, enum utrace_resume_action action)
{
	ptracer_result(utrace_control(p->task, p->engine, action));
}

/* Get the events that the engine of a ptracer wants now. */
static unsigned long ptracer_events(const struct ptracer *p)
{
	unsigned long events = UTRACE_EVENT(QUIESCE) | UTRACE_EVENT_SIGNAL_ALL |
			       UTRACE_EVENT(JCTL) | UTRACE_EVENT(CLONE) |
			       UTRACE_EVENT(EXEC) | UTRACE_EVENT(EXIT) |
			       UTRACE_EVENT(REAP);

	if (p->syscalls)
		events |= UTRACE_EVENT_SYSCALL;
	if (ptracer_wants(p, PTRACE_EVENT_VFORK_DONE))
		events |= UTRACE_EVENT(VFORK_DONE);
	return events;
}

/**
 * ptracer_set_events() - request the events that the tracer wants now
 * @p: the ptracer; the caller has a reference
 *
 * Context: Process context.
 * Return: 0, or -ESRCH if the task is dead.
 */
int ptracer_set_events(struct ptracer *p)
{
	return ptracer_result(utrace_set_events(p->task, p->engine,
						ptracer_events(p)));
}

/* Check whether a pid is in use, or another tracer has not read its end yet. */
static bool ptracer_pid_is_used(struct pid *pid)
{
	enum pid_type type;

	for (type = 0; type < PIDTYPE_MAX; type++)
		if (pid_has_task(pid, type))
			return true;
	return !hlist_empty(&pid->utrace_ends);
}

/*
 * Charge the user of a dead task for its pid, as for a zombie: one task of
 * RLIMIT_NPROC.  tasklist_lock is held for writing.
 */
static void ptracer_charge_end(struct ptracer *p)
{
	guard(rcu)();
	p->ucounts = get_ucounts(task_ucounts(p->task));
	if (p->ucounts)
		inc_rlimit_ucounts(p->ucounts, UCOUNT_RLIMIT_NPROC, 1);
}

static void ptracer_uncharge_end(struct ptracer *p)
{
	if (!p->ucounts)
		return;
	dec_rlimit_ucounts(p->ucounts, UCOUNT_RLIMIT_NPROC, 1);
	put_ucounts(p->ucounts);
	p->ucounts = NULL;
}

/**
 * ptracer_keep_pid() - keep the pid of a dead task until its end is read
 * @p: the ptracer; the task is not reaped yet
 *
 * Does nothing if the tracer has left: ptracer_forget() leaves the lists before
 * it checks @p->by_pid with tasklist_lock held.
 *
 * Context: tasklist_lock is held for writing.
 */
void ptracer_keep_pid(struct ptracer *p)
{
	lockdep_assert_held_write(&tasklist_lock);

	if (hlist_unhashed_lockless(&p->by_task) || !hlist_unhashed(&p->by_pid))
		return;
	hlist_add_head_rcu(&p->by_pid, &p->pid->utrace_ends);
	ptracer_charge_end(p);
}

/*
 * Allow the pid of the dead task to be reused.  If the task was reaped,
 * __change_pid() has left the pid allocated.
 */
static void ptracer_drop_pid(struct ptracer *p)
{
	guard(write_lock_irq)(&tasklist_lock);
	if (hlist_unhashed(&p->by_pid))
		return;
	hlist_del_init_rcu(&p->by_pid);
	ptracer_uncharge_end(p);
	if (!ptracer_pid_is_used(p->pid))
		free_pid(p->pid);
}

/**
 * ptracer_forget() - remove a ptracer from the lists
 * @p: the ptracer; the caller has a reference
 *
 * Context: Process context, no locks held.
 */
void ptracer_forget(struct ptracer *p)
{
	bool listed = ptracer_leave(p);

	ptracer_drop_pid(p);
	if (listed)
		ptracer_put(p);
}

/**
 * ptracer_end_quietly() - end a ptracer without a report by wait(2)
 * @p: the ptracer; the caller has a reference
 * @task: its task
 *
 * A tracer that waits is woken up, since it may have nothing left to wait for.
 *
 * Context: Process context, no locks held.
 */
void ptracer_end_quietly(struct ptracer *p, struct task_struct *task)
{
	ptracer_forget(p);
	__wake_up_parent(task, p->tracer);
}

/**
 * __utrace_ptrace_exchanged() - update the pid of a task after execve(2)
 * @task: a thread that was not the leader, and has got the pid of the leader
 *
 * From here on the tracers know the task by the new pid, whether the execve(2)
 * succeeds or kills the task.  The old pid is the message of PTRACE_EVENT_EXEC.
 *
 * Context: The task itself, with tasklist_lock held for writing.
 */
void __utrace_ptrace_exchanged(struct task_struct *task)
{
	struct ptracer *p;

	lockdep_assert_held_write(&tasklist_lock);

	guard(rcu)();
	ptracer_for_each(p, task) {
		guard(spinlock)(&p->lock);
		/* ptracer_exec() has reset it, or that execve(2) was fatal. */
		WARN_ON_ONCE(p->old_pid);
		p->old_pid = p->pid;
		p->pid = get_pid(task_pid(task));
	}
}

static bool ptracer_is_of_tracer(struct ptracer *p, void *tracer)
{
	return p->tracer == tracer;
}

static bool ptracer_runs(struct ptracer *p, void *arg)
{
	guard(spinlock_irqsave)(&p->lock);
	return p->runs;
}

/**
 * ptracer_rejoin_group_stop() - make a task rejoin a group stop
 * @task: the task, which a tracer has left or no longer lets run
 *
 * Does nothing if a tracer lets the task run.  Such a tracer sets ptracer::runs
 * before it takes siglock: either this function sees it, or
 * utrace_ignore_group_stop() of that tracer comes after it.
 *
 * Context: Any but NMI, without siglock.  Takes siglock.
 */
void ptracer_rejoin_group_stop(struct task_struct *task)
{
	unsigned long flags;

	if (!lock_task_sighand(task, &flags))
		return;
	if (!ptracer_any_of_task(task, ptracer_runs, NULL))
		utrace_rejoin_group_stop(task);
	unlock_task_sighand(task, &flags);
}

/**
 * __utrace_ptrace_exit() - end all tracing by the current task, which exits
 *
 * Context: The task itself, in do_exit(), with PF_EXITING set.
 */
void __utrace_ptrace_exit(void)
{
	struct ptracer *p;

	/* Pairs with ptracer_enter(). */
	spin_lock_irq(&current->sighand->siglock);
	spin_unlock_irq(&current->sighand->siglock);
	while ((p = ptracer_of_process(current, ptracer_is_of_tracer,
				       current))) {
		if (READ_ONCE(p->flags) & PT_EXITKILL && ptracer_lives(p))
			send_sig_info(SIGKILL, SEND_SIG_PRIV, p->task);
		ptracer_forget(p);
		ptracer_rejoin_group_stop(p->task);
		ptracer_control(p, UTRACE_DETACH);
		ptracer_put(p);
	}
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the further tracers of all tasks: who traces whom
 *
 * A ptracer is in two lists, that of its task and that of the process of its tracer,
 * from the attach until the tracer leaves, or has read how the task ended.  While
 * that is not read, a third list, that of the pid, keeps the number of the dead task
 * from being used again, as a zombie does.  The lists are walked under RCU.
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
		 SIGNAL_UNKILLABLE | UTRACE_GROUP_UNTOLD)));

/**
 * ptracer_of_process() - look for a ptracer among those of a tracing process
 * @thread: a thread of the process
 * @fn: returns true for the one that is meant
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
 * ptracer_of_end() - look for a ptracer whose tracer has yet to read an end
 * @pid: the pid of the dead task, or NULL
 * @fn: returns true for the one that is meant
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
 * ptracer_of_task() - look for a ptracer among those of a task
 * @task: the task that is traced
 * @fn: returns true for the one that is meant
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
 * ptracer_any_of_task() - test whether a task has a ptracer of some kind
 * @task: the task that is traced
 * @fn: returns true for one that is meant
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: true if so.
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
 * ptracer_find() - the ptracer of a tracer on a living task
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
 * ptracer_get_further() - the further tracers of a task
 * @task: the task.  None is missed and none comes meanwhile if the caller holds
 *	cred_guard_mutex of @task, or is @task
 * @tracers: filled in, in the order in which they came
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
 * ptracer_get_all() - the tracers of a task
 * @task: as for ptracer_get_further()
 * @tracers: filled in: the first tracer, if there is one, and then the others
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
 * ptracer_put_all() - end what ptracer_get_all() has begun
 * @tracers: the tracers
 * @n: their number
 *
 * Context: Any but NMI.
 */
void ptracer_put_all(struct task_struct **tracers, unsigned int n)
{
	while (n--)
		put_task_struct(tracers[n]);
}

/**
 * __utrace_ptrace_traces() - test whether a thread is a further tracer of a task
 * @tracer: the thread
 * @task: the task
 *
 * Context: Any.
 * Return: true if so.
 */
bool __utrace_ptrace_traces(struct task_struct *tracer, struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_alive_of, tracer);
}

/**
 * __utrace_ptrace_traced() - test whether a task has a further tracer
 * @task: the task
 *
 * Context: Any.
 * Return: true if so.
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
 * __utrace_ptrace_traces_group() - test whether a thread of a process is a further tracer
 * @thread: a thread of the process
 * @task: the task that is traced
 *
 * Context: Any.
 * Return: true if so.
 */
bool __utrace_ptrace_traces_group(struct task_struct *thread,
				  struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_of_group, thread);
}

/**
 * __utrace_ptrace_tracer() - the further tracer of a task that came first
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
 * ptracer_new() - make a ptracer that is in no list yet
 * @tracer: the tracer
 * @cred: the credentials of the attach
 * @flags: PT_PTRACED, PT_SEIZED and options
 *
 * Context: Process context, sleeps.
 * Return: the ptracer, for ptracer_set_task() or ptracer_free(); NULL: no memory.
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
 * ptracer_set_task() - say which task a new ptracer is for
 * @p: the ptracer, in no list
 * @task: the task.  It does not exchange its pid before the ptracer is in the lists:
 *	the caller holds cred_guard_mutex, or @task is current, or not visible yet
 *
 * Context: Any.
 */
void ptracer_set_task(struct ptracer *p, struct task_struct *task)
{
	p->task = get_task_struct(task);
	p->pid = get_task_pid(task, PIDTYPE_PID);
}

/* Readers under RCU use what the ptracer points to. */
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
 * ptracer_free() - free a ptracer, whose engine is gone
 * @data: the ptracer
 *
 * Context: Any but NMI.
 */
void ptracer_free(void *data)
{
	struct ptracer *p = data;

	call_rcu(&p->rcu, ptracer_free_rcu);
}

/* Put a ptracer behind the others of its task; utrace_tracers_lock() is held. */
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
 * Enter a ptracer in the list of its task, unless that has @max tracers.  The siglock
 * of the tracer is held.
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
 * ptracer_enter() - put a ptracer into the lists
 * @p: the ptracer, with its engine and task
 * @max: how many tracers the task may have with this one
 *
 * A tracer that exits sets PF_EXITING, takes its siglock and then empties its list:
 * either the flag is seen here, or the ptracer is seen there.
 *
 * Context: tasklist_lock is held, so that no tracer becomes the first one of the task.
 * Return:
 * * 0 - done
 * * -EPERM - the task has @max tracers, or this one already
 * * -ESRCH - the tracer is exiting, or the task is dead
 */
int ptracer_enter(struct ptracer *p, unsigned int max)
{
	struct task_struct *tracer = p->tracer;
	unsigned long flags;
	int ret = -ESRCH;

	lockdep_assert_held(&tasklist_lock);

	/* It has died, and nobody would tell. */
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

/* Take a ptracer out of the two lists.  Returns true if it was there. */
static bool ptracer_leave(struct ptracer *p)
{
	unsigned long flags;
	bool listed;

	/* A dead tracer has left its lists before. */
	if (!lock_task_sighand(p->tracer, &flags))
		return false;
	listed = !hlist_unhashed(&p->by_tracer);
	hlist_del_init_rcu(&p->by_tracer);
	scoped_guard(spinlock, utrace_tracers_lock(p->task))
		hlist_del_init_rcu(&p->by_task);
	unlock_task_sighand(p->tracer, &flags);
	return listed;
}

/* Errors that say how far the task is, and not that the call was wrong. */
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
 * The task may have died meanwhile.  After DETACH a callback may be running
 * still; the core has a reference until its end.
 *
 * Context: Process context.
 */
void ptracer_control(struct ptracer *p, enum utrace_resume_action action)
{
	ptracer_result(utrace_control(p->task, p->engine, action));
}

/**
 * ptracer_set_events() - ask for the events that the tracer wants now
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

/* No tracer is linked between the look for a circle and the new link. */
static int ptracer_link(struct ptracer *p)
{
	guard(mutex)(&utrace_ptrace_link_mutex);
	if (__utrace_ptrace_closes_circle(p->tracer, p->task))
		return -EDEADLK;
	/* A tracer becomes the first one with the lock held for writing. */
	guard(read_lock)(&tasklist_lock);
	return ptracer_enter(p, READ_ONCE(ptrace_max_tracers));
}

/**
 * ptracer_start() - attach the engine of a ptracer, and put it into the lists
 * @p: the ptracer, after ptracer_set_task(), which belongs to the core from here on
 *
 * Context: Process context, sleeps.  cred_guard_mutex of the task may be held.
 * Return:
 * * 0 - done
 * * -EPERM - the task has as many tracers as may be, or this one already, or is
 *   in a sandbox
 * * -EDEADLK - the task traces the tracer, maybe by way of others
 * * -ESRCH - the task or the tracer is exiting
 * * or an error of utrace_attach_for()
 */
int ptracer_start(struct ptracer *p)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_attach_for(p->cred, p->task, UTRACE_ATTACH_CREATE |
				   UTRACE_ATTACH_MUTATOR |
				   UTRACE_ATTACH_OWN_EVENTS,
				   &ptracer_ops, p, NULL, NULL);
	if (IS_ERR(engine)) {
		ptracer_free(p);
		return PTR_ERR(engine);
	}
	p->engine = engine;
	scoped_guard(rcu)
		utrace_set_owner(engine, task_tgid(p->tracer));
	ret = ptracer_link(p);
	if (!ret && ptracer_intrudes(p))
		ret = -EPERM;
	if (!ret)
		ret = ptracer_set_events(p);
	if (ret) {
		ptracer_forget(p);
		ptracer_control(p, UTRACE_DETACH);
	}
	utrace_engine_put(engine);
	return ret;
}

/* Is a number still in use, or is its end still to be read by another tracer? */
static bool ptracer_pid_is_used(struct pid *pid)
{
	enum pid_type type;

	for (type = 0; type < PIDTYPE_MAX; type++)
		if (pid_has_task(pid, type))
			return true;
	return !hlist_empty(&pid->utrace_ends);
}

/*
 * Charge the user of a dead task for its number, as a zombie is charged: one task of
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
 * ptracer_keep_pid() - keep the number of a dead task until its end is read
 * @p: the ptracer; the task is not reaped yet
 *
 * Does nothing if the tracer has left: ptracer_forget() leaves the lists before it
 * looks for the number with tasklist_lock held.
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
 * The number of the dead task may be used again.  __change_pid() has left it
 * allocated if the task was reaped.
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
 * ptracer_forget() - take a ptracer out of the lists
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
 * ptracer_end_quietly() - end a ptracer without news for wait(2)
 * @p: the ptracer; the caller has a reference
 * @task: its task
 *
 * A tracer that waits is woken, since it may have nothing to wait for any more.
 *
 * Context: Process context, no locks held.
 */
void ptracer_end_quietly(struct ptracer *p, struct task_struct *task)
{
	ptracer_forget(p);
	__wake_up_parent(task, p->tracer);
}

/**
 * __utrace_ptrace_exchanged() - execve(2) has given a task another pid
 * @task: a thread that was not the leader
 *
 * The tracers know the task by the new pid from here on, whether the execve(2)
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
		/* ptracer_exec() has taken the one before, or that execve(2) has killed. */
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
 * ptracer_rejoin_group_stop() - have a task rejoin a group stop, unless a tracer lets it run
 * @task: the task, which a tracer has left, or does not let run any more
 *
 * A tracer that lets the task run sets ptracer::runs before it takes siglock: this
 * function sees that, or utrace_ignore_group_stop() of that tracer comes after it.
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
 * __utrace_ptrace_exit() - the current task exits, and traces nobody any more
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

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the further tracers of all tasks: who traces whom
 *
 * A ptracer is in two lists, that of its task and that of its tracer, from the
 * end of the attach until the tracer leaves, or has read how the task ended.
 * While that is not read, a third list keeps the number of the dead task from
 * being used again, as a zombie does.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/utrace_hooks.h>

#include "ptracer.h"

/* Protects the lists. */
static DEFINE_SPINLOCK(ptracers_lock);
static DEFINE_HASHTABLE(ptracers_by_task, 8);
static DEFINE_HASHTABLE(ptracers_by_tracer, 8);
static DEFINE_HASHTABLE(ptracers_by_pid, 6);

static_assert(!(UTRACE_GROUP_TRACES &
		(SIGNAL_STOP_MASK | SIGNAL_GROUP_EXIT | SIGNAL_CLD_MASK |
		 SIGNAL_UNKILLABLE | UTRACE_GROUP_UNTOLD)));

/**
 * ptracer_of_tracer() - look for a ptracer among those of a tracer
 * @tracer: the tracer
 * @fn: returns true for the one that is meant
 * @arg: second argument of @fn
 *
 * Context: Any.
 * Return: the ptracer, with a reference for the caller, or NULL.
 */
struct ptracer *ptracer_of_tracer(struct task_struct *tracer, ptracer_fn fn,
				  void *arg)
{
	struct ptracer *p;

	guard(spinlock_irqsave)(&ptracers_lock);
	hash_for_each_possible(ptracers_by_tracer, p, by_tracer,
			       (unsigned long)tracer) {
		if (p->tracer != tracer || !fn(p, arg))
			continue;
		utrace_engine_get(p->engine);
		return p;
	}
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

	guard(spinlock_irqsave)(&ptracers_lock);
	hash_for_each_possible(ptracers_by_task, p, by_task,
			       (unsigned long)task) {
		if (p->task != task || !fn(p, arg))
			continue;
		utrace_engine_get(p->engine);
		return p;
	}
	return NULL;
}

/**
 * ptracer_any_of_task() - is there such a ptracer among those of a task?
 * @task: the task that is traced
 * @fn: returns true for one that is meant
 * @arg: second argument of @fn
 *
 * Context: Any.
 */
bool ptracer_any_of_task(struct task_struct *task, ptracer_fn fn, void *arg)
{
	struct ptracer *p __free(ptracer_put) = ptracer_of_task(task, fn, arg);

	return p;
}

static bool ptracer_is_alive_of(struct ptracer *p, void *tracer)
{
	return p->tracer == tracer && READ_ONCE(p->state) != PTRACER_DEAD;
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

	guard(spinlock_irqsave)(&ptracers_lock);
	hash_for_each_possible(ptracers_by_task, p, by_task,
			       (unsigned long)task)
		if (p->task == task && n < PTRACER_MAX)
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
 * __utrace_ptrace_traces() - is a thread a further tracer of a task?
 * @tracer: the thread
 * @task: the task
 *
 * Context: Any.
 */
bool __utrace_ptrace_traces(struct task_struct *tracer, struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_alive_of, tracer);
}

static bool ptracer_is_any(struct ptracer *p, void *arg)
{
	return true;
}

/**
 * __utrace_ptrace_traced() - has a task a further tracer?
 * @task: the task
 *
 * Context: Any.
 */
bool __utrace_ptrace_traced(struct task_struct *task)
{
	return ptracer_any_of_task(task, ptracer_is_any, NULL);
}

static bool ptracer_is_of_group(struct ptracer *p, void *thread)
{
	return same_thread_group(p->tracer, thread);
}

/**
 * __utrace_ptrace_traces_group() - does a process further trace a task?
 * @thread: a thread of the process
 * @task: the task
 *
 * Context: Any.
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
	struct ptracer *p __free(ptracer_put) =
		ptracer_of_task(task, ptracer_is_any, NULL);

	return p ? p->tracer : NULL;
}

/**
 * ptracer_new() - make a ptracer that is in no list yet
 * @task: the task
 * @tracer: the tracer
 * @cred: the credentials of the attach
 * @flags: PT_PTRACED, PT_SEIZED and options
 *
 * Context: Process context, sleeps.
 * Return: the ptracer, for ptracer_start() or ptracer_free(); NULL: no memory.
 */
struct ptracer *ptracer_new(struct task_struct *task,
			    struct task_struct *tracer,
			    const struct cred *cred, unsigned int flags)
{
	struct ptracer *p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);

	if (!p)
		return NULL;
	spin_lock_init(&p->lock);
	p->task = get_task_struct(task);
	p->tracer = get_task_struct(tracer);
	p->cred = get_cred(cred);
	p->pid = get_task_pid(task, PIDTYPE_PID);
	p->flags = flags;
	return p;
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

	put_pid(p->message_pid);
	put_pid(p->vfork_pid);
	put_pid(p->pgrp);
	put_pid(p->pid);
	put_cred(p->cred);
	put_task_struct(p->tracer);
	put_task_struct(p->task);
	kfree(p);
}

/* Put a ptracer behind the others of its task. */
static void ptracer_add_last(struct ptracer *p)
{
	struct ptracer *other, *last = NULL;

	hash_for_each_possible(ptracers_by_task, other, by_task,
			       (unsigned long)p->task)
		last = other;
	if (last)
		hlist_add_behind(&p->by_task, &last->by_task);
	else
		hash_add(ptracers_by_task, &p->by_task, (unsigned long)p->task);
}

/* Mark the process of a tracer.  Returns false if the tracer is dead. */
static bool ptracer_mark_group(struct task_struct *tracer)
{
	unsigned long flags;

	if (!lock_task_sighand(tracer, &flags))
		return false;
	tracer->signal->flags |= UTRACE_GROUP_TRACES;
	unlock_task_sighand(tracer, &flags);
	return true;
}

/*
 * Put a ptracer into the lists.  The tracer must not have passed
 * __utrace_ptrace_exit(), which comes after PF_EXITING.  A new task gets all
 * tracers that follow it, also if the sysctl has become less meanwhile.
 */
static int ptracer_list(struct ptracer *p, bool follows)
{
	unsigned int max = follows ? PTRACER_MAX : READ_ONCE(ptrace_max_tracers);
	struct task_struct *task = p->task;
	unsigned int n = task->ptrace ? 1 : 0;
	struct ptracer *other;

	lockdep_assert_held(&tasklist_lock);

	if (n && task->parent == p->tracer)
		return -EPERM;
	guard(spinlock_irqsave)(&ptracers_lock);
	if (p->tracer->flags & PF_EXITING)
		return -ESRCH;
	hash_for_each_possible(ptracers_by_task, other, by_task,
			       (unsigned long)p->task) {
		if (other->task != p->task)
			continue;
		if (other->tracer == p->tracer)
			return -EPERM;
		n++;
	}
	if (n >= max)
		return -EPERM;
	utrace_engine_get(p->engine);
	ptracer_add_last(p);
	hash_add(ptracers_by_tracer, &p->by_tracer, (unsigned long)p->tracer);
	return 0;
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

/* A new task traces nobody, so a tracer that follows closes no circle. */
static int ptracer_link(struct ptracer *p, bool follows)
{
	if (!ptracer_mark_group(p->tracer))
		return -ESRCH;
	if (follows) {
		guard(read_lock)(&tasklist_lock);
		return ptracer_list(p, follows);
	}
	guard(mutex)(&utrace_ptrace_link_mutex);
	if (__utrace_ptrace_closes_circle(p->tracer, p->task))
		return -EDEADLK;
	/* A tracer becomes the first one with the lock held for writing. */
	guard(read_lock)(&tasklist_lock);
	return ptracer_list(p, follows);
}

/**
 * ptracer_start() - attach the engine of a ptracer, and put it into the lists
 * @p: the ptracer, which belongs to the core from here on
 * @follows: the tracer follows a task that it traces to a new task
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
int ptracer_start(struct ptracer *p, bool follows)
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
	ret = ptracer_link(p, follows);
	if (!ret && !follows && ptracer_intrudes(p))
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
	return __utrace_ptrace_keeps_pid(pid);
}

/**
 * ptracer_keep_pid() - keep the number of a dead task until its end is read
 * @p: the ptracer, in the lists; the task is not reaped yet
 *
 * Context: Process context.
 */
void ptracer_keep_pid(struct ptracer *p)
{
	guard(spinlock_irqsave)(&ptracers_lock);
	if (!hlist_unhashed(&p->by_task) && hlist_unhashed(&p->by_pid))
		hash_add(ptracers_by_pid, &p->by_pid, (unsigned long)p->pid);
}

/**
 * __utrace_ptrace_keeps_pid() - is the end of a task with this number unread?
 * @pid: the number
 *
 * Context: tasklist_lock is held for writing.
 */
bool __utrace_ptrace_keeps_pid(struct pid *pid)
{
	struct ptracer *p;

	lockdep_assert_held_write(&tasklist_lock);

	guard(spinlock_irqsave)(&ptracers_lock);
	hash_for_each_possible(ptracers_by_pid, p, by_pid, (unsigned long)pid)
		if (p->pid == pid)
			return true;
	return false;
}

/*
 * The number of the dead task may be used again.  __change_pid() has left it
 * allocated if the task was reaped.
 */
static void ptracer_drop_pid(struct ptracer *p)
{
	guard(write_lock_irq)(&tasklist_lock);
	scoped_guard(spinlock, &ptracers_lock) {
		if (hlist_unhashed(&p->by_pid))
			return;
		hash_del(&p->by_pid);
	}
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
	bool listed, kept;

	scoped_guard(spinlock_irqsave, &ptracers_lock) {
		listed = !hlist_unhashed(&p->by_task);
		kept = !hlist_unhashed(&p->by_pid);
		hash_del(&p->by_task);
		hash_del(&p->by_tracer);
	}
	if (kept)
		ptracer_drop_pid(p);
	if (listed)
		ptracer_put(p);
}

/**
 * __utrace_ptrace_exit() - the current task exits, and traces nobody any more
 *
 * Context: The task itself, in do_exit(), with PF_EXITING set.
 */
void __utrace_ptrace_exit(void)
{
	struct ptracer *p;

	while ((p = ptracer_of_tracer(current, ptracer_is_any, NULL))) {
		if (READ_ONCE(p->flags) & PT_EXITKILL &&
		    READ_ONCE(p->state) != PTRACER_DEAD)
			send_sig_info(SIGKILL, SEND_SIG_PRIV, p->task);
		ptracer_forget(p);
		ptracer_control(p, UTRACE_DETACH);
		ptracer_put(p);
	}
}

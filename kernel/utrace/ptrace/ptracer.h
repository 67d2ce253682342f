/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - one further tracer of one task
 *
 * A struct ptracer holds for a further tracer the state that task_struct holds
 * for the first tracer: options, the current stop, and what wait(2) has not
 * reported yet.  It is the data of an engine with the scope of a thread, and
 * lives as long as the engine.
 *
 * Lock order: cred_guard_mutex of the task, utrace_ptrace_link_mutex,
 * tasklist_lock, siglock of the tracer, utrace->lock of the task.
 * ptracer::lock is taken inside tasklist_lock and inside siglock of the task,
 * and no lock is taken inside it.  wait_chldexit.lock is inside siglock.  No
 * wake-up is done under utrace->lock or ptracer::lock.
 *
 * What a ptracer points to, what keeps it, and who may change it:
 *
 *	->task, ->tracer	a reference	nobody, once the ptracer is listed
 *	->tracer->signal	->tracer	nobody: a thread keeps its process
 *	->tracer->sighand	siglock
 *				the exit of the tracer, after it has left all
 *				lists: lock_task_sighand() fails then
 *	->task->utrace		->task		nobody, once it is installed
 *	->task->signal		->task		nobody
 *	->task->real_parent	tasklist_lock, while pid_alive()
 *				the exit of the parent or of the task, with the
 *				lock held for writing
 *	->pid			a reference	execve(2) of a thread that is not
 *				the leader: __utrace_ptrace_exchanged()
 *	the number of ->pid	a living task, or ->by_pid
 *	->old_pid, ->message_pid, ->vfork_pid, ->pgrp
 *				a reference; the number may be used again
 *	->cred, ->ucounts	a reference	nobody
 *	->engine		the reference of the lists; under RCU
 *				utrace_engine_tryget()
 */
#ifndef _KERNEL_UTRACE_PTRACER_H
#define _KERNEL_UTRACE_PTRACER_H

#include <linux/cleanup.h>
#include <linux/ptrace.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utrace_ptrace.h>

#include "../builtin.h"

/**
 * enum ptracer_state - state of a task for one tracer
 * @PTRACER_RUNNING: the task runs, as far as the tracer knows
 * @PTRACER_STOPPED: a stop was reported, and the tracer has not resumed the
 *	task
 * @PTRACER_LISTENING: PTRACE_LISTEN after a stop
 * @PTRACER_LEAVING: PTRACE_DETACH.  After a stop for a signal the engine stays
 *	attached until it has returned the decision about the signal
 * @PTRACER_DEAD: the task has died; wait(2) cannot report the end yet, or
 *	reports it as that of a child, see ptracer_parent_reports_end()
 * @PTRACER_ENDED: wait(2) can report the end
 * @PTRACER_READ: wait(2) has reported the end
 */
enum ptracer_state {
	PTRACER_RUNNING,
	PTRACER_STOPPED,
	PTRACER_LISTENING,
	PTRACER_LEAVING,
	PTRACER_DEAD,
	PTRACER_ENDED,
	PTRACER_READ,
};

/**
 * enum ptracer_stop - kinds of stops, by what a resume does with its signal
 * @PTRACER_DROPS: an event; the signal has no effect
 * @PTRACER_SENDS: the signal is sent: at a system call, and if the SIGSTOP of
 *	PTRACE_ATTACH is reported in a stop for another tracer
 * @PTRACER_ANSWERS: the signal replaces the one that the task has stopped for
 */
enum ptracer_stop {
	PTRACER_DROPS,
	PTRACER_SENDS,
	PTRACER_ANSWERS,
};

/**
 * struct ptracer - one further tracer of one task
 * @engine: the engine; the two lists together hold one reference to it.  Set
 *	before the ptracer is in the lists
 * @task: the task, counted; NULL until a followed task is created
 * @tracer: the tracing thread, counted
 * @cred: the credentials with which the tracer has attached, counted
 * @rcu: for call_rcu()
 *
 * @by_task: entry in utrace::tracers of @task, under its utrace->lock.  Before
 *	that, entry in utrace::newborn of the task that creates @task
 * @by_tracer: entry in signal_struct::utrace_tracees of @tracer, under its
 *	siglock
 * @by_pid: entry in pid::utrace_ends of @pid while the end of the task is
 *	unread, under tasklist_lock
 * @ucounts: user that is charged for the unread end, counted; under
 *	tasklist_lock
 * @newborn: the engine is not attached yet; only the creator of @task uses it
 *
 * @debugregs: the tracer owns the debug registers; used while the task is
 *	frozen
 * @frozen: the tracer has frozen the task for a request; only the tracer uses
 *	it
 *
 * @lock: must be held to write any of the following members.  The task also
 *	reads @flags, @made, @state and @stop without it: a tracer that changes
 *	these requests a report, or has the task in a stop.  Only the task
 *	writes @vfork_pid
 * @state: state of the task for the tracer
 * @unread: wait(2) has not reported the stop yet
 * @continued: wait(2) has not reported yet that SIGCONT ended a group stop
 * @runs: the tracer lets the task run despite the current group stop
 * @trap: a stop must be reported as soon as possible, after PTRACE_INTERRUPT,
 *	or PTRACE_SEIZE of a task in a group stop.  Any stop will do, as with
 *	JOBCTL_TRAP_STOP
 * @notify: a group stop has begun, or SIGCONT was sent, so PTRACE_EVENT_STOP
 *	must be reported as soon as possible, as with JOBCTL_TRAP_NOTIFY.  To a
 *	tracer without PTRACE_SEIZE a group stop is reported, while it lasts
 * @made: bit mask of the signals that tracing itself makes and that only this
 *	tracer sees: SIGSTOP of an attach, SIGTRAP of execve()
 * @syscalls: PTRACE_SYSCALL: system calls are reported until the next stop
 * @step: the requested step that was not reported yet, as for utrace_control();
 *	UTRACE_RESUME if there is none
 * @flags: PT_PTRACED, PT_SEIZED and options, as in task_struct::ptrace
 * @stop: kind of the stop; PTRACER_ANSWERS until the task has acted on the
 *	decision about the signal
 * @code: wait status of the stop, shifted right by 8 bits
 * @signr: the signal with which the tracer has resumed the task
 * @message: for PTRACE_GETEVENTMSG
 * @message_pid: the message of the last event that had a pid, counted, or NULL
 * @vfork_pid: the child of the last vfork(2), counted, or NULL
 * @pid: the pid by which the tracer knows the task, counted; written under
 *	tasklist_lock and @lock
 * @old_pid: the pid of the task before an execve(2) that was not reported yet,
 *	counted, or NULL
 * @pgrp: the process group of a dead task, counted, or NULL
 * @info: the siginfo of a stop for a signal, or as set by PTRACE_SETSIGINFO;
 *	else si_signo is 0
 *
 * @status: the wait status of a dead task, constant once wait(2) can report it
 */
struct ptracer {
	struct utrace_engine *engine;
	struct task_struct *task;
	struct task_struct *tracer;
	const struct cred *cred;
	struct hlist_node by_task;
	struct hlist_node by_tracer;
	struct hlist_node by_pid;
	struct ucounts *ucounts;
	struct rcu_head rcu;
	bool newborn;
	bool debugregs;
	bool frozen;
	spinlock_t lock;	/* innermost lock, interrupts off */
	enum ptracer_state state;
	bool unread;
	bool continued;
	bool runs;
	bool trap;
	bool notify;
	u32 made;
	bool syscalls;
	enum utrace_resume_action step;
	unsigned int flags;
	enum ptracer_stop stop;
	int code;
	int signr;
	unsigned long message;
	struct pid *message_pid;
	struct pid *vfork_pid;
	struct pid *pid;
	struct pid *old_pid;
	struct pid *pgrp;
	kernel_siginfo_t info;
	int status;
};

static inline bool ptracer_wants(const struct ptracer *p, int event)
{
	return p->flags & PT_EVENT_FLAG(event);
}

/* Check for a stop with SIGTRAP: an event, a system call or a step. */
static inline bool ptracer_code_is_trap(const struct ptracer *p)
{
	return (p->code & 0x7f) == SIGTRAP;
}

/* The largest value of kernel.ptrace_max_tracers. */
#define PTRACER_MAX		16

/* Room for the first tracer of a task and all further tracers. */
#define PTRACER_ALL		(PTRACER_MAX + 1)

/*
 * Predicate for a walk of ptracers under RCU, which ends when it returns true.
 * It may change the ptracer, and must not sleep.
 */
typedef bool (*ptracer_fn)(struct ptracer *p, void *arg);

struct ptracer *ptracer_find(struct task_struct *tracer,
			     struct task_struct *task);
struct ptracer *ptracer_of_process(struct task_struct *thread, ptracer_fn fn,
				   void *arg);
struct ptracer *ptracer_of_end(struct pid *pid, ptracer_fn fn, void *arg);
struct ptracer *ptracer_of_task(struct task_struct *task, ptracer_fn fn,
				void *arg);
bool ptracer_any_of_task(struct task_struct *task, ptracer_fn fn, void *arg);
unsigned int ptracer_get_further(struct task_struct *task,
				 struct task_struct *tracers[PTRACER_MAX]);
unsigned int ptracer_get_all(struct task_struct *task,
			     struct task_struct *tracers[PTRACER_ALL]);
void ptracer_put_all(struct task_struct **tracers, unsigned int n);
struct ptracer *ptracer_new(struct task_struct *tracer,
			    const struct cred *cred, unsigned int flags);
void ptracer_set_task(struct ptracer *p, struct task_struct *task);
void ptracer_free(void *data);
int ptracer_enter(struct ptracer *p, unsigned int max);
void ptracer_control(struct ptracer *p, enum utrace_resume_action action);
int ptracer_set_events(struct ptracer *p);
void ptracer_forget(struct ptracer *p);
void ptracer_rejoin_group_stop(struct task_struct *task);
void ptracer_end_quietly(struct ptracer *p, struct task_struct *task);
void ptracer_keep_pid(struct ptracer *p);

/* Walk the further tracers of a task in the order of attach, under RCU. */
#define ptracer_for_each(p, task)					\
	hlist_for_each_entry_rcu(p, utrace_tracers_of(task), by_task)

/* Check whether the task lives, as far as the tracer knows. */
static inline bool ptracer_lives(const struct ptracer *p)
{
	return READ_ONCE(p->state) < PTRACER_DEAD;
}

/* Get a reference under RCU; false if the last one was dropped. */
static inline bool ptracer_tryget(struct ptracer *p)
{
	return utrace_engine_tryget(p->engine);
}

static inline void ptracer_put(struct ptracer *p)
{
	utrace_engine_put(p->engine);
}

DEFINE_FREE(ptracer_put, struct ptracer *, if (_T) ptracer_put(_T))

#endif /* _KERNEL_UTRACE_PTRACER_H */

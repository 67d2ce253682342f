/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - one further tracer of one task
 *
 * A struct ptracer is for one tracer what task_struct has once for the first
 * tracer: options, the present stop, what wait(2) has not told yet.  It is the
 * data of an engine with the scope of a thread, and lives as long as the engine.
 *
 * Lock order: cred_guard_mutex of the task, utrace_ptrace_link_mutex,
 * tasklist_lock, siglock of the tracer, utrace->lock of the task.  ptracer::lock is
 * taken inside of tasklist_lock and of siglock of the task; no lock is taken inside of
 * it.  wait_chldexit.lock is inside of siglock, and nobody is woken under utrace->lock or
 * ptracer::lock.
 *
 * What a ptracer points to, what keeps it, and who may change it:
 *
 *	->task, ->tracer	a reference	nobody, once the ptracer is listed
 *	->tracer->signal	->tracer	nobody: a thread keeps its process
 *	->tracer->sighand	siglock	the end of the tracer, which has left all
 *				lists before: lock_task_sighand() fails then
 *	->task->utrace		->task		nobody, once it is installed
 *	->task->signal		->task		nobody
 *	->task->real_parent	tasklist_lock, while pid_alive()
 *				its end, and the end of the task, with the lock
 *				held for writing
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
 * enum ptracer_state - where a tracer is with its task
 * @PTRACER_RUNNING: the task runs, as far as the tracer knows
 * @PTRACER_STOPPED: the task has told of a stop, and the tracer has not resumed
 * @PTRACER_LISTENING: PTRACE_LISTEN after a stop
 * @PTRACER_LEAVING: PTRACE_DETACH.  After a stop for a signal the engine stays until it
 *	has answered
 * @PTRACER_DEAD: the task has died, and its end cannot be read yet, or is that of
 *	a child, see ptracer_parent_tells()
 * @PTRACER_ENDED: wait(2) can tell the end
 * @PTRACER_READ: wait(2) has told the end
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
 *	PTRACE_ATTACH is told of in a stop for another tracer
 * @PTRACER_ANSWERS: the signal takes the place of the one that was stopped at
 */
enum ptracer_stop {
	PTRACER_DROPS,
	PTRACER_SENDS,
	PTRACER_ANSWERS,
};

/**
 * struct ptracer - one further tracer of one task
 * @engine: the engine; the two lists have a reference to it together.  Set
 *	before the ptracer is in the lists
 * @task: the task, counted; NULL until a task that is followed is created
 * @tracer: the thread that traces, counted
 * @cred: the credentials with which the tracer has attached, counted
 * @rcu: for call_rcu()
 *
 * @by_task: entry in utrace::tracers of @task, under its utrace->lock.  Before
 *	that, entry in utrace::newborn of the task that creates @task
 * @by_tracer: entry in signal_struct::utrace_tracees of @tracer, under its siglock
 * @by_pid: entry in pid::utrace_ends of @pid while the end of the task is not
 *	read, under tasklist_lock
 * @ucounts: who is charged for the end that is not read, counted; under
 *	tasklist_lock
 * @newborn: the engine is not attached yet; only the creator of @task uses it
 *
 * @debugregs: the tracer has the debug registers; used while the task is frozen
 * @frozen: the tracer has the task frozen for a request; only the tracer uses it
 *
 * @lock: all that follows is written under this lock.  The task reads
 *	@flags, @made, @state and @stop without the lock as well: a tracer that
 *	changes these asks for a report, or has the task in a stop.  @vfork_pid
 *	is written by the task only
 * @state: what the task does
 * @unread: wait(2) has not told of the stop yet
 * @continued: wait(2) has not told yet that SIGCONT ended a group stop
 * @runs: the tracer lets the task run in spite of the present group stop
 * @trap: PTRACE_INTERRUPT, or PTRACE_SEIZE of a task in a group stop: a stop is to be
 *	told as soon as possible.  Any stop will do, as with JOBCTL_TRAP_STOP
 * @notify: a group stop has begun, or SIGCONT was sent, and PTRACE_EVENT_STOP is to be
 *	told as soon as possible, as with JOBCTL_TRAP_NOTIFY.  A tracer without
 *	PTRACE_SEIZE is told of a group stop, while it lasts
 * @made: signals that tracing itself makes and that only this tracer is told of,
 *	a mask with bits of the numbers: SIGSTOP of an attach, SIGTRAP of execve()
 * @syscalls: PTRACE_SYSCALL: system calls are told until the next stop
 * @step: the step that the tracer has asked for, and that is not told yet: as for
 *	utrace_control(), or UTRACE_RESUME
 * @flags: PT_PTRACED, PT_SEIZED and options, as in task_struct::ptrace
 * @stop: what kind of stop it is; PTRACER_ANSWERS until the task has acted on the answer
 * @code: what wait(2) tells of the stop, shifted by 8 bits
 * @signr: the signal that the tracer has resumed the task with
 * @message: for PTRACE_GETEVENTMSG
 * @message_pid: the message of the last event that had a pid, counted, or NULL
 * @vfork_pid: the child of the last vfork(2), counted, or NULL
 * @pid: the pid of the task as the tracer knows it, counted; written under
 *	tasklist_lock, too
 * @old_pid: the pid that the task had before an execve(2) that is not told yet,
 *	counted, or NULL
 * @pgrp: the process group of a dead task, counted, or NULL
 * @info: the siginfo of a stop for a signal, or what PTRACE_SETSIGINFO has set;
 *	else si_signo is 0
 *
 * @status: the wait status of a dead task, constant once the end can be read
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

extern const struct utrace_engine_ops ptracer_ops;
extern int ptrace_max_tracers;

static inline bool ptracer_wants(const struct ptracer *p, int event)
{
	return p->flags & PT_EVENT_FLAG(event);
}

/* Is the stop an event, a system call or a step, and no signal and no group stop? */
static inline bool ptracer_code_is_trap(const struct ptracer *p)
{
	return (p->code & 0x7f) == SIGTRAP;
}

/* The most that kernel.ptrace_max_tracers may be. */
#define PTRACER_MAX		16

/* Room for the first tracer of a task and all further ones. */
#define PTRACER_ALL		(PTRACER_MAX + 1)

/*
 * A question about a ptracer, asked under RCU about one after the other until the
 * answer is true.  It may change the ptracer, and does not sleep.
 */
typedef bool (*ptracer_fn)(struct ptracer *p, void *arg);

/* ptracer.c */
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
int ptracer_start(struct ptracer *p);
int ptracer_enter(struct ptracer *p, unsigned int max);
void ptracer_control(struct ptracer *p, enum utrace_resume_action action);
int ptracer_set_events(struct ptracer *p);
void ptracer_forget(struct ptracer *p);
void ptracer_rejoin_group_stop(struct task_struct *task);
void ptracer_end_quietly(struct ptracer *p, struct task_struct *task);
void ptracer_keep_pid(struct ptracer *p);

/* Walk the further tracers of a task, in the order in which they came, under RCU. */
#define ptracer_for_each(p, task)					\
	hlist_for_each_entry_rcu(p, utrace_tracers_of(task), by_task)

/* Does the task live, as far as the tracer knows? */
static inline bool ptracer_lives(const struct ptracer *p)
{
	return READ_ONCE(p->state) < PTRACER_DEAD;
}

/* Get a reference under RCU; false if the last one is gone. */
static inline bool ptracer_tryget(struct ptracer *p)
{
	return utrace_engine_tryget(p->engine);
}

static inline void ptracer_put(struct ptracer *p)
{
	utrace_engine_put(p->engine);
}

DEFINE_FREE(ptracer_put, struct ptracer *, if (_T) ptracer_put(_T))

/* ptrace_engine.c */
unsigned long ptracer_events(const struct ptracer *p);
void ptracer_tell(struct ptracer *p, struct task_struct *task,
		  enum ptracer_stop stop, int code, int why,
		  unsigned long message, const kernel_siginfo_t *info);
void ptracer_trap(struct ptracer *p, struct task_struct *task);
bool ptracer_trap_is_due(struct ptracer *p);
bool ptracer_listens_in_group_stop(const struct ptracer *p);
bool ptracer_take_made(struct ptracer *p, kernel_siginfo_t *info);
bool ptracer_group_stops(struct task_struct *task);

/* follow.c */
int ptracer_clone_event(unsigned long clone_flags);

/* debugregs.c */
void ptracer_drop_debugregs(struct ptracer *p);

/* wait.c */
void ptracer_send_sigchld(struct ptracer *p, struct task_struct *task, int why,
			  int status);

/* rights.c */
bool ptracer_intrudes(struct ptracer *p);

#endif /* _KERNEL_UTRACE_PTRACER_H */

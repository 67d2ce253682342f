/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - one further tracer of one task
 *
 * A struct ptracer is for one tracer what task_struct has once for the first
 * tracer: options, the present stop, what wait(2) has not told yet.  It is the
 * data of an engine with the scope of a thread, and lives as long as the engine.
 *
 * Lock order: cred_guard_mutex of the task, utrace_ptrace_link_mutex,
 * tasklist_lock, siglock, wait_chldexit.lock, ptracers_lock, ptracer::lock.  The
 * last two are taken with interrupts off, and nobody is woken under them.
 */
#ifndef _KERNEL_UTRACE_PTRACER_H
#define _KERNEL_UTRACE_PTRACER_H

#include <linux/cleanup.h>
#include <linux/ptrace.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utrace_ptrace.h>

#include "../builtin.h"

/**
 * enum ptracer_state - where a tracer is with its task
 * @PTRACER_RUNNING: the task runs, as far as the tracer knows
 * @PTRACER_STOPPED: the task has told of a stop, and the tracer has not resumed
 * @PTRACER_LISTENING: PTRACE_LISTEN after a stop
 * @PTRACER_DEAD: the task has died; its end can be read once @unread is set
 */
enum ptracer_state {
	PTRACER_RUNNING,
	PTRACER_STOPPED,
	PTRACER_LISTENING,
	PTRACER_DEAD,
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
 * @task: the task, counted
 * @tracer: the thread that traces, counted
 * @cred: the credentials with which the tracer has attached, counted
 *
 * @by_task: entry in ptracers_by_task, under ptracers_lock
 * @by_tracer: entry in ptracers_by_tracer, under ptracers_lock
 * @by_pid: entry in ptracers_by_pid while the end of the task is not read, under
 *	ptracers_lock
 *
 * @debugregs: the tracer has the debug registers; used while the task is frozen
 * @frozen: the tracer has the task frozen for a request; only the tracer uses it
 *
 * @lock: all that follows is written under this lock.  The task reads its
 *	@flags, @syscalls, @trap, @made and @leaving without the lock as well: a
 *	tracer that changes these asks for a report, or has the task in a stop
 * @state: what the task does
 * @unread: wait(2) has not told of the stop or the end yet
 * @trap: PTRACE_INTERRUPT: a stop is to be told as soon as possible
 * @made: signals that tracing itself makes and that only this tracer is told of,
 *	a mask with bits of the numbers: SIGSTOP of an attach, SIGTRAP of execve()
 * @syscalls: PTRACE_SYSCALL: system calls are told until the next stop
 * @step: PTRACE_SINGLESTEP: a step is told
 * @told: the stop is for a signal, and this is not answered yet
 * @leaving: PTRACE_DETACH in a stop for a signal: the engine leaves with its
 *	answer
 * @waits: the leader of a group has died and other threads live
 * @group_dead: the last thread of the group has died
 * @flags: PT_PTRACED, PT_SEIZED and options, as in task_struct::ptrace
 * @stop: what kind of stop it is
 * @code: what wait(2) tells of the stop, shifted by 8 bits
 * @signr: the signal that the tracer has resumed the task with
 * @message: for PTRACE_GETEVENTMSG
 * @message_pid: the message of the last event that had a pid, counted, or NULL
 * @vfork_pid: the child of the last vfork(2), counted, or NULL
 * @pid: the pid of the task as the tracer knows it, counted
 * @pgrp: the process group of a dead task, counted, or NULL
 * @info: the siginfo of a stop for a signal, or what PTRACE_SETSIGINFO has set;
 *	else si_signo is 0
 *
 * @status: the wait status of a dead task; with the next two, constant once
 *	the end can be read
 * @uid: the user of a dead task
 * @rusage: what a dead task has used
 */
struct ptracer {
	struct utrace_engine *engine;
	struct task_struct *task;
	struct task_struct *tracer;
	const struct cred *cred;
	struct hlist_node by_task;
	struct hlist_node by_tracer;
	struct hlist_node by_pid;
	bool debugregs;
	bool frozen;
	spinlock_t lock;	/* innermost lock, interrupts off */
	enum ptracer_state state;
	bool unread;
	bool trap;
	u32 made;
	bool syscalls;
	bool step;
	bool told;
	bool leaving;
	bool waits;
	bool group_dead;
	unsigned int flags;
	enum ptracer_stop stop;
	int code;
	int signr;
	unsigned long message;
	struct pid *message_pid;
	struct pid *vfork_pid;
	struct pid *pid;
	struct pid *pgrp;
	kernel_siginfo_t info;
	int status;
	kuid_t uid;
	struct rusage rusage;
};

extern const struct utrace_engine_ops ptracer_ops;
extern int ptrace_max_tracers;

static inline bool ptracer_wants(const struct ptracer *p, int event)
{
	return p->flags & PT_EVENT_FLAG(event);
}

/* The most that kernel.ptrace_max_tracers may be. */
#define PTRACER_MAX		16

/* Room for the first tracer of a task and all further ones. */
#define PTRACER_ALL		(PTRACER_MAX + 1)

/*
 * A question about a ptracer, asked under ptracers_lock about one after the other
 * until the answer is true.  It may change the ptracer.
 */
typedef bool (*ptracer_fn)(struct ptracer *p, void *arg);

/* ptracer.c */
struct ptracer *ptracer_find(struct task_struct *tracer,
			     struct task_struct *task);
struct ptracer *ptracer_of_tracer(struct task_struct *tracer, ptracer_fn fn,
				  void *arg);
struct ptracer *ptracer_of_task(struct task_struct *task, ptracer_fn fn,
				void *arg);
bool ptracer_any_of_task(struct task_struct *task, ptracer_fn fn, void *arg);
unsigned int ptracer_get_further(struct task_struct *task,
				 struct task_struct *tracers[PTRACER_MAX]);
unsigned int ptracer_get_all(struct task_struct *task,
			     struct task_struct *tracers[PTRACER_ALL]);
void ptracer_put_all(struct task_struct **tracers, unsigned int n);
struct ptracer *ptracer_new(struct task_struct *task,
			    struct task_struct *tracer,
			    const struct cred *cred, unsigned int flags);
void ptracer_free(void *data);
int ptracer_start(struct ptracer *p, bool follows);
void ptracer_control(struct ptracer *p, enum utrace_resume_action action);
int ptracer_set_events(struct ptracer *p);
void ptracer_forget(struct ptracer *p);
void ptracer_keep_pid(struct ptracer *p);

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
bool ptracer_take_trap(struct ptracer *p);
bool ptracer_listens_to_job(const struct ptracer *p);
bool ptracer_take_made(struct ptracer *p, kernel_siginfo_t *info);
bool ptracer_in_job_stop(struct task_struct *task);

/* debugregs.c */
void ptracer_drop_debugregs(struct ptracer *p);

/* wait.c */
void ptracer_notify(struct ptracer *p, struct task_struct *task, int why,
		    int status);
bool ptracer_parent_tells(struct ptracer *p, struct task_struct *task);
void ptracer_died(struct ptracer *p, struct task_struct *task,
		  bool group_dead, bool waits);

/* rights.c */
bool ptracer_intrudes(struct ptracer *p);

#endif /* _KERNEL_UTRACE_PTRACER_H */

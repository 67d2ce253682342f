/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - an engine that writes down how it is called
 */
#ifndef _UTRACE_TESTS_PROBE_H
#define _UTRACE_TESTS_PROBE_H

#include <linux/completion.h>
#include <linux/sched/task.h>
#include <linux/spinlock.h>
#include <linux/utrace.h>
#include <linux/wait.h>

#include "user_task.h"

#define PROBE_CALLS	200

/* Any number: see probe.nr. */
#define PROBE_ANY_NR	INT_MIN

/*
 * Or-ed to an answer: and of the event becomes what @action says, so the
 * probe is not felt.
 */
#define PROBE_KEEP	0x80000000u

struct probe;

/**
 * struct probe_call - one call of a callback
 * @event: which callback, as its event: %_UTRACE_EVENT_SIGNAL for all signals
 * @order: larger than that of any earlier call of any probe
 * @task: the task that was current, for comparison
 * @tid: its id
 * @action: what the callback was told
 * @answer: what it answered
 * @arg: what else it was told:
 *	QUIESCE: event.  SIGNAL: signal number, whether @orig_ka was given.
 *	CLONE: flags, id of the child.  JCTL: type, notify.  SYSCALL_ENTRY:
 *	number, first argument.  SYSCALL_EXIT: number, result.  EXIT:
 *	orig_code, *code.  DEATH: group_dead, signal.  VFORK_DONE: id.
 *	REAP: the task.  EXEC: no format, a program.  CREDS: a program.
 * @regs: during the callback only, as all that follow
 * @info: of a signal
 * @ka: what becomes of it
 * @child: of a clone
 * @code: of an exit
 */
struct probe_call {
	enum utrace_events event;
	unsigned int order;
	struct task_struct *task;
	pid_t tid;
	u32 action;
	u32 answer;
	long arg[2];
	struct pt_regs *regs;
	kernel_siginfo_t *info;
	struct k_sigaction *ka;
	struct task_struct *child;
	long *code;
};

/**
 * struct probe - an engine and what it saw
 * @test: the test it belongs to
 * @engine: the engine, on which it has a reference until the end of the test
 * @target: the task it was attached to; NULL if its scope is wider
 * @nr: do not write down system calls of other numbers, and let them pass
 * @answer: for every event, %UTRACE_RESUME | %PROBE_KEEP if not set
 * @holding: stand by a stop that was asked for: STOP in place of RESUME
 * @hook: called instead, if set, in the callback; returns the answer
 * @other: for @hook: whom to do something to
 * @child: for @hook: the child of a clone, counted until the end of the test
 * @word: for @hook: what to do, and what came of it
 * @begun: for @hook: to say that it began
 * @end: for @hook: to be told when to end
 * @lock: guards @calls and @call
 * @calls: how many callbacks there were, also those not in @call any more
 * @call: what they were called with
 * @attached: how often it was attached
 * @released: how often its engine was released
 * @wait: woken at every call
 */
struct probe {
	struct kunit *test;
	struct utrace_engine *engine;
	struct task_struct *target;
	int nr;
	u32 answer[_UTRACE_NEVENTS];
	bool holding;
	u32 (*hook)(struct probe *p, struct probe_call *c);
	struct probe *other;
	struct task_struct *child;
	long word[12];
	struct completion begun;
	struct completion end;
	/* @calls and @call */
	spinlock_t lock;
	unsigned int calls;
	struct probe_call call[PROBE_CALLS];
	unsigned int attached;
	unsigned int released;
	wait_queue_head_t wait;
};

extern const struct utrace_engine_ops probe_ops;

/* A probe that is not attached yet; its answers may be set. */
struct probe *probe_new(struct kunit *test);
/* Attach it with @flags, CREATE being understood; no events yet. */
int probe_try_attach(struct probe *p, struct task_struct *task, int flags);
int probe_try_attach_system(struct probe *p, int flags);
/* All at once; these end the test if they fail. */
struct probe *probe_attach(struct user_task *t, int flags,
			   unsigned long events);
void probe_set_events(struct probe *p, unsigned long events);
/* The probe is not called after this. */
void probe_detach(struct probe *p);

int probe_control(struct probe *p, enum utrace_resume_action action);
/* Ask for a stop, stand by it until the next probe_control(), and wait. */
void probe_stop(struct probe *p, struct user_task *t);

/* How often was it called for @event, and with what the @nth time? */
unsigned int probe_count(struct probe *p, enum utrace_events event);
bool probe_find(struct probe *p, enum utrace_events event, unsigned int nth,
		struct probe_call *found);
/* The same, for a call that the test cannot do without. */
struct probe_call probe_call(struct probe *p, enum utrace_events event,
			     unsigned int nth);
void probe_forget(struct probe *p);

/* Waits for the @n-th call; false if it did not come in time. */
bool probe_wait(struct probe *p, enum utrace_events event, unsigned int n);
bool probe_wait_released(struct probe *p);
/* Drop the engine of a probe that was detached; false if it is not released. */
bool probe_put(struct probe *p);

/*
 * A hook that takes as long as the test wants: completes @begun, waits for
 * @end, and answers word[0].
 */
u32 probe_take_long(struct probe *p, struct probe_call *c);

#endif /* _UTRACE_TESTS_PROBE_H */

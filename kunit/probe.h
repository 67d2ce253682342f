/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - an engine that records its calls
 *
 * A test attaches probes to user tasks, sets answers or a hook, and checks the
 * calls that the callbacks have recorded.  The end of a test checks that the
 * engine of each probe is released exactly once.
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

/* Every system call number, see probe::nr. */
#define PROBE_ANY_NR	INT_MIN

/*
 * A bit of an answer: the probe adds the event's part of @action, so that its
 * answer does not change the event.
 */
#define PROBE_KEEP	0x80000000u

struct probe;

/**
 * struct probe_call - one call of a callback
 * @event: the event of the callback; %_UTRACE_EVENT_SIGNAL for all signals
 * @order: larger than that of any earlier call of any probe
 * @task: the task that ran the callback, for comparison only
 * @tid: the id of @task
 * @action: argument action of the callback
 * @answer: what the callback returned
 * @arg: the other arguments of the callback:
 *	QUIESCE: event.  SIGNAL: signal number, whether @orig_ka was given.
 *	CLONE: flags, id of the child.  JCTL: type, notify.  SYSCALL_ENTRY:
 *	number, first argument.  SYSCALL_EXIT: number, result.  EXIT:
 *	orig_code, *code.  DEATH: group_dead, signal.  VFORK_DONE: id.
 *	REAP: the task.  EXEC: no format, a program.  CREDS: a program.
 * @regs: argument; valid in probe::hook only, as are the members below
 * @info: argument of report_signal()
 * @ka: argument return_ka of report_signal()
 * @child: argument of report_clone()
 * @code: argument of report_exit()
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
 * struct probe - an engine and the calls of its callbacks
 * @test: the test that the probe belongs to
 * @engine: the engine; the probe has a reference until the end of the test
 * @target: the task of an engine of thread scope, else NULL; not counted
 * @nr: the number of the system calls to record; other calls get an answer that
 *	changes nothing
 * @answer: by event; %UTRACE_RESUME | %PROBE_KEEP unless the test changes it
 * @holding: answer STOP in place of RESUME, since probe_stop() requested a stop
 * @hook: if set, called in the callback to return the answer
 * @other: for @hook: another probe
 * @child: for @hook: the child of a clone; its reference is dropped at the end
 *	of the test
 * @word: for @hook: parameters and results
 * @begun: for @hook: completed when the hook runs
 * @end: for @hook: completed to make the hook return
 * @lock: protects @calls, @call and @released
 * @calls: number of callbacks since probe_forget()
 * @call: a ring of the last calls
 * @attached: how often the probe was attached
 * @released: how often release() was called
 * @wait: woken at every call and by release()
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
	spinlock_t lock;	/* for calls, call, released */
	unsigned int calls;
	struct probe_call call[PROBE_CALLS];
	unsigned int attached;
	unsigned int released;
	wait_queue_head_t wait;
};

extern const struct utrace_engine_ops probe_ops;

/* Create a probe, not attached yet, whose answers the test may set. */
struct probe *probe_new(struct kunit *test);
/*
 * Attach the probe with @flags and UTRACE_ATTACH_CREATE; it wants no events
 * yet.  Returns 0 or the error of the attach.
 */
int probe_try_attach(struct probe *p, struct task_struct *task, int flags);
int probe_try_attach_system(struct probe *p, int flags);
/* Create a probe, attach it and set its events; a failure ends the test. */
struct probe *probe_attach(struct user_task *t, int flags,
			   unsigned long events);
void probe_set_events(struct probe *p, unsigned long events);
/* Detach, and wait: no callback of the probe runs after this. */
void probe_detach(struct probe *p);

int probe_control(struct probe *p, enum utrace_resume_action action);
/* Request a stop that lasts until the next probe_control(), and wait for it. */
void probe_stop(struct probe *p, struct user_task *t);

/* Get the number of recorded calls for @event, or the @nth of them, from 0. */
unsigned int probe_count(struct probe *p, enum utrace_events event);
bool probe_find(struct probe *p, enum utrace_events event, unsigned int nth,
		struct probe_call *found);
/* Call probe_find(), and end the test if there is no such call. */
struct probe_call probe_call(struct probe *p, enum utrace_events event,
			     unsigned int nth);
void probe_forget(struct probe *p);

/* Wait for the @n-th call for @event; false if it is not made in time. */
bool probe_wait(struct probe *p, enum utrace_events event, unsigned int n);
bool probe_wait_released(struct probe *p);
/*
 * Drop the probe's reference after a detach; false if no release() follows in
 * time.
 */
bool probe_put(struct probe *p);

/*
 * A hook that takes as long as the test wants: it completes @begun, waits for
 * @end, and answers word[0].
 */
u32 probe_take_long(struct probe *p, struct probe_call *c);

#endif /* _UTRACE_TESTS_PROBE_H */

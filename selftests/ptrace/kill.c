// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - SIGKILL in each kind of stop of each tracer
 *
 * The task ends, and each tracer and the real parent read why.  The stop is
 * that of one tracer, which the variant's name begins with.
 */
#include "two.h"

enum kind {
	IN_INTERRUPT, IN_SIGNAL, IN_ENTRY, IN_SYSEXIT, IN_STEP, IN_FORK,
	IN_EXEC, IN_EXIT, IN_GROUP, IN_LISTEN,
};

FIXTURE_VARIANT(tracers) {
	enum kind kind;
	bool further;
};

FIXTURE_VARIANT_ADD(tracers, first_interrupt) { IN_INTERRUPT, false };
FIXTURE_VARIANT_ADD(tracers, first_signal) { IN_SIGNAL, false };
FIXTURE_VARIANT_ADD(tracers, first_entry) { IN_ENTRY, false };
FIXTURE_VARIANT_ADD(tracers, first_sysexit) { IN_SYSEXIT, false };
FIXTURE_VARIANT_ADD(tracers, first_step) { IN_STEP, false };
FIXTURE_VARIANT_ADD(tracers, first_fork) { IN_FORK, false };
FIXTURE_VARIANT_ADD(tracers, first_exec) { IN_EXEC, false };
FIXTURE_VARIANT_ADD(tracers, first_group) { IN_GROUP, false };
FIXTURE_VARIANT_ADD(tracers, first_listen) { IN_LISTEN, false };
FIXTURE_VARIANT_ADD(tracers, further_interrupt) { IN_INTERRUPT, true };
FIXTURE_VARIANT_ADD(tracers, further_signal) { IN_SIGNAL, true };
FIXTURE_VARIANT_ADD(tracers, further_entry) { IN_ENTRY, true };
FIXTURE_VARIANT_ADD(tracers, further_sysexit) { IN_SYSEXIT, true };
FIXTURE_VARIANT_ADD(tracers, further_step) { IN_STEP, true };
FIXTURE_VARIANT_ADD(tracers, further_fork) { IN_FORK, true };
FIXTURE_VARIANT_ADD(tracers, further_exec) { IN_EXEC, true };
FIXTURE_VARIANT_ADD(tracers, further_group) { IN_GROUP, true };
FIXTURE_VARIANT_ADD(tracers, further_listen) { IN_LISTEN, true };

/* The kernel lets the first tracer keep a task in this stop. */
FIXTURE_VARIANT_ADD(tracers, further_exit) { IN_EXIT, true };

static long options_for(enum kind kind)
{
	switch (kind) {
	case IN_FORK:
		return PTRACE_O_TRACEFORK;
	case IN_EXEC:
		return PTRACE_O_TRACEEXEC;
	case IN_EXIT:
		return PTRACE_O_TRACEEXIT;
	default:
		return 0;
	}
}

/* Bring the actor to a stop of @one by an event that it asked for. */
static long by_event(struct ut_target *t, struct two_tracer *one,
		     enum kind kind)
{
	actor_do(t, kind == IN_FORK ? ACTOR_FORKS :
		    kind == IN_EXEC ? ACTOR_EXECS : ACTOR_EXITS);
	return two_wait(one, t->pid);
}

/* Bring the actor to a stop of @one after a stop by PTRACE_INTERRUPT. */
static long by_request(struct ut_target *t, struct two_tracer *one,
		       enum kind kind)
{
	long status = two_interrupt(one, t->pid);

	if (status != TWO_TRAP || kind == IN_INTERRUPT)
		return status;
	if (kind == IN_STEP)
		return two_ptrace(one, PTRACE_SINGLESTEP, t->pid, 0) ?:
		       two_wait(one, t->pid);
	if (two_next(one, t->pid))
		return -1;
	actor_do(t, ACTOR_MARKS);
	status = two_wait(one, t->pid);
	if (status < 0 || kind == IN_ENTRY)
		return status;
	return two_next(one, t->pid) ?:
	       two_wait(one, t->pid);
}

/* Bring the actor to a stop by a signal, which @p gets first. */
static long by_signal(struct ut_target *t, struct two_tracer *p,
		      struct two_tracer *s, bool further, int sig)
{
	long status;

	kill(t->pid, sig);
	status = two_wait(p, t->pid);
	if (status != two_stop(sig) || !further)
		return status;
	return two_cont(p, t->pid, sig) ?: two_wait(s, t->pid);
}

/* Bring the actor to a group stop, in which one tracer listens or both. */
static long by_group_stop(struct ut_target *t, struct two_tracer *p,
			  struct two_tracer *s, bool further, enum kind kind)
{
	struct two_tracer *one = further ? s : p;
	long status;

	status = by_signal(t, p, s, true, SIGSTOP);
	if (status != two_stop(SIGSTOP) || two_cont(s, t->pid, SIGSTOP))
		return -1;
	status = two_wait(p, t->pid);
	if (further && status == two_group(SIGSTOP))
		status = two_ptrace(p, PTRACE_LISTEN, t->pid, 0) ?:
			 two_wait(s, t->pid);
	if (kind == IN_LISTEN && status == two_group(SIGSTOP))
		return two_ptrace(one, PTRACE_LISTEN, t->pid, 0) ?: status;
	return status;
}

static long wanted(enum kind kind)
{
	switch (kind) {
	case IN_INTERRUPT:
		return TWO_TRAP;
	case IN_SIGNAL:
		return two_stop(SIGUSR1);
	case IN_FORK:
		return two_event(PTRACE_EVENT_FORK);
	case IN_EXEC:
		return two_event(PTRACE_EVENT_EXEC);
	case IN_EXIT:
		return two_event(PTRACE_EVENT_EXIT);
	case IN_GROUP:
	case IN_LISTEN:
		return two_group(SIGSTOP);
	default:
		return two_stop(SIGTRAP);
	}
}

static long bring(struct ut_target *t, struct two_tracer *p,
		  struct two_tracer *s, bool further, enum kind kind)
{
	struct two_tracer *one = further ? s : p;

	switch (kind) {
	case IN_SIGNAL:
		return by_signal(t, p, s, further, SIGUSR1);
	case IN_FORK:
	case IN_EXEC:
	case IN_EXIT:
		return by_event(t, one, kind);
	case IN_GROUP:
	case IN_LISTEN:
		return by_group_stop(t, p, s, further, kind);
	default:
		return by_request(t, one, kind);
	}
}

/* Kill the actor, and read the status of all. */
static void kill_it(struct __test_metadata *_metadata,
		    struct two_data *self, long ended)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(ended, two_end_of(&self->s, t->pid));
	ASSERT_EQ(ended, two_end_of(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ended, self->status);
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&self->p, t->pid));
}

/*
 * An exit that has begun has its status: SIGKILL ends the stop, and changes
 * nothing else.
 */
TEST_F(tracers, kill_in_a_stop)
{
	bool further = variant->further;
	enum kind kind = variant->kind;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid,
			       further ? 0 : options_for(kind)));
	ASSERT_EQ(0, two_seize(&self->s, t->pid,
			       further ? options_for(kind) : 0));
	ASSERT_EQ(wanted(kind),
		  bring(t, &self->p, &self->s, further, kind));
	kill_it(_metadata, self, kind == IN_EXIT ? two_exit(ACTOR_CODE) :
						   two_killed(SIGKILL));
}

TEST_HARNESS_MAIN

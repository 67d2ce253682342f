/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the places where an engine can stop a task
 *
 * The places are the variants of the fixture "point", for tests of what ends a
 * stop: each event whose answer can be UTRACE_STOP, the end of a step, and a
 * stop that utrace_control() asks for and no callback answers.
 *
 * Two kinds of stop have their tests elsewhere, since another stop must come
 * first: one that the answer to JCTL asks for (jobctl.c), and one that goes on
 * after a ptrace stop (ptrace_coexist.c).
 */
#ifndef UTRACE_STOPPOINT_H
#define UTRACE_STOPPOINT_H

#include <sys/resource.h>

#include "target.h"

enum ut_point {
	UT_AT_CONTROL,		/* utrace_control() on a running task */
	UT_AT_QUIESCE,		/* answer to report_quiesce(0) */
	UT_AT_REPORT,		/* answer to UTRACE_SIGNAL_REPORT */
	UT_AT_ENTRY,
	UT_AT_SYSEXIT,
	UT_AT_CLONE,
	UT_AT_VFORK,		/* CLONE of a vfork() */
	UT_AT_VFORK_DONE,
	UT_AT_CREDS,
	UT_AT_EXEC,
	UT_AT_SIGNAL,		/* the frame of its handler is set up */
	UT_AT_SIGNAL_IGN,
	UT_AT_SIGNAL_STOP,
	UT_AT_SIGNAL_TERM,
	UT_AT_SIGNAL_CORE,
	UT_AT_STEP,
	UT_AT_EXIT,
	UT_AT_EXIT_GROUP,	/* thread that calls exit_group() */
	/* Answers with UTRACE_STOP_HERE. */
	UT_HERE_SYSEXIT,
	UT_HERE_CLONE,
	UT_HERE_VFORK_DONE,
	UT_HERE_EXEC,
};

#define UT_POINT_CODE	41	/* exit code of a target */

static inline void ut_point_handler(int sig)
{
}

/* Function of the target: run into the stop, and end after it. */
static inline int ut_point_target(struct ut_target *t)
{
	struct rlimit no_core = {};

	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGUSR1, ut_point_handler);
	signal(SIGHUP, SIG_IGN);
	ut_helper();
	if (t->arg == UT_AT_EXIT_GROUP && !ut_threads(t, 3))
		return 98;
	ut_say(t);
	/*
	 * This loop makes no system call, so the next call is the tested one.
	 */
	while (!t->sh->go[0])
		t->sh->counter++;
	switch (t->arg) {
	case UT_AT_ENTRY:
	case UT_AT_SYSEXIT:
	case UT_HERE_SYSEXIT:
		ut_mark(0);
		break;
	case UT_AT_CLONE:
	case UT_HERE_CLONE:
		ut_fork_wait(0);
		break;
	case UT_AT_VFORK:
	case UT_AT_VFORK_DONE:
	case UT_HERE_VFORK_DONE:
		if (!vfork())
			_exit(0);
		break;
	case UT_AT_CREDS:
	case UT_AT_EXEC:
	case UT_HERE_EXEC:
		execl(ut_helper(), "helper", "exit", "41", NULL);
		return 97;
	case UT_AT_SIGNAL:
	case UT_AT_SIGNAL_IGN:
	case UT_AT_SIGNAL_STOP:
	case UT_AT_SIGNAL_TERM:
	case UT_AT_SIGNAL_CORE:
	case UT_AT_STEP:
		/* The test sends the signal, or asks for the step. */
		while (!t->sh->quit)
			;
		break;
	default:
		break;
	}
	t->sh->value[0]++;
	return UT_POINT_CODE;
}

static inline enum ut_event ut_point_event(enum ut_point at)
{
	switch (at) {
	case UT_AT_CONTROL:
	case UT_AT_QUIESCE:
		return UT_EV_QUIESCE;
	case UT_AT_REPORT:
		return UT_EV_REPORT;
	case UT_AT_ENTRY:
		return UT_EV_SYSCALL_ENTRY;
	case UT_AT_SYSEXIT:
	case UT_HERE_SYSEXIT:
		return UT_EV_SYSCALL_EXIT;
	case UT_AT_CLONE:
	case UT_AT_VFORK:
	case UT_HERE_CLONE:
		return UT_EV_CLONE;
	case UT_AT_VFORK_DONE:
	case UT_HERE_VFORK_DONE:
		return UT_EV_VFORK_DONE;
	case UT_AT_CREDS:
		return UT_EV_CREDS;
	case UT_AT_EXEC:
	case UT_HERE_EXEC:
		return UT_EV_EXEC;
	case UT_AT_SIGNAL:
		return UT_EV_SIGNAL;
	case UT_AT_SIGNAL_IGN:
	case UT_AT_STEP:
		return UT_EV_SIGNAL_IGN;
	case UT_AT_SIGNAL_STOP:
		return UT_EV_SIGNAL_STOP;
	case UT_AT_SIGNAL_TERM:
		return UT_EV_SIGNAL_TERM;
	case UT_AT_SIGNAL_CORE:
		return UT_EV_SIGNAL_CORE;
	default:
		return UT_EV_EXIT;
	}
}

static inline bool ut_point_is_exit(enum ut_point at)
{
	return at == UT_AT_EXIT || at == UT_AT_EXIT_GROUP;
}

/* Check whether a task that stops at @at never returns to user mode. */
static inline bool ut_point_is_end(enum ut_point at)
{
	return ut_point_is_exit(at) || at == UT_AT_SIGNAL_TERM ||
	       at == UT_AT_SIGNAL_CORE;
}

/* Check whether @status is that of a target that nothing has killed. */
static inline bool ut_point_ended_well(enum ut_point at, int status)
{
	if (at == UT_AT_SIGNAL_TERM)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM;
	if (at == UT_AT_SIGNAL_CORE)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
	return WIFEXITED(status) && WEXITSTATUS(status) == UT_POINT_CODE;
}

static inline int ut_point_match(enum ut_point at)
{
	switch (at) {
	case UT_AT_ENTRY:
	case UT_AT_SYSEXIT:
	case UT_HERE_SYSEXIT:
		return UT_MARK_NR;
	case UT_AT_QUIESCE:
		return 0;
	case UT_AT_STEP:
		return SIGTRAP;
	default:
		return UT_ANY;
	}
}

/*
 * Let a new engine stop @t, which waits in its loop, at @at.  Returns the
 * engine's number, or -1 with the reason on stderr.
 */
static inline int ut_point_stop(struct ut_target *t, enum ut_point at)
{
	int id = ut_attach(t->pid, 0, UT_ALL);
	struct ut_rule rule = {
		.id = id, .event = ut_point_event(at), .count = 1,
		.match = ut_point_match(at), .answer = UT_STOP | UT_PASS |
				(at >= UT_HERE_SYSEXIT ? UT_STOP_HERE : 0),
	};
	int ret = 0;

	if (id < 0) {
		fprintf(stderr, "# attach: %s\n", strerror(-id));
		return -1;
	}
	if (at != UT_AT_CONTROL)
		ret = ut_ioctl(UT_IOC_RULE, &rule);
	switch (at) {
	case UT_AT_CONTROL:
		ret = ut_stop(id, 0);
		break;
	case UT_AT_QUIESCE:
		ret = ut_control(id, 0, UT_REPORT);
		break;
	case UT_AT_REPORT:
		ret = ut_control(id, 0, UT_INTERRUPT);
		break;
	case UT_AT_SIGNAL:
		ret = kill(t->pid, SIGUSR1);
		break;
	case UT_AT_SIGNAL_IGN:
		ret = kill(t->pid, SIGHUP);
		break;
	case UT_AT_SIGNAL_STOP:
		ret = kill(t->pid, SIGSTOP);
		break;
	case UT_AT_SIGNAL_TERM:
		ret = kill(t->pid, SIGTERM);
		break;
	case UT_AT_SIGNAL_CORE:
		ret = kill(t->pid, SIGABRT);
		break;
	case UT_AT_STEP:
		ret = ut_control(id, 0, UT_SINGLESTEP);
		break;
	default:
		break;
	}
	t->sh->go[0] = 1;
	if (ret) {
		fprintf(stderr, "# stop: %d (%s)\n", ret, strerror(-ret));
		return -1;
	}
	if (!ut_held(t->pid)) {
		fprintf(stderr, "# not held: state %c\n", ut_state(t->pid));
		return -1;
	}
	return id;
}

/* Let @t run to its end, once nothing holds it. */
static inline void ut_point_let_end(struct ut_target *t)
{
	t->sh->quit = 1;
	/* SIGCONT drops a stop signal that @t has not acted on yet. */
	if (t->arg == UT_AT_SIGNAL_STOP)
		kill(t->pid, SIGCONT);
}

FIXTURE(point) {
	struct ut_target t;
	int status;
};

FIXTURE_VARIANT(point) {
	enum ut_point at;
};

FIXTURE_VARIANT_ADD(point, control) { .at = UT_AT_CONTROL };
FIXTURE_VARIANT_ADD(point, quiesce) { .at = UT_AT_QUIESCE };
FIXTURE_VARIANT_ADD(point, report) { .at = UT_AT_REPORT };
FIXTURE_VARIANT_ADD(point, entry) { .at = UT_AT_ENTRY };
FIXTURE_VARIANT_ADD(point, syscall_exit) { .at = UT_AT_SYSEXIT };
FIXTURE_VARIANT_ADD(point, clone) { .at = UT_AT_CLONE };
FIXTURE_VARIANT_ADD(point, vfork) { .at = UT_AT_VFORK };
FIXTURE_VARIANT_ADD(point, vfork_done) { .at = UT_AT_VFORK_DONE };
FIXTURE_VARIANT_ADD(point, creds) { .at = UT_AT_CREDS };
FIXTURE_VARIANT_ADD(point, exec) { .at = UT_AT_EXEC };
FIXTURE_VARIANT_ADD(point, signal) { .at = UT_AT_SIGNAL };
FIXTURE_VARIANT_ADD(point, signal_ign) { .at = UT_AT_SIGNAL_IGN };
FIXTURE_VARIANT_ADD(point, signal_stop) { .at = UT_AT_SIGNAL_STOP };
FIXTURE_VARIANT_ADD(point, signal_term) { .at = UT_AT_SIGNAL_TERM };
FIXTURE_VARIANT_ADD(point, signal_core) { .at = UT_AT_SIGNAL_CORE };
FIXTURE_VARIANT_ADD(point, step) { .at = UT_AT_STEP };
FIXTURE_VARIANT_ADD(point, exit) { .at = UT_AT_EXIT };
FIXTURE_VARIANT_ADD(point, exit_group) { .at = UT_AT_EXIT_GROUP };
FIXTURE_VARIANT_ADD(point, syscall_exit_here) { .at = UT_HERE_SYSEXIT };
FIXTURE_VARIANT_ADD(point, clone_here) { .at = UT_HERE_CLONE };
FIXTURE_VARIANT_ADD(point, vfork_done_here) { .at = UT_HERE_VFORK_DONE };
FIXTURE_VARIANT_ADD(point, exec_here) { .at = UT_HERE_EXEC };

FIXTURE_SETUP(point)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	self->t.arg = variant->at;
	ASSERT_TRUE(ut_spawn(&self->t, ut_point_target));
	ASSERT_TRUE(ut_hear(&self->t));
}

FIXTURE_TEARDOWN(point)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

#endif /* UTRACE_STOPPOINT_H */

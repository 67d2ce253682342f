/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the fixture of tests with several tracers
 *
 * The first tracer of a task is @p, and the further tracers are @s and @s2.
 * Each test raises the limit of tracers, and its teardown sets the limit that
 * was there before.
 */
#ifndef UTRACE_TWO_H
#define UTRACE_TWO_H

#include "actor.h"
#include "pass.h"
#include "tracer.h"

#define TWO_SYSCTL	"/proc/sys/kernel/ptrace_max_tracers"
#define TWO_LIMIT	4	/* tracers of a task, in most tests */

/* The random numbers of a process are the same for the same seed. */
static unsigned int two_dice = 1;

/* A random number below @n. */
static inline unsigned int two_any(unsigned int n)
{
	two_dice = two_dice * 1664525U + 1013904223U;
	return (two_dice >> 8) % n;
}

/* One stop of a tracer, and how it goes on; request 0 does not resume. */
struct two_step {
	int status;
	int request;
	int data;
	long message;		/* 0: not checked */
};

#define TWO_END		{ .status = -1 }

/* 1 for a step that was made, 0 for none, < 0 for another than expected. */
static inline int two_advance(struct two_tracer *tr, pid_t pid,
			      const struct two_step **next)
{
	const struct two_step *step = *next;
	long status, message, ret;

	if (step->status == -1)
		return 0;
	status = two_poll(tr, pid);
	if (status == TWO_NONE)
		return 0;
	message = step->message ? two_message(tr, pid) : 0;
	ret = !step->request ? 0 :
	      two_ptrace(tr, step->request, pid, step->data);
	if (status == step->status && message == step->message && !ret) {
		(*next)++;
		return 1;
	}
	printf("# tracer %d: %#lx, not %#x; message %ld, not %ld; resume %ld\n",
	       tr->t.pid, status, step->status, message, step->message, ret);
	return -1;
}

/*
 * Check that two tracers get just these reports.  The order of the reports to
 * one tracer is fixed, the order between the two is not.
 */
static inline bool two_play(pid_t pid, struct two_tracer *a,
			    const struct two_step *of_a, struct two_tracer *b,
			    const struct two_step *of_b)
{
	long end = ut_now_ms() + TWO_WAIT_MS;
	int first, second;

	while (of_a->status != -1 || of_b->status != -1) {
		first = two_advance(a, pid, &of_a);
		second = first < 0 ? 0 : two_advance(b, pid, &of_b);
		if (first < 0 || second < 0)
			return false;
		if (first || second)
			continue;
		if (ut_now_ms() > end) {
			printf("# no report; expected %#x and %#x\n",
			       of_a->status, of_b->status);
			return false;
		}
		ut_sleep_ms(2);
	}
	return true;
}

/* The tracer of two that is the first one to get @status; NULL for none. */
static inline struct two_tracer *two_first(pid_t pid, long status,
					   struct two_tracer *a,
					   struct two_tracer *b)
{
	bool is_a = false, is_b = false;

	ut_until((is_a = two_poll(a, pid) == status) ||
		 (is_b = two_poll(b, pid) == status));
	return is_a ? a : is_b ? b : NULL;
}

/* The tracers of a thread by its file status, "" for less than two. */
static inline const char *two_tracers(pid_t tid)
{
	static char buf[8192];
	char *p, *end;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/status", tid) <= 0)
		return "no file";
	p = strstr(buf, "\nTracers:\t");
	if (!p)
		return "";
	p += strlen("\nTracers:\t");
	end = strchr(p, '\n');
	if (end)
		*end = '\0';
	return p;
}

/* Two pids as two_tracers() returns them. */
static inline const char *two_pair(pid_t a, pid_t b)
{
	static char text[32];

	snprintf(text, sizeof(text), "%d %d", a, b);
	return text;
}

/* The pids of @n tracers as two_tracers() returns them. */
static inline const char *two_pids(struct two_tracer **tr, int n)
{
	static char text[256];
	int i, len = 0;

	for (i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%s%d",
				i ? " " : "", tr[i]->t.pid);
	return text;
}

/* The limit of tracers, or 0 if this kernel has none. */
static inline int two_limit_now(void)
{
	char text[16];

	return ut_read_file(text, sizeof(text), TWO_SYSCTL) > 0 ? atoi(text) : 0;
}

static inline int two_limit(int n)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", n);
	return ut_write_file(TWO_SYSCTL, text);
}

/* The status of the end, after the stops that have not been read. */
static inline long two_end_of(struct two_tracer *tr, pid_t pid)
{
	long status;

	do {
		status = two_wait(tr, pid);
	} while (status >= 0 && WIFSTOPPED(status));
	return status;
}

/*
 * Resume @pid from a stop if there is one, as if the stop had not been, but
 * without the SIGTRAP of a step.  If @listens, the request in a stop of job
 * control is PTRACE_LISTEN.  Returns the status, TWO_NONE or -errno.
 */
static inline long two_pass(struct two_tracer *tr, pid_t pid, bool listens)
{
	long status = two_poll(tr, pid), ret;

	if (status < 0 || !WIFSTOPPED(status))
		return status;
	pid = tr->call->pid;
	if (listens && pass_is_group_stop(status))
		ret = two_ptrace(tr, PTRACE_LISTEN, pid, 0);
	else
		ret = two_cont(tr, pid, status == two_stop(SIGTRAP) ? 0 :
				       pass_signal(status));
	return ret ?: status;
}

/* Check that the real parent reads that @sig has stopped the process. */
static inline bool two_parent_sees(pid_t pid, int sig)
{
	int status;

	return ut_waitpid(pid, &status, WUNTRACED) == 1 &&
	       status == two_stop(sig);
}

/* The data of the fixture, for functions of a test. */
#define two_data _test_data_tracers

FIXTURE(tracers) {
	struct ut_target t;
	struct two_tracer p, s, s2;
	int status;
	int before;		/* the limit before the test */
};

FIXTURE_SETUP(tracers)
{
	self->before = two_limit_now();
	if (!self->before)
		SKIP(return, "no " TWO_SYSCTL);
	ASSERT_TRUE(two_start(&self->p));
	ASSERT_TRUE(two_start(&self->s));
	ASSERT_TRUE(two_start(&self->s2));
	/* This comes last: a setup that fails has no teardown. */
	ASSERT_EQ(0, two_limit(TWO_LIMIT));
}

/*
 * All are killed before one is waited for: the test can reap a tracee after the
 * first tracer is gone.
 */
FIXTURE_TEARDOWN(tracers)
{
	int i;

	if (self->before)
		EXPECT_EQ(0, two_limit(self->before));
	if (self->t.sh)
		self->t.sh->quit = 1;
	/* A number that was reaped may be that of another process by now. */
	for (i = 0; i < ut_npids; i++)
		if (!waitpid(ut_pids[i], NULL, WNOHANG | __WALL))
			kill(ut_pids[i], SIGKILL);
	ut_kill_targets();
}

/* Start an actor with the tracers @p and @s, each with its options. */
static inline bool two_seize_both(struct two_data *self, long of_p, long of_s)
{
	return actor_spawn(&self->t) &&
	       !two_seize(&self->p, self->t.pid, of_p) &&
	       !two_seize(&self->s, self->t.pid, of_s);
}

/* Start an actor with the tracers @p, @s and @s2, in this order. */
static inline bool two_seize_all(struct two_data *self)
{
	return two_seize_both(self, 0, 0) &&
	       !two_seize(&self->s2, self->t.pid, 0);
}

#endif /* UTRACE_TWO_H */

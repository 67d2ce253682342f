// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - Yama knows all tracers of a task
 *
 * With the value 1 of ptrace_scope only ancestors may trace a process of their
 * user, and those that the process names by prctl().  A process that traces
 * another one already may read its memory, whichever tracer it is.
 */
#include "two.h"

#define YAMA_RELATED	"1"	/* the value of ptrace_scope */

/* The next action of a process of nobody. */
enum {
	YAMA_LETS_ANY = 1,	/* trace it */
	YAMA_LETS_NONE,
	YAMA_SEIZES,
	YAMA_READS,		/* the memory of the actor */
};

static pid_t yama_pid;		/* of the actor */
static long yama_secret = 4711;

static long yama_read(void)
{
	long got = 0;
	struct iovec here = { &got, sizeof(got) };
	struct iovec there = { &yama_secret, sizeof(yama_secret) };

	if (process_vm_readv(yama_pid, &here, 1, &there, 1, 0) < 0)
		return -errno;
	return got == yama_secret ? 0 : -EIO;
}

static long yama_act(int what)
{
	switch (what) {
	case YAMA_LETS_ANY:
		return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY) ? -errno : 0;
	case YAMA_LETS_NONE:
		return prctl(PR_SET_PTRACER, 0) ? -errno : 0;
	case YAMA_SEIZES:
		return ptrace(PTRACE_SEIZE, yama_pid, 0, 0) ? -errno : 0;
	}
	return yama_read();
}

/* Function of a target: a process of nobody that does what the test wants. */
static int yama_serve(struct ut_target *t)
{
	if (!two_become(TWO_NOBODY))
		return 99;
	ut_say(t);
	for (;;) {
		ut_await(t);
		t->sh->value[0] = yama_act(t->sh->go[0]);
		ut_say(t);
	}
}

static bool yama_start(struct ut_target *t)
{
	return ut_spawn(t, yama_serve) && ut_hear(t);
}

/* 0 or -errno of the action. */
static long yama_does(struct ut_target *t, int what)
{
	t->sh->go[0] = what;
	return ut_go(t) && ut_hear(t) ? t->sh->value[0] : -ETIME;
}

FIXTURE(yama) {
	struct ut_target t, first, further, other;
	char limit[16];
	char scope[16];
};

FIXTURE_SETUP(yama)
{
	if (ut_read_file(self->limit, sizeof(self->limit), TWO_SYSCTL) <= 0)
		SKIP(return, "no " TWO_SYSCTL);
	if (ut_read_file(self->scope, sizeof(self->scope), TWO_YAMA) <= 0)
		SKIP(return, "no Yama (" TWO_YAMA ")");
	if (ut_write_file(TWO_YAMA, YAMA_RELATED)) {
		self->scope[0] = '\0';
		SKIP(return, "ptrace_scope cannot be changed");
	}
	EXPECT_EQ(0, two_limit(TWO_LIMIT));
	EXPECT_TRUE(yama_start(&self->t));
	yama_pid = self->t.pid;
	EXPECT_TRUE(yama_start(&self->first));
	EXPECT_TRUE(yama_start(&self->further));
	EXPECT_TRUE(yama_start(&self->other));
}

FIXTURE_TEARDOWN(yama)
{
	if (!self->scope[0])
		return;
	EXPECT_EQ(0, ut_write_file(TWO_SYSCTL, self->limit));
	EXPECT_EQ(0, ut_write_file(TWO_YAMA, self->scope));
	/* The end of the actor is reported when its first tracer is gone. */
	kill(self->first.pid, SIGKILL);
	ut_kill_targets();
}

/* A tracer beside other tracers needs the right to trace these, too. */
TEST_F(yama, further_tracer_of_a_first_one)
{
	EXPECT_EQ(-EPERM, yama_does(&self->first, YAMA_SEIZES));
	EXPECT_EQ(0, yama_does(&self->t, YAMA_LETS_ANY));
	EXPECT_EQ(0, yama_does(&self->first, YAMA_SEIZES));
	EXPECT_EQ(-EPERM, yama_does(&self->further, YAMA_SEIZES));
	EXPECT_STREQ("", two_tracers(yama_pid));
	EXPECT_EQ(0, yama_does(&self->first, YAMA_LETS_ANY));
	EXPECT_EQ(0, yama_does(&self->further, YAMA_SEIZES));
	EXPECT_STREQ(two_pair(self->first.pid, self->further.pid),
		     two_tracers(yama_pid));
}

/* A tracer may read the memory when the task lets nobody trace it. */
TEST_F(yama, memory)
{
	EXPECT_EQ(-EPERM, yama_does(&self->other, YAMA_READS));
	EXPECT_EQ(0, yama_does(&self->t, YAMA_LETS_ANY));
	EXPECT_EQ(0, yama_does(&self->other, YAMA_READS));
	EXPECT_EQ(0, yama_does(&self->first, YAMA_SEIZES));
	EXPECT_EQ(0, yama_does(&self->first, YAMA_LETS_ANY));
	EXPECT_EQ(0, yama_does(&self->further, YAMA_SEIZES));
	EXPECT_EQ(0, yama_does(&self->t, YAMA_LETS_NONE));
	EXPECT_EQ(0, yama_does(&self->first, YAMA_READS));
	EXPECT_EQ(0, yama_does(&self->further, YAMA_READS));
	EXPECT_EQ(-EPERM, yama_does(&self->other, YAMA_READS));
	EXPECT_EQ(-EPERM, yama_does(&self->other, YAMA_SEIZES));
}

TEST_HARNESS_MAIN

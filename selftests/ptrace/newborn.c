// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - who attaches first to a child of a tracee
 *
 * A tracer with rights follows the tracee.  A process of the user of the tracee
 * may not trace this tracer, so it has no right to trace a task beside it.
 * That holds for the children from their birth.
 */
#include "sole.h"

#define STORM_MS	(ut_is_slow() ? 4000 : 2000)
#define AHEAD		3	/* numbers that the attacker tries */

/* Elements of ut_shared.value: of the tracee, and of the attacker. */
enum { BORN, LAST };
enum { TRIES, LET_IN };

static struct ut_shared *tracee;

static void *ends(void *arg)
{
	tracee->value[LAST] = ut_gettid();
	return arg;
}

/* Give birth to one task, and wait for its end; its number. */
static pid_t birth(unsigned int how)
{
	pthread_t thread;
	pid_t pid;

	if (how % 3 == 0) {
		if (pthread_create(&thread, NULL, ends, NULL))
			return -1;
		pthread_join(thread, NULL);
		return tracee->value[LAST];
	}
	pid = how % 3 == 1 ? fork() : vfork();
	if (!pid)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid;
}

/* Function of a target: the tracee. */
static int gives_birth(struct ut_target *t)
{
	unsigned int n = 0;
	pid_t pid;

	tracee = t->sh;
	two_block(SIGCHLD);
	if (!two_become(TWO_NOBODY))
		return 97;
	t->sh->value[LAST] = getpid();
	ut_say(t);
	while (!t->sh->go[0])
		t->sh->counter++;
	while (!t->sh->go[1]) {
		pid = birth(n++);
		if (pid < 0)
			continue;
		t->sh->value[LAST] = pid;
		t->sh->value[BORN]++;
	}
	t->sh->go[2] = 1;
	return ut_spin(t);
}

/* Function of a target: attach to the tasks that are born next. */
static int attacks(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	long request = PTRACE_SEIZE, born;
	pid_t pid;
	int i;

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!sh->quit) {
		/* Before the first birth, other processes have the numbers. */
		born = tracee->value[BORN];
		pid = tracee->value[LAST];
		for (i = 1; i <= AHEAD; i++) {
			if (!ptrace(request, pid + i, 0, 0)) {
				/* The tracee goes on without this tracer. */
				sh->value[LET_IN] = pid + i;
				return 1;
			}
			if (errno == EPERM && born)
				sh->value[TRIES]++;
		}
		request = request == PTRACE_SEIZE ? PTRACE_ATTACH :
						    PTRACE_SEIZE;
	}
	return 0;
}

TEST_F(tracers, attack_on_newborns)
{
	struct ut_target follower = {}, attacker = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(ut_spawn(t, gives_birth));
	ASSERT_TRUE(ut_hear(t));
	tracee = t->sh;
	ASSERT_TRUE(sole_follow(self, variant, &follower));
	ASSERT_TRUE(ut_spawn(&attacker, attacks));
	ASSERT_TRUE(ut_hear(&attacker));
	t->sh->go[0] = 1;
	ut_sleep_ms(STORM_MS);
	t->sh->go[1] = 1;
	EXPECT_TRUE(ut_until(t->sh->go[2]));
	attacker.sh->quit = 1;
	ASSERT_TRUE(ut_reap(&attacker, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(0, attacker.sh->value[LET_IN]);
	EXPECT_LT(0, t->sh->value[BORN]);
	EXPECT_LT(0, attacker.sh->value[TRIES]);
	EXPECT_EQ(t->sh->value[BORN], follower.sh->value[SOLE_EVENTS]);
	EXPECT_EQ(t->sh->value[BORN], follower.sh->value[SOLE_CHILDREN]);
	TH_LOG("%ld born, %ld tries", t->sh->value[BORN],
	       attacker.sh->value[TRIES]);
}

TEST_HARNESS_MAIN

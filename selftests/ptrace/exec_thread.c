// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an execve() of a thread that succeeds or is killed
 */
#include "exec_thread.h"

#define ROUNDS	20
#define RACE_MS	(ut_is_slow() ? 4000 : 2000)
#define RACE_US	5000	/* an execve() of the helper takes less */

static void succeeds(struct __test_metadata *_metadata, struct ut_target *t,
		     const struct scene *sc)
{
	struct two_tracer *tr;
	int i, status;
	pid_t tid;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(exec_setup());
	ASSERT_TRUE(exec_start(t));
	tid = t->sh->tid[1];
	ASSERT_TRUE(exec_attach(t, sc));
	t->sh->go[1] = GOOD_FILE;
	for (i = 0; (tr = tracer_of(sc, i)); i++) {
		ASSERT_EQ(two_event(PTRACE_EVENT_EXEC), two_wait(tr, -1));
		EXPECT_EQ(t->pid, tr->call->pid);
		EXPECT_EQ(tid, two_message(tr, t->pid));
		EXPECT_EQ(-ESRCH, two_cont(tr, tid, 0));
		ASSERT_EQ(0, two_cont(tr, t->pid, 0));
	}
	EXPECT_TRUE(is_free(tid));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_pause)));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_TRUE(all_are_told_end(sc, t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(two_killed(SIGKILL), status);
	EXPECT_TRUE(is_free(t->pid));
	EXPECT_TRUE(is_free(tid));
}

TEST_F(tracers, succeeds_under_the_first)
{
	static const struct scene sc = {
		.stays = true, .options = PTRACE_O_TRACEEXEC, .leader = true,
	};

	succeeds(_metadata, &self->t, &sc);
}

TEST_F(tracers, succeeds)
{
	static const struct scene sc = {
		.further = 2, .options = PTRACE_O_TRACEEXEC,
	};

	succeeds(_metadata, &self->t, &sc);
}

TEST_F(tracers, succeeds_beside_a_traced_leader)
{
	static const struct scene sc = {
		.further = 2, .options = PTRACE_O_TRACEEXEC, .leader = true,
	};

	succeeds(_metadata, &self->t, &sc);
}

/* Read all of a task that was killed; the number of ends, or < 0. */
static int read_ends(struct two_tracer *tr)
{
	long status;
	int n = 0;

	while ((status = two_wait(tr, -1)) >= 0)
		n += WIFSIGNALED(status);
	return status == -ECHILD ? n : -1;
}

/* SIGKILL comes before, in or after the execve(). */
static bool race(struct ut_target *t, const struct scene *sc, int file)
{
	struct two_tracer *tr;
	int status, ends, i;
	pid_t tid;
	bool good;

	if (!exec_start(t) || !exec_attach(t, sc))
		return false;
	tid = t->sh->tid[1];
	t->sh->go[1] = file;
	usleep(two_any(RACE_US));
	good = !kill(t->pid, SIGKILL);
	for (i = 0; (tr = tracer_of(sc, i)); i++) {
		ends = read_ends(tr);
		/* A leader that the execve() did not end has its own end. */
		if (ends == 1 || (sc->leader && ends == 2))
			continue;
		printf("# %d ends after SIGKILL\n", ends);
		good = false;
	}
	return ut_reap(t, &status) && good && is_free(tid) && is_free(t->pid);
}

static void killed_meanwhile(struct __test_metadata *_metadata,
			     struct ut_target *t, const struct scene *scenes,
			     int n)
{
	int rounds = 0;
	bool good;
	long end;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(exec_setup());
	end = ut_now_ms() + RACE_MS;
	do {
		good = race(t, &scenes[rounds / 2 % n],
			    rounds & 1 ? GOOD_FILE : BAD_FILE);
		rounds++;
	} while (good && (ut_now_ms() < end || rounds < ROUNDS));
	EXPECT_TRUE(good) {
		TH_LOG("round %d", rounds);
	}
	TH_LOG("%d rounds", rounds);
}

TEST_F(tracers, killed_under_the_first)
{
	static const struct scene scenes[] = {
		{ .stays = true },
		{ .stays = true, .leader = true },
	};

	killed_meanwhile(_metadata, &self->t, scenes, ARRAY_SIZE(scenes));
}

TEST_F(tracers, killed_under_further_ones)
{
	static const struct scene scenes[] = {
		{ .further = 1 },
		{ .further = 2 },
		{ .further = 1, .leader = true },
		{ .further = 1, .stays = true },
	};

	killed_meanwhile(_metadata, &self->t, scenes, ARRAY_SIZE(scenes));
}

TEST_HARNESS_MAIN

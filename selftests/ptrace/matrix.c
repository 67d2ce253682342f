// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - each way to attach, as the first tracer and as a further
 * tracer
 *
 * A table for each event has the reports that each of the two tracers gets.
 * They depend on whether the tracer is the first, and on whether it has used
 * PTRACE_SEIZE.  A tracer by PTRACE_TRACEME is the task's real parent.
 */
#include "two.h"

#define STEPS	4		/* of a tracer at most, with TWO_END */
#define ENDED	two_exit(ACTOR_CODE)

enum { FIRST, FURTHER };
enum { PLAIN, SEIZED };

enum way { BY_ATTACH, BY_SEIZE, BY_TRACEME };

/* A task has one real parent, so there is no PTRACE_TRACEME for both. */
FIXTURE_VARIANT(tracers) {
	enum way way[2];
};

FIXTURE_VARIANT_ADD(tracers, attach_attach) { { BY_ATTACH, BY_ATTACH } };
FIXTURE_VARIANT_ADD(tracers, attach_seize) { { BY_ATTACH, BY_SEIZE } };
FIXTURE_VARIANT_ADD(tracers, attach_traceme) { { BY_ATTACH, BY_TRACEME } };
FIXTURE_VARIANT_ADD(tracers, seize_attach) { { BY_SEIZE, BY_ATTACH } };
FIXTURE_VARIANT_ADD(tracers, seize_seize) { { BY_SEIZE, BY_SEIZE } };
FIXTURE_VARIANT_ADD(tracers, seize_traceme) { { BY_SEIZE, BY_TRACEME } };
FIXTURE_VARIANT_ADD(tracers, traceme_attach) { { BY_TRACEME, BY_ATTACH } };
FIXTURE_VARIANT_ADD(tracers, traceme_seize) { { BY_TRACEME, BY_SEIZE } };

/* The first tracer and the further one, and whether they seized the task. */
static struct two_tracer *tr[2];
static bool seized[2];
/* A tracer of the test, if one of the two is the real parent. */
static struct two_tracer parent;

/* Choose the tracers of a variant, and start the task. */
static bool start(struct two_data *self, const enum way *way)
{
	bool traceme = false;
	int i;

	tr[FIRST] = &self->p;
	tr[FURTHER] = &self->s;
	for (i = FIRST; i <= FURTHER; i++) {
		seized[i] = way[i] == BY_SEIZE;
		if (way[i] != BY_TRACEME)
			continue;
		tr[i] = &parent;
		traceme = true;
	}
	if (traceme)
		return two_start_parent(&parent, 0, &self->t, actor);
	return actor_spawn(&self->t);
}

static bool comes(struct ut_target *t, int i, enum way way)
{
	switch (way) {
	case BY_ATTACH:
		return !two_ptrace(tr[i], PTRACE_ATTACH, t->pid, 0) &&
		       two_wait(tr[i], t->pid) == two_stop(SIGSTOP) &&
		       !two_cont(tr[i], t->pid, 0);
	case BY_SEIZE:
		return !two_seize(tr[i], t->pid, 0);
	case BY_TRACEME:
		return !two_traceme(t);
	}
	return false;
}

/* Start an actor with both tracers. */
static bool both_come(struct two_data *self, const enum way *way)
{
	struct ut_target *t = &self->t;

	return start(self, way) && comes(t, FIRST, way[FIRST]) &&
	       comes(t, FURTHER, way[FURTHER]) &&
	       (!parent.t.pid || two_begin(t)) && ut_runs(t);
}

/* Check that both tracers get what the table has for their ways to attach. */
static bool play(pid_t pid, const struct two_step table[2][2][STEPS])
{
	return two_play(pid, tr[FIRST], table[FIRST][seized[FIRST]],
			tr[FURTHER], table[FURTHER][seized[FURTHER]]);
}

/* Let a tracer set options, or go on otherwise, at a signal that is ignored. */
static bool set_up(int i, pid_t pid, long options, long request)
{
	return two_wait(tr[i], pid) == two_stop(SIGHUP) &&
	       !two_ptrace(tr[i], PTRACE_SETOPTIONS, pid, options) &&
	       !two_ptrace(tr[i], request, pid, SIGHUP);
}

static bool set_up_both(pid_t pid, long options, long request)
{
	return !kill(pid, SIGHUP) && set_up(FIRST, pid, options, request) &&
	       set_up(FURTHER, pid, options, request);
}

static bool both_quiet(pid_t pid)
{
	return two_quiet(tr[FIRST], pid) && two_quiet(tr[FURTHER], pid);
}

/* All have read the end of the task, and it is not reported again. */
static void all_over(struct __test_metadata *_metadata, struct ut_target *t,
		     int ended)
{
	int status = -1;

	EXPECT_EQ(-ECHILD, two_poll(tr[FIRST], t->pid));
	EXPECT_EQ(-ECHILD, two_poll(tr[FURTHER], t->pid));
	if (parent.t.pid) {
		EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &status, __WALL));
		return;
	}
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(ended, status);
}

/* The first tracer passes a signal on, and drops the next one. */
static const struct two_step signals[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_CONT, SIGUSR1 },
		{ two_stop(SIGUSR2), PTRACE_CONT },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_CONT, SIGUSR1 },
		TWO_END
	},
};

TEST_F(tracers, signal)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	EXPECT_STREQ(two_pids(tr, 2), two_tracers(t->pid));
	/* Nothing of the attach is left over. */
	EXPECT_TRUE(both_quiet(t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	ASSERT_TRUE(play(t->pid, signals));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(both_quiet(t->pid));
	EXPECT_EQ(0, t->sh->value[ACTOR_USR2]);
}

/* The message distinguishes the entry from the exit. */
static const struct two_step calls[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGTRAP), PTRACE_SYSCALL, 0, 1 },
		{ two_stop(SIGTRAP), PTRACE_CONT, 0, 2 },
		TWO_END
	},
};

TEST_F(tracers, syscall)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_TRUE(set_up_both(t->pid, 0, PTRACE_SYSCALL));
	actor_do(t, ACTOR_MARKS);
	ASSERT_TRUE(play(t->pid, calls));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(both_quiet(t->pid));
}

/* The traps are for the tracer that makes the steps. */
static const struct two_step first_steps[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGHUP), PTRACE_SINGLESTEP, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGHUP), PTRACE_CONT, SIGHUP },
		TWO_END
	},
}, further_steps[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGHUP), PTRACE_CONT, SIGHUP },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGHUP), PTRACE_SINGLESTEP, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	},
};

TEST_F(tracers, step)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_TRUE(play(t->pid, first_steps));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_TRUE(play(t->pid, further_steps));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(both_quiet(t->pid));
}

static const struct two_step forks[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN ... SEIZED] = {
		{ two_event(PTRACE_EVENT_FORK), PTRACE_CONT },
		TWO_END
	},
};

/* The first tracer's SIGSTOP is a signal, but the tracer drops it. */
static const struct two_step children[2][2][STEPS] = {
	[FIRST][PLAIN] = {
		{ two_stop(SIGSTOP), PTRACE_CONT },
		{ two_exit(ACTOR_CHILD_CODE) },
		TWO_END
	},
	[FIRST][SEIZED] = {
		{ TWO_TRAP, PTRACE_CONT },
		{ two_exit(ACTOR_CHILD_CODE) },
		TWO_END
	},
	[FURTHER][PLAIN] = {
		{ two_stop(SIGSTOP), PTRACE_CONT },
		{ two_exit(ACTOR_CHILD_CODE) },
		TWO_END
	},
	[FURTHER][SEIZED] = {
		{ TWO_TRAP, PTRACE_CONT },
		{ two_exit(ACTOR_CHILD_CODE) },
		TWO_END
	},
};

TEST_F(tracers, fork)
{
	struct ut_target *t = &self->t;
	pid_t child;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_TRUE(set_up_both(t->pid, PTRACE_O_TRACEFORK, PTRACE_CONT));
	actor_do(t, ACTOR_FORKS);
	ASSERT_TRUE(play(t->pid, forks));
	ASSERT_TRUE(ut_until(t->sh->value[ACTOR_CHILD]));
	child = t->sh->value[ACTOR_CHILD];
	EXPECT_EQ(tr[FIRST]->t.pid, ut_status(child, "TracerPid:"));
	t->sh->go[1] = 1;
	ASSERT_TRUE(play(child, children));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), t->sh->value[ACTOR_STATUS]);
	EXPECT_EQ(-ECHILD, two_poll(tr[FIRST], child));
	EXPECT_EQ(-ECHILD, two_poll(tr[FURTHER], child));
	EXPECT_TRUE(both_quiet(t->pid));
}

/* The first tracer's SIGTRAP is a signal, which the tracer drops here. */
static const struct two_step execs[2][2][STEPS] = {
	[FIRST][PLAIN] = {
		{ two_stop(SIGTRAP), PTRACE_CONT },
		{ ENDED },
		TWO_END
	},
	[FIRST][SEIZED] = {
		{ ENDED },
		TWO_END
	},
	[FURTHER][PLAIN] = {
		{ two_stop(SIGTRAP), PTRACE_CONT },
		{ ENDED },
		TWO_END
	},
	[FURTHER][SEIZED] = {
		{ ENDED },
		TWO_END
	},
};

TEST_F(tracers, exec)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	actor_do(t, ACTOR_EXECS);
	ASSERT_TRUE(play(t->pid, execs));
	all_over(_metadata, t, ENDED);
}

/* The further tracer gets the first one's SIGTRAP besides its own. */
static const struct two_step passes_exec[2][2][STEPS] = {
	[FIRST][PLAIN] = {
		{ two_stop(SIGTRAP), PTRACE_CONT, SIGTRAP },
		{ ENDED },
		TWO_END
	},
	[FURTHER][PLAIN] = {
		{ two_stop(SIGTRAP), PTRACE_CONT },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		{ ENDED },
		TWO_END
	},
	[FURTHER][SEIZED] = {
		{ two_stop(SIGTRAP), PTRACE_CONT },
		{ ENDED },
		TWO_END
	},
};

TEST_F(tracers, exec_is_passed_on)
{
	struct ut_target *t = &self->t;

	if (variant->way[FIRST] == BY_SEIZE)
		SKIP(return, "PTRACE_SEIZE makes no signal to pass on");
	ASSERT_TRUE(both_come(self, variant->way));
	actor_do(t, ACTOR_EXECS);
	ASSERT_TRUE(play(t->pid, passes_exec));
	all_over(_metadata, t, ENDED);
}

/* The event takes the place of SIGTRAP. */
static const struct two_step exec_events[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN ... SEIZED] = {
		{ two_event(PTRACE_EVENT_EXEC), PTRACE_CONT },
		{ ENDED },
		TWO_END
	},
};

TEST_F(tracers, exec_event)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_TRUE(set_up_both(t->pid, PTRACE_O_TRACEEXEC, PTRACE_CONT));
	actor_do(t, ACTOR_EXECS);
	ASSERT_TRUE(play(t->pid, exec_events));
	all_over(_metadata, t, ENDED);
}

static const struct two_step exits[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN ... SEIZED] = {
		{ two_event(PTRACE_EVENT_EXIT), PTRACE_CONT, 0, ENDED },
		{ ENDED },
		TWO_END
	},
};

TEST_F(tracers, exit)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_TRUE(set_up_both(t->pid, PTRACE_O_TRACEEXIT, PTRACE_CONT));
	actor_do(t, ACTOR_EXITS);
	ASSERT_TRUE(play(t->pid, exits));
	all_over(_metadata, t, ENDED);
}

/* Both tracers pass the signal, and then both get the stop. */
static const struct two_step group_stops[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN] = {
		{ two_stop(SIGSTOP), PTRACE_CONT, SIGSTOP },
		{ two_stop(SIGSTOP) },
		TWO_END
	},
	[FIRST ... FURTHER][SEIZED] = {
		{ two_stop(SIGSTOP), PTRACE_CONT, SIGSTOP },
		{ two_group(SIGSTOP), PTRACE_LISTEN },
		TWO_END
	},
}, continues[2][2][STEPS] = {
	[FIRST ... FURTHER][PLAIN] = {
		{ two_stop(SIGCONT), PTRACE_CONT, SIGCONT },
		TWO_END
	},
	[FIRST ... FURTHER][SEIZED] = {
		{ TWO_TRAP, PTRACE_CONT },
		{ two_stop(SIGCONT), PTRACE_CONT, SIGCONT },
		TWO_END
	},
};

/* A group stop without PTRACE_SEIZE has no siginfo. */
static void no_siginfo(struct __test_metadata *_metadata, pid_t pid)
{
	siginfo_t info = { .si_signo = SIGSTOP };
	int i;

	for (i = FIRST; i <= FURTHER; i++) {
		if (seized[i])
			continue;
		EXPECT_EQ(-EINVAL, two_copy(tr[i], PTRACE_SETSIGINFO, pid, 0,
					    &info, sizeof(info)));
		EXPECT_EQ(-EINVAL, two_siginfo(tr[i], pid, &info));
	}
}

/*
 * PTRACE_CONT of a further tracer lets the task run if the first tracer listens.  If
 * the first tracer does not listen, the task stays in the first tracer's stop.
 */
TEST_F(tracers, group_stop)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(both_come(self, variant->way));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(play(t->pid, group_stops));
	no_siginfo(_metadata, t->pid);
	if (!seized[FURTHER])
		ASSERT_EQ(0, two_cont(tr[FURTHER], t->pid, 0));
	EXPECT_TRUE(seized[FIRST] && !seized[FURTHER] ? ut_runs(t) :
							ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	if (!seized[FIRST])
		ASSERT_EQ(0, two_cont(tr[FIRST], t->pid, 0));
	ASSERT_TRUE(play(t->pid, continues));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(both_quiet(t->pid));
}

/* The tracer that detaches delivers the signal, and sees no other signal. */
static const struct two_step first_detaches[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_DETACH, SIGUSR1 },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_CONT, SIGUSR1 },
		{ two_stop(SIGUSR2), PTRACE_CONT, SIGUSR2 },
		TWO_END
	},
}, further_detaches[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_CONT, SIGUSR1 },
		{ two_stop(SIGUSR2), PTRACE_CONT, SIGUSR2 },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGUSR1), PTRACE_DETACH, SIGUSR1 },
		TWO_END
	},
};

static void one_detaches(struct __test_metadata *_metadata,
			 struct ut_target *t, int one,
			 const struct two_step table[2][2][STEPS])
{
	/* The real parent still has a child. */
	long none = tr[one] == &parent ? TWO_NONE : -ECHILD;

	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	ASSERT_TRUE(play(t->pid, table));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1 &&
			     t->sh->value[ACTOR_USR2] == 1));
	EXPECT_EQ(tr[!one]->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(none, two_poll(tr[one], t->pid));
	EXPECT_EQ(-ESRCH, two_cont(tr[one], t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(tr[!one], t->pid));
}

TEST_F(tracers, first_detaches)
{
	ASSERT_TRUE(both_come(self, variant->way));
	one_detaches(_metadata, &self->t, FIRST, first_detaches);
}

TEST_F(tracers, further_detaches)
{
	ASSERT_TRUE(both_come(self, variant->way));
	one_detaches(_metadata, &self->t, FURTHER, further_detaches);
}

/* The task gets SIGTERM when one tracer is dead. */
static const struct two_step first_is_dead[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = { TWO_END },
	[FURTHER][PLAIN ... SEIZED] = {
		{ two_stop(SIGTERM), PTRACE_CONT, SIGTERM },
		{ two_killed(SIGTERM) },
		TWO_END
	},
}, further_is_dead[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = {
		{ two_stop(SIGTERM), PTRACE_CONT, SIGTERM },
		{ two_killed(SIGTERM) },
		TWO_END
	},
	[FURTHER][PLAIN ... SEIZED] = { TWO_END },
};

static void dies(struct __test_metadata *_metadata, int one)
{
	int status;

	ASSERT_EQ(0, kill(tr[one]->t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&tr[one]->t, &status));
}

/* The real parent, the test or the tracer that lives, reads the end once. */
static void parent_is_told(struct __test_metadata *_metadata,
			   struct ut_target *t, int one, int ended)
{
	int status = -1;

	EXPECT_EQ(-ECHILD, two_poll(tr[!one], t->pid));
	if (tr[!one] == &parent)
		return;
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(ended, status);
}

static void one_dies(struct __test_metadata *_metadata, struct ut_target *t,
		     int one, const struct two_step table[2][2][STEPS])
{
	dies(_metadata, one);
	EXPECT_TRUE(ut_until(ut_status(t->pid, "TracerPid:") ==
			     tr[!one]->t.pid));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(tr[!one], t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(play(t->pid, table));
	parent_is_told(_metadata, t, one, two_killed(SIGTERM));
}

TEST_F(tracers, first_dies)
{
	ASSERT_TRUE(both_come(self, variant->way));
	one_dies(_metadata, &self->t, FIRST, first_is_dead);
}

TEST_F(tracers, further_dies)
{
	ASSERT_TRUE(both_come(self, variant->way));
	one_dies(_metadata, &self->t, FURTHER, further_is_dead);
}

/*
 * The option of the tracer that dies ends the task for the other tracer, too.
 */
static const struct two_step first_kills[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = { TWO_END },
	[FURTHER][PLAIN ... SEIZED] = { { two_killed(SIGKILL) }, TWO_END },
}, further_kills[2][2][STEPS] = {
	[FIRST][PLAIN ... SEIZED] = { { two_killed(SIGKILL) }, TWO_END },
	[FURTHER][PLAIN ... SEIZED] = { TWO_END },
};

static void exitkill(struct __test_metadata *_metadata, struct ut_target *t,
		     int one, const struct two_step table[2][2][STEPS])
{
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_TRUE(set_up(FIRST, t->pid,
			   one == FIRST ? PTRACE_O_EXITKILL : 0, PTRACE_CONT));
	ASSERT_TRUE(set_up(FURTHER, t->pid,
			   one == FURTHER ? PTRACE_O_EXITKILL : 0,
			   PTRACE_CONT));
	dies(_metadata, one);
	ASSERT_TRUE(play(t->pid, table));
	parent_is_told(_metadata, t, one, two_killed(SIGKILL));
}

TEST_F(tracers, exitkill_of_the_first)
{
	ASSERT_TRUE(both_come(self, variant->way));
	exitkill(_metadata, &self->t, FIRST, first_kills);
}

TEST_F(tracers, exitkill_of_the_further)
{
	ASSERT_TRUE(both_come(self, variant->way));
	exitkill(_metadata, &self->t, FURTHER, further_kills);
}

/* An impossible pair: the real parent would attach twice. */
TEST_F(tracers, traceme_twice)
{
	const enum way *way = variant->way;
	struct ut_target *t = &self->t;

	if (way[FIRST] != BY_TRACEME && way[FURTHER] != BY_TRACEME)
		SKIP(return, "the real parent is no tracer here");
	ASSERT_TRUE(start(self, way));
	ASSERT_TRUE(comes(t, FIRST, way[FIRST]));
	if (way[FIRST] == BY_TRACEME) {
		EXPECT_EQ(-EPERM, two_traceme(t));
		EXPECT_STREQ("", two_tracers(t->pid));
	}
	ASSERT_TRUE(comes(t, FURTHER, way[FURTHER]));
	EXPECT_EQ(-EPERM, two_traceme(t));
	EXPECT_EQ(tr[FIRST]->t.pid, ut_status(t->pid, "TracerPid:"));
	ASSERT_TRUE(two_begin(t));
	EXPECT_TRUE(both_quiet(t->pid));
}

TEST_HARNESS_MAIN

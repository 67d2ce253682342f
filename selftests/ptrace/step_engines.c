// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - where a step of an engine ends
 *
 * An engine of the test module asks for a step in a report: of a system call,
 * a clone, an exec or a signal.  The step ends at the same instruction as the
 * step of a tracer, which steps.c tests.
 */
#include "step.h"

FIXTURE(engine) {
	struct ut_target t;
	int id;
};

FIXTURE_VARIANT(engine) {
	__u32 action;	/* that makes the step */
	bool stops;	/* the engine stops the task at the event first */
};

#define engine_data	_test_data_engine
#define engine_variant	_fixture_variant_engine

FIXTURE_VARIANT_ADD(engine, answers_step) { .action = UT_SINGLESTEP };
FIXTURE_VARIANT_ADD(engine, answers_block_step) { .action = UT_BLOCKSTEP };

FIXTURE_VARIANT_ADD(engine, stops_and_steps)
{
	.action = UT_SINGLESTEP, .stops = true,
};

FIXTURE_VARIANT_ADD(engine, stops_and_steps_by_blocks)
{
	.action = UT_BLOCKSTEP, .stops = true,
};

FIXTURE_SETUP(engine)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
}

FIXTURE_TEARDOWN(engine)
{
	EXPECT_EQ(0, ut_close());
	if (self->t.sh)
		self->t.sh->quit = 1;
	ut_kill_targets();
}

/* The event at which the engine asks for the step. */
struct event {
	enum ut_event event;
	int match;		/* ut_rule::match */
};

/* Wait until the task is held at the end of a step, reported after @from. */
static bool has_stepped(struct engine_data *self, int from)
{
	pid_t pid = self->t.pid;

	return ut_until(ut_seen(from, self->id, UT_EV_SIGNAL_IGN, pid,
				SIGTRAP) >= 0 ||
			ut_seen(from, self->id, UT_EV_HANDLER, pid,
				UT_ANY) >= 0) && ut_held(pid);
}

/* The instruction pointer of the task, which is held. */
static unsigned long ip_of(struct engine_data *self)
{
	struct ut_examine exam = { .id = self->id };

	return ut_ioctl(UT_IOC_EXAMINE, &exam) || exam.prepare ? 0 : exam.ip;
}

/* Start the task of a scene with an engine that is to step at the event. */
static bool start(struct engine_data *self,
		  const struct engine_variant *variant,
		  const struct step_scene *sc, const struct event *ev)
{
	__u32 answer = variant->stops ? UT_STOP | UT_STOP_HERE :
					variant->action;
	struct ut_target *t = &self->t;

	t->arg = (long)sc;
	if (!ut_spawn(t, step_tracee) || !ut_runs(t))
		return false;
	self->id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | 1UL << ev->event);
	return self->id > 0 &&
	       !ut_rule(.id = self->id, .event = ev->event,
			.match = ev->match, .count = 1,
			.answer = answer | UT_PASS) &&
	       !ut_rule(.id = self->id, .event = UT_EV_SIGNAL_IGN,
			.match = SIGTRAP, .answer = UT_STOP | UT_PASS) &&
	       !ut_rule(.id = self->id, .event = UT_EV_HANDLER,
			.answer = UT_STOP | UT_PASS);
}

/* Bring the task to the end of the step. */
static bool step(struct engine_data *self,
		 const struct engine_variant *variant, const struct event *ev)
{
	struct ut_target *t = &self->t;

	t->sh->go[0] = 1;
	if (!variant->stops)
		return has_stepped(self, 0);
	return ut_wait(0, self->id, ev->event, t->pid, ev->match) >= 0 &&
	       ut_held(t->pid) &&
	       !ut_control(self->id, 0, variant->action) &&
	       has_stepped(self, 0);
}

/* The step from the event ends at @at, and one more at the next instruction. */
static void steps_to(struct __test_metadata *_metadata,
		     struct engine_data *self,
		     const struct engine_variant *variant,
		     const struct step_scene *sc, const struct event *ev,
		     const char *at)
{
	struct ut_target *t = &self->t;
	int from;

	ASSERT_TRUE(start(self, variant, sc, ev));
	ASSERT_TRUE(step(self, variant, ev));
	ASSERT_EQ((unsigned long)at, ip_of(self));
	from = ut_nrec;
	ASSERT_EQ(0, ut_control(self->id, 0, UT_SINGLESTEP));
	ASSERT_TRUE(has_stepped(self, from));
	EXPECT_EQ((unsigned long)at + 1, ip_of(self));
	/* No SIGTRAP is left, which would kill the task. */
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_TRUE(ut_until(t->sh->value[STEP_OVER]));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, t->sh->value[STEP_FLAGS] & STEP_TF);
}

TEST_F(engine, from_the_entry_of_a_call)
{
	static const struct step_scene scene = { step_calls, 0, SYS_getppid };
	static const struct event entry = { UT_EV_SYSCALL_ENTRY, SYS_getppid };

	steps_to(_metadata, self, variant, &scene, &entry, step_behind);
}

/* The call has come to its end, so the step makes an instruction. */
TEST_F(engine, from_the_exit_of_a_call)
{
	static const struct step_scene scene = { step_calls, 0, SYS_getppid };
	static const struct event leaves = { UT_EV_SYSCALL_EXIT, SYS_getppid };

	if (variant->action == UT_BLOCKSTEP)
		SKIP(return, "a step by blocks goes on to the next branch");
	steps_to(_metadata, self, variant, &scene, &leaves, step_behind + 1);
}

TEST_F(engine, from_fork)
{
	static const struct step_scene scene = { step_calls, 0, SYS_fork };
	static const struct event clone = { UT_EV_CLONE, UT_ANY };

	steps_to(_metadata, self, variant, &scene, &clone, step_behind);
}

TEST_F(engine, from_vfork)
{
	static const struct step_scene scene = { step_calls, 0, SYS_vfork };
	static const struct event clone = { UT_EV_CLONE, UT_ANY };

	steps_to(_metadata, self, variant, &scene, &clone, step_behind);
}

TEST_F(engine, from_vfork_done)
{
	static const struct step_scene scene = { step_calls, 0, SYS_vfork };
	static const struct event done = { UT_EV_VFORK_DONE, UT_ANY };

	steps_to(_metadata, self, variant, &scene, &done, step_behind);
}

TEST_F(engine, into_a_handler)
{
	static const struct step_scene scene = {
		step_calls, SIGUSR1, SYS_getppid
	};
	static const struct event sent = { UT_EV_SIGNAL, SIGUSR1 };

	steps_to(_metadata, self, variant, &scene, &sent, step_handler);
}

/* The step ends before the first instruction of the new program. */
TEST_F(engine, from_exec)
{
	static const struct step_scene scene = { step_calls, 0, SYS_execve };
	static const struct event exec = { UT_EV_EXEC, UT_ANY };
	struct ut_target *t = &self->t;
	int i, status;

	ASSERT_TRUE(start(self, variant, &scene, &exec));
	ASSERT_TRUE(step(self, variant, &exec));
	i = ut_seen(0, self->id, UT_EV_EXEC, t->pid, UT_ANY);
	ASSERT_LE(0, i);
	EXPECT_EQ((unsigned long)ut_rec[i].val[0], ip_of(self));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(two_exit(ACTOR_CODE), status);
}

TEST_HARNESS_MAIN

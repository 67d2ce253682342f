// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the children and threads of a task with several tracers
 *
 * A tracer follows what its own options say, whatever other tracers follow.  An
 * exec by a thread that is not the leader gives the leader's number to that
 * thread, with its tracers.
 */
#include "either.h"

static pid_t child_of(struct ut_target *t)
{
	return ut_until(t->sh->value[ACTOR_CHILD]) ?
		t->sh->value[ACTOR_CHILD] : -1;
}

/* One tracer follows, the other does not. */
TEST_F(either, follows_fork)
{
	struct two_tracer *one = self->one, *other = self->other;
	struct ut_target *t = self->t;
	long child;

	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
	ASSERT_EQ(0, two_ptrace(one, PTRACE_SETOPTIONS, t->pid,
				PTRACE_O_TRACEFORK));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	actor_do(t, ACTOR_FORKS);
	ASSERT_EQ(two_event(PTRACE_EVENT_FORK), two_wait(one, t->pid));
	child = two_message(one, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(TWO_TRAP, two_wait(one, child));
	EXPECT_EQ(one->t.pid, ut_status(child, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(child));
	EXPECT_EQ(-ECHILD, two_poll(other, child));
	EXPECT_TRUE(two_quiet(other, t->pid));
	EXPECT_TRUE(two_has(one, child));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_EQ(child, child_of(t));
	/* The child does not run until its tracer resumes it. */
	t->sh->go[1] = 1;
	EXPECT_TRUE(two_quiet(one, child));
	ASSERT_EQ(0, two_cont(one, child, 0));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_wait(one, child));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), t->sh->value[ACTOR_STATUS]);
	EXPECT_EQ(-ECHILD, two_poll(one, child));
	EXPECT_TRUE(two_quiet(other, t->pid));
}

TEST_F(tracers, both_follow_fork)
{
	struct two_tracer *p = &self->p, *s = &self->s, *one;
	const struct two_step forked[] = {
		{ TWO_TRAP, PTRACE_CONT },
		{ two_exit(ACTOR_CHILD_CODE) },
		TWO_END
	};
	struct ut_target *t = &self->t;
	pid_t child;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEFORK));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEFORK));
	actor_do(t, ACTOR_FORKS);
	one = two_first(t->pid, two_event(PTRACE_EVENT_FORK), p, s);
	ASSERT_NE(NULL, one);
	child = two_message(one, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	one = one == p ? s : p;
	ASSERT_EQ(two_event(PTRACE_EVENT_FORK), two_wait(one, t->pid));
	EXPECT_EQ(child, two_message(one, t->pid));
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_EQ(child, child_of(t));
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(child));
	EXPECT_EQ(p->t.pid, ut_status(child, "TracerPid:"));
	t->sh->go[1] = 1;
	ASSERT_TRUE(two_play(child, p, forked, s, forked));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), t->sh->value[ACTOR_STATUS]);
}

/* The child is traced as the parent is: a grandchild is followed, too. */
TEST_F(tracers, options_are_inherited)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	long child;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid,
			       PTRACE_O_TRACEFORK | PTRACE_O_TRACEEXIT));
	actor_do(t, ACTOR_FORKS);
	ASSERT_EQ(two_event(PTRACE_EVENT_FORK), two_wait(s, t->pid));
	child = two_message(s, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, child));
	ASSERT_EQ(0, two_cont(s, child, 0));
	t->sh->go[1] = 1;
	ASSERT_EQ(two_event(PTRACE_EVENT_EXIT), two_wait(s, child));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_message(s, child));
	ASSERT_EQ(0, two_cont(s, child, 0));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_wait(s, child));
	EXPECT_TRUE(actor_did(t, 1));
}

/* The further tracer follows vfork(), and the parent still reaps the child. */
TEST_F(tracers, further_follows_vfork)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	long child;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid,
			       PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE));
	actor_do(t, ACTOR_VFORKS);
	ASSERT_EQ(two_event(PTRACE_EVENT_VFORK), two_wait(s, t->pid));
	child = two_message(s, t->pid);
	ASSERT_LT(0, child);
	ASSERT_EQ(TWO_TRAP, two_wait(s, child));
	EXPECT_EQ(s->t.pid, ut_status(child, "TracerPid:"));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(two_quiet(s, t->pid));
	ASSERT_EQ(0, two_cont(s, child, 0));
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), two_wait(s, child));
	ASSERT_EQ(two_event(PTRACE_EVENT_VFORK_DONE), two_wait(s, t->pid));
	EXPECT_EQ(child, two_message(s, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(child, t->sh->value[ACTOR_CHILD]);
	EXPECT_EQ(two_exit(ACTOR_CHILD_CODE), t->sh->value[ACTOR_STATUS]);
}

/* The event VFORK_DONE comes without the event VFORK, and for both. */
TEST_F(tracers, vfork_done)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	const struct two_step steps[] = {
		{ two_event(PTRACE_EVENT_VFORK_DONE), PTRACE_CONT }, TWO_END
	};
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEVFORKDONE));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEVFORKDONE));
	actor_do(t, ACTOR_VFORKS);
	ASSERT_TRUE(two_play(t->pid, p, steps, s, steps));
	EXPECT_TRUE(actor_did(t, 1));
}

TEST_F(tracers, further_follows_clone)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	long tid;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACECLONE));
	actor_do(t, ACTOR_CLONES);
	ASSERT_EQ(two_event(PTRACE_EVENT_CLONE), two_wait(s, t->pid));
	tid = two_message(s, t->pid);
	ASSERT_LT(0, tid);
	ASSERT_EQ(TWO_TRAP, two_wait(s, tid));
	EXPECT_EQ(s->t.pid, ut_status(tid, "TracerPid:"));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_stays(!t->sh->value[ACTOR_CHILD]));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_EQ(tid, child_of(t));
	/* Only its tracer reads the end of a thread. */
	EXPECT_EQ(0, two_wait(s, tid));
	EXPECT_EQ(-ECHILD, two_poll(s, tid));
	EXPECT_TRUE(actor_did(t, 1));
	EXPECT_TRUE(two_quiet(p, t->pid));
}

/*
 * The thread and the leader have the same tracers, and the thread executes.
 * The number of the leader is that of the thread then.
 */
TEST_F(tracers, exec_of_a_thread)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct two_step steps[] = {
		{ two_event(PTRACE_EVENT_EXEC), PTRACE_CONT }, TWO_END
	};
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(p, tid, PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_seize(s, tid, PTRACE_O_TRACEEXEC));
	steps[0].message = tid;
	t->sh->go[1] = UT_GO_EXEC;
	ASSERT_TRUE(two_play(t->pid, p, steps, s, steps));
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(p, tid));
	EXPECT_EQ(-ECHILD, two_poll(s, tid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(p, t->pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(s, t->pid));
}

/* The further tracer traces only the thread. */
TEST_F(tracers, exec_of_a_thread_with_a_further_one)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(p, tid, 0));
	ASSERT_EQ(0, two_seize(s, tid, PTRACE_O_TRACEEXEC));
	EXPECT_EQ(-ECHILD, two_poll(s, t->pid));
	t->sh->go[1] = UT_GO_EXEC;
	ASSERT_EQ(two_event(PTRACE_EVENT_EXEC), two_wait(s, -1));
	EXPECT_EQ(t->pid, s->call->pid);
	EXPECT_EQ(tid, two_message(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
}

/* The further tracer traces only the leader, which is gone after the exec. */
TEST_F(tracers, exec_ends_the_tracing_of_the_leader)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEEXEC));
	/* The further tracer sleeps in wait4() during the exec. */
	ASSERT_TRUE(two_begin_wait(s, t->pid, __WALL));
	t->sh->go[1] = UT_GO_EXEC;
	EXPECT_TRUE(ut_became_helper(t->pid));
	EXPECT_EQ(-ECHILD, two_end_wait(s));
	EXPECT_EQ(-ECHILD, two_poll(p, t->pid));
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
}

TEST_HARNESS_MAIN

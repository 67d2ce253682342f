// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a task that runs in spite of a group stop, and its tracers
 *
 * A tracer lets a task run by PTRACE_CONT out of a group stop.  The task runs
 * until the last tracer that lets it run has left, or listens.  A tracer that
 * attaches in between does not wait for a stop, which the task may never reach.
 */
#include "../cgroup.h"
#include "two.h"

/* Stop the group by SIGSTOP; both tracers are in the group stop then. */
static bool stop_for(struct ut_target *t, struct two_tracer *a,
		     struct two_tracer *b)
{
	static const struct two_step told[] = {
		{ two_stop(SIGSTOP), PTRACE_CONT, SIGSTOP },
		{ TWO_STOPPED },
		TWO_END
	};

	return !kill(t->pid, SIGSTOP) && two_play(t->pid, a, told, b, told);
}

/*
 * On other kernels a task that its tracer has resumed runs until that tracer
 * detaches.
 */
TEST_F(tracers, further_leaves)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_TRUE(stop_for(t, p, s));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(s->t.pid, SIGKILL));
	ASSERT_TRUE(ut_until(!strcmp(two_tracers(t->pid), "")));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(TWO_STOPPED, two_interrupt(p, t->pid));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
}

/* The stop that the first tracer listens in comes back. */
TEST_F(tracers, further_leaves_a_listener)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_TRUE(stop_for(t, p, s));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_LISTEN, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, kill(s->t.pid, SIGKILL));
	EXPECT_EQ(TWO_STOPPED, two_wait(p, t->pid));
	EXPECT_TRUE(ut_still(t));
}

/*
 * Function of a target: resume the task t->arg from its group stop, and die before the
 * task runs.  Both have CPU 0 alone, and SCHED_FIFO goes first.
 */
static int resumes_and_dies(struct ut_target *t)
{
	struct sched_param param = { .sched_priority = 1 };
	int status;

	ut_pin_to(0);
	if (ptrace(PTRACE_SEIZE, t->arg, 0, 0))
		return 97;
	while (waitpid(t->arg, &status, __WALL) > 0 && status != TWO_STOPPED)
		pass_stop(t->arg, status);
	ut_say(t);
	ut_await(t);
	if (sched_setscheduler(0, SCHED_FIFO, &param))
		return 98;
	ptrace(PTRACE_CONT, t->arg, 0, 0);
	return 0;
}

TEST_F(tracers, further_dies_beside_a_listener)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t, further = {};
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, sched_setaffinity(t->pid, sizeof(set), &set));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	further.arg = t->pid;
	ASSERT_TRUE(ut_spawn(&further, resumes_and_dies));
	ASSERT_TRUE(ut_until(strcmp(two_tracers(t->pid), "")));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, t->pid));
	ASSERT_TRUE(ut_hear(&further));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_LISTEN, t->pid, 0));
	ASSERT_TRUE(ut_go(&further));
	ASSERT_TRUE(ut_reap(&further, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_TRUE(ut_still(t));
	/* The stop that it listens in comes back. */
	EXPECT_EQ(TWO_STOPPED, two_wait(p, t->pid));
}

/* The other further tracer listens after the first one has resumed the task. */
TEST_F(tracers, further_listens)
{
	struct two_tracer *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_TRUE(stop_for(t, s, s2));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_ptrace(s2, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_TRUE(two_quiet(s2, t->pid));
	EXPECT_TRUE(ut_runs(t));
	/* Now no tracer lets it run. */
	ASSERT_EQ(TWO_STOPPED, two_interrupt(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
}

/* Function of a target: wait in the kernel until a child is killed. */
static int vforks(struct ut_target *t)
{
	pid_t pid;

	ut_say(t);
	while (!t->sh->go[0])
		t->sh->counter++;
	pid = vfork();
	if (!pid) {
		t->sh->tid[0] = syscall(SYS_getpid);
		for (;;)
			pause();
	}
	return pid < 0 ? 97 : 0;
}

/*
 * The first tracer lets a task run, which sleeps in the kernel then, and leaves
 * it.  The task comes to no stop, though the process is stopped.
 */
static void sleeps_in_vfork(struct __test_metadata *_metadata,
			    struct two_data *self)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn(t, vforks));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_TRUE(stop_for(t, p, s));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_TRUE(ut_runs(t));
	t->sh->go[0] = 1;
	ASSERT_TRUE(ut_until(t->sh->tid[0]));
	ASSERT_EQ(0, kill(p->t.pid, SIGKILL));
	ASSERT_TRUE(ut_until(!strcmp(two_tracers(t->pid), "")));
}

TEST_F(tracers, interrupt_of_a_sleeper)
{
	long begin;

	sleeps_in_vfork(_metadata, self);
	begin = ut_now_ms();
	EXPECT_EQ(0, two_ptrace(&self->s, PTRACE_INTERRUPT, self->t.pid, 0));
	EXPECT_GT(TWO_AT_ONCE_MS, ut_now_ms() - begin);
	kill(self->t.sh->tid[0], SIGKILL);
}

TEST_F(tracers, attach_to_a_sleeper)
{
	long begin;

	sleeps_in_vfork(_metadata, self);
	begin = ut_now_ms();
	EXPECT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	EXPECT_GT(TWO_AT_ONCE_MS, ut_now_ms() - begin);
	kill(self->t.sh->tid[0], SIGKILL);
}

static bool is_frozen(void)
{
	char text[32];

	return ut_read_file(text, sizeof(text), "%s/freezer.state", ut_cg) > 0 &&
	       !strcmp(text, "FROZEN\n");
}

/*
 * The freezer of cgroup v1 keeps a task in TASK_STOPPED from its report, which
 * PTRACE_INTERRUPT must not wait for.
 */
TEST_F(tracers, interrupt_in_a_freezer)
{
	struct two_tracer *s = &self->s;
	const char *why = ut_cg_make_freezer();
	struct ut_target *t = &self->t;
	long begin;

	if (why) {
		ut_cg_remove();
		SKIP(return, "%s", why);
	}
	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, ut_cg_add(t->pid));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	ASSERT_EQ(0, ut_cg_write("freezer.state", "FROZEN"));
	EXPECT_TRUE(ut_until(is_frozen()));
	begin = ut_now_ms();
	EXPECT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_GT(TWO_AT_ONCE_MS, ut_now_ms() - begin);
	EXPECT_EQ(0, ut_cg_write("freezer.state", "THAWED"));
	EXPECT_EQ(TWO_STOPPED, two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	ut_kill_targets();
	ut_cg_remove();
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - job control of a task with several tracers
 *
 * A stop signal that all tracers pass on stops the group.  wait(2) reports the
 * stop to the tracers that have seized the task and to the real parent.
 */
#include "two.h"

static const struct two_step listens[] = {
	{ TWO_STOPPED, PTRACE_LISTEN }, TWO_END
};

/* Start an actor with a further tracer alone: the first tracer is gone. */
static bool seize_alone(struct two_data *self)
{
	return two_seize_both(self, 0, 0) && two_leave(&self->p, self->t.pid);
}

/* Stop the actor with a signal that its tracer, or both, pass on. */
static long stop(struct ut_target *t, struct two_tracer *p,
		 struct two_tracer *s, int sig)
{
	if (kill(t->pid, sig))
		return -1;
	if (p && (two_wait(p, t->pid) != two_stop(sig) ||
		  two_cont(p, t->pid, sig)))
		return -2;
	if (two_wait(s, t->pid) != two_stop(sig))
		return -3;
	return two_cont(s, t->pid, sig);
}

/* Both listen, and SIGCONT wakes both and goes through both. */
static void both_listen(struct __test_metadata *_metadata,
			struct two_data *self, int sig)
{
	static const struct two_step go_on[] = {
		{ TWO_TRAP, PTRACE_CONT },
		{ two_stop(SIGCONT), PTRACE_CONT, SIGCONT },
		TWO_END
	};
	const struct two_step listen[] = {
		{ two_group(sig), PTRACE_LISTEN }, TWO_END
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, stop(t, p, s, sig));
	ASSERT_TRUE(two_play(t->pid, p, listen, s, listen));
	EXPECT_TRUE(two_parent_sees(t->pid, sig));
	/* A tracer that listens has no stop in which to make requests. */
	EXPECT_FALSE(two_has(p, t->pid));
	EXPECT_FALSE(two_has(s, t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(two_play(t->pid, p, go_on, s, go_on));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_F(tracers, both_listen_sigstop)
{
	both_listen(_metadata, self, SIGSTOP);
}

TEST_F(tracers, both_listen_sigtstp)
{
	both_listen(_metadata, self, SIGTSTP);
}

/* A tracer that drops the signal prevents the stop. */
TEST_F(tracers, further_drops_sigstop)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | WUNTRACED));
}

TEST_F(tracers, further_alone_listens)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_alone(self));
	ASSERT_EQ(0, stop(t, NULL, s, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, t->pid));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	EXPECT_FALSE(two_has(s, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_EQ(TWO_TRAP, two_wait(s, t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(two_stop(SIGCONT), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* A detach does not end job control. */
TEST_F(tracers, detach_does_not_end_job_control)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_alone(self));
	ASSERT_EQ(0, stop(t, NULL, s, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_DETACH, t->pid, 0));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(tracers, death_does_not_end_job_control)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(seize_alone(self));
	ASSERT_EQ(0, stop(t, NULL, s, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, t->pid));
	ASSERT_EQ(0, kill(s->t.pid, SIGKILL));
	EXPECT_TRUE(ut_until(!ut_status(t->pid, "TracerPid:")));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* The real parent gets the stop once, and no tracer consumes it. */
TEST_F(tracers, parent_reads_the_stop_once)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	/* A stop for a tracer is not a stop of job control. */
	EXPECT_TRUE(ut_stays(!waitpid(t->pid, &self->status,
				      WNOHANG | WUNTRACED)));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(0, stop(t, p, s, SIGSTOP));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	EXPECT_TRUE(ut_stays(!waitpid(t->pid, &self->status,
				      WNOHANG | WUNTRACED)));
	ASSERT_TRUE(two_play(t->pid, p, listens, s, listens));
}

/* Each thread that is traced takes part. */
TEST_F(tracers, threads_stop)
{
	const struct two_step go_on[] = {
		{ TWO_TRAP, PTRACE_CONT }, TWO_END
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(p, tid, 0));
	ASSERT_EQ(0, two_seize(s, tid, 0));
	/* The leader, which has no tracer, takes the signal. */
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_TRUE(two_play(tid, p, listens, s, listens));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	EXPECT_TRUE(ut_thread_still(t, 1));
	EXPECT_TRUE(ut_thread_still(t, 2));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(two_play(tid, p, go_on, s, go_on));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* Start two threads, and let @p and @s trace the one that is not the leader. */
static bool seize_thread(struct two_data *self)
{
	return ut_spawn_threads(&self->t, 2) &&
	       !two_seize(&self->p, self->t.sh->tid[1], 0) &&
	       !two_seize(&self->s, self->t.sh->tid[1], 0);
}

/* @p and @s trace a thread, and @s has it in a stop for a signal. */
static bool keep_signal_of_thread(struct two_data *self)
{
	struct ut_target *t = &self->t;
	pid_t tid;

	if (!seize_thread(self))
		return false;
	tid = t->sh->tid[1];
	return !syscall(SYS_tgkill, t->pid, tid, SIGURG) &&
	       two_wait(&self->p, tid) == two_stop(SIGURG) &&
	       !two_cont(&self->p, tid, SIGURG) &&
	       two_wait(&self->s, tid) == two_stop(SIGURG);
}

/*
 * The first tracer gets the group stop at once, the further tracer when its
 * stop for a signal is over.
 */
TEST_F(tracers, stop_beside_a_signal)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(keep_signal_of_thread(self));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, tid));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	EXPECT_EQ(TWO_NONE, two_poll(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, SIGURG));
	ASSERT_EQ(0, two_cont(p, tid, 0));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(two_quiet(p, tid));
}

/*
 * The first tracer gets a signal to the thread, or to the whole process, whose
 * other thread is in TASK_STOPPED, though the further tracer has the thread in
 * the group stop.
 */
static void signal_beside_a_stop(struct __test_metadata *_metadata, struct two_data *self,
				 bool of_process)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	/* One that the process ignores is not sent to it. */
	int sig = of_process ? SIGUSR1 : SIGURG;
	pid_t tid;

	ASSERT_TRUE(seize_thread(self));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, tid));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	ASSERT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	ASSERT_EQ(0, two_cont(p, tid, 0));
	EXPECT_TRUE(two_quiet(p, tid));
	ASSERT_EQ(0, of_process ? kill(t->pid, sig) :
				  syscall(SYS_tgkill, t->pid, tid, sig));
	ASSERT_EQ(two_stop(sig), two_wait(p, tid));
	ASSERT_EQ(0, two_cont(p, tid, sig));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	ASSERT_EQ(two_stop(sig), two_wait(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

TEST_F(tracers, signal_beside_a_stop)
{
	signal_beside_a_stop(_metadata, self, false);
}

TEST_F(tracers, signal_to_the_process_beside_a_stop)
{
	signal_beside_a_stop(_metadata, self, true);
}

/*
 * A group stop begins in a stop of the further tracer.  When @request ends that
 * stop, the further tracer gets the group stop, though the first tracer
 * listens.
 */
static void stop_beside(struct __test_metadata *_metadata, struct two_data *self,
			int request)
{
	static const struct two_step go_on[] = {
		{ TWO_TRAP, PTRACE_CONT }, TWO_END
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(seize_thread(self));
	tid = t->sh->tid[1];
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, tid));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_LISTEN, tid, 0));
	EXPECT_EQ(TWO_NONE, two_poll(s, tid));
	ASSERT_EQ(0, two_ptrace(s, request, tid, 0));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, tid, 0));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(two_play(tid, p, go_on, s, go_on));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

TEST_F(tracers, stop_beside_a_stop)
{
	stop_beside(_metadata, self, PTRACE_CONT);
}

TEST_F(tracers, stop_beside_two_listeners)
{
	stop_beside(_metadata, self, PTRACE_LISTEN);
}

/* A tracer that has the task in no stop gets the group stop as well. */
TEST_F(tracers, stop_beside_the_stop_of_another)
{
	struct two_tracer *s = &self->s, *s2 = &self->s2;
	static const struct two_step told[] = {
		{ TWO_STOPPED, PTRACE_CONT }, TWO_END
	};
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(seize_thread(self));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(s2, tid, 0));
	ASSERT_TRUE(two_leave(&self->p, tid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	ASSERT_TRUE(two_play(tid, s, told, s2, told));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(ut_thread_still(t, 0));
}

/* So does a tracer while another tracer has the task in a stop for a signal. */
TEST_F(tracers, stop_beside_the_signal_of_another)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(keep_signal_of_thread(self));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(s2, tid, 0));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, tid));
	ASSERT_EQ(0, two_cont(p, tid, 0));
	ASSERT_EQ(0, two_cont(s, tid, SIGURG));
	ASSERT_EQ(two_stop(SIGURG), two_wait(s2, tid));
	ASSERT_EQ(0, two_cont(s2, tid, SIGURG));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	ASSERT_EQ(TWO_STOPPED, two_wait(s2, tid));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, two_cont(s2, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* A tracer that listens gets another group stop, though no SIGCONT has come. */
TEST_F(tracers, stop_beside_a_listener)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s2, tid, 0));
	ASSERT_EQ(0, two_seize(s, tid, 0));
	ASSERT_TRUE(two_leave(&self->s2, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGTSTP));
	ASSERT_EQ(two_stop(SIGTSTP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGTSTP));
	ASSERT_EQ(two_group(SIGTSTP), two_wait(p, t->pid));
	ASSERT_EQ(two_group(SIGTSTP), two_wait(s, tid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, tid, 0));
	ASSERT_TRUE(ut_until(ut_state(tid) == 'T'));
	/* The leader runs out of the stop, and stops again. */
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGSTOP));
	ASSERT_EQ(TWO_STOPPED, two_wait(p, t->pid));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* The first tracer dies during an engine's callback for the group stop. */
TEST_F(tracers, first_dies_before_the_stop)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	const char *why = ut_begin();
	pid_t tid;
	int id;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(keep_signal_of_thread(self));
	tid = t->sh->tid[1];
	id = ut_attach(tid, 0, UT_BIT(JCTL));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_gate(false));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_JCTL, .answer = UT_RESUME,
			     .change = UT_CHANGE_GATE));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_TRUE(ut_until(ut_state(tid) != 't'));
	ASSERT_EQ(0, kill(p->t.pid, SIGKILL));
	ASSERT_TRUE(ut_until(!strcmp(two_tracers(tid), "")));
	ASSERT_EQ(0, ut_gate(true));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	ASSERT_EQ(0, two_cont(s, tid, SIGURG));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, tid, 0));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_EQ(TWO_TRAP, two_wait(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_EQ(0, ut_close());
}

/* One JCTL comes, though a traced task calls do_signal_stop() twice. */
TEST_F(tracers, engine_gets_one_event)
{
	struct ut_target *t = &self->t;
	const char *why = ut_begin();
	int id;

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	id = ut_attach(t->pid, 0, UT_BIT(JCTL));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGTSTP));
	ASSERT_EQ(two_stop(SIGTSTP), two_wait(&self->p, t->pid));
	ASSERT_EQ(0, two_cont(&self->p, t->pid, SIGTSTP));
	ASSERT_EQ(two_group(SIGTSTP), two_wait(&self->p, t->pid));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_JCTL, t->pid, CLD_STOPPED));
	EXPECT_EQ(0, ut_close());
}

/* Both tracers listen in a stop by SIGSTOP, which SIGCONT ends. */
static bool stop_and_continue(struct ut_target *t, struct two_tracer *a,
			      struct two_tracer *b)
{
	static const struct two_step go_on[] = {
		{ TWO_TRAP, PTRACE_CONT }, TWO_END
	};

	return !stop(t, a, b, SIGSTOP) &&
	       two_play(t->pid, a, listens, b, listens) &&
	       two_parent_sees(t->pid, SIGSTOP) && !kill(t->pid, SIGCONT) &&
	       two_play(t->pid, a, go_on, b, go_on);
}

/* Count the WCONTINUED that the tracer reads, among other stops. */
static int reads_continue(struct two_tracer *tr, pid_t pid)
{
	int i, n = 0;

	for (i = 0; i < 3; i++)
		n += two_wait_with(tr, pid, WCONTINUED | WNOHANG | __WALL) ==
		     TWO_CONTINUED;
	return n;
}

/* Each further tracer reads it once, and so does the parent. */
TEST_F(tracers, all_read_that_it_continues)
{
	struct two_tracer *tr[] = { &self->s, &self->s2 };
	struct ut_target *t = &self->t;
	int status, i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_TRUE(stop_and_continue(t, tr[0], tr[1]));
	for (i = 0; i < 2; i++)
		EXPECT_EQ(1, reads_continue(tr[i], t->pid));
	EXPECT_EQ(1, ut_waitpid(t->pid, &status, WCONTINUED));
	EXPECT_EQ(TWO_CONTINUED, status);
}

/* A thread of the tracer's process: a further tracer. */
static void *traces_as_well(void *arg)
{
	struct ut_target *t = arg;
	int status;

	if (ptrace(PTRACE_SEIZE, t->arg, 0, 0))
		return NULL;
	ut_say(t);
	while (waitpid(t->arg, &status, __WALL | __WNOTHREAD) > 0)
		pass_stop(t->arg, status);
	return NULL;
}

/* Function of a target: two threads that trace the task t->arg. */
static int threads_trace(struct ut_target *t)
{
	pthread_t thread;
	int status;

	if (ptrace(PTRACE_SEIZE, t->arg, 0, 0) ||
	    pthread_create(&thread, NULL, traces_as_well, t))
		return 97;
	while (waitpid(t->arg, &status, __WALL | __WNOTHREAD | WCONTINUED) > 0)
		if (WIFCONTINUED(status))
			t->sh->value[0]++;
		else
			pass_stop(t->arg, status);
	return 0;
}

/* A first tracer reads it though a further one is of the same process. */
TEST_F(tracers, first_thread_reads_that_it_continues)
{
	struct ut_target *t = &self->t, tracer = {};

	ASSERT_TRUE(actor_spawn(t));
	tracer.arg = t->pid;
	ASSERT_TRUE(ut_spawn(&tracer, threads_trace));
	ASSERT_TRUE(ut_hear(&tracer));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_until(tracer.sh->value[0]));
}

TEST_HARNESS_MAIN

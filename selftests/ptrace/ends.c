// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the end of a task with several tracers
 *
 * Each tracer reads the status once, whenever it wants, and neither the first
 * tracer nor the real parent waits for a further tracer.
 */
#include "two.h"

#define LAST_PID	"/proc/sys/kernel/ns_last_pid"
#define ENDED		two_exit(ACTOR_CODE)

/* The further tracer reads the end last; no other process waits for it. */
TEST_F(tracers, further_reads_last)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	EXPECT_EQ(TWO_NONE, two_poll(&self->s, t->pid));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(-ECHILD, two_poll(&self->p, t->pid));
	EXPECT_EQ(0, ut_state(t->pid));
	EXPECT_EQ(ENDED, two_wait(&self->s, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
}

/*
 * The further tracer reads the end first, and the other processes get it, too.
 */
TEST_F(tracers, further_reads_first)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(&self->s, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
	/* The real parent still waits for the first tracer, as always. */
	EXPECT_TRUE(ut_stays(!waitpid(t->pid, NULL, WNOHANG)));
	ASSERT_EQ(ENDED, two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
}

/* The first tracer is gone, and the real parent need not wait. */
TEST_F(tracers, without_the_first)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	actor_do(t, ACTOR_EXITS);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(ENDED, two_wait(&self->s, t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&self->p, t->pid));
}

/* Fork a child that ends at once, and reap it; the child's pid. */
static pid_t next_pid(int last)
{
	char text[16];
	pid_t pid;

	snprintf(text, sizeof(text), "%d", last);
	if (ut_write_file(LAST_PID, text))
		return -1;
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* The pid of a dead task is reused only after the report is read. */
TEST_F(tracers, number_is_kept)
{
	struct ut_target *t = &self->t;
	int i;

	if (access(LAST_PID, W_OK))
		SKIP(return, "no " LAST_PID);
	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_EQ(two_killed(SIGKILL), two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	for (i = 0; i < 20; i++) {
		ASSERT_LT(0, next_pid(t->pid - 1));
		ASSERT_NE(t->pid, next_pid(t->pid - 1));
	}
	ASSERT_EQ(two_killed(SIGKILL), two_wait(&self->s, t->pid));
	/* Another process may get the pid first, but not every time. */
	EXPECT_TRUE(ut_until(next_pid(t->pid - 1) == t->pid));
}

/* The report for a tracer that dies is dropped. */
TEST_F(tracers, number_is_free_after_the_tracer)
{
	struct ut_target *t = &self->t;

	if (access(LAST_PID, W_OK))
		SKIP(return, "no " LAST_PID);
	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_EQ(two_killed(SIGKILL), two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_NE(t->pid, next_pid(t->pid - 1));
	ASSERT_EQ(0, kill(self->s.t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&self->s.t, &self->status));
	EXPECT_TRUE(ut_until(next_pid(t->pid - 1) == t->pid));
}

/* The ways to wait.  Each with WNOWAIT leaves the status to the next way. */
TEST_F(tracers, ways_to_wait)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	static const int flags[] = { 0, __WALL, __WNOTHREAD, __WCLONE };
	int fd, i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, setpgid(t->pid, t->pid));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	for (i = 0; i < 4; i++) {
		int pid[] = { t->pid, -1, -t->pid }, k;

		for (k = 0; k < 3; k++) {
			EXPECT_EQ(TWO_NONE, two_wait_with(s, pid[k], flags[i] |
							  WNOHANG));
			ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid,
						0));
			ASSERT_EQ(TWO_TRAP, two_wait_with(s, pid[k], flags[i]));
			EXPECT_EQ(t->pid, s->call->pid);
			ASSERT_EQ(0, two_cont(s, t->pid, 0));
		}
	}
	EXPECT_EQ(-ECHILD, two_wait_with(s, -getpid(), WNOHANG));
	/* Another thread may wait, but not with __WNOTHREAD. */
	ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(-ECHILD, two_other_wait(s, t->pid, __WNOTHREAD));
	ASSERT_EQ(TWO_TRAP, two_other_wait(s, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));

	s->call->op = TWO_PIDFD;
	s->call->pid = t->pid;
	fd = two_run(s);
	ASSERT_LE(0, fd);
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(0, two_waitid(s, P_PID, t->pid, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	EXPECT_EQ(CLD_EXITED, s->call->info.si_code);
	EXPECT_EQ(ACTOR_CODE, s->call->info.si_status);
	ASSERT_EQ(0, two_waitid(s, P_PIDFD, fd, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	ASSERT_EQ(0, two_waitid(s, P_PGID, t->pid, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	ASSERT_EQ(0, two_waitid(s, P_ALL, 0, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	EXPECT_EQ(-ECHILD, two_other_wait(s, t->pid, __WNOTHREAD));
	ASSERT_EQ(ENDED, two_wait_with(s, -1, __WNOTHREAD));
	EXPECT_EQ(t->pid, s->call->pid);
	EXPECT_EQ(-ECHILD, two_waitid(s, P_PID, t->pid, WEXITED));
	EXPECT_EQ(-ECHILD, two_wait_with(s, -1, 0));
}

/* As above, after all other processes have read the end. */
TEST_F(tracers, ways_to_wait_for_what_is_gone)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_EQ(two_killed(SIGKILL), two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_EQ(0, two_waitid(s, P_PID, t->pid, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	EXPECT_EQ(CLD_KILLED, s->call->info.si_code);
	EXPECT_EQ(SIGKILL, s->call->info.si_status);
	ASSERT_EQ(0, two_waitid(s, P_ALL, 0, WEXITED | WNOWAIT));
	EXPECT_EQ(t->pid, s->call->info.si_pid);
	EXPECT_EQ(-ECHILD, two_other_wait(s, t->pid, __WNOTHREAD));
	EXPECT_EQ(two_killed(SIGKILL), two_wait_with(s, -1, 0));
	EXPECT_EQ(t->pid, s->call->pid);
	EXPECT_EQ(-ECHILD, two_wait_with(s, -1, 0));
}

/* The tracer sleeps in wait4(), and the end of the task wakes it. */
TEST_F(tracers, end_wakes_the_tracers)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	for (i = 0; i < 2; i++)
		ASSERT_TRUE(two_begin_wait(tr[i], t->pid, 0));
	actor_do(t, ACTOR_EXITS);
	for (i = 0; i < 2; i++)
		EXPECT_EQ(ENDED, two_end_wait(tr[i]));
}

/* The test, real parent and further tracer, gets one status. */
TEST_F(tracers, parent_is_a_further_one)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, 0));
	EXPECT_EQ(TWO_TRAP, self->status);
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(ENDED, two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &self->status, __WALL));
}

/* The test, real parent and first tracer, gets one status, too. */
TEST_F(tracers, parent_is_the_first)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	actor_do(t, ACTOR_EXITS);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_EQ(ENDED, two_wait(&self->s, t->pid));
}

/* The test is real parent and tracer, and another thread of it traces, too. */
struct parent_thread {
	struct two_data *self;
	pid_t tid;
	int ret;		/* of the wait, or -errno */
	bool done;
};

static bool parent_thread_seizes(struct parent_thread *th)
{
	pid_t pid = th->self->t.pid;

	th->ret = ptrace(PTRACE_SEIZE, pid, 0, 0) ? -errno : 0;
	return !th->ret;
}

/* Read the end while the first tracer, the other thread, does not. */
static void *parent_thread_reads(void *arg)
{
	int flags = __WALL | __WNOTHREAD | WNOHANG;
	struct parent_thread *th = arg;
	struct ut_target *t = &th->self->t;

	if (!parent_thread_seizes(th))
		return NULL;
	actor_do(t, ACTOR_EXITS);
	ut_until((th->ret = waitpid(t->pid, &th->self->status, flags)));
	return NULL;
}

TEST_F(tracers, threads_of_the_parent_are_both)
{
	struct parent_thread th = { .self = self };
	struct ut_target *t = &self->t;
	pthread_t thread;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, parent_thread_reads, &th));
	pthread_join(thread, NULL);
	EXPECT_EQ(t->pid, th.ret);
	EXPECT_EQ(ENDED, self->status);
	EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &self->status, __WALL));
}

/* Wait for stops, of which none can come when the task is dead. */
static void *parent_thread_waits(void *arg)
{
	struct parent_thread *th = arg;
	siginfo_t info;

	if (!parent_thread_seizes(th))
		return NULL;
	__atomic_store_n(&th->tid, ut_gettid(), __ATOMIC_RELEASE);
	th->ret = waitid(P_PID, th->self->t.pid, &info,
			 WSTOPPED | __WALL | __WNOTHREAD) ? -errno : 0;
	__atomic_store_n(&th->done, true, __ATOMIC_RELEASE);
	return NULL;
}

/* The first tracer, another process, has not read the end yet. */
TEST_F(tracers, end_wakes_a_wait_for_stops)
{
	struct parent_thread th = { .self = self };
	struct ut_target *t = &self->t;
	pthread_t thread;
	pid_t tid = 0;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, pthread_create(&thread, NULL, parent_thread_waits, &th));
	EXPECT_TRUE(ut_until((tid = __atomic_load_n(&th.tid, __ATOMIC_ACQUIRE)) &&
			     ut_asleep_in(tid, SYS_waitid)));
	actor_do(t, ACTOR_EXITS);
	EXPECT_TRUE(ut_until(__atomic_load_n(&th.done, __ATOMIC_ACQUIRE)));
	EXPECT_EQ(ENDED, two_wait(&self->p, t->pid));
	pthread_join(thread, NULL);
	EXPECT_EQ(-ECHILD, th.ret);
	EXPECT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(ENDED, self->status);
}

/* A thread that ends is a report for its tracers alone. */
TEST_F(tracers, thread_ends)
{
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(&self->p, tid, 0));
	ASSERT_EQ(0, two_seize(&self->s, tid, 0));
	t->sh->go[1] = UT_GO_END;
	EXPECT_EQ(0, two_wait(&self->p, tid));
	EXPECT_EQ(0, two_wait(&self->s, tid));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, tid));
	EXPECT_TRUE(ut_thread_runs(t, 2));
}

/* A thread that waits for its own tracees alone is woken, too. */
TEST_F(tracers, end_wakes_a_wait_for_own_tracees)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_TRUE(two_begin_wait(s, t->pid, __WALL | __WNOTHREAD));
	actor_do(t, ACTOR_EXITS);
	EXPECT_EQ(ENDED, two_end_wait(s));
}

/* The end of a leader is reported when its last thread has ended. */
TEST_F(tracers, leader_ends_before_its_threads)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	t->sh->go[0] = UT_GO_END;
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	EXPECT_TRUE(two_quiet(&self->s, t->pid));
	t->sh->go[1] = UT_GO_END;
	EXPECT_TRUE(two_quiet(&self->s, t->pid));
	t->sh->go[2] = UT_GO_END;
	EXPECT_EQ(0, two_wait(&self->s, t->pid));
	EXPECT_EQ(0, two_wait(&self->p, t->pid));
	EXPECT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(-ECHILD, two_poll(&self->s, t->pid));
}

/* The real parent reads the end once, though it traces the leader, too. */
TEST_F(tracers, leader_of_the_parent_ends_before_its_threads)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	t->sh->go[0] = UT_GO_END;
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	t->sh->go[1] = UT_GO_END;
	EXPECT_EQ(0, two_wait(&self->p, t->pid));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(-ECHILD, ut_waitpid(t->pid, &self->status, __WALL));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - wait(2) by a sole tracer, first or further
 *
 * The tracer and the parent are different processes.  In both variants, wait(2)
 * must report to each of them at the same moment.
 */
#include "sole.h"

#define THREAD		1	/* the one that is traced */

/* Job control */

static struct two_tracer parent;

/* Start a tracee with a parent of its own; it sleeps or counts. */
static bool start(struct two_data *self, const sole_variant *variant,
		  bool asleep)
{
	struct ut_target *t = &self->t;

	if (!two_start_parent(&parent, 0, t, ut_pauses))
		return false;
	if (asleep) {
		t->sh->go[TWO_WORD] = TWO_BEGIN;
		if (!ut_hear(t) || !ut_until(ut_asleep_in(t->pid, SYS_pause)))
			return false;
	}
	return !sole_seize(self, variant, t->pid, 0);
}

/* si_code of the SIGCHLD that the parent has got. */
static int parent_signal(pid_t pid)
{
	parent.call->op = TWO_SIGCHLD;
	if (two_run(&parent) != SIGCHLD || parent.call->info.si_pid != pid)
		return -1;
	return parent.call->info.si_code;
}

/* The tracer has the tracee in a group stop. */
static bool stop(struct two_data *self)
{
	struct two_tracer *s = &self->s;
	pid_t pid = self->t.pid;

	return !kill(pid, SIGSTOP) && two_wait(s, pid) == two_stop(SIGSTOP) &&
	       !two_cont(s, pid, SIGSTOP) && two_wait(s, pid) == TWO_STOPPED;
}

static void parent_is_told_stop(struct __test_metadata *_metadata,
				struct two_data *self,
				const sole_variant *variant, bool asleep)
{
	pid_t pid;

	ASSERT_TRUE(start(self, variant, asleep));
	pid = self->t.pid;
	ASSERT_TRUE(two_begin_wait(&parent, pid, WUNTRACED));
	ASSERT_TRUE(stop(self));
	/* The tracer has not listened yet. */
	EXPECT_EQ(two_stop(SIGSTOP), two_end_wait(&parent));
	EXPECT_EQ(CLD_STOPPED, parent_signal(pid));
	EXPECT_TRUE(two_has(&self->s, pid));
	ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_LISTEN, pid, 0));
	EXPECT_TRUE(ut_stays(two_wait_with(&parent, pid, WUNTRACED |
					   WNOHANG) == TWO_NONE));
}

TEST_F(tracers, parent_reads_stop)
{
	parent_is_told_stop(_metadata, self, variant, false);
}

TEST_F(tracers, parent_reads_stop_of_a_sleeper)
{
	parent_is_told_stop(_metadata, self, variant, true);
}

/* The tracer does not ask for it. */
TEST_F(tracers, parent_reads_continue)
{
	struct two_tracer *s = &self->s;
	pid_t pid;

	ASSERT_TRUE(start(self, variant, false));
	pid = self->t.pid;
	ASSERT_TRUE(stop(self));
	EXPECT_EQ(CLD_STOPPED, parent_signal(pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, pid, 0));
	ASSERT_TRUE(two_begin_wait(&parent, pid, WCONTINUED));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	EXPECT_EQ(TWO_TRAP, two_wait(s, pid));
	EXPECT_EQ(TWO_CONTINUED, two_end_wait(&parent));
	EXPECT_EQ(CLD_CONTINUED, parent_signal(pid));
	EXPECT_EQ(TWO_NONE, two_poll(s, pid));
}

/* The parent does not ask for it. */
TEST_F(tracers, tracer_reads_continue)
{
	struct two_tracer *s = &self->s;
	long status;
	pid_t pid;

	ASSERT_TRUE(start(self, variant, false));
	pid = self->t.pid;
	ASSERT_TRUE(stop(self));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, pid, 0));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	/* The stop comes first if the task has reported it by then. */
	status = two_wait_with(s, pid, __WALL | WCONTINUED);
	ASSERT_TRUE(status == TWO_TRAP || status == TWO_CONTINUED);
	EXPECT_EQ(status == TWO_TRAP ? TWO_CONTINUED : TWO_TRAP,
		  two_wait_with(s, pid, __WALL | WCONTINUED));
	EXPECT_EQ(TWO_NONE, two_wait_with(s, pid, __WALL | WCONTINUED |
					  WNOHANG));
	ASSERT_EQ(0, two_cont(s, pid, 0));
	EXPECT_EQ(two_stop(SIGCONT), two_wait(s, pid));
}

/* ptrace(2): SIGCONT traps a task with PTRACE_SEIZE, which need not be stopped. */
TEST_F(tracers, sigcont_of_a_running_task)
{
	struct two_tracer *s = &self->s;
	pid_t pid;

	ASSERT_TRUE(start(self, variant, false));
	pid = self->t.pid;
	ASSERT_EQ(0, kill(pid, SIGCONT));
	ASSERT_EQ(TWO_TRAP, two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, 0));
	ASSERT_EQ(two_stop(SIGCONT), two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, SIGCONT));
	EXPECT_TRUE(two_quiet(s, pid));
}

/*
 * A tracer with PTRACE_ATTACH has one of two threads in a group stop.  SIGCONT
 * ends the group stop, and the untraced thread begins another group stop.  The
 * traced thread is still in its stop for the first.
 */
static bool stop_twice(struct two_data *self, const sole_variant *variant)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	if (!ut_spawn_threads(t, 2))
		return false;
	tid = t->sh->tid[THREAD];
	return sole_begin(variant, &self->p, tid) &&
	       !two_ptrace(s, PTRACE_ATTACH, tid, 0) &&
	       sole_end(variant, &self->p, tid) &&
	       two_wait(s, tid) == two_stop(SIGSTOP) && !two_cont(s, tid, 0) &&
	       !syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP) &&
	       two_wait(s, tid) == two_stop(SIGSTOP) &&
	       ut_until(ut_state(t->pid) == 'T') && !kill(t->pid, SIGCONT) &&
	       ut_thread_runs(t, 0) &&
	       !syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP) &&
	       ut_until(ut_state(t->pid) == 'T') && two_quiet(s, tid);
}

/* PTRACE_CONT ends the first group stop, and the tracer gets the second. */
TEST_F(tracers, group_stop_in_a_group_stop)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(stop_twice(self, variant));
	tid = t->sh->tid[THREAD];
	ASSERT_EQ(0, two_cont(s, tid, 0));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(s, tid));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	EXPECT_TRUE(ut_thread_still(t, THREAD));
	/* Another tracer finds the thread in the second stop. */
	ASSERT_EQ(0, two_seize(&self->p, tid, 0));
	ASSERT_EQ(TWO_STOPPED, two_wait(&self->p, tid));
	ASSERT_EQ(0, two_cont(&self->p, tid, 0));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, THREAD));
	EXPECT_TRUE(ut_thread_still(t, 0));
}

/* Without PTRACE_SEIZE a tracer gets no group stop that is over. */
TEST_F(tracers, group_stop_that_is_over)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(stop_twice(self, variant));
	tid = t->sh->tid[THREAD];
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(ut_thread_runs(t, 0));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(two_quiet(s, tid));
	EXPECT_TRUE(ut_thread_runs(t, THREAD));
}

/* A tracer in a stop for a signal gets the group stop after that stop. */
TEST_F(tracers, group_stop_in_a_stop_for_a_signal)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	tid = t->sh->tid[THREAD];
	ASSERT_EQ(0, sole_seize(self, variant, tid, 0));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, tid, SIGURG));
	ASSERT_EQ(two_stop(SIGURG), two_wait(s, tid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGSTOP));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	ASSERT_EQ(0, two_cont(s, tid, SIGURG));
	ASSERT_EQ(TWO_STOPPED, two_wait(s, tid));
	EXPECT_TRUE(two_parent_sees(t->pid, SIGSTOP));
	EXPECT_TRUE(ut_thread_still(t, THREAD));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, THREAD));
}

/* The stop at the end of the system call comes before that of SIGCONT. */
TEST_F(tracers, sigcont_in_a_system_call)
{
	struct two_tracer *s = &self->s;
	pid_t pid;

	ASSERT_TRUE(start(self, variant, true));
	pid = self->t.pid;
	ASSERT_TRUE(two_wants_calls(s, pid));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, pid));
	ASSERT_EQ(0, two_next(s, pid));
	ASSERT_TRUE(ut_until(ut_asleep_in(pid, SYS_pause)));
	ASSERT_EQ(0, kill(pid, SIGCONT));
	ASSERT_EQ(two_stop(SIGTRAP), two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, 0));
	ASSERT_EQ(two_stop(SIGCONT), two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, SIGCONT));
	EXPECT_TRUE(two_quiet(s, pid));
}

/* A tracer has read the end: the parent can read it, too. */
TEST_F(tracers, parent_sees_the_end)
{
	struct two_tracer *s = &self->s;
	pid_t pid;

	ASSERT_TRUE(start(self, variant, false));
	pid = self->t.pid;
	ASSERT_EQ(0, kill(pid, SIGTERM));
	ASSERT_EQ(two_stop(SIGTERM), two_wait(s, pid));
	ASSERT_EQ(0, two_cont(s, pid, SIGTERM));
	ASSERT_EQ(two_killed(SIGTERM), two_wait(s, pid));
	EXPECT_EQ(two_killed(SIGTERM), two_wait_with(&parent, pid, WNOHANG));
}

/* waitid() */

TEST_F(tracers, waitid)
{
	struct two_tracer *s = &self->s;
	siginfo_t *info = &s->call->info;
	pid_t pid;
	int i;

	ASSERT_TRUE(start(self, variant, false));
	pid = self->t.pid;
	ASSERT_EQ(0, kill(pid, SIGUSR1));
	/* The first waitid() leaves the stop for the second one. */
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, two_waitid(s, P_PID, pid, __WALL | WSTOPPED |
					(i ? 0 : WNOWAIT)));
		EXPECT_EQ(pid, info->si_pid);
		EXPECT_EQ(CLD_TRAPPED, info->si_code);
		EXPECT_EQ(SIGUSR1, info->si_status);
	}
	ASSERT_EQ(0, two_waitid(s, P_PID, pid, __WALL | WSTOPPED | WNOHANG));
	EXPECT_EQ(0, info->si_pid);
	ASSERT_EQ(0, two_waitid(s, P_PID, pid, __WALL | WEXITED | WNOHANG));
	EXPECT_EQ(0, info->si_pid);
	ASSERT_EQ(0, kill(pid, SIGKILL));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, two_waitid(s, P_PID, pid, __WALL | WEXITED |
					WNOWAIT));
		EXPECT_EQ(pid, info->si_pid);
		EXPECT_EQ(CLD_KILLED, info->si_code);
		EXPECT_EQ(SIGKILL, info->si_status);
	}
	/* A dead task neither stops nor continues. */
	EXPECT_EQ(-ECHILD, two_waitid(s, P_PID, pid, __WALL | WSTOPPED |
				      WNOHANG));
	EXPECT_EQ(-ECHILD, two_waitid(s, P_PID, pid, __WALL | WCONTINUED |
				      WNOHANG));
	EXPECT_EQ(two_killed(SIGKILL), two_wait(s, pid));
	EXPECT_EQ(-ECHILD, two_wait(s, pid));
	EXPECT_EQ(two_killed(SIGKILL), two_wait_with(&parent, pid, 0));
}

/* PTRACE_EVENT_EXIT of a thread whose process ends */

/* Start two threads, of which the tracer has one. */
static bool start_threads(struct two_data *self, const sole_variant *variant)
{
	return ut_spawn_threads(&self->t, 2) &&
	       !sole_seize(self, variant, self->t.sh->tid[THREAD],
			   PTRACE_O_TRACEEXIT);
}

enum exit_event { COMES, MAY_COME, COMES_NOT };

/*
 * SIGKILL, or the execve() of a sibling, ends the thread.  A first tracer may
 * get the event before that.  A further tracer does not, as the thread would
 * not stop for it.
 */
static enum exit_event if_killed(const sole_variant *variant)
{
	return variant->further ? COMES_NOT : MAY_COME;
}

/* The thread ends with @status. */
static void thread_ends(struct __test_metadata *_metadata,
			struct two_data *self, int status,
			enum exit_event event)
{
	pid_t tid = self->t.sh->tid[THREAD];
	struct two_tracer *s = &self->s;
	long told = two_wait(s, tid);

	if (event == COMES || (event == MAY_COME &&
			       told == two_event(PTRACE_EVENT_EXIT))) {
		ASSERT_EQ(two_event(PTRACE_EVENT_EXIT), told);
		EXPECT_EQ(status, two_message(s, tid));
		ASSERT_EQ(0, two_cont(s, tid, 0));
		told = two_wait(s, tid);
	}
	EXPECT_EQ(status, told & ~0x80);
	EXPECT_EQ(-ECHILD, two_wait(s, tid));
	if (event != COMES_NOT)
		return;
	/*
	 * The end hides an event that was not read by then.  Its SIGCHLD would
	 * still be pending, and that of the end would not be queued.
	 */
	s->call->op = TWO_SIGCHLD;
	ASSERT_EQ(SIGCHLD, two_run(s));
	EXPECT_EQ(tid, s->call->info.si_pid);
	EXPECT_NE(CLD_TRAPPED, s->call->info.si_code);
}

TEST_F(tracers, exit_group_of_a_sibling)
{
	ASSERT_TRUE(start_threads(self, variant));
	self->t.sh->go[0] = UT_GO_EXIT_GROUP;
	thread_ends(_metadata, self, two_exit(7), COMES);
	ASSERT_TRUE(ut_reap(&self->t, &self->status));
	EXPECT_EQ(two_exit(7), self->status);
}

static void signal_ends(struct __test_metadata *_metadata,
			struct two_data *self, const sole_variant *variant,
			int sig, enum exit_event event)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(start_threads(self, variant));
	/* The untraced leader takes it. */
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, sig));
	thread_ends(_metadata, self, two_killed(sig), event);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_killed(sig), self->status & ~0x80);
}

TEST_F(tracers, sigsegv_of_a_sibling)
{
	signal_ends(_metadata, self, variant, SIGSEGV, COMES);
}

TEST_F(tracers, sigterm_of_a_sibling)
{
	signal_ends(_metadata, self, variant, SIGTERM, COMES);
}

TEST_F(tracers, sigkill)
{
	signal_ends(_metadata, self, variant, SIGKILL, if_killed(variant));
}

TEST_F(tracers, exec_of_a_sibling)
{
	ASSERT_TRUE(start_threads(self, variant));
	self->t.sh->go[0] = UT_GO_EXEC;
	thread_ends(_metadata, self, two_exit(0), if_killed(variant));
	EXPECT_TRUE(ut_became_helper(self->t.pid));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - holds and job control, in every order
 *
 * A thread that an engine holds takes part in a group stop.  A signal to a
 * process whose threads are all held waits, and takes effect before any user
 * code runs.
 */
#include <termios.h>

#include "fixture.h"

/* Check that wait() reports that the process has stopped. */
static bool told_stop(pid_t pid)
{
	int status;

	return ut_waitpid(pid, &status, WUNTRACED) == 1 && WIFSTOPPED(status);
}

static bool told_cont(pid_t pid)
{
	int status;

	return ut_waitpid(pid, &status, WCONTINUED) == 1 &&
	       WIFCONTINUED(status);
}

TEST_F(utrace, held_then_sigstop)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(told_stop(t->pid));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, held_then_sigstop_no_code_runs)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);
	long old;

	ASSERT_LT(0, id);
	old = t->sh->counter;
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_TRUE(told_stop(t->pid));
	EXPECT_EQ(old, t->sh->counter);
}

TEST_F(utrace, sigstop_then_held)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	/* A task in a group stop counts as stopped. */
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	/* SIGCONT ends the group stop and is reported; the hold goes on. */
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * The stopped task makes no report, so the engine cannot decline its request.
 */
TEST_F(utrace, sigstop_then_held_by_one_that_answers_resume)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_REPORT,
			     .answer = UT_RESUME | UT_PASS));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_QUIESCE,
			     .answer = UT_RESUME | UT_PASS));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, sigstop_then_held_then_resumed_first)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, detach_in_group_stop)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_EQ(0, ut_detach(id));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, held_then_sigstop_then_sigcont)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	/*
	 * SIGCONT cancelled the group stop before the target took part in it.
	 */
	EXPECT_TRUE(ut_runs(t));
	EXPECT_NE('T', ut_state(t->pid));
}

TEST_F(utrace, kill_in_both_stops)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

/* The engine answers UTRACE_STOP to the JCTL report of a SIGCONT. */
TEST_F(utrace, stop_at_continue)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_BIT(JCTL));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_JCTL, .count = 1,
			     .match = CLD_CONTINUED, .answer = UT_STOP));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, held_thread_takes_part)
{
	struct ut_target *t = &self->t;
	int id = ut_hold_thread(t);

	ASSERT_LT(0, id);
	EXPECT_TRUE(ut_thread_runs(t, 0));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	/* The group stop completes although one thread is held. */
	EXPECT_TRUE(told_stop(t->pid));
	EXPECT_TRUE(ut_until(ut_state(t->sh->tid[0]) == 'T'));
	EXPECT_TRUE(ut_until(ut_state(t->sh->tid[2]) == 'T'));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_thread_runs(t, 2));
	EXPECT_EQ('t', ut_state(t->sh->tid[1]));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/*
 * A held thread reports that it joins the group stop; its answer UTRACE_RESUME
 * then does not end the hold.  The engine gets QUIESCE for that report, too.  The
 * module would answer it with UTRACE_STOP, which asks for another hold.
 */
TEST_F(utrace, held_thread_reports_the_stop)
{
	struct ut_target *t = &self->t;
	int id = ut_hold_thread(t), observer, i, told = 0;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(QUIESCE) | UT_BIT(JCTL)));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_QUIESCE,
			     .answer = UT_RESUME));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_JCTL,
			     .answer = UT_RESUME));
	observer = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(JCTL));
	ASSERT_LT(0, observer);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	EXPECT_TRUE(told_stop(t->pid));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_JCTL, t->sh->tid[1], CLD_STOPPED));
	EXPECT_EQ(3, ut_matches(0, observer, UT_EV_JCTL, UT_ANY, CLD_STOPPED));
	EXPECT_EQ(1, ut_matches(0, observer, UT_EV_JCTL, t->sh->tid[1],
				CLD_STOPPED));
	for (i = 0; i < ut_nrec; i++)
		told += (int)ut_rec[i].id == observer &&
			ut_rec[i].val[0] == CLD_STOPPED;
	/* At most one thread is the last; none is if all stop at once. */
	EXPECT_GE(1, told);
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_held(t->sh->tid[1]));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/*
 * A thread reports a stop while it is held, and again when the hold ends.  The
 * second report has UTRACE_JCTL_AGAIN, the report of the next stop does not.
 */
TEST_F(utrace, stop_is_reported_again)
{
	struct ut_target *t = &self->t;
	int id = ut_hold_thread(t), observer, i;
	pid_t tid = t->sh->tid[1];

	ASSERT_LT(0, id);
	observer = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(JCTL));
	ASSERT_LT(0, observer);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	EXPECT_TRUE(told_stop(t->pid));
	i = ut_wait(0, observer, UT_EV_JCTL, tid, CLD_STOPPED);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_JCTL_AGAIN);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	i = ut_wait(i + 1, observer, UT_EV_JCTL, tid, CLD_STOPPED);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_JCTL_AGAIN, ut_rec[i].action & UT_JCTL_AGAIN);
	EXPECT_TRUE(ut_until(ut_state(tid) == 'T'));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	i = ut_wait(i + 1, observer, UT_EV_JCTL, tid, CLD_STOPPED);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_JCTL_AGAIN);
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* The last thread that a group stop waits for exits instead of stopping. */
TEST_F(utrace, stop_completed_by_exit)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS,
		       UT_BIT(JCTL) | UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_EXIT,
			     .tid = t->sh->tid[1], .answer = UT_RESUME,
			     .delay_ms = 3000));
	t->sh->go[1] = UT_GO_END;
	ASSERT_LE(0, ut_wait(0, id, UT_EV_EXIT, t->sh->tid[1], UT_ANY));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	EXPECT_TRUE(told_stop(t->pid));
	i = ut_wait(0, id, UT_EV_JCTL, t->sh->tid[1], CLD_STOPPED);
	ASSERT_LE(0, i);
	EXPECT_EQ(CLD_STOPPED, ut_rec[i].val[0]);
	i = ut_find(0, id, UT_EV_JCTL, t->pid, CLD_STOPPED);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].val[0]);
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 0));
}

TEST_F(utrace, held_thread_released_in_group_stop)
{
	struct ut_target *t = &self->t;
	int id = ut_hold_thread(t);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(ut_state(t->sh->tid[1]) == 'T'));
	EXPECT_TRUE(ut_thread_still(t, 1));
	/* The parent gets the group stop only once. */
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WUNTRACED | WNOHANG));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(ut_thread_runs(t, 2));
}

TEST_F(utrace, process_held_in_group_stop)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(told_stop(t->pid));
	for (i = 0; i < 3; i++)
		ASSERT_TRUE(ut_until(ut_state(t->sh->tid[i]) == 'T'));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(told_cont(t->pid));
	for (i = 0; i < 3; i++) {
		EXPECT_TRUE(ut_held(t->sh->tid[i]));
		EXPECT_TRUE(ut_thread_still(t, i));
	}
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(ut_thread_runs(t, i));
}

/* A fatal signal to the process is taken by a thread that is not held. */
TEST_F(utrace, signal_passes_by_the_held_thread)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_hold_thread(t));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

/*
 * The job of test control_z: one thread is held, and a shell waits for the job.
 */
static int job_target(struct ut_target *t)
{
	t->arg = 3;
	/* Wait to be the foreground group of the terminal. */
	while (tcgetpgrp(STDIN_FILENO) != getpgrp())
		sched_yield();
	return ut_threaded(t);
}

/*
 * The shell.  value[1] is the pid of the job, value[2] the signal that stopped
 * it; value[3] is 1 when the shell has seen the job continue.
 */
static int shell_target(struct ut_target *t)
{
	char *name = (char *)t->arg;
	int fd, status;
	pid_t pid;

	setsid();
	fd = open(name, O_RDWR);
	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0))
		return 99;
	dup2(fd, STDIN_FILENO);
	signal(SIGTTOU, SIG_IGN);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		_exit(job_target(t));
	}
	setpgid(pid, pid);
	tcsetpgrp(STDIN_FILENO, pid);
	t->sh->value[1] = pid;
	if (waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status))
		t->sh->value[2] = WSTOPSIG(status);
	ut_await(t);
	kill(-pid, SIGCONT);
	if (waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status))
		t->sh->value[3] = 1;
	ut_await(t);
	kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	return 0;
}

TEST_F(utrace, control_z)
{
	struct ut_target *t = &self->t;
	int master, id;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		SKIP(return, "no pseudo terminals: %s", strerror(errno));
	ASSERT_EQ(0, grantpt(master));
	ASSERT_EQ(0, unlockpt(master));
	t->arg = (long)ptsname(master);
	ASSERT_TRUE(ut_spawn(t, shell_target));
	ASSERT_TRUE(ut_hear(t));
	id = ut_attach(t->sh->tid[1], 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_stop(id, 0));
	ASSERT_TRUE(ut_held(t->sh->tid[1]));
	ASSERT_EQ(1, write(master, "\x1a", 1));
	/* The shell reads that the job has stopped. */
	EXPECT_TRUE(ut_until(t->sh->value[2] == SIGTSTP));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[3] == 1));
	EXPECT_TRUE(ut_thread_runs(t, 0));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_thread_runs(t, 1));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	close(master);
}

/* Holds and job control race; in the end the target runs. */
TEST_F(utrace, storm)
{
	struct ut_target *t = &self->t;
	long end = ut_now_ms() + 5000;
	int id, status, i;
	pid_t pid;

	/*
	 * The test reads no records during the race, so the log may overflow.
	 */
	ut_may_miss = true;
	ASSERT_TRUE(ut_spawn_threads(t, 3));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS,
		       UT_BIT(QUIESCE) | UT_BIT(JCTL) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ut_be_child();
		while (ut_now_ms() < end) {
			kill(t->pid, SIGSTOP);
			kill(t->pid, SIGCONT);
		}
		_exit(0);
	}
	while (ut_now_ms() < end) {
		ASSERT_EQ(0, ut_stop(id, 0));
		ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
		ut_pull(0);
		ut_nrec = 0;
	}
	ASSERT_EQ(1, ut_waitpid(pid, &status, 0));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(ut_thread_runs(t, i));
	/* Job control still works. */
	while (waitpid(t->pid, &status,
		       WUNTRACED | WCONTINUED | WNOHANG) > 0)
		;
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	EXPECT_TRUE(told_stop(t->pid));
}

TEST_HARNESS_MAIN

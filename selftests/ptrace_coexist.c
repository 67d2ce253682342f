// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - ptrace and engines on the same task
 *
 * A debugger can attach, examine and detach while an engine holds the task, and
 * neither gets a report of the other's steps.  ut_hold() holds the task at the
 * safe point, a permeable stop: ptrace can stop the task there.
 */
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "fixture.h"

/* Wait for a ptrace stop; returns the whole status, or -1. */
static int tracer_stop(pid_t pid)
{
	int status;

	if (ut_waitpid(pid, &status, __WALL) != 1 || !WIFSTOPPED(status))
		return -1;
	return status;
}

static bool can_read_registers(pid_t pid)
{
	struct user_regs_struct regs = {};
	struct iovec iov = { &regs, sizeof(regs) };

	return !ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) &&
	       iov.iov_len > 0;
}

TEST_F(utrace, attach_look_detach)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);
	long word;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_TRUE(can_read_registers(t->pid));
	errno = 0;
	word = ptrace(PTRACE_PEEKDATA, t->pid, &t->sh->counter, 0);
	EXPECT_EQ(0, errno);
	EXPECT_EQ(t->sh->counter, word);
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	/* The tracer is gone, and the task is still held. */
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, no_user_code_from_attach_to_detach)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);
	long old;

	ASSERT_LT(0, id);
	old = t->sh->counter;
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_EQ(old, t->sh->counter);
}

TEST_F(utrace, seize_interrupt_detach)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t), status, i;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
		status = tracer_stop(t->pid);
		ASSERT_EQ(PTRACE_EVENT_STOP, status >> 16);
		EXPECT_TRUE(can_read_registers(t->pid));
		ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
		EXPECT_TRUE(ut_still(t));
	}
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_EQ(PTRACE_EVENT_STOP, tracer_stop(t->pid) >> 16);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

/* PTRACE_CONT does not run a task that an engine holds. */
TEST_F(utrace, cont_does_not_run_it)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(tracer_stop(t->pid)));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_still(t));
	EXPECT_FALSE(can_read_registers(t->pid));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	/* The tracer is still there. */
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_EQ(SIGUSR1, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, tracer_gets_a_signal_to_a_held_task)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(SIGUSR1, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * Function of a target that is held in different places; PTRACE_ATTACH must
 * return at once in each of them.
 */
static int mark_then_spin(struct ut_target *t)
{
	ut_await(t);
	ut_mark(0);
	return ut_spin(t);
}

TEST_F(utrace, attach_at_syscall_entry)
{
	struct ut_target *t = &self->t;
	long before;
	int id;

	ASSERT_TRUE(ut_spawn(t, mark_then_spin));
	id = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_STOP));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_held(t->pid));
	before = ut_now_ms();
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	EXPECT_GT(UT_DEADLINE_MS, ut_now_ms() - before);
	/* The stop of ptrace comes when the engine ends its hold. */
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_EQ(0, t->sh->counter);
	EXPECT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, attach_to_group_stopped_and_held)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_NE(-1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	ASSERT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	ASSERT_EQ(SIGSTOP, WSTOPSIG(tracer_stop(t->pid)));
	EXPECT_TRUE(can_read_registers(t->pid));
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * PTRACE_SEIZE of a held thread that took part in a group stop: the thread
 * reports that stop to the tracer as any thread would, and does not run before
 * SIGCONT.
 */
TEST_F(utrace, seize_of_a_held_thread_of_a_stopped_group)
{
	struct ut_target *t = &self->t;
	int id = ut_hold_thread(t), status;
	pid_t tid;

	ASSERT_LT(0, id);
	tid = t->sh->tid[1];
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, tid, 0, 0));
	status = tracer_stop(tid);
	ASSERT_NE(-1, status);
	EXPECT_EQ(PTRACE_EVENT_STOP, status >> 16);
	EXPECT_EQ(SIGSTOP, WSTOPSIG(status));
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, 0, 0));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(ut_state(tid) == 'T'));
	EXPECT_TRUE(ut_thread_still(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* The same seize, but the hold is firm: ptrace waits until the hold ends. */
TEST_F(utrace, seize_of_a_firmly_held_thread_of_a_stopped_group)
{
	struct ut_target *t = &self->t;
	int id, status;
	pid_t tid;
	long old;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	id = ut_attach(tid, 0, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_STOP));
	t->sh->go[1] = UT_GO_MARK;
	ASSERT_TRUE(ut_held(tid));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &status, WUNTRACED));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, tid, 0, 0));
	old = t->sh->thread_counter[1];
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	status = tracer_stop(tid);
	EXPECT_EQ(PTRACE_EVENT_STOP, status >> 16);
	EXPECT_EQ(old, t->sh->thread_counter[1]);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, tid, 0, 0));
	EXPECT_TRUE(ut_until(ut_state(tid) == 'T'));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/* Function of a target; value[15] is the errno if there is no seccomp. */
static int killed_by_seccomp(struct ut_target *t)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UT_MARK_NR, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(code), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		t->sh->value[15] = errno;
	ut_say(t);
	ut_await(t);
	ut_mark(0);
	return ut_spin(t);
}

/* A target that an engine holds at a SIGSYS with SA_IMMUTABLE. */
static int hold_at_sigsys(struct ut_target *t)
{
	struct ut_rule rule = {
		.event = UT_EV_SIGNAL_CORE, .match = UT_ANY,
		.answer = UT_STOP | UT_PASS,
	};

	if (!ut_spawn(t, killed_by_seccomp) || !ut_hear(t))
		return -EAGAIN;
	if (t->sh->value[15])
		return -EOPNOTSUPP;
	rule.id = ut_attach(t->pid, 0, UT_BIT(SIGNAL_CORE));
	if (ut_ioctl(UT_IOC_RULE, &rule) || !ut_go(t) || !ut_held(t->pid))
		return -EAGAIN;
	return rule.id;
}

/*
 * A tracer does not see such a signal, and the SIGSTOP of PTRACE_ATTACH would
 * come after it.  So the task must stay held, and not leave the stop again and
 * again.
 */
TEST_F(utrace, attach_to_one_held_at_a_signal_that_is_forced)
{
	struct ut_target *t = &self->t;
	int id = hold_at_sigsys(t), i;

	if (id == -EOPNOTSUPP)
		SKIP(return, "no seccomp: %s", strerror(t->sh->value[15]));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	/* The attach may wake the task for a moment. */
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SIGNAL_CORE, t->pid, SIGSYS));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
	ASSERT_EQ(0, ut_norules(id));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	/*
	 * SIGSYS kills the task before it takes SIGSTOP, as without an engine.
	 */
	for (i = 0; i < 5; i++) {
		ASSERT_TRUE(ut_reap(t, &self->status));
		if (!WIFSTOPPED(self->status))
			break;
		ptrace(PTRACE_CONT, t->pid, 0, 0);
	}
	EXPECT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGSYS, WTERMSIG(self->status));
}

/* A trap of PTRACE_INTERRUPT is reported while the task is held there. */
TEST_F(utrace, interrupt_of_one_held_at_a_signal_that_is_forced)
{
	struct ut_target *t = &self->t;
	int id = hold_at_sigsys(t), i;

	if (id == -EOPNOTSUPP)
		SKIP(return, "no seccomp: %s", strerror(t->sh->value[15]));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
		ASSERT_EQ(PTRACE_EVENT_STOP, tracer_stop(t->pid) >> 16);
		EXPECT_TRUE(can_read_registers(t->pid));
		ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
		EXPECT_TRUE(ut_held(t->pid));
	}
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	/* The signal is put back at each trap, and reported again after it. */
	EXPECT_EQ(4, ut_matches(0, id, UT_EV_SIGNAL_CORE, t->pid, SIGSYS));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

/* The tracer dies, and the task stays held by the engine. */
TEST_F(utrace, death_of_the_tracer)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t), status;
	pid_t pid;

	ASSERT_LT(0, id);
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ut_be_child();
		if (ptrace(PTRACE_ATTACH, t->pid, 0, 0))
			_exit(1);
		_exit(tracer_stop(t->pid) < 0);
	}
	ASSERT_EQ(1, ut_waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_TRUE(ut_until(ut_status(t->pid, "TracerPid:") == 0));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, kill_of_a_traced_and_held_task)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_hold(t));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

/* The tracer comes first, the engine after it. */
static bool trace(struct ut_target *t)
{
	return ut_spawn(t, ut_spin) && ut_runs(t) &&
	       !ptrace(PTRACE_SEIZE, t->pid, 0, 0) &&
	       !ptrace(PTRACE_INTERRUPT, t->pid, 0, 0) &&
	       tracer_stop(t->pid) >> 16 == PTRACE_EVENT_STOP;
}

TEST_F(utrace, engine_on_a_traced_task)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(trace(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	/* A task in a ptrace stop counts as stopped. */
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_TRUE(can_read_registers(t->pid));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	/* The tracer and the engine both see a signal. */
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(SIGUSR1, WSTOPSIG(tracer_stop(t->pid)));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, SIGUSR1));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGUSR1, WTERMSIG(self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_SIGNAL_TERM, t->pid, SIGUSR1));
}

TEST_F(utrace, engine_lets_go_of_a_task_in_a_ptrace_stop)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(trace(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(can_read_registers(t->pid));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	ASSERT_EQ(0, ut_detach(id));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(can_read_registers(t->pid));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* The engine steps; the tracer did not ask for the step and sees no trap. */
TEST_F(utrace, engines_steps_are_not_the_tracers)
{
	struct ut_target *t = &self->t;
	int id, i, from;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL_IGN,
			     .match = SIGTRAP, .answer = UT_STOP | UT_PASS));
	for (i = 0; i < 5; i++) {
		ut_pull(0);
		from = ut_nrec;
		ASSERT_EQ(0, ut_control(id, 0, UT_SINGLESTEP));
		ASSERT_LE(0, ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid,
				     SIGTRAP));
		ASSERT_TRUE(ut_held(t->pid));
	}
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
	ASSERT_EQ(0, ut_norules(id));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
}

/* The tracer steps; it gets the trap, and the engine no report of a step. */
TEST_F(utrace, tracers_steps_are_not_the_engines)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(trace(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_BIT(SIGNAL_IGN));
	ASSERT_LT(0, id);
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, ptrace(PTRACE_SINGLESTEP, t->pid, 0, 0));
		ASSERT_EQ(SIGTRAP, WSTOPSIG(tracer_stop(t->pid)));
	}
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_SIGNAL_IGN, t->pid, SIGTRAP));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
	/* No trap is left over. */
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
}

TEST_F(utrace, both_step)
{
	struct ut_target *t = &self->t;
	int id, i, from;

	ASSERT_TRUE(trace(t));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	for (i = 0; i < 5; i++) {
		ut_pull(0);
		from = ut_nrec;
		ASSERT_EQ(0, ut_control(id, 0, UT_SINGLESTEP));
		ASSERT_EQ(0, ptrace(PTRACE_SINGLESTEP, t->pid, 0, 0));
		ASSERT_EQ(SIGTRAP, WSTOPSIG(tracer_stop(t->pid)));
		EXPECT_LE(0, ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid,
				     SIGTRAP));
	}
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WNOHANG | __WALL));
}

/*
 * Function of a target whose forks a tracer follows while an engine covers the
 * tree, both to the end.
 */
static int family(struct ut_target *t)
{
	int i;

	ut_await(t);
	for (i = 0; i < 10; i++)
		ut_fork_wait(0);
	return 4;
}

TEST_F(utrace, both_follow_forks)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	struct ut_target *t = &self->t;
	int id, status, forks = 0, over = 0;
	pid_t pid;

	ASSERT_TRUE(ut_spawn(t, family));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, UT_ATTACH_TREE,
		       UT_BIT(CLONE) | UT_BIT(EXIT) | UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, PTRACE_O_TRACEFORK |
			    PTRACE_O_TRACESYSGOOD));
	ASSERT_TRUE(ut_go(t));
	while (!over && ut_now_ms() < end) {
		pid = waitpid(-1, &status, WNOHANG | __WALL);
		if (pid <= 0) {
			ut_sleep_ms(1);
			continue;
		}
		if (pid == t->pid && WIFEXITED(status)) {
			EXPECT_EQ(4, WEXITSTATUS(status));
			over = 1;
		}
		if (!WIFSTOPPED(status))
			continue;
		if (status >> 16 == PTRACE_EVENT_FORK)
			forks++;
		/*
		 * Signals other than SIGCHLD are dropped, like the tracer's own
		 * stops.
		 */
		ptrace(PTRACE_SYSCALL, pid, 0,
		       WSTOPSIG(status) == SIGCHLD ? SIGCHLD : 0);
	}
	EXPECT_EQ(1, over);
	EXPECT_EQ(10, forks);
	EXPECT_EQ(10, ut_count(id, UT_EV_CLONE));
	EXPECT_EQ(11, ut_count(id, UT_EV_EXIT));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - stops at every place, ended in every way
 *
 * The file also tests steps, and the examination of a stopped task.
 */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "fixture.h"
#include "stoppoint.h"

static struct ut_shared *counted;

static void count_signal(int sig)
{
	counted->value[0]++;
}

TEST_F(point, ends_by_resume)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);

	ASSERT_LT(0, id);
	EXPECT_EQ(0, ut_status(t->pid, "TracerPid:"));
	EXPECT_EQ(ut_point_is_exit(variant->at), t->sh->value[0]);
	/* The task is stopped, so another request for a stop returns 0. */
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	/* The parent gets no report of the stop. */
	EXPECT_EQ(0, waitpid(t->pid, &self->status,
			     WNOHANG | WUNTRACED | WCONTINUED));
	ut_point_let_end(t);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
}

TEST_F(point, ends_by_detach)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);

	ASSERT_LT(0, id);
	ut_point_let_end(t);
	ASSERT_EQ(0, ut_detach(id));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
}

TEST_F(point, ends_by_close)
{
	struct ut_target *t = &self->t;

	ASSERT_LT(0, ut_point_stop(t, variant->at));
	ut_point_let_end(t);
	close(ut_fd);
	ut_fd = -1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
}

/*
 * Check whether a report was made after the request.  The report of a handler's
 * frame counts as well.
 */
static bool was_reported(pid_t tid, int from, int id)
{
	return ut_find(from, id, UT_EV_QUIESCE, tid, 0) >= 0 ||
	       ut_find(from, id, UT_EV_REPORT, tid, UT_ANY) >= 0 ||
	       ut_find(from, id, UT_EV_HANDLER, tid, UT_ANY) >= 0;
}

TEST_F(point, ends_by_report)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);
	int from, i;

	ASSERT_LT(0, id);
	ut_point_let_end(t);
	ut_pull(0);
	from = ut_nrec;
	ASSERT_EQ(0, ut_control(id, 0, UT_REPORT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
	ut_pull(0);
	if (variant->at == UT_AT_ENTRY) {
		i = ut_find(from, id, UT_EV_SYSCALL_ENTRY, t->pid,
			    UT_MARK_NR);
		ASSERT_LE(0, i);
		EXPECT_NE(0, ut_rec[i].action & UT_SYSCALL_RESUMED);
	} else if (!ut_point_is_end(variant->at)) {
		EXPECT_TRUE(was_reported(t->pid, from, id));
	}
}

TEST_F(point, ends_by_interrupt)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);
	int from, i;

	ASSERT_LT(0, id);
	ut_point_let_end(t);
	ut_pull(0);
	from = ut_nrec;
	ASSERT_EQ(0, ut_control(id, 0, UT_INTERRUPT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
	ut_pull(0);
	if (ut_point_is_end(variant->at))
		return;
	switch (variant->at) {
	case UT_AT_ENTRY:
		i = ut_find(from, id, UT_EV_SYSCALL_ENTRY, t->pid,
			    UT_MARK_NR);
		ASSERT_LE(0, i);
		EXPECT_NE(0, ut_rec[i].action & UT_SYSCALL_RESUMED);
		break;
	case UT_AT_SIGNAL:
		EXPECT_TRUE(was_reported(t->pid, from, id));
		break;
	default:
		EXPECT_LE(0, ut_find(from, id, UT_EV_REPORT, t->pid, UT_ANY));
	}
}

TEST_F(point, two_engines_hold)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);
	int other = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(QUIESCE));

	ASSERT_LT(0, id);
	ASSERT_LT(0, other);
	EXPECT_EQ(0, ut_control(other, t->pid, UT_STOP));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_EQ(ut_point_is_exit(variant->at), t->sh->value[0]);
	ut_point_let_end(t);
	ASSERT_EQ(0, ut_control(other, t->pid, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(ut_point_ended_well(variant->at, self->status));
}

TEST_F(point, can_be_examined)
{
	struct ut_target *t = &self->t;
	int id = ut_point_stop(t, variant->at);
	struct ut_examine exam = { .id = id };
	int other;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(0, exam.prepare);
	EXPECT_EQ(0, exam.finish);
	EXPECT_NE(0, exam.ip);
	EXPECT_NE(0, exam.sp);
	if (variant->at == UT_AT_SYSEXIT)
		EXPECT_EQ(getpid(), exam.result);
	if (variant->at == UT_AT_ENTRY)
		EXPECT_EQ(UT_MARK_NR, exam.nr);
	if (variant->at == UT_AT_SIGNAL)
		EXPECT_EQ((unsigned long)ut_point_handler, exam.ip);
	/* An engine that does not hold the task may not examine it. */
	other = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, other);
	exam.id = other;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(-EINVAL, exam.prepare);
}

TEST_F(utrace, of_a_running_task)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	/* A hold needs no event. */
	id = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, id);
	EXPECT_EQ(-EINPROGRESS, ut_control(id, 0, UT_STOP));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
}

static int reader(struct ut_target *t)
{
	ut_await(t);
	t->sh->value[0] = 1;
	ut_await(t);
	return 0;
}

TEST_F(utrace, does_not_break_a_sleep)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, reader));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	EXPECT_EQ(-EINPROGRESS, ut_control(id, 0, UT_STOP));
	EXPECT_TRUE(ut_stays(ut_asleep_in(t->pid, SYS_read)));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
}

TEST_F(utrace, taken_back_before_it_began)
{
	struct ut_target *t = &self->t;
	int id;

	ASSERT_TRUE(ut_spawn(t, reader));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	EXPECT_EQ(-EINPROGRESS, ut_control(id, 0, UT_STOP));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
}

TEST_F(utrace, again_and_again)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	for (i = 0; i < 200; i++) {
		ASSERT_EQ(0, ut_stop(id, 0));
		ASSERT_TRUE(ut_held(t->pid));
		ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	}
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(utrace, examine_while_it_goes_on)
{
	struct ut_target *t = &self->t;
	struct ut_examine exam = { .delay_ms = 1500 };
	int id, other, status;
	pid_t pid;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	other = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_LT(0, other);
	/* A running task cannot be examined. */
	exam.id = id;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(-EINVAL, exam.prepare);
	ut_control(id, 0, UT_STOP);
	ASSERT_TRUE(ut_held(t->pid));
	/* The target is killed during the examination. */
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		ut_sleep_ms(500);
		kill(t->pid, SIGKILL);
		_exit(0);
	}
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	EXPECT_EQ(0, exam.prepare);
	EXPECT_NE(0, exam.finish);
	waitpid(pid, &status, 0);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
}

/* An examination in a thread of the test, which ends when the gate opens. */
static struct ut_examine long_exam;

static void *examine(void *arg)
{
	if (ut_ioctl(UT_IOC_EXAMINE, &long_exam))
		long_exam.finish = 1;
	return arg;
}

/* Begin an examination by an engine that holds its task. */
static bool examine_begins(pthread_t *thread, int id)
{
	long_exam = (struct ut_examine) {
		.id = id, .delay_ms = UT_UNTIL_OPEN, .prepare = 1,
	};
	return !ut_gate(false) && !pthread_create(thread, NULL, examine, NULL) &&
	       ut_until(!__atomic_load_n(&long_exam.prepare, __ATOMIC_ACQUIRE));
}

/* The result of utrace_finish_examine(). */
static int examine_ends(pthread_t thread)
{
	return ut_gate(true) || pthread_join(thread, NULL) ? 1 :
							     long_exam.finish;
}

TEST_F(utrace, examine_without_a_run)
{
	int id = ut_hold(&self->t);
	pthread_t thread;

	ASSERT_LT(0, id);
	ASSERT_TRUE(examine_begins(&thread, id));
	/* A request to stop that is met already changes nothing. */
	EXPECT_EQ(0, ut_control(id, 0, UT_STOP));
	EXPECT_EQ(0, examine_ends(thread));
}

/* The task has run in between, and the engine holds it again. */
TEST_F(utrace, examine_notices_a_run)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t);
	pthread_t thread;

	ASSERT_LT(0, id);
	ASSERT_TRUE(examine_begins(&thread, id));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, ut_stop(id, 0));
	EXPECT_TRUE(ut_held(t->pid));
	EXPECT_EQ(-EAGAIN, examine_ends(thread));
}

/* Another engine has held the task in between. */
TEST_F(utrace, examine_notices_a_resume)
{
	struct ut_target *t = &self->t;
	int id = ut_hold(t), other;
	pthread_t thread;

	ASSERT_LT(0, id);
	other = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, other);
	ASSERT_EQ(0, ut_control(other, 0, UT_STOP));
	ASSERT_TRUE(examine_begins(&thread, id));
	EXPECT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_EQ(-EINVAL, examine_ends(thread));
	EXPECT_EQ('t', ut_state(t->pid));
}

/* NOPS instructions of one byte, then the jump of a loop. */
#define NOPS		32
#define STRING_OF(x)	#x
#define STRING(x)	STRING_OF(x)
void ut_steps(void);
asm("	.text\n"
	"	.globl ut_steps\n"
	"ut_steps:\n"
	"	.rept " STRING(NOPS) "\n"
	"	nop\n"
	"	.endr\n"
	"1:	incq (%rsi)\n"
	"	jmp 1b\n");

static int stepper(struct ut_target *t)
{
	ut_await(t);
	asm volatile("mov %0, %%rsi\n\t"
		     "mov %1, %%eax\n\t"
		     "lea ut_steps(%%rip), %%rcx\n\t"
		     "jmp *%%rcx"
		     : : "r" (&t->sh->counter), "i" (UT_MARK_NR)
		     : "rax", "rcx", "rsi", "r11", "memory");
	return 0;
}

/* Leave @t stopped at the first instruction of ut_steps. */
static int stop_at_steps(struct ut_target *t)
{
	int id, i;

	if (!ut_spawn(t, stepper) ||
	    !ut_until(ut_asleep_in(t->pid, SYS_read)))
		return -1;
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_BIT(SYSCALL_EXIT));
	if (id < 0)
		return id;
	ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT, .match = SYS_read,
		.answer = UT_STOP, .count = 1);
	ut_go(t);
	if (!ut_held(t->pid))
		return -1;
	/* Step from the end of read() to the nops, a few instructions. */
	ut_rule(.id = id, .event = UT_EV_SIGNAL_IGN, .match = SIGTRAP,
		.answer = UT_STOP | UT_PASS);
	for (i = 0; i < 200; i++) {
		struct ut_examine exam = { .id = id };
		int from;

		ut_ioctl(UT_IOC_EXAMINE, &exam);
		if (exam.ip == (unsigned long)ut_steps)
			return id;
		ut_pull(0);
		from = ut_nrec;
		if (ut_control(id, 0, UT_SINGLESTEP) ||
		    ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid, SIGTRAP) < 0 ||
		    !ut_held(t->pid))
			return -1;
	}
	return -1;
}

TEST_F(utrace, single_step)
{
	struct ut_target *t = &self->t;
	struct ut_examine exam;
	int id, i, from;

#ifndef __x86_64__
	SKIP(return, "the stepped code is written for x86_64");
#endif
	id = stop_at_steps(t);
	ASSERT_LT(0, id);
	for (i = 1; i <= 20; i++) {
		ut_pull(0);
		from = ut_nrec;
		ASSERT_EQ(0, ut_control(id, 0, UT_SINGLESTEP));
		ASSERT_LE(0, ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid,
				     SIGTRAP));
		ASSERT_TRUE(ut_held(t->pid));
		exam = (struct ut_examine) { .id = id };
		ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
		ASSERT_EQ(0, exam.prepare);
		EXPECT_EQ((unsigned long)ut_steps + i, exam.ip);
	}
	/*
	 * The step happens once: then the task runs, and no SIGTRAP kills it.
	 */
	ASSERT_EQ(0, ut_norules(id));
	ut_pull(0);
	from = ut_nrec;
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, ut_matches(from, id, UT_ANY, t->pid, SIGTRAP));
}

/* A step is reported only to the engine that asked for it. */
TEST_F(utrace, step_is_reported_to_its_owner)
{
	struct ut_target *t = &self->t;
	int id, other, from;

#ifndef __x86_64__
	SKIP(return, "the stepped code is written for x86_64");
#endif
	id = stop_at_steps(t);
	ASSERT_LT(0, id);
	/* The pass over a step visits the engines with QUIESCE. */
	other = ut_attach(t->pid, 0, UT_BIT(QUIESCE) | UT_SIGNAL_ALL);
	ASSERT_LT(0, other);
	ut_pull(0);
	from = ut_nrec;
	ASSERT_EQ(0, ut_control(id, 0, UT_SINGLESTEP));
	ASSERT_LE(0, ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid, SIGTRAP));
	/* The task has called all engines when it stops. */
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_EQ(0, ut_matches(from, other, UT_ANY, t->pid, UT_ANY));
}

/*
 * Check whether PTRACE_SINGLEBLOCK stops after the first instruction, as a
 * single step does.
 */
static bool steps_by_instructions(void)
{
	struct user_regs_struct regs = {};
	pid_t pid = fork();
	int status;

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		_exit(1);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	regs.rip = (unsigned long)ut_steps;
	regs.rsi = (unsigned long)&status;
	regs.orig_rax = -1;
	ptrace(PTRACE_SETREGS, pid, 0, &regs);
	ptrace(PTRACE_SINGLEBLOCK, pid, 0, 0);
	waitpid(pid, &status, 0);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return regs.rip == (unsigned long)ut_steps + 1;
}

TEST_F(utrace, block_step)
{
	struct ut_target *t = &self->t;
	struct ut_examine exam = {};
	int id, from, ret;

#ifndef __x86_64__
	SKIP(return, "the stepped code is written for x86_64");
#endif
	id = stop_at_steps(t);
	ASSERT_LT(0, id);
	ut_pull(0);
	from = ut_nrec;
	ret = ut_control(id, 0, UT_BLOCKSTEP);
	if (ret == -EOPNOTSUPP)
		SKIP(return, "no block step on this machine");
	ASSERT_EQ(0, ret);
	ASSERT_LE(0, ut_wait(from, id, UT_EV_SIGNAL_IGN, t->pid, SIGTRAP));
	ASSERT_TRUE(ut_held(t->pid));
	exam.id = id;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_EXAMINE, &exam));
	ASSERT_EQ(0, exam.prepare);
	if (exam.ip == (unsigned long)ut_steps + 1 && steps_by_instructions())
		SKIP(return, "this CPU has no block step, not even for ptrace");
	/* The first jump of ut_steps goes back to the loop. */
	EXPECT_EQ((unsigned long)ut_steps + NOPS, exam.ip);
}

/* Function of a target: send itself a signal. */
static int signal_itself(struct ut_target *t)
{
	signal(SIGUSR1, count_signal);
	counted = t->sh;
	ut_say(t);
	ut_await(t);
	kill(getpid(), SIGUSR1);
	while (!t->sh->quit)
		;
	return 0;
}

static void stop_at_exit_of_kill(struct __test_metadata *_metadata,
				 struct ut_target *t, __u32 here)
{
	struct ut_rule rule = {
		.event = UT_EV_SYSCALL_EXIT, .match = SYS_kill, .count = 1,
		.answer = UT_STOP | here,
	};
	int id;

	ASSERT_TRUE(ut_spawn(t, signal_itself));
	id = ut_attach(t->pid, 0, UT_BIT(SYSCALL_EXIT) | UT_BIT(SIGNAL));
	ASSERT_LT(0, id);
	rule.id = id;
	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_held(t->pid));
	ut_pull(0);
	/* The signal is pending when the task leaves the system call. */
	EXPECT_EQ(!here, ut_find(0, id, UT_EV_SIGNAL, t->pid, SIGUSR1) >= 0);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_SIGNAL, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
}

TEST_F(utrace, stop_here_comes_before_signals)
{
	stop_at_exit_of_kill(_metadata, &self->t, UT_STOP_HERE);
}

TEST_F(utrace, stop_comes_after_signals)
{
	stop_at_exit_of_kill(_metadata, &self->t, 0);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the stops of each tracer, and what it may do in them
 *
 * A stop belongs to one tracer.  The task runs when no tracer has it in a stop.
 */
#include <sched.h>
#include <sys/mman.h>

#include <linux/rseq.h>
#include <linux/userfaultfd.h>

#include "either.h"

/* Each tracer interrupts in turn, and the other gets no report. */
TEST_F(tracers, interrupt)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	for (i = 0; i < 6; i++) {
		struct two_tracer *one = tr[i % 2], *other = tr[(i + 1) % 2];

		ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
		EXPECT_TRUE(ut_still(t));
		EXPECT_EQ('t', ut_state(t->pid));
		EXPECT_TRUE(two_has(one, t->pid));
		EXPECT_EQ(TWO_NONE, two_poll(one, t->pid));
		EXPECT_EQ(TWO_NONE, two_poll(other, t->pid));
		ASSERT_EQ(0, two_cont(one, t->pid, 0));
		EXPECT_TRUE(ut_runs(t));
		EXPECT_FALSE(two_has(one, t->pid));
	}
	EXPECT_TRUE(two_quiet(tr[0], t->pid));
	EXPECT_TRUE(two_quiet(tr[1], t->pid));
}

/* A tracer asks for a stop while the other has the task in a stop. */
static void both_interrupt(struct __test_metadata *_metadata,
			   struct ut_target *t, struct two_tracer *one,
			   struct two_tracer *other)
{
	ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
	ASSERT_EQ(0, two_ptrace(other, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	/* The first stop goes on; the second comes now if it has not yet. */
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(other, t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_FALSE(two_has(one, t->pid));
	EXPECT_TRUE(two_has(other, t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(one, t->pid));
	ASSERT_EQ(0, two_cont(other, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(either, interrupt_in_the_stop_of_one)
{
	ASSERT_TRUE(either_seize(self, 0));
	both_interrupt(_metadata, self->t, self->one, self->other);
}

TEST_F(tracers, interrupt_by_two_further_ones)
{
	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	both_interrupt(_metadata, &self->t, &self->s, &self->s2);
	both_interrupt(_metadata, &self->t, &self->s2, &self->s);
}

/* The sleep goes on after the stop of the further tracer. */
TEST_F(tracers, interrupt_of_a_sleeping_task)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	actor_do(t, ACTOR_READS);
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	EXPECT_EQ('t', ut_state(t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	EXPECT_EQ(0, t->sh->value[ACTOR_DONE]);
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(actor_did(t, 1));
}

/* Elements of value[] and go[] of resumes_slowly(). */
enum {
	SLOW_WAITS,		/* the thread waits for its page */
};

enum {
	SLOW_SERVE = 2,		/* the page may come */
};

#define SLOW_STACK	65536

/* The page that has struct rseq of the thread. */
static struct rseq *slow_page;

/* A thread without a C library: its struct rseq is in slow_page. */
static int slow_thread(void *arg)
{
	struct ut_target *t = arg;

	t->sh->tid[1] = ut_gettid();
	if (syscall(SYS_rseq, slow_page, sizeof(*slow_page), 0, 0))
		t->sh->tid[1] = -1;
	while (!t->sh->quit)
		t->sh->thread_counter[1]++;
	return 0;
}

/* Have a userfaultfd for slow_page; returns it, or -1. */
static int slow_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = {
		.mode = UFFDIO_REGISTER_MODE_MISSING,
		.range = { .start = (uintptr_t)slow_page, .len = 4096 },
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &arg))
		return -1;
	return fd;
}

/* Serve the fault of the thread when the test says so. */
static bool slow_serve(struct ut_target *t, int fd)
{
	struct uffdio_zeropage zero = {
		.range = { .start = (uintptr_t)slow_page, .len = 4096 },
	};
	struct uffd_msg msg;

	if (madvise(slow_page, 4096, MADV_DONTNEED))
		return false;
	ut_say(t);
	if (read(fd, &msg, sizeof(msg)) != sizeof(msg))
		return false;
	t->sh->value[SLOW_WAITS] = 1;
	while (!t->sh->go[SLOW_SERVE] && !t->sh->quit)
		usleep(1000);
	return !ioctl(fd, UFFDIO_ZEROPAGE, &zero);
}

/*
 * Function of a target: the second thread waits for a page on its way to user mode, after
 * get_signal() and before the safe point, where the kernel writes struct rseq.
 */
static int resumes_slowly(struct ut_target *t)
{
	char *stack = mmap(NULL, SLOW_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd;

	slow_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (stack == MAP_FAILED || slow_page == MAP_FAILED ||
	    clone(slow_thread, stack + SLOW_STACK, CLONE_VM | CLONE_FS | CLONE_FILES |
		  CLONE_SIGHAND | CLONE_THREAD, t) < 0 || !ut_thread_runs(t, 1))
		return 1;
	fd = slow_uffd();
	if (fd < 0)
		return 1;
	ut_say(t);
	ut_await(t);
	if (!slow_serve(t, fd))
		return 1;
	while (!t->sh->quit)
		usleep(1000);
	return 0;
}

/*
 * The first tracer has resumed the task, which is between get_signal() and the safe point,
 * where it stops for @s2.  The report that @s asks for there is not lost.
 */
TEST_F(tracers, interrupt_before_the_safe_point)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn(t, resumes_slowly));
	ASSERT_TRUE(ut_hear(t));
	tid = t->sh->tid[1];
	ASSERT_LT(0, tid);
	ASSERT_EQ(0, two_seize(p, tid, 0));
	ASSERT_EQ(0, two_seize(s, tid, 0));
	ASSERT_EQ(0, two_seize(s2, tid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s2, tid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, tid));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_cont(p, tid, 0));
	ASSERT_TRUE(ut_until(t->sh->value[SLOW_WAITS]));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, tid, 0));
	t->sh->go[SLOW_SERVE] = 1;
	ASSERT_TRUE(ut_until(ut_state(tid) == 't'));
	ASSERT_EQ(0, two_cont(s2, tid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, tid));
	ASSERT_EQ(0, two_cont(s, tid, 0));
	EXPECT_TRUE(ut_thread_runs(t, 1));
}

/*
 * A tracer listens in a stop that is no group stop.  The task stays where it is, though the
 * first tracer resumes it, and a signal waits.
 */
TEST_F(tracers, listen_keeps_the_task)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	/* Ask for another stop.  It is reported, though @p holds the task. */
	ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_still(t));
	EXPECT_EQ(TWO_NONE, two_poll(s, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_runs(t));
}

/* Requests of a tracer that has no stop. */
TEST_F(tracers, requests_beside_a_stop)
{
	struct two_tracer *tr[] = { &self->p, &self->s };
	struct user_regs_struct regs;
	struct ut_target *t = &self->t;
	siginfo_t info;
	long word = 0;
	int i;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	for (i = 0; i < 2; i++) {
		struct two_tracer *one = tr[i], *other = tr[1 - i];

		ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
		EXPECT_EQ(-ESRCH, two_cont(other, t->pid, 0));
		EXPECT_EQ(-ESRCH, two_ptrace(other, PTRACE_SYSCALL, t->pid, 0));
		EXPECT_EQ(-ESRCH, two_ptrace(other, PTRACE_DETACH, t->pid, 0));
		EXPECT_EQ(-ESRCH, two_ptrace(other, PTRACE_LISTEN, t->pid, 0));
		EXPECT_EQ(-ESRCH,
			  two_ptrace(other, PTRACE_SETOPTIONS, t->pid, 0));
		EXPECT_EQ(-ESRCH, two_regs(other, t->pid, &regs));
		EXPECT_EQ(-ESRCH, two_siginfo(other, t->pid, &info));
		EXPECT_EQ(-ESRCH, two_message(other, t->pid));
		EXPECT_EQ(-ESRCH, two_copy(other, PTRACE_PEEKDATA, t->pid,
					   (long)&t->sh->counter, &word,
					   sizeof(word)));
		EXPECT_TRUE(ut_still(t));
		ASSERT_EQ(0, two_cont(one, t->pid, 0));
		EXPECT_EQ(-ESRCH, two_cont(one, t->pid, 0));
		EXPECT_TRUE(ut_runs(t));
	}
	/* A process that is no tracer, and a thread that is none. */
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	EXPECT_EQ(-ESRCH, two_cont(&self->s2, t->pid, 0));
	EXPECT_EQ(-ESRCH,
		  two_other_ptrace(&self->s, PTRACE_CONT, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
}

TEST_F(tracers, memory)
{
	struct ut_target *t = &self->t;
	long addr = (long)&t->sh->value[ACTOR_RESULT], word = 0;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	addr = (long)&t->sh->value[ACTOR_RESULT];
	t->sh->value[ACTOR_RESULT] = 0x1122334455667788;
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_PEEKDATA, t->pid, addr, &word,
			      sizeof(word)));
	EXPECT_EQ(0x1122334455667788, word);
	EXPECT_EQ(0, two_full(&self->s, PTRACE_POKEDATA, t->pid, addr, 4711));
	EXPECT_EQ(4711, t->sh->value[ACTOR_RESULT]);
	EXPECT_EQ(-EIO, two_full(&self->s, PTRACE_POKEDATA, t->pid, 8, 1));
}

TEST_F(tracers, registers)
{
	struct user_regs_struct regs = {}, again = {};
	struct ut_target *t = &self->t;
	long word = 0;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	ASSERT_EQ(0, two_regs(&self->s, t->pid, &regs));
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_PEEKUSER, t->pid,
			      offsetof(struct user, regs.rip), &word,
			      sizeof(word)));
	EXPECT_EQ((long)regs.rip, word);
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_GETREGSET, t->pid, NT_PRSTATUS,
			      &again, sizeof(again)));
	EXPECT_EQ(0, memcmp(&regs, &again, sizeof(regs)));
	/* The actor does not run with these registers. */
	again.r15 = 0x1234567;
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_SETREGS, t->pid, 0, &again,
			      sizeof(again)));
	ASSERT_EQ(0, two_ptrace(&self->p, PTRACE_INTERRUPT, t->pid, 0));
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_PEEKUSER, t->pid,
			      offsetof(struct user, regs.r15), &word,
			      sizeof(word)));
	EXPECT_EQ(0x1234567, word);
	EXPECT_EQ(0, two_copy(&self->s, PTRACE_SETREGSET, t->pid, NT_PRSTATUS,
			      &regs, sizeof(regs)));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	/* The first tracer finds them as the further tracer left them. */
	ASSERT_EQ(TWO_TRAP, two_wait(&self->p, t->pid));
	ASSERT_EQ(0, two_regs(&self->p, t->pid, &again));
	EXPECT_EQ(regs.r15, again.r15);
	ASSERT_EQ(0, two_cont(&self->p, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* The trap of a step is for the tracer that stepped. */
TEST_F(either, step)
{
	struct two_tracer *one = self->one, *other = self->other;
	struct user_regs_struct before, after;
	struct ut_target *t = self->t;
	siginfo_t info;
	int i;

	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(one, t->pid));
	for (i = 0; i < 5; i++) {
		ASSERT_EQ(0, two_regs(one, t->pid, &before));
		ASSERT_EQ(0, two_ptrace(one, PTRACE_SINGLESTEP, t->pid, 0));
		ASSERT_EQ(two_stop(SIGTRAP), two_wait(one, t->pid));
		ASSERT_EQ(0, two_regs(one, t->pid, &after));
		EXPECT_NE(before.rip, after.rip);
		EXPECT_EQ(0, two_siginfo(one, t->pid, &info));
		EXPECT_EQ(SIGTRAP, info.si_signo);
		EXPECT_EQ(TWO_NONE, two_poll(other, t->pid));
	}
	/* Nothing of the steps is left over. */
	ASSERT_EQ(0, two_cont(one, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(one, t->pid));
	EXPECT_TRUE(two_quiet(other, t->pid));
}

/* The event EXEC is for each tracer that asks for it. */
TEST_F(tracers, exec_for_both)
{
	struct ut_target *t = &self->t;
	struct two_step steps[] = {
		{ two_event(PTRACE_EVENT_EXEC), PTRACE_CONT, 0, 0 },
		{ two_exit(ACTOR_CODE) },
		TWO_END
	};

	ASSERT_TRUE(two_seize_both(self, PTRACE_O_TRACEEXEC,
				   PTRACE_O_TRACEEXEC));
	steps[0].message = t->pid;
	actor_do(t, ACTOR_EXECS);
	ASSERT_TRUE(two_play(t->pid, &self->p, steps, &self->s, steps));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(two_exit(ACTOR_CODE), self->status);
}

TEST_F(tracers, exec_for_one)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, PTRACE_O_TRACEEXEC));
	actor_do(t, ACTOR_EXECS);
	ASSERT_EQ(two_event(PTRACE_EVENT_EXEC), two_wait(&self->s, t->pid));
	EXPECT_EQ(t->pid, two_message(&self->s, t->pid));
	EXPECT_TRUE(two_quiet(&self->p, t->pid));
	/* The new program has not begun. */
	EXPECT_EQ('t', ut_state(t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->p, t->pid));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->s, t->pid));
}

TEST_F(tracers, exit_for_both)
{
	struct ut_target *t = &self->t;
	struct two_step steps[] = {
		{ two_event(PTRACE_EVENT_EXIT), PTRACE_CONT, 0,
		  two_exit(ACTOR_CODE) },
		{ two_exit(ACTOR_CODE) },
		TWO_END
	};

	ASSERT_TRUE(two_seize_both(self, PTRACE_O_TRACEEXIT,
				   PTRACE_O_TRACEEXIT));
	actor_do(t, ACTOR_EXITS);
	ASSERT_TRUE(two_play(t->pid, &self->p, steps, &self->s, steps));
}

/* Options can be changed, and are of one tracer. */
TEST_F(tracers, options)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, PTRACE_O_TRACEEXIT,
				   PTRACE_O_TRACEEXIT));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&self->s, t->pid));
	EXPECT_EQ(-EINVAL, two_ptrace(&self->s, PTRACE_SETOPTIONS, t->pid,
				      1L << 30));
	ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_SETOPTIONS, t->pid,
				PTRACE_O_TRACEEXEC));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	actor_do(t, ACTOR_EXECS);
	ASSERT_EQ(two_event(PTRACE_EVENT_EXEC), two_wait(&self->s, t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, 0));
	ASSERT_EQ(two_event(PTRACE_EVENT_EXIT), two_wait(&self->p, t->pid));
	EXPECT_EQ(TWO_NONE, two_poll(&self->s, t->pid));
	ASSERT_EQ(0, two_cont(&self->p, t->pid, 0));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->p, t->pid));
	EXPECT_EQ(two_exit(ACTOR_CODE), two_wait(&self->s, t->pid));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_user_task: the user tasks of the other
 * suites
 *
 * No engine is used here.  If a test of this suite fails, results of the other
 * suites are meaningless.
 */
#include <kunit/test.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/wait.h>

#include <asm/unistd.h>

#include "user_task.h"

static void user_task_starts(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	KUNIT_EXPECT_FALSE(test, t->task->flags & PF_KTHREAD);
	KUNIT_EXPECT_NOT_NULL(test, t->task->mm);
	KUNIT_EXPECT_TRUE(test, user_task_wait_asleep(t));
}

static void user_task_answers(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_dup2, 1, 40), 40L);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_close, 40), 0L);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_close, 40),
			(long)-EBADF);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, 9999), USER_NO_CALL);
}

/* Two programs have channels of their own. */
static void user_task_starts_twice(struct kunit *test)
{
	struct user_task *a = user_task_start(test);
	struct user_task *b = user_task_start(test);

	KUNIT_EXPECT_PTR_NE(test, a->task, b->task);
	user_task_do_syscall(a, __NR_getpid);
	KUNIT_EXPECT_EQ(test, user_task_syscall(b, __NR_getpid),
			(long)task_pid_nr(b->task));
	KUNIT_EXPECT_EQ(test, user_task_result(a), (long)task_pid_nr(a->task));
}

static void user_task_exits_with_code(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	long result;

	user_task_do_syscall(t, __NR_exit_group, 7);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code, 7 << 8);
	KUNIT_EXPECT_EQ(test, user_task_answer(t, &result), -EPIPE);
}

static void user_task_is_killed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_kill(t, SIGKILL);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code, SIGKILL);
}

static void user_task_faults(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_FAULT);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code & 0x7f, SIGSEGV);
}

static void user_task_traps(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_TRAP);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, t->task->exit_code & 0x7f, SIGTRAP);
}

static void user_task_handles_signal(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_HANDLE, .arg = { SIGUSR1, 0 });
	KUNIT_ASSERT_EQ(test, user_task_result(t), 0L);
	/* Without SA_RESTART the signal ends the sleep. */
	user_task_do_syscall(t, __NR_pause);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	user_task_kill(t, SIGUSR1);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)-EINTR);
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, handled)),
			1UL);
	KUNIT_EXPECT_EQ(test,
			user_task_peek(t, offsetof(struct user_area, signo)),
			(unsigned long)SIGUSR1);
}

static void user_task_spins(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	user_task_go(t, 1);
	KUNIT_EXPECT_GT(test, user_task_result(t), 0L);
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
}

static void user_task_repeats(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid, .arg = { 100 });
	KUNIT_EXPECT_EQ(test, user_task_result(t), 100L);
	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid);
	KUNIT_EXPECT_TRUE(test, user_task_wait_running(t));
	user_task_go(t, 1);
	KUNIT_EXPECT_GT(test, user_task_result(t), 0L);
}

static void user_task_makes_thread(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_THREAD, 1);

	KUNIT_EXPECT_TRUE(test, same_thread_group(t->task, child->task));
	KUNIT_EXPECT_EQ(test, user_task_syscall(child, __NR_gettid),
			(long)task_pid_nr(child->task));
	user_task_do_syscall(child, __NR_exit, 0);
	KUNIT_EXPECT_TRUE(test, user_task_wait_dead(child));
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_gettid),
			(long)task_pid_nr(t->task));
}

static void user_task_forks(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	long pid = task_pid_nr(child->task);
	int status = 3;

	KUNIT_EXPECT_PTR_EQ(test, child->task->real_parent, t->task);
	KUNIT_EXPECT_EQ(test, user_task_syscall(child, __NR_getpid), pid);
	user_task_do_syscall(child, __NR_exit_group, 3);
	KUNIT_EXPECT_EQ(test,
			user_task_syscall(t, __NR_wait4, pid,
					  user_task_scratch(t), 0, 0), pid);
	status = user_task_peek(t, offsetof(struct user_area, scratch));
	KUNIT_EXPECT_EQ(test, status, 3 << 8);
}

/* The parent does not answer until the child of the vfork() has ended. */
static void user_task_vforks(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_VFORK, 1);

	KUNIT_EXPECT_PTR_EQ(test, child->task->mm, t->task->mm);
	KUNIT_EXPECT_EQ(test, user_task_syscall(child, __NR_getppid),
			(long)task_pid_nr(t->task));
	user_task_do_syscall(child, __NR_exit_group, 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t),
			(long)task_pid_nr(child->task));
}

static void user_task_executes(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct mm_struct *mm = t->task->mm;

	user_task_go(t, 1);
	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_PTR_NE(test, t->task->mm, mm);
	/* The memory of the new image has the contents of the file. */
	KUNIT_EXPECT_EQ(test, user_task_peek(t, offsetof(struct user_area, go)),
			0UL);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

#ifdef CONFIG_IA32_EMULATION
static void user_task_makes_int80(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	/* getpid() of the 32-bit table. */
	user_task_do(t, .op = USER_INT80, .nr = 20);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
}
#endif

static struct kunit_case user_task_cases[] = {
	KUNIT_CASE(user_task_starts),
	KUNIT_CASE(user_task_answers),
	KUNIT_CASE(user_task_starts_twice),
	KUNIT_CASE(user_task_exits_with_code),
	KUNIT_CASE(user_task_is_killed),
	KUNIT_CASE(user_task_faults),
	KUNIT_CASE(user_task_traps),
	KUNIT_CASE(user_task_handles_signal),
	KUNIT_CASE(user_task_spins),
	KUNIT_CASE(user_task_repeats),
	KUNIT_CASE(user_task_makes_thread),
	KUNIT_CASE(user_task_forks),
	KUNIT_CASE(user_task_vforks),
	KUNIT_CASE(user_task_executes),
#ifdef CONFIG_IA32_EMULATION
	KUNIT_CASE(user_task_makes_int80),
#endif
	{}
};

static struct kunit_suite user_task_suite = {
	.name = "utrace_user_task",
	.test_cases = user_task_cases,
};

kunit_test_suite(user_task_suite);

MODULE_DESCRIPTION("KUnit suite for the user tasks of the utrace suites");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - user tasks that execute the commands of a test
 *
 * Engines attach to user tasks only, and the suites run before there is a user
 * space.  So the kernel contains a program, which serves commands of the test
 * in as many tasks as the test wants.  Every such task ends with its test.
 */
#ifndef _UTRACE_TESTS_USER_TASK_H
#define _UTRACE_TESTS_USER_TASK_H

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/stddef.h>

#include "user_proto.h"

/* The longest wait: what has not happened by then will not happen. */
#define USER_DEADLINE		(10 * HZ)

/* The result of a system call that does not exist, or that an engine aborts. */
#define USER_NO_CALL		(-(long)ENOSYS)

/* The flags of clone(2) for a thread, a process and a child of vfork(). */
#define USER_THREAD	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | \
			 CLONE_THREAD | CLONE_SYSVSEM)
#define USER_FORK	SIGCHLD
#define USER_VFORK	(CLONE_VM | CLONE_VFORK | SIGCHLD)

/* The program, see user_blob.S. */
extern const char utrace_user_program[];
extern const char utrace_user_program_end[];

struct kunit;
struct pid;
struct user_pipes;

/**
 * struct user_task - a task of the test program
 * @test: the test that the task belongs to
 * @task: the task, counted
 * @pid: the task's pid, counted
 * @area: address of struct user_area in the task's memory
 * @channel: the channel that the task serves
 * @pipes: the channels of all tasks that descend from one user_task_start()
 */
struct user_task {
	struct kunit *test;
	struct task_struct *task;
	struct pid *pid;
	unsigned long area;
	unsigned int channel;
	struct user_pipes *pipes;
};

/*
 * A failure of these ends the test.  user_task_adopt() is for a child that a
 * callback saw, and that may die before its first answer.
 */
struct user_task *user_task_start(struct kunit *test);
struct user_task *user_task_clone(struct user_task *t, unsigned long flags,
				  unsigned int channel);
struct user_task *user_task_adopt(struct user_task *t,
				  struct task_struct *task,
				  unsigned int channel);
void user_task_hello(struct user_task *t);

/* Send a command; the task may carry it out much later. */
void user_task_send(struct user_task *t, const struct user_command *c);

#define user_task_do(t, ...)						\
	user_task_send(t, &(struct user_command) { __VA_ARGS__ })

#define user_task_do_syscall(t, number, ...)				\
	user_task_do(t, .op = USER_SYSCALL, .nr = (number),		\
		     .arg = { __VA_ARGS__ })

/*
 * Wait for an answer: 0, -ETIMEDOUT, or -EPIPE if no task is left that could
 * answer.
 */
int user_task_answer(struct user_task *t, long *result);

/* The answer to the last command; the test ends if there is none. */
long user_task_result(struct user_task *t);

/* Make the task execute a system call, and return the result. */
#define user_task_syscall(t, number, ...)				\
({									\
	struct user_task *__t = (t);					\
									\
	user_task_do_syscall(__t, number, __VA_ARGS__);			\
	user_task_result(__t);						\
})

/* Read and write the task's struct user_area. */
unsigned long user_task_peek(struct user_task *t, size_t offset);
void user_task_poke(struct user_task *t, size_t offset, const void *from,
		    size_t size);
void user_task_go(struct user_task *t, unsigned long go);

#define user_task_scratch(t)						\
	((t)->area + offsetof(struct user_area, scratch))

/* Wait for a state of the task; false if it does not come in time. */
bool user_task_wait_asleep(struct user_task *t);
bool user_task_wait_stopped(struct user_task *t);
bool user_task_wait_jobctl(struct user_task *t);
bool user_task_wait_dead(struct user_task *t);
bool user_task_wait_running(struct user_task *t);

/*
 * Check whether the task runs its loop now, and whether it has not answered
 * yet.
 */
bool user_task_runs(struct user_task *t);
bool user_task_is_silent(struct user_task *t);

void user_task_kill(struct user_task *t, int sig);

#endif /* _UTRACE_TESTS_USER_TASK_H */

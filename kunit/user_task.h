/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - user tasks that do what a test tells them
 *
 * Engines only attach to user tasks, so the suites need some before there is
 * a user space.  Every task here is ended with its test.
 */
#ifndef _UTRACE_TESTS_USER_TASK_H
#define _UTRACE_TESTS_USER_TASK_H

#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/sched.h>
#include <linux/stddef.h>

#include "user_proto.h"

/* No wait is longer: something that should have happened did not. */
#define USER_DEADLINE		(10 * HZ)

/* The result of a system call that does not exist, or is not made. */
#define USER_NO_CALL		(-(long)ENOSYS)

/* What clone(2) is told for a thread, a process and a vfork() child. */
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
 * @test: the test it belongs to
 * @task: the task, counted
 * @pid: its pid, counted
 * @area: address of struct user_area in its memory
 * @channel: which one it serves
 * @pipes: the channels of the whole family
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
 * These end the test if they fail; user_task_adopt() is for a child that a
 * callback saw and that need not live long enough to speak for itself.
 */
struct user_task *user_task_start(struct kunit *test);
struct user_task *user_task_clone(struct user_task *t, unsigned long flags,
				  unsigned int channel);
struct user_task *user_task_adopt(struct user_task *t,
				  struct task_struct *task,
				  unsigned int channel);
void user_task_hello(struct user_task *t);

/* Tell the task something; it may be long before it gets to it. */
void user_task_send(struct user_task *t, const struct user_command *c);

#define user_task_do(t, ...)						\
	user_task_send(t, &(struct user_command) { __VA_ARGS__ })

#define user_task_do_syscall(t, number, ...)				\
	user_task_do(t, .op = USER_SYSCALL, .nr = (number),		\
		     .arg = { __VA_ARGS__ })

/* Its answer: 0, or -ETIMEDOUT, or -EPIPE if nobody is left to answer. */
int user_task_answer(struct user_task *t, long *result);

/* Answer of the last command; ends the test if there is none. */
long user_task_result(struct user_task *t);

/* A system call and its result. */
#define user_task_syscall(t, number, ...)				\
({									\
	struct user_task *__t = (t);					\
									\
	user_task_do_syscall(__t, number, __VA_ARGS__);			\
	user_task_result(__t);						\
})

/* The task's struct user_area. */
unsigned long user_task_peek(struct user_task *t, size_t offset);
void user_task_poke(struct user_task *t, size_t offset, const void *from,
		    size_t size);
void user_task_go(struct user_task *t, unsigned long go);

#define user_task_scratch(t)						\
	((t)->area + offsetof(struct user_area, scratch))

/* Waits; false if it did not happen in time. */
bool user_task_wait_asleep(struct user_task *t);
bool user_task_wait_stopped(struct user_task *t);
bool user_task_wait_jobctl(struct user_task *t);
bool user_task_wait_dead(struct user_task *t);
bool user_task_wait_running(struct user_task *t);

/* What it does at the moment. */
bool user_task_runs(struct user_task *t);
bool user_task_is_silent(struct user_task *t);

void user_task_kill(struct user_task *t, int sig);

#endif /* _UTRACE_TESTS_USER_TASK_H */

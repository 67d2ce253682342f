// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - user tasks that execute the commands of a test
 *
 * The program is written to the root file system of the early boot and started
 * as kernel helpers are.  Its parent is kthreadd, which ignores SIGCHLD, so the
 * task is reaped at once; a test that needs a zombie lets a task clone one.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/initrd.h>
#include <linux/kref.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pipe_fs_i.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/umh.h>
#include <linux/wait.h>

#include "user_task.h"

#define USER_PATH	"/utrace_test_task"

/* The kernel's ends of the channels, shared by a program and its clones. */
struct user_pipes {
	struct file *command[USER_CHANNELS];
	struct file *answer[USER_CHANNELS];
};

/* Data of a new task until it executes the program. */
struct user_start {
	struct user_task *t;
	struct file *command[USER_CHANNELS];
	struct file *answer[USER_CHANNELS];
};

/* Write the program once: later a running task may prevent a write to it. */
static void write_program(struct kunit *test)
{
	size_t size = utrace_user_program_end - utrace_user_program;
	struct file *file;
	loff_t pos = 0;
	ssize_t done;

	wait_for_initramfs();
	file = filp_open(USER_PATH, O_WRONLY | O_CREAT | O_EXCL, 0755);
	if (PTR_ERR_OR_ZERO(file) == -EEXIST)
		return;
	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	done = kernel_write(file, utrace_user_program, size, &pos);
	fput(file);
	/* A file that is open for writing cannot be executed. */
	flush_delayed_fput();
	KUNIT_ASSERT_EQ(test, done, (ssize_t)size);
}

static void close_pipes(void *data)
{
	struct user_pipes *pipes = data;
	unsigned int i;

	for (i = 0; i < USER_CHANNELS; i++) {
		if (pipes->command[i])
			fput(pipes->command[i]);
		if (pipes->answer[i])
			fput(pipes->answer[i]);
	}
	flush_delayed_fput();
}

static void close_start(struct user_start *start)
{
	unsigned int i;

	for (i = 0; i < USER_CHANNELS; i++) {
		if (start->command[i])
			fput(start->command[i]);
		if (start->answer[i])
			fput(start->answer[i]);
	}
}

/* Both pipes of every channel; the task gets one end of each. */
static int open_pipes(struct user_pipes *pipes, struct user_start *start)
{
	struct file *ends[2];
	unsigned int i;
	int ret;

	for (i = 0; i < USER_CHANNELS; i++) {
		ret = create_pipe_files(ends, 0);
		if (ret)
			return ret;
		start->command[i] = ends[0];
		pipes->command[i] = ends[1];
		ret = create_pipe_files(ends, 0);
		if (ret)
			return ret;
		pipes->answer[i] = ends[0];
		start->answer[i] = ends[1];
	}
	return 0;
}

/* Runs in the new task, before it executes the program. */
static int user_task_init(struct subprocess_info *info, struct cred *new)
{
	struct user_start *start = info->data;
	struct user_task *t = start->t;
	unsigned int i;
	int ret;

	t->task = get_task_struct(current);
	t->pid = get_pid(task_pid(current));
	for (i = 0; i < USER_CHANNELS; i++) {
		ret = replace_fd(2 * i, start->command[i], 0);
		if (ret < 0)
			return ret;
		ret = replace_fd(2 * i + 1, start->answer[i], 0);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Action of every test: SIGKILL must end the task, whatever the test did. */
static void user_task_end(void *data)
{
	struct user_task *t = data;

	if (t->task) {
		send_sig(SIGKILL, t->task, 1);
		KUNIT_EXPECT_TRUE_MSG(t->test, user_task_wait_dead(t),
				      "task %d survives SIGKILL",
				      task_pid_nr(t->task));
		put_task_struct(t->task);
	}
	put_pid(t->pid);
}

static struct user_task *user_task_alloc(struct kunit *test)
{
	struct user_task *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->test = test;
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, user_task_end, t), 0);
	return t;
}

/*
 * Start the test program.  Returns a task that waits for a command on channel
 * 0; a failure ends @test.
 */
struct user_task *user_task_start(struct kunit *test)
{
	char *argv[2] = { USER_PATH }, *envp[1] = { };
	struct subprocess_info *info;
	struct user_pipes *pipes;
	struct user_start start = {};
	struct user_task *t;
	int ret;

	write_program(test);

	/*
	 * Actions run in reverse order: the pipes are closed after the task's
	 * end.
	 */
	pipes = kunit_kzalloc(test, sizeof(*pipes), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pipes);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, close_pipes, pipes), 0);
	t = user_task_alloc(test);
	t->pipes = pipes;

	start.t = t;
	ret = open_pipes(pipes, &start);
	if (!ret) {
		ret = -ENOMEM;
		info = call_usermodehelper_setup(USER_PATH, argv, envp,
						 GFP_KERNEL, user_task_init,
						 NULL, &start);
		if (info)
			ret = call_usermodehelper_exec(info, UMH_WAIT_EXEC);
	}
	close_start(&start);
	KUNIT_ASSERT_EQ(test, ret, 0);
	user_task_hello(t);
	return t;
}

/*
 * Create a user_task for @task, to which the caller has a reference, and which
 * @t or a relative of @t has created.  @task serves @channel.  The user_task
 * has references of its own.
 */
struct user_task *user_task_adopt(struct user_task *t,
				  struct task_struct *task,
				  unsigned int channel)
{
	struct user_task *child = user_task_alloc(t->test);

	child->task = get_task_struct(task);
	child->pid = get_pid(task_pid(task));
	child->area = t->area;
	child->channel = channel;
	child->pipes = t->pipes;
	return child;
}

/*
 * Make @t clone itself with the clone(2) flags @flags.  Returns the child,
 * which waits for a command on @channel.
 */
struct user_task *user_task_clone(struct user_task *t, unsigned long flags,
				  unsigned int channel)
{
	struct user_task *child = user_task_alloc(t->test);

	child->channel = channel;
	child->pipes = t->pipes;
	user_task_do(t, .op = USER_CLONE, .arg = { flags, channel });
	user_task_hello(child);
	/*
	 * The answer of vfork() comes only when the child has ended or
	 * executed.
	 */
	if (!(flags & CLONE_VFORK))
		KUNIT_ASSERT_EQ(t->test, user_task_result(t),
				(long)task_pid_nr(child->task));
	return child;
}

void user_task_send(struct user_task *t, const struct user_command *c)
{
	ssize_t done = kernel_write(t->pipes->command[t->channel], c,
				    sizeof(*c), NULL);

	KUNIT_ASSERT_EQ(t->test, done, (ssize_t)sizeof(*c));
}

static bool pipe_idle(const struct pipe_inode_info *pipe)
{
	return pipe_empty(READ_ONCE(pipe->head), READ_ONCE(pipe->tail));
}

static int user_task_read(struct user_task *t, struct user_reply *r)
{
	struct file *file = t->pipes->answer[t->channel];
	struct pipe_inode_info *pipe = file->private_data;
	ssize_t done;

	wait_event_interruptible_timeout(pipe->rd_wait,
					 !pipe_idle(pipe) ||
					 !READ_ONCE(pipe->writers),
					 USER_DEADLINE);
	if (pipe_idle(pipe))
		return READ_ONCE(pipe->writers) ? -ETIMEDOUT : -EPIPE;
	done = kernel_read(file, r, sizeof(*r), NULL);
	return done == sizeof(*r) ? 0 : -EIO;
}

int user_task_answer(struct user_task *t, long *result)
{
	struct user_reply r;
	int ret = user_task_read(t, &r);

	if (!ret)
		*result = r.result;
	return ret;
}

long user_task_result(struct user_task *t)
{
	long result = 0;

	KUNIT_ASSERT_EQ(t->test, user_task_answer(t, &result), 0);
	return result;
}

/* Wait for the reply that a task sends after start, clone and exec. */
void user_task_hello(struct user_task *t)
{
	struct user_reply r = {};

	KUNIT_ASSERT_EQ(t->test, user_task_read(t, &r), 0);
	KUNIT_ASSERT_EQ(t->test, r.result, (long)USER_HELLO);
	t->area = r.area;
	if (!t->task) {
		t->pid = find_get_pid(r.tid);
		t->task = get_pid_task(t->pid, PIDTYPE_PID);
		KUNIT_ASSERT_NOT_NULL(t->test, t->task);
	}
}

unsigned long user_task_peek(struct user_task *t, size_t offset)
{
	unsigned long value = 0;

	KUNIT_ASSERT_EQ(t->test,
			access_process_vm(t->task, t->area + offset, &value,
					  sizeof(value), FOLL_FORCE),
			(int)sizeof(value));
	return value;
}

void user_task_poke(struct user_task *t, size_t offset, const void *from,
		    size_t size)
{
	KUNIT_ASSERT_EQ(t->test,
			access_process_vm(t->task, t->area + offset,
					  (void *)from, size,
					  FOLL_FORCE | FOLL_WRITE),
			(int)size);
}

void user_task_go(struct user_task *t, unsigned long go)
{
	user_task_poke(t, offsetof(struct user_area, go), &go, sizeof(go));
}

/*
 * Wait until the task sleeps in the last command: the command is out of the
 * pipe, and the task sleeps.  Nothing wakes a waiter for that, so poll every
 * tick.
 */
bool user_task_wait_asleep(struct user_task *t)
{
	struct file *file = t->pipes->command[t->channel];
	unsigned long end = jiffies + USER_DEADLINE;

	do {
		if (pipe_idle(file->private_data) &&
		    wait_task_inactive(t->task, TASK_INTERRUPTIBLE))
			return true;
		schedule_timeout_uninterruptible(1);
	} while (time_before(jiffies, end));
	return false;
}

static bool wait_state(struct user_task *t, unsigned int state)
{
	unsigned long end = jiffies + USER_DEADLINE;

	do {
		if (wait_task_inactive(t->task, state))
			return true;
		schedule_timeout_uninterruptible(1);
	} while (time_before(jiffies, end));
	return false;
}

/* Wait for a stop of an engine or of ptrace. */
bool user_task_wait_stopped(struct user_task *t)
{
	return wait_state(t, __TASK_TRACED);
}

/* Wait for a job control stop. */
bool user_task_wait_jobctl(struct user_task *t)
{
	return wait_state(t, __TASK_STOPPED);
}

/* Check that there is no answer yet. */
bool user_task_is_silent(struct user_task *t)
{
	return pipe_idle(t->pipes->answer[t->channel]->private_data);
}

/*
 * The end of a task wakes waiters of its pid, except if execve() has given the
 * pid to another task; so also poll every 100 ms.
 */
bool user_task_wait_dead(struct user_task *t)
{
	unsigned long end = jiffies + USER_DEADLINE;

	do {
		if (wait_event_timeout(t->pid->wait_pidfd,
				       READ_ONCE(t->task->exit_state), HZ / 10))
			return true;
	} while (time_before(jiffies, end));
	return false;
}

/*
 * Check whether the loop counter of the task's program changes within @ticks.
 */
static bool turns_change(struct user_task *t, unsigned int ticks)
{
	size_t offset = offsetof(struct user_area, turns);
	unsigned long before = user_task_peek(t, offset);

	while (ticks--) {
		if (user_task_peek(t, offset) != before)
			return true;
		schedule_timeout_uninterruptible(1);
	}
	return false;
}

bool user_task_wait_running(struct user_task *t)
{
	return turns_change(t, USER_DEADLINE);
}

/* For a task that may be stopped: wait a fifth of a second only. */
bool user_task_runs(struct user_task *t)
{
	return turns_change(t, HZ / 5);
}

void user_task_kill(struct user_task *t, int sig)
{
	KUNIT_ASSERT_EQ(t->test, kill_pid(t->pid, sig, 1), 0);
}

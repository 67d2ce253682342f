// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - kernel.utrace.unprivileged
 *
 * At 0, /dev/utrace is for tasks with CAP_SYS_PTRACE in the initial user
 * namespace only, whatever namespace a task makes and however it comes by a
 * session.
 */
#include <sched.h>

#include "dev.h"

/* The results of an attempt: 0 or -errno, and a number. */
struct outcome {
	int open;	/* 0 */
	int attach;	/* 0 */
	int marks;	/* of the 3 marker calls of the target */
};

/* An attempt: the rights of the task, and the session that it uses. */
struct attempt {
	bool is_root;
	bool drop;	/* root without CAP_SYS_PTRACE */
	bool namespace;	/* in a new user namespace */
	int fd;		/* inherited session; -1 to open one */
	int socket;	/* socket that sends a session; -1 for none */
	int out;
};

static void drop_ptrace(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	need(!syscall(SYS_capget, &head, data), "capget");
	data[0].effective &= ~(1U << CAP_SYS_PTRACE);
	data[0].permitted &= ~(1U << CAP_SYS_PTRACE);
	need(!syscall(SYS_capset, &head, data), "capset");
	need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

static int try_it(void *arg)
{
	struct attempt *a = arg;
	struct outcome outcome = {};
	struct target target;
	int fd = a->fd;

	if (!a->is_root)
		become_nobody();
	if (a->drop)
		drop_ptrace();
	if (a->namespace &&
	    (unshare(CLONE_NEWUSER) || prctl(PR_SET_DUMPABLE, 1)))
		return 1;
	start(&target);
	if (a->socket >= 0)
		fd = receive_fd(a->socket);
	else if (fd < 0)
		fd = try_session();
	if (fd < 0) {
		outcome.open = fd;
	} else {
		outcome.attach = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
		if (outcome.attach > 0) {
			outcome.attach = 0;
			choose_marks(fd);
			have(&target, SELF, mark, 3);
			take(fd);
			outcome.marks = marks(UTRACE_REC_SYS_ENTER, 0);
		}
	}
	stop(&target);
	return write(a->out, &outcome, sizeof(outcome)) != sizeof(outcome);
}

static struct outcome attempt(struct attempt a)
{
	struct outcome outcome = { -1, -1, -1 };
	int pair[2];

	need(!pipe(pair), "pipe");
	a.out = pair[1];
	need(!in_child(try_it, &a), "the child");
	need(read(pair[0], &outcome, sizeof(outcome)) == sizeof(outcome),
	     "an outcome");
	close(pair[0]);
	close(pair[1]);
	return outcome;
}

/* An attempt with a session that another task has opened and sent. */
static struct outcome attempt_sent(struct attempt a, int fd)
{
	struct outcome outcome;
	int pair[2];

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	need(send_fd(pair[0], fd), "send");
	a.socket = pair[1];
	outcome = attempt(a);
	close(pair[0]);
	close(pair[1]);
	return outcome;
}

/* Check that all was refused, or that all marker calls are there. */
static void expect(struct outcome outcome, bool open, bool attach,
		   const char *text)
{
	is(open ? 0 : -EPERM, outcome.open, text);
	if (open)
		is(attach ? 0 : -EPERM, outcome.attach, text);
	is(open && attach ? 3 : 0, outcome.marks, text);
}

static const struct attempt nobody = { .fd = -1, .socket = -1 };

static const struct attempt inside = {
	.namespace = true, .fd = -1, .socket = -1};

static const struct attempt root = { .is_root = true, .fd = -1, .socket = -1 };

static const struct attempt root_inside = {
	.is_root = true, .namespace = true, .fd = -1, .socket = -1,
};

static const struct attempt weak_root = {
	.is_root = true, .drop = true, .fd = -1, .socket = -1,
};

TEST_F(dev, open)
{
	set_unprivileged("1");
	expect(attempt(nobody), true, true, "1: nobody");
	expect(attempt(inside), true, true, "1: nobody, in a namespace");
	expect(attempt(root), true, true, "1: root");
	expect(attempt(root_inside), true, true, "1: root, in a namespace");
	expect(attempt(weak_root), true, true,
	       "1: root without the capability");
	set_unprivileged("0");
	expect(attempt(nobody), false, false, "0: nobody");
	expect(attempt(inside), false, false, "0: nobody, in a namespace");
	expect(attempt(root), true, true, "0: root");
	expect(attempt(root_inside), false, false, "0: root, in a namespace");
	expect(attempt(weak_root), false, false,
	       "0: root without the capability");
}

/* A session of root is inherited over fork() and a loss of rights, or sent. */
TEST_F(dev, handed_on)
{
	struct attempt a;
	int value, in, fd;

	for (value = 0; value < 2; value++)
		for (in = 0; in < 2; in++) {
			set_unprivileged(value ? "1" : "0");
			fd = session();
			a = in ? inside : nobody;
			a.fd = fd;
			expect(attempt(a), true, value, value ?
			       "1: by root's session, inherited" :
			       "0: by root's session, inherited");
			close(fd);
			fd = session();
			expect(attempt_sent(in ? inside : nobody, fd), true,
			       value,
			       value ? "1: by root's session, sent"
				     : "0: by root's session, sent");
			close(fd);
		}
}

static int send_session(void *arg)
{
	const struct attempt *a = arg;
	int fd;

	become_nobody();
	if (a->namespace && unshare(CLONE_NEWUSER))
		return 1;
	fd = try_session();
	return fd < 0 || !send_fd(a->socket, fd);
}

/* Send a session that nobody opened while that was allowed. */
static int session_of(struct attempt a)
{
	int pair[2], fd;

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	a.socket = pair[1];
	need(!in_child(send_session, &a), "a session");
	fd = receive_fd(pair[0]);
	need(fd >= 0, "a session");
	close(pair[0]);
	close(pair[1]);
	return fd;
}

TEST_F(dev, opened_before)
{
	int in, fd;

	for (in = 0; in < 2; in++) {
		set_unprivileged("1");
		fd = session_of(in ? inside : nobody);
		set_unprivileged("0");
		expect(attempt_sent(nobody, fd), true, false,
		       "0: opened before, by nobody");
		expect(attempt_sent(inside, fd), true, false,
		       "0: opened before, in a namespace");
		expect(attempt_sent(root, fd), true, false,
		       "0: opened before, by root");
		close(fd);
	}
}

/* A task that was attached to at 1 is hidden at 0. */
static int stay_attached(void *unused)
{
	struct target target;
	int fd;

	become_nobody();
	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0 &&
	     !choose_marks(fd), "attach");
	have(&target, SELF, mark, 2);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, 0), "1: recorded");
	have_sysctl(UNPRIVILEGED, "0");
	have(&target, SELF, mark, 3);
	take(fd);
	is(0, marks(UTRACE_REC_SYS_ENTER, 0), "0: not recorded");
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "0: HIDDEN, once");
	is(1, info(fd).hidden, "0: counted as hidden");
	have_sysctl(UNPRIVILEGED, "1");
	have(&target, SELF, mark, 4);
	take(fd);
	is(4, marks(UTRACE_REC_SYS_ENTER, 0), "1: recorded again");
	stop(&target);
	return dev_test->exit_code;
}

TEST_F(dev, changed)
{
	set_unprivileged("1");
	is(0, in_child_with_sysctls(stay_attached, NULL), "a user without privileges");
}

TEST_HARNESS_MAIN

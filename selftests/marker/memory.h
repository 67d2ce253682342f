/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - calls, forks and programs without memory
 *
 * Allocations of slabs fail first, then those of pages, of user space too.
 */
#ifndef UTRACE_MARKER_MEMORY_H
#define UTRACE_MARKER_MEMORY_H

#include <sys/ptrace.h>

#include "../fail_nth.h"
#include "words.h"

/* A program takes so long to begin that not each of its allocations is made to fail. */
#define STRIDE		7

/* The process that has the markers. */
static struct target target;

/* The case at hand of fail_calls(). */
static const struct fail_case *op;

/* With a child the target shares its pages. */
static inline void prepare_with_child(void)
{
	if (op->prepare)
		op->prepare();
	have_more(&target, CHILD);
	settle(&target, CHILD);
	settle(&target, SELF);
}

/* End the child, unless the check has done that. */
static inline void end_child(void)
{
	if (!target.tid[CHILD])
		return;
	kill(target.tid[CHILD], SIGKILL);
	have(&target, SELF, reap, 0);
	target.tid[CHILD] = 0;
}

static inline bool check_with_child(int ret)
{
	bool good = op->check(ret);

	end_child();
	return good;
}

/* Run cases while the target has a child. */
static inline void fail_calls(const struct fail_case *ops, size_t n)
{
	for (op = ops; op < ops + n; op++) {
		struct fail_case c = *op;

		c.prepare = prepare_with_child;
		c.check = check_with_child;
		holds(fail_one(&c), "%s", op->name);
	}
}

/*
 * Let the @n-th allocation of a call fail, in a target.  Returns the result of the call.
 * shared::number[0]: allocations left.
 */
static inline int fail_here(int n, int (*call)(void))
{
	int nth = fail_nth_open(0), ret;

	if (!fail_nth_arm(nth, n))
		_exit(99);
	ret = call();
	shared->number[0] = fail_nth_left(nth);
	close(nth);
	return ret;
}

/* The result of a call that the target makes, by an order that uses fail_here(). */
static inline int call_in_target(order_fn *function)
{
	int ret = have(&target, SELF, function, failing.n);

	failing.left = shared->number[0];
	return ret;
}

/*
 * Have a child execute a program with the @n-th allocation failing, but none of the
 * program itself, whose arguments are @word and the number of the shared memory.
 * shared::number[]: 0: allocations left.  3: -errno of execve(2).  4: status of the
 * child.  Returns its pid.
 */
static inline pid_t execute_failing(int n, const char *path, const char *word)
{
	pid_t pid = plain_fork();
	int status = -1, nth = fail_nth_open(pid);
	char number[16];

	if (!pid) {
		snprintf(number, sizeof(number), "%d", shared_fd);
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		if (!fail_nth_arm(nth, n))
			_exit(99);
		execl(path, "memory", word, number, NULL);
		shared->number[3] = -errno;
		_exit(97);
	}
	waitpid(pid, &status, 0);
	if (WIFSTOPPED(status)) {
		shared->number[0] = fail_nth_left(nth);
		ptrace(PTRACE_DETACH, pid, 0, WSTOPSIG(status) == SIGTRAP ?
		       0 : WSTOPSIG(status));
		waitpid(pid, &status, 0);
	}
	close(nth);
	shared->number[4] = status;
	return pid;
}

static inline const char *memory_begin(const char *why)
{
	why = why ?: fail_nth_begin(true);
	if (why)
		return why;
	need(fail_nth_without_rseq(), "rseq");
	fail_apart = true;
	return NULL;
}

#endif /* UTRACE_MARKER_MEMORY_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - calls, forks and programs without memory
 *
 * A test repeats what it does: the first allocation fails, then the second, until there
 * are fewer allocations.
 */
#ifndef UTRACE_MARKER_MEMORY_H
#define UTRACE_MARKER_MEMORY_H

#include <sys/ptrace.h>

#include "../fail_nth.h"
#include "words.h"

/*
 * The first sweep is for slabs and the others are for pages.  The slabs themselves ask for
 * pages now and then, so the numbers of other pages vary, and the last ones are tried
 * several times.
 */
#define SWEEPS		4
#define LAST		60

/* A program takes so long to begin that not each of its allocations is made to fail. */
#define STRIDE		7

/* The process that has the markers. */
static struct target target;

/* The sum of all sweeps, and the allocations that were left in the last try. */
static int failed, bad, wrong, left;

/**
 * struct op - one call
 * @name: for messages
 * @prepare: makes the state before the call, or NULL
 * @call: makes the call, with fail-nth armed; 0 or -errno
 * @of_target: the target makes the call
 * @good: checks the state for this result, and restores that before @prepare
 * @never_fails: the only result is 0
 */
struct op {
	const char *name;
	void (*prepare)(void);
	int (*call)(void);
	bool of_target;
	bool (*good)(int ret);
	bool never_fails;
};

/* The call at hand. */
static const struct op *op;

/*
 * Make the call at hand with the @n-th allocation failing, and say how many are left.
 * Returns 0 or -errno.  The target has an order 'r': reap a child.
 */
static int make_call(int n);

/* Let allocations of slabs fail, or those of pages. */
static inline void fail_slabs(bool slabs)
{
	need(fail_nth_write("failslab/cache-filter", slabs ? "N" : "Y") &&
	     fail_nth_write("fail_page_alloc/min-order", slabs ? "9" : "0"),
	     "debugfs");
}

/*
 * Have each allocation fail that @try makes, or one of @stride; returns how many there
 * are.
 */
static inline int sweep(void (*try)(int n), int stride)
{
	int i, n = 0, sum = 0;

	failed = 0;
	bad = 0;
	wrong = 0;
	for (i = 0; i < SWEEPS; i++) {
		fail_slabs(!i);
		left = 0;
		for (n = i > 1 && n > LAST ? n - LAST : 1;
		     n < FAIL_NTH_MOST && !left; n += stride) {
			try(n);
			need(left >= 0, "fail-nth");
		}
		sum += i < 2 ? n - stride - left : 0;
	}
	holds(left, "all allocations were made to fail");
	return sum;
}

static inline void try_op(int n)
{
	int ret;

	if (op->prepare)
		op->prepare();
	/* With a child the target shares its pages. */
	have_more(&target, CHILD);
	settle(&target, CHILD);
	settle(&target, SELF);
	ret = make_call(n);
	failed += !!ret;
	if (ret && (ret != -ENOMEM || left || op->never_fails)) {
		printf("# %s: allocation %d: %d\n", op->name, n, ret);
		bad++;
	}
	if (!op->good(ret)) {
		printf("# %s: half done after allocation %d: %d\n", op->name, n,
		       ret);
		wrong++;
	}
	kill(target.tid[CHILD], SIGKILL);
	have(&target, SELF, 'r', 0);
}

static inline void fail_each(const struct op *ops, size_t n)
{
	int allocations;

	for (op = ops; op < ops + n; op++) {
		allocations = sweep(try_op, 1);
		holds(true, "%s: %d allocations, %d failures", op->name,
		      allocations, failed);
		is(0, bad, "  errors as documented");
		is(0, wrong, "  and nothing is half done");
	}
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
	why = why ?: fail_nth_why_not();
	if (why)
		return why;
	need(fail_nth_enable(true) && fail_nth_enable_highmem(true), "debugfs");
	need(fail_nth_without_rseq(), "rseq");
	return NULL;
}

static inline void memory_end(void)
{
	fail_slabs(true);
	fail_nth_enable_highmem(false);
	fail_nth_enable(false);
}

#endif /* UTRACE_MARKER_MEMORY_H */

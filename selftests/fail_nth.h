/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - let the n-th allocation of a thread fail
 *
 * The means are /proc/TID/fail-nth and the settings of CONFIG_FAILSLAB and
 * CONFIG_FAIL_PAGE_ALLOC in debugfs.
 *
 * fail_each() runs the cases of a table.  It repeats each call: the first
 * allocation fails, then the second, until the call makes fewer allocations.
 * Each time the result must be documented, and a check of the case must find
 * nothing half done or left behind.  Leaks of memory are left to the kernel's
 * leak detector.
 */
#ifndef UTRACE_FAIL_NTH_H
#define UTRACE_FAIL_NTH_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More allocations than any system call of the tests makes. */
#define FAIL_NTH_MOST	2000

#define FAIL_NTH_DEBUGFS	"/sys/kernel/debug/"

/* Returns NULL, or the name of what this kernel lacks. */
static inline const char *fail_nth_why_not(void)
{
	if (access("/proc/thread-self/fail-nth", W_OK))
		return "no /proc/TID/fail-nth (FAULT_INJECTION)";
	if (access(FAIL_NTH_DEBUGFS "failslab", F_OK))
		return "no " FAIL_NTH_DEBUGFS "failslab (FAILSLAB, debugfs mounted)";
	if (access(FAIL_NTH_DEBUGFS "fail_page_alloc", F_OK))
		return "no " FAIL_NTH_DEBUGFS "fail_page_alloc (FAIL_PAGE_ALLOC)";
	return NULL;
}

static inline bool fail_nth_write(const char *file, const char *text)
{
	char path[64];
	bool good;
	int fd;

	snprintf(path, sizeof(path), FAIL_NTH_DEBUGFS "%s", file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	good = fd >= 0 && write(fd, text, 1) == 1;
	close(fd);
	return good;
}

/*
 * Let fail-nth apply to every GFP_KERNEL allocation, of pages of any order too,
 * without messages in the kernel log.
 */
static inline bool fail_nth_enable(bool on)
{
	bool good = fail_nth_write("failslab/ignore-gfp-wait", on ? "N" : "Y");

	good &= fail_nth_write("failslab/verbose", on ? "0" : "2");
	good &= fail_nth_write("fail_page_alloc/ignore-gfp-wait", on ? "N" : "Y");
	good &= fail_nth_write("fail_page_alloc/min-order", on ? "0" : "1");
	good &= fail_nth_write("fail_page_alloc/verbose", on ? "0" : "2");
	return good;
}

/*
 * Begin to let allocations fail.  With @highmem that includes __GFP_HIGHMEM
 * pages, such as those of vmalloc() and user space.  Returns NULL, or why that
 * is impossible.
 */
static inline const char *fail_nth_begin(bool highmem)
{
	const char *why = fail_nth_why_not();

	if (why)
		return why;
	return fail_nth_enable(true) &&
	       (!highmem ||
		fail_nth_write("fail_page_alloc/ignore-gfp-highmem", "N")) ?
	       NULL : "debugfs is read-only";
}

static inline void fail_nth_end(void)
{
	fail_nth_write("failslab/cache-filter", "N");
	fail_nth_write("fail_page_alloc/ignore-gfp-highmem", "Y");
	fail_nth_enable(false);
}

/* Let allocations of slabs fail only, or those of pages. */
static inline bool fail_nth_only(bool slabs)
{
	return fail_nth_write("failslab/cache-filter", slabs ? "N" : "Y") &&
	       fail_nth_write("fail_page_alloc/min-order", slabs ? "9" : "0");
}

/* Open the file of thread @tid, 0 for the calling one; -1 if there is none. */
static inline int fail_nth_open(pid_t tid)
{
	char path[64] = "/proc/thread-self/fail-nth";

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/fail-nth", tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Let the @n-th allocation of the thread from here on fail. */
static inline bool fail_nth_arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	return pwrite(fd, text, len, 0) == len;
}

/*
 * Disarm fail-nth.  Returns 0 if the allocation came and failed, else the
 * number of allocations that were still to come; -1 if the thread is gone.
 */
static inline int fail_nth_left(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(fd, "0", 1, 0) != 1)
		return -1;
	return atoi(text);
}

/*
 * Unregister rseq(2) for the calling task; children inherit that.  fork(2) leaves the
 * page of rseq(2) write-protected, and on its way to user mode the kernel may write
 * there: without memory for a copy the task is killed by SIGSEGV, on any kernel.
 */
static inline bool fail_nth_without_rseq(void)
{
	char *rseq = (char *)__builtin_thread_pointer() + __rseq_offset;

	return !__rseq_size || !syscall(SYS_rseq, rseq, sizeof(struct rseq),
					RSEQ_FLAG_UNREGISTER, RSEQ_SIG);
}

/* Cases */

/**
 * struct fail_case - a call whose allocations fail, one in each try
 * @name: for messages
 * @prepare: makes the state before the call; no allocation fails.  Or NULL
 * @call: makes the call; returns 0 or -errno
 * @check: checks the state for this result, and restores that before @prepare
 * @of: the thread whose allocations fail; NULL: the calling thread
 * @elsewhere: @call arms fail-nth itself, in another thread, with the number
 *	failing.n, and sets failing.left
 * @may: an error that is documented besides -ENOMEM, or 0
 * @never_fails: the only result is 0
 * @least: the number of tries that fail is at least this one
 * @stride: if not 0, only one of so many allocations fails
 * @arg: for the functions of the case
 */
struct fail_case {
	const char *name;
	void (*prepare)(void);
	int (*call)(void);
	bool (*check)(int ret);
	const pid_t *of;
	bool elsewhere;
	int may;
	bool never_fails;
	int least;
	int stride;
	long arg;
};

/**
 * struct failing - the case that runs, or the last one that ran
 * @c: the case
 * @n: the number of the allocation that fails
 * @left: by how many allocations the call fell short of @n; 0: one failed
 * @allocations: how many there are
 * @failed: tries in which the call failed
 * @errors: tries with a result that is not documented
 * @wrong: tries in which the check failed
 * @over: fail_need() has ended the case
 */
static struct failing {
	const struct fail_case *c;
	int n;
	int left;
	int allocations;
	int failed;
	int errors;
	int wrong;
	bool over;
} failing;

/*
 * If true, in the first run allocations of slabs fail, then those of pages.  Slabs
 * allocate pages now and then, so the number of page allocations varies: the
 * last ones are tried several times.
 */
static bool fail_apart;
#define FAIL_NTH_SWEEPS	4
#define FAIL_NTH_LAST	60

/*
 * What the previous try has left may still be charged.  If a call fails with
 * this error, pause and make the call again, up to so many times.
 */
static int fail_again, fail_tries;

/*
 * Check what the case relies on.  If @good is false, the case ends and fails.
 */
static inline bool fail_need(bool good, const char *what)
{
	if (!good && !failing.over) {
		printf("# %s: %s: %s\n", failing.c->name, what, strerror(errno));
		failing.over = true;
	}
	return good;
}

static inline int fail_call(void)
{
	const struct fail_case *c = failing.c;
	int nth, ret;

	if (c->elsewhere)
		return c->call();
	nth = fail_nth_open(c->of ? *c->of : 0);
	if (!fail_need(fail_nth_arm(nth, failing.n), "fail-nth"))
		return 0;
	ret = c->call();
	failing.left = fail_nth_left(nth);
	close(nth);
	return ret;
}

static inline bool fail_is_documented(int ret)
{
	const struct fail_case *c = failing.c;

	/* The call may fail only if an allocation failed. */
	return !ret || (!failing.left && !c->never_fails &&
			(ret == -ENOMEM || (c->may && ret == c->may)));
}

static inline void fail_try(void)
{
	const struct fail_case *c = failing.c;
	int ret, tries = 0;

	if (c->prepare)
		c->prepare();
	if (failing.over)
		return;
	while ((ret = fail_call()) && ret == fail_again && tries++ < fail_tries)
		usleep(20000);
	fail_need(failing.left >= 0, "fail-nth");
	if (failing.over)
		return;
	failing.failed += !!ret;
	if (!fail_is_documented(ret)) {
		printf("# %s: allocation %d: %d\n", c->name, failing.n, ret);
		failing.errors++;
	}
	if (!c->check(ret)) {
		printf("# %s: half done after allocation %d: %d\n", c->name,
		       failing.n, ret);
		failing.wrong++;
	}
}

/* Let allocations fail from the @n-th on; false if there is no end of them. */
static inline bool fail_sweep(int n)
{
	const int stride = failing.c->stride ?: 1;

	failing.left = 0;
	for (; n < FAIL_NTH_MOST && !failing.left && !failing.over; n += stride) {
		failing.n = n;
		fail_try();
	}
	return failing.left > 0;
}

/* Run a case; true if all is as it should be. */
static inline bool fail_one(const struct fail_case *c)
{
	bool ended;
	int i, n;

	failing = (struct failing){ .c = c };
	if (fail_apart)
		fail_need(fail_nth_only(true), "debugfs");
	ended = fail_sweep(1);
	failing.allocations = failing.n - failing.left;
	for (i = 1; fail_apart && i < FAIL_NTH_SWEEPS; i++) {
		fail_need(fail_nth_only(false), "debugfs");
		n = i > 1 ? failing.n - FAIL_NTH_LAST : 1;
		ended = fail_sweep(n > 1 ? n : 1) && ended;
		if (i == 1)
			failing.allocations += failing.n - failing.left;
	}
	printf("# %s: %d allocations, %d failures%s%s\n", c->name,
	       failing.allocations, failing.failed,
	       failing.failed < c->least ? ", too few" : "",
	       ended ? "" : ", and no end of it");
	fflush(stdout);
	return ended && !failing.over && !failing.errors && !failing.wrong &&
	       failing.failed >= c->least;
}

/* Run @n cases; true if all is as it should be in each. */
static inline bool fail_cases(const struct fail_case *cases, size_t n)
{
	bool good = true;
	size_t i;

	for (i = 0; i < n; i++)
		good = fail_one(&cases[i]) && good;
	return good;
}

#define fail_each(table)	fail_cases(table, sizeof(table) / sizeof(*(table)))

#endif /* UTRACE_FAIL_NTH_H */

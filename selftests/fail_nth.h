/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - let the n-th allocation of a thread fail
 *
 * The means are /proc/TID/fail-nth and the settings of CONFIG_FAILSLAB and
 * CONFIG_FAIL_PAGE_ALLOC in debugfs.
 */
#ifndef UTRACE_FAIL_NTH_H
#define UTRACE_FAIL_NTH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <unistd.h>

/* More allocations than any system call of the tests makes. */
#define FAIL_NTH_MOST	2000

#define FAIL_NTH_DEBUGFS	"/sys/kernel/debug/"

/* NULL, or what this kernel lacks. */
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
 * Let fail-nth apply to __GFP_HIGHMEM pages too, as of vmalloc() and user
 * space.
 */
static inline bool fail_nth_enable_highmem(bool on)
{
	return fail_nth_write("fail_page_alloc/ignore-gfp-highmem", on ? "N" : "Y");
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

#endif /* UTRACE_FAIL_NTH_H */

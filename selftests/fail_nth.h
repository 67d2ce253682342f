/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail when told to: /proc/TID/fail-nth and what CONFIG_FAILSLAB
 * and CONFIG_FAIL_PAGE_ALLOC have in debugfs.
 */
#ifndef UTRACE_FAIL_NTH_H
#define UTRACE_FAIL_NTH_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More allocations than any call makes. */
#define FAIL_NTH_MOST	2000

#define FAIL_NTH_DEBUGFS	"/sys/kernel/debug/"

/* NULL, or what the kernel is without. */
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

/* Let each allocation of the kernel for itself fail that is told to, and quietly. */
static inline bool fail_nth_enable(bool on)
{
	bool good = fail_nth_write("failslab/ignore-gfp-wait", on ? "N" : "Y");

	good &= fail_nth_write("failslab/verbose", on ? "0" : "2");
	good &= fail_nth_write("fail_page_alloc/ignore-gfp-wait", on ? "N" : "Y");
	good &= fail_nth_write("fail_page_alloc/min-order", on ? "0" : "1");
	good &= fail_nth_write("fail_page_alloc/verbose", on ? "0" : "2");
	return good;
}

/* And of pages that may be anywhere: those of vmalloc(), and of user space. */
static inline bool fail_nth_enable_highmem(bool on)
{
	return fail_nth_write("fail_page_alloc/ignore-gfp-highmem", on ? "N" : "Y");
}

/* The file of a thread, of the calling one if 0; -1 if it has none. */
static inline int fail_nth_open(pid_t tid)
{
	char path[64] = "/proc/thread-self/fail-nth";

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/fail-nth", tid);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* Let the @n-th allocation of the thread fail from here on. */
static inline bool fail_nth_arm(int fd, int n)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d", n);

	return pwrite(fd, text, len, 0) == len;
}

/*
 * No more of that.  0 if the allocation came and failed, else how many were left to
 * come; -1 if the thread is gone.
 */
static inline int fail_nth_left(int fd)
{
	char text[16] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(fd, "0", 1, 0) != 1)
		return -1;
	return atoi(text);
}

#endif /* UTRACE_FAIL_NTH_H */

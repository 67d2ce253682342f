/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of branches share
 */
#ifndef UTRACE_BRANCHES_H
#define UTRACE_BRANCHES_H

#include "../dev/dev.h"

#include <libgen.h>
#include <limits.h>

#include <linux/utrace_branch.h>

#define IS_PSEUDO(address)	((address) >= UTRACE_PC_BASE)

/* An order: @n rounds of a loop with one branch. */
static inline long make_branches(long n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r"(n));
	return n;
}

/* All that a consumer has given. */
struct trace {
	struct utrace_branch *records;
	size_t n;
};

/* Ask for a consumer of a process; returns its descriptor, or -errno. */
static inline int consumer(pid_t pid, __u32 scope, __u32 full, __u64 capacity)
{
	struct utrace_ioc_branches arg = {
		.where.scope = scope,
		.full = full,
		.capacity = capacity,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	need(dev >= 0, "/dev/utrace");
	arg.where.fd = syscall(SYS_pidfd_open, pid, 0);
	need(arg.where.fd >= 0, "pidfd_open");
	ret = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	ret = ret < 0 ? -errno : ret;
	close(arg.where.fd);
	close(dev);
	return ret;
}

/* Read on until the end, or until @most records are there. */
static inline void read_on(int fd, struct trace *trace, size_t most)
{
	static struct utrace_branch some[1000];
	ssize_t got;

	while (trace->n < most && (got = read(fd, some, sizeof(some))) > 0) {
		trace->records = realloc(trace->records,
					 trace->n * sizeof(some[0]) + got);
		need(trace->records, "memory");
		memcpy(trace->records + trace->n, some, got);
		trace->n += got / sizeof(some[0]);
	}
}

/*
 * Read on for a time, half of the smallest ring at a time, and slowly if
 * @pause_ms is set.
 */
static inline void read_for(int fd, struct trace *trace, size_t most,
			    int pause_ms)
{
	struct utrace_branch some[256];
	ssize_t got;

	while (trace->n < most &&
	       (got = read(fd, some, sizeof(some))) > 0) {
		trace->records = realloc(trace->records,
					 trace->n * sizeof(some[0]) + got);
		need(trace->records, "memory");
		memcpy(trace->records + trace->n, some, got);
		trace->n += got / sizeof(some[0]);
		usleep(pause_ms * 1000);
	}
}

static inline unsigned int type_of(const struct utrace_branch *record)
{
	return UTRACE_BRANCH_TYPE(record->info);
}

static inline size_t count_type(const struct trace *trace, unsigned int type)
{
	size_t i, n = 0;

	for (i = 0; i < trace->n; i++)
		n += type_of(&trace->records[i]) == type;
	return n;
}

/* Branches that come from an address, which may be a pseudo-address. */
static inline size_t count_from(const struct trace *trace, __u64 from)
{
	size_t i, n = 0;

	for (i = 0; i < trace->n; i++)
		n += type_of(&trace->records[i]) == UTRACE_BRANCH &&
		     trace->records[i].from == from;
	return n;
}

/*
 * Check whether an END is of a task that has ended in the system call before
 * it.  It then names the instruction of the call, as the record of the call
 * does.
 */
static inline bool is_end_of_call(const struct utrace_branch *r)
{
	return type_of(r) == UTRACE_BRANCH_END &&
	       type_of(r - 1) == UTRACE_BRANCH &&
	       r[-1].to == UTRACE_PC_SYSCALL && r[-1].from == r->from;
}

/*
 * Check that the trace of one task has no gap: the code from the target of each
 * branch to the next branch is straight.
 */
static inline bool is_gapless(const struct trace *trace)
{
	__u64 at = 0;
	size_t i;

	for (i = 0; i < trace->n; i++) {
		const struct utrace_branch *r = &trace->records[i];

		if (type_of(r) == UTRACE_BRANCH_TASK)
			continue;
		if (type_of(r) != UTRACE_BRANCH_START &&
		    !(i && is_end_of_call(r)) &&
		    (r->from < at || (!IS_PSEUDO(at) && r->from - at > 1 << 16)))
			return false;
		at = r->to;
	}
	return true;
}

/* A program of this folder. */
static inline const char *built(const char *name)
{
	static char home[PATH_MAX], path[PATH_MAX + 32];

	memset(home, 0, sizeof(home));
	need(readlink("/proc/self/exe", home, sizeof(home) - 1) > 0,
	     "own name");
	snprintf(path, sizeof(path), "%s/%s", dirname(home), name);
	return path;
}

static inline bool has_vsyscalls(void)
{
	char line[512];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (maps && fgets(line, sizeof(line), maps))
		found |= !!strstr(line, "[vsyscall]");
	if (maps)
		fclose(maps);
	return found;
}

/* Uprobes */

static inline bool write_to(const char *path, const char *format, ...)
{
	int fd = open(path, O_WRONLY | O_APPEND);
	va_list args;
	bool good;

	va_start(args, format);
	good = fd >= 0 && vdprintf(fd, format, args) > 0;
	va_end(args);
	close(fd);
	return good;
}

#define TRACING	"/sys/kernel/tracing/"

/* Set uprobe number @i at an instruction of this program. */
static inline void set_uprobe(unsigned int i, const void *at)
{
	char path[256] = {};

	need(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0, "own name");
	need(write_to(TRACING "uprobe_events", "p:bts/p%u %s:%#lx\n", i, path,
		      offset_in_file(at)), "uprobe_events");
}

static inline void enable_uprobes(void)
{
	need(write_to(TRACING "events/bts/enable", "1"), "enable");
}

static inline void remove_uprobes(unsigned int n)
{
	unsigned int i;

	write_to(TRACING "events/bts/enable", "0");
	for (i = 0; i < n; i++)
		write_to(TRACING "uprobe_events", "-:bts/p%u\n", i);
}

#endif /* UTRACE_BRANCHES_H */

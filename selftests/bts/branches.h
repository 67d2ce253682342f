/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of branches share
 */
#ifndef UTRACE_BRANCHES_H
#define UTRACE_BRANCHES_H

#include "../dev/dev.h"

#include <linux/utrace_branch.h>

#define IS_PSEUDO(address)	((address) >= UTRACE_PC_BASE)

/* All that a consumer has given. */
struct trace {
	struct utrace_branch *records;
	size_t n;
};

/* Ask for a consumer of a process; returns its descriptor, or -errno. */
static inline int consumer(pid_t pid, __u32 scope, __u32 mode, __u64 records)
{
	struct utrace_ioc_branches arg = {
		.scope = scope,
		.mode = mode,
		.records = records,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	need(dev >= 0, "/dev/utrace");
	arg.pidfd = syscall(SYS_pidfd_open, pid, 0);
	need(arg.pidfd >= 0, "pidfd_open");
	ret = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	ret = ret < 0 ? -errno : ret;
	close(arg.pidfd);
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

/*
 * Is the trace of one task without a gap?  From the target of each branch the
 * task has gone straight on to the next branch.
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
		    (r->from < at || (!IS_PSEUDO(at) && r->from - at > 1 << 16)))
			return false;
		at = r->to;
	}
	return true;
}

#endif /* UTRACE_BRANCHES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the branches that tasks take, for parts of the kernel
 *
 * A consumer follows the threads of a task, a process or a tree, and keeps all of
 * their branches or the last ones.  Any number of consumers may follow one task;
 * each gets what it asked for, whatever the others ask for.
 *
 * Documentation/trace/utrace/bts.rst tells what the records mean.
 */
#ifndef _LINUX_UTRACE_BRANCHES_H
#define _LINUX_UTRACE_BRANCHES_H

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/types.h>
#include <uapi/linux/utrace.h>
#include <uapi/linux/utrace_branch.h>

struct bts_consumer;
struct task_struct;

/**
 * struct utrace_branches_want - what a consumer wants
 * @levels: %UTRACE_LEVEL_USER, %UTRACE_LEVEL_KERNEL, or both; 0: user
 * @full: enum utrace_full: what happens if there is no room for a record
 * @capacity: number of records that there is room for, rounded up to a power of
 *	2, 512 or, of a CPU, 2048 at least; 0: 65536
 * @source: enum utrace_branch_source
 * @ready: called when there is something to read, or all tasks have ended; also
 *	if there was something before.  It runs under a spinlock, with interrupts
 *	off, and may do no more than to wake up a task or to queue work.  It may
 *	be NULL
 * @data: second argument of @ready
 */
struct utrace_branches_want {
	u32 levels;
	u32 full;
	u64 capacity;
	u32 source;
	void (*ready)(struct bts_consumer *consumer, void *data);
	void *data;
};

#ifdef CONFIG_UTRACE_BTS
struct bts_consumer *
utrace_branches_attach(struct task_struct *task, u32 scope,
		       const struct utrace_branches_want *want);
struct bts_consumer *
utrace_branches_attach_cpu(unsigned int cpu,
			   const struct utrace_branches_want *want);
int utrace_branches_read(struct bts_consumer *consumer,
			 struct utrace_branch *records, unsigned int n);
bool utrace_branches_over(struct bts_consumer *consumer);
void utrace_branches_detach(struct bts_consumer *consumer);
void utrace_branches_put(struct bts_consumer *consumer);
#else
static inline struct bts_consumer *
utrace_branches_attach(struct task_struct *task, u32 scope,
		       const struct utrace_branches_want *want)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct bts_consumer *
utrace_branches_attach_cpu(unsigned int cpu,
			   const struct utrace_branches_want *want)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int utrace_branches_read(struct bts_consumer *consumer,
				       struct utrace_branch *records,
				       unsigned int n)
{
	return 0;
}

static inline bool utrace_branches_over(struct bts_consumer *consumer)
{
	return true;
}

static inline void utrace_branches_detach(struct bts_consumer *consumer)
{
}

static inline void utrace_branches_put(struct bts_consumer *consumer)
{
}
#endif

#endif /* _LINUX_UTRACE_BRANCHES_H */

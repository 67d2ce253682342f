/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the branches that tasks take, for parts of the kernel
 *
 * A consumer records the branches of a task, a process or a tree, and keeps all
 * of them or only the most recent ones.  Any number of consumers may record one
 * task, each with its own settings.
 *
 * Documentation/trace/utrace/bts.rst describes the records.
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
 * struct utrace_branches_want - settings of a consumer
 * @levels: %UTRACE_LEVEL_USER, %UTRACE_LEVEL_KERNEL, or both; 0: user
 * @full: enum utrace_full: what happens if there is no room for a record
 * @capacity: number of records that the ring has room for, rounded up to a
 *	power of 2, at least 512, or 2048 for a CPU; 0: 65536
 * @source: enum utrace_branch_source
 * @ready: called when records are added or all tasks have ended, even if unread
 *	records are left.  It runs under a spinlock, with interrupts off, and
 *	may only wake a task or queue work.  May be NULL
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

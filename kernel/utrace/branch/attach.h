/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: making, attaching and closing consumers
 */
#ifndef _KERNEL_UTRACE_BRANCH_ATTACH_H
#define _KERNEL_UTRACE_BRANCH_ATTACH_H

#include <linux/types.h>

struct bts_consumer;
struct task_struct;
struct utrace_branches_want;
struct utrace_engine_ops;
struct utrace_ioc_branch_info;
struct utrace_session;

/* bts_engine.c */
extern const struct utrace_engine_ops utrace_branch_ops;

/* attach.c */
void utrace_branch_consumer_info(struct bts_consumer *consumer,
				 struct utrace_ioc_branch_info *info);
void utrace_branch_consumer_close(struct bts_consumer *consumer);
void utrace_branch_consumer_release(struct bts_consumer *consumer);
struct bts_consumer *
utrace_branch_consumer_new(const struct utrace_branches_want *want, u32 source,
			   bool cpu, struct utrace_session *session);
int utrace_branch_consumer_attach(struct bts_consumer *consumer,
				  struct task_struct *task, u32 scope);
int utrace_branch_check(const struct utrace_branches_want *want, bool cpu);

#endif /* _KERNEL_UTRACE_BRANCH_ATTACH_H */

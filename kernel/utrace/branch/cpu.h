/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: consumers of CPUs
 */
#ifndef _KERNEL_UTRACE_BRANCH_CPU_H
#define _KERNEL_UTRACE_BRANCH_CPU_H

#include <linux/list.h>
#include <linux/types.h>

struct bts_consumer;
struct branch_entries;
struct branch_piece;
struct branch_stream;
struct utrace_ioc_branch_info;

/* Consumers of CPUs */
unsigned int utrace_branch_cpu_source(void);
int utrace_branch_cpu_attach(struct bts_consumer *consumer, unsigned int nr);
void utrace_branch_cpu_detach(struct bts_consumer *consumer);
void utrace_branch_cpu_free(struct bts_consumer *consumer);
bool utrace_branch_cpu_is_over(const struct bts_consumer *consumer);
bool utrace_branch_cpu_has(const struct bts_consumer *consumer);
int utrace_branch_cpu_copy(struct bts_consumer *consumer,
			   struct branch_piece *piece, unsigned int n);
void utrace_branch_cpu_take(struct bts_consumer *consumer,
			    const struct branch_piece *piece);
void utrace_branch_cpu_info(const struct bts_consumer *consumer,
			    struct utrace_ioc_branch_info *info);

/* Threads that CPUs record */
int utrace_branch_cpus_get(void);
void utrace_branch_cpus_put(void);
const struct branch_entries *utrace_branch_cpu_entries(void);
void utrace_branch_cpu_track(struct branch_stream *stream,
			     struct list_head *streams);
void utrace_branch_cpu_untrack(struct branch_stream *stream);
void utrace_branch_cpu_drain(void);
bool utrace_branch_cpu_resume(struct branch_stream *stream);
void utrace_branch_cpus_drain(void);

#endif /* _KERNEL_UTRACE_BRANCH_CPU_H */

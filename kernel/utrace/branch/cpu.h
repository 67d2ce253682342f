/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: consumers of CPUs
 */
#ifndef _KERNEL_UTRACE_BRANCH_CPU_H
#define _KERNEL_UTRACE_BRANCH_CPU_H

#include <linux/list.h>
#include <linux/types.h>

struct bts_consumer;
struct bts_entries;
struct bts_piece;
struct bts_stream;
struct utrace_ioc_branch_info;

/* Consumers of CPUs */
unsigned int utrace_bts_cpu_source(void);
int utrace_bts_cpu_attach(struct bts_consumer *consumer, unsigned int nr);
void utrace_bts_cpu_detach(struct bts_consumer *consumer);
void utrace_bts_cpu_free(struct bts_consumer *consumer);
bool utrace_bts_cpu_is_over(const struct bts_consumer *consumer);
bool utrace_bts_cpu_has(const struct bts_consumer *consumer);
int utrace_bts_cpu_look(struct bts_consumer *consumer, struct bts_piece *piece,
			unsigned int n);
void utrace_bts_cpu_take(struct bts_consumer *consumer,
			 const struct bts_piece *piece);
void utrace_bts_cpu_info(const struct bts_consumer *consumer,
			 struct utrace_ioc_branch_info *info);

/* Threads that CPUs record */
int utrace_bts_cpus_get(void);
void utrace_bts_cpus_put(void);
const struct bts_entries *utrace_bts_cpu_entries(void);
void utrace_bts_cpu_track(struct bts_stream *stream, struct list_head *streams);
void utrace_bts_cpu_untrack(struct bts_stream *stream);
void utrace_bts_cpu_drain(void);
bool utrace_bts_cpu_resume(struct bts_stream *stream);
void utrace_bts_cpus_drain(void);

#endif /* _KERNEL_UTRACE_BRANCH_CPU_H */

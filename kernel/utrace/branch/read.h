/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: reading from a consumer
 */
#ifndef _KERNEL_UTRACE_BRANCH_READ_H
#define _KERNEL_UTRACE_BRANCH_READ_H

#include <linux/types.h>

struct bts_consumer;
struct branch_piece;
struct utrace_reader_ops;

extern const struct utrace_reader_ops utrace_branch_reader_ops;

int utrace_branch_consumer_copy(struct bts_consumer *consumer,
				struct branch_piece *piece, unsigned int n);
void utrace_branch_consumer_take(struct bts_consumer *consumer,
				 const struct branch_piece *piece);
bool utrace_branch_consumer_has(const struct bts_consumer *consumer);
bool utrace_branch_consumer_is_over(const struct bts_consumer *consumer);

#endif /* _KERNEL_UTRACE_BRANCH_READ_H */

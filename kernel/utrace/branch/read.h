/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: reading from a consumer
 */
#ifndef _KERNEL_UTRACE_BRANCH_READ_H
#define _KERNEL_UTRACE_BRANCH_READ_H

#include <linux/types.h>

struct bts_consumer;
struct bts_piece;
struct utrace_reader_ops;

extern const struct utrace_reader_ops utrace_bts_reader_ops;

int utrace_bts_look(struct bts_consumer *consumer, struct bts_piece *piece,
		    unsigned int n);
void utrace_bts_take(struct bts_consumer *consumer,
		     const struct bts_piece *piece);
bool utrace_bts_has(const struct bts_consumer *consumer);
bool utrace_bts_is_over(const struct bts_consumer *consumer);

#endif /* _KERNEL_UTRACE_BRANCH_READ_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: delivery from a thread to its consumers
 */
#ifndef _KERNEL_UTRACE_BRANCH_DELIVER_H
#define _KERNEL_UTRACE_BRANCH_DELIVER_H

#include <linux/types.h>

struct bts_link;
struct bts_thread;

bool utrace_bts_still_sees(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_deliver(struct bts_thread *thread);
void utrace_bts_end(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_flush_soon(struct bts_thread *thread);

#endif /* _KERNEL_UTRACE_BRANCH_DELIVER_H */

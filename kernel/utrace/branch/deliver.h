/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: delivery from a thread to its consumers
 */
#ifndef _KERNEL_UTRACE_BRANCH_DELIVER_H
#define _KERNEL_UTRACE_BRANCH_DELIVER_H

#include <linux/types.h>

struct branch_link;
struct branch_thread;

bool utrace_branch_still_sees(struct branch_thread *thread,
			      struct branch_link *link);
void utrace_branch_deliver(struct branch_thread *thread);
void utrace_branch_end(struct branch_thread *thread, struct branch_link *link);
void utrace_branch_flush_soon(struct branch_thread *thread);

#endif /* _KERNEL_UTRACE_BRANCH_DELIVER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the user that an engine acts for
 */
#ifndef _KERNEL_UTRACE_LIMIT_H
#define _KERNEL_UTRACE_LIMIT_H

#include <linux/types.h>

struct cred;
struct utrace_engine;

int utrace_charge_engine(struct utrace_engine *engine,
			 const struct cred *opener);
void utrace_uncharge_engine(struct utrace_engine *engine);
bool utrace_same_user(const struct utrace_engine *a,
		      const struct utrace_engine *b);

#endif /* _KERNEL_UTRACE_LIMIT_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the layout of a record, for programs of 32 and of 64 bits
 */
#include <linux/utrace_branch.h>

#define AT(member)	__builtin_offsetof(struct utrace_branch, member)

_Static_assert(AT(from) == 0 && AT(to) == 8 && AT(info) == 16, "members");
_Static_assert(sizeof(struct utrace_branch) == 24, "size");

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the layout of structures in programs of 32 and of 64 bits
 *
 * Only the layout is compared here.  That a reader of 32 bits gets the same
 * bytes as one of 64 bits, by read(2) and in a mapped ring, is tested in a
 * kernel: selftests/bts/mapped.c.
 */
#include <linux/utrace_branch.h>

#define AT(type, member)	__builtin_offsetof(struct type, member)
#define SIZE(type)		sizeof(struct type)

_Static_assert(AT(utrace_branch, from) == 0, "from");
_Static_assert(AT(utrace_branch, to) == 8, "to");
_Static_assert(AT(utrace_branch, info) == 16, "info");
_Static_assert(SIZE(utrace_branch) == 24, "a record");

_Static_assert(AT(utrace_map_ring, head) == 0, "head");
_Static_assert(AT(utrace_map_ring, lost) == 24, "lost");
_Static_assert(SIZE(utrace_map_ring) == 64, "the header of a ring that the kernel writes");
_Static_assert(AT(utrace_map_tail, tail) == 0, "tail");
_Static_assert(SIZE(utrace_map_tail) == 64, "the tail of a ring that the program writes");

_Static_assert(AT(utrace_ioc_branches, capacity) == 24, "capacity");
_Static_assert(SIZE(utrace_ioc_branches) == UTRACE_IOC_BRANCHES_SIZE_VER0,
	       "the argument of UTRACE_IOC_BRANCHES");
_Static_assert(AT(utrace_ioc_branch_info, source) == 56, "source");
_Static_assert(SIZE(utrace_ioc_branch_info) == UTRACE_IOC_BRANCH_INFO_SIZE_VER0,
	       "the argument of UTRACE_IOC_BRANCH_INFO");

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - numbers for pairs of integers
 */
#ifndef UTRACE_LIB_PAIRS_H
#define UTRACE_LIB_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

struct pair {
	__u64 a;
	__u64 b;
};

/**
 * struct pairs - a table that numbers distinct pairs: 0, 1 and so on
 * @pairs: the pairs by their numbers
 * @n: number of pairs
 * @size: allocated elements of @pairs
 * @slots: a hash table: number + 1 of a pair, or 0
 * @nslots: number of elements of @slots, a power of 2, or 0
 *
 * A table with all members 0 is empty.
 */
struct pairs {
	struct pair *pairs;
	size_t n;
	size_t size;
	__u32 *slots;
	size_t nslots;
};

#define PAIRS_NONE	((unsigned int)-1)

unsigned int pairs_find(const struct pairs *pairs, __u64 a, __u64 b);
unsigned int pairs_add(struct pairs *pairs, __u64 a, __u64 b);
void pairs_clear(struct pairs *pairs);

#endif /* UTRACE_LIB_PAIRS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers for pairs of integers
 *
 * A hash table with open addressing.  Its seed is random, so that a file of
 * records cannot be crafted to make a report slow.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fail.h"
#include "memory.h"
#include "pairs.h"

static __u64 hash(__u64 a, __u64 b)
{
	static __u64 seed;

	while (!seed)
		if (getrandom(&seed, sizeof(seed), 0) < 0)
			fail("getrandom", "no random number");
	a = (a ^ seed) * 0x9e3779b97f4a7c15ULL;
	a ^= a >> 32;
	a = (a + b) * 0xd6e8feb86659fd93ULL;
	a ^= a >> 32;
	return a * 0xd6e8feb86659fd93ULL >> 16;
}

/* Return the slot of a pair, or the empty slot for it. */
static __u32 *find_slot(const struct pairs *pairs, __u64 a, __u64 b)
{
	size_t mask = pairs->nslots - 1, i;
	const struct pair *pair;

	for (i = hash(a, b) & mask; pairs->slots[i]; i = (i + 1) & mask) {
		pair = &pairs->pairs[pairs->slots[i] - 1];
		if (pair->a == a && pair->b == b)
			break;
	}
	return &pairs->slots[i];
}

/* Return the number of a pair, or PAIRS_NONE. */
unsigned int pairs_find(const struct pairs *pairs, __u64 a, __u64 b)
{
	return pairs->n ? *find_slot(pairs, a, b) - 1 : PAIRS_NONE;
}

/* Double the slots, so that at least half of them are empty. */
static void more_slots(struct pairs *pairs)
{
	size_t i;

	free(pairs->slots);
	pairs->nslots = pairs->nslots ? 2 * pairs->nslots : 64;
	pairs->slots = checked(calloc(pairs->nslots, sizeof(*pairs->slots)));
	if (pairs->n >= PAIRS_NONE / 2)
		out_of_memory();
	for (i = 0; i < pairs->n; i++)
		*find_slot(pairs, pairs->pairs[i].a, pairs->pairs[i].b) = i + 1;
}

/*
 * Return the number of a pair.  A new pair is added, and its number is the old
 * @pairs->n.
 */
unsigned int pairs_add(struct pairs *pairs, __u64 a, __u64 b)
{
	__u32 *slot;

	if (2 * (pairs->n + 1) > pairs->nslots)
		more_slots(pairs);
	slot = find_slot(pairs, a, b);
	if (*slot)
		return *slot - 1;
	pairs->pairs = grow(pairs->pairs, pairs->n, &pairs->size,
			    sizeof(*pairs->pairs));
	pairs->pairs[pairs->n++] = (struct pair){ a, b };
	*slot = pairs->n;
	return pairs->n - 1;
}

/* Remove all pairs. */
void pairs_clear(struct pairs *pairs)
{
	free(pairs->pairs);
	free(pairs->slots);
	*pairs = (struct pairs){};
}

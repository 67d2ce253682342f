/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - branches of the emulated source
 *
 * kernel/utrace/branch/emulated.c has the rules: from branch n of a CPU, whose
 * number is in its address, the next branch of this CPU is n + 1.
 */
#ifndef UTRACE_EMULATED_H
#define UTRACE_EMULATED_H

#include "branches.h"

#define USER		0x100000000ULL
#define KERNEL		0xffff800000000000ULL
#define STEP		16
#define CPU_SHIFT	40
#define CPUS		128
#define CYCLE		16
#define ENTRY		10

#define BOTH		(UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL)

static inline bool is_kernel(__u64 address)
{
	return address >> 63;
}

/* The CPU of an address, and the number of the branch that leads from there. */
static inline unsigned int cpu_of(__u64 from)
{
	return (from >> CPU_SHIFT) % CPUS;
}

static inline __u64 number_of(__u64 from)
{
	return (from - (is_kernel(from) ? KERNEL : USER)) %
	       (1ULL << CPU_SHIFT) / STEP;
}

/* Check whether a consumer of @levels gets branch number @n unchanged. */
static inline bool is_of(__u64 n, __u32 levels)
{
	unsigned int part = n % CYCLE;

	if (levels == BOTH)
		return true;
	return levels == UTRACE_LEVEL_KERNEL ? part >= ENTRY : part < ENTRY;
}

/*
 * What a test has seen of a stream.  @calls: entries of the kernel and exits
 * from it, as a consumer of user mode gets them.  @missing: records that were
 * reported as lost and whose gap has not been seen yet; at the end, those that
 * were no branches of the stream.
 */
struct seen {
	__u64 next[CPUS];
	bool begun[CPUS];
	size_t branches;
	size_t calls;
	size_t tasks;
	size_t starts;
	size_t ends;
	__u64 lost;
	__u64 missing;
	size_t wrong;
};

/*
 * The next branch of a stream; none may be missing that is not counted.  A CPU that
 * comes online begins with number 0.
 */
static inline void see_branch(struct seen *seen,
			      const struct utrace_branch *record, __u32 levels)
{
	unsigned int cpu = cpu_of(record->from);
	__u64 n = number_of(record->from), gap = 0;

	if (levels == UTRACE_LEVEL_USER &&
	    (IS_PSEUDO(record->from) || IS_PSEUDO(record->to))) {
		seen->calls++;
		return;
	}
	if (!n)
		seen->begun[cpu] = false;
	for (; seen->begun[cpu] && seen->next[cpu] < n; seen->next[cpu]++)
		gap += is_of(seen->next[cpu], levels);
	if (!is_of(n, levels) || gap > seen->missing ||
	    (seen->begun[cpu] && n != seen->next[cpu])) {
		if (!seen->wrong++)
			printf("#   %llx -> %llx after number %llu\n",
			       record->from, record->to, seen->next[cpu]);
		gap = 0;
	}
	seen->missing -= gap;
	seen->begun[cpu] = true;
	seen->next[cpu] = n + 1;
	seen->branches++;
}

static inline void see(struct seen *seen, const struct trace *trace,
		       __u32 levels)
{
	size_t i;

	for (i = 0; i < trace->n; i++) {
		switch (type_of(&trace->records[i])) {
		case UTRACE_BRANCH:
			see_branch(seen, &trace->records[i], levels);
			break;
		case UTRACE_BRANCH_TASK:
			seen->tasks++;
			break;
		case UTRACE_BRANCH_START:
			seen->starts++;
			break;
		case UTRACE_BRANCH_END:
			seen->ends++;
			break;
		case UTRACE_BRANCH_LOST:
			seen->missing += trace->records[i].from;
			seen->lost += trace->records[i].from;
			break;
		default:
			seen->wrong++;
		}
	}
}

#endif /* UTRACE_EMULATED_H */

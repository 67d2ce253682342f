/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: Intel processors as a source
 */
#ifndef _KERNEL_UTRACE_BRANCH_INTEL_H
#define _KERNEL_UTRACE_BRANCH_INTEL_H

#include "selftest.h"

/**
 * struct bts_check - result of the self-test of a CPU
 * @test: figures of the self-test
 * @fault: the first fault that was found
 */
struct bts_check {
	struct bts_test test;
	enum bts_fault fault;
};

/* driver.c */
bool utrace_bts_intel_is_there(void);
bool utrace_bts_intel_errs(void);
int utrace_bts_intel_check(unsigned int cpu, struct bts_check *check);

/* cpu_test.c */
extern const struct bts_test_ops utrace_bts_intel_test_ops;
int utrace_bts_intel_test(unsigned int cpu, struct branch_store *store,
			  struct bts_check *check);

/* entries.c */
void utrace_bts_intel_entries(struct branch_entries *entries);

#endif /* _KERNEL_UTRACE_BRANCH_INTEL_H */

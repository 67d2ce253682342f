// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the self-test on Intel processors
 *
 * selftest.c defines the tests.  This file drives an Intel processor for them
 * and takes the known branches.
 */
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/percpu.h>
#include <linux/smp.h>

#include <asm/utrace_bts.h>

#include "intel.h"
#include "../source.h"

/* The test that runs on a CPU.  Used by the CPU itself and its NMI. */
static DEFINE_PER_CPU(struct bts_test *, intel_test);

static void intel_test_enable(struct bts_test *test)
{
	utrace_ds_enable();
}

static void intel_test_disable(struct bts_test *test)
{
	utrace_ds_disable();
}

/* Two NOPs separate DEC and JNZ, since a fused pair may count as one. */
static noinline void intel_test_run(struct bts_test *test, unsigned int rounds)
{
	u64 first, second, third, fourth, last;

	asm volatile("lea 1f(%%rip), %[first]\n\t"
		     "lea 2f(%%rip), %[second]\n\t"
		     "lea 3f(%%rip), %[third]\n\t"
		     "lea 4f(%%rip), %[fourth]\n\t"
		     "lea 5f(%%rip), %[last]\n"
		     "1:\tjmp 3f\n"
		     "2:\tjmp 4f\n"
		     "3:\tjmp 2b\n"
		     "4:\tdec %[rounds]\n\t"
		     "nop\n\t"
		     "nop\n"
		     "5:\tjnz 1b"
		     : [first] "=&r" (first), [second] "=&r" (second),
		       [third] "=&r" (third), [fourth] "=&r" (fourth),
		       [last] "=&r" (last), [rounds] "+r" (rounds)
		     :
		     : "cc");
	test->round[0] = (struct utrace_branch){ first, third };
	test->round[1] = (struct utrace_branch){ third, second };
	test->round[2] = (struct utrace_branch){ second, fourth };
	test->round[3] = (struct utrace_branch){ last, first };
}

const struct bts_test_ops utrace_bts_intel_test_ops = {
	.enable		= intel_test_enable,
	.disable	= intel_test_disable,
	.run		= intel_test_run,
};

static void intel_test_here(void *data)
{
	struct bts_check *check = data;

	__this_cpu_write(intel_test, &check->test);
	barrier();	/* Before anything is recorded, for an NMI. */
	check->fault = utrace_bts_test(&check->test);
	barrier();
	__this_cpu_write(intel_test, NULL);
}

/**
 * utrace_bts_intel_test() - run the self-test on a CPU
 * @cpu: a CPU that is online and stays so, and that nobody follows
 * @store: its debug store, which the caller holds
 * @check: filled in
 *
 * Context: Process context.
 * Return: 0, -EIO if the CPU has failed, or an error of
 * smp_call_function_single().
 */
int utrace_bts_intel_test(unsigned int cpu, struct branch_store *store,
			  struct bts_check *check)
{
	int ret;

	check->test = (struct bts_test){
		.ops = &utrace_bts_intel_test_ops,
		.store = store,
	};
	ret = smp_call_function_single(cpu, intel_test_here, check, true);
	if (ret)
		return ret;
	return check->fault ? -EIO : 0;
}

/**
 * utrace_ds_interrupt() - handle an interrupt of the performance counters
 *
 * Context: NMI.
 * Return: true if the branch trace store has caused it.
 */
bool utrace_ds_interrupt(void)
{
	struct bts_test *test = __this_cpu_read(intel_test);

	if (!utrace_ds_is_held())
		return false;
	return test ? utrace_bts_test_interrupt(test) :
		      utrace_branch_cpu_interrupt();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: Intel processors as a source
 *
 * A processor with a branch trace store writes each branch that is taken to the
 * memory that its debug store names, and interrupts at a threshold.  Perf sets
 * up both (arch/x86/events/intel/utrace_bts.c).  A CPU must pass a self-test
 * when it is followed for the first time.
 *
 * Lock order: cpu_hotplug_lock, then branch_cpus_lock of cpu.c, then
 * intel_lock.
 */
#define pr_fmt(fmt) "utrace: " fmt

#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/cpufeature.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/stddef.h>
#include <linux/suspend.h>

#include <asm/cpu_device_id.h>
#include <asm/intel-family.h>
#include <asm/intel_ds.h>
#include <asm/utrace_bts.h>

#include "intel.h"
#include "../source.h"

/* The debug store begins with the addresses of a window. */
static_assert(offsetof(struct debug_store, bts_buffer_base) ==
	      offsetof(struct branch_store, base));
static_assert(offsetof(struct debug_store, bts_index) ==
	      offsetof(struct branch_store, index));
static_assert(offsetof(struct debug_store, bts_absolute_maximum) ==
	      offsetof(struct branch_store, max));
static_assert(offsetof(struct debug_store, bts_interrupt_threshold) ==
	      offsetof(struct branch_store, threshold));

static DEFINE_MUTEX(intel_lock);

/* Followed CPUs.  Under intel_lock.  If not empty, utrace_ds_hold() is held. */
static struct cpumask intel_followed;

/* CPUs that have passed the self-test.  Under intel_lock. */
static struct cpumask intel_passed;

/* The machine */

/* Processors that may record a wrong source address of a branch (AAJ122). */
static const struct x86_cpu_id intel_errs[] = {
	X86_MATCH_VFM(INTEL_NEHALEM_EP, 0),
	X86_MATCH_VFM(INTEL_NEHALEM, 0),
	X86_MATCH_VFM(INTEL_NEHALEM_G, 0),
	X86_MATCH_VFM(INTEL_NEHALEM_EX, 0),
	X86_MATCH_VFM(INTEL_WESTMERE, 0),
	X86_MATCH_VFM(INTEL_WESTMERE_EP, 0),
	X86_MATCH_VFM(INTEL_WESTMERE_EX, 0),
	X86_MATCH_VFM(INTEL_SANDYBRIDGE, 0),
	X86_MATCH_VFM(INTEL_SANDYBRIDGE_X, 0),
	X86_MATCH_VFM(INTEL_IVYBRIDGE, 0),
	{}
};

/**
 * utrace_bts_intel_is_there() - check for a usable branch trace store
 *
 * Context: Any.
 * Return: true if the machine has one with records of 64 bits.
 */
bool utrace_bts_intel_is_there(void)
{
	return boot_cpu_has(X86_FEATURE_BTS) &&
	       boot_cpu_has(X86_FEATURE_DTES64) && utrace_ds_is_there();
}

/**
 * utrace_bts_intel_errs() - check for an erratum of the branch trace store
 *
 * Context: Any.
 * Return: true if the processor may record wrong addresses.
 */
bool utrace_bts_intel_errs(void)
{
	return x86_match_cpu(intel_errs);
}

/* CPUs */

static int intel_get(unsigned int cpu, struct branch_store **store)
{
	int ret;

	lockdep_assert_held(&intel_lock);
	ret = cpumask_empty(&intel_followed) ? utrace_ds_hold() : 0;
	if (ret)
		return ret;
	cpumask_set_cpu(cpu, &intel_followed);
	*store = (struct branch_store *)utrace_ds_store(cpu);
	return *store ? 0 : -EIO;
}

static void intel_put(unsigned int cpu)
{
	lockdep_assert_held(&intel_lock);
	if (!cpumask_test_and_clear_cpu(cpu, &intel_followed))
		return;
	utrace_ds_restore(cpu);
	if (cpumask_empty(&intel_followed))
		utrace_ds_release();
}

/**
 * utrace_bts_intel_check() - run the self-test on a CPU, for a report
 * @cpu: a CPU that is online and stays so
 * @check: filled in
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the CPU has passed
 * * -EIO - the CPU has failed, see @check; @check.fault is 0 if the CPU does
 *   not have the address of its debug store
 * * -EALREADY - the CPU is followed, so it cannot be tested now
 * * -EBUSY, -ENOMEM, -EOPNOTSUPP - see utrace_ds_hold()
 */
int utrace_bts_intel_check(unsigned int cpu, struct bts_check *check)
{
	struct branch_store *store;
	int ret;

	*check = (struct bts_check){};
	guard(mutex)(&intel_lock);
	if (cpumask_test_cpu(cpu, &intel_followed))
		return -EALREADY;
	ret = intel_get(cpu, &store);
	if (!ret)
		ret = utrace_bts_intel_test(cpu, store, check);
	intel_put(cpu);
	return ret;
}

static int intel_begin(unsigned int cpu, struct branch_store **store)
{
	struct bts_check check = {};
	int ret;

	guard(mutex)(&intel_lock);
	ret = intel_get(cpu, store);
	if (!ret && !cpumask_test_cpu(cpu, &intel_passed))
		ret = utrace_bts_intel_test(cpu, *store, &check);
	if (!ret) {
		cpumask_set_cpu(cpu, &intel_passed);
		return 0;
	}
	if (check.fault)
		pr_warn_once("CPU %u cannot record branches: %s\n", cpu,
			     utrace_bts_fault_text(check.fault));
	intel_put(cpu);
	return ret;
}

static void intel_end(unsigned int cpu)
{
	guard(mutex)(&intel_lock);
	intel_put(cpu);
}

static void intel_enable(struct branch_window *window)
{
	utrace_ds_enable();
}

static void intel_disable(struct branch_window *window)
{
	utrace_ds_disable();
}

/*
 * Reading the code gave some 100 branches for the way out of the interrupt,
 * when recording began in the middle of perf's handler.  The limit must cover
 * the rest of this handler after utrace_ds_resume() and the way in up to
 * utrace_ds_pause().
 */
#define INTEL_LEAST	512

static_assert(INTEL_LEAST <= BRANCH_LEAST_MAX);

static struct branch_source intel_source __ro_after_init = {
	.id		= UTRACE_BRANCH_SOURCE_INTEL,
	.ops		= {
		.enable		= intel_enable,
		.disable	= intel_disable,
		.least		= INTEL_LEAST,
	},
	.begin		= intel_begin,
	.end		= intel_end,
};

/* Suspend and reboot */

/* A processor loses its recording state while it sleeps. */
static int intel_sleep(struct notifier_block *block, unsigned long event,
		       void *unused)
{
	switch (event) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		utrace_branch_cpus_off(true);
		break;
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		utrace_branch_cpus_off(false);
		break;
	}
	return NOTIFY_DONE;
}

/* The processor must not write records to the memory of the next kernel. */
static int intel_reboot(struct notifier_block *block, unsigned long event,
			void *unused)
{
	utrace_branch_cpus_off(true);
	return NOTIFY_DONE;
}

static struct notifier_block intel_sleep_block = {
	.notifier_call	= intel_sleep,
};

static struct notifier_block intel_reboot_block = {
	.notifier_call	= intel_reboot,
};

/* Runs before emulated_init(): the emulated source is only the fallback. */
static int __init intel_init(void)
{
	if (!utrace_bts_intel_is_there())
		return 0;
	if (utrace_bts_intel_errs()) {
		pr_info("this processor may record wrong branches (erratum AAJ122)\n");
		return 0;
	}
	utrace_bts_intel_entries(&intel_source.entries);
	register_pm_notifier(&intel_sleep_block);
	register_reboot_notifier(&intel_reboot_block);
	utrace_branch_source_add(&intel_source);
	return 0;
}
subsys_initcall(intel_init);

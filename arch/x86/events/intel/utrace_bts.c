// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the branch trace store of processors of Intel
 *
 * This file has the code that accesses processor registers or data of perf; the
 * rest is in kernel/utrace/branch/intel/driver.c.  perf owns the debug store,
 * with the memory for branch records, and the register with its address, which
 * PEBS also needs.  That memory is mapped while user mode runs, even with page
 * table isolation.
 *
 * utrace cannot hold the branch trace store while a perf event records
 * branches, and no such event can be created while utrace holds it.
 */
#include <linux/errno.h>
#include <linux/percpu.h>

#include <asm/debugreg.h>
#include <asm/intel_ds.h>
#include <asm/msr.h>
#include <asm/utrace_bts.h>

#include "../perf_event.h"

#define BTS_RECORD	24

/*
 * Both levels, so no BTS_OFF bits: otherwise entries into the kernel are not
 * exact.
 */
#define BTS_BITS	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT)

static bool bts_is_held;

/*
 * bts_is_paused: the interrupt handler runs on this CPU and recording is off.
 * bts_goes_on: recording is turned on again when the handler ends.
 */
static DEFINE_PER_CPU(bool, bts_is_paused);
static DEFINE_PER_CPU(bool, bts_goes_on);

/**
 * utrace_ds_is_there() - check for a branch trace store that utrace can hold
 *
 * Context: Any, after perf has detected the processor.
 * Return: true if there is one.
 */
bool utrace_ds_is_there(void)
{
	/* Before version 2, perf uses another interrupt handler. */
	return x86_pmu.bts && x86_pmu.version >= 2;
}

static int bts_reserve(void)
{
	int ret = x86_reserve_hardware();

	if (ret)
		return ret;
	/* Set by the first reservation, if there was memory. */
	if (x86_pmu.bts_active)
		return 0;
	x86_release_hardware();
	return -ENOMEM;
}

/**
 * utrace_ds_hold() - take the branch trace store of all CPUs
 *
 * After this, interrupts of the performance counters are handled.
 *
 * Context: Process context; may sleep.  The caller serializes this and
 *	utrace_ds_release().
 * Return:
 * * 0 - success
 * * -EOPNOTSUPP - perf has found no branch trace store
 * * -EBUSY - a perf event records branches, or the counters are in use
 * * -ENOMEM - there is no memory for the records
 */
int utrace_ds_hold(void)
{
	int ret;

	if (!utrace_ds_is_there())
		return -EOPNOTSUPP;
	if (x86_add_exclusive(x86_lbr_exclusive_utrace))
		return -EBUSY;
	ret = bts_reserve();
	if (ret)
		x86_del_exclusive(x86_lbr_exclusive_utrace);
	else
		WRITE_ONCE(bts_is_held, true);
	return ret;
}

/**
 * utrace_ds_release() - release the branch trace store of all CPUs
 *
 * Context: Process context; may sleep.  No CPU records.  The caller must have
 *	called utrace_ds_restore() for each CPU that has recorded.
 */
void utrace_ds_release(void)
{
	WRITE_ONCE(bts_is_held, false);
	x86_release_hardware();
	x86_del_exclusive(x86_lbr_exclusive_utrace);
}

/**
 * utrace_ds_is_held() - check whether utrace holds the branch trace store
 *
 * Context: Any.
 * Return: true if it does, so perf must not use the branch trace store.
 */
bool utrace_ds_is_held(void)
{
	return READ_ONCE(bts_is_held);
}

/**
 * utrace_ds_store() - find the debug store of a CPU
 * @cpu: a CPU that is online and stays so
 *
 * Context: Process context; may sleep.  The branch trace store is held.
 * Return: the debug store, or NULL if the register does not have its address;
 * the CPU must not record then.
 */
struct debug_store *utrace_ds_store(unsigned int cpu)
{
	struct debug_store *ds = per_cpu(cpu_hw_events, cpu).ds;
	u64 area;

	if (!ds || rdmsrl_on_cpu(cpu, MSR_IA32_DS_AREA, &area) ||
	    area != (unsigned long)ds)
		return NULL;
	return ds;
}

/**
 * utrace_ds_restore() - restore the state of a debug store that perf expects
 * @cpu: its CPU
 *
 * Context: Any; the CPU does not record.  The branch trace store is held.
 */
void utrace_ds_restore(unsigned int cpu)
{
	struct debug_store *ds = per_cpu(cpu_hw_events, cpu).ds;
	u64 size;

	if (!ds)
		return;
	size = ds->bts_absolute_maximum - ds->bts_buffer_base;
	ds->bts_index = ds->bts_buffer_base;
	/* As alloc_bts_buffer() does. */
	ds->bts_interrupt_threshold = ds->bts_absolute_maximum -
				      size / BTS_RECORD / 16 * BTS_RECORD;
}

/* Registers */

/*
 * These read and write the register without a lock against NMIs.  An NMI in
 * between restores the bits as it found them, if the caller has recorded before
 * whether it sets or clears them.
 */

/**
 * utrace_ds_enable() - turn the recording of branches on this CPU on
 *
 * Context: With interrupts off, or NMI.  The branch trace store is held.
 */
void utrace_ds_enable(void)
{
	if (__this_cpu_read(bts_is_paused))
		__this_cpu_write(bts_goes_on, true);
	else
		update_debugctlmsr(get_debugctlmsr() | BTS_BITS);
}

/**
 * utrace_ds_disable() - turn the recording of branches on this CPU off
 *
 * Context: With interrupts off, or NMI.
 */
void utrace_ds_disable(void)
{
	if (__this_cpu_read(bts_is_paused))
		__this_cpu_write(bts_goes_on, false);
	else
		update_debugctlmsr(get_debugctlmsr() & ~BTS_BITS);
}

/**
 * utrace_ds_pause() - turn recording off when the interrupt handler begins
 *
 * Some processors drop an interrupt that occurs before the handler ends.  So
 * the handler is not recorded: the index must not reach the threshold.
 *
 * Context: NMI.
 */
void utrace_ds_pause(void)
{
	bool on;

	if (!utrace_ds_is_held())
		return;
	on = get_debugctlmsr() & DEBUGCTLMSR_BTS;
	if (on)
		utrace_ds_disable();
	__this_cpu_write(bts_goes_on, on);
	__this_cpu_write(bts_is_paused, true);
}

/**
 * utrace_ds_resume() - turn recording on again when the interrupt handler ends
 *
 * Context: NMI.
 */
void utrace_ds_resume(void)
{
	if (!__this_cpu_read(bts_is_paused))
		return;
	__this_cpu_write(bts_is_paused, false);
	if (__this_cpu_read(bts_goes_on))
		utrace_ds_enable();
}

/**
 * utrace_ds_emergency_stop() - turn recording off before a crash kernel starts
 *
 * The page tables of the crash kernel do not map the memory for records.
 *
 * Context: Any, on each CPU that may record.
 */
void utrace_ds_emergency_stop(void)
{
	if (utrace_ds_is_held())
		utrace_ds_disable();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the branch trace store of processors of Intel
 *
 * Whatever touches registers of the processor, or belongs to perf, is here; the
 * rest is in kernel/utrace/bts/intel.c.  The debug store, with the memory that
 * branches are recorded to, is perf's, and so is the register with its address,
 * which PEBS needs, too.  That memory is mapped while user mode runs, also with
 * page table isolation.
 *
 * While utrace holds the branch trace store, nobody has an event of perf that
 * records branches, and the other way round.
 */
#include <linux/errno.h>
#include <linux/percpu.h>

#include <asm/debugreg.h>
#include <asm/intel_ds.h>
#include <asm/msr.h>
#include <asm/utrace_bts.h>

#include "../perf_event.h"

#define BTS_RECORD	24

/* Both levels, so no BTS_OFF bits: only so are the ways into the kernel exact. */
#define BTS_BITS	(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS | DEBUGCTLMSR_BTINT)

static bool bts_is_held;

/*
 * The handler of the interrupt runs on this CPU, and nothing is recorded meanwhile;
 * and whether the CPU records after that.
 */
static DEFINE_PER_CPU(bool, bts_is_paused);
static DEFINE_PER_CPU(bool, bts_goes_on);

/**
 * utrace_ds_is_there() - has the machine a branch trace store that can be held?
 *
 * Context: Any, once perf has looked at the processor.
 * Return: true if so.
 */
bool utrace_ds_is_there(void)
{
	/* Those before version 2 have another handler of the interrupt. */
	return x86_pmu.bts && x86_pmu.version >= 2;
}

static int bts_reserve(void)
{
	int ret = x86_reserve_hardware();

	if (ret)
		return ret;
	/* Set by the first one who reserves, if there was memory. */
	if (x86_pmu.bts_active)
		return 0;
	x86_release_hardware();
	return -ENOMEM;
}

/**
 * utrace_ds_hold() - take the branch trace store of all CPUs
 *
 * Interrupts of the performance counters are handled from here on.
 *
 * Context: Process context; may sleep.  The caller serializes this and
 *	utrace_ds_release().
 * Return:
 * * 0 - done
 * * -EOPNOTSUPP - perf knows of no branch trace store
 * * -EBUSY - an event of perf records branches, or somebody has the counters
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
 * utrace_ds_release() - give it back
 *
 * Context: Process context; may sleep.  No CPU records, and utrace_ds_settle() was
 *	called for each that has.
 */
void utrace_ds_release(void)
{
	WRITE_ONCE(bts_is_held, false);
	x86_release_hardware();
	x86_del_exclusive(x86_lbr_exclusive_utrace);
}

/**
 * utrace_ds_is_held() - does utrace hold the branch trace store?
 *
 * Context: Any.
 * Return: true if perf has to leave it alone.
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
 * Return: the debug store, or NULL if the processor does not have its address, so
 *	that nothing may be recorded.
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
 * utrace_ds_settle() - leave a debug store as perf wants to find it
 * @cpu: its CPU
 *
 * Context: Any; the CPU does not record.  The branch trace store is held.
 */
void utrace_ds_settle(unsigned int cpu)
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
 * An NMI between reading and writing leaves the bits as it has found them, as long
 * as the caller says before whether it is going to set or to clear them.
 */

/**
 * utrace_ds_enable() - have this CPU record branches
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
 * utrace_ds_disable() - have this CPU record no branches
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
 * utrace_ds_pause() - the handler of the interrupt begins
 *
 * Nothing of the handler is recorded.  Some processors drop an interrupt that comes
 * before its end, so there must be none: the index must not reach the threshold.
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
 * utrace_ds_resume() - the handler of the interrupt ends
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
 * utrace_ds_emergency_stop() - the kernel of a crash dump is about to start
 *
 * It has other page tables, in which the memory for records is not mapped.
 *
 * Context: Any, on each CPU that may record.
 */
void utrace_ds_emergency_stop(void)
{
	if (utrace_ds_is_held())
		utrace_ds_disable();
}

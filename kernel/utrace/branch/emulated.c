// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: an emulated processor that records branches, for tests
 *
 * Each followed CPU has a timer that replaces the processor.  In a hard
 * interrupt it writes synthetic branches in a fixed pattern that the tests
 * know, and raises the interrupt some records after the threshold, as a
 * processor does.
 *
 * Branch number n of a CPU leads from the address of n to that of n + 1.  Bits
 * 40 to 46 of addresses are the number of the CPU.  Of 16 branches the first
 * ten are in user mode, one enters the kernel, four are in the kernel, and the
 * last one leaves it.  Interrupts and system calls alternate: an interrupt
 * returns to the address that it has left, a system call to the next
 * instruction.
 */
#include <linux/align.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include <asm/irq_regs.h>

#include "source.h"

/* Addresses of branch number 0, and the distance of two in bytes. */
#define EMULATED_USER		0x100000000ULL
#define EMULATED_KERNEL		0xffff800000000000ULL
#define EMULATED_STEP		16
#define EMULATED_CPU_SHIFT	40

/* Entry points of the kernel. */
#define EMULATED_SYSCALL	0xffffffff81000000ULL
#define EMULATED_INTERRUPT	0xffffffff81000040ULL

/* Length of the instruction of a system call, in bytes. */
#define EMULATED_SYSCALL_LEN	2

/* Numbers of records: in a window, per tick, and after the threshold. */
#define EMULATED_WINDOW		1000
#define EMULATED_BURST		96
#define EMULATED_SKID		7

#define EMULATED_TICK		(500 * NSEC_PER_USEC)

/* Positions in a cycle of branches. */
#define EMULATED_CYCLE		16
#define EMULATED_ENTRY		10
#define EMULATED_RETURN		15

/**
 * struct emulated - the emulated processor of a CPU
 * @timer: writes records
 * @store: addresses of the window
 * @stop: the timer must end
 * @on: recording is enabled
 * @n: number of the next branch
 * @skid: number of records until the interrupt; 0: the interrupt is not due
 *
 * Used by the CPU itself with interrupts off.
 */
struct emulated {
	struct hrtimer timer;
	struct branch_store store;
	bool stop;
	bool on;
	u64 n;
	unsigned int skid;
};

static DEFINE_PER_CPU(struct emulated, emulated);

static u64 emulated_user(u64 n)
{
	return EMULATED_USER + n * EMULATED_STEP +
	       ((u64)smp_processor_id() << EMULATED_CPU_SHIFT);
}

static u64 emulated_kernel(u64 n)
{
	return EMULATED_KERNEL + n * EMULATED_STEP +
	       ((u64)smp_processor_id() << EMULATED_CPU_SHIFT);
}

static struct utrace_branch emulated_branch(u64 n)
{
	unsigned int part = n % EMULATED_CYCLE;
	bool syscall = n / EMULATED_CYCLE % 2;
	u64 left = emulated_user(ALIGN_DOWN(n, EMULATED_CYCLE) + EMULATED_ENTRY);

	if (part < EMULATED_ENTRY)
		return (struct utrace_branch){
			emulated_user(n), emulated_user(n + 1), 0,
		};
	if (part == EMULATED_ENTRY)
		return (struct utrace_branch){
			left, syscall ? EMULATED_SYSCALL : EMULATED_INTERRUPT, 0,
		};
	return (struct utrace_branch){
		emulated_kernel(n),
		part < EMULATED_RETURN ? emulated_kernel(n + 1) :
		left + (syscall ? EMULATED_SYSCALL_LEN : 0), 0,
	};
}

/* Write a record, if there is room. */
static void emulated_write(struct emulated *e)
{
	struct branch_store *store = &e->store;

	if (store->index >= store->max)
		return;
	*(struct utrace_branch *)(unsigned long)store->index =
		emulated_branch(e->n++);
	store->index += sizeof(struct utrace_branch);
	if (e->skid && !--e->skid)
		utrace_branch_cpu_interrupt();
	else if (store->index == store->threshold)
		e->skid = EMULATED_SKID;
}

/* Check whether to write branches: not while a program is in the kernel. */
static bool emulated_runs(void)
{
	const struct pt_regs *regs = get_irq_regs();

	return !current->mm || (regs && user_mode((struct pt_regs *)regs));
}

static enum hrtimer_restart emulated_tick(struct hrtimer *timer)
{
	struct emulated *e = container_of(timer, struct emulated, timer);
	unsigned int i;

	for (i = 0; i < EMULATED_BURST && e->on && emulated_runs(); i++)
		emulated_write(e);
	hrtimer_forward_now(timer, ns_to_ktime(EMULATED_TICK));
	return READ_ONCE(e->stop) ? HRTIMER_NORESTART : HRTIMER_RESTART;
}

static void emulated_enable(struct branch_window *window)
{
	__this_cpu_write(emulated.on, true);
}

static void emulated_disable(struct branch_window *window)
{
	__this_cpu_write(emulated.on, false);
	__this_cpu_write(emulated.skid, 0);
}

static void emulated_start(void *unused)
{
	hrtimer_start(this_cpu_ptr(&emulated.timer), ns_to_ktime(EMULATED_TICK),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static int emulated_begin(unsigned int cpu, struct branch_store **store)
{
	struct emulated *e = per_cpu_ptr(&emulated, cpu);
	const size_t size = EMULATED_WINDOW * sizeof(struct utrace_branch);
	void *records = vzalloc_node(size, cpu_to_node(cpu));

	if (!records)
		return -ENOMEM;
	e->store.base = (unsigned long)records;
	e->store.max = e->store.base + size;
	e->n = 0;
	e->stop = false;
	hrtimer_init(&e->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	e->timer.function = emulated_tick;
	*store = &e->store;
	return smp_call_function_single(cpu, emulated_start, NULL, true);
}

static void emulated_end(unsigned int cpu)
{
	struct emulated *e = per_cpu_ptr(&emulated, cpu);

	WRITE_ONCE(e->stop, true);
	hrtimer_cancel(&e->timer);
	vfree((void *)(unsigned long)e->store.base);
}

static const struct branch_entry emulated_entries[] = {
	{ EMULATED_SYSCALL, UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL },
	{ EMULATED_INTERRUPT, 0, BRANCH_ENTRY_TRANSPARENT },
};

static const struct branch_source emulated_source = {
	.id		= UTRACE_BRANCH_SOURCE_EMULATED,
	.ops		= {
		.enable		= emulated_enable,
		.disable	= emulated_disable,
	},
	.entries	= { emulated_entries, ARRAY_SIZE(emulated_entries) },
	.begin		= emulated_begin,
	.end		= emulated_end,
};

static int __init emulated_init(void)
{
	utrace_branch_source_add(&emulated_source);
	return 0;
}
fs_initcall(emulated_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which tracer of a task has its debug registers
 *
 * A thread has one set of debug registers.  The tracer that sets one of them has
 * the set until the tracer leaves; the first tracer loses it while none is enabled.
 * To all others the set looks empty: they read 0, and get EBUSY if they set one.
 * Clearing always succeeds, since a debugger clears the registers of each thread
 * that it resumes.
 *
 * A further tracer marks its ptracer, the first one task_struct::ptrace.  Each
 * caller has the task frozen, so one at a time looks and marks.
 */
#include <linux/hw_breakpoint.h>
#include <linux/ptrace.h>

#include "ptracer.h"

static bool ptracer_has_debugregs(struct ptracer *p, void *arg)
{
	return p->debugregs;
}

/* The further tracer that has the debug registers, or NULL. */
static struct ptracer *ptracer_of_debugregs(struct task_struct *task)
{
	return ptracer_of_task(task, ptracer_has_debugregs, NULL);
}

/**
 * __utrace_ptrace_sees_debugregs() - test whether the debug registers are the caller's
 * @task: the task, which the caller traces
 *
 * Context: Process context; the caller has @task frozen.
 * Return: true if so.
 */
bool __utrace_ptrace_sees_debugregs(struct task_struct *task)
{
	struct ptracer *owner __free(ptracer_put) = ptracer_of_debugregs(task);

	return owner ? owner->tracer == current : !utrace_ptrace_further(task);
}

/**
 * __utrace_ptrace_take_debugregs() - the caller is about to set a debug register
 * @task: the task, which the caller traces
 * @in_use: a breakpoint or watchpoint is enabled
 *
 * A further tracer begins with an empty set: what a tracer that is gone has left
 * is cleared.
 *
 * Context: Process context, sleeps; the caller has @task frozen.
 * Return: 0, or -EBUSY if another tracer has the registers.
 */
int __utrace_ptrace_take_debugregs(struct task_struct *task, bool in_use)
{
	struct ptracer *owner __free(ptracer_put) = ptracer_of_debugregs(task);
	struct ptracer *p __free(ptracer_put) = ptracer_find(current, task);

	if (owner)
		return owner == p ? 0 : -EBUSY;
	if (!p) {
		task->ptrace |= PT_UTRACE_DEBUGREGS;
		return 0;
	}
	if (in_use && (task->ptrace & PT_UTRACE_DEBUGREGS))
		return -EBUSY;
	flush_ptrace_hw_breakpoint(task);
	p->debugregs = true;
	return 0;
}

/**
 * ptracer_drop_debugregs() - a tracer leaves, and its debug registers with it
 * @p: the ptracer, whose task the caller has frozen
 *
 * The registers of a tracer that has died stay, as those of a first tracer do,
 * until another one takes the set.
 *
 * Context: Process context, sleeps.
 */
void ptracer_drop_debugregs(struct ptracer *p)
{
	if (p->debugregs)
		flush_ptrace_hw_breakpoint(p->task);
	p->debugregs = false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - ownership of the debug registers of a task
 *
 * A thread has one set of debug registers.  The tracer that sets one of them
 * owns the set until it leaves; the first tracer can lose it while none is
 * enabled.  For all other tracers the set looks empty: they read 0, and get
 * EBUSY if they set one.  Clearing always succeeds, since a debugger clears the
 * registers of each thread that it resumes.
 *
 * The mark of the owner is in its ptracer, or in task_struct::ptrace for the
 * first tracer.  Each caller has the task frozen, so callers check and mark one
 * at a time.
 */
#include <linux/hw_breakpoint.h>
#include <linux/ptrace.h>

#include "debugregs.h"
#include "ptracer.h"

static bool ptracer_has_debugregs(struct ptracer *p, void *arg)
{
	return p->debugregs;
}

/* Find the further tracer that owns the debug registers, or NULL. */
static struct ptracer *ptracer_of_debugregs(struct task_struct *task)
{
	return ptracer_of_task(task, ptracer_has_debugregs, NULL);
}

/**
 * __utrace_ptrace_sees_debugregs() - check whether current sees the registers
 * @task: the task, which the caller traces
 *
 * Context: Process context; the caller has @task frozen.
 * Return: true if the caller owns the debug registers, or is the first tracer
 * and no further tracer owns them.
 */
bool __utrace_ptrace_sees_debugregs(struct task_struct *task)
{
	struct ptracer *owner __free(ptracer_put) = ptracer_of_debugregs(task);

	return owner ? owner->tracer == current : !utrace_ptrace_further(task);
}

/**
 * __utrace_ptrace_take_debugregs() - claim the debug registers
 * @task: the task, which the caller traces
 * @in_use: a breakpoint or watchpoint is enabled
 *
 * A further tracer starts with an empty set: registers that another tracer has
 * left are cleared.
 *
 * Context: Process context, sleeps; the caller has @task frozen.
 * Return: 0, or -EBUSY if another tracer owns the registers.
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
 * ptracer_drop_debugregs() - clear the debug registers when a tracer leaves
 * @p: the ptracer, whose task the caller has frozen
 *
 * The registers of a tracer that has died stay, as those of a first tracer do,
 * until another tracer takes the set.
 *
 * Context: Process context, sleeps.
 */
void ptracer_drop_debugregs(struct ptracer *p)
{
	if (p->debugregs)
		flush_ptrace_hw_breakpoint(p->task);
	p->debugregs = false;
}

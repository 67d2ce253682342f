// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - words and markers in the memory of processes
 *
 * A target of /dev/utrace may have words armed in the memory of its processes
 * (marker/armed.c).  The first UTRACE_IOC_ARM attaches an engine for that.
 * Threads of the process come here at their safe point and write the words that
 * must be written (marker/write.c).  A task that creates a process disarms in
 * the copy of the memory what the child should not have, before the child runs
 * (marker/mm.c).
 */
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/utrace.h>

#include "marker/marker.h"

static void marker_settle_current(void)
{
	struct marker_mm *memory;

	if (!current->mm)
		return;
	memory = utrace_marker_mm_find(current->mm);
	if (!memory)
		return;
	utrace_marker_settle(memory);
	utrace_marker_mm_put(memory);
}

/*
 * Arm the owner's events in the current process: it may have existed when they
 * were armed, or have executed another program since.
 */
static void marker_join(struct marker_owner *owner)
{
	unsigned int todo = current->mm ? utrace_marker_todo(owner) : 0;

	if (likely(!todo))
		return;
	if ((todo & MARKER_FOLLOW) && utrace_marker_may_trace(owner))
		utrace_marker_follow(owner);
	marker_settle_current();
}

static u32 marker_quiesce(u32 action, struct utrace_engine *engine,
			  unsigned long event)
{
	if (!event)
		marker_join(engine->data);
	return UTRACE_RESUME;
}

static u32 marker_exec(u32 action, struct utrace_engine *engine,
		       const struct linux_binfmt *fmt,
		       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	marker_join(engine->data);
	return UTRACE_RESUME;
}

/*
 * Make the child write its words.  Its copy of the memory lacks what was armed
 * after the copy and what the parent could not write.
 */
static void marker_ask_child(struct utrace_engine *engine,
			     struct task_struct *child)
{
	struct mm_struct *mm = get_task_mm(child);
	struct marker_mm *memory;

	if (!mm)
		return;
	memory = utrace_marker_mm_find(mm);
	if (memory) {
		utrace_marker_mm_born(memory, task_tgid(child));
		/* -ESRCH: the engine does not cover the child. */
		if (marker_is_dirty(memory))
			(void)!utrace_control(child, engine, UTRACE_REPORT);
		utrace_marker_mm_put(memory);
	}
	mmput(mm);
}

static u32 marker_clone(u32 action, struct utrace_engine *engine,
			unsigned long clone_flags, struct task_struct *child)
{
	struct marker_owner *owner = engine->data;

	/*
	 * Add the child to the list of threads before the words are read: a
	 * task that armed one may not have found the child there.  Pairs with
	 * the barriers in marker_ask() and utrace_marker_ask_all().
	 */
	smp_mb();
	if (clone_flags & CLONE_VM)
		marker_settle_current();
	else
		marker_ask_child(engine, child);
	/*
	 * Events that were armed after the memory was copied are missing in the
	 * child.  -ESRCH: the engine does not cover the child.
	 */
	if (!(clone_flags & CLONE_VM) && READ_ONCE(owner->nevents))
		(void)!utrace_control(child, engine, UTRACE_REPORT);
	return UTRACE_RESUME;
}

static void marker_release_engine(void *data)
{
	utrace_marker_owner_put(data);
}

const struct utrace_engine_ops utrace_marker_ops = {
	.report_quiesce	= marker_quiesce,
	.report_clone	= marker_clone,
	.report_exec	= marker_exec,
	.release	= marker_release_engine,
	.name		= "words",
};

/* Engines of kernel owners have separate ops, by which they are found. */
const struct utrace_engine_ops utrace_marker_kernel_ops = {
	.report_quiesce	= marker_quiesce,
	.report_clone	= marker_clone,
	.report_exec	= marker_exec,
	.release	= marker_release_engine,
	.name		= "kernel_words",
};

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the branches that tasks take
 *
 * A program gets a descriptor from /dev/utrace (branch/file.c) from which it
 * reads the branches of a thread, a process or a tree.  Each such consumer has
 * an engine.  A thread joins its consumers here, at the safe point, and leaves
 * them when it exits.  In between, the trap after each instruction records
 * where the thread has gone (branch/step.c), and the thread copies the records
 * to the rings of its consumers (branch/deliver.c, branch/ring.c); or the CPUs
 * record the thread (branch/track.c).
 */
#include <linux/init.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/utrace.h>

#include "builtin.h"
#include "branch/attach.h"
#include "branch/consumer.h"
#include "branch/deliver.h"
#include "branch/step.h"
#include "branch/thread.h"
#include "branch/track.h"

/* Make the current thread join a consumer, if the consumer may see it. */
static void branch_follow(struct branch_thread *thread,
			  struct bts_consumer *consumer)
{
	struct pt_regs *regs = current_pt_regs();

	if (!utrace_branch_may_see(consumer)) {
		utrace_branch_hidden(consumer);
		return;
	}
	if (!thread)
		thread = utrace_branch_thread_new();
	if (!thread || !utrace_branch_join(thread, consumer, regs->ip)) {
		utrace_branch_missed(consumer);
		return;
	}
	if (list_is_singular(&thread->links)) {
		thread->exec = false;
		utrace_branch_fetch(thread, regs);
	}
	utrace_follow_steps(true);
}

static void branch_quiesce_tracked(struct branch_thread *thread,
				   struct bts_consumer *consumer)
{
	if (utrace_branch_is_tracked(thread, consumer))
		utrace_branch_track_stop(thread, consumer);
	else
		utrace_branch_track_begin(thread, consumer);
}

/*
 * A covered thread passes its safe point: it may have to join, or to wait for
 * the reader.
 */
static u32 branch_quiesce(u32 action, struct utrace_engine *engine,
			  unsigned long event)
{
	struct bts_consumer *consumer = engine->data;
	struct branch_thread *thread = utrace_branch_thread();
	struct branch_link *link = utrace_branch_link(thread, consumer);

	if (event)
		return UTRACE_RESUME;
	if (consumer->tracked) {
		branch_quiesce_tracked(thread, consumer);
		return UTRACE_RESUME;
	}
	if (link) {
		utrace_branch_deliver(thread);
		/* The delivery drops the link if the consumer is closed. */
		link = utrace_branch_link(thread, consumer);
		if (link && link->sent != thread->n)
			utrace_branch_wait(link);
		return UTRACE_RESUME;
	}
	branch_follow(thread, consumer);
	return UTRACE_RESUME;
}

/* Make the child join before it runs. */
static u32 branch_clone(u32 action, struct utrace_engine *engine,
			unsigned long clone_flags, struct task_struct *child)
{
	utrace_branch_hide_from_child(child);
	/* -ESRCH: the engine does not cover the child. */
	(void)!utrace_control(child, engine, UTRACE_REPORT);
	return UTRACE_RESUME;
}

static u32 branch_exec(u32 action, struct utrace_engine *engine,
		       const struct linux_binfmt *fmt,
		       const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct branch_thread *thread = utrace_branch_thread();
	struct branch_link *link = utrace_branch_link(thread, engine->data);

	if (link) {
		thread->exec = true;
		utrace_branch_link_rename(link, thread->insn.ip);
	} else if (utrace_branch_is_tracked(thread, engine->data)) {
		utrace_branch_track_exec(thread, engine->data);
	} else {
		/* A hidden program may execute one that may be seen. */
		(void)!utrace_control(current, engine, UTRACE_REPORT);
	}
	return UTRACE_RESUME;
}

static u32 branch_exit(u32 action, struct utrace_engine *engine, long orig_code,
		       long *code)
{
	struct branch_thread *thread = utrace_branch_thread();
	struct branch_link *link = utrace_branch_link(thread, engine->data);

	if (link) {
		if (!utrace_branch_still_sees(thread, link))
			return UTRACE_RESUME;
		utrace_branch_end_call(thread);
		utrace_branch_end(thread, link);
	} else if (utrace_branch_is_tracked(thread, engine->data)) {
		utrace_branch_track_end(thread, engine->data);
	}
	return UTRACE_RESUME;
}

static u32 branch_death(struct utrace_engine *engine, bool group_dead,
			int signal)
{
	struct bts_consumer *consumer = engine->data;

	utrace_branch_notify(consumer);
	return UTRACE_RESUME;
}

static void branch_release_engine(void *data)
{
	utrace_branch_consumer_put(data);
}

static struct pid *branch_held_for(struct utrace_engine *engine)
{
	struct bts_consumer *consumer = engine->data;

	return utrace_reader_get(&consumer->reader);
}

const struct utrace_engine_ops utrace_branch_ops = {
	.report_quiesce	= branch_quiesce,
	.report_clone	= branch_clone,
	.report_exec	= branch_exec,
	.report_exit	= branch_exit,
	.report_death	= branch_death,
	.release	= branch_release_engine,
	.held_for	= branch_held_for,
	.name		= "branches",
};

static int __init branch_init(void)
{
	utrace_follow_with(utrace_branch_step);
	return 0;
}
fs_initcall(branch_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - while there is an engine the safe point is patched in
 *
 * A C library that registered with rseq gets TIF_NOTIFY_RESUME from every context
 * switch, and with that a way past the safe point.  A static key keeps the test of
 * the task's word out of it as long as no engine exists.  The other hooks are not
 * passed that often, and have none.
 *
 * Patching interrupts all CPUs.  A program that attaches and detaches in a loop makes
 * that happen no more than twice a second: the key stays for one after the last
 * engine.
 */
#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/resume_user_mode.h>
#include <linux/workqueue.h>

#include "internal.h"

DEFINE_STATIC_KEY_FALSE(utrace_in_use);

/* Engines that have memory; from 0 on under the mutex only, after the key. */
static atomic_t utrace_engines;
static DEFINE_MUTEX(utrace_in_use_mutex);

static void utrace_unused(struct work_struct *work)
{
	guard(mutex)(&utrace_in_use_mutex);
	if (!atomic_read(&utrace_engines))
		static_branch_disable(&utrace_in_use);
}

static DECLARE_DELAYED_WORK(utrace_unused_work, utrace_unused);

/**
 * utrace_use - one more engine exists
 *
 * After this each task with an event word passes the safe point.
 *
 * Context: May sleep.
 */
void utrace_use(void)
{
	if (atomic_inc_not_zero(&utrace_engines))
		return;
	guard(mutex)(&utrace_in_use_mutex);
	static_branch_enable(&utrace_in_use);
	atomic_inc(&utrace_engines);
}

/**
 * utrace_unuse - one engine less exists
 *
 * No task has a set with it, so none has anything to do at the safe point for it.
 *
 * Context: Any but NMI.
 */
void utrace_unuse(void)
{
	if (atomic_dec_and_test(&utrace_engines))
		schedule_delayed_work(&utrace_unused_work, HZ);
}

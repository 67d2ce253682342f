// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - while there is an engine the safe point is patched in
 *
 * A C library that registered with rseq gets TIF_NOTIFY_RESUME from every context
 * switch, and with that a way past the safe point.  A static key keeps the test of
 * the task's word out of it as long as no engine exists.  The other hooks are not
 * passed that often, and have none.
 *
 * Patching interrupts all CPUs.  The safe point stays patched in for a second after
 * the last engine, so a program that attaches and detaches in a loop does not have
 * that done again and again.
 */
#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/resume_user_mode.h>
#include <linux/workqueue.h>

#include "internal.h"

/* True: as long as nothing is patched a jump leads past the test. */
DEFINE_STATIC_KEY_TRUE(utrace_unused);

/* Engines that have memory; from 0 on under the mutex only, after the key. */
static atomic_t utrace_engines;
static DEFINE_MUTEX(utrace_in_use_mutex);

static void utrace_rest(struct work_struct *work)
{
	guard(mutex)(&utrace_in_use_mutex);
	if (!atomic_read(&utrace_engines))
		static_branch_enable(&utrace_unused);
}

static DECLARE_DELAYED_WORK(utrace_rest_work, utrace_rest);

/**
 * utrace_in_use_get - one more engine exists
 *
 * After this each task with an event word passes the safe point.
 *
 * Context: May sleep.  The first engine takes utrace_in_use_mutex, and in it what
 * patching takes: cpus_read_lock() and jump_label_mutex.
 */
void utrace_in_use_get(void)
{
	might_sleep();
	if (atomic_inc_not_zero(&utrace_engines))
		return;
	guard(mutex)(&utrace_in_use_mutex);
	static_branch_disable(&utrace_unused);
	atomic_inc(&utrace_engines);
}

/**
 * utrace_in_use_put - one engine less exists
 *
 * No task has a set with it, so none has anything to do at the safe point for it.
 *
 * Context: Any but NMI.
 */
void utrace_in_use_put(void)
{
	if (atomic_dec_and_test(&utrace_engines))
		mod_delayed_work(system_wq, &utrace_rest_work, HZ);
}

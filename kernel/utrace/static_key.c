// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the static key of the safe point
 *
 * A task whose C library has registered with rseq gets TIF_NOTIFY_RESUME at
 * every context switch, and so passes the safe point each time.  While no
 * engine exists, a static key takes the test of the event word out of the safe
 * point.  Tasks pass the other hooks less often, so these hooks have no key.
 *
 * Patching interrupts all CPUs.  The key is switched back a second after the
 * last engine has gone, so that a program which attaches and detaches in a loop
 * does not have it patched each time.
 */
#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/resume_user_mode.h>
#include <linux/workqueue.h>

#include "internal.h"

/* True while no engine exists: __utrace_resume() is not called then. */
DEFINE_STATIC_KEY_TRUE(utrace_unused);

/*
 * Number of engines whose memory exists.  Leaves 0 only under the mutex, and
 * after the key is switched, so that no engine exists without the safe point.
 */
static atomic_t utrace_engines;
static DEFINE_MUTEX(utrace_in_use_mutex);

/*
 * Switch the key back, unless an engine was made since the last one had gone.
 */
static void utrace_rest(struct work_struct *work)
{
	guard(mutex)(&utrace_in_use_mutex);
	if (!atomic_read(&utrace_engines))
		static_branch_enable(&utrace_unused);
}

static DECLARE_DELAYED_WORK(utrace_rest_work, utrace_rest);

/**
 * utrace_in_use_get() - count an engine that is about to exist
 *
 * When this returns, each task with an event word passes the safe point.
 *
 * Context: May sleep.  The first engine takes utrace_in_use_mutex and, inside
 * of it, cpus_read_lock() and jump_label_mutex for the patching.
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
 * utrace_in_use_put() - count an engine as gone
 *
 * No set has the engine any more, so no task needs the safe point for it.
 *
 * Context: Any but NMI.
 */
void utrace_in_use_put(void)
{
	if (atomic_dec_and_test(&utrace_engines))
		mod_delayed_work(system_wq, &utrace_rest_work, HZ);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the commands for a session as a whole
 *
 * utrace_dev.c copies the arguments of commands, and takes the session's lock
 * for those that ask for it.
 */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/sched.h>

#include "../builtin.h"
#include "session.h"

/* Add up the counters of the rings while writers change them. */
static void session_count_records(struct utrace_session *session,
				  struct utrace_ioc_info *info)
{
	/* Pairs with utrace_dev_ring_make(). */
	struct session_ring *ring = smp_load_acquire(&session->ring);
	unsigned int cpu;

	if (!ring)
		return;
	info->rings = nr_cpu_ids;
	info->ring_size = session->ring_size;
	if (session->mapped) {
		info->map_size = utrace_dev_rings_size(session);
		info->tails_size = utrace_dev_tails_size();
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* Writers change the counters at any time. */
		info->records += data_race(ring[cpu].records);
		info->lost += READ_ONCE(ring[cpu].lost);
	}
}

/**
 * utrace_dev_info() - %UTRACE_IOC_INFO
 * @session: the session
 * @arg: struct utrace_ioc_info, which is filled in
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock.
 * Return: 0, or -EINTR if the caller was killed.
 */
int utrace_dev_info(struct utrace_session *session, void *arg)
{
	struct utrace_ioc_info *info = arg;
	struct session_target *target;

	*info = (struct utrace_ioc_info){
		.events = utrace_dev_records(),
		.capture = SESSION_CAPTURES,
		.scopes = utrace_dev_scopes(),
		.arm = utrace_marker_types_here(),
		.count = SESSION_COUNT_KINDS,
		.sources = utrace_branch_sources(),
		.hidden = atomic64_read(&session->hidden),
		.uncaptured = atomic64_read(&session->uncaptured),
		.waits = atomic64_read(&session->waits),
		.parked = READ_ONCE(session->nparked),
	};
	utrace_dev_check_ends(session);
	/*
	 * No holder of the lock accesses user memory, so none waits for a page
	 * fault that user space serves.
	 */
	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	info->targets = session->alive;
	info->missed = session->missed;
	list_for_each_entry(target, &session->targets, list)
		info->missed += utrace_engine_lost(target->engine);
	mutex_unlock(&session->lock);
	session_count_records(session, info);
	return 0;
}

/**
 * utrace_dev_setup() - %UTRACE_IOC_SETUP
 * @session: the session; its lock is held
 * @arg: struct utrace_ioc_setup
 *
 * Context: Process context; may sleep.
 * Return: 0, or an error of UTRACE_IOC_SETUP.
 */
int utrace_dev_setup(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_setup *setup = arg;

	if (setup->flags & ~UTRACE_SETUP_F_MAPPED)
		return -EINVAL;
	if (setup->rings_size > SESSION_RING_DEFAULT &&
	    !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (session->ring)
		return -EBUSY;
	return utrace_dev_ring_make(session, setup);
}

/* The caller holds utrace_session.lock. */
static int session_set_events(struct utrace_session *session,
			      struct session_settings *settings, u32 id)
{
	struct session_target *target = NULL;
	int ret;

	if (id) {
		target = utrace_dev_target(session, id);
		if (!target)
			return -ENOENT;
		/* The target has written its last record. */
		if (!target->end)
			return -ESRCH;
	}
	settings->number = session->last_settings + 1 ?: 1;
	ret = target ? utrace_dev_apply(target, settings) :
		       utrace_dev_apply_all(session, settings);
	if (!ret)
		session->last_settings = settings->number;
	return ret;
}

/**
 * utrace_dev_set_events() - %UTRACE_IOC_EVENTS
 * @session: the session; its lock is not held
 * @arg: a copy of struct utrace_ioc_events, whose @calls points to user memory.
 *	The number of the settings is stored there
 *
 * After an error all targets have their previous settings, as far as memory
 * allows.
 *
 * Context: Process context; may fault and sleep.  Takes utrace_session.lock.
 * Return: 0, or an error of UTRACE_IOC_EVENTS.
 */
int utrace_dev_set_events(struct utrace_session *session, void *arg)
{
	struct utrace_ioc_events *events = arg;
	struct session_settings *settings = utrace_dev_settings_take(events);
	int ret;

	if (IS_ERR(settings))
		return PTR_ERR(settings);
	utrace_dev_check_ends(session);
	if (mutex_lock_killable(&session->lock)) {
		utrace_dev_settings_put(settings);
		return -EINTR;
	}
	ret = session_set_events(session, settings, events->target);
	if (!ret)
		events->settings = settings->number;
	mutex_unlock(&session->lock);
	utrace_dev_settings_put(settings);
	return ret;
}

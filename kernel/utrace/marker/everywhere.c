// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: markers of all processes
 *
 * An owner of the system has neither an engine nor shares.  Its events are in the lists
 * of their sites, and a site with such an event has its breakpoint in all processes, as
 * a probe of perf does: uprobes finds the processes that have the file mapped, and asks
 * the site's filter about those that map it later.  Unlike perf's, the probe is there in
 * spite of a process that has no memory for the breakpoint, or a semaphore that cannot be
 * raised.
 *
 *	arming				process that maps the file
 *	adds the event to the list	is in the list of the file's mappings
 *	takes register_rwsem		asks the filter: reads the list
 *	looks for mappings
 *
 * So one of the two sees the other.  What hits read is kept by uprobes: handlers run
 * in sections that utrace_marker_site_sync() waits for.
 */
#include <linux/list.h>

#include "marker.h"

/**
 * utrace_marker_begin_everywhere() - arm a marker in all processes
 * @owner: an owner of the system
 * @event: its event
 *
 * Context: Process context; sleeps.  Takes the mmap_lock of each process that has the
 * file mapped, and dup_mmap_sem, for which forks wait.
 * Return: 0, or an error of uprobe_apply_mm(); in either case the event has to be ended.
 */
int utrace_marker_begin_everywhere(struct marker_owner *owner,
				   struct marker_event *event)
{
	utrace_marker_site_list(event->site, event, true);
	return utrace_marker_site_apply(event->site, NULL, true);
}

static void marker_leave_everywhere(struct marker_event *event)
{
	utrace_marker_site_list(event->site, event, false);
	/* What cannot be removed now is removed when it is hit. */
	(void)!utrace_marker_site_apply(event->site, NULL, false);
}

/**
 * utrace_marker_end_everywhere() - take a marker back from all processes
 * @event: the event, which utrace_marker_begin_everywhere() was called for
 *
 * Hits of @event that were being told have been told when this returns.
 *
 * Context: Process context; sleeps.  Takes the mmap_lock of each process that has the
 * file mapped, and dup_mmap_sem, for which forks wait; and waits for hits that are going
 * on.
 */
void utrace_marker_end_everywhere(struct marker_event *event)
{
	marker_leave_everywhere(event);
	utrace_marker_site_sync();
}

/**
 * utrace_marker_end_all_everywhere() - take back all markers of an owner of the system
 * @owner: the owner, whose descriptor is closed
 *
 * Context: As utrace_marker_end_everywhere().
 */
void utrace_marker_end_all_everywhere(struct marker_owner *owner)
{
	struct marker_event *event;

	if (list_empty(&owner->events))
		return;
	list_for_each_entry(event, &owner->events, list)
		marker_leave_everywhere(event);
	utrace_marker_site_sync();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: markers of all processes
 *
 * An owner of the system has neither an engine nor shares.  Its events are in the lists
 * of sites that have their breakpoint in all processes, as a probe of perf does: uprobes
 * finds the processes that have the file mapped, and those that map it later.  The probe is
 * there in spite of a process that has no memory for the breakpoint, or a semaphore that
 * cannot be raised.
 *
 * What hits read is kept by uprobes: handlers run in sections that
 * utrace_marker_site_sync() waits for.
 */
#include <linux/list.h>

#include "marker.h"

/**
 * utrace_marker_begin_everywhere() - tell an owner of the system of hits
 * @event: its event, whose site is one of all processes
 *
 * Context: Process context.
 */
void utrace_marker_begin_everywhere(struct marker_event *event)
{
	utrace_marker_site_list(event->site, event, true);
}

/**
 * utrace_marker_end_everywhere() - tell it of hits no more
 * @event: the event, which utrace_marker_begin_everywhere() was called for
 *
 * Hits of @event that were being told have been told when this returns.  The breakpoints
 * go with the site.
 *
 * Context: Process context; sleeps.  Waits for hits that are going on.
 */
void utrace_marker_end_everywhere(struct marker_event *event)
{
	utrace_marker_site_list(event->site, event, false);
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
		utrace_marker_site_list(event->site, event, false);
	utrace_marker_site_sync();
}

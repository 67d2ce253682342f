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
 * What hits read is kept by uprobes: handlers run in sections that uprobe_unregister_sync()
 * waits for.
 */
#include <linux/list.h>
#include <linux/uprobes.h>

#include "marker.h"

/**
 * utrace_marker_end_everywhere() - end an event of an owner of the system
 * @event: the event, which utrace_marker_site_list() was called for
 *
 * Hits of @event that were being told have been told when this returns.  The breakpoints
 * go with the site.
 *
 * Context: Process context; sleeps.  Waits for hits that are going on.
 */
void utrace_marker_end_everywhere(struct marker_event *event)
{
	utrace_marker_site_unlist(event);
	uprobe_unregister_sync();
}

/**
 * utrace_marker_end_all_everywhere() - take back all markers of an owner of the system
 * @owner: the owner, whose target ends
 *
 * Context: As utrace_marker_end_everywhere().
 */
void utrace_marker_end_all_everywhere(struct marker_owner *owner)
{
	struct marker_event *event;

	if (list_empty(&owner->events))
		return;
	list_for_each_entry(event, &owner->events, list)
		utrace_marker_site_unlist(event);
	uprobe_unregister_sync();
}

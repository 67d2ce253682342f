// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: markers of all processes
 *
 * An owner of the system has neither an engine nor shares.  Its events are
 * listed in sites that have their breakpoint in all processes, as a probe of
 * perf has: uprobes finds the processes that have the file mapped, and those
 * that map it later.  The probe stays registered although a process may have no
 * memory for the breakpoint, or a semaphore that cannot be incremented.
 *
 * uprobes keeps what hits read: handlers run in sections that
 * uprobe_unregister_sync() waits for.
 */
#include <linux/list.h>
#include <linux/uprobes.h>

#include "marker.h"

/**
 * utrace_marker_end_everywhere() - end an event of an owner of the system
 * @event: the event, which utrace_marker_site_list() has added
 *
 * When this returns, deliveries of hits of @event have finished.  The
 * breakpoints are removed with the site.
 *
 * Context: Process context; sleeps.  Waits for hits in progress.
 */
void utrace_marker_end_everywhere(struct marker_event *event)
{
	utrace_marker_site_unlist(event);
	uprobe_unregister_sync();
}

/**
 * utrace_marker_end_all_everywhere() - end all events of an owner of the system
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

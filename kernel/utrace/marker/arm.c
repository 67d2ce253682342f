// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: arming SDT markers and other places of a file
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/user_namespace.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "marker.h"

#define MARKER_FLAGS		(UTRACE_MARKER_RETURN | UTRACE_MARKER_COUNT | \
				 UTRACE_MARKER_HISTOGRAM)

/* user.max_utrace_sites of the initial user namespace. */
#define MARKER_SITES_OF_USER	4096

static int __init marker_limit_init(void)
{
	init_user_ns.ucount_max[UCOUNT_UTRACE_SITES] = MARKER_SITES_OF_USER;
	return 0;
}
core_initcall(marker_limit_init);

/*
 * Charge a place to the user who has opened the device, and to the owners of the user
 * namespaces around.  A module is not limited.  Returns 0 or -EUSERS.
 */
static int marker_charge(struct marker_event *event)
{
	const struct cred *opener = event->owner->opener;

	if (event->owner->client)
		return 0;
	event->ucounts = inc_ucount(opener->user_ns, opener->euid,
				    UCOUNT_UTRACE_SITES);
	return event->ucounts ? 0 : -EUSERS;
}

/**
 * utrace_marker_uncharge() - give back the place of an event
 * @event: the event, of which no memory has a breakpoint any more
 *
 * Context: Any but NMI.
 */
void utrace_marker_uncharge(struct marker_event *event)
{
	if (event->ucounts)
		dec_ucount(event->ucounts, UCOUNT_UTRACE_SITES);
}

/* Make the event of a site.  @site stays with the caller if that fails. */
static struct marker_event *
marker_event_new(struct marker_owner *owner,
		 const struct utrace_ioc_marker *arg, struct marker_site *site)
{
	struct marker_event *event;
	unsigned int i;
	int ret;

	event = utrace_marker_event_new(owner, arg->id, arg->flags);
	if (IS_ERR(event))
		return event;
	ret = marker_charge(event);
	if (!ret && arg->flags & UTRACE_MARKER_HISTOGRAM)
		ret = utrace_marker_histogram_new(event);
	if (ret) {
		utrace_marker_event_put(event);
		return ERR_PTR(ret);
	}
	event->site = site;
	event->nargs = arg->nargs;
	for (i = 0; i < arg->nargs; i++)
		event->args[i] = utrace_marker_fetch_of(&arg->args[i]);
	return event;
}

static bool marker_is_valid(const struct utrace_ioc_marker *arg)
{
	unsigned int i;

	if (arg->flags & ~MARKER_FLAGS ||
	    arg->nargs > UTRACE_MARKER_ARGS || arg->reserved ||
	    (s64)arg->offset < 0 || (s64)arg->semaphore < 0 ||
	    (arg->flags & UTRACE_MARKER_HISTOGRAM && arg->nargs != 1))
		return false;
	for (i = 0; i < arg->nargs; i++)
		if (!utrace_marker_arg_is_valid(&arg->args[i]))
			return false;
	return true;
}

/* The event of an owner at this place, whatever its semaphore is; or NULL. */
static struct marker_event *marker_find_event(const struct marker_owner *owner,
					      const struct file *file,
					      const struct utrace_ioc_marker *arg)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	list_for_each_entry(event, &owner->events, list)
		if (event->site &&
		    utrace_marker_site_is(event->site, file, arg->offset,
					  arg->flags & UTRACE_MARKER_RETURN))
			return event;
	return NULL;
}

/* Arm the event in the owner's process, and in those that came from it. */
static int marker_start_in_process(struct marker_owner *owner,
				   struct marker_event *event)
{
	struct marker_place place = {
		.kind = MARKER_SITE,
		.site = event->site,
		.event = event,
	};
	u32 state;
	int ret, error;

	ret = utrace_marker_arm(owner, &place, &state, &error);
	if (!ret && state == UTRACE_WORD_FAILED)
		ret = -error;
	if (!ret && owner->follow)
		utrace_marker_ask_all(owner, true);
	return ret;
}

static int marker_start_event(struct marker_owner *owner,
			      struct marker_event *event)
{
	int ret;

	utrace_marker_event_add(owner, event);
	if (owner->system) {
		utrace_marker_begin_everywhere(event);
		return 0;
	}
	ret = marker_start_in_process(owner, event);
	if (ret)
		utrace_marker_event_end(owner, event);
	return ret;
}

/* The owner has @site from here on, or drops it. */
static int marker_arm_site(struct marker_owner *owner,
			   const struct utrace_ioc_marker *arg,
			   struct marker_site *site)
{
	struct marker_event *event = marker_event_new(owner, arg, site);

	if (!IS_ERR(event))
		return marker_start_event(owner, event);
	utrace_marker_site_drop(site);
	return PTR_ERR(event);
}

/**
 * utrace_marker_site_arm() - arm a marker
 * @owner: the owner; its mutex is held
 * @arg: the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: 0, or an error that is described with &struct utrace_ioc_marker.
 */
int utrace_marker_site_arm(struct marker_owner *owner,
			   const struct utrace_ioc_marker *arg,
			   struct file *file)
{
	struct marker_site *site;

	lockdep_assert_held(&owner->mutex);

	/* A module is told of each hit, and has no call that reads a histogram. */
	if (!marker_is_valid(arg) ||
	    (owner->client && arg->flags & UTRACE_MARKER_HISTOGRAM))
		return -EINVAL;
	/* Of an owner that has a process, utrace_marker_arm() looks at the rights. */
	if (owner->system && !utrace_dev_may_trace_all(owner->opener))
		return -EPERM;
	if (marker_find_event(owner, file, arg))
		return -EEXIST;
	site = utrace_marker_site_get(file, arg->offset, arg->semaphore,
				      arg->flags & UTRACE_MARKER_RETURN,
				      owner->system, owner->client);
	return IS_ERR(site) ? PTR_ERR(site) :
			      marker_arm_site(owner, arg, site);
}

/**
 * utrace_marker_site_disarm() - disarm a marker
 * @owner: the owner; its mutex is held
 * @arg: the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: 0, -EINVAL or -ENOENT.
 */
int utrace_marker_site_disarm(struct marker_owner *owner,
			      const struct utrace_ioc_marker *arg,
			      struct file *file)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	if (arg->flags & ~MARKER_FLAGS)
		return -EINVAL;
	event = marker_find_event(owner, file, arg);
	if (!event)
		return -ENOENT;
	utrace_marker_event_end(owner, event);
	return 0;
}

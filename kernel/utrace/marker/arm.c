// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: arming SDT markers and other places of a file
 */
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/path.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "../viewer.h"
#include "arm.h"
#include "disarm.h"
#include "event.h"
#include "fetch.h"
#include "hit.h"
#include "marker.h"
#include "owner.h"
#include "process.h"
#include "site.h"

/*
 * Get the site of an event, which was already charged.  Returns 0 or an error.
 */
static int marker_get_site(struct marker_event *event,
			   const struct utrace_marker *arg,
			   struct file *file)
{
	const bool is_return = arg->flags & UTRACE_MARKER_F_RETURN;
	const struct marker_owner *owner = event->owner;
	struct marker_site *site;

	site = utrace_marker_site_get(file, arg, owner->system, owner->viewer ?
				      owner->viewer->opener : NULL,
				      &utrace_marker_consumers[owner->system][is_return]);
	if (IS_ERR(site))
		return PTR_ERR(site);
	event->site = site;
	return 0;
}

static struct marker_event *
marker_event_new(struct marker_owner *owner,
		 const struct marker_request *request,
		 const struct utrace_marker *arg, struct file *file)
{
	struct marker_event *event;
	unsigned int i;
	int ret;

	event = utrace_marker_event_new(owner, request);
	if (IS_ERR(event))
		return event;
	event->path = file->f_path;
	path_get(&event->path);
	event->semaphore = arg->semaphore;
	event->nargs = arg->nargs;
	for (i = 0; i < arg->nargs; i++)
		event->args[i] = utrace_marker_fetch_of(&arg->args[i]);
	ret = utrace_marker_charge(event);
	if (!ret && request->flags & UTRACE_ARM_F_HISTOGRAM)
		ret = utrace_marker_histogram_new(event);
	if (!ret)
		ret = marker_get_site(event, arg, file);
	if (!ret)
		return event;
	utrace_marker_event_drop(event);
	return ERR_PTR(ret);
}

static bool marker_is_valid(const struct marker_request *request,
			    const struct utrace_marker *arg)
{
	unsigned int i;

	if (request->flags & ~(UTRACE_ARM_F_COUNT | UTRACE_ARM_F_HISTOGRAM) ||
	    arg->flags & ~UTRACE_MARKER_F_RETURN ||
	    arg->nargs > UTRACE_MARKER_ARGS || arg->reserved ||
	    (s64)arg->offset < 0 || (s64)arg->semaphore < 0 ||
	    request->flags == (UTRACE_ARM_F_COUNT | UTRACE_ARM_F_HISTOGRAM) ||
	    (request->flags == UTRACE_ARM_F_HISTOGRAM && arg->nargs != 1) ||
	    memchr_inv(&arg->args[arg->nargs], 0,
		       (UTRACE_MARKER_ARGS - arg->nargs) * sizeof(arg->args[0])))
		return false;
	for (i = 0; i < arg->nargs; i++)
		if (!utrace_marker_arg_is_valid(&arg->args[i]))
			return false;
	return true;
}

/*
 * Find the event of an owner at this place, with any semaphore.  Returns NULL
 * if there is none.
 */
static struct marker_event *marker_find_event(const struct marker_owner *owner,
					      const struct file *file,
					      const struct utrace_marker *arg)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	list_for_each_entry(event, &owner->events, list)
		if (event->site &&
		    d_inode(event->path.dentry) == file_inode(file) &&
		    utrace_marker_site_is(event->site, arg->offset,
					  arg->flags & UTRACE_MARKER_F_RETURN))
			return event;
	return NULL;
}

/* Arm the event in the owner's process and in its descendants. */
static int marker_start_in_process(struct marker_owner *owner,
				   struct marker_event *event)
{
	struct marker_place place = marker_of_event(event);
	u32 state;
	int ret, error;

	ret = utrace_marker_arm(owner, &place, &state, &error);
	if (!ret && state == UTRACE_ARM_STATE_FAILED)
		return -error;
	if (ret && ret != -EAGAIN)
		return ret;
	/*
	 * After -EAGAIN, the program being executed follows the owner's events
	 * itself.
	 */
	if (ret || owner->follow)
		utrace_marker_ask_all(owner, true);
	return 0;
}

static struct marker_event *marker_start_event(struct marker_owner *owner,
					       struct marker_event *event)
{
	int ret;

	utrace_marker_event_add(owner, event);
	if (owner->system) {
		utrace_marker_site_list(event);
		return event;
	}
	ret = marker_start_in_process(owner, event);
	if (!ret)
		return event;
	utrace_marker_event_end(owner, event);
	return ERR_PTR(ret);
}

/**
 * utrace_marker_site_arm() - arm a marker
 * @owner: the owner; its mutex is held
 * @request: its parameters
 * @arg: the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: the event, or an error of UTRACE_IOC_ARM of a marker.
 */
struct marker_event *
utrace_marker_site_arm(struct marker_owner *owner,
		       const struct marker_request *request,
		       const struct utrace_marker *arg, struct file *file)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	/* A module gets each hit, and has no call that reads a histogram. */
	if (!marker_is_valid(request, arg) ||
	    (owner->client && request->flags & UTRACE_ARM_F_HISTOGRAM))
		return ERR_PTR(-EINVAL);
	/*
	 * For an owner with a process, utrace_marker_arm() checks the
	 * permission.
	 */
	if (owner->system && !utrace_viewer_may_see_all(owner->viewer->opener))
		return ERR_PTR(-EPERM);
	if (marker_find_event(owner, file, arg))
		return ERR_PTR(-EEXIST);
	event = marker_event_new(owner, request, arg, file);
	return IS_ERR(event) ? event : marker_start_event(owner, event);
}

/**
 * utrace_marker_site_disarm() - disarm a marker
 * @owner: the owner; its mutex is held
 * @arg: flags and offset of the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: 0, -EINVAL or -ENOENT.
 */
int utrace_marker_site_disarm(struct marker_owner *owner,
			      const struct utrace_marker *arg,
			      struct file *file)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	if (arg->flags & ~UTRACE_MARKER_F_RETURN)
		return -EINVAL;
	event = marker_find_event(owner, file, arg);
	if (!event)
		return -ENOENT;
	utrace_marker_event_end(owner, event);
	return 0;
}

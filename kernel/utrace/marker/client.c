// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: clients in modules
 *
 * The owner of a module has no target of a session.
 */
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/utrace_markers.h>

#include "arm.h"
#include "disarm.h"
#include "engine.h"
#include "event.h"
#include "owner.h"
#include "user_event.h"

/**
 * utrace_markers_attach() - attach to a process, to arm markers in it
 * @task: a task of the process; the caller holds a reference
 * @follow: also arm them in descendants that the process creates from now on
 * @ops: callbacks of the client
 * @data: first argument of the callbacks
 *
 * The module must call utrace_markers_detach() before it is unloaded.
 *
 * Context: Process context; sleeps, see utrace_attach_task().
 * Return: a handle for the other functions, to be released by
 * utrace_markers_detach(); or
 * * -ESRCH - @task has exited
 * * -EPERM - @task is a kernel thread
 * * -ENOSPC - a task has no slot left
 * * -ENOMEM - out of memory
 */
struct marker_owner *
utrace_markers_attach(struct task_struct *task, bool follow,
		      const struct utrace_markers_ops *ops, void *data)
{
	return utrace_marker_owner_of_client(task, follow, ops, data);
}
EXPORT_SYMBOL_GPL(utrace_markers_attach);

/**
 * utrace_markers_arm() - arm a marker
 * @markers: what utrace_markers_attach() has returned
 * @file: the executable file or library
 * @site: the marker; @utrace_marker.fd is ignored
 * @cookie: any number, passed to the callback with each hit
 * @flags: 0 or %UTRACE_ARM_F_COUNT
 *
 * The caller is responsible for @file.  If it is on FUSE, processes that map
 * other files may have to wait until its server has supplied the page of the
 * marker.
 *
 * Context: Process context; sleeps.
 * Return: 0, or an error of UTRACE_IOC_ARM of a marker.
 */
int utrace_markers_arm(struct marker_owner *markers, struct file *file,
		       const struct utrace_marker *site, u64 cookie, u32 flags)
{
	const struct marker_request request = { cookie, 0, flags };
	struct marker_event *event;

	if (mutex_lock_killable(&markers->mutex))
		return -EINTR;
	event = utrace_marker_site_arm(markers, &request, site, file);
	mutex_unlock(&markers->mutex);
	return PTR_ERR_OR_ZERO(event);
}
EXPORT_SYMBOL_GPL(utrace_markers_arm);

/**
 * utrace_markers_disarm() - disarm a marker
 * @markers: what utrace_markers_attach() has returned
 * @file: the executable file or library
 * @site: flags and offset of the marker
 *
 * When this returns, no callback for a hit of the marker is running.
 *
 * Context: Process context, not in a callback of the client, and without a lock
 * that a callback takes; sleeps.
 * Return: 0, -EINVAL, -ENOENT, or -EINTR if the caller was killed.
 */
int utrace_markers_disarm(struct marker_owner *markers, struct file *file,
			  const struct utrace_marker *site)
{
	int ret;

	if (mutex_lock_killable(&markers->mutex))
		return -EINTR;
	ret = utrace_marker_site_disarm(markers, site, file);
	mutex_unlock(&markers->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(utrace_markers_disarm);

/**
 * utrace_markers_arm_user_event() - arm a user_event
 * @markers: what utrace_markers_attach() has returned
 * @name: name of the event, without fields
 * @cookie: any number, passed to the callback with each write
 * @flags: 0 or %UTRACE_ARM_F_COUNT
 *
 * Context: Process context; sleeps.
 * Return: 0, or an error of UTRACE_IOC_ARM of a user_event.
 */
int utrace_markers_arm_user_event(struct marker_owner *markers,
				  const char *name, u64 cookie, u32 flags)
{
	const struct marker_request request = { cookie, 0, flags };
	struct marker_event *event;

	if (mutex_lock_killable(&markers->mutex))
		return -EINTR;
	event = utrace_marker_name_arm(markers, &request, name);
	mutex_unlock(&markers->mutex);
	return PTR_ERR_OR_ZERO(event);
}
EXPORT_SYMBOL_GPL(utrace_markers_arm_user_event);

/**
 * utrace_markers_disarm_user_event() - disarm a user_event
 * @markers: what utrace_markers_attach() has returned
 * @name: name of the event
 *
 * A callback for a write that was in progress may still come after this
 * returns.
 *
 * Context: Process context; sleeps.
 * Return: 0, -ENOENT, -EOPNOTSUPP, or -EINTR if the caller was killed.
 */
int utrace_markers_disarm_user_event(struct marker_owner *markers,
				     const char *name)
{
	int ret;

	if (mutex_lock_killable(&markers->mutex))
		return -EINTR;
	ret = utrace_marker_name_disarm(markers, name);
	mutex_unlock(&markers->mutex);
	return ret;
}
EXPORT_SYMBOL_GPL(utrace_markers_disarm_user_event);

/**
 * utrace_markers_detach() - disarm everything and detach from the process
 * @markers: what utrace_markers_attach() has returned; invalid afterwards
 *
 * When this returns, no callback of the client is running.
 *
 * Context: Process context, not in a callback, and without a lock that a
 * callback takes; sleeps until running callbacks have returned, but does not
 * wait for processes otherwise.
 */
void utrace_markers_detach(struct marker_owner *markers)
{
	utrace_marker_disarm_all(markers);
	utrace_marker_call_end(markers);
	wait_for_completion(&markers->called);
	utrace_marker_owner_put(markers);
}
EXPORT_SYMBOL_GPL(utrace_markers_detach);

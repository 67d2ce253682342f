// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: clients in modules
 *
 * A module has an owner without a target of a session.
 */
#include <linux/completion.h>
#include <linux/export.h>
#include <linux/utrace_markers.h>

#include "marker.h"

/**
 * utrace_markers_attach() - get ready to arm markers in a process
 * @task: a task of the process, to which the caller has a reference
 * @follow: arm them in descendants that the process creates from now on, too
 * @ops: what the client is told
 * @data: first argument of the callbacks
 *
 * A module calls utrace_markers_detach() before it is unloaded.
 *
 * Context: Process context; sleeps, see utrace_attach_task().
 * Return: what the other functions get, for utrace_markers_detach(); or
 * * -ESRCH - @task has exited
 * * -EPERM - @task is a kernel thread
 * * -ENOSPC - a task has no slot left
 * * -ENOMEM - there is no memory
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
 * @site: the marker; @utrace_marker.fd is not looked at
 * @cookie: any number, which is told with each hit
 * @flags: 0 or %UTRACE_ARM_F_COUNT
 *
 * The caller answers for @file: processes that map other files may wait until the server
 * of a file of FUSE has brought the page of the marker.
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
 * No hit of the marker is being told when this returns.
 *
 * Context: Process context, not in a callback of the client, and without a lock that
 * a callback takes; sleeps.
 * Return: 0, -EINVAL, -ENOENT, or -EINTR if the caller is being killed.
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
 * @cookie: any number, which is told with each write
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
 * A write that is being told may still be told when this returns.
 *
 * Context: Process context; sleeps.
 * Return: 0, -ENOENT, -EOPNOTSUPP, or -EINTR if the caller is being killed.
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
 * utrace_markers_detach() - take back all that was armed
 * @markers: what utrace_markers_attach() has returned, which is invalid afterwards
 *
 * No callback of the client runs when this returns.
 *
 * Context: Process context, not in a callback, and without a lock that a callback
 * takes; sleeps until callbacks have returned, but waits for no process otherwise.
 */
void utrace_markers_detach(struct marker_owner *markers)
{
	utrace_marker_disarm_all(markers);
	utrace_marker_call_end(markers);
	wait_for_completion(&markers->called);
	utrace_marker_owner_put(markers);
}
EXPORT_SYMBOL_GPL(utrace_markers_detach);

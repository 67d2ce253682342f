// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: creation and end
 *
 * A session begins with open().  It ends when the file and all engines of its
 * targets have dropped their references.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "../builtin.h"
#include "count.h"

/*
 * The file and all targets are gone, so no reader and no callback uses the
 * session.
 */
static void session_free(struct kref *ref)
{
	struct utrace_session *session =
		container_of(ref, struct utrace_session, ref);

	timer_shutdown_sync(&session->wake);
	utrace_dev_forget_tasks(session);
	utrace_dev_park_free(session);
	utrace_counts_end(&session->counts);
	utrace_dev_ring_free(session);
	utrace_dev_settings_put(session->settings);
	WARN_ON_ONCE(!xa_empty(&session->ids));
	put_pid_ns(session->ns);
	put_pid(session->owner);
	put_cred(session->cred);
	kfree(session);
}

/**
 * utrace_dev_put() - drop a reference to a session
 * @session: the session; consumes the reference
 *
 * Context: The last put stops the timer and waits for it, and may sleep; any
 * other may be called from interrupts.
 */
void utrace_dev_put(struct utrace_session *session)
{
	kref_put(&session->ref, session_free);
}

/* Timer function: a record was written utrace_session.delay ago. */
static void session_wake(struct timer_list *timer)
{
	struct utrace_session *session = from_timer(session, timer, wake);

	/*
	 * A full barrier: a writer that finds ->armed set has written its
	 * record before the readers check for records.
	 */
	atomic_xchg(&session->armed, 0);
	wake_up_interruptible_poll(&session->reader.wait, SESSION_WAKE);
}

/**
 * utrace_dev_new() - create a session that no process reads yet
 * @cred: credentials of the opener; the session takes its own reference
 * @ops: functions of its reader, &utrace_dev_reader_ops
 *
 * Context: Process context, in the opening task; may sleep.
 * Return:
 * * the session - with one reference, for the file
 * * NULL - out of memory
 */
struct utrace_session *utrace_dev_new(const struct cred *cred,
				      const struct utrace_reader_ops *ops)
{
	struct utrace_session *session = kzalloc(sizeof(*session),
						 GFP_KERNEL_ACCOUNT);

	if (!session)
		return NULL;
	session->settings = utrace_dev_settings_new();
	if (!session->settings) {
		kfree(session);
		return NULL;
	}
	kref_init(&session->ref);
	session->cred = get_cred(cred);
	session->owner = get_pid(task_tgid(current));
	session->ns = get_pid_ns(task_active_pid_ns(current));
	mutex_init(&session->lock);
	INIT_LIST_HEAD(&session->targets);
	spin_lock_init(&session->park_lock);
	INIT_LIST_HEAD(&session->parked);
	INIT_LIST_HEAD(&session->taken);
	INIT_LIST_HEAD(&session->waiting);
	INIT_LIST_HEAD(&session->walks);
	INIT_LIST_HEAD(&session->tasks);
	utrace_reader_init(&session->reader, &session->park_lock, ops);
	utrace_dev_counts_init(session);
	xa_init_flags(&session->ids, XA_FLAGS_ALLOC1);
	timer_setup(&session->wake, session_wake, 0);
	return session;
}

/**
 * utrace_dev_cred() - get the credentials of the opener of a session
 * @session: the session
 *
 * Context: Any.
 * Return: the credentials, without a reference.
 */
const struct cred *utrace_dev_cred(const struct utrace_session *session)
{
	return session->cred;
}

/**
 * utrace_dev_ns() - get the pid namespace of the opener of a session
 * @session: the session
 *
 * Context: Any.
 * Return: the namespace, without a reference.
 */
struct pid_namespace *utrace_dev_ns(const struct utrace_session *session)
{
	return session->ns;
}

/**
 * utrace_dev_ids() - get the table that maps ids to what is armed
 * @session: the session
 *
 * Context: Any.
 * Return: the table.
 */
struct xarray *utrace_dev_ids(struct utrace_session *session)
{
	return &session->ids;
}

/**
 * utrace_dev_new_id() - reserve an id for something to be armed
 * @session: the session
 * @id: set to the id, 1 or more, which has no entry yet
 *
 * Ids are allocated cyclically: a freed id is used again after the other 2^32
 * ids.
 *
 * Context: Process context; may sleep.
 * Return: 0, -ENOMEM, or -EBUSY if all ids are used.
 */
int utrace_dev_new_id(struct utrace_session *session, u32 *id)
{
	int ret = xa_alloc_cyclic(&session->ids, id, NULL, XA_LIMIT(1, U32_MAX),
				  &session->next_armed, GFP_KERNEL_ACCOUNT);

	return min(ret, 0);
}

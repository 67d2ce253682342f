// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: their lives, and the commands they take
 *
 * A session begins with open() and ends when the file and all engines of its
 * targets have dropped their references.  Its commands are registered with
 * utrace_dev.c, which copies their arguments and takes the session's lock.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/init.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "../builtin.h"
#include "count.h"

/*
 * The file and all targets are gone: no reader and no callback uses the
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
	put_pid_ns(session->ns);
	put_pid(session->owner);
	put_cred(session->cred);
	kfree(session);
}

/**
 * utrace_dev_put() - drop a reference to a session
 * @session: the session; the caller gives its reference up
 *
 * Context: The last put stops the timer and waits for it, and may sleep; any
 * other may be called from interrupts.
 */
void utrace_dev_put(struct utrace_session *session)
{
	kref_put(&session->ref, session_free);
}

/* A record was written utrace_session.delay ago: wake the readers. */
static void session_wake(struct timer_list *timer)
{
	struct utrace_session *session = from_timer(session, timer, wake);

	/*
	 * A full barrier: a writer that finds ->armed set has written its
	 * record before the readers look.
	 */
	atomic_xchg(&session->armed, 0);
	wake_up_interruptible_poll(&session->wait, SESSION_WAKE);
}

/**
 * utrace_dev_new() - begin a session
 * @cred: credentials of the opener; the session takes a reference of its own
 *
 * Context: Process context, in the opening task; may sleep.
 * Return:
 * * the session - with one reference, for the file
 * * NULL - there is no memory
 */
struct utrace_session *utrace_dev_new(const struct cred *cred)
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
	mutex_init(&session->read_lock);
	INIT_LIST_HEAD(&session->targets);
	spin_lock_init(&session->park_lock);
	INIT_LIST_HEAD(&session->parked);
	INIT_LIST_HEAD(&session->taken);
	INIT_LIST_HEAD(&session->waiting);
	INIT_LIST_HEAD(&session->walks);
	INIT_LIST_HEAD(&session->tasks);
	utrace_reader_init(&session->reader, &session->park_lock,
			   &utrace_dev_reader_ops);
	utrace_reader_start(&session->reader);
	utrace_dev_counts_init(session);
	init_waitqueue_head(&session->wait);
	timer_setup(&session->wake, session_wake, 0);
	return session;
}

/**
 * utrace_dev_cred() - the credentials of the opener of a session
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
 * utrace_dev_ns() - the pid namespace of the opener of a session
 * @session: the session
 *
 * Context: Any.
 * Return: the namespace, without a reference.
 */
struct pid_namespace *utrace_dev_ns(const struct utrace_session *session)
{
	return session->ns;
}

/* Commands */

/* Add up what the rings have counted, while they count on. */
static void session_count_records(struct utrace_session *session,
				  struct utrace_ioc_info *info)
{
	/* Pairs with utrace_dev_ring_make(). */
	struct session_ring *ring = smp_load_acquire(&session->ring);
	unsigned int cpu;

	if (!ring)
		return;
	info->cpus = nr_cpu_ids;
	info->ring_size = session->ring_size;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		/* The writers go on. */
		info->records += data_race(ring[cpu].records);
		info->lost += READ_ONCE(ring[cpu].lost);
	}
}

static int session_info(struct utrace_session *session, void *arg)
{
	struct utrace_ioc_info *info = arg;
	struct session_target *target;

	*info = (struct utrace_ioc_info){
		.version = UTRACE_IOC_VERSION_NOW,
		.events = utrace_dev_records(),
		.capture = UTRACE_CAPTURE_ALL,
		.hidden = atomic64_read(&session->hidden),
		.uncaptured = atomic64_read(&session->uncaptured),
		.waits = atomic64_read(&session->waits),
		.parked = READ_ONCE(session->nparked),
	};
	utrace_dev_look(session);
	/*
	 * No holder of the lock waits for a page fault that user space serves,
	 * since none reads or writes user memory.
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

static int session_setup(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_setup *setup = arg;

	if (setup->flags)
		return -EINVAL;
	if (setup->ring_size > SESSION_RING_DEFAULT &&
	    !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	if (session->ring)
		return -EBUSY;
	return utrace_dev_ring_make(session, setup);
}

static int session_do_attach(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_setup setup = {};
	struct utrace_ioc_attach *attach = arg;
	int ret = 0;

	if (attach->flags || attach->id)
		return -EINVAL;
	if (!session->ring)
		ret = utrace_dev_ring_make(session, &setup);
	return ret ?: utrace_dev_attach(session, attach);
}

static int session_do_detach(struct utrace_session *session, void *arg)
{
	return utrace_dev_detach(session, *(u32 *)arg);
}

static int session_do_set_events(struct utrace_session *session, void *arg)
{
	return utrace_dev_set_events(session, arg);
}

/*
 * Detach the target that session_do_attach() has made, since its id could not
 * be given to the program.  If the caller is killed while it waits for the
 * lock, the target stays until the end of the session.
 */
static void session_undo_attach(struct utrace_session *session, const void *arg)
{
	const struct utrace_ioc_attach *attach = arg;

	if (mutex_lock_killable(&session->lock))
		return;
	utrace_dev_detach(session, attach->id);
	mutex_unlock(&session->lock);
}

static int session_read_counts(struct utrace_session *session, void *arg)
{
	return utrace_dev_read_counts(session, arg);
}

static int session_in_flight(struct utrace_session *session, void *arg)
{
	return utrace_dev_tell_in_flight(session, arg);
}

static const struct utrace_dev_command session_commands[] = {
	{
		.cmd	= UTRACE_IOC_INFO,
		.first	= UTRACE_IOC_INFO_SIZE_VER0,
		.run	= session_info,
	},
	{
		.cmd	= UTRACE_IOC_SETUP,
		.first	= UTRACE_IOC_SETUP_SIZE_VER0,
		.locked	= true,
		.run	= session_setup,
	},
	{
		.cmd	= UTRACE_IOC_ATTACH,
		.first	= UTRACE_IOC_ATTACH_SIZE_VER0,
		.locked	= true,
		.run	= session_do_attach,
		.undo	= session_undo_attach,
	},
	{
		.cmd	= UTRACE_IOC_DETACH,
		.first	= UTRACE_IOC_DETACH_SIZE_VER0,
		.locked	= true,
		.run	= session_do_detach,
	},
	{
		.cmd	= UTRACE_IOC_EVENTS,
		.first	= UTRACE_IOC_EVENTS_SIZE_VER0,
		.run	= session_do_set_events,
	},
	{
		.cmd	= UTRACE_IOC_COUNTS,
		.first	= UTRACE_IOC_COUNTS_SIZE_VER0,
		.run	= session_read_counts,
	},
	{
		.cmd	= UTRACE_IOC_IN_FLIGHT,
		.first	= UTRACE_IOC_IN_FLIGHT_SIZE_VER0,
		.locked	= true,
		.run	= session_in_flight,
	},
};

static int __init session_init(void)
{
	return utrace_dev_add_commands(session_commands,
				       ARRAY_SIZE(session_commands));
}
subsys_initcall(session_init);

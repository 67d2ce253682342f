// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: sessions of user programs
 *
 * An open file is a session.  It is a client like any other: each thing that it
 * is attached to has an engine, whose callbacks write records into the ring of
 * the session (session_record.c, session_ring.c), from where read(2) takes them.
 * Who may be traced is checked at each attach (session_target.c) and again whenever
 * a task becomes somebody else (session_rights.c).
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include "client.h"
#include "session.h"

/* Bytes of the largest structure that is taken, those to come included. */
#define SESSION_ARG_MAX	SZ_4K

/*
 * kernel.utrace.unprivileged: may one trace who has no CAP_SYS_PTRACE in the initial
 * user namespace?
 */
int session_unprivileged __read_mostly;

static void session_free(struct kref *ref)
{
	struct utrace_session *session = container_of(ref, struct utrace_session,
						      ref);

	timer_shutdown_sync(&session->wake);
	session_ring_free(&session->ring);
	kfree(session->calls);
	put_pid_ns(session->ns);
	put_pid(session->owner);
	put_cred(session->cred);
	kfree(session);
}

/**
 * session_put - drop a reference
 * @session: the session
 *
 * Context: Any but interrupts.
 */
void session_put(struct utrace_session *session)
{
	kref_put(&session->ref, session_free);
}

static void session_wake(struct timer_list *timer)
{
	struct utrace_session *session = from_timer(session, timer, wake);

	wake_up_interruptible_poll(&session->wait, EPOLLIN | EPOLLRDNORM);
}

static int session_open(struct inode *inode, struct file *file)
{
	struct utrace_session *session;

	/* In a user namespace of one's own everybody is capable. */
	if (!READ_ONCE(session_unprivileged) && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);
	if (!session)
		return -ENOMEM;
	kref_init(&session->ref);
	session->cred = get_cred(file->f_cred);
	session->owner = get_pid(task_tgid(current));
	session->ns = get_pid_ns(task_active_pid_ns(current));
	mutex_init(&session->lock);
	mutex_init(&session->read_lock);
	INIT_LIST_HEAD(&session->targets);
	spin_lock_init(&session->ring.lock);
	init_waitqueue_head(&session->wait);
	timer_setup(&session->wake, session_wake, 0);
	file->private_data = session;
	return stream_open(inode, file);
}

/* Tasks go on; callbacks that run now write into a ring that nobody reads. */
static int session_release(struct inode *inode, struct file *file)
{
	struct utrace_session *session = file->private_data;

	session_detach_all(session);
	session_put(session);
	return 0;
}

static ssize_t session_read(struct file *file, char __user *to, size_t size,
			    loff_t *ppos)
{
	struct utrace_session *session = file->private_data;
	ssize_t ret;

	do {
		if (!session_ring_has(&session->ring)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			ret = wait_event_interruptible(session->wait,
						       session_ring_has(&session->ring));
			if (ret)
				return ret;
		}
		/* Another reader may be in a page fault. */
		if (file->f_flags & O_NONBLOCK) {
			if (!mutex_trylock(&session->read_lock))
				return -EAGAIN;
		} else if (mutex_lock_interruptible(&session->read_lock)) {
			return -ERESTARTSYS;
		}
		ret = session_ring_read(&session->ring, to, size);
		mutex_unlock(&session->read_lock);
		/* Another reader may have been faster. */
	} while (!ret && size);
	return ret;
}

static __poll_t session_poll(struct file *file, struct poll_table_struct *table)
{
	struct utrace_session *session = file->private_data;

	poll_wait(file, &session->wait, table);
	return session_ring_has(&session->ring) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* ioctls */

static int session_info(struct utrace_session *session, struct utrace_ioc_info *info)
{
	struct session_target *target;

	*info = (struct utrace_ioc_info){
		.version = UTRACE_IOC_VERSION_NOW,
		.events = UTRACE_F_EVENTS_ALL,
		.capture = UTRACE_F_CAPTURE_ALL,
		.ring_size = READ_ONCE(session->ring.size),
		.hidden = atomic64_read(&session->hidden),
		.uncaptured = atomic64_read(&session->uncaptured),
	};
	/* No page fault is waited for under it. */
	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	info->missed = session->missed;
	list_for_each_entry(target, &session->targets, list)
		info->missed += utrace_engine_lost(target->engine);
	mutex_unlock(&session->lock);
	guard(spinlock)(&session->ring.lock);
	info->records = session->ring.seq;
	info->lost = session->ring.lost;
	return 0;
}

static int session_setup(struct utrace_session *session,
			 const struct utrace_ioc_setup *setup)
{
	if (setup->flags)
		return -EINVAL;
	if (setup->ring_size > SESSION_RING_DEFAULT && !capable(CAP_SYS_RESOURCE))
		return -EPERM;
	/* Too large for a size_t is too large. */
	if (session->ring.size)
		return -EBUSY;
	return session_ring_make(&session->ring, min_t(u64, setup->ring_size, SZ_1G),
			     setup->clock);
}

static int session_do_attach(struct utrace_session *session,
			     struct utrace_ioc_attach *attach)
{
	int ret = 0;

	if (attach->flags || attach->id)
		return -EINVAL;
	if (!session->ring.size)
		ret = session_ring_make(&session->ring, 0, UTRACE_F_MONOTONIC);
	return ret ?: session_attach(session, attach);
}

union session_arg {
	struct utrace_ioc_info info;
	struct utrace_ioc_setup setup;
	struct utrace_ioc_attach attach;
	struct utrace_ioc_events events;
	u32 id;
};

/* What changes the session, one after the other. */
static int session_change(struct utrace_session *session, unsigned int nr,
			  union session_arg *arg)
{
	lockdep_assert_held(&session->lock);
	switch (nr) {
	case _IOC_NR(UTRACE_IOC_SETUP):
		return session_setup(session, &arg->setup);
	case _IOC_NR(UTRACE_IOC_ATTACH):
		return session_do_attach(session, &arg->attach);
	case _IOC_NR(UTRACE_IOC_DETACH):
		return session_detach(session, arg->id);
	}
	return -ENOTTY;
}

static int session_command(struct utrace_session *session, unsigned int nr,
			   union session_arg *arg)
{
	int ret;

	/* These two do without the lock, or take it themselves. */
	if (nr == _IOC_NR(UTRACE_IOC_INFO))
		return session_info(session, &arg->info);
	if (nr == _IOC_NR(UTRACE_IOC_EVENTS))
		return session_set_events(session, &arg->events);
	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	ret = session_change(session, nr, arg);
	mutex_unlock(&session->lock);
	return ret;
}

/*
 * The user does not know the id, so nobody does.  Of one who is killed meanwhile the
 * target stays until the end of the session.
 */
static void session_undo_attach(struct utrace_session *session, u32 id)
{
	if (mutex_lock_killable(&session->lock))
		return;
	session_detach(session, id);
	mutex_unlock(&session->lock);
}

/* Each command as it is now, and its structure's size when it was first published. */
static const struct {
	unsigned int cmd;
	unsigned int first;
} session_commands[] = {
	{ UTRACE_IOC_INFO, UTRACE_IOC_INFO_SIZE_VER0 },
	{ UTRACE_IOC_SETUP, UTRACE_IOC_SETUP_SIZE_VER0 },
	{ UTRACE_IOC_ATTACH, UTRACE_IOC_ATTACH_SIZE_VER0 },
	{ UTRACE_IOC_DETACH, UTRACE_IOC_DETACH_SIZE_VER0 },
	{ UTRACE_IOC_EVENTS, UTRACE_IOC_EVENTS_SIZE_VER0 },
};

/* As copy_struct_from_user() takes it: what is behind the smaller one of both is 0. */
static int session_arg_to_user(void __user *user, unsigned int size,
			       const union session_arg *arg, unsigned int known)
{
	if (copy_to_user(user, arg, min(size, known)) ||
	    (size > known && clear_user(user + known, size - known)))
		return -EFAULT;
	return 0;
}

/*
 * A structure may be larger than ours if the rest is 0, and smaller, down to its
 * first version; see copy_struct_from_user().
 */
static long session_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	unsigned int nr = _IOC_NR(cmd), size = _IOC_SIZE(cmd), known;
	void __user *user = (void __user *)arg;
	union session_arg copy = {};
	int ret = 0;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
	    nr >= ARRAY_SIZE(session_commands) ||
	    _IOC_DIR(cmd) != _IOC_DIR(session_commands[nr].cmd))
		return -ENOTTY;
	nr = array_index_nospec(nr, ARRAY_SIZE(session_commands));
	known = _IOC_SIZE(session_commands[nr].cmd);
	if (size < session_commands[nr].first)
		return -EINVAL;
	if (size > SESSION_ARG_MAX)
		return -E2BIG;
	if (_IOC_DIR(cmd) & _IOC_WRITE)
		ret = copy_struct_from_user(&copy, known, user, size);
	ret = ret ?: session_command(file->private_data, nr, &copy);
	if (ret || !(_IOC_DIR(cmd) & _IOC_READ))
		return ret;
	ret = session_arg_to_user(user, size, &copy, known);
	if (ret && nr == _IOC_NR(UTRACE_IOC_ATTACH))
		session_undo_attach(file->private_data, copy.attach.id);
	return ret;
}

static const struct file_operations session_fops = {
	.owner		= THIS_MODULE,
	.open		= session_open,
	.release	= session_release,
	.read		= session_read,
	.poll		= session_poll,
	.unlocked_ioctl	= session_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice session_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "utrace",
	.fops	= &session_fops,
	.mode	= 0666,
};

#ifdef CONFIG_SYSCTL
static struct ctl_table session_sysctls[] = {
	{
		.procname	= "unprivileged",
		.data		= &session_unprivileged,
		.maxlen		= sizeof(session_unprivileged),
		.mode		= 0644,
		.proc_handler	= proc_dointvec_minmax,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
};
#endif

static int __init session_init(void)
{
#ifdef CONFIG_SYSCTL
	register_sysctl_init("kernel/utrace", session_sysctls);
#endif
	return misc_register(&session_misc);
}
device_initcall(session_init);

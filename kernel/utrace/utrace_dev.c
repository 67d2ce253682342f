// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: sessions of user programs
 *
 * An open file is a session.  A session is a client like any other: each thing
 * that it is attached to has an engine, whose callbacks write records into the
 * ring of the session (dev/record.c, dev/ring.c), from where read(2) takes them.
 * Rights are checked at each attach (dev/target.c) and again whenever a task
 * becomes another user (dev/rights.c).
 *
 * The device knows no command by name: each one is registered, by dev/session.c
 * and by any engine that has one of its own.
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include "dev/session.h"

/* Bytes of the largest structure that is taken, those to come included. */
#define SESSION_ARG_MAX	SZ_4K

/*
 * kernel.utrace.unprivileged: may one trace who has no CAP_SYS_PTRACE in the initial
 * user namespace?
 */
int utrace_dev_unprivileged __read_mostly;

static int session_open(struct inode *inode, struct file *file)
{
	struct utrace_session *session;

	/* In a user namespace of one's own everybody is capable. */
	if (!READ_ONCE(utrace_dev_unprivileged) && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	session = utrace_dev_new(file->f_cred);
	if (!session)
		return -ENOMEM;
	file->private_data = session;
	return stream_open(inode, file);
}

/* Tasks go on; callbacks that run now write into a ring that nobody reads. */
static int session_release(struct inode *inode, struct file *file)
{
	struct utrace_session *session = file->private_data;

	utrace_dev_detach_all(session);
	utrace_dev_put(session);
	return 0;
}

static ssize_t session_read(struct file *file, char __user *to, size_t size,
			    loff_t *ppos)
{
	struct utrace_session *session = file->private_data;
	ssize_t ret;

	do {
		if (!utrace_dev_ring_has(&session->ring)) {
			if (file->f_flags & O_NONBLOCK)
				return -EAGAIN;
			ret = wait_event_interruptible(session->wait,
						       utrace_dev_ring_has(&session->ring));
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
		ret = utrace_dev_ring_read(&session->ring, to, size);
		mutex_unlock(&session->read_lock);
		/* Another reader may have been faster. */
	} while (!ret && size);
	return ret;
}

static __poll_t session_poll(struct file *file, struct poll_table_struct *table)
{
	struct utrace_session *session = file->private_data;

	poll_wait(file, &session->wait, table);
	return utrace_dev_ring_has(&session->ring) ? EPOLLIN | EPOLLRDNORM : 0;
}

/* Commands */

/* Numbers of ioctls that may be registered. */
#define UTRACE_DEV_COMMANDS	32

/* By number.  Written while the kernel starts, before the device is there. */
static const struct utrace_dev_command *commands[UTRACE_DEV_COMMANDS] __ro_after_init;

/**
 * utrace_dev_add_commands - register commands of /dev/utrace
 * @command: the commands, which stay there for good
 * @n: how many
 *
 * Context: An initcall before device_initcall().
 * Return: 0; -EINVAL: a structure is too large, or not one of /dev/utrace's
 * ioctls; -EBUSY: a number is taken.  The commands before that one are there.
 */
int __init utrace_dev_add_commands(const struct utrace_dev_command *command,
				   unsigned int n)
{
	for (; n--; command++) {
		unsigned int nr = _IOC_NR(command->cmd);

		if (WARN_ON(_IOC_TYPE(command->cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
			    nr >= UTRACE_DEV_COMMANDS ||
			    _IOC_SIZE(command->cmd) > UTRACE_DEV_ARG_SIZE))
			return -EINVAL;
		if (WARN_ON(commands[nr]))
			return -EBUSY;
		commands[nr] = command;
	}
	return 0;
}

static const struct utrace_dev_command *session_command_of(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);
	const struct utrace_dev_command *command;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_INFO) || nr >= UTRACE_DEV_COMMANDS)
		return NULL;
	command = commands[array_index_nospec(nr, UTRACE_DEV_COMMANDS)];
	return command && _IOC_DIR(cmd) == _IOC_DIR(command->cmd) ? command : NULL;
}

static int session_run(struct utrace_session *session,
		       const struct utrace_dev_command *command, void *arg)
{
	int ret;

	if (!command->locked)
		return command->run(session, arg);
	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	ret = command->run(session, arg);
	mutex_unlock(&session->lock);
	return ret;
}

/* As copy_struct_from_user() takes it: what is behind the smaller one of both is 0. */
static int session_arg_to_user(void __user *user, unsigned int size,
			       const void *arg, unsigned int known)
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
	const struct utrace_dev_command *command = session_command_of(cmd);
	struct utrace_session *session = file->private_data;
	u64 copy[UTRACE_DEV_ARG_SIZE / sizeof(u64)] = {};
	unsigned int size = _IOC_SIZE(cmd), known;
	void __user *user = (void __user *)arg;
	int ret = 0;

	if (!command)
		return -ENOTTY;
	known = _IOC_SIZE(command->cmd);
	if (size < command->first)
		return -EINVAL;
	if (size > SESSION_ARG_MAX)
		return -E2BIG;
	if (_IOC_DIR(cmd) & _IOC_WRITE)
		ret = copy_struct_from_user(copy, known, user, size);
	ret = ret ?: session_run(session, command, copy);
	if (ret || !(_IOC_DIR(cmd) & _IOC_READ))
		return ret;
	ret = session_arg_to_user(user, size, copy, known);
	if (ret && command->undo)
		command->undo(session, copy);
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
		.data		= &utrace_dev_unprivileged,
		.maxlen		= sizeof(utrace_dev_unprivileged),
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

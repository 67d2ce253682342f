// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: sessions of user programs
 *
 * An open file is a session (dev/session.h), a client like any other.  Each
 * thing that it is attached to has an engine, whose callbacks write records
 * into the session's rings (dev/calls.c, dev/events.c, dev/ring.c); read()
 * merges them (dev/stream.c).  A record without room is lost, or its task waits
 * for the reader (dev/park.c).  Rights are checked at each attach
 * (dev/target.c), and about each task again whenever its rights change
 * (dev/rights.c).
 *
 * The device knows no command and no record by name.  dev/session.c and
 * dev/events.c register theirs, and so may any other client (utrace_dev.h).
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>

#include "dev/session.h"

/*
 * Bytes of the largest argument that a program may pass; later versions of a
 * structure included.
 */
#define SESSION_ARG_MAX	SZ_4K

static int session_open(struct inode *inode, struct file *file)
{
	struct utrace_session *session;

	/*
	 * capable() asks about the initial user namespace: in a namespace of
	 * its own every program has all capabilities.
	 */
	if (!READ_ONCE(utrace_unprivileged) && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	session = utrace_dev_new(file->f_cred);
	if (!session)
		return -ENOMEM;
	file->private_data = session;
	return stream_open(inode, file);
}

/*
 * Does not wait for callbacks that are running: they write into a ring that has
 * no reader, and the last reference to the session frees it.
 */
static int session_release(struct inode *inode, struct file *file)
{
	struct utrace_session *session = file->private_data;

	/* Else a task that waits would keep its reference to the session for ever. */
	utrace_reader_end(&session->reader);
	utrace_dev_detach_all(session);
	utrace_dev_put(session);
	return 0;
}

/* Is there something that read(2) does not have to wait for? */
static bool session_is_ready(struct utrace_session *session)
{
	return utrace_dev_has(session) || READ_ONCE(session->look) ||
	       utrace_dev_is_over(session);
}

/*
 * Take the lock of the readers.  Another reader may hold it while it waits in a
 * page fault.
 */
static int session_lock_readers(struct utrace_session *session, bool nonblock)
{
	if (!nonblock)
		return mutex_lock_interruptible(&session->read_lock) ?
		       -ERESTARTSYS : 0;
	return mutex_trylock(&session->read_lock) ? 0 : -EAGAIN;
}

/*
 * Records that are there may not be given before the clock has passed their
 * times, which takes until the clock's next tick.
 */
static int session_wait(struct utrace_session *session)
{
	if (!session_is_ready(session))
		return wait_event_interruptible(session->wait,
						session_is_ready(session));
	return schedule_timeout_interruptible(1) && signal_pending(current) ?
	       -ERESTARTSYS : 0;
}

static ssize_t session_read(struct file *file, char __user *to, size_t size,
			    loff_t *ppos)
{
	struct utrace_session *session = file->private_data;
	bool nonblock = file->f_flags & O_NONBLOCK, over;
	ssize_t ret;

	/* A read of 0 bytes fails, as each read too small for a record does. */
	if (!size)
		return -EINVAL;
	for (;;) {
		/* Again after a wait, in which another process may have read. */
		utrace_reader_be(&session->reader, file);
		utrace_dev_look(session);
		/*
		 * Before the look for records: there may be one that was
		 * written before the session was over.
		 */
		over = utrace_dev_is_over(session);
		ret = session_lock_readers(session, nonblock);
		if (ret)
			return ret;
		ret = utrace_dev_read(session, to, size);
		mutex_unlock(&session->read_lock);
		if (ret || (over && !utrace_dev_has(session)))
			return ret;
		if (nonblock)
			return -EAGAIN;
		ret = session_wait(session);
		if (ret)
			return ret;
	}
}

static __poll_t session_poll(struct file *file, struct poll_table_struct *table)
{
	struct utrace_session *session = file->private_data;
	__poll_t mask = 0;

	utrace_reader_be(&session->reader, file);
	poll_wait(file, &session->wait, table);
	utrace_dev_look(session);
	if (utrace_dev_is_over(session))
		mask |= EPOLLHUP;
	if (utrace_dev_has(session))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int session_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct utrace_session *session = file->private_data;

	utrace_reader_be(&session->reader, file);
	return utrace_dev_mmap(session, vma);
}

static int session_flush(struct file *file, fl_owner_t id)
{
	struct utrace_session *session = file->private_data;

	utrace_reader_flush(&session->reader, file, id);
	return 0;
}

/* Commands */

/* Ioctl numbers that may be registered. */
#define UTRACE_DEV_COMMANDS	32

/*
 * Commands by ioctl number.  Written by initcalls before the device is there.
 */
static const struct utrace_dev_command *
commands[UTRACE_DEV_COMMANDS] __ro_after_init;

/**
 * utrace_dev_add_commands() - register commands of /dev/utrace
 * @command: the commands; they are used for ever
 * @n: number of commands
 *
 * After an error the commands before the refused one are registered.
 *
 * Context: An initcall before device_initcall().
 * Return:
 * * 0 - all commands are registered
 * * -EINVAL - a command is no ioctl of /dev/utrace, or its argument is larger
 *   than %UTRACE_DEV_ARG_SIZE or smaller than it was first
 * * -EBUSY - a number is taken already
 */
int __init utrace_dev_add_commands(const struct utrace_dev_command *command,
				   unsigned int n)
{
	for (; n--; command++) {
		unsigned int nr = _IOC_NR(command->cmd);

		if (WARN_ON(_IOC_TYPE(command->cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
			    nr >= UTRACE_DEV_COMMANDS ||
			    _IOC_SIZE(command->cmd) > UTRACE_DEV_ARG_SIZE ||
			    command->first > _IOC_SIZE(command->cmd)))
			return -EINVAL;
		if (WARN_ON(commands[nr]))
			return -EBUSY;
		commands[nr] = command;
	}
	return 0;
}

/* Records */

/* Types of records that may be registered: bits of utrace_ioc_events.events. */
#define UTRACE_DEV_RECORDS	64

/* Types that the device writes unasked. */
#define UTRACE_DEV_OWN		(UTRACE_REC_BIT(PAD) | UTRACE_REC_BIT(LOST) | \
				 UTRACE_REC_BIT(HIDDEN) | \
				 UTRACE_REC_BIT(TARGET_END))

/*
 * UTRACE_EVENT() bits by the type of the records that need them, and the bits
 * of the registered types.  Written by initcalls before the device is there.
 */
static unsigned long record_events[UTRACE_DEV_RECORDS] __ro_after_init;
static u64 records __ro_after_init;

/**
 * utrace_dev_add_records() - register types of records of /dev/utrace
 * @record: the types
 * @n: number of types
 *
 * After an error the types before the refused one are registered.
 *
 * Context: An initcall before device_initcall().
 * Return:
 * * 0 - sessions may ask for all these records
 * * -EINVAL - utrace_ioc_events has no bit for a type, or the device writes
 *   the type unasked
 * * -EBUSY - a type is taken already, or an event that a type needs is, by an
 *   earlier call
 */
int __init utrace_dev_add_records(const struct utrace_dev_record *record,
				  unsigned int n)
{
	unsigned long taken = utrace_dev_engine_events(records);

	for (; n--; record++) {
		if (WARN_ON(record->type >= UTRACE_DEV_RECORDS ||
			    BIT_ULL(record->type) & UTRACE_DEV_OWN))
			return -EINVAL;
		if (WARN_ON(records & BIT_ULL(record->type) ||
			    taken & record->events))
			return -EBUSY;
		record_events[record->type] = record->events;
		records |= BIT_ULL(record->type);
	}
	return 0;
}

/**
 * utrace_dev_records() - types of records that sessions may ask for
 *
 * Context: Any.
 * Return: UTRACE_REC_BIT() bits.
 */
u64 utrace_dev_records(void)
{
	return records;
}

/**
 * utrace_dev_engine_events() - events that an engine must report for records
 * @asked: UTRACE_REC_BIT() bits of the records that a session asks for
 *
 * Context: Any.
 * Return: UTRACE_EVENT() bits.
 */
unsigned long utrace_dev_engine_events(u64 asked)
{
	unsigned long all = 0;
	unsigned int type;

	for (type = 0; type < UTRACE_DEV_RECORDS; type++)
		if (asked & BIT_ULL(type))
			all |= record_events[type];
	return all;
}

/* Ioctls */

/*
 * Find the command of an ioctl by type, number and direction; NULL: there is
 * none.  The size may be another one, see session_ioctl().
 */
static const struct utrace_dev_command *session_command_of(unsigned int cmd)
{
	unsigned int nr = _IOC_NR(cmd);
	const struct utrace_dev_command *command;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
	    nr >= UTRACE_DEV_COMMANDS)
		return NULL;
	command = commands[array_index_nospec(nr, UTRACE_DEV_COMMANDS)];
	return command && _IOC_DIR(cmd) == _IOC_DIR(command->cmd) ? command : NULL;
}

/* Run a command, under utrace_session.lock if it asks for that. */
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

/**
 * utrace_dev_get_arg() - copy the argument of an ioctl from a program
 * @command: the command
 * @cmd: the ioctl, with the size of the program's structure
 * @user: the program's structure
 * @copy: as many bytes as the kernel's structure has, full of zeros
 *
 * The program's structure may be another version than the kernel's.  A smaller one,
 * down to the first version, is extended with zeros.  A larger one must have zeros in
 * the rest.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int utrace_dev_get_arg(const struct utrace_dev_command *command,
		       unsigned int cmd, const void __user *user, void *copy)
{
	unsigned int size = _IOC_SIZE(cmd);

	if (size < command->first)
		return -EINVAL;
	if (size > SESSION_ARG_MAX)
		return -E2BIG;
	if (!(_IOC_DIR(cmd) & _IOC_WRITE))
		return 0;
	return copy_struct_from_user(copy, _IOC_SIZE(command->cmd), user, size);
}

/**
 * utrace_dev_put_arg() - copy the argument of an ioctl back, if the ioctl does so
 * @command: the command
 * @cmd: see utrace_dev_get_arg()
 * @user: see utrace_dev_get_arg()
 * @copy: see utrace_dev_get_arg()
 *
 * If the program's structure is larger, the rest of it is cleared.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0 or -EFAULT.
 */
int utrace_dev_put_arg(const struct utrace_dev_command *command,
		       unsigned int cmd, void __user *user, const void *copy)
{
	unsigned int size = _IOC_SIZE(cmd), known = _IOC_SIZE(command->cmd);

	if (!(_IOC_DIR(cmd) & _IOC_READ))
		return 0;
	if (copy_to_user(user, copy, min(size, known)) ||
	    (size > known && clear_user(user + known, size - known)))
		return -EFAULT;
	return 0;
}

static long session_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	const struct utrace_dev_command *command = session_command_of(cmd);
	struct utrace_session *session = file->private_data;
	u64 copy[UTRACE_DEV_ARG_SIZE / sizeof(u64)] = {};
	void __user *user = (void __user *)arg;
	int ret, error;

	if (!command)
		return -ENOTTY;
	ret = utrace_dev_get_arg(command, cmd, user, copy);
	ret = ret ?: session_run(session, command, copy);
	if (ret < 0)
		return ret;
	error = utrace_dev_put_arg(command, cmd, user, copy);
	if (error && command->undo)
		command->undo(session, copy);
	return error ?: ret;
}

static const struct file_operations session_fops = {
	.owner		= THIS_MODULE,
	.open		= session_open,
	.mmap		= session_mmap,
	.flush		= session_flush,
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
static int session_set_unprivileged(const struct ctl_table *table, int write,
				    void *buffer, size_t *lenp, loff_t *ppos)
{
	int ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	if (write && !ret)
		utrace_viewers_changed();
	return ret;
}

static struct ctl_table session_sysctls[] = {
	{
		.procname	= "unprivileged",
		.data		= &utrace_unprivileged,
		.maxlen		= sizeof(utrace_unprivileged),
		.mode		= 0644,
		.proc_handler	= session_set_unprivileged,
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

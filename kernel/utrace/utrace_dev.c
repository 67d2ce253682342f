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
 * The commands are in one table here, with those of other clients
 * (utrace_dev.h).
 */
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/uaccess.h>
#include <uapi/linux/utrace_branch.h>
#include <uapi/linux/utrace_marker.h>

#include "dev/count.h"

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
	utrace_reader_start(&session->reader);
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

static ssize_t session_read(struct file *file, char __user *to, size_t size,
			    loff_t *ppos)
{
	struct utrace_session *session = file->private_data;

	/* A read of 0 bytes fails, as each read too small for a record does. */
	return size ? utrace_reader_read(&session->reader, file, to, size) :
		      -EINVAL;
}

static __poll_t session_poll(struct file *file, struct poll_table_struct *table)
{
	struct utrace_session *session = file->private_data;
	__poll_t mask = utrace_reader_poll(&session->reader, file, table);

	if (atomic_read(&session->nchanged))
		mask |= EPOLLPRI;
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

/**
 * struct session_command - an ioctl of /dev/utrace
 * @size: bytes of its argument, as this kernel knows it
 * @first: bytes of the argument when the ioctl was first published; programs
 *	may pass that size or more
 * @locked: call @run with utrace_session.lock held.  Such a @run must not touch
 *	user memory, whose page faults user space may hold up
 * @reads: copy the argument from the program; else only its size is checked
 * @writes: copy the argument back if @run has succeeded
 * @run: carry the ioctl out.  Its argument is a copy in kernel memory.
 *	@session is valid until @run returns.  Returns an error or what the ioctl
 *	is to return.
 * @undo: called without a lock if the argument cannot be copied back; may be
 *	NULL
 */
struct session_command {
	unsigned int size;
	unsigned int first;
	bool locked;
	bool reads;
	bool writes;
	int (*run)(struct utrace_session *session, void *arg);
	void (*undo)(struct utrace_session *session, const void *arg);
};

#define SESSION_COMMAND(name, function, ...)				\
	[_IOC_NR(UTRACE_IOC_##name)] = {				\
		.size	= _IOC_SIZE(UTRACE_IOC_##name) +		\
			  BUILD_BUG_ON_ZERO(_IOC_SIZE(UTRACE_IOC_##name) > \
					    UTRACE_DEV_ARG_SIZE),	\
		.first	= UTRACE_IOC_##name##_SIZE_VER0,		\
		.run	= function,					\
		__VA_ARGS__						\
	}

/* By ioctl number. */
static const struct session_command commands[] = {
	SESSION_COMMAND(INFO, utrace_dev_info, .writes = true),
	SESSION_COMMAND(SETUP, utrace_dev_setup, .reads = true, .locked = true),
	SESSION_COMMAND(ATTACH, utrace_dev_attach, .reads = true,
			.writes = true, .locked = true,
			.undo = utrace_dev_undo_attach),
	SESSION_COMMAND(DETACH, utrace_dev_detach, .reads = true),
	SESSION_COMMAND(EVENTS, utrace_dev_set_events, .reads = true,
			.writes = true),
	SESSION_COMMAND(COUNTS, utrace_dev_read_counts, .reads = true,
			.writes = true),
	SESSION_COMMAND(IN_FLIGHT, utrace_dev_in_flight, .reads = true,
			.writes = true, .locked = true),
#ifdef CONFIG_UTRACE_BTS
	SESSION_COMMAND(BRANCHES, utrace_bts_file_make, .reads = true),
#endif
#ifdef CONFIG_UTRACE_MARKERS
	SESSION_COMMAND(ARM, utrace_marker_ioc_arm, .reads = true,
			.writes = true, .undo = utrace_marker_undo_arm),
	SESSION_COMMAND(DISARM, utrace_marker_ioc_disarm, .reads = true),
	SESSION_COMMAND(LIST, utrace_marker_ioc_list, .reads = true,
			.writes = true),
	SESSION_COMMAND(HITS, utrace_marker_ioc_hits, .reads = true,
			.writes = true),
#endif
};

/* Ioctls */

/**
 * utrace_dev_check_size() - check the size of a structure of a program
 * @first: bytes of the structure when it was first published
 * @size: bytes of the program's structure
 *
 * Context: Any.
 * Return: 0, -EINVAL or -E2BIG.
 */
int utrace_dev_check_size(unsigned int first, unsigned int size)
{
	if (size < first)
		return -EINVAL;
	return size > SESSION_ARG_MAX ? -E2BIG : 0;
}

/**
 * utrace_dev_get_struct() - copy a structure from a program
 * @copy: @known bytes, full of zeros
 * @known: bytes of the structure, as this kernel knows it
 * @first: bytes of the structure when it was first published
 * @user: the program's structure
 * @size: bytes of the program's structure
 *
 * The program's structure may be another version than the kernel's.  A smaller one,
 * down to the first version, is extended with zeros.  A larger one must have zeros in
 * the rest.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0, -EINVAL, -E2BIG or -EFAULT.
 */
int utrace_dev_get_struct(void *copy, unsigned int known, unsigned int first,
			  const void __user *user, unsigned int size)
{
	int ret = utrace_dev_check_size(first, size);

	return ret ?: copy_struct_from_user(copy, known, user, size);
}

/**
 * utrace_dev_put_struct() - copy a structure to a program
 * @user: the program's structure
 * @size: bytes of the program's structure
 * @copy: the structure
 * @known: bytes of the structure, as this kernel knows it
 *
 * If the program's structure is larger, the rest of it is cleared.
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0 or -EFAULT.
 */
int utrace_dev_put_struct(void __user *user, unsigned int size,
			  const void *copy, unsigned int known)
{
	if (copy_to_user(user, copy, min(size, known)) ||
	    (size > known && clear_user(user + known, size - known)))
		return -EFAULT;
	return 0;
}

/**
 * utrace_dev_check_rows() - check the description of an array
 * @rows: what the program has passed
 * @first: bytes of an element when it was first published
 *
 * Context: Any.
 * Return: 0, -EINVAL or -E2BIG.
 */
int utrace_dev_check_rows(const struct utrace_rows *rows, unsigned int first)
{
	return rows->reserved ? -EINVAL :
				utrace_dev_check_size(first, rows->size);
}

/**
 * utrace_dev_put_rows() - copy elements to an array of a program
 * @rows: the array, which utrace_dev_check_rows() has checked
 * @at: index of the first element
 * @elements: the elements
 * @n: number of elements
 * @known: bytes of an element, as this kernel knows it
 *
 * Context: Process context; sleeps for page faults.
 * Return: 0 or -EFAULT.
 */
int utrace_dev_put_rows(const struct utrace_rows *rows, unsigned int at,
			const void *elements, unsigned int n, size_t known)
{
	void __user *to = u64_to_user_ptr(rows->at) + (size_t)at * rows->size;
	int ret = 0;

	if (rows->size == known)
		return copy_to_user(to, elements, n * known) ? -EFAULT : 0;
	for (; n-- && !ret; to += rows->size, elements += known)
		ret = utrace_dev_put_struct(to, rows->size, elements, known);
	return ret;
}

/* Run a command, under utrace_session.lock if it asks for that. */
static int session_run(struct utrace_session *session,
		       const struct session_command *command, void *arg)
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

static int session_do(struct utrace_session *session,
		      const struct session_command *command, unsigned int cmd,
		      void __user *user)
{
	u64 copy[UTRACE_DEV_ARG_SIZE / sizeof(u64)] = {};
	int ret, error;

	if (command->reads)
		ret = utrace_dev_get_struct(copy, command->size, command->first,
					    user, _IOC_SIZE(cmd));
	else
		ret = utrace_dev_check_size(command->first, _IOC_SIZE(cmd));
	ret = ret ?: session_run(session, command, copy);
	if (ret < 0 || !command->writes)
		return ret;
	error = utrace_dev_put_struct(user, _IOC_SIZE(cmd), copy, command->size);
	if (error && command->undo)
		command->undo(session, copy);
	return error ?: ret;
}

static long session_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	unsigned int nr = array_index_nospec(_IOC_NR(cmd), ARRAY_SIZE(commands));

	/* A program may have another version of the structure.  Ignore the direction. */
	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
	    _IOC_NR(cmd) >= ARRAY_SIZE(commands) || !commands[nr].run)
		return -ENOTTY;
	return session_do(file->private_data, &commands[nr], cmd,
			  (void __user *)arg);
}

/* Markers of the system are seen nowhere else. */
static void session_show_fdinfo(struct seq_file *m, struct file *file)
{
	utrace_dev_show(m, file->private_data);
}

static const struct file_operations session_fops = {
	.owner		= THIS_MODULE,
	.open		= session_open,
	.mmap		= session_mmap,
	.flush		= session_flush,
	.release	= session_release,
	.show_fdinfo	= session_show_fdinfo,
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

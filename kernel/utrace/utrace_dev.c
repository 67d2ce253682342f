// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - /dev/utrace: sessions of user programs
 *
 * An open file is a session (dev/session.h), an ordinary client of utrace.
 * Each target has an engine, whose callbacks write records into the session's
 * rings (dev/calls.c, dev/events.c, dev/ring.c); read() merges them
 * (dev/stream.c).  A record that finds no room is lost, or is parked
 * (dev/park.c) while its task waits for the reader (dev/hold.c).  Rights are
 * checked at each attach (dev/target.c), and again for each task whenever its
 * rights change (dev/task.c).
 *
 * The table of commands here also has those of other clients (utrace_dev.h).
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

static int session_open(struct inode *inode, struct file *file)
{
	struct utrace_session *session;

	/*
	 * capable() checks the initial user namespace: in its own namespace
	 * every program has all capabilities.
	 */
	if (!READ_ONCE(utrace_unprivileged) && !capable(CAP_SYS_PTRACE))
		return -EPERM;
	session = utrace_dev_new(file->f_cred, &utrace_dev_reader_ops);
	if (!session)
		return -ENOMEM;
	utrace_reader_start(&session->reader);
	file->private_data = session;
	return stream_open(inode, file);
}

/*
 * Does not wait for running callbacks: they write into a ring without a reader,
 * and the last reference to the session frees it.
 */
static int session_release(struct inode *inode, struct file *file)
{
	struct utrace_session *session = file->private_data;

	/*
	 * Otherwise a waiting task would keep its reference to the session
	 * forever.
	 */
	utrace_reader_end(&session->reader);
	utrace_dev_detach_all(session);
	utrace_dev_put(session);
	return 0;
}

static ssize_t session_read(struct file *file, char __user *to, size_t size,
			    loff_t *ppos)
{
	struct utrace_session *session = file->private_data;

	/* A read of 0 bytes fails, like each read too small for a record. */
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
 * @locked: call @run with utrace_session.lock held.  Such a @run must not
 *	access user memory, since user space may delay the page fault
 * @reads: copy the argument from the program; else only check its size
 * @writes: copy the argument back if @run succeeds
 * @run: execute the ioctl.  Its argument is a copy in kernel memory.  @session
 *	is valid until @run returns.  Returns an error or the result of the
 *	ioctl.
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

/* Indexed by ioctl number. */
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
	SESSION_COMMAND(BRANCHES, utrace_branch_file_make, .reads = true),
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

/* Run a command, under utrace_session.lock if it has ->locked set. */
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

	/*
	 * A program may have another version of the structure.  Ignore the
	 * direction.
	 */
	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_INFO) ||
	    _IOC_NR(cmd) >= ARRAY_SIZE(commands) || !commands[nr].run)
		return -ENOTTY;
	return session_do(file->private_data, &commands[nr], cmd,
			  (void __user *)arg);
}

/* fdinfo is the only place that shows markers of the system. */
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

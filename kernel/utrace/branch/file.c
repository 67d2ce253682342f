// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers that are descriptors of programs
 *
 * UTRACE_IOC_BRANCHES makes the consumer.  Threads wait for the process that
 * reads.  When that process closes its last descriptor of the consumer, they
 * continue without a reader.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/security.h>

#include "../utrace_dev.h"
#include "../viewer.h"
#include "attach.h"
#include "consumer.h"
#include "cpu.h"
#include "ring.h"

static int branch_flush(struct file *file, fl_owner_t id)
{
	struct bts_consumer *consumer = file->private_data;

	utrace_reader_flush(&consumer->reader, file, id);
	return 0;
}

static ssize_t branch_read(struct file *file, char __user *to, size_t size,
			   loff_t *ppos)
{
	struct bts_consumer *consumer = file->private_data;

	if (size < sizeof(struct utrace_branch) || consumer->ring.shared)
		return -EINVAL;
	return utrace_reader_read(&consumer->reader, file, to, size);
}

static __poll_t branch_poll(struct file *file, struct poll_table_struct *table)
{
	struct bts_consumer *consumer = file->private_data;

	return utrace_reader_poll(&consumer->reader, file, table);
}

static int branch_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct bts_consumer *consumer = file->private_data;
	int ret = utrace_branch_ring_map(consumer, vma);

	if (!ret)
		utrace_reader_be(&consumer->reader, file);
	return ret;
}

static long branch_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct utrace_ioc_branch_info info = {};
	void __user *user = (void __user *)arg;
	int ret;

	if (_IOC_TYPE(cmd) != _IOC_TYPE(UTRACE_IOC_BRANCH_INFO) ||
	    _IOC_NR(cmd) != _IOC_NR(UTRACE_IOC_BRANCH_INFO))
		return -ENOTTY;
	ret = utrace_dev_check_size(UTRACE_IOC_BRANCH_INFO_SIZE_VER0,
				    _IOC_SIZE(cmd));
	if (ret)
		return ret;
	utrace_branch_consumer_info(file->private_data, &info);
	return utrace_dev_put_struct(user, _IOC_SIZE(cmd), &info, sizeof(info));
}

static int branch_release(struct inode *inode, struct file *file)
{
	utrace_branch_consumer_close(file->private_data);
	utrace_branch_consumer_release(file->private_data);
	return 0;
}

static const struct file_operations branch_fops = {
	.owner		= THIS_MODULE,
	.read		= branch_read,
	.poll		= branch_poll,
	.mmap		= branch_mmap,
	.unlocked_ioctl	= branch_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.flush		= branch_flush,
	.release	= branch_release,
	.llseek		= noop_llseek,
};

/* Install a descriptor for the consumer. */
static int branch_install(struct bts_consumer *consumer)
{
	struct file *file;
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		return fd;
	file = anon_inode_getfile("[utrace-branches]", &branch_fops, consumer,
				  O_RDWR);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

/*
 * Check whether current's credentials may observe the kernel or a CPU.
 * Security modules get the requests of perf_event_open(2).
 */
static bool branch_may_observe(const struct utrace_branches_want *want,
			       bool cpu)
{
	if (!perfmon_capable())
		return false;
#ifdef CONFIG_PERF_EVENTS
	if (security_perf_event_open(PERF_SECURITY_OPEN) ||
	    (cpu && security_perf_event_open(PERF_SECURITY_CPU)) ||
	    (want->levels & UTRACE_LEVEL_KERNEL &&
	     security_perf_event_open(PERF_SECURITY_KERNEL)))
		return false;
#endif
	return true;
}

/* Check whether the opener of the device may observe what the caller wants. */
static bool branch_opener_may_observe(const struct cred *opener,
				      const struct utrace_branches_want *want,
				      bool cpu)
{
	const struct cred *old = override_creds(opener);
	bool may = branch_may_observe(want, cpu);

	revert_creds(old);
	return may;
}

/*
 * Check the permission to observe the system, which is needed to observe the
 * kernel, and to use a source that has one user at a time.  The stream of a CPU
 * contains the pids of all tasks, so its reader must be in the initial pid
 * namespace.
 */
static int branch_may_use(struct utrace_session *session,
			  const struct utrace_branches_want *want, int source,
			  bool cpu)
{
	bool recorded = source != UTRACE_BRANCH_SOURCE_STEP;

	if (cpu && utrace_dev_ns(session) != &init_pid_ns)
		return -EPERM;
	if (recorded && !branch_opener_may_observe(utrace_dev_cred(session),
						   want, cpu))
		return -EPERM;
	if ((recorded || want->levels & UTRACE_LEVEL_KERNEL) &&
	    !branch_may_observe(want, cpu))
		return -EPERM;
	return 0;
}

static int branch_attach_to(struct bts_consumer *consumer,
			    const struct utrace_where *where)
{
	struct task_struct *task;
	int ret;

	if (where->scope == UTRACE_SCOPE_CPU)
		return utrace_branch_cpu_attach(consumer, where->cpu);
	task = utrace_dev_task_of(where->fd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = utrace_branch_consumer_attach(consumer, task, where->scope);
	put_task_struct(task);
	return ret;
}

/**
 * utrace_branch_sources() - get the sources of this machine
 *
 * Context: Any.
 * Return: UTRACE_BRANCH_SOURCE_BIT() bits.
 */
u32 utrace_branch_sources(void)
{
	unsigned int recorder = utrace_branch_cpu_source();

	return UTRACE_BRANCH_SOURCE_BIT(STEP) | (recorder ? BIT(recorder) : 0);
}

#define BRANCH_SCOPES	(UTRACE_SCOPE_BIT(THREAD) | \
			 UTRACE_SCOPE_BIT(PROCESS) | \
			 UTRACE_SCOPE_BIT(TREE) | UTRACE_SCOPE_BIT(CPU))

/* Check whether the members are valid and consistent. */
static bool branch_is_valid(const struct utrace_ioc_branches *arg)
{
	if (!utrace_dev_where_is_valid(&arg->where) ||
	    !(BIT(arg->where.scope) & BRANCH_SCOPES) ||
	    arg->flags & ~UTRACE_BRANCHES_F_MAPPED)
		return false;
	/*
	 * A program could not detect that a record is overwritten while it
	 * reads.  The records of a CPU are copied to the reader on demand.
	 */
	return !arg->flags || (arg->where.scope != UTRACE_SCOPE_CPU &&
			       arg->full != UTRACE_FULL_OVERWRITE);
}

/**
 * utrace_branch_file_make() - handle %UTRACE_IOC_BRANCHES
 * @session: the session through which the program asks
 * @arg: struct utrace_ioc_branches, in kernel memory
 *
 * Context: Process context without locks; may sleep.
 * Return: a descriptor, or an error of UTRACE_IOC_BRANCHES.
 */
int utrace_branch_file_make(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_branches *branches = arg;
	const struct utrace_branches_want want = {
		.levels = branches->levels,
		.full = branches->full,
		.capacity = branches->capacity,
		.source = branches->source,
	};
	bool cpu = branches->where.scope == UTRACE_SCOPE_CPU;
	struct bts_consumer *consumer;
	int source, ret;

	if (!branch_is_valid(branches))
		return -EINVAL;
	source = utrace_branch_check(&want, cpu);
	if (source < 0)
		return source;
	ret = branch_may_use(session, &want, source, cpu);
	if (ret)
		return ret;
	consumer = utrace_branch_consumer_new(&want, source, cpu, session);
	if (IS_ERR(consumer))
		return PTR_ERR(consumer);
	ret = branches->flags & UTRACE_BRANCHES_F_MAPPED ?
	      utrace_branch_ring_share(&consumer->ring) : 0;
	ret = ret ?: branch_attach_to(consumer, &branches->where);
	if (ret) {
		utrace_branch_consumer_put(consumer);
		return ret;
	}
	ret = branch_install(consumer);
	if (ret < 0) {
		utrace_branch_consumer_close(consumer);
		utrace_branch_consumer_release(consumer);
	}
	return ret;
}

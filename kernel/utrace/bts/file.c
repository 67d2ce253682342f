// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers that are descriptors of programs
 *
 * UTRACE_IOC_BRANCHES makes the consumer.  The process that reads is the one that
 * its threads wait for; they go on without a reader when it closes the last
 * descriptor that it has.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../utrace_dev.h"
#include "bts.h"

/*
 * A process closes a descriptor.  If the process is the reader and has no other
 * descriptor of the consumer, the threads go on without a reader: another
 * process that has inherited the descriptor may be one of them.
 */
static int bts_flush(struct file *file, fl_owner_t id)
{
	struct bts_consumer *consumer = file->private_data;

	if (READ_ONCE(consumer->reader) != task_tgid(current) ||
	    !utrace_dev_closes_last(file, id))
		return 0;
	utrace_bts_set_reader(consumer, NULL);
	utrace_bts_let_go(consumer);
	return 0;
}

/* Reading */

/*
 * Copy records to user memory, by way of the memory of @piece.  A record is taken
 * when the program has it.  Returns how many, or an error if none.
 */
static ssize_t bts_copy_pieces(struct bts_consumer *consumer, char __user *to,
			       size_t records, struct bts_piece *piece)
{
	const size_t size = sizeof(*piece->records);
	ssize_t done = 0;
	int n;

	do {
		n = utrace_bts_look(consumer, piece,
			     min_t(size_t, records - done, BTS_PIECE));
		if (n <= 0)
			break;
		if (copy_to_user(to + done * size, piece->records, n * size)) {
			n = -EFAULT;
			break;
		}
		utrace_bts_take(consumer, piece);
		done += n;
		cond_resched();
	} while (done < records && !signal_pending(current));
	return done ?: n;
}

/* Readers take turns.  One of them may be in a page fault that nobody answers. */
static int bts_lock_readers(struct bts_consumer *consumer, bool nonblock)
{
	if (!nonblock)
		return mutex_lock_interruptible(&consumer->read_lock);
	return mutex_trylock(&consumer->read_lock) ? 0 : -EAGAIN;
}

static ssize_t bts_copy(struct bts_consumer *consumer, char __user *to,
			size_t records, bool nonblock)
{
	struct bts_piece piece;
	ssize_t ret;

	piece.records = kmalloc_array(BTS_PIECE, sizeof(*piece.records),
				      GFP_KERNEL);
	if (!piece.records)
		return -ENOMEM;
	ret = bts_lock_readers(consumer, nonblock);
	if (!ret) {
		ret = bts_copy_pieces(consumer, to, records, &piece);
		mutex_unlock(&consumer->read_lock);
	}
	kfree(piece.records);
	return ret;
}

static ssize_t bts_read(struct file *file, char __user *to, size_t size,
			loff_t *ppos)
{
	struct bts_consumer *consumer = file->private_data;
	size_t records = size / sizeof(struct utrace_branch);
	bool nonblock = file->f_flags & O_NONBLOCK;
	ssize_t ret;
	bool over;

	if (!records)
		return -EINVAL;
	for (;;) {
		if (utrace_bts_ring_is_mapped(&consumer->ring))
			return -EBUSY;
		utrace_bts_set_reader(consumer, task_tgid(current));
		/* Before the look for records, of which one may be the last. */
		over = utrace_bts_is_over(consumer);
		ret = bts_copy(consumer, to, records, nonblock);
		if (ret > 0)
			utrace_bts_let_go(consumer);
		if (ret || over)
			return ret < 0 ? ret :
			       ret * sizeof(struct utrace_branch);
		if (nonblock)
			return -EAGAIN;
		ret = wait_event_interruptible(consumer->wait,
					       utrace_bts_ring_has(&consumer->ring) ||
					       utrace_bts_is_over(consumer));
		if (ret)
			return ret;
	}
}

/* A program that reads from memory may have made room. */
static void bts_sync(struct bts_consumer *consumer)
{
	if (!utrace_bts_ring_is_mapped(&consumer->ring))
		return;
	scoped_guard(mutex, &consumer->lock)
		utrace_bts_ring_sync(&consumer->ring);
	utrace_bts_let_go(consumer);
}

static __poll_t bts_poll(struct file *file, struct poll_table_struct *table)
{
	struct bts_consumer *consumer = file->private_data;
	__poll_t mask = 0;

	utrace_bts_set_reader(consumer, task_tgid(current));
	poll_wait(file, &consumer->wait, table);
	bts_sync(consumer);
	/* Before the look for records, of which one may be the last. */
	if (utrace_bts_is_over(consumer))
		mask |= EPOLLHUP;
	if (utrace_bts_ring_has(&consumer->ring))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

static int bts_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct bts_consumer *consumer = file->private_data;

	utrace_bts_set_reader(consumer, task_tgid(current));
	return utrace_bts_ring_map(consumer, vma);
}

static int bts_release(struct inode *inode, struct file *file)
{
	utrace_bts_close(file->private_data);
	utrace_bts_release(file->private_data);
	return 0;
}

static const struct file_operations bts_fops = {
	.owner		= THIS_MODULE,
	.read		= bts_read,
	.poll		= bts_poll,
	.mmap		= bts_mmap,
	.flush		= bts_flush,
	.release	= bts_release,
	.llseek		= noop_llseek,
};

/* Give the consumer a descriptor. */
static int bts_install(struct bts_consumer *consumer)
{
	struct file *file;
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		return fd;
	file = anon_inode_getfile("[utrace-branches]", &bts_fops, consumer,
				  O_RDWR);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

static int bts_check(const struct utrace_ioc_branches *arg,
		     const struct utrace_branches_want *want)
{
	int ret = utrace_bts_check(want, arg->scope);

	if (ret)
		return ret;
	if (arg->source > UTRACE_BRANCH_SOURCE_STEP)
		return -EINVAL;
	/* What the kernel does is for who may observe the whole system. */
	if (want->levels & UTRACE_BRANCHES_KERNEL && !perfmon_capable())
		return -EPERM;
	return 0;
}

/**
 * utrace_bts_file_make() - %UTRACE_IOC_BRANCHES
 * @session: the session through which the program asks
 * @arg: struct utrace_ioc_branches
 *
 * Context: Process context without locks; may sleep.
 * Return: a descriptor, or an error that is described with &struct
 * utrace_ioc_branches.
 */
int utrace_bts_file_make(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_branches *branches = arg;
	const struct utrace_branches_want want = {
		.levels = branches->levels,
		.mode = branches->mode,
		.full = branches->full,
		.records = branches->records,
	};
	struct bts_consumer *consumer;
	struct task_struct *task;
	int ret = bts_check(branches, &want);

	if (ret)
		return ret;
	task = utrace_dev_task_of(branches->pidfd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	consumer = utrace_bts_consumer_new(&want, session);
	if (IS_ERR(consumer)) {
		put_task_struct(task);
		return PTR_ERR(consumer);
	}
	ret = utrace_bts_attach(consumer, task, branches->scope);
	put_task_struct(task);
	if (ret) {
		utrace_bts_consumer_put(consumer);
		return ret;
	}
	ret = bts_install(consumer);
	if (ret < 0) {
		utrace_bts_close(consumer);
		utrace_bts_release(consumer);
	}
	return ret;
}

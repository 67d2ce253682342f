// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers, which are descriptors of programs
 *
 * UTRACE_IOC_BRANCHES makes a consumer and attaches its engine.  The threads
 * that the engine covers join at their next safe point (bts_engine.c).
 */
#include <linux/anon_inodes.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "../utrace_dev.h"
#include "bts.h"

static const int bts_scopes[] = {
	[UTRACE_SCOPE_THREAD]	= 0,
	[UTRACE_SCOPE_PROCESS]	= UTRACE_ATTACH_PROCESS,
	[UTRACE_SCOPE_TREE]	= UTRACE_ATTACH_TREE,
};

static void bts_consumer_free(struct kref *ref)
{
	struct bts_consumer *consumer = container_of(ref, struct bts_consumer,
						     ref);

	utrace_bts_ring_free(&consumer->ring);
	put_pid(consumer->reader);
	put_pid_ns(consumer->ns);
	put_cred(consumer->cred);
	put_cred(consumer->opener);
	kfree(consumer);
}

/**
 * utrace_bts_consumer_put() - drop a reference to a consumer
 * @consumer: the consumer
 *
 * Context: Any.
 */
void utrace_bts_consumer_put(struct bts_consumer *consumer)
{
	kref_put(&consumer->ref, bts_consumer_free);
}

/* The reader */

/**
 * utrace_bts_reader() - the process that threads of a consumer wait for
 * @consumer: the consumer
 *
 * Context: Process context.  Takes bts_consumer.wait_lock.
 * Return: the process, with a reference for the caller, or NULL.
 */
struct pid *utrace_bts_reader(struct bts_consumer *consumer)
{
	guard(spinlock_irqsave)(&consumer->wait_lock);
	return get_pid(consumer->reader);
}

/* The process @reader reads from here on; NULL: none does. */
static void bts_set_reader(struct bts_consumer *consumer, struct pid *reader)
{
	struct pid *old;

	if (likely(READ_ONCE(consumer->reader) == reader))
		return;
	get_pid(reader);
	scoped_guard(spinlock_irqsave, &consumer->wait_lock) {
		old = consumer->reader;
		WRITE_ONCE(consumer->reader, reader);
	}
	put_pid(old);
}

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
	bts_set_reader(consumer, NULL);
	utrace_bts_let_go(consumer);
	return 0;
}

/* Reading */

/* Look at what comes next.  Returns how many records, or an error. */
static int bts_look(struct bts_consumer *consumer, struct bts_piece *piece,
		    unsigned int n)
{
	guard(mutex)(&consumer->lock);
	return utrace_bts_ring_look(&consumer->ring, piece, n);
}

/* The reader has got the records. */
static void bts_take(struct bts_consumer *consumer,
		     const struct bts_piece *piece)
{
	guard(mutex)(&consumer->lock);
	utrace_bts_ring_take(&consumer->ring, piece);
}

/* Can no record come any more?  Records may be left to read. */
static bool bts_is_over(const struct bts_consumer *consumer)
{
	return !utrace_has_living(consumer->engine);
}

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
		n = bts_look(consumer, piece,
			     min_t(size_t, records - done, BTS_PIECE));
		if (n <= 0)
			break;
		if (copy_to_user(to + done * size, piece->records, n * size)) {
			n = -EFAULT;
			break;
		}
		bts_take(consumer, piece);
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
		bts_set_reader(consumer, task_tgid(current));
		/* Before the look for records, of which one may be the last. */
		over = bts_is_over(consumer);
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
					       bts_is_over(consumer));
		if (ret)
			return ret;
	}
}

static __poll_t bts_poll(struct file *file, struct poll_table_struct *table)
{
	struct bts_consumer *consumer = file->private_data;
	__poll_t mask = 0;

	bts_set_reader(consumer, task_tgid(current));
	poll_wait(file, &consumer->wait, table);
	if (bts_is_over(consumer))
		mask |= EPOLLHUP;
	if (utrace_bts_ring_has(&consumer->ring))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

/* The threads leave by themselves, at their next record or their end. */
static void bts_close(struct bts_consumer *consumer)
{
	int ret;

	scoped_guard(spinlock_irqsave, &consumer->wait_lock)
		WRITE_ONCE(consumer->closed, true);
	bts_set_reader(consumer, NULL);
	utrace_bts_let_go(consumer);
	/* Threads may keep the consumer for long, in a system call. */
	shmem_truncate_range(file_inode(consumer->ring.pages), 0, -1);
	ret = utrace_control(NULL, consumer->engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	utrace_engine_put(consumer->engine);
	utrace_bts_consumer_put(consumer);
}

static int bts_release(struct inode *inode, struct file *file)
{
	bts_close(file->private_data);
	return 0;
}

static const struct file_operations bts_fops = {
	.owner		= THIS_MODULE,
	.read		= bts_read,
	.poll		= bts_poll,
	.flush		= bts_flush,
	.release	= bts_release,
	.llseek		= noop_llseek,
};

/* Making */

static struct bts_consumer *
bts_consumer_new(struct utrace_session *session,
		 const struct utrace_ioc_branches *arg)
{
	struct bts_consumer *consumer = kzalloc(sizeof(*consumer),
						GFP_KERNEL_ACCOUNT);
	int ret;

	if (!consumer)
		return ERR_PTR(-ENOMEM);
	ret = utrace_bts_ring_init(&consumer->ring, arg->records,
				   arg->mode == UTRACE_BRANCHES_LAST);
	if (ret) {
		kfree(consumer);
		return ERR_PTR(ret);
	}
	kref_init(&consumer->ref);
	consumer->opener = get_cred(utrace_dev_cred(session));
	consumer->cred = get_current_cred();
	consumer->ns = get_pid_ns(utrace_dev_ns(session));
	consumer->reader = get_pid(task_tgid(current));
	consumer->stop = arg->mode == UTRACE_BRANCHES_ALL &&
			 arg->full != UTRACE_FULL_DROP;
	mutex_init(&consumer->read_lock);
	mutex_init(&consumer->lock);
	init_waitqueue_head(&consumer->wait);
	spin_lock_init(&consumer->wait_lock);
	INIT_LIST_HEAD(&consumer->waiting);
	return consumer;
}

static bool bts_may_trace(struct task_struct *task, void *data)
{
	struct bts_consumer *consumer = data;

	if (task->exit_state)
		return true;
	/* A reader that waits for itself. */
	if (consumer->stop && same_thread_group(task, current))
		consumer->deadlock = true;
	return !consumer->deadlock &&
	       utrace_dev_may_trace(consumer->opener, task);
}

/* Attach the engine, and have each thread pass its safe point. */
static int bts_attach(struct bts_consumer *consumer, struct task_struct *task,
		      u32 scope)
{
	struct utrace_engine *engine;
	int ret;

	engine = utrace_attach_for(consumer->opener, task,
				   UTRACE_ATTACH_OBSERVER |
				   UTRACE_ATTACH_OWN_EVENTS | bts_scopes[scope],
				   &utrace_bts_ops, consumer, bts_may_trace,
				   consumer);
	if (IS_ERR(engine))
		return consumer->deadlock ? -EDEADLK : PTR_ERR(engine);
	kref_get(&consumer->ref);
	consumer->engine = engine;
	utrace_set_owner(engine, task_tgid(current));
	ret = utrace_set_events(NULL, engine, UTRACE_EVENT(QUIESCE) |
					      UTRACE_EVENT(CLONE) |
					      UTRACE_EVENT(EXEC) |
					      UTRACE_EVENT(EXIT) |
					      UTRACE_EVENT(DEATH));
	if (!ret || ret == -EINPROGRESS)
		ret = utrace_control(NULL, engine, UTRACE_REPORT);
	if (!ret || ret == -EINPROGRESS)
		return 0;
	(void)!utrace_control(NULL, engine, UTRACE_DETACH);
	utrace_engine_put(engine);
	return ret == -EALREADY ? -ESRCH : ret;
}

/* Give the consumer a descriptor. */
static int bts_install(struct bts_consumer *consumer)
{
	struct file *file;
	int fd = get_unused_fd_flags(O_CLOEXEC);

	if (fd < 0)
		return fd;
	file = anon_inode_getfile("[utrace-branches]", &bts_fops, consumer,
				  O_RDONLY);
	if (IS_ERR(file)) {
		put_unused_fd(fd);
		return PTR_ERR(file);
	}
	fd_install(fd, file);
	return fd;
}

static int bts_check(const struct utrace_ioc_branches *arg)
{
	if (arg->scope >= ARRAY_SIZE(bts_scopes) ||
	    arg->mode > UTRACE_BRANCHES_LAST || arg->full > UTRACE_FULL_DROP ||
	    (arg->full && arg->mode != UTRACE_BRANCHES_ALL))
		return -EINVAL;
	return arch_has_single_step() ? 0 : -EOPNOTSUPP;
}

/**
 * utrace_bts_consumer_make() - %UTRACE_IOC_BRANCHES
 * @session: the session through which the program asks
 * @arg: struct utrace_ioc_branches
 *
 * Context: Process context without locks; may sleep.
 * Return: a descriptor, or an error that is described with &struct
 * utrace_ioc_branches.
 */
int utrace_bts_consumer_make(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_branches *branches = arg;
	struct bts_consumer *consumer;
	struct task_struct *task;
	int ret = bts_check(branches);

	if (ret)
		return ret;
	task = utrace_dev_task_of(branches->pidfd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	consumer = bts_consumer_new(session, branches);
	if (IS_ERR(consumer)) {
		put_task_struct(task);
		return PTR_ERR(consumer);
	}
	ret = bts_attach(consumer, task, branches->scope);
	put_task_struct(task);
	if (ret) {
		utrace_bts_consumer_put(consumer);
		return ret;
	}
	ret = bts_install(consumer);
	if (ret < 0)
		bts_close(consumer);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process that reads a descriptor
 *
 * A process is the reader while it can read: it is alive and has a descriptor
 * of the file.  ->release() would be too late for its end, since other
 * processes may have inherited descriptors, and may be traced by it.  Two other
 * events end the reading.  A process that shares the descriptor table with the
 * reader may close the last descriptor: ->flush() compares the table.  If the
 * reader dies while another process keeps that table, there is no flush: the
 * wait queue of the reader's pid reports its death.  A process that polls
 * through epoll(7) may never have had a descriptor.
 */
#include <linux/fdtable.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>

#include "reader.h"

/* Check whether a process has a thread that has not exited. */
static bool process_lives(struct pid *process)
{
	struct task_struct *leader, *t;

	guard(rcu)();
	leader = pid_task(process, PIDTYPE_TGID);
	if (!leader)
		return false;
	for_each_thread(leader, t)
		if (!READ_ONCE(t->exit_state))
			return true;
	return false;
}

/*
 * Set the process, or NULL.  Returns the previous process, whose reference the
 * caller must drop, or @process if that already was the reader.
 */
static struct pid *reader_exchange(struct utrace_reader *reader,
				   struct pid *process)
{
	struct pid *old = reader->process;

	lockdep_assert_held(reader->lock);

	if (old == process)
		return old;
	/* After this reader_died() is no longer called for @old. */
	if (old)
		remove_wait_queue(&old->wait_pidfd, &reader->death);
	WRITE_ONCE(reader->process, get_pid(process));
	if (process)
		add_wait_queue(&process->wait_pidfd, &reader->death);
	return old;
}

/* End the reading of @process, which may be NULL, if it is still the reader. */
static void reader_stop(struct utrace_reader *reader, struct pid *process)
{
	scoped_guard(spinlock_irqsave, reader->lock) {
		if (!process || reader->process != process)
			return;
		reader_exchange(reader, NULL);
	}
	put_pid(process);
	reader->ops->ended(reader);
}

static void reader_work(struct work_struct *work)
{
	struct utrace_reader *reader = container_of(work, struct utrace_reader,
						    work);
	struct pid *process = utrace_reader_get(reader);

	/* A thread that is not the last one may have woken the queue. */
	if (process && !process_lives(process))
		reader_stop(reader, process);
	put_pid(process);
	reader->ops->put(reader);
}

/*
 * Called with the lock of the wait queue held, interrupts off, and possibly
 * with tasklist_lock held.  The reference dropped here is not the last one:
 * before the owner drops its own, it removes the entry from the queue, and so
 * waits for this lock.
 */
static int reader_died(wait_queue_entry_t *entry, unsigned int mode, int flags,
		       void *key)
{
	struct utrace_reader *reader = container_of(entry, struct utrace_reader,
						    death);

	if (reader->ops->tryget(reader) &&
	    !queue_work(system_unbound_wq, &reader->work))
		reader->ops->put(reader);
	return 0;
}

/**
 * utrace_reader_init() - initialize a reader without a process
 * @reader: the reader
 * @lock: the owner's lock, see &struct utrace_reader
 * @ops: functions of the owner
 *
 * Context: Any.
 */
void utrace_reader_init(struct utrace_reader *reader, spinlock_t *lock,
			const struct utrace_reader_ops *ops)
{
	reader->ops = ops;
	reader->lock = lock;
	reader->process = NULL;
	init_waitqueue_func_entry(&reader->death, reader_died);
	INIT_WORK(&reader->work, reader_work);
	mutex_init(&reader->read_lock);
	init_waitqueue_head(&reader->wait);
}

/**
 * utrace_reader_start() - make the current process the first reader
 * @reader: the reader, after utrace_reader_init()
 *
 * The process is about to get a descriptor.
 *
 * Context: Process context.  Takes the owner's lock.
 */
void utrace_reader_start(struct utrace_reader *reader)
{
	guard(spinlock_irqsave)(reader->lock);
	reader_exchange(reader, task_tgid(current));
}

static int is_file(const void *file, struct file *other, unsigned int fd)
{
	return file == other;
}

/*
 * Check whether a descriptor table has @file.  A table without a user is being
 * closed.
 */
static bool has_descriptor(struct files_struct *files, struct file *file)
{
	return files && atomic_read(&files->count) &&
	       iterate_fd(files, 0, is_file, file);
}

/**
 * utrace_reader_be() - make the current process the reader
 * @reader: the reader
 * @file: the file that the process reads
 *
 * Called when the process reads, polls or maps.  Does nothing if it has no
 * descriptor of @file: it polls through epoll(7), or another thread has closed
 * the descriptor.
 *
 * Context: Process context; may sleep.  Takes the owner's lock, and the lock of
 * the descriptor table.
 */
void utrace_reader_be(struct utrace_reader *reader, struct file *file)
{
	struct pid *process = task_tgid(current), *old;

	if (likely(READ_ONCE(reader->process) == process) ||
	    !has_descriptor(current->files, file))
		return;
	scoped_guard(spinlock_irqsave, reader->lock)
		old = reader_exchange(reader, process);
	if (old == process)
		return;
	put_pid(old);
	reader->ops->began(reader, process);
	/*
	 * If another thread closed it before the exchange, the flush did not
	 * see this process as the reader.
	 */
	if (!has_descriptor(current->files, file))
		reader_stop(reader, process);
}

/* Check whether a process uses a descriptor table. */
static bool process_uses(struct pid *process, struct files_struct *files)
{
	struct task_struct *leader, *t;

	guard(rcu)();
	leader = pid_task(process, PIDTYPE_TGID);
	if (!leader)
		return false;
	for_each_thread(leader, t)
		/*
		 * Only compared; a thread that changes its table now reads
		 * again later.
		 */
		if (data_race(t->files) == files)
			return true;
	return false;
}

/**
 * utrace_reader_flush() - end the reading if its last descriptor is closed
 * @reader: the reader
 * @file: the file, whose ->flush() is called
 * @id: argument of &file_operations.flush: the descriptor table, from which the
 *	closed descriptor is already removed
 *
 * Context: Process context; may sleep.  Takes the owner's lock, and the lock of
 * the descriptor table.
 */
void utrace_reader_flush(struct utrace_reader *reader, struct file *file,
			 fl_owner_t id)
{
	struct pid *process = utrace_reader_get(reader);

	if (process &&
	    (process == task_tgid(current) || (id && process_uses(process, id))) &&
	    !has_descriptor(id, file))
		reader_stop(reader, process);
	put_pid(process);
}

/**
 * utrace_reader_end() - end the reading, since no descriptor is left
 * @reader: the reader
 *
 * After this @reader may be freed, unless its work has a reference.
 *
 * Context: Process context; may sleep.  Takes the owner's lock.
 */
void utrace_reader_end(struct utrace_reader *reader)
{
	struct pid *process = utrace_reader_get(reader);

	reader_stop(reader, process);
	put_pid(process);
}

/**
 * utrace_reader_get() - get the process that reads
 * @reader: the reader
 *
 * Context: Process context.  Takes the owner's lock.
 * Return: the process, with a reference for the caller, or NULL.
 */
struct pid *utrace_reader_get(struct utrace_reader *reader)
{
	guard(spinlock_irqsave)(reader->lock);
	return get_pid(reader->process);
}

/* Another reader may hold the lock while it waits in a page fault. */
static int reader_lock(struct utrace_reader *reader, bool nonblock)
{
	if (!nonblock)
		return mutex_lock_interruptible(&reader->read_lock) ?
		       -ERESTARTSYS : 0;
	return mutex_trylock(&reader->read_lock) ? 0 : -EAGAIN;
}

/*
 * Wait for records.  Existing records may not be returned before the clock has
 * passed their times, which takes until the clock's next tick.
 */
static int reader_wait(struct utrace_reader *reader)
{
	if (!reader->ops->ready(reader))
		return wait_event_interruptible(reader->wait,
						reader->ops->ready(reader));
	return schedule_timeout_interruptible(1) && signal_pending(current) ?
	       -ERESTARTSYS : 0;
}

/**
 * utrace_reader_read() - read(2) of a descriptor
 * @reader: the reader
 * @file: the file that is read
 * @to: user memory
 * @size: bytes of @to
 *
 * Context: Process context; sleeps.  Takes the owner's lock, the lock of the
 * descriptor table and utrace_reader.read_lock.
 * Return:
 * * number of bytes read - 0 if no further record can be added
 * * -EAGAIN - @file does not block, and there is no record now or another
 *   reader is reading
 * * -ERESTARTSYS - a signal is pending
 * * another error - of &utrace_reader_ops.read
 */
ssize_t utrace_reader_read(struct utrace_reader *reader, struct file *file,
			   char __user *to, size_t size)
{
	bool nonblock = file->f_flags & O_NONBLOCK, over;
	ssize_t ret;

	for (;;) {
		/*
		 * Again after a wait, in which another process may have read.
		 */
		utrace_reader_be(reader, file);
		reader->ops->sync(reader);
		/*
		 * Before the check for records, of which one may be the last.
		 */
		over = reader->ops->over(reader);
		ret = reader_lock(reader, nonblock);
		if (ret)
			return ret;
		ret = reader->ops->read(reader, to, size);
		mutex_unlock(&reader->read_lock);
		if (ret || (over && !reader->ops->has(reader)))
			return ret;
		if (nonblock)
			return -EAGAIN;
		ret = reader_wait(reader);
		if (ret)
			return ret;
	}
}

/**
 * utrace_reader_poll() - poll(2) of a descriptor
 * @reader: the reader
 * @file: the file that is polled
 * @table: argument of &file_operations.poll
 *
 * Context: Process context; may sleep.  Takes the owner's lock, and the lock of
 * the descriptor table.
 * Return: EPOLLIN and EPOLLRDNORM if there is a record, EPOLLHUP if no further
 * record can be added.
 */
__poll_t utrace_reader_poll(struct utrace_reader *reader, struct file *file,
			    struct poll_table_struct *table)
{
	__poll_t mask = 0;

	utrace_reader_be(reader, file);
	poll_wait(file, &reader->wait, table);
	smp_mb();	/* Pairs with wq_has_sleeper() of the wakers. */
	reader->ops->sync(reader);
	/* Before the check for records, of which one may be the last. */
	if (reader->ops->over(reader))
		mask |= EPOLLHUP;
	if (reader->ops->has(reader))
		mask |= EPOLLIN | EPOLLRDNORM;
	return mask;
}

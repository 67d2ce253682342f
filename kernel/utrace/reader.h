/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process that reads a descriptor
 *
 * Tasks may be held until a process has read their records.  They are let go when that
 * process can no longer read: it has died, or has no descriptor left.
 */
#ifndef _KERNEL_UTRACE_READER_H
#define _KERNEL_UTRACE_READER_H

#include <linux/fs.h>
#include <linux/spinlock_types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

struct pid;
struct utrace_reader;

/**
 * struct utrace_reader_ops - what the owner of a reader does
 * @began: called when another process has become the reader
 * @ended: called when no process is the reader
 * @tryget: take a reference to the owner, unless the last one is gone.  Called with the lock
 *	of a wait queue held and interrupts off
 * @put: drop that reference.  Called in process context, or as @tryget is; then it is not
 *	the last one
 *
 * @began and @ended are called in process context and may sleep.
 */
struct utrace_reader_ops {
	void (*began)(struct utrace_reader *reader, struct pid *process);
	void (*ended)(struct utrace_reader *reader);
	bool (*tryget)(struct utrace_reader *reader);
	void (*put)(struct utrace_reader *reader);
};

/**
 * struct utrace_reader - the process that reads a descriptor
 * @ops: constant
 * @lock: the owner's lock, which protects @process; constant
 * @process: the process that has read, polled or opened last, counted; NULL: it has closed
 *	the descriptor or has died.  Only compared without @lock
 * @death: in the wait queue of @process, which is woken when all its threads are dead
 * @work: makes the reader nobody after that; has a reference by @ops while it is pending
 *
 * The lock of the wait queue is inside @lock.  Who wakes the queue may hold tasklist_lock, so
 * @lock is not taken there: the work takes it.
 */
struct utrace_reader {
	const struct utrace_reader_ops *ops;
	spinlock_t *lock;	/* the owner's */
	struct pid *process;
	wait_queue_entry_t death;
	struct work_struct work;
};

void utrace_reader_init(struct utrace_reader *reader, spinlock_t *lock,
			const struct utrace_reader_ops *ops);
void utrace_reader_start(struct utrace_reader *reader);
void utrace_reader_be(struct utrace_reader *reader, struct file *file);
void utrace_reader_flush(struct utrace_reader *reader, struct file *file,
			 fl_owner_t id);
void utrace_reader_end(struct utrace_reader *reader);
struct pid *utrace_reader_get(struct utrace_reader *reader);

#endif /* _KERNEL_UTRACE_READER_H */

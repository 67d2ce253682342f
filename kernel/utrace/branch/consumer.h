/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: consumers
 *
 * A consumer owns a ring and an engine, which is attached to the tasks that the
 * consumer follows.  A thread that at least one consumer follows has a struct
 * branch_thread (thread.h), in which it collects its branches step by step.
 * When enough of them are there, the thread copies them to the ring of each
 * consumer.  So no lock is taken at a step, and the memory of the rings can be
 * swapped out.  For some consumers the CPUs record the thread instead
 * (track.h).
 *
 * Lock order: utrace_reader.read_lock, bts_consumer.lock,
 * bts_consumer.wait_lock, siglock.  Each may be taken without the locks before
 * it.  mmap_lock is taken inside read_lock, since a reader copies to user
 * memory.  Traced threads never take read_lock: a page fault of the reader may
 * hold it for an unlimited time.
 */
#ifndef _KERNEL_UTRACE_BRANCH_CONSUMER_H
#define _KERNEL_UTRACE_BRANCH_CONSUMER_H

#include <linux/container_of.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/utrace_branches.h>
#include <linux/workqueue.h>

#include "../reader.h"
#include "ring.h"

struct branch_cpu_link;
struct pid_namespace;
struct utrace_engine;
struct utrace_viewer;

/**
 * struct bts_consumer - a consumer of branches
 * @ref: one reference for the file or the owner in the kernel, one for the
 *	engine
 * @viewer: for the permission to see the threads, counted; constant.  NULL: the
 *	consumer is in the kernel and may see all
 * @ns: pid namespace of the opener, counted; constant
 * @engine: the engine, kept by the first reference to the consumer; constant
 *	once the engine is attached.  Threads use @engine under @wait_lock and
 *	only unless @closed
 * @cpu: state of a consumer that follows a CPU and thus has no @engine; NULL:
 *	the consumer follows tasks.  Constant once it is attached
 * @source: enum utrace_branch_source, but not ANY; constant
 * @tracked: CPUs record the threads of the consumer.  Set before it is attached
 * @has_cpus: utrace_branch_cpus_get() has succeeded, so
 *	utrace_branch_cpus_put() must be called.  Used where the consumer is
 *	attached, closed and freed
 * @tracks: struct branch_track of its threads.  Under @lock
 * @move: moves records from the stages of @tracks to @ring
 * @staged: size of the stages of all threads that CPUs record, in records.
 *	Under @lock
 * @left: size of the stages that exited threads have left in @tracks, in
 *	records.  Under @lock
 * @gaps: number of gaps of threads that are no longer followed.  Under @lock
 * @free: frees the consumer, which may sleep
 * @levels: %UTRACE_LEVEL_USER, %UTRACE_LEVEL_KERNEL or both; constant
 * @ready: see struct utrace_branches_want; NULL until the consumer is attached.
 *	Set and called under @wait_lock, and only unless @closed
 * @data: argument of @ready.  Set under @wait_lock with @ready
 * @stop: a thread whose records do not fit waits for the reader; constant
 * @lock: guards @ring, @last, @tracks with their contents, @staged, @left and
 *	@gaps
 * @ring: the records
 * @last: inode number of the pidfd of the thread that wrote last, initially 0.
 *	Under @lock
 * @wait_lock: guards @waiting, @nwaiting, @reader, @closed, @ready and @data
 * @waiting: struct branch_link of threads that wait for room.  Under @wait_lock
 * @nwaiting: number of elements of @waiting; traced programs can make it large.
 *	Under @wait_lock
 * @reader: the reading process, with @wait_lock; unused for a consumer in the
 *	kernel
 * @closed: the consumer is closed.  Set once, under @wait_lock
 * @deadlock: the attach was refused because the consumer has @stop and would
 *	follow its own process
 */
struct bts_consumer {
	struct kref ref;
	struct utrace_viewer *viewer;
	struct pid_namespace *ns;
	struct utrace_engine *engine;
	struct branch_cpu_link *cpu;
	u8 source;
	bool tracked;
	bool has_cpus;
	struct list_head tracks;
	struct work_struct move;
	u64 staged;
	u64 left;
	u64 gaps;
	struct work_struct free;
	u32 levels;
	void (*ready)(struct bts_consumer *consumer, void *data);
	void *data;
	bool stop;
	struct mutex lock;	/* the ring */
	struct branch_ring ring;
	u64 last;
	spinlock_t wait_lock;	/* threads that wait for room */
	struct list_head waiting;
	unsigned int nwaiting;
	struct utrace_reader reader;
	bool closed;
	bool deadlock;
};

static inline struct bts_consumer *
branch_of_reader(struct utrace_reader *reader)
{
	return container_of(reader, struct bts_consumer, reader);
}

/**
 * utrace_branch_wants() - check whether a consumer wants a record of a step
 * @consumer: the consumer
 * @record: the record.  For the kernel a step records only entries and exits
 *
 * Context: Any.
 * Return: true if the consumer wants the record.
 */
static inline bool utrace_branch_wants(const struct bts_consumer *consumer,
				       const struct utrace_branch *record)
{
	return consumer->levels & UTRACE_LEVEL_USER ||
	       record->from >= UTRACE_PC_BASE || record->to >= UTRACE_PC_BASE;
}

void utrace_branch_consumer_put(struct bts_consumer *consumer);
void utrace_branch_notify(struct bts_consumer *consumer);
bool utrace_branch_may_see(struct bts_consumer *consumer);
bool utrace_branch_is_read(const struct bts_consumer *consumer);
bool utrace_branch_write_one(struct bts_consumer *consumer, u64 from, u64 to,
			     u64 info);
u64 utrace_branch_pid(const struct bts_consumer *consumer);
bool utrace_branch_write_task(struct bts_consumer *consumer, u64 pid, u64 ino);
void utrace_branch_hidden(struct bts_consumer *consumer);
void utrace_branch_missed(struct bts_consumer *consumer);

#endif /* _KERNEL_UTRACE_BRANCH_CONSUMER_H */

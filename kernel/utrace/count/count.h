/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - counts of system calls
 *
 * A client that counts system calls (an instance of ftrace, a session) has one
 * struct utrace_counts for itself, and embeds a struct utrace_count_task in its
 * data for each task.  How a task finds its structure is up to the client, see
 * task_data.h.  The counts have a list of the tasks for readers and for limits.
 *
 * Only the task itself writes its numbers, without a lock.  A task takes
 * utrace_counts.lock when the client adds it, for its first call with each
 * number, for an execve() that changes its pid, and for its exit.  Readers walk
 * tasks and numbers under RCU.  They may see the numbers of one row from
 * different moments, but never from different epochs.
 */
#ifndef _KERNEL_UTRACE_COUNT_COUNT_H
#define _KERNEL_UTRACE_COUNT_COUNT_H

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct pid;
struct pid_namespace;

/*
 * Durations are counted by their logarithm: bucket n has durations of 2^(n-1)
 * ns up to less than 2^n ns, bucket 0 those of 0 ns, and the last bucket those
 * of 2^30 ns and more.
 */
#define UTRACE_COUNT_BUCKETS	32

/* Number of different errnos that are counted separately for each call. */
#define UTRACE_COUNT_ERRNOS	7

/* A CPU time that was not measured. */
#define UTRACE_COUNT_NO_CPU	(-1LL)

/**
 * struct utrace_count_numbers - numbers of one system call of one task
 * @calls: calls that have completed
 * @errors: calls among @calls that returned an error
 * @total: sum of the durations, in ns
 * @min: shortest duration, in ns
 * @max: longest duration, in ns
 * @cpu: CPU time used in the calls of @cpu_calls, in ns
 * @cpu_calls: calls among @calls whose CPU time was measured
 * @bucket: calls by duration, see UTRACE_COUNT_BUCKETS
 * @errno_calls: errors by errno; entry i belongs to entry i of @err
 * @errno_other: errors whose errno has no entry in @err
 * @err: errnos in the order of their first occurrence; 0: this entry and those
 *	after it are unused
 *
 * Numbers of 32 bits saturate at their maximum.
 */
struct utrace_count_numbers {
	u64 calls;
	u64 errors;
	u64 total;
	u64 min;
	u64 max;
	u64 cpu;
	u64 cpu_calls;
	u32 bucket[UTRACE_COUNT_BUCKETS];
	u32 errno_calls[UTRACE_COUNT_ERRNOS];
	u32 errno_other;
	u16 err[UTRACE_COUNT_ERRNOS];
};

/**
 * struct utrace_count - count of one system call of one task
 * @node: entry in utrace_count_task.table; added by the task, read under RCU,
 *	freed with the utrace_count_task
 * @nr: number of the call; constant
 * @epoch: utrace_counts.epoch of @numbers.  Stored with release after the
 *	numbers were cleared, read with acquire.
 * @numbers: the numbers, which only the task writes.  @min is U64_MAX before
 *	the first call.
 */
struct utrace_count {
	struct hlist_node node;
	unsigned int nr;
	unsigned int epoch;
	struct utrace_count_numbers numbers;
};

struct utrace_count_task;

/**
 * struct utrace_count_ops - callbacks of the client
 * @forget: optional; the client's look-up must no longer return @task, since it
 *	has left the list, or since execve() has given the current task another
 *	pid.  Called under utrace_counts.lock, by any task; may be called more
 *	than once
 * @free: free the client's structure, which has no users left.  Called by RCU,
 *	in a softirq, possibly after utrace_counts_end()
 */
struct utrace_count_ops {
	void (*forget)(struct utrace_count_task *task);
	void (*free)(struct utrace_count_task *task);
};

/**
 * enum utrace_count_walk - walks over the tasks, in pieces
 * @UTRACE_COUNT_SWEEP: find dead tasks without counts
 * @UTRACE_COUNT_MERGE: find dead tasks that can make room
 * @UTRACE_COUNT_CLEAR: walk of utrace_counts_clear()
 * @UTRACE_COUNT_WALKS: number of walks
 */
enum utrace_count_walk {
	UTRACE_COUNT_SWEEP,
	UTRACE_COUNT_MERGE,
	UTRACE_COUNT_CLEAR,
	UTRACE_COUNT_WALKS
};

/**
 * struct utrace_counts - the counts of a client
 * @ops: callbacks of the client; constant
 * @limit: maximum number of struct utrace_count; constant
 * @lock: protects @tasks, @next_id, @ncounts, @merged, @nmerged, @next_scan,
 *	@at, @again, and the members of struct utrace_count_task that say so.
 *	No lock is taken inside it; interrupts need not be off.
 * @tasks: struct utrace_count_task, in the order of their @id.  Written under
 *	@lock, read under RCU.
 * @next_id: id of the task that is added next, 1 or more.  Under @lock.
 * @ncounts: number of struct utrace_count of the tasks in @tasks.  Written
 *	under @lock.
 * @merged: task in @tasks that holds the sums of all dead tasks that have made
 *	room; NULL: there are none.  Written under @lock, read under RCU.
 * @nmerged: number of dead tasks in the sums of @merged.  Written under @lock,
 *	read without a lock.
 * @next_scan: time in jiffies before which no walk for dead tasks is started to
 *	make room.  Under @lock.
 * @at: entry of @tasks that each walk has reached.  Under @lock.
 * @again: UTRACE_COUNT_MERGE must walk again when it reaches the end: there was
 *	room since the walk began, so a task that it has passed may have died.
 *	Under @lock.
 * @epoch: number of the current counting period; a struct utrace_count with
 *	another number is invalid.  Written under @lock, read without a lock.
 * @lost: calls that were not counted, for lack of room or memory
 *
 * The client embeds it and must call utrace_counts_end() before freeing it.
 */
struct utrace_counts {
	const struct utrace_count_ops *ops;
	unsigned int limit;
	spinlock_t lock;	/* no lock is taken inside it */
	struct list_head tasks;
	u64 next_id;
	unsigned int ncounts;
	struct utrace_count_task __rcu *merged;
	unsigned long nmerged;
	unsigned long next_scan;
	struct list_head *at[UTRACE_COUNT_WALKS];
	bool again;
	unsigned int epoch;
	atomic_long_t lost;
};

/* Number of hash chains of a task, and of its cached counts; powers of 2. */
#define UTRACE_COUNT_CHAINS	32
#define UTRACE_COUNT_RECENT	8

/**
 * struct utrace_count_task - counts of a task
 * @list: entry in utrace_counts.tasks
 * @ref: one reference for the client, one for the list
 * @rcu: frees the structure when readers have finished
 * @ops: callbacks of the client; constant
 * @pid: struct pid of the task, counted; constant
 * @tgid: struct pid of its process, counted; constant
 * @id: position in the order of utrace_counts.tasks; constant
 * @comm: name of the task when it was added, at its last exec or at its exit;
 *	shown once the task is dead.  The task writes it without a lock.
 * @listed: it is in utrace_counts.tasks.  Under utrace_counts.lock.
 * @ncounts: number of entries in @table.  Under utrace_counts.lock.
 * @recent: cache of the counts that were used last, by number of the call;
 *	NULL: empty.  Only the task uses it.
 * @table: struct utrace_count by number of the call.  Only the task adds
 *	entries, at the end of a chain; readers walk them under RCU.
 *
 * Embedded in a structure of the client, which must zero it before
 * utrace_count_add_task().
 *
 * A task without counts leaves the list at its exit
 * (utrace_count_task_exits()).  If the client gets no callback at the exit, new
 * tasks find such dead tasks and remove them.  A dead task with counts stays
 * until its room is needed (merge.c), or until utrace_counts_clear() or
 * utrace_counts_end().  The memory is freed after the list and the client have
 * dropped their references.
 */
struct utrace_count_task {
	struct list_head list;
	struct kref ref;
	struct rcu_head rcu;
	const struct utrace_count_ops *ops;
	struct pid *pid;
	struct pid *tgid;
	u64 id;
	char comm[TASK_COMM_LEN];
	bool listed;
	unsigned int ncounts;
	struct utrace_count *recent[UTRACE_COUNT_RECENT];
	struct hlist_head table[UTRACE_COUNT_CHAINS];
};

/**
 * struct utrace_count_row - one call of one task, for a reader
 * @ino: inode number of a pidfd of the task, which identifies its struct pid
 *	uniquely; 0: the row is the sum over dead tasks that have made room, and
 *	has no ids and no name
 * @tid: pid of the task in the reader's namespace; 0: it has none there
 * @tgid: pid of its process in the reader's namespace; 0: it has none there
 * @comm: name of the task, or its last name if it is dead
 * @nr: number of the call; UTRACE_SYSCALL_NONE for all invalid numbers
 * @alive: 1: a task with this struct pid exists; 0: it is dead
 * @numbers: the numbers; @calls is not 0
 *
 * All bytes are initialized.
 */
struct utrace_count_row {
	u64 ino;
	pid_t tid;
	pid_t tgid;
	char comm[TASK_COMM_LEN];
	u32 nr;
	u32 alive;
	struct utrace_count_numbers numbers;
};

/**
 * struct utrace_count_cursor - position of a reader
 * @task: utrace_count_task.id of the task to continue with; 0:
 *	utrace_counts.merged
 * @row: position in the table of this task to continue with
 *
 * All zeros is the beginning, with the rows of utrace_counts.merged.  A cursor
 * holds no reference and may come from user space.
 */
struct utrace_count_cursor {
	u64 task;
	u32 row;
};

/* task.c */
void utrace_counts_init(struct utrace_counts *counts, unsigned int limit,
			const struct utrace_count_ops *ops);
void utrace_counts_end(struct utrace_counts *counts);
void utrace_counts_clear(struct utrace_counts *counts);
void utrace_count_add_task(struct utrace_counts *counts,
			   struct utrace_count_task *task);
void utrace_count_put_task(struct utrace_count_task *task);
void utrace_count_task_exits(struct utrace_counts *counts,
			     struct utrace_count_task *task);
bool utrace_count_task_execs(struct utrace_counts *counts,
			     struct utrace_count_task *task);
bool utrace_count_reserve(struct utrace_counts *counts,
			  struct utrace_count_task *task);
void utrace_count_unreserve(struct utrace_counts *counts,
			    struct utrace_count_task *task);

/* call.c */
struct utrace_count *utrace_count_alloc(unsigned int nr, unsigned int epoch,
					gfp_t gfp);
void utrace_count_clear(struct utrace_count *count, unsigned int epoch);
struct utrace_count *utrace_count_look_up(struct utrace_count_task *task,
					  unsigned int nr);
void utrace_count_call(struct utrace_counts *counts,
		       struct utrace_count_task *task, unsigned int nr,
		       long ret, u64 duration, s64 cpu);

/* merge.c */
void utrace_count_errno(struct utrace_count_numbers *to, u16 err, u32 calls);
bool utrace_count_merge(struct utrace_counts *counts,
			struct utrace_count_task *task);

/* row.c */
bool utrace_count_next_row(const struct utrace_counts *counts,
			   const struct utrace_count_task *task,
			   struct pid_namespace *ns, u32 *at,
			   struct utrace_count_row *row);
unsigned int utrace_count_read(const struct utrace_counts *counts,
			       struct pid_namespace *ns,
			       struct utrace_count_cursor *cursor,
			       struct utrace_count_row *rows, unsigned int n);

static inline struct utrace_count **
utrace_count_recent(struct utrace_count_task *task, unsigned int nr)
{
	return &task->recent[nr % UTRACE_COUNT_RECENT];
}

static inline struct hlist_head *
utrace_count_chain(struct utrace_count_task *task, unsigned int nr)
{
	return &task->table[nr % UTRACE_COUNT_CHAINS];
}

/**
 * utrace_count_is_current() - check whether the current task still has the pid
 * of its counts
 * @task: counts of the current task
 *
 * For a client without a callback at execve(), see utrace_count_task_execs().
 *
 * Context: The task itself.
 * Return: false if execve() has given the task another pid.
 */
static inline bool utrace_count_is_current(const struct utrace_count_task *task)
{
	return task->pid == task_pid(current);
}

/* Get the count of call @nr; NULL: it is not cached, or of an old epoch. */
static __always_inline struct utrace_count *
utrace_count_cached(const struct utrace_counts *counts,
		    struct utrace_count_task *task, unsigned int nr)
{
	struct utrace_count *count = *utrace_count_recent(task, nr);

	return likely(count && count->nr == nr &&
		      count->epoch == READ_ONCE(counts->epoch)) ? count : NULL;
}

/* Update the numbers that each call changes.  Only the task itself does so. */
static __always_inline void utrace_count_add(struct utrace_count_numbers *numbers,
					     unsigned long bucket, u64 duration)
{
	u32 number = numbers->bucket[bucket] + 1;

	if (likely(number))
		WRITE_ONCE(numbers->bucket[bucket], number);
	/* Readers may see the value before or after, see count_copy(). */
	data_race(numbers->calls++);
	/* Readers may see the value before or after, see count_copy(). */
	data_race(numbers->total += duration);
}

/**
 * utrace_count_usual() - fast path of utrace_count_call()
 * @counts: the counts
 * @task: counts of the current task
 * @nr: number of the call, as for utrace_call_of()
 * @ret: result of the call
 * @duration: time between entry and exit, in ns; the CPU time is not counted
 *
 * Inlined into the exit of every counted call.  It succeeds only if the count
 * of the call is cached, the call has returned no error, and its duration is
 * neither a new minimum or maximum nor in the first or last bucket.
 *
 * Context: The task itself.
 * Return: false if nothing was done, and the caller must call
 * utrace_count_call().
 */
static __always_inline bool utrace_count_usual(struct utrace_counts *counts,
					       struct utrace_count_task *task,
					       unsigned int nr, long ret,
					       u64 duration)
{
	struct utrace_count *count = utrace_count_cached(counts, task, nr);

	/* The last check: it is not 0, nor long enough for the last bucket. */
	if (unlikely(!count) || IS_ERR_VALUE(ret) ||
	    unlikely(duration < count->numbers.min ||
		     duration > count->numbers.max ||
		     duration - 1 >= BIT(UTRACE_COUNT_BUCKETS - 2) - 1))
		return false;
	utrace_count_add(&count->numbers, __fls(duration) + 1, duration);
	return true;
}

#endif /* _KERNEL_UTRACE_COUNT_COUNT_H */

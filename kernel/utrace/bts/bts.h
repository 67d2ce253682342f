/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: consumers and the threads that they follow
 *
 * A consumer owns a ring and an engine, which is attached to the tasks that the
 * consumer follows.  A thread that at least one consumer follows has a struct
 * bts_thread, in which it collects its branches step by step.  When enough of
 * them are there, the thread copies them to the ring of each consumer.  So no
 * lock is taken at a step, and the memory of the rings can be swapped out.  For
 * some consumers the CPUs record the thread instead (track.h).
 *
 * Lock order: utrace_reader.read_lock, bts_consumer.lock,
 * bts_consumer.wait_lock, siglock.  Each may be taken without the locks before
 * it.  mmap_lock is taken inside read_lock, since a reader copies to user
 * memory.  Traced threads never take read_lock: a page fault of the reader may
 * hold it for an unlimited time.
 * may last for ever.
 */
#ifndef _KERNEL_UTRACE_BTS_BTS_H
#define _KERNEL_UTRACE_BTS_BTS_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/utrace_branches.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../builtin.h"
#include "../reader.h"
#include "../task_data.h"
#include "buffer.h"
#include "insn.h"

struct bts_cpu_link;
struct file;
struct mem_cgroup;
struct pid;
struct pid_namespace;
struct task_struct;
struct utrace_engine;
struct utrace_engine_ops;
struct utrace_session;
struct utrace_viewer;
struct vm_area_struct;

/* Offset of the records in bts_ring.pages, in bytes. */
#define BTS_RING_DATA	PAGE_SIZE

/**
 * struct bts_ring - the records of a consumer
 * @pages: an unlinked shmem file, whose pages can be swapped out: one page for
 *	@shared, then @size records; constant
 * @memcg: memory cgroup that is charged for @pages, counted; constant
 * @size: number of records, a power of 2; constant
 * @overwrite: a full ring overwrites its oldest records; constant
 * @head: records ever written
 * @tail: number of the oldest record that was neither read nor overwritten
 * @next: number of the next record for the reader; less than @tail if records
 *	were overwritten
 * @owner: if @overwrite, the last %UTRACE_BRANCH_TASK before @tail
 * @told: the reader has read @owner
 * @lost: records that threads could not write before they exited, and that were
 *	not reported to the reader yet
 * @lost_ever: records that were lost, whether reported or not
 * @dropped: records ever overwritten
 * @failed: the last write failed for lack of memory
 * @shared: the first page of @pages, counted, which the kernel writes for a
 *	program that maps the ring.  NULL: no program may map it.  Constant
 * @told_by: a page that this program may write at any time; constant
 *
 * Members that are not constant are written under bts_consumer.lock.
 */
struct bts_ring {
	struct file *pages;
	struct mem_cgroup *memcg;
	u64 size;
	bool overwrite;
	u64 head;
	u64 tail;
	u64 next;
	struct utrace_branch owner;
	bool told;
	u64 lost;
	u64 lost_ever;
	u64 dropped;
	bool failed;
	struct utrace_map *shared;
	struct utrace_map_tail *told_by;
};

/**
 * enum bts_piece_kind - kinds of records that one read returns
 * @BTS_PIECE_GAP: the number of records that were overwritten
 * @BTS_PIECE_OWNER: the task that the following records belong to
 * @BTS_PIECE_RECORDS: records
 * @BTS_PIECE_LOST: the number of lost records, after all records
 */
enum bts_piece_kind {
	BTS_PIECE_GAP,
	BTS_PIECE_OWNER,
	BTS_PIECE_RECORDS,
	BTS_PIECE_LOST,
};

/**
 * struct bts_piece - records that a reader copies in one step
 * @records: memory for BTS_PIECE records
 * @n: number of records that were copied
 * @kind: enum bts_piece_kind
 * @tail: bts_ring.tail when they were copied
 * @look: for a consumer of a CPU, used instead of @kind and @tail
 */
struct bts_piece {
	struct utrace_branch *records;
	unsigned int n;
	u8 kind;
	u64 tail;
	struct bts_look look;
};

/* One page of records. */
#define BTS_PIECE	170U

/* The smallest ring of a consumer of a CPU. */
#define BTS_CPU_MIN	2048ULL

#define BTS_LEVELS	(UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL)

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
 * @has_cpus: utrace_bts_cpus_get() has succeeded, so utrace_bts_cpus_put() must
 *	be called.  Used where the consumer is attached, closed and freed
 * @tracks: struct bts_track of its threads.  Under @lock
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
 * @waiting: struct bts_link of threads that wait for room.  Under @wait_lock
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
	struct bts_cpu_link *cpu;
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
	struct bts_ring ring;
	u64 last;
	spinlock_t wait_lock;	/* threads that wait for room */
	struct list_head waiting;
	unsigned int nwaiting;
	struct utrace_reader reader;
	bool closed;
	bool deadlock;
};

static inline struct bts_consumer *bts_of_reader(struct utrace_reader *reader)
{
	return container_of(reader, struct bts_consumer, reader);
}

/**
 * struct bts_link - a thread that a consumer follows
 * @list: entry in bts_thread.links
 * @consumer: the consumer, counted.  The link holds no reference to its engine,
 *	since the engine may hold one to the thread
 * @sent: number of records of bts_thread.stage that the consumer is done with
 * @lost: records that the consumer has lost since the last one that it got
 * @ino: inode number of the pidfd of the thread, which execve() may change
 * @pid: the pid of the thread as in UTRACE_BRANCH_TASK, which execve() may
 *	change
 * @start: address at which the consumer began to follow the thread
 * @started: %UTRACE_BRANCH_START was written to the ring
 * @task: the thread, counted while it waits for room, else NULL.  Under
 *	bts_consumer.wait_lock
 * @waiting: entry in bts_consumer.waiting while @task is not NULL.  Under
 *	bts_consumer.wait_lock
 *
 * Members without a lock are used by the thread only.
 */
struct bts_link {
	struct list_head list;
	struct bts_consumer *consumer;
	unsigned int sent;
	u64 lost;
	u64 ino;
	u64 pid;
	u64 start;
	bool started;
	struct task_struct *task;
	struct list_head waiting;
};

/* Bytes of code to decode; an instruction has at most 15. */
#define BTS_CODE	16

/* Size of the cache of decoded instructions; a power of 2. */
#define BTS_KNOWN	64

/**
 * struct bts_known - a cached decoded instruction
 * @code: the bytes at its address, as two numbers
 * @insn: the decoded instruction
 *
 * An entry is valid only while its bytes match, since the program may change
 * its code.  The address in an unused entry is 0.
 */
struct bts_known {
	u64 code[BTS_CODE / sizeof(u64)];
	struct bts_insn insn;
};

/* Records that a thread can collect, and when it starts to copy them. */
#define BTS_STAGE	160
#define BTS_STAGE_FULL	(BTS_STAGE - 8)

/**
 * struct bts_thread - a followed thread
 * @data: entry in the task data of the thread
 * @task: the thread; constant
 * @links: struct bts_link of consumers for which the thread steps
 * @tracked: struct bts_track of consumers for which CPUs record the thread
 * @streams: struct bts_stream of @tracked.  Used with interrupts off, by the
 *	CPU on which the thread runs, or is about to run
 * @ask: task work that makes the thread handle @tracked
 * @asked: @ask is queued
 * @insn: the next instruction of the thread
 * @pair: if @insn is %BTS_INSN_SS, the instruction that executes with it
 * @long_mode: the instructions in @known are those of 64-bit code
 * @exec: the current system call has executed another program
 * @traps_first: the next trap may come before @insn
 * @flush: task work that delivers records before a signal
 * @flushes: @flush is queued
 * @n: number of used elements of @stage
 * @stage: records that some consumers have not got yet
 * @known: cache of decoded instructions, indexed by their address
 *
 * Members without another rule are used by the thread only.
 */
struct bts_thread {
	struct utrace_task_data data;
	struct task_struct *task;
	struct list_head links;
	struct list_head tracked;
	struct list_head streams;
	struct callback_head ask;
	bool asked;
	struct bts_insn insn;
	struct bts_insn pair;
	bool long_mode;
	bool exec;
	bool traps_first;
	struct callback_head flush;
	bool flushes;
	unsigned int n;
	struct utrace_branch stage[BTS_STAGE];
	struct bts_known known[BTS_KNOWN];
};

/* consumer.c */
void utrace_bts_consumer_put(struct bts_consumer *consumer);
void utrace_bts_tell(struct bts_consumer *consumer);
int utrace_bts_look(struct bts_consumer *consumer, struct bts_piece *piece,
		    unsigned int n);
void utrace_bts_take(struct bts_consumer *consumer,
		     const struct bts_piece *piece);
bool utrace_bts_has(const struct bts_consumer *consumer);
bool utrace_bts_is_over(const struct bts_consumer *consumer);
void utrace_bts_info(struct bts_consumer *consumer,
		     struct utrace_ioc_branch_info *info);
void utrace_bts_close(struct bts_consumer *consumer);
void utrace_bts_release(struct bts_consumer *consumer);
struct bts_consumer *
utrace_bts_consumer_new(const struct utrace_branches_want *want, u32 source,
			bool cpu, struct utrace_session *session);
int utrace_bts_attach(struct bts_consumer *consumer, struct task_struct *task,
		      u32 scope);
int utrace_bts_check(const struct utrace_branches_want *want, bool cpu);

/* file.c */
ssize_t utrace_bts_file_read(struct utrace_reader *reader, char __user *to,
			     size_t size);

/* cpu.c */
unsigned int utrace_bts_cpu_source(void);
int utrace_bts_cpu_attach(struct bts_consumer *consumer, unsigned int nr);
void utrace_bts_cpu_detach(struct bts_consumer *consumer);
void utrace_bts_cpu_free(struct bts_consumer *consumer);
bool utrace_bts_cpu_is_over(const struct bts_consumer *consumer);
bool utrace_bts_cpu_has(const struct bts_consumer *consumer);
int utrace_bts_cpu_look(struct bts_consumer *consumer, struct bts_piece *piece,
			unsigned int n);
void utrace_bts_cpu_take(struct bts_consumer *consumer,
			 const struct bts_piece *piece);
void utrace_bts_cpu_info(const struct bts_consumer *consumer,
			 struct utrace_ioc_branch_info *info);

/* ring.c */
int utrace_bts_ring_init(struct bts_ring *ring, u64 records, bool overwrite);
void utrace_bts_ring_free(struct bts_ring *ring);
unsigned int utrace_bts_ring_write(struct bts_ring *ring,
				   const struct utrace_branch *records,
				   unsigned int n);
bool utrace_bts_ring_has(const struct bts_ring *ring);
int utrace_bts_ring_look(struct bts_ring *ring, struct bts_piece *piece,
			 unsigned int n);
void utrace_bts_ring_take(struct bts_ring *ring, const struct bts_piece *piece);

void utrace_bts_ring_lose(struct bts_ring *ring, u64 n);

/* map.c */
int utrace_bts_ring_map(struct bts_consumer *consumer,
			struct vm_area_struct *vma);
void utrace_bts_ring_unshare(struct bts_ring *ring);
int utrace_bts_ring_share(struct bts_ring *ring);
u64 utrace_bts_ring_map_size(const struct bts_ring *ring);
void utrace_bts_ring_sync(struct bts_ring *ring);
void utrace_bts_ring_publish(struct bts_ring *ring);

/* thread.c */
struct bts_thread *utrace_bts_thread(void);
struct bts_thread *utrace_bts_thread_new(void);
struct bts_link *utrace_bts_link(struct bts_thread *thread,
				 const struct bts_consumer *consumer);
struct list_head *utrace_bts_streams_of(struct task_struct *task);
void utrace_bts_link_init(struct bts_link *link, struct bts_consumer *consumer,
			  u64 start);
bool utrace_bts_join(struct bts_thread *thread, struct bts_consumer *consumer,
		     unsigned long ip);
void utrace_bts_stop_waiting(struct bts_link *link);
void utrace_bts_leave(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_put(struct bts_thread *thread, u64 from, u64 to, u64 info);
bool utrace_bts_is_read(const struct bts_consumer *consumer);
void utrace_bts_wait(struct bts_link *link);
void utrace_bts_wait_at(struct bts_link *link);
void utrace_bts_wait_soon(struct bts_thread *thread);
void utrace_bts_let_go(struct bts_consumer *consumer);

/* deliver.c */
bool utrace_bts_may_see(struct bts_consumer *consumer);
void utrace_bts_hidden(struct bts_consumer *consumer);
void utrace_bts_missed(struct bts_consumer *consumer);
bool utrace_bts_write_before(struct bts_link *link);
bool utrace_bts_write_last(struct bts_link *link, u64 from, u64 type);
void utrace_bts_lose_last(struct bts_link *link);
bool utrace_bts_wants(const struct bts_consumer *consumer,
		      const struct utrace_branch *record);
void utrace_bts_link_rename(struct bts_link *link, u64 start);
void utrace_bts_lose_rest(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_deliver(struct bts_thread *thread);
void utrace_bts_end(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_flush_soon(struct bts_thread *thread);

/* step.c */
void utrace_bts_fetch(struct bts_thread *thread, const struct pt_regs *regs);
bool utrace_bts_step(struct pt_regs *regs, enum utrace_step_why why);
void utrace_bts_end_call(struct bts_thread *thread);
void utrace_bts_hide_from_child(struct task_struct *child);

/* bts_engine.c */
extern const struct utrace_engine_ops utrace_bts_ops;

#endif /* _KERNEL_UTRACE_BTS_BTS_H */

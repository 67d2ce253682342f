/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: followed threads
 */
#ifndef _KERNEL_UTRACE_BRANCH_THREAD_H
#define _KERNEL_UTRACE_BRANCH_THREAD_H

#include <linux/list.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/utrace_branch.h>

#include "../task_data.h"
#include "insn.h"

struct bts_consumer;
struct task_struct;

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

struct bts_thread *utrace_bts_thread(void);
struct bts_thread *utrace_bts_thread_new(void);
struct bts_link *utrace_bts_link(struct bts_thread *thread,
				 const struct bts_consumer *consumer);
struct list_head *utrace_bts_streams_of(struct task_struct *task);
void utrace_bts_link_rename(struct bts_link *link, u64 start);
void utrace_bts_link_init(struct bts_link *link, struct bts_consumer *consumer,
			  u64 start);
bool utrace_bts_join(struct bts_thread *thread, struct bts_consumer *consumer,
		     unsigned long ip);
void utrace_bts_stop_waiting(struct bts_link *link);
void utrace_bts_leave(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_lose_rest(struct bts_thread *thread, struct bts_link *link);
void utrace_bts_put(struct bts_thread *thread, u64 from, u64 to, u64 info);
void utrace_bts_wait(struct bts_link *link);
void utrace_bts_wait_at(struct bts_link *link);
void utrace_bts_wait_soon(struct bts_thread *thread);
void utrace_bts_let_go(struct bts_consumer *consumer);

#endif /* _KERNEL_UTRACE_BRANCH_THREAD_H */

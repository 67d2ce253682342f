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
 * struct branch_link - a thread that a consumer follows
 * @list: entry in branch_thread.links
 * @consumer: the consumer, counted.  The link holds no reference to its engine,
 *	since the engine may hold one to the thread
 * @sent: number of records of branch_thread.stage that the consumer is done
 *	with
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
struct branch_link {
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
#define BRANCH_CODE	16

/* Size of the cache of decoded instructions; a power of 2. */
#define BRANCH_KNOWN	64

/**
 * struct branch_known - a cached decoded instruction
 * @code: the bytes at its address, as two numbers
 * @insn: the decoded instruction
 *
 * An entry is valid only while its bytes match, since the program may change
 * its code.  The address in an unused entry is 0.
 */
struct branch_known {
	u64 code[BRANCH_CODE / sizeof(u64)];
	struct branch_insn insn;
};

/* Records that a thread can collect, and when it starts to copy them. */
#define BRANCH_STAGE	160
#define BRANCH_STAGE_FULL	(BRANCH_STAGE - 8)

/**
 * struct branch_thread - a followed thread
 * @data: entry in the task data of the thread
 * @task: the thread; constant
 * @links: struct branch_link of consumers for which the thread steps
 * @tracked: struct branch_track of consumers for which CPUs record the thread
 * @streams: struct branch_stream of @tracked.  Used with interrupts off, by the
 *	CPU on which the thread runs, or is about to run
 * @ask: task work that makes the thread handle @tracked
 * @asked: @ask is queued
 * @insn: the next instruction of the thread
 * @pair: if @insn is %BRANCH_INSN_SS, the instruction that executes with it
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
struct branch_thread {
	struct utrace_task_data data;
	struct task_struct *task;
	struct list_head links;
	struct list_head tracked;
	struct list_head streams;
	struct callback_head ask;
	bool asked;
	struct branch_insn insn;
	struct branch_insn pair;
	bool long_mode;
	bool exec;
	bool traps_first;
	struct callback_head flush;
	bool flushes;
	unsigned int n;
	struct utrace_branch stage[BRANCH_STAGE];
	struct branch_known known[BRANCH_KNOWN];
};

struct branch_thread *utrace_branch_thread(void);
struct branch_thread *utrace_branch_thread_new(void);
struct branch_link *utrace_branch_link(struct branch_thread *thread,
				       const struct bts_consumer *consumer);
struct list_head *utrace_branch_streams_of(struct task_struct *task);
void utrace_branch_link_rename(struct branch_link *link, u64 start);
void utrace_branch_link_init(struct branch_link *link,
			     struct bts_consumer *consumer, u64 start);
bool utrace_branch_join(struct branch_thread *thread,
			struct bts_consumer *consumer, unsigned long ip);
void utrace_branch_stop_waiting(struct branch_link *link);
void utrace_branch_leave(struct branch_thread *thread,
			 struct branch_link *link);
void utrace_branch_lose_rest(struct branch_thread *thread,
			     struct branch_link *link);
void utrace_branch_collect(struct branch_thread *thread, u64 from, u64 to,
			   u64 info);
void utrace_branch_wait(struct branch_link *link);
void utrace_branch_wait_at(struct branch_link *link);
void utrace_branch_wait_soon(struct branch_thread *thread);
void utrace_branch_let_go(struct bts_consumer *consumer);

#endif /* _KERNEL_UTRACE_BRANCH_THREAD_H */

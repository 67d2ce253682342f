/* SPDX-License-Identifier: GPL-2.0 */
/* utrace tests - a machine that generates branches, and its consumers */
#ifndef _KERNEL_UTRACE_TESTS_BRANCH_LAB_H
#define _KERNEL_UTRACE_TESTS_BRANCH_LAB_H

#include "fake.h"
#include "model.h"

#define LAB_CPUS	2
#define LAB_THREADS	3
#define LAB_CONSUMERS	6
#define LAB_STEPS	700
#define LAB_WINDOW	520
#define LAB_BUFFER	2048

/* Maximum number of branches from the %LAB_RUN steps, in total. */
#define LAB_BRANCHES	4000

/* The events of these branches, and 3 more for each step. */
#define LAB_OWN		(LAB_BRANCHES + 3 * LAB_STEPS)

/*
 * The diary can hold all events.  After each of the events above, at most one
 * interrupt comes, and one late interrupt in each step.  An interrupt makes 3
 * events: two branches and a gap.
 */
#define LAB_EVENTS	(LAB_OWN + 3 * (LAB_OWN + LAB_STEPS))

/* Maximum number of records of a stream: two of each read, and the events. */
#define LAB_RECORDS	(LAB_EVENTS + 2 * LAB_STEPS)

/* The thread number of an idle CPU. */
#define LAB_IDLE	0xff

/**
 * enum lab_op - kinds of steps
 * @LAB_RUN: the thread of a CPU makes branches
 * @LAB_ENTER: the thread enters the kernel, or is interrupted there
 * @LAB_LEAVE: the thread leaves the kernel
 * @LAB_SWITCH: a CPU switches to another thread
 * @LAB_READ: a reader reads
 * @LAB_ADD: a consumer is added
 * @LAB_REMOVE: a consumer is removed
 * @LAB_DRAIN: a window is drained
 * @LAB_INTERRUPT: an interrupt with another cause
 * @LAB_OFF: a CPU stops recording
 * @LAB_ON: a CPU continues to record
 */
enum lab_op {
	LAB_RUN,
	LAB_ENTER,
	LAB_LEAVE,
	LAB_SWITCH,
	LAB_READ,
	LAB_ADD,
	LAB_REMOVE,
	LAB_DRAIN,
	LAB_INTERRUPT,
	LAB_OFF,
	LAB_ON,
};

/**
 * struct lab_step - a step
 * @op: enum lab_op
 * @cpu: number of the CPU
 * @out: the step is skipped
 * @n: a count or an index, depending on @op
 * @seed: seed for other random values of the step
 */
struct lab_step {
	u8 op;
	u8 cpu;
	bool out;
	u16 n;
	u64 seed;
};

/**
 * struct lab_setup - the machine
 * @size: size of the window in records, by CPU
 * @shift: misalignment of the window in bytes, by CPU; a multiple of 8
 * @skid: number of records from the threshold to the interrupt
 * @off_os: see struct branch_fake
 * @off_usr: see struct branch_fake
 * @by_target: see struct branch_fake
 * @forgets: see struct branch_fake
 * @may_be_off: some steps are %LAB_OFF
 * @exact: the processor loses nothing
 */
struct lab_setup {
	unsigned int size[LAB_CPUS];
	unsigned int shift[LAB_CPUS];
	unsigned int skid;
	bool off_os;
	bool off_usr;
	bool by_target;
	bool forgets;
	bool may_be_off;
	bool exact;
};

/**
 * struct lab_consumer - a consumer
 * @level: level that it wants
 * @overwrite: its ring overwrites
 * @wait: its thread waits for the reader
 * @of_cpu: it follows a CPU, else a thread
 * @id: number of the CPU or thread
 * @size: size of its ring in records
 * @prompt: its reader always reads everything at once
 * @late: it is added by a step, not at the start
 * @out: it is skipped
 * @lab: the machine
 * @used: it was added
 * @there: it was added and not removed yet
 * @whole: it must have got everything
 * @wanted: its description for the model
 * @stream: the stream
 * @buffer: the ring
 * @got: records that its reader got
 * @n: number of records in @got
 * @records: memory of the ring
 */
struct lab_consumer {
	u8 level;
	bool overwrite;
	bool wait;
	bool of_cpu;
	u8 id;
	unsigned int size;
	bool prompt;
	bool late;
	bool out;
	struct lab *lab;
	bool used;
	bool there;
	bool whole;
	struct branch_wanted wanted;
	struct branch_stream stream;
	struct branch_buffer buffer;
	struct utrace_branch *got;
	unsigned int n;
	struct utrace_branch records[LAB_BUFFER];
};

/**
 * struct lab_thread - a thread
 * @streams: its streams
 * @running: it is on a CPU
 * @kernel: it is in the kernel
 * @at: address of its next instruction
 * @left: address at which it has left user mode
 * @by_insn: it has entered the kernel by an instruction
 * @notified: it must resume its streams before it runs user code
 * @late: number of records of user code that it may make before that
 */
struct lab_thread {
	struct list_head streams;
	bool running;
	bool kernel;
	u64 at;
	u64 left;
	bool by_insn;
	bool notified;
	unsigned int late;
};

/**
 * struct lab_cpu - a CPU
 * @fake: the emulated processor
 * @lab: the machine
 * @thread: the running thread; LAB_IDLE: none
 * @idle_at: address of the next instruction while the CPU is idle
 * @records: memory of the window and a guard around it
 */
struct lab_cpu {
	struct branch_fake fake;
	struct lab *lab;
	u8 thread;
	u64 idle_at;
	struct utrace_branch records[LAB_WINDOW];
};

/**
 * struct lab_counts - statistics of all rounds
 * @streams: streams that were compared with the model
 * @records: records that were equal in a stream and in the model
 * @interrupts: interrupts that came after a threshold was reached
 * @least: those interrupts of exact machines with windows of BRANCH_WINDOW_MIN
 *	records
 * @windows: branches that were equal with other windows
 * @filters: branches that were equal with a filter of the processor
 */
struct lab_counts {
	u64 streams;
	u64 records;
	u64 interrupts;
	u64 least;
	u64 windows;
	u64 filters;
};

/* After this number of rounds no count may be 0. */
#define LAB_ENOUGH	200

/**
 * struct lab - the machine, its consumers and the results
 * @seed: seed of everything random
 * @setup: the machine
 * @steps: the steps
 * @n_steps: number of elements of @steps
 * @n_consumers: number of elements of @consumer
 * @wrong: description of the first error; NULL: none
 * @where: number of the consumer or CPU of the error
 * @at: number of the record or event of the error
 * @wrong_setup: the machine of the error
 * @counts: statistics; zeroed before the first round
 * @cpu: the CPUs
 * @thread: the threads
 * @consumer: the consumers
 * @events: the diary
 * @n_events: number of elements of @events
 * @should: records that a consumer should get
 * @first: records that the consumers got in an earlier run
 * @n_first: number of records in @first, by consumer
 * @first_whole: lab_consumer.whole of the earlier run
 * @got: records that the consumers get
 */
struct lab {
	u64 seed;
	struct lab_setup setup;
	struct lab_step steps[LAB_STEPS];
	unsigned int n_steps;
	unsigned int n_consumers;
	const char *wrong;
	unsigned int where;
	unsigned int at;
	struct lab_setup wrong_setup;
	struct lab_counts counts;
	struct lab_cpu cpu[LAB_CPUS];
	struct lab_thread thread[LAB_THREADS];
	struct lab_consumer consumer[LAB_CONSUMERS];
	struct branch_event events[LAB_EVENTS];
	unsigned int n_events;
	struct utrace_branch should[LAB_RECORDS];
	struct utrace_branch first[LAB_CONSUMERS][LAB_RECORDS];
	unsigned int n_first[LAB_CONSUMERS];
	bool first_whole[LAB_CONSUMERS];
	struct utrace_branch got[LAB_CONSUMERS][LAB_RECORDS];
};

/* Kernel addresses: of ordinary code, and of the tracer's interrupt. */
#define LAB_KERNEL	0xffffffff81000000ULL
#define LAB_NMI		0xffffffff82000000ULL

/* Get the next pseudo-random number. */
static inline u64 lab_random(u64 *seed)
{
	u64 x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Store an error, unless there is one already. */
static inline void lab_wrong(struct lab *lab, const char *what,
			     unsigned int where, unsigned int at)
{
	if (lab->wrong)
		return;
	lab->wrong = what;
	lab->where = where;
	lab->at = at;
	lab->wrong_setup = lab->setup;
}

/* Check whether the processor leaves out branches by their level. */
static inline bool lab_is_filtered(const struct lab *lab)
{
	return lab->setup.off_os || lab->setup.off_usr;
}

/* lab.c */
void lab_run(struct lab *lab);

/* judge.c */
void lab_judge(struct lab *lab);
void lab_compare(struct lab *lab);

/* properties.c */
bool lab_round(struct lab *lab, u64 seed);
bool lab_has_judged(const struct lab *lab, unsigned long rounds);

#endif /* _KERNEL_UTRACE_TESTS_BRANCH_LAB_H */

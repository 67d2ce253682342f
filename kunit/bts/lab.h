/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - a machine that makes branches, and consumers of them
 */
#ifndef _KERNEL_UTRACE_TESTS_BTS_LAB_H
#define _KERNEL_UTRACE_TESTS_BTS_LAB_H

#include "fake.h"
#include "model.h"

#define LAB_CPUS	2
#define LAB_THREADS	3
#define LAB_CONSUMERS	6
#define LAB_STEPS	700
#define LAB_WINDOW	520
#define LAB_BUFFER	2048

/* Branches that the steps of %LAB_RUN make, all together. */
#define LAB_BRANCHES	4000

/* The events of these branches, and 3 more of each step. */
#define LAB_OWN		(LAB_BRANCHES + 3 * LAB_STEPS)

/*
 * The diary has memory for all that can happen.  An interrupt comes after each
 * of those events at most, and one more in a step, which is late.  It makes 3
 * events: two branches and a gap.
 */
#define LAB_EVENTS	(LAB_OWN + 3 * (LAB_OWN + LAB_STEPS))

/* A stream has no more records than that, but for two of each read. */
#define LAB_RECORDS	(LAB_EVENTS + 2 * LAB_STEPS)

/* The thread of a CPU that has nothing to do. */
#define LAB_IDLE	0xff

/**
 * enum lab_op - what happens in a step
 * @LAB_RUN: the thread of a CPU makes branches
 * @LAB_ENTER: it enters the kernel, or is interrupted there
 * @LAB_LEAVE: it leaves the kernel
 * @LAB_SWITCH: a CPU changes its thread
 * @LAB_READ: a reader reads
 * @LAB_ADD: a consumer begins
 * @LAB_REMOVE: a consumer ends
 * @LAB_DRAIN: a window is drained
 * @LAB_INTERRUPT: an interrupt that is for something else
 * @LAB_OFF: nothing is recorded on a CPU
 * @LAB_ON: and again
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
 * @cpu: where
 * @out: the step was taken out
 * @n: how many, or which
 * @seed: what else is random
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
 * @size: records of a window, by CPU
 * @shift: bytes by which the window is out of line, by CPU; a multiple of 8
 * @skid: records until the interrupt comes
 * @off_os: see struct bts_fake
 * @off_usr: likewise
 * @by_target: likewise
 * @forgets: likewise
 * @may_be_off: there are steps of %LAB_OFF
 * @exact: nothing is missing
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
 * @level: what it wants
 * @overwrite: it keeps the last records
 * @wait: its thread waits for the reader
 * @of_cpu: it follows a CPU, else a thread
 * @id: which one
 * @size: records of its ring
 * @prompt: its reader reads all at once
 * @late: it begins by a step, not at once
 * @out: it was taken out
 * @lab: the machine
 * @used: it has begun
 * @there: it has not ended
 * @whole: it must have got everything
 * @wanted: what the model has to tell
 * @stream: the stream
 * @buffer: the ring
 * @got: what its reader has got
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
	struct bts_wanted wanted;
	struct bts_stream stream;
	struct bts_buffer buffer;
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
 * @left: where it has left user mode
 * @told: it has entered the kernel by an instruction
 * @notified: it has to ask its streams before it runs user code
 * @late: records of user code that it may make before it gets to know that
 */
struct lab_thread {
	struct list_head streams;
	bool running;
	bool kernel;
	u64 at;
	u64 left;
	bool told;
	bool notified;
	unsigned int late;
};

/**
 * struct lab_cpu - a CPU
 * @fake: the part that records
 * @lab: the machine
 * @thread: the thread that runs; LAB_IDLE: none
 * @idle_at: address of the next instruction of that one
 * @records: memory of the window, and of what must not be written
 */
struct lab_cpu {
	struct bts_fake fake;
	struct lab *lab;
	u8 thread;
	u64 idle_at;
	struct utrace_branch records[LAB_WINDOW];
};

/**
 * struct lab_counts - what was judged, of all rounds
 * @streams: streams that were compared with the model
 * @records: records that are in a stream and in the model
 * @interrupts: interrupts that came since a threshold was reached
 * @least: of these, those of exact machines in windows of BTS_WINDOW_MIN
 *	records
 * @windows: branches that are alike with other windows
 * @filters: branches that are alike with a filter of the processor
 */
struct lab_counts {
	u64 streams;
	u64 records;
	u64 interrupts;
	u64 least;
	u64 windows;
	u64 filters;
};

/* With so many rounds none of these is 0. */
#define LAB_ENOUGH	200

/**
 * struct lab - all of it
 * @seed: of what the lab is made
 * @setup: the machine
 * @steps: what happens
 * @n_steps: number of elements of @steps
 * @n_consumers: number of elements of @consumer
 * @wrong: what is wrong; NULL: nothing
 * @where: number of the consumer, or of the CPU, to which that happened
 * @at: number of the record, or of the event
 * @wrong_setup: the machine on which it happened
 * @counts: what was judged; zeros before the first round
 * @cpu: the CPUs
 * @thread: the threads
 * @consumer: the consumers
 * @events: the diary
 * @n_events: number of elements of @events
 * @should: what a consumer should get
 * @first: what the consumers got in an earlier run
 * @n_first: number of elements of @first
 * @first_whole: lab_consumer.whole of that run
 * @got: what the consumers get
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
	struct bts_event events[LAB_EVENTS];
	unsigned int n_events;
	struct utrace_branch should[LAB_RECORDS];
	struct utrace_branch first[LAB_CONSUMERS][LAB_RECORDS];
	unsigned int n_first[LAB_CONSUMERS];
	bool first_whole[LAB_CONSUMERS];
	struct utrace_branch got[LAB_CONSUMERS][LAB_RECORDS];
};

/* Pages of the kernel's addresses: other code, and the tracer's interrupt. */
#define LAB_KERNEL	0xffffffff81000000ULL
#define LAB_NMI		0xffffffff82000000ULL

/* A number that is random enough, and the next one. */
static inline u64 lab_random(u64 *seed)
{
	u64 x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

/* Say that something is wrong, unless something was wrong before. */
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

/* Does the processor leave out branches by their level? */
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

#endif /* _KERNEL_UTRACE_TESTS_BTS_LAB_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace models - programs whose every interleaving is looked at
 *
 * A model has a few threads that share a small memory.  A thread is written as
 * the kernel's code would be, in steps: STEP("what") ends the step before it
 * and begins the next one, and whatever the code touches up to the following
 * STEP() happens at once.  What a thread keeps from one step to the next is in
 * the model's struct state, never in a C variable.
 *
 * Each CPU has a store buffer.  A store goes there, the CPU's own loads find it
 * there, and it lands in memory at any later time: in the order of the stores
 * (TSO, what x86 does), or in any order that keeps stores to one variable and
 * releases where they are (PSO).  Loads are not reordered.
 */
#ifndef MODELS_EXPLORE_H
#define MODELS_EXPLORE_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

#define MACHINE_VARS	24
#define MACHINE_CPUS	4
#define MACHINE_STORES	6

/**
 * struct machine - what every state of a model begins with
 * @mem: the variables that are shared
 * @pc: where each thread is, a line of its source
 * @buf: stores that did not land yet, oldest first
 */
struct machine {
	__u8 mem[MACHINE_VARS];
	__u16 pc[MACHINE_CPUS];
	struct buffer {
		__u8 n;
		struct {
			__u8 var;
			__u8 val;
		} store[MACHINE_STORES];
	} buf[MACHINE_CPUS];
};

/* Of the model; begins with a struct machine, and is all zeroes at first. */
struct state;

/**
 * struct thread - one that runs
 * @name: for traces
 * @run: its code; the second argument is the number of the thread
 */
struct thread {
	const char *name;
	void (*run)(struct state *s, unsigned int me);
};

/**
 * struct variant - one exploration of a model
 * @name: of the result line
 * @pso: stores may overtake each other
 * @has: bits that the model gives a meaning, asked for by has()
 * @fails: NULL, or what the exploration has to find, since something was
 *	taken out
 */
struct variant {
	const char *name;
	bool pso;
	unsigned int has;
	const char *fails;
};

/**
 * struct model - what a program of this folder defines as "model"
 * @size: of its struct state
 * @vars: names of the shared variables, for traces
 * @threads: up to MACHINE_CPUS, the last without a name
 * @ncpus: those with a store buffer; thread n runs on CPU n unless it
 *	calls run_on()
 * @init: the first state
 * @landed: NULL, or called when a store lands
 * @end: called for a state in which nobody can go on
 * @variants: the last without a name
 */
struct model {
	size_t size;
	const char *const *vars;
	const struct thread *threads;
	unsigned int ncpus;
	void (*init)(struct state *s);
	void (*landed)(struct state *s, __u8 var, __u8 val);
	void (*end)(struct state *s);
	const struct variant *variants;
};

extern const struct model model;

/* For the code of threads. */

#define THREAD_DONE	0xffff

#define BEGIN		switch (program_counter()) { case 0:
#define STEP(what) \
	do { \
		next_step(__LINE__, what); \
		return; \
		case __LINE__:; \
	} while (0)
#define AWAIT(what, cond) \
	do { \
		STEP(what); \
		if (!(cond)) { \
			cannot_go_on(); \
			return; \
		} \
	} while (0)
#define LOCK(var)	AWAIT("lock " #var, try_lock(var))
#define UNLOCK(var) \
	do { \
		STEP("unlock " #var); \
		store_release(var, 0); \
	} while (0)
#define END		next_step(THREAD_DONE, "done"); }

__u16 program_counter(void);
void next_step(__u16 line, const char *what);
void cannot_go_on(void);

/* Is this bit in the variant that is explored? */
bool has(unsigned int bit);

/* One of 0 to @n - 1, and all of them; once a step. */
unsigned int choose(unsigned int n);

/* The property that does not hold. */
void fail(const char *why);

/* Did this thread come to its end? */
bool done(unsigned int thread);

/* The rest of the step is on another CPU than that of the thread's number. */
void run_on(unsigned int cpu);

__u8 load(__u8 var);
void store(__u8 var, __u8 val);
void store_release(__u8 var, __u8 val);

/* A full barrier, smp_mb(), of this CPU or, as an IPI makes it, of another. */
void fence(void);
void fence_on(unsigned int cpu);

/*
 * An atomic exchange of 0 for 1, a full barrier for TSO, as on x86, and an
 * acquire for PSO, which earlier stores may be overtaken by.
 */
bool try_lock(__u8 var);

/* Where a model looks, and no code: the memory, and stores still to land. */
__u8 in_memory(__u8 var);
bool in_flight(unsigned int cpu, __u8 var);

#endif /* MODELS_EXPLORE_H */

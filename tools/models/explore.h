/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace models - how to write a program whose every interleaving is explored
 *
 * A model has a few threads that share a small memory.  A thread is written
 * like the kernel's code, in steps: STEP("what") ends the step before it and
 * begins the next one.  The code of one step happens at once.  A value that a
 * thread keeps from one step to the next is in the model's struct state, never
 * in a C variable.
 *
 * Each CPU has a store buffer.  A store goes to the buffer, where loads of the
 * same CPU find it, and is committed to memory ("lands") at any later time.
 * With TSO, the order of x86, stores land in the order in which they were made.
 * With PSO a store may overtake an older one, unless both are to one variable;
 * a release overtakes no store.  Loads are not reordered.
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
 * struct machine - the first member of every state of a model
 * @mem: the variables that the threads share
 * @pc: for each thread, the line of its source where its next step begins
 * @buf: for each CPU, the stores that have not landed yet, oldest first
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

/*
 * Each model defines struct state, with a struct machine as the first member.
 * All members are 0 before model::init.
 */
struct state;

/**
 * struct thread - a thread of a model
 * @name: name for traces; NULL ends the list of threads
 * @run: execute one step; the second argument is the number of the thread
 */
struct thread {
	const char *name;
	void (*run)(struct state *s, unsigned int me);
};

/**
 * struct variant - one exploration of a model
 * @name: name for the result line; NULL ends the list of variants
 * @pso: the order of stores is PSO, else TSO
 * @has: bits that the model defines, tested by has()
 * @fails: the failure that the exploration must find, since a barrier, check or
 *	order is missing; NULL if there must be no failure
 */
struct variant {
	const char *name;
	bool pso;
	unsigned int has;
	const char *fails;
};

/**
 * struct model - description of a model; each program defines one, "model"
 * @size: size of the model's struct state in bytes
 * @vars: names of the shared variables, for traces
 * @threads: up to MACHINE_CPUS threads
 * @ncpus: number of CPUs; thread n runs on CPU n unless it calls run_on()
 * @init: set up the first state
 * @landed: called after a store lands; may be NULL
 * @end: called for each state without a further move
 * @variants: the variants to explore
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

/* Check whether the explored variant has this bit, or one of these bits. */
bool has(unsigned int bit);

/*
 * Return a number below @n.  The exploration executes the step once with each
 * such number, so a step may call choose() at most once.
 */
unsigned int choose(unsigned int n);

/* Mark the state as a failure; @why names the property that does not hold. */
void fail(const char *why);

/* Check whether a thread has ended. */
bool done(unsigned int thread);

/*
 * Execute the rest of the step on @cpu instead of the CPU with the thread's
 * number.
 */
void run_on(unsigned int cpu);

__u8 load(__u8 var);
void store(__u8 var, __u8 val);
void store_release(__u8 var, __u8 val);

/* A full barrier, smp_mb(): of this CPU, or of @cpu, as by an IPI. */
void fence(void);
void fence_on(unsigned int cpu);

/*
 * Atomically exchange 0 for 1; false if it was 1.  With TSO it is a full
 * barrier, as on x86.  With PSO it is an acquire, which may overtake earlier
 * stores.
 */
bool try_lock(__u8 var);

/* Memory and store buffers, for the checks of a model, not for its code. */
__u8 in_memory(__u8 var);
bool in_flight(unsigned int cpu, __u8 var);

#endif /* MODELS_EXPLORE_H */

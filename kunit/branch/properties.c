// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - random machines and consumers of their branches
 *
 * A round is derived from one number.  If it finds an error, it removes steps
 * and consumers as long as the error stays, and prints the rest.
 */
#include <linux/array_size.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "lab.h"

/* Sizes of windows; the smallest ones have little room for the interrupt. */
static const u16 lab_sizes[] = {
	BRANCH_WINDOW_MIN, BRANCH_WINDOW_MIN + 1, 6, 7, 8, 13, 25, 64, 200, 512
};

static const u16 lab_small_sizes[] = {
	BRANCH_WINDOW_MIN, BRANCH_WINDOW_MIN + 1, 10
};

static unsigned int below(u64 *seed, unsigned int n)
{
	return lab_random(seed) % n;
}

static unsigned int make_size(const struct lab_setup *setup, u64 *seed)
{
	return setup->exact ?
	       lab_sizes[below(seed, ARRAY_SIZE(lab_sizes))] :
	       lab_small_sizes[below(seed, ARRAY_SIZE(lab_small_sizes))];
}

/*
 * Choose the windows and the skid.  A small window has its threshold in the
 * middle.  Before the threshold there is room for the branch out of the last
 * interrupt and for one more, so that the thread makes progress: no window is
 * smaller than BRANCH_WINDOW_MIN.  After it, an exact machine has room for the
 * skid, the branch into the interrupt, and a record that is never written.
 * Other machines may have less room there, and then lose branches.
 */
static void make_windows(struct lab_setup *setup, u64 *seed)
{
	unsigned int i, least = LAB_WINDOW;

	for (i = 0; i < LAB_CPUS; i++) {
		setup->size[i] = i && below(seed, 2) ? setup->size[0] :
				 make_size(setup, seed);
		setup->shift[i] = 8 * below(seed, 4);
		least = min(least, setup->size[i]);
	}
	setup->skid = below(seed, !setup->exact ? 5 :
			    min(least / 2, (unsigned int)BRANCH_MARGIN) - 1);
}

/* Choose a filter of one level, by one side of the branch. */
static void make_filter(struct lab_setup *setup, u64 *seed)
{
	setup->off_os = below(seed, 2);
	setup->off_usr = !setup->off_os;
	setup->by_target = below(seed, 2);
}

/* Choose the machine.  An exact one loses nothing. */
static void make_setup(struct lab *lab, u64 *seed)
{
	struct lab_setup *setup = &lab->setup;

	*setup = (struct lab_setup){ .exact = below(seed, 4) };
	make_windows(setup, seed);
	setup->may_be_off = !below(seed, 5);
	if (setup->exact)
		return;
	setup->forgets = !below(seed, 3);
	if (below(seed, 2))
		make_filter(setup, seed);
}

static void make_consumer(struct lab *lab, struct lab_consumer *consumer,
			  u64 *seed, bool may_wait)
{
	static const u8 levels[] = {
		BRANCH_LEVEL_USER, BRANCH_LEVEL_USER, BRANCH_LEVEL_KERNEL,
		BRANCH_LEVEL_BOTH
	};

	consumer->level = levels[below(seed, 4)];
	consumer->overwrite = below(seed, 2);
	consumer->of_cpu = below(seed, 2);
	consumer->wait = may_wait && !consumer->of_cpu &&
			 !consumer->overwrite &&
			 consumer->level == BRANCH_LEVEL_USER && below(seed, 3);
	consumer->id = below(seed, consumer->of_cpu ? LAB_CPUS : LAB_THREADS);
	consumer->size = consumer->wait ? BRANCH_WAIT_MIN << below(seed, 2) :
			 2U << below(seed, 10);
	consumer->prompt = !consumer->overwrite && below(seed, 2);
	consumer->late = !below(seed, 3);
	consumer->out = false;
}

static void make_step(struct lab *lab, struct lab_step *step, u64 *seed)
{
	static const u8 ops[] = {
		LAB_RUN, LAB_RUN, LAB_RUN, LAB_RUN, LAB_RUN, LAB_RUN, LAB_RUN,
		LAB_RUN, LAB_ENTER, LAB_ENTER, LAB_ENTER, LAB_ENTER, LAB_LEAVE,
		LAB_LEAVE, LAB_LEAVE, LAB_LEAVE, LAB_LEAVE, LAB_SWITCH,
		LAB_SWITCH, LAB_READ, LAB_READ, LAB_READ
	};
	static const u8 rare[] = {
		LAB_ADD, LAB_ADD, LAB_REMOVE, LAB_DRAIN, LAB_INTERRUPT, LAB_OFF,
		LAB_ON, LAB_ON
	};

	step->op = below(seed, 12) ? ops[below(seed, sizeof(ops))] :
		   rare[below(seed, sizeof(rare))];
	if (step->op >= LAB_OFF && !lab->setup.may_be_off)
		step->op = LAB_ADD;
	step->cpu = below(seed, LAB_CPUS);
	step->out = false;
	step->n = lab_random(seed);
	if (step->op == LAB_RUN)
		step->n = below(seed, 8) ? step->n % 12 : step->n % 200;
	step->seed = lab_random(seed);
}

/* Choose the consumers, of which at least one is added at the start. */
static void make_consumers(struct lab *lab, u64 *seed)
{
	bool may_wait = below(seed, 3);
	unsigned int i;

	lab->n_consumers = 1 + below(seed, LAB_CONSUMERS);
	for (i = 0; i < lab->n_consumers; i++)
		make_consumer(lab, &lab->consumer[i], seed, may_wait);
	lab->consumer[below(seed, lab->n_consumers)].late = false;
}

static void make_steps(struct lab *lab, u64 *seed)
{
	unsigned int i, left = LAB_BRANCHES;
	struct lab_step *step = lab->steps;

	lab->n_steps = 50 + below(seed, LAB_STEPS - 49);
	for (i = 0; i < lab->n_steps; i++, step++) {
		make_step(lab, step, seed);
		if (step->op != LAB_RUN)
			continue;
		step->n = min_t(unsigned int, step->n, left);
		left -= step->n;
	}
}

static void make(struct lab *lab, u64 seed)
{
	lab->seed = seed;
	make_setup(lab, &seed);
	make_consumers(lab, &seed);
	make_steps(lab, &seed);
}

/* Check that no thread waits, so a run does not depend on the windows. */
static bool is_comparable(const struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++)
		if (lab->consumer[i].wait)
			return false;
	return lab->setup.exact && !lab->wrong;
}

/* Keep the records of the consumers. */
static void keep_first(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++) {
		lab->n_first[i] = lab->consumer[i].n;
		lab->first_whole[i] = lab->consumer[i].whole;
		memcpy(lab->first[i], lab->got[i],
		       lab->n_first[i] * sizeof(lab->got[i][0]));
	}
}

static void run(struct lab *lab)
{
	lab_run(lab);
	lab_judge(lab);
}

/*
 * Run the same steps twice more: with other windows, and with a filter, too.
 * Both runs are compared with the first one, so a filter by the source of a
 * branch and one by its target must agree.
 */
static void run_otherwise(struct lab *lab)
{
	const struct lab_setup setup = lab->setup;
	u64 seed = ~lab->seed;

	keep_first(lab);
	make_windows(&lab->setup, &seed);
	run(lab);
	lab_compare(lab);
	if (!lab->wrong) {
		make_filter(&lab->setup, &seed);
		run(lab);
		lab_compare(lab);
	}
	lab->setup = setup;
}

static bool holds(struct lab *lab)
{
	run(lab);
	if (is_comparable(lab))
		run_otherwise(lab);
	return !lab->wrong;
}

/* Skip steps, or restore them. */
static void take_out(struct lab *lab, unsigned int first, unsigned int n,
		     bool out)
{
	unsigned int i;

	for (i = first; i < lab->n_steps && i < first + n; i++)
		lab->steps[i].out = out;
}

/* Remove as much as possible while there is an error. */
static void shrink(struct lab *lab)
{
	unsigned int n, i;

	for (i = 0; i < lab->n_consumers; i++) {
		lab->consumer[i].out = true;
		lab->consumer[i].out = !holds(lab);
	}
	for (n = lab->n_steps; n; n /= 2) {
		for (i = 0; i < lab->n_steps; i += n) {
			if (lab->steps[i].out)
				continue;
			take_out(lab, i, n, true);
			if (holds(lab))
				take_out(lab, i, n, false);
		}
	}
	holds(lab);
}

static void print_consumer(const struct lab_consumer *consumer,
			   unsigned int number)
{
	static const char * const levels[] = {
		[BRANCH_LEVEL_USER]	= "user",
		[BRANCH_LEVEL_KERNEL]	= "kernel",
		[BRANCH_LEVEL_BOTH]	= "both",
	};

	pr_info("  consumer %u: %s %u, %s, %s of %u%s%s%s\n", number,
		consumer->of_cpu ? "CPU" : "thread", consumer->id,
		levels[consumer->level],
		consumer->overwrite ? "last" : "continuous", consumer->size,
		consumer->wait ? ", waits" : "",
		consumer->prompt ? ", prompt" : "",
		consumer->late ? ", late" : "");
}

static void print_setup(const struct lab_setup *setup, const char *which)
{
	pr_info("  %s: windows of %u and %u, skid %u%s%s%s%s\n", which,
		setup->size[0], setup->size[1], setup->skid,
		setup->off_os ? ", without kernel" : "",
		setup->off_usr ? ", without user mode" : "",
		setup->by_target ? " by target" : "",
		setup->forgets ? ", forgets edges" : "");
}

static void print(const struct lab *lab, u64 seed)
{
	static const char * const ops[] = {
		"run", "enter", "leave", "switch", "read", "add", "remove",
		"drain", "interrupt", "off", "on"
	};
	unsigned int i;

	pr_info("seed %llu: %s (number %u, at %u)\n", (unsigned long long)seed,
		lab->wrong, lab->where, lab->at);
	print_setup(&lab->setup, "first");
	print_setup(&lab->wrong_setup, "wrong");
	for (i = 0; i < lab->n_consumers; i++)
		if (!lab->consumer[i].out)
			print_consumer(&lab->consumer[i], i);
	for (i = 0; i < lab->n_steps; i++)
		if (!lab->steps[i].out)
			pr_info("  CPU %u %s %u, %llx\n", lab->steps[i].cpu,
				ops[lab->steps[i].op], lab->steps[i].n,
				(unsigned long long)lab->steps[i].seed);
}

/**
 * lab_round() - test all properties on one random machine
 * @lab: memory
 * @seed: number from which the machine is derived
 *
 * Context: Any; several milliseconds.  Errors are printed.
 * Return: true if all properties hold.
 */
bool lab_round(struct lab *lab, u64 seed)
{
	bool good;

	make(lab, seed);
	good = holds(lab);
	if (!good) {
		const char *wrong = lab->wrong;

		shrink(lab);
		if (!lab->wrong)
			lab->wrong = wrong;
		print(lab, seed);
	}
	return good;
}

/**
 * lab_has_judged() - check whether each property was tested
 * @lab: after @rounds calls of lab_round()
 * @rounds: number of machines
 *
 * Return: false if there were no machines or too few streams, or if LAB_ENOUGH
 * machines left some property untested.
 */
bool lab_has_judged(const struct lab *lab, unsigned long rounds)
{
	const struct lab_counts *counts = &lab->counts;

	if (!rounds || counts->streams < rounds)
		return false;
	return rounds < LAB_ENOUGH ||
	       (counts->records && counts->least && counts->windows &&
		counts->filters);
}

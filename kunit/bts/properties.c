// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - random machines and consumers of their branches
 *
 * A round is made of one number.  If it finds something wrong, it takes out
 * steps and consumers as long as something is wrong, and prints what is left.
 */
#include <linux/array_size.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "lab.h"

static const u16 lab_sizes[] = { 4, 5, 7, 8, 13, 25, 64, 200, 512 };
static const u16 lab_small_sizes[] = { 2, 3, 4, 10 };

static unsigned int below(u64 *seed, unsigned int n)
{
	return lab_random(seed) % n;
}

static unsigned int make_size(const struct lab *lab, u64 *seed)
{
	return lab->setup.exact ?
	       lab_sizes[below(seed, ARRAY_SIZE(lab_sizes))] :
	       lab_small_sizes[below(seed, ARRAY_SIZE(lab_small_sizes))];
}

/* The machine.  An exact one has windows that are large enough for its skid. */
static void make_setup(struct lab *lab, u64 *seed)
{
	struct lab_setup *setup = &lab->setup;
	unsigned int i, least = LAB_WINDOW;

	*setup = (struct lab_setup){ .exact = below(seed, 4) };
	for (i = 0; i < LAB_CPUS; i++) {
		setup->size[i] = i && below(seed, 2) ? setup->size[0] :
				 make_size(lab, seed);
		setup->shift[i] = 8 * below(seed, 4);
		least = min(least, setup->size[i]);
	}
	/* One place is for the branch into the interrupt. */
	setup->skid = below(seed, setup->exact ?
			    min(least / 2, (unsigned int)BTS_MARGIN) - 1 : 5);
	setup->may_be_off = !below(seed, 5);
	if (setup->exact)
		return;
	setup->forgets = !below(seed, 3);
	if (below(seed, 2)) {
		setup->off_os = below(seed, 2);
		setup->off_usr = !setup->off_os;
		setup->by_target = below(seed, 2);
	}
}

static void make_consumer(struct lab *lab, struct lab_consumer *consumer,
			  u64 *seed, bool may_wait)
{
	static const u8 levels[] = {
		BTS_LEVEL_USER, BTS_LEVEL_USER, BTS_LEVEL_KERNEL,
		BTS_LEVEL_BOTH
	};

	consumer->level = levels[below(seed, 4)];
	consumer->overwrite = below(seed, 2);
	consumer->of_cpu = below(seed, 2);
	consumer->hide_user = consumer->level == BTS_LEVEL_KERNEL &&
			      below(seed, 2);
	consumer->wait = may_wait && !consumer->of_cpu &&
			 !consumer->overwrite &&
			 consumer->level == BTS_LEVEL_USER && below(seed, 3);
	consumer->id = below(seed, consumer->of_cpu ? LAB_CPUS : LAB_THREADS);
	consumer->size = consumer->wait ? BTS_WAIT_MIN << below(seed, 2) :
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

static void make(struct lab *lab, u64 seed)
{
	bool may_wait;
	unsigned int i;

	lab->seed = seed;
	make_setup(lab, &seed);
	may_wait = below(&seed, 3);
	lab->n_consumers = 1 + below(&seed, LAB_CONSUMERS);
	for (i = 0; i < lab->n_consumers; i++)
		make_consumer(lab, &lab->consumer[i], &seed, may_wait);
	lab->n_steps = 50 + below(&seed, LAB_STEPS - 49);
	for (i = 0; i < lab->n_steps; i++)
		make_step(lab, &lab->steps[i], &seed);
}

/* Does no thread wait, so that a run does not depend on the windows? */
static bool is_comparable(const struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++)
		if (lab->consumer[i].wait)
			return false;
	return lab->setup.exact && !lab->cut && !lab->wrong;
}

/* The same steps once more, with other windows. */
static void run_otherwise(struct lab *lab)
{
	const struct lab_setup setup = lab->setup;
	unsigned int i;

	for (i = 0; i < lab->n_consumers; i++) {
		lab->n_first[i] = lab->consumer[i].n;
		memcpy(lab->first[i], lab->got[i],
		       lab->n_first[i] * sizeof(lab->got[i][0]));
	}
	for (i = 0; i < LAB_CPUS; i++)
		lab->setup.size[i] = setup.size[i] % 3 ? 512 : 9;
	lab->setup.skid = 1;
	lab_run(lab);
	lab_judge(lab);
	if (!lab->cut)
		lab_compare(lab);
	lab->setup = setup;
}

static bool holds(struct lab *lab)
{
	lab_run(lab);
	lab_judge(lab);
	if (is_comparable(lab))
		run_otherwise(lab);
	return !lab->wrong;
}

/* Take out steps that are not out, or take them back. */
static void take_out(struct lab *lab, unsigned int first, unsigned int n,
		     bool out)
{
	unsigned int i;

	for (i = first; i < lab->n_steps && i < first + n; i++)
		lab->steps[i].out = out;
}

/* Take out as much as possible while something is wrong. */
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
	static const char * const levels[] = { "user", "kernel", "both" };

	pr_info("  consumer %u: %s %u, %s, %s of %u%s%s%s%s\n", number,
		consumer->of_cpu ? "CPU" : "thread", consumer->id,
		levels[consumer->level],
		consumer->overwrite ? "last" : "continuous", consumer->size,
		consumer->wait ? ", waits" : "",
		consumer->prompt ? ", prompt" : "",
		consumer->hide_user ? ", hides user mode" : "",
		consumer->late ? ", late" : "");
}

static void print(const struct lab *lab, u64 seed)
{
	static const char * const ops[] = {
		"run", "enter", "leave", "switch", "read", "add", "remove",
		"drain", "interrupt", "off", "on"
	};
	const struct lab_setup *setup = &lab->setup;
	unsigned int i;

	pr_info("seed %llu: %s (number %u, at %u)\n", (unsigned long long)seed,
		lab->wrong, lab->where, lab->at);
	pr_info("  windows of %u and %u, skid %u%s%s%s%s\n", setup->size[0],
		setup->size[1], setup->skid,
		setup->off_os ? ", without kernel" : "",
		setup->off_usr ? ", without user mode" : "",
		setup->by_target ? " by target" : "",
		setup->forgets ? ", forgets edges" : "");
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
 * @seed: what the machine is made of
 *
 * Context: Any; several milliseconds.  If something is wrong, it is printed.
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

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - comparison of what consumers got with the model
 *
 * Each stream is compared with the model record by record.  Where the stream
 * reports missing records, as many of the model's are skipped.  Some properties
 * are also tested without the model, which may be wrong.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "lab.h"

/* Position in two streams: what a consumer got and what it should get. */
struct judge {
	struct lab *lab;
	struct lab_consumer *consumer;
	const struct utrace_branch *got;
	unsigned int n_got;
	unsigned int i;
	const struct utrace_branch *should;
	unsigned int n_should;
	unsigned int j;
};

static void wrong(struct judge *judge, const char *what)
{
	lab_wrong(judge->lab, what, judge->consumer - judge->lab->consumer,
		  judge->i);
}

static bool is_type(const struct utrace_branch *record, u64 type)
{
	return UTRACE_BRANCH_TYPE(record->info) == type;
}

static bool is_lost(const struct utrace_branch *record, u64 cause)
{
	return record->info == (UTRACE_BRANCH_LOST | cause << 8);
}

static bool is_same(const struct utrace_branch *a,
		    const struct utrace_branch *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* Skip the gaps at one position.  Returns the bits of their causes. */
static u32 skip_gaps(const struct utrace_branch *records, unsigned int n,
		     unsigned int *at)
{
	u32 causes = 0;

	while (*at < n && is_type(&records[*at], UTRACE_BRANCH_GAP))
		causes |= 1U << UTRACE_BRANCH_LOSS(records[(*at)++].info);
	return causes;
}

/* Skip @n expected records, and the gaps between them.  Returns the causes. */
static u32 skip_lost(struct judge *judge, u64 n)
{
	u32 causes = 0;

	while (n) {
		causes |= skip_gaps(judge->should, judge->n_should, &judge->j);
		if (judge->j == judge->n_should) {
			wrong(judge, "LOST counts more than the model");
			return causes;
		}
		judge->j++;
		n--;
	}
	return causes;
}

/* Compare the losses and gaps at one position of a continuous ring. */
static void judge_losses(struct judge *judge)
{
	u32 got = 0, should = 0;
	const struct utrace_branch *record;

	for (;;) {
		should |= skip_gaps(judge->should, judge->n_should, &judge->j);
		got |= skip_gaps(judge->got, judge->n_got, &judge->i);
		if (judge->i == judge->n_got)
			break;
		record = &judge->got[judge->i];
		if (!is_lost(record, UTRACE_LOSS_FULL))
			break;
		should |= skip_lost(judge, record->from);
		judge->i++;
	}
	if (got != should)
		wrong(judge, "gaps differ");
}

/* Find the last TASK record before the position; NULL: there is none. */
static const struct utrace_branch *owner_of(const struct judge *judge)
{
	unsigned int j = min(judge->j, judge->n_should);

	while (j--)
		if (is_type(&judge->should[j], UTRACE_BRANCH_TASK))
			return &judge->should[j];
	return NULL;
}

/*
 * Check the report of overwritten records and the owner of the next one.  A
 * reader that reads one record at a time may get more reports before the owner.
 */
static void judge_overwritten(struct judge *judge)
{
	const struct utrace_branch *owner, *record = &judge->got[judge->i];
	const struct utrace_branch *end = judge->got + judge->n_got;

	while (record < end && is_lost(record, UTRACE_LOSS_OVERWRITTEN)) {
		judge->j += record++->from;
		owner = owner_of(judge);
		if (!owner || (record < end &&
			       is_lost(record, UTRACE_LOSS_OVERWRITTEN)))
			continue;
		if (record == end || !is_same(record, owner))
			wrong(judge, "the owner of the oldest records is missing");
		record++;
	}
	judge->i = record - judge->got;
}

/* P3 to P7: a stream is as expected, except for what it reports as missing. */
static void judge_model(struct judge *judge)
{
	bool overwrite = judge->consumer->overwrite;

	while (!judge->lab->wrong) {
		if (!overwrite)
			judge_losses(judge);
		else if (judge->i < judge->n_got)
			judge_overwritten(judge);
		if (judge->i >= judge->n_got || judge->j >= judge->n_should)
			break;
		if (!is_same(&judge->got[judge->i], &judge->should[judge->j]))
			wrong(judge, "a record differs");
		judge->lab->counts.records += !judge->consumer->wanted.ideal;
		judge->i++;
		judge->j++;
	}
	if (judge->i != judge->n_got)
		wrong(judge, "the stream has more records than the model");
	if (judge->j != judge->n_should)
		wrong(judge, "the stream has fewer records than the model");
}

static void judge_with_model(struct judge *judge, bool ideal)
{
	struct lab_consumer *consumer = judge->consumer;

	consumer->wanted.ideal = ideal;
	judge->should = judge->lab->should;
	judge->n_should = branch_model(judge->lab->events, &consumer->wanted,
				       judge->lab->should, LAB_RECORDS);
	judge->i = 0;
	judge->j = 0;
	if (judge->n_should > LAB_RECORDS)
		wrong(judge, "no memory for the model");
	else
		judge_model(judge);
}

static bool is_kernel(u64 address)
{
	return (s64)address < 0;
}

/* P1: no address of the kernel is in a stream of user mode. */
static void judge_no_leak(struct judge *judge)
{
	const struct utrace_branch *record;

	for (judge->i = 0; judge->i < judge->n_got; judge->i++) {
		record = &judge->got[judge->i];
		if ((is_kernel(record->from) && record->from < UTRACE_PC_BASE) ||
		    (is_kernel(record->to) && record->to < UTRACE_PC_BASE))
			wrong(judge, "an address of the kernel is recorded");
	}
}

/* P2: no branch of user mode is in a stream of the kernel. */
static void judge_kernel_only(struct judge *judge)
{
	const struct utrace_branch *record;

	for (judge->i = 0; judge->i < judge->n_got; judge->i++) {
		record = &judge->got[judge->i];
		if (!is_type(record, UTRACE_BRANCH))
			continue;
		if (!is_kernel(record->from) && !is_kernel(record->to))
			wrong(judge, "a branch of user mode is recorded");
	}
}

/* Check whether the thread can have run from @last straight to @next. */
static bool is_straight(const struct utrace_branch *last,
			const struct utrace_branch *next)
{
	if (is_kernel(last->to))
		return is_kernel(next->from);
	return !is_kernel(next->from) && next->from >= last->to &&
	       next->from - last->to < 1 << 20;
}

/* P9: a stream of user mode reports each hole. */
static void judge_straight(struct judge *judge)
{
	const struct utrace_branch *record, *last = NULL;

	for (judge->i = 0; judge->i < judge->n_got; judge->i++) {
		record = &judge->got[judge->i];
		if (is_type(record, UTRACE_BRANCH)) {
			if (last && !is_straight(last, record))
				wrong(judge, "a gap is not reported");
			last = record;
		} else {
			last = NULL;
		}
	}
}

/* P4: the losses in the stream add up to the counters. */
static u64 judge_counts(struct judge *judge)
{
	const u64 *counts = judge->consumer->buffer.counts;
	u64 lost = 0, overwritten = 0;
	const struct utrace_branch *record;

	for (judge->i = 0; judge->i < judge->n_got; judge->i++) {
		record = &judge->got[judge->i];
		if (is_lost(record, UTRACE_LOSS_FULL))
			lost += record->from;
		else if (is_lost(record, UTRACE_LOSS_OVERWRITTEN))
			overwritten += record->from;
		else if (is_type(record, UTRACE_BRANCH_LOST))
			wrong(judge, "LOST has no cause");
	}
	if (lost != counts[UTRACE_LOSS_FULL] ||
	    overwritten != counts[UTRACE_LOSS_OVERWRITTEN])
		wrong(judge, "the counters differ from the stream");
	return lost;
}

/* Check whether a continuous consumer must get everything. */
static bool is_whole(const struct lab *lab, const struct lab_consumer *consumer)
{
	unsigned int i, most = 0;

	if (!lab->setup.exact || consumer->overwrite)
		return false;
	if (consumer->wait)
		return true;
	for (i = 0; i < LAB_CPUS; i++)
		if (!consumer->of_cpu || consumer->id == i)
			most = max(most, lab->setup.size[i]);
	/* If edges are left out, a gap may be reported before each record. */
	if (lab_is_filtered(lab) && consumer->level == BRANCH_LEVEL_USER)
		most *= 2;
	return consumer->prompt && consumer->size >= most + BRANCH_RESERVE;
}

static void judge_one(struct lab *lab, struct lab_consumer *consumer)
{
	struct judge judge = {
		.lab = lab,
		.consumer = consumer,
		.got = consumer->got,
		.n_got = consumer->n,
	};

	if (consumer->level == BRANCH_LEVEL_USER) {
		judge_no_leak(&judge);
		/* A hole is not seen if neither of its edges was recorded. */
		if (!lab->setup.forgets)
			judge_straight(&judge);
	} else if (consumer->level == BRANCH_LEVEL_KERNEL) {
		judge_kernel_only(&judge);
	}
	/* P10 */
	consumer->whole = is_whole(lab, consumer);
	if (judge_counts(&judge) && consumer->whole)
		wrong(&judge, "records were lost");
	judge_with_model(&judge, false);
	if (lab->setup.exact && !lab->setup.may_be_off &&
	    !lab_is_filtered(lab) && consumer->level == BRANCH_LEVEL_USER)
		judge_with_model(&judge, true);
	lab->counts.streams++;
}

/**
 * lab_judge() - check the streams of all consumers
 * @lab: after lab_run()
 */
void lab_judge(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers && !lab->wrong; i++)
		if (lab->consumer[i].used)
			judge_one(lab, &lab->consumer[i]);
}

static bool is_of_interrupt(const struct utrace_branch *record)
{
	return (record->from & ~0xfffULL) == LAB_NMI ||
	       (record->to & ~0xfffULL) == LAB_NMI;
}

/*
 * Check whether a record must be the same with other windows or with a filter.
 * These records need not: a branch of the tracer's own interrupt, since
 * interrupts come elsewhere; a branch that the filter leaves out; and an edge
 * in a stream of user mode.  A filter leaves out either the entry into the
 * kernel or the exit.  Depending on the side that the filter checks, a consumer
 * of user mode then gets a gap, UTRACE_PC_KERNEL, or nothing.  Other consumers
 * get each edge as it was recorded, so theirs are compared.
 */
static bool is_compared(const struct lab *lab,
			const struct lab_consumer *consumer,
			const struct utrace_branch *record)
{
	const struct lab_setup *setup = &lab->setup;
	u64 side = setup->by_target ? record->to : record->from;

	if (is_of_interrupt(record))
		return false;
	if (!lab_is_filtered(lab))
		return true;
	if (!is_type(record, UTRACE_BRANCH))
		return record->info !=
		       (UTRACE_BRANCH_GAP | UTRACE_LOSS_EDGE << 8);
	if (consumer->level == BRANCH_LEVEL_USER &&
	    (is_kernel(record->from) || is_kernel(record->to)))
		return false;
	return is_kernel(side) ? !setup->off_os : !setup->off_usr;
}

/* Advance to the next record that must be compared. */
static bool next_of(const struct lab *lab, const struct lab_consumer *consumer,
		    const struct utrace_branch *records, unsigned int n,
		    unsigned int *at)
{
	while (*at < n && !is_compared(lab, consumer, &records[*at]))
		++*at;
	return *at < n;
}

static void compare_one(struct lab *lab, unsigned int number)
{
	struct lab_consumer *consumer = &lab->consumer[number];
	const struct utrace_branch *a = lab->first[number];
	const struct utrace_branch *b = consumer->got;
	u64 *count = lab_is_filtered(lab) ? &lab->counts.filters :
		     &lab->counts.windows;
	unsigned int i = 0, j = 0;
	bool more_a, more_b;

	for (;; i++, j++) {
		more_a = next_of(lab, consumer, a, lab->n_first[number], &i);
		more_b = next_of(lab, consumer, b, consumer->n, &j);
		if (!more_a || !more_b)
			break;
		if (!is_same(&a[i], &b[j])) {
			lab_wrong(lab, "another machine gives another record",
				  number, j);
			return;
		}
		*count += is_type(&a[i], UTRACE_BRANCH);
	}
	if (more_a != more_b)
		lab_wrong(lab, "another machine gives more or fewer records",
			  number, j);
}

/**
 * lab_compare() - check P8: windows and filters make no difference
 * @lab: after a second lab_run() with the same steps on another machine
 *
 * Streams that may lose records are not compared: what is lost depends on when
 * the window is drained.
 */
void lab_compare(struct lab *lab)
{
	unsigned int i;

	for (i = 0; i < lab->n_consumers && !lab->wrong; i++)
		if (lab->consumer[i].used && lab->consumer[i].whole &&
		    lab->first_whole[i])
			compare_one(lab, i);
}

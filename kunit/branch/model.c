// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - a model of what each consumer of branches should get
 *
 * The model reads the whole diary of a machine, in both directions.  It does
 * not model windows and rings, and shares no code with what it checks.
 */
#include "model.h"

/* The records of one consumer. */
struct model {
	const struct branch_event *events;
	const struct branch_wanted *wanted;
	struct utrace_branch *records;
	unsigned int n;
	unsigned int max;
};

static void model_put(struct model *model, u64 from, u64 to, u64 info)
{
	if (model->n < model->max)
		model->records[model->n] = (struct utrace_branch){
			from, to, info
		};
	model->n++;
}

static void model_put_gap(struct model *model, unsigned int cause)
{
	model_put(model, 0, 0, UTRACE_BRANCH_GAP | cause << 8);
}

static bool is_kernel(u64 address)
{
	return address >= 0x8000000000000000ULL;
}

/* Check whether an event belongs to the stream. */
static bool model_has(const struct model *model, unsigned int i)
{
	const struct branch_event *event = &model->events[i];
	const struct branch_wanted *wanted = model->wanted;

	if (wanted->of_cpu ? event->cpu != wanted->id :
	    event->thread != wanted->id)
		return false;
	switch (event->type) {
	case BRANCH_EVENT_BRANCH:
		return event->stored || wanted->ideal;
	case BRANCH_EVENT_TASK:
		return wanted->of_cpu;
	default:
		return !(wanted->of_cpu && event->threads);
	}
}

static bool model_is_branch(const struct model *model, unsigned int i,
			    bool from_kernel, bool to_kernel)
{
	const struct branch_event *event = &model->events[i];

	return event->type == BRANCH_EVENT_BRANCH &&
	       is_kernel(event->record.from) == from_kernel &&
	       is_kernel(event->record.to) == to_kernel;
}

/*
 * Find the last event before @i in which user mode has a part, or which is no
 * branch.  @kernel: set if a branch within the kernel is in between.  Returns
 * false if there is none.
 */
static bool model_before(const struct model *model, unsigned int i,
			 unsigned int *before, bool *kernel)
{
	*kernel = false;
	while (i-- > model->wanted->begin) {
		if (!model_has(model, i))
			continue;
		if (model_is_branch(model, i, true, true)) {
			*kernel = true;
			continue;
		}
		*before = i;
		return true;
	}
	return false;
}

/* Find the first such event after @i. */
static bool model_after(const struct model *model, unsigned int i,
			unsigned int *after)
{
	while (++i < model->wanted->end) {
		if (!model_has(model, i) ||
		    model_is_branch(model, i, true, true))
			continue;
		*after = i;
		return true;
	}
	return false;
}

/* Check whether branch @i from or to user mode cannot follow the last one. */
static bool model_edge_missing(const struct model *model, unsigned int i,
			       bool from_user)
{
	unsigned int before;
	bool kernel;

	if (!model_before(model, i, &before, &kernel) ||
	    model->events[before].type != BRANCH_EVENT_BRANCH)
		return false;
	if (model_is_branch(model, before, false, true))
		return from_user;
	return kernel || !from_user;
}

/* Check whether the thread continues elsewhere than it left user mode at @i. */
static bool model_is_moved(const struct model *model, unsigned int i)
{
	unsigned int after;

	if (!model_after(model, i, &after))
		return model->wanted->finished;
	if (model->events[after].type == BRANCH_EVENT_TASK)
		return true;
	return model_is_branch(model, after, true, false) &&
	       model->events[after].record.to != model->events[i].record.from;
}

static void model_enter(struct model *model, unsigned int i)
{
	const struct branch_event *event = &model->events[i];

	if (event->pc)
		model_put(model, event->record.from, event->pc,
			  (event->record.info & UTRACE_BRANCH_PREDICTED) |
			  (event->syscall ? UTRACE_BR_SYSCALL << 8 : 0));
	else if (model_is_moved(model, i))
		model_put(model, event->record.from, UTRACE_PC_ASYNC, 0);
}

static void model_leave(struct model *model, unsigned int i)
{
	const struct utrace_branch *record = &model->events[i].record;
	u64 info = record->info & UTRACE_BRANCH_PREDICTED;
	const struct branch_event *entry;
	unsigned int before;
	bool kernel;

	if (!model_before(model, i, &before, &kernel) ||
	    !model_is_branch(model, before, false, true)) {
		model_put(model, UTRACE_PC_KERNEL, record->to, info);
		return;
	}
	entry = &model->events[before];
	if (entry->pc)
		model_put(model, entry->pc, record->to, info |
			  (entry->syscall ? UTRACE_BR_SYSRET << 8 : 0));
	else if (model_is_moved(model, before))
		model_put(model, UTRACE_PC_ASYNC, record->to, info);
}

static void model_user(struct model *model, unsigned int i)
{
	const struct utrace_branch *record = &model->events[i].record;

	if (model_is_branch(model, i, true, true))
		return;
	if (model_edge_missing(model, i, !is_kernel(record->from)))
		model_put_gap(model, UTRACE_LOSS_EDGE);
	if (model_is_branch(model, i, false, true))
		model_enter(model, i);
	else if (model_is_branch(model, i, true, false))
		model_leave(model, i);
	else
		model_put(model, record->from, record->to, record->info);
}

static void model_kernel(struct model *model, unsigned int i)
{
	const struct utrace_branch *record = &model->events[i].record;

	if (!model_is_branch(model, i, false, false))
		model_put(model, record->from, record->to, record->info);
}

static void model_event(struct model *model, unsigned int i)
{
	const struct branch_event *event = &model->events[i];
	const struct utrace_branch *record = &event->record;

	if (event->type == BRANCH_EVENT_GAP)
		model_put_gap(model, event->cause);
	else if (event->type == BRANCH_EVENT_TASK ||
		 model->wanted->level == BRANCH_LEVEL_BOTH)
		model_put(model, record->from, record->to, record->info);
	else if (model->wanted->level == BRANCH_LEVEL_USER)
		model_user(model, i);
	else
		model_kernel(model, i);
}

/**
 * branch_model() - compute what a consumer should get
 * @events: the diary
 * @wanted: the consumer
 * @records: filled in
 * @n: number of records that fit in @records
 *
 * Return: number of records that the consumer should get.
 */
unsigned int branch_model(const struct branch_event *events,
			  const struct branch_wanted *wanted,
			  struct utrace_branch *records, unsigned int n)
{
	struct model model = { events, wanted, records, 0, n };
	unsigned int i;

	if (wanted->off)
		model_put_gap(&model, UTRACE_LOSS_OFF);
	for (i = wanted->begin; i < wanted->end; i++)
		if (model_has(&model, i))
			model_event(&model, i);
	return model.n;
}

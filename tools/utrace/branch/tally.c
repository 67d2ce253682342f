// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - statistics of recorded branches
 *
 * Each branch counts once in each table: for the function that it leaves, for
 * its edge, for its task, and for the call stack at the branch.
 */
#include <stdlib.h>
#include <string.h>

#include <linux/utrace_branch.h>

#include "lib/memory.h"
#include "places.h"
#include "spaces.h"
#include "tally.h"

/* Begin to count. */
void tally_begin(struct tally *tally)
{
	*tally = (struct tally){ .task = PAIRS_NONE };
}

/* Return the process of the current task. */
static pid_t pid_of(const struct tally *tally)
{
	return tally->tasks[tally->task].id.a >> 32;
}

static struct space *space_at(const struct tally *tally)
{
	return space_of(pid_of(tally));
}

static void take_task(struct tally *tally, __u64 a, __u64 b)
{
	size_t n = tally->task_ids.n;

	tally->task = pairs_add(&tally->task_ids, a, b);
	if (tally->task < n)
		return;
	tally->tasks = grow(tally->tasks, n, &tally->tasks_size,
			    sizeof(*tally->tasks));
	tally->tasks[n] = (struct tally_task){
		.id = { a, b },
		.stack.tree = &tally->tree,
	};
}

static void forget_stack(struct tally *tally)
{
	stack_reset(&tally->tasks[tally->task].stack,
		    function_of_program(space_at(tally)->program));
}

static void more_functions(struct tally *tally)
{
	size_t n = functions_count();

	if (n <= tally->nfunctions)
		return;
	n *= 2;
	tally->functions = checked(reallocarray(tally->functions, n,
						sizeof(*tally->functions)));
	memset(tally->functions + tally->nfunctions, 0,
	       (n - tally->nfunctions) * sizeof(*tally->functions));
	tally->nfunctions = n;
}

static void count_edge(struct tally *tally, const struct places *places,
		       unsigned int kind)
{
	size_t n = tally->edge_pairs.n;
	size_t i = pairs_add(&tally->edge_pairs, places->from, places->to);

	if (i == n) {
		tally->edges = grow(tally->edges, n, &tally->edges_size,
				    sizeof(*tally->edges));
		tally->edges[i] = (struct tally_edge){ *places, kind, 0 };
	}
	tally->edges[i].taken++;
}

/*
 * Check whether a branch is a call, or a jump to the start of another function.
 */
static bool is_call(const struct utrace_branch *record, const struct place *from,
		    const struct place *to)
{
	unsigned int kind = UTRACE_BRANCH_KIND(record->info);

	if (record->to >= UTRACE_PC_BASE)
		return false;
	if (kind == UTRACE_BR_CALL || kind == UTRACE_BR_IND_CALL)
		return true;
	if (record->from >= UTRACE_PC_BASE)
		return record->from == UTRACE_PC_SIGNAL ||
		       record->from == UTRACE_PC_EXEC;
	return kind != UTRACE_BR_RET && from->function != to->function &&
	       place_is_entry(to);
}

static void take_branch(struct tally *tally, const struct utrace_branch *record)
{
	struct space *space = space_at(tally);
	struct tally_task *task = &tally->tasks[tally->task];
	struct places places = {
		.from = place_of(space, record->from),
		.to = place_of(space, record->to),
	};
	const struct place *from = place_get(places.from);
	const struct place *to = place_get(places.to);

	more_functions(tally);
	tally->branches++;
	task->branches++;
	tally->functions[from->function].branches++;
	if (is_call(record, from, to))
		tally->functions[to->function].calls++;
	count_edge(tally, &places, UTRACE_BRANCH_KIND(record->info));
	if (record->from == UTRACE_PC_EXEC || !task->stack.n)
		forget_stack(tally);
	stack_take(&task->stack, record, &places);
}

/* Count a record. */
void tally_take(struct tally *tally, const struct utrace_branch *record)
{
	if (UTRACE_BRANCH_TYPE(record->info) != UTRACE_BRANCH_TASK &&
	    tally->task == PAIRS_NONE)
		take_task(tally, 0, 0);
	switch (UTRACE_BRANCH_TYPE(record->info)) {
	case UTRACE_BRANCH_TASK:
		take_task(tally, record->from, record->to);
		break;
	case UTRACE_BRANCH_START:
		forget_stack(tally);
		break;
	case UTRACE_BRANCH_LOST:
		tally->lost += record->from;
		tally->gaps++;
		forget_stack(tally);
		break;
	case UTRACE_BRANCH_HIDDEN:
		tally->hidden++;
		forget_stack(tally);
		break;
	case UTRACE_BRANCH:
		take_branch(tally, record);
	}
}

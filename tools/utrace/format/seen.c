// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the tasks whose records are printed
 *
 * A hash table with open addressing: a task is in the slot of its hash or, if
 * that is used, in the next free one.  At least half of the slots are free.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "log.h"
#include "seen.h"

/* Initial number of slots.  The number is always a power of 2. */
#define SLOTS		64

/* Numbers of slots from which forget_some() removes tasks. */
#define SOME_SLOTS	(1 << 13)
#define MANY_SLOTS	(1 << 17)

static struct seen_task **slots;
static size_t nslots, ntasks;
struct seen_task *seen_recent;

/* Return the slot at which the search for task @number begins. */
static size_t home_of(__u64 number)
{
	return (number * 0x9e3779b97f4a7c15ULL >> 32) & (nslots - 1);
}

static size_t next_slot(size_t slot)
{
	return (slot + 1) & (nslots - 1);
}

/* Return the slot of task @number, or the free slot for it. */
static size_t slot_of(__u64 number)
{
	size_t slot = home_of(number);

	while (slots[slot] && slots[slot]->task != number)
		slot = next_slot(slot);
	return slot;
}

/* Allocate a table of @n slots, and move the tasks to it. */
static void resize(size_t n)
{
	struct seen_task **old = slots;
	size_t i, nold = nslots;

	slots = checked(calloc(n, sizeof(*slots)));
	nslots = n;
	for (i = 0; i < nold; i++)
		if (old[i])
			slots[slot_of(old[i]->task)] = old[i];
	free(old);
}

/*
 * Remove tasks that may have left the trace without a record: by another
 * program or cgroup, or because their last record was lost.  Nothing is lost
 * for a task that is not in a call.  If there are very many tasks, also remove
 * tasks in a call whose entry was printed.
 */
static void forget_some(void)
{
	struct seen_task **all = checked(malloc(ntasks * sizeof(*all)));
	size_t i, n = 0;

	for (i = 0; i < nslots; i++)
		if (slots[i] && (!slots[i]->in_call ||
				 (slots[i]->shown && nslots >= MANY_SLOTS)))
			all[n++] = slots[i];
	for (i = 0; i < n; i++)
		seen_forget(all[i]);
	free(all);
}

static struct seen_task *add_task(__u64 number)
{
	struct seen_task *task = checked(calloc(1, sizeof(*task)));

	if (2 * (ntasks + 1) > nslots) {
		if (nslots >= SOME_SLOTS)
			forget_some();
		/* Keep the size if many slots are free now. */
		if (4 * (ntasks + 1) > nslots)
			resize(nslots ? 2 * nslots : SLOTS);
	}
	task->task = number;
	slots[slot_of(number)] = task;
	ntasks++;
	return task;
}

/* Find a task by its slot, or add it if it was not seen before. */
struct seen_task *seen_find(__u64 number)
{
	struct seen_task *task = nslots ? slots[slot_of(number)] : NULL;

	seen_recent = task ? task : add_task(number);
	return seen_recent;
}

/* Save a copy of the entry of a system call with its items. */
void seen_keep_entry(struct seen_task *task, const struct utrace_rec *rec)
{
	if (task->room < rec->size) {
		free(task->entry);
		task->room = 2 * rec->size;
		task->entry = checked(malloc(task->room));
	}
	memcpy(task->entry, rec, rec->size);
}

/*
 * Empty a slot.  Move the tasks after it up whose search would end at the empty
 * slot.
 */
static void empty_slot(size_t slot)
{
	size_t next = slot, home;

	for (;;) {
		slots[slot] = NULL;
		do {
			next = next_slot(next);
			if (!slots[next])
				return;
			home = home_of(slots[next]->task);
		} while (((next - home) & (nslots - 1)) <
			 ((next - slot) & (nslots - 1)));
		slots[slot] = slots[next];
		slot = next;
	}
}

/* Remove a task that has exited, and free it. */
void seen_forget(struct seen_task *task)
{
	empty_slot(slot_of(task->task));
	ntasks--;
	if (seen_recent == task)
		seen_recent = NULL;
	log_forget(task);
	free(task->entry);
	free(task);
}

/*
 * Rename task @from to @to after execve() of a thread.  The old task @to is
 * gone and is removed.  Its file of lines goes on with the thread.
 */
void seen_rename(__u64 from, __u64 to)
{
	struct seen_task *task = seen_task(from), *leader = seen_task(to);
	struct log *log = task->log;

	task->log = leader->log;
	leader->log = log;
	seen_forget(leader);
	empty_slot(slot_of(from));
	task->task = to;
	slots[slot_of(to)] = task;
}

/* Check whether more than one task was seen that has not ended. */
bool seen_several(void)
{
	return ntasks > 1;
}

/* Call a function for each task.  It must not add or forget tasks. */
void seen_each(const struct text *text, seen_function *function)
{
	size_t i;

	for (i = 0; i < nslots; i++)
		if (slots[i])
			function(text, slots[i]);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the set of the tasks that are followed
 *
 * A task is in the set from its first record, or from the attach, to the record
 * of its exit.  The record of an exit may be lost, so tasks that do not exist
 * any more are looked for now and then.
 */
#include <search.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines.h"
#include "tasks.h"

static int compare(const void *a, const void *b)
{
	return (int)(intptr_t)a - (int)(intptr_t)b;
}

void tasks_add(struct tasks *tasks, pid_t tid)
{
	if (!tsearch((void *)(intptr_t)tid, &tasks->root, compare))
		abort();
}

void tasks_remove(struct tasks *tasks, pid_t tid)
{
	tdelete((void *)(intptr_t)tid, &tasks->root, compare);
}

bool tasks_empty(const struct tasks *tasks)
{
	return !tasks->root;
}

static pid_t tid_of(const void *node)
{
	return (intptr_t)*(void *const *)node;
}

static void call_one(const void *node, VISIT visit, void *function)
{
	if (visit == postorder || visit == leaf)
		(*(void (**)(pid_t))function)(tid_of(node));
}

/* Call a function for each task, in the order of their numbers. */
void tasks_each(const struct tasks *tasks, void (*function)(pid_t tid))
{
	twalk_r(tasks->root, call_one, &function);
}

/* Has the task ended, though its parent may not have waited for it? */
static bool is_dead(pid_t tid)
{
	char state = task_state(tid);

	return !state || state == 'Z' || state == 'X';
}

/* Numbers of dead tasks. */
struct dead {
	pid_t *tid;
	size_t n;
};

static void check_one(const void *node, VISIT visit, void *data)
{
	struct dead *dead = data;

	if ((visit != postorder && visit != leaf) || !is_dead(tid_of(node)))
		return;
	if (!(dead->n & (dead->n - 1)))
		dead->tid = reallocarray(dead->tid, dead->n * 2 + 1,
					 sizeof(*dead->tid));
	if (!dead->tid)
		abort();
	dead->tid[dead->n++] = tid_of(node);
}

/* Remove the tasks that have ended, in one walk. */
void tasks_remove_dead(struct tasks *tasks)
{
	struct dead dead = {};
	size_t i;

	twalk_r(tasks->root, check_one, &dead);
	for (i = 0; i < dead.n; i++)
		tasks_remove(tasks, dead.tid[i]);
	free(dead.tid);
}

/* For the functions that look for tasks of this command's session. */
struct covered {
	struct tasks *tasks;
	char owner[32];
	bool found;
};

static void check_engine(const struct engine *engine, void *data)
{
	struct covered *covered = data;

	if (!strcmp(engine->name, "dev") && !strcmp(engine->owner, covered->owner))
		covered->found = true;
}

static void check_task(pid_t pid, pid_t tid, void *data)
{
	struct covered *covered = data;

	covered->found = false;
	engines_read(pid, tid, check_engine, covered);
	if (covered->found && !is_dead(tid))
		tasks_add(covered->tasks, tid);
}

static void check_process(pid_t pid, pid_t tid, void *data)
{
	(void)tid;
	tasks_of(pid, check_task, data);
}

/*
 * Add all tasks that a session of this process covers: those that existed
 * before the attach, wherever they are in the tree of processes by now.
 */
void tasks_add_covered(struct tasks *tasks)
{
	struct covered covered = { .tasks = tasks };

	snprintf(covered.owner, sizeof(covered.owner), "pid:%d", getpid());
	processes(check_process, &covered);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the tasks that this command follows
 *
 * /proc/PID/utrace lists the engines of a task with their owners.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/engines.h"
#include "tasks.h"

/**
 * struct search - a search for the tasks of this command's session
 * @function: called for each task
 * @data: handed to @function
 * @owner: owner of the engines of the session
 * @found: the current task has one of them
 */
struct search {
	followed_function *function;
	void *data;
	char owner[32];
	bool found;
};

static void check_engine(const struct engine *engine, void *data)
{
	struct search *search = data;

	/*
	 * A target such as --exe has an engine of the system, which all tasks
	 * have.
	 */
	if (!strcmp(engine->name, "dev") && strcmp(engine->scope, "system") &&
	    !strcmp(engine->owner, search->owner))
		search->found = true;
}

/* Check whether a task has ended, even if it is a zombie. */
static bool is_dead(pid_t tid)
{
	char state = task_state(tid);

	return !state || state == 'Z' || state == 'X';
}

static void check_task(pid_t pid, pid_t tid, void *data)
{
	struct search *search = data;

	search->found = false;
	engines_read(pid, tid, check_engine, search);
	if (search->found && !is_dead(tid))
		search->function(tid, search->data);
}

static void check_process(pid_t pid, pid_t tid, void *data)
{
	(void)tid;
	tasks_of(pid, check_task, data);
}

/*
 * Call a function for each task that a session of this process follows as a
 * target or as a descendant of one.
 */
void tasks_followed(followed_function *function, void *data)
{
	struct search search = { .function = function, .data = data };

	snprintf(search.owner, sizeof(search.owner), "pid:%d", getpid());
	processes(check_process, &search);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - children of the command
 *
 * The command gets children that it has not started: those that a program which
 * it has started clones with CLONE_PARENT, and all orphans if it is the first
 * process of a pid namespace.  Programs may wait until these are reaped.  So
 * the command reaps every child, and keeps the status of those that it waits for
 * later.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/wait.h>

#include <linux/array_size.h>

#include "children.h"

/*
 * The children that a part of the command waits for: the reader of the log and
 * a parser of files.  A slot with the number 0 is free.
 */
static struct kept {
	pid_t pid;
	int status;
	bool ended;
} kept[4];

static struct kept *find(pid_t pid)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kept); i++)
		if (kept[i].pid == pid)
			return &kept[i];
	return NULL;
}

/* Keep the status of a child for child_wait(). */
void child_keep(pid_t pid)
{
	struct kept *child = find(0);

	assert(child);
	*child = (struct kept){ .pid = pid };
}

/* Wait for the end of a child.  Returns its status, 0 if there is none. */
int child_wait(pid_t pid)
{
	struct kept *child = find(pid);
	bool ended = child && child->ended;
	int status = ended ? child->status : 0;

	while (!ended && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (child)
		child->pid = 0;
	return status;
}

/**
 * child_reap() - reap a child that child_keep() was not called for
 * @status: set to its status
 *
 * Return: the number of the child, 0 if none has ended.
 */
pid_t child_reap(int *status)
{
	struct kept *child;
	pid_t pid;

	while ((pid = waitpid(-1, status, WNOHANG)) > 0) {
		child = find(pid);
		if (!child)
			return pid;
		child->ended = true;
		child->status = *status;
	}
	return 0;
}

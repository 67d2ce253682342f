/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the set of the tasks that are followed
 */
#ifndef UTRACE_TASKS_H
#define UTRACE_TASKS_H

#include <stdbool.h>
#include <sys/types.h>

/* @root: the numbers of the tasks, a tree of tsearch() */
struct tasks {
	void *root;
};

void tasks_add(struct tasks *tasks, pid_t tid);
void tasks_remove(struct tasks *tasks, pid_t tid);
bool tasks_empty(const struct tasks *tasks);
void tasks_each(const struct tasks *tasks, void (*function)(pid_t tid));
void tasks_remove_dead(struct tasks *tasks);
void tasks_add_covered(struct tasks *tasks);

#endif /* UTRACE_TASKS_H */

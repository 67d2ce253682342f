/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - read the mappings of running processes
 */
#ifndef UTRACE_BRANCH_MAPPED_H
#define UTRACE_BRANCH_MAPPED_H

#include <stdbool.h>
#include <sys/types.h>

struct space;
struct utrace_branch;

/**
 * struct mapped - the task whose records are being read
 * @pid: the process, 0 at first
 * @tid: the task
 * @space: address space of @pid, or NULL
 * @flags: the last change of @space: BRANCHES_NEW, BRANCHES_COPIED
 */
struct mapped {
	pid_t pid;
	pid_t tid;
	struct space *space;
	unsigned int flags;
};

bool mapped_begin(struct mapped *mapped, unsigned long long address);
bool mapped_read(struct space *space, pid_t tid);
bool mapped_learn(struct mapped *mapped, const struct utrace_branch *record);

#endif /* UTRACE_BRANCH_MAPPED_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - watch the mappings and the end of a process
 */
#ifndef UTRACE_BRANCH_WATCH_H
#define UTRACE_BRANCH_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct stream;

/**
 * struct watch - a process that is being watched
 * @pid: the process
 * @session: descriptor of the session of /dev/utrace
 * @stream: its records
 * @executed: the process has executed a program
 * @ended: all threads have exited
 * @status: of the process in the form of wait(2), -1 as long as it runs
 * @info: the last signal that had its default action; si_signo is 0 if there
 *	was none
 * @taken_by: the thread that took the signal
 */
struct watch {
	pid_t pid;
	int session;
	struct stream *stream;
	bool executed;
	bool ended;
	int status;
	siginfo_t info;
	pid_t taken_by;
};

void watch_begin(struct watch *watch, pid_t pid);
void watch_take(struct watch *watch);
void watch_learn(const struct watch *watch);

#endif /* UTRACE_BRANCH_WATCH_H */

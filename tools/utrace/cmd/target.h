/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - targets of the commands branches and markers: a program or a process
 */
#ifndef UTRACE_CMD_TARGET_H
#define UTRACE_CMD_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct launch;
struct utrace_branch;

/**
 * struct target - the target of a recording
 * @launch: the program to be executed, if @launched
 * @pid: the process
 * @launched: the process is a child, which executes @launch
 * @status: wait status of the child, -1 as long as it runs
 * @starting: the child has not executed the program yet
 * @signals: descriptor of signals_set_up()
 * @interrupted: signal that interrupts the command, 0 for none
 */
struct target {
	struct launch *launch;
	pid_t pid;
	bool launched;
	int status;
	bool starting;
	int signals;
	int interrupted;
};

pid_t process_of(pid_t tid);
void target_begin(struct target *target, pid_t pid, struct launch *launch);
void target_go(struct target *target);
void target_take_signals(struct target *target);
bool target_is_ours(struct target *target, const struct utrace_branch *record,
		    pid_t tid);
void target_let_go(struct target *target);
int target_end(const struct target *target, bool failed);

#endif /* UTRACE_CMD_TARGET_H */

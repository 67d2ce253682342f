// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - targets of the commands branches and markers: a program or a process
 *
 * As with 'utrace PROGRAM', the command ends with the status of the program; a
 * signal makes it stop recording, send the signal to the program too, and die
 * of it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/utrace_branch.h>

#include "engines.h"
#include "launch.h"
#include "lib/children.h"
#include "lib/fail.h"
#include "signals.h"
#include "target.h"

/* Return the process of a task, 0 if there is no such task. */
pid_t process_of(pid_t tid)
{
	char path[32], line[256];
	pid_t pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %d", &pid);
	if (file)
		fclose(file);
	return pid;
}

/* Return the process of a number of the user, which may be a thread. */
static pid_t check_process(pid_t pid)
{
	char what[32];
	char state = task_state(pid);

	snprintf(what, sizeof(what), "process %d", pid);
	pid = process_of(pid);
	if (!state || !pid)
		fail(what, "there is no such process");
	if (state == 'Z' || state == 'X')
		fail(what, "it has ended; its parent has not waited for it yet");
	if (pid == getpid())
		fail(what, "this is the command itself");
	return pid;
}

/**
 * target_begin() - begin with the target of the user
 * @target: filled in
 * @pid: a process, or a thread of it, to attach to; 0 for a program
 * @launch: the program to be executed, if @pid is 0
 *
 * A program waits until target_go().  The command ends with a message if there
 * is no such process or program.
 */
void target_begin(struct target *target, pid_t pid, struct launch *launch)
{
	*target = (struct target){
		.launch = launch,
		.launched = !pid,
		.starting = !pid,
		.status = -1,
	};
	if (pid)
		target->pid = check_process(pid);
	target->signals = signals_set_up(INTERRUPT_WAITING);
	if (pid)
		return;
	launch_prepare(launch);
	target->pid = launch->child;
}

/* Start the program, if the target is one. */
void target_go(struct target *target)
{
	if (target->launched)
		launch_go(target->launch);
}

/* Read the pending signals. */
void target_take_signals(struct target *target)
{
	bool child = false;
	int signal = signals_take(target->signals, &child), status;
	pid_t pid;

	if (signal)
		target->interrupted = signal;
	while (child && (pid = child_reap(&status)))
		if (target->launched && pid == target->pid)
			target->status = status;
}

/**
 * target_is_ours() - check whether a record is about the target, not about this
 *	command
 * @target: the target
 * @record: the next record
 * @tid: the task that the record is about
 *
 * Return: false for records of the child before it has executed the program.
 */
bool target_is_ours(struct target *target, const struct utrace_branch *record,
		    pid_t tid)
{
	unsigned int type = UTRACE_BRANCH_TYPE(record->info);

	if (!target->starting || type == UTRACE_BRANCH_TASK || tid != target->pid)
		return true;
	if (type == UTRACE_BRANCH_HIDDEN ||
	    (type == UTRACE_BRANCH && record->from == UTRACE_PC_EXEC))
		target->starting = false;
	return !target->starting;
}

/*
 * Release the target after the recording.  A program also gets the signal of an
 * interrupt.
 */
void target_let_go(struct target *target)
{
	if (!target->interrupted || !target->launched || target->status >= 0)
		return;
	kill(target->pid, SIGCONT);
	kill(target->pid, target->interrupted);
}

/**
 * target_end() - end as the target has ended
 * @target: the target
 * @failed: the command has failed
 *
 * Return: the status of the command, if it does not end by a signal.
 */
int target_end(const struct target *target, bool failed)
{
	if (target->interrupted) {
		signals_die_of(target->interrupted);
		return 128 + target->interrupted;
	}
	if (failed)
		return STATUS_FAILED;
	return target->launched ? launch_end_like(target->status) : 0;
}

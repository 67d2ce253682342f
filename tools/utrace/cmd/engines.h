/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - tasks and their engines, as /proc lists them
 */
#ifndef UTRACE_CMD_ENGINES_H
#define UTRACE_CMD_ENGINES_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct engine - a line of the file
 * @name: name of the engine, of up to 31 characters, each of which may be shown
 *	as an escape of four characters; "ptrace" for a tracer
 * @owner: its module, "kernel", or "pid:N"
 * @scope: thread, process, tree or system
 * @events: names of its events with commas between, "-" for none
 * @hold: time in seconds that it has held the task, "-" if it does not hold it;
 *	for a tracer the code of the ptrace stop as "0x%x"
 * @awaits: "pid:N" of the process that must act before it resumes the task, "-"
 *	for none
 */
struct engine {
	char name[128];
	char owner[64];
	char scope[16];
	char events[512];
	char hold[16];
	char awaits[64];
};

bool engine_parse(struct engine *engine, const char *line);
bool engine_holds_alike(const struct engine *a, const struct engine *b);

typedef void engine_function(const struct engine *engine, void *data);

int engines_read(pid_t pid, pid_t tid, engine_function *function, void *data);

typedef void task_function(pid_t pid, pid_t tid, void *data);

void tasks_of(pid_t pid, task_function *function, void *data);
void processes(task_function *function, void *data);
char task_state(pid_t tid);

#endif /* UTRACE_CMD_ENGINES_H */

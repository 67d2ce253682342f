// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers of tasks, with their names for -Y
 *
 * Names are read from /proc when a line is printed, and kept for lines that are
 * printed after the task has gone.
 */
#include <stdio.h>
#include <string.h>

#include "decode/write.h"
#include "pids.h"

/* Number of tasks whose names are kept. */
#define KEPT	1024

/* Size of a name with its line feed and NUL. */
#define NAME_SIZE	18

bool pid_names;

/* Print the name of a task as "<NAME>", if names are to be printed. */
void pid_print_name(struct seq_buf *s, pid_t pid)
{
	static struct {
		pid_t pid;
		char name[NAME_SIZE];
	} kept[KEPT], *task;
	char path[32], name[NAME_SIZE];
	FILE *file;

	if (!pid_names || pid <= 0)
		return;
	task = &kept[pid % KEPT];
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file)) {
		name[strcspn(name, "\n")] = '\0';
		task->pid = pid;
		memcpy(task->name, name, sizeof(name));
	}
	if (file)
		fclose(file);
	if (task->pid != pid || !*task->name)
		return;
	utrace_write_char(s, '<');
	utrace_write_escaped(s, (const u8 *)task->name, strlen(task->name));
	utrace_write_char(s, '>');
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - tasks and their engines, as /proc lists them
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engines.h"

/**
 * engine_parse() - parse a line of the file
 * @engine: filled in
 * @line: the line
 *
 * Return: true, or false if the line has too few fields.
 */
bool engine_parse(struct engine *engine, const char *line)
{
	*engine = (struct engine){ .awaits = "-" };
	return sscanf(line, "%127s %63s %15s %*s %511s %15s %*s %*s %63s",
		      engine->name, engine->owner, engine->scope,
		      engine->events, engine->hold, engine->awaits) >= 5;
}

/**
 * engine_holds_alike() - check whether one line can show two holds
 * @a: the line of a task
 * @b: the line of another task
 *
 * Return: true, or false if both tasks are held and await different processes,
 * or only one of them awaits a process.
 */
bool engine_holds_alike(const struct engine *a, const struct engine *b)
{
	return !strcmp(a->hold, "-") || !strcmp(b->hold, "-") ||
	       !strcmp(a->awaits, b->awaits);
}

/**
 * engines_read() - call a function for each engine of a task
 * @pid: the process of the task
 * @tid: the task
 * @function: called for each line of the file, in its order
 * @data: handed to @function
 *
 * Return:
 * * 0 - done
 * * -1 - the file cannot be read, see errno; EACCES: the caller lacks the
 *   rights
 */
int engines_read(pid_t pid, pid_t tid, engine_function *function, void *data)
{
	struct engine engine;
	char line[1024], path[64];
	bool header = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/utrace", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	errno = 0;
	for (; fgets(line, sizeof(line), file); header = false)
		if (!header && engine_parse(&engine, line))
			function(&engine, data);
	if (ferror(file)) {
		int error = errno;

		fclose(file);
		errno = error;
		return -1;
	}
	fclose(file);
	return 0;
}

/* Call a function for each entry of a directory that is a number. */
static void numbers_in(const char *path, pid_t pid, task_function *function,
		       void *data)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		pid_t number = atoi(entry->d_name);

		if (isdigit((unsigned char)*entry->d_name))
			function(pid ?: number, number, data);
	}
	closedir(dir);
}

/* Call a function for each task of a process. */
void tasks_of(pid_t pid, task_function *function, void *data)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	numbers_in(path, pid, function, data);
}

/* Call a function for the first task of each process. */
void processes(task_function *function, void *data)
{
	numbers_in("/proc", 0, function, data);
}

/*
 * Return the letter of the state of a task, as in ps(1), or 0 if there is no
 * such task.
 */
char task_state(pid_t tid)
{
	char path[32], stat[512], *end;
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fread(stat, 1, sizeof(stat) - 1, file);
	fclose(file);
	stat[n] = '\0';
	/*
	 * The name of the program is in brackets and may itself have brackets.
	 */
	end = strrchr(stat, ')');
	return end && end[1] ? end[2] : 0;
}

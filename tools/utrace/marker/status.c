// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace markers status': list processes with armed markers
 *
 * A target with armed words or markers has an engine "words" in its processes,
 * whose owner is the process that has opened the session.  A target of the
 * system has no such engine.  Its session has an engine of the system, and
 * /proc/PID/fdinfo of the owner shows whether markers of the system are armed.
 * tracefs lists the user_events that processes have registered.
 */
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/engines.h"
#include "lib/fail.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "lib/screen.h"
#include "markers.h"
#include "tracefs.h"
#include "user.h"

#define ENGINE		"words"

/* Scope of engines of the system. */
#define SYSTEM		"system"

/*
 * A row.  @pid: the process, 0: all processes; @owner, @scope: as in struct
 * engine
 */
struct row {
	pid_t pid;
	char owner[64];
	char scope[16];
};

static struct row *rows;
static size_t nrows, rows_size;
/* Numbers of the rows, by process and engine. */
static struct pairs known;
/* Number of processes that this user may not inspect. */
static unsigned int hidden;

static void add_row(pid_t pid, const struct engine *engine)
{
	char text[sizeof(engine->owner) + sizeof(engine->scope)];
	struct row *row;

	/* All threads of the process have the same engines. */
	snprintf(text, sizeof(text), "%s %s", engine->owner, engine->scope);
	if (pairs_add(&known, pid, intern_number(text)) < nrows)
		return;
	rows = grow(rows, nrows, &rows_size, sizeof(*rows));
	row = &rows[nrows++];
	row->pid = pid;
	memcpy(row->owner, engine->owner, sizeof(row->owner));
	memcpy(row->scope, engine->scope, sizeof(row->scope));
}

static void add_engine(const struct engine *engine, void *data)
{
	if (!strcmp(engine->name, ENGINE))
		add_row(*(const pid_t *)data, engine);
}

/* Check whether a file of /proc/PID/fdinfo shows markers of the system. */
static bool has_system_markers(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned int n = 0;
	char line[128];

	if (!file)
		return false;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "utrace-markers: %*u " SYSTEM " %u", &n) == 1)
			break;
	fclose(file);
	return n;
}

static bool owner_has_system_markers(pid_t pid)
{
	char pattern[48];
	glob_t files;
	bool found = false;
	size_t i;

	snprintf(pattern, sizeof(pattern), "/proc/%d/fdinfo/*", pid);
	if (glob(pattern, GLOB_NOSORT, NULL, &files))
		return false;
	for (i = 0; i < files.gl_pathc && !found; i++)
		found = has_system_markers(files.gl_pathv[i]);
	globfree(&files);
	return found;
}

/* Take an engine of this task, which also has the engines of the system. */
static void add_system_engine(const struct engine *engine, void *data)
{
	pid_t owner;

	(void)data;
	if (!strcmp(engine->scope, SYSTEM) &&
	    sscanf(engine->owner, "pid:%d", &owner) == 1 &&
	    owner_has_system_markers(owner))
		add_row(0, engine);
}

static void add_task(pid_t pid, pid_t tid, void *data)
{
	(void)data;
	if (engines_read(pid, tid, add_engine, &pid) && errno == EACCES &&
	    pid == tid)
		hidden++;
}

static void add_process(pid_t pid, pid_t tid, void *data)
{
	(void)tid;
	tasks_of(pid, add_task, data);
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(x->owner, y->owner);
}

/*
 * Return the name of the program of a process.  Valid until the fourth next
 * call.
 */
static const char *name_of(pid_t pid)
{
	char path[32], name[64] = "-";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	return shorten(name, sizeof(name));
}

static void print_row(const struct row *row)
{
	pid_t owner = 0;

	if (row->pid)
		printf("%7d  %-16s  ", row->pid, name_of(row->pid));
	else
		printf("%7s  %-16s  ", "all", "-");
	printf("%-8s  ", row->scope);
	if (sscanf(row->owner, "pid:%d", &owner) == 1 && owner)
		printf("%d:%s\n", owner, name_of(owner));
	else
		printf("%s\n", row->owner);
}

static void print_rows(void)
{
	size_t i;

	printf("%s%7s  %-16s  %-8s  %s%s\n", style(STYLE_HEAD), "PID",
	       "PROGRAM", "SCOPE", "OWNER", style(STYLE_PLAIN));
	for (i = 0; i < nrows; i++)
		print_row(&rows[i]);
}

/* User_events */

/* The table: the processes that were named, and the number of rows. */
struct user_rows {
	const struct markers_options *options;
	unsigned int n;
};

static bool is_named(const struct markers_options *options, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < options->n; i++)
		if (atoi(options->names[i]) == pid)
			return true;
	return !options->n;
}

static void print_registration(const struct user_registration *reg, void *data)
{
	struct user_rows *user_rows = data;

	if (!is_named(user_rows->options, reg->pid))
		return;
	if (!user_rows->n++)
		printf("%s%s%7s  %-16s  %-18s  %s%s\n", nrows ? "\n" : "",
		       style(STYLE_HEAD), "PID", "PROGRAM", "STATE",
		       "USER_EVENT", style(STYLE_PLAIN));
	printf("%7d  %-16s  %-18s  " USER_PREFIX "%s\n", reg->pid,
	       name_of(reg->pid), reg->state, shorten(reg->event, 512));
}

static void print_user_events(const struct markers_options *options)
{
	struct user_rows user_rows = { .options = options };

	if (user_registrations_read(print_registration, &user_rows))
		say("user_events are not shown", tracefs_why_not(errno));
}

/* The command */

static void add_named(const char *name)
{
	char *end;
	long pid = strtol(name, &end, 10);

	if (*end || pid <= 0 || pid > INT_MAX)
		fail(name, "this is not the number of a process");
	if (!task_state(pid))
		fail(name, "there is no such process");
	add_process(pid, pid, NULL);
}

/*
 * List processes that have markers or user_events.  Returns the status of the
 * command.
 */
int markers_status(const struct markers_options *options)
{
	unsigned int i;

	if (access("/proc/self/utrace", F_OK))
		fail("/proc/self/utrace",
		     "this kernel has no utrace: boot one with CONFIG_UTRACE");
	screen_begin(stdout);
	for (i = 0; i < options->n; i++)
		add_named(options->names[i]);
	engines_read(getpid(), getpid(), add_system_engine, NULL);
	if (!options->n)
		processes(add_process, NULL);
	if (nrows) {
		qsort(rows, nrows, sizeof(*rows), compare);
		print_rows();
	} else {
		fprintf(stderr, "utrace: no words or markers are armed in %s\n",
			options->n ? "these processes" : "any process");
	}
	if (hidden)
		fprintf(stderr, "utrace: %u process%s not shown: you may not "
				"inspect %s\n",
			hidden, hidden == 1 ? " is" : "es are",
			hidden == 1 ? "it" : "them");
	print_user_events(options);
	free(rows);
	return 0;
}

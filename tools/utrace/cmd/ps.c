// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command ps: list tracers and their tasks
 *
 * One line for each process and engine, or ptrace(2) tracer.  Lines of threads
 * are merged if ENGINE, OWNER, SCOPE and EVENTS are the same, and AWAITS of
 * those that are held.  The merged line has HOLD of the longest hold.
 */
#include <ctype.h>
#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engines.h"
#include "lib/fail.h"
#include "lib/intern.h"
#include "lib/memory.h"
#include "lib/pairs.h"
#include "ps.h"

/*
 * A row.  @last: the thread that was counted last; @threads: number of threads
 */
struct row {
	pid_t pid;
	pid_t last;
	unsigned int threads;
	struct engine engine;
};

static struct row *rows;
static size_t nrows;
/*
 * Numbers of the rows, by process and engine.  Equal engines of a thread have
 * several rows.
 */
static struct pairs known;
/* Number of processes that this user may not inspect. */
static unsigned int hidden;

/* Check whether @new is a longer hold than @old. */
static bool holds_longer(const char *new, const char *old)
{
	if (!strcmp(old, "-"))
		return true;
	return atoi(new) > atoi(old);
}

/*
 * Return a number for all engines with the same columns; a column has no
 * blanks.
 */
static __u64 number_of(const struct engine *engine)
{
	char text[sizeof(*engine)];

	snprintf(text, sizeof(text), "%s %s %s %s", engine->name, engine->owner,
		 engine->scope, engine->events);
	return intern_number(text);
}

/*
 * Find a row for the same engine of other threads.  Returns NULL if the caller
 * must add a row.  A thread may have several equal engines, and threads that
 * are held may await different processes.
 */
static struct row *find_row(pid_t pid, pid_t tid, const struct engine *engine)
{
	__u64 alike = number_of(engine);
	unsigned int i, n;

	for (i = 0;; i++) {
		n = pairs_add(&known, (__u64)i << 32 | pid, alike);
		if (n == nrows)
			return NULL;
		if (rows[n].last != tid &&
		    engine_holds_alike(&rows[n].engine, engine))
			return &rows[n];
	}
}

struct task {
	pid_t pid;
	pid_t tid;
};

static void add_engine(const struct engine *engine, void *data)
{
	const struct task *task = data;
	struct row *row = find_row(task->pid, task->tid, engine);

	if (row) {
		row->last = task->tid;
		row->threads++;
		if (holds_longer(engine->hold, row->engine.hold))
			row->engine = *engine;
		return;
	}
	rows = checked(reallocarray(rows, nrows + 1, sizeof(*rows)));
	rows[nrows++] = (struct row){
		.pid = task->pid, .last = task->tid, .threads = 1, .engine = *engine,
	};
}

static void add_task(pid_t pid, pid_t tid, void *data)
{
	struct task task = { pid, tid };

	(void)data;
	if (engines_read(pid, tid, add_engine, &task) && errno == EACCES && pid == tid)
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
	int names = strcmp(x->engine.name, y->engine.name);

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return names ?: strcmp(x->engine.owner, y->engine.owner);
}

/* Get the name of the program of a process, "-" if the process is gone. */
static void name_of(pid_t pid, char *name, size_t size)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, size, file))
		snprintf(name, size, "-");
	name[strcspn(name, "\n")] = '\0';
	/* A program may have any name, even one that clears the screen. */
	for (; *name; name++)
		if (!isprint((unsigned char)*name))
			*name = '?';
	if (file)
		fclose(file);
}

#define NCOLUMNS	9

/* A line as text.  The last column is the widest and is not padded. */
struct line {
	char column[NCOLUMNS][512];
};

/* Append the name of the program if @text is a process, as "pid:N". */
static void describe(char *to, size_t size, const char *text)
{
	char name[64];
	pid_t pid;

	if (sscanf(text, "pid:%d", &pid) != 1 || !pid) {
		snprintf(to, size, "%s", text);
		return;
	}
	name_of(pid, name, sizeof(name));
	snprintf(to, size, "%d:%s", pid, name);
}

static void line_of(struct line *line, const struct row *row)
{
	const struct engine *engine = &row->engine;
	size_t size = sizeof(line->column[0]);

	snprintf(line->column[0], size, "%d", row->pid);
	name_of(row->pid, line->column[1], size);
	snprintf(line->column[2], size, "%u", row->threads);
	snprintf(line->column[3], size, "%s", engine->name);
	describe(line->column[4], size, engine->owner);
	snprintf(line->column[5], size, "%s", engine->scope);
	snprintf(line->column[6], size, "%s", engine->hold);
	describe(line->column[7], size, engine->awaits);
	snprintf(line->column[8], size, "%s", engine->events);
}

static void print_line(const struct line *line, const int *width)
{
	unsigned int i;

	for (i = 0; i < NCOLUMNS - 1; i++)
		printf(i == 0 || i == 2 ? "%*s " : "%-*s ", width[i],
		       line->column[i]);
	printf("%s\n", line->column[i]);
}

static void print_rows(void)
{
	static const struct line header = { {
		"PID", "PROGRAM", "THREADS", "ENGINE", "OWNER", "SCOPE", "HOLD",
		"AWAITS", "EVENTS",
	} };
	struct line *lines = checked(calloc(nrows + 1, sizeof(*lines)));
	int width[NCOLUMNS] = {}, n;
	size_t i, k;

	lines[0] = header;
	for (i = 0; i < nrows; i++)
		line_of(&lines[i + 1], &rows[i]);
	for (i = 0; i <= nrows; i++) {
		for (k = 0; k < NCOLUMNS; k++) {
			n = strlen(lines[i].column[k]);
			if (width[k] < n)
				width[k] = n;
		}
	}
	for (i = 0; i <= nrows; i++)
		print_line(&lines[i], width);
	free(lines);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	char *end;
	long pid;

	switch (key) {
	case ARGP_KEY_NO_ARGS:
		processes(add_process, NULL);
		break;
	case ARGP_KEY_ARG:
		pid = strtol(arg, &end, 10);
		if (*end || pid <= 0 || pid > INT_MAX)
			argp_error(state, "'%s' is not the number of a process", arg);
		add_process(pid, pid, NULL);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Run the command ps.  Returns its status. */
int ps_main(int argc, char **argv)
{
	char name[] = "utrace ps";
	struct argp argp = {
		.parser = parse,
		.args_doc = "[PID...]",
		.doc = "List who traces these processes, or all processes: one line "
		       "for each process and engine.",
	};

	argv[0] = name;
	argp_err_exit_status = STATUS_FAILED;
	if (access("/proc/self/utrace", F_OK))
		fail("/proc/self/utrace", "this kernel has no utrace (CONFIG_UTRACE)");
	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	if (nrows)
		qsort(rows, nrows, sizeof(*rows), compare);
	print_rows();
	free(rows);
	if (hidden)
		fprintf(stderr, "utrace: %u process%s not shown: you may not "
				"inspect %s\n",
			hidden, hidden == 1 ? " is" : "es are",
			hidden == 1 ? "it" : "them");
	return 0;
}

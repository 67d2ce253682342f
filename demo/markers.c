// SPDX-License-Identifier: GPL-2.0
/*
 * Two Pythons that have one file in memory. The command counts the collections
 * of garbage and the audit events in one Python. The other Python does the same
 * work, and notices nothing.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define PYTHON	"/usr/bin/python3"

/*
 * For each byte that comes, a function raises an audit event and collects
 * garbage twice; then a byte goes.
 */
#define PROGRAM	"import gc, os, sys\n" \
		"def collect():\n" \
		"    sys.audit('collect')\n" \
		"    gc.collect(0)\n" \
		"    gc.collect(1)\n" \
		"gc.disable()\n" \
		"os.write(1, b'ready\\n')\n" \
		"while os.read(0, 1):\n" \
		"    collect()\n" \
		"    os.write(1, b'.')\n"

#define CALLS		3
/* Python 3.12 and later have no markers of functions and lines. */
#define AUDIT		"python:audit"

/* The output of the command at its end. */
#define COUNTS	"      HITS  MARKER\n" \
		"         6  python:gc__done\n" \
		"         6  python:gc__start\n" \
		"         3  " AUDIT "\n"

/* Python is not relocated. */
static unsigned long gc_semaphore, audit_semaphore;

static bool semaphores_become(const struct gated *python, int value)
{
	return semaphore_becomes(python->pid, gc_semaphore, value) &&
	       semaphore_becomes(python->pid, audit_semaphore, value);
}

static bool call(struct gated *python)
{
	char byte;
	int i;

	for (i = 0; i < CALLS; i++) {
		open_gate(python);
		if (read(python->ready, &byte, 1) != 1)
			return false;
	}
	return true;
}

static bool end_python(const struct gated *python)
{
	close(python->gate);
	close(python->ready);
	return ends_well(python->pid);
}

static void check_counts(const char *said)
{
	char *text = read_whole(said), *table = strstr(text, "      HITS");
	bool good = table && !strcmp(table, COUNTS);
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		step("  %s", line);
	free(text);
	check(good, "the command has counted %d collections and %d audit events",
	      2 * CALLS, CALLS);
}

static void trace_one(struct gated *traced, struct gated *other)
{
	char said[64], pid[16];
	pid_t command;

	snprintf(said, sizeof(said), "%s/said.txt", workdir);
	snprintf(pid, sizeof(pid), "%d", traced->pid);
	step("utrace markers trace --count -p %s 'python:gc__*' " AUDIT, pid);
	command = start_tracer((char *const []) {
		"utrace", "markers", "trace", "--count", "-p", pid,
		"python:gc__*", AUDIT, NULL }, said);
	check(await_text(said, "tracing") && semaphores_become(traced, 1),
	      "the semaphores of the traced Python are 1");
	check(semaphores_become(other, 0), "those of the other Python are 0");
	check(call(traced) && call(other),
	      "both call a function %d times, which collects garbage twice",
	      CALLS);
	kill(command, SIGINT);
	waitpid(command, NULL, 0);
	check_counts(said);
}

void act_markers(void)
{
	struct gated traced, other;
	char script[64];

	snprintf(script, sizeof(script), "%s/collect.py", workdir);
	write_file(script, "%s", PROGRAM);
	gc_semaphore = find_semaphore(PYTHON, "gc__start");
	audit_semaphore = find_semaphore(PYTHON, "audit");
	traced = spawn_target(PYTHON, script);
	other = spawn_target(PYTHON, script);
	check(semaphores_become(&traced, 0) && semaphores_become(&other, 0),
	      "two Pythons, whose semaphores are 0");
	trace_one(&traced, &other);
	check(semaphores_become(&traced, 0), "the semaphores are 0 again");
	check(end_python(&traced) && end_python(&other),
	      "both end well");
}

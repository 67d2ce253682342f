// SPDX-License-Identifier: GPL-2.0
/*
 * Two Pythons that have one file in memory. The command traces the markers of one of
 * them, and the other one does not notice anything.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define PYTHON	"/usr/bin/python3"

/* Collects garbage as long as there is the file. */
#define PROGRAM	"import gc, os, sys\n" \
		"while os.path.exists(sys.argv[1]): gc.collect(1)\n"

static pid_t start_python(const char *copy, const char *go)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	execl(copy, "python3", "-c", PROGRAM, go, NULL);
	_exit(127);
}

static void show(const char *said)
{
	char *text = read_whole(said), *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		step("  %s", line);
	free(text);
}

void act_markers(void)
{
	/* Python is not relocated. */
	unsigned long semaphore = find_semaphore(PYTHON, "gc__start");
	char copy[64], go[64], said[64], pid[16];
	pid_t traced, other, command;

	snprintf(copy, sizeof(copy), "%s/python3", workdir);
	snprintf(go, sizeof(go), "%s/go", workdir);
	snprintf(said, sizeof(said), "%s/said.txt", workdir);
	/* The programs of a guest are on 9p, which cannot have breakpoints. */
	run_to_file((char *const []) { "/bin/cat", PYTHON, NULL }, copy);
	if (chmod(copy, 0755))
		give_up("chmod");
	write_file(go, "go");
	traced = start_python(copy, go);
	other = start_python(copy, go);
	check(semaphore_becomes(traced, semaphore, 0) &&
	      semaphore_becomes(other, semaphore, 0),
	      "two Pythons, whose semaphores are 0");

	snprintf(pid, sizeof(pid), "%d", traced);
	step("utrace markers trace --count -p %s 'python:gc__*'", pid);
	command = start_tracer((char *const []) {
		"utrace", "markers", "trace", "--count", "-p", pid,
		"python:gc__*", NULL }, said);
	check(semaphore_becomes(traced, semaphore, 1),
	      "the semaphore of the one is 1");
	check(!read_semaphore(other, semaphore), "that of the other one is 0");
	sleep(1);
	kill(command, SIGINT);
	waitpid(command, NULL, 0);
	show(said);
	check(strstr(read_whole(said), "  python:gc__start\n"),
	      "hits were counted");
	check(semaphore_becomes(traced, semaphore, 0),
	      "the semaphore is 0 again");
	unlink(go);
	check(ends_well(traced) && ends_well(other), "both have ended well");
	unlink(copy);
}

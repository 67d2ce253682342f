// SPDX-License-Identifier: GPL-2.0
/* strace attaches to a program that gdb has stopped at a breakpoint. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define LIMIT	"/proc/sys/kernel/ptrace_max_tracers"

/* How often @word is in @text. */
static int count(const char *text, const char *word)
{
	int n = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		n++;
	}
	return n;
}

/* A command of gdb that starts strace at @pid, and waits until it traces. */
static void strace_command(char *cmd, size_t size, pid_t pid)
{
	snprintf(cmd, size,
		 "shell strace -o %s/strace.txt -p %d 2> %s/said.txt & "
		 "for i in $(seq 300); do grep -q attached %s/said.txt && exit; "
		 "sleep 0.1; done",
		 workdir, pid, workdir, workdir);
}

/*
 * The log of strace when strace has seen the end, or after 10 s; to be freed.
 */
static char *log_of_strace(void)
{
	char path[64], *calls;
	int tries;

	snprintf(path, sizeof(path), "%s/strace.txt", workdir);
	for (tries = 0; tries < 100; tries++) {
		calls = read_whole(path);
		if (strstr(calls, "+++"))
			break;
		free(calls);
		usleep(100000);
	}
	return tries < 100 ? calls : read_whole(path);
}

void act_tracers(const char *target)
{
	char ungate[64], start[256], show[64];
	struct gated g = spawn_target(target, NULL);
	char *text, *calls;
	int status;

	write_file(LIMIT, "2");
	snprintf(ungate, sizeof(ungate), "shell echo > /proc/%d/fd/%d",
		 getpid(), g.gate);
	strace_command(start, sizeof(start), g.pid);
	snprintf(show, sizeof(show), "shell grep Tracers /proc/%d/status", g.pid);
	text = run_gdb(g.pid, (const char *const []) {
		"break visit", ungate, "continue", start, show, "backtrace",
		"delete", "continue", NULL });
	expect(text, "Breakpoint 1, ", "gdb");
	expect(text, "Tracers:", "in /proc, while gdb has it");
	expect(text, " in main (", "gdb");
	expect(text, "exited with code 07", "gdb");
	free(text);
	if (waitpid(g.pid, &status, 0) != g.pid)
		give_up("the program is lost");

	calls = log_of_strace();
	check(count(calls, "getppid()") == 2,
	      "strace saw the 2 calls after the breakpoint (%d)",
	      count(calls, "getppid()"));
	expect(calls, "+++ exited with 7 +++", "strace");
	free(calls);
	write_file(LIMIT, "1");
	close(g.ready);
	close(g.gate);
}

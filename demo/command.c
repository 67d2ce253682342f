// SPDX-License-Identifier: GPL-2.0
/*
 * The command utrace follows a program from its attach to its end, while gdb
 * and then strace trace the same program.  The reader of the log does not begin
 * before the program waits for room: the buffer of the command is small, and
 * nothing may be lost.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

/* Calls of getppid() under gdb, and under strace; see target.c. */
#define CALLS_GDB	3
#define CALLS_STRACE	5000

/* The number of lines of a file that begin with @word. */
static unsigned int lines_with(const char *path, const char *word)
{
	char *text = read_whole(path), *line;
	unsigned int n = 0;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		n += !strncmp(line, word, strlen(word));
	free(text);
	return n;
}

/* gdb works on the program, which goes on to its second gate. */
static void debug(struct gated *g)
{
	char ungate[64], show[64], *text;

	snprintf(ungate, sizeof(ungate), "shell echo > /proc/%d/fd/%d",
		 getpid(), g->gate);
	snprintf(show, sizeof(show), "shell cat /proc/%d/utrace", g->pid);
	text = run_gdb(g->pid, (const char *const []) {
		"break visit", show, ungate, "continue", "delete", "detach",
		NULL });
	expect(text, "dev pid:", "in /proc");
	expect(text, "Breakpoint 1, ", "gdb");
	free(text);
}

void act_command(const char *target)
{
	struct gated g = spawn_target(target, "calls");
	char log[64], strace_log[64], strace_said[64], said[64], go[64];
	char pid[16], by[32];
	char pipe[256];
	pid_t command, strace;

	snprintf(pid, sizeof(pid), "%d", g.pid);
	snprintf(log, sizeof(log), "%s/utrace.txt", workdir);
	snprintf(said, sizeof(said), "%s/said.txt", workdir);
	snprintf(strace_log, sizeof(strace_log), "%s/strace.txt", workdir);
	snprintf(strace_said, sizeof(strace_said), "%s/strace_said.txt", workdir);
	snprintf(go, sizeof(go), "%s/go", workdir);
	snprintf(pipe, sizeof(pipe),
		 "|until [ -e %s ]; do sleep 0.1; done; exec cat > %s", go, log);
	step("utrace --buffer-size=64K -o '|until [ -e go ]; do sleep 0.1; done; ...' -p %s",
	     pid);
	command = start_tracer((char *const []) {
		"utrace", "--buffer-size=64K", "-o", pipe, "-p", pid, NULL }, said);
	check(await_word(g.pid, "utrace", "dev pid:"), "the command has attached");
	debug(&g);

	step("strace -e trace=getppid -p %s", pid);
	strace = start_tracer((char *const []) {
		"strace", "-e", "trace=getppid", "-o", strace_log, "-p", pid, NULL },
		strace_said);
	/* TracerPid would be too early: then strace has yet to stop the program. */
	check(await_text(strace_said, "attached"), "strace has attached, too");
	open_gate(&g);
	snprintf(by, sizeof(by), " pid:%d\n", command);
	check(await_word(g.pid, "utrace", by),
	      "the program waits for the command, whose log is not read");
	write_file(go, "now");
	check(waitpid(g.pid, NULL, 0) == g.pid,
	      "it goes on when the log is read, and ends");
	check(ends_well(strace) && ends_well(command), "both tracers end, too");
	check(lines_with(strace_log, "getppid()") == CALLS_STRACE,
	      "strace saw all of %d calls", CALLS_STRACE);
	check(lines_with(log, "getppid()") == CALLS_GDB + CALLS_STRACE &&
	      !strstr(read_whole(said), "lost"),
	      "the command saw these and %d under gdb; nothing is lost", CALLS_GDB);
	close(g.ready);
	close(g.gate);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * gdb on a process that two engines watch, and on a process that a third engine
 * keeps from dying.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define MAX_ARGS	64
/* The part of a line of gdb that is shown. */
#define SHOWN		66

/* Run gdb's commands on @pid; returns its output, which the caller frees. */
char *run_gdb(pid_t pid, const char *const *commands)
{
	char *argv[MAX_ARGS], attach[16], out[128];
	int n = 0, status;

	snprintf(attach, sizeof(attach), "%d", pid);
	snprintf(out, sizeof(out), "%s/gdb.txt", workdir);
	argv[n++] = "gdb";
	argv[n++] = "-nx";
	argv[n++] = "-batch";
	argv[n++] = "-iex";
	argv[n++] = "set debuginfod enabled off";
	argv[n++] = "-p";
	argv[n++] = attach;
	while (*commands && n < MAX_ARGS - 3) {
		argv[n++] = "-ex";
		argv[n++] = (char *)*commands++;
	}
	argv[n] = NULL;
	status = run_to_file(argv, out);
	check(!status, "a debugger attached, did its work and ended");
	return read_whole(out);
}

/* Check that @text has @word in it, and show that line. */
void expect(const char *text, const char *word, const char *what)
{
	const char *at = strstr(text, word);
	int n;

	while (at && at > text && at[-1] != '\n')
		at--;
	if (!at)
		at = "";
	n = strcspn(at, "\n");
	check(n, "%s: %.*s", what, n < SHOWN ? n : SHOWN, at);
}

/* The number after @word, or 0. */
static unsigned long number(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	return at ? strtoul(at + strlen(word), NULL, 0) : 0;
}

static void check_engines(pid_t pid)
{
	struct view v = { 0 };
	unsigned int i;
	bool ended = false;

	read_engines(&v);
	for (i = 0; i < v.tasks; i++)
		if (v.task[i].pid == pid)
			ended = v.task[i].end.how == 'e' &&
				v.task[i].end.code == 7;
	check(v.count[SYS_getppid] == 3,
	      "the syscall engine counted its 3 calls of getppid() (%lu)",
	      v.count[SYS_getppid]);
	check(ended, "the tree engine saw it exit with 7");
}

void act_debugger(const char *target)
{
	static const char want[] = "visit 1: 2\nvisit 2: 6\nvisit 3: 12\n";
	struct gated g = spawn_target(target, NULL);
	char ungate[64], show[64], said[sizeof(want) + 64] = "";
	unsigned long before, after;
	size_t n = 0;
	ssize_t got;
	char *text;
	int status;

	write_file(SYSCOUNT "attach", "%d", g.pid);
	write_file(FORK_TREE "attach", "%d", g.pid);
	write_file(SYSCOUNT "reset", "1");
	/* gdb itself opens the gate, when its breakpoint is in place */
	snprintf(ungate, sizeof(ungate), "shell echo > /proc/%d/fd/%d",
		 getpid(), g.gate);
	snprintf(show, sizeof(show), "shell cat /proc/%d/utrace", g.pid);
	text = run_gdb(g.pid, (const char *const []) {
		"break visit", show, ungate, "continue", "backtrace",
		"printf \"before %#lx\\n\", (long)$pc", "stepi",
		"printf \"after %#lx\\n\", (long)$pc", "next", "print twice",
		"delete", "detach", NULL });

	expect(text, "utrace_syscount ", "in /proc");
	expect(text, "utrace_fork_tree ", "in /proc");
	expect(text, "ptrace pid:", "in /proc");
	expect(text, "Breakpoint 1, ", "gdb");
	expect(text, " in main (", "gdb");
	before = number(text, "before ");
	after = number(text, "after ");
	check(before && after && before != after,
	      "gdb stepped one instruction, %#lx to %#lx", before, after);
	expect(text, "$1 = 2", "gdb, a line later, print twice");
	free(text);

	while (n < sizeof(said) - 1 &&
	       (got = read(g.ready, said + n, sizeof(said) - 1 - n)) > 0)
		n += got;
	if (waitpid(g.pid, &status, 0) != g.pid)
		give_up("the program is lost");
	check(!strcmp(said, want), "the program's output is unchanged");
	check(WIFEXITED(status) && WEXITSTATUS(status) == 7,
	      "it exited with 7, as it always does (status %#x)", status);
	check_engines(g.pid);
	close(g.ready);
	close(g.gate);
}

void act_crash(const char *target)
{
	struct gated g = spawn_target(target, "crash");
	char options[32];
	char *text;
	int status;

	snprintf(options, sizeof(options), "pid=%d", g.pid);
	module_load("utrace_crash_suspend", options);
	open_gate(&g);
	if (waitpid(g.pid, &status, WUNTRACED) != g.pid)
		give_up("the program is lost");
	check(WIFSTOPPED(status), "it crashed, and it is stopped");
	if (!WIFSTOPPED(status))
		return;
	text = read_whole(CRASH_SUSPEND "crashes");
	expect(text, " 11 target", "the engine shows the pid and the signal");
	free(text);

	text = run_gdb(g.pid, (const char *const []) {
		"backtrace", "print where", "detach", NULL });
	expect(text, " broken (where=", "gdb");
	expect(text, " in main (", "gdb");
	expect(text, "$1 = (int *) 0x0", "gdb, print where");
	free(text);

	kill(g.pid, SIGCONT);
	while (waitpid(g.pid, &status, 0) == g.pid && WIFSTOPPED(status))
		;
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	      "resumed, it died of SIGSEGV (status %#x)", status);
	close(g.ready);
	close(g.gate);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The demonstration, in eight acts:
 *
 * 1. Two engines and strace watch the same tree of ordinary programs. Each
 *    counts every system call and notes how every task ended; the counts must
 *    be equal.
 * 2. gdb debugs a process that both engines watch.
 * 3. A third engine makes a crashing program wait for gdb.
 * 4. The command utrace, gdb and strace follow one program, whose log is read
 *    slowly.
 * 5. The command utrace records the branches of a program, and a second reader
 *    keeps the last ones.
 * 6. strace attaches to a program that gdb has stopped at a breakpoint.
 * 7. The command traces the markers of one of two Pythons.
 * 8. The command traces the markers of one of two backends of PostgreSQL.
 *
 * Ends with "demo: all agree" and 0, or with the number of differences and 1.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

/* A guest on a quiet machine needs a third of it; see scripts/guest for PATIENCE. */
#define TIME_LIMIT	300

#define PIPELINE	"ls -lR /etc | head -n 300 | sort | tail -n 1; " \
			"/usr/bin/python3 "

/* On a tmpfs, so that nothing stays if the demo is killed. */
char workdir[] = "/dev/shm/utrace-demo.XXXXXX";
static bool color;
static char first_problem[256];
static unsigned int problems;

void heading(const char *title)
{
	printf("%s%s%s\n", color ? "\033[1m" : "", title, color ? "\033[0m" : "");
}

const char *mark(bool good)
{
	if (good)
		return color ? "\033[32mok\033[0m " : "ok ";
	return color ? "\033[31mDIFFERS\033[0m" : "DIFFERS";
}

void step(const char *fmt, ...)
{
	va_list args;

	printf("  ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* Print one claim; the first claim that does not hold is remembered. */
void check(bool good, const char *fmt, ...)
{
	char text[sizeof(first_problem)];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!good && !problems++)
		memcpy(first_problem, text, sizeof(text));
	step("%s %s", good ? mark(true) :
	     color ? "\033[31mNOT\033[0m" : "NOT", text);
}

void give_up(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "demo: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(1);
}

static void on_alarm(int sig)
{
	static const char text[] = "demo: did not end in time\n";

	(void)sig;
	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

void print_file(const char *path)
{
	char *text = read_whole(path), *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		printf("    | %.70s\n", line);
	free(text);
}

static void act_pipeline(const char *script)
{
	static struct view engine, strace;
	char log[64], out[64], options[32], cmd[512];
	struct gated g;
	int status;

	snprintf(log, sizeof(log), "%s/strace.txt", workdir);
	snprintf(out, sizeof(out), "%s/out.txt", workdir);
	snprintf(cmd, sizeof(cmd), PIPELINE "%s", script);
	step("strace -f sh -c '%s'", cmd);
	g = spawn_traced(log, out, cmd);
	snprintf(options, sizeof(options), "pid=%d", g.root);
	module_load("utrace_syscount", options);
	module_load("utrace_fork_tree", options);
	open_gate(&g);
	if (waitpid(g.pid, &status, 0) != g.pid)
		give_up("strace is lost");
	print_file(out);
	check(WIFEXITED(status) && !WEXITSTATUS(status),
	      "the programs ended well (status %#x)", status);
	close(g.ready);
	close(g.gate);

	read_engines(&engine);
	read_strace(&strace, log);
	compare_calls(&engine, &strace);
	compare_tasks(&engine, &strace);
}

static void clean_up(void)
{
	run_to_file((char *const []) { "rm", "-r", workdir, NULL }, "/dev/null");
}

int main(int argc, char **argv)
{
	const char *patience = getenv("PATIENCE");
	struct rlimit no_core = { 0, 0 };

	if (argc > 2 && !strcmp(argv[1], "--gated"))
		return gated_main(argv + 2);
	if (argc != 3)
		give_up("usage: %s TARGET SCRIPT", argv[0]);
	signal(SIGALRM, on_alarm);
	alarm(TIME_LIMIT * (patience ? atoi(patience) : 1));
	setrlimit(RLIMIT_CORE, &no_core);
	setenv("LC_ALL", "C.UTF-8", 1);
	color = isatty(1);
	if (!mkdtemp(workdir))
		give_up("cannot make a folder in /dev/shm");

	heading("1. Two engines and strace on one tree of programs");
	act_pipeline(argv[2]);
	heading("2. gdb on a process that both engines watch");
	act_debugger(argv[1]);
	heading("3. A crash that waits for gdb");
	act_crash(argv[1]);
	modules_unload();
	heading("4. The command, gdb and strace on one program, and a slow reader");
	act_command(argv[1]);
	heading("5. The branches of a program, for two readers");
	act_branches();
	heading("6. strace on a program that gdb debugs");
	act_tracers(argv[1]);
	heading("7. The markers of one Python of two");
	act_markers();
	heading("8. The markers of one backend of PostgreSQL of two");
	act_postgres();

	if (problems) {
		printf("demo: %u things differ; the first: %s (logs: %s)\n",
		       problems, first_problem, workdir);
		return 1;
	}
	clean_up();
	printf("demo: all agree\n");
	return 0;
}

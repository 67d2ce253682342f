// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that wait at a gate. All observers must begin at the same
 * instruction: they attach while the process sleeps in a read(), and then a
 * byte is written to its pipe.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

/* Numbers that nobody else uses, easy to find in a log. */
#define READY_FD	198
#define GATE_FD		199

/*
 * The number of tries to find something, and the time between two tries in us.
 */
#define TRIES		3000
#define BETWEEN		10000

/* The root of the traced tree: send our pid, wait, execute the program. */
int gated_main(char **argv)
{
	pid_t self = getpid();
	char c;

	if (write(READY_FD, &self, sizeof(self)) != sizeof(self) ||
	    read(GATE_FD, &c, 1) != 1)
		return 126;
	close(READY_FD);
	close(GATE_FD);
	execvp(argv[0], argv);
	return 127;
}

static pid_t fork_or_give_up(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		give_up("fork: %s", strerror(errno));
	return pid;
}

/* In a child: @fd becomes @as, which an exec keeps open. */
static void move_fd(int fd, int as)
{
	if (fd < 0 || dup2(fd, as) < 0)
		_exit(125);
}

struct gated spawn_traced(const char *log, const char *out, const char *cmd)
{
	char self[256] = "";
	int ready[2], gate[2];
	struct gated g;

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0 ||
	    pipe2(ready, O_CLOEXEC) || pipe2(gate, O_CLOEXEC))
		give_up("pipe: %s", strerror(errno));
	g.pid = fork_or_give_up();
	if (!g.pid) {
		move_fd(ready[1], READY_FD);
		move_fd(gate[0], GATE_FD);
		move_fd(open(out, O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
		execlp("strace", "strace", "-f", "-n", "-q", "-e", "raw=all",
		       "-o", log, self, "--gated", "sh", "-c", cmd, NULL);
		_exit(127);
	}
	close(ready[1]);
	close(gate[0]);
	g.ready = ready[0];
	g.gate = gate[1];
	if (read(g.ready, &g.root, sizeof(g.root)) != sizeof(g.root))
		give_up("strace does not start (is it installed?)");
	return g;
}

struct gated spawn_target(const char *path, const char *arg)
{
	int out[2], in[2];
	struct gated g;
	char line[6];

	if (pipe2(out, O_CLOEXEC) || pipe2(in, O_CLOEXEC))
		give_up("pipe: %s", strerror(errno));
	g.pid = fork_or_give_up();
	if (!g.pid) {
		move_fd(in[0], 0);
		move_fd(out[1], 1);
		execl(path, "target", arg, NULL);
		_exit(127);
	}
	close(out[1]);
	close(in[0]);
	g.ready = out[0];
	g.gate = in[1];
	g.root = g.pid;
	if (read(g.ready, line, sizeof(line)) != sizeof(line))
		give_up("%s does not start", path);
	return g;
}

void open_gate(struct gated *g)
{
	if (write(g->gate, "", 1) != 1)
		give_up("gate: %s", strerror(errno));
}

/*
 * Run a program to its end, with all output to a file; returns its exit status.
 */
int run_to_file(char *const argv[], const char *out)
{
	int status;
	pid_t pid = fork_or_give_up();

	if (!pid) {
		move_fd(open("/dev/null", O_RDONLY), 0);
		move_fd(open(out, O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
		move_fd(1, 2);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* The contents of a file, or an empty string; the caller frees it. */
char *read_whole(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;

	if (!f || getdelim(&text, &size, '\0', f) < 0) {
		free(text);
		text = strdup("");
	}
	if (f)
		fclose(f);
	if (!text)
		give_up("out of memory");
	return text;
}

void write_file(const char *path, const char *fmt, ...)
{
	va_list args;
	FILE *f = fopen(path, "w");

	if (!f)
		give_up("%s: %s", path, strerror(errno));
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	if (fclose(f))
		give_up("writing %s: %s", path, strerror(errno));
}

/* Start a tracer, whose messages go to a file. */
pid_t start_tracer(char *const argv[], const char *said)
{
	pid_t pid = fork();

	if (pid < 0)
		give_up("fork");
	if (!pid) {
		if (!freopen(said, "w", stderr))
			_exit(125);
		execvp(argv[0], argv);
		_exit(127);
	}
	return pid;
}

/* Wait until a file has @word in it. */
bool await_text(const char *path, const char *word)
{
	bool found = false;
	char *text;
	int i;

	for (i = 0; i < TRIES && !found; i++) {
		text = read_whole(path);
		found = strstr(text, word);
		free(text);
		if (!found)
			usleep(BETWEEN);
	}
	return found;
}

/* Wait until a file of /proc/PID, such as "utrace", has @word in it. */
bool await_word(pid_t pid, const char *file, const char *word)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return await_text(path, word);
}

bool ends_well(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

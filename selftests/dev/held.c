// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a task that waits for its reader, as /proc/PID/utrace shows
 *
 * The last field of the session's line names the reader while the task is held,
 * whichever process that is by then.  A held task is in no call.
 */
#include <sys/mount.h>

#include "dev.h"

/* What /proc/PID/utrace says of the session. */
struct line {
	char owner[32];
	char hold[32];
	char awaits[32];
};

/* Read the line of the session in /proc, or in another mount of it. */
static bool read_line(const char *proc, pid_t pid, struct line *line)
{
	char path[128], text[512];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%d/utrace", proc, pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	while (!found && fgets(text, sizeof(text), file))
		found = sscanf(text, "dev %31s %*s %*s %*s %31s %*s %*s %31s",
			       line->owner, line->hold, line->awaits) == 3;
	fclose(file);
	return found;
}

/* Wait until the task is held, or is not. */
static bool until_held(pid_t pid, bool held, struct line *line)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (read_line("/proc", pid, line) &&
		    held != !strcmp(line->hold, "-"))
			return true;
		usleep(2000);
	}
	return false;
}

static bool names(const char *text, pid_t pid)
{
	char want[32];

	snprintf(want, sizeof(want), "pid:%d", pid);
	return !strcmp(text, want);
}

/* A process that reads one record, becomes the reader, and waits. */
static int read_once(void *arg)
{
	int *fds = arg;
	char byte, record[8192];

	if (read(fds[0], record, 128) < 0 || write(fds[1], "", 1) != 1)
		return 1;
	return read(fds[1], &byte, 1) != 1;
}

/* In a new pid namespace: where the reader has no number. */
static int look_from_inside(void *arg)
{
	pid_t inner;
	int status;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 1;
	inner = fork();
	if (!inner) {
		struct target target;
		struct line line;
		int fd = *(int *)arg;

		if (mount("proc", "/proc", "proc", 0, NULL))
			_exit(2);
		start(&target);
		if (attach(fd, target.pid, UTRACE_SCOPE_PROCESS) < 0)
			_exit(3);
		tell(&target, SELF, mark, 100000);
		_exit(!until_held(target.pid, true, &line) ? 4 :
		      !names(line.awaits, 0));
	}
	if (waitpid(inner, &status, 0) != inner)
		return 5;
	return WEXITSTATUS(status);
}

TEST_F(dev, awaits_its_reader)
{
	struct utrace_ioc_in_flight flight = {};
	struct target target;
	int pair[2], fds[2];
	struct line line;
	pid_t reader;
	char byte;
	int fd;

	start(&target);
	fd = session();
	need(!setup_full(fd, 65536, UTRACE_FULL_STOP) &&
	     attach(fd, target.pid, UTRACE_SCOPE_PROCESS) == 1 &&
	     !choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		     0, NULL, 0), "a session");
	need(read_line("/proc", target.pid, &line), "/proc/PID/utrace");
	holds(!strcmp(line.hold, "-") && !strcmp(line.awaits, "-"),
	      "nobody is awaited before the rings are full");
	tell(&target, SELF, mark, 100000);
	holds(until_held(target.pid, true, &line), "the task is held");
	holds(names(line.awaits, getpid()), "it awaits the opener");
	need(!command(fd, UTRACE_IOC_IN_FLIGHT, &flight), "IN_FLIGHT");
	is(0, flight.written + flight.lost, "it is in no call");

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	fds[0] = fd;
	fds[1] = pair[1];
	fflush(stdout);
	reader = fork();
	if (!reader)
		_exit(read_once(fds));
	need(read(pair[0], &byte, 1) == 1, "a child that reads");
	holds(until_held(target.pid, true, &line), "the task is held still");
	holds(names(line.awaits, reader), "it awaits the process that read last");
	holds(names(line.owner, getpid()), "the session is the opener's");
	need(write(pair[0], "", 1) == 1, "write");
	waitpid(reader, NULL, 0);
	holds(until_held(target.pid, false, &line),
	      "the death of the reader lets it go");
	holds(!strcmp(line.awaits, "-"), "nobody is awaited");
	stop(&target);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

TEST_F(dev, in_another_namespace)
{
	int fd = session();

	need(!setup_full(fd, 65536, UTRACE_FULL_STOP) &&
	     !choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		     0, NULL, 0), "a session");
	is(0, in_child(look_from_inside, &fd),
	   "0 stands for a reader that the namespace does not have");
	close(fd);
}

TEST_HARNESS_MAIN

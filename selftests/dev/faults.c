// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/utrace: a page fault that nobody answers, in an ioctl or a read, holds up
 * the one who has it and nobody else.
 */
#include "../silent.h"
#include "dev.h"

/* What has to be done at once may take so long on a slow machine. */
#define PATIENCE_MS	(10000 * ut_patience())

/* By which means. */
static enum silent_kind kind;

static void *need_silent_page(void)
{
	void *page = silent_page(kind);

	need(page, silent_names[kind]);
	return page;
}

/* Run it in a child, which is left to itself. */
static pid_t leave(int (*function)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(function(arg));
	}
	return pid;
}

/* Its wait status, or -1 if it does not end. */
static int await(pid_t pid, int ms)
{
	int pidfd = pidfd_of(pid, 0), status = -1;
	struct pollfd pfd = { .fd = pidfd, .events = POLLIN };

	if (poll(&pfd, 1, ms) == 1)
		waitpid(pid, &status, 0);
	close(pidfd);
	return status;
}

static bool dies(pid_t pid)
{
	kill(pid, SIGKILL);
	return await(pid, PATIENCE_MS) == SIGKILL;
}

/* Set by a child that makes its call now. */
static _Atomic bool *calls_now;

static char state_of(pid_t pid)
{
	char path[64], line[512], *end = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file))
		end = strrchr(line, ')');
	fclose(file);
	return end ? end[2] : 0;
}

/* It makes its call, and then sleeps for good. */
static bool is_stuck(pid_t pid)
{
	int i, seen = 0;
	char state;

	for (i = 0; i < PATIENCE_MS / 20 && seen < 15; i++) {
		state = state_of(pid);
		seen = *calls_now && (state == 'S' || state == 'D') ? seen + 1 : 0;
		usleep(20000);
	}
	*calls_now = false;
	return seen == 15;
}

static int choose_silent(void *fd)
{
	struct utrace_ioc_events arg = {
		.events = UTRACE_F_EVENT(SYS_ENTER),
		.calls = (uintptr_t)need_silent_page(),
		.ncalls = 4,
	};

	*calls_now = true;
	return command(*(int *)fd, UTRACE_IOC_EVENTS, &arg) ? 1 : 0;
}

static int get_info(void *fd)
{
	struct utrace_ioc_info arg = {};

	return command(*(int *)fd, UTRACE_IOC_INFO, &arg) ? 1 : 0;
}

static int use_session(void *arg)
{
	struct target target;
	int fd = *(int *)arg, id;

	start(&target);
	id = attach(fd, target.pid, UTRACE_F_PROCESS);
	if (id < 0 || choose_marks(fd))
		return 1;
	have(&target, SELF, 'm', 2);
	if (take(fd) != 4 || detach(fd, id))
		return 2;
	stop(&target);
	return 0;
}

/* Numbers of calls that come from a page that does not. */
static void test_events(void)
{
	int fd = session();
	pid_t stuck, other;

	stuck = leave(choose_silent, &fd);
	holds(is_stuck(stuck), "EVENTS with a silent page is stuck");
	other = leave(get_info, &fd);
	if (!is(0, await(other, PATIENCE_MS), "INFO beside it goes on"))
		holds(dies(other), "or can be killed");
	other = leave(use_session, &fd);
	if (!is(0, await(other, PATIENCE_MS), "ATTACH, EVENTS, read and DETACH go on"))
		holds(dies(other), "or can be killed");
	holds(dies(stuck), "the one that is stuck can be killed");
	is(0, get_info(&fd), "INFO after that");
	close(fd);
}

static int read_silent(void *fd)
{
	void *page = need_silent_page();

	*calls_now = true;
	return read(*(int *)fd, page, 4096) < 0;
}

static int try_read(void *fd)
{
	char buffer[4096];

	return read(*(int *)fd, buffer, sizeof(buffer)) == -1 && errno == EAGAIN ? 0 : 1;
}

static int wait_read(void *fd)
{
	char buffer[4096];

	fcntl(*(int *)fd, F_SETFL, 0);
	*calls_now = true;
	return read(*(int *)fd, buffer, sizeof(buffer)) < 0;
}

/* Records that go to a page that does not come. */
static void test_read(void)
{
	struct target target;
	pid_t stuck, other;
	int fd = session();

	start(&target);
	need(attach(fd, target.pid, UTRACE_F_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, 'm', 3);
	stuck = leave(read_silent, &fd);
	holds(is_stuck(stuck), "read to a silent page is stuck");
	other = leave(try_read, &fd);
	if (!is(0, await(other, PATIENCE_MS), "another one with O_NONBLOCK gets EAGAIN"))
		holds(dies(other), "or can be killed");
	other = leave(get_info, &fd);
	is(0, await(other, PATIENCE_MS), "INFO goes on");
	other = leave(wait_read, &fd);
	holds(is_stuck(other), "one without waits");
	holds(dies(other), "and can be killed");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	have(&target, SELF, 'm', 2);
	is(10, info(fd).records, "the target goes on");
	holds(dies(stuck), "the one that is stuck can be killed");
	is(10, take(fd), "and no record is gone");
	close(fd);
	stop(&target);
}

int main(void)
{
	printf("TAP version 13\n");
	calls_now = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(calls_now != MAP_FAILED, "mmap");
	for (kind = 0; kind < SILENT_KINDS; kind++) {
		printf("# %s\n", silent_names[kind]);
		test_events();
		test_read();
	}
	return plan();
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: page faults that are not answered
 *
 * A page fault in an ioctl or a read holds up only the task that has the fault.
 */
#include "../silent.h"
#include "dev.h"

/* How long an operation that must not wait may take on a slow machine. */
#define PATIENCE_MS	(10000 * ut_patience())

/* The means by which the page is kept away. */
static enum silent_kind kind;

/* Set by a child before it makes its call. */
static _Atomic bool *calls_now;

FIXTURE(faults) {
};

FIXTURE_VARIANT(faults) {
	enum silent_kind kind;
};

FIXTURE_VARIANT_ADD(faults, userfaultfd) {
	.kind = SILENT_UFFD,
};

FIXTURE_VARIANT_ADD(faults, fuse) {
	.kind = SILENT_FUSE,
};

FIXTURE_SETUP(faults)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	kind = variant->kind;
	calls_now = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(calls_now != MAP_FAILED, "mmap");
}

FIXTURE_TEARDOWN(faults)
{
	dev_end();
}

static void *need_silent_page(void)
{
	void *page = silent_page(kind);

	need(page, silent_names[kind]);
	return page;
}

/* Run a function in a child, and do not wait for it. */
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

/* The wait status of a child, or -1 if it does not end in time. */
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

/* Check whether the child sleeps in its call and does not return. */
static bool is_stuck(pid_t pid)
{
	int i, seen = 0;
	char state;

	for (i = 0; i < PATIENCE_MS / 20 && seen < 15; i++) {
		state = state_of(pid);
		seen = *calls_now && (state == 'S' || state == 'D') ? seen + 1
								    : 0;
		usleep(20000);
	}
	*calls_now = false;
	return seen == 15;
}

static int choose_silent(void *fd)
{
	struct utrace_ioc_events arg = {
		.events = UTRACE_REC_BIT(SYS_ENTER),
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
	id = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	if (id < 0 || choose_marks(fd))
		return 1;
	have(&target, SELF, mark, 2);
	if (take(fd) != 4 || detach(fd, id))
		return 2;
	stop(&target);
	return 0;
}

/* The list of system calls is in a page that never comes. */
TEST_F(faults, events)
{
	int fd = session();
	pid_t stuck, other;

	stuck = leave(choose_silent, &fd);
	holds(is_stuck(stuck), "EVENTS with a silent page is stuck");
	other = leave(get_info, &fd);
	if (!is(0, await(other, PATIENCE_MS), "INFO beside it goes on"))
		holds(dies(other), "or can be killed");
	other = leave(use_session, &fd);
	if (!is(0, await(other, PATIENCE_MS),
		"ATTACH, EVENTS, read and DETACH go on"))
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

	return read(*(int *)fd, buffer, sizeof(buffer)) == -1 && errno == EAGAIN
		       ? 0
		       : 1;
}

static int wait_read(void *fd)
{
	char buffer[4096];

	fcntl(*(int *)fd, F_SETFL, 0);
	*calls_now = true;
	return read(*(int *)fd, buffer, sizeof(buffer)) < 0;
}

/* The buffer for the records is in a page that never comes. */
TEST_F(faults, read)
{
	struct target target;
	pid_t stuck, other;
	int fd = session();

	start(&target);
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, mark, 3);
	stuck = leave(read_silent, &fd);
	holds(is_stuck(stuck), "read to a silent page is stuck");
	other = leave(try_read, &fd);
	if (!is(0, await(other, PATIENCE_MS),
		"another one with O_NONBLOCK gets EAGAIN"))
		holds(dies(other), "or can be killed");
	other = leave(get_info, &fd);
	is(0, await(other, PATIENCE_MS), "INFO goes on");
	other = leave(wait_read, &fd);
	holds(is_stuck(other), "one without waits");
	holds(dies(other), "and can be killed");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	have(&target, SELF, mark, 2);
	is(10, info(fd).records, "the target goes on");
	holds(dies(stuck), "the one that is stuck can be killed");
	is(10, take(fd), "and no record is gone");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN

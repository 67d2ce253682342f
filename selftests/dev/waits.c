// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: a callback that does not end
 *
 * A session captures a string whose page user space withholds, so the record is
 * never finished.  Other sessions work as usual, and a task that uses this
 * session can be killed.
 */
#include <linux/userfaultfd.h>
#include <sched.h>

#include "dev.h"

/* Long enough for everything that does not hang. */
#define SOON_MS		(10000 * ut_patience())

static struct target target;
static int stuck_fd;
static __u32 stuck_id;

/* A page that nobody provides. */
static void *unserved(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	reg.range.start = (uintptr_t)p;
	reg.range.len = 4096;
	if (fd < 0 || p == MAP_FAILED || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg))
		_exit(98);
	return p;
}

/* Open a file whose name is in that page. */
static long open_unserved(long unused)
{
	return syscall(SYS_openat, AT_FDCWD, unserved(), O_RDONLY);
}

static bool is_stuck(void)
{
	char path[64], wchan[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/wchan", target.pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (!fgets(wchan, sizeof(wchan), file))
		wchan[0] = '\0';
	fclose(file);
	return !strcmp(wchan, "handle_userfault");
}

static void nap(void)
{
	struct timespec ts = { 0, 5000000 };

	nanosleep(&ts, NULL);
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Check whether the process ends within SOON_MS. */
static bool ends(pid_t pid, int *status)
{
	long end = now_ms() + SOON_MS;
	pid_t ret;

	while (!(ret = waitpid(pid, status, WNOHANG)) && now_ms() < end)
		nap();
	return ret == pid;
}

static pid_t begin(int (*function)(int fd), int fd)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(function(fd));
	}
	return pid;
}

/* Check that a function ends by itself. */
static void goes_on(int (*function)(int fd), int fd, const char *text)
{
	int status = -1;
	pid_t pid = begin(function, fd);

	holds(ends(pid, &status) && !status && is_stuck(), "%s", text);
	if (status)
		printf("#   status %#x\n", status);
	kill(pid, SIGKILL);
}

/* Check that a function ends, by itself or by a signal. */
static void ends_or_dies(int (*function)(int fd), int fd, const char *text)
{
	int status;
	pid_t pid = begin(function, fd);
	bool good = ends(pid, &status);

	if (!good) {
		kill(pid, SIGKILL);
		good = ends(pid, &status);
	}
	holds(good && is_stuck(), "%s", text);
}

static int do_events(int fd)
{
	return -choose(fd, UTRACE_REC_BIT(EXEC) | UTRACE_REC_BIT(SYS_EXIT), 0,
		       NULL, 0);
}

static int do_info(int fd)
{
	return info(fd).events ? 0 : 1;
}

static int do_attach(int fd)
{
	int id = attach(fd, target.pid, UTRACE_SCOPE_TREE);

	return id < 0 ? -id : -detach(fd, id);
}

static int do_whole_life(int unused)
{
	int fd = session();

	if (setup(fd, 0) ||
	    attach(fd, target.pid, UTRACE_SCOPE_PROCESS) < 0 ||
	    choose_marks(fd))
		return 1;
	return close(fd) ? 2 : 0;
}

static int do_system(int unused)
{
	int fd = session();

	if (setup(fd, 0) || attach_system(fd) < 0 ||
	    choose_marks(fd))
		return 1;
	return close(fd) ? 2 : 0;
}

static int detach_stuck(int fd)
{
	return -detach(fd, stuck_id);
}

static int wait_for_ever(int unused)
{
	return pause();
}

/* Get the target into a callback of one session, and open another session. */
static int begin_stuck(void)
{
	static const __u32 calls[] = { SYS_openat };
	int other, fd, i;

	/* Start the target first, or it would inherit the sessions. */
	start(&target);
	other = session();
	fd = session();
	need(!setup(fd, 0) &&
	     !setup(other, 0),
	     "setup");
	i = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	need(i >= 0, "attach");
	stuck_id = i;
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER), UTRACE_CAPTURE_STRINGS,
		     calls, 1),
	     "events");
	need(attach(other, target.pid, UTRACE_SCOPE_PROCESS) >= 0, "attach");
	need(!choose(other, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0), "events");
	tell(&target, SELF, open_unserved, 0);
	for (i = 0; i < 1000 * ut_patience() && !is_stuck(); i++)
		nap();
	holds(is_stuck(), "the target is in a capture");
	stuck_fd = fd;
	return other;
}

static void end_stuck(void)
{
	int status;

	kill(target.pid, SIGKILL);
	holds(ends(target.pid, &status), "the target can be killed");
}

TEST_F(dev, others_go_on)
{
	int other = begin_stuck();

	goes_on(do_info, stuck_fd, "INFO of the session it is in");
	goes_on(do_events, other, "EVENTS of another one");
	goes_on(do_attach, other, "ATTACH and DETACH of another one");
	goes_on(do_whole_life, -1, "a session that begins and ends");
	goes_on(do_system, -1, "the same with the system");
	end_stuck();
	close(stuck_fd);
	close(other);
}

TEST_F(dev, own_can_be_killed)
{
	int other = begin_stuck();

	ends_or_dies(do_events, stuck_fd, "EVENTS of the session it is in");
	ends_or_dies(do_attach, stuck_fd, "ATTACH of the session it is in");
	ends_or_dies(detach_stuck, stuck_fd, "DETACH of the session it is in");
	end_stuck();
	close(stuck_fd);
	close(other);
}

/* The death of the process closes the session's last descriptor. */
TEST_F(dev, end_of_the_owner)
{
	int other = begin_stuck(), status;
	pid_t pid = begin(wait_for_ever, -1);

	close(stuck_fd);
	kill(pid, SIGKILL);
	holds(ends(pid, &status) && is_stuck(),
	      "who has the last descriptor can be killed");
	end_stuck();
	close(other);
}

TEST_HARNESS_MAIN

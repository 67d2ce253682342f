// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - other parts of the kernel that deal with a traced task
 *
 * The log of faults, /proc/PID/mem and the connector of process events ask whether a
 * task is traced, and by whom.  See Documentation/trace/utrace/ptrace-tests.rst.
 */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "sole.h"

/* Function of a target: when go[0] is set, write to a page without rights. */
static int faults(struct ut_target *t)
{
	void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	ut_say(t);
	while (!t->sh->go[0])
		sched_yield();
	memset(page, 1, 4096);
	return 0;
}

/* Check whether the log has a fault of the process, from where @fd is. */
static bool is_logged(int fd, pid_t pid)
{
	char line[8192], what[32];
	bool found = false;
	ssize_t n;

	snprintf(what, sizeof(what), "[%d]: segfault at ", pid);
	while ((n = read(fd, line, sizeof(line) - 1)) > 0 ||
	       (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		line[n] = '\0';
		found |= !!strstr(line, what);
	}
	return found;
}

/* The log, from its present end; -1 if it cannot be read. */
static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* A debugger gets the fault, so the kernel does not log it. */
TEST_F(tracers, fault_is_not_logged)
{
	struct ut_target *t = &self->t;
	struct ut_target alone = {};
	int fd = open_log(), status;

	if (fd < 0)
		SKIP(return, "no /dev/kmsg");
	ASSERT_TRUE(ut_spawn(t, faults));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, sole_seize(self, variant, t->pid, 0));
	t->sh->go[0] = 1;
	ASSERT_EQ(two_stop(SIGSEGV), two_wait(&self->s, t->pid));
	ASSERT_EQ(0, two_cont(&self->s, t->pid, SIGSEGV));
	EXPECT_EQ(SIGSEGV, two_wait(&self->s, t->pid) & 0x7f);
	EXPECT_FALSE(is_logged(fd, t->pid));
	/* This comes last: it must not use up the rate limit of the log before. */
	ASSERT_TRUE(ut_spawn(&alone, faults));
	ASSERT_TRUE(ut_hear(&alone));
	alone.sh->go[0] = 1;
	ASSERT_EQ(1, ut_waitpid(alone.pid, &status, 0));
	if (!is_logged(fd, alone.pid))
		SKIP(return, "an untraced fault is not logged: exception-trace, rate limit");
	close(fd);
}

struct listen {
	struct nlmsghdr nl;
	struct cn_msg cn;
	enum proc_cn_mcast_op op;
} __attribute__((packed));

/* A socket that gets the events of the process connector, or -1. */
static int open_connector(void)
{
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_CONNECTOR);
	struct sockaddr_nl addr = {
		.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC,
	};
	struct listen ask = {
		.nl = { .nlmsg_len = sizeof(ask), .nlmsg_type = NLMSG_DONE },
		.cn = {
			.id = { .idx = CN_IDX_PROC, .val = CN_VAL_PROC },
			.len = sizeof(ask.op),
		},
		.op = PROC_CN_MCAST_LISTEN,
	};

	if (fd >= 0 && (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ||
			send(fd, &ask, sizeof(ask), 0) != sizeof(ask))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Check for an event that @tracer traces @pid; @tracer is 0 for a detach. */
static bool hears(int fd, pid_t pid, pid_t tracer)
{
	char buf[1024] __attribute__((aligned(8)));
	const struct nlmsghdr *nl = (void *)buf;
	const struct cn_msg *cn = NLMSG_DATA(nl);
	const struct proc_event *event = (void *)cn->data;

	while (recv(fd, buf, sizeof(buf), 0) > 0)
		if (event->what == PROC_EVENT_PTRACE &&
		    event->event_data.ptrace.process_pid == pid &&
		    event->event_data.ptrace.tracer_pid == tracer)
			return true;
	return false;
}

/* Each attach and each PTRACE_DETACH makes an event. */
TEST_F(tracers, attach_and_detach_make_events)
{
	struct ut_target *t = &self->t;
	int fd = open_connector();

	if (fd < 0)
		SKIP(return, "no connector of process events");
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_TRUE(sole_begin(variant, &self->p, t->pid));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	EXPECT_TRUE(ut_until(hears(fd, t->pid, self->s.t.pid)));
	ASSERT_TRUE(sole_end(variant, &self->p, t->pid));
	if (variant->further)
		EXPECT_TRUE(ut_until(hears(fd, t->pid, 0)));
	EXPECT_TRUE(ut_stays(!hears(fd, t->pid, 0)));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	EXPECT_TRUE(ut_until(hears(fd, t->pid, 0)));
	close(fd);
}

/* Write to a page of @pid that the process may not write to; 0 or -errno. */
static int write_mem(pid_t pid, const void *at)
{
	char path[32], byte = 1;
	int fd, ret;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = pwrite(fd, &byte, 1, (long)at) == 1 ? 0 : -errno;
	close(fd);
	return ret;
}

/* With proc_mem.force_override=ptrace only a tracer writes where the task may not. */
TEST_F(tracers, writes_memory_by_force)
{
	struct ut_target *t = &self->t;
	char args[4096] = "";
	void *page;

	ut_read_file(args, sizeof(args), "/proc/cmdline");
	if (!strstr(args, "proc_mem.force_override=ptrace"))
		SKIP(return, "needs the kernel argument proc_mem.force_override=ptrace");
	page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_TRUE(actor_spawn(t));
	EXPECT_EQ(-EIO, write_mem(t->pid, page));
	/* The test is the tracer, beside another one or after it. */
	ASSERT_TRUE(sole_begin(variant, &self->p, t->pid));
	EXPECT_EQ(-EIO, write_mem(t->pid, page));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	EXPECT_EQ(0, write_mem(t->pid, page));
	ASSERT_TRUE(sole_end(variant, &self->p, t->pid));
	EXPECT_EQ(0, write_mem(t->pid, page));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the proc connector tells of each tracer
 *
 * Programs that watch for debuggers hear of a secondary as of a primary.
 */
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "two.h"

static bool is_open(int *fd)
{
	struct {
		struct nlmsghdr head;
		struct cn_msg msg;
		enum proc_cn_mcast_op op;
	} __attribute__((packed)) ask = {
		.head = { .nlmsg_len = sizeof(ask), .nlmsg_type = NLMSG_DONE },
		.msg = { .id = { CN_IDX_PROC, CN_VAL_PROC },
			 .len = sizeof(ask.op) },
		.op = PROC_CN_MCAST_LISTEN,
	};
	struct sockaddr_nl to = { .nl_family = AF_NETLINK,
				  .nl_groups = CN_IDX_PROC };

	*fd = socket(PF_NETLINK, SOCK_DGRAM, NETLINK_CONNECTOR);
	return *fd >= 0 && !bind(*fd, (void *)&to, sizeof(to)) &&
	       send(*fd, &ask, sizeof(ask), 0) == sizeof(ask);
}

/* Is the next event about ptrace of @pid one of @tracer? */
static bool hears(int fd, pid_t pid, pid_t tracer)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	char buf[512] __attribute__((aligned(8)));
	struct cn_msg *msg = NLMSG_DATA(buf);
	struct proc_event *event = (void *)msg->data;

	while (ut_now_ms() < end) {
		if (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) <= 0) {
			ut_sleep_ms(1);
			continue;
		}
		if (event->what == PROC_EVENT_PTRACE &&
		    event->event_data.ptrace.process_pid == pid)
			return event->event_data.ptrace.tracer_pid == tracer;
	}
	return false;
}

static void come_and_go(struct __test_metadata *_metadata,
			struct two_data *self, long request)
{
	struct ut_target *t = &self->t;
	pid_t tracer = self->s.t.pid;
	int fd;

	if (!is_open(&fd))
		SKIP(return, "no proc connector (PROC_EVENTS)");
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_TRUE(hears(fd, t->pid, self->p.t.pid));
	ASSERT_EQ(0, two_ptrace(&self->s, request, t->pid, 0));
	EXPECT_TRUE(hears(fd, t->pid, tracer));
	if (request == PTRACE_SEIZE)
		ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_LT(0, two_wait(&self->s, t->pid));
	ASSERT_EQ(0, two_ptrace(&self->s, PTRACE_DETACH, t->pid, 0));
	/* A detach has no tracer. */
	EXPECT_TRUE(hears(fd, t->pid, 0));
	close(fd);
}

TEST_F(tracers, seize)
{
	come_and_go(_metadata, self, PTRACE_SEIZE);
}

TEST_F(tracers, attach)
{
	come_and_go(_metadata, self, PTRACE_ATTACH);
}

TEST_HARNESS_MAIN

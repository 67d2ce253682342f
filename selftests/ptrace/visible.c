// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the proc connector and audit report each tracer
 *
 * Programs that watch for debuggers get the same reports of a further tracer as
 * of the first one.
 */
#include <linux/audit.h>
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

/* Check that the next ptrace event of @pid names @tracer. */
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

/* A message to or from audit, with its payload. */
struct audit_message {
	struct nlmsghdr head;
	union {
		struct nlmsgerr error;
		struct audit_status status;
		struct audit_rule_data rule;
		char text[8192];
	};
};

static struct audit_message audit_msg;

/* Receive the next message, without waiting; false if there is none. */
static bool audit_next(int fd)
{
	ssize_t len = recv(fd, &audit_msg, sizeof(audit_msg) - 1, MSG_DONTWAIT);

	if (len < NLMSG_HDRLEN)
		return false;
	audit_msg.text[len - NLMSG_HDRLEN] = '\0';
	return true;
}

/* Send a request of @size bytes of @payload; 0 or -errno. */
static int audit_ask(int fd, int type, const void *payload, size_t size)
{
	memset(&audit_msg, 0, sizeof(audit_msg));
	audit_msg.head.nlmsg_len = NLMSG_LENGTH(size);
	audit_msg.head.nlmsg_type = type;
	audit_msg.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	memcpy(audit_msg.text, payload, size);
	if (send(fd, &audit_msg, audit_msg.head.nlmsg_len, 0) < 0)
		return -errno;
	if (!ut_until(audit_next(fd) &&
		      audit_msg.head.nlmsg_type == NLMSG_ERROR))
		return -ETIMEDOUT;
	return audit_msg.error.error;
}

static int audit_enable(int fd, bool enabled)
{
	struct audit_status status = {
		.mask = AUDIT_STATUS_ENABLED, .enabled = enabled,
	};

	return audit_ask(fd, AUDIT_SET, &status, sizeof(status));
}

/* Add or delete the rule that audits every ptrace(). */
static int audit_rule(int fd, int type)
{
	struct audit_rule_data rule = {
		.flags = AUDIT_FILTER_EXIT, .action = AUDIT_ALWAYS,
	};

	rule.mask[AUDIT_WORD(SYS_ptrace)] = AUDIT_BIT(SYS_ptrace);
	return audit_ask(fd, type, &rule, sizeof(rule));
}

/* Check whether audit is enabled; -1 if the status cannot be read. */
static int audit_is_enabled(int fd)
{
	struct nlmsghdr ask = {
		.nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = AUDIT_GET,
		.nlmsg_flags = NLM_F_REQUEST,
	};

	if (send(fd, &ask, sizeof(ask), 0) < 0 ||
	    !ut_until(audit_next(fd) && audit_msg.head.nlmsg_type == AUDIT_GET))
		return -1;
	return audit_msg.status.enabled;
}

/* Check whether the last message received has the word @text=@pid. */
static bool audit_says(const char *text, pid_t pid)
{
	char word[32];

	snprintf(word, sizeof(word), "%s=%d ", text, pid);
	return strstr(audit_msg.text, word);
}

/* Check that the audit records of one call name @tracer and its object @pid. */
static bool audit_tells(int fd, pid_t pid, pid_t tracer)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	char id[64] = "";

	while (ut_now_ms() < end) {
		if (!audit_next(fd)) {
			ut_sleep_ms(1);
			continue;
		}
		if (audit_msg.head.nlmsg_type == AUDIT_SYSCALL &&
		    audit_says(" pid", tracer))
			sscanf(audit_msg.text, "%63s", id);
		else if (audit_msg.head.nlmsg_type == AUDIT_OBJ_PID &&
			 *id && !strncmp(audit_msg.text, id, strlen(id)) &&
			 audit_says("opid", pid))
			return true;
	}
	return false;
}

/* The record AUDIT_OBJ_PID names the task that a tracer has attached to. */
TEST_F(tracers, audit)
{
	struct two_tracer first = {}, further = {};
	struct ut_target *t = &self->t;
	struct sockaddr_nl to = { .nl_family = AF_NETLINK,
				  .nl_groups = 1 << (AUDIT_NLGRP_READLOG - 1) };
	int fd, log, before;

	fd = socket(PF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	log = socket(PF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_AUDIT);
	if (fd < 0 || log < 0 || bind(log, (void *)&to, sizeof(to)))
		SKIP(return, "no audit (AUDIT)");
	before = audit_is_enabled(fd);
	if (before < 0 || before == 2)
		SKIP(return, "audit cannot be set up");
	EXPECT_EQ(0, audit_enable(fd, true));
	if (audit_rule(fd, AUDIT_ADD_RULE)) {
		EXPECT_EQ(0, audit_enable(fd, before));
		SKIP(return, "no rules of audit (AUDITSYSCALL)");
	}
	/* Audit sees only the calls of tasks that begin while it is enabled. */
	EXPECT_TRUE(two_start(&first));
	EXPECT_TRUE(two_start(&further));
	EXPECT_TRUE(actor_spawn(t));
	EXPECT_EQ(0, two_seize(&first, t->pid, 0));
	EXPECT_TRUE(audit_tells(log, t->pid, first.t.pid));
	EXPECT_EQ(0, two_seize(&further, t->pid, 0));
	EXPECT_TRUE(audit_tells(log, t->pid, further.t.pid));
	EXPECT_EQ(0, audit_rule(fd, AUDIT_DEL_RULE));
	EXPECT_EQ(0, audit_enable(fd, before));
	close(log);
	close(fd);
}

TEST_HARNESS_MAIN

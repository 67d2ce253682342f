// SPDX-License-Identifier: GPL-2.0
/* utrace selftests - signal events, and what an engine can make of a signal */
#include <sys/resource.h>
#include <sys/socket.h>

#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/netlink.h>

#include "target.h"

static struct ut_shared *shared;

static void on_signal(int sig, siginfo_t *info, void *context)
{
	shared->value[1]++;
	shared->value[2] = sig;
}

static void on_signal_too(int sig, siginfo_t *info, void *context)
{
	shared->value[3]++;
	shared->value[2] = sig;
}

static void handle(int sig, void (*fn)(int, siginfo_t *, void *))
{
	struct sigaction sa = { .sa_sigaction = fn, .sa_flags = SA_SIGINFO };

	sigaction(sig, &sa, NULL);
}

/* Spin; SIGUSR1 and SIGUSR2 have a handler, SIGWINCH is ignored by default. */
static int signal_target(struct ut_target *t)
{
	shared = t->sh;
	handle(SIGUSR1, on_signal);
	handle(SIGUSR2, on_signal);
	signal(SIGHUP, SIG_IGN);
	ut_say(t);
	ut_spin(t);
	return 0;
}

FIXTURE(signals) {
	struct ut_target t;
	int status;
	int id;
};

FIXTURE_SETUP(signals)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(ut_spawn(&self->t, signal_target));
	ASSERT_TRUE(ut_hear(&self->t));
	self->id = ut_attach(self->t.pid, 0, UT_SIGNAL_ALL | UT_BIT(EXIT));
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(signals)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

TEST_F(signals, handler)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	i = ut_wait(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(SI_USER, ut_rec[i].val[0]);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_EQ(0, ut_rec[i].val[2]);
	EXPECT_EQ((long)on_signal, ut_rec[i].val[3]);
	EXPECT_EQ((long)on_signal, ut_rec[i].val[4]);
	EXPECT_EQ(UT_SIGNAL_DELIVER, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(1, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
}

TEST_F(signals, ignored)
{
	struct ut_target *t = &self->t;
	int i;

	/* The program ignores SIGHUP, the default action ignores SIGWINCH. */
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	i = ut_wait(0, self->id, UT_EV_SIGNAL_IGN, t->pid, SIGHUP);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_IGN, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_EQ((long)SIG_IGN, ut_rec[i].val[3]);
	ASSERT_EQ(0, kill(t->pid, SIGWINCH));
	i = ut_wait(0, self->id, UT_EV_SIGNAL_IGN, t->pid, SIGWINCH);
	ASSERT_LE(0, i);
	EXPECT_EQ((long)SIG_DFL, ut_rec[i].val[3]);
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(signals, term)
{
	struct ut_target *t = &self->t;
	int i, exit;

	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	i = ut_seen(0, self->id, UT_EV_SIGNAL_TERM, t->pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_TERM, ut_rec[i].action & UT_SIGNAL_MASK);
	exit = ut_find(0, self->id, UT_EV_EXIT, t->pid, UT_ANY);
	ASSERT_LT(i, exit);
	EXPECT_EQ(SIGTERM, ut_rec[exit].val[0] & 0x7f);
}

TEST_F(signals, core)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, kill(t->pid, SIGABRT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGABRT, WTERMSIG(self->status));
	i = ut_seen(0, self->id, UT_EV_SIGNAL_CORE, t->pid, SIGABRT);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_CORE, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_LT(i, ut_find(0, self->id, UT_EV_EXIT, t->pid, UT_ANY));
}

/* SIGKILL is no event, and no engine can change it. */
TEST_F(signals, kill_is_no_event)
{
	struct ut_target *t = &self->t;
	unsigned int ev;

	for (ev = UT_EV_SIGNAL; ev <= UT_EV_SIGNAL_CORE; ev++)
		ASSERT_EQ(0, ut_rule(.id = self->id, .event = ev,
				     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
	EXPECT_LE(0, ut_seen(0, self->id, UT_EV_EXIT, t->pid, UT_ANY));
}

TEST_F(signals, only_what_is_asked_for)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_events(self->id, 0, UT_BIT(SIGNAL_TERM)));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_until(t->sh->value[1] == 1));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, ut_matches(0, self->id, UT_ANY, UT_ANY, UT_ANY));
	EXPECT_LE(0, ut_find(0, self->id, UT_EV_SIGNAL_TERM, t->pid,
			     SIGTERM));
}

TEST_F(signals, term_to_ignore)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_TERM,
			     .match = SIGTERM, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_LE(0, ut_wait(0, self->id, UT_EV_SIGNAL_TERM, t->pid,
			     SIGTERM));
	EXPECT_TRUE(ut_runs(t));
	/* The rule is used up. */
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

TEST_F(signals, handler_to_ignore)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_LE(0, ut_wait(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1));
	/*
	 * SIGUSR2 is delivered; had SIGUSR1 not been dropped, it would have
	 * been first.
	 */
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[2] == SIGUSR2));
	EXPECT_EQ(1, t->sh->value[1]);
}

TEST_F(signals, handler_to_term)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .answer = UT_RESUME | UT_SIGNAL_TERM));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGUSR1, WTERMSIG(self->status));
	EXPECT_EQ(0, t->sh->value[1]);
}

static int core_target(struct ut_target *t)
{
	struct rlimit limit = { 1 << 24, 1 << 24 };

	if (chdir("/tmp") || setrlimit(RLIMIT_CORE, &limit))
		return 1;
	return signal_target(t);
}

TEST_F(signals, handler_to_core)
{
	struct ut_target *t = &self->t;
	char pattern[256];
	int id;

	if (ut_read_file(pattern, sizeof(pattern),
			 "/proc/sys/kernel/core_pattern") <= 0)
		SKIP(return, "no kernel.core_pattern");
	if (strncmp(pattern, "core", 4))
		SKIP(return, "kernel.core_pattern is not a plain \"core\"");
	ASSERT_TRUE(ut_spawn(t, core_target));
	ASSERT_TRUE(ut_hear(t));
	id = ut_attach(t->pid, 0, UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL,
			     .answer = UT_RESUME | UT_SIGNAL_CORE));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_TRUE(WCOREDUMP(self->status));
	EXPECT_EQ(0, t->sh->value[1]);
	unlink("/tmp/core");
}

/* A socket for the process events of the connector; -1 without connector. */
static int connector(void)
{
	struct sockaddr_nl to = {
		.nl_family = AF_NETLINK, .nl_groups = CN_IDX_PROC,
	};
	struct {
		struct nlmsghdr nl;
		struct cn_msg cn;
		enum proc_cn_mcast_op op;
	} __attribute__((packed)) listen = {
		.nl = { .nlmsg_len = sizeof(listen), .nlmsg_type = NLMSG_DONE },
		.cn = {
			.id = { CN_IDX_PROC, CN_VAL_PROC },
			.len = sizeof(listen.op),
		},
		.op = PROC_CN_MCAST_LISTEN,
	};
	int fd = socket(PF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC,
			NETLINK_CONNECTOR);

	if (fd >= 0 && !bind(fd, (struct sockaddr *)&to, sizeof(to)) &&
	    send(fd, &listen, sizeof(listen), 0) == sizeof(listen))
		return fd;
	close(fd);
	return -1;
}

/* The number of core dumps of a process that the connector has reported. */
static int core_dumps(int fd, pid_t pid)
{
	char text[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	int n = 0;

	while (recv(fd, text, sizeof(text), MSG_DONTWAIT) > 0) {
		struct cn_msg *cn = NLMSG_DATA((struct nlmsghdr *)text);
		struct proc_event event;

		memcpy(&event, cn->data, sizeof(event));
		n += event.what == PROC_EVENT_COREDUMP &&
		     event.event_data.coredump.process_pid == pid;
	}
	return n;
}

/* An engine makes an ignored signal dump core: the connector reports it. */
TEST_F(signals, connector_reports_core_by_an_engine)
{
	struct ut_target *t = &self->t;
	int id, fd = connector();

	if (fd < 0)
		SKIP(return, "no connector (PROC_EVENTS)");
	ASSERT_TRUE(ut_spawn(t, core_target));
	ASSERT_TRUE(ut_hear(t));
	id = ut_attach(t->pid, 0, UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL,
			     .answer = UT_RESUME | UT_SIGNAL_CORE,
			     .change = UT_CHANGE_SIGNO, .signo = SIGWINCH));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGWINCH, WTERMSIG(self->status));
	EXPECT_EQ(1, core_dumps(fd, t->pid));
	close(fd);
	unlink("/tmp/core");
}

TEST_F(signals, handler_to_stop)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_STOP));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(self->status));
	EXPECT_EQ('T', ut_state(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, t->sh->value[1]);
}

TEST_F(signals, handler_to_tstp)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_TSTP));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(self->status));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(signals, stop_to_ignore)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_STOP,
			     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTSTP));
	ASSERT_LE(0, ut_wait(0, self->id, UT_EV_SIGNAL_STOP, t->pid,
			     SIGTSTP));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, waitpid(t->pid, &self->status, WUNTRACED | WNOHANG));
}

TEST_F(signals, other_number)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .count = 1,
			     .answer = UT_RESUME | UT_PASS,
			     .change = UT_CHANGE_SIGNO, .signo = SIGUSR2));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_EQ(SIGUSR2, t->sh->value[2]);
}

TEST_F(signals, other_handler)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .count = 1,
			     .answer = UT_RESUME | UT_PASS,
			     .change = UT_CHANGE_HANDLER,
			     .handler = (unsigned long)on_signal_too));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[3] == 1));
	EXPECT_EQ(0, t->sh->value[1]);
	/*
	 * The rule is used up, and the program's handler is set up as before.
	 */
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_EQ(1, t->sh->value[3]);
}

TEST_F(signals, ignored_to_delivered)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_IGN,
			     .match = SIGHUP, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_DELIVER,
			     .change = UT_CHANGE_HANDLER,
			     .handler = (unsigned long)on_signal_too));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	EXPECT_TRUE(ut_until(t->sh->value[3] == 1));
}

/*
 * An engine of the system gets a copy of a signal with a handler, too: the
 * program gets the signal as it was sent, whatever the engine does.
 */
TEST_F(signals, system_engine_changes_nothing)
{
	struct ut_target *t = &self->t;
	int id = ut_attach(0, UT_ATTACH_SYSTEM, UT_BIT(SIGNAL));

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .tid = t->pid,
			     .answer = UT_RESUME | UT_SIGNAL_IGN,
			     .change = UT_CHANGE_SIGNO | UT_CHANGE_HANDLER,
			     .signo = SIGUSR2,
			     .handler = (unsigned long)on_signal_too));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	/* Both handlers store the number at their end. */
	ASSERT_TRUE(ut_until(t->sh->value[2]));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_SIGNAL, t->pid, SIGUSR1));
	EXPECT_EQ(SIGUSR1, t->sh->value[2]);
	EXPECT_EQ(1, t->sh->value[1]);
	EXPECT_EQ(0, t->sh->value[3]);
}

/* A kept signal is reported again when its engine resumes the task. */
TEST_F(signals, system_engine_keeps_nothing)
{
	struct ut_target *t = &self->t;
	int id = ut_attach(0, UT_ATTACH_SYSTEM, UT_BIT(SIGNAL));

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .tid = t->pid, .count = 1,
			     .answer = UT_STOP | UT_STOP_HERE | UT_PASS));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_EQ(1, ut_matches(0, id, UT_ANY, t->pid, SIGUSR1));
}

TEST_F(signals, hold_puts_back)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL,
			     .match = SIGUSR1, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_IGN |
				       UT_SIGNAL_HOLD));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_EQ(2, ut_matches(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1));
	EXPECT_TRUE(ut_stays(t->sh->value[1] == 1));
}

/* The sample crash_suspend does the same. */
TEST_F(signals, crash_stands_still)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_CORE,
			     .match = SIGSEGV, .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_STOP |
				       UT_SIGNAL_HOLD));
	ASSERT_EQ(0, kill(t->pid, SIGSEGV));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(self->status));
	EXPECT_EQ('T', ut_state(t->pid));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(self->status));
	i = ut_matches(0, self->id, UT_EV_SIGNAL_CORE, t->pid, SIGSEGV);
	EXPECT_EQ(2, i);
}

static int threads_target(struct ut_target *t)
{
	t->arg = 3;
	return ut_threaded(t);
}

/* An engine gets a fatal signal that is sent to the process. */
TEST_F(signals, fatal_signal_waits_for_any_threads_engine)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, threads_target));
	ASSERT_TRUE(ut_hear(t));
	id = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(SIGNAL_TERM));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL_TERM,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_LE(0, ut_wait(0, id, UT_EV_SIGNAL_TERM, UT_ANY, SIGTERM));
	for (i = 0; i < 3; i++)
		EXPECT_TRUE(ut_thread_runs(t, i));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->sh->tid[2], SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_SIGNAL_TERM, t->sh->tid[2],
			     SIGTERM));
}

static int fault_target(struct ut_target *t)
{
	ut_await(t);
	/*
	 * The address is not a constant, so the compiler does not see the
	 * fault.
	 */
	*(int *)(t->sh->value[0] + 8) = 1;
	return 0;
}

TEST_F(signals, fault)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(ut_spawn(t, fault_target));
	id = ut_attach(t->pid, 0, UT_BIT(SIGNAL_CORE));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(self->status));
	i = ut_seen(0, id, UT_EV_SIGNAL_CORE, t->pid, SIGSEGV);
	ASSERT_LE(0, i);
	EXPECT_EQ(SEGV_MAPERR, ut_rec[i].val[0]);
}

TEST_F(signals, each_engine_sees_the_answer_before)
{
	struct ut_target *t = &self->t;
	int second, i;

	second = ut_attach(t->pid, 0, UT_SIGNAL_ALL);
	ASSERT_LT(0, second);
	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_TERM,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	/* The module names the event by the action that the engine is shown. */
	i = ut_wait(0, second, UT_EV_SIGNAL_IGN, t->pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_IGN, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_TRUE(ut_runs(t));
	/* The answer of the last engine is final. */
	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_TERM,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, ut_rule(.id = second, .event = UT_EV_SIGNAL_IGN,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_TERM));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

/* The signal is delivered, and the task makes no report because of @answer. */
static void no_report_follows(struct __test_metadata *_metadata,
			      struct ut_target *t, int id, __u32 answer)
{
	int i;

	ASSERT_EQ(0, ut_events(id, 0, UT_SIGNAL_ALL | UT_BIT(QUIESCE)));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL, .match = SIGUSR1,
			     .answer = answer | UT_PASS));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_until(t->sh->value[1] == 1));
	i = ut_seen(0, id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_TRUE(ut_stays(!ut_matches(i + 1, id, UT_ANY, UT_ANY, UT_ANY)));
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(signals, answer_report)
{
	no_report_follows(_metadata, &self->t, self->id, UT_REPORT);
}

TEST_F(signals, answer_interrupt)
{
	no_report_follows(_metadata, &self->t, self->id, UT_INTERRUPT);
}

TEST_F(signals, report_injects)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_REPORT,
			     .count = 1,
			     .answer = UT_RESUME | UT_SIGNAL_TERM,
			     .change = UT_CHANGE_SIGNO, .signo = SIGTERM));
	ASSERT_EQ(0, ut_events(self->id, 0, UT_SIGNAL_ALL | UT_BIT(QUIESCE)));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_INTERRUPT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

TEST_F(signals, signals_of_job_control)
{
	struct ut_target *t = &self->t;
	int i, jctl;

	ASSERT_EQ(0, ut_events(self->id, 0, UT_SIGNAL_ALL | UT_BIT(JCTL)));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(self->status));
	EXPECT_EQ(SIGSTOP, WSTOPSIG(self->status));
	i = ut_seen(0, self->id, UT_EV_SIGNAL_STOP, t->pid, SIGSTOP);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_STOP, ut_rec[i].action & UT_SIGNAL_MASK);
	jctl = ut_find(i, self->id, UT_EV_JCTL, t->pid, CLD_STOPPED);
	ASSERT_LE(0, jctl);
	EXPECT_EQ(CLD_STOPPED, ut_rec[jctl].val[0]);
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WCONTINUED));
	EXPECT_TRUE(WIFCONTINUED(self->status));
	jctl = ut_wait(jctl, self->id, UT_EV_JCTL, t->pid, CLD_CONTINUED);
	ASSERT_LE(0, jctl);
	EXPECT_EQ(CLD_CONTINUED, ut_rec[jctl].val[0]);
	EXPECT_TRUE(ut_runs(t));
	/* SIGTSTP takes another path than SIGSTOP. */
	ASSERT_EQ(0, kill(t->pid, SIGTSTP));
	i = ut_wait(0, self->id, UT_EV_SIGNAL_STOP, t->pid, SIGTSTP);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_TSTP, ut_rec[i].action & UT_SIGNAL_MASK);
}

/* An engine that changes nothing does not change what wait() reports. */
TEST_F(signals, stop_keeps_its_number)
{
	static const int sigs[] = { SIGTSTP, SIGTTIN, SIGTTOU };
	struct ut_target *t = &self->t;
	unsigned int i;

	for (i = 0; i < sizeof(sigs) / sizeof(*sigs); i++) {
		ASSERT_EQ(0, kill(t->pid, sigs[i]));
		ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
		ASSERT_TRUE(WIFSTOPPED(self->status));
		EXPECT_EQ(sigs[i], WSTOPSIG(self->status));
		ASSERT_EQ(0, kill(t->pid, SIGCONT));
		ASSERT_TRUE(ut_runs(t));
	}
}

/* SIGSTOP has no effect on the machine's init, with or without an engine. */
TEST_F(signals, init_is_not_stopped)
{
	int id = ut_attach(1, 0, UT_SIGNAL_ALL);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, kill(1, SIGSTOP));
	ut_sleep_ms(100);
	EXPECT_NE('T', ut_state(1));
	kill(1, SIGCONT);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* utrace selftests - /proc/PID/utrace and /proc/PID/task/TID/utrace */
#include <pthread.h>
#include <sys/ptrace.h>

#include "fixture.h"

enum { NAME, OWNER, SCOPE, CLASS, EVENTS, HOLD, CALLS, TIME, AWAITS, COLUMNS };

struct table {
	int lines;			/* number of lines below the header */
	char text[16][512];
	char *col[16][COLUMNS + 1];
	int columns[16];
	char header[512];
};

static int parse(struct table *tab, pid_t pid, pid_t tid)
{
	char buf[8192], *line, *next;
	int ret, i;

	memset(tab, 0, sizeof(*tab));
	if (tid)
		ret = ut_read_file(buf, sizeof(buf), "/proc/%d/task/%d/utrace",
				   pid, tid);
	else
		ret = ut_read_file(buf, sizeof(buf), "/proc/%d/utrace", pid);
	if (ret < 0)
		return ret;
	next = buf;
	line = strsep(&next, "\n");
	snprintf(tab->header, sizeof(tab->header), "%s", line);
	while ((line = strsep(&next, "\n")) && *line && tab->lines < 16) {
		char *p, *save = NULL;

		snprintf(tab->text[tab->lines], sizeof(tab->text[0]), "%s",
			 line);
		i = 0;
		for (p = strtok_r(tab->text[tab->lines], " \t", &save); p;
		     p = strtok_r(NULL, " \t", &save)) {
			if (i <= COLUMNS)
				tab->col[tab->lines][i] = p;
			i++;
		}
		tab->columns[tab->lines++] = i;
	}
	return 0;
}

TEST_F(utrace, no_engine)
{
	struct ut_target *t = &self->t;
	struct table tab;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	EXPECT_EQ(0, tab.lines);
}

TEST_F(utrace, one_line_an_engine)
{
	struct ut_target *t = &self->t;
	struct table tab;
	int i;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_LT(0, ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(EXIT)));
	ASSERT_LT(0, ut_attach(t->pid, UT_ATTACH_PROCESS, UT_SYSCALL));
	ASSERT_LT(0, ut_attach(t->pid, UT_ATTACH_TREE | UT_ATTACH_ENFORCER,
			       0));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	ASSERT_EQ(3, tab.lines);
	EXPECT_NE(NULL, strstr(tab.header, "NAME"));
	EXPECT_NE(NULL, strstr(tab.header, "TIME_US"));
	EXPECT_NE(NULL, strstr(tab.header, "AWAITS"));
	for (i = 0; i < 3; i++) {
		ASSERT_EQ(COLUMNS, tab.columns[i]);
		EXPECT_STREQ("test_engine", tab.col[i][NAME]);
		EXPECT_STREQ("utrace_test", tab.col[i][OWNER]);
		EXPECT_STREQ("-", tab.col[i][HOLD]);
	}
	/* Lines are in the order of the calls. */
	EXPECT_STREQ("thread", tab.col[0][SCOPE]);
	EXPECT_STREQ("observer", tab.col[0][CLASS]);
	EXPECT_STREQ("process", tab.col[1][SCOPE]);
	EXPECT_STREQ("mutator", tab.col[1][CLASS]);
	EXPECT_STREQ("tree", tab.col[2][SCOPE]);
	EXPECT_STREQ("enforcer", tab.col[2][CLASS]);
	/* The column shows only the events that the engine wants. */
	EXPECT_STREQ("exit", tab.col[0][EVENTS]);
	EXPECT_STREQ("syscall_entry,syscall_exit", tab.col[1][EVENTS]);
	EXPECT_STREQ("-", tab.col[2][EVENTS]);
}

/* Spawn a target with one engine of table @ops, and read the engine's line. */
static bool only_engine(struct table *tab, struct ut_target *t, int ops)
{
	return ut_spawn(t, ut_spin) &&
	       ut_attach_full(t->pid, 0, ops, 0) > 0 &&
	       !parse(tab, t->pid, 0) && tab->lines == 1;
}

TEST_F(utrace, engine_without_a_name)
{
	struct table tab;

	ASSERT_TRUE(only_engine(&tab, &self->t, UT_OPS_BARE));
	/*
	 * A table without owner and name is shown by the module that contains
	 * it.
	 */
	EXPECT_STREQ("utrace_test", tab.col[0][OWNER]);
	EXPECT_STREQ("utrace_test", tab.col[0][NAME]);
}

/* A line has the same number of fields, whatever the engine's name is. */
TEST_F(utrace, name_is_one_field)
{
	struct table tab;

	ASSERT_TRUE(only_engine(&tab, &self->t, UT_OPS_ODD));
	EXPECT_EQ(COLUMNS, tab.columns[0]);
	EXPECT_STREQ("an\\040odd\\012name\\134", tab.col[0][NAME]);
}

/* Check whether the unread part of the kernel log contains @text. */
static bool logged(int kmsg, const char *text)
{
	char buf[1024];
	ssize_t n;

	while ((n = read(kmsg, buf, sizeof(buf) - 1)) > 0 || errno == EPIPE) {
		buf[n < 0 ? 0 : n] = '\0';
		if (strstr(buf, text))
			return true;
	}
	return false;
}

/* CONFIG_UTRACE_DEBUG logs the engine whose callback takes long. */
TEST_F(utrace, slow_callback_is_logged)
{
	struct ut_target *t = &self->t;
	int id, kmsg;

	if (system("zgrep -q ^CONFIG_UTRACE_DEBUG=y /proc/config.gz"))
		SKIP(return, "the kernel has no CONFIG_UTRACE_DEBUG");
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ASSERT_LE(0, kmsg);
	ASSERT_LE(0, lseek(kmsg, 0, SEEK_END));
	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_QUIESCE, .count = 1,
			     .answer = UT_RESUME, .delay_ms = 1500));
	ASSERT_EQ(0, ut_control(id, 0, UT_REPORT));
	EXPECT_TRUE(ut_until(logged(kmsg, "callback of engine test_engine")));
	close(kmsg);
}

TEST_F(utrace, hold)
{
	struct ut_target *t = &self->t;
	struct table tab;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_stop(id, 0));
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	ASSERT_EQ(1, tab.lines);
	EXPECT_TRUE(isdigit(tab.col[0][HOLD][0]));
	/* The column shows how long the hold has lasted. */
	EXPECT_TRUE(ut_until(!parse(&tab, t->pid, 0) && tab.lines == 1 &&
			     atof(tab.col[0][HOLD]) >= 1));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(!parse(&tab, t->pid, 0) && tab.lines == 1 &&
			     !strcmp(tab.col[0][HOLD], "-")));
}

TEST_F(utrace, thread_by_thread)
{
	struct ut_target *t = &self->t;
	struct table tab;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	ASSERT_LT(0, ut_attach(t->sh->tid[1], 0, UT_BIT(EXIT)));
	ASSERT_LT(0, ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(EXIT)));
	ASSERT_EQ(0, parse(&tab, t->pid, t->sh->tid[1]));
	EXPECT_EQ(2, tab.lines);
	ASSERT_EQ(0, parse(&tab, t->pid, t->sh->tid[2]));
	ASSERT_EQ(1, tab.lines);
	EXPECT_STREQ("process", tab.col[0][SCOPE]);
}

TEST_F(utrace, detached_is_gone)
{
	struct ut_target *t = &self->t;
	struct table tab;
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	id = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(EXIT));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_detach(id));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	EXPECT_EQ(0, tab.lines);
}

/* Field @column of the line of ptrace, which is the first one. */
static const char *of_tracer(struct table *tab, pid_t pid, int column)
{
	if (parse(tab, pid, 0) || !tab->lines || tab->columns[0] != COLUMNS ||
	    strcmp(tab->col[0][NAME], "ptrace"))
		return "no line of ptrace";
	return tab->col[0][column];
}

TEST_F(utrace, tracer)
{
	struct ut_target *t = &self->t;
	struct table tab;
	char who[32];

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_EQ(0, ptrace(PTRACE_SEIZE, t->pid, 0, 0));
	ASSERT_LT(0, ut_attach(t->pid, 0, UT_BIT(EXIT)));
	snprintf(who, sizeof(who), "pid:%d", getpid());
	EXPECT_STREQ(who, of_tracer(&tab, t->pid, OWNER));
	EXPECT_EQ(2, tab.lines);
	EXPECT_STREQ("thread", tab.col[0][SCOPE]);
	EXPECT_STREQ("seized", tab.col[0][CLASS]);
	EXPECT_STREQ("-", tab.col[0][EVENTS]);
	EXPECT_STREQ("-", tab.col[0][HOLD]);
	ASSERT_EQ(0, ptrace(PTRACE_INTERRUPT, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("0x8005", of_tracer(&tab, t->pid, HOLD));
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, t->pid, 0,
			    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEVFORK |
			    PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL));
	EXPECT_STREQ("sysgood,vfork,seccomp,exitkill",
		     of_tracer(&tab, t->pid, EVENTS));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	EXPECT_STREQ("-", of_tracer(&tab, t->pid, HOLD));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("0x13", of_tracer(&tab, t->pid, HOLD));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, SIGSTOP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("0x8013", of_tracer(&tab, t->pid, HOLD));
	/* The task listens: the stop is one of job control, not of ptrace. */
	ASSERT_EQ(0, ptrace(PTRACE_LISTEN, t->pid, 0, 0));
	EXPECT_STREQ("-", of_tracer(&tab, t->pid, HOLD));
}

TEST_F(utrace, tracer_that_attaches)
{
	struct ut_target *t = &self->t;
	struct table tab;
	siginfo_t info;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	ASSERT_EQ(0, ptrace(PTRACE_ATTACH, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("attached", of_tracer(&tab, t->pid, CLASS));
	EXPECT_STREQ("0x13", tab.col[0][HOLD]);
	ASSERT_EQ(0, ptrace(PTRACE_SETOPTIONS, t->pid, 0,
			    PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("0x85", of_tracer(&tab, t->pid, HOLD));
	/* A group stop, which has no siginfo. */
	ASSERT_EQ(0, kill(t->pid, SIGTSTP));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_STREQ("0x14", of_tracer(&tab, t->pid, HOLD));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, SIGTSTP));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, __WALL));
	EXPECT_EQ(-1, ptrace(PTRACE_GETSIGINFO, t->pid, 0, &info));
	EXPECT_STREQ("0x14", of_tracer(&tab, t->pid, HOLD));
}

struct thread_tracer {
	pid_t target;
	struct table tab;
	const char *owner;
};

/* Trace the target, and read OWNER before the end of the thread detaches it. */
static void *seize_in_thread(void *arg)
{
	struct thread_tracer *tracer = arg;

	if (!ptrace(PTRACE_SEIZE, tracer->target, 0, 0))
		tracer->owner = of_tracer(&tracer->tab, tracer->target, OWNER);
	return NULL;
}

/* OWNER is the process of the tracer, not its thread. */
TEST_F(utrace, tracer_that_is_no_leader)
{
	struct ut_target *t = &self->t;
	struct thread_tracer tracer = { .owner = "no tracer" };
	pthread_t thread;
	char who[32];

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	tracer.target = t->pid;
	ASSERT_EQ(0, pthread_create(&thread, NULL, seize_in_thread, &tracer));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	snprintf(who, sizeof(who), "pid:%d", getpid());
	EXPECT_STREQ(who, tracer.owner);
}

#define STATS	"/proc/sys/kernel/utrace/stats"

TEST_F(utrace, statistics)
{
	struct ut_target *t = &self->t;
	char old[16] = "";
	struct table tab;

	ASSERT_LT(0, ut_read_file(old, sizeof(old), STATS));
	ASSERT_EQ(0, ut_write_file(STATS, "0"));
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	ASSERT_LT(0, ut_attach(t->pid, 0, UT_SYSCALL));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	ASSERT_EQ(COLUMNS, tab.columns[0]);
	EXPECT_STREQ("-", tab.col[0][CALLS]);
	EXPECT_STREQ("-", tab.col[0][TIME]);
	EXPECT_EQ(0, ut_write_file(STATS, "1"));
	EXPECT_TRUE(ut_until(!parse(&tab, t->pid, 0) &&
			     atol(tab.col[0][CALLS]) > 10));
	EXPECT_TRUE(isdigit(tab.col[0][TIME][0]));
	EXPECT_EQ(0, ut_write_file(STATS, old));
}

/* A user who may not trace the target may not read its file. */
static int stranger(struct ut_target *t)
{
	char buf[256];

	if (setgid(65534) || setuid(65534))
		return 99;
	return -ut_read_file(buf, sizeof(buf), "/proc/%ld/utrace", t->arg);
}

static int itself(struct ut_target *t)
{
	char buf[256];

	if (setgid(65534) || setuid(65534))
		return 99;
	prctl(PR_SET_DUMPABLE, 1);
	return ut_read_file(buf, sizeof(buf), "/proc/self/utrace") < 0;
}

TEST_F(utrace, permission)
{
	struct ut_target *t = &self->t, other = {};

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_LT(0, ut_attach(t->pid, 0, UT_BIT(EXIT)));
	other.arg = t->pid;
	ASSERT_TRUE(ut_spawn(&other, stranger));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	ASSERT_TRUE(WIFEXITED(self->status));
	EXPECT_TRUE(WEXITSTATUS(self->status) == EACCES ||
		    WEXITSTATUS(self->status) == EPERM);
	ASSERT_TRUE(ut_spawn(&other, itself));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	EXPECT_EQ(0, self->status);
}

TEST_F(utrace, of_a_zombie)
{
	struct ut_target *t = &self->t;
	struct table tab;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	ASSERT_LT(0, ut_attach(t->pid, 0, UT_BIT(REAP)));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_until(ut_state(t->pid) == 'Z'));
	ASSERT_EQ(0, parse(&tab, t->pid, 0));
	EXPECT_EQ(1, tab.lines);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/* utrace selftests - syscall filters, and numbers that are in no table */
#include "fixture.h"

#define X32_BIT		0x40000000
#define HUGE_NR		0x7ffffff0
#define ABOVE_TABLE	4000

/* value[i] is the result of call i, value[15] the number of calls made. */
static int caller(struct ut_target *t)
{
	ut_await(t);
	t->sh->value[0] = ut_mark(0);
	t->sh->value[1] = syscall(SYS_getuid);
	t->sh->value[2] = syscall(SYS_gettid);
	t->sh->value[15] = 1;
	ut_await(t);
	t->sh->value[3] = syscall(-1L);
	t->sh->value[4] = syscall(ABOVE_TABLE);
	t->sh->value[5] = syscall(HUGE_NR);
	t->sh->value[6] = syscall(-2L);
	t->sh->value[7] = syscall(UT_MARK_NR | X32_BIT);
	t->sh->value[15] = 2;
	ut_await(t);
	return 0;
}

static int start(struct ut_target *t, const int *nrs, int n)
{
	int id, ret;

	if (!ut_spawn(t, caller) ||
	    !ut_until(ut_asleep_in(t->pid, SYS_read)))
		return -EAGAIN;
	id = ut_attach(t->pid, 0, 0);
	if (id < 0)
		return id;
	ret = ut_filter(id, nrs, n) ?: ut_events(id, 0, UT_SYSCALL);
	return ret ?: id;
}

static bool step(struct ut_target *t, int n)
{
	return ut_go(t) && ut_until(t->sh->value[15] == n) &&
	       ut_until(ut_asleep_in(t->pid, SYS_read));
}

TEST_F(utrace, only_these)
{
	static const int nrs[] = { UT_MARK_NR, SYS_gettid };
	struct ut_target *t = &self->t;
	int id = start(t, nrs, 2);

	ASSERT_LT(0, id);
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				SYS_gettid));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				SYS_gettid));
	EXPECT_EQ(4, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
	EXPECT_EQ(t->pid, t->sh->value[2]);
}

/* A filter has no effect on other events. */
TEST_F(utrace, leaves_other_events_alone)
{
	static const int nrs[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int id = start(t, nrs, 1);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_events(id, 0, UT_SYSCALL | UT_BIT(EXIT)));
	ASSERT_TRUE(step(t, 1));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_LE(0, ut_seen(0, id, UT_EV_EXIT, t->pid, UT_ANY));
	EXPECT_EQ(3, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
}

TEST_F(utrace, each_engine_has_its_own)
{
	static const int marks[] = { UT_MARK_NR }, uids[] = { SYS_getuid };
	struct ut_target *t = &self->t;
	int a = start(t, marks, 1), b, c;

	ASSERT_LT(0, a);
	b = ut_attach(t->pid, UT_ATTACH_PROCESS, 0);
	c = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, b);
	ASSERT_LT(0, c);
	ASSERT_EQ(0, ut_filter(b, uids, 1));
	ASSERT_EQ(0, ut_events(b, 0, UT_SYSCALL));
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(2, ut_matches(0, a, UT_ANY, UT_ANY, UT_ANY));
	EXPECT_EQ(2, ut_matches(0, a, UT_ANY, UT_ANY, UT_MARK_NR));
	EXPECT_EQ(2, ut_matches(0, b, UT_ANY, UT_ANY, UT_ANY));
	EXPECT_EQ(2, ut_matches(0, b, UT_ANY, UT_ANY, SYS_getuid));
	EXPECT_LE(0, ut_find(0, c, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR));
	EXPECT_LE(0, ut_find(0, c, UT_EV_SYSCALL_ENTRY, t->pid, SYS_getuid));
	EXPECT_LE(0, ut_find(0, c, UT_EV_SYSCALL_ENTRY, t->pid, SYS_gettid));
}

TEST_F(utrace, can_be_changed_and_taken_off)
{
	static const int uids[] = { SYS_getuid }, marks[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int id = start(t, uids, 1);

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_filter(id, marks, 1));
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(2, ut_matches(0, id, UT_ANY, UT_ANY, UT_MARK_NR));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, UT_ANY, SYS_getuid));
	ASSERT_EQ(0, ut_filter(id, NULL, 0));
	ASSERT_TRUE(ut_go(t));
	EXPECT_LE(0, ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_read));
}

/*
 * The verdict of the entry holds for the exit, even if the number is changed.
 */
TEST_F(utrace, exit_follows_the_entry)
{
	static const int marks[] = { UT_MARK_NR }, uids[] = { SYS_getuid };
	struct ut_target *t = &self->t;
	int rewrites, marked, uided;

	/* At the entry the newest engine is called first. */
	uided = start(t, uids, 1);
	ASSERT_LT(0, uided);
	rewrites = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	marked = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, rewrites);
	ASSERT_LT(0, marked);
	ASSERT_EQ(0, ut_filter(marked, marks, 1));
	ASSERT_EQ(0, ut_events(marked, 0, UT_SYSCALL));
	ASSERT_EQ(0, ut_rule(.id = rewrites, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_RESUME,
			     .change = UT_CHANGE_NR, .nr = SYS_getpgrp));
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(1, ut_matches(0, marked, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_ANY));
	EXPECT_EQ(1, ut_matches(0, marked, UT_EV_SYSCALL_EXIT, t->pid,
				UT_ANY));
	EXPECT_EQ(1, ut_matches(0, marked, UT_EV_SYSCALL_EXIT, t->pid,
				SYS_getpgrp));
	EXPECT_EQ(2, ut_matches(0, uided, UT_ANY, t->pid, UT_ANY));
}

/*
 * An engine that its filter leaves out at the entry gets no exit, though its
 * filter passes the number that another engine has stored.
 */
TEST_F(utrace, no_exit_without_the_entry)
{
	static const int pgrps[] = { SYS_getpgrp };
	struct ut_target *t = &self->t;
	int rewrites, asked_before, asked_after, i;

	/* At the entry the newest engine is called first. */
	asked_after = start(t, pgrps, 1);
	ASSERT_LT(0, asked_after);
	rewrites = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	asked_before = ut_attach(t->pid, 0, 0);
	ASSERT_LT(0, rewrites);
	ASSERT_LT(0, asked_before);
	ASSERT_EQ(0, ut_filter(asked_before, pgrps, 1));
	ASSERT_EQ(0, ut_events(asked_before, 0, UT_SYSCALL));
	ASSERT_EQ(0, ut_rule(.id = rewrites, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_RESUME,
			     .change = UT_CHANGE_NR, .nr = SYS_getpgrp));
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(getpgrp(), t->sh->value[0]);
	EXPECT_EQ(0, ut_matches(0, asked_before, UT_ANY, t->pid, UT_ANY));
	/* The engine that is called after the change sees both ends. */
	EXPECT_EQ(2, ut_matches(0, asked_after, UT_ANY, t->pid, UT_ANY));
	EXPECT_LE(0, ut_find(0, asked_after, UT_EV_SYSCALL_ENTRY, t->pid,
			     SYS_getpgrp));
	i = ut_find(0, asked_after, UT_EV_SYSCALL_EXIT, t->pid, SYS_getpgrp);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_SYSCALL_UNPAIRED);
}

TEST_F(utrace, numbers_outside_the_table)
{
	static const int nrs[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int id = start(t, nrs, 1), all, i;

	ASSERT_LT(0, id);
	ASSERT_TRUE(step(t, 1));
	all = ut_attach(t->pid, 0, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, all);
	ut_pull(0);
	i = ut_nrec;
	ASSERT_TRUE(step(t, 2));
	EXPECT_EQ(-1, t->sh->value[3]);
	EXPECT_EQ(-1, t->sh->value[4]);
	EXPECT_EQ(-1, t->sh->value[5]);
	EXPECT_EQ(-1, t->sh->value[6]);
	/*
	 * Without a filter the engine sees all calls; the filter passes those
	 * of x32.
	 */
	EXPECT_LE(0, ut_seen(i, all, UT_EV_SYSCALL_ENTRY, t->pid, -1));
	EXPECT_LE(0, ut_find(i, all, UT_EV_SYSCALL_ENTRY, t->pid,
			     ABOVE_TABLE));
	EXPECT_LE(0, ut_find(i, all, UT_EV_SYSCALL_ENTRY, t->pid, HUGE_NR));
	EXPECT_LE(0, ut_find(i, all, UT_EV_SYSCALL_ENTRY, t->pid, -2));
	EXPECT_EQ(0, ut_matches(i, id, UT_ANY, t->pid, -1));
	EXPECT_EQ(0, ut_matches(i, id, UT_ANY, t->pid, ABOVE_TABLE));
	EXPECT_EQ(0, ut_matches(i, id, UT_ANY, t->pid, HUGE_NR));
	EXPECT_EQ(0, ut_matches(i, id, UT_ANY, t->pid, -2));
#ifdef __x86_64__
	EXPECT_EQ(1, ut_matches(i, id, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_MARK_NR | X32_BIT));
	EXPECT_EQ(1, ut_matches(i, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR | X32_BIT));
#endif
}

/* UTRACE_SYSCALL_NONE of <linux/utrace.h>. */
#define NO_CALL	0x1fffffff

TEST_F(utrace, none_is_all_outside)
{
	static const int nrs[] = { NO_CALL };
	struct ut_target *t = &self->t;
	int id = start(t, nrs, 1);

	ASSERT_LT(0, id);
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, UT_ANY, UT_ANY));
	ASSERT_TRUE(step(t, 2));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid, -1));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				ABOVE_TABLE));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid, HUGE_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid, HUGE_NR));
	EXPECT_EQ(1, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid, -2));
	EXPECT_EQ(0, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				UT_MARK_NR | X32_BIT));
}

#ifdef __x86_64__
/*
 * Number 64 is getppid() in the table of int 0x80, semget() in the 64-bit one.
 */
#define INT80_GETPPID	64
#define INT80_HUGE	0x7fffff00

static long int80(long nr)
{
	long ret = nr;

	asm volatile("int $0x80"
		     : "+a" (ret)
		     : "b" (21), "c" (22), "d" (23)
		     : "memory", "r8", "r9", "r10", "r11", "cc");
	return (int)ret;
}

static int int80_caller(struct ut_target *t)
{
	ut_await(t);
	t->sh->value[0] = int80(INT80_GETPPID);
	t->sh->value[1] = int80(-1);
	t->sh->value[2] = int80(INT80_HUGE);
	ut_await(t);
	return 0;
}

static bool have_int80(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(int80(INT80_GETPPID) != getppid());
	}
	return ut_waitpid(pid, &status, 0) == 1 && !status;
}

TEST_F(utrace, table_of_int80)
{
	static const int semget_nr[] = { INT80_GETPPID };
	static const int table_nr[] = { INT80_GETPPID | UT_SYSCALL_IA32 };
	static const int outside[] = { NO_CALL };
	struct ut_target *t = &self->t;
	int native, table, other, all, i;

	if (!have_int80())
		SKIP(return, "no int 0x80 (IA32_EMULATION off)");
	ASSERT_TRUE(ut_spawn(t, int80_caller));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	native = ut_attach(t->pid, 0, 0);
	table = ut_attach(t->pid, 0, 0);
	other = ut_attach(t->pid, 0, 0);
	all = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, native);
	ASSERT_LT(0, table);
	ASSERT_LT(0, other);
	ASSERT_LT(0, all);
	ASSERT_EQ(0, ut_filter(native, semget_nr, 1));
	ASSERT_EQ(0, ut_filter(table, table_nr, 1));
	ASSERT_EQ(0, ut_filter(other, outside, 1));
	ASSERT_EQ(0, ut_events(native, 0, UT_SYSCALL));
	ASSERT_EQ(0, ut_events(table, 0, UT_SYSCALL));
	ASSERT_EQ(0, ut_events(other, 0, UT_SYSCALL));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_until(t->sh->value[2]));
	EXPECT_EQ(getpid(), t->sh->value[0]);
	EXPECT_EQ(-ENOSYS, t->sh->value[1]);
	EXPECT_EQ(-ENOSYS, t->sh->value[2]);
	i = ut_wait(0, all, UT_EV_SYSCALL_ENTRY, t->pid, INT80_HUGE);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_matches(0, native, UT_ANY, UT_ANY, UT_ANY));
	i = ut_find(0, table, UT_EV_SYSCALL_ENTRY, t->pid, INT80_GETPPID);
	ASSERT_LE(0, i);
	/*
	 * The arguments are read from the registers of the 32-bit convention.
	 */
	EXPECT_EQ(21, ut_rec[i].val[0]);
	EXPECT_EQ(22, ut_rec[i].val[1]);
	EXPECT_EQ(23, ut_rec[i].val[2]);
	EXPECT_EQ(1, ut_matches(0, table, UT_EV_SYSCALL_EXIT, t->pid,
				INT80_GETPPID));
	EXPECT_EQ(2, ut_matches(0, table, UT_ANY, UT_ANY, UT_ANY));
	EXPECT_EQ(0, ut_matches(0, other, UT_ANY, t->pid, INT80_GETPPID));
	EXPECT_EQ(1, ut_matches(0, other, UT_EV_SYSCALL_ENTRY, t->pid,
				INT80_HUGE));
	EXPECT_EQ(1, ut_matches(0, other, UT_EV_SYSCALL_ENTRY, t->pid, -1));
}

TEST_F(utrace, abort_of_int80)
{
	struct ut_target *t = &self->t;
	int id;

	if (!have_int80())
		SKIP(return, "no int 0x80 (IA32_EMULATION off)");
	ASSERT_TRUE(ut_spawn(t, int80_caller));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = INT80_GETPPID,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT,
			     .change = UT_CHANGE_RESULT, .result = 5555));
	ASSERT_TRUE(ut_go(t));
	EXPECT_TRUE(ut_until(t->sh->value[2]));
	EXPECT_EQ(5555, t->sh->value[0]);
}
#endif /* __x86_64__ */

/* The ends of the table, a number twice, and values that are no number. */
TEST_F(utrace, odd_lists)
{
	static const int ends[] = { 0, 1, 334, 424, 450 };
	static const int above[] = { UT_MARK_NR, ABOVE_TABLE };
	static const int below[] = { UT_MARK_NR, -1 };
	static const int above_ia32[] = { ABOVE_TABLE | UT_SYSCALL_IA32 };
	static int many[600];
	struct ut_target *t = &self->t;
	int id = start(t, ends, 5), i;

	ASSERT_LT(0, id);
	EXPECT_EQ(-EINVAL, ut_filter(id, above, 2));
	EXPECT_EQ(-EINVAL, ut_filter(id, below, 2));
	EXPECT_EQ(-EINVAL, ut_filter(id, above_ia32, 1));
	for (i = 0; i < 600; i++)
		many[i] = UT_MARK_NR;
	EXPECT_EQ(0, ut_filter(id, many, 600));
	ASSERT_TRUE(step(t, 1));
	EXPECT_EQ(2, ut_matches(0, id, UT_ANY, t->pid, UT_MARK_NR));
	EXPECT_EQ(0, ut_matches(0, id, UT_ANY, t->pid, SYS_getuid));
	EXPECT_EQ(0, ut_control(id, 0, UT_DETACH));
	EXPECT_EQ(-ESRCH, ut_filter(id, many, 1));
}

TEST_HARNESS_MAIN

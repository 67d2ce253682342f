// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the order of the calls
 *
 * The order depends on the classes and the ages of engines.  ptrace is called
 * around all engines, seccomp after them.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "fixture.h"

static int fork_target(struct ut_target *t)
{
	ut_await(t);
	ut_mark(0);
	return ut_fork_wait(0);
}

/* By engine in @ids, the index of its record of @event and @nr. */
static void positions(const int *ids, int n, int event, int nr, int *pos)
{
	int i;

	ut_pull(0);
	for (i = 0; i < n; i++)
		pos[i] = ut_find(0, ids[i], event, UT_ANY, nr);
}

TEST_F(utrace, classes)
{
	static const __u32 class[8] = {
		UT_ATTACH_MUTATOR, UT_ATTACH_LAST_RESORT, UT_ATTACH_ENFORCER,
		UT_ATTACH_OBSERVER, UT_ATTACH_ENFORCER, UT_ATTACH_MUTATOR,
		UT_ATTACH_LAST_RESORT, UT_ATTACH_OBSERVER,
	};
	enum { M1, L1, E1, O1, E2, M2, L2, O2 };
	struct ut_target *t = &self->t;
	int id[8], p[8], i;

	ASSERT_TRUE(ut_spawn(t, fork_target));
	for (i = 0; i < 8; i++) {
		/*
		 * Engines of all scopes are mixed, since scope has no
		 * influence.
		 */
		__u32 scope = i % 3 == 0 ? 0 : i % 3 == 1 ?
			UT_ATTACH_PROCESS : UT_ATTACH_TREE;

		id[i] = ut_attach(t->pid, class[i] | scope,
				  UT_SYSCALL | UT_BIT(CLONE));
		ASSERT_LT(0, id[i]);
	}
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));

	/* Entry: classes in order, in each the newest engine first. */
	positions(id, 8, UT_EV_SYSCALL_ENTRY, UT_MARK_NR, p);
	ASSERT_LE(0, p[O2]);
	EXPECT_LT(p[O2], p[O1]);
	EXPECT_LT(p[O1], p[M2]);
	EXPECT_LT(p[M2], p[M1]);
	EXPECT_LT(p[M1], p[E2]);
	EXPECT_LT(p[E2], p[E1]);
	EXPECT_LT(p[E1], p[L1]);
	EXPECT_LT(p[E1], p[L2]);

	/* Exit: the reverse order, but last resort is still last. */
	positions(id, 8, UT_EV_SYSCALL_EXIT, UT_MARK_NR, p);
	ASSERT_LE(0, p[E1]);
	EXPECT_LT(p[E1], p[E2]);
	EXPECT_LT(p[E2], p[M1]);
	EXPECT_LT(p[M1], p[M2]);
	EXPECT_LT(p[M2], p[O1]);
	EXPECT_LT(p[O1], p[O2]);
	EXPECT_LT(p[O2], p[L1]);
	EXPECT_LT(p[O2], p[L2]);

	/*
	 * All other events: classes in order, in each the oldest engine first.
	 */
	positions(id, 8, UT_EV_CLONE, UT_ANY, p);
	ASSERT_LE(0, p[O1]);
	EXPECT_LT(p[O1], p[O2]);
	EXPECT_LT(p[O2], p[M1]);
	EXPECT_LT(p[M1], p[M2]);
	EXPECT_LT(p[M2], p[E1]);
	EXPECT_LT(p[E1], p[E2]);
	EXPECT_LT(p[E2], p[L1]);
	EXPECT_LT(p[L1], p[L2]);
}

/* Last resort sees what the other engines have made of a fatal signal. */
TEST_F(utrace, last_resort_of_a_fatal_signal)
{
	struct ut_target *t = &self->t;
	int last, enforcer, mutator, observer, i, j;

	ASSERT_TRUE(ut_spawn(t, ut_spin));
	last = ut_attach(t->pid, UT_ATTACH_LAST_RESORT, UT_SIGNAL_ALL);
	enforcer = ut_attach(t->pid, UT_ATTACH_ENFORCER, UT_SIGNAL_ALL);
	mutator = ut_attach(t->pid, 0, UT_SIGNAL_ALL);
	observer = ut_attach(t->pid, UT_ATTACH_OBSERVER,
			     UT_SIGNAL_ALL & ~UT_BIT(SIGNAL_IGN));
	ASSERT_LT(0, last);
	ASSERT_LT(0, enforcer);
	ASSERT_LT(0, mutator);
	ASSERT_LT(0, observer);

	/*
	 * The enforcer ignores the signal, so last resort sees an ignored one.
	 */
	ASSERT_EQ(0, ut_rule(.id = enforcer, .event = UT_EV_SIGNAL_TERM,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	i = ut_wait(0, last, UT_ANY, t->pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_EV_SIGNAL_IGN, ut_rec[i].event);
	j = ut_find(0, enforcer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM);
	EXPECT_LE(0, j);
	EXPECT_GT(i, j);
	EXPECT_TRUE(ut_runs(t));

	/* No other engine changes the signal: last resort sees a fatal one. */
	ASSERT_EQ(0, ut_rule(.id = last, .event = UT_EV_SIGNAL_TERM,
			     .count = 1, .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	j = ut_wait(i + 1, last, UT_ANY, t->pid, SIGTERM);
	ASSERT_LE(0, j);
	EXPECT_EQ(UT_EV_SIGNAL_TERM, ut_rec[j].event);
	EXPECT_LT(i, ut_find(i, observer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM));
	EXPECT_LT(ut_find(i, observer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM),
		  ut_find(i, mutator, UT_EV_SIGNAL_TERM, t->pid, SIGTERM));
	EXPECT_LT(ut_find(i, mutator, UT_EV_SIGNAL_TERM, t->pid, SIGTERM),
		  ut_find(i, enforcer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM));
	EXPECT_LT(ut_find(i, enforcer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM), j);
	EXPECT_TRUE(ut_runs(t));

	/* The rule is used up, and the next signal is fatal. */
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

/* Two mutators change the number: the older one is called last and wins. */
TEST_F(utrace, last_word_of_mutators)
{
	struct ut_target *t = &self->t;
	int old, new, i;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	old = ut_attach(t->pid, 0, UT_SYSCALL);
	new = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, old);
	ASSERT_LT(0, new);
	ASSERT_EQ(0, ut_rule(.id = new, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_NR,
			     .nr = SYS_getuid));
	ASSERT_EQ(0, ut_rule(.id = old, .event = UT_EV_SYSCALL_ENTRY,
			     .match = SYS_getuid, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_NR,
			     .nr = SYS_gettid));
	/*
	 * At the exit the newer mutator is called last, so its result is final.
	 */
	ASSERT_EQ(0, ut_rule(.id = old, .event = UT_EV_SYSCALL_EXIT,
			     .match = SYS_gettid, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_RESULT,
			     .result = 11));
	ASSERT_EQ(0, ut_rule(.id = new, .event = UT_EV_SYSCALL_EXIT,
			     .match = SYS_gettid, .answer = UT_RESUME,
			     .count = 1, .change = UT_CHANGE_RESULT,
			     .result = 22));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(22, t->sh->value[0]);
	i = ut_seen(0, new, UT_EV_SYSCALL_EXIT, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_EQ(11, ut_rec[i].val[0]);
}

/*
 * An enforcer undoes what a mutator did; a mutator cannot undo what an enforcer
 * did.
 */
TEST_F(utrace, enforcer_has_the_last_word)
{
	struct ut_target *t = &self->t;
	int enforcer, mutator, i;

	ASSERT_TRUE(ut_spawn_marks(t, 2));
	enforcer = ut_attach(t->pid, UT_ATTACH_ENFORCER, UT_SYSCALL);
	mutator = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, enforcer);
	ASSERT_LT(0, mutator);
	ASSERT_EQ(0, ut_rule(.id = mutator, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT));
	ASSERT_EQ(0, ut_rule(.id = enforcer, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_RUN));
	ASSERT_EQ(0, ut_rule(.id = mutator, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_RUN));
	ASSERT_EQ(0, ut_rule(.id = enforcer, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, enforcer, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_ABORT, ut_rec[i].action & UT_SYSCALL_MASK);
	EXPECT_EQ(getpid(), t->sh->value[0]);
	EXPECT_EQ(ENOSYS, t->sh->value[3]);
}

/* An engine is shown the smallest resume action of the engines before it. */
TEST_F(utrace, resume_action_of_those_before)
{
	struct ut_target *t = &self->t;
	int first, second, i;

	ASSERT_TRUE(ut_spawn_marks(t, 1));
	second = ut_attach(t->pid, 0, UT_SYSCALL);
	first = ut_attach(t->pid, 0, UT_SYSCALL | UT_BIT(QUIESCE));
	ASSERT_LT(0, first);
	ASSERT_LT(0, second);
	ASSERT_EQ(0, ut_rule(.id = first, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .answer = UT_REPORT));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, first, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_RESUME, ut_rec[i].action & UT_RESUME_MASK);
	i = ut_find(0, second, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_REPORT, ut_rec[i].action & UT_RESUME_MASK);
}

/* Function of a target: make 1000 marker calls. */
static int many_marks(struct ut_target *t)
{
	int i;

	ut_await(t);
	for (i = 0; i < 1000; i++)
		ut_mark(i);
	return 0;
}

TEST_F(utrace, every_entry_has_its_exit)
{
	struct ut_target *t = &self->t;
	int id, i, open = 0;

	ASSERT_TRUE(ut_spawn(t, many_marks));
	ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_read)));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	/* Some calls are aborted, some get another number. */
	ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY, .match = UT_MARK_NR,
		.count = 10, .answer = UT_RESUME | UT_SYSCALL_ABORT);
	ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY, .match = UT_MARK_NR,
		.count = 10, .answer = UT_RESUME, .change = UT_CHANGE_NR,
		.nr = SYS_getuid);
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ut_pull(0);
	ASSERT_EQ(0, ut_lost());
	for (i = 0; i < ut_nrec; i++) {
		if (ut_rec[i].event == UT_EV_SYSCALL_ENTRY) {
			EXPECT_EQ(0, open);
			open = 1;
		} else if (!(ut_rec[i].action & UT_SYSCALL_UNPAIRED)) {
			EXPECT_EQ(1, open);
			open = 0;
		}
	}
	/* exit_group() is the only entry without an exit. */
	EXPECT_EQ(1, open);
	EXPECT_EQ(SYS_exit_group, ut_rec[ut_nrec - 1].nr);
	EXPECT_EQ(1001, ut_matches(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
				   UT_ANY));
}

/*
 * A seccomp filter makes getppid() fail with errno 77, and kills at getuid().
 */
static int seccomp_target(struct ut_target *t)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UT_MARK_NR, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getuid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (__u32)-1, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = ARRAY_SIZE(code), .filter = code,
	};
	int i;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		t->sh->value[15] = errno;
	ut_say(t);
	ut_await(t);
	for (i = 0; i < t->arg; i++) {
		errno = 0;
		t->sh->value[2 * i] = ut_mark(0);
		t->sh->value[2 * i + 1] = errno;
	}
	errno = 0;
	t->sh->value[12] = syscall(SYS_getpgrp);
	t->sh->value[13] = errno;
	return 0;
}

TEST_F(utrace, seccomp_comes_after)
{
	struct ut_target *t = &self->t;
	int id;

	t->arg = 3;
	ASSERT_TRUE(ut_spawn(t, seccomp_target));
	ASSERT_TRUE(ut_hear(t));
	if (t->sh->value[15])
		SKIP(return, "no seccomp: %s", strerror(t->sh->value[15]));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	/*
	 * The first call is let pass to seccomp; the second is aborted, and
	 * seccomp does not see it.
	 */
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT,
			     .change = UT_CHANGE_RESULT, .result = 5));
	/* seccomp sees the number that the engine gives a call. */
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_NR,
			     .nr = SYS_gettid));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = SYS_getpgrp, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_NR,
			     .nr = UT_MARK_NR));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	EXPECT_EQ(77, t->sh->value[1]);
	EXPECT_EQ(5, t->sh->value[2]);
	EXPECT_EQ(t->pid, t->sh->value[4]);
	EXPECT_EQ(77, t->sh->value[13]);
	/* The engine sees the exit even if seccomp made the result. */
	EXPECT_EQ(3, ut_matches(0, id, UT_EV_SYSCALL_EXIT, t->pid,
				UT_MARK_NR));
}

TEST_F(utrace, seccomp_kills_what_an_engine_asks_for)
{
	struct ut_target *t = &self->t;
	int id;

	t->arg = 1;
	ASSERT_TRUE(ut_spawn(t, seccomp_target));
	ASSERT_TRUE(ut_hear(t));
	if (t->sh->value[15])
		SKIP(return, "no seccomp: %s", strerror(t->sh->value[15]));
	id = ut_attach(t->pid, 0, UT_SYSCALL | UT_SIGNAL_ALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME, .change = UT_CHANGE_NR,
			     .nr = SYS_getuid));
	/* An engine cannot prevent this death. */
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SIGNAL_CORE,
			     .match = SIGSYS,
			     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
	ASSERT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGSYS, WTERMSIG(self->status));
}

#ifdef __x86_64__
/* Function of a target that the test traces by ptrace from the start. */
static int traced_target(struct ut_target *t)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	t->sh->value[0] = ut_mark(0);
	t->sh->value[1] = ut_mark(0);
	return 0;
}

/* Let the target run to its next ptrace stop at the marker call. */
static bool to_mark_stop(pid_t pid, int request)
{
	struct user_regs_struct regs;
	int i, status;

	for (i = 0; i < 100; i++) {
		if (ptrace(request, pid, 0, 0) ||
		    ut_waitpid(pid, &status, 0) != 1 ||
		    !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, pid, 0, &regs))
			return false;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    (long)regs.orig_rax == UT_MARK_NR)
			return true;
	}
	return false;
}

static bool start_traced(struct ut_target *t)
{
	int status;

	return ut_spawn(t, traced_target) &&
	       ut_waitpid(t->pid, &status, 0) == 1 && WIFSTOPPED(status) &&
	       !ptrace(PTRACE_SETOPTIONS, t->pid, 0, PTRACE_O_TRACESYSGOOD);
}

TEST_F(utrace, ptrace_is_outermost)
{
	struct ut_target *t = &self->t;
	struct user_regs_struct regs;
	int id, i;

	ASSERT_TRUE(start_traced(t));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_EXIT,
			     .match = SYS_gettid, .answer = UT_RESUME,
			     .change = UT_CHANGE_RESULT, .result = 31));

	/*
	 * Entry: ptrace comes first, and the engine sees what the tracer
	 * changed.
	 */
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSCALL));
	EXPECT_EQ(-1, ut_seen(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
			      UT_MARK_NR));
	ASSERT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
	regs.orig_rax = SYS_gettid;
	ASSERT_EQ(0, ptrace(PTRACE_SETREGS, t->pid, 0, &regs));

	/*
	 * Exit: the engine comes first, and the tracer sees the final result.
	 */
	ASSERT_EQ(0, ptrace(PTRACE_SYSCALL, t->pid, 0, 0));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, 0));
	ASSERT_EQ(SIGTRAP | 0x80, WSTOPSIG(self->status));
	i = ut_seen(0, id, UT_EV_SYSCALL_ENTRY, t->pid, SYS_gettid);
	ASSERT_LE(0, i);
	EXPECT_LT(i, ut_find(0, id, UT_EV_SYSCALL_EXIT, t->pid, SYS_gettid));
	EXPECT_EQ(-1, ut_find(0, id, UT_EV_SYSCALL_ENTRY, t->pid,
			      UT_MARK_NR));
	ASSERT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
	EXPECT_EQ(31, regs.rax);
	ASSERT_EQ(0, ptrace(PTRACE_DETACH, t->pid, 0, 0));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(31, t->sh->value[0]);
}

/* The tracer has both stops of a call that an engine aborts. */
TEST_F(utrace, abort_keeps_the_tracers_pair)
{
	struct ut_target *t = &self->t;
	struct user_regs_struct regs;
	int id;

	ASSERT_TRUE(start_traced(t));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .match = UT_MARK_NR, .count = 1,
			     .answer = UT_RESUME | UT_SYSCALL_ABORT));
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSCALL));
	ASSERT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
	EXPECT_EQ(-ENOSYS, (long)regs.rax);
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSCALL));
	ASSERT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
	EXPECT_EQ(-ENOSYS, (long)regs.rax);
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSCALL));
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSCALL));
	ASSERT_EQ(0, ptrace(PTRACE_GETREGS, t->pid, 0, &regs));
	EXPECT_EQ(getpid(), regs.rax);
}

TEST_F(utrace, sysemu_shows_as_abort)
{
	struct ut_target *t = &self->t;
	int id, i;

	ASSERT_TRUE(start_traced(t));
	id = ut_attach(t->pid, 0, UT_SYSCALL);
	ASSERT_LT(0, id);
	ASSERT_TRUE(to_mark_stop(t->pid, PTRACE_SYSEMU));
	ASSERT_EQ(0, ptrace(PTRACE_CONT, t->pid, 0, 0));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = ut_seen(0, id, UT_EV_SYSCALL_ENTRY, t->pid, UT_MARK_NR);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SYSCALL_ABORT, ut_rec[i].action & UT_SYSCALL_MASK);
	EXPECT_EQ(-1, t->sh->value[0]);
	EXPECT_EQ(getpid(), t->sh->value[1]);
}
#endif /* __x86_64__ */

TEST_HARNESS_MAIN

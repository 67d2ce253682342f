// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - what several tracers may not do together
 *
 * Each tracer needs the right to trace.  A second tracer is no way into a
 * sandbox that the first tracer enforces, and no way to the rights of a set-id
 * program.
 */
#include "setid.h"

TEST_F(tracers, another_user)
{
	struct two_tracer nobody = {}, other = {};
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(two_start_as(&other, TWO_NOBODY - 1));
	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&nobody, t->pid, 0));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&nobody, t->pid));
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	EXPECT_EQ(-EPERM, two_seize(&other, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&other, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(0, two_seize(&self->s, t->pid, 0));
}

/* The user nobody needs no right to be the second tracer of its own process. */
TEST_F(tracers, without_rights)
{
	struct two_tracer p = {}, s = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&s, t->pid));
	EXPECT_TRUE(two_has(&s, t->pid));
	ASSERT_EQ(0, two_cont(&s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&p, t->pid));
	ASSERT_EQ(0, two_cont(&p, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * The first tracer is gone and a tracer of root is still there, which nobody
 * has no right to trace.
 */
TEST_F(tracers, beside_a_tracer_that_stays)
{
	struct two_tracer *p = &self->p, *s = &self->s, nobody = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_as(&nobody, TWO_NOBODY));
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_TRUE(two_leave(p, t->pid));
	EXPECT_EQ(-EPERM, two_seize(&nobody, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&nobody, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(s->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(t->pid));
	EXPECT_EQ(-ECHILD, two_poll(&nobody, t->pid));
	/* Without a tracer of root, the user nobody may trace the task. */
	ASSERT_TRUE(two_leave(s, t->pid));
	EXPECT_EQ(0, two_seize(&nobody, t->pid, 0));
	/* Root may attach as the second tracer, and again as the first. */
	EXPECT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_TRUE(two_leave(&nobody, t->pid));
	EXPECT_EQ(0, two_seize(p, t->pid, 0));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	EXPECT_TRUE(ut_runs(t));
}

/* The limit counts the tracers that stay. */
TEST_F(tracers, limit_without_the_first)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s, t->pid, 0));
	ASSERT_EQ(0, two_seize(&self->s2, t->pid, 0));
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, two_limit(2));
	EXPECT_EQ(-EPERM, two_seize(p, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(p, PTRACE_ATTACH, t->pid, 0));
	EXPECT_EQ(-ECHILD, two_poll(p, t->pid));
	ASSERT_EQ(0, two_limit(3));
	EXPECT_EQ(0, two_seize(p, t->pid, 0));
	EXPECT_EQ(p->t.pid, ut_status(t->pid, "TracerPid:"));
	/* With a limit of one, too. */
	ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_TRUE(two_leave(&self->s2, t->pid));
	ASSERT_EQ(0, two_limit(1));
	EXPECT_EQ(-EPERM, two_seize(p, t->pid, 0));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	EXPECT_EQ(0, two_seize(p, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

static int raise_limit(struct ut_target *t)
{
	if (setresuid(TWO_NOBODY, TWO_NOBODY, TWO_NOBODY))
		return 99;
	return -two_limit(16);
}

TEST_F(tracers, limit_is_for_root)
{
	struct ut_target other = {};

	ASSERT_TRUE(ut_spawn(&other, raise_limit));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	EXPECT_EQ(two_exit(EACCES), self->status);
}

/* Only a tracer with rights may attach beside a sandbox, while it is one. */
static void beside_a_sandbox(struct __test_metadata *_metadata,
			     struct two_data *self, bool emulates)
{
	struct two_tracer p = {}, s = {};
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_nobodies(&p, &s));
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(&p, t->pid,
			       emulates ? 0 : PTRACE_O_TRACESECCOMP));
	if (emulates) {
		ASSERT_EQ(TWO_TRAP, two_interrupt(&p, t->pid));
		ASSERT_EQ(0, two_ptrace(&p, PTRACE_SYSEMU, t->pid, 0));
	}
	EXPECT_EQ(-EPERM, two_seize(&s, t->pid, 0));
	EXPECT_EQ(-EPERM, two_ptrace(&s, PTRACE_ATTACH, t->pid, 0));
	/* Root's tracer may attach, and detaches again. */
	EXPECT_EQ(0, two_seize(&self->s, t->pid, 0));
	ASSERT_TRUE(two_leave(&self->s, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(&p, t->pid));
	if (!emulates)
		ASSERT_EQ(0, two_ptrace(&p, PTRACE_SETOPTIONS, t->pid, 0));
	ASSERT_EQ(0, two_cont(&p, t->pid, 0));
	EXPECT_EQ(0, two_seize(&s, t->pid, 0));
}

TEST_F(tracers, beside_a_seccomp_sandbox)
{
	beside_a_sandbox(_metadata, self, false);
}

TEST_F(tracers, beside_an_emulator)
{
	beside_a_sandbox(_metadata, self, true);
}

/* Some requests are for the first tracer alone. */
TEST_F(tracers, requests_of_the_first)
{
	static const long options[] = {
		PTRACE_O_TRACESECCOMP, PTRACE_O_SUSPEND_SECCOMP,
		PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK,
	};
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;
	unsigned int i;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(&self->p, t->pid, 0));
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		long ret = two_seize(s, t->pid, options[i]);

		EXPECT_GT(0, ret);
		if (options[i] & PTRACE_O_TRACESECCOMP)
			EXPECT_EQ(-EINVAL, ret);
		EXPECT_STREQ("", two_tracers(t->pid));
	}
	ASSERT_EQ(0, two_seize(s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		long ret = two_ptrace(s, PTRACE_SETOPTIONS, t->pid, options[i]);

		EXPECT_GT(0, ret);
		if (options[i] & PTRACE_O_TRACESECCOMP)
			EXPECT_EQ(-EINVAL, ret);
	}
	EXPECT_EQ(-EIO, two_ptrace(s, PTRACE_SYSEMU, t->pid, 0));
	EXPECT_EQ(-EIO, two_ptrace(s, PTRACE_SYSEMU_SINGLESTEP, t->pid, 0));
	EXPECT_TRUE(two_has(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
}

/* Function of a target: nobody executes the set-id program. */
static int runs_setid(struct ut_target *t)
{
	char * const argv[] = { program, (char *)"euid", NULL };
	char * const envp[] = { NULL };

	if (!two_become(TWO_NOBODY))
		return 97;
	ut_say(t);
	while (!t->sh->go[0] && !t->sh->quit)
		t->sh->counter++;
	execve(program, argv, envp);
	return 99;
}

/*
 * The status of a target that executes the set-id program beside its tracers;
 * the first one is gone before the exec if @leaves.
 */
static long setid_status(struct ut_target *t, struct two_tracer *first,
			 struct two_tracer *second, bool leaves)
{
	int status = -1;

	if (!ut_spawn(t, runs_setid) || !ut_hear(t) ||
	    (first && two_seize(first, t->pid, 0)) ||
	    (second && two_seize(second, t->pid, 0)))
		return -1;
	if (leaves && !two_leave(first, t->pid))
		return -2;
	t->sh->go[0] = 1;
	if (first && !leaves && two_end_of(first, t->pid) < 0)
		return -3;
	if (second && two_end_of(second, t->pid) < 0)
		return -4;
	return ut_reap(t, &status) ? status : -5;
}

/* A tracer without rights is enough for the exec not to elevate. */
TEST_F(tracers, set_id_program)
{
	struct two_tracer nobody = {}, other = {};
	struct two_tracer *root = &self->p, *root2 = &self->s;
	struct ut_target *t = &self->t;

	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(make_setid());
	if (setid_is_void()) {
		remove_setid();
		SKIP(return, "/tmp is a file system without set-id");
	}
	ASSERT_TRUE(two_start_nobodies(&nobody, &other));
	/* Here the program is elevated, which shows that it can be. */
	EXPECT_EQ(ELEVATED, setid_status(t, NULL, NULL, false));
	EXPECT_EQ(ELEVATED, setid_status(t, root, NULL, false));
	EXPECT_EQ(ELEVATED, setid_status(t, root, root2, false));
	/* The first tracer leaves, and a further tracer with rights stays. */
	EXPECT_EQ(ELEVATED, setid_status(t, &nobody, root, true));

	EXPECT_EQ(PLAIN, setid_status(t, &nobody, NULL, false));
	EXPECT_EQ(PLAIN, setid_status(t, &nobody, root, false));
	EXPECT_EQ(PLAIN, setid_status(t, &nobody, &other, false));
	EXPECT_EQ(PLAIN, setid_status(t, &other, &nobody, true));
	remove_setid();
}

TEST_HARNESS_MAIN

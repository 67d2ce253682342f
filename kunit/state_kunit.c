// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_state: results of each function by state
 *
 * A table lists, for each state of a task, the expected result of every
 * function.
 */
#include <kunit/test.h>
#include <linux/ptrace.h>

#include <asm/unistd.h>

#include "probe.h"

/* Not compared: the state allows several results, or another test checks it. */
#define ANY	1

#define DEATH_QUIESCE	(UTRACE_EVENT(DEATH) | UTRACE_EVENT(QUIESCE))

/**
 * struct state_row - the results that are expected in one state
 * @name: the state
 * @control: of utrace_control() with every action, by an engine with QUIESCE
 * @add_death: of utrace_set_events() that adds DEATH
 * @reap_only: of utrace_set_events() that leaves REAP only
 * @filter: of utrace_set_syscall_filter()
 * @barrier: of utrace_barrier()
 * @look_up: of an attach that finds the engine
 * @attach: of an attach of another engine
 * @examine: of utrace_prepare_examine() by an engine without a hold
 */
struct state_row {
	const char *name;
	int control[UTRACE_RESUME_MAX];
	int add_death;
	int reap_only;
	int filter;
	int barrier;
	int look_up;
	int attach;
	int examine;
};

static const struct state_row running = {
	.name = "running",
	.control = {
		[UTRACE_STOP] = -EINPROGRESS,
		/* The result depends on where the task is. */
		[UTRACE_DETACH] = ANY,
	},
	.reap_only = ANY,
	.examine = -EINVAL,
};

static const struct state_row asleep = {
	.name = "asleep",
	.control = { [UTRACE_STOP] = -EINPROGRESS },
	.examine = -EINVAL,
};

static const struct state_row stopped = {
	.name = "stopped",
	.examine = -EINVAL,
};

static const struct state_row zombie = {
	.name = "zombie",
	.control = {
		[UTRACE_STOP] = -ESRCH,
		[UTRACE_INTERRUPT] = -ESRCH,
		[UTRACE_REPORT] = -ESRCH,
		[UTRACE_SINGLESTEP] = -ESRCH,
		[UTRACE_BLOCKSTEP] = -ESRCH,
		[UTRACE_RESUME] = -ESRCH,
	},
	.add_death = -EALREADY,
	.examine = ANY,
};

static const struct state_row reaped = {
	.name = "reaped",
	.control = {
		[UTRACE_STOP] = -ESRCH,
		[UTRACE_INTERRUPT] = -ESRCH,
		[UTRACE_REPORT] = -ESRCH,
		[UTRACE_SINGLESTEP] = -ESRCH,
		[UTRACE_BLOCKSTEP] = -ESRCH,
		[UTRACE_RESUME] = -ESRCH,
		[UTRACE_DETACH] = -ESRCH,
	},
	.add_death = -ESRCH,
	.reap_only = -ESRCH,
	.filter = -ESRCH,
	.barrier = -ESRCH,
	.look_up = -ENOENT,
	.attach = -ESRCH,
	.examine = -ESRCH,
};

static const struct state_row detached = {
	.name = "detached",
	.control = {
		[UTRACE_STOP] = -ESRCH,
		[UTRACE_INTERRUPT] = -ESRCH,
		[UTRACE_REPORT] = -ESRCH,
		[UTRACE_SINGLESTEP] = -ESRCH,
		[UTRACE_BLOCKSTEP] = -ESRCH,
		[UTRACE_RESUME] = -ESRCH,
		[UTRACE_DETACH] = -ESRCH,
	},
	.add_death = -ESRCH,
	.reap_only = -ESRCH,
	.filter = -ESRCH,
	.barrier = -ESRCH,
	.look_up = -ENOENT,
	.examine = -ESRCH,
};

/* One engine for each function, so that no call disturbs another. */
struct state_probes {
	struct probe *control[UTRACE_RESUME_MAX];
	struct probe *add_death;
	struct probe *reap_only;
	struct probe *other;
};

static struct state_probes attach_all(struct user_task *t)
{
	struct state_probes s;
	unsigned int i;

	for (i = 0; i < UTRACE_RESUME_MAX; i++)
		s.control[i] = probe_attach(t, 0, UTRACE_EVENT(QUIESCE));
	s.add_death = probe_attach(t, 0, 0);
	s.reap_only = probe_attach(t, 0, UTRACE_EVENT(CLONE));
	s.other = probe_attach(t, 0, UTRACE_EVENT(REAP));
	return s;
}

static void detach_all(struct state_probes *s)
{
	unsigned int i;

	for (i = 0; i < UTRACE_RESUME_MAX; i++)
		probe_detach(s->control[i]);
	probe_detach(s->add_death);
	probe_detach(s->reap_only);
	probe_detach(s->other);
}

/* Without hardware support a step is refused as long as the task lives. */
static int expected_control(const struct state_row *row,
			    enum utrace_resume_action action)
{
	int want = row->control[action];

	if (want)
		return want;
	/* Without block steps, a block step is made as a single step. */
	if ((action == UTRACE_SINGLESTEP || action == UTRACE_BLOCKSTEP) &&
	    !arch_has_single_step())
		return -EOPNOTSUPP;
	return want;
}

static void expect_controls(struct user_task *t, struct state_probes *s,
			    const struct state_row *row)
{
	enum utrace_resume_action action;

	/*
	 * STOP comes last, so that all other actions apply to the state of the
	 * row.
	 */
	for (action = UTRACE_RESUME_MAX; action-- > UTRACE_STOP; ) {
		int want = expected_control(row, action);
		int ret = probe_control(s->control[action], action);

		if (want != ANY)
			KUNIT_EXPECT_EQ_MSG(t->test, ret, want,
					    "%s: control(%d)", row->name,
					    action);
	}
}

static int try_examine(struct user_task *t, struct probe *p)
{
	struct utrace_examiner exam;

	return utrace_prepare_examine(t->task, p->engine, &exam);
}

static int try_look_up(struct user_task *t, struct probe *p)
{
	struct utrace_engine *found;

	found = utrace_attach_task(t->task, UTRACE_ATTACH_MATCH_DATA, NULL, p);
	if (IS_ERR(found))
		return PTR_ERR(found);
	utrace_engine_put(found);
	return 0;
}

static void expect_row(struct user_task *t, struct state_probes *s,
		       const struct state_row *row)
{
	struct kunit *test = t->test;
	struct probe *late = probe_new(test);
	int ret;

	KUNIT_EXPECT_EQ_MSG(test, try_look_up(t, s->other), row->look_up,
			    "%s: look up", row->name);
	KUNIT_EXPECT_EQ_MSG(test, utrace_barrier(t->task, s->other->engine),
			    row->barrier, "%s: barrier", row->name);
	KUNIT_EXPECT_EQ_MSG(test,
			    utrace_set_events(t->task, s->add_death->engine,
					      UTRACE_EVENT(DEATH)),
			    row->add_death, "%s: add DEATH", row->name);
	ret = utrace_set_events(t->task, s->reap_only->engine,
				UTRACE_EVENT(REAP));
	if (row->reap_only != ANY)
		KUNIT_EXPECT_EQ_MSG(test, ret, row->reap_only,
				    "%s: REAP only", row->name);
	KUNIT_EXPECT_EQ_MSG(test,
			    utrace_set_syscall_filter(s->other->engine, NULL,
						      0),
			    row->filter, "%s: filter", row->name);
	ret = try_examine(t, s->other);
	if (row->examine != ANY)
		KUNIT_EXPECT_EQ_MSG(test, ret, row->examine, "%s: examine",
				    row->name);
	KUNIT_EXPECT_EQ_MSG(test, probe_try_attach(late, t->task, 0),
			    row->attach, "%s: attach", row->name);
	expect_controls(t, s, row);
}

static void errno_running(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s = attach_all(t);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	expect_row(t, &s, &running);
}

static void errno_asleep(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s = attach_all(t);

	user_task_do_syscall(t, __NR_pause);
	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	expect_row(t, &s, &asleep);
}

static void errno_stopped(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s = attach_all(t);
	struct probe *holder = probe_attach(t, 0, 0);

	user_task_do(t, .op = USER_SPIN);
	probe_stop(holder, t);
	expect_row(t, &s, &stopped);
	/* Another engine holds the task all the time. */
	KUNIT_EXPECT_FALSE(test, user_task_runs(t));
}

/* A child that its parent has not waited for. */
static struct user_task *clone_zombie(struct user_task *t,
				      struct state_probes *s)
{
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *watch;

	*s = attach_all(child);
	watch = probe_attach(child, 0, UTRACE_EVENT(DEATH));
	user_task_do_syscall(child, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(t->test, user_task_wait_dead(child));
	KUNIT_ASSERT_TRUE(t->test, probe_wait(watch, _UTRACE_EVENT_DEATH, 1));
	utrace_barrier_sync(watch->engine);
	return child;
}

static void errno_zombie(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s;
	struct user_task *child = clone_zombie(t, &s);

	KUNIT_ASSERT_EQ(test, READ_ONCE(child->task->exit_state), EXIT_ZOMBIE);
	expect_row(child, &s, &zombie);
}

static void errno_reaped(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s;
	struct user_task *child = clone_zombie(t, &s);
	long pid = task_pid_nr(child->task);

	KUNIT_ASSERT_EQ(test, user_task_syscall(t, __NR_wait4, pid, 0, 0, 0),
			pid);
	KUNIT_EXPECT_EQ(test, probe_count(s.other, _UTRACE_EVENT_REAP), 1U);
	expect_row(child, &s, &reaped);
}

static void errno_detached(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s = attach_all(t);

	detach_all(&s);
	expect_row(t, &s, &detached);
}

/* The reaping of a zombie is reported to an engine on it. */
static void zombie_reports_reap(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct state_probes s;
	struct user_task *child = clone_zombie(t, &s);
	struct probe *p = probe_attach(child, 0, UTRACE_EVENT(REAP));
	long pid = task_pid_nr(child->task);

	KUNIT_EXPECT_EQ(test, utrace_set_events(child->task, p->engine,
						UTRACE_EVENT(REAP) |
						UTRACE_EVENT(QUIESCE)),
			-EALREADY);
	KUNIT_EXPECT_EQ(test, p->engine->flags, UTRACE_EVENT(REAP));
	KUNIT_ASSERT_EQ(test, user_task_syscall(t, __NR_wait4, pid, 0, 0, 0),
			pid);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_REAP), 1U);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
}

/* Calls from report_death, on the engine of the callback. */
static u32 call_from_death(struct probe *p, struct probe_call *c)
{
	long *ret = p->word;

	if (c->event == _UTRACE_EVENT_EXIT) {
		ret[0] = utrace_set_events(current, p->engine,
					   UTRACE_EVENT(EXIT) | DEATH_QUIESCE);
		ret[1] = utrace_control(current, p->engine, UTRACE_REPORT);
	}
	if (c->event == _UTRACE_EVENT_DEATH) {
		ret[2] = utrace_set_events(current, p->engine,
					   UTRACE_EVENT_ALL);
		ret[3] = utrace_control(current, p->engine, UTRACE_STOP);
		ret[4] = utrace_barrier(current, p->engine);
	}
	return UTRACE_RESUME;
}

static void errno_dying(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *late = probe_attach(t, 0, 0);
	struct probe *p = probe_attach(t, 0, 0);
	long *ret = p->word;
	unsigned int i;

	for (i = 0; i < 5; i++)
		ret[i] = ANY;
	p->hook = call_from_death;
	/* The callback of EXIT adds QUIESCE, which is early enough. */
	probe_set_events(p, UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH));
	user_task_do_syscall(t, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	KUNIT_EXPECT_EQ(test, ret[0], 0L);
	KUNIT_EXPECT_EQ(test, ret[1], 0L);
	/* DEATH and QUIESCE cannot be added now, but are wanted already. */
	KUNIT_EXPECT_EQ(test, ret[2], 0L);
	KUNIT_EXPECT_EQ(test, ret[3], (long)-ESRCH);
	KUNIT_EXPECT_EQ(test, ret[4], 0L);
	probe_detach(late);
}

static u32 ask_for_death(struct probe *p, struct probe_call *c)
{
	p->word[0] = utrace_set_events(current, p->other->engine,
				       UTRACE_EVENT(DEATH));
	return UTRACE_RESUME;
}

/* An engine that asks for DEATH when it is being reported is too late. */
static void death_cannot_be_added(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *late = probe_attach(t, 0, 0);

	p->other = late;
	p->hook = ask_for_death;
	probe_set_events(p, UTRACE_EVENT(DEATH));
	user_task_do_syscall(t, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	KUNIT_EXPECT_EQ(test, p->word[0], (long)-EALREADY);
	KUNIT_EXPECT_EQ(test, late->calls, 0U);
}

static struct kunit_case state_cases[] = {
	KUNIT_CASE(errno_running),
	KUNIT_CASE(errno_asleep),
	KUNIT_CASE(errno_stopped),
	KUNIT_CASE(errno_zombie),
	KUNIT_CASE(errno_reaped),
	KUNIT_CASE(errno_detached),
	KUNIT_CASE(errno_dying),
	KUNIT_CASE(zombie_reports_reap),
	KUNIT_CASE(death_cannot_be_added),
	{}
};

static struct kunit_suite state_suite = {
	.name = "utrace_state",
	.test_cases = state_cases,
};

kunit_test_suite(state_suite);

MODULE_DESCRIPTION("KUnit suite for utrace calls in every state of a task");
MODULE_LICENSE("GPL");

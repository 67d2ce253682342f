// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_report: order of the calls, merging of
 * answers
 *
 * The tables of this suite follow the documentation of the interface, not the
 * code.
 */
#include <kunit/test.h>

#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)
#define CLONE	UTRACE_EVENT(CLONE)
#define QUIESCE	UTRACE_EVENT(QUIESCE)

#define NPAIRS	UTRACE_RESUME_MAX

static struct probe *attach_getppid(struct user_task *t, int flags,
				    unsigned long events)
{
	struct probe *p = probe_attach(t, flags, 0);

	p->nr = __NR_getppid;
	probe_set_events(p, events);
	return p;
}

/*
 * The result of two resume actions is the smaller one.  DETACH does not say how
 * the task continues, so a detached engine lets the task run.
 */
static const enum utrace_resume_action merged[NPAIRS][NPAIRS] = {
#define S	UTRACE_STOP
#define I	UTRACE_INTERRUPT
#define R	UTRACE_REPORT
#define T	UTRACE_SINGLESTEP
#define B	UTRACE_BLOCKSTEP
#define G	UTRACE_RESUME
	/* stop, interrupt, report, singlestep, blockstep, resume, detach */
	[UTRACE_STOP]		= { S, S, S, S, S, S, S },
	[UTRACE_INTERRUPT]	= { S, I, I, I, I, I, I },
	[UTRACE_REPORT]		= { S, I, R, R, R, R, R },
	[UTRACE_SINGLESTEP]	= { S, I, R, T, T, T, T },
	[UTRACE_BLOCKSTEP]	= { S, I, R, T, B, B, B },
	[UTRACE_RESUME]		= { S, I, R, T, B, G, G },
	[UTRACE_DETACH]		= { S, I, R, T, B, G, G },
#undef S
#undef I
#undef R
#undef T
#undef B
#undef G
};

/* Let two engines answer, the newest first; an enforcer sees the result. */
static void merge_pair(struct user_task *t, enum utrace_resume_action first,
		       enum utrace_resume_action second)
{
	struct probe *late = attach_getppid(t, UTRACE_ATTACH_ENFORCER, 0);
	struct probe *b = attach_getppid(t, 0, 0);
	struct probe *a = attach_getppid(t, 0, 0);
	enum utrace_resume_action want = merged[first][second];
	struct probe_call c;

	a->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = first;
	b->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = second;
	probe_set_events(a, ENTRY);
	probe_set_events(b, ENTRY);
	probe_set_events(late, ENTRY);

	user_task_do_syscall(t, __NR_getppid);
	KUNIT_ASSERT_TRUE(t->test,
			  probe_wait(late, _UTRACE_EVENT_SYSCALL_ENTRY, 1));
	c = probe_call(late, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_EQ_MSG(t->test, utrace_resume_action(c.action), want,
			    "answers %d and %d", first, second);
	c = probe_call(b, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_EQ_MSG(t->test, utrace_resume_action(c.action),
			    merged[first][UTRACE_RESUME],
			    "after answer %d", first);
	if (want == UTRACE_STOP)
		KUNIT_EXPECT_TRUE(t->test, user_task_wait_stopped(t));
	/* A detach drops what the engine has requested. */
	probe_detach(a);
	probe_detach(b);
	probe_detach(late);
	user_task_result(t);
}

static void merge_resume_actions(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	enum utrace_resume_action first, second;

	for (first = 0; first < NPAIRS; first++)
		for (second = 0; second < NPAIRS; second++)
			merge_pair(t, first, second);
	/* No step and no hold is left. */
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

/* Of two answers about a system call the later one counts. */
static void merge_syscall_answers(struct kunit *test)
{
	static const struct {
		u32 first, second;
		bool skipped;
	} rows[] = {
		{ UTRACE_SYSCALL_RUN,	UTRACE_SYSCALL_RUN,	false },
		{ UTRACE_SYSCALL_RUN,	UTRACE_SYSCALL_ABORT,	true },
		{ UTRACE_SYSCALL_ABORT,	UTRACE_SYSCALL_RUN,	false },
		{ UTRACE_SYSCALL_ABORT,	UTRACE_SYSCALL_ABORT,	true },
	};
	struct user_task *t = user_task_start(test);
	long ppid = user_task_syscall(t, __NR_getppid);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct probe *b = attach_getppid(t, 0, 0);
		struct probe *a = attach_getppid(t, 0, 0);
		struct probe_call c;

		a->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
			UTRACE_RESUME | rows[i].first;
		b->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
			UTRACE_RESUME | rows[i].second;
		probe_set_events(a, ENTRY);
		probe_set_events(b, ENTRY);
		KUNIT_EXPECT_EQ_MSG(test, user_task_syscall(t, __NR_getppid),
				    rows[i].skipped ? USER_NO_CALL : ppid,
				    "row %u", i);
		c = probe_call(a, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
		KUNIT_EXPECT_EQ(test, utrace_syscall_action(c.action),
				UTRACE_SYSCALL_RUN);
		c = probe_call(b, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
		KUNIT_EXPECT_EQ(test, (u32)utrace_syscall_action(c.action),
				rows[i].first);
		probe_detach(a);
		probe_detach(b);
	}
}

static const u32 signal_answers[] = {
	UTRACE_SIGNAL_DELIVER, UTRACE_SIGNAL_IGN, UTRACE_SIGNAL_TERM,
	UTRACE_SIGNAL_CORE, UTRACE_SIGNAL_STOP, UTRACE_SIGNAL_TSTP,
};

/*
 * Every pair of answers about a signal: each engine gets the previous answer.
 * A third engine drops the signal, so that the task survives.
 */
static void merge_signal_answers(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = probe_attach(t, 0, UTRACE_EVENT_SIGNAL_ALL);
	struct probe *b = probe_attach(t, 0, UTRACE_EVENT_SIGNAL_ALL);
	struct probe *late = probe_attach(t, UTRACE_ATTACH_ENFORCER,
					  UTRACE_EVENT_SIGNAL_ALL);
	unsigned int i, j;

	late->answer[_UTRACE_EVENT_SIGNAL] = UTRACE_RESUME | UTRACE_SIGNAL_IGN;
	for (i = 0; i < ARRAY_SIZE(signal_answers); i++) {
		for (j = 0; j < ARRAY_SIZE(signal_answers); j++) {
			struct probe_call c;

			a->answer[_UTRACE_EVENT_SIGNAL] =
				UTRACE_RESUME | signal_answers[i];
			b->answer[_UTRACE_EVENT_SIGNAL] =
				UTRACE_RESUME | signal_answers[j];
			user_task_kill(t, SIGTERM);
			KUNIT_ASSERT_TRUE(test,
					  probe_wait(late,
						     _UTRACE_EVENT_SIGNAL, 1));
			c = probe_call(a, _UTRACE_EVENT_SIGNAL, 0);
			KUNIT_EXPECT_EQ(test,
					utrace_signal_action(c.action),
					UTRACE_SIGNAL_TERM);
			c = probe_call(b, _UTRACE_EVENT_SIGNAL, 0);
			KUNIT_EXPECT_EQ(test,
					(u32)utrace_signal_action(c.action),
					signal_answers[i]);
			c = probe_call(late, _UTRACE_EVENT_SIGNAL, 0);
			KUNIT_EXPECT_EQ(test,
					(u32)utrace_signal_action(c.action),
					signal_answers[j]);
			probe_forget(a);
			probe_forget(b);
			probe_forget(late);
		}
	}
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

/*
 * An answer to QUIESCE does not affect the event, so an earlier ABORT stays,
 * whichever of the two engines is older.
 */
static void quiesce_keeps_abort(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *before = attach_getppid(t, 0, 0);
	struct probe *abort = attach_getppid(t, 0, 0);
	struct probe *after = attach_getppid(t, 0, 0);

	abort->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
		UTRACE_RESUME | UTRACE_SYSCALL_ABORT;
	probe_set_events(abort, ENTRY);
	probe_set_events(before, QUIESCE);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			USER_NO_CALL);
	probe_set_events(after, QUIESCE);
	probe_set_events(before, 0);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			USER_NO_CALL);
	KUNIT_EXPECT_GT(test, probe_count(before, _UTRACE_EVENT_QUIESCE), 0U);
	KUNIT_EXPECT_GT(test, probe_count(after, _UTRACE_EVENT_QUIESCE), 0U);
	/*
	 * The answer of the aborting engine itself to QUIESCE has no effect,
	 * either.
	 */
	probe_set_events(abort, ENTRY | QUIESCE);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			USER_NO_CALL);
}

static const int classes[] = {
	UTRACE_ATTACH_LAST_RESORT, UTRACE_ATTACH_MUTATOR,
	UTRACE_ATTACH_ENFORCER, UTRACE_ATTACH_OBSERVER,
	UTRACE_ATTACH_MUTATOR, UTRACE_ATTACH_LAST_RESORT,
	UTRACE_ATTACH_OBSERVER, UTRACE_ATTACH_ENFORCER,
};

/* Indexes in @classes, in the order of the calls. */
static const unsigned int entry_order[] = { 6, 3, 4, 1, 7, 2 };
static const unsigned int exit_order[] = { 2, 7, 1, 4, 3, 6 };
static const unsigned int other_order[] = { 3, 6, 1, 4, 2, 7 };

/* Engines of last resort are called after all others at every event. */
static const unsigned int last[] = { 0, 5 };

static void expect_order(struct kunit *test, struct probe **p,
			 enum utrace_events event, const unsigned int *order)
{
	unsigned int i, before = 0;
	struct probe_call c;

	for (i = 0; i < ARRAY_SIZE(entry_order); i++) {
		c = probe_call(p[order[i]], event, 0);
		KUNIT_EXPECT_GT_MSG(test, c.order, before,
				    "event %d, place %u", event, i);
		before = c.order;
	}
	for (i = 0; i < ARRAY_SIZE(last); i++) {
		c = probe_call(p[last[i]], event, 0);
		KUNIT_EXPECT_GT_MSG(test, c.order, before,
				    "event %d, last resort %u", event, i);
	}
}

static void order_of_classes(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p[ARRAY_SIZE(classes)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++)
		p[i] = attach_getppid(t, classes[i], ENTRY | EXIT | CLONE);
	user_task_syscall(t, __NR_getppid);
	user_task_clone(t, USER_FORK, 1);
	expect_order(test, p, _UTRACE_EVENT_SYSCALL_ENTRY, entry_order);
	expect_order(test, p, _UTRACE_EVENT_SYSCALL_EXIT, exit_order);
	expect_order(test, p, _UTRACE_EVENT_CLONE, other_order);
}

/* Engines of all scopes have one order: class first, then age. */
static void order_over_scopes(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p[3];
	struct probe_call c[3];
	unsigned int i;

	p[0] = attach_getppid(t, UTRACE_ATTACH_TREE, EXIT);
	p[1] = attach_getppid(t, 0, EXIT);
	p[2] = attach_getppid(t, UTRACE_ATTACH_PROCESS, EXIT);
	user_task_syscall(t, __NR_getppid);
	for (i = 0; i < ARRAY_SIZE(p); i++)
		c[i] = probe_call(p[i], _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_LT(test, c[0].order, c[1].order);
	KUNIT_EXPECT_LT(test, c[1].order, c[2].order);
}

/* The number of QUIESCE reports for one event, or for event 0. */
static unsigned int count_quiesce(struct probe *p, unsigned long event)
{
	struct probe_call c;
	unsigned int i, n = 0;

	for (i = 0; probe_find(p, _UTRACE_EVENT_QUIESCE, i, &c); i++)
		n += c.arg[0] == event;
	return n;
}

static void quiesce_before_events(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE);
	struct probe *own = probe_attach(t, UTRACE_ATTACH_OWN_EVENTS,
					 QUIESCE | UTRACE_EVENT(EXEC));
	struct probe *other = probe_attach(t, 0, CLONE);

	user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_EQ(test, count_quiesce(p, CLONE), 1U);
	/*
	 * An engine with OWN_EVENTS gets QUIESCE only for events that it wants.
	 */
	KUNIT_EXPECT_EQ(test, count_quiesce(own, CLONE), 0U);
	/* An engine without QUIESCE gets the event only. */
	KUNIT_EXPECT_EQ(test, probe_count(other, _UTRACE_EVENT_QUIESCE), 0U);
	KUNIT_EXPECT_EQ(test, probe_count(other, _UTRACE_EVENT_CLONE), 1U);

	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, count_quiesce(p, UTRACE_EVENT(EXEC)), 1U);
	KUNIT_EXPECT_EQ(test, count_quiesce(own, UTRACE_EVENT(EXEC)), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(own, _UTRACE_EVENT_EXEC), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_EXEC), 0U);
	/* No report was requested. */
	KUNIT_EXPECT_EQ(test, count_quiesce(p, 0), 0U);
}

/* An event that no engine wants causes no QUIESCE. */
static void quiesce_needs_event(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE);

	user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

static void quiesce_precedes_event(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, QUIESCE | CLONE);
	struct probe_call before, at;

	user_task_clone(t, USER_FORK, 1);
	before = probe_call(p, _UTRACE_EVENT_QUIESCE, 0);
	at = probe_call(p, _UTRACE_EVENT_CLONE, 0);
	KUNIT_EXPECT_EQ(test, before.arg[0], (long)CLONE);
	KUNIT_EXPECT_LT(test, before.order, at.order);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

/* One engine requests a report, and all engines with QUIESCE get it. */
static void report_reaches_all(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *a = probe_attach(t, 0, QUIESCE);
	struct probe *b = probe_attach(t, 0, QUIESCE);
	struct probe *own = probe_attach(t, UTRACE_ATTACH_OWN_EVENTS, QUIESCE);
	struct probe *deaf = probe_attach(t, 0, CLONE);

	user_task_do(t, .op = USER_SPIN);
	KUNIT_ASSERT_TRUE(test, user_task_wait_running(t));
	KUNIT_EXPECT_EQ(test, probe_control(a, UTRACE_REPORT), 0);
	KUNIT_EXPECT_TRUE(test, probe_wait(a, _UTRACE_EVENT_QUIESCE, 1));
	KUNIT_EXPECT_TRUE(test, probe_wait(b, _UTRACE_EVENT_QUIESCE, 1));
	KUNIT_EXPECT_TRUE(test, probe_wait(own, _UTRACE_EVENT_QUIESCE, 1));
	user_task_go(t, 1);
	user_task_result(t);
	/* One request causes one report. */
	KUNIT_EXPECT_EQ(test, count_quiesce(a, 0), 1U);
	KUNIT_EXPECT_EQ(test, count_quiesce(b, 0), 1U);
	KUNIT_EXPECT_EQ(test, a->calls, 1U);
	KUNIT_EXPECT_EQ(test, deaf->calls, 0U);
}

/* The answer REPORT causes a report before the task returns to user mode. */
static void report_by_answer(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe_call at, later;

	p->answer[_UTRACE_EVENT_CLONE] = UTRACE_REPORT;
	probe_set_events(p, CLONE | QUIESCE);
	user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_EQ(test, count_quiesce(p, CLONE), 1U);
	KUNIT_EXPECT_EQ(test, count_quiesce(p, 0), 1U);
	at = probe_call(p, _UTRACE_EVENT_CLONE, 0);
	later = probe_call(p, _UTRACE_EVENT_QUIESCE, 1);
	KUNIT_EXPECT_EQ(test, later.arg[0], 0L);
	KUNIT_EXPECT_GT(test, later.order, at.order);
}

/* The answer INTERRUPT causes a signal report without a signal. */
static void interrupt_by_answer(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_getppid(t, 0, 0);
	struct probe_call c;

	p->answer[_UTRACE_EVENT_SYSCALL_EXIT] = UTRACE_INTERRUPT;
	probe_set_events(p, EXIT | QUIESCE | UTRACE_EVENT_SIGNAL_ALL);
	user_task_syscall(t, __NR_getppid);
	KUNIT_ASSERT_EQ(test, probe_count(p, _UTRACE_EVENT_SIGNAL), 1U);
	c = probe_call(p, _UTRACE_EVENT_SIGNAL, 0);
	KUNIT_EXPECT_EQ(test, utrace_signal_action(c.action),
			UTRACE_SIGNAL_REPORT);
	KUNIT_EXPECT_EQ(test, c.arg[1], 0L);
}

/* Make the task exit again from the callback, as an oops would. */
static u32 exit_again(struct probe *p, struct probe_call *c)
{
	if (c->event == _UTRACE_EVENT_EXIT && p->word[0]++ < 3)
		do_exit(*c->code);
	return UTRACE_RESUME;
}

/* A callback that ends its task in report_exit is not called again. */
static void exit_within_exit(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->hook = exit_again;
	probe_set_events(p, UTRACE_EVENT(EXIT) | UTRACE_EVENT(DEATH));
	user_task_do_syscall(t, __NR_exit_group, 3);
	KUNIT_ASSERT_TRUE(test, user_task_wait_dead(t));
	KUNIT_EXPECT_EQ(test, p->word[0], 1L);
	KUNIT_EXPECT_TRUE(test, probe_wait(p, _UTRACE_EVENT_DEATH, 1));
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_DEATH), 1U);
}

static struct kunit_case report_cases[] = {
	KUNIT_CASE(merge_resume_actions),
	KUNIT_CASE(merge_syscall_answers),
	KUNIT_CASE(merge_signal_answers),
	KUNIT_CASE(quiesce_keeps_abort),
	KUNIT_CASE(order_of_classes),
	KUNIT_CASE(order_over_scopes),
	KUNIT_CASE(quiesce_before_events),
	KUNIT_CASE(quiesce_needs_event),
	KUNIT_CASE(quiesce_precedes_event),
	KUNIT_CASE(report_reaches_all),
	KUNIT_CASE(report_by_answer),
	KUNIT_CASE(interrupt_by_answer),
	KUNIT_CASE(exit_within_exit),
	{}
};

static struct kunit_suite report_suite = {
	.name = "utrace_report",
	.test_cases = report_cases,
};

kunit_test_suite(report_suite);

MODULE_DESCRIPTION("KUnit suite for reports and the merging of answers");
MODULE_LICENSE("GPL");

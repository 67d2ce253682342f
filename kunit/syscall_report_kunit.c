// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_syscall_report: calls seen, changed and
 * filtered
 */
#include <kunit/test.h>
#include <linux/pid.h>

#include <asm/syscall.h>
#include <asm/unistd.h>

#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)
#define QUIESCE	UTRACE_EVENT(QUIESCE)

/* A number that no table has. */
#define NO_SUCH_NR	100000

/* getpid() of the 32-bit table, writev() of the 64-bit one. */
#define INT80_GETPID	20

/* User Mode Linux has one table only. */
#if defined(CONFIG_X86_64) && !defined(CONFIG_UML)
#define X32_FLAG	__X32_SYSCALL_BIT
#endif

static struct probe *attach_nr(struct user_task *t, int nr,
			       unsigned long events)
{
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = nr;
	probe_set_events(p, events);
	return p;
}

/* Attach like attach_nr(), with a hook that is set before the events. */
static struct probe *hook_nr(struct user_task *t, int nr, unsigned long events,
			     u32 (*hook)(struct probe *p, struct probe_call *c),
			     long word)
{
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = nr;
	p->hook = hook;
	p->word[0] = word;
	probe_set_events(p, events);
	return p;
}

static unsigned int entries(struct probe *p)
{
	return probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY);
}

static unsigned int exits(struct probe *p)
{
	return probe_count(p, _UTRACE_EVENT_SYSCALL_EXIT);
}

/*
 * If an engine in the middle of a fast pass answers more than RESUME, the slow
 * pass continues: all engines are called, at the entry and the exit.
 */
static void one_in_the_midst_says_more(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p[3];
	struct probe_call c;
	int i;

	for (i = 0; i < 3; i++)
		p[i] = attach_nr(t, __NR_getpid, ENTRY | EXIT);
	/* The first call after an attach takes the slow pass anyway. */
	user_task_syscall(t, __NR_getpid);
	for (i = 0; i < 3; i++)
		probe_forget(p[i]);
	p[1]->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = UTRACE_RESUME |
						    UTRACE_SYSCALL_ABORT;
	p[1]->answer[_UTRACE_EVENT_SYSCALL_EXIT] = UTRACE_REPORT;
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid), USER_NO_CALL);
	/* The newest engine is first at the entry, and last at the exit. */
	c = probe_call(p[2], _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_EQ(test, c.action, (u32)UTRACE_RESUME);
	c = probe_call(p[0], _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_EQ(test, c.action,
			(u32)UTRACE_RESUME | UTRACE_SYSCALL_ABORT);
	c = probe_call(p[0], _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, c.action, (u32)UTRACE_RESUME);
	c = probe_call(p[2], _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, c.action, (u32)UTRACE_REPORT);

	/* The next call is not affected. */
	p[1]->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = UTRACE_RESUME | PROBE_KEEP;
	p[1]->answer[_UTRACE_EVENT_SYSCALL_EXIT] = UTRACE_RESUME | PROBE_KEEP;
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, entries(p[i]), 2U);
		KUNIT_EXPECT_EQ(test, exits(p[i]), 2U);
		c = probe_call(p[i], _UTRACE_EVENT_SYSCALL_EXIT, 1);
		KUNIT_EXPECT_EQ(test, c.action, (u32)UTRACE_RESUME);
	}
}

/*
 * The low bits of the number are tested first, then the engine's bitmap; this
 * number has the same low bits as a wanted one.
 */
static void filter_of_a_like_number(struct kunit *test)
{
	static const int nr = __NR_getpid;
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *q;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, &nr, 1), 0);
	probe_set_events(p, ENTRY | EXIT);
	for (i = 0; i < 64; i += 32)
		user_task_syscall(t, nr + i, -1, 0, 0, 0, 0);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);

	/*
	 * An engine without a filter gets all calls, beside one with a filter.
	 */
	q = attach_nr(t, __NR_getppid, ENTRY | EXIT);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries(q), 1U);
	KUNIT_EXPECT_EQ(test, exits(q), 1U);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	probe_detach(q);

	/*
	 * Without the filter the engine gets all calls, beginning with the next
	 * one.
	 */
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, NULL, 0), 0);
	probe_forget(p);
	p->nr = __NR_getppid;
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
}

static void entry_and_exit_pair(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_nr(t, __NR_dup2, ENTRY | EXIT);
	struct probe_call in, out;

	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_dup2, 1, 40), 40L);
	KUNIT_ASSERT_EQ(test, p->calls, 2U);
	in = probe_call(p, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	out = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, in.arg[0], (long)__NR_dup2);
	KUNIT_EXPECT_EQ(test, in.arg[1], 1L);
	KUNIT_EXPECT_EQ(test, in.action,
			(u32)UTRACE_RESUME | UTRACE_SYSCALL_RUN);
	KUNIT_EXPECT_PTR_EQ(test, in.task, t->task);
	KUNIT_EXPECT_EQ(test, out.arg[0], (long)__NR_dup2);
	KUNIT_EXPECT_EQ(test, out.arg[1], 40L);
	KUNIT_EXPECT_EQ(test, out.action, (u32)UTRACE_RESUME);
	KUNIT_EXPECT_LT(test, in.order, out.order);
}

static void entry_or_exit_alone(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_nr(t, __NR_getppid, ENTRY);
	struct probe *q = attach_nr(t, __NR_getppid, EXIT);

	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_EQ(test, exits(q), 1U);
	KUNIT_EXPECT_EQ(test, q->calls, 1U);
}

static void every_call_is_reported(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_nr(t, __NR_getppid, ENTRY | EXIT);

	user_task_do(t, .op = USER_REPEAT, .nr = __NR_getppid,
		     .arg = { 1000 });
	KUNIT_EXPECT_EQ(test, user_task_result(t), 1000L);
	KUNIT_EXPECT_EQ(test, p->calls, 2000U);
}

static u32 read_args(struct probe *p, struct probe_call *c)
{
	unsigned int i;

	for (i = 0; i < 6; i++)
		p->word[i] = utrace_syscall_get_arg(c->regs, i);
	return UTRACE_RESUME | PROBE_KEEP;
}

static void arguments_are_read(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = hook_nr(t, NO_SUCH_NR, ENTRY, read_args, 0);
	unsigned int i;

	KUNIT_EXPECT_EQ(test,
			user_task_syscall(t, NO_SUCH_NR, 11, 12, 13, 14, 15,
					  16), USER_NO_CALL);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, p->word[i], 11L + i);
}

static u32 change_arg(struct probe *p, struct probe_call *c)
{
	utrace_syscall_set_arg(c->regs, p->word[0], 100 + p->word[0]);
	return UTRACE_RESUME | PROBE_KEEP;
}

/* The call, and the engines that are called later, see a changed argument. */
static void argument_is_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = hook_nr(t, __NR_dup2, ENTRY, read_args, 0);

	hook_nr(t, __NR_dup2, ENTRY, change_arg, 1);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_dup2, 1, 40), 101L);
	KUNIT_EXPECT_EQ(test, p->word[0], 1L);
	KUNIT_EXPECT_EQ(test, p->word[1], 101L);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_close, 101), 0L);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_close, 40),
			(long)-EBADF);
}

static void every_argument_is_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = hook_nr(t, NO_SUCH_NR, ENTRY, read_args, 0);
	unsigned int i;

	for (i = 0; i < 6; i++)
		hook_nr(t, NO_SUCH_NR, ENTRY, change_arg, i);
	KUNIT_EXPECT_EQ(test,
			user_task_syscall(t, NO_SUCH_NR, 1, 2, 3, 4, 5, 6),
			USER_NO_CALL);
	for (i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, p->word[i], 100L + i);
}

static u32 change_nr(struct probe *p, struct probe_call *c)
{
	if (c->event == _UTRACE_EVENT_SYSCALL_ENTRY)
		utrace_syscall_set_nr(c->regs, p->word[0]);
	return UTRACE_RESUME | PROBE_KEEP;
}

static void number_is_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	hook_nr(t, __NR_getppid, ENTRY, change_nr, __NR_getpid);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			(long)task_pid_nr(t->task));
}

/* The number -1 makes the task skip the call. */
static void number_is_taken_away(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	hook_nr(t, __NR_getppid, ENTRY, change_nr, -1);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			USER_NO_CALL);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getpid),
			(long)task_pid_nr(t->task));
}

static u32 set_result(struct probe *p, struct probe_call *c)
{
	syscall_set_return_value(current, c->regs, 0, p->word[0]);
	return UTRACE_RESUME | PROBE_KEEP;
}

static void result_is_changed(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	hook_nr(t, __NR_getppid, EXIT, set_result, 1234);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid), 1234L);
}

/* At the exit the newest engine is called last. */
static void result_is_changed_again(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe_call c;
	struct probe *p;

	hook_nr(t, __NR_getppid, EXIT, set_result, 1234);
	p = hook_nr(t, __NR_getppid, EXIT, set_result, 5678);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid), 5678L);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, c.arg[1], 1234L);
}

static void abort_skips_call(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe_call c;

	p->nr = __NR_dup2;
	p->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
		UTRACE_RESUME | UTRACE_SYSCALL_ABORT;
	probe_set_events(p, ENTRY | EXIT);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_dup2, 1, 40),
			USER_NO_CALL);
	/* An aborted call has an exit like any call. */
	KUNIT_ASSERT_EQ(test, exits(p), 1U);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, c.arg[1], USER_NO_CALL);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_close, 40),
			(long)-EBADF);
}

static u32 abort_with_result(struct probe *p, struct probe_call *c)
{
	syscall_set_return_value(current, c->regs, 0, p->word[0]);
	return UTRACE_RESUME | UTRACE_SYSCALL_ABORT;
}

static void abort_sets_result(struct kunit *test)
{
	struct user_task *t = user_task_start(test);

	hook_nr(t, __NR_getppid, ENTRY, abort_with_result, 77);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid), 77L);
}

static void filter_passes_its_numbers(struct kunit *test)
{
	static const int nrs[] = { __NR_getppid, __NR_getpid };
	static const int other[] = { __NR_gettid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe_call c;

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 2), 0);
	probe_set_events(p, ENTRY | EXIT);
	user_task_syscall(t, __NR_gettid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_EQ(test, c.arg[0], (long)__NR_getpid);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 4U);

	/* Another filter replaces the first one, */
	probe_forget(p);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, other, 1),
			0);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
	user_task_syscall(t, __NR_gettid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);

	/* and without a filter all calls are reported. */
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, NULL, 0),
			0);
	p->nr = __NR_getpid;
	probe_forget(p);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

static void filter_is_per_engine(struct kunit *test)
{
	static const int nrs[] = { __NR_getppid };
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_nr(t, __NR_getpid, ENTRY | EXIT);
	struct probe *q = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(q->engine, nrs, 1), 0);
	probe_set_events(q, ENTRY | EXIT);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
	KUNIT_EXPECT_EQ(test, q->calls, 0U);
}

static void filter_rejects_nonsense(struct kunit *test)
{
	static const int big[] = { __NR_getppid, NO_SUCH_NR };
	static const int negative[] = { -1 };
	static const int big_ia32[] = { NO_SUCH_NR | UTRACE_SYSCALL_IA32 };
	static const int good[] = { __NR_getppid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, good, 1),
			0);
	KUNIT_EXPECT_EQ(test, utrace_set_syscall_filter(p->engine, big, 2),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			utrace_set_syscall_filter(p->engine, negative, 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test,
			utrace_set_syscall_filter(p->engine, big_ia32, 1),
			-EINVAL);
	/* The old filter is still in force. */
	probe_set_events(p, ENTRY);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
	probe_detach(p);
	KUNIT_EXPECT_EQ(test, utrace_set_syscall_filter(p->engine, good, 1),
			-ESRCH);
}

static const long strange_nrs[] = {
	NO_SUCH_NR, 1024, 0x3fffffff, INT_MAX, -1, -2, INT_MIN,
};

/*
 * Only a filter with UTRACE_SYSCALL_NONE accepts numbers that no table has; no
 * number reads beyond the bitmap.
 */
static void filter_of_strange_numbers(struct kunit *test)
{
	static const int without[] = { __NR_getppid };
	static const int with[] = { UTRACE_SYSCALL_NONE };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *q = probe_attach(t, 0, 0);
	unsigned int i;

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, without, 1),
			0);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(q->engine, with, 1),
			0);
	probe_set_events(p, ENTRY | EXIT);
	probe_set_events(q, ENTRY | EXIT);
	for (i = 0; i < ARRAY_SIZE(strange_nrs); i++) {
		long nr = strange_nrs[i];

		KUNIT_EXPECT_EQ_MSG(test, user_task_syscall(t, nr),
				    USER_NO_CALL, "number %ld", nr);
		KUNIT_EXPECT_EQ_MSG(test, p->calls, 0U, "number %ld", nr);
		KUNIT_EXPECT_EQ_MSG(test, q->calls, 2U, "number %ld", nr);
		probe_forget(q);
	}
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
	KUNIT_EXPECT_EQ(test, q->calls, 0U);
}

/* The verdict at the entry applies to the exit, whatever the number is then. */
static void filter_keeps_pairs(struct kunit *test)
{
	static const int nrs[] = { __NR_getppid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 1), 0);
	p->hook = change_nr;
	p->word[0] = __NR_getpid;
	probe_set_events(p, ENTRY | EXIT);
	KUNIT_EXPECT_EQ(test, user_task_syscall(t, __NR_getppid),
			(long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
	/* A call whose entry was not reported has no exit, either. */
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, p->calls, 2U);
}

/* A newer engine changes the number into one that the filter accepts. */
static void filter_sees_changed_number(struct kunit *test)
{
	static const int nrs[] = { __NR_getpid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 1), 0);
	probe_set_events(p, ENTRY | EXIT);
	hook_nr(t, __NR_getppid, ENTRY, change_nr, __NR_getpid);
	user_task_syscall(t, __NR_getppid);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
}

#ifdef CONFIG_IA32_EMULATION
static void filter_of_other_table(struct kunit *test)
{
	static const int native[] = { INT80_GETPID, __NR_getpid };
	static const int ia32[] = { INT80_GETPID | UTRACE_SYSCALL_IA32 };
	static const int others[] = { UTRACE_SYSCALL_NONE };
	struct user_task *t = user_task_start(test);
	struct probe *all = attach_nr(t, INT80_GETPID, ENTRY | EXIT);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *q = probe_attach(t, 0, 0);
	struct probe *r = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, native, 2),
			0);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(q->engine, others, 1),
			0);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(r->engine, ia32, 1), 0);
	probe_set_events(p, ENTRY | EXIT);
	probe_set_events(q, ENTRY | EXIT);
	probe_set_events(r, ENTRY | EXIT);
	user_task_do(t, .op = USER_INT80, .nr = INT80_GETPID);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
	KUNIT_EXPECT_EQ(test, all->calls, 2U);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
	KUNIT_EXPECT_EQ(test, q->calls, 0U);
	KUNIT_EXPECT_EQ(test, r->calls, 2U);
	user_task_do(t, .op = USER_INT80, .nr = NO_SUCH_NR);
	KUNIT_EXPECT_EQ(test, user_task_result(t), USER_NO_CALL);
	KUNIT_EXPECT_EQ(test, q->calls, 2U);
	KUNIT_EXPECT_EQ(test, r->calls, 2U);
}
#endif

#ifdef X32_FLAG
/* The x32 flag does not change the number. */
static void filter_ignores_x32_flag(struct kunit *test)
{
	static const int nrs[] = { __NR_getppid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, nrs, 1), 0);
	probe_set_events(p, ENTRY | EXIT);
	user_task_syscall(t, __NR_getppid | X32_FLAG);
	KUNIT_EXPECT_EQ(test, entries(p), 1U);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
}
#endif

/* Stop at the first report of an entry only. */
static u32 stop_at_first(struct probe *p, struct probe_call *c)
{
	if (c->event == _UTRACE_EVENT_SYSCALL_ENTRY &&
	    !(c->action & UTRACE_SYSCALL_RESUMED))
		return UTRACE_STOP | UTRACE_SYSCALL_RUN;
	return UTRACE_RESUME | PROBE_KEEP;
}

static void resume_by(struct kunit *test, enum utrace_resume_action action,
		      unsigned int want_entries)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = hook_nr(t, __NR_getpid, ENTRY | EXIT | QUIESCE,
				  stop_at_first, 0);
	struct probe_call c;

	user_task_do_syscall(t, __NR_getpid);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SYSCALL_ENTRY, 1));
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	KUNIT_EXPECT_EQ(test, exits(p), 0U);
	KUNIT_EXPECT_EQ(test, probe_control(p, action), 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), (long)task_pid_nr(t->task));
	KUNIT_ASSERT_EQ(test, entries(p), want_entries);
	KUNIT_EXPECT_EQ(test, exits(p), 1U);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_ENTRY, 0);
	KUNIT_EXPECT_FALSE(test, c.action & UTRACE_SYSCALL_RESUMED);
	if (want_entries == 2) {
		c = probe_call(p, _UTRACE_EVENT_SYSCALL_ENTRY, 1);
		KUNIT_EXPECT_TRUE(test, c.action & UTRACE_SYSCALL_RESUMED);
	}
}

static void resumed_entry_is_repeated(struct kunit *test)
{
	resume_by(test, UTRACE_REPORT, 2);
	resume_by(test, UTRACE_INTERRUPT, 2);
	resume_by(test, UTRACE_RESUME, 1);
}

/* A call can be changed by another task while it is stopped at its entry. */
static void abort_after_resume(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = __NR_getpid;
	p->answer[_UTRACE_EVENT_SYSCALL_ENTRY] = UTRACE_STOP;
	probe_set_events(p, ENTRY | QUIESCE);
	user_task_do_syscall(t, __NR_getpid);
	KUNIT_ASSERT_TRUE(test, probe_wait(p, _UTRACE_EVENT_SYSCALL_ENTRY, 1));
	KUNIT_ASSERT_TRUE(test, user_task_wait_stopped(t));
	p->answer[_UTRACE_EVENT_SYSCALL_ENTRY] =
		UTRACE_RESUME | UTRACE_SYSCALL_ABORT;
	KUNIT_EXPECT_EQ(test, probe_control(p, UTRACE_REPORT), 0);
	KUNIT_EXPECT_EQ(test, user_task_result(t), USER_NO_CALL);
}

/* The engine attaches while the task is in read(). */
static void unpaired_exit_is_flagged(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe_call c;
	struct probe *p;

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	p = attach_nr(t, __NR_read, ENTRY | EXIT);
	user_task_syscall(t, __NR_getppid);
	user_task_syscall(t, __NR_getppid);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_TRUE(test, c.action & UTRACE_SYSCALL_UNPAIRED);
	KUNIT_EXPECT_EQ(test, c.arg[1], (long)sizeof(struct user_command));
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 1);
	KUNIT_EXPECT_FALSE(test, c.action & UTRACE_SYSCALL_UNPAIRED);
}

/* Without an entry the filter decides at the exit, which is marked unpaired. */
static void unpaired_exit_is_filtered(struct kunit *test)
{
	static const int with[] = { __NR_read };
	static const int without[] = { __NR_getppid };
	struct user_task *t = user_task_start(test);
	struct probe *p = probe_attach(t, 0, 0);
	struct probe *q = probe_attach(t, 0, 0);
	struct probe_call c;

	KUNIT_ASSERT_TRUE(test, user_task_wait_asleep(t));
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(p->engine, with, 1),
			0);
	KUNIT_ASSERT_EQ(test, utrace_set_syscall_filter(q->engine, without, 1),
			0);
	probe_set_events(p, ENTRY | EXIT);
	probe_set_events(q, ENTRY | EXIT);
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, q->calls, 0U);
	/* The first read() began before the attach; the second is complete. */
	user_task_syscall(t, __NR_getpid);
	KUNIT_EXPECT_EQ(test, exits(p), 2U);
	c = probe_call(p, _UTRACE_EVENT_SYSCALL_EXIT, 0);
	KUNIT_EXPECT_TRUE(test, c.action & UTRACE_SYSCALL_UNPAIRED);
}

static struct kunit_case syscall_report_cases[] = {
	KUNIT_CASE(entry_and_exit_pair),
	KUNIT_CASE(entry_or_exit_alone),
	KUNIT_CASE(every_call_is_reported),
	KUNIT_CASE(arguments_are_read),
	KUNIT_CASE(argument_is_changed),
	KUNIT_CASE(every_argument_is_changed),
	KUNIT_CASE(number_is_changed),
	KUNIT_CASE(number_is_taken_away),
	KUNIT_CASE(result_is_changed),
	KUNIT_CASE(result_is_changed_again),
	KUNIT_CASE(abort_skips_call),
	KUNIT_CASE(abort_sets_result),
	KUNIT_CASE(filter_passes_its_numbers),
	KUNIT_CASE(filter_is_per_engine),
	KUNIT_CASE(filter_rejects_nonsense),
	KUNIT_CASE(filter_of_strange_numbers),
	KUNIT_CASE(filter_keeps_pairs),
	KUNIT_CASE(filter_sees_changed_number),
#ifdef CONFIG_IA32_EMULATION
	KUNIT_CASE(filter_of_other_table),
#endif
#ifdef X32_FLAG
	KUNIT_CASE(filter_ignores_x32_flag),
#endif
	KUNIT_CASE(resumed_entry_is_repeated),
	KUNIT_CASE(abort_after_resume),
	KUNIT_CASE(one_in_the_midst_says_more),
	KUNIT_CASE(filter_of_a_like_number),
	KUNIT_CASE(unpaired_exit_is_flagged),
	KUNIT_CASE(unpaired_exit_is_filtered),
	{}
};

static struct kunit_suite syscall_report_suite = {
	.name = "utrace_syscall_report",
	.test_cases = syscall_report_cases,
};

kunit_test_suite(syscall_report_suite);

MODULE_DESCRIPTION("KUnit suite for reports of system calls");
MODULE_LICENSE("GPL");

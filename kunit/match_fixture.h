/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - engines of system scope with a match
 *
 * The probes here want events of the whole system, and get those of the tasks
 * that their match accepts.  They record calls of getppid() only, which the
 * tasks of the test make for no other purpose.
 */
#ifndef _UTRACE_TESTS_MATCH_FIXTURE_H
#define _UTRACE_TESTS_MATCH_FIXTURE_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/prctl.h>

#include <asm/unistd.h>

#include "../internal.h"
#include "../match.h"
#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)
#define EXIT	UTRACE_EVENT(SYSCALL_EXIT)

static inline void put_match(void *match)
{
	utrace_match_put(match);
}

static inline struct utrace_match *new_match(struct kunit *test)
{
	struct utrace_match *match = utrace_match_new();

	KUNIT_ASSERT_NOT_NULL(test, match);
	KUNIT_ASSERT_EQ(test,
			kunit_add_action_or_reset(test, put_match, match), 0);
	return match;
}

/* Attach a probe that wants @events of all tasks that @match accepts. */
static inline struct probe *attach_events(struct kunit *test,
					  struct utrace_match *match,
					  unsigned long events)
{
	struct probe *p = probe_new(test);

	KUNIT_ASSERT_EQ(test, probe_try_attach_system(p, 0), 0);
	p->nr = __NR_getppid;
	KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, match), 0);
	probe_set_events(p, events);
	return p;
}

static inline struct probe *attach_match(struct kunit *test,
					 struct utrace_match *match)
{
	return attach_events(test, match, ENTRY);
}

/* Create a match that accepts tasks with one name. */
static inline struct utrace_match *new_comm(struct kunit *test, const char *comm)
{
	struct utrace_match *match = new_match(test);

	KUNIT_ASSERT_EQ(test, utrace_match_add_comm(match, comm), 0);
	return match;
}

static inline struct probe *attach_comm(struct kunit *test, const char *comm)
{
	return attach_match(test, new_comm(test, comm));
}

/* Create a match that accepts the tasks for which @choose returns true. */
static inline struct utrace_match *
new_chooser(struct kunit *test,
	    bool (*choose)(struct task_struct *task, void *data), void *data)
{
	struct utrace_match *match = new_match(test);

	utrace_match_chooser(match, choose, data);
	return match;
}

/* Make every task ask the match again at its next event. */
static inline void ask_all_again(struct probe *p)
{
	struct utrace_match *match;

	/* Only the test sets the match, so the pointer is stable. */
	match = rcu_dereference_protected(p->engine->info->match, true);
	KUNIT_ASSERT_EQ(p->test, utrace_set_match(p->engine, match), 0);
}

/* Make the task call getppid(), and check whether the probe gets the call. */
static inline bool hears(struct probe *p, struct user_task *t)
{
	probe_forget(p);
	user_task_syscall(t, __NR_getppid);
	return probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY);
}

static inline void rename_task(struct user_task *t, const char *name)
{
	user_task_poke(t, offsetof(struct user_area, scratch), name,
		       strlen(name) + 1);
	user_task_syscall(t, __NR_prctl, PR_SET_NAME, user_task_scratch(t));
}

/*
 * Expect a bare task that the engines' matches reject, so that its system calls
 * take no slow path.
 */
static inline void expect_nothing(struct user_task *t)
{
	KUNIT_EXPECT_NULL(t->test, t->task->utrace);
	KUNIT_EXPECT_EQ(t->test, t->task->utrace_events, UTRACE_WORD_REJECTED);
	KUNIT_EXPECT_FALSE(t->test,
			   test_task_syscall_work(t->task, SYSCALL_UTRACE));
}

#endif /* _UTRACE_TESTS_MATCH_FIXTURE_H */

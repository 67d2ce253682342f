// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit suite utrace_match: which tasks an engine is told of
 */
#include <kunit/test.h>
#include <linux/cgroup.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/prctl.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "../internal.h"
#include "../match.h"
#include "probe.h"

#define ENTRY	UTRACE_EVENT(SYSCALL_ENTRY)

static void put_match(void *match)
{
	utrace_match_put(match);
}

static struct utrace_match *new_match(struct kunit *test)
{
	struct utrace_match *match = utrace_match_new();

	KUNIT_ASSERT_NOT_NULL(test, match);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_match, match), 0);
	return match;
}

/* A probe on the whole system that is told of tasks that match. */
static struct probe *attach_match(struct kunit *test, struct utrace_match *match)
{
	struct probe *p = probe_new(test);

	KUNIT_ASSERT_EQ(test, probe_try_attach_system(p, 0), 0);
	p->nr = __NR_getppid;
	KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, match), 0);
	probe_set_events(p, ENTRY);
	return p;
}

/* Does the probe hear of a call that the task makes now? */
static bool hears(struct probe *p, struct user_task *t)
{
	probe_forget(p);
	user_task_syscall(t, __NR_getppid);
	return probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY);
}

static void rename_task(struct user_task *t, const char *name)
{
	user_task_poke(t, offsetof(struct user_area, scratch), name,
		       strlen(name) + 1);
	user_task_syscall(t, __NR_prctl, PR_SET_NAME, user_task_scratch(t));
}

static void empty_matches_all(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_match(test, new_match(test));

	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void comm_is_asked_again(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_comm(match, "wanted");
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_task(t, "wanted");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	rename_task(t, "other");
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_task(t, "wanted");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void long_comm_is_cut(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_comm(match, "123456789012345, of which this is cut");
	p = attach_match(test, match);
	rename_task(t, "12345678901234");
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_task(t, "123456789012345 and not this");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void uid_is_asked_again(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_uid(match, KUIDT_INIT(1000));
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_ASSERT_EQ(test, user_task_syscall(t, __NR_setresuid, -1, 1000, -1), 0);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_ASSERT_EQ(test, user_task_syscall(t, __NR_setresuid, -1, 0, -1), 0);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
}

static void exe_is_the_file(struct kunit *test)
{
	struct utrace_match *match = new_match(test), *not = new_match(test);
	struct user_task *t = user_task_start(test);
	struct file *file = get_task_exe_file(t->task);
	struct path root;
	struct probe *p, *q;

	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_ASSERT_EQ(test, kern_path("/", 0, &root), 0);
	utrace_match_add_exe(match, &file->f_path);
	utrace_match_add_exe(not, &root);
	path_put(&root);
	fput(file);
	p = attach_match(test, match);
	q = attach_match(test, not);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_EXPECT_FALSE(test, hears(q, t));
}

static void pid_is_a_process_or_a_thread(struct kunit *test)
{
	struct utrace_match *process = new_match(test), *thread = new_match(test);
	struct user_task *t = user_task_start(test);
	struct user_task *other = user_task_clone(t, USER_THREAD, 1);
	struct user_task *child = user_task_clone(t, USER_FORK, 2);
	struct probe *p, *q;

	utrace_match_add_pid(process, t->pid);
	utrace_match_add_pid(thread, other->pid);
	p = attach_match(test, process);
	q = attach_match(test, thread);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(p, other));
	KUNIT_EXPECT_FALSE(test, hears(p, child));
	KUNIT_EXPECT_FALSE(test, hears(q, t));
	KUNIT_EXPECT_TRUE(test, hears(q, other));
}

/* One of each kind is enough, and one of each is needed. */
static void kinds_are_combined(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_comm(match, "one");
	utrace_match_add_comm(match, "two");
	utrace_match_add_uid(match, KUIDT_INIT(5));
	utrace_match_add_uid(match, KUIDT_INIT(0));
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_task(t, "two");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	rename_task(t, "one");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	user_task_syscall(t, __NR_setresuid, -1, 6, -1);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
}

static void one_is_left_out(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *p;

	utrace_match_leave_out(match, t->pid);
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(p, child));
}

#ifdef CONFIG_CGROUPS
static void root_cgroup_has_all(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	KUNIT_ASSERT_EQ(test, utrace_match_add_cgroup(match, &cgrp_dfl_root.cgrp), 0);
	p = attach_match(test, match);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}
#endif

/* Nothing is kept for it, and no system call takes the slow path. */
static void rejected_has_nothing(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_comm(match, "nobody");
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_NULL(test, t->task->utrace);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events, UTRACE_WORD_REJECTED);
	KUNIT_EXPECT_FALSE(test, test_task_syscall_work(t->task, SYSCALL_UTRACE));
}

static bool choose_one(struct task_struct *task, void *data)
{
	return task == READ_ONCE(*(struct task_struct **)data);
}

static void child_of_rejected_is_asked(struct kunit *test)
{
	static struct task_struct *chosen;
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test), *child;
	struct probe *p;

	chosen = NULL;
	utrace_match_chooser(match, choose_one, &chosen);
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	child = user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_FALSE(test, hears(p, child));

	WRITE_ONCE(chosen, child->task);
	KUNIT_EXPECT_FALSE(test, hears(p, child));
	KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, match), 0);
	KUNIT_EXPECT_TRUE(test, hears(p, child));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	probe_detach(p);
}

/* By another name than its creator's, told to nobody before its first event. */
static void child_is_asked_for_itself(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test), *child;
	struct probe *p = probe_attach(t, UTRACE_ATTACH_TREE, 0);

	p->nr = __NR_getppid;
	utrace_match_add_pid(match, t->pid);
	KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, match), 0);
	probe_set_events(p, ENTRY);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	child = user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_FALSE(test, hears(p, child));
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void others_hear_of_rejected(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p, *q;

	utrace_match_add_comm(match, "nobody");
	p = attach_match(test, match);
	q = probe_attach(t, 0, ENTRY);
	q->nr = __NR_getppid;
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(q, t));
	rename_task(t, "nobody");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(q, t));
}

/* Tasks of which all engines say the same have one set. */
static void verdicts_share_sets(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct user_task *a = user_task_clone(t, USER_FORK, 1);
	struct user_task *b = user_task_clone(t, USER_FORK, 2);
	struct probe *p;

	utrace_match_add_comm(match, "same");
	p = attach_match(test, match);
	rename_task(a, "same");
	rename_task(b, "same");
	KUNIT_EXPECT_TRUE(test, hears(p, a));
	KUNIT_EXPECT_TRUE(test, hears(p, b));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_PTR_EQ(test, a->task->utrace_set, b->task->utrace_set);
}

static void match_can_be_taken_away(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct user_task *t = user_task_start(test);
	struct probe *p;

	utrace_match_add_comm(match, "nobody");
	p = attach_match(test, match);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_ASSERT_EQ(test, utrace_set_match(p->engine, NULL), 0);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	probe_detach(p);
}

static void match_has_a_limit(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	unsigned int i;

	for (i = 0; i < UTRACE_MATCH_MAX; i++)
		KUNIT_ASSERT_EQ(test, utrace_match_add_comm(match, "x"), 0);
	KUNIT_EXPECT_EQ(test, utrace_match_add_comm(match, "x"), -ENOSPC);
}

static void detached_takes_no_match(struct kunit *test)
{
	struct utrace_match *match = new_match(test);
	struct probe *p = attach_match(test, NULL);

	probe_detach(p);
	KUNIT_EXPECT_EQ(test, utrace_set_match(p->engine, match), -ESRCH);
}

static struct kunit_case match_cases[] = {
	KUNIT_CASE(empty_matches_all),
	KUNIT_CASE(comm_is_asked_again),
	KUNIT_CASE(long_comm_is_cut),
	KUNIT_CASE(uid_is_asked_again),
	KUNIT_CASE(exe_is_the_file),
	KUNIT_CASE(pid_is_a_process_or_a_thread),
	KUNIT_CASE(kinds_are_combined),
	KUNIT_CASE(one_is_left_out),
#ifdef CONFIG_CGROUPS
	KUNIT_CASE(root_cgroup_has_all),
#endif
	KUNIT_CASE(rejected_has_nothing),
	KUNIT_CASE(child_of_rejected_is_asked),
	KUNIT_CASE(child_is_asked_for_itself),
	KUNIT_CASE(others_hear_of_rejected),
	KUNIT_CASE(verdicts_share_sets),
	KUNIT_CASE(match_can_be_taken_away),
	KUNIT_CASE(match_has_a_limit),
	KUNIT_CASE(detached_takes_no_match),
	{}
};

static struct kunit_suite match_suite = {
	.name = "utrace_match",
	.test_cases = match_cases,
};

kunit_test_suite(match_suite);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("KUnit suite utrace_match");

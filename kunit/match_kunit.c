// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_match: which tasks report to an engine
 *
 * Engines of system scope, and of other scopes, with matches of all kinds.
 */
#include <kunit/test.h>
#include <linux/cgroup.h>
#include <linux/delay.h>
#include <linux/file.h>
#include <linux/jiffies.h>
#include <linux/jump_label.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/sched/task.h>

#include <asm/unistd.h>

#include "match_fixture.h"

static void empty_matches_all(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_match(test, new_match(test));

	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void comm_is_asked_again(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "wanted");

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
	struct user_task *t = user_task_start(test);
	struct probe *p;

	p = attach_comm(test, "123456789012345, of which this is cut");
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
	KUNIT_ASSERT_EQ(test,
			user_task_syscall(t, __NR_setresuid, -1, 1000, -1), 0);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_ASSERT_EQ(test,
			user_task_syscall(t, __NR_setresuid, -1, 0, -1), 0);
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

/* For each kind in the match, one item must fit. */
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

	KUNIT_ASSERT_EQ(test,
			utrace_match_add_cgroup(match, &cgrp_dfl_root.cgrp), 0);
	p = attach_match(test, match);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}
#endif

static void rejected_has_nothing(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "nobody");

	KUNIT_EXPECT_FALSE(test, hears(p, t));
	expect_nothing(t);
}

static bool choose_one(struct task_struct *task, void *data)
{
	return task == READ_ONCE(*(struct task_struct **)data);
}

/* Attach a probe to which only the task @chosen reports; NULL: no task. */
static struct probe *attach_chosen(struct kunit *test,
				   struct task_struct **chosen)
{
	*chosen = NULL;
	return attach_match(test, new_chooser(test, choose_one, chosen));
}

/*
 * A rejected task stays bare; a new match makes the task ask its matches again.
 */
static void rejected_is_asked_again(struct kunit *test)
{
	static struct task_struct *chosen;
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_chosen(test, &chosen), *q;

	KUNIT_EXPECT_FALSE(test, hears(p, t));
	ask_all_again(p);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	expect_nothing(t);
	WRITE_ONCE(chosen, t->task);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	ask_all_again(p);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	WRITE_ONCE(chosen, NULL);
	ask_all_again(p);
	KUNIT_EXPECT_FALSE(test, hears(p, t));

	/*
	 * One engine more, whose match rejects the task, and one whose match
	 * does not.
	 */
	t = user_task_start(test);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	q = attach_comm(test, "nobody");
	KUNIT_EXPECT_FALSE(test, hears(q, t));
	expect_nothing(t);
	q = attach_match(test, new_match(test));
	KUNIT_EXPECT_TRUE(test, hears(q, t));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	probe_detach(p);
}

/* A set that is built for another engine does not change the verdict. */
static void rejected_stays_so_in_a_set(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "wanted"), *q;

	KUNIT_EXPECT_FALSE(test, hears(p, t));
	expect_nothing(t);
	q = probe_attach(t, 0, UTRACE_EVENT(EXEC));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_NOT_NULL(test, t->task->utrace_set);
	KUNIT_EXPECT_EQ(test, t->task->utrace_events &
			(UTRACE_EVENT_SYSCALL | UTRACE_WORD_REJECTED), 0UL);
	KUNIT_EXPECT_FALSE(test,
			   test_task_syscall_work(t->task, SYSCALL_UTRACE));
	probe_detach(q);
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	rename_task(t, "wanted");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
}

static void child_of_rejected_is_asked(struct kunit *test)
{
	static struct task_struct *chosen;
	struct user_task *t = user_task_start(test), *child;
	struct probe *p = attach_chosen(test, &chosen);

	KUNIT_EXPECT_FALSE(test, hears(p, t));
	child = user_task_clone(t, USER_FORK, 1);
	KUNIT_EXPECT_FALSE(test, hears(p, child));

	WRITE_ONCE(chosen, child->task);
	KUNIT_EXPECT_FALSE(test, hears(p, child));
	ask_all_again(p);
	KUNIT_EXPECT_TRUE(test, hears(p, child));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	probe_detach(p);
}

/*
 * A child gets another name than its creator.  Its own name decides at its
 * first event.
 */
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
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "nobody"), *q;

	q = probe_attach(t, 0, ENTRY);
	q->nr = __NR_getppid;
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(q, t));
	rename_task(t, "nobody");
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_EXPECT_TRUE(test, hears(q, t));
}

/* Check the numbers of entries and exits, and whether an exit is unpaired. */
static void expect_told(struct probe *p, unsigned int entries,
			unsigned int exits, bool unpaired)
{
	struct probe_call c;

	KUNIT_EXPECT_EQ(p->test, probe_count(p, _UTRACE_EVENT_SYSCALL_ENTRY),
			entries);
	KUNIT_EXPECT_EQ(p->test, probe_count(p, _UTRACE_EVENT_SYSCALL_EXIT),
			exits);
	if (probe_find(p, _UTRACE_EVENT_SYSCALL_EXIT, 0, &c))
		KUNIT_EXPECT_EQ(p->test, !!(c.action & UTRACE_SYSCALL_UNPAIRED),
				unpaired);
	probe_forget(p);
}

/*
 * No call is reported to a muted engine until its match accepts the task again.
 */
static void muted_hears_nothing(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_events(test, new_comm(test, "wanted"),
					ENTRY | EXIT);
	struct probe *q = probe_attach(t, 0, ENTRY | EXIT);
	unsigned int i;

	p->nr = __NR_prctl;
	q->nr = __NR_prctl;
	for (i = 0; i < 3; i++) {
		rename_task(t, "wanted");
		expect_told(p, 0, 1, true);
		rename_task(t, "wanted");
		expect_told(p, 1, 1, false);
		rename_task(t, "other");
		expect_told(p, 1, 0, false);
		rename_task(t, "other");
		expect_told(p, 0, 0, false);
		expect_told(q, 4, 4, false);
	}
}

/*
 * An execve() changes the name after its entry was reported, so its exit is not
 * reported.  The next exit that is reported must not be paired with that entry.
 */
static void no_pair_over_a_mute(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_events(test, new_comm(test, "wanted"),
					ENTRY | EXIT | UTRACE_EVENT(EXEC));

	rename_task(t, "wanted");
	p->nr = __NR_execve;
	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_EXEC), 0U);
	expect_told(p, 1, 0, false);
	p->nr = __NR_prctl;
	rename_task(t, "wanted");
	expect_told(p, 0, 1, true);
	rename_task(t, "wanted");
	expect_told(p, 1, 1, false);
}

static void reap_child(struct user_task *t, struct user_task *child)
{
	long pid = task_pid_nr(child->task);

	KUNIT_ASSERT_EQ(t->test, user_task_syscall(t, __NR_wait4, pid, 0, 0, 0),
			pid);
}

/* Two tasks end; only the one that matches must report to the probe. */
static void expect_mourned(struct kunit *test, unsigned long events)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child[] = {
		user_task_clone(t, USER_FORK, 1),
		user_task_clone(t, USER_FORK, 2),
	};
	struct probe *p = attach_events(test, new_comm(test, "mourned"), events);
	struct probe_call c;
	unsigned int i;

	rename_task(child[1], "mourned");
	for (i = 0; i < ARRAY_SIZE(child); i++) {
		user_task_do_syscall(child[i], __NR_exit_group, 0);
		reap_child(t, child[i]);
	}
	KUNIT_EXPECT_NULL(test, child[0]->task->utrace);
	KUNIT_EXPECT_EQ(test, p->calls, (unsigned int)hweight_long(events));
	if (events & UTRACE_EVENT(DEATH)) {
		c = probe_call(p, _UTRACE_EVENT_DEATH, 0);
		KUNIT_EXPECT_PTR_EQ(test, c.task, child[1]->task);
	}
	if (events & UTRACE_EVENT(REAP)) {
		c = probe_call(p, _UTRACE_EVENT_REAP, 0);
		KUNIT_EXPECT_EQ(test, c.arg[0], (long)child[1]->task);
	}
}

/* The match is asked while the task lives, before DEATH or REAP is wanted. */
static void death_of_those_that_match(struct kunit *test)
{
	expect_mourned(test, UTRACE_EVENT(DEATH));
}

static void reaping_of_those_that_match(struct kunit *test)
{
	expect_mourned(test, UTRACE_EVENT(REAP));
}

static void end_of_those_that_match(struct kunit *test)
{
	expect_mourned(test, UTRACE_EVENT(DEATH) | UTRACE_EVENT(REAP));
}

/* A zombie can no longer be asked, so its last verdict stays. */
static void rejected_zombie_stays_so(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *child = user_task_clone(t, USER_FORK, 1);
	struct probe *p = attach_events(test, new_comm(test, "nobody"),
					UTRACE_EVENT(REAP));
	struct probe *q;

	user_task_do_syscall(child, __NR_exit_group, 0);
	KUNIT_ASSERT_TRUE(test, user_task_wait_dead(child));
	q = probe_attach(child, 0, UTRACE_EVENT(REAP));
	reap_child(t, child);
	KUNIT_EXPECT_EQ(test, q->calls, 1U);
	KUNIT_EXPECT_EQ(test, p->calls, 0U);
}

/* A thread other than the leader calls execve(), and becomes the process. */
static void exec_by_thread_is_asked_again(struct kunit *test)
{
	struct utrace_match *process = new_match(test), *thread = new_match(test);
	struct user_task *t = user_task_start(test);
	struct user_task *other = user_task_clone(t, USER_THREAD, 1);
	struct probe *p, *q;

	utrace_match_add_pid(process, t->pid);
	utrace_match_add_pid(thread, other->pid);
	p = attach_events(test, process, ENTRY | UTRACE_EVENT(EXEC));
	q = attach_events(test, thread, ENTRY | UTRACE_EVENT(EXEC));
	KUNIT_EXPECT_TRUE(test, hears(p, other));
	KUNIT_EXPECT_TRUE(test, hears(q, other));
	probe_forget(p);
	probe_forget(q);
	user_task_do(other, .op = USER_EXEC);
	user_task_hello(t);
	KUNIT_EXPECT_EQ(test, probe_count(p, _UTRACE_EVENT_EXEC), 1U);
	KUNIT_EXPECT_EQ(test, probe_count(q, _UTRACE_EVENT_EXEC), 0U);
	KUNIT_EXPECT_TRUE(test, hears(p, t));
	KUNIT_EXPECT_EQ(test, p->calls, 1U);
	KUNIT_EXPECT_FALSE(test, hears(q, t));
}

/* Tasks with the same engines share one set, whatever the verdicts are. */
static void verdicts_share_sets(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct user_task *a = user_task_clone(t, USER_FORK, 1);
	struct user_task *b = user_task_clone(t, USER_FORK, 2);
	struct probe *p = attach_comm(test, "same");

	rename_task(a, "same");
	rename_task(b, "same");
	KUNIT_EXPECT_TRUE(test, hears(p, a));
	KUNIT_EXPECT_TRUE(test, hears(p, b));
	KUNIT_EXPECT_FALSE(test, hears(p, t));
	KUNIT_EXPECT_PTR_EQ(test, a->task->utrace_set, b->task->utrace_set);
}

static void match_can_be_taken_away(struct kunit *test)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = attach_comm(test, "nobody");

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

/* A work item frees the match, and those of earlier tests. */
static void hooks_end_with_matches(struct kunit *test)
{
	unsigned long end = jiffies + USER_DEADLINE;
	struct utrace_match *match = utrace_match_new();

	KUNIT_ASSERT_NOT_NULL(test, match);
	KUNIT_EXPECT_TRUE(test, static_key_enabled(&utrace_matching));
	utrace_match_put(match);
	while (static_key_enabled(&utrace_matching) && time_before(jiffies, end))
		msleep(20);
	KUNIT_EXPECT_FALSE(test, static_key_enabled(&utrace_matching));
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
	KUNIT_CASE(rejected_is_asked_again),
	KUNIT_CASE(rejected_stays_so_in_a_set),
	KUNIT_CASE(child_of_rejected_is_asked),
	KUNIT_CASE(child_is_asked_for_itself),
	KUNIT_CASE(others_hear_of_rejected),
	KUNIT_CASE(muted_hears_nothing),
	KUNIT_CASE(no_pair_over_a_mute),
	KUNIT_CASE(death_of_those_that_match),
	KUNIT_CASE(reaping_of_those_that_match),
	KUNIT_CASE(end_of_those_that_match),
	KUNIT_CASE(rejected_zombie_stays_so),
	KUNIT_CASE(exec_by_thread_is_asked_again),
	KUNIT_CASE(verdicts_share_sets),
	KUNIT_CASE(match_can_be_taken_away),
	KUNIT_CASE(match_has_a_limit),
	KUNIT_CASE(hooks_end_with_matches),
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

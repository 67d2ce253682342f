// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - matches: the client chooses tasks of an engine's scope
 *
 * A match has items of one or more kinds: pids, programs, names of tasks,
 * users, cgroups.  A task matches if, for each of these kinds, it fits at least
 * one item.  A match that an engine uses never changes; a client replaces it.
 *
 * A task evaluates the matches of its engines when it renews its set (renew.c),
 * without a lock, and keeps the verdicts in utrace::muted.  A bare task, which
 * has no struct utrace, has UTRACE_WORD_REJECTED in its event word if all
 * system engines reject it.  An exec and a change of the name, of the effective
 * user or of the cgroup may change a verdict.  While there is a match, hooks
 * report these changes, and the task evaluates its matches again at its next
 * event.  A change of the executable by prctl(PR_SET_MM) is not reported.
 *
 * There is no hook for an exec: begin_new_exec() sets the name even if it stays
 * the same.  It does so when the task has its new executable, and its new pid
 * if a thread calls execve(), and before it commits the credentials.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/export.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "engine.h"
#include "match.h"
#include "task.h"

enum utrace_match_kind {
	UTRACE_MATCH_PID,
	UTRACE_MATCH_EXE,
	UTRACE_MATCH_COMM,
	UTRACE_MATCH_UID,
	UTRACE_MATCH_CGROUP,
	UTRACE_MATCH_NKINDS
};

/* What a task is compared with.  Has a reference to the object it points to. */
struct utrace_match_item {
	enum utrace_match_kind kind;
	union {
		struct pid *pid;
		struct path exe;
		char comm[TASK_COMM_LEN];
		kuid_t uid;
		struct cgroup *cgroup;
	};
};

/**
 * struct utrace_match - a match
 * @ref: references: one of the client that created the match, one for each
 *	engine that uses it, and short-lived ones (utrace_match_of())
 * @kinds: bitmap of the kinds (enum utrace_match_kind) of all elements of @item
 * @nitems: number of elements of @item
 * @item: what a task is compared with
 * @left_out: a process that does not match, counted; or NULL
 * @choose: predicate of the client for a task that is not left out, or NULL
 * @data: second argument of @choose, valid while an engine with the match is
 *	not released
 * @free: frees the match in a work item, after a grace period
 *
 * Immutable once an engine uses it, except for @ref.
 */
struct utrace_match {
	refcount_t ref;
	unsigned int kinds;
	unsigned int nitems;
	struct utrace_match_item *item;
	struct pid *left_out;
	bool (*choose)(struct task_struct *task, void *data);
	void *data;
	struct rcu_work free;
};

/* Changes of verdicts */

/* Enables the hooks; counts the matches. */
DEFINE_STATIC_KEY_FALSE(utrace_matching);

/**
 * __utrace_verdict_changed() - make a task evaluate its matches again
 * @task: current, or a visible task that the caller keeps from being freed
 *
 * The task does so at its next event.  commit_creds() calls this before the
 * effective user may change; only the task itself changes its credentials, and
 * it reports no event between this call and the change.  All other callers call
 * this after the change, so an evaluation that begins later sees the new value.
 *
 * Context: Process context, where a spinlock_t may be taken.  Takes
 * utrace->lock.
 */
void __utrace_verdict_changed(struct task_struct *task)
{
	struct utrace *u;

	if (utrace_refresh_bare(task))
		return;
	u = task->utrace;
	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return;
	/*
	 * Set the word even if no engine of the set has a match: the task may
	 * be building another set, with a match that was evaluated before
	 * this change.
	 */
	utrace_set_word(task, utrace_word_now(task, u));
}

/**
 * __utrace_cgroup_changed() - make tasks evaluate their matches again
 * @leader: a task that has another cgroup now
 * @threadgroup: the other threads of its process have that cgroup, too
 *
 * Context: Process context, under cgroup_mutex.  Takes utrace->lock.
 */
void __utrace_cgroup_changed(struct task_struct *leader, bool threadgroup)
{
	struct task_struct *task;

	guard(rcu)();
	if (!threadgroup)
		__utrace_verdict_changed(leader);
	else
		for_each_thread(leader, task)
			__utrace_verdict_changed(task);
}

/* Verdicts */

#ifdef CONFIG_CGROUPS
static bool utrace_is_in_cgroup(struct cgroup *cgroup)
{
	guard(rcu)();
	return cgroup_is_descendant(task_dfl_cgroup(current), cgroup);
}

static void utrace_put_cgroup(struct cgroup *cgroup)
{
	cgroup_put(cgroup);
}
#else
static bool utrace_is_in_cgroup(struct cgroup *cgroup)
{
	return false;
}

static void utrace_put_cgroup(struct cgroup *cgroup)
{
}
#endif

static bool utrace_is_exe(const struct path *exe)
{
	struct file *file;
	bool same;

	if (!current->mm)
		return false;
	file = get_mm_exe_file(current->mm);
	if (!file)
		return false;
	same = file_inode(file) == d_inode(exe->dentry);
	fput(file);
	return same;
}

static bool utrace_is_item(const struct utrace_match_item *item)
{
	char comm[TASK_COMM_LEN];

	switch (item->kind) {
	case UTRACE_MATCH_PID:
		return task_pid(current) == item->pid ||
		       task_tgid(current) == item->pid;
	case UTRACE_MATCH_EXE:
		return utrace_is_exe(&item->exe);
	case UTRACE_MATCH_COMM:
		get_task_comm(comm, current);
		return !strcmp(comm, item->comm);
	case UTRACE_MATCH_UID:
		return uid_eq(current_euid(), item->uid);
	case UTRACE_MATCH_CGROUP:
		return utrace_is_in_cgroup(item->cgroup);
	case UTRACE_MATCH_NKINDS:
		break;
	}
	return false;
}

/*
 * Check whether the current task matches.  Every task matches a match without
 * items.
 */
static bool utrace_match_current(const struct utrace_match *match)
{
	unsigned int i, found = 0;

	if (match->left_out && task_tgid(current) == match->left_out)
		return false;
	if (match->choose && !match->choose(current, match->data))
		return false;
	for (i = 0; i < match->nitems && found != match->kinds; i++) {
		const struct utrace_match_item *item = &match->item[i];

		if (!(found & BIT(item->kind)) && utrace_is_item(item))
			found |= BIT(item->kind);
	}
	return found == match->kinds;
}

/* Get a reference to the match of an engine.  NULL if it has none. */
static struct utrace_match *utrace_match_of(struct utrace_engine *engine)
{
	struct utrace_match *match;

	guard(rcu)();
	match = rcu_dereference(engine->info->match);
	return match && refcount_inc_not_zero(&match->ref) ? match : NULL;
}

/**
 * utrace_rejects() - check whether an engine rejects the current task
 * @engine: the engine; the caller has a reference to its memory
 *
 * Takes one of the core's references, so that the engine is not released while
 * utrace_match::choose uses the client's data.
 *
 * Context: The task itself, without locks.  May take task_lock().
 * Return:
 * * true - the match of @engine rejects the task, or the core has no reference
 *   to @engine left
 * * false - @engine has no match, or the task matches
 */
bool utrace_rejects(struct utrace_engine *engine)
{
	struct utrace_match *match;
	bool rejects;

	if (!utrace_core_tryget(engine))
		return true;
	match = utrace_match_of(engine);
	rejects = match && !utrace_match_current(match);
	utrace_match_put(match);
	utrace_core_put(engine);
	return rejects;
}

/* Creation of a match */

static void utrace_match_free(struct work_struct *work)
{
	struct utrace_match *match = container_of(to_rcu_work(work),
						  struct utrace_match, free);
	unsigned int i;

	static_branch_dec(&utrace_matching);
	for (i = 0; i < match->nitems; i++) {
		struct utrace_match_item *item = &match->item[i];

		if (item->kind == UTRACE_MATCH_PID)
			put_pid(item->pid);
		else if (item->kind == UTRACE_MATCH_EXE)
			path_put(&item->exe);
		else if (item->kind == UTRACE_MATCH_CGROUP)
			utrace_put_cgroup(item->cgroup);
	}
	put_pid(match->left_out);
	kfree(match->item);
	kfree(match);
}

/**
 * utrace_match_new() - create a match that every task matches
 *
 * Enables the hooks for changes of verdicts until the match is freed.
 *
 * Context: May sleep.  Takes cpus_read_lock() and the mutex of jump labels.
 * Return:
 * * the match, with a reference for the caller
 * * NULL - no memory
 */
struct utrace_match *utrace_match_new(void)
{
	struct utrace_match *match = kzalloc(sizeof(*match), GFP_KERNEL_ACCOUNT);

	if (!match)
		return NULL;
	static_branch_inc(&utrace_matching);
	refcount_set(&match->ref, 1);
	INIT_RCU_WORK(&match->free, utrace_match_free);
	return match;
}

/**
 * utrace_match_get() - take a reference
 * @match: the match, or NULL; the caller keeps it by another reference
 *
 * Context: Any.
 * Return: @match.
 */
struct utrace_match *utrace_match_get(struct utrace_match *match)
{
	if (match)
		refcount_inc(&match->ref);
	return match;
}

/**
 * utrace_match_put() - drop a reference
 * @match: the match, or NULL
 *
 * A work item frees the match later, and drops the references of its items.
 *
 * Context: Any but NMI.
 */
void utrace_match_put(struct utrace_match *match)
{
	if (match && refcount_dec_and_test(&match->ref))
		queue_rcu_work(system_unbound_wq, &match->free);
}

/*
 * Add an item, which the caller fills in.  Returns -ENOSPC or -ENOMEM as an
 * error pointer.
 */
static struct utrace_match_item *utrace_match_add(struct utrace_match *match,
						  enum utrace_match_kind kind)
{
	struct utrace_match_item *item;

	if (match->nitems == UTRACE_MATCH_MAX)
		return ERR_PTR(-ENOSPC);
	item = krealloc_array(match->item, match->nitems + 1, sizeof(*item),
			      GFP_KERNEL_ACCOUNT);
	if (!item)
		return ERR_PTR(-ENOMEM);
	match->item = item;
	match->kinds |= BIT(kind);
	item += match->nitems++;
	item->kind = kind;
	return item;
}

/**
 * utrace_match_add_pid() - accept a process or a thread
 * @match: a match that no engine has yet
 * @pid: the struct pid of a process, or of a thread other than a leader; the
 *	match takes a reference.  Children do not match; tree scope is for them
 *
 * Context: May sleep.
 * Return:
 * * 0 - done
 * * -ENOSPC - the match has %UTRACE_MATCH_MAX items
 * * -ENOMEM - no memory
 */
int utrace_match_add_pid(struct utrace_match *match, struct pid *pid)
{
	struct utrace_match_item *item = utrace_match_add(match, UTRACE_MATCH_PID);

	if (IS_ERR(item))
		return PTR_ERR(item);
	item->pid = get_pid(pid);
	return 0;
}

/**
 * utrace_match_add_exe() - accept tasks that run a program
 * @match: a match that no engine has yet
 * @path: the executable, compared by inode and not by name.  The match takes a
 *	reference, which keeps the file system busy
 *
 * Context: May sleep.
 * Return:
 * * 0 - done
 * * -ENOSPC - the match has %UTRACE_MATCH_MAX items
 * * -ENOMEM - no memory
 */
int utrace_match_add_exe(struct utrace_match *match, const struct path *path)
{
	struct utrace_match_item *item = utrace_match_add(match, UTRACE_MATCH_EXE);

	if (IS_ERR(item))
		return PTR_ERR(item);
	item->exe = *path;
	path_get(path);
	return 0;
}

/**
 * utrace_match_add_comm() - accept tasks that have a name
 * @match: a match that no engine has yet
 * @comm: the name; only its first 15 bytes count, as for a task
 *
 * Context: May sleep.
 * Return:
 * * 0 - done
 * * -ENOSPC - the match has %UTRACE_MATCH_MAX items
 * * -ENOMEM - no memory
 */
int utrace_match_add_comm(struct utrace_match *match, const char *comm)
{
	struct utrace_match_item *item = utrace_match_add(match, UTRACE_MATCH_COMM);

	if (IS_ERR(item))
		return PTR_ERR(item);
	strscpy(item->comm, comm);
	return 0;
}

/**
 * utrace_match_add_uid() - accept tasks that act as a user
 * @match: a match that no engine has yet
 * @uid: the user, compared with the effective uid
 *
 * Context: May sleep.
 * Return:
 * * 0 - done
 * * -ENOSPC - the match has %UTRACE_MATCH_MAX items
 * * -ENOMEM - no memory
 */
int utrace_match_add_uid(struct utrace_match *match, kuid_t uid)
{
	struct utrace_match_item *item = utrace_match_add(match, UTRACE_MATCH_UID);

	if (IS_ERR(item))
		return PTR_ERR(item);
	item->uid = uid;
	return 0;
}

#ifdef CONFIG_CGROUPS
/**
 * utrace_match_add_cgroup() - accept the tasks of a cgroup and of the cgroups
 *	below it
 * @match: a match that no engine has yet
 * @cgroup: a cgroup of the default hierarchy (version 2); the match takes a
 *	reference
 *
 * Context: May sleep.
 * Return:
 * * 0 - done
 * * -EINVAL - @cgroup is of another hierarchy
 * * -ENOSPC - the match has %UTRACE_MATCH_MAX items
 * * -ENOMEM - no memory
 */
int utrace_match_add_cgroup(struct utrace_match *match, struct cgroup *cgroup)
{
	struct utrace_match_item *item;

	if (cgroup->root != &cgrp_dfl_root)
		return -EINVAL;
	item = utrace_match_add(match, UTRACE_MATCH_CGROUP);
	if (IS_ERR(item))
		return PTR_ERR(item);
	cgroup_get(cgroup);
	item->cgroup = cgroup;
	return 0;
}
#endif

/**
 * utrace_match_leave_out() - exclude a process, whatever the items are
 * @match: a match that no engine has yet
 * @tgid: the struct pid of the process, for example the client's own; the match
 *	takes a reference.  Replaces a process that was excluded before
 *
 * Context: Any.
 */
void utrace_match_leave_out(struct utrace_match *match, struct pid *tgid)
{
	put_pid(match->left_out);
	match->left_out = get_pid(tgid);
}

/**
 * utrace_match_chooser() - set a predicate of the client
 * @match: a match that no engine has yet
 * @choose: called with the current task and @data; true if the task may match.
 *	Must not sleep.  If its answer changes, the client calls
 *	utrace_set_match() with the same match again
 * @data: kept by the client until the engine with the match is released
 *
 * Context: Any.
 */
void utrace_match_chooser(struct utrace_match *match,
			  bool (*choose)(struct task_struct *task, void *data),
			  void *data)
{
	match->choose = choose;
	match->data = data;
}

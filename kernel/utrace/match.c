// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which tasks a client wants, by what they are
 *
 * A task matches if it is one of the things of each kind that the match names:
 * (this executable or that one) and (this user or that one).  Once it belongs
 * to an engine a match never changes; a client makes another one instead.
 *
 * The verdict is kept with the task (utrace::muted), or in its word if it has no
 * struct utrace (UTRACE_WORD_REJECTED), and asked again at the next event after
 * something changed that it depends on: an exec, the name, the user, the cgroup.
 * It is asked under no lock, possibly twice, and has no effect.  Probes
 * and a hook tell of these, as long as there is a match.  Nothing tells of a
 * program that gives itself another executable by prctl(PR_SET_MM).
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

#ifdef CONFIG_CGROUPS
#include <trace/events/cgroup.h>
#endif
#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "internal.h"
#include "match.h"

enum utrace_match_kind {
	UTRACE_MATCH_PID,
	UTRACE_MATCH_EXE,
	UTRACE_MATCH_COMM,
	UTRACE_MATCH_UID,
	UTRACE_MATCH_CGROUP,
	UTRACE_MATCH_NKINDS
};

/* One thing that a task may be.  What is pointed to is counted. */
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
 * @ref: one for who made it, one for each engine that has it
 * @kinds: kinds of which there is an item
 * @nitems: elements of @item
 * @item: what a task may be
 * @left_out: a process that is not matched, counted; or NULL
 * @choose: asked too if set, with @data
 * @data: for @choose
 * @armed: the probes are there on its behalf
 * @free: the end, where it is allowed to sleep, when nobody can ask any more
 */
struct utrace_match {
	refcount_t ref;
	unsigned int kinds;
	unsigned int nitems;
	struct utrace_match_item *item;
	struct pid *left_out;
	bool (*choose)(struct task_struct *task, void *data);
	void *data;
	bool armed;
	struct rcu_work free;
};

/* What changes a verdict. */

DEFINE_STATIC_KEY_FALSE(utrace_matching);

/*
 * A verdict may be another one now.  In any context but NMI, without
 * utrace->lock; @task is current or known not to be freed.
 */
static void utrace_ask_again(struct task_struct *task)
{
	struct utrace *u;

	if (utrace_refresh_bare(task))
		return;
	u = task->utrace;
	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return;
	/* Also where nothing is asked yet: the next set may be in the making. */
	utrace_set_word(task, utrace_word_now(task, u));
}

static void utrace_exec_probe(void *data, struct task_struct *task,
			      pid_t old_pid, struct linux_binprm *bprm)
{
	utrace_ask_again(task);
}

/* Under task_lock(), which has to be had to read the name. */
static void utrace_rename_probe(void *data, struct task_struct *task,
				const char *comm)
{
	utrace_ask_again(task);
}

#ifdef CONFIG_CGROUPS
static void utrace_cgroup_probe(void *data, struct cgroup *cgroup,
				const char *path, struct task_struct *leader,
				bool threadgroup)
{
	struct task_struct *task;

	guard(rcu)();
	if (!threadgroup)
		utrace_ask_again(leader);
	else
		for_each_thread(leader, task)
			utrace_ask_again(task);
}

static int utrace_probe_cgroups(void)
{
	return register_trace_cgroup_attach_task(utrace_cgroup_probe, NULL);
}

static void utrace_unprobe_cgroups(void)
{
	unregister_trace_cgroup_attach_task(utrace_cgroup_probe, NULL);
}

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
static int utrace_probe_cgroups(void)
{
	return 0;
}

static void utrace_unprobe_cgroups(void)
{
}

static bool utrace_is_in_cgroup(struct cgroup *cgroup)
{
	return false;
}

static void utrace_put_cgroup(struct cgroup *cgroup)
{
}
#endif

/* The user that current acts as is another one. */
void __utrace_user_changed(void)
{
	utrace_ask_again(current);
}

/*
 * Whether the probes are there.  Outside the mutexes of tracepoints and jump
 * labels, inside utrace_ftrace_mutex; with none of the core held.
 */
static DEFINE_MUTEX(utrace_probe_mutex);
static unsigned int utrace_probe_users;

static int utrace_probe(void)
{
	int ret;

	lockdep_assert_held(&utrace_probe_mutex);
	if (utrace_probe_users++)
		return 0;
	ret = register_trace_sched_process_exec(utrace_exec_probe, NULL);
	if (ret)
		goto no_exec;
	ret = register_trace_task_rename(utrace_rename_probe, NULL);
	if (ret)
		goto no_rename;
	ret = utrace_probe_cgroups();
	if (ret)
		goto no_cgroup;
	static_branch_inc(&utrace_matching);
	return 0;

no_cgroup:
	unregister_trace_task_rename(utrace_rename_probe, NULL);
no_rename:
	unregister_trace_sched_process_exec(utrace_exec_probe, NULL);
no_exec:
	utrace_probe_users--;
	return ret;
}

/* Once for each match; 0 or -ENOMEM. */
static int utrace_arm(struct utrace_match *match)
{
	int ret = 0;

	guard(mutex)(&utrace_probe_mutex);
	if (!match->armed)
		ret = utrace_probe();
	match->armed |= !ret;
	return ret;
}

static void utrace_unprobe(void)
{
	guard(mutex)(&utrace_probe_mutex);
	if (--utrace_probe_users)
		return;
	static_branch_dec(&utrace_matching);
	utrace_unprobe_cgroups();
	unregister_trace_task_rename(utrace_rename_probe, NULL);
	unregister_trace_sched_process_exec(utrace_exec_probe, NULL);
}

/* The verdict. */

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

/* Does the current task match?  It does a match with nothing in it. */
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

/* The match of an engine, counted, unless there is none. */
static struct utrace_match *utrace_match_of(struct utrace_engine *engine)
{
	struct utrace_match *match;

	guard(rcu)();
	match = rcu_dereference(engine->info->match);
	return match && refcount_inc_not_zero(&match->ref) ? match : NULL;
}

/**
 * utrace_rejects - does an engine reject the current task?
 * @engine: an engine to whose memory the caller has a reference
 *
 * The engine does not come to its end while it is asked, so that what the client
 * chooses by is there.
 *
 * Context: The task itself, may take task_lock().
 * Return: true if so; true too for an engine that is at its end.
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

/**
 * utrace_is_told - does an engine hear of a task?
 * @engine: the engine; the caller has a reference
 * @task: the task; the caller has a reference, or RCU
 *
 * Context: Any but NMI, without utrace->lock.
 * Return: false if the task is not covered, had no event yet, or was rejected at
 * the last one.
 */
bool utrace_is_told(struct utrace_engine *engine, struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);
	int slot;

	if (!u)
		return false;
	guard(spinlock_irqsave)(&u->lock);
	slot = utrace_set_slot(task->utrace_set, engine);
	return slot >= 0 && !(u->muted & BIT_ULL(slot));
}

/* Making one. */

static void utrace_match_free(struct work_struct *work)
{
	struct utrace_match *match = container_of(to_rcu_work(work),
						  struct utrace_match, free);
	unsigned int i;

	if (match->armed)
		utrace_unprobe();
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
 * utrace_match_new - make a match that every task matches
 *
 * Context: May sleep.
 * Return: the match with a reference for the caller; NULL without memory.
 */
struct utrace_match *utrace_match_new(void)
{
	struct utrace_match *match = kzalloc(sizeof(*match), GFP_KERNEL_ACCOUNT);

	if (!match)
		return NULL;
	refcount_set(&match->ref, 1);
	INIT_RCU_WORK(&match->free, utrace_match_free);
	return match;
}

static struct utrace_match *utrace_match_get(struct utrace_match *match)
{
	if (match)
		refcount_inc(&match->ref);
	return match;
}

/**
 * utrace_match_put - drop a reference
 * @match: the match, or NULL
 *
 * Context: Any.  What the match refers to is let go a little later.
 */
void utrace_match_put(struct utrace_match *match)
{
	if (match && refcount_dec_and_test(&match->ref))
		queue_rcu_work(system_unbound_wq, &match->free);
}

/* Room for one more item. */
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
 * utrace_match_add_pid - a process, or one of its threads
 * @match: a match that belongs to no engine yet
 * @pid: the process by its own number, another thread by its own; children
 *	are not meant, for them there is tree scope
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC: the match has %UTRACE_MATCH_MAX items; -ENOMEM.
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
 * utrace_match_add_exe - tasks that run a program
 * @match: a match that belongs to no engine yet
 * @path: the file; it is not the name that counts.  The file system stays
 *	busy as long as the match is there.
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC: the match has %UTRACE_MATCH_MAX items; -ENOMEM.
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
 * utrace_match_add_comm - tasks of a name
 * @match: a match that belongs to no engine yet
 * @comm: the name; like that of a task it ends after 15 bytes
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC: the match has %UTRACE_MATCH_MAX items; -ENOMEM.
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
 * utrace_match_add_uid - tasks that act as a user
 * @match: a match that belongs to no engine yet
 * @uid: compared with the effective one
 *
 * Context: May sleep.
 * Return: 0; -ENOSPC: the match has %UTRACE_MATCH_MAX items; -ENOMEM.
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
 * utrace_match_add_cgroup - tasks of a cgroup and of those below it
 * @match: a match that belongs to no engine yet
 * @cgroup: of the default hierarchy (version 2)
 *
 * Context: May sleep.
 * Return: 0; -EINVAL: another hierarchy; -ENOSPC: the match has
 * %UTRACE_MATCH_MAX items; -ENOMEM.
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
 * utrace_match_leave_out - a process that does not match, as the client's own
 * @match: a match that belongs to no engine yet
 * @tgid: its number
 *
 * Context: Any.
 */
void utrace_match_leave_out(struct utrace_match *match, struct pid *tgid)
{
	put_pid(match->left_out);
	match->left_out = get_pid(tgid);
}

/**
 * utrace_match_chooser - let the client choose too
 * @match: a match that belongs to no engine yet
 * @choose: called with the current task; must not sleep.  When it would say
 *	something else than before, call utrace_set_match() again.
 * @data: for @choose
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

/**
 * utrace_set_match - choose which tasks of its scope an engine is told of
 * @engine: the engine; the caller has a reference
 * @match: a match, of which the engine takes a reference, or the one that it
 *	has, to have all tasks asked again; NULL: all of them
 *
 * Holds for events that begin after this returns.  One whose callbacks run
 * now is reported by the verdict of before.
 *
 * Context: May sleep.  Takes tasklist_lock for an engine of the system.
 * Return: 0; -ENOMEM; -ESRCH: the engine is detached.
 */
int utrace_set_match(struct utrace_engine *engine, struct utrace_match *match)
{
	struct utrace_match *old;

	if (match) {
		int ret = utrace_arm(match);

		if (ret)
			return ret;
	}
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		if (utrace_engine_detached(engine))
			return -ESRCH;
		old = rcu_dereference_protected(engine->info->match, true);
		if (old != match)
			rcu_assign_pointer(engine->info->match,
					   utrace_match_get(match));
		utrace_engine_touch(engine);
	}
	/* Even where no event is new: the verdict may be. */
	utrace_engine_changed(engine, READ_ONCE(engine->flags));
	if (old != match)
		utrace_match_put(old);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: targets
 *
 * The caller and the opener of the session must both be allowed the attach
 * (viewer.c).  So passing a descriptor on gives no process more rights than
 * either of them has.  Later checks of the rights to a target's tasks are in
 * task.c.
 *
 * A target ends when all its tasks have exited, or when it is detached.  A task
 * that dies marks the session (utrace_dev_check_ends_soon()).  The next reader
 * then checks the targets and parks a UTRACE_REC_TARGET_END.
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "../match.h"
#include "session.h"

/* Maximum number of targets of one session. */
#define SESSION_MAX_TARGETS		1024

/*
 * Check whether the caller and the opener of the session may trace @task.  The
 * core calls this for each task that the engine is to cover.
 */
static bool session_may_trace(struct task_struct *task, void *data)
{
	struct session_target *target = data;

	/* A dead task has no further events. */
	if (task->exit_state)
		return true;
	/* The reader would wait for itself. */
	if (target->stop && task_tgid(task) == READ_ONCE(target->session->reader.process))
		target->deadlock = true;
	return !target->deadlock &&
	       utrace_viewer_may_attach(target->viewer, task);
}

/* Scopes */

/*
 * Fill in a match from the descriptor of a cgroup's folder.  Set *@of to the
 * cgroup, which identifies the target.  The match holds a reference to it.
 */
static int session_match_cgroup(struct utrace_match *match, int fd,
				const void **of)
{
#ifdef CONFIG_CGROUPS
	struct cgroup *cgroup = cgroup_v1v2_get_from_fd(fd);
	int ret;

	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	*of = cgroup;
	ret = utrace_match_add_cgroup(match, cgroup);
	cgroup_put(cgroup);
	return ret;
#else
	return -EOPNOTSUPP;
#endif
}

/*
 * Fill in a match from the descriptor of an executable file.  Set *@of to its
 * inode, which identifies the target.  The match holds a reference to the path
 * of the file.
 */
static int session_match_exe(struct utrace_match *match, int fd,
			     const void **of)
{
	struct fd f = fdget_raw(fd);
	int ret = -EINVAL;

	if (!fd_file(f))
		return -EBADF;
	*of = file_inode(fd_file(f));
	if (S_ISREG(file_inode(fd_file(f))->i_mode))
		ret = utrace_match_add_exe(match, &fd_file(f)->f_path);
	fdput(f);
	return ret;
}

/* Add nothing to the match, so that all tasks match.  Set *@of to NULL. */
static int session_match_all(struct utrace_match *match, int fd,
			     const void **of)
{
	*of = NULL;
	return 0;
}

/*
 * The engine of each scope.  A row with @match gets a system engine with that
 * match.  A row without it gets an engine with the attach flags @flags.
 */
static const struct session_scope {
	int flags;
	int (*match)(struct utrace_match *match, int fd, const void **of);
} session_scopes[] = {
	[UTRACE_SCOPE_THREAD]	= { .flags = UTRACE_ATTACH_OWN_EVENTS },
	[UTRACE_SCOPE_PROCESS]	= { .flags = UTRACE_ATTACH_OWN_EVENTS |
					     UTRACE_ATTACH_PROCESS },
	[UTRACE_SCOPE_TREE]	= { .flags = UTRACE_ATTACH_OWN_EVENTS |
					     UTRACE_ATTACH_TREE },
	[UTRACE_SCOPE_SYSTEM]	= { .match = session_match_all },
	[UTRACE_SCOPE_CGROUP]	= { .match = session_match_cgroup },
	[UTRACE_SCOPE_EXE]	= { .match = session_match_exe },
};

/* Get the row of a scope.  NULL if no target can have this scope. */
static const struct session_scope *session_scope(u32 scope)
{
	const struct session_scope *row;

	if (scope >= ARRAY_SIZE(session_scopes))
		return NULL;
	row = &session_scopes[scope];
	return row->flags || row->match ? row : NULL;
}

/*
 * Create the match of an engine of the system.  It excludes the calling
 * process, which most often is the reader: each of its reads would add records.
 */
static struct utrace_match *
session_new_match(const struct utrace_where *where, const void **of)
{
	struct utrace_match *match = utrace_match_new();
	int ret;

	if (!match)
		return ERR_PTR(-ENOMEM);
	utrace_match_leave_out(match, task_tgid(current));
	ret = session_scopes[where->scope].match(match, where->fd, of);
	if (!ret)
		return match;
	utrace_match_put(match);
	return ERR_PTR(ret);
}

/*
 * The last reference to the engine is gone, so no callback uses the target.
 * session_is_same() may still read it.
 */
static void session_target_release(void *data)
{
	struct session_target *target = data;
	struct utrace_session *session = target->session;

	utrace_viewer_put(target->viewer);
	utrace_dev_settings_put(target->settings);
	kvfree(target->end);
	kfree_rcu(target, rcu);
	atomic_dec(&session->busy);
	utrace_dev_wake_soon(session, true);
	utrace_dev_put(session);
}

/* Get the reader, which must read the records of a held task (AWAITS). */
static struct pid *session_held_for(struct utrace_engine *engine)
{
	const struct session_target *target = engine->data;

	return utrace_reader_get(&target->session->reader);
}

static const struct utrace_engine_ops session_ops = {
	.name			= "dev",
	.report_syscall_entry	= utrace_dev_sys_enter,
	.report_syscall_exit	= utrace_dev_sys_exit,
	.report_clone		= utrace_dev_clone,
	.report_exec		= utrace_dev_exec,
	.report_exit		= utrace_dev_exit,
	.report_death		= utrace_dev_death,
	.report_signal		= utrace_dev_signal,
	.report_jctl		= utrace_dev_jobctl,
	.release		= session_target_release,
	.held_for		= session_held_for,
};

/*
 * Attach an engine without events to @task, or to the system if @task is NULL.
 */
static struct utrace_engine *
session_attach_engine(struct session_target *target, struct task_struct *task)
{
	struct utrace_engine *engine;

	engine = utrace_attach_for(target->session->cred, task,
				   UTRACE_ATTACH_OBSERVER |
				   session_scopes[target->scope].flags,
				   &session_ops, target, session_may_trace,
				   target);
	return target->deadlock ? ERR_PTR(-EDEADLK) : engine;
}

/* The end of targets */

/* End a target and queue its TARGET_END record.  Idempotent. */
static void session_end_target(struct session_target *target, u32 why)
{
	struct utrace_session *session = target->session;
	struct utrace_rec_target_end *rec;

	lockdep_assert_held(&session->lock);

	if (!target->end)
		return;
	rec = (void *)target->end->data;
	rec->why = why;
	rec->lost = atomic64_read(&target->lost);
	utrace_dev_park_end(target);
	WRITE_ONCE(session->alive, session->alive - 1);
	utrace_dev_wake_soon(session, true);
}

/**
 * utrace_dev_check_ends() - end the targets whose tasks have all exited
 * @session: the session
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock, unless no
 * task has died since the last call.
 */
void utrace_dev_check_ends(struct utrace_session *session)
{
	struct session_target *target;

	if (!READ_ONCE(session->check_ends) ||
	    mutex_lock_killable(&session->lock))
		return;
	WRITE_ONCE(session->check_ends, false);
	smp_mb();	/* ->check_ends before the checks of tasks. */
	list_for_each_entry(target, &session->targets, list)
		if (target->end && !target->by_match &&
		    !utrace_has_living(target->engine))
			session_end_target(target, UTRACE_END_EXITED);
	mutex_unlock(&session->lock);
}

/**
 * utrace_dev_is_over() - check whether a session is finished
 * @session: the session
 *
 * No record can be added to a finished session.  Written records may still be
 * unread.
 *
 * Context: Any.
 * Return: true if the session had targets, all of them have ended, and no
 * callback of a detached target is running.
 */
bool utrace_dev_is_over(struct utrace_session *session)
{
	return READ_ONCE(session->attached) && !READ_ONCE(session->alive) &&
	       atomic_read(&session->busy) == READ_ONCE(session->ntargets);
}

/* Detach a target.  Running callbacks may still write records. */
static void session_remove(struct session_target *target)
{
	struct utrace_session *session = target->session;
	struct utrace_engine *engine = target->engine;
	int ret;

	list_del(&target->list);
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	utrace_dev_gone(target);
	/*
	 * Only after the detach: while this engine and another one may be
	 * called, callbacks must see that there are several targets.
	 */
	WRITE_ONCE(session->ntargets, session->ntargets - 1);
	session->missed += utrace_engine_lost(engine);
	session_end_target(target, UTRACE_END_DETACHED);
	utrace_dev_update_several(session, session->ntargets > 1);
	/*
	 * The release of the engine frees the target, see
	 * session_target_release().
	 */
	utrace_engine_put(engine);
}

/* Attach */

/*
 * Return what identifies a target of the scope THREAD, PROCESS or TREE.  The
 * engine has a reference, so the address is not reused while the target is in
 * the list.
 */
static const void *session_identity(enum utrace_scope scope,
				    struct task_struct *task)
{
	return scope == UTRACE_SCOPE_THREAD ? (void *)task :
					      (void *)task_tgid(task);
}

static bool session_has_target(const struct utrace_session *session,
			       enum utrace_scope scope, const void *of)
{
	const struct session_target *target;

	list_for_each_entry(target, &session->targets, list)
		if (target->scope == scope && target->of == of)
			return true;
	return false;
}

static void session_free_target(struct session_target *target)
{
	utrace_viewer_put(target->viewer);
	utrace_dev_settings_put(target->settings);
	kvfree(target->end);
	kfree(target);
}

/* Number of targets created by all sessions since boot. */
static atomic64_t session_targets;

/* Create a target without an engine.  Returns it, -EPERM or -ENOMEM. */
static struct session_target *session_new_target(struct utrace_session *session,
						 enum utrace_scope scope,
						 const void *of)
{
	struct session_target *target = kzalloc(sizeof(*target),
						GFP_KERNEL_ACCOUNT);
	struct utrace_rec_target_end *rec;

	if (!target)
		return ERR_PTR(-ENOMEM);
	target->by_match = session_scopes[scope].match;
	target->viewer = utrace_viewer_new(session->cred, target->by_match);
	if (IS_ERR(target->viewer)) {
		struct utrace_viewer *error = target->viewer;

		kfree(target);
		return ERR_CAST(error);
	}
	target->session = session;
	target->id = ++session->next_id;
	target->key = atomic64_inc_return(&session_targets);
	target->scope = scope;
	target->of = of;
	target->stop = !target->by_match && session->full != UTRACE_FULL_DROP;
	target->end = utrace_dev_parked_new(sizeof(struct utrace_rec_target_end));
	if (!target->end) {
		session_free_target(target);
		return ERR_PTR(-ENOMEM);
	}
	target->end->task = NULL;
	rec = (void *)target->end->data;
	*rec = (struct utrace_rec_target_end){
		.head = {
			.size = sizeof(*rec),
			.type = UTRACE_REC_TARGET_END,
			.target = target->id,
		},
	};
	return target;
}

/*
 * Add a target to a session.  Afterwards the engine owns the target, which has
 * a reference to @session.
 */
static void session_add_target(struct utrace_session *session,
			       struct session_target *target,
			       struct utrace_engine *engine)
{
	utrace_set_owner(engine, session->owner);
	kref_get(&session->ref);
	atomic_inc(&session->busy);
	target->engine = engine;
	list_add_tail(&target->list, &session->targets);
	WRITE_ONCE(session->ntargets, session->ntargets + 1);
	WRITE_ONCE(session->alive, session->alive + 1);
}

/* Remove a target after a failed attach, without a TARGET_END record. */
static void session_revoke(struct session_target *target)
{
	struct utrace_session *session = target->session;

	kvfree(target->end);
	target->end = NULL;
	WRITE_ONCE(session->alive, session->alive - 1);
	session_remove(target);
}

/*
 * Attach a session.  @match is for an engine of the system, else NULL; @task is
 * for an engine of a task.  @of identifies the target in its scope.
 */
static int session_attach_to(struct utrace_session *session,
			     struct utrace_ioc_attach *attach, const void *of,
			     struct task_struct *task,
			     struct utrace_match *match)
{
	struct session_target *target;
	struct utrace_engine *engine;
	int ret;

	if (session_has_target(session, attach->where.scope, of))
		return -EEXIST;
	target = session_new_target(session, attach->where.scope, of);
	if (IS_ERR(target))
		return PTR_ERR(target);
	/* Before two engines can cover a task. */
	utrace_dev_update_several(session, true);
	engine = session_attach_engine(target, task);
	if (IS_ERR(engine)) {
		session_free_target(target);
		utrace_dev_update_several(session, session->ntargets > 1);
		return PTR_ERR(engine);
	}
	session_add_target(session, target, engine);
	/*
	 * The match is set before the events, so that no event of the caller is
	 * recorded.
	 */
	ret = match ? utrace_set_match(engine, match) : 0;
	ret = ret ?: utrace_dev_apply(target, session->settings);
	if (ret) {
		session_revoke(target);
		return ret;
	}
	attach->id = target->id;
	WRITE_ONCE(session->attached, session->attached + 1);
	/* All tasks of the target may already be dead. */
	WRITE_ONCE(session->check_ends, true);
	return 0;
}

static int session_attach_matched(struct utrace_session *session,
				  struct utrace_ioc_attach *attach)
{
	struct utrace_match *match;
	const void *of;
	int ret;

	if (!utrace_viewer_may_see_all(session->cred))
		return -EPERM;
	/* An engine of the system cannot hold tasks. */
	if (session->full == UTRACE_FULL_STOP)
		return -EOPNOTSUPP;
	match = session_new_match(&attach->where, &of);
	if (IS_ERR(match))
		return PTR_ERR(match);
	ret = session_attach_to(session, attach, of, NULL, match);
	utrace_match_put(match);
	return ret;
}

/**
 * utrace_dev_task_of() - get the task of a pidfd
 * @fd: the descriptor
 *
 * Context: Process context.
 * Return: the task, with a reference for the caller; or -EBADF or -ESRCH.
 */
struct task_struct *utrace_dev_task_of(int fd)
{
	unsigned int flags;
	struct pid *pid = pidfd_get_pid(fd, &flags);
	struct task_struct *task;

	if (IS_ERR(pid))
		return ERR_CAST(pid);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	return task ?: ERR_PTR(-ESRCH);
}

/**
 * utrace_dev_where_is_valid() - check a struct utrace_where of a program
 * @where: the structure; its scope may be any number
 *
 * Context: Any.
 * Return: true if the scope is known, the members that the scope does not use
 * are 0, and an unused fd is -1.
 */
bool utrace_dev_where_is_valid(const struct utrace_where *where)
{
	if (!where->scope || where->scope > UTRACE_SCOPE_CPU || where->flags ||
	    where->reserved)
		return false;
	if (where->scope == UTRACE_SCOPE_CPU)
		return where->fd == -1;
	return !where->cpu &&
	       (where->scope != UTRACE_SCOPE_SYSTEM || where->fd == -1);
}

/**
 * utrace_dev_scopes() - get the scopes that a target may have
 *
 * Context: Any.
 * Return: UTRACE_SCOPE_BIT() bits.
 */
u32 utrace_dev_scopes(void)
{
	u32 scopes = 0, scope;

	for (scope = 0; scope < ARRAY_SIZE(session_scopes); scope++)
		if (session_scope(scope))
			scopes |= BIT(scope);
	return IS_ENABLED(CONFIG_CGROUPS) ? scopes :
					    scopes & ~UTRACE_SCOPE_BIT(CGROUP);
}

/* Attach to the task of a pidfd, to its process or to its tree. */
static int session_attach_task(struct utrace_session *session,
			       struct utrace_ioc_attach *attach)
{
	struct task_struct *task = utrace_dev_task_of(attach->where.fd);
	int ret;

	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = session_attach_to(session, attach,
				session_identity(attach->where.scope, task),
				task, NULL);
	put_task_struct(task);
	return ret;
}

/**
 * utrace_dev_attach() - %UTRACE_IOC_ATTACH
 * @session: the session; its lock is held
 * @arg: struct utrace_ioc_attach; the id of the target is stored there
 *
 * Context: Process context; may sleep.
 * Return: 0, or an error of UTRACE_IOC_ATTACH.
 */
int utrace_dev_attach(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_setup setup = {};
	struct utrace_ioc_attach *attach = arg;
	int ret;

	lockdep_assert_held(&session->lock);

	if (attach->flags || !utrace_dev_where_is_valid(&attach->where) ||
	    !session_scope(attach->where.scope))
		return -EINVAL;
	if (!session->ring) {
		ret = utrace_dev_ring_make(session, &setup);
		if (ret)
			return ret;
	}
	/* Ids are not reused. */
	if (session->ntargets >= SESSION_MAX_TARGETS ||
	    session->next_id == U32_MAX)
		return -ENOSPC;
	if (session_scopes[attach->where.scope].match)
		return session_attach_matched(session, attach);
	return session_attach_task(session, attach);
}

/*
 * Detach a target whose id could not be copied to the program.  This writes no
 * TARGET_END, unless a reader has already found that the target has ended, and
 * does not end the stream.
 */
static void session_undo(struct session_target *target)
{
	struct utrace_session *session = target->session;

	WRITE_ONCE(session->attached, session->attached - 1);
	if (target->end)
		session_revoke(target);
	else
		session_remove(target);
}

/*
 * Detach a target.  Disarm everything that is armed for it first, without the
 * session's lock, since that may wait for processes.  During that the target
 * stays in the list, but utrace_dev_target() does not find it, so nobody uses
 * its owner or arms anything for it.
 */
static int session_detach(struct utrace_session *session, u32 id, bool undo)
{
	struct session_target *target;
	int ret = 0;

	if (mutex_lock_killable(&session->lock))
		return -EINTR;
	target = utrace_dev_target(session, id);
	if (!target) {
		mutex_unlock(&session->lock);
		return -ENOENT;
	}
	if (target->owner) {
		target->ending = true;
		mutex_unlock(&session->lock);
		ret = target->owner_ops->end(session, target->owner, true);
		mutex_lock(&session->lock);
		target->ending = false;
	}
	if (!ret) {
		target->owner = NULL;
		if (undo)
			session_undo(target);
		else
			session_remove(target);
	}
	mutex_unlock(&session->lock);
	return ret;
}

/**
 * utrace_dev_undo_attach() - detach a target whose id the program could not get
 * @session: the session
 * @arg: struct utrace_ioc_attach
 *
 * If the caller is killed during this, the target stays until the end of the
 * session.
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock.
 */
void utrace_dev_undo_attach(struct utrace_session *session, const void *arg)
{
	const struct utrace_ioc_attach *attach = arg;

	/* -ENOENT: another thread has guessed the id and detached it. */
	(void)!session_detach(session, attach->id, true);
}

/**
 * utrace_dev_target() - look up a target of a session
 * @session: the session; its lock is held
 * @id: id of the target, from utrace_dev_attach()
 *
 * Context: Process context.
 * Return:
 * * the target - valid as long as the lock is held
 * * NULL - the session has no such target, or it is being detached
 */
struct session_target *utrace_dev_target(struct utrace_session *session,
					 u32 id)
{
	struct session_target *target;

	lockdep_assert_held(&session->lock);

	list_for_each_entry(target, &session->targets, list)
		if (target->id == id && !target->ending)
			return target;
	return NULL;
}

/**
 * utrace_dev_with_target() - call a function that arms something for a target
 * @session: the session
 * @id: id of the target
 * @fn: called with utrace_session.lock held.  Members @owner and @ops of struct
 *	utrace_dev_arming, which it may set, are copied to the target
 * @type: last argument of @fn
 *
 * Context: Process context; sleeps.  Takes utrace_session.lock.
 * Return: what @fn returns; or -ENOENT - there is no such target; -EINTR - the
 * caller is killed.
 */
struct marker_owner *utrace_dev_with_target(struct utrace_session *session,
					    u32 id, utrace_arm_fn fn,
					    const struct marker_type *type)
{
	struct marker_owner *owner = ERR_PTR(-ENOENT);
	struct session_target *target;

	if (mutex_lock_killable(&session->lock))
		return ERR_PTR(-EINTR);
	target = utrace_dev_target(session, id);
	if (target) {
		struct utrace_dev_arming arming = {
			.engine = target->engine,
			.viewer = target->viewer,
			.scope = target->scope,
			.owner = target->owner,
			.ops = target->owner_ops,
		};

		if (target->scope == UTRACE_SCOPE_PROCESS ||
		    target->scope == UTRACE_SCOPE_TREE)
			arming.process = (struct pid *)target->of;
		owner = fn(session, &arming, type);
		target->owner = arming.owner;
		target->owner_ops = arming.ops;
	}
	mutex_unlock(&session->lock);
	return owner;
}

/**
 * utrace_dev_notify_change() - wake the reader for a change of what is armed
 * @engine: engine of the target, which the caller keeps.  The caller calls this
 *	only once until the reader has read the states of the target
 *
 * Context: Any but NMI.
 */
void utrace_dev_notify_change(struct utrace_engine *engine)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;

	atomic_inc(&session->nchanged);
	/* Has a full barrier; pairs with poll_wait() in session_poll(). */
	if (wq_has_sleeper(&session->reader.wait))
		wake_up_interruptible_poll(&session->reader.wait, EPOLLPRI);
}

/**
 * utrace_dev_know_change() - note that the reader reads the states of a target
 * @engine: engine of the target, which the caller keeps
 *
 * Context: Any.
 */
void utrace_dev_know_change(struct utrace_engine *engine)
{
	struct session_target *target = engine->data;

	atomic_dec(&target->session->nchanged);
}

/**
 * utrace_dev_detach() - %UTRACE_IOC_DETACH
 * @session: the session; no lock is held
 * @arg: struct utrace_ioc_detach
 *
 * Does not wait for callbacks of the target.
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock.
 * Return:
 * * 0 - the target is detached
 * * -EINTR - the caller was killed
 * * -EINVAL - unknown flag
 * * -ENOENT - the session has no such target
 */
int utrace_dev_detach(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_detach *detach = arg;

	return detach->flags ? -EINVAL : session_detach(session, detach->id, false);
}

/**
 * utrace_dev_detach_all() - detach all targets of a session that ends
 * @session: the session; its file is being released
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock.
 */
void utrace_dev_detach_all(struct utrace_session *session)
{
	struct session_target *target, *next;

	/*
	 * The file is being released.  A running ioctl would hold a reference
	 * to it, so no ioctl changes the list of targets.
	 */
	list_for_each_entry(target, &session->targets, list) {
		if (target->owner)
			target->owner_ops->end(session, target->owner, false);
		target->owner = NULL;
	}
	guard(mutex)(&session->lock);
	list_for_each_entry_safe(target, next, &session->targets, list)
		session_remove(target);
}

/**
 * utrace_dev_show() - show in /proc/PID/fdinfo what is armed for each target
 * @m: the file that is read
 * @session: the session
 *
 * Context: Process context; sleeps.  Takes utrace_session.lock.
 */
void utrace_dev_show(struct seq_file *m, struct utrace_session *session)
{
	static const char * const names[] = {
		[UTRACE_SCOPE_PROCESS]	= "process",
		[UTRACE_SCOPE_TREE]	= "tree",
		[UTRACE_SCOPE_SYSTEM]	= "system",
	};
	const struct session_target *target;

	if (mutex_lock_killable(&session->lock))
		return;
	list_for_each_entry(target, &session->targets, list)
		if (target->owner && !target->ending)
			seq_printf(m, "utrace-markers:\t%u %s %u\n",
				   target->id, names[target->scope],
				   target->owner_ops->count(target->owner));
	mutex_unlock(&session->lock);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what they are attached to, and by what right
 *
 * Who attaches has to pass ptrace_may_access() for the target, with his own
 * credentials and with those of who opened the session: a descriptor that is
 * handed on gives nobody more rights than either had.
 *
 * After that each task is asked about itself, as a verdict of the engine's match:
 * at its first event, and again after an execve(), a change of name, and a change of
 * credentials that makes it undumpable, before anything more is recorded of it.  A
 * task that executes a set-id program is left out from then on, and comes back with
 * a program that may be traced.  Whether its memory may be dumped, which can change
 * without any of these, is looked at with each record.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/coredump.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "client.h"
#include "match.h"
#include "session.h"

/* What UTRACE_IOC_EVENTS says, see &struct utrace_session. */
struct session_settings {
	u64 events;
	u64 capture;
	int *calls;
	unsigned int ncalls;
};

/* What a session may be attached to at a time. */
#define SESSION_MAX_TARGETS		1024

static bool session_is_capable(const struct cred *cred, struct user_namespace *ns,
			       int cap)
{
	return !security_capable(cred, ns, cap, CAP_OPT_NOAUDIT);
}

/*
 * The current task, by what it is now: ptrace_may_access() with other hands, and
 * like that under task_lock(), which security modules rely on.  They are asked
 * without audit: it is the reader who wants to know, and who is not here.
 */
static bool session_cred_may_trace_current(const struct cred *cred)
{
	const struct cred *of = current_real_cred(), *old;
	bool capable = session_is_capable(cred, of->user_ns, CAP_SYS_PTRACE);
	struct mm_struct *mm = current->mm;
	bool may;

	may = uid_eq(cred->uid, of->euid) && uid_eq(cred->uid, of->suid) &&
	      uid_eq(cred->uid, of->uid) && gid_eq(cred->gid, of->egid) &&
	      gid_eq(cred->gid, of->sgid) && gid_eq(cred->gid, of->gid);
	if (!capable && !(may && READ_ONCE(session_unprivileged)))
		return false;
	if (mm && get_dumpable(mm) != SUID_DUMP_USER &&
	    !session_is_capable(cred, mm->user_ns, CAP_SYS_PTRACE))
		return false;
	/* Modules ask for the credentials of current, the object's are ->real_cred. */
	old = override_creds(cred);
	task_lock(current);
	may = !security_ptrace_access_check(current, PTRACE_MODE_ATTACH_REALCREDS |
					    PTRACE_MODE_NOAUDIT);
	task_unlock(current);
	revert_creds(old);
	return may;
}

/**
 * session_may_see - may what was captured of the current task be recorded?
 * @target: whose engine was called
 *
 * A program may cease to be dumpable at any time, also while something is
 * captured: by prctl(PR_SET_DUMPABLE), or when another task that shares its memory
 * becomes another user.
 *
 * Context: The task itself.
 * Return: true if so.
 */
bool session_may_see(const struct session_target *target)
{
	struct mm_struct *mm = current->mm;

	if (target->all || !mm || likely(get_dumpable(mm) == SUID_DUMP_USER))
		return true;
	return session_is_capable(target->session->cred, mm->user_ns,
				  CAP_SYS_PTRACE) &&
	       session_is_capable(target->cred, mm->user_ns, CAP_SYS_PTRACE);
}

/*
 * The verdict about the current task.  The reader is told when it changes to the
 * worse: of that task he will hear nothing more.
 */
static bool session_choose(struct task_struct *task, void *data)
{
	struct session_target *target = data;
	const struct cred *opener = target->session->cred;
	struct utrace_rec rec = {};

	if (session_cred_may_trace_current(opener) &&
	    (target->cred == opener ||
	     session_cred_may_trace_current(target->cred)))
		return true;
	if (utrace_is_told(target->engine, task))
		session_write(target, UTRACE_REC_DETACHED, &rec, sizeof(rec),
			      NULL);
	return false;
}

/* May who calls trace a task, by what he is now? */
static bool session_caller_may_trace(struct task_struct *task)
{
	struct user_namespace *ns;
	bool may = true;

	if (!READ_ONCE(session_unprivileged)) {
		scoped_guard(rcu)
			ns = get_user_ns(__task_cred(task)->user_ns);
		may = ns_capable(ns, CAP_SYS_PTRACE);
		put_user_ns(ns);
	}
	return may && ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS);
}

/* All of a tree that is alive: what security modules compare may differ. */
static bool session_caller_may_trace_tree(struct task_struct *root)
{
	struct task_struct *p, *t, *up;

	guard(read_lock)(&tasklist_lock);
	for_each_process_thread(p, t) {
		for (up = t; up->pid && !same_thread_group(up, root);
		     up = rcu_dereference_protected(up->real_parent,
						    lockdep_tasklist_lock_is_held()))
			;
		if (same_thread_group(up, root) && !t->exit_state &&
		    !session_caller_may_trace(t))
			return false;
	}
	return true;
}

static bool session_caller_may(struct task_struct *task, enum utrace_scope scope)
{
	return session_caller_may_trace(task) &&
	       (scope != UTRACE_F_TREE || session_caller_may_trace_tree(task));
}

/* Both who calls and who opened the session. */
static bool session_may_trace(const struct cred *opener, struct task_struct *task,
			      enum utrace_scope scope)
{
	const struct cred *old;
	bool may;

	if (!session_caller_may(task, scope))
		return false;
	old = override_creds(opener);
	may = session_caller_may(task, scope);
	revert_creds(old);
	return may;
}

static bool session_may_trace_all(const struct cred *opener)
{
	return (perfmon_capable() || capable(CAP_SYS_ADMIN)) &&
	       (session_is_capable(opener, &init_user_ns, CAP_PERFMON) ||
		session_is_capable(opener, &init_user_ns, CAP_SYS_ADMIN));
}

/* Engines */

/* Tell an engine what its session wants; after an error some of it may hold. */
static int session_apply(struct utrace_session *session, struct utrace_engine *engine)
{
	int ret;

	lockdep_assert_held(&session->lock);

	ret = utrace_set_syscall_filter(engine, session->calls, session->ncalls);
	if (ret)
		return ret;
	ret = utrace_set_events(NULL, engine, session_engine_events(session->events));
	/* Callbacks that run now record by what was wanted before. */
	return ret == -EINPROGRESS ? 0 : ret;
}

static int session_set_match(struct session_target *target)
{
	struct utrace_match *match = utrace_match_new();
	int ret;

	if (!match)
		return -ENOMEM;
	if (target->all)
		utrace_match_leave_out(match, task_tgid(current));
	else
		utrace_match_chooser(match, session_choose, target);
	ret = utrace_set_match(target->engine, match);
	utrace_match_put(match);
	return ret;
}

static struct utrace_engine *session_attach_engine(struct session_target *target,
						   enum utrace_scope scope,
					       struct task_struct *task)
{
	static const int flags[] = {
		[UTRACE_F_THREAD]	= 0,
		[UTRACE_F_PROCESS]	= UTRACE_ATTACH_PROCESS,
		[UTRACE_F_TREE]		= UTRACE_ATTACH_TREE,
	};

	if (scope == UTRACE_F_SYSTEM)
		return utrace_attach_system(UTRACE_ATTACH_OBSERVER, &session_ops,
					    target);
	return utrace_attach_task(task, UTRACE_ATTACH_CREATE |
				  UTRACE_ATTACH_OBSERVER |
				  UTRACE_ATTACH_OWN_EVENTS | flags[scope],
				  &session_ops, target);
}

static void session_remove(struct session_target *target)
{
	struct utrace_engine *engine = target->engine;
	int ret;

	list_del(&target->list);
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	/* The target goes with the engine, when no callback runs any more. */
	utrace_engine_put(engine);
}

static int session_attach_to(struct utrace_session *session,
			     struct utrace_ioc_attach *attach,
			 struct task_struct *task)
{
	struct session_target *target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);
	struct utrace_engine *engine;
	int ret;

	if (!target)
		return -ENOMEM;
	target->session = session;
	target->cred = get_current_cred();
	target->id = ++session->next_id;
	target->all = attach->scope == UTRACE_F_SYSTEM;
	engine = session_attach_engine(target, attach->scope, task);
	if (IS_ERR(engine)) {
		put_cred(target->cred);
		kfree(target);
		return PTR_ERR(engine);
	}
	/* From here on it is the engine's. */
	utrace_set_owner(engine, session->owner);
	kref_get(&session->ref);
	target->engine = engine;
	list_add_tail(&target->list, &session->targets);
	/* The match before events, so that nothing is recorded without. */
	ret = session_set_match(target) ?: session_apply(session, engine);
	if (ret)
		session_remove(target);
	else
		attach->id = target->id;
	return ret;
}

/* The task of a pidfd, with a reference; or an error. */
static struct task_struct *session_task_of(int fd)
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
 * session_attach - attach a session to something
 * @session: the session; its lock is held
 * @attach: to what; gets the id of the target
 *
 * Context: May sleep.
 * Return: 0; -EBADF: not a pidfd; -EINVAL: no such scope; -ESRCH: the task is
 * gone; -EPERM: the caller or who opened the session may not trace it, or it is a
 * kernel thread; -ENOSPC: too many targets, or too many engines on a task;
 * -ENOMEM.
 */
int session_attach(struct utrace_session *session, struct utrace_ioc_attach *attach)
{
	struct task_struct *task;
	int ret;

	lockdep_assert_held(&session->lock);

	if (attach->scope > UTRACE_F_SYSTEM)
		return -EINVAL;
	if (list_count_nodes(&session->targets) >= SESSION_MAX_TARGETS)
		return -ENOSPC;
	if (attach->scope == UTRACE_F_SYSTEM) {
		if (attach->fd != -1)
			return -EINVAL;
		if (!session_may_trace_all(session->cred))
			return -EPERM;
		return session_attach_to(session, attach, NULL);
	}
	task = session_task_of(attach->fd);
	if (IS_ERR(task))
		return PTR_ERR(task);
	ret = -EPERM;
	if (session_may_trace(session->cred, task, attach->scope))
		ret = session_attach_to(session, attach, task);
	put_task_struct(task);
	return ret;
}

/**
 * session_detach - detach a session from one of its targets
 * @session: the session; its lock is held
 * @id: from session_attach()
 *
 * Context: May sleep.
 * Return: 0; -ENOENT: there is no such target.
 */
int session_detach(struct utrace_session *session, u32 id)
{
	struct session_target *target;

	lockdep_assert_held(&session->lock);

	list_for_each_entry(target, &session->targets, list) {
		if (target->id != id)
			continue;
		session_remove(target);
		return 0;
	}
	return -ENOENT;
}

/**
 * session_detach_all - the session ends
 * @session: the session; nobody has its file any more
 *
 * Context: May sleep.
 */
void session_detach_all(struct utrace_session *session)
{
	struct session_target *target, *next;

	/* Nobody else can have it: an ioctl holds the file. */
	guard(mutex)(&session->lock);
	list_for_each_entry_safe(target, next, &session->targets, list)
		session_remove(target);
}

/* More calls than there are numbers is a mistake. */
#define SESSION_MAX_CALLS	4096

/* All targets; of those that have ended nothing is wanted any more. */
static int session_apply_all(struct utrace_session *session)
{
	struct session_target *target;
	int ret;

	list_for_each_entry(target, &session->targets, list) {
		ret = session_apply(session, target->engine);
		if (ret && ret != -ESRCH)
			return ret;
	}
	return 0;
}

/* The settings of a session take the place of @old, which gets them. */
static void session_exchange(struct utrace_session *session,
			     struct session_settings *old)
{
	struct session_settings now = {
		session->events, session->capture, session->calls,
		session->ncalls
	};

	WRITE_ONCE(session->events, old->events);
	WRITE_ONCE(session->capture, old->capture);
	session->calls = old->calls;
	session->ncalls = old->ncalls;
	*old = now;
}

/* User memory is read here, with no lock held. */
static int session_take_settings(struct session_settings *settings,
				 const struct utrace_ioc_events *events)
{
	int ret;

	if (events->events & ~UTRACE_F_EVENTS_ALL || events->reserved ||
	    events->capture & ~(u64)UTRACE_F_CAPTURE_ALL ||
	    events->ncalls > SESSION_MAX_CALLS || (events->calls && !events->ncalls))
		return -EINVAL;
	*settings = (struct session_settings){
		.events = events->events,
		.capture = events->capture,
		.ncalls = events->ncalls,
	};
	if (events->ncalls) {
		settings->calls = memdup_array_user(u64_to_user_ptr(events->calls),
						    events->ncalls, sizeof(int));
		if (IS_ERR(settings->calls))
			return PTR_ERR(settings->calls);
	}
	/* Also where nobody is attached yet who would. */
	ret = utrace_check_calls(settings->calls, settings->ncalls);
	if (ret)
		kfree(settings->calls);
	return ret;
}

/**
 * session_set_events - choose what is recorded
 * @session: the session; its lock is not held
 * @events: the choice
 *
 * Context: May sleep.  Takes utrace_session.lock.
 * Return: 0; -EINVAL: there is no such event, capture or system call; -EFAULT;
 * -EINTR: killed; -ENOMEM.  After an error all is as before, as far as there is
 * memory for it.
 */
int session_set_events(struct utrace_session *session,
		       const struct utrace_ioc_events *events)
{
	struct session_settings settings;
	int ret = session_take_settings(&settings, events);

	if (ret)
		return ret;
	if (mutex_lock_killable(&session->lock)) {
		kfree(settings.calls);
		return -EINTR;
	}
	session_exchange(session, &settings);
	ret = session_apply_all(session);
	if (ret) {
		session_exchange(session, &settings);
		session_apply_all(session);
	}
	mutex_unlock(&session->lock);
	kfree(settings.calls);
	return ret;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what they are attached to, and by what right
 *
 * Who attaches has to pass ptrace_may_access() for the target, with the caller's own
 * credentials and with those of who opened the session: a descriptor that is
 * handed on gives nobody more rights than either had.  What of a target may be seen
 * from then on is in rights.c.
 *
 * User memory is never read under utrace_session.lock: a page fault may be one that
 * a program answers, or does not.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "../match.h"
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

/* May the caller trace a task, by what it is now? */
static bool session_caller_may(struct task_struct *task)
{
	if (!READ_ONCE(utrace_dev_unprivileged) && !capable(CAP_SYS_PTRACE))
		return false;
	return ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS);
}

/*
 * Both the caller and whoever opened the session, about each task of a scope: what
 * security modules compare may differ.
 */
static bool session_may_trace(struct task_struct *task, void *data)
{
	const struct utrace_session *session = data;
	const struct cred *old;
	bool may;

	/* Of a dead one nothing is to be seen. */
	if (task->exit_state)
		return true;
	if (!session_caller_may(task))
		return false;
	old = override_creds(session->cred);
	may = session_caller_may(task);
	revert_creds(old);
	return may;
}

/*
 * Security modules have no hook for this.  The nearest that they know is a perf event
 * of the calls of all tasks, on all CPUs.  Lockdown is not asked: what is recorded is
 * memory of programs, none of the kernel.
 */
static bool session_caller_may_trace_all(void)
{
	if (!perfmon_capable())
		return false;
#ifdef CONFIG_PERF_EVENTS
	if (security_perf_event_open(PERF_SECURITY_OPEN) ||
	    security_perf_event_open(PERF_SECURITY_CPU) ||
	    security_perf_event_open(PERF_SECURITY_TRACEPOINT))
		return false;
#endif
	return true;
}

static bool session_may_trace_all(const struct cred *opener)
{
	const struct cred *old;
	bool may;

	if (!session_caller_may_trace_all())
		return false;
	old = override_creds(opener);
	may = session_caller_may_trace_all();
	revert_creds(old);
	return may;
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
	ret = utrace_set_events(NULL, engine, utrace_dev_engine_events(session->events));
	/* Callbacks that run now record by what was wanted before. */
	return ret == -EINPROGRESS ? 0 : ret;
}

/* The system is without the process that looks at it. */
static int session_leave_out_caller(struct session_target *target)
{
	struct utrace_match *match = utrace_match_new();
	int ret;

	if (!match)
		return -ENOMEM;
	utrace_match_leave_out(match, task_tgid(current));
	ret = utrace_set_match(target->engine, match);
	utrace_match_put(match);
	return ret;
}

static struct utrace_engine *session_attach_engine(struct session_target *target,
						   struct task_struct *task)
{
	static const int flags[] = {
		[UTRACE_F_THREAD]	= UTRACE_ATTACH_OWN_EVENTS,
		[UTRACE_F_PROCESS]	= UTRACE_ATTACH_OWN_EVENTS |
					  UTRACE_ATTACH_PROCESS,
		[UTRACE_F_TREE]		= UTRACE_ATTACH_OWN_EVENTS |
					  UTRACE_ATTACH_TREE,
		[UTRACE_F_SYSTEM]	= 0,
	};

	return utrace_attach_for(target->session->cred, task,
				 UTRACE_ATTACH_OBSERVER | flags[target->scope],
				 &utrace_dev_ops, target, session_may_trace,
				 target->session);
}

static void session_remove(struct session_target *target)
{
	struct utrace_engine *engine = target->engine;
	int ret;

	list_del(&target->list);
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	target->session->missed += utrace_engine_lost(engine);
	/* The target goes with the engine, when no callback runs any more. */
	utrace_engine_put(engine);
}

/* What tells targets of a scope apart, as long as an engine refers to it. */
static const void *session_identity(enum utrace_scope scope, struct task_struct *task)
{
	if (!task)
		return NULL;
	return scope == UTRACE_F_THREAD ? (void *)task : (void *)task_tgid(task);
}

static bool session_has_target(const struct utrace_session *session,
			       enum utrace_scope scope, struct task_struct *task)
{
	const void *of = session_identity(scope, task);
	const struct session_target *target;

	list_for_each_entry(target, &session->targets, list)
		if (target->scope == scope && target->of == of)
			return true;
	return false;
}

static int session_attach_to(struct utrace_session *session,
			     struct utrace_ioc_attach *attach,
			 struct task_struct *task)
{
	struct session_target *target;
	struct utrace_engine *engine;
	int ret;

	if (session_has_target(session, attach->scope, task))
		return -EEXIST;
	target = kzalloc(sizeof(*target), GFP_KERNEL_ACCOUNT);
	if (!target)
		return -ENOMEM;
	target->session = session;
	target->cred = get_current_cred();
	target->id = ++session->next_id;
	target->scope = attach->scope;
	target->of = session_identity(attach->scope, task);
	target->all = attach->scope == UTRACE_F_SYSTEM;
	INIT_LIST_HEAD(&target->tasks);
	engine = session_attach_engine(target, task);
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
	ret = target->all ? session_leave_out_caller(target) : 0;
	ret = ret ?: session_apply(session, engine);
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
 * utrace_dev_attach - attach a session to something
 * @session: the session; its lock is held
 * @attach: to what; gets the id of the target
 *
 * Context: May sleep.
 * Return: 0; -EBADF: not a pidfd; -EINVAL: no such scope; -ESRCH: the task is
 * gone; -EPERM: the caller or who opened the session may not trace it, or it is a
 * kernel thread; -EEXIST: the session is attached to it already, in that scope;
 * -EUSERS: too many engines of the user; -ENOSPC: too many targets, or too many
 * engines on a task; -EINTR: killed; -ENOMEM.
 */
int utrace_dev_attach(struct utrace_session *session, struct utrace_ioc_attach *attach)
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
	ret = session_attach_to(session, attach, task);
	put_task_struct(task);
	return ret;
}

/**
 * utrace_dev_detach - detach a session from one of its targets
 * @session: the session; its lock is held
 * @id: from utrace_dev_attach()
 *
 * Context: May sleep.
 * Return: 0; -ENOENT: there is no such target.
 */
int utrace_dev_detach(struct utrace_session *session, u32 id)
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
 * utrace_dev_detach_all - the session ends
 * @session: the session; nobody has its file any more
 *
 * Context: May sleep.
 */
void utrace_dev_detach_all(struct utrace_session *session)
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
 * utrace_dev_set_events - choose what is recorded
 * @session: the session; its lock is not held
 * @events: the choice
 *
 * Context: May sleep.  Takes utrace_session.lock.
 * Return: 0; -EINVAL: there is no such event, capture or system call; -EFAULT;
 * -EINTR: killed; -ENOMEM.  After an error all is as before, as far as there is
 * memory for it.
 */
int utrace_dev_set_events(struct utrace_session *session,
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

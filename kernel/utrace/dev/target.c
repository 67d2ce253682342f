// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what they are attached to, by what right
 *
 * ptrace_may_access() must allow the attach twice: for the caller, and for the
 * opener of the session.  So a descriptor that is passed on gives no process
 * more rights than either of them has.  rights.c says what may be seen of a
 * target after that.
 *
 * User memory is never read under utrace_session.lock: the page fault may be
 * one that user space serves late or never.
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

/**
 * struct session_settings - what UTRACE_IOC_EVENTS sets
 * @events: see &struct utrace_session
 * @capture: see &struct utrace_session
 * @calls: see &struct utrace_session; the holder of this structure frees it
 * @ncalls: see &struct utrace_session
 */
struct session_settings {
	u64 events;
	u64 capture;
	int *calls;
	unsigned int ncalls;
};

/* Targets of one session at most. */
#define SESSION_MAX_TARGETS		1024

/* May current's credentials trace @task as it is now? */
static bool session_caller_may(struct task_struct *task)
{
	if (!READ_ONCE(utrace_dev_unprivileged) && !capable(CAP_SYS_PTRACE))
		return false;
	return ptrace_may_access(task, PTRACE_MODE_ATTACH_REALCREDS);
}

/*
 * May the caller and the opener of the session trace @task?
 * ptrace_may_access() is called for both, since security modules may compare
 * more than ids.  The core calls this for each task that the engine is to
 * cover.
 */
static bool session_may_trace(struct task_struct *task, void *data)
{
	const struct utrace_session *session = data;
	const struct cred *old;
	bool may;

	/* A dead task has no further events to see. */
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
 * May current's credentials trace the whole system?  Security modules have no
 * hook for that.  They are asked about the nearest thing that they know: a perf
 * event for the tracepoints of all tasks on all CPUs.  Lockdown is not asked,
 * since records contain memory of programs and none of the kernel.
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

/* May the caller and the opener of the session trace the whole system? */
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

/*
 * Give an engine the settings of its session.  Return 0, -ENOMEM, or -ESRCH for
 * an engine that has ended; after an error a part of the settings may hold.
 */
static int session_apply(struct utrace_session *session,
			 struct utrace_engine *engine)
{
	int ret;

	lockdep_assert_held(&session->lock);

	ret = utrace_set_syscall_filter(engine, session->calls,
					session->ncalls);
	if (ret)
		return ret;
	ret = utrace_set_events(NULL, engine,
				utrace_dev_engine_events(session->events));
	/*
	 * -EINPROGRESS: a callback that is running may record by the old
	 * settings.
	 */
	return ret == -EINPROGRESS ? 0 : ret;
}

/*
 * Leave the reading process out of the system that it traces, or each of its
 * reads would make records.
 */
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

/*
 * Attach an engine to @task, or to the system if that is NULL.  It wants no
 * events yet.
 */
static struct utrace_engine *
session_attach_engine(struct session_target *target, struct task_struct *task)
{
	static const int flags[] = {
		[UTRACE_SCOPE_THREAD]	= UTRACE_ATTACH_OWN_EVENTS,
		[UTRACE_SCOPE_PROCESS]	= UTRACE_ATTACH_OWN_EVENTS |
					  UTRACE_ATTACH_PROCESS,
		[UTRACE_SCOPE_TREE]	= UTRACE_ATTACH_OWN_EVENTS |
					  UTRACE_ATTACH_TREE,
		[UTRACE_SCOPE_SYSTEM]	= 0,
	};

	return utrace_attach_for(target->session->cred, task,
				 UTRACE_ATTACH_OBSERVER | flags[target->scope],
				 &utrace_dev_ops, target, session_may_trace,
				 target->session);
}

/* Detach a target.  Callbacks that are running may still write records. */
static void session_remove(struct session_target *target)
{
	struct utrace_engine *engine = target->engine;
	int ret;

	list_del(&target->list);
	ret = utrace_control(NULL, engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	target->session->missed += utrace_engine_lost(engine);
	/*
	 * The last reference to the engine frees the target, see
	 * session_target.
	 */
	utrace_engine_put(engine);
}

/*
 * What tells the targets of one scope apart.  The engine has a reference, so
 * the address is not used again while the target is in the list.
 */
static const void *session_identity(enum utrace_scope scope,
				    struct task_struct *task)
{
	if (!task)
		return NULL;
	return scope == UTRACE_SCOPE_THREAD ? (void *)task :
					      (void *)task_tgid(task);
}

static bool session_has_target(const struct utrace_session *session,
			       enum utrace_scope scope,
			       struct task_struct *task)
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
	target->all = attach->scope == UTRACE_SCOPE_SYSTEM;
	INIT_LIST_HEAD(&target->tasks);
	engine = session_attach_engine(target, task);
	if (IS_ERR(engine)) {
		put_cred(target->cred);
		kfree(target);
		return PTR_ERR(engine);
	}
	/*
	 * From here on the engine owns the target, which has a reference to the
	 * session.
	 */
	utrace_set_owner(engine, session->owner);
	kref_get(&session->ref);
	target->engine = engine;
	list_add_tail(&target->list, &session->targets);
	/*
	 * The match is set before events, so that no event of the caller is
	 * recorded.
	 */
	ret = target->all ? session_leave_out_caller(target) : 0;
	ret = ret ?: session_apply(session, engine);
	if (ret)
		session_remove(target);
	else
		attach->id = target->id;
	return ret;
}

/* Return the task of a pidfd with a reference, or -EBADF or -ESRCH. */
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
 * utrace_dev_attach() - attach a session to tasks
 * @session: the session; its lock is held
 * @attach: what to attach to; the id of the target is stored here
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the session is attached
 * * -EBADF - the descriptor is no pidfd
 * * -EINVAL - there is no such scope, or the descriptor for the system is not
 *   -1
 * * -ESRCH - the task is gone
 * * -EPERM - the caller or the opener of the session may not trace the task, or
 *   it is a kernel thread
 * * -EEXIST - the session has this target already, in that scope
 * * -EUSERS - the user has too many engines
 * * -ENOSPC - the session has too many targets, or a task has too many engines
 * * -EINTR - the caller was killed
 * * -ENOMEM - there is no memory
 */
int utrace_dev_attach(struct utrace_session *session,
		      struct utrace_ioc_attach *attach)
{
	struct task_struct *task;
	int ret;

	lockdep_assert_held(&session->lock);

	if (attach->scope > UTRACE_SCOPE_SYSTEM)
		return -EINVAL;
	if (list_count_nodes(&session->targets) >= SESSION_MAX_TARGETS)
		return -ENOSPC;
	if (attach->scope == UTRACE_SCOPE_SYSTEM) {
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
 * utrace_dev_detach() - detach a session from one of its targets
 * @session: the session; its lock is held
 * @id: id of the target, from utrace_dev_attach()
 *
 * Does not wait for callbacks of the target.
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the target is detached
 * * -ENOENT - the session has no such target
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
 * utrace_dev_detach_all() - detach a session that ends from all its targets
 * @session: the session; its file is being released
 *
 * Context: Process context; may sleep.  Takes utrace_session.lock.
 */
void utrace_dev_detach_all(struct utrace_session *session)
{
	struct session_target *target, *next;

	/*
	 * No ioctl holds the lock: it would have a reference to the file, which
	 * is being released.
	 */
	guard(mutex)(&session->lock);
	list_for_each_entry_safe(target, next, &session->targets, list)
		session_remove(target);
}

/* System calls that one UTRACE_IOC_EVENTS may choose; more than there are. */
#define SESSION_MAX_CALLS	4096

/* Give all targets the settings.  -ESRCH is no error: the target has ended. */
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

/* Exchange the settings of the session and *@old. */
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

/*
 * Check and copy the settings of a program.  Reads user memory, so no lock is
 * held.  Return 0, -EINVAL, -EFAULT or -ENOMEM; after 0 the caller frees
 * ->calls.
 */
static int session_take_settings(struct session_settings *settings,
				 const struct utrace_ioc_events *events)
{
	int ret;

	if (events->events & ~utrace_dev_records() || events->reserved ||
	    events->capture & ~(u64)UTRACE_CAPTURE_ALL ||
	    events->ncalls > SESSION_MAX_CALLS ||
	    (events->calls && !events->ncalls))
		return -EINVAL;
	*settings = (struct session_settings){
		.events = events->events,
		.capture = events->capture,
		.ncalls = events->ncalls,
	};
	if (events->ncalls) {
		settings->calls =
			memdup_array_user(u64_to_user_ptr(events->calls),
					  events->ncalls, sizeof(int));
		if (IS_ERR(settings->calls))
			return PTR_ERR(settings->calls);
	}
	/*
	 * Checked here, too, for a session without targets, where no engine
	 * does it.
	 */
	ret = utrace_check_calls(settings->calls, settings->ncalls);
	if (ret)
		kfree(settings->calls);
	return ret;
}

/**
 * utrace_dev_set_events() - choose what a session records
 * @session: the session; its lock is not held
 * @events: the choice of the program; a copy, but @events->calls points to user
 *	memory
 *
 * If a target fails to take the settings, all targets get the old ones again,
 * as far as there is memory for it.
 *
 * Context: Process context; may fault and sleep.  Takes utrace_session.lock.
 * Return:
 * * 0 - all targets record by the new settings
 * * -EINVAL - there is no such event, capture or system call, @events->reserved
 *   is not 0, @events->calls is not 0 without @events->ncalls, or there are
 *   more than %SESSION_MAX_CALLS numbers
 * * -EFAULT - the numbers of system calls cannot be read
 * * -EINTR - the caller was killed
 * * -ENOMEM - there is no memory
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

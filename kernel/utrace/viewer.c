// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the rights of viewers to see and change tasks
 *
 * Rights are checked at two moments.  When a client attaches to a task or
 * writes to its memory, the requesting process is running, and
 * ptrace_may_access() decides (utrace_viewer_may_attach()).  When an event
 * comes, the task itself runs, possibly as another user or another program than
 * before.  It then checks the rights of the viewer (utrace_viewer_ask()): ids
 * and capabilities by the credentials that the viewer had, and security modules
 * by the hook of PTRACE_TRACEME.  The hook needs a tracer: that is the thread
 * that has attached.  Both checks cover the opener of the device as well, so
 * passing a descriptor on gives no process more rights than the opener or the
 * caller has.
 *
 * At an event security modules are asked about the caller alone: they compare
 * not only credentials, but tasks and their relation.  So the opener may be
 * another process only if no module distinguishes their credentials
 * (security_cred_same()).
 *
 * An answer is valid until the credentials of the task, the dumpability of its
 * memory or kernel.utrace.unprivileged changes, or a module reports a change of
 * its policy (LSM_POLICY_CHANGE, which only SELinux sends).  The exit of the
 * tracer changes no answer.  At the next check the tracer is the leader of its
 * process, another thread of it, or the process that reads.  If none of them
 * lives, the task is hidden.
 */
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/security.h>
#include <linux/slab.h>

#include "task_data.h"
#include "viewer.h"

/*
 * Sysctl kernel.utrace.unprivileged.  0: a program may use the device only
 * while it has CAP_SYS_PTRACE in the initial user namespace.
 */
int utrace_unprivileged __read_mostly;

atomic64_t utrace_viewer_changes __read_mostly =
	ATOMIC64_INIT(UTRACE_VIEW_CHANGE);

/**
 * struct utrace_view - the answer about a task, for clients without a cache
 * @data: entry in the task's data list.  Its owner is the viewer, NULL once
 *	that has gone
 * @viewed: the last answer
 * @list: entry in utrace_viewer.views while there is an owner
 */
struct utrace_view {
	struct utrace_task_data data;
	struct utrace_viewed viewed;
	struct list_head list;
};

/*
 * Protects utrace_viewer.views and the owner of each view.  No lock is inside.
 */
static DEFINE_SPINLOCK(views_lock);

/**
 * utrace_viewers_changed() - invalidate all answers of all viewers
 *
 * The caller has made the change before.  utrace_viewer_ask() reads the number
 * before anything else, so an answer from before the change is not valid.
 *
 * Context: Any.
 */
void utrace_viewers_changed(void)
{
	/* The change before the number; pairs with utrace_viewer_ask(). */
	smp_mb__before_atomic();
	atomic64_add(UTRACE_VIEW_CHANGE, &utrace_viewer_changes);
}

static int viewers_policy_changed(struct notifier_block *block,
				  unsigned long event, void *data)
{
	if (event == LSM_POLICY_CHANGE)
		utrace_viewers_changed();
	return NOTIFY_DONE;
}

static struct notifier_block viewers_policy = {
	.notifier_call = viewers_policy_changed,
};

static int __init viewers_init(void)
{
	return register_blocking_lsm_notifier(&viewers_policy);
}
fs_initcall(viewers_init);

/* Ids and capabilities */

static bool cred_is_capable(const struct cred *cred, struct user_namespace *ns, int cap)
{
	return !security_capable(cred, ns, cap, CAP_OPT_NOAUDIT);
}

/**
 * utrace_viewer_capable() - check a capability of the caller and of the opener
 * @opener: credentials of the opener of the device
 * @cap: the capability, in the initial user namespace
 *
 * Context: Process context.
 * Return: true if both have it.
 */
bool utrace_viewer_capable(const struct cred *opener, int cap)
{
	return ns_capable_noaudit(&init_user_ns, cap) &&
	       cred_is_capable(opener, &init_user_ns, cap);
}

/* Check whether programs with @cred may use the device. */
static bool cred_is_enabled(const struct cred *cred)
{
	return READ_ONCE(utrace_unprivileged) ||
	       cred_is_capable(cred, &init_user_ns, CAP_SYS_PTRACE);
}

/**
 * struct viewer_object - the object of a check of ids and capabilities
 * @cred: credentials of the task
 * @ns: the user namespace of its memory, or the initial one
 * @dumpable: its memory may be dumped by its user
 */
struct viewer_object {
	const struct cred *cred;
	struct user_namespace *ns;
	bool dumpable;
};

/* @task is current, or the caller holds its task_lock(). */
static void viewer_object_memory(struct viewer_object *object,
				 const struct task_struct *task)
{
	struct mm_struct *mm = task->mm;

	object->ns = mm ? mm->user_ns : &init_user_ns;
	object->dumpable = mm ? get_dumpable(mm) == SUID_DUMP_USER :
			   task->user_dumpable;
}

/* Check whether @cred has the ids of a task and all its capabilities. */
static bool cred_covers(const struct cred *cred, const struct cred *of)
{
	return uid_eq(cred->uid, of->euid) && uid_eq(cred->uid, of->suid) &&
	       uid_eq(cred->uid, of->uid) && gid_eq(cred->gid, of->egid) &&
	       gid_eq(cred->gid, of->sgid) && gid_eq(cred->gid, of->gid) &&
	       cred->user_ns == of->user_ns &&
	       cap_issubset(of->cap_permitted, cred->cap_permitted);
}

/*
 * The rules of __ptrace_may_access() and cap_ptrace_access_check() for ids and
 * capabilities, for any credentials.
 */
static bool cred_may(const struct cred *cred, const struct viewer_object *object)
{
	const struct cred *of = object->cred;

	if (!cred_covers(cred, of) &&
	    !cred_is_capable(cred, of->user_ns, CAP_SYS_PTRACE))
		return false;
	return object->dumpable ||
	       cred_is_capable(cred, object->ns, CAP_SYS_PTRACE);
}

static bool viewer_may(const struct utrace_viewer *viewer,
		       const struct viewer_object *object)
{
	return cred_may(viewer->opener, object) &&
	       (viewer->caller == viewer->opener ||
		cred_may(viewer->caller, object));
}

/**
 * utrace_viewer_is_covered() - check whether the caller has a viewer's rights
 * @viewer: the viewer
 *
 * A process that was given a descriptor must not use the rights of the viewer's
 * caller.
 *
 * Context: Process context.
 * Return: true if the process has the ids and capabilities of the viewer's
 * caller, or CAP_SYS_PTRACE in the user namespace of the caller, and no
 * security module distinguishes the two.
 */
bool utrace_viewer_is_covered(const struct utrace_viewer *viewer)
{
	const struct cred *now = current_cred(), *caller = viewer->caller;

	if (now == caller)
		return true;
	return (cred_covers(now, caller) ||
		cred_is_capable(now, caller->user_ns, CAP_SYS_PTRACE)) &&
	       security_cred_same(now, caller);
}

/**
 * utrace_viewer_is_enabled() - check whether a viewer may use the device now
 * @viewer: the viewer, or NULL
 *
 * Context: Any.
 * Return: true if kernel.utrace.unprivileged and the credentials of the viewer
 * allow it.
 */
bool utrace_viewer_is_enabled(const struct utrace_viewer *viewer)
{
	return !viewer || (cred_is_enabled(viewer->opener) &&
			   (viewer->caller == viewer->opener ||
			    cred_is_enabled(viewer->caller)));
}

/* Viewers */

/**
 * utrace_viewer_new() - create a viewer for the current process
 * @opener: credentials of the opener of the device
 * @unchecked: see &utrace_viewer.unchecked
 *
 * Context: Process context; may sleep.
 * Return: the viewer, with a reference for the caller; or
 * * -EPERM - the current process or the opener may not use the device, or a
 *   security module distinguishes them
 * * -ENOMEM - out of memory
 */
struct utrace_viewer *utrace_viewer_new(const struct cred *opener,
					bool unchecked)
{
	struct utrace_viewer *viewer;

	if (!cred_is_enabled(opener) || !cred_is_enabled(current_cred()) ||
	    !security_cred_same(opener, current_cred()))
		return ERR_PTR(-EPERM);
	viewer = kzalloc(sizeof(*viewer), GFP_KERNEL_ACCOUNT);
	if (!viewer)
		return ERR_PTR(-ENOMEM);
	kref_init(&viewer->ref);
	viewer->opener = get_cred(opener);
	viewer->caller = get_current_cred();
	viewer->unchecked = unchecked;
	viewer->thread = get_pid(task_pid(current));
	viewer->process = get_pid(task_tgid(current));
	INIT_LIST_HEAD(&viewer->views);
	return viewer;
}

/* Views that are left to their tasks in one section with interrupts off. */
#define VIEWS_AT_ONCE	32

/* Leave some views to their tasks.  Returns true if there may be more. */
static bool viewer_forget_some(struct utrace_viewer *viewer)
{
	struct utrace_view *view;
	unsigned int n;

	guard(spinlock_irqsave)(&views_lock);
	for (n = 0; n < VIEWS_AT_ONCE; n++) {
		view = list_first_entry_or_null(&viewer->views, struct utrace_view, list);
		if (!view)
			return false;
		list_del(&view->list);
		/* The task drops the view when it adds another entry. */
		WRITE_ONCE(view->data.owner, NULL);
	}
	return true;
}

static void viewer_free(struct kref *ref)
{
	struct utrace_viewer *viewer = container_of(ref, struct utrace_viewer, ref);

	while (viewer_forget_some(viewer))
		;
	put_cred(viewer->opener);
	put_cred(viewer->caller);
	put_pid(viewer->thread);
	put_pid(viewer->process);
	kfree(viewer);
}

/**
 * utrace_viewer_get() - take a reference
 * @viewer: the viewer, to which the caller has a reference
 *
 * Context: Any.
 * Return: @viewer.
 */
struct utrace_viewer *utrace_viewer_get(struct utrace_viewer *viewer)
{
	kref_get(&viewer->ref);
	return viewer;
}

/**
 * utrace_viewer_put() - drop a reference to a viewer
 * @viewer: the viewer, or NULL
 *
 * Context: Any but NMI.  Takes views_lock.
 */
void utrace_viewer_put(struct utrace_viewer *viewer)
{
	if (viewer)
		kref_put(&viewer->ref, viewer_free);
}

/* Security modules */

/* Find a thread of @process that is not exiting.  Called under RCU. */
static struct task_struct *living_thread(struct pid *process)
{
	struct task_struct *leader = pid_task(process, PIDTYPE_TGID), *t;

	if (!leader)
		return NULL;
	for_each_thread(leader, t)
		if (!(READ_ONCE(t->flags) & PF_EXITING))
			return t;
	return NULL;
}

/* Get the task that security modules are asked about, counted, or NULL. */
static struct task_struct *viewer_tracer(const struct utrace_viewer *viewer,
					 struct pid *reader)
{
	struct task_struct *task;

	guard(rcu)();
	task = pid_task(viewer->thread, PIDTYPE_PID);
	if (!task || READ_ONCE(task->flags) & PF_EXITING)
		task = living_thread(viewer->process);
	if (!task && reader)
		task = living_thread(reader);
	return task ? get_task_struct(task) : NULL;
}

/*
 * Ask security modules whether the viewer may trace the current task, by the
 * hook that PTRACE_TRACEME of ptrace(2) uses.  Yama takes task_lock() and adds
 * task work.  Returns utrace_viewed.modules.
 */
static int viewer_ask_modules(const struct utrace_viewer *viewer,
			      struct pid *reader)
{
	struct task_struct *tracer;
	bool allow;

	if (current->flags & PF_EXITING)
		return UTRACE_MODULES_UNASKED;
	tracer = viewer_tracer(viewer, reader);
	if (!tracer)
		return UTRACE_MODULES_UNASKED;
	/*
	 * As in ptrace_may_access(), modules do not judge the threads of one
	 * process.
	 */
	allow = same_thread_group(tracer, current) ||
		!security_ptrace_traceme(tracer);
	put_task_struct(tracer);
	return allow ? UTRACE_MODULES_ALLOW : UTRACE_MODULES_REFUSE;
}

/* In the task itself */

/*
 * Update the credentials of an answer to those of the current task, and drop
 * the answer of modules if they or the policy have changed.
 */
static void viewed_renew(struct utrace_viewed *viewed, u64 state)
{
	const struct cred *cred = current_real_cred();

	if (viewed->cred == cred &&
	    !((viewed->state ^ state) & ~(u64)(UTRACE_VIEW_CHANGE - 1)))
		return;
	viewed->modules = UTRACE_MODULES_UNASKED;
	if (viewed->cred == cred)
		return;
	put_cred(viewed->cred);
	viewed->cred = get_cred(cred);
}

/*
 * Check whether the viewer may see the current task as it is now.  Modules come
 * last, so that they log no refusal for what is refused anyway.  *@unasked is
 * set if there is no task for which they could be asked.
 */
static bool viewer_may_now(const struct utrace_viewer *viewer,
			   struct pid *reader, struct utrace_viewed *viewed,
			   bool *unasked)
{
	struct viewer_object object = { .cred = current_real_cred() };

	if (!utrace_viewer_is_enabled(viewer))
		return false;
	if (viewer->unchecked)
		return true;
	viewer_object_memory(&object, current);
	if (!viewer_may(viewer, &object))
		return false;
	if (viewed->modules == UTRACE_MODULES_UNASKED)
		viewed->modules = viewer_ask_modules(viewer, reader);
	*unasked = viewed->modules == UTRACE_MODULES_UNASKED;
	return viewed->modules == UTRACE_MODULES_ALLOW;
}

static u64 viewer_state_now(void)
{
	if (current->mm)
		return utrace_viewer_state(current->mm);
	return atomic64_read(&utrace_viewer_changes) +
	       (current->user_dumpable ? SUID_DUMP_USER : SUID_DUMP_DISABLE);
}

/**
 * utrace_viewer_ask() - check whether a viewer may see the current task
 * @viewer: the viewer, or NULL
 * @reader: the process that reads the viewer's records, or NULL
 * @viewed: the last answer about the current task, or zeros; updated if it is
 *	not valid
 *
 * Context: The task itself; may sleep.  Without task_lock() and siglock.
 * Return: true if the viewer may see the task.
 */
bool utrace_viewer_ask(const struct utrace_viewer *viewer, struct pid *reader,
		       struct utrace_viewed *viewed)
{
	bool seen, unasked = false;
	u64 state;

	might_sleep();
	if (!viewer)
		return true;
	/* Before the check: a concurrent change makes the state differ. */
	state = viewer_state_now();
	/* Pairs with utrace_viewers_changed(). */
	smp_rmb();
	if (viewed->cred == current_real_cred() &&
	    (viewed->state & ~(u64)UTRACE_VIEW_HIDDEN) == state)
		return !(viewed->state & UTRACE_VIEW_HIDDEN);
	viewed_renew(viewed, state);
	seen = viewer_may_now(viewer, reader, viewed, &unasked);
	if (unasked)
		viewed->state = 0;	/* Some process may read later. */
	else
		viewed->state = seen ? state : state | UTRACE_VIEW_HIDDEN;
	return seen;
}

static void view_put(struct utrace_task_data *data)
{
	struct utrace_view *view = container_of(data, struct utrace_view, data);

	scoped_guard(spinlock_irqsave, &views_lock)
		if (data->owner)
			list_del(&view->list);
	put_cred(view->viewed.cred);
	kfree(view);
}

/*
 * Look up or create the viewer's view of the current task.  NULL: out of
 * memory.
 */
static struct utrace_view *view_of_current(struct utrace_viewer *viewer)
{
	struct utrace_task_data *data = utrace_task_data_find(viewer);
	struct utrace_view *view;

	if (data)
		return container_of(data, struct utrace_view, data);
	view = kzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return NULL;
	view->data.owner = viewer;
	view->data.put = view_put;
	scoped_guard(spinlock_irqsave, &views_lock)
		list_add(&view->list, &viewer->views);
	utrace_task_data_add(&view->data);
	return view;
}

/**
 * utrace_viewer_viewed() - get the cached answer about the current task
 * @viewer: the viewer; not NULL
 *
 * Context: A callback, in the task itself; may sleep.  Takes views_lock.
 * Return: the answer, for utrace_viewer_ask(); NULL if there is none yet and no
 * memory.
 */
struct utrace_viewed *utrace_viewer_viewed(struct utrace_viewer *viewer)
{
	struct utrace_view *view = view_of_current(viewer);

	return view ? &view->viewed : NULL;
}

/**
 * utrace_viewer_sees() - utrace_viewer_ask() with an answer cached in the task
 * @viewer: the viewer, or NULL
 * @reader: the process that reads the viewer's records, or NULL
 *
 * Context: The task itself; may sleep.  Takes views_lock.
 * Return: true if the viewer may see the task.
 */
bool utrace_viewer_sees(struct utrace_viewer *viewer, struct pid *reader)
{
	struct utrace_viewed viewed = {};
	struct utrace_view *view;
	bool seen;

	if (!viewer)
		return true;
	view = current->utrace ? view_of_current(viewer) : NULL;
	if (view)
		return utrace_viewer_ask(viewer, reader, &view->viewed);
	seen = utrace_viewer_ask(viewer, reader, &viewed);
	put_cred(viewed.cred);
	return seen;
}

/**
 * utrace_viewer_knows() - fast path of utrace_viewer_sees()
 * @viewer: the viewer, or NULL
 *
 * Context: The task itself; does not sleep.
 * Return: true if the viewer may see the task; false if the caller must call
 * utrace_viewer_sees().
 */
bool utrace_viewer_knows(const struct utrace_viewer *viewer)
{
	struct utrace_task_data *data;

	if (!viewer)
		return true;
	if (!current->mm || !current->utrace)
		return false;
	data = utrace_task_data_find(viewer);
	return data && utrace_viewed_seen(&container_of(data, struct utrace_view,
							data)->viewed,
					  current->mm);
}

/**
 * utrace_viewer_may_see_memory() - check the right to bytes read from memory
 * @viewer: the viewer, who may see the current task; not NULL
 *
 * The memory can become undumpable while it is read: by prctl(PR_SET_DUMPABLE)
 * of another thread, or by a change of credentials of another task that shares
 * it.
 *
 * Context: The task itself; does not sleep.
 * Return: true if the memory is dumpable, or the viewer may see undumpable
 * memory.
 */
bool utrace_viewer_may_see_memory(const struct utrace_viewer *viewer)
{
	struct mm_struct *mm = current->mm;

	if (viewer->unchecked || !mm || likely(get_dumpable(mm) == SUID_DUMP_USER))
		return true;
	return cred_is_capable(viewer->opener, mm->user_ns, CAP_SYS_PTRACE) &&
	       cred_is_capable(viewer->caller, mm->user_ns, CAP_SYS_PTRACE);
}

/* In a process that works on another task */

/* Check whether the credentials of the viewer may trace @task as it is now. */
static bool viewer_may_task(const struct utrace_viewer *viewer,
			    struct task_struct *task)
{
	struct viewer_object object = { .cred = get_task_cred(task) };
	bool may;

	/*
	 * As in __ptrace_may_access(): pairs with the barrier in
	 * commit_creds().
	 */
	smp_rmb();
	task_lock(task);
	viewer_object_memory(&object, task);
	may = viewer_may(viewer, &object);
	task_unlock(task);
	put_cred(object.cred);
	return may;
}

/*
 * Check whether ptrace(2) would let the opener attach to @task instead of the
 * caller.
 */
static bool opener_may(const struct cred *opener, struct task_struct *task,
		       unsigned int mode)
{
	const struct cred *old;
	bool may;

	if (opener == current_cred())
		return true;
	old = override_creds(opener);
	may = ptrace_may_access(task, mode);
	revert_creds(old);
	return may;
}

/*
 * Modules are asked about the opener too: Yama allows more to a process with a
 * capability, and security_cred_same() does not compare capabilities.
 */
static bool viewer_may_by(const struct utrace_viewer *viewer,
			  struct task_struct *task, unsigned int mode)
{
	mode |= PTRACE_MODE_ATTACH_REALCREDS;
	/*
	 * The process that made the viewer may have passed the descriptor to
	 * the caller.
	 */
	return utrace_viewer_is_enabled(viewer) &&
	       viewer_may_task(viewer, task) &&
	       security_cred_same(current_cred(), viewer->caller) &&
	       ptrace_may_access(task, mode) &&
	       opener_may(viewer->opener, task, mode);
}

/**
 * utrace_viewer_may_attach() - check the right to attach a viewer to a task
 * @viewer: the viewer, or NULL
 * @task: the task
 *
 * Context: Process context.  Takes task_lock() of @task.
 * Return: true if the caller and the viewer may trace @task.
 */
bool utrace_viewer_may_attach(const struct utrace_viewer *viewer,
			      struct task_struct *task)
{
	return !viewer || viewer_may_by(viewer, task, 0);
}

/**
 * utrace_viewer_may_noaudit() - check the right to a task, without audit
 * @viewer: the viewer; not NULL
 * @task: the task
 *
 * The answer is valid until the task runs, or its memory becomes undumpable.
 *
 * Context: Process context, with exec_update_lock of @task held.  Takes
 * task_lock() of @task.
 * Return: true if the caller and the viewer may trace @task, and so may see and
 * change it.
 */
bool utrace_viewer_may_noaudit(const struct utrace_viewer *viewer,
			       struct task_struct *task)
{
	return viewer->unchecked || viewer_may_by(viewer, task, PTRACE_MODE_NOAUDIT);
}

/*
 * Check whether current's credentials may trace the whole system.  Security
 * modules have no hook for that.  They are asked about the closest operation
 * that they know: a perf event for the tracepoints of all tasks on all CPUs.
 * Lockdown is not asked, since records contain memory of programs and none of
 * the kernel.
 */
static bool caller_may_see_all(void)
{
	if (!perfmon_capable() || !cred_is_enabled(current_cred()))
		return false;
#ifdef CONFIG_PERF_EVENTS
	if (security_perf_event_open(PERF_SECURITY_OPEN) ||
	    security_perf_event_open(PERF_SECURITY_CPU) ||
	    security_perf_event_open(PERF_SECURITY_TRACEPOINT))
		return false;
#endif
	return true;
}

/**
 * utrace_viewer_may_see_all() - check the right to trace the whole system
 * @opener: credentials of the opener of the device
 *
 * Context: Process context.
 * Return: true if the caller and the opener may.
 */
bool utrace_viewer_may_see_all(const struct cred *opener)
{
	const struct cred *old;
	bool may;

	if (!caller_may_see_all())
		return false;
	old = override_creds(opener);
	may = caller_may_see_all();
	revert_creds(old);
	return may;
}

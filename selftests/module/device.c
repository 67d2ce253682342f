// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace_test: the interface of engines as ioctls
 *
 * Every open file is a session with engines of its own, which end with the
 * file.  The session has one reference to each engine; an ioctl takes another
 * reference.  The engine's data (struct ut_engine) has a reference to the
 * session, so that ->release() may run late.
 */

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cleanup.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/ptrace.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

#include "utrace_test.h"

static void ut_session_free(struct kref *kref)
{
	struct ut_session *session =
		container_of(kref, struct ut_session, kref);

	xa_destroy(&session->engines);
	kfree(session);
}

/* Count the event, and put a copy of @rec into the ring. */
void ut_log(struct ut_engine *e, struct ut_record *rec)
{
	struct ut_session *session = e->session;
	unsigned int room = UT_RING;

	if (rec->event != UT_EV_RELEASE)
		room -= UT_RING_SPARE;
	rec->id = e->id;
	atomic64_inc(&e->count[rec->event]);
	if (BIT(rec->event) & e->nolog)
		return;

	spin_lock(&session->lock);
	rec->seq = session->seq++;
	if (!session->ring || session->head - session->tail >= room)
		session->lost++;
	else
		session->ring[session->head++ % UT_RING] = *rec;
	spin_unlock(&session->lock);
	wake_up(&session->wait);
}

static struct ut_engine *ut_engine_new(struct ut_session *session,
				       struct task_struct *task,
				       const struct ut_attach *arg)
{
	struct ut_engine *e = kzalloc(sizeof(*e), GFP_KERNEL);
	int ret;

	if (!e)
		return ERR_PTR(-ENOMEM);
	/*
	 * Reserve the number: callbacks log it, and may run before the engine
	 * is stored.
	 */
	ret = xa_alloc_cyclic(&session->engines, &e->id, NULL,
			      XA_LIMIT(1, INT_MAX), &session->next_id,
			      GFP_KERNEL);
	if (ret < 0) {
		kfree(e);
		return ERR_PTR(ret);
	}
	e->session = session;
	kref_get(&session->kref);
	atomic_inc(&session->live);
	e->task = get_task_struct(task);
	e->flags = arg->flags;
	e->ops = arg->ops;
	e->nolog = arg->nolog;
	spin_lock_init(&e->lock);
	INIT_LIST_HEAD(&e->rules);
	xa_init(&e->wants);
	return e;
}

/* ->release() and a failed attach call this. */
void ut_engine_free(struct ut_engine *e)
{
	struct ut_session *session = e->session;
	struct ut_rule_node *n, *tmp;

	list_for_each_entry_safe(n, tmp, &e->rules, node)
		kfree(n);
	xa_destroy(&e->wants);
	put_task_struct(e->task);
	kfree(e);
	atomic_dec(&session->live);
	kref_put(&session->kref, ut_session_free);
}

/*
 * Attach a new engine of @session to @task, or to the system, as @arg says; @id
 * gets its number.  Returns the engine with a reference for the caller, besides
 * that of the session, or an error pointer.
 */
struct utrace_engine *ut_engine_attach(struct ut_session *session,
				       struct task_struct *task,
				       const struct ut_attach *arg, u32 *id)
{
	struct ut_engine *e = ut_engine_new(session, task, arg);
	struct utrace_engine *engine;
	void *old;

	if (IS_ERR(e))
		return ERR_CAST(e);
	*id = e->id;
	if (arg->flags & UT_ATTACH_SYSTEM)
		engine = utrace_attach_system(arg->flags & UTRACE_ATTACH_OF_SYSTEM,
					      ut_ops[arg->ops], e);
	else
		engine = utrace_attach_task(task,
					    arg->flags | UTRACE_ATTACH_CREATE,
					    ut_ops[arg->ops], e);
	if (IS_ERR(engine)) {
		xa_erase(&session->engines, *id);
		ut_engine_free(e);
		return engine;
	}
	utrace_engine_get(engine);
	old = xa_store(&session->engines, *id, engine, GFP_KERNEL);
	/*
	 * xa_alloc_cyclic() reserved the slot, so xa_store() needs no memory.
	 */
	WARN_ON(xa_is_err(old));
	return engine;
}

/* Returns the engine number @id with a reference for the caller, or NULL. */
struct utrace_engine *ut_engine_find(struct ut_session *session, u32 id)
{
	struct utrace_engine *engine;

	xa_lock(&session->engines);
	engine = xa_load(&session->engines, id);
	if (engine)
		utrace_engine_get(engine);
	xa_unlock(&session->engines);
	return engine;
}

static void ut_engine_put(struct utrace_engine *engine)
{
	if (engine)
		utrace_engine_put(engine);
}

DEFINE_FREE(ut_engine, struct utrace_engine *, ut_engine_put(_T))

static struct task_struct *ut_task_find(pid_t tid)
{
	struct pid *pid = find_get_pid(tid);
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);

	put_pid(pid);
	return task;
}

/*
 * Find the target of an ioctl.  A @tid of 0 stands for the engine's own task if
 * it has thread scope, and for no task otherwise.
 */
static int ut_target(struct utrace_engine *engine, pid_t tid,
		     struct task_struct **target)
{
	struct ut_engine *e = engine->data;

	*target = NULL;
	if (tid) {
		*target = ut_task_find(tid);
		return *target ? 0 : -ESRCH;
	}
	if (!(e->flags & (UTRACE_ATTACH_SCOPE_MASK | UT_ATTACH_SYSTEM)))
		*target = get_task_struct(e->task);
	return 0;
}

/* Find engine and target; the caller gets references to both. */
static int ut_find_both(struct ut_session *session, u32 id, pid_t tid,
			struct utrace_engine **engine,
			struct task_struct **target)
{
	*engine = ut_engine_find(session, id);
	return *engine ? ut_target(*engine, tid, target) : -ENOENT;
}

static long ut_ioc_find(struct ut_session *session, struct task_struct *task,
			struct ut_attach *arg)
{
	struct utrace_engine *model __free(ut_engine) = NULL;
	struct utrace_engine *engine;
	struct ut_engine *e;

	if (arg->data) {
		model = ut_engine_find(session, arg->data);
		if (!model)
			return -ENOENT;
	}
	engine = utrace_attach_task(task, arg->flags, ut_ops[arg->ops],
				    model ? model->data : NULL);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	/* An engine of another module has no number. */
	arg->id = 0;
	if (engine->ops == ut_ops[UT_OPS_FULL] ||
	    engine->ops == ut_ops[UT_OPS_BARE] ||
	    engine->ops == ut_ops[UT_OPS_ODD]) {
		e = engine->data;
		arg->id = e->id;
	}
	utrace_engine_put(engine);
	return 0;
}

static long ut_ioc_attach(struct ut_session *session, void __user *uarg)
{
	struct task_struct *task __free(put_task) = NULL;
	struct utrace_engine *engine;
	struct ut_attach arg;
	long ret = 0;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	if (arg.ops > UT_OPS_ODD)
		return -EINVAL;
	task = arg.pid ? ut_task_find(arg.pid) : get_task_struct(current);
	if (!task)
		return -ESRCH;
	if (arg.flags & UTRACE_ATTACH_CREATE) {
		engine = ut_engine_attach(session, task, &arg, &arg.id);
		if (IS_ERR(engine))
			return PTR_ERR(engine);
		utrace_engine_put(engine);
	} else {
		ret = ut_ioc_find(session, task, &arg);
	}
	if (!ret && copy_to_user(uarg, &arg, sizeof(arg)))
		ret = -EFAULT;
	return ret;
}

static long ut_ioc_events(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct task_struct *task __free(put_task) = NULL;
	struct ut_events arg;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	ret = ut_find_both(session, arg.id, arg.tid, &engine, &task);
	return ret ?: utrace_set_events(task, engine, arg.events);
}

/* Set the answer of callbacks that no rule fits. */
static int ut_set_standing_answer(struct ut_engine *e, pid_t tid, u32 action)
{
	unsigned long index;
	void *entry;

	/*
	 * One report serves these actions, so the callback need not repeat
	 * them.
	 */
	if (action == UTRACE_REPORT || action == UTRACE_INTERRUPT)
		action = UTRACE_RESUME;
	if (!tid)
		xa_for_each(&e->wants, index, entry)
			xa_erase(&e->wants, index);
	return xa_err(xa_store(&e->wants, tid, xa_mk_value(action),
			       GFP_KERNEL));
}

static long ut_ioc_control(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct task_struct *task __free(put_task) = NULL;
	struct ut_control arg;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	ret = ut_find_both(session, arg.id, arg.tid, &engine, &task);
	if (ret)
		return ret;
	if (arg.action <= UTRACE_RESUME) {
		ret = ut_set_standing_answer(engine->data,
					     task ? task_pid_nr(task) : 0,
					     arg.action);
		if (ret)
			return ret;
	}
	return utrace_control(task, engine, arg.action);
}

static long ut_ioc_barrier(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct task_struct *task __free(put_task) = NULL;
	struct ut_barrier arg;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	ret = ut_find_both(session, arg.id, arg.tid, &engine, &task);
	if (ret)
		return ret;
	switch (arg.kind) {
	case UT_BARRIER_PLAIN:
		return utrace_barrier(task, engine);
	case UT_BARRIER_KILLABLE:
		return utrace_barrier_killable(engine);
	case UT_BARRIER_SYNC:
		utrace_barrier_sync(engine);
		return 0;
	default:
		return -EINVAL;
	}
}

static long ut_ioc_filter(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct ut_filter arg;
	int *nrs = NULL;
	long ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	engine = ut_engine_find(session, arg.id);
	if (!engine)
		return -ENOENT;
	if (arg.nrs) {
		nrs = memdup_array_user(u64_to_user_ptr(arg.nrs), arg.n,
					sizeof(*nrs));
		if (IS_ERR(nrs))
			return PTR_ERR(nrs);
	}
	ret = utrace_set_syscall_filter(engine, nrs, arg.n);
	kfree(nrs);
	return ret;
}

/*
 * Read the registers of the stopped task.  SIGKILL may end the stop and free
 * the task's stack during the copy.  Then the copy fails or is garbage, and
 * utrace_finish_examine() returns an error.
 */
static void ut_read_regs(struct task_struct *task, struct ut_examine *arg)
{
	struct pt_regs regs;
	unsigned int i;

	if (copy_from_kernel_nofault(&regs, task_pt_regs(task), sizeof(regs)))
		return;
	arg->ip = instruction_pointer(&regs);
	arg->sp = user_stack_pointer(&regs);
	arg->nr = syscall_get_nr(task, &regs);
	arg->result = syscall_get_return_value(task, &regs);
	for (i = 0; i < ARRAY_SIZE(arg->arg); i++)
		arg->arg[i] = utrace_syscall_get_arg(&regs, i);
}

static long ut_ioc_examine(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct task_struct *task __free(put_task) = NULL;
	struct utrace_examiner exam;
	struct ut_examine arg;
	int ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	ret = ut_find_both(session, arg.id, arg.tid, &engine, &task);
	if (ret)
		return ret;
	arg.prepare = utrace_prepare_examine(task, engine, &exam);
	arg.finish = 0;
	if (!arg.prepare) {
		if (task)
			ut_read_regs(task, &arg);
		if (arg.delay_ms == UT_UNTIL_OPEN) {
			if (copy_to_user(uarg, &arg, sizeof(arg)))
				return -EFAULT;
			ret = wait_event_killable(session->wait,
						  READ_ONCE(session->open));
			if (ret)
				return ret;
		} else if (arg.delay_ms) {
			msleep(arg.delay_ms);
		}
		arg.finish = utrace_finish_examine(task, engine, &exam);
	}
	return copy_to_user(uarg, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long ut_ioc_rule(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct ut_rule_node *n;
	struct ut_engine *e;

	n = kzalloc(sizeof(*n), GFP_KERNEL);
	if (!n)
		return -ENOMEM;
	if (copy_from_user(&n->rule, uarg, sizeof(n->rule))) {
		kfree(n);
		return -EFAULT;
	}
	engine = ut_engine_find(session, n->rule.id);
	if (!engine || n->rule.event >= UT_EV_RELEASE || n->rule.argi > 5) {
		kfree(n);
		return engine ? -EINVAL : -ENOENT;
	}
	e = engine->data;
	spin_lock(&e->lock);
	list_add_tail(&n->node, &e->rules);
	spin_unlock(&e->lock);
	return 0;
}

static long ut_ioc_norules(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct ut_rule_node *n, *tmp;
	struct ut_engine *e;
	u32 id;

	if (copy_from_user(&id, uarg, sizeof(id)))
		return -EFAULT;
	engine = ut_engine_find(session, id);
	if (!engine)
		return -ENOENT;
	e = engine->data;
	spin_lock(&e->lock);
	list_for_each_entry_safe(n, tmp, &e->rules, node) {
		list_del(&n->node);
		kfree(n);
	}
	spin_unlock(&e->lock);
	return 0;
}

static long ut_ioc_follow(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct ut_follow arg;
	struct ut_engine *e;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	engine = ut_engine_find(session, arg.id);
	if (!engine)
		return -ENOENT;
	e = engine->data;
	spin_lock(&e->lock);
	e->follow = arg;
	spin_unlock(&e->lock);
	return 0;
}

static bool ut_log_empty(struct ut_session *session)
{
	return READ_ONCE(session->head) == READ_ONCE(session->tail);
}

/* Take the oldest record out of the ring. */
static bool ut_log_take(struct ut_session *session, struct ut_record *rec)
{
	guard(spinlock)(&session->lock);
	if (session->head == session->tail)
		return false;
	*rec = session->ring[session->tail++ % UT_RING];
	return true;
}

static long ut_ioc_log(struct ut_session *session, void __user *uarg)
{
	struct ut_record __user *buf;
	struct ut_record rec;
	struct ut_log arg;
	unsigned long t;
	u32 max;
	long ret;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	t = msecs_to_jiffies(arg.timeout_ms);
	ret = wait_event_interruptible_timeout(session->wait,
					       !ut_log_empty(session), t);
	if (ret < 0)
		return ret;
	buf = u64_to_user_ptr(arg.buf);
	/* Records that are logged after this are for the next call. */
	spin_lock(&session->lock);
	max = min(arg.max, session->head - session->tail);
	spin_unlock(&session->lock);
	for (arg.n = 0; arg.n < max && ut_log_take(session, &rec); arg.n++)
		if (copy_to_user(buf + arg.n, &rec, sizeof(rec)))
			return -EFAULT;
	spin_lock(&session->lock);
	arg.lost = session->lost;
	arg.seq = session->seq;
	spin_unlock(&session->lock);
	return copy_to_user(uarg, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static long ut_ioc_counts(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine __free(ut_engine) = NULL;
	struct ut_counts arg;
	struct ut_engine *e;
	unsigned int i;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	engine = ut_engine_find(session, arg.id);
	if (!engine)
		return -ENOENT;
	e = engine->data;
	for (i = 0; i < UT_EV_MAX; i++)
		arg.count[i] = atomic64_read(&e->count[i]);
	return copy_to_user(uarg, &arg, sizeof(arg)) ? -EFAULT : 0;
}

/*
 * End an engine as a module does in its exit function: detach, wait, put.  No
 * callback of the engine runs after that.
 */
static int ut_engine_end(struct utrace_engine *engine)
{
	struct task_struct *task __free(put_task) = NULL;
	int ret;

	ut_target(engine, 0, &task);
	ret = utrace_control(task, engine, UTRACE_DETACH);
	utrace_barrier_sync(engine);
	utrace_engine_put(engine);
	return ret;
}

static long ut_ioc_detach(struct ut_session *session, void __user *uarg)
{
	struct utrace_engine *engine;
	struct ut_detach arg;

	if (copy_from_user(&arg, uarg, sizeof(arg)))
		return -EFAULT;
	engine = xa_erase(&session->engines, arg.id);
	if (!engine)
		return -ENOENT;
	arg.ret = ut_engine_end(engine);
	return copy_to_user(uarg, &arg, sizeof(arg)) ? -EFAULT : 0;
}

static void ut_set_gate(struct ut_session *session, bool open)
{
	WRITE_ONCE(session->open, open);
	wake_up_all(&session->wait);
}

static long ut_ioc_open(struct ut_session *session, void __user *uarg)
{
	u32 open;

	if (copy_from_user(&open, uarg, sizeof(open)))
		return -EFAULT;
	ut_set_gate(session, open);
	return 0;
}

static long ut_detach_all(struct ut_session *session)
{
	struct utrace_engine *engine;
	unsigned long id;
	bool again;

	/* A callback that waits at the gate would not let its engine end. */
	ut_set_gate(session, true);
	/*
	 * Engines that follow forks may add engines during a pass, so repeat
	 * it.
	 */
	do {
		again = false;
		xa_for_each(&session->engines, id, engine) {
			engine = xa_erase(&session->engines, id);
			if (!engine)
				continue;
			ut_engine_end(engine);
			again = true;
		}
	} while (again);
	return atomic_read(&session->live);
}

static long ut_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct ut_session *session = file->private_data;
	void __user *uarg = (void __user *)arg;

	switch (cmd) {
	case UT_IOC_ATTACH:
		return ut_ioc_attach(session, uarg);
	case UT_IOC_EVENTS:
		return ut_ioc_events(session, uarg);
	case UT_IOC_CONTROL:
		return ut_ioc_control(session, uarg);
	case UT_IOC_BARRIER:
		return ut_ioc_barrier(session, uarg);
	case UT_IOC_FILTER:
		return ut_ioc_filter(session, uarg);
	case UT_IOC_EXAMINE:
		return ut_ioc_examine(session, uarg);
	case UT_IOC_RULE:
		return ut_ioc_rule(session, uarg);
	case UT_IOC_NORULES:
		return ut_ioc_norules(session, uarg);
	case UT_IOC_FOLLOW:
		return ut_ioc_follow(session, uarg);
	case UT_IOC_LOG:
		return ut_ioc_log(session, uarg);
	case UT_IOC_COUNTS:
		return ut_ioc_counts(session, uarg);
	case UT_IOC_DETACH:
		return ut_ioc_detach(session, uarg);
	case UT_IOC_DETACH_ALL:
		return ut_detach_all(session);
	case UT_IOC_OPEN:
		return ut_ioc_open(session, uarg);
	case UT_IOC_LOST:
		return utrace_lost_events();
	default:
		return -ENOTTY;
	}
}

static int ut_open(struct inode *inode, struct file *file)
{
	struct ut_session *session = kzalloc(sizeof(*session), GFP_KERNEL);

	if (!session)
		return -ENOMEM;
	session->ring = kvcalloc(UT_RING, sizeof(*session->ring), GFP_KERNEL);
	if (!session->ring) {
		kfree(session);
		return -ENOMEM;
	}
	kref_init(&session->kref);
	xa_init_flags(&session->engines, XA_FLAGS_ALLOC1);
	init_waitqueue_head(&session->wait);
	spin_lock_init(&session->lock);
	file->private_data = session;
	return 0;
}

static int ut_close(struct inode *inode, struct file *file)
{
	struct ut_session *session = file->private_data;
	struct ut_record *ring = session->ring;
	long left = ut_detach_all(session);

	/* ->release() of such an engine would run in an unloaded module. */
	WARN(left, "%ld engines outlive their session\n", left);
	spin_lock(&session->lock);
	session->ring = NULL;
	spin_unlock(&session->lock);
	kvfree(ring);
	kref_put(&session->kref, ut_session_free);
	return 0;
}

static const struct file_operations ut_fops = {
	.owner		= THIS_MODULE,
	.open		= ut_open,
	.release	= ut_close,
	.unlocked_ioctl	= ut_ioctl,
	.llseek		= noop_llseek,
};

static struct miscdevice ut_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "utrace_test",
	.mode	= 0600,
	.fops	= &ut_fops,
};
module_misc_device(ut_device);

MODULE_DESCRIPTION("The utrace interface for the selftests");
MODULE_LICENSE("GPL");

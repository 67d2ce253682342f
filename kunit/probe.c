// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - an engine that records its calls
 *
 * See probe.h.  @lock serializes the callbacks, which run in several tasks, and
 * the test, which reads the recorded calls.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/limits.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>

#include <asm/syscall.h>

#include "probe.h"

/* One clock for all probes, so that a test can compare the order of calls. */
static atomic_t probe_clock = ATOMIC_INIT(0);

static u32 probe_keep(const struct probe_call *c)
{
	switch (c->event) {
	case _UTRACE_EVENT_SIGNAL:
		/* A report without a signal has nothing to deliver. */
		if (utrace_signal_action(c->action) >= UTRACE_SIGNAL_REPORT)
			return UTRACE_SIGNAL_IGN;
		return utrace_signal_action(c->action);
	case _UTRACE_EVENT_SYSCALL_ENTRY:
		return utrace_syscall_action(c->action);
	default:
		return 0;
	}
}

/* Decide on the answer and record the call. */
static u32 probe_record(struct utrace_engine *engine, struct probe_call *c)
{
	struct probe *p = engine->data;
	struct probe_call *to;
	unsigned long flags;
	u32 answer;

	c->task = current;
	c->tid = task_pid_nr(current);
	c->order = atomic_inc_return(&probe_clock);
	answer = p->hook ? p->hook(p, c) : READ_ONCE(p->answer[c->event]);
	if (answer & PROBE_KEEP) {
		answer = (answer & ~PROBE_KEEP) | probe_keep(c);
		/*
		 * An answer other than STOP would end the stop that the probe
		 * has requested.
		 */
		if (READ_ONCE(p->holding))
			answer &= ~UTRACE_RESUME_MASK;
	}
	c->answer = answer;

	spin_lock_irqsave(&p->lock, flags);
	to = &p->call[p->calls++ % PROBE_CALLS];
	*to = *c;
	to->regs = NULL;
	to->info = NULL;
	to->ka = NULL;
	to->child = NULL;
	to->code = NULL;
	wake_up_all(&p->wait);
	spin_unlock_irqrestore(&p->lock, flags);
	return answer;
}

static u32 probe_quiesce(u32 action, struct utrace_engine *engine,
			 unsigned long event)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_QUIESCE,
		.action = action,
		.arg = { event },
	};

	return probe_record(engine, &c);
}

static u32 probe_signal(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs, kernel_siginfo_t *info,
			const struct k_sigaction *orig_ka,
			struct k_sigaction *return_ka)
{
	bool real = utrace_signal_action(action) < UTRACE_SIGNAL_REPORT;
	struct probe_call c = {
		.event = _UTRACE_EVENT_SIGNAL,
		.action = action,
		.arg = { real ? info->si_signo : 0, !!orig_ka },
		.regs = regs,
		.info = info,
		.ka = return_ka,
	};

	return probe_record(engine, &c);
}

static u32 probe_clone(u32 action, struct utrace_engine *engine,
		       unsigned long clone_flags, struct task_struct *child)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_CLONE,
		.action = action,
		.arg = { clone_flags, task_pid_nr(child) },
		.child = child,
	};

	return probe_record(engine, &c);
}

static u32 probe_jctl(u32 action, struct utrace_engine *engine, int type,
		      int notify)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_JCTL,
		.action = action,
		.arg = { type, notify },
	};

	return probe_record(engine, &c);
}

static u32 probe_exec(u32 action, struct utrace_engine *engine,
		      const struct linux_binfmt *fmt,
		      const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_EXEC,
		.action = action,
		.arg = { !fmt, !!bprm },
		.regs = regs,
	};

	return probe_record(engine, &c);
}

/* Check whether the test ignores this system call. */
static bool probe_passes(const struct probe *p, int nr)
{
	return p->nr != PROBE_ANY_NR && p->nr != nr;
}

static u32 probe_syscall_entry(u32 action, struct utrace_engine *engine,
			       struct pt_regs *regs)
{
	int nr = syscall_get_nr(current, regs);
	struct probe_call c = {
		.event = _UTRACE_EVENT_SYSCALL_ENTRY,
		.action = action,
		.arg = { nr, utrace_syscall_get_arg(regs, 0) },
		.regs = regs,
	};

	if (probe_passes(engine->data, nr))
		return UTRACE_RESUME | utrace_syscall_action(action);
	return probe_record(engine, &c);
}

static u32 probe_syscall_exit(u32 action, struct utrace_engine *engine,
			      struct pt_regs *regs)
{
	int nr = syscall_get_nr(current, regs);
	struct probe_call c = {
		.event = _UTRACE_EVENT_SYSCALL_EXIT,
		.action = action,
		.arg = { nr, syscall_get_return_value(current, regs) },
		.regs = regs,
	};

	if (probe_passes(engine->data, nr))
		return UTRACE_RESUME;
	return probe_record(engine, &c);
}

static u32 probe_exit(u32 action, struct utrace_engine *engine,
		      long orig_code, long *code)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_EXIT,
		.action = action,
		.arg = { orig_code, *code },
		.code = code,
	};

	return probe_record(engine, &c);
}

static u32 probe_death(struct utrace_engine *engine, bool group_dead,
		       int signal)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_DEATH,
		.action = UTRACE_RESUME,
		.arg = { group_dead, signal },
	};

	return probe_record(engine, &c);
}

static void probe_reap(struct utrace_engine *engine, struct task_struct *task)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_REAP,
		.arg = { (long)task },
	};

	probe_record(engine, &c);
}

static u32 probe_vfork_done(u32 action, struct utrace_engine *engine,
			    pid_t child_pid)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_VFORK_DONE,
		.action = action,
		.arg = { child_pid },
	};

	return probe_record(engine, &c);
}

static u32 probe_creds(u32 action, struct utrace_engine *engine,
		       const struct linux_binprm *bprm)
{
	struct probe_call c = {
		.event = _UTRACE_EVENT_CREDS,
		.action = action,
		.arg = { !!bprm },
	};

	return probe_record(engine, &c);
}

static void probe_release(void *data)
{
	struct probe *p = data;
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	p->released++;
	wake_up_all(&p->wait);
	spin_unlock_irqrestore(&p->lock, flags);
}

const struct utrace_engine_ops probe_ops = {
	.report_quiesce		= probe_quiesce,
	.report_signal		= probe_signal,
	.report_clone		= probe_clone,
	.report_jctl		= probe_jctl,
	.report_exec		= probe_exec,
	.report_syscall_entry	= probe_syscall_entry,
	.report_syscall_exit	= probe_syscall_exit,
	.report_exit		= probe_exit,
	.report_death		= probe_death,
	.report_reap		= probe_reap,
	.release		= probe_release,
	.report_vfork_done	= probe_vfork_done,
	.report_creds		= probe_creds,
	.name			= "probe",
};

/* Action of every test: the engine must be released, exactly once. */
static void probe_end(void *data)
{
	struct probe *p = data;

	if (p->child)
		put_task_struct(p->child);
	if (!p->engine) {
		/*
		 * probe_put() has dropped the reference, or there never was
		 * one.
		 */
		KUNIT_EXPECT_EQ(p->test, p->released, p->attached);
		return;
	}
	probe_detach(p);
	utrace_engine_put(p->engine);
	KUNIT_EXPECT_TRUE_MSG(p->test, probe_wait_released(p),
			      "an engine is not released");
	KUNIT_EXPECT_EQ(p->test, p->released, p->attached);
}

struct probe *probe_new(struct kunit *test)
{
	struct probe *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, p);
	p->test = test;
	p->nr = PROBE_ANY_NR;
	for (i = 0; i < _UTRACE_NEVENTS; i++)
		p->answer[i] = UTRACE_RESUME | PROBE_KEEP;
	spin_lock_init(&p->lock);
	init_completion(&p->begun);
	init_completion(&p->end);
	init_waitqueue_head(&p->wait);
	KUNIT_ASSERT_EQ(test, kunit_add_action(test, probe_end, p), 0);
	return p;
}

int probe_try_attach(struct probe *p, struct task_struct *task, int flags)
{
	struct utrace_engine *engine;

	engine = utrace_attach_task(task, flags | UTRACE_ATTACH_CREATE,
				    &probe_ops, p);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	p->engine = engine;
	p->attached++;
	/*
	 * The scope of such an engine may outlive the task, so keep no pointer.
	 */
	p->target = flags & UTRACE_ATTACH_SCOPE_MASK ? NULL : task;
	return 0;
}

int probe_try_attach_system(struct probe *p, int flags)
{
	struct utrace_engine *engine = utrace_attach_system(flags, &probe_ops, p);

	if (IS_ERR(engine))
		return PTR_ERR(engine);
	p->engine = engine;
	p->attached++;
	return 0;
}

struct probe *probe_attach(struct user_task *t, int flags,
			   unsigned long events)
{
	struct probe *p = probe_new(t->test);

	KUNIT_ASSERT_EQ(t->test, probe_try_attach(p, t->task, flags), 0);
	if (events)
		probe_set_events(p, events);
	return p;
}

void probe_set_events(struct probe *p, unsigned long events)
{
	int ret = utrace_set_events(p->target, p->engine, events);

	if (ret == -EINPROGRESS) {
		utrace_barrier_sync(p->engine);
		ret = 0;
	}
	KUNIT_ASSERT_EQ(p->test, ret, 0);
}

void probe_detach(struct probe *p)
{
	int ret = probe_control(p, UTRACE_DETACH);

	KUNIT_EXPECT_TRUE_MSG(p->test,
			      !ret || ret == -EINPROGRESS || ret == -ESRCH,
			      "detach: %d", ret);
	utrace_barrier_sync(p->engine);
}

int probe_control(struct probe *p, enum utrace_resume_action action)
{
	WRITE_ONCE(p->holding, false);
	return utrace_control(p->target, p->engine, action);
}

void probe_stop(struct probe *p, struct user_task *t)
{
	int ret;

	WRITE_ONCE(p->holding, true);
	ret = utrace_control(p->target, p->engine, UTRACE_STOP);
	KUNIT_ASSERT_TRUE_MSG(p->test, !ret || ret == -EINPROGRESS,
			      "stop: %d", ret);
	KUNIT_ASSERT_TRUE(p->test, user_task_wait_stopped(t));
}

static bool find_locked(const struct probe *p, enum utrace_events event,
			unsigned int nth, struct probe_call *found)
{
	unsigned int first = max_t(int, p->calls - PROBE_CALLS, 0), i;

	for (i = first; i < p->calls; i++) {
		const struct probe_call *c = &p->call[i % PROBE_CALLS];

		if (c->event == event && !nth--) {
			*found = *c;
			return true;
		}
	}
	return false;
}

bool probe_find(struct probe *p, enum utrace_events event, unsigned int nth,
		struct probe_call *found)
{
	unsigned long flags;
	bool ret;

	spin_lock_irqsave(&p->lock, flags);
	ret = find_locked(p, event, nth, found);
	spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}

struct probe_call probe_call(struct probe *p, enum utrace_events event,
			     unsigned int nth)
{
	struct probe_call c = {};

	KUNIT_ASSERT_TRUE_MSG(p->test, probe_find(p, event, nth, &c),
			      "no call %u for event %d", nth, event);
	return c;
}

unsigned int probe_count(struct probe *p, enum utrace_events event)
{
	struct probe_call c;
	unsigned int n = 0;

	while (probe_find(p, event, n, &c))
		n++;
	return n;
}

void probe_forget(struct probe *p)
{
	unsigned long flags;

	spin_lock_irqsave(&p->lock, flags);
	p->calls = 0;
	spin_unlock_irqrestore(&p->lock, flags);
}

bool probe_wait(struct probe *p, enum utrace_events event, unsigned int n)
{
	return wait_event_timeout(p->wait, probe_count(p, event) >= n,
				  USER_DEADLINE);
}

bool probe_wait_released(struct probe *p)
{
	unsigned long flags;
	bool ret;

	ret = wait_event_timeout(p->wait, READ_ONCE(p->released),
				 USER_DEADLINE);
	/*
	 * release() drops the lock last, so that it no longer uses the probe
	 * here.
	 */
	spin_lock_irqsave(&p->lock, flags);
	spin_unlock_irqrestore(&p->lock, flags);
	return ret;
}

bool probe_put(struct probe *p)
{
	struct utrace_engine *engine = p->engine;

	p->engine = NULL;
	utrace_engine_put(engine);
	return probe_wait_released(p);
}

u32 probe_take_long(struct probe *p, struct probe_call *c)
{
	complete(&p->begun);
	wait_for_completion_timeout(&p->end, USER_DEADLINE);
	return p->word[0];
}

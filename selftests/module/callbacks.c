// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the callbacks of the test module
 *
 * Each callback logs a record and answers by the rules that user space has set.
 */

#include <linux/delay.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include <asm/syscall.h>

#include "utrace_test.h"

#define SAME_EVENT(x)	static_assert(UT_EV_##x == (int)_UTRACE_EVENT_##x)
#define SAME(x)		static_assert(UT_##x == (int)UTRACE_##x)

SAME_EVENT(QUIESCE);
SAME_EVENT(REAP);
SAME_EVENT(CLONE);
SAME_EVENT(EXEC);
SAME_EVENT(EXIT);
SAME_EVENT(DEATH);
SAME_EVENT(SYSCALL_ENTRY);
SAME_EVENT(SYSCALL_EXIT);
SAME_EVENT(SIGNAL);
SAME_EVENT(SIGNAL_IGN);
SAME_EVENT(SIGNAL_STOP);
SAME_EVENT(SIGNAL_TERM);
SAME_EVENT(SIGNAL_CORE);
SAME_EVENT(JCTL);
SAME_EVENT(VFORK_DONE);
SAME_EVENT(CREDS);
static_assert(UT_EV_NR == (int)_UTRACE_NEVENTS);
SAME(STOP);
SAME(INTERRUPT);
SAME(REPORT);
SAME(SINGLESTEP);
SAME(BLOCKSTEP);
SAME(RESUME);
SAME(DETACH);
SAME(RESUME_MASK);
SAME(STOP_HERE);
SAME(SIGNAL_DELIVER);
SAME(SIGNAL_IGN);
SAME(SIGNAL_TERM);
SAME(SIGNAL_CORE);
SAME(SIGNAL_STOP);
SAME(SIGNAL_TSTP);
SAME(SIGNAL_REPORT);
SAME(SIGNAL_HANDLER);
SAME(SIGNAL_MASK);
SAME(SIGNAL_HOLD);
SAME(SIGNAL_RESUMED);
SAME(SYSCALL_RUN);
SAME(SYSCALL_ABORT);
SAME(SYSCALL_MASK);
SAME(SYSCALL_RESUMED);
SAME(SYSCALL_UNPAIRED);
SAME(SYSCALL_IA32);
SAME(ATTACH_MATCH_OPS);
SAME(ATTACH_MATCH_DATA);
SAME(ATTACH_CREATE);
SAME(ATTACH_EXCLUSIVE);
SAME(ATTACH_ANY_SCOPE);
SAME(ATTACH_OWN_EVENTS);
SAME(ATTACH_PROCESS);
SAME(ATTACH_TREE);
SAME(ATTACH_MUTATOR);
SAME(ATTACH_OBSERVER);
SAME(ATTACH_ENFORCER);
SAME(ATTACH_LAST_RESORT);

/*
 * Events whose answer has a part besides the resume action, which callbacks
 * pass on.
 */
#define UT_ANSWERED	(UT_SYSCALL | UT_SIGNAL_ALL |			\
			 UT_BIT(REPORT) | UT_BIT(HANDLER))

#define UT_CHANGE_LINGER	(UT_CHANGE_GATE | UT_CHANGE_TOUCH |	\
				 UT_CHANGE_BARRIER)

static void ut_record_init(struct ut_record *rec, u32 event, u32 action,
			   struct task_struct *task)
{
	memset(rec, 0, sizeof(*rec));
	rec->event = event;
	rec->action = action;
	rec->tid = task_pid_nr(task);
	rec->tgid = task_tgid_nr(task);
	rec->runner = task_pid_nr(current);
	memcpy(rec->comm, task->comm, sizeof(rec->comm));
	rec->comm[sizeof(rec->comm) - 1] = '\0';
}

/*
 * Find the rule for @rec, and use it once.  Without a rule @rule is all zero.
 */
static bool ut_rule_find(struct ut_engine *e, const struct ut_record *rec,
			 struct ut_rule *rule)
{
	struct ut_rule_node *n;

	guard(spinlock)(&e->lock);
	list_for_each_entry(n, &e->rules, node) {
		if (n->rule.event != rec->event ||
		    (n->rule.match != UT_ANY && n->rule.match != rec->nr) ||
		    (n->rule.tid && n->rule.tid != rec->tid))
			continue;
		*rule = n->rule;
		if (n->rule.count && !--n->rule.count) {
			list_del(&n->node);
			kfree(n);
		}
		return true;
	}
	memset(rule, 0, sizeof(*rule));
	return false;
}

/*
 * The answer that UT_IOC_CONTROL set for this thread, or else for all threads.
 */
static u32 ut_wanted(struct ut_engine *e, pid_t tid)
{
	void *entry = xa_load(&e->wants, tid) ?: xa_load(&e->wants, 0);

	return entry ? xa_to_value(entry) : UTRACE_RESUME;
}

static void ut_want(struct ut_engine *e, pid_t tid, u32 action)
{
	xa_store(&e->wants, tid, xa_mk_value(action), GFP_KERNEL);
}

/*
 * Before a callback answers: a step that the SIGTRAP of @rec ends is not asked
 * for again.  After: a stop is asked for in every callback until UT_IOC_CONTROL
 * takes it back.
 */
static void ut_remember(struct ut_engine *e, const struct ut_record *rec,
			bool found)
{
	if (rec->event == UT_EV_SIGNAL_IGN && rec->nr == SIGTRAP &&
	    ut_wanted(e, rec->tid) != UTRACE_STOP)
		ut_want(e, rec->tid, UTRACE_RESUME);
	if (found && utrace_resume_action(rec->answer) == UTRACE_STOP)
		ut_want(e, rec->tid, UTRACE_STOP);
}

static u32 ut_answer(struct ut_engine *e, const struct ut_record *rec,
		     const struct ut_rule *rule, bool found)
{
	u32 pass = 0;

	if (BIT(rec->event) & UT_ANSWERED)
		pass = rec->action & UTRACE_SIGNAL_MASK;
	if (!found)
		return pass | ut_wanted(e, rec->tid);
	if (rule->answer & UT_PASS)
		return pass | (rule->answer & (UTRACE_RESUME_MASK |
					       UTRACE_STOP_HERE));
	return rule->answer;
}

/* Do the waits of a rule; returns the result of the last one. */
static int ut_linger(struct ut_engine *e, const struct ut_rule *rule)
{
	struct ut_session *session = e->session;
	struct utrace_engine *other;
	int ret = 0;
	u8 byte;

	if (rule->change & UT_CHANGE_GATE)
		ret = wait_event_killable(session->wait,
					  READ_ONCE(session->open));
	if (rule->change & UT_CHANGE_TOUCH)
		ret = get_user(byte, (u8 __user *)u64_to_user_ptr(rule->arg));
	if (rule->change & UT_CHANGE_BARRIER) {
		other = ut_engine_find(session, rule->other);
		ret = -ENOENT;
		if (other) {
			ret = utrace_barrier(NULL, other);
			utrace_engine_put(other);
		}
	}
	if (rule->delay_ms)
		msleep(rule->delay_ms);
	return ret;
}

/* Find the rule, log the record, change the engine, and wait. */
static u32 ut_report(struct utrace_engine *engine, struct ut_record *rec,
		     struct ut_rule *rule)
{
	struct ut_engine *e = engine->data;
	bool found = ut_rule_find(e, rec, rule);
	u32 event = rec->event;
	u32 answer;
	int ret;

	if (!found)
		ut_remember(e, rec, false);
	rec->answer = ut_answer(e, rec, rule, found);
	answer = rec->answer;
	if (found)
		ut_remember(e, rec, true);
	ut_log(e, rec);
	if (rule->change & UT_CHANGE_EVENTS) {
		ret = utrace_set_events(current, engine, rule->events);
		if (ret)
			pr_warn("utrace_set_events(current): %d\n", ret);
	}
	if (rule->change & UT_CHANGE_CONTROL) {
		ret = utrace_control(current, engine, rule->control);
		if (ret && ret != -EINPROGRESS)
			pr_warn("utrace_control(current): %d\n", ret);
	}
	if (rule->delay_ms || rule->change & UT_CHANGE_LINGER) {
		ret = ut_linger(e, rule);
		ut_record_init(rec, UT_EV_RETURN, 0, current);
		rec->val[0] = event;
		rec->val[1] = ret;
		ut_log(e, rec);
	}
	return answer;
}

static u32 ut_report_quiesce(u32 action, struct utrace_engine *engine,
			     unsigned long event)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_QUIESCE, action, current);
	rec.val[0] = event;
	rec.nr = event;
	return ut_report(engine, &rec, &rule);
}

static u32 ut_signal_event(u32 action)
{
	switch (utrace_signal_action(action)) {
	case UTRACE_SIGNAL_IGN:
		return UT_EV_SIGNAL_IGN;
	case UTRACE_SIGNAL_TERM:
		return UT_EV_SIGNAL_TERM;
	case UTRACE_SIGNAL_CORE:
		return UT_EV_SIGNAL_CORE;
	case UTRACE_SIGNAL_STOP:
	case UTRACE_SIGNAL_TSTP:
		return UT_EV_SIGNAL_STOP;
	case UTRACE_SIGNAL_REPORT:
		return UT_EV_REPORT;
	case UTRACE_SIGNAL_HANDLER:
		return UT_EV_HANDLER;
	default:
		return UT_EV_SIGNAL;
	}
}

static u32 ut_report_signal(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs, kernel_siginfo_t *info,
			    const struct k_sigaction *orig_ka,
			    struct k_sigaction *return_ka)
{
	u32 event = ut_signal_event(action);
	struct ut_record rec;
	struct ut_rule rule;
	u32 answer;

	ut_record_init(&rec, event, action, current);
	/* Without a signal @info has nothing to log. */
	if (event != UT_EV_REPORT && event != UT_EV_HANDLER) {
		rec.nr = info->si_signo;
		rec.val[0] = info->si_code;
		rec.val[1] = info->si_code <= 0 ? info->si_pid : 0;
	}
	rec.val[2] = !orig_ka;
	if (orig_ka)
		rec.val[3] = (long)orig_ka->sa.sa_handler;
	if (orig_ka && return_ka)
		rec.val[4] = (long)return_ka->sa.sa_handler;
	answer = ut_report(engine, &rec, &rule);
	if (rule.change & UT_CHANGE_SIGNO) {
		clear_siginfo(info);
		info->si_signo = rule.signo;
		info->si_code = SI_USER;
	}
	if (rule.change & UT_CHANGE_HANDLER) {
		return_ka->sa.sa_handler =
			(__sighandler_t)(unsigned long)rule.handler;
		if (!orig_ka)
			return_ka->sa.sa_flags = 0;
	}
	return answer;
}

/* Attach an engine to @child if UT_IOC_FOLLOW has been called for @e. */
static void ut_follow(struct ut_engine *e, struct task_struct *child,
		      struct ut_record *rec)
{
	struct utrace_engine *engine;
	struct ut_engine *ce;
	struct ut_attach arg = {};
	struct ut_follow follow;
	int ret;
	u32 id;

	spin_lock(&e->lock);
	follow = e->follow;
	spin_unlock(&e->lock);
	if (!follow.on)
		return;

	arg.flags = follow.flags;
	arg.ops = e->ops;
	arg.nolog = e->nolog;
	engine = ut_engine_attach(e->session, child, &arg, &id);
	if (IS_ERR(engine)) {
		rec->val[4] = PTR_ERR(engine);
		return;
	}
	rec->val[3] = id;
	ce = engine->data;
	spin_lock(&ce->lock);
	ce->follow = follow;
	spin_unlock(&ce->lock);
	ret = utrace_set_events(child, engine, follow.events);
	if (!ret && follow.control != UTRACE_RESUME) {
		if (follow.control == UTRACE_STOP)
			ut_want(ce, 0, UTRACE_STOP);
		ret = utrace_control(child, engine, follow.control);
		/* A new task stops only when it first runs. */
		if (ret == -EINPROGRESS)
			ret = 0;
	}
	rec->val[4] = ret;
	utrace_engine_put(engine);
}

static u32 ut_report_clone(u32 action, struct utrace_engine *engine,
			   unsigned long clone_flags,
			   struct task_struct *child)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_CLONE, action, current);
	rec.val[0] = clone_flags;
	rec.val[1] = task_pid_nr(child);
	rec.val[2] = task_tgid_nr(child);
	ut_follow(engine->data, child, &rec);
	return ut_report(engine, &rec, &rule);
}

static u32 ut_report_jctl(u32 action, struct utrace_engine *engine,
			  int type, int notify)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_JCTL, action, current);
	rec.nr = type;
	rec.val[0] = notify;
	return ut_report(engine, &rec, &rule);
}

static u32 ut_report_exec(u32 action, struct utrace_engine *engine,
			  const struct linux_binfmt *fmt,
			  const struct linux_binprm *bprm,
			  struct pt_regs *regs)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_EXEC, action, current);
	rec.val[0] = instruction_pointer(regs);
	rec.val[1] = !fmt;
	return ut_report(engine, &rec, &rule);
}

static void ut_set_result(struct pt_regs *regs, long result)
{
	bool error = IS_ERR_VALUE((unsigned long)result);

	syscall_set_return_value(current, regs, error ? result : 0,
				 error ? 0 : result);
}

static u32 ut_report_syscall_entry(u32 action, struct utrace_engine *engine,
				   struct pt_regs *regs)
{
	struct ut_record rec;
	struct ut_rule rule;
	unsigned int i;
	u32 answer;

	ut_record_init(&rec, UT_EV_SYSCALL_ENTRY, action, current);
	rec.nr = syscall_get_nr(current, regs);
	for (i = 0; i < 6; i++)
		rec.val[i] = utrace_syscall_get_arg(regs, i);
	answer = ut_report(engine, &rec, &rule);
	if (rule.change & UT_CHANGE_NR)
		utrace_syscall_set_nr(regs, rule.nr);
	if (rule.change & UT_CHANGE_ARG)
		utrace_syscall_set_arg(regs, rule.argi, rule.arg);
	if (rule.change & UT_CHANGE_RESULT)
		ut_set_result(regs, rule.result);
	return answer;
}

static u32 ut_report_syscall_exit(u32 action, struct utrace_engine *engine,
				  struct pt_regs *regs)
{
	struct ut_record rec;
	struct ut_rule rule;
	u32 answer;

	ut_record_init(&rec, UT_EV_SYSCALL_EXIT, action, current);
	rec.nr = syscall_get_nr(current, regs);
	rec.val[0] = syscall_get_return_value(current, regs);
	answer = ut_report(engine, &rec, &rule);
	if (rule.change & UT_CHANGE_RESULT)
		ut_set_result(regs, rule.result);
	return answer;
}

static u32 ut_report_exit(u32 action, struct utrace_engine *engine,
			  long orig_code, long *code)
{
	struct ut_record rec;
	struct ut_rule rule;
	u32 answer;

	ut_record_init(&rec, UT_EV_EXIT, action, current);
	rec.val[0] = orig_code;
	rec.val[1] = *code;
	answer = ut_report(engine, &rec, &rule);
	if (rule.change & UT_CHANGE_CODE)
		*code = rule.code;
	return answer;
}

static u32 ut_report_death(struct utrace_engine *engine, bool group_dead,
			   int signal)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_DEATH, UTRACE_RESUME, current);
	rec.val[0] = group_dead;
	rec.val[1] = signal;
	return ut_report(engine, &rec, &rule);
}

static void ut_report_reap(struct utrace_engine *engine,
			   struct task_struct *task)
{
	struct ut_record rec;

	/* Rules may make a callback sleep, which must not delay the reaping. */
	ut_record_init(&rec, UT_EV_REAP, UTRACE_RESUME, task);
	ut_log(engine->data, &rec);
}

static u32 ut_report_vfork_done(u32 action, struct utrace_engine *engine,
				pid_t child_pid)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_VFORK_DONE, action, current);
	rec.val[0] = child_pid;
	return ut_report(engine, &rec, &rule);
}

static u32 ut_report_creds(u32 action, struct utrace_engine *engine,
			   const struct linux_binprm *bprm)
{
	struct ut_record rec;
	struct ut_rule rule;

	ut_record_init(&rec, UT_EV_CREDS, action, current);
	return ut_report(engine, &rec, &rule);
}

static void ut_release(void *data)
{
	struct ut_engine *e = data;
	struct ut_record rec;

	ut_record_init(&rec, UT_EV_RELEASE, 0, e->task);
	ut_log(e, &rec);
	ut_engine_free(e);
}

#define UT_CALLBACKS						\
	.report_quiesce		= ut_report_quiesce,		\
	.report_signal		= ut_report_signal,		\
	.report_clone		= ut_report_clone,		\
	.report_jctl		= ut_report_jctl,		\
	.report_exec		= ut_report_exec,		\
	.report_syscall_entry	= ut_report_syscall_entry,	\
	.report_syscall_exit	= ut_report_syscall_exit,	\
	.report_exit		= ut_report_exit,		\
	.report_death		= ut_report_death,		\
	.report_reap		= ut_report_reap,		\
	.release		= ut_release,			\
	.report_vfork_done	= ut_report_vfork_done,		\
	.report_creds		= ut_report_creds

static const struct utrace_engine_ops ut_full_ops = {
	UT_CALLBACKS,
	.owner	= THIS_MODULE,
	.name	= "test_engine",
};

static const struct utrace_engine_ops ut_bare_ops = {
	UT_CALLBACKS,
};

static const struct utrace_engine_ops ut_odd_ops = {
	UT_CALLBACKS,
	.owner	= THIS_MODULE,
	.name	= "an odd\nname\\",
};

const struct utrace_engine_ops *const ut_ops[3] = {
	[UT_OPS_FULL]	= &ut_full_ops,
	[UT_OPS_BARE]	= &ut_bare_ops,
	[UT_OPS_ODD]	= &ut_odd_ops,
};

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: callbacks, and the records they write
 *
 * What is captured is captured first, since that may fault and sleep, and is
 * copied into the ring with the record.  A record that is recorded by the
 * settings of a moment ago is one of the moment ago.
 */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "capture.h"
#include "session.h"
#include "syscall_now.h"
#include "syscall_table.h"

static_assert(UTRACE_REC_IA32 == UTRACE_SYSCALL_IA32);
static_assert(UTRACE_REC_NO_CALL == UTRACE_NO_CALL);
static_assert(UTRACE_F_STRINGS == UTRACE_CAPTURE_STRINGS);
static_assert(UTRACE_F_BUFFERS == UTRACE_CAPTURE_BUFFERS);
static_assert(UTRACE_F_SOCKETS == UTRACE_CAPTURE_SOCKETS);
static_assert(UTRACE_F_FILES == UTRACE_CAPTURE_FILES);

/**
 * session_engine_events - what an engine has to be told of
 * @events: UTRACE_F_EVENT() bits
 *
 * Context: Any.
 * Return: UTRACE_EVENT() bits.
 */
unsigned long session_engine_events(u64 events)
{
	static const unsigned long of[UTRACE_REC_TYPES] = {
		[UTRACE_REC_SYS_ENTER]	= UTRACE_EVENT(SYSCALL_ENTRY),
		[UTRACE_REC_SYS_EXIT]	= UTRACE_EVENT(SYSCALL_EXIT),
		[UTRACE_REC_FORK]	= UTRACE_EVENT(CLONE),
		[UTRACE_REC_EXEC]	= UTRACE_EVENT(EXEC),
		[UTRACE_REC_EXIT]	= UTRACE_EVENT(EXIT),
		/* Who wants ignored signals changes what a program sees. */
		[UTRACE_REC_SIGNAL]	= UTRACE_EVENT_SIGNAL_ALL &
					  ~UTRACE_EVENT(SIGNAL_IGN),
		[UTRACE_REC_JOBCTL]	= UTRACE_EVENT(JCTL),
	};
	unsigned long all = 0;
	unsigned int i;

	for (i = 0; i < UTRACE_REC_TYPES; i++)
		if (events & BIT_ULL(i))
			all |= of[i];
	return all;
}

/* Readers that wait are woken once for what comes within this time. */
#define SESSION_WAKE_DELAY	(HZ / 100 ?: 1)

static void session_write_parts(const struct session_target *target, u16 type,
				struct session_parts *parts)
{
	struct utrace_session *session = target->session;
	struct utrace_rec *rec = parts->head;

	rec->type = type;
	rec->items = parts->items_size ? parts->head_size : 0;
	rec->pid = task_tgid_nr_ns(current, session->ns);
	rec->tid = task_pid_nr_ns(current, session->ns);
	session_ring_write(&session->ring, parts);
	if (wq_has_sleeper(&session->wait) && !timer_pending(&session->wake))
		mod_timer(&session->wake, jiffies + SESSION_WAKE_DELAY);
}

/* A record of the current task without items. */
static void session_write(const struct session_target *target, u16 type,
			  struct utrace_rec *rec, size_t size)
{
	struct session_parts parts = { .head = rec, .head_size = size };

	session_write_parts(target, type, &parts);
}

/**
 * session_hide - tell the reader that the current task is hidden from now on
 * @target: whose engine is called
 *
 * Context: A callback, in the task itself.
 */
void session_hide(const struct session_target *target)
{
	struct utrace_rec rec = {};

	atomic64_inc(&target->session->hidden);
	session_write(target, UTRACE_REC_DETACHED, &rec, sizeof(rec));
}

/* Captures */

/* Bytes for items.  Behind them there is room for the one that says what is missing. */
#define SESSION_CAPTURE_SIZE	(UTRACE_CAPTURE_SIZE - sizeof(struct utrace_item))

/* Without memory the record goes without, and says so. */
static bool session_capture_begin(struct utrace_capture *capture)
{
	void *buffer = kmalloc(UTRACE_CAPTURE_SIZE, GFP_KERNEL);

	if (!buffer) {
		capture->lost++;
		return false;
	}
	utrace_capture_init(capture, buffer, SESSION_CAPTURE_SIZE);
	return true;
}

static void session_capture_stack(struct utrace_capture *capture, u64 what,
				  struct pt_regs *regs)
{
	if (!(what & (UTRACE_F_STACK | UTRACE_F_RAW_STACK)))
		return;
	if (!capture->data && !session_capture_begin(capture))
		return;
	if (what & UTRACE_F_STACK)
		utrace_capture_stack(capture, regs);
	if (what & UTRACE_F_RAW_STACK)
		utrace_capture_raw_stack(capture, regs);
}

/*
 * The last item says how many there are not.  @missing is in its place where there is
 * no buffer.
 */
static void session_count_missing(const struct session_target *target,
				  struct session_parts *parts,
				  const struct utrace_capture *capture,
				  struct utrace_item *missing)
{
	*missing = (struct utrace_item){
		.kind = UTRACE_ITEM_MISSING,
		.arg = UTRACE_ITEM_NO_ARG,
		.whole = capture->lost,
	};
	if (capture->data)
		memcpy(capture->data + capture->used, missing, sizeof(*missing));
	else
		parts->items = missing;
	parts->items_size += sizeof(*missing);
	atomic64_add(capture->lost, &target->session->uncaptured);
}

/* A record with what was captured, which is freed. */
static void session_write_captured(const struct session_target *target, u16 type,
				   struct utrace_rec *rec, size_t size,
				   const struct utrace_capture *capture)
{
	struct session_parts parts = {
		.head = rec,
		.head_size = size,
		.items = capture->data,
		.items_size = capture->used,
	};
	struct utrace_item missing;

	if (session_may_see(target)) {
		if (unlikely(capture->lost))
			session_count_missing(target, &parts, capture, &missing);
		session_write_parts(target, type, &parts);
	}
	kfree(capture->data);
}

/* Callbacks */

static u32 session_sys_enter(u32 action, struct utrace_engine *engine,
			     struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;
	u64 what = READ_ONCE(session->capture);
	unsigned int nr = utrace_syscall_now(regs);
	const struct utrace_call *call = utrace_call_of(nr);
	struct utrace_rec_sys_enter rec = { .nr = nr };
	struct utrace_capture capture = {};
	unsigned long args[6];

	if (!session_sees(target))
		return UTRACE_RESUME | utrace_syscall_action(action);
	utrace_args_now(regs, args);
	BUILD_BUG_ON(sizeof(rec.args) != sizeof(args));
	memcpy(rec.args, args, sizeof(args));
	if (call && utrace_capture_takes(call, false, what) &&
	    session_capture_begin(&capture))
		utrace_capture_entry(&capture, call, args, what);
	session_capture_stack(&capture, what, regs);
	session_write_captured(target, UTRACE_REC_SYS_ENTER, &rec.head, sizeof(rec),
			       &capture);
	return UTRACE_RESUME | utrace_syscall_action(action);
}

static u32 session_sys_exit(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;
	u64 what = READ_ONCE(session->capture);
	unsigned int nr = utrace_syscall_now(regs);
	const struct utrace_call *call = utrace_call_of(nr);
	struct utrace_rec_sys_exit rec = {
		.nr = nr,
		.flags = action & UTRACE_SYSCALL_UNPAIRED ? UTRACE_REC_UNPAIRED : 0,
		.ret = syscall_get_return_value(current, regs),
	};
	struct utrace_capture capture = {};
	unsigned long args[6];

	if (!session_sees(target))
		return UTRACE_RESUME;
	utrace_args_now(regs, args);
	memcpy(rec.args, args, sizeof(args));
	if (call && utrace_capture_takes(call, true, what) &&
	    session_capture_begin(&capture))
		utrace_capture_exit(&capture, call, args, rec.ret, what);
	session_write_captured(target, UTRACE_REC_SYS_EXIT, &rec.head, sizeof(rec),
			       &capture);
	return UTRACE_RESUME;
}

static u32 session_clone(u32 action, struct utrace_engine *engine,
			 unsigned long clone_flags, struct task_struct *child)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;
	struct utrace_rec_fork rec = {
		.child_pid = task_tgid_nr_ns(child, session->ns),
		.child_tid = task_pid_nr_ns(child, session->ns),
		.flags = clone_flags,
	};

	if (!session_sees(target))
		return UTRACE_RESUME;
	session_write(target, UTRACE_REC_FORK, &rec.head, sizeof(rec));
	return UTRACE_RESUME;
}

static u32 session_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
		    const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_capture capture = {};
	struct utrace_rec rec = {};

	if (!session_sees(target))
		return UTRACE_RESUME;
	if (session_capture_begin(&capture))
		utrace_capture_exec(&capture, target->session->cred->user_ns);
	session_write_captured(target, UTRACE_REC_EXEC, &rec, sizeof(rec), &capture);
	return UTRACE_RESUME;
}

static u32 session_exit(u32 action, struct utrace_engine *engine, long orig_code,
			long *code)
{
	struct session_target *target = engine->data;
	struct utrace_rec_exit rec = {};

	/* The end is never kept back, but how it came. */
	if (session_sees(target))
		rec.code = *code;
	else
		rec.flags = UTRACE_REC_HIDDEN;
	session_write(target, UTRACE_REC_EXIT, &rec.head, sizeof(rec));
	return UTRACE_RESUME;
}

static u32 session_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, kernel_siginfo_t *info,
		      const struct k_sigaction *orig_ka,
		      struct k_sigaction *return_ka)
{
	struct session_target *target = engine->data;
	struct utrace_rec_signal rec = {};

	if (!orig_ka || !session_sees(target))
		return UTRACE_RESUME | utrace_signal_action(action);
	BUILD_BUG_ON(sizeof(rec.info) < sizeof(*info));
	memcpy(rec.info, info, sizeof(*info));
	rec.handler = (unsigned long)orig_ka->sa.sa_handler;
	rec.flags = orig_ka->sa.sa_flags;
	session_write(target, UTRACE_REC_SIGNAL, &rec.head, sizeof(rec));
	return UTRACE_RESUME | utrace_signal_action(action);
}

static u32 session_jobctl(u32 action, struct utrace_engine *engine, int type,
			  int notify)
{
	struct session_target *target = engine->data;
	struct utrace_rec_jobctl rec = { .type = type, .notify = notify };

	if (!session_sees(target))
		return UTRACE_RESUME;
	session_write(target, UTRACE_REC_JOBCTL, &rec.head, sizeof(rec));
	return UTRACE_RESUME;
}

static void session_target_release(void *data)
{
	struct session_target *target = data;

	session_forget_tasks(target);
	put_cred(target->cred);
	session_put(target->session);
	kfree(target);
}

const struct utrace_engine_ops session_ops = {
	.name			= "dev",
	.report_syscall_entry	= session_sys_enter,
	.report_syscall_exit	= session_sys_exit,
	.report_clone		= session_clone,
	.report_exec		= session_exec,
	.report_exit		= session_exit,
	.report_signal		= session_signal,
	.report_jctl		= session_jobctl,
	.release		= session_target_release,
};

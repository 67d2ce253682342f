// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: callbacks, and the records they write
 *
 * A callback asks whether the session may see the current task (rights.c),
 * captures what goes along with the event, which may fault and sleep, and then
 * copies the record and its items into the ring.  It reads the settings of the
 * session without a lock, so a callback that runs while they change may record
 * by the old ones.
 */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "../capture/capture.h"
#include "session.h"
#include "../syscall_current.h"

static_assert(UTRACE_REC_IA32 == UTRACE_SYSCALL_IA32);
static_assert(UTRACE_REC_NO_CALL == UTRACE_NO_CALL);

/* A waiting reader is woken once for all records written within this time. */
#define SESSION_WAKE_DELAY	(HZ / 100 ?: 1)

/**
 * utrace_dev_write() - write a record of the current task
 * @session: the session; the caller is a callback of one of its targets
 * @type: enum utrace_rec_type
 * @parts: the record; its type, ids and place of the items are filled in
 *
 * A record that finds no room in the ring is counted as lost.  Whether the
 * session may see the task is asked by the caller, see utrace_dev_sees().
 *
 * If a reader waits, it is woken after SESSION_WAKE_DELAY.  A reader puts
 * itself on ->wait before it looks at the ring; wq_has_sleeper() has a full
 * barrier after the record was written.  So the reader sees the record, or this
 * function sees the reader and arms the timer, unless that is pending and wakes
 * the reader anyway.
 *
 * Context: The task whose record it is; does not sleep.  Takes
 * session_ring.lock.
 */
void utrace_dev_write(struct utrace_session *session, u16 type,
		      struct utrace_dev_parts *parts)
{
	struct utrace_rec *rec = parts->head;

	rec->type = type;
	rec->items = parts->items_size ? parts->head_size : 0;
	rec->pid = task_tgid_nr_ns(current, session->ns);
	rec->tid = task_pid_nr_ns(current, session->ns);
	utrace_dev_ring_write(&session->ring, parts);
	if (wq_has_sleeper(&session->wait) && !timer_pending(&session->wake))
		mod_timer(&session->wake, jiffies + SESSION_WAKE_DELAY);
}

/* Write a record of the current task that has no items. */
static void session_write(const struct session_target *target, u16 type,
			  struct utrace_rec *rec, size_t size)
{
	struct utrace_dev_parts parts = { .head = rec, .head_size = size };

	utrace_dev_write(target->session, type, &parts);
}

/**
 * utrace_dev_hide() - tell the reader that the current task is hidden
 * @target: the target whose engine has called back
 *
 * Counts it in utrace_session.hidden and writes a UTRACE_REC_DETACHED.
 *
 * Context: A callback, in the task itself; does not sleep.  Takes
 * session_ring.lock.
 */
void utrace_dev_hide(const struct session_target *target)
{
	struct utrace_rec rec = {};

	atomic64_inc(&target->session->hidden);
	session_write(target, UTRACE_REC_DETACHED, &rec, sizeof(rec));
}

/* Captures */

/*
 * Bytes of a capture buffer that items may use.  The rest of the buffer, one
 * struct utrace_item, is for a UTRACE_ITEM_MISSING behind the items.
 */
#define SESSION_CAPTURE_SIZE	(UTRACE_CAPTURE_SIZE - sizeof(struct utrace_item))

/*
 * Append a UTRACE_ITEM_MISSING with the number of items that found no room or
 * memory.  Without a buffer, @missing becomes the only item of @parts.
 */
static void session_count_missing(const struct session_target *target,
				  struct utrace_dev_parts *parts,
				  const struct utrace_capture *capture,
				  struct utrace_item *missing)
{
	*missing = (struct utrace_item){
		.kind = UTRACE_ITEM_MISSING,
		.arg = UTRACE_ITEM_NO_ARG,
		.whole = capture->lost,
	};
	if (capture->data)
		memcpy(capture->data + capture->used, missing,
		       sizeof(*missing));
	else
		parts->items = missing;
	parts->items_size += sizeof(*missing);
	atomic64_add(capture->lost, &target->session->uncaptured);
}

/*
 * Write a record with what was captured, unless the task's memory has become
 * undumpable meanwhile.  Frees the capture.
 */
static void session_write_captured(const struct session_target *target,
				   u16 type, struct utrace_rec *rec,
				   size_t size, struct utrace_capture *capture)
{
	struct utrace_dev_parts parts = {
		.head = rec,
		.head_size = size,
		.items = capture->data,
		.items_size = capture->used,
	};
	struct utrace_item missing;

	if (utrace_dev_may_see(target)) {
		if (unlikely(capture->lost))
			session_count_missing(target, &parts, capture,
					      &missing);
		utrace_dev_write(target->session, type, &parts);
	}
	utrace_capture_free(capture);
}

/* Callbacks */

static u32 session_sys_enter(u32 action, struct utrace_engine *engine,
			     struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;
	u64 what = READ_ONCE(session->capture);
	unsigned int nr = utrace_current_call(regs);
	struct utrace_rec_sys_enter rec = { .nr = nr };
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	unsigned long args[6];

	if (!utrace_dev_sees(target))
		return UTRACE_RESUME | utrace_syscall_action(action);
	utrace_current_args(regs, args);
	BUILD_BUG_ON(sizeof(rec.args) != sizeof(args));
	memcpy(rec.args, args, sizeof(args));
	utrace_capture_call(&capture, nr, args, what);
	utrace_capture_stacks(&capture, regs, what);
	session_write_captured(target, UTRACE_REC_SYS_ENTER, &rec.head,
			       sizeof(rec), &capture);
	return UTRACE_RESUME | utrace_syscall_action(action);
}

static u32 session_sys_exit(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_session *session = target->session;
	u64 what = READ_ONCE(session->capture);
	unsigned int nr = utrace_current_call(regs);
	struct utrace_rec_sys_exit rec = {
		.nr = nr,
		.flags = action & UTRACE_SYSCALL_UNPAIRED ?
			 UTRACE_REC_UNPAIRED : 0,
		.ret = syscall_get_return_value(current, regs),
	};
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	unsigned long args[6];

	if (!utrace_dev_sees(target))
		return UTRACE_RESUME;
	utrace_current_args(regs, args);
	memcpy(rec.args, args, sizeof(args));
	utrace_capture_result(&capture, nr, args, rec.ret, what);
	session_write_captured(target, UTRACE_REC_SYS_EXIT, &rec.head,
			       sizeof(rec), &capture);
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

	if (!utrace_dev_sees(target))
		return UTRACE_RESUME;
	session_write(target, UTRACE_REC_FORK, &rec.head, sizeof(rec));
	return UTRACE_RESUME;
}

static u32 session_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
			const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct session_target *target = engine->data;
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	struct utrace_rec rec = {};

	if (!utrace_dev_sees(target))
		return UTRACE_RESUME;
	if (utrace_capture_start(&capture))
		utrace_capture_exec(&capture, target->session->cred->user_ns);
	session_write_captured(target, UTRACE_REC_EXEC, &rec, sizeof(rec),
			       &capture);
	return UTRACE_RESUME;
}

static u32 session_exit(u32 action, struct utrace_engine *engine,
			long orig_code, long *code)
{
	struct session_target *target = engine->data;
	struct utrace_rec_exit rec = {};

	/*
	 * The reader always learns that a task ends; the exit status of a
	 * hidden task is kept back.
	 */
	if (utrace_dev_sees(target))
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

	if (!orig_ka || !utrace_dev_sees(target))
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

	if (!utrace_dev_sees(target))
		return UTRACE_RESUME;
	session_write(target, UTRACE_REC_JOBCTL, &rec.head, sizeof(rec));
	return UTRACE_RESUME;
}

/* The last reference to the engine is gone, so no callback uses the target. */
static void session_target_release(void *data)
{
	struct session_target *target = data;

	utrace_dev_forget_tasks(target);
	put_cred(target->cred);
	utrace_dev_put(target->session);
	kfree(target);
}

const struct utrace_engine_ops utrace_dev_ops = {
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

/* The records that these callbacks write. */
static const struct utrace_dev_record session_records[] = {
	{ UTRACE_REC_SYS_ENTER,	UTRACE_EVENT(SYSCALL_ENTRY) },
	{ UTRACE_REC_SYS_EXIT,	UTRACE_EVENT(SYSCALL_EXIT) },
	{ UTRACE_REC_FORK,	UTRACE_EVENT(CLONE) },
	{ UTRACE_REC_EXEC,	UTRACE_EVENT(EXEC) },
	{ UTRACE_REC_EXIT,	UTRACE_EVENT(EXIT) },
	/*
	 * Without ignored signals: utrace_set_events() refuses them to an
	 * observer, since they would be queued and break off sleeps of the
	 * program.
	 */
	{ UTRACE_REC_SIGNAL,	UTRACE_EVENT_SIGNAL_ALL &
				~UTRACE_EVENT(SIGNAL_IGN) },
	{ UTRACE_REC_JOBCTL,	UTRACE_EVENT(JCTL) },
};

static int __init session_add_records(void)
{
	return utrace_dev_add_records(session_records,
				      ARRAY_SIZE(session_records));
}
subsys_initcall(session_add_records);

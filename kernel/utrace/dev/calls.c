// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the records of system calls
 *
 * The fast path (plain.c) records most calls inline; these functions record any
 * call.
 *
 * If the session wants whole calls, the task keeps the entry of a call (struct
 * session_entry) until the exit.  Any other record of the task in between is
 * preceded by the entry as a separate record, since the call may never end.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include "../syscall_current.h"
#include "record.h"

static_assert(sizeof_field(struct utrace_rec_sys_enter, args) ==
	      sizeof(unsigned long[6]));

/* Keep an entry until the exit. */
static void session_keep_entry(struct session_writer *w, u64 nr,
			       struct pt_regs *regs,
			       const struct utrace_capture *capture)
{
	struct session_entry *entry = &w->task->entry;

	entry->capture = *capture;
	entry->nr = nr;
	entry->asked = nr >> 32;
	entry->began = ktime_get_ns();
	utrace_current_args(regs, entry->args);
	entry->kept = SESSION_KEPT_WHOLE;
}

/*
 * Drop an entry that is still kept when another call begins: the session got no
 * exit of its call.  Also drops one of the same call when that is entered again
 * after a stop (UTRACE_SYSCALL_RESUMED), possibly with other arguments.
 */
static void session_forget_entry(struct session_writer *w)
{
	if (w->task->entry.kept)
		session_drop_entry(&w->task->entry);
}

/**
 * utrace_dev_record_enter() - record or keep the entry of a system call
 * @action: see &utrace_engine_ops.report_syscall_entry
 * @engine: the engine of a target
 * @regs: registers of the task
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME, and the answer of previous engines about the call.
 */
u32 utrace_dev_record_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	u32 answer = UTRACE_RESUME | utrace_syscall_action(action);
	struct utrace_capture capture = {};
	u64 nr = utrace_current_asked(regs);
	struct utrace_rec_sys_enter *rec;
	struct session_items items;
	struct session_writer w;
	unsigned long args[6];
	u32 what;

	if (!session_begin(&w, engine, _UTRACE_EVENT_SYSCALL_ENTRY))
		return answer;
	session_forget_entry(&w);
	if (!utrace_wants_call(engine, regs) ||
	    !session_claim(&w))
		return answer;
	what = session_capture_of(w.now);
	if (what) {
		utrace_current_args(regs, args);
		utrace_dev_capture_init(&capture, w.target, 0);
		utrace_capture_call(&capture, nr, args, what);
		utrace_capture_stacks(&capture, regs, what);
		if (!utrace_viewer_may_see_memory(w.target->viewer))
			goto out;
	}
	if (w.now & SESSION_WHOLE_CALLS) {
		session_keep_entry(&w, nr, regs, &capture);
		return answer;
	}
	session_items(w.target, &items, &capture);
	if (utrace_dev_reserve(&w, UTRACE_REC_SYS_ENTER, items.flags,
			       sizeof(*rec) + items.size)) {
		rec = (void *)w.rec;
		session_set_call(&rec->nr, nr);
		rec->began = rec->head.time;
		utrace_current_args(regs, (unsigned long *)rec->args);
		session_copy_items(&w, sizeof(*rec), &items);
		utrace_dev_commit(&w);
	}
out:
	session_end(&w, &capture);
	return answer;
}

/* Write a whole call; @out are the items of its exit. */
static void session_write_call(struct session_writer *w, long ret,
			       const struct session_items *out)
{
	struct session_entry *entry = &w->task->entry;
	struct utrace_rec_sys_call *rec;
	struct session_items in;

	session_fetch_entry(w->task);
	session_items(w->target, &in, &entry->capture);
	if (utrace_dev_reserve(w, UTRACE_REC_SYS_CALL, in.flags | out->flags,
			       sizeof(*rec) + in.size + out->size)) {
		rec = (void *)w->rec;
		rec->nr = entry->nr;
		rec->asked = entry->asked;
		rec->ret = ret;
		rec->began = entry->began;
		memcpy(rec->args, entry->args, sizeof(rec->args));
		session_copy_items(w, sizeof(*rec), &in);
		session_copy_items(w, sizeof(*rec) + in.size, out);
		utrace_dev_commit(w);
	}
	session_drop_entry(entry);
}

static void session_write_exit(struct session_writer *w, u64 nr, long ret,
			       u16 flags,
			       const struct session_items *out)
{
	struct utrace_rec_sys_exit *rec;

	if (!utrace_dev_reserve(w, UTRACE_REC_SYS_EXIT, out->flags | flags,
				sizeof(*rec) + out->size))
		return;
	rec = (void *)w->rec;
	session_set_call(&rec->nr, nr);
	rec->ret = ret;
	session_copy_items(w, sizeof(*rec), out);
	utrace_dev_commit(w);
}

/*
 * Bytes of the kept items that the record of a whole call takes from the entry.
 */
static size_t session_entry_items(const struct session_task *task)
{
	const struct session_entry *entry = &task->entry;

	return entry->kept == SESSION_KEPT_WHOLE ? entry->capture.used : 0;
}

/**
 * utrace_dev_record_exit() - record the exit of a system call, or a whole call
 * @action: see &utrace_engine_ops.report_syscall_exit
 * @engine: the engine of a target
 * @regs: registers of the task
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME.
 */
u32 utrace_dev_record_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs)
{
	struct utrace_capture capture = {};
	bool unpaired = action & UTRACE_SYSCALL_UNPAIRED;
	u64 nr = utrace_current_asked(regs);
	struct session_items items;
	struct session_writer w;
	unsigned long args[6];
	long ret;
	u32 what;

	if (!session_begin(&w, engine, _UTRACE_EVENT_SYSCALL_EXIT))
		return UTRACE_RESUME;
	if (unpaired)
		session_forget_entry(&w);
	if (!session_claim(&w))
		return UTRACE_RESUME;
	ret = syscall_get_return_value(current, regs);
	what = session_capture_of(w.now);
	if (what) {
		utrace_current_args(regs, args);
		utrace_dev_capture_init(&capture, w.target,
					session_entry_items(w.task));
		utrace_capture_result(&capture, nr, args, ret, what);
		if (!utrace_viewer_may_see_memory(w.target->viewer))
			goto out;
	}
	session_items(w.target, &items, &capture);
	if (w.task->entry.kept)
		session_write_call(&w, ret, &items);
	else
		session_write_exit(&w, nr, ret,
				   unpaired || w.now & SESSION_NO_ENTER ?
				   UTRACE_REC_F_UNPAIRED : 0, &items);
out:
	session_end(&w, &capture);
	return UTRACE_RESUME;
}

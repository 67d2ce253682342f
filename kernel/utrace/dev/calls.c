// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the records of system calls
 *
 * Most calls are recorded inline, by session_enter_plain(),
 * session_keep_plain(), session_exit_plain() and session_call_plain().  The
 * slow callbacks do what these leave.
 *
 * Where the session wants whole calls, the entry of a call is kept with the
 * task (struct session_entry) until the exit.  Another record of the task is
 * preceded by the entry as a record of its own, since the call may never end.
 */
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include <asm/unistd.h>

#include "../syscall_current.h"
#include "count.h"
#include "record.h"

static_assert(UTRACE_REC_IA32 == UTRACE_SYSCALL_IA32);
static_assert(UTRACE_REC_NO_CALL == UTRACE_NO_CALL);
static_assert(sizeof_field(struct utrace_rec_sys_enter, args) ==
	      sizeof(unsigned long[6]));

/*
 * Complete a kept entry whose arguments are in the registers of the task still:
 * no system call changes those of its arguments before its exit.
 */
static void session_fetch_entry(struct session_task *task)
{
	struct session_entry *entry = &task->entry;

	if (entry->kept != SESSION_KEPT_PLAIN)
		return;
	utrace_current_args(current_pt_regs(), entry->args);
	entry->capture.used = 0;
	entry->capture.lost = 0;
}

/**
 * utrace_dev_flush_entry() - write the entry that was kept as a record
 * @w: @target, @task and @now are filled in; the task has an entry
 *
 * Context: A callback, in the task itself; may sleep.
 */
void utrace_dev_flush_entry(struct session_writer *w)
{
	struct session_entry *entry = &w->task->entry;
	struct utrace_rec_sys_enter *rec;
	struct session_items items;

	session_fetch_entry(w->task);
	entry->kept = SESSION_KEPT_NOT;
	session_items(w->target, &items, &entry->capture);
	if (!session_reserve(w, UTRACE_REC_SYS_ENTER,
			     items.flags | UTRACE_F_IN_FLIGHT,
			     sizeof(*rec) + items.size))
		return;
	rec = (void *)w->rec;
	rec->nr = entry->nr;
	rec->reserved = 0;
	rec->began = entry->began;
	memcpy(rec->args, entry->args, sizeof(rec->args));
	session_copy_items(w, sizeof(*rec), &items);
	utrace_dev_commit(w);
}

/* Keep an entry until the exit. */
static void session_keep_entry(struct session_writer *w, unsigned int nr,
			       struct pt_regs *regs,
			       const struct utrace_capture *capture)
{
	struct session_entry *entry = &w->task->entry;

	utrace_capture_free(&entry->capture);
	entry->capture = *capture;
	entry->nr = nr;
	entry->began = ktime_get_ns();
	utrace_current_args(regs, entry->args);
	entry->kept = SESSION_KEPT_WHOLE;
}

static noinline u32 session_sys_enter_slow(u32 action,
					   struct utrace_engine *engine,
					   struct pt_regs *regs)
{
	u32 answer = UTRACE_RESUME | utrace_syscall_action(action);
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	unsigned int nr = utrace_current_call(regs);
	struct utrace_rec_sys_enter *rec;
	struct session_items items;
	struct session_writer w;
	unsigned long args[6];
	u32 what;

	if (!session_begin(&w, engine, _UTRACE_EVENT_SYSCALL_ENTRY) ||
	    !utrace_wants_call(engine, regs) ||
	    !utrace_dev_sees(w.target, w.task))
		return answer;
	session_begin_other(&w);
	what = session_capture_of(w.now);
	if (what) {
		utrace_current_args(regs, args);
		utrace_capture_call(&capture, nr, args, what);
		utrace_capture_stacks(&capture, regs, what);
		if (!utrace_dev_may_see(w.target))
			goto out;
	}
	if (w.now & SESSION_WHOLE_CALLS) {
		session_keep_entry(&w, nr, regs, &capture);
		return answer;
	}
	session_items(w.target, &items, &capture);
	if (session_reserve(&w, UTRACE_REC_SYS_ENTER, items.flags,
			    sizeof(*rec) + items.size)) {
		rec = (void *)w.rec;
		rec->nr = nr;
		rec->reserved = 0;
		rec->began = rec->head.time;
		utrace_current_args(regs, (unsigned long *)rec->args);
		session_copy_items(&w, sizeof(*rec), &items);
		utrace_dev_commit(&w);
	}
out:
	session_end(&w, &capture);
	return answer;
}

/*
 * Most records of calls have no items, and are about a task that is known and
 * may be seen.  Find out whether this is such a record, and find the task.
 * After false the slow callback finds out what is to be done.
 */
static __always_inline bool session_is_plain(u32 action,
					     const struct utrace_engine *engine,
					     const struct session_target *target,
					     u64 now, unsigned int event,
					     struct session_task **task)
{
	struct utrace_task_data *data;

	if (unlikely(action != UTRACE_RESUME ||
		     (u32)now & ~(SESSION_WHOLE_CALLS | SESSION_NO_JOBCTL) ||
		     !(READ_ONCE(engine->flags) & BIT(event)) ||
		     utrace_in_ia32_syscall()))
		return false;
	data = utrace_task_data_find(target->session);
	if (unlikely(!data))
		return false;
	*task = container_of(data, struct session_task, data);
	return likely((*task)->number.target == target->id &&
		      (target->all || (session_is_known(target, *task) &&
				       !(*task)->hidden)));
}

/* Other numbers are of other tables, or of none. */
#define SESSION_PLAIN_CALLS	512

/* utrace_current_call() for a call that is not one of the 32-bit table. */
static __always_inline u32 session_plain_call(struct pt_regs *regs)
{
	u32 nr = syscall_get_nr(current, regs);

	return unlikely(nr & UTRACE_SYSCALL_IA32) ? UTRACE_NO_CALL : nr;
}

/*
 * As session_keep_entry(), for a call of which nothing is captured.  The
 * arguments stay in the registers until the exit.  False: this call replaces
 * the registers of the task.
 */
static __always_inline bool session_keep_plain(struct session_task *task,
					       struct pt_regs *regs)
{
	struct session_entry *entry = &task->entry;
	u32 nr = session_plain_call(regs);

	if (unlikely(nr == __NR_execve || nr == __NR_execveat ||
		     nr == __NR_rt_sigreturn || nr >= SESSION_PLAIN_CALLS))
		return false;
	entry->nr = nr;
	entry->kept = SESSION_KEPT_PLAIN;
	entry->began = ktime_get_ns();
	return true;
}

/* Record an entry that has no items.  False: there is no room. */
static __always_inline bool
session_enter_plain(const struct session_target *target,
		    struct session_task *task, u64 now,
		    struct pt_regs *regs)
{
	struct utrace_rec_sys_enter *rec;
	struct session_ring *ring;
	void *to;

	if (unlikely(!session_reserve_fast(target, task, UTRACE_REC_SYS_ENTER,
					   sizeof(*rec), now, &ring, &to)))
		return false;
	rec = to;
	rec->nr = session_plain_call(regs);
	rec->reserved = 0;
	rec->began = rec->head.time;
	syscall_get_arguments(current, regs, (unsigned long *)rec->args);
	session_commit_fast(target->session, ring, sizeof(*rec));
	return true;
}

static __always_inline u32 session_enter(u32 action,
					 struct utrace_engine *engine,
					 struct pt_regs *regs, u64 now)
{
	const struct session_target *target = engine->data;
	struct session_task *task;

	if (session_is_plain(action, engine, target, now,
			     _UTRACE_EVENT_SYSCALL_ENTRY, &task) &&
	    likely(!task->entry.kept)) {
		if (now & SESSION_WHOLE_CALLS ?
		    session_keep_plain(task, regs) :
		    session_enter_plain(target, task, now, regs))
			return UTRACE_RESUME;
	}
	return session_sys_enter_slow(action, engine, regs);
}

/* Write a whole call; @out are the items of its exit. */
static void session_write_call(struct session_writer *w, long ret,
			       const struct session_items *out)
{
	struct session_entry *entry = &w->task->entry;
	struct utrace_rec_sys_call *rec;
	struct session_items in;

	session_fetch_entry(w->task);
	entry->kept = SESSION_KEPT_NOT;
	session_items(w->target, &in, &entry->capture);
	if (!session_reserve(w, UTRACE_REC_SYS_CALL, in.flags | out->flags,
			     sizeof(*rec) + in.size + out->size))
		return;
	rec = (void *)w->rec;
	rec->nr = entry->nr;
	rec->reserved = 0;
	rec->ret = ret;
	rec->began = entry->began;
	memcpy(rec->args, entry->args, sizeof(rec->args));
	session_copy_items(w, sizeof(*rec), &in);
	session_copy_items(w, sizeof(*rec) + in.size, out);
	utrace_dev_commit(w);
}

static void session_write_exit(struct session_writer *w, unsigned int nr,
			       long ret, u16 flags,
			       const struct session_items *out)
{
	struct utrace_rec_sys_exit *rec;

	if (!session_reserve(w, UTRACE_REC_SYS_EXIT, out->flags | flags,
			     sizeof(*rec) + out->size))
		return;
	rec = (void *)w->rec;
	rec->nr = nr;
	rec->reserved = 0;
	rec->ret = ret;
	session_copy_items(w, sizeof(*rec), out);
	utrace_dev_commit(w);
}

static noinline u32 session_sys_exit_slow(u32 action,
					  struct utrace_engine *engine,
					  struct pt_regs *regs)
{
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	bool unpaired = action & UTRACE_SYSCALL_UNPAIRED;
	unsigned int nr = utrace_current_call(regs);
	struct session_items items;
	struct session_writer w;
	unsigned long args[6];
	long ret;
	u32 what;

	if (!session_begin(&w, engine, _UTRACE_EVENT_SYSCALL_EXIT) ||
	    !utrace_dev_sees(w.target, w.task))
		return UTRACE_RESUME;
	if (unpaired)
		session_begin_other(&w);
	ret = syscall_get_return_value(current, regs);
	what = session_capture_of(w.now);
	if (what) {
		utrace_current_args(regs, args);
		utrace_capture_result(&capture, nr, args, ret, what);
		if (!utrace_dev_may_see(w.target))
			goto out;
	}
	session_items(w.target, &items, &capture);
	if (w.task->entry.kept)
		session_write_call(&w, ret, &items);
	else
		session_write_exit(&w, nr, ret,
				   unpaired ? UTRACE_F_UNPAIRED : 0, &items);
out:
	session_end(&w, &capture);
	return UTRACE_RESUME;
}

/* Record a whole call that has no items.  False: there is no room. */
static __always_inline bool
session_call_plain(const struct session_target *target,
		   struct session_task *task, u64 now,
		   struct pt_regs *regs)
{
	struct session_entry *entry = &task->entry;
	struct utrace_rec_sys_call *rec;
	struct session_ring *ring;
	void *to;

	if (unlikely(!session_reserve_fast(target, task, UTRACE_REC_SYS_CALL,
					   sizeof(*rec), now, &ring, &to)))
		return false;
	rec = to;
	rec->nr = entry->nr;
	rec->reserved = 0;
	rec->ret = syscall_get_return_value(current, regs);
	rec->began = entry->began;
	syscall_get_arguments(current, regs, (unsigned long *)rec->args);
	session_commit_fast(target->session, ring, sizeof(*rec));
	entry->kept = SESSION_KEPT_NOT;
	return true;
}

/* Record an exit that has no items.  False: there is no room. */
static __always_inline bool
session_exit_plain(const struct session_target *target,
		   struct session_task *task, u64 now,
		   struct pt_regs *regs)
{
	struct utrace_rec_sys_exit *rec;
	struct session_ring *ring;
	void *to;

	if (unlikely(!session_reserve_fast(target, task, UTRACE_REC_SYS_EXIT,
					   sizeof(*rec), now, &ring, &to)))
		return false;
	rec = to;
	rec->nr = session_plain_call(regs);
	rec->reserved = 0;
	rec->ret = syscall_get_return_value(current, regs);
	session_commit_fast(target->session, ring, sizeof(*rec));
	return true;
}

static __always_inline u32 session_exit_of_call(u32 action,
						struct utrace_engine *engine,
						struct pt_regs *regs, u64 now)
{
	const struct session_target *target = engine->data;
	struct session_task *task;

	if (!session_is_plain(action, engine, target, now,
			      _UTRACE_EVENT_SYSCALL_EXIT, &task))
		return session_sys_exit_slow(action, engine, regs);
	switch (task->entry.kept) {
	case SESSION_KEPT_NOT:
		if (session_exit_plain(target, task, now, regs))
			return UTRACE_RESUME;
		break;
	case SESSION_KEPT_PLAIN:
		if (session_call_plain(target, task, now, regs))
			return UTRACE_RESUME;
		break;
	case SESSION_KEPT_WHOLE:
		break;
	}
	return session_sys_exit_slow(action, engine, regs);
}

/* What the session knows of the current task, if the task may be seen. */
static __always_inline struct session_task *
session_visible_task(struct session_target *target)
{
	struct utrace_task_data *data = utrace_task_data_find(target->session);
	struct session_task *task = container_of(data, struct session_task,
						 data);

	if (likely(data && (target->all || (session_is_known(target, task) &&
					    !task->hidden))))
		return task;
	task = utrace_dev_task(target);
	return task && utrace_dev_sees(target, task) ? task : NULL;
}

/*
 * The current task enters a call that is counted, and may be recorded.  If
 * several targets of the session cover the task, the last one sets the begin.
 */
static noinline u32 session_enter_counted(u32 action,
					  struct utrace_engine *engine,
					  struct pt_regs *regs, u64 now)
{
	struct session_task *task = session_visible_task(engine->data);

	if (likely(task))
		utrace_dev_count_enter(task, now);
	if (now & SESSION_NO_ENTER)
		return UTRACE_RESUME | utrace_syscall_action(action);
	return session_enter(action, engine, regs, now & ~SESSION_COUNT_BITS);
}

/*
 * The current task leaves a call that is counted, and may be recorded.  The
 * first target of several counts it.
 */
static noinline u32 session_exit_counted(u32 action,
					 struct utrace_engine *engine,
					 struct pt_regs *regs, u64 now)
{
	struct session_target *target = engine->data;
	struct utrace_task_data *data = utrace_task_data_find(target->session);

	if (likely(data))
		utrace_dev_count_exit(container_of(data, struct session_task,
						   data), now, regs);
	if (now & SESSION_NO_EXIT)
		return UTRACE_RESUME;
	return session_exit_of_call(action, engine, regs,
				    now & ~SESSION_COUNT_BITS);
}

/**
 * utrace_dev_sys_enter() - the current task enters a system call
 * @action: see &utrace_engine_ops.report_syscall_entry
 * @engine: the engine of a target
 * @regs: see there
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME, and the answer of other engines about the call.
 */
u32 utrace_dev_sys_enter(u32 action, struct utrace_engine *engine,
			 struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt(). */
	u64 now = smp_load_acquire(&target->now);

	if (unlikely(now & SESSION_COUNT))
		return session_enter_counted(action, engine, regs, now);
	return session_enter(action, engine, regs, now);
}

/**
 * utrace_dev_sys_exit() - the current task leaves a system call
 * @action: see &utrace_engine_ops.report_syscall_exit
 * @engine: the engine of a target
 * @regs: see there
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME.
 */
u32 utrace_dev_sys_exit(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt(). */
	u64 now = smp_load_acquire(&target->now);

	if (unlikely(now & SESSION_COUNT))
		return session_exit_counted(action, engine, regs, now);
	return session_exit_of_call(action, engine, regs, now);
}

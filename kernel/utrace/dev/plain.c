// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: the callbacks of system calls
 *
 * The fast path serves most calls: nothing is captured, all calls are recorded,
 * the session has one target, the task's state and the answer about it are
 * cached, and the ring has room.  session_now() checks the first three and puts
 * the result into session_target.now (SESSION_PLAIN_), so one bit selects one
 * of the functions below, each of which handles one kind of settings.
 * session_seen_task() and session_has_room() check the rest.  Everything else
 * goes to calls.c or count.c.
 *
 * The inlined functions keep few values across ktime_get_ns(), since each value
 * would need a push and a pop: a record is filled in before the clock is read,
 * which may be late as long as the ring is open.
 *
 * The bits of ->now also cover the engine's events.  An engine that no longer
 * wants an event has got other settings or is detached, and the core has
 * checked that just before the callback.
 */
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include <asm/unistd.h>

#include "../syscall_current.h"
#include "count.h"
#include "record.h"

/*
 * Check whether the task is hidden from the only target of the session, so that
 * nothing needs to be done.  A program that is hidden while it runs, such as a
 * set-id one, should pay little for the sessions of the user who started it.
 * An entry that was kept before is dropped, since its exit is hidden.  An entry
 * with a capture is left to the slow path, which frees the capture.
 */
static __always_inline bool
session_is_hidden(const struct session_target *target)
{
	struct utrace_task_data *data;
	struct session_task *task;

	if (!utrace_task_data_keyed(target->key, &data))
		return false;
	task = container_of(data, struct session_task, data);
	if (!session_hides(target, task) ||
	    task->entry.kept == SESSION_KEPT_WHOLE ||
	    READ_ONCE(target->session->ntargets) != 1)
		return false;
	task->entry.kept = SESSION_KEPT_NOT;
	return true;
}

/* What session_call() does; a compile-time constant. */
enum session_inline {
	SESSION_INLINE_ENTER,	/* record an entry */
	SESSION_INLINE_EXIT,	/* record an exit */
	SESSION_INLINE_KEEP,	/* keep an entry, without its arguments */
	SESSION_INLINE_CALL,	/* record the whole call of a kept entry */
};

/* Record an entry or an exit by the general functions. */
static u32 session_call_any(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs, bool entry)
{
	return entry ? utrace_dev_record_enter(action, engine, regs) :
		       utrace_dev_record_exit(action, engine, regs);
}

/*
 * Slow path of session_call().  If the task has data of several clients, the
 * session's entry moves to the front of the list and the callback starts over.
 */
static noinline u32 session_call_slow(u32 action, struct utrace_engine *engine,
				      struct pt_regs *regs, bool entry)
{
	const struct session_target *target = engine->data;

	if (session_is_hidden(target))
		return UTRACE_RESUME |
		       (entry ? utrace_syscall_action(action) : 0);
	if (!utrace_task_data_advance(target->session))
		return session_call_any(action, engine, regs, entry);
	return entry ? utrace_dev_sys_enter(action, engine, regs) :
		       utrace_dev_sys_exit(action, engine, regs);
}

/* Slow path of session_call() if the open ring has no room. */
static noinline u32 session_call_full(u32 action, struct utrace_engine *engine,
				      struct pt_regs *regs, bool entry,
				      struct session_ring *ring)
{
	session_ring_close(ring);
	return session_call_any(action, engine, regs, entry);
}

/* Calls that replace the registers that hold their arguments. */
static const unsigned long
session_new_regs[BITS_TO_LONGS(SESSION_PLAIN_CALLS)] = {
	[0] = BIT_MASK(__NR_rt_sigreturn) | BIT_MASK(__NR_execve),
	[BIT_WORD(__NR_execveat)] = BIT_MASK(__NR_execveat),
};

static_assert(__NR_rt_sigreturn < BITS_PER_LONG && __NR_execve < BITS_PER_LONG);

/* Check whether session_call() can do @how with call @nr of this task. */
static __always_inline bool session_is_plain(const struct session_task *task,
					     unsigned long nr,
					     const enum session_inline how)
{
	if (how == SESSION_INLINE_CALL)
		return task->entry.kept == SESSION_KEPT_PLAIN;
	return likely(!task->entry.kept && nr < SESSION_PLAIN_CALLS &&
		      !utrace_in_ia32_syscall()) &&
	       (how != SESSION_INLINE_KEEP || !test_bit(nr, session_new_regs));
}

/* Fill in the members of a record after its header, except the time. */
static __always_inline void session_fill_call(void *at, struct pt_regs *regs,
					      unsigned long nr,
					      struct session_entry *entry,
					      const enum session_inline how)
{
	struct utrace_rec_sys_enter *enter = at;
	struct utrace_rec_sys_exit *exit = at;
	struct utrace_rec_sys_call *call = at;

	switch (how) {
	case SESSION_INLINE_ENTER:
		session_set_call(&enter->nr, nr);
		utrace_native_args(regs, (unsigned long *)enter->args);
		break;
	case SESSION_INLINE_EXIT:
		session_set_call(&exit->nr, nr);
		exit->ret = syscall_get_return_value(current, regs);
		break;
	default:
		session_set_call(&call->nr, entry->nr);
		call->ret = syscall_get_return_value(current, regs);
		call->began = entry->began;
		utrace_native_args(regs, (unsigned long *)call->args);
		entry->kept = SESSION_KEPT_NOT;
	}
}

static __always_inline u16 session_type(const enum session_inline how)
{
	return how == SESSION_INLINE_ENTER ? UTRACE_REC_SYS_ENTER :
	       how == SESSION_INLINE_EXIT ? UTRACE_REC_SYS_EXIT :
					    UTRACE_REC_SYS_CALL;
}

static __always_inline size_t session_size(const enum session_inline how)
{
	return how == SESSION_INLINE_ENTER ? sizeof(struct utrace_rec_sys_enter) :
	       how == SESSION_INLINE_EXIT ? sizeof(struct utrace_rec_sys_exit) :
					    sizeof(struct utrace_rec_sys_call);
}

/* Record an entry, an exit or a whole call, or keep an entry. */
static __always_inline u32 session_call(u32 action,
					struct utrace_engine *engine,
					struct pt_regs *regs,
					const struct session_target *target,
					u64 now, const enum session_inline how)
{
	const bool entry = how == SESSION_INLINE_ENTER ||
			   how == SESSION_INLINE_KEEP;
	unsigned long nr = syscall_get_nr(current, regs);
	struct session_task *task;
	struct session_ring *ring;
	void *rec;

	if (unlikely(action != UTRACE_RESUME ||
		     !session_seen_task(target, &task) ||
		     !session_is_plain(task, nr, how)))
		return session_call_slow(action, engine, regs, entry);
	if (how == SESSION_INLINE_KEEP) {
		task->entry.nr = nr;
		task->entry.kept = SESSION_KEPT_PLAIN;
		task->entry.began = ktime_get_ns();
		return UTRACE_RESUME;
	}
	ring = session_ring_open(task->session);
	if (unlikely(!session_has_room(ring, session_size(how))))
		return session_call_full(action, engine, regs, entry, ring);
	rec = ring->at;
	session_fill_head(rec, ring->cpu, task, session_type(how),
			  session_size(how), now, 0);
	session_fill_call(rec, regs, nr, &task->entry, how);
	session_commit_fast(task, ring, session_size(how),
			    how != SESSION_INLINE_ENTER ? 0 :
			    offsetof(struct utrace_rec_sys_enter, began));
	return UTRACE_RESUME;
}

/*
 * Update session_task.first, since this target may be the first of several that
 * is called, and record nothing.
 */
static void session_note_first(struct session_task *task,
			       const struct utrace_engine *engine,
			       unsigned int event)
{
	if (unlikely(READ_ONCE(task->session->ntargets) > 1))
		utrace_dev_is_unclaimed(task, engine, event);
}

/*
 * Get the session's state of the current task, whose call is to be counted.
 * NULL if the task is hidden, or without memory.
 */
static struct session_task *
session_visible_task(struct session_target *target,
		     const struct utrace_engine *engine)
{
	struct session_task *task = utrace_dev_task(target);

	if (!task) {
		atomic_long_inc(&target->session->counts.lost);
		return NULL;
	}
	session_note_first(task, engine, _UTRACE_EVENT_SYSCALL_ENTRY);
	if (utrace_dev_sees(target, task))
		return task;
	task->since = 0;
	return NULL;
}

/*
 * The current task enters a call that is counted, and may be recorded.  If
 * several targets of the session cover the task, the last one sets the begin.
 */
static noinline u32 session_enter_counted(u32 action,
					  struct utrace_engine *engine,
					  struct pt_regs *regs, u64 now)
{
	struct session_target *target = engine->data;
	struct session_task *task;

	if (likely(session_seen_task(target, &task)))
		session_note_first(task, engine, _UTRACE_EVENT_SYSCALL_ENTRY);
	else
		task = session_visible_task(target, engine);
	if (likely(task))
		utrace_dev_count_enter(task, now);
	if (now & SESSION_NO_ENTER)
		return UTRACE_RESUME | utrace_syscall_action(action);
	switch (session_plain_records(now)) {
	case SESSION_PLAIN_WHOLE:
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_KEEP);
	case SESSION_PLAIN_ENTER | SESSION_PLAIN_EXIT:
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_ENTER);
	default:
		return utrace_dev_record_enter(action, engine, regs);
	}
}

/*
 * The current task leaves a call that is counted, and may be recorded.  The
 * first of several targets counts it.
 */
static noinline u32 session_exit_counted(u32 action,
					 struct utrace_engine *engine,
					 struct pt_regs *regs, u64 now)
{
	struct session_target *target = engine->data;
	struct utrace_task_data *data = utrace_task_data_find(target->session);
	struct session_task *task;

	if (likely(data)) {
		task = container_of(data, struct session_task, data);
		session_note_first(task, engine, _UTRACE_EVENT_SYSCALL_EXIT);
		utrace_dev_count_exit(task, action, now, regs);
	}
	if (now & SESSION_NO_EXIT)
		return UTRACE_RESUME;
	switch (session_plain_records(now)) {
	case SESSION_PLAIN_WHOLE:
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_CALL);
	case SESSION_PLAIN_ENTER | SESSION_PLAIN_EXIT:
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_EXIT);
	default:
		return utrace_dev_record_exit(action, engine, regs);
	}
}

/* Store the begin of a call that is counted and not recorded. */
static __always_inline u32
session_enter_count(u32 action, struct utrace_engine *engine,
		    struct pt_regs *regs, const struct session_target *target,
		    u64 now)
{
	struct session_task *task;

	if (unlikely(action != UTRACE_RESUME ||
		     !session_seen_task(target, &task)))
		return session_enter_counted(action, engine, regs, now);
	task->since = ktime_get_ns();
	return UTRACE_RESUME;
}

/*
 * Count a call that is not recorded.  The entry has checked that the task may
 * be seen.
 */
static noinline u32 session_exit_count(u32 action,
				       struct utrace_engine *engine,
				       struct pt_regs *regs,
				       const struct session_target *target,
				       u64 now)
{
	struct utrace_task_data *data;
	struct session_task *task;

	if (unlikely(action != UTRACE_RESUME ||
		     !utrace_task_data_first(target->session, &data)))
		return session_exit_counted(action, engine, regs, now);
	task = container_of(data, struct session_task, data);
	if (unlikely(!task->since))
		return session_exit_counted(action, engine, regs, now);
	utrace_dev_count_plain(task, regs);
	return UTRACE_RESUME;
}

/**
 * utrace_dev_sys_enter() - callback: the current task enters a system call
 * @action: see &utrace_engine_ops.report_syscall_entry
 * @engine: the engine of a target
 * @regs: registers of the task
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME, and the answer of previous engines about the call.
 */
u32 utrace_dev_sys_enter(u32 action, struct utrace_engine *engine,
			 struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt() and utrace_dev_update_several(). */
	u64 now = smp_load_acquire(&target->now);

	if (now & SESSION_PLAIN_WHOLE)
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_KEEP);
	if (now & SESSION_PLAIN_ENTER)
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_ENTER);
	if (now & SESSION_PLAIN_COUNT)
		return session_enter_count(action, engine, regs, target, now);
	if (now & SESSION_COUNT)
		return session_enter_counted(action, engine, regs, now);
	return utrace_dev_record_enter(action, engine, regs);
}

/**
 * utrace_dev_sys_exit() - callback: the current task leaves a system call
 * @action: see &utrace_engine_ops.report_syscall_exit
 * @engine: the engine of a target
 * @regs: registers of the task
 *
 * Context: A callback, in the task itself; may sleep.
 * Return: UTRACE_RESUME.
 */
u32 utrace_dev_sys_exit(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt() and utrace_dev_update_several(). */
	u64 now = smp_load_acquire(&target->now);

	if (now & SESSION_PLAIN_WHOLE)
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_CALL);
	if (now & SESSION_PLAIN_EXIT)
		return session_call(action, engine, regs, target, now,
				    SESSION_INLINE_EXIT);
	if (now & SESSION_PLAIN_COUNT)
		return session_exit_count(action, engine, regs, target, now);
	if (now & SESSION_COUNT)
		return session_exit_counted(action, engine, regs, now);
	return utrace_dev_record_exit(action, engine, regs);
}

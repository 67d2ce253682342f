// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: callbacks, and the records they write
 *
 * A callback asks whether the session may see the current task (rights.c),
 * captures what goes along with the event, which may fault and sleep, and then
 * writes the record and its items into a ring (ring.c).  If there was no room,
 * the task waits for the reader at the next safe point (park.c).
 *
 * Where the session wants whole calls, the entry of a call is kept with the
 * task (struct session_entry) until the exit.  Another record of the task is
 * preceded by the entry as a record of its own, since the call may never end.
 */
#include <linux/cred.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/utrace.h>

#include <asm/unistd.h>

#include "../builtin.h"
#include "../capture/capture.h"
#include "../decode/items.h"
#include "../syscall_current.h"
#include "count.h"
#include "write.h"

static_assert(UTRACE_REC_IA32 == UTRACE_SYSCALL_IA32);
static_assert(UTRACE_REC_NO_CALL == UTRACE_NO_CALL);
static_assert(sizeof_field(struct utrace_rec_sys_enter, args) ==
	      sizeof(unsigned long[6]));

/*
 * Do both engines belong to one session?  The caller is under RCU, which keeps
 * their targets.
 */
static bool session_same(const struct utrace_engine *a,
			 const struct utrace_engine *b)
{
	const struct session_target *x = a->data, *y = b->data;

	return x->session == y->session;
}

/*
 * Begin with a callback.  The settings are read before the engine is asked
 * whether it wants the event still: so a record that has the number of new
 * settings was chosen by them.  If several targets cover the task, the event is
 * recorded for the one that is called first.  Return false if there is nothing
 * to record.
 */
static __always_inline bool session_begin(struct session_writer *w,
					  struct utrace_engine *engine,
					  unsigned int event)
{
	struct session_target *target = engine->data;

	w->target = target;
	/* Pairs with utrace_dev_apply(). */
	w->now = smp_load_acquire(&target->now);
	if (unlikely(!(READ_ONCE(engine->flags) & BIT(event))))
		return false;
	if (unlikely(READ_ONCE(target->session->ntargets) > 1) &&
	    utrace_was_called(engine, event, session_same))
		return false;
	w->task = utrace_dev_task(target);
	return likely(w->task);
}

/* Reserve a record. */
static __always_inline bool session_reserve(struct session_writer *w, u16 type,
					    u16 flags, size_t size)
{
	w->flags = flags;
	return utrace_dev_reserve(w, type, size);
}

/* Write a record; @body is what stands behind the header. */
static void session_write(struct session_writer *w, u16 type, u16 flags,
			  const void *body, size_t size)
{
	if (!session_reserve(w, type, flags, sizeof(*w->rec) + size))
		return;
	memcpy(w->rec + 1, body, size);
	utrace_dev_commit(w);
}

/**
 * utrace_dev_hide() - tell the reader that the current task is hidden
 * @target: the target whose engine has called back
 * @task: what the session knows of the current task
 *
 * Counts it in utrace_session.hidden and writes a UTRACE_REC_HIDDEN.
 *
 * Context: A callback, in the task itself; may sleep.
 */
void utrace_dev_hide(struct session_target *target, struct session_task *task)
{
	struct session_writer w = {
		.target = target,
		.task = task,
		.now = READ_ONCE(target->now),
	};

	atomic64_inc(&target->session->hidden);
	session_write(&w, UTRACE_REC_HIDDEN, 0, NULL, 0);
}

/* Captures */

/*
 * Bytes of a capture buffer that items may use.  The rest of the buffer, one
 * struct utrace_item, is for a UTRACE_ITEM_MISSING behind the items.
 */
#define SESSION_CAPTURE_SIZE	(UTRACE_CAPTURE_SIZE - sizeof(struct utrace_item))

static_assert(sizeof(struct utrace_rec_sys_call) +
	      2 * (UTRACE_CAPTURE_SIZE + sizeof(struct utrace_item)) <=
	      UTRACE_DEV_RECORD_SIZE);

/**
 * struct session_items - what was captured, ready for a record
 * @data: the items; those of the capture, or @missing
 * @size: bytes of @data
 * @flags: UTRACE_F_ bits for the record
 * @missing: a UTRACE_ITEM_MISSING without a capture
 *
 * Lives on the stack of the callback.
 */
struct session_items {
	const void *data;
	size_t size;
	u16 flags;
	struct utrace_item missing;
};

/*
 * Append a UTRACE_ITEM_MISSING with the number of items that found no room or
 * memory.  Without a buffer it becomes the only item.
 */
static void session_count_missing(const struct session_target *target,
				  struct session_items *items,
				  const struct utrace_capture *capture)
{
	items->missing = (struct utrace_item){
		.kind = UTRACE_ITEM_MISSING,
		.arg = UTRACE_ITEM_NO_ARG,
		.whole = capture->lost,
	};
	if (capture->data)
		memcpy(capture->data + capture->used, &items->missing,
		       sizeof(items->missing));
	else
		items->data = &items->missing;
	items->size += sizeof(items->missing);
	items->flags |= UTRACE_F_INCOMPLETE;
	atomic64_add(capture->lost, &target->session->uncaptured);
}

static noinline void session_describe(const struct session_target *target,
				      struct session_items *items,
				      const struct utrace_capture *capture)
{
	const struct utrace_item *item = NULL;

	items->data = capture->data;
	items->size = capture->used;
	while ((item = utrace_item_next(capture->data, capture->used, item))) {
		if (item->flags & UTRACE_ITEM_TRUNCATED)
			items->flags |= UTRACE_F_TRUNCATED;
		if (item->flags & UTRACE_ITEM_FAULTED)
			items->flags |= UTRACE_F_FAULTED;
	}
	if (capture->lost)
		session_count_missing(target, items, capture);
}

/* Make a capture ready for a record. */
static __always_inline void session_items(const struct session_target *target,
					  struct session_items *items,
					  const struct utrace_capture *capture)
{
	items->data = NULL;
	items->size = 0;
	items->flags = 0;
	if (capture->used || capture->lost)
		session_describe(target, items, capture);
}

/* Copy the items behind the @at bytes of a record that come before them. */
static __always_inline void session_copy_items(struct session_writer *w,
					       size_t at,
					       const struct session_items *items)
{
	if (!items->size)
		return;
	if (!w->rec->items)
		w->rec->items = at;
	memcpy((void *)w->rec + at, items->data, items->size);
}

/* System calls */

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

/* Write the entry that was kept as a record of its own. */
static noinline void session_flush_entry(struct session_writer *w)
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

/*
 * End the captures and the writing of a callback: the task waits for the reader
 * if a record is parked.
 */
static __always_inline void session_end(struct session_writer *w,
					struct utrace_capture *capture)
{
	if (unlikely(capture && capture->data))
		utrace_capture_free(capture);
	if (unlikely(READ_ONCE(w->task->parked)))
		__utrace_dev_hold_soon(w->task);
}

/* Before any other record: the entry of the call that the task is in. */
static void session_begin_other(struct session_writer *w)
{
	if (unlikely(w->task->entry.kept))
		session_flush_entry(w);
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
	return likely(target->all || (session_is_known(target, *task) &&
				      !(*task)->hidden));
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
static __always_inline bool session_enter_plain(const struct session_target *target,
						struct session_task *task,
						u64 now, struct pt_regs *regs)
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
static __always_inline bool session_call_plain(const struct session_target *target,
					       struct session_task *task,
					       u64 now, struct pt_regs *regs)
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
static __always_inline bool session_exit_plain(const struct session_target *target,
					       struct session_task *task,
					       u64 now, struct pt_regs *regs)
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

	if (likely(data && session_is_known(target, task) && !task->hidden))
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

static u32 session_sys_enter(u32 action, struct utrace_engine *engine,
			     struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt(). */
	u64 now = smp_load_acquire(&target->now);

	if (unlikely(now & SESSION_COUNT))
		return session_enter_counted(action, engine, regs, now);
	return session_enter(action, engine, regs, now);
}

static u32 session_sys_exit(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs)
{
	const struct session_target *target = engine->data;
	/* Pairs with session_adopt(). */
	u64 now = smp_load_acquire(&target->now);

	if (unlikely(now & SESSION_COUNT))
		return session_exit_counted(action, engine, regs, now);
	return session_exit_of_call(action, engine, regs, now);
}

/* Other events */

static u32 session_clone(u32 action, struct utrace_engine *engine,
			 unsigned long clone_flags, struct task_struct *child)
{
	struct utrace_rec_fork rec = {};
	struct session_writer w;

	if (!session_begin(&w, engine, _UTRACE_EVENT_CLONE) ||
	    !utrace_dev_sees(w.target, w.task))
		return UTRACE_RESUME;
	session_begin_other(&w);
	rec.child_task = task_pid(child)->ino;
	rec.child_pid = task_tgid_nr_ns(child, w.target->session->ns);
	rec.child_tid = task_pid_nr_ns(child, w.target->session->ns);
	rec.flags = clone_flags;
	session_write(&w, UTRACE_REC_FORK, 0, &rec.head + 1,
		      sizeof(rec) - sizeof(rec.head));
	session_end(&w, NULL);
	return UTRACE_RESUME;
}

static u32 session_exec(u32 action, struct utrace_engine *engine,
			const struct linux_binfmt *fmt,
			const struct linux_binprm *bprm, struct pt_regs *regs)
{
	struct utrace_capture capture = UTRACE_CAPTURE_INIT(SESSION_CAPTURE_SIZE);
	struct utrace_rec_exec *rec;
	struct session_items items;
	struct session_writer w;
	u64 old_task;
	s32 old_tid;

	if (!session_begin(&w, engine, _UTRACE_EVENT_EXEC))
		return UTRACE_RESUME;
	/* By the ids of before, and the rights at the entry. */
	session_begin_other(&w);
	old_task = w.task->id;
	old_tid = w.task->ids.tid;
	utrace_dev_task_rename(w.task);
	if (!utrace_dev_sees(w.target, w.task))
		return UTRACE_RESUME;
	if (utrace_capture_start(&capture))
		utrace_capture_exec(&capture, w.target->session->cred->user_ns);
	if (!utrace_dev_may_see(w.target))
		goto out;
	session_items(w.target, &items, &capture);
	if (session_reserve(&w, UTRACE_REC_EXEC, items.flags,
			    sizeof(*rec) + items.size)) {
		rec = (void *)w.rec;
		rec->old_task = old_task;
		rec->old_tid = old_tid;
		rec->reserved = 0;
		session_copy_items(&w, sizeof(*rec), &items);
		utrace_dev_commit(&w);
	}
out:
	session_end(&w, &capture);
	return UTRACE_RESUME;
}

static u32 session_exit(u32 action, struct utrace_engine *engine,
			long orig_code, long *code)
{
	struct utrace_rec_exit rec = {};
	struct session_writer w;
	u16 flags = 0;

	if (!session_begin(&w, engine, _UTRACE_EVENT_EXIT))
		return UTRACE_RESUME;
	/*
	 * The reader always learns that a task ends; the exit status of a
	 * hidden task is kept back.
	 */
	if (utrace_dev_sees(w.target, w.task)) {
		session_begin_other(&w);
		rec.code = *code;
	} else {
		flags = UTRACE_F_HIDDEN;
	}
	session_write(&w, UTRACE_REC_EXIT, flags, &rec.head + 1,
		      sizeof(rec) - sizeof(rec.head));
	return UTRACE_RESUME;
}

/*
 * A task has died.  The next read(2) or poll(2) looks whether its target has
 * tasks left; a reader that waits is woken for that.
 */
static u32 session_death(struct utrace_engine *engine, bool group_dead,
			 int signal)
{
	struct session_target *target = engine->data;
	struct utrace_task_data *data = utrace_task_data_find(target->session);

	if (data)
		utrace_dev_count_death(container_of(data, struct session_task,
						    data));
	utrace_dev_look_soon(target->session);
	return UTRACE_RESUME;
}

static unsigned int session_signal_event(const struct k_sigaction *ka, int signr)
{
	if (ka->sa.sa_handler != SIG_DFL)
		return _UTRACE_EVENT_SIGNAL;
	if (sig_kernel_coredump(signr))
		return _UTRACE_EVENT_SIGNAL_CORE;
	return sig_kernel_stop(signr) ? _UTRACE_EVENT_SIGNAL_STOP :
					_UTRACE_EVENT_SIGNAL_TERM;
}

/*
 * The answer ends a hold that the task has had before, so the task is held again
 * at the safe point if records are parked.  A signal that ends the process is
 * not delayed.
 */
static u32 session_signal(u32 action, struct utrace_engine *engine,
			  struct pt_regs *regs, kernel_siginfo_t *info,
			  const struct k_sigaction *orig_ka,
			  struct k_sigaction *return_ka)
{
	u32 answer = UTRACE_RESUME | utrace_signal_action(action);
	struct utrace_rec_signal rec = {};
	struct session_writer w;
	unsigned int event;

	if (!orig_ka)
		return answer;
	event = session_signal_event(orig_ka, info->si_signo);
	if (!session_begin(&w, engine, event) ||
	    !utrace_dev_sees(w.target, w.task))
		return answer;
	session_begin_other(&w);
	BUILD_BUG_ON(sizeof(rec.info) != sizeof(siginfo_t));
	memcpy(rec.info, info, sizeof(*info));
	rec.handler = (unsigned long)orig_ka->sa.sa_handler;
	rec.flags = orig_ka->sa.sa_flags;
	session_write(&w, UTRACE_REC_SIGNAL, 0, &rec.head + 1,
		      sizeof(rec) - sizeof(rec.head));
	session_end(&w, NULL);
	return answer;
}

/*
 * A task that takes part in stops again and again does not come to the safe
 * point in between, so it is held in get_signal().
 */
static u32 session_jobctl(u32 action, struct utrace_engine *engine, int type,
			  int notify)
{
	struct utrace_rec_jobctl rec = { .type = type, .notify = notify };
	struct session_writer w;

	if (!session_begin(&w, engine, _UTRACE_EVENT_JCTL) ||
	    !utrace_dev_sees(w.target, w.task))
		return UTRACE_RESUME;
	session_begin_other(&w);
	if (!(w.now & SESSION_NO_JOBCTL))
		session_write(&w, UTRACE_REC_JOBCTL, 0, &rec.head + 1,
			      sizeof(rec) - sizeof(rec.head));
	return utrace_dev_hold(w.task) ? UTRACE_INTERRUPT : UTRACE_RESUME;
}

/*
 * The last reference to the engine is gone, so no callback uses the target;
 * session_same() may still look at it.
 */
static void session_target_release(void *data)
{
	struct session_target *target = data;
	struct utrace_session *session = target->session;

	put_cred(target->cred);
	utrace_dev_settings_put(target->settings);
	kfree(target->end);
	kfree_rcu(target, rcu);
	atomic_dec(&session->busy);
	utrace_dev_wake_soon(session, true);
	utrace_dev_put(session);
}

const struct utrace_engine_ops utrace_dev_ops = {
	.name			= "dev",
	.report_syscall_entry	= session_sys_enter,
	.report_syscall_exit	= session_sys_exit,
	.report_clone		= session_clone,
	.report_exec		= session_exec,
	.report_exit		= session_exit,
	.report_death		= session_death,
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
	{ UTRACE_REC_SYS_CALL,	UTRACE_EVENT_SYSCALL },
};

static int __init session_add_records(void)
{
	return utrace_dev_add_records(session_records,
				      ARRAY_SIZE(session_records));
}
subsys_initcall(session_add_records);

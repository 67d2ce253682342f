/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: the parts of a callback
 *
 * The parts are called in this order:
 *
 *	session_begin()
 *	session_claim()		checks the right to see the task (task.c)
 *	session_flush_entry()	writes the kept entry; not for records of calls
 *	the capture		may fault and sleep
 *	the write		the record and its items, into a ring (ring.c)
 *	session_end()
 *
 * utrace_dev_exec() flushes the entry before it claims the event.  The write is
 * utrace_dev_write() for a record without items, else utrace_dev_reserve(),
 * session_copy_items() and utrace_dev_commit().  The callbacks of system calls
 * are in plain.c, whose slow paths are in calls.c; those of other events are in
 * events.c.
 */
#ifndef _KERNEL_UTRACE_DEV_RECORD_H
#define _KERNEL_UTRACE_DEV_RECORD_H

#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "../capture/capture.h"
#include "../syscall_current.h"
#include "write.h"

/*
 * Bytes for items in a capture buffer, of the first buffer and of a larger one.
 * The rest of the buffer, one struct utrace_item, is for a UTRACE_ITEM_MISSING
 * after the items.
 */
#define SESSION_CAPTURE_SIZE	(UTRACE_CAPTURE_SIZE - sizeof(struct utrace_item))
#define SESSION_CAPTURE_MOST	(SZ_1K * 15 - sizeof(struct utrace_item))

/*
 * Maximum size of the items of a whole call, without the UTRACE_ITEM_MISSING of
 * entry and exit.
 */
#define SESSION_ITEMS_MOST	(UTRACE_DEV_RECORD_SIZE -		\
				 sizeof(struct utrace_rec_sys_call) -	\
				 2 * sizeof(struct utrace_item))

static_assert(SESSION_CAPTURE_MOST <= SESSION_ITEMS_MOST);
/* Three items of maximum size fit: two paths and the bytes that are read. */
static_assert(3 * (sizeof(struct utrace_item) + UTRACE_ITEM_SIZE_MAX) <=
	      SESSION_CAPTURE_MOST);

/**
 * struct session_items - captured items, ready for a record
 * @data: the items; those of the capture, or @missing
 * @size: bytes of @data
 * @flags: UTRACE_REC_F_ bits for the record
 * @missing: a UTRACE_ITEM_MISSING for a capture without a buffer
 *
 * Lives on the stack of the callback.
 */
struct session_items {
	const void *data;
	size_t size;
	u16 flags;
	struct utrace_item missing;
};

void utrace_dev_flush_entry(struct session_writer *w);
bool utrace_dev_is_unclaimed(struct session_task *task,
			     const struct utrace_engine *engine,
			     unsigned int event);
void utrace_dev_write(struct session_writer *w, u16 type, u16 flags,
		      const void *body, size_t size);
void utrace_dev_describe(const struct session_target *target,
			 struct session_items *items,
			 const struct utrace_capture *capture);
void utrace_dev_capture_init(struct utrace_capture *capture,
			     const struct session_target *target,
			     size_t before);

/* calls.c */
u32 utrace_dev_record_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs);
u32 utrace_dev_record_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs);

/*
 * Begin a callback.  The settings are read before the engine's events are
 * checked.  So if a record has the number of new settings, these settings have
 * chosen the event.  If several targets cover the task, the event is recorded
 * for the first one that is called, wants a record and may see the task.
 * Returns false if there is nothing to record.
 */
static __always_inline bool session_begin(struct session_writer *w,
					  struct utrace_engine *engine,
					  unsigned int event)
{
	struct session_target *target = engine->data;

	w->target = target;
	/* Pairs with session_adopt() and utrace_dev_update_several(). */
	w->now = smp_load_acquire(&target->now);
	if (unlikely(!(READ_ONCE(engine->flags) & BIT(event))))
		return false;
	w->task = utrace_dev_task(target);
	if (unlikely(!w->task)) {
		utrace_dev_lost(target);
		return false;
	}
	if (likely(READ_ONCE(target->session->ntargets) == 1)) {
		w->task->first = true;
		return true;
	}
	return utrace_dev_is_unclaimed(w->task, engine, event);
}

/*
 * Check whether the session may see the current task.  If true, the event is
 * recorded for this target and for no other.
 */
static __always_inline bool session_claim(struct session_writer *w)
{
	if (!utrace_dev_sees(w->target, w->task))
		return false;
	w->task->claimed = true;
	return true;
}

/*
 * End a callback: free the capture, and let the task wait for the reader if a
 * record is parked.
 */
static __always_inline void session_end(struct session_writer *w,
					struct utrace_capture *capture)
{
	if (unlikely(capture && capture->data))
		utrace_capture_free(capture);
	if (unlikely(READ_ONCE(w->task->parked)))
		__utrace_dev_hold_soon(w->task);
}

/* Prepare a capture for a record. */
static __always_inline void session_items(const struct session_target *target,
					  struct session_items *items,
					  const struct utrace_capture *capture)
{
	items->data = NULL;
	items->size = 0;
	items->flags = 0;
	if (capture->used || capture->lost)
		utrace_dev_describe(target, items, capture);
}

/*
 * Store the number of a call, as returned by utrace_current_asked(), into the
 * members nr and asked of a record, by one store.
 */
static __always_inline void session_set_call(u32 *at, u64 nr)
{
	*(u64 *)at = nr;
}

static_assert(IS_ENABLED(CONFIG_64BIT) && !IS_ENABLED(CONFIG_CPU_BIG_ENDIAN));
static_assert(offsetof(struct utrace_rec_sys_enter, asked) ==
	      offsetof(struct utrace_rec_sys_enter, nr) + sizeof(u32));
static_assert(offsetof(struct utrace_rec_sys_exit, asked) ==
	      offsetof(struct utrace_rec_sys_exit, nr) + sizeof(u32));
static_assert(offsetof(struct utrace_rec_sys_call, asked) ==
	      offsetof(struct utrace_rec_sys_call, nr) + sizeof(u32));

/* Copy items into a record, at offset @at. */
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

/* Drop a kept entry and its capture, after its record or without one. */
static inline void session_drop_entry(struct session_entry *entry)
{
	entry->kept = SESSION_KEPT_NOT;
	utrace_capture_free(&entry->capture);
	entry->capture = (struct utrace_capture){};
}

/*
 * Complete a kept entry whose arguments are still in the registers of the task:
 * no system call changes the registers of its arguments before its exit.
 */
static inline void session_fetch_entry(struct session_task *task)
{
	struct session_entry *entry = &task->entry;

	if (entry->kept != SESSION_KEPT_PLAIN)
		return;
	utrace_current_args(current_pt_regs(), entry->args);
	entry->asked = 0;
}

/* Before any other record: write the entry of the call that the task is in. */
static inline void session_flush_entry(struct session_writer *w)
{
	if (unlikely(w->task->entry.kept))
		utrace_dev_flush_entry(w);
}

#endif /* _KERNEL_UTRACE_DEV_RECORD_H */

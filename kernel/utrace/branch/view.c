// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: filter of raw records for one consumer
 *
 * For a consumer of user mode the kernel is one place.  System calls and
 * exceptions are recorded, with a pseudo-address in place of the kernel's.  An
 * interrupt or a page fault is not recorded if the thread continues where it
 * was; else something has moved the thread, which is recorded as
 * %UTRACE_PC_ASYNC.  If a thread leaves the kernel and the view has not seen it
 * enter, the branch comes from %UTRACE_PC_KERNEL.  Between the address @to of a
 * record and @from of the next one the thread has run without a branch, unless
 * a record of a loss or of another task is in between.
 *
 * All functions here may run in an NMI.
 */
#include <linux/compiler.h>
#include <linux/minmax.h>

#include "buffer.h"
#include "view.h"

/* The sign bit of an address of the kernel. */
#define BTS_SIGN	(1ULL << 63)

/* Maximum number of records to scan before they are copied: 12 KiB. */
#define BTS_CHUNK	512

/* Check whether a record is a branch within user mode. */
static __always_inline bool bts_is_user(const struct utrace_branch *record)
{
	return !((record->from | record->to) & BTS_SIGN) &&
	       UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH;
}

/* Check whether all of eight records are branches within user mode. */
static __always_inline bool bts_are_user(const struct utrace_branch *r)
{
	u64 sides = r[0].from | r[0].to | r[1].from | r[1].to |
		    r[2].from | r[2].to | r[3].from | r[3].to |
		    r[4].from | r[4].to | r[5].from | r[5].to |
		    r[6].from | r[6].to | r[7].from | r[7].to;
	u64 infos = r[0].info | r[1].info | r[2].info | r[3].info |
		    r[4].info | r[5].info | r[6].info | r[7].info;

	return !(sides & BTS_SIGN) &&
	       UTRACE_BRANCH_TYPE(infos) == UTRACE_BRANCH;
}

/* Number of leading records that are branches within user mode. */
static unsigned int bts_user_run(const struct utrace_branch *records,
				 unsigned int n)
{
	unsigned int i = 0;

	while (i + 8 <= n && bts_are_user(records + i))
		i += 8;
	while (i < n && bts_is_user(records + i))
		i++;
	return i;
}

/* Number of leading records that are no branches within user mode. */
static unsigned int bts_other_run(const struct utrace_branch *records,
				  unsigned int n)
{
	unsigned int i = 0;

	while (i < n && !bts_is_user(records + i))
		i++;
	return i;
}

/* Find the entry point at @address; NULL if it is not listed. */
static const struct bts_entry *bts_find_entry(const struct bts_entries *entries,
					      u64 address)
{
	unsigned int low = 0, high = entries ? entries->n : 0, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (entries->entry[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!entries || low == entries->n ||
	    entries->entry[low].address != address)
		return NULL;
	return &entries->entry[low];
}

/* Make the information of a record that is derived from another one. */
static u64 bts_info(const struct utrace_branch *record,
		    enum utrace_branch_kind kind)
{
	return (record->info & UTRACE_BRANCH_PREDICTED) | kind << 8;
}

/* User mode */

/* The thread has entered the kernel. */
static void bts_enter(struct bts_view *view, const struct utrace_branch *record,
		      struct bts_buffer *buffer)
{
	const struct bts_entry *entry = bts_find_entry(view->entries,
						       record->to);

	view->where = BTS_WHERE_KERNEL;
	view->left = record->from;
	if (record->to >= UTRACE_PC_BASE) {
		/* The source has identified the entry. */
		view->kind = BTS_ENTRY_EXCEPTION;
		view->pc = record->to;
		utrace_bts_buffer_write(buffer, record, 1);
		return;
	}
	view->kind = entry ? entry->kind : BTS_ENTRY_TRANSPARENT;
	if (view->kind == BTS_ENTRY_TRANSPARENT)
		return;
	view->pc = entry->pc;
	utrace_bts_buffer_put(buffer, record->from, view->pc,
			      bts_info(record, view->kind == BTS_ENTRY_SYSCALL ?
				       UTRACE_BR_SYSCALL : UTRACE_BR_UNKNOWN));
}

/* The thread has left user mode and will not continue where it was. */
static void bts_tell_async(struct bts_view *view, struct bts_buffer *buffer)
{
	if (view->where != BTS_WHERE_KERNEL ||
	    view->kind != BTS_ENTRY_TRANSPARENT)
		return;
	utrace_bts_buffer_put(buffer, view->left, UTRACE_PC_ASYNC,
			      UTRACE_BRANCH);
}

/* The thread has left the kernel. */
static void bts_leave(struct bts_view *view, const struct utrace_branch *record,
		      struct bts_buffer *buffer)
{
	enum utrace_branch_kind kind = UTRACE_BR_UNKNOWN;
	u64 pc = UTRACE_PC_KERNEL;

	if (record->from >= UTRACE_PC_BASE) {
		bts_tell_async(view, buffer);
		utrace_bts_buffer_write(buffer, record, 1);
		return;
	}
	if (view->where == BTS_WHERE_KERNEL) {
		if (view->kind == BTS_ENTRY_TRANSPARENT) {
			if (view->left == record->to)
				return;
			bts_tell_async(view, buffer);
			pc = UTRACE_PC_ASYNC;
		} else {
			pc = view->pc;
			if (view->kind == BTS_ENTRY_SYSCALL)
				kind = UTRACE_BR_SYSRET;
		}
	}
	utrace_bts_buffer_put(buffer, pc, record->to, bts_info(record, kind));
}

/* Check whether an entry or exit is missing before a record of @class. */
static bool bts_is_missing(const struct bts_view *view, enum bts_class class)
{
	switch (view->where) {
	case BTS_WHERE_USER:
		return class == BTS_KU || class == BTS_KK;
	case BTS_WHERE_KERNEL:
		return class == BTS_UU || class == BTS_UK;
	case BTS_WHERE_HOLE:
		return class != BTS_KK;
	default:
		return false;
	}
}

/* The stream of a CPU continues with another task. */
static void bts_change_task(struct bts_view *view,
			    const struct utrace_branch *record,
			    struct bts_buffer *buffer)
{
	bts_tell_async(view, buffer);
	view->where = BTS_WHERE_UNKNOWN;
	utrace_bts_buffer_write(buffer, record, 1);
}

/* Handle a record that is no branch within user mode, or that follows one. */
static void bts_user_record(struct bts_view *view,
			    const struct utrace_branch *record,
			    struct bts_buffer *buffer)
{
	enum bts_class class = utrace_bts_class(record);

	if (UTRACE_BRANCH_TYPE(record->info) != UTRACE_BRANCH) {
		/* Drop unknown types, which could leak kernel addresses. */
		if (UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH_TASK)
			bts_change_task(view, record, buffer);
		return;
	}
	if (bts_is_missing(view, class)) {
		if (class == BTS_KK) {
			view->where = BTS_WHERE_HOLE;
			return;
		}
		utrace_bts_view_gap(view, UTRACE_LOSS_EDGE, buffer);
	}
	switch (class) {
	case BTS_UU:
		utrace_bts_buffer_write(buffer, record, 1);
		view->where = BTS_WHERE_USER;
		break;
	case BTS_UK:
		bts_enter(view, record, buffer);
		break;
	case BTS_KU:
		bts_leave(view, record, buffer);
		view->where = BTS_WHERE_USER;
		break;
	case BTS_KK:
		break;
	}
}

static void bts_filter_user(struct bts_view *view,
			    const struct utrace_branch *records, unsigned int n,
			    struct bts_buffer *buffer)
{
	unsigned int run;

	for (; n; n -= run, records += run) {
		run = 0;
		if (view->where == BTS_WHERE_USER ||
		    view->where == BTS_WHERE_UNKNOWN)
			run = bts_user_run(records, min(n, BTS_CHUNK));
		if (run) {
			utrace_bts_buffer_write(buffer, records, run);
			view->where = BTS_WHERE_USER;
		} else {
			bts_user_record(view, records, buffer);
			run = 1;
		}
	}
}

/* The kernel */

static void bts_filter_kernel(const struct utrace_branch *records,
			      unsigned int n, struct bts_buffer *buffer)
{
	unsigned int run;

	for (; n; n -= run, records += run) {
		run = bts_user_run(records, n);
		if (run)
			continue;
		run = bts_other_run(records, min(n, BTS_CHUNK));
		utrace_bts_buffer_write(buffer, records, run);
	}
}

/* Views */

/**
 * utrace_bts_view_begin() - initialize a view for a new stream
 * @view: its level and entries are set
 *
 * Context: The writer; any.
 */
void utrace_bts_view_begin(struct bts_view *view)
{
	view->where = BTS_WHERE_UNKNOWN;
}

/**
 * utrace_bts_view_filter() - filter raw records for a consumer
 * @view: the view of the consumer
 * @records: raw records of the stream, which follow those of the last call
 * @n: number of records
 * @buffer: the ring of the consumer
 *
 * Writes at most @n + 1 records, unless an entry into the kernel or an exit is
 * missing.
 *
 * Context: The writer; any, NMI included.
 */
void utrace_bts_view_filter(struct bts_view *view,
			    const struct utrace_branch *records, unsigned int n,
			    struct bts_buffer *buffer)
{
	switch (view->level) {
	case BTS_LEVEL_USER:
		bts_filter_user(view, records, n, buffer);
		break;
	case BTS_LEVEL_KERNEL:
		bts_filter_kernel(records, n, buffer);
		break;
	default:
		utrace_bts_buffer_write(buffer, records, n);
		break;
	}
}

/**
 * utrace_bts_view_gap() - report a gap in a stream
 * @view: the view of the consumer
 * @cause: cause of the gap
 * @buffer: the ring of the consumer
 *
 * Context: The writer; any, NMI included.
 */
void utrace_bts_view_gap(struct bts_view *view, enum utrace_branch_loss cause,
			 struct bts_buffer *buffer)
{
	utrace_bts_buffer_gap(buffer, cause);
	view->where = BTS_WHERE_UNKNOWN;
}

/**
 * utrace_bts_view_finish() - end a stream
 * @view: the view of the consumer
 * @buffer: the ring of the consumer
 *
 * Context: The writer; any.
 */
void utrace_bts_view_finish(struct bts_view *view, struct bts_buffer *buffer)
{
	if (view->level == BTS_LEVEL_USER)
		bts_tell_async(view, buffer);
	view->where = BTS_WHERE_UNKNOWN;
}

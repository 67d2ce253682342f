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
#define BRANCH_SIGN	(1ULL << 63)

/* Maximum number of records to scan before they are copied: 12 KiB. */
#define BRANCH_CHUNK	512

/* Check whether a record is a branch within user mode. */
static __always_inline bool branch_is_user(const struct utrace_branch *record)
{
	return !((record->from | record->to) & BRANCH_SIGN) &&
	       UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH;
}

/* Check whether all of eight records are branches within user mode. */
static __always_inline bool branch_are_user(const struct utrace_branch *r)
{
	u64 sides = r[0].from | r[0].to | r[1].from | r[1].to |
		    r[2].from | r[2].to | r[3].from | r[3].to |
		    r[4].from | r[4].to | r[5].from | r[5].to |
		    r[6].from | r[6].to | r[7].from | r[7].to;
	u64 infos = r[0].info | r[1].info | r[2].info | r[3].info |
		    r[4].info | r[5].info | r[6].info | r[7].info;

	return !(sides & BRANCH_SIGN) &&
	       UTRACE_BRANCH_TYPE(infos) == UTRACE_BRANCH;
}

/* Number of leading records that are branches within user mode. */
static unsigned int branch_user_run(const struct utrace_branch *records,
				    unsigned int n)
{
	unsigned int i = 0;

	while (i + 8 <= n && branch_are_user(records + i))
		i += 8;
	while (i < n && branch_is_user(records + i))
		i++;
	return i;
}

/* Number of leading records that are no branches within user mode. */
static unsigned int branch_other_run(const struct utrace_branch *records,
				     unsigned int n)
{
	unsigned int i = 0;

	while (i < n && !branch_is_user(records + i))
		i++;
	return i;
}

/* Find the entry point at @address; NULL if it is not listed. */
static const struct branch_entry *
branch_find_entry(const struct branch_entries *entries, u64 address)
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
static u64 branch_derive_info(const struct utrace_branch *record,
			      enum utrace_branch_kind kind)
{
	return (record->info & UTRACE_BRANCH_PREDICTED) | kind << 8;
}

/* User mode */

/* The thread has entered the kernel. */
static void branch_enter(struct branch_view *view,
			 const struct utrace_branch *record,
			 struct branch_buffer *buffer)
{
	const struct branch_entry *entry;
	enum utrace_branch_kind kind;

	entry = branch_find_entry(view->entries, record->to);
	view->where = BRANCH_WHERE_KERNEL;
	view->left = record->from;
	if (record->to >= UTRACE_PC_BASE) {
		/* The source has identified the entry. */
		view->kind = BRANCH_ENTRY_EXCEPTION;
		view->pc = record->to;
		utrace_branch_buffer_write(buffer, record, 1);
		return;
	}
	view->kind = entry ? entry->kind : BRANCH_ENTRY_TRANSPARENT;
	if (view->kind == BRANCH_ENTRY_TRANSPARENT)
		return;
	view->pc = entry->pc;
	kind = view->kind == BRANCH_ENTRY_SYSCALL ? UTRACE_BR_SYSCALL :
						    UTRACE_BR_UNKNOWN;
	utrace_branch_buffer_put(buffer, record->from, view->pc,
				 branch_derive_info(record, kind));
}

/* The thread has left user mode and will not continue where it was. */
static void branch_put_async(struct branch_view *view,
			     struct branch_buffer *buffer)
{
	if (view->where != BRANCH_WHERE_KERNEL ||
	    view->kind != BRANCH_ENTRY_TRANSPARENT)
		return;
	utrace_branch_buffer_put(buffer, view->left, UTRACE_PC_ASYNC,
				 UTRACE_BRANCH);
}

/* The thread has left the kernel. */
static void branch_leave(struct branch_view *view,
			 const struct utrace_branch *record,
			 struct branch_buffer *buffer)
{
	enum utrace_branch_kind kind = UTRACE_BR_UNKNOWN;
	u64 pc = UTRACE_PC_KERNEL;

	if (record->from >= UTRACE_PC_BASE) {
		branch_put_async(view, buffer);
		utrace_branch_buffer_write(buffer, record, 1);
		return;
	}
	if (view->where == BRANCH_WHERE_KERNEL) {
		if (view->kind == BRANCH_ENTRY_TRANSPARENT) {
			if (view->left == record->to)
				return;
			branch_put_async(view, buffer);
			pc = UTRACE_PC_ASYNC;
		} else {
			pc = view->pc;
			if (view->kind == BRANCH_ENTRY_SYSCALL)
				kind = UTRACE_BR_SYSRET;
		}
	}
	utrace_branch_buffer_put(buffer, pc, record->to,
				 branch_derive_info(record, kind));
}

/* Check whether an entry or exit is missing before a record of @class. */
static bool branch_is_missing(const struct branch_view *view,
			      enum branch_class class)
{
	switch (view->where) {
	case BRANCH_WHERE_USER:
		return class == BRANCH_KU || class == BRANCH_KK;
	case BRANCH_WHERE_KERNEL:
		return class == BRANCH_UU || class == BRANCH_UK;
	case BRANCH_WHERE_HOLE:
		return class != BRANCH_KK;
	default:
		return false;
	}
}

/* The stream of a CPU continues with another task. */
static void branch_change_task(struct branch_view *view,
			       const struct utrace_branch *record,
			       struct branch_buffer *buffer)
{
	branch_put_async(view, buffer);
	view->where = BRANCH_WHERE_UNKNOWN;
	utrace_branch_buffer_write(buffer, record, 1);
}

/* Handle a record that is no branch within user mode, or that follows one. */
static void branch_user_record(struct branch_view *view,
			       const struct utrace_branch *record,
			       struct branch_buffer *buffer)
{
	enum branch_class class = utrace_branch_class(record);

	if (UTRACE_BRANCH_TYPE(record->info) != UTRACE_BRANCH) {
		/* Drop unknown types, which could leak kernel addresses. */
		if (UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH_TASK)
			branch_change_task(view, record, buffer);
		return;
	}
	if (branch_is_missing(view, class)) {
		if (class == BRANCH_KK) {
			view->where = BRANCH_WHERE_HOLE;
			return;
		}
		utrace_branch_view_gap(view, UTRACE_LOSS_EDGE, buffer);
	}
	switch (class) {
	case BRANCH_UU:
		utrace_branch_buffer_write(buffer, record, 1);
		view->where = BRANCH_WHERE_USER;
		break;
	case BRANCH_UK:
		branch_enter(view, record, buffer);
		break;
	case BRANCH_KU:
		branch_leave(view, record, buffer);
		view->where = BRANCH_WHERE_USER;
		break;
	case BRANCH_KK:
		break;
	}
}

static void branch_filter_user(struct branch_view *view,
			       const struct utrace_branch *records,
			       unsigned int n, struct branch_buffer *buffer)
{
	unsigned int run;

	for (; n; n -= run, records += run) {
		run = 0;
		if (view->where == BRANCH_WHERE_USER ||
		    view->where == BRANCH_WHERE_UNKNOWN)
			run = branch_user_run(records, min(n, BRANCH_CHUNK));
		if (run) {
			utrace_branch_buffer_write(buffer, records, run);
			view->where = BRANCH_WHERE_USER;
		} else {
			branch_user_record(view, records, buffer);
			run = 1;
		}
	}
}

/* The kernel */

static void branch_filter_kernel(const struct utrace_branch *records,
				 unsigned int n, struct branch_buffer *buffer)
{
	unsigned int run;

	for (; n; n -= run, records += run) {
		run = branch_user_run(records, n);
		if (run)
			continue;
		run = branch_other_run(records, min(n, BRANCH_CHUNK));
		utrace_branch_buffer_write(buffer, records, run);
	}
}

/* Views */

/**
 * utrace_branch_view_begin() - initialize a view for a new stream
 * @view: its level and entries are set
 *
 * Context: The writer; any.
 */
void utrace_branch_view_begin(struct branch_view *view)
{
	view->where = BRANCH_WHERE_UNKNOWN;
}

/**
 * utrace_branch_view_filter() - filter raw records for a consumer
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
void utrace_branch_view_filter(struct branch_view *view,
			       const struct utrace_branch *records,
			       unsigned int n, struct branch_buffer *buffer)
{
	switch (view->level) {
	case BRANCH_LEVEL_USER:
		branch_filter_user(view, records, n, buffer);
		break;
	case BRANCH_LEVEL_KERNEL:
		branch_filter_kernel(records, n, buffer);
		break;
	default:
		utrace_branch_buffer_write(buffer, records, n);
		break;
	}
}

/**
 * utrace_branch_view_gap() - report a gap in a stream
 * @view: the view of the consumer
 * @cause: cause of the gap
 * @buffer: the ring of the consumer
 *
 * Context: The writer; any, NMI included.
 */
void utrace_branch_view_gap(struct branch_view *view,
			    enum utrace_branch_loss cause,
			    struct branch_buffer *buffer)
{
	utrace_branch_buffer_gap(buffer, cause);
	view->where = BRANCH_WHERE_UNKNOWN;
}

/**
 * utrace_branch_view_finish() - end a stream
 * @view: the view of the consumer
 * @buffer: the ring of the consumer
 *
 * Context: The writer; any.
 */
void utrace_branch_view_finish(struct branch_view *view,
			       struct branch_buffer *buffer)
{
	if (view->level == BRANCH_LEVEL_USER)
		branch_put_async(view, buffer);
	view->where = BRANCH_WHERE_UNKNOWN;
}

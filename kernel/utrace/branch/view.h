/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: filter of raw records for one consumer
 *
 * A source records the branches of all levels, including those within the
 * kernel.  A stream is the raw records of one thread or one CPU.  A view is the
 * filter of one consumer for one stream: it derives from the raw records what
 * the consumer wants.
 */
#ifndef _KERNEL_UTRACE_BRANCH_VIEW_H
#define _KERNEL_UTRACE_BRANCH_VIEW_H

#include <linux/types.h>
#include <linux/utrace_branch.h>

struct bts_buffer;

/**
 * enum bts_class - direction of a branch
 * @BTS_UU: within user mode
 * @BTS_UK: into the kernel
 * @BTS_KU: out of the kernel
 * @BTS_KK: within the kernel
 *
 * Pseudo-addresses count as addresses of the kernel.
 */
enum bts_class {
	BTS_UU,
	BTS_UK,
	BTS_KU,
	BTS_KK,
};

static inline enum bts_class utrace_bts_class(const struct utrace_branch *record)
{
	return (record->from >> 63) << 1 | record->to >> 63;
}

/**
 * enum bts_entry_kind - cause of an entry into the kernel
 * @BTS_ENTRY_TRANSPARENT: an interrupt, an NMI or a page fault, which a
 *	consumer of user mode sees only if the program continues at another
 *	address
 * @BTS_ENTRY_SYSCALL: a system call
 * @BTS_ENTRY_EXCEPTION: an instruction that raises an exception
 */
enum bts_entry_kind {
	BTS_ENTRY_TRANSPARENT,
	BTS_ENTRY_SYSCALL,
	BTS_ENTRY_EXCEPTION,
};

/**
 * struct bts_entry - an entry point of the kernel
 * @address: the address
 * @pc: pseudo-address that replaces @address in records, unless @kind is
 *	%BTS_ENTRY_TRANSPARENT
 * @kind: enum bts_entry_kind
 */
struct bts_entry {
	u64 address;
	u64 pc;
	u8 kind;
};

/**
 * struct bts_entries - the entry points of the kernel
 * @entry: the entry points, sorted by address
 * @n: number of elements of @entry
 *
 * An address that is not listed counts as transparent.
 */
struct bts_entries {
	const struct bts_entry *entry;
	unsigned int n;
};

/**
 * enum bts_level - level that a consumer wants
 * @BTS_LEVEL_USER: user mode.  The kernel is one place, and no address in it is
 *	shown
 * @BTS_LEVEL_KERNEL: the kernel.  User mode is one place
 * @BTS_LEVEL_BOTH: all records, unchanged
 */
enum bts_level {
	BTS_LEVEL_USER		= UTRACE_LEVEL_USER,
	BTS_LEVEL_KERNEL	= UTRACE_LEVEL_KERNEL,
	BTS_LEVEL_BOTH		= UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL,
};

/**
 * enum bts_where - position of the stream, for a view of %BTS_LEVEL_USER
 * @BTS_WHERE_UNKNOWN: unknown
 * @BTS_WHERE_USER: in user mode
 * @BTS_WHERE_KERNEL: in the kernel, entered from bts_view.left
 * @BTS_WHERE_HOLE: in the kernel, but the record of the entry is missing
 */
enum bts_where {
	BTS_WHERE_UNKNOWN,
	BTS_WHERE_USER,
	BTS_WHERE_KERNEL,
	BTS_WHERE_HOLE,
};

/**
 * struct bts_view - filter of one consumer for one stream
 * @entries: entry points of the kernel; only for %BTS_LEVEL_USER.  Constant
 * @level: enum bts_level; constant
 * @where: enum bts_where
 * @kind: if @where is %BTS_WHERE_KERNEL, enum bts_entry_kind of the entry
 * @left: if @where is %BTS_WHERE_KERNEL, address at which user mode was left
 * @pc: if @where is %BTS_WHERE_KERNEL, pseudo-address of an entry that is not
 *	transparent
 *
 * Members that are not constant are used by the writer of the consumer's ring.
 */
struct bts_view {
	const struct bts_entries *entries;
	u8 level;
	u8 where;
	u8 kind;
	u64 left;
	u64 pc;
};

void utrace_bts_view_begin(struct bts_view *view);
void utrace_bts_view_filter(struct bts_view *view,
			    const struct utrace_branch *records, unsigned int n,
			    struct bts_buffer *buffer);
void utrace_bts_view_gap(struct bts_view *view, enum utrace_branch_loss cause,
			 struct bts_buffer *buffer);
void utrace_bts_view_finish(struct bts_view *view, struct bts_buffer *buffer);

#endif /* _KERNEL_UTRACE_BRANCH_VIEW_H */

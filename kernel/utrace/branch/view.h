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

struct branch_buffer;

/**
 * enum branch_class - direction of a branch
 * @BRANCH_UU: within user mode
 * @BRANCH_UK: into the kernel
 * @BRANCH_KU: out of the kernel
 * @BRANCH_KK: within the kernel
 *
 * Pseudo-addresses count as addresses of the kernel.
 */
enum branch_class {
	BRANCH_UU,
	BRANCH_UK,
	BRANCH_KU,
	BRANCH_KK,
};

static inline enum branch_class
utrace_branch_class(const struct utrace_branch *record)
{
	return (record->from >> 63) << 1 | record->to >> 63;
}

/**
 * enum branch_entry_kind - cause of an entry into the kernel
 * @BRANCH_ENTRY_TRANSPARENT: an interrupt, an NMI or a page fault, which a
 *	consumer of user mode sees only if the program continues at another
 *	address
 * @BRANCH_ENTRY_SYSCALL: a system call
 * @BRANCH_ENTRY_EXCEPTION: an instruction that raises an exception
 */
enum branch_entry_kind {
	BRANCH_ENTRY_TRANSPARENT,
	BRANCH_ENTRY_SYSCALL,
	BRANCH_ENTRY_EXCEPTION,
};

/**
 * struct branch_entry - an entry point of the kernel
 * @address: the address
 * @pc: pseudo-address that replaces @address in records, unless @kind is
 *	%BRANCH_ENTRY_TRANSPARENT
 * @kind: enum branch_entry_kind
 */
struct branch_entry {
	u64 address;
	u64 pc;
	u8 kind;
};

/**
 * struct branch_entries - the entry points of the kernel
 * @entry: the entry points, sorted by address
 * @n: number of elements of @entry
 *
 * An address that is not listed counts as transparent.
 */
struct branch_entries {
	const struct branch_entry *entry;
	unsigned int n;
};

/**
 * enum branch_level - level that a consumer wants
 * @BRANCH_LEVEL_USER: user mode.  The kernel is one place, and no address in it
 *	is shown
 * @BRANCH_LEVEL_KERNEL: the kernel.  User mode is one place
 * @BRANCH_LEVEL_BOTH: all records, unchanged
 */
enum branch_level {
	BRANCH_LEVEL_USER	= UTRACE_LEVEL_USER,
	BRANCH_LEVEL_KERNEL	= UTRACE_LEVEL_KERNEL,
	BRANCH_LEVEL_BOTH	= UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL,
};

/**
 * enum branch_where - position of the stream, for a view of %BRANCH_LEVEL_USER
 * @BRANCH_WHERE_UNKNOWN: unknown
 * @BRANCH_WHERE_USER: in user mode
 * @BRANCH_WHERE_KERNEL: in the kernel, entered from branch_view.left
 * @BRANCH_WHERE_HOLE: in the kernel, but the record of the entry is missing
 */
enum branch_where {
	BRANCH_WHERE_UNKNOWN,
	BRANCH_WHERE_USER,
	BRANCH_WHERE_KERNEL,
	BRANCH_WHERE_HOLE,
};

/**
 * struct branch_view - filter of one consumer for one stream
 * @entries: entry points of the kernel; only for %BRANCH_LEVEL_USER.  Constant
 * @level: enum branch_level; constant
 * @where: enum branch_where
 * @kind: if @where is %BRANCH_WHERE_KERNEL, enum branch_entry_kind of the entry
 * @left: if @where is %BRANCH_WHERE_KERNEL, address at which user mode was left
 * @pc: if @where is %BRANCH_WHERE_KERNEL, pseudo-address of an entry that is
 *	not transparent
 *
 * Members that are not constant are used by the writer of the consumer's ring.
 */
struct branch_view {
	const struct branch_entries *entries;
	u8 level;
	u8 where;
	u8 kind;
	u64 left;
	u64 pc;
};

void utrace_branch_view_begin(struct branch_view *view);
void utrace_branch_view_filter(struct branch_view *view,
			       const struct utrace_branch *records,
			       unsigned int n, struct branch_buffer *buffer);
void utrace_branch_view_gap(struct branch_view *view,
			    enum utrace_branch_loss cause,
			    struct branch_buffer *buffer);
void utrace_branch_view_finish(struct branch_view *view,
			       struct branch_buffer *buffer);

#endif /* _KERNEL_UTRACE_BRANCH_VIEW_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: what a consumer gets of raw records
 *
 * A source records the branches of all levels, those within the kernel, too.
 * A view makes of them what one consumer wants.  A stream is what one thread or
 * one CPU does; a view has the state of one consumer in one stream.
 */
#ifndef _KERNEL_UTRACE_BTS_CORE_H
#define _KERNEL_UTRACE_BTS_CORE_H

#include <linux/types.h>
#include <linux/utrace_branch.h>

struct bts_buffer;

/**
 * enum bts_class - where a branch leads
 * @BTS_UU: within user mode
 * @BTS_UK: into the kernel
 * @BTS_KU: out of the kernel
 * @BTS_KK: within the kernel
 *
 * Pseudo-addresses are the kernel's.
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
 * enum bts_entry_kind - what enters the kernel at an address
 * @BTS_ENTRY_TRANSPARENT: an interrupt, an NMI, a page fault: nothing that the
 *	program does, unless it goes on somewhere else
 * @BTS_ENTRY_SYSCALL: a system call
 * @BTS_ENTRY_EXCEPTION: an instruction that raises an exception
 */
enum bts_entry_kind {
	BTS_ENTRY_TRANSPARENT,
	BTS_ENTRY_SYSCALL,
	BTS_ENTRY_EXCEPTION,
};

/**
 * struct bts_entry - an address at which the kernel is entered
 * @address: the address
 * @pc: the pseudo-address that stands for it, unless @kind is
 *	%BTS_ENTRY_TRANSPARENT
 * @kind: enum bts_entry_kind
 */
struct bts_entry {
	u64 address;
	u64 pc;
	u8 kind;
};

/**
 * struct bts_entries - all such addresses
 * @entry: the addresses, sorted
 * @n: their number
 *
 * An address that is not there counts as transparent.
 */
struct bts_entries {
	const struct bts_entry *entry;
	unsigned int n;
};

/**
 * enum bts_level - what a consumer wants
 * @BTS_LEVEL_USER: user mode, where the kernel is one place, without addresses
 *	in the kernel
 * @BTS_LEVEL_KERNEL: the kernel, where user mode is one place
 * @BTS_LEVEL_BOTH: every record as it is
 */
enum bts_level {
	BTS_LEVEL_USER		= UTRACE_LEVEL_USER,
	BTS_LEVEL_KERNEL	= UTRACE_LEVEL_KERNEL,
	BTS_LEVEL_BOTH		= UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL,
};

/**
 * enum bts_where - what a view of %BTS_LEVEL_USER knows of the stream
 * @BTS_WHERE_UNKNOWN: nothing
 * @BTS_WHERE_USER: user mode
 * @BTS_WHERE_KERNEL: in the kernel since @left
 * @BTS_WHERE_HOLE: a way into the kernel is missing
 */
enum bts_where {
	BTS_WHERE_UNKNOWN,
	BTS_WHERE_USER,
	BTS_WHERE_KERNEL,
	BTS_WHERE_HOLE,
};

/**
 * struct bts_view - one consumer of one stream
 * @entries: where the kernel is entered; only for %BTS_LEVEL_USER.  Constant
 * @level: enum bts_level; constant
 * @where: enum bts_where
 * @kind: enum bts_entry_kind of the entry, in %BTS_WHERE_KERNEL
 * @left: address at which user mode was left.  Likewise
 * @pc: pseudo-address of the entry, if not transparent.  Likewise
 *
 * The writer of the consumer's ring uses what is not constant.
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

#endif /* _KERNEL_UTRACE_BTS_CORE_H */

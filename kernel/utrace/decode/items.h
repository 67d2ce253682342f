/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - reading of captures
 *
 * The walk over the items of a capture, and the items of a system call by
 * arguments, for the printers of the kernel and for tools/utrace.
 */
#ifndef _KERNEL_UTRACE_DECODE_ITEMS_H
#define _KERNEL_UTRACE_DECODE_ITEMS_H

#include <linux/types.h>
#include <uapi/linux/utrace.h>

#include "table.h"

/**
 * struct utrace_call_items - captured items by the arguments of a system call
 * @row: row of the call, by its command; NULL: the tables have no such call
 * @of: the item of each argument, or NULL
 * @out: the item with the structures that the call has written, or NULL
 * @captures: the captures that were added, and their lengths; the second one is
 *	that of the exit if there are two
 * @most: maximum number of bytes to print of an item of kind UTRACE_ITEM_BYTES,
 *	and of elements of an array; UTRACE_ITEMS_ALL: no limit
 * @result: result of the call, if its exit is known
 * @tid: the task of the call, for the command
 * @decode: how the command prints descriptors
 * @verbose: print all members and elements of structures
 * @failed: the call has failed
 *
 * Points into the captures that were added, which must outlive it.
 */
struct utrace_call_items {
	const struct utrace_call *row;
	const struct utrace_item *of[UTRACE_CALL_ARGS];
	const struct utrace_item *out[UTRACE_CALL_ARGS];
	struct {
		const void *data;
		size_t used;
	} captures[2];
	unsigned int most;
	long result;
	int tid;
	unsigned int decode;
	bool verbose;
	bool failed;
};

/* Value of utrace_call_items.most without a limit. */
#define UTRACE_ITEMS_ALL	~0U

/* No items of a call, and no limit for printing. */
#define UTRACE_CALL_ITEMS_INIT(call)	\
	{ .row = (call), .most = UTRACE_ITEMS_ALL }

/*
 * Return true if all captured bytes are printed.  The kernel's printers do so,
 * since they have no options.
 */
static inline bool
utrace_items_unlimited(const struct utrace_call_items *items)
{
	return items->most == UTRACE_ITEMS_ALL;
}

const struct utrace_item *utrace_item_next(const void *data, size_t used,
					   const struct utrace_item *item);
const struct utrace_item *
utrace_item_behind(const struct utrace_call_items *items,
		   const struct utrace_item *item, unsigned int field,
		   unsigned int index);
void utrace_call_items_add(struct utrace_call_items *items, const void *data,
			   size_t used);

#endif /* _KERNEL_UTRACE_DECODE_ITEMS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reading of captures
 *
 * A capture is a sequence of items (struct utrace_item), each a header and its
 * bytes.  utrace_item_next() walks over them and trusts no length that it
 * reads.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/align.h>

#include "items.h"

/**
 * utrace_item_next() - walk the items of a capture
 * @data: start of the capture
 * @used: bytes of the capture
 * @item: the previous item; NULL to get the first one
 *
 * @data may contain anything: no byte outside of it is read.
 *
 * Context: Any.
 * Return:
 * * the next item - its header and all of its bytes are in @data
 * * NULL - there is no further item, or not all of it is in @data
 */
const struct utrace_item *utrace_item_next(const void *data, size_t used,
					   const struct utrace_item *item)
{
	const struct utrace_item *next = data;
	size_t at = 0;

	if (item) {
		at = (const void *)item - data + sizeof(*item);
		at += ALIGN((size_t)item->len, sizeof(u64));
		next = data + at;
	}
	if (at > used || used - at < sizeof(*next) ||
	    used - at - sizeof(*next) < next->len)
		return NULL;
	return next;
}

/**
 * utrace_item_behind() - find the memory that a pointer in a structure points to
 * @items: the items of the call
 * @item: the item with the structure
 * @field: offset of the pointer in its element
 * @index: number of the element
 *
 * Context: Any.
 * Return:
 * * the item
 * * NULL - that memory was not captured
 */
const struct utrace_item *
utrace_item_behind(const struct utrace_call_items *items,
		   const struct utrace_item *item, unsigned int field,
		   unsigned int index)
{
	const struct utrace_item *next = item;
	unsigned int i, distance = 0;

	/* An item belongs to the capture that has its address. */
	i = (const void *)item >= items->captures[1].data &&
	    (const void *)item < items->captures[1].data +
				 items->captures[1].used;
	while ((next = utrace_item_next(items->captures[i].data,
					items->captures[i].used, next))) {
		distance++;
		if (!next->parent)
			return NULL;
		if (next->parent == distance && next->field == field &&
		    next->index == index)
			return next;
	}
	return NULL;
}

/* The kind of item that is captured for a type of argument; 0: none is. */
static const u8 kinds[UTRACE_ARG_TYPES] = {
	[UTRACE_ARG_FD] = UTRACE_ITEM_FILE,
	[UTRACE_ARG_DFD] = UTRACE_ITEM_FILE,
	[UTRACE_ARG_PATH] = UTRACE_ITEM_STRING,
	[UTRACE_ARG_STRING] = UTRACE_ITEM_STRING,
	[UTRACE_ARG_IN] = UTRACE_ITEM_BYTES,
	[UTRACE_ARG_OUT] = UTRACE_ITEM_BYTES,
	[UTRACE_ARG_SOCKADDR] = UTRACE_ITEM_SOCKADDR,
	[UTRACE_ARG_OUT_SOCKADDR] = UTRACE_ITEM_SOCKADDR,
	[UTRACE_ARG_ARGV] = UTRACE_ITEM_ARGV,
	[UTRACE_ARG_STRUCT] = UTRACE_ITEM_STRUCT,
};

/**
 * utrace_call_items_add() - assign captured items to the arguments of a call
 * @items: the items of a capture are added here; none if it has no row
 * @data: the capture of the entry or of the exit; may be NULL if @used is 0
 * @used: bytes of @data
 *
 * Ignores an item whose kind does not match the type of its argument, and an
 * empty item whose memory could not be read.  If an argument has several items,
 * the first one is used, or the first one of structures that the call reads and
 * of those that it writes.
 *
 * Context: Any.
 */
void utrace_call_items_add(struct utrace_call_items *items, const void *data,
			   size_t used)
{
	const struct utrace_call *call = items->row;
	const struct utrace_item *item = NULL, **of;
	bool second;

	if (!call)
		return;
	second = items->captures[0].data;
	items->captures[second].data = data;
	items->captures[second].used = used;
	while ((item = utrace_item_next(data, used, item))) {
		if (item->arg >= UTRACE_CALL_ARGS || item->parent ||
		    item->kind != kinds[call->arg[item->arg].type])
			continue;
		of = &items->of[item->arg];
		if (item->kind == UTRACE_ITEM_STRUCT &&
		    item->flags & UTRACE_ITEM_F_OUT)
			of = &items->out[item->arg];
		if (!*of && (item->len || !(item->flags & UTRACE_ITEM_F_FAULTED)))
			*of = item;
	}
}

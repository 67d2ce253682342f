// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reading what was captured
 *
 * The command utrace is built with this file, too (tools/utrace).
 */
#include <linux/align.h>

#include "items.h"

/**
 * utrace_item_next - walk the items of a capture
 * @data: where the capture is
 * @used: bytes of it
 * @item: the item before, or NULL for the first
 *
 * What is in @data need not be a capture: nothing outside of it is read.
 *
 * Context: Any.
 * Return: the next item, all of which is in @data; NULL if there is none.
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

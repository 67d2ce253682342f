// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - reading what was captured
 *
 * A capture is a row of items (struct utrace_item), each of them a header and
 * its bytes.  utrace_item_next() walks over them and trusts no length that it
 * reads.
 *
 * The command utrace (tools/utrace) is built with this file, too.
 */
#include <linux/align.h>

#include "items.h"

/**
 * utrace_item_next() - walk the items of a capture
 * @data: start of the capture
 * @used: bytes of the capture
 * @item: the item before the wanted one; NULL for the first
 *
 * @data need not be a capture: no byte outside of it is read.
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

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - reading what was captured
 *
 * Declares the walk over the items of a capture, for the printers of the kernel
 * and for tools/utrace.
 */
#ifndef _KERNEL_UTRACE_DECODE_ITEMS_H
#define _KERNEL_UTRACE_DECODE_ITEMS_H

#include <linux/types.h>
#include <uapi/linux/utrace.h>

const struct utrace_item *utrace_item_next(const void *data, size_t used,
					   const struct utrace_item *item);

#endif /* _KERNEL_UTRACE_DECODE_ITEMS_H */

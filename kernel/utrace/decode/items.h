/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - reading what was captured
 */
#ifndef _KERNEL_UTRACE_DECODE_ITEMS_H
#define _KERNEL_UTRACE_DECODE_ITEMS_H

#include <linux/types.h>
#include <uapi/linux/utrace.h>

const struct utrace_item *utrace_item_next(const void *data, size_t used,
					   const struct utrace_item *item);

#endif /* _KERNEL_UTRACE_DECODE_ITEMS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - capture: writing of items
 *
 * Between utrace_item_begin() and utrace_item_end() an item is not yet a part
 * of the capture, and its caller writes at most utrace_item_room() bytes to it.
 */
#ifndef _KERNEL_UTRACE_CAPTURE_ITEM_H
#define _KERNEL_UTRACE_CAPTURE_ITEM_H

#include <linux/types.h>

#include "capture.h"

struct utrace_item *utrace_item_begin(struct utrace_capture *c,
				      enum utrace_item_kind kind,
				      unsigned int arg, size_t least);
size_t utrace_item_room(const struct utrace_capture *c);
void utrace_item_end(struct utrace_capture *c, struct utrace_item *item,
		     size_t len, size_t whole, unsigned int flags);
size_t utrace_copy_string(char *to, const char __user *from, size_t n,
			  unsigned int *flags);
size_t utrace_copy_memory(void *to, const void __user *from, size_t n);
void utrace_capture_memory(struct utrace_capture *c,
			   enum utrace_item_kind kind, unsigned int arg,
			   const void __user *from, size_t len);

#endif /* _KERNEL_UTRACE_CAPTURE_ITEM_H */

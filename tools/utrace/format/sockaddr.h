/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - addresses of sockets as text
 */
#ifndef UTRACE_FORMAT_SOCKADDR_H
#define UTRACE_FORMAT_SOCKADDR_H

#include <stdbool.h>
#include <stddef.h>

#include "decode/items.h"

struct seq_buf;

void sockaddr_print(struct seq_buf *s, const void *data, size_t len);
bool sockaddr_print_arg(struct seq_buf *s, const struct utrace_call_items *items,
			const struct utrace_item *item,
			const struct utrace_arg *is);
bool sockaddr_print_item(struct seq_buf *s, const struct utrace_item *item,
			 size_t room);

#endif /* UTRACE_FORMAT_SOCKADDR_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - dumps of what calls read and write
 */
#ifndef UTRACE_FORMAT_DUMP_H
#define UTRACE_FORMAT_DUMP_H

#include "decode/items.h"
#include "lib/out.h"
#include "text.h"

void dump_call(const struct text *text, struct out *out, __u64 nr, int fd,
	       const struct utrace_call_items *items);

#endif /* UTRACE_FORMAT_DUMP_H */

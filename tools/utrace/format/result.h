/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - text after the results of system calls
 */
#ifndef UTRACE_FORMAT_RESULT_H
#define UTRACE_FORMAT_RESULT_H

#include <linux/types.h>

#include "decode/items.h"
#include "decode/table.h"

struct seq_buf;

/**
 * struct result - a call that did not fail and whose result is being printed
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_call_of()
 * @args: its arguments
 * @items: its captured items
 * @ret: the result
 * @abi: ABI of the call
 */
struct result {
	struct seq_buf *s;
	__u32 nr;
	const __u64 *args;
	const struct utrace_call_items *items;
	__s64 ret;
	enum utrace_abi abi;
};

void result_print_text(const struct result *result);

/* Printers of the text for some calls; result.c has the table. */
void result_poll(const struct result *result);
void result_recvmmsg(const struct result *result);
void result_select(const struct result *result);
void result_time(const struct result *result);
void result_timex(const struct result *result);
void result_ioprio(const struct result *result);
void result_fcntl(const struct result *result);
void result_ioctl(const struct result *result);

#endif /* UTRACE_FORMAT_RESULT_H */

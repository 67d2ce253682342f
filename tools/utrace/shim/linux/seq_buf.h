/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the kernel's struct seq_buf, for the command utrace
 *
 * Text is put together in a buffer; text that does not fit is left out.
 */
#ifndef SHIM_LINUX_SEQ_BUF_H
#define SHIM_LINUX_SEQ_BUF_H

#include <stddef.h>

struct seq_buf {
	char *buffer;
	size_t size;
	size_t len;
};

void seq_buf_putc(struct seq_buf *s, char c);
void seq_buf_puts(struct seq_buf *s, const char *text);
__attribute__((format(printf, 2, 3)))
void seq_buf_printf(struct seq_buf *s, const char *format, ...);

#endif

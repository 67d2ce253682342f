/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the kernel's struct seq_buf, for the command utrace
 *
 * Text is put together in a buffer.  A piece that does not fit is left out, and
 * the buffer has overflowed: its length is greater than its size.
 */
#ifndef SHIM_LINUX_SEQ_BUF_H
#define SHIM_LINUX_SEQ_BUF_H

#include <stddef.h>

struct seq_buf {
	char *buffer;
	size_t size;
	size_t len;
};

static inline void seq_buf_set_overflow(struct seq_buf *s)
{
	s->len = s->size + 1;
}

static inline size_t seq_buf_buffer_left(const struct seq_buf *s)
{
	return s->len < s->size ? s->size - s->len : 0;
}

void seq_buf_puts(struct seq_buf *s, const char *text);
__attribute__((format(printf, 2, 3)))
void seq_buf_printf(struct seq_buf *s, const char *format, ...);

#endif

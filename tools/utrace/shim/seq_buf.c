// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/seq_buf.h>

void seq_buf_puts(struct seq_buf *s, const char *text)
{
	size_t len = strlen(text);

	if (seq_buf_buffer_left(s) < len) {
		seq_buf_set_overflow(s);
		return;
	}
	memcpy(s->buffer + s->len, text, len);
	s->len += len;
}

void seq_buf_printf(struct seq_buf *s, const char *format, ...)
{
	size_t left = seq_buf_buffer_left(s);
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->buffer + s->len, left, format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < left)
		s->len += n;
	else
		seq_buf_set_overflow(s);
}

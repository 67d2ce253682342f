// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <linux/seq_buf.h>

void seq_buf_putc(struct seq_buf *s, char c)
{
	if (s->len < s->size)
		s->buffer[s->len++] = c;
}

void seq_buf_puts(struct seq_buf *s, const char *text)
{
	while (*text)
		seq_buf_putc(s, *text++);
}

void seq_buf_printf(struct seq_buf *s, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(s->buffer + s->len, s->size - s->len, format, args);
	va_end(args);
	if (n > 0)
		s->len += (size_t)n < s->size - s->len ? (size_t)n : s->size - s->len;
}

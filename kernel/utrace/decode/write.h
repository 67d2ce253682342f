/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - text and numbers written to a seq_buf without a format
 *
 * A trace has about ten pieces of text for each system call, most of them a few
 * bytes long.  These functions cost little more than a copy of the bytes, while
 * seq_buf_printf() parses a format first.  If a piece does not fit, it is
 * omitted as a whole and the buffer has overflowed, as with seq_buf_puts().
 */
#ifndef _KERNEL_UTRACE_DECODE_WRITE_H
#define _KERNEL_UTRACE_DECODE_WRITE_H

#include <linux/seq_buf.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * utrace_write_room() - reserve bytes for the caller to write
 * @s: the buffer
 * @len: number of bytes
 *
 * Context: Any.
 * Return:
 * * the first of @len uninitialized bytes
 * * NULL - there is no room, and @s has overflowed
 */
static inline char *utrace_write_room(struct seq_buf *s, size_t len)
{
	char *to = s->buffer + s->len;

	if (seq_buf_buffer_left(s) < len) {
		seq_buf_set_overflow(s);
		return NULL;
	}
	s->len += len;
	return to;
}

/**
 * utrace_write() - append bytes
 * @s: the bytes are appended here
 * @text: the bytes
 * @len: number of bytes
 *
 * Context: Any.
 */
static inline void utrace_write(struct seq_buf *s, const char *text, size_t len)
{
	char *to = utrace_write_room(s, len);

	if (to)
		memcpy(to, text, len);
}

/* Append a string literal, whose length is a compile-time constant. */
#define utrace_write_literal(s, text)	\
	utrace_write(s, text "", sizeof(text) - 1)

/**
 * utrace_write_char() - append a character
 * @s: the character is appended here
 * @ch: the character
 *
 * Context: Any.
 */
static inline void utrace_write_char(struct seq_buf *s, char ch)
{
	char *to = utrace_write_room(s, 1);

	if (to)
		*to = ch;
}

void utrace_write_decimal(struct seq_buf *s, unsigned long value);
void utrace_write_signed(struct seq_buf *s, long value);
void utrace_write_padded(struct seq_buf *s, unsigned long value,
			 unsigned int digits);
void utrace_write_octal(struct seq_buf *s, unsigned long value);
void utrace_write_escaped(struct seq_buf *s, const u8 *text, size_t len);
void utrace_write_path(struct seq_buf *s, const u8 *path, size_t len);

#endif /* _KERNEL_UTRACE_DECODE_WRITE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - strings of programs as text, with the escapes of C
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/bitops.h>
#include <linux/unaligned.h>

#include "print.h"
#include "write.h"

#ifndef __KERNEL__
struct utrace_style utrace_style;
#endif

/* Size of the longest escape, a backslash and three digits. */
#define ESCAPE_MAX	4

/*
 * For each byte the letter of its escape after the backslash, PLAIN for a byte
 * that is not escaped, and 0 for a byte that is written as a number.
 */
#define PLAIN		1

static const u8 escapes[256] = {
	['\t'] = 't', ['\n'] = 'n', ['\v'] = 'v', ['\f'] = 'f', ['\r'] = 'r',
	[' ' ... '!'] = PLAIN, ['"'] = '"', ['#' ... '['] = PLAIN,
	['\\'] = '\\', [']' ... '~'] = PLAIN,
};

/* A word that repeats a byte. */
#define EVERY(byte)	(0x0101010101010101ULL * (byte))

/* Return a word whose lowest 0x80 is in the lowest byte of @word that is 0. */
static inline u64 zero_bytes(u64 word)
{
	return (word - EVERY(1)) & ~word;
}

/*
 * Return a word whose lowest 0x80 is in the lowest byte that is not PLAIN, or 0
 * if all eight are PLAIN.  Subtractions and additions carry from such a byte to
 * higher ones only.
 */
static inline u64 special_bytes(u64 word)
{
	u64 found = (word - EVERY(' ')) | word | (word + EVERY(1)) |
		    zero_bytes(word ^ EVERY('"')) |
		    zero_bytes(word ^ EVERY('\\'));

	return found & EVERY(0x80);
}

/*
 * Write the escape of the byte at @text to @to, which has ESCAPE_MAX bytes.
 * Use a short octal escape unless an octal digit follows before @end, which
 * would be read as part of it.  Return the end of the escape.
 */
static inline char *escape(char *to, const u8 *text, const u8 *end)
{
	bool digit_follows;
	u8 ch = *text;

	*to++ = '\\';
	if (escapes[ch]) {
		*to++ = escapes[ch];
		return to;
	}
	digit_follows = text + 1 < end && text[1] >= '0' && text[1] <= '7';
	if (digit_follows || ch >= 0100)
		*to++ = '0' + (ch >> 6);
	if (digit_follows || ch >= 010)
		*to++ = '0' + (ch >> 3 & 7);
	*to++ = '0' + (ch & 7);
	return to;
}

static inline char *write_byte(char *to, const u8 *text, const u8 *end)
{
	if (escapes[*text] != PLAIN)
		return escape(to, text, end);
	*to = *text;
	return to + 1;
}

/*
 * Write @text to @to, which has ESCAPE_MAX bytes for each byte of the text, so
 * there is room for a word as long as two bytes are left.  Return the end.
 */
static char *write_all(char *to, const u8 *text, const u8 *end)
{
	unsigned int plain;
	u64 word, special;

	while ((size_t)(end - text) >= sizeof(word)) {
		word = get_unaligned_le64(text);
		put_unaligned_le64(word, to);
		special = special_bytes(word);
		plain = special ? __ffs64(special) / 8 : sizeof(word);
		text += plain;
		to += plain;
		if (!special)
			continue;
		do {
			to = escape(to, text, end);
			text++;
		} while (text < end && escapes[*text] != PLAIN);
	}
	for (; text < end; text++)
		to = write_byte(to, text, end);
	return to;
}

/* Write one byte as "\x" and two digits, and return the end. */
static char *write_hex_byte(char *to, u8 ch)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'x';
	*to++ = digits[ch >> 4];
	*to++ = digits[ch & 15];
	return to;
}

/* Write a byte in a style that has bytes in base 16, and return the end. */
static char *write_styled(char *to, const u8 *text, const u8 *end, bool all)
{
	if (all || !escapes[*text])
		return write_hex_byte(to, *text);
	return write_byte(to, text, end);
}

/*
 * Append text in a style that has bytes in base 16.  What does not fit is
 * omitted.
 */
static void write_in_hex(struct seq_buf *s, const u8 *text, const u8 *end)
{
	bool all = utrace_style.hex == UTRACE_HEX_ALL;
	char one[ESCAPE_MAX];
	const u8 *at;

	if (utrace_style.hex == UTRACE_HEX_STRINGS)
		for (at = text; at < end; at++)
			all |= !escapes[*at];
	for (; text < end; text++)
		utrace_write(s, one, write_styled(one, text, end, all) - one);
}

/* write_all() for the case that the room may not suffice. */
static void write_what_fits(struct seq_buf *s, const u8 *text, const u8 *end)
{
	char one[ESCAPE_MAX];

	for (; text < end; text++)
		utrace_write(s, one, write_byte(one, text, end) - one);
}

/**
 * utrace_write_escaped() - append text with the escapes of C
 * @s: the text is appended here
 * @text: the text; need not be terminated by a NUL
 * @len: bytes of @text
 *
 * Context: Any.
 */
void utrace_write_escaped(struct seq_buf *s, const u8 *text, size_t len)
{
	if (utrace_style.hex)
		write_in_hex(s, text, text + len);
	else if (seq_buf_buffer_left(s) / ESCAPE_MAX < len)
		write_what_fits(s, text, text + len);
	else
		s->len = write_all(s->buffer + s->len, text, text + len) -
			 s->buffer;
}

/**
 * utrace_write_path() - append the path of a descriptor, or another text that
 *	angle brackets enclose
 * @s: the text is appended here
 * @path: the text; need not be terminated by a NUL
 * @len: bytes of @path
 *
 * Escapes angle brackets, too.
 *
 * Context: Any.
 */
void utrace_write_path(struct seq_buf *s, const u8 *path, size_t len)
{
	const u8 *end = path + len, *from = path;

	for (; path < end; path++) {
		if (*path != '<' && *path != '>')
			continue;
		utrace_write_escaped(s, from, path - from);
		from = path + 1;
		if (utrace_style.hex)
			seq_buf_printf(s, "\\x%02x", *path);
		else if (from < end && *from >= '0' && *from <= '7')
			seq_buf_printf(s, "\\%03o", *path);
		else
			seq_buf_printf(s, "\\%o", *path);
	}
	utrace_write_escaped(s, from, end - from);
}

/**
 * utrace_print_string() - print text in quotes, with the escapes of C
 * @s: the text is appended here
 * @text: the text; need not be terminated by a NUL
 * @len: bytes of @text
 *
 * Context: Any.
 */
void utrace_print_string(struct seq_buf *s, const char *text, size_t len)
{
	utrace_write_char(s, '"');
	utrace_write_escaped(s, (const u8 *)text, len);
	utrace_write_char(s, '"');
}

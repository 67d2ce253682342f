// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers as text
 *
 * The number of digits is computed first, so that the digits can be written in
 * place from the last one to the first.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/array_size.h>
#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "print.h"
#include "write.h"

static unsigned int decimal_digits(unsigned long value)
{
	static const u64 powers[] = {
		1ULL, 10ULL, 100ULL, 1000ULL, 10000ULL, 100000ULL, 1000000ULL,
		10000000ULL, 100000000ULL, 1000000000ULL, 10000000000ULL,
		100000000000ULL, 1000000000000ULL, 10000000000000ULL,
		100000000000000ULL, 1000000000000000ULL, 10000000000000000ULL,
		100000000000000000ULL, 1000000000000000000ULL,
		10000000000000000000ULL,
	};
	unsigned int n = 1;

	while (n < ARRAY_SIZE(powers) && value >= powers[n])
		n++;
	return n;
}

/**
 * utrace_write_padded() - append a number in base 10 with leading zeros
 * @s: the text is appended here
 * @value: the number
 * @digits: number of digits; higher digits of @value are omitted
 *
 * Context: Any.
 */
void utrace_write_padded(struct seq_buf *s, unsigned long value,
			 unsigned int digits)
{
	char *to = utrace_write_room(s, digits);
	unsigned int two;

	if (!to)
		return;
	/* One division of a long costs more than two of an int. */
	for (; digits >= 2; value /= 100) {
		two = value % 100;
		digits -= 2;
		to[digits] = '0' + two / 10;
		to[digits + 1] = '0' + two % 10;
	}
	if (digits)
		*to = '0' + value % 10;
}

/**
 * utrace_write_decimal() - append a number in base 10
 * @s: the text is appended here
 * @value: the number
 *
 * Context: Any.
 */
void utrace_write_decimal(struct seq_buf *s, unsigned long value)
{
	if (value < 10)
		utrace_write_char(s, '0' + value);
	else
		utrace_write_padded(s, value, decimal_digits(value));
}

/**
 * utrace_write_signed() - append a number in base 10 that may be negative
 * @s: the text is appended here
 * @value: the number
 *
 * Context: Any.
 */
void utrace_write_signed(struct seq_buf *s, long value)
{
	unsigned long rest = value;

	if (value < 0) {
		utrace_write_char(s, '-');
		rest = -rest;
	}
	utrace_write_decimal(s, rest);
}

/**
 * utrace_write_octal() - append a number in base 8
 * @s: the text is appended here
 * @value: the number; a 0 is prepended unless it is 0
 *
 * Context: Any.
 */
void utrace_write_octal(struct seq_buf *s, unsigned long value)
{
	unsigned int digits = 1 + (fls_long(value) + 2) / 3;
	char *to = utrace_write_room(s, digits);

	if (!to)
		return;
	while (digits) {
		to[--digits] = '0' + (value & 7);
		value >>= 3;
	}
}

/*
 * Make the eight hex digits of a number in parallel: each digit gets a byte,
 * with the first digit in the highest byte, and values from 10 on become
 * letters.
 */
static u64 hex_digits(u32 value)
{
	u64 digits = value, letters;

	digits = (digits | digits << 16) & 0x0000ffff0000ffffULL;
	digits = (digits | digits << 8) & 0x00ff00ff00ff00ffULL;
	digits = (digits | digits << 4) & 0x0f0f0f0f0f0f0f0fULL;
	letters = (digits + 0x0606060606060606ULL) >> 4 & 0x0101010101010101ULL;
	return digits + 0x3030303030303030ULL + letters * ('a' - '0' - 10);
}

/**
 * utrace_print_hex() - print a number in base 16
 * @s: the text is appended here
 * @value: the number; 0 is printed without a prefix
 *
 * Context: Any.
 */
void utrace_print_hex(struct seq_buf *s, unsigned long value)
{
	unsigned int len = (fls_long(value) + 3) / 4;
	char digits[16], *to;

	if (!value) {
		utrace_write_char(s, '0');
		return;
	}
	to = utrace_write_room(s, 2 + len);
	if (!to)
		return;
	if (len > 8)
		put_unaligned_be64(hex_digits((u64)value >> 32), digits);
	put_unaligned_be64(hex_digits(value), digits + 8);
	to[0] = '0';
	to[1] = 'x';
	memcpy(to + 2, digits + sizeof(digits) - len, len);
}

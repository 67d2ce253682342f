// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - text for terminals: colours and width
 *
 * Colours are used only on a terminal, and only without NO_COLOR in the
 * environment.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

/* Maximum characters of a text, and maximum bytes of a character. */
#define TEXT_MAX	1024
#define CHARACTER_MAX	4

static int width = INT_MAX;
static bool colours;

/* Set the output to @file. */
void screen_begin(FILE *file)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	width = INT_MAX;
	colours = false;
	if (!isatty(fileno(file)))
		return;
	width = 80;
	if (!ioctl(fileno(file), TIOCGWINSZ, &size) && size.ws_col >= 40)
		width = size.ws_col;
	colours = (!no_color || !*no_color) && term && strcmp(term, "dumb");
}

/*
 * Return the columns of the terminal, or a very large number if there is none.
 */
int screen_width(void)
{
	return width;
}

/* Return the escape sequence of a style. */
const char *style(enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_HEAD] = "\033[1m",
		[STYLE_DIM] = "\033[2m", [STYLE_WARN] = "\033[1;31m",
	};

	return colours ? codes[style] : "";
}

/**
 * printable() - check whether the first character of a text is safe to print
 * @text: the text, which may have any bytes
 *
 * A terminal executes control characters, including U+0080 to U+009F, and bytes
 * from 0x80 to 0x9f outside of UTF-8 characters.
 *
 * Return: the number of bytes of the character; 0 if it is a control character,
 * invalid UTF-8, or the end of the text.
 */
size_t printable(const char *text)
{
	/* The first character that needs as many bytes. */
	static const unsigned int least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	const unsigned char *byte = (const unsigned char *)text;
	size_t i, n;
	unsigned int c;

	if (*byte < 0x80)
		return *byte >= ' ' && *byte != 0x7f;
	if (*byte < 0xc0 || *byte >= 0xf8)
		return 0;
	n = *byte < 0xe0 ? 2 : *byte < 0xf0 ? 3 : 4;
	c = *byte & (0x7f >> n);
	for (i = 1; i < n; i++) {
		if ((byte[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (byte[i] & 0x3f);
	}
	/* XML does not allow U+FFFE and U+FFFF. */
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ||
	    (c & 0xfffe) == 0xfffe)
		return 0;
	return n;
}

/* Return the number of characters of a text.  An invalid byte counts as one. */
size_t characters(const char *text)
{
	size_t n;

	for (n = 0; *text; n++)
		text += printable(text) ?: 1;
	return n;
}

/* Replace each byte that is not safe to print by "?". */
void make_printable(char *text)
{
	size_t n;

	for (; *text; text += n) {
		n = printable(text);
		if (n)
			continue;
		*text = '?';
		n = 1;
	}
}

/**
 * padding() - get the width for "%-*s", which counts bytes instead of
 *	characters
 * @text: the text, which is safe to print
 * @width: minimum number of columns
 */
int padding(const char *text, int width)
{
	return width + strlen(text) - characters(text);
}

/* Skip @n characters. */
static const char *skip(const char *text, size_t n)
{
	while (n--)
		text += printable(text) ?: 1;
	return text;
}

/**
 * shorten() - make a text fit, and safe for a terminal
 * @text: the text
 * @width: number of columns, at least 4; a character takes one
 *
 * The middle of a long text is replaced by "..".
 *
 * Return: the text, valid until the fourth call after this one.
 */
const char *shorten(const char *text, int width)
{
	static char copies[4][CHARACTER_MAX * TEXT_MAX];
	static unsigned int i;
	size_t n = characters(text), begin;
	char *copy = copies[++i % 4];
	const char *cut;

	if (width > TEXT_MAX - 1)
		width = TEXT_MAX - 1;
	if (n <= (size_t)width) {
		sprintf(copy, "%s", text);
	} else {
		begin = (width - 2) / 2;
		cut = skip(text, begin);
		sprintf(copy, "%.*s..%s", (int)(cut - text), text,
			skip(cut, n - (width - 2)));
	}
	/* A file may have any name, even one that clears the screen. */
	make_printable(copy);
	return copy;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - text for people: colours on a terminal, and its width
 *
 * There are colours only on a terminal, and only without NO_COLOR in the
 * environment.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "screen.h"

/* Bytes of text that are shown at most. */
#define TEXT_MAX	1024

static int width = INT_MAX;
static bool colours;

/* Text goes to @file from here on. */
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

/* Columns of the terminal; very many if it is none. */
int screen_width(void)
{
	return width;
}

/* What switches a style on. */
const char *style(enum style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "\033[0m", [STYLE_HEAD] = "\033[1m",
		[STYLE_DIM] = "\033[2m", [STYLE_WARN] = "\033[1;31m",
	};

	return colours ? codes[style] : "";
}

/**
 * shorten() - make text fit, and safe for a terminal
 * @text: the text
 * @width: columns that there are, at least 4
 *
 * What is left out in the middle of the text is shown as "..".
 *
 * Return: the text, valid until the fourth call after this one.
 */
const char *shorten(const char *text, int width)
{
	static char copies[4][TEXT_MAX];
	static unsigned int i;
	size_t n = strlen(text), begin, end;
	char *copy = copies[++i % 4], *c;

	if (width > TEXT_MAX - 1)
		width = TEXT_MAX - 1;
	if (n <= (size_t)width) {
		memcpy(copy, text, n + 1);
	} else {
		begin = (width - 2) / 2;
		end = width - 2 - begin;
		memcpy(copy, text, begin);
		memcpy(copy + begin, "..", 2);
		memcpy(copy + begin + 2, text + n - end, end + 1);
	}
	/* A file may have any name, also one that clears the screen. */
	for (c = copy; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

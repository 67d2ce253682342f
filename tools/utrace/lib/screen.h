/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - text for people: colours on a terminal, and its width
 */
#ifndef UTRACE_LIB_SCREEN_H
#define UTRACE_LIB_SCREEN_H

#include <stddef.h>
#include <stdio.h>

enum style {
	STYLE_PLAIN,
	STYLE_HEAD,	/* headings */
	STYLE_DIM,	/* less important text */
	STYLE_WARN,	/* warnings */
};

void screen_begin(FILE *file);
int screen_width(void);
const char *style(enum style style);
const char *shorten(const char *text, int width);
size_t characters(const char *text);
size_t printable(const char *text);
void make_printable(char *text);
int padding(const char *text, int width);

#endif /* UTRACE_LIB_SCREEN_H */

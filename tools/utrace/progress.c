// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a line on the terminal that tells how far long work has come
 *
 * The line is on standard error, if that is a terminal, from the first second
 * on.  It is gone when the work is done.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define FIRST_MS	1000

/* Columns of the line: less than those of any terminal. */
#define COLUMNS		79

static bool shown, visible;
static __u64 began, next;

static __u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ULL + time.tv_nsec / 1000000;
}

/* Work begins.  With @show it is told of on a terminal. */
void progress_begin(bool show)
{
	shown = show && isatty(STDERR_FILENO);
	began = now();
	next = began + FIRST_MS;
}

/* Is it time for progress_show()? */
bool progress_is_due(void)
{
	if (!shown || now() < next)
		return false;
	next = now() + PROGRESS_MS;
	return true;
}

/* Show how far the work has come, in one line, also on a dumb terminal. */
void progress_show(const char *format, ...)
{
	char text[COLUMNS + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "\r%-*s\r", COLUMNS, text);
	fflush(stderr);
	visible = true;
}

/* The work is done. */
void progress_end(void)
{
	if (visible)
		fprintf(stderr, "\r%*s\r", COLUMNS, "");
	visible = false;
	shown = false;
}

/* Milliseconds since the work began. */
__u64 progress_ms(void)
{
	return now() - began;
}

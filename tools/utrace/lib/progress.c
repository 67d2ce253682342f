// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a line on the terminal that shows the progress of long work
 *
 * The line is shown on standard error, if that is a terminal, after the first
 * second, and removed when the work is done.
 */
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

#define FIRST_MS	1000

/* Columns of the line, less than a terminal has. */
#define COLUMNS		79

static bool shown, visible;
static __u64 began, next;

static __u64 now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000ULL + time.tv_nsec / 1000000;
}

/* Begin the work.  @show: show the line if there is a terminal. */
void progress_begin(bool show)
{
	shown = show && isatty(STDERR_FILENO);
	began = now();
	next = began + FIRST_MS;
}

/* Check whether progress_show() is due. */
bool progress_is_due(void)
{
	if (!shown || now() < next)
		return false;
	next = now() + PROGRESS_MS;
	return true;
}

/* Print the progress in one line, even on a dumb terminal. */
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

/* End the work: remove the line. */
void progress_end(void)
{
	if (visible)
		fprintf(stderr, "\r%*s\r", COLUMNS, "");
	visible = false;
	shown = false;
}

/* Return the milliseconds since the work began. */
__u64 progress_ms(void)
{
	return now() - began;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a line of the text of a trace
 *
 * A line is written directly to the buffer of the output.  It begins with the
 * number of the task and the time, if the options ask for them.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "decode/write.h"
#include "line.h"
#include "seen.h"

/*
 * Size of a line without captured bytes: six arguments, each with the names of
 * all of its bits.  A captured byte takes CAPTURED_MAX bytes, as "\ooo".
 */
#define LINE_SIZE	8192
#define CAPTURED_MAX	4

#define NS_PER_SECOND	1000000000

/* Time of the last line, for -r; 0 before the first one. */
static __u64 last_time;

/* Return the time between two records in ns, 0 if it is negative. */
__u64 line_since(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

/**
 * line_open() - begin a line or a part of one
 * @line: the line
 * @text: how text is written
 * @data: bytes of the records that are printed in the line
 */
void line_open(struct line *line, const struct text *text, size_t data)
{
	size_t size = LINE_SIZE + CAPTURED_MAX * data;

	*line = (struct line){
		.s = { .buffer = out_room(text->out, size), .size = size },
		.out = text->out,
	};
}

/* Append a number, padded with blanks on the left to @width. */
static void write_right(struct seq_buf *s, unsigned long value, size_t width)
{
	char digits[24];
	struct seq_buf number = { .buffer = digits, .size = sizeof(digits) };
	size_t len;

	utrace_write_decimal(&number, value);
	for (len = number.len; len < width; len++)
		utrace_write_char(s, ' ');
	utrace_write(s, digits, number.len);
}

/* Write "[pid %5d] " on the terminal of the program, else "%-5d ". */
static void write_task(struct seq_buf *s, const struct text *text, __s32 tid)
{
	size_t begin = s->len;

	if (text->out->fd == STDERR_FILENO) {
		utrace_write_literal(s, "[pid ");
		write_right(s, tid, 5);
		utrace_write_literal(s, "] ");
		return;
	}
	utrace_write_decimal(s, tid);
	while (s->len < begin + 5)
		utrace_write_char(s, ' ');
	utrace_write_char(s, ' ');
}

/* Write the time of day, which is formatted again when the second changes. */
static void write_of_day(struct seq_buf *s, time_t seconds)
{
	static char of_day[16];
	static time_t made;
	static size_t len;
	struct tm tm;

	if (!len || seconds != made) {
		made = seconds;
		len = strftime(of_day, sizeof(of_day), "%H:%M:%S",
			       localtime_r(&seconds, &tm));
	}
	utrace_write(s, of_day, len);
}

static void write_micro(struct seq_buf *s, __u64 us)
{
	utrace_write_char(s, '.');
	utrace_write_padded(s, us, 6);
}

/* Append a duration in ns as seconds with six decimals. */
void line_write_span(struct seq_buf *s, __u64 ns)
{
	utrace_write_decimal(s, ns / NS_PER_SECOND);
	write_micro(s, ns / 1000 % 1000000);
}

static void write_time(struct seq_buf *s, const struct text *text, __u64 time)
{
	__u64 now = time + text->realtime;
	__u64 us = last_time ? line_since(last_time, time) / 1000 : 0;

	switch (text->time) {
	case TEXT_NO_TIME:
		return;
	case TEXT_SECONDS:
		write_of_day(s, now / NS_PER_SECOND);
		break;
	case TEXT_MICROSECONDS:
		write_of_day(s, now / NS_PER_SECOND);
		write_micro(s, now / 1000 % 1000000);
		break;
	case TEXT_EPOCH:
		line_write_span(s, now);
		break;
	case TEXT_RELATIVE:
		write_right(s, us / 1000000, 6);
		write_micro(s, us % 1000000);
		break;
	}
	utrace_write_char(s, ' ');
	last_time = time;
}

/* Write the prefix of a line: the task and the time. */
void line_begin(struct line *line, const struct text *text,
		const struct utrace_rec *rec, __u64 time)
{
	if (text->pids || seen_several())
		write_task(&line->s, text, rec->tid);
	write_time(&line->s, text, time);
}

/*
 * Append blanks up to the column of results.  The line may have begun in an
 * earlier part.
 */
void line_align_result(struct line *line, const struct text *text)
{
	size_t len = line->before + line->s.len;
	char *to;

	/* The result begins with a blank, which is before the column. */
	if (len + 1 >= text->column)
		return;
	to = utrace_write_room(&line->s, text->column - 1 - len);
	if (to)
		memset(to, ' ', text->column - 1 - len);
}

/* Pass the text to the output.  Another part of the line may follow. */
void line_close(struct line *line)
{
	if (line->s.len <= line->s.size)
		out_add(line->out, line->s.len);
}

/* End the line and pass it to the output. */
void line_end(struct line *line)
{
	utrace_write_char(&line->s, '\n');
	line_close(line);
}

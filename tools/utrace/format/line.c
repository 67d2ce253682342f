// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a line of the text of a trace
 *
 * A line is written directly to the buffer of the output.  It begins with the
 * number of the task, the time, and the number and the address of the call, if
 * the options ask for them.
 */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "decode/write.h"
#include "line.h"
#include "pids.h"

/*
 * Size of a line without captured bytes: six arguments, each with the names of
 * all of its bits.  A captured byte takes CAPTURED_MAX bytes at most: the events
 * of struct pollfd are two bytes with 16 names.  Pages that the line does not
 * reach take no memory.
 */
#define LINE_SIZE	8192
#define CAPTURED_MAX	128

#define NS_PER_SECOND	1000000000

/* Number of digits of an address of the -i. */
#define IP_DIGITS	16

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
 * @log: where the line goes
 * @data: bytes of the records that are printed in the line
 */
void line_open(struct line *line, const struct log *log, size_t data)
{
	size_t size = LINE_SIZE + CAPTURED_MAX * data;

	*line = (struct line){
		.s = { .buffer = out_room(log->out, size), .size = size },
		.out = log->out,
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
		pid_print_name(s, tid);
		utrace_write_literal(s, "] ");
		return;
	}
	utrace_write_decimal(s, tid);
	pid_print_name(s, tid);
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

/* Write a point and @digits of the part of a second: 0, 3, 6 or 9. */
static void write_fraction(struct seq_buf *s, unsigned long ns,
			   unsigned int digits)
{
	unsigned int i;

	if (!digits)
		return;
	for (i = digits; i < 9; i += 3)
		ns /= 1000;
	utrace_write_char(s, '.');
	utrace_write_padded(s, ns, digits);
}

/* Append a duration in ns as seconds with @digits after the point. */
void line_write_span(struct seq_buf *s, __u64 ns, unsigned int digits)
{
	utrace_write_decimal(s, ns / NS_PER_SECOND);
	write_fraction(s, ns % NS_PER_SECOND, digits);
}

static void write_clock(struct seq_buf *s, const struct text *text, __u64 now)
{
	if (text->clock == TEXT_UNIX_TIME)
		utrace_write_decimal(s, now / NS_PER_SECOND);
	else
		write_of_day(s, now / NS_PER_SECOND);
	write_fraction(s, now % NS_PER_SECOND, text->clock_digits);
	utrace_write_char(s, ' ');
}

/* Write the time since the last line, in brackets behind a clock. */
static void write_relative(struct seq_buf *s, const struct text *text, __u64 time)
{
	__u64 since = last_time ? line_since(last_time, time) : 0;

	if (text->clock)
		utrace_write_literal(s, "(+");
	write_right(s, since / NS_PER_SECOND, 6);
	write_fraction(s, since % NS_PER_SECOND, text->relative_digits);
	if (text->clock)
		utrace_write_char(s, ')');
	utrace_write_char(s, ' ');
	last_time = time;
}

/* Write the number of the call as "[%4u] ". */
static void write_number(struct seq_buf *s, const struct seen_task *task)
{
	__u64 nr = task->nr;

	utrace_write_char(s, '[');
	if (task->called)
		write_right(s, nr >> 32 ?: nr & ~UTRACE_NR_IA32, 4);
	else
		utrace_write_literal(s, "????");
	utrace_write_literal(s, "] ");
}

/* Write the address of the call as "[%016lx] ". */
static void write_ip(struct seq_buf *s, const struct seen_task *task)
{
	char *to = utrace_write_room(s, IP_DIGITS + 3);
	unsigned int i;

	if (!to)
		return;
	*to++ = '[';
	for (i = 0; i < IP_DIGITS; i++)
		*to++ = task->ip ? "0123456789abcdef"[task->ip >> 4 * (IP_DIGITS - 1 - i) & 15] :
				   '?';
	*to++ = ']';
	*to = ' ';
}

/* Write the prefix of a line: the task, the time, and the call of @task. */
void line_begin(struct line *line, const struct text *text,
		const struct seen_task *task, const struct utrace_rec *rec,
		__u64 time)
{
	if (!text->separately && (text->pids || seen_several()))
		write_task(&line->s, text, rec->tid);
	if (text->clock)
		write_clock(&line->s, text, time + text->realtime);
	if (text->relative)
		write_relative(&line->s, text, time);
	if (text->numbers)
		write_number(&line->s, task);
	if (text->ip)
		write_ip(&line->s, task);
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

/*
 * Pass the text to the output.  Another part of the line may follow.  The log
 * says so if the text was longer than the buffer.
 */
void line_close(struct line *line)
{
	if (line->s.len > line->s.size) {
		line->s.len = 0;
		seq_buf_printf(&line->s, "+++ %zu bytes were too few for this line +++\n",
			       line->s.size);
	}
	out_add(line->out, line->s.len);
}

/* End the line and pass it to the output. */
void line_end(struct line *line)
{
	utrace_write_char(&line->s, '\n');
	line_close(line);
}

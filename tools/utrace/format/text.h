/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - records as text, in the style of strace
 */
#ifndef UTRACE_FORMAT_TEXT_H
#define UTRACE_FORMAT_TEXT_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/utrace.h>

#include "lib/out.h"

enum text_time {
	TEXT_NO_TIME,
	TEXT_SECONDS,		/* -t: time of day */
	TEXT_MICROSECONDS,	/* -tt */
	TEXT_EPOCH,		/* -ttt */
	TEXT_RELATIVE,		/* -r: time since the line before */
};

/**
 * struct text - how text is written
 * @out: where the text goes
 * @time: form of the time at the start of a line
 * @realtime: time of day minus the time of records, in ns
 * @durations: -T: a line ends with the time that the call took
 * @pids: a line begins with the number of the task; else only after a second
 *	task was seen
 * @quiet: -q: print no line when a task ends
 * @verbose: -v: also print environments
 * @column: -a: column at which the results of calls begin
 * @max_string: -s: maximum number of bytes to show of memory that calls read
 *	and write
 * @failed: -Z: print only calls that fail
 * @succeeded: -z: print only calls that do not fail
 */
struct text {
	struct out *out;
	enum text_time time;
	__s64 realtime;
	bool durations;
	bool pids;
	bool quiet;
	bool verbose;
	unsigned int column;
	unsigned int max_string;
	bool failed;
	bool succeeded;
};

void text_record(const struct text *text, const struct utrace_rec *rec);
void text_idle(const struct text *text);
void text_end(const struct text *text);

#endif /* UTRACE_FORMAT_TEXT_H */

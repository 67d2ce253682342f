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

struct calls;

enum text_clock {
	TEXT_NO_CLOCK,
	TEXT_TIME_OF_DAY,
	TEXT_UNIX_TIME,		/* seconds since 1970 */
};

/* text.quiet: lines that are not printed. */
enum text_quiet {
	QUIET_ATTACH	= 1 << 0,	/* attach and detach */
	QUIET_EXIT	= 1 << 1,	/* tasks that exit */
	QUIET_PATH	= 1 << 2,	/* which path -P stands for */
	QUIET_ABI	= 1 << 3,	/* change of the ABI */
	QUIET_EXECVE	= 1 << 4,	/* a thread takes the place of the first */
	QUIET_ALL	= (1 << 5) - 1,
};

/* text.status: calls that are printed, by their ends. */
enum text_status {
	STATUS_SUCCESSFUL	= 1 << 0,
	STATUS_FAILING		= 1 << 1,
	STATUS_UNFINISHED	= 1 << 2,	/* the task has exited */
	STATUS_UNAVAILABLE	= 1 << 3,	/* the result is not known */
	STATUS_DETACHED		= 1 << 4,	/* the trace has ended */
	STATUS_ALL		= (1 << 5) - 1,
};

/* text.decode: what is shown of descriptors. */
enum text_decode {
	DECODE_PATH	= 1 << 0,
	DECODE_SOCKET	= 1 << 1,	/* protocol and addresses */
	DECODE_DEV	= 1 << 2,	/* numbers of devices */
	DECODE_PIDFD	= 1 << 3,	/* process of a pidfd */
	DECODE_ALL	= (1 << 4) - 1,
	DECODE_BEFORE	= 1 << 4,	/* a socket as it was before */
};

/**
 * struct text_numbers - a set of descriptors
 * @all: all numbers
 * @others: all numbers that are not in the set
 * @of: numbers in the set
 * @n: number of elements of @of
 */
struct text_numbers {
	bool all;
	bool others;
	int *of;
	size_t n;
};

/**
 * struct text - how text is written
 * @out: where the text goes
 * @separately: -ff: start of the names of files, one for each task; else NULL
 * @append: -A: append to these files
 * @clock: absolute time at the start of a line
 * @clock_digits: digits of it after the point
 * @relative: -r: time since the line before, at the start of a line
 * @relative_digits: digits of it after the point
 * @realtime: time of day minus the time of records, in ns
 * @durations: -T: a line ends with the time that the call took
 * @duration_digits: digits of it after the point
 * @pids: a line begins with the number of the task; else only while there are
 *	several tasks
 * @numbers: -n: a line begins with the number of the call
 * @ip: -i: a line begins with the address of the call
 * @stacks: -k: the stack after each call
 * @lines: -kk: with source lines
 * @quiet: QUIET_ bits
 * @verbose: -v: print structures whole, and environments
 * @abbrev: -e abbrev=: calls whose structures are not whole, instead of
 *	@verbose; NULL if it was not given
 * @structs: -e verbose=: calls whose structures are printed; NULL for all
 * @raw: -e raw=: calls that are printed in base 16; NULL for none
 * @column: -a: column at which the results of calls begin
 * @left_out: calls of 32-bit programs that are made through another one, as
 *	connect() through socketcall(), and are not to be shown: bits by the
 *	number in UTRACE_NR_UNPACKED
 * @max_string: -s: maximum number of bytes to show of memory that calls read
 *	and write
 * @decode: DECODE_ bits
 * @path: -P: only calls with one of these paths, or a descriptor of it
 * @npaths: number of elements of @path
 * @status: STATUS_ bits
 * @dumps: @read or @write was given
 * @read: -e read=: descriptors whose data are dumped when they are read
 * @write: -e write=: likewise, when they are written
 * @signals: signals that are printed, bit 0 for signal 1
 */
struct text {
	struct out *out;
	const char *separately;
	bool append;
	enum text_clock clock;
	unsigned int clock_digits;
	bool relative;
	unsigned int relative_digits;
	__s64 realtime;
	bool durations;
	unsigned int duration_digits;
	bool pids;
	bool numbers;
	bool ip;
	bool stacks;
	bool lines;
	unsigned int quiet;
	bool verbose;
	const struct calls *abbrev;
	const struct calls *structs;
	const struct calls *raw;
	unsigned int column;
	__u64 left_out;
	unsigned int max_string;
	unsigned int decode;
	const char **path;
	size_t npaths;
	unsigned int status;
	bool dumps;
	struct text_numbers read;
	struct text_numbers write;
	__u64 signals;
};

/* The text of a trace without options. */
#define TEXT_DEFAULT	{			\
	.relative_digits = 6,			\
	.duration_digits = 6,			\
	.column = 40,				\
	.max_string = 32,			\
	.status = STATUS_ALL,			\
	.signals = ~0ULL,			\
}

void text_detach(const struct text *text, const struct utrace_rec *rec);
void text_record(const struct text *text, const struct utrace_rec *rec);
void text_idle(const struct text *text);
void text_flush(const struct text *text);
void text_end(const struct text *text);

#endif /* UTRACE_FORMAT_TEXT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - options for the text of a trace
 */
#ifndef UTRACE_TRACE_OPTIONS_TEXT_H
#define UTRACE_TRACE_OPTIONS_TEXT_H

#include <argp.h>

/* Keys of long options that have no letter. */
enum {
	KEY_EXE = 0x100,
	KEY_CGROUP,
	KEY_UNIT,
	KEY_DROP,
	KEY_BUFFER,
	KEY_NOTHING,
	KEY_SEPARATELY,
	KEY_DAEMON,
	KEY_TIPS,
	KEY_ALL,
	KEY_TRACE,
	KEY_HEX,
	KEY_CLOCK,
	KEY_RELATIVE,
	KEY_DURATIONS,
	KEY_QUIET,
	KEY_STACKS,
	KEY_ABBREV,
	KEY_VERBOSE,
	KEY_RAW,
	KEY_DECODE_PIDS,
	KEY_PIDNS,
	KEY_SIGNAL,
	KEY_STATUS,
	KEY_DECODE_FDS,
	KEY_READ,
	KEY_WRITE,
};

extern const struct argp text_argp;

#endif /* UTRACE_TRACE_OPTIONS_TEXT_H */

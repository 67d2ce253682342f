/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a trace: its targets and the output of their records
 */
#ifndef UTRACE_TRACE_TRACE_H
#define UTRACE_TRACE_TRACE_H

#include <stdbool.h>
#include <sys/types.h>

#include "options.h"

/**
 * struct trace - a running trace
 * @options: options of the user
 * @session: descriptor of the session of /dev/utrace
 * @stream: the records of the session
 * @signals: descriptor of signals_set_up()
 * @child: the program that was launched, 0 if there is none
 * @launch: the program and how it is started
 * @status: wait status of @child, -1 as long as the child runs
 * @daemon: this process is a grandchild that -D has started: @child is not its
 *	child
 * @starting: the child has not executed the program yet, so its calls are those
 *	of this command
 * @ended: all targets of the session have ended
 * @interrupted: signal that interrupts the trace, 0 for none
 * @mute: the output has failed, so recording was stopped
 * @uring: the message about io_uring was printed
 */
struct trace {
	struct options options;
	int session;
	struct stream *stream;
	int signals;
	pid_t child;
	struct launch launch;
	int status;
	bool daemon;
	bool starting;
	bool ended;
	int interrupted;
	bool mute;
	bool uring;
};

int trace_main(int argc, char **argv, enum command command);
void trace_attach(struct trace *trace);
void trace_follow(struct trace *trace);
void trace_drain(struct trace *trace);

#endif /* UTRACE_TRACE_TRACE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - attach to tasks that exist
 *
 * Without -f a number means one thread: the first one of the process if it is
 * the number of a process.  With -f it means the process with all its threads
 * and descendants.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/engines.h"
#include "dev/session.h"
#include "lib/fail.h"
#include "trace.h"

static void count_task(pid_t pid, pid_t tid, void *data)
{
	(void)pid;
	(void)tid;
	++*(unsigned int *)data;
}

/* Return why the command cannot attach to a task, or NULL if it can. */
static const char *why_not(pid_t tid, bool follow, unsigned int threads)
{
	char state = task_state(tid);

	if (tid == getpid())
		return "this is the command itself";
	if (state != 'Z' && state != 'X')
		return NULL;
	if (threads < 2)
		return "it has ended; its parent has not waited for it yet";
	return follow ? NULL : "its first thread has ended; use -f to trace the "
			       "other threads";
}

/* Attach to a task.  Returns false if that fails. */
static bool attach_one(struct trace *trace, pid_t tid)
{
	bool follow = trace->options.follow;
	unsigned int threads = 0;
	const char *why;
	char what[32];

	snprintf(what, sizeof(what), "process %d", tid);
	tasks_of(tid, count_task, &threads);
	why = why_not(tid, follow, threads);
	if (!why && session_attach(trace->session, tid, follow ?
				   UTRACE_SCOPE_TREE : UTRACE_SCOPE_THREAD) &&
	    errno != EEXIST)
		why = session_why_not(errno);
	if (why) {
		say(what, why);
		return false;
	}
	if (trace->options.text.quiet & QUIET_ATTACH)
		return true;
	if (follow && threads > 1)
		fprintf(stderr, "utrace: Process %d attached with %u threads\n",
			tid, threads);
	else
		fprintf(stderr, "utrace: Process %d attached\n", tid);
	return true;
}

static void attach_pids(struct trace *trace)
{
	bool attached = false;
	unsigned int i;

	for (i = 0; i < trace->options.npids; i++)
		attached |= attach_one(trace, trace->options.pids[i]);
	if (trace->options.npids && !attached)
		exit(STATUS_FAILED);
}

/**
 * trace_attach() - attach to the targets of the options
 * @trace: the trace, with its events set
 *
 * If a process of -p cannot be traced, print a message and skip it.  The
 * command ends with a message if no target is left.
 */
void trace_attach(struct trace *trace)
{
	const struct options *options = &trace->options;
	int session = trace->session;

	attach_pids(trace);
	if (options->npids && session_in_flight(session))
		fail("calls in flight", session_why_not(errno));
	if (options->all && session_attach_all(session))
		fail("--all", session_why_not_all(errno));
	if (options->exe && session_attach_exe(session, options->exe))
		fail(options->exe, session_why_not_exe(errno));
	if (options->cgroup && session_attach_cgroup(session, options->cgroup))
		fail(options->cgroup, session_why_not_cgroup(errno));
}

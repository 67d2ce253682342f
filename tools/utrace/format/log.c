// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the files that the text of a trace goes to
 *
 * There is one file for all tasks, or with -ff one for each task.
 */
#include <stdlib.h>

#include "lib/memory.h"
#include "log.h"

static struct log common;
/* The files of single tasks. */
static struct log *logs;

/* Return the file for lines that are about no single task. */
struct log *log_common(const struct text *text)
{
	common.out = text->out;
	return &common;
}

/* Find the file of one task, or make it.  @tid is part of its name. */
struct log *log_of_task(const struct text *text, struct seen_task *task,
			__s32 tid)
{
	struct log *log = task->log;

	if (log)
		return log;
	log = checked(calloc(1, sizeof(*log)));
	log->out = checked(malloc(sizeof(*log->out)));
	out_begin_file(log->out, xasprintf("%s.%d", text->separately, tid),
		       text->append);
	log->next = logs;
	log->link = &logs;
	if (logs)
		logs->link = &log->next;
	logs = log;
	task->log = log;
	return log;
}

/* Write and close the file of a task that is gone. */
void log_forget(struct seen_task *task)
{
	struct log *log = task->log;

	if (!log)
		return;
	*log->link = log->next;
	if (log->next)
		log->next->link = log->link;
	out_end(log->out);
	if (log->out->error && !common.out->error)
		common.out->error = log->out->error;
	free(log->out);
	free(log);
	task->log = NULL;
}

/* Call a function for each file. */
void log_each(const struct text *text, log_function *function)
{
	struct log *log;

	function(text, log_common(text));
	for (log = logs; log; log = log->next)
		function(text, log);
}

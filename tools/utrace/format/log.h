/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the files that the text of a trace goes to
 */
#ifndef UTRACE_FORMAT_LOG_H
#define UTRACE_FORMAT_LOG_H

#include "lib/out.h"
#include "seen.h"
#include "text.h"

/**
 * struct log - a file of lines
 * @out: where the lines go
 * @last: the task whose entry is the last record, so that the exit may go on the
 *	same line; else NULL
 * @begun: bytes of that line that were printed, 0 if the entry was not printed
 * @next: the next file of one task; NULL for the last one and the common file
 * @link: the pointer to this file; NULL for the common file
 */
struct log {
	struct out *out;
	struct seen_task *last;
	size_t begun;
	struct log *next;
	struct log **link;
};

typedef void log_function(const struct text *text, struct log *log);

struct log *log_common(const struct text *text);
struct log *log_of_task(const struct text *text, struct seen_task *task,
			__s32 tid);
void log_forget(struct seen_task *task);
void log_each(const struct text *text, log_function *function);

/**
 * log_of() - find the file for the lines of a task
 * @text: how text is written
 * @task: the task
 * @tid: its number
 *
 * Return: the file, valid until log_forget().
 */
static inline struct log *log_of(const struct text *text, struct seen_task *task,
				 __s32 tid)
{
	return text->separately ? log_of_task(text, task, tid) :
				  log_common(text);
}

#endif /* UTRACE_FORMAT_LOG_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - lines of system calls
 */
#ifndef UTRACE_FORMAT_CALL_LINE_H
#define UTRACE_FORMAT_CALL_LINE_H

#include <linux/utrace.h>

#include "log.h"
#include "seen.h"
#include "text.h"

void call_line_enter(const struct text *text, struct seen_task *task,
		     const struct utrace_rec *rec);
void call_line_exit(const struct text *text, struct seen_task *task,
		    const struct utrace_rec *rec);
void call_line_whole(const struct text *text, struct seen_task *task,
		     const struct utrace_rec *rec);
void call_line_task_end(const struct text *text, struct seen_task *task,
			const struct utrace_rec *rec);
void call_line_renumber(const struct text *text, struct log *log, __s32 tid,
			__s32 to);
void call_line_show(const struct text *text, struct log *log);
void call_line_interrupt(const struct text *text, struct log *log);
void call_line_detach(const struct text *text, struct log *log);
void call_line_detach_task(const struct text *text, struct seen_task *task);

#endif /* UTRACE_FORMAT_CALL_LINE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - records as text, in the style of strace
 *
 * call_line.c prints system calls, this file all other records.
 */
#include <assert.h>
#include <signal.h>
#include <string.h>

#include "call_line.h"
#include "decode/print.h"
#include "decode/write.h"
#include "line.h"
#include "pids.h"
#include "record.h"
#include "siginfo.h"
#include "stack_text.h"
#include "text.h"

/* Begin a line that is about a record, after the lines before it. */
static void begin_line(struct line *line, const struct text *text,
		       struct seen_task *task, const struct utrace_rec *rec)
{
	struct log *log = log_of(text, task, rec->tid);

	call_line_interrupt(text, log);
	line_open(line, log, 0);
	line_begin(line, text, task, rec, rec->time);
}

static bool is_signal_shown(const struct text *text, int signal)
{
	return signal < 1 || signal > 64 || text->signals >> (signal - 1) & 1;
}

static void text_signal(const struct text *text, struct seen_task *task,
			const struct utrace_rec *rec)
{
	const struct utrace_rec_signal *signal = (const void *)rec;
	struct line line;
	siginfo_t info;

	static_assert(sizeof(info) == sizeof(signal->info), "all of it");
	memcpy(&info, signal->info, sizeof(info));
	if (!is_signal_shown(text, info.si_signo))
		return;
	begin_line(&line, text, task, rec);
	utrace_write_literal(&line.s, "--- ");
	utrace_print_signal_name(&line.s, info.si_signo);
	utrace_write_char(&line.s, ' ');
	siginfo_print(&line.s, &info);
	utrace_write_literal(&line.s, " ---");
	line_end(&line);
}

static void print_status(struct seq_buf *s, const struct utrace_rec_exit *exit)
{
	if (exit->head.flags & UTRACE_REC_F_HIDDEN) {
		utrace_write_literal(s, "+++ exited +++");
	} else if (exit->code & 0x7f) {
		utrace_write_literal(s, "+++ killed by ");
		utrace_print_signal_name(s, exit->code & 0x7f);
		seq_buf_puts(s, exit->code & 0x80 ? " (core dumped) +++" : " +++");
	} else {
		utrace_write_literal(s, "+++ exited with ");
		utrace_write_decimal(s, exit->code >> 8 & 0xff);
		utrace_write_literal(s, " +++");
	}
}

/* -q hides tasks that exit, -e signal= those that a signal kills. */
static bool is_end_shown(const struct text *text,
			 const struct utrace_rec_exit *exit)
{
	if (exit->code & 0x7f)
		return is_signal_shown(text, exit->code & 0x7f);
	return !(text->quiet & QUIET_EXIT);
}

/* Forget a task, and that its entry is the last record. */
static void forget(const struct text *text, struct seen_task *task,
		   const struct utrace_rec *rec)
{
	struct log *log = log_of(text, task, rec->tid);

	call_line_interrupt(text, log);
	seen_forget(task);
}

/* Print that thread @tid takes the place of the leader, which @rec is about. */
static void text_superseded(const struct text *text, struct seen_task *task,
			    const struct utrace_rec *rec, __s32 tid)
{
	struct line line;

	if (text->quiet & QUIET_EXECVE)
		return;
	begin_line(&line, text, task, rec);
	utrace_write_literal(&line.s, "+++ superseded by execve in pid ");
	utrace_write_decimal(&line.s, tid);
	utrace_write_literal(&line.s, " +++");
	line_end(&line);
}

static void text_end_of_task(const struct text *text, struct seen_task *task,
			     const struct utrace_rec *rec)
{
	const struct utrace_rec_exit *exit = (const void *)rec;
	struct line line;
	bool ended;

	if (exit->exec_tid) {
		call_line_task_end(text, task, rec);
		call_line_renumber(text, log_of(text, task, rec->tid),
				   exit->exec_tid, rec->tid);
		task->in_call = false;
		task->superseded = true;
		text_superseded(text, task, rec, exit->exec_tid);
		return;
	}
	ended = task->in_call && !task->hidden;
	call_line_task_end(text, task, rec);
	task->in_call = false;
	if (is_end_shown(text, exit)) {
		/* The task is nowhere any more. */
		task->ip = 0;
		begin_line(&line, text, task, rec);
		print_status(&line.s, exit);
		line_end(&line);
	}
	if (text->stacks && ended)
		stack_text(text, log_of(text, task, rec->tid)->out,
			   &task->entry->head);
	forget(text, task, rec);
}

static void text_jobctl(const struct text *text, struct seen_task *task,
			const struct utrace_rec *rec)
{
	const struct utrace_rec_jobctl *jobctl = (const void *)rec;
	struct line line;

	if (!is_signal_shown(text, jobctl->signal))
		return;
	begin_line(&line, text, task, rec);
	seq_buf_puts(&line.s, jobctl->type == CLD_CONTINUED ? "--- continued" :
							      "--- stopped");
	if (jobctl->signal) {
		utrace_write_literal(&line.s, " by ");
		utrace_print_signal_name(&line.s, jobctl->signal);
	}
	utrace_write_literal(&line.s, " ---");
	line_end(&line);
}

static void text_hidden(const struct text *text, struct seen_task *task,
			const struct utrace_rec *rec)
{
	struct line line;

	begin_line(&line, text, task, rec);
	utrace_write_literal(&line.s, "+++ became a process that you may not trace; left out +++");
	line_end(&line);
	forget(text, task, rec);
}

static void text_lost(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_lost *lost = (const void *)rec;
	struct line line;

	call_line_interrupt(text, log_common(text));
	line_open(&line, log_common(text), 0);
	seq_buf_printf(&line.s, "+++ %llu records were lost: the buffer was full +++",
		       lost->lost);
	line_end(&line);
}

/*
 * A thread other than the leader has executed a program and is the leader now.
 * The former leader may have exited before, or its exit may be lost.
 */
static void text_exec(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_exec *exec = (const void *)rec;
	struct seen_task *leader;

	if (text->stacks)
		stack_begin(rec);
	if (!exec->old_task || exec->old_task == rec->task)
		return;
	leader = seen_task(rec->task);
	call_line_renumber(text, log_of(text, seen_task(exec->old_task),
					exec->old_tid), exec->old_tid, rec->tid);
	if (!leader->superseded)
		text_superseded(text, leader, rec, exec->old_tid);
	call_line_interrupt(text, log_of(text, leader, rec->tid));
	seen_rename(exec->old_task, rec->task);
}

static bool is_numbered(const struct utrace_rec *rec)
{
	return !(rec->flags & UTRACE_REC_F_UNNUMBERED);
}

/*
 * Find the task of a record.  If the numbers of its records have a gap, the
 * exit of the last call may be lost.
 */
static struct seen_task *task_of(const struct text *text,
				 const struct utrace_rec *rec)
{
	struct seen_task *task = seen_task(rec->task);

	if (task->in_call && is_numbered(rec) && rec->number != task->number + 1) {
		struct log *log = log_of(text, task, rec->tid);

		if (log->last == task)
			call_line_interrupt(text, log);
		task->in_call = false;
	}
	return task;
}

static void text_of_task(const struct text *text, struct seen_task *task,
			 const struct utrace_rec *rec)
{
	switch (rec->type) {
	case UTRACE_REC_SYS_ENTER:
		call_line_enter(text, task, rec);
		break;
	case UTRACE_REC_SYS_EXIT:
		call_line_exit(text, task, rec);
		break;
	case UTRACE_REC_SYS_CALL:
		call_line_whole(text, task, rec);
		break;
	case UTRACE_REC_SIGNAL:
		text_signal(text, task, rec);
		break;
	case UTRACE_REC_JOBCTL:
		text_jobctl(text, task, rec);
		break;
	case UTRACE_REC_HIDDEN:
		text_hidden(text, task, rec);
		return;
	case UTRACE_REC_EXIT:
		text_end_of_task(text, task, rec);
		return;
	}
	/* The task has not written a record in flight itself. */
	if (is_numbered(rec))
		task->number = rec->number;
}

/*
 * Handle a record of a task that was detached by -b: its new children are not
 * traced either.
 */
static void skip_detached(struct seen_task *task, const struct utrace_rec *rec)
{
	const struct utrace_rec_fork *fork = (const void *)rec;
	__u64 child;

	if (rec->type == UTRACE_REC_FORK) {
		child = fork->child_task;
		if (child)
			seen_task(child)->detached = true;
	} else if (rec->type == UTRACE_REC_EXIT || rec->type == UTRACE_REC_HIDDEN) {
		seen_forget(task);
	}
}

/**
 * text_detach() - print that a task is detached, and no record of it from here
 * on
 * @text: how text is written
 * @rec: the record of its execve()
 */
void text_detach(const struct text *text, const struct utrace_rec *rec)
{
	struct seen_task *task = seen_task(rec->task);
	struct log *log = log_of(text, task, rec->tid);

	if (log->last == task)
		call_line_detach(text, log);
	call_line_detach_task(text, task);
	task->in_call = false;
	task->detached = true;
}

/**
 * text_record() - print a record
 * @text: how text is written
 * @rec: the record
 */
void text_record(const struct text *text, const struct utrace_rec *rec)
{
	struct seen_task *task;

	switch (rec->type) {
	case UTRACE_REC_PAD:
	case UTRACE_REC_TARGET_END:
		return;
	case UTRACE_REC_LOST:
		text_lost(text, rec);
		return;
	case UTRACE_REC_EXEC:
		text_exec(text, rec);
		break;
	}
	if (pids.names || pids.namespaces) {
		pid_set_task(rec->tid);
		if (record_child(rec))
			pid_add_task(record_child(rec));
	}
	task = task_of(text, rec);
	if (task->detached)
		skip_detached(task, rec);
	else
		text_of_task(text, task, rec);
}

static void flush(const struct text *text, struct log *log)
{
	out_flush(log->out);
}

/* Write all text. */
void text_flush(const struct text *text)
{
	log_each(text, flush);
}

/* Print the last entries, since there was no record for a while. */
void text_idle(const struct text *text)
{
	/* Lines of several tasks do not interrupt each other in files. */
	if (!text->separately)
		call_line_show(text, log_common(text));
	text_flush(text);
}

/* End the text after the last record. */
void text_end(const struct text *text)
{
	log_each(text, call_line_detach);
	seen_each(text, call_line_detach_task);
	text_flush(text);
}

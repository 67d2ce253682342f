// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - records as text, in the style of strace
 *
 * The entry of a call is kept until its exit, so that the call is one line.  If
 * another record precedes the exit, or there is no record for a while, the
 * entry is printed first and the result at the exit.
 */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/errno.h>
#include <linux/sched.h>

#include "calls.h"
#include "decode/items.h"
#include "decode/print.h"
#include "decode/write.h"
#include "lib/memory.h"
#include "line.h"
#include "seen.h"
#include "siginfo.h"
#include "text.h"

/* The largest errno that a system call returns. */
#define ERRNO_MAX	4095

/*
 * The task whose entry is the last record, so that the exit may go on the same
 * line, else NULL.  And the length of that entry if text_idle() has printed it,
 * else 0.
 */
static struct seen_task *last;
static size_t begun;

/**
 * struct call - a system call to be printed
 * @nr: number of the call, as number_of() returns it
 * @args: its arguments
 * @began: when the task made the call, 0 if that is not known
 * @items: items that were captured at the entry and at the exit
 *
 * Has pointers into records, and is valid only while they are handled.
 */
struct call {
	__u64 nr;
	const __u64 *args;
	__u64 began;
	struct utrace_call_items items;
};

/*
 * Return the number of a call.  If the program has passed another number, the
 * upper half is that number.
 */
static __u64 number_of(__u32 nr, __u32 asked)
{
	return (__u64)asked << 32 | nr;
}

/*
 * Remove the environment of execve() and execveat(): the array of strings after
 * the arguments.
 */
static void leave_out_environment(struct utrace_call_items *items,
				  const struct utrace_call *row)
{
	if (row->arg[2].type == UTRACE_ARG_ARGV)
		items->of[row->arg[3].type == UTRACE_ARG_ARGV ? 3 : 2] = NULL;
}

/*
 * Add the captured items of a record.  Memory that calls read and write is cut
 * to -s bytes when it is printed; names of files are not cut.
 */
static void add_items(const struct text *text, struct utrace_call_items *items,
		      __u32 nr, const struct utrace_rec *rec)
{
	const struct utrace_call *row;

	if (!rec->items)
		return;
	row = utrace_call_of(nr);
	items->most = text->max_string;
	utrace_call_items_add(items, row, (const char *)rec + rec->items,
			      rec->size - rec->items);
	if (row && !text->verbose)
		leave_out_environment(items, row);
}

/* Remove the status of wait4() and waitpid() that found no child. */
static void leave_out_status(struct utrace_call_items *items, __u32 nr,
			     __s64 ret)
{
	const struct utrace_call *row;

	if (ret || !items->of[1])
		return;
	row = utrace_call_of(nr);
	if (row && row->arg[2].type == UTRACE_ARG_FLAGS &&
	    row->arg[2].len == UTRACE_FLAGS_WAIT)
		items->of[1] = NULL;
}

static void take_entry(const struct text *text, struct call *call,
		       const struct utrace_rec_sys_enter *entry)
{
	*call = (struct call){
		.nr = number_of(entry->nr, entry->asked),
		.args = entry->args,
		.began = entry->began,
	};
	add_items(text, &call->items, call->nr, &entry->head);
}

/* Calls as text */

static void print_call(struct line *line, const struct call *call)
{
	static_assert(sizeof(unsigned long) == sizeof(*call->args), "words");
	utrace_print_call_items(&line->s, call->nr,
				(const unsigned long *)call->args,
				&call->items);
}

/*
 * Print an entry without the closing bracket, which is printed at the exit.
 * Returns the number of bytes.
 */
static size_t show_entry(const struct text *text, const struct seen_task *task)
{
	const struct utrace_rec *rec = &task->entry->head;
	struct line line;
	struct call call;

	line_open(&line, text, rec->size);
	line_begin(&line, text, rec, rec->time);
	take_entry(text, &call, task->entry);
	print_call(&line, &call);
	line.s.len--;
	line_close(&line);
	return line.s.len;
}

/* End the line of the last entry, whose exit is not the next record. */
static void leave_line(const struct text *text, const char *why)
{
	struct line line;

	if (!last)
		return;
	if (!begun)
		show_entry(text, last);
	line_open(&line, text, 0);
	seq_buf_puts(&line.s, why);
	line_end(&line);
	last->shown = true;
	last = NULL;
}

static void interrupt_line(const struct text *text)
{
	leave_line(text, " <unfinished ...>");
}

/*
 * Print the text of an error.  Texts of the C library are cached, since it
 * looks up the translation at each call.
 */
static void print_error(struct seq_buf *s, long error)
{
	static struct message {
		char *text;
		size_t len;
	} messages[ERRNO_MAX + 1];
	struct message *message = &messages[error];

	if (!message->text) {
		message->text = xasprintf(" (%s)", utrace_is_restart(error) ?
					  "To be restarted" : strerror(error));
		message->len = strlen(message->text);
	}
	utrace_write(s, message->text, message->len);
}

/*
 * Print the result of a call and the end of its line.  @began and @ended are
 * the times of the call; @began is 0 if it is not known.
 */
static void end_with_result(const struct text *text, struct line *line,
			    __u32 nr, __s64 ret, __u64 began, __u64 ended)
{
	utrace_write_literal(&line->s, " = ");
	utrace_print_result(&line->s, nr, ret);
	if (IS_ERR_VALUE(ret))
		print_error(&line->s, -ret);
	if (text->durations && began) {
		utrace_write_literal(&line->s, " <");
		line_write_span(&line->s, line_since(began, ended));
		utrace_write_char(&line->s, '>');
	}
	line_end(line);
}

static bool is_shown(const struct text *text, __s64 ret)
{
	return !(text->failed && !IS_ERR_VALUE(ret)) &&
	       !(text->succeeded && IS_ERR_VALUE(ret));
}

/* Records of calls */

static void text_enter(const struct text *text, struct seen_task *task,
		       const struct utrace_rec *rec)
{
	bool by_result = text->failed || text->succeeded;

	/* The task may have recorded the entry of this call itself. */
	if (rec->flags & UTRACE_REC_F_IN_FLIGHT && task->in_call &&
	    ((const struct utrace_rec_sys_enter *)rec)->nr == task->entry->nr)
		return;
	/* With -z and -Z the result decides, so do not show the entry yet. */
	if (!by_result)
		interrupt_line(text);
	seen_keep_entry(task, rec);
	task->in_call = true;
	task->shown = false;
	if (by_result)
		return;
	last = task;
	begun = 0;
}

/* Print the exit of a call whose entry was printed or is missing. */
static void print_rest(const struct text *text, const struct seen_task *task,
		       const struct utrace_rec_sys_exit *exit, __u64 nr,
		       __u64 began)
{
	struct utrace_call_items items = {};
	struct line line;

	line_open(&line, text, exit->head.size);
	add_items(text, &items, nr, &exit->head);
	leave_out_status(&items, nr, exit->ret);
	if (last == task && begun) {
		line.before = begun;
		utrace_write_char(&line.s, ')');
		utrace_print_output_items(&line.s, nr, &items);
	} else {
		line_begin(&line, text, &exit->head, exit->head.time);
		utrace_write_literal(&line.s, "<... ");
		if (nr == UTRACE_NR_NONE)
			utrace_write_literal(&line.s, "call");
		else
			utrace_print_call_name(&line.s, nr);
		utrace_write_literal(&line.s, " resumed>)");
		utrace_print_output_items(&line.s, nr, &items);
	}
	line_align_result(&line, text);
	end_with_result(text, &line, nr, exit->ret, began, exit->head.time);
}

/* Print a whole call, with the items of its entry and of its exit. */
static void print_whole(const struct text *text, const struct seen_task *task,
			const struct utrace_rec_sys_exit *exit)
{
	const struct utrace_rec *entry = &task->entry->head;
	struct line line;
	struct call call;

	line_open(&line, text, entry->size + exit->head.size);
	line_begin(&line, text, entry, entry->time);
	take_entry(text, &call, task->entry);
	add_items(text, &call.items, call.nr, &exit->head);
	leave_out_status(&call.items, call.nr, exit->ret);
	print_call(&line, &call);
	line_align_result(&line, text);
	end_with_result(text, &line, call.nr, exit->ret, call.began,
			exit->head.time);
}

static void print_exit(const struct text *text, const struct seen_task *task,
		       const struct utrace_rec_sys_exit *exit)
{
	/* The exit of sigreturn has no number but UTRACE_NR_NONE. */
	__u64 nr = task->in_call ?
		   number_of(task->entry->nr, task->entry->asked) : exit->nr;
	__u64 began = task->in_call ? task->entry->began : 0;

	if (last != task)
		interrupt_line(text);
	if (task->in_call && !task->shown && !(last == task && begun))
		print_whole(text, task, exit);
	else
		print_rest(text, task, exit, nr, began);
}

/*
 * Check whether this is the exit of the call that created the task.  The parent
 * made that call, so strace does not show it.
 */
static bool is_birth(const struct seen_task *task,
		     const struct utrace_rec_sys_exit *exit)
{
	static const char *const names[] = { "clone", "clone3", "fork", "vfork" };
	const char *name;
	size_t i;

	if (task->number || !(exit->head.flags & UTRACE_REC_F_UNPAIRED) || exit->ret)
		return false;
	name = call_name(exit->nr);
	for (i = 0; name && i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/*
 * Check whether the entry was recorded while the task was blocked in the call.
 */
static bool was_in_flight(const struct seen_task *task,
			  const struct utrace_rec_sys_exit *exit)
{
	return task->in_call && task->entry->nr == exit->nr &&
	       task->entry->head.flags & UTRACE_REC_F_IN_FLIGHT;
}

static void text_exit_call(const struct text *text, struct seen_task *task,
			   const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_exit *exit = (const void *)rec;

	if (is_birth(task, exit))
		return;
	/* The kept entry belongs to an earlier call. */
	if (rec->flags & UTRACE_REC_F_UNPAIRED && !was_in_flight(task, exit))
		task->in_call = false;
	if (is_shown(text, exit->ret))
		print_exit(text, task, exit);
	if (last == task)
		last = NULL;
	task->in_call = false;
}

/* Print a call that is one record. */
static void text_call(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_call *from = (const void *)rec;
	struct call call = {
		.nr = number_of(from->nr, from->asked), .args = from->args
	};
	struct line line;

	if (!is_shown(text, from->ret))
		return;
	interrupt_line(text);
	line_open(&line, text, rec->size);
	line_begin(&line, text, rec, from->began ? from->began : rec->time);
	add_items(text, &call.items, call.nr, rec);
	leave_out_status(&call.items, call.nr, from->ret);
	print_call(&line, &call);
	line_align_result(&line, text);
	end_with_result(text, &line, call.nr, from->ret, from->began, rec->time);
}

/* Other events */

static void text_signal(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_signal *signal = (const void *)rec;
	struct line line;
	siginfo_t info;

	static_assert(sizeof(info) == sizeof(signal->info), "all of it");
	memcpy(&info, signal->info, sizeof(info));
	line_open(&line, text, 0);
	line_begin(&line, text, rec, rec->time);
	utrace_write_literal(&line.s, "--- ");
	utrace_print_signal_name(&line.s, info.si_signo);
	utrace_write_char(&line.s, ' ');
	siginfo_print(&line.s, &info);
	utrace_write_literal(&line.s, " ---");
	line_end(&line);
}

/* exit_group(2), and a call that a fatal signal ended, has no result. */
static void end_last_call(const struct text *text, const struct seen_task *task)
{
	struct line line;
	struct call call;

	if (last != task)
		return;
	line_open(&line, text, task->entry->head.size);
	if (begun) {
		line.before = begun;
		utrace_write_char(&line.s, ')');
	} else {
		line_begin(&line, text, &task->entry->head,
			   task->entry->head.time);
		take_entry(text, &call, task->entry);
		print_call(&line, &call);
	}
	line_align_result(&line, text);
	utrace_write_literal(&line.s, " = ?");
	line_end(&line);
	last = NULL;
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

/* Print that thread @tid takes the place of the leader, which @rec is about. */
static void text_superseded(const struct text *text,
			    const struct utrace_rec *rec, __s32 tid)
{
	struct line line;

	interrupt_line(text);
	line_open(&line, text, 0);
	line_begin(&line, text, rec, rec->time);
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

	end_last_call(text, task);
	if (exit->exec_tid) {
		task->in_call = false;
		task->superseded = true;
		text_superseded(text, rec, exit->exec_tid);
		return;
	}
	seen_forget(task);
	interrupt_line(text);
	if (text->quiet)
		return;
	line_open(&line, text, 0);
	line_begin(&line, text, rec, rec->time);
	print_status(&line.s, exit);
	line_end(&line);
}

static void text_jobctl(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_jobctl *jobctl = (const void *)rec;
	struct line line;

	line_open(&line, text, 0);
	line_begin(&line, text, rec, rec->time);
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

	seen_forget(task);
	line_open(&line, text, 0);
	line_begin(&line, text, rec, rec->time);
	utrace_write_literal(&line.s, "+++ became a process that you may not trace; left out +++");
	line_end(&line);
}

static void text_lost(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_lost *lost = (const void *)rec;
	struct line line;

	interrupt_line(text);
	line_open(&line, text, 0);
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

	if (!exec->old_task || exec->old_task == rec->task)
		return;
	if (!seen_task(rec->task)->superseded)
		text_superseded(text, rec, exec->old_tid);
	interrupt_line(text);
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
		if (last == task)
			interrupt_line(text);
		task->in_call = false;
	}
	return task;
}

static void text_of_task(const struct text *text, struct seen_task *task,
			 const struct utrace_rec *rec)
{
	switch (rec->type) {
	case UTRACE_REC_SYS_ENTER:
		text_enter(text, task, rec);
		break;
	case UTRACE_REC_SYS_EXIT:
		text_exit_call(text, task, rec);
		break;
	case UTRACE_REC_SYS_CALL:
		text_call(text, rec);
		break;
	case UTRACE_REC_SIGNAL:
		interrupt_line(text);
		text_signal(text, rec);
		break;
	case UTRACE_REC_JOBCTL:
		interrupt_line(text);
		text_jobctl(text, rec);
		break;
	case UTRACE_REC_HIDDEN:
		interrupt_line(text);
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

/**
 * text_record() - print a record
 * @text: how text is written
 * @rec: the record
 */
void text_record(const struct text *text, const struct utrace_rec *rec)
{
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
	text_of_task(text, task_of(text, rec), rec);
}

/* Print the last entry, since there was no record for a while. */
void text_idle(const struct text *text)
{
	if (last && !begun) {
		begun = show_entry(text, last);
	}
	out_flush(text->out);
}

/* End the text after the last record. */
void text_end(const struct text *text)
{
	leave_line(text, " <detached ...>");
	out_flush(text->out);
}

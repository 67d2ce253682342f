// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - lines of system calls
 *
 * The entry of a call is kept until its exit, so that the call is one line.  If
 * another record precedes the exit, or there is no record for a while, the
 * entry is printed first, with the arguments that the call does not write, and
 * the rest of the call at the exit.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <asm/unistd.h>
#include <linux/errno.h>

#include "call_line.h"
#include "calls.h"
#include "decode/items.h"
#include "decode/print.h"
#include "decode/write.h"
#include "dump.h"
#include "fd_text.h"
#include "lib/memory.h"
#include "line.h"
#include "paths.h"
#include "result.h"
#include "sets.h"
#include "stack_text.h"

/* Numbers of restart_syscall(). */
#define RESTART_NATIVE	__NR_restart_syscall
#define RESTART_IA32	(UTRACE_NR_IA32 | 0)

/* The largest errno that a system call returns. */
#define ERRNO_MAX	4095

/**
 * struct call - a system call to be printed
 * @tid: the task
 * @entry: the record of the entry, or of the whole call; NULL if it is missing
 * @resumes: name of the call that restart_syscall() continues, else NULL
 * @nr: number of the call, as number_of() returns it
 * @args: its arguments
 * @unpacked: the arguments of the call that this one stands for
 * @began: when the task made the call, 0 if that is not known
 * @items: its row, and the items that were captured at the entry and at the exit
 *
 * Has pointers into records, and is valid only while they are handled.
 */
struct call {
	pid_t tid;
	const struct utrace_rec *entry;
	const char *resumes;
	__u64 nr;
	const __u64 *args;
	__u64 unpacked[UTRACE_CALL_ARGS];
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

/* Are the structures of a call printed whole? */
static bool is_verbose(const struct text *text, __u32 nr)
{
	return text->abbrev ? !calls_have(text->abbrev, nr) : text->verbose;
}

/* Remove the items of structures, so that their addresses are printed. */
static void leave_out_structs(struct utrace_call_items *items)
{
	const struct utrace_call *row = items->row;
	unsigned int i;

	for (i = 0; row && i < row->nargs; i++) {
		switch (row->arg[i].type) {
		case UTRACE_ARG_ARGV:
		case UTRACE_ARG_SOCKADDR:
		case UTRACE_ARG_OUT_SOCKADDR:
		case UTRACE_ARG_STRUCT:
			items->of[i] = NULL;
			items->out[i] = NULL;
		}
	}
}

/*
 * Check whether a call gives a socket an address.  It is printed after that, but
 * the socket as it was before.
 */
static bool changes_socket(const struct utrace_call *row)
{
	return row && (!strcmp(row->name, "bind") || !strcmp(row->name, "connect"));
}

/* Replace the items of descriptors by their texts. */
static void decode_fds(const struct text *text, struct call *call)
{
	const struct utrace_call *row = call->items.row;
	const struct utrace_item **of = call->items.of;
	unsigned int i, decode = text->decode;

	if (decode & DECODE_SOCKET && changes_socket(row))
		decode |= DECODE_BEFORE;
	for (i = 0; row && i < row->nargs; i++)
		if (of[i] && of[i]->kind == UTRACE_ITEM_FILE)
			of[i] = fd_text(decode, call->tid, call->args[i],
					of[i], i);
}

/*
 * Add the captured items of a record.  Memory that calls read and write is cut
 * to -s bytes when it is printed; names of files are not cut.
 */
static void add_items(const struct text *text, struct call *call,
		      const struct utrace_rec *rec)
{
	struct utrace_call_items *items = &call->items;

	if (!rec->items)
		return;
	utrace_call_items_add(items, (const char *)rec + rec->items,
			      rec->size - rec->items);
	if (text->decode || text->npaths)
		decode_fds(text, call);
	if (text->structs && !calls_have(text->structs, call->nr))
		leave_out_structs(items);
}

/* Remove the status of wait4() and waitpid() that found no child. */
static void leave_out_status(struct utrace_call_items *items, __s64 ret)
{
	const struct utrace_call *row = items->row;

	if (ret || !items->of[1])
		return;
	if (row && row->arg[2].type == UTRACE_ARG_FLAGS &&
	    row->arg[2].len == UTRACE_FLAGS_WAIT) {
		items->of[1] = NULL;
		items->out[3] = NULL;
	}
}

/* Find the item with the arguments that a call takes from memory, or NULL. */
static const struct utrace_item *words_of(const struct utrace_rec *rec)
{
	const void *items = (const char *)rec + rec->items;
	const struct utrace_item *item = NULL;

	while (rec->items &&
	       (item = utrace_item_next(items, rec->size - rec->items, item)))
		if (item->kind == UTRACE_ITEM_ARGS)
			return item;
	return NULL;
}

/*
 * Replace a call by the one that it stands for.  @rec is the entry or the whole
 * call; if it lacks the arguments, there is no change.
 */
static void unpack(struct call *call, const struct utrace_unpack *unpack,
		   const struct utrace_rec *rec)
{
	const struct utrace_call *row = call->items.row;
	__u32 words[UTRACE_CALL_ARGS] = {};
	const struct utrace_item *item;

	if (unpack->words) {
		item = words_of(rec);
		if (!item || item->len < unpack->words * sizeof(*words))
			return;
		memcpy(words, item->data, unpack->words * sizeof(*words));
	}
	call->items.row = utrace_unpack(row, (const unsigned long *)call->args,
					words,
					(unsigned long *)call->unpacked);
	call->args = call->unpacked;
	call->nr = UTRACE_NR_IA32 | UTRACE_NR_UNPACKED | row->unpack;
}

/* Find the row of a call, or of the call that it stands for. */
static void find_row(struct call *call, const struct utrace_rec *rec)
{
	const struct utrace_unpack *unpacked;
	const struct utrace_call *row;

	static_assert(sizeof(unsigned long) == sizeof(*call->args), "words");
	row = utrace_call_by_command(call->nr, (const unsigned long *)call->args);
	call->items.row = row;
	unpacked = row ? utrace_unpack_of(row) : NULL;
	if (unpacked)
		unpack(call, unpacked, rec);
}

/* Are the arguments and the result of a call printed as numbers? */
static bool is_raw(const struct text *text, __u32 nr)
{
	return text->raw && calls_have(text->raw, nr);
}

/* Begin the items of a call: its row, and how they are printed. */
static void begin_items(const struct text *text, struct call *call,
			const struct utrace_rec *rec)
{
	struct utrace_call_items *items = &call->items;

	find_row(call, rec);
	/* Numbers are printed whether or not the command uses them. */
	if (is_raw(text, call->nr))
		items->row = utrace_call_of(call->nr);
	items->most = text->max_string;
	items->verbose = is_verbose(text, call->nr);
	items->tid = call->tid;
	items->decode = text->decode;
	add_items(text, call, rec);
}

/*
 * Check whether the options leave out a call: the kernel records all calls that
 * stand for others if one of these is wanted.
 */
static bool is_left_out(const struct text *text, __u64 nr, const __u64 *args,
			const struct utrace_rec *rec)
{
	unsigned int bit;
	struct call call;

	if (!text->left_out || !(nr & UTRACE_NR_IA32) ||
	    !utrace_unpacked_by(nr))
		return false;
	call = (struct call){ .nr = nr, .args = args };
	/* mmap() and select() have their names if memory is not readable, too. */
	bit = utrace_call_of(nr)->unpack;
	find_row(&call, rec);
	if (call.nr & UTRACE_NR_UNPACKED)
		bit = call.nr & 63;
	return text->left_out >> bit & 1;
}

static void take_entry(const struct text *text, struct call *call,
		       const struct seen_task *task)
{
	const struct utrace_rec_sys_enter *entry = task->entry;

	*call = (struct call){
		.tid = entry->head.tid,
		.resumes = task->resumes,
		.entry = &entry->head,
		.nr = number_of(entry->nr, entry->asked),
		.args = entry->args,
		.began = entry->began,
	};
	begin_items(text, call, &entry->head);
}

static void take_exit(const struct text *text, struct call *call,
		      const struct utrace_rec_sys_exit *exit)
{
	call->items.failed = IS_ERR_VALUE(exit->ret);
	add_items(text, call, &exit->head);
	call->items.result = exit->ret;
	leave_out_status(&call->items, exit->ret);
}

/* Save the number and the address of a call for the starts of lines. */
static void save_call(struct seen_task *task, __u64 nr,
		      const struct utrace_rec *rec)
{
	const struct utrace_item *item = NULL;
	const void *items = (const char *)rec + rec->items;

	task->nr = nr;
	task->called = true;
	task->ip = 0;
	while (rec->items &&
	       (item = utrace_item_next(items, rec->size - rec->items, item))) {
		if (item->kind != UTRACE_ITEM_STACK || item->len < sizeof(task->ip))
			continue;
		memcpy(&task->ip, item->data, sizeof(task->ip));
		break;
	}
}

/* Calls as text */

/* Print restart_syscall(), whose argument is the call that it continues. */
static void print_restart(struct seq_buf *s, const struct call *call,
			  enum utrace_call_parts parts)
{
	if (parts & UTRACE_CALL_ENTRY) {
		utrace_print_call_name(s, call->nr);
		utrace_write_literal(s, "(<... resuming interrupted ");
		seq_buf_puts(s, call->resumes);
		utrace_write_literal(s, " ...>");
	}
	if (parts & UTRACE_CALL_EXIT)
		utrace_write_char(s, ')');
}

static void print_call(const struct text *text, struct line *line,
		       const struct call *call, enum utrace_call_parts parts)
{
	if (call->resumes) {
		print_restart(&line->s, call, parts);
		return;
	}
	static_assert(sizeof(unsigned long) == sizeof(*call->args), "words");
	utrace_style.raw = is_raw(text, call->nr);
	utrace_print_call_parts(&line->s, call->nr,
				(const unsigned long *)call->args, &call->items,
				parts);
	utrace_style.raw = false;
}

/*
 * Print what is known of a call at its entry.  Returns the number of bytes.
 */
static size_t show_entry(const struct text *text, const struct log *log,
			 const struct seen_task *task)
{
	const struct utrace_rec *rec = &task->entry->head;
	struct line line;
	struct call call;

	line_open(&line, log, rec->size);
	line_begin(&line, text, task, rec, rec->time);
	take_entry(text, &call, task);
	print_call(text, &line, &call, UTRACE_CALL_ENTRY);
	line_close(&line);
	return line.s.len;
}

/* Begin the line of a call whose entry was printed on another line. */
static void begin_resumed(struct line *line, const struct text *text,
			  const struct seen_task *task,
			  const struct utrace_rec *rec, __u64 nr)
{
	line_begin(line, text, task, rec, rec->time);
	utrace_write_literal(&line->s, "<... ");
	utrace_print_call_name(&line->s, nr);
	utrace_write_literal(&line->s, " resumed>");
}

/* Print a call, or the rest of it, without a result.  @rec is its end. */
static void print_no_result(const struct text *text, struct log *log,
			    struct seen_task *task, const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *entry = task->entry;
	struct line line;
	struct call call;

	line_open(&line, log, entry->head.size);
	take_entry(text, &call, task);
	if (log->last == task && log->begun) {
		line.before = log->begun;
	} else if (task->shown) {
		begin_resumed(&line, text, task, rec, call.nr);
	} else {
		line_begin(&line, text, task, &entry->head, entry->head.time);
		print_call(text, &line, &call, UTRACE_CALL_ENTRY);
	}
	if (utrace_call_has_rest(call.nr, (const unsigned long *)call.args,
				 &call.items))
		utrace_write_literal(&line.s, " <unfinished ...>");
	utrace_write_char(&line.s, ')');
	line_align_result(&line, text);
	utrace_write_literal(&line.s, " = ?");
	line_end(&line);
	task->in_call = false;
	if (log->last == task)
		log->last = NULL;
}

/* Check whether a call ends the task. */
static bool never_returns(const struct utrace_rec_sys_enter *entry)
{
	const char *name = call_name(entry->nr);

	return name && (!strcmp(name, "exit") || !strcmp(name, "exit_group"));
}

/* End the line of the last entry, whose exit is not the next record. */
static void leave_line(const struct text *text, struct log *log, const char *why)
{
	struct line line;

	if (!log->last)
		return;
	call_line_show(text, log);
	line_open(&line, log, 0);
	seq_buf_puts(&line.s, why);
	line_end(&line);
	log->last->shown = true;
	log->last = NULL;
}

/* End the line of the last entry before another line. */
void call_line_interrupt(const struct text *text, struct log *log)
{
	struct seen_task *last = log->last;

	if (last && never_returns(last->entry))
		print_no_result(text, log, last, &last->entry->head);
	else
		leave_line(text, log, " <unfinished ...>");
}

/* End the line of the last entry at the end of the trace. */
void call_line_detach(const struct text *text, struct log *log)
{
	leave_line(text, log, " <detached ...>");
}

/*
 * If -e status= wants calls that the end of the trace interrupts, print the one
 * that a task is in.  Its entry was not printed before.
 */
void call_line_detach_task(const struct text *text, struct seen_task *task)
{
	struct log *log;

	if (text->status == STATUS_ALL || !(text->status & STATUS_DETACHED) ||
	    !task->in_call || task->hidden)
		return;
	log = log_of(text, task, task->entry->head.tid);
	log->last = task;
	log->begun = 0;
	call_line_detach(text, log);
}

/*
 * If the last entry is that of task @tid, end its line: the task is number @to
 * from here on.
 */
void call_line_renumber(const struct text *text, struct log *log, __s32 tid,
			__s32 to)
{
	char why[64];

	if (!log->last || log->last->entry->head.tid != tid)
		return;
	snprintf(why, sizeof(why), " <pid changed to %d ...>", to);
	leave_line(text, log, why);
}

/* Print the last entry, since there was no record for a while. */
void call_line_show(const struct text *text, struct log *log)
{
	if (log->last && !log->begun)
		log->begun = show_entry(text, log, log->last);
}

/* Return the meaning of an error, as strace explains it. */
static const char *error_text(long error)
{
	switch (error) {
	case ERESTARTSYS:
		return "To be restarted if SA_RESTART is set";
	case ERESTARTNOINTR:
		return "To be restarted";
	case ERESTARTNOHAND:
		return "To be restarted if no handler";
	case ERESTART_RESTARTBLOCK:
		return "Interrupted by signal";
	default:
		return strerror(error);
	}
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
		message->text = xasprintf(" (%s)", error_text(error));
		message->len = strlen(message->text);
	}
	utrace_write(s, message->text, message->len);
}

/* Return the item of a descriptor that the call has returned, or NULL. */
static const struct utrace_item *result_item(const struct utrace_rec *rec)
{
	const void *items = (const char *)rec + rec->items;
	const struct utrace_item *item = NULL;

	while (rec->items &&
	       (item = utrace_item_next(items, rec->size - rec->items, item)))
		if (item->kind == UTRACE_ITEM_FILE &&
		    item->arg == UTRACE_ITEM_NO_ARG &&
		    item->flags & UTRACE_ITEM_F_OUT)
			return item;
	return NULL;
}

/* Print what the returned descriptor is. */
static void print_result_fd(const struct text *text, struct seq_buf *s,
			    const struct call *call, int fd,
			    const struct utrace_rec *rec)
{
	const struct utrace_item *item = result_item(rec);

	if (item)
		item = fd_text(text->decode, call->tid, fd, item, UTRACE_CALL_ARGS);
	if (!item)
		return;
	utrace_write(s, (const char *)item->data, item->len);
}

/* Print the text after the result of a call that did not fail. */
static void print_text(struct seq_buf *s, const struct call *call, __s64 ret)
{
	const struct result result = {
		.s = s,
		.nr = call->nr,
		.args = call->args,
		.items = &call->items,
		.ret = ret,
		.abi = utrace_abi_of(call->nr),
	};

	result_print_text(&result);
}

/*
 * Print the result of a call and the end of its line.  @rec is the record of
 * its end.
 */
static void end_with_result(const struct text *text, struct line *line,
			    const struct call *call, const struct utrace_rec *rec,
			    __s64 ret)
{
	bool raw = is_raw(text, call->nr);

	line_align_result(line, text);
	utrace_write_literal(&line->s, " = ");
	utrace_style.raw = raw;
	utrace_print_result(&line->s, call->nr, call->items.row, ret);
	utrace_style.raw = false;
	if (IS_ERR_VALUE(ret))
		print_error(&line->s, -ret);
	else if (text->decode)
		print_result_fd(text, &line->s, call, ret, rec);
	if (!IS_ERR_VALUE(ret) && !raw)
		print_text(&line->s, call, ret);
	if (text->durations && call->began) {
		utrace_write_literal(&line->s, " <");
		line_write_span(&line->s, line_since(call->began, rec->time),
				text->duration_digits);
		utrace_write_char(&line->s, '>');
	}
	line_end(line);
	if (text->dumps && call->args)
		dump_call(text, line->out, call->nr, call->args[0], &call->items);
	if (text->stacks && call->entry)
		stack_text(text, line->out, call->entry);
}

static bool is_shown(const struct text *text, __s64 ret)
{
	return text->status & (IS_ERR_VALUE(ret) ? STATUS_FAILING :
						   STATUS_SUCCESSFUL);
}

/* Records */

void call_line_enter(const struct text *text, struct seen_task *task,
		     const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	struct log *log = log_of(text, task, rec->tid);

	/* The task may have recorded the entry of this call itself. */
	if (rec->flags & UTRACE_REC_F_IN_FLIGHT && task->in_call &&
	    enter->nr == task->entry->nr)
		return;
	task->hidden = (text->npaths && !paths_match(text, rec)) ||
		       is_left_out(text, enter->nr, enter->args, rec);
	/* If the result decides, do not show the entry yet. */
	if (text->status == STATUS_ALL && !task->hidden)
		call_line_interrupt(text, log);
	if (enter->nr != RESTART_NATIVE && enter->nr != RESTART_IA32)
		task->resumes = NULL;
	else if (!task->resumes)
		task->resumes = task->entry ? call_name(task->entry->nr) :
					      "system call";
	seen_keep_entry(task, rec);
	if (text->numbers || text->ip)
		save_call(task, number_of(enter->nr, enter->asked), rec);
	task->in_call = true;
	task->shown = false;
	if (text->status != STATUS_ALL || task->hidden)
		return;
	log->last = task;
	log->begun = 0;
}

/* Print the exit of a call whose entry is missing. */
static void print_unpaired(const struct text *text, struct line *line,
			   struct seen_task *task,
			   const struct utrace_rec_sys_exit *exit)
{
	const __u64 nowhere[UTRACE_CALL_ARGS] = {};
	struct call call = {
		.tid = exit->head.tid,
		.nr = number_of(exit->nr, exit->asked),
		.args = nowhere,
		.items = {
			.row = utrace_call_of(exit->nr),
			.most = text->max_string,
			.verbose = is_verbose(text, exit->nr),
			.tid = exit->head.tid,
			.decode = text->decode,
		},
	};

	line_begin(line, text, task, &exit->head, exit->head.time);
	utrace_write_literal(&line->s, "<... ");
	/* The exit of sigreturn has no number but UTRACE_NR_NONE. */
	if (exit->nr == UTRACE_NR_NONE)
		utrace_write_literal(&line->s, "call");
	else
		utrace_print_call_name(&line->s, call.nr);
	utrace_write_literal(&line->s, " resumed>)");
	take_exit(text, &call, exit);
	utrace_print_output_items(&line->s, call.nr, &call.items);
	end_with_result(text, line, &call, &exit->head, exit->ret);
}

/* Print the exit of a call whose entry was printed or is missing. */
static void print_rest(const struct text *text, struct log *log,
		       struct seen_task *task,
		       const struct utrace_rec_sys_exit *exit)
{
	struct line line;
	struct call call;

	line_open(&line, log, exit->head.size +
			      (task->in_call ? task->entry->head.size : 0));
	if (!task->in_call) {
		print_unpaired(text, &line, task, exit);
		return;
	}
	take_entry(text, &call, task);
	take_exit(text, &call, exit);
	if (log->last == task && log->begun)
		line.before = log->begun;
	else
		begin_resumed(&line, text, task, &exit->head, call.nr);
	print_call(text, &line, &call, UTRACE_CALL_EXIT);
	end_with_result(text, &line, &call, &exit->head, exit->ret);
}

/* Print a whole call, with the items of its entry and of its exit. */
static void print_whole(const struct text *text, struct log *log,
			const struct seen_task *task,
			const struct utrace_rec_sys_exit *exit)
{
	const struct utrace_rec *entry = &task->entry->head;
	struct line line;
	struct call call;

	line_open(&line, log, entry->size + exit->head.size);
	line_begin(&line, text, task, entry, entry->time);
	take_entry(text, &call, task);
	take_exit(text, &call, exit);
	print_call(text, &line, &call, UTRACE_CALL_WHOLE);
	end_with_result(text, &line, &call, &exit->head, exit->ret);
}

static void print_exit(const struct text *text, struct seen_task *task,
		       const struct utrace_rec_sys_exit *exit)
{
	struct log *log = log_of(text, task, exit->head.tid);

	if (log->last != task)
		call_line_interrupt(text, log);
	if (task->in_call && !task->shown && !(log->last == task && log->begun))
		print_whole(text, log, task, exit);
	else
		print_rest(text, log, task, exit);
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

void call_line_exit(const struct text *text, struct seen_task *task,
		    const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_exit *exit = (const void *)rec;
	struct log *log = log_of(text, task, rec->tid);
	bool hidden;

	if (is_birth(task, exit))
		return;
	/* The kept entry belongs to an earlier call. */
	if (rec->flags & UTRACE_REC_F_UNPAIRED && !was_in_flight(task, exit))
		task->in_call = false;
	/* Without an entry, the paths of the call are not known. */
	hidden = task->in_call ? task->hidden : text->npaths;
	if (!hidden && is_shown(text, exit->ret))
		print_exit(text, task, exit);
	if (log->last == task)
		log->last = NULL;
	task->in_call = false;
}

/* Print a call that is one record. */
void call_line_whole(const struct text *text, struct seen_task *task,
		     const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_call *from = (const void *)rec;
	struct call call = {
		.tid = rec->tid,
		.entry = rec,
		.nr = number_of(from->nr, from->asked),
		.args = from->args,
		.began = from->began,
	};
	struct log *log = log_of(text, task, rec->tid);
	struct line line;

	if (!is_shown(text, from->ret) ||
	    (text->npaths && !paths_match(text, rec)) ||
	    is_left_out(text, from->nr, from->args, rec))
		return;
	call_line_interrupt(text, log);
	if (text->numbers || text->ip)
		save_call(task, call.nr, rec);
	line_open(&line, log, rec->size);
	line_begin(&line, text, task, rec, from->began ? from->began : rec->time);
	call.items.failed = IS_ERR_VALUE(from->ret);
	begin_items(text, &call, rec);
	call.items.result = from->ret;
	leave_out_status(&call.items, from->ret);
	print_call(text, &line, &call, UTRACE_CALL_WHOLE);
	end_with_result(text, &line, &call, rec, from->ret);
}

/*
 * Print the end of a call that has no result: of exit_group(2), or of a call
 * that the end of the task, whose record is @rec, has ended.
 */
void call_line_task_end(const struct text *text, struct seen_task *task,
			const struct utrace_rec *rec)
{
	struct log *log = log_of(text, task, rec->tid);

	if (!task->in_call || task->hidden ||
	    !(text->status & STATUS_UNFINISHED))
		return;
	if (log->last != task)
		call_line_interrupt(text, log);
	print_no_result(text, log, task, rec);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - records as text, in the manner of strace
 *
 * The entry of a call is kept until its exit, so that the call is one line.  If
 * another record comes before the exit, or no record for a while, the entry is
 * printed, and the result when the exit comes.
 */
#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>

#include "calls.h"
#include "decode/items.h"
#include "decode/print.h"
#include "text.h"

/* Size of a line: the largest record with every byte as \ooo. */
#define LINE_MAX_SIZE	16384

/* The column at which the result of a short call begins. */
#define RESULT_COLUMN	39

/**
 * struct task - a task whose records were seen
 * @tid: number of the task
 * @in_call: the task has entered the call of @entry and not left it
 * @shown: @entry was printed on a line that ends with "<unfinished ...>"
 * @entry: the last entry of a system call, with items after it; NULL before the
 *	first one.  Freed with the task
 */
struct task {
	pid_t tid;
	bool in_call;
	bool shown;
	struct utrace_rec_sys_enter *entry;
};

static void *tasks;
/*
 * The task whose entry is the last record and may share its line with the exit,
 * else NULL; and whether text_idle() has printed that entry.
 */
static struct task *last;
static bool begun;
/* Time of the last line, for -r. */
static __u64 line_time;

static int compare_tasks(const void *a, const void *b)
{
	return ((const struct task *)a)->tid - ((const struct task *)b)->tid;
}

static struct task *task_of(pid_t tid)
{
	struct task key = { .tid = tid }, *task, **found;

	found = tfind(&key, &tasks, compare_tasks);
	if (found)
		return *found;
	task = calloc(1, sizeof(*task));
	if (!task)
		abort();
	task->tid = tid;
	tsearch(task, &tasks, compare_tasks);
	return task;
}

static void end_call(const void *node, VISIT visit, int depth)
{
	struct task *task = *(struct task *const *)node;

	if (visit == postorder || visit == leaf)
		task->in_call = false;
}

static void forget_task(struct task *task)
{
	if (last == task)
		last = NULL;
	tdelete(task, &tasks, compare_tasks);
	free(task->entry);
	free(task);
}

/* The begin of a line */

/* Time between two records in ns; 0 if the clock was set back between them. */
static __u64 since(__u64 from, __u64 to)
{
	return to > from ? to - from : 0;
}

static void print_time(const struct text *text, __u64 ns)
{
	time_t seconds = ns / 1000000000;
	unsigned int us = ns / 1000 % 1000000;
	__u64 us_since = line_time ? since(line_time, ns) / 1000 : 0;
	char of_day[16];

	strftime(of_day, sizeof(of_day), "%H:%M:%S", localtime(&seconds));
	switch (text->time) {
	case TEXT_NO_TIME:
		break;
	case TEXT_SECONDS:
		fprintf(text->out, "%s ", of_day);
		break;
	case TEXT_MICROSECONDS:
		fprintf(text->out, "%s.%06u ", of_day, us);
		break;
	case TEXT_EPOCH:
		fprintf(text->out, "%lld.%06u ", (long long)seconds, us);
		break;
	case TEXT_RELATIVE:
		fprintf(text->out, "%6llu.%06llu ", us_since / 1000000,
			us_since % 1000000);
		break;
	}
	line_time = ns;
}

static void begin_line(const struct text *text, const struct utrace_rec *rec,
		       __u64 time)
{
	if (text->pids)
		fprintf(text->out, text->out == stderr ? "[pid %5d] " : "%-5d ",
			rec->tid);
	print_time(text, time);
}

/* Text of calls, made by the printers that are shared with the kernel. */

static const char *finish(struct seq_buf *s)
{
	s->buffer[s->len < s->size ? s->len : s->size - 1] = '\0';
	return s->buffer;
}

static struct seq_buf *new_text(void)
{
	static char buffer[LINE_MAX_SIZE];
	static struct seq_buf s;

	s = (struct seq_buf){ .buffer = buffer, .size = sizeof(buffer) - 1 };
	return &s;
}

static size_t items_size(const struct utrace_rec *rec)
{
	return rec->items ? rec->size - rec->items : 0;
}

static const void *items_of(const struct utrace_rec *rec)
{
	return (const char *)rec + rec->items;
}

/* The number of the argument that is an environment, -1 for none. */
static int environment_of(__u32 nr)
{
	const char *name = call_name(nr);

	if (!name)
		return -1;
	return !strcmp(name, "execve") ? 2 : !strcmp(name, "execveat") ? 3 : -1;
}

/*
 * Copy the captured items of a record.  Memory that calls read and write is cut
 * to -s bytes; names of files are not cut.  @to has room for all items.
 */
static size_t copy_items(const struct text *text, void *to,
			 const struct utrace_rec *rec, __u32 nr)
{
	const struct utrace_item *item = NULL;
	int environment = text->verbose ? -1 : environment_of(nr);
	size_t done = 0;

	while ((item = utrace_item_next(items_of(rec), items_size(rec), item))) {
		struct utrace_item *copy = to + done;
		size_t len = item->len;

		if (item->arg == environment)
			continue;
		if (item->kind == UTRACE_ITEM_BYTES && len > text->max_string)
			len = text->max_string;
		memcpy(copy, item, sizeof(*item) + len);
		copy->len = len;
		if (len < item->len)
			copy->flags |= UTRACE_ITEM_TRUNCATED;
		done += sizeof(*item) + ALIGN(len, 8);
	}
	return done;
}

/* Calls */

static void print_call(const struct utrace_rec_sys_enter *entry,
		       const void *items, size_t used, struct seq_buf *s)
{
	unsigned long args[6];

	memcpy(args, entry->args, sizeof(args));
	utrace_print_call(s, entry->nr, args, items, used);
}

/* Print an entry, without the closing bracket, which comes with the exit. */
static void show_entry(const struct text *text, const struct task *task)
{
	const struct utrace_rec_sys_enter *entry = task->entry;
	struct seq_buf *s = new_text();

	begin_line(text, &entry->head, entry->head.time);
	print_call(entry, items_of(&entry->head), items_size(&entry->head), s);
	finish(s);
	if (s->len && s->buffer[s->len - 1] == ')')
		s->buffer[s->len - 1] = '\0';
	fputs(s->buffer, text->out);
}

/* End the line of the last entry, as another record comes before its exit. */
static void interrupt_line(const struct text *text)
{
	if (!last)
		return;
	if (!begun)
		show_entry(text, last);
	fputs(" <unfinished ...>\n", text->out);
	last->shown = true;
	last = NULL;
}

static void text_enter(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *from = (const void *)rec;
	struct task *task = task_of(rec->tid);

	/*
	 * With -z or -Z the result decides, so the last entry is not shown
	 * yet.
	 */
	if (!text->failed && !text->succeeded)
		interrupt_line(text);
	free(task->entry);
	task->entry = malloc(rec->size);
	if (!task->entry)
		abort();
	memcpy(task->entry, from, sizeof(*from));
	task->entry->head.items = sizeof(*from);
	task->entry->head.size = sizeof(*from) +
				 copy_items(text, task->entry + 1, rec, from->nr);
	task->in_call = true;
	task->shown = false;
	if (text->failed || text->succeeded)
		return;
	last = task;
	begun = false;
}

static bool is_restart(int error)
{
	return error == ERESTARTSYS || error == ERESTARTNOINTR ||
	       error == ERESTARTNOHAND || error == ERESTART_RESTARTBLOCK;
}

static void align_result(struct seq_buf *s)
{
	while (s->len < RESULT_COLUMN)
		seq_buf_putc(s, ' ');
}

static void print_result(const struct text *text, const struct task *task,
			 const struct utrace_rec_sys_exit *exit, struct seq_buf *s)
{
	/* The length of a line that text_idle() began is not known here. */
	if (last != task || !begun)
		align_result(s);
	seq_buf_puts(s, " = ");
	utrace_print_result(s, exit->nr, exit->ret);
	if (IS_ERR_VALUE(exit->ret))
		seq_buf_printf(s, " (%s)", is_restart(-exit->ret) ?
			       "To be restarted" : strerror(-exit->ret));
	if (text->durations && task->in_call) {
		__u64 took = since(task->entry->head.time, exit->head.time);

		seq_buf_printf(s, " <%llu.%06llu>", took / 1000000000,
			       took / 1000 % 1000000);
	}
}

/* Print a whole call, with the items of its entry and of its exit. */
static void print_whole(const struct task *task, const void *out,
			size_t out_size, struct seq_buf *s)
{
	size_t in_size = items_size(&task->entry->head);
	char *items = malloc(in_size + out_size + 1);

	if (!items)
		abort();
	memcpy(items, items_of(&task->entry->head), in_size);
	if (out_size)
		memcpy(items + in_size, out, out_size);
	print_call(task->entry, items, in_size + out_size, s);
	free(items);
}

static bool is_shown(const struct text *text, const struct utrace_rec_sys_exit *exit)
{
	return !(text->failed && !IS_ERR_VALUE(exit->ret)) &&
	       !(text->succeeded && IS_ERR_VALUE(exit->ret));
}

static void print_exit(const struct text *text, const struct task *task,
		       const struct utrace_rec_sys_exit *exit, const void *items,
		       size_t size)
{
	const char *name = call_name(exit->nr);
	struct seq_buf *s;

	/* interrupt_line() uses the buffer of new_text(), so it comes first. */
	if (last != task)
		interrupt_line(text);
	if (last != task || !begun)
		begin_line(text, &exit->head, task->in_call && !task->shown ?
			   task->entry->head.time : exit->head.time);
	s = new_text();
	if (last == task && begun) {
		seq_buf_putc(s, ')');
		utrace_print_outputs(s, items, size);
	} else if (task->in_call && !task->shown) {
		print_whole(task, items, size, s);
	} else {
		seq_buf_printf(s, "<... %s resumed>)", name ? name : "call");
		utrace_print_outputs(s, items, size);
	}
	print_result(text, task, exit, s);
	fprintf(text->out, "%s\n", finish(s));
}

static void text_exit_call(const struct text *text, struct utrace_rec *rec)
{
	struct utrace_rec_sys_exit *exit = (void *)rec;
	struct task *task = task_of(rec->tid);
	char *items = malloc(rec->size);
	size_t size;

	if (!items)
		abort();
	/* The kept entry belongs to an earlier call. */
	if (exit->head.flags & UTRACE_F_UNPAIRED)
		task->in_call = false;
	/* The exit of sigreturn has no number but UTRACE_REC_NO_CALL. */
	if (task->in_call)
		exit->nr = task->entry->nr;
	size = copy_items(text, items, rec, exit->nr);
	if (is_shown(text, exit))
		print_exit(text, task, exit, items, size);
	free(items);
	if (last == task)
		last = NULL;
	task->in_call = false;
}

/* Other events */

static void print_code(struct seq_buf *s, const siginfo_t *info)
{
	static const struct {
		int signal;	/* 0: any */
		int code;
		const char *name;
	} names[] = {
		{ 0, SI_USER, "SI_USER" }, { 0, SI_KERNEL, "SI_KERNEL" },
		{ 0, SI_QUEUE, "SI_QUEUE" }, { 0, SI_TIMER, "SI_TIMER" },
		{ 0, SI_TKILL, "SI_TKILL" }, { 0, SI_MESGQ, "SI_MESGQ" },
		{ 0, SI_ASYNCIO, "SI_ASYNCIO" },
		{ SIGCHLD, CLD_EXITED, "CLD_EXITED" },
		{ SIGCHLD, CLD_KILLED, "CLD_KILLED" },
		{ SIGCHLD, CLD_DUMPED, "CLD_DUMPED" },
		{ SIGCHLD, CLD_TRAPPED, "CLD_TRAPPED" },
		{ SIGCHLD, CLD_STOPPED, "CLD_STOPPED" },
		{ SIGCHLD, CLD_CONTINUED, "CLD_CONTINUED" },
		{ SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR" },
		{ SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR" },
		{ SIGBUS, BUS_ADRALN, "BUS_ADRALN" },
		{ SIGBUS, BUS_ADRERR, "BUS_ADRERR" },
		{ SIGFPE, FPE_INTDIV, "FPE_INTDIV" },
		{ SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT" },
		{ SIGTRAP, TRAP_TRACE, "TRAP_TRACE" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].code != info->si_code ||
		    (names[i].signal && names[i].signal != info->si_signo))
			continue;
		seq_buf_puts(s, names[i].name);
		return;
	}
	seq_buf_printf(s, "%d", info->si_code);
}

static void text_signal(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_signal *signal = (const void *)rec;
	struct seq_buf *s = new_text();
	siginfo_t info = {};

	memcpy(&info, signal->info, sizeof(signal->info));
	seq_buf_puts(s, "--- ");
	utrace_print_signal(s, info.si_signo);
	seq_buf_puts(s, " {si_signo=");
	utrace_print_signal(s, info.si_signo);
	seq_buf_puts(s, ", si_code=");
	print_code(s, &info);
	if (info.si_signo == SIGCHLD && info.si_code > 0)
		seq_buf_printf(s, ", si_pid=%d, si_uid=%u, si_status=%d",
			       info.si_pid, info.si_uid, info.si_status);
	else if (info.si_code > 0 && info.si_code < 0x80 && info.si_signo != SIGIO)
		seq_buf_printf(s, ", si_addr=%p", info.si_addr);
	else if (info.si_code <= 0 && info.si_code != SI_TIMER)
		seq_buf_printf(s, ", si_pid=%d, si_uid=%u", info.si_pid,
			       info.si_uid);
	seq_buf_puts(s, "} ---");
	begin_line(text, rec, rec->time);
	fprintf(text->out, "%s\n", finish(s));
}

static void text_end_of_task(const struct text *text, const struct utrace_rec *rec)
{
	const struct utrace_rec_exit *exit = (const void *)rec;
	struct task *task = task_of(rec->tid);
	struct seq_buf *s;

	/*
	 * exit_group(2), and a call that a fatal signal ended, has no result.
	 */
	if (last == task && begun) {
		fputs(") = ?\n", text->out);
	} else if (last == task) {
		begin_line(text, rec, task->entry->head.time);
		s = new_text();
		print_whole(task, NULL, 0, s);
		align_result(s);
		fprintf(text->out, "%s = ?\n", finish(s));
	}
	forget_task(task);
	interrupt_line(text);
	if (text->quiet)
		return;
	begin_line(text, rec, rec->time);
	s = new_text();
	if (exit->head.flags & UTRACE_F_HIDDEN) {
		seq_buf_puts(s, "+++ exited +++");
	} else if (exit->code & 0x7f) {
		seq_buf_puts(s, "+++ killed by ");
		utrace_print_signal(s, exit->code & 0x7f);
		seq_buf_puts(s, exit->code & 0x80 ? " (core dumped) +++" : " +++");
	} else {
		seq_buf_printf(s, "+++ exited with %d +++", exit->code >> 8 & 0xff);
	}
	fprintf(text->out, "%s\n", finish(s));
}

/**
 * text_record() - print a record
 * @text: how text is written
 * @rec: the record, whose number of the call may be corrected
 */
void text_record(const struct text *text, struct utrace_rec *rec)
{
	const struct utrace_rec_jobctl *jobctl = (const void *)rec;
	const struct utrace_rec_lost *lost = (const void *)rec;

	switch (rec->type) {
	case UTRACE_REC_SYS_ENTER:
		text_enter(text, rec);
		return;
	case UTRACE_REC_SYS_EXIT:
		text_exit_call(text, rec);
		return;
	case UTRACE_REC_EXIT:
		text_end_of_task(text, rec);
		return;
	}
	if (rec->type == UTRACE_REC_FORK || rec->type == UTRACE_REC_EXEC)
		return;
	interrupt_line(text);
	switch (rec->type) {
	case UTRACE_REC_SIGNAL:
		text_signal(text, rec);
		break;
	case UTRACE_REC_JOBCTL:
		begin_line(text, rec, rec->time);
		fprintf(text->out, "--- %s ---\n",
			jobctl->type == CLD_CONTINUED ? "continued" : "stopped");
		break;
	case UTRACE_REC_HIDDEN:
		forget_task(task_of(rec->tid));
		begin_line(text, rec, rec->time);
		fputs("+++ became a process that you may not trace; left out +++\n",
		      text->out);
		break;
	case UTRACE_REC_LOST:
		/* The exits of calls that have begun may be among the lost. */
		twalk(tasks, end_call);
		fprintf(text->out, "+++ %llu records were lost: the buffer was full +++\n",
			lost->lost);
		break;
	}
}

/* Print the last entry, as no record has come for a while. */
void text_idle(const struct text *text)
{
	if (last && !begun) {
		show_entry(text, last);
		begun = true;
	}
	fflush(text->out);
}

/* End the text, as there will be no more records. */
void text_end(const struct text *text)
{
	interrupt_line(text);
	fflush(text->out);
}

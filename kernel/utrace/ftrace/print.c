// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: records as text, much like strace's
 *
 * utrace_ftrace_print_line() in record.c extracts the fields of a record and
 * calls the function here that prints them.
 */
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/wait.h>

#include "../decode/items.h"
#include "../decode/print.h"
#include "../decode/table.h"
#include "print.h"

/* Print captured stacks, at the end of the line. */
static void process_print_stack(struct seq_buf *s, const void *items,
				size_t used)
{
	const struct utrace_item *item = NULL;
	const u64 *address;
	unsigned int i;

	while ((item = utrace_item_next(items, used, item))) {
		if (item->kind == UTRACE_ITEM_RAW_STACK)
			seq_buf_printf(s, " <raw stack of %u bytes>",
				       item->len);
		if (item->kind != UTRACE_ITEM_STACK)
			continue;
		address = (const u64 *)item->data;
		seq_buf_puts(s, " <stack");
		for (i = 0; i < item->len / sizeof(*address); i++)
			seq_buf_printf(s, " %llx", address[i]);
		seq_buf_puts(s, ">");
	}
}

/**
 * utrace_ftrace_print_entry() - print the entry of a system call
 * @s: buffer to which the text is appended
 * @nr: number of the call, as for utrace_print_call_name()
 * @args: six arguments
 * @items: captured items
 * @used: size of @items in bytes
 *
 * Context: Any.
 */
void utrace_ftrace_print_entry(struct seq_buf *s, u64 nr,
			       const unsigned long *args, const void *items,
			       size_t used)
{
	utrace_print_call(s, nr, args, items, used);
	process_print_stack(s, items, used);
}

/**
 * utrace_ftrace_print_exit() - print the exit of a system call
 * @s: buffer to which the text is appended
 * @nr: number of the call, as for utrace_print_call_name()
 * @ret: result of the call
 * @duration: time between entry and exit in ns; negative: unknown
 * @items: captured items
 * @used: size of @items in bytes
 *
 * Context: Any.
 */
void utrace_ftrace_print_exit(struct seq_buf *s, u64 nr, long ret,
			      s64 duration, const void *items, size_t used)
{
	seq_buf_puts(s, "<... ");
	utrace_print_call_name(s, nr);
	seq_buf_puts(s, " resumed>");
	utrace_print_outputs(s, nr, items, used);
	seq_buf_puts(s, " = ");
	utrace_print_result(s, nr, utrace_call_of(nr), ret);
	if (duration >= 0)
		seq_buf_printf(s, " <%lld.%06lld>", duration / NSEC_PER_SEC,
			       duration % NSEC_PER_SEC / NSEC_PER_USEC);
}

/**
 * utrace_ftrace_print_fork() - print that the task created a thread or process
 * @s: buffer to which the text is appended
 * @child: pid of the new task
 * @flags: CLONE_ flags, with the exit signal in the low byte
 *
 * Context: Any.
 */
void utrace_ftrace_print_fork(struct seq_buf *s, pid_t child,
			      unsigned long flags)
{
	seq_buf_printf(s, "+++ %s %d created, ",
		       flags & CLONE_THREAD ? "thread" : "process", child);
	utrace_print_clone_flags(s, flags);
	seq_buf_puts(s, " +++");
}

/**
 * utrace_ftrace_print_exec() - print that the task executes another program
 * @s: buffer to which the text is appended
 * @filename: name of the program, as given to execve()
 * @items: captured items, from utrace_capture_exec()
 * @used: size of @items in bytes
 *
 * Context: Any.
 */
void utrace_ftrace_print_exec(struct seq_buf *s, const char *filename,
			      const void *items, size_t used)
{
	const struct utrace_item_creds *creds;
	const struct utrace_item *item = NULL;

	seq_buf_puts(s, "+++ exec ");
	utrace_print_string(s, filename, strlen(filename));
	while ((item = utrace_item_next(items, used, item))) {
		if (item->kind == UTRACE_ITEM_ARGV) {
			seq_buf_putc(s, ' ');
			utrace_print_argv(s, item);
		} else if (item->kind == UTRACE_ITEM_CWD) {
			seq_buf_puts(s, " cwd=");
			utrace_print_string(s, (const char *)item->data,
					    item->len);
		} else if (item->kind == UTRACE_ITEM_CREDS &&
			   item->len >= sizeof(*creds)) {
			creds = (const void *)item->data;
			seq_buf_printf(s, " uid=%u euid=%u", creds->uid,
				       creds->euid);
		}
	}
	seq_buf_puts(s, " +++");
}

/**
 * utrace_ftrace_print_end() - print that the task exits
 * @s: buffer to which the text is appended
 * @code: exit status, as from wait()
 * @exec_pid: pid of the thread whose execve() replaces the task; 0: none
 *
 * Context: Any.
 */
void utrace_ftrace_print_end(struct seq_buf *s, int code, pid_t exec_pid)
{
	if (exec_pid) {
		seq_buf_printf(s, "+++ superseded by execve in pid %d +++",
			       exec_pid);
		return;
	}
	if (!(code & 0x7f)) {
		seq_buf_printf(s, "+++ exited with %d +++", code >> 8 & 0xff);
		return;
	}
	seq_buf_puts(s, "+++ killed by ");
	utrace_print_signal(s, code & 0x7f);
	seq_buf_puts(s, code & 0x80 ? " (core dumped) +++" : " +++");
}

/**
 * utrace_ftrace_print_signal() - print that the task takes a signal
 * @s: buffer to which the text is appended
 * @sig: number of the signal
 * @code: si_code of the signal
 * @sender: pid of the sender; 0: unknown or the kernel
 * @items: captured items
 * @used: size of @items in bytes
 *
 * Context: Any.
 */
void utrace_ftrace_print_signal(struct seq_buf *s, int sig, int code,
				pid_t sender, const void *items, size_t used)
{
	seq_buf_puts(s, "--- ");
	utrace_print_signal(s, sig);
	seq_buf_printf(s, " {si_code=%d", code);
	if (sender)
		seq_buf_printf(s, ", si_pid=%d", sender);
	seq_buf_puts(s, "} ---");
	process_print_stack(s, items, used);
}

/**
 * utrace_ftrace_print_jobctl() - print that the process stops or continues
 * @s: buffer to which the text is appended
 * @type: CLD_CONTINUED, or another CLD_ code for a stop
 * @sig: number of the signal that stops the process; 0: unknown
 *
 * Context: Any.
 */
void utrace_ftrace_print_jobctl(struct seq_buf *s, int type, int sig)
{
	seq_buf_puts(s, type == CLD_CONTINUED ? "--- continued" :
						"--- stopped");
	if (sig) {
		seq_buf_puts(s, " by ");
		utrace_print_signal(s, sig);
	}
	seq_buf_puts(s, " ---");
}

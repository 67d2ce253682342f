// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: records as text, much like strace's
 */
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/wait.h>

#include "../../trace/trace_output.h"

#include "../decode/items.h"
#include "process.h"
#include "../decode/print.h"
#include "../decode/table.h"

/* What was captured beside arguments, behind the rest of the line. */
static void process_print_stack(struct seq_buf *s, const void *items,
				size_t used)
{
	const struct utrace_item *item = NULL;
	const u64 *address;
	unsigned int i;

	while ((item = utrace_item_next(items, used, item))) {
		if (item->kind == UTRACE_ITEM_RAW_STACK)
			seq_buf_printf(s, " <raw stack of %u bytes>", item->len);
		if (item->kind != UTRACE_ITEM_STACK)
			continue;
		address = (const u64 *)item->data;
		seq_buf_puts(s, " <stack");
		for (i = 0; i < item->len / sizeof(*address); i++)
			seq_buf_printf(s, " %llx", address[i]);
		seq_buf_puts(s, ">");
	}
}

void utrace_ftrace_print_entry(struct seq_buf *s, unsigned int nr,
			       const unsigned long *args, const void *items,
			       size_t used)
{
	utrace_print_call(s, nr, args, items, used);
	process_print_stack(s, items, used);
}

void utrace_ftrace_print_exit(struct seq_buf *s, unsigned int nr, long ret,
			      s64 duration, const void *items, size_t used)
{
	const struct utrace_call *call = utrace_call_of(nr);

	if (call)
		seq_buf_printf(s, "<... %s resumed>", call->name);
	else
		seq_buf_printf(s, "<... syscall_%#x resumed>", nr);
	utrace_print_outputs(s, items, used);
	seq_buf_puts(s, " = ");
	utrace_print_result(s, nr, ret);
	if (duration >= 0)
		seq_buf_printf(s, " <%lld.%06lld>", duration / NSEC_PER_SEC,
			       duration % NSEC_PER_SEC / NSEC_PER_USEC);
}

void utrace_ftrace_print_fork(struct seq_buf *s, pid_t child, unsigned long flags)
{
	seq_buf_printf(s, "+++ %s %d created, ",
		       flags & CLONE_THREAD ? "thread" : "process", child);
	utrace_print_flags(s, UTRACE_FLAGS_CLONE, flags);
	seq_buf_puts(s, " +++");
}

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
			utrace_print_string(s, (const char *)item->data, item->len);
		} else if (item->kind == UTRACE_ITEM_CREDS &&
			   item->len >= sizeof(*creds)) {
			creds = (const void *)item->data;
			seq_buf_printf(s, " uid=%u euid=%u", creds->uid,
				       creds->euid);
		}
	}
	seq_buf_puts(s, " +++");
}

void utrace_ftrace_print_end(struct seq_buf *s, int code)
{
	if (!(code & 0x7f)) {
		seq_buf_printf(s, "+++ exited with %d +++", code >> 8 & 0xff);
		return;
	}
	seq_buf_puts(s, "+++ killed by ");
	utrace_print_signal(s, code & 0x7f);
	seq_buf_puts(s, code & 0x80 ? " (core dumped) +++" : " +++");
}

void utrace_ftrace_print_signal(struct seq_buf *s, int sig, int code, pid_t sender,
				const void *items, size_t used)
{
	seq_buf_puts(s, "--- ");
	utrace_print_signal(s, sig);
	seq_buf_printf(s, " {si_code=%d", code);
	if (sender)
		seq_buf_printf(s, ", si_pid=%d", sender);
	seq_buf_puts(s, "} ---");
	process_print_stack(s, items, used);
}

void utrace_ftrace_print_jobctl(struct seq_buf *s, int type)
{
	seq_buf_puts(s, type == CLD_CONTINUED ? "--- continued ---" :
						"--- stopped ---");
}

/**
 * utrace_ftrace_print_line - the text of a record while the tracer is the current one
 * @iter: where the reader is
 *
 * Context: That of ftrace's readers.
 * Return: as ftrace wants it; TRACE_TYPE_UNHANDLED for what is not ours, or is
 * to be shown raw.
 */
enum print_line_t utrace_ftrace_print_line(struct trace_iterator *iter)
{
	const unsigned int raw = TRACE_ITER_RAW | TRACE_ITER_HEX |
				 TRACE_ITER_BIN | TRACE_ITER_FIELDS |
				 TRACE_ITER_LATENCY_FMT;
	struct trace_seq *s = &iter->seq;
	size_t len;

	if (iter->tr->trace_flags & raw || !utrace_ftrace_is_record(iter->ent))
		return TRACE_TYPE_UNHANDLED;
	if (iter->tr->trace_flags & TRACE_ITER_CONTEXT_INFO &&
	    !trace_print_context(iter))
		return TRACE_TYPE_PARTIAL_LINE;
	len = s->seq.len;
	utrace_ftrace_print_record(&s->seq, iter->ent);
	if (seq_buf_has_overflowed(&s->seq)) {
		/* As the functions of trace_seq do. */
		s->seq.len = len;
		s->full = 1;
		return TRACE_TYPE_PARTIAL_LINE;
	}
	trace_seq_putc(s, '\n');
	return trace_handle_return(s);
}

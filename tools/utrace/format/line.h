/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a line of the text of a trace
 */
#ifndef UTRACE_FORMAT_LINE_H
#define UTRACE_FORMAT_LINE_H

#include <linux/seq_buf.h>

#include "log.h"
#include "text.h"

/**
 * struct line - a line, or a part of one, that is being written
 * @s: the text, in the buffer of @out
 * @out: where the text goes
 * @before: bytes of the line in an earlier part
 */
struct line {
	struct seq_buf s;
	struct out *out;
	size_t before;
};

void line_open(struct line *line, const struct log *log, size_t data);
void line_begin(struct line *line, const struct text *text,
		const struct seen_task *task, const struct utrace_rec *rec,
		__u64 time);
void line_align_result(struct line *line, const struct text *text);
void line_close(struct line *line);
void line_end(struct line *line);
void line_write_span(struct seq_buf *s, __u64 ns, unsigned int digits);
__u64 line_since(__u64 from, __u64 to);

#endif /* UTRACE_FORMAT_LINE_H */

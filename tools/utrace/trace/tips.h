/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - tips at the end of a trace
 */
#ifndef UTRACE_TRACE_TIPS_H
#define UTRACE_TRACE_TIPS_H

#include <stdbool.h>

enum tips_format {
	TIPS_NONE,
	TIPS_COMPACT,		/* one line */
	TIPS_FULL,		/* in a frame */
};

/**
 * struct tips - the tip to show
 * @format: how it is shown
 * @chosen: @id was given; else any tip
 * @id: its number
 */
struct tips {
	enum tips_format format;
	bool chosen;
	unsigned int id;
};

bool tips_parse(struct tips *tips, const char *text);
void tips_show(const struct tips *tips);

#endif /* UTRACE_TRACE_TIPS_H */

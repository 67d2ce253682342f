/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - stacks of calls, for -k
 */
#ifndef UTRACE_FORMAT_STACK_TEXT_H
#define UTRACE_FORMAT_STACK_TEXT_H

#include <linux/utrace.h>

#include "text.h"

void stack_begin(const struct utrace_rec *rec);
void stack_text(const struct text *text, struct out *out,
		const struct utrace_rec *rec);

#endif /* UTRACE_FORMAT_STACK_TEXT_H */

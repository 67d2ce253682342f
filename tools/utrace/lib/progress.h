/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a line on the terminal that shows the progress of long work
 */
#ifndef UTRACE_LIB_PROGRESS_H
#define UTRACE_LIB_PROGRESS_H

#include <stdbool.h>

#include <linux/types.h>

/* Interval between two updates of the line. */
#define PROGRESS_MS	200

void progress_begin(bool show);
bool progress_is_due(void);
void progress_show(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void progress_end(void);
__u64 progress_ms(void);

#endif /* UTRACE_LIB_PROGRESS_H */

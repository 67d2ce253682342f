/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the output of a trace: standard error, a file or a command
 */
#ifndef UTRACE_CMD_OUTPUT_H
#define UTRACE_CMD_OUTPUT_H

#include <stdbool.h>

struct out;

void output_reserve(void);
bool output_is_command(const char *name);
struct out *output_open(const char *name, bool append);
void output_show(void);
void output_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void output_hang_up(void);
bool output_failed(void);
void output_close(void);

#endif /* UTRACE_CMD_OUTPUT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the output of a trace: standard error, a file or a command
 */
#ifndef UTRACE_OUTPUT_H
#define UTRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

void output_reserve(void);
FILE *output_open(const char *name, bool append);
bool output_failed(void);
void output_close(void);

#endif /* UTRACE_OUTPUT_H */

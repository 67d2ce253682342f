/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a summary of system calls (-c)
 */
#ifndef UTRACE_TRACE_SUMMARY_H
#define UTRACE_TRACE_SUMMARY_H

#include <stdio.h>

void summary_print(int session, FILE *out);

#endif /* UTRACE_TRACE_SUMMARY_H */

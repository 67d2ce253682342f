/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - count system calls, and sum up how long they took (-c)
 */
#ifndef UTRACE_SUMMARY_H
#define UTRACE_SUMMARY_H

#include <stdio.h>

#include <linux/utrace.h>

void summary_record(const struct utrace_rec *rec);
void summary_print(FILE *out);

#endif /* UTRACE_SUMMARY_H */

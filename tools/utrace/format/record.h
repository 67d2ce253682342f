/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - read the tasks of records
 */
#ifndef UTRACE_FORMAT_RECORD_H
#define UTRACE_FORMAT_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/utrace.h>

void record_check_number(const struct utrace_rec *rec);
pid_t record_task(const struct utrace_rec *rec);
pid_t record_child(const struct utrace_rec *rec);
bool record_is_end(const struct utrace_rec *rec);
bool record_is_exec(const struct utrace_rec *rec);
bool record_is_lost(const struct utrace_rec *rec);
bool record_is_hidden(const struct utrace_rec *rec);
bool record_is_call(const struct utrace_rec *rec, const char *name);
bool record_is_success(const struct utrace_rec *rec, __u32 nr);

#endif /* UTRACE_FORMAT_RECORD_H */

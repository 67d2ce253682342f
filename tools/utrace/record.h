/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what records tell about tasks
 */
#ifndef UTRACE_RECORD_H
#define UTRACE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/utrace.h>

size_t record_size(const void *buffer, size_t size);
pid_t record_process(const struct utrace_rec *rec);
pid_t record_task(const struct utrace_rec *rec);
pid_t record_child(const struct utrace_rec *rec);
bool record_is_end(const struct utrace_rec *rec);
bool record_is_exec(const struct utrace_rec *rec);
bool record_is_lost(const struct utrace_rec *rec);
bool record_is_call(const struct utrace_rec *rec, const char *name);
bool record_succeeded(const struct utrace_rec *rec);

#endif /* UTRACE_RECORD_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: which tasks it follows
 */
#ifndef _KERNEL_UTRACE_FTRACE_TARGETS_H
#define _KERNEL_UTRACE_FTRACE_TARGETS_H

#include "settings.h"

struct process_setting;
struct process_targets;
struct utrace_match;

const struct process_setting *
utrace_ftrace_target_setting(enum process_target_type kind);
struct utrace_match *
utrace_ftrace_make_match(const struct process_settings *settings);
void utrace_ftrace_get_targets(struct process_targets *targets);
void utrace_ftrace_put_targets(struct process_targets *targets);
void utrace_ftrace_free_settings(struct process_settings *settings);

#endif /* _KERNEL_UTRACE_FTRACE_TARGETS_H */

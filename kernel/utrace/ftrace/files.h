/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: the folder process/
 */
#ifndef _KERNEL_UTRACE_FTRACE_FILES_H
#define _KERNEL_UTRACE_FTRACE_FILES_H

struct dentry;
struct trace_array;

extern const char * const utrace_ftrace_event_names[];

void utrace_ftrace_create_files(struct trace_array *tr, struct dentry *dir);

#endif /* _KERNEL_UTRACE_FTRACE_FILES_H */

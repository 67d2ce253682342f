/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: records
 */
#ifndef _KERNEL_UTRACE_FTRACE_RECORD_H
#define _KERNEL_UTRACE_FTRACE_RECORD_H

#include <linux/trace_events.h>
#include <linux/types.h>

struct k_sigaction;
struct kernel_siginfo;
struct linux_binprm;
struct pt_regs;
struct task_struct;
struct trace_iterator;
struct utrace_engine;

u32 utrace_ftrace_sys_enter(u32 action, struct utrace_engine *engine,
			    struct pt_regs *regs);
u32 utrace_ftrace_sys_exit(u32 action, struct utrace_engine *engine,
			   struct pt_regs *regs);
void utrace_ftrace_record_fork(struct utrace_engine *engine,
			       struct task_struct *child,
			       unsigned long clone_flags);
void utrace_ftrace_record_exec(struct utrace_engine *engine,
			       const struct linux_binprm *bprm,
			       struct pt_regs *regs);
void utrace_ftrace_record_end(struct utrace_engine *engine, long code);
void utrace_ftrace_record_signal(struct utrace_engine *engine,
				 const struct kernel_siginfo *info,
				 const struct k_sigaction *ka,
				 struct pt_regs *regs);
void utrace_ftrace_record_jobctl(struct utrace_engine *engine, int type,
				 int notify);
enum print_line_t utrace_ftrace_print_line(struct trace_iterator *iter);

#endif /* _KERNEL_UTRACE_FTRACE_RECORD_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about signals */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H

#include <linux/signal.h>
#include <linux/signalfd.h>
#include <asm/sigcontext.h>

/* rt_sigaction(): the mask of x32 is aligned as that of i386. */
struct rt_sigaction {
	unsigned long handler;
	unsigned long flags;
	unsigned long restorer;
	__u32 mask[2];
};

/* What the stack pointer points to at rt_sigreturn(). */
struct rt_frame {
#ifdef __i386__
	int signal;
	void *info_at;
	void *context_at;
	siginfo_t info;
#endif
	unsigned long flags;
	void *link;
	stack_t stack;
	struct sigcontext registers;
	__u32 mask[2];
};

/* sigaction() of i386. */
struct old_sigaction {
	unsigned long handler;
	unsigned long mask;
	unsigned long flags;
	unsigned long restorer;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about signals */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H

/* rt_sigaction() */
struct rt_sigaction {
	unsigned long handler;
	unsigned long flags;
	unsigned long restorer;
	__u64 mask;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SIGNALS_H */

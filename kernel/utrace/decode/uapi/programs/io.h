/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of io_uring, AIO, BPF and perf */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H

#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>

/* io_submit() */
struct iocb_pointer {
	struct iocb *pointer;
};

/* io_pgetevents() */
struct aio_sigset {
	const void *sigmask;
	unsigned long sigsetsize;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H */

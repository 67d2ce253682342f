/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of io_uring, AIO, BPF and perf */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_IO_H */

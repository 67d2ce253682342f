/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about processes and memory */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H */

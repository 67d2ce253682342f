/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about time */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H

#include <linux/ioprio.h>
#include <linux/timex.h>

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H */

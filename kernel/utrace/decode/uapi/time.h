/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KERNEL_UTRACE_DECODE_TIME_H
#define _KERNEL_UTRACE_DECODE_TIME_H

#include <linux/time.h>

typedef __kernel_old_time_t time_t;

#endif /* _KERNEL_UTRACE_DECODE_TIME_H */

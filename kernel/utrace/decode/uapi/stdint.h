/* SPDX-License-Identifier: GPL-2.0 */
/* Types of the C library that headers for programs use. */
#ifndef _KERNEL_UTRACE_DECODE_STDINT_H
#define _KERNEL_UTRACE_DECODE_STDINT_H

#include <linux/types.h>

typedef __u8 uint8_t;
typedef __u16 uint16_t;
typedef __u32 uint32_t;
typedef __u64 uint64_t;
typedef __s8 int8_t;
typedef __s16 int16_t;
typedef __s32 int32_t;
typedef __s64 int64_t;
typedef unsigned long uintptr_t;
typedef __kernel_size_t size_t;

#endif /* _KERNEL_UTRACE_DECODE_STDINT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - kernel types and macros for the sources shared with the kernel
 *
 * The headers of shim/ replace the kernel headers of the same names, with no
 * more than kernel/utrace/decode needs.
 */
#ifndef SHIM_LINUX_TYPES_H
#define SHIM_LINUX_TYPES_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/array_size.h>
#include_next <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define ALIGN(n, a)	(((n) + (a) - 1) & ~((typeof(n))(a) - 1))
#define BIT(n)		(1UL << (n))
#define BIT_ULL(n)	(1ULL << (n))
#define IS_ERR_VALUE(n)	((unsigned long)(n) >= (unsigned long)-4095)
#define WARN_ON_ONCE(c)	(c)
#define fallthrough	__attribute__((fallthrough))
#define __user
#define noinline_for_stack __attribute__((noinline))

#endif

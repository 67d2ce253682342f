/* SPDX-License-Identifier: GPL-2.0 */
/* Unlike those of tools/utrace/shim these evaluate each argument once. */
#ifndef BY_PTRACE_LINUX_MINMAX_H
#define BY_PTRACE_LINUX_MINMAX_H

#define min_t(type, a, b) ({ type __a = (a), __b = (b); __a < __b ? __a : __b; })
#define max_t(type, a, b) ({ type __a = (a), __b = (b); __a > __b ? __a : __b; })
#define min(a, b)	min_t(__typeof__((a) + (b)), a, b)
#define max(a, b)	max_t(__typeof__((a) + (b)), a, b)
#define min3(a, b, c)	min(min(a, b), c)
#define max3(a, b, c)	max(max(a, b), c)
#define umin(a, b)	min_t(unsigned long, a, b)
#define umax(a, b)	max_t(unsigned long, a, b)
#define clamp(n, low, high)		min(max(n, low), high)
#define clamp_t(type, n, low, high)	min_t(type, max_t(type, n, low), high)

#endif

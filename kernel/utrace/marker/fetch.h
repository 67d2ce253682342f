/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: fetching an argument at a hit, inline */
#ifndef _KERNEL_UTRACE_MARKER_FETCH_H
#define _KERNEL_UTRACE_MARKER_FETCH_H

#include <linux/types.h>
#include <uapi/linux/utrace_marker.h>

#include <asm/ptrace.h>

#include "marker.h"

/* The 64 bits at @offset of the registers. */
static __always_inline u64 marker_reg(const struct pt_regs *regs, u16 offset)
{
	return *(const u64 *)((const void *)regs + offset);
}

/* Extend the low bytes of @value to 64 bits. */
static __always_inline u64 marker_extend(const struct marker_fetch *fetch,
					 u64 value)
{
	value <<= fetch->shift;
	return fetch->is_signed ? (s64)value >> fetch->shift :
				  value >> fetch->shift;
}

/*
 * Fetch an argument, extended to 64 bits, without sleeping.  If its memory is
 * not present, sets *@to to 0 and returns false.
 */
static __always_inline bool marker_fetch(const struct marker_fetch *fetch,
					 const struct pt_regs *regs, u64 *to)
{
	if (likely(fetch->kind == UTRACE_ARG_REG)) {
		*to = marker_extend(fetch, marker_reg(regs, fetch->reg));
		return true;
	}
	return utrace_marker_fetch_other(fetch, regs, to);
}

#endif /* _KERNEL_UTRACE_MARKER_FETCH_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: fetching an argument at a hit */
#ifndef _KERNEL_UTRACE_MARKER_FETCH_H
#define _KERNEL_UTRACE_MARKER_FETCH_H

#include <linux/types.h>
#include <uapi/linux/utrace_marker.h>

#include <asm/ptrace.h>

/* Used instead of an offset: no register. */
#define MARKER_NO_OFFSET	U16_MAX

/**
 * struct marker_fetch - a struct utrace_marker_arg, prepared for fast fetching
 * @disp: see struct utrace_marker_arg
 * @reg: offset of the register in struct pt_regs, or %MARKER_NO_OFFSET
 * @index: offset of the index register in struct pt_regs, or %MARKER_NO_OFFSET
 * @kind: see struct utrace_marker_arg
 * @scale: see struct utrace_marker_arg
 * @shift: number of upper bits that the value does not have
 * @is_signed: the value is sign-extended
 */
struct marker_fetch {
	s64 disp;
	u16 reg;
	u16 index;
	u8 kind;
	u8 scale;
	u8 shift;
	bool is_signed;
};

bool utrace_marker_arg_is_valid(const struct utrace_marker_arg *arg);
struct marker_fetch utrace_marker_fetch_of(const struct utrace_marker_arg *arg);
bool utrace_marker_fetch_other(const struct marker_fetch *fetch,
			       const struct pt_regs *regs, u64 *to);

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

// SPDX-License-Identifier: GPL-2.0
/* utrace - markers: descriptions of arguments */
#include <linux/log2.h>
#include <linux/math.h>
#include <linux/perf_regs.h>
#include <linux/uaccess.h>

#include "fetch.h"

static bool fetch_reg_is_valid(u8 reg)
{
	return reg == UTRACE_ARG_NO_REG || (reg < PERF_REG_X86_64_MAX &&
					       reg != PERF_REG_X86_DS &&
					       reg != PERF_REG_X86_ES &&
					       reg != PERF_REG_X86_FS &&
					       reg != PERF_REG_X86_GS);
}

/**
 * utrace_marker_arg_is_valid() - check the description of an argument
 * @arg: the description
 *
 * Context: Any.
 * Return: true if it is valid.
 */
bool utrace_marker_arg_is_valid(const struct utrace_marker_arg *arg)
{
	unsigned int size = abs(arg->size);

	if (size > 8 || !is_power_of_2(size) || arg->reserved[0] ||
	    arg->reserved[1] || arg->reserved[2] ||
	    !fetch_reg_is_valid(arg->reg) || !fetch_reg_is_valid(arg->index))
		return false;
	switch (arg->kind) {
	case UTRACE_ARG_CONST:
		return arg->reg == UTRACE_ARG_NO_REG &&
		       arg->index == UTRACE_ARG_NO_REG && !arg->scale;
	case UTRACE_ARG_REG:
		return arg->reg != UTRACE_ARG_NO_REG &&
		       arg->index == UTRACE_ARG_NO_REG && !arg->scale &&
		       !arg->disp;
	case UTRACE_ARG_MEM:
		return arg->index == UTRACE_ARG_NO_REG ?
		       !arg->scale :
		       arg->scale <= 8 && is_power_of_2(arg->scale);
	default:
		return false;
	}
}

/* The offset of a register in struct pt_regs. */
static u16 fetch_offset(u8 reg)
{
	struct pt_regs regs;
	u64 *at = (u64 *)&regs;
	unsigned int i;

	if (reg == UTRACE_ARG_NO_REG)
		return MARKER_NO_OFFSET;
	/*
	 * perf_reg_value() finds the offset: each register has its offset as
	 * its value.
	 */
	for (i = 0; i < sizeof(regs) / sizeof(*at); i++)
		at[i] = i * sizeof(*at);
	return perf_reg_value(&regs, reg);
}

/**
 * utrace_marker_fetch_of() - prepare fetching an argument
 * @arg: the description of the argument, which is valid
 *
 * Context: Any.
 * Return: the argument of marker_fetch().
 */
struct marker_fetch utrace_marker_fetch_of(const struct utrace_marker_arg *arg)
{
	return (struct marker_fetch){
		.disp = arg->disp,
		.reg = fetch_offset(arg->reg),
		.index = fetch_offset(arg->index),
		.kind = arg->kind,
		.scale = arg->scale,
		.shift = 64 - 8 * abs(arg->size),
		.is_signed = arg->size < 0,
	};
}

static unsigned long fetch_address(const struct marker_fetch *fetch,
				   const struct pt_regs *regs)
{
	unsigned long at = fetch->disp;

	if (fetch->reg != MARKER_NO_OFFSET)
		at += marker_reg(regs, fetch->reg);
	if (fetch->index != MARKER_NO_OFFSET)
		at += marker_reg(regs, fetch->index) * fetch->scale;
	return at;
}

/**
 * utrace_marker_fetch_other() - fetch an argument that is not in a register
 * @fetch: the argument
 * @regs: the registers of the current task at the marker
 * @to: gets the value, extended to 64 bits; 0 if its memory is not present
 *
 * Context: The task itself; does not sleep.
 * Return: false if the memory is not present.
 */
bool utrace_marker_fetch_other(const struct marker_fetch *fetch,
			       const struct pt_regs *regs, u64 *to)
{
	const void __user *at = (void __user *)fetch_address(fetch, regs);
	u64 value = 0;

	*to = 0;
	if (fetch->kind == UTRACE_ARG_CONST)
		value = fetch->disp;
	else if (copy_from_user_nofault(&value, at,
					sizeof(value) - fetch->shift / 8))
		return false;
	*to = marker_extend(fetch, value);
	return true;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: what goes along with one event
 *
 * The front-end of clients that record events.  A client begins with an empty
 * capture, names what it is to hold, and frees it when the record is written.
 * Memory is allocated when the first thing is taken, since most events have
 * nothing to take.
 */
#include <linux/slab.h>

#include "../decode/table.h"
#include "capture.h"

/**
 * utrace_capture_start - have room for items
 * @c: the capture, by UTRACE_CAPTURE_INIT()
 *
 * Without memory the record goes without, which is counted in @c->lost.
 *
 * Context: May sleep.
 * Return: true if there is room, also from an earlier call.
 */
bool utrace_capture_start(struct utrace_capture *c)
{
	if (c->data)
		return true;
	c->data = kmalloc(UTRACE_CAPTURE_SIZE, GFP_KERNEL);
	if (!c->data)
		c->lost++;
	return c->data;
}

/**
 * utrace_capture_call - take what a system call is given
 * @c: the capture, by UTRACE_CAPTURE_INIT()
 * @nr: the number of the call, see utrace_call_of()
 * @args: its arguments
 * @what: %UTRACE_CAPTURE_STRINGS and the like
 *
 * Context: At the entry of the call, in the task itself.  May fault and sleep.
 */
void utrace_capture_call(struct utrace_capture *c, unsigned int nr,
			 const unsigned long args[6], unsigned int what)
{
	const struct utrace_call *call = utrace_call_of(nr);

	if (call && utrace_capture_takes(call, false, what) &&
	    utrace_capture_start(c))
		utrace_capture_entry(c, call, args, what);
}

/**
 * utrace_capture_result - take what a system call gave
 * @c: the capture, by UTRACE_CAPTURE_INIT()
 * @nr: the number of the call
 * @args: its arguments
 * @result: what it returned
 * @what: %UTRACE_CAPTURE_STRINGS and the like
 *
 * Context: At the exit of the call, in the task itself.  May fault and sleep.
 */
void utrace_capture_result(struct utrace_capture *c, unsigned int nr,
			   const unsigned long args[6], long result,
			   unsigned int what)
{
	const struct utrace_call *call = utrace_call_of(nr);

	if (call && utrace_capture_takes(call, true, what) &&
	    utrace_capture_start(c))
		utrace_capture_exit(c, call, args, result, what);
}

/**
 * utrace_capture_stacks - take the user stack
 * @c: the capture, by UTRACE_CAPTURE_INIT()
 * @regs: the registers of the current task
 * @what: %UTRACE_CAPTURE_STACK, %UTRACE_CAPTURE_RAW_STACK, both or none
 *
 * Context: The task itself.  May fault and sleep.
 */
void utrace_capture_stacks(struct utrace_capture *c, struct pt_regs *regs,
			   unsigned int what)
{
	if (!(what & (UTRACE_CAPTURE_STACK | UTRACE_CAPTURE_RAW_STACK)) ||
	    !utrace_capture_start(c))
		return;
	if (what & UTRACE_CAPTURE_STACK)
		utrace_capture_stack(c, regs);
	if (what & UTRACE_CAPTURE_RAW_STACK)
		utrace_capture_raw_stack(c, regs);
}

/**
 * utrace_capture_free - the record is written
 * @c: the capture
 *
 * Context: Any.
 */
void utrace_capture_free(struct utrace_capture *c)
{
	kfree(c->data);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: what goes along with one event
 *
 * Clients that record events begin here.  A client has an empty capture on its
 * stack (UTRACE_CAPTURE_INIT), calls a function for each thing that the record
 * is to have, and frees the capture when the record is written.  The buffer is
 * allocated by the first function that finds something to capture, since most
 * events have nothing.
 *
 * The memory cgroup of the task is charged: a client may keep a capture with the
 * task, until the exit of a call that waits for example.
 *
 * The first buffer is small.  A client may allow a larger one, which few events
 * need: if the small one was too small, the arguments are captured once more.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "../decode/table.h"
#include "capture.h"

/**
 * utrace_capture_start() - allocate the buffer of a capture
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 *
 * If there is no memory, @c->lost is incremented and the record goes without
 * items.
 *
 * Context: The task itself; may sleep.
 * Return:
 * * true - there is a buffer, from this call or from an earlier one
 * * false - there is no memory
 */
bool utrace_capture_start(struct utrace_capture *c)
{
	if (c->data)
		return true;
	c->data = kmalloc(UTRACE_CAPTURE_SIZE, GFP_KERNEL_ACCOUNT);
	if (!c->data)
		c->lost++;
	return c->data;
}

/*
 * Replace the buffer by the largest one that the client allows.  There is room
 * for one more header behind ->size.  Return false if there is none or no
 * memory; the capture is as before then.
 */
static bool capture_grow(struct utrace_capture *c)
{
	u8 *data;

	if (c->size >= c->most)
		return false;
	data = kmalloc(c->most + sizeof(struct utrace_item),
		       GFP_KERNEL_ACCOUNT);
	if (!data)
		return false;
	memcpy(data, c->data, c->used);
	kfree(c->data);
	c->data = data;
	c->size = c->most;
	return true;
}

/*
 * If a larger buffer would hold more of what was captured, begin anew with one.
 * Return false if the capture is to stay as it is.
 */
static bool capture_again(struct utrace_capture *c)
{
	if (!c->cut || !capture_grow(c))
		return false;
	c->used = 0;
	c->lost = 0;
	c->cut = false;
	return true;
}

/**
 * utrace_capture_call() - capture what a system call reads
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @nr: number of the call, as for utrace_call_of()
 * @args: arguments of the call, from utrace_current_args()
 * @what: UTRACE_CAPTURE_ bits
 *
 * Context: report_syscall_entry of the task itself; may fault and sleep.
 */
void utrace_capture_call(struct utrace_capture *c, unsigned int nr,
			 const unsigned long args[6], unsigned int what)
{
	const struct utrace_call *call = utrace_call_of(nr);

	if (!call || !utrace_capture_takes(call, false, what) ||
	    !utrace_capture_start(c))
		return;
	do {
		utrace_capture_entry(c, call, args, what);
	} while (capture_again(c));
}

/**
 * utrace_capture_result() - capture what a system call wrote
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @nr: number of the call, as for utrace_call_of()
 * @args: arguments of the call, as at its entry
 * @result: result of the call; after an error nothing is captured
 * @what: UTRACE_CAPTURE_ bits
 *
 * Context: report_syscall_exit of the task itself; may fault and sleep.
 */
void utrace_capture_result(struct utrace_capture *c, unsigned int nr,
			   const unsigned long args[6], long result,
			   unsigned int what)
{
	const struct utrace_call *call = utrace_call_of(nr);

	if (!call || !utrace_capture_takes(call, true, what) ||
	    !utrace_capture_start(c))
		return;
	c->exit = true;
	do {
		utrace_capture_exit(c, call, args, result, what);
	} while (capture_again(c));
}

/**
 * utrace_capture_stacks() - capture the user stack
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @regs: registers of the current task
 * @what: UTRACE_CAPTURE_STACK, UTRACE_CAPTURE_RAW_STACK, both or none of them;
 *	other bits are ignored
 *
 * Context: A callback of the task itself; may fault and sleep.
 */
void utrace_capture_stacks(struct utrace_capture *c, struct pt_regs *regs,
			   unsigned int what)
{
	if (!(what & (UTRACE_CAPTURE_STACK | UTRACE_CAPTURE_RAW_STACK)) ||
	    !utrace_capture_start(c))
		return;
	/* Long arguments leave the stacks as much room as short ones. */
	if (c->size - c->used <
	    2 * (sizeof(struct utrace_item) + UTRACE_ITEM_SIZE))
		capture_grow(c);
	if (what & UTRACE_CAPTURE_STACK)
		utrace_capture_stack(c, regs);
	if (what & UTRACE_CAPTURE_RAW_STACK)
		utrace_capture_raw_stack(c, regs);
}

/**
 * utrace_capture_program() - capture the program that the task has got
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @ns: see utrace_capture_exec(), which captures it
 *
 * Context: report_exec of the task itself; may fault and sleep.
 */
void utrace_capture_program(struct utrace_capture *c,
			    struct user_namespace *ns)
{
	if (!utrace_capture_start(c))
		return;
	do {
		utrace_capture_exec(c, ns);
	} while (capture_again(c));
}

/**
 * utrace_capture_free() - free the buffer of a capture
 * @c: the capture, from UTRACE_CAPTURE_INIT(); the record has been written
 *
 * Context: Any but NMI.
 */
void utrace_capture_free(struct utrace_capture *c)
{
	kfree(c->data);
}

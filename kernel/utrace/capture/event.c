// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: captures of clients that record events
 *
 * A client has an empty capture on its stack (UTRACE_CAPTURE_INIT), calls a
 * function for each kind of data that the record shall contain, and frees the
 * capture after the record is written.  The buffer is allocated by the first
 * function that finds something to capture, since most events have nothing.
 *
 * The buffer is charged to the memory cgroup of the task, because a client may
 * keep a capture with the task, for example until the exit of a call that
 * waits.
 *
 * The first buffer is small.  A client may allow a larger one, which few events
 * need: if the small one was too small, the arguments are captured again.
 */
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../decode/table.h"
#include "item.h"

/**
 * utrace_capture_start() - allocate the buffer of a capture
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 *
 * If out of memory, this increments @c->lost, and the record has no items.
 *
 * Context: The task itself; may sleep.
 * Return:
 * * true - there is a buffer, from this or from an earlier call
 * * false - out of memory
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
 * Replace the buffer by the largest one that the client allows.  The allocation
 * includes room for one header after ->size.  Return false, without a change,
 * if no larger one is allowed or if out of memory.
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
 * If a larger buffer would hold more of the arguments, reset the capture and
 * use one.  Return false if the capture is final.
 */
static bool capture_again(struct utrace_capture *c)
{
	if (!c->cut || !capture_grow(c))
		return false;
	c->used = 0;
	c->items = 0;
	c->lost = 0;
	c->cut = false;
	return true;
}

/**
 * struct unpacked - the call whose arguments are captured
 * @call: its row
 * @args: its arguments
 * @unpack: how the task passed them to another call, for example socketcall();
 *	NULL: the task made this call itself
 * @words: if @unpack is set, the arguments that the task passed in memory
 * @unpacked: if @unpack is set, what @args points to
 */
struct unpacked {
	const struct utrace_call *call;
	const unsigned long *args;
	const struct utrace_unpack *unpack;
	u32 words[UTRACE_CALL_ARGS];
	unsigned long unpacked[UTRACE_CALL_ARGS];
};

/*
 * Find the call that @call stands for.  Its arguments in memory count as
 * structures, so it is @call itself if the client does not ask for structures,
 * and if the arguments cannot be read.
 */
static void unpack(struct unpacked *u, const struct utrace_call *call,
		   const unsigned long args[6], unsigned int what)
{
	const struct utrace_unpack *how = utrace_unpack_of(call);
	const void __user *from;

	u->call = call;
	u->args = args;
	u->unpack = NULL;
	if (!how || !(what & UTRACE_CAPTURE_STRUCTS))
		return;
	/* The other call may have fewer arguments than utrace_unpack() fills in. */
	memset(u->words, 0, sizeof(u->words));
	from = (const void __user *)(unsigned long)(u32)args[how->memory];
	if (copy_from_user(u->words, from, how->words * sizeof(u32)))
		return;
	u->call = utrace_unpack(call, args, u->words, u->unpacked);
	u->args = u->unpacked;
	u->unpack = how;
}

static void capture_words(struct utrace_capture *c, const struct unpacked *u)
{
	size_t len = u->unpack->words * sizeof(u32);
	struct utrace_item *item;

	item = utrace_item_begin(c, UTRACE_ITEM_ARGS, UTRACE_ITEM_NO_ARG, len);
	if (!item)
		return;
	memcpy(item->data, u->words, len);
	utrace_item_end(c, item, len, len, 0);
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
	const struct utrace_call *call = utrace_call_by_command(nr, args);
	struct unpacked u __uninitialized;

	if (!call || !(call->takes_in & what) || !utrace_capture_start(c))
		return;
	unpack(&u, call, args, what);
	do {
		if (u.unpack && u.unpack->words)
			capture_words(c, &u);
		utrace_capture_entry(c, u.call, utrace_abi_of(nr), u.args, what);
	} while (capture_again(c));
}

/**
 * utrace_capture_result() - capture what a system call wrote
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @nr: number of the call, as for utrace_call_of()
 * @args: arguments of the call, as at its entry
 * @result: result of the call; after an error only memory that the call writes
 *	nevertheless is captured
 * @what: UTRACE_CAPTURE_ bits
 *
 * Context: report_syscall_exit of the task itself; may fault and sleep.
 */
void utrace_capture_result(struct utrace_capture *c, unsigned int nr,
			   const unsigned long args[6], long result,
			   unsigned int what)
{
	const struct utrace_call *call = utrace_call_by_command(nr, args);
	struct unpacked u __uninitialized;

	if (!call || !(call->takes_out & what) || !utrace_capture_start(c))
		return;
	unpack(&u, call, args, what);
	c->exit = true;
	do {
		utrace_capture_exit(c, u.call, utrace_abi_of(nr), u.args, result,
				    what);
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
	/* Long arguments do not reduce the room for the stacks. */
	if (c->size - c->used <
	    2 * (sizeof(struct utrace_item) + UTRACE_ITEM_SIZE))
		capture_grow(c);
	if (what & UTRACE_CAPTURE_STACK)
		utrace_capture_stack(c, regs);
	if (what & UTRACE_CAPTURE_RAW_STACK)
		utrace_capture_raw_stack(c, regs);
}

/**
 * utrace_capture_program() - capture the program after an exec
 * @c: the capture, from UTRACE_CAPTURE_INIT()
 * @ns: user namespace of the reader, see utrace_capture_exec()
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
 * @c: the capture, from UTRACE_CAPTURE_INIT(), after its record was written
 *
 * Context: Any but NMI.
 */
void utrace_capture_free(struct utrace_capture *c)
{
	kfree(c->data);
}

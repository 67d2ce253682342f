// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: memory that arguments of a system call point to
 *
 * The table of system calls (decode/table.h) describes what each argument
 * points to.  Memory that the call reads is captured at its entry, memory that
 * it writes at its exit.
 */
#include <linux/bits.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/minmax.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>

#include "../decode/table.h"
#include "item.h"

/*
 * Maximum number of strings that are counted.  It bounds the work, since a
 * program may pass an array of any length.
 */
#define STRINGS		0x10000

/* Read entry @i of a user array of pointers to strings; false after a fault. */
static bool get_string_pointer(const char __user **to,
			       const void __user *array, size_t i)
{
	const compat_uptr_t __user *narrow = array;
	const char __user *const __user *wide = array;
	compat_uptr_t pointer;

	if (!in_compat_syscall())
		return !get_user(*to, wide + i);
	if (get_user(pointer, narrow + i))
		return false;
	*to = compat_ptr(pointer);
	return true;
}

/*
 * Count the pointers of @array from the one with number @i on, up to STRINGS of
 * them.  Return the number of all pointers of @array.
 */
static size_t count_strings(const void __user *array, size_t i,
			    unsigned int *flags)
{
	const char __user *string;

	for (; i < STRINGS; i++) {
		if (!get_string_pointer(&string, array, i)) {
			*flags |= UTRACE_ITEM_F_OPEN;
			break;
		}
		if (!string)
			break;
	}
	return i;
}

/*
 * Copy the strings of @array, each with a NUL, even if it is truncated.  Count
 * them in @n.
 */
static size_t copy_strings(char *to, size_t room, const void __user *array,
			   size_t *n, unsigned int *flags)
{
	const char __user *string;
	size_t i, done = 0;

	for (i = 0; !*flags; i++) {
		if (!get_string_pointer(&string, array, i)) {
			*flags |= UTRACE_ITEM_F_FAULTED;
			break;
		}
		if (!string)
			break;
		if (done == room) {
			*flags |= UTRACE_ITEM_F_TRUNCATED;
			break;
		}
		done += utrace_copy_string(to + done, string, room - done - 1,
					   flags);
		to[done++] = '\0';
	}
	*n = count_strings(array, i, flags);
	return done;
}

static void capture_argv(struct utrace_capture *c, unsigned int arg,
			 const void __user *array)
{
	unsigned int flags = 0;
	struct utrace_item *item;
	size_t len, n;

	item = utrace_item_begin(c, UTRACE_ITEM_ARGV, arg, 0);
	if (!item)
		return;
	len = copy_strings(item->data, utrace_item_room(c), array, &n, &flags);
	item->index = n;
	utrace_item_end(c, item, len, len, flags);
}

/**
 * utrace_capture_sockaddr() - capture a socket address
 * @c: the capture, with a buffer
 * @arg: number of the argument that points there
 * @from: the address in user memory; any value
 * @len: its length; any value.  A negative length captures nothing, and one
 *	above that of struct sockaddr_storage is reduced to it
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_capture_sockaddr(struct utrace_capture *c, unsigned int arg,
			     const void __user *from, int len)
{
	if (len >= 0)
		utrace_capture_memory(c, UTRACE_ITEM_SOCKADDR, arg, from,
				      min_t(size_t, len, sizeof(struct sockaddr_storage)));
}

/*
 * Capture an address that the call wrote.  @stored points to the length, which
 * the call wrote, too.  If the address did not fit into the program's buffer,
 * the length exceeds the buffer, and memory after it is captured as well.
 */
static void capture_out_sockaddr(struct utrace_capture *c, unsigned int arg,
				 const void __user *from,
				 const int __user *stored)
{
	int len;

	if (stored && !get_user(len, stored))
		utrace_capture_sockaddr(c, arg, from, len);
}

/*
 * The UTRACE_CAPTURE_ bit of an argument; 0 if it is fully described by its
 * value.
 */
static unsigned int what_takes(const struct utrace_arg *arg)
{
	switch (arg->type) {
	case UTRACE_ARG_PATH:
	case UTRACE_ARG_STRING:
	case UTRACE_ARG_ARGV:
		return UTRACE_CAPTURE_STRINGS;
	case UTRACE_ARG_IN:
	case UTRACE_ARG_OUT:
		return UTRACE_CAPTURE_BUFFERS;
	case UTRACE_ARG_SOCKADDR:
	case UTRACE_ARG_OUT_SOCKADDR:
		return UTRACE_CAPTURE_SOCKETS;
	case UTRACE_ARG_FD:
	case UTRACE_ARG_DFD:
		return UTRACE_CAPTURE_FILES;
	case UTRACE_ARG_STRUCT:
		return utrace_memories[arg->len].what;
	default:
		return 0;
	}
}

/*
 * Return true if argument @i must be captured.  A null pointer need not be,
 * since its value is printed.  Descriptor 0 is captured like any other.  The
 * frame of a handler is at the stack pointer, so no argument points to it.
 */
static bool takes_arg(const struct utrace_call *call,
		      const unsigned long args[6], unsigned int i,
		      unsigned int what)
{
	what &= what_takes(&call->arg[i]);
	if (call->arg[i].type == UTRACE_ARG_STRUCT &&
	    utrace_memories[call->arg[i].len].flags & UTRACE_MEMORY_FRAME)
		return what;
	return what && (args[i] || what == UTRACE_CAPTURE_FILES);
}

/* Return true if the result of the call is the length of its memory. */
static bool has_result_length(const struct utrace_arg *a)
{
	return !(a->len & UTRACE_LEN_FIXED) &&
	       (a->len & UTRACE_LEN_ARG) == UTRACE_LEN_RESULT;
}

/* Return true if the call ignores the upper half of a register. */
static bool is_narrow(const struct utrace_arg *a)
{
	return a->type == UTRACE_ARG_INT ||
	       (a->type == UTRACE_ARG_SIZE && a->len == sizeof(u32));
}

/*
 * Length of the memory that argument @i describes.  For UTRACE_LEN_RESULT this
 * is the result, or 0 if the call failed.
 */
static size_t length_of(const struct utrace_call *call,
			const unsigned long args[6], unsigned int i, long result)
{
	const struct utrace_arg *a = &call->arg[i];

	if (a->len & UTRACE_LEN_FIXED)
		return a->len & ~UTRACE_LEN_FIXED;
	if (has_result_length(a))
		return max(result, 0L);
	i = a->len & UTRACE_LEN_ARG;
	return is_narrow(&call->arg[i]) ? (u32)args[i] : args[i];
}

/* Return true if the call refuses this length before it reads the memory. */
static bool is_too_long(const struct utrace_arg *a, size_t len)
{
	unsigned int most;

	if (a->len & UTRACE_LEN_FIXED)
		return false;
	most = (a->len & UTRACE_LEN_MOST) >> UTRACE_LEN_MOST_SHIFT;
	return most && len > BIT(most);
}

static void capture_in(struct utrace_capture *c,
		       const struct utrace_call *call,
		       const unsigned long args[6], unsigned int i)
{
	const struct utrace_arg *a = &call->arg[i];
	void __user *from = (void __user *)args[i];
	size_t len;

	switch (a->type) {
	case UTRACE_ARG_PATH:
	case UTRACE_ARG_STRING:
		utrace_capture_string(c, i, from);
		break;
	case UTRACE_ARG_ARGV:
		capture_argv(c, i, from);
		break;
	case UTRACE_ARG_IN:
		len = length_of(call, args, i, 0);
		if (!is_too_long(a, len))
			utrace_capture_bytes(c, i, from, len);
		break;
	case UTRACE_ARG_SOCKADDR:
		utrace_capture_sockaddr(c, i, from, length_of(call, args, i, 0));
		break;
	case UTRACE_ARG_DFD:
		if ((int)args[i] == AT_FDCWD) {
			utrace_capture_cwd(c, UTRACE_ITEM_FILE, i);
			break;
		}
		fallthrough;
	case UTRACE_ARG_FD:
		utrace_capture_file(c, i, args[i]);
		break;
	}
}

static void capture_out(struct utrace_capture *c,
			const struct utrace_call *call,
			const unsigned long args[6], unsigned int i,
			long result)
{
	const struct utrace_arg *a = &call->arg[i];
	void __user *from = (void __user *)args[i];
	size_t len;

	switch (a->type) {
	case UTRACE_ARG_OUT:
		len = length_of(call, args, i, result);
		/* The result may be what a larger buffer would have taken. */
		if (has_result_length(a) && i + 1 < call->nargs &&
		    call->arg[i + 1].type == UTRACE_ARG_SIZE) {
			if (a->len & UTRACE_LEN_QUERY && !args[i + 1])
				break;
			len = min_t(size_t, len, args[i + 1]);
		}
		utrace_capture_bytes(c, i, from, len);
		break;
	case UTRACE_ARG_OUT_SOCKADDR:
		capture_out_sockaddr(c, i, from, (const int __user *)
				     length_of(call, args, i, 0));
		break;
	}
}

/*
 * Capture the structures of argument @i if the call uses them in one of the
 * @ways, UTRACE_MEMORY_ bits.
 */
static void capture_structs(struct utrace_capture *c, const struct utrace_arg *a,
			    enum utrace_abi abi, const unsigned long args[6],
			    unsigned int i, long result, unsigned int ways,
			    unsigned int what)
{
	const struct utrace_memory *memory = &utrace_memories[a->len];

	if (memory->flags & ways)
		utrace_capture_structs(c, i, memory, abi, args, result, what);
}

/**
 * utrace_capture_entry() - capture what a system call reads
 * @c: the capture
 * @call: row of the call
 * @abi: ABI of the call
 * @args: arguments of the call, from utrace_current_args()
 * @what: UTRACE_CAPTURE_ bits
 *
 * Another thread may change the memory before the call reads it.
 *
 * Context: report_syscall_entry of the task itself; may fault and sleep.
 */
void utrace_capture_entry(struct utrace_capture *c,
			  const struct utrace_call *call, enum utrace_abi abi,
			  const unsigned long args[6], unsigned int what)
{
	unsigned int i;

	for (i = 0; i < call->nargs; i++) {
		if (!takes_arg(call, args, i, what))
			continue;
		if (call->arg[i].type == UTRACE_ARG_STRUCT)
			capture_structs(c, &call->arg[i], abi, args, i, 0,
					UTRACE_MEMORY_IN, what);
		else
			capture_in(c, call, args, i);
	}
	/* The files of sets may be many, so the arguments have room first. */
	if (!(what & UTRACE_CAPTURE_FILES))
		return;
	for (i = 0; i < call->nargs; i++)
		if (call->arg[i].type == UTRACE_ARG_STRUCT && args[i])
			utrace_capture_files(c, i,
					     &utrace_memories[call->arg[i].len],
					     args);
}

/**
 * utrace_capture_exit() - capture what a system call wrote
 * @c: the capture
 * @call: row of the call
 * @abi: ABI of the call
 * @args: arguments of the call, as at its entry
 * @result: result of the call; after an error only memory that the call writes
 *	nevertheless is captured
 * @what: UTRACE_CAPTURE_ bits
 *
 * Context: report_syscall_exit of the task itself; may fault and sleep.
 */
void utrace_capture_exit(struct utrace_capture *c,
			 const struct utrace_call *call, enum utrace_abi abi,
			 const unsigned long args[6], long result,
			 unsigned int what)
{
	unsigned int ways = IS_ERR_VALUE(result) ? UTRACE_MEMORY_ALWAYS :
						   UTRACE_MEMORY_OUT;
	unsigned int i;

	if (result == -ERESTART_RESTARTBLOCK)
		ways |= UTRACE_MEMORY_RESTART;

	for (i = 0; i < call->nargs; i++) {
		if (!takes_arg(call, args, i, what))
			continue;
		if (call->arg[i].type == UTRACE_ARG_STRUCT)
			capture_structs(c, &call->arg[i], abi, args, i, result,
					ways, what);
		else if (!IS_ERR_VALUE(result))
			capture_out(c, call, args, i, result);
	}
	if (call->result.type == UTRACE_ARG_FD && what & UTRACE_CAPTURE_FILES &&
	    !IS_ERR_VALUE(result))
		utrace_capture_file(c, UTRACE_ITEM_NO_ARG, result);
}

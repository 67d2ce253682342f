// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: what the arguments of a system call point to
 *
 * Nothing that a task says is believed: pointers may lead anywhere, lengths
 * may be of any size, and the memory may change while it is read.  Each byte
 * is read once, and how much is read depends on the room alone.
 *
 * The buffer and what fills it belong to the task whose event it is, so there
 * is nothing to lock.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/thread_info.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "capture_item.h"
#include "syscall_table.h"

/* An item starts at a multiple of this. */
#define ITEM_ALIGN	8

/* So many entries of an array of struct iovec are looked at. */
#define IOVECS		8

/* The header has no holes, and the largest item leaves the next one aligned. */
static_assert(sizeof(struct utrace_item) == 16);
static_assert(IS_ALIGNED(UTRACE_CAPTURE_ITEM, ITEM_ALIGN));
static_assert(IS_ALIGNED(UTRACE_CAPTURE_SIZE, ITEM_ALIGN));

/* Items */

/**
 * utrace_capture_init - begin a capture
 * @c: the capture
 * @data: where its items go, aligned like a u64
 * @size: bytes of @data; more than %UTRACE_CAPTURE_SIZE are not used
 *
 * Context: Any.
 */
void utrace_capture_init(struct utrace_capture *c, void *data, size_t size)
{
	size = min_t(size_t, size, UTRACE_CAPTURE_SIZE);
	*c = (struct utrace_capture) {
		.data = data,
		.size = ALIGN_DOWN(size, ITEM_ALIGN),
	};
}

/**
 * utrace_item_begin - begin an item
 * @c: the capture
 * @kind: what the item is
 * @arg: which argument it is of, or %UTRACE_ITEM_NO_ARG
 * @least: without so many bytes behind the header it is of no use
 *
 * Context: Any.
 * Return: the item, to be given to utrace_item_end(); NULL if there is no room
 * for it, which is counted.
 */
struct utrace_item *utrace_item_begin(struct utrace_capture *c,
				      enum utrace_item_kind kind,
				      unsigned int arg, size_t least)
{
	struct utrace_item *item = (struct utrace_item *)(c->data + c->used);

	if (c->size - c->used < sizeof(*item) + least) {
		if (c->lost < U16_MAX)
			c->lost++;
		return NULL;
	}
	*item = (struct utrace_item) { .kind = kind, .arg = arg };
	return item;
}

/**
 * utrace_item_room - how many bytes the item that was begun may have
 * @c: the capture
 *
 * Context: Any; after a utrace_item_begin() that gave an item.
 * Return: the number of bytes.
 */
size_t utrace_item_room(const struct utrace_capture *c)
{
	size_t left = c->size - c->used;

	return min_t(size_t, left, UTRACE_CAPTURE_ITEM) -
	       sizeof(struct utrace_item);
}

/**
 * utrace_item_end - add the item that was begun to the capture
 * @c: the capture
 * @item: from utrace_item_begin()
 * @len: bytes that were written, at most utrace_item_room()
 * @whole: see &struct utrace_item
 * @flags: %UTRACE_ITEM_TRUNCATED and %UTRACE_ITEM_FAULTED
 *
 * Context: Any.
 */
void utrace_item_end(struct utrace_capture *c, struct utrace_item *item,
		     size_t len, size_t whole, unsigned int flags)
{
	size_t end = ALIGN(len, ITEM_ALIGN);

	memset(item->data + len, 0, end - len);
	item->len = len;
	item->whole = whole;
	item->flags = flags;
	c->used += sizeof(*item) + end;
}

/* Memory */

/* Of @n bytes at @at, how many are in its page? */
static size_t bytes_in_page(const void __user *at, size_t n)
{
	return min_t(size_t, n, PAGE_SIZE - offset_in_page(at));
}

/**
 * utrace_copy_memory - copy the current task's memory as far as there is some
 * @to: where to, @n bytes
 * @from: where from
 * @n: how many bytes
 *
 * Goes page by page: a copy that reaches beyond the end of the address space
 * would be refused as a whole.
 *
 * Context: The task's own; may fault and sleep.
 * Return: how many bytes were copied; fewer than @n after a fault.
 */
size_t utrace_copy_memory(void *to, const void __user *from, size_t n)
{
	size_t done = 0;

	while (done < n) {
		size_t part = bytes_in_page(from + done, n - done);
		size_t left = copy_from_user(to + done, from + done, part);

		done += part - left;
		if (left)
			break;
	}
	return done;
}

/*
 * Copy a string without its NUL, @n bytes of it at most.  Goes page by page:
 * no page behind the NUL is touched, and what is before a fault is kept.
 */
static size_t copy_string(char *to, const char __user *from, size_t n,
			  unsigned int *flags)
{
	size_t done = 0;
	char next;

	while (done < n) {
		size_t part = bytes_in_page(from + done, n - done);
		long got = strncpy_from_user(to + done, from + done, part);

		if (got < 0) {
			*flags |= UTRACE_ITEM_FAULTED;
			return done;
		}
		done += got;
		if (got < part)
			return done;
	}
	if (get_user(next, from + done))
		*flags |= UTRACE_ITEM_FAULTED;
	else if (next)
		*flags |= UTRACE_ITEM_TRUNCATED;
	return done;
}

/**
 * utrace_capture_string - take a string from the current task's memory
 * @c: the capture
 * @arg: which argument it is of
 * @from: where it is
 *
 * Context: The task's own; may fault and sleep.
 */
void utrace_capture_string(struct utrace_capture *c, unsigned int arg,
			   const char __user *from)
{
	struct utrace_item *item;
	unsigned int flags = 0;
	size_t len;

	item = utrace_item_begin(c, UTRACE_ITEM_STRING, arg, 0);
	if (!item)
		return;
	len = copy_string(item->data, from, utrace_item_room(c), &flags);
	utrace_item_end(c, item, len, len, flags);
}

/**
 * utrace_capture_memory - take memory of the current task
 * @c: the capture
 * @kind: what it is
 * @arg: which argument it is of, or %UTRACE_ITEM_NO_ARG
 * @from: where it is
 * @len: how many bytes, any number
 *
 * Context: The task's own; may fault and sleep.
 */
void utrace_capture_memory(struct utrace_capture *c,
			   enum utrace_item_kind kind, unsigned int arg,
			   const void __user *from, size_t len)
{
	struct utrace_item *item = utrace_item_begin(c, kind, arg, 0);
	unsigned int flags = 0;
	size_t want, got;

	if (!item)
		return;
	want = min(len, utrace_item_room(c));
	got = utrace_copy_memory(item->data, from, want);
	if (got < want)
		flags |= UTRACE_ITEM_FAULTED;
	else if (want < len)
		flags |= UTRACE_ITEM_TRUNCATED;
	utrace_item_end(c, item, got, len, flags);
}

/**
 * utrace_capture_bytes - take memory of the current task as it is
 * @c: the capture
 * @arg: which argument it is of
 * @from: where it is
 * @len: how many bytes, any number
 *
 * Context: The task's own; may fault and sleep.
 */
void utrace_capture_bytes(struct utrace_capture *c, unsigned int arg,
			  const void __user *from, size_t len)
{
	utrace_capture_memory(c, UTRACE_ITEM_BYTES, arg, from, len);
}

/* Arguments of system calls */

/* Entry @i of an array of struct iovec; false if there is no memory. */
static bool get_iovec(struct iovec *to, const void __user *array, size_t i)
{
	const struct compat_iovec __user *narrow = array;
	const struct iovec __user *wide = array;
	struct compat_iovec iov;

	if (!in_compat_syscall())
		return !copy_from_user(to, wide + i, sizeof(*to));
	if (copy_from_user(&iov, narrow + i, sizeof(iov)))
		return false;
	to->iov_base = compat_ptr(iov.iov_base);
	to->iov_len = iov.iov_len;
	return true;
}

/* Gather @most bytes at most; fills @whole and @flags. */
static size_t copy_iovecs(void *to, size_t room, const void __user *array,
			  size_t count, size_t most, size_t *whole,
			  unsigned int *flags)
{
	size_t i, len, part, got, done = 0;
	struct iovec iov;

	for (i = 0; i < count && *whole < most; i++) {
		if (i == IOVECS) {
			*flags |= UTRACE_ITEM_TRUNCATED;
			break;
		}
		if (!get_iovec(&iov, array, i)) {
			*flags |= UTRACE_ITEM_FAULTED;
			break;
		}
		len = min_t(size_t, iov.iov_len, most - *whole);
		*whole += len;
		part = min(len, room - done);
		got = utrace_copy_memory(to + done, iov.iov_base, part);
		done += got;
		if (got < part) {
			*flags |= UTRACE_ITEM_FAULTED;
			break;
		}
		if (part < len)
			*flags |= UTRACE_ITEM_TRUNCATED;
	}
	return done;
}

static void capture_iovecs(struct utrace_capture *c, unsigned int arg,
			   const void __user *array, size_t count, size_t most)
{
	unsigned int flags = 0;
	struct utrace_item *item;
	size_t len, whole = 0;

	item = utrace_item_begin(c, UTRACE_ITEM_BYTES, arg, 0);
	if (!item)
		return;
	len = copy_iovecs(item->data, utrace_item_room(c), array, count, most,
			  &whole, &flags);
	utrace_item_end(c, item, len, whole, flags);
}

/* Entry @i of an array of pointers to strings; false if there is no memory. */
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

/* There is a NUL even behind a string that is cut off. */
static size_t copy_strings(char *to, size_t room, const void __user *array,
			   unsigned int *flags)
{
	const char __user *string;
	size_t i, done = 0;

	for (i = 0; !*flags; i++) {
		if (!get_string_pointer(&string, array, i)) {
			*flags |= UTRACE_ITEM_FAULTED;
			break;
		}
		if (!string)
			break;
		if (done == room) {
			*flags |= UTRACE_ITEM_TRUNCATED;
			break;
		}
		done += copy_string(to + done, string, room - done - 1, flags);
		to[done++] = '\0';
	}
	return done;
}

static void capture_argv(struct utrace_capture *c, unsigned int arg,
			 const void __user *array)
{
	unsigned int flags = 0;
	struct utrace_item *item;
	size_t len;

	item = utrace_item_begin(c, UTRACE_ITEM_ARGV, arg, 0);
	if (!item)
		return;
	len = copy_strings(item->data, utrace_item_room(c), array, &flags);
	utrace_item_end(c, item, len, len, flags);
}

/* The kernel takes no address that is longer, and none of negative length. */
static void capture_sockaddr(struct utrace_capture *c, unsigned int arg,
			     const void __user *from, int len)
{
	if (len >= 0 && len <= sizeof(struct sockaddr_storage))
		utrace_capture_memory(c, UTRACE_ITEM_SOCKADDR, arg, from, len);
}

/*
 * The length that the call stored may be that of an address that did not fit:
 * then what is behind the program's buffer is taken along.
 */
static void capture_out_sockaddr(struct utrace_capture *c, unsigned int arg,
				 const void __user *from,
				 const int __user *stored)
{
	int len;

	if (stored && !get_user(len, stored))
		capture_sockaddr(c, arg, from, len);
}

/* What to ask for to get an argument of this type; 0 if it says all itself. */
static unsigned int what_takes(enum utrace_arg_type type)
{
	switch (type) {
	case UTRACE_ARG_PATH:
	case UTRACE_ARG_STRING:
	case UTRACE_ARG_ARGV:
		return UTRACE_CAPTURE_STRINGS;
	case UTRACE_ARG_IN:
	case UTRACE_ARG_OUT:
	case UTRACE_ARG_IN_IOVEC:
	case UTRACE_ARG_OUT_IOVEC:
		return UTRACE_CAPTURE_BUFFERS;
	case UTRACE_ARG_SOCKADDR:
	case UTRACE_ARG_OUT_SOCKADDR:
		return UTRACE_CAPTURE_SOCKETS;
	case UTRACE_ARG_FD:
	case UTRACE_ARG_DFD:
		return UTRACE_CAPTURE_FILES;
	default:
		return 0;
	}
}

/* Is argument @i wanted?  A null pointer is known as such without a capture. */
static bool takes_arg(const struct utrace_call *call,
		      const unsigned long args[6], unsigned int i,
		      unsigned int what)
{
	what &= what_takes(call->arg[i].type);
	return what && (args[i] || what == UTRACE_CAPTURE_FILES);
}

/* How long, or how many, is what @a describes? */
static size_t length_of(const struct utrace_arg *a, const unsigned long args[6],
			long result)
{
	if (a->len & UTRACE_LEN_FIXED)
		return a->len & ~UTRACE_LEN_FIXED;
	if (a->len < UTRACE_CALL_ARGS)
		return args[a->len];
	return max(result, 0L);
}

static void capture_in(struct utrace_capture *c, const struct utrace_arg *a,
		       const unsigned long args[6], unsigned int i)
{
	void __user *from = (void __user *)args[i];
	size_t len = length_of(a, args, 0);

	switch (a->type) {
	case UTRACE_ARG_PATH:
	case UTRACE_ARG_STRING:
		utrace_capture_string(c, i, from);
		break;
	case UTRACE_ARG_ARGV:
		capture_argv(c, i, from);
		break;
	case UTRACE_ARG_IN:
		utrace_capture_bytes(c, i, from, len);
		break;
	case UTRACE_ARG_IN_IOVEC:
		capture_iovecs(c, i, from, len, SIZE_MAX);
		break;
	case UTRACE_ARG_SOCKADDR:
		capture_sockaddr(c, i, from, len);
		break;
	case UTRACE_ARG_DFD:
		if ((int)args[i] == AT_FDCWD)
			break;
		fallthrough;
	case UTRACE_ARG_FD:
		utrace_capture_file(c, i, args[i]);
		break;
	}
}

static void capture_out(struct utrace_capture *c, const struct utrace_arg *a,
			const unsigned long args[6], unsigned int i,
			long result)
{
	void __user *from = (void __user *)args[i];
	size_t len = length_of(a, args, result);

	switch (a->type) {
	case UTRACE_ARG_OUT:
		utrace_capture_bytes(c, i, from, len);
		break;
	case UTRACE_ARG_OUT_IOVEC:
		capture_iovecs(c, i, from, len, max(result, 0L));
		break;
	case UTRACE_ARG_OUT_SOCKADDR:
		capture_out_sockaddr(c, i, from, (const int __user *)len);
		break;
	}
}

/**
 * utrace_capture_entry - take what a system call is given
 * @c: the capture
 * @call: the system call
 * @args: its arguments, by utrace_args_now()
 * @what: %UTRACE_CAPTURE_STRINGS and the like
 *
 * Another thread may change the memory before the call reads it.
 *
 * Context: report_syscall_entry of the task; may fault and sleep.
 */
void utrace_capture_entry(struct utrace_capture *c,
			  const struct utrace_call *call,
			  const unsigned long args[6], unsigned int what)
{
	unsigned int i;

	for (i = 0; i < call->nargs; i++) {
		if (takes_arg(call, args, i, what))
			capture_in(c, &call->arg[i], args, i);
	}
}

/**
 * utrace_capture_exit - take what a system call gives
 * @c: the capture
 * @call: the system call
 * @args: its arguments, as they were at its entry
 * @result: its result; nothing is taken if that is an error
 * @what: %UTRACE_CAPTURE_BUFFERS and the like
 *
 * Context: report_syscall_exit of the task; may fault and sleep.
 */
void utrace_capture_exit(struct utrace_capture *c,
			 const struct utrace_call *call,
			 const unsigned long args[6], long result,
			 unsigned int what)
{
	unsigned int i;

	if (IS_ERR_VALUE(result))
		return;
	for (i = 0; i < call->nargs; i++) {
		if (takes_arg(call, args, i, what))
			capture_out(c, &call->arg[i], args, i, result);
	}
}

static bool is_output(enum utrace_arg_type type)
{
	return type == UTRACE_ARG_OUT || type == UTRACE_ARG_OUT_IOVEC ||
	       type == UTRACE_ARG_OUT_SOCKADDR;
}

/**
 * utrace_capture_takes - is there anything to take of a system call?
 * @call: the system call
 * @exit: at its exit, not at its entry
 * @what: %UTRACE_CAPTURE_STRINGS and the like
 *
 * Context: Any.
 * Return: false if utrace_capture_entry() or utrace_capture_exit() does nothing
 * for this call, whatever its arguments.
 */
bool utrace_capture_takes(const struct utrace_call *call, bool exit,
			  unsigned int what)
{
	unsigned int i;

	for (i = 0; i < call->nargs; i++)
		if (what & what_takes(call->arg[i].type) &&
		    is_output(call->arg[i].type) == exit)
			return true;
	return false;
}

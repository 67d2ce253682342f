// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: items, and copies of user memory into them
 *
 * Pointers and lengths of a task are not trusted: a pointer may have any value,
 * so may a length, and the memory may change while it is read.  Each byte is
 * read once, and only the room in the buffer bounds how much is read.
 *
 * Only the task whose event is captured uses the buffer, so there is no lock.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "item.h"

/* Alignment of each item. */
#define ITEM_ALIGN	8

/* An item of the largest size leaves the next item aligned. */
static_assert(IS_ALIGNED(sizeof(struct utrace_item), ITEM_ALIGN));
static_assert(IS_ALIGNED(UTRACE_ITEM_SIZE, ITEM_ALIGN));
static_assert(IS_ALIGNED(UTRACE_CAPTURE_SIZE, ITEM_ALIGN));
/* Three arguments of a call and a stack fit, each of the largest size. */
static_assert(4 * (sizeof(struct utrace_item) + UTRACE_ITEM_SIZE) <=
	      UTRACE_CAPTURE_SIZE);

/* Items */

/**
 * utrace_capture_init() - begin a capture in a buffer provided by the caller
 * @c: the capture
 * @data: the buffer, aligned like a u64
 * @size: bytes of @data; at most UTRACE_CAPTURE_SIZE of them are used
 *
 * Context: Any.
 */
void utrace_capture_init(struct utrace_capture *c, void *data, size_t size)
{
	size = min_t(size_t, size, UTRACE_CAPTURE_SIZE);
	*c = (struct utrace_capture)
		UTRACE_CAPTURE_INIT(ALIGN_DOWN(size, ITEM_ALIGN));
	c->data = data;
}

/* Maximum bytes of an item of a kind, without its header. */
static size_t item_most(const struct utrace_capture *c,
			enum utrace_item_kind kind)
{
	switch (kind) {
	case UTRACE_ITEM_STRING:
	case UTRACE_ITEM_FILE:
	case UTRACE_ITEM_ARGV:
	case UTRACE_ITEM_EXE:
	case UTRACE_ITEM_CWD:
	case UTRACE_ITEM_STRUCT:
		return c->strings;
	case UTRACE_ITEM_BYTES:
		return c->buffers;
	default:
		return UTRACE_ITEM_SIZE;
	}
}

/**
 * utrace_item_begin() - begin an item
 * @c: the capture, with a buffer
 * @kind: kind of the item
 * @arg: number of the argument that the item belongs to, or UTRACE_ITEM_NO_ARG
 * @least: minimum bytes after the header for the item to be useful
 *
 * Context: Any.
 * Return:
 * * the item - pass it to utrace_item_end()
 * * NULL - there is no room for it; @c->lost was incremented
 */
struct utrace_item *utrace_item_begin(struct utrace_capture *c,
				      enum utrace_item_kind kind,
				      unsigned int arg, size_t least)
{
	struct utrace_item *item = (struct utrace_item *)(c->data + c->used);

	if (c->size - c->used < sizeof(*item) + least) {
		if (c->lost < U16_MAX)
			c->lost++;
		c->cut = true;
		return NULL;
	}
	*item = (struct utrace_item) {
		.kind = kind,
		.arg = arg,
		.flags = c->exit ? UTRACE_ITEM_F_OUT : 0,
		.parent = c->inner.parent ?
			  c->items + 1 - c->inner.parent : 0,
		.field = c->inner.field,
		.index = c->inner.index,
	};
	return item;
}

/**
 * utrace_item_room() - get the room for data in the item that was begun
 * @c: the capture, for which utrace_item_begin() has returned an item
 *
 * Context: Any.
 * Return: the number of bytes.
 */
size_t utrace_item_room(const struct utrace_capture *c)
{
	const struct utrace_item *item = (void *)(c->data + c->used);
	size_t left = c->size - c->used - sizeof(*item);

	return min(left, item_most(c, item->kind));
}

/**
 * utrace_item_end() - add the item that was begun to the capture
 * @c: the capture
 * @item: the item, from utrace_item_begin()
 * @len: bytes that were written after the header, at most utrace_item_room()
 * @whole: see &struct utrace_item
 * @flags: UTRACE_ITEM_F_TRUNCATED, UTRACE_ITEM_F_FAULTED and UTRACE_ITEM_F_OPEN
 *
 * Context: Any.
 */
void utrace_item_end(struct utrace_capture *c, struct utrace_item *item,
		     size_t len, size_t whole, unsigned int flags)
{
	size_t end = ALIGN(len, ITEM_ALIGN);

	if (flags & UTRACE_ITEM_F_TRUNCATED &&
	    c->size - c->used < sizeof(*item) + item_most(c, item->kind))
		c->cut = true;
	memset(item->data + len, 0, end - len);
	item->len = len;
	item->whole = whole;
	item->flags |= flags;
	c->items++;
	c->used += sizeof(*item) + end;
}

/* Memory */

/* Return how many of the @n bytes at @at are in the page of @at. */
static size_t bytes_in_page(const void __user *at, size_t n)
{
	return min_t(size_t, n, PAGE_SIZE - offset_in_page(at));
}

/**
 * utrace_copy_memory() - copy memory of the current task up to the first fault
 * @to: destination, @n bytes
 * @from: source in user memory; any value
 * @n: number of bytes
 *
 * Copies page by page, since copy_from_user() copies nothing of a range that
 * leaves the address space.
 *
 * Context: The task itself; may fault and sleep.
 * Return: number of bytes copied; fewer than @n after a fault.
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

/**
 * utrace_copy_string() - copy a string of the current task without its NUL
 * @to: destination, @n bytes
 * @from: source in user memory; any value
 * @n: maximum number of bytes to copy
 * @flags: UTRACE_ITEM_F_TRUNCATED or UTRACE_ITEM_F_FAULTED is added if it
 *	applies
 *
 * Copies page by page, so that no page after the NUL is touched, and all whole
 * pages before a fault are kept.
 *
 * Context: The task itself; may fault and sleep.
 * Return: number of bytes copied.
 */
size_t utrace_copy_string(char *to, const char __user *from, size_t n,
			  unsigned int *flags)
{
	size_t done = 0;
	char next;

	while (done < n) {
		size_t part = bytes_in_page(from + done, n - done);
		long got = strncpy_from_user(to + done, from + done, part);

		if (got < 0) {
			*flags |= UTRACE_ITEM_F_FAULTED;
			return done;
		}
		done += got;
		if (got < part)
			return done;
	}
	if (get_user(next, from + done))
		*flags |= UTRACE_ITEM_F_FAULTED;
	else if (next)
		*flags |= UTRACE_ITEM_F_TRUNCATED;
	return done;
}

/**
 * utrace_capture_string() - capture a string of the current task
 * @c: the capture, with a buffer
 * @arg: number of the argument that points to the string
 * @from: the string in user memory; any value
 *
 * Context: The task itself; may fault and sleep.
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
	len = utrace_copy_string(item->data, from, utrace_item_room(c), &flags);
	utrace_item_end(c, item, len, len, flags);
}

/*
 * Return true if the bytes from @at on are in a page that cannot be read.  The
 * byte before @at was read, so only the begin of a page is tried.
 */
static bool ends_before(const u8 __user *at)
{
	u8 next;

	return !offset_in_page(at) && copy_from_user(&next, at, sizeof(next));
}

/**
 * utrace_capture_memory() - capture memory of the current task as an item
 * @c: the capture, with a buffer
 * @kind: kind of the item
 * @arg: number of the argument that points there, or UTRACE_ITEM_NO_ARG
 * @from: start of the user memory; any value
 * @len: bytes of the memory; any value; bytes without room are omitted
 *
 * Context: The task itself; may fault and sleep.
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
	if (got < want || (want && want < len && ends_before(from + want)))
		flags |= UTRACE_ITEM_F_FAULTED;
	else if (want < len)
		flags |= UTRACE_ITEM_F_TRUNCATED;
	utrace_item_end(c, item, got, len, flags);
}

/**
 * utrace_capture_bytes() - capture memory of the current task as plain bytes
 * @c: the capture, with a buffer
 * @arg: number of the argument that points there
 * @from: start of the user memory; any value
 * @len: bytes of the memory; any value; bytes without room are omitted
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_capture_bytes(struct utrace_capture *c, unsigned int arg,
			  const void __user *from, size_t len)
{
	utrace_capture_memory(c, UTRACE_ITEM_BYTES, arg, from, len);
}

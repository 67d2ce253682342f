// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: items, and how the memory of the current task gets into them
 *
 * Nothing that a task says is believed: pointers may lead anywhere, lengths
 * may be of any size, and the memory may change while it is read.  Each byte
 * is read once, and how much is read depends on the room alone.
 *
 * The buffer and what fills it belong to the task whose event is captured, so
 * there is nothing to lock.
 */
#include <linux/align.h>
#include <linux/build_bug.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "item.h"

/* An item starts at a multiple of this. */
#define ITEM_ALIGN	8

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

/**
 * utrace_copy_string - copy a string of the current task without its NUL
 * @to: where to, @n bytes
 * @from: where from
 * @n: how many bytes at most
 * @flags: %UTRACE_ITEM_TRUNCATED and %UTRACE_ITEM_FAULTED are added
 *
 * Goes page by page: no page behind the NUL is touched, and what is before a
 * fault is kept.
 *
 * Context: The task's own; may fault and sleep.
 * Return: how many bytes were copied.
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
	len = utrace_copy_string(item->data, from, utrace_item_room(c), &flags);
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

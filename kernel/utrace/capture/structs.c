// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - capture: structures that arguments of a system call point to
 *
 * decode/tables/ describes the structures by ABI: their sizes, and the members
 * that point to further memory.  Such memory becomes an item of its own, after
 * the item with the pointer.  Pointers and lengths are read from that item and
 * not again from the memory of the task, since another thread may change it.
 * So the client sees the pointers and lengths that were used.
 *
 * The functions that follow pointers are recursive.  table.awk reports layouts
 * that lead to more than 4 structures one after another, so the stack suffices.
 */
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/ptrace.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../decode/items.h"
#include "item.h"

/*
 * Maximum number of bits of a set, which bounds its length.  A process has no
 * more descriptors unless fs.nr_open is raised.
 */
#define BITS_MAX	(1024 * 1024)

/**
 * struct walk - what all structures of an argument have in common
 * @c: the capture
 * @arg: number of the argument
 * @abi: ABI of the call
 * @what: UTRACE_CAPTURE_ bits
 * @flat: do not follow pointers
 * @left: bytes that the call has written to the memory behind pointers with
 *	@limited, without those that were captured; U64_MAX: no limit
 */
struct walk {
	struct utrace_capture *c;
	unsigned int arg;
	enum utrace_abi abi;
	unsigned int what;
	bool flat;
	u64 left;
};

static void capture_layout(struct walk *w, const struct utrace_layout *layout,
			   const void __user *from, size_t len);

/* An unsigned number of @size bytes at @from, which need not be aligned. */
static u64 number_at(const u8 *from, unsigned int size)
{
	u64 number = 0;

	memcpy(&number, from, min_t(size_t, size, sizeof(number)));
	return number;
}

/* The length of the memory behind @pointer in an element, in its unit. */
static u64 length_in(const struct walk *w, const struct utrace_pointer *pointer,
		     const u8 *element)
{
	if (!pointer->count_size[w->abi])
		return pointer->count;
	return number_at(element + pointer->count_at[w->abi],
			 pointer->count_size[w->abi]);
}

/* The number of bits of a set of descriptors, from what the call says. */
static unsigned int descriptors(u64 length)
{
	return clamp_t(int, length, 0, BITS_MAX);
}

/* Convert the length of structures from @unit to bytes. */
static size_t bytes_of(const struct utrace_layout *layout, enum utrace_abi abi,
		       enum utrace_unit unit, u64 length)
{
	switch (unit) {
	case UTRACE_UNIT_ONE:
		return layout->size[abi];
	case UTRACE_UNIT_ELEMENTS:
	case UTRACE_UNIT_POINTED_ELEMENTS:
	case UTRACE_UNIT_FIXED:
		return size_mul(layout->size[abi], length);
	case UTRACE_UNIT_PAGES:
		return size_mul(layout->size[abi],
				DIV_ROUND_UP(length, PAGE_SIZE));
	case UTRACE_UNIT_AFTER:
		return size_add(layout->size[abi], length);
	case UTRACE_UNIT_BITS:
		return round_up(DIV_ROUND_UP(descriptors(length), BITS_PER_BYTE),
				layout->size[abi] ?: 1);
	default:
		return length;
	}
}

/*
 * Capture the memory behind @pointer, which is in an element of an item.  The
 * element was at @base.
 */
static void follow(struct walk *w, const struct utrace_pointer *pointer,
		   const u8 *element, const void __user *base)
{
	const struct utrace_layout *layout = &utrace_layouts[pointer->layout];
	u64 address = pointer->size[w->abi] ?
		number_at(element + pointer->at[w->abi], pointer->size[w->abi]) :
		(unsigned long)base + pointer->at[w->abi];
	u64 length = length_in(w, pointer, element);
	void __user *from = (void __user *)(unsigned long)address;

	if (pointer->kind == UTRACE_ITEM_FILE) {
		if (!(w->what & UTRACE_CAPTURE_FILES))
			return;
		w->c->inner.field = pointer->at[w->abi];
		utrace_capture_file(w->c, w->arg, address);
		return;
	}
	if (!from)
		return;
	if (pointer->limited && w->left != U64_MAX) {
		length = min(length, w->left);
		w->left -= length;
	}
	w->c->inner.field = pointer->at[w->abi];
	switch (pointer->kind) {
	case UTRACE_ITEM_STRING:
		if (w->what & UTRACE_CAPTURE_STRINGS)
			utrace_capture_string(w->c, w->arg, from);
		break;
	case UTRACE_ITEM_BYTES:
		if (w->what & UTRACE_CAPTURE_BUFFERS)
			utrace_capture_bytes(w->c, w->arg, from, length);
		break;
	case UTRACE_ITEM_SOCKADDR:
		if (w->what & UTRACE_CAPTURE_SOCKETS)
			utrace_capture_sockaddr(w->c, w->arg, from, length);
		break;
	case UTRACE_ITEM_STRUCT:
		capture_layout(w, layout, from,
			       bytes_of(layout, w->abi, pointer->unit, length));
		break;
	}
}

/* Are @pointer and the length of its memory in @len bytes of an element? */
static bool is_within(const struct walk *w, const struct utrace_pointer *pointer,
		      size_t len)
{
	return pointer->at[w->abi] + pointer->size[w->abi] <= len &&
	       pointer->count_at[w->abi] + pointer->count_size[w->abi] <= len;
}

/*
 * Capture what the pointers of the elements of @item, which were at @from, point
 * to.  A program may pass a structure of an older version, which is shorter than
 * that of the table: follow the pointers that are in it.
 */
static void follow_all(struct walk *w, const struct utrace_layout *layout,
		       const struct utrace_item *item, const void __user *from)
{
	unsigned int size = layout->size[w->abi], parent = w->c->items, i, n;
	const u8 *element = item->data;
	bool is_short = item->len && item->len < size &&
			!(item->flags & UTRACE_ITEM_F_FAULTED);

	for (n = 0; n < item->len / size + is_short; n++, element += size) {
		if (layout->limit_at[w->abi] && w->c->exit && !is_short)
			w->left = number_at(element + layout->limit_at[w->abi],
					    sizeof(u32));
		for (i = 0; i < layout->npointers; i++) {
			const struct utrace_pointer *pointer =
				&utrace_pointers[layout->pointer + i];

			if (is_short && !is_within(w, pointer, item->len))
				continue;
			w->c->inner.parent = parent;
			w->c->inner.index = n;
			follow(w, pointer, element, from + n * size);
		}
	}
}

/* Capture @len bytes of structures at @from, and what they point to. */
static void capture_layout(struct walk *w, const struct utrace_layout *layout,
			   const void __user *from, size_t len)
{
	struct utrace_item *item = (struct utrace_item *)(w->c->data +
							  w->c->used);
	unsigned int items = w->c->items;

	if (!layout->size[w->abi])
		return;
	utrace_capture_memory(w->c, UTRACE_ITEM_STRUCT, w->arg, from, len);
	if (w->c->items != items && layout->npointers && !w->flat)
		follow_all(w, layout, item, from);
}

/*
 * The item with the structures of argument @arg, or NULL.  @n is set to its
 * number, from 1.
 */
static const struct utrace_item *item_of(const struct utrace_capture *c,
					 unsigned int arg, unsigned int *n)
{
	const struct utrace_item *item = NULL;

	*n = 0;
	while ((item = utrace_item_next(c->data, c->used, item))) {
		(*n)++;
		if (item->kind == UTRACE_ITEM_STRUCT && item->arg == arg &&
		    !item->parent)
			break;
	}
	return item;
}

/**
 * utrace_capture_files() - capture the files of a set of descriptors
 * @c: the capture, which may have the set
 * @arg: number of the argument that points to the set
 * @memory: row of the structures; if they are no set, nothing is captured
 * @args: arguments of the call
 *
 * Ends at the first file without room.  The call fails if the set cannot be
 * read, so it uses none of the files.
 *
 * Context: The task itself; may sleep.
 */
void utrace_capture_files(struct utrace_capture *c, unsigned int arg,
			  const struct utrace_memory *memory,
			  const unsigned long args[6])
{
	const struct utrace_item *set;
	unsigned int parent, n, fd;
	u16 lost = c->lost;

	if (memory->unit != UTRACE_UNIT_BITS)
		return;
	set = item_of(c, arg, &parent);
	if (!set || set->flags & UTRACE_ITEM_F_FAULTED)
		return;
	n = min_t(size_t, descriptors(args[memory->arg]),
		  BITS_PER_BYTE * (size_t)set->len);
	for (fd = 0; fd < n && c->lost == lost; fd++) {
		if (!(set->data[fd / BITS_PER_BYTE] & BIT(fd % BITS_PER_BYTE)))
			continue;
		c->inner.parent = parent;
		c->inner.index = fd;
		utrace_capture_file(c, arg, fd);
	}
	memset(&c->inner, 0, sizeof(c->inner));
}

/*
 * Read the length that the memory at argument @memory->arg contains: from its
 * item if it has one, so that the length is the one that the client sees.
 */
static bool pointed_length(const struct utrace_capture *c,
			   const struct utrace_memory *memory,
			   enum utrace_abi abi, const unsigned long args[6],
			   int *length)
{
	size_t at = memory->at[abi];
	const struct utrace_item *item;
	unsigned int n;

	item = item_of(c, memory->arg, &n);
	if (item && at + sizeof(*length) <= item->len) {
		memcpy(length, item->data + at, sizeof(*length));
		return true;
	}
	return args[memory->arg] &&
	       !get_user(*length, (const int __user *)(args[memory->arg] + at));
}

/*
 * Get the length of the memory in its unit.  Return false if it is in memory of
 * the task that cannot be read, or negative, or more than the call takes.
 */
static bool get_length(const struct utrace_capture *c,
		       const struct utrace_memory *memory, enum utrace_abi abi,
		       const unsigned long args[6], long result, u64 *length)
{
	int pointed;

	if (memory->unit == UTRACE_UNIT_FIXED) {
		*length = memory->arg;
	} else if (memory->arg == UTRACE_LEN_RESULT) {
		*length = max(result, 0L);
	} else if (memory->unit == UTRACE_UNIT_POINTED ||
		   memory->unit == UTRACE_UNIT_POINTED_ELEMENTS) {
		if (!pointed_length(c, memory, abi, args, &pointed) ||
		    pointed < 0)
			return false;
		*length = pointed;
	} else {
		*length = args[memory->arg];
		if (memory->flags & UTRACE_MEMORY_INT)
			*length = (u32)*length;
	}
	return !memory->most || *length <= BIT_ULL(memory->most);
}

/*
 * Count the records in @len bytes at @from.  A program may have changed them, so
 * a record that is shorter than its head, or longer than the rest, ends the
 * count.
 */
static u32 count_records(const struct utrace_layout *layout, enum utrace_abi abi,
			 const void __user *from, size_t len)
{
	size_t head = layout->size[abi], at = 0;
	u16 reclen;
	u32 n = 0;

	while (n < U16_MAX && head <= len - at) {
		if (get_user(reclen, (const u16 __user *)(from + at + head -
							  sizeof(reclen))) ||
		    reclen < head || reclen > len - at)
			break;
		at += reclen;
		n++;
	}
	return n;
}

/**
 * utrace_capture_structs() - capture structures that an argument points to
 * @c: the capture, with a buffer
 * @arg: number of the argument
 * @memory: row of the structures
 * @abi: ABI of the call
 * @args: arguments of the call
 * @result: result of the call, 0 at its entry
 * @what: UTRACE_CAPTURE_ bits, which apply to the memory behind pointers in the
 *	structures, too
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_capture_structs(struct utrace_capture *c, unsigned int arg,
			    const struct utrace_memory *memory,
			    enum utrace_abi abi, const unsigned long args[6],
			    long result, unsigned int what)
{
	const struct utrace_layout *layout = &utrace_layouts[memory->layout];
	struct walk w = {
		.c = c, .arg = arg, .abi = abi, .what = what, .left = U64_MAX,
	};
	const void __user *from = (const void __user *)args[arg];
	u64 length;

	/* Another ABI has the structure, so nothing tells its size in this one. */
	if (!layout->size[abi])
		return;
	if (memory->flags & UTRACE_MEMORY_FRAME)
		from = (void __user *)user_stack_pointer(current_pt_regs()) +
		       memory->at[abi];
	if (!get_length(c, memory, abi, args, result, &length))
		return;
	if (memory->flags & UTRACE_MEMORY_FLAT) {
		w.flat = !c->exit || IS_ERR_VALUE(result);
		/* The result is a number of structures, or of bytes. */
		if (c->exit && layout->limit_at[abi])
			length = min_t(u64, length, max(result, 0L));
		else if (c->exit)
			w.left = max(result, 0L);
	}
	/* The capture may have room for the first ones only. */
	if (memory->unit == UTRACE_UNIT_RECORDS)
		c->inner.index = count_records(layout, abi, from, length);
	capture_layout(&w, layout, from,
		       bytes_of(layout, abi, memory->unit, length));
	memset(&c->inner, 0, sizeof(c->inner));
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - dumps of what calls read and write
 *
 * -e read= and -e write= show the bytes of calls on some descriptors in base 16
 * and as ASCII, in lines after that of the call.
 */
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "dump.h"

/* Bytes of one line, and size of its text. */
#define BYTES		16
#define LINE_SIZE	128

/* Calls whose data are dumped. */
static const char *const names[] = {
	"mq_timedreceive", "mq_timedsend", "pread64", "preadv", "preadv2",
	"pwrite64", "pwritev", "pwritev2", "read", "readv", "recv", "recvfrom",
	"recvmmsg", "recvmmsg_time64", "recvmsg", "send", "sendmmsg", "sendmsg",
	"sendto", "vmsplice", "write", "writev",
};

static bool is_dumped(const struct utrace_call *call)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(call->name, names[i]))
			return true;
	return false;
}

static bool has(const struct text_numbers *set, int number)
{
	size_t i;

	if (set->all)
		return !set->others;
	for (i = 0; i < set->n; i++)
		if (set->of[i] == number)
			return !set->others;
	return set->others;
}

/* Print a line of up to BYTES bytes. */
static void dump_line(struct out *out, size_t at, const u8 *data, size_t n)
{
	struct seq_buf s = { .buffer = out_room(out, LINE_SIZE), .size = LINE_SIZE };
	size_t i;

	seq_buf_printf(&s, " | %05zx ", at);
	for (i = 0; i < BYTES; i++) {
		if (i == BYTES / 2)
			seq_buf_puts(&s, " ");
		if (i < n)
			seq_buf_printf(&s, " %02x", data[i]);
		else
			seq_buf_puts(&s, "   ");
	}
	seq_buf_puts(&s, "  ");
	for (i = 0; i < BYTES; i++)
		seq_buf_printf(&s, "%c", i >= n ? ' ' :
			       data[i] >= ' ' && data[i] < 0x7f ? data[i] : '.');
	seq_buf_puts(&s, " |\n");
	out_add(out, s.len);
}

static void dump_item(struct out *out, const struct utrace_item *item)
{
	size_t at;

	for (at = 0; at < item->len; at += BYTES)
		dump_line(out, at, item->data + at,
			  item->len - at < BYTES ? item->len - at : BYTES);
	/* The kernel records no more. */
	if (item->len < item->whole) {
		struct seq_buf s = { .buffer = out_room(out, LINE_SIZE), .size = LINE_SIZE };

		seq_buf_printf(&s, " | %05zx  ... %llu more bytes\n", (size_t)item->len,
			       item->whole - item->len);
		out_add(out, s.len);
	}
}

/* Dump the memory of each struct iovec in @item, whose row is @layout. */
static void dump_iovecs(struct out *out, const struct utrace_call_items *items,
			const struct utrace_item *item,
			const struct utrace_layout *layout, enum utrace_abi abi)
{
	const unsigned int at = utrace_pointers[layout->pointer].at[abi];
	const struct utrace_item *one;
	unsigned int i;

	/* As strace, dump nothing if a part of the array is not readable. */
	if (item->flags & UTRACE_ITEM_F_FAULTED)
		return;
	for (i = 0; i < item->len / layout->size[abi]; i++) {
		struct seq_buf s = { .buffer = out_room(out, LINE_SIZE), .size = LINE_SIZE };

		one = utrace_item_behind(items, item, at, i);
		if (!one || !one->whole)
			continue;
		seq_buf_printf(&s, " * %llu bytes in buffer %u\n", one->whole, i);
		out_add(out, s.len);
		/* Of memory that is not readable there is only that line. */
		if (one->len || !(one->flags & UTRACE_ITEM_F_FAULTED))
			dump_item(out, one);
	}
}

/*
 * Dump the memory of struct iovec, or of those that messages point to; @several
 * means that there may be several messages.
 */
static void dump_structs(struct out *out, const struct utrace_call_items *items,
			 const struct utrace_item *item,
			 const struct utrace_layout *layout, enum utrace_abi abi,
			 bool several)
{
	const struct utrace_pointer *pointer = &utrace_pointers[layout->pointer];
	const struct utrace_layout *inner;
	const struct utrace_item *one;
	unsigned int i, n;

	if (layout->npointers && pointer->limited) {
		dump_iovecs(out, items, item, layout, abi);
		return;
	}
	for (n = 0; n < item->len / layout->size[abi]; n++) {
		for (i = 0; i < layout->npointers; i++) {
			struct seq_buf s = {
				.buffer = out_room(out, LINE_SIZE),
				.size = LINE_SIZE,
			};

			inner = &utrace_layouts[pointer[i].layout];
			if (pointer[i].kind != UTRACE_ITEM_STRUCT || !inner->npointers ||
			    !utrace_pointers[inner->pointer].limited)
				continue;
			one = utrace_item_behind(items, item, pointer[i].at[abi], n);
			if (!one)
				continue;
			if (several)
				seq_buf_printf(&s, " = %zu buffers in vector %u\n",
					       (size_t)one->len / inner->size[abi], n);
			out_add(out, s.len);
			dump_iovecs(out, items, one, inner, abi);
		}
	}
}

/**
 * dump_call() - dump what a call has read, or was to write even if it failed
 * @text: how text is written
 * @out: where the text goes
 * @nr: number of the call
 * @fd: its first argument
 * @items: the captured items of the entry and of the exit
 */
void dump_call(const struct text *text, struct out *out, __u64 nr, int fd,
	       const struct utrace_call_items *items)
{
	const struct utrace_call *call = utrace_call_of(nr);
	unsigned int i;

	if (!call || !is_dumped(call))
		return;
	for (i = 0; i < call->nargs; i++) {
		const struct utrace_item *item = items->out[i] ?: items->of[i];
		const struct utrace_memory *memory = &utrace_memories[call->arg[i].len];
		enum utrace_arg_type type = call->arg[i].type;
		bool structs = type == UTRACE_ARG_STRUCT;
		bool read = type == UTRACE_ARG_OUT ||
			    (structs && memory->flags & UTRACE_MEMORY_OUT);
		bool write = type == UTRACE_ARG_IN || structs;

		/* The lengths of messages are captured when they were sent. */
		if (structs && !strcmp(call->name, "sendmmsg"))
			read = false;
		if (!item || !((read && !items->failed && has(&text->read, fd)) ||
			       (!read && write && has(&text->write, fd))))
			continue;
		if (structs)
			dump_structs(out, items, item, &utrace_layouts[memory->layout],
				     utrace_abi_of(nr),
				     memory->unit == UTRACE_UNIT_ELEMENTS);
		else if (item->kind == UTRACE_ITEM_BYTES)
			dump_item(out, item);
	}
}

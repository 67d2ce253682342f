// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - stacks of calls, for -k
 *
 * The kernel records the return addresses, which it finds by frame pointers.
 * The mappings of the process are read when an address is in none that is known,
 * so they are not found if the process is gone by then.  A child process parses
 * the files for the names, see branch/symbols.c; it asks no debuginfod server.
 */
#include <string.h>

#include <linux/seq_buf.h>

#include "branch/mapped.h"
#include "branch/objects.h"
#include "branch/spaces.h"
#include "branch/symbols.h"
#include "decode/items.h"
#include "stack_text.h"

/* The longest line: a path, a name and a source file. */
#define LINE_SIZE	16384

/* Bytes of the memory for which the mappings are read once. */
#define PAGE		4096

/* Start with the mappings of a new program; @rec is its EXEC. */
void stack_begin(const struct utrace_rec *rec)
{
	struct mapped mapped = { .pid = rec->pid, .tid = rec->tid };

	mapped_begin(&mapped, 0);
}

/* Find the mapping of an address, or NULL. */
static const struct mapping *find(pid_t pid, pid_t tid, __u64 address)
{
	struct space *space = space_of(pid);
	const struct mapping *mapping = space_find(space, address);
	size_t missed = space->missed.n;

	if (mapping || pairs_add(&space->missed, address / PAGE, 0) < missed)
		return mapping;
	mapped_read(space, tid);
	return space_find(space, address);
}

/* Check whether a function has a name in the file. */
static bool has_name(const struct symbol *symbol)
{
	return *symbol->name != '[' && strncmp(symbol->name, "sub_", 4);
}

static void print_place(struct seq_buf *s, const struct text *text,
			const struct mapping *mapping, __u64 address)
{
	__u64 offset = address - mapping->start + mapping->offset;
	struct symbol symbol;
	__u64 in_file = symbols_find(mapping->object, offset, &symbol);
	const char *source = NULL;
	int line;

	seq_buf_printf(s, "%s(", objects_get(mapping->object)->path);
	if (has_name(&symbol))
		seq_buf_printf(s, "%s+%#llx", symbol.name, in_file - symbol.start);
	seq_buf_printf(s, ") [%#llx]", offset);
	if (text->lines)
		source = symbols_line(mapping->object, in_file, &line);
	if (source)
		seq_buf_printf(s, " %s:%d", source, line);
}

static void print_frame(const struct text *text, struct out *out, pid_t pid,
			pid_t tid, __u64 address)
{
	struct seq_buf s = { .buffer = out_room(out, LINE_SIZE), .size = LINE_SIZE - 1 };
	const struct mapping *mapping = find(pid, tid, address);

	seq_buf_puts(&s, " > ");
	if (mapping)
		print_place(&s, text, mapping, address);
	else
		seq_buf_printf(&s, "[%#llx]", address);
	s.size++;
	seq_buf_puts(&s, "\n");
	out_add(out, s.len);
}

/**
 * stack_text() - print the stack of a call
 * @text: how text is written
 * @out: where it goes
 * @rec: the record of the entry or of the whole call
 */
void stack_text(const struct text *text, struct out *out,
		const struct utrace_rec *rec)
{
	const void *items = (const char *)rec + rec->items;
	const struct utrace_item *item = NULL;
	__u64 address;
	size_t at;

	while (rec->items &&
	       (item = utrace_item_next(items, rec->size - rec->items, item))) {
		if (item->kind != UTRACE_ITEM_STACK)
			continue;
		for (at = 0; item->len - at >= sizeof(address); at += sizeof(address)) {
			memcpy(&address, item->data + at, sizeof(address));
			print_frame(text, out, rec->pid, rec->tid, address);
		}
	}
}

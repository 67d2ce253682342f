// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures of calls about files
 */
#include <fcntl.h>
#include <string.h>

#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"

/* Bytes of what getdents() writes before and after the name of an entry. */
#define D_HEAD64	19
#define D_WORDS		2
#define D_RECLEN	2

/* Print what an old structure lacks and strace prints as 0. */
void hook_zero(const struct element *e, const struct member *m)
{
	utrace_write_char(e->s, '0');
}

/* Print bytes in base 16, as strace prints random ones. */
void whole_hex_bytes(const struct element *e)
{
	size_t len = e->len < e->items->most ? e->len : e->items->most;

	structs_print_quoted_hex(e->s, e->data, len);
	if (len < e->item->whole)
		utrace_write_literal(e->s, "...");
}

/* Print a path that is not cut, to its NUL. */
void whole_path(const struct element *e)
{
	const char *path = (const char *)e->data;

	utrace_print_string(e->s, path, strnlen(path, e->len));
}

/* Print a structure whose size the program gives, or its address. */
void whole_sized(const struct element *e)
{
	if (e->len < element_size(e))
		utrace_print_hex(e->s, element_address(e));
	else
		element_print_whole(e);
}

static void print_offset(const struct element *e)
{
	utrace_write_char(e->s, '[');
	element_print_members(e);
	utrace_write_char(e->s, ']');
}

/* Print how to open a file.  The mode is there if a file can be created. */
void whole_open_how(const struct element *e)
{
	__u64 flags = element_named(e, "flags"), mode = element_named(e, "mode");

	if (e->len < element_size(e)) {
		utrace_print_hex(e->s, element_address(e));
		return;
	}
	utrace_write_char(e->s, '{');
	element_print_member(e, element_member(e, "flags"));
	if (mode || flags & (O_CREAT | __O_TMPFILE))
		seq_buf_printf(e->s, ", mode=%#03llo", (unsigned long long)mode);
	utrace_write_literal(e->s, ", ");
	element_print_member(e, element_member(e, "resolve"));
	element_print_rest(e);
	utrace_write_char(e->s, '}');
}

/* Print an offset that a call reads and changes. */
void whole_moved(const struct element *e)
{
	const struct utrace_item *out = e->items->out[e->item->arg];
	struct element after = *e;

	print_offset(e);
	if (!out || out->len != e->len || !memcmp(out->data, e->data, e->len))
		return;
	utrace_write_literal(e->s, " => ");
	after.data = out->data;
	print_offset(&after);
}

/* A time with its date, whose nanoseconds have no other meaning. */
void whole_dated_timespec(const struct element *e)
{
	element_print_whole(e);
	structs_print_date(e->s, element_named(e, "tv_sec"),
			   element_named(e, "tv_nsec"), 9, " /* ", " */");
}

/* Entries of directories */

/**
 * struct entry - an entry of a directory, wherever its parts are
 * @ino: number of the inode
 * @off: position of the next entry
 * @reclen: bytes of the entry
 * @type: DT_ constant
 * @name: its name, @name_len bytes
 * @name_len: length of @name
 */
struct entry {
	__u64 ino;
	__u64 off;
	unsigned int reclen;
	unsigned int type;
	const char *name;
	size_t name_len;
};

static __u64 number_at(const __u8 *data, size_t size)
{
	__u64 number = 0;

	memcpy(&number, data, size);
	return number;
}

/*
 * Read the entry at @at, whose numbers have @word bytes.  Returns false if it is
 * not whole.
 */
static bool read_entry(struct entry *entry, const struct element *e, size_t at,
		       size_t word, bool is64)
{
	size_t head = is64 ? D_HEAD64 : D_WORDS * word + D_RECLEN;
	const __u8 *data = e->data + at;
	size_t room;

	if (e->len - at < head)
		return false;
	entry->ino = number_at(data, word);
	entry->off = number_at(data + word, word);
	entry->reclen = number_at(data + D_WORDS * word, D_RECLEN);
	if (entry->reclen < head || entry->reclen > e->len - at)
		return false;
	room = entry->reclen - head;
	/* The last byte of an old entry is its type. */
	if (is64)
		entry->type = data[head - 1];
	else
		entry->type = data[entry->reclen - 1];
	if (!is64 && room)
		room--;
	entry->name = (const char *)data + head;
	entry->name_len = strnlen(entry->name, room);
	return true;
}

static void print_entry(const struct element *e, const struct entry *entry,
			bool is64)
{
	struct seq_buf *s = e->s;

	seq_buf_printf(s, "{d_ino=%llu, d_off=%llu, d_reclen=%u, ",
		       (unsigned long long)entry->ino,
		       (unsigned long long)entry->off, entry->reclen);
	if (is64) {
		utrace_write_literal(s, "d_type=");
		utrace_print_flags(s, UTRACE_FLAGS_DIRENT_TYPE, entry->type);
		utrace_write_literal(s, ", ");
	}
	utrace_write_literal(s, "d_name=");
	utrace_print_string(s, entry->name, entry->name_len);
	if (!is64) {
		utrace_write_literal(s, ", d_type=");
		utrace_print_flags(s, UTRACE_FLAGS_DIRENT_TYPE, entry->type);
	}
	utrace_write_char(s, '}');
}

/* Print the entries, or how many they are. */
static void print_entries(const struct element *e, size_t word, bool is64)
{
	unsigned int n = 0;
	struct entry entry;
	size_t at;

	if (e->items->verbose)
		utrace_write_char(e->s, '[');
	for (at = 0; read_entry(&entry, e, at, word, is64); at += entry.reclen) {
		if (e->items->verbose) {
			seq_buf_puts(e->s, n ? ", " : "");
			print_entry(e, &entry, is64);
		}
		n++;
	}
	if (e->items->verbose) {
		if (at < e->item->whole)
			seq_buf_puts(e->s, n ? ", ..." : "...");
		utrace_write_char(e->s, ']');
		return;
	}
	utrace_print_hex(e->s, element_address(e));
	/* The capture may end before the entries, which were counted. */
	seq_buf_printf(e->s, " /* %u entries */",
		       e->item->index > n ? e->item->index : n);
}

void whole_dirents64(const struct element *e)
{
	print_entries(e, sizeof(__u64), true);
}

void whole_dirents(const struct element *e)
{
	print_entries(e, e->abi == UTRACE_ABI_IA32 ? sizeof(__u32) :
						     sizeof(__u64), false);
}

/* Handles of files */

/*
 * Print a handle.  name_to_handle_at() writes its length also if the handle
 * does not fit.
 */
void whole_file_handle(const struct element *e)
{
	const struct utrace_item *out = e->items->out[e->item->arg];
	const struct member *f_handle = element_member(e, "f_handle");
	size_t at = f_handle->at[e->abi];
	__u64 bytes = element_named(e, "handle_bytes");
	bool reads = e->input;
	struct element of = *e;

	if (e->len < at) {
		utrace_print_hex(e->s, element_address(e));
		return;
	}
	seq_buf_printf(e->s, "{handle_bytes=%llu", (unsigned long long)bytes);
	if (!reads) {
		if (out && out->len >= at) {
			of.data = out->data;
			of.len = out->len;
		}
		if (element_named(&of, "handle_bytes") != bytes)
			seq_buf_printf(e->s, " => %llu", (unsigned long long)
				       element_named(&of, "handle_bytes"));
		bytes = element_named(&of, "handle_bytes");
	}
	if (reads || !e->items->failed) {
		seq_buf_printf(e->s, ", handle_type=%d, f_handle=",
			       (int)element_named(&of, "handle_type"));
		if (bytes <= of.len - at)
			structs_print_quoted_hex(e->s, of.data + at, bytes);
		else
			utrace_write_literal(e->s, "???");
	}
	utrace_write_char(e->s, '}');
}

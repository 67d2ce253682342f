// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures that arguments of system calls point to, as text
 *
 * Prints structures by their members in decode/tables/, in the style of strace.
 * Only bytes that were captured are read.
 */
#include <net/if.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "fd_text.h"
#include "hooks.h"
#include "pids.h"
#include "sets.h"
#include "structs.h"

#define NSEC_PER_SEC	1000000000
#define USEC_PER_SEC	1000000

/**
 * struct test - decides whether a member is there
 * @at: offset of the member that is tested, by ABI
 * @size: its bytes by ABI
 * @mask: bits that are compared, by ABI
 * @value: their value, by ABI
 * @negate: the member is there if the values differ
 */
struct test {
	__u16 at[UTRACE_ABIS];
	__u16 size[UTRACE_ABIS];
	__u64 mask[UTRACE_ABIS];
	__u64 value[UTRACE_ABIS];
	bool negate;
};

#include "fields.h"

/* Numbers of members */

static __u64 number_at(const struct element *e, size_t at, size_t size)
{
	__u64 number = 0;

	if (at + size <= e->len)
		memcpy(&number, e->data + at,
		       size < sizeof(number) ? size : sizeof(number));
	return number;
}

/* Return a member as an unsigned number, 0 if it was not captured. */
__u64 element_number(const struct element *e, const struct member *m)
{
	return number_at(e, m->at[e->abi], m->size[e->abi]);
}

/* Extend the sign of a number of @size bytes. */
static __s64 extend(__u64 number, size_t size)
{
	unsigned int unused = 64 - 8 * size;

	return (__s64)(number << unused) >> unused;
}

static __s64 signed_number(const struct element *e, const struct member *m)
{
	return extend(element_number(e, m), m->size[e->abi]);
}

/* The number of elements of a member that has room for @most. */
static __u64 counted(const struct element *e, const struct member *m, __u64 most)
{
	size_t size = m->count_size[e->abi];
	__u64 count;

	if (!size)
		return most;
	count = number_at(e, m->count_at[e->abi], size);
	if (m->count_signed[e->abi] && extend(count, size) < 0)
		return 0;
	return count < most ? count : most;
}

/* Find a member by its name, or NULL. */
const struct member *element_member(const struct element *e, const char *name)
{
	const struct member *m = members + e->structure->first;
	unsigned int i;

	for (i = 0; i < e->structure->n; i++, m++)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

/* Return member @n, from 0, or NULL. */
const struct member *element_nth(const struct element *e, unsigned int n)
{
	return n < e->structure->n ? members + e->structure->first + n : NULL;
}

/* Return the member with this name as an unsigned number. */
__u64 element_named(const struct element *e, const char *name)
{
	const struct member *m = element_member(e, name);

	return m ? element_number(e, m) : 0;
}

/**
 * element_of() - begin a structure that no pointer or member leads to
 * @e: the structure
 * @outer: the structure that has it, for example as bytes of some kind
 * @name: its name in decode/tables/
 * @data: its bytes
 * @len: number of bytes
 *
 * Return: the size of the structure; 0: the ABI has no such structure.
 */
size_t element_of(struct element *e, const struct element *outer,
		  const char *name, const void *data, size_t len)
{
	unsigned int i;

	*e = *outer;
	for (i = 0; i < ARRAY_SIZE(structures); i++) {
		if (strcmp(structures[i].name, name))
			continue;
		e->structure = &structures[i];
		e->layout = i;
		e->data = data;
		e->len = len;
		return utrace_layouts[i].size[e->abi];
	}
	return 0;
}

/* Return the item with the memory that a pointer points to, or NULL. */
const struct utrace_item *element_child(const struct element *e,
					const struct member *m)
{
	return utrace_item_behind(e->items, e->item,
				  e->from + m->at[e->abi], e->index);
}

/* Return the size of the structure. */
size_t element_size(const struct element *e)
{
	return utrace_layouts[e->layout].size[e->abi];
}

/* Return the address of the element. */
__u64 element_address(const struct element *e)
{
	return e->address + e->index * element_size(e);
}

/* Are all bytes of a member 0? */
bool element_is_zero(const struct element *e, const struct member *m)
{
	size_t at = m->at[e->abi], end = at + m->size[e->abi];

	while (at < end && at < e->len && !e->data[at])
		at++;
	return at >= end || at >= e->len;
}

/* Is a member there by its tests? */
bool element_is_there(const struct element *e, const struct member *m)
{
	const struct test *test;
	__u64 value;

	if (!m->size[e->abi] && !(m->flags & MEMBER_AFTER))
		return false;
	if (m->flags & MEMBER_NONZERO && element_is_zero(e, m))
		return false;
	if (m->flags & MEMBER_OUT && !(e->item->flags & UTRACE_ITEM_F_OUT))
		return false;
	if (!m->test || (m->flags & MEMBER_OR_VERBOSE && e->items->verbose))
		return true;
	test = &tests[m->test - 1];
	value = number_at(e, test->at[e->abi], test->size[e->abi]);
	return ((value & test->mask[e->abi]) == test->value[e->abi]) !=
	       test->negate;
}

/* Values */

/* Print an address, or NULL. */
void structs_print_address(struct seq_buf *s, __u64 address)
{
	if (address)
		utrace_print_hex(s, address);
	else
		utrace_write_literal(s, "NULL");
}

static void print_dev(struct seq_buf *s, __u64 dev)
{
	bool names = utrace_style.constants == UTRACE_CONSTANTS_NAMES;

	if (!names)
		utrace_print_hex(s, dev);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	seq_buf_puts(s, names ? "makedev(" : " /* makedev(");
	utrace_print_hex(s, major(dev));
	utrace_write_literal(s, ", ");
	utrace_print_hex(s, minor(dev));
	seq_buf_puts(s, names ? ")" : ") */");
}

/* Print the mode of a file: its type, the bits beside permissions, and those. */
void structs_print_mode(struct seq_buf *s, __u32 mode)
{
	static const struct {
		__u32 bit;
		const char *name;
	} bits[] = {
		{ 04000, "S_ISUID|" }, { 02000, "S_ISGID|" }, { 01000, "S_ISVTX|" },
	};
	bool raw = utrace_style.constants != UTRACE_CONSTANTS_NAMES;
	size_t before = s->len, i;

	if (raw) {
		seq_buf_printf(s, "%#03o", mode);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		before = s->len;
		utrace_write_literal(s, " /* ");
	}
	if (mode & S_IFMT) {
		/* The number of a type without a name is not taken apart. */
		if (!utrace_print_names(s, UTRACE_FLAGS_FILE_TYPE, mode & S_IFMT)) {
			s->len = before;
			if (!raw)
				seq_buf_printf(s, "%#03o", mode);
			return;
		}
		utrace_write_char(s, '|');
	}
	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (mode & bits[i].bit)
			seq_buf_puts(s, bits[i].name);
	seq_buf_printf(s, "%#03o", mode & 0777);
	if (raw)
		utrace_write_literal(s, " */");
}

/**
 * structs_print_date() - print seconds since 1970 as a date
 * @s: the text is appended here
 * @seconds: the seconds; nothing is printed if they are 0 or too large
 * @part: the part of a second, which is left out if it is 0
 * @digits: the number of digits of @part; nothing is printed if it has more
 * @before: printed before the date
 * @after: printed after it
 */
void structs_print_date(struct seq_buf *s, __s64 seconds, __u64 part,
			unsigned int digits, const char *before,
			const char *after)
{
	__u64 end = digits == 9 ? NSEC_PER_SEC : USEC_PER_SEC;
	time_t time = seconds;
	char text[64];
	struct tm tm;

	if (!seconds || part >= end || !localtime_r(&time, &tm) ||
	    !strftime(text, sizeof(text), "%FT%T", &tm))
		return;
	seq_buf_printf(s, "%s%s", before, text);
	if (part) {
		utrace_write_char(s, '.');
		utrace_write_padded(s, part, digits);
	}
	strftime(text, sizeof(text), "%z", &tm);
	seq_buf_printf(s, "%s%s", text, after);
}

/* Print seconds, and what date they are. */
static void print_time(const struct element *e, const struct member *m)
{
	__s64 seconds = signed_number(e, m);
	__u64 nsec = 0;

	if (m->nsec_at[e->abi])
		nsec = number_at(e, m->nsec_at[e->abi], 4);
	utrace_write_signed(e->s, seconds);
	structs_print_date(e->s, seconds, nsec, 9, " /* ", " */");
}

/* Print an array of char, to its NUL if it has one. */
static void print_str(const struct element *e, const struct member *m, bool to_nul)
{
	const char *text = (const char *)e->data + m->at[e->abi];
	size_t len = counted(e, m, m->size[e->abi]), most = e->items->most;
	bool cut;

	if (to_nul)
		len = strnlen(text, len);
	cut = len > most;
	utrace_print_string(e->s, text, cut ? most : len);
	if (cut)
		utrace_write_literal(e->s, "...");
}

/*
 * Print an array of char with a string that ends before its last element; a
 * longer one is cut.
 */
static void print_cstr(const struct element *e, const struct member *m)
{
	const char *text = (const char *)e->data + m->at[e->abi];
	size_t size = counted(e, m, m->size[e->abi] - 1) + 1;
	size_t len = strnlen(text, size);

	utrace_print_string(e->s, text, len < size ? len : size - 1);
	if (len == size)
		utrace_write_literal(e->s, "...");
}

/* Print bytes as a string whose bytes are all in base 16. */
void structs_print_quoted_hex(struct seq_buf *s, const void *data, size_t len)
{
	const __u8 *byte = data;
	size_t i;

	utrace_write_char(s, '"');
	for (i = 0; i < len; i++)
		seq_buf_printf(s, "\\x%02x", byte[i]);
	utrace_write_char(s, '"');
}

/*
 * Print data in the order of the network, in the style of constants: the bytes,
 * the text that says what they mean, or both.
 */
void structs_print_network(struct seq_buf *s, const void *data, size_t len,
			   const char *text)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(s, text);
		return;
	}
	structs_print_quoted_hex(s, data, len);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* %s */", text);
}

static void print_network(const struct element *e, const struct member *m)
{
	const void *data = e->data + m->at[e->abi];
	__u64 value = element_number(e, m);
	char text[80];
	struct seq_buf name = { .buffer = text, .size = sizeof(text) };

	switch (m->type) {
	case MEMBER_BE16:
		seq_buf_printf(&name, "htons(%u)", __builtin_bswap16(value));
		break;
	case MEMBER_BE32:
		seq_buf_printf(&name, "htonl(%u)", __builtin_bswap32(value));
		break;
	default:
		utrace_print_inet(&name, data, m->type == MEMBER_IN6ADDR);
	}
	text[name.len] = '\0';
	structs_print_network(e->s, data, m->size[e->abi], text);
}

/* Print the number of a network interface by the name that it has here. */
void structs_print_ifindex(struct seq_buf *s, unsigned int index)
{
	char name[IF_NAMESIZE];

	if (utrace_style.constants == UTRACE_CONSTANTS_RAW ||
	    !if_indextoname(index, name)) {
		utrace_write_decimal(s, index);
		return;
	}
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH) {
		utrace_write_decimal(s, index);
		utrace_write_literal(s, " /* ");
	}
	utrace_write_literal(s, "if_nametoindex(");
	utrace_print_string(s, name, strlen(name));
	utrace_write_char(s, ')');
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(s, " */");
}

static void print_signal_name(struct seq_buf *s, int signal)
{
	bool comment = utrace_style.constants == UTRACE_CONSTANTS_BOTH;
	char text[32];
	struct seq_buf name = { .buffer = text, .size = sizeof(text) };

	if (utrace_style.constants == UTRACE_CONSTANTS_RAW) {
		utrace_write_signed(s, signal);
		return;
	}
	utrace_print_signal_name(&name, signal);
	if (comment)
		seq_buf_printf(s, "%d /* ", signal);
	/* Names in a set lack "SIG". */
	if (name.len > 3 && !strncmp(text, "SIG", 3))
		utrace_write(s, text + 3, name.len - 3);
	else
		utrace_write(s, text, name.len);
	if (comment)
		utrace_write_literal(s, " */");
}

/**
 * structs_print_sigset() - print a set of signals
 * @s: the text is appended here
 * @data: the set, bit 0 stands for signal 1
 * @len: bytes of the set, 8 at most are used
 *
 * A set with most signals is printed as the signals that it lacks.
 */
void structs_print_sigset(struct seq_buf *s, const void *data, size_t len)
{
	const char *before = "";
	__u64 set = 0;

	if (len > sizeof(set))
		len = sizeof(set);
	memcpy(&set, data, len);
	if ((unsigned int)__builtin_popcountll(set) > 8 * len * 2 / 3) {
		utrace_write_char(s, '~');
		set = ~set & ~0ULL >> (64 - 8 * len);
	}
	utrace_write_char(s, '[');
	for (; set; set &= set - 1) {
		seq_buf_puts(s, before);
		print_signal_name(s, 1 + __builtin_ctzll(set));
		before = " ";
	}
	utrace_write_char(s, ']');
}

static void print_array(const struct element *e, const struct member *m);
static void print_items(const struct element *e, const struct utrace_item *item,
			__u64 address, unsigned int structure, bool array);

static void print_inner(const struct element *e, const struct member *m)
{
	struct element inner = *e;

	inner.structure = &structures[m->of];
	inner.layout = m->of;
	inner.data += m->at[e->abi];
	inner.from += m->at[e->abi];
	inner.len = m->size[e->abi];
	element_print(&inner);
}

/* Print the memory behind a pointer, or the pointer. */
static void print_behind(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);
	size_t most = m->type == MEMBER_BYTES_POINTER ? e->items->most : 0;
	__u64 address = m->flags & MEMBER_AFTER ?
		element_address(e) + e->from + m->at[e->abi] :
		element_number(e, m);

	if (!item || (item->flags & UTRACE_ITEM_F_FAULTED && item->len <= most)) {
		structs_print_address(e->s, address);
		return;
	}
	switch (m->type) {
	case MEMBER_POINTER:
		print_items(e, item, address, m->of, m->flags & MEMBER_MANY);
		break;
	case MEMBER_SOCKADDR_POINTER:
		utrace_print_sockaddr(e->s, item);
		break;
	default:
		utrace_print_memory(e->s, e->items, item);
	}
}

/*
 * Print with -y what file a descriptor has, by the item of the file, which may be
 * NULL.
 */
void element_print_file(const struct element *e, const struct utrace_item *file,
			int fd)
{
	if (file && file->kind == UTRACE_ITEM_FILE)
		file = fd_text(e->items->decode, e->items->tid, fd, file,
			       FD_TEXT_MEMBER);
	if (file)
		utrace_write(e->s, (const char *)file->data, file->len);
}

/* Print a descriptor, and with -y its file. */
static void print_fd(const struct element *e, const struct member *m)
{
	int fd = signed_number(e, m);

	utrace_write_signed(e->s, fd);
	if (e->items->decode)
		element_print_file(e, element_child(e, m), fd);
}

/* Print a member by its type, without its hook. */
void element_print_plain(const struct element *e, const struct member *m)
{
	__u64 value = element_number(e, m);
	struct seq_buf *s = e->s;

	switch (m->type) {
	case MEMBER_D:
		utrace_write_signed(s, signed_number(e, m));
		break;
	case MEMBER_FD:
		print_fd(e, m);
		break;
	case MEMBER_PID:
		utrace_write_signed(s, signed_number(e, m));
		pid_explain(s, signed_number(e, m));
		break;
	case MEMBER_U:
		utrace_write_decimal(s, value);
		break;
	case MEMBER_O:
		utrace_write_octal(s, value);
		break;
	case MEMBER_FLAGS:
		utrace_print_flags(s, m->of, value);
		break;
	case MEMBER_ADDR:
		structs_print_address(s, value);
		break;
	case MEMBER_SIGNAL:
		utrace_print_signal(s, value);
		break;
	case MEMBER_ID:
		if (signed_number(e, m) == -1)
			utrace_write_literal(s, "-1");
		else
			utrace_write_decimal(s, value);
		break;
	case MEMBER_DEV:
		print_dev(s, value);
		break;
	case MEMBER_MODE:
		structs_print_mode(s, value);
		break;
	case MEMBER_TIME:
		print_time(e, m);
		break;
	case MEMBER_STR:
	case MEMBER_BYTES:
		print_str(e, m, m->type == MEMBER_STR);
		break;
	case MEMBER_SIGSET:
		structs_print_sigset(s, e->data + m->at[e->abi], m->size[e->abi]);
		break;
	case MEMBER_CSTR:
		print_cstr(e, m);
		break;
	case MEMBER_XSTR:
		structs_print_quoted_hex(s, e->data + m->at[e->abi],
					 m->size[e->abi]);
		break;
	case MEMBER_BE16:
	case MEMBER_BE32:
	case MEMBER_INADDR:
	case MEMBER_IN6ADDR:
		print_network(e, m);
		break;
	case MEMBER_ARRAY:
		print_array(e, m);
		break;
	case MEMBER_STRUCT:
		print_inner(e, m);
		break;
	case MEMBER_POINTER:
	case MEMBER_BYTES_POINTER:
	case MEMBER_STRING_POINTER:
	case MEMBER_SOCKADDR_POINTER:
		print_behind(e, m);
		break;
	default:
		utrace_print_hex(s, value);
	}
}

/*
 * Print a member, or "???" if it was not captured whole.  Hooks of structures
 * print members of those that end early, too.
 */
static void print_value(const struct element *e, const struct member *m)
{
	if (m->at[e->abi] + m->size[e->abi] > e->len)
		utrace_write_literal(e->s, "???");
	else if (m->hook)
		m->hook(e, m);
	else
		element_print_plain(e, m);
}

/* Print an array in a structure. */
static void print_array(const struct element *e, const struct member *m)
{
	struct member one = *m;
	unsigned int abi = e->abi, i, n;

	n = m->element[abi] ? counted(e, m, m->size[abi] / m->element[abi]) : 0;
	one.type = m->elements;
	one.size[abi] = m->element[abi];
	utrace_write_char(e->s, '[');
	for (i = 0; i < n; i++, one.at[abi] += one.size[abi]) {
		if (i)
			utrace_write_literal(e->s, ", ");
		if (i >= e->items->most && !e->items->verbose) {
			utrace_write_literal(e->s, "...");
			break;
		}
		print_value(e, &one);
	}
	utrace_write_char(e->s, ']');
}

/* Print a pointer to as many bytes of structures as another member says. */
void element_print_array(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);

	utrace_write(e->s, m->name, m->name_len);
	utrace_write_char(e->s, '=');
	if (item)
		print_items(e, item, element_number(e, m), m->of, true);
	else
		structs_print_address(e->s, element_number(e, m));
}

/* Print a member with its name. */
void element_print_member(const struct element *e, const struct member *m)
{
	if (!(m->flags & MEMBER_BARE)) {
		utrace_write(e->s, m->name, m->name_len);
		utrace_write_char(e->s, '=');
	}
	print_value(e, m);
}

/* Print the bytes after the first @known ones, unless all of them are 0. */
void element_print_tail(const struct element *e, size_t known)
{
	size_t i;

	for (i = known; i < e->len && !e->data[i]; i++)
		;
	if (i >= e->len)
		return;
	seq_buf_printf(e->s, ", /* bytes %zu..%zu */ ", known, e->len - 1);
	structs_print_quoted_hex(e->s, e->data + known, e->len - known);
}

/*
 * Print bytes after the structure of a program that knows a newer one, unless
 * all are 0, or that they could not be read.
 */
void element_print_rest(const struct element *e)
{
	size_t size = element_size(e);

	if (e->len >= size && e->item->flags & UTRACE_ITEM_F_FAULTED &&
	    e->structure->part) {
		utrace_write_literal(e->s, ", ???");
		return;
	}
	element_print_tail(e, size);
}

/* Print the members of a structure that are there and have all bits of @flags. */
static void print_members(const struct element *e, unsigned int flags)
{
	const struct member *m = members + e->structure->first;
	const char *before = "";
	bool left_out = false, dots = false;
	unsigned int i;

	for (i = 0; i < e->structure->n; i++, m++) {
		if ((m->flags & flags) != flags || !element_is_there(e, m))
			continue;
		if (m->flags & MEMBER_VERBOSE && !e->items->verbose) {
			if (!(m->flags & MEMBER_DOTS))
				left_out = true;
			else if (!dots)
				seq_buf_printf(e->s, "%s...", before);
			dots = m->flags & MEMBER_DOTS;
			before = dots ? ", " : before;
			continue;
		}
		dots = false;
		seq_buf_puts(e->s, before);
		before = ", ";
		/* An older or shorter structure ends before the member. */
		if (m->at[e->abi] + m->size[e->abi] > e->len) {
			left_out = true;
			break;
		}
		element_print_member(e, m);
	}
	if (left_out)
		seq_buf_printf(e->s, "%s...", *before && i < e->structure->n ?
			       "" : before);
}

/* Print the members of a structure that are there. */
void element_print_members(const struct element *e)
{
	print_members(e, 0);
}

/* Print the members that only the call writes. */
void element_print_answer(const struct element *e)
{
	print_members(e, MEMBER_OUT);
}

/* Print the members up to where a structure ends, which may be in an array. */
void element_print_start(const struct element *e)
{
	unsigned int i, abi = e->abi;
	const char *before = "";
	const struct member *m;
	struct member part;

	for (i = 0; (m = element_nth(e, i)) && m->at[abi] < e->len; i++) {
		if (!element_is_there(e, m))
			continue;
		part = *m;
		if (m->at[abi] + m->size[abi] > e->len)
			part.size[abi] = e->len - m->at[abi];
		seq_buf_puts(e->s, before);
		before = ", ";
		element_print_member(e, &part);
	}
}

/* Print a structure by its members, for a hook of the whole structure. */
void element_print_whole(const struct element *e)
{
	if (e->structure->brackets) {
		element_print_members(e);
		return;
	}
	utrace_write_char(e->s, '{');
	element_print_members(e);
	element_print_rest(e);
	utrace_write_char(e->s, '}');
}

/**
 * element_before() - get a structure that a call has written as it was before
 * @e: the structure
 * @before: the structure as the program passed it
 *
 * Return: false if the call has written nothing, or the structure was not
 * captured before; then @before is @e.
 */
bool element_before(const struct element *e, struct element *before)
{
	const struct utrace_item *item = e->items->of[e->item->arg];

	*before = *e;
	if (!(e->item->flags & UTRACE_ITEM_F_OUT) || !item ||
	    item->kind != UTRACE_ITEM_STRUCT || item->len < e->len)
		return false;
	before->item = item;
	before->data = item->data;
	return true;
}

/* Print what the program passed, and after it what the call has written. */
void whole_answered(const struct element *e)
{
	struct element before;
	bool answered = element_before(e, &before);

	element_print_whole(&before);
	if (!answered)
		return;
	utrace_write_literal(e->s, " => {");
	element_print_answer(e);
	utrace_write_char(e->s, '}');
}

void whole_answered_or_address(const struct element *e)
{
	whole_answered(e);
	if (e->item->flags & UTRACE_ITEM_F_OUT)
		return;
	utrace_write_literal(e->s, " => ");
	structs_print_address(e->s, element_address(e));
}

/* Print a structure. */
void element_print(const struct element *e)
{
	if (e->structure->hook)
		e->structure->hook(e);
	else
		element_print_whole(e);
}

/*
 * Print the elements of @item, as an array if @array.  They are at @address of
 * the task.
 */
static void print_items(const struct element *e, const struct utrace_item *item,
			__u64 address, unsigned int structure, bool array)
{
	const size_t size = utrace_layouts[structure].size[e->abi];
	struct element one = *e;
	size_t at;

	/* The ABI has no such structure. */
	if (!size) {
		structs_print_address(e->s, address);
		return;
	}
	one.item = item;
	one.structure = &structures[structure];
	one.layout = structure;
	one.from = 0;
	one.address = address;
	if (!array && !one.structure->brackets) {
		one.index = 0;
		one.data = item->data;
		one.len = item->len;
		element_print(&one);
		return;
	}
	utrace_write_char(e->s, '[');
	one.len = size;
	one.index = 0;
	for (at = 0; at + size <= item->len; at += size) {
		if (at)
			utrace_write_literal(e->s, ", ");
		if (one.index >= e->items->most && !e->items->verbose) {
			utrace_write_literal(e->s, "...");
			break;
		}
		one.data = item->data + at;
		element_print(&one);
		one.index++;
	}
	if (at + size > item->len && at < item->whole) {
		seq_buf_puts(e->s, at ? ", ..." : "...");
		if (item->flags & UTRACE_ITEM_F_FAULTED)
			seq_buf_printf(e->s, " /* %#llx */", address + at);
	}
	utrace_write_char(e->s, ']');
}

/* Check whether the descriptors of the structures count for -P. */
bool structs_have_paths(const struct utrace_memory *memory)
{
	return structures[memory->layout].paths;
}

/* Check whether a call is to write an array of no elements: it cannot fail to. */
static bool is_empty_array(const struct utrace_memory *memory,
			   const unsigned long *args, unsigned int arg)
{
	if (!(memory->flags & UTRACE_MEMORY_OUT) || !args[arg] ||
	    memory->unit != UTRACE_UNIT_ELEMENTS ||
	    memory->arg >= UTRACE_CALL_ARGS)
		return false;
	return !(memory->flags & UTRACE_MEMORY_INT ? (__u32)args[memory->arg] :
						     args[memory->arg]);
}

/**
 * structs_print() - print the structures that an argument points to
 * @s: the text is appended here
 * @items: the captured items of the call
 * @args: arguments of the call
 * @arg: number of the argument
 * @memory: row of the structures
 * @abi: ABI of the call
 *
 * Return: false if nothing is known but the address, and nothing was printed.
 */
bool structs_print(struct seq_buf *s, const struct utrace_call_items *items,
		   const unsigned long *args, unsigned int arg, const struct utrace_memory *memory,
		   enum utrace_abi abi)
{
	const struct utrace_item *item = items->out[arg] ?: items->of[arg];
	const size_t size = utrace_layouts[memory->layout].size[abi];
	const struct element e = {
		.s = s, .items = items, .args = args, .abi = abi,
		.input = !(memory->flags & (UTRACE_MEMORY_OUT |
					    UTRACE_MEMORY_RESTART)),
	};
	bool array = memory->unit == UTRACE_UNIT_ELEMENTS ||
		     memory->unit == UTRACE_UNIT_PAGES;

	/* What the call has written is not known. */
	if (array && memory->flags & UTRACE_MEMORY_FLAT && !items->out[arg])
		return false;
	if (memory->flags & UTRACE_MEMORY_ENTRY)
		item = items->of[arg];
	if (!item && is_empty_array(memory, args, arg)) {
		utrace_write_literal(s, "[]");
		return true;
	}

	/* The address is printed if the length is in memory that was read in part. */
	if (memory->unit == UTRACE_UNIT_POINTED && items->of[memory->arg] &&
	    items->of[memory->arg]->flags & UTRACE_ITEM_F_FAULTED)
		return false;

	/* A part of one structure is of no use, unless its hook says so. */
	if (!item || (!structures[memory->layout].part && !array &&
		      (item->flags & UTRACE_ITEM_F_FAULTED ||
		       (memory->unit == UTRACE_UNIT_ONE && item->len < size))))
		return false;
	/* The ABI has no such structure, or no element could be read. */
	if (!size || (array && item->len < size && item->whole))
		return false;
	print_items(&e, item, args[arg], memory->layout,
		    array || memory->unit == UTRACE_UNIT_FIXED);
	return true;
}

/**
 * structs_print_out() - print the structure that a call wrote, though the
 * argument is printed as it was at the entry
 * @s: the text is appended here
 * @items: the captured items of the call
 * @arg: number of the argument
 * @nr: number of the call
 * @args: arguments of the call
 *
 * Return: false if nothing was printed.
 */
bool structs_print_out(struct seq_buf *s, const struct utrace_call_items *items,
		       unsigned int arg, __u32 nr, const __u64 *args)
{
	const unsigned long *words = (const unsigned long *)args;
	const struct utrace_call *call = utrace_call_by_command(nr, words);
	struct utrace_memory memory;

	if (!call || call->arg[arg].type != UTRACE_ARG_STRUCT)
		return false;
	memory = utrace_memories[call->arg[arg].len];
	memory.flags &= ~UTRACE_MEMORY_ENTRY;
	return structs_print(s, items, words, arg, &memory, utrace_abi_of(nr));
}

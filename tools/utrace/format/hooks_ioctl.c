// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures and results of fcntl() and ioctl()
 */
#include <string.h>

#include <linux/array_size.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/if_arp.h>
#include <linux/ioctl.h>
#include <linux/nsfs.h>
#include <linux/seq_buf.h>
#include <linux/userfaultfd.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "ioctls.h"
#include "result.h"
#include "sets.h"

static bool is_raw(void)
{
	return utrace_style.constants == UTRACE_CONSTANTS_RAW;
}

/*
 * Print an argument of which nothing is known.  In the numbers of some drivers
 * it always is an address.
 */
void arg_ioctl(const struct utrace_arg_text *a)
{
	static const unsigned char pointers[] = {
		0x03, 0x12, 0x22, '$', '=', 'E', 'K', 0x89, 0x94, 0xb4,
	};

	if (!a->value && ioctl_has_name(a->args[1], a->abi) &&
	    memchr(pointers, _IOC_TYPE(a->args[1]), sizeof(pointers)))
		utrace_write_literal(a->s, "NULL");
	else
		utrace_print_hex(a->s, a->value);
}

/* The flags of swapon() have a priority in their low bits. */
void arg_swapon(const struct utrace_arg_text *a)
{
	const unsigned int priority = 0x7fff;
	unsigned int flags = a->value;

	if (is_raw()) {
		utrace_print_hex(a->s, flags);
		return;
	}
	if (flags & ~priority) {
		utrace_print_flags(a->s, UTRACE_FLAGS_SWAP, flags & ~priority);
		utrace_write_char(a->s, '|');
	}
	utrace_write_decimal(a->s, flags & priority);
}

/* Terminals */

/**
 * struct field - a part of the flags of a terminal
 * @mask: its bits
 * @set: names of its values
 */
struct field {
	unsigned int mask;
	unsigned int set;
};

static const struct field output_fields[] = {
	{ 0000400, UTRACE_FLAGS_TERM_NL },
	{ 0003000, UTRACE_FLAGS_TERM_CR },
	{ 0014000, UTRACE_FLAGS_TERM_TAB },
	{ 0020000, UTRACE_FLAGS_TERM_BS },
	{ 0040000, UTRACE_FLAGS_TERM_VT },
	{ 0100000, UTRACE_FLAGS_TERM_FF },
};

/* CBAUD, and CIBAUD, which is the same IBSHIFT bits higher. */
#define SPEED		0010017
#define INPUT_SHIFT	16

static void print_raw(struct seq_buf *s, unsigned int flags)
{
	utrace_print_hex(s, flags);
}

/* Print the names of bits, or nothing if there are none. */
static void print_bits(struct seq_buf *s, unsigned int set, unsigned int flags)
{
	if (flags)
		utrace_print_flags(s, set, flags);
}

void hook_term_iflag(const struct element *e, const struct member *m)
{
	if (is_raw())
		print_raw(e->s, element_number(e, m));
	else
		print_bits(e->s, UTRACE_FLAGS_TERM_IFLAG, element_number(e, m));
}

void hook_term_oflag(const struct element *e, const struct member *m)
{
	unsigned int flags = element_number(e, m);
	size_t i;

	if (is_raw()) {
		print_raw(e->s, flags);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(output_fields); i++) {
		utrace_print_flags(e->s, output_fields[i].set,
				   flags & output_fields[i].mask);
		utrace_write_char(e->s, '|');
		flags &= ~output_fields[i].mask;
	}
	print_bits(e->s, UTRACE_FLAGS_TERM_OFLAG, flags);
}

void hook_term_cflag(const struct element *e, const struct member *m)
{
	unsigned int flags = element_number(e, m);
	unsigned int input = flags >> INPUT_SHIFT & SPEED;

	if (is_raw()) {
		print_raw(e->s, flags);
		return;
	}
	utrace_print_flags(e->s, UTRACE_FLAGS_TERM_BAUD, flags & SPEED);
	utrace_write_char(e->s, '|');
	if (input) {
		utrace_print_flags(e->s, UTRACE_FLAGS_TERM_BAUD, input);
		utrace_write_literal(e->s, "<<IBSHIFT|");
	}
	utrace_print_flags(e->s, UTRACE_FLAGS_TERM_SIZE, flags & 060);
	utrace_write_char(e->s, '|');
	print_bits(e->s, UTRACE_FLAGS_TERM_CFLAG,
		   flags & ~(SPEED | SPEED << INPUT_SHIFT | 060));
}

void hook_term_lflag(const struct element *e, const struct member *m)
{
	if (is_raw())
		print_raw(e->s, element_number(e, m));
	else
		print_bits(e->s, UTRACE_FLAGS_TERM_LFLAG, element_number(e, m));
}

/* Print the control characters with the names of their numbers. */
void hook_term_cc(const struct element *e, const struct member *m)
{
	const __u8 *cc = e->data + m->at[e->abi];
	size_t i;

	utrace_write_char(e->s, '[');
	for (i = 0; i < m->size[e->abi]; i++) {
		if (i)
			utrace_write_literal(e->s, ", ");
		utrace_write_char(e->s, '[');
		if (is_raw() ||
		    !utrace_print_names(e->s, UTRACE_FLAGS_TERM_CC, i))
			utrace_write_decimal(e->s, i);
		utrace_write_literal(e->s, "]=");
		utrace_print_hex(e->s, cc[i]);
	}
	utrace_write_char(e->s, ']');
}

/* TIOCSTI takes one character. */
void whole_one_char(const struct element *e)
{
	utrace_print_string(e->s, (const char *)e->data, 1);
}

/* Interfaces of the network */

/* SIOCBRADDBR takes a name. */
void whole_one_name(const struct element *e)
{
	const struct member *m = element_member(e, "name");
	size_t size = m->size[e->abi];
	size_t len = strnlen((const char *)e->data, size);

	utrace_print_string(e->s, (const char *)e->data, len);
	if (len == size)
		utrace_write_literal(e->s, "...");
}

/* An item that is made from a member. */
union address {
	struct utrace_item item;
	__u8 bytes[sizeof(struct utrace_item) + 16];
};

void hook_ifr_addr(const struct element *e, const struct member *m)
{
	union address address = { .item = { .len = 16, .whole = 16 } };

	memcpy(address.bytes + sizeof(address.item), e->data + m->at[e->abi], 16);
	utrace_print_sockaddr(e->s, &address.item);
}

/* Bytes of a hardware address by its type. */
static size_t hardware_length(unsigned int type)
{
	switch (type) {
	case ARPHRD_NETROM:
		return 7;
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
		return 6;
	default:
		return 14;
	}
}

void hook_ifr_hwaddr(const struct element *e, const struct member *m)
{
	const __u8 *address = e->data + m->at[e->abi];
	unsigned short type;
	size_t i;

	memcpy(&type, address, sizeof(type));
	utrace_write_literal(e->s, "{sa_family=");
	utrace_print_flags(e->s, UTRACE_FLAGS_ARPHRD, type);
	utrace_write_literal(e->s, ", sa_data=");
	for (i = 0; i < hardware_length(type); i++)
		seq_buf_printf(e->s, i ? ":%02x" : "%02x",
			       address[sizeof(type) + i]);
	utrace_write_char(e->s, '}');
}

static void print_length(const struct element *e, int len)
{
	const size_t size = e->abi == UTRACE_ABI_NATIVE ? 40 : 32;

	utrace_write_signed(e->s, len);
	if (len > 0 && !(len % size))
		seq_buf_printf(e->s, " /* %zu * sizeof(struct ifreq) */",
			       len / size);
}

/* The call changes the length of the buffer. */
void whole_ifconf(const struct element *e)
{
	const struct member *buffer = element_member(e, "ifc_buf");
	const struct utrace_item *before = e->items->of[e->item->arg];
	bool out = e->item->flags & UTRACE_ITEM_F_OUT;
	int len = element_named(e, "ifc_len"), old = len;

	if (out && before && before->kind == UTRACE_ITEM_STRUCT &&
	    before->len >= sizeof(old))
		memcpy(&old, before->data, sizeof(old));
	utrace_write_literal(e->s, "{ifc_len=");
	if (old != len && element_number(e, buffer)) {
		print_length(e, old);
		utrace_write_literal(e->s, " => ");
	}
	print_length(e, len);
	utrace_write_literal(e->s, ", ");
	if (out) {
		element_print_array(e, buffer);
	} else {
		utrace_write_literal(e->s, "ifc_buf=");
		structs_print_address(e->s, element_number(e, buffer));
	}
	utrace_write_char(e->s, '}');
}

/* Files and block devices */

void hook_loop_key(const struct element *e, const struct member *m)
{
	__u64 len = element_named(e, "lo_encrypt_key_size");

	if (len > m->size[e->abi])
		len = m->size[e->abi];
	utrace_print_string(e->s, (const char *)e->data + m->at[e->abi], len);
}

/* Print the members of FS_IOC_FIEMAP that the program and the kernel set. */
static void print_fiemap(const struct element *e, const char *first,
			 const char *last)
{
	const struct member *m = element_member(e, first);

	utrace_write_char(e->s, '{');
	for (;; m++) {
		if (e->item->flags & UTRACE_ITEM_F_OUT && !strcmp(m->name, "fm_extent_count"))
			continue;
		element_print_member(e, m);
		if (!strcmp(m->name, last))
			break;
		utrace_write_literal(e->s, ", ");
	}
}

void whole_fiemap(const struct element *e)
{
	struct element before;

	if (!(e->item->flags & UTRACE_ITEM_F_OUT)) {
		print_fiemap(e, "fm_start", "fm_extent_count");
		utrace_write_char(e->s, '}');
		return;
	}
	if (element_before(e, &before)) {
		print_fiemap(&before, "fm_start", "fm_extent_count");
		utrace_write_literal(e->s, "} => ");
	}
	print_fiemap(e, "fm_flags", "fm_mapped_extents");
	utrace_write_literal(e->s, ", ...}");
}

/* Page faults */

/* UFFDIO_API asks for features, and returns those that the kernel has. */
void whole_uffdio_api(const struct element *e)
{
	const struct member *m = element_member(e, "api");
	struct element before;
	bool answered = element_before(e, &before);

	utrace_write_char(e->s, '{');
	element_print_member(&before, m);
	utrace_write_literal(e->s, ", ");
	element_print_member(&before, m + 1);
	if (answered) {
		utrace_write_literal(e->s, " => ");
		element_print_member(e, m + 1);
		utrace_write_literal(e->s, ", ");
		element_print_member(e, m + 2);
	}
	utrace_write_char(e->s, '}');
}

/* Results */

void result_fcntl(const struct result *r)
{
	switch ((unsigned int)r->args[1]) {
	case F_GETLEASE:
		utrace_write_literal(r->s, " (");
		utrace_print_flags(r->s, UTRACE_FLAGS_LEASE, r->ret);
		utrace_write_char(r->s, ')');
		break;
	case F_GET_SEALS:
		if (!r->ret)
			break;
		utrace_write_literal(r->s, " (seals ");
		utrace_print_flags(r->s, UTRACE_FLAGS_SEALS, r->ret);
		utrace_write_char(r->s, ')');
		break;
	case F_GETSIG:
		if (!r->ret)
			break;
		utrace_write_literal(r->s, " (");
		utrace_print_signal(r->s, r->ret);
		utrace_write_char(r->s, ')');
		break;
	}
}

void result_ioctl(const struct result *r)
{
	if ((unsigned int)r->args[1] != NS_GET_NSTYPE)
		return;
	utrace_write_literal(r->s, " (");
	utrace_print_flags(r->s, UTRACE_FLAGS_UNSHARE, r->ret);
	utrace_write_char(r->s, ')');
}

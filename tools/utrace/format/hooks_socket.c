// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - members of structures of calls about sockets
 */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"
#include "sockaddr.h"

/* Addresses */

/* Print a protocol of Ethernet, in the order of the network. */
void hook_eth_protocol(const struct element *e, const struct member *m)
{
	__u16 protocol = __builtin_bswap16(element_number(e, m));
	char text[64];
	struct seq_buf name = { .buffer = text, .size = sizeof(text) };

	utrace_write_literal(&name, "htons(");
	if (!utrace_print_names(&name, UTRACE_FLAGS_ETH_PROTOCOL, protocol)) {
		utrace_print_hex(&name, protocol);
		utrace_write_literal(&name, " /* ETH_P_??? */");
	}
	utrace_write_literal(&name, ")");
	text[name.len] = '\0';
	structs_print_network(e->s, e->data + m->at[e->abi], sizeof(protocol), text);
}

void hook_ifindex(const struct element *e, const struct member *m)
{
	structs_print_ifindex(e->s, element_number(e, m));
}

void hook_ipx_network(const struct element *e, const struct member *m)
{
	seq_buf_printf(e->s, "htonl(%#08x)",
		       __builtin_bswap32(element_number(e, m)));
}

/* Print the bytes of a hardware address, as many as its length says. */
void hook_sll_addr(const struct element *e, const struct member *m)
{
	const __u8 *byte = e->data + m->at[e->abi];
	__u64 len = element_named(e, "sll_halen");
	size_t i, n = len < m->size[e->abi] ? len : m->size[e->abi];

	utrace_write_char(e->s, '[');
	for (i = 0; i < n; i++)
		seq_buf_printf(e->s, "%s%#x", i ? ", " : "", byte[i]);
	seq_buf_puts(e->s, n < len ? ", ...]" : "]");
}

/* Lengths */

/* Print a length that a call changes, before and after it. */
void whole_socklen(const struct element *e)
{
	const struct utrace_item *before = e->items->of[e->item->arg];
	int was, is;

	memcpy(&is, e->data, sizeof(is));
	was = is;
	if (before && before->len >= sizeof(was))
		memcpy(&was, before->data, sizeof(was));
	utrace_write_char(e->s, '[');
	if (was != is) {
		utrace_write_signed(e->s, was);
		utrace_write_literal(e->s, " => ");
	}
	utrace_write_signed(e->s, is);
	utrace_write_char(e->s, ']');
}

/* Messages */

/*
 * Return a number that the call may have changed as it was before: that of the
 * item of the entry at the same place.
 */
static __u64 number_before(const struct element *e, const struct member *m)
{
	const struct utrace_item *before = e->items->of[e->item->arg];
	size_t at = e->data - e->item->data + m->at[e->abi];
	__u64 number = 0;

	if (!before || before->len < at + m->size[e->abi])
		return element_number(e, m);
	memcpy(&number, before->data + at, m->size[e->abi]);
	return number;
}

void hook_msg_namelen(const struct element *e, const struct member *m)
{
	__s32 was = number_before(e, m), is = element_number(e, m);

	if (was != is) {
		utrace_write_signed(e->s, was);
		utrace_write_literal(e->s, " => ");
	}
	utrace_write_signed(e->s, is);
}

/* Print an address as far as the program has room for it. */
void hook_msg_name(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);
	__s32 room = number_before(e, element_member(e, "msg_namelen"));

	if (!item || room < 0 || !sockaddr_print_item(e->s, item, room))
		structs_print_address(e->s, element_number(e, m));
}

/* Before the message has arrived, only the room for its address is known. */
void whole_msghdr_received(const struct element *e)
{
	utrace_write_char(e->s, '{');
	if (e->item->flags & UTRACE_ITEM_F_OUT)
		element_print_members(e);
	else
		element_print_member(e, element_member(e, "msg_namelen"));
	utrace_write_char(e->s, '}');
}

/* A message that was not sent has no length. */
void whole_mmsghdr(const struct element *e)
{
	utrace_write_char(e->s, '{');
	element_print_member(e, element_member(e, "msg_hdr"));
	if ((long)e->index < e->items->result) {
		utrace_write_literal(e->s, ", ");
		element_print_member(e, element_member(e, "msg_len"));
	}
	utrace_write_char(e->s, '}');
}

/* Control messages */

void hook_cmsg_type(const struct element *e, const struct member *m)
{
	unsigned int type = element_number(e, m);

	switch (element_named(e, "cmsg_level")) {
	case SOL_SOCKET:
		utrace_print_flags(e->s, UTRACE_FLAGS_SCM, type);
		break;
	case SOL_IP:
		utrace_print_flags(e->s, UTRACE_FLAGS_IP_CMSG, type);
		break;
	default:
		utrace_print_hex(e->s, type);
	}
}

/* Print an array of numbers of @size bytes, as many as @print shows at most. */
static void print_numbers(const struct element *e, const __u8 *data, size_t len,
			  size_t size, void (*print)(struct seq_buf *s, __u32 number))
{
	size_t i;

	utrace_write_char(e->s, '[');
	for (i = 0; (i + 1) * size <= len; i++) {
		__u32 number = 0;

		if (i)
			utrace_write_literal(e->s, ", ");
		if (i >= e->items->most && !e->items->verbose) {
			utrace_write_literal(e->s, "...");
			break;
		}
		memcpy(&number, data + i * size, size);
		print(e->s, number);
	}
	utrace_write_char(e->s, ']');
}

static void print_signed(struct seq_buf *s, __u32 number)
{
	utrace_write_signed(s, (__s32)number);
}

static void print_unsigned(struct seq_buf *s, __u32 number)
{
	utrace_write_decimal(s, number);
}

static void print_base16(struct seq_buf *s, __u32 number)
{
	utrace_print_hex(s, number);
}

/* Print @n structures, as an array unless @n is 1. */
static void print_structures(const struct element *outer, const char *name,
			     const __u8 *data, size_t len, size_t n)
{
	struct element e;
	size_t i, size = element_of(&e, outer, name, data, len);

	if (!size || len < n * size) {
		utrace_write_literal(outer->s, "???");
		return;
	}
	if (n > 1)
		utrace_write_char(outer->s, '[');
	for (i = 0; i < n; i++) {
		if (i)
			utrace_write_literal(outer->s, ", ");
		e.data = data + i * size;
		e.len = size;
		element_print(&e);
	}
	if (n > 1)
		utrace_write_char(outer->s, ']');
}

static void print_address_of(const struct element *e, const __u8 *data, size_t len)
{
	struct sockaddr_storage addr = {};

	memcpy(&addr, data, len < sizeof(addr) ? len : sizeof(addr));
	sockaddr_print(e->s, &addr, len < sizeof(addr) ? len : sizeof(addr));
}

static void print_extended_err(const struct element *outer, const __u8 *data, size_t len)
{
	struct element e;
	size_t size = element_of(&e, outer, "sock_extended_err", data, len);

	if (len < size + sizeof(struct sockaddr_in)) {
		utrace_write_literal(outer->s, "???");
		return;
	}
	utrace_write_char(outer->s, '{');
	element_print_members(&e);
	utrace_write_literal(outer->s, ", offender=");
	print_address_of(outer, data + size, sizeof(struct sockaddr_in));
	utrace_write_char(outer->s, '}');
}

static void print_text(const struct element *e, const __u8 *data, size_t len)
{
	size_t most = e->items->most;

	utrace_print_string(e->s, (const char *)data, len < most ? len : most);
	if (len > most)
		utrace_write_literal(e->s, "...");
}

/* What the data of control messages are. */
enum cmsg_kind {
	CMSG_FDS,
	CMSG_TEXT,
	CMSG_NUMBER,
	CMSG_BYTE,
	CMSG_BYTES,
	CMSG_ADDRESS,
	CMSG_ERROR,
	CMSG_STRUCTURES,
};

/**
 * struct cmsg - a control message
 * @level: its level
 * @type: its type
 * @kind: what its data are
 * @n: for CMSG_STRUCTURES, their number
 * @structure: and their name in decode/tables/
 */
static const struct cmsg {
	int level;
	int type;
	enum cmsg_kind kind;
	size_t n;
	const char *structure;
} cmsgs[] = {
	{ SOL_SOCKET, 0x01, CMSG_FDS },
	{ SOL_SOCKET, 0x02, CMSG_STRUCTURES, 1, "ucred" },
	{ SOL_SOCKET, 0x03, CMSG_TEXT },
	{ SOL_SOCKET, 29, CMSG_STRUCTURES, 1, "scm_timeval" },
	{ SOL_SOCKET, 35, CMSG_STRUCTURES, 1, "scm_timespec" },
	{ SOL_SOCKET, 37, CMSG_STRUCTURES, 3, "scm_timespec" },
	{ SOL_SOCKET, 63, CMSG_STRUCTURES, 1, "scm_timeval64" },
	{ SOL_SOCKET, 64, CMSG_STRUCTURES, 1, "scm_timespec64" },
	{ SOL_SOCKET, 65, CMSG_STRUCTURES, 3, "scm_timespec64" },
	{ SOL_IP, IP_PKTINFO, CMSG_STRUCTURES, 1, "in_pktinfo" },
	{ SOL_IP, IP_TTL, CMSG_NUMBER },
	{ SOL_IP, IP_CHECKSUM, CMSG_NUMBER },
	{ SOL_IP, IP_RECVFRAGSIZE, CMSG_NUMBER },
	{ SOL_IP, IP_TOS, CMSG_BYTE },
	{ SOL_IP, IP_RECVOPTS, CMSG_BYTES },
	{ SOL_IP, IP_RETOPTS, CMSG_BYTES },
	{ SOL_IP, IP_RECVERR, CMSG_ERROR },
	{ SOL_IP, IP_ORIGDSTADDR, CMSG_ADDRESS },
	{ SOL_IP, 0x03, CMSG_TEXT },
};

static void print_cmsg_data(const struct element *e, const struct cmsg *is,
			    const __u8 *data, size_t len)
{
	switch (is->kind) {
	case CMSG_FDS:
		print_numbers(e, data, len, sizeof(int), print_signed);
		break;
	case CMSG_TEXT:
		print_text(e, data, len);
		break;
	case CMSG_NUMBER:
		if (len < sizeof(int))
			utrace_write_literal(e->s, "???");
		else
			print_numbers(e, data, sizeof(int), sizeof(int), print_unsigned);
		break;
	case CMSG_BYTE:
		print_numbers(e, data, 1, 1, print_base16);
		break;
	case CMSG_BYTES:
		print_numbers(e, data, len, 1, print_base16);
		break;
	case CMSG_ADDRESS:
		if (len < sizeof(struct sockaddr_in))
			utrace_write_literal(e->s, "???");
		else
			print_address_of(e, data, sizeof(struct sockaddr_in));
		break;
	case CMSG_ERROR:
		print_extended_err(e, data, len);
		break;
	case CMSG_STRUCTURES:
		print_structures(e, is->structure, data, len, is->n);
		break;
	}
}

static void print_cmsg(const struct element *e, const __u8 *data, size_t len)
{
	int level = element_named(e, "cmsg_level");
	int type = element_named(e, "cmsg_type");
	size_t i;

	utrace_write_char(e->s, '{');
	element_print_members(e);
	for (i = 0; i < ARRAY_SIZE(cmsgs); i++)
		if (cmsgs[i].level == level && cmsgs[i].type == type)
			break;
	/* A part of a descriptor is left out. */
	if (i < ARRAY_SIZE(cmsgs) && cmsgs[i].kind == CMSG_FDS && len < sizeof(int))
		len = 0;
	if (len) {
		utrace_write_literal(e->s, ", cmsg_data=");
		if (i < ARRAY_SIZE(cmsgs))
			print_cmsg_data(e, &cmsgs[i], data, len);
		else
			structs_print_quoted_hex(e->s, data, len);
	}
	utrace_write_char(e->s, '}');
}

/* Print the control messages behind a pointer. */
void hook_msg_control(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);
	__u64 address = element_number(e, m), given;
	size_t word = e->abi == UTRACE_ABI_NATIVE ? 8 : 4, head, len, at = 0;
	struct element one;

	head = element_of(&one, e, "cmsghdr", NULL, 0);
	if (!item || item->flags & UTRACE_ITEM_F_FAULTED || item->len < head) {
		structs_print_address(e->s, address);
		return;
	}
	utrace_write_char(e->s, '[');
	while (item->len - at >= head) {
		if (at)
			utrace_write_literal(e->s, ", ");
		len = item->len - at;
		element_of(&one, e, "cmsghdr", item->data + at, head);
		given = element_named(&one, "cmsg_len");
		if (given < len)
			len = given < head ? head : given;
		print_cmsg(&one, item->data + at + head, len - head);
		/* Where the next one begins is not known. */
		if (given < head) {
			at += head;
			break;
		}
		given = (given + word - 1) & ~(__u64)(word - 1);
		if (given >= item->len - at) {
			at = item->len;
			break;
		}
		at += given;
	}
	if (item->len < item->whole)
		utrace_write_literal(e->s, ", ...");
	else if (at < item->len)
		seq_buf_printf(e->s, ", ... /* %#llx */", address + at);
	utrace_write_char(e->s, ']');
}

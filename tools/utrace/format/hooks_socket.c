// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - members of structures of calls about sockets
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <linux/icmp.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"
#include "sockaddr.h"

/* Addresses */

/* Write what a protocol of Ethernet, in the order of the network, means. */
static void write_eth_protocol(char *text, size_t size, __u16 value)
{
	struct seq_buf name = { .buffer = text, .size = size - 1 };
	__u16 protocol = __builtin_bswap16(value);

	utrace_write_literal(&name, "htons(");
	if (!utrace_print_names(&name, UTRACE_FLAGS_ETH_PROTOCOL, protocol)) {
		utrace_print_hex(&name, protocol);
		utrace_write_literal(&name, " /* ETH_P_??? */");
	}
	utrace_write_literal(&name, ")");
	text[name.len] = '\0';
}

void hook_eth_protocol(const struct element *e, const struct member *m)
{
	char text[64];

	write_eth_protocol(text, sizeof(text), element_number(e, m));
	structs_print_network(e->s, e->data + m->at[e->abi], sizeof(__u16), text);
}

/* Print the protocol that socket() gets. */
void arg_eth_protocol(const struct utrace_arg_text *a)
{
	char text[64];

	write_eth_protocol(text, sizeof(text), a->value);
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(a->s, text);
		return;
	}
	utrace_print_hex(a->s, (__u32)a->value);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(a->s, " /* %s */", text);
}

/* Print a number in base 16 with eight digits or signs. */
void hook_hex8(const struct element *e, const struct member *m)
{
	seq_buf_printf(e->s, "%#08llx", element_number(e, m));
}

/* A hardware address of 8 bytes. */
void hook_hwaddr(const struct element *e, const struct member *m)
{
	const __u8 *address = e->data + m->at[e->abi];
	char text[32];

	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x:%02x:%02x",
		 address[0], address[1], address[2], address[3], address[4],
		 address[5], address[6], address[7]);
	structs_print_network(e->s, address, m->size[e->abi], text);
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
	int was, is = 0;

	memcpy(&is, e->data, e->len < sizeof(is) ? e->len : sizeof(is));
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
		/* The length may be any number, so it is compared before the sum. */
		if (given < item->len - at)
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

/* Options */

/* The sets of names of the options of each level. */
static const struct {
	unsigned int level;
	unsigned int set;
} levels[] = {
	{ SOL_SOCKET, UTRACE_FLAGS_SO },
	{ 0, UTRACE_FLAGS_IP },
	{ 6, UTRACE_FLAGS_TCP },
	{ 17, UTRACE_FLAGS_UDP },
	{ 132, UTRACE_FLAGS_SCTP },
	{ 40, UTRACE_FLAGS_VSOCK },
	{ 41, UTRACE_FLAGS_IPV6 },
	{ 255, UTRACE_FLAGS_RAW },
	{ 256, UTRACE_FLAGS_IPX },
	{ 257, UTRACE_FLAGS_AX25 },
	{ 263, UTRACE_FLAGS_PACKET },
	{ 269, UTRACE_FLAGS_DCCP },
	{ 270, UTRACE_FLAGS_NETLINK },
	{ 271, UTRACE_FLAGS_TIPC },
	{ 272, UTRACE_FLAGS_RXRPC },
	{ 273, UTRACE_FLAGS_PPPOL2TP },
	{ 274, UTRACE_FLAGS_BLUETOOTH },
	{ 275, UTRACE_FLAGS_PNPIPE },
	{ 276, UTRACE_FLAGS_RDS },
	{ 277, UTRACE_FLAGS_IUCV },
	{ 278, UTRACE_FLAGS_CAIF },
	{ 279, UTRACE_FLAGS_ALG },
	{ 280, UTRACE_FLAGS_NFC_LLCP },
	{ 281, UTRACE_FLAGS_KCM },
	{ 282, UTRACE_FLAGS_TLS },
	{ 283, UTRACE_FLAGS_XDP_OPTION },
};

/* Print the name of an option, which depends on the level before it. */
void arg_sockopt(const struct utrace_arg_text *a)
{
	unsigned int level = a->args[a->arg - 1], option = a->value;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(levels); i++) {
		if (levels[i].level != level)
			continue;
		utrace_print_flags(a->s, levels[i].set, option);
		return;
	}
	utrace_write_decimal(a->s, option);
}

void arg_sockopt_got(const struct utrace_arg_text *a)
{
	unsigned int level = a->args[a->arg - 1], option = a->value;

	if (level == SOL_SOCKET && option == SO_GET_FILTER)
		utrace_print_flags(a->s, UTRACE_FLAGS_SO_GET, option);
	else
		arg_sockopt(a);
}

/* What the value of an option is. */
enum option_kind {
	OPTION_INT,
	OPTION_STRUCTURE,	/* a longer one is printed, too */
	OPTION_EXACTLY,		/* a longer one is not */
	OPTION_ERROR,
	OPTION_TXREHASH,
	OPTION_INTS,
	OPTION_ICMP,
};

#define ANY_OPTION	~0U

/**
 * struct option - an option of sockets
 * @level: its level
 * @option: its number, or ANY_OPTION
 * @kind: enum option_kind
 * @only: 'g' or 's' if this holds for getsockopt() or setsockopt() only
 * @structure: the name of its structure in decode/tables/
 */
static const struct option {
	unsigned int level;
	unsigned int option;
	__u8 kind;
	char only;
	const char *structure;
} options[] = {
	{ SOL_SOCKET, SO_DEBUG, OPTION_INT },
	{ SOL_SOCKET, SO_REUSEADDR, OPTION_INT },
	{ SOL_SOCKET, SO_DONTROUTE, OPTION_INT },
	{ SOL_SOCKET, SO_BROADCAST, OPTION_INT },
	{ SOL_SOCKET, SO_SNDBUF, OPTION_INT },
	{ SOL_SOCKET, SO_RCVBUF, OPTION_INT },
	{ SOL_SOCKET, SO_KEEPALIVE, OPTION_INT },
	{ SOL_SOCKET, SO_OOBINLINE, OPTION_INT },
	{ SOL_SOCKET, SO_NO_CHECK, OPTION_INT },
	{ SOL_SOCKET, SO_PRIORITY, OPTION_INT },
	{ SOL_SOCKET, SO_BSDCOMPAT, OPTION_INT },
	{ SOL_SOCKET, SO_REUSEPORT, OPTION_INT },
	{ SOL_SOCKET, SO_PASSCRED, OPTION_INT },
	{ SOL_SOCKET, SO_RCVLOWAT, OPTION_INT },
	{ SOL_SOCKET, SO_SNDLOWAT, OPTION_INT },
	{ SOL_SOCKET, SO_DETACH_FILTER, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMP_OLD, OPTION_INT },
	{ SOL_SOCKET, SO_ACCEPTCONN, OPTION_INT },
	{ SOL_SOCKET, SO_SNDBUFFORCE, OPTION_INT },
	{ SOL_SOCKET, SO_RCVBUFFORCE, OPTION_INT },
	{ SOL_SOCKET, SO_PASSSEC, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMPNS_OLD, OPTION_INT },
	{ SOL_SOCKET, SO_MARK, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMPING_OLD, OPTION_INT },
	{ SOL_SOCKET, SO_RXQ_OVFL, OPTION_INT },
	{ SOL_SOCKET, SO_WIFI_STATUS, OPTION_INT },
	{ SOL_SOCKET, SO_PEEK_OFF, OPTION_INT },
	{ SOL_SOCKET, SO_NOFCS, OPTION_INT },
	{ SOL_SOCKET, SO_LOCK_FILTER, OPTION_INT },
	{ SOL_SOCKET, SO_SELECT_ERR_QUEUE, OPTION_INT },
	{ SOL_SOCKET, SO_BUSY_POLL, OPTION_INT },
	{ SOL_SOCKET, SO_INCOMING_CPU, OPTION_INT },
	{ SOL_SOCKET, SO_CNX_ADVICE, OPTION_INT },
	{ SOL_SOCKET, SO_INCOMING_NAPI_ID, OPTION_INT },
	{ SOL_SOCKET, SO_ZEROCOPY, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMP_NEW, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMPNS_NEW, OPTION_INT },
	{ SOL_SOCKET, SO_TIMESTAMPING_NEW, OPTION_INT },
	{ SOL_SOCKET, SO_DETACH_REUSEPORT_BPF, OPTION_INT },
	{ SOL_SOCKET, SO_PREFER_BUSY_POLL, OPTION_INT },
	{ SOL_SOCKET, SO_BUSY_POLL_BUDGET, OPTION_INT },
	{ SOL_SOCKET, 73 /* SO_RESERVE_MEM */, OPTION_INT },
	{ SOL_SOCKET, 75 /* SO_RCVMARK */, OPTION_INT },
	{ SOL_SOCKET, 74 /* SO_TXREHASH */, OPTION_TXREHASH },
	{ SOL_SOCKET, SO_ERROR, OPTION_ERROR, 'g' },
	{ SOL_SOCKET, SO_LINGER, OPTION_STRUCTURE, 0, "linger" },
	{ SOL_SOCKET, SO_PEERCRED, OPTION_STRUCTURE, 'g', "ucred" },
	{ SOL_IP, IP_ADD_MEMBERSHIP, OPTION_STRUCTURE, 's', "ip_mreq" },
	{ SOL_IP, IP_DROP_MEMBERSHIP, OPTION_STRUCTURE, 's', "ip_mreq" },
	{ SOL_IP, MCAST_JOIN_GROUP, OPTION_STRUCTURE, 's', "group_req" },
	{ SOL_IP, MCAST_LEAVE_GROUP, OPTION_STRUCTURE, 's', "group_req" },
	{ SOL_IPV6, MCAST_JOIN_GROUP, OPTION_STRUCTURE, 's', "group_req" },
	{ SOL_IPV6, MCAST_LEAVE_GROUP, OPTION_STRUCTURE, 's', "group_req" },
	{ SOL_IPV6, IPV6_ADD_MEMBERSHIP, OPTION_STRUCTURE, 's', "ipv6_mreq" },
	{ SOL_IPV6, IPV6_DROP_MEMBERSHIP, OPTION_STRUCTURE, 's', "ipv6_mreq" },
	{ SOL_IPV6, IPV6_JOIN_ANYCAST, OPTION_STRUCTURE, 's', "ipv6_mreq" },
	{ SOL_IPV6, IPV6_LEAVE_ANYCAST, OPTION_STRUCTURE, 's', "ipv6_mreq" },
	{ SOL_RAW, ICMP_FILTER, OPTION_ICMP },
	{ SOL_PACKET, PACKET_ADD_MEMBERSHIP, OPTION_EXACTLY, 's', "packet_mreq" },
	{ SOL_PACKET, PACKET_DROP_MEMBERSHIP, OPTION_EXACTLY, 's', "packet_mreq" },
	{ SOL_PACKET, PACKET_RX_RING, OPTION_EXACTLY, 's', "tpacket_req" },
	{ SOL_PACKET, PACKET_TX_RING, OPTION_EXACTLY, 's', "tpacket_req" },
	{ SOL_PACKET, PACKET_STATISTICS, OPTION_STRUCTURE, 'g', "tpacket_stats" },
	{ SOL_NETLINK, NETLINK_LIST_MEMBERSHIPS, OPTION_INTS, 'g' },
	{ SOL_NETLINK, ANY_OPTION, OPTION_INT },
};

static const struct option *find_option(unsigned int level, unsigned int number, bool get)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].level == level &&
		    (options[i].option == number || options[i].option == ANY_OPTION) &&
		    (!options[i].only || options[i].only == (get ? 'g' : 's')))
			return &options[i];
	return NULL;
}

void hook_sockaddr(const struct element *e, const struct member *m)
{
	print_address_of(e, e->data + m->at[e->abi], m->size[e->abi]);
}

/* Print as many bytes of a hardware address as its length says. */
void hook_mr_address(const struct element *e, const struct member *m)
{
	const __u8 *byte = e->data + m->at[e->abi];
	size_t i, len = element_named(e, "mr_alen");
	char text[64] = "";

	if (len > m->size[e->abi])
		len = m->size[e->abi];
	for (i = 0; i < len && 3 * i + 4 < sizeof(text); i++)
		snprintf(text + (i ? 3 * i - 1 : 0), 4, i ? ":%02x" : "%02x", byte[i]);
	structs_print_network(e->s, byte, len, text);
}

/* Print the members that getsockopt() has written, the last one perhaps in part. */
static void print_part(const struct element *e)
{
	const struct member *m;
	size_t i, at;

	utrace_write_char(e->s, '{');
	for (i = 0; (m = element_nth(e, i)); i++) {
		at = m->at[e->abi];
		if (at >= e->len)
			break;
		if (i)
			utrace_write_literal(e->s, ", ");
		if (at + m->size[e->abi] <= e->len) {
			element_print_member(e, m);
			continue;
		}
		seq_buf_printf(e->s, "%s=", m->name);
		structs_print_quoted_hex(e->s, e->data + at, e->len - at);
		break;
	}
	utrace_write_char(e->s, '}');
}

static void print_error_number(struct seq_buf *s, __u32 number)
{
	const char *name = strerrorname_np(number);

	if (name && number)
		utrace_print_constant(s, number, name);
	else
		utrace_write_signed(s, (__s32)number);
}

static void print_txrehash(struct seq_buf *s, __u32 number)
{
	size_t before = s->len;

	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES &&
	    utrace_print_names(s, UTRACE_FLAGS_TXREHASH, number))
		return;
	s->len = before;
	utrace_write_signed(s, (__s32)number);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	if (!utrace_print_names(s, UTRACE_FLAGS_TXREHASH, number))
		utrace_write_literal(s, "SOCK_TXREHASH_???");
	utrace_write_literal(s, " */");
}

/* Print the types that a filter of ICMP drops, or those that it does not. */
static void print_icmp_filter(const struct element *e, const __u8 *data, size_t len)
{
	const char *before = "";
	__u32 set = 0;
	unsigned int i;

	memcpy(&set, data, len < sizeof(set) ? len : sizeof(set));
	if (__builtin_popcount(set) > 21) {
		utrace_write_char(e->s, '~');
		set = ~set;
	}
	utrace_write_char(e->s, '[');
	for (i = 0; i < 32; i++) {
		if (!(set >> i & 1))
			continue;
		seq_buf_puts(e->s, before);
		utrace_print_flags(e->s, UTRACE_FLAGS_ICMP, i);
		before = " ";
	}
	utrace_write_char(e->s, ']');
}

/* Print an int, of which getsockopt() may have written a part. */
static void print_int(const struct element *e, size_t len,
		      void (*print)(struct seq_buf *s, __u32 number))
{
	if (len >= sizeof(int))
		print_numbers(e, e->data, sizeof(int), sizeof(int), print);
	else
		structs_print_quoted_hex(e->s, e->data, len);
}

/*
 * Print @len bytes of the value of an option.  Return false if they are too few
 * or too many; then nothing is printed.
 */
static bool print_option(const struct element *outer, const struct option *option,
			 size_t len, bool get)
{
	struct element e;
	size_t size;

	switch (option->kind) {
	case OPTION_INT:
	case OPTION_ERROR:
	case OPTION_TXREHASH:
		if (get ? !len : len < sizeof(int))
			return false;
		print_int(outer, len, option->kind == OPTION_ERROR ? print_error_number :
				      option->kind == OPTION_TXREHASH ? print_txrehash :
				      print_signed);
		return true;
	case OPTION_INTS:
		print_numbers(outer, outer->data, len, sizeof(int), print_unsigned);
		return true;
	case OPTION_ICMP:
		if (!len)
			return false;
		print_icmp_filter(outer, outer->data, len);
		return true;
	}
	size = element_of(&e, outer, option->structure, outer->data, len);
	if (get) {
		if (!len)
			return false;
		e.len = len < size ? len : size;
		print_part(&e);
		return true;
	}
	if (len < size || (option->kind == OPTION_EXACTLY && len != size))
		return false;
	e.len = size;
	element_print(&e);
	return true;
}

/* How many bytes of the value of an option are needed to print it. */
static size_t needed(const struct element *outer, const struct option *option, size_t len)
{
	struct element e;
	size_t size = sizeof(int);

	if (!option)
		return len;
	if (option->kind == OPTION_INTS)
		return len - len % size;
	if (option->structure)
		size = element_of(&e, outer, option->structure, NULL, 0);
	return len < size ? len : size;
}

/* Print the value of an option by its level and number. */
void whole_sockopt(const struct element *e)
{
	bool get = e->item->flags & UTRACE_ITEM_F_OUT;
	const struct utrace_item *before = e->items->of[4];
	const struct option *option = find_option(e->args[1], e->args[2], get);
	size_t len = e->item->whole, most = e->items->most;
	int room;

	if (get && before && before->len >= sizeof(room)) {
		memcpy(&room, before->data, sizeof(room));
		if (room >= 0 && len > (size_t)room)
			len = room;
	}
	if ((!get && (int)e->args[4] < 0) ||
	    e->len < (option || len < most ? needed(e, option, len) : most) ||
	    (option && !print_option(e, option, len, get))) {
		structs_print_address(e->s, e->args[3]);
		return;
	}
	if (option)
		return;
	if (len == sizeof(int) && e->len >= len)
		print_numbers(e, e->data, len, len, print_signed);
	else
		print_text(e, e->data, len);
}

/* Print a filter that is set, unless its size is wrong. */
void whole_sock_fprog_option(const struct element *e)
{
	if (e->item->whole != element_size(e) || e->len != element_size(e))
		structs_print_address(e->s, e->args[3]);
	else
		whole_fprog(e);
}

/* Print a filter that getsockopt() has written, or its address. */
void whole_sock_filters(const struct element *e)
{
	size_t size = element_size(e), at;
	struct element one;

	if (!e->items->verbose || e->item->flags & UTRACE_ITEM_F_FAULTED || !e->item->whole) {
		structs_print_address(e->s, e->args[3]);
		return;
	}
	utrace_write_char(e->s, '[');
	for (at = 0; at + size <= e->len; at += size) {
		if (at)
			utrace_write_literal(e->s, ", ");
		element_of(&one, e, "sock_filter", e->data + at, size);
		element_print(&one);
	}
	if (e->len < e->item->whole)
		utrace_write_literal(e->s, ", ...");
	utrace_write_char(e->s, ']');
}

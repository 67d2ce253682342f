// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - addresses of sockets as text
 *
 * decode/tables/socket.tbl has the members of most families.  Addresses whose
 * length or meaning a table cannot describe are printed here.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/array_size.h>
#include <linux/ax25.h>
#include <linux/if_alg.h>
#include <linux/nfc.h>
#include <linux/rxrpc.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "sets.h"
#include "sockaddr.h"
#include "structs.h"

/* The structures of families in decode/tables/. */
static const struct {
	int family;
	const char *structure;
} families[] = {
	{ AF_INET, "sockaddr_in" },
	{ AF_X25, "sockaddr_x25" },
	{ AF_IPX, "sockaddr_ipx" },
	{ AF_NETLINK, "sockaddr_nl" },
	{ AF_PACKET, "sockaddr_ll" },
	{ AF_IEEE802154, "sockaddr_ieee802154" },
	{ AF_VSOCK, "sockaddr_vm" },
	{ AF_QIPCRTR, "sockaddr_qrtr" },
	{ AF_XDP, "sockaddr_xdp" },
	{ AF_MCTP, "sockaddr_mctp" },
};

static void print_data(struct seq_buf *s, const void *data, size_t len)
{
	utrace_write_literal(s, ", sa_data=");
	utrace_print_string(s, data, len);
}

/*
 * Print sun_path.  An abstract name begins with a NUL and extends to the end of
 * the address.  Any other name ends at its first NUL or with the address.
 */
static void print_unix(struct seq_buf *s, const struct sockaddr_un *un, size_t len)
{
	len -= offsetof(struct sockaddr_un, sun_path);
	if (len > sizeof(un->sun_path))
		len = sizeof(un->sun_path);
	if (!len)
		return;
	utrace_write_literal(s, ", sun_path=");
	if (un->sun_path[0]) {
		utrace_print_string(s, un->sun_path, strnlen(un->sun_path, len));
	} else {
		utrace_write_char(s, '@');
		utrace_print_string(s, un->sun_path + 1, len - 1);
	}
}

static bool has_scope(const struct in6_addr *addr)
{
	return IN6_IS_ADDR_LINKLOCAL(addr) ||
	       (IN6_IS_ADDR_MULTICAST(addr) && (addr->s6_addr[1] & 0xf) == 2);
}

/* Print an IPv6 address as a call that makes the member @name. */
static void print_in6_addr(struct seq_buf *s, const char *name,
			   const struct in6_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(AF_INET6, addr, text, sizeof(text));
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_printf(s, "inet_pton(AF_INET6, \"%s\", &%s)", text, name);
		return;
	}
	seq_buf_printf(s, "%s=", name);
	structs_print_quoted_hex(s, addr, sizeof(*addr));
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* inet_pton(AF_INET6, \"%s\") */", text);
}

/* Print an IPv6 address in a structure as a call that makes the member. */
void hook_in6(const struct element *e, const struct member *m)
{
	print_in6_addr(e->s, m->name, (const void *)(e->data + m->at[e->abi]));
}

static void print_inet6(struct seq_buf *s, const struct element *outer,
			const struct sockaddr_in6 *in6, size_t len)
{
	struct element e;

	utrace_write_literal(s, ", ");
	element_of(&e, outer, "sockaddr_in6", in6, sizeof(*in6));
	element_print_members(&e);
	if (len < sizeof(*in6))
		return;
	utrace_write_literal(s, ", sin6_scope_id=");
	if (has_scope(&in6->sin6_addr))
		structs_print_ifindex(s, in6->sin6_scope_id);
	else
		utrace_write_decimal(s, in6->sin6_scope_id);
}

/* AX.25 */

#define CALL_CHARS	6
#define SSID(call)	((call)[CALL_CHARS] >> 1 & 0xf)

/*
 * Write a call sign to @text.  Return false if it has a character that cannot be
 * printed.  @valid is set to whether the text says all that the address has.
 */
static bool call_sign(char *text, const unsigned char *call, bool *valid)
{
	unsigned int i, n = 0;
	bool blank = false;

	*valid = !(call[CALL_CHARS] & ~0x1e);
	for (i = 0; i < CALL_CHARS; i++) {
		char ch = call[i] >> 1;

		if (ch == ' ') {
			blank = true;
		} else {
			*valid &= !blank && (isupper(ch) || isdigit(ch));
			n = i + 1;
		}
		if (call[i] & 1)
			*valid = false;
		if (!isprint(ch) || ch == '*')
			return false;
		text[i] = ch;
	}
	if (!n)
		*valid = false;
	snprintf(text + n, 5, "-%u", SSID(call));
	return true;
}

static void print_call(struct seq_buf *s, const unsigned char *call)
{
	static const unsigned char none[] = { 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0 };
	bool names = utrace_style.constants == UTRACE_CONSTANTS_NAMES;
	char text[16];
	bool valid, shown;

	shown = call_sign(text, call, &valid);
	if (!memcmp(call, none, sizeof(none))) {
		snprintf(text, sizeof(text), "*");
		valid = true;
	}
	if (names && shown && valid) {
		seq_buf_puts(s, text);
		return;
	}
	utrace_write_literal(s, "{ax25_call=");
	structs_print_quoted_hex(s, call, CALL_CHARS + 1);
	utrace_write_char(s, '}');
	if (shown && (!valid || utrace_style.constants == UTRACE_CONSTANTS_BOTH))
		seq_buf_printf(s, " /* %s */", text);
}

static void print_ax25(struct seq_buf *s, const unsigned char *data, size_t len)
{
	const struct full_sockaddr_ax25 *full = (const void *)data;
	const size_t head = sizeof(full->fsa_ax25), call = sizeof(ax25_address);
	size_t n, i, most, there = (len - head) / call;
	int digipeaters = full->fsa_ax25.sax25_ndigis;

	utrace_write_literal(s, ", ");
	if (digipeaters)
		utrace_write_literal(s, "fsa_ax25={");
	utrace_write_literal(s, "sax25_call=");
	print_call(s, (const void *)&full->fsa_ax25.sax25_call);
	seq_buf_printf(s, ", sax25_ndigis=%d", digipeaters);
	if (!digipeaters)
		return;
	utrace_write_literal(s, "}, fsa_digipeater=[");
	most = digipeaters < AX25_MAX_DIGIS && digipeaters >= 0 ? digipeaters : AX25_MAX_DIGIS;
	n = most < there ? most : there;
	for (i = 0; i < n; i++) {
		if (i)
			utrace_write_literal(s, ", ");
		print_call(s, data + head + i * call);
	}
	if (n < most)
		seq_buf_puts(s, n ? ", ..." : "...");
	utrace_write_char(s, ']');
	if ((len - head) % call || len > sizeof(*full))
		utrace_write_literal(s, ", ...");
}

/* RxRPC */

/*
 * Print the address that transports the calls, by the table @name if it has all
 * @size bytes of its structure.
 */
static void print_transport(const struct element *outer, const void *data, size_t len,
			    const char *name, size_t size)
{
	const size_t head = sizeof(sa_family_t);
	struct element e;

	if (name && len >= size) {
		utrace_write_literal(outer->s, ", ");
		element_of(&e, outer, name, data, size);
		element_print_members(&e);
	} else if (len > head) {
		utrace_write_literal(outer->s, ", ");
		utrace_print_string(outer->s, data + head, len - head);
	}
}

static void print_rxrpc(const struct element *outer, const struct sockaddr_rxrpc *rx)
{
	static const struct {
		int family;
		const char *before;
		const char *structure;
		size_t size;
	} transports[] = {
		{ AF_INET, "sin={sin_", "sockaddr_in", sizeof(struct sockaddr_in) },
		{ AF_INET6, "sin6={sin6_", "sockaddr_in6",
		  offsetof(struct sockaddr_in6, sin6_scope_id) },
		{},
	};
	size_t len = rx->transport_len, i = 0;
	struct element e;

	if (len > sizeof(rx->transport))
		len = sizeof(rx->transport);
	while (transports[i].family && transports[i].family != rx->transport.family)
		i++;
	utrace_write_literal(outer->s, ", ");
	element_of(&e, outer, "sockaddr_rxrpc", rx, sizeof(*rx));
	element_print_members(&e);
	seq_buf_printf(outer->s, ", transport={%sfamily=", transports[i].before ?: "");
	utrace_print_flags(outer->s, UTRACE_FLAGS_FAMILY, rx->transport.family);
	print_transport(outer, &rx->transport, len, transports[i].structure,
			transports[i].size);
	seq_buf_puts(outer->s, transports[i].structure ? "}}" : "}");
}

/* Near field communication: the longer structure has a name of a service. */
static void print_nfc(const struct element *outer, const void *data, size_t len)
{
	bool llcp = len >= sizeof(struct sockaddr_nfc_llcp);
	struct element e;

	utrace_write_literal(outer->s, ", ");
	element_of(&e, outer, llcp ? "sockaddr_nfc_llcp" : "sockaddr_nfc", data, len);
	element_print_members(&e);
	if (!llcp && len > sizeof(struct sockaddr_nfc))
		utrace_write_literal(outer->s, ", ...");
}

/* The name of an algorithm ends with the address. */
static void print_alg(const struct element *outer, const void *data, size_t len)
{
	struct element e;

	utrace_write_literal(outer->s, ", ");
	element_of(&e, outer, "sockaddr_alg", data, len);
	element_print_start(&e);
}

/* Families */

static void print_family(struct seq_buf *s, const unsigned char *data, size_t len)
{
	static const struct utrace_call_items items = {
		.most = UTRACE_ITEMS_ALL, .verbose = true
	};
	static const struct utrace_item item = {};
	const struct element outer = { .s = s, .items = &items, .item = &item };
	const size_t head = sizeof(sa_family_t);
	unsigned short family;
	struct element e;
	size_t i, size;

	memcpy(&family, data, head);
	utrace_write_literal(s, "sa_family=");
	utrace_print_flags(s, UTRACE_FLAGS_FAMILY, family);
	switch (family) {
	case AF_UNIX:
		print_unix(s, (const void *)data, len);
		return;
	case AF_INET6:
		if (len < offsetof(struct sockaddr_in6, sin6_scope_id))
			break;
		print_inet6(s, &outer, (const void *)data, len);
		return;
	case AF_AX25:
		if (len < sizeof(struct sockaddr_ax25))
			break;
		print_ax25(s, data, len);
		return;
	case AF_RXRPC:
		if (len < sizeof(struct sockaddr_rxrpc))
			break;
		print_rxrpc(&outer, (const void *)data);
		return;
	case AF_ALG:
		if (len <= offsetof(struct sockaddr_alg, salg_name))
			break;
		print_alg(&outer, data, len);
		return;
	case AF_NFC:
		if (len < sizeof(struct sockaddr_nfc))
			break;
		print_nfc(&outer, data, len);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(families); i++) {
		if (families[i].family != family)
			continue;
		size = element_of(&e, &outer, families[i].structure, data, len);
		if (len < size)
			break;
		utrace_write_literal(s, ", ");
		element_print_members(&e);
		return;
	}
	if (len > head)
		print_data(s, data + head, len - head);
}

/**
 * sockaddr_print() - print an address of a socket
 * @s: the text is appended here
 * @data: the address, in a struct sockaddr_storage
 * @len: its bytes, at least those of the family
 */
void sockaddr_print(struct seq_buf *s, const void *data, size_t len)
{
	utrace_write_char(s, '{');
	print_family(s, data, len);
	utrace_write_char(s, '}');
}

/* Print @len bytes of @item; return false if there are too few. */
static bool print_item(struct seq_buf *s, const struct utrace_item *item, size_t len)
{
	struct sockaddr_storage addr = {};

	if (len > sizeof(addr))
		len = sizeof(addr);
	if (len < sizeof(addr.ss_family) || item->len < len)
		return false;
	memcpy(&addr, item->data, len);
	sockaddr_print(s, &addr, len);
	return true;
}

/**
 * sockaddr_print_arg() - print an argument that points to an address
 * @s: the text is appended here
 * @items: the captured items of the call
 * @item: the address
 * @is: the type of the argument
 *
 * The item with the length before the call says how much of an address that the
 * call wrote has been stored.
 *
 * Return: false if too little of it is known; then nothing is printed.
 */
bool sockaddr_print_arg(struct seq_buf *s, const struct utrace_call_items *items,
			const struct utrace_item *item, const struct utrace_arg *is)
{
	const struct utrace_item *before;
	size_t len = item->whole;
	unsigned int room;

	if (is->type == UTRACE_ARG_OUT_SOCKADDR) {
		before = items->of[is->len];
		if (before && before->kind == UTRACE_ITEM_STRUCT &&
		    before->len >= sizeof(room)) {
			memcpy(&room, before->data, sizeof(room));
			if (len > room)
				len = room;
		}
	}
	return print_item(s, item, len);
}

/**
 * sockaddr_print_item() - print an address behind a pointer of a structure
 * @s: the text is appended here
 * @item: the address
 * @room: bytes that the call could write
 *
 * Return: false if too little of it is known; then nothing is printed.
 */
bool sockaddr_print_item(struct seq_buf *s, const struct utrace_item *item, size_t room)
{
	return print_item(s, item, item->whole < room ? item->whole : room);
}

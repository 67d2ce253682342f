// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what the kernel prints in another form than the command
 *
 * The kernel prints addresses of sockets of the usual families, no structures
 * but the memory of struct iovec, and numbers where the command has functions.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/netlink.h>
#include <linux/seq_buf.h>
#include <linux/socket.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/un.h>

#include "forms.h"
#include "items.h"
#include "print.h"
#include "sets.h"
#include "write.h"

/**
 * utrace_form_in6() - print an address of IPv6
 * @s: the text is appended here
 * @addr: the address
 *
 * Context: Any.
 */
void utrace_form_in6(struct seq_buf *s, const struct in6_addr *addr)
{
	seq_buf_printf(s, "%pI6c", addr);
}

/*
 * Print sun_path.  An abstract name begins with a NUL and extends to the end of
 * the address.  Any other name ends at its first NUL or with the address.
 */
static void print_unix(struct seq_buf *s, const struct sockaddr_un *un,
		       size_t len)
{
	/* A program may claim a length larger than that of any address. */
	len = min(len - offsetof(struct sockaddr_un, sun_path),
		  sizeof(un->sun_path));
	if (!len)
		return;
	utrace_write_literal(s, ", sun_path=");
	if (un->sun_path[0]) {
		utrace_print_string(s, un->sun_path,
				    strnlen(un->sun_path, len));
	} else {
		utrace_write_char(s, '@');
		utrace_print_string(s, un->sun_path + 1, len - 1);
	}
}

static void print_inet(struct seq_buf *s, const struct sockaddr_in *in)
{
	seq_buf_printf(s, ", sin_port=htons(%u), sin_addr=",
		       ntohs(in->sin_port));
	utrace_print_inet(s, &in->sin_addr, false);
}

static void print_inet6(struct seq_buf *s, const struct sockaddr_in6 *in6)
{
	seq_buf_printf(s, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), ",
		       ntohs(in6->sin6_port), ntohl(in6->sin6_flowinfo));
	utrace_write_literal(s, "sin6_addr=inet_pton(\"");
	utrace_form_in6(s, &in6->sin6_addr);
	seq_buf_printf(s, "\"), sin6_scope_id=%u", in6->sin6_scope_id);
}

static void print_netlink(struct seq_buf *s, const struct sockaddr_nl *nl)
{
	seq_buf_printf(s, ", nl_pid=%u, nl_groups=%#x", nl->nl_pid,
		       nl->nl_groups);
}

static void print_other(struct seq_buf *s, const u8 *data, size_t len)
{
	size_t i;

	utrace_write_literal(s, ", sa_data=0x");
	for (i = 0; i < len; i++)
		seq_buf_printf(s, "%02x", data[i]);
}

static void print_family(struct seq_buf *s,
			 const struct sockaddr_storage *addr, size_t len)
{
	const size_t head = sizeof(addr->ss_family);

	utrace_write_literal(s, "sa_family=");
	utrace_print_flags(s, UTRACE_FLAGS_FAMILY, addr->ss_family);
	if (addr->ss_family == AF_UNIX)
		print_unix(s, (const void *)addr, len);
	else if (addr->ss_family == AF_INET &&
		 len >= offsetofend(struct sockaddr_in, sin_addr))
		print_inet(s, (const void *)addr);
	else if (addr->ss_family == AF_INET6 &&
		 len >= offsetofend(struct sockaddr_in6, sin6_addr))
		print_inet6(s, (const void *)addr);
	else if (addr->ss_family == AF_NETLINK &&
		 len >= sizeof(struct sockaddr_nl))
		print_netlink(s, (const void *)addr);
	else if (len > head)
		print_other(s, (const u8 *)addr + head, len - head);
}

/**
 * utrace_form_sockaddr() - print the address of a socket
 * @s: the text is appended here
 * @addr: the address
 * @len: bytes of it, of which the family is two
 * @part: the program's address is longer
 *
 * Context: Any.
 */
void utrace_form_sockaddr(struct seq_buf *s,
			  const struct sockaddr_storage *addr, size_t len,
			  bool part)
{
	utrace_write_char(s, '{');
	print_family(s, addr, len);
	seq_buf_puts(s, part ? ", ...}" : "}");
}

/**
 * utrace_form_sockaddr_arg() - print an argument that is the address of a socket
 * @text: the argument
 * @item: its item
 * @is: its type
 *
 * Context: Any.
 * Return: false if too little was captured; then nothing is printed.
 */
bool utrace_form_sockaddr_arg(const struct utrace_arg_text *text,
			      const struct utrace_item *item,
			      const struct utrace_arg *is)
{
	if (item->len < sizeof(sa_family_t))
		return false;
	utrace_print_sockaddr(text->s, item);
	return true;
}

/**
 * utrace_form_structs() - print the memory that structures point to
 * @text: the argument, with items
 * @memory: row of the structures
 *
 * The kernel's clients capture no structures but struct iovec.
 *
 * Context: Any.
 * Return: false if nothing was captured; then nothing is printed.
 */
bool utrace_form_structs(const struct utrace_arg_text *text,
			 const struct utrace_memory *memory)
{
	const struct utrace_call_items *items = text->items;
	const struct utrace_layout *layout = &utrace_layouts[memory->layout];
	const struct utrace_item *item = items->out[text->arg] ?:
					 items->of[text->arg], *one;
	const char *before = "";
	unsigned int i;

	if (!item || !layout->npointers)
		return false;
	utrace_write_char(text->s, '[');
	for (i = 0; i < item->len / layout->size[text->abi]; i++) {
		one = utrace_item_behind(items, item,
					 utrace_pointers[layout->pointer].at[text->abi],
					 i);
		if (!one)
			continue;
		seq_buf_puts(text->s, before);
		utrace_print_memory(text->s, items, one);
		before = ", ";
	}
	if (item->flags & (UTRACE_ITEM_F_TRUNCATED | UTRACE_ITEM_F_FAULTED))
		seq_buf_printf(text->s, "%s...", before);
	utrace_write_char(text->s, ']');
	return true;
}

/**
 * utrace_form_hook() - print an argument that a function of the command prints
 * @text: the argument
 * @hook: number of the function
 *
 * Context: Any.
 */
void utrace_form_hook(const struct utrace_arg_text *text, unsigned int hook)
{
	utrace_print_hex(text->s, text->value);
}

/**
 * utrace_form_mode() - print the mode of a file
 * @s: the text is appended here
 * @mode: the mode
 *
 * Context: Any.
 */
void utrace_form_mode(struct seq_buf *s, u16 mode)
{
	seq_buf_printf(s, "%#03o", mode);
}

/**
 * utrace_form_flags() - print an argument whose bits or values have names
 * @text: the argument
 * @set: enum utrace_flag_set
 *
 * Context: Any.
 */
void utrace_form_flags(const struct utrace_arg_text *text, unsigned int set)
{
	utrace_print_flags(text->s, set, text->value);
}

/**
 * utrace_form_pid() - print what a number of a task means
 * @s: the text is appended here
 * @pid: the number, which was printed
 *
 * Context: Any.
 */
void utrace_form_pid(struct seq_buf *s, int pid)
{
}

/**
 * utrace_form_args() - find out which arguments of a call are printed
 * @shown: filled in
 * @call: row of the call
 * @args: its arguments
 * @abi: ABI of the call
 *
 * Context: Any.
 * Return: false if all of them are, in the order of the row.
 */
bool utrace_form_args(struct utrace_shown *shown, const struct utrace_call *call,
		      const unsigned long args[6], enum utrace_abi abi)
{
	return false;
}

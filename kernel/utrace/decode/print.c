// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system calls as text, much like that of strace
 *
 * An argument is printed by its type in the table (table.h).  Where a capture
 * has an item for the argument, that item is printed, else the bare number.
 *
 * The command utrace (tools/utrace) is built with this file, too.
 */
#include <linux/ctype.h>
#include <linux/errname.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/netlink.h>
#include <linux/seq_buf.h>
#include <linux/socket.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/un.h>
#include <linux/utrace.h>

#include "items.h"
#include "print.h"
#include "table.h"

/**
 * struct call_text - a system call being printed
 * @s: the text is appended here
 * @args: arguments of the call; to print a result, the result alone
 * @items: what was captured of the arguments; may be NULL if @used is 0
 * @used: bytes of @items
 * @ia32: the call is of the 32-bit table, so its words have 32 bits
 *
 * Lives on the stack of the printing function, which keeps @args and @items
 * alive.
 */
struct call_text {
	struct seq_buf *s;
	const unsigned long *args;
	const void *items;
	size_t used;
	bool ia32;
};

/*
 * Find the item of kind @kind for argument @arg; NULL if there is none of use.
 */
static const struct utrace_item *item_of(const struct call_text *c,
					 unsigned int arg,
					 enum utrace_item_kind kind)
{
	const struct utrace_item *item = NULL;

	do {
		item = utrace_item_next(c->items, c->used, item);
	} while (item && (item->arg != arg || item->kind != kind));
	/* No byte could be read: the caller prints the address instead. */
	if (item && (item->flags & UTRACE_ITEM_FAULTED) && !item->len)
		return NULL;
	return item;
}

/* Argument @arg, cut to the width of the ABI's word. */
static unsigned long word(const struct call_text *c, unsigned int arg)
{
	return c->ia32 ? (u32)c->args[arg] : c->args[arg];
}

static void print_address(const struct call_text *c, unsigned int arg)
{
	if (word(c, arg))
		utrace_print_hex(c->s, word(c, arg));
	else
		seq_buf_puts(c->s, "NULL");
}

/*
 * The letter that stands for @ch behind a backslash in C; 0 if there is none.
 */
static char escape_of(u8 ch)
{
	static const char from[] = "\t\n\v\f\r\"\\";
	static const char to[] = "tnvfr\"\\";
	const char *at = ch ? strchr(from, ch) : NULL;

	return at ? to[at - from] : 0;
}

/*
 * Append @text with C escapes.  A short octal escape is used unless a digit
 * follows, which would be read as a part of it.
 */
static void print_text(struct seq_buf *s, const u8 *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++) {
		if (escape_of(text[i]))
			seq_buf_printf(s, "\\%c", escape_of(text[i]));
		else if (isascii(text[i]) && isprint(text[i]))
			seq_buf_putc(s, text[i]);
		else if (i + 1 < len && isdigit(text[i + 1]))
			seq_buf_printf(s, "\\%03o", text[i]);
		else
			seq_buf_printf(s, "\\%o", text[i]);
	}
}

/**
 * utrace_print_string() - print text in quotes, with the escapes of C
 * @s: the text is appended here
 * @text: the text; need not end with a NUL
 * @len: bytes of @text
 *
 * Context: Any.
 */
void utrace_print_string(struct seq_buf *s, const char *text, size_t len)
{
	seq_buf_putc(s, '"');
	print_text(s, (const u8 *)text, len);
	seq_buf_putc(s, '"');
}

/* Return true if the item holds less than the task's memory had. */
static bool is_part(const struct utrace_item *item)
{
	return item->flags & (UTRACE_ITEM_TRUNCATED | UTRACE_ITEM_FAULTED);
}

static void print_memory(const struct call_text *c, unsigned int arg,
			 enum utrace_item_kind kind)
{
	const struct utrace_item *item = item_of(c, arg, kind);

	if (!item) {
		print_address(c, arg);
		return;
	}
	utrace_print_string(c->s, (const char *)item->data, item->len);
	if (is_part(item))
		seq_buf_puts(c->s, "...");
}

/* Print the captured bytes of all struct iovec together, as one string. */
static void print_iovec(const struct call_text *c, unsigned int arg)
{
	if (!item_of(c, arg, UTRACE_ITEM_BYTES)) {
		print_address(c, arg);
		return;
	}
	seq_buf_putc(c->s, '[');
	print_memory(c, arg, UTRACE_ITEM_BYTES);
	seq_buf_putc(c->s, ']');
}

/**
 * utrace_print_argv() - print captured strings as an array
 * @s: the text is appended here
 * @item: an item of kind UTRACE_ITEM_ARGV
 *
 * Context: Any.
 */
void utrace_print_argv(struct seq_buf *s, const struct utrace_item *item)
{
	const char *before = "";
	size_t at, len;

	seq_buf_putc(s, '[');
	for (at = 0; at < item->len; at += len + 1) {
		len = strnlen((const char *)item->data + at, item->len - at);
		seq_buf_puts(s, before);
		utrace_print_string(s, (const char *)item->data + at, len);
		before = ", ";
	}
	if (is_part(item))
		seq_buf_printf(s, "%s...", before);
	seq_buf_putc(s, ']');
}

static void print_argv(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg, UTRACE_ITEM_ARGV);

	if (item)
		utrace_print_argv(c->s, item);
	else
		print_address(c, arg);
}

/*
 * Print sun_path.  An abstract name begins with a NUL and has a length; any
 * other name ends at its first NUL or with the address.
 */
static void print_unix(struct seq_buf *s, const struct sockaddr_un *un,
		       size_t len)
{
	/* A program may claim a length beyond the largest address there is. */
	len = min(len - offsetof(struct sockaddr_un, sun_path),
		  sizeof(un->sun_path));
	if (!len)
		return;
	seq_buf_puts(s, ", sun_path=");
	if (un->sun_path[0]) {
		utrace_print_string(s, un->sun_path,
				    strnlen(un->sun_path, len));
	} else {
		seq_buf_putc(s, '@');
		utrace_print_string(s, un->sun_path + 1, len - 1);
	}
}

static void print_inet(struct seq_buf *s, const struct sockaddr_in *in)
{
	const u8 *addr = (const u8 *)&in->sin_addr;

	seq_buf_printf(s, ", sin_port=htons(%u), sin_addr=inet_addr(\"%u.%u.%u.%u\")",
		       ntohs(in->sin_port), addr[0], addr[1], addr[2], addr[3]);
}

static void print_in6_addr(struct seq_buf *s, const struct in6_addr *addr)
{
#ifdef __KERNEL__
	seq_buf_printf(s, "%pI6c", addr);
#else
	char text[INET6_ADDRSTRLEN];

	seq_buf_puts(s, inet_ntop(AF_INET6, addr, text, sizeof(text)));
#endif
}

static void print_inet6(struct seq_buf *s, const struct sockaddr_in6 *in6)
{
	seq_buf_printf(s, ", sin6_port=htons(%u), sin6_flowinfo=htonl(%u), ",
		       ntohs(in6->sin6_port), ntohl(in6->sin6_flowinfo));
	seq_buf_puts(s, "sin6_addr=inet_pton(\"");
	print_in6_addr(s, &in6->sin6_addr);
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

	seq_buf_puts(s, ", sa_data=0x");
	for (i = 0; i < len; i++)
		seq_buf_printf(s, "%02x", data[i]);
}

static void print_family(struct seq_buf *s,
			 const struct sockaddr_storage *addr, size_t len)
{
	const size_t head = sizeof(addr->ss_family);

	seq_buf_puts(s, "sa_family=");
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

static void print_sockaddr(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item;
	struct sockaddr_storage addr = {};
	size_t len;

	item = item_of(c, arg, UTRACE_ITEM_SOCKADDR);
	if (!item || item->len < sizeof(addr.ss_family)) {
		print_address(c, arg);
		return;
	}
	len = min_t(size_t, item->len, sizeof(addr));
	memcpy(&addr, item->data, len);
	seq_buf_putc(c->s, '{');
	print_family(c->s, &addr, len);
	seq_buf_puts(c->s, is_part(item) ? ", ...}" : "}");
}

static void print_fd(const struct call_text *c, unsigned int arg, bool dfd)
{
	const struct utrace_item *item = item_of(c, arg, UTRACE_ITEM_FILE);

	if (dfd && (int)c->args[arg] == AT_FDCWD)
		seq_buf_puts(c->s, "AT_FDCWD");
	else
		seq_buf_printf(c->s, "%d", (int)c->args[arg]);
	if (!item)
		return;
	seq_buf_putc(c->s, '<');
	print_text(c->s, item->data, item->len);
	seq_buf_puts(c->s, is_part(item) ? "...>" : ">");
}

static void print_number(const struct call_text *c, unsigned int arg,
			 const struct utrace_arg *is)
{
	unsigned long value = word(c, arg);

	switch (is->type) {
	case UTRACE_ARG_INT:
		seq_buf_printf(c->s, "%d", (int)value);
		break;
	case UTRACE_ARG_LONG:
		seq_buf_printf(c->s, "%ld", c->ia32 ? (int)value : (long)value);
		break;
	case UTRACE_ARG_SIZE:
		seq_buf_printf(c->s, "%lu", value);
		break;
	case UTRACE_ARG_OCTAL:
		seq_buf_printf(c->s, "%#o", (u32)value);
		break;
	case UTRACE_ARG_SIGNAL:
		utrace_print_signal(c->s, value);
		break;
	case UTRACE_ARG_FLAGS:
		utrace_print_flags(c->s, is->len, value);
		break;
	default:
		utrace_print_hex(c->s, value);
	}
}

static void print_arg(const struct call_text *c, unsigned int arg,
		      const struct utrace_arg *is)
{
	switch (is->type) {
	case UTRACE_ARG_FD:
	case UTRACE_ARG_DFD:
		print_fd(c, arg, is->type == UTRACE_ARG_DFD);
		break;
	case UTRACE_ARG_PATH:
	case UTRACE_ARG_STRING:
		print_memory(c, arg, UTRACE_ITEM_STRING);
		break;
	case UTRACE_ARG_IN:
	case UTRACE_ARG_OUT:
		print_memory(c, arg, UTRACE_ITEM_BYTES);
		break;
	case UTRACE_ARG_IN_IOVEC:
	case UTRACE_ARG_OUT_IOVEC:
		print_iovec(c, arg);
		break;
	case UTRACE_ARG_SOCKADDR:
	case UTRACE_ARG_OUT_SOCKADDR:
		print_sockaddr(c, arg);
		break;
	case UTRACE_ARG_ARGV:
		print_argv(c, arg);
		break;
	default:
		print_number(c, arg, is);
	}
}

/*
 * Return true if the call ends before argument @arg: open() and openat() have
 * no mode where they create no file.
 */
static bool ends_before(const struct call_text *c,
			const struct utrace_call *call, unsigned int arg)
{
	if (!arg || call->arg[arg].type != UTRACE_ARG_OCTAL)
		return false;
	return call->arg[arg - 1].type == UTRACE_ARG_FLAGS &&
	       call->arg[arg - 1].len == UTRACE_FLAGS_OPEN &&
	       !(c->args[arg - 1] & (O_CREAT | __O_TMPFILE));
}

static void print_args(const struct call_text *c,
		       const struct utrace_call *call)
{
	unsigned int i;

	for (i = 0; i < call->nargs && !ends_before(c, call, i); i++) {
		if (i)
			seq_buf_puts(c->s, ", ");
		print_arg(c, i, &call->arg[i]);
	}
}

/* Stands for a call whose arguments the table does not know: six numbers. */
static const struct utrace_call unknown_call = {
	.nargs = UTRACE_CALL_ARGS,
	.arg = {
		[0 ... UTRACE_CALL_ARGS - 1] = { UTRACE_ARG_HEX },
	},
};

/**
 * utrace_print_call() - print a system call and its arguments
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_call_of()
 * @args: arguments, in the order of the call for every ABI
 * @items: what was captured of the arguments; may be NULL if @used is 0
 * @used: bytes of @items
 *
 * A call that args.tbl does not know is printed with six numbers.
 *
 * Context: Any.
 */
void utrace_print_call(struct seq_buf *s, unsigned int nr,
		       const unsigned long args[6], const void *items,
		       size_t used)
{
	const struct utrace_call *call = utrace_call_of(nr);
	const struct call_text c = {
		.s = s,
		.args = args,
		.items = items,
		.used = used,
		.ia32 = nr & UTRACE_SYSCALL_IA32,
	};

	if (call)
		seq_buf_printf(s, "%s(", call->name);
	else
		seq_buf_printf(s, "syscall_%#x(", nr);
	print_args(&c, call && call->known ? call : &unknown_call);
	seq_buf_putc(s, ')');
}

/* Return true for the codes by which the kernel makes the call again. */
static bool is_restart(long error)
{
	return error == ERESTARTSYS || error == ERESTARTNOINTR ||
	       error == ERESTARTNOHAND || error == ERESTART_RESTARTBLOCK;
}

static void print_error(struct seq_buf *s, long error)
{
	const char *name = errname(error);

	seq_buf_puts(s, is_restart(error) ? "? " : "-1 ");
	if (name)
		seq_buf_puts(s, name);
	else
		seq_buf_printf(s, "%ld", error);
}

/**
 * utrace_print_result() - print what a system call returned
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_call_of()
 * @ret: the result; a negative errno is printed as "-1 NAME"
 *
 * Context: Any.
 */
void utrace_print_result(struct seq_buf *s, unsigned int nr, long ret)
{
	const struct utrace_call *call = utrace_call_of(nr);
	const struct utrace_arg is = {
		call && call->known ? call->result : UTRACE_ARG_LONG
	};
	const unsigned long result = ret;
	const struct call_text c = {
		.s = s,
		.args = &result,
		.ia32 = nr & UTRACE_SYSCALL_IA32,
	};

	if (c.ia32)
		ret = (int)ret;
	if (IS_ERR_VALUE(ret))
		print_error(s, -ret);
	else
		print_arg(&c, 0, &is);
}

/**
 * utrace_print_outputs() - print what was captured at the exit of a call
 * @s: the text is appended here, with a blank before each item
 * @items: what was captured
 * @used: bytes of @items
 *
 * Context: Any.
 */
void utrace_print_outputs(struct seq_buf *s, const void *items, size_t used)
{
	const unsigned long nowhere[UTRACE_CALL_ARGS] = {};
	const struct call_text c = {
		.s = s,
		.args = nowhere,
		.items = items,
		.used = used,
	};
	const struct utrace_item *item = NULL;

	while ((item = utrace_item_next(items, used, item))) {
		if (!item->len || item->arg >= UTRACE_CALL_ARGS)
			continue;
		if (item->kind == UTRACE_ITEM_BYTES) {
			seq_buf_putc(s, ' ');
			print_memory(&c, item->arg, UTRACE_ITEM_BYTES);
		} else if (item->kind == UTRACE_ITEM_SOCKADDR) {
			seq_buf_putc(s, ' ');
			print_sockaddr(&c, item->arg);
		}
	}
}

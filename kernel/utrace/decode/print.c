// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system calls as text in the style of strace
 *
 * An argument is printed according to its type in the table (table.h).  If a
 * capture has an item for the argument, the item is printed, else the plain
 * number.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/errname.h>
#include <linux/errno.h>
#include <linux/fanotify.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/mman.h>
#include <linux/netlink.h>
#include <linux/seq_buf.h>
#include <linux/socket.h>
#include <linux/stat.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/un.h>
#include <linux/utrace.h>

#include "forms.h"
#include "items.h"
#include "print.h"
#include "sets.h"
#include "table.h"
#include "write.h"

/**
 * struct call_text - a system call being printed
 * @s: the text is appended here
 * @args: arguments of the call; when a result is printed, only the result
 * @items: captured items of the arguments; may be NULL
 * @abi: ABI of the call
 * @ia32: the call is of the 32-bit table, so its words have 32 bits
 *
 * Lives on the stack of the printing function, which keeps @args and @items
 * valid.
 */
struct call_text {
	struct seq_buf *s;
	const unsigned long *args;
	const struct utrace_call_items *items;
	enum utrace_abi abi;
	bool ia32;
};

static struct call_text call_text_of(struct seq_buf *s, unsigned int nr,
				     const unsigned long *args,
				     const struct utrace_call_items *items)
{
	return (struct call_text){
		.s = s,
		.args = args,
		.items = items,
		.abi = utrace_abi_of(nr),
		.ia32 = nr & UTRACE_SYSCALL_IA32,
	};
}

/* The item of argument @arg, or NULL. */
static const struct utrace_item *item_of(const struct call_text *c,
					 unsigned int arg)
{
	return c->items ? c->items->of[arg] : NULL;
}

/* Argument @arg, truncated to the width of the ABI's word. */
static unsigned long word(const struct call_text *c, unsigned int arg)
{
	return c->ia32 ? (u32)c->args[arg] : c->args[arg];
}

static void print_address(const struct call_text *c, unsigned int arg)
{
	if (word(c, arg))
		utrace_print_hex(c->s, word(c, arg));
	else
		utrace_write_literal(c->s, "NULL");
}

static struct utrace_arg_text text_of(const struct call_text *c,
				      unsigned int arg)
{
	return (struct utrace_arg_text){
		.s = c->s,
		.items = c->items,
		.args = c->args,
		.arg = arg,
		.value = word(c, arg),
		.abi = c->abi,
	};
}

/* Return true if the item has fewer bytes than the memory of the task had. */
static bool is_part(const struct utrace_item *item)
{
	return item->flags & (UTRACE_ITEM_F_TRUNCATED | UTRACE_ITEM_F_FAULTED);
}

/**
 * utrace_print_memory() - print captured memory or a captured string
 * @s: the text is appended here
 * @items: the items of the call, whose ->most limits memory
 * @item: an item of kind UTRACE_ITEM_BYTES or UTRACE_ITEM_STRING
 *
 * Context: Any.
 */
void utrace_print_memory(struct seq_buf *s,
			 const struct utrace_call_items *items,
			 const struct utrace_item *item)
{
	size_t len = item->len;

	if (len > items->most && item->kind == UTRACE_ITEM_BYTES)
		len = items->most;
	utrace_print_string(s, (const char *)item->data, len);
	if (len < item->len || is_part(item))
		utrace_write_literal(s, "...");
}

/*
 * Return true if no more than @most bytes of the memory could be read.  Then the
 * command prints the address, as strace does: it reads one byte more to know
 * whether dots follow.  The kernel prints the bytes.
 */
static bool is_too_short(const struct call_text *c,
			 const struct utrace_item *item, size_t most)
{
	return item->flags & UTRACE_ITEM_F_FAULTED && item->len <= most &&
	       !utrace_items_unlimited(c->items);
}

static void print_memory(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg);

	if (item && !is_too_short(c, item, c->items->most))
		utrace_print_memory(c->s, c->items, item);
	else
		print_address(c, arg);
}

/* Print memory with a text, without the NUL that may end it. */
static void print_text(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg);

	if (item && item->len && !is_part(item) &&
	    item->len - 1 <= c->items->most && !item->data[item->len - 1])
		utrace_print_string(c->s, (const char *)item->data, item->len - 1);
	else
		print_memory(c, arg);
}

/*
 * Print a string.  If it has more than @most bytes it is cut, and the first
 * @shown bytes are printed.
 */
static void print_string(const struct call_text *c, unsigned int arg,
			 size_t most, size_t shown)
{
	const struct utrace_item *item = item_of(c, arg);

	if (!item || is_too_short(c, item, most)) {
		print_address(c, arg);
	} else if (item->len <= most) {
		utrace_print_memory(c->s, c->items, item);
	} else {
		utrace_print_string(c->s, (const char *)item->data, shown);
		utrace_write_literal(c->s, "...");
	}
}

/* Print a string that names no file.  The call may read a part of it. */
static void print_plain_string(const struct call_text *c, unsigned int arg,
			       const struct utrace_arg *is)
{
	size_t most = c->items ? c->items->most : 0;

	if (is->len == UTRACE_LEN_NAME)
		print_string(c, arg, PATH_MAX - 1, PATH_MAX - 1);
	else if (is->len && is->len <= most)
		print_string(c, arg, is->len - 1, is->len);
	else
		print_string(c, arg, most, most);
}

/*
 * Print captured strings as an array: @strings of them, and @bytes of each.
 */
static void print_strings(struct seq_buf *s, const struct utrace_item *item,
			  unsigned int bytes, unsigned int strings)
{
	const char *before = "";
	unsigned int n = 0;
	size_t at, len;

	utrace_write_char(s, '[');
	for (at = 0; at < item->len && n < strings; at += len + 1, n++) {
		len = strnlen((const char *)item->data + at, item->len - at);
		seq_buf_puts(s, before);
		utrace_print_string(s, (const char *)item->data + at,
				    min_t(size_t, len, bytes));
		if (len > bytes)
			utrace_write_literal(s, "...");
		before = ", ";
	}
	if (is_part(item) || at < item->len)
		seq_buf_printf(s, "%s...", before);
	utrace_write_char(s, ']');
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
	print_strings(s, item, ~0U, ~0U);
}

static noinline_for_stack void print_argv(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg);

	if (item)
		print_strings(c->s, item, c->items->most, c->items->verbose ?
			      ~0U : c->items->most);
	else
		print_address(c, arg);
}

/*
 * Print the environment of a program.  Without -v the command prints its
 * address and the number of its variables.
 */
static void print_environment(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg);

	if (!item || c->items->verbose || utrace_items_unlimited(c->items)) {
		print_argv(c, arg);
		return;
	}
	print_address(c, arg);
	seq_buf_printf(c->s, " /* %u var%s%s */", item->index,
		       item->index == 1 ? "" : "s",
		       item->flags & UTRACE_ITEM_F_OPEN ? ", unterminated" : "");
}

/**
 * utrace_print_inet() - print an address of the internet
 * @s: the text is appended here
 * @addr: 4 bytes, or 16 bytes if @six
 * @six: it is an address of IPv6, printed without a call that makes it
 *
 * Context: Any.
 */
void utrace_print_inet(struct seq_buf *s, const void *addr, bool six)
{
	const u8 *byte = addr;

	if (six)
		utrace_form_in6(s, addr);
	else
		seq_buf_printf(s, "inet_addr(\"%u.%u.%u.%u\")", byte[0],
			       byte[1], byte[2], byte[3]);
}

/**
 * utrace_print_sockaddr() - print a captured address of a socket
 * @s: the text is appended here
 * @item: an item of kind UTRACE_ITEM_SOCKADDR that has a family
 *
 * Context: Any.
 */
noinline_for_stack void utrace_print_sockaddr(struct seq_buf *s,
					      const struct utrace_item *item)
{
	struct sockaddr_storage addr = {};
	size_t len = min_t(size_t, item->len, sizeof(addr));

	memcpy(&addr, item->data, len);
	utrace_form_sockaddr(s, &addr, len, is_part(item));
}

static void print_sockaddr(const struct call_text *c, unsigned int arg,
			   const struct utrace_arg *is)
{
	const struct utrace_arg_text text = text_of(c, arg);
	const struct utrace_item *item = item_of(c, arg);

	if (!item || !utrace_form_sockaddr_arg(&text, item, is))
		print_address(c, arg);
}

static void print_fd(const struct call_text *c, unsigned int arg,
		     const struct utrace_arg *is)
{
	const struct utrace_item *item = item_of(c, arg);
	bool dfd = is->type == UTRACE_ARG_DFD;

	if (dfd && (int)c->args[arg] == AT_FDCWD)
		utrace_print_constant(c->s, AT_FDCWD, "AT_FDCWD");
	else if (dfd && is->len && (int)c->args[arg] == FAN_NOFD)
		utrace_print_constant(c->s, FAN_NOFD, "FAN_NOFD");
	else
		utrace_write_signed(c->s, (int)c->args[arg]);
	if (!item)
		return;
	/* The command has replaced the path by its own text. */
	if (item->kind == UTRACE_ITEM_STRING) {
		utrace_write(c->s, (const char *)item->data, item->len);
		return;
	}
	utrace_write_char(c->s, '<');
	utrace_write_path(c->s, item->data, item->len);
	seq_buf_puts(c->s, is_part(item) ? "...>" : ">");
}

/*
 * Return true if argument @arg of wait4() and waitpid() is the status: memory
 * that the call writes, followed by the options of wait4().
 */
static bool is_wait_status(const struct utrace_call *call, unsigned int arg)
{
	return arg + 1 < call->nargs &&
	       call->arg[arg].type == UTRACE_ARG_OUT &&
	       call->arg[arg + 1].type == UTRACE_ARG_FLAGS &&
	       call->arg[arg + 1].len == UTRACE_FLAGS_WAIT;
}

/* Print the status of a child by the macros that decode it. */
static noinline_for_stack void print_wait_status(const struct call_text *c, unsigned int arg)
{
	const struct utrace_item *item = item_of(c, arg);
	struct seq_buf *s = c->s;
	u32 status;

	if (!item || item->len != sizeof(status)) {
		print_memory(c, arg);
		return;
	}
	memcpy(&status, item->data, sizeof(status));
	if (status == 0xffff) {
		utrace_write_literal(s, "[{WIFCONTINUED(s)}]");
	} else if ((status & 0xff) == 0x7f) {
		utrace_write_literal(s, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		utrace_print_signal(s, status >> 8 & 0xff);
		utrace_write_literal(s, "}]");
	} else if (status & 0x7f) {
		utrace_write_literal(s, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		utrace_print_signal(s, status & 0x7f);
		if (status & 0x80)
			utrace_write_literal(s, " && WCOREDUMP(s)");
		utrace_write_literal(s, "}]");
	} else {
		utrace_write_literal(s, "[{WIFEXITED(s) && WEXITSTATUS(s) == ");
		utrace_write_decimal(s, status >> 8 & 0xff);
		utrace_write_literal(s, "}]");
	}
}

static void print_structs(const struct call_text *c, unsigned int arg,
			  const struct utrace_arg *is)
{
	const struct utrace_arg_text text = text_of(c, arg);

	if (!c->items || !utrace_form_structs(&text, &utrace_memories[is->len]))
		print_address(c, arg);
}

/* A number in its size, or in bytes. */
static unsigned long number(unsigned long value, const struct utrace_arg *is)
{
	switch (is->len) {
	case sizeof(u16):
		return (u16)value;
	case sizeof(u32):
		return (u32)value;
	case UTRACE_LEN_PAGES:
		return value << UTRACE_LEN_PAGES;
	default:
		return value;
	}
}

static void print_id(struct seq_buf *s, unsigned long value,
		     const struct utrace_arg *is)
{
	if (number(value, is) == number(-1, is))
		utrace_write_literal(s, "-1");
	else
		utrace_write_decimal(s, number(value, is));
}

static void print_dev(struct seq_buf *s, u32 dev)
{
	const char *after = "";

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_print_hex(s, dev);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(s, " /* ");
		after = " */";
	}
	utrace_write_literal(s, "makedev(");
	utrace_print_hex(s, dev >> 8 & 0xfff);
	utrace_write_literal(s, ", ");
	utrace_print_hex(s, (dev & 0xff) | (dev >> 12 & 0xfff00));
	utrace_write_char(s, ')');
	seq_buf_puts(s, after);
}

/* Print an argument, whose number is @value. */
static void print_arg(const struct call_text *c, unsigned int arg,
		      const struct utrace_arg *is, unsigned long value)
{
	struct utrace_arg_text text;

	switch (is->type) {
	case UTRACE_ARG_ADDR:
		print_address(c, arg);
		break;
	case UTRACE_ARG_PID:
		utrace_write_signed(c->s, (int)value);
		utrace_form_pid(c->s, value);
		break;
	case UTRACE_ARG_INT:
		utrace_write_signed(c->s, (int)value);
		break;
	case UTRACE_ARG_LONG:
		utrace_write_signed(c->s, c->ia32 && !is->len ? (int)value :
								(long)value);
		break;
	case UTRACE_ARG_SIZE:
		utrace_write_decimal(c->s, number(value, is));
		break;
	case UTRACE_ARG_ID:
		print_id(c->s, value, is);
		break;
	case UTRACE_ARG_OCTAL:
		seq_buf_printf(c->s, "%#03o", (u16)value);
		break;
	case UTRACE_ARG_MODE:
		utrace_form_mode(c->s, value);
		break;
	case UTRACE_ARG_DEV:
		print_dev(c->s, value);
		break;
	case UTRACE_ARG_SIGNAL:
		utrace_print_signal(c->s, value);
		break;
	case UTRACE_ARG_FLAGS:
		text = text_of(c, arg);
		text.value = value;
		utrace_form_flags(&text, is->len);
		break;
	case UTRACE_ARG_FD:
	case UTRACE_ARG_DFD:
		print_fd(c, arg, is);
		break;
	case UTRACE_ARG_PATH:
		print_string(c, arg, PATH_MAX - 1, PATH_MAX - 1);
		break;
	case UTRACE_ARG_STRING:
		print_plain_string(c, arg, is);
		break;
	case UTRACE_ARG_IN:
	case UTRACE_ARG_OUT:
		if (!(is->len & UTRACE_LEN_FIXED) && is->len & UTRACE_LEN_TEXT)
			print_text(c, arg);
		else
			print_memory(c, arg);
		break;
	case UTRACE_ARG_SOCKADDR:
	case UTRACE_ARG_OUT_SOCKADDR:
		print_sockaddr(c, arg, is);
		break;
	case UTRACE_ARG_ARGV:
		print_argv(c, arg);
		break;
	case UTRACE_ARG_STRUCT:
		print_structs(c, arg, is);
		break;
	case UTRACE_ARG_HOOK:
		text = text_of(c, arg);
		utrace_form_hook(&text, is->len);
		break;
	default:
		utrace_print_hex(c->s, number(value, is));
	}
}

/*
 * Return true if the call has no argument @arg: open() and openat() without a
 * flag that creates a file have no mode, mknod() of a file that is no device has
 * none, and mremap() has no address unless a flag asks for one.
 */
static bool ends_before(const struct call_text *c,
			const struct utrace_call *call, unsigned int arg)
{
	const struct utrace_arg *before;

	if (!arg)
		return false;
	before = &call->arg[arg - 1];
	if (call->arg[arg].type == UTRACE_ARG_DEV)
		return before->type == UTRACE_ARG_MODE &&
		       !S_ISCHR(c->args[arg - 1]) && !S_ISBLK(c->args[arg - 1]);
	if (before->type != UTRACE_ARG_FLAGS)
		return false;
	if (before->len == UTRACE_FLAGS_MREMAP)
		return !(c->args[arg - 1] & (MREMAP_FIXED | MREMAP_DONTUNMAP));
	return call->arg[arg].type == UTRACE_ARG_OCTAL &&
	       before->len == UTRACE_FLAGS_OPEN &&
	       !(c->args[arg - 1] & (O_CREAT | __O_TMPFILE));
}

/* The number of argument @arg.  The next argument may be its other half. */
static unsigned long value_of(const struct call_text *c,
			      const struct utrace_call *call, unsigned int arg)
{
	if (!c->ia32 || arg + 1 >= call->nargs ||
	    call->arg[arg + 1].type != UTRACE_ARG_UPPER)
		return word(c, arg);
	if (call->arg[arg + 1].len)
		return word(c, arg) << 32 | word(c, arg + 1);
	return word(c, arg + 1) << 32 | word(c, arg);
}

static void print_one(const struct call_text *c,
		      const struct utrace_call *call, unsigned int arg)
{
	if (call->arg[arg].type == UTRACE_ARG_OUT && is_wait_status(call, arg))
		print_wait_status(c, arg);
	else if (call->arg[arg].type == UTRACE_ARG_ARGV && arg &&
		 call->arg[arg - 1].type == UTRACE_ARG_ARGV)
		print_environment(c, arg);
	else
		print_arg(c, arg, &call->arg[arg], value_of(c, call, arg));
}

/* Print arguments as numbers, from @first on, before @end. */
static void print_raw(const struct call_text *c,
		      const struct utrace_call *call, unsigned int first,
		      unsigned int end)
{
	unsigned int i;

	for (i = first; i < end; i++) {
		/* Only the 32-bit table has halves of numbers. */
		if (call->arg[i].type == UTRACE_ARG_UPPER && !c->ia32)
			continue;
		if (i > first)
			utrace_write_literal(c->s, ", ");
		utrace_print_hex(c->s, word(c, i));
	}
}

/* Print the arguments from @first on, before @end. */
static void print_args(const struct call_text *c,
		       const struct utrace_call *call, unsigned int first,
		       unsigned int end)
{
	unsigned int i;

	if (utrace_style.raw) {
		print_raw(c, call, first, end);
		return;
	}
	for (i = first; i < end; i++) {
		/* This command does not use the argument. */
		if (call->arg[i].type == UTRACE_ARG_NONE)
			continue;
		if (ends_before(c, call, i))
			break;
		if (call->arg[i].type == UTRACE_ARG_UPPER)
			continue;
		if (i > first)
			utrace_write_literal(c->s, ", ");
		print_one(c, call, i);
	}
}

/* The row of a call whose arguments the table does not know: six numbers. */
static const struct utrace_call unknown_call = {
	.nargs = UTRACE_CALL_ARGS,
	.arg = {
		[0 ... UTRACE_CALL_ARGS - 1] = { UTRACE_ARG_HEX },
	},
};

static void print_name(struct seq_buf *s, u64 nr, const struct utrace_call *call)
{
	if (call) {
		utrace_write(s, call->name, call->name_len);
	} else {
		utrace_write_literal(s, "syscall_");
		utrace_print_hex(s, nr >> 32 ?: nr & ~UTRACE_SYSCALL_IA32);
	}
}

/**
 * utrace_print_call_name() - print the name of a system call
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_call_of().  The upper half contains
 *	the number that the program asked for if the lower half cannot represent
 *	it
 *
 * A number without a row is printed in base 16, as the program gave it: without
 * the flag of the 32-bit table.
 *
 * Context: Any.
 */
void utrace_print_call_name(struct seq_buf *s, u64 nr)
{
	print_name(s, nr, utrace_call_of(nr));
}

/* The row of a call, or that of a call with six numbers. */
static const struct utrace_call *row_of(const struct utrace_call_items *items)
{
	return items->row && items->row->known ? items->row : &unknown_call;
}

static bool is_output(const struct utrace_arg *arg)
{
	unsigned int flags;

	if (arg->type == UTRACE_ARG_STRUCT) {
		flags = utrace_memories[arg->len].flags;
		return flags & (UTRACE_MEMORY_OUT | UTRACE_MEMORY_RESTART) &&
		       !(flags & UTRACE_MEMORY_ENTRY);
	}
	return arg->type == UTRACE_ARG_OUT ||
	       arg->type == UTRACE_ARG_OUT_SOCKADDR;
}

/* Number of arguments before the first one that the call writes. */
static unsigned int entry_args(const struct utrace_call *call)
{
	unsigned int i;

	for (i = 0; i < call->nargs; i++)
		if (is_output(&call->arg[i]) && !utrace_style.raw)
			break;
	return i;
}

/* Print argument @i of @shown. */
static void print_shown(const struct call_text *c,
			const struct utrace_call *call,
			const struct utrace_shown *shown, unsigned int i)
{
	unsigned int arg = shown->args[i].arg;

	if (shown->args[i].name)
		seq_buf_puts(c->s, shown->args[i].name);
	if (shown->args[i].type == UTRACE_ARG_HEX)
		utrace_print_hex(c->s, word(c, arg));
	else if (shown->args[i].type == UTRACE_ARG_ADDR)
		print_address(c, arg);
	else
		print_one(c, call, arg);
}

/*
 * Print a call whose arguments are not those of its row: utrace_form_args()
 * says which ones are printed.  Return false if they are those of the row.
 */
static bool print_parts_shown(const struct call_text *c,
			      const struct utrace_call *call,
			      enum utrace_call_parts parts)
{
	unsigned int first, end, i;
	struct utrace_shown shown;

	if (utrace_style.raw || !utrace_form_args(&shown, call, c->args, c->abi))
		return false;
	first = parts & UTRACE_CALL_ENTRY ? 0 : shown.entry;
	end = parts & UTRACE_CALL_EXIT ? shown.n : shown.entry;
	for (i = first; i < end; i++) {
		/* The comma between the parts belongs to the second one. */
		if (i)
			utrace_write_literal(c->s, ", ");
		print_shown(c, call, &shown, i);
	}
	return true;
}

static void print_parts(const struct call_text *c,
			const struct utrace_call *call,
			enum utrace_call_parts parts)
{
	unsigned int n, all = call->nargs;

	if (print_parts_shown(c, call, parts))
		return;
	if (parts == UTRACE_CALL_WHOLE) {
		print_args(c, call, 0, all);
		return;
	}
	n = entry_args(call);
	if (parts == UTRACE_CALL_EXIT) {
		print_args(c, call, n, all);
		return;
	}
	print_args(c, call, 0, n);
	if (n && n < all)
		utrace_write_literal(c->s, ", ");
}

/**
 * utrace_call_has_rest() - check whether the exit of a call prints arguments
 * @nr: number of the call, as for utrace_call_of()
 * @args: its arguments
 * @items: contains the row of the call
 *
 * Context: Any.
 * Return: true if UTRACE_CALL_ENTRY leaves arguments for UTRACE_CALL_EXIT.
 */
bool utrace_call_has_rest(u64 nr, const unsigned long args[6],
			  const struct utrace_call_items *items)
{
	const struct utrace_call *call = row_of(items);
	struct utrace_shown shown;

	if (!utrace_style.raw &&
	    utrace_form_args(&shown, call, args, utrace_abi_of(nr)))
		return shown.entry < shown.n;
	return entry_args(call) < call->nargs;
}

/**
 * utrace_print_call_parts() - print a system call or a part of it
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_print_call_name()
 * @args: arguments, in the order of the call for every ABI
 * @items: the row of the call, and the items captured so far
 * @parts: what is printed
 *
 * A call that args.tbl does not know is printed with six numbers.
 *
 * Context: Any.
 */
void utrace_print_call_parts(struct seq_buf *s, u64 nr,
			     const unsigned long args[6],
			     const struct utrace_call_items *items,
			     enum utrace_call_parts parts)
{
	const struct call_text c = call_text_of(s, nr, args, items);

	if (parts & UTRACE_CALL_ENTRY) {
		print_name(s, nr, items->row);
		utrace_write_char(s, '(');
	}
	print_parts(&c, row_of(items), parts);
	if (parts & UTRACE_CALL_EXIT)
		utrace_write_char(s, ')');
}

/**
 * utrace_print_call() - print a system call and its arguments
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_print_call_name()
 * @args: arguments, in the order of the call for every ABI
 * @data: the capture; may be NULL if @used is 0
 * @used: bytes of @data
 *
 * Context: Any.
 */
void utrace_print_call(struct seq_buf *s, u64 nr,
		       const unsigned long args[6], const void *data,
		       size_t used)
{
	struct utrace_call_items items =
		UTRACE_CALL_ITEMS_INIT(utrace_call_by_command(nr, args));

	utrace_call_items_add(&items, data, used);
	utrace_print_call_parts(s, nr, args, &items, UTRACE_CALL_WHOLE);
}

/**
 * utrace_is_restart() - check whether an error makes the kernel restart the
 * call
 * @error: the error of a system call, a positive number
 *
 * Context: Any.
 * Return: true for the four codes that no program sees.
 */
bool utrace_is_restart(long error)
{
	return error == ERESTARTSYS || error == ERESTARTNOINTR ||
	       error == ERESTARTNOHAND || error == ERESTART_RESTARTBLOCK;
}

static void print_error(struct seq_buf *s, long error)
{
	const char *name = errname(error);

	utrace_write(s, utrace_is_restart(error) ? "? " : "-1 ",
		     utrace_is_restart(error) ? 2 : 3);
	if (name)
		seq_buf_puts(s, name);
	else
		utrace_write_signed(s, error);
}

/*
 * Print a result whose bits have names, which follow the number after the text
 * @open.
 */
static void print_flags_result(struct seq_buf *s, unsigned int set,
			       unsigned long result, const char *open)
{
	size_t before;

	if (utrace_flags_have_bits(set))
		utrace_print_hex(s, result);
	else
		utrace_write_signed(s, result);
	before = s->len;
	seq_buf_puts(s, open);
	if (utrace_print_names(s, set, result))
		utrace_write_char(s, ')');
	else
		s->len = before;
}

/**
 * utrace_print_result() - print what a system call returned
 * @s: the text is appended here
 * @nr: number of the call, as for utrace_call_of()
 * @row: row of the call, or NULL
 * @ret: the result; a negative errno is printed as "-1 NAME"
 *
 * Context: Any.
 */
void utrace_print_result(struct seq_buf *s, unsigned int nr,
			 const struct utrace_call *row, long ret)
{
	const struct utrace_arg number = { .type = UTRACE_ARG_LONG };
	const struct utrace_arg *is = row && row->known ? &row->result : &number;
	const unsigned long result = ret;
	const struct call_text c = call_text_of(s, nr, &result, NULL);

	if (c.ia32)
		ret = (int)ret;
	if (IS_ERR_VALUE(ret))
		print_error(s, -ret);
	else if (utrace_style.raw)
		utrace_print_hex(s, ret);
	else if (is->type == UTRACE_ARG_FLAGS)
		print_flags_result(s, is->len, ret, " (flags ");
	else if (is->type == UTRACE_ARG_NAMES)
		print_flags_result(s, is->len, ret, " (");
	else
		print_arg(&c, 0, is, word(&c, 0));
}

/**
 * utrace_print_output_items() - print what a system call wrote, item by item
 * @s: the text is appended here, with a blank before each item
 * @nr: number of the call, as for utrace_call_of()
 * @items: the items captured at the exit, from utrace_call_items_add()
 *
 * Context: Any.
 */
void utrace_print_output_items(struct seq_buf *s, unsigned int nr,
			       const struct utrace_call_items *items)
{
	const unsigned long nowhere[UTRACE_CALL_ARGS] = {};
	const struct utrace_call *call = items->row;
	const struct call_text c = call_text_of(s, nr, nowhere, items);
	const struct utrace_item *item;
	unsigned int i;

	for (i = 0; call && i < call->nargs; i++) {
		item = items->out[i] ?: items->of[i];
		if (!item || !item->len)
			continue;
		if (item->kind == UTRACE_ITEM_STRUCT && items->most) {
			utrace_write_char(s, ' ');
			print_structs(&c, i, &call->arg[i]);
		} else if (item->kind == UTRACE_ITEM_SOCKADDR) {
			utrace_write_char(s, ' ');
			print_sockaddr(&c, i, NULL);
		} else if (item->kind == UTRACE_ITEM_BYTES && items->most) {
			utrace_write_char(s, ' ');
			if (is_wait_status(call, i))
				print_wait_status(&c, i);
			else
				print_memory(&c, i);
		}
	}
}

/**
 * utrace_print_outputs() - print the capture of the exit of a call
 * @s: the text is appended here, with a blank before each item
 * @nr: number of the call, as for utrace_call_of()
 * @data: the capture
 * @used: bytes of @data
 *
 * Context: Any.
 */
void utrace_print_outputs(struct seq_buf *s, unsigned int nr, const void *data,
			  size_t used)
{
	struct utrace_call_items items =
		UTRACE_CALL_ITEMS_INIT(utrace_call_of(nr));

	utrace_call_items_add(&items, data, used);
	utrace_print_output_items(s, nr, &items);
}

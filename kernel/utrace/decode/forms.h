/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what the kernel and the command print differently
 *
 * print.c calls these functions.  The kernel has short forms (forms.c), the
 * command those of strace (tools/utrace/format/forms.c).
 */
#ifndef _KERNEL_UTRACE_DECODE_FORMS_H
#define _KERNEL_UTRACE_DECODE_FORMS_H

#include <linux/types.h>

#include "table.h"

struct in6_addr;
struct seq_buf;
struct sockaddr_storage;
struct utrace_call_items;
struct utrace_item;

/**
 * struct utrace_arg_text - an argument or a result that is printed
 * @s: the text is appended here
 * @items: the captured items of the call; may be NULL
 * @args: arguments of the call; of a result: the result alone
 * @arg: number of the argument
 * @value: its value
 * @abi: ABI of the call
 */
struct utrace_arg_text {
	struct seq_buf *s;
	const struct utrace_call_items *items;
	const unsigned long *args;
	unsigned int arg;
	unsigned long value;
	enum utrace_abi abi;
};

/**
 * struct utrace_shown - the arguments of a call that are printed
 * @n: number of arguments
 * @entry: number of those that are known at the entry
 * @args: the arguments, in the order of the output
 * @args.arg: number of the argument
 * @args.name: text before it, or NULL
 * @args.type: how it is printed if not as the row says, else UTRACE_ARG_NONE
 */
struct utrace_shown {
	unsigned int n;
	unsigned int entry;
	struct {
		unsigned int arg;
		const char *name;
		enum utrace_arg_type type;
	} args[UTRACE_CALL_ARGS];
};

void utrace_form_in6(struct seq_buf *s, const struct in6_addr *addr);
void utrace_form_sockaddr(struct seq_buf *s,
			  const struct sockaddr_storage *addr, size_t len,
			  bool part);
bool utrace_form_sockaddr_arg(const struct utrace_arg_text *text,
			      const struct utrace_item *item,
			      const struct utrace_arg *is);
bool utrace_form_structs(const struct utrace_arg_text *text,
			 const struct utrace_memory *memory);
void utrace_form_hook(const struct utrace_arg_text *text, unsigned int hook);
void utrace_form_mode(struct seq_buf *s, u16 mode);
void utrace_form_flags(const struct utrace_arg_text *text, unsigned int set);
void utrace_form_pid(struct seq_buf *s, int pid);
bool utrace_form_args(struct utrace_shown *shown, const struct utrace_call *call,
		      const unsigned long args[6], enum utrace_abi abi);

#endif /* _KERNEL_UTRACE_DECODE_FORMS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - what the command prints in another form than the kernel
 *
 * See decode/forms.h.
 */
#include <arpa/inet.h>

#include <linux/seq_buf.h>

#include "decode/forms.h"
#include "decode/print.h"
#include "hooks.h"
#include "ioctls.h"
#include "pids.h"
#include "sets.h"
#include "shown.h"
#include "sockaddr.h"
#include "structs.h"

#include "arg_hooks.h"

void utrace_form_in6(struct seq_buf *s, const struct in6_addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	seq_buf_puts(s, inet_ntop(AF_INET6, addr, text, sizeof(text)));
}

void utrace_form_sockaddr(struct seq_buf *s, const struct sockaddr_storage *addr,
			  size_t len, bool part)
{
	(void)part;
	sockaddr_print(s, addr, len);
}

bool utrace_form_sockaddr_arg(const struct utrace_arg_text *text,
			      const struct utrace_item *item,
			      const struct utrace_arg *is)
{
	return sockaddr_print_arg(text->s, text->items, item, is);
}

bool utrace_form_structs(const struct utrace_arg_text *text,
			 const struct utrace_memory *memory)
{
	return structs_print(text->s, text->items, text->args, text->arg, memory,
			     text->abi);
}

void utrace_form_hook(const struct utrace_arg_text *text, unsigned int hook)
{
	arg_hooks[hook](text);
}

void utrace_form_mode(struct seq_buf *s, u16 mode)
{
	structs_print_mode(s, mode);
}

void utrace_form_flags(const struct utrace_arg_text *text, unsigned int set)
{
	if (set == UTRACE_FLAGS_IOCTL)
		ioctl_print(text->s, text->value, text->abi);
	else
		utrace_print_flags(text->s, set, text->value);
}

void utrace_form_pid(struct seq_buf *s, int pid)
{
	pid_explain(s, pid);
}

bool utrace_form_args(struct utrace_shown *shown, const struct utrace_call *call,
		      const unsigned long args[6], enum utrace_abi abi)
{
	return shown_find(shown, call, args, abi);
}

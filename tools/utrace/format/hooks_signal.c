// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arguments of calls about signals that are no plain structures
 */
#include <signal.h>
#include <string.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "siginfo.h"

/* The bytes before the union of siginfo: 64-bit programs have padding there. */
#define HEAD		12
#define HEAD_PADDED	16

/*
 * A set of signals that an argument points to.  The kernel reads only whole
 * sets, but it writes parts of them, too.
 */
void whole_sigset(const struct element *e)
{
	size_t size = utrace_layouts[e->layout].size[e->abi];

	if (e->item->flags & UTRACE_ITEM_F_OUT ? e->len : e->item->whole == size)
		structs_print_sigset(e->s, e->data, e->len);
	else
		utrace_print_hex(e->s, e->args[e->item->arg]);
}

/* A result that is a signal. */
void arg_signal_result(const struct utrace_arg_text *a)
{
	utrace_write_signed(a->s, a->value);
	if (!a->value || utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(a->s, " (");
	utrace_print_signal_name(a->s, a->value);
	utrace_write_char(a->s, ')');
}

/* The signals that are blocked after a handler. */
void whole_frame(const struct element *e)
{
	utrace_write_literal(e->s, "{mask=");
	structs_print_sigset(e->s, e->data, e->len < 8 ? e->len : 8);
	utrace_write_char(e->s, '}');
}

void whole_siginfo(const struct element *e)
{
	siginfo_t info = {};
	size_t len = e->len;

	if (len > sizeof(info))
		len = sizeof(info);
	if (e->abi == UTRACE_ABI_NATIVE) {
		memcpy(&info, e->data, len);
	} else if (len > HEAD) {
		if (len > sizeof(info) - HEAD_PADDED + HEAD)
			len = sizeof(info) - HEAD_PADDED + HEAD;
		memcpy(&info, e->data, HEAD);
		memcpy((char *)&info + HEAD_PADDED, e->data + HEAD, len - HEAD);
	}
	siginfo_print(e->s, &info);
}

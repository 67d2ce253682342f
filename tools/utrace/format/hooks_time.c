// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures and results of calls about time and scheduling
 */
#include <linux/ioprio.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "result.h"
#include "sets.h"

/* time() returns a date. */
void result_time(const struct result *r)
{
	structs_print_date(r->s, r->ret, 0, " (", ")");
}

/* adjtimex() returns the state of the clock. */
void result_timex(const struct result *r)
{
	utrace_write_literal(r->s, " (");
	utrace_print_flags(r->s, UTRACE_FLAGS_TIMEX_STATE, r->ret);
	utrace_write_char(r->s, ')');
}

/* ioprio_get() returns a class and a level. */
void result_ioprio(const struct result *r)
{
	utrace_write_literal(r->s, " (IOPRIO_PRIO_VALUE(");
	utrace_print_flags(r->s, UTRACE_FLAGS_IOPRIO_CLASS,
			   r->ret >> IOPRIO_CLASS_SHIFT);
	seq_buf_printf(r->s, ", %lu))",
		       (unsigned long)r->ret & IOPRIO_PRIO_MASK);
}

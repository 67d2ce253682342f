// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - structures and results of calls about time and scheduling
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/ioprio.h>
#include <linux/sched/types.h>
#include <linux/seq_buf.h>
#include <linux/stat.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "result.h"
#include "sets.h"

/* Numbers without a name */

static __u64 number_of(const struct element *e)
{
	__u64 number = 0;

	memcpy(&number, e->data, e->len < sizeof(number) ? e->len : sizeof(number));
	return number;
}

static __s64 signed_number_of(const struct element *e)
{
	unsigned int unused = e->len < sizeof(__u64) ? 64 - 8 * e->len : 0;

	if (!e->len)
		return 0;
	return (__s64)(number_of(e) << unused) >> unused;
}

/* Time */

/* Print seconds with their date. */
void whole_date(const struct element *e)
{
	utrace_write_signed(e->s, signed_number_of(e));
	structs_print_date(e->s, signed_number_of(e), 0, 0, " /* ", " */");
}

/* A time that a file gets has its date after it. */
static void print_with_date(const struct element *e, const char *fraction,
			    unsigned int digits)
{
	__u64 part = element_named(e, fraction);
	__u64 seconds = element_named(e, "tv_sec");

	if (e->abi != UTRACE_ABI_NATIVE &&
	    element_member(e, "tv_sec")->size[e->abi] == sizeof(__s32))
		seconds = (__s32)seconds;
	element_print_whole(e);
	structs_print_date(e->s, seconds, part, digits, " /* ", " */");
}

void whole_file_timespec(const struct element *e)
{
	__u64 nsec = element_named(e, "tv_nsec");
	const char *name = nsec == UTIME_NOW ? "UTIME_NOW" :
			   nsec == UTIME_OMIT ? "UTIME_OMIT" : NULL;

	if (!name) {
		print_with_date(e, "tv_nsec", 9);
		return;
	}
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(e->s, name);
		return;
	}
	element_print_whole(e);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(e->s, " /* %s */", name);
}

void whole_file_timeval(const struct element *e)
{
	print_with_date(e, "tv_usec", 6);
}

/* Print clock ticks with the seconds that they are. */
void hook_ticks(const struct element *e, const struct member *m)
{
	__u64 ticks = element_number(e, m);
	char text[64];
	long hz = sysconf(_SC_CLK_TCK);

	utrace_write_decimal(e->s, ticks);
	if (!ticks || hz <= 0 || utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	snprintf(text, sizeof(text), " /* %.*f s */", hz == 100 ? 2 : 3,
		 (double)ticks / hz);
	seq_buf_puts(e->s, text);
}

/* Print the value that a signal carries: a union. */
void hook_sigval(const struct element *e, const struct member *m)
{
	__u64 value = element_number(e, m);

	seq_buf_printf(e->s, "{sival_int=%d, sival_ptr=", (int)value);
	structs_print_address(e->s, value);
	utrace_write_char(e->s, '}');
}

/* time() returns a date. */
void result_time(const struct result *r)
{
	structs_print_date(r->s, r->ret, 0, 0, " (", ")");
}

/* adjtimex() returns the state of the clock. */
void result_timex(const struct result *r)
{
	utrace_write_literal(r->s, " (");
	utrace_print_names(r->s, UTRACE_FLAGS_TIMEX_STATE, r->ret);
	utrace_write_char(r->s, ')');
}

/* Resources */

static void write_limit(struct seq_buf *s, __u64 limit, bool wide)
{
	if (limit == (wide ? ~0ULL : ~0U))
		seq_buf_puts(s, wide ? "RLIM64_INFINITY" : "RLIM_INFINITY");
	else
		seq_buf_printf(s, "%llu*1024", (unsigned long long)limit / 1024);
}

/* Print a limit, as a multiple of 1024 if it is one. */
void hook_rlim(const struct element *e, const struct member *m)
{
	bool wide = m->size[e->abi] == sizeof(__u64);
	__u64 limit = element_number(e, m);
	bool named = limit == (wide ? ~0ULL : ~0U) ||
		     (limit > 1024 && !(limit % 1024));

	if (!named || utrace_style.constants != UTRACE_CONSTANTS_NAMES)
		utrace_write_decimal(e->s, limit);
	if (!named || utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(e->s, " /* ");
	write_limit(e->s, limit, wide);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(e->s, " */");
}

/* Scheduling */

/* Print the size that the kernel has written because it knows no larger one. */
static void print_known_size(const struct element *e)
{
	const struct utrace_item *out = e->items->out[e->item->arg];
	__u32 size;

	if (!out || out == e->item || out->len < sizeof(size) ||
	    !memcmp(out->data, e->data, sizeof(size)))
		return;
	memcpy(&size, out->data, sizeof(size));
	seq_buf_printf(e->s, " => {size=%u}", size);
}

/*
 * Print the members that a structure has according to its size.  A size that is
 * too small is wrong, and there are no other members.
 */
void whole_sched_attr(const struct element *e)
{
	__u32 size = element_named(e, "size");
	size_t known = element_size(e);
	const char *before = "{";
	const struct member *m;
	unsigned int i;

	if (size && size < SCHED_ATTR_SIZE_VER0)
		known = sizeof(size);
	else if (size < known)
		known = SCHED_ATTR_SIZE_VER0;
	if (e->len < known) {
		structs_print_address(e->s, e->address);
		return;
	}
	for (i = 0; (m = element_nth(e, i)); i++) {
		if (m->at[e->abi] + m->size[e->abi] > known ||
		    !element_is_there(e, m))
			continue;
		seq_buf_puts(e->s, before);
		element_print_member(e, m);
		before = ", ";
	}
	seq_buf_puts(e->s, size > element_size(e) ? ", ...}" : "}");
	print_known_size(e);
}

static void print_ioprio(struct seq_buf *s, __u32 value)
{
	utrace_write_literal(s, "IOPRIO_PRIO_VALUE(");
	utrace_print_flags(s, UTRACE_FLAGS_IOPRIO_CLASS,
			   value >> IOPRIO_CLASS_SHIFT);
	seq_buf_printf(s, ", %lu)", (unsigned long)value & IOPRIO_PRIO_MASK);
}

/* Print a class and a level. */
void arg_ioprio(const struct utrace_arg_text *a)
{
	__u32 value = a->value;
	struct seq_buf *s = a->s;

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES)
		utrace_write_signed(s, (int)value);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(s, " /* ");
	print_ioprio(s, value);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(s, " */");
}

/* ioprio_get() returns a class and a level. */
void result_ioprio(const struct result *r)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(r->s, " (");
	print_ioprio(r->s, r->ret);
	utrace_write_char(r->s, ')');
}

/*
 * Print the numbers of the bits of @data below @n.  They are descriptors of the
 * set @fds, unless it is NULL.
 */
static bool print_bits(struct seq_buf *s, const void *data, size_t n,
		       const struct element *fds)
{
	const __u8 *byte = data;
	bool any = false;
	size_t i;

	utrace_write_char(s, '[');
	for (i = 0; i < n; i++) {
		if (!(byte[i / 8] >> i % 8 & 1))
			continue;
		if (any)
			utrace_write_char(s, ' ');
		utrace_write_decimal(s, i);
		if (fds)
			element_print_file(fds, utrace_item_behind(fds->items,
								   fds->item, 0, i), i);
		any = true;
	}
	utrace_write_char(s, ']');
	return any;
}

void whole_bits(const struct element *e)
{
	print_bits(e->s, e->data, 8 * e->len, NULL);
}

/* Waiting for descriptors */

/* Of @n descriptors that select() waits for, return how many @len bytes have. */
static size_t descriptors(int n, size_t len)
{
	return n < 0 ? 0 : (size_t)n < 8 * len ? (size_t)n : 8 * len;
}

void whole_fd_set(const struct element *e)
{
	size_t n = descriptors(e->args[0], e->len);

	/* Of no descriptors the call reads nothing. */
	if (n)
		print_bits(e->s, e->data, n, e->items->decode ? e : NULL);
	else
		utrace_print_hex(e->s, element_address(e));
}

void hook_epoll_data(const struct element *e, const struct member *m)
{
	__u64 data = element_number(e, m);

	seq_buf_printf(e->s, "{u32=%u, u64=%llu}", (__u32)data,
		       (unsigned long long)data);
}

static void print_timeout(const struct result *r)
{
	utrace_write_literal(r->s, " (Timeout)");
}

/*
 * Print what argument @arg points to after the call, with a name before it.
 * Returns false if that is not known.
 */
static bool print_left(const struct result *r, unsigned int arg)
{
	if (!r->items->out[arg])
		return false;
	utrace_write_literal(r->s, "left ");
	return structs_print_out(r->s, r->items, arg, r->nr, r->args);
}

/* Print the time that is left of the timeout of recvmmsg(). */
void result_recvmmsg(const struct result *r)
{
	if (!r->ret) {
		print_timeout(r);
		return;
	}
	if (!r->items->out[4])
		return;
	utrace_write_literal(r->s, " (");
	print_left(r, 4);
	utrace_write_char(r->s, ')');
}

/* poll() returns how many descriptors are ready. */
void result_poll(const struct result *r)
{
	const struct utrace_item *item = r->items->out[0];
	const struct pollfd *fd, *end;
	unsigned int shown = 0;

	if (!r->ret) {
		print_timeout(r);
		return;
	}
	if (!item)
		return;
	fd = (const void *)item->data;
	end = fd + item->len / sizeof(*fd);
	utrace_write_literal(r->s, " ([");
	for (; fd < end; fd++) {
		if (!fd->revents)
			continue;
		if (shown)
			utrace_write_literal(r->s, ", ");
		if (shown++ >= r->items->most && !r->items->verbose) {
			utrace_write_literal(r->s, "...");
			break;
		}
		seq_buf_printf(r->s, "{fd=%d, revents=", fd->fd);
		utrace_print_flags(r->s, UTRACE_FLAGS_POLL, (__u16)fd->revents);
		utrace_write_char(r->s, '}');
	}
	utrace_write_char(r->s, ']');
	if (r->items->out[2]) {
		utrace_write_literal(r->s, ", ");
		print_left(r, 2);
	}
	utrace_write_char(r->s, ')');
}

/* select() returns how many descriptors are ready. */
void result_select(const struct result *r)
{
	static const char *const names[] = { "in ", "out ", "except " };
	const struct utrace_item *const *out = r->items->out;
	const char *before = "";
	unsigned int i;

	if (!r->ret) {
		print_timeout(r);
		return;
	}
	/* The options may leave out structures. */
	if (!out[1] && !out[2] && !out[3] && !out[4])
		return;
	utrace_write_literal(r->s, " (");
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct utrace_item *item = out[i + 1];
		size_t len = r->s->len;

		if (!item)
			continue;
		seq_buf_printf(r->s, "%s%s", before, names[i]);
		if (print_bits(r->s, item->data,
			       descriptors(r->args[0], item->len), NULL))
			before = ", ";
		else
			r->s->len = len;
	}
	if (out[4]) {
		seq_buf_puts(r->s, before);
		print_left(r, 4);
	}
	utrace_write_char(r->s, ')');
}

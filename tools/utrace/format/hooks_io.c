// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - members of structures of io_uring, AIO and perf events
 */
#include <stdio.h>
#include <string.h>

#include <linux/aio_abi.h>
#include <linux/array_size.h>
#include <linux/hw_breakpoint.h>
#include <linux/io_uring.h>
#include <linux/perf_event.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"

/* io_uring */

static void print_named(const struct element *e, const char *name, const char *before)
{
	seq_buf_puts(e->s, before);
	element_print_member(e, element_member(e, name));
}

/* Print the parameters of io_uring_setup(), and what the kernel answers. */
void whole_io_uring_params(const struct element *e)
{
	static const char *const answers[] = {
		"sq_entries", "cq_entries", "features", "sq_off", "cq_off",
	};
	size_t i;

	print_named(e, "flags", "{");
	print_named(e, "sq_thread_cpu", ", ");
	print_named(e, "sq_thread_idle", ", ");
	if (element_named(e, "flags") & IORING_SETUP_ATTACH_WQ)
		print_named(e, "wq_fd", ", ");
	if (!element_is_zero(e, element_member(e, "resv")))
		print_named(e, "resv", ", ");
	if (e->item->flags & UTRACE_ITEM_F_OUT)
		for (i = 0; i < ARRAY_SIZE(answers); i++)
			print_named(e, answers[i], ", ");
	utrace_write_char(e->s, '}');
}

/* AIO */

void hook_iocb_cmd(const struct element *e, const struct member *m)
{
	__u64 command = element_number(e, m);
	size_t before = e->s->len;

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES ||
	    !utrace_print_names(e->s, UTRACE_FLAGS_IOCB_CMD, command)) {
		e->s->len = before;
		utrace_write_decimal(e->s, command);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(e->s, " /* ");
		if (!utrace_print_names(e->s, UTRACE_FLAGS_IOCB_CMD, command))
			utrace_write_literal(e->s, "IOCB_CMD_???");
		utrace_write_literal(e->s, " */");
	}
}

/* Print a priority, which has a class if a flag says so. */
void hook_reqprio(const struct element *e, const struct member *m)
{
	const struct utrace_arg_text priority = {
		.s = e->s,
		.value = element_number(e, m),
	};

	if (element_named(e, "aio_flags") & IOCB_FLAG_IOPRIO)
		arg_ioprio(&priority);
	else
		element_print_plain(e, m);
}

/* Print a request; which members it has depends on the command. */
void whole_iocb(const struct element *e)
{
	__u64 command = element_named(e, "aio_lio_opcode");

	print_named(e, "aio_data", "{");
	if (element_named(e, "aio_key"))
		print_named(e, "aio_key", ", ");
	print_named(e, "aio_lio_opcode", ", ");
	if (element_named(e, "aio_reqprio"))
		print_named(e, "aio_reqprio", ", ");
	print_named(e, "aio_fildes", ", ");
	switch (command) {
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PREADV:
	case IOCB_CMD_PWRITEV:
		if (element_is_zero(e, element_member(e, "aio_buf")) &&
		    !element_named(e, "aio_nbytes") && !element_named(e, "aio_offset"))
			break;
		print_named(e, "aio_buf", ", ");
		print_named(e, "aio_nbytes", ", ");
		print_named(e, "aio_offset", ", ");
		break;
	case IOCB_CMD_POLL:
		print_named(e, "aio_buf", ", ");
		break;
	}
	if (element_named(e, "aio_flags"))
		print_named(e, "aio_flags", ", ");
	if (element_named(e, "aio_flags") & IOCB_FLAG_RESFD)
		print_named(e, "aio_resfd", ", ");
	utrace_write_char(e->s, '}');
}

/* perf */

/* What is known; a longer structure ends with "...". */
#define PERF_KNOWN	PERF_ATTR_SIZE_VER7

/* The bits after read_format, but for precise_ip, which has two. */
static const char *const perf_bits[] = {
	"disabled", "inherit", "pinned", "exclusive", "exclude_user",
	"exclude_kernel", "exclude_hv", "exclude_idle", "mmap", "comm", "freq",
	"inherit_stat", "enable_on_exec", "task", "watermark", "precise_ip", NULL,
	"mmap_data", "sample_id_all", "exclude_host", "exclude_guest",
	"exclude_callchain_kernel", "exclude_callchain_user", "mmap2", "comm_exec",
	"use_clockid", "context_switch", "write_backward", "namespaces", "ksymbol",
	"bpf_event", "aux_output", "cgroup", "text_poke", "build_id",
	"inherit_thread", "remove_on_exec", "sigtrap",
};

static void print_perf_bits(const struct element *e, __u64 bits)
{
	static const char *const skids[] = {
		"arbitrary skid", "constant skid", "requested to have 0 skid",
		"must have 0 skid",
	};
	unsigned int i, value;
	bool skid;

	for (i = 0; i < ARRAY_SIZE(perf_bits); i++) {
		if (!perf_bits[i])
			continue;
		skid = !strcmp(perf_bits[i], "precise_ip");
		value = bits >> i & (skid ? 3 : 1);
		if (!value && !skid && !e->items->verbose)
			continue;
		seq_buf_printf(e->s, ", %s=%u", perf_bits[i], value);
		if (skid)
			seq_buf_printf(e->s, " /* %s */", skids[value]);
	}
	if (bits >> i)
		seq_buf_printf(e->s, ", __reserved_1=%#llx /* Bits 63..%u */", bits >> i, i);
}

static void print_perf_config(struct seq_buf *s, __u32 type, __u64 config)
{
	switch (type) {
	case PERF_TYPE_HARDWARE:
		if (config >> 32)
			seq_buf_printf(s, "%#llx<<32|", config >> 32);
		utrace_print_flags(s, UTRACE_FLAGS_PERF_HW, (__u32)config);
		break;
	case PERF_TYPE_SOFTWARE:
		utrace_print_flags(s, UTRACE_FLAGS_PERF_SW, config);
		break;
	case PERF_TYPE_TRACEPOINT:
		utrace_write_decimal(s, config);
		break;
	case PERF_TYPE_HW_CACHE:
		if (config >> 32)
			seq_buf_printf(s, "%#llx<<32|", config >> 32);
		if (config >> 24 & 0xff)
			seq_buf_printf(s, "%#llx<<24|", config >> 24 & 0xff);
		utrace_print_flags(s, UTRACE_FLAGS_PERF_CACHE_RESULT, config >> 16 & 0xff);
		utrace_write_literal(s, "<<16|");
		utrace_print_flags(s, UTRACE_FLAGS_PERF_CACHE_OP, config >> 8 & 0xff);
		utrace_write_literal(s, "<<8|");
		utrace_print_flags(s, UTRACE_FLAGS_PERF_CACHE, config & 0xff);
		break;
	default:
		utrace_print_hex(s, config);
	}
}

/* Print the size, and that which the kernel knows if it has written it. */
static void print_perf_size(const struct element *e, __u32 size)
{
	const struct utrace_item *after = e->items->out[e->item->arg];
	__u32 is;

	utrace_print_flags(e->s, UTRACE_FLAGS_PERF_SIZE, size);
	if (!after || after->len < offsetof(struct perf_event_attr, config))
		return;
	memcpy(&is, after->data + offsetof(struct perf_event_attr, size), sizeof(is));
	if (is == size)
		return;
	utrace_write_literal(e->s, " => ");
	utrace_print_flags(e->s, UTRACE_FLAGS_PERF_SIZE, is);
}

/* Is a part of a member there?  What is not there is 0. */
#define perf_has(size, member)	((size) > offsetof(struct perf_event_attr, member))

/* Print the members after the bits, those that @size has. */
static void print_perf_rest(struct seq_buf *s, const struct perf_event_attr *attr,
			    size_t size)
{
	const __u8 *data = (const __u8 *)attr;
	bool breakpoint = attr->type == PERF_TYPE_BREAKPOINT;
	__u32 gap;

	seq_buf_printf(s, ", %s=%u", attr->watermark ? "wakeup_watermark" :
					 "wakeup_events", attr->wakeup_events);
	if (breakpoint) {
		utrace_write_literal(s, ", bp_type=");
		if (attr->bp_type > HW_BREAKPOINT_X && attr->bp_type <= HW_BREAKPOINT_INVALID &&
		    utrace_style.constants != UTRACE_CONSTANTS_RAW)
			seq_buf_printf(s, "%#x /* HW_BREAKPOINT_INVALID */", attr->bp_type);
		else
			utrace_print_flags(s, UTRACE_FLAGS_HW_BREAKPOINT, attr->bp_type);
	}
	seq_buf_printf(s, ", %s=%#llx", breakpoint ? "bp_addr" : "config1", attr->config1);
	if (perf_has(size, config2)) {
		if (breakpoint)
			seq_buf_printf(s, ", bp_len=%llu", attr->bp_len);
		else
			seq_buf_printf(s, ", config2=%#llx", attr->config2);
	}
	if (perf_has(size, branch_sample_type) &&
	    attr->sample_type & PERF_SAMPLE_BRANCH_STACK) {
		utrace_write_literal(s, ", branch_sample_type=");
		utrace_print_flags(s, UTRACE_FLAGS_PERF_BRANCH, attr->branch_sample_type);
	}
	if (perf_has(size, sample_regs_user))
		seq_buf_printf(s, ", sample_regs_user=%#llx", attr->sample_regs_user);
	if (perf_has(size, sample_stack_user) && attr->sample_type & PERF_SAMPLE_STACK_USER)
		seq_buf_printf(s, ", sample_stack_user=%#x", attr->sample_stack_user);
	if (perf_has(size, clockid) && attr->use_clockid) {
		utrace_write_literal(s, ", clockid=");
		utrace_print_flags(s, UTRACE_FLAGS_CLOCK, attr->clockid);
	}
	if (perf_has(size, sample_regs_intr))
		seq_buf_printf(s, ", sample_regs_intr=%#llx", attr->sample_regs_intr);
	if (perf_has(size, aux_watermark))
		seq_buf_printf(s, ", aux_watermark=%u", attr->aux_watermark);
	if (perf_has(size, sample_max_stack)) {
		seq_buf_printf(s, ", sample_max_stack=%u", attr->sample_max_stack);
		memcpy(&gap, data + 108, sizeof(gap));
		if (gap >> 16)
			seq_buf_printf(s, " /* bytes 110..111: %#x */", gap >> 16);
	}
	if (perf_has(size, aux_sample_size)) {
		seq_buf_printf(s, ", aux_sample_size=%u", attr->aux_sample_size);
		memcpy(&gap, data + 116, sizeof(gap));
		if (gap)
			seq_buf_printf(s, " /* bytes 116..119: %#x */", gap);
	}
	if (perf_has(size, sig_data))
		seq_buf_printf(s, ", sig_data=%#llx", attr->sig_data);
}

/* Print an event as far as its size says. */
void whole_perf_event_attr(const struct element *e)
{
	const struct utrace_item *item = e->items->of[e->item->arg] ?: e->item;
	struct perf_event_attr attr = {};
	size_t size, known = PERF_KNOWN;
	__u64 bits;

	memcpy(&attr, item->data, item->len < known ? item->len : known);
	size = attr.size ?: PERF_ATTR_SIZE_VER0;
	if (size < known)
		known = size;
	if (item->len < known || size < PERF_ATTR_SIZE_VER0) {
		structs_print_address(e->s, e->address);
		return;
	}
	utrace_write_literal(e->s, "{type=");
	utrace_print_flags(e->s, UTRACE_FLAGS_PERF_TYPE, attr.type);
	utrace_write_literal(e->s, ", size=");
	print_perf_size(e, attr.size);
	utrace_write_literal(e->s, ", config=");
	print_perf_config(e->s, attr.type, attr.config);
	seq_buf_printf(e->s, ", %s=%llu, sample_type=", attr.freq ? "sample_freq" :
					    "sample_period", attr.sample_period);
	utrace_print_flags(e->s, UTRACE_FLAGS_PERF_SAMPLE, attr.sample_type);
	utrace_write_literal(e->s, ", read_format=");
	utrace_print_flags(e->s, UTRACE_FLAGS_PERF_FORMAT, attr.read_format);
	memcpy(&bits, (const __u8 *)&attr + 40, sizeof(bits));
	print_perf_bits(e, bits);
	if (e->items->verbose)
		print_perf_rest(e->s, &attr, size);
	if (!e->items->verbose || size > PERF_KNOWN)
		utrace_write_literal(e->s, ", ...");
	utrace_write_char(e->s, '}');
}

/* BPF */

/* Print a string behind a pointer, not more of it than of memory. */
void hook_short_string(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);
	size_t most = e->items->most;

	if (!item || (item->len <= most && item->flags & UTRACE_ITEM_F_FAULTED)) {
		structs_print_address(e->s, element_number(e, m));
		return;
	}
	if (item->len <= most) {
		element_print_plain(e, m);
		return;
	}
	utrace_print_string(e->s, (const char *)item->data, most);
	utrace_write_literal(e->s, "...");
}

/* Print a string behind a pointer, at most log_size bytes of it. */
void hook_bpf_log(const struct element *e, const struct member *m)
{
	const struct utrace_item *item = element_child(e, m);
	__u64 most = element_named(e, "log_size");

	if (!item || item->len <= most) {
		hook_short_string(e, m);
		return;
	}
	if (most > e->items->most)
		most = e->items->most;
	utrace_print_string(e->s, (const char *)item->data, most);
	utrace_write_literal(e->s, "...");
}

/* Print a number as it was, and what the call has changed it to. */
void hook_changed(const struct element *e, const struct member *m)
{
	const struct utrace_item *before = e->items->of[e->item->arg];
	size_t at = m->at[e->abi], size = m->size[e->abi];
	__u64 now = element_number(e, m), old = now;

	if (before && before->kind == UTRACE_ITEM_STRUCT && at + size <= before->len) {
		old = 0;
		memcpy(&old, before->data + at, size);
	}
	utrace_write_decimal(e->s, old);
	if (now == old)
		return;
	utrace_write_literal(e->s, " => ");
	utrace_write_decimal(e->s, now);
}

/*
 * What is known of an object.  The name of the file says what it is; only maps are
 * decoded.
 */
void hook_bpf_object(const struct element *e, const struct member *m)
{
	static const char map[] = "anon_inode:bpf-map";
	const struct utrace_item *file = element_child(e, element_nth(e, 0));
	const struct utrace_item *item = element_child(e, m);
	struct element object;

	if (!e->items->verbose || !item || !file || file->len != sizeof(map) - 1 ||
	    memcmp(file->data, map, file->len)) {
		structs_print_address(e->s, element_number(e, m));
		return;
	}
	element_of(&object, e, "bpf_map_info", item->data, item->len);
	utrace_write_char(e->s, '{');
	element_print_start(&object);
	utrace_write_char(e->s, '}');
}

/* The kernel takes no larger union. */
#define BPF_ATTR_MAX	4096

/* Print a version of the kernel. */
void hook_kernel_version(const struct element *e, const struct member *m)
{
	__u32 version = element_number(e, m);
	char text[64];

	snprintf(text, sizeof(text), "KERNEL_VERSION(%u, %u, %u)", version >> 16,
		 version >> 8 & 0xff, version & 0xff);
	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES)
		utrace_print_hex(e->s, version);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(e->s, " /* %s */", text);
	else if (utrace_style.constants == UTRACE_CONSTANTS_NAMES)
		seq_buf_puts(e->s, text);
}

/* Print the bytes after the members unless all are 0. */
static void print_bpf_rest(const struct element *e, size_t from)
{
	size_t i;

	for (i = from; i < e->len && !e->data[i]; i++)
		;
	if (i >= e->len)
		return;
	if (!e->items->verbose) {
		utrace_write_literal(e->s, ", ...");
		return;
	}
	utrace_write_literal(e->s, ", extra_data=");
	structs_print_quoted_hex(e->s, e->data + from, e->len - from);
	seq_buf_printf(e->s, " /* bytes %zu..%zu */", from, e->len - 1);
}

/*
 * Print the members of a command of bpf(), in a structure of this name unless it
 * is NULL.  The members after one with the option "more" are there if the union
 * that the program has goes beyond its begin.
 */
static void print_bpf(const struct element *e, const char *within)
{
	struct element whole = *e;
	const struct member *m;
	__u8 data[1024] = {};
	size_t i, at, end = 0;
	bool there = true, first = true;

	if (!e->item->whole || e->item->whole > BPF_ATTR_MAX ||
	    (e->item->flags & UTRACE_ITEM_F_FAULTED)) {
		structs_print_address(e->s, e->address);
		return;
	}
	memcpy(data, e->data, e->len < sizeof(data) ? e->len : sizeof(data));
	whole.data = data;
	whole.len = sizeof(data);
	utrace_write_char(e->s, '{');
	if (within)
		seq_buf_printf(e->s, "%s={", within);
	for (i = 0; (m = element_nth(e, i)); i++) {
		at = m->at[e->abi];
		if (m->flags & MEMBER_MORE)
			there = e->len > at;
		if (end < at + m->size[e->abi])
			end = at + m->size[e->abi];
		if (!there || !element_is_there(&whole, m))
			continue;
		if (!first)
			utrace_write_literal(e->s, ", ");
		first = false;
		/* The end of a name is missing. */
		if (m->type == MEMBER_CSTR && e->len < at + m->size[e->abi]) {
			struct member part = *m;

			part.size[e->abi] = e->len - at;
			element_print_member(&whole, &part);
		} else {
			element_print_member(&whole, m);
		}
	}
	if (within)
		utrace_write_char(e->s, '}');
	print_bpf_rest(e, end);
	utrace_write_char(e->s, '}');
}

void whole_bpf_attr(const struct element *e)
{
	print_bpf(e, NULL);
}

void whole_bpf_test(const struct element *e)
{
	print_bpf(e, "test");
}

void whole_bpf_info(const struct element *e)
{
	print_bpf(e, "info");
}

void whole_bpf_query(const struct element *e)
{
	print_bpf(e, "query");
}

void whole_bpf_raw_tracepoint(const struct element *e)
{
	print_bpf(e, "raw_tracepoint");
}

void whole_bpf_task_fd_query(const struct element *e)
{
	print_bpf(e, "task_fd_query");
}

void whole_bpf_link_detach(const struct element *e)
{
	print_bpf(e, "link_detach");
}

void whole_bpf_batch(const struct element *e)
{
	print_bpf(e, "batch");
}

void whole_bpf_link_create(const struct element *e)
{
	print_bpf(e, "link_create");
}

void whole_bpf_link_update(const struct element *e)
{
	print_bpf(e, "link_update");
}

void whole_bpf_enable_stats(const struct element *e)
{
	print_bpf(e, "enable_stats");
}

void whole_bpf_iter_create(const struct element *e)
{
	print_bpf(e, "iter_create");
}

void whole_bpf_prog_bind_map(const struct element *e)
{
	print_bpf(e, "prog_bind_map");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arguments of calls about security that are no plain structures
 */
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include "decode/print.h"
#include "decode/write.h"
#include "hooks.h"
#include "sets.h"
#include "siginfo.h"

/* Filters */

/* Print the code of an instruction by its parts. */
static void print_code(struct seq_buf *s, unsigned int code)
{
	unsigned int class = BPF_CLASS(code), rest = code & ~0x07;

	utrace_print_flags(s, UTRACE_FLAGS_BPF_CLASS, class);
	switch (class) {
	case BPF_LD:
	case BPF_LDX:
		utrace_write_char(s, '|');
		utrace_print_flags(s, UTRACE_FLAGS_BPF_SIZE, BPF_SIZE(code));
		utrace_write_char(s, '|');
		utrace_print_flags(s, UTRACE_FLAGS_BPF_MODE, BPF_MODE(code));
		rest &= ~0xf8;
		break;
	case BPF_ALU:
	case BPF_JMP:
		utrace_write_char(s, '|');
		utrace_print_flags(s, UTRACE_FLAGS_BPF_SOURCE, BPF_SRC(code));
		utrace_write_char(s, '|');
		utrace_print_flags(s, class == BPF_ALU ? UTRACE_FLAGS_BPF_ALU :
				   UTRACE_FLAGS_BPF_JMP, BPF_OP(code));
		rest &= ~0xf8;
		break;
	case BPF_RET:
		utrace_write_char(s, '|');
		utrace_print_flags(s, UTRACE_FLAGS_BPF_RETURN, BPF_RVAL(code));
		rest &= ~0x18;
		break;
	case BPF_MISC:
		utrace_write_char(s, '|');
		utrace_print_flags(s, UTRACE_FLAGS_BPF_MISC, BPF_MISCOP(code));
		rest &= ~0xf8;
		break;
	}
	if (!rest)
		return;
	utrace_write_char(s, '|');
	utrace_print_hex(s, rest);
	if (utrace_style.constants != UTRACE_CONSTANTS_RAW)
		utrace_write_literal(s, " /* BPF_??? */");
}

/* Print a constant with its name in the style of constants. */
static void print_named(struct seq_buf *s, __u32 value, const char *name)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(s, name);
		return;
	}
	utrace_print_hex(s, value);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* %s */", name);
}

/* The operand of a filter of sockets: negative offsets are areas of the kernel. */
static void print_socket_operand(struct seq_buf *s, unsigned int code, __u32 k)
{
	bool absolute = (BPF_CLASS(code) == BPF_LD || BPF_CLASS(code) == BPF_LDX) &&
			(BPF_MODE(code) == BPF_ABS || BPF_MODE(code) == BPF_IND);

	if (!absolute || (__s32)k >= 0 || k < (__u32)SKF_LL_OFF) {
		utrace_print_hex(s, k);
	} else if (k >= (__u32)SKF_AD_OFF) {
		print_named(s, SKF_AD_OFF, "SKF_AD_OFF");
		utrace_write_char(s, '+');
		utrace_print_flags(s, UTRACE_FLAGS_SKF_AD, k - SKF_AD_OFF);
	} else if (k >= (__u32)SKF_NET_OFF) {
		print_named(s, SKF_NET_OFF, "SKF_NET_OFF");
		seq_buf_printf(s, "+%u", k - SKF_NET_OFF);
	} else {
		print_named(s, SKF_LL_OFF, "SKF_LL_OFF");
		seq_buf_printf(s, "+%u", k - SKF_LL_OFF);
	}
}

/* The operand of a filter of system calls: what a return does. */
static void print_seccomp_operand(struct seq_buf *s, unsigned int code, __u32 k)
{
	if (BPF_CLASS(code) != BPF_RET) {
		utrace_print_hex(s, k);
		return;
	}
	utrace_print_flags(s, UTRACE_FLAGS_SECCOMP_RET,
			   k & SECCOMP_RET_ACTION_FULL);
	if (k & SECCOMP_RET_DATA) {
		utrace_write_char(s, '|');
		utrace_print_hex(s, k & SECCOMP_RET_DATA);
	}
}

static void print_instruction(const struct element *e,
			      void (*operand)(struct seq_buf *s, unsigned int code,
					      __u32 k))
{
	struct sock_filter filter = {};
	bool jump;

	memcpy(&filter, e->data,
	       e->len < sizeof(filter) ? e->len : sizeof(filter));
	jump = filter.jt || filter.jf;
	seq_buf_puts(e->s, jump ? "BPF_JUMP(" : "BPF_STMT(");
	print_code(e->s, filter.code);
	utrace_write_literal(e->s, ", ");
	operand(e->s, filter.code, filter.k);
	if (jump) {
		utrace_write_literal(e->s, ", ");
		utrace_print_hex(e->s, filter.jt);
		utrace_write_literal(e->s, ", ");
		utrace_print_hex(e->s, filter.jf);
	}
	utrace_write_char(e->s, ')');
}

void whole_sock_filter(const struct element *e)
{
	print_instruction(e, print_socket_operand);
}

void whole_seccomp_filter(const struct element *e)
{
	print_instruction(e, print_seccomp_operand);
}

/* A program: without -v only the address of its instructions. */
void whole_fprog(const struct element *e)
{
	const struct member *filter = element_member(e, "filter");

	utrace_write_literal(e->s, "{len=");
	utrace_write_decimal(e->s, element_named(e, "len"));
	utrace_write_literal(e->s, ", ");
	if (e->items->verbose) {
		element_print_member(e, filter);
	} else {
		utrace_write_literal(e->s, "filter=");
		structs_print_address(e->s, element_number(e, filter));
	}
	utrace_write_char(e->s, '}');
}

/* Capabilities */

static void print_caps(struct seq_buf *s, const char *name, __u64 set)
{
	char text[64];
	struct seq_buf cap = { .buffer = text, .size = sizeof(text) };
	const char *before = "";
	unsigned int i;
	size_t at;

	seq_buf_puts(s, name);
	if (!set || utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_print_hex(s, set);
		if (!set || utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(s, " /* ");
	}
	at = s->len;
	for (i = 0; i < 64 && set; i++) {
		if (!(set >> i & 1))
			continue;
		cap.len = 0;
		if (!utrace_print_names(&cap, UTRACE_FLAGS_CAP, i))
			continue;
		seq_buf_puts(s, before);
		seq_buf_puts(s, "1<<");
		utrace_write(s, text, cap.len);
		before = "|";
		set &= ~(1ULL << i);
	}
	if (set) {
		seq_buf_puts(s, before);
		utrace_print_hex(s, set);
		if (s->len - at && !*before)
			utrace_write_literal(s, " /* CAP_??? */");
	}
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(s, " */");
}

/*
 * Sets of capabilities: one of 32 bits or two halves, by the version in the
 * first argument.
 */
void whole_cap_data(const struct element *e)
{
	struct __user_cap_data_struct data[2] = {};
	const struct utrace_item *header = e->items->of[0];
	__u32 version = 0;
	size_t size;

	if (header && header->len >= sizeof(version))
		memcpy(&version, header->data, sizeof(version));
	size = version == _LINUX_CAPABILITY_VERSION_1 ? sizeof(data[0]) :
	       version == _LINUX_CAPABILITY_VERSION_2 ||
	       version == _LINUX_CAPABILITY_VERSION_3 ? sizeof(data) : 0;
	if (!size || e->len < size) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	memcpy(data, e->data, size);
	print_caps(e->s, "{effective=", (__u64)data[1].effective << 32 |
		   data[0].effective);
	print_caps(e->s, ", permitted=", (__u64)data[1].permitted << 32 |
		   data[0].permitted);
	print_caps(e->s, ", inheritable=", (__u64)data[1].inheritable << 32 |
		   data[0].inheritable);
	utrace_write_char(e->s, '}');
}

/* Notifications of seccomp() */

void hook_seccomp_nr(const struct element *e, const struct member *m)
{
	siginfo_print_nr(e->s, element_named(e, "arch"), element_number(e, m));
}

void hook_seccomp_arch(const struct element *e, const struct member *m)
{
	siginfo_print_arch(e->s, element_number(e, m));
}

/* The result of a call, which is an error. */
void hook_negative_errno(const struct element *e, const struct member *m)
{
	int error = element_number(e, m);
	const char *name = error < 0 && error > -4096 ? strerrorname_np(-error) : NULL;
	char text[32];

	if (!name) {
		utrace_write_signed(e->s, error);
		return;
	}
	snprintf(text, sizeof(text), "-%s", name);
	utrace_print_constant(e->s, error, text);
}

/* The call writes all of the structure, whose bytes must be 0 before. */
void whole_seccomp_notif(const struct element *e)
{
	static const struct seccomp_notif zero;
	struct element before;
	bool answered = element_before(e, &before);

	if (memcmp(before.data, &zero, sizeof(zero))) {
		element_print_whole(&before);
		utrace_write_literal(e->s, " => ");
	}
	if (answered)
		element_print_whole(e);
	else
		structs_print_address(e->s, e->address);
}

/* Keys */

/*
 * Print what keyctl() can do: as many bytes as its result says.  The kernel fills
 * a longer buffer with 0.
 */
void whole_key_caps(const struct element *e)
{
	static const unsigned int sets[] = {
		UTRACE_FLAGS_KEY_CAPS0, UTRACE_FLAGS_KEY_CAPS1,
	};
	size_t i;

	utrace_write_char(e->s, '[');
	for (i = 0; i < e->len && (long)i < e->items->result; i++) {
		if (i)
			utrace_write_literal(e->s, ", ");
		if (i < ARRAY_SIZE(sets))
			utrace_print_flags(e->s, sets[i], e->data[i]);
		else
			utrace_print_hex(e->s, e->data[i]);
	}
	utrace_write_char(e->s, ']');
}

/* An error that a key is given. */
void arg_errno(const struct utrace_arg_text *a)
{
	__u32 error = a->value;
	const char *name = error < 4096 ? strerrorname_np(error) : NULL;

	if (name && error)
		utrace_print_constant(a->s, error, name);
	else
		utrace_write_decimal(a->s, error);
}

/* Landlock */

/* What a ruleset handles.  strace prints the first member only. */
void whole_landlock_ruleset(const struct element *e)
{
	__u64 handled;

	if (e->len < sizeof(handled)) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	memcpy(&handled, e->data, sizeof(handled));
	utrace_write_literal(e->s, "{handled_access_fs=");
	utrace_print_flags(e->s, UTRACE_FLAGS_LANDLOCK_ACCESS_FS, handled);
	seq_buf_puts(e->s, e->args[1] > sizeof(handled) ? ", ...}" : "}");
}

/* Quotas */

/* A command of quotactl(), and the kind of quotas that it is for. */
void arg_quota_command(const struct utrace_arg_text *a)
{
	__u8 constants = utrace_style.constants;
	__u32 command = a->value;

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_write_decimal(a->s, command);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(a->s, " /* ");
	}
	utrace_style.constants = UTRACE_CONSTANTS_NAMES;
	utrace_write_literal(a->s, "QCMD(");
	utrace_print_flags(a->s, UTRACE_FLAGS_QUOTA_COMMAND, command >> 8);
	utrace_write_literal(a->s, ", ");
	utrace_print_flags(a->s, UTRACE_FLAGS_QUOTA_TYPE, command & 0xff);
	utrace_write_char(a->s, ')');
	utrace_style.constants = constants;
	if (constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(a->s, " */");
}

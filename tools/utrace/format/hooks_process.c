// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arguments of calls about processes that are no plain structures
 */
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/elf.h>
#include <linux/personality.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/stddef.h>

#include "decode/print.h"
#include "decode/write.h"
#include "fd_text.h"
#include "hooks.h"
#include "sets.h"
#include "siginfo.h"

#define COMM_SIZE	16

/* The numbers in encoded operations of FUTEX_WAKE_OP. */
#define OP_SHIFT	8	/* the argument is a shift */
#define OP_BITS(op, at, bits)	((op) >> (at) & ((1U << (bits)) - 1))

/* The name of a thread: up to 15 bytes, and a NUL that may be missing. */
void whole_comm(const struct element *e)
{
	bool out = e->item->flags & UTRACE_ITEM_F_OUT;
	size_t len = strnlen((const char *)e->data, e->len);

	/* The kernel writes all of it. */
	if (e->len < COMM_SIZE && (out || (len == e->len && len < COMM_SIZE - 1))) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	utrace_print_string(e->s, (const char *)e->data,
			    len < COMM_SIZE - 1 ? len : COMM_SIZE - 1);
	if (!out && len >= COMM_SIZE - 1)
		utrace_write_literal(e->s, "...");
}

/* Print a number of 32 bits with all of its digits; 0 has no prefix. */
static void print_wide_hex(struct seq_buf *s, __u32 number)
{
	seq_buf_printf(s, "%#08x", number);
}

/* A segment of set_thread_area() and modify_ldt(). */
void whole_user_desc(const struct element *e)
{
	/* The bit fields of the last word: where they begin, and their bits. */
	static const struct {
		unsigned int at;
		unsigned int bits;
	} flags[] = {
		{ 0, 1 }, { 1, 2 }, { 3, 1 }, { 4, 1 }, { 5, 1 }, { 6, 1 },
		{ 7, 1 },
	};
	__u32 words[4] = {};
	size_t i, n = ARRAY_SIZE(flags);

	/* modify_ldt() has other arguments, too. */
	if (e->item->arg == 1 && e->args[2] != sizeof(words)) {
		utrace_print_hex(e->s, e->args[1]);
		return;
	}
	memcpy(words, e->data, e->len < sizeof(words) ? e->len : sizeof(words));
	utrace_write_literal(e->s, "{entry_number=");
	if ((int)words[0] == -1)
		utrace_write_literal(e->s, "-1");
	else
		utrace_write_decimal(e->s, words[0]);
	utrace_write_literal(e->s, ", base_addr=");
	print_wide_hex(e->s, words[1]);
	utrace_write_literal(e->s, ", limit=");
	print_wide_hex(e->s, words[2]);
	/* Only 64-bit programs have the last one. */
	n -= e->abi == UTRACE_ABI_IA32;
	for (i = 0; i < n; i++) {
		utrace_write_literal(e->s, ", ");
		utrace_print_names(e->s, UTRACE_FLAGS_USER_DESC, flags[i].at);
		seq_buf_printf(e->s, "=%u", OP_BITS(words[3], flags[i].at,
						    flags[i].bits));
	}
	utrace_write_char(e->s, '}');
}

/* The number of a segment that is asked for, and what was found. */
void whole_user_desc_query(const struct element *e)
{
	__u32 number = 0;

	if (e->item->flags & UTRACE_ITEM_F_OUT) {
		whole_user_desc(e);
		return;
	}
	memcpy(&number, e->data, e->len < sizeof(number) ? e->len : sizeof(number));
	if ((int)number == -1)
		utrace_write_literal(e->s, "{entry_number=-1, ...}");
	else
		seq_buf_printf(e->s, "{entry_number=%u, ...}", number);
}

/* The node of a page, or an error. */
void whole_page_status(const struct element *e)
{
	const char *name;
	int status = 0;

	memcpy(&status, e->data, e->len < sizeof(status) ? e->len : sizeof(status));
	name = status < 0 ? strerrorname_np(-(unsigned int)status) : NULL;
	if (!name || utrace_style.constants == UTRACE_CONSTANTS_RAW) {
		utrace_write_signed(e->s, status);
		return;
	}
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(e->s, "%d /* -%s */", status, name);
	else
		seq_buf_printf(e->s, "-%s", name);
}

static void print_personality(struct seq_buf *s, __u32 value)
{
	utrace_print_flags(s, UTRACE_FLAGS_PERSONALITY, value & PER_MASK);
	if (!(value & ~PER_MASK))
		return;
	utrace_write_char(s, '|');
	utrace_print_flags(s, UTRACE_FLAGS_PERSONALITY_BITS, value & ~PER_MASK);
}

/* All bits ask for the personality and do not change it. */
void arg_personality(const struct utrace_arg_text *a)
{
	if ((__u32)a->value == 0xffffffff)
		utrace_print_hex(a->s, 0xffffffff);
	else
		print_personality(a->s, a->value);
}

void arg_personality_result(const struct utrace_arg_text *a)
{
	utrace_print_hex(a->s, a->value);
	utrace_write_literal(a->s, " (");
	print_personality(a->s, a->value);
	utrace_write_char(a->s, ')');
}

/*
 * Print a set of nodes by words.  The kernel uses one bit less than @bits says.
 */
static void print_nodes(const struct element *e, unsigned long bits)
{
	unsigned int size = utrace_layouts[e->layout].size[e->abi];
	size_t words = bits ? (bits - 1 + 8 * size - 1) / (8 * size) : 0;
	size_t needed = words, i;
	__u64 word;

	if (!e->items->verbose && needed > e->items->most)
		needed = e->items->most;
	if ((bits && !words) || (needed && e->len < size)) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	utrace_write_char(e->s, '[');
	for (i = 0; i < words; i++) {
		if (i)
			utrace_write_literal(e->s, ", ");
		if (e->len / size <= i) {
			seq_buf_printf(e->s, "... /* %#lx */",
				       e->args[e->item->arg] + i * size);
			break;
		}
		if (i >= e->items->most && !e->items->verbose) {
			utrace_write_literal(e->s, "...");
			break;
		}
		word = 0;
		memcpy(&word, e->data + i * size, size);
		seq_buf_printf(e->s, "%0*llx", 2 * size, (unsigned long long)word);
	}
	utrace_write_char(e->s, ']');
}

/* Nodes whose number is the next argument. */
void whole_nodemask(const struct element *e)
{
	print_nodes(e, e->args[e->item->arg + 1]);
}

/* Nodes whose number is the second argument. */
void whole_nodemask_before(const struct element *e)
{
	print_nodes(e, e->args[1]);
}

/* modify_ldt() returns an int, so that an error is a positive long. */
void arg_ldt_result(const struct utrace_arg_text *a)
{
	int error = -(__u32)a->value;
	const char *name = error > 0 ? strerrorname_np(error) : NULL;

	utrace_write_decimal(a->s, a->value);
	if (name && a->value == (__u32)a->value)
		seq_buf_printf(a->s, " %s (%s)", name, strerror(error));
}

/* A descriptor of the process that the pidfd before it stands for. */
void arg_fd_of_pidfd(const struct utrace_arg_text *a)
{
	const struct utrace_item *text = NULL;

	utrace_write_signed(a->s, (int)a->value);
	if (a->items && a->items->decode)
		text = fd_text_of_pidfd(a->items->decode, a->items->tid,
					a->args[a->arg - 1], a->value);
	if (text)
		utrace_write(a->s, (const char *)text->data, text->len);
}

/* clone3() */

static __u64 word_at(const struct element *e, size_t word)
{
	__u64 value = 0;

	if (8 * word + 8 <= e->len)
		memcpy(&value, e->data + 8 * word, sizeof(value));
	return value;
}

static void print_pointer(struct seq_buf *s, const char *name, __u64 address)
{
	seq_buf_printf(s, ", %s=", name);
	structs_print_address(s, address);
}

/* Print a number that clone3() has written for a flag. */
static void print_written(const struct element *e, const char *before,
			  const char *name)
{
	const struct member *member = element_member(e, name);
	const struct utrace_item *item = element_child(e, member);
	int number;

	seq_buf_printf(e->s, "%s%s=", before, name);
	if (item && item->len >= sizeof(number)) {
		memcpy(&number, item->data, sizeof(number));
		seq_buf_printf(e->s, "[%d]", number);
	} else {
		structs_print_address(e->s, element_number(e, member));
	}
}

/* Print what clone3() has written. */
static void print_clone_results(const struct element *e, __u64 flags)
{
	struct element out = *e;
	const char *before = " => {";

	out.item = e->items->out[e->item->arg];
	if (!out.item || !(flags & (CLONE_PIDFD | CLONE_PARENT_SETTID)))
		return;
	out.data = out.item->data;
	out.len = out.item->len;
	if (flags & CLONE_PIDFD) {
		print_written(&out, before, "pidfd");
		before = ", ";
	}
	if (flags & CLONE_PARENT_SETTID)
		print_written(&out, before, "parent_tid");
	utrace_write_char(e->s, '}');
}

/* Print the numbers that clone3() gives the task in its pid namespaces. */
static void print_set_tid(const struct element *e, __u64 address, __u64 n)
{
	const struct utrace_item *tids;
	size_t i;
	int tid;

	tids = element_child(e, element_member(e, "set_tid"));
	if (tids && tids->len && tids->len / sizeof(tid) == n) {
		utrace_write_literal(e->s, ", set_tid=[");
		for (i = 0; i < n; i++) {
			memcpy(&tid, tids->data + sizeof(tid) * i, sizeof(tid));
			seq_buf_printf(e->s, "%s%d", i ? ", " : "", tid);
		}
		utrace_write_char(e->s, ']');
	} else {
		print_pointer(e->s, "set_tid", address);
	}
	seq_buf_printf(e->s, ", set_tid_size=%llu", (unsigned long long)n);
}

/*
 * The arguments of clone3(): what the flags ask for.  Sizes of older and newer
 * structures are in the second argument.
 */
void whole_clone_args(const struct element *e)
{
	enum { FLAGS, PIDFD, CHILD_TID, PARENT_TID, EXIT_SIGNAL, STACK,
	       STACK_SIZE, TLS, SET_TID, SET_TID_SIZE, CGROUP, WORDS };
	__u64 flags = word_at(e, FLAGS), size = e->args[1];
	struct seq_buf *s = e->s;

	/* The first version has all members up to the TLS. */
	if (e->len < 8 * (TLS + 1)) {
		utrace_print_hex(s, e->args[e->item->arg]);
		return;
	}
	utrace_write_literal(s, "{flags=");
	utrace_print_flags(s, UTRACE_FLAGS_CLONE3, flags);
	if (flags & CLONE_PIDFD)
		print_pointer(s, "pidfd", word_at(e, PIDFD));
	if (flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		print_pointer(s, "child_tid", word_at(e, CHILD_TID));
	if (flags & CLONE_PARENT_SETTID)
		print_pointer(s, "parent_tid", word_at(e, PARENT_TID));
	utrace_write_literal(s, ", exit_signal=");
	if (word_at(e, EXIT_SIGNAL) && word_at(e, EXIT_SIGNAL) <= 64)
		utrace_print_signal(s, word_at(e, EXIT_SIGNAL));
	else
		utrace_write_decimal(s, word_at(e, EXIT_SIGNAL));
	print_pointer(s, "stack", word_at(e, STACK));
	utrace_write_literal(s, ", stack_size=");
	utrace_print_hex(s, word_at(e, STACK_SIZE));
	if (flags & CLONE_SETTLS)
		print_pointer(s, "tls", word_at(e, TLS));
	if (e->len >= 8 * (SET_TID_SIZE + 1) &&
	    (word_at(e, SET_TID) || word_at(e, SET_TID_SIZE)))
		print_set_tid(e, word_at(e, SET_TID), word_at(e, SET_TID_SIZE));
	if (e->len >= 8 * (CGROUP + 1) &&
	    (flags & CLONE_INTO_CGROUP || word_at(e, CGROUP)))
		seq_buf_printf(s, ", cgroup=%llu",
			       (unsigned long long)word_at(e, CGROUP));
	if (e->len < size)
		utrace_write_literal(s, ", ???");
	else
		element_print_tail(e, 8 * WORDS);
	utrace_write_char(s, '}');
	print_clone_results(e, flags);
}

/* Features of the CPU, always with their number. */
void whole_xfeatures(const struct element *e)
{
	unsigned long features = 0;
	size_t before;

	memcpy(&features, e->data, e->len < sizeof(features) ? e->len :
				   sizeof(features));
	utrace_print_hex(e->s, features);
	before = e->s->len;
	utrace_write_literal(e->s, " /* ");
	if (utrace_style.constants != UTRACE_CONSTANTS_RAW &&
	    utrace_print_names(e->s, UTRACE_FLAGS_XFEATURES, features))
		utrace_write_literal(e->s, " */");
	else
		e->s->len = before;
}

/* A message of System V: its type, and its text after it. */
void whole_msgbuf(const struct element *e)
{
	unsigned int size = utrace_layouts[e->layout].size[e->abi];
	size_t len = e->len - size, most = e->items->most;
	long type = 0;

	if (e->len < size) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	memcpy(&type, e->data, size);
	if (size == 4)
		type = (int)type;
	seq_buf_printf(e->s, "{mtype=%ld, mtext=", type);
	utrace_print_string(e->s, (const char *)e->data + size,
			    len < most ? len : most);
	seq_buf_puts(e->s, len > most || e->item->whole > e->len ? "...}" : "}");
}

/* A text without its last NUL, as much as the buffer of a call takes. */
void whole_text(const struct element *e)
{
	const unsigned int arg = e->item->arg;
	size_t len = e->len, most = e->items->most;
	size_t whole = e->item->whole;
	bool more;

	if (e->item->flags & UTRACE_ITEM_F_OUT && whole > e->args[arg + 1])
		whole = e->args[arg + 1];
	if (len > whole)
		len = whole;
	more = len < whole;
	if (more && len < most && e->item->flags & UTRACE_ITEM_F_FAULTED) {
		utrace_print_hex(e->s, e->args[arg]);
		return;
	}
	if (len && !more && !e->data[len - 1])
		len--;
	utrace_print_string(e->s, (const char *)e->data, len < most ? len : most);
	if (more || len > most)
		utrace_write_literal(e->s, "...");
}

/* Bytes, as many as the buffer of a call takes. */
void whole_bytes(const struct element *e)
{
	size_t most = e->items->most;

	if (e->item->flags & UTRACE_ITEM_F_FAULTED && e->len <= most) {
		utrace_print_hex(e->s, e->address);
		return;
	}
	utrace_print_string(e->s, (const char *)e->data, e->len < most ? e->len : most);
	if (e->item->whole > most)
		utrace_write_literal(e->s, "...");
}

/* ptrace() */

/* Print a result, which is an error by its name if @failed. */
static void print_rval(struct seq_buf *s, __s64 rval, bool failed)
{
	const char *name = failed && rval < 0 && rval > -4096 ?
			   strerrorname_np(-rval) : NULL;

	if (!name || utrace_style.constants == UTRACE_CONSTANTS_RAW)
		utrace_write_signed(s, rval);
	else if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, "%lld /* -%s */", (long long)rval, name);
	else
		seq_buf_printf(s, "-%s", name);
}

/* Print those of the arguments of a system call that were captured. */
static void print_call_args(struct seq_buf *s, const __u64 *args, size_t n)
{
	size_t i;

	utrace_write_literal(s, ", args=[");
	for (i = 0; i < n; i++) {
		if (i)
			utrace_write_literal(s, ", ");
		utrace_print_hex(s, args[i]);
	}
	utrace_write_char(s, ']');
}

/* The structure with the registers of a note, or NULL. */
static const char *registers_of(unsigned int note)
{
	switch (note) {
	case NT_PRSTATUS:
		return "user_regs_struct";
	case NT_PRFPREG:
		return "user_fpregs_struct";
	default:
		return NULL;
	}
}

/* The call writes how many bytes it has read or written. */
void whole_regset(const struct element *e)
{
	const struct member *base = element_member(e, "iov_base");
	const char *name = registers_of(e->args[2]);
	const struct utrace_item *item;
	struct element before, regs;
	__u64 len, now = element_named(e, "iov_len");
	size_t size = 0;

	element_before(e, &before);
	len = element_named(&before, "iov_len");
	item = element_child(&before, base) ?: element_child(e, base);
	utrace_write_literal(e->s, "{iov_base=");
	if (item && name)
		size = element_of(&regs, e, name, item->data, item->len);
	if (size && item->len && item->len % sizeof(__u64) == 0 &&
	    !(item->flags & UTRACE_ITEM_F_FAULTED)) {
		utrace_write_char(e->s, '{');
		element_print_start(&regs);
		seq_buf_puts(e->s, item->whole > size ? ", ...}" : "}");
	} else {
		structs_print_address(e->s, element_number(e, base));
	}
	seq_buf_printf(e->s, ", iov_len=%llu", len);
	if (now != len)
		seq_buf_printf(e->s, " => %llu", now);
	utrace_write_char(e->s, '}');
}

/*
 * The program passes only the first member, and may have no room for more.  An
 * argument says how many bytes it has.
 */
void whole_seccomp_metadata(const struct element *e)
{
	size_t size = element_nth(e, 0)->size[e->abi];

	if (e->len < size || e->args[2] < size)
		structs_print_address(e->s, e->address);
	else
		element_print_whole(e);
}

/* The bytes of struct ptrace_syscall_info up to the end of a member. */
#define END_OF(member)	offsetofend(struct ptrace_syscall_info, member)

static void print_entry(const struct element *e,
			const struct ptrace_syscall_info *info, const char *name)
{
	size_t at = offsetof(struct ptrace_syscall_info, entry.args), n;

	if (e->len < END_OF(entry.nr))
		return;
	seq_buf_printf(e->s, ", %s={nr=", name);
	siginfo_print_nr(e->s, info->arch, info->entry.nr);
	n = e->len < at ? 0 : (e->len - at) / sizeof(info->entry.args[0]);
	if (n)
		print_call_args(e->s, info->entry.args,
				n < ARRAY_SIZE(info->entry.args) ?
				n : ARRAY_SIZE(info->entry.args));
	if (info->op == PTRACE_SYSCALL_INFO_SECCOMP &&
	    e->len >= END_OF(seccomp.ret_data))
		seq_buf_printf(e->s, ", ret_data=%u", info->seccomp.ret_data);
	utrace_write_char(e->s, '}');
}

/* The system call of a task: as much as the caller has asked for. */
void whole_syscall_info(const struct element *e)
{
	struct ptrace_syscall_info info = {};

	if (!e->len) {
		utrace_print_hex(e->s, e->args[e->item->arg]);
		return;
	}
	memcpy(&info, e->data, e->len < sizeof(info) ? e->len : sizeof(info));
	utrace_write_literal(e->s, "{op=");
	utrace_print_flags(e->s, UTRACE_FLAGS_SYSCALL_INFO, info.op);
	if (e->len >= END_OF(arch)) {
		utrace_write_literal(e->s, ", arch=");
		siginfo_print_arch(e->s, info.arch);
	}
	if (e->len >= END_OF(instruction_pointer))
		print_pointer(e->s, "instruction_pointer",
			      info.instruction_pointer);
	if (e->len >= END_OF(stack_pointer))
		print_pointer(e->s, "stack_pointer", info.stack_pointer);
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		print_entry(e, &info, "entry");
	} else if (info.op == PTRACE_SYSCALL_INFO_SECCOMP) {
		print_entry(e, &info, "seccomp");
	} else if (info.op == PTRACE_SYSCALL_INFO_EXIT &&
		   e->len >= END_OF(exit.rval)) {
		utrace_write_literal(e->s, ", exit={rval=");
		print_rval(e->s, info.exit.rval,
			   e->len >= END_OF(exit.is_error) && info.exit.is_error);
		if (e->len >= END_OF(exit.is_error))
			seq_buf_printf(e->s, ", is_error=%u", info.exit.is_error);
		utrace_write_char(e->s, '}');
	}
	utrace_write_char(e->s, '}');
}

/* prctl() */

/* A capability, for the commands of PR_CAP_AMBIENT that take one. */
void arg_ambient_cap(const struct utrace_arg_text *a)
{
	if (a->args[1] == PR_CAP_AMBIENT_RAISE ||
	    a->args[1] == PR_CAP_AMBIENT_LOWER ||
	    a->args[1] == PR_CAP_AMBIENT_IS_SET)
		utrace_print_flags(a->s, UTRACE_FLAGS_CAP, a->value);
	else
		utrace_print_hex(a->s, a->value);
}

void arg_mce_policy(const struct utrace_arg_text *a)
{
	if (a->args[1] == PR_MCE_KILL_SET)
		utrace_print_flags(a->s, UTRACE_FLAGS_MCE_POLICY, a->value);
	else
		utrace_print_hex(a->s, a->value);
}

/* The number of a signal that is a word. */
void arg_long_signal(const struct utrace_arg_text *a)
{
	if (a->value > 128)
		utrace_write_decimal(a->s, a->value);
	else
		utrace_print_signal(a->s, a->value);
}

/* A process that may trace the task. */
void arg_ptracer(const struct utrace_arg_text *a)
{
	long any = a->abi == UTRACE_ABI_NATIVE ? -1L : 0xffffffffL;

	if (a->value == (unsigned long)any &&
	    utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		utrace_write_literal(a->s, "PR_SET_PTRACER_ANY");
	} else if (a->value == (unsigned long)any) {
		utrace_print_hex(a->s, a->value);
		if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
			utrace_write_literal(a->s, " /* PR_SET_PTRACER_ANY */");
	} else {
		utrace_write_signed(a->s, (int)a->value);
	}
}

/* Print a number, and its name in a comment. */
static void print_commented(struct seq_buf *s, unsigned int set,
			    unsigned long value, const char *unknown)
{
	utrace_print_hex(s, value);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	if (!utrace_print_names(s, set, value))
		seq_buf_puts(s, unknown);
	utrace_write_literal(s, " */");
}

/* A kind of processes, which strace always prints as a number. */
void arg_pidtype(const struct utrace_arg_text *a)
{
	print_commented(a->s, UTRACE_FLAGS_PIDTYPE, (__u32)a->value,
			"PIDTYPE_???");
}

/* A feature of the CPU, likewise. */
void arg_xfeature(const struct utrace_arg_text *a)
{
	print_commented(a->s, UTRACE_FLAGS_XFEATURE, a->value, "XFEATURE_???");
}

/* The length of a vector, and flags above it. */
void arg_vector_length(const struct utrace_arg_text *a)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} flags[] = {
		{ PR_SVE_SET_VL_ONEXEC, "_SET_VL_ONEXEC" },
		{ PR_SVE_VL_INHERIT, "_VL_INHERIT" },
	};
	bool sme = a->args[0] == PR_SME_SET_VL;
	unsigned long rest = a->value & ~(unsigned long)PR_SVE_VL_LEN_MASK;
	bool both = utrace_style.constants == UTRACE_CONSTANTS_BOTH && rest;
	size_t i;

	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_print_hex(a->s, a->value);
		if (!both)
			return;
		utrace_write_literal(a->s, " /* ");
	}
	for (i = 0; i < ARRAY_SIZE(flags); i++) {
		if (!(rest & flags[i].bit))
			continue;
		seq_buf_printf(a->s, "PR_%s%s|", sme ? "SME" : "SVE",
			       flags[i].name);
		rest &= ~(unsigned long)flags[i].bit;
	}
	if (rest)
		seq_buf_printf(a->s, "%#lx|", rest);
	utrace_print_hex(a->s, a->value & PR_SVE_VL_LEN_MASK);
	if (both)
		utrace_write_literal(a->s, " */");
}

/* How addresses are tagged; strace names the first bit also if it is 0. */
void arg_tagged_address(const struct utrace_arg_text *a)
{
	unsigned long tags = a->value & PR_MTE_TAG_MASK, rest;

	rest = a->value & ~(PR_TAGGED_ADDR_ENABLE | PR_MTE_TCF_MASK | PR_MTE_TAG_MASK);
	if (utrace_style.constants != UTRACE_CONSTANTS_NAMES) {
		utrace_print_hex(a->s, a->value);
		if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
			return;
		utrace_write_literal(a->s, " /* ");
	}
	seq_buf_puts(a->s, a->value & PR_TAGGED_ADDR_ENABLE ?
			   "PR_TAGGED_ADDR_ENABLE|" : "!PR_TAGGED_ADDR_ENABLE|");
	utrace_print_names(a->s, UTRACE_FLAGS_MTE, a->value & PR_MTE_TCF_MASK);
	if (tags)
		seq_buf_printf(a->s, "|%#lx<<PR_MTE_TAG_SHIFT",
			       tags >> PR_MTE_TAG_SHIFT);
	if (rest)
		seq_buf_printf(a->s, "|%#lx", rest);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		utrace_write_literal(a->s, " */");
}

/* Print a field of an operation of FUTEX_WAKE_OP. */
static void print_op(struct seq_buf *s, unsigned int set, unsigned int value,
		     unsigned int shift, const char *unknown)
{
	char text[64];
	struct seq_buf name = { .buffer = text, .size = sizeof(text) };
	bool named = utrace_print_names(&name, set, value);

	if (named && utrace_style.constants == UTRACE_CONSTANTS_NAMES)
		utrace_write(s, text, name.len);
	else
		utrace_print_hex(s, value);
	if (named && utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* %.*s */", (int)name.len, text);
	seq_buf_printf(s, "<<%u", shift);
	if (!named && utrace_style.constants != UTRACE_CONSTANTS_RAW)
		seq_buf_printf(s, " /* %s */", unknown);
}

/* An operation of FUTEX_WAKE_OP and its comparison. */
void arg_futex_op(const struct utrace_arg_text *a)
{
	__u32 op = a->value;

	if (OP_BITS(op, 28, 4) & OP_SHIFT) {
		print_op(a->s, UTRACE_FLAGS_FUTEX_SHIFT, OP_SHIFT, 28, "");
		utrace_write_char(a->s, '|');
	}
	print_op(a->s, UTRACE_FLAGS_FUTEX_OP, OP_BITS(op, 28, 3), 28,
		 "FUTEX_OP_???");
	utrace_write_char(a->s, '|');
	utrace_print_hex(a->s, OP_BITS(op, 12, 12));
	utrace_write_literal(a->s, "<<12|");
	print_op(a->s, UTRACE_FLAGS_FUTEX_CMP, OP_BITS(op, 24, 4), 24,
		 "FUTEX_OP_CMP_???");
	utrace_write_char(a->s, '|');
	utrace_print_hex(a->s, OP_BITS(op, 0, 12));
}

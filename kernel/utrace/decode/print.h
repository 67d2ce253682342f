/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - system calls as text
 *
 * The printers of calls, results, strings, flags and signals.
 */
#ifndef _KERNEL_UTRACE_DECODE_PRINT_H
#define _KERNEL_UTRACE_DECODE_PRINT_H

#include <linux/types.h>

struct seq_buf;
struct utrace_call_items;
struct utrace_item;

/*
 * Tables of names in flags.c.  args.tbl uses the lower-case names after
 * "flags:".
 */
enum utrace_flag_set {
	UTRACE_FLAGS_ACCESS,
	UTRACE_FLAGS_AT,
	UTRACE_FLAGS_CLOCK,
	UTRACE_FLAGS_CLONE,
	UTRACE_FLAGS_EPOLL_CTL,
	UTRACE_FLAGS_FACCESSAT,
	UTRACE_FLAGS_FAMILY,
	UTRACE_FLAGS_FCNTL,
	UTRACE_FLAGS_FD,
	UTRACE_FLAGS_FLOCK,
	UTRACE_FLAGS_FUTEX,
	UTRACE_FLAGS_MADVISE,
	UTRACE_FLAGS_MAP,
	UTRACE_FLAGS_MOUNT,
	UTRACE_FLAGS_MREMAP,
	UTRACE_FLAGS_MSG,
	UTRACE_FLAGS_MSYNC,
	UTRACE_FLAGS_OPEN,
	UTRACE_FLAGS_PRCTL,
	UTRACE_FLAGS_PROT,
	UTRACE_FLAGS_PTRACE,
	UTRACE_FLAGS_RENAME,
	UTRACE_FLAGS_RESOURCE,
	UTRACE_FLAGS_SCHED,
	UTRACE_FLAGS_SHUTDOWN,
	UTRACE_FLAGS_SIGPROCMASK,
	UTRACE_FLAGS_SOCKTYPE,
	UTRACE_FLAGS_UNLINKAT,
	UTRACE_FLAGS_UNSHARE,
	UTRACE_FLAGS_WAIT,
	UTRACE_FLAGS_WHENCE,
	UTRACE_FLAGS_XATTR,
	UTRACE_FLAG_SETS
};

/**
 * enum utrace_constants - how numbers that have names are printed
 * @UTRACE_CONSTANTS_NAMES: by their names
 * @UTRACE_CONSTANTS_RAW: as numbers
 * @UTRACE_CONSTANTS_BOTH: as numbers, with the names in a comment
 */
enum utrace_constants {
	UTRACE_CONSTANTS_NAMES,
	UTRACE_CONSTANTS_RAW,
	UTRACE_CONSTANTS_BOTH,
};

/**
 * enum utrace_hex - which bytes of strings are printed in base 16
 * @UTRACE_HEX_NONE: none; bytes that are no text are printed in base 8
 * @UTRACE_HEX_BYTES: bytes that are no text
 * @UTRACE_HEX_STRINGS: all bytes of a string that has such a byte
 * @UTRACE_HEX_ALL: all bytes
 */
enum utrace_hex {
	UTRACE_HEX_NONE,
	UTRACE_HEX_BYTES,
	UTRACE_HEX_STRINGS,
	UTRACE_HEX_ALL,
};

/**
 * struct utrace_style - how calls are printed
 * @constants: enum utrace_constants
 * @hex: enum utrace_hex
 */
struct utrace_style {
	u8 constants;
	u8 hex;
};

/* The kernel has one style, which costs nothing.  The command has options. */
#ifdef __KERNEL__
static const struct utrace_style utrace_style __maybe_unused;
#else
extern struct utrace_style utrace_style;
#endif

void utrace_print_call_name(struct seq_buf *s, u64 nr);
void utrace_print_call(struct seq_buf *s, u64 nr,
		       const unsigned long args[6], const void *data,
		       size_t used);
void utrace_print_call_items(struct seq_buf *s, u64 nr,
			     const unsigned long args[6],
			     const struct utrace_call_items *items);
void utrace_print_call_entry(struct seq_buf *s, u64 nr,
			     const unsigned long args[6],
			     const struct utrace_call_items *items);
void utrace_print_call_exit(struct seq_buf *s, u64 nr,
			    const unsigned long args[6],
			    const struct utrace_call_items *items);
bool utrace_is_restart(long error);
void utrace_print_result(struct seq_buf *s, unsigned int nr, long ret);
void utrace_print_outputs(struct seq_buf *s, unsigned int nr, const void *data,
			  size_t used);
void utrace_print_output_items(struct seq_buf *s, unsigned int nr,
			       const struct utrace_call_items *items);
void utrace_print_argv(struct seq_buf *s, const struct utrace_item *item);
void utrace_print_string(struct seq_buf *s, const char *text, size_t len);

void utrace_print_flags(struct seq_buf *s, unsigned int set,
			unsigned long value);
void utrace_print_hex(struct seq_buf *s, unsigned long value);
void utrace_print_constant(struct seq_buf *s, long value, const char *name);
void utrace_print_signal(struct seq_buf *s, int signal);
void utrace_print_signal_name(struct seq_buf *s, int signal);

#endif /* _KERNEL_UTRACE_DECODE_PRINT_H */

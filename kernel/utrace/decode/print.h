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
struct utrace_call;
struct utrace_call_items;
struct utrace_item;

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
 * enum utrace_call_parts - the parts of a call as text
 * @UTRACE_CALL_ENTRY: the name, and the arguments before the first one that the
 *	call writes, with a comma if others follow
 * @UTRACE_CALL_EXIT: the other arguments, and the closing bracket
 * @UTRACE_CALL_WHOLE: both
 */
enum utrace_call_parts {
	UTRACE_CALL_ENTRY = 1,
	UTRACE_CALL_EXIT,
	UTRACE_CALL_WHOLE,
};

/**
 * struct utrace_style - how calls are printed
 * @constants: enum utrace_constants
 * @hex: enum utrace_hex
 * @raw: arguments and results are numbers in base 16
 */
struct utrace_style {
	u8 constants;
	u8 hex;
	bool raw;
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
void utrace_print_call_parts(struct seq_buf *s, u64 nr,
			     const unsigned long args[6],
			     const struct utrace_call_items *items,
			     enum utrace_call_parts parts);
bool utrace_call_has_rest(u64 nr, const unsigned long args[6],
			  const struct utrace_call_items *items);
bool utrace_is_restart(long error);
void utrace_print_result(struct seq_buf *s, unsigned int nr,
			 const struct utrace_call *row, long ret);
void utrace_print_outputs(struct seq_buf *s, unsigned int nr, const void *data,
			  size_t used);
void utrace_print_output_items(struct seq_buf *s, unsigned int nr,
			       const struct utrace_call_items *items);
void utrace_print_memory(struct seq_buf *s,
			 const struct utrace_call_items *items,
			 const struct utrace_item *item);
void utrace_print_sockaddr(struct seq_buf *s, const struct utrace_item *item);
void utrace_print_inet(struct seq_buf *s, const void *addr, bool six);
void utrace_print_argv(struct seq_buf *s, const struct utrace_item *item);
void utrace_print_string(struct seq_buf *s, const char *text, size_t len);

void utrace_print_flags(struct seq_buf *s, unsigned int set,
			unsigned long value);
bool utrace_print_names(struct seq_buf *s, unsigned int set,
			unsigned long value);
bool utrace_flags_have_bits(unsigned int set);
void utrace_print_clone_flags(struct seq_buf *s, unsigned long flags);
void utrace_print_hex(struct seq_buf *s, unsigned long value);
void utrace_print_constant(struct seq_buf *s, long value, const char *name);
void utrace_print_signal(struct seq_buf *s, int signal);
void utrace_print_signal_name(struct seq_buf *s, int signal);

#endif /* _KERNEL_UTRACE_DECODE_PRINT_H */

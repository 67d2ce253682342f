// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - names of the bits and values of arguments
 *
 * Prints numbers by the sets of names in tables/ (enum utrace_flag_set), from
 * which set_names.h is generated.  A set without names prints numbers.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/array_size.h>
#include <linux/bug.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/signal.h>

#include "print.h"
#include "sets.h"
#include "write.h"

/* The size of huge pages, as a power of 2. */
#define HUGE_SHIFT	26
#define HUGE_MASK	(0x3fUL << HUGE_SHIFT)

/**
 * struct named - the name of a number
 * @value: the number
 * @len: length of @name; 0 ends a table
 * @name: the name
 */
struct named {
	u64 value;
	u32 len;
	const char *name;
};

/**
 * struct flag_set - names of the values of one kind of argument
 * @zero: name of the value 0; NULL: 0 has none
 * @mask: bits that form one field, whose values are in @values
 * @values: names of the values under @mask, ended by an empty entry; may be
 *	NULL
 * @bits: names of the bits outside @mask, ended by an empty entry; may be NULL
 * @huge: name of the shift of bits 26 to 31, which are the size of huge pages and
 *	printed as a number; NULL: they are bits like others
 * @unknown: the text in the comment after a number without a name, or NULL
 * @unknown_bits: the same for the bits of a set that is printed apart, if the
 *	text differs
 * @wide: the argument has the size of the ABI's word; false: it is an int, and
 *	the upper half of the register is ignored
 * @apart: the bits outside @mask are printed like a number of their own
 * @named: but only if the field has a name
 * @decimal: numbers without a name are printed in base 10
 * @number: the number is printed first, in base 10, and its name in a comment
 * @hex: with @number, in base 16
 * @permissions: the low nine bits are permissions, printed last in base 8
 *
 * Constant.
 */
struct flag_set {
	const char *zero;
	unsigned long mask;
	const struct named *values;
	const struct named *bits;
	const char *huge;
	const char *unknown;
	bool wide;
	const char *unknown_bits;
	bool apart;
	bool named;
	bool number;
	bool hex;
	bool decimal;
	bool permissions;
};

#include "set_names.h"

/* The names of a set; the kernel has none of the sets of the command. */
static const struct flag_set *set_of(unsigned int set)
{
	static const struct flag_set nameless;

	return set < ARRAY_SIZE(flag_sets) ? &flag_sets[set] : &nameless;
}

static const struct named *name_of(const struct named *values,
				   unsigned long value)
{
	if (!values)
		return NULL;
	for (; values->len; values++)
		if (values->value == value)
			return values;
	return NULL;
}

/* Print "|" unless this is the first name. */
static void print_separator(struct seq_buf *s, bool *first)
{
	if (!*first)
		utrace_write_char(s, '|');
	*first = false;
}

static void print_name(struct seq_buf *s, const struct named *named,
		       bool *first)
{
	print_separator(s, first);
	utrace_write(s, named->name, named->len);
}

/*
 * Print the names of the bits in @bits.  Returns the bits that have no name.
 * The empty entry at the end of @bits ends each search, since its value is 0.
 */
static unsigned long print_bits(struct seq_buf *s, const struct named *bits,
				unsigned long value, bool *first)
{
	while (value && bits) {
		while (bits->value & ~value)
			bits++;
		if (!bits->len)
			break;
		print_name(s, bits, first);
		value &= ~(unsigned long)bits->value;
		bits++;
	}
	return value;
}

static void print_number(struct seq_buf *s, const struct flag_set *set,
			 unsigned long value)
{
	if ((set->number && !set->hex) || set->decimal)
		utrace_write_signed(s, (int)value);
	else
		utrace_print_hex(s, value);
}

/* Print a number that has no name, with the comment of @set. */
static void print_unknown(struct seq_buf *s, const struct flag_set *set,
			  unsigned long value)
{
	print_number(s, set, value);
	/* No bits need no name, but no value. */
	if ((!value && set->bits) || !set->unknown ||
	    utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	seq_buf_puts(s, set->unknown);
	utrace_write_literal(s, " */");
}

/*
 * Print @value by the names in @set.  Returns false if it has none; then nothing
 * is printed.
 */
static bool print_names(struct seq_buf *s, const struct flag_set *set,
			unsigned long value)
{
	const struct named *named;
	unsigned long huge;
	bool first = true;

	if (!value && set->zero) {
		seq_buf_puts(s, set->zero);
		return true;
	}
	named = name_of(set->values, value & set->mask);
	if (named) {
		print_name(s, named, &first);
		value &= ~set->mask;
	} else if (set->huge && set->values) {
		/* The type of a mapping is printed like a number of its own. */
		print_separator(s, &first);
		print_unknown(s, set, value & set->mask);
		value &= ~set->mask;
	}
	huge = set->huge ? value & HUGE_MASK : 0;
	value = print_bits(s, set->bits, value & ~huge, &first);
	if (first && !huge)
		return false;
	if (value) {
		print_separator(s, &first);
		utrace_print_hex(s, value);
	}
	if (huge) {
		print_separator(s, &first);
		utrace_write_decimal(s, huge >> HUGE_SHIFT);
		utrace_write_literal(s, "<<");
		seq_buf_puts(s, set->huge);
	}
	return true;
}

static void print_in_style(struct seq_buf *s, const struct flag_set *set,
			   unsigned long value)
{
	size_t before = s->len;

	if (utrace_style.constants == UTRACE_CONSTANTS_RAW) {
		print_number(s, set, value);
		return;
	}
	print_number(s, set, value);
	utrace_write_literal(s, " /* ");
	if (print_names(s, set, value)) {
		utrace_write_literal(s, " */");
		return;
	}
	s->len = before;
	print_unknown(s, set, value);
}

static void print_set(struct seq_buf *s, const struct flag_set *set,
		      unsigned long value)
{
	if (set->number || utrace_style.constants != UTRACE_CONSTANTS_NAMES)
		print_in_style(s, set, value);
	else if (!print_names(s, set, value))
		print_unknown(s, set, value);
}

/*
 * Print the two parts of a number by the names of each: the field under
 * @set->mask, and the other bits.
 */
static void print_apart(struct seq_buf *s, const struct flag_set *set,
			unsigned long value)
{
	print_set(s, set, value & set->mask);
	if (value & ~set->mask) {
		const struct flag_set bits = {
			.bits = set->bits,
			.unknown = set->unknown_bits ?: set->unknown,
		};

		utrace_write_char(s, '|');
		print_set(s, &bits, value & ~set->mask);
	}
}

/* Print the size of huge pages apart from other flags. */
static void print_huge(struct seq_buf *s, const struct flag_set *set,
		       unsigned long value)
{
	utrace_write_decimal(s, value >> HUGE_SHIFT);
	utrace_write_literal(s, "<<");
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES)
		seq_buf_puts(s, set->huge);
	else
		utrace_write_decimal(s, HUGE_SHIFT);
	if (utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* %s */", set->huge);
	utrace_write_char(s, '|');
}

static void print_with_permissions(struct seq_buf *s,
				   const struct flag_set *set,
				   unsigned long value)
{
	unsigned long huge = set->huge ? value & HUGE_MASK : 0;
	unsigned long others = value & ~0777UL & ~huge;

	if (others) {
		print_set(s, set, others);
		utrace_write_char(s, '|');
	}
	if (huge)
		print_huge(s, set, huge);
	seq_buf_printf(s, "%#03lo", value & 0777);
}

/**
 * utrace_print_flags() - print a number by the names of its bits
 * @s: the text is appended here
 * @set: enum utrace_flag_set
 * @value: the number; bits and values without a name are printed in base 16,
 *	with a comment if nothing of the number has a name
 *
 * Context: Any.
 */
void utrace_print_flags(struct seq_buf *s, unsigned int set,
			unsigned long value)
{
	const struct flag_set *flags;
	unsigned int signal = 0;

	if (WARN_ON_ONCE(set >= UTRACE_FLAG_SETS))
		return;
	flags = set_of(set);
	if (!flags->wide)
		value = flags->decimal ? (unsigned long)(int)value : (u32)value;
	if (set == UTRACE_FLAGS_CLONE) {
		signal = value & CSIGNAL;
		value &= ~CSIGNAL;
	}
	if (flags->permissions)
		print_with_permissions(s, flags, value);
	else if (flags->apart && (!flags->named ||
				  name_of(flags->values, value & flags->mask)))
		print_apart(s, flags, value);
	else if (value || !signal)
		print_set(s, flags, value);
	if (signal) {
		if (value)
			utrace_write_char(s, '|');
		utrace_print_signal(s, signal);
	}
}

/**
 * utrace_print_names() - print the names of the bits of a number, in any style
 * @s: the text is appended here
 * @set: enum utrace_flag_set
 * @value: the number
 *
 * Context: Any.
 * Return: false if nothing of the number has a name; then nothing is printed.
 */
bool utrace_print_names(struct seq_buf *s, unsigned int set,
			unsigned long value)
{
	return print_names(s, set_of(set), value);
}

/**
 * utrace_flags_have_bits() - check whether a set of names has bits
 * @set: enum utrace_flag_set
 *
 * Context: Any.
 * Return: false if it has values only.
 */
bool utrace_flags_have_bits(unsigned int set)
{
	return set_of(set)->bits;
}

/**
 * utrace_print_clone_flags() - print the flags of clone()
 * @s: the text is appended here
 * @flags: the flags, with the signal at the exit
 *
 * For files that are built before sets.h.
 *
 * Context: Any.
 */
void utrace_print_clone_flags(struct seq_buf *s, unsigned long flags)
{
	utrace_print_flags(s, UTRACE_FLAGS_CLONE, flags);
}

/**
 * utrace_print_constant() - print a number that has a name
 * @s: the text is appended here
 * @value: the number, printed in base 10
 * @name: its name
 *
 * Context: Any.
 */
void utrace_print_constant(struct seq_buf *s, long value, const char *name)
{
	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(s, name);
		return;
	}
	utrace_write_signed(s, value);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	seq_buf_puts(s, name);
	utrace_write_literal(s, " */");
}

/**
 * utrace_print_signal_name() - print a signal by its name, in any style
 * @s: the text is appended here
 * @signal: number of the signal; a number that is no signal is printed in base
 *	10
 *
 * Context: Any.
 */
void utrace_print_signal_name(struct seq_buf *s, int signal)
{
	const struct named *named = name_of(flag_sets[UTRACE_FLAGS_SIGNAL].values, (u32)signal);

	if (named) {
		utrace_write(s, named->name, named->len);
	} else if (signal == SIGRTMIN) {
		utrace_write_literal(s, "SIGRTMIN");
	} else if (signal > SIGRTMIN && signal <= SIGRTMAX) {
		utrace_write_literal(s, "SIGRT_");
		utrace_write_decimal(s, signal - SIGRTMIN);
	} else {
		utrace_write_signed(s, signal);
	}
}

/**
 * utrace_print_signal() - print a signal in the style of constants
 * @s: the text is appended here
 * @signal: number of the signal; a number that is no signal is printed in base
 *	10
 *
 * Context: Any.
 */
void utrace_print_signal(struct seq_buf *s, int signal)
{
	bool named = signal > 0 && signal <= SIGRTMAX;

	if (utrace_style.constants == UTRACE_CONSTANTS_NAMES || !named) {
		utrace_print_signal_name(s, signal);
		return;
	}
	utrace_write_signed(s, signal);
	if (utrace_style.constants == UTRACE_CONSTANTS_RAW)
		return;
	utrace_write_literal(s, " /* ");
	utrace_print_signal_name(s, signal);
	utrace_write_literal(s, " */");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system calls by number and by name
 *
 * Looks up rows of the tables in rows.h, which table.awk generates.  There is
 * one table for the native ABI, which x32 shares, and one for 32-bit calls.
 *
 * This file is also built into the command utrace (tools/utrace).
 */
#include <linux/array_size.h>
#include <linux/errno.h>
#include <linux/nospec.h>
#include <linux/string.h>
#include <linux/utrace.h>

#include "sets.h"
#include "table.h"

/*
 * How a call chooses among its rows by command.  The key is the argument of
 * by[0] under its mask; if by[1].mask is not 0, this is the upper half, and the
 * argument of by[1] the lower half.  Its keys are the @n elements of
 * command_keys[] from @first on, in ascending order; command_rows[] has for each
 * of them the index of its row in command_calls[], since many commands take the
 * same arguments.
 */
struct choice {
	struct {
		u8 arg;
		u32 mask;
	} by[2];
	u16 first;
	u16 n;
};

#include "rows.h"

struct call_table {
	const struct utrace_call *calls;
	unsigned int n;
};

/*
 * The table of one ABI.  It is empty for 32-bit calls if the kernel has none.
 */
static inline struct call_table call_table(bool ia32)
{
	if (!ia32)
		return (struct call_table){ native_calls,
					    ARRAY_SIZE(native_calls) };
#ifdef CONFIG_IA32_EMULATION
	return (struct call_table){ ia32_calls, ARRAY_SIZE(ia32_calls) };
#else
	return (struct call_table){};
#endif
}

static inline const struct utrace_call *row_of(struct call_table table,
					       unsigned int nr)
{
	if (nr >= table.n)
		return NULL;
	nr = array_index_nospec(nr, table.n);
	return table.calls[nr].name ? &table.calls[nr] : NULL;
}

/* The row of the call that another one stands for; @number is from 1. */
static const struct utrace_call *unpacked_of(unsigned int number)
{
#ifdef CONFIG_IA32_EMULATION
	if (number && number <= ARRAY_SIZE(unpacked_calls))
		return &unpacked_calls[number - 1];
#endif
	return NULL;
}

/**
 * utrace_call_of() - find the row of a system call
 * @nr: number of the call, which may be any value that a program chose; or-ed
 *	with UTRACE_SYSCALL_IA32 for the 32-bit table.  The flag of the x32 ABI
 *	is ignored.
 *
 * Context: Any.
 * Return:
 * * the row - it is constant
 * * NULL - the table has no call of this number
 */
const struct utrace_call *utrace_call_of(unsigned int nr)
{
#ifndef __KERNEL__
	/* No record has such a number: the command makes it. */
	if (nr & UTRACE_NR_UNPACKED && nr & UTRACE_SYSCALL_IA32)
		return unpacked_of(nr & ~(UTRACE_SYSCALL_IA32 |
					  UTRACE_NR_UNPACKED));
#endif
	if (nr & UTRACE_SYSCALL_IA32)
		return row_of(call_table(true), nr & ~UTRACE_SYSCALL_IA32);
	return row_of(call_table(false), nr & ~UTRACE_X32_BIT);
}

/**
 * utrace_abi_of() - get the ABI of a system call
 * @nr: number of the call, as for utrace_call_of()
 *
 * Context: Any.
 * Return: the index in the arrays of layouts.
 */
enum utrace_abi utrace_abi_of(unsigned int nr)
{
	if (nr & UTRACE_SYSCALL_IA32)
		return UTRACE_ABI_IA32;
	return nr & UTRACE_X32_BIT ? UTRACE_ABI_X32 : UTRACE_ABI_NATIVE;
}

static u64 key_of(const struct choice *choice, const unsigned long args[6])
{
	u64 key = (u32)args[choice->by[0].arg] & choice->by[0].mask;

	if (choice->by[1].mask)
		key = key << 32 |
		      ((u32)args[choice->by[1].arg] & choice->by[1].mask);
	return key;
}

/* The row of the command with the key number @i. */
static const struct utrace_call *command_call(unsigned int i)
{
	return &command_calls[command_rows[i]];
}

/* The row of @call for its command, or @call. */
static const struct utrace_call *by_command(const struct utrace_call *call,
					    const unsigned long args[6])
{
	const struct choice *choice;
	unsigned int first, end, middle;
	u64 key;

	if (!call || !call->choice)
		return call;
	choice = &choices[call->choice - 1];
	key = key_of(choice, args);
	first = choice->first;
	end = first + choice->n;
	while (first < end) {
		middle = first + (end - first) / 2;
		if (command_keys[middle] == key)
			return command_call(middle);
		if (command_keys[middle] < key)
			first = middle + 1;
		else
			end = middle;
	}
	return call;
}

/**
 * utrace_call_by_command() - find the row of a system call with its arguments
 * @nr: number of the call, as for utrace_call_of()
 * @args: arguments, in the order of the call for every ABI
 *
 * Context: Any.
 * Return:
 * * the row - of the command if there is one, else of the call
 * * NULL - the table has no call of this number
 */
const struct utrace_call *utrace_call_by_command(unsigned int nr,
						 const unsigned long args[6])
{
	return by_command(utrace_call_of(nr), args);
}

/**
 * utrace_unpack_of() - get how a call takes the arguments of another call
 * @call: row of the call, from utrace_call_by_command()
 *
 * Context: Any.
 * Return: NULL if it takes its own arguments.
 */
const struct utrace_unpack *utrace_unpack_of(const struct utrace_call *call)
{
#ifdef CONFIG_IA32_EMULATION
	if (call->unpack)
		return &unpacks[call->unpack - 1];
#endif
	return NULL;
}

/**
 * utrace_unpack() - get the call that a call stands for, and its arguments
 * @call: row of the call, for which utrace_unpack_of() returns something
 * @args: its arguments
 * @words: the words of memory that it takes
 * @unpacked: the arguments of the other call are stored here
 *
 * Context: Any.
 * Return: row of the other call, by command.
 */
const struct utrace_call *utrace_unpack(const struct utrace_call *call,
					const unsigned long args[6],
					const u32 *words,
					unsigned long unpacked[6])
{
	const struct utrace_unpack *unpack = utrace_unpack_of(call);
	unsigned int i, from;

	for (i = 0; i < UTRACE_CALL_ARGS; i++) {
		from = unpack->from[i];
		unpacked[i] = from < UTRACE_UNPACK_WORD ? (u32)args[from] :
			      words[from - UTRACE_UNPACK_WORD];
	}
	return by_command(unpacked_of(call->unpack), unpacked);
}

#ifndef __KERNEL__
/**
 * utrace_unpacked_by() - get the calls that a call stands for
 * @nr: number of the call
 *
 * Return: bits by the numbers of the other calls in UTRACE_NR_UNPACKED.
 */
u64 utrace_unpacked_by(unsigned int nr)
{
	const struct utrace_call *call = utrace_call_of(nr);
	const struct choice *choice;
	u64 calls = 0;
	unsigned int i;

	if (!call)
		return 0;
	if (call->unpack)
		calls |= 1ULL << call->unpack;
	if (!call->choice)
		return calls;
	choice = &choices[call->choice - 1];
	for (i = 0; i < choice->n; i++)
		if (command_call(choice->first + i)->unpack)
			calls |= 1ULL << command_call(choice->first + i)->unpack;
	return calls;
}
#endif

/**
 * utrace_call_nr() - look up the number of a system call by name
 * @name: the name, as in the kernel's table
 * @ia32: search the 32-bit table
 *
 * If x32 has a separate number for the call, the number of x86_64 is returned.
 *
 * Context: Any.
 * Return:
 * * the number - or-ed with UTRACE_SYSCALL_IA32 if @ia32
 * * -ENOENT - the table has no such call, or the kernel has no such table
 */
int utrace_call_nr(const char *name, bool ia32)
{
	struct call_table table = call_table(ia32);
	unsigned int nr;

	for (nr = 0; nr < table.n; nr++)
		if (table.calls[nr].name && !strcmp(table.calls[nr].name, name))
			return nr | (ia32 ? UTRACE_SYSCALL_IA32 : 0);
	return -ENOENT;
}

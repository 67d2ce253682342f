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

#include "print.h"
#include "table.h"

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
	if (nr & UTRACE_SYSCALL_IA32)
		return row_of(call_table(true), nr & ~UTRACE_SYSCALL_IA32);
	return row_of(call_table(false), nr & ~UTRACE_X32_BIT);
}

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

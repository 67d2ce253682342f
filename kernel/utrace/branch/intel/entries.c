// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: entry points of the kernel on Intel processors
 *
 * An address that is not listed is that of an interrupt, an NMI, a page fault,
 * a debug trap or another transparent event.  With FRED all events from user
 * mode enter at one address, which is not listed: instead of system calls and
 * exceptions, consumers then see only that something has moved the thread
 * (UTRACE_PC_ASYNC).
 */
#include <linux/array_size.h>
#include <linux/cache.h>
#include <linux/init.h>
#include <linux/sort.h>
#include <linux/utrace_branch.h>

#include <asm/idtentry.h>
#include <asm/proto.h>
#include <asm/trapnr.h>

#include "intel.h"

#define BTS_SYSCALL(function)						\
	{ (unsigned long)(function), UTRACE_PC_SYSCALL, BRANCH_ENTRY_SYSCALL }

#define BTS_EXCEPTION(vector, function)					\
	{ (unsigned long)(function), UTRACE_PC_EXCEPTION(vector),	\
	  BRANCH_ENTRY_EXCEPTION }

static struct branch_entry intel_entries[] __ro_after_init = {
	BTS_SYSCALL(entry_SYSCALL_64),
#ifdef CONFIG_IA32_EMULATION
	BTS_SYSCALL(entry_SYSCALL_compat),
	BTS_SYSCALL(entry_SYSENTER_compat),
	BTS_SYSCALL(asm_int80_emulation),
#endif
	BTS_EXCEPTION(X86_TRAP_DE, asm_exc_divide_error),
	BTS_EXCEPTION(X86_TRAP_BP, asm_exc_int3),
	BTS_EXCEPTION(X86_TRAP_OF, asm_exc_overflow),
	BTS_EXCEPTION(X86_TRAP_BR, asm_exc_bounds),
	BTS_EXCEPTION(X86_TRAP_UD, asm_exc_invalid_op),
	BTS_EXCEPTION(X86_TRAP_TS, asm_exc_invalid_tss),
	BTS_EXCEPTION(X86_TRAP_NP, asm_exc_segment_not_present),
	BTS_EXCEPTION(X86_TRAP_SS, asm_exc_stack_segment),
	BTS_EXCEPTION(X86_TRAP_GP, asm_exc_general_protection),
	BTS_EXCEPTION(X86_TRAP_MF, asm_exc_coprocessor_error),
	BTS_EXCEPTION(X86_TRAP_AC, asm_exc_alignment_check),
	BTS_EXCEPTION(X86_TRAP_XF, asm_exc_simd_coprocessor_error),
#ifdef CONFIG_X86_CET
	BTS_EXCEPTION(X86_TRAP_CP, asm_exc_control_protection),
#endif
};

static int __init compare_entries(const void *a, const void *b)
{
	u64 left = ((const struct branch_entry *)a)->address;
	u64 right = ((const struct branch_entry *)b)->address;

	return left < right ? -1 : left > right;
}

/**
 * utrace_bts_intel_entries() - get the entry points of the kernel
 * @entries: filled in
 *
 * Context: An initcall.
 */
void __init utrace_bts_intel_entries(struct branch_entries *entries)
{
	sort(intel_entries, ARRAY_SIZE(intel_entries), sizeof(intel_entries[0]),
	     compare_entries, NULL);
	*entries = (struct branch_entries){
		intel_entries, ARRAY_SIZE(intel_entries),
	};
}

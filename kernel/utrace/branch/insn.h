/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: effect of an instruction on the flow of control
 */
#ifndef _KERNEL_UTRACE_BRANCH_INSN_H
#define _KERNEL_UTRACE_BRANCH_INSN_H

#include <linux/types.h>

struct pt_regs;

/**
 * enum branch_insn_kind - kinds of instructions that stepping distinguishes
 * @BRANCH_INSN_OTHER: neither branches nor affects the trap flag
 * @BRANCH_INSN_COND: conditional jump by flags
 * @BRANCH_INSN_LOOP: LOOP, LOOPE, LOOPNE
 * @BRANCH_INSN_JCXZ: JCXZ, JECXZ, JRCXZ
 * @BRANCH_INSN_UNCOND: jump to an address in the instruction
 * @BRANCH_INSN_IND: jump to an address in a register or in memory, or a far
 *	jump
 * @BRANCH_INSN_CALL: call of an address in the instruction
 * @BRANCH_INSN_IND_CALL: call of an address in a register or in memory, or a
 *	far call
 * @BRANCH_INSN_RET: near or far return
 * @BRANCH_INSN_IRET: IRET, which loads the flags
 * @BRANCH_INSN_SYSCALL: SYSCALL, SYSENTER or INT 0x80
 * @BRANCH_INSN_PUSHF: shows the trap flag to the program
 * @BRANCH_INSN_POPF: loads the flags
 * @BRANCH_INSN_SS: loads SS, so the processor executes the next instruction
 *	before it traps
 * @BRANCH_INSN_BREAK: INT3, INT1, INTO or INT n, which may raise an exception
 * @BRANCH_INSN_XBEGIN: begins a transaction, and jumps if that aborts
 * @BRANCH_INSN_UNKNOWN: cannot be read or is not a valid instruction
 */
enum branch_insn_kind {
	BRANCH_INSN_OTHER,
	BRANCH_INSN_COND,
	BRANCH_INSN_LOOP,
	BRANCH_INSN_JCXZ,
	BRANCH_INSN_UNCOND,
	BRANCH_INSN_IND,
	BRANCH_INSN_CALL,
	BRANCH_INSN_IND_CALL,
	BRANCH_INSN_RET,
	BRANCH_INSN_IRET,
	BRANCH_INSN_SYSCALL,
	BRANCH_INSN_PUSHF,
	BRANCH_INSN_POPF,
	BRANCH_INSN_SS,
	BRANCH_INSN_BREAK,
	BRANCH_INSN_XBEGIN,
	BRANCH_INSN_UNKNOWN,
};

/**
 * struct branch_insn - a decoded instruction
 * @ip: address of the instruction
 * @kind: enum branch_insn_kind
 * @len: length in bytes; 0 if @kind is %BRANCH_INSN_UNKNOWN
 * @next_is_target: the target of the jump is the next instruction
 * @opcode: last byte of the opcode, which encodes the condition of COND and
 *	LOOP
 * @count_bytes: size of the counter register of LOOP and JCXZ
 */
struct branch_insn {
	unsigned long ip;
	u8 kind;
	u8 len;
	bool next_is_target;
	u8 opcode;
	u8 count_bytes;
};

void utrace_branch_decode(struct branch_insn *insn, const u8 *bytes, size_t n,
			  bool long_mode);
bool utrace_branch_is_taken(const struct branch_insn *insn,
			    const struct pt_regs *regs);

#endif /* _KERNEL_UTRACE_BRANCH_INSN_H */

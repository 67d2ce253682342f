/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - branches: effect of an instruction on the flow of control
 */
#ifndef _KERNEL_UTRACE_BRANCH_INSN_H
#define _KERNEL_UTRACE_BRANCH_INSN_H

#include <linux/types.h>

struct pt_regs;

/**
 * enum bts_insn_kind - kinds of instructions that stepping distinguishes
 * @BTS_INSN_OTHER: neither branches nor affects the trap flag
 * @BTS_INSN_COND: conditional jump by flags
 * @BTS_INSN_LOOP: LOOP, LOOPE, LOOPNE
 * @BTS_INSN_JCXZ: JCXZ, JECXZ, JRCXZ
 * @BTS_INSN_UNCOND: jump to an address in the instruction
 * @BTS_INSN_IND: jump to an address in a register or in memory, or a far jump
 * @BTS_INSN_CALL: call of an address in the instruction
 * @BTS_INSN_IND_CALL: call of an address in a register or in memory, or a far
 *	call
 * @BTS_INSN_RET: near or far return
 * @BTS_INSN_IRET: IRET, which loads the flags
 * @BTS_INSN_SYSCALL: SYSCALL, SYSENTER or INT 0x80
 * @BTS_INSN_PUSHF: shows the trap flag to the program
 * @BTS_INSN_POPF: loads the flags
 * @BTS_INSN_SS: loads SS, so the processor executes the next instruction before
 *	it traps
 * @BTS_INSN_BREAK: INT3, INT1, INTO or INT n, which may raise an exception
 * @BTS_INSN_XBEGIN: begins a transaction, and jumps if that aborts
 * @BTS_INSN_UNKNOWN: cannot be read or is not a valid instruction
 */
enum bts_insn_kind {
	BTS_INSN_OTHER,
	BTS_INSN_COND,
	BTS_INSN_LOOP,
	BTS_INSN_JCXZ,
	BTS_INSN_UNCOND,
	BTS_INSN_IND,
	BTS_INSN_CALL,
	BTS_INSN_IND_CALL,
	BTS_INSN_RET,
	BTS_INSN_IRET,
	BTS_INSN_SYSCALL,
	BTS_INSN_PUSHF,
	BTS_INSN_POPF,
	BTS_INSN_SS,
	BTS_INSN_BREAK,
	BTS_INSN_XBEGIN,
	BTS_INSN_UNKNOWN,
};

/**
 * struct bts_insn - a decoded instruction
 * @ip: address of the instruction
 * @kind: enum bts_insn_kind
 * @len: length in bytes; 0 if @kind is %BTS_INSN_UNKNOWN
 * @next_is_target: the target of the jump is the next instruction
 * @opcode: last byte of the opcode, which encodes the condition of COND and
 *	LOOP
 * @count_bytes: size of the counter register of LOOP and JCXZ
 */
struct bts_insn {
	unsigned long ip;
	u8 kind;
	u8 len;
	bool next_is_target;
	u8 opcode;
	u8 count_bytes;
};

void utrace_bts_decode(struct bts_insn *insn, const u8 *bytes, size_t n,
		       bool long_mode);
bool utrace_bts_is_taken(const struct bts_insn *insn,
			 const struct pt_regs *regs);

#endif /* _KERNEL_UTRACE_BRANCH_INSN_H */

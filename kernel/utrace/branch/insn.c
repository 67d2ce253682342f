// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: effect of an instruction on the flow of control
 *
 * The instruction decoder of the kernel finds the opcode and the length; the
 * tables here say which opcodes matter.
 */
#include <linux/bits.h>
#include <linux/ptrace.h>

#include <asm/insn.h>
#include <asm/processor-flags.h>

#include "insn.h"

/* Classify an opcode of one byte that does not depend on its ModRM. */
static enum branch_insn_kind branch_kind_of_byte(u8 opcode)
{
	switch (opcode) {
	case 0x70 ... 0x7f:
		return BRANCH_INSN_COND;
	case 0xe0 ... 0xe2:
		return BRANCH_INSN_LOOP;
	case 0xe3:
		return BRANCH_INSN_JCXZ;
	case 0xe9: case 0xeb:
		return BRANCH_INSN_UNCOND;
	case 0xea:
		return BRANCH_INSN_IND;
	case 0xe8:
		return BRANCH_INSN_CALL;
	case 0x9a:
		return BRANCH_INSN_IND_CALL;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		return BRANCH_INSN_RET;
	case 0xcf:
		return BRANCH_INSN_IRET;
	case 0x9c:
		return BRANCH_INSN_PUSHF;
	case 0x9d:
		return BRANCH_INSN_POPF;
	case 0x17:
		return BRANCH_INSN_SS;
	case 0xcc: case 0xcd: case 0xce: case 0xf1:
		return BRANCH_INSN_BREAK;
	default:
		return BRANCH_INSN_OTHER;
	}
}

/* Classify INT and opcodes that depend on their ModRM. */
static enum branch_insn_kind branch_kind_by_operand(struct insn *insn)
{
	u8 reg = X86_MODRM_REG(insn->modrm.value);

	switch (insn->opcode.bytes[0]) {
	case 0x8e:
		return reg == 2 ? BRANCH_INSN_SS : BRANCH_INSN_OTHER;
	case 0xc7:
		return insn->modrm.value == 0xf8 ? BRANCH_INSN_XBEGIN :
						   BRANCH_INSN_OTHER;
	case 0xcd:
		return (u8)insn->immediate.value == 0x80 ? BRANCH_INSN_SYSCALL :
							   BRANCH_INSN_BREAK;
	case 0xff:
		if (reg == 2 || reg == 3)
			return BRANCH_INSN_IND_CALL;
		return reg == 4 || reg == 5 ? BRANCH_INSN_IND :
					      BRANCH_INSN_OTHER;
	default:
		return branch_kind_of_byte(insn->opcode.bytes[0]);
	}
}

static enum branch_insn_kind branch_kind_of(struct insn *insn)
{
	if (insn->vex_prefix.nbytes || insn->opcode.nbytes > 2)
		return BRANCH_INSN_OTHER;
	if (insn->opcode.nbytes == 1)
		return branch_kind_by_operand(insn);
	switch (insn->opcode.bytes[1]) {
	case 0x05: case 0x34:
		return BRANCH_INSN_SYSCALL;
	case 0x80 ... 0x8f:
		return BRANCH_INSN_COND;
	default:
		return BRANCH_INSN_OTHER;
	}
}

/**
 * utrace_branch_decode() - decode an instruction
 * @insn: filled in except for @insn->ip
 * @bytes: the bytes of the instruction and those that follow
 * @n: number of bytes
 * @long_mode: the task runs 64-bit code
 *
 * Context: Any.
 */
void utrace_branch_decode(struct branch_insn *insn, const u8 *bytes, size_t n,
			  bool long_mode)
{
	struct insn decoded;

	insn->next_is_target = false;
	if (insn_decode(&decoded, bytes, n,
			long_mode ? INSN_MODE_64 : INSN_MODE_32)) {
		insn->kind = BRANCH_INSN_UNKNOWN;
		insn->len = 0;
		return;
	}
	insn->len = decoded.length;
	insn->opcode = decoded.opcode.bytes[decoded.opcode.nbytes - 1];
	insn->count_bytes = decoded.addr_bytes;
	insn->kind = branch_kind_of(&decoded);
	if (insn->kind >= BRANCH_INSN_COND && insn->kind <= BRANCH_INSN_JCXZ)
		insn->next_is_target = !decoded.immediate.value;
}

/* Check the condition of a Jcc, which does not change the flags. */
static bool branch_condition_holds(u8 opcode, unsigned long flags)
{
	bool cf = flags & X86_EFLAGS_CF, zf = flags & X86_EFLAGS_ZF;
	bool sf = flags & X86_EFLAGS_SF, of = flags & X86_EFLAGS_OF;
	bool holds = false;

	switch ((opcode >> 1) & 7) {
	case 0:
		holds = of;
		break;
	case 1:
		holds = cf;
		break;
	case 2:
		holds = zf;
		break;
	case 3:
		holds = cf || zf;
		break;
	case 4:
		holds = sf;
		break;
	case 5:
		holds = flags & X86_EFLAGS_PF;
		break;
	case 6:
		holds = sf != of;
		break;
	case 7:
		holds = zf || sf != of;
		break;
	}
	return holds != (opcode & 1);
}

/* Check whether the counter of LOOP and JCXZ is 0. */
static bool branch_count_is_zero(const struct branch_insn *insn,
				 const struct pt_regs *regs)
{
	return !(regs->cx & GENMASK(insn->count_bytes * 8 - 1, 0));
}

/* LOOP has decremented the counter already; LOOPE and LOOPNE also test ZF. */
static bool branch_loop_goes_on(const struct branch_insn *insn,
				const struct pt_regs *regs)
{
	bool zf = regs->flags & X86_EFLAGS_ZF;

	if (branch_count_is_zero(insn, regs))
		return false;
	return insn->opcode == 0xe2 || zf == (insn->opcode == 0xe1);
}

/**
 * utrace_branch_is_taken() - check whether an instruction has branched
 * @insn: the instruction
 * @regs: registers after it
 *
 * An instruction of unknown kind counts as a branch.  A conditional jump to the
 * next instruction is taken if its condition holds.
 *
 * Context: Any.
 * Return: true if the instruction is a branch that was taken.
 */
bool utrace_branch_is_taken(const struct branch_insn *insn,
			    const struct pt_regs *regs)
{
	switch (insn->kind) {
	case BRANCH_INSN_COND:
	case BRANCH_INSN_LOOP:
	case BRANCH_INSN_JCXZ:
	case BRANCH_INSN_XBEGIN:
		if (regs->ip != insn->ip + insn->len)
			return true;
		if (!insn->next_is_target)
			return false;
		if (insn->kind == BRANCH_INSN_COND)
			return branch_condition_holds(insn->opcode,
						      regs->flags);
		if (insn->kind == BRANCH_INSN_LOOP)
			return branch_loop_goes_on(insn, regs);
		return branch_count_is_zero(insn, regs);
	case BRANCH_INSN_UNCOND:
	case BRANCH_INSN_IND:
	case BRANCH_INSN_CALL:
	case BRANCH_INSN_IND_CALL:
	case BRANCH_INSN_RET:
	case BRANCH_INSN_IRET:
		return true;
	case BRANCH_INSN_BREAK:
		/* A uprobe, which has executed another instruction here. */
	case BRANCH_INSN_UNKNOWN:
		/* Possibly no branch, but like this the trace has no gap. */
		return true;
	default:
		return false;
	}
}

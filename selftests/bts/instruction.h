/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - what an instruction is, as Capstone says
 */
#ifndef UTRACE_BRANCH_INSTRUCTION_H
#define UTRACE_BRANCH_INSTRUCTION_H

#include <capstone/capstone.h>
#include <sys/user.h>

#include "branches.h"

/* Kinds that no record has: the instruction is no branch; any kind will do. */
#define KIND_NONE	0x100
#define KIND_ANY	0x101

enum {
	FLAG_C = 0x1,
	FLAG_P = 0x4,
	FLAG_Z = 0x40,
	FLAG_S = 0x80,
	FLAG_O = 0x800,
};

/**
 * struct decoded - what Capstone says of an instruction
 * @at: its address
 * @code: its bytes, and what follows
 * @wide: it is in a 64-bit code segment
 * @size: its length, 0 if Capstone does not know the instruction
 * @kind: the kind of the branch
 * @repeats: has a prefix with which a string instruction stays where it is
 * @holds_trap: MOV or POP to SS: the trap comes after the next instruction
 * @target: where a jump leads, if that is in the instruction
 * @opcode: the byte that has the condition
 * @address_size: of RCX, for LOOP and JRCXZ
 */
struct decoded {
	__u64 at;
	unsigned char code[16];
	bool wide;
	unsigned int size;
	unsigned int kind;
	bool repeats;
	bool holds_trap;
	__u64 target;
	unsigned char opcode;
	unsigned int address_size;
};

static inline bool is_immediate(const cs_insn *insn)
{
	return insn->detail->x86.op_count &&
	       insn->detail->x86.operands[0].type == X86_OP_IMM;
}

static inline unsigned int kind_of(csh capstone, const cs_insn *insn)
{
	switch (insn->id) {
	case X86_INS_CALL:
		return is_immediate(insn) ? UTRACE_BR_CALL : UTRACE_BR_IND_CALL;
	case X86_INS_JMP:
		return is_immediate(insn) ? UTRACE_BR_UNCOND : UTRACE_BR_IND;
	case X86_INS_LCALL: case X86_INS_LJMP: case X86_INS_IRET:
	case X86_INS_IRETD: case X86_INS_IRETQ: case X86_INS_RETF:
	case X86_INS_RETFQ:
		return KIND_ANY;
	case X86_INS_RET:
		return UTRACE_BR_RET;
	case X86_INS_SYSCALL: case X86_INS_SYSENTER:
		return UTRACE_BR_SYSCALL;
	case X86_INS_INT:
		return insn->detail->x86.operands[0].imm == 0x80 ?
		       UTRACE_BR_SYSCALL : KIND_NONE;
	case X86_INS_LOOP: case X86_INS_LOOPE: case X86_INS_LOOPNE:
		return UTRACE_BR_COND;
	default:
		return cs_insn_group(capstone, insn, CS_GRP_JUMP) ?
		       UTRACE_BR_COND : KIND_NONE;
	}
}

/* The stack segment is the first operand of MOV, or the only one of POP. */
static inline bool loads_ss(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return (insn->id == X86_INS_MOV || insn->id == X86_INS_POP) &&
	       x86->operands[0].type == X86_OP_REG &&
	       x86->operands[0].reg == X86_REG_SS;
}

static inline void decode(struct decoded *d, __u64 at, bool wide,
			  const unsigned char *code)
{
	static cs_insn *insn[2];
	static csh capstone[2];
	const unsigned char *p = code;
	size_t left = 16;
	__u64 address = at;

	if (!insn[wide]) {
		need(!cs_open(CS_ARCH_X86, wide ? CS_MODE_64 : CS_MODE_32,
			      &capstone[wide]), "Capstone");
		cs_option(capstone[wide], CS_OPT_DETAIL, CS_OPT_ON);
		insn[wide] = cs_malloc(capstone[wide]);
	}
	*d = (struct decoded){ .at = at, .wide = wide, .kind = KIND_NONE };
	memcpy(d->code, code, sizeof(d->code));
	if (!cs_disasm_iter(capstone[wide], &p, &left, (uint64_t *)&address,
			    insn[wide]))
		return;
	d->size = insn[wide]->size;
	d->kind = kind_of(capstone[wide], insn[wide]);
	d->repeats = !!insn[wide]->detail->x86.prefix[0];
	d->holds_trap = loads_ss(insn[wide]);
	d->address_size = insn[wide]->detail->x86.addr_size;
	d->opcode = insn[wide]->detail->x86.opcode[0] == 0x0f ?
		    insn[wide]->detail->x86.opcode[1] :
		    insn[wide]->detail->x86.opcode[0];
	if (is_immediate(insn[wide]))
		d->target = insn[wide]->detail->x86.operands[0].imm;
}

/* decode(), once for each instruction that stays as it is. */
static inline const struct decoded *decoded(__u64 at, bool wide,
					    const unsigned char *code)
{
	static struct decoded cache[1 << 14];
	struct decoded *d = &cache[(at ^ at >> 14) % (1 << 14)];

	if (d->at != at || d->wide != wide ||
	    memcmp(d->code, code, sizeof(d->code)))
		decode(d, at, wide, code);
	return d;
}

/* Check whether the condition of a jump is met. */
static inline bool condition(const struct decoded *d,
			     const struct user_regs_struct *regs)
{
	unsigned long flags = regs->eflags;
	unsigned long count = d->address_size == 8 ? regs->rcx :
			      d->address_size == 4 ? (__u32)regs->rcx :
			      (__u16)regs->rcx;
	bool less = !(flags & FLAG_S) != !(flags & FLAG_O), is;

	switch (d->opcode) {
	case 0xe0:
		return count != 1 && !(flags & FLAG_Z);
	case 0xe1:
		return count != 1 && flags & FLAG_Z;
	case 0xe2:
		return count != 1;
	case 0xe3:
		return !count;
	}
	switch (d->opcode >> 1 & 7) {
	case 0:
		is = flags & FLAG_O;
		break;
	case 1:
		is = flags & FLAG_C;
		break;
	case 2:
		is = flags & FLAG_Z;
		break;
	case 3:
		is = flags & (FLAG_C | FLAG_Z);
		break;
	case 4:
		is = flags & FLAG_S;
		break;
	case 5:
		is = flags & FLAG_P;
		break;
	case 6:
		is = less;
		break;
	default:
		is = less || flags & FLAG_Z;
		break;
	}
	return is != (d->opcode & 1);
}

#endif /* UTRACE_BRANCH_INSTRUCTION_H */

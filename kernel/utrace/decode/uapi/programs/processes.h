/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about processes and memory */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H

#include <asm/ldt.h>
#include <asm/prctl.h>
#include <linux/capability.h>
#include <linux/elf.h>
#include <linux/mqueue.h>
#include <linux/msg.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include <linux/mempolicy.h>
#include <linux/personality.h>
#include <linux/rseq.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>

/* Numbers that arguments point to. */
struct number_int {
	int n;
};

struct number_short {
	unsigned short n;
};

struct number_char {
	unsigned char n;
};

struct number_long {
	unsigned long n;
};

struct number_u64 {
	unsigned long long n;
};

/* ptrace(PTRACE_GETREGS) */
struct user_regs_struct {
	unsigned long r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx;
	unsigned long rdx, rsi, rdi, orig_rax, rip, cs, eflags, rsp, ss;
	unsigned long fs_base, gs_base, ds, es, fs, gs;
};

/* _sysctl() */
struct sysctl_args {
	int *name;
	int nlen;
	void *oldval;
	__kernel_size_t *oldlenp;
	void *newval;
	__kernel_size_t newlen;
};

/* ptrace(PTRACE_GETFPREGS) */
struct user_fpregs_struct {
	unsigned short cwd, swd, ftw, fop;
	unsigned long rip, rdp;
	unsigned int mxcsr, mxcr_mask, st_space[32], xmm_space[64], padding[24];
};

/* prctl(PR_SET_NAME) */
typedef char comm_t[16];

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_PROCESSES_H */

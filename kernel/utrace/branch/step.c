// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the source that steps
 *
 * A followed thread runs with the trap flag set.  After each instruction the
 * trap calls utrace_branch_step(), which has decoded that instruction at the
 * last trap and now sees its effect.  Then it decodes the next instruction
 * before the program can change it.  This works on any x86 machine.
 *
 * The program does not see the trap flag: the results of PUSHF, register R11
 * after a system call and the flags in the frame of a signal handler are
 * corrected, see user_disable_single_step().  TIF_FORCED_TF is set if the flag
 * does not belong to the program.  A program that sets the flag itself gets its
 * SIGTRAPs.
 */
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include <asm/processor-flags.h>

#include "deliver.h"
#include "step.h"
#include "thread.h"
#include "trap_flag.h"

/* The opcode of INT. */
#define BRANCH_OPCODE_INT	0xcd

/* The trap flag in its byte of the flags. */
#define BRANCH_TF_BYTE	1
#define BRANCH_TF_BIT	0x1

/* Maximum number of consecutive loads of SS that are decoded. */
#define BRANCH_SS_LOADS	16

static const u8 branch_kinds[] = {
	[BRANCH_INSN_COND]	= UTRACE_BR_COND,
	[BRANCH_INSN_LOOP]	= UTRACE_BR_COND,
	[BRANCH_INSN_JCXZ]	= UTRACE_BR_COND,
	[BRANCH_INSN_UNCOND]	= UTRACE_BR_UNCOND,
	[BRANCH_INSN_IND]	= UTRACE_BR_IND,
	[BRANCH_INSN_CALL]	= UTRACE_BR_CALL,
	[BRANCH_INSN_IND_CALL]	= UTRACE_BR_IND_CALL,
	[BRANCH_INSN_RET]	= UTRACE_BR_RET,
	[BRANCH_INSN_IRET]	= UTRACE_BR_RET,
	[BRANCH_INSN_XBEGIN]	= UTRACE_BR_UNKNOWN,
	[BRANCH_INSN_BREAK]	= UTRACE_BR_UNKNOWN,
	[BRANCH_INSN_UNKNOWN]	= UTRACE_BR_UNKNOWN,
};

static u64 branch_info(u8 kind)
{
	return UTRACE_BRANCH | (u64)kind << 8;
}

/* Read code, which may be executable but not readable for the program. */
static noinline bool branch_read_code(unsigned long ip, void *code, size_t n)
{
	return likely(!copy_from_user(code, (void __user *)ip, n)) ||
	       access_process_vm(current, ip, code, n, FOLL_FORCE) == n;
}

/*
 * Decode an instruction that may cross a page boundary.  The next page is read
 * only if the instruction does: it may be backed by userfaultfd.
 */
static noinline void branch_decode_across(struct branch_thread *thread,
					  struct branch_insn *insn)
{
	size_t n = min(BRANCH_CODE, PAGE_SIZE - offset_in_page(insn->ip));
	u8 code[BRANCH_CODE] = {};

	insn->kind = BRANCH_INSN_UNKNOWN;
	insn->len = 0;
	if (!branch_read_code(insn->ip, code, n))
		return;
	utrace_branch_decode(insn, code, n, thread->long_mode);
	if (insn->kind == BRANCH_INSN_UNKNOWN && n < BRANCH_CODE &&
	    branch_read_code(insn->ip + n, code + n, BRANCH_CODE - n))
		utrace_branch_decode(insn, code, BRANCH_CODE,
				     thread->long_mode);
}

/* Decode the instruction at @ip and cache it. */
static noinline void branch_learn(struct branch_thread *thread,
				  struct branch_known *known, unsigned long ip,
				  u64 code0, u64 code1)
{
	known->code[0] = code0;
	known->code[1] = code1;
	known->insn.ip = ip;
	utrace_branch_decode(&known->insn, (u8 *)known->code, BRANCH_CODE,
			     thread->long_mode);
}

/* Look up the instruction at @ip in the cache, or decode it. */
static __always_inline void branch_lookup_insn(struct branch_thread *thread,
					       unsigned long ip,
					       struct branch_insn *insn)
{
	struct branch_known *known = &thread->known[ip % BRANCH_KNOWN];
	const u64 __user *at = (const u64 __user *)ip;
	u64 code0, code1;

	static_assert(BRANCH_CODE == 2 * sizeof(u64));

	insn->ip = ip;
	if (unlikely(offset_in_page(ip) > PAGE_SIZE - BRANCH_CODE ||
		     !user_access_begin(at, BRANCH_CODE)))
		goto across;
	unsafe_get_user(code0, at, fault);
	unsafe_get_user(code1, at + 1, fault);
	user_access_end();
	if (unlikely(known->insn.ip != ip || known->code[0] != code0 ||
		     known->code[1] != code1))
		branch_learn(thread, known, ip, code0, code1);
	*insn = known->insn;
	return;
fault:
	user_access_end();
across:
	branch_decode_across(thread, insn);
}

/* Check that code and stack segment of a thread of 32-bit code have base 0. */
static bool branch_is_flat(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS && regs->ss == __USER_DS;
}

/*
 * Decode the instruction that executes with one that loads SS: the first one
 * that does not load SS, since some processors suppress the trap after each
 * load.
 */
static noinline void branch_decode_pair(struct branch_thread *thread)
{
	struct branch_insn *pair = &thread->pair;
	int i;

	*pair = thread->insn;
	for (i = 0; i < BRANCH_SS_LOADS && pair->kind == BRANCH_INSN_SS; i++)
		branch_lookup_insn(thread, pair->ip + pair->len, pair);
	/* An unknown instruction counts as a branch: no gap in the trace. */
	if (pair->kind == BRANCH_INSN_SS)
		pair->kind = BRANCH_INSN_UNKNOWN;
}

/* Check whether the processor trapped before it executed an instruction. */
static bool branch_has_trapped_first(const struct branch_thread *thread,
				     const struct pt_regs *regs)
{
	bool fred = cpu_feature_enabled(X86_FEATURE_FRED);

	return utrace_branch_has_trapped_first(fred, thread->traps_first,
					       thread->insn.ip, regs->ip);
}

/* Check whether SYSCALL has saved a trap flag in R11 that we have set. */
static bool branch_shows_flag(const struct pt_regs *regs)
{
	bool fred = cpu_feature_enabled(X86_FEATURE_FRED);

	return utrace_branch_has_saved_flags(fred, regs->r11, regs->flags) &&
	       test_thread_flag(TIF_FORCED_TF);
}

/**
 * utrace_branch_fetch() - decode the next instruction of a thread
 * @thread: the current thread
 * @regs: its registers
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_branch_fetch(struct branch_thread *thread,
			 const struct pt_regs *regs)
{
	struct branch_insn *insn = &thread->insn;
	bool long_mode = user_64bit_mode((struct pt_regs *)regs);

	if (cpu_feature_enabled(X86_FEATURE_FRED))
		thread->traps_first = regs->fred_ss.swevent;
	if (unlikely(thread->long_mode != long_mode)) {
		memset(thread->known, 0, sizeof(thread->known));
		thread->long_mode = long_mode;
	}
	if (unlikely(!long_mode && !branch_is_flat(regs))) {
		*insn = (struct branch_insn){
			.ip = regs->ip,
			.kind = BRANCH_INSN_UNKNOWN,
		};
		return;
	}
	branch_lookup_insn(thread, regs->ip, insn);
	if (unlikely(insn->kind == BRANCH_INSN_SS))
		branch_decode_pair(thread);
}

/* The program has loaded the flags, with its own trap flag.  Set ours again. */
static void branch_load_flags(struct pt_regs *regs)
{
	if (regs->flags & X86_EFLAGS_TF) {
		clear_thread_flag(TIF_FORCED_TF);
		return;
	}
	regs->flags |= X86_EFLAGS_TF;
	set_thread_flag(TIF_FORCED_TF);
}

/*
 * Get the instruction that the thread has executed last.  After one that loads
 * SS the processor has executed the next one, too.  If that loads SS as well,
 * the trap comes after it, or not before an instruction that does not.
 */
static const struct branch_insn *
branch_last_insn(const struct branch_thread *thread, const struct pt_regs *regs)
{
	const struct branch_insn *insn = &thread->insn, *pair = &thread->pair;

	if (likely(insn->kind != BRANCH_INSN_SS) ||
	    (regs->ip > insn->ip + insn->len && regs->ip <= pair->ip))
		return insn;
	return pair;
}

/* Clear the trap flag that PUSHF has stored, unless it is the program's. */
static void branch_hide_flag(const struct pt_regs *regs)
{
	u8 __user *byte = (u8 __user *)regs->sp + BRANCH_TF_BYTE;
	u8 flags;

	if (test_thread_flag(TIF_FORCED_TF) && !get_user(flags, byte))
		put_user(flags & ~BRANCH_TF_BIT, byte);
}

/* Record that the thread has moved to another address without a branch. */
static void branch_jump(struct branch_thread *thread, u64 why, unsigned long to)
{
	utrace_branch_collect(thread, thread->insn.ip, UTRACE_PC_ASYNC,
			      branch_info(UTRACE_BR_UNKNOWN));
	utrace_branch_collect(thread, why, to, branch_info(UTRACE_BR_UNKNOWN));
}

static void branch_put_call(struct branch_thread *thread, unsigned long ip)
{
	utrace_branch_collect(thread, ip, UTRACE_PC_SYSCALL,
			      branch_info(UTRACE_BR_SYSCALL));
}

/*
 * Record the end of a system call, possibly an execve().  Returns false if the
 * thread dies there, so that it does not return to the program.
 */
static bool branch_end_syscall(struct branch_thread *thread,
			       struct pt_regs *regs)
{
	const struct branch_insn *insn = branch_last_insn(thread, regs);
	u64 from = UTRACE_PC_SYSCALL;
	unsigned long ip = insn->ip;
	bool loaded = !(regs->flags & X86_EFLAGS_TF);

	if (thread->exec) {
		from = UTRACE_PC_EXEC;
	} else if ((long)regs->orig_ax == -1 &&
		   regs->ip != ip + insn->len) {
		/* sigreturn() has loaded the registers from a signal frame. */
		from = UTRACE_PC_SIGRETURN;
		loaded = true;
	}
	thread->exec = false;
	branch_put_call(thread, ip);
	if (unlikely(fatal_signal_pending(current))) {
		thread->insn = (struct branch_insn){ .ip = ip };
		return false;
	}
	utrace_branch_collect(thread, from, regs->ip,
			      branch_info(UTRACE_BR_SYSRET));
	if (branch_shows_flag(regs))
		regs->r11 &= ~X86_EFLAGS_TF;
	if (loaded)
		branch_load_flags(regs);
	return true;
}

/* SYSCALL and SYSENTER of 32-bit code return to an address in the vDSO. */
static bool branch_returns_elsewhere(const struct branch_thread *thread,
				     const struct branch_insn *insn,
				     const struct pt_regs *regs)
{
	return !thread->long_mode && insn->opcode != BRANCH_OPCODE_INT &&
	       regs->ip != insn->ip;
}

/* Check whether the thread has executed the instruction, a system call. */
static bool branch_has_called(const struct branch_thread *thread,
			      const struct branch_insn *insn,
			      const struct pt_regs *regs)
{
	return insn->kind == BRANCH_INSN_SYSCALL &&
	       (thread->exec ||
		((long)regs->orig_ax != -1 &&
		 (regs->ip == insn->ip + insn->len ||
		  branch_returns_elsewhere(thread, insn, regs))));
}

/* Check whether a fault has split instructions that execute together. */
static bool branch_is_in_pair(const struct branch_thread *thread,
			      const struct pt_regs *regs)
{
	return thread->insn.kind == BRANCH_INSN_SS &&
	       regs->ip > thread->insn.ip && regs->ip <= thread->pair.ip;
}

/*
 * The thread continues at another address than the one that was decoded: a
 * debugger has stopped it, or the kernel has moved it.  If it was in a system
 * call, that has ended.  Returns as branch_end_syscall().
 */
static bool branch_end_stop(struct branch_thread *thread, struct pt_regs *regs)
{
	if (branch_has_called(thread, branch_last_insn(thread, regs), regs))
		return branch_end_syscall(thread, regs);
	if (regs->ip != thread->insn.ip && !branch_is_in_pair(thread, regs))
		branch_jump(thread, UTRACE_PC_ASYNC, regs->ip);
	return true;
}

/**
 * utrace_branch_end_call() - record the system call in which the thread exits
 * @thread: the current thread
 *
 * Does nothing if the thread is in none, or if it was recorded already.
 *
 * Context: The task itself, which exits.
 */
void utrace_branch_end_call(struct branch_thread *thread)
{
	const struct pt_regs *regs = current_pt_regs();
	const struct branch_insn *insn = branch_last_insn(thread, regs);
	unsigned long ip = insn->ip;

	if (!branch_has_called(thread, insn, regs))
		return;
	thread->insn = (struct branch_insn){ .ip = ip };
	branch_put_call(thread, ip);
}

/* Handle a special instruction that was executed. */
static noinline void branch_end_insn(struct branch_thread *thread,
				     const struct branch_insn *insn,
				     struct pt_regs *regs)
{
	switch (insn->kind) {
	case BRANCH_INSN_PUSHF:
		branch_hide_flag(regs);
		return;
	case BRANCH_INSN_POPF:
	case BRANCH_INSN_IRET:
		branch_load_flags(regs);
		break;
	}
	if (utrace_branch_is_taken(insn, regs))
		utrace_branch_collect(thread, insn->ip, regs->ip,
				      branch_info(branch_kinds[insn->kind]));
}

/* Handle an instruction that was executed. */
static void branch_end_step(struct branch_thread *thread, struct pt_regs *regs)
{
	const struct branch_insn *insn = branch_last_insn(thread, regs);

	if (unlikely(branch_has_trapped_first(thread, regs)))
		return;
	if (insn->kind != BRANCH_INSN_OTHER)
		branch_end_insn(thread, insn, regs);
	/* A string instruction with a prefix traps after each iteration. */
	else if (unlikely(regs->ip != insn->ip + insn->len &&
			  regs->ip != insn->ip))
		branch_jump(thread, UTRACE_PC_ASYNC, regs->ip);
	/* An instruction of unknown kind has loaded the flags. */
	if (unlikely(!(regs->flags & X86_EFLAGS_TF)))
		branch_load_flags(regs);
}

/**
 * utrace_branch_step() - handle a step of the current thread
 * @regs: registers of the thread
 * @why: cause of the call
 *
 * Context: The task itself; may fault and sleep.
 * Return: see utrace_follow_with().
 */
bool utrace_branch_step(struct pt_regs *regs, enum utrace_step_why why)
{
	struct branch_thread *thread = utrace_branch_thread();
	bool ours = true, alive = true;

	if (unlikely(!thread))
		return true;
	if (likely(why == UTRACE_STEP_TRAP)) {
		ours = test_thread_flag(TIF_FORCED_TF);
		branch_end_step(thread, regs);
	} else if (why == UTRACE_STEP_SYSCALL) {
		alive = branch_end_syscall(thread, regs);
	} else if (why == UTRACE_STEP_HANDLER) {
		branch_jump(thread, UTRACE_PC_SIGNAL, regs->ip);
	} else {
		alive = branch_end_stop(thread, regs);
	}
	if (unlikely(!alive))
		return ours;
	utrace_branch_fetch(thread, regs);
	if (unlikely(!thread->flushes))
		utrace_branch_flush_soon(thread);
	/* Deliver before a system call, which may take long. */
	if (likely(thread->n < BRANCH_STAGE_FULL &&
		   thread->insn.kind != BRANCH_INSN_SYSCALL &&
		   thread->insn.kind != BRANCH_INSN_SS))
		return ours;
	utrace_branch_deliver(thread);
	if (unlikely(thread->n))
		utrace_branch_wait_soon(thread);
	return ours;
}

/**
 * utrace_branch_hide_from_child() - hide the trap flag from a new task
 * @child: the task, whose registers are a copy of those of the current one
 *
 * SYSCALL may have saved the flags in R11.
 *
 * Context: The parent, in the system call that has created @child.
 */
void utrace_branch_hide_from_child(struct task_struct *child)
{
	const struct pt_regs *regs = current_pt_regs();

	if (branch_shows_flag(regs))
		task_pt_regs(child)->r11 &= ~X86_EFLAGS_TF;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: the source that steps
 *
 * A followed thread runs with the trap flag set.  After each instruction the
 * trap calls utrace_bts_step(), which has decoded that instruction at the last
 * trap and now sees its effect.  Then it decodes the next instruction before
 * the program can change it.  This works on any x86 machine.
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
#define BTS_INT		0xcd

/* The trap flag in its byte of the flags. */
#define BTS_TF_BYTE	1
#define BTS_TF_BIT	0x1

/* Maximum number of consecutive loads of SS that are decoded. */
#define BTS_SS_LOADS	16

static const u8 bts_branch_kind[] = {
	[BTS_INSN_COND]		= UTRACE_BR_COND,
	[BTS_INSN_LOOP]		= UTRACE_BR_COND,
	[BTS_INSN_JCXZ]		= UTRACE_BR_COND,
	[BTS_INSN_UNCOND]	= UTRACE_BR_UNCOND,
	[BTS_INSN_IND]		= UTRACE_BR_IND,
	[BTS_INSN_CALL]		= UTRACE_BR_CALL,
	[BTS_INSN_IND_CALL]	= UTRACE_BR_IND_CALL,
	[BTS_INSN_RET]		= UTRACE_BR_RET,
	[BTS_INSN_IRET]		= UTRACE_BR_RET,
	[BTS_INSN_XBEGIN]	= UTRACE_BR_UNKNOWN,
	[BTS_INSN_BREAK]	= UTRACE_BR_UNKNOWN,
	[BTS_INSN_UNKNOWN]	= UTRACE_BR_UNKNOWN,
};

static u64 bts_info(u8 kind)
{
	return UTRACE_BRANCH | (u64)kind << 8;
}

/* Read code, which may be executable but not readable for the program. */
static noinline bool bts_read_code(unsigned long ip, void *code, size_t n)
{
	return likely(!copy_from_user(code, (void __user *)ip, n)) ||
	       access_process_vm(current, ip, code, n, FOLL_FORCE) == n;
}

/*
 * Decode an instruction that may cross a page boundary.  The next page is read
 * only if the instruction does: it may be backed by userfaultfd.
 */
static noinline void bts_look_across(struct bts_thread *thread, struct bts_insn *insn)
{
	size_t n = min(BTS_CODE, PAGE_SIZE - offset_in_page(insn->ip));
	u8 code[BTS_CODE] = {};

	insn->kind = BTS_INSN_UNKNOWN;
	insn->len = 0;
	if (!bts_read_code(insn->ip, code, n))
		return;
	utrace_bts_decode(insn, code, n, thread->long_mode);
	if (insn->kind == BTS_INSN_UNKNOWN && n < BTS_CODE &&
	    bts_read_code(insn->ip + n, code + n, BTS_CODE - n))
		utrace_bts_decode(insn, code, BTS_CODE, thread->long_mode);
}

/* Decode the instruction at @ip and cache it. */
static noinline void bts_learn(struct bts_thread *thread, struct bts_known *known,
			       unsigned long ip, u64 code0, u64 code1)
{
	known->code[0] = code0;
	known->code[1] = code1;
	known->insn.ip = ip;
	utrace_bts_decode(&known->insn, (u8 *)known->code, BTS_CODE,
			  thread->long_mode);
}

/* Look up the instruction at @ip in the cache, or decode it. */
static __always_inline void bts_look_at(struct bts_thread *thread,
					unsigned long ip, struct bts_insn *insn)
{
	struct bts_known *known = &thread->known[ip % BTS_KNOWN];
	const u64 __user *at = (const u64 __user *)ip;
	u64 code0, code1;

	static_assert(BTS_CODE == 2 * sizeof(u64));

	insn->ip = ip;
	if (unlikely(offset_in_page(ip) > PAGE_SIZE - BTS_CODE ||
		     !user_access_begin(at, BTS_CODE)))
		goto across;
	unsafe_get_user(code0, at, fault);
	unsafe_get_user(code1, at + 1, fault);
	user_access_end();
	if (unlikely(known->insn.ip != ip || known->code[0] != code0 ||
		     known->code[1] != code1))
		bts_learn(thread, known, ip, code0, code1);
	*insn = known->insn;
	return;
fault:
	user_access_end();
across:
	bts_look_across(thread, insn);
}

/* Check that code and stack segment of a thread of 32-bit code have base 0. */
static bool bts_is_flat(const struct pt_regs *regs)
{
	return regs->cs == __USER32_CS && regs->ss == __USER_DS;
}

/*
 * Decode the instruction that executes with one that loads SS: the first one
 * that does not load SS, since some processors suppress the trap after each
 * load.
 */
static noinline void bts_look_behind(struct bts_thread *thread)
{
	struct bts_insn *pair = &thread->pair;
	int i;

	*pair = thread->insn;
	for (i = 0; i < BTS_SS_LOADS && pair->kind == BTS_INSN_SS; i++)
		bts_look_at(thread, pair->ip + pair->len, pair);
	/* An unknown instruction counts as a branch: no gap in the trace. */
	if (pair->kind == BTS_INSN_SS)
		pair->kind = BTS_INSN_UNKNOWN;
}

/* Check whether the processor trapped before it executed an instruction. */
static bool bts_has_trapped_first(const struct bts_thread *thread,
				  const struct pt_regs *regs)
{
	return utrace_bts_has_trapped_first(cpu_feature_enabled(X86_FEATURE_FRED),
					    thread->traps_first, thread->insn.ip,
					    regs->ip);
}

/* Check whether SYSCALL has saved a trap flag in R11 that we have set. */
static bool bts_shows_flag(const struct pt_regs *regs)
{
	return utrace_bts_has_saved_flags(cpu_feature_enabled(X86_FEATURE_FRED),
					  regs->r11, regs->flags) &&
	       test_thread_flag(TIF_FORCED_TF);
}

/**
 * utrace_bts_fetch() - decode the next instruction of a thread
 * @thread: the current thread
 * @regs: its registers
 *
 * Context: The task itself; may fault and sleep.
 */
void utrace_bts_fetch(struct bts_thread *thread, const struct pt_regs *regs)
{
	struct bts_insn *insn = &thread->insn;
	bool long_mode = user_64bit_mode((struct pt_regs *)regs);

	if (cpu_feature_enabled(X86_FEATURE_FRED))
		thread->traps_first = regs->fred_ss.swevent;
	if (unlikely(thread->long_mode != long_mode)) {
		memset(thread->known, 0, sizeof(thread->known));
		thread->long_mode = long_mode;
	}
	if (unlikely(!long_mode && !bts_is_flat(regs))) {
		*insn = (struct bts_insn){
			.ip = regs->ip,
			.kind = BTS_INSN_UNKNOWN,
		};
		return;
	}
	bts_look_at(thread, regs->ip, insn);
	if (unlikely(insn->kind == BTS_INSN_SS))
		bts_look_behind(thread);
}

/* The program has loaded the flags, with its own trap flag.  Set ours again. */
static void bts_load_flags(struct pt_regs *regs)
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
static const struct bts_insn *bts_last_insn(const struct bts_thread *thread,
					    const struct pt_regs *regs)
{
	const struct bts_insn *insn = &thread->insn, *pair = &thread->pair;

	if (likely(insn->kind != BTS_INSN_SS) ||
	    (regs->ip > insn->ip + insn->len && regs->ip <= pair->ip))
		return insn;
	return pair;
}

/* Clear the trap flag that PUSHF has stored, unless it is the program's. */
static void bts_hide_flag(const struct pt_regs *regs)
{
	u8 __user *byte = (u8 __user *)regs->sp + BTS_TF_BYTE;
	u8 flags;

	if (test_thread_flag(TIF_FORCED_TF) && !get_user(flags, byte))
		put_user(flags & ~BTS_TF_BIT, byte);
}

/* Record that the thread has moved to another address without a branch. */
static void bts_jump(struct bts_thread *thread, u64 why, unsigned long to)
{
	utrace_bts_put(thread, thread->insn.ip, UTRACE_PC_ASYNC,
		       bts_info(UTRACE_BR_UNKNOWN));
	utrace_bts_put(thread, why, to, bts_info(UTRACE_BR_UNKNOWN));
}

static void bts_put_call(struct bts_thread *thread, unsigned long ip)
{
	utrace_bts_put(thread, ip, UTRACE_PC_SYSCALL,
		       bts_info(UTRACE_BR_SYSCALL));
}

/*
 * Record the end of a system call, possibly an execve().  Returns false if the
 * thread dies there, so that it does not return to the program.
 */
static bool bts_end_syscall(struct bts_thread *thread, struct pt_regs *regs)
{
	const struct bts_insn *insn = bts_last_insn(thread, regs);
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
	bts_put_call(thread, ip);
	if (unlikely(fatal_signal_pending(current))) {
		thread->insn = (struct bts_insn){ .ip = ip };
		return false;
	}
	utrace_bts_put(thread, from, regs->ip, bts_info(UTRACE_BR_SYSRET));
	if (bts_shows_flag(regs))
		regs->r11 &= ~X86_EFLAGS_TF;
	if (loaded)
		bts_load_flags(regs);
	return true;
}

/* SYSCALL and SYSENTER of 32-bit code return to an address in the vDSO. */
static bool bts_returns_elsewhere(const struct bts_thread *thread,
				  const struct bts_insn *insn,
				  const struct pt_regs *regs)
{
	return !thread->long_mode && insn->opcode != BTS_INT &&
	       regs->ip != insn->ip;
}

/* Check whether the thread has executed the instruction, a system call. */
static bool bts_has_called(const struct bts_thread *thread,
			   const struct bts_insn *insn,
			   const struct pt_regs *regs)
{
	return insn->kind == BTS_INSN_SYSCALL &&
	       (thread->exec || ((long)regs->orig_ax != -1 &&
				 (regs->ip == insn->ip + insn->len ||
				  bts_returns_elsewhere(thread, insn, regs))));
}

/* Check whether a fault has split instructions that execute together. */
static bool bts_is_in_pair(const struct bts_thread *thread,
			   const struct pt_regs *regs)
{
	return thread->insn.kind == BTS_INSN_SS && regs->ip > thread->insn.ip &&
	       regs->ip <= thread->pair.ip;
}

/*
 * The thread continues at another address than the one that was decoded: a
 * debugger has stopped it, or the kernel has moved it.  If it was in a system
 * call, that has ended.  Returns as bts_end_syscall().
 */
static bool bts_end_stop(struct bts_thread *thread, struct pt_regs *regs)
{
	if (bts_has_called(thread, bts_last_insn(thread, regs), regs))
		return bts_end_syscall(thread, regs);
	if (regs->ip != thread->insn.ip && !bts_is_in_pair(thread, regs))
		bts_jump(thread, UTRACE_PC_ASYNC, regs->ip);
	return true;
}

/**
 * utrace_bts_end_call() - record the system call in which the thread exits
 * @thread: the current thread
 *
 * Does nothing if the thread is in none, or if it was recorded already.
 *
 * Context: The task itself, which exits.
 */
void utrace_bts_end_call(struct bts_thread *thread)
{
	const struct pt_regs *regs = current_pt_regs();
	const struct bts_insn *insn = bts_last_insn(thread, regs);
	unsigned long ip = insn->ip;

	if (!bts_has_called(thread, insn, regs))
		return;
	thread->insn = (struct bts_insn){ .ip = ip };
	bts_put_call(thread, ip);
}

/* A special instruction was executed. */
static noinline void bts_end_insn(struct bts_thread *thread,
				  const struct bts_insn *insn,
				  struct pt_regs *regs)
{
	switch (insn->kind) {
	case BTS_INSN_PUSHF:
		bts_hide_flag(regs);
		return;
	case BTS_INSN_POPF:
	case BTS_INSN_IRET:
		bts_load_flags(regs);
		break;
	}
	if (utrace_bts_is_taken(insn, regs))
		utrace_bts_put(thread, insn->ip, regs->ip,
			       bts_info(bts_branch_kind[insn->kind]));
}

/* An instruction was executed. */
static void bts_end_step(struct bts_thread *thread, struct pt_regs *regs)
{
	const struct bts_insn *insn = bts_last_insn(thread, regs);

	if (unlikely(bts_has_trapped_first(thread, regs)))
		return;
	if (insn->kind != BTS_INSN_OTHER)
		bts_end_insn(thread, insn, regs);
	/* A string instruction with a prefix traps after each iteration. */
	else if (unlikely(regs->ip != insn->ip + insn->len &&
			  regs->ip != insn->ip))
		bts_jump(thread, UTRACE_PC_ASYNC, regs->ip);
	/* An instruction of unknown kind has loaded the flags. */
	if (unlikely(!(regs->flags & X86_EFLAGS_TF)))
		bts_load_flags(regs);
}

/**
 * utrace_bts_step() - handle a step of the current thread
 * @regs: registers of the thread
 * @why: cause of the call
 *
 * Context: The task itself; may fault and sleep.
 * Return: see utrace_follow_with().
 */
bool utrace_bts_step(struct pt_regs *regs, enum utrace_step_why why)
{
	struct bts_thread *thread = utrace_bts_thread();
	bool ours = true, alive = true;

	if (unlikely(!thread))
		return true;
	if (likely(why == UTRACE_STEP_TRAP)) {
		ours = test_thread_flag(TIF_FORCED_TF);
		bts_end_step(thread, regs);
	} else if (why == UTRACE_STEP_SYSCALL) {
		alive = bts_end_syscall(thread, regs);
	} else if (why == UTRACE_STEP_HANDLER) {
		bts_jump(thread, UTRACE_PC_SIGNAL, regs->ip);
	} else {
		alive = bts_end_stop(thread, regs);
	}
	if (unlikely(!alive))
		return ours;
	utrace_bts_fetch(thread, regs);
	if (unlikely(!thread->flushes))
		utrace_bts_flush_soon(thread);
	/* Deliver before a system call, which may take long. */
	if (likely(thread->n < BTS_STAGE_FULL &&
		   thread->insn.kind != BTS_INSN_SYSCALL &&
		   thread->insn.kind != BTS_INSN_SS))
		return ours;
	utrace_bts_deliver(thread);
	if (unlikely(thread->n))
		utrace_bts_wait_soon(thread);
	return ours;
}

/**
 * utrace_bts_hide_from_child() - hide the trap flag from a new task
 * @child: the task, whose registers are a copy of those of the current one
 *
 * SYSCALL may have saved the flags in R11.
 *
 * Context: The parent, in the system call that has created @child.
 */
void utrace_bts_hide_from_child(struct task_struct *child)
{
	const struct pt_regs *regs = current_pt_regs();

	if (bts_shows_flag(regs))
		task_pt_regs(child)->r11 &= ~X86_EFLAGS_TF;
}

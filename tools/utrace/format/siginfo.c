// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - siginfo of a signal, as text in the style of strace
 *
 * The layout of siginfo depends on the signal and on the code, and a program may
 * send any of them to itself.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/audit.h>
#include <linux/seq_buf.h>
#include <linux/utrace.h>

#include "calls.h"
#include "decode/print.h"
#include "decode/write.h"
#include "pids.h"
#include "siginfo.h"

/* Codes that headers of the C library may lack. */
#ifndef SI_ASYNCNL
#define SI_ASYNCNL	(-60)
#endif
#ifndef SI_DETHREAD
#define SI_DETHREAD	(-7)
#endif

/* The clock ticks of si_utime and si_stime in a second. */
#define TICKS		100

/**
 * struct code - the name of a code
 * @signal: signal that the code belongs to, 0 for any
 * @code: the code
 * @name: its name
 */
struct code {
	int signal;
	int code;
	const char *name;
};

#define ANY(code)		{ 0, code, #code }
#define OF(signal, code)	{ signal, code, #code }
/* A code by its number, as not all headers have it. */
#define NEW(signal, n, name)	{ signal, n, name }

static const struct code codes[] = {
	ANY(SI_USER), ANY(SI_KERNEL), ANY(SI_QUEUE), ANY(SI_TIMER),
	ANY(SI_MESGQ), ANY(SI_ASYNCIO), ANY(SI_SIGIO), ANY(SI_TKILL),
	ANY(SI_DETHREAD), ANY(SI_ASYNCNL),
	OF(SIGCHLD, CLD_EXITED), OF(SIGCHLD, CLD_KILLED),
	OF(SIGCHLD, CLD_DUMPED), OF(SIGCHLD, CLD_TRAPPED),
	OF(SIGCHLD, CLD_STOPPED), OF(SIGCHLD, CLD_CONTINUED),
	OF(SIGSEGV, SEGV_MAPERR), OF(SIGSEGV, SEGV_ACCERR),
	NEW(SIGSEGV, 3, "SEGV_BNDERR"), NEW(SIGSEGV, 4, "SEGV_PKUERR"),
	NEW(SIGSEGV, 5, "SEGV_ACCADI"), NEW(SIGSEGV, 6, "SEGV_ADIDERR"),
	NEW(SIGSEGV, 7, "SEGV_ADIPERR"), NEW(SIGSEGV, 8, "SEGV_MTEAERR"),
	NEW(SIGSEGV, 9, "SEGV_MTESERR"), NEW(SIGSEGV, 10, "SEGV_CPERR"),
	OF(SIGBUS, BUS_ADRALN), OF(SIGBUS, BUS_ADRERR), OF(SIGBUS, BUS_OBJERR),
	NEW(SIGBUS, 4, "BUS_MCEERR_AR"), NEW(SIGBUS, 5, "BUS_MCEERR_AO"),
	OF(SIGFPE, FPE_INTDIV), OF(SIGFPE, FPE_INTOVF), OF(SIGFPE, FPE_FLTDIV),
	OF(SIGFPE, FPE_FLTOVF), OF(SIGFPE, FPE_FLTUND), OF(SIGFPE, FPE_FLTRES),
	OF(SIGFPE, FPE_FLTINV), OF(SIGFPE, FPE_FLTSUB),
	NEW(SIGFPE, 14, "FPE_FLTUNK"), NEW(SIGFPE, 15, "FPE_CONDTRAP"),
	OF(SIGILL, ILL_ILLOPC), OF(SIGILL, ILL_ILLOPN), OF(SIGILL, ILL_ILLADR),
	OF(SIGILL, ILL_ILLTRP), OF(SIGILL, ILL_PRVOPC), OF(SIGILL, ILL_PRVREG),
	OF(SIGILL, ILL_COPROC), OF(SIGILL, ILL_BADSTK),
	NEW(SIGILL, 9, "ILL_BADIADDR"),
	OF(SIGTRAP, TRAP_BRKPT), OF(SIGTRAP, TRAP_TRACE),
	NEW(SIGTRAP, 3, "TRAP_BRANCH"), NEW(SIGTRAP, 4, "TRAP_HWBKPT"),
	NEW(SIGTRAP, 5, "TRAP_UNK"), NEW(SIGTRAP, 6, "TRAP_PERF"),
	OF(SIGIO, POLL_IN), OF(SIGIO, POLL_OUT), OF(SIGIO, POLL_MSG),
	OF(SIGIO, POLL_ERR), OF(SIGIO, POLL_PRI), OF(SIGIO, POLL_HUP),
	NEW(SIGSYS, 1, "SYS_SECCOMP"), NEW(SIGSYS, 2, "SYS_USER_DISPATCH"),
};

static const char *name_of(const siginfo_t *info)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].code == info->si_code &&
		    (!codes[i].signal || codes[i].signal == info->si_signo))
			return codes[i].name;
	return NULL;
}

/*
 * Append a number that may have a name, in the style of constants.  @hex: the
 * number is printed in base 16.
 */
static void print_named(struct seq_buf *s, long value, const char *name, bool hex)
{
	if (name && utrace_style.constants == UTRACE_CONSTANTS_NAMES) {
		seq_buf_puts(s, name);
		return;
	}
	if (hex)
		utrace_print_hex(s, (__u32)value);
	else
		utrace_write_signed(s, value);
	if (name && utrace_style.constants == UTRACE_CONSTANTS_BOTH)
		seq_buf_printf(s, " /* %s */", name);
}

static void print_pointer(struct seq_buf *s, const void *pointer)
{
	if (pointer)
		utrace_print_hex(s, (unsigned long)pointer);
	else
		utrace_write_literal(s, "NULL");
}

static void print_sender(struct seq_buf *s, const siginfo_t *info)
{
	seq_buf_printf(s, ", si_pid=%d", info->si_pid);
	pid_explain(s, info->si_pid);
	seq_buf_printf(s, ", si_uid=%d", info->si_uid);
}

static void print_value(struct seq_buf *s, const siginfo_t *info)
{
	seq_buf_printf(s, ", si_int=%d, si_ptr=", info->si_value.sival_int);
	print_pointer(s, info->si_value.sival_ptr);
}

static void print_band(struct seq_buf *s, const siginfo_t *info)
{
	seq_buf_printf(s, ", si_band=%ld, si_fd=%d", info->si_band, info->si_fd);
}

static void print_time(struct seq_buf *s, const char *name, __s64 ticks)
{
	seq_buf_printf(s, ", %s=%lld", name, ticks);
	if (ticks)
		seq_buf_printf(s, " /* %.2f s */", (double)ticks / TICKS);
}

static void print_child(struct seq_buf *s, const siginfo_t *info)
{
	print_sender(s, info);
	utrace_write_literal(s, ", si_status=");
	if (info->si_code == CLD_EXITED)
		utrace_write_signed(s, info->si_status);
	else
		utrace_print_signal(s, info->si_status);
	print_time(s, "si_utime", info->si_utime);
	print_time(s, "si_stime", info->si_stime);
}

/* Signals of the CPU: an address, and what some codes add. */
static void print_fault(struct seq_buf *s, const siginfo_t *info)
{
	utrace_write_literal(s, ", si_addr=");
	print_pointer(s, info->si_addr);
	if (info->si_signo == SIGSEGV && info->si_code == SEGV_BNDERR) {
		utrace_write_literal(s, ", si_lower=");
		print_pointer(s, info->si_lower);
		utrace_write_literal(s, ", si_upper=");
		print_pointer(s, info->si_upper);
	} else if (info->si_signo == SIGSEGV && info->si_code == SEGV_PKUERR) {
		seq_buf_printf(s, ", si_pkey=%u", info->si_pkey);
	} else if (info->si_signo == SIGBUS &&
		   (info->si_code == BUS_MCEERR_AR ||
		    info->si_code == BUS_MCEERR_AO)) {
		utrace_write_literal(s, ", si_addr_lsb=");
		utrace_print_hex(s, (unsigned short)info->si_addr_lsb);
	}
}

/* The tables of system calls by the constants of audit. */
static const struct {
	__u32 arch;
	const char *name;
	unsigned int table;
} archs[] = {
	{ AUDIT_ARCH_X86_64, "AUDIT_ARCH_X86_64", 0 },
	{ AUDIT_ARCH_I386, "AUDIT_ARCH_I386", UTRACE_NR_IA32 },
};

/* Append the number of a system call of an architecture, with its name. */
void siginfo_print_nr(struct seq_buf *s, __u32 arch, __u64 nr)
{
	const char *name = NULL;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i].arch == arch && nr <= INT_MAX)
			name = call_name(nr | archs[i].table);
	if (name)
		snprintf(text, sizeof(text), "__NR_%s", name);
	print_named(s, nr, name ? text : NULL, false);
}

/* Append an architecture. */
void siginfo_print_arch(struct seq_buf *s, __u32 arch)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(archs); i++) {
		if (archs[i].arch == arch) {
			print_named(s, arch, archs[i].name, true);
			return;
		}
	}
	seq_buf_printf(s, "%#x%s", arch, utrace_style.constants ==
		       UTRACE_CONSTANTS_RAW ? "" : " /* AUDIT_ARCH_??? */");
}

static void print_syscall(struct seq_buf *s, const siginfo_t *info)
{
	utrace_write_literal(s, ", si_call_addr=");
	print_pointer(s, info->si_call_addr);
	utrace_write_literal(s, ", si_syscall=");
	siginfo_print_nr(s, info->si_arch, (__u32)info->si_syscall);
	utrace_write_literal(s, ", si_arch=");
	siginfo_print_arch(s, info->si_arch);
}

/* Append the members of a signal that a program has sent. */
static void print_sent(struct seq_buf *s, const siginfo_t *info)
{
	switch (info->si_code) {
	case SI_USER:
	case SI_TKILL:
		print_sender(s, info);
		break;
	case SI_SIGIO:
		print_band(s, info);
		break;
	case SI_TIMER:
		utrace_write_literal(s, ", si_timerid=");
		utrace_print_hex(s, (__u32)info->si_timerid);
		seq_buf_printf(s, ", si_overrun=%d", info->si_overrun);
		print_value(s, info);
		break;
	default:
		print_sender(s, info);
		if (info->si_value.sival_ptr)
			print_value(s, info);
	}
}

/* Append the members of a signal that the kernel has sent. */
static void print_kernel(struct seq_buf *s, const siginfo_t *info)
{
	switch (info->si_signo) {
	case SIGCHLD:
		print_child(s, info);
		break;
	case SIGILL:
	case SIGFPE:
	case SIGSEGV:
	case SIGBUS:
	case SIGTRAP:
		print_fault(s, info);
		break;
	case SIGIO:
		if (info->si_code <= POLL_HUP)
			print_band(s, info);
		break;
	case SIGSYS:
		print_syscall(s, info);
		break;
	default:
		if (info->si_pid || info->si_uid || info->si_value.sival_ptr)
			print_sender(s, info);
		if (info->si_value.sival_ptr)
			print_value(s, info);
	}
}

/* Append the members of @info that are valid for its signal and code. */
void siginfo_print(struct seq_buf *s, const siginfo_t *info)
{
	/* The calls that wait for a child leave it empty if there is none. */
	if (!info->si_signo) {
		utrace_write_literal(s, "{}");
		return;
	}
	utrace_write_literal(s, "{si_signo=");
	utrace_print_signal(s, info->si_signo);
	utrace_write_literal(s, ", si_code=");
	print_named(s, info->si_code, name_of(info), true);
	if (info->si_errno) {
		utrace_write_literal(s, ", si_errno=");
		print_named(s, (__u32)info->si_errno, strerrorname_np(info->si_errno),
			    false);
	}
	if (info->si_code <= 0)
		print_sent(s, info);
	else
		print_kernel(s, info);
	utrace_write_char(s, '}');
}

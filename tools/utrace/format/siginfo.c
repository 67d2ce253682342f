// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - siginfo of a signal, as text in the style of strace
 */
#include <signal.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/print.h"
#include "decode/write.h"
#include "siginfo.h"

static void print_code(struct seq_buf *s, const siginfo_t *info)
{
	static const struct {
		int signal;	/* 0: any */
		int code;
		const char *name;
	} names[] = {
		{ 0, SI_USER, "SI_USER" }, { 0, SI_KERNEL, "SI_KERNEL" },
		{ 0, SI_QUEUE, "SI_QUEUE" }, { 0, SI_TIMER, "SI_TIMER" },
		{ 0, SI_TKILL, "SI_TKILL" }, { 0, SI_MESGQ, "SI_MESGQ" },
		{ 0, SI_ASYNCIO, "SI_ASYNCIO" },
		{ SIGCHLD, CLD_EXITED, "CLD_EXITED" },
		{ SIGCHLD, CLD_KILLED, "CLD_KILLED" },
		{ SIGCHLD, CLD_DUMPED, "CLD_DUMPED" },
		{ SIGCHLD, CLD_TRAPPED, "CLD_TRAPPED" },
		{ SIGCHLD, CLD_STOPPED, "CLD_STOPPED" },
		{ SIGCHLD, CLD_CONTINUED, "CLD_CONTINUED" },
		{ SIGSEGV, SEGV_MAPERR, "SEGV_MAPERR" },
		{ SIGSEGV, SEGV_ACCERR, "SEGV_ACCERR" },
		{ SIGBUS, BUS_ADRALN, "BUS_ADRALN" },
		{ SIGBUS, BUS_ADRERR, "BUS_ADRERR" },
		{ SIGFPE, FPE_INTDIV, "FPE_INTDIV" },
		{ SIGTRAP, TRAP_BRKPT, "TRAP_BRKPT" },
		{ SIGTRAP, TRAP_TRACE, "TRAP_TRACE" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].code != info->si_code ||
		    (names[i].signal && names[i].signal != info->si_signo))
			continue;
		seq_buf_puts(s, names[i].name);
		return;
	}
	seq_buf_printf(s, "%d", info->si_code);
}

/* Append the members of @info that are valid for its signal and code. */
void siginfo_print(struct seq_buf *s, const siginfo_t *info)
{
	int code = info->si_code;

	utrace_write_literal(s, "{si_signo=");
	utrace_print_signal(s, info->si_signo);
	utrace_write_literal(s, ", si_code=");
	print_code(s, info);
	if (info->si_signo == SIGCHLD && code > 0)
		seq_buf_printf(s, ", si_pid=%d, si_uid=%u, si_status=%d",
			       info->si_pid, info->si_uid, info->si_status);
	else if (code > 0 && code < 0x80 && info->si_signo != SIGIO)
		seq_buf_printf(s, ", si_addr=%p", info->si_addr);
	else if (code <= 0 && code != SI_TIMER)
		seq_buf_printf(s, ", si_pid=%d, si_uid=%u", info->si_pid,
			       info->si_uid);
	utrace_write_char(s, '}');
}

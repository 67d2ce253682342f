// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command on ptrace(2): read the stopped task
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

#include "format/namespaces.h"
#include "by_ptrace.h"

struct traced traced;

/* Read memory up to the first fault.  Returns the number of bytes. */
size_t traced_read(void *to, unsigned long from, size_t n)
{
	struct iovec local = { .iov_base = to, .iov_len = n };
	struct iovec remote = { .iov_base = (void *)from, .iov_len = n };
	ssize_t got = process_vm_readv(traced.tid, &local, 1, &remote, 1, 0);

	return got > 0 ? got : 0;
}

/*
 * Read a symbolic link of /proc/PID of the task, as "fd/1".  Returns its
 * length, or -1 with errno.
 */
ssize_t traced_link(char *to, size_t room, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid_in_proc(traced.tid), name);
	return readlink(path, to, room);
}

void traced_registers(unsigned long *ip, unsigned long *sp, unsigned long *bp)
{
	struct user_regs_struct regs = {};

	ptrace(PTRACE_GETREGS, traced.tid, NULL, &regs);
	*ip = regs.rip;
	*sp = regs.rsp;
	*bp = regs.rbp;
}

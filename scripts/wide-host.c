// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - run a command on a host with large extended registers
 *
 * Usage: wide-host BYTES COMMAND...
 *
 * The command, such as User-mode Linux, sees a CPU with BYTES of extended
 * registers. Its PTRACE_GETREGSET of NT_X86_XSTATE gives that many bytes, with
 * zeros after those of the host, and its PTRACE_SETREGSET of fewer bytes
 * fails with EFAULT, as Linux does. All other system calls reach the host
 * unchanged. Only the command's first process is covered, which in User-mode
 * Linux is the process that traces the others.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t wide;

/* Make only PTRACE_GETREGSET and PTRACE_SETREGSET stop for the tracer. */
static void filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_GETREGSET, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_SETREGSET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {
		.len = sizeof(code) / sizeof(*code), .filter = code,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		err(125, "seccomp");
}

/*
 * Open the memory of the command. /proc/PID/mem also reads pages that are
 * mapped write-only, as some of User-mode Linux are.
 */
static int memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		err(125, "%s", path);
	return fd;
}

static void take(pid_t pid, unsigned long from, void *to, size_t n)
{
	int fd = memory(pid);

	if (pread(fd, to, n, from) != (ssize_t)n)
		err(125, "reading the command's memory");
	close(fd);
}

static void put(pid_t pid, unsigned long to, void *from, size_t n)
{
	int fd = memory(pid);

	if (pwrite(fd, from, n, to) != (ssize_t)n)
		err(125, "writing the command's memory");
	close(fd);
}

/* The command's ptrace(GETREGSET) has returned; its iovec was @asked before. */
static void widen(pid_t pid, const struct user_regs_struct *regs,
		  const struct iovec *asked)
{
	size_t n = asked->iov_len < wide ? asked->iov_len : wide;
	struct iovec got;
	char *zeros;

	take(pid, regs->r10, &got, sizeof(got));
	if (got.iov_len < n) {
		zeros = calloc(1, n);
		if (!zeros)
			err(125, "calloc");
		put(pid, (unsigned long)got.iov_base + got.iov_len, zeros,
		    n - got.iov_len);
		free(zeros);
		got.iov_len = n;
		put(pid, regs->r10, &got, sizeof(got));
	}
}

/*
 * Let the call go on until it returns. Returns 0 if the command ends instead.
 */
static int finish(pid_t pid)
{
	int status, sig = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig) ||
		    waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
			return 0;
		sig = WSTOPSIG(status);
	} while (sig != (SIGTRAP | 0x80));
	return 1;
}

static void regset(pid_t pid)
{
	struct user_regs_struct regs;
	struct iovec asked;

	if (ptrace(PTRACE_GETREGS, pid, 0, &regs))
		err(125, "PTRACE_GETREGS");
	if (regs.rdx != NT_X86_XSTATE)
		return;
	take(pid, regs.r10, &asked, sizeof(asked));

	if (regs.rdi == PTRACE_SETREGSET) {
		if (asked.iov_len >= wide)
			return;
		regs.orig_rax = -1;
		regs.rax = -EFAULT;
		if (ptrace(PTRACE_SETREGS, pid, 0, &regs))
			err(125, "PTRACE_SETREGS");
		return;
	}
	if (!finish(pid) || ptrace(PTRACE_GETREGS, pid, 0, &regs))
		return;
	if ((long)regs.rax == 0)
		widen(pid, &regs, &asked);
}

int main(int argc, char **argv)
{
	int status, sig = 0;
	pid_t pid, self = getpid();

	if (argc > 2)
		wide = strtoul(argv[1], NULL, 10);
	if (!wide)
		errx(125, "usage: wide-host BYTES COMMAND...");

	pid = fork();
	if (pid < 0)
		err(125, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != self)
			_exit(125);
		raise(SIGSTOP);
		filter();
		execvp(argv[2], argv + 2);
		err(127, "%s", argv[2]);
	}

	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESECCOMP |
		   PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		err(125, "PTRACE_SEIZE");
	kill(pid, SIGCONT);
	/*
	 * Ctrl-C is meant for the command and reaches its whole process group.
	 */
	signal(SIGINT, SIG_IGN);

	while (waitpid(pid, &status, __WALL) == pid) {
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		sig = WSTOPSIG(status);
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
			regset(pid);
			sig = 0;
		} else if (status >> 16 == PTRACE_EVENT_STOP) {
			sig = 0;
		}
		ptrace(PTRACE_CONT, pid, 0, sig);
	}
	err(125, "waitpid");
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a 32-bit program: its system calls, a signal, and jumps
 */
#include <elf.h>
#include <signal.h>
#include <stddef.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int handled;

static void handle(int signal)
{
	handled++;
}

static void handle_info(int signal, siginfo_t *info, void *context)
{
	handled++;
}

/* Jumps by the lower half of ECX, through a table, and a far one. */
static int jump(void)
{
	static _Atomic int n = 1;
	static void *table[] = { &&zero, &&one, &&two };
	char from[32] = "the same", to[32];
	void *source = from, *target = to;
	unsigned long size = sizeof(to);

	asm volatile("	mov $0x10000, %%ecx\n"
		     "	jcxz 1f\n"
		     "	hlt\n"
		     "1:	jecxz 2f\n"
		     "	mov $3, %%ecx\n"
		     "2:	loopw 2b\n"
		     "	ljmp $0x23, $3f\n"
		     "3:\n"
		     ::: "ecx", "cc", "memory");
	asm volatile("rep movsb"
		     : "+S"(source), "+D"(target), "+c"(size) :: "memory");
	goto *table[n + to[0] - 't'];
zero:
	return 1;
one:
	return 0;
two:
	return 2;
}

int main(void)
{
	struct sigaction action = {
		.sa_sigaction = handle_info,
		.sa_flags = SA_SIGINFO,
	};
	unsigned long vdso = getauxval(AT_SYSINFO);
	int pid = SYS_getpid, parent = SYS_getppid;

	signal(SIGUSR1, handle);
	sigaction(SIGUSR2, &action, NULL);
	asm volatile("int $0x80" : "+a"(pid) :: "memory");
	if (vdso)
		asm volatile("call *%1" : "+a"(parent) : "r"(vdso) : "memory");
	kill(pid, SIGUSR1);
	kill(pid, SIGUSR2);
	return jump() || handled != 2 || parent != getppid();
}

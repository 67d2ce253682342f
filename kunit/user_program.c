// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - the program that is traced
 *
 * A static program without any library, which serves commands (user_proto.h).
 * The kernel contains it and runs it before there is a root file system.
 */
#include "user_proto.h"

#ifndef __x86_64__
#error "the test program knows only the system calls of x86_64"
#endif

/* Calls that the program itself makes; a test passes other calls by number. */
#define NR_READ			0
#define NR_WRITE		1
#define NR_RT_SIGACTION		13
#define NR_CLONE		56
#define NR_EXECVE		59
#define NR_GETTID		186
#define NR_EXIT_GROUP		231

#define CLONE_VM		0x00000100
#define SA_RESTORER		0x04000000
#define EINTR			4

#define STACK_SIZE		16384

struct user_sigaction {
	void (*handler)(int signo);
	unsigned long flags;
	unsigned long restorer;
	unsigned long mask;
};

static struct user_area area;
static char stacks[USER_CHANNELS][STACK_SIZE];

/* The entry point, where the stack holds argc, argv and environment. */
#define ENTRY_CODE			\
	".globl	_start\n"		\
	"_start:\n"			\
	"	xorl	%ebp, %ebp\n"	\
	"	movq	%rsp, %rdi\n"	\
	"	andq	$-16, %rsp\n"	\
	"	call	begin\n"	\
	"	ud2\n"

/* A signal handler returns here, to make rt_sigreturn(2). */
#define RESTORE_CODE			\
	"restore:\n"			\
	"	movl	$15, %eax\n"	\
	"	syscall\n"		\
	"	ud2\n"

asm(ENTRY_CODE);
asm(RESTORE_CODE);

static unsigned long address_of_restore(void)
{
	unsigned long address;

	asm("movq	$restore, %0" : "=r" (address));
	return address;
}

/* The kernel writes to the memory of the program in the meantime. */
static void barrier(void)
{
	asm volatile("" : : : "memory");
}

static long make_syscall(unsigned long nr, const unsigned long *arg)
{
	register unsigned long r10 asm("r10") = arg[3];
	register unsigned long r8 asm("r8") = arg[4];
	register unsigned long r9 asm("r9") = arg[5];
	long ret;

	asm volatile("syscall"
		     : "=a" (ret)
		     : "0" (nr), "D" (arg[0]), "S" (arg[1]), "d" (arg[2]),
		       "r" (r10), "r" (r8), "r" (r9)
		     : "rcx", "r11", "memory");
	return ret;
}

/* Number and arguments of the 32-bit table; at most three arguments. */
static long make_int80(unsigned long nr, const unsigned long *arg)
{
	long ret;

	asm volatile("int	$0x80"
		     : "=a" (ret)
		     : "0" (nr), "b" (arg[0]), "c" (arg[1]), "d" (arg[2])
		     : "r8", "r9", "r10", "r11", "memory");
	return (int)ret;
}

/*
 * Clone.  A child that shares the memory gets its own stack.  A child does not
 * return from here, but serves its channel.
 */
static long make_clone(unsigned long flags, unsigned long channel)
{
	register unsigned long r12 asm("r12") = channel;
	register unsigned long r10 asm("r10") = 0;
	register unsigned long r8 asm("r8") = 0;
	char *stack = 0;
	long ret;

	if (flags & CLONE_VM)
		stack = stacks[channel] + STACK_SIZE;
	asm volatile("syscall\n"
		     "	testq	%%rax, %%rax\n"
		     "	jnz	1f\n"
		     "	xorl	%%ebp, %%ebp\n"
		     "	andq	$-16, %%rsp\n"
		     "	movq	%%r12, %%rdi\n"
		     "	call	serve\n"
		     "	ud2\n"
		     "1:"
		     : "=a" (ret)
		     : "0" (NR_CLONE), "D" (flags), "S" (stack), "d" (0),
		       "r" (r10), "r" (r8), "r" (r12)
		     : "rcx", "r11", "memory");
	return ret;
}

static long make_exec(void)
{
	unsigned long argv[2] = { (unsigned long)area.path, 0 };
	unsigned long arg[6] = {
		(unsigned long)area.path,
		(unsigned long)argv,
		(unsigned long)(argv + 1),
	};

	return make_syscall(NR_EXECVE, arg);
}

static void handler(int signo)
{
	area.signo = signo;
	area.handled++;
}

static long make_handle(unsigned long signo, unsigned long flags)
{
	struct user_sigaction act = {
		.handler = handler,
		.flags = flags | SA_RESTORER,
		.restorer = address_of_restore(),
	};
	unsigned long arg[6] = {
		signo,
		(unsigned long)&act,
		0,
		sizeof(act.mask),
	};

	return make_syscall(NR_RT_SIGACTION, arg);
}

static long spin(void)
{
	long turns = 0;

	while (!area.go) {
		area.turns = ++turns;
		barrier();
	}
	return turns;
}

static long repeat(unsigned long nr, unsigned long most)
{
	static const unsigned long none[6];
	unsigned long turns = 0;

	while (!area.go && (!most || turns < most)) {
		make_syscall(nr, none);
		area.turns = ++turns;
	}
	return turns;
}

static long obey(const struct user_command *c)
{
	switch (c->op) {
	case USER_SYSCALL:
		return make_syscall(c->nr, c->arg);
	case USER_INT80:
		return make_int80(c->nr, c->arg);
	case USER_CLONE:
		return make_clone(c->arg[0], c->arg[1]);
	case USER_EXEC:
		return make_exec();
	case USER_HANDLE:
		return make_handle(c->arg[0], c->arg[1]);
	case USER_SPIN:
		return spin();
	case USER_REPEAT:
		return repeat(c->nr, c->arg[0]);
	case USER_FAULT:
		asm volatile("movl	$0, 0" : : : "memory");
		return 0;
	case USER_TRAP:
		asm volatile("int3" : : : "memory");
		return 0;
	}
	return -1;
}

static long transfer(unsigned long nr, unsigned long fd, void *buf,
		     unsigned long size)
{
	unsigned long arg[6] = { fd, (unsigned long)buf, size };
	long ret;

	do {
		ret = make_syscall(nr, arg);
	} while (ret == -EINTR);
	return ret;
}

/* Serve commands until the kernel closes its end of the pipes. */
void serve(unsigned long channel)
{
	struct user_command c;
	struct user_reply r = {
		.result = USER_HELLO,
		.area = (unsigned long)&area,
	};
	static const unsigned long none[6];

	r.tid = make_syscall(NR_GETTID, none);
	for (;;) {
		if (transfer(NR_WRITE, 2 * channel + 1, &r, sizeof(r)) !=
		    sizeof(r))
			break;
		if (transfer(NR_READ, 2 * channel, &c, sizeof(c)) != sizeof(c))
			break;
		r.result = obey(&c);
	}
	for (;;)
		make_syscall(NR_EXIT_GROUP, none);
}

void begin(unsigned long *sp)
{
	const char *path = (const char *)sp[1];
	unsigned int i;

	for (i = 0; i < sizeof(area.path) - 1 && path[i]; i++)
		area.path[i] = path[i];
	serve(0);
}

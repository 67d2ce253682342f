// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: each record against ptrace
 *
 * ptrace steps a program while a consumer follows it, and says which branches
 * the program takes: the test decodes the instructions by itself.  The records
 * of the consumer have to be these branches, one by one.
 */
#include "branches.h"

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#define ZF	0x40

/* This value is for all pseudo-addresses. */
#define KERNEL	1UL

struct step {
	unsigned long from;
	unsigned long to;
};

struct oracle {
	struct step *branch;
	size_t n;
	size_t steps;
	int status;
};

static void expect(struct oracle *o, unsigned long from, unsigned long to)
{
	if (!(o->n & (o->n - 1)))
		o->branch = realloc(o->branch,
				    (o->n ? o->n * 2 : 1) * sizeof(*o->branch));
	need(o->branch, "memory");
	o->branch[o->n++] = (struct step){ from, to };
}

/*
 * The length of a branch, 0 if the instruction is none.  *@conditional: it goes
 * on with the next instruction if it is not taken.
 */
static int branch_length(const unsigned char *code, bool *conditional)
{
	static const unsigned char prefixes[] = {
		0xf0, 0xf2, 0xf3, 0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65, 0x66, 0x67,
	};
	int i = 0;

	while (memchr(prefixes, code[i], sizeof(prefixes)))
		i++;
	if ((code[i] & 0xf0) == 0x40)
		i++;
	*conditional = false;
	switch (code[i]) {
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3:
		*conditional = true;
		return i + 2;
	case 0x0f:
		*conditional = true;
		return (code[i + 1] & 0xf0) == 0x80 ? i + 6 : 0;
	case 0xeb:
		return i + 2;
	case 0xe8: case 0xe9:
		return i + 5;
	case 0xc3:
		return i + 1;
	case 0xc2:
		return i + 3;
	case 0xff:
		i = code[i + 1] >> 3 & 7;
		return i >= 2 && i <= 5 ? 15 : 0;
	default:
		return 0;
	}
}

/*
 * The task has gone from the instruction @code at @from to @to, with the flags
 * @flags.
 */
static void judge(struct oracle *o, const unsigned char *code,
		  unsigned long from, unsigned long to, unsigned long flags)
{
	bool conditional;
	int length;

	/* MOV SS: the next instruction is made in the same step. */
	if (code[0] == 0x8e && (code[1] & 0xf8) == 0xd0) {
		code += 2;
		from += 2;
	}
	/* JNE to the next instruction, as jumps() has it. */
	if (code[0] == 0x2e && code[1] == 0x75 && !code[2]) {
		if (!(flags & ZF))
			expect(o, from, to);
		return;
	}
	if (code[0] == 0x0f && code[1] == 0x05) {
		expect(o, from, KERNEL);
		expect(o, KERNEL, to);
		return;
	}
	length = branch_length(code, &conditional);
	if (length && (!conditional || to != from + length))
		expect(o, from, to);
}

static void fetch(pid_t pid, unsigned long at, unsigned char *code)
{
	size_t left = 4096 - (at & 4095);
	struct iovec to = { code, 16 }, from = { (void *)at, 16 };

	memset(code, 0, 16);
	if (process_vm_readv(pid, &to, 1, &from, 1, 0) == 16 || left >= 16)
		return;
	to.iov_len = left;
	from.iov_len = left;
	process_vm_readv(pid, &to, 1, &from, 1, 0);
}

/* Step a task that waits in a stop of ptrace, until it is dead. */
static void step_to_the_end(struct oracle *o, pid_t pid)
{
	unsigned char code[16] = {};
	struct user_regs_struct regs;
	unsigned long at = 0;
	int signal = 0;

	for (;;) {
		bool handled = signal;

		need(!ptrace(PTRACE_SINGLESTEP, pid, 0, signal), "step");
		signal = 0;
		need(waitpid(pid, &o->status, 0) == pid, "wait");
		if (!WIFSTOPPED(o->status))
			return;
		/* The stop at an exec is within the step of its system call. */
		if (o->status >> 16)
			continue;
		if (WSTOPSIG(o->status) != SIGTRAP) {
			signal = WSTOPSIG(o->status);
			continue;
		}
		need(!ptrace(PTRACE_GETREGS, pid, 0, &regs), "registers");
		o->steps++;
		if (handled) {
			expect(o, at, KERNEL);
			expect(o, KERNEL, regs.rip);
		} else if (at) {
			judge(o, code, at, regs.rip, regs.eflags);
		}
		at = regs.rip;
		fetch(pid, at, code);
	}
}

static unsigned long masked(__u64 address)
{
	return IS_PSEUDO(address) ? KERNEL : address;
}

static bool is_branch(const struct utrace_branch *r, const struct step *step)
{
	return type_of(r) == UTRACE_BRANCH && masked(r->from) == step->from &&
	       masked(r->to) == step->to;
}

/*
 * Compare record by record; returns how many are equal before the first
 * difference.
 */
static size_t compare(const struct oracle *o, const struct trace *trace)
{
	size_t i = 0, k;

	/* The consumer begins in the system call before the first step. */
	while (i < trace->n && !is_branch(&trace->records[i], &o->branch[0]))
		i++;
	for (k = 0; k < o->n && i < trace->n; k++, i++)
		if (!is_branch(&trace->records[i], &o->branch[k]))
			break;
	if (k < o->n && i < trace->n)
		printf("#   record %zu is %llx -> %llx (%llx) instead of %lx -> %lx\n",
		       i, trace->records[i].from, trace->records[i].to,
		       trace->records[i].info, o->branch[k].from,
		       o->branch[k].to);
	return k;
}

/*
 * Run @run, or the program @argv, with ptrace and a consumer, and compare.
 *
 * With PREEMPT_RT, wait_task_inactive() sleeps for a tick if the tracer runs
 * before the stopped task has left its CPU.  So both run on one CPU as
 * SCHED_BATCH: there a task does not preempt the one that wakes it.
 */
static void follow(const char *name, void (*run)(void), char **argv)
{
	struct trace trace = {};
	struct oracle o = {};
	int fd, status;
	pid_t pid;

	pin_to_cpu(0, 0);
	need(!sched_setscheduler(0, SCHED_BATCH, &(struct sched_param){}),
	     "SCHED_BATCH");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0) || raise(SIGSTOP))
			_exit(1);
		if (run)
			run();
		else
			execvp(argv[0], argv);
		_exit(!run);
	}
	need(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "stop");
	need(!ptrace(PTRACE_SETOPTIONS, pid, 0,
		     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL), "options");
	fd = consumer(pid, UTRACE_SCOPE_THREAD, UTRACE_FULL_DEFAULT, 1 << 20);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	step_to_the_end(&o, pid);
	read_on(fd, &trace, SIZE_MAX);
	printf("#   %s: %zu steps, %zu branches\n", name, o.steps, o.n);
	is(0, o.status, "the program ends normally");
	holds(o.n > 0, "%s: branches are taken", name);
	is(o.n, compare(&o, &trace), "all branches have their records");
	holds(is_gapless(&trace), "%s: the trace has no gap", name);
	is(1, count_type(&trace, UTRACE_BRANCH_START), "one START");
	is(1, count_type(&trace, UTRACE_BRANCH_END), "one END");
	is(0, count_type(&trace, UTRACE_BRANCH_LOST), "nothing is lost");
	free(trace.records);
	free(o.branch);
	close(fd);
}

/* Jumps of all kinds, some to themselves and some to the next instruction. */
static void jumps(void)
{
	asm volatile("	mov $5, %%ecx\n"
		     "1:	loop 1b\n"
		     "	mov $3, %%ecx\n"
		     "2:	dec %%ecx\n"
		     "	jnz 2b\n"
		     "	jecxz 3f\n"
		     "	nop\n"
		     "3:	jmp 4f\n"
		     "4:	lea 5f(%%rip), %%rax\n"
		     "	jmp *%%rax\n"
		     "	nop\n"
		     "5:	mov $2, %%ecx\n"
		     "	cmp $1, %%ecx\n"
		     "6:	loopne 6b\n"
		     "	.byte 0x2e; jne 7f\n"
		     "7:	call 8f\n"
		     "	jmp 9f\n"
		     "8:	ret\n"
		     "9:	nop\n"
		     ::: "rax", "rcx", "memory", "cc");
}

static char bytes[64];

/* Instructions that are made in rounds, and one that hides the next trap. */
static void strings_and_segments(void)
{
	unsigned long n = sizeof(bytes);
	void *to = bytes;

	asm volatile("rep stosb" : "+c"(n), "+D"(to) : "a"(1) : "memory");
	asm volatile("	mov %%ss, %%eax\n"
		     "	mov %%eax, %%ss\n"
		     "	jmp 1f\n"
		     "	nop\n"
		     "1:	mov %%eax, %%ss\n"
		     "	nop\n"
		     "	mov %%eax, %%edx\n"
		     "	mov $110, %%eax\n"
		     "	mov %%edx, %%ss\n"
		     "	syscall\n"
		     ::: "rax", "rcx", "rdx", "r11", "memory");
}

static void calls(void)
{
	int i, pipes[2];

	for (i = 0; i < 10; i++)
		syscall(SYS_getppid);
	if (pipe(pipes) || write(pipes[1], "x", 1) != 1 ||
	    read(pipes[0], bytes, 1) != 1)
		_exit(1);
}

/* A loop in which one instruction is a jump in every second round. */
static void changing_code(void)
{
	static const unsigned char loop[] = {
		0xb9, 8, 0, 0, 0,		/* mov $8, %ecx */
		0x66, 0x81, 0x37, 0x7b, 0x91,	/* xorw $0x917b, (%rdi) */
		0xeb, 1,			/* jmp over the nop, or two nops */
		0x90,				/* nop */
		0xff, 0xc9,			/* dec %ecx */
		0x75, 0xf4,			/* jne to the xorw */
		0xc3,				/* ret */
	};
	unsigned char *code = mmap(NULL, 4096,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		_exit(1);
	memcpy(code, loop, sizeof(loop));
	((void (*)(void *))code)(code + 10);
}

static int handled;

static void handle(int signal)
{
	handled++;
}

static void signals(void)
{
	signal(SIGUSR1, handle);
	raise(SIGUSR1);
	raise(SIGUSR1);
	if (handled != 2)
		_exit(1);
}

FIXTURE_LIKE(dev, code)

FIXTURE_VARIANT(code) {
	const char *name;
	void (*run)(void);
};

FIXTURE_VARIANT_ADD(code, jumps) { "jumps", jumps };

FIXTURE_VARIANT_ADD(code, strings_and_segments) {
	"strings and segments", strings_and_segments
};

FIXTURE_VARIANT_ADD(code, calls) { "system calls", calls };
FIXTURE_VARIANT_ADD(code, changing_code) { "code that changes", changing_code };
FIXTURE_VARIANT_ADD(code, signals) { "signals", signals };

TEST_F(code, all_branches)
{
	follow(variant->name, variant->run, NULL);
}

TEST_F(dev, program)
{
	char *argv[2] = {};

	argv[0] = "/bin/true";
	follow("/bin/true", NULL, argv);
}

TEST_HARNESS_MAIN

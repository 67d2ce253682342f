// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: threads that the kernel moves
 *
 * The kernel changes where a thread goes on: rseq ends a sequence, a system call is made
 * again, an instruction is emulated.  Each record is compared with the code: the branch
 * exists, and the code from one record to the next is straight.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/io.h>
#include <sys/rseq.h>
#include <sys/uio.h>

#include <linux/membarrier.h>

#include "instruction.h"
#include "tasks.h"

/* Sequences of rseq that have to be left, and for how many seconds the test tries. */
#define ABORTS		20
#define TRIES		(20 * ut_patience())

/* Written by threads of the target. */
struct seen {
	_Atomic long aborts;
	_Atomic long damaged;	/* found what was not written */
	_Atomic long restarts;
	_Atomic bool stays;	/* in sequences */
};

static struct seen *seen;

/* Code that the order makes last. */
static void loop(void)
{
	long n = 100;

	asm volatile("1: dec %0; jnz 1b" : "+r"(n));
}

/*
 * Make a sequence of rseq with jumps and PUSHF.  The stack above PUSHF must not change,
 * even if the thread leaves the sequence at PUSHF.
 */
static __attribute__((noipa)) void make_sequence(void)
{
	struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	asm volatile(".pushsection __rseq_cs, \"aw\"\n"
		     ".balign 32\n"
		     "sequence: .long 0, 0\n"
		     ".quad sequence_begin, sequence_end - sequence_begin, sequence_abort\n"
		     ".popsection\n"
		     "sub $128, %%rsp\n"
		     "push $-1\n"
		     "mov %%rsp, %%rbx\n"
		     "lea sequence(%%rip), %%rax\n"
		     "mov %%rax, (%0)\n"
		     "sequence_begin: mov $40, %%ecx\n"
		     "1: pushfq\n"
		     "pop %%rdx\n"
		     "xor %%edx, %%edx\n"
		     "jz 2f\n"
		     "nop\n"
		     "2: dec %%ecx\n"
		     "jnz 1b\n"
		     "sequence_end: movq $0, (%0)\n"
		     "jmp 3f\n"
		     ".long 0x53053053\n"
		     "sequence_abort: incq (%1)\n"
		     "mov %%rbx, %%rsp\n"
		     "3: pop %%rdx\n"
		     "cmp $-1, %%rdx\n"
		     "je 4f\n"
		     "incq (%2)\n"
		     "4: add $128, %%rsp\n"
		     :: "r"(&rseq->rseq_cs), "r"(&seen->aborts), "r"(&seen->damaged)
		     : "rax", "rbx", "rcx", "rdx", "memory", "cc");
}

/* Stay in a sequence of rseq until the kernel ends it. */
static __attribute__((noipa)) void stay_in_sequence(void)
{
	struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() + __rseq_offset);

	asm volatile(".pushsection __rseq_cs, \"aw\"\n"
		     ".balign 32\n"
		     "stay: .long 0, 0\n"
		     ".quad stay_begin, stay_end - stay_begin, stay_abort\n"
		     ".popsection\n"
		     "lea stay(%%rip), %%rax\n"
		     "mov %%rax, (%0)\n"
		     "stay_begin: jmp stay_begin\n"
		     "stay_end: ud2\n"
		     ".long 0x53053053\n"
		     "stay_abort: incq (%1)\n"
		     :: "r"(&rseq->rseq_cs), "r"(&seen->aborts)
		     : "rax", "memory", "cc");
}

static _Atomic bool enough;

static void *end_sequences(void *unused)
{
	while (!enough) {
		syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, 0, 0);
		usleep(200);
	}
	return NULL;
}

static void leave_sequences(void)
{
	const time_t end = time(NULL) + TRIES;
	pthread_t thread;
	int i;

	need(!syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0),
	     "membarrier");
	need(!pthread_create(&thread, NULL, end_sequences, NULL), "a thread");
	while (seen->aborts < ABORTS && time(NULL) < end)
		for (i = 0; i < 50; i++)
			make_sequence();
	enough = true;
	pthread_join(thread, NULL);
}

/* A job-control stop ends read(2), and the kernel makes it again. */
static void restart_call(void)
{
	const pid_t self = getpid();
	int pipes[2];
	char c;

	need(!pipe(pipes), "pipe");
	if (!fork()) {
		usleep(200000);
		kill(self, SIGSTOP);
		usleep(200000);
		kill(self, SIGCONT);
		usleep(200000);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	seen->restarts = read(pipes[0], &c, 1);
	wait(NULL);
}

/* Jumps that follow instructions that the kernel emulates. */
extern const char behind_vsyscall[], behind_sidt[], behind_cli[], behind_ss[];

/* gettimeofday() of the vsyscall page. */
static __attribute__((noipa)) void call_vsyscall(void)
{
	asm volatile("sub $128, %%rsp\n"
		     "mov $0xffffffffff600000, %%rax\n"
		     "xor %%edi, %%edi\n"
		     "xor %%esi, %%esi\n"
		     "call *%%rax\n"
		     "behind_vsyscall: jmp 1f\n"
		     "nop\n"
		     "1: add $128, %%rsp\n"
		     ::: "rax", "rcx", "rdi", "rsi", "r11", "memory", "cc");
}

/* SIDT, which UMIP forbids, and CLI, which IOPL 3 would allow. */
static __attribute__((noipa)) void be_emulated(void)
{
	unsigned char table[16];

	need(!iopl(3), "iopl");
	asm volatile("sidt %0\n"
		     "behind_sidt: jmp 1f\n"
		     "nop\n"
		     "1: cli\n"
		     "behind_cli: jmp 2f\n"
		     "nop\n"
		     "2: sti\n"
		     : "=m"(table));
}

/* A load of SS, followed by an instruction that faults. */
static __attribute__((noipa)) void fault_behind_ss(void)
{
	int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ss;

	need(page != MAP_FAILED, "memory");
	asm volatile("mov %%ss, %0\n"
		     "mov %0, %%ss\n"
		     "movl $1, (%1)\n"
		     "behind_ss: jmp 1f\n"
		     "nop\n"
		     "1:\n"
		     : "=&r"(ss) : "r"(page) : "memory");
}

extern const char moved_push[], moved_jump[], moved_nop[], moved_call[];

/* Instructions that uprobes emulates, and one that it makes elsewhere. */
static __attribute__((noipa)) void hit_uprobes(void)
{
	asm volatile("sub $128, %%rsp\n"
		     "moved_push: push %%rbx\n"
		     "pop %%rbx\n"
		     "moved_jump: jmp 1f\n"
		     "nop\n"
		     "1: moved_call: call 2f\n"
		     "2: pop %%rax\n"
		     "moved_nop: bswap %%eax\n"
		     "add $128, %%rsp\n"
		     ::: "rax", "memory", "cc");
}

/* The order, with the address of one of the functions above. */
static long be_moved(long function)
{
	((void (*)(void))function)();
	loop();
	return 0;
}

/* Code at @at, which the target has at the same address as this process. */
static const struct decoded *insn_at(__u64 at)
{
	struct iovec to = { .iov_len = 16 }, from = { (void *)(uintptr_t)at, 16 };
	unsigned char code[16] = {};
	size_t left = 4096 - at % 4096;

	to.iov_base = code;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) < 0 && left < 16) {
		to.iov_len = left;
		from.iov_len = left;
		process_vm_readv(getpid(), &to, 1, &from, 1, 0);
	}
	return decoded(at, true, code);
}

/* Check that no branch that is always taken is between @at and @to. */
static bool leads_to(__u64 at, __u64 to)
{
	while (at < to) {
		const struct decoded *insn = insn_at(at);

		if (!insn->size)
			return true;	/* Capstone does not know it. */
		if (insn->kind != KIND_NONE && insn->kind != UTRACE_BR_COND)
			return false;
		at += insn->size;
	}
	return at == to;
}

/* Check that the code has this branch.  The kernel or a uprobe made UNKNOWN. */
static bool is_possible(const struct utrace_branch *r)
{
	const struct decoded *insn = insn_at(r->from);

	if (UTRACE_BRANCH_KIND(r->info) == UTRACE_BR_UNKNOWN)
		return true;

	if (r->to == UTRACE_PC_SYSCALL)
		return insn->kind == UTRACE_BR_SYSCALL;
	if (!insn->size)
		return true;
	return insn->kind != KIND_NONE && insn->kind != UTRACE_BR_SYSCALL &&
	       (!insn->target || insn->target == r->to);
}

/*
 * The number of records that are wrong or do not follow from the previous one.
 */
static size_t false_records(const struct trace *trace)
{
	const struct utrace_branch *r = trace->records;
	size_t i, n = 0;
	__u64 at = 0;

	for (i = 0; i < trace->n; i++, r++) {
		const unsigned int type = type_of(r);

		if (type == UTRACE_BRANCH_TASK || type == UTRACE_BRANCH_END)
			continue;
		if (type == UTRACE_BRANCH && !IS_PSEUDO(r->from) &&
		    ((at && !leads_to(at, r->from)) || !is_possible(r)) && n++ < 5)
			printf("#   record %zu: %llx -> %llx, was at %llx\n", i, r->from,
			       r->to, at);
		at = IS_PSEUDO(r->to) ? 0 : r->to;
	}
	return n;
}

/* Have memory that the target shares, full of zeros. */
static void map_seen(void)
{
	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(seen != MAP_FAILED, "memory");
}

/*
 * Follow the first thread of a target that calls @function.  *@all gets the
 * records, which the caller frees.
 */
static void follow(struct trace *all, void (*function)(void))
{
	struct trace trace = {};
	struct target target;
	int fd;

	map_seen();
	start(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_THREAD, UTRACE_FULL_DEFAULT, 1 << 20);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	tell(&target, SELF, be_moved, (long)function);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &trace, SIZE_MAX);
	holds(trace.n > 100, "%zu records, %zu of moves", trace.n,
	      count_from(&trace, UTRACE_PC_ASYNC));
	is(0, count_type(&trace, UTRACE_BRANCH_LOST), "nothing is lost");
	is(0, false_records(&trace), "no record is wrong");
	close(fd);
	stop(&target);
	*all = trace;
}

/* Follow it, and look for the jump at @jump. */
static void follow_to(void (*function)(void), const char *jump)
{
	struct trace all;

	follow(&all, function);
	is(1, count_from(&all, (uintptr_t)jump), "the jump is seen");
	free(all.records);
}

TEST_F(dev, rseq)
{
	struct trace all;

	follow(&all, leave_sequences);
	holds(seen->aborts >= ABORTS, "%ld times moved by rseq", (long)seen->aborts);
	is(0, seen->damaged, "  memory that the program has not written stays");
	free(all.records);
}

static pid_t stay_in_sequences(void)
{
	pid_t pid;

	seen->stays = true;
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (seen->stays)
			stay_in_sequence();
		_exit(0);
	}
	return pid;
}

/* Check that a process exits by itself. */
static bool exits(pid_t pid)
{
	int i, status;

	for (i = 0; i < 5000 * ut_patience(); i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status);
		usleep(2000);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return false;
}

/*
 * The consumer is closed before the kernel moves the thread out of its
 * sequence, but the thread does not know that yet.
 */
TEST_F(dev, closed_in_a_sequence)
{
	int i, fd, status;
	bool ends = true;
	pid_t pid;

	map_seen();
	for (i = 0; i < 10 && ends; i++) {
		pid = stay_in_sequences();
		fd = consumer(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_OVERWRITE, 64);
		need(fd >= 0, "UTRACE_IOC_BRANCHES");
		usleep(20000 * ut_patience());
		need(!kill(pid, SIGSTOP), "SIGSTOP");
		need(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status),
		     "stopped");
		close(fd);
		seen->stays = false;
		kill(pid, SIGCONT);
		ends = exits(pid);
	}
	holds(ends, "a thread goes on after its consumer");
	holds(seen->aborts >= i, "  %ld times moved by rseq", (long)seen->aborts);
}

TEST_F(dev, system_call_again)
{
	struct trace all;

	follow(&all, restart_call);
	is(1, seen->restarts, "the system call has got its byte");
	is(1, count_from(&all, UTRACE_PC_ASYNC), "  the call is made again");
	free(all.records);
}

TEST_F(dev, vsyscall)
{
	if (!has_vsyscalls())
		SKIP(return, "no vsyscalls");
	follow_to(call_vsyscall, behind_vsyscall);
}

/* Without UMIP the processor makes SIDT itself, and the kernel moves nothing. */
TEST_F(dev, emulated_sidt)
{
	if (!cpu_has("flags", " umip"))
		SKIP(return, "the processor has no UMIP");
	follow_to(be_emulated, behind_sidt);
}

TEST_F(dev, emulated_cli)
{
	follow_to(be_emulated, behind_cli);
}

TEST_F(dev, fault_behind_ss)
{
	follow_to(fault_behind_ss, behind_ss);
}

TEST_F(dev, uprobes)
{
	const void *at[] = { moved_push, moved_jump, moved_call, moved_nop };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(at); i++)
		set_uprobe(i, at[i]);
	enable_uprobes();
	follow_to(hit_uprobes, moved_jump);
	remove_uprobes(ARRAY_SIZE(at));
}

TEST_HARNESS_MAIN

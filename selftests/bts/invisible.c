// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: programs do not notice that they are followed
 *
 * A program that reads its flags, or steps itself, is run once alone and once
 * with a consumer.  Both runs must have the same result.
 */
#include "branches.h"

#define TF	0x100

/* The values that the program has seen, in memory shared with the test. */
static long *seen;

static long flags(void)
{
	long flags;

	asm volatile("pushfq; pop %0" : "=r"(flags) :: "memory");
	return flags;
}

/* PUSHF, and R11 after a system call, show the flags. */
static void look_at_flags(void)
{
	long after, nr = SYS_getppid;

	seen[0] = flags() & TF;
	asm volatile("syscall; mov %%r11, %0"
		     : "=r"(after), "+a"(nr) :: "rcx", "r11", "memory");
	seen[1] = after & TF;
	/* The values are loaded again. */
	asm volatile("pushfq; popfq; pushfq; pop %0" : "=r"(after) :: "memory");
	seen[2] = after & TF;
}

static void count_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	seen[0]++;
	seen[1] += info->si_code;
	seen[2] += !!(uc->uc_mcontext.gregs[REG_EFL] & TF);
}

static void take_traps(void)
{
	struct sigaction action = {
		.sa_sigaction = count_trap,
		.sa_flags = SA_SIGINFO,
	};

	sigaction(SIGTRAP, &action, NULL);
}

static _Atomic char dispatch;

static void look_at_frame(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *uc = context;

	dispatch = SYSCALL_DISPATCH_FILTER_ALLOW;
	seen[0]++;
	seen[1] |= uc->uc_mcontext.gregs[REG_R11] & TF;
	seen[2] |= uc->uc_mcontext.gregs[REG_EFL] & TF;
}

/* A system call that is given back to the program as a signal. */
static void dispatch_calls(void)
{
	struct sigaction action = {
		.sa_sigaction = look_at_frame,
		.sa_flags = SA_SIGINFO,
	};
	int i;

	sigaction(SIGSYS, &action, NULL);
	need(!prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &dispatch),
	     "PR_SET_SYSCALL_USER_DISPATCH");
	for (i = 0; i < 3; i++) {
		long nr = SYS_getppid;

		dispatch = SYSCALL_DISPATCH_FILTER_BLOCK;
		asm volatile("syscall" : "+a"(nr) :: "rcx", "r11", "memory");
	}
}

/* A child begins with the registers of its parent. */
static void look_at_flags_of_child(void)
{
	long after, nr = SYS_fork;

	asm volatile("syscall; mov %%r11, %0"
		     : "=r"(after), "+a"(nr) :: "rcx", "r11", "memory");
	seen[nr ? 0 : 1] = after & TF;
	if (!nr)
		_exit(0);
	wait(NULL);
}

/* The last instruction of a page is made; the next page stays untouched. */
static void run_to_page_end(void)
{
	unsigned char resident[2], *code;

	code = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(code != MAP_FAILED, "memory");
	code[4094] = 0x90;	/* nop */
	code[4095] = 0xc3;	/* ret */
	((void (*)(void))(code + 4094))();
	need(!mincore(code, 2 * 4096, resident), "mincore");
	seen[0] = resident[0] & 1;
	seen[1] = resident[1] & 1;
}

/* The program sets its trap flag, and gets a SIGTRAP for each instruction. */
static void step_itself(void)
{
	take_traps();
	asm volatile("	pushfq\n"
		     "	orq $0x100, (%%rsp)\n"
		     "	popfq\n"
		     "	nop\n"
		     "	mov $39, %%eax\n"
		     "	syscall\n"
		     "	nop\n"
		     "	pushfq\n"
		     "	andq $~0x100, (%%rsp)\n"
		     "	popfq\n"
		     "	nop\n"
		     ::: "rax", "rcx", "r11", "memory", "cc");
}

static void break_itself(void)
{
	take_traps();
	asm volatile("int3; nop; int3");
	raise(SIGTRAP);
}

/* A signal comes in a system call, which is made again. */
static void count_alarm(int signal)
{
	seen[0]++;
	seen[1] |= flags() & TF;
}

static void restart_calls(void)
{
	struct sigaction action = {
		.sa_handler = count_alarm,
		.sa_flags = SA_RESTART,
	};
	int pipes[2];
	char c;

	need(!pipe(pipes), "pipe");
	sigaction(SIGALRM, &action, NULL);
	alarm(1);
	if (!fork()) {
		sleep(2);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	seen[2] = read(pipes[0], &c, 1);
	wait(NULL);
}

static void make_children(void)
{
	int i, status;

	for (i = 0; i < 3; i++) {
		if (!fork()) {
			seen[0] |= flags() & TF;
			execl("/bin/true", "true", NULL);
		}
		wait(&status);
		seen[1 + i] = status;
	}
}

/*
 * Code with three uprobes: at a push, a jump and a nop.  With @at, only the
 * addresses of these instructions are stored there.
 */
static __attribute__((noinline, noclone)) long probed(const void **at)
{
	long result = 0;

	if (at) {
		asm volatile("lea probed_push(%%rip), %0\n"
			     "lea probed_jump(%%rip), %1\n"
			     "lea probed_nop(%%rip), %2\n"
			     : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]));
		return 0;
	}
	asm volatile("sub $128, %%rsp\n"
		     "probed_push: push %%rbx\n"
		     "pop %%rbx\n"
		     "probed_jump: jmp 1f\n"
		     ".skip 64, 0x90\n"
		     "1:\n"
		     "probed_nop: nop\n"
		     "mov $7, %0\n"
		     "add $128, %%rsp\n"
		     : "+r"(result) :: "memory", "cc");
	return result;
}

static void call_probed(void)
{
	int i;

	for (i = 0; i < 5; i++)
		seen[0] += probed(NULL);
}

/*
 * Run @run in a process, followed or not; the values that it has seen go to
 * @result.
 */
static void run_once(void (*run)(void), bool followed, long *result)
{
	struct trace trace = {};
	int fd = -1, status, pipes[2];
	pid_t pid;
	char c;

	need(!pipe(pipes), "pipe");
	memset(seen, 0, 4096);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		close(pipes[1]);
		c = read(pipes[0], &c, 1);
		run();
		_exit(0);
	}
	close(pipes[0]);
	if (followed) {
		fd = consumer(pid, UTRACE_SCOPE_TREE, UTRACE_FULL_DEFAULT, 0);
		need(fd >= 0, "UTRACE_IOC_BRANCHES");
	}
	close(pipes[1]);
	if (followed) {
		read_on(fd, &trace, SIZE_MAX);
		holds(trace.n > 10, "the process is followed");
		is(0, count_type(&trace, UTRACE_BRANCH_LOST), "nothing is lost");
		is(count_type(&trace, UTRACE_BRANCH_START),
		   count_type(&trace, UTRACE_BRANCH_END),
		   "each START has its END");
		free(trace.records);
		close(fd);
	}
	need(waitpid(pid, &status, 0) == pid, "wait");
	seen[10] = status;
	memcpy(result, seen, 11 * sizeof(long));
}

static void compare(void (*run)(void))
{
	long alone[11], followed[11];
	int i;

	seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(seen != MAP_FAILED, "memory");
	run_once(run, false, alone);
	run_once(run, true, followed);
	for (i = 0; i < 11; i++)
		if (alone[i] || followed[i])
			is(alone[i], followed[i],
			   "the program sees the same value");
	is(0, followed[10], "the program ends normally");
}

FIXTURE_LIKE(dev, program)

FIXTURE_VARIANT(program) {
	void (*run)(void);
};

FIXTURE_VARIANT_ADD(program, flags) { look_at_flags };
FIXTURE_VARIANT_ADD(program, dispatched_calls) { dispatch_calls };
FIXTURE_VARIANT_ADD(program, flags_of_child) { look_at_flags_of_child };
FIXTURE_VARIANT_ADD(program, page_end) { run_to_page_end };
FIXTURE_VARIANT_ADD(program, own_steps) { step_itself };
FIXTURE_VARIANT_ADD(program, own_breakpoints) { break_itself };
FIXTURE_VARIANT_ADD(program, restarts) { restart_calls };
FIXTURE_VARIANT_ADD(program, children) { make_children };

TEST_F(program, sees_no_consumer)
{
	compare(variant->run);
}

/* Instructions that uprobes makes, or emulates, for the program. */
TEST_F(dev, uprobes)
{
	const void *at[3];
	unsigned int i;

	probed(at);
	for (i = 0; i < 3; i++)
		set_uprobe(i, at[i]);
	enable_uprobes();
	compare(call_probed);
	remove_uprobes(3);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: attacks by signals, their frames and handlers
 */
#include <setjmp.h>
#include <sys/time.h>

#include "attack.h"

static sigjmp_buf out;

static _Atomic int depth;

/* A frame of a signal handler in which the program sets or clears its flag. */
static void set_flag_for_some_steps(int signal, siginfo_t *info, void *context)
{
	attack->seen[0] |= *reg(context, REG_EFL) & TF;
	attack->seen[1] |= flags() & TF;
	if (signal == SIGTRAP) {
		attack->seen[2]++;
		attack->seen[3] = attack->seen[3] * 31 + *reg(context, REG_RIP);
		attack->seen[4] += info->si_code;
	}
	if (attack->seen[2] < 40)
		*reg(context, REG_EFL) |= TF;
	else
		*reg(context, REG_EFL) &= ~(greg_t)TF;
}

static void step_by_sigreturn(void)
{
	take_signal(SIGTRAP, 0, set_flag_for_some_steps);
	take_signal(SIGUSR1, 0, set_flag_for_some_steps);
	raise(SIGUSR1);
	visible();
}

static void clear_flag(int signal, siginfo_t *info, void *context)
{
	attack->seen[0] |= *reg(context, REG_EFL) & TF;
	attack->seen[1]++;
	*reg(context, REG_EFL) &= ~(greg_t)TF;
	visible();
}

static void clear_by_sigreturn(void)
{
	int i;

	take_signal(SIGUSR1, 0, clear_flag);
	for (i = 0; i < 5; i++) {
		raise(SIGUSR1);
		visible();
	}
}

static void check_frames(const struct trace *trace)
{
	is(5, count_from(trace, UTRACE_PC_SIGNAL), "each handler begins");
	is(5, count_from(trace, UTRACE_PC_SIGRETURN), "each handler returns");
	is(0, count_from(trace, UTRACE_PC_ASYNC), "no other move is recorded");
}

/* The handler of each signal raises the next one, on one stack or another. */
static void nest(int signal, siginfo_t *info, void *context)
{
	attack->seen[depth % 8] += *reg(context, REG_EFL) & (TF | 0xcd5);
	visible();
	if (++depth < 12)
		raise(signal == SIGUSR1 ? SIGUSR2 : SIGUSR1);
	visible();
}

static void nest_handlers(void)
{
	static char memory[1 << 17];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	sigaltstack(&stack, NULL);
	take_signal(SIGUSR1, SA_ONSTACK | SA_NODEFER, nest);
	take_signal(SIGUSR2, SA_NODEFER, nest);
	raise(SIGUSR1);
	attack->seen[9] = depth;
}

static void jump_out(int signal, siginfo_t *info, void *context)
{
	attack->seen[signal % 8]++;
	siglongjmp(out, 1);
}

/* Handlers that never return, also of faults and of the program's own steps. */
static void jump_out_of_handlers(void)
{
	_Atomic int i;

	take_signal(SIGUSR1, 0, jump_out);
	take_signal(SIGSEGV, 0, jump_out);
	take_signal(SIGTRAP, 0, jump_out);
	take_signal(SIGILL, 0, jump_out);
	for (i = 0; i < 20; i++) {
		if (!sigsetjmp(out, 1)) {
			switch (i % 5) {
			case 0:
				raise(SIGUSR1);
				break;
			case 1:
				asm volatile("hlt");
				break;
			case 2:
				asm volatile("ud2");
				break;
			case 3:
				asm volatile("int3");
				break;
			case 4:
				asm volatile("pushfq\n"
					     "orq $0x100, (%%rsp)\n"
					     "popfq\n"
					     "nop\n"
					     "nop\n" ::: "memory", "cc");
				break;
			}
		}
		/* The jump has left the flag of the program as it was. */
		asm volatile("pushfq\n"
			     "andq $~0x100, (%%rsp)\n"
			     "popfq\n" ::: "memory", "cc");
		visible();
	}
}

static void block_traps(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	visible();
	sigprocmask(SIG_SETMASK, NULL, &set);
	attack->seen[0] = sigismember(&set, SIGTRAP);
	sigpending(&set);
	attack->seen[1] = sigismember(&set, SIGTRAP);
}

static void ignore_traps(void)
{
	struct sigaction action;

	signal(SIGTRAP, SIG_IGN);
	visible();
	sigaction(SIGTRAP, NULL, &action);
	attack->seen[0] = action.sa_handler == SIG_IGN;
}

/* A trap of the program's own kills it if it is blocked. */
static void trap_blocked(void)
{
	block_traps();
	asm volatile("pushfq\n"
		     "orq $0x100, (%%rsp)\n"
		     "popfq\n"
		     "nop\n" ::: "memory", "cc");
	attack->seen[2] = 1;
}

static void trap_ignored(void)
{
	ignore_traps();
	asm volatile("int3");
	attack->seen[2] = 1;
}

/* A sleep that goes on after a stop, by restart_syscall(). */
static void restart_sleep(void)
{
	struct timespec time = { .tv_nsec = 300000000 }, left = {}, begin, end;
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		usleep(100000);
		kill(self, SIGSTOP);
		usleep(50000);
		kill(self, SIGCONT);
		_exit(0);
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	attack->seen[0] = nanosleep(&time, &left);
	clock_gettime(CLOCK_MONOTONIC, &end);
	attack->seen[1] = (end.tv_sec - begin.tv_sec) * 1000000000 +
			  end.tv_nsec - begin.tv_nsec >= 300000000;
	visible();
	wait(NULL);
}

/* As above, and the next instruction is a system call as well. */
static void restart_before_a_call(void)
{
	struct timespec time = { .tv_nsec = 300000000 };
	pid_t self = getpid(), pid = fork();
	long nr = SYS_nanosleep;

	if (!pid) {
		usleep(100000);
		kill(self, SIGSTOP);
		usleep(50000);
		kill(self, SIGCONT);
		_exit(0);
	}
	/* The result of the first one is the number of read(). */
	asm volatile("first_call: syscall\n"
		     "second_call: syscall\n"
		     : "+a"(nr) : "D"(&time), "S"(NULL)
		     : "rcx", "r11", "memory");
	attack->seen[0] = nr;
	visible();
	wait(NULL);
}

static void check_restart(const struct trace *trace)
{
	is(2, count_from(trace, address_of(first_call)),
	   "the first call is recorded twice");
	is(2, count_from(trace, address_of(second_call)),
	   "so are the restart and the second call");
}

static _Atomic int alarms;

static void count_alarm(int signal, siginfo_t *info, void *context)
{
	const struct itimerval never = {};

	if (++alarms == 100)
		setitimer(ITIMER_REAL, &never, NULL);
	attack->seen[0] |= (*reg(context, REG_EFL) | flags()) & TF;
}

/* Signals that come at any instruction. */
static void be_interrupted(void)
{
	const struct itimerval often = { { 0, 3000 }, { 0, 3000 } };

	take_signal(SIGALRM, SA_RESTART, count_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (alarms < 100) {
		visible();
		getppid();
	}
}

/* A fault handler goes on with another instruction. */
static void skip(int signal, siginfo_t *info, void *context)
{
	attack->seen[8 + signal % 8] += info->si_code;
	attack->seen[16]++;
	*reg(context, REG_RIP) += signal == SIGFPE ? 2 :
				  signal == SIGILL ? 2 : 1;
}

static void skip_faults(void)
{
	int i;

	take_signal(SIGFPE, 0, skip);
	take_signal(SIGILL, 0, skip);
	take_signal(SIGSEGV, 0, skip);
	for (i = 0; i < 5; i++) {
		asm volatile("xor %%ecx, %%ecx\n"
			     "xor %%edx, %%edx\n"
			     "div %%ecx\n"
			     "ud2\n"
			     "hlt\n"
			     "cli\n" ::: "eax", "ecx", "edx", "cc");
		visible();
	}
}

/* A frame that cannot be returned to. */
static void spoil_frame(int signal, siginfo_t *info, void *context)
{
	if (signal == SIGUSR1)
		*reg(context, REG_RIP) = 1L << 62;
	else
		siglongjmp(out, 1);
}

static void return_to_nowhere(void)
{
	take_signal(SIGUSR1, 0, spoil_frame);
	take_signal(SIGSEGV, 0, spoil_frame);
	take_signal(SIGBUS, 0, spoil_frame);
	if (!sigsetjmp(out, 1))
		raise(SIGUSR1);
	attack->seen[0] = 1;
	visible();
}

FIXTURE_VARIANT_ADD(attack, step_by_sigreturn) { .run = step_by_sigreturn };

FIXTURE_VARIANT_ADD(attack, clear_by_sigreturn) {
	.run = clear_by_sigreturn,
	.check = check_frames,
};

FIXTURE_VARIANT_ADD(attack, nest_handlers) { .run = nest_handlers };

FIXTURE_VARIANT_ADD(attack, jump_out_of_handlers) {
	.run = jump_out_of_handlers,
};

FIXTURE_VARIANT_ADD(attack, block_traps) { .run = block_traps };
FIXTURE_VARIANT_ADD(attack, ignore_traps) { .run = ignore_traps };
FIXTURE_VARIANT_ADD(attack, restart_sleep) { .run = restart_sleep };

FIXTURE_VARIANT_ADD(attack, restart_before_a_call) {
	.run = restart_before_a_call,
	.check = check_restart,
};

FIXTURE_VARIANT_ADD(attack, be_interrupted) { .run = be_interrupted };
FIXTURE_VARIANT_ADD(attack, skip_faults) { .run = skip_faults };
FIXTURE_VARIANT_ADD(attack, return_to_nowhere) { .run = return_to_nowhere };

FIXTURE_VARIANT_ADD(attack, trap_blocked) {
	.run = trap_blocked,
	.status = SIGTRAP,
};

FIXTURE_VARIANT_ADD(attack, trap_ignored) {
	.run = trap_ignored,
	.status = SIGTRAP,
};

TEST_HARNESS_MAIN

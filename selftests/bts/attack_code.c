// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: attacks by the memory that the code is in
 */
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <sys/rseq.h>

#include "attack.h"

static sigjmp_buf out;

/* A copy of a loop with a return, and where its jump is. */
static const unsigned char counting[] = {
	0xff, 0xcf,	/* dec %edi */
	0x75, 0xfc,	/* jnz to it */
	0xc3,		/* ret */
};

#define JUMP_AT		2

static void jump_out(int signal, siginfo_t *info, void *context)
{
	attack->seen[1] = signal;
	attack->seen[2] = info->si_code;
	attack->seen[3] = ((unsigned long)info->si_addr & ~4095UL) -
			  attack->page;
	siglongjmp(out, 1);
}

/* What another thread does to the code that is running. */
static unsigned char *page;
static int protection;

static void *take_page(void *arg)
{
	usleep(30000);
	if (protection < 0)
		munmap(page, 4096);
	else
		mprotect(page, 4096, protection);
	return NULL;
}

static void lose_page(int how)
{
	pthread_t thread;

	protection = how;
	page = code_page();
	memcpy(page, counting, sizeof(counting));
	attack->page = (unsigned long)page;
	take_signal(SIGSEGV, 0, jump_out);
	pthread_create(&thread, NULL, take_page, NULL);
	if (!sigsetjmp(out, 1))
		for (;;)
			((void (*)(int))page)(10000);
	pthread_join(thread, NULL);
	visible();
}

static void lose_mapping(void)
{
	lose_page(-1);
}

static void lose_access(void)
{
	lose_page(PROT_NONE);
}

static void lose_right_to_execute(void)
{
	lose_page(PROT_READ | PROT_WRITE);
}

/* Code that may be executed, and may not be read. */
static void execute_only(void)
{
	page = code_page();
	memcpy(page, counting, sizeof(counting));
	attack->page = (unsigned long)page;
	attack->seen[1] = mprotect(page, 4096, PROT_EXEC);
	((void (*)(int))page)(ROUNDS);
	visible();
}

/* A jump whose second byte is in a missing page. */
static void jump_at_end_of_page(void)
{
	page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(page + 4096, 4096);
	page[4094] = 0x90;	/* nop */
	page[4095] = 0xeb;	/* jmp */
	attack->page = (unsigned long)page;
	take_signal(SIGSEGV, 0, jump_out);
	if (!sigsetjmp(out, 1))
		((void (*)(void))(page + 4094))();
	visible();
}

/* A page of code that userfaultfd leaves out. */
static int leave_out_page(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	arg.range.start = (unsigned long)page;
	arg.range.len = 4096;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &arg))
		_exit(95);
	return fd;
}

static void *answer(void *arg)
{
	static unsigned char code[4096] __attribute__((aligned(4096)));
	struct uffdio_copy copy = {
		.dst = (unsigned long)page,
		.src = (unsigned long)code,
		.len = 4096,
	};

	memcpy(code, counting, sizeof(counting));
	usleep(50000);
	attack->seen[1] = ioctl((long)arg, UFFDIO_COPY, &copy);
	return NULL;
}

/* The code comes late. */
static void wait_for_code(void)
{
	long fd = leave_out_page();
	pthread_t thread;

	pthread_create(&thread, NULL, answer, (void *)fd);
	attack->page = (unsigned long)page;
	((void (*)(int))page)(ROUNDS);
	visible();
	pthread_join(thread, NULL);
}

static void *end_process(void *arg)
{
	usleep(100000);
	kill(getpid(), SIGKILL);
	return NULL;
}

/* The code never comes. */
static void wait_for_ever(void)
{
	pthread_t thread;

	leave_out_page();
	visible();
	pthread_create(&thread, NULL, end_process, NULL);
	((void (*)(int))page)(ROUNDS);
}

static void count_signal(int signal, siginfo_t *info, void *context)
{
	attack->seen[0]++;
}

/* A signal in a critical section, which therefore ends elsewhere. */
static void abort_critical_section(void)
{
	static struct rseq_cs section __attribute__((aligned(32)));
	struct rseq *rseq = (void *)((char *)__builtin_thread_pointer() +
				     __rseq_offset);
	struct itimerspec soon = { .it_value = { .tv_nsec = 30000000 } };
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGUSR1,
	};
	timer_t timer;

	/* The C library may have registered none. */
	if (!__rseq_size)
		return;
	take_signal(SIGUSR1, 0, count_signal);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
	asm volatile("	lea 1f(%%rip), %%rax\n"
		     "	mov %%rax, 8(%0)\n"
		     "	movq $2f - 1f, 16(%0)\n"
		     "	lea critical_abort(%%rip), %%rax\n"
		     "	mov %%rax, 24(%0)\n"
		     "	mov %0, 8(%1)\n"
		     "1:\n"
		     "critical_jump:	jmp 1b\n"
		     "2:	ud2\n"
		     "	.long 0x53053053\n"
		     "critical_abort:\n"
		     :: "r"(&section), "r"(rseq) : "rax", "memory");
	visible();
	while (!attack->seen[0])
		usleep(1000);
}

FIXTURE_VARIANT_ADD(attack, lose_mapping) { .run = lose_mapping };
FIXTURE_VARIANT_ADD(attack, lose_access) { .run = lose_access };

FIXTURE_VARIANT_ADD(attack, lose_right_to_execute) {
	.run = lose_right_to_execute,
};

FIXTURE_VARIANT_ADD(attack, jump_at_end_of_page) { .run = jump_at_end_of_page };

static void check_page(const struct trace *trace)
{
	is(ROUNDS - 1, count_jumps(trace, attack->page + JUMP_AT),
	   "each jump in the page has its record");
}

FIXTURE_VARIANT_ADD(attack, execute_only) {
	.run = execute_only,
	.check = check_page,
};

FIXTURE_VARIANT_ADD(attack, wait_for_code) {
	.run = wait_for_code,
	.check = check_page,
};

FIXTURE_VARIANT_ADD(attack, wait_for_ever) {
	.run = wait_for_ever,
	.status = SIGKILL,
};

/* The jump to itself leads elsewhere once. */
static void check_abort(const struct trace *trace)
{
	size_t i, n = 0;

	for (i = 0; i < trace->n; i++)
		n += trace->records[i].from == address_of(critical_jump) &&
		     trace->records[i].to != address_of(critical_jump);
	is(!!__rseq_size, n, "the section is aborted once");
}

FIXTURE_VARIANT_ADD(attack, abort_critical_section) {
	.run = abort_critical_section,
	.check = check_abort,
};

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: attacks by instructions that hide the trap flag,
 * show it, change it, or change the mode of the processor
 */
#include "attack.h"

#define NARROW_CS	"0x23"
#define WIDE_CS		"0x33"
#define WIDE_SS		"0x2b"

/*
 * Instructions that hide the trap after themselves, before other instructions.
 */
static void hide_traps(void)
{
	unsigned long pushed, returned, nr = SYS_getppid;

	asm volatile("	mov %%ss, %%edx\n"
		     "	mov %%edx, %%ss\n"
		     "	pushfq\n"
		     "	pop %0\n"
		     "	mov %%edx, %%ss\n"
		     "	syscall\n"
		     "	mov %%r11, %1\n"
		     : "=r"(pushed), "=r"(returned), "+a"(nr)
		     :: "rcx", "rdx", "r11", "memory");
	attack->seen[0] = pushed & TF;
	attack->seen[1] = returned & TF;
	asm volatile("	mov %%ss, %%edx\n"
		     "	pushfq\n"
		     "	mov %%edx, %%ss\n"
		     "	popfq\n" ::: "rdx", "memory", "cc");
	visible();
	asm volatile("	mov %%ss, %%edx\n"
		     "	mov %%edx, %%ss\n"
		     "	mov %%edx, %%ss\n"
		     "	mov %%edx, %%ss\n"
		     "	pushfq\n"
		     "	pop %0\n" : "=r"(pushed) :: "rdx", "memory");
	attack->seen[2] = pushed & TF;
	visible();
	nr = 20;	/* getpid() of 32-bit programs */
	asm volatile("	mov %%ss, %%edx\n"
		     "	mov %%edx, %%ss\n"
		     "	int $0x80\n" : "+a"(nr)
		     :: "rdx", "r8", "r9", "r10", "r11", "memory");
	attack->seen[3] = nr == (unsigned long)getpid();
	visible();
}

/* A branch that some processors make together with two loads of SS. */
static void hide_branch(void)
{
	asm volatile("	mov %%ss, %%edx\n"
		     "	mov $10, %%ecx\n"
		     "1:	mov %%edx, %%ss\n"
		     "	mov %%edx, %%ss\n"
		     "hidden_jump:	jmp 2f\n"
		     "	nop\n"
		     "2:	dec %%ecx\n"
		     "	jnz 1b\n" ::: "rcx", "rdx", "memory", "cc");
}

static void check_branch(const struct trace *trace)
{
	is(10, count_jumps(trace, address_of(hidden_jump)),
	   "each hidden branch has its record");
}

/* Loads and stores of the flags, of all sizes and by all ways. */
static void load_flags(void)
{
	unsigned short small;
	unsigned long pushed;

	asm volatile("pushfw; pop %0" : "=r"(small) :: "memory");
	attack->seen[0] = small & TF;
	asm volatile("pushw %0; popfw" :: "r"(small) : "memory", "cc");
	visible();
	asm volatile("rex.w pushfq; pop %0" : "=r"(pushed) :: "memory");
	attack->seen[1] = pushed & TF;
	asm volatile(".byte 0xf3; pushfq; pop %0" : "=r"(pushed) :: "memory");
	attack->seen[2] = pushed & TF;
	/* Flags that were not pushed by PUSHF. */
	asm volatile("push $0x202; popfq" ::: "memory", "cc");
	visible();
}

/* IRET and a far return in 64-bit code, with flags that are not the thread's. */
static void return_far(void)
{
	unsigned long pushed;

	asm volatile("	mov %%rsp, %%rdx\n"
		     "	push $" WIDE_SS "\n"
		     "	push %%rdx\n"
		     "	pushfq\n"
		     "	mov (%%rsp), %0\n"
		     "	push $" WIDE_CS "\n"
		     "	lea 1f(%%rip), %%rdx\n"
		     "	push %%rdx\n"
		     "	iretq\n"
		     "1:\n" : "=&r"(pushed) :: "rdx", "memory", "cc");
	attack->seen[0] = pushed & TF;
	visible();
	asm volatile("	mov %%rsp, %%rdx\n"
		     "	push $" WIDE_CS "\n"
		     "	lea 1f(%%rip), %%rcx\n"
		     "	push %%rcx\n"
		     "	lretq\n"
		     "1:\n" ::: "rcx", "rdx", "memory");
	visible();
}

/* Instructions that the kernel makes for the program, if there is UMIP. */
static void emulate(void)
{
	static unsigned char table[16];
	unsigned long pushed;
	int i;

	for (i = 0; i < 3; i++) {
		asm volatile("smsw %%eax\n"
			     "nop\n"
			     "pushfq\n"
			     "pop %0\n" : "=r"(pushed) :: "eax", "memory");
		attack->seen[i] = pushed & TF;
		asm volatile("pushfq\n"
			     "sidt %0\n"
			     "popfq\n" : "=m"(table) :: "memory", "cc");
		visible();
	}
}

static unsigned long trap_sum, traps;

static void sum_traps(int signal, siginfo_t *info, void *context)
{
	traps++;
	trap_sum = trap_sum * 31 + *reg(context, REG_RIP) + info->si_code;
	attack->seen[4] |= flags() & TF;
}

/* The program's own steps, over instructions that are special under a step. */
static void step_itself(void)
{
	char from[16], to[16];
	void *source = from, *target = to;
	unsigned long size = sizeof(to);

	take_signal(SIGTRAP, 0, sum_traps);
	asm volatile("	pushfq\n"
		     "	orq $0x100, (%%rsp)\n"
		     "	popfq\n"
		     "	rep movsb\n"
		     "	mov %%ss, %%eax\n"
		     "	mov %%eax, %%ss\n"
		     "	nop\n"
		     "	mov $3, %%ecx\n"
		     "1:	loop 1b\n"
		     "	mov $39, %%eax\n"
		     "	.byte 0xf3; syscall\n"
		     "	int3\n"
		     "	pushfq\n"
		     "	pop %%rax\n"
		     "	push %%rax\n"
		     "	popfq\n"
		     "	mov $20, %%eax\n"
		     "	int $0x80\n"
		     "	pushfq\n"
		     "	andq $~0x100, (%%rsp)\n"
		     "	popfq\n"
		     "	nop\n"
		     : "+S"(source), "+D"(target), "+c"(size)
		     :: "rax", "r8", "r9", "r10", "r11", "memory", "cc");
	attack->seen[0] = traps;
	attack->seen[1] = trap_sum;
	visible();
}

static void call_with_prefix(void)
{
	long nr, i;

	for (i = 0; i < 10; i++) {
		nr = SYS_getpid;
		asm volatile("repeated_call:	rep; syscall\n"
			     : "+a"(nr) :: "rcx", "r11", "memory");
		attack->seen[0] += nr == getpid();
		nr = 20;
		asm volatile("narrow_call:	int $0x80\n" : "+a"(nr)
			     :: "r8", "r9", "r10", "r11", "memory");
		attack->seen[1] += nr == getpid();
	}
}

/* Code of both modes: 64-bit code jumps to a 32-bit loop, which jumps back. */

asm(".pushsection .rodata\n"
	"modes:		mov $100, %ecx\n"
	"		ljmp *modes_far_at(%rip)\n"
	"modes_far_at:	.long 0\n"
	"		.word " NARROW_CS "\n"
	"		.code32\n"
	"modes_narrow:	dec %ecx\n"
	"modes_jump:	jnz modes_narrow\n"
	"		.byte 0xea\n"	/* a far jump */
	"modes_back_at:	.long 0\n"
	"		.word " WIDE_CS "\n"
	"		.code64\n"
	"modes_back:	ret\n"
	"modes_end:\n"
	".popsection\n");

/* Where an address in the template is in the page. */
static unsigned long to_page(const unsigned char *page, __u64 address)
{
	return (unsigned long)page + address - address_of(modes);
}

static void set_address(unsigned char *page, __u64 at, __u64 address)
{
	unsigned int value = to_page(page, address);

	memcpy((void *)to_page(page, at), &value, sizeof(value));
}

static unsigned long saved_stack;

/*
 * Go to the 32-bit code by a jump, or by IRET.  32-bit code may lose the upper
 * half of the stack pointer, so the stack is in the page.
 */
static void enter_by_jump(unsigned char *page)
{
	asm volatile("	mov %%rsp, %0\n"
		     "	mov %1, %%rsp\n"
		     "	call *%2\n"
		     "	mov %0, %%rsp\n"
		     : "=m"(saved_stack) : "r"(page + 4000), "r"(page)
		     : "rcx", "memory", "cc");
}

static void enter_by_iret(unsigned char *page)
{
	unsigned long narrow = to_page(page, address_of(modes_narrow));

	asm volatile("	mov %%rsp, %0\n"
		     "	mov %1, %%rsp\n"
		     "	lea 1f(%%rip), %%rdx\n"
		     "	push %%rdx\n"
		     "	mov %%rsp, %%rdx\n"
		     "	mov $100, %%ecx\n"
		     "	push $" WIDE_SS "\n"
		     "	push %%rdx\n"
		     "	push $0x202\n"
		     "	push $" NARROW_CS "\n"
		     "	push %2\n"
		     "	iretq\n"
		     "1:	mov %0, %%rsp\n"
		     : "=m"(saved_stack)
		     : "r"(page + 4000), "r"(narrow)
		     : "rcx", "rdx", "memory", "cc");
}

/* 64-bit code that goes to 32-bit code, which loops and comes back. */
static void change_modes(bool by_iret)
{
	unsigned char *page = code_page();
	int i;

	memcpy(page, (void *)address_of(modes),
	       address_of(modes_end) - address_of(modes));
	set_address(page, address_of(modes_far_at), address_of(modes_narrow));
	set_address(page, address_of(modes_back_at), address_of(modes_back));
	attack->page = to_page(page, address_of(modes_jump));
	for (i = 0; i < 5; i++) {
		if (by_iret)
			enter_by_iret(page);
		else
			enter_by_jump(page);
		visible();
	}
}

static void change_modes_by_jump(void)
{
	change_modes(false);
}

static void change_modes_by_iret(void)
{
	change_modes(true);
}

FIXTURE_VARIANT_ADD(attack, hide_traps) { .run = hide_traps };

FIXTURE_VARIANT_ADD(attack, hide_branch) {
	.run = hide_branch,
	.check = check_branch,
};

FIXTURE_VARIANT_ADD(attack, load_flags) { .run = load_flags };
FIXTURE_VARIANT_ADD(attack, emulate) { .run = emulate };
FIXTURE_VARIANT_ADD(attack, step_itself) { .run = step_itself };

static void check_prefix(const struct trace *trace)
{
	is(10, count_from(trace, address_of(repeated_call)),
	   "each REP SYSCALL has its record");
	is(10, count_from(trace, address_of(narrow_call)),
	   "each INT 0x80 has its record");
}

FIXTURE_VARIANT_ADD(attack, call_with_prefix) {
	.run = call_with_prefix,
	.check = check_prefix,
};

static void check_modes(const struct trace *trace)
{
	is(5 * 99, count_jumps(trace, attack->page),
	   "each 32-bit jump has its record");
}

FIXTURE_VARIANT_ADD(attack, change_modes_by_jump) {
	.run = change_modes_by_jump,
	.check = check_modes,
};

FIXTURE_VARIANT_ADD(attack, change_modes_by_iret) {
	.run = change_modes_by_iret,
	.check = check_modes,
	.far_return = true,
};

FIXTURE_VARIANT_ADD(attack, return_far) {
	.run = return_far,
	.far_return = true,
};

TEST_HARNESS_MAIN

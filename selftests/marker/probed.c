// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a library with SDT markers
 *
 * Each function is of the type of struct library's functions in sites.h.
 * Semaphores are exported, so that programs can read them.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#define SEMAPHORE(name) \
	unsigned short utrace_test_##name##_semaphore \
		__attribute__((section(".probes")))

#define ENTRY __attribute__((noinline, noclone))

SEMAPHORE(hit);
SEMAPHORE(many);
SEMAPHORE(twice);
SEMAPHORE(guarded);
SEMAPHORE(born);

/* What the semaphore of utrace_test:born was when the library came to be. */
long probed_born;

/* An argument in a register, one on the stack, and a constant. */
#define HIT_ARGS	".ascii \"-8@%[a] -4@%[b] -1@%[c]\"\n"

ENTRY long probed_hit(long a, long b)
{
	int on_stack = b;

	__asm__ __volatile__(STAP_PROBE_ASM(utrace_test, hit, HIT_ARGS, "")
			     :: [a] "r" (a), [b] "m" (on_stack), [c] "i" (-7));
	return a + on_stack;
}

/* As many arguments as there may be, of all types; the compiler places them. */
ENTRY long probed_many(long a, long b)
{
	STAP_PROBE12(utrace_test, many, a, (unsigned long)b,
		     (int)a, (unsigned int)a, (short)a, (unsigned short)a,
		     (signed char)a, (unsigned char)a, (char *)b, -5,
		     0x7fffffff, (signed char)b);
	return a;
}

/* Two places with one semaphore. */
ENTRY long probed_first(long a, long b)
{
	STAP_PROBE2(utrace_test, twice, a, 1);
	return b;
}

ENTRY long probed_second(long a, long b)
{
	STAP_PROBE2(utrace_test, twice, a, 2);
	return b;
}

/* The marker as programs have them. */
ENTRY long probed_guarded(long a, long b)
{
	if (!__atomic_load_n(&utrace_test_guarded_semaphore, __ATOMIC_RELAXED))
		return 0;
	STAP_PROBE2(utrace_test, guarded, a, b);
	return 1;
}

static __attribute__((constructor)) void be_born(void)
{
	probed_born = __atomic_load_n(&utrace_test_born_semaphore,
				      __ATOMIC_RELAXED);
	STAP_PROBE1(utrace_test, born, probed_born);
}

/* From here on markers have no semaphore. */
#undef _SDT_SEMAPHORE
#define _SDT_SEMAPHORE(...) _SDT_ASM_1(_SDT_ASM_ADDR 0)
#undef _SDT_NOTE_SEMAPHORE_USE
#define _SDT_NOTE_SEMAPHORE_USE(...)

/* The function runs at any address, without the rest of the library. */
ENTRY long probed_plain(long a, long b)
{
	STAP_PROBE2(utrace_test, plain, a, b);
	return a;
}

/* Functions without a marker. */
ENTRY long probed_add(long a, long b)
{
	return a + b;
}

/* Calls itself @a times. */
ENTRY long probed_down(long a, long b)
{
	long deep = a > 0 ? probed_down(a - 1, b) : b;

	/* The result is needed here, so that each call returns. */
	__asm__ __volatile__("" : "+r" (deep));
	return a > 0 ? deep + 1 : deep;
}

/* Calls a function of the program. */
ENTRY long probed_call(long a, long b)
{
	return ((long (*)(long))a)(b) + 1;
}

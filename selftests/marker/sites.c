// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: hits, arguments, counts and errors
 */
#include "sites.h"

#define REG(name)	PERF_REG_X86_##name
#define NONE		UTRACE_ARG_NO_REG

/* Put n in register number n, but for AX, and call the function. */
asm("	.pushsection .text\n"
	"with_registers:\n"
	"	push %rbx; push %rbp; push %r12\n"
	"	push %r13; push %r14; push %r15\n"
	"	mov %rdi, %rax\n"
	"	mov $0x101, %ebx; mov $0x102, %ecx; mov $0x103, %edx\n"
	"	mov $0x104, %esi; mov $0x105, %edi; mov $0x106, %ebp\n"
	"	mov $0x110, %r8d; mov $0x111, %r9d; mov $0x112, %r10d\n"
	"	mov $0x113, %r11d; mov $0x114, %r12d; mov $0x115, %r13d\n"
	"	mov $0x116, %r14d; mov $0x117, %r15d\n"
	"	call *%rax\n"
	"	pop %r15; pop %r14; pop %r13\n"
	"	pop %r12; pop %rbp; pop %rbx\n"
	"	ret\n"
	"	.popsection\n");

static long call_with_registers(long unused)
{
	void *function = loaded[0].function[stage->place];

	asm volatile("sub $128, %%rsp; call with_registers; add $128, %%rsp"
		     : "+D" (function)
		     :: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
			"memory", "cc");
	return 0;
}

TEST_F(sites, hits)
{
	struct target *target = &self->target;
	struct marker again = marker_of(HIT);
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(0, semaphore(target, HIT), "the semaphore before");
	hit(target, HIT, 3);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "armed");
	is(0, other_semaphores(target, HIT), "and no other semaphore is");
	is(0, hits_of(&tracer, COOKIE(HIT)), "no hit is counted");
	hit(target, HIT, 20);
	are_hits(&tracer, target, HIT, 20, "hits");
	is(20, hits_of(&tracer, COOKIE(HIT)), "are counted, too");
	hit(target, PLAIN, 3);
	are_none(&tracer, "hits of another marker");
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	hit(target, HIT, 5);
	are_none(&tracer, "hits after DISARM");
	again.cookie = COOKIE(PLACES);
	arm_marker(&tracer, again);
	is(1, semaphore(target, HIT), "armed again");
	is(0, hits_of(&tracer, COOKIE(PLACES)), "counted from 0 on");
	hit(target, HIT, 2);
	is(2, gather(tracer.session, 2), "hits");
	is(2, hits_of(&tracer, COOKIE(PLACES)), "counted");
	leave(&tracer);
	is(0, semaphore(target, HIT), "the target is detached");
	hit(target, HIT, 5);
	are_none(&tracer, "hits after DETACH");
	trace_by(&tracer, tracer.session, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the next target");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "closed");
	hit(target, HIT, 5);
}

static const enum place markers[] = {
	HIT, TWELVE, FIRST, SECOND, GUARDED, PLAIN,
};

#define MARKERS		((int)ARRAY_SIZE(markers))

TEST_F(sites, all_markers)
{
	struct target *target = &self->target;
	struct utrace_hit_count counts[MARKERS + 1];
	struct tracer tracer;
	__u32 filled;
	int i, good = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(0, marker_counts(&tracer, NULL, 0, &filled), "no marker");
	for (i = 0; i < MARKERS; i++)
		arm_place(&tracer, markers[i]);
	for (i = 0; i < MARKERS; i++) {
		hit(target, markers[i], i + 1);
		are_hits(&tracer, target, markers[i], i + 1,
			 function_names[markers[i]]);
	}
	memset(counts, 0x5a, sizeof(counts));
	is(MARKERS, marker_counts(&tracer, counts, MARKERS + 1, &filled),
	   "counts");
	is(MARKERS, filled, "all of them");
	for (i = 0; i < MARKERS; i++)
		good += counts[i].cookie == COOKIE(markers[i]) &&
			counts[i].id == tracer.ids[markers[i]] &&
			counts[i].hits == i + 1ULL && !counts[i].missed &&
			!counts[i].reserved;
	is(MARKERS, good, "in the order of ARM, and right");
	is(MARKERS, marker_counts(&tracer, counts, 2, &filled), "room for 2");
	is(2, filled, "and 2 are filled in");
	is(MARKERS, marker_counts(&tracer, NULL, 0, &filled), "no room");
	is(-EFAULT, marker_counts(&tracer, (void *)8, 1, &filled), "EFAULT");
	untrace(&tracer);
	have(target, SELF, read_semaphores, 0);
	for (i = 0; i < PLACES; i++)
		good -= !!stage->semaphore[i];
	is(MARKERS, good, "closed: no semaphore is left");
}

TEST_F(sites, two_places_with_one_semaphore)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, FIRST);
	is(1, semaphore(target, FIRST), "one of two");
	hit(target, SECOND, 3);
	are_none(&tracer, "hits of the other one");
	arm_place(&tracer, SECOND);
	is(2, semaphore(target, FIRST), "both");
	hit(target, SECOND, 3);
	are_hits(&tracer, target, SECOND, 3, "hits of the second");
	disarm_place(&tracer, FIRST);
	is(1, semaphore(target, FIRST), "the first one is disarmed");
	hit(target, FIRST, 3);
	are_none(&tracer, "hits of the first");
	hit(target, SECOND, 3);
	are_hits(&tracer, target, SECOND, 3, "hits of the second");
	disarm_place(&tracer, SECOND);
	is(0, semaphore(target, FIRST), "both are disarmed");
	untrace(&tracer);
}

/* A marker as programs have them is passed by without its semaphore. */
TEST_F(sites, guarded)
{
	struct target *target = &self->target;
	struct marker arg = marker_of(GUARDED);
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	hit(target, GUARDED, 1);
	is(0, stage->result, "not armed: passed by");
	arm_place(&tracer, GUARDED);
	hit(target, GUARDED, 10);
	is(1, stage->result, "armed: not passed by");
	are_hits(&tracer, target, GUARDED, 10, "hits");
	disarm_place(&tracer, GUARDED);
	hit(target, GUARDED, 1);
	is(0, stage->result, "disarmed: passed by");
	arg.site.semaphore = 0;
	arm_marker(&tracer, arg);
	hit(target, GUARDED, 1);
	is(0, stage->result, "armed without the semaphore: passed by");
	are_none(&tracer, "and not recorded");
	untrace(&tracer);
}

/* Another process has mapped the same file. */
TEST_F(sites, bystander)
{
	struct target *target = &self->target, other;
	struct tracer tracer;

	start_sites(&other);
	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	is(0, semaphore(&other, HIT), "the semaphore of a bystander");
	hit(&other, HIT, 10);
	are_none(&tracer, "its hits");
	is(0, hits_of(&tracer, COOKIE(HIT)), "nor are they counted");
	have(target, SELF, look_around, 0);
	is(1, semaphore(target, HIT), "that of the target");
	hit(target, HIT, 10);
	are_hits(&tracer, target, HIT, 10, "hits of the target");
	untrace(&tracer);
	is(0, semaphore(&other, HIT), "a bystander at the end");
	stop(&other);
}

TEST_F(sites, only_counted)
{
	struct target *target = &self->target;
	struct marker arg = marker_of(HIT);
	struct tracer tracer, other;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.flags = UTRACE_ARM_F_COUNT;
	id = arm_marker(&tracer, arg);
	arm_place(&tracer, PLAIN);
	is(1, semaphore(target, HIT), "UTRACE_ARM_F_COUNT has the semaphore");
	hit(target, HIT, 100);
	are_none(&tracer, "records");
	is(100, hits_of(&tracer, COOKIE(HIT)), "counted");
	hit(target, PLAIN, 2);
	are_hits(&tracer, target, PLAIN, 2, "another marker is recorded");
	is(100, hits_of(&tracer, COOKIE(HIT)), "counts are kept apart");
	trace_by(&other, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&other, HIT);
	hit(target, HIT, 7);
	are_hits(&other, target, HIT, 7, "another target records the marker");
	is(107, hits_of(&tracer, COOKIE(HIT)), "  which the first one counts");
	leave(&other);
	disarm_marker(&tracer, id);
	is(0, semaphore(target, HIT), "disarmed");
	untrace(&tracer);
}

/* Arguments. */

#define IN_REG(bytes, name) { \
	.size = (bytes), .kind = UTRACE_ARG_REG, .reg = REG(name), \
	.index = NONE }
#define IN_MEM(bytes, base, idx, by, where) { \
	.size = (bytes), .kind = UTRACE_ARG_MEM, .reg = (base), \
	.index = (idx), .scale = (by), .disp = (long)(where) }
#define AT_DI(bytes, where)	IN_MEM(bytes, REG(DI), NONE, 0, where)
#define AT_ADDRESS(bytes, where) IN_MEM(bytes, NONE, NONE, 0, where)
#define IS_CONST(bytes, value) { \
	.size = (bytes), .kind = UTRACE_ARG_CONST, .reg = NONE, \
	.index = NONE, .disp = (value) }

/* Take over the arguments of a marker at the entry of probed_add(). */
static void hit_with_args(struct tracer *tracer, struct target *target,
			  order_fn *call, const struct utrace_marker_arg *args,
			  int n)
{
	struct marker arg = marker_of(ADD);
	__u32 id;

	keep_args(&arg, n);
	memcpy(arg.site.args, args, n * sizeof(*args));
	id = arm_marker(tracer, arg);
	stage->place = ADD;
	have(target, SELF, call, 1);
	disarm_marker(tracer, id);
}

static void check_args(struct tracer *tracer, struct target *target, order_fn *call,
		       const struct utrace_marker_arg *args, const __u64 *want,
		       int n, __u32 faulted)
{
	struct utrace_rec_marker *rec;
	int i;

	hit_with_args(tracer, target, call, args, n);
	if (!is(1, gather(tracer->session, 1), "a hit"))
		return;
	rec = (void *)find(UTRACE_REC_MARKER, target->pid);
	if (!holds(rec && (int)rec->nargs == n, "with %d arguments", n))
		return;
	is(faulted, rec->faulted, "those that cannot be read");
	for (i = 0; i < n; i++)
		holds(hit_args(rec)[i] == want[i], "argument %d: %llx, %llx", i,
		      hit_args(rec)[i], want[i]);
}

TEST_F(sites, arguments_in_registers)
{
	static const struct utrace_marker_arg args[] = {
		IN_REG(1, DI), IN_REG(2, DI), IN_REG(4, DI), IN_REG(8, DI),
		IN_REG(-1, DI), IN_REG(-2, DI), IN_REG(-4, DI), IN_REG(-8, DI),
		IN_REG(-1, SI), IN_REG(-2, SI), IN_REG(-4, SI), IN_REG(-8, SI),
	};
	static const __u64 want[] = {
		0x88, 0x8788, 0x85868788, 0x8182838485868788, -0x78L, -0x7878L,
		-0x7a797878L, 0x8182838485868788, 0x11, 0x2211, 0x44332211,
		0x8877665544332211,
	};
	static const struct utrace_marker_arg constants[] = {
		IS_CONST(-8, INT64_MIN), IS_CONST(8, -1), IS_CONST(-4, -5),
		IS_CONST(4, 5), IS_CONST(-1, -128), IS_CONST(1, 127),
	};
	static const __u64 numbers[] = {
		1ULL << 63, -1ULL, -5ULL, 5, -128ULL, 127,
	};
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	stage->a = 0x8182838485868788;
	stage->b = 0x8877665544332211;
	check_args(&tracer, target, hit_here, args, want, 12, 0);
	check_args(&tracer, target, hit_here, constants, numbers, 6, 0);
	check_args(&tracer, target, hit_here, NULL, NULL, 0, 0);
	untrace(&tracer);
}

TEST_F(sites, each_register)
{
	static const struct utrace_marker_arg args[] = {
		IN_REG(8, BX), IN_REG(8, CX), IN_REG(8, DX), IN_REG(8, SI),
		IN_REG(8, DI), IN_REG(8, BP), IN_REG(8, AX), IN_REG(8, IP),
	};
	static const struct utrace_marker_arg high[] = {
		IN_REG(8, R8), IN_REG(8, R9), IN_REG(8, R10), IN_REG(8, R11),
		IN_REG(8, R12), IN_REG(8, R13), IN_REG(8, R14), IN_REG(8, R15),
	};
	const __u64 ip = stage->bias[0] + site[ADD].address;
	const __u64 want[] = {
		0x101, 0x102, 0x103, 0x104, 0x105, 0x106, ip, ip,
	};
	static const __u64 more[] = {
		0x110, 0x111, 0x112, 0x113, 0x114, 0x115, 0x116, 0x117,
	};
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	check_args(&tracer, target, call_with_registers, args, want, 8, 0);
	check_args(&tracer, target, call_with_registers, high, more, 8, 0);
	untrace(&tracer);
}

#define AT	(area + PAGE)

TEST_F(sites, arguments_in_memory)
{
	static const struct utrace_marker_arg args[] = {
		AT_DI(1, 0), AT_DI(2, 0), AT_DI(4, 0), AT_DI(8, 0),
		AT_DI(-1, 0), AT_DI(-2, 0), AT_DI(-4, 0), AT_DI(-8, 0),
		AT_DI(8, -64), AT_DI(8, 64), AT_ADDRESS(8, AT),
		AT_ADDRESS(8, AT + 64),
	};
	static const __u64 want[] = {
		0x88, 0x8788, 0x85868788, 0x8182838485868788, -0x78L, -0x7878L,
		-0x7a797878L, 0x8182838485868788, 1, 2, 0x8182838485868788, 2,
	};
	/* The index is 3. */
	static const struct utrace_marker_arg indexed[] = {
		IN_MEM(1, REG(DI), REG(SI), 1, 0),
		IN_MEM(1, REG(DI), REG(SI), 2, 0),
		IN_MEM(1, REG(DI), REG(SI), 4, 1),
		IN_MEM(1, REG(DI), REG(SI), 8, -17),
		IN_MEM(8, NONE, REG(SI), 8, AT + 40),
		IN_MEM(1, REG(SI), REG(DI), 1, 0),
	};
	static const __u64 found[] = { 0x85, 0x82, 0, 0x81, 2, 0x85 };
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	put(target, AT - 64, 8, 1);
	put(target, AT, 8, 0x8182838485868788);
	put(target, AT + 64, 8, 2);
	stage->a = (long)AT;
	stage->b = 3;
	check_args(&tracer, target, hit_here, args, want, 12, 0);
	check_args(&tracer, target, hit_here, indexed, found, 6, 0);
	/* An index may be negative. */
	stage->b = -8;
	check_args(&tracer, target, hit_here, &(struct utrace_marker_arg)
		   IN_MEM(8, REG(DI), REG(SI), 8, 0), &want[8], 1, 0);
	untrace(&tracer);
}

TEST_F(sites, arguments_that_cannot_be_read)
{
	static const struct utrace_marker_arg args[] = {
		AT_ADDRESS(8, 0), AT_ADDRESS(8, PLACE - 8),
		AT_ADDRESS(8, PLACE), AT_ADDRESS(8, PLACE - 1),
		AT_ADDRESS(-4, PLACE + PAGE - 3),
		AT_ADDRESS(-4, PLACE + PAGE - 4),
		/* No user memory; the end of all memory. */
		AT_ADDRESS(8, 0xffffffff81000000),
		AT_ADDRESS(8, 0xffff888000000000),
		AT_ADDRESS(8, -8), AT_ADDRESS(8, -1),
		AT_ADDRESS(8, 0x7ffffffff000),
		IN_REG(8, DI),
	};
	const __u64 want[] = { [2] = 7, [5] = -2, [11] = A };
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_new_page, 0);
	put(target, PLACE, 8, 7);
	put(target, PLACE + PAGE - 4, 4, -2);
	check_args(&tracer, target, hit_here, args, want, 12, 0x7db);
	untrace(&tracer);
}

/* Memory of the library that was not accessed yet need not be there. */
TEST_F(sites, argument_that_is_not_in_memory)
{
	static const struct utrace_marker_arg arg = AT_DI(4, 0);
	struct target *target = &self->target;
	struct utrace_rec_marker *rec;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_library, 0);
	stage->a = (long)PLACE;
	hit_with_args(&tracer, target, hit_here, &arg, 1);
	need(gather(tracer.session, 1) == 1, "a hit");
	rec = (void *)find(UTRACE_REC_MARKER, 0);
	holds(rec->faulted ? rec->faulted == 1 && !hit_args(rec)[0] :
	      hit_args(rec)[0] == 0x464c457f, "%x, argument %llx", rec->faulted,
	      hit_args(rec)[0]);
	untrace(&tracer);
}

/* Errors. */

/* ARM with one thing changed is refused. */
#define REFUSED(error, text, ...)					\
({									\
	struct marker arg = marker_of(HIT);			\
									\
	__VA_ARGS__;							\
	is(-(error), try_arm(&tracer, &arg), text);			\
})

TEST_F(sites, refused)
{
	struct target *target = &self->target;
	struct tracer tracer;
	struct stat file;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	need(!fstat(library_fd, &file), "fstat");
	REFUSED(EINVAL, "a flag of ARM", arg.flags = 4);
	REFUSED(EINVAL, "the highest flag of ARM", arg.flags = 1U << 31);
	REFUSED(EINVAL, "a flag of sites", arg.site.flags = 2);
	REFUSED(EINVAL, "the highest flag of sites", arg.site.flags = 1U << 31);
	REFUSED(EINVAL, "reserved", arg.site.reserved = 1);
	REFUSED(EINVAL, "13 arguments", arg.site.nargs = 13);
	REFUSED(EINVAL, "-1 argument", arg.site.nargs = -1);
	REFUSED(EINVAL, "an odd semaphore", arg.site.semaphore++);
	REFUSED(EINVAL, "a semaphore behind the end",
		arg.site.semaphore = (file.st_size + 7) & ~7UL);
	REFUSED(EINVAL, "a negative semaphore", arg.site.semaphore = 1ULL << 63);
	REFUSED(EINVAL, "the end of the file", arg.site.offset = file.st_size);
	REFUSED(EINVAL, "behind it", arg.site.offset = file.st_size + PAGE);
	REFUSED(EINVAL, "a negative offset", arg.site.offset = -PAGE);
	REFUSED(EINVAL, "the least offset", arg.site.offset = 1ULL << 63);
	REFUSED(EINVAL, "a histogram that is a count", keep_args(&arg, 1);
		arg.flags = UTRACE_ARM_F_COUNT | UTRACE_ARM_F_HISTOGRAM);
	REFUSED(EBADF, "no descriptor", arg.site.fd = -1);
	REFUSED(EBADF, "a closed descriptor", arg.site.fd = 1000);
	is(0, semaphore(target, HIT), "nothing is armed");
	hit(target, HIT, 3);
	are_none(&tracer, "  and nothing is recorded");
	arm_place(&tracer, HIT);
	REFUSED(EEXIST, "armed twice", arg.cookie = COOKIE(HIT));
	REFUSED(EEXIST, "with another cookie", arg.cookie++);
	REFUSED(EEXIST, "with other arguments", keep_args(&arg, 0));
	REFUSED(EEXIST, "only counted", arg.flags = UTRACE_ARM_F_COUNT);
	is(1, semaphore(target, HIT), "armed once");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "hits");
	untrace(&tracer);
}

TEST_F(sites, refused_arguments)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int sizes[] = { 0, 3, 5, 6, 7, 9, 16, 127, -3, -16, -128 };
	int regs[] = { 24, 25, 31, 32, 62, 63, 64, 127, 128, 254 };
	int scales[] = { 0, 3, 5, 16, 255 };
	size_t i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		REFUSED(EINVAL, "a size", arg.site.args[0].size = sizes[i]);
	for (i = 0; i < sizeof(regs) / sizeof(*regs); i++) {
		REFUSED(EINVAL, "a register", arg.site.args[0].reg = regs[i]);
		REFUSED(EINVAL, "a base", arg.site.args[1].reg = regs[i]);
		REFUSED(EINVAL, "an index", arg.site.args[1].index = regs[i];
			arg.site.args[1].scale = 1);
	}
	for (i = 0; i < sizeof(scales) / sizeof(*scales); i++)
		REFUSED(EINVAL, "a scale", arg.site.args[1].index = REG(AX);
			arg.site.args[1].scale = scales[i]);
	REFUSED(EINVAL, "a scale without index", arg.site.args[1].scale = 1);
	REFUSED(EINVAL, "no kind", arg.site.args[0].kind = 0);
	REFUSED(EINVAL, "a kind", arg.site.args[0].kind = 4);
	REFUSED(EINVAL, "another kind", arg.site.args[2].kind = 255);
	REFUSED(EINVAL, "no register", arg.site.args[0].reg = NONE);
	REFUSED(EINVAL, "a register with an index", arg.site.args[0].index = REG(AX));
	REFUSED(EINVAL, "a register with a scale", arg.site.args[0].scale = 1);
	REFUSED(EINVAL, "a register with a number", arg.site.args[0].disp = 1);
	REFUSED(EINVAL, "a constant with a register",
		arg.site.args[0].kind = UTRACE_ARG_CONST);
	REFUSED(EINVAL, "a constant with an index",
		arg.site.args[0] = (struct utrace_marker_arg)IS_CONST(8, 1);
		arg.site.args[0].index = REG(AX));
	REFUSED(EINVAL, "behind the last one",
		arg.site.args[arg.site.nargs].disp = 1);
	REFUSED(EINVAL, "reserved", arg.site.args[0].reserved[0] = 1);
	REFUSED(EINVAL, "reserved", arg.site.args[2].reserved[2] = 0x80);
	is(0, semaphore(target, HIT), "nothing is armed");
	arm_place(&tracer, HIT);
	hit(target, HIT, 1);
	are_hits(&tracer, target, HIT, 1, "without a change ARM is good");
	untrace(&tracer);
}

/* DISARM by number, which nothing has. */
static void is_no_id(struct tracer *tracer, __u32 id, const char *text)
{
	is(-ENOENT, disarm_id(tracer->session, id), text);
}

TEST_F(sites, refused_disarm)
{
	struct utrace_ioc_disarm arg = {};
	struct target *target = &self->target;
	struct tracer tracer, other;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace(&other, target->pid, UTRACE_SCOPE_PROCESS);
	is_no_id(&tracer, 0, "nothing is armed: 0");
	is_no_id(&tracer, 1, "  1");
	is_no_id(&tracer, ~0U, "  the highest id");
	arm_place(&tracer, HIT);
	holds(tracer.ids[HIT] > 0, "the id is %u", tracer.ids[HIT]);
	is_no_id(&other, tracer.ids[HIT], "armed by another session");
	is_no_id(&tracer, 0, "0");
	is_no_id(&tracer, tracer.ids[HIT] + 1, "the next id");
	arg.id = tracer.ids[HIT];
	arg.flags = 1;
	is(-EINVAL, command(tracer.session, UTRACE_IOC_DISARM, &arg), "a flag");
	arg.flags = 1U << 31;
	is(-EINVAL, command(tracer.session, UTRACE_IOC_DISARM, &arg),
	   "the highest flag");
	is(-EFAULT, command(tracer.session, UTRACE_IOC_DISARM, (void *)8),
	   "EFAULT");
	is(1, semaphore(target, HIT), "still armed");
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	is_no_id(&tracer, tracer.ids[HIT], "disarmed twice");
	arg.id = tracer.ids[HIT];
	arm_place(&tracer, HIT);
	holds(arg.id != tracer.ids[HIT], "armed again, with another id");
	is_no_id(&tracer, arg.id, "the id of before");
	is(1, semaphore(target, HIT), "still armed");
	leave(&tracer);
	is_no_id(&tracer, tracer.ids[HIT], "when the target is detached");
	untrace(&tracer);
	untrace(&other);
}

/* ARM with one thing of its argument changed is refused. */
#define ARM_REFUSED(error, text, ...)					\
({									\
	struct marker marker = marker_of(HIT);				\
	struct utrace_ioc_arm arg = arm_of(&tracer, &marker);		\
									\
	__VA_ARGS__;							\
	is(-(error), command(tracer.session, UTRACE_IOC_ARM, &arg), text);	\
})

TEST_F(sites, refused_arm)
{
	struct target *target = &self->target;
	struct tracer tracer, other;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	trace(&other, target->pid, UTRACE_SCOPE_PROCESS);
	trace_by(&other, other.session, target->pid, UTRACE_SCOPE_TREE);
	ARM_REFUSED(ENOENT, "no target", arg.target = 0);
	ARM_REFUSED(ENOENT, "an unknown target", arg.target = 77);
	ARM_REFUSED(ENOENT, "a target of another session",
		    arg.target = other.target);
	ARM_REFUSED(EINVAL, "no type", arg.type = 0);
	ARM_REFUSED(EINVAL, "an unknown type", arg.type = UTRACE_ARM_USER_EVENT + 1);
	ARM_REFUSED(EINVAL, "the highest type", arg.type = ~0U);
	ARM_REFUSED(EINVAL, "reserved", arg.reserved = 1);
	ARM_REFUSED(EFAULT, "no structure", arg.spec = 0);
	ARM_REFUSED(EFAULT, "a structure that is not there", arg.spec = 8);
	ARM_REFUSED(EFAULT, "a structure of the kernel",
		    arg.spec = 0xffffffff81000000);
	ARM_REFUSED(EINVAL, "no size", arg.spec_size = 0);
	ARM_REFUSED(EINVAL, "a size that is too small",
		    arg.spec_size = UTRACE_MARKER_SIZE_VER0 - 8);
	ARM_REFUSED(E2BIG, "more than 4096 bytes", arg.spec_size = 4104);
	is(-EFAULT, command(tracer.session, UTRACE_IOC_ARM, (void *)8),
	   "no argument");
	is(0, semaphore(target, HIT), "nothing is armed");
	ARM_REFUSED(0, "without a change ARM is good", arg.error = 7);
	is(1, semaphore(target, HIT), "armed");
	untrace(&tracer);
	untrace(&other);
}

/* Each scope whose targets have no place for a breakpoint. */
TEST_F(sites, refused_scopes)
{
	int exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), ret;
	struct target *target = &self->target;
	struct marker arg = marker_of(HIT);
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_THREAD);
	is(-EOPNOTSUPP, try_arm(&tracer, &arg), "a thread");
	need(exe >= 0, "/proc/self/exe");
	ret = attach_fd(tracer.session, exe, UTRACE_SCOPE_EXE);
	need(ret > 0, "attach to an executable");
	tracer.target = ret;
	is(-EOPNOTSUPP, try_arm(&tracer, &arg), "an executable");
	close(exe);
	is(0, semaphore(target, HIT), "nothing is armed");
	is(0, word_engines(target->pid), "  and there is no engine");
	untrace(&tracer);
}

/* The argument is read-only memory: ARM cannot write the id, and arms nothing. */
TEST_F(sites, read_only_argument)
{
	struct target *target = &self->target;
	struct marker marker = marker_of(HIT);
	struct utrace_ioc_arm *arg;
	struct tracer tracer;
	__u32 filled;

	arg = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	need(arg != MAP_FAILED, "memory");
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	*arg = arm_of(&tracer, &marker);
	need(!mprotect(arg, PAGE, PROT_READ), "mprotect");
	is(-EFAULT, command(tracer.session, UTRACE_IOC_ARM, arg), "ARM");
	is(0, semaphore(target, HIT), "  nothing is armed");
	is(0, marker_counts(&tracer, NULL, 0, &filled), "  nor counted");
	hit(target, HIT, 3);
	are_none(&tracer, "  hits");
	need(!mprotect(arg, PAGE, PROT_READ | PROT_WRITE), "mprotect");
	is(0, command(tracer.session, UTRACE_IOC_ARM, arg), "ARM of the same");
	is(1, semaphore(target, HIT), "  armed");
	is(0, disarm_id(tracer.session, arg->id), "  disarmed");
	munmap(arg, PAGE);
	untrace(&tracer);
}

/* Reading counts. */

/* READ with one thing changed is refused. */
#define READ_REFUSED(error, text, ...)					\
({									\
	struct utrace_hit_count row;					\
	struct utrace_ioc_hits arg = {					\
		.rows = { .at = (uintptr_t)&row, .n = 1,		\
			  .size = sizeof(row) },			\
		.target = tracer.target,				\
		.what = UTRACE_HITS_COUNT,				\
	};								\
									\
	__VA_ARGS__;							\
	is(-(error), command(tracer.session, UTRACE_IOC_HITS, &arg), text);	\
})

TEST_F(sites, refused_read)
{
	struct target *target = &self->target;
	struct tracer tracer, other;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	trace_by(&other, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&other, PLAIN);
	READ_REFUSED(EINVAL, "what is 0", arg.what = 0);
	READ_REFUSED(EINVAL, "an unknown what", arg.what = UTRACE_HITS_HISTOGRAM + 1);
	READ_REFUSED(EINVAL, "reserved", arg.reserved = 1);
	READ_REFUSED(EINVAL, "reserved of the rows", arg.rows.reserved = 1);
	READ_REFUSED(EINVAL, "rows without a size", arg.rows.size = 0);
	READ_REFUSED(EINVAL, "rows that are too small",
		     arg.rows.size = UTRACE_HIT_COUNT_SIZE_VER0 - 8);
	READ_REFUSED(E2BIG, "rows of more than 4096 bytes", arg.rows.size = 4104);
	READ_REFUSED(EFAULT, "rows that are not there", arg.rows.at = 8);
	READ_REFUSED(ENOENT, "no target", arg.target = 0);
	READ_REFUSED(ENOENT, "an unknown target", arg.target = 77);
	READ_REFUSED(ENOENT, "an unknown id", arg.id = ~0U);
	READ_REFUSED(ENOENT, "an id of another target", arg.id = other.ids[PLAIN]);
	READ_REFUSED(0, "without a change HITS is good", arg.rows.total = 7);
	READ_REFUSED(ENOENT, "an id that was disarmed",
		     disarm_place(&tracer, HIT); arg.id = tracer.ids[HIT]);
	READ_REFUSED(ENOENT, "a target that was detached", leave(&tracer));
	untrace(&tracer);
}

/* Rows may be longer than those of the kernel. */
TEST_F(sites, counts_by_id)
{
	struct { struct utrace_hit_count count; __u64 more; } longer[2];
	struct utrace_rows rows = {
		.at = (uintptr_t)longer, .size = sizeof(*longer),
	};
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	arm_place(&tracer, PLAIN);
	hit(target, HIT, 3);
	hit(target, PLAIN, 5);
	memset(longer, 0x5a, sizeof(longer));
	rows.n = 2;
	is(1, try_read(&tracer, UTRACE_HITS_COUNT, tracer.ids[PLAIN], &rows),
	   "one row");
	is(1, rows.n, "  is filled in");
	is(tracer.ids[PLAIN], longer[0].count.id, "  the id");
	is(true, longer[0].count.cookie == COOKIE(PLAIN), "  the cookie");
	is(5, longer[0].count.hits, "  the hits");
	is(0, longer[0].more, "  what the kernel does not know");
	is(0x5a, *(unsigned char *)&longer[1], "  and no other is written");
	rows.n = 0;
	is(1, try_read(&tracer, UTRACE_HITS_COUNT, tracer.ids[HIT], &rows),
	   "without room");
	rows.n = 2;
	is(2, try_read(&tracer, UTRACE_HITS_COUNT, 0, &rows), "both");
	is(3, longer[0].count.hits, "  the first one");
	is(5, longer[1].count.hits, "  and the second");
	is(0, longer[1].more, "  what the kernel does not know");
	untrace(&tracer);
}

TEST_HARNESS_MAIN

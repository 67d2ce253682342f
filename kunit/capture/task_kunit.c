// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_capture_task: files and stacks of tasks
 *
 * Tests that need a real task capture in a callback of a probe.
 */
#include <kunit/test.h>
#include <linux/compat.h>
#include <linux/fcntl.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/ptrace.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <asm/unistd.h>

#include "../../syscall_current.h"
#include "fixture.h"
#include "../probe.h"

/* Path of the test program, see user_task.c. */
#define PROGRAM		"/utrace_test_task"

/* Files. */

static int open_fd(struct kunit *test, const char *path, int flags)
{
	struct file *file = filp_open(path, flags, 0);
	int fd = get_unused_fd_flags(0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(file));
	KUNIT_ASSERT_GE(test, fd, 0);
	fd_install(fd, file);
	return fd;
}

static void file_behind_descriptor(struct kunit *test)
{
	static const struct utrace_call openat = {
		.name = "openat",
		.nargs = 2,
		.arg = { { UTRACE_ARG_DFD }, { UTRACE_ARG_FD } },
	};
	struct fixture *f = capture_begin_user(test);
	int fd = open_fd(test, "/", O_RDONLY | O_DIRECTORY);
	int raw = open_fd(test, "/", O_PATH);
	unsigned long args[6] = { AT_FDCWD, fd };

	capture_begin(f);
	utrace_capture_file(&f->c, 2, fd);
	utrace_capture_file(&f->c, 2, raw);
	utrace_capture_file(&f->c, 2, -1);
	utrace_capture_file(&f->c, 2, INT_MAX);
	utrace_capture_file(&f->c, 2, INT_MIN);
	EXPECT_ITEM(test, 0, FILE, 2, 1, 1, 0);
	EXPECT_DATA(test, 0, "/");
	EXPECT_ITEM(test, 1, FILE, 2, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, capture_items(f), 2);
	KUNIT_EXPECT_EQ(test, f->c.lost, 0);

	capture_begin(f);
	utrace_capture_entry(&f->c, &openat, UTRACE_ABI_NATIVE, args,
			     UTRACE_CAPTURE_FILES);
	/* AT_FDCWD is the working directory. */
	EXPECT_ITEM(test, 0, FILE, 0, 1, 1, 0);
	EXPECT_ITEM(test, 1, FILE, 1, 1, 1, 0);
	args[0] = raw;
	utrace_capture_entry(&f->c, &openat, UTRACE_ABI_NATIVE, args,
			     UTRACE_CAPTURE_FILES);
	EXPECT_ITEM(test, 2, FILE, 0, 1, 1, 0);
	KUNIT_EXPECT_EQ(test, capture_items(f), 4);
	close_fd(raw);
	close_fd(fd);
	capture_expect_sound(test);
}

/* Stacks. */

/* struct pt_regs of UML is too large for a kernel stack. */
static struct pt_regs *make_regs(struct kunit *test, unsigned long ip,
				 unsigned long sp, unsigned long bp)
{
	struct pt_regs *regs = kunit_kzalloc(test, sizeof(*regs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, regs);
#ifdef CONFIG_UML
	UPT_IP(&regs->regs) = ip;
	UPT_SP(&regs->regs) = sp;
	UPT_BP(&regs->regs) = bp;
#else
	regs->ip = ip;
	regs->sp = sp;
	regs->bp = bp;
	regs->cs = __USER_CS;
#endif
	return regs;
}

/* Write frames (@count words) to @to, and walk them from there. */
static void walk(struct kunit *test, unsigned long to, const u64 *words,
		 size_t count)
{
	struct fixture *f = capture_fixture(test);

	capture_poke(test, to, words, count * sizeof(*words));
	capture_begin(f);
	utrace_capture_stack(&f->c, make_regs(test, 0x1234, to, to));
	KUNIT_EXPECT_EQ(test, capture_items(f), 1);
	KUNIT_EXPECT_EQ(test, *(u64 *)capture_nth(test, 0)->data, 0x1234);
	capture_expect_sound(test);
}

static void stack_is_walked(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long at = f->user + 64;
	const u64 words[] = { at + 16, 11, at + 32, 12, 0, 13 };
	static const u64 want[] = { 0x1234, 11, 12, 13 };

	walk(test, at, words, ARRAY_SIZE(words));
	EXPECT_ITEM(test, 0, STACK, NO_ARG, sizeof(want), sizeof(want), 0);
	capture_expect_data(test, 0, 0, want, sizeof(want));
}

/* The second frame is at addresses where the walk must stop. */
static void stack_stops(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	unsigned long at = f->user + 64;
	const struct {
		u64 next;
		unsigned int flags;
	} row[] = {
		{ at, 0 },
		{ at - 16, 0 },
		{ at + 20, 0 },
		{ ~7UL, FAULTED },
		{ f->end, FAULTED },
		{ f->end - 8, FAULTED },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		u64 words[] = { row[i].next, 11 };

		walk(test, at, words, ARRAY_SIZE(words));
		EXPECT_ITEM(test, 0, STACK, NO_ARG, 16, 16, row[i].flags);
	}
}

static void stack_is_bounded(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	u64 words[2 * 40];
	unsigned int i;

	for (i = 0; i < 40; i++) {
		words[2 * i] = f->user + 16 * (i + 1);
		words[2 * i + 1] = i;
	}
	walk(test, f->user, words, ARRAY_SIZE(words));
	EXPECT_ITEM(test, 0, STACK, NO_ARG, 32 * 8, 32 * 8, TRUNCATED);
}

#ifdef CONFIG_IA32_EMULATION
static void stack_of_narrow_task(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	/* An address that a 32-bit pointer can have. */
	unsigned long at = vm_mmap(NULL, 0x10000, PAGE_SIZE,
				   PROT_READ | PROT_WRITE,
				   MAP_ANONYMOUS | MAP_PRIVATE | MAP_FIXED, 0);
	const u32 words[] = { at + 12, 11, 0, 0, 12 };
	static const u64 want[] = { 0x1234, 11, 12 };
	struct pt_regs *regs = make_regs(test, 0x1234, at, at);

	KUNIT_ASSERT_EQ(test, at, 0x10000UL);
	capture_poke(test, at, words, sizeof(words));
	capture_begin(f);
	regs->cs = __USER32_CS;
	utrace_capture_stack(&f->c, regs);
	EXPECT_ITEM(test, 0, STACK, NO_ARG, 24, 24, 0);
	capture_expect_data(test, 0, 0, want, sizeof(want));
}
#endif

static void raw_stack(struct kunit *test)
{
	struct fixture *f = capture_begin_user(test);
	const struct utrace_item_raw_stack want = {
		.size = sizeof(want), .ip = 1, .sp = f->end - 4, .bp = 3,
	};

	capture_poke(test, want.sp, "wxyz", 4);
	capture_begin(f);
	utrace_capture_raw_stack(&f->c, make_regs(test, want.ip, want.sp,
						  want.bp));
	EXPECT_ITEM(test, 0, RAW_STACK, NO_ARG, sizeof(want) + 4,
		    sizeof(want) + 4, FAULTED);
	capture_expect_data(test, 0, 0, &want, sizeof(want));
	capture_expect_data(test, 0, sizeof(want), "wxyz", 4);
	utrace_capture_raw_stack(&f->c, make_regs(test, 1, f->user, 3));
	EXPECT_ITEM(test, 1, RAW_STACK, NO_ARG, ITEM_DATA, ITEM_DATA,
		    TRUNCATED);
	capture_expect_sound(test);
}

/* In a real task. */

/* The function that the callback calls to capture, and its fixture. */
struct in_task {
	void (*take)(struct fixture *f, struct pt_regs *regs);
	struct fixture *f;
};

static u32 take_in_task(struct probe *p, struct probe_call *c)
{
	const struct in_task *in = (const struct in_task *)p->word[0];

	capture_begin(in->f);
	in->take(in->f, c->regs);
	return UTRACE_RESUME | PROBE_KEEP;
}

/* Make @take run in @t at @event, for system call @nr. */
static struct probe *arm(struct user_task *t, struct in_task *in,
			 unsigned long event, int nr)
{
	struct probe *p = probe_attach(t, 0, 0);

	p->nr = nr;
	p->word[0] = (long)in;
	p->hook = take_in_task;
	probe_set_events(p, event);
	return p;
}

static void take_exec(struct fixture *f, struct pt_regs *regs)
{
	utrace_capture_exec(&f->c, &init_user_ns);
}

/* Make @take run when a task executes the test program. */
static void execute(struct kunit *test, struct in_task *in)
{
	struct user_task *t = user_task_start(test);
	struct probe *p = arm(t, in, UTRACE_EVENT(EXEC), PROBE_ANY_NR);

	user_task_do(t, .op = USER_EXEC);
	user_task_hello(t);
	probe_detach(p);
	capture_expect_sound(test);
}

static void exec_of_task(struct kunit *test)
{
	struct in_task in = { take_exec, capture_fixture(test) };
	const size_t len = strlen(PROGRAM);
	const struct utrace_item_creds *creds;

	execute(test, &in);
	EXPECT_ITEM(test, 0, EXE, NO_ARG, len, len, 0);
	capture_expect_data(test, 0, 0, PROGRAM, len);
	EXPECT_ITEM(test, 1, ARGV, NO_ARG, len + 1, len + 1, 0);
	capture_expect_data(test, 1, 0, PROGRAM, len + 1);
	EXPECT_ITEM(test, 2, CWD, NO_ARG, 1, 1, 0);
	EXPECT_ITEM(test, 3, CREDS, NO_ARG, sizeof(*creds), sizeof(*creds), 0);
	creds = (const void *)capture_nth(test, 3)->data;
	KUNIT_EXPECT_EQ(test, creds->fsuid, 0);
	KUNIT_EXPECT_NE(test, creds->cap_effective, 0);
	KUNIT_EXPECT_EQ(test, capture_items(capture_fixture(test)), 4);
}

static void take_stacks(struct fixture *f, struct pt_regs *regs)
{
	utrace_capture_stack(&f->c, regs);
	utrace_capture_raw_stack(&f->c, regs);
}

static void stacks_of_task(struct kunit *test)
{
	struct in_task in = { take_stacks, capture_fixture(test) };
	const size_t head = sizeof(struct utrace_item_raw_stack);
	const u64 argc = 1;

	execute(test, &in);
	/*
	 * The program has called no function yet, so the stack has one address.
	 */
	EXPECT_ITEM(test, 0, STACK, NO_ARG, 8, 8, 0);
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->kind,
			UTRACE_ITEM_RAW_STACK);
	/* The stack begins with argc. */
	capture_expect_data(test, 1, head, &argc, sizeof(argc));
}

static void take_creds(struct fixture *f, struct pt_regs *regs)
{
	utrace_capture_creds(&f->c, &init_user_ns);
	utrace_capture_file(&f->c, 0, 0);
	utrace_capture_file(&f->c, 1, 3000);
}

static void creds_and_pipe_of_task(struct kunit *test)
{
	static const struct utrace_item_creds want = {
		.uid = 1, .euid = 2, .suid = 3, .fsuid = 2,
		.gid = 4, .egid = 5, .sgid = 6, .fsgid = 5,
	};
	struct in_task in = { take_creds, capture_fixture(test) };
	struct user_task *t = user_task_start(test);
	struct probe *p;

	user_task_syscall(t, __NR_setresgid, 4, 5, 6);
	user_task_syscall(t, __NR_setresuid, 1, 2, 3);
	p = arm(t, &in, UTRACE_EVENT(SYSCALL_ENTRY), __NR_getppid);
	user_task_syscall(t, __NR_getppid);
	probe_detach(p);
	EXPECT_ITEM(test, 0, CREDS, NO_ARG, sizeof(want), sizeof(want), 0);
	capture_expect_data(test, 0, 0, &want, sizeof(want));
	KUNIT_EXPECT_EQ(test, capture_nth(test, 1)->kind, UTRACE_ITEM_FILE);
	capture_expect_data(test, 1, 0, "pipe:[", 6);
	KUNIT_EXPECT_EQ(test, capture_items(capture_fixture(test)), 2);
	capture_expect_sound(test);
}

static void take_arguments(struct fixture *f, struct pt_regs *regs)
{
	struct utrace_call call = {
		.name = "two_arrays",
		.nargs = 3,
		.arg = {
			{ UTRACE_ARG_ARGV },
			utrace_call_of(__NR_writev)->arg[1],
			{ UTRACE_ARG_SIZE },
		},
	};
	unsigned long args[6];

	utrace_current_args(regs, args);
	utrace_capture_entry(&f->c, &call, in_compat_syscall() ?
			     UTRACE_ABI_IA32 : UTRACE_ABI_NATIVE, args, ALL);
}

/* Use equal arrays in the layouts of both tables. */
static void arrays_of_task(struct kunit *test)
{
	struct in_task in = { take_arguments, capture_fixture(test) };
	struct user_task *t = user_task_start(test);
	unsigned long at = user_task_scratch(t);
	struct {
		u64 iov[2][2];
		u64 argv[3];
		char text[8];
	} wide = {
		{ { at + 56, 2 }, { at + 59, 3 } },
		{ at + 56, at + 59, 0 },
		"ab\0cde",
	};
	struct probe *p;

	user_task_poke(t, offsetof(struct user_area, scratch), &wide,
		       sizeof(wide));
	p = arm(t, &in, UTRACE_EVENT(SYSCALL_ENTRY), __NR_getppid);
	user_task_syscall(t, __NR_getppid, at + 32, at, 2);
	probe_detach(p);
	EXPECT_DATA(test, 0, "ab\0cde\0");
	EXPECT_DATA(test, 2, "ab");
	EXPECT_DATA(test, 3, "cde");
	capture_expect_sound(test);
}

#ifdef CONFIG_IA32_EMULATION
static void arrays_of_narrow_call(struct kunit *test)
{
	/* getppid() of the 32-bit table. */
	const unsigned long nr = 64;
	struct in_task in = { take_arguments, capture_fixture(test) };
	struct user_task *t = user_task_start(test);
	unsigned long at = user_task_scratch(t), junk = 0xabcUL << 32;
	struct {
		u32 iov[2][2];
		u32 argv[4];
		char text[8];
	} narrow = {
		{ { at + 32, 2 }, { at + 35, 3 } },
		{ at + 32, at + 35, 0, 0 },
		"ab\0cde",
	};
	struct probe *p;

	user_task_poke(t, offsetof(struct user_area, scratch), &narrow,
		       sizeof(narrow));
	p = arm(t, &in, UTRACE_EVENT(SYSCALL_ENTRY), nr);
	/* The call ignores the upper halves of the registers. */
	user_task_do(t, .op = USER_INT80, .nr = nr,
		     .arg = { junk | (at + 16), junk | at, junk | 2 });
	user_task_result(t);
	probe_detach(p);
	EXPECT_DATA(test, 0, "ab\0cde\0");
	EXPECT_DATA(test, 2, "ab");
	EXPECT_DATA(test, 3, "cde");
	capture_expect_sound(test);
}
#endif

static struct kunit_case capture_task_cases[] = {
	KUNIT_CASE(file_behind_descriptor),
	KUNIT_CASE(stack_is_walked),
	KUNIT_CASE(stack_stops),
	KUNIT_CASE(stack_is_bounded),
	KUNIT_CASE(raw_stack),
	KUNIT_CASE(exec_of_task),
	KUNIT_CASE(stacks_of_task),
	KUNIT_CASE(creds_and_pipe_of_task),
	KUNIT_CASE(arrays_of_task),
#ifdef CONFIG_IA32_EMULATION
	KUNIT_CASE(stack_of_narrow_task),
	KUNIT_CASE(arrays_of_narrow_call),
#endif
	{}
};

static struct kunit_suite capture_task_suite = {
	.name = "utrace_capture_task",
	.init = capture_fixture_init,
	.test_cases = capture_task_cases,
};

kunit_test_suite(capture_task_suite);

MODULE_DESCRIPTION("KUnit suite for what utrace takes of a task");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace tests - KUnit suite utrace_syscall_table: the table of system calls
 *
 * The suite checks that the entries are consistent, and how calls are printed.
 */
#include <kunit/test.h>
#include <linux/fcntl.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/mman.h>
#include <linux/netlink.h>
#include <linux/seq_buf.h>
#include <linux/sched.h>
#include <linux/uio.h>
#include <linux/un.h>
#include <linux/utrace.h>

#include <uapi/linux/wait.h>

#include <asm/unistd.h>

#include "../../capture/capture.h"
#include "../../decode/items.h"
#include "../../decode/print.h"
#include "../../decode/table.h"

#define IA32			UTRACE_SYSCALL_IA32
#define HAVE_IA32		IS_ENABLED(CONFIG_IA32_EMULATION)
#define X32			0x40000000U
#define CALLS			600

/* Numbers of the 32-bit table, for which x86_64 has no names. */
#define IA32_exit		1
#define IA32_getpid		20
#define IA32_mmap		90
#define IA32_socketcall		102
#define IA32_ipc		117
#define IA32_pread64		180
#define IA32_getuid32		199

static void numbers_and_names_agree(struct kunit *test)
{
	const struct utrace_call *call;
	unsigned int nr, table, found = 0;
	int back;

	for (table = 0; table <= IA32; table += IA32) {
		for (nr = 0; nr < CALLS; nr++) {
			call = utrace_call_of(nr | table);
			if (!call)
				continue;
			found++;
			back = utrace_call_nr(call->name, table);
			KUNIT_ASSERT_GE_MSG(test, back, 0, "%s", call->name);
			/* An x32 number has the name of a 64-bit call. */
			if (table || nr < 512)
				KUNIT_EXPECT_EQ(test, back, nr | table);
			else
				KUNIT_EXPECT_STREQ(test, call->name,
						   utrace_call_of(back)->name);
		}
	}
	KUNIT_EXPECT_GT(test, found, HAVE_IA32 ? 800U : 390U);
}

static void native_numbers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, utrace_call_nr("read", false), __NR_read);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("openat2", false), __NR_openat2);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("mseal", false), __NR_mseal);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("readv", false), __NR_readv);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("socketcall", false), -ENOENT);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("", false), -ENOENT);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("rea", false), -ENOENT);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("i386/mmap", true), -ENOENT);
}

static void x32_numbers(struct kunit *test)
{
#ifdef __X32_SYSCALL_BIT
	KUNIT_EXPECT_PTR_EQ(test, utrace_call_of(X32 | __NR_read),
			    utrace_call_of(__NR_read));
#endif
	KUNIT_ASSERT_NOT_NULL(test, utrace_call_of(534));
	KUNIT_EXPECT_STREQ(test, utrace_call_of(534)->name, "preadv");
	KUNIT_EXPECT_EQ(test, utrace_call_of(534)->nargs, 4);
	KUNIT_EXPECT_EQ(test, utrace_call_of(__NR_preadv)->nargs, 5);
}

static void ia32_numbers(struct kunit *test)
{
	if (!HAVE_IA32) {
		KUNIT_EXPECT_EQ(test, utrace_call_nr("exit", true), -ENOENT);
		KUNIT_EXPECT_NULL(test, utrace_call_of(IA32 | IA32_exit));
		return;
	}
	KUNIT_EXPECT_EQ(test, utrace_call_nr("exit", true), IA32 | IA32_exit);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("getuid32", true),
			IA32 | IA32_getuid32);
	KUNIT_EXPECT_EQ(test, utrace_call_of(IA32 | IA32_mmap)->nargs, 1);
	KUNIT_EXPECT_EQ(test, utrace_call_of(IA32 | IA32_pread64)->nargs, 5);
	KUNIT_EXPECT_EQ(test, utrace_call_nr("newfstatat", true), -ENOENT);
}

/* Calls that stand for others, whose arguments are in memory or in arguments. */
static void calls_stand_for_others(struct kunit *test)
{
	static const unsigned long getpid_args[6] = {};
	static const unsigned long connect_args[6] = { 3, 0x1000 };
	static const unsigned long semop_args[6] = { 1, 5, 2, 0, 0x3000 };
	static const u32 words[UTRACE_CALL_ARGS] = { 7, 0xfffff000, 16 };
	const struct utrace_call *call, *other;
	const struct utrace_unpack *how;
	unsigned long args[6];

	if (!HAVE_IA32)
		kunit_skip(test, "there is no 32-bit table");
	call = utrace_call_by_command(IA32 | IA32_getpid, getpid_args);
	KUNIT_EXPECT_NULL(test, utrace_unpack_of(call));

	call = utrace_call_by_command(IA32 | IA32_socketcall, connect_args);
	how = utrace_unpack_of(call);
	KUNIT_ASSERT_NOT_NULL(test, how);
	KUNIT_EXPECT_EQ(test, how->memory, 1);
	KUNIT_EXPECT_EQ(test, how->words, 3);
	other = utrace_unpack(call, connect_args, words, args);
	KUNIT_EXPECT_STREQ(test, other->name, "connect");
	KUNIT_EXPECT_EQ(test, args[0], 7);
	KUNIT_EXPECT_EQ(test, args[1], 0xfffff000);
	KUNIT_EXPECT_EQ(test, args[2], 16);

	call = utrace_call_by_command(IA32 | IA32_ipc, semop_args);
	how = utrace_unpack_of(call);
	KUNIT_ASSERT_NOT_NULL(test, how);
	KUNIT_EXPECT_EQ(test, how->words, 0);
	other = utrace_unpack(call, semop_args, words, args);
	KUNIT_EXPECT_STREQ(test, other->name, "semop");
	KUNIT_EXPECT_EQ(test, args[0], 5);
	KUNIT_EXPECT_EQ(test, args[1], 0x3000);
	KUNIT_EXPECT_EQ(test, args[2], 2);
}

static void unknown_numbers(struct kunit *test)
{
	static const unsigned int none[] = {
		400, 511, 548, 9999, INT_MAX, INT_MIN, -1U, -2U,
		IA32 | 463, IA32 | 512, IA32 | 9999, IA32 | X32 | IA32_exit,
		0x10000000, 0x80000000,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(none); i++)
		KUNIT_EXPECT_NULL_MSG(test, utrace_call_of(none[i]), "%#x",
				      none[i]);
}

/* Check that argument @len can be the length of memory. */
static bool length_is_sound(const struct utrace_call *call,
			    const struct utrace_arg *arg)
{
	unsigned int len = arg->len;
	u8 type;

	if (arg->type == UTRACE_ARG_IN || arg->type == UTRACE_ARG_OUT) {
		if (len & UTRACE_LEN_FIXED)
			return len > UTRACE_LEN_FIXED;
		len &= UTRACE_LEN_ARG;
		if (arg->type == UTRACE_ARG_OUT && len == UTRACE_LEN_RESULT)
			return true;
	}
	if (len >= call->nargs)
		return false;
	type = call->arg[len].type;
	if (arg->type == UTRACE_ARG_OUT_SOCKADDR)
		return type == UTRACE_ARG_ADDR || type == UTRACE_ARG_STRUCT;
	return type == UTRACE_ARG_SIZE || type == UTRACE_ARG_INT;
}

/* The bytes of a number, or what else its type allows. */
static bool number_is_sound(const struct utrace_arg *arg)
{
	switch (arg->type) {
	case UTRACE_ARG_UPPER:
	case UTRACE_ARG_FD:
		return arg->len <= 1;
	case UTRACE_ARG_HEX:
	case UTRACE_ARG_SIZE:
	case UTRACE_ARG_LONG:
	case UTRACE_ARG_ID:
		return !arg->len || arg->len == UTRACE_LEN_PAGES ||
		       is_power_of_2(arg->len);
	case UTRACE_ARG_DFD:
		return arg->len <= 1;
	case UTRACE_ARG_STRING:
		/* A string that is not cut, or the bytes that the call reads. */
		return true;
	default:
		return !arg->len;
	}
}

static bool arg_is_sound(const struct utrace_call *call,
			 const struct utrace_arg *arg)
{
	switch (arg->type) {
	case UTRACE_ARG_IN ... UTRACE_ARG_OUT_SOCKADDR:
		return length_is_sound(call, arg);
	case UTRACE_ARG_FLAGS:
	case UTRACE_ARG_STRUCT:
	case UTRACE_ARG_HOOK:
		/* The generator numbers these. */
		return true;
	case UTRACE_ARG_NONE:
		return false;
	default:
		return number_is_sound(arg);
	}
}

static void check_row(struct kunit *test, const struct utrace_call *call)
{
	unsigned int i;

	KUNIT_ASSERT_LE(test, call->nargs, UTRACE_CALL_ARGS);
	if (!call->known) {
		KUNIT_EXPECT_EQ(test, call->nargs, 0);
		return;
	}
	KUNIT_EXPECT_TRUE(test, call->result.type != UTRACE_ARG_NONE);
	for (i = 0; i < call->nargs; i++)
		KUNIT_EXPECT_TRUE_MSG(test, arg_is_sound(call, &call->arg[i]),
				      "argument %u of %s", i, call->name);
	for (; i < UTRACE_CALL_ARGS; i++)
		KUNIT_EXPECT_TRUE(test, call->arg[i].type == UTRACE_ARG_NONE);
}

static void rows_are_sound(struct kunit *test)
{
	const struct utrace_call *call;
	unsigned int nr, known = 0;

	for (nr = 0; nr < 2 * CALLS; nr++) {
		call = utrace_call_of(nr < CALLS ? nr : IA32 | (nr - CALLS));
		if (!call)
			continue;
		check_row(test, call);
		known += call->known;
	}
	KUNIT_EXPECT_GT(test, known, HAVE_IA32 ? 780U : 380U);
}

/* Items made by the test, and the text that is printed for them. */
struct printer {
	struct seq_buf s;
	char text[1024];
	size_t used;
	u8 items[UTRACE_CAPTURE_SIZE] __aligned(8);
};

static void add_item(struct printer *p, unsigned int arg,
		     enum utrace_item_kind kind, const void *data, size_t len,
		     u8 flags)
{
	struct utrace_item *item = (void *)(p->items + p->used);

	*item = (struct utrace_item){
		.kind = kind, .arg = arg, .flags = flags,
		.len = len, .whole = len,
	};
	memcpy(item->data, data, len);
	p->used += ALIGN(sizeof(*item) + len, 8);
}

static void add_string(struct printer *p, unsigned int arg, const char *string)
{
	add_item(p, arg, UTRACE_ITEM_STRING, string, strlen(string), 0);
}

static void add_bytes(struct printer *p, unsigned int arg, const char *string)
{
	add_item(p, arg, UTRACE_ITEM_BYTES, string, strlen(string), 0);
}

/* Add the memory of entry @index of an array that is @parent items earlier. */
static void add_behind(struct printer *p, unsigned int arg, unsigned int parent,
		       unsigned int index, const char *string)
{
	struct utrace_item *item = (void *)(p->items + p->used);

	add_bytes(p, arg, string);
	item->parent = parent;
	item->index = index;
}

static const char *print_nr(struct printer *p, u64 nr,
			    const unsigned long args[6])
{
	seq_buf_init(&p->s, p->text, sizeof(p->text));
	utrace_print_call(&p->s, nr, args, p->items, p->used);
	p->used = 0;
	return seq_buf_str(&p->s);
}

/*
 * Print call @name with these arguments and the items added since the last
 * call.
 */
#define PRINT(p, name, ...) \
	print_nr(p, __NR_##name, ((struct call_args){ { __VA_ARGS__ } }).arg)

struct call_args {
	unsigned long arg[UTRACE_CALL_ARGS];
};

static const char *print_ret(struct printer *p, unsigned int nr, long ret)
{
	seq_buf_init(&p->s, p->text, sizeof(p->text));
	utrace_print_result(&p->s, nr, utrace_call_of(nr), ret);
	return seq_buf_str(&p->s);
}

static struct printer *new_printer(struct kunit *test)
{
	struct printer *p = kunit_kzalloc(test, sizeof(*p), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, p);
	return p;
}

static void print_numbers(struct kunit *test)
{
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, PRINT(p, getpid), "getpid()");
	KUNIT_EXPECT_STREQ(test, PRINT(p, read, 3, 0x7ffe0000, 4096),
			   "read(3, 0x7ffe0000, 4096)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, setresuid, 0, -1, 0xffffffff),
			   "setresuid(0, -1, -1)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, fchmod, 3, 0644), "fchmod(3, 0644)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, lseek, 3, -8, SEEK_END),
			   "lseek(3, -8, SEEK_END)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, munmap, 0x7f0000001000, -1),
			   "munmap(0x7f0000001000, 18446744073709551615)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, kill, 7, SIGTERM),
			   "kill(7, SIGTERM)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, kill, -7, 34), "kill(-7, SIGRT_2)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, kill, 7, 64), "kill(7, SIGRT_32)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, kill, 7, 0), "kill(7, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, kill, 7, 65), "kill(7, 65)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, chdir, 0), "chdir(NULL)");
}

static void print_flags(struct kunit *test)
{
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, PRINT(p, open, 1, O_WRONLY | O_CREAT |
				       O_TRUNC | O_CLOEXEC, 0600),
			   "open(0x1, O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0600)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, open, 1, O_SYNC | O_TMPFILE | 3, 0),
			   "open(0x1, O_ACCMODE|O_SYNC|O_TMPFILE, 000)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, mmap, 0, 4096, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
			   "mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, mprotect, 4096, 4096, 0),
			   "mprotect(0x1000, 4096, PROT_NONE)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, clone, CLONE_VM | CLONE_VFORK |
				       SIGCHLD),
			   "clone(CLONE_VM|CLONE_VFORK|SIGCHLD, NULL, NULL, NULL, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, clone, SIGCHLD),
			   "clone(SIGCHLD, NULL, NULL, NULL, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, unshare, CLONE_NEWTIME),
			   "unshare(CLONE_NEWTIME)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, socket, AF_INET, SOCK_STREAM |
				       SOCK_CLOEXEC, 0),
			   "socket(AF_INET, SOCK_STREAM|SOCK_CLOEXEC, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, fcntl, 3, F_SETFD, 1),
			   "fcntl(3, F_SETFD, 0x1)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, fcntl, 3, 99, 0),
			   "fcntl(3, 0x63 /* F_??? */, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, futex, 0x10, 128 | 256 | 9, 1),
			   "futex(0x10, FUTEX_WAIT_BITSET_PRIVATE|FUTEX_CLOCK_REALTIME, 1, NULL, 0)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, access, 1, 0), "access(0x1, F_OK)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, unlinkat, AT_FDCWD, 1, AT_REMOVEDIR),
			   "unlinkat(AT_FDCWD, 0x1, AT_REMOVEDIR)");
	KUNIT_EXPECT_STREQ(test, PRINT(p, dup3, 1, 2, 0), "dup3(1, 2, 0)");
}

static void print_strings(struct kunit *test)
{
	static const struct iovec iov[3] = {};
	struct printer *p = new_printer(test);

	add_string(p, 1, "/etc/passwd");
	KUNIT_EXPECT_STREQ(test, PRINT(p, openat, AT_FDCWD, 0x1000,
				       O_RDONLY | O_CLOEXEC),
			   "openat(AT_FDCWD, \"/etc/passwd\", O_RDONLY|O_CLOEXEC)");
	add_bytes(p, 1, "hello\n");
	KUNIT_EXPECT_STREQ(test, PRINT(p, write, 1, 0x1000, 6),
			   "write(1, \"hello\\n\", 6)");
	add_item(p, 1, UTRACE_ITEM_BYTES, "", 0, 0);
	KUNIT_EXPECT_STREQ(test, PRINT(p, write, 1, 0x1000, 0),
			   "write(1, \"\", 0)");
	add_item(p, 1, UTRACE_ITEM_ARGV, "ls\0-l\0", 6, 0);
	add_item(p, 2, UTRACE_ITEM_ARGV, "", 0, 0);
	add_string(p, 0, "/bin/ls");
	KUNIT_EXPECT_STREQ(test, PRINT(p, execve, 1, 2, 3),
			   "execve(\"/bin/ls\", [\"ls\", \"-l\"], [])");
	add_item(p, 1, UTRACE_ITEM_STRUCT, iov, sizeof(iov), 0);
	add_behind(p, 1, 1, 0, "abcd");
	add_behind(p, 1, 2, 2, "ef");
	KUNIT_EXPECT_STREQ(test, PRINT(p, writev, 1, 0x1000, 3),
			   "writev(1, [\"abcd\", \"ef\"], 3)");
	/*
	 * Items are not printed if their argument is no path or their kind is
	 * not a string.
	 */
	add_string(p, 1, "no");
	add_bytes(p, 0, "no");
	KUNIT_EXPECT_STREQ(test, PRINT(p, chdir, 0x1000), "chdir(0x1000)");
}

static void print_escapes(struct kunit *test)
{
	static const char text[] = "\"\\\t\r\v\f\0007\001x\177\377";
	struct printer *p = new_printer(test);

	add_item(p, 1, UTRACE_ITEM_BYTES, text, sizeof(text) - 1, 0);
	KUNIT_EXPECT_STREQ(test, PRINT(p, write, 1, 1, 1),
			   "write(1, \"\\\"\\\\\\t\\r\\v\\f\\0007\\1x\\177\\377\", 1)");
}

/* The text of byte @ch, as the kernel's functions write it. */
static void escape_of(char *to, size_t size, u8 ch, bool digit_follows)
{
	static const char from[] = "\t\n\v\f\r\"\\", letters[] = "tnvfr\"\\";
	const char *at = ch ? strchr(from, ch) : NULL;

	if (at)
		snprintf(to, size, "\\%c", letters[at - from]);
	else if (ch >= ' ' && ch <= '~')
		snprintf(to, size, "%c", ch);
	else
		snprintf(to, size, digit_follows ? "\\%03o" : "\\%o", ch);
}

/* Print each byte at each place among digits, in a text of two words. */
static void print_every_byte(struct kunit *test)
{
	struct printer *p = new_printer(test);
	char text[17], want[64], one[8];
	const int last = sizeof(text) - 1;
	unsigned int ch;
	int at;

	for (ch = 0; ch < 256; ch++) {
		for (at = 0; at <= last; at++) {
			memset(text, '7', sizeof(text));
			text[at] = ch;
			escape_of(one, sizeof(one), ch, at < last);
			snprintf(want, sizeof(want),
				 "write(1, \"%.*s%s%.*s\", 1)", at, text, one,
				 last - at, text + at + 1);
			add_item(p, 1, UTRACE_ITEM_BYTES, text, sizeof(text), 0);
			KUNIT_EXPECT_STREQ(test, PRINT(p, write, 1, 1, 1), want);
		}
	}
}

static void print_truncated(struct kunit *test)
{
	struct printer *p = new_printer(test);

	add_item(p, 1, UTRACE_ITEM_BYTES, "abc", 3, UTRACE_ITEM_F_TRUNCATED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, write, 1, 1, 4000),
			   "write(1, \"abc\"..., 4000)");
	add_item(p, 1, UTRACE_ITEM_ARGV, "a\0b", 3, UTRACE_ITEM_F_TRUNCATED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, execve, 1, 2, 0),
			   "execve(0x1, [\"a\", \"b\", ...], NULL)");
	add_item(p, 0, UTRACE_ITEM_FILE, "/long", 5, UTRACE_ITEM_F_TRUNCATED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, close, 3), "close(3</long...>)");
}

static void print_faulted(struct kunit *test)
{
	struct printer *p = new_printer(test);

	add_item(p, 0, UTRACE_ITEM_STRING, "", 0, UTRACE_ITEM_F_FAULTED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, chdir, 0x10), "chdir(0x10)");
	add_item(p, 0, UTRACE_ITEM_STRING, "/a", 2, UTRACE_ITEM_F_FAULTED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, chdir, 0x10), "chdir(\"/a\"...)");
	add_item(p, 1, UTRACE_ITEM_SOCKADDR, "", 0, UTRACE_ITEM_F_FAULTED);
	KUNIT_EXPECT_STREQ(test, PRINT(p, bind, 3, 0x10, 16),
			   "bind(3, 0x10, 16)");
}

static void print_files(struct kunit *test)
{
	struct printer *p = new_printer(test);

	add_item(p, 0, UTRACE_ITEM_FILE, "/etc/passwd", 11, 0);
	KUNIT_EXPECT_STREQ(test, PRINT(p, close, 3), "close(3</etc/passwd>)");
	add_item(p, 0, UTRACE_ITEM_FILE, "/home", 5, 0);
	add_string(p, 1, "x");
	KUNIT_EXPECT_STREQ(test, PRINT(p, mkdirat, AT_FDCWD, 1, 0755),
			   "mkdirat(AT_FDCWD</home>, \"x\", 0755)");
}

static const char *print_bind(struct printer *p, const void *addr, size_t len)
{
	add_item(p, 1, UTRACE_ITEM_SOCKADDR, addr, len, 0);
	return PRINT(p, bind, 3, 0x1000, len);
}

static void print_inet_addresses(struct kunit *test)
{
	struct printer *p = new_printer(test);
	struct sockaddr_in in = {
		.sin_family = AF_INET,
		.sin_port = htons(80),
		.sin_addr.s_addr = htonl(0x01020304),
	};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(53),
		.sin6_addr.s6_addr[15] = 1,
		.sin6_scope_id = 2,
	};

	KUNIT_EXPECT_STREQ(test, print_bind(p, &in, sizeof(in)),
			   "bind(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"1.2.3.4\")}, 16)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, &in, 4),
			   "bind(3, {sa_family=AF_INET, sa_data=0x0050}, 4)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, &in6, sizeof(in6)),
			   "bind(3, {sa_family=AF_INET6, sin6_port=htons(53), sin6_flowinfo=htonl(0), sin6_addr=inet_pton(\"::1\"), sin6_scope_id=2}, 28)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, "\2", 1), "bind(3, 0x1000, 1)");
}

static void print_other_addresses(struct kunit *test)
{
	struct printer *p = new_printer(test);
	struct sockaddr_un un = { AF_UNIX, "/run/x" };
	struct sockaddr_nl nl = { .nl_family = AF_NETLINK, .nl_pid = 7 };

	KUNIT_EXPECT_STREQ(test, print_bind(p, &un, sizeof(un)),
			   "bind(3, {sa_family=AF_UNIX, sun_path=\"/run/x\"}, 110)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, &un, 2),
			   "bind(3, {sa_family=AF_UNIX}, 2)");
	un.sun_path[0] = 0;
	KUNIT_EXPECT_STREQ(test, print_bind(p, &un, 8),
			   "bind(3, {sa_family=AF_UNIX, sun_path=@\"run/x\"}, 8)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, &nl, sizeof(nl)),
			   "bind(3, {sa_family=AF_NETLINK, nl_pid=7, nl_groups=0x0}, 12)");
	KUNIT_EXPECT_STREQ(test, print_bind(p, "\xff\0ab", 4),
			   "bind(3, {sa_family=0xff /* AF_??? */, sa_data=0x6162}, 4)");
}

/*
 * Check the text of an address: @len bytes after the family, which are @path
 * and then as many 'x' as needed.
 */
static void expect_unix_path(struct kunit *test, size_t len, const char *path,
			     const char *before, unsigned int shown)
{
	struct printer *p = new_printer(test);
	char want[256], addr[256], x[sizeof(addr)];
	sa_family_t family = AF_UNIX;

	memset(x, 'x', sizeof(x));
	memset(addr, 'x', sizeof(addr));
	memcpy(addr, &family, sizeof(family));
	memcpy(addr + sizeof(family), path, 1);
	scnprintf(want, sizeof(want),
		  "bind(3, {sa_family=AF_UNIX, sun_path=%s%.*s\"}, %zu)",
		  before, shown, x, len);
	KUNIT_EXPECT_STREQ(test, print_bind(p, addr, len), want);
}

/* Print a path without a NUL, in an address longer than any of AF_UNIX. */
static void print_long_unix_addresses(struct kunit *test)
{
	static const size_t len[] = {
		sizeof(struct sockaddr_un), sizeof(struct sockaddr_un) + 1,
		sizeof(struct sockaddr_storage), 200,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		expect_unix_path(test, len[i], "x", "\"", UNIX_PATH_MAX);
		expect_unix_path(test, len[i], "", "@\"", UNIX_PATH_MAX - 1);
	}
}

static const char *print_status(struct printer *p, int status)
{
	add_item(p, 1, UTRACE_ITEM_BYTES, &status, sizeof(status), 0);
	return PRINT(p, wait4, -1, 0x1000, 0, 0);
}

static void print_wait_statuses(struct kunit *test)
{
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, PRINT(p, wait4, 7, 0x1000, WNOHANG, 0x2000),
			   "wait4(7, 0x1000, WNOHANG, 0x2000)");
	KUNIT_EXPECT_STREQ(test, print_status(p, 0),
			   "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 0}], 0, NULL)");
	KUNIT_EXPECT_STREQ(test, print_status(p, 255 << 8),
			   "wait4(-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 255}], 0, NULL)");
	KUNIT_EXPECT_STREQ(test, print_status(p, SIGKILL),
			   "wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}], 0, NULL)");
	KUNIT_EXPECT_STREQ(test, print_status(p, SIGSEGV | 0x80),
			   "wait4(-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}], 0, NULL)");
	KUNIT_EXPECT_STREQ(test, print_status(p, SIGSTOP << 8 | 0x7f),
			   "wait4(-1, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], 0, NULL)");
	KUNIT_EXPECT_STREQ(test, print_status(p, 0xffff),
			   "wait4(-1, [{WIFCONTINUED(s)}], 0, NULL)");
}

static void expect_numbers(struct kunit *test, unsigned long value)
{
	struct printer *p = new_printer(test);
	char want[64];

	snprintf(want, sizeof(want), "lseek(1, %ld, SEEK_CUR)", value);
	KUNIT_EXPECT_STREQ(test, PRINT(p, lseek, 1, value, SEEK_CUR), want);
	snprintf(want, sizeof(want), "munmap(NULL, %lu)", value);
	KUNIT_EXPECT_STREQ(test, PRINT(p, munmap, 0, value), want);
	snprintf(want, sizeof(want), value ? "ioctl(1, 0, %#lx)" :
		 "ioctl(1, 0, %lu)", value);
	KUNIT_EXPECT_STREQ(test, PRINT(p, ioctl, 1, 0, value), want);
	snprintf(want, sizeof(want), "fchmod(1, %#03o)", (u16)value);
	KUNIT_EXPECT_STREQ(test, PRINT(p, fchmod, 1, value), want);
	kunit_kfree(test, p);
}

/* Print numbers around those that have one more digit, in base 10 and 2. */
static void print_digits(struct kunit *test)
{
	unsigned long power;
	unsigned int n;
	int off;

	for (off = -1; off <= 1; off++) {
		for (n = 0, power = 1; n < 20; n++, power *= 10)
			expect_numbers(test, power + off);
		for (n = 0; n < BITS_PER_LONG; n++)
			expect_numbers(test, BIT(n) + off);
	}
}

/* The items of an exit are printed after the bracket, without arguments. */
static void print_outputs(struct kunit *test)
{
	struct printer *p = new_printer(test);
	struct utrace_call_items items = {
		.row = utrace_call_of(__NR_read),
		.most = 2,
	};

	add_bytes(p, 1, "abc");
	seq_buf_init(&p->s, p->text, sizeof(p->text));
	utrace_print_outputs(&p->s, __NR_read, p->items, p->used);
	utrace_call_items_add(&items, p->items, p->used);
	utrace_print_output_items(&p->s, __NR_read, &items);
	utrace_print_outputs(&p->s, 0x1ff, p->items, p->used);
	utrace_print_outputs(&p->s, __NR_write + 1000, p->items, p->used);
	KUNIT_EXPECT_STREQ(test, seq_buf_str(&p->s), " \"abc\" \"ab\"...");
}

/* An item is ignored if its argument has a type for which none is captured. */
static void items_without_type(struct kunit *test)
{
	static const unsigned int calls[] = { __NR_setuid, __NR_umask, __NR_kill };
	struct printer *p = new_printer(test);
	unsigned int i;

	add_bytes(p, 0, "abc");
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		struct utrace_call_items items =
			UTRACE_CALL_ITEMS_INIT(utrace_call_of(calls[i]));

		utrace_call_items_add(&items, p->items, p->used);
		KUNIT_EXPECT_NULL(test, items.of[0]);
	}
}

static void print_unknown(struct kunit *test)
{
	static const unsigned long args[6] = { 1, 2, 3, 4, 5, 0x10 };
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, print_nr(p, 0x1ff, args),
			   "syscall_0x1ff(0x1, 0x2, 0x3, 0x4, 0x5, 0x10)");
	/* The flag of the table is not part of the number. */
	KUNIT_EXPECT_STREQ(test, print_nr(p, UTRACE_SYSCALL_IA32 | 0x1ff, args),
			   "syscall_0x1ff(0x1, 0x2, 0x3, 0x4, 0x5, 0x10)");
	/* A number that contains the flag's bit is in the upper half. */
	KUNIT_EXPECT_STREQ(test, print_nr(p, (UTRACE_SYSCALL_IA32 - 1) |
					     0xffffffffULL << 32, args),
			   "syscall_0xffffffff(0x1, 0x2, 0x3, 0x4, 0x5, 0x10)");
	KUNIT_EXPECT_STREQ(test, print_nr(p, 0x80000000, args),
			   "syscall_0x80000000(0x1, 0x2, 0x3, 0x4, 0x5, 0x10)");
	KUNIT_EXPECT_STREQ(test, print_nr(p, __NR_tuxcall, args),
			   "tuxcall(0x1, 0x2, 0x3)");
}

static void print_ia32(struct kunit *test)
{
	static const unsigned long args[6] = {
		3, 0xfffffffff7000000, 4096, 0xffffffff, 1,
	};
	struct printer *p = new_printer(test);

	if (!HAVE_IA32)
		kunit_skip(test, "there is no 32-bit table");
	KUNIT_EXPECT_STREQ(test, print_nr(p, IA32 | IA32_getpid, args),
			   "getpid()");
	KUNIT_EXPECT_STREQ(test, print_nr(p, IA32 | IA32_pread64, args),
			   "pread64(3, 0xf7000000, 4096, 8589934591)");
	KUNIT_EXPECT_STREQ(test, print_ret(p, IA32 | IA32_mmap,
					   args[1]), "0xf7000000");
	KUNIT_EXPECT_STREQ(test, print_ret(p, IA32 | IA32_mmap, 0xfffffff4),
			   "-1 ENOMEM");
}

static void print_results(struct kunit *test)
{
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_read, 3), "3");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_openat, 3), "3");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_lseek, -5000), "-5000");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_mmap, 0x7f0000001000),
			   "0x7f0000001000");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_umask, 022), "022");
	KUNIT_EXPECT_STREQ(test, print_ret(p, 0x1ff, 5), "5");
}

static void print_errors(struct kunit *test)
{
	struct printer *p = new_printer(test);

	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_read, -4095), "-1 4095");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_read, -4096), "-4096");
	if (!IS_ENABLED(CONFIG_SYMBOLIC_ERRNAME)) {
		KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_open, -2), "-1 2");
		KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_open, -512),
				   "? 512");
		return;
	}
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_open, -ENOENT),
			   "-1 ENOENT");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_mmap, -ENOMEM),
			   "-1 ENOMEM");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_read, -512),
			   "? ERESTARTSYS");
	KUNIT_EXPECT_STREQ(test, print_ret(p, __NR_nanosleep, -516),
			   "? ERESTART_RESTARTBLOCK");
}

static void small_buffer_does_not_overflow(struct kunit *test)
{
	static const char whole[] = "chdir(\"/\\1\\2\\n\")";
	struct printer *p = new_printer(test);
	const unsigned long args[6] = { 0x1000 };
	size_t size;

	add_string(p, 0, "/\001\002\n");
	for (size = 1; size <= sizeof(whole); size++) {
		memset(p->text, '#', sizeof(p->text));
		seq_buf_init(&p->s, p->text, size);
		utrace_print_call(&p->s, __NR_chdir, args, p->items, p->used);
		seq_buf_str(&p->s);
		KUNIT_EXPECT_EQ(test, p->text[size], '#');
		KUNIT_EXPECT_LT(test, strnlen(p->text, size), size);
		KUNIT_EXPECT_EQ(test, seq_buf_has_overflowed(&p->s),
				size < sizeof(whole) - 1);
	}
	KUNIT_EXPECT_STREQ(test, p->text, whole);
}

static void items_end_where_they_break(struct kunit *test)
{
	struct printer *p = new_printer(test);
	struct utrace_item *item = (void *)p->items;

	add_string(p, 0, "/a");
	KUNIT_EXPECT_PTR_EQ(test, utrace_item_next(p->items, p->used, NULL),
			    (const struct utrace_item *)item);
	KUNIT_EXPECT_NULL(test, utrace_item_next(p->items, p->used, item));
	KUNIT_EXPECT_NULL(test, utrace_item_next(p->items, 17, NULL));
	KUNIT_EXPECT_NULL(test, utrace_item_next(p->items, 15, NULL));
	KUNIT_EXPECT_NULL(test, utrace_item_next(p->items, 0, NULL));
	item->len = 1000;
	KUNIT_EXPECT_STREQ(test, PRINT(p, chdir, 0x1000), "chdir(0x1000)");
}

static struct kunit_case syscall_table_cases[] = {
	KUNIT_CASE(numbers_and_names_agree),
	KUNIT_CASE(native_numbers),
	KUNIT_CASE(x32_numbers),
	KUNIT_CASE(ia32_numbers),
	KUNIT_CASE(calls_stand_for_others),
	KUNIT_CASE(unknown_numbers),
	KUNIT_CASE(rows_are_sound),
	KUNIT_CASE(print_numbers),
	KUNIT_CASE(print_flags),
	KUNIT_CASE(print_strings),
	KUNIT_CASE(print_escapes),
	KUNIT_CASE(print_every_byte),
	KUNIT_CASE(print_truncated),
	KUNIT_CASE(print_faulted),
	KUNIT_CASE(print_files),
	KUNIT_CASE(print_inet_addresses),
	KUNIT_CASE(print_other_addresses),
	KUNIT_CASE(print_long_unix_addresses),
	KUNIT_CASE(print_wait_statuses),
	KUNIT_CASE(print_digits),
	KUNIT_CASE(print_outputs),
	KUNIT_CASE(items_without_type),
	KUNIT_CASE(print_unknown),
	KUNIT_CASE(print_ia32),
	KUNIT_CASE(print_results),
	KUNIT_CASE(print_errors),
	KUNIT_CASE(small_buffer_does_not_overflow),
	KUNIT_CASE(items_end_where_they_break),
	{}
};

static struct kunit_suite syscall_table_suite = {
	.name = "utrace_syscall_table",
	.test_cases = syscall_table_cases,
};

kunit_test_suite(syscall_table_suite);

MODULE_DESCRIPTION("KUnit suite for what utrace knows of system calls");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - what the command utrace takes to print a record
 *
 * The program makes records in memory as a kernel writes them, and hands them to
 * text_record().  Usage:
 *
 *   line FILE	count: write the text to FILE, each kind of call by itself, and
 *		ask callgrind for the instructions.  Prints "KIND,SHARE,CALLS".
 *   line [-k] [OPTION]...
 *		show the text, with the options of 'utrace run'.  -k adds the
 *		kinds of calls that are counted.
 *
 * scripts/lines does both.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <valgrind/callgrind.h>

#include "format/text.h"

/* Calls of each kind that are counted together. */
#define REPEAT		200

#define RECORDS_SIZE	(1024 * 1024)
#define TASK		1000
#define FIRST_NUMBER	0x100000000
#define AT_CWD		0xffffff9cUL

/**
 * struct log - records in memory
 * @data: the records
 * @len: bytes of @data that are in use
 * @time: time of the last record in ns
 * @numbers: number of the last record of each task
 * @task: the task that makes the next records
 * @last: the last record, to which items are added
 */
static struct log {
	char data[RECORDS_SIZE] __attribute__((aligned(8)));
	size_t len;
	__u64 time;
	__u32 numbers[64];
	unsigned int task;
	struct utrace_rec *last;
} records;

static void *add_record(enum utrace_rec_type type, size_t size)
{
	struct utrace_rec *rec = (void *)(records.data + records.len);

	if (records.len + 4096 > sizeof(records.data))
		abort();
	memset(rec, 0, 4096);
	records.len += size;
	records.time += 1234567;
	records.last = rec;
	*rec = (struct utrace_rec){
		.size = size,
		.type = type,
		.time = records.time,
		.task = FIRST_NUMBER + records.task,
		.pid = TASK,
		.tid = TASK + records.task,
		.number = ++records.numbers[records.task],
	};
	return rec;
}

static void add_item(unsigned int arg, enum utrace_item_kind kind,
		     const void *data, size_t len, unsigned int flags)
{
	struct utrace_rec *rec = records.last;
	struct utrace_item *item = (void *)(records.data + records.len);
	size_t size = sizeof(*item) + ((len + 7) & ~7);

	if (!rec->items)
		rec->items = rec->size;
	*item = (struct utrace_item){
		.kind = kind, .arg = arg, .len = len, .whole = len,
		.flags = flags,
	};
	memcpy(item->data, data, len);
	rec->size += size;
	records.len += size;
}

static void string(unsigned int arg, const char *text)
{
	add_item(arg, UTRACE_ITEM_STRING, text, strlen(text), 0);
}

static void bytes(unsigned int arg, const void *data, size_t len)
{
	add_item(arg, UTRACE_ITEM_BYTES, data, len, 0);
}

struct call_args {
	__u64 arg[6];
};

#define ENTER(nr, ...)	enter(nr, ((struct call_args){ { __VA_ARGS__ } }).arg)

static struct utrace_rec_sys_enter *enter(__u32 nr, const __u64 args[6])
{
	struct utrace_rec_sys_enter *rec;

	rec = add_record(UTRACE_REC_SYS_ENTER, sizeof(*rec));
	rec->nr = nr;
	rec->began = rec->head.time;
	memcpy(rec->args, args, sizeof(rec->args));
	return rec;
}

static struct utrace_rec *leave(__u32 nr, __s64 ret)
{
	struct utrace_rec_sys_exit *rec;

	rec = add_record(UTRACE_REC_SYS_EXIT, sizeof(*rec));
	rec->nr = nr;
	rec->ret = ret;
	return &rec->head;
}

/* Calls as a parallel build makes them */

static void make_read(void)
{
	static const char elf[] = "\177ELF\2\1\1\3\0\0\0\0\0\0\0\0\3\0>\0\1\0\0\0"
				  "\220\240\2\0\0\0\0\0@\0\0\0\0\0\0\0";

	ENTER(SYS_read, 3, 0x7ffd3a1c2e48, 832);
	leave(SYS_read, 832);
	bytes(1, elf, sizeof(elf) - 1);
}

static void make_read_byte(void)
{
	ENTER(SYS_read, 0, 0x7ffd3a1c2e48, 1);
	leave(SYS_read, 1);
	bytes(1, "#", 1);
}

static void make_read_text(void)
{
	static const char source[] = "/* Types of the kernel and of programs. */\n"
				     "#ifndef _LINUX_TYPES_H\n";

	ENTER(SYS_read, 4, 0x55d0c8a3b2a0, 8192);
	leave(SYS_read, 8192);
	add_item(1, UTRACE_ITEM_BYTES, source, sizeof(source) - 1,
		 UTRACE_ITEM_F_TRUNCATED);
}

static void make_write(void)
{
	static const char rule[] = "\t.text\n\t.globl\tmain\n\t.type\tmain, @function";

	ENTER(SYS_write, 1, 0x55d0c8a3b2a0, 4096);
	add_item(1, UTRACE_ITEM_BYTES, rule, sizeof(rule) - 1,
		 UTRACE_ITEM_F_TRUNCATED);
	leave(SYS_write, 4096);
}

static void make_openat(void)
{
	ENTER(SYS_openat, AT_CWD, 0x7f35b6b0a0e0, O_RDONLY | O_CLOEXEC);
	string(1, "/lib/x86_64-linux-gnu/libc.so.6");
	leave(SYS_openat, 3);
}

static void make_openat_fails(void)
{
	ENTER(SYS_openat, AT_CWD, 0x55d0c8a3b2a0, O_RDONLY | O_NOCTTY);
	string(1, "/usr/lib/gcc/x86_64-linux-gnu/12/include/linux/types.h");
	leave(SYS_openat, -ENOENT);
}

static void make_openat_creates(void)
{
	ENTER(SYS_openat, AT_CWD, 0x55d0c8a3b2a0, O_WRONLY | O_CREAT | O_TRUNC,
	      0666);
	string(1, "kernel/.fork.o.d");
	leave(SYS_openat, 4);
}

static void make_close(void)
{
	ENTER(SYS_close, 3);
	leave(SYS_close, 0);
}

static void make_newfstatat(void)
{
	ENTER(SYS_newfstatat, AT_CWD, 0x55d0c8a3b2a0, 0x7ffd3a1c2d10, 0);
	string(1, "include/generated/autoconf.h");
	leave(SYS_newfstatat, 0);
}

/* A close() whose entry and exit are one record. */
static void make_close_whole(void)
{
	struct utrace_rec_sys_call *rec;

	rec = add_record(UTRACE_REC_SYS_CALL, sizeof(*rec));
	rec->nr = SYS_close;
	rec->args[0] = 3;
	rec->began = rec->head.time - 1000;
}

static void make_fstat(void)
{
	ENTER(SYS_fstat, 3, 0x7ffd3a1c2d10);
	leave(SYS_fstat, 0);
}

static void make_mmap(void)
{
	ENTER(SYS_mmap, 0x7f35b6a28000, 1396736, PROT_READ | PROT_EXEC,
	      MAP_PRIVATE | MAP_FIXED | MAP_DENYWRITE, 3, 0x26000);
	leave(SYS_mmap, 0x7f35b6a28000);
}

static void make_mmap_memory(void)
{
	ENTER(SYS_mmap, 0, 8192, PROT_READ | PROT_WRITE,
	      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	leave(SYS_mmap, 0x7f35b6c00000);
}

static void make_munmap(void)
{
	ENTER(SYS_munmap, 0x7f35b6c00000, 42543);
	leave(SYS_munmap, 0);
}

static void make_mprotect(void)
{
	ENTER(SYS_mprotect, 0x7f35b6bfb000, 16384, PROT_READ);
	leave(SYS_mprotect, 0);
}

static void make_brk(void)
{
	ENTER(SYS_brk, 0x55d0c8a5c000);
	leave(SYS_brk, 0x55d0c8a5c000);
}

static void make_rt_sigaction(void)
{
	ENTER(SYS_rt_sigaction, SIGCHLD, 0x7ffd3a1c2b50, 0x7ffd3a1c2bf0, 8);
	leave(SYS_rt_sigaction, 0);
}

static void make_rt_sigprocmask(void)
{
	static const __u64 mask = 0xfffffffe7ffbfeff;

	ENTER(SYS_rt_sigprocmask, SIG_SETMASK, 0x7ffd3a1c2b50, 0, 8);
	bytes(1, &mask, sizeof(mask));
	leave(SYS_rt_sigprocmask, 0);
}

static void make_lseek(void)
{
	ENTER(SYS_lseek, 5, 34816, SEEK_SET);
	leave(SYS_lseek, 34816);
}

static void make_ioctl(void)
{
	ENTER(SYS_ioctl, 1, 0x5401, 0x7ffd3a1c2c80);
	leave(SYS_ioctl, -ENOTTY);
}

static void make_pread64(void)
{
	static const char headers[64] = "\6\0\0\0\4\0\0\0@\0\0\0\0\0\0\0@";

	ENTER(SYS_pread64, 3, 0x7ffd3a1c2a50, 784, 64);
	leave(SYS_pread64, 784);
	bytes(1, headers, sizeof(headers));
}

static void make_getdents64(void)
{
	ENTER(SYS_getdents64, 3, 0x55d0c8a3b2d0, 32768);
	leave(SYS_getdents64, 1176);
}

static void make_access(void)
{
	ENTER(SYS_access, 0x7f35b6b0a0e0, R_OK);
	string(0, "/etc/ld.so.preload");
	leave(SYS_access, -ENOENT);
}

static void make_execve(void)
{
	static const char argv[] = "gcc\0-Wp,-MMD,kernel/.fork.o.d\0-nostdinc\0-O2"
				   "\0-c\0-o\0kernel/fork.o\0kernel/fork.c";
	static const char env[] = "PATH=/usr/bin:/bin\0HOME=/root\0LC_ALL=C";

	ENTER(SYS_execve, 0x55d0c8a3b2a0, 0x55d0c8a3b2f0, 0x55d0c8a3b380);
	string(0, "/usr/bin/gcc");
	add_item(1, UTRACE_ITEM_ARGV, argv, sizeof(argv), 0);
	add_item(2, UTRACE_ITEM_ARGV, env, sizeof(env), UTRACE_ITEM_F_TRUNCATED);
	leave(SYS_execve, 0);
}

static void make_clone(void)
{
	ENTER(SYS_clone, 0x01000000 | 0x00200000 | SIGCHLD, 0, 0, 0x7f35b6c00a10);
	leave(SYS_clone, 31337);
}

static void make_wait4(void)
{
	static const int status;

	ENTER(SYS_wait4, -1, 0x7ffd3a1c2c6c, 0, 0);
	leave(SYS_wait4, 31337);
	bytes(1, &status, sizeof(status));
}

static void make_futex(void)
{
	ENTER(SYS_futex, 0x55d0c8a3b2a0, 0x81, 1, 0, 0, 0);
	leave(SYS_futex, 1);
}

/*
 * The last call of a task, its last record, and the first record of another
 * task.
 */
static void make_exit_group(void)
{
	struct utrace_rec_exit *rec;

	ENTER(SYS_exit_group, 0);
	rec = add_record(UTRACE_REC_EXIT, sizeof(*rec));
	rec->code = 0;
	records.task = (records.task + 1) % 64;
	records.numbers[records.task] = 0;
}

/*
 * The kinds of calls, and how many of a thousand calls of a parallel build of
 * the kernel are of that kind.  The command asks for an entry and an exit.
 */
static const struct {
	const char *name;
	void (*make)(void);
	unsigned int share;
} kinds[] = {
	{ "read (ELF)",		make_read,		22 },
	{ "read (1 byte)",	make_read_byte,		20 },
	{ "read (text)",	make_read_text,		88 },
	{ "write",		make_write,		50 },
	{ "openat",		make_openat,		90 },
	{ "openat (ENOENT)",	make_openat_fails,	130 },
	{ "openat (O_CREAT)",	make_openat_creates,	15 },
	{ "close",		make_close,		130 },
	{ "close (one record)",	make_close_whole,	0 },
	{ "newfstatat",		make_newfstatat,	100 },
	{ "fstat",		make_fstat,		70 },
	{ "mmap (file)",	make_mmap,		40 },
	{ "mmap (memory)",	make_mmap_memory,	35 },
	{ "munmap",		make_munmap,		25 },
	{ "mprotect",		make_mprotect,		25 },
	{ "brk",		make_brk,		30 },
	{ "rt_sigaction",	make_rt_sigaction,	40 },
	{ "rt_sigprocmask",	make_rt_sigprocmask,	20 },
	{ "lseek",		make_lseek,		20 },
	{ "ioctl (ENOTTY)",	make_ioctl,		10 },
	{ "pread64",		make_pread64,		10 },
	{ "getdents64",		make_getdents64,	5 },
	{ "access (ENOENT)",	make_access,		10 },
	{ "execve",		make_execve,		3 },
	{ "clone",		make_clone,		3 },
	{ "wait4",		make_wait4,		3 },
	{ "futex",		make_futex,		3 },
	{ "exit_group",		make_exit_group,	3 },
};

#define KINDS	(sizeof(kinds) / sizeof(*kinds))

/* Print the records, and write the text that is complete. */
static void print_records(const struct text *text)
{
	struct utrace_rec *rec;
	size_t at;

	for (at = 0; at < records.len; at += rec->size) {
		rec = (void *)(records.data + at);
		text_record(text, rec);
	}
}

static void count(const struct text *text)
{
	size_t kind, i;

	for (kind = 0; kind < KINDS; kind++) {
		records.len = 0;
		for (i = 0; i < REPEAT; i++)
			kinds[kind].make();
		CALLGRIND_ZERO_STATS;
		print_records(text);
		text_idle(text);
		CALLGRIND_DUMP_STATS_AT(kinds[kind].name);
		printf("%s,%u,%u\n", kinds[kind].name, kinds[kind].share, REPEAT);
	}
}

/* Text that shows the effect of options */

static void add_signal(int signal, int code)
{
	struct utrace_rec_signal *rec;
	siginfo_t info = { .si_signo = signal, .si_code = code };

	rec = add_record(UTRACE_REC_SIGNAL, sizeof(*rec));
	memcpy(rec->info, &info, sizeof(info));
}

static void add_loss(void)
{
	struct utrace_rec_lost *rec;

	rec = add_record(UTRACE_REC_LOST, sizeof(*rec));
	rec->lost = 17;
	rec->head.task = 0;
	rec->head.tid = 0;
	records.numbers[records.task]--;
}

/* Two threads whose calls overlap, with events between. */
static void make_overlap(void)
{
	records.task = 1;
	ENTER(SYS_read, 5, 0x1000, 10);
	add_item(0, UTRACE_ITEM_FILE, "pipe:[17]", 9, 0);
	records.task = 2;
	ENTER(SYS_write, 6, 0x1000, 9);
	bytes(1, "\0001\n\\\"\r\t\377", 9);
	records.task = 1;
	leave(SYS_read, 9);
	bytes(1, "\0001\n\\\"\r\t\377", 9);
	records.task = 2;
	add_signal(SIGALRM, SI_KERNEL);
	leave(SYS_write, -512);
	ENTER(SYS_nanosleep, 0x1000, 0);
	add_loss();
	records.numbers[2]++;
	leave(0x1fffffff, 0);
	leave(SYS_getpid, 7)->flags = UTRACE_REC_F_UNPAIRED;
	add_signal(SIGRTMIN + 3, SI_QUEUE);
}

/*
 * A thread executes a program, and gets the number of its leader, which exits
 * for that, or has exited by itself before.
 */
static void make_exec(unsigned int leader, unsigned int thread, bool by_itself)
{
	struct utrace_rec_exec *exec;
	struct utrace_rec_exit *exit;

	records.task = leader;
	ENTER(by_itself ? SYS_exit : SYS_pause, 0);
	if (by_itself)
		add_record(UTRACE_REC_EXIT, sizeof(*exit));
	records.task = thread;
	ENTER(SYS_execve, 0x1000, 0x2000, 0x3000);
	string(0, "/bin/true");
	records.task = leader;
	if (!by_itself) {
		exit = add_record(UTRACE_REC_EXIT, sizeof(*exit));
		exit->exec_tid = TASK + thread;
	}
	records.numbers[leader] = records.numbers[thread];
	exec = add_record(UTRACE_REC_EXEC, sizeof(*exec));
	exec->old_task = FIRST_NUMBER + thread;
	exec->old_tid = TASK + thread;
	leave(SYS_execve, 0);
	ENTER(SYS_exit_group, 3);
	exit = add_record(UTRACE_REC_EXIT, sizeof(*exit));
	exit->code = 3 << 8;
}

/* A stop of the process, and its end. */
static void make_stop(void)
{
	struct utrace_rec_jobctl *rec;

	records.task = 2;
	rec = add_record(UTRACE_REC_JOBCTL, sizeof(*rec));
	rec->type = CLD_STOPPED;
	rec->signal = SIGTSTP;
	rec = add_record(UTRACE_REC_JOBCTL, sizeof(*rec));
	rec->type = CLD_CONTINUED;
}

/* A child begins with the end of its parent's call; then all is one record. */
static void make_birth(void)
{
	struct utrace_rec_sys_call *rec;

	records.task = 5;
	leave(SYS_vfork, 0)->flags = UTRACE_REC_F_UNPAIRED;
	leave(SYS_vfork, 0)->flags = UTRACE_REC_F_UNPAIRED;
	rec = add_record(UTRACE_REC_SYS_CALL, sizeof(*rec));
	rec->nr = SYS_wait4;
	rec->ret = 7;
	rec->began = records.time - 5000000;
	rec->args[0] = -1;
	rec->args[1] = 0x1000;
	rec->args[2] = 1;
	bytes(1, "\x7f\x13\0\0", 4);
	rec = add_record(UTRACE_REC_SYS_CALL, sizeof(*rec));
	rec->nr = SYS_wait4;
	rec->args[1] = 0x1000;
	rec->args[2] = 1;
	bytes(1, "\0\0\0\0", 4);
}

/* Calls of the 32-bit table, without a row, and with results of all sorts. */
static void make_odd(void)
{
	struct utrace_rec_exit *rec;

	records.task = 3;
	ENTER(0x20000000 | 4, 1, 0xfffffffff7000000, 3);
	bytes(1, "abc", 3);
	leave(0x20000000 | 4, 3);
	/* The kernel's first and last real-time signals, and no signal. */
	ENTER(SYS_kill, 5, 32);
	leave(SYS_kill, 0);
	ENTER(SYS_kill, 5, 33);
	leave(SYS_kill, 0);
	ENTER(SYS_kill, 5, 64);
	leave(SYS_kill, 0);
	ENTER(SYS_kill, 5, 65);
	leave(SYS_kill, -EINVAL);
	ENTER(9999, 1, 2, 3, 4, 5, 6);
	leave(9999, -EOPNOTSUPP);
	ENTER(0x20000000 | 9999, 1, 2, 3, 4, 5, 6);
	leave(0x20000000 | 9999, -ENOSYS);
	/* Numbers with the bit of the 32-bit table. */
	ENTER(0x1fffffff, 1, 2, 3, 4, 5, -1)->asked = 0x20000004;
	leave(0x1fffffff, -ENOSYS);
	ENTER(0x1fffffff, 1, 2, 3, 4, 5, 6)->asked = -1;
	add_signal(SIGALRM, SI_KERNEL);
	leave(0x1fffffff, -ENOSYS);
	ENTER(SYS_umask, 022);
	leave(SYS_umask, 0);
	ENTER(SYS_lseek, -1, -5, 77);
	leave(SYS_lseek, -4095);
	ENTER(SYS_connect, 3, 0x1000, 16);
	add_item(1, UTRACE_ITEM_SOCKADDR, "\2\0\0\x50\1\2\3\4\0\0\0\0\0\0\0", 16, 0);
	leave(SYS_connect, 0);
	ENTER(SYS_exit_group, 1);
	rec = add_record(UTRACE_REC_EXIT, sizeof(*rec));
	rec->code = SIGSEGV | 0x80;
}

/* Print records of all sorts; then an entry whose exit comes later. */
static void show(const struct text *text, bool all)
{
	size_t kind;

	for (kind = 0; all && kind < KINDS; kind++)
		kinds[kind].make();
	make_overlap();
	make_odd();
	make_birth();
	make_exec(6, 7, false);
	make_exec(8, 9, true);
	make_stop();
	print_records(text);
	records.len = 0;
	records.task = 4;
	ENTER(SYS_read, 0, 0x1000, 1);
	print_records(text);
	text_idle(text);
	records.len = 0;
	leave(SYS_read, 1);
	bytes(1, "y", 1);
	print_records(text);
	text_end(text);
}

/* Add -t or -r. */
static void add_time(struct text *text, int option)
{
	if (option == 'r') {
		text->relative = true;
	} else if (option == 't' && !text->clock) {
		text->clock = TEXT_TIME_OF_DAY;
	} else if (option == 't') {
		text->clock += text->clock_digits == 6;
		text->clock_digits = 6;
	}
}

int main(int argc, char **argv)
{
	struct text text = TEXT_DEFAULT;
	struct out out;
	bool all = false;
	int c;

	while ((c = getopt(argc, argv, "ktrTs:vzZqf")) > 0) {
		all |= c == 'k';
		add_time(&text, c);
		text.durations |= c == 'T';
		text.max_string = c == 's' ? atoi(optarg) : (int)text.max_string;
		text.verbose |= c == 'v';
		if (c == 'z' || c == 'Z')
			text.status = c == 'z' ? STATUS_SUCCESSFUL : STATUS_FAILING;
		text.quiet |= c == 'q' ? QUIET_EXIT : 0;
		text.pids |= c == 'f';
	}
	out_begin(&out, optind < argc ? open(argv[optind], O_WRONLY) :
					STDOUT_FILENO);
	text.out = &out;
	if (optind < argc)
		count(&text);
	else
		show(&text, all);
	out_end(&out);
	return out_failed(&out) != 0;
}

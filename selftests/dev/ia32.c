// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - calls of the 32-bit table
 *
 * What a record has of the calls that socketcall() stands for, also
 * while another thread of the program changes their arguments, and of structures
 * with 32-bit pointers.
 */
#include <sys/un.h>

#include "dev.h"

#ifdef __x86_64__
#define IA32_GETPID	20
#define IA32_SOCKETCALL	102
#define IA32_READV	145

/* A command of socketcall(). */
#define CONNECT		3

#define CALLS		2000

struct iovec32 {
	__u32 base;
	__u32 len;
};

/* What the calls use, where 32-bit pointers reach. */
static struct {
	__u32 words[3];
	struct sockaddr_un address[2];
	struct iovec32 array[2];
	char text[2][16];
} *low;
static bool over;

static long call32(long nr, long a, long b, long c, long d, long e)
{
	__asm__ volatile("int $0x80" : "+a" (nr) :
			 "b" (a), "c" (b), "d" (c), "S" (d), "D" (e) :
			 "memory", "r8", "r9", "r10", "r11");
	return (int)nr;
}

static bool has_ia32(void)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		call32(IA32_GETPID, 0, 0, 0, 0, 0);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && !status;
}

static void make_low(void)
{
	int i;

	if (low)
		return;
	low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	need(low != MAP_FAILED, "memory for 32-bit pointers");
	for (i = 0; i < 2; i++) {
		low->address[i].sun_family = AF_UNIX;
		memset(low->address[i].sun_path, 'a' + i, 8);
		low->array[i].base = (unsigned long)low->text[i];
		low->array[i].len = 3 + i;
	}
	low->words[0] = -1;
	low->words[1] = (unsigned long)&low->address[0];
	low->words[2] = sizeof(low->address[0]);
}

static void *change(void *unused)
{
	unsigned int i = 0;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		low->words[1] = (unsigned long)&low->address[i++ % 2];
	return NULL;
}

static long connect_while_changed(long n)
{
	pthread_t thread;

	__atomic_store_n(&over, false, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, change, NULL))
		return -1;
	while (n--)
		call32(IA32_SOCKETCALL, CONNECT, (unsigned long)low->words, 0, 0, 0);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	return pthread_join(thread, NULL);
}

static long connect_from_nowhere(long n)
{
	return call32(IA32_SOCKETCALL, CONNECT, 8, 0, 0, 0);
}

static long read_entries(long n)
{
	int fd[2];

	if (pipe(fd) || write(fd[1], "abcde", 5) != 5)
		return -1;
	return call32(IA32_READV, fd[0], (unsigned long)low->array, 2, 0, 0);
}

static struct utrace_item *item_of(struct utrace_rec *rec, unsigned int kind,
				   int nth)
{
	struct utrace_item *item = NULL;

	while ((item = next_item(rec, item)))
		if (item->kind == kind && !nth--)
			return item;
	return NULL;
}

/* What is wrong with a record of connect(); NULL: nothing. */
static const char *fault_of(struct utrace_rec *rec)
{
	struct utrace_item *args = item_of(rec, UTRACE_ITEM_ARGS, 0);
	struct utrace_item *item = item_of(rec, UTRACE_ITEM_SOCKADDR, 0);
	struct sockaddr_un address;
	__u32 words[3];
	int i;

	if (!args || args->len != sizeof(words))
		return "no arguments";
	memcpy(words, args->data, sizeof(words));
	if (words[0] != -1U || words[2] != sizeof(address))
		return "other arguments";
	if (!item || item->arg != 1 || item->len != sizeof(address))
		return "no address";
	memcpy(&address, item->data, sizeof(address));
	i = address.sun_path[0] - 'a';
	if (i < 0 || i > 1 || words[1] != (unsigned long)&low->address[i])
		return "another address than the arguments name";
	return NULL;
}

static int begin(struct target *target, __u32 nr)
{
	__u32 call = nr | UTRACE_NR_IA32;
	int fd = session();

	/* The target inherits the memory. */
	make_low();
	start(target);
	need(!setup(fd, 16 << 20), "rings");
	need(attach(fd, target->pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	settle(target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		     ALL_CAPTURES, &call, 1),
	     "choose");
	return fd;
}

static void end(struct target *target, int fd)
{
	close(fd);
	stop(target);
}

static bool is_of(struct utrace_rec *rec, int type, __u32 nr)
{
	return rec->type == type &&
	       ((struct utrace_rec_sys_enter *)rec)->nr == (nr | UTRACE_NR_IA32);
}

TEST_F(dev, unpacked)
{
	const char *fault, *first = NULL;
	struct utrace_rec *rec;
	struct target target;
	int fd, n = 0, wrong = 0;

	if (!has_ia32())
		SKIP(return, "no 32-bit system calls (IA32_EMULATION)");
	fd = begin(&target, IA32_SOCKETCALL);
	is(0, have(&target, SELF, connect_while_changed, CALLS),
	   "the program has changed the arguments");
	settle(&target, SELF);
	take(fd);
	for_each_record(rec) {
		if (!is_of(rec, UTRACE_REC_SYS_ENTER, IA32_SOCKETCALL))
			continue;
		n++;
		fault = fault_of(rec);
		wrong += !!fault;
		first = first ?: fault;
	}
	is(CALLS, n, "entries of connect()");
	holds(!wrong, "%d records with a fault: %s", wrong, first ?: "none");
	end(&target, fd);
}

TEST_F(dev, not_unpacked)
{
	struct utrace_rec *rec;
	struct target target;
	int fd, n = 0;

	if (!has_ia32())
		SKIP(return, "no 32-bit system calls (IA32_EMULATION)");
	fd = begin(&target, IA32_SOCKETCALL);
	have(&target, SELF, connect_from_nowhere, 0);
	settle(&target, SELF);
	take(fd);
	for_each_record(rec)
		if (is_of(rec, UTRACE_REC_SYS_ENTER, IA32_SOCKETCALL)) {
			n++;
			holds(!item_of(rec, UTRACE_ITEM_ARGS, 0) &&
			      !item_of(rec, UTRACE_ITEM_SOCKADDR, 0),
			      "nothing of arguments that cannot be read");
		}
	is(1, n, "an entry");
	end(&target, fd);
}

TEST_F(dev, pointers_of_32_bits)
{
	struct utrace_item *item[2] = {};
	struct utrace_rec *rec;
	struct target target;
	int fd;

	if (!has_ia32())
		SKIP(return, "no 32-bit system calls (IA32_EMULATION)");
	fd = begin(&target, IA32_READV);
	is(5, have(&target, SELF, read_entries, 0), "readv() has read 5 bytes");
	settle(&target, SELF);
	take(fd);
	for_each_record(rec)
		if (is_of(rec, UTRACE_REC_SYS_EXIT, IA32_READV)) {
			item[0] = item_of(rec, UTRACE_ITEM_BYTES, 0);
			item[1] = item_of(rec, UTRACE_ITEM_BYTES, 1);
		}
	holds(item[0] && item[0]->len == 3 && !item[0]->index &&
	      !memcmp(item[0]->data, "abc", 3), "the first entry");
	holds(item[1] && item[1]->len == 2 && item[1]->index == 1 &&
	      !memcmp(item[1]->data, "de", 2), "what was read to the second one");
	end(&target, fd);
}
#endif

TEST_HARNESS_MAIN

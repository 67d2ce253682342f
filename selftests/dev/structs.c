// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - structures that arguments point to
 *
 * What a record has of them, also while another thread of the program changes
 * them, and for pointers and lengths that lie.
 */
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "dev.h"

#define CALLS		2000
#define ENTRIES		4

/* The memory of entry i is full of the letter 'a' + i. */
static char memory[ENTRIES][64];
static struct iovec array[ENTRIES];
static bool over;

static int null_fd = -1;

static void open_null(void)
{
	int i;

	if (null_fd < 0)
		null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (i = 0; i < ENTRIES; i++)
		memset(memory[i], 'a' + i, sizeof(memory[i]));
}

/* Set the entries to memory that is there, that is not, and to no memory. */
static void set_entries(unsigned int seed)
{
	int i;

	for (i = 0; i < ENTRIES; i++) {
		switch (seed++ % 3) {
		case 0:
			array[i].iov_base = memory[i];
			array[i].iov_len = 1 + seed % sizeof(memory[i]);
			break;
		case 1:
			array[i].iov_base = (void *)0x1000;
			array[i].iov_len = seed % 3 ? 7 : SIZE_MAX;
			break;
		case 2:
			array[i].iov_base = NULL;
			array[i].iov_len = 9;
			break;
		}
	}
}

static void *change(void *unused)
{
	unsigned int seed = 0;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		set_entries(seed++);
	return NULL;
}

static long write_entries(long n)
{
	unsigned int i;

	open_null();
	for (i = 0; i < n; i++) {
		set_entries(i);
		writev(null_fd, array, ENTRIES);
	}
	return 0;
}

static long write_while_changed(long n)
{
	pthread_t thread;

	open_null();
	__atomic_store_n(&over, false, __ATOMIC_RELAXED);
	if (pthread_create(&thread, NULL, change, NULL))
		return -1;
	while (n--)
		writev(null_fd, array, ENTRIES);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	return pthread_join(thread, NULL);
}

/* What is wrong with the items of a record; NULL: nothing. */
static const char *fault_of(struct utrace_rec *rec)
{
	struct utrace_item *items[2 * ENTRIES + 2] = {}, *item = NULL, *above;
	unsigned int n = 0, behind = 0, pointers = 0, i;
	struct iovec entry;

	while ((item = next_item(rec, item))) {
		if (n == 2 * ENTRIES + 2)
			return "too many items";
		items[n++] = item;
	}
	if (!n || items[0]->kind != UTRACE_ITEM_STRUCT || items[0]->parent ||
	    items[0]->arg != 1 || items[0]->len != sizeof(array))
		return "no array";
	for (i = 0; i < ENTRIES; i++) {
		memcpy(&entry, items[0]->data + i * sizeof(entry), sizeof(entry));
		pointers += !!entry.iov_base;
	}
	for (i = 1; i < n; i++) {
		item = items[i];
		if (item->kind != UTRACE_ITEM_BYTES || item->arg != 1 ||
		    item->parent != i || item->field ||
		    item->index >= ENTRIES)
			return "an item without its place";
		above = items[i - item->parent];
		memcpy(&entry, above->data + item->index * sizeof(entry),
		       sizeof(entry));
		if (!entry.iov_base || item->whole != entry.iov_len)
			return "memory of another length than in the array";
		if (entry.iov_base == (void *)0x1000 &&
		    (item->len || !(item->flags & UTRACE_ITEM_F_FAULTED)))
			return "memory that is not there";
		/* An address and a length may be of two entries. */
		if (entry.iov_base == memory[item->index] &&
		    entry.iov_len <= sizeof(memory[0]) &&
		    (item->len != entry.iov_len ||
		     item->data[0] != 'a' + item->index))
			return "other memory than in the array";
		behind++;
	}
	return behind == pointers ? NULL : "a pointer without its memory";
}

static void check_writes(const char *name, int want)
{
	const char *fault, *first = NULL;
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec *rec;
	int n = 0, wrong = 0;

	for_each_record(rec) {
		enter = (void *)rec;
		if (rec->type != UTRACE_REC_SYS_ENTER || enter->nr != SYS_writev)
			continue;
		n++;
		fault = fault_of(rec);
		wrong += !!fault;
		first = first ?: fault;
	}
	holds(n == want, "%s: %d calls", name, n);
	holds(!wrong, "%s: %d records with a fault: %s", name, wrong,
	      first ?: "none");
}

static int begin(struct target *target, __u64 capture)
{
	static const __u32 calls[] = { SYS_writev, SYS_fstat };
	int fd = session();

	start(target);
	need(!setup(fd, 16 << 20), "rings");
	need(attach(fd, target->pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	settle(target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT),
		     capture, calls, 2),
	     "choose");
	return fd;
}

static void end(struct target *target, int fd)
{
	close(fd);
	stop(target);
}

TEST_F(dev, nested)
{
	struct target target;
	int fd = begin(&target, UTRACE_CAPTURE_BUFFERS);

	have(&target, SELF, write_entries, CALLS);
	settle(&target, SELF);
	take(fd);
	check_writes("struct iovec", CALLS);
	end(&target, fd);
}

/* Addresses and lengths that were followed are those that the record has. */
TEST_F(dev, changed)
{
	struct target target;
	int fd = begin(&target, UTRACE_CAPTURE_BUFFERS);

	is(0, have(&target, SELF, write_while_changed, CALLS),
	   "the program has changed the array");
	settle(&target, SELF);
	take(fd);
	check_writes("struct iovec that another thread changes", CALLS);
	end(&target, fd);
}

/*
 * fstat() of null_fd to memory that is there, that ends in the structure, and
 * that is not there; and of a descriptor that is not open.
 */
static long stat_to(long n)
{
	long page = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	open_null();
	munmap(at + page, page);
	syscall(SYS_fstat, null_fd, at);
	syscall(SYS_fstat, null_fd, at + page - 8);
	syscall(SYS_fstat, null_fd, 8);
	syscall(SYS_fstat, -1, at);
	return munmap(at, page);
}

/* The items of the exits of fstat(), in order. */
static int exits(struct utrace_item **items, int most)
{
	struct utrace_rec_sys_exit *exit;
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec) {
		exit = (void *)rec;
		if (rec->type == UTRACE_REC_SYS_EXIT && exit->nr == SYS_fstat &&
		    n < most)
			items[n++] = next_item(rec, NULL);
	}
	return n;
}

TEST_F(dev, written)
{
	struct utrace_item *items[4] = {}, *item;
	struct target target;
	struct stat stat;
	int fd;

	fd = begin(&target, UTRACE_CAPTURE_STRUCTS);
	is(0, have(&target, SELF, stat_to, 0), "four calls");
	settle(&target, SELF);
	take(fd);
	is(4, exits(items, 4), "four exits");
	item = items[0];
	need(item, "an item");
	memcpy(&stat, item->data, sizeof(stat));
	holds(item->kind == UTRACE_ITEM_STRUCT && item->arg == 1 &&
	      item->len == sizeof(stat) && item->whole == sizeof(stat) &&
	      item->flags == UTRACE_ITEM_F_OUT && S_ISCHR(stat.st_mode),
	      "struct stat of /dev/null");
	holds(!items[1] && !items[2] && !items[3],
	      "nothing of calls that fail");
	end(&target, fd);

	fd = begin(&target, ALL_CAPTURES & ~UTRACE_CAPTURE_STRUCTS);
	have(&target, SELF, stat_to, 0);
	settle(&target, SELF);
	take(fd);
	is(4, exits(items, 4), "four exits");
	holds(!items[0], "no structure without UTRACE_CAPTURE_STRUCTS");
	end(&target, fd);
}

/* pselect6() of more descriptors than the capture has room for files. */
static long select_many(long n)
{
	struct timespec timeout = {};
	fd_set set;
	int i;

	open_null();
	FD_ZERO(&set);
	for (i = 0; i < n; i++) {
		/* FD_SET() evaluates its argument twice. */
		int fd = dup(null_fd);

		FD_SET(fd, &set);
	}
	return syscall(SYS_pselect6, FD_SETSIZE, &set, &set, &set, &timeout,
		       NULL) < 0 ? -errno : 0;
}

/* The files of a set take no room from the arguments after it. */
TEST_F(dev, sets)
{
	static const __u32 calls[] = { SYS_pselect6 };
	struct utrace_item *item = NULL;
	struct utrace_rec *rec;
	struct target target;
	int fd = session(), structs = 0, files = 0;

	start(&target);
	need(!setup(fd, 16 << 20), "rings");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	settle(&target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER),
		     UTRACE_CAPTURE_STRUCTS | UTRACE_CAPTURE_FILES, calls, 1),
	     "choose");
	is(0, have(&target, SELF, select_many, 200), "pselect6()");
	settle(&target, SELF);
	take(fd);
	for_each_record(rec)
		while ((item = next_item(rec, item))) {
			if (item->kind == UTRACE_ITEM_STRUCT && !files)
				structs++;
			files += item->kind == UTRACE_ITEM_FILE;
		}
	is(4, structs, "three sets and the timeout are before the files");
	holds(files > 10, "%d files", files);
	end(&target, fd);
}

TEST_HARNESS_MAIN

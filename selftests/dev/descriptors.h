/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - random calls on the descriptors that sessions make
 *
 * Sessions make consumers of branches, and owners: descriptors of words, markers
 * and user_events.  The calls are made as those of calls.h.  Processes send
 * descriptors of each kind, and sessions, to each other.
 */
#ifndef UTRACE_DEV_DESCRIPTORS_H
#define UTRACE_DEV_DESCRIPTORS_H

#include <sys/epoll.h>

#include "../marker/events.h"
#include "calls.h"

#define CONSUMERS	3
#define OWNERS		3

enum kind { SESSION, CONSUMER, OWNER, KINDS };

/* How much the processes have made, in memory that they share. */
struct made {
	_Atomic long consumers;
	_Atomic long owners;
	_Atomic long markers;
};

static struct made *made;

static int consumers[CONSUMERS], owners[OWNERS], epoll = -1;
static struct area consumer_areas[CONSUMERS];

/* By kind, a pair of sockets that carries descriptors. */
static int mail[KINDS][2] = { { -1, -1 }, { -1, -1 }, { -1, -1 } };

/*
 * What has the number of a descriptor that is closed.  It is open with O_PATH,
 * so each call on it gives EBADF.
 */
static int closed = -1;

static int any_consumer(void)
{
	return consumers[below(CONSUMERS)];
}

static int any_owner(void)
{
	return owners[below(OWNERS)];
}

static int any_fd(enum kind kind, int s)
{
	return kind == SESSION ? sessions[s] :
	       kind == CONSUMER ? any_consumer() : any_owner();
}

/* Begin with descriptors that are closed. */
static void close_slots(int *fds, int n)
{
	while (n--)
		fds[n] = fcntl(closed, F_DUPFD_CLOEXEC, 0);
}

static void open_descriptors(void)
{
	close_slots(consumers, CONSUMERS);
	close_slots(owners, OWNERS);
	epoll = epoll_create1(EPOLL_CLOEXEC);
}

/* Consumers of branches */

static void put_consumer(int i, int fd)
{
	replace(consumers[i], fd);
	unmap(&consumer_areas[i]);
}

static void do_branches(int s)
{
	union argument a = { .branches = {
		.where.scope = 1 + below(3),
		.mode = below(2),
		.records = one_in(2) ? 512 : 0,
		.levels = one_in(4) ? below(4) : 0,
		.source = one_in(8) ? below(4) : 0,
		.flags = below(2) * UTRACE_BRANCHES_MAPPED,
	} };
	int fd;

	if (a.branches.mode == UTRACE_BRANCHES_ALL)
		a.branches.full = below(3);
	a.branches.where.fd = fd_for(a.branches.where.scope);
	if (one_in(16)) {
		a.branches.where = (struct utrace_where){
			.scope = UTRACE_SCOPE_CPU,
			.fd = -1,
			.cpu = below(2),
		};
		a.branches.source = UTRACE_BRANCH_SOURCE_EMULATED;
	}
	spoil(&a, sizeof(a.branches));
	/* Larger rings take the memory of the guest. */
	if (a.branches.records > 1 << 16 && a.branches.records <= 1 << 30)
		return;
	fd = make_ioctl(sessions[s], UTRACE_IOC_BRANCHES, &a);
	if (fd < 0)
		return;
	fcntl(fd, F_SETFL, O_NONBLOCK);
	put_consumer(below(CONSUMERS), fd);
	made->consumers++;
}

static void do_branch_read(int unused)
{
	static __thread struct utrace_branch some[1000];
	size_t size = one_in(8) ? below(sizeof(some)) : sizeof(some);
	void *to = one_in(32) ? (void *)odd_number() : some;
	ssize_t n = read(any_consumer(), to, size);

	check("read(2)", n);
	if (n > 0 && n % sizeof(some[0]))
		fail("read(2) gave a part of a record");
}

static void do_branch_info(int unused)
{
	union argument a = {};

	make_ioctl(any_consumer(), UTRACE_IOC_BRANCH_INFO, &a);
}

static void do_branch_map(int unused)
{
	int i = below(CONSUMERS);
	struct area *to = &consumer_areas[i];
	struct utrace_ioc_branch_info info = {};
	struct utrace_map_tail *tail;

	ioctl(consumers[i], UTRACE_IOC_BRANCH_INFO, &info);
	if (one_in(2)) {
		map(consumers[i], to, info.map_size, PROT_READ,
		    UTRACE_MAP_RINGS);
		return;
	}
	map(consumers[i], to, info.tails_size, PROT_READ | PROT_WRITE,
	    UTRACE_MAP_TAILS);
	tail = to->at;
	if (to->size && to->writable)
		__atomic_store_n(&tail->tail, one_in(2) ? info.written :
				 odd_number(), __ATOMIC_RELAXED);
}

/* Words */

static void do_words(int s)
{
	static const __u32 scopes[] = {
		UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE, UTRACE_SCOPE_SYSTEM,
	};
	union argument a = { .words = {
		.scope = scopes[below(N_OF(scopes))],
		.target = one_in(2) ? 1 + below(8) : 0,
	} };
	int fd;

	a.words.pidfd = fd_for(a.words.scope);
	spoil(&a, sizeof(a.words));
	fd = make_ioctl(sessions[s], UTRACE_IOC_WORDS, &a);
	if (fd < 0)
		return;
	replace(any_owner(), fd);
	made->owners++;
}

/*
 * The words are in the area of each target that has executed no program.  Each
 * kind has some bytes of its own: a bit that is set as that of a shorter word
 * belongs to the program, for those who set it as that of a longer word.
 */
#define BYTES_OF_KIND	16
#define WORDS_SIZE	(UTRACE_WORD_MARKER * BYTES_OF_KIND)

static void do_word(int unused)
{
	__u32 kind = below(UTRACE_WORD_MARKER + 1);
	union argument a = { .word = {
		.addr = (uintptr_t)area + kind * BYTES_OF_KIND + 8 * below(2),
		.kind = kind,
		.bit = kind < UTRACE_WORD_COUNT16 ? below(32) : 0,
	} };

	if (one_in(8))
		a.word.addr = odd_number();
	if (one_in(8))
		a.word.bit = odd_number();
	make_ioctl(any_owner(), one_in(2) ? UTRACE_IOC_WORD_ARM :
		   UTRACE_IOC_WORD_DISARM, &a);
}

/* Markers, and what has them: functions, which give the same results. */

static unsigned short semaphore __attribute__((section(".probes")));

static __attribute__((noinline, noclone)) long add_one(long n)
{
	asm volatile("" : "+r"(n));
	return n + 1;
}

static __attribute__((noinline, noclone)) long take_one(long n)
{
	asm volatile("" : "+r"(n));
	return n - 1;
}

/* The file of this program, and what is where in it. */
static int program = -1;
static long function_at[2], semaphore_at;

static void find_functions(void)
{
	program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	function_at[0] = offset_in_file(add_one);
	function_at[1] = offset_in_file(take_one);
	semaphore_at = offset_in_file(&semaphore);
	need(program >= 0 && function_at[0] > 0 && function_at[1] > 0 &&
	     semaphore_at > 0, "/proc/self/exe");
}

static struct utrace_marker_arg any_argument(void)
{
	static const __s8 sizes[] = { 1, 2, 4, 8, -1, -2, -4, -8 };

	return (struct utrace_marker_arg){
		.size = sizes[below(N_OF(sizes))],
		.kind = below(3),
		.reg = below(10),
		.index = UTRACE_MARKER_NO_REG,
		.disp = one_in(2) ? odd_number() : below(64),
	};
}

/*
 * An offset is that of a function, or behind the end of the file.  A breakpoint
 * in the midst of an instruction would change what the test does.
 */
static void do_marker(int unused)
{
	union argument a = { .marker = {
		.fd = one_in(16) ? null : program,
		.flags = one_in(2) ? 0 : below(8),
		.offset = one_in(16) ? 1ULL << (40 + below(24)) :
			  function_at[below(2)],
		.semaphore = one_in(2) ? semaphore_at : 0,
		.id = below(4),
		.nargs = one_in(16) ? odd_number() : below(3),
		.args = { any_argument(), any_argument() },
	} };
	bool arm = one_in(2);
	int ret;

	ret = make_ioctl(any_owner(), arm ? UTRACE_IOC_MARKER_ARM :
			 UTRACE_IOC_MARKER_DISARM, &a);
	made->markers += arm && !ret;
}

static void do_user_event(int unused)
{
	union argument a = { .user_event = {
		.name = one_in(16) ? odd_number() : (uintptr_t)event[0].name,
		.id = any(),
		.flags = one_in(2) ? UTRACE_MARKER_COUNT : 0,
		.reserved = one_in(16) ? odd_number() : 0,
	} };

	make_ioctl(any_owner(), one_in(2) ? UTRACE_IOC_USER_EVENT_ARM :
		   UTRACE_IOC_USER_EVENT_DISARM, &a);
}

/* Read the list of words, the counts of markers, or a histogram. */
static void do_list(int unused)
{
	static __thread __u64 rows[256];
	__u64 to = one_in(16) ? odd_number() : (uintptr_t)rows;
	union argument a = {};

	switch (below(3)) {
	case 0:
		a.word_list.status = to;
		a.word_list.n = below(50);
		make_ioctl(any_owner(), UTRACE_IOC_WORD_LIST, &a);
		break;
	case 1:
		a.marker_counts.counts = to;
		a.marker_counts.n = below(16);
		make_ioctl(any_owner(), UTRACE_IOC_MARKER_COUNTS, &a);
		break;
	default:
		a.histogram.id = below(4);
		a.histogram.buckets = to;
		a.histogram.n = below(UTRACE_MARKER_BUCKETS + 2);
		make_ioctl(any_owner(), UTRACE_IOC_MARKER_HISTOGRAM, &a);
	}
}

/* Descriptors of any kind */

static void do_poll_all(int s)
{
	struct pollfd fds[] = {
		{ .fd = sessions[s], .events = POLLIN },
		{ .fd = any_consumer(), .events = POLLIN },
		{ .fd = any_owner(), .events = POLLIN },
	};

	check("poll(2)", poll(fds, N_OF(fds), below(3)));
}

static void do_epoll(int s)
{
	struct epoll_event event = {
		.events = EPOLLIN | (one_in(2) ? EPOLLET : 0),
	};

	check("epoll_ctl(2)",
	      epoll_ctl(epoll, one_in(3) ? EPOLL_CTL_DEL : EPOLL_CTL_ADD,
			any_fd(below(KINDS), s), &event));
	check("epoll_wait(2)", epoll_wait(epoll, &event, 1, below(3)));
}

static void do_send(int s)
{
	enum kind kind = below(KINDS);

	send_fd(mail[kind][0], any_fd(kind, s));
}

/* Let a descriptor take the place of one of its kind. */
static void put_fd(enum kind kind, int s, int fd)
{
	if (kind == CONSUMER) {
		put_consumer(below(CONSUMERS), fd);
		return;
	}
	if (kind == SESSION)
		unmap_session(s);
	replace(any_fd(kind, s), fd);
}

static void do_receive(int s)
{
	enum kind kind = below(KINDS);
	int fd = receive_fd(mail[kind][1]);

	if (fd >= 0)
		put_fd(kind, s, fd);
}

static void do_close_descriptor(int s)
{
	put_fd(one_in(2) ? CONSUMER : OWNER, s,
	       fcntl(closed, F_DUPFD_CLOEXEC, 0));
}

/* EBADF stands for what is closed. */
static const struct operation descriptor_operations[] = {
	{ "branches", do_branches, 6, false,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, ESRCH, EPERM, EDEADLK,
	    EOPNOTSUPP, ENODEV, EBUSY, EIO, EUSERS, ENOSPC, EMFILE, ENFILE,
	    ENOMEM } },
	{ "branch_read", do_branch_read, 12, true,
	  { EAGAIN, EBADF, EBUSY, EFAULT, EINVAL, EPERM } },
	/* With another size it is another ioctl, which there is not. */
	{ "branch_info", do_branch_info, 2, true,
	  { E2BIG, EBADF, EFAULT, EINVAL, ENOTTY } },
	{ "branch_map", do_branch_map, 2, false,
	  { EBADF, EINVAL, ENOMEM, EPERM } },
	{ "words", do_words, 4, false,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EMFILE, ENFILE, ENOENT,
	    ENOMEM, ENOSPC, EPERM, ESRCH, EUSERS } },
	{ "word", do_word, 8, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EAGAIN, EEXIST, ENOENT,
	    ENOMEM, ENOSPC, EOPNOTSUPP, EPERM, ESRCH } },
	{ "marker", do_marker, 8, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EBUSY, EEXIST, EIO, ENOENT,
	    ENOMEM, ENOSPC, EOPNOTSUPP, EPERM, ERANGE, ESRCH, EUSERS } },
	{ "user_event", do_user_event, 4, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, EEXIST, ENOENT, ENOMEM,
	    ENOSPC, EOPNOTSUPP, EPERM, ESRCH, EUSERS } },
	{ "list", do_list, 4, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, ENOENT, ENOMEM } },
	{ "poll_all", do_poll_all, 4, true, {} },
	{ "epoll", do_epoll, 4, true, { EBADF, EEXIST, EINTR, ENOENT } },
	{ "send", do_send, 3, true, {} },
	{ "receive", do_receive, 3, false, {} },
	{ "close_descriptor", do_close_descriptor, 2, false, {} },
};

#endif /* UTRACE_DEV_DESCRIPTORS_H */

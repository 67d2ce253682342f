/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - random calls on consumers of branches, and of arming
 *
 * Sessions make consumers of branches, and arm words, markers and user_events for
 * their targets.  The calls are made as those of calls.h.  Processes send consumers
 * and sessions to each other.
 */
#ifndef UTRACE_DEV_DESCRIPTORS_H
#define UTRACE_DEV_DESCRIPTORS_H

#include <sys/epoll.h>

#include "../marker/events.h"
#include "calls.h"

#define CONSUMERS	3

enum kind { SESSION, CONSUMER, KINDS };

/* How much the processes have made, in memory that they share. */
struct made {
	_Atomic long consumers;
	_Atomic long words;
	_Atomic long markers;
};

static struct made *made;

static int consumers[CONSUMERS], epoll = -1;
static struct area consumer_areas[CONSUMERS];

/* By kind, a pair of sockets that carries descriptors. */
static int mail[KINDS][2] = { { -1, -1 }, { -1, -1 } };

/*
 * What has the number of a descriptor that is closed.  It is open with O_PATH,
 * so each call on it gives EBADF.
 */
static int closed = -1;

static int any_consumer(void)
{
	return consumers[below(CONSUMERS)];
}

static int any_fd(enum kind kind, int s)
{
	return kind == SESSION ? sessions[s] : any_consumer();
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
		.full = below(4),
		.capacity = one_in(2) ? 512 : 0,
		.levels = one_in(4) ? below(4) : 0,
		.source = one_in(8) ? below(4) : 0,
		.flags = below(2) * UTRACE_BRANCHES_F_MAPPED,
	} };
	int fd;

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
	if (a.branches.capacity > 1 << 16 && a.branches.capacity <= 1 << 30)
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

/* Arming */

/* The structure that ARM reads, with room for one that is said to be larger. */
union spec {
	struct utrace_word word;
	struct utrace_marker site;
	struct utrace_user_event user_event;
	char room[512];
};

/* By number of a session, the last id that it has given. */
static _Atomic __u32 last_id[SESSIONS];

static __u32 any_target(void)
{
	return one_in(16) ? odd_number() : 1 + below(4);
}

/* An id that the session has given, if it has given so many. */
static __u32 any_id(int s)
{
	return one_in(16) ? odd_number() : last_id[s] - below(4);
}

/* Arm what @spec, of @size bytes, describes; returns what the ioctl has returned. */
static int arm_spec(int s, __u32 type, union spec *spec, __u32 size)
{
	union argument a = { .arm = {
		.target = any_target(),
		.type = type,
		.flags = one_in(2) ? 0 : below(8),
		.cookie = any(),
		.spec = one_in(16) ? odd_number() : (uintptr_t)spec,
		.spec_size = one_in(16) ? below(2 * size) : size,
	} };
	int ret;

	spoil(&a, sizeof(a.arm));
	/* A structure of another type may describe a word that programs need. */
	if (a.arm.type && a.arm.type <= UTRACE_ARM_USER_EVENT)
		a.arm.type = type;
	ret = make_ioctl(sessions[s], UTRACE_IOC_ARM, &a);
	if (!ret)
		last_id[s] = a.arm.id;
	return ret;
}

/*
 * The words are in the area of each target that has executed no program.  Each
 * kind has some bytes of its own: a bit that is set as that of a shorter word
 * belongs to the program, for those who set it as that of a longer word.
 */
#define BYTES_OF_KIND	16
#define WORD_KINDS	(UTRACE_WORD_COUNT32 + 1)
#define WORDS_SIZE	(WORD_KINDS * BYTES_OF_KIND)

static void do_arm_word(int s)
{
	__u32 kind = below(WORD_KINDS + 1);
	union spec spec = { .word = {
		.addr = (uintptr_t)area + kind * BYTES_OF_KIND + 8 * below(2),
		.kind = kind,
		.bit = kind < UTRACE_WORD_COUNT16 ? below(32) : 0,
	} };

	if (one_in(8))
		spec.word.addr = odd_number();
	if (one_in(8))
		spec.word.bit = odd_number();
	made->words += !arm_spec(s, UTRACE_ARM_WORD, &spec, sizeof(spec.word));
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
	__u8 kind = UTRACE_ARG_CONST + below(3);

	return (struct utrace_marker_arg){
		.size = sizes[below(N_OF(sizes))],
		.kind = one_in(32) ? odd_number() : kind,
		.reg = kind == UTRACE_ARG_CONST ? UTRACE_ARG_NO_REG : below(10),
		.index = one_in(32) ? odd_number() : UTRACE_ARG_NO_REG,
		.disp = kind == UTRACE_ARG_REG ? 0 :
			one_in(2) ? odd_number() : below(64),
	};
}

/*
 * An offset is that of a function, or behind the end of the file.  A breakpoint
 * in the midst of an instruction would change what the test does.
 */
static void do_arm_site(int s)
{
	union spec spec = { .site = {
		.fd = one_in(16) ? null : program,
		.flags = one_in(2) ? 0 : below(4),
		.offset = one_in(16) ? 1ULL << (40 + below(24)) :
			  function_at[below(2)],
		.semaphore = one_in(2) ? semaphore_at : 0,
		.nargs = below(3),
		.reserved = one_in(16) ? odd_number() : 0,
	} };
	__u32 i;

	for (i = 0; i < spec.site.nargs; i++)
		spec.site.args[i] = any_argument();
	if (one_in(16))
		spec.site.nargs = odd_number();

	made->markers += !arm_spec(s, UTRACE_ARM_MARKER, &spec, sizeof(spec.site));
}

static void do_arm_user_event(int s)
{
	union spec spec = { .user_event = {
		.name = one_in(16) ? odd_number() : (uintptr_t)event[0].name,
		.flags = one_in(16) ? odd_number() : 0,
		.reserved = one_in(16) ? odd_number() : 0,
	} };

	arm_spec(s, UTRACE_ARM_USER_EVENT, &spec, sizeof(spec.user_event));
}

static void do_disarm(int s)
{
	union argument a = { .disarm = {
		.id = any_id(s),
		.flags = one_in(16) ? odd_number() : 0,
	} };

	make_ioctl(sessions[s], UTRACE_IOC_DISARM, &a);
}

/*
 * Describe an array of elements of @size bytes or, now and then, of another size.
 * The array has room for them.
 */
static struct utrace_rows any_rows(__u32 size)
{
	static __thread __u64 room[1 << 11];

	if (one_in(8))
		size = below(4200);
	return (struct utrace_rows){
		.at = one_in(16) ? odd_number() : (uintptr_t)room,
		.n = below(sizeof(room) / (size ?: 1) + 1),
		.size = size,
		.reserved = one_in(32) ? odd_number() : 0,
	};
}

static void do_list(int s)
{
	union argument a = { .list = {
		.what = one_in(16) ? odd_number() : UTRACE_LIST_ARMED,
		.rows = any_rows(sizeof(struct utrace_armed)),
		.target = any_target(),
	} };

	make_ioctl(sessions[s], UTRACE_IOC_LIST, &a);
}

static void do_read_counts(int s)
{
	__u32 what = below(4);
	union argument a = { .hits = {
		.rows = any_rows(what == UTRACE_HITS_HISTOGRAM ? sizeof(__u64) :
				 sizeof(struct utrace_hit_count)),
		.target = any_target(),
		.id = one_in(2) ? any_id(s) : 0,
		.what = what,
		.reserved = one_in(16) ? odd_number() : 0,
	} };

	make_ioctl(sessions[s], UTRACE_IOC_HITS, &a);
}

/* Descriptors of any kind */

static void do_poll_all(int s)
{
	struct pollfd fds[] = {
		{ .fd = sessions[s], .events = POLLIN | POLLPRI },
		{ .fd = any_consumer(), .events = POLLIN },
	};

	check("poll(2)", poll(fds, N_OF(fds), below(3)));
}

static void do_epoll(int s)
{
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLPRI | (one_in(2) ? EPOLLET : 0),
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

static void do_close_consumer(int s)
{
	put_fd(CONSUMER, s, fcntl(closed, F_DUPFD_CLOEXEC, 0));
}

/* EBADF: the descriptor is closed. */
static const struct operation descriptor_operations[] = {
	{ "branches", do_branches, 6, false,
	  { E2BIG, EFAULT, EINTR, EINVAL, EBADF, ESRCH, EPERM, EDEADLK,
	    EOPNOTSUPP, ENODEV, EBUSY, EIO, EUSERS, ENOSPC, EMFILE, ENFILE,
	    ENOMEM } },
	{ "branch_read", do_branch_read, 12, true,
	  { EAGAIN, EBADF, EBUSY, EFAULT, EINVAL, EPERM } },
	{ "branch_info", do_branch_info, 2, true,
	  { E2BIG, EBADF, EFAULT, EINVAL } },
	{ "branch_map", do_branch_map, 2, false,
	  { EBADF, EINVAL, ENOMEM, EPERM } },
	{ "arm_word", do_arm_word, 8, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EAGAIN, EEXIST, ENOENT, ENOMEM,
	    ENOSPC, EOPNOTSUPP, EPERM, ESRCH, EUSERS } },
	{ "arm_site", do_arm_site, 6, true,
	  { E2BIG, EFAULT, EACCES, EINTR, EINVAL, EBADF, EBUSY, EEXIST, EIO, ENOENT,
	    ENOMEM, ENOSPC, ENXIO, EOPNOTSUPP, EPERM, ERANGE, ESRCH, EUSERS } },
	{ "arm_user_event", do_arm_user_event, 3, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, EEXIST, ENOENT, ENOMEM, ENOSPC,
	    EOPNOTSUPP, EPERM, ESRCH, EUSERS } },
	{ "disarm", do_disarm, 8, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT } },
	{ "list", do_list, 3, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM } },
	{ "read_counts", do_read_counts, 3, true,
	  { E2BIG, EFAULT, EINTR, EINVAL, ENOENT, ENOMEM } },
	{ "poll_all", do_poll_all, 4, true, {} },
	{ "epoll", do_epoll, 4, true, { EBADF, EEXIST, EINTR, ENOENT } },
	{ "send", do_send, 3, true, {} },
	{ "receive", do_receive, 3, false, {} },
	{ "close_consumer", do_close_consumer, 1, false, {} },
};

#endif /* UTRACE_DEV_DESCRIPTORS_H */

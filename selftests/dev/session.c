// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: ioctls, reading, polling and records
 *
 * Each ioctl is tested with each of its errors.  Sizes of structures are in
 * sizes.c, scopes in targets.c, rights in rights.c.
 */
#include <sys/un.h>

#include "dev.h"

TEST_F(dev, info)
{
	struct utrace_ioc_info arg;
	int fd = session();

	memset(&arg, 0x55, sizeof(arg));
	need(!command(fd, UTRACE_IOC_INFO, &arg), "UTRACE_IOC_INFO");
	is(UTRACE_IOC_VERSION_NOW, arg.version, "the version");
	is(UTRACE_REC_ALL, arg.events, "all events");
	is(UTRACE_CAPTURE_ALL, arg.capture, "all that is captured");
	holds(!arg.reserved && !arg.ring_size && !arg.records && !arg.lost &&
	      !arg.hidden && !arg.uncaptured && !arg.missed,
	      "the rest of a new session is 0");
	close(fd);
}

TEST_F(dev, ring)
{
	static const __u64 bad[] = {
		1, 4096, 32 << 10, (64 << 10) + 1, 192 << 10, 128 << 20,
		1 << 30, 1ULL << 32, (1ULL << 32) + (64 << 10), 1ULL << 63,
		~0ULL,
	};
	static const __u64 good[] = { 64 << 10, 1 << 20, 64 << 20 };
	struct utrace_ioc_setup arg = { .flags = 1 };
	unsigned int i;
	int fd = session();

	is(-EINVAL, command(fd, UTRACE_IOC_SETUP, &arg),
	   "SETUP: a flag is EINVAL");
	is(-EINVAL, setup(fd, 0, CLOCK_BOOTTIME + 1), "SETUP: no such clock");
	is(-EINVAL, setup(fd, 0, CLOCK_MONOTONIC_RAW),
	   "SETUP: a clock that is not offered");
	is(-EINVAL, setup(fd, 0, -1), "SETUP: a clock of -1");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		holds(setup(fd, bad[i], CLOCK_MONOTONIC) == -EINVAL,
		      "SETUP: a ring of %llu bytes is EINVAL", bad[i]);
	is(0, info(fd).ring_size, "SETUP: what is refused makes no ring");
	is(0, setup(fd, 0, CLOCK_REALTIME), "SETUP: 0 bytes");
	is(1 << 20, info(fd).ring_size, "SETUP: they are 1 MiB");
	is(-EBUSY, setup(fd, 0, CLOCK_MONOTONIC), "SETUP: twice is EBUSY");
	close(fd);
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		fd = session();
		holds(!setup(fd, good[i], CLOCK_MONOTONIC) &&
		      info(fd).ring_size == good[i],
		      "SETUP: a ring of %llu bytes", good[i]);
		close(fd);
	}
}

static pid_t kernel_thread(void)
{
	char path[64], line[256];
	unsigned long flags;
	pid_t pid = 2;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	need(file && fgets(line, sizeof(line), file), path);
	fclose(file);
	need(sscanf(strrchr(line, ')') + 2, "%*c %*d %*d %*d %*d %*d %lu",
		    &flags) == 1,
	     "flags of process 2");
	need(flags & 0x200000, "a kernel thread");
	return pid;
}

TEST_F(dev, attach_errors)
{
	struct utrace_ioc_attach arg = {};
	struct target target;
	int fd, pidfd, dead, dir;

	start(&target);
	pidfd = pidfd_of(target.pid, 0);
	fd = session();
	is(-EBADF, attach_fd(fd, -1, UTRACE_SCOPE_PROCESS),
	   "ATTACH: -1 is EBADF");
	is(-EBADF, attach_fd(fd, 9999, UTRACE_SCOPE_TREE),
	   "ATTACH: no descriptor is EBADF");
	is(-EBADF, attach_fd(fd, target.to[0][1], UTRACE_SCOPE_PROCESS),
	   "ATTACH: a pipe is EBADF");
	is(-EBADF, attach_fd(fd, fd, UTRACE_SCOPE_PROCESS),
	   "ATTACH: a session is EBADF");
	dir = open("/proc/self", O_RDONLY | O_CLOEXEC);
	is(-EBADF, attach_fd(fd, dir, UTRACE_SCOPE_PROCESS),
	   "ATTACH: a folder is EBADF");
	close(dir);
	is(-EINVAL, attach_fd(fd, pidfd, UTRACE_SCOPE_SYSTEM + 1),
	   "ATTACH: no such scope");
	is(-EINVAL, attach_fd(fd, pidfd, ~0U), "ATTACH: a scope of -1");
	is(-EINVAL, attach_fd(fd, pidfd, UTRACE_SCOPE_SYSTEM),
	   "ATTACH: the system and a pidfd");
	arg = (struct utrace_ioc_attach){ .fd = pidfd, .flags = 1 };
	is(-EINVAL, command(fd, UTRACE_IOC_ATTACH, &arg),
	   "ATTACH: a flag is EINVAL");
	arg = (struct utrace_ioc_attach){ .fd = pidfd, .id = 1 };
	is(-EINVAL, command(fd, UTRACE_IOC_ATTACH, &arg),
	   "ATTACH: an id is EINVAL");
	is(0, engines(target.pid), "ATTACH: what is refused leaves no engine");
	close(pidfd);

	pidfd = pidfd_of(kernel_thread(), 0);
	is(-EPERM, attach_fd(fd, pidfd, UTRACE_SCOPE_THREAD),
	   "ATTACH: a kernel thread");
	is(-EPERM, attach_fd(fd, pidfd, UTRACE_SCOPE_PROCESS),
	   "ATTACH: a kernel process");
	is(-EPERM, attach_fd(fd, pidfd, UTRACE_SCOPE_TREE), "ATTACH: its tree");
	close(pidfd);

	dead = pidfd_of(target.pid, 0);
	kill(target.pid, SIGKILL);
	stop(&target);
	is(-ESRCH, attach_fd(fd, dead, UTRACE_SCOPE_THREAD),
	   "ATTACH: gone is ESRCH");
	is(-ESRCH, attach_fd(fd, dead, UTRACE_SCOPE_PROCESS),
	   "ATTACH: a process that is gone");
	is(-ESRCH, attach_fd(fd, dead, UTRACE_SCOPE_TREE),
	   "ATTACH: a tree that is gone");
	close(dead);
	close(fd);
}

/* A target has one engine; another scope makes another target. */
TEST_F(dev, attach_twice)
{
	struct target target;
	int fd, process, thread, tree;

	start(&target);
	have_more(&target, THREAD);
	fd = session();
	process = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	need(process > 0, "attach");
	is(-EEXIST, attach(fd, target.pid, UTRACE_SCOPE_PROCESS),
	   "ATTACH: a process twice");
	thread = attach(fd, target.pid, UTRACE_SCOPE_THREAD);
	holds(thread > process, "ATTACH: its first thread is another target");
	is(-EEXIST, attach(fd, target.pid, UTRACE_SCOPE_THREAD),
	   "ATTACH: a thread twice");
	tree = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	holds(tree > thread, "ATTACH: its tree is another target");
	is(-EEXIST, attach(fd, target.pid, UTRACE_SCOPE_TREE),
	   "ATTACH: a tree twice");
	is(3, engines(target.pid), "ATTACH: each is there");
	is(0, detach(fd, tree), "DETACH: the last one");
	is(2, engines(target.pid), "DETACH: it is not there any more");
	is(-ENOENT, detach(fd, tree), "DETACH: twice is ENOENT");
	is(-ENOENT, detach(fd, 0), "DETACH: 0 is ENOENT");
	is(-ENOENT, detach(fd, ~0U), "DETACH: -1 is ENOENT");
	is(2, engines(target.pid), "DETACH: the others are");
	holds(attach(fd, target.pid, UTRACE_SCOPE_TREE) > tree,
	      "ATTACH: again after a DETACH, by another id");
	need(attach_system(fd) > 0, "attach");
	is(-EEXIST, attach_system(fd), "ATTACH: the system twice");
	is(-EBUSY, setup(fd, 0, CLOCK_MONOTONIC),
	   "SETUP: after the first ATTACH is EBUSY");
	close(fd);
	is(0, engines(target.pid), "closed: nothing is left");
	stop(&target);
}

/* Does poll() report POLLIN if @readable, and nothing else? */
static bool polls(int fd, bool readable)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == readable &&
	       pfd.revents == (readable ? POLLIN : 0);
}

/* A DETACH, refused or not, neither writes nor removes records. */
TEST_F(dev, detach_twice)
{
	struct target target;
	int fd, id, dead, i;

	start(&target);
	fd = session();
	id = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	need(id > 0 && !choose_marks(fd), "attach");
	have(&target, SELF, 'm', 2);
	for (i = 0; i < 3; i++) {
		is(i ? -ENOENT : 0, detach(fd, id),
		   i ? "DETACH: once more is ENOENT"
		     : "DETACH: with records that nobody has read");
		holds(polls(fd, true), "DETACH: they can be read");
		is(4, info(fd).records, "DETACH: there are no others");
	}
	is(4, take(fd), "DETACH: they are read");
	is(4, marks(UTRACE_REC_SYS_ENTER, 0) + marks(UTRACE_REC_SYS_EXIT, 0),
	   "DETACH: they are what the target did");
	is(-ENOENT, detach(fd, id),
	   "DETACH: ENOENT also behind the last record");
	have(&target, SELF, 'm', 2);
	holds(polls(fd, false), "DETACH: nothing comes behind them");

	/* The task of this target ends before the DETACH. */
	dead = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	need(dead > 0 && !choose(fd, UTRACE_REC_BIT(EXIT), 0, NULL, 0),
	     "attach");
	stop(&target);
	is(1, take(fd), "DETACH: before it the target ends");
	is(0, detach(fd, dead), "DETACH: from a task that is gone");
	is(-ENOENT, detach(fd, dead), "DETACH: from it twice");
	is(-ENOENT, detach(fd, id), "DETACH: and from the first target");
	holds(polls(fd, false), "DETACH: that writes nothing");
	is(5, info(fd).records, "DETACH: no record, seen or lost");
	is(0, info(fd).hidden, "DETACH: nobody was hidden by it");
	close(fd);
}

TEST_F(dev, attach_many)
{
	struct target target;
	int fds[100], n = 0, id = 0;

	start(&target);
	for (n = 0; n < 100; n++) {
		fds[n] = session();
		need(!setup(fds[n], 64 << 10, CLOCK_MONOTONIC), "setup");
		id = attach(fds[n], target.pid, UTRACE_SCOPE_PROCESS);
		if (id < 0)
			break;
	}
	holds(n > 8 && n < 100 && id == -ENOSPC,
	      "ATTACH: too many engines on a process are ENOSPC (%d, then %d)",
	      n, id);
	is(n, engines(target.pid), "ATTACH: each is there");
	for (; n >= 0; n--)
		close(fds[n]);
	is(0, engines(target.pid), "closed: nothing is left");
	stop(&target);
}

TEST_F(dev, events_errors)
{
	static const __u32 bad[][1] = {
		{100000}, {~1U}, {1U << 31}, {0x20000000 | 5000}};
	struct utrace_ioc_events arg = { .reserved = 1 };
	static const __u32 other[] = { SYS_getuid };
	struct target target;
	unsigned int i;
	int fd, empty;

	start(&target);
	empty = session();
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	is(-EINVAL, choose(fd, 1ULL << UTRACE_REC_PAD, 0, NULL, 0),
	   "EVENTS: PAD is none");
	is(-EINVAL, choose(fd, UTRACE_REC_BIT(LOST), 0, NULL, 0),
	   "EVENTS: LOST is none");
	is(-EINVAL, choose(fd, UTRACE_REC_BIT(DETACHED), 0, NULL, 0),
	   "EVENTS: DETACHED is none");
	is(-EINVAL, choose(fd, 1ULL << 63, 0, NULL, 0),
	   "EVENTS: bit 63 is none");
	is(-EINVAL, choose(fd, 0, UTRACE_CAPTURE_ALL + 1, NULL, 0),
	   "EVENTS: nothing like that is captured");
	is(-EINVAL, choose(fd, 0, 1ULL << 32, NULL, 0),
	   "EVENTS: capture has 64 bits");
	is(-EINVAL, command(fd, UTRACE_IOC_EVENTS, &arg),
	   "EVENTS: reserved is 0");
	is(-EINVAL, choose(fd, UTRACE_REC_ALL, 0, other, 0),
	   "EVENTS: no calls, at an address");
	is(-EINVAL, choose(fd, 0, 0, other, 4097),
	   "EVENTS: too many calls are EINVAL");
	is(-EINVAL, choose(fd, 0, 0, other, ~0U),
	   "EVENTS: 2^32 - 1 calls are EINVAL");
	is(-EFAULT, choose(fd, 0, 0, NULL, 1),
	   "EVENTS: no calls there are EFAULT");
	is(-EFAULT, choose(fd, 0, 0, (void *)-4096L, 4),
	   "EVENTS: nor in the kernel");
	for (i = 0; i < 4; i++) {
		holds(choose(fd, UTRACE_REC_ALL, 0, bad[i], 1) == -EINVAL,
		      "EVENTS: there is no call %#x", bad[i][0]);
		holds(choose(empty, UTRACE_REC_ALL, 0, bad[i], 1) == -EINVAL,
		      "EVENTS: nor before the first ATTACH, call %#x",
		      bad[i][0]);
	}
	holds(attach(empty, target.pid, UTRACE_SCOPE_PROCESS) > 0,
	      "EVENTS: after a refused choice ATTACH is as before");
	is(2, attach(fd, target.pid, UTRACE_SCOPE_THREAD),
	   "EVENTS: also where there is one");
	detach(fd, 2);
	have(&target, SELF, 'm', 2);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "EVENTS: a refused choice leaves the one before");
	is(4, count(UTRACE_REC_SYS_ENTER, 0) + count(UTRACE_REC_SYS_EXIT, 0),
	   "EVENTS: and its calls");
	close(empty);
	close(fd);
	stop(&target);
}

TEST_F(dev, events)
{
	static const __u32 two[] = { SYS_getuid, MARK_NR };
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	have(&target, SELF, 'm', 3);
	is(0, take(fd), "nothing is recorded before EVENTS");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_ENTER), 0, two, 2),
	   "EVENTS: entries of two calls");
	have(&target, SELF, 'm', 3);
	is(3, take(fd), "EVENTS: they are recorded");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, two, 1),
	   "EVENTS: exits of the other");
	have(&target, SELF, 'm', 3);
	is(0, take(fd), "EVENTS: there are none");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0),
	   "EVENTS: all exits");
	have(&target, SELF, 'm', 3);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_EXIT, 0), "EVENTS: these are there");
	holds(count(UTRACE_REC_SYS_EXIT, 0) > 3 &&
	      !count(UTRACE_REC_SYS_ENTER, 0),
	      "EVENTS: of other calls too, and no entries");
	settle(&target, SELF);
	is(0, choose(fd, 0, 0, NULL, 0), "EVENTS: nothing");
	take(fd);
	have(&target, SELF, 'm', 3);
	is(0, take(fd), "EVENTS: that is what there is");
	close(fd);
	stop(&target);
}

/*
 * Have the records numbers from @seq on, without a gap?  Returns the number
 * after the last record.
 */
static __u64 in_order(__u64 seq, bool *good)
{
	struct utrace_rec *rec;
	__u64 time = 0;

	for_each_record(rec) {
		*good = *good && rec->seq == seq && rec->time >= time &&
			!(rec->size % 8) && rec->items <= rec->size;
		time = rec->time;
		seq++;
	}
	return seq;
}

TEST_F(dev, record)
{
	static const int clocks[] = {
		CLOCK_MONOTONIC, CLOCK_REALTIME, CLOCK_BOOTTIME,
	};
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec_sys_exit *exit;
	struct timespec before, after;
	struct target target;
	unsigned int i;
	int fd, j;

	start(&target);
	for (i = 0; i < ARRAY_SIZE(clocks); i++) {
		fd = session();
		need(!setup(fd, 0, clocks[i]), "setup");
		need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0,
		     "attach");
		need(!choose_marks(fd), "choose");
		clock_gettime(clocks[i], &before);
		have(&target, SELF, 'm', 1);
		clock_gettime(clocks[i], &after);
		is(2, take(fd), "a call is two records");
		enter = (void *)find(UTRACE_REC_SYS_ENTER, target.pid);
		exit = (void *)find(UTRACE_REC_SYS_EXIT, target.pid);
		if (!holds(enter && exit, "an entry and an exit"))
			continue;
		holds(enter->head.time >= before.tv_sec * 1000000000ULL +
						  before.tv_nsec &&
			      enter->head.time <= exit->head.time &&
			      exit->head.time <= after.tv_sec * 1000000000ULL +
							 after.tv_nsec,
		      "clock %d: the times lie between those before and after",
		      clocks[i]);
		close(fd);
	}
	holds(enter->head.size == sizeof(*enter) &&
	      exit->head.size == sizeof(*exit),
	      "their sizes");
	holds(enter->head.pid == target.pid && exit->head.pid == target.pid,
	      "their process");
	holds(enter->head.seq == 1 && exit->head.seq == 2, "their numbers");
	for (j = 0; j < 6 && enter->args[j] == (__u64)j + 1; j++)
		;
	is(6, j, "arguments of the entry");
	holds(!memcmp(enter->args, exit->args, sizeof(enter->args)),
	      "of the exit");
	is(getpid(), exit->ret, "the result");
	is(0, exit->flags, "no flags");
	stop(&target);
}

TEST_F(dev, read)
{
	char buffer[512], *page;
	struct utrace_rec *rec = (void *)buffer;
	struct target target;
	bool good = true;
	int fd, i;
	__u64 seq;

	start(&target);
	fd = session();
	is(-1, read(fd, buffer, sizeof(buffer)),
	   "read: a new session has nothing");
	is(EAGAIN, errno, "read: that is EAGAIN");
	need(!setup(fd, 64 << 10, CLOCK_MONOTONIC), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	errno = 0;
	holds(read(fd, buffer, sizeof(buffer)) == -1 && errno == EAGAIN,
	      "read: nothing is EAGAIN");
	holds(read(fd, buffer, 0) == -1 && errno == EINVAL,
	      "read: 0 bytes are EINVAL, with nothing to read");
	holds(write(fd, buffer, 8) == -1, "there is nothing to write");
	have(&target, SELF, 'm', 4);
	errno = 0;
	holds(read(fd, buffer, sizeof(struct utrace_rec_sys_enter) - 1) == -1 &&
	      errno == EINVAL,
	      "read: a buffer that is one byte too small is EINVAL");
	errno = 0;
	holds(read(fd, buffer, 0) == -1 && errno == EINVAL,
	      "read: so are 0 bytes");
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(page != MAP_FAILED && !munmap(page + 4096, 4096), "mmap");
	errno = 0;
	holds(read(fd, page + 4096, 4096) == -1 && errno == EFAULT,
	      "read: a bad buffer is EFAULT");
	errno = 0;
	holds(read(fd, page + 4096 - 8, 4096) == -1 && errno == EFAULT,
	      "read: so is one that begins well");
	is(sizeof(struct utrace_rec_sys_enter),
	   read(fd, buffer, sizeof(struct utrace_rec_sys_enter) + 8),
	   "read: one whole record and no part of the next");
	holds(rec->seq == 1 && rec->type == UTRACE_REC_SYS_ENTER,
	      "read: it was there all the time");
	is(sizeof(struct utrace_rec_sys_exit) +
		   sizeof(struct utrace_rec_sys_enter),
	   read(fd, buffer,
		sizeof(struct utrace_rec_sys_exit) +
			sizeof(struct utrace_rec_sys_enter)),
	   "read: two that just fit");
	is(2, rec->seq, "read: these follow");
	is(5, take(fd), "read: the rest");
	seq = in_order(4, &good);
	holds(good && seq == 9, "read: numbers without a gap");
	/* Records pass the end of the ring many times. */
	for (i = 0; i < 60; i++) {
		have(&target, SELF, 'm', 53);
		take(fd);
		seq = in_order(seq, &good);
		good = good && marks(UTRACE_REC_SYS_ENTER, target.pid) == 53 &&
		       marks(UTRACE_REC_SYS_EXIT, target.pid) == 53;
	}
	holds(good && seq == 9 + 60 * 106,
	      "read: numbers without a gap, round the ring");
	is(seq - 1, info(fd).records, "INFO has as many");
	is(0, info(fd).lost, "INFO: none is lost");
	munmap(page, 4096);
	close(fd);
	stop(&target);
}

static void *mark_later(void *target)
{
	usleep(300000);
	tell(target, SELF, 'm', 1);
	return NULL;
}

static void no_handler(int sig)
{
}

static void *signal_later(void *thread)
{
	int i;

	for (i = 0; i < 20; i++) {
		usleep(100000);
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
	}
	return NULL;
}

TEST_F(dev, wait)
{
	struct sigaction action = { .sa_handler = no_handler };
	pthread_t thread, reader = pthread_self();
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	char buffer[4096];
	time_t began;
	int fd;

	start(&target);
	fd = session();
	pfd.fd = fd;
	need(!setup(fd, 0, CLOCK_MONOTONIC), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	is(0, poll(&pfd, 1, 0), "poll: nothing is there");
	is(0, poll(&pfd, 1, 200), "poll: nor for a while");
	need(!pthread_create(&thread, NULL, mark_later, &target), "thread");
	began = time(NULL);
	is(1, poll(&pfd, 1, DEADLINE_MS), "poll: wakes");
	/* poll() looks again at its timeout, even if no event woke it. */
	holds(time(NULL) - began < DEADLINE_MS / 2000, "poll: at once");
	is(POLLIN, pfd.revents, "poll: POLLIN");
	pthread_join(thread, NULL);
	hear(&target, SELF);
	is(1, poll(&pfd, 1, 0), "poll: something is there");
	is(2, take(fd), "poll: the records are");
	is(0, poll(&pfd, 1, 0), "poll: all is read");
	fcntl(fd, F_SETFL, 0);
	need(!pthread_create(&thread, NULL, mark_later, &target), "thread");
	holds(read(fd, buffer, sizeof(buffer)) >=
		      (ssize_t)sizeof(struct utrace_rec_sys_enter),
	      "read: wakes");
	pthread_join(thread, NULL);
	hear(&target, SELF);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	take(fd);
	fcntl(fd, F_SETFL, 0);
	sigaction(SIGUSR1, &action, NULL);
	need(!pthread_create(&thread, NULL, signal_later, &reader), "thread");
	errno = 0;
	holds(read(fd, buffer, sizeof(buffer)) == -1 && errno == EINTR,
	      "read: a signal ends the wait");
	pthread_join(thread, NULL);
	close(fd);
	stop(&target);
}

/* Does each gap in the numbers have a LOST record, with the right count? */
static __u64 add_up(__u64 *lost, __u64 *last)
{
	struct utrace_rec_lost *of;
	struct utrace_rec *rec;
	__u64 n = 0, gap = 0;
	bool good = true;

	for_each_record(rec) {
		if (rec->type == UTRACE_REC_LOST) {
			of = (void *)rec;
			gap += of->lost;
			*lost += of->lost;
			good = good && of->lost && rec->size == sizeof(*of) &&
			       rec->seq == *last + of->lost && !rec->pid &&
			       !rec->tid;
			continue;
		}
		good = good && rec->seq == *last + gap + 1;
		*last = rec->seq;
		gap = 0;
		n++;
	}
	return good ? n : 0;
}

TEST_F(dev, lost)
{
	struct target target;
	__u64 n = 0, lost = 0, last = 0, part;
	int fd, i;

	start(&target);
	fd = session();
	need(!setup(fd, 64 << 10, CLOCK_MONOTONIC), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	have(&target, SELF, 'm', 3000);
	is(6000, info(fd).records, "INFO counts lost records");
	take(fd);
	part = add_up(&lost, &last);
	holds(part > 600 && part <= 65536 / 88,
	      "a ring of 64 KiB is full (%llu)", part);
	is(6000 - part, info(fd).lost, "INFO: the others are lost");
	is(0, lost, "LOST comes with the next record");
	is(last, part, "what was not read is not overwritten");
	n += part;
	have(&target, SELF, 'm', 1);
	is(3, take(fd), "LOST and two records");
	part = add_up(&lost, &last);
	is(2, part, "LOST: the numbers before and behind it fit");
	is(info(fd).lost, lost, "LOST has the number of them");
	n += part;
	for (i = 0; i < 20; i++) {
		have(&target, SELF, 'm', 300 + 7 * i);
		take(fd);
		part = add_up(&lost, &last);
		if (!part)
			break;
		n += part;
	}
	is(20, i, "each gap has the right number, again and again");
	have(&target, SELF, 'm', 1);
	take(fd);
	n += add_up(&lost, &last);
	is(last, n + lost, "records and lost ones are the last number");
	is(info(fd).records, n + lost, "and what INFO says");
	is(info(fd).lost, lost, "of these the lost ones");
	close(fd);
	stop(&target);
}

static void more(struct target *target, struct order *order)
{
	static char * const argv[] = { "true", "an argument", NULL };
	static char * const envp[] = { NULL };
	struct sockaddr_un name = {.sun_family = AF_UNIX,
				   .sun_path = "/no/such/socket"};
	struct sigaction action = { .sa_handler = no_handler };
	int fd;

	switch (order->what) {
	case 's':
		sigaction(SIGUSR2, &action, NULL);
		raise(SIGUSR2);
		break;
	case 'x':
		if (chdir("/proc"))
			_exit(1);
		execve("/bin/true", argv, envp);
		_exit(1);
	case 'o':
		fd = open("/no-such-file", O_RDONLY);
		fd = open("/dev/null", O_WRONLY);
		if (write(fd, "some bytes", 10) != 10)
			_exit(1);
		close(fd);
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		if (!connect(fd, (void *)&name, sizeof(name)))
			_exit(1);
		close(fd);
		break;
	}
}

/* Has a record an item of a kind that begins with these bytes? */
static bool has_item(struct utrace_rec *rec, size_t head, int kind,
		     const void *begin, size_t size)
{
	struct utrace_item *item;
	size_t at;

	for (at = head; rec && at < rec->size;
	     at += sizeof(*item) + ((item->len + 7) & ~7)) {
		item = (void *)((char *)rec + at);
		if (item->kind == kind && item->len >= size &&
		    !memcmp(item->data, begin, size))
			return true;
	}
	return false;
}

static bool any_has_item(int type, size_t head, int kind, const void *begin,
			 size_t size)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == type && has_item(rec, head, kind, begin, size))
			return true;
	return false;
}

static bool await_type(int fd, int type)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 20; i++) {
		take(fd);
		if (find(type, 0))
			return true;
		usleep(20000);
	}
	return false;
}

static int count_exits(__u32 nr)
{
	struct utrace_rec *rec;
	int n = 0;

	for_each_record(rec)
		n += rec->type == UTRACE_REC_SYS_EXIT &&
		     ((struct utrace_rec_sys_exit *)rec)->nr == nr;
	return n;
}

TEST_F(dev, types)
{
	struct utrace_rec_jobctl *jobctl;
	struct utrace_rec_signal *signal;
	struct utrace_rec_fork *forked;
	struct utrace_rec_exit *exit;
	struct target target;
	siginfo_t si = {};
	pid_t child;
	int fd;

	start_with(&target, more);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd,
		     UTRACE_REC_ALL & ~(UTRACE_REC_BIT(SYS_ENTER) |
					UTRACE_REC_BIT(SYS_EXIT)),
		     0, NULL, 0),
	     "choose");
	child = have(&target, SELF, 'w', 0);
	take(fd);
	forked = (void *)find(UTRACE_REC_FORK, target.pid);
	holds(forked && forked->child_pid == child &&
	      forked->child_tid == child,
	      "FORK: the child");
	holds(forked && (forked->flags & 0xff) == SIGCHLD &&
	      !(forked->flags & CLONE_VM),
	      "FORK: its flags");
	is(0, count(UTRACE_REC_SYS_ENTER, 0) + count(UTRACE_REC_SYS_EXIT, 0),
	   "no calls");
	have(&target, SELF, 's', 0);
	take(fd);
	signal = (void *)find(UTRACE_REC_SIGNAL, target.pid);
	if (signal)
		memcpy(&si, signal->info, sizeof(signal->info));
	holds(si.si_signo == SIGUSR2 && si.si_code == SI_TKILL &&
	      si.si_pid == target.pid,
	      "SIGNAL: its siginfo_t");
	holds(signal && signal->handler == (unsigned long)no_handler,
	      "SIGNAL: its handler");
	need(!choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0), "choose");
	have(&target, SELF, 's', 0);
	take(fd);
	is(1, count_exits(UTRACE_REC_NO_CALL),
	   "SYS_EXIT: that of sigreturn has no number");
	is(0, count_exits(SYS_rt_sigreturn), "SYS_EXIT: not that of sigreturn");
	need(!choose(fd,
		     UTRACE_REC_ALL & ~(UTRACE_REC_BIT(SYS_ENTER) |
					UTRACE_REC_BIT(SYS_EXIT)),
		     0, NULL, 0),
	     "choose");
	kill(target.pid, SIGSTOP);
	jobctl = await_type(fd, UTRACE_REC_JOBCTL)
			 ? (void *)find(UTRACE_REC_JOBCTL, 0)
			 : NULL;
	holds(jobctl && jobctl->type == CLD_STOPPED, "JOBCTL: stopped");
	kill(target.pid, SIGCONT);
	jobctl = await_type(fd, UTRACE_REC_JOBCTL)
			 ? (void *)find(UTRACE_REC_JOBCTL, 0)
			 : NULL;
	holds(jobctl && jobctl->type == CLD_CONTINUED, "JOBCTL: continued");
	tell(&target, SELF, 'e', 7);
	holds(await_type(fd, UTRACE_REC_EXIT), "EXIT");
	exit = (void *)find(UTRACE_REC_EXIT, target.pid);
	is(7 << 8, exit ? exit->code : -1, "EXIT: its code");
	close(fd);
	stop(&target);
}

TEST_F(dev, captures)
{
	static const char no_ids[32];
	struct target target;
	struct utrace_rec *rec;
	size_t enter = sizeof(struct utrace_rec_sys_enter);
	int fd, i;
	bool none;

	start_with(&target, more);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	for (i = 0; i < 7; i++) {
		__u64 what = i < 6 ? 1 << i : 0;

		settle(&target, SELF);
		take(fd);
		need(!choose(fd,
			     UTRACE_REC_BIT(SYS_ENTER) |
				     UTRACE_REC_BIT(SYS_EXIT),
			     what, NULL, 0),
		     "choose");
		have(&target, SELF, 'o', 0);
		take(fd);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_STRING, "/no-such-file",
				   13) == (what == UTRACE_CAPTURE_STRINGS),
		      "capture %llx: the name of a file", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_BYTES, "some bytes",
				   10) == (what == UTRACE_CAPTURE_BUFFERS),
		      "capture %llx: what is written", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_SOCKADDR, "\1\0/no/such/socket",
				   17) == (what == UTRACE_CAPTURE_SOCKETS),
		      "capture %llx: a socket's name", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_FILE, "/dev/null",
				   9) == (what == UTRACE_CAPTURE_FILES),
		      "capture %llx: the file of a descriptor", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_STACK, "",
				   0) == (what == UTRACE_CAPTURE_STACK),
		      "capture %llx: the stack", what);
		holds(any_has_item(UTRACE_REC_SYS_ENTER, enter,
				   UTRACE_ITEM_RAW_STACK, "",
				   0) == (what == UTRACE_CAPTURE_RAW_STACK),
		      "capture %llx: the raw stack", what);
	}
	none = true;
	for_each_record(rec)
		if (rec->type == UTRACE_REC_SYS_ENTER)
			none = none && rec->size == enter;
	holds(none, "no capture: no items");
	settle(&target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(EXEC), 0, NULL, 0), "choose");
	tell(&target, SELF, 'x', 0);
	holds(await_type(fd, UTRACE_REC_EXEC), "EXEC");
	rec = find(UTRACE_REC_EXEC, target.pid);
	holds(rec && any_has_item(UTRACE_REC_EXEC, sizeof(*rec),
				  UTRACE_ITEM_ARGV, "true\0an argument", 17),
	      "EXEC: its arguments");
	holds(any_has_item(UTRACE_REC_EXEC, sizeof(*rec), UTRACE_ITEM_CWD,
			   "/proc", 5),
	      "EXEC: its directory");
	holds(any_has_item(UTRACE_REC_EXEC, sizeof(*rec), UTRACE_ITEM_EXE, "/",
			   1),
	      "EXEC: its program");
	holds(any_has_item(UTRACE_REC_EXEC, sizeof(*rec), UTRACE_ITEM_CREDS,
			   no_ids, sizeof(no_ids)),
	      "EXEC: its credentials, those of root");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN

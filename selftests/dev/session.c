// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: ioctls
 *
 * Each ioctl is tested with each of its errors.  Sizes of structures are in
 * sizes.c, scopes in targets.c, rights in rights.c, records in records.c.
 */
#include "dev.h"
#include "left.h"

TEST_F(dev, info)
{
	struct utrace_ioc_info arg;
	int fd = session();

	memset(&arg, 0x55, sizeof(arg));
	need(!command(fd, UTRACE_IOC_INFO, &arg), "UTRACE_IOC_INFO");
	is(ALL_EVENTS | UTRACE_REC_BIT(SYS_CALL), arg.events,
	   "all events");
	is(ALL_CAPTURES, arg.capture, "all that is captured");
	is(UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU, arg.count, "all that is counted");
	is((1 << UTRACE_SCOPE_CPU) - 2, arg.scopes, "all scopes but a CPU");
	holds(!arg.ring_size && !arg.map_size && !arg.tails_size &&
	      !arg.records && !arg.lost && !arg.hidden && !arg.uncaptured &&
	      !arg.missed && !arg.rings && !arg.parked && !arg.waits &&
	      !arg.targets,
	      "the rest of a new session is 0");
	close(fd);
}

TEST_F(dev, ring)
{
	static const __u64 bad[] = {
		1, 4096, 32 << 10, (64 << 10) - 1, (64 << 20) + 1, 128 << 20,
		1 << 30, 1ULL << 32, (1ULL << 32) + (64 << 10), 1ULL << 63,
		~0ULL,
	};
	static const __u64 good[] = { 64 << 10, 1 << 20, 64 << 20 };
	struct utrace_ioc_setup arg = { .flags = UTRACE_SETUP_F_MAPPED << 1 };
	unsigned int i;
	__u64 least;
	int fd = session();

	is(-EINVAL, command(fd, UTRACE_IOC_SETUP, &arg),
	   "SETUP: a flag is EINVAL");
	is(-EINVAL, setup_full(fd, 0, UTRACE_FULL_DROP + 1),
	   "SETUP: no such policy");
	is(-EINVAL, setup_full(fd, 0, -1), "SETUP: a policy of -1");
	arg = (struct utrace_ioc_setup){ .delay = 1000000001 };
	is(-EINVAL, command(fd, UTRACE_IOC_SETUP, &arg),
	   "SETUP: a delay of more than a second");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		holds(setup(fd, bad[i]) == -EINVAL,
		      "SETUP: a ring of %llu bytes is EINVAL", bad[i]);
	is(0, info(fd).ring_size, "SETUP: what is refused makes no ring");
	is(0, setup(fd, 0), "SETUP: 0 bytes");
	is(1 << 20, rings(fd), "SETUP: they are 1 MiB");
	is(-EBUSY, setup(fd, 0), "SETUP: twice is EBUSY");
	close(fd);
	for (i = 0; i < sizeof(good) / sizeof(*good); i++) {
		fd = session();
		holds(!setup(fd, good[i]), "SETUP: a ring of %llu bytes", good[i]);
		/* UTRACE_RING_MIN is that of each CPU. */
		least = (__u64)UTRACE_RING_MIN * info(fd).rings;
		is(good[i] > least ? good[i] : least, rings(fd), "  its size");
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
	is(-EINVAL, attach_fd(fd, pidfd, 0), "ATTACH: no scope");
	is(-EINVAL, attach_fd(fd, pidfd, UTRACE_SCOPE_CPU), "ATTACH: a CPU");
	is(-EINVAL, attach_fd(fd, pidfd, UTRACE_SCOPE_CPU + 1),
	   "ATTACH: no such scope");
	is(-EINVAL, attach_fd(fd, pidfd, ~0U), "ATTACH: a scope of -1");
	is(-EINVAL, attach_fd(fd, pidfd, UTRACE_SCOPE_SYSTEM),
	   "ATTACH: the system and a pidfd");
	arg.where = (struct utrace_where){ UTRACE_SCOPE_PROCESS, pidfd, 0, 0 };
	arg.flags = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_ATTACH, &arg),
	   "ATTACH: a flag is EINVAL");
	arg.flags = 0;
	arg.where.flags = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_ATTACH, &arg),
	   "ATTACH: a flag of where is EINVAL");
	arg.where.flags = 0;
	arg.where.cpu = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_ATTACH, &arg),
	   "ATTACH: a task on a CPU is EINVAL");
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
	is(2, engines(target.pid), "DETACH: it is gone");
	is(-ENOENT, detach(fd, tree), "DETACH: twice is ENOENT");
	is(-ENOENT, detach(fd, 0), "DETACH: 0 is ENOENT");
	is(-ENOENT, detach(fd, ~0U), "DETACH: -1 is ENOENT");
	is(2, engines(target.pid), "DETACH: the others are");
	holds(attach(fd, target.pid, UTRACE_SCOPE_TREE) > tree,
	      "ATTACH: again after a DETACH, by another id");
	need(attach_system(fd) > 0, "attach");
	is(-EEXIST, attach_system(fd), "ATTACH: the system twice");
	is(-EBUSY, setup(fd, 0),
	   "SETUP: after the first ATTACH is EBUSY");
	close(fd);
	is(0, engines(target.pid), "closed: nothing is left");
	stop(&target);
}

/* An argument that the kernel can read and cannot write. */
static struct utrace_ioc_attach *read_only_attach(int pidfd)
{
	struct utrace_ioc_attach *arg = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(arg != MAP_FAILED, "memory");
	*arg = (struct utrace_ioc_attach){
		.where = { .scope = UTRACE_SCOPE_PROCESS, .fd = pidfd },
	};
	need(!mprotect(arg, 4096, PROT_READ), "mprotect");
	return arg;
}

/* An ATTACH that cannot write the id of its target is undone. */
TEST_F(dev, attach_undone)
{
	struct utrace_ioc_attach *arg;
	struct target target;
	int fd, pidfd, i;

	start(&target);
	pidfd = pidfd_of(target.pid, 0);
	arg = read_only_attach(pidfd);
	fd = session();
	need(!choose_marks(fd), "choose");
	for (i = 0; i < 3; i++)
		is(-EFAULT, command(fd, UTRACE_IOC_ATTACH, arg),
		   "ATTACH: an argument that cannot be written is EFAULT");
	is(0, engines(target.pid), "ATTACH: no engine is left");
	is(0, info(fd).targets, "ATTACH: nor a target");
	have(&target, SELF, mark, 2);
	is(0, take(fd), "ATTACH: nothing is recorded");
	holds(attach_fd(fd, pidfd, UTRACE_SCOPE_PROCESS) > 0,
	      "ATTACH: the process can be attached");
	have(&target, SELF, mark, 2);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, target.pid), "ATTACH: now it is recorded");
	munmap(arg, 4096);
	close(pidfd);
	close(fd);
	stop(&target);
}

/* The stream is that of a session that has had no target yet. */
TEST_F(dev, attach_undone_in_stream)
{
	struct utrace_ioc_attach *arg;
	struct pollfd pfd = { .events = POLLIN };
	struct target target;
	char buffer[4096];
	int pidfd;

	start(&target);
	pidfd = pidfd_of(target.pid, 0);
	arg = read_only_attach(pidfd);
	pfd.fd = session();
	need(command(pfd.fd, UTRACE_IOC_ATTACH, arg) == -EFAULT, "EFAULT");
	is(0, poll(&pfd, 1, 0), "ATTACH: undone, poll() reports nothing");
	errno = 0;
	is(-1, read(pfd.fd, buffer, sizeof(buffer)), "ATTACH: undone, there is no record");
	is(EAGAIN, errno, "ATTACH: undone, read() would wait for the first target");
	munmap(arg, 4096);
	close(pidfd);
	close(pfd.fd);
	stop(&target);
}

/* As many targets as a session may have, which are three scopes of each process. */
#define MOST_TARGETS	1024
#define PROCESSES	(MOST_TARGETS / 3 + 1)

static int attach_nth(int fd, const pid_t *pids, int n)
{
	static const __u32 scopes[] = {
		UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
	};

	return attach(fd, pids[n / 3], scopes[n % 3]);
}

TEST_F(dev, many_targets)
{
	pid_t pids[PROCESSES];
	int fd, pidfd, i, n, id = 0, first = 0;

	/* Before the session is opened, which these processes would inherit. */
	for (i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		need(pids[i] >= 0, "fork");
		if (!pids[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			while (pause())
				;
		}
	}
	/* The default of 1024 engines includes those of other sessions. */
	need(!set_sysctl("user/max_utrace_engines", "4096"), "max_utrace_engines");
	fd = session();
	for (n = 0; n <= MOST_TARGETS; n++) {
		id = attach_nth(fd, pids, n);
		if (id < 0)
			break;
		first = first ?: id;
	}
	is(MOST_TARGETS, n, "ATTACH: so many targets");
	is(-ENOSPC, id, "ATTACH: one more is ENOSPC");
	is(MOST_TARGETS, info(fd).targets, "ATTACH: the others stay");
	is(0, detach(fd, first), "DETACH: one of them");
	holds(attach_nth(fd, pids, MOST_TARGETS) > 0, "ATTACH: there is room for one");
	is(-ENOSPC, attach_nth(fd, pids, 0), "ATTACH: and for no other");
	close(fd);
	need(!set_sysctl("user/max_utrace_engines", "1024"), "max_utrace_engines");
	/* Else the next test may find no room for its engines. */
	pidfd = pidfd_of(pids[0], 0);
	holds(left_no_charge(pidfd), "closed: no engine is counted");
	close(pidfd);
	for (i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

/*
 * Check that poll() reports POLLHUP, since no target is left, and POLLIN if
 * @readable.  POLLHUP may take until a detached engine is gone.
 */
static bool polls(int fd, bool readable)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	do {
		if (poll(&pfd, 1, DEADLINE_MS) != 1)
			return false;
	} while (readable && !(pfd.revents & POLLHUP));
	return pfd.revents == (readable ? POLLIN | POLLHUP : POLLHUP);
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
	have(&target, SELF, mark, 2);
	for (i = 0; i < 3; i++) {
		is(i ? -ENOENT : 0, detach(fd, id),
		   i ? "DETACH: once more is ENOENT"
		     : "DETACH: with records that nobody has read");
		holds(polls(fd, true), "DETACH: they can be read");
		is(4, info(fd).records, "DETACH: there are no others");
	}
	is(4, take(fd), "DETACH: they are read");
	is(1, count(UTRACE_REC_TARGET_END, 0), "DETACH: and the end");
	is(4, marks(UTRACE_REC_SYS_ENTER, 0) + marks(UTRACE_REC_SYS_EXIT, 0),
	   "DETACH: they are what the target did");
	is(-ENOENT, detach(fd, id),
	   "DETACH: ENOENT also behind the last record");
	have(&target, SELF, mark, 2);
	holds(polls(fd, false), "DETACH: nothing comes behind them");

	/* The task of this target ends before the DETACH. */
	dead = attach(fd, target.pid, UTRACE_SCOPE_TREE);
	need(dead > 0 && !choose(fd, UTRACE_REC_BIT(EXIT), 0, NULL, 0),
	     "attach");
	stop(&target);
	is(1, take(fd), "DETACH: before it the target ends");
	is(1, count(UTRACE_REC_TARGET_END, 0), "DETACH: its end is recorded");
	is(0, detach(fd, dead), "DETACH: from a task that is gone");
	is(-ENOENT, detach(fd, dead), "DETACH: from it twice");
	is(-ENOENT, detach(fd, id), "DETACH: and from the first target");
	holds(polls(fd, false), "DETACH: that writes nothing");
	is(5, info(fd).records, "DETACH: no record, seen or lost");
	is(0, info(fd).hidden, "DETACH: nobody was hidden by it");
	close(fd);
}

TEST_F(dev, detach_errors)
{
	struct utrace_ioc_detach arg = {};
	struct target target;
	int fd;

	start(&target);
	fd = session();
	arg.id = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	need((int)arg.id > 0, "attach");
	arg.flags = 1;
	is(-EINVAL, command(fd, UTRACE_IOC_DETACH, &arg), "DETACH: a flag is EINVAL");
	arg.flags = 1U << 31;
	is(-EINVAL, command(fd, UTRACE_IOC_DETACH, &arg), "DETACH: the last flag, too");
	is(1, info(fd).targets, "DETACH: the target stays");
	is(1, engines(target.pid), "DETACH: so does its engine");
	arg.flags = 0;
	is(0, command(fd, UTRACE_IOC_DETACH, &arg), "DETACH: without flags it goes");
	close(fd);
	stop(&target);
}

TEST_F(dev, attach_many)
{
	struct target target;
	int fds[100], n = 0, id = 0;

	start(&target);
	for (n = 0; n < 100; n++) {
		fds[n] = session();
		need(!setup(fds[n], 64 << 10), "setup");
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
	is(-EINVAL, choose(fd, UTRACE_REC_BIT(HIDDEN), 0, NULL, 0),
	   "EVENTS: HIDDEN is none");
	is(-EINVAL, choose(fd, 1ULL << 63, 0, NULL, 0),
	   "EVENTS: bit 63 is none");
	is(-EINVAL, choose(fd, 0, ALL_CAPTURES + 1, NULL, 0),
	   "EVENTS: nothing like that is captured");
	is(-EINVAL, choose(fd, 0, 1ULL << 32, NULL, 0),
	   "EVENTS: capture has 64 bits");
	is(-EINVAL, choose(fd, ALL_EVENTS, 0, other, 0),
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
		holds(choose(fd, ALL_EVENTS, 0, bad[i], 1) == -EINVAL,
		      "EVENTS: there is no call %#x", bad[i][0]);
		holds(choose(empty, ALL_EVENTS, 0, bad[i], 1) == -EINVAL,
		      "EVENTS: nor before the first ATTACH, call %#x",
		      bad[i][0]);
	}
	holds(attach(empty, target.pid, UTRACE_SCOPE_PROCESS) > 0,
	      "EVENTS: after a refused choice ATTACH is as before");
	is(2, attach(fd, target.pid, UTRACE_SCOPE_THREAD),
	   "EVENTS: also where there is one");
	detach(fd, 2);
	have(&target, SELF, mark, 2);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "EVENTS: a refused choice leaves the one before");
	is(4, count(UTRACE_REC_SYS_ENTER, 0) + count(UTRACE_REC_SYS_EXIT, 0),
	   "EVENTS: and its calls");
	close(empty);
	close(fd);
	stop(&target);
}

/* EVENTS with the id of one target. */
static int choose_for(int fd, int id)
{
	struct utrace_ioc_events arg = {
		.target = id,
		.events = UTRACE_REC_BIT(SYS_ENTER),
	};

	return command(fd, UTRACE_IOC_EVENTS, &arg);
}

TEST_F(dev, events_of_reaped)
{
	int fd, process, thread;
	struct target target;

	start(&target);
	fd = session();
	process = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);
	thread = attach(fd, target.pid, UTRACE_SCOPE_THREAD);
	need(process > 0 && thread > 0, "attach");
	is(0, choose_for(fd, process), "EVENTS: of a process that lives");
	stop(&target);
	is(-ESRCH, choose_for(fd, process), "EVENTS: of a process that was reaped");
	is(-ESRCH, choose_for(fd, thread), "EVENTS: of a thread that was reaped");
	is(0, choose_for(fd, 0), "EVENTS: of all targets is no error");
	is(0, detach(fd, process), "DETACH: the process");
	is(-ENOENT, choose_for(fd, process), "EVENTS: there is no such target");
	close(fd);
}

/* Wait until a session with one target gives its TARGET_END. */
static void wait_for_end(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	do {
		need(poll(&pfd, 1, DEADLINE_MS) == 1, "the end of a target");
		take(fd);
	} while (!count(UTRACE_REC_TARGET_END, 0));
}

/* A target has ended when the session has its TARGET_END, before it is reaped. */
TEST_F(dev, events_of_ended)
{
	struct target target;
	int fd, id, i;

	for (i = 0; i < TASK_SCOPES; i++) {
		start(&target);
		fd = session();
		id = attach(fd, target.pid, task_scopes[i].scope);
		need(id > 0, "attach");
		kill(target.pid, SIGKILL);
		wait_for_end(fd);
		holds(choose_for(fd, id) == -ESRCH, "EVENTS: of a %s that has ended",
		      task_scopes[i].name);
		stop(&target);
		holds(choose_for(fd, id) == -ESRCH, "EVENTS: of a %s that was reaped",
		      task_scopes[i].name);
		close(fd);
	}
}

TEST_F(dev, events)
{
	static const __u32 two[] = { SYS_getuid, MARK_NR };
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	have(&target, SELF, mark, 3);
	is(0, take(fd), "nothing is recorded before EVENTS");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_ENTER), 0, two, 2),
	   "EVENTS: entries of two calls");
	have(&target, SELF, mark, 3);
	is(3, take(fd), "EVENTS: they are recorded");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, two, 1),
	   "EVENTS: exits of the other");
	have(&target, SELF, mark, 3);
	is(0, take(fd), "EVENTS: there are none");
	is(0, choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0),
	   "EVENTS: all exits");
	have(&target, SELF, mark, 3);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_EXIT, 0), "EVENTS: these are there");
	holds(count(UTRACE_REC_SYS_EXIT, 0) > 3 &&
	      !count(UTRACE_REC_SYS_ENTER, 0),
	      "EVENTS: of other calls too, and no entries");
	settle(&target, SELF);
	is(0, choose(fd, 0, 0, NULL, 0), "EVENTS: nothing");
	take(fd);
	have(&target, SELF, mark, 3);
	is(0, take(fd), "EVENTS: that is what there is");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN

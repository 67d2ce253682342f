// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - memory cgroups are charged for objects of tasks and sessions
 *
 * An agent and a crowd of threads are in a memory cgroup.  The agent makes many
 * objects of a kind, or has the crowd make them.  The kernel memory of the cgroup
 * has to grow by at least the size of these objects.  Another test sets a limit: a
 * process that makes sessions until it fails must not disturb other processes.
 */
#include <sys/resource.h>

#include <linux/utrace_branch.h>
#include <linux/utrace_marker.h>

#include "../cgroup.h"
#include "pool.h"

/* Threads of the crowd. */
#define CROWD		600

#define SMALL		(64 << 10)
#define LARGE		(1 << 20)

/* The crowd makes as many records at a time, more than there is room for. */
#define MANY		20

/* Threads that are targets, or that a consumer of branches follows. */
#define TARGETS		256
#define CONSUMERS	128

/* Targets that cover the whole crowd, and numbers of calls of other targets. */
#define COVERS		30
#define NUMBERS		1024

/* Bytes that a cgroup may have, and sessions that take more. */
#define CGROUP_BYTES	"16777216"
#define TOO_MANY	200

/* Longer than a grace period of RCU and the work that frees objects after it. */
#define GRACE_US	(300000 * ut_patience())
#define MOST_GRACES	12

/* In memory that the agent shares: errno of a kernel without these objects. */
static _Atomic int *refused;

/* A fifo that nobody writes to. */
static char folder[32] = "/tmp/utrace_memory_XXXXXX";
static char fifo[sizeof(folder) + 8];

/* Words of the crowd, markers in its text, and the target that has them armed. */
#define WORDS		512
#define MARKERS		256
static __u32 words[WORDS];
static int words_target;
asm(".pushsection .text; places: .rept 256; nop; .endr; ret; .popsection");

static const void *first_place(void)
{
	const void *at;

	asm("lea places(%%rip), %0" : "=r"(at));
	return at;
}

/* Open the fifo, which waits for its writer. */
static long open_fifo(long unused)
{
	return close(open(fifo, O_RDONLY | O_CLOEXEC));
}

/* The agent */

static pid_t crowd_pid;
static int fd = -1, fds[CROWD], nfds;

static void make_calls(void)
{
	pool_begin(mark, 1);
	pool_wait();
}

static void begin_session(__u64 size, __u32 full)
{
	fd = session();
	need(!setup_full(fd, size, full), "setup");
}

static void follow_crowd(void)
{
	need(attach(fd, crowd_pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
}

static void end_session(void)
{
	close(fd);
}

static void end_fds(void)
{
	while (nfds)
		close(fds[--nfds]);
}

static void nothing(void)
{
}

static void make_sessions(void)
{
	for (; nfds < 32; nfds++) {
		fds[nfds] = session();
		need(!setup(fds[nfds], SMALL), "setup");
	}
}

static void prepare_targets(void)
{
	begin_session(SMALL, UTRACE_FULL_DROP);
	need(!choose_marks(fd), "choose");
}

/* Ids of targets. */
static int targets[TARGETS];

static void make_targets(void)
{
	int i, pidfd;

	for (i = 0; i < TARGETS; i++) {
		pidfd = pidfd_of(pool->tid[i], O_EXCL);
		targets[i] = attach_fd(fd, pidfd, UTRACE_SCOPE_THREAD);
		need(targets[i] > 0, "attach");
		close(pidfd);
	}
}

/* The crowd shares one set of many engines.  Each target gives its thread another one. */
static void prepare_sets(void)
{
	for (; nfds < COVERS; nfds++) {
		fds[nfds] = session();
		need(!setup(fds[nfds], SMALL), "setup");
		need(attach(fds[nfds], crowd_pid, UTRACE_SCOPE_PROCESS) > 0,
		     "attach");
	}
	prepare_targets();
}

static void end_sets(void)
{
	end_session();
	end_fds();
}

/* The targets have the settings of the session, which chooses no calls. */
static void prepare_settings(void)
{
	begin_session(SMALL, UTRACE_FULL_DROP);
	need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER), 0, NULL, 0), "choose");
	make_targets();
}

static void make_settings(void)
{
	static __u32 calls[NUMBERS];
	int i;

	for (i = 0; i < NUMBERS; i++)
		calls[i] = MARK_NR;
	for (i = 0; i < TARGETS; i++) {
		struct utrace_ioc_events arg = {
			.target = targets[i],
			.events = UTRACE_REC_BIT(SYS_ENTER),
			.calls = (uintptr_t)calls,
			.ncalls = NUMBERS,
		};

		need(!command(fd, UTRACE_IOC_EVENTS, &arg), "choose");
	}
}

/* The tasks have the objects that a task keeps after its first attach. */
static void prepare_members(void)
{
	int id;

	prepare_targets();
	id = attach(fd, crowd_pid, UTRACE_SCOPE_PROCESS);
	need(id > 0 && !detach(fd, id), "attach");
}

static void prepare_tasks(void)
{
	prepare_targets();
	follow_crowd();
}

/* Whole calls, and the session knows the tasks. */
static void prepare_captures(void)
{
	static const __u32 calls[] = { MARK_NR, SYS_openat };

	begin_session(LARGE, UTRACE_FULL_DROP);
	need(!choose(fd, UTRACE_REC_BIT(SYS_CALL), UTRACE_CAPTURE_STRINGS,
		     calls, 2), "choose");
	follow_crowd();
	make_calls();
}

static void make_captures(void)
{
	pool_begin(open_fifo, 0);
}

static void end_captures(void)
{
	int writer = open(fifo, O_RDWR | O_CLOEXEC);

	need(writer >= 0, "the fifo");
	pool_wait();
	close(writer);
	end_session();
}

static void prepare_parked(void)
{
	begin_session(LARGE, UTRACE_FULL_STOP);
	need(!choose_marks(fd), "choose");
	follow_crowd();
	make_calls();
}

/* The rings become full, and the crowd is held. */
static void make_parked(void)
{
	pool_begin(mark, MANY);
	need(ut_until(info(fd).parked >= CROWD / 2), "parked records");
}

static void end_parked(void)
{
	end_session();
	pool_wait();
}

static void prepare_counts(void)
{
	struct utrace_ioc_events arg = { .count = UTRACE_COUNT_CALLS };

	begin_session(SMALL, UTRACE_FULL_DROP);
	need(!command(fd, UTRACE_IOC_EVENTS, &arg), "choose");
	follow_crowd();
}

static void prepare_arming(void)
{
	begin_session(SMALL, UTRACE_FULL_DROP);
	words_target = attach(fd, crowd_pid, UTRACE_SCOPE_PROCESS);
	need(words_target > 0, "attach");
}

/* Without CONFIG_UTRACE_MARKERS nothing can be armed. */
static void arm_spec(__u32 type, const void *spec, __u32 size, __u32 flags)
{
	struct utrace_ioc_arm arg = {
		.target = words_target,
		.type = type,
		.flags = flags,
		.spec = (uintptr_t)spec,
		.spec_size = size,
	};

	*refused = -command(fd, UTRACE_IOC_ARM, &arg);
}

static void make_words(void)
{
	struct utrace_word word = { .kind = UTRACE_WORD_BIT32 };
	int i;

	for (i = 0; i < WORDS && !*refused; i++) {
		word.addr = (uintptr_t)&words[i];
		arm_spec(UTRACE_ARM_WORD, &word, sizeof(word), 0);
	}
}

/* Where an address of this program is in its file; 0: nowhere. */
static __u64 offset_of(const void *at)
{
	unsigned long from, to, offset, found = 0;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 &&
		    (uintptr_t)at - from < to - from)
			found = (uintptr_t)at - from + offset;
	if (maps)
		fclose(maps);
	return found;
}

static void arm_markers(struct utrace_marker marker, __u32 flags)
{
	__u64 offset = offset_of(first_place());
	int i;

	need(offset, "the place of the markers");
	marker.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	need(marker.fd >= 0, "the program");
	for (i = 0; i < MARKERS && !*refused; i++) {
		marker.offset = offset + i;
		arm_spec(UTRACE_ARM_MARKER, &marker, sizeof(marker), flags);
	}
	close(marker.fd);
}

static void make_markers(void)
{
	arm_markers((struct utrace_marker){}, UTRACE_ARM_F_COUNT);
}

static void make_histograms(void)
{
	arm_markers((struct utrace_marker){
		.nargs = 1,
		.args[0] = {
			.size = 8,
			.kind = UTRACE_ARG_CONST,
			.reg = UTRACE_ARG_NO_REG,
			.index = UTRACE_ARG_NO_REG,
		},
	}, UTRACE_ARM_F_HISTOGRAM);
}

/* Without a source of branches there are no consumers. */
static void make_consumers(void)
{
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), i;

	need(dev >= 0, "/dev/utrace");
	for (i = 0; i < CONSUMERS && !*refused; i++) {
		struct utrace_ioc_branches arg = {
			.where = {
				.scope = UTRACE_SCOPE_THREAD,
				.fd = pidfd_of(pool->tid[i], O_EXCL),
			},
		};

		fds[nfds] = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
		if (fds[nfds] < 0)
			*refused = errno;
		else
			nfds++;
		close(arg.where.fd);
	}
	close(dev);
}

/**
 * struct kind - a kind of objects
 * @name: for messages
 * @prepare: called before @make; its memory does not count
 * @make: makes the objects
 * @undo: frees the objects, and ends what @prepare began
 * @of: line of memory.stat that grows
 * @n: number of objects
 * @bytes: bytes that each takes at least
 */
static const struct kind {
	const char *name;
	void (*prepare)(void);
	void (*make)(void);
	void (*undo)(void);
	const char *of;
	long n, bytes;
} kinds[] = {
	{ "sessions with rings", nothing, make_sessions, end_fds,
	  "kernel", 32, SMALL },
	{ "targets", prepare_targets, make_targets, end_session,
	  "slab_unreclaimable", TARGETS, 512 },
	/* Less than domains and sets of 31 engines take, and more than either of them. */
	{ "domains and sets", prepare_sets, make_targets, end_sets,
	  "slab_unreclaimable", TARGETS, 4096 },
	{ "settings, numbers and filters of calls", prepare_settings,
	  make_settings, end_session, "slab_unreclaimable", TARGETS,
	  NUMBERS * sizeof(__u32) + 128 },
	{ "members", prepare_members, follow_crowd, end_session,
	  "slab_unreclaimable", CROWD, 40 },
	{ "tasks of a session", prepare_tasks, make_calls, end_session,
	  "slab_unreclaimable", CROWD, 256 },
	{ "captures kept with tasks", prepare_captures, make_captures,
	  end_captures, "slab_unreclaimable", CROWD, 2048 },
	{ "parked records", prepare_parked, make_parked, end_parked,
	  "slab_unreclaimable", CROWD / 2, 128 },
	{ "counts", prepare_counts, make_calls, end_session,
	  "slab_unreclaimable", CROWD, 512 },
	{ "words", prepare_arming, make_words, end_session,
	  "slab_unreclaimable", WORDS, 128 },
	/* More than markers take without sites, or without uprobes. */
	{ "markers and sites", prepare_arming, make_markers, end_session,
	  "slab_unreclaimable", MARKERS, 1344 },
	{ "markers with histograms", prepare_arming, make_histograms, end_session,
	  "slab_unreclaimable", MARKERS, 2048 },
	{ "consumers of branches", nothing, make_consumers, end_fds,
	  "slab_unreclaimable", CONSUMERS, 512 },
	{ "threads of consumers", make_consumers, make_calls, end_fds,
	  "slab_unreclaimable", CONSUMERS, 4096 },
	{ "rings of consumers", make_consumers, make_calls, end_fds,
	  "shmem", CONSUMERS, 4096 },
};

/* Orders of the agent; objects are of kind @n. */

static long begin_agent(long unused)
{
	const struct rlimit files = { 4096, 4096 };
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_MEMLOCK, &all);
	crowd_pid = pool_start();
	return 0;
}

static long prepare_objects(long n)
{
	*refused = 0;
	kinds[n].prepare();
	return 0;
}

static long make_objects(long n)
{
	if (!*refused)
		kinds[n].make();
	return 0;
}

static long undo_objects(long n)
{
	kinds[n].undo();
	return 0;
}

/* The test */

/*
 * Read a number of memory.stat after the kernel has freed what is pending.
 * kfree_rcu() keeps some objects for 5 s before it asks for a grace period
 * (KFREE_DRAIN_JIFFIES), unless the kernel shrinks slabs.  An object that is
 * freed may free another one by kfree_rcu(), hence the loop.  With PREEMPT_RT,
 * threads run the callbacks of RCU.  So the number may stay the same for a while
 * and fall again.
 */
static long stat_of(const char *name)
{
	long number, least = LONG_MAX;
	int i, same = 0;

	for (i = 0; i < MOST_GRACES && same < 3; i++) {
		need(!ut_write_file("/proc/sys/vm/drop_caches", "2"),
		     "drop_caches");
		usleep(GRACE_US);
		number = ut_cg_stat(name);
		need(number >= 0, name);
		same = number < least ? 0 : same + 1;
		if (!same)
			least = number;
	}
	return least;
}

static void charges(struct target *agent, int n)
{
	const struct kind *kind = &kinds[n];
	long before, grown;

	have(agent, SELF, prepare_objects, n);
	before = stat_of(kind->of);
	have(agent, SELF, make_objects, n);
	grown = stat_of(kind->of) - before;
	have(agent, SELF, undo_objects, n);
	if (*refused)
		printf("#   %s: not here: %s\n", kind->name,
		       strerror(*refused));
	else
		holds(grown >= kind->n * kind->bytes,
		      "%s: %ld bytes for %ld of %ld bytes and more", kind->name,
		      grown, kind->n, kind->bytes);
}

/* For each kind the test waits twice until the kernel has freed what is pending. */
TEST_F_TIMEOUT(dev, charged, TEST_TIMEOUT_DEFAULT * 3 / 2)
{
	const char *why = ut_cg_make("+memory");
	struct target agent;
	size_t i;

	if (why)
		SKIP(return, "%s", why);
	need(mkdtemp(folder), folder);
	snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
	need(!mkfifo(fifo, 0600), fifo);
	refused = mmap(NULL, sizeof(*refused), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(refused != MAP_FAILED, "memory");
	pool_make(CROWD);
	start(&agent);
	need(!ut_cg_add(agent.pid), "the cgroup");
	have(&agent, SELF, begin_agent, 0);
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		charges(&agent, i);
	stop(&agent);
	ut_cg_remove();
	unlink(fifo);
	rmdir(folder);
}

/* Make sessions until one fails, report the error, and keep the sessions. */
static void make_too_many(int to)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	int i, ret = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ut_cg_add(getpid()) || setrlimit(RLIMIT_MEMLOCK, &all))
		_exit(1);
	for (i = 0; i < TOO_MANY && !ret; i++) {
		ret = try_session();
		if (ret >= 0)
			ret = setup(ret, LARGE);
	}
	if (write(to, &ret, sizeof(ret)) < 0)
		_exit(2);
	for (;;)
		pause();
}

TEST_F(dev, limited)
{
	const char *why = ut_cg_make("+memory");
	int pipes[2], ret = -ENOMEM, status;
	struct target target;
	ssize_t told;
	pid_t pid;

	if (why)
		SKIP(return, "%s", why);
	need(!ut_cg_write("memory.max", CGROUP_BYTES), "memory.max");
	need(!pipe(pipes), "pipe");
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid)
		make_too_many(pipes[1]);
	close(pipes[1]);
	/* There is no answer if the OOM killer has ended the process. */
	told = read(pipes[0], &ret, sizeof(ret));
	holds(!told || (told == sizeof(ret) && ret == -ENOMEM),
	      "too many sessions for the cgroup");
	start(&target);
	fd = session();
	is(0, setup(fd, LARGE), "a session outside");
	need(!choose_marks(fd), "choose");
	holds(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "its target");
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_ENTER, target.pid), "its records");
	close(fd);
	stop(&target);
	kill(pid, SIGKILL);
	/* If it has not made sessions at all, it has exited. */
	holds(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status),
	      "the process has not ended by itself");
	close(pipes[0]);
	ut_cg_remove();
}

TEST_HARNESS_MAIN

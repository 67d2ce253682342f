// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: sessions free all their objects
 *
 * Rounds of sessions differ in scope, in what is done with the records, and in
 * how session and target end.  The caches of utrace have as many objects after
 * twice as many rounds.  Objects are freed late, by RCU and by work items, so
 * the test repeats each count.  A cache is shrunk before each count: slabs of
 * CPUs, and what KASAN keeps in quarantine, count as objects that are in use.
 *
 * The rounds run in a memory cgroup, whose kernel memory does not grow either: so objects
 * of kmalloc() and rings count as well.
 */
#include <linux/utrace_branch.h>

#include "../cgroup.h"
#include "dev.h"

/* The rounds of a part: each combination of the remainders by 4, 3, 5 and 7 once. */
#define ROUNDS		420
/* The rounds of a part on a slow kernel (SLOW=1). */
#define SLOW_ROUNDS	140

/* Objects of tasks that come and go on their own; few compared to the rounds. */
#define SLACK		16

/*
 * Bytes of other objects.  On two CPUs, a leak of 64 bytes in each round would
 * take more, on a slow kernel with what it adds to each object.
 */
#define SLACK_BYTES	(8 << 10)

/* A CPU keeps so many bytes of charges to itself, in either direction. */
#define CPU_BYTES	(4 << 10)

#define RING		(64 << 10)

/* Calls of a target: some, and so many that the ring is full. */
#define SOME_CALLS	30
#define MANY_CALLS	1000

/* The caches that only utrace has. */
static const char * const caches[] = { "utrace", "utrace_engine", "utrace_member" };

#define CACHES		(sizeof(caches) / sizeof(*caches))

/* Lines of memory.stat: of kmalloc() and caches, and of rings. */
static const char * const stats[] = { "slab_unreclaimable", "vmalloc" };

#define STATS		(sizeof(stats) / sizeof(*stats))

static const __u32 scopes[] = {
	UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
	UTRACE_SCOPE_SYSTEM,
};

/**
 * enum use - what becomes of the records of a session
 * @USE_READ: they are read, and tasks wait for that
 * @USE_LOST: nobody reads, and they are lost
 * @USE_HELD: nobody reads, and tasks wait
 * @USE_COUNTED: calls are counted, not recorded
 * @USE_CAPTURED: whole calls, with all captures, and calls in flight
 */
enum use { USE_READ, USE_LOST, USE_HELD, USE_COUNTED, USE_CAPTURED, USES };

/**
 * enum end - what ends first
 * @END_EXIT: the target, by itself
 * @END_KILL: the target, by SIGKILL
 * @END_CLOSE: the session
 */
enum end { END_EXIT, END_KILL, END_CLOSE, ENDS };

/**
 * struct round - a session and its target
 * @scope: enum utrace_scope
 * @use: what becomes of the records
 * @end: what ends first
 * @with: 0: also a consumer of branches; 1, 2: the session detaches; 3: it attaches in
 *	two scopes; else nothing
 * @fd: the session
 * @branches: the consumer, or -1
 * @id: the first target of the session
 * @pid: the process
 * @start: the pipe by which it is started
 */
struct round {
	__u32 scope;
	enum use use;
	enum end end;
	unsigned int with;
	int fd;
	int branches;
	int id;
	pid_t pid;
	int start[2];
};

/* Rounds with branches. */
static int branch_rounds;

/* Targets */

static void *call_as_thread(void *unused)
{
	mark(SOME_CALLS);
	return NULL;
}

/* The child of the target; single-stepping through a program would take long. */
static void be_child(const struct round *round)
{
	mark(5);
	if (round->with)
		execl("/bin/true", "true", NULL);
	_exit(0);
}

static void be_target(const struct round *round)
{
	pthread_t thread;
	pid_t pid;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(round->start[0], &byte, 1) != 1)
		_exit(1);
	mark(round->use == USE_HELD ? MANY_CALLS : SOME_CALLS);
	pthread_create(&thread, NULL, call_as_thread, NULL);
	pid = fork();
	if (!pid)
		be_child(round);
	waitpid(pid, NULL, 0);
	pthread_join(thread, NULL);
	_exit(0);
}

static void start_target(struct round *round)
{
	need(!pipe2(round->start, O_CLOEXEC), "pipe");
	round->pid = fork();
	need(round->pid >= 0, "fork");
	if (!round->pid)
		be_target(round);
}

/* Check whether the target is a zombie.  The end of the round reaps it. */
static bool is_dead(const struct round *round)
{
	siginfo_t info = {};

	return !waitid(P_PID, round->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* Sessions */

static int attach_round(const struct round *round, __u32 scope)
{
	return scope == UTRACE_SCOPE_SYSTEM ? attach_system(round->fd) :
	       attach(round->fd, round->pid, scope);
}

static void choose_round(const struct round *round)
{
	struct utrace_ioc_events arg = { .events = ALL_EVENTS };

	if (round->use == USE_COUNTED) {
		arg.events = UTRACE_REC_BIT(EXIT);
		arg.count = (UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU);
	} else if (round->use == USE_CAPTURED) {
		arg.events &= ~(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT));
		arg.events |= UTRACE_REC_BIT(SYS_CALL);
		arg.capture = ALL_CAPTURES;
	}
	need(!command(round->fd, UTRACE_IOC_EVENTS, &arg), "UTRACE_IOC_EVENTS");
}

/* Returns a consumer of branches, or -1 if the machine has none. */
static int consume(const struct round *round, __u32 scope)
{
	struct utrace_ioc_branches arg = {
		.where.scope = scope,
		.full = UTRACE_FULL_DEFAULT,
		.full = UTRACE_FULL_DROP,
		.capacity = 512,
	};
	int fd;

	arg.where.fd = pidfd_of(round->pid, 0);
	fd = ioctl(round->fd, UTRACE_IOC_BRANCHES, &arg);
	close(arg.where.fd);
	if (fd < 0)
		return -1;
	branch_rounds++;
	need(!fcntl(fd, F_SETFL, O_NONBLOCK), "O_NONBLOCK");
	return fd;
}

static void start_session(struct round *round, unsigned int i)
{
	__u32 full = round->use == USE_LOST ? UTRACE_FULL_DROP : UTRACE_FULL_DEFAULT;

	round->fd = session();
	need(!setup_full(round->fd, RING, full), "setup");
	round->id = attach_round(round, round->scope);
	need(round->id > 0, "attach");
	if (round->with == 3)
		need(attach_round(round, scopes[(i + 1) % 4]) > 0, "attach");
	choose_round(round);
	round->branches = round->with ? -1 : consume(round, scopes[i / 7 % 3]);
}

/* Read some of what there is: a session of the system records the reads, too. */
static void read_some(int fd)
{
	static char some[RING];
	int i;

	for (i = 0; i < 16 && read(fd, some, sizeof(some)) > 0; i++)
		;
}

static void read_counts(int fd)
{
	static struct utrace_call_count rows[64];
	struct utrace_ioc_counts arg = {
		.rows = { .at = (uintptr_t)rows, .n = 64, .size = sizeof(*rows) },
	};

	need(!command(fd, UTRACE_IOC_COUNTS, &arg), "UTRACE_IOC_COUNTS");
}

/* Use the session once. */
static void use(const struct round *round)
{
	struct utrace_ioc_in_flight arg = {};

	if (round->branches >= 0)
		read_some(round->branches);
	switch (round->use) {
	case USE_COUNTED:
		read_counts(round->fd);
		break;
	case USE_CAPTURED:
		need(!command(round->fd, UTRACE_IOC_IN_FLIGHT, &arg),
		     "UTRACE_IOC_IN_FLIGHT");
		read_some(round->fd);
		break;
	case USE_READ:
		read_some(round->fd);
		break;
	default:
		break;
	}
}

static void end_session(const struct round *round)
{
	if (round->with == 1 || round->with == 2)
		need(!detach(round->fd, round->id), "UTRACE_IOC_DETACH");
	close(round->fd);
	if (round->branches >= 0)
		close(round->branches);
}

/* Rounds */

/* The target ends by itself; if it waits for the reader, that reads now. */
static void await_target(const struct round *round)
{
	while (!is_dead(round)) {
		use(round);
		read_some(round->fd);
		usleep(200);
	}
}

static void do_round(unsigned int i)
{
	struct round round = {
		.scope = scopes[i % 4],
		.use = i % USES,
		.end = i % ENDS,
		.with = i % 7,
	};
	unsigned int n;

	start_target(&round);
	start_session(&round, i);
	need(write(round.start[1], "", 1) == 1, "a pipe");
	for (n = 0; n < i % 8 && !is_dead(&round); n++) {
		use(&round);
		usleep(500);
	}
	if (round.end == END_EXIT)
		await_target(&round);
	else if (round.end == END_KILL)
		kill(round.pid, SIGKILL);
	end_session(&round);
	close(round.start[0]);
	close(round.start[1]);
	/* With the children of a target that was killed. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

/* A process for each part, which ends before anything is counted. */
static int do_part(void *arg)
{
	unsigned int i, n = ut_is_slow() ? SLOW_ROUNDS : ROUNDS;

	if (ut_cg[0])
		need(!ut_cg_add(getpid()), "the cgroup");
	/* The children of targets that are killed become children of the process. */
	need(!prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
	for (i = 0; i < n; i++)
		do_round(i);
	holds(branch_rounds, "%d rounds had branches", branch_rounds);
	return 0;
}

/* Objects */

/* Returns 0 or -errno. */
static int shrink_cache(const char *cache)
{
	char path[64];
	int fd, ret;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = write(fd, "1", 1) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* The number of objects of each cache; -1: there is no such cache. */
static void count_objects(long *objects)
{
	char line[512], name[64];
	unsigned int i;
	FILE *file;
	long n;

	for (i = 0; i < CACHES; i++) {
		objects[i] = -1;
		shrink_cache(caches[i]);
	}
	file = fopen("/proc/slabinfo", "re");
	need(file, "/proc/slabinfo");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %ld", name, &n) != 2)
			continue;
		for (i = 0; i < CACHES; i++)
			if (!strcmp(name, caches[i]))
				objects[i] = n;
	}
	fclose(file);
}

/* Check that the objects can be counted: no cache is merged with another. */
static bool has_caches(void)
{
	long objects[CACHES];
	unsigned int i;

	if (access("/proc/slabinfo", R_OK))
		return false;
	count_objects(objects);
	for (i = 0; i < CACHES; i++)
		if (objects[i] < 0 || shrink_cache(caches[i]))
			return false;
	return true;
}

/* Count until three counts in a row are equal: then nothing more is freed. */
static void count_settled(long *objects)
{
	long last[CACHES] = {};
	int same = 0, tries;

	for (tries = 0; tries < 100 && same < 3; tries++) {
		usleep(100000 * ut_patience());
		count_objects(objects);
		same = memcmp(objects, last, sizeof(last)) ? 1 : same + 1;
		memcpy(last, objects, sizeof(last));
	}
}

static bool is_as_before(const long *before, const long *after)
{
	unsigned int i;

	for (i = 0; i < CACHES; i++)
		if (after[i] > before[i] + SLACK)
			return false;
	return true;
}

/* Bytes of each line of memory.stat; 0 without a cgroup. */
static void count_bytes(long *bytes)
{
	unsigned int i;

	for (i = 0; i < STATS; i++) {
		bytes[i] = ut_cg[0] ? ut_cg_stat(stats[i]) : 0;
		need(bytes[i] >= 0, stats[i]);
	}
}

/* What is counted before and after is each off by what CPUs keep to themselves. */
static bool are_bytes_as_before(const long *before, const long *after)
{
	long most = SLACK_BYTES + 2 * CPU_BYTES * sysconf(_SC_NPROCESSORS_CONF);
	unsigned int i;

	for (i = 0; i < STATS; i++)
		if (after[i] > before[i] + most)
			return false;
	return true;
}

TEST_F_TIMEOUT(dev, rounds, TEST_TIMEOUT_DEFAULT * 3 / 2)
{
	long before[CACHES], after[CACHES], bytes[STATS], later[STATS];
	const char *why;
	unsigned int i;
	int tries = 0;

	if (!has_caches())
		SKIP(return, "no counts of slabs (SLUB_DEBUG, slab_nomerge)");
	why = ut_cg_make("+memory");
	if (why)
		printf("#   no memory cgroup: %s\n", why);
	need(!in_child(do_part, NULL), "rounds");
	count_settled(before);
	usleep(3000000 * ut_patience());
	count_bytes(bytes);
	need(!in_child(do_part, NULL), "rounds");
	do {
		usleep(100000 * ut_patience());
		count_objects(after);
		count_bytes(later);
	} while ((!is_as_before(before, after) ||
		  !are_bytes_as_before(bytes, later)) && ++tries < 100);
	for (i = 0; i < CACHES; i++)
		holds(after[i] <= before[i] + SLACK, "%s: %ld objects, and %ld later",
		      caches[i], before[i], after[i]);
	for (i = 0; i < STATS; i++)
		printf("#   %s: %ld bytes, and %ld later\n", stats[i], bytes[i],
		       later[i]);
	if (why)
		return;
	holds(are_bytes_as_before(bytes, later), "the cgroup has as many bytes");
	ut_cg_remove();
}

TEST_HARNESS_MAIN

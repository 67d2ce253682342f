// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: a program that maps the ring of its consumer
 */
#include <sys/ptrace.h>

#include "tasks.h"

/* A mapped ring. */
struct ring {
	int fd;
	const struct utrace_branch *records;
	const struct utrace_map *map;
	const struct utrace_map_ring *head;
	struct utrace_map_tail *tail;
	__u64 size;
};

static void *map(int fd, size_t size, int prot, off_t offset)
{
	void *area = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	return area == MAP_FAILED ? NULL : area;
}

static void map_ring(struct ring *ring, int fd)
{
	struct utrace_ioc_branch_info info = {};

	need(!ioctl(fd, UTRACE_IOC_BRANCH_INFO, &info), "BRANCH_INFO");
	ring->fd = fd;
	ring->map = map(fd, info.map_size, PROT_READ, UTRACE_MAP_RINGS);
	need(ring->map, "the ring");
	need(ring->map->rings == 1 && ring->map->unit == sizeof(*ring->records),
	     "a ring of branches");
	ring->tail = map(fd, info.tails_size, PROT_READ | PROT_WRITE,
			 UTRACE_MAP_TAILS);
	need(ring->tail, "tail");
	ring->head = (const void *)ring->map + ring->map->header_size;
	ring->records = (const void *)ring->map + ring->map->data_offset;
	ring->size = info.capacity;
}

/* Take all records of the ring.  Returns false at the end of the stream. */
static bool take_some(struct ring *ring, struct trace *trace)
{
	__u64 head = __atomic_load_n(&ring->head->head, __ATOMIC_ACQUIRE);
	__u64 tail = ring->tail->tail, mask = ring->size - 1;
	struct pollfd more = { .fd = ring->fd, .events = POLLIN };

	trace->records = realloc(trace->records, (trace->n + head - tail) *
				 sizeof(*trace->records) + 1);
	need(trace->records, "memory");
	while (tail != head)
		trace->records[trace->n++] = ring->records[tail++ & mask];
	__atomic_store_n(&ring->tail->tail, tail, __ATOMIC_RELEASE);
	poll(&more, 1, DEADLINE_MS);
	return more.revents & POLLIN || !(more.revents & POLLHUP);
}

static long loop_and_fault(long n)
{
	make_branches(n);
	asm volatile("movl $0, (%0)" :: "r"(0L) : "memory");
	return 0;
}

static int make(struct target *target, __u64 records)
{
	int fd = consumer(target->pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT,
			  records);

	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	return fd;
}

/* A consumer whose ring is mapped. */
static int make_mapped(struct target *target, __u64 records)
{
	return consumer_of(target->pid, (struct utrace_ioc_branches){
			   .where.scope = UTRACE_SCOPE_PROCESS,
			   .capacity = records,
			   .flags = UTRACE_BRANCHES_F_MAPPED });
}

/* A mapped ring has the same records as read(2) returns to another consumer. */
TEST_F(dev, same_as_read)
{
	struct trace mapped = {}, other = {};
	struct utrace_branch one;
	struct target target;
	struct ring ring;
	int fd;

	start(&target);
	/* Stop the target, so that both begin at the same instruction. */
	need(!kill(target.pid, SIGSTOP), "SIGSTOP");
	need(waitpid(target.pid, NULL, WUNTRACED) == target.pid, "waitpid");
	map_ring(&ring, make_mapped(&target, 1));
	fd = make(&target, 1 << 18);
	need(!kill(target.pid, SIGCONT), "SIGCONT");
	is(512, ring.size, "the smallest ring");
	is(512 * 24, ring.map->data_size, "its size in memory");
	is(-1, read(ring.fd, &one, sizeof(one)), "read(2) of a mapped ring");
	is(EINVAL, errno, "EINVAL");
	tell(&target, SELF, make_branches, 20000);
	tell(&target, SELF, exit_with, 0);
	while (take_some(&ring, &mapped))
		;
	read_on(fd, &other, SIZE_MAX);
	holds(mapped.n > 20000, "%zu records", mapped.n);
	is(other.n, mapped.n, "as many as read(2) gives");
	holds(mapped.n == other.n &&
	      !memcmp(mapped.records, other.records, mapped.n * sizeof(one)),
	      "the records are equal");
	is(0, ring.head->lost, "no record is lost");
	close(fd);
	close(ring.fd);
	stop(&target);
}

/*
 * Start a reader of 32 bits, whose records go to @to, and wait until it has attached.
 */
static pid_t start_narrow(pid_t target, const char *how, FILE *to)
{
	int ready[2];
	char pid[16], byte;
	pid_t child;

	need(!pipe(ready), "pipe");
	snprintf(pid, sizeof(pid), "%d", target);
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(fileno(to), 1) < 0 || dup2(ready[1], 3) < 0)
			_exit(1);
		execl(built("narrow_reader"), "narrow_reader", pid, how, NULL);
		_exit(1);
	}
	close(ready[1]);
	need(read(ready[0], &byte, 1) == 1, "a reader of 32 bits");
	close(ready[0]);
	return child;
}

/* Programs of 32 bits get the same bytes, by read(2) and in a mapped ring. */
TEST_F(dev, readers_of_32_bits)
{
	static const char * const how[] = { "read", "map" };
	size_t size = sizeof(struct utrace_branch), n;
	struct trace wide = {}, narrow = {};
	struct target target;
	int i, fd, status;
	pid_t child[2];
	FILE *out[2];

	if (access(built("narrow_reader"), X_OK))
		SKIP(return, "no 32-bit compiler");
	start(&target);
	/* Stop the target, so that all begin at the same instruction. */
	need(!kill(target.pid, SIGSTOP), "SIGSTOP");
	need(waitpid(target.pid, NULL, WUNTRACED) == target.pid, "waitpid");
	fd = make(&target, 1 << 18);
	for (i = 0; i < 2; i++) {
		out[i] = tmpfile();
		need(out[i], "a file");
		child[i] = start_narrow(target.pid, how[i], out[i]);
	}
	need(!kill(target.pid, SIGCONT), "SIGCONT");
	tell(&target, SELF, make_branches, 20000);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &wide, SIZE_MAX);
	holds(wide.n > 20000, "%zu records", wide.n);
	narrow.records = malloc((wide.n + 1) * size);
	need(narrow.records, "memory");
	for (i = 0; i < 2; i++) {
		need(waitpid(child[i], &status, 0) == child[i], "waitpid");
		is(0, status, "the 32-bit reader succeeds");
		rewind(out[i]);
		n = fread(narrow.records, size, wide.n + 1, out[i]);
		holds(n == wide.n && !memcmp(narrow.records, wide.records,
					     n * size),
		      "by %s: all records are equal", how[i]);
		fclose(out[i]);
	}
	close(fd);
	stop(&target);
}

/* The task waits for room, and poll(2) reports that. */
TEST_F(dev, waits)
{
	struct trace all = {};
	struct target target;
	struct ring ring;

	start(&target);
	map_ring(&ring, make_mapped(&target, 1));
	tell(&target, SELF, make_branches, 5000);
	usleep(200000 * ut_patience());
	is(512, ring.head->head, "the ring is full");
	while (all.n < 5000 && take_some(&ring, &all))
		;
	hear(&target, SELF);
	holds(is_gapless(&all), "no gap");
	/* The tail is not heeded before poll(2), and the task is let go. */
	tell(&target, SELF, make_branches, 5000);
	usleep(200000 * ut_patience());
	close(ring.fd);
	munmap(ring.tail, 4096);
	munmap((void *)ring.head, 4096);
	holds(is_answered(&target, SELF), "the task goes on without a reader");
	stop(&target);
}

/* Whatever the tail says, the kernel and other consumers are not disturbed. */
TEST_F(dev, hostile_tail)
{
	static const __u64 bad[] = { ~0ULL, 1ULL << 63, 513, 1, 1ULL << 32 };
	struct pollfd more = { .events = POLLIN };
	struct trace other = {};
	struct target target;
	struct ring ring;
	unsigned int i, seed = 1;
	int fd;

	start(&target);
	map_ring(&ring, make_mapped(&target, 1));
	fd = make(&target, 1 << 18);
	tell(&target, SELF, make_branches, 20000);
	tell(&target, SELF, exit_with, 0);
	more.fd = ring.fd;
	for (i = 0; !(more.revents & POLLHUP); i++) {
		ring.tail->tail = i % 3 ? bad[i % 5] :
				  ring.head->head - rand_r(&seed) % 600;
		poll(&more, 1, 10);
		/* Also at any moment of the kernel's own. */
		if (i % 8 == 7)
			ring.tail->tail = ring.head->head;
		poll(&more, 1, 10);
	}
	read_on(fd, &other, SIZE_MAX);
	holds(other.n > 20000, "another consumer has all records");
	holds(is_gapless(&other), "the trace has no gap");
	holds(ring.head->head >= other.n,
	      "the mapped ring had at least as many: %llu of %zu",
	      ring.head->head, other.n);
	close(fd);
	close(ring.fd);
	stop(&target);
}

TEST_F(dev, refused)
{
	const size_t size = 4096 + 512 * 24;
	const off_t tail = UTRACE_MAP_TAILS;
	const int rw = PROT_READ | PROT_WRITE;
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.full = UTRACE_FULL_OVERWRITE,
		.flags = UTRACE_BRANCHES_F_MAPPED,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), fd;
	struct target target;
	struct ring ring;

	start(&target);
	fd = make_mapped(&target, 1);
	holds(!map(fd, size, PROT_READ, 4096) && errno == EINVAL,
	      "refused: an offset");
	holds(!map(fd, size + 4096, PROT_READ, 0) && errno == EINVAL,
	      "refused: a wrong size");
	holds(!map(fd, 4096, PROT_READ, 0) && errno == EINVAL,
	      "refused: a part");
	holds(!map(fd, 4096, PROT_READ, tail) && errno == EINVAL,
	      "refused: a tail to read");
	holds(!map(fd, 8192, rw, tail) && errno == EINVAL,
	      "refused: a tail that is too large");
	holds(!map(fd, 4096, rw | PROT_EXEC, tail) && errno == EPERM,
	      "refused: a tail to execute");
	holds(!map(fd, size, rw, 0) && errno == EPERM,
	      "refused: records to write");
	holds(!map(fd, size, PROT_READ | PROT_EXEC, 0) && errno == EPERM,
	      "refused: records to execute");
	holds(mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED &&
	      errno == EINVAL, "refused: a private mapping");
	map_ring(&ring, fd);
	holds(mprotect((void *)ring.records, 4096, rw) && errno == EACCES,
	      "refused: mprotect(2) of records");
	holds(mprotect((void *)ring.map, 4096, rw) && errno == EACCES,
	      "refused: mprotect(2) of the head");
	holds(syscall(SYS_remap_file_pages, ring.map, size, 0, 0, 0) &&
	      errno == EINVAL, "refused: remap_file_pages(2)");
	holds(mprotect((void *)ring.map, size, rw) && errno == EACCES,
	      "refused: mprotect(2) after that");
	holds(madvise((void *)ring.map, size, MADV_REMOVE) && errno == EACCES,
	      "refused: madvise(2) to remove the pages");
	close(fd);
	fd = make(&target, 1);
	holds(!map(fd, size, PROT_READ, 0) && errno == EINVAL,
	      "refused: a consumer without a mapped ring");
	close(fd);
	arg.where.fd = pidfd_of(target.pid, 0);
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a ring of the last records");
	arg.full = UTRACE_FULL_DEFAULT;
	arg.flags = UTRACE_BRANCHES_F_MAPPED << 1;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: another flag");
	arg.flags = 0;
	arg.where.reserved = 1;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a reserved member");
	arg.where.reserved = 0;
	arg.where.cpu = 1;
	is(-EINVAL, command(dev, UTRACE_IOC_BRANCHES, &arg),
	   "refused: a task on a CPU");
	close(arg.where.fd);
	close(dev);
	stop(&target);
}

/* A child of the reader has no mapping; the parent keeps it without the file. */
TEST_F(dev, forked_and_closed)
{
	struct trace all = {};
	struct target target;
	struct ring ring;
	int status;
	pid_t pid;

	start(&target);
	map_ring(&ring, make_mapped(&target, 0));
	have(&target, SELF, make_branches, 1000);
	holds(madvise(ring.tail, 4096, MADV_DOFORK) && errno == EINVAL,
	      "refused: madvise() to have fork() copy the tail");
	pid = fork();
	if (!pid) {
		signal(SIGSEGV, SIG_DFL);
		_exit(ring.tail->tail);
	}
	waitpid(pid, &status, 0);
	holds(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	      "the child has no tail");
	close(ring.fd);
	have(&target, SELF, make_branches, 1000);
	ring.fd = -1;
	take_some(&ring, &all);
	holds(all.n > 1000, "the ring outlives its descriptor");
	holds(is_gapless(&all), "the trace has no gap");
	stop(&target);
}

/* A debugger stops the thread at a signal: all earlier records can be read. */
TEST_F(dev, before_a_signal)
{
	struct trace all = {};
	struct target target;
	int fd, status;

	start(&target);
	fd = make(&target, 0);
	have(&target, SELF, make_branches, 10);
	settle(&target, SELF);
	read_on(fd, &all, 1);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	read_on(fd, &all, SIZE_MAX);
	need(!ptrace(PTRACE_SEIZE, target.pid, 0, 0), "seize");
	all.n = 0;
	/* The signal comes with a page fault, and no system call. */
	tell(&target, SELF, loop_and_fault, 101);
	need(waitpid(target.pid, &status, 0) == target.pid, "stop");
	is(SIGSEGV, WSTOPSIG(status), "the debugger gets the signal");
	read_on(fd, &all, SIZE_MAX);
	holds(count_from(&all, UTRACE_PC_SYSCALL) && all.n > 100,
	      "%zu branches since the call", all.n);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, &status, 0);
	close(fd);
}

TEST_HARNESS_MAIN

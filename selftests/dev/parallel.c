// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: several writers at once, several readers
 *
 * The threads of a program make numbered calls on all CPUs.  Each call has to
 * be recorded once, and the calls of each thread in order: by read(2), from mapped
 * rings, for readers that share the session, and for a reader that takes over from
 * one that was killed.
 */
#include <limits.h>

#include "stream.h"

/* Threads, and calls that each of them makes. */
#define WRITERS		4
#define CALLS		8000

/**
 * struct common - what the processes of a test share
 * @tid: the threads
 * @records: number of records that were read by the children
 * @entries: how often the entry of each call was read
 * @bad: a reader has found something wrong
 */
struct common {
	pid_t tid[WRITERS];
	long records;
	unsigned char entries[WRITERS][CALLS];
	bool bad;
};

static struct common *common;

/* The program; it begins when @go is written to. */
struct writers {
	pid_t pid;
	int go[2];
};

static void *write_calls(void *arg)
{
	int writer = (long)arg, i;

	common->tid[writer] = gettid();
	pin_to_cpu(0, writer % sysconf(_SC_NPROCESSORS_ONLN));
	for (i = 1; i <= CALLS; i++)
		syscall(MARK_NR, i);
	return NULL;
}

static void be_writers(struct writers *writers)
{
	pthread_t thread[WRITERS];
	char byte;
	long i;

	if (read(writers->go[0], &byte, 1) != 1)
		_exit(1);
	for (i = 0; i < WRITERS; i++)
		if (pthread_create(&thread[i], NULL, write_calls, (void *)i))
			_exit(2);
	for (i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	_exit(0);
}

static void start_writers(struct writers *writers)
{
	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(common != MAP_FAILED && !pipe2(writers->go, O_CLOEXEC), "writers");
	writers->pid = fork();
	if (!writers->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_writers(writers);
	}
}

static void go(struct writers *writers)
{
	need(write(writers->go[1], "", 1) == 1, "write");
}

/* The program has ended, if its records were read. */
static void end_writers(struct writers *writers)
{
	int status;

	is(writers->pid, waitpid(writers->pid, &status, 0), "the writers end");
	is(0, status, "well");
	close(writers->go[0]);
	close(writers->go[1]);
	munmap(common, sizeof(*common));
}

static int session_of(struct writers *writers)
{
	return stopping_session(writers->pid, UTRACE_SCOPE_PROCESS, CALL_BITS);
}

/* The CPUs that the records which were read last come from. */
static __u64 cpus(void)
{
	struct utrace_rec *rec;
	__u64 mask = 0;

	for_each_record(rec)
		if (rec->task)
			mask |= 1ULL << rec->cpu % 64;
	return mask;
}

/* Wait for records, and read them; false at the end of the session. */
static bool read_more(int fd)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	need(poll(&pfd, 1, DEADLINE_MS) == 1, "records");
	take(fd);
	return records_size || !(pfd.revents & POLLHUP);
}

TEST_F(dev, read)
{
	int want = sysconf(_SC_NPROCESSORS_ONLN), fd;
	struct writers writers;
	struct tally tally;
	__u64 mask = 0;

	start_writers(&writers);
	fd = session_of(&writers);
	new_tally(&tally);
	go(&writers);
	while (read_more(fd)) {
		add_up(&tally);
		mask |= cpus();
	}
	is(WRITERS * CALLS, tally.enter, "all entries");
	is(WRITERS * CALLS, tally.exit, "all exits");
	is(0, info(fd).lost + tally.lost, "none is lost");
	holds(tally.good, "in order");
	is(want < WRITERS ? want : WRITERS, __builtin_popcountll(mask),
	   "they come from all CPUs");
	close(fd);
	end_writers(&writers);
}

/* Execute a program of this folder; returns a stream of its output. */
static FILE *begin_program(const char *name, pid_t arg, pid_t *pid)
{
	char self[PATH_MAX] = "", path[PATH_MAX + 64], text[16];
	int out[2];

	need(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0, "exe");
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/%s", self, name);
	snprintf(text, sizeof(text), "%d", arg);
	need(!access(path, X_OK) && !pipe2(out, O_CLOEXEC), path);
	*pid = fork();
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		execl(path, name, text, NULL);
		_exit(127);
	}
	close(out[1]);
	return fdopen(out[0], "r");
}

/* The number of the thread, or -1. */
static int writer_of(pid_t tid)
{
	int i;

	for (i = 0; i < WRITERS; i++)
		if (common->tid[i] == tid)
			return i;
	return -1;
}

/* The example program that maps the rings prints each record. */
TEST_F(dev, mapped)
{
	unsigned int last[WRITERS] = {}, nr, number;
	int status, i, tid, all = 0;
	struct writers writers;
	bool good = true;
	char line[256];
	pid_t reader;
	FILE *file;

	start_writers(&writers);
	file = begin_program("mapped_reader", writers.pid, &reader);
	for (i = 0; i < DEADLINE_MS / 2 && engines(writers.pid) != 1; i++)
		usleep(2000);
	go(&writers);
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%d %u(%x", &tid, &nr, &number) != 3 ||
		    nr != MARK_NR)
			continue;
		i = writer_of(tid);
		good &= i >= 0 && number == ++last[i];
		all++;
	}
	is(WRITERS * CALLS, all, "all calls");
	holds(good, "those of each thread are in order");
	holds(waitpid(reader, &status, 0) == reader && !status,
	      "the reader ends with them");
	fclose(file);
	end_writers(&writers);
}

static void note_entry(int writer, __u64 number)
{
	__atomic_add_fetch(&common->entries[writer][number - 1], 1,
			   __ATOMIC_RELAXED);
}

/* Count the entries that were read last.  A reader gets later times only. */
static void note_entries(__u64 *time)
{
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec *rec;

	for_each_record(rec) {
		int i = writer_of(rec->tid);

		enter = (void *)rec;
		common->bad |= rec->time < *time && !clock_stands_still();
		*time = rec->time;
		__atomic_add_fetch(&common->records, 1, __ATOMIC_RELAXED);
		if (rec->type == UTRACE_REC_SYS_ENTER && i >= 0)
			note_entry(i, enter->args[0]);
	}
}

/* Read a little at a time, until the session ends. */
static int read_in_turn(void *arg)
{
	int fd = *(int *)arg;
	__u64 time = 0;
	ssize_t n;

	fcntl(fd, F_SETFL, 0);
	while ((n = read(fd, records, 4096)) > 0) {
		records_size = n;
		note_entries(&time);
	}
	return n ? errno : 0;
}

static pid_t in_background(int (*function)(void *arg), void *arg)
{
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(function(arg));
	}
	return pid;
}

/* Processes that share a session read each record once, in order. */
TEST_F(dev, shared)
{
	struct writers writers;
	int fd, i, k, status, once = 0;
	pid_t reader[2];

	start_writers(&writers);
	fd = session_of(&writers);
	for (i = 0; i < 2; i++)
		reader[i] = in_background(read_in_turn, &fd);
	go(&writers);
	for (i = 0; i < 2; i++)
		holds(waitpid(reader[i], &status, 0) == reader[i] && !status,
		      "a reader ends with the session (%d)", status);
	for (i = 0; i < WRITERS; i++)
		for (k = 0; k < CALLS; k++)
			once += common->entries[i][k] == 1;
	is(WRITERS * CALLS, once, "each entry was read once");
	holds(!common->bad, "each reader has read in order");
	is(0, info(fd).lost, "none is lost");
	close(fd);
	end_writers(&writers);
}

/* Wait until the children have read that number of records. */
static bool until_read(long n)
{
	int i;

	for (i = 0; i < DEADLINE_MS; i++) {
		if (__atomic_load_n(&common->records, __ATOMIC_RELAXED) >= n)
			return true;
		usleep(1000);
	}
	return false;
}

/* Readers are killed while they wait and while they read; another one takes over. */
TEST_F(dev, killed)
{
	struct writers writers;
	__u64 time = 0;
	int fd, status;
	pid_t reader;

	start_writers(&writers);
	fd = session_of(&writers);
	reader = in_background(read_in_turn, &fd);
	while (!asleep_in(reader, SYS_read))
		usleep(1000);
	kill(reader, SIGKILL);
	holds(waitpid(reader, &status, 0) == reader && WIFSIGNALED(status),
	      "a reader that waits is killed");
	reader = in_background(read_in_turn, &fd);
	go(&writers);
	holds(until_read(WRITERS * CALLS / 4), "another one reads");
	kill(reader, SIGKILL);
	holds(waitpid(reader, &status, 0) == reader && WIFSIGNALED(status),
	      "a reader that reads is killed");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	while (read_more(fd))
		note_entries(&time);
	holds(!common->bad, "what is left comes in order, up to the end");
	is(2 * WRITERS * CALLS, info(fd).records + info(fd).lost -
	   count(UTRACE_REC_TARGET_END, 0), "each record is counted");
	close(fd);
	end_writers(&writers);
}

static int shared_fd;

/* Read from the session that the target has inherited. */
static long read_own(long unused)
{
	char room[8192];

	if (read(shared_fd, room, sizeof(room)) < 0)
		_exit(97);
	return 0;
}

/* A target that reads its own session does not wait for itself. */
TEST_F(dev, target_reads)
{
	struct target target;

	shared_fd = session();
	need(!setup_full(shared_fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	start(&target);
	need(attach(shared_fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	choose_mark(shared_fd, CALL_BITS);
	have(&target, SELF, mark, 1);
	have(&target, SELF, read_own, 0);
	have(&target, SELF, mark, MANY);
	holds(info(shared_fd).lost > 0, "its records are lost, and it goes on");
	take(shared_fd);
	tell(&target, SELF, mark, MANY);
	holds(is_held(target.pid), "another process reads: the target waits");
	close(shared_fd);
	holds(is_answered(&target, SELF), "the session ends: it goes on");
	stop(&target);
}

TEST_HARNESS_MAIN

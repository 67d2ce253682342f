/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - storms
 *
 * A storm is a process group of workers that fork, execute, rename themselves
 * or each other, or change their user, as fast as they can; one SIGKILL ends
 * all.  Counters are in memory that the workers share with the test.  A
 * bystander, which does nothing but fork, exec and wait, measures how long the
 * machine makes it wait.
 */
#ifndef UTRACE_STORM_H
#define UTRACE_STORM_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "patience.h"

#define STORM_MAX_WORKERS	64
#define STORM_KILL_MS		(30000 * ut_patience())
#define STORM_RENAMERS		4
/*
 * SIGALRM ends workers after this time, in case they keep everything else, the
 * test included, from running.
 */
#define STORM_LIFE_S		(100 * ut_patience())

enum storm_kind {
	STORM_FORK,		/* fork, exit, wait */
	STORM_EXEC,		/* fork, execute, wait */
	STORM_THREADS,		/* threads that come and go */
	STORM_RENAME_ONE,	/* threads rename a thread that makes calls */
	STORM_RENAME_SELF,	/* two threads rename themselves and make calls */
	STORM_SETID,		/* fork, execute a set-id program, wait */
	STORM_NKINDS
};

static const char * const storm_names[] = {
	"fork", "exec", "threads", "rename", "rename-self", "setid",
};

struct storm_shared {
	_Atomic long done[STORM_NKINDS];
	_Atomic long failed;
	/*
	 * When the bystander's round began, in microseconds; 0 between two
	 * rounds.
	 */
	_Atomic long began;
	_Atomic long worst;
	_Atomic long rounds;
};

struct storm {
	struct storm_shared *sh;
	pid_t group;			/* pid of the first worker */
	pid_t pid[STORM_MAX_WORKERS];
	int n;
	int seconds;			/* life of a worker */
	int crowd;			/* idle children of STORM_RENAME_SELF */
	/* What STORM_EXEC and STORM_SETID execute. */
	const char *program;
	const char *setid;
};

static inline long storm_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static inline void storm_sleep_ms(long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Check whether the kernel has a debugging tool that slows everything down. */
static inline bool storm_slow(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK) ||
	       !access("/sys/kernel/debug/kcsan", F_OK);
}

static inline bool storm_init(struct storm *s)
{
	memset(s, 0, sizeof(*s));
	s->program = "/bin/true";
	s->seconds = STORM_LIFE_S;
	s->sh = mmap(NULL, sizeof(*s->sh), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return s->sh != MAP_FAILED;
}

static inline long storm_call(void)
{
	return syscall(SYS_getppid);
}

/* Fork a child that makes a call, or executes @program, and wait for it. */
static inline bool storm_child(const char *program)
{
	char * const argv[] = {
		(char *)program, (char *)"exit", (char *)"0", NULL
	};
	char * const envp[] = { NULL };
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (program)
			execve(program, argv, envp);
		storm_call();
		_exit(program ? 1 : 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return !status;
}

static inline void *storm_idle_thread(void *arg)
{
	return arg;
}

static inline void storm_threads(void)
{
	pthread_t thread[4];
	int i, n = 0;

	while (n < 4 && !pthread_create(&thread[n], NULL, storm_idle_thread, NULL))
		n++;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

struct storm_thread {
	struct storm_shared *sh;
	pid_t tid;
	bool other;
};

/* Write a new name over and over, of this thread or of thread @tid. */
static inline void *storm_renamer(void *arg)
{
	struct storm_thread *th = arg;
	char path[64], name[16];
	int fd = -1;
	long i;

	if (th->other) {
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", th->tid);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			_exit(1);
	}
	for (i = 0; ; i++) {
		snprintf(name, sizeof(name), "storm%ld", i % 1000);
		if (!th->other) {
			prctl(PR_SET_NAME, name);
			storm_call();
			th->sh->done[STORM_RENAME_SELF]++;
		} else if (write(fd, name, strlen(name)) < 0) {
			th->sh->failed++;
		}
	}
	return NULL;
}

#define STORM_IDLE_STACK	4096

static inline int storm_idle(void *arg)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
	return 0;
}

/* Start @n idle children that share the memory, to afford thousands of them. */
static inline void storm_crowd(int n)
{
	char *stacks = mmap(NULL, (size_t)n * STORM_IDLE_STACK,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int i;

	for (i = 1; stacks != MAP_FAILED && i <= n; i++)
		if (clone(storm_idle, stacks + (size_t)i * STORM_IDLE_STACK,
			  CLONE_VM | SIGCHLD, NULL) < 0)
			_exit(1);
	if (stacks == MAP_FAILED)
		_exit(1);
}

static inline void storm_rename(struct storm *s, bool other)
{
	struct storm_thread th = {
		.sh = s->sh, .tid = syscall(SYS_gettid), .other = other,
	};
	int i, n = other ? STORM_RENAMERS : 1;
	pthread_t thread;

	if (!other && s->crowd)
		storm_crowd(s->crowd);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread, NULL, storm_renamer, &th))
			_exit(1);
	if (!other)
		storm_renamer(&th);
	for (;;) {
		storm_call();
		s->sh->done[STORM_RENAME_ONE]++;
	}
}

static inline void storm_work(struct storm *s, enum storm_kind kind)
{
	bool good = true;

	for (;;) {
		switch (kind) {
		case STORM_FORK:
			good = storm_child(NULL);
			break;
		case STORM_EXEC:
			good = storm_child(s->program);
			break;
		case STORM_SETID:
			good = storm_child(s->setid);
			break;
		case STORM_THREADS:
			storm_threads();
			break;
		default:
			storm_rename(s, kind == STORM_RENAME_ONE);
		}
		s->sh->done[kind]++;
		s->sh->failed += !good;
	}
}

/* A new worker calls this first. */
static inline void storm_join(struct storm *s, pid_t parent)
{
	setpgid(0, s->group);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	alarm(s->seconds);
}

/* Fork a worker of the storm; returns its pid, in the worker 0. */
static inline pid_t storm_fork(struct storm *s)
{
	pid_t parent = getpid(), pid = -1;

	if (s->n < STORM_MAX_WORKERS)
		pid = fork();
	if (!pid) {
		storm_join(s, parent);
	} else if (pid > 0) {
		setpgid(pid, s->group);
		if (!s->group)
			s->group = pid;
		s->pid[s->n++] = pid;
	}
	return pid;
}

static inline bool storm_add(struct storm *s, enum storm_kind kind, int n)
{
	while (n--) {
		pid_t pid = storm_fork(s);

		if (!pid)
			storm_work(s, kind);
		if (pid < 0)
			return false;
	}
	return true;
}

/* Start the bystander, whose longest round is kept in sh->worst. */
static inline bool storm_bystander(struct storm *s)
{
	pid_t pid = storm_fork(s);
	long took;

	if (pid)
		return pid > 0;
	for (;;) {
		s->sh->began = storm_us();
		if (!storm_child(s->program))
			s->sh->failed++;
		took = storm_us() - s->sh->began;
		s->sh->began = 0;
		if (took > s->sh->worst)
			s->sh->worst = took;
		s->sh->rounds++;
	}
}

/*
 * The bystander's longest round since sh->worst was set to 0, in microseconds;
 * a round that still lasts counts up to now.
 */
static inline long storm_worst(struct storm *s)
{
	long began = s->sh->began, lasts = began ? storm_us() - began : 0;
	long worst = s->sh->worst;

	return lasts > worst ? lasts : worst;
}

/* Kill all workers; returns how many have not ended after STORM_KILL_MS. */
static inline int storm_end(struct storm *s)
{
	long end = storm_us() + STORM_KILL_MS * 1000L;
	int i, left = 0;

	if (s->group)
		kill(-s->group, SIGKILL);
	for (i = 0; i < s->n; i++) {
		while (!waitpid(s->pid[i], NULL, WNOHANG) && storm_us() < end)
			storm_sleep_ms(2);
		/*
		 * waitpid() gives 0 for a worker that still runs, ECHILD for a
		 * reaped one.
		 */
		left += !waitpid(s->pid[i], NULL, WNOHANG);
	}
	s->n = 0;
	s->group = 0;
	return left;
}

/*
 * An instance of ftrace with the tracer "process": its engine has system scope,
 * and user space can give it a match.
 */
#define STORM_INSTANCE	"/sys/kernel/tracing/instances/utrace_storm"

static inline int storm_write(const char *name, const char *text, int flags)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), STORM_INSTANCE "/%s", name);
	fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * Make the instance, and write @n words to the file process/@kind: @word, or
 * @word followed by a number if @n > 1.
 */
static inline int storm_match(const char *kind, const char *word, int n)
{
	char name[32], text[64];
	int ret = 0, i;

	if (mkdir(STORM_INSTANCE, 0700) && errno != EEXIST)
		return -errno;
	snprintf(name, sizeof(name), "process/%s", kind);
	for (i = 0; i < n && !ret; i++) {
		snprintf(text, sizeof(text), n > 1 ? "%s%d\n" : "%s\n", word, i);
		ret = storm_write(name, text, i ? O_APPEND : O_TRUNC);
	}
	return ret;
}

static inline int storm_tracer(bool on)
{
	return storm_write("current_tracer", on ? "process" : "nop", 0);
}

static inline void storm_unmatch(void)
{
	storm_tracer(false);
	rmdir(STORM_INSTANCE);
}

#endif /* UTRACE_STORM_H */

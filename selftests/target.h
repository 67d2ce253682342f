/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the processes that are traced
 *
 * A target is a child of the test that runs a function.  Test and target share
 * the memory of struct ut_shared and two pipes, by which each can wait for the
 * other.
 */
#ifndef UTRACE_TARGET_H
#define UTRACE_TARGET_H

#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "common.h"

#define UT_MAX_TARGETS	64
#define UT_MAX_THREADS	8

/* Shared by the test, the target and the target's children. */
struct ut_shared {
	_Atomic long counter;			/* ut_spin(), ut_calls() */
	_Atomic long value[16];			/* for the test's own use */
	_Atomic pid_t tid[UT_MAX_THREADS];
	_Atomic long thread_counter[UT_MAX_THREADS];
	_Atomic int go[UT_MAX_THREADS];
	_Atomic int quit;
};

struct ut_target {
	pid_t pid;
	int to[2];			/* test to target */
	int from[2];			/* target to test */
	struct ut_shared *sh;
	long arg;
	int (*fn)(struct ut_target *t);
};

static pid_t ut_pids[UT_MAX_TARGETS];
static int ut_npids;

/* In the target: wait for ut_go() of the test. */
static inline void ut_await(struct ut_target *t)
{
	char c;

	while (read(t->to[0], &c, 1) < 0 && errno == EINTR)
		;
}

static inline void ut_say(struct ut_target *t)
{
	while (write(t->from[1], "", 1) < 0 && errno == EINTR)
		;
}

/* In the test: end the target's ut_await(). */
static inline bool ut_go(struct ut_target *t)
{
	return write(t->to[1], "", 1) == 1;
}

/* In the test: wait for ut_say() of the target. */
static inline bool ut_hear(struct ut_target *t)
{
	struct pollfd pfd = { .fd = t->from[0], .events = POLLIN };
	char c;

	return poll(&pfd, 1, UT_DEADLINE_MS) == 1 &&
	       read(t->from[0], &c, 1) == 1;
}

/*
 * Return the parent of this process, in the pid namespace of /proc; -1 without
 * /proc.  getppid() is a call that tests count.
 */
static inline pid_t ut_parent(void)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), parent = -1;
	char text[256] = "", *end;

	if (fd < 0)
		return -1;
	/* PID (NAME) STATE PARENT ... */
	if (read(fd, text, sizeof(text) - 1) > 0) {
		end = strrchr(text, ')');
		if (end)
			sscanf(end, ") %*c %d", &parent);
	}
	close(fd);
	return parent;
}

/*
 * Die with the parent, and drop the test's session.  Children of the test and
 * of targets call this first.  The signal does not come if the parent died
 * before prctl(); init is the parent then.
 */
static inline void ut_be_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ut_parent() == 1)
		_exit(0);
	if (ut_fd >= 0)
		close(ut_fd);
}

static inline bool ut_prepare(struct ut_target *t)
{
	if (pipe2(t->to, O_CLOEXEC) || pipe2(t->from, O_CLOEXEC))
		return false;
	t->sh = mmap(NULL, sizeof(*t->sh), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return t->sh != MAP_FAILED;
}

/* Both parent and child call this after the fork, which returned @pid. */
static inline bool ut_forked(struct ut_target *t, pid_t pid)
{
	t->pid = pid;
	if (pid < 0)
		return false;
	if (!pid) {
		ut_be_child();
		_exit(t->fn(t));
	}
	ut_pids[ut_npids++] = pid;
	return true;
}

/* Start a child that runs @fn and exits with its result. */
static inline bool ut_spawn(struct ut_target *t,
			    int (*fn)(struct ut_target *t))
{
	t->fn = fn;
	return ut_npids < UT_MAX_TARGETS && ut_prepare(t) &&
	       ut_forked(t, fork());
}

/* Check whether the kernel has pid namespaces. */
static inline bool ut_has_pid_ns(void)
{
	return !access("/proc/self/ns/pid", F_OK);
}

/*
 * Start a target as the init of a pid namespace, with more new namespaces if
 * @flags say so.  t->pid is its number outside.
 */
static inline bool ut_spawn_in_new(struct ut_target *t,
				   int (*fn)(struct ut_target *t),
				   unsigned long flags)
{
	t->fn = fn;
	return ut_npids < UT_MAX_TARGETS && ut_prepare(t) &&
	       ut_forked(t, syscall(SYS_clone, CLONE_NEWPID | flags | SIGCHLD,
				    0, 0, 0, 0));
}

/* Wait for the end of the target, until the deadline. */
static inline bool ut_reap(struct ut_target *t, int *status)
{
	return ut_waitpid(t->pid, status, __WALL) == 1;
}

static inline void ut_kill_targets(void)
{
	int i;

	for (i = 0; i < ut_npids; i++) {
		if (waitpid(ut_pids[i], NULL, WNOHANG | __WALL) == 0) {
			kill(ut_pids[i], SIGKILL);
			ut_waitpid(ut_pids[i], NULL, __WALL);
		}
	}
	ut_npids = 0;
}

/* In the target: count in user mode, without system calls, for ever. */
static inline int ut_spin(struct ut_target *t)
{
	while (!t->sh->quit)
		t->sh->counter++;
	return 0;
}

/* Let the calling thread run on this CPU only. */
static inline void ut_pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Function of a target: keep the CPU t->arg busy. */
static inline int ut_hog(struct ut_target *t)
{
	ut_pin_to(t->arg);
	return ut_spin(t);
}

/* Function of a target: sleep. */
static inline int ut_pauses(struct ut_target *t)
{
	ut_say(t);
	while (!t->sh->quit)
		pause();
	return 0;
}

static inline bool ut_runs(struct ut_target *t)
{
	long old = t->sh->counter;

	return ut_until(t->sh->counter != old);
}

/* Check that the target runs no user code for UT_QUIET_MS. */
static inline bool ut_still(struct ut_target *t)
{
	long old = t->sh->counter;

	return ut_stays(t->sh->counter == old);
}

/*
 * Check that @tid gets into the state of a tracing stop.  The state is the same
 * for a hold and for a ptrace stop.
 */
static inline bool ut_held(pid_t tid)
{
	return ut_until(ut_state(tid) == 't');
}

/*
 * The marker: a system call that targets make for no other purpose, with
 * arguments that a test can recognise.
 */
#define UT_MARK_NR	SYS_getppid

static inline long ut_mark(long a)
{
	return syscall(UT_MARK_NR, a, a + 1, a + 2, a + 3, a + 4, a + 5);
}

/*
 * Function of a target: make the marker call t->arg times.  Results and errno
 * are in sh->value[], in pairs.
 */
static inline int ut_marks(struct ut_target *t)
{
	int i;

	ut_await(t);
	for (i = 0; i < t->arg; i++) {
		errno = 0;
		t->sh->value[2 * i] = ut_mark(1000 * (i + 1));
		t->sh->value[2 * i + 1] = errno;
	}
	return 0;
}

static inline bool ut_spawn_marks(struct ut_target *t, int n)
{
	t->arg = n;
	return ut_spawn(t, ut_marks);
}

/* Function of a target: make the marker call as fast as possible. */
static inline int ut_calls(struct ut_target *t)
{
	while (!t->sh->quit) {
		ut_mark(0);
		t->sh->counter++;
	}
	return 0;
}

static inline pid_t ut_gettid(void)
{
	return syscall(SYS_gettid);
}

/* In the target: fork a child that exits with @code; returns its status. */
static inline int ut_fork_wait(int code)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(code);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid < 0 ? -1 : status;
}

/* The threads of a target count, and do what their element of go[] says. */
struct ut_thread {
	struct ut_target *t;
	int index;
	pthread_t thread;
};

enum { UT_GO_SPIN, UT_GO_MARK, UT_GO_END, UT_GO_EXEC, UT_GO_EXIT_GROUP };

static inline void *ut_thread_main(void *arg)
{
	struct ut_thread *th = arg;
	struct ut_shared *sh = th->t->sh;
	char * const argv[] = { (char *)"helper", (char *)"pause", NULL };
	char * const envp[] = { NULL };

	sh->tid[th->index] = ut_gettid();
	for (;;) {
		sh->thread_counter[th->index]++;
		switch (sh->go[th->index]) {
		case UT_GO_MARK:
			ut_mark(th->index);
			sh->go[th->index] = UT_GO_SPIN;
			break;
		case UT_GO_END:
			syscall(SYS_exit, 0);
			break;
		case UT_GO_EXEC:
			execve(ut_helper(), argv, envp);
			_exit(99);
		case UT_GO_EXIT_GROUP:
			syscall(SYS_exit_group, 7);
			break;
		}
	}
	return NULL;
}

/* Check that the process becomes the helper, which UT_GO_EXEC executes. */
static inline bool ut_became_helper(pid_t pid)
{
	char comm[32] = "";

	return ut_until(ut_read_file(comm, sizeof(comm), "/proc/%d/comm",
				     pid) > 0 && !strcmp(comm, "helper\n"));
}

/* In the target: start threads 1 to @n - 1; the leader is thread 0. */
static inline bool ut_threads(struct ut_target *t, int n)
{
	static struct ut_thread th[UT_MAX_THREADS];
	int i;

	for (i = 1; i < n; i++) {
		th[i].t = t;
		th[i].index = i;
		if (pthread_create(&th[i].thread, NULL, ut_thread_main,
				   &th[i]))
			return false;
	}
	for (i = 1; i < n; i++)
		while (!t->sh->tid[i])
			sched_yield();
	t->sh->tid[0] = ut_gettid();
	return true;
}

/* Function of a target with t->arg threads; the leader counts, too. */
static inline int ut_threaded(struct ut_target *t)
{
	struct ut_thread self = { .t = t };

	ut_helper();	/* ut_dir() makes no system call from now on */
	if (!ut_threads(t, t->arg))
		return 98;
	ut_say(t);
	ut_thread_main(&self);
	return 0;
}

/* Start a target of @n threads, and wait until all of them run. */
static inline bool ut_spawn_threads(struct ut_target *t, int n)
{
	t->arg = n;
	return ut_spawn(t, ut_threaded) && ut_hear(t);
}

static inline bool ut_thread_runs(struct ut_target *t, int i)
{
	long old = t->sh->thread_counter[i];

	return ut_until(t->sh->thread_counter[i] != old);
}

static inline bool ut_thread_still(struct ut_target *t, int i)
{
	long old = t->sh->thread_counter[i];

	return ut_stays(t->sh->thread_counter[i] == old);
}

/* Attach a thread engine that holds @tid; returns its number, or < 0. */
static inline int ut_attach_hold(pid_t tid)
{
	int id = ut_attach(tid, 0, UT_BIT(QUIESCE));

	if (id >= 0 && (ut_stop(id, 0) || !ut_held(tid)))
		return -EAGAIN;
	return id;
}

/* Start a target that spins, and hold it in user mode; returns as above. */
static inline int ut_hold(struct ut_target *t)
{
	if (!ut_spawn(t, ut_spin) || !ut_runs(t))
		return -EAGAIN;
	return ut_attach_hold(t->pid);
}

/*
 * Start a target of three threads and hold thread 1; returns as
 * ut_attach_hold().
 */
static inline int ut_hold_thread(struct ut_target *t)
{
	if (!ut_spawn_threads(t, 3))
		return -EAGAIN;
	return ut_attach_hold(t->sh->tid[1]);
}

#endif /* UTRACE_TARGET_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The processes that are traced: a child that runs a function, with memory
 * and two pipes shared with the test.
 */
#ifndef UTRACE_TARGET_H
#define UTRACE_TARGET_H

#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

#include "common.h"

#define UT_MAX_TARGETS	64
#define UT_MAX_THREADS	8

/* Seen by the test, the target and its children. */
struct ut_shared {
	_Atomic long counter;			/* of ut_spin() */
	_Atomic long value[16];			/* as a test likes */
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

/* In the target: wait for ut_go(). */
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

/* In the test: let the target go on from ut_await(). */
static inline bool ut_go(struct ut_target *t)
{
	return write(t->to[1], "", 1) == 1;
}

/* In the test: wait for ut_say(). */
static inline bool ut_hear(struct ut_target *t)
{
	struct pollfd pfd = { .fd = t->from[0], .events = POLLIN };
	char c;

	return poll(&pfd, 1, UT_DEADLINE_MS) == 1 &&
	       read(t->from[0], &c, 1) == 1;
}

/* What ut_spawn()'s child and children of targets begin with. */
static inline void ut_be_child(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
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

/* Have a child run @fn; it exits with what that returns. */
static inline bool ut_spawn(struct ut_target *t,
			    int (*fn)(struct ut_target *t))
{
	t->fn = fn;
	if (ut_npids == UT_MAX_TARGETS || !ut_prepare(t))
		return false;
	t->pid = fork();
	if (t->pid < 0)
		return false;
	if (!t->pid) {
		ut_be_child();
		_exit(fn(t));
	}
	ut_pids[ut_npids++] = t->pid;
	return true;
}

/* The end of the target, with a deadline. */
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

/* In the target: run in user mode only, for ever. */
static inline int ut_spin(struct ut_target *t)
{
	while (!t->sh->quit)
		t->sh->counter++;
	return 0;
}

static inline bool ut_runs(struct ut_target *t)
{
	long old = t->sh->counter;

	return ut_until(t->sh->counter != old);
}

/* Does not run user code: looked at for a while. */
static inline bool ut_still(struct ut_target *t)
{
	long old = t->sh->counter;

	return ut_stays(t->sh->counter == old);
}

/* Is it held: in a tracing stop, and ptrace is not the reason? */
static inline bool ut_held(pid_t tid)
{
	return ut_until(ut_state(tid) == 't');
}

/* A system call that nothing else makes, with arguments to recognise. */
#define UT_MARK_NR	SYS_getppid

static inline long ut_mark(long a)
{
	return syscall(UT_MARK_NR, a, a + 1, a + 2, a + 3, a + 4, a + 5);
}

/* A target that makes it t->arg times; results from value[0] on. */
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

/* A target that makes it as fast as it can. */
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

/* A child of the target that exits with @code; waits for it. */
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

/* Threads of a target: each counts, and does as go[] says. */
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

/* Did the process become what UT_GO_EXEC executes? */
static inline bool ut_became_helper(pid_t pid)
{
	char comm[32] = "";

	return ut_until(ut_read_file(comm, sizeof(comm), "/proc/%d/comm",
				     pid) > 0 && !strcmp(comm, "helper\n"));
}

/* In the target: start threads 1 to @n - 1; the leader is number 0. */
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

/* A target of t->arg threads; the leader is like the others. */
static inline int ut_threaded(struct ut_target *t)
{
	struct ut_thread self = { .t = t };

	ut_helper();	/* not in the middle of something else */
	if (!ut_threads(t, t->arg))
		return 98;
	ut_say(t);
	ut_thread_main(&self);
	return 0;
}

/* Such a target of @n threads, all of which run. */
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

/* A thread engine that holds @tid; its number, or a negative one. */
static inline int ut_attach_hold(pid_t tid)
{
	int id = ut_attach(tid, 0, UT_BIT(QUIESCE));

	if (id >= 0 && (ut_stop(id, 0) || !ut_held(tid)))
		return -EAGAIN;
	return id;
}

/* A target that spins, and is held on its way. */
static inline int ut_hold(struct ut_target *t)
{
	if (!ut_spawn(t, ut_spin) || !ut_runs(t))
		return -EAGAIN;
	return ut_attach_hold(t->pid);
}

/* A target of three threads, of which number 1 is held. */
static inline int ut_hold_thread(struct ut_target *t)
{
	if (!ut_spawn_threads(t, 3))
		return -EAGAIN;
	return ut_attach_hold(t->sh->tid[1]);
}

#endif /* UTRACE_TARGET_H */

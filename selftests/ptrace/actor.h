/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the tracee of most tests
 *
 * The actor counts in user mode, and does what go[0] says, without any other
 * system call or signal.
 */
#ifndef UTRACE_ACTOR_H
#define UTRACE_ACTOR_H

#include "tracer.h"

#define ACTOR_CODE		7	/* exit code of the actor */
#define ACTOR_CHILD_CODE	5	/* exit code of a child */
#define ACTOR_MARK		1000	/* first argument of the marker call */

enum {
	ACTOR_MARKS = 1,	/* the marker call */
	ACTOR_FORKS,		/* and waits for the child */
	ACTOR_VFORKS,
	ACTOR_CLONES,		/* a thread, which ends at once */
	ACTOR_EXECS,		/* the helper, which exits with ACTOR_CODE */
	ACTOR_EXITS,		/* with ACTOR_CODE */
	ACTOR_READS,		/* sleeps in read() until ut_go() */
	ACTOR_BREAKS,		/* calls actor_break() */
};

/* Elements of ut_shared.value. */
enum {
	ACTOR_USR1,		/* handlers that ran */
	ACTOR_USR2,
	ACTOR_SI_CODE,		/* of the last signal */
	ACTOR_SI_PID,
	ACTOR_RESULT,		/* of the last action */
	ACTOR_CHILD,		/* pid of the child, or tid */
	ACTOR_STATUS,		/* exit status of the child */
	ACTOR_DONE,		/* number of actions that are over */
};

static struct ut_shared *actor_sh;

static inline void actor_on_signal(int sig, siginfo_t *info, void *context)
{
	actor_sh->value[ACTOR_SI_CODE] = info->si_code;
	actor_sh->value[ACTOR_SI_PID] = info->si_pid;
	actor_sh->value[sig == SIGUSR1 ? ACTOR_USR1 : ACTOR_USR2]++;
}

/* The child of a fork waits for go[1], or the end of the test or @parent. */
static inline void actor_child(pid_t parent)
{
	while (!actor_sh->go[1] && !actor_sh->quit && getppid() == parent)
		;
	_exit(ACTOR_CHILD_CODE);
}

static inline void *actor_thread(void *arg)
{
	actor_sh->value[ACTOR_CHILD] = ut_gettid();
	return arg;
}

/* A function to put a breakpoint on. */
static __attribute__((noinline, noclone, unused)) void actor_break(void)
{
	asm volatile ("" ::: "memory");
}

static inline void actor_wait(pid_t pid)
{
	int status = -1;

	actor_sh->value[ACTOR_CHILD] = pid;
	while (waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
		;
	actor_sh->value[ACTOR_STATUS] = status;
}

static inline void actor_act(struct ut_target *t, int what)
{
	char * const argv[] = { (char *)"helper", (char *)"exit",
				(char *)"7", NULL };
	char * const envp[] = { NULL };
	pthread_t thread;
	pid_t pid;
	int ret;

	switch (what) {
	case ACTOR_MARKS:
		t->sh->value[ACTOR_RESULT] = ut_mark(ACTOR_MARK);
		break;
	case ACTOR_FORKS:
		pid = fork();
		if (!pid)
			actor_child(t->sh->tid[0]);
		actor_wait(pid);
		break;
	case ACTOR_VFORKS:
		pid = vfork();
		if (!pid)
			_exit(ACTOR_CHILD_CODE);
		actor_wait(pid);
		break;
	case ACTOR_CLONES:
		ret = pthread_create(&thread, NULL, actor_thread, NULL);
		t->sh->value[ACTOR_RESULT] = ret;
		if (!ret)
			pthread_join(thread, NULL);
		break;
	case ACTOR_EXECS:
		execve(ut_helper(), argv, envp);
		_exit(99);
	case ACTOR_EXITS:
		_exit(ACTOR_CODE);
	case ACTOR_READS:
		ut_await(t);
		break;
	case ACTOR_BREAKS:
		actor_break();
		break;
	}
	t->sh->value[ACTOR_DONE]++;
}

static inline int actor(struct ut_target *t)
{
	struct sigaction act = {
		.sa_sigaction = actor_on_signal, .sa_flags = SA_SIGINFO,
	};
	int what;

	actor_sh = t->sh;
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGUSR2, &act, NULL);
	signal(SIGHUP, SIG_IGN);
	two_block(SIGCHLD);
	if (t->arg && !two_become(t->arg))
		return 97;
	ut_helper();
	t->sh->tid[0] = ut_gettid();
	ut_say(t);
	for (;;) {
		t->sh->counter++;
		what = t->sh->go[0];
		if (!what)
			continue;
		t->sh->go[0] = 0;
		actor_act(t, what);
	}
}

/* Start an actor of the user @uid. */
static inline bool actor_spawn_as(struct ut_target *t, uid_t uid)
{
	t->arg = uid;
	return ut_spawn(t, actor) && ut_hear(t) && ut_runs(t);
}

static inline bool actor_spawn(struct ut_target *t)
{
	return actor_spawn_as(t, 0);
}

static inline void actor_do(struct ut_target *t, int what)
{
	t->sh->go[0] = what;
}

/* Wait for the end of the actor's @n-th action. */
static inline bool actor_did(struct ut_target *t, long n)
{
	return ut_until(t->sh->value[ACTOR_DONE] == n);
}

#endif /* UTRACE_ACTOR_H */

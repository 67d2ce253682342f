// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the parent does not wait for a further tracer
 *
 * The task dies at a time when it hardly gets the CPU.  The parent sees the
 * zombie before the end is reported to the further tracer, and reaps it.  With
 * preempt=full the task can lose the CPU in between.  The task, its tracers and
 * the busy loop have no rights.
 */
#include "two.h"

#define DEATHS		5
#define LATE_US		(100000L * ut_patience())
#define CPU		0

static struct two_tracer first, further;

/* Function of a target: the busy loop. */
static int is_busy(struct ut_target *t)
{
	return two_become(TWO_NOBODY) ? ut_hog(t) : 97;
}

static long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000L + ts.tv_nsec / 1000;
}

/* The task: count until go[0], and die where there is no time for it. */
static void dies(struct ut_shared *sh)
{
	struct sched_param param = {};

	ut_be_child();
	if (!two_become(TWO_NOBODY))
		_exit(97);
	while (!sh->go[0])
		sh->counter++;
	sched_setscheduler(0, SCHED_IDLE, &param);
	ut_pin_to(CPU);
	_exit(ACTOR_CODE);
}

/* The time that waitpid() takes for a zombie, or < 0. */
static long reap(struct two_data *self, bool traced)
{
	struct ut_shared *sh = self->t.sh;
	siginfo_t info;
	int status;
	pid_t pid;
	long us;

	sh->go[0] = 0;
	pid = fork();
	if (!pid)
		dies(sh);
	/* It counts as the user that traces it. */
	if (pid < 0 || !ut_runs(&self->t))
		return -1;
	if (traced && (two_seize(&first, pid, 0) ||
		       two_seize(&further, pid, 0) ||
		       !two_leave(&first, pid)))
		return -2;
	sh->go[0] = 1;
	if (waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		return -3;
	us = now_us();
	if (waitpid(pid, &status, 0) != pid)
		return -4;
	us = now_us() - us;
	if (traced && two_wait(&further, pid) != two_exit(ACTOR_CODE))
		return -5;
	return us;
}

/* How many of the deaths have the parent wait too long; -1 for an error. */
static int count_late(struct two_data *self, bool traced)
{
	long us, worst = 0, sum = 0;
	int i, n = 0;

	for (i = 0; i < DEATHS; i++) {
		us = reap(self, traced);
		if (us < 0) {
			printf("# death %d: %ld\n", i, us);
			return -1;
		}
		n += us > LATE_US;
		sum += us;
		worst = us > worst ? us : worst;
	}
	printf("# %s: mean %ld us, worst %ld us, %d of %d late\n",
	       traced ? "traced" : "plain", sum / DEATHS, worst, n, DEATHS);
	return n;
}

static bool kernel_is_preemptible(void)
{
	char text[4096];

	return ut_read_file(text, sizeof(text), "/proc/cmdline") > 0 &&
	       strstr(text, "preempt=full");
}

TEST_F(tracers, parent_reaps_at_once)
{
	struct ut_target hog = { .arg = CPU };
	int plain, traced;

	if (!kernel_is_preemptible())
		SKIP(return, "this needs preempt=full");
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "this needs two CPUs");
	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_nobodies(&first, &further));
	ut_pin_to(CPU + 1);
	ASSERT_TRUE(ut_prepare(&self->t));
	ASSERT_TRUE(ut_spawn(&hog, is_busy));
	ASSERT_TRUE(ut_runs(&hog));
	plain = count_late(self, false);
	ASSERT_LE(0, plain);
	/* One late death may be chance. */
	if (plain > 1)
		SKIP(return, "the machine is too busy");
	traced = count_late(self, true);
	ASSERT_LE(0, traced);
	EXPECT_LE(traced, plain + 1);
}

TEST_HARNESS_MAIN

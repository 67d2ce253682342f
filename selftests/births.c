// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tasks that are born while an engine attaches
 *
 * Creators make threads or processes while an engine attaches, or while it asks
 * for events.  Each child makes a call once the controller has said that the
 * engine is there, and every one of these calls must be reported.
 */
#include <linux/futex.h>

#include "fixture.h"

#define STORM_MS	3000
/* The most children of one creator in a round, counting all descendants. */
#define MOST		40
#define NCREATORS	2

/* Elements of ut_shared.value. */
enum {
	V_ROUND,		/* number of the round that creators work on */
	V_BORN,			/* children of this round and the next one */
	V_MADE,			/* those of V_BORN whose creator has gone on */
	V_ENDED,		/* those of V_BORN that have made their call */
	V_OVER,			/* creators that are done with this round */
};

/* What the creators make, and how. */
struct birth {
	bool processes;
	bool chain;		/* each child makes the next one */
};

static struct ut_shared *sh;
static struct birth kind;

/* The argument of the round's marker calls, which no other call has. */
#define MARK(round)	(0x6269727468 << 16 | (round))

/* Wait until the controller says that the engine is there. */
static void await_go(int round)
{
	int go;

	while ((go = sh->go[0]) < round && !sh->quit)
		syscall(SYS_futex, &sh->go[0], FUTEX_WAIT, go, NULL, NULL, 0);
}

static void say_go(int round)
{
	sh->go[0] = round;
	syscall(SYS_futex, &sh->go[0], FUTEX_WAKE, 1000, NULL, NULL, 0);
}

static void *live(void *arg);

/* Make one more child, unless the engine is there. */
static bool birth(long round)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool born;
	pid_t pid;

	if (sh->go[0] >= round || sh->quit)
		return false;
	sh->value[V_BORN]++;
	if (kind.processes) {
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			live((void *)round);
			_exit(0);
		}
		born = pid > 0;
	} else {
		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		born = !pthread_create(&thread, &attr, live, (void *)round);
	}
	if (born)
		sh->value[V_MADE]++;
	else
		sh->value[V_BORN]--;
	return born;
}

static void reap_children(void)
{
	while (kind.processes && waitpid(-1, NULL, __WNOTHREAD) > 0)
		;
}

static void *live(void *arg)
{
	long round = (long)arg;

	if (kind.chain && sh->value[V_BORN] < NCREATORS * MOST)
		birth(round);
	await_go(round);
	ut_mark(MARK(round));
	sh->value[V_ENDED]++;
	reap_children();
	return NULL;
}

static void *creator(void *arg)
{
	long round = 1;
	int n;

	while (!sh->quit) {
		if (sh->value[V_ROUND] < round) {
			sched_yield();
			continue;
		}
		for (n = kind.chain ? MOST - 1 : 0; n < MOST && birth(round); n++)
			;
		await_go(round);
		reap_children();
		sh->value[V_OVER]++;
		round++;
	}
	return arg;
}

static int creators(struct ut_target *t)
{
	pthread_t thread[NCREATORS];
	int i;

	sh = t->sh;
	for (i = 0; i < NCREATORS; i++)
		if (pthread_create(&thread[i], NULL, creator, NULL))
			return 1;
	for (i = 0; i < NCREATORS; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* The number of calls of this round that were reported. */
static long reported(int id, long round)
{
	int i = -1;
	long n = 0;

	ut_pull(0);
	while ((i = ut_find(i + 1, id, UT_EV_SYSCALL_ENTRY, UT_ANY,
			    UT_MARK_NR)) >= 0)
		n += ut_rec[i].val[0] == MARK(round);
	return n;
}

/* Wait until a child is about to be born; give up if no more come. */
static void await_birth(void)
{
	int i;

	for (i = 0; i < 1000000 && sh->value[V_BORN] == sh->value[V_MADE]; i++)
		;
}

static bool is_over(void)
{
	return sh->value[V_OVER] == NCREATORS &&
	       sh->value[V_ENDED] == sh->value[V_BORN];
}

FIXTURE_LIKE(utrace, births)

FIXTURE_VARIANT(births) {
	__u32 scope;
	struct birth kind;
};

FIXTURE_VARIANT_ADD(births, threads_of_a_process) {
	.scope = UT_ATTACH_PROCESS,
};

FIXTURE_VARIANT_ADD(births, threads_by_threads_of_a_process) {
	.scope = UT_ATTACH_PROCESS, .kind.chain = true,
};

FIXTURE_VARIANT_ADD(births, processes_of_a_tree) {
	.scope = UT_ATTACH_TREE, .kind.processes = true,
};

FIXTURE_VARIANT_ADD(births, threads_of_the_system) {
	.scope = UT_ATTACH_SYSTEM,
};

FIXTURE_VARIANT_ADD(births, threads_by_threads_of_the_system) {
	.scope = UT_ATTACH_SYSTEM, .kind.chain = true,
};

FIXTURE_VARIANT_ADD(births, processes_by_processes_of_the_system) {
	.scope = UT_ATTACH_SYSTEM, .kind.processes = true, .kind.chain = true,
};

TEST_F(births, nobody_is_missed)
{
	static const int mark[] = { UT_MARK_NR };
	struct ut_target *t = &self->base.t;
	long end = ut_now_ms() + STORM_MS, round, born = 0, before, beside = 0;

	kind = variant->kind;
	ASSERT_TRUE(ut_spawn(t, creators));
	sh = t->sh;
	for (round = 1; ut_now_ms() < end || round < 10; round++) {
		int id, ret, other = 0;

		ut_drain();
		/*
		 * Every second round, the tasks have a set before the engine
		 * comes.
		 */
		if (round % 2)
			other = ut_attach_full(t->pid, UT_ATTACH_TREE,
					       UT_OPS_FULL, 0);
		ASSERT_LE(0, other);
		sh->value[V_BORN] = 0;
		sh->value[V_MADE] = 0;
		sh->value[V_ENDED] = 0;
		sh->value[V_OVER] = 0;
		sh->value[V_ROUND] = round;
		/* Vary the moment of the attach from round to round. */
		usleep(round * 97 % 2000);
		await_birth();
		id = ut_attach_full(t->pid, variant->scope, UT_OPS_FULL, 0);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_filter(id, mark, 1));
		await_birth();
		before = sh->value[V_MADE];
		ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
		beside += sh->value[V_BORN] != before;
		say_go(round);
		ASSERT_TRUE(ut_until(is_over()));
		ASSERT_EQ(sh->value[V_BORN], reported(id, round)) {
			TH_LOG("round %ld", round);
		}
		born += sh->value[V_BORN];
		ret = ut_detach(id);
		ASSERT_TRUE(!ret || ret == -EINPROGRESS);
		if (other)
			ut_detach(other);
	}
	TH_LOG("%ld rounds, %ld born, in %ld while events were asked for",
	       round - 1, born, beside);
	EXPECT_LT(0, beside);
}

TEST_HARNESS_MAIN

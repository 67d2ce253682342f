// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the threads of a tracer that wait for a tracee
 *
 * One of the threads reads the end, and the others get ECHILD.  That also holds
 * if the process of the tracer is the parent of the tracee.
 */
#include "sole.h"

#define RACE_MS		(ut_is_slow() ? 3000 : 1500)
#define ROUNDS		20
#define RACE_US		3000
#define WAITERS		3
#define KILLED		two_killed(SIGKILL)

/* What the process of the tracer does; members are set before its start. */
struct plan {
	bool parent;		/* it makes the tracee, by clone() */
	int exit_signal;	/* of the tracee */
	bool other_thread;	/* another thread than the parent traces */
	int options;		/* of the wait */
};

/* What value[] of the process of the tracer is for. */
enum { SEIZED, ENDS, OTHERS, TRACER_SAW, PARENT_SAW };

static struct plan plan;

static void __attribute__((noreturn)) sleep_for_ever(void)
{
	ut_be_child();
	for (;;)
		pause();
}

static long wait_for(pid_t pid, int options)
{
	int status;

	return waitpid(pid, &status, options) < 0 ? -errno : status;
}

/* A thread that waits until there is no tracee. */
static void *waits(void *arg)
{
	struct ut_shared *sh = arg;
	long status;

	while ((status = wait_for(-1, __WALL)) == KILLED)
		sh->value[ENDS]++;
	if (status != -ECHILD)
		sh->value[OTHERS]++;
	return NULL;
}

/* Make the tracee, if that is what the process is to do. */
static void begin(struct ut_target *t)
{
	pid_t pid;

	if (plan.parent) {
		pid = syscall(SYS_clone, plan.exit_signal, 0, 0, 0, 0);
		if (!pid)
			sleep_for_ever();
		t->sh->tid[0] = pid;
	}
	ut_say(t);
	ut_await(t);
}

static void seize(struct ut_target *t)
{
	t->sh->value[SEIZED] = ptrace(PTRACE_SEIZE, t->sh->tid[0], 0, 0) ?
			       -errno : 0;
	ut_say(t);
	ut_await(t);
}

/* Function of a target: trace tasks one by one, for which threads wait. */
static int waiters(struct ut_target *t)
{
	pthread_t threads[WAITERS];
	int i;

	while (!t->sh->quit) {
		begin(t);
		seize(t);
		for (i = 0; i < WAITERS; i++)
			if (pthread_create(&threads[i], NULL, waits, t->sh))
				return 98;
		for (i = 0; i < WAITERS; i++)
			pthread_join(threads[i], NULL);
		ut_say(t);
	}
	return 0;
}

static void *traces(void *arg)
{
	struct ut_target *t = arg;

	t->sh->tid[1] = ut_gettid();
	seize(t);
	t->sh->value[TRACER_SAW] = wait_for(t->sh->tid[0], plan.options);
	return NULL;
}

/* Function of a target: trace one task, whose parent is this thread. */
static int parent(struct ut_target *t)
{
	pthread_t thread;

	begin(t);
	if (!plan.other_thread)
		traces(t);
	else if (pthread_create(&thread, NULL, traces, t) ||
		 pthread_join(thread, NULL))
		return 98;
	t->sh->value[PARENT_SAW] = wait_for(t->sh->tid[0], __WALL | WNOHANG);
	ut_say(t);
	return 0;
}

/* The process has a tracee, and seizes it; @p was there before it. */
static bool attach(struct two_data *self, const sole_variant *variant,
		   struct ut_target *tr)
{
	pid_t pid;

	if (!ut_hear(tr))
		return false;
	pid = tr->sh->tid[0];
	return sole_begin(variant, &self->p, pid) && ut_go(tr) && ut_hear(tr) &&
	       !tr->sh->value[SEIZED] && sole_end(variant, &self->p, pid);
}

static bool round_of_waiters(struct two_data *self,
			     const sole_variant *variant, struct ut_target *tr)
{
	pid_t own = 0;
	bool good;

	tr->sh->value[ENDS] = 0;
	if (!plan.parent) {
		own = fork();
		if (!own)
			sleep_for_ever();
		tr->sh->tid[0] = own;
	}
	if (!attach(self, variant, tr) || !ut_go(tr))
		return false;
	usleep(two_any(RACE_US));
	good = !kill(tr->sh->tid[0], SIGKILL) && ut_hear(tr) &&
	       tr->sh->value[ENDS] == 1 && !tr->sh->value[OTHERS];
	return (!own || ut_waitpid(own, NULL, __WALL) == 1) && good;
}

static void all_wait(struct __test_metadata *_metadata, struct two_data *self,
		     const sole_variant *variant)
{
	struct ut_target tr = {};
	int rounds = 0;
	bool good;
	long end;

	ASSERT_TRUE(ut_spawn(&tr, waiters));
	end = ut_now_ms() + RACE_MS;
	do {
		good = round_of_waiters(self, variant, &tr);
		rounds++;
	} while (good && (ut_now_ms() < end || rounds < ROUNDS));
	EXPECT_TRUE(good) {
		TH_LOG("round %d: %ld ends, %ld other results", rounds,
		       tr.sh->value[ENDS], tr.sh->value[OTHERS]);
	}
	TH_LOG("%d rounds", rounds);
}

TEST_F(tracers, waiters_of_the_parent)
{
	plan.parent = true;
	plan.exit_signal = SIGCHLD;
	all_wait(_metadata, self, variant);
}

TEST_F(tracers, waiters_of_another)
{
	all_wait(_metadata, self, variant);
}

/* The tracer sleeps in wait4() when the tracee dies, or waits afterwards. */
static void parent_traces(struct __test_metadata *_metadata,
			  struct two_data *self, const sole_variant *variant,
			  bool sleeps)
{
	struct ut_target tr = {};
	pid_t pid, tid;

	plan.parent = true;
	ASSERT_TRUE(ut_spawn(&tr, parent));
	ASSERT_TRUE(attach(self, variant, &tr));
	pid = tr.sh->tid[0];
	tid = tr.sh->tid[1];
	if (sleeps) {
		ASSERT_TRUE(ut_go(&tr));
		ASSERT_TRUE(ut_until(ut_asleep_in(tid, SYS_wait4)));
	}
	ASSERT_EQ(0, kill(pid, SIGKILL));
	if (!sleeps) {
		ASSERT_TRUE(ut_until(ut_state(pid) == 'Z'));
		ASSERT_TRUE(ut_go(&tr));
	}
	ASSERT_TRUE(ut_hear(&tr));
	EXPECT_EQ(KILLED, tr.sh->value[TRACER_SAW]);
	/* The parent is a thread of the process that has read the end. */
	EXPECT_EQ(-ECHILD, tr.sh->value[PARENT_SAW]);
	EXPECT_EQ(0, ut_state(pid));
}

/* A tracee is waited for without __WALL, whatever its exit signal is. */
TEST_F(tracers, no_exit_signal)
{
	parent_traces(_metadata, self, variant, false);
}

TEST_F(tracers, no_exit_signal_and_sleeps)
{
	parent_traces(_metadata, self, variant, true);
}

TEST_F(tracers, other_exit_signal)
{
	plan.exit_signal = SIGURG;
	parent_traces(_metadata, self, variant, true);
}

/* The tracer waits for its own tracees alone, and is not the parent. */
TEST_F(tracers, tracees_of_the_thread)
{
	plan.exit_signal = SIGCHLD;
	plan.other_thread = true;
	plan.options = __WALL | __WNOTHREAD;
	parent_traces(_metadata, self, variant, false);
}

TEST_F(tracers, tracees_of_the_thread_and_sleeps)
{
	plan.exit_signal = SIGCHLD;
	plan.other_thread = true;
	plan.options = __WALL | __WNOTHREAD;
	parent_traces(_metadata, self, variant, true);
}

TEST_F(tracers, no_exit_signal_of_the_child_of_another_thread)
{
	plan.other_thread = true;
	plan.options = __WNOTHREAD;
	parent_traces(_metadata, self, variant, true);
}

TEST_HARNESS_MAIN

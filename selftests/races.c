// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - races between engines and busy targets
 *
 * Engines attach, detach and stop, and the module is unloaded, while the
 * targets fork, execute and die.  Each test runs for a bounded time.  It
 * asserts that no engine is left, that only documented results come, and that
 * the targets end as they would without engines.
 */
#include <sys/sysinfo.h>

#include "fixture.h"

/*
 * Longer on a slow kernel: its KASAN and lockdep find what a storm provokes, and
 * it does less in the same time.
 */
#define STORM_MS	(ut_is_slow() ? 8000 : 2000)

static void on_cpu(int cpu)
{
	ut_pin_to(cpu % get_nprocs());
}

/* Busy loops, for a time shorter than any sleep. */
static void loops(int n)
{
	while (n-- > 0)
		asm volatile("" : : : "memory");
}

static void *idle_thread(void *arg)
{
	return arg;
}

/*
 * Function of a target: fork children all the time.  value[0] is the newest
 * child, value[1] counts the children that ended well, value[2] the other
 * children.
 */
static int busy(struct ut_target *t)
{
	char * const argv[] = { (char *)"helper", (char *)"exit",
				(char *)"0", NULL };
	int i, status;

	on_cpu(0);
	ut_helper();
	for (i = 0; !t->sh->quit; i++) {
		pid_t pid = fork();

		if (!pid) {
			pthread_t thread;

			if (i % 3 == 0)
				execv(ut_helper(), argv);
			if (i % 3 == 1 &&
			    !pthread_create(&thread, NULL, idle_thread, NULL))
				pthread_join(thread, NULL);
			ut_mark(i);
			_exit(0);
		}
		t->sh->value[0] = pid;
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			t->sh->value[2]++;
		else
			t->sh->value[1]++;
		t->sh->counter++;
	}
	return 0;
}

/* Check whether @ret is a documented result of a race. */
static bool may_be(int ret)
{
	return ret >= 0 || ret == -ESRCH || ret == -EALREADY ||
	       ret == -EINPROGRESS;
}

struct storm {
	struct ut_target *t;
	long end;
	int cpu;
	__u32 scope;
	long attached;
	int bad;
};

/* Attach to the newest child or the parent, want all events, and detach. */
static void *attacher(void *arg)
{
	struct storm *s = arg;
	long i;

	on_cpu(s->cpu);
	for (i = 0; ut_now_ms() < s->end && !s->bad; i++) {
		pid_t pid = i % 4 ? s->t->sh->value[0] : s->t->pid;
		int id, ret;

		if (pid <= 0)
			continue;
		id = ut_attach_full(pid, s->scope, UT_OPS_FULL, ~0U);
		if (id == -ESRCH)
			continue;
		if (id < 0) {
			s->bad = id;
			break;
		}
		s->attached++;
		ret = ut_events(id, 0, s->scope == UT_ATTACH_SYSTEM ?
				UT_ALL & ~UT_BIT(SIGNAL_IGN) : UT_ALL);
		if (!may_be(ret))
			s->bad = ret;
		if (i % 2) {
			ret = ut_control(id, 0, UT_REPORT);
			if (!may_be(ret) && ret != -EINVAL &&
			    ret != (s->scope == UT_ATTACH_SYSTEM ? -EOPNOTSUPP : 0))
				s->bad = ret;
		}
		ret = ut_detach(id);
		if (!may_be(ret))
			s->bad = ret;
	}
	return NULL;
}

FIXTURE_LIKE(utrace, scope)

FIXTURE_VARIANT(scope) {
	__u32 scope;
};

FIXTURE_VARIANT_ADD(scope, thread) { 0 };
FIXTURE_VARIANT_ADD(scope, process) { UT_ATTACH_PROCESS };
FIXTURE_VARIANT_ADD(scope, tree) { UT_ATTACH_TREE };
FIXTURE_VARIANT_ADD(scope, system) { UT_ATTACH_SYSTEM };

TEST_F(scope, attach_detach)
{
	struct ut_target *t = &self->base.t;
	struct storm s[2];
	pthread_t thread[2];
	int i, status;

	ASSERT_TRUE(ut_spawn(t, busy));
	ASSERT_TRUE(ut_runs(t));
	for (i = 0; i < 2; i++) {
		s[i] = (struct storm) {
			.t = t, .end = ut_now_ms() + STORM_MS, .cpu = i,
			.scope = variant->scope,
		};
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, attacher, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, s[i].bad);
		EXPECT_LT(0, s[i].attached);
	}
	EXPECT_TRUE(ut_runs(t));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, t->sh->value[2]);
	EXPECT_LT(0, t->sh->value[1]);
}

/*
 * The number of the marker call after @mark: busy() has two of three children
 * make a call, with their number.
 */
static long next_mark(long mark)
{
	return mark % 3 == 2 ? mark + 2 : mark + 1;
}

/*
 * An engine of the system that attaches while children are born sees every
 * child that is born after the attach, and none after the detach.
 */
TEST_F(utrace, system_misses_nobody)
{
	static const int mark[] = { UT_MARK_NR };
	struct ut_target *t = &self->t;
	int round, status;

	ASSERT_TRUE(ut_spawn(t, busy));
	ASSERT_TRUE(ut_runs(t));
	for (round = 0; round < 20; round++) {
		int id = ut_attach_full(t->pid, UT_ATTACH_SYSTEM, UT_OPS_FULL, 0);
		long expected;
		int i, n;

		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_filter(id, mark, 1));
		ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
		i = ut_wait(0, id, UT_EV_SYSCALL_ENTRY, UT_ANY, UT_MARK_NR);
		ASSERT_LE(0, i);
		for (n = 0; n < 10; n++) {
			expected = next_mark(ut_rec[i].val[0]);
			i = ut_wait(i + 1, id, UT_EV_SYSCALL_ENTRY, UT_ANY,
				    UT_MARK_NR);
			ASSERT_LE(0, i);
			ASSERT_EQ(expected, ut_rec[i].val[0]);
		}
		status = ut_detach(id);
		ASSERT_TRUE(!status || status == -EINPROGRESS);
		i = ut_wait(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY);
		ASSERT_LE(0, i);
		ut_sleep_ms(20);
		ut_pull(0);
		EXPECT_EQ(-1, ut_find(i + 1, id, UT_ANY, UT_ANY, UT_ANY));
		ut_nrec = 0;
	}
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, t->sh->value[2]);
}

/*
 * The end of a module, while its callback may run in the target: after the
 * detach and the barrier the engine is released, and never called again.
 */
TEST_F(utrace, nothing_after_the_detach)
{
	struct ut_target *t = &self->t;
	long end = ut_now_ms() + STORM_MS;
	long rounds = 0, seq = 0;
	int id, i;

	/*
	 * The ring may overflow; RELEASE and the record numbers are never lost.
	 */
	ut_may_miss = true;
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	ASSERT_TRUE(ut_runs(t));
	while (ut_now_ms() < end) {
		/* Nothing was logged since the detach of the round before. */
		ASSERT_EQ(seq, ut_seq());
		ut_drain();
		id = ut_attach(t->pid, rounds % 2 ? UT_ATTACH_PROCESS : 0,
			       UT_SYSCALL | UT_BIT(QUIESCE));
		ASSERT_LT(0, id);
		if (rounds % 8 == 0)
			ASSERT_LE(0, ut_wait(0, id, UT_ANY, UT_ANY, UT_ANY));
		i = ut_detach(id);
		ASSERT_TRUE(i == 0 || i == -EINPROGRESS);
		seq = ut_seq();
		ut_pull(0);
		i = ut_find(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY);
		ASSERT_LE(0, i);
		ASSERT_EQ(seq, ut_rec[i].seq + 1);
		rounds++;
	}
	EXPECT_LT(10, rounds);
	/* Each engine logged its RELEASE, and some of them other events. */
	EXPECT_LT(rounds, seq);
	EXPECT_TRUE(ut_runs(t));
}

/* Change the events of a running target from two CPUs. */
static void *changer(void *arg)
{
	struct storm *s = arg;
	long i;

	on_cpu(s->cpu);
	for (i = 0; ut_now_ms() < s->end && !s->bad; i++) {
		int ret = ut_events(s->scope, 0,
				    (i + s->cpu) % 2 ? UT_ALL : UT_SYSCALL);

		if (!may_be(ret))
			s->bad = ret;
		ret = ut_barrier(s->scope, 0);
		if (ret)
			s->bad = ret;
		s->attached++;
	}
	return NULL;
}

TEST_F(utrace, set_events_from_two_cpus)
{
	struct ut_target *t = &self->t;
	struct storm s[2];
	pthread_t thread[2];
	int id, i;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	id = ut_attach_full(t->pid, 0, UT_OPS_FULL, ~0U);
	ASSERT_LT(0, id);
	for (i = 0; i < 2; i++) {
		/* The member scope carries the engine's number here. */
		s[i] = (struct storm) {
			.t = t, .end = ut_now_ms() + STORM_MS / 2, .cpu = i,
			.scope = id,
		};
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, changer, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, s[i].bad);
		EXPECT_LT(0, s[i].attached);
	}
	/* The last change of events is in force afterwards. */
	ASSERT_TRUE(may_be(ut_events(id, 0, UT_BIT(EXIT))));
	ASSERT_EQ(0, ut_barrier(id, 0));
	i = ut_count(id, UT_EV_SYSCALL_ENTRY);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(i, ut_count(id, UT_EV_SYSCALL_ENTRY));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(1, ut_count(id, UT_EV_EXIT));
}

/* Stop and resume the target all the time; two engines do so. */
static void *stopper(void *arg)
{
	struct storm *s = arg;

	on_cpu(s->cpu);
	while (ut_now_ms() < s->end && !s->bad) {
		int ret = ut_control(s->scope, 0, UT_STOP);

		if (!may_be(ret))
			s->bad = ret;
		ret = ut_control(s->scope, 0,
				 s->attached % 3 == 0 ? UT_RESUME :
				 s->attached % 3 == 1 ? UT_REPORT :
				 UT_INTERRUPT);
		if (ret)
			s->bad = ret;
		s->attached++;
	}
	return NULL;
}

static void stop_storm(struct __test_metadata *_metadata,
		       struct ut_target *t, int (*fn)(struct ut_target *))
{
	struct storm s[2];
	pthread_t thread[2];
	int id[2], i, status;

	ASSERT_TRUE(ut_spawn(t, fn));
	ASSERT_TRUE(ut_runs(t));
	for (i = 0; i < 2; i++) {
		id[i] = ut_attach_full(t->pid, i ? UT_ATTACH_TREE : 0,
				       UT_OPS_FULL, ~0U);
		ASSERT_LT(0, id[i]);
		ASSERT_EQ(0, ut_events(id[i], 0, UT_ALL));
		s[i] = (struct storm) {
			.t = t, .end = ut_now_ms() + STORM_MS, .cpu = i,
			.scope = id[i],
		};
		ASSERT_EQ(0, pthread_create(&thread[i], NULL, stopper, &s[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, s[i].bad);
		EXPECT_LT(0, s[i].attached);
		EXPECT_EQ(0, ut_control(id[i], 0, UT_RESUME));
	}
	EXPECT_TRUE(ut_runs(t));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &status));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, t->sh->value[2]);
}

TEST_F(utrace, stop_and_resume_of_calls)
{
	stop_storm(_metadata, &self->t, ut_calls);
}

TEST_F(utrace, stop_and_resume_of_forks)
{
	stop_storm(_metadata, &self->t, busy);
}

/* Targets die while engines attach, stop and resume them. */
TEST_F(utrace, targets_die)
{
	long end = ut_now_ms() + STORM_MS;
	long rounds = 0;
	int id, ret, status;
	pid_t pid;

	while (ut_now_ms() < end) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			ut_be_child();
			for (;;)
				ut_mark(0);
		}
		id = ut_attach_full(pid, 0, UT_OPS_FULL, ~0U);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_events(id, 0, UT_ALL));
		ret = ut_control(id, 0, UT_STOP);
		ASSERT_TRUE(may_be(ret));
		if (rounds % 2)
			ut_until(ut_state(pid) == 't');
		ASSERT_EQ(0, kill(pid, SIGKILL));
		ret = ut_control(id, 0, rounds % 3 ? UT_RESUME : UT_STOP);
		ASSERT_TRUE(may_be(ret));
		if (rounds % 5 == 0)
			ASSERT_TRUE(may_be(ut_detach(id)));
		ASSERT_EQ(1, ut_waitpid(pid, &status, 0));
		ASSERT_EQ(SIGKILL, WTERMSIG(status));
		if (rounds % 5)
			ASSERT_EQ(-ESRCH, ut_detach(id));
		rounds++;
	}
	EXPECT_LT(10, rounds);
}

/* Read /proc while engines attach and detach. */
static void *proc_reader(void *arg)
{
	struct storm *s = arg;
	char buf[4096];

	on_cpu(s->cpu);
	while (ut_now_ms() < s->end) {
		int ret = ut_read_file(buf, sizeof(buf), "/proc/%d/utrace",
				       s->t->pid);

		if (ret < 0)
			s->bad = ret;
		ut_read_file(buf, sizeof(buf), "/proc/%ld/utrace",
			     s->t->sh->value[0]);
		s->attached++;
	}
	return NULL;
}

/*
 * DEATH is asked for while the task dies: either the event is reported, or
 * utrace_set_events() returns an error.  The task tests the bit once, under its
 * utrace->lock, and utrace_set_events() sets the bit under that lock.
 */
static int dies(struct ut_target *t)
{
	on_cpu(0);
	while (!t->sh->go[0])
		;
	return 0;
}

TEST_F(utrace, death_asked_for_at_the_last_moment)
{
	long end = ut_now_ms() + STORM_MS;
	int i, id, ret, status, asked = 0, late = 0, gone = 0;

	on_cpu(1);
	for (i = 0; ut_now_ms() < end; i++) {
		struct ut_target t = {};

		ut_npids = 0;
		ASSERT_TRUE(ut_spawn(&t, dies));
		id = ut_attach(t.pid, 0, 0);
		ASSERT_LT(0, id);
		t.sh->go[0] = 1;
		/* Ask at different points of the target's exit. */
		while (ut_state(t.pid) == 'R' && !(i % 4))
			;
		loops(i * 997 % 60000);
		ret = ut_events(id, 0, UT_BIT(DEATH));
		ASSERT_TRUE(ut_reap(&t, &status));
		ut_pull(0);
		asked += !ret;
		late += ret == -EALREADY;
		gone += ret == -ESRCH;
		EXPECT_TRUE(!ret || ret == -EALREADY || ret == -ESRCH);
		ASSERT_EQ(!ret, ut_matches(0, id, UT_EV_DEATH, t.pid,
					   UT_ANY)) {
			TH_LOG("round %d: %d", i, ret);
		}
		ut_detach(id);
		ut_nrec = 0;
		munmap(t.sh, sizeof(*t.sh));
		close(t.to[0]);
		close(t.to[1]);
		close(t.from[0]);
		close(t.from[1]);
	}
	TH_LOG("%d asked for, %d too late, %d gone", asked, late, gone);
	EXPECT_LT(0, asked);
	EXPECT_LT(0, late + gone);
}

/*
 * If utrace_control(STOP) returns 0 the task is stopped and makes no call,
 * although the same engine has just resumed it.
 */
static int writes(struct ut_target *t)
{
	on_cpu(0);
	while (!t->sh->quit)
		ut_say(t);
	return 0;
}

static int written(struct ut_target *t)
{
	int n = -1;

	ioctl(t->from[0], FIONREAD, &n);
	return n;
}

TEST_F(utrace, stopped_is_stopped)
{
	long end = ut_now_ms() + STORM_MS;
	struct ut_target *t = &self->t;
	int id, ret, n, stopped = 0, running = 0;
	char buf[4096];

	on_cpu(1);
	ASSERT_TRUE(ut_spawn(t, writes));
	id = ut_attach_full(t->pid, 0, UT_OPS_FULL, UT_BIT(SYSCALL_ENTRY));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .answer = UT_STOP));
	ASSERT_TRUE(ut_held(t->pid));
	while (ut_now_ms() < end) {
		ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
		loops(stopped * 37 % 3000);
		ret = ut_control(id, 0, UT_STOP);
		if (ret) {
			ASSERT_EQ(-EINPROGRESS, ret);
			running++;
			ASSERT_TRUE(ut_held(t->pid));
			continue;
		}
		n = written(t);
		loops(20000);
		ASSERT_EQ(n, written(t));
		stopped++;
		if (n > 2048)
			ASSERT_LT(0, read(t->from[0], buf, sizeof(buf)));
	}
	TH_LOG("%d times stopped, %d running", stopped, running);
	EXPECT_LT(0, stopped);
	t->sh->quit = 1;
	ut_detach(id);
}

TEST_F(utrace, proc_is_read)
{
	struct ut_target *t = &self->t;
	struct storm s[2];
	pthread_t thread[2];
	int i;

	ASSERT_TRUE(ut_spawn(t, busy));
	ASSERT_TRUE(ut_runs(t));
	for (i = 0; i < 2; i++) {
		s[i] = (struct storm) {
			.t = t, .end = ut_now_ms() + STORM_MS / 2, .cpu = i,
			.scope = UT_ATTACH_PROCESS,
		};
		ASSERT_EQ(0, pthread_create(&thread[i], NULL,
					    i ? attacher : proc_reader,
					    &s[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(thread[i], NULL);
		EXPECT_EQ(0, s[i].bad);
		EXPECT_LT(0, s[i].attached);
	}
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, t->sh->value[2]);
}

/* The module is unloaded right after it has closed its engines. */
TEST_F(utrace, unload_under_load)
{
	struct ut_target *t = &self->t;
	long end = ut_now_ms() + STORM_MS;
	int fd = ut_module_open(), id, rounds = 0;

	if (fd < 0)
		SKIP(return, "no utrace_test.ko to load again");
	close(fd);
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	ASSERT_TRUE(ut_runs(t));
	while (ut_now_ms() < end) {
		id = ut_attach_full(t->pid, rounds % 2 ? UT_ATTACH_TREE : 0,
				    UT_OPS_FULL, ~0U);
		ASSERT_LT(0, id);
		ASSERT_EQ(0, ut_events(id, 0, UT_ALL));
		ASSERT_TRUE(ut_until(ut_count(id, UT_EV_SYSCALL_ENTRY) > 10));
		close(ut_fd);
		ut_fd = -1;
		if (syscall(SYS_delete_module, "utrace_test", O_NONBLOCK)) {
			/* The module is built in, or another test uses it. */
			if (errno == ENOENT || errno == EBUSY)
				SKIP(goto out, "utrace_test in use");
			ASSERT_EQ(0, errno);
		}
		ASSERT_EQ(0, ut_module_load());
		ASSERT_EQ(0, ut_open());
		rounds++;
	}
	EXPECT_LT(3, rounds);
	EXPECT_TRUE(ut_runs(t));
	t->sh->quit = 1;
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, self->status);
	return;
out:
	if (ut_fd < 0)
		ut_open();
}

TEST_HARNESS_MAIN

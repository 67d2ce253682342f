// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - barriers, and whether a callback runs
 *
 * A result depends only on the engine that the call is about, whatever else its
 * tasks do.  A callback is kept from returning by the module's gate, by a page
 * that nobody fills, or by a barrier that the callback calls.
 */
#include "silent.h"
#include "target.h"

/* Long enough for everything that does not hang. */
#define SOON_MS		(10000 * ut_patience())

#define soon(cond)							\
({									\
	long __last = ut_now_ms() + SOON_MS;				\
	bool __met;							\
									\
	while (!(__met = !!(cond)) && ut_now_ms() < __last)		\
		ut_sleep_ms(2);						\
	__met;								\
})

FIXTURE(waits) {
	struct ut_target t[3];
};

FIXTURE_SETUP(waits)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
}

/* Kill the targets first: a fatal signal ends the waits of their callbacks. */
FIXTURE_TEARDOWN(waits)
{
	int i;

	for (i = 0; i < 3; i++)
		if (self->t[i].sh)
			self->t[i].sh->quit = 1;
	ut_kill_targets();
	EXPECT_EQ(0, ut_close());
}

/* An operation that may hang runs in a thread of its own. */
struct job {
	_Atomic bool done;
	int ret;
	int id;
	int (*fn)(int id);
	pthread_t thread;
};

static void *run_job(void *arg)
{
	struct job *job = arg;

	job->ret = job->fn(job->id);
	job->done = true;
	return NULL;
}

static bool begin(struct job *job, int (*fn)(int id), int id)
{
	job->fn = fn;
	job->id = id;
	job->done = false;
	return !pthread_create(&job->thread, NULL, run_job, job);
}

static int job_barrier(int id)
{
	return ut_barrier(id, 0);
}

static int job_barrier_sync(int id)
{
	return ut_barrier_sync(id);
}

static int job_no_events(int id)
{
	return ut_events(id, 0, 0);
}

static int job_detach(int id)
{
	return ut_control(id, 0, UT_DETACH);
}

/* Do what a module does at its end: detach, utrace_barrier_sync(), put. */
static int job_end(int id)
{
	int ret = ut_detach(id);

	return ret == -EINPROGRESS ? 0 : ret;
}

/*
 * Attach an engine whose calls are counted and not logged: busy targets would
 * make the log lose records.
 */
static int attach_quiet(pid_t pid, __u32 flags)
{
	return ut_attach_full(pid, flags, UT_OPS_FULL, UT_BIT(SYSCALL_ENTRY));
}

/* Wait until a callback of the engine has begun. */
static bool is_in(int id)
{
	return ut_until(ut_count(id, UT_EV_SYSCALL_ENTRY) > 0);
}

/* The number of callbacks that ended their wait; < 0 if the engine is gone. */
static long left_times(int id)
{
	return ut_count(id, UT_EV_RETURN);
}

/* Attach an engine whose next callback waits as @change says. */
static int attach_lingering(pid_t pid, __u32 flags, __u32 change, __u64 arg)
{
	int id = attach_quiet(pid, flags);
	int ret;

	if (id < 0)
		return id;
	ret = ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY, .answer = UT_RESUME,
		      .count = 1, .change = change, .arg = arg);
	if (!ret)
		ret = ut_events(id, 0, UT_BIT(SYSCALL_ENTRY));
	return ret ?: id;
}

/* Attach an engine whose callback waits at the gate, and wait for that. */
static int attach_waiting(pid_t pid, __u32 flags)
{
	int id = attach_lingering(pid, flags, UT_CHANGE_GATE, 0);

	return id < 0 || is_in(id) ? id : -ETIMEDOUT;
}

/* Attach an engine, and wait until its calls have been counted. */
static int attach_counting(pid_t pid, __u32 flags)
{
	int id = attach_quiet(pid, flags);

	if (id < 0)
		return id;
	if (ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)))
		return -EINVAL;
	return is_in(id) ? id : -ETIMEDOUT;
}

static const __u32 scopes[] = { 0, UT_ATTACH_PROCESS, UT_ATTACH_TREE };

/*
 * Another engine's attach gives the task a new set, while the task is in a
 * callback of the first engine.
 */
static void tells_of_callback(struct __test_metadata *_metadata,
			      struct ut_target *t, int (*fn)(int id))
{
	unsigned int i;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	for (i = 0; i < ARRAY_SIZE(scopes); i++) {
		int id, other;

		ASSERT_EQ(0, ut_gate(false));
		id = attach_waiting(t->pid, scopes[i]);
		ASSERT_LT(0, id);
		other = ut_attach(t->pid, 0, UT_BIT(EXEC));
		ASSERT_LT(0, other);
		EXPECT_EQ(-EINPROGRESS, fn(id));
		EXPECT_EQ(0, left_times(id));
		ASSERT_EQ(0, ut_gate(true));
		ASSERT_EQ(0, ut_barrier_sync(id));
		EXPECT_EQ(1, left_times(id));
		ut_detach(id);
		ut_detach(other);
	}
}

TEST_F(waits, set_events_tells_of_a_callback)
{
	tells_of_callback(_metadata, &self->t[0], job_no_events);
}

TEST_F(waits, detach_tells_of_a_callback)
{
	tells_of_callback(_metadata, &self->t[0], job_detach);
}

#define IDLE_THREADS	400

static void *idle(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int idlers(struct ut_target *t)
{
	pthread_attr_t attr;
	pthread_t thread;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 16);
	for (i = 0; i < IDLE_THREADS; i++)
		if (pthread_create(&thread, &attr, idle, NULL))
			return 1;
	ut_say(t);
	ut_await(t);
	return 0;
}

/* Attach to the target again and again while @on is set. */
struct attacher {
	pid_t pid;
	_Atomic bool on, over;
	_Atomic long attached;
	_Atomic int bad;
};

static void *attach_more(void *arg)
{
	struct attacher *a = arg;

	while (!a->over) {
		int id;

		if (!a->on) {
			sched_yield();
			continue;
		}
		id = ut_attach_full(a->pid, 0, UT_OPS_FULL, ~0U);
		if (id < 0)
			a->bad = id;
		else
			ut_detach(id);
		a->attached++;
	}
	return NULL;
}

/*
 * An attach replaces the set of the target in the middle of a detach: after the
 * engine was marked, and before the detach examines the target.  The new set
 * is without the engine, and the detach must return -EINPROGRESS nevertheless.
 */
TEST_F(waits, detach_beside_an_attach)
{
	struct ut_target *t = &self->t[1];
	struct attacher a = {};
	pthread_t thread;
	long end;
	int id, ret, rounds;

	ASSERT_TRUE(ut_spawn(&self->t[0], idlers));
	ASSERT_TRUE(ut_hear(&self->t[0]));
	/* All threads of the first target get sets, too. */
	id = ut_attach(self->t[0].pid, UT_ATTACH_PROCESS, UT_BIT(EXEC));
	ASSERT_LT(0, id);
	ASSERT_TRUE(ut_spawn(t, ut_calls));
	a.pid = t->pid;
	ASSERT_EQ(0, pthread_create(&thread, NULL, attach_more, &a));

	end = ut_now_ms() + 15000;
	for (rounds = 0; ut_now_ms() < end; rounds++) {
		long before = a.attached;

		ASSERT_EQ(0, ut_gate(false));
		id = attach_waiting(t->pid, UT_ATTACH_TREE);
		ASSERT_LT(0, id);
		a.on = true;
		ASSERT_TRUE(soon(a.attached > before));
		ret = ut_control(id, 0, UT_DETACH);
		EXPECT_EQ(0, left_times(id));
		EXPECT_EQ(-EINPROGRESS, ret) {
			TH_LOG("round %d, %ld attaches", rounds, a.attached);
			end = 0;
		}
		a.on = false;
		ASSERT_EQ(0, ut_gate(true));
		ut_detach(id);
		ut_nrec = 0;
	}
	a.over = true;
	pthread_join(thread, NULL);
	EXPECT_EQ(0, a.bad);
	TH_LOG("%d rounds, %ld attaches", rounds, a.attached);
}

FIXTURE_LIKE(waits, past_another_callback)

FIXTURE_VARIANT(past_another_callback) {
	int (*fn)(int id);
};

FIXTURE_VARIANT_ADD(past_another_callback, barrier) { job_barrier };
FIXTURE_VARIANT_ADD(past_another_callback, barrier_sync) { job_barrier_sync };
FIXTURE_VARIANT_ADD(past_another_callback, set_events) { job_no_events };
FIXTURE_VARIANT_ADD(past_another_callback, detach) { job_detach };
FIXTURE_VARIANT_ADD(past_another_callback, end) { job_end };

/*
 * The target is in a callback of another engine, which does not return.
 * Operations on the engine at hand, which is in the same set, must end with
 * their result.
 */
TEST_F(past_another_callback, returns)
{
	/* The engine is called before the other engine, or after it. */
	static const __u32 class[] = { UT_ATTACH_OBSERVER, UT_ATTACH_ENFORCER };
	struct ut_target *t = &self->base.t[0];
	int (*fn)(int id) = variant->fn;
	unsigned int i;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	for (i = 0; i < ARRAY_SIZE(class) * ARRAY_SIZE(scopes); i++) {
		struct job job;
		int id, other;
		long calls;

		ASSERT_EQ(0, ut_gate(false));
		id = attach_counting(t->pid, class[i % 2] | scopes[i / 2]);
		ASSERT_LT(0, id);
		other = attach_waiting(t->pid, 0);
		ASSERT_LT(0, other);
		ASSERT_TRUE(begin(&job, fn, id));
		ASSERT_TRUE(soon(job.done)) {
			TH_LOG("class %#x scope %#x: hangs", class[i % 2],
			       scopes[i / 2]);
		}
		pthread_join(job.thread, NULL);
		EXPECT_EQ(0, job.ret) {
			TH_LOG("class %#x scope %#x", class[i % 2],
			       scopes[i / 2]);
		}
		EXPECT_EQ(0, left_times(other));
		calls = ut_count(id, UT_EV_SYSCALL_ENTRY);
		ASSERT_EQ(0, ut_gate(true));
		ASSERT_TRUE(ut_until(left_times(other) == 1));
		ASSERT_TRUE(ut_runs(t));
		/*
		 * After a successful answer the engine is not called again.
		 */
		if (fn == job_no_events || fn == job_detach)
			EXPECT_EQ(calls, ut_count(id, UT_EV_SYSCALL_ENTRY));
		ut_detach(id);
		ut_detach(other);
		ut_nrec = 0;
	}
}

/* The engine is released, too, while the other callback waits. */
TEST_F(waits, release_past_another_callback)
{
	struct ut_target *t = &self->t[0];
	struct job job;
	int id, other;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	id = attach_counting(t->pid, UT_ATTACH_OBSERVER);
	ASSERT_LT(0, id);
	other = attach_waiting(t->pid, 0);
	ASSERT_LT(0, other);
	ASSERT_TRUE(begin(&job, job_end, id));
	EXPECT_TRUE(soon(ut_seen(0, id, UT_EV_RELEASE, UT_ANY, UT_ANY) >= 0));
	EXPECT_EQ(0, left_times(other));
}

/* Function of a target with a silent page, whose address is in value[0]. */
static int with_page(struct ut_target *t)
{
	t->sh->value[0] = (long)silent_page(t->arg);
	ut_say(t);
	return ut_calls(t);
}

static bool is_in_fault(pid_t pid)
{
	char wchan[64];

	return ut_read_file(wchan, sizeof(wchan), "/proc/%d/wchan", pid) > 0 &&
	       (!strcmp(wchan, "handle_userfault") || strstr(wchan, "folio_"));
}

/* A callback of another engine reads memory that user space withholds. */
static void past_a_page(struct __test_metadata *_metadata, struct ut_target *t,
			enum silent_kind kind)
{
	static int (* const jobs[])(int id) = {
		job_barrier, job_no_events, job_detach, job_end,
	};
	int id[ARRAY_SIZE(jobs)], other;
	unsigned int i;

	t->arg = kind;
	ASSERT_TRUE(ut_spawn(t, with_page));
	ASSERT_TRUE(ut_hear(t));
	if (!t->sh->value[0])
		SKIP(return, "no %s", silent_names[kind]);
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		id[i] = attach_counting(t->pid, UT_ATTACH_OBSERVER |
					UT_ATTACH_PROCESS);
		ASSERT_LT(0, id[i]);
	}
	other = attach_lingering(t->pid, 0, UT_CHANGE_TOUCH, t->sh->value[0]);
	ASSERT_LT(0, other);
	ASSERT_TRUE(ut_until(is_in_fault(t->pid)));
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		struct job job;

		ASSERT_TRUE(begin(&job, jobs[i], id[i]));
		ASSERT_TRUE(soon(job.done)) {
			TH_LOG("job %u hangs", i);
		}
		pthread_join(job.thread, NULL);
		EXPECT_EQ(0, job.ret);
		EXPECT_TRUE(is_in_fault(t->pid));
	}
	/* An attach works, too. */
	id[0] = ut_attach(t->pid, UT_ATTACH_TREE, UT_BIT(EXIT));
	EXPECT_LT(0, id[0]);
	EXPECT_TRUE(is_in_fault(t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	/* The FUSE server is in the tree as well, and ends after the target. */
	EXPECT_TRUE(ut_until(ut_count(id[0], UT_EV_EXIT) > 0));
}

TEST_F(waits, past_a_page_that_never_comes)
{
	past_a_page(_metadata, &self->t[0], SILENT_UFFD);
}

TEST_F(waits, past_a_file_that_never_comes)
{
	past_a_page(_metadata, &self->t[0], SILENT_FUSE);
}

/* The result of a barrier in a callback; -ETIMEDOUT if there was none. */
static long verdict(int id, pid_t tid)
{
	if (!soon(ut_seen(0, id, UT_EV_RETURN, tid, UT_ANY) >= 0))
		return -ETIMEDOUT;
	return ut_rec[ut_find(0, id, UT_EV_RETURN, tid, UT_ANY)].val[1];
}

/*
 * Each of @n tasks is in a callback and waits for the engine of the next task.
 * At least one of these barriers must be refused, so that all tasks go on.
 */
static void in_a_circle(struct __test_metadata *_metadata,
			struct ut_target *t, int n)
{
	int id[3], i, refused = 0;

	for (i = 0; i < n; i++) {
		ASSERT_TRUE(ut_spawn(&t[i], ut_calls));
		id[i] = attach_quiet(t[i].pid, 0);
		ASSERT_LT(0, id[i]);
	}
	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, ut_rule(.id = id[i], .event = UT_EV_SYSCALL_ENTRY,
				     .answer = UT_RESUME, .count = 1,
				     .change = UT_CHANGE_GATE | UT_CHANGE_BARRIER,
				     .other = id[(i + 1) % n]));
		ASSERT_EQ(0, ut_events(id[i], 0, UT_BIT(SYSCALL_ENTRY)));
		ASSERT_TRUE(is_in(id[i]));
	}
	ASSERT_EQ(0, ut_gate(true));
	for (i = 0; i < n; i++) {
		long said = verdict(id[i], UT_ANY);

		EXPECT_TRUE(said == 0 || said == -EDEADLK) {
			TH_LOG("task %d: %ld", i, said);
		}
		refused += said == -EDEADLK;
		if (said != -ETIMEDOUT)
			EXPECT_TRUE(ut_runs(&t[i]));
	}
	EXPECT_LE(1, refused);
}

TEST_F(waits, circle_of_two)
{
	in_a_circle(_metadata, self->t, 2);
}

TEST_F(waits, circle_of_three)
{
	in_a_circle(_metadata, self->t, 3);
}

/* Two threads are in callbacks of one engine, and both wait for that engine. */
TEST_F(waits, circle_of_one_engine)
{
	struct ut_target *t = &self->t[0];
	int id, i, refused = 0;

	ASSERT_TRUE(ut_spawn_threads(t, 2));
	id = ut_attach_full(t->pid, UT_ATTACH_PROCESS, UT_OPS_FULL, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .answer = UT_RESUME, .other = id,
			     .change = UT_CHANGE_GATE | UT_CHANGE_BARRIER));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	for (i = 0; i < 2; i++) {
		t->sh->go[i] = UT_GO_MARK;
		ASSERT_LE(0, ut_wait(0, id, UT_EV_SYSCALL_ENTRY, t->sh->tid[i],
				     UT_ANY));
	}
	ASSERT_EQ(0, ut_gate(true));
	for (i = 0; i < 2; i++) {
		long said = verdict(id, t->sh->tid[i]);

		EXPECT_TRUE(said == 0 || said == -EDEADLK) {
			TH_LOG("thread %d: %ld", i, said);
		}
		refused += said == -EDEADLK;
	}
	EXPECT_LE(1, refused);
}

/* Without a circle the barrier waits, until the other callback ends. */
TEST_F(waits, chain_is_not_refused)
{
	struct ut_target *t = self->t;
	int id, other;

	ASSERT_TRUE(ut_spawn(&t[0], ut_calls));
	ASSERT_TRUE(ut_spawn(&t[1], ut_calls));
	other = attach_waiting(t[1].pid, 0);
	ASSERT_LT(0, other);
	id = attach_quiet(t[0].pid, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .answer = UT_RESUME, .count = 1,
			     .change = UT_CHANGE_BARRIER, .other = other));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	ASSERT_TRUE(is_in(id));
	EXPECT_TRUE(ut_stays(!left_times(id)));
	ASSERT_EQ(0, ut_gate(true));
	EXPECT_EQ(0, verdict(id, UT_ANY));
	EXPECT_EQ(1, left_times(other));
}

/* A barrier for the engine of the calling callback has nothing to wait for. */
TEST_F(waits, barrier_for_oneself)
{
	struct ut_target *t = &self->t[0];
	int id;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	id = attach_quiet(t->pid, 0);
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_rule(.id = id, .event = UT_EV_SYSCALL_ENTRY,
			     .answer = UT_RESUME, .count = 1,
			     .change = UT_CHANGE_BARRIER, .other = id));
	ASSERT_EQ(0, ut_events(id, 0, UT_BIT(SYSCALL_ENTRY)));
	EXPECT_EQ(0, verdict(id, UT_ANY));
	EXPECT_TRUE(ut_runs(t));
}

static void on_signal(int signo)
{
}

/* Start a child that waits in a barrier for a callback that does not end. */
static pid_t barrier_in_a_child(int id, bool killable)
{
	struct sigaction act = { .sa_handler = on_signal };
	pid_t pid = fork();
	int ret;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &act, NULL);
	ret = killable ? ut_barrier_killable(id) : ut_barrier(id, 0);
	_exit(ret == -EINTR ? 2 : ret ? 1 : 0);
}

/*
 * A signal with a handler ends utrace_barrier(), but not the killable variant.
 */
TEST_F(waits, barrier_is_killable)
{
	struct ut_target *t = &self->t[0];
	int id, status;
	pid_t pid;

	ASSERT_TRUE(ut_spawn(t, ut_calls));
	id = attach_waiting(t->pid, UT_ATTACH_TREE);
	ASSERT_LT(0, id);
	pid = barrier_in_a_child(id, false);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(ut_until(ut_asleep_in(pid, SYS_ioctl)));
	EXPECT_TRUE(ut_stays(ut_asleep_in(pid, SYS_ioctl)));
	ASSERT_EQ(0, kill(pid, SIGUSR1));
	ASSERT_TRUE(soon(waitpid(pid, &status, WNOHANG) == pid));
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_EQ(2, WEXITSTATUS(status));

	pid = barrier_in_a_child(id, true);
	ASSERT_LT(0, pid);
	ASSERT_TRUE(ut_until(ut_in_call(pid, SYS_ioctl, 'D')));
	ASSERT_EQ(0, kill(pid, SIGUSR1));
	EXPECT_TRUE(ut_stays(ut_in_call(pid, SYS_ioctl, 'D')));
	ASSERT_EQ(0, kill(pid, SIGKILL));
	ASSERT_TRUE(soon(waitpid(pid, &status, WNOHANG) == pid));
	ASSERT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(SIGKILL, WTERMSIG(status));
	/* Another barrier of the engine still works. */
	EXPECT_EQ(0, left_times(id));
	ASSERT_EQ(0, ut_gate(true));
	EXPECT_EQ(0, ut_barrier(id, 0));
	EXPECT_EQ(1, left_times(id));
}

TEST_HARNESS_MAIN

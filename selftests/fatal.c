// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - signals that end a process, and engines that may change
 * that
 *
 * An observer gets such a signal once, and the process dies as it would
 * without the engine: a sleep that only a fatal signal ends is ended, and all
 * threads die together.  A mutator is asked before anything ends.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#include "fixture.h"

static pid_t vfork_parent;

/*
 * The child of a vfork().  Its parent sleeps until the child ends; only a fatal
 * signal ends that sleep earlier.
 */
static int vfork_child(void *arg)
{
	struct ut_target *t = arg;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before the prctl(). */
	if (getppid() != vfork_parent)
		_exit(1);
	/*
	 * The terminal sends SIGINT to parent and child; the child has to
	 * survive.
	 */
	signal(SIGINT, SIG_IGN);
	t->sh->value[0] = ut_gettid();
	while (!t->sh->quit)
		ut_sleep_ms(5);
	_exit(0);
}

static void killable_sleep(struct ut_target *t)
{
	static _Alignas(16) char stack[65536];

	vfork_parent = getpid();
	clone(vfork_child, stack + sizeof(stack),
	      CLONE_VM | CLONE_VFORK | SIGCHLD, t);
}

/* Function of a target of three threads; its leader sleeps in vfork(). */
static int sleeper(struct ut_target *t)
{
	if (!ut_threads(t, 3))
		return 98;
	ut_say(t);
	killable_sleep(t);
	t->sh->value[1] = 1;
	for (;;)
		pause();
}

/* The same function on the terminal whose master is t->arg. */
static int on_a_terminal(struct ut_target *t)
{
	if (setsid() < 0 || open(ptsname(t->arg), O_RDWR) < 0)
		return 97;
	return sleeper(t);
}

static bool sleeps(pid_t pid)
{
	return ut_until(ut_state(pid) == 'D');
}

static bool spawn_sleeper(struct ut_target *t)
{
	return ut_spawn(t, sleeper) && ut_hear(t) && sleeps(t->pid);
}

/* The number of records of @event and signal @nr of process @tgid. */
static int count(int id, int event, pid_t tgid, int nr)
{
	int i, n = 0;

	ut_pull(0);
	for (i = 0; (i = ut_find(i, id, event, UT_ANY, nr)) >= 0; i++)
		n += ut_rec[i].tgid == tgid;
	return n;
}

/*
 * The index in ut_rec[] of the only such record; -1 if there is not just one.
 */
static int only(int id, int event, pid_t tgid, int nr)
{
	int i;

	if (count(id, event, tgid, nr) != 1)
		return -1;
	for (i = 0; (i = ut_find(i, id, event, UT_ANY, nr)) >= 0; i++)
		if (ut_rec[i].tgid == tgid)
			return i;
	return -1;
}

FIXTURE(observer) {
	struct ut_target t;
	int status;
	int id;
};

FIXTURE_VARIANT(observer) {
	__u32 scope;
};

FIXTURE_VARIANT_ADD(observer, process)
{
	.scope = UT_ATTACH_PROCESS | UT_ATTACH_OBSERVER,
};

FIXTURE_VARIANT_ADD(observer, tree)
{
	.scope = UT_ATTACH_TREE | UT_ATTACH_OBSERVER,
};

FIXTURE_VARIANT_ADD(observer, system)
{
	.scope = UT_ATTACH_SYSTEM | UT_ATTACH_OBSERVER,
};

FIXTURE_SETUP(observer)
{
	const char *why = ut_begin();

	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(spawn_sleeper(&self->t));
	self->id = ut_attach(self->t.pid, variant->scope,
			     (UT_SIGNAL_ALL & ~UT_BIT(SIGNAL_IGN)) |
			     UT_BIT(EXIT));
	ASSERT_LT(0, self->id);
}

FIXTURE_TEARDOWN(observer)
{
	EXPECT_EQ(0, ut_close());
	ut_kill_targets();
}

TEST_F(observer, sigterm_ends_a_killable_sleep)
{
	struct ut_target *t = &self->t;
	int i, exit;

	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	EXPECT_EQ(0, t->sh->value[1]);
	i = only(self->id, UT_EV_SIGNAL_TERM, t->pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(SI_USER, ut_rec[i].val[0]);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_EQ(0, ut_rec[i].val[2]);
	EXPECT_EQ((long)SIG_DFL, ut_rec[i].val[3]);
	EXPECT_EQ(UT_SIGNAL_TERM, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_EQ(3, count(self->id, UT_EV_EXIT, t->pid, UT_ANY));
	exit = ut_find(0, self->id, UT_EV_EXIT, ut_rec[i].tid, UT_ANY);
	EXPECT_LT(i, exit);
	EXPECT_EQ(SIGTERM, ut_rec[exit].val[0] & 0x7f);
}

TEST_F(observer, ctrl_c_ends_a_killable_sleep)
{
	int id, i, tty = posix_openpt(O_RDWR | O_NOCTTY);
	struct ut_target t = { .arg = tty };

	ASSERT_LE(0, tty);
	ASSERT_EQ(0, grantpt(tty));
	ASSERT_EQ(0, unlockpt(tty));
	ASSERT_TRUE(ut_spawn(&t, on_a_terminal));
	ASSERT_TRUE(ut_hear(&t));
	ASSERT_TRUE(sleeps(t.pid));
	id = ut_attach(t.pid, variant->scope, UT_BIT(SIGNAL_TERM));
	ASSERT_LT(0, id);
	ASSERT_EQ(1, write(tty, "\003", 1));
	ASSERT_TRUE(ut_reap(&t, &self->status));
	EXPECT_EQ(SIGINT, WTERMSIG(self->status));
	EXPECT_EQ(0, t.sh->value[1]);
	i = only(id, UT_EV_SIGNAL_TERM, t.pid, SIGINT);
	ASSERT_LE(0, i);
	EXPECT_EQ(SI_KERNEL, ut_rec[i].val[0]);
	close(tty);
}

/* The signal is for one thread, and that thread reports it. */
TEST_F(observer, tgkill)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->sh->tid[1], SIGUSR1));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGUSR1, WTERMSIG(self->status));
	i = only(self->id, UT_EV_SIGNAL_TERM, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(t->sh->tid[1], ut_rec[i].tid);
	EXPECT_EQ(SI_TKILL, ut_rec[i].val[0]);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_EQ(3, count(self->id, UT_EV_EXIT, t->pid, UT_ANY));
}

/* The signal is for the thread that sleeps. */
TEST_F(observer, tgkill_of_the_sleeper)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	i = only(self->id, UT_EV_SIGNAL_TERM, t->pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(t->pid, ut_rec[i].tid);
	EXPECT_EQ(SI_TKILL, ut_rec[i].val[0]);
}

/* Two instances of a signal are queued; only the first one is reported. */
TEST_F(observer, realtime_signal_twice)
{
	union sigval value = { .sival_int = 5 };
	struct ut_target *t = &self->t;

	sigqueue(t->pid, SIGRTMIN, value);
	sigqueue(t->pid, SIGRTMIN, value);
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGRTMIN, WTERMSIG(self->status));
	EXPECT_EQ(1, count(self->id, UT_EV_SIGNAL_TERM, t->pid, SIGRTMIN));
}

TEST_F(observer, core_signal)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->sh->tid[2], SIGABRT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGABRT, WTERMSIG(self->status));
	i = only(self->id, UT_EV_SIGNAL_CORE, t->pid, SIGABRT);
	ASSERT_LE(0, i);
	EXPECT_EQ(t->sh->tid[2], ut_rec[i].tid);
	EXPECT_EQ(SI_TKILL, ut_rec[i].val[0]);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_EQ(3, count(self->id, UT_EV_EXIT, t->pid, UT_ANY));
}

/* Engines get no SIGNAL_TERM for SIGKILL. */
TEST_F(observer, no_signal_term_for_sigkill)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(0, count(self->id, UT_EV_SIGNAL_TERM, t->pid, UT_ANY));
	EXPECT_EQ(3, count(self->id, UT_EV_EXIT, t->pid, UT_ANY));
}

/*
 * Function of a target: an unblocked signal is taken from the queue as usual.
 */
static int blocks_term(struct ut_target *t)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (!ut_threads(t, 2))
		return 98;
	ut_say(t);
	ut_await(t);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	return 97;
}

TEST_F(observer, unblocked_later)
{
	struct ut_target t = {};
	int id = self->id, i;

	ASSERT_TRUE(ut_spawn(&t, blocks_term));
	if (!(variant->scope & UT_ATTACH_SYSTEM)) {
		id = ut_attach(t.pid, variant->scope, UT_BIT(SIGNAL_TERM));
		ASSERT_LT(0, id);
	}
	ASSERT_TRUE(ut_hear(&t));
	ASSERT_EQ(0, kill(t.pid, SIGTERM));
	ASSERT_TRUE(ut_go(&t));
	ASSERT_TRUE(ut_reap(&t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	i = only(id, UT_EV_SIGNAL_TERM, t.pid, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(t.pid, ut_rec[i].tid);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
}

/* An observer's answer changes nothing, except for a detach. */
TEST_F(observer, answers_are_not_heard)
{
	struct ut_target *t = &self->t;
	unsigned int ev;

	if (variant->scope & UT_ATTACH_SYSTEM)
		SKIP(return, "answers of a system engine never count");
	for (ev = UT_EV_SIGNAL_TERM; ev <= UT_EV_SIGNAL_CORE; ev++)
		ASSERT_EQ(0, ut_rule(.id = self->id, .event = ev,
				     .answer = UT_STOP | UT_SIGNAL_IGN |
					       UT_SIGNAL_HOLD,
				     .change = UT_CHANGE_SIGNO,
				     .signo = SIGCHLD));
	/* The module would answer UT_STOP from the signal on. */
	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_EXIT,
			     .answer = UT_RESUME));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));

	memset(t, 0, sizeof(*t));
	ASSERT_TRUE(ut_spawn(t, ut_spin));
	self->id = ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL_CORE));
	ASSERT_LT(0, self->id);
	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_CORE,
			     .answer = UT_STOP | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGABRT));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGABRT, WTERMSIG(self->status));
	EXPECT_EQ(1, count(self->id, UT_EV_SIGNAL_CORE, t->pid, SIGABRT));
}

TEST_F(observer, detach_is_heard)
{
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_rule(.id = self->id, .event = UT_EV_SIGNAL_TERM,
			     .match = SIGUSR2,
			     .answer = UT_DETACH | UT_PASS));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGUSR2, WTERMSIG(self->status));
	EXPECT_EQ(1, count(self->id, UT_EV_SIGNAL_TERM, t->pid, SIGUSR2));
	EXPECT_EQ(-ESRCH, ut_events(self->id, 0, 0));
}

/*
 * An ignored signal that is queued for an engine ends interruptible sleeps,
 * which the program would notice.
 */
TEST_F(observer, cannot_ask_for_ignored_signals)
{
	EXPECT_EQ(-EINVAL, ut_events(self->id, 0, UT_BIT(SIGNAL_IGN)));
	EXPECT_EQ(-EINVAL, ut_attach(self->t.pid, variant->scope, UT_ALL));
	EXPECT_EQ(0, ut_events(self->id, 0, UT_ALL &
			       ~(UT_BIT(SIGNAL_IGN) | UT_SYSCALL)));
}

/* Function of a target: one thread calls exit_group() as the signal comes. */
static int exits(struct ut_target *t)
{
	if (!ut_threads(t, 2))
		return 98;
	ut_say(t);
	while (!t->sh->go[0])
		;
	syscall(SYS_exit_group, 7);
	return 99;
}

TEST_F(observer, exit_group_beside_the_signal)
{
	int i, killed = 0;

	ASSERT_EQ(0, kill(self->t.pid, SIGKILL));
	ASSERT_TRUE(ut_reap(&self->t, &self->status));
	for (i = 0; i < 60; i++) {
		struct ut_target t = {};
		int id = self->id;

		ut_npids = 0;
		ASSERT_TRUE(ut_spawn(&t, exits));
		if (!(variant->scope & UT_ATTACH_SYSTEM)) {
			id = ut_attach(t.pid, variant->scope,
				       UT_BIT(SIGNAL_TERM));
			ASSERT_LT(0, id);
		}
		ASSERT_TRUE(ut_hear(&t));
		t.sh->go[0] = i % 3;
		kill(t.pid, SIGTERM);
		t.sh->go[0] = 1;
		ASSERT_TRUE(ut_reap(&t, &self->status));
		/*
		 * The signal is reported if and only if the process died of it.
		 */
		EXPECT_EQ(WIFSIGNALED(self->status),
			  count(id, UT_EV_SIGNAL_TERM, t.pid, SIGTERM)) {
			TH_LOG("round %d: status %#x", i, self->status);
		}
		killed += WIFSIGNALED(self->status);
		if (id != self->id)
			ut_detach(id);
		ut_nrec = 0;
		munmap(t.sh, sizeof(*t.sh));
		close(t.to[0]);
		close(t.to[1]);
		close(t.from[0]);
		close(t.from[1]);
	}
	TH_LOG("%d of %d killed", killed, i);
	EXPECT_LT(0, killed);
}

/*
 * Let each system call of the current process begin late: the kernel runs a
 * program of 4000 instructions first.  The program reads an argument, since the
 * kernel does not run a program whose result depends on the number only.
 */
static bool slow_calls(void)
{
	static struct sock_filter filter[4000];
	struct sock_fprog prog = { .len = 4000, .filter = filter };
	int i;

	for (i = 0; i < 3999; i++)
		filter[i] = (struct sock_filter)
			BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
				 offsetof(struct seccomp_data, args));
	filter[i] = (struct sock_filter)
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	for (i = 0; i < 4; i++)
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
			return false;
	return true;
}

/* Function of a target without threads: make call t->arg as the signal comes. */
static int exits_alone(struct ut_target *t)
{
	if (!slow_calls())
		return 98;
	ut_say(t);
	while (!t->sh->go[0])
		;
	syscall(t->arg, 7);
	return 99;
}

/*
 * No engine wants the exit of the task, which had no event before.  The signal
 * comes while the task enters exit_group() or exit(), and the task dies without
 * a call of get_signal().
 */
TEST_F(utrace, exit_of_a_task_without_events)
{
	struct ut_target *t = &self->t;
	int i, id, killed = 0;

	id = ut_attach(0, UT_ATTACH_SYSTEM, UT_BIT(SIGNAL_TERM));
	ASSERT_LT(0, id);
	for (i = 0; i < 40; i++) {
		*t = (struct ut_target){
			.arg = i % 2 ? SYS_exit : SYS_exit_group,
		};
		ut_npids = 0;
		ASSERT_TRUE(ut_spawn(t, exits_alone));
		ASSERT_TRUE(ut_hear(t));
		t->sh->go[0] = 1;
		kill(t->pid, SIGTERM);
		ASSERT_TRUE(ut_reap(t, &self->status));
		EXPECT_EQ(WIFSIGNALED(self->status),
			  count(id, UT_EV_SIGNAL_TERM, t->pid, SIGTERM)) {
			TH_LOG("round %d: status %#x", i, self->status);
		}
		killed += WIFSIGNALED(self->status);
		ut_nrec = 0;
		munmap(t->sh, sizeof(*t->sh));
		close(t->to[0]);
		close(t->to[1]);
		close(t->from[0]);
		close(t->from[1]);
	}
	TH_LOG("%d of %d killed", killed, i);
	EXPECT_LT(0, killed);
	/* The teardown ends its targets, and the last one is reaped. */
	*t = (struct ut_target){};
	ut_npids = 0;
}

/* A mutator is asked before any thread dies. */
TEST_F(utrace, mutator_is_asked_first)
{
	struct ut_target *t = &self->t;
	int mutator, observer, i;

	ASSERT_TRUE(spawn_sleeper(t));
	observer = ut_attach(t->pid, UT_ATTACH_PROCESS | UT_ATTACH_OBSERVER,
			     UT_BIT(SIGNAL_TERM));
	ASSERT_LT(0, observer);
	/* The task has had no event since, so it has not renewed its set. */
	mutator = ut_attach(t->pid, UT_ATTACH_PROCESS, UT_BIT(SIGNAL_TERM));
	ASSERT_LT(0, mutator);
	ASSERT_EQ(0, ut_rule(.id = mutator, .event = UT_EV_SIGNAL_TERM,
			     .answer = UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 'D'));
	/* The end of the child ends the sleep, and the signal is taken. */
	t->sh->quit = 1;
	i = ut_wait(0, mutator, UT_EV_SIGNAL_TERM, UT_ANY, SIGTERM);
	ASSERT_LE(0, i);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_TRUE(ut_until(t->sh->value[1]));
	EXPECT_EQ(1, count(observer, UT_EV_SIGNAL_TERM, t->pid, SIGTERM));
	EXPECT_EQ(1, count(mutator, UT_EV_SIGNAL_TERM, t->pid, SIGTERM));
	/* The signal is fatal at once again when the mutator is gone. */
	ASSERT_EQ(0, ut_detach(mutator));
	ASSERT_EQ(0, kill(t->pid, SIGTERM));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
}

/*
 * Enforcers and engines of last resort are asked before any thread dies, too.
 */
TEST_F(utrace, others_are_asked_first)
{
	static const __u32 classes[] = {
		UT_ATTACH_ENFORCER, UT_ATTACH_LAST_RESORT,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		struct ut_target *t = &self->t;
		int id;

		memset(t, 0, sizeof(*t));
		ASSERT_TRUE(spawn_sleeper(t));
		id = ut_attach(t->pid, UT_ATTACH_PROCESS | classes[i],
			       UT_BIT(SIGNAL_CORE));
		ASSERT_LT(0, id);
		ASSERT_EQ(0, kill(t->pid, SIGTERM));
		EXPECT_TRUE(ut_stays(ut_state(t->pid) == 'D'));
		ASSERT_EQ(0, kill(t->pid, SIGKILL));
		ASSERT_TRUE(ut_reap(t, &self->status));
	}
}

TEST_HARNESS_MAIN

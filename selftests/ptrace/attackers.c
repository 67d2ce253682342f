// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - processes of a user against a further tracer of root
 *
 * The tracee, its first tracer and the attacker belong to one user without
 * rights.  The user can send signals, kill, and freeze a cgroup of its own.
 * None of that may end a stop of root's tracer, make a call of this tracer last
 * for ever, or keep a bystander from going on: a process of root that forks and
 * waits.
 */
#include "../cgroup.h"
#include "two.h"

#define ATTACK_MS	(ut_is_slow() ? 3000 : 1500)
#define ROUNDS		20
#define ATTACK_US	3000	/* from the begin of the waits to the deaths */
#define TRACEES		4
#define WAITERS		3
#define BYSTANDER_CODE	9

FIXTURE(attackers) {
	struct two_data two;	/* its tracers are root's */
	struct two_tracer user;
	struct ut_target attacker, bystander;
};

#define attackers_data	_test_data_attackers

/* Shared with the attacker and with the tracers; set before their start. */
static struct ut_shared *tracee;

/* Function of a target: the bystander. */
static int forks(struct ut_target *t)
{
	while (!t->sh->quit) {
		if (ut_fork_wait(BYSTANDER_CODE) != two_exit(BYSTANDER_CODE))
			return 1;
		t->sh->counter++;
		usleep(1000);
	}
	return 0;
}

FIXTURE_SETUP(attackers)
{
	if (!two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	ASSERT_TRUE(two_start_as(&self->user, TWO_NOBODY));
	ASSERT_TRUE(ut_spawn(&self->bystander, forks));
	ASSERT_TRUE(ut_runs(&self->bystander));
	tracers_setup(_metadata, &self->two, NULL);
}

FIXTURE_TEARDOWN(attackers)
{
	EXPECT_TRUE(ut_runs(&self->bystander)) {
		TH_LOG("the bystander does not go on");
	}
	ut_cg_remove();
	tracers_teardown(_metadata, &self->two, NULL);
}

/* Let the user's tracer come first, and root's tracer after it. */
static bool seize(struct attackers_data *self, pid_t pid)
{
	return !two_seize(&self->user, pid, 0) &&
	       !two_seize(&self->two.p, pid, 0);
}

/*
 * Serve a tracer that passes signals, and that listens in group stops.
 * Returns true if it listens from now on.
 */
static bool listens(struct two_tracer *tr, pid_t pid)
{
	return two_pass(tr, pid, true) == two_group(SIGSTOP);
}

/* Check that a request in the stop of root's tracer is answered at once. */
static bool answers(struct two_tracer *tr, pid_t pid)
{
	long begin = ut_now_ms();

	return two_has(tr, pid) && ut_now_ms() - begin < TWO_AT_ONCE_MS;
}

/* Stop signals for a sibling */

/* Function of a target: the tracee, which has t->arg threads. */
static int has_threads(struct ut_target *t)
{
	return two_become(TWO_NOBODY) ? ut_threaded(t) : 97;
}

/* Function of a target: stop and continue the process t->arg by a sibling. */
static int stops_sibling(struct ut_target *t)
{
	if (!two_become(TWO_NOBODY))
		return 97;
	while (!t->sh->quit) {
		if (syscall(SYS_tgkill, t->arg, tracee->tid[1], SIGSTOP))
			return 1;
		usleep(two_any(2000));
		if (kill(t->arg, SIGCONT))
			return 2;
		usleep(two_any(2000));
		t->sh->counter++;
	}
	return 0;
}

/* The task leaves the stop for the user's tracer, and comes back to it. */
TEST_F(attackers, stop_signals_for_a_sibling)
{
	struct two_tracer *user = &self->user, *p = &self->two.p;
	struct ut_target *t = &self->two.t, *attacker = &self->attacker;
	int rounds = 0;
	bool good;
	long end, old;

	t->arg = 2;
	ASSERT_TRUE(ut_spawn(t, has_threads));
	ASSERT_TRUE(ut_hear(t));
	tracee = t->sh;
	ASSERT_TRUE(seize(self, t->pid));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	old = t->sh->thread_counter[0];
	attacker->arg = t->pid;
	ASSERT_TRUE(ut_spawn(attacker, stops_sibling));
	end = ut_now_ms() + ATTACK_MS;
	/* In each round the user's tracer gets a group stop. */
	do {
		good = ut_until(listens(user, t->pid)) && answers(p, t->pid) &&
		       t->sh->thread_counter[0] == old &&
		       two_poll(p, t->pid) == TWO_NONE;
		rounds++;
	} while (good && (ut_now_ms() < end || rounds < ROUNDS));
	EXPECT_TRUE(good) {
		TH_LOG("round %d, stop %ld", rounds, attacker->sh->counter);
	}
	EXPECT_TRUE(ut_runs(attacker));
	EXPECT_TRUE(ut_runs(&self->bystander));
	attacker->sh->quit = 1;
	ASSERT_TRUE(ut_reap(attacker, &self->two.status));
	EXPECT_EQ(0, self->two.status);
	EXPECT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(ut_until((listens(user, t->pid), listens(p, t->pid),
			      t->sh->thread_counter[0] != old)));
}

/* A listener */

/*
 * A debugger attaches to a process in a group stop, and lets it
 * run, though the user's tracer listens.
 */
TEST_F(attackers, listener_beside_a_debugger)
{
	struct two_tracer *user = &self->user, *p = &self->two.p;
	struct ut_target *t = &self->two.t;
	long old;

	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, two_seize(user, t->pid, 0));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(ut_until(listens(user, t->pid)));
	ASSERT_EQ(0, two_ptrace(p, PTRACE_ATTACH, t->pid, 0));
	ASSERT_EQ(two_stop(SIGSTOP), two_wait(p, t->pid));
	EXPECT_TRUE(answers(p, t->pid));
	old = t->sh->counter;
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	/* The SIGSTOP of the attach may be a stop of its own. */
	EXPECT_TRUE(ut_until((listens(user, t->pid),
			      two_poll(p, t->pid) == two_stop(SIGSTOP) &&
				two_cont(p, t->pid, 0),
			      t->sh->counter != old)));
}

/* Tracees that die */

enum { ENDS, OTHERS };		/* what value[] of root's tracer counts */

/* Function of a target: make tasks, trace them, and kill them all at once. */
static int kills_its_own(struct ut_target *t)
{
	int i;

	if (!two_become(TWO_NOBODY))
		return 97;
	for (;;) {
		for (i = 0; i < TRACEES; i++) {
			pid_t pid = fork();

			if (!pid) {
				ut_be_child();
				for (;;)
					pause();
			}
			if (pid < 0 || ptrace(PTRACE_SEIZE, pid, 0, 0))
				return 98;
			t->sh->tid[i] = pid;
		}
		ut_say(t);
		ut_await(t);
		for (i = 0; i < TRACEES; i++)
			kill(t->sh->tid[i], SIGKILL);
		for (i = 0; i < TRACEES; i++)
			waitpid(t->sh->tid[i], NULL, 0);
	}
}

/* A thread of root's tracer: wait until there is no tracee. */
static void *waits(void *arg)
{
	struct ut_shared *sh = arg;
	int status;

	while (waitpid(-1, &status, __WALL) > 0)
		sh->value[status == two_killed(SIGKILL) ? ENDS : OTHERS]++;
	if (errno != ECHILD)
		sh->value[OTHERS]++;
	return NULL;
}

/* Function of a target: root's tracer, whose threads wait for all tracees. */
static int waits_for_all(struct ut_target *t)
{
	pthread_t threads[WAITERS];
	int i;

	for (;;) {
		ut_await(t);
		for (i = 0; i < TRACEES; i++)
			if (ptrace(PTRACE_SEIZE, tracee->tid[i], 0, 0))
				return 97;
		for (i = 0; i < WAITERS; i++)
			if (pthread_create(&threads[i], NULL, waits, t->sh))
				return 98;
		ut_say(t);
		for (i = 0; i < WAITERS; i++)
			pthread_join(threads[i], NULL);
		ut_say(t);
	}
}

/* Check that all threads return and that one of them reads each end. */
static bool all_come_back(struct ut_target *attacker, struct ut_target *tr)
{
	tr->sh->value[ENDS] = 0;
	if (!ut_hear(attacker) || !ut_go(tr) || !ut_hear(tr))
		return false;
	usleep(two_any(ATTACK_US));
	return ut_go(attacker) && ut_hear(tr) &&
	       tr->sh->value[ENDS] == TRACEES && !tr->sh->value[OTHERS];
}

TEST_F(attackers, tracees_that_die)
{
	struct ut_target *attacker = &self->attacker, tr = {};
	long before = self->bystander.sh->counter, end;
	int rounds = 0;
	bool good;

	ASSERT_TRUE(ut_spawn(attacker, kills_its_own));
	tracee = attacker->sh;
	ASSERT_TRUE(ut_spawn(&tr, waits_for_all));
	end = ut_now_ms() + ATTACK_MS;
	do {
		good = all_come_back(attacker, &tr);
		rounds++;
	} while (good && (ut_now_ms() < end || rounds < ROUNDS));
	EXPECT_TRUE(good) {
		TH_LOG("round %d: %ld ends, %ld other results", rounds,
		       tr.sh->value[ENDS], tr.sh->value[OTHERS]);
	}
	EXPECT_LT(before, self->bystander.sh->counter);
	TH_LOG("%d rounds", rounds);
}

/* A frozen cgroup */

/* Make the cgroup, which the user may freeze; NULL, or why there is none. */
static const char *make_cgroup(void)
{
	const char *why = ut_cg_make(NULL);
	char path[PATH_MAX + 128];

	if (why)
		return why;
	snprintf(path, sizeof(path), "%s/cgroup.freeze", ut_cg);
	return chown(path, TWO_NOBODY, TWO_NOBODY) ? strerror(errno) : NULL;
}

/* Function of a target: freeze the cgroup, and thaw it. */
static int freezes(struct ut_target *t)
{
	if (!two_become(TWO_NOBODY) || ut_cg_write("cgroup.freeze", "1"))
		return 97;
	ut_say(t);
	ut_await(t);
	return ut_cg_write("cgroup.freeze", "0") ? 98 : 0;
}

static bool is_frozen(void)
{
	return ut_until(ut_cg_is("cgroup.events", "frozen", 1));
}

/* A tracer works on a task that is frozen, as it does on other kernels. */
TEST_F(attackers, frozen_cgroup)
{
	struct two_tracer *user = &self->user, *p = &self->two.p;
	struct ut_target *t = &self->two.t, *attacker = &self->attacker;
	const char *why = make_cgroup();

	if (why)
		SKIP(return, "no cgroup: %s", why);
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, ut_cg_add(t->pid));
	ASSERT_TRUE(seize(self, t->pid));
	ASSERT_TRUE(ut_spawn(attacker, freezes));
	ASSERT_TRUE(ut_hear(attacker));
	ASSERT_TRUE(is_frozen());
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_TRUE(answers(p, t->pid));
	/*
	 * A stop for the user's tracer begins and ends during that of root's.
	 */
	ASSERT_EQ(TWO_TRAP, two_interrupt(user, t->pid));
	ASSERT_TRUE(answers(p, t->pid));
	ASSERT_EQ(0, two_cont(user, t->pid, 0));
	ASSERT_TRUE(answers(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(is_frozen());
	EXPECT_TRUE(ut_runs(&self->bystander));
	/* As strace does when it is interrupted. */
	ASSERT_TRUE(two_leave(p, t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(is_frozen());
	ASSERT_TRUE(ut_go(attacker));
	ASSERT_TRUE(ut_reap(attacker, &self->two.status));
	EXPECT_EQ(0, self->two.status);
	EXPECT_TRUE(ut_runs(t));
}

/*
 * An engine asks for a report while @p has the task in a stop, and the user's tracer
 * stops and resumes the task.  The stop of @p goes on.
 */
TEST_F(attackers, frozen_cgroup_and_a_report)
{
	struct two_tracer *user = &self->user, *p = &self->two.p;
	struct ut_target *t = &self->two.t;
	const char *why = make_cgroup();
	int id;

	if (!why)
		why = ut_begin();
	if (why)
		SKIP(return, "%s", why);
	ASSERT_TRUE(actor_spawn_as(t, TWO_NOBODY));
	ASSERT_EQ(0, ut_cg_add(t->pid));
	ASSERT_TRUE(seize(self, t->pid));
	id = ut_attach(t->pid, 0, UT_BIT(QUIESCE));
	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_cg_write("cgroup.freeze", "1"));
	ASSERT_TRUE(is_frozen());
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	ASSERT_EQ(0, ut_control(id, 0, UT_REPORT));
	ASSERT_EQ(TWO_TRAP, two_interrupt(user, t->pid));
	ASSERT_EQ(0, two_cont(user, t->pid, 0));
	EXPECT_TRUE(answers(p, t->pid));
	EXPECT_TRUE(is_frozen());
	EXPECT_EQ(0, ut_cg_write("cgroup.freeze", "0"));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, ut_close());
}

TEST_HARNESS_MAIN

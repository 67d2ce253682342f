// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - engines that keep a signal until they have decided
 *
 * The first engine answers UTRACE_STOP_HERE.  The task stops during the
 * delivery of the signal.  When the first engine resumes it, that engine is
 * called again, and then the second engine is called.
 */
#include "keep.h"

TEST_F(keep, called_again_and_then_the_next)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ut_pull(0);
	EXPECT_EQ(1, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	EXPECT_EQ(0, ut_matches(0, self->after, UT_ANY, UT_ANY, SIGUSR1));
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	i = ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
	EXPECT_EQ(2, ut_matches(0, self->id, UT_ANY, UT_ANY, SIGUSR1));
	i = ut_find(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	EXPECT_EQ(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	i = ut_find(i + 1, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_NE(0, ut_rec[i].action & UT_SIGNAL_RESUMED);
	EXPECT_TRUE(ut_runs(t));
}

TEST_F(keep, second_answer_drops_it)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_TRUE(set_rule(self->id, UT_EV_SIGNAL, SIGUSR1, 1,
			     UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	/* The module names the event by the answers of the earlier engines. */
	i = ut_wait(0, self->after, UT_EV_SIGNAL_IGN, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_IGN, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(0, t->sh->value[0]);
}

/* The answer that keeps the signal does not decide about it. */
TEST_F(keep, first_answer_does_not_count)
{
	struct ut_target *t = &self->t;
	struct ut_rule rule = {
		.id = self->id, .event = UT_EV_SIGNAL, .match = SIGUSR1,
		.count = 1,
		.answer = UT_STOP | UT_STOP_HERE | UT_SIGNAL_IGN,
		.change = UT_CHANGE_SIGNO | UT_CHANGE_HANDLER,
		.signo = SIGUSR2, .handler = (unsigned long)SIG_DFL,
	};
	int i;

	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	i = ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_DELIVER, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_EQ(getpid(), ut_rec[i].val[1]);
	EXPECT_EQ((long)on_signal, ut_rec[i].val[4]);
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(handled_once(t));
	EXPECT_EQ(0, t->sh->value[1]);
}

/* The answer of an engine that was called before the stop counts after it. */
TEST_F(keep, answer_in_front_counts)
{
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(set_rule(self->id, UT_EV_SIGNAL, SIGUSR1, 1,
			     UT_RESUME | UT_SIGNAL_IGN));
	ASSERT_TRUE(keep(self->after, t->pid, UT_EV_SIGNAL_IGN, SIGUSR1));
	ASSERT_EQ(0, ut_control(self->after, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 2));
	i = ut_find(0, self->after, UT_ANY, t->pid, SIGUSR1);
	i = ut_find(i + 1, self->after, UT_ANY, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_EQ(UT_SIGNAL_IGN, ut_rec[i].action & UT_SIGNAL_MASK);
	EXPECT_EQ(0, t->sh->value[0]);
}

/*
 * Another signal is not dequeued before the kept signal, and neither is lost or
 * reported twice.  The other signal has the lower number: it would be dequeued
 * first if the kept signal were back in its queue.
 */
TEST_F(keep, another_signal_comes_after)
{
	struct ut_target *t = &self->t;
	int i, other;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR2));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_TRUE(had_signal(self->id, SIGUSR2, 1));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 0));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(1, t->sh->value[1]);
	EXPECT_TRUE(had_signal(self->id, SIGUSR2, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR2, 1));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	i = ut_find(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR2);
	other = ut_find(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR1);
	ASSERT_LE(0, i);
	EXPECT_LT(i, other);
}

/* The second signal is a new one, with a first call of its own. */
TEST_F(keep, two_signals_one_after_the_other)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(set_rule(self->id, UT_EV_SIGNAL, SIGUSR2, 1, KEEPS));
	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_LE(0, ut_wait(0, self->id, UT_EV_SIGNAL, t->pid, SIGUSR2));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->id, SIGUSR2, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR2, 0));
	/* The frame of the first handler is set up, and no more. */
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_EQ(1, t->sh->value[1]);
	EXPECT_TRUE(had_signal(self->id, SIGUSR2, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR2, 1));
}

/* The second answer keeps the signal again. */
TEST_F(keep, keeps_it_again)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(set_rule(self->id, UT_EV_SIGNAL, SIGUSR1, 2, KEEPS));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_TRUE(ut_held(t->pid));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_TRUE(ut_until(ut_matches(0, self->id, UT_ANY, UT_ANY,
					SIGUSR1) == 2));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 0));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 3));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
}

TEST_F(keep, keeper_detaches)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 0));
	ASSERT_EQ(0, ut_detach(self->id));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	/* The next signal is not kept: the keeper is gone. */
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR2, 1));
}

/* The keeper and all engines after it are gone. */
TEST_F(keep, all_detach)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_control(self->after, 0, UT_STOP));
	ASSERT_EQ(0, ut_detach(self->id));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ASSERT_EQ(0, ut_detach(self->after));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 0));
	EXPECT_TRUE(ut_runs(t));
}

/*
 * Detach the keeper while the engine after it holds the task, and attach an
 * engine of this class, which gets the free slot.
 */
static int replace_keeper(struct keep_data *self, __u32 class)
{
	struct ut_target *t = &self->t;

	if (!keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1) ||
	    ut_control(self->after, 0, UT_STOP) || ut_detach(self->id) ||
	    !ut_stays(ut_state(t->pid) == 't'))
		return -EAGAIN;
	return ut_attach(t->pid, class, UT_BIT(SIGNAL));
}

/* The new engine is before the one that has not been called. */
TEST_F(keep, slot_of_the_keeper_in_front)
{
	int id = replace_keeper(self, UT_ATTACH_OBSERVER);
	struct ut_target *t = &self->t;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(self->after, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(id, SIGUSR1, 0));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(had_signal(id, SIGUSR2, 1));
}

/* The new engine is the last one, and has kept nothing. */
TEST_F(keep, slot_of_the_keeper_behind)
{
	int id = replace_keeper(self, UT_ATTACH_MUTATOR);
	struct ut_target *t = &self->t;

	ASSERT_LT(0, id);
	ASSERT_EQ(0, ut_control(self->after, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(id, SIGUSR1, 1));
	EXPECT_LT(ut_find(0, self->after, UT_ANY, t->pid, SIGUSR1),
		  ut_find(0, id, UT_ANY, t->pid, SIGUSR1));
}

/*
 * Two engines attach while the signal is kept.  The observer is before those
 * that have answered; the enforcer is after all other engines, and is called.
 */
TEST_F(keep, newcomers)
{
	struct ut_target *t = &self->t;
	int front, behind;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	front = ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL));
	ASSERT_LT(0, front);
	behind = ut_attach(t->pid, UT_ATTACH_ENFORCER, UT_BIT(SIGNAL));
	ASSERT_LT(0, behind);
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(front, SIGUSR1, 0));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(behind, SIGUSR1, 1));
	EXPECT_LT(ut_find(0, self->after, UT_ANY, t->pid, SIGUSR1),
		  ut_find(0, behind, UT_ANY, t->pid, SIGUSR1));
	/* All are called at the next signal. */
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(had_signal(front, SIGUSR2, 1));
	EXPECT_TRUE(had_signal(behind, SIGUSR2, 1));
	EXPECT_TRUE(ut_runs(t));
}

/* Two engines that are there begin to want the event of the kept signal. */
TEST_F(keep, event_is_added)
{
	struct ut_target *t = &self->t;
	int front = ut_attach(t->pid, UT_ATTACH_OBSERVER, 0);
	int behind = ut_attach(t->pid, UT_ATTACH_ENFORCER, 0);

	ASSERT_LT(0, front);
	ASSERT_LT(0, behind);
	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_events(front, 0, UT_BIT(SIGNAL)));
	ASSERT_EQ(0, ut_events(behind, 0, UT_BIT(SIGNAL)));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(front, SIGUSR1, 0));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(behind, SIGUSR1, 1));
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[1] == 1));
	EXPECT_TRUE(had_signal(front, SIGUSR2, 1));
	EXPECT_TRUE(had_signal(behind, SIGUSR2, 1));
}

/*
 * Of two engines that have answered, one loses the event: all engines after it
 * move up by one place.  Neither is called again.
 */
TEST_F(keep, event_is_taken_away)
{
	struct ut_target *t = &self->t;
	int stays = ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL));
	int loses = ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL));
	int ret;

	ASSERT_LT(0, stays);
	ASSERT_LT(0, loses);
	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	EXPECT_TRUE(had_signal(stays, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(loses, SIGUSR1, 1));
	ret = ut_events(loses, 0, 0);
	/* Some kernels cannot tell whether a callback runs. */
	ASSERT_TRUE(!ret || ret == -EINPROGRESS);
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(stays, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(loses, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 1));
}

TEST_F(keep, two_keepers_one_after_the_other)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(set_rule(self->after, UT_EV_SIGNAL, SIGUSR1, 1, KEEPS));
	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_LE(0, ut_wait(0, self->after, UT_EV_SIGNAL, t->pid, SIGUSR1));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_EQ(0, t->sh->value[0]);
	ASSERT_EQ(0, ut_control(self->after, 0, UT_RESUME));
	EXPECT_TRUE(ut_until(t->sh->value[0] == 1));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 2));
}

TEST_F(keep, fatal_signal)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL_TERM, SIGTERM));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_EQ(SIGTERM, WTERMSIG(self->status));
	EXPECT_LE(0, ut_seen(0, self->after, UT_EV_SIGNAL_TERM, t->pid,
			     SIGTERM));
}

/* An observer may not delay a death. */
static bool observer_does_not_keep(struct ut_target *t, enum ut_event event,
				   int sig)
{
	int id = ut_attach(t->pid, UT_ATTACH_OBSERVER, 1UL << event);
	int status = 0;

	if (id < 0 || !set_rule(id, event, sig, 0, KEEPS) || kill(t->pid, sig))
		return false;
	return ut_reap(t, &status) && WIFSIGNALED(status) &&
	       WTERMSIG(status) == sig && had_signal(id, sig, 1);
}

TEST_F(keep, observer_of_a_fatal_signal)
{
	EXPECT_TRUE(observer_does_not_keep(&self->t, UT_EV_SIGNAL_TERM,
					   SIGTERM));
	/* These two engines could keep the signal, since it was dequeued. */
	EXPECT_TRUE(had_signal(self->id, SIGTERM, 1));
	EXPECT_TRUE(had_signal(self->after, SIGTERM, 1));
}

TEST_F(keep, observer_of_a_core_dump)
{
	EXPECT_TRUE(observer_does_not_keep(&self->t, UT_EV_SIGNAL_CORE,
					   SIGQUIT));
	EXPECT_TRUE(had_signal(self->id, SIGQUIT, 1));
	EXPECT_TRUE(had_signal(self->after, SIGQUIT, 1));
}

/* An observer may keep a signal that kills nobody. */
TEST_F(keep, observer_of_a_handler)
{
	struct ut_target *t = &self->t;
	int id = ut_attach(t->pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL));

	ASSERT_LT(0, id);
	ASSERT_TRUE(keep(id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 0));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(t));
	EXPECT_TRUE(had_signal(id, SIGUSR1, 2));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
}

/* Function of a target: the kernel forces SIGSEGV at the next system call. */
static int forced(struct ut_target *t)
{
	ut_say(t);
	ut_await(t);
	prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0UL, 0UL, 1UL);
	ut_mark(0);
	return 0;
}

/*
 * A signal with SA_IMMUTABLE: the observer does not hold the task.  The mutator
 * does, but only after the later engines have been called.
 */
TEST_F(keep, forced_signal)
{
	struct ut_target t = {};
	int sees, id, after;

	ASSERT_TRUE(ut_spawn(&t, forced));
	ASSERT_TRUE(ut_hear(&t));
	sees = ut_attach(t.pid, UT_ATTACH_OBSERVER, UT_BIT(SIGNAL_CORE));
	id = ut_attach(t.pid, 0, UT_BIT(SIGNAL_CORE));
	after = ut_attach(t.pid, 0, UT_BIT(SIGNAL_CORE));
	ASSERT_LT(0, after);
	ASSERT_TRUE(set_rule(sees, UT_EV_SIGNAL_CORE, SIGSEGV, 0, KEEPS));
	ASSERT_TRUE(set_rule(id, UT_EV_SIGNAL_CORE, SIGSEGV, 0, KEEPS));
	ASSERT_TRUE(ut_go(&t));
	EXPECT_LE(0, ut_wait(0, after, UT_EV_SIGNAL_CORE, t.pid, SIGSEGV));
	EXPECT_TRUE(ut_held(t.pid));
	EXPECT_TRUE(ut_stays(ut_state(t.pid) == 't'));
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	ASSERT_TRUE(ut_reap(&t, &self->status));
	EXPECT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGSEGV, WTERMSIG(self->status));
	EXPECT_TRUE(had_signal(sees, SIGSEGV, 1));
	EXPECT_TRUE(had_signal(id, SIGSEGV, 1));
	EXPECT_TRUE(had_signal(after, SIGSEGV, 1));
}

/* No further engine is called, and no handler runs. */
TEST_F(keep, kill_ends_it)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL, SIGUSR1));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	ASSERT_TRUE(ut_reap(t, &self->status));
	EXPECT_TRUE(WIFSIGNALED(self->status));
	EXPECT_EQ(SIGKILL, WTERMSIG(self->status));
	EXPECT_TRUE(had_signal(self->id, SIGUSR1, 1));
	EXPECT_TRUE(had_signal(self->after, SIGUSR1, 0));
	EXPECT_EQ(0, t->sh->value[0]);
}

/* The handler finds its action reset, and sets the action again. */
static void on_once(int sig)
{
	struct sigaction old, act = {
		.sa_handler = on_once, .sa_flags = SA_RESETHAND,
	};

	sigaction(SIGUSR1, &act, &old);
	shared->value[1] = old.sa_handler == SIG_DFL;
	shared->value[2] = sig;
	shared->value[0]++;
}

static int once(struct ut_target *t)
{
	struct sigaction act = {
		.sa_handler = on_once, .sa_flags = SA_RESETHAND,
	};

	shared = t->sh;
	sigaction(SIGUSR1, &act, NULL);
	ut_say(t);
	return ut_spin(t);
}

/* Start such a target and keep its signal; the number of the engine, or < 0. */
static int keep_once(struct ut_target *t)
{
	int id;

	if (!ut_spawn(t, once) || !ut_hear(t))
		return -EAGAIN;
	id = ut_attach(t->pid, 0, UT_SIGNAL_ALL);
	if (id < 0 || !keep(id, t->pid, UT_EV_SIGNAL, SIGUSR1))
		return -EAGAIN;
	return id;
}

TEST_F(keep, handler_for_once)
{
	struct ut_target t = {};
	int id = keep_once(&t);

	ASSERT_LT(0, id);
	EXPECT_EQ(0, t.sh->value[0]);
	ASSERT_EQ(0, ut_control(id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(&t));
	EXPECT_EQ(1, t.sh->value[1]);
	EXPECT_TRUE(had_signal(id, SIGUSR1, 2));
	/* Nothing resets the action that the handler has set. */
	ASSERT_EQ(0, kill(t.pid, SIGUSR1));
	EXPECT_TRUE(ut_until(t.sh->value[0] == 2));
	EXPECT_EQ(1, t.sh->value[1]);
	EXPECT_TRUE(ut_runs(&t));
}

/* The second answer changes the number: the action that is used is reset. */
TEST_F(keep, handler_for_once_by_another_number)
{
	struct ut_target t = {};
	struct ut_rule rule = {
		.id = keep_once(&t), .event = UT_EV_SIGNAL, .match = SIGUSR1,
		.count = 1, .answer = UT_RESUME | UT_SIGNAL_DELIVER,
		.change = UT_CHANGE_SIGNO, .signo = SIGUSR2,
	};

	ASSERT_LT(0, (int)rule.id);
	ASSERT_EQ(0, ut_ioctl(UT_IOC_RULE, &rule));
	ASSERT_EQ(0, ut_control(rule.id, 0, UT_RESUME));
	EXPECT_TRUE(handled_once(&t));
	EXPECT_EQ(SIGUSR2, t.sh->value[2]);
	EXPECT_EQ(1, t.sh->value[1]);
	EXPECT_TRUE(ut_runs(&t));
}

TEST_F(keep, stop_signal)
{
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL_STOP, SIGSTOP));
	EXPECT_TRUE(ut_stays(!waitpid(t->pid, NULL, WNOHANG | WUNTRACED)));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	ASSERT_EQ(1, ut_waitpid(t->pid, &self->status, WUNTRACED));
	EXPECT_TRUE(WIFSTOPPED(self->status));
	EXPECT_TRUE(ut_until(ut_state(t->pid) == 'T'));
	EXPECT_TRUE(had_signal(self->id, SIGSTOP, 2));
	EXPECT_TRUE(had_signal(self->after, SIGSTOP, 1));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* The SIGCONT takes the effect of the kept SIGSTOP away. */
TEST_F(keep, stop_signal_then_sigcont)
{
	const int options = WNOHANG | WUNTRACED | WCONTINUED;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(keep(self->id, t->pid, UT_EV_SIGNAL_STOP, SIGSTOP));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	EXPECT_TRUE(ut_stays(ut_state(t->pid) == 't'));
	EXPECT_TRUE(had_signal(self->id, SIGCONT, 0));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	/* The next signal that is taken is SIGCONT. */
	EXPECT_LE(0, ut_wait(0, self->after, UT_EV_SIGNAL_IGN, t->pid,
			     SIGCONT));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(had_signal(self->id, SIGSTOP, 2));
	EXPECT_TRUE(had_signal(self->after, SIGSTOP, 1));
	EXPECT_EQ(0, ut_matches(0, self->id, UT_EV_JCTL, UT_ANY, UT_ANY));
	EXPECT_EQ(0, waitpid(t->pid, NULL, options));
}

/* A report of get_signal() is kept as a signal is. */
TEST_F(keep, report)
{
	const unsigned long events = UT_SIGNAL_ALL | UT_BIT(QUIESCE);
	struct ut_target *t = &self->t;

	ASSERT_EQ(0, ut_events(self->id, 0, events | UT_BIT(JCTL)));
	ASSERT_EQ(0, ut_events(self->after, 0, events));
	ASSERT_TRUE(set_rule(self->id, UT_EV_REPORT, UT_ANY, 1, KEEPS));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_INTERRUPT));
	ASSERT_TRUE(ut_held(t->pid));
	EXPECT_TRUE(ut_still(t));
	EXPECT_TRUE(was_called(self->id, UT_EV_REPORT, UT_ANY, 1));
	EXPECT_TRUE(was_called(self->after, UT_EV_REPORT, UT_ANY, 0));
	ASSERT_EQ(0, ut_control(self->id, 0, UT_RESUME));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(was_called(self->id, UT_EV_REPORT, UT_ANY, 2));
	EXPECT_TRUE(was_called(self->after, UT_EV_REPORT, UT_ANY, 1));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - attach to a child in a group stop
 *
 * On a kernel without utrace, ptrace_attach() waits until such a task has gone
 * from its stop to that of the tracer (JOBCTL_TRAPPING).  So the next request
 * finds the task stopped.  Here other tracers are attached already, or attach
 * and detach during the attach.  The tracer is the real parent of the task, as
 * in many programs.
 */
#include "two.h"

#define ROUNDS		200
#define TURNS		40	/* of a tracer that comes and goes, at most */

/* Elements of ut_shared.value of the other tracers. */
enum {
	ATTACHED,	/* to this task */
	MOVES,		/* of comes_and_goes(): odd while it leaves or resumes the task */
};

/* Function of another tracer: pass all stops of each task go[0]. */
static int passes(struct ut_target *t)
{
	pid_t pid, old = 0;
	int status;

	if (t->arg && !two_become(t->arg))
		return 97;
	while (!t->sh->quit) {
		sched_yield();
		pid = t->sh->go[0];
		if (pid == old)
			continue;
		old = pid;
		if (!pid || ptrace(PTRACE_SEIZE, pid, 0, 0))
			continue;
		t->sh->value[ATTACHED] = pid;
		while (waitpid(pid, &status, __WALL) == pid &&
		       WIFSTOPPED(status))
			pass_stop(pid, status);
	}
	return 0;
}

/* Detach in the next stop that is not for a signal, or reap. */
static void leave(pid_t pid)
{
	int status;

	ptrace(PTRACE_INTERRUPT, pid, 0, 0);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		if (status >> 16 != PTRACE_EVENT_STOP) {
			pass_stop(pid, status);
			continue;
		}
		if (!ptrace(PTRACE_DETACH, pid, 0, 0))
			return;
	}
}

/* Function of another tracer: attach to the task go[0] and detach, for ever. */
static int comes_and_goes(struct ut_target *t)
{
	int status, ret;
	unsigned int n;
	pid_t pid;

	if (t->arg && !two_become(t->arg))
		return 97;
	two_dice = getpid();
	while (!t->sh->quit) {
		sched_yield();
		pid = t->sh->go[0];
		if (!pid || ptrace(PTRACE_SEIZE, pid, 0, 0))
			continue;
		t->sh->value[ATTACHED] = pid;
		for (n = two_any(TURNS); n; n--) {
			ret = waitpid(pid, &status, __WALL | WNOHANG);
			if (ret < 0 || (ret && !WIFSTOPPED(status)))
				break;
			if (ret) {
				t->sh->value[MOVES]++;
				pass_stop(pid, status);
				t->sh->value[MOVES]++;
			}
			sched_yield();
		}
		if (n)
			continue;
		t->sh->value[MOVES]++;
		leave(pid);
		t->sh->value[MOVES]++;
	}
	return 0;
}

FIXTURE(stopped) {
	struct ut_shared *sh;		/* the task stops itself at quit */
	struct ut_target other[3];
	int before;
	int excused;			/* requests in rounds with a move */
};

FIXTURE_VARIANT(stopped) {
	int passing;	/* tracers that stay attached */
	int moving;	/* tracers that attach and detach */
	bool first;	/* the place of the first tracer is free */
	bool user;	/* the task and the other tracers are of another user */
	long request;	/* PTRACE_ATTACH or PTRACE_SEIZE */
};

#define stopped_data	_test_data_stopped
#define stopped_variant	_fixture_variant_stopped

FIXTURE_VARIANT_ADD(stopped, attach_alone) { .request = PTRACE_ATTACH };

FIXTURE_VARIANT_ADD(stopped, attach_behind_one)
{
	.passing = 1, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_before_one)
{
	.passing = 1, .first = true, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_behind_two)
{
	.passing = 2, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_before_two)
{
	.passing = 2, .first = true, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_behind_one_of_a_user)
{
	.passing = 1, .user = true, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_behind_two_of_a_user)
{
	.passing = 2, .user = true, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_in_motion_of_a_user)
{
	.moving = 1, .user = true, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_in_motion)
{
	.moving = 1, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_before_one_in_motion)
{
	.passing = 1, .first = true, .moving = 1, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, attach_behind_one_in_motion)
{
	.passing = 1, .moving = 1, .request = PTRACE_ATTACH,
};

FIXTURE_VARIANT_ADD(stopped, seize_alone) { .request = PTRACE_SEIZE };

FIXTURE_VARIANT_ADD(stopped, seize_behind_one)
{
	.passing = 1, .request = PTRACE_SEIZE,
};

FIXTURE_VARIANT_ADD(stopped, seize_before_one)
{
	.passing = 1, .first = true, .request = PTRACE_SEIZE,
};

FIXTURE_VARIANT_ADD(stopped, seize_in_motion)
{
	.moving = 1, .request = PTRACE_SEIZE,
};

FIXTURE_SETUP(stopped)
{
	struct sigaction act = { .sa_handler = two_on_alarm };
	int i;

	self->before = two_limit_now();
	if (!self->before)
		SKIP(return, "no " TWO_SYSCTL);
	self->sh = mmap(NULL, sizeof(*self->sh), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->sh);
	sigaction(SIGALRM, &act, NULL);
	if (variant->user && !two_yama_allows())
		SKIP(return, "yama restricts ptrace");
	for (i = 0; i < variant->passing + variant->moving; i++) {
		self->other[i].arg = variant->user ? TWO_NOBODY : 0;
		ASSERT_TRUE(ut_spawn(&self->other[i], i < variant->passing ?
				     passes : comes_and_goes));
	}
	ASSERT_EQ(0, two_limit(TWO_LIMIT));
}

FIXTURE_TEARDOWN(stopped)
{
	if (self->before)
		EXPECT_EQ(0, two_limit(self->before));
	ut_kill_targets();
}

/* Start a child that stops itself at sh->quit. */
static pid_t start_child(struct stopped_data *self,
			 const struct stopped_variant *variant)
{
	pid_t pid;

	self->sh->quit = 0;
	self->sh->value[0] = 0;
	pid = fork();
	if (pid) {
		/* It belongs to its user from here on. */
		ut_until(self->sh->value[0]);
		return pid;
	}
	ut_be_child();
	if (variant->user && !two_become(TWO_NOBODY))
		_exit(97);
	self->sh->value[0] = 1;
	while (!self->sh->quit)
		sched_yield();
	raise(SIGSTOP);
	for (;;)
		pause();
}

/*
 * waitpid() that sleeps, and returns as soon as there is a status to report.
 * Returns the status or -errno.
 */
static long wait_for(pid_t pid, int options)
{
	struct two_call call = { .op = TWO_WAIT, .pid = pid, .data = options };

	return two_do_wait(&call);
}

/*
 * Let the other tracers attach.  If the place of the first tracer is to be
 * free, the test takes it until the other tracers have attached.
 */
static bool others_come(struct stopped_data *self,
			const struct stopped_variant *variant, pid_t pid)
{
	bool holds = variant->first && variant->passing;
	int i;

	if (holds && ptrace(PTRACE_SEIZE, pid, 0, 0))
		return false;
	for (i = 0; i < variant->passing + variant->moving; i++) {
		self->other[i].sh->go[0] = pid;
		if (!ut_until(self->other[i].sh->value[ATTACHED] == pid))
			return false;
	}
	if (holds)
		leave(pid);
	return true;
}

static void others_go(struct stopped_data *self)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(self->other); i++)
		if (self->other[i].sh)
			self->other[i].sh->go[0] = 0;
}

/* Read and write the registers. */
static bool can_ask(pid_t pid)
{
	struct user_regs_struct regs;

	return !ptrace(PTRACE_GETREGS, pid, 0, &regs) &&
	       !ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

/* The moves of the tracer that attaches and detaches. */
static long moves(struct stopped_data *self, const struct stopped_variant *variant)
{
	return variant->moving ? self->other[variant->passing].sh->value[MOVES] : 0;
}

/* Check whether the task has stopped after the last move. */
static bool is_settled(pid_t pid, long moves)
{
	char state = ut_state(pid);

	return !(moves & 1) && (state == 'T' || state == 't');
}

/* Attach and check.  Returns NULL, or what went wrong. */
static const char *attaches(struct stopped_data *self,
			    const struct stopped_variant *variant, pid_t pid,
			    bool at_once)
{
	bool seize = variant->request == PTRACE_SEIZE;
	long before = moves(self, variant), status;
	bool settled = !variant->moving || is_settled(pid, before);

	if (ptrace(variant->request, pid, 0, 0))
		return "PTRACE_ATTACH";
	if (at_once && !can_ask(pid)) {
		if (settled && before == moves(self, variant))
			return "the request";
		self->excused++;
	}
	status = wait_for(pid, __WALL);
	if (status != (seize ? two_group(SIGSTOP) : two_stop(SIGSTOP))) {
		printf("# status %#lx\n", status);
		return "wait()";
	}
	if (!can_ask(pid))
		return "the request after wait()";
	return ptrace(PTRACE_DETACH, pid, 0, 0) ? "PTRACE_DETACH" : NULL;
}

/* One round with a child of its own. */
static const char *one_round(struct stopped_data *self,
			     const struct stopped_variant *variant,
			     bool at_once)
{
	pid_t pid = start_child(self, variant);
	const char *wrong = NULL;

	if (pid < 0)
		return "fork()";
	if (!others_come(self, variant, pid))
		wrong = "the start";
	self->sh->quit = 1;
	if (!wrong && wait_for(pid, WUNTRACED) != two_stop(SIGSTOP))
		wrong = "the stop";
	if (!wrong)
		wrong = attaches(self, variant, pid, at_once);
	if (wrong)
		printf("# %s: %s\n", wrong, strerror(errno));
	others_go(self);
	kill(pid, SIGKILL);
	while (wait_for(pid, __WALL) >= 0)
		;
	return wrong;
}

static void rounds(struct __test_metadata *_metadata,
		   struct stopped_data *self,
		   const struct stopped_variant *variant, bool at_once)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		ASSERT_EQ(NULL, one_round(self, variant, at_once)) {
			TH_LOG("round %d", i);
		}
	}
}

/* wait() comes before the first request. */
TEST_F(stopped, request_after_wait)
{
	rounds(_metadata, self, variant, false);
}

/*
 * The unpatched kernel serves a request before the tracer has waited.  The request may
 * give ESRCH if another tracer leaves or resumes the task at that moment.
 */
TEST_F(stopped, request_at_once)
{
	rounds(_metadata, self, variant, true);
	if (variant->moving)
		TH_LOG("%d of %d requests are excused", self->excused, ROUNDS);
}

TEST_HARNESS_MAIN

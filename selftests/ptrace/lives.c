// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - what becomes of a task with several tracers
 *
 * The task is killed, clones with flags about tracing, makes steps for two
 * tracers at once, stops for job control that ends too early, or ends.
 * Requests that need only a stopped task are tested here, too.
 */
#include <sys/resource.h>

#include "either.h"

#define ENDED		two_exit(ACTOR_CODE)
#define CHILD_ENDED	two_exit(ACTOR_CHILD_CODE)

#ifndef PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG
#define PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG	0x4211
#endif

/* SIGKILL */

#define KILLS	10	/* rounds of a test that a race may pass */

/*
 * The further tracer reads the end alone, though it has asked for the event.
 * It sleeps in wait(2), which the event would end, or has the task in a stop.
 */
TEST_F(tracers, killed_without_event_exit)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	int i;

	for (i = 0; i < KILLS; i++) {
		ASSERT_TRUE(two_seize_both(self, 0, PTRACE_O_TRACEEXIT));
		if (i & 1)
			ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
		ASSERT_TRUE(two_begin_wait(s, t->pid, __WALL));
		ASSERT_EQ(0, kill(t->pid, SIGKILL));
		ASSERT_EQ(two_killed(SIGKILL), two_end_wait(s));
		EXPECT_EQ(-ECHILD, two_poll(s, t->pid));
		EXPECT_EQ(two_killed(SIGKILL), two_wait(p, t->pid));
		ASSERT_TRUE(ut_reap(t, &self->status));
		EXPECT_EQ(two_killed(SIGKILL), self->status);
	}
	/* An exit that is not forced makes the event, and waits. */
	ASSERT_TRUE(two_seize_both(self, 0, PTRACE_O_TRACEEXIT));
	actor_do(t, ACTOR_EXITS);
	ASSERT_EQ(two_event(PTRACE_EVENT_EXIT), two_wait(s, t->pid));
	EXPECT_EQ(ENDED, two_message(s, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_EQ(ENDED, two_wait(s, t->pid));
	EXPECT_EQ(ENDED, two_wait(p, t->pid));
	EXPECT_TRUE(ut_reap(t, &self->status));
}

/* The execve() of another thread kills as SIGKILL does. */
TEST_F(tracers, killed_by_exec_without_event_exit)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t tid;

	ASSERT_TRUE(ut_spawn_threads(t, 3));
	tid = t->sh->tid[1];
	ASSERT_EQ(0, two_seize(p, tid, 0));
	ASSERT_EQ(0, two_seize(s, tid, PTRACE_O_TRACEEXIT));
	ASSERT_TRUE(two_begin_wait(s, tid, __WALL));
	t->sh->go[2] = UT_GO_EXEC;
	ASSERT_EQ(0, two_end_wait(s));
	EXPECT_EQ(-ECHILD, two_poll(s, tid));
	/* The exec waits for the first tracer alone. */
	EXPECT_EQ(0, two_wait(p, tid));
	EXPECT_TRUE(ut_became_helper(t->pid));
}

/* Flags of clone() */

/* Wait for go[0]. */
static void begin(struct ut_target *t)
{
	two_block(SIGCHLD);
	actor_sh = t->sh;
	t->sh->tid[0] = ut_gettid();
	ut_say(t);
	while (!t->sh->go[0] && !t->sh->quit)
		t->sh->counter++;
}

/* Function of a target: clone() with the flags t->arg. */
static int clones(struct ut_target *t)
{
	pid_t pid;

	begin(t);
	pid = syscall(SYS_clone, t->arg | SIGCHLD, 0, 0, 0, 0);
	if (!pid)
		actor_child(t->sh->tid[0]);
	actor_wait(pid);
	t->sh->value[ACTOR_DONE]++;
	return ut_spin(t);
}

/* Start a target that clones with @flags under two tracers; its child. */
static pid_t clone_with(struct two_data *self, long flags, long options)
{
	struct ut_target *t = &self->t;

	t->arg = flags;
	if (!ut_spawn(t, clones) || !ut_hear(t) ||
	    two_seize(&self->p, t->pid, options) ||
	    two_seize(&self->s, t->pid, options))
		return -1;
	t->sh->go[0] = 1;
	return ut_until(t->sh->value[ACTOR_CHILD]) ?
		t->sh->value[ACTOR_CHILD] : -1;
}

/* The child starts with both tracers, which get no event of the clone(). */
static void child_is_traced(struct __test_metadata *_metadata,
			    struct two_data *self, long flags, long options)
{
	static const struct two_step steps[] = {
		{ TWO_TRAP, PTRACE_CONT }, { CHILD_ENDED }, TWO_END
	};
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t child = clone_with(self, flags, options);

	ASSERT_LT(0, child);
	EXPECT_STREQ(two_pair(p->t.pid, s->t.pid), two_tracers(child));
	t->sh->go[1] = 1;
	ASSERT_TRUE(two_play(child, p, steps, s, steps));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(CHILD_ENDED, t->sh->value[ACTOR_STATUS]);
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_F(tracers, clone_ptrace)
{
	child_is_traced(_metadata, self, CLONE_PTRACE, 0);
}

/* CLONE_UNTRACED is for what the options ask for. */
TEST_F(tracers, clone_ptrace_and_untraced)
{
	child_is_traced(_metadata, self, CLONE_PTRACE | CLONE_UNTRACED,
			PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE);
}

TEST_F(tracers, clone_untraced)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	pid_t child = clone_with(self, CLONE_UNTRACED, PTRACE_O_TRACEFORK |
				 PTRACE_O_TRACECLONE);

	ASSERT_LT(0, child);
	EXPECT_EQ(0, ut_status(child, "TracerPid:"));
	EXPECT_STREQ("", two_tracers(child));
	EXPECT_EQ(-ECHILD, two_poll(p, child));
	EXPECT_EQ(-ECHILD, two_poll(s, child));
	t->sh->go[1] = 1;
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(CHILD_ENDED, t->sh->value[ACTOR_STATUS]);
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

/* Function of a target: vfork() with SIGCHLD ignored. */
static int vforks(struct ut_target *t)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	begin(t);
	pid = vfork();
	if (!pid)
		_exit(ACTOR_CHILD_CODE);
	t->sh->value[ACTOR_CHILD] = pid;
	t->sh->value[ACTOR_DONE]++;
	return ut_spin(t);
}

/* The message is the number that the child had, and the child is gone. */
TEST_F(tracers, vfork_done_of_a_child_that_is_gone)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	long child;

	ASSERT_TRUE(ut_spawn(t, vforks));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_EQ(0, two_seize(p, t->pid, PTRACE_O_TRACEVFORKDONE));
	ASSERT_EQ(0, two_seize(s, t->pid, PTRACE_O_TRACEVFORKDONE));
	t->sh->go[0] = 1;
	ASSERT_EQ(two_event(PTRACE_EVENT_VFORK_DONE), two_wait(p, t->pid));
	child = two_message(p, t->pid);
	ASSERT_LT(0, child);
	/* The further tracer gets it now, or when the first one resumes. */
	ASSERT_TRUE(ut_until(!ut_state(child)));
	ASSERT_EQ(0, two_cont(p, t->pid, 0));
	ASSERT_EQ(two_event(PTRACE_EVENT_VFORK_DONE), two_wait(s, t->pid));
	EXPECT_EQ(child, two_message(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_TRUE(actor_did(t, 1));
	EXPECT_EQ(child, t->sh->value[ACTOR_CHILD]);
}

/* Steps */

/* Both tracers stop the task at SIGHUP and go on by their tables of steps. */
static void steps_from_a_signal(struct __test_metadata *_metadata,
				struct two_data *self,
				const struct two_step *of_p,
				const struct two_step *of_s)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_TRUE(two_play(t->pid, p, of_p, s, of_s));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

/* Each of the two makes four steps of the same instructions. */
TEST_F(tracers, both_step)
{
	static const struct two_step steps[] = {
		{ two_stop(SIGHUP), PTRACE_SINGLESTEP, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	};

	steps_from_a_signal(_metadata, self, steps, steps);
}

/* One tracer steps on after the other has made its steps. */
TEST_F(either, steps_longer)
{
	static const struct two_step one[] = {
		{ two_stop(SIGHUP), PTRACE_SINGLESTEP, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	}, three[] = {
		{ two_stop(SIGHUP), PTRACE_SINGLESTEP, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_SINGLESTEP },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	};
	struct two_tracer *longer = self->one, *other = self->other;
	struct ut_target *t = self->t;

	ASSERT_TRUE(either_seize(self, 0));
	ASSERT_EQ(0, kill(t->pid, SIGHUP));
	ASSERT_TRUE(two_play(t->pid, longer, three, other, one));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(longer, t->pid));
	EXPECT_TRUE(two_quiet(other, t->pid));
}

/* Steps from branch to branch are reported as single steps are. */
TEST_F(tracers, block_step_of_the_further)
{
	static const struct two_step goes_on[] = {
		{ two_stop(SIGHUP), PTRACE_CONT, SIGHUP }, TWO_END
	}, steps[] = {
		{ two_stop(SIGHUP), PTRACE_SINGLEBLOCK, SIGHUP },
		{ two_stop(SIGTRAP), PTRACE_SINGLEBLOCK },
		{ two_stop(SIGTRAP), PTRACE_CONT },
		TWO_END
	};

	steps_from_a_signal(_metadata, self, goes_on, steps);
}

/* Requests that are the same for all tracers */

#define ANSWER		512	/* bytes, the most of an answer */
#define ARGS_AT		120	/* of bytes[]: after the answer */
#define MASK_SIZE	8	/* of the kernel's sigset_t */

static const struct request {
	const char *name;
	long request;
	unsigned long addr;
	size_t size;
	long ret;
} requests[] = {
	{ "GETSIGMASK", PTRACE_GETSIGMASK, MASK_SIZE, MASK_SIZE, 0 },
	{ "PEEKSIGINFO", PTRACE_PEEKSIGINFO, 0, sizeof(siginfo_t), 1 },
	{ "GETREGS", PTRACE_GETREGS, 0, sizeof(struct user_regs_struct), 0 },
	{ "GETFPREGS", PTRACE_GETFPREGS, 0,
	  sizeof(struct user_fpregs_struct), 0 },
	{ "GETREGSET PRSTATUS", PTRACE_GETREGSET, NT_PRSTATUS,
	  sizeof(struct user_regs_struct), 0 },
	{ "GETREGSET PRFPREG", PTRACE_GETREGSET, NT_PRFPREG,
	  sizeof(struct user_fpregs_struct), 0 },
	{ "GET_RSEQ_CONFIGURATION", PTRACE_GET_RSEQ_CONFIGURATION, 24, 24, 24 },
	{ "GET_SYSCALL_USER_DISPATCH_CONFIG",
	  PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, 32, 32, 0 },
	{ "PEEKUSER rip", PTRACE_PEEKUSER, offsetof(struct user, regs.rip),
	  sizeof(long), 0 },
	{ "PEEKUSER rsp", PTRACE_PEEKUSER, offsetof(struct user, regs.rsp),
	  sizeof(long), 0 },
};

/* Make the request; its answer is in @answer. */
static long ask(struct two_tracer *tr, pid_t pid, const struct request *r,
		char *answer)
{
	struct __ptrace_peeksiginfo_args args = {
		.flags = PTRACE_PEEKSIGINFO_SHARED, .nr = 1,
	};
	unsigned long addr = r->addr;

	/* The tracer has this memory at the same address. */
	if (r->request == PTRACE_PEEKSIGINFO) {
		addr = (unsigned long)&tr->call->bytes[ARGS_AT];
		memcpy(&tr->call->bytes[ARGS_AT], &args, sizeof(args));
	}
	memset(answer, 0x5a, ANSWER);
	return two_copy(tr, r->request, pid, addr, answer, r->size);
}

static long set_mask(struct two_tracer *tr, pid_t pid, unsigned long mask)
{
	return two_copy(tr, PTRACE_SETSIGMASK, pid, MASK_SIZE, &mask,
			MASK_SIZE);
}

static long get_mask(struct two_tracer *tr, pid_t pid)
{
	long mask = 0;

	return two_copy(tr, PTRACE_GETSIGMASK, pid, MASK_SIZE, &mask,
			MASK_SIZE) ?: mask;
}

/* Check that each request is refused. */
static bool all_refused(struct two_tracer *tr, pid_t pid)
{
	static char answer[ANSWER];
	bool refused = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		long ret = ask(tr, pid, &requests[i], answer);

		if (ret == -ESRCH)
			continue;
		printf("# %s: %ld\n", requests[i].name, ret);
		refused = false;
	}
	return refused && set_mask(tr, pid, 0) == -ESRCH;
}

/*
 * The first tracer and then the further one ask in their stops at the same
 * signal, between which the task does nothing.
 */
TEST_F(tracers, same_answers)
{
	static char of_p[ARRAY_SIZE(requests)][ANSWER], of_s[ANSWER];
	const long mask = 1L << (SIGWINCH - 1), other = 1L << (SIGURG - 1);
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;
	unsigned int i;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	EXPECT_TRUE(all_refused(p, t->pid));
	EXPECT_TRUE(all_refused(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(p, t->pid));
	/* This one stays in the queue, to be peeked at. */
	ASSERT_EQ(0, kill(t->pid, SIGUSR2));
	EXPECT_EQ(0, set_mask(p, t->pid, mask));
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		EXPECT_EQ(requests[i].ret, ask(p, t->pid, &requests[i],
					       of_p[i])) {
			TH_LOG("%s of the first tracer", requests[i].name);
		}
	}
	EXPECT_TRUE(all_refused(s, t->pid));

	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR1), two_wait(s, t->pid));
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		EXPECT_EQ(requests[i].ret, ask(s, t->pid, &requests[i],
					       of_s)) {
			TH_LOG("%s of the further tracer", requests[i].name);
		}
		EXPECT_EQ(0, memcmp(of_p[i], of_s, ANSWER)) {
			TH_LOG("%s differs", requests[i].name);
		}
	}
	EXPECT_EQ(mask, get_mask(s, t->pid));
	EXPECT_EQ(0, set_mask(s, t->pid, other));
	EXPECT_TRUE(all_refused(p, t->pid));

	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR1));
	ASSERT_EQ(two_stop(SIGUSR2), two_wait(p, t->pid));
	ASSERT_EQ(0, two_cont(p, t->pid, SIGUSR2));
	ASSERT_EQ(two_stop(SIGUSR2), two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, SIGUSR2));
	EXPECT_TRUE(ut_until(t->sh->value[ACTOR_USR1] == 1 &&
			     t->sh->value[ACTOR_USR2] == 1));
	EXPECT_TRUE(ut_runs(t));
	ASSERT_EQ(TWO_TRAP, two_interrupt(p, t->pid));
	EXPECT_EQ(other, get_mask(p, t->pid));
}

/* Job control */

/* Send a signal that @n tracers pass on, one after the other. */
static bool all_pass(struct two_tracer **tr, int n, pid_t pid, int sig)
{
	int i;

	for (i = 0; i < n; i++)
		if (two_wait(tr[i], pid) != two_stop(sig) ||
		    two_cont(tr[i], pid, sig))
			return false;
	return true;
}

static const struct two_step listens[] = {
	{ two_group(SIGSTOP), PTRACE_LISTEN }, TWO_END
}, told[] = {
	{ TWO_TRAP, PTRACE_CONT }, TWO_END
};

/* The further tracer listens when SIGCONT has ended the stop that it read. */
static void listens_too_late(struct __test_metadata *_metadata,
			     struct two_data *self, bool alone)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct two_tracer *tr[] = { p, s };
	struct ut_target *t = &self->t;
	int from = alone ? 1 : 0;

	ASSERT_TRUE(two_seize_both(self, 0, 0));
	if (alone)
		ASSERT_TRUE(two_leave(p, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(all_pass(tr + from, 2 - from, t->pid, SIGSTOP));
	if (!alone) {
		ASSERT_EQ(two_group(SIGSTOP), two_wait(p, t->pid));
		ASSERT_EQ(0, two_ptrace(p, PTRACE_LISTEN, t->pid, 0));
	}
	ASSERT_EQ(two_group(SIGSTOP), two_wait(s, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	/* The tracer has not read the SIGCONT yet, and gets the trap for it. */
	EXPECT_EQ(0, two_ptrace(s, PTRACE_LISTEN, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, t->pid));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	if (!alone) {
		ASSERT_EQ(TWO_TRAP, two_wait(p, t->pid));
		ASSERT_EQ(0, two_cont(p, t->pid, 0));
	}
	ASSERT_TRUE(all_pass(tr + from, 2 - from, t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
	EXPECT_TRUE(two_quiet(s, t->pid));
}

TEST_F(tracers, listens_too_late)
{
	listens_too_late(_metadata, self, false);
}

TEST_F(tracers, listens_too_late_without_a_first)
{
	listens_too_late(_metadata, self, true);
}

/* Two tracers listen, and the third has a stop of its own. */
TEST_F(tracers, interrupt_beside_listeners)
{
	struct two_tracer *p = &self->p, *s = &self->s, *s2 = &self->s2;
	struct two_tracer *tr[] = { p, s, s2 };
	struct ut_target *t = &self->t;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(all_pass(tr, 3, t->pid, SIGSTOP));
	ASSERT_TRUE(two_play(t->pid, p, listens, s, listens));
	ASSERT_EQ(two_group(SIGSTOP), two_wait(s2, t->pid));
	ASSERT_EQ(0, two_ptrace(s2, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(two_quiet(s2, t->pid));

	ASSERT_EQ(two_group(SIGSTOP), two_interrupt(s2, t->pid));
	EXPECT_TRUE(two_has(s2, t->pid));
	EXPECT_TRUE(two_quiet(p, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_FALSE(two_has(p, t->pid));
	EXPECT_FALSE(two_has(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s2, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(two_quiet(s2, t->pid));
	EXPECT_TRUE(ut_still(t));

	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	ASSERT_TRUE(two_play(t->pid, p, told, s, told));
	ASSERT_EQ(TWO_TRAP, two_wait(s2, t->pid));
	ASSERT_EQ(0, two_cont(s2, t->pid, 0));
	ASSERT_TRUE(all_pass(tr, 3, t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* Without a first tracer, the interrupted task stops for job control again. */
TEST_F(tracers, interrupt_beside_a_listener_without_a_first)
{
	struct two_tracer *s = &self->s, *s2 = &self->s2;
	struct two_tracer *tr[] = { s, s2 };
	struct ut_target *t = &self->t;
	int i;

	ASSERT_TRUE(two_seize_all(self));
	ASSERT_TRUE(two_leave(&self->p, t->pid));
	ASSERT_EQ(0, kill(t->pid, SIGSTOP));
	ASSERT_TRUE(all_pass(tr, 2, t->pid, SIGSTOP));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(two_group(SIGSTOP), two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_ptrace(tr[i], PTRACE_LISTEN, t->pid, 0));
	}
	ASSERT_EQ(two_group(SIGSTOP), two_interrupt(s2, t->pid));
	EXPECT_TRUE(two_quiet(s, t->pid));
	EXPECT_FALSE(two_has(s, t->pid));
	ASSERT_EQ(0, two_ptrace(s2, PTRACE_LISTEN, t->pid, 0));
	EXPECT_TRUE(ut_still(t));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(TWO_TRAP, two_wait(tr[i], t->pid));
		ASSERT_EQ(0, two_cont(tr[i], t->pid, 0));
	}
	ASSERT_TRUE(all_pass(tr, 2, t->pid, SIGCONT));
	EXPECT_TRUE(ut_runs(t));
}

/* The end */

/* Elements of ut_shared.value of the target that reads the usage. */
enum { READ_STATUS, READ_USEC, READ_MAXRSS };

/* Function of a target: trace t->arg, and read what it has used. */
static int reads_usage(struct ut_target *t)
{
	struct rusage usage = {};
	int status = -1;

	if (ptrace(PTRACE_SEIZE, t->arg, 0, 0))
		return 1;
	ut_say(t);
	ut_await(t);
	if (wait4(t->arg, &status, __WALL, &usage) != t->arg)
		return 2;
	t->sh->value[READ_STATUS] = status;
	t->sh->value[READ_USEC] = usage.ru_utime.tv_sec * 1000000L +
				  usage.ru_utime.tv_usec;
	t->sh->value[READ_MAXRSS] = usage.ru_maxrss;
	return 0;
}

/* The user time of a process in microseconds. */
static long user_time(pid_t pid)
{
	unsigned long ticks = 0;
	char buf[1024], *p;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/stat", pid) <= 0)
		return -1;
	p = strrchr(buf, ')');
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu",
			 &ticks) != 1)
		return -1;
	return ticks * (1000000 / sysconf(_SC_CLK_TCK));
}

/* The usage is that of the dead task, whether or not the task is reaped. */
static void usage(struct __test_metadata *_metadata, struct two_data *self,
		  bool reaped)
{
	struct ut_target *t = &self->t, other = {};
	struct two_tracer *p = &self->p;
	long used = 0;

	ASSERT_TRUE(actor_spawn(t));
	ASSERT_EQ(0, two_seize(p, t->pid, 0));
	other.arg = t->pid;
	ASSERT_TRUE(ut_spawn(&other, reads_usage));
	ASSERT_TRUE(ut_hear(&other));
	ASSERT_TRUE(ut_until((used = user_time(t->pid)) > 0));
	ASSERT_EQ(0, kill(t->pid, SIGKILL));
	if (reaped) {
		ASSERT_EQ(two_killed(SIGKILL), two_wait(p, t->pid));
		ASSERT_TRUE(ut_reap(t, &self->status));
	}
	ASSERT_TRUE(ut_go(&other));
	ASSERT_TRUE(ut_reap(&other, &self->status));
	ASSERT_EQ(0, self->status);
	EXPECT_EQ(two_killed(SIGKILL), other.sh->value[READ_STATUS]);
	EXPECT_LE(used, other.sh->value[READ_USEC]);
	EXPECT_LT(0, other.sh->value[READ_MAXRSS]);
}

TEST_F(tracers, usage_of_a_dead_task)
{
	usage(_metadata, self, false);
}

TEST_F(tracers, usage_of_a_reaped_task)
{
	usage(_metadata, self, true);
}

/* Elements of ut_shared.value of the parent. */
enum { HAS_ASKED, HAS_SEEN };

static void asks(struct ut_shared *sh)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!sh->go[0])
		usleep(1000);
	sh->value[HAS_ASKED] = ptrace(PTRACE_TRACEME, 0, 0, 0) ? -errno : 1;
	while (!sh->go[1])
		usleep(1000);
	_exit(ACTOR_CODE);
}

/* Function of a target: the parent of a child, which ignores SIGCHLD. */
static int ignores_children(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int status = -1;
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid)
		asks(sh);
	sh->tid[0] = pid;
	ut_say(t);
	ut_await(t);
	sh->value[HAS_SEEN] = waitpid(pid, &status, 0) == pid ? status : -errno;
	ut_say(t);
	/* If the first tracer is late, the zombie must not go to init. */
	ut_await(t);
	return 0;
}

/*
 * The child of a process that ignores SIGCHLD calls PTRACE_TRACEME, beside the
 * first tracer.  As a tracer the parent reads the end.
 */
static void parent_ignores(struct __test_metadata *_metadata,
			   struct two_data *self, bool sleeps)
{
	struct two_tracer *p = &self->p;
	struct ut_target *t = &self->t;
	pid_t pid;

	ASSERT_TRUE(ut_spawn(t, ignores_children));
	ASSERT_TRUE(ut_hear(t));
	pid = t->sh->tid[0];
	ASSERT_EQ(0, two_seize(p, pid, 0));
	t->sh->go[0] = 1;
	ASSERT_TRUE(ut_until(t->sh->value[HAS_ASKED]));
	ASSERT_EQ(1, t->sh->value[HAS_ASKED]);
	EXPECT_STREQ(two_pair(p->t.pid, t->pid), two_tracers(pid));
	if (sleeps) {
		ASSERT_TRUE(ut_go(t));
		ASSERT_TRUE(ut_until(ut_asleep_in(t->pid, SYS_wait4)));
	}
	t->sh->go[1] = 1;
	EXPECT_EQ(ENDED, two_wait(p, pid));
	if (!sleeps)
		ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_hear(t));
	EXPECT_EQ(ENDED, t->sh->value[HAS_SEEN]);
	EXPECT_EQ(0, ut_state(pid));
	ASSERT_TRUE(ut_go(t));
	ASSERT_TRUE(ut_reap(t, &self->status));
}

TEST_F(tracers, parent_ignores_sigchld)
{
	parent_ignores(_metadata, self, false);
}

TEST_F(tracers, parent_ignores_sigchld_and_sleeps)
{
	parent_ignores(_metadata, self, true);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a stop lasts until its tracer ends it
 *
 * Job control, signals and other tracers neither make the task run nor take the
 * stop from its tracer: each request is answered at once.  Job control and
 * signals are those of other processes, which no tracer can prevent.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/resource.h>

#include "sole.h"

#define GO_ON_MS	300	/* for what the other tracers do */

FIXTURE_VARIANT_ADD(tracers, beside) { .further = true, .beside = true };

/* Start a target of two threads, and let @s stop the leader. */
static bool stopped(struct two_data *self, const sole_variant *variant)
{
	struct ut_target *t = &self->t;

	return ut_spawn_threads(t, 2) && ut_thread_runs(t, 0) &&
	       !sole_seize(self, variant, t->pid, 0) &&
	       two_interrupt(&self->s, t->pid) == TWO_TRAP;
}

/* Check that @tr has @pid in its stop at once, and no other report to read. */
static bool has_at_once(struct two_tracer *tr, pid_t pid)
{
	long begin = ut_now_ms();

	return two_has(tr, pid) && ut_now_ms() - begin < TWO_AT_ONCE_MS &&
	       two_poll(tr, pid) == TWO_NONE;
}

static bool keeps(struct two_data *self)
{
	return ut_thread_still(&self->t, 0) &&
	       has_at_once(&self->s, self->t.pid);
}

/* The other tracers pass each stop that they read. */
static void others_pass(struct two_data *self, bool listen)
{
	long end = ut_now_ms() + GO_ON_MS;

	while (ut_now_ms() < end) {
		two_pass(&self->p, self->t.pid, listen);
		two_pass(&self->s2, self->t.pid, listen);
		ut_sleep_ms(2);
	}
}

/* Check that the tracee runs once all tracers pass their stops. */
static bool goes_on(struct two_data *self)
{
	long old = self->t.sh->thread_counter[0];
	pid_t pid = self->t.pid;

	if (two_cont(&self->s, pid, 0))
		return false;
	return ut_until((two_pass(&self->p, pid, false),
			 two_pass(&self->s2, pid, false),
			 two_pass(&self->s, pid, false),
			 self->t.sh->thread_counter[0] != old));
}

/* The group stops and goes on, while the tracee is in the stop of @s. */
static void group_stop(struct __test_metadata *_metadata,
		       struct two_data *self, int thread, bool listen)
{
	struct ut_target *t = &self->t;
	pid_t tid = t->sh->tid[thread];

	EXPECT_TRUE(keeps(self));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, tid, SIGSTOP));
	/* The tracee takes no signal in its stop, but the sibling does. */
	if (tid != t->pid)
		ASSERT_TRUE(ut_until(ut_state(tid) == 'T' ||
				     ut_state(tid) == 't'));
	others_pass(self, listen);
	ASSERT_TRUE(keeps(self)) {
		TH_LOG("after SIGSTOP");
	}
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	others_pass(self, listen);
	ASSERT_TRUE(keeps(self)) {
		TH_LOG("after SIGCONT");
	}
	EXPECT_TRUE(ut_thread_runs(t, 1));
	EXPECT_TRUE(goes_on(self));
}

TEST_F(tracers, group_stop_of_a_sibling)
{
	ASSERT_TRUE(stopped(self, variant));
	group_stop(_metadata, self, 1, false);
}

TEST_F(tracers, group_stop_of_a_sibling_beside_listeners)
{
	ASSERT_TRUE(stopped(self, variant));
	ASSERT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	group_stop(_metadata, self, 1, true);
}

TEST_F(tracers, group_stop_of_a_sibling_beside_another)
{
	ASSERT_TRUE(stopped(self, variant));
	ASSERT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	group_stop(_metadata, self, 1, false);
}

TEST_F(tracers, stop_signal_for_the_tracee)
{
	ASSERT_TRUE(stopped(self, variant));
	group_stop(_metadata, self, 0, false);
}

TEST_F(tracers, stop_signal_for_the_tracee_beside_listeners)
{
	ASSERT_TRUE(stopped(self, variant));
	ASSERT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	group_stop(_metadata, self, 0, true);
}

TEST_F(tracers, signals)
{
	static const int signals[] = { SIGWINCH, SIGCONT, SIGTSTP, SIGCONT };
	unsigned int i;

	ASSERT_TRUE(stopped(self, variant));
	ASSERT_EQ(0, two_seize(&self->s2, self->t.pid, 0));
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		ASSERT_EQ(0, kill(self->t.pid, signals[i]));
		others_pass(self, false);
		ASSERT_TRUE(keeps(self)) {
			TH_LOG("after signal %d", signals[i]);
		}
	}
	EXPECT_TRUE(goes_on(self));
}

/* Another tracer stops the tracee and resumes it. */
static void other_stops(struct __test_metadata *_metadata,
			struct two_data *self, struct two_tracer *other,
			long request)
{
	pid_t pid = self->t.pid;

	ASSERT_EQ(0, two_ptrace(other, PTRACE_INTERRUPT, pid, 0));
	/* The report may come now or later. */
	if (ut_stays(two_poll(other, pid) == TWO_NONE))
		return;
	EXPECT_TRUE(has_at_once(other, pid));
	ASSERT_TRUE(keeps(self));
	ASSERT_EQ(0, two_ptrace(other, request, pid, 0));
	ASSERT_TRUE(keeps(self)) {
		TH_LOG("after request %#lx", request);
	}
}

TEST_F(tracers, stops_of_others)
{
	struct two_tracer *s2 = &self->s2;
	pid_t pid;

	ASSERT_TRUE(stopped(self, variant));
	pid = self->t.pid;
	ASSERT_EQ(0, two_seize(s2, pid, 0));
	ASSERT_TRUE(keeps(self));
	other_stops(_metadata, self, s2, PTRACE_CONT);
	other_stops(_metadata, self, s2, PTRACE_SYSCALL);
	other_stops(_metadata, self, s2, PTRACE_SINGLESTEP);
	if (variant->beside)
		other_stops(_metadata, self, &self->p, PTRACE_CONT);
	other_stops(_metadata, self, s2, PTRACE_DETACH);
	EXPECT_TRUE(goes_on(self));
}

/* The other tracer dies, in its stop or not. */
TEST_F(tracers, end_of_others)
{
	struct two_tracer *s2 = &self->s2;

	ASSERT_TRUE(stopped(self, variant));
	ASSERT_EQ(0, two_seize(s2, self->t.pid, 0));
	ASSERT_EQ(0, two_ptrace(s2, PTRACE_INTERRUPT, self->t.pid, 0));
	ASSERT_EQ(0, kill(s2->t.pid, SIGKILL));
	s2->lost = true;
	ASSERT_TRUE(ut_reap(&s2->t, &self->status));
	ASSERT_TRUE(keeps(self));
	if (variant->beside) {
		ASSERT_EQ(0, kill(self->p.t.pid, SIGKILL));
		self->p.lost = true;
		ASSERT_TRUE(ut_reap(&self->p.t, &self->status));
		ASSERT_TRUE(keeps(self));
	}
	EXPECT_TRUE(goes_on(self));
}

/* A group stop at a system call */

static void *counts(void *arg)
{
	struct ut_shared *sh = arg;

	sh->tid[1] = gettid();
	for (;;)
		sh->thread_counter[1]++;
	return NULL;
}

/* Function of a target: the leader makes system calls, and has a sibling. */
static int calls(struct ut_target *t)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, counts, t->sh))
		return 97;
	ut_say(t);
	while (!t->sh->quit) {
		ut_mark(0);
		t->sh->thread_counter[0]++;
	}
	return 0;
}

/*
 * A group stop begins in the stop for a system call.  The tracer gets it after
 * it has resumed the task.
 */
TEST_F(tracers, group_stop_in_a_system_call)
{
	struct two_tracer *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn(t, calls));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(ut_thread_runs(t, 1));
	ASSERT_EQ(0, sole_seize(self, variant, t->pid,
				PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	ASSERT_EQ(0, syscall(SYS_tgkill, t->pid, t->sh->tid[1], SIGSTOP));
	ASSERT_TRUE(ut_until(ut_state(t->sh->tid[1]) == 'T'));
	ASSERT_TRUE(keeps(self));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	if (variant->beside)
		ASSERT_EQ(two_group(SIGSTOP), two_wait(&self->p, t->pid));
	ASSERT_EQ(two_group(SIGSTOP), two_wait(s, t->pid));
	EXPECT_TRUE(keeps(self));
	ASSERT_EQ(0, kill(t->pid, SIGCONT));
	if (variant->beside)
		ASSERT_EQ(0, two_cont(&self->p, t->pid, 0));
	EXPECT_TRUE(goes_on(self));
}

/* A signal that cannot be caught, from a filter */

/* Function of a target: the marker call kills this process. */
static int is_killed(struct ut_target *t)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, UT_MARK_NR, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { ARRAY_SIZE(insns), insns };
	struct rlimit none = {};

	if (setrlimit(RLIMIT_CORE, &none) ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		return 97;
	ut_say(t);
	while (!t->sh->go[0])
		t->sh->counter++;
	ut_mark(0);
	return 98;
}

/* The tracee is asked to stop before the signal, and dies after the stop. */
TEST_F(tracers, stop_before_an_immutable_signal)
{
	struct two_tracer *p = &self->p, *s = &self->s;
	struct ut_target *t = &self->t;

	ASSERT_TRUE(ut_spawn(t, is_killed));
	ASSERT_TRUE(ut_hear(t));
	ASSERT_TRUE(ut_runs(t));
	ASSERT_EQ(0, sole_seize(self, variant, t->pid,
				PTRACE_O_TRACESYSGOOD));
	ASSERT_EQ(TWO_TRAP, two_interrupt(s, t->pid));
	ASSERT_EQ(0, two_next(s, t->pid));
	t->sh->go[0] = 1;
	ASSERT_EQ(TWO_SYSGOOD, two_wait(s, t->pid));
	/* For the time after the entry stop, in which the filter runs. */
	ASSERT_EQ(0, two_ptrace(s, PTRACE_INTERRUPT, t->pid, 0));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	ASSERT_EQ(TWO_TRAP, two_wait(s, t->pid));
	EXPECT_TRUE(ut_stays(has_at_once(s, t->pid)));
	EXPECT_EQ(0, waitpid(t->pid, NULL, WNOHANG));
	ASSERT_EQ(0, two_cont(s, t->pid, 0));
	EXPECT_EQ(two_killed(SIGSYS), two_wait(s, t->pid) & 0x7f);
	if (variant->beside)
		EXPECT_EQ(two_killed(SIGSYS), two_wait(p, t->pid) & 0x7f);
	EXPECT_TRUE(ut_reap(t, &self->status));
}

TEST_HARNESS_MAIN

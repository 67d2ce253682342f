// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace, asked for anything
 *
 * One process makes the random calls of calls.h, with a second thread, while
 * the targets fork, execute a program, get signals, exit and become
 * undumpable.  Where the kernel can inject faults, some calls are repeated with
 * their first allocation failing, then the second, and so on.
 *
 * In the end nothing may be left of the sessions: no engine, and nothing that
 * the user is charged with.  Complaints of the kernel are found by the runner.
 *
 * From the environment: SEED=N repeats the calls of a run, as far as they do
 * not depend on what the targets and the second thread have done, and
 * DURATION=N is how long it takes, in seconds.
 */
#include <sys/prctl.h>
#include <time.h>

#include <linux/capability.h>

#include "calls.h"

/* Calls after which targets are started anew. */
#define ROUND		2000

static pid_t target[TARGETS];

static void fail(const char *why)
{
	printf("# SEED=%llu step %llu, %s%s: %s\n", seed, step,
	       is_rival ? "second thread, " : "", doing ? doing->name : "end",
	       why);
	printf("not ok 1 fuzz\n");
	fflush(stdout);
	_exit(1);
}

static const struct operation *any_operation(void)
{
	return pick(session_operations, N_OF(session_operations));
}

static pid_t pid_to_signal(int i)
{
	return target[i];
}

/* Targets */

static void be_target(int i)
{
	state += i + 1;
	for (;;)
		if (one_in(9))
			prctl(PR_SET_DUMPABLE, below(2));
		else
			act();
}

static void close_sessions(void)
{
	int s;

	for (s = 0; s < SESSIONS; s++)
		close(sessions[s]);
}

/* Some targets have the sessions open that there are when they begin. */
static bool inherits(int i)
{
	return i % 2;
}

static void start_targets(void)
{
	int i;

	for (i = 0; i < TARGETS; i++) {
		if (target[i]) {
			kill(target[i], SIGKILL);
			waitpid(target[i], NULL, 0);
			close(pidfds[i]);
		}
		target[i] = fork();
		if (!target[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGALRM, SIG_DFL);
			signal(SIGUSR1, on_signal);
			alarm(0);
			if (!inherits(i))
				close_sessions();
			be_target(i);
		}
		pidfds[i] = syscall(SYS_pidfd_open, target[i], 0);
	}
}

/* Let the rings count against RLIMIT_MEMLOCK. */
static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		fail("capget");
	data[0].effective &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &head, data) || prctl(PR_SET_DUMPABLE, 1))
		fail("capset");
}

static void set_up(void)
{
	open_files();
	if (!fail_nth_begin(false))
		nth = fail_nth_open(0);
	open_sessions();
	start_targets();
}

/* Check that the closed sessions have left the targets that are alive. */
static void check_targets(void)
{
	siginfo_t info;
	int i;

	for (i = 0; i < TARGETS; i++) {
		kill(target[i], inherits(i) ? SIGKILL : SIGCONT);
		if (inherits(i))
			waitid(P_PID, target[i], NULL, WEXITED | WNOWAIT);
	}
	for (i = 0; i < TARGETS; i++) {
		info.si_pid = 0;
		waitid(P_PID, target[i], &info, WEXITED | WNOWAIT | WNOHANG);
		if (!info.si_pid && !left_no_engine(target[i]))
			fail("an engine is left on a target");
	}
}

static void tear_down(rlim_t least)
{
	int i;

	doing = NULL;
	for (i = 0; i < SESSIONS; i++)
		unmap_session(i);
	close_sessions();
	alarm(0);
	check_targets();
	if (!left_no_engine(getpid()))
		fail("an engine is left");
	if (!left_no_rings(least))
		fail("the user is charged with rings that are gone");
	start_targets();
	if (!left_no_charge(pidfds[0]))
		fail("the user is charged with engines that are gone");
	for (i = 0; i < TARGETS; i++) {
		kill(target[i], SIGKILL);
		waitpid(target[i], NULL, 0);
	}
	if (nth >= 0)
		fail_nth_end();
}

int main(void)
{
	const char *limit = getenv("DURATION");
	time_t end = time(NULL) + (limit ? atoi(limit) : 10);
	__u64 number_of_rival = 2;
	pthread_t rival;
	rlim_t least;

	printf("TAP version 13\n1..1\n");
	if (access("/dev/utrace", R_OK | W_OK)) {
		printf("ok 1 fuzz # SKIP no /dev/utrace\n");
		return 0;
	}
	take_seed();
	begin_numbers(1);
	signal(SIGALRM, on_alarm);
	drop_ipc_lock();
	least = left_memlock();
	set_up();
	if (pthread_create(&rival, NULL, be_rival, &number_of_rival))
		fail("pthread_create");
	while (time(NULL) < end) {
		one_step();
		if (!(step % ROUND))
			start_targets();
	}
	doing = NULL;
	alarm(LIMIT_SECONDS * ut_patience());
	caller->over = true;
	pthread_join(rival, NULL);
	tear_down(least);
	printf("# SEED=%llu: %llu calls%s\n", seed, step,
	       nth < 0 ? "" : ", some without memory");
	printf("ok 1 fuzz\n");
	return 0;
}

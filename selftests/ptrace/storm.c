// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tracers that come, go and die on tasks that do the same
 *
 * Nothing is known of the order here.  All that is asked is that each process
 * ends when it is killed, that no call of a tracer lasts for ever, and that
 * tasks have had several tracers at a time.  DURATION in the environment is the
 * number of seconds, and SEED begins the random numbers.
 */
#include "two.h"

#define WORKERS		4
#define VICTIMS		3
#define STEPS		60	/* of a tracer */
#define NO_PID		0

struct storm {
	_Atomic int over;
	_Atomic pid_t victim[VICTIMS];
	_Atomic long lives[VICTIMS];	/* victims that have ended */
	_Atomic long rounds[WORKERS];	/* tracers that have ended */
	_Atomic long attached;
	_Atomic long beside;		/* attached beside another tracer */
	_Atomic long stops;
	_Atomic long hung;
};

static struct storm *sh;
static unsigned int dice;

static int storm_seconds(void)
{
	const char *text = getenv("DURATION");

	return text ? atoi(text) : 10;
}

static void storm_seed(unsigned int n)
{
	const char *text = getenv("SEED");

	dice = (text ? strtoul(text, NULL, 0) : 1) * 2654435761U + n * 40503U;
}

static unsigned int any(unsigned int n)
{
	dice = dice * 1664525U + 1013904223U;
	return (dice >> 8) % n;
}

/* Wait for a child of this process, killing it when the time is over. */
static bool end_of(pid_t pid)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;

	while (waitpid(pid, NULL, WNOHANG | __WALL) != pid) {
		if (sh->over)
			kill(pid, SIGKILL);
		if (ut_now_ms() > end) {
			sh->hung++;
			return false;
		}
		ut_sleep_ms(1);
	}
	return true;
}

static void nothing(int sig)
{
}

static void *thread_main(void *arg)
{
	ut_mark(0);
	return arg;
}

/* What a victim does once. */
static void one_action(void)
{
	char * const argv[] = { (char *)"helper", (char *)"exit",
				(char *)"0", NULL };
	char * const envp[] = { NULL };
	pthread_t thread;
	pid_t pid;

	switch (any(6)) {
	case 0:
		ut_fork_wait(1);
		break;
	case 1:
		pid = vfork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
		break;
	case 2:
		if (!pthread_create(&thread, NULL, thread_main, NULL))
			pthread_join(thread, NULL);
		break;
	case 3:
		raise(SIGUSR1);
		break;
	case 4:
		ut_mark(1);
		break;
	case 5:
		if (!any(20))
			execve(ut_helper(), argv, envp);
		break;
	}
}

static void be_victim(unsigned int seed)
{
	int i, n;

	ut_be_child();
	storm_seed(seed);
	signal(SIGUSR1, nothing);
	n = 20 + any(200);
	for (i = 0; i < n && !sh->over; i++)
		one_action();
	_exit(0);
}

/* Keep a victim alive; its number is no victim's before it is reaped. */
static void keep(int k)
{
	unsigned int seed = 1000 * k;
	pid_t pid;

	ut_be_child();
	while (!sh->over) {
		pid = fork();
		if (!pid)
			be_victim(seed);
		seed++;
		sh->victim[k] = pid;
		while (!sh->over) {
			siginfo_t info = {};

			waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG);
			if (info.si_pid)
				break;
			ut_sleep_ms(1);
		}
		sh->victim[k] = NO_PID;
		if (!end_of(pid))
			break;
		sh->lives[k]++;
	}
	_exit(0);
}

/* Answer one report. */
static void answer(pid_t pid, int status)
{
	static const int requests[] = {
		PTRACE_CONT, PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SYSCALL,
		PTRACE_SINGLESTEP, PTRACE_LISTEN, PTRACE_DETACH,
	};
	struct user_regs_struct regs;
	int sig = WSTOPSIG(status);

	sh->stops++;
	if (!any(4))
		ptrace(PTRACE_GETREGS, pid, 0, &regs);
	if (sig == SIGTRAP || status >> 16 || !any(8))
		sig = 0;
	if (!ptrace(requests[any(ARRAY_SIZE(requests))], pid, 0, sig))
		return;
	/* PTRACE_LISTEN is not for each stop. */
	ptrace(PTRACE_CONT, pid, 0, sig);
}

static bool come(pid_t pid)
{
	static const long options[] = {
		PTRACE_O_TRACESYSGOOD, PTRACE_O_TRACEFORK, PTRACE_O_TRACEVFORK,
		PTRACE_O_TRACECLONE, PTRACE_O_TRACEEXEC, PTRACE_O_TRACEEXIT,
		PTRACE_O_TRACEVFORKDONE,
	};
	long mask = any(30) ? 0 : PTRACE_O_EXITKILL, ret;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (any(2))
			mask |= options[i];
	if (any(3))
		ret = ptrace(PTRACE_SEIZE, pid, 0, mask);
	else
		ret = ptrace(PTRACE_ATTACH, pid, 0, 0);
	if (ret)
		return false;
	sh->attached++;
	if (*two_tracers(pid))
		sh->beside++;
	return true;
}

/* One tracer: it comes, makes some steps, and leaves or dies. */
static void be_tracer(unsigned int seed)
{
	int i, status;
	pid_t pid, got;

	ut_be_child();
	storm_seed(seed);
	pid = sh->victim[any(VICTIMS)];
	if (pid == NO_PID || !come(pid))
		_exit(0);
	for (i = 0; i < STEPS && !sh->over; i++) {
		if (!any(6))
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
		got = waitpid(-1, &status, WNOHANG | __WALL);
		if (got < 0)
			break;
		if (!got)
			usleep(200);
		else if (WIFSTOPPED(status))
			answer(got, status);
	}
	if (any(2))
		_exit(0);
	raise(SIGKILL);
}

static void work(int k)
{
	unsigned int seed = 100000 * (k + 1);
	pid_t pid;

	ut_be_child();
	while (!sh->over) {
		pid = fork();
		if (!pid)
			be_tracer(seed);
		seed++;
		if (!end_of(pid))
			break;
		sh->rounds[k]++;
	}
	_exit(0);
}

/* Send signals to the victims. */
static void disturb(void)
{
	static const int signals[] = {
		SIGKILL, SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGUSR1, SIGUSR1,
	};

	ut_be_child();
	storm_seed(77);
	while (!sh->over) {
		pid_t pid = sh->victim[any(VICTIMS)];

		if (pid != NO_PID)
			kill(pid, signals[any(ARRAY_SIZE(signals))]);
		usleep(3000);
	}
	_exit(0);
}

/* Does everything end that is left of the storm? */
static bool all_end(void)
{
	long end = ut_now_ms() + 2 * UT_DEADLINE_MS;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, NULL, WNOHANG | __WALL);
		if (pid < 0)
			return true;
		if (!pid && ut_now_ms() > end)
			return false;
		if (!pid)
			ut_sleep_ms(5);
	}
}

FIXTURE(storm) {
	pid_t pid[WORKERS + VICTIMS + 1];
};

FIXTURE_SETUP(storm)
{
	if (access(TWO_SYSCTL, W_OK))
		SKIP(return, "no " TWO_SYSCTL);
	ASSERT_EQ(0, two_limit(TWO_LIMIT));
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sh);
	/* Orphans are children of the test then. */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	ut_helper();
}

FIXTURE_TEARDOWN(storm)
{
	unsigned int i;

	two_limit(1);
	for (i = 0; i < ARRAY_SIZE(self->pid); i++)
		if (self->pid[i] && !waitpid(self->pid[i], NULL, WNOHANG))
			kill(self->pid[i], SIGKILL);
}

TEST_F_TIMEOUT(storm, all_end, storm_seconds() + 120 * ut_patience())
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(self->pid); i++) {
		self->pid[i] = fork();
		ASSERT_LE(0, self->pid[i]);
		if (self->pid[i])
			continue;
		if (i < WORKERS)
			work(i);
		if (i < WORKERS + VICTIMS)
			keep(i - WORKERS);
		disturb();
	}
	ut_sleep_ms(1000L * storm_seconds());
	sh->over = 1;
	EXPECT_TRUE(all_end());
	memset(self->pid, 0, sizeof(self->pid));
	EXPECT_EQ(0, sh->hung);
	for (i = 0; i < WORKERS; i++)
		EXPECT_LT(1, sh->rounds[i]);
	for (i = 0; i < VICTIMS; i++)
		EXPECT_LT(1, sh->lives[i]);
	EXPECT_LT(0, sh->beside);
	TH_LOG("%ld attaches, %ld beside another tracer, %ld stops",
	       sh->attached, sh->beside, sh->stops);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - tracers that attach, detach and die, on tasks that start
 * and die
 *
 * The order is random.  The test checks only that each process ends when it is
 * killed, that no call of a tracer lasts for ever, that tasks have had several
 * tracers at a time, and that nothing is charged in the end.
 *
 * DURATION in the environment is the number of seconds, and SEED begins the
 * random numbers.
 */
#include "two.h"

#define WORKERS		4
#define VICTIMS		3
#define STEPS		60	/* of a tracer */
#define WRITES		200	/* of the registers, in one stop */
#define NO_PID		0
#define ENGINES		"/proc/sys/user/max_utrace_engines"

struct storm {
	_Atomic int over;
	_Atomic pid_t victim[VICTIMS];
	_Atomic pid_t tracer[WORKERS];
	_Atomic long lives[VICTIMS];	/* victims that have ended */
	_Atomic long rounds[WORKERS];	/* tracers that have ended */
	_Atomic long attached;
	_Atomic long beside;		/* attached beside another tracer */
	_Atomic long asked;		/* by PTRACE_TRACEME, beside tracers */
	_Atomic long stops;
	_Atomic int wrote[2];		/* the writers of this hunt */
	_Atomic long hunts;		/* in which both have written */
	_Atomic long strange;		/* errors that no write may give */
	_Atomic long hung;
};

static struct storm *sh;

static int storm_seconds(void)
{
	const char *text = getenv("DURATION");

	return text ? atoi(text) : 10;
}

static void storm_seed(unsigned int n)
{
	const char *text = getenv("SEED");

	two_dice = text ? strtoul(text, NULL, 0) : 1;
	two_dice = two_dice * 2654435761U + n * 40503U;
}

/*
 * fork() of a child that dies with its parent.  The caller ends if that fails:
 * kill(-1) would be for everybody.
 */
static pid_t must_fork(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0) {
		sh->hung++;
		_exit(1);
	}
	if (!pid) {
		ut_be_child();
		if (getppid() != parent)
			_exit(0);
	}
	return pid;
}

/*
 * Wait for a child of this process, and kill it when the time is over.  Other
 * processes find its number in *@slot until it is reaped.
 */
static bool end_of(pid_t pid, _Atomic pid_t *slot)
{
	long end = ut_now_ms() + UT_DEADLINE_MS;
	siginfo_t info = {};

	*slot = pid;
	while (ut_now_ms() < end) {
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT | WNOHANG);
		if (info.si_pid)
			break;
		if (sh->over)
			kill(pid, SIGKILL);
		ut_sleep_ms(1);
	}
	*slot = NO_PID;
	if (info.si_pid && waitpid(pid, NULL, 0) == pid)
		return true;
	sh->hung++;
	return false;
}

/* Have one process after the other play a role, and count those that end. */
static void repeat(void (*role)(unsigned int seed), unsigned int seed,
		   _Atomic pid_t *slot, _Atomic long *ended)
{
	pid_t pid;

	for (; !sh->over; seed++) {
		pid = must_fork();
		if (!pid)
			role(seed);
		if (!end_of(pid, slot))
			break;
		(*ended)++;
	}
	_exit(0);
}

static void nothing(int sig)
{
	(void)sig;
}

static void exec_helper(void)
{
	char * const argv[] = { (char *)"helper", (char *)"exit",
				(char *)"0", NULL };
	char * const envp[] = { NULL };

	execve(ut_helper(), argv, envp);
	_exit(99);
}

static void *thread_main(void *exec)
{
	ut_mark(0);
	if (exec)
		exec_helper();
	return NULL;
}

/* A thread of a process that may stop, or become another program. */
static void start_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_main, two_any(20) ? NULL : sh))
		return;
	if (!two_any(4))
		raise(SIGSTOP);
	pthread_join(thread, NULL);
}

static void make_child(void)
{
	pid_t pid = two_any(2) ? vfork() : must_fork();

	if (!pid && two_any(2))
		exec_helper();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* A child asks to be traced by its parent; it may have tracers already. */
static void be_asking_child(void)
{
	if (!ptrace(PTRACE_TRACEME, 0, 0, 0) && *two_tracers(getpid()))
		sh->asked++;
	raise(two_any(2) ? SIGUSR1 : SIGSTOP);
	ut_mark(0);
	if (!two_any(3))
		exec_helper();
	_exit(0);
}

static void trace_child(void)
{
	pid_t pid = must_fork();
	int status;

	if (!pid)
		be_asking_child();
	/* wait(2) reports only stops for the tracer, and the end. */
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status))
		ptrace(two_any(2) ? PTRACE_CONT : PTRACE_SYSCALL, pid, 0,
		       WSTOPSIG(status) == SIGUSR1 ? SIGUSR1 : 0);
}

/* What a victim does once. */
static void one_action(void)
{
	switch (two_any(5)) {
	case 0:
	case 1:
		make_child();
		break;
	case 2:
		start_thread();
		break;
	case 3:
		trace_child();
		break;
	case 4:
		raise(SIGUSR1);
		ut_mark(1);
		if (!two_any(20))
			exec_helper();
		break;
	}
}

static void be_victim(unsigned int seed)
{
	int n;

	storm_seed(seed);
	signal(SIGUSR1, nothing);
	for (n = 20 + two_any(200); n && !sh->over; n--)
		one_action();
	_exit(0);
}

static long any_options(void)
{
	static const long options[] = {
		PTRACE_O_TRACESYSGOOD, PTRACE_O_TRACEFORK, PTRACE_O_TRACEVFORK,
		PTRACE_O_TRACECLONE, PTRACE_O_TRACEEXEC, PTRACE_O_TRACEEXIT,
		PTRACE_O_TRACEVFORKDONE,
	};
	long mask = two_any(30) ? 0 : PTRACE_O_EXITKILL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (two_any(2))
			mask |= options[i];
	return mask;
}

/* Write the registers of a stopped task as they are; false if it is gone. */
static bool write_registers(pid_t pid, const struct user_regs_struct *regs)
{
	if (!ptrace(PTRACE_SETREGS, pid, 0, regs) &&
	    !ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rip),
		    regs->rip) &&
	    !ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, regs.rbx),
		    regs->rbx))
		return true;
	if (errno != ESRCH)
		sh->strange++;
	return false;
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
	/* This is how a tracer without PTRACE_SEIZE gets options. */
	if (!two_any(4))
		ptrace(PTRACE_SETOPTIONS, pid, 0, any_options());
	if (!two_any(4) && !ptrace(PTRACE_GETREGS, pid, 0, &regs))
		write_registers(pid, &regs);
	if (sig == SIGTRAP || status >> 16 || !two_any(8))
		sig = 0;
	/* PTRACE_LISTEN is not for each stop. */
	if (ptrace(requests[two_any(ARRAY_SIZE(requests))], pid, 0, sig))
		ptrace(PTRACE_CONT, pid, 0, sig);
}

static bool come(pid_t pid)
{
	if (two_any(2) ? ptrace(PTRACE_SEIZE, pid, 0, any_options()) :
		     ptrace(PTRACE_ATTACH, pid, 0, 0))
		return false;
	sh->attached++;
	if (*two_tracers(pid))
		sh->beside++;
	return true;
}

/* One tracer: it attaches, makes some steps, and detaches or dies. */
static void be_tracer(unsigned int seed)
{
	int i, status;
	pid_t pid, got;

	storm_seed(seed);
	pid = sh->victim[two_any(VICTIMS)];
	if (pid == NO_PID || !come(pid))
		_exit(0);
	for (i = 0; i < STEPS && !sh->over; i++) {
		if (!two_any(6))
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
		got = waitpid(-1, &status, WNOHANG | __WALL);
		if (got < 0)
			break;
		if (!got)
			usleep(200);
		else if (WIFSTOPPED(status))
			answer(got, status);
	}
	if (two_any(2))
		_exit(0);
	raise(SIGKILL);
}

/*
 * A hunt: two tracers write the registers of a task, again and again, when
 * SIGKILL comes.  No write may reach a task that runs (CVE-2013-0871).
 */
static void be_writer(pid_t pid, int k)
{
	struct user_regs_struct regs;
	int i, status;

	storm_seed(pid + k);
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		sh->wrote[k] = -1;
	while (!ptrace(PTRACE_INTERRUPT, pid, 0, 0)) {
		if (waitpid(pid, &status, __WALL) != pid ||
		    !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, pid, 0, &regs))
			break;
		for (i = 0; i < WRITES && write_registers(pid, &regs); i++)
			sh->wrote[k] = 1;
		ptrace(two_any(2) ? PTRACE_CONT : PTRACE_SYSCALL, pid, 0, 0);
	}
	_exit(0);
}

/* The first tracer reaps the prey, or leaves it to this process. */
static bool hunt(void)
{
	pid_t prey = must_fork(), writer[2];
	_Atomic pid_t unused;
	bool good;
	int i;

	while (!prey)
		ut_mark(0);
	for (i = 0; i < 2; i++) {
		sh->wrote[i] = 0;
		writer[i] = must_fork();
		if (!writer[i])
			be_writer(prey, i);
	}
	ut_until((sh->wrote[0] && sh->wrote[1]) || sh->over);
	usleep(two_any(3000));
	kill(prey, SIGKILL);
	if (!two_any(8))
		kill(writer[two_any(2)], SIGKILL);
	sh->hunts += sh->wrote[0] > 0 && sh->wrote[1] > 0;
	good = end_of(writer[0], &unused);
	good &= end_of(writer[1], &unused);
	return end_of(prey, &unused) && good;
}

static void go_hunting(void)
{
	storm_seed(99);
	while (!sh->over && hunt())
		;
	_exit(0);
}

/* Send signals to the victims, and kill tracers. */
static void disturb(void)
{
	static const int signals[] = {
		SIGKILL, SIGSTOP, SIGCONT, SIGCONT, SIGCONT, SIGUSR1, SIGUSR1,
	};
	pid_t pid;

	storm_seed(77);
	while (!sh->over) {
		pid = sh->victim[two_any(VICTIMS)];
		if (pid != NO_PID)
			kill(pid, signals[two_any(ARRAY_SIZE(signals))]);
		pid = two_any(6) ? NO_PID : sh->tracer[two_any(WORKERS)];
		if (pid != NO_PID)
			kill(pid, SIGKILL);
		usleep(3000);
	}
	_exit(0);
}

/*
 * Reap children until @end; true if none is left.  An orphan that a tracer
 * without PTRACE_SEIZE has left may be stopped before its first step.
 */
static bool reap(long end)
{
	int status;
	pid_t pid;

	do {
		pid = waitpid(-1, &status, WNOHANG | WUNTRACED | __WALL);
		if (pid > 0 && WIFSTOPPED(status))
			kill(pid, SIGKILL);
		if (!pid)
			ut_sleep_ms(5);
	} while (pid >= 0 && ut_now_ms() < end);
	return pid < 0;
}

/* Check that root can trace as a further tracer with a limit of one engine. */
static bool nothing_is_charged(void)
{
	long before = sh->hunts;
	char text[16];

	if (ut_read_file(text, sizeof(text), ENGINES) <= 0 ||
	    ut_write_file(ENGINES, "1"))
		return false;
	hunt();
	return !ut_write_file(ENGINES, text) && sh->hunts > before;
}

FIXTURE(storm) {
	int before;		/* the limit of tracers before the test */
	bool free;		/* no further tracing was charged to root */
};

FIXTURE_SETUP(storm)
{
	char text[16];

	if (ut_read_file(text, sizeof(text), TWO_SYSCTL) <= 0 ||
	    access(TWO_SYSCTL, W_OK))
		SKIP(return, "no " TWO_SYSCTL);
	self->before = atoi(text);
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, sh);
	/* Orphans are children of the test then. */
	ASSERT_EQ(0, prctl(PR_SET_CHILD_SUBREAPER, 1));
	ut_helper();
	ASSERT_EQ(0, two_limit(TWO_LIMIT));
	self->free = nothing_is_charged();
	sh->hunts = 0;
}

FIXTURE_TEARDOWN(storm)
{
	EXPECT_EQ(0, two_limit(self->before));
}

static void start_roles(void)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		if (!must_fork())
			repeat(be_tracer, 100000 * (i + 1), &sh->tracer[i],
			       &sh->rounds[i]);
	for (i = 0; i < VICTIMS; i++)
		if (!must_fork())
			repeat(be_victim, 1000 * i, &sh->victim[i],
			       &sh->lives[i]);
	if (!must_fork())
		go_hunting();
	if (!must_fork())
		disturb();
}

TEST_F_TIMEOUT(storm, all_end, storm_seconds() + 120 * ut_patience())
{
	int i;

	start_roles();
	EXPECT_FALSE(reap(ut_now_ms() + 1000L * storm_seconds()));
	sh->over = 1;
	ASSERT_TRUE(reap(ut_now_ms() + 2 * UT_DEADLINE_MS));
	EXPECT_EQ(0, sh->hung);
	EXPECT_EQ(0, sh->strange);
	for (i = 0; i < WORKERS; i++)
		EXPECT_LT(1, sh->rounds[i]);
	for (i = 0; i < VICTIMS; i++)
		EXPECT_LT(1, sh->lives[i]);
	EXPECT_LT(0, sh->beside);
	EXPECT_LT(0, sh->hunts);
	TH_LOG("%ld attaches, %ld beside, %ld asked, %ld stops, %ld hunts",
	       sh->attached, sh->beside, sh->asked, sh->stops, sh->hunts);
	sh->over = 0;
	EXPECT_TRUE(!self->free || ut_until(nothing_is_charged()));
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a storm of tracers of two users over the same targets
 *
 * Tracers of root and of nobody make the random calls of calls.h and descriptors.h.
 * Debuggers attach to the targets.  The targets fork, execute programs, share
 * their memory and die.  The test kills tracers.
 *
 * Each call has to return in time, with 0 or a documented error.  After the
 * storm each process has to end when it is killed.  The survivors, targets that
 * nobody kills, have to go on, without an engine, a word or a marker.  A new
 * session has to see each mark of a new target, for both users, and nothing may
 * be charged to them.  Complaints of the kernel are found by the runner.
 *
 * From the environment: SEED=N begins the random numbers, and DURATION=N is how
 * long the storm lasts, in seconds.
 */
#include <sys/ptrace.h>

#include "descriptors.h"
#include "../storm.h"

#define TRACERS		4

/* The other targets are victims. */
#define SURVIVORS	2
#define VICTIMS		(TARGETS - SURVIVORS)

/* Further messages are not needed. */
#define MOST_MESSAGES	10

/**
 * struct common - memory of all processes of the test
 * @target: by number, the process that is the target now; 0: there is none
 * @tracer: by number, the process that is the tracer now; 0: there is none
 * @lives: processes that were targets or tracers
 * @debuggers: debuggers that have attached
 * @rounds: by target, how often a survivor has acted
 * @armed: by target, a survivor had a word or a semaphore when it looked last
 * @wrong: functions with markers that have given wrong results
 * @failed: tracers that have failed
 * @caller: by number, the calls of the tracer
 * @made: how much the tracers have made
 * @least: the least limit with which nobody may have rings
 */
struct common {
	_Atomic pid_t target[TARGETS];
	_Atomic pid_t tracer[TRACERS];
	_Atomic long lives;
	_Atomic long debuggers;
	_Atomic long rounds[TARGETS];
	_Atomic bool armed[TARGETS];
	_Atomic long wrong;
	_Atomic long failed;
	struct caller caller[TRACERS];
	struct made made;
	rlim_t least;
};

static struct common *common;

/* The random numbers of the running tracer. */
static __u64 numbers;

static void fail(const char *why)
{
	if (common->failed++ < MOST_MESSAGES)
		printf("# SEED=%llu user %d, numbers %llu, step %llu, %s%s: %s\n",
		       seed, getuid(), numbers, step,
		       is_rival ? "second thread, " : "", doing->name, why);
	fflush(stdout);
	_exit(1);
}

/*
 * A new process becomes its user, and dies with its parent.  Target or tracer
 * number @i was started @n times before.
 */
static void begin_process(bool is_tracer, int i, __u64 n)
{
	if (i % 2)
		become_nobody();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Two that no other process has; the first are for the test. */
	numbers = 2 * (n * (TARGETS + TRACERS) + is_tracer * TARGETS + i + 1);
	begin_numbers(numbers);
}

/* Calls about targets */

static pid_t pid_to_signal(int i)
{
	return i < VICTIMS ? common->target[i] : 0;
}

/* Get a pidfd of the process that is target number @i now. */
static void follow(int i)
{
	pid_t pid = common->target[i];
	int fd = -1;

	if (pid > 0)
		fd = syscall(SYS_pidfd_open, pid, one_in(2) ? PIDFD_THREAD : 0);
	if (fd >= 0)
		replace(pidfds[i], fd);
}

static void do_follow(int unused)
{
	follow(below(TARGETS));
}

/*
 * Stop target number @i and let it go on, a few times; then leave it, or die.
 * When the debugger dies, a stop that was reported as SIGTRAP kills the task: so
 * survivors make no single steps, and PTRACE_O_TRACESYSGOOD is set.
 */
static void be_debugger(int i)
{
	static const int requests[] = {
		PTRACE_CONT, PTRACE_SYSCALL, PTRACE_DETACH, PTRACE_SINGLESTEP,
	};
	const int n = i < VICTIMS ? N_OF(requests) : N_OF(requests) - 1;
	long options = PTRACE_O_TRACESYSGOOD |
		       (one_in(2) ? PTRACE_O_TRACECLONE : 0);
	pid_t pid = common->target[i], got;
	int status;

	if (pid <= 0 || ptrace(PTRACE_SEIZE, pid, 0, options))
		_exit(0);
	common->debuggers++;
	for (i = 0; i < 20; i++) {
		if (one_in(4))
			ptrace(PTRACE_INTERRUPT, pid, 0, 0);
		got = waitpid(-1, &status, WNOHANG | __WALL);
		if (got > 0 && WIFSTOPPED(status))
			ptrace(requests[below(n)], got, 0, 0);
		else
			usleep(100);
	}
	if (one_in(2))
		raise(SIGKILL);
	_exit(0);
}

static void do_debug(int unused)
{
	int i = below(TARGETS);
	pid_t pid = fork();

	if (!pid)
		be_debugger(i);
	waitpid(pid, NULL, 0);
}

static const struct operation target_operations[] = {
	{ "follow", do_follow, 8, false, {} },
	{ "debug", do_debug, 1, false, {} },
};

static const struct operation *any_operation(void)
{
	if (one_in(16))
		return pick(target_operations, N_OF(target_operations));
	if (one_in(2))
		return pick(descriptor_operations, N_OF(descriptor_operations));
	return pick(session_operations, N_OF(session_operations));
}

static void be_tracer(int i, __u64 n)
{
	__u64 numbers_of_rival;
	pthread_t rival;

	caller = &common->caller[i];
	caller->calling[0] = 0;
	caller->calling[1] = 0;
	begin_process(true, i, n);
	numbers_of_rival = numbers + 1;
	signal(SIGALRM, on_alarm);
	open_sessions();
	open_descriptors();
	close_slots(pidfds, TARGETS);
	for (i = 0; i < TARGETS; i++)
		follow(i);
	if (pthread_create(&rival, NULL, be_rival, &numbers_of_rival))
		fail("pthread_create");
	while (!caller->over)
		one_step();
	for (;;)
		pause();
}

/* Targets */

static int be_sharer(void *unused)
{
	add_one(1);
	mark(1);
	return 0;
}

static void call_functions(void)
{
	long n = below(1000);
	bool good = add_one(n) == n + 1 && take_one(n) == n - 1;

	if (!good && common)
		common->wrong++;
}

static void name_event(void)
{
	snprintf(event[0].name, sizeof(event[0].name), "ut_storm");
}

static void use_event(void)
{
	register_word(0, WORD, 4, BIT);
	write_event(0, make_payload(), below(2000));
}

static void act_in_storm(void)
{
	switch (below(6)) {
	case 0:
		waitpid(run_in_clone(be_sharer, NULL), NULL, __WALL);
		break;
	case 1:
		use_event();
		break;
	case 2:
		call_functions();
		break;
	default:
		act();
	}
}

static void *execute_self(void *unused)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", any());
	execl("/proc/self/exe", "storm", "victim", text, NULL);
	_exit(1);
}

/* End this life, or go on as a new program. */
static void end_life(void)
{
	pthread_t thread;

	switch (below(4)) {
	case 0:
		execute_self(NULL);
		break;
	case 1:
		if (!pthread_create(&thread, NULL, execute_self, NULL))
			pthread_join(thread, NULL);
		break;
	case 2:
		raise(SIGKILL);
		break;
	default:
		_exit(0);
	}
}

/* Keep a descriptor that a tracer has sent, even one that traces this process. */
static void keep_mail(void)
{
	static int kept = -1;

	close(kept);
	kept = receive_fd(mail[below(KINDS)][1]);
}

static void act_as_victim(void)
{
	signal(SIGUSR1, on_signal);
	for (;;) {
		act_in_storm();
		if (one_in(10))
			prctl(PR_SET_DUMPABLE, below(2));
		if (one_in(10))
			unregister_word(WORD, BIT);
		if (one_in(10))
			keep_mail();
		if (one_in(100))
			end_life();
	}
}

static void be_victim(int i, __u64 n)
{
	data_file();
	begin_process(false, i, n);
	act_as_victim();
}

/* Check whether a word or a semaphore of this process is armed. */
static bool is_armed(void)
{
	__u64 all = load(&semaphore, 2) | load(WORD, 4);
	int i;

	for (i = 0; i < WORDS_SIZE; i += 8)
		all |= load(area + i, 8);
	return all;
}

/* Nothing that a survivor does, or a tracer may do, traps it. */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;
	const unsigned char *ip = (void *)at->uc_mcontext.gregs[REG_RIP];

	printf("# SIGTRAP: code %#x at %p, flags %#llx, bytes %02x %02x, add_one %p, take_one %p\n",
	       info->si_code, ip, at->uc_mcontext.gregs[REG_EFL], ip[-1], ip[0],
	       add_one, take_one);
	fflush(stdout);
	_exit(1);
}

static void be_survivor(int i)
{
	const struct sigaction trap = {
		.sa_sigaction = on_trap,
		.sa_flags = SA_SIGINFO,
	};

	data_file();
	begin_process(false, i, 0);
	sigaction(SIGTRAP, &trap, NULL);
	signal(SIGUSR1, on_signal);
	for (;;) {
		act_in_storm();
		common->armed[i] = is_armed();
		common->rounds[i]++;
	}
}

static void start_survivors(void)
{
	int i;

	for (i = VICTIMS; i < TARGETS; i++) {
		pid_t pid = fork();

		need(pid >= 0, "fork");
		if (!pid)
			be_survivor(i);
		common->target[i] = pid;
	}
}

/* The storm */

/*
 * Have one process after the other play a role.  Others find its pid in *@slot
 * until it is reaped, so no other process has the pid.
 */
static void repeat(void (*role)(int i, __u64 n), int i, _Atomic pid_t *slot)
{
	siginfo_t info;
	pid_t pid;
	__u64 n;

	for (n = 0;; n++) {
		pid = fork();
		if (!pid)
			role(i, n);
		if (pid < 0) {
			usleep(1000);
			continue;
		}
		common->lives++;
		*slot = pid;
		waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
		*slot = 0;
		waitpid(pid, NULL, 0);
	}
}

static void start_storm(struct storm *storm, int seconds)
{
	int i;

	need(storm_init(storm), "memory");
	storm->seconds = seconds;
	for (i = 0; i < VICTIMS; i++)
		if (!storm_fork(storm))
			repeat(be_victim, i, &common->target[i]);
	for (i = 0; i < TRACERS; i++)
		if (!storm_fork(storm))
			repeat(be_tracer, i, &common->tracer[i]);
	need(storm->n == VICTIMS + TRACERS, "fork");
}

/* Reap orphans of the storm.  Returns true if no process of it is left. */
static bool is_reaped(pid_t group)
{
	pid_t pid;

	do {
		pid = waitpid(-group, NULL, WNOHANG | __WALL);
	} while (pid > 0);
	return pid < 0;
}

/* Until the time is over, reap orphans, and kill a tracer now and then. */
static void let_it_rage(pid_t group, int seconds)
{
	const long end = now_ms() + 1000L * seconds;
	pid_t pid;

	while (now_ms() < end && !is_reaped(group)) {
		pid = one_in(80) ? common->tracer[below(TRACERS)] : 0;
		if (pid > 0)
			kill(pid, SIGKILL);
		usleep(10000);
	}
}

/* After the storm */

/* The number of threads of tracers that are in a call. */
static int calls_going_on(void)
{
	int i, n = 0;

	for (i = 0; i < TRACERS; i++)
		n += !!common->caller[i].calling[0] +
		     !!common->caller[i].calling[1];
	return n;
}

/* Each call returns, though nobody is killed now. */
static void check_calls(void)
{
	int i;

	for (i = 0; i < TRACERS; i++)
		common->caller[i].over = true;
	if (holds(until(!calls_going_on()), "each call returns"))
		return;
	for (i = 0; i < TRACERS; i++) {
		print_proc(common->caller[i].calling[0], "stack");
		print_proc(common->caller[i].calling[1], "stack");
	}
}

static void check_counts(void)
{
	is(0, common->failed, "no tracer has failed");
	is(0, common->wrong, "functions with markers give the right results");
	holds(common->debuggers, "%ld debuggers", common->debuggers);
	holds(made->consumers, "%ld consumers of branches", made->consumers);
	holds(made->words, "%ld words", made->words);
	holds(made->markers, "%ld markers", made->markers);
}

static void check_survivor(int i)
{
	pid_t pid = common->target[i];
	long before = common->rounds[i];

	if (!holds(until(common->rounds[i] > before + 1), "survivor %d goes on", i)) {
		print_proc(pid, "stat");
		print_proc(pid, "stack");
		print_proc(pid, "utrace");
	}
	holds(left_no_engine(pid), "it has no engine");
	holds(until(!common->armed[i]), "nor a word or a semaphore");
	kill(pid, SIGKILL);
	holds(until(waitpid(pid, NULL, WNOHANG | __WALL) == pid),
	      "and ends when it is killed");
}

/* A new session sees each mark of a new target. */
static void check_session(struct target *target)
{
	int fd = session();

	is(0, setup(fd, SMALL_RINGS), "a new session has rings");
	holds(attach(fd, target->pid, UTRACE_SCOPE_PROCESS) > 0, "it is attached");
	is(0, choose_marks(fd), "it has settings");
	have(target, SELF, mark, 3);
	settle(target, SELF);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_ENTER, target->pid), "it sees 3 entries");
	is(3, marks(UTRACE_REC_SYS_EXIT, target->pid), "it sees 3 exits");
	close(fd);
}

/* The charge is measured by setting limits, for which nobody needs a capability. */
static int measure_rings(void *unused)
{
	keep_only(CAP_SYS_RESOURCE);
	common->least = left_memlock();
	return 0;
}

static int check_user(void *unused)
{
	struct target target;

	start(&target);
	check_session(&target);
	holds(left_no_charge(pidfd_of(target.pid, 0)),
	      "the user is charged with no engine");
	stop(&target);
	return dev_test->exit_code;
}

static int check_nobody(void *unused)
{
	keep_only(CAP_SYS_RESOURCE);
	holds(left_no_rings(common->least), "nobody is charged with no rings");
	return check_user(NULL);
}

static int duration(void)
{
	return setting("DURATION") ?: 10;
}

static void set_up(void)
{
	int i;

	common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(common != MAP_FAILED, "memory");
	made = &common->made;
	take_seed();
	printf("#   SEED=%llu\n", seed);
	begin_numbers(1);
	name_event();
	open_files();
	find_functions();
	closed = open("/", O_PATH | O_CLOEXEC);
	/* Orphans become children of the test. */
	need(!prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
	need(!in_child(measure_rings, NULL), "a limit for rings");
	start_survivors();
	for (i = 0; i < KINDS; i++)
		need(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC |
				 SOCK_NONBLOCK, 0, mail[i]), "socketpair");
}

static void close_mail(void)
{
	int i;

	for (i = 0; i < KINDS; i++) {
		close(mail[i][0]);
		close(mail[i][1]);
	}
}

/* Users may trace their processes, be they descendants or not. */
FIXTURE(storm) {
	char scope[16];
};

FIXTURE_SETUP(storm)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	if (read_sysctl(YAMA_SCOPE, self->scope, sizeof(self->scope)))
		set_sysctl(YAMA_SCOPE, "0");
	set_unprivileged("1");
}

/* In the parent: a test that dies must not leave its settings to others. */
FIXTURE_TEARDOWN_PARENT(storm)
{
	if (self->scope[0])
		set_sysctl(YAMA_SCOPE, self->scope);
	dev_end();
}

TEST_F_TIMEOUT(storm, all_end, duration() + 100 * ut_patience())
{
	struct storm storm;
	pid_t group;
	int i;

	set_up();
	start_storm(&storm, duration() + 60 * ut_patience());
	close_mail();
	group = storm.group;
	let_it_rage(group, duration());
	holds(!is_reaped(group), "the storm has lasted, for %ld processes",
	      common->lives);
	check_calls();
	is(0, storm_end(&storm), "each worker ends when it is killed");
	holds(until(is_reaped(group)), "so does each process of the storm");
	check_counts();
	for (i = VICTIMS; i < TARGETS; i++)
		check_survivor(i);
	is(0, in_child(check_user, NULL), "root traces as before");
	is(0, in_child(check_nobody, NULL), "nobody traces as before");
}

/* The program that a victim executes. */
static int be_program(const char *text)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	begin_numbers(strtoull(text, NULL, 0) | 1);
	name_event();
	act_as_victim();
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "victim"))
		return be_program(argv[2]);
	return test_harness_run(argc, argv);
}

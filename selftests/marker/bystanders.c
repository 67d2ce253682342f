// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - users who trace their own processes, and others who pay for it
 *
 * Attackers are processes of a user without privileges, and of root of a user
 * namespace whose only capability is CAP_SYS_PTRACE there.  They open, attach,
 * arm and close as fast as they can, in and about their own processes only.  In
 * parallel a bystander of root repeats one operation: an attach, a fork with
 * the exit and the wait, a hit of a marker of root, or a write of a user_event.
 *
 * The attackers have a CPU of their own.  So an operation takes longer only if it waits
 * for an attacker, or is interrupted for one.  The test takes turns without and with
 * them.  Without them they are stopped, and a process that calls the kernel all the time
 * has their CPU: else an emulator, or a CPU that shares its core, would be faster then.
 */
#include "sites.h"

#include <sys/uio.h>

#include <linux/user_events.h>

/*
 * How much longer an operation may take beside attackers.
 *
 * The median of a turn is compared with that of the turn before, and the median of these
 * ratios counts: so what a host does for less than half of the time is left out.  Beside
 * that, two CPUs of one guest share caches and memory of the host, and an attacker may
 * interrupt any CPU to change a breakpoint or to publish a set of engines, which takes
 * microseconds each time.  An operation that waits for a lock of the attackers waits until
 * all of them have had their turns on their one CPU: some ms, which is many times as long
 * as any of the operations.  Half as long again is between the two.
 */
#define MOST		1.5
#define TURNS		15
#define TURN_NS		160000000L	/* of all samples of a turn */
#define SAMPLE_NS	4000000L	/* of a sample, at least */
#define STEPS		8		/* of the clock in a sample, at least */
#define PROBES		5		/* samples that decide how often to repeat */
#define ATTEMPTS	3		/* on a host that is busy for longer */

#define DATA		"/sys/kernel/tracing/user_events_data"

/* Who attacks. */
enum who_attacks { BY_USER, BY_NAMESPACE, IDENTITIES };

/* How. */
enum attack {
	ATTACK_SESSIONS, ATTACK_MARKERS, ATTACK_WORDS, ATTACK_FORKS,
	ATTACK_RIGHTS, ATTACK_CLOSES, ATTACK_HOLDS, ATTACK_EVENTS,
	ATTACKS
};

static const char *const identity_names[] = { "a user", "root of a namespace" };
static const char *const attack_names[] = {
	"sessions", "markers", "words", "forks", "rights", "closed descriptors",
	"held tasks", "bits of user_events",
};

/* What attackers share with the test: the rounds that they have made. */
static struct {
	_Atomic long rounds[IDENTITIES][ATTACKS];
} *arena;

/* The group of the attackers, and who has their CPU in other turns. */
static pid_t attackers, idler;

static char set_id[64], event_name[64];

/* Attackers */

/* A child of the attacker that makes @n calls at a time, and is killed with it. */
static pid_t start_caller(int n)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			mark(n);
			usleep(500);
		}
	}
	need(pid > 0, "fork");
	return pid;
}

/* A session of the smallest rings on a process, of which all is recorded; or -errno. */
static int session_of(pid_t pid, __u32 scope, __u32 full)
{
	int fd = try_session(), ret;

	if (fd < 0)
		return fd;
	ret = setup_full(fd, 64 << 10, full);
	if (!ret)
		ret = attach(fd, pid, scope);
	if (ret > 0)
		ret = choose(fd, ALL_EVENTS, 0, NULL, 0);
	if (ret >= 0)
		return fd;
	close(fd);
	return ret;
}

/* Each attack returns whether its round has worked. */

static bool attach_and_detach(pid_t pid)
{
	int fd = session_of(pid, UTRACE_SCOPE_TREE, UTRACE_FULL_DROP);
	char some[4096];
	bool good;

	if (fd < 0)
		return false;
	good = read(fd, some, sizeof(some)) > 0 || errno == EAGAIN;
	good = !detach(fd, 1) && good;
	close(fd);
	return good;
}

static void *attach_on(void *pid)
{
	for (;;)
		attach_and_detach(*(pid_t *)pid);
	return NULL;
}

static bool attack_sessions(void)
{
	static pthread_t thread;
	static pid_t pid;

	if (!pid) {
		pid = start_caller(10);
		need(!pthread_create(&thread, NULL, attach_on, &pid), "thread");
	}
	return attach_and_detach(pid);
}

static int session_of_self(void)
{
	return session_of(getpid(), UTRACE_SCOPE_PROCESS, UTRACE_FULL_DROP);
}

/* The same marker as that of root, in the library that the bystander uses. */
static bool attack_markers(void)
{
	struct tracer tracer = {
		.session = session_of_self(), .target = WORD_TARGET,
	};
	struct marker marker = marker_of(HIT);
	bool good = tracer.session >= 0;
	int i;

	for (i = 0; i < 5 && good; i++) {
		good = !try_arm(&tracer, &marker);
		loaded[0].function[HIT](1, 2);
		/* The last one is left to close(2). */
		if (i < 4)
			good = !try_disarm(&tracer, &marker) && good;
	}
	untrace(&tracer);
	return good;
}

static bool attack_words(void)
{
	int fd = session_of_self(), i;
	bool good = fd >= 0;

	for (i = 0; i < 20 && good; i++)
		good = word_arm(fd, area, UTRACE_WORD_BIT32, i) >= 0 &&
		       !word_disarm(fd, area, UTRACE_WORD_BIT32, i);
	close(fd);
	return good;
}

static bool attack_forks(void)
{
	static int fd = -1, forks;
	pid_t pid[4];
	int i;

	if (forks++ % 20 == 0) {
		if (fd >= 0)
			close(fd);
		fd = session_of(getpid(), UTRACE_SCOPE_TREE, UTRACE_FULL_DROP);
	}
	for (i = 0; i < 4; i++) {
		pid[i] = plain_fork();
		if (!pid[i]) {
			mark(1);
			_exit(0);
		}
	}
	for (i = 0; i < 4; i++)
		if (pid[i] > 0)
			waitpid(pid[i], NULL, 0);
	return fd >= 0 && pid[3] > 0;
}

/* Ids, dumpability and set-id programs, which have sessions ask about rights anew. */
static bool attack_rights(void)
{
	static int fd = -1, rounds;
	pid_t pid;
	int i;

	if (fd < 0)
		fd = session_of(getpid(), UTRACE_SCOPE_TREE, UTRACE_FULL_DROP);
	for (i = 0; i < 8; i++) {
		if (prctl(PR_SET_DUMPABLE, i & 1) || setresuid(-1, geteuid(), -1))
			return false;
		mark(1);
	}
	if (rounds++ % 8 == 0) {
		pid = plain_fork();
		if (!pid) {
			execl(set_id, "true", NULL);
			_exit(1);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	prctl(PR_SET_DUMPABLE, 1);
	return fd >= 0;
}

static void *read_on(void *fd)
{
	char some[4096];

	while (read(*(int *)fd, some, sizeof(some)) > 0)
		;
	return NULL;
}

/* A descriptor is closed under a thread that reads. */
static bool attack_closes(void)
{
	static pid_t pid;
	pthread_t thread;
	int fd, mine;

	if (!pid)
		pid = start_caller(10);
	fd = session_of(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DROP);
	mine = fd;
	if (fd < 0 || fcntl(fd, F_SETFL, 0) ||
	    pthread_create(&thread, NULL, read_on, &mine))
		return false;
	usleep(300);
	mine = -1;
	close(fd);
	pthread_join(thread, NULL);
	return true;
}

/* A task that waits for a reader who never reads. */
static bool attack_holds(void)
{
	static pid_t pid;
	int fd, i;
	bool held = false;

	if (!pid)
		pid = start_caller(200);
	fd = session_of(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_STOP);
	if (fd < 0)
		return false;
	for (i = 0; i < 200 && !held; i++) {
		usleep(500);
		held = info(fd).waits;
	}
	close(fd);
	return held;
}

/* The descriptor is opened while the attacker is root still. */
static int event_file = -1;

static int register_event(__u32 *word, __u32 *index)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 31,
		.enable_size = sizeof(*word),
		.enable_addr = (uintptr_t)word,
		.name_args = (uintptr_t)event_name,
	};
	int ret = command(event_file, DIAG_IOCSREG, &reg);

	*index = reg.write_index;
	return ret;
}

/* The event is that of the bystander. */
static bool attack_events(void)
{
	static __u32 word;
	struct user_unreg reg = {
		.size = sizeof(reg),
		.disable_bit = 31,
		.disable_addr = (uintptr_t)&word,
	};
	__u32 index;

	return !register_event(&word, &index) &&
	       !command(event_file, DIAG_IOCSUNREG, &reg);
}

static bool (*const attacks[])(void) = {
	attack_sessions, attack_markers, attack_words, attack_forks,
	attack_rights, attack_closes, attack_holds, attack_events,
};

static void write_own(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

/* Become root of a user namespace, with one capability. */
static void become_root_of_namespace(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2] = {};

	need(!unshare(CLONE_NEWUSER) && !prctl(PR_SET_DUMPABLE, 1), "a user namespace");
	write_own("/proc/self/setgroups", "deny");
	write_own("/proc/self/uid_map", "0 1000 1");
	write_own("/proc/self/gid_map", "0 1000 1");
	data[0].effective = 1U << CAP_SYS_PTRACE;
	data[0].permitted = data[0].effective;
	need(!syscall(SYS_capset, &head, data) && !prctl(PR_SET_DUMPABLE, 1), "capset");
}

static void be_attacker(enum who_attacks identity, enum attack attack, int cpu)
{
	pin_to_cpu(0, cpu);
	need(!setpgid(0, attackers), "setpgid");
	event_file = open(DATA, O_RDWR | O_CLOEXEC);
	become_user();
	if (identity == BY_NAMESPACE)
		become_root_of_namespace();
	need(!prctl(PR_SET_PDEATHSIG, SIGKILL), "PR_SET_PDEATHSIG");
	for (;;)
		if (attacks[attack]())
			arena->rounds[identity][attack]++;
		else
			usleep(1000);
}

/* Whoever has the CPU of the attackers while these are stopped. */
static pid_t start_idler(int cpu)
{
	pid_t pid = fork();

	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin_to_cpu(0, cpu);
		for (;;)
			mark(100);
	}
	return pid;
}

/* Check whether the attack is possible.  One needs user_events. */
static bool is_possible(enum attack attack)
{
	return attack != ATTACK_EVENTS || !access(DATA, F_OK);
}

static void start_attackers(int cpu)
{
	int identity, attack;
	pid_t pid;

	fflush(stdout);
	idler = start_idler(cpu);
	attackers = fork();
	need(attackers >= 0, "fork");
	if (!attackers) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	need(!setpgid(attackers, attackers), "setpgid");
	for (identity = 0; identity < IDENTITIES; identity++)
		for (attack = 0; attack < ATTACKS; attack++) {
			if (!is_possible(attack))
				continue;
			pid = fork();
			need(pid >= 0, "fork");
			if (!pid) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				be_attacker(identity, attack, cpu);
			}
		}
}

/* Have the attackers go on, or only the idler. */
static void let_attack(bool on)
{
	need(!kill(-attackers, on ? SIGCONT : SIGSTOP) &&
	     !kill(idler, on ? SIGSTOP : SIGCONT), "kill");
	/* Those that are in a call stop at its end. */
	usleep(20000 * ut_patience());
}

static long all_rounds(void)
{
	int identity, attack;
	long sum = 0;

	for (identity = 0; identity < IDENTITIES; identity++)
		for (attack = 0; attack < ATTACKS; attack++)
			sum += arena->rounds[identity][attack];
	return sum;
}

static bool all_attack(bool say)
{
	int identity, attack;
	bool all = true;
	long n;

	for (identity = 0; identity < IDENTITIES; identity++)
		for (attack = 0; attack < ATTACKS; attack++) {
			n = arena->rounds[identity][attack];
			if (is_possible(attack))
				all = all && n;
			if (say)
				printf("#   %s: %s: %ld rounds\n", identity_names[identity],
				       attack_names[attack], n);
		}
	return all;
}

/* The bystander */

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000L + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

/* What is repeated, how often for a sample, and the samples of a turn, an odd number. */
struct operation {
	void (*function)(void);
	int times;
	int samples;
};

#define MOST_SAMPLES	(TURN_NS / SAMPLE_NS + 1)

static long sample(const struct operation *op)
{
	long begun = now_ns();
	int i;

	for (i = 0; i < op->times; i++)
		op->function();
	return now_ns() - begun;
}

/*
 * Repeat the operation so often that the clock makes several steps in a sample: without a
 * TSC it has steps of 4 ms and more.  All of PROBES samples have to be long enough, since
 * the host may prolong one.
 */
static void set_times(struct operation *op)
{
	long least = SAMPLE_NS;
	struct timespec step;
	int i;

	need(!clock_getres(CLOCK_MONOTONIC, &step), "clock_getres");
	if (STEPS * step.tv_nsec > least)
		least = STEPS * step.tv_nsec;
	op->samples = TURN_NS / least | 1;
	for (op->times = 1; op->times < 1 << 20; op->times *= 2) {
		for (i = 0; i < PROBES && sample(op) >= least; i++)
			;
		if (i == PROBES)
			return;
	}
}

/* The median of a turn, in ns for one operation. */
static double turn(const struct operation *op)
{
	double ns[MOST_SAMPLES];
	int i;

	for (i = 0; i < op->samples; i++)
		ns[i] = (double)sample(op) / op->times;
	return median(ns, op->samples);
}

/* How much longer the operation takes beside the attackers. */
static double ratio_of(const struct operation *op, int turns)
{
	double without[TURNS], with[TURNS], ratio[TURNS], result;
	int i;

	for (i = 0; i < turns; i++) {
		let_attack(false);
		without[i] = turn(op);
		let_attack(true);
		with[i] = turn(op);
		ratio[i] = with[i] / without[i];
	}
	result = median(ratio, turns);
	printf("#   %.0f ns without, %.0f ns with attackers, ratio %.2f, from %.2f to %.2f\n",
	       median(without, turns), median(with, turns), result, ratio[0],
	       ratio[turns - 1]);
	return result;
}

/* Returns the least ratio of all attempts, of which one that is good is the last. */
static double compare_turns(void (*function)(void), int turns, int attempts)
{
	struct operation op = { .function = function };
	double ratio, least = 0;
	long before;
	int i;

	/* Each attacker has begun before the first turn. */
	holds(until(all_attack(false)), "each attack works");
	before = all_rounds();
	let_attack(false);
	set_times(&op);
	for (i = 0; i < attempts && (!i || least > MOST); i++) {
		ratio = ratio_of(&op, turns);
		if (!i || ratio < least)
			least = ratio;
	}
	all_attack(true);
	holds(all_rounds() > before, "the attackers go on");
	return least;
}

static void check(void (*function)(void), const char *text)
{
	double ratio = compare_turns(function, TURNS, ATTEMPTS);

	holds(ratio <= MOST, "%s: %.2f times as long beside attackers, at most %.1f",
	      text, ratio, MOST);
}

/* An attach of root to a process of root, which sleeps. */
static struct {
	int fd;
	pid_t pid;
} own;

static void do_attach(void)
{
	int id = attach(own.fd, own.pid, UTRACE_SCOPE_PROCESS);

	need(id > 0 && !detach(own.fd, id), "attach and detach");
	/* The end of the target. */
	need(read(own.fd, records, sizeof(records)) > 0 || errno == EAGAIN, "read");
}

static void do_fork(void)
{
	pid_t pid = plain_fork();
	int status = -1;

	if (!pid)
		_exit(0);
	need(pid > 0 && waitpid(pid, &status, 0) == pid && !status, "fork");
}

static struct tracer roots;

static void do_hits(void)
{
	hit_here(64);
	need(read(roots.session, records, sizeof(records)) > 0, "records of hits");
}

static __u32 event_word, event_index;

static void do_event(void)
{
	__u64 payload = 1;
	struct iovec iov[] = {
		{ &event_index, sizeof(event_index) },
		{ &payload, sizeof(payload) },
	};

	need(writev(event_file, iov, 2) > 0, "a write of the event");
}

/* Enable the event of the bystander, or disable it. */
static void enable_event(const char *value)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/user_events/%s/enable",
		 event_name);
	write_own(path, value);
}

/* Libraries and a set-id program; attackers are started by each test. */
FIXTURE(bystanders) {
	cpu_set_t before;
	int cpu[2];	/* of the bystander, and of the attackers */
};

/* Find two CPUs. */
static bool find_cpus(cpu_set_t *set, int cpu[2])
{
	int i, n = 0;

	if (sched_getaffinity(0, sizeof(*set), set))
		return false;
	for (i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, set))
			cpu[n++] = i;
	return n == 2;
}

FIXTURE_SETUP(bystanders)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	if (!find_cpus(&self->before, self->cpu))
		SKIP(return, "one CPU");
	make_libraries();
	snprintf(set_id, sizeof(set_id), "%s/set-id", folder);
	copy_file("/bin/true", set_id, 04755);
	snprintf(event_name, sizeof(event_name), "ut_bystanders_%d", getpid());
	event_file = open(DATA, O_RDWR | O_CLOEXEC);
	if (event_file >= 0)
		need(!register_event(&event_word, &event_index), "DIAG_IOCSREG");
	stage->library = 0;
	stage->place = HIT;
	load_library(0);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(arena != MAP_FAILED, "shared memory");
	allow_users();
	pin_to_cpu(0, self->cpu[0]);
}

FIXTURE_TEARDOWN(bystanders)
{
	if (attackers) {
		kill(-attackers, SIGKILL);
		kill(idler, SIGKILL);
	}
	while (waitpid(-1, NULL, 0) > 0)
		;
	unlink(set_id);
	remove_libraries();
	dev_end();
}

/* Set up as a test; the limit of each is that of all its attempts. */
#define BYSTANDERS_TIMEOUT	(4 * TEST_TIMEOUT_DEFAULT)

TEST_F_TIMEOUT(bystanders, attach_of_root, BYSTANDERS_TIMEOUT)
{
	own.pid = fork();
	need(own.pid >= 0, "fork");
	if (!own.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	own.fd = session();
	need(!setup(own.fd, 0), "setup");
	start_attackers(self->cpu[1]);
	check(do_attach, "an attach of root, and the detach");
	close(own.fd);
	kill(own.pid, SIGKILL);
}

TEST_F_TIMEOUT(bystanders, fork_exit_wait, BYSTANDERS_TIMEOUT)
{
	start_attackers(self->cpu[1]);
	check(do_fork, "fork, exit and wait");
}

TEST_F_TIMEOUT(bystanders, hits_of_root, BYSTANDERS_TIMEOUT)
{
	start_attackers(self->cpu[1]);
	trace(&roots, getpid(), UTRACE_SCOPE_PROCESS);
	arm_place(&roots, HIT);
	check(do_hits, "hits of a marker of root");
	is(0, info(roots.session).lost, "no hit is lost");
	untrace(&roots);
}

TEST_F_TIMEOUT(bystanders, user_event, BYSTANDERS_TIMEOUT)
{
	if (event_file < 0)
		SKIP(return, "no user_events (USER_EVENTS)");
	start_attackers(self->cpu[1]);
	enable_event("1");
	check(do_event, "a write of a user_event");
	enable_event("0");
}

/* What is measured can be seen: the attackers have the CPU of the bystander. */
TEST_F_TIMEOUT(bystanders, shared_cpu, BYSTANDERS_TIMEOUT)
{
	double ratio;

	start_attackers(self->cpu[0]);
	kill(idler, SIGKILL);
	idler = start_idler(self->cpu[1]);
	ratio = compare_turns(do_fork, 3, 1);
	holds(ratio > MOST, "a fork on the attackers' CPU: %.2f times as long", ratio);
}

TEST_HARNESS_MAIN

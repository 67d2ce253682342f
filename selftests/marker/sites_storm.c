// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers that come and go while their programs run
 *
 * The test arms and disarms a marker repeatedly, and the target hits the marker
 * all the time.  No process dies.  A hit in a phase IN is recorded, and the
 * semaphore is 1; a hit in a phase OUT is not recorded, and the semaphore is 0.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "sites.h"

/* The semaphore of the marker in main(), which a copy of this program hits. */
unsigned short utrace_test_main_semaphore __attribute__((section(".probes")));

/* The path of the copy, in the target, too. */
static const char *path_of_copy(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/program", folder);
	return path;
}

/*
 * shared::number[].  ALL: hits.  CERTAIN: hits within a phase IN.  IDLE: hits
 * within a phase OUT.  ROUNDS: rounds of the target's loop.  BAD: errors.
 */
enum { ALL, CERTAIN, IDLE, ROUNDS, BAD, TOGGLES };

static void hit_in_phase(int watcher)
{
	unsigned int phase = shared->phase;
	const bool add = stage->place == ADD;
	long result = hit_once(0);

	shared->number[ALL]++;
	shared->number[BAD] += add && result != stage->a + stage->b;
	if (phase == shared->phase) {
		shared->number[CERTAIN] += phase % 4 == IN;
		shared->number[IDLE] += phase % 4 == OUT;
	}
	if (add)
		shared->looked[watcher] = phase;
	else
		watch(watcher, loaded[0].semaphore[HIT], 2, 0, 1);
}

/* Children of a tree do as the parent; other children see no semaphore. */
static void be_born(bool tree)
{
	int i;

	for (i = 0; i < 3; i++) {
		if (tree) {
			hit_in_phase(0);
			continue;
		}
		shared->number[BAD] += own_semaphore(HIT);
		hit_once(0);
	}
	_exit(own_semaphore(HIT) && !tree);
}

static long fork_loop(long tree)
{
	int status;
	pid_t pid;

	while (!shared->quit) {
		pid = plain_fork();
		if (!pid)
			be_born(tree);
		hit_in_phase(1);
		status = -1;
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			printf("# a child: %x\n", status);
			shared->number[BAD]++;
		}
		shared->number[ROUNDS]++;
	}
	return 0;
}

static long load_loop(long unused)
{
	unload_library(0);
	while (!shared->quit) {
		load_library(0);
		hit_in_phase(0);
		hit_in_phase(0);
		unload_library(0);
		shared->number[ROUNDS]++;
	}
	load_library(0);
	return 0;
}

#define THREADS	4

static void *hit_loop(void *watcher)
{
	while (!shared->quit)
		hit_in_phase((long)watcher);
	return NULL;
}

static long thread_loop(long unused)
{
	pthread_t threads[THREADS];
	long i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hit_loop, (void *)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	shared->number[ROUNDS]++;
	return 0;
}

static long exec_loop(long unused)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl(path_of_copy(), "sites_storm", "storm", number, NULL);
	_exit(93);
}

/* How long a storm lasts. */
#define TOGGLES_MOST	times(3000)
#define STORM_MS	(times(10000) * ut_patience())

/* The least number of children in a storm over forks. */
#define CHILDREN	times_if_fast(5000)

static void clear_results(void)
{
	int i;

	need(shared->phase % 4 == OUT, "nothing armed");
	for (i = 0; i < 8; i++)
		shared->number[i] = 0;
	shared->looks = 0;
	shared->missed = 0;
	shared->stale = 0;
	shared->strange = 0;
	shared->quit = 0;
}

/* Take the target of a tracer away; the tracer gets another one. */
static int reattach(struct tracer *tracer, pid_t pid, __u32 scope)
{
	return detach(tracer->session, tracer->target) ?:
	       try_trace_by(tracer, tracer->session, pid, scope);
}

/* What is toggled. */
struct toggle {
	pid_t pid;
	__u32 scope;
	struct marker marker;
};

/* Arm and disarm once, by DISARM or by DETACH; returns 0 or -errno. */
static int toggle_once(struct tracer *tracer, struct toggle *what, int i)
{
	int ret;

	shared->phase++;
	ret = try_arm(tracer, &what->marker);
	if (ret) {
		shared->phase--;
		return ret;
	}
	shared->phase++;
	if (i % 8 == 0)
		need(until(is_watched()), "a look at the armed marker");
	shared->phase++;
	ret = i % 16 == 7 ? reattach(tracer, what->pid, what->scope) :
	      try_disarm(tracer, &what->marker);
	shared->phase++;
	if (i % 8 == 0)
		need(until(is_watched()), "a look at the disarmed marker");
	return ret;
}

/* The hits that have been recorded or lost. */
static long all_records(struct tracer *tracer)
{
	struct utrace_ioc_info now = info(tracer->session);

	return now.records + now.lost;
}

/* Toggle for a while, and for @rounds of the target; then let it end its loop. */
static void toggle_all(struct tracer *tracer, struct toggle *what, int rounds)
{
	const long begun = now_ms();
	long time = 0;
	int i, ret = 0;

	for (i = 0; !ret && time < 10 * STORM_MS &&
	     ((i < TOGGLES_MOST && time < STORM_MS) ||
	      shared->number[ROUNDS] < rounds); i++) {
		ret = toggle_once(tracer, what, i);
		time = now_ms() - begun;
	}
	is(0, ret, "the marker is toggled");
	holds(shared->number[ROUNDS] >= rounds, "for %d rounds", rounds);
	holds(i >= 8, "%d times", i);
	shared->quit = 1;
}

static void are_good_hits(struct tracer *tracer)
{
	long n = all_records(tracer), most;

	most = shared->number[ALL] - shared->number[IDLE];
	is(0, shared->number[BAD], "nothing bad has happened");
	holds(shared->number[ROUNDS] > 0, "%ld rounds", shared->number[ROUNDS]);
	holds(shared->number[CERTAIN] > 0, "hits of the armed marker");
	holds(n >= shared->number[CERTAIN], "%ld hits are recorded, of %ld", n,
	      shared->number[CERTAIN]);
	holds(n <= most, "and at most %ld", most);
}

/* Nothing is left of the markers. */
static void is_calm(struct tracer *tracer, struct target *target)
{
	long before = all_records(tracer);
	int i, sum = 0;

	have(target, SELF, read_semaphores, 0);
	for (i = 0; i < PLACES; i++)
		sum += stage->semaphore[i];
	is(0, sum, "no semaphore is left");
	for (i = 0; i < PLACES; i++)
		if (function_names[i] && i != DOWN && i != CALL)
			hit(target, i, 3);
	is(before, all_records(tracer), "no hit is recorded");
}

/* A storm over a target that carries out this order. */
static void storm(struct target *target, __u32 scope, order_fn *order, long n,
		  enum place place, __u32 flags)
{
	struct toggle what = {
		.pid = target->pid,
		.scope = scope,
		.marker = marker_of(place),
	};
	struct tracer tracer;

	clear_results();
	what.marker.site.flags = flags;
	trace_full(&tracer, target->pid, scope, SMALL, UTRACE_FULL_DROP);
	stage->place = place;
	tell(target, SELF, order, n);
	need(until(shared->number[ALL]), "the first hit");
	toggle_all(&tracer, &what, order == fork_loop ? CHILDREN : 0);
	hear(target, SELF);
	are_good_hits(&tracer);
	if (place != ADD)
		are_good_looks("semaphores");
	is_calm(&tracer, target);
	untrace(&tracer);
	holds(until(!word_engines(target->pid)), "no engine is left");
}

TEST_F_TIMEOUT(sites, children_of_a_tree, LONG_TIMEOUT)
{
	storm(&self->target, UTRACE_SCOPE_TREE, fork_loop, 1, HIT, 0);
}

TEST_F_TIMEOUT(sites, children_of_a_process, LONG_TIMEOUT)
{
	storm(&self->target, UTRACE_SCOPE_PROCESS, fork_loop, 0, HIT, 0);
}

TEST_F_TIMEOUT(sites, libraries, LONG_TIMEOUT)
{
	storm(&self->target, UTRACE_SCOPE_PROCESS, load_loop, 0, HIT, 0);
}

TEST_F_TIMEOUT(sites, threads, LONG_TIMEOUT)
{
	storm(&self->target, UTRACE_SCOPE_PROCESS, thread_loop, 0, HIT, 0);
}

/* Each function that is called gives the right result. */
TEST_F_TIMEOUT(sites, returns, LONG_TIMEOUT)
{
	storm(&self->target, UTRACE_SCOPE_PROCESS, thread_loop, 0, ADD,
	      UTRACE_MARKER_F_RETURN);
}

/* Programs. */

static void make_program(struct toggle *what)
{
	struct sdt_site at;
	int fd;

	copy_file("/proc/self/exe", path_of_copy(), 0755);
	fd = open(path_of_copy(), O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && sdt_read(path_of_copy(), &at, 1) == 1, path_of_copy());
	what->marker = marker_at(&at, fd, COOKIE(PLACES));
}

static void check_programs(struct target *target, __u32 scope)
{
	struct toggle what = { .pid = target->pid, .scope = scope };
	struct tracer tracer;
	long before;

	clear_results();
	make_program(&what);
	trace_full(&tracer, target->pid, scope, SMALL, UTRACE_FULL_DROP);
	tell(target, SELF, exec_loop, 0);
	need(until(shared->number[ROUNDS] > 2), "programs");
	toggle_all(&tracer, &what, 0);
	is(0, status_of(target->pid), "the last program has no semaphore");
	are_good_hits(&tracer);
	are_good_looks("semaphores in main()");
	before = all_records(&tracer);
	start_sites(target);
	tell(target, SELF, exec_loop, 0);
	is(0, status_of(target->pid), "a program that has no tracer");
	is(before, all_records(&tracer), "its hits");
	untrace(&tracer);
	close(what.marker.site.fd);
	unlink(path_of_copy());
}

TEST_F_TIMEOUT(sites, programs, LONG_TIMEOUT)
{
	check_programs(&self->target, UTRACE_SCOPE_PROCESS);
	start_sites(&self->target);
	check_programs(&self->target, UTRACE_SCOPE_TREE);
	start_sites(&self->target);
}

/* Several tracers. */

/*
 * Toggle until killed, sometimes by a detach in place of DISARM, and count that in
 * shared::number[TOGGLES].
 */
static pid_t start_toggling(struct target *target, __u32 scope)
{
	struct marker marker = marker_of(HIT);
	struct tracer tracer;
	pid_t pid = fork_tracer();
	int i;

	if (pid)
		return pid;
	trace_full(&tracer, target->pid, scope, SMALL, UTRACE_FULL_DROP);
	for (i = 0;; i++) {
		shared->number[BAD] += !!try_arm(&tracer, &marker);
		shared->number[TOGGLES]++;
		shared->number[BAD] += i % 4 == 3 ?
			!!reattach(&tracer, target->pid, scope) :
			!!try_disarm(&tracer, &marker);
		shared->number[TOGGLES]++;
	}
}

/* Another tracer toggles, too: the semaphore is 0 or 1, and 1 in phases IN. */
TEST_F_TIMEOUT(sites, two_tracers, LONG_TIMEOUT)
{
	struct target *target = &self->target;
	struct toggle what = {
		.pid = target->pid,
		.scope = UTRACE_SCOPE_PROCESS,
		.marker = marker_of(HIT),
	};
	struct tracer tracer;
	pid_t other;

	clear_results();
	stage->place = HIT;
	tell(target, SELF, thread_loop, 0);
	/* First, so that the other tracer has no copy of this one's descriptors. */
	other = start_toggling(target, UTRACE_SCOPE_TREE);
	trace_full(&tracer, target->pid, what.scope, SMALL, UTRACE_FULL_DROP);
	need(until(shared->number[TOGGLES] > 2), "another tracer");
	toggle_all(&tracer, &what, 0);
	kill(other, SIGKILL);
	is(SIGKILL, status_of(other), "the other tracer");
	holds(true, "has toggled %ld times", shared->number[TOGGLES] / 2);
	hear(target, SELF);
	are_good_hits(&tracer);
	is(0, shared->missed, "the semaphore is there in each phase IN");
	is(0, shared->strange, "and never more than 1");
	arm_place(&tracer, CALL);
	holds(until(word_engines(target->pid) == 1), "one engine is left");
	is_calm(&tracer, target);
	untrace(&tracer);
}

/* Kill tracers at random moments. */
static void kill_tracers(struct target *target, order_fn *order, long n)
{
	void *at = (void *)(uintptr_t)stage->semaphore_at[HIT];
	const long end = now_ms() + STORM_MS;
	struct tracer tracer;
	int i, left = 0, wrong = 0;
	pid_t pid;

	clear_results();
	trace_full(&tracer, target->pid, UTRACE_SCOPE_TREE, SMALL,
		   UTRACE_FULL_DROP);
	/* What nobody calls, for the engine that comes with the first ARM. */
	arm_place(&tracer, CALL);
	stage->place = HIT;
	tell(target, SELF, order, n);
	for (i = 0; i < times(200) && now_ms() < end; i++) {
		long toggles = shared->number[TOGGLES];

		pid = start_toggling(target, i % 2 ? UTRACE_SCOPE_TREE :
				     UTRACE_SCOPE_PROCESS);
		need(until(shared->number[TOGGLES] - toggles >= i % 7),
		     "a tracer");
		usleep(i * 137 % 1000);
		kill(pid, SIGKILL);
		wrong += status_of(pid) != SIGKILL;
		left += !until(word_engines(target->pid) == 1);
		left += !until(!read_word(target->pid, at, 2));
	}
	shared->quit = 1;
	hear(target, SELF);
	holds(i >= 8, "%d tracers are killed", i);
	is(0, wrong, "and end by no other signal");
	is(0, left, "nothing is left of any");
	is(0, shared->number[BAD], "nothing bad has happened");
	is(0, shared->strange, "the semaphore was 0 or 1");
	is_calm(&tracer, target);
	is(0, all_records(&tracer), "a tracer of another place has no records");
	untrace(&tracer);
}

TEST_F_TIMEOUT(sites, killed_tracers_of_threads, LONG_TIMEOUT)
{
	kill_tracers(&self->target, thread_loop, 0);
}

TEST_F_TIMEOUT(sites, killed_tracers_of_children, LONG_TIMEOUT)
{
	/* Phases are always OUT: judge() checks nothing. */
	kill_tracers(&self->target, fork_loop, 1);
}

/* The target is killed; ARM says so, and nothing else happens. */
TEST_F_TIMEOUT(sites, killed_targets, LONG_TIMEOUT)
{
	struct marker marker = marker_of(HIT);
	const long end = now_ms() + STORM_MS;
	int i, ret, turn, wrong = 0, ends = 0;
	struct tracer tracer;
	struct target target;

	for (i = 0; i < times(50) && now_ms() < end; i++) {
		clear_results();
		start_sites(&target);
		trace_full(&tracer, target.pid, i % 2 ? UTRACE_SCOPE_TREE :
			   UTRACE_SCOPE_PROCESS, SMALL, UTRACE_FULL_DROP);
		stage->place = HIT;
		tell(&target, SELF, i % 4 / 2 ? thread_loop : fork_loop, 1);
		need(until(shared->number[ALL]), "a hit");
		for (turn = 0, ret = 0; turn < 1000 && ret != -ESRCH; turn++) {
			if (turn == i % 5)
				kill(target.pid, SIGKILL);
			ret = try_arm(&tracer, &marker);
			wrong += ret && ret != -ESRCH;
			if (ret)
				continue;
			ret = try_disarm(&tracer, &marker);
			wrong += !!ret;
			if (turn >= i % 5)
				waitpid(target.pid, NULL, WNOHANG);
		}
		stop(&target);
		ret = try_arm(&tracer, &marker);
		/* A child of the target may live a little longer. */
		ends += ret == -ESRCH || i % 2;
		untrace(&tracer);
	}
	is(i, ends, "the tracer learns that the target is gone");
	is(0, wrong, "and of nothing else");
	clear_results();
	hit(&self->target, HIT, 5);
	is(0, semaphore(&self->target, HIT), "another process is as before");
}

/* The program: hit the marker, and execute itself until the test says quit. */
static int be_program(unsigned int phase, int raised, char **argv)
{
	judge(0, phase, raised, 0, 1);
	shared->number[ALL]++;
	if (phase == shared->phase) {
		shared->number[CERTAIN] += phase % 4 == IN;
		shared->number[IDLE] += phase % 4 == OUT;
	}
	shared->number[ROUNDS]++;
	if (!shared->quit) {
		execv("/proc/self/exe", argv);
		return 89;
	}
	return load(&utrace_test_main_semaphore, 2) ? 88 : 0;
}

int main(int argc, char **argv)
{
	const bool storm = argc == 3 && !strcmp(argv[1], "storm");
	unsigned int phase = 0;
	int raised;

	if (storm) {
		share_again(argv[2]);
		phase = shared->phase;
	}
	raised = load(&utrace_test_main_semaphore, 2);
	STAP_PROBE1(utrace_test, main, raised);
	if (storm)
		return be_program(phase, raised, argv);
	return test_harness_run(argc, argv);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: many users of one place, who come and go in a storm
 *
 * Some users of a place are steady: an event of tracefs and bpftrace, which
 * count the hits of all processes, events of perf, which count those of one
 * process, and a marker of /dev/utrace.  Each of them must count every call
 * while togglers arm and disarm the place, and other processes map the file,
 * fork and exit.
 *
 * Random choices follow from SEED of the environment, which each test prints.
 */
#include "code.h"
#include "sites_events.h"

#include <setjmp.h>

/* How long a storm lasts, and what a thread calls before it exits. */
#define STORM_MS	(times_if_fast(20000) * ut_patience())
#define THREADS		4
#define CALLS_OF_THREAD	times_if_fast(1000)

/* stage::number[] */
enum {
	SEED,		/* of random numbers */
	QUIT,		/* callers and mappers end */
	END,		/* all others end */
	CALLS,		/* by the target; with changed files by mappers */
	CHILD_CALLS,	/* by its children */
	OTHER_CALLS,	/* by other processes */
	ROUNDS,		/* of the target */
	TOGGLES,	/* what tracers armed and disarmed */
	SWITCHES,	/* how often root's event was enabled and disabled */
	REFUSED,	/* errors that a changing file explains */
	BAD,		/* what must not happen */
	NOT_ONE,	/* looks at a semaphore that was not 1 */
	STALE,		/* results of an old version of the code */
	ANEW,		/* new mappings of the file */
	GONE,		/* calls that ended by SIGBUS */
};

static void went_wrong(const char *what, long value)
{
	if (stage->number[BAD]++ < 5)
		printf("# process %d: %s: %ld\n", getpid(), what, value);
	fflush(stdout);
}

/* Random numbers; each process has a sequence of its own. */

static __u64 random_state;

static void seed_random(int process)
{
	random_state = ((__u64)stage->number[SEED] << 32) + 0x9e3779b97f4a7c15ULL * (process + 1);
}

/* A number below @n. */
static unsigned int random_below(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 16) % n;
}

/* Give the other processes some time, or none. */
static void linger_randomly(void)
{
	if (random_below(2))
		usleep(random_below(3000));
}

/* Processes that call the function of the place */

static void call_as(int counter)
{
	const bool is_marker = stage->place == HIT;
	long result;

	if (is_marker && own_semaphore(HIT) != 1)
		stage->number[NOT_ONE]++;
	result = hit_once(0);
	if (result != stage->a + (is_marker ? (int)stage->b : stage->b))
		went_wrong("a result", result);
	stage->number[counter]++;
}

static void *be_thread_that_calls(void *unused)
{
	int i;

	for (i = 0; i < CALLS_OF_THREAD && !stage->number[QUIT]; i++)
		call_as(CALLS);
	return NULL;
}

static long call_in_threads(long unused)
{
	pthread_t threads[THREADS];
	int i;

	while (!stage->number[QUIT]) {
		for (i = 0; i < THREADS; i++)
			need(!pthread_create(&threads[i], NULL, be_thread_that_calls, NULL),
			     "a thread");
		call_as(CALLS);
		for (i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		stage->number[ROUNDS]++;
	}
	return 0;
}

static long call_alone(long unused)
{
	int i;

	for (i = 1; !stage->number[QUIT]; i++) {
		call_as(OTHER_CALLS);
		if (i % 100 == 0)
			usleep(1000);
	}
	return 0;
}

static void reap_child(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		went_wrong("the status of a child", status);
}

/* Have a child of @depth generations; each calls and exits. */
static void have_children(bool is_virtual, int depth, int counter)
{
	pid_t pid = is_virtual ? vfork() : fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		call_as(counter);
		if (depth > 1)
			have_children(!is_virtual, depth - 1, counter);
		call_as(counter);
		_exit(0);
	}
	reap_child(pid);
}

static long call_with_children(long unused)
{
	int i;

	for (i = 0; !stage->number[QUIT]; i++) {
		call_as(CALLS);
		have_children(i % 2, i % 4 / 2 + 1, CHILD_CALLS);
		call_as(CALLS);
		stage->number[ROUNDS]++;
	}
	return 0;
}

static void load_again(void)
{
	unload_library(0);
	load_library(0);
	call_as(OTHER_CALLS);
}

/* Fork and load the library; these calls are not of the target. */
static long fork_and_load(long unused)
{
	pid_t pid;

	while (!stage->number[QUIT]) {
		have_children(false, 1, OTHER_CALLS);
		have_children(true, 1, OTHER_CALLS);
		load_again();
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			load_again();
			_exit(0);
		}
		reap_child(pid);
	}
	return 0;
}

/* A file that changes */

#define VERSIONS	2	/* FUNCTION returns 1 or 2 */
#define MAPPERS		2
#define CALLS_ANEW	8	/* in a new mapping */

/*
 * shared::number[].  SEQUENCE: odd while the file is written.  LAST: the version that the
 * writer has left.  Mapper i sets WANT + i to have the writer pause; the writer sets
 * STILL + i to the version, until WANT + i is 0 again.
 */
enum { SEQUENCE, LAST, WANT, STILL = WANT + MAPPERS };

/*
 * Write the function that returns @version: one word, or the whole file.  Versions differ
 * in one byte, so there is no state between them.
 */
static void write_version(int fd, int version, bool whole)
{
	if (whole)
		write_code(fd, PAGE, function_of(version), FUNCTION_SIZE);
	else
		put_code(fd, FUNCTION, function_of(version), FUNCTION_SIZE);
}

/* The user's file, which root has open. */
static int make_file(void)
{
	int fd = make_code(code_path());

	need(!fchown(fd, USER, USER), code_path());
	write_version(fd, 1, true);
	return fd;
}

static void let_mappers_look(int version)
{
	int i;

	for (i = 0; i < MAPPERS; i++) {
		if (!shared->number[WANT + i])
			continue;
		shared->number[STILL + i] = version;
		if (!until(!shared->number[WANT + i] || stage->number[END]))
			went_wrong("a mapper is missing", i);
		shared->number[STILL + i] = 0;
	}
}

/*
 * Those who write and execute the file share a CPU: an emulator with several may execute
 * what another one has just overwritten, without any probe.
 */
static void stay_on_first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	need(!sched_setaffinity(0, sizeof(cpus), &cpus), "sched_setaffinity");
}

static pid_t start_writer(int fd)
{
	pid_t pid = fork_tracer();
	int version = 1;

	if (pid)
		return pid;
	seed_random(1);
	become_user();
	stay_on_first_cpu();
	while (!stage->number[END]) {
		bool truncates = !random_below(32);

		version = VERSIONS + 1 - version;
		shared->number[SEQUENCE]++;
		if (truncates) {
			need(!ftruncate(fd, 0), "ftruncate");
			linger_randomly();
		}
		write_version(fd, version, truncates);
		shared->number[SEQUENCE]++;
		let_mappers_look(version);
		if (!random_below(4))
			linger_randomly();
	}
	shared->number[LAST] = version;
	_exit(0);
}

/* The version that the memory has; a breakpoint is in the byte before. */
static int version_in_memory(void)
{
	return load(PLACE + FUNCTION + 1, 4);
}

/* A processor may execute code that it fetched before another one changed it. */
static void serialize(void)
{
	unsigned int leaf = 0;

	asm volatile("cpuid" : "+a" (leaf) : : "rbx", "rcx", "rdx", "memory");
}

static sigjmp_buf before_call;

static void go_back(int signr)
{
	siglongjmp(before_call, signr);
}

static void catch_signals(void (*handler)(int signr))
{
	static const int signals[] = { SIGBUS, SIGSEGV, SIGILL, SIGTRAP };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_NODEFER };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

/*
 * Call the function; returns its result, or the number of a signal, negative.  @before and
 * @after are the versions in memory.
 */
static int call_caught(int *before, int *after)
{
	int signr = sigsetjmp(before_call, 0), result;

	if (signr)
		return -signr;
	*before = version_in_memory();
	serialize();
	result = call_code(FUNCTION, NULL);
	*after = version_in_memory();
	return result;
}

static bool is_version(int number)
{
	return number >= 1 && number <= VERSIONS;
}

static void call_version(void)
{
	long sequence = shared->number[SEQUENCE];
	int before = 0, after = 0, result = call_caught(&before, &after);

	if (result == -SIGBUS) {
		stage->number[GONE]++;
		return;
	}
	stage->number[CALLS]++;
	if (!is_version(result))
		went_wrong("a result (or minus a signal)", result);
	else if (!is_version(before) || !is_version(after))
		went_wrong("a version in memory", before);
	else if (sequence % 2 == 0 && sequence == shared->number[SEQUENCE] &&
		 before == after && result != before)
		stage->number[STALE]++;
}

/* Map the file while the writer pauses. */
static void map_anew(int mapper)
{
	int before = 0, after = 0, i, result;
	long version;

	shared->number[WANT + mapper] = 1;
	if (!until(shared->number[STILL + mapper]))
		went_wrong("the writer is missing", mapper);
	version = shared->number[STILL + mapper];
	map_code(code_path(), PAGE);
	for (i = 0; i < CALLS_ANEW && version; i++) {
		result = call_caught(&before, &after);
		if (result != version)
			went_wrong("a result in a new mapping", result);
		if (i % 2)
			linger_randomly();
	}
	stage->number[ANEW]++;
	shared->number[WANT + mapper] = 0;
	until(!shared->number[STILL + mapper]);
}

static long map_on(long mapper)
{
	seed_random(2 + mapper);
	stay_on_first_cpu();
	map_code(code_path(), PAGE);
	catch_signals(go_back);
	while (!stage->number[QUIT]) {
		if (random_below(100))
			call_version();
		else
			map_anew(mapper);
	}
	catch_signals(SIG_DFL);
	return 0;
}

static long map_and_call(long unused)
{
	map_code(code_path(), PAGE);
	return call_code(FUNCTION, NULL);
}

/* Steady users */

/* Hits are counted; those of returns have a cookie of their own. */
static struct marker counted(enum place place, bool returns)
{
	struct marker marker = marker_of(place);

	marker.flags = UTRACE_ARM_F_COUNT;
	marker.site.flags = returns ? UTRACE_MARKER_F_RETURN : 0;
	marker.cookie += returns ? PLACES : 0;
	return marker;
}

/*
 * Open an event that counts in a process and in all that the process creates.
 *
 * Two tasks that inherit the same events may swap them when one runs after the other.  An
 * event of uprobes counts in the memory of its own task only, so it would lose hits then.
 * PERF_SAMPLE_READ with .inherit rules out the swap.
 */
static int open_inherited(pid_t pid, struct perf_event_attr attr)
{
	int fd;

	attr.inherit = 1;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	fd = open_perf(pid, attr);
	need(fd >= 0, "perf_event_open");
	return fd;
}

/*
 * Each task has a uprobe of its own, which takes the kernel long to add.  It reads the path
 * again when the task is created, so the process has the path at the same address.
 */
static int open_perf_of_place(pid_t pid, enum place place, bool returns)
{
	struct perf_event_attr attr = perf_of(place);

	attr.config |= returns;
	return open_inherited(pid, attr);
}

/* All tasks have one uprobe, that of an event of tracefs: 'q' or 's'. */
static int open_perf_of_event(pid_t pid, enum place place, bool returns)
{
	const char kind = returns ? 's' : 'q';
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr) };
	char text[256], counter[32] = "";

	if (site[place].semaphore)
		snprintf(counter, sizeof(counter), "(0x%llx)", site[place].semaphore);
	snprintf(text, sizeof(text), "%c:utrace_test/%s %s:0x%llx%s\n", returns ? 'r' : 'p',
		 event_name(kind), library[0], site[place].offset, counter);
	need(!write_tracefs("uprobe_events", text), "uprobe_events");
	attr.config = event_id(kind);
	return open_inherited(pid, attr);
}

#define BPFTRACE	"/usr/bin/bpftrace"

/* What bpftrace prints. */
static char bpftrace_said[64];

/* Check for "begun".  Before that, bpftrace prints the number of its probes. */
static bool bpftrace_has_begun(int fd)
{
	char text[128] = "";

	return pread(fd, text, sizeof(text) - 1, 0) > 0 && strstr(text, "begun\n");
}

/*
 * Have bpftrace count the calls of a function by all processes.  Returns 0 if it is not
 * there, or where it would take too long to begin.
 */
static pid_t start_bpftrace(const char *function)
{
	char text[512];
	pid_t pid;
	int fd;

	if (access(BPFTRACE, X_OK) || setting("SLOW"))
		return 0;
	snprintf(text, sizeof(text),
		 "uprobe:%s:%s { @hits = count(); } uretprobe:%s:%s { @returns = count(); } "
		 "interval:ms:100 { printf(\"begun\\n\"); }",
		 library[0], function, library[0], function);
	snprintf(bpftrace_said, sizeof(bpftrace_said), "%s/bpftrace", folder);
	fd = open(bpftrace_said, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	need(fd >= 0, bpftrace_said);
	pid = fork_tracer();
	if (!pid) {
		dup2(fd, STDOUT_FILENO);
		execl(BPFTRACE, BPFTRACE, "-B", "none", "-e", text, NULL);
		_exit(92);
	}
	need(until(bpftrace_has_begun(fd)), "bpftrace has not begun");
	close(fd);
	return pid;
}

/* End bpftrace, and read its count. */
static void end_bpftrace(pid_t pid, long *hits, long *returns)
{
	FILE *said;
	char line[64], name[16];
	long number;

	kill(pid, SIGINT);
	is(0, status_of(pid), "bpftrace ends");
	said = fopen(bpftrace_said, "re");
	need(said, bpftrace_said);
	while (fgets(line, sizeof(line), said))
		if (sscanf(line, "@%15[a-z]: %ld", name, &number) == 2)
			*(strcmp(name, "hits") ? returns : hits) = number;
	fclose(said);
	unlink(bpftrace_said);
}

/**
 * struct counters - the steady users of a place
 * @place: the place
 * @follows: children are counted
 * @perf: events of perf, of hits and of returns
 * @bpftrace: counts the calls of a function, or 0
 * @tracer: counts calls of the process, and of its children if the scope is a tree
 * @alone: counts calls of the process itself
 */
struct counters {
	enum place place;
	bool follows;
	int perf[2];
	pid_t bpftrace;
	struct tracer tracer;
	struct tracer alone;
};

static bool has_returns(struct counters *counters)
{
	return counters->place == ADD;
}

static void begin_tracer(struct counters *counters, struct tracer *tracer, pid_t pid,
			 __u32 scope)
{
	trace(tracer, pid, scope);
	arm_marker(tracer, counted(counters->place, false));
	if (has_returns(counters))
		arm_marker(tracer, counted(counters->place, true));
}

static int begin_perf(struct counters *counters, pid_t pid, bool returns)
{
	return counters->follows ? open_perf_of_event(pid, counters->place, returns) :
	       open_perf_of_place(pid, counters->place, returns);
}

static void begin_counters(struct counters *counters, enum place place, pid_t pid,
			   __u32 scope)
{
	*counters = (struct counters){
		.place = place, .follows = scope == UTRACE_SCOPE_TREE,
	};
	begin_event('p', place);
	counters->perf[0] = begin_perf(counters, pid, false);
	if (has_returns(counters)) {
		begin_event('r', place);
		counters->perf[1] = begin_perf(counters, pid, true);
		counters->bpftrace = start_bpftrace(function_names[place]);
	}
	begin_tracer(counters, &counters->tracer, pid, scope);
	begin_tracer(counters, &counters->alone, pid, UTRACE_SCOPE_PROCESS);
}

static void end_perf(struct counters *counters, bool returns)
{
	close(counters->perf[returns]);
	if (counters->follows)
		remove_event(returns ? 's' : 'q');
}

static void end_counters(struct counters *counters)
{
	untrace(&counters->alone);
	end_event('p');
	end_perf(counters, false);
	untrace(&counters->tracer);
	if (has_returns(counters)) {
		end_perf(counters, true);
		end_event('r');
	}
}

static void bpftrace_is_exact(struct counters *counters, long calls)
{
	long hits = -1, returns = -1;

	end_bpftrace(counters->bpftrace, &hits, &returns);
	is(calls, hits, "hits of bpftrace");
	is(calls, returns, "returns of bpftrace");
}

/* All counts are exact. */
static void are_exact(struct counters *counters)
{
	const long alone = stage->number[CALLS], tree = alone + stage->number[CHILD_CALLS];
	const long all = tree + stage->number[OTHER_CALLS];
	const __u64 hits = COOKIE(counters->place), returns = hits + PLACES;

	holds(alone > 0, "%ld calls, %ld by children, %ld by others", alone, tree - alone,
	      all - tree);
	is(all, event_hits('p'), "hits of tracefs");
	is(tree, perf_hits(counters->perf[0]), "hits of perf");
	is(tree, hits_of(&counters->tracer, hits), "hits of the marker");
	is(alone, hits_of(&counters->alone, hits), "hits of the marker of one process");
	if (!has_returns(counters))
		return;
	is(all, event_hits('r'), "returns of tracefs");
	is(tree, perf_hits(counters->perf[1]), "returns of perf");
	is(tree, hits_of(&counters->tracer, returns), "returns of the marker");
	is(alone, hits_of(&counters->alone, returns), "returns of the marker of one process");
	if (counters->bpftrace)
		bpftrace_is_exact(counters, all);
}

/* Users who come and go */

/*
 * Errors of a file that changes: the page is gone (EINVAL, EIO, ENXIO), or the process has
 * a page of an earlier version (EBUSY).
 */
static bool is_of_change(int ret)
{
	return ret == -EINVAL || ret == -EBUSY || ret == -EIO || ret == -ENXIO;
}

/* Arm a marker, and disarm it or leave that to close(2). */
static void toggle_marker(struct tracer *tracer, struct marker *marker, bool changes,
			  bool disarms)
{
	int ret = try_arm(tracer, marker);

	if (changes && is_of_change(ret)) {
		stage->number[REFUSED]++;
		return;
	}
	if (ret) {
		went_wrong("ARM", ret);
		return;
	}
	linger_randomly();
	ret = disarms ? try_disarm(tracer, marker) : 0;
	if (ret)
		went_wrong("DISARM", ret);
	stage->number[TOGGLES]++;
}

static void toggle_on(pid_t of, const struct marker *all, bool changes)
{
	struct tracer tracer = { .target = WORD_TARGET };
	int i;

	tracer.session = try_words(of, random_below(2) ? UTRACE_SCOPE_TREE :
				   UTRACE_SCOPE_PROCESS);
	if (tracer.session < 0) {
		went_wrong("UTRACE_IOC_ATTACH", tracer.session);
		return;
	}
	for (i = random_below(8); i >= 0 && !stage->number[END]; i--) {
		struct marker marker = *all;

		if (!marker.site.semaphore && random_below(2))
			marker.site.flags |= UTRACE_MARKER_F_RETURN;
		if (random_below(2))
			marker.site.semaphore = 0;
		toggle_marker(&tracer, &marker, changes, i);
	}
	untrace(&tracer);
}

/* Start a tracer of the process @of; @user: as the user. */
static pid_t start_toggler(pid_t of, struct marker marker, bool user, bool changes)
{
	pid_t pid = fork_tracer();

	if (pid)
		return pid;
	seed_random(10 + user);
	if (user)
		become_user();
	while (!stage->number[END])
		toggle_on(of, &marker, changes);
	_exit(0);
}

/* Root's event, at HIT or in the changing file, is enabled and disabled. */
static pid_t start_switcher(bool changes)
{
	char text[160];
	pid_t pid = fork_tracer();
	int ret;

	if (pid)
		return pid;
	seed_random(5);
	snprintf(text, sizeof(text), "p:utrace_test/%s %s:0x%x\n", event_name('p'),
		 code_path(), FUNCTION);
	need(!(changes ? write_tracefs("uprobe_events", text) :
	       add_event('p', HIT, site[HIT].semaphore)), "uprobe_events");
	while (!stage->number[END]) {
		ret = switch_event('p', true);
		if (!ret)
			stage->number[SWITCHES]++;
		else if (changes && is_of_change(ret))
			stage->number[REFUSED]++;
		else
			went_wrong("enable an event", ret);
		linger_randomly();
		ret = switch_event('p', false);
		if (ret)
			went_wrong("disable an event", ret);
	}
	remove_event('p');
	_exit(0);
}

/* Storms */

/* Remove all events of uprobes, and check that none is left. */
static bool empty_events(void)
{
	char path[] = TRACEFS "uprobe_events", byte;
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	bool empty;

	if (fd < 0)
		return false;
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	empty = fd >= 0 && !read(fd, &byte, 1);
	close(fd);
	return empty;
}

/* Get ready; NULL, or why there is no storm. */
static const char *begin_storm(enum place place)
{
	if (!has_tracefs())
		return NO_TRACEFS;
	if (access(PERF_TYPE, R_OK))
		return "no uprobes of perf";
	/* An earlier test that died may have left events. */
	if (!access(TRACEFS "events/utrace_test/enable", W_OK))
		write_tracefs("events/utrace_test/enable", "0");
	empty_events();
	allow_users();
	stage->number[SEED] = setting("SEED") ?: now_ms() % 1000000 + 1;
	printf("# SEED=%ld\n", stage->number[SEED]);
	seed_random(0);
	stage->place = place;
	return NULL;
}

/* Wait for the end of the storm, and for two rounds, which number[@rounds] counts. */
static void wait_for_storm(int rounds)
{
	const long end = now_ms() + STORM_MS;
	bool enough;

	while (now_ms() < end && !stage->number[BAD])
		usleep(10000);
	enough = until(stage->number[rounds] >= 2 || stage->number[BAD]);
	holds(enough, "%ld rounds", stage->number[rounds]);
	stage->number[QUIT] = 1;
}

static void have_ended(pid_t *pids, int n, const char *text)
{
	int i;

	stage->number[END] = 1;
	for (i = 0; i < n; i++)
		if (!is(0, status_of(pids[i]), text))
			kill(pids[i], SIGKILL);
}

static void all_went_well(void)
{
	is(0, stage->number[BAD], "nothing bad has happened");
	is(0, stage->number[NOT_ONE], "semaphores were always 1");
	holds(stage->number[TOGGLES] > 0, "%ld times armed and disarmed, %ld times refused",
	      stage->number[TOGGLES], stage->number[REFUSED]);
}

/* Nothing is left in the process: the byte of the file, and no semaphore. */
static void is_untouched(struct target *target, enum place place)
{
	unsigned char byte;

	have(target, SELF, look_around, 0);
	need(pread(library_fd, &byte, 1, site[place].offset) == 1, library[0]);
	is(byte, byte_at(target->pid, place), "afterwards: the byte of the file");
	is(0, semaphore(target, HIT), "  the semaphore");
	holds(until(!word_engines(target->pid)), "  no engine");
}

/* Root can use the place as if nothing had been. */
static void root_can_trace(struct target *target, enum place place)
{
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, counted(place, false));
	is(place == HIT, semaphore(target, HIT), "root arms the place: the semaphore");
	hit(target, place, 5);
	is(5, hits_of(&tracer, COOKIE(place)), "  hits");
	untrace(&tracer);
	is_untouched(target, place);
	holds(empty_events(), "  uprobe_events can be emptied");
}

/* A storm over the target, which carries out @order. */
static void storm(struct target *target, enum place place, __u32 scope, order_fn *order)
{
	struct target his, others[2];
	struct counters counters;
	pid_t togglers[2];

	start_sites(&his);
	have(&his, SELF, be_user, 0);
	start_sites(&others[0]);
	start_sites(&others[1]);
	/* Togglers come first, so that they have no copies of the steady descriptors. */
	togglers[0] = start_toggler(target->pid, counted(place, false), false, false);
	togglers[1] = start_toggler(his.pid, counted(place, false), true, false);
	begin_counters(&counters, place, target->pid, scope);
	tell(&his, SELF, call_alone, 0);
	tell(&others[0], SELF, fork_and_load, 0);
	tell(&others[1], SELF, fork_and_load, 0);
	tell(target, SELF, order, 0);
	wait_for_storm(ROUNDS);
	hear(target, SELF);
	hear(&his, SELF);
	hear(&others[0], SELF);
	hear(&others[1], SELF);
	are_exact(&counters);
	have_ended(togglers, 2, "a toggler");
	all_went_well();
	end_counters(&counters);
	is_untouched(&his, place);
	is_untouched(&others[0], place);
	is_untouched(target, place);
	root_can_trace(target, place);
	stop(&his);
	stop(&others[0]);
	stop(&others[1]);
}

TEST_F_TIMEOUT(sites, same_place_counts, LONG_TIMEOUT)
{
	const char *why = begin_storm(HIT);

	if (why)
		SKIP(return, "%s", why);
	storm(&self->target, HIT, UTRACE_SCOPE_PROCESS, call_in_threads);
}

/* The place is the entry of a function, whose returns count, too. */
TEST_F_TIMEOUT(sites, same_function_counts, LONG_TIMEOUT)
{
	const char *why = begin_storm(ADD);

	if (why)
		SKIP(return, "%s", why);
	storm(&self->target, ADD, UTRACE_SCOPE_PROCESS, call_in_threads);
}

TEST_F_TIMEOUT(sites, children_beside, LONG_TIMEOUT)
{
	const char *why = begin_storm(HIT);

	if (why)
		SKIP(return, "%s", why);
	storm(&self->target, HIT, UTRACE_SCOPE_TREE, call_with_children);
}

TEST_F_TIMEOUT(sites, children_of_a_function, LONG_TIMEOUT)
{
	const char *why = begin_storm(ADD);

	if (why)
		SKIP(return, "%s", why);
	storm(&self->target, ADD, UTRACE_SCOPE_TREE, call_with_children);
}

/* A marker in the changed file works in a new mapping. */
static void present_code_runs(struct target *target, int fd)
{
	struct tracer tracer;

	/* A copy of the text before may be left, for which ARM gives EBUSY. */
	have(target, SELF, map_and_call, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, marker_in(fd, FUNCTION, UTRACE_ARM_F_COUNT));
	is(shared->number[LAST], have(target, SELF, map_and_call, 0),
	   "afterwards: the present function");
	is(1, hits_of(&tracer, COOKIE(FUNCTION)), "  its hit");
	untrace(&tracer);
	is(MOV, code_byte(target->pid, FUNCTION), "  the byte of the file");
	is(shared->number[LAST], have(target, SELF, map_and_call, 0),
	   "  the function without a marker");
}

TEST_F_TIMEOUT(sites, file_is_written_in_the_storm, LONG_TIMEOUT)
{
	struct target *target = &self->target, his;
	const char *why = begin_storm(HIT);
	pid_t pids[3];
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = make_file();
	start_sites(&his);
	have(&his, SELF, be_user, 0);
	pids[0] = start_writer(fd);
	pids[1] = start_toggler(his.pid, marker_in(fd, FUNCTION, UTRACE_ARM_F_COUNT), true, true);
	pids[2] = start_switcher(true);
	tell(target, SELF, map_on, 0);
	tell(&his, SELF, map_on, 1);
	wait_for_storm(ANEW);
	hear(target, SELF);
	hear(&his, SELF);
	have_ended(pids, 3, "a writer, a toggler and a switcher");
	all_went_well();
	holds(stage->number[SWITCHES] > 0, "%ld times an event", stage->number[SWITCHES]);
	holds(stage->number[CALLS] > 0, "%ld calls, %ld times SIGBUS, %ld times mapped anew",
	      stage->number[CALLS], stage->number[GONE], stage->number[ANEW]);
	is(0, stage->number[STALE], "each call returns what the memory has");
	present_code_runs(target, fd);
	present_code_runs(&his, fd);
	root_can_trace(target, HIT);
	stop(&his);
	close(fd);
	unlink(code_path());
}

/* Processes that end */

#define TRACERS		2	/* tracers of one process */
#define PROCESSES	times_if_fast(400)

/* Execute this program, which calls the function and does so again @n times. */
static void execute_again(const char *path, int n)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", n);
	execl("/proc/self/exe", "sites_storm_shared", "program", path, number, NULL);
	_exit(93);
}

static int be_program(const char *path, int n)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	long (*call)(long a, long b) = handle ? dlsym(handle, "probed_hit") : NULL;
	int i;

	if (!call)
		return 92;
	for (i = 0; i < 20; i++)
		if (call(i, 5) != i + 5)
			return 91;
	if (n)
		execute_again(path, n - 1);
	return 0;
}

/* A process that calls, has a child, and executes programs or exits at any time. */
static pid_t start_process(int number)
{
	pid_t pid = fork_tracer();
	int i, n;

	if (pid)
		return pid;
	seed_random(number);
	load_library(0);
	for (i = 0, n = random_below(10000); i < n; i++) {
		loaded[0].function[i % 2 ? HIT : ADD](i, 1);
		if (!random_below(50))
			usleep(random_below(1000));
		/* The child ends when it likes, and its parent need not wait. */
		if (i == 100 && random_below(2) && !fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			n = i + random_below(200);
		}
	}
	if (random_below(2))
		execute_again(library[0], random_below(5));
	_exit(0);
}

/* False if the process is gone, or the result of @what is wrong. */
static bool is_there(int ret, const char *what)
{
	if (ret < 0 && ret != -ESRCH)
		went_wrong(what, ret);
	return ret >= 0;
}

static bool try_trace(struct tracer *tracer, pid_t pid, __u32 scope)
{
	int fd = session();

	need(!setup_full(fd, SMALL, UTRACE_FULL_DROP), "setup");
	return is_there(try_trace_by(tracer, fd, pid, scope), "attach");
}

/* Leave by DETACH, by close(2), or by the end of the caller. */
static void leave_somehow(struct tracer *tracer)
{
	if (random_below(2))
		is_there(detach(tracer->session, tracer->target), "DETACH");
	linger_randomly();
	if (random_below(2))
		untrace(tracer);
}

/* A tracer that arms, and leaves in one of several ways. */
static pid_t start_tracer(pid_t of, int number)
{
	struct marker hits = marker_of(HIT);
	struct marker returns = counted(ADD, true);
	struct tracer tracer;
	pid_t pid = fork_tracer();

	if (pid)
		return pid;
	seed_random(number);
	hits.site.semaphore *= random_below(2);
	while (!random_below(4))
		usleep(random_below(3000));
	if (!try_trace(&tracer, of, random_below(2) ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS))
		_exit(0);
	while (is_there(try_arm(&tracer, &returns), "ARM of returns") &&
	       is_there(try_arm(&tracer, &hits), "ARM")) {
		stage->number[TOGGLES]++;
		linger_randomly();
		if (!random_below(4) || !is_there(try_disarm(&tracer, &hits), "DISARM") ||
		    !is_there(try_disarm(&tracer, &returns), "DISARM of returns"))
			break;
	}
	leave_somehow(&tracer);
	_exit(0);
}

/* Print where a process waits. */
static void show_wait(pid_t pid)
{
	char path[32], line[128];
	FILE *stack;

	snprintf(path, sizeof(path), "/proc/%d/stack", pid);
	stack = fopen(path, "re");
	while (stack && fgets(line, sizeof(line), stack))
		printf("# %s", line);
	if (stack)
		fclose(stack);
}

static void has_ended(pid_t pid, const char *what)
{
	int status = status_of(pid);

	if (status && status != SIGKILL)
		went_wrong(what, status);
	if (status < 0) {
		show_wait(pid);
		kill(pid, SIGKILL);
	}
}

/* One process and its tracers, each of which may be killed. */
static void end_one_process(int i)
{
	const long before = stage->number[TOGGLES];
	pid_t process = start_process(100 + 10 * i), tracers[TRACERS];
	int k;

	for (k = 0; k < TRACERS; k++)
		tracers[k] = start_tracer(process, 101 + 10 * i + k);
	/* Most tracers arm before the process ends, and some do not. */
	for (k = random_below(200); k > 0 && stage->number[TOGGLES] == before; k--)
		usleep(1000);
	usleep(random_below(5000));
	if (random_below(2))
		kill(process, SIGKILL);
	for (k = 0; k < TRACERS; k++) {
		if (!random_below(3))
			kill(tracers[k], SIGKILL);
		linger_randomly();
	}
	/* Tracers need the pid of the process, so the process is reaped last. */
	for (k = 0; k < TRACERS; k++)
		has_ended(tracers[k], "the status of a tracer");
	has_ended(process, "the status of a process");
}

TEST_F_TIMEOUT(sites, exits, LONG_TIMEOUT)
{
	struct target *target = &self->target;
	const char *why = begin_storm(HIT);
	const long end = now_ms() + STORM_MS;
	pid_t switcher;
	int i;

	if (why)
		SKIP(return, "%s", why);
	switcher = start_switcher(false);
	for (i = 0; i < 16 || (i < PROCESSES && now_ms() < end); i++)
		end_one_process(i);
	holds(true, "%d processes", i);
	have_ended(&switcher, 1, "a switcher");
	all_went_well();
	holds(stage->number[SWITCHES] > 0, "%ld times an event", stage->number[SWITCHES]);
	is_untouched(target, HIT);
	root_can_trace(target, HIT);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "program"))
		return be_program(argv[2], atoi(argv[3]));
	return test_harness_run(argc, argv);
}

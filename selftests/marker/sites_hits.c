// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - hits that look up their tracers while tracers come and go
 *
 * A hit finds the tracers of a marker without a lock.  Threads of the target hit a
 * marker all the time, while other tracers arm and disarm this marker and its
 * neighbours, so that the list of the marker and the tree of all words change all the
 * time.
 */
#include "sites.h"

#define THREADS		4
#define WORDS		300

/* How long hits last. */
#define STORM_MS	(times(ut_is_slow() ? 5000 : 2500) * ut_patience())

/*
 * shared::number[].  ALL: hits.  TOGGLES: changes of other tracers.  BAD: their errors.
 * ROUNDS: programs that have had a secret.
 */
enum { ALL, TOGGLES, BAD, ROUNDS };

static void *hit_loop(void *unused)
{
	while (!shared->quit) {
		hit_once(0);
		shared->number[ALL]++;
	}
	return NULL;
}

static long hit_in_threads(long unused)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hit_loop, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* What nobody else may read. */
#define SECRET	0x5ec2e75ec2e7ULL
static _Atomic __u64 secret;

/* Have a secret, from some time on, while another thread hits the marker. */
static void be_secretive(int i)
{
	pthread_t thread;
	long hits;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_create(&thread, NULL, hit_loop, NULL);
	usleep(i * 37 % 2000);
	prctl(PR_SET_DUMPABLE, 0);
	secret = SECRET;
	hits = shared->number[ALL];
	while (!shared->quit && shared->number[ALL] < hits + 10)
		;
	_exit(0);
}

static long have_secrets(long unused)
{
	pid_t pid;
	int i;

	for (i = 0; !shared->quit; i++) {
		pid = fork();
		if (!pid)
			be_secretive(i);
		waitpid(pid, NULL, 0);
		shared->number[ROUNDS]++;
	}
	return 0;
}

static void begin(struct target *target, order_fn *order)
{
	int i;

	for (i = 0; i <= ROUNDS; i++)
		shared->number[i] = 0;
	shared->quit = 0;
	stage->place = HIT;
	tell(target, SELF, order, 0);
}

static void begin_hits(struct target *target)
{
	begin(target, hit_in_threads);
}

static void end_hits(struct target *target)
{
	shared->quit = 1;
	hear(target, SELF);
}

/* Arm all places, or disarm them, from one on that changes from call to call. */
static void change_all(struct tracer *tracer, int from, bool arm)
{
	enum place place;
	struct marker marker;
	int i;

	for (i = 0; i < PLACES; i++) {
		place = (from + i) % PLACES;
		marker = marker_of(place);
		shared->number[BAD] += arm ? !!try_arm(tracer, &marker) :
			!!disarm_id(tracer->session, tracer->ids[place]);
		tracer->ids[place] = marker.id;
		shared->number[TOGGLES]++;
	}
}

/* Arm words, which follow all places in the tree, and disarm them again. */
static void change_words(struct tracer *tracer)
{
	const __u32 kind = UTRACE_WORD_COUNT32;
	__u32 *word = words_at;
	int i;

	/* Each is between the places and those before, so the tree is turned there. */
	for (i = WORDS; i--;)
		shared->number[BAD] += word_arm(tracer->session, &word[i], kind, 0) < 0;
	for (i = WORDS; i--;)
		shared->number[BAD] += !!word_disarm(tracer->session, &word[i], kind, 0);
	shared->number[TOGGLES] += 2 * WORDS;
}

/* Change the tree, and the lists of all markers. */
static void change_markers(struct target *target, int i)
{
	struct tracer tracer;

	trace_full(&tracer, target->pid, i % 2 ? UTRACE_SCOPE_TREE :
		   UTRACE_SCOPE_PROCESS, SMALL, UTRACE_FULL_DROP);
	change_words(&tracer);
	change_all(&tracer, i * 3, true);
	change_all(&tracer, i * 7, false);
	/* close(2) takes the markers back as well. */
	change_all(&tracer, i * 5, true);
	untrace(&tracer);
}

#define OTHERS		2

/* Change the tree and the lists, or the tree all the time, until killed. */
static pid_t start_changes(struct target *target, bool words)
{
	struct tracer tracer;
	pid_t pid = fork_tracer();
	int i;

	if (pid)
		return pid;
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0;; i++)
		if (words)
			change_words(&tracer);
		else
			change_markers(target, i);
}

static void start_others(struct target *target, pid_t others[OTHERS])
{
	int i;

	for (i = 0; i < OTHERS; i++)
		others[i] = start_changes(target, i % 2);
}

static void kill_others(const pid_t others[OTHERS])
{
	int i, killed = 0;

	for (i = 0; i < OTHERS; i++) {
		kill(others[i], SIGKILL);
		killed += status_of(others[i]) == SIGKILL;
	}
	is(OTHERS, killed, "other tracers");
	is(0, shared->number[BAD], "have had no error");
	holds(shared->number[TOGGLES] > 100, "  in %ld changes",
	      shared->number[TOGGLES]);
}

static struct marker counted(__u64 cookie)
{
	struct marker marker = marker_of(HIT);

	marker.flags = UTRACE_ARM_F_COUNT;
	marker.cookie = cookie;
	return marker;
}

/* One tracer counts, one records, and both have each hit once. */
TEST_F_TIMEOUT(sites, exact, LONG_TIMEOUT)
{
	struct target *target = &self->target;
	struct tracer counts, records_all;
	struct utrace_ioc_info now;
	pid_t others[OTHERS];
	long all;

	begin_hits(target);
	end_hits(target);
	/* Fork before opening descriptors, or the children have copies. */
	start_others(target, others);
	trace(&counts, target->pid, UTRACE_SCOPE_PROCESS);
	trace_full(&records_all, target->pid, UTRACE_SCOPE_PROCESS, SMALL,
		   UTRACE_FULL_DROP);
	arm_marker(&counts, counted(COOKIE(HIT)));
	arm_place(&records_all, HIT);
	need(until(shared->number[TOGGLES]), "other tracers");
	shared->number[ALL] = 0;
	shared->quit = 0;
	tell(target, SELF, hit_in_threads, 0);
	usleep(1000 * STORM_MS);
	end_hits(target);
	kill_others(others);
	all = shared->number[ALL];
	now = info(records_all.session);
	holds(all > 1000, "%ld hits", all);
	is(all, hits_of(&counts, COOKIE(HIT)), "  are counted by one tracer");
	is(all, hits_of(&records_all, COOKIE(HIT)), "  and by the other");
	is(all, now.records + now.lost, "  which has recorded or lost each");
	is(0, info(counts.session).records, "the first one records nothing");
	untrace(&counts);
	untrace(&records_all);
}

/*
 * A tracer arms the marker with another cookie each time: from the return of ARM on all
 * hits are those of the new cookie.
 */
TEST_F_TIMEOUT(sites, anew, LONG_TIMEOUT)
{
	struct target *target = &self->target;
	const long end = now_ms() + 2 * STORM_MS;
	long before, since, hits, few = 0, sum = 0;
	struct marker marker;
	pid_t others[OTHERS];
	struct tracer tracer;
	__u64 cookie;

	begin_hits(target);
	start_others(target, others);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (cookie = 1; now_ms() < end; cookie++) {
		marker = counted(cookie);
		need(!try_arm(&tracer, &marker), "UTRACE_IOC_ARM");
		before = shared->number[ALL];
		need(until(shared->number[ALL] > before + 2 * THREADS), "hits");
		since = shared->number[ALL] - before;
		hits = hits_of(&tracer, cookie);
		/* ARM may have come during a hit of each thread. */
		few += hits < since - THREADS;
		sum += hits;
		need(!try_disarm(&tracer, &marker), "UTRACE_IOC_DISARM");
	}
	end_hits(target);
	kill_others(others);
	holds(cookie > 8, "%llu cookies", cookie);
	is(0, few, "  have all hits since they were armed");
	holds(sum <= shared->number[ALL], "  and no more, %ld", sum);
	untrace(&tracer);
}

/* Hits are recorded before DISARM returns, or not at all. */
TEST_F_TIMEOUT(sites, over, LONG_TIMEOUT)
{
	struct target *target = &self->target;
	const long end = now_ms() + STORM_MS;
	long before, told, late = 0;
	struct utrace_ioc_info now;
	struct tracer tracer;
	int i;

	begin_hits(target);
	trace_full(&tracer, target->pid, UTRACE_SCOPE_PROCESS, SMALL,
		   UTRACE_FULL_DROP);
	for (i = 0; now_ms() < end; i++) {
		arm_place(&tracer, HIT);
		before = shared->number[ALL];
		need(until(shared->number[ALL] > before + THREADS), "hits");
		disarm_place(&tracer, HIT);
		now = info(tracer.session);
		told = now.records + now.lost;
		need(until(shared->number[ALL] > before + 4 * THREADS), "hits");
		now = info(tracer.session);
		late += now.records + now.lost - told;
	}
	end_hits(target);
	holds(i > 8, "%d times", i);
	is(0, late, "  nothing comes after DISARM");
	untrace(&tracer);
}

/* Read what there is.  Returns the number of hits, and adds those with the secret. */
static int read_hits(struct tracer *tracer, int *secrets)
{
	struct utrace_rec *rec;
	ssize_t n;
	int hits = 0;

	n = read(tracer->session, records, sizeof(records));
	records_size = n > 0 ? n : 0;
	for_each_record(rec) {
		if (rec->type != UTRACE_REC_MARKER)
			continue;
		hits++;
		*secrets += hit_args((void *)rec)[0] == SECRET;
	}
	return hits;
}

static struct marker of_secret(void)
{
	struct marker marker = marker_of(HIT);

	keep_args(&marker, 1);
	marker.site.args[0] = (struct utrace_marker_arg){
		.size = 8,
		.kind = UTRACE_ARG_MEM,
		.reg = UTRACE_ARG_NO_REG,
		.index = UTRACE_ARG_NO_REG,
		.disp = (uintptr_t)&secret,
	};
	return marker;
}

static int look_for_secrets(void *unused)
{
	const long end = now_ms() + STORM_MS;
	int hits = 0, secrets = 0;
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_TREE);
	arm_marker(&tracer, of_secret());
	begin(&own, have_secrets);
	while (now_ms() < end)
		hits += read_hits(&tracer, &secrets);
	shared->quit = 1;
	hear(&own, SELF);
	hits += read_hits(&tracer, &secrets);
	holds(shared->number[ROUNDS] > 8, "%ld programs have had a secret",
	      shared->number[ROUNDS]);
	holds(hits > shared->number[ROUNDS], "  after %d hits", hits);
	holds(info(tracer.session).hidden >= shared->number[ROUNDS] / 2,
	      "  and have become hidden");
	is(0, secrets, "  no hit tells it");
	untrace(&tracer);
	stop(&own);
	return dev_test->exit_code;
}

/* Arguments are recorded only while the user may still trace the program. */
TEST_F_TIMEOUT(sites, secrets, LONG_TIMEOUT)
{
	allow_users();
	is(0, in_child(look_for_secrets, NULL), "a user without privileges");
	set_unprivileged("0");
}

TEST_HARNESS_MAIN

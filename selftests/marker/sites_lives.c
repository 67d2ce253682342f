// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: children, threads, libraries that come and go,
 * and other programs
 *
 * A copy of this program has a marker in main(), and is what targets execute.
 */
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>

#include "sites.h"
#include "../silent.h"

/* The semaphore of the marker in main(). */
unsigned short utrace_test_main_semaphore __attribute__((section(".probes")));

/* The path of the copy, in the target, too. */
static const char *path_of_copy(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/program", folder);
	return path;
}

static int program_fd = -1;

/* The places in it; ids are COOKIE(PLACES) and so on. */
enum { PROGRAM_ENTRY, PROGRAM_MAIN, PROGRAM_MARKER, PROGRAM_PLACES };
static struct sdt_site program_site[PROGRAM_PLACES];

/* Load the semaphore and hit the marker, in a new process; number[]: see run_child(). */
static void be_born(int hits)
{
	stage->number[0] += own_semaphore(HIT);
	hit_here(hits);
	stage->number[1]++;
	stage->number[2] += own_semaphore(HIT);
}

static long reap_status(pid_t pid)
{
	int status = -1;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		stage->number[3] = status;
	return 0;
}

/* A child, which has a child, and so on. */
static long fork_deep(long depth)
{
	pid_t pid = plain_fork();

	if (pid)
		return reap_status(pid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_born(1);
	if (depth > 1)
		fork_deep(depth - 1);
	_exit(stage->number[3]);
}

/* Wait for the child whose hits the test checks. */
static long reap_child(pid_t pid)
{
	stage->number[4] = pid;
	return reap_status(pid);
}

static long fork_one(long hits)
{
	pid_t pid = plain_fork();

	if (!pid) {
		be_born(hits);
		_exit(0);
	}
	reap_child(pid);
	return 0;
}

/* In a process that shares the memory: hit the marker. */
static int share_memory(void *hits)
{
	be_born((long)hits);
	return 0;
}

/* In a process that shares the memory: map the library. */
static int load_here(void *unused)
{
	return load_library(stage->library);
}

/* A child of a process that has the memory, and maybe no engine; see be_born(). */
static int fork_here(void *hits)
{
	pid_t pid = plain_fork();

	if (!pid) {
		stage->number[5] = *(unsigned char *)address_of(HIT);
		be_born((long)hits);
		_exit(0);
	}
	reap_child(pid);
	return 0;
}

#define THREADS	4

static void *hit_as_thread(void *hits)
{
	int i, n = (long)hits;

	for (i = 0; i < n; i++)
		hit_once(i);
	return NULL;
}

static long hit_by_threads(long hits)
{
	pthread_t threads[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hit_as_thread, (void *)hits);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* The program runs @more other ones after itself, and loads the library. */
static long execute(long more)
{
	char number[16];

	shared->number[7] = more;
	snprintf(number, sizeof(number), "%d", shared_fd);
	execl(path_of_copy(), "sites", "run", number, library[0], NULL);
	_exit(93);
}

/* The file that keeps an execve(2). */
static int kept_by = -1;

static long execute_kept(long unused)
{
	if (silent_read_async(kept_by))
		execute(0);
	_exit(84);
}

static long execute_in_fork(long unused)
{
	pid_t pid = plain_fork();

	if (!pid)
		execute(0);
	return reap_child(pid);
}

static long execute_in_vfork(long unused)
{
	pid_t pid = vfork();

	if (!pid)
		execute(0);
	return reap_child(pid);
}

static long share_by_vfork(long hits)
{
	return reap_child(run_in_vfork(share_memory, (void *)hits));
}

static long share_by_clone(long hits)
{
	return reap_child(run_in_clone(share_memory, (void *)hits));
}

static long load_by_clone(long unused)
{
	return reap_child(run_in_clone(load_here, NULL));
}

static long fork_by_vfork(long hits)
{
	return reap_status(run_in_vfork(fork_here, (void *)hits));
}

static long fork_by_clone(long hits)
{
	return reap_status(run_in_clone(fork_here, (void *)hits));
}

static long die_with_parent(long signal)
{
	return prctl(PR_SET_PDEATHSIG, signal);
}

/* Processes and threads. */

/* The target's second process does as the first one. */
TEST_F(sites, child_of_a_tree)
{
	struct marker arg = marker_of(HIT);
	struct target *target = &self->target;
	struct tracer tracer;
	int ret;

	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	have_more(target, CHILD);
	is(1, semaphore_as(target, CHILD, HIT), "a child");
	hit_as(target, CHILD, HIT, 7);
	are_hits_as(&tracer, target, CHILD, HIT, 7, "its hits");
	hit(target, HIT, 7);
	are_hits(&tracer, target, HIT, 7, "hits of the parent");
	is(14, hits_of(&tracer, COOKIE(HIT)), "are counted together");
	arm_place(&tracer, PLAIN);
	hit_as(target, CHILD, PLAIN, 3);
	are_hits_as(&tracer, target, CHILD, PLAIN, 3, "a child that was there");
	/* The test becomes the parent, with which the child ends. */
	need(!prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
	have(target, CHILD, die_with_parent, 0);
	tell(target, SELF, exit_with, 0);
	is(0, status_of(target->pid), "the parent ends");
	have(target, CHILD, die_with_parent, SIGKILL);
	hit_as(target, CHILD, HIT, 7);
	are_hits_as(&tracer, target, CHILD, HIT, 7, "hits of the child alone");
	is(0, disarm_id(tracer.session, tracer.ids[HIT]), "DISARM");
	is(0, semaphore_as(target, CHILD, HIT), "disarmed");
	hit_as(target, CHILD, HIT, 7);
	are_none(&tracer, "hits after DISARM");
	/* The process of the pidfd has ended, but not the tree. */
	ret = try_arm(&tracer, &arg);
	holds(!ret || ret == -ESRCH, "ARM without the parent: %d", ret);
	is(!ret, semaphore_as(target, CHILD, HIT), "the semaphore");
	untrace(&tracer);
	is(0, semaphore_as(target, CHILD, HIT), "closed");
	hit_as(target, CHILD, HIT, 7);
	tell(target, CHILD, exit_with, 0);
}

/* Children that were there before the tracer came. */
TEST_F(sites, child_before_the_tracer)
{
	struct target *target = &self->target;
	struct tracer tracer;

	have_more(target, CHILD);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	is(0, semaphore_as(target, CHILD, HIT), "PROCESS: the child");
	is(1, semaphore(target, HIT), "PROCESS: the parent");
	hit_as(target, CHILD, HIT, 3);
	are_none(&tracer, "hits of the child");
	untrace(&tracer);
	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	is(1, semaphore_as(target, CHILD, HIT), "TREE: the child");
	is(1, semaphore(target, HIT), "TREE: the parent");
	hit_as(target, CHILD, HIT, 3);
	are_hits_as(&tracer, target, CHILD, HIT, 3, "hits of the child");
	untrace(&tracer);
	is(0, semaphore_as(target, CHILD, HIT), "closed");
}

/*
 * Have @children be born, by an order.  Each child sees the semaphore as
 * @armed from its first instruction on, and hits the marker.
 */
static void run_child(struct target *target, order_fn *order, long n, int children,
		      bool armed, const char *text)
{
	int i;

	for (i = 0; i < 5; i++)
		stage->number[i] = 0;
	stage->place = HIT;
	have(target, SELF, order, n);
	holds(!stage->number[3], "%s: end %lx", text, stage->number[3]);
	is(children, stage->number[1], "  children");
	is(armed ? children : 0, stage->number[0], "  semaphores at first");
	is(armed ? children : 0, stage->number[2], "  and after the hits");
}

TEST_F(sites, children_of_a_process)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	for (i = 0; i < 5; i++) {
		run_child(target, fork_one, 5, 1, false, "fork");
		are_none(&tracer, "  hits of the child");
		is(1, semaphore(target, HIT), "  the parent");
	}
	run_child(target, fork_deep, 5, 5, false, "nested forks");
	are_none(&tracer, "  hits of descendants");
	hit(target, HIT, 4);
	are_hits(&tracer, target, HIT, 4, "hits of the parent");
	is(4, hits_of(&tracer, COOKIE(HIT)), "  and no others are counted");
	untrace(&tracer);
}

TEST_F(sites, children_of_a_tree)
{
	struct target *target = &self->target;
	struct tracer tracer;
	struct utrace_rec *rec;
	int i, others = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	for (i = 0; i < 5; i++) {
		pid_t pid;

		run_child(target, fork_one, 5, 1, true, "fork");
		pid = stage->number[4];
		is(5, gather(tracer.session, 5), "  hits of the child");
		is(5, good_hits(&tracer, pid, pid, HIT, 0), "  are right");
	}
	run_child(target, fork_deep, 5, 5, true, "nested forks");
	is(5, gather(tracer.session, 5), "  hits of descendants");
	for_each_record(rec)
		others += rec->tid != target->pid && rec->number == 1;
	is(5, others, "  each is by another task");
	is(30, hits_of(&tracer, COOKIE(HIT)), "all are counted");
	untrace(&tracer);
}

/* A process that shares the memory has the semaphore, but is a task of its own. */
static void check_shared_memory(struct target *target, order_fn *order)
{
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	run_child(target, order, 5, 1, true, "a process of its own");
	gather(tracer.session, 0);
	is(0, count(UTRACE_REC_MARKER, stage->number[4]),
	   "  its hits are no records of the target");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "  but those of the target");
	untrace(&tracer);
	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	run_child(target, order, 5, 1, true, "a process of the tree");
	is(5, gather(tracer.session, 5), "  its hits");
	is(5, good_hits(&tracer, stage->number[4], stage->number[4], HIT, 0),
	   "  are right");
	untrace(&tracer);
	run_child(target, order, 5, 1, false, "not armed");
}

TEST_F(sites, vfork)
{
	check_shared_memory(&self->target, share_by_vfork);
}

TEST_F(sites, clone_vm)
{
	check_shared_memory(&self->target, share_by_clone);
}

#define INT3	0xcc

/* A child of a process that only shares the memory: with or without the breakpoint. */
static void check_grandchild(struct target *target, order_fn *order)
{
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	run_child(target, order, 5, 1, false, "a grandchild of the process");
	holds(stage->number[5] != INT3, "  no breakpoint: %lx", stage->number[5]);
	are_none(&tracer, "  hits");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "  hits of the target");
	untrace(&tracer);
	trace(&tracer, target->pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	run_child(target, order, 5, 1, true, "a grandchild of the tree");
	is(INT3, stage->number[5], "  the breakpoint");
	is(5, gather(tracer.session, 5), "  its hits");
	is(5, good_hits(&tracer, stage->number[4], stage->number[4], HIT, 0),
	   "  are right");
	untrace(&tracer);
}

TEST_F(sites, fork_of_a_vfork)
{
	check_grandchild(&self->target, fork_by_vfork);
}

TEST_F(sites, fork_of_a_clone_vm)
{
	check_grandchild(&self->target, fork_by_clone);
}

TEST_F(sites, threads)
{
	struct target *target = &self->target;
	const int hits = 200;
	struct utrace_rec *rec;
	struct tracer tracer;
	int good = 0;

	have_more(target, THREAD);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	is(1, semaphore_as(target, THREAD, HIT), "a thread");
	hit_as(target, THREAD, HIT, 5);
	are_hits_as(&tracer, target, THREAD, HIT, 5, "its hits");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the leader");
	stage->place = HIT;
	have(target, SELF, hit_by_threads, hits);
	is(THREADS * hits, gather(tracer.session, THREADS * hits),
	   "hits of new threads at once");
	for_each_record(rec)
		if (rec->number == 1)
			good += good_hits(&tracer, target->pid, rec->tid, HIT,
					  0);
	is(THREADS * hits, good, "in the order of each thread");
	is(THREADS * hits + 10, hits_of(&tracer, COOKIE(HIT)), "counted");
	untrace(&tracer);
}

/* Libraries. */

TEST_F(sites, loaded_later)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	have(target, SELF, unload_library, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	arm_place(&tracer, PLAIN);
	for (i = 0; i < 10; i++) {
		have(target, SELF, load_library, 0);
		is(0, stage->born, "loaded: the constructor's marker");
		is(1, semaphore(target, HIT), "  a semaphore");
		is(0, other_semaphores(target, HIT), "  and no other");
		hit(target, HIT, 5);
		are_hits(&tracer, target, HIT, 5, "  hits");
		hit(target, PLAIN, 5);
		are_hits(&tracer, target, PLAIN, 5, "  hits of another marker");
		have(target, SELF, unload_library, 0);
	}
	is(50, hits_of(&tracer, COOKIE(HIT)), "counted");
	untrace(&tracer);
	have(target, SELF, load_library, 0);
	is(0, semaphore(target, HIT), "loaded when the tracer is gone");
	hit(target, HIT, 5);
}

/* The process that maps the library has no engine that could be asked about rights. */
TEST_F(sites, loaded_by_a_sharer)
{
	struct target *target = &self->target;
	struct tracer tracer;
	int i;

	have(target, SELF, unload_library, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	for (i = 0; i < 5; i++) {
		have(target, SELF, load_by_clone, 0);
		hit(target, HIT, 5);
		are_hits(&tracer, target, HIT, 5, "loaded by a sharer: hits");
		have(target, SELF, unload_library, 0);
	}
	untrace(&tracer);
}

/* The constructor runs before dlopen(3) returns. */
TEST_F(sites, constructor)
{
	struct target *target = &self->target;
	struct utrace_rec_marker *rec;
	struct tracer tracer;
	int i;

	have(target, SELF, unload_library, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, BORN);
	for (i = 0; i < 5; i++) {
		have(target, SELF, load_library, 0);
		is(1, stage->born, "the semaphore in the constructor");
		is(1, gather(tracer.session, 1), "and its hit");
		rec = (void *)find(UTRACE_REC_MARKER, target->pid);
		is(1, rec && hit_args(rec)[0] == 1 && rec->nargs == 1 &&
		   rec->ip == stage->bias[0] + site[BORN].address,
		   "  which is right");
		have(target, SELF, unload_library, 0);
	}
	disarm_place(&tracer, BORN);
	have(target, SELF, load_library, 0);
	is(0, stage->born, "disarmed");
	are_none(&tracer, "hits");
	untrace(&tracer);
}

/* The copy of the library is another file. */
TEST_F(sites, another_file)
{
	struct target *target = &self->target;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	stage->library = 1;
	have(target, SELF, load_library, 1);
	is(0, semaphore(target, HIT), "a library by another path");
	hit(target, HIT, 3);
	are_none(&tracer, "its hits");
	stage->library = 0;
	is(1, semaphore(target, HIT), "the first library");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "its hits");
	untrace(&tracer);
}

/* Programs. */

static void make_program(void)
{
	struct sdt_site all[4];

	copy_file("/proc/self/exe", path_of_copy(), 0755);
	program_fd = open(path_of_copy(), O_RDONLY | O_CLOEXEC);
	need(program_fd >= 0, path_of_copy());
	need(sdt_read(path_of_copy(), all, 4) == 1, "the marker in main()");
	program_site[PROGRAM_MARKER] = all[0];
	need(sdt_function(path_of_copy(), NULL, &program_site[PROGRAM_ENTRY]) &&
	     sdt_function(path_of_copy(), "main", &program_site[PROGRAM_MAIN]),
	     "functions of the program");
	need(all[0].semaphore, "the semaphore in main()");
}

static void arm_program(struct tracer *tracer)
{
	int i;

	for (i = 0; i < PROGRAM_PLACES; i++)
		arm_marker(tracer, marker_at(&program_site[i], program_fd,
					     COOKIE(PLACES + i)));
}

/* The records of one run: the first instruction, main(), and the marker. */
static int good_runs(pid_t pid, int runs)
{
	struct utrace_rec_marker *hit;
	struct utrace_rec *rec;
	int i = 0, good = 0;
	__u64 bias = 0;

	for_each_record(rec) {
		const struct sdt_site *at = &program_site[i % PROGRAM_PLACES];

		hit = (void *)rec;
		if (rec->type != UTRACE_REC_MARKER || hit->cookie >= COOKIE(PLACES) +
		    PROGRAM_PLACES || hit->cookie < COOKIE(PLACES))
			continue;
		if (i % PROGRAM_PLACES == 0)
			bias = hit->ip - at->address;
		good += hit->cookie == COOKIE(PLACES + i % PROGRAM_PLACES) &&
			hit->ip == bias + at->address && bias % PAGE == 0 &&
			rec->pid == pid && rec->tid == pid &&
			(!hit->nargs || hit_args(hit)[0] == 4);
		i++;
	}
	return i == runs * PROGRAM_PLACES ? good : -i;
}

/* @hits: hits of the library that the last program loads, see be_program(). */
static void are_runs(struct tracer *tracer, pid_t pid, int runs, int hits,
		     const char *text)
{
	int all = runs * PROGRAM_PLACES + hits;

	is(all, gather(tracer->session, all), text);
	is(runs * PROGRAM_PLACES, good_runs(pid, runs), "  which are right");
}

#define PROGRAM_HITS	5

TEST_F(sites, executed)
{
	struct target *target = &self->target;
	struct tracer tracer;
	const int runs = 4;

	make_program();
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_program(&tracer);
	arm_place(&tracer, HIT);
	hit(target, HIT, 2);
	are_hits(&tracer, target, HIT, 2, "hits before");
	tell(target, SELF, execute, runs - 1);
	is(0, status_of(target->pid), "programs one after another");
	is(runs, shared->number[1], "programs");
	is(runs, shared->number[0], "semaphores in main()");
	is(1, shared->number[2], "the semaphore of the library");
	are_runs(&tracer, target->pid, runs, PROGRAM_HITS, "hits of programs");
	is(2 + PROGRAM_HITS, hits_of(&tracer, COOKIE(HIT)),
	   "the library was hit in both programs");
	untrace(&tracer);
	unlink(path_of_copy());
}

static int arm_all(void *tracer)
{
	arm_program(tracer);
	arm_place(tracer, HIT);
	return 0;
}

/* The markers are armed while a FUSE server keeps the execve(2). */
TEST_F(sites, armed_while_executed)
{
	struct target target;
	struct tracer tracer;

	kept_by = silent_file();
	if (kept_by < 0)
		SKIP(return, "no files of FUSE (FUSE_FS): %s", strerror(errno));
	make_program();
	/* That of the fixture does not have the file. */
	start_sites(&target);
	trace(&tracer, target.pid, UTRACE_SCOPE_PROCESS);
	tell(&target, SELF, execute_kept, 0);
	need(until(silent_keeps(target.pid)), "a process in execve(2)");
	is(0, in_child_for(arm_all, &tracer, SOON), "ARM does not wait");
	holds(silent_keeps(target.pid), "the process is in execve(2) still");
	silent_end();
	is(0, status_of(target.pid), "the program runs");
	is(1, shared->number[0], "the semaphore in main()");
	is(1, shared->number[2], "the semaphore of the library");
	are_runs(&tracer, target.pid, 1, PROGRAM_HITS, "hits of the program");
	untrace(&tracer);
	stop(&target);
	unlink(path_of_copy());
}

/* A thread that is not the leader executes a program. */
TEST_F(sites, executed_by_a_thread)
{
	struct target *target = &self->target;
	struct tracer tracer;

	make_program();
	have_more(target, THREAD);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_program(&tracer);
	tell(target, THREAD, execute, 1);
	is(0, status_of(target->pid), "programs one after another");
	is(2, shared->number[0], "semaphores in main()");
	are_runs(&tracer, target->pid, 2, 0, "hits of programs");
	untrace(&tracer);
	unlink(path_of_copy());
}

static void check_children_execute(struct target *target, __u32 scope)
{
	const bool tree = scope == UTRACE_SCOPE_TREE;
	order_fn * const execute_in[] = { execute_in_fork, execute_in_vfork };
	struct tracer tracer;
	int i;

	trace(&tracer, target->pid, scope);
	arm_program(&tracer);
	arm_place(&tracer, HIT);
	for (i = 0; i < 4; i++) {
		int hits = tree ? PROGRAM_HITS : 0;

		shared->number[0] = 0;
		shared->number[2] = 0;
		stage->number[3] = 0;
		have(target, SELF, execute_in[i % 2], 0);
		is(0, stage->number[3], "a child executes");
		is(tree, shared->number[0], "  the semaphore in main()");
		is(tree, shared->number[2], "  that of the library");
		are_runs(&tracer, stage->number[4], tree, hits, "  hits");
		hit(target, HIT, 5);
		are_hits(&tracer, target, HIT, 5, "  hits of the parent");
	}
	untrace(&tracer);
}

TEST_F(sites, executed_by_children)
{
	make_program();
	check_children_execute(&self->target, UTRACE_SCOPE_PROCESS);
	check_children_execute(&self->target, UTRACE_SCOPE_TREE);
	unlink(path_of_copy());
}

/* The program runs already when the markers are armed, and is executed anew. */
TEST_F(sites, executed_without_tracer)
{
	struct target *target = &self->target;
	struct tracer tracer;

	make_program();
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_program(&tracer);
	untrace(&tracer);
	tell(target, SELF, execute, 1);
	is(0, status_of(target->pid), "programs when the tracer is gone");
	is(2, shared->number[1], "programs");
	is(0, shared->number[0] + shared->number[2], "semaphores");
	unlink(path_of_copy());
}

/*
 * The program.  number[]: 0: sum of the semaphores in main().  1: programs.  2:
 * the library's semaphore.  7: how many programs are to come.
 */
static int be_program(int raised, char **argv)
{
	long (*function)(long a, long b);
	void *handle;
	int i;

	share_again(argv[2]);
	shared->number[0] += raised;
	shared->number[1]++;
	if (shared->number[7]-- > 0) {
		execv("/proc/self/exe", argv);
		return 89;
	}
	handle = dlopen(argv[3], RTLD_NOW);
	if (!handle)
		return 88;
	function = dlsym(handle, "probed_hit");
	shared->number[2] = load(dlsym(handle, "utrace_test_hit_semaphore"), 2);
	for (i = 0; i < PROGRAM_HITS; i++)
		function(A + i, B);
	return 0;
}

int main(int argc, char **argv)
{
	int raised = load(&utrace_test_main_semaphore, 2);

	STAP_PROBE1(utrace_test, main, argc);
	if (argc == 4 && !strcmp(argv[1], "run"))
		return be_program(raised, argv);
	return test_harness_run(argc, argv);
}

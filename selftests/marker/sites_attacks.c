// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: attacks by a user on everybody else
 *
 * A user without privileges arms markers in processes of his own.  He keeps the mmap_lock
 * of a process, truncates files, fills his memory cgroup and writes breakpoints.  Root
 * forks, maps files and traces other processes at the same time.  Each call of root must
 * end in time, and root's counts must be exact.  What happens to the user's own
 * processes does not matter.
 *
 * A page of a FUSE file keeps the mmap_lock.  One thread reads the page through
 * /proc/self/mem and holds the lock for reading until the server answers, which it never
 * does.  Another thread waits for the lock for writing, so new readers wait, too.
 *
 * Processes that were started before the attack carry out all that may hang.  The test
 * itself only waits for their answers, and kills the attackers at the end.
 */
#include "code.h"
#include "sites_events.h"

#include "../cgroup.h"
#include "fuse.h"

/* The size of a file of code. */
#define CODE_SIZE	(16 * PAGE)

/* Files are known by their number. */
#define FILES		256
#define ROOT_FILE	128	/* the first one of root */
#define ROOT_FILES	16

/* The limit of the user's cgroup; within SLACK of it memory is touched page by page. */
#define MEMORY_MAX	(64UL << 20)
#define SLACK		(256 * (long)PAGE)

/* stage::number[] */
enum {
	PID,		/* the process that an order of the user or of root is about */
	STEPS,		/* steps that the user has done */
	WORDS,		/* words that a user has armed, or could not */
	GO, RETURNED,	/* threads that hit by order */
	HITTER,		/* the first of these, */
	OTHER_HITTER,	/* and the second one */
	MAPPINGS,	/* by the user's processes */
	DEATHS,		/* of these */
	FULL,		/* the user's memory is full */
	QUIT,
};

/* Files of code */

static const char *path_of(int file)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/home/%d", folder, file);
	return path;
}

/* The function returns @number. */
static int make_function(int file, int number)
{
	int fd = make_code(path_of(file));

	write_code(fd, CODE_SIZE, function_of(number), FUNCTION_SIZE);
	return fd;
}

static long map_file(long file)
{
	map_code(path_of(file), CODE_SIZE);
	return 0;
}

static long call_function(long n)
{
	return call_code(FUNCTION, NULL);
}

/* The user, who arms markers.  These are orders, as are those of root below. */

/* His session, the process that it traces, and the file of code made last. */
static struct tracer his = { .session = -1 };
static pid_t traced;
static int code_fd = -1;

/* What he has armed last in a file of code. */
static struct marker last;

static long new_code(long file)
{
	code_fd = make_function(file, 1);
	return 0;
}

static long trace_anew_with(long scope)
{
	int ret = try_words(traced, scope);

	his = (struct tracer){ .session = ret, .target = WORD_TARGET };
	return ret < 0 ? ret : 0;
}

static long trace_process(long scope)
{
	traced = stage->number[PID];
	return trace_anew_with(scope);
}

static long arm_offset(long offset)
{
	last = marker_in(code_fd, offset, UTRACE_ARM_F_COUNT);
	return try_arm(&his, &last);
}

static long count_offset(long offset)
{
	return hits_of(&his, COOKIE(offset));
}

static long disarm_last(long n)
{
	return try_disarm(&his, &last);
}

static long arm_library(long place)
{
	struct marker arg = marker_of(place);
	long ret;

	arg.flags = UTRACE_ARM_F_COUNT;
	ret = try_arm(&his, &arg);
	stage->number[STEPS]++;
	return ret;
}

static long arm_one_word(long n)
{
	long ret = word_arm(his.session, area + PAGE, UTRACE_WORD_BIT32, 0);

	stage->number[WORDS]++;
	return ret;
}

static long truncate_code(long n)
{
	return ftruncate(code_fd, 0);
}

/* Disarm the marker while its page is gone, and then while the page is there. */
static long truncate_on(long n)
{
	while (!stage->number[QUIT]) {
		need(!ftruncate(code_fd, 0), "ftruncate");
		stage->number[STEPS]++;
		disarm_last(0);
		write_code(code_fd, CODE_SIZE, function_of(1), FUNCTION_SIZE);
		arm_offset(FUNCTION);
		disarm_last(0);
		stage->number[STEPS]++;
		untrace(&his);
		trace_anew_with(UTRACE_SCOPE_PROCESS);
		arm_offset(FUNCTION);
	}
	return 0;
}

static long forget_code(long file)
{
	untrace(&his);
	close(code_fd);
	return unlink(path_of(file));
}

/* Write a byte to the place of HIT in the process PID. */
static long write_place(long n)
{
	unsigned char byte = n;

	write_memory(stage->number[PID], address_of(HIT), &byte, 1);
	return 0;
}

/* Processes of the user */

/* Map a page of FUSE; returns 0 or -errno. */
static long map_page(long n)
{
	return fuse_map();
}

static long read_page(long n)
{
	fuse_read_page();
	return 0;
}

static long want_lock(long n)
{
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

/*
 * The kernel executes the first instruction out of line, for which it has to map memory.
 * It emulates the nop.
 */
static const long hit_offsets[] = { FUNCTION, NOP };

static void *hit_when_told(void *thread)
{
	const long i = (long)thread;

	stage->number[HITTER + i] = gettid();
	while (!stage->number[GO])
		usleep(1000);
	call_code(hit_offsets[i], NULL);
	stage->number[RETURNED]++;
	return NULL;
}

static long start_hitters(long n)
{
	pthread_t thread;
	long i;

	for (i = 0; i < 2; i++)
		need(!pthread_create(&thread, NULL, hit_when_told, (void *)i), "a thread");
	need(until(stage->number[HITTER] && stage->number[OTHER_HITTER]), "threads");
	return 0;
}

/* The user's memory */

/* Map file 0 and unmap it repeatedly, with more and more memory. */
static void map_on(void)
{
	const size_t most = MEMORY_MAX / 6;
	int fd = open(path_of(0), O_RDONLY | O_CLOEXEC);
	size_t used = 0, i;
	char *memory;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent is exempt from the OOM killer, but its children are not. */
	ut_write_file("/proc/self/oom_score_adj", "0");
	memory = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		_exit(95);
	while (!stage->number[QUIT]) {
		stage->number[MAPPINGS] += mmap(PLACE, CODE_SIZE, PROT_READ | PROT_EXEC,
						MAP_PRIVATE | MAP_FIXED, fd, 0) == PLACE;
		munmap(PLACE, CODE_SIZE);
		for (i = 0; i < 64 && used < most; i++, used += PAGE)
			memory[used] = 1;
	}
	_exit(0);
}

/* Keep @n children alive that map and unmap; the OOM killer ends one now and then. */
static long be_crowd(long n)
{
	int alive = 0;
	pid_t pid;

	while (!stage->number[QUIT] || alive) {
		if (alive < n && !stage->number[QUIT]) {
			pid = fork();
			if (!pid)
				map_on();
			alive += pid > 0;
		}
		if (waitpid(-1, NULL, WNOHANG) > 0) {
			alive--;
			stage->number[DEATHS] += !stage->number[QUIT];
		} else {
			usleep(1000);
		}
	}
	return 0;
}

/* The number of bytes that the user's cgroup may still take. */
static long room_of(int fd)
{
	char text[32] = "";

	need(pread(fd, text, sizeof(text) - 1, 0) > 0, "memory.current");
	return MEMORY_MAX - atol(text);
}

static int open_memory_current(void)
{
	char path[PATH_MAX + 128];
	int fd;

	snprintf(path, sizeof(path), "%s/memory.current", ut_cg);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0, path);
	return fd;
}

/*
 * Touch pages until there is no room.  The kernel charges many pages at once and keeps
 * those that are not used yet in a stock of the CPU; @stock tells how many these are.
 */
static void touch_pages(char *memory, size_t size, int fd)
{
	long left = room_of(fd), now, n, stock = 0;
	size_t at = 0;

	while ((left >= (long)PAGE || stock > 0) && at < size) {
		n = left > 2 * SLACK ? (left - SLACK) / PAGE : 1;
		for (; n && at < size; n--, at += PAGE)
			memory[at] = 1;
		now = room_of(fd);
		stock = now < left ? (left - now) / (long)PAGE - 1 : stock - 1;
		if (now > SLACK)
			stock = 0;
		left = now;
	}
}

static long fill_memory(long n)
{
	const size_t size = MEMORY_MAX + SLACK;
	int fd = open_memory_current();
	char *memory, zeros = 0;
	size_t at;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	need(memory != MAP_FAILED, "memory");
	madvise(memory, size, MADV_NOHUGEPAGE);
	/*
	 * Get all page tables first, by reading the page of zeros: from then on a write
	 * needs one page and no more.
	 */
	for (at = 0; at < size; at += PAGE)
		zeros |= memory[at];
	need(!zeros, "pages of zeros");
	touch_pages(memory, size, fd);
	stage->number[FULL] = 1;
	while (!stage->number[QUIT])
		pause();
	return 0;
}

/* Root */

static struct tracer tracer;

static long fork_many(long n)
{
	pid_t pid;

	while (n--) {
		pid = fork();
		need(pid >= 0, "fork");
		if (!pid)
			_exit(0);
		need(waitpid(pid, NULL, 0) == pid, "waitpid");
	}
	return 0;
}

static long trace_place(long place)
{
	trace(&tracer, stage->number[PID], UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, place);
	return 0;
}

static long count_place(long place)
{
	return hits_of(&tracer, COOKIE(place));
}

static long untrace_place(long place)
{
	disarm_place(&tracer, place);
	untrace(&tracer);
	return 0;
}

/* Root has many files, since the kernel may serialize mappings by a hash of the inode. */
static long trace_files(long n)
{
	struct marker marker;
	int i;

	trace(&tracer, stage->number[PID], UTRACE_SCOPE_PROCESS);
	for (i = 0; i < ROOT_FILES; i++) {
		marker = marker_in(make_function(ROOT_FILE + i, ROOT_FILE + i), FUNCTION,
				   UTRACE_ARM_F_COUNT);
		marker.cookie = COOKIE(i);
		arm_marker(&tracer, marker);
		close(marker.site.fd);
	}
	return 0;
}

static long count_files(long n)
{
	long hits = 0;
	int i;

	for (i = 0; i < ROOT_FILES; i++)
		hits += hits_of(&tracer, COOKIE(i));
	return hits;
}

/*
 * Map root's files one after another, and call the function of each; returns how many
 * results are wrong.
 */
static long map_files(long n)
{
	int i, file, wrong = 0;

	for (i = 0; i < n; i++) {
		file = ROOT_FILE + i % ROOT_FILES;
		map_file(file);
		wrong += call_function(0) != file;
		munmap(PLACE, CODE_SIZE);
	}
	return wrong;
}

static long begin_counted_event(long place)
{
	begin_event('p', place);
	return 0;
}

/* Returns the hits of the event. */
static long end_counted_event(long n)
{
	long hits = event_hits('p');

	end_event('p');
	return hits;
}

/* The test */

/**
 * FIXTURE(attacks) - who is there before an attack
 * @user: arms markers, as the user
 * @root: traces, as root
 * @own: a process of root, which has loaded the library
 */
FIXTURE(attacks) {
	struct target user;
	struct target root;
	struct target own;
};

/* Give the user a folder, and the devices as distributions do. */
static void make_home(void)
{
	char home[64];

	snprintf(home, sizeof(home), "%s/home", folder);
	need(!mkdir(home, 0755) && !chown(home, USER, USER), home);
	allow_users();
	chmod("/dev/fuse", 0666);
}

static void remove_home(void)
{
	char home[64];
	int i;

	for (i = 0; i < FILES; i++)
		unlink(path_of(i));
	snprintf(home, sizeof(home), "%s/home", folder);
	rmdir(home);
}

static void start_user(struct target *target)
{
	start_words(target);
	have(target, SELF, be_user, 0);
}

/*
 * A marker works in root's process, which hits it by @call, and leaves nothing.  Returns
 * the result of the second call.
 */
static long marker_works(struct target *own, struct marker marker, order_fn *call)
{
	struct tracer roots;

	trace(&roots, own->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&roots, marker);
	stage->place = HIT;
	have(own, SELF, call, 1);
	is(1, hits_of(&roots, marker.cookie), "afterwards: a hit of root's");
	untrace(&roots);
	return have(own, SELF, call, 1);
}

/* Nothing is left of an attack: root uses the places that the user has used. */
static void nothing_is_left(struct target *own)
{
	int events = open(TRACEFS "uprobe_events", O_RDONLY | O_CLOEXEC);
	int fd = make_function(0, 7);
	char byte;

	need(events >= 0, "uprobe_events");
	is(0, read(events, &byte, 1), "afterwards: no event");
	close(events);
	marker_works(own, marker_of(HIT), hit_here);
	is(0, semaphore(own, HIT), "  with its semaphore");
	have(own, SELF, map_file, 0);
	is(7, marker_works(own, marker_in(fd, FUNCTION, UTRACE_ARM_F_COUNT), call_function),
	   "  with the present function");
	close(fd);
}

FIXTURE_SETUP(attacks)
{
	const char *why = dev_begin(_metadata);

	if (!why && !has_tracefs())
		why = NO_TRACEFS;
	if (why)
		SKIP(return, "%s", why);
	make_libraries();
	make_home();
	fuse_share();
	start_user(&self->user);
	start_words(&self->root);
	start_sites(&self->own);
	stage->number[PID] = self->own.pid;
}

FIXTURE_TEARDOWN(attacks)
{
	stop(&self->user);
	stop(&self->root);
	nothing_is_left(&self->own);
	stop(&self->own);
	ut_cg_remove();
	remove_home();
	remove_libraries();
	dev_end();
}

/* The answer to the last order of goes_on(). */
static long answer;

/* Check that the target carries out the order in time. */
static bool goes_on(struct target *target, enum who who, order_fn *function, long n,
		    const char *text)
{
	long before = now_ms();
	bool good;

	tell(target, who, function, n);
	good = get_answer(target, who, &answer);
	return holds(good, "%s: %ld ms", text, now_ms() - before);
}

/* Check that SIGKILL ends the process in time. */
static void ends(pid_t pid, const char *text)
{
	kill(pid, SIGKILL);
	is(SIGKILL, status_of(pid), text);
}

/* Root traces a marker in his process, whose task @who hits it. */
static bool marker_goes_on(struct target *root, struct target *own, enum who who)
{
	stage->number[PID] = own->pid;
	stage->place = HIT;
	return goes_on(root, SELF, trace_place, HIT, "root arms a marker") &&
	       goes_on(own, who, hit_here, 5, "  his process hits it") &&
	       goes_on(root, SELF, count_place, HIT, "  he counts") &&
	       is(5, answer, "  each hit") &&
	       goes_on(root, SELF, untrace_place, HIT, "  he disarms the marker") &&
	       goes_on(own, who, hit_here, 5, "  his process goes on");
}

/* An event of root's ends; his process has hit it @hits times. */
static bool event_ends(struct target *root, int hits)
{
	return goes_on(root, SELF, end_counted_event, 0, "root ends his event") &&
	       is(hits, answer, "  which has all hits");
}

/* Have the user trace the process. */
static void trace_as(struct target *user, pid_t pid, __u32 scope)
{
	long ret;

	stage->number[PID] = pid;
	ret = have(user, SELF, trace_process, scope);
	errno = -ret;
	need(!ret, "the user's session");
}

static void arm_as(struct target *user, __u64 offset)
{
	long ret = have(user, SELF, arm_offset, offset);

	errno = -ret;
	need(!ret, "the user's marker");
}

/*
 * Get the user's process ready for an attack: the THREAD will read the silent page.
 * Returns 0, or -errno if the user cannot mount FUSE.
 */
static long get_ready(struct target *held)
{
	long ret = have(held, SELF, map_page, 0);

	if (ret)
		stop(held);
	else
		have_more(held, THREAD);
	return ret;
}

#define NO_FUSE		"no FUSE in user namespaces (FUSE_FS, USER_NS): %s"

static void keep_lock(struct target *held)
{
	tell(held, THREAD, read_page, 0);
	need(until(fuse_server->reads && waits_in(held->tid[THREAD], SYS_pread64)),
	     "a thread that has the mmap_lock");
	tell(held, SELF, want_lock, 0);
	need(until(waits_in(held->tid[SELF], SYS_mmap)),
	     "a thread that wants the mmap_lock");
}

static bool is_lock_kept(struct target *held)
{
	return holds(fuse_keeps(held->tid[THREAD], held->tid[SELF]),
		     "the mmap_lock is kept");
}

static void release(struct target *held)
{
	fuse_end();
	ends(held->pid, "SIGKILL ends the process");
	stop(held);
}

/* Let the user's cgroup have MEMORY_MAX; NULL, or why there is none. */
static const char *limit_memory(void)
{
	const char *why = ut_cg_make("+memory");
	char text[32];

	snprintf(text, sizeof(text), "%lu", MEMORY_MAX);
	if (!why && ut_cg_write("memory.max", text))
		why = "no memory.max";
	/* A kernel without swap has no such file. */
	if (!why)
		ut_cg_write("memory.swap.max", "0");
	return why;
}

/* Move a process into the cgroup, and have the OOM killer spare it. */
static void limit_process(struct target *target)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", target->pid);
	need(!ut_write_file(path, "-1000"), path);
	if (ut_cg[0])
		need(!ut_cg_add(target->pid), "cgroup.procs");
}

/* How often the cgroup reached its limit. */
static long limit_events(void)
{
	char text[512], *at;

	if (ut_read_file(text, sizeof(text), "%s/memory.events", ut_cg) <= 0)
		return -1;
	at = strstr(text, "\nmax ");
	return at ? atol(at + strlen("\nmax ")) : -1;
}

/*
 * The user truncates a file under his marker, and takes the marker back, while the lock
 * of another process that maps the file is kept.  Forks wait for none of that.
 */
TEST_F_TIMEOUT(attacks, forks_go_on, LONG_TIMEOUT)
{
	struct target *user = &self->user, *root = &self->root, held, mapper;
	long ret;

	have(user, SELF, new_code, 0);
	start_user(&held);
	ret = get_ready(&held);
	if (ret)
		SKIP(return, NO_FUSE, strerror(-ret));
	start_user(&mapper);
	have(&mapper, SELF, map_file, 0);
	have(&held, SELF, map_file, 0);
	trace_as(user, mapper.pid, UTRACE_SCOPE_PROCESS);
	arm_as(user, FUNCTION);
	keep_lock(&held);
	tell(user, SELF, truncate_on, 0);
	need(until(stage->number[STEPS] > 0), "a truncated file");
	need(until(stage->number[STEPS] > 2 || waits_in(user->pid, SYS_ioctl)),
	     "a user who goes on or waits");
	if (is_lock_kept(&held) && goes_on(root, SELF, fork_many, 20, "root forks 20 times"))
		marker_goes_on(root, &self->own, SELF);
	is_lock_kept(&held);
	holds(true, "the user came to step %ld", stage->number[STEPS]);
	stage->number[QUIT] = 1;
	release(&held);
	ends(user->pid, "SIGKILL ends the user");
	ends(mapper.pid, "SIGKILL ends his other process");
	stop(&mapper);
}

/*
 * The user arms a marker in the process whose lock is kept, and may have to wait.  Another
 * session arms a word and a marker there, and root arms the same place in his process.
 */
TEST_F_TIMEOUT(attacks, registrations_go_on, LONG_TIMEOUT)
{
	struct target *user = &self->user, *own = &self->own, held, other;
	long ret;

	start_sites(&held);
	have(&held, SELF, be_user, 0);
	ret = get_ready(&held);
	if (ret)
		SKIP(return, NO_FUSE, strerror(-ret));
	start_user(&other);
	have_more(own, THREAD);
	trace_as(user, held.pid, UTRACE_SCOPE_PROCESS);
	trace_as(&other, held.pid, UTRACE_SCOPE_PROCESS);
	keep_lock(&held);
	tell(user, SELF, arm_library, HIT);
	need(until(stage->number[STEPS] || waits_in(user->pid, SYS_ioctl)),
	     "a marker that is armed or waits");
	tell(&other, SELF, arm_one_word, 0);
	holds(until(stage->number[WORDS]), "a word of the same process does not wait");
	printf("#   the user's marker %s\n", stage->number[STEPS] ? "does not wait" :
	       "waits");
	if (is_lock_kept(&held) && marker_goes_on(&self->root, own, THREAD))
		marker_goes_on(&self->root, own, SELF);
	is_lock_kept(&held);
	/* Whoever comes second waits for the first one. */
	if (!stage->number[STEPS]) {
		tell(&other, SELF, arm_library, PLAIN);
		need(until(stage->number[STEPS] || waits_in(other.pid, SYS_ioctl)),
		     "a second marker that is armed or waits");
		printf("#   a second marker of the process %s\n",
		       stage->number[STEPS] ? "does not wait" : "waits");
		ends(other.pid, "SIGKILL ends the user who arms it");
		is_lock_kept(&held);
	}
	ends(user->pid, "SIGKILL ends the user who arms a marker");
	is_lock_kept(&held);
	release(&held);
	stop(&other);
}

/* The hit at FUNCTION waits for the lock. */
static bool hit_waits(void)
{
	return waits_at(stage->number[HITTER], PLACE + FUNCTION);
}

/* Let the threads hit.  The hit that waits was counted, so it is no fault of the page. */
static void let_hit(struct target *user)
{
	stage->number[GO] = 1;
	need(until(hit_waits()), "a hit that waits");
	is(1, have(user, SELF, count_offset, FUNCTION), "the hit that waits is counted");
	need(until(stage->number[RETURNED] ||
		   waits_at(stage->number[OTHER_HITTER], PLACE + NOP)),
	     "a hit that has returned or waits");
	holds(true, "%ld of 2 threads have returned", stage->number[RETURNED]);
}

/* A thread that hits waits for the lock, and no other one waits for it. */
TEST_F_TIMEOUT(attacks, hits_keep_no_rcu, LONG_TIMEOUT)
{
	struct target *user = &self->user, *root = &self->root, *own = &self->own;
	struct target held;
	long ret;

	have(user, SELF, new_code, 0);
	start_user(&held);
	ret = get_ready(&held);
	if (ret)
		SKIP(return, NO_FUSE, strerror(-ret));
	have(&held, SELF, map_file, 0);
	trace_as(user, held.pid, UTRACE_SCOPE_PROCESS);
	arm_as(user, FUNCTION);
	arm_as(user, NOP);
	have(&held, SELF, start_hitters, 0);
	have(root, SELF, begin_counted_event, ADD);
	hit(own, ADD, 5);
	keep_lock(&held);
	let_hit(user);
	if (is_lock_kept(&held) && marker_goes_on(root, own, SELF))
		event_ends(root, 5);
	holds(hit_waits(), "the hit still waits");
	is_lock_kept(&held);
	release(&held);
}

#define SITES		200
#define CROWD		8
#define BATCHES		4
#define BATCH		50

static void start_crowd(struct target *user, struct target *crowd)
{
	long ret;
	int i;

	have(user, SELF, new_code, 0);
	start_words(crowd);
	limit_process(crowd);
	have(crowd, SELF, be_user, 0);
	trace_as(user, crowd->pid, UTRACE_SCOPE_TREE);
	/* The sites are in all pages of the file, but the sysctl may allow fewer. */
	for (i = 0; i < SITES; i++) {
		ret = have(user, SELF, arm_offset, PAGE / 8 + i * (CODE_SIZE - PAGE) / SITES);
		if (ret == -EUSERS)
			break;
		errno = -ret;
		need(!ret, "the user's marker");
	}
	holds(i > 0, "the user has %d sites", i);
	tell(crowd, SELF, be_crowd, CROWD);
	need(until(stage->number[MAPPINGS] > 20), "mappings of the user");
}

/* The user's processes map a file full of markers, and have too little memory. */
TEST_F_TIMEOUT(attacks, mappings_go_on, LONG_TIMEOUT)
{
	struct target *root = &self->root, *own = &self->own, crowd;
	const char *why = limit_memory();
	bool good = true;
	long before;
	int i;

	if (why)
		holds(true, "without a limit of memory: %s", why);
	have(root, SELF, trace_files, 0);
	start_crowd(&self->user, &crowd);
	if (!why)
		holds(until(limit_events() > 0), "the user's memory is full");
	for (i = 0; i < BATCHES && good; i++) {
		before = stage->number[MAPPINGS];
		good = goes_on(own, SELF, map_files, BATCH, "root maps files") &&
		       is(0, answer, "  their functions return their numbers");
		holds(until(stage->number[MAPPINGS] > before), "  and the user, too");
	}
	if (good && goes_on(root, SELF, count_files, 0, "root counts"))
		is(BATCHES * BATCH, answer, "  each hit");
	stage->number[QUIT] = 1;
	holds(true, "%ld mappings of the user, %ld deaths, %ld times no memory",
	      stage->number[MAPPINGS], stage->number[DEATHS], why ? 0 : limit_events());
	ends(crowd.pid, "SIGKILL ends the user's processes");
	stop(&crowd);
}

#define RECLAIMED	16	/* pages */

/* Check that the user's cgroup is full, but for some pages. */
static bool is_memory_full(long pages)
{
	int fd = open_memory_current();
	long room = room_of(fd);

	close(fd);
	return holds(room <= pages * (long)PAGE, "the user's memory is full but for %ld bytes",
		     room);
}

/* Root's event gets no memory in the process @full, and works in other processes. */
static bool event_works(struct target *root, struct target *own, pid_t full,
			enum place place)
{
	if (!goes_on(root, SELF, begin_counted_event, place, "root begins an event"))
		return false;
	holds(true, "  the user's process has %#x at the place", byte_at(full, place));
	/* The kernel may have reclaimed some of its own memory. */
	is_memory_full(RECLAIMED);
	stage->place = place;
	return goes_on(own, SELF, hit_here, 7, "  his process hits it") && event_ends(root, 7);
}

/*
 * A process of the user has the library and fills its cgroup.  The OOM killer must not
 * end the process, for that would make room: so the process is exempt.
 */
TEST_F_TIMEOUT(attacks, full_memory_is_the_users, LONG_TIMEOUT)
{
	struct target *root = &self->root, full;
	const char *why = limit_memory();

	if (why)
		SKIP(return, "%s", why);
	start_sites(&full);
	/* There is one stock of charged pages for each CPU. */
	pin_to_cpu(full.pid, 0);
	limit_process(&full);
	have(&full, SELF, be_user, 0);
	tell(&full, SELF, fill_memory, 0);
	need(until(stage->number[FULL]), "full memory");
	if (is_memory_full(2) && event_works(root, &self->own, full.pid, PLAIN) &&
	    is_memory_full(RECLAIMED))
		event_works(root, &self->own, full.pid, HIT);
	is(0, waitpid(full.pid, NULL, WNOHANG), "the user's process lives");
	stop(&full);
}

/* The user's process has a breakpoint of its own where root's event is. */
TEST_F_TIMEOUT(attacks, a_breakpoint_of_ones_own, LONG_TIMEOUT)
{
	struct target *user = &self->user, *root = &self->root, *own = &self->own, his;
	int text;
	long result;

	start_sites(&his);
	have(&his, SELF, be_user, 0);
	text = byte_at(his.pid, HIT);
	stage->number[PID] = his.pid;
	have(user, SELF, write_place, INT3);
	is(INT3, byte_at(his.pid, HIT), "a breakpoint of the user's");
	stage->place = HIT;
	if (goes_on(root, SELF, begin_counted_event, HIT, "root begins an event")) {
		is(INT3, byte_at(his.pid, HIT), "  the user's breakpoint is there");
		if (goes_on(own, SELF, hit_here, 5, "  root's process hits it"))
			event_ends(root, 5);
	}
	is(INT3, byte_at(his.pid, HIT), "  the user's breakpoint is still there");
	is(0, semaphore(&his, HIT), "  the semaphore is no longer raised");
	have(user, SELF, write_place, text);
	hit(own, HIT, 1);
	result = stage->result;
	hit(&his, HIT, 1);
	is(result, stage->result, "the user has removed it");
	stop(&his);
}

#define GONE		64

/* The user truncates and removes files whose markers are armed. */
static void leave_nothing(struct target *user)
{
	struct target mapper;
	int i, disarmed = 0;

	start_user(&mapper);
	for (i = 0; i < GONE; i++) {
		have(user, SELF, new_code, i);
		have(&mapper, SELF, map_file, i);
		trace_as(user, mapper.pid, UTRACE_SCOPE_PROCESS);
		arm_as(user, FUNCTION);
		have(user, SELF, truncate_code, 0);
		disarmed += !have(user, SELF, disarm_last, 0);
		have(user, SELF, forget_code, i);
	}
	holds(true, "the user has disarmed %d of %d markers", disarmed, GONE);
	stop(&mapper);
}

static int event_of_file(int file, bool add)
{
	char text[160];

	if (add)
		snprintf(text, sizeof(text), "p:utrace_test/f%d %s:0x%x\n", file,
			 path_of(file), FUNCTION);
	else
		snprintf(text, sizeof(text), "-:utrace_test/f%d\n", file);
	return write_tracefs("uprobe_events", text);
}

/* The sum of the hits of all events. */
static long hits_of_events(void)
{
	FILE *file = fopen(TRACEFS "uprobe_profile", "re");
	long hits, sum = 0;
	char line[512];

	need(file, "uprobe_profile");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s f%*d %ld", &hits) == 1)
			sum += hits;
	fclose(file);
	return sum;
}

static void add_files_with_events(void)
{
	int i;

	for (i = ROOT_FILE; i < ROOT_FILE + GONE; i++) {
		close(make_function(i, i));
		need(!event_of_file(i, true), "uprobe_events");
	}
	need(!write_tracefs("events/utrace_test/enable", "1"), "enable events");
}

static void remove_events_of_files(void)
{
	int i;

	need(!write_tracefs("events/utrace_test/enable", "0"), "disable events");
	for (i = ROOT_FILE; i < ROOT_FILE + GONE; i++)
		need(!event_of_file(i, false), "remove an event");
}

/* Root's files may have the inodes of the user's, and have another instruction. */
TEST_F_TIMEOUT(attacks, truncated_and_gone, LONG_TIMEOUT)
{
	struct target *own = &self->own;
	int i, wrong = 0;

	leave_nothing(&self->user);
	add_files_with_events();
	for (i = ROOT_FILE; i < ROOT_FILE + GONE; i++) {
		have(own, SELF, map_file, i);
		wrong += have(own, SELF, call_function, 0) != i;
	}
	is(0, wrong, "root's functions return their numbers");
	is(GONE, hits_of_events(), "root's events have all hits");
	remove_events_of_files();
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - words: programs and tracers that do their worst
 */
#include "words.h"
#include "../silent.h"

#define BIT		UTRACE_WORD_BIT32
#define COUNT		UTRACE_WORD_COUNT16

#define BIT_SET		0x80000000

/* Words in area, and a count in memory that comes and goes. */
#define WORD		(area + PAGE)
#define SEMAPHORE	(area + PAGE + 66)
#define IN_PLACE	(PLACE + 66)

/* Each 16 bits of the file are this number. */
#define OF_THE_FILE	7

/* A memfd that an executed program has, too: number[7] is its descriptor. */
static int file = -1;

/* The set-id program, in a folder of its own. */
static char folder[32], setid[64];

/* The target's end of a socket, and its own session. */
static int sockets[2], own = -1;

static void make_file(void)
{
	__u16 page[PAGE / 2];
	size_t i;

	for (i = 0; i < PAGE / 2; i++)
		page[i] = OF_THE_FILE;
	file = memfd_create("file", 0);
	need(file >= 0 && write(file, page, PAGE) == PAGE, "memfd");
}

static bool map_file(void)
{
	return mmap(PLACE, PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_FIXED, file, 0) == PLACE;
}

/* Check that the page is as in the file, but for the count at IN_PLACE. */
static bool is_page_of_file(void)
{
	const __u16 *page = (void *)PLACE;
	size_t i, n = 0;

	for (i = 0; i < PAGE / 2; i++)
		n += page[i] != OF_THE_FILE && &page[i] != (void *)IN_PLACE;
	return !n;
}

/*
 * Map the file and unmap it, again and again.  The count has to be there as
 * soon as mmap(2) returns; a count that is taken from a page that never had
 * more would be less than the file's.
 */
static long map_and_unmap(long unused)
{
	while (!shared->quit) {
		unsigned int phase = shared->phase;

		if (!map_file())
			_exit(95);
		judge(0, phase, load(IN_PLACE, 2), OF_THE_FILE,
		      OF_THE_FILE + 1);
		shared->strange += !is_page_of_file();
		shared->number[0]++;
		if (munmap(PLACE, PAGE))
			_exit(94);
	}
	return 0;
}

static long become_setid(long unused)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl(setid, "words", "setid", number, NULL);
	_exit(93);
}

/* The file that keeps the execve(2) of a target. */
static int kept_by = -1;

static long execute_kept(long unused)
{
	if (silent_read_async(kept_by))
		exec_self("setid");
	_exit(90);
}

/* A child that inherits the target's session and loads WORD once. */
static long fork_holder(long unused)
{
	pid_t pid = plain_fork();

	if (pid)
		return 0;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->number[0] = load(WORD, 4);
	shared->number[1] = 1;
	while (!shared->quit)
		usleep(1000);
	_exit(0);
}

/* Orders about a session of the target; shared::seen is the word after that. */

static long receive_session(long unused)
{
	own = receive_fd(sockets[1]);
	return 0;
}

static long open_session(long scope)
{
	own = try_words(getpid(), scope);
	return own < 0 ? own : 0;
}

static long arm_own(long unused)
{
	long ret = !is_given(word_arm(own, WORD, BIT, 31));

	shared->seen = load(WORD, 4);
	return ret;
}

static long disarm_own(long unused)
{
	long ret = word_disarm(own, WORD, BIT, 31);

	shared->seen = load(WORD, 4);
	return ret;
}

static long close_own(long unused)
{
	long ret = close(own);

	shared->seen = load(WORD, 4);
	return ret;
}

/* Returns the word after the end of the child. */
static long reap_and_load(long unused)
{
	wait(NULL);
	return load(WORD, 4);
}

/* A target whose word comes and goes with its page. */
TEST_F_TIMEOUT(dev, map_storm, LONG_TIMEOUT)
{
	const int toggles = times(5000);
	int fd, i, ret = 0, unmapped = 0;
	struct target target;

	make_file();
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	tell(&target, SELF, map_and_unmap, 0);
	for (i = 0; i < toggles && !ret; i++) {
		ret = toggle(fd, IN_PLACE, COUNT, 0,
			     i % 16 ? NO_WAIT : FOR_A_LOOK);
		unmapped += ret == EFAULT;
		ret = ret == EFAULT ? 0 : ret;
	}
	is(0, ret, "the count is toggled");
	shared->quit = 1;
	hear(&target, SELF);
	holds(true, "%ld mappings, %d times there was none",
	      shared->number[0], unmapped);
	are_good_looks("after mmap");
	is(0, words_total(fd), "no word is left");
	close(fd);
	stop(&target);
}

/* The program that executes itself, until the test says quit. */
static int be_storm(void)
{
	unsigned int phase = shared->phase;
	__u64 value;

	file = shared->number[7];
	if (!map_file())
		return 92;
	value = load(IN_PLACE, 2);
	shared->strange += value != OF_THE_FILE && value != OF_THE_FILE + 1;
	shared->strange += !is_page_of_file();
	if (phase == shared->phase && phase % 4 == OUT) {
		shared->stale += value != OF_THE_FILE;
		shared->looks++;
	}
	shared->number[0]++;
	if (!shared->quit)
		exec_self("storm");
	return load(IN_PLACE, 2) == OF_THE_FILE ? 0 : 91;
}

/* A word ends with the memory at execve(2), whatever the moment. */
static void check_exec_storm(__u32 scope)
{
	const int programs = times(200);
	int fd, state = 0, ret = 0, wrong = 0, refused = 0;
	struct target target;

	shared->quit = 0;
	shared->number[0] = 0;
	start_words(&target);
	fd = words_open(target.pid, scope);
	tell(&target, SELF, become_program, (long)"storm");
	need(until(shared->number[0] >= 5), "programs");
	while (shared->number[0] < programs && !wrong) {
		shared->phase++;
		state = word_arm(fd, IN_PLACE, COUNT, 0);
		/* EAGAIN: during execve(2). */
		wrong += !is_given(state) && state != -EAGAIN &&
			 (state != UTRACE_ARM_STATE_FAILED || word_error != EFAULT);
		shared->phase += 2;
		ret = word_disarm(fd, IN_PLACE, COUNT, 0);
		wrong += ret != (state < 0 ? -ENOENT : 0);
		refused += state < 0;
		shared->phase++;
	}
	holds(!wrong, "arming (%d, %d), disarming (%d)", state, word_error,
	      ret);
	holds(true, "ARM was refused %d times", refused);
	shared->quit = 1;
	is(0, status_of(target.pid), "the last program has no word");
	holds(until(!words_total(fd)), "nor has the list");
	close(fd);
	stop(&target);
}

TEST_F_TIMEOUT(dev, exec_storm, LONG_TIMEOUT)
{
	make_file();
	share();
	shared->number[7] = file;
	check_exec_storm(UTRACE_SCOPE_PROCESS);
	check_exec_storm(UTRACE_SCOPE_TREE);
	are_good_looks("programs");
}

/* Arm a word; returns 0 or an errno. */
static int arm_or_fail(void *fd)
{
	int state = word_arm(*(int *)fd, IN_PLACE, COUNT, 0);

	return state < 0 ? -state : 0;
}

static int disarm_or_fail(void *fd)
{
	return -word_disarm(*(int *)fd, WORD, BIT, 31);
}

/* An execve(2) that takes as long as a FUSE server likes is not waited for. */
TEST_F(dev, armed_while_executed)
{
	struct target target;
	int fd;

	kept_by = silent_file();
	if (kept_by < 0)
		SKIP(return, "no files of FUSE (FUSE_FS): %s", strerror(errno));
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, BIT, 31);
	tell(&target, SELF, execute_kept, 0);
	need(until(silent_keeps(target.pid)), "a process in execve(2)");
	is(EAGAIN, in_child_for(arm_or_fail, &fd, SOON), "ARM fails at once");
	is(0, in_child_for(disarm_or_fail, &fd, SOON),
	   "DISARM works at once: the word is gone with the memory");
	is(ENOENT, in_child_for(disarm_or_fail, &fd, SOON), "but not twice");
	holds(silent_keeps(target.pid), "the process is in execve(2) still");
	silent_end();
	need(until(shared->number[0]), "the program");
	is(0, shared->number[1], "it starts without the word");
	arm(fd, IN_PLACE, COUNT, 0);
	holds(until(read_word(target.pid, IN_PLACE, 2) == 1), "ARM works again");
	disarm(fd, IN_PLACE, COUNT, 0);
	holds(until(!read_word(target.pid, IN_PLACE, 2)), "and DISARM");
	close(fd);
	shared->quit = 1;
	is(0, status_of(target.pid), "the program has no word in the end");
	stop(&target);
}

/* After execve(2) a word at the same address is a new one with an id of its own. */
TEST_F(dev, ids_before_execve)
{
	struct target target;
	__u32 first, second;
	int fd;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	have(&target, SELF, map_new_page, 0);
	need(is_given(word_arm_for(fd, WORD_TARGET, IN_PLACE, COUNT, 0, &first)),
	     "a word");
	tell(&target, SELF, become_program, (long)"setid");
	need(until(shared->number[0]), "the program");
	holds(is_given(word_arm_for(fd, WORD_TARGET, IN_PLACE, COUNT, 0, &second)),
	      "armed again");
	holds(until(read_word(target.pid, IN_PLACE, 2) == 1), "the program has it");
	is(0, disarm_id(fd, first), "DISARM of the old word");
	is(1, read_word(target.pid, IN_PLACE, 2), "leaves the new one");
	is(0, disarm_id(fd, second), "DISARM of the new one");
	holds(until(!read_word(target.pid, IN_PLACE, 2)), "takes it back");
	close(fd);
	shared->quit = 1;
	is(0, status_of(target.pid), "the program has no word in the end");
	stop(&target);
}

/* The process becomes one that its user may not trace. */
static int arm_hidden(void *by)
{
	const enum hiding hiding = *(enum hiding *)by;
	struct target target;
	int fd;

	become_nobody();
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, BIT, 31);
	is(BIT_SET, look(&target, WORD, 4), "a word is armed");
	set_hidden(&target, hiding, true);
	is(-EPERM, word_arm(fd, SEMAPHORE, COUNT, 0), "ARM");
	is(0, look(&target, SEMAPHORE, 2), "nothing is armed");
	is(-EPERM, try_words(target.pid, UTRACE_SCOPE_PROCESS), "a session");
	is(BIT_SET, look(&target, WORD, 4), "what was armed before stays");
	close(fd);
	is(0, look(&target, WORD, 4), "and is taken back");
	set_hidden(&target, hiding, false);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, SEMAPHORE, COUNT, 0);
	is(1, look(&target, SEMAPHORE, 2), "and armed when it may be again");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

/* Words that are left in a process which its user may no longer trace. */
static int change_hidden(void *by)
{
	const enum hiding hiding = *(enum hiding *)by;
	struct target target;
	int fd, bit;

	become_nobody();
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, BIT, 31);
	arm(fd, SEMAPHORE, COUNT, 0);
	is(1, look(&target, SEMAPHORE, 2), "words are armed");
	set_hidden(&target, hiding, true);
	put(&target, WORD, 4, 0xffffffff);
	is(0, word_disarm(fd, WORD, BIT, 31), "DISARM of what the program has written over");
	is(0, word_disarm(fd, SEMAPHORE, COUNT, 0), "DISARM of what stands as written");
	is(0xffffffff, look(&target, WORD, 4), "the program's data stay");
	is(0, look(&target, SEMAPHORE, 2), "what stood as written is taken back");
	is(0, words_total(fd), "the list tells of neither");

	put(&target, WORD, 4, 0);
	set_hidden(&target, hiding, false);
	for (bit = 0; bit < 32; bit += 2)
		(void)word_arm(fd, PLACE, BIT, bit);
	is(16, words_total(fd), "armed where there is no memory");
	set_hidden(&target, hiding, true);
	have(&target, SELF, map_new_page, 0);
	is(0, look(&target, PLACE, 4), "memory that is mapped later is not written to");
	is(0, words_total(fd), "and the words are gone");
	is(0, word_disarm(fd, PLACE, BIT, 0), "DISARM");
	is(-ENOENT, word_disarm(fd, PLACE, BIT, 0), "  is not done twice");
	set_hidden(&target, hiding, false);
	arm(fd, PLACE, BIT, 0);
	is(1, look(&target, PLACE, 4), "and armed when it may be again");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

/* The set-id program: report what it loads, and exit when the test sets shared->quit. */
static int be_setid(void)
{
	int left = 4 * DEADLINE_MS;

	if (geteuid() || mmap(PLACE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE |
			      MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
			      0) != PLACE)
		return 90;
	shared->number[1] = load(IN_PLACE, 2);
	shared->number[0] = 1;
	for (; !shared->quit && left; left--)
		usleep(1000);
	return load(IN_PLACE, 2) ? 89 : 0;
}

static int arm_setid(void *arg)
{
	struct target target;
	int fd;

	become_nobody();
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	arm(fd, WORD, BIT, 31);
	fails(EFAULT, fd, IN_PLACE, COUNT, 0, "memory that will be there");
	tell(&target, SELF, become_setid, 0);
	need(until(shared->number[0]), "the set-id program");
	is(0, shared->number[1], "the program starts without the words");
	is(-EPERM, word_arm(fd, IN_PLACE, COUNT, 0), "ARM");
	is(0, word_disarm(fd, IN_PLACE, COUNT, 0), "DISARM");
	is(-ENOENT, word_disarm(fd, IN_PLACE, COUNT, 0), "  is not done twice");
	is(-EPERM, try_words(target.pid, UTRACE_SCOPE_PROCESS), "a session");
	close(fd);
	shared->quit = 1;
	is(0, status_of(target.pid), "the program has never seen a word");
	return dev_test->exit_code;
}

static void copy_program(void)
{
	static char bytes[1 << 16];
	int from, to;
	ssize_t n;

	snprintf(folder, sizeof(folder), "/tmp/utrace-words.XXXXXX");
	need(mkdtemp(folder) && !chmod(folder, 0755), folder);
	snprintf(setid, sizeof(setid), "%s/setid", folder);
	from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	to = open(setid, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	need(from >= 0 && to >= 0, setid);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		need(write(to, bytes, n) == n, setid);
	need(!n && !fchmod(to, 04755), setid);
	close(from);
	close(to);
}

static void as_nobody(int (*function)(void *arg), void *arg)
{
	allow_users();
	is(0, in_child_with_sysctls(function, arg), "a user without privileges");
	set_unprivileged("0");
}

TEST_F(dev, process_that_is_hidden)
{
	enum hiding by = BY_DUMPABLE;

	as_nobody(arm_hidden, &by);
}

TEST_F(dev, words_of_a_process_that_is_hidden)
{
	enum hiding by = BY_DUMPABLE;

	as_nobody(change_hidden, &by);
}

/* Users without privileges lose the right to the device, and get it back. */
TEST_F(dev, unprivileged_is_0)
{
	enum hiding by = BY_SYSCTL;

	as_nobody(arm_hidden, &by);
	as_nobody(change_hidden, &by);
}

TEST_F(dev, setid_program)
{
	copy_program();
	share();
	as_nobody(arm_setid, NULL);
	unlink(setid);
	rmdir(folder);
}

/* Have the target use its session; check the result, and the word after that. */
static void use_own(struct target *target, order_fn *use, int result, __u64 seen,
		    const char *text)
{
	is(result, have(target, SELF, use, 0), text);
	is(seen, shared->seen, "  as the target sees at once");
}

/* Wait for the other end of the socket, or let it go on. */
static void await_peer(int socket)
{
	char byte;

	need(read(socket, &byte, 1) == 1, "the other process");
}

static void release_peer(int socket)
{
	need(write(socket, "", 1) == 1, "the other process");
}

/*
 * The user nobody attaches a session that root has opened to a process of its
 * own.  The process becomes one that nobody may not trace.
 */
static int lend_target(int fd)
{
	struct target target;

	become_nobody();
	start_words(&target);
	is(WORD_TARGET, attach(fd, target.pid, UTRACE_SCOPE_PROCESS), "ATTACH");
	have(&target, SELF, set_dumpable, 0);
	release_peer(sockets[1]);
	await_peer(sockets[1]);
	is(0, look(&target, SEMAPHORE, 2), "no count is armed");
	is(0, look(&target, WORD, 4), "no bit is armed");
	have(&target, SELF, set_dumpable, 1);
	release_peer(sockets[1]);
	await_peer(sockets[1]);
	is(1, look(&target, SEMAPHORE, 2), "armed when nobody may");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

/* Arm a word for a target that root has attached. */
static int arm_as_nobody(void *fd)
{
	become_nobody();
	return -word_arm(*(int *)fd, WORD, BIT, 31);
}

/*
 * Root attaches the tree of a process of nobody, and gives the session away.  Programs
 * that come later would be changed in root's rights.
 */
TEST_F(dev, session_given_away)
{
	struct target target;
	int fd;

	allow_users();
	start_words(&target);
	have(&target, SELF, be_nobody, 0);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	is(EPERM, in_child(arm_as_nobody, &fd), "nobody arms a word");
	is(0, look(&target, WORD, 4), "it is not there");
	arm(fd, WORD, BIT, 31);
	is(EPERM, in_child(arm_as_nobody, &fd), "nor beside root");
	is(BIT_SET, look(&target, WORD, 4), "root's is there");
	close(fd);
	stop(&target);
	set_unprivileged("0");
}

/* Rights are those of the process that attached the target, whoever arms words. */
TEST_F(dev, target_of_another_user)
{
	pid_t pid;
	int fd;

	need(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), "socketpair");
	allow_users();
	fd = session();
	need(!setup(fd, small_rings()), "setup");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid)
		_exit(lend_target(fd));
	close(sockets[1]);
	await_peer(sockets[0]);
	is(-EPERM, word_arm(fd, SEMAPHORE, COUNT, 0), "root arms a count");
	is(-EPERM, word_arm(fd, WORD, BIT, 31), "root arms a bit");
	release_peer(sockets[0]);
	await_peer(sockets[0]);
	holds(is_given(word_arm(fd, SEMAPHORE, COUNT, 0)), "root arms when nobody may");
	release_peer(sockets[0]);
	is(0, status_of(pid), "a user without privileges");
	close(fd);
	set_unprivileged("0");
}

/*
 * Nobody closes root's session, and may not look whether the program has changed the
 * bits beside that of the session.  The target may.
 */
TEST_F(dev, session_closed_by_another_user)
{
	struct target target;
	pid_t pid;
	int fd;

	need(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), "socketpair");
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm(fd, WORD, BIT, 31);
	is(BIT_SET, look(&target, WORD, 4), "root's bit");
	put(&target, WORD, 4, BIT_SET | 5);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		become_nobody();
		await_peer(sockets[1]);
		_exit(close(fd));
	}
	close(fd);
	is(BIT_SET | 5, look(&target, WORD, 4), "the bit stays with the last copy");
	release_peer(sockets[0]);
	is(0, status_of(pid), "closed by nobody");
	is(5, look(&target, WORD, 4), "the bit is taken back, and nothing else");
	stop(&target);
}

/* The target gets the session that arms its own words. */
TEST_F(dev, session_in_the_target)
{
	struct target target;
	int fd;

	need(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), "socketpair");
	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_TREE);
	arm(fd, SEMAPHORE, COUNT, 0);
	need(send_fd(sockets[0], fd), "a session for the target");
	have(&target, SELF, receive_session, 0);
	close(fd);
	is(1, look(&target, SEMAPHORE, 2), "the target has the last copy");
	use_own(&target, arm_own, 0, BIT_SET, "armed by itself");
	use_own(&target, disarm_own, 0, 0, "disarmed by itself");
	use_own(&target, arm_own, 0, BIT_SET, "armed again");
	use_own(&target, close_own, 0, 0, "closed by itself");
	is(0, look(&target, SEMAPHORE, 2), "no word is left");
	stop(&target);
}

/* A process arms its own words; a child may inherit the session. */
static void check_own(__u32 scope)
{
	struct target target;

	shared->quit = 0;
	shared->number[1] = 0;
	start_words(&target);
	is(0, have(&target, SELF, open_session, scope), "a session of itself");
	use_own(&target, arm_own, 0, BIT_SET, "armed by itself");
	have(&target, SELF, fork_holder, 0);
	need(until(shared->number[1]), "a child");
	is(scope == UTRACE_SCOPE_TREE ? BIT_SET : 0, shared->number[0],
	   "what the child sees");
	use_own(&target, close_own, 0, BIT_SET, "closed, but the child has a copy");
	shared->quit = 1;
	is(0, have(&target, SELF, reap_and_load, 0), "gone with the child");
	have(&target, SELF, open_session, scope);
	use_own(&target, arm_own, 0, BIT_SET, "armed by itself");
	tell(&target, SELF, exit_with, 5);
	is(5 << 8, status_of(target.pid), "the end, with an own session");
	stop(&target);
}

TEST_F(dev, own_session)
{
	share();
	check_own(UTRACE_SCOPE_PROCESS);
	check_own(UTRACE_SCOPE_TREE);
}

/* Kill the target when the tracer has toggled the words number[1] times. */
static void *kill_later(void *target)
{
	while (shared->number[0] < shared->number[1] && !shared->quit)
		sched_yield();
	kill(((struct target *)target)->pid, SIGKILL);
	return NULL;
}

static bool is_good_of_dying(int state)
{
	return is_given(state) || state == -ESRCH ||
	       (state == UTRACE_ARM_STATE_FAILED && word_error == EFAULT);
}

TEST_F(dev, killed_while_arming)
{
	struct target target;
	pthread_t killer;
	int fd, i, state, ret, wrong = 0, ends = 0;
	long end;

	share();
	for (i = 0; i < times(50) && !wrong; i++) {
		start_words(&target);
		fd = words_open(target.pid, i % 2 ? UTRACE_SCOPE_TREE :
				UTRACE_SCOPE_PROCESS);
		shared->number[0] = 0;
		shared->number[1] = 7 * i % 64;
		need(!pthread_create(&killer, NULL, kill_later, &target),
		     "a thread");
		end = now_ms() + DEADLINE_MS;
		do {
			state = word_arm(fd, WORD, BIT, 31);
			ret = word_disarm(fd, WORD, BIT, 31);
			wrong += !is_good_of_dying(state);
			wrong += ret && ret != -ESRCH && ret != -ENOENT;
			shared->number[0]++;
		} while (state != -ESRCH && now_ms() < end);
		ends += state == -ESRCH;
		shared->quit = 1;
		pthread_join(killer, NULL);
		shared->quit = 0;
		wrong += !until(poll_words(fd, 0) & POLLHUP);
		wrong += word_arm(fd, SEMAPHORE, COUNT, 0) != -ESRCH;
		close(fd);
		stop(&target);
	}
	is(times(50), ends, "ARM says that the process is gone");
	is(0, wrong, "and nothing else comes");
}

#define MOST	200

/* Open a session and arm the count; returns its descriptor, or -errno. */
static int try_count(pid_t pid, __u32 scope)
{
	int fd = try_words(pid, scope), state;

	if (fd < 0)
		return fd;
	state = word_arm(fd, SEMAPHORE, COUNT, 0);
	if (is_given(state))
		return fd;
	close(fd);
	return state < 0 ? state : -EPROTO;
}

/* The process gets as many sessions as it may have; one more changes nothing. */
TEST_F(dev, many_sessions)
{
	int fd[MOST], n, i, ret = 0;
	struct target target;

	start_words(&target);
	put(&target, SEMAPHORE, 2, 7);
	for (n = 0; n < MOST; n++) {
		fd[n] = try_count(target.pid, UTRACE_SCOPE_PROCESS);
		ret = fd[n] < 0 ? fd[n] : 0;
		if (ret)
			break;
	}
	holds(n >= 16, "%d sessions", n);
	holds(!ret || ret == -ENOSPC || ret == -EUSERS, "then error %d", ret);
	is(7 + n, look(&target, SEMAPHORE, 2), "each has added 1");
	for (i = 0; i < 10 && ret; i++)
		is(ret, try_count(target.pid, UTRACE_SCOPE_TREE), "as before");
	is(7 + n, look(&target, SEMAPHORE, 2), "what is refused adds nothing");
	close(fd[0]);
	is(6 + n, look(&target, SEMAPHORE, 2), "one is closed");
	holds(until((fd[0] = try_count(target.pid, UTRACE_SCOPE_TREE)) >= 0),
	      "its place is free");
	is(7 + n, look(&target, SEMAPHORE, 2), "and taken");
	for (i = 0; i < n; i++)
		close(fd[i]);
	is(7, look(&target, SEMAPHORE, 2), "all are closed");
	holds(until(!word_engines(target.pid)), "and no engine is left");
	stop(&target);
}

#define WORDS	5000

/* Words without end; those that there are stay when there is no room. */
TEST_F(dev, many_words)
{
	unsigned char *at = area + 2 * PAGE;
	struct target target;
	int fd, n, state = 0;

	start_words(&target);
	fd = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	for (n = 0; n < WORDS; n++) {
		state = word_arm(fd, at + 2 * n, COUNT, 0);
		if (!is_given(state))
			break;
	}
	holds(n == WORDS || state == -ENOSPC, "%d words, then %d", n, state);
	is(n, words_total(fd), "are in the list");
	is(1, look(&target, at, 2), "the first one is armed");
	is(1, look(&target, at + 2 * (n - 1), 2), "and the last one");
	is(0, look(&target, at + 2 * n, 2), "and no other");
	disarm(fd, at, COUNT, 0);
	is(0, look(&target, at, 2), "disarmed");
	arm(fd, at, COUNT, 0);
	is(1, look(&target, at, 2), "and armed in its place");
	close(fd);
	for (state = 0; n-- > 0; )
		state += !!read_word(target.pid, at + 2 * n, 2);
	is(0, state, "all are taken back");
	is(0, look(&target, at, 2), "as the target sees");
	stop(&target);
}

/* More words than the kernel visits at once, in several pages. */
#define MANY	1000
#define OF_MANY(i)	(area + 2 * PAGE + 16 * (i))

/* Give up the pages of the words. */
static long give_up_many(long unused)
{
	if (madvise(OF_MANY(0), 16 * MANY, MADV_DONTNEED))
		_exit(98);
	return 0;
}

/* How many of the words have @value. */
static int have_value(pid_t pid, __u64 value)
{
	int i, n = 0;

	for (i = 0; i < MANY; i++)
		n += read_word(pid, OF_MANY(i), 2) == value;
	return n;
}

static void arm_many(int fd)
{
	int i;

	for (i = 0; i < MANY; i++)
		if (!is_given(word_arm(fd, OF_MANY(i), COUNT, 0)))
			break;
	is(MANY, i, "many words are armed");
}

TEST_F(dev, pieces)
{
	struct target target;
	pid_t child;
	int all, own;

	start_words(&target);
	all = words_open(target.pid, UTRACE_SCOPE_TREE);
	own = words_open(target.pid, UTRACE_SCOPE_PROCESS);
	arm_many(all);
	arm_many(own);
	is(2, look(&target, OF_MANY(0), 2), "the target runs on");
	is(MANY, have_value(target.pid, 2), "each has two counts");
	have(&target, SELF, give_up_many, 0);
	is(MANY, have_value(target.pid, 2), "so it is when the pages have gone");
	have_more(&target, CHILD);
	child = target.tid[CHILD];
	is(MANY, have_value(child, 1), "a child has those that follow");
	is(MANY, have_value(target.pid, 2), "and the parent all");
	have(&target, CHILD, give_up_many, 0);
	is(MANY, have_value(child, 1), "as when its pages have gone");
	is(2 * MANY, words_total(all), "the list has both processes");
	is(MANY, words_total(own), "that of the other session one");
	close(all);
	is(MANY, have_value(target.pid, 1), "one is closed");
	is(MANY, have_value(child, 0), "so the child has none");
	close(own);
	is(MANY, have_value(target.pid, 0), "both are closed");
	is(0, look(&target, OF_MANY(MANY - 1), 2), "as the target sees");
	stop(&target);
}

/* Sessions come and go while the target is stopped. */
static void open_while_stopped(void *at, int before)
{
	struct target target;
	int fd, i, state, wrong = 0;

	start_words(&target);
	if (before)
		put(&target, at, 2, before);
	freeze(target.pid);
	for (i = 0; i < times(1000); i++) {
		fd = try_words(target.pid, i % 2 ? UTRACE_SCOPE_TREE :
			       UTRACE_SCOPE_PROCESS);
		if (fd < 0) {
			printf("# session %d: %d\n", i, fd);
			wrong++;
			break;
		}
		state = word_arm(fd, at, COUNT, 0);
		wrong += !is_given(state);
		wrong += state == UTRACE_ARM_STATE_ARMED &&
			 read_word(target.pid, at, 2) != before + 1U;
		if (i % 3)
			wrong += !!word_disarm(fd, at, COUNT, 0);
		close(fd);
	}
	is(times(1000), i, "sessions");
	is(0, wrong, "and each has armed the word");
	thaw(target.pid);
	is(before, look(&target, at, 2), "the word is as before");
	holds(until(!word_engines(target.pid)), "no engine is left");
	stop(&target);
}

TEST_F(dev, opened_while_stopped)
{
	open_while_stopped(SEMAPHORE, 7);
}

TEST_F(dev, opened_while_stopped_without_the_page)
{
	open_while_stopped(area + 8 * PAGE, 0);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "storm")) {
		share_again(argv[2]);
		return be_storm();
	}
	if (argc == 3 && !strcmp(argv[1], "setid")) {
		share_again(argv[2]);
		return be_setid();
	}
	return test_harness_run(argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of words in memory share
 *
 * A target is forked from the test, so both have static memory at the same
 * addresses.  The words are in the target's copy of area.  The test learns of
 * them in two ways: the target loads them in user mode, which is what is
 * promised, and the test reads /proc/PID/mem.
 */
#ifndef UTRACE_WORDS_H
#define UTRACE_WORDS_H

#include "../dev/dev.h"

#include <grp.h>
#include <limits.h>
#include <sys/stat.h>

#include <linux/utrace_marker.h>

#define PAGE		4096UL
#define WATCHERS	4

/* Memory for words; the test itself never writes to it. */
static unsigned char area[16 * PAGE] __attribute__((aligned(PAGE), unused));

/* Where targets map and unmap memory, which is empty at first. */
#define PLACE		((unsigned char *)0x200000000UL)

/*
 * How far a tracer is, as shared::phase % 4.  In phase IN the word is armed:
 * ARM has returned, and DISARM has not begun.  In phase OUT no tracer has the
 * word.
 */
enum { OUT, ARMING, IN, LEAVING };

/* Memory that the test, the target and its children share. */
struct shared {
	/* The word that an order is about, and what to store, to add or to register. */
	_Atomic __u64 at, size, value;
	/* What else an order finds in memory, and the result of a program. */
	_Atomic __u64 seen;
	_Atomic long result;
	_Atomic int quit;
	/* Loads by watchers, see judge(). */
	_Atomic unsigned int phase;
	_Atomic unsigned int looked[WATCHERS];
	_Atomic long looks, missed, stale, strange;
	/* For the test's own use. */
	_Atomic long number[8];
};

static struct shared *shared;
/* The file of this memory, which a program that is executed maps again. */
static int shared_fd = -1;

/* A positive number of the environment, or 0. */
static inline int setting(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

/* How often to repeat what takes long: REPEAT times as often if that is set. */
static inline int times(int usually)
{
	return usually * (setting("REPEAT") ?: 1);
}

/* times(), but a twentieth of that on a slow kernel (SLOW=1). */
static inline int times_if_fast(int usually)
{
	return times(usually) / (setting("SLOW") ? 20 : 1);
}

/* The limit of tests that repeat something so often. */
#define LONG_TIMEOUT	(4 * times(TEST_TIMEOUT_DEFAULT))

static inline long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Wait until @cond holds; the result is the last value of @cond. */
#define until(cond)							\
({									\
	long __end = now_ms() + DEADLINE_MS;				\
	bool __met;							\
	int __i = 0;							\
									\
	while (!(__met = !!(cond)) && now_ms() < __end) {		\
		if (__i++ < 1000)					\
			sched_yield();					\
		else							\
			usleep(1000);					\
	}								\
	__met;								\
})

/* Wait for the end of a child; returns its status, or -1. */
static inline int status_of(pid_t pid)
{
	int status = -1;

	if (!until(waitpid(pid, &status, WNOHANG | __WALL) == pid))
		return -1;
	return status;
}

/* Children */

/* As fork(3), but libc does nothing in the child that would write to its memory. */
static inline pid_t plain_fork(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* Run @function in a process with the same memory.  Returns its pid. */
typedef pid_t run_fn(int (*function)(void *arg), void *arg);

/* Run @function in a child by vfork(2), with the same memory.  Returns its pid. */
static inline pid_t run_in_vfork(int (*function)(void *arg), void *arg)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(function(arg));
	return pid;
}

/* Run @function in a process with the same memory, one at a time.  Returns its pid. */
static inline pid_t run_in_clone(int (*function)(void *arg), void *arg)
{
	static unsigned char stack[1 << 16] __attribute__((aligned(16)));

	return clone(function, stack + sizeof(stack), CLONE_VM | SIGCHLD, arg);
}

/* Users */

/* Let users without privileges trace their own processes, until dev_end(). */
static inline void allow_users(void)
{
	need(!set_unprivileged("1") && !chmod("/dev/utrace", 0666), "/dev/utrace");
}

#define USER	1000

/* Become an ordinary user for good. */
static inline void become_user(void)
{
	need(!setgroups(0, NULL) && !setresgid(USER, USER, USER) &&
	     !setresuid(USER, USER, USER), "setresuid");
	/* The change of ids has reset both. */
	need(!prctl(PR_SET_DUMPABLE, 1) && !prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
}

static inline long be_user(long unused)
{
	become_user();
	return 0;
}

/* Memory, in this process and from outside. */

static inline __u64 load(const void *at, int size)
{
	switch (size) {
	case 2:
		return __atomic_load_n((const __u16 *)at, __ATOMIC_SEQ_CST);
	case 4:
		return __atomic_load_n((const __u32 *)at, __ATOMIC_SEQ_CST);
	default:
		return __atomic_load_n((const __u64 *)at, __ATOMIC_SEQ_CST);
	}
}

static inline void store(void *at, int size, __u64 value)
{
	switch (size) {
	case 2:
		__atomic_store_n((__u16 *)at, value, __ATOMIC_SEQ_CST);
		break;
	case 4:
		__atomic_store_n((__u32 *)at, value, __ATOMIC_SEQ_CST);
		break;
	default:
		__atomic_store_n((__u64 *)at, value, __ATOMIC_SEQ_CST);
	}
}

/*
 * Stay in user mode for some time, without a jump.  An emulator takes interrupts at jumps
 * only: so one that was sent before this ends comes when a jump comes, unless the sender
 * waits for it.
 */
static inline __attribute__((always_inline)) void linger(void)
{
#ifdef __x86_64__
	/* Instructions that take long; each leaves a number between 0 and 1. */
	asm volatile("fld1\n\t"
		     ".rept 200\n\t"
		     "fld1\n\t"
		     "fpatan\n\t"
		     ".endr\n\t"
		     "fstp %%st(0)" : : : "st", "st(1)");
#endif
}

/* One instruction with a lock prefix. */
static inline void add_to(void *at, int size, __u64 value)
{
	switch (size) {
	case 2:
		__atomic_fetch_add((__u16 *)at, value, __ATOMIC_SEQ_CST);
		break;
	case 4:
		__atomic_fetch_add((__u32 *)at, value, __ATOMIC_SEQ_CST);
		break;
	default:
		__atomic_fetch_add((__u64 *)at, value, __ATOMIC_SEQ_CST);
	}
}

static inline int open_memory(pid_t pid)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	need(fd >= 0, path);
	return fd;
}

static inline void read_memory(pid_t pid, const void *at, void *to, size_t size)
{
	int fd = open_memory(pid);

	need(pread(fd, to, size, (uintptr_t)at) == (ssize_t)size,
	     "read from memory");
	close(fd);
}

static inline void write_memory(pid_t pid, void *at, const void *from,
				size_t size)
{
	int fd = open_memory(pid);

	need(pwrite(fd, from, size, (uintptr_t)at) == (ssize_t)size,
	     "write to memory");
	close(fd);
}

static inline __u64 read_word(pid_t pid, const void *at, int size)
{
	__u64 value = 0;

	read_memory(pid, at, &value, size);
	return value;
}

static inline void write_word(pid_t pid, void *at, int size, __u64 value)
{
	write_memory(pid, at, &value, size);
}

/* Targets */

/* Orders about the word at shared::at. */

static inline void *ordered_word(void)
{
	return (void *)(uintptr_t)shared->at;
}

static inline long load_word(long unused)
{
	return load(ordered_word(), shared->size);
}

static inline long store_word(long unused)
{
	store(ordered_word(), shared->size, shared->value);
	return 0;
}

static inline long add_to_word(long unused)
{
	add_to(ordered_word(), shared->size, shared->value);
	return 0;
}

/* Reap a child; returns its status. */
static inline long reap(long unused)
{
	int status = -1;

	wait(&status);
	return status;
}

/* Map a new page at PLACE. */
static inline long map_new_page(long unused)
{
	if (mmap(PLACE, PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != PLACE)
		_exit(95);
	return 0;
}

static inline void share(void)
{
	shared_fd = memfd_create("shared", 0);
	need(shared_fd >= 0 && !ftruncate(shared_fd, sizeof(*shared)), "memfd");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      shared_fd, 0);
	need(shared != MAP_FAILED, "shared memory");
}

static inline void start_words(struct target *target)
{
	if (!shared)
		share();
	start(target);
}

static inline long order_word(struct target *target, enum who who, order_fn *function,
			      const void *at, int size, __u64 value)
{
	shared->at = (uintptr_t)at;
	shared->size = size;
	shared->value = value;
	return have(target, who, function, 0);
}

/* The word as a task of the target loads it in user mode. */
static inline __u64 look_as(struct target *target, enum who who, const void *at,
			    int size)
{
	return order_word(target, who, load_word, at, size, 0);
}

static inline __u64 look(struct target *target, const void *at, int size)
{
	return look_as(target, SELF, at, size);
}

static inline void put(struct target *target, const void *at, int size,
		       __u64 value)
{
	order_word(target, SELF, store_word, at, size, value);
}

static inline void add(struct target *target, const void *at, int size,
		       __u64 value)
{
	order_word(target, SELF, add_to_word, at, size, value);
}

/*
 * Execute this program; its main() gets @mode and finds the memory that is
 * shared.  The new program obeys no orders: its code is at other addresses.  The test
 * reaches it by the shared memory.
 */
static inline void exec_self(const char *mode)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl("/proc/self/exe", "words", mode, number, NULL);
	_exit(97);
}

/* The order to do so; a string constant has the same address in the target. */
static inline long become_program(long mode)
{
	exec_self((const char *)mode);
	return 0;
}

static inline void share_again(const char *number)
{
	shared_fd = atoi(number);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      shared_fd, 0);
	if (shared == MAP_FAILED)
		_exit(96);
}

/* Stop a process by job control, and let it go on. */
static inline void freeze(pid_t pid)
{
	int status;

	need(!kill(pid, SIGSTOP) &&
	     until(waitpid(pid, &status, WUNTRACED | WNOHANG) == pid) &&
	     WIFSTOPPED(status), "a stop");
}

static inline void thaw(pid_t pid)
{
	need(!kill(pid, SIGCONT), "SIGCONT");
}

/* Processes that may not be traced for a while */

/* What forbids it: the memory is not dumpable, or kernel.utrace.unprivileged is 0. */
enum hiding { BY_DUMPABLE, BY_SYSCTL };

/*
 * Forbid to trace a process, or allow it again.  The caller is a user without privileges, in
 * a function that in_child_with_sysctls() runs.
 */
static inline void set_hidden(struct target *target, enum hiding by, bool hidden)
{
	if (by == BY_SYSCTL)
		have_sysctl(UNPRIVILEGED, hidden ? "0" : "1");
	else
		have(target, SELF, set_dumpable, !hidden);
}

/* Sessions and words */

/* The id of the first target of a session. */
#define WORD_TARGET		1U

#define WORD_SESSIONS	1024

/* By descriptor, how many sessions try_words() has opened with it. */
static _Atomic __u32 word_sessions[WORD_SESSIONS];

/*
 * Open a session, and attach it to the process; returns its descriptor, or -errno of
 * open(2) or ATTACH.  The rings are small, since words make no records.
 */
static inline int try_words(pid_t pid, __u32 scope)
{
	int fd = try_session(), pidfd, ret;

	if (fd < 0)
		return fd;
	word_sessions[fd % WORD_SESSIONS]++;
	pidfd = scope == UTRACE_SCOPE_SYSTEM ? -1 : pidfd_of(pid, 0);
	ret = setup(fd, small_rings()) ?: attach_fd(fd, pidfd, scope);
	if (pidfd >= 0)
		close(pidfd);
	if (ret > 0) {
		need(ret == WORD_TARGET, "the id of the first target");
		return fd;
	}
	close(fd);
	return ret;
}

static inline int words_open(pid_t pid, __u32 scope)
{
	int fd = try_words(pid, scope);

	errno = fd < 0 ? -fd : 0;
	need(fd >= 0, "UTRACE_IOC_ATTACH");
	return fd;
}

/* The error that came with the state of the last ARM. */
static int word_error;

/* Argument of ARM for a word; members that the kernel does not read have junk. */
static inline struct utrace_ioc_arm word_argument(const struct utrace_word *word)
{
	return (struct utrace_ioc_arm){
		.target = WORD_TARGET,
		.type = UTRACE_ARM_WORD,
		.id = 0x5a5a5a5a,
		.cookie = word->addr,
		.spec = (uintptr_t)word,
		.spec_size = sizeof(*word),
		.state = 0x5a5a5a5a,
		.error = 0x5a5a5a5a,
	};
}

/*
 * A cache of the ids of words.  A new row replaces an old one with the same hash, and
 * each thread has its own rows; find_word_id() finds ids that the cache lacks.
 */
struct armed_word {
	__u64 addr;
	int fd;
	__u32 session;	/* from word_sessions */
	__u32 kind, bit, id;
};

static __thread struct armed_word armed_words[1024];

static inline struct armed_word *armed_word(int fd, const void *at, __u32 kind,
					    __u32 bit)
{
	__u64 hash = (uintptr_t)at * 31 + fd * 7 + kind * 5 + bit;

	return &armed_words[hash * 0x9e3779b97f4a7c15ULL >> 54];
}

static inline void remember_word(int fd, const void *at, __u32 kind, __u32 bit,
				 __u32 id)
{
	*armed_word(fd, at, kind, bit) = (struct armed_word){
		.addr = (uintptr_t)at,
		.fd = fd,
		.session = word_sessions[fd % WORD_SESSIONS],
		.kind = kind,
		.bit = bit,
		.id = id,
	};
}

/* Remove an id from the cache and return it; 0: the cache lacks it. */
static inline __u32 recall_word(int fd, const void *at, __u32 kind, __u32 bit)
{
	struct armed_word *row = armed_word(fd, at, kind, bit);
	__u32 id = row->id;

	if (row->addr != (uintptr_t)at || row->fd != fd || row->kind != kind ||
	    row->bit != bit || row->session != word_sessions[fd % WORD_SESSIONS])
		return 0;
	row->id = 0;
	return id;
}

/* Arm a word for a target, and store its id; returns its state, or -errno. */
static inline int word_arm_for(int fd, __u32 target, const void *at, __u32 kind,
			       __u32 bit, __u32 *id)
{
	struct utrace_word word = {
		.addr = (uintptr_t)at,
		.kind = kind,
		.bit = bit,
	};
	struct utrace_ioc_arm arg = word_argument(&word);
	int ret;

	arg.target = target;
	ret = command(fd, UTRACE_IOC_ARM, &arg);
	word_error = ret ? 0 : arg.error;
	*id = ret ? 0 : arg.id;
	return ret ?: (int)arg.state;
}

/* Arm a word; returns its state, or -errno. */
static inline int word_arm(int fd, const void *at, __u32 kind, __u32 bit)
{
	__u32 id;
	int ret = word_arm_for(fd, WORD_TARGET, at, kind, bit, &id);

	if (ret >= 0)
		remember_word(fd, at, kind, bit, id);
	return ret;
}

static inline int disarm_id(int fd, __u32 id)
{
	struct utrace_ioc_disarm arg = { .id = id };

	return command(fd, UTRACE_IOC_DISARM, &arg);
}

/* Read the list of a target; returns how many rows the kernel filled in, or -errno. */
static inline int list_of(int fd, __u32 target, struct utrace_armed *rows,
			  __u32 n, __u32 *total)
{
	struct utrace_ioc_list arg = {
		.what = UTRACE_LIST_ARMED,
		.rows = {
			.at = (uintptr_t)rows,
			.n = n,
			.size = sizeof(*rows),
			.total = 0x5a5a5a5a,
		},
		.target = target,
	};
	int ret = command(fd, UTRACE_IOC_LIST, &arg);

	*total = arg.rows.total;
	return ret ?: (int)arg.rows.n;
}

static inline int word_list(int fd, struct utrace_armed *rows, __u32 n,
			    __u32 *total)
{
	return list_of(fd, WORD_TARGET, rows, n, total);
}

/* Find the id of a word in the list; 0: the word is not there, or is leaving. */
static inline __u32 find_word_id(int fd, const void *at, __u32 kind, __u32 bit)
{
	struct utrace_armed *rows;
	__u32 total, id = 0;
	int i, n;

	if (word_list(fd, NULL, 0, &total) < 0)
		return 0;
	total += 64;
	rows = malloc(total * sizeof(*rows));
	need(rows, "memory for the list");
	n = word_list(fd, rows, total, &total);
	for (i = 0; i < n && !id; i++)
		if (rows[i].type == UTRACE_ARM_WORD &&
		    rows[i].addr == (uintptr_t)at && rows[i].kind == kind &&
		    rows[i].bit == bit &&
		    rows[i].state != UTRACE_ARM_STATE_LEAVING)
			id = rows[i].id;
	free(rows);
	return id;
}

/* An id that nothing has. */
#define NO_SUCH_ID		0x7ffffff0U

static inline int word_disarm(int fd, const void *at, __u32 kind, __u32 bit)
{
	__u32 id = recall_word(fd, at, kind, bit);
	int ret = -ENOENT;

	if (id)
		ret = disarm_id(fd, id);
	/* Another process or thread may have disarmed the word and armed it again. */
	if (ret == -ENOENT)
		ret = disarm_id(fd, find_word_id(fd, at, kind, bit) ?: NO_SUCH_ID);
	return ret;
}

/* Check whether this state of a word gives the guarantee. */
static inline bool is_given(int state)
{
	return state == UTRACE_ARM_STATE_ARMED || state == UTRACE_ARM_STATE_PENDING;
}

static inline void arm(int fd, const void *at, __u32 kind, __u32 bit)
{
	int state = word_arm(fd, at, kind, bit);

	errno = state < 0 ? -state : word_error;
	need(is_given(state) && !word_error, "UTRACE_IOC_ARM");
}

static inline void disarm(int fd, const void *at, __u32 kind, __u32 bit)
{
	int ret = word_disarm(fd, at, kind, bit);

	errno = -ret;
	need(!ret, "UTRACE_IOC_DISARM");
}

/* ARM works, but the word fails for this reason. */
static inline bool fails(int error, int fd, const void *at, __u32 kind,
			 __u32 bit, const char *text)
{
	int state = word_arm(fd, at, kind, bit);

	return is(UTRACE_ARM_STATE_FAILED, state, text) &&
	       is(error, word_error, "  with the reason");
}

/* The number of rows that the list has. */
static inline int words_total(int fd)
{
	__u32 total;
	int ret = word_list(fd, NULL, 0, &total);

	need(ret <= 0, "no rows");
	return ret ?: (int)total;
}

/* The row of the word at @at in process @pid, 0 for any process. */
static inline bool find_word(int fd, pid_t pid, const void *at,
			     struct utrace_armed *row)
{
	struct utrace_armed rows[64];
	__u32 total;
	int i, n = word_list(fd, rows, 64, &total);

	for (i = 0; i < n; i++) {
		if (rows[i].addr != (uintptr_t)at ||
		    (pid && rows[i].pid != pid))
			continue;
		*row = rows[i];
		return true;
	}
	return false;
}

/* The state in the list, or -ENOENT; its error is in word_error. */
static inline int word_state(int fd, pid_t pid, const void *at)
{
	struct utrace_armed row;

	if (!find_word(fd, pid, at, &row))
		return -ENOENT;
	word_error = row.error;
	return row.state;
}

/* The events of poll(2) within so many ms: POLLPRI for a change of a state. */
static inline int poll_words(int fd, int timeout)
{
	struct pollfd pfd = { .fd = fd, .events = POLLPRI };

	return poll(&pfd, 1, timeout) > 0 ? pfd.revents : 0;
}

/* The engines of words in /proc/PID/utrace; a target has one from its first ARM on. */
static inline int word_engines(pid_t pid)
{
	char path[32], line[512];
	int n = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/utrace", pid);
	file = fopen(path, "r");
	need(file, path);
	while (fgets(line, sizeof(line), file))
		n += !strncmp(line, "words", 5);
	fclose(file);
	return n;
}

/* Tracers that toggle a word, and watchers that load it in parallel. */

/*
 * Check a load of a word between two loads of the phase: the promise is broken
 * if the phase has not changed and the value does not belong to it.
 */
static inline void judge(int watcher, unsigned int phase, __u64 value,
			 __u64 out, __u64 in)
{
	if (value != out && value != in)
		shared->strange++;
	if (phase != shared->phase)
		return;
	if (phase % 4 == IN && value != in)
		shared->missed++;
	if (phase % 4 == OUT && value != out)
		shared->stale++;
	__atomic_store_n(&shared->looked[watcher], phase, __ATOMIC_RELAXED);
	shared->looks++;
}

static inline void watch(int watcher, const void *at, int size, __u64 out,
			 __u64 in)
{
	unsigned int phase = shared->phase;

	judge(watcher, phase, load(at, size), out, in);
}

/* Check whether a watcher has loaded the word in the present phase. */
static inline bool is_watched(void)
{
	unsigned int i, phase = shared->phase;

	for (i = 0; i < WATCHERS; i++)
		if (shared->looked[i] == phase)
			return true;
	return false;
}

/* What toggle() waits for in phases IN and OUT. */
enum wait { NO_WAIT, FOR_A_LOOK };

/*
 * Arm a word and disarm it; returns 0, -errno or the reason of a failure.  A
 * word that fails is not IN.  The exception is EFAULT: the word has to be armed as
 * soon as memory is mapped there, so the phase is IN.
 */
static inline int toggle(int fd, const void *at, __u32 kind, __u32 bit,
			 enum wait wait)
{
	int state, ret, error = 0;

	need(shared->phase % 4 == OUT, "nothing armed");
	shared->phase++;
	state = word_arm(fd, at, kind, bit);
	if (state < 0 || state > UTRACE_ARM_STATE_FAILED) {
		shared->phase--;
		return state < 0 ? state : -EPROTO;
	}
	if (state == UTRACE_ARM_STATE_FAILED)
		error = word_error;
	if (error && error != EFAULT) {
		shared->phase += 2;
	} else {
		shared->phase++;
		if (wait == FOR_A_LOOK)
			need(until(is_watched()), "a look at the armed word");
		shared->phase++;
	}
	ret = word_disarm(fd, at, kind, bit);
	shared->phase++;
	if (!ret && wait == FOR_A_LOOK)
		need(until(is_watched()), "a look at the disarmed word");
	return ret ?: error;
}

static inline void are_good_looks(const char *what)
{
	holds(shared->looks > 0, "%s: %ld looks", what, shared->looks);
	is(0, shared->missed, "no look at an armed word misses it");
	is(0, shared->stale, "no look at a disarmed word sees it");
	is(0, shared->strange, "nor anything else");
}

#endif /* UTRACE_WORDS_H */

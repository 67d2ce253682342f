/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - functions that the tests of words in memory share
 *
 * A target is forked from the test, so both have static memory at the same
 * addresses.  The words are in the target's copy of area.  The test learns of
 * them in two ways: the target looks at them in user mode, which is what is
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

/* What the test shares with the target, and the target with its children. */
struct shared {
	/* Orders: where, how many bytes, what, and the result. */
	_Atomic __u64 at, size, value, seen;
	_Atomic long result;
	_Atomic int quit;
	/* Looks of watchers, see judge(). */
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

/* Likewise, but a twentieth of that on a slow kernel (SLOW=1). */
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

/*
 * Orders, with shared::at and ::size.  'l': look.  's': store.  'a': add.
 */
static inline void obey_words(struct target *target, struct order *order)
{
	void *at = (void *)(uintptr_t)shared->at;

	switch (order->what) {
	case 'l':
		shared->seen = load(at, shared->size);
		break;
	case 's':
		store(at, shared->size, shared->value);
		break;
	case 'a':
		add_to(at, shared->size, shared->value);
		break;
	}
}

static inline void share(void)
{
	shared_fd = memfd_create("shared", 0);
	need(shared_fd >= 0 && !ftruncate(shared_fd, sizeof(*shared)), "memfd");
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED,
		      shared_fd, 0);
	need(shared != MAP_FAILED, "shared memory");
}

/* Start a target whose own orders @more carries out. */
static inline void start_words(struct target *target,
			       void (*more)(struct target *target,
					    struct order *order))
{
	if (!shared)
		share();
	start_with(target, more ?: obey_words);
}

static inline void order_word(struct target *target, enum who who, char what,
			      const void *at, int size, __u64 value)
{
	shared->at = (uintptr_t)at;
	shared->size = size;
	shared->value = value;
	have(target, who, what, 0);
}

/* What a task of the target sees in user mode. */
static inline __u64 look_as(struct target *target, enum who who, const void *at,
			    int size)
{
	order_word(target, who, 'l', at, size, 0);
	return shared->seen;
}

static inline __u64 look(struct target *target, const void *at, int size)
{
	return look_as(target, SELF, at, size);
}

static inline void put(struct target *target, const void *at, int size,
		       __u64 value)
{
	order_word(target, SELF, 's', at, size, value);
}

static inline void add(struct target *target, const void *at, int size,
		       __u64 value)
{
	order_word(target, SELF, 'a', at, size, value);
}

/*
 * Execute this program; its main() gets @mode and finds the memory that is
 * shared.
 */
static inline void exec_self(const char *mode)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl("/proc/self/exe", "words", mode, number, NULL);
	_exit(97);
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
 * a function that in_child_with_sysctls() runs.  The order 'd' of the target makes its
 * memory dumpable, or not.
 */
static inline void set_hidden(struct target *target, enum hiding by, bool hidden)
{
	if (by == BY_SYSCTL)
		have_sysctl(UNPRIVILEGED, hidden ? "0" : "1");
	else
		have(target, SELF, 'd', !hidden);
}

/* Descriptors and words */

/* Ask for a descriptor; returns that, or -errno. */
static inline int try_words(pid_t pid, __u32 scope)
{
	struct utrace_ioc_words arg = { .scope = scope };
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), ret;

	if (dev < 0)
		return -errno;
	arg.pidfd = pidfd_of(pid, 0);
	ret = ioctl(dev, UTRACE_IOC_WORDS, &arg);
	ret = ret < 0 ? -errno : ret;
	close(arg.pidfd);
	close(dev);
	return ret;
}

static inline int words_open(pid_t pid, __u32 scope)
{
	int fd = try_words(pid, scope);

	errno = fd < 0 ? -fd : 0;
	need(fd >= 0, "UTRACE_IOC_WORDS");
	return fd;
}

/* The error that came with the state of the last ARM. */
static int word_error;

/* Arm a word; returns its state, or -errno.  What is not read has junk. */
static inline int word_arm(int fd, const void *at, __u32 kind, __u32 bit)
{
	struct utrace_ioc_word arg = {
		.addr = (uintptr_t)at,
		.kind = kind,
		.bit = bit,
		.state = 0x5a5a5a5a,
		.error = 0x5a5a5a5a,
	};
	int ret = command(fd, UTRACE_IOC_WORD_ARM, &arg);

	word_error = ret ? 0 : arg.error;
	return ret ?: (int)arg.state;
}

static inline int word_disarm(int fd, const void *at, __u32 kind, __u32 bit)
{
	struct utrace_ioc_word arg = {
		.addr = (uintptr_t)at,
		.kind = kind,
		.bit = bit,
		.state = 0x5a5a5a5a,
		.error = 0x5a5a5a5a,
	};

	return command(fd, UTRACE_IOC_WORD_DISARM, &arg);
}

/* Is the guarantee given with this state of a word? */
static inline bool is_given(int state)
{
	return state == UTRACE_WORD_ARMED || state == UTRACE_WORD_PENDING;
}

static inline void arm(int fd, const void *at, __u32 kind, __u32 bit)
{
	int state = word_arm(fd, at, kind, bit);

	errno = state < 0 ? -state : word_error;
	need(is_given(state) && !word_error, "UTRACE_IOC_WORD_ARM");
}

static inline void disarm(int fd, const void *at, __u32 kind, __u32 bit)
{
	int ret = word_disarm(fd, at, kind, bit);

	errno = -ret;
	need(!ret, "UTRACE_IOC_WORD_DISARM");
}

/* ARM works, but the word fails for this reason. */
static inline bool fails(int error, int fd, const void *at, __u32 kind,
			 __u32 bit, const char *text)
{
	int state = word_arm(fd, at, kind, bit);

	return is(UTRACE_WORD_FAILED, state, text) &&
	       is(error, word_error, "  with the reason");
}

/* The words of a descriptor; returns how many rows are filled in, or -errno. */
static inline int word_list(int fd, struct utrace_word_status *rows, __u32 n,
			    __u32 *total)
{
	struct utrace_ioc_word_list arg = {
		.status = (uintptr_t)rows,
		.n = n,
		.total = 0x5a5a5a5a,
	};
	int ret = command(fd, UTRACE_IOC_WORD_LIST, &arg);

	*total = arg.total;
	return ret ?: (int)arg.n;
}

static inline int words_total(int fd)
{
	__u32 total;
	int ret = word_list(fd, NULL, 0, &total);

	need(ret <= 0, "no rows");
	return ret ?: (int)total;
}

/* The row of the word at @at in process @pid, 0 for any process. */
static inline bool find_word(int fd, pid_t pid, const void *at,
			     struct utrace_word_status *row)
{
	struct utrace_word_status rows[64];
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
	struct utrace_word_status row;

	if (!find_word(fd, pid, at, &row))
		return -ENOENT;
	word_error = row.error;
	return row.state;
}

/* What poll(2) tells within so many ms. */
static inline int poll_words(int fd, int timeout)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, timeout) > 0 ? pfd.revents : 0;
}

/* The engines of words in /proc/PID/utrace. */
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

/* Tracers that toggle a word, and watchers who look at it meanwhile. */

/*
 * Judge a look at a word that was between two looks at the phase: the promise
 * is broken if the phase was the same and the value does not belong to it.
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

/* Has a watcher looked in the present phase? */
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
 * word that fails is not IN, but one that is not mapped has to be armed as soon
 * as memory is mapped there, and so is IN.
 */
static inline int toggle(int fd, const void *at, __u32 kind, __u32 bit,
			 enum wait wait)
{
	int state, ret, error = 0;

	need(shared->phase % 4 == OUT, "nothing armed");
	shared->phase++;
	state = word_arm(fd, at, kind, bit);
	if (state < 0 || state > UTRACE_WORD_FAILED) {
		shared->phase--;
		return state < 0 ? state : -EPROTO;
	}
	if (state == UTRACE_WORD_FAILED)
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

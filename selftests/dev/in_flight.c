// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - UTRACE_IOC_IN_FLIGHT records the calls that tasks are in
 *
 * A record in flight comes before the exit of its call, is about the call that
 * the task is in, and is not made of a task that runs, is stopped or is hidden.
 * A task that executes another program is counted and not waited for.
 */
#include <dirent.h>
#include <linux/futex.h>
#include <sys/ptrace.h>

#include "dev.h"
#include "../cgroup.h"
#include "../silent.h"

#define ENTER_EXIT	(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT))

/* The last result of in_flight(). */
static struct utrace_ioc_in_flight result;

/* Returns the number of records, or -errno. */
static int in_flight(int fd, __u32 target)
{
	int ret;

	result = (struct utrace_ioc_in_flight){ .target = target };
	ret = command(fd, UTRACE_IOC_IN_FLIGHT, &result);
	return ret ?: (int)result.written;
}

/* The record in flight of a task, among those that take() has read. */
static struct utrace_rec_sys_enter *told_of(pid_t tid)
{
	struct utrace_rec *rec;

	for_each_record(rec)
		if (rec->type == UTRACE_REC_SYS_ENTER && rec->tid == tid &&
		    rec->flags & UTRACE_REC_F_IN_FLIGHT &&
		    rec->flags & UTRACE_REC_F_UNNUMBERED && !rec->number)
			return (void *)rec;
	return NULL;
}

/* Check whether the task sleeps in the call or, if @nr is -1, is in state R. */
static bool is_in(pid_t tid, long nr)
{
	char line[512], *state;

	if (!of_task(tid, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')');
	if (nr < 0)
		return state && state[2] == 'R';
	return state && strchr("SD", state[2]) &&
	       of_task(tid, "syscall", line, sizeof(line)) &&
	       *line >= '0' && *line <= '9' && atol(line) == nr;
}

/* Check whether the task waits in execve(2) for its file. */
static bool is_kept(pid_t tid, long unused)
{
	return silent_keeps(tid);
}

static void until(pid_t tid, bool (*condition)(pid_t tid, long arg), long arg)
{
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (condition(tid, arg))
			return;
		usleep(2000);
	}
	errno = ETIME;
	need(false, "a child in its place");
}

/* Check the state of the task in /proc/PID/stat. */
static bool is_state(pid_t tid, long letter)
{
	char line[512], *state;

	if (!of_task(tid, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')');
	return state && state[2] == letter;
}

/* The last child of a process; 0: it has none. */
static pid_t child_of(pid_t pid)
{
	char path[64], line[64];

	snprintf(path, sizeof(path), "task/%d/children", pid);
	return of_task(pid, path, line, sizeof(line)) ? atoi(line) : 0;
}

/* The thread of a process that is not the first; 0: there is none. */
static pid_t thread_of(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	need(dir, path);
	while ((entry = readdir(dir)))
		if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
			tid = atoi(entry->d_name);
	closedir(dir);
	return tid;
}

static pid_t begin(void (*function)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			function();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* A session of a process or tree that records all calls. */
static int session_on(pid_t pid, __u32 scope, __u64 events)
{
	int fd = session();

	need(!setup(fd, 0) && attach(fd, pid, scope) > 0 &&
	     !choose(fd, events, 0, NULL, 0), "a session");
	return fd;
}

/*
 * Wait until the clock has advanced.  It does so every few milliseconds on some
 * machines, and orders a record in flight before the first own record of the
 * task.
 */
static void until_tick(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec == begin.tv_sec && now.tv_nsec == begin.tv_nsec);
}

/* Programs */

static void do_pause(void)
{
	pause();
}

static void do_sleep(void)
{
	struct timespec ts = { 1000, 0 };

	clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

static void do_spin(void)
{
	for (;;)
		__asm__ volatile("" : : : "memory");
}

/* A call that there is not: it fails with the value that calls begin with. */
static void do_no_call(void)
{
	syscall(4000);
}

static int futex_word;

static void *wait_for_word(void *unused)
{
	for (;;)
		syscall(SYS_futex, &futex_word, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}

static void do_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, wait_for_word, NULL);
	for (;;)
		pause();
}

static void do_vfork(void)
{
	if (!vfork())
		for (;;)
			syscall(SYS_pause);
}

#ifdef __x86_64__
#define IA32_PAUSE	29

static void do_ia32(void)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(IA32_PAUSE) : "memory",
			 "r8", "r9", "r10", "r11");
}
#endif

/* What there is */

static void one_call(void (*function)(void), long nr, const char *text)
{
	pid_t pid = begin(function);
	struct utrace_rec_sys_enter *rec;
	int fd;

	until(pid, is_in, nr);
	fd = session_on(pid, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	is(1, in_flight(fd, 0), text);
	is(1, take(fd), "that is one record");
	rec = told_of(pid);
	holds(rec && rec->nr == nr && !rec->began && rec->head.pid == pid &&
	      rec->head.task && rec->head.target == 1 && rec->head.settings == 1,
	      "it has the number, and the ids of the task");
	is(1, in_flight(fd, 1), "it is recorded again");
	close(fd);
	holds(is_in(pid, nr), "the task sleeps on");
	end(pid);
}

TEST_F(dev, sleepers)
{
	one_call(do_pause, SYS_pause, "pause()");
	one_call(do_sleep, SYS_clock_nanosleep, "clock_nanosleep()");
}

TEST_F(dev, read_and_exit)
{
	struct utrace_rec_sys_enter *rec;
	struct utrace_rec_sys_exit *exit;
	struct target target;
	int fd;

	start(&target);
	settle(&target, SELF);
	fd = session_on(target.pid, UTRACE_SCOPE_THREAD, ENTER_EXIT);
	is(1, in_flight(fd, 0), "read()");
	until_tick();
	have(&target, SELF, own_tid, 0);
	settle(&target, SELF);
	take(fd);
	rec = told_of(target.pid);
	holds(rec && rec == (void *)records && rec->nr == SYS_read &&
	      rec->args[0] == (__u64)target.to[SELF][0] &&
	      rec->args[2] == sizeof(struct order),
	      "the first record is the entry with its arguments");
	exit = (void *)next_record((void *)records);
	holds(exit && exit->head.type == UTRACE_REC_SYS_EXIT &&
	      exit->head.flags & UTRACE_REC_F_UNPAIRED && exit->head.number == 1 &&
	      exit->nr == SYS_read && exit->ret == sizeof(struct order) &&
	      exit->head.task == rec->head.task &&
	      exit->head.time > rec->head.time,
	      "the exit of the same task follows, its first own record");
	is(1, in_flight(fd, 0), "the next read(), whose entry is recorded");
	take(fd);
	rec = told_of(target.pid);
	holds(rec && rec->nr == SYS_read && !rec->began, "it has the number");
	close(fd);
	stop(&target);
}

TEST_F(dev, threads)
{
	struct utrace_rec_sys_enter *rec;
	pid_t pid = begin(do_thread), tid;
	int fd, pidfd;

	until(pid, is_in, SYS_pause);
	tid = thread_of(pid);
	until(tid, is_in, SYS_futex);
	fd = session_on(pid, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	pidfd = pidfd_of(tid, O_EXCL);
	need(attach(fd, pid, UTRACE_SCOPE_TREE) == 2 &&
	     attach_fd(fd, pidfd, UTRACE_SCOPE_THREAD) == 3, "more targets");
	close(pidfd);
	is(2, in_flight(fd, 0), "two threads, once each");
	take(fd);
	rec = told_of(tid);
	holds(rec && rec->nr == SYS_futex && rec->head.pid == pid &&
	      rec->head.target == 1 && rec->args[1] == FUTEX_WAIT,
	      "futex() of the second thread, for the first target");
	rec = told_of(pid);
	holds(rec && rec->nr == SYS_pause, "pause() of the first");
	is(1, in_flight(fd, 3), "a target of one thread");
	take(fd);
	rec = told_of(tid);
	holds(rec && rec->head.target == 3, "for this target");
	close(fd);
	end(pid);
}

TEST_F(dev, vfork_parent)
{
	pid_t pid = begin(do_vfork), child;
	int fd;

	until(pid, is_in, SYS_vfork);
	child = child_of(pid);
	need(child, "a child");
	until(child, is_in, SYS_pause);
	fd = session_on(pid, UTRACE_SCOPE_TREE, ENTER_EXIT);
	is(2, in_flight(fd, 0), "a parent in vfork() and its child");
	take(fd);
	holds(told_of(pid) && told_of(pid)->nr == SYS_vfork, "vfork()");
	holds(told_of(child) && told_of(child)->nr == SYS_pause, "pause()");
	close(fd);
	/* The parent first: it would make another child. */
	end(pid);
	kill(child, SIGKILL);
}

#ifdef __x86_64__
TEST_F(dev, ia32)
{
	pid_t pid = begin(do_ia32);
	int fd, i;

	for (i = 0; i < 500 && !is_in(pid, IA32_PAUSE); i++)
		usleep(2000);
	if (!is_in(pid, IA32_PAUSE)) {
		end(pid);
		SKIP(return, "no 32-bit system calls (IA32_EMULATION)");
	}
	fd = session_on(pid, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	is(1, in_flight(fd, 0), "pause() of the 32-bit table");
	take(fd);
	holds(told_of(pid) && told_of(pid)->nr == (IA32_PAUSE | UTRACE_NR_IA32),
	      "its number says so");
	close(fd);
	end(pid);
}
#endif

TEST_F(dev, whole_calls)
{
	struct utrace_rec_sys_enter *rec;
	struct utrace_rec_sys_call *call;
	struct target target;
	__u64 began;
	int fd;

	start(&target);
	settle(&target, SELF);
	fd = session_on(target.pid, UTRACE_SCOPE_PROCESS,
			UTRACE_REC_BIT(SYS_CALL));
	is(1, in_flight(fd, 0), "read() whose entry the session has not seen");
	take(fd);
	rec = told_of(target.pid);
	holds(rec && !rec->began, "its begin is not known");
	have(&target, SELF, own_tid, 0);
	settle(&target, SELF);
	take(fd);
	is(1, in_flight(fd, 0), "read() whose entry is kept");
	take(fd);
	rec = told_of(target.pid);
	holds(rec && rec->began && rec->began < rec->head.time &&
	      rec->args[0] == (__u64)target.to[SELF][0], "its begin is known");
	began = rec ? rec->began : 0;
	have(&target, SELF, own_tid, 0);
	settle(&target, SELF);
	take(fd);
	call = (void *)next_record(NULL);
	holds(call && call->head.type == UTRACE_REC_SYS_CALL &&
	      call->nr == SYS_read && call->began == began,
	      "the whole call comes when it is over, with that begin");
	close(fd);
	stop(&target);
}

/* What there is not */

TEST_F(dev, not_blocked)
{
	pid_t pid = begin(do_spin);
	int fd, i, told = 0;

	until(pid, is_in, -1);
	fd = session_on(pid, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	for (i = 0; i < 100; i++)
		told += in_flight(fd, 0);
	is(0, told, "a process that runs user code");
	kill(pid, SIGKILL);
	until(pid, is_state, 'Z');
	is(0, in_flight(fd, 0), "a zombie");
	waitpid(pid, NULL, 0);
	is(0, in_flight(fd, 0), "a process that is gone");
	take(fd);
	holds(!told_of(pid), "there are no such records");
	close(fd);
}

TEST_F(dev, stopped)
{
	pid_t pid = begin(do_pause);
	int fd;

	until(pid, is_in, SYS_pause);
	kill(pid, SIGSTOP);
	until(pid, is_state, 'T');
	fd = session_on(pid, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	is(0, in_flight(fd, 0), "a process that job control stops");
	kill(pid, SIGCONT);
	until(pid, is_in, SYS_pause);
	is(1, in_flight(fd, 0), "it goes on with its call");
	need(!ptrace(PTRACE_SEIZE, pid, 0, 0) &&
	     !ptrace(PTRACE_INTERRUPT, pid, 0, 0), "PTRACE_INTERRUPT");
	until(pid, is_state, 't');
	is(0, in_flight(fd, 0), "a process in a stop of ptrace");
	need(waitpid(pid, NULL, __WALL) == pid &&
	     !ptrace(PTRACE_SYSCALL, pid, 0, 0), "PTRACE_SYSCALL");
	/* The call is restarted: the stop is before its entry is reported. */
	until(pid, is_state, 't');
	is(0, in_flight(fd, 0), "a stop at the entry of a call");
	close(fd);
	end(pid);
}

/* Freeze or thaw the cgroup, and wait until that is done. */
static void set_frozen(bool on)
{
	int i;

	need(!ut_cg_write("cgroup.freeze", on ? "1" : "0"), "cgroup.freeze");
	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (ut_cg_is("cgroup.events", "frozen", on))
			return;
		usleep(2000);
	}
	need(false, "cgroup.events");
}

/*
 * A frozen task waits on its way to user mode, when its call is over.  Its state
 * in /proc does not show that it is frozen.
 */
TEST_F(dev, frozen)
{
	const char *why = ut_cg_make(NULL);
	pid_t sleeper, caller;
	int fd, fresh, i, told = 0;

	if (why)
		SKIP(return, "%s", why);
	sleeper = begin(do_pause);
	caller = begin(do_no_call);
	need(!ut_cg_add(sleeper) && !ut_cg_add(caller), "the cgroup");
	until(sleeper, is_in, SYS_pause);
	fd = session_on(sleeper, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	is(1, in_flight(fd, 0), "a process in pause()");
	set_frozen(true);
	is(0, in_flight(fd, 0), "it is frozen");
	fresh = session_on(sleeper, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	is(0, in_flight(fresh, 0), "frozen: none for a new session, either");
	close(fresh);
	set_frozen(false);
	until(sleeper, is_in, SYS_pause);
	is(1, in_flight(fd, 0), "it makes the call again");
	close(fd);
	fd = session_on(caller, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	for (i = 0; i < 50; i++) {
		usleep(1000);
		set_frozen(true);
		told += in_flight(fd, 0);
		take(fd);
		set_frozen(false);
	}
	is(0, told, "calls that have failed with ENOSYS");
	close(fd);
	end(sleeper);
	end(caller);
	ut_cg_remove();
}

TEST_F(dev, not_wanted)
{
	static const __u32 calls[] = { SYS_pause };
	pid_t pid = begin(do_sleep);
	int fd = session();

	until(pid, is_in, SYS_clock_nanosleep);
	need(!setup(fd, 0) && attach(fd, pid, UTRACE_SCOPE_TREE) == 1,
	     "a session");
	is(0, in_flight(fd, 0), "no events are chosen");
	need(!choose(fd, ENTER_EXIT, 0, calls, 1), "EVENTS");
	is(0, in_flight(fd, 0), "another call is chosen");
	need(!choose(fd, UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0), "EVENTS");
	is(0, in_flight(fd, 0), "exits are chosen");
	need(!choose(fd, ENTER_EXIT, 0, NULL, 0), "EVENTS");
	is(1, in_flight(fd, 0), "entries are chosen");
	close(fd);
	end(pid);
}

TEST_F(dev, arguments)
{
	struct utrace_ioc_in_flight arg = { .flags = 1 };
	int fd = session(), id;

	is(-EINVAL, command(fd, UTRACE_IOC_IN_FLIGHT, &arg), "a flag");
	arg = (struct utrace_ioc_in_flight){ .reserved = 1 };
	is(-EINVAL, command(fd, UTRACE_IOC_IN_FLIGHT, &arg), "a reserved member");
	arg = (struct utrace_ioc_in_flight){ .written = 1, .lost = 1, .busy = 1 };
	is(0, command(fd, UTRACE_IOC_IN_FLIGHT, &arg), "members of the kernel");
	is(0, arg.written + arg.lost + arg.busy, "which it sets");
	is(-ENOENT, in_flight(fd, 1), "no such target");
	is(0, in_flight(fd, 0), "no targets at all");
	id = attach_system(fd);
	need(id == 1 && !choose(fd, ENTER_EXIT, 0, NULL, 0), "attach");
	is(-EOPNOTSUPP, in_flight(fd, id), "the system");
	is(0, in_flight(fd, 0), "the system is left out of all targets");
	close(fd);
}

TEST_F(dev, no_room)
{
	pid_t pid = begin(do_pause);
	struct utrace_rec_lost *lost;
	int fd = session(), told = 0, i, n, cpu = sched_getcpu();

	/* The records go to the ring of the caller's CPU. */
	pin_to_cpu(0, cpu);
	until(pid, is_in, SYS_pause);
	need(!setup(fd, 65536) && attach(fd, pid, UTRACE_SCOPE_TREE) == 1 &&
	     !choose(fd, ENTER_EXIT, 0, NULL, 0), "a session");
	for (i = 0; i < 100000; i++) {
		n = in_flight(fd, 0);
		if (n != 1)
			break;
		told++;
	}
	is(0, n, "a full ring: no record");
	is(1, result.lost, "it is counted");
	is(1, info(fd).lost, "by INFO, too");
	is(told, take(fd), "those before are there");
	is(1, in_flight(fd, 0), "there is room again");
	take(fd);
	lost = (void *)next_record(NULL);
	holds(lost && lost->head.type == UTRACE_REC_LOST && lost->lost == 1 &&
	      lost->head.target == 1 && told_of(pid),
	      "a UTRACE_REC_LOST is before it");
	close(fd);
	end(pid);
}

/* A task that executes another program for as long as a FUSE server likes */

/**
 * struct executing - a session with a task that waits in execve(2)
 * @fd: the session
 * @file: the file whose read the execve(2) waits for
 * @target: the process of this task, which is target 2 of the session
 * @good: a process in pause(), which is target 1
 * @other: a process in pause(), which is no target
 */
struct executing {
	int fd;
	int file;
	struct target target;
	pid_t good;
	pid_t other;
};

static struct executing executing;

static long execute(long unused)
{
	if (silent_read_async(executing.file))
		execl("/bin/true", "true", NULL);
	_exit(98);
}

/* Returns false if there is no FUSE. */
static bool start_executing(void)
{
	executing.file = silent_file();
	if (executing.file < 0)
		return false;
	start(&executing.target);
	executing.good = begin(do_pause);
	executing.other = begin(do_pause);
	until(executing.good, is_in, SYS_pause);
	executing.fd = session_on(executing.good, UTRACE_SCOPE_PROCESS, ENTER_EXIT);
	need(attach(executing.fd, executing.target.pid, UTRACE_SCOPE_PROCESS) == 2,
	     "attach");
	tell(&executing.target, SELF, execute, 0);
	until(executing.target.pid, is_kept, 0);
	take(executing.fd);
	return true;
}

static int tell_of_all(void *unused)
{
	is(1, in_flight(executing.fd, 0), "IN_FLIGHT tells of one call");
	is(1, result.busy, "and counts the task that executes a program");
	is(0, result.lost, "nothing is lost");
	take(executing.fd);
	holds(told_of(executing.good) && told_of(executing.good)->nr == SYS_pause,
	      "pause() of the other process");
	is(0, in_flight(executing.fd, 2), "IN_FLIGHT of the task that executes");
	is(1, result.busy, "counts it");
	return 0;
}

static int ask_for_info(void *unused)
{
	return info(executing.fd).targets != 2;
}

static int attach_other(void *unused)
{
	return attach(executing.fd, executing.other, UTRACE_SCOPE_PROCESS) != 3;
}

/* Read until the TARGET_END of the target that was killed. */
static int read_on(void *unused)
{
	struct utrace_rec *end;

	do {
		take(executing.fd);
		end = find(UTRACE_REC_TARGET_END, 0);
	} while (!end && !usleep(1000));
	return end->target != 1;
}

/* Check that SIGKILL ends the child of the test. */
static bool is_killed(pid_t pid)
{
	int status, i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
		usleep(2000);
	}
	return false;
}

/* Calls that might block are made by children, which the test can kill. */
TEST_F(dev, executes_a_program)
{
	pid_t pid;

	if (!start_executing())
		SKIP(return, "no files of FUSE (FUSE_FS): %s", strerror(errno));
	pid = executing.target.pid;
	is(0, in_child_for(tell_of_all, NULL, SOON), "IN_FLIGHT does not wait");
	is(0, in_child_for(ask_for_info, NULL, SOON), "INFO does not wait");
	is(0, in_child_for(attach_other, NULL, SOON),
	   "ATTACH to a third process does not wait");
	end(executing.good);
	is(0, in_child_for(read_on, NULL, SOON), "read() tells the end of a target");
	kill(pid, SIGKILL);
	usleep(50000);
	holds(silent_keeps(pid), "all this time the process was in execve()");
	silent_end();
	holds(is_killed(pid), "SIGKILL ends it when its server is dead");
	close(executing.fd);
	end(executing.other);
	stop(&executing.target);
}

/* Rights */

/* Start a tree of nobody with a child; both wait for orders. */
static void start_tree(struct target *target)
{
	start(target);
	have_more(target, CHILD);
	settle(target, SELF);
	settle(target, CHILD);
}

static void compare_tree(int fd, struct target *target)
{
	is(2, in_flight(fd, 0), "parent and child");
	have(target, CHILD, set_dumpable, 0);
	/* Not settle(): this user may not read the call in /proc. */
	until(target->tid[CHILD], is_state, 'S');
	take(fd);
	is(1, in_flight(fd, 0), "the child is hidden");
	take(fd);
	holds(told_of(target->pid) && !told_of(target->tid[CHILD]),
	      "only the parent is recorded");
	have(target, CHILD, set_dumpable, 1);
	settle(target, CHILD);
	is(2, in_flight(fd, 0), "the child may be seen again");
}

/* In a child of the test: open and attach as nobody. */
static int by_nobody(void *arg)
{
	int fd = *(int *)arg;
	struct target target;

	become_nobody();
	start_tree(&target);
	if (fd < 0)
		fd = session();
	need(!setup(fd, 0) && attach(fd, target.pid, UTRACE_SCOPE_TREE) == 1 &&
	     !choose(fd, ENTER_EXIT, 0, NULL, 0), "a session");
	compare_tree(fd, &target);
	stop(&target);
	return 0;
}

/* A session that nobody opens and root attaches and uses. */
static int open_and_send(void *arg)
{
	int *socket = arg;

	become_nobody();
	return !send_fd(*socket, session());
}

TEST_F(dev, rights)
{
	struct target target;
	int fd = -1, pair[2];

	set_unprivileged("1");
	printf("#  opened and attached by nobody\n");
	is(0, in_child(by_nobody, &fd), "the child");
	printf("#  opened by root, attached by nobody\n");
	fd = session();
	is(0, in_child(by_nobody, &fd), "the child");
	close(fd);

	printf("#  opened by nobody, attached by root\n");
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	is(0, in_child(open_and_send, &pair[1]), "the child");
	fd = receive_fd(pair[0]);
	need(fd >= 0, "a session of nobody");
	start(&target);
	have(&target, SELF, be_nobody, 0);
	have_more(&target, CHILD);
	settle(&target, SELF);
	settle(&target, CHILD);
	need(!setup(fd, 0) && attach(fd, target.pid, UTRACE_SCOPE_TREE) == 1 &&
	     !choose(fd, ENTER_EXIT, 0, NULL, 0), "a session");
	compare_tree(fd, &target);
	stop(&target);
	close(fd);

	/* unprivileged is 0 from here on. */
	set_unprivileged("0");
	printf("#  opened by root\n");
	start_tree(&target);
	fd = session_on(target.pid, UTRACE_SCOPE_TREE, ENTER_EXIT);
	have(&target, CHILD, set_dumpable, 0);
	settle(&target, CHILD);
	is(2, in_flight(fd, 0), "root sees what is not dumpable");
	stop(&target);
	close(fd);
	close(pair[0]);
	close(pair[1]);
}

TEST_HARNESS_MAIN

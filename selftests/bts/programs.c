// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: real programs, each record against ptrace
 *
 * ptrace steps a program while a consumer follows it, both from its execve()
 * on.  Usually that is for the first steps only: then ptrace leaves the
 * program, and the rest of its records must have no gap.  With LONG=1 in the
 * environment it is for all steps of the program.
 */
#include "oracle.h"

#include <sys/stat.h>

/* The number of steps that are compared. */
#define SOME_STEPS	30000
#define MORE_STEPS	100000

static bool has_time(void)
{
	const char *text = getenv("LONG");

	return text && atoi(text);
}

/* The child: wait for the test, then execute the program. */
static void become(char **argv, int go)
{
	char * const envp[] = { "LC_ALL=C", "HOME=/", NULL };
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(go, &byte, 1) != 1 || dup2(open("/dev/null", O_RDWR), 1) < 0)
		_exit(1);
	execve(argv[0], argv, envp);
	_exit(1);
}

/* Run to where the program stops itself. */
static void run_to_its_stop(struct stepped *t)
{
	int status;

	do {
		need(!ptrace(PTRACE_CONT, t->tid, 0, 0), "continue");
		need(waitpid(t->tid, &status, 0) == t->tid &&
		     WIFSTOPPED(status), "the program's own stop");
	} while (WSTOPSIG(status) != SIGSTOP);
	look(t);
	t->exec = false;
}

/*
 * Start a program; its process is in a stop of ptrace, before the execve(), or
 * where it stops itself if @itself.
 */
static pid_t start_program(struct oracle *o, char **argv, bool itself)
{
	int go[2], status;
	pid_t pid;

	need(!pipe2(go, O_CLOEXEC), "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid)
		become(argv, go[0]);
	need(!ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACEEXEC |
		     PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL), "seize");
	need(write(go[1], "", 1) == 1, "go");
	need(!ptrace(PTRACE_INTERRUPT, pid, 0, 0), "interrupt");
	need(waitpid(pid, &status, 0) == pid && WIFSTOPPED(status), "stop");
	close(go[0]);
	close(go[1]);
	/* After some steps the call that was broken off is over. */
	take_stop(o, thread_of(o, pid), status);
	step_threads(o, 10);
	if (itself)
		run_to_its_stop(&o->thread[0]);
	free(o->thread[0].list);
	o->thread[0].list = NULL;
	o->thread[0].n = 0;
	o->thread[0].begin = o->thread[0].regs.rip;
	return pid;
}

/*
 * The number that distinguishes a process from other processes of the same pid.
 */
static __u64 inode_of(pid_t pid)
{
	int fd = pidfd_of(pid, 0);
	struct stat stat;

	need(!fstat(fd, &stat), "inode of a pidfd");
	close(fd);
	return stat.st_ino;
}

/* Check that each thread is there, with its process and its own records. */
static bool compare(const struct oracle *o, struct tasks *tasks, pid_t pid)
{
	bool equal = true;
	size_t i;

	for (i = 0; i < o->n; i++) {
		struct task *task = find_task(tasks, o->thread[i].tid);

		equal &= task && task->tgid == pid &&
			 is_equal(&o->thread[i], &task->trace);
	}
	return equal && o->n <= tasks->n;
}

/* Check the records that a consumer of process @pid has read. */
static void check(const struct oracle *o, const struct trace *trace, pid_t pid,
		  __u64 inode)
{
	static struct tasks tasks;

	split(trace, &tasks);
	is(0, o->strange, "Capstone explains each step");
	holds(compare(o, &tasks, pid), "each branch has its record");
	holds(tasks.n && tasks.task[0].inode == inode,
	      "the first task is this process");
	holds(are_whole(&tasks), "the trace is whole");
	is(count_type(trace, UTRACE_BRANCH_START),
	   count_type(trace, UTRACE_BRANCH_END), "each START has its END");
	is(0, count_type(trace, UTRACE_BRANCH_LOST), "nothing is lost");
	free_tasks(&tasks);
}

static void print_steps(const struct oracle *o, const char *program)
{
	size_t branches = 0, i;

	for (i = 0; i < o->n; i++)
		branches += o->thread[i].n;
	printf("#   %s: %zu steps of %zu threads, %zu branches\n", program,
	       o->steps, o->n, branches);
	holds(branches > 100, "branches are taken");
}

/* Returns the number of threads whose steps were compared. */
static size_t follow(char **argv, bool itself, size_t steps, bool to_the_end)
{
	struct trace trace = {};
	struct oracle o = {};
	int fd, status = 0;
	size_t threads;
	__u64 inode;
	pid_t pid;

	pid = start_program(&o, argv, itself);
	fd = consumer(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 1 << 20);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	inode = inode_of(pid);
	o.steps = 0;
	step_threads(&o, steps);
	print_steps(&o, argv[0]);
	threads = o.n;
	let_go(&o);
	if (!to_the_end)
		kill(pid, SIGKILL);
	read_on(fd, &trace, SIZE_MAX);
	if (o.thread[0].over)
		status = o.thread[0].status;
	else
		need(waitpid(pid, &status, __WALL) == pid, "end");
	is(to_the_end ? 0 : SIGKILL, status, "the program ends normally");
	check(&o, &trace, pid, inode);
	close(fd);
	free(trace.records);
	free_oracle(&o);
	return threads;
}

static void follow_to_the_end(const char *program, char *arg)
{
	char *argv[3] = {};

	argv[0] = (char *)program;
	argv[1] = arg;
	follow(argv, false, has_time() ? SIZE_MAX : SOME_STEPS, true);
}

#define TEST_LONG(name) TEST_F_TIMEOUT(dev, name, has_time() ? \
	1000 * ut_patience() : TEST_TIMEOUT_DEFAULT)

TEST_LONG(nothing)
{
	follow_to_the_end("/bin/true", NULL);
}

TEST_LONG(sort)
{
	char file[] = "/tmp/utrace-sort.XXXXXX";
	int fd = mkstemp(file);

	need(fd >= 0 && dprintf(fd, "delta\nalpha\nbeta\n\ngamma\n") > 0, file);
	follow_to_the_end("/usr/bin/sort", file);
	close(fd);
	unlink(file);
}

/* Threads of C++ that throw, each in its own way through the unwinder. */
TEST_LONG(exceptions)
{
	char *argv[2] = {};

	argv[0] = (char *)built("throws");
	is(2, follow(argv, true, has_time() ? SIZE_MAX : MORE_STEPS, true),
	   "both threads are stepped");
}

/* System calls of three kinds, signals, and jumps that only these have. */
TEST_LONG(of_32_bits)
{
	const char *path = built("narrow");

	if (access(path, X_OK))
		SKIP(return, "no 32-bit compiler");
	follow_to_the_end(path, NULL);
}

/* A debugger that stops at the system calls, and sees where they return. */
TEST_F(dev, calls_of_32_bits)
{
	struct trace trace = {};
	char *argv[2] = {};
	struct oracle o = {};
	int fd, status = 0x7f, signal = 0;
	size_t stops = 0;
	pid_t pid;

	argv[0] = (char *)built("narrow");
	if (access(argv[0], X_OK))
		SKIP(return, "no 32-bit compiler");
	pid = start_program(&o, argv, false);
	fd = consumer(pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_DEFAULT, 1 << 20);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	for (; WIFSTOPPED(status); stops++) {
		need(!ptrace(PTRACE_SYSCALL, pid, 0, signal), "continue");
		need(waitpid(pid, &status, 0) == pid, "wait");
		signal = status >> 16 || WSTOPSIG(status) == SIGTRAP ?
			 0 : WSTOPSIG(status);
	}
	read_on(fd, &trace, SIZE_MAX);
	is(0, status, "the program ends normally");
	holds(stops > 20, "the debugger has seen %zu stops", stops);
	is(2, count_from(&trace, UTRACE_PC_SIGNAL), "two handlers begin");
	/* The debugger hides that the call of the return is a system call. */
	is(2, count_from(&trace, UTRACE_PC_ASYNC),
	   "two handlers return, and nothing else moves");
	holds(is_gapless(&trace), "the trace has no gap");
	close(fd);
	free(trace.records);
	free_oracle(&o);
}

/* The first steps of a program that has too many of them. */
static void follow_first(struct __test_metadata *_metadata, char **argv)
{
	if (!has_time())
		SKIP(return, "takes long (LONG=1)");
	if (access(argv[0], X_OK))
		SKIP(return, "no %s", argv[0]);
	follow(argv, false, MORE_STEPS, false);
}

TEST_LONG(python)
{
	char python[] = "/usr/bin/python3", command[] = "-c", pass[] = "pass";
	char *argv[4] = { python, command, pass };

	follow_first(_metadata, argv);
}

/* fzf is the smallest package with a program in Go. */
TEST_LONG(go)
{
	char go[] = "/usr/bin/fzf", version[] = "--version";
	char *argv[3] = { go, version };

	follow_first(_metadata, argv);
}

TEST_HARNESS_MAIN

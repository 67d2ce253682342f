// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - branches: several consumers, and a debugger beside them
 *
 * A debugger sees the same stops with the same registers whether the thread is
 * followed or not, and each consumer gets the same records whatever the
 * debugger and the other consumers do.
 */
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#include "tasks.h"

/* Rounds of a loop that takes some seconds if it is stepped. */
#define ROUNDS		20000

#define MAX_EVENTS	20000

/* Bits of DR6: the breakpoints, and a step. */
#define DR6_MASK	0x400f

/* A breakpoint 0 in DR7, for four bytes that are written. */
#define DR7_WRITE	0xd0001

/* In memory that all processes share. */
struct shared {
	_Atomic int begun;
	_Atomic int stop;
	_Atomic long rounds;
};

static struct shared *shared;

/* Memory with a watchpoint. */
static int watched;

static __attribute__((noinline, noclone)) long loop(long n)
{
	shared->begun = 1;
	asm volatile("counting:	dec %0\n"
		     "counted:	jnz counting\n" : "+r"(n) :: "cc");
	return n;
}

/* Each round writes to the memory, then jumps twice. */
static __attribute__((noinline, noclone)) long store(long n)
{
	asm volatile("1:	mov %k0, %1\n"
		     "stored:	jmp 2f\n"
		     "	nop\n"
		     "2:	dec %0\n"
		     "	jnz 1b\n" : "+r"(n), "=m"(watched) :: "cc");
	return n;
}

static void handle(int signal)
{
	shared->rounds++;
}

/* Each round takes one signal, and then two at once. */
static long take_signals(long n)
{
	struct sigaction action = { .sa_handler = handle };
	sigset_t both;

	sigemptyset(&both);
	sigaddset(&both, SIGUSR1);
	sigaddset(&both, SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	while (n--) {
		raise(SIGUSR1);
		sigprocmask(SIG_BLOCK, &both, NULL);
		raise(SIGUSR1);
		raise(SIGUSR2);
		sigprocmask(SIG_UNBLOCK, &both, NULL);
	}
	return 0;
}

static long count_without_calls(long unused)
{
	while (!shared->stop)
		shared->rounds++;
	return 0;
}

static long count_with_calls(long unused)
{
	for (; !shared->stop; shared->rounds++)
		syscall(SYS_getppid);
	return 0;
}

static void begin(struct target *target)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(shared != MAP_FAILED, "memory");
	start(target);
}

static void wait_for(_Atomic int *flag)
{
	while (!*flag)
		usleep(1000);
}

static void seize(pid_t tid)
{
	int status;

	need(!ptrace(PTRACE_SEIZE, tid, 0, 0), "seize");
	need(!ptrace(PTRACE_INTERRUPT, tid, 0, 0), "interrupt");
	need(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status),
	     "stop");
}

/* The next instruction, and the code of the SIGTRAP or 0. */
static __u64 stop_of(pid_t tid, int *code)
{
	struct user_regs_struct regs;
	siginfo_t info;

	need(!ptrace(PTRACE_GETREGS, tid, 0, &regs), "registers");
	*code = ptrace(PTRACE_GETSIGINFO, tid, 0, &info) ? 0 : info.si_code;
	return regs.rip;
}

/*
 * Step a thread that is in the loop of two instructions.  Returns the number of
 * steps that are one instruction.
 */
static int step_in_loop(pid_t tid, int n)
{
	__u64 at, before;
	int i, status, code, good = 0;

	before = stop_of(tid, &code);
	for (i = 0; i < n; i++, before = at) {
		need(!ptrace(PTRACE_SINGLESTEP, tid, 0, 0), "step");
		need(waitpid(tid, &status, __WALL) == tid, "wait");
		at = stop_of(tid, &code);
		good += status >> 8 == SIGTRAP && code == TRAP_TRACE &&
			at == (before == address_of(counted) ?
			      address_of(counting) : address_of(counted));
	}
	return good;
}

/* Check that the records of @last are the last ones of @all. */
static bool is_end_of(const struct trace *last, const struct trace *all)
{
	/* A LOST with the number of the other records, and a TASK come first. */
	size_t n = last->n - 2;

	return last->n > 2 && n < all->n &&
	       type_of(&last->records[0]) == UTRACE_BRANCH_LOST &&
	       last->records[0].from == all->n - n &&
	       !memcmp(last->records + 2, all->records + all->n - n,
		       n * sizeof(*all->records));
}

/* Die while the thread is stopped at the begin or at the end of a system call. */
static void die_in_a_stop(pid_t tid, int stops)
{
	int status;

	seize(tid);
	/* Without this the kernel makes a SIGTRAP of the stop. */
	need(!ptrace(PTRACE_SETOPTIONS, tid, 0, PTRACE_O_TRACESYSGOOD), "options");
	while (stops--) {
		need(!ptrace(PTRACE_SYSCALL, tid, 0, 0), "continue");
		need(waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status),
		     "stop");
	}
	_exit(0);
}

/* Check that the thread goes on counting. */
static bool goes_on(void)
{
	long before = shared->rounds;
	int i;

	for (i = 0; i < 5000 * ut_patience() && shared->rounds < before + 2; i++)
		usleep(2000);
	return shared->rounds >= before + 2;
}

/* The trap flag, which is set for the consumer, stays as it is in such a stop. */
TEST_F(dev, debugger_that_dies)
{
	struct target target;
	int fd, i, status;
	bool on = true;
	pid_t pid;

	begin(&target);
	fd = consumer(target.pid, UTRACE_SCOPE_PROCESS, UTRACE_FULL_OVERWRITE, 64);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	tell(&target, SELF, count_with_calls, 0);
	for (i = 0; i < 10 && on; i++) {
		fflush(stdout);
		pid = fork();
		need(pid >= 0, "fork");
		if (!pid)
			die_in_a_stop(target.pid, 1 + i % 2);
		need(waitpid(pid, &status, 0) == pid && !status, "the debugger");
		on = goes_on();
	}
	holds(on, "a thread goes on after a debugger died");
	shared->stop = 1;
	close(fd);
	stop(&target);
}

/*
 * One consumer keeps all branches, one the last, and a debugger steps two
 * threads.
 */
TEST_F(dev, debugger)
{
	struct trace all = {}, last = {};
	struct target target;
	long before;
	int fd, fd_last;

	begin(&target);
	have_more(&target, THREAD);
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){});
	fd_last = consumer_of(target.pid, (struct utrace_ioc_branches){
			      .full = UTRACE_FULL_OVERWRITE, .capacity = 512 });
	tell(&target, THREAD, count_without_calls, 0);
	usleep(20000);
	seize(target.tid[THREAD]);
	tell(&target, SELF, loop, ROUNDS);
	before = shared->rounds;
	wait_for(&shared->begun);
	for (int i = 0; i < 600; i++) {
		int status;

		need(!ptrace(PTRACE_SINGLESTEP, target.tid[THREAD], 0, 0),
		     "step");
		need(waitpid(target.tid[THREAD], &status, __WALL) > 0, "wait");
	}
	holds(shared->rounds - before > 20 && shared->rounds - before < 600,
	      "the debugger steps another thread");
	hear(&target, SELF);
	shared->begun = 0;
	tell(&target, SELF, loop, ROUNDS);
	wait_for(&shared->begun);
	seize(target.pid);
	is(600, step_in_loop(target.pid, 600),
	   "the debugger steps the thread by instructions");
	need(!ptrace(PTRACE_DETACH, target.pid, 0, 0), "detach");
	hear(&target, SELF);
	tell(&target, SELF, exit_with, 0);
	/* The end of the process may have ended the stop already. */
	need(!ptrace(PTRACE_CONT, target.tid[THREAD], 0, 0) || errno == ESRCH,
	     "continue");
	read_on(fd, &all, SIZE_MAX);
	read_on(fd_last, &last, SIZE_MAX);
	is(2 * (ROUNDS - 1), count_from(&all, address_of(counted)),
	   "each jump is recorded");
	is(0, count_from(&all, UTRACE_PC_ASYNC), "no other move is recorded");
	holds(is_gapless(&all), "the trace has no gap");
	holds(is_end_of(&last, &all), "the last branches are the end of all");
	waitpid(target.tid[THREAD], NULL, __WALL);
	stop(&target);
	close(fd);
	close(fd_last);
}

/* A stop that a debugger sees. */
struct event {
	__u64 at;
	__u64 dr6;
	int status;
	int code;
};

struct debugger {
	enum __ptrace_request request;
	unsigned long dr0;
	unsigned long dr7;
	bool int3;
	struct event *event;
	size_t n;
};

static void set_debug_register(pid_t pid, int i, unsigned long value)
{
	need(!ptrace(PTRACE_POKEUSER, pid, offsetof(struct user, u_debugreg[i]),
		     value), "a debug register");
}

/* Put an INT3 in the place of a byte of the code, or the byte back. */
static void set_int3(pid_t pid, bool on)
{
	static long word;

	if (on)
		word = ptrace(PTRACE_PEEKTEXT, pid, address_of(stored), 0);
	need(!ptrace(PTRACE_POKETEXT, pid, address_of(stored),
		     on ? (word & ~0xffL) | 0xcc : word), "breakpoint");
}

/* Step the thread over the instruction whose first byte INT3 had replaced. */
static void step_over(pid_t pid)
{
	struct user_regs_struct regs;
	int status;

	set_int3(pid, false);
	need(!ptrace(PTRACE_GETREGS, pid, 0, &regs), "registers");
	regs.rip--;
	need(!ptrace(PTRACE_SETREGS, pid, 0, &regs), "registers");
	need(!ptrace(PTRACE_SINGLESTEP, pid, 0, 0), "step");
	need(waitpid(pid, &status, 0) == pid && status >> 8 == SIGTRAP, "stop");
	/* DR6 keeps the bit of the step for a later read, if nobody steps. */
	set_debug_register(pid, 6, 0);
	set_int3(pid, true);
}

/* Run the thread to its end, and remember each stop. */
static void debug(struct debugger *d, pid_t pid)
{
	struct event *event = calloc(MAX_EVENTS, sizeof(*event));
	int status;

	need(event, "memory");
	d->event = event;
	for (d->n = 0; d->n < MAX_EVENTS; d->n++, event++) {
		need(!ptrace(d->request, pid, 0, 0), "continue");
		need(waitpid(pid, &status, 0) == pid, "wait");
		event->status = status;
		if (!WIFSTOPPED(status))
			break;
		event->at = stop_of(pid, &event->code);
		event->dr6 = ptrace(PTRACE_PEEKUSER, pid,
				    offsetof(struct user, u_debugreg[6]), 0) &
			     DR6_MASK;
		set_debug_register(pid, 6, 0);
		if (d->int3 && event->at == address_of(stored) + 1)
			step_over(pid);
	}
}

/* Debug a thread that makes @rounds, followed or not. */
static void debug_once(struct debugger *d, bool followed, int rounds)
{
	struct trace all = {};
	struct target target;
	int fd = -1;

	begin(&target);
	if (followed)
		fd = consumer_of(target.pid, (struct utrace_ioc_branches){});
	have(&target, SELF, own_tid, 0);
	settle(&target, SELF);
	seize(target.pid);
	if (d->dr7) {
		set_debug_register(target.pid, 0, d->dr0);
		set_debug_register(target.pid, 7, d->dr7);
	}
	if (d->int3)
		set_int3(target.pid, true);
	tell(&target, SELF, store, rounds);
	tell(&target, SELF, exit_with, 0);
	debug(d, target.pid);
	if (followed) {
		read_on(fd, &all, SIZE_MAX);
		is(rounds, count_from(&all, address_of(stored)),
		   "each round is recorded");
		holds(is_gapless(&all), "the trace has no gap");
		is(1, count_type(&all, UTRACE_BRANCH_END), "one END");
		/* The call that the debugger has broken off is made again. */
		is(1, count_from(&all, UTRACE_PC_ASYNC),
		   "one move by the debugger is recorded");
		close(fd);
	}
	stop(&target);
}

static void print_stop(const char *text, const struct event *event)
{
	printf("#     %s: at %llx, DR6 %llx, status %x, code %d\n", text,
	       event->at, event->dr6, event->status, event->code);
}

/* Compare the debugger's events of a thread with and without a consumer. */
static void compare(struct debugger d, int rounds, size_t events)
{
	struct debugger followed = d;
	size_t i;

	debug_once(&d, false, rounds);
	debug_once(&followed, true, rounds);
	holds(d.n >= events, "the debugger has %zu stops", d.n);
	is(0, d.event[d.n].status, "the program ends normally");
	is(d.n, followed.n, "with a consumer there are as many stops");
	for (i = 0; i <= d.n && i <= followed.n; i++)
		if (memcmp(&d.event[i], &followed.event[i], sizeof(*d.event)))
			break;
	holds(i > d.n, "with a consumer the stops are equal");
	if (i <= d.n && i <= followed.n) {
		printf("#     stop %zu\n", i);
		print_stop("alone", &d.event[i]);
		print_stop("followed", &followed.event[i]);
	}
	free(d.event);
	free(followed.event);
}

/*
 * If the trap flag is set, QEMU traps at a watchpoint once more, in the handler
 * of the step, and the kernel never comes out of there.
 */
#define NO_WATCHPOINTS	"the emulator has no watchpoints beside steps"

TEST_F(dev, watchpoint)
{
	if (is_emulated())
		SKIP(return, NO_WATCHPOINTS);
	compare((struct debugger){
		.request = PTRACE_CONT,
		.dr0 = (unsigned long)&watched,
		.dr7 = DR7_WRITE,
	}, 50, 50);
}

/* The watchpoint and the step of the debugger are one trap. */
TEST_F(dev, watchpoint_and_steps)
{
	if (is_emulated())
		SKIP(return, NO_WATCHPOINTS);
	compare((struct debugger){
		.request = PTRACE_SINGLESTEP,
		.dr0 = (unsigned long)&watched,
		.dr7 = DR7_WRITE,
	}, 50, 200);
}

TEST_F(dev, breakpoint)
{
	compare((struct debugger){
		.request = PTRACE_CONT,
		.int3 = true,
	}, 50, 50);
}

TEST_F(dev, breakpoint_and_steps)
{
	compare((struct debugger){
		.request = PTRACE_SINGLESTEP,
		.int3 = true,
	}, 50, 200);
}

/* The trace has the begin of each signal handler, with and without a debugger. */
static void have_signals(bool debugged)
{
	struct trace all = {};
	struct target target;
	int fd, status, passed = 0;

	begin(&target);
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){});
	have(&target, SELF, own_tid, 0);
	settle(&target, SELF);
	if (debugged) {
		seize(target.pid);
		need(!ptrace(PTRACE_CONT, target.pid, 0, 0), "continue");
	}
	tell(&target, SELF, take_signals, 10);
	tell(&target, SELF, exit_with, 0);
	while (waitpid(target.pid, &status, 0) == target.pid &&
	       WIFSTOPPED(status)) {
		passed++;
		need(!ptrace(PTRACE_CONT, target.pid, 0, WSTOPSIG(status)),
		     "continue");
	}
	is(0, status, "the program ends normally");
	is(debugged ? 30 : 0, passed, "signals that the debugger passes on");
	is(30, shared->rounds, "signals that the program takes");
	read_on(fd, &all, SIZE_MAX);
	is(30, count_from(&all, UTRACE_PC_SIGNAL), "each handler begins");
	is(30, count_from(&all, UTRACE_PC_SIGRETURN), "each handler returns");
	/* The call that the debugger has broken off is made again. */
	is(debugged, count_from(&all, UTRACE_PC_ASYNC),
	   "moves by the debugger");
	holds(is_gapless(&all), "the trace has no gap");
	stop(&target);
	close(fd);
}

TEST_F(dev, handlers)
{
	have_signals(false);
}

TEST_F(dev, handlers_of_debugged)
{
	have_signals(true);
}

/* Open consumers, and close them at once or when they have stalled the thread. */
static int visit(pid_t pid, int rounds)
{
	int i, fd;

	for (i = 0; i < rounds; i++) {
		struct utrace_branch some[64];

		fd = consumer_of(pid, (struct utrace_ioc_branches){
			.where.scope = UTRACE_SCOPE_THREAD + i % 3,
			.full = i & 1 ? UTRACE_FULL_OVERWRITE : i / 2 % 3,
			.capacity = 1 + i % 5 * 300,
		});
		fcntl(fd, F_SETFL, O_NONBLOCK);
		if (i % 4 == 3)
			usleep(15000);
		if (i % 7 == 0 && read(fd, some, sizeof(some)) < 0 &&
		    errno != EAGAIN)
			return 1;
		close(fd);
	}
	return 0;
}

/* Have @visits of other consumers while the thread works, or sleeps. */
static void be_visited(const struct target *target, int visits)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(visit(target->pid, visits));
	need(waitpid(pid, &status, 0) == pid, "wait");
	is(0, status, "other consumers are opened and closed");
}

TEST_F(dev, come_and_go)
{
	struct trace all = {}, last = {};
	struct target target;
	int fd, fd_last;

	begin(&target);
	fd = consumer_of(target.pid, (struct utrace_ioc_branches){});
	fd_last = consumer_of(target.pid, (struct utrace_ioc_branches){
			      .full = UTRACE_FULL_OVERWRITE, .capacity = 512 });
	have(&target, SELF, own_tid, 0);
	tell(&target, SELF, loop, ROUNDS);
	wait_for(&shared->begun);
	be_visited(&target, 60);
	hear(&target, SELF);
	settle(&target, SELF);
	be_visited(&target, 20);
	have(&target, SELF, loop, 100);
	tell(&target, SELF, exit_with, 0);
	read_on(fd, &all, SIZE_MAX);
	read_on(fd_last, &last, SIZE_MAX);
	is(ROUNDS - 1 + 99, count_from(&all, address_of(counted)),
	   "each jump is recorded");
	is(0, count_from(&all, UTRACE_PC_ASYNC), "no other move is recorded");
	is(1, count_type(&all, UTRACE_BRANCH_START), "one START");
	is(0, count_type(&all, UTRACE_BRANCH_LOST), "nothing is lost");
	holds(is_gapless(&all), "the trace has no gap");
	holds(is_end_of(&last, &all), "the last branches are the end of all");
	stop(&target);
	close(fd);
	close(fd_last);
}

TEST_HARNESS_MAIN

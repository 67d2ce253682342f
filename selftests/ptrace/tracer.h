/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a tracer that makes the calls that the test wants
 *
 * A tracer is a process to which the test gives orders, call by call.  So the
 * lines of a test are the order of all calls of all tracers.
 *
 * No call lasts for ever.  A timer interrupts a wait, and the wait is not tried
 * again then: a wake-up that the kernel forgot is a failure.  A tracer that
 * does not answer is killed.
 */
#ifndef UTRACE_TRACER_H
#define UTRACE_TRACER_H

#include <elf.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "../target.h"

#define TWO_NOBODY	65534

/* Less than the time that the test waits for the tracer's answer. */
#define TWO_WAIT_MS	(UT_DEADLINE_MS * 2 / 3)

/* What wait4() stores. */
#define two_stop(sig)		((sig) << 8 | 0x7f)
#define two_event(event)	((event) << 16 | two_stop(SIGTRAP))
#define TWO_SYSGOOD		two_stop(SIGTRAP | 0x80) /* at a system call */
#define two_group(sig)		(PTRACE_EVENT_STOP << 16 | two_stop(sig))
#define TWO_TRAP		two_group(SIGTRAP) /* of PTRACE_INTERRUPT */
#define TWO_STOPPED		two_group(SIGSTOP)
#define two_exit(code)		((code) << 8)
#define two_killed(sig)		(sig)
#define TWO_CONTINUED		0xffff	/* for WCONTINUED */

/* A call that takes longer was not answered at once. */
#define TWO_AT_ONCE_MS		(2000 * ut_patience())

/* What two_wait_with() returns for a 0 of wait4() with WNOHANG. */
#define TWO_NONE		(-EAGAIN)

enum two_op {
	TWO_PTRACE, TWO_WAIT, TWO_WAITID, TWO_PIDFD, TWO_SIGCHLD, TWO_SPAWN,
};

/* A call of a tracer, in memory that the tracer and the test share. */
struct two_call {
	enum two_op op;
	bool other_thread;	/* of the tracer's process */
	uid_t uid;		/* of the tracer, set before its start */
	long request;		/* or options of a wait, or type of an id */
	pid_t pid;
	unsigned long addr;
	unsigned long data;
	size_t size;		/* of what is passed in bytes[] */
	long ret;		/* or -errno */
	siginfo_t info;
	struct ut_target target;	/* of TWO_SPAWN */
	unsigned long bytes[128];
};

struct two_tracer {
	struct ut_target t;
	struct two_call *call;
	bool lost;
};

/* Orders to the child of a tracer, in go[TWO_WORD]. */
enum two_word { TWO_ASK = 1, TWO_BEGIN };

#define TWO_WORD	(UT_MAX_THREADS - 1)
#define TWO_RESULT	15		/* in value[]: of PTRACE_TRACEME */

#define TWO_YAMA	"/proc/sys/kernel/yama/ptrace_scope"

/* Check whether yama lets a process trace more than its children. */
static inline bool two_yama_allows(void)
{
	char text[16];

	return ut_read_file(text, sizeof(text), TWO_YAMA) <= 0 || !atoi(text);
}

/* The signal of two_set_alarm() has come. */
static _Atomic bool two_alarmed;

static inline void two_on_alarm(int sig)
{
	two_alarmed = true;
}

/* The first signal comes after @ms; the next ones in case it came too early. */
static inline void two_set_alarm(long ms)
{
	struct itimerval timer = {
		.it_value = { ms / 1000, ms % 1000 * 1000 },
		.it_interval = { 0, ms ? 100000 : 0 },
	};

	setitimer(ITIMER_REAL, &timer, NULL);
}

static inline long two_do_ptrace(struct two_call *call)
{
	struct iovec iov = { call->bytes, call->size };
	unsigned long data = call->data;

	if (call->request == PTRACE_GETREGSET ||
	    call->request == PTRACE_SETREGSET)
		data = (unsigned long)&iov;
	else if (call->size)
		data = (unsigned long)call->bytes;
	/* The C library would return what the kernel stores for PTRACE_PEEK. */
	return syscall(SYS_ptrace, call->request, call->pid, call->addr, data);
}

static inline long two_do_wait(struct two_call *call)
{
	long ret;
	int status = 0;

	two_alarmed = false;
	two_set_alarm(TWO_WAIT_MS);
	if (call->op == TWO_WAITID) {
		call->info.si_pid = 0;
		ret = waitid(call->request, call->pid, &call->info, call->data);
	} else {
		ret = waitpid(call->pid, &status, call->data);
	}
	if (ret < 0)
		ret = errno == EINTR ? -ETIMEDOUT : -errno;
	/*
	 * The signal wakes a wait(2), which then checks for a result once more.
	 * A result that it finds only now should have woken it before.
	 */
	if (two_alarmed)
		ret = -ETIMEDOUT;
	two_set_alarm(0);
	if (call->op == TWO_WAITID || ret < 0)
		return ret;
	call->pid = ret;
	return ret ? status : TWO_NONE;
}

/* Function of a tracer's child: count, and do what go[TWO_WORD] says. */
static inline int two_child(struct ut_target *t)
{
	struct ut_shared *sh = t->sh;
	int word;

	for (;;) {
		sh->counter++;
		word = sh->go[TWO_WORD];
		if (!word)
			continue;
		sh->go[TWO_WORD] = 0;
		if (word == TWO_BEGIN)
			return t->fn(t);
		sh->value[TWO_RESULT] = ptrace(PTRACE_TRACEME, 0, 0, 0) ?
					-errno : 0;
		ut_say(t);
	}
}

static inline long two_do_spawn(struct two_call *call)
{
	struct ut_target t = call->target;
	pid_t pid = fork();

	if (!pid)
		_exit(two_child(&t));
	return pid;
}

static inline void *two_do(void *arg)
{
	struct timespec ts = { TWO_WAIT_MS / 1000, 0 };
	struct two_call *call = arg;
	sigset_t set;
	long ret = 0;

	errno = 0;
	switch (call->op) {
	case TWO_PTRACE:
		ret = two_do_ptrace(call);
		break;
	case TWO_WAIT:
	case TWO_WAITID:
		call->ret = two_do_wait(call);
		return NULL;
	case TWO_PIDFD:
		ret = syscall(SYS_pidfd_open, call->pid, 0);
		break;
	case TWO_SIGCHLD:
		sigemptyset(&set);
		sigaddset(&set, SIGCHLD);
		ret = sigtimedwait(&set, &call->info, &ts);
		break;
	case TWO_SPAWN:
		ret = two_do_spawn(call);
		break;
	}
	call->ret = ret < 0 ? -errno : ret;
	return NULL;
}

static inline void *two_do_unblocked(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	return two_do(arg);
}

/* Make the call in another thread, which the signal of the timer is for. */
static inline void two_do_elsewhere(struct two_call *call)
{
	pthread_t thread;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pthread_create(&thread, NULL, two_do_unblocked, call))
		call->ret = -ENOMEM;
	else
		pthread_join(thread, NULL);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Block @sig, which would be a stop for the tracers of this process. */
static inline void two_block(int sig)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Become a program of the user @uid, which did not change its ids. */
static inline bool two_become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return false;
	/* The change of ids has reset both. */
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	return true;
}

/* Function of a tracer. */
static inline int two_serve(struct ut_target *t)
{
	struct sigaction act = { .sa_handler = two_on_alarm };
	struct two_call *call = (void *)t->arg;

	sigaction(SIGALRM, &act, NULL);
	/* TWO_SIGCHLD reads the signal. */
	two_block(SIGCHLD);
	if (call->uid && !two_become(call->uid))
		return 99;
	ut_say(t);
	for (;;) {
		ut_await(t);
		if (call->other_thread)
			two_do_elsewhere(call);
		else
			two_do(call);
		ut_say(t);
	}
}

static inline bool two_start_as(struct two_tracer *tr, uid_t uid)
{
	tr->lost = false;
	tr->call = mmap(NULL, sizeof(*tr->call), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tr->call == MAP_FAILED)
		return false;
	tr->call->uid = uid;
	tr->t.arg = (long)tr->call;
	return ut_spawn(&tr->t, two_serve) && ut_hear(&tr->t);
}

static inline bool two_start(struct two_tracer *tr)
{
	return two_start_as(tr, 0);
}

/* Start two tracers that have the rights of nobody. */
static inline bool two_start_nobodies(struct two_tracer *a,
				      struct two_tracer *b)
{
	return two_start_as(a, TWO_NOBODY) && two_start_as(b, TWO_NOBODY);
}

/* Let the tracer make the call that *tr->call describes. */
static inline long two_run(struct two_tracer *tr)
{
	if (tr->lost)
		return -EPIPE;
	if (ut_go(&tr->t) && ut_hear(&tr->t))
		return tr->call->ret;
	printf("# a tracer does not return from call %d, request %#lx\n",
	       tr->call->op, tr->call->request);
	kill(tr->t.pid, SIGKILL);
	tr->lost = true;
	return -ETIME;
}

/*
 * Function of a target: kill the process t->arg when the test is dead.  A test
 * that an assertion ends may make no teardown.
 */
static inline int two_guard(struct ut_target *t)
{
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	ut_say(t);
	sigwait(&set, &sig);
	return kill(t->arg, SIGKILL);
}

/*
 * Start a tracer of the user @uid, and let that fork the target @t.  The target
 * runs @fn after two_begin().  If the tracer dies, the target does not: the
 * test is its real parent then.
 */
static inline bool two_start_parent(struct two_tracer *tr, uid_t uid,
				    struct ut_target *t,
				    int (*fn)(struct ut_target *t))
{
	struct ut_target guard = {};

	t->fn = fn;
	/* The tracer inherits the pipes and the memory. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || !ut_prepare(t) ||
	    !two_start_as(tr, uid) || ut_npids == UT_MAX_TARGETS)
		return false;
	tr->call->op = TWO_SPAWN;
	tr->call->target = *t;
	t->pid = two_run(tr);
	if (t->pid < 0)
		return false;
	/* Listed after the tracer: the test can kill the target after it. */
	ut_pids[ut_npids++] = t->pid;
	guard.arg = t->pid;
	return ut_spawn(&guard, two_guard) && ut_hear(&guard) && ut_runs(t);
}

/* Have the child of a tracer call PTRACE_TRACEME; 0 or -errno. */
static inline long two_traceme(struct ut_target *t)
{
	t->sh->go[TWO_WORD] = TWO_ASK;
	return ut_hear(t) ? t->sh->value[TWO_RESULT] : -ETIME;
}

/* Let the child of a tracer run its function, which calls ut_say(). */
static inline bool two_begin(struct ut_target *t)
{
	t->sh->go[TWO_WORD] = TWO_BEGIN;
	return ut_hear(t) && ut_runs(t);
}

/* ptrace() with memory of @size bytes for data; 0 or -errno. */
static inline long two_copy(struct two_tracer *tr, long request, pid_t pid,
			    unsigned long addr, void *buf, size_t size)
{
	struct two_call *call = tr->call;
	long ret;

	call->op = TWO_PTRACE;
	call->request = request;
	call->pid = pid;
	call->addr = addr;
	call->size = size;
	memcpy(call->bytes, buf, size);
	ret = two_run(tr);
	memcpy(buf, call->bytes, size);
	return ret;
}

static inline long two_full(struct two_tracer *tr, long request, pid_t pid,
			    unsigned long addr, unsigned long data)
{
	struct two_call *call = tr->call;

	call->op = TWO_PTRACE;
	call->request = request;
	call->pid = pid;
	call->addr = addr;
	call->data = data;
	call->size = 0;
	return two_run(tr);
}

static inline long two_ptrace(struct two_tracer *tr, long request, pid_t pid,
			      unsigned long data)
{
	return two_full(tr, request, pid, 0, data);
}

/* Have @request made by a thread that is not the tracer. */
static inline long two_other_ptrace(struct two_tracer *tr, long request,
				    pid_t pid, unsigned long data)
{
	long ret;

	tr->call->other_thread = true;
	ret = two_ptrace(tr, request, pid, data);
	tr->call->other_thread = false;
	return ret;
}

static inline long two_seize(struct two_tracer *tr, pid_t pid, long options)
{
	return two_ptrace(tr, PTRACE_SEIZE, pid, options);
}

static inline long two_cont(struct two_tracer *tr, pid_t pid, int sig)
{
	return two_ptrace(tr, PTRACE_CONT, pid, sig);
}

/* Resume @pid until its next stop at a system call. */
static inline long two_next(struct two_tracer *tr, pid_t pid)
{
	return two_ptrace(tr, PTRACE_SYSCALL, pid, 0);
}

/* The event message, or -errno. */
static inline long two_message(struct two_tracer *tr, pid_t pid)
{
	long message = 0;
	long ret = two_copy(tr, PTRACE_GETEVENTMSG, pid, 0, &message,
			    sizeof(message));

	return ret ?: message;
}

static inline long two_regs(struct two_tracer *tr, pid_t pid,
			    struct user_regs_struct *regs)
{
	return two_copy(tr, PTRACE_GETREGS, pid, 0, regs, sizeof(*regs));
}

static inline long two_siginfo(struct two_tracer *tr, pid_t pid,
			       siginfo_t *info)
{
	return two_copy(tr, PTRACE_GETSIGINFO, pid, 0, info, sizeof(*info));
}

/* Check that the tracer has @pid in a stop, where it can read registers. */
static inline bool two_has(struct two_tracer *tr, pid_t pid)
{
	struct user_regs_struct regs;

	return !two_regs(tr, pid, &regs);
}

/* The status, TWO_NONE or -errno; tr->call->pid is the task. */
static inline long two_wait_with(struct two_tracer *tr, pid_t pid, int options)
{
	struct two_call *call = tr->call;

	call->op = TWO_WAIT;
	call->pid = pid;
	call->data = options;
	return two_run(tr);
}

static inline long two_wait(struct two_tracer *tr, pid_t pid)
{
	return two_wait_with(tr, pid, __WALL);
}

/* Let the tracer sleep in wait4(); two_end_wait() has the result. */
static inline bool two_begin_wait(struct two_tracer *tr, pid_t pid, int options)
{
	struct two_call *call = tr->call;

	call->op = TWO_WAIT;
	call->pid = pid;
	call->data = options;
	return ut_go(&tr->t) && ut_until(ut_asleep_in(tr->t.pid, SYS_wait4));
}

static inline long two_end_wait(struct two_tracer *tr)
{
	return ut_hear(&tr->t) ? tr->call->ret : -ETIME;
}

/* Have a thread wait that is not the tracer. */
static inline long two_other_wait(struct two_tracer *tr, pid_t pid, int options)
{
	long ret;

	tr->call->other_thread = true;
	ret = two_wait_with(tr, pid, options);
	tr->call->other_thread = false;
	return ret;
}

static inline long two_poll(struct two_tracer *tr, pid_t pid)
{
	return two_wait_with(tr, pid, __WALL | WNOHANG);
}

/* 0 or -errno; the result is in tr->call->info. */
static inline long two_waitid(struct two_tracer *tr, int type, int id,
			      int options)
{
	struct two_call *call = tr->call;

	call->op = TWO_WAITID;
	call->request = type;
	call->pid = id;
	call->data = options;
	return two_run(tr);
}

/* Check that no report of @pid comes for UT_QUIET_MS. */
#define two_quiet(tr, pid)	ut_stays(two_poll(tr, pid) == TWO_NONE)

/* PTRACE_INTERRUPT; the status of the stop or -errno. */
static inline long two_interrupt(struct two_tracer *tr, pid_t pid)
{
	return two_ptrace(tr, PTRACE_INTERRUPT, pid, 0) ?: two_wait(tr, pid);
}

/* Interrupt @pid, and ask for its system calls from now on. */
static inline bool two_wants_calls(struct two_tracer *tr, pid_t pid)
{
	return two_interrupt(tr, pid) == TWO_TRAP && !two_next(tr, pid);
}

/* Interrupt @pid and detach; for a tracer with PTRACE_SEIZE. */
static inline bool two_leave(struct two_tracer *tr, pid_t pid)
{
	return two_interrupt(tr, pid) == TWO_TRAP &&
	       !two_ptrace(tr, PTRACE_DETACH, pid, 0);
}

#endif /* UTRACE_TRACER_H */

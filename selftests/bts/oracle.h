/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - which branches a process takes, by ptrace and Capstone
 *
 * ptrace makes the steps of all threads of a process, and Capstone says what
 * the instruction of each step is.  The list of branches that this gives is exact:
 * a record more or less, or another address, is a difference.
 */
#ifndef UTRACE_BRANCH_ORACLE_H
#define UTRACE_BRANCH_ORACLE_H

#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

#include "instruction.h"
#include "tasks.h"

#define MAX_THREADS	16

/* Selector of the code segment of 64-bit programs. */
#define CS_WIDE		0x33

struct expected {
	__u64 from;
	__u64 to;
	unsigned int kind;
};

/**
 * struct stepped - a thread
 * @tid: its id
 * @begin: where it was when ptrace began
 * @list: the branches that it has taken
 * @n: number of elements of @list
 * @regs: registers before the next step
 * @code: memory at the instruction pointer
 * @signal: to be delivered with the next step
 * @exec: the next step ends in a new program
 * @runs: it is not in a stop
 * @over: it has ended
 * @status: of its end
 */
struct stepped {
	pid_t tid;
	__u64 begin;
	struct expected *list;
	size_t n;
	struct user_regs_struct regs;
	unsigned char code[32];
	int signal;
	bool exec;
	bool runs;
	bool over;
	int status;
};

/**
 * struct oracle - a process
 * @thread: its threads, ended ones as well
 * @n: number of elements of @thread
 * @live: number of threads that have not ended
 * @steps: of all threads together
 * @strange: steps that Capstone cannot explain
 */
struct oracle {
	struct stepped thread[MAX_THREADS];
	size_t n;
	size_t live;
	size_t steps;
	size_t strange;
};

/* Steps */

static inline void expect(struct stepped *t, __u64 from, __u64 to,
			  unsigned int kind)
{
	if (!(t->n & (t->n - 1)))
		t->list = realloc(t->list, (t->n * 2 + 1) * sizeof(*t->list));
	need(t->list, "memory");
	t->list[t->n++] = (struct expected){ from, to, kind };
}

static inline bool is_wide(const struct user_regs_struct *regs)
{
	return regs->cs == CS_WIDE;
}

static inline bool is_sigreturn(const struct user_regs_struct *regs)
{
	return is_wide(regs) ? regs->rax == SYS_rt_sigreturn :
	       regs->rax == 119 || regs->rax == 173;
}

/* The thread has made the instruction at @at, and is at @to now. */
static inline void judge(struct oracle *o, struct stepped *t, __u64 at,
			 const unsigned char *code, __u64 to)
{
	const struct decoded *d = decoded(at, is_wide(&t->regs), code);
	__u64 next = at + d->size;

	if (d->holds_trap && d->size <= 16) {
		judge(o, t, next, code + d->size, to);
		return;
	}
	switch (d->kind) {
	case KIND_NONE:
		/* Capstone lacks some instructions, but no branch. */
		if (to != next && !(d->repeats && to == at) &&
		    (d->size || to <= at || to > at + 15)) {
			printf("#   from %llx (%u bytes) to %llx?\n", at,
			       d->size, to);
			o->strange++;
		}
		break;
	case UTRACE_BR_SYSCALL:
		expect(t, at, UTRACE_PC_SYSCALL, UTRACE_BR_SYSCALL);
		expect(t, is_sigreturn(&t->regs) ? UTRACE_PC_SIGRETURN :
		       UTRACE_PC_SYSCALL, to, UTRACE_BR_SYSRET);
		break;
	case UTRACE_BR_COND:
		if (to != next || (d->target == next && condition(d, &t->regs)))
			expect(t, at, to, UTRACE_BR_COND);
		break;
	default:
		expect(t, at, to, d->kind);
	}
}

static inline void look(struct stepped *t)
{
	struct iovec to = { t->code, sizeof(t->code) }, from[2];
	size_t left;

	need(!ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs), "registers");
	left = 4096 - (t->regs.rip & 4095);
	if (left > sizeof(t->code))
		left = sizeof(t->code);
	from[0] = (struct iovec){ (void *)t->regs.rip, left };
	from[1] = (struct iovec){ (void *)t->regs.rip + left,
				  sizeof(t->code) - left };
	memset(t->code, 0, sizeof(t->code));
	process_vm_readv(t->tid, &to, 1, from, 2, 0);
}

static inline bool has_handler(pid_t tid, int signal)
{
	char path[64], line[128];
	unsigned long caught = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "SigCgt: %lx", &caught);
	if (file)
		fclose(file);
	return caught >> (signal - 1) & 1;
}

/* A step is over: say which branches it was. */
static inline void end_step(struct oracle *o, struct stepped *t)
{
	unsigned char code[sizeof(t->code)];
	struct user_regs_struct regs = t->regs;
	int signal = t->signal;

	memcpy(code, t->code, sizeof(code));
	look(t);
	o->steps++;
	t->signal = 0;
	if (t->exec) {
		expect(t, regs.rip, UTRACE_PC_SYSCALL, UTRACE_BR_SYSCALL);
		expect(t, UTRACE_PC_EXEC, t->regs.rip, KIND_ANY);
		t->exec = false;
	} else if (signal && has_handler(t->tid, signal)) {
		expect(t, regs.rip, UTRACE_PC_ASYNC, KIND_ANY);
		expect(t, UTRACE_PC_SIGNAL, t->regs.rip, KIND_ANY);
	} else {
		struct user_regs_struct now = t->regs;

		t->regs = regs;
		judge(o, t, regs.rip, code, now.rip);
		t->regs = now;
	}
}

/* Threads */

static inline struct stepped *thread_of(struct oracle *o, pid_t tid)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		if (o->thread[i].tid == tid)
			return &o->thread[i];
	need(o->n < MAX_THREADS, "room for the thread");
	o->thread[o->n] = (struct stepped){ .tid = tid };
	o->live++;
	return &o->thread[o->n++];
}

static inline void begin_thread(struct stepped *t)
{
	look(t);
	t->begin = t->regs.rip;
}

/* A thread has stopped, or has ended. */
static inline void take_stop(struct oracle *o, struct stepped *t, int status)
{
	t->runs = false;
	if (!WIFSTOPPED(status)) {
		t->over = true;
		t->status = status;
		o->live--;
	} else if (status >> 16 == PTRACE_EVENT_EXEC) {
		t->exec = true;
	} else if (status >> 16) {
		/* The first stop of a new thread is one of these. */
		if (!t->begin)
			begin_thread(t);
	} else if (WSTOPSIG(status) != SIGTRAP) {
		t->signal = WSTOPSIG(status);
	} else {
		end_step(o, t);
	}
}

/* Step all threads until they are dead, or have made so many steps. */
static inline void step_threads(struct oracle *o, size_t steps)
{
	struct stepped *t;
	int status;
	pid_t tid;
	size_t i;

	while (o->live && o->steps < steps) {
		for (i = 0; i < o->n; i++) {
			t = &o->thread[i];
			if (t->over || t->runs)
				continue;
			t->runs = true;
			/*
			 * ESRCH: killed in the stop, as waitpid() will report.
			 */
			need(!ptrace(PTRACE_SINGLESTEP, t->tid, 0, t->signal) ||
			     errno == ESRCH, "step");
		}
		tid = waitpid(-1, &status, __WALL);
		need(tid > 0, "wait");
		take_stop(o, thread_of(o, tid), status);
	}
}

/* Detach from the threads that have not ended. */
static inline void let_go(struct oracle *o)
{
	size_t i;

	for (i = 0; i < o->n; i++) {
		struct stepped *t = &o->thread[i];
		int status;

		if (t->over)
			continue;
		if (t->runs) {
			ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
			need(waitpid(t->tid, &status, __WALL) == t->tid,
			     "stop");
			take_stop(o, t, status);
		}
		if (!t->over)
			ptrace(PTRACE_DETACH, t->tid, 0, t->signal);
	}
}

static inline void free_oracle(struct oracle *o)
{
	size_t i;

	for (i = 0; i < o->n; i++)
		free(o->thread[i].list);
}

/* Comparison */

static inline bool is_expected(const struct utrace_branch *r,
			       const struct expected *e)
{
	return type_of(r) == UTRACE_BRANCH && r->from == e->from &&
	       r->to == e->to &&
	       (e->kind == KIND_ANY || UTRACE_BRANCH_KIND(r->info) == e->kind);
}

/*
 * After the list only an END may come: in the call that the thread is in, or
 * perhaps before it if the thread was killed.
 */
static inline bool ends_well(const struct stepped *t, const struct trace *trace)
{
	const struct utrace_branch *r = &trace->records[trace->n - 1];
	const struct decoded *d = decoded(t->regs.rip, is_wide(&t->regs),
					  t->code);
	bool called = r > trace->records && is_end_of_call(r);

	if (trace->n == t->n + 2 + called && r->from == t->regs.rip &&
	    type_of(r) == UTRACE_BRANCH_END &&
	    (d->kind == UTRACE_BR_SYSCALL || !called))
		return true;
	printf("#   thread %d does not end at %llx after %zu records\n", t->tid,
	       t->regs.rip, t->n);
	return false;
}

/*
 * Check that the records of a thread are just these branches.  A thread that
 * ptrace has left may have more records.
 */
static inline bool is_equal(const struct stepped *t, const struct trace *trace)
{
	const struct utrace_branch *r = trace->records;
	size_t i;

	if (!trace->n || type_of(r) != UTRACE_BRANCH_START ||
	    r->to != t->begin) {
		printf("#   thread %d does not start at %llx\n", t->tid,
		       t->begin);
		return false;
	}
	for (i = 0; i < t->n; i++)
		if (i + 1 >= trace->n || !is_expected(&r[i + 1], &t->list[i]))
			break;
	if (i < t->n) {
		r = i + 1 < trace->n ? &r[i + 1] : &(struct utrace_branch){};
		printf("#   thread %d, %zu of %zu: %llx -> %llx (%llx)\n",
		       t->tid, i, t->n, r->from, r->to, r->info);
		printf("#     instead of %llx -> %llx (%x)\n", t->list[i].from,
		       t->list[i].to, t->list[i].kind);
		return false;
	}
	return !t->over || ends_well(t, trace);
}

#endif /* UTRACE_BRANCH_ORACLE_H */

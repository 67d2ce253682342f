/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - where a step of a tracer ends
 *
 * A scene is a piece of code that the tracee runs, and the stops that the
 * tracer expects: the address, the signal and its si_code.  The expected values
 * are those of a sole tracer on a kernel without utrace.
 *
 * In each variant one tracer steps.  Another tracer may be there, which resumes
 * the tracee from all its stops with the signal of the stop.
 */
#ifndef UTRACE_STEP_H
#define UTRACE_STEP_H

#include "places.h"

#define STEP_TRAP	two_stop(SIGTRAP)
#define STEP_MOVES	12	/* of a scene at most */

/* si_code of the SIGTRAP at the end of a step. */
#define STEP_DONE	TRAP_TRACE	/* one instruction */
#define STEP_CALL	TRAP_BRKPT	/* a system call: no instruction */
#define STEP_FRAME	SIGTRAP		/* a signal frame: no instruction */

/* Where the program starts that the tracee executes, and anywhere else. */
#define STEP_AT_EXEC	((const char *)1)
#define STEP_ANYWHERE	((const char *)2)

/* Addresses in the tracee, which has the code of the test. */
extern const char step_called[], step_call2[], step_behind[];
extern const char step_flags[], step_set[], step_cleared[];
extern const char step_break[], step_broken[];
extern const char step_handler[], step_restorer[];

/*
 * Each function begins with tkill(@tid, @sig), and returns the flags.
 *
 * step_calls() makes the system call @nr then, with the other arguments.  A
 * child that the call has made exits.  step_sets_flag() sets the trap flag and
 * clears it.  step_breaks() runs into a breakpoint.
 */
long step_calls(pid_t tid, int sig, long nr, long a, long b, long c);
long step_sets_flag(pid_t tid, int sig, long nr, long a, long b, long c);
long step_breaks(pid_t tid, int sig, long nr, long a, long b, long c);

asm (".pushsection .text\n"
	"step_calls:\n\t"
	"mov %rcx, %r10\n\t"
	"mov $200, %eax\n\t"		/* tkill() */
	"syscall\n"
	"step_called:\n\t"
	"nop\n\t"
	"nop\n\t"
	"mov %rdx, %rax\n\t"
	"mov %r10, %rdi\n\t"
	"mov %r8, %rsi\n\t"
	"mov %r9, %rdx\n"
	"step_call2:\n\t"
	"syscall\n"
	"step_behind:\n\t"
	"nop\n\t"
	"nop\n\t"
	"test %rax, %rax\n\t"
	"jz 1f\n\t"
	"pushf\n\t"
	"pop %rax\n\t"
	"ret\n"
	"1:\n\t"
	"mov $231, %eax\n\t"		/* exit_group() */
	"xor %edi, %edi\n\t"
	"syscall\n"

	"step_sets_flag:\n\t"
	"mov $200, %eax\n\t"
	"syscall\n"
	"step_flags:\n\t"
	"pushf\n\t"
	"orl $0x100, (%rsp)\n\t"
	"popf\n"
	"step_set:\n\t"
	"nop\n\t"
	"nop\n\t"
	"pushf\n\t"
	"andl $~0x100, (%rsp)\n\t"
	"popf\n"
	"step_cleared:\n\t"
	"nop\n\t"
	"pushf\n\t"
	"pop %rax\n\t"
	"ret\n"

	"step_breaks:\n\t"
	"mov $200, %eax\n\t"
	"syscall\n"
	"step_break:\n\t"
	"nop\n\t"
	"int3\n"
	"step_broken:\n\t"
	"nop\n\t"
	"nop\n\t"
	"pushf\n\t"
	"pop %rax\n\t"
	"ret\n"

	"step_handler:\n\t"
	"nop\n\t"
	"nop\n\t"
	"ret\n"
	"step_restorer:\n\t"
	"mov $15, %eax\n\t"		/* rt_sigreturn() */
	"syscall\n"
	".popsection");

/* A resume, and the stop that comes next. */
struct step_move {
	long request;		/* 0: the tracee runs already */
	int sig;
	int status;		/* 0: the tracee runs to the end of the scene */
	const char *at;
	int code;		/* si_code; 0: any */
};

struct step_scene {
	long (*code)(pid_t tid, int sig, long nr, long a, long b, long c);
	int sig;		/* of tkill() */
	long nr, a, b, c;
	long options;		/* of the tracer that steps */
	long of_other;		/* options of the other tracer */
	bool handles_trap;	/* the program has a handler of SIGTRAP */
	bool has_traps;		/* the program makes SIGTRAPs of its own */
	long traps;		/* calls of that handler */
	struct step_move move[STEP_MOVES];
};

/* Elements of ut_shared.value. */
enum { STEP_FLAGS, STEP_TRAPS, STEP_OVER };

#define STEP_TF		0x100

static struct ut_shared *step_shared;

static inline void step_on_trap(int sig)
{
	step_shared->value[STEP_TRAPS]++;
}

/* Set a handler that returns by step_restorer(), whose address is known. */
static inline long step_sigaction(int sig, const void *handler)
{
	struct {
		const void *handler;
		unsigned long flags;
		const void *restorer;
		unsigned long mask;
	} act = { handler, 0x04000000 /* SA_RESTORER */, step_restorer, 0 };

	return syscall(SYS_rt_sigaction, sig, &act, NULL, sizeof(act.mask));
}

/* Function of the tracee. */
static inline int step_tracee(struct ut_target *t)
{
	static char * const argv[] = { (char *)"helper", (char *)"exit",
				       (char *)"7", NULL };
	const struct step_scene *sc = (const void *)t->arg;
	long a = sc->a, b = sc->b;

	step_shared = t->sh;
	signal(SIGHUP, SIG_IGN);
	step_sigaction(SIGUSR1, step_handler);
	if (sc->handles_trap)
		step_sigaction(SIGTRAP, step_on_trap);
	two_block(SIGCHLD);
	two_block(SIGUSR2);
	if (sc->nr == SYS_execve) {
		a = (long)ut_helper();
		b = (long)argv;
	}
	while (!t->sh->go[0])
		t->sh->counter++;
	t->sh->value[STEP_FLAGS] = sc->code(getpid(), sc->sig, sc->nr, a, b,
					    sc->c);
	t->sh->value[STEP_OVER] = 1;
	return ut_spin(t);
}

/* A tracer in a scene. */
struct step_tracer {
	struct two_tracer *tr;
	const struct step_move *next;	/* NULL: passes all */
	pid_t child;			/* to be resumed */
	long exec_ip;
	long sigtraps;			/* that a passing tracer has seen */
};

/* Let a child run to its end without the tracer. */
static inline bool step_lets_child_go(struct step_tracer *st)
{
	long status = st->child > 0 ? two_poll(st->tr, st->child) : TWO_NONE;

	if (status == TWO_NONE)
		return true;
	if (status != TWO_TRAP ||
	    two_ptrace(st->tr, PTRACE_DETACH, st->child, 0)) {
		printf("# child: status %#lx\n", status);
		return false;
	}
	st->child = 0;
	return true;
}

/* Resume the tracee.  A child does not run before that. */
static inline bool step_resume(struct step_tracer *st, pid_t pid, long request,
			       long status, int sig)
{
	int event = status >> 16;
	long ret;

	if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK ||
	    event == PTRACE_EVENT_CLONE)
		st->child = two_message(st->tr, pid);
	ret = two_ptrace(st->tr, request, pid, sig);
	if (ret)
		printf("# request %#lx: %ld\n", request, ret);
	return !ret;
}

/* Check whether the stop is that of the scene's next move. */
static inline bool step_fits(struct step_tracer *st, pid_t pid, long status)
{
	const struct step_move *move = st->next;
	struct user_regs_struct regs = {};
	siginfo_t info = {};
	long at;

	if (!WIFSTOPPED(status) && status == move->status)
		return true;
	two_regs(st->tr, pid, &regs);
	two_siginfo(st->tr, pid, &info);
	if (status == two_event(PTRACE_EVENT_EXEC))
		st->exec_ip = regs.rip;
	at = move->at == STEP_AT_EXEC ? st->exec_ip : (long)move->at;
	if (status == move->status &&
	    (move->at == STEP_ANYWHERE || at == (long)regs.rip) &&
	    (!move->code || move->code == info.si_code))
		return true;
	printf("# stop %#lx at %+ld of step_called, si_code %d; not %#x at %+ld, %d\n",
	       status, (long)regs.rip - (long)step_called, info.si_code,
	       move->status, at - (long)step_called, move->code);
	return false;
}

/* Resume the tracee from all stops with the signal of the stop. */
static inline bool step_passes(struct step_tracer *st, pid_t pid)
{
	long status = two_poll(st->tr, pid);

	if (status < 0 || !WIFSTOPPED(status))
		return true;
	st->sigtraps += status == STEP_TRAP;
	return step_resume(st, pid, PTRACE_CONT, status, pass_signal(status));
}

/* 1: the stop came that the scene has next; 0: none came; < 0: another one. */
static inline int step_advance(struct step_tracer *st, pid_t pid)
{
	const struct step_move *move;
	long status;

	if (!step_lets_child_go(st))
		return -1;
	if (!st->next)
		return step_passes(st, pid) ? 0 : -1;
	if (!st->next->status && !st->next->request)
		return 0;
	status = two_poll(st->tr, pid);
	if (status == TWO_NONE)
		return 0;
	if (status < 0 || !step_fits(st, pid, status))
		return -1;
	move = ++st->next;
	if (!move->request)
		return 1;
	return step_resume(st, pid, move->request, status, move->sig) ? 1 : -1;
}

static inline bool step_is_over(struct step_tracer *st, struct ut_target *t)
{
	const struct step_move *move = st->next;

	if (st->child > 0 || (move && move->status))
		return false;
	return !move || !move->request || t->sh->value[STEP_OVER];
}

/* Check that the tracers get the stops of the scene, and no other stops. */
static inline bool step_play(struct ut_target *t, struct step_tracer *one,
			     struct step_tracer *other)
{
	long end = ut_now_ms() + TWO_WAIT_MS;

	t->sh->go[0] = 1;
	while (!step_is_over(one, t) ||
	       (other->tr && !step_is_over(other, t))) {
		if (step_advance(one, t->pid) < 0 ||
		    (other->tr && step_advance(other, t->pid) < 0))
			return false;
		if (ut_now_ms() < end)
			continue;
		printf("# no stop; expected %#x\n", one->next->status);
		return false;
	}
	return true;
}

/* Start the tracee of a scene with the tracers of the variant. */
static inline bool step_start(struct two_data *self,
			      const struct two_variant *variant,
			      const struct step_scene *sc)
{
	long of_other = variant->both ? sc->options : sc->of_other;
	struct ut_target *t = &self->t;

	t->arg = (long)sc;
	return ut_spawn(t, step_tracee) && ut_runs(t) &&
	       place_seize(self, variant, PTRACE_O_TRACESYSGOOD | sc->options,
			   PTRACE_O_TRACESYSGOOD | of_other);
}

/* Play a scene in the variant. */
static inline void step_scene(struct __test_metadata *_metadata,
			      struct two_data *self,
			      const struct two_variant *variant,
			      const struct step_scene *sc)
{
	struct step_tracer one = {
		place_tracer(self, variant->one), sc->move
	};
	struct step_tracer other = {
		place_tracer(self, variant->other),
		variant->both ? sc->move : NULL
	};
	struct ut_target *t = &self->t;

	ASSERT_TRUE(step_start(self, variant, sc));
	ASSERT_TRUE(step_play(t, &one, &other));
	/* Steps are reported only to the tracer that makes them. */
	if (!sc->has_traps)
		EXPECT_EQ(0, other.sigtraps);
	if (sc->nr == SYS_execve)
		return;
	EXPECT_TRUE(ut_runs(t));
	EXPECT_EQ(TWO_NONE, two_poll(one.tr, t->pid));
	EXPECT_EQ(0, t->sh->value[STEP_FLAGS] & STEP_TF);
	EXPECT_EQ(sc->traps, t->sh->value[STEP_TRAPS]);
}

/* A test that plays a scene, of which the further arguments initialize the members. */
#define STEP_SCENE(test_name, ...)					\
	static const struct step_scene scene_##test_name = { __VA_ARGS__ }; \
									\
	TEST_F(tracers, test_name)					\
	{								\
		step_scene(_metadata, self, variant, &scene_##test_name); \
	}

#endif /* UTRACE_STEP_H */

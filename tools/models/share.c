// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - heavy barriers that are shared
 *
 * Callers that may sleep take a mutex for their heavy barrier, and need none if
 * a whole one of another caller was made after their store.  A sequence, odd
 * while one is being made, says so.
 *
 * Each caller and the task: one sees what the other stored.
 */
#include "explore.h"

#define NCALLERS	3
#define NEITHER		"neither sees the other's store"

enum var { A, B, SEQ = B + NCALLERS, MUTEX };
static const char *const vars[] = { "A", "B1", "B2", "B3", "seq", "mutex" };

#define TASK	0

/* What a variant has. */
enum {
	NO_MB		= 1 << 0,	/* before the sequence is read */
	TOO_EARLY	= 1 << 1,	/* one that began before will do */
	NO_ODD		= 1 << 2,	/* the sequence is that of ends */
};

struct state {
	struct machine m;
	__u8 task_sees;
	__u8 looks;
	__u8 heavies;
	struct {
		__u8 need;
		__u8 sees;
	} caller[NCALLERS];
};

static void task(struct state *s, unsigned int me)
{
	BEGIN;
	STEP("A = 1");
	store(A, 1);
	for (; s->looks < NCALLERS; s->looks++) {
		STEP("B?");
		s->task_sees |= load(B + s->looks) << s->looks;
	}
	END;
}

/* The value of the sequence at which a whole heavy barrier has been made. */
static __u8 needed(__u8 seq)
{
	if (has(NO_ODD))
		return seq + 2;
	if (has(TOO_EARLY))
		return (seq + 2) & ~1;
	return (seq + 3) & ~1;
}

static void caller(struct state *s, unsigned int me)
{
	unsigned int i = me - 1;

	BEGIN;
	STEP("B = 1");
	store(B + i, 1);
	if (!has(NO_MB)) {
		STEP("smp_mb()");
		fence();
	}
	STEP("seq?");
	s->caller[i].need = needed(load(SEQ));
	LOCK(MUTEX);
	STEP("done by others?");
	if (load(SEQ) < s->caller[i].need) {
		if (!has(NO_ODD)) {
			STEP("seq is odd");
			store(SEQ, load(SEQ) + 1);
		}
		STEP("heavy: smp_mb()");
		fence();
		STEP("heavy: IPI");
		fence_on(TASK);
		s->heavies++;
		STEP("heavy: smp_mb(), seq is even");
		fence();
		store(SEQ, load(SEQ) + 1 + has(NO_ODD));
	}
	UNLOCK(MUTEX);
	STEP("A?");
	s->caller[i].sees = load(A);
	END;
}

static void init(struct state *s)
{
}

static void at_end(struct state *s)
{
	unsigned int i;

	for (i = 0; i < NCALLERS; i++)
		if (!(s->task_sees & (1 << i)) && !s->caller[i].sees)
			fail(NEITHER);
}

static const struct thread threads[] = {
	{ "task", task },
	{ "caller 1", caller },
	{ "caller 2", caller },
	{ "caller 3", caller },
	{}
};

static const struct variant variants[] = {
	{ "shared heavy", false, 0, NULL },
	{ "shared heavy, PSO", true, 0, NULL },
	{ "shared heavy, PSO, without barrier before", true, NO_MB, NEITHER },
	{ "shared heavy that began too early", false, TOO_EARLY, NEITHER },
	{ "shared heavy that says only when it ends", false, NO_ODD, NEITHER },
	{}
};

const struct model model = {
	.size		= sizeof(struct state),
	.vars		= vars,
	.threads	= threads,
	.ncpus		= 4,
	.init		= init,
	.end		= at_end,
	.variants	= variants,
};

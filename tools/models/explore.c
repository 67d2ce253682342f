// SPDX-License-Identifier: GPL-2.0
/*
 * utrace models - explore all states of a model, breadth first
 *
 * Without an argument the program explores every variant.  With the name of a
 * variant it explores that variant, and prints the shortest way to its failure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

/* The maximum number of states; more indicate an error in a model. */
#define MAX_STATES	6000000
#define MAX_LINES	4096
#define RELEASE		0x80

/* A move from one state to another: a step, or the landing of a store. */
struct move {
	__u8 cpu;	/* the thread of a step, or the CPU of a store */
	__u8 which;	/* the choice of a step, or the index of a store */
	bool landing;
};

/* All states that were reached, in the order in which they were reached. */
static struct {
	__u8 *state;
	__u32 *parent;
	struct move *move;
	__u32 n;
	__u32 room;
	__u32 *hash;	/* number of a state + 1, or 0 */
	__u32 hash_size;
} seen;

/* The current step. */
static struct {
	struct state *s;
	struct machine *m;
	const struct variant *variant;
	const char *error;
	unsigned int thread;
	unsigned int cpu;
	unsigned int choice;
	unsigned int choices;
	bool blocked;
} now;

static const char *labels[MAX_LINES];

static void *must(void *p)
{
	if (!p) {
		fputs("no memory\n", stderr);
		exit(2);
	}
	return p;
}

/* Functions for the code of threads. */

__u16 program_counter(void)
{
	return now.m->pc[now.thread];
}

void next_step(__u16 line, const char *what)
{
	now.m->pc[now.thread] = line;
	if (line < MAX_LINES)
		labels[line] = what;
}

void cannot_go_on(void)
{
	now.blocked = true;
}

bool has(unsigned int bit)
{
	return now.variant->has & bit;
}

unsigned int choose(unsigned int n)
{
	now.choices = n;
	return now.choice;
}

void fail(const char *why)
{
	if (!now.error)
		now.error = why;
}

bool done(unsigned int thread)
{
	return now.m->pc[thread] == THREAD_DONE;
}

void run_on(unsigned int cpu)
{
	now.cpu = cpu;
}

__u8 in_memory(__u8 var)
{
	return now.m->mem[var];
}

bool in_flight(unsigned int cpu, __u8 var)
{
	const struct buffer *buf = &now.m->buf[cpu];
	unsigned int i;

	for (i = 0; i < buf->n; i++)
		if ((buf->store[i].var & ~RELEASE) == var)
			return true;
	return false;
}

__u8 load(__u8 var)
{
	const struct buffer *buf = &now.m->buf[now.cpu];
	unsigned int i;

	for (i = buf->n; i > 0; i--)
		if ((buf->store[i - 1].var & ~RELEASE) == var)
			return buf->store[i - 1].val;
	return now.m->mem[var];
}

static void store_as(__u8 var, __u8 val)
{
	struct buffer *buf = &now.m->buf[now.cpu];

	if (buf->n == MACHINE_STORES) {
		cannot_go_on();
		return;
	}
	buf->store[buf->n].var = var;
	buf->store[buf->n++].val = val;
}

void store(__u8 var, __u8 val)
{
	store_as(var, val);
}

void store_release(__u8 var, __u8 val)
{
	store_as(var | RELEASE, val);
}

static void land(unsigned int cpu, unsigned int i)
{
	struct buffer *buf = &now.m->buf[cpu];
	__u8 var = buf->store[i].var & ~RELEASE;
	__u8 val = buf->store[i].val;

	buf->n--;
	memmove(&buf->store[i], &buf->store[i + 1],
		(buf->n - i) * sizeof(buf->store[0]));
	memset(&buf->store[buf->n], 0, sizeof(buf->store[0]));
	now.m->mem[var] = val;
	if (model.landed)
		model.landed(now.s, var, val);
}

void fence_on(unsigned int cpu)
{
	while (now.m->buf[cpu].n)
		land(cpu, 0);
}

void fence(void)
{
	fence_on(now.cpu);
}

bool try_lock(__u8 var)
{
	if (!now.variant->pso)
		fence();
	if (now.m->mem[var])
		return false;
	now.m->mem[var] = 1;
	return true;
}

/* States. */

static struct state *state_nr(__u32 n)
{
	return (struct state *)(seen.state + (size_t)n * model.size);
}

static __u32 hash_of(const void *state)
{
	const __u8 *p = state;
	__u64 h = model.size, part;
	size_t i, n;

	for (i = 0; i < model.size; i += n) {
		n = model.size - i < sizeof(part) ? model.size - i :
						    sizeof(part);
		part = 0;
		memcpy(&part, p + i, n);
		h = (h ^ part) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 29;
	}
	return h ^ (h >> 32);
}

static __u32 *hash_slot(const void *state)
{
	__u32 i = hash_of(state);

	for (;; i++) {
		__u32 *slot = &seen.hash[i & (seen.hash_size - 1)];

		if (!*slot || !memcmp(state_nr(*slot - 1), state, model.size))
			return slot;
	}
}

static void seen_grow(void)
{
	__u32 i;

	seen.room = seen.room ? 2 * seen.room : 1 << 16;
	seen.state = must(realloc(seen.state, seen.room * model.size));
	seen.parent = must(realloc(seen.parent,
				   seen.room * sizeof(*seen.parent)));
	seen.move = must(realloc(seen.move, seen.room * sizeof(*seen.move)));
	free(seen.hash);
	seen.hash_size = 2 * seen.room;
	seen.hash = must(calloc(seen.hash_size, sizeof(*seen.hash)));
	for (i = 0; i < seen.n; i++)
		*hash_slot(state_nr(i)) = i + 1;
}

static void seen_add(const struct state *s, __u32 parent, struct move move)
{
	__u32 *slot;

	if (seen.n == seen.room)
		seen_grow();
	slot = hash_slot(s);
	if (*slot)
		return;
	memcpy(state_nr(seen.n), s, model.size);
	seen.parent[seen.n] = parent;
	seen.move[seen.n] = move;
	*slot = ++seen.n;
}

/* Moves. */

static void begin(struct state *s, unsigned int thread, unsigned int choice)
{
	now.s = s;
	now.m = (struct machine *)s;
	now.thread = thread;
	now.cpu = thread;
	now.choice = choice;
	now.choices = 1;
	now.blocked = false;
}

static bool make_move(struct state *s, struct move move)
{
	begin(s, move.cpu, move.which);
	if (move.landing)
		land(move.cpu, move.which);
	else
		model.threads[move.cpu].run(s, move.cpu);
	return !now.blocked;
}

/* Check whether the @i-th store may land before older ones. */
static bool may_land(const struct buffer *buf, unsigned int i)
{
	unsigned int older;

	if (!i)
		return true;
	if (!now.variant->pso || (buf->store[i].var & RELEASE))
		return false;
	for (older = 0; older < i; older++)
		if ((buf->store[older].var & ~RELEASE) == buf->store[i].var)
			return false;
	return true;
}

/* Create the first state: each thread runs up to its first STEP(). */
static void first_state(struct state *s)
{
	unsigned int i;

	memset(s, 0, model.size);
	begin(s, 0, 0);
	model.init(s);
	for (i = 0; model.threads[i].name; i++) {
		begin(s, i, 0);
		model.threads[i].run(s, i);
	}
}

/*
 * Execute every move from state @n.  @s is memory for a state, @last returns
 * the last move, for the trace of a failure.  Returns the number of moves.
 */
static unsigned int explore_one(__u32 n, struct state *s, struct move *last)
{
	unsigned int i, k, moves = 0;

	for (i = 0; model.threads[i].name; i++) {
		struct move move = { .cpu = i };

		do {
			memcpy(s, state_nr(n), model.size);
			if (((struct machine *)s)->pc[i] == THREAD_DONE)
				break;
			*last = move;
			if (make_move(s, move)) {
				moves++;
				if (now.error)
					return moves;
				seen_add(s, n, move);
			}
		} while (++move.which < now.choices);
	}
	for (i = 0; i < model.ncpus; i++) {
		for (k = 0; ; k++) {
			struct move move = { i, k, true };

			memcpy(s, state_nr(n), model.size);
			if (k >= ((struct machine *)s)->buf[i].n)
				break;
			if (!may_land(&((struct machine *)s)->buf[i], k))
				continue;
			*last = move;
			make_move(s, move);
			moves++;
			if (now.error)
				return moves;
			seen_add(s, n, move);
		}
	}
	return moves;
}

static void print_move(const struct state *s, struct move move)
{
	const struct machine *m = (const struct machine *)s;
	unsigned int i;

	if (!move.landing) {
		printf("#   %-12s %s", model.threads[move.cpu].name,
		       labels[m->pc[move.cpu]]);
		if (move.which)
			printf(" [%u]", move.which);
	} else {
		i = m->buf[move.cpu].store[move.which].var & ~RELEASE;
		printf("#      CPU %u: %s = %u lands", move.cpu, model.vars[i],
		       m->buf[move.cpu].store[move.which].val);
	}
	putchar('\n');
}

/*
 * Print a path to state @n.  It is a shortest one, since the search is breadth
 * first.
 */
static void print_trace(__u32 n)
{
	if (!n)
		return;
	print_trace(seen.parent[n]);
	print_move(state_nr(seen.parent[n]), seen.move[n]);
}

/* Explore a variant.  Returns the failure that was found, or NULL. */
static const char *explore(const struct variant *variant, bool trace)
{
	struct state *s = must(malloc(model.size));
	bool ends = false;
	struct move last;
	__u32 n;

	now.variant = variant;
	now.error = NULL;
	seen.n = 0;
	if (seen.hash)
		memset(seen.hash, 0, seen.hash_size * sizeof(*seen.hash));
	first_state(s);
	seen_add(s, 0, (struct move){});
	for (n = 0; n < seen.n && !now.error; n++) {
		if (!explore_one(n, s, &last)) {
			memcpy(s, state_nr(n), model.size);
			begin(s, 0, 0);
			model.end(s);
			last.cpu = MACHINE_CPUS;
			ends = true;
		}
		if (seen.n > MAX_STATES)
			fail("too many states");
	}
	/* Without a final state, model.end() was never called. */
	if (!ends)
		fail("there is no end");
	if (trace && now.error) {
		print_trace(n - 1);
		if (last.cpu < MACHINE_CPUS)
			print_move(state_nr(n - 1), last);
		printf("#   %s\n", now.error);
	}
	free(s);
	return now.error;
}

static bool run(const struct variant *variant, bool trace)
{
	const char *error = explore(variant, trace);

	if (!variant->fails && !error) {
		printf("ok - %s: %u states\n", variant->name, seen.n);
		return true;
	}
	if (variant->fails && error && !strcmp(error, variant->fails)) {
		printf("ok - %s fails as expected: %s\n", variant->name,
		       error);
		return true;
	}
	if (error && !trace)
		explore(variant, true);
	printf("not ok - %s: %s\n", variant->name, error ?: "does not fail");
	return false;
}

int main(int argc, char **argv)
{
	const struct variant *variant;
	bool good = true, found = false;

	for (variant = model.variants; variant->name; variant++) {
		if (argc > 1 && strcmp(argv[1], variant->name))
			continue;
		found = true;
		good &= run(variant, argc > 1);
		fflush(stdout);
	}
	if (!found)
		fprintf(stderr, "no variant named %s\n", argv[1]);
	return good && found ? 0 : 1;
}

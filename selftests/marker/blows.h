/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - threads that change a word of their process without a pause
 */
#ifndef UTRACE_BLOWS_H
#define UTRACE_BLOWS_H

#include "words.h"

#define STRIKERS	4

/* Threads count up to @most and down again, each on its own, from @start. */
struct blows {
	void *at;
	int size;
	int most;
	__u64 start;
};

/* Which counts there are: those of even threads, and of odd ones. */
static struct blows blows[2];

/*
 * number[]: 0 to 3: what each thread has added when shared::quit is seen.  looks: how
 * often threads have counted, in thousands.
 */
static inline void *strike(void *thread)
{
	const long i = (long)thread;
	const struct blows *own = &blows[i % 2];
	long net = 0, step = 1;
	int n;

	while (!shared->quit) {
		for (n = 0; n < 1000; n++) {
			add_to(own->at, own->size, step);
			net += step;
			if (net == own->most || !net)
				step = net ? -1 : 1;
		}
		shared->looks++;
	}
	shared->number[i] = net;
	return NULL;
}

static inline void begin_blows(pthread_t threads[STRIKERS])
{
	long i;

	for (i = 0; i < STRIKERS; i++)
		if (pthread_create(&threads[i], NULL, strike, (void *)i))
			_exit(95);
}

static inline void end_blows(pthread_t threads[STRIKERS])
{
	int i;

	for (i = 0; i < STRIKERS; i++)
		pthread_join(threads[i], NULL);
}

#endif /* UTRACE_BLOWS_H */

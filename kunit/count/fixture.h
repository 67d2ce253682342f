/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace tests - a client that counts, and tasks that it counts
 */
#ifndef _UTRACE_TESTS_COUNT_FIXTURE_H
#define _UTRACE_TESTS_COUNT_FIXTURE_H

#include <kunit/test.h>
#include <linux/atomic.h>

#include "../../count/count.h"

/* Maximum number of rows that count_rows() reads. */
#define COUNT_ROWS	256

/**
 * struct count_test - a client
 * @counts: its counts
 * @forgotten: number of calls of ->forget()
 * @freed: number of calls of ->free()
 * @rows: the rows that count_rows() has read
 */
struct count_test {
	struct utrace_counts counts;
	atomic_t forgotten;
	atomic_t freed;
	struct utrace_count_row rows[COUNT_ROWS];
};

/**
 * struct count_client_task - the client's data for a task
 * @count: its counts
 * @t: the client
 */
struct count_client_task {
	struct utrace_count_task count;
	struct count_test *t;
};

int count_init(struct kunit *test);
void count_exit(struct kunit *test);
void count_limit(struct kunit *test, unsigned int limit);
struct utrace_count_task *count_new_task(struct count_test *t);
struct pid *count_thread(struct kunit *test, void (*run)(struct count_test *t));
unsigned int count_rows(struct kunit *test, unsigned int piece);
const struct utrace_count_row *count_row_of(struct kunit *test, struct pid *pid,
					    unsigned int nr);

#endif /* _UTRACE_TESTS_COUNT_FIXTURE_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - count system calls, and sum up how long they took (-c)
 *
 * A call is counted at its exit.  Its time is that from its entry, which is
 * kept for each task, to its exit; a call whose entry was not recorded adds no
 * time.
 */
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "summary.h"

struct count {
	__u32 nr;
	__u64 calls;
	__u64 errors;
	__u64 total;	/* ns */
};

/* The system call that a task is in, and the time of its entry in ns. */
struct now {
	__s32 tid;
	__u32 nr;
	__u64 since;
	bool in_call;
};

static struct count *counts;
static size_t ncounts;
static void *tasks;

static struct count *count_of(__u32 nr)
{
	size_t i;

	for (i = 0; i < ncounts; i++)
		if (counts[i].nr == nr)
			return &counts[i];
	counts = reallocarray(counts, ncounts + 1, sizeof(*counts));
	if (!counts)
		abort();
	counts[ncounts] = (struct count){ .nr = nr };
	return &counts[ncounts++];
}

static int compare_tasks(const void *a, const void *b)
{
	return ((const struct now *)a)->tid - ((const struct now *)b)->tid;
}

static struct now *now_of(__s32 tid)
{
	struct now key = { .tid = tid }, *now, **found;

	found = tfind(&key, &tasks, compare_tasks);
	if (found)
		return *found;
	now = calloc(1, sizeof(*now));
	if (!now)
		abort();
	now->tid = tid;
	tsearch(now, &tasks, compare_tasks);
	return now;
}

static void count_exit(const struct utrace_rec_sys_exit *exit)
{
	struct now *now = now_of(exit->head.tid);
	bool paired = now->in_call && !(exit->head.flags & UTRACE_F_UNPAIRED);
	struct count *count = count_of(paired ? now->nr : exit->nr);

	count->calls++;
	if (IS_ERR_VALUE(exit->ret))
		count->errors++;
	if (paired)
		count->total += exit->head.time - now->since;
	now->in_call = false;
}

static void end_call(const void *node, VISIT visit, int depth)
{
	struct now *now = *(struct now *const *)node;

	if (visit == postorder || visit == leaf)
		now->in_call = false;
}

/* Add a record to the counts. */
void summary_record(const struct utrace_rec *rec)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	struct now *now;

	switch (rec->type) {
	case UTRACE_REC_SYS_ENTER:
		now = now_of(rec->tid);
		now->nr = enter->nr;
		now->since = rec->time;
		now->in_call = true;
		break;
	case UTRACE_REC_SYS_EXIT:
		count_exit((const void *)rec);
		break;
	case UTRACE_REC_LOST:
		/* The exits of calls that have begun may be among the lost. */
		twalk(tasks, end_call);
		break;
	case UTRACE_REC_EXIT:
		now = now_of(rec->tid);
		tdelete(now, &tasks, compare_tasks);
		free(now);
		break;
	}
}

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	return x->total < y->total ? 1 : x->total > y->total ? -1 :
	       (int)x->nr - (int)y->nr;
}

static void print_count(FILE *out, const struct count *count, __u64 total)
{
	const char *name = call_name(count->nr);

	fprintf(out, "%6.2f %11.6f %11llu %9llu ",
		total ? 100.0 * count->total / total : 0.0, count->total / 1e9,
		count->calls ? count->total / count->calls / 1000 : 0,
		count->calls);
	if (count->errors)
		fprintf(out, "%9llu ", count->errors);
	else
		fprintf(out, "%9s ", "");
	fprintf(out, "%s%s\n", count->nr & UTRACE_REC_IA32 ? "i386/" : "",
		name ? name : "(no such call)");
}

/* Print the counts, the calls that took longest first. */
void summary_print(FILE *out)
{
	__u64 calls = 0, errors = 0, total = 0;
	size_t i;

	for (i = 0; i < ncounts; i++) {
		calls += counts[i].calls;
		errors += counts[i].errors;
		total += counts[i].total;
	}
	if (ncounts)
		qsort(counts, ncounts, sizeof(*counts), compare_counts);
	fputs("% time     seconds  usecs/call     calls    errors syscall\n"
	      "------ ----------- ----------- --------- --------- ----------------\n",
	      out);
	for (i = 0; i < ncounts; i++)
		print_count(out, &counts[i], total);
	fputs("------ ----------- ----------- --------- --------- ----------------\n",
	      out);
	fprintf(out, "100.00 %11.6f %11llu %9llu %9llu total\n", total / 1e9,
		calls ? total / calls / 1000 : 0, calls, errors);
}

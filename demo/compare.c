// SPDX-License-Identifier: GPL-2.0
/* The results of the engines and of strace, side by side. */
#include <stdlib.h>
#include <string.h>

#include "demo.h"

#define WIDTH		78
#define MAX_ROWS	12

static const struct view *order_by;

static int by_count(const void *a, const void *b)
{
	unsigned long x = order_by->count[*(const int *)a];
	unsigned long y = order_by->count[*(const int *)b];

	return x < y ? 1 : x > y ? -1 : 0;
}

static const char *name_of(const struct view *v, int nr)
{
	static char buf[32];

	if (v->name[nr][0])
		return v->name[nr];
	snprintf(buf, sizeof(buf), "number %d", nr);
	return buf;
}

static void print_row(const struct view *engine, const struct view *strace,
		      int nr, bool last)
{
	printf("  %-17.17s %7lu %7lu %s%s", name_of(strace, nr),
	       engine->count[nr], strace->count[nr],
	       mark(engine->count[nr] == strace->count[nr]), last ? "\n" : " ");
}

/* The rare calls, which were counted equally, in running text. */
static void print_rest(const struct view *v, const int *nrs, int n)
{
	int i, column = WIDTH;
	char word[64];

	for (i = 0; i < n; i++) {
		snprintf(word, sizeof(word), "%s %lu%s", name_of(v, nrs[i]),
			 v->count[nrs[i]], i < n - 1 ? ", " : "");
		if (column + strlen(word) > WIDTH) {
			printf("%s  ", i ? "\n" : "");
			column = 2;
		}
		column += printf("%s", word);
	}
	if (n)
		printf(" %s\n", mark(true));
}

/*
 * All calls in @nrs, those that differ first, then the most frequent. Returns
 * how many differ.
 */
static int list_calls(const struct view *engine, const struct view *strace,
		      int *nrs, int *n)
{
	int nr, i, differ = 0;

	*n = 0;
	for (nr = 0; nr <= MAX_NR; nr++)
		if (engine->count[nr] || strace->count[nr])
			nrs[(*n)++] = nr;
	order_by = strace;
	qsort(nrs, *n, sizeof(*nrs), by_count);
	for (i = 0; i < *n; i++) {
		nr = nrs[i];
		if (engine->count[nr] == strace->count[nr])
			continue;
		memmove(nrs + differ + 1, nrs + differ,
			(i - differ) * sizeof(*nrs));
		nrs[differ++] = nr;
	}
	return differ;
}

void compare_calls(const struct view *engine, const struct view *strace)
{
	int nrs[MAX_NR + 1], n, i, shown, rows, differ;
	unsigned long total = 0;

	differ = list_calls(engine, strace, nrs, &n);
	shown = differ > MAX_ROWS * 2 ? differ : MAX_ROWS * 2;
	if (shown > n)
		shown = n;
	/* In two columns, read downwards */
	rows = (shown + 1) / 2;
	for (i = 0; i < 2; i++)
		printf("  %-17s %7s %7s %s", "call", "engine", "strace",
		       i ? "\n" : "    ");
	for (i = 0; i < rows; i++) {
		print_row(engine, strace, nrs[i], rows + i >= shown);
		if (rows + i < shown)
			print_row(engine, strace, nrs[rows + i], true);
	}
	print_rest(strace, nrs + shown, n - shown);
	for (i = 0; i < n; i++)
		total += strace->count[nrs[i]];
	check(total && !differ, "%lu calls of %d kinds, %d kinds counted differently",
	      total, n, differ);
}

static const char *end_text(const struct task *t, char buf[24])
{
	if (!t)
		return "not seen";
	if (t->end.how == 'e')
		snprintf(buf, 24, "exit %d", t->end.code);
	else if (t->end.how == 's')
		snprintf(buf, 24, "SIG%s", sigabbrev_np(t->end.code) ?: "?");
	else
		return "running";
	return buf;
}

static const struct task *find(const struct view *v, pid_t pid)
{
	unsigned int i;

	for (i = 0; i < v->tasks; i++)
		if (v->task[i].pid == pid)
			return &v->task[i];
	return NULL;
}

static bool print_task(const struct task *e, const struct task *s)
{
	const struct task *t = e ? e : s;
	char ebuf[24], sbuf[24], name[48];
	bool same = e && s && e->end.how == s->end.how &&
		    e->end.code == s->end.code;

	snprintf(name, sizeof(name), "%*s%s%s", 2 * t->depth, "",
		 e ? e->name : "?", t->thread ? " (thread)" : "");
	printf("  %-7d %-27s %-10s %-10s %s\n", t->pid, name,
	       end_text(e, ebuf), end_text(s, sbuf), mark(same));
	return same;
}

void compare_tasks(const struct view *engine, const struct view *strace)
{
	unsigned int i, differ = 0;

	printf("  %-7s %-27s %-10s %-10s\n", "pid", "task", "engine", "strace");
	for (i = 0; i < engine->tasks; i++)
		differ += !print_task(&engine->task[i],
				      find(strace, engine->task[i].pid));
	for (i = 0; i < strace->tasks; i++)
		if (!find(engine, strace->task[i].pid))
			differ += !print_task(NULL, &strace->task[i]);
	check(engine->tasks && !differ, "%u tasks, %u seen differently",
	      strace->tasks, differ);
}

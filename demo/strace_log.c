// SPDX-License-Identifier: GPL-2.0
/*
 * Read the results of each observer.
 *
 * A line of "strace -f -n -e raw=all" is one of
 *
 *	PID [  1] write(0x1, ...) = 0x5		counted
 *	PID [ 61] wait4(0xffff, <unfinished ...>	counted
 *	PID [ 61] <... wait4 resumed>) = 0	not again
 *	PID [231] exit_group(0) = ?		counted: never returns
 *	PID [  1] --- SIGPIPE {...} ---		a signal
 *	PID [231] +++ exited with 0 +++		the end of a task
 *
 * A call that was interrupted and made again is a line of its own each time, as
 * it is an entry of its own to the engine; a call that goes on under
 * restart_syscall() counts under that name for strace and for the engine.
 */
#include <stdlib.h>
#include <string.h>

#include "demo.h"

/*
 * strace sees more of the root than the engines: its start, up to the read
 * at the gate, which was entered before they were attached. That read is the
 * last of these lines. GATE_FD is 199.
 */
#define GATE_CALL	"read(0xc7,"

static struct task *task_of(struct view *v, pid_t pid)
{
	unsigned int i;

	/* Backwards: a number may be used again, the last one counts */
	for (i = v->tasks; i--;)
		if (v->task[i].pid == pid && v->task[i].end.how == 'r')
			return &v->task[i];
	if (v->tasks == MAX_TASKS)
		give_up("more than %d tasks", MAX_TASKS);
	v->task[v->tasks].pid = pid;
	v->task[v->tasks].end.how = 'r';
	return &v->task[v->tasks++];
}

static void end_of_task(struct task *t, const char *s)
{
	char name[16];
	int sig;

	if (sscanf(s, "+++ exited with %d", &t->end.code) == 1) {
		t->end.how = 'e';
	} else if (sscanf(s, "+++ killed by SIG%15[A-Z0-9]", name) == 1) {
		t->end.how = 's';
		for (sig = 1; sig < 32; sig++)
			if (sigabbrev_np(sig) && !strcmp(sigabbrev_np(sig), name))
				t->end.code = sig;
	}
}

void read_strace(struct view *v, const char *path)
{
	FILE *f = fopen(path, "r");
	bool gate = false;
	char line[4096], *s;
	struct task *t;
	long nr;
	pid_t pid;
	size_t n;

	if (!f)
		give_up("strace left no log");
	while (fgets(line, sizeof(line), f)) {
		pid = strtol(line, &s, 10);
		s += strspn(s, " ");
		if (*s != '[')
			give_up("strace's log has a line like this: %s", line);
		nr = strtol(s + 1, &s, 10);
		s += strspn(s, "] ");
		if (!gate) {
			gate = !strncmp(s, GATE_CALL, strlen(GATE_CALL));
			continue;
		}
		t = task_of(v, pid);
		if (!strncmp(s, "+++ ", 4))
			end_of_task(t, s);
		if (!strncmp(s, "+++ ", 4) || !strncmp(s, "--- ", 4) ||
		    !strncmp(s, "<... ", 5))
			continue;
		if (nr < 0 || nr >= MAX_NR)
			nr = MAX_NR;
		v->count[nr]++;
		n = strcspn(s, "(");
		if (n >= sizeof(v->name[nr]))
			n = sizeof(v->name[nr]) - 1;
		memcpy(v->name[nr], s, n);
	}
	fclose(f);
	if (!gate)
		give_up("strace's log has no gate in it");
}

void read_engines(struct view *v)
{
	char *text = read_whole(SYSCOUNT "counts"), *s;
	struct task *t;
	char kind[16], how[16];
	int nr, n;
	unsigned long count;

	for (s = text; sscanf(s, "%d %lu\n%n", &nr, &count, &n) == 2; s += n)
		v->count[nr < 0 || nr >= MAX_NR ? MAX_NR : nr] += count;
	free(text);

	text = read_whole(FORK_TREE "tree");
	for (s = strtok(text, "\n"); s; s = strtok(NULL, "\n")) {
		if (v->tasks == MAX_TASKS)
			give_up("more than %d tasks", MAX_TASKS);
		t = &v->task[v->tasks++];
		t->depth = strspn(s, " ") / 2;
		if (sscanf(s, "%d %15s %15s %d %31[^\n]", &t->pid, kind, how,
			   &t->end.code, t->name) != 5)
			give_up("cannot read this line of the tree: %s", s);
		t->thread = kind[0] == 't';
		t->end.how = how[0];
	}
	free(text);
}

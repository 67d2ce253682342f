// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - the longest time for which an attach keeps other tasks waiting
 *
 * A row is the longest stretch in which tasklist_lock is held, or in which
 * preemption or interrupts are off, during one step such as an attach.  Each
 * step is made three times and the least of the three values counts, since
 * interrupts and workers may make a stretch longer.  A value above ENOUGH is
 * too long in any case, so such a step is not repeated.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define WATCH	"/sys/module/utrace_watch/parameters/do"

#define ENOUGH	1000000

static const char *const kinds[] = { "tasklist", "preempt", "irqs" };

static void nothing(pid_t pid)
{
}

static void arm(pid_t pid)
{
	must(control("probes 1"), "probes");
}

static void disarm(pid_t pid)
{
	must(control("probes 0"), "probes off");
}

static void attach(pid_t pid)
{
	must(control("cover process %d", pid), "cover");
}

static void attach_tree(pid_t pid)
{
	must(control("cover tree %d", pid), "cover a tree");
}

static void attach_system(pid_t pid)
{
	must(control("cover system %d", 0), "cover the system");
}

static void set_events(pid_t pid)
{
	must(control("want"), "want");
}

static void attach_with_events(pid_t pid)
{
	attach(pid);
	set_events(pid);
}

static void attach_tree_with_events(pid_t pid)
{
	attach_tree(pid);
	set_events(pid);
}

static void attach_system_with_events(pid_t pid)
{
	attach_system(pid);
	set_events(pid);
}

static void detach(pid_t pid)
{
	must(control("detach"), "detach");
}

static void match(pid_t pid)
{
	write_file(TRACING "/process/comms", "%s", "nobody\n");
	write_file(TRACING "/current_tracer", "%s", "process");
}

static void change_match(pid_t pid)
{
	write_file(TRACING "/process/comms", "%s", "somebody\n");
}

static void unmatch(pid_t pid)
{
	write_file(TRACING "/current_tracer", "%s", "nop");
	write_file(TRACING "/process/comms", "%s", "\n");
}

struct step {
	const char *name;
	void (*before)(pid_t pid);
	void (*step)(pid_t pid);
	void (*after)(pid_t pid);
};

static const struct step steps[] = {
	{ "nothing", nothing, nothing, nothing },
	{ "arm", nothing, arm, disarm },
	{ "disarm", arm, disarm, nothing },
	{ "attach", nothing, attach, detach },
	{ "set_events", attach, set_events, detach },
	{ "detach", attach_with_events, detach, nothing },
	{ "system_attach", nothing, attach_system, detach },
	{ "system_set_events", attach_system, set_events, detach },
	{ "system_detach", attach_system_with_events, detach, nothing },
	{ "match", match, change_match, unmatch },
};

static const struct step chain_steps[] = {
	{ "attach", nothing, attach_tree, detach },
	{ "set_events", attach_tree, set_events, detach },
	{ "detach", attach_tree_with_events, detach, nothing },
};

static unsigned long tasklist_lock(void)
{
	FILE *f = fopen("/proc/kallsyms", "r");
	char line[256], name[128];
	unsigned long address;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %127s", &address, name) == 2 &&
		    !strcmp(name, "tasklist_lock")) {
			fclose(f);
			return address;
		}
	die("tasklist_lock");
	return 0;
}

static double watched(const char *kind, const struct step *step, pid_t pid,
		      char *where)
{
	char said[1024];
	double longest;

	step->before(pid);
	/* Let RCU free the memory of earlier steps, which takes up to 5 s. */
	sleep(6);
	if (!strcmp(kind, "tasklist"))
		write_file(WATCH, "tasklist %lx", tasklist_lock());
	else
		write_file(WATCH, "%s", kind);
	step->step(pid);
	write_file(WATCH, "%s", "done");
	read_file(WATCH, said, sizeof(said));
	step->after(pid);
	must(sscanf(said, "%lf %1000[^\n]", &longest, where) >= 1, "watch");
	return longest;
}

static void holds(const char *prefix, const struct step *step, pid_t pid, int n)
{
	char name[96], where[1024] = "", least_where[1024] = "";
	unsigned int i, round;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		double least = 1e18;

		for (round = 0; round < 3; round++) {
			double longest = watched(kinds[i], step, pid, where);

			if (longest < least) {
				least = longest;
				memcpy(least_where, where, sizeof(where));
			}
			if (least > ENOUGH)
				break;
		}
		snprintf(name, sizeof(name), "%s_%s_%s_%d", prefix, kinds[i],
			 step->name, n);
		say(name, least);
		printf("%s at %s\n", name, least_where);
	}
}

/*
 * Fork a child that returns from here.  The parent pauses for ever, in
 * assembly, since the child has the same memory and so uses the parent's
 * stack.
 */
static void next_in_chain(void)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD;
	long ret = SYS_clone;

	asm volatile("xor %%r10d, %%r10d\n\t"
		     "xor %%r8d, %%r8d\n\t"
		     "syscall\n\t"
		     "test %%rax, %%rax\n\t"
		     "jle 2f\n"
		     "1:	mov %[pause], %%eax\n\t"
		     "syscall\n\t"
		     "jmp 1b\n"
		     "2:"
		     : "+a" (ret)
		     : "D" (flags), "S" (0L), "d" (0L), [pause] "i" (SYS_pause)
		     : "rcx", "r8", "r10", "r11", "memory");
	if (ret < 0) {
		errno = -ret;
		die("chain");
	}
}

/* Number of the processes at the end of a chain that the engine covers. */
#define MEMBERS	10

/*
 * Start @n processes, each the child of the one before.  Returns the first; the
 * engine is attached to the tree of @member.
 */
static pid_t chain(int n, pid_t *member)
{
	pid_t pid;
	int i;

	shared[0] = 0;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		for (i = 1; i < n; i++) {
			next_in_chain();
			if (i == n - MEMBERS)
				shared[1] = syscall(SYS_getpid);
		}
		shared[0] = n;
		for (;;)
			pause();
	}
	while (shared[0] != n)
		usleep(1000);
	usleep(100000);
	*member = shared[1];
	return pid;
}

static void chain_rows(int n)
{
	pid_t member, first = chain(n, &member);
	unsigned int i;

	for (i = 0; i < sizeof(chain_steps) / sizeof(*chain_steps); i++)
		holds("chain", &chain_steps[i], member, n);
	kill(-first, SIGKILL);
	while (waitpid(-1, NULL, __WALL) > 0 || errno == EINTR)
		;
}

void holds_rows(void)
{
	unsigned int i;
	pid_t pid;
	int n;

	load_module("/utrace_watch.ko");
	for (n = 3000; n <= 30000; n *= 10) {
		pid = threads(n);
		for (i = 0; i < sizeof(steps) / sizeof(*steps); i++)
			holds("hold", &steps[i], pid, n);
		end(pid);
	}
	for (n = 4000; n <= 16000; n *= 4)
		chain_rows(n);
}

/* Rows of utrace_membarrier() in an attach and a detach: calls and cost. */
void barrier_rows(int n)
{
	static const char *const names[] = { "attach", "detach" };
	pid_t pid = threads(n);
	unsigned int i;

	for (i = 0; i < 2; i++) {
		double calls, cost;
		char said[256], name[64];

		if (!write_file_if(WATCH, "call %s", "utrace_membarrier"))
			break;
		if (!i)
			must(control("scope %d", pid), "scope");
		else
			detach(pid);
		/* Wait until the worker has done its part of a detach. */
		usleep(100000);
		write_file(WATCH, "%s", "done");
		read_file(WATCH, said, sizeof(said));
		must(sscanf(said, "%lf %lf", &calls, &cost) == 2, "watch");
		snprintf(name, sizeof(name), "heavy_%s_calls_%d", names[i], n);
		say(name, calls);
		snprintf(name, sizeof(name), "heavy_%s_%d", names[i], n);
		say(name, cost);
	}
	end(pid);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The demonstration: engines, strace and gdb trace the same processes, and
 * their results are compared.
 */
#ifndef DEMO_H
#define DEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define SYSCOUNT	"/sys/kernel/debug/utrace_syscount/"
#define FORK_TREE	"/sys/kernel/debug/utrace_fork_tree/"
#define CRASH_SUSPEND	"/sys/kernel/debug/utrace_crash_suspend/"

#define MAX_NR		1024
#define MAX_TASKS	256

#define __printf(a, b)	__attribute__((__format__(printf, a, b)))
#define __noreturn	__attribute__((__noreturn__))

/* How a task ended: 'e' and its exit code, 's' and the signal, 'r': it runs. */
struct end {
	char how;
	int code;
};

struct task {
	pid_t pid;
	unsigned int depth;
	bool thread;
	char name[32];
	struct end end;
};

/*
 * The results of one observer of a tree. The last count is that of no known
 * call.
 */
struct view {
	unsigned long count[MAX_NR + 1];
	char name[MAX_NR + 1][32];
	struct task task[MAX_TASKS];
	unsigned int tasks;
};

/* utrace_demo.c */
extern char workdir[];
void heading(const char *title);
void step(const char *fmt, ...) __printf(1, 2);
void check(bool good, const char *fmt, ...) __printf(2, 3);
void print_file(const char *path);
void give_up(const char *fmt, ...) __printf(1, 2) __noreturn;
const char *mark(bool good);

/* spawn.c */
struct gated {
	pid_t pid;	/* The child */
	pid_t root;	/* The process at the gate: the child or a descendant */
	int ready;	/* Read from: its output */
	int gate;	/* Write a byte here to open the gate */
};

int gated_main(char **argv);
struct gated spawn_traced(const char *log, const char *out, const char *cmd);
struct gated spawn_target(const char *path, const char *arg);
void open_gate(struct gated *g);
int run_to_file(char *const argv[], const char *out);
char *read_whole(const char *path);
pid_t start_tracer(char *const argv[], const char *said);
bool await_text(const char *path, const char *word);
bool await_word(pid_t pid, const char *file, const char *word);
bool ends_well(pid_t pid);
void write_file(const char *path, const char *fmt, ...) __printf(2, 3);

/* modules.c */
void module_load(const char *name, const char *options);
void modules_unload(void);

/* strace_log.c */
void read_strace(struct view *v, const char *path);
void read_engines(struct view *v);

/* compare.c */
void compare_calls(const struct view *engine, const struct view *strace);
void compare_tasks(const struct view *engine, const struct view *strace);

/* debugger.c */
void act_debugger(const char *target);
void act_crash(const char *target);
char *run_gdb(pid_t pid, const char *const *commands);
void expect(const char *text, const char *word, const char *what);

/* command.c */
void act_command(const char *target);

/* branches.c */
void act_branches(void);

/* tracers.c */
void act_tracers(const char *target);

/* semaphore.c */
unsigned long find_semaphore(const char *file, const char *name);
int read_semaphore(pid_t pid, unsigned long at);
bool semaphore_becomes(pid_t pid, unsigned long at, int value);

/* markers.c */
void act_markers(void);

/* postgres.c */
void act_postgres(void);

#endif /* DEMO_H */

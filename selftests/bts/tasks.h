/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the records of several tasks, task by task
 */
#ifndef UTRACE_BRANCH_TASKS_H
#define UTRACE_BRANCH_TASKS_H

#include "branches.h"

/* Ask for a consumer of any kind, of a thread or a process. */
static inline int consumer_of(pid_t tid, struct utrace_ioc_branches arg)
{
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), fd;

	need(dev >= 0, "/dev/utrace");
	if (!arg.where.scope)
		arg.where.scope = UTRACE_SCOPE_THREAD;
	arg.where.fd = pidfd_of(tid, arg.where.scope == UTRACE_SCOPE_THREAD ?
			     PIDFD_THREAD : 0);
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	need(fd >= 0, "UTRACE_IOC_BRANCHES");
	close(dev);
	close(arg.where.fd);
	return fd;
}

/* The address of a label in the assembly of the test. */
#define address_of(label)						\
({									\
	__u64 __address;						\
									\
	asm("lea " #label "(%%rip), %0" : "=r"(__address));		\
	__address;							\
})

#define MAX_TASKS	64

/* Straight-line code of programs is shorter than this. */
#define LONGEST_RUN	(1 << 16)

/* The records of one task, without TASK records. */
struct task {
	pid_t tid;
	pid_t tgid;
	__u64 inode;
	struct trace trace;
};

struct tasks {
	struct task task[MAX_TASKS];
	size_t n;
};

static inline struct task *find_task(struct tasks *tasks, pid_t tid)
{
	size_t i;

	for (i = 0; i < tasks->n; i++)
		if (tasks->task[i].tid == tid)
			return &tasks->task[i];
	return NULL;
}

static inline struct task *task_of(struct tasks *tasks,
				   const struct utrace_branch *record)
{
	pid_t tid = record->from & 0xffffffff;
	struct task *task = find_task(tasks, tid);

	if (!task) {
		need(tasks->n < MAX_TASKS, "room for the task");
		task = &tasks->task[tasks->n++];
		*task = (struct task){
			.tid = tid,
			.tgid = record->from >> 32,
			.inode = record->to,
		};
	}
	return task;
}

/*
 * Split the records of a consumer by task.  Records before the first TASK are
 * left out.
 */
static inline void split(const struct trace *all, struct tasks *tasks)
{
	struct task *task = NULL;
	size_t i;

	tasks->n = 0;
	for (i = 0; i < all->n; i++) {
		const struct utrace_branch *r = &all->records[i];

		if (type_of(r) == UTRACE_BRANCH_TASK) {
			task = task_of(tasks, r);
			continue;
		}
		if (!task)
			continue;
		if (!(task->trace.n & (task->trace.n - 1)))
			task->trace.records =
				realloc(task->trace.records,
					(task->trace.n * 2 + 1) * sizeof(*r));
		need(task->trace.records, "memory");
		task->trace.records[task->trace.n++] = *r;
	}
}

static inline void free_tasks(struct tasks *tasks)
{
	size_t i;

	for (i = 0; i < tasks->n; i++)
		free(tasks->task[i].trace.records);
	tasks->n = 0;
}

/* Check whether record @r may follow a branch to @at. */
static inline bool follows(const struct utrace_branch *r, __u64 at)
{
	if (IS_PSEUDO(at))
		return IS_PSEUDO(r->from);
	return r->from >= at && r->from - at < LONGEST_RUN;
}

/*
 * Check that the trace of one task is whole.  The first record is START; from
 * the target of each branch the task has gone straight on to the next one, but
 * where records are lost; after END and HIDDEN there is nothing but another
 * START.
 */
static inline bool is_whole(const struct trace *trace)
{
	enum { OUT, IN, LOST } state = OUT;
	__u64 at = 0;
	size_t i;

	for (i = 0; i < trace->n; i++) {
		const struct utrace_branch *r = &trace->records[i];
		bool good = state != OUT;

		switch (type_of(r)) {
		case UTRACE_BRANCH_START:
			good = state != IN;
			state = IN;
			break;
		case UTRACE_BRANCH:
			good &= state == LOST || follows(r, at);
			state = IN;
			break;
		case UTRACE_BRANCH_END:
			good &= state == LOST || is_end_of_call(r) ||
				follows(r, at);
			state = OUT;
			break;
		case UTRACE_BRANCH_HIDDEN:
			state = OUT;
			break;
		case UTRACE_BRANCH_LOST:
			state = LOST;
			break;
		default:
			good = false;
		}
		if (!good) {
			printf("#   record %zu: %llx -> %llx (%llx) after %llx\n",
			       i, r->from, r->to, r->info, at);
			return false;
		}
		at = r->to;
	}
	return true;
}

static inline bool are_whole(const struct tasks *tasks)
{
	bool whole = tasks->n > 0;
	size_t i;

	for (i = 0; i < tasks->n; i++)
		whole &= is_whole(&tasks->task[i].trace);
	return whole;
}

/* Check whether a line of /proc/cpuinfo has this word. */
static inline bool cpu_has(const char *line_of, const char *word)
{
	char line[4096];
	bool found = false;
	FILE *file = fopen("/proc/cpuinfo", "r");

	while (file && fgets(line, sizeof(line), file))
		found |= !strncmp(line, line_of, strlen(line_of)) &&
			 strstr(line, word);
	if (file)
		fclose(file);
	return found;
}

/* Check whether this is QEMU without KVM. */
static inline bool is_emulated(void)
{
	return cpu_has("model name", "QEMU TCG");
}

#endif /* UTRACE_BRANCH_TASKS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the tasks whose records are printed
 */
#ifndef UTRACE_FORMAT_SEEN_H
#define UTRACE_FORMAT_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/utrace.h>

struct log;
struct text;

/**
 * struct seen_task - a task whose records were seen
 * @task: number of the task, as in the header of records
 * @number: number of the last record of the task, 0 before the first one
 * @in_call: the task has entered the call of @entry and not left it
 * @shown: @entry was printed on a line that ends with "<unfinished ...>"
 * @hidden: the call of @entry is not printed, as it has no path of -P
 * @detached: -b: no record of the task is printed any more
 * @superseded: the task has exited because another thread executes a program
 *	and takes its place, and that was printed
 * @entry: a copy of the last entry of a system call with its items; NULL before
 *	the first one
 * @resumes: name of the call that restart_syscall() continues, else NULL
 * @log: file of its lines with -ff, else NULL
 * @nr: number of its last call, as number_of() in call_line.c returns it
 * @ip: where its last call was made, 0 if that is not known
 * @called: @nr is valid
 * @room: allocated size of @entry
 *
 * Its address does not change until seen_forget(), which frees it and @entry.
 */
struct seen_task {
	__u64 task;
	__u32 number;
	bool in_call;
	bool shown;
	bool hidden;
	bool detached;
	bool superseded;
	struct utrace_rec_sys_enter *entry;
	const char *resumes;
	struct log *log;
	__u64 nr;
	__u64 ip;
	bool called;
	size_t room;
};

/* The task that was found last; NULL if there is none. */
extern struct seen_task *seen_recent;

struct seen_task *seen_find(__u64 number);
void seen_keep_entry(struct seen_task *task, const struct utrace_rec *rec);
void seen_rename(__u64 from, __u64 to);
void seen_forget(struct seen_task *task);
bool seen_several(void);

typedef void seen_function(const struct text *text, struct seen_task *task);

void seen_each(const struct text *text, seen_function *function);

/**
 * seen_task() - find a task, or add it if it was not seen before
 * @number: number of the task, as in the header of records
 *
 * Most records are about the same task as the record before.
 *
 * Return: the task.
 */
static inline struct seen_task *seen_task(__u64 number)
{
	if (seen_recent && seen_recent->task == number)
		return seen_recent;
	return seen_find(number);
}

#endif /* UTRACE_FORMAT_SEEN_H */

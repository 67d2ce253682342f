// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers of tasks, with their names for -Y
 *
 * Names and namespaces are read from /proc when a line is printed.  Names are
 * kept for lines that are printed after the task has gone.
 */
#include <stdio.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/seq_buf.h>

#include "decode/write.h"
#include "namespaces.h"
#include "pids.h"

/* Number of tasks whose names are kept. */
#define KEPT	1024

/* Size of a name with its line feed and NUL. */
#define NAME_SIZE	18

struct pids pids;

/* The task whose call is printed. */
static pid_t task_now;

/*
 * The numbers of tasks that were seen, and whether they were read when the task
 * was created: it may have changed its process group and session since.
 */
static struct pid_numbers seen[KEPT];
static bool early[KEPT];

/* Names of tasks. */
static struct kept {
	pid_t pid;
	char name[NAME_SIZE];
} kept[KEPT];

/* Read the name of a task, or find the one that was read before. */
static const struct kept *read_name(pid_t pid)
{
	struct kept *task = &kept[pid % KEPT];
	char path[32], name[NAME_SIZE];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid_in_proc(pid));
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file)) {
		name[strcspn(name, "\n")] = '\0';
		task->pid = pid;
		memcpy(task->name, name, sizeof(name));
	}
	if (file)
		fclose(file);
	return task;
}

/* Print the name of a task as "<NAME>", if names are to be printed. */
void pid_print_name(struct seq_buf *s, pid_t pid)
{
	const struct kept *task;

	if (!pids.names || pid <= 0)
		return;
	task = read_name(pid);
	if (task->pid != pid || !*task->name)
		return;
	utrace_write_char(s, '<');
	utrace_write_path(s, (const u8 *)task->name, strlen(task->name));
	utrace_write_char(s, '>');
}

/* Read the numbers of a task.  If it has ended, those that were read stay. */
static void read_numbers(pid_t tid)
{
	struct pid_numbers now;

	if (!pid_numbers_read(&now, tid))
		return;
	seen[tid % KEPT] = now;
	early[tid % KEPT] = false;
}

/* Set the task whose namespace the numbers for pid_explain() are of. */
void pid_set_task(pid_t tid)
{
	size_t slot = tid % KEPT;

	task_now = tid;
	if (tid <= 0)
		return;
	if (pids.names && kept[slot].pid != tid)
		read_name(tid);
	if (pids.namespaces &&
	    (early[slot] || !seen[slot].n || seen[slot].of[0][0] != tid))
		read_numbers(tid);
}

/*
 * Read the name and the numbers of a task that was created just now.  It may
 * have ended when its records are printed.
 */
void pid_add_task(pid_t tid)
{
	if (pids.names)
		read_name(tid);
	if (!pids.namespaces)
		return;
	read_numbers(tid);
	early[tid % KEPT] = true;
}

/*
 * If a task in the namespace of @like has the number @pid there, return its
 * number in the namespace of this command, else 0.
 */
static pid_t find_in(const struct pid_numbers *numbers,
		     const struct pid_numbers *like, pid_t pid)
{
	size_t i;

	if (numbers->n != like->n || strcmp(numbers->innermost, like->innermost))
		return 0;
	for (i = 0; i < ARRAY_SIZE(numbers->of); i++)
		if (numbers->of[i][like->n - 1] == pid)
			return numbers->of[i][0];
	return 0;
}

/* Return the number of this namespace for one of the task's, 0 if not known. */
static pid_t translate(pid_t pid)
{
	const struct pid_numbers *like = &seen[task_now % KEPT];
	pid_t found;
	size_t i;

	if (!pids.namespaces || pid <= 0 || like->n < 2 ||
	    like->of[0][0] != task_now)
		return pid;
	found = find_in(like, like, pid);
	for (i = 0; !found && i < KEPT; i++)
		found = find_in(&seen[i], like, pid);
	return found ? found : pid_from_namespace_of(task_now, pid);
}

/*
 * Print what a number is that the task of pid_set_task() uses: the name, and the
 * number in the pid namespace of the command, in strace's words.
 */
void pid_explain(struct seq_buf *s, pid_t pid)
{
	pid_t here = pid;

	if (!pids.names && !pids.namespaces)
		return;
	if (task_now)
		here = translate(pid);
	pid_print_name(s, here);
	if (pids.namespaces && here != pid && here)
		seq_buf_printf(s, " /* %d in strace's PID NS */", here);
}

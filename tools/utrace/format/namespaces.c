// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - numbers of tasks in pid namespaces
 *
 * The command may be in a pid namespace and see the /proc of a namespace around
 * it, as after unshare --pid without --mount-proc.  Then its numbers of tasks
 * are not those of /proc.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/array_size.h>
#include <linux/nsfs.h>

#include "namespaces.h"

/* A flag of pidfd_open(2), whose header conflicts with <fcntl.h>. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD	O_EXCL
#endif

/* Parse the numbers of a line.  Returns how many there are. */
static int parse_numbers(int *of, const char *text)
{
	char *end;
	int n;

	for (n = 0; n < PID_LEVELS; n++) {
		of[n] = strtol(text, &end, 10);
		if (end == text)
			break;
		text = end;
	}
	return n;
}

/* Read the numbers from the namespace of /proc on.  @task may be "self". */
static void read_all(struct pid_numbers *numbers, const char *task)
{
	static const char *const names[] = { "NSpid:", "NStgid:", "NSpgid:", "NSsid:" };
	char path[300], line[512];
	FILE *file;
	size_t i;

	*numbers = (struct pid_numbers){};
	snprintf(path, sizeof(path), "/proc/%s/status", task);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		for (i = 0; i < ARRAY_SIZE(names); i++)
			if (!strncmp(line, names[i], strlen(names[i])))
				numbers->n = parse_numbers(numbers->of[i],
							   line + strlen(names[i]));
	}
	if (file)
		fclose(file);
}

/**
 * pid_of_pidfd() - find the process of a pidfd in /proc
 * @task: a task with the descriptor, by its number in /proc or "self"
 * @fd: the descriptor
 *
 * Return: the number in /proc, or 0 if the descriptor is no pidfd or the process
 * has been reaped.
 */
pid_t pid_of_pidfd(const char *task, int fd)
{
	char path[64], line[128];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo/%d", task, fd);
	file = fopen(path, "re");
	while (file && !pid && fgets(line, sizeof(line), file))
		sscanf(line, "Pid: %d", &pid);
	if (file)
		fclose(file);
	return pid > 0 ? pid : 0;
}

/*
 * Return how many levels the namespace of /proc is above that of this command.
 */
static int levels_outside(void)
{
	static int levels = -1;
	struct pid_numbers self;

	if (levels >= 0)
		return levels;
	read_all(&self, "self");
	levels = self.n ? self.n - 1 : 0;
	return levels;
}

/**
 * pid_in_proc() - find a task in /proc
 * @pid: number of the task in the namespace of this command
 *
 * A pidfd of the task tells its number in /proc.  To look at all tasks would
 * let a program with many short tasks stall the command.
 *
 * Return: its number in /proc, or 0 if it is not there.
 */
pid_t pid_in_proc(pid_t pid)
{
	pid_t found;
	int fd;

	if (!levels_outside() || pid <= 0)
		return pid;
	fd = syscall(SYS_pidfd_open, pid, PIDFD_THREAD);
	if (fd < 0)
		return 0;
	found = pid_of_pidfd("self", fd);
	close(fd);
	return found;
}

/**
 * pid_numbers_read() - read the numbers of a task
 * @numbers: filled in
 * @pid: its number in the namespace of this command
 *
 * Return: false if there is no such task.
 */
bool pid_numbers_read(struct pid_numbers *numbers, pid_t pid)
{
	int outside = levels_outside();
	char task[16], path[300];
	ssize_t len;
	size_t i;

	snprintf(task, sizeof(task), "%d", pid_in_proc(pid));
	read_all(numbers, task);
	numbers->n -= outside;
	if (numbers->n <= 0)
		return false;
	for (i = 0; i < ARRAY_SIZE(numbers->of); i++)
		memmove(numbers->of[i], numbers->of[i] + outside,
			numbers->n * sizeof(numbers->of[i][0]));
	snprintf(path, sizeof(path), "/proc/%s/ns/pid", task);
	len = readlink(path, numbers->innermost, sizeof(numbers->innermost) - 1);
	return len > 0;
}

/**
 * pid_from_namespace_of() - translate a number of the namespace of a task
 * @tid: number of the task in the namespace of this command
 * @pid: the number in the namespace of the task
 *
 * Return: the number in the namespace of this command, or 0 if the task or the
 * one with the number has ended.
 */
pid_t pid_from_namespace_of(pid_t tid, pid_t pid)
{
	char path[64];
	int fd, found;

	snprintf(path, sizeof(path), "/proc/%d/ns/pid", pid_in_proc(tid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	found = ioctl(fd, NS_GET_PID_FROM_PIDNS, pid);
	close(fd);
	return found > 0 ? found : 0;
}

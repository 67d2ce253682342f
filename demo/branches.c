// SPDX-License-Identifier: GPL-2.0
/*
 * The command utrace records all branches of a program, and shows their places.
 * At the same time this program keeps the last branches of the process, which
 * must be the end of the record.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>

#include "demo.h"

#define LAST		1024
#define FIRST_LINES	16

/* In a child: wait at the gate, then sort. */
static void sort_file(int gate, char *from, const char *to)
{
	char * const argv[] = { "/usr/bin/sort", from, NULL };
	char byte;

	if (read(gate, &byte, 1) != 1 || !freopen(to, "w", stdout))
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

static struct gated spawn_sort(char *from, const char *to)
{
	struct gated g = {};
	int gate[2];

	if (pipe2(gate, O_CLOEXEC))
		give_up("pipe");
	fflush(stdout);
	g.pid = fork();
	if (g.pid < 0)
		give_up("fork");
	if (!g.pid) {
		close(gate[1]);
		sort_file(gate[0], from, to);
	}
	close(gate[0]);
	g.gate = gate[1];
	g.root = g.pid;
	return g;
}

/* A consumer of the last branches of a process. */
static int keep_last(pid_t pid)
{
	struct utrace_ioc_branches arg = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.full = UTRACE_FULL_OVERWRITE,
		.capacity = LAST,
	};
	int dev = open("/dev/utrace", O_RDWR | O_CLOEXEC), fd;

	arg.where.fd = syscall(SYS_pidfd_open, pid, 0);
	fd = ioctl(dev, UTRACE_IOC_BRANCHES, &arg);
	if (fd < 0)
		give_up("UTRACE_IOC_BRANCHES");
	close(arg.where.fd);
	close(dev);
	return fd;
}

/* Print the begin of a report. */
static void show(const char *report)
{
	char *text = read_whole(report), *line;
	int n = 0;

	for (line = strtok(text, "\n"); line && n++ < FIRST_LINES;
	     line = strtok(NULL, "\n"))
		step("  %s", line);
	free(text);
}

/* The start of a chunk of the file, see tools/utrace/branch/file.h. */
struct chunk {
	__u32 type;
	__u32 reserved;
	__u64 size;
};

#define CHUNK_RECORDS	4
#define FILE_HEADER	16

/* All records of the file. */
static struct utrace_branch *records_of(const char *path, size_t *n)
{
	struct utrace_branch *records = NULL;
	FILE *file = fopen(path, "r");
	struct chunk chunk;

	if (!file || fseek(file, FILE_HEADER, SEEK_SET))
		give_up("%s", path);
	for (*n = 0; fread(&chunk, sizeof(chunk), 1, file) == 1;) {
		if (chunk.type != CHUNK_RECORDS) {
			fseek(file, chunk.size, SEEK_CUR);
			continue;
		}
		records = realloc(records, *n * sizeof(*records) + chunk.size);
		if (!records ||
		    fread(records + *n, 1, chunk.size, file) != chunk.size)
			give_up("%s", path);
		*n += chunk.size / sizeof(*records);
	}
	fclose(file);
	return records;
}

/*
 * Two records come before the last branches: the number of earlier branches,
 * and the task.
 */
static void compare_last(int fd, const char *data)
{
	static struct utrace_branch last[LAST + 2];
	struct utrace_branch *all;
	ssize_t got;
	size_t n = 0, of_all;

	while (n < LAST + 2 &&
	       (got = read(fd, last + n, (LAST + 2 - n) * sizeof(*last))) > 0)
		n += got / sizeof(*last);
	all = records_of(data, &of_all);
	check(n == LAST + 2 && of_all > LAST &&
	      !memcmp(all + of_all - LAST, last + 2, LAST * sizeof(*last)),
	      "the second reader has the last %d of %zu records", LAST, of_all);
	free(all);
}

void act_branches(void)
{
	char words[64], sorted[64], data[64], svg[64], report[64], pid[16];
	struct gated g;
	pid_t command;
	int fd;

	snprintf(words, sizeof(words), "%s/words", workdir);
	snprintf(sorted, sizeof(sorted), "%s/sorted", workdir);
	snprintf(data, sizeof(data), "%s/branches.data", workdir);
	snprintf(svg, sizeof(svg), "%s/flame.svg", workdir);
	snprintf(report, sizeof(report), "%s/report", workdir);
	run_to_file((char *const []) { "/bin/ls", "/usr/bin", NULL }, words);
	g = spawn_sort(words, sorted);
	snprintf(pid, sizeof(pid), "%d", g.pid);
	step("utrace branches record -o branches.data -p %s", pid);
	command = start_tracer((char *const []) {
		"utrace", "branches", "record", "-o", data, "-p", pid, NULL },
		"/dev/null");
	check(await_word(g.pid, "utrace", "branches pid:"), "the command has attached");
	fd = keep_last(g.pid);
	open_gate(&g);
	check(ends_well(g.pid), "sort sorts");
	check(ends_well(command), "the command ends with it");
	step("utrace branches report --flame flame.svg branches.data");
	check(!run_to_file((char *const []) {
			   "utrace", "branches", "report", "--functions", "8",
			   "--edges", "4", "--flame", svg, data, NULL }, report),
	      "a report");
	show(report);
	check(strstr(read_whole(report), "none lost"), "nothing is lost");
	check(strstr(read_whole(report), "libc.so"), "functions of libc are named");
	check(strstr(read_whole(svg), "</svg>"), "a flame graph");
	compare_last(fd, data);
	close(fd);
	close(g.gate);
}

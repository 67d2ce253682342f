// SPDX-License-Identifier: GPL-2.0
/*
 * Two Pythons that have one file in memory. The command traces the markers of one of
 * them, and the other one does not notice anything.
 */
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "demo.h"

#define PYTHON	"/usr/bin/python3.11"

/* Collects garbage as long as there is the file. */
#define PROGRAM	"import gc, os, sys\n" \
		"while os.path.exists(sys.argv[1]): gc.collect(1)\n"

/* The address of the semaphore in a note of Python, which is not relocated. */
static GElf_Addr semaphore_of(const char *note, size_t size, const char *name)
{
	const GElf_Addr *addresses = (const void *)note;
	const char *texts = note + 3 * sizeof(*addresses);

	if (size < 3 * sizeof(*addresses) || strcmp(texts, "python") ||
	    strcmp(texts + strlen(texts) + 1, name))
		return 0;
	return addresses[2];
}

static GElf_Addr find_semaphore(const char *name)
{
	int fd = open(PYTHON, O_RDONLY | O_CLOEXEC);
	size_t strings, at = 0, next, owner, note;
	GElf_Addr found = 0;
	Elf_Scn *section = NULL;
	Elf_Data *data = NULL;
	GElf_Shdr header;
	GElf_Nhdr head;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_getshdrstrndx(elf, &strings))
		give_up(PYTHON);
	while (!data && (section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) &&
		    !strcmp(elf_strptr(elf, strings, header.sh_name),
			    ".note.stapsdt"))
			data = elf_getdata(section, NULL);
	}
	while (data && !found &&
	       (next = gelf_getnote(data, at, &head, &owner, &note))) {
		found = semaphore_of((char *)data->d_buf + note, head.n_descsz,
				     name);
		at = next;
	}
	elf_end(elf);
	close(fd);
	return found;
}

/* Returns -1 as long as the process does not run Python yet. */
static int read_semaphore(pid_t pid, GElf_Addr at)
{
	unsigned short value;
	char path[32];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = pread(fd, &value, sizeof(value), at);
	close(fd);
	return got == sizeof(value) ? value : -1;
}

static pid_t start_python(const char *copy, const char *go)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	execl(copy, "python3.11", "-c", PROGRAM, go, NULL);
	_exit(127);
}

/* Wait up to 10 s until the semaphore is what it should be. */
static bool becomes(pid_t pid, GElf_Addr at, int value)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (read_semaphore(pid, at) == value)
			return true;
		usleep(100000);
	}
	return false;
}

static void show(const char *said)
{
	char *text = read_whole(said), *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		step("  %s", line);
	free(text);
}

void act_markers(void)
{
	GElf_Addr semaphore = find_semaphore("gc__start");
	char copy[64], go[64], said[64], pid[16];
	pid_t traced, other, command;

	snprintf(copy, sizeof(copy), "%s/python3.11", workdir);
	snprintf(go, sizeof(go), "%s/go", workdir);
	snprintf(said, sizeof(said), "%s/said.txt", workdir);
	/* Breakpoints need a file system that keeps its inodes. */
	run_to_file((char *const []) { "/bin/cat", PYTHON, NULL }, copy);
	if (chmod(copy, 0755))
		give_up("chmod");
	write_file(go, "go");
	traced = start_python(copy, go);
	other = start_python(copy, go);
	check(becomes(traced, semaphore, 0) && becomes(other, semaphore, 0),
	      "two Pythons, whose semaphores are 0");

	snprintf(pid, sizeof(pid), "%d", traced);
	step("utrace markers trace --count -p %s 'python:gc__*'", pid);
	command = start_tracer((char *const []) {
		"utrace", "markers", "trace", "--count", "-p", pid,
		"python:gc__*", NULL }, said);
	check(becomes(traced, semaphore, 1), "the semaphore of the one is 1");
	check(!read_semaphore(other, semaphore), "that of the other one is 0");
	sleep(1);
	kill(command, SIGINT);
	waitpid(command, NULL, 0);
	show(said);
	check(strstr(read_whole(said), "python:gc__start"), "hits were counted");
	check(becomes(traced, semaphore, 0), "the semaphore is 0 again");
	unlink(go);
	check(ends_well(traced) && ends_well(other), "both have ended well");
	unlink(copy);
}

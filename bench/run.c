// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - how long a program takes under strace, and under utrace
 *
 * The program is process 1 of the guest, whose clock counts instructions.  As
 * "init mix" it is the program to be traced: files are searched, opened,
 * examined, read, written and closed, memory is mapped, and children are made,
 * in the shares that a parallel build has.  Both commands follow it with -f and
 * write a log to a file in memory.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

/* Rounds of the mix, and rounds from one child to the next. */
#define ROUNDS		1000
#define CHILD_ROUNDS	100

static void die(const char *what)
{
	printf("failed: %s\n", what);
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	exit(1);
}

/* The traced program */

static void use_file(void)
{
	char text[4096];
	struct stat st;
	int fd;

	if (access("/no/such/file", R_OK) && stat("/usr/include/none.h", &st) &&
	    open("/usr/include/none.h", O_RDONLY) >= 0)
		exit(1);
	fd = open("/file", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		exit(1);
	while (read(fd, text, sizeof(text)) > 0)
		;
	lseek(fd, 0, SEEK_SET);
	if (read(fd, text, 1) != 1 || read(fd, text, 80) != 80)
		exit(1);
	close(fd);
	fd = open("/out", O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (write(fd, text, 80) != 80 || write(fd, text, 1) != 1)
		exit(1);
	close(fd);
}

static void use_memory(void)
{
	void *at = mmap(NULL, 16384, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t set;

	mprotect(at, 4096, PROT_READ);
	munmap(at, 16384);
	sigemptyset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR1, SIG_IGN);
	sbrk(0);
}

static int mix(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		use_file();
		use_memory();
		if (i % CHILD_ROUNDS)
			continue;
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	return 0;
}

/* The measurement */

/* Returns how long the command takes, in instructions. */
static double time_of(char *const argv[])
{
	unsigned long long begin;
	int status;
	pid_t pid;

	unlink("/out");
	begin = __rdtsc();
	pid = fork();
	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		die(argv[0]);
	return __rdtsc() - begin;
}

/* The number of lines of a log with a call of @name. */
static long calls_in(const char *path, const char *name)
{
	static char line[1 << 16];
	FILE *file = fopen(path, "r");
	long n = 0;

	while (file && fgets(line, sizeof(line), file))
		n += strstr(line, name) && !strstr(line, "resumed>");
	if (file)
		fclose(file);
	return n;
}

/* Both logs have to have all calls. */
static void compare(const char *name)
{
	long a = calls_in("/strace.log", name), b = calls_in("/utrace.log", name);

	printf("# %s %ld %ld\n", name, a, b);
	if (!a || a != b)
		die("the logs differ");
}

static void make_file(void)
{
	char text[4096] = { [0 ... 4095] = 'x' };
	int fd = open("/file", O_WRONLY | O_CREAT, 0644);

	if (write(fd, text, sizeof(text)) != sizeof(text))
		die("/file");
	close(fd);
}

int main(int argc, char **argv)
{
	double alone, strace, utrace;

	if (argc == 2 && !strcmp(argv[1], "mix"))
		return mix();
	mount("none", "/proc", "proc", 0, NULL);
	mount("none", "/dev", "devtmpfs", 0, NULL);
	make_file();
	alone = time_of((char *const []) { "/init", "mix", NULL });
	strace = time_of((char *const []) { "/usr/bin/strace", "-f", "-o",
			 "/strace.log", "/init", "mix", NULL });
	utrace = time_of((char *const []) { "/usr/bin/utrace", "run", "-f", "-o",
			 "/utrace.log", "/init", "mix", NULL });
	compare("open");
	compare("read(");
	compare("write(");
	compare("mmap(");
	compare("close(");
	compare("+++ exited with 0");
	printf("row run_alone %.0f\nrow run_strace %.0f\nrow run_utrace %.0f\n",
	       alone, strace, utrace);
	printf("complete\n");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
	return 0;
}

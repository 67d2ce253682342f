// SPDX-License-Identifier: GPL-2.0
/*
 * The program for the debugger: it waits at a gate (a byte on standard input),
 * then calls visit() three times, or crashes in broken() with the argument
 * "crash".  With "calls" it waits once more, and then makes 5000 calls.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int sum;

static int visit(int n)
{
	int twice = 2 * n;

	sum += twice;
	return sum;
}

static void broken(int *where)
{
	*where = 1;
}

int main(int argc, char **argv)
{
	char c;
	int n;

	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) != 1)
		return 1;
	if (argc > 1 && !strcmp(argv[1], "crash"))
		broken(NULL);
	for (n = 1; n <= 3; n++) {
		/* A call that is made nowhere else here, to be counted */
		syscall(SYS_getppid);
		printf("visit %d: %d\n", n, visit(n));
	}
	if (argc > 1 && !strcmp(argv[1], "calls")) {
		if (read(0, &c, 1) != 1)
			return 1;
		for (n = 0; n < 5000; n++)
			syscall(SYS_getppid);
	}
	return 7;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - open files that may have been removed
 *
 * Usage: reopen FILE...
 *
 * The program finds files without opening them and prints their number.  At
 * each line of input it opens them, even if they were removed, and prints the
 * errno and the number of files that had it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MOST 32

static int found[MOST];

/* Open the file that was found: another file may have its name by now. */
static int reopen(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int i, files = argc - 1 < MOST ? argc - 1 : MOST, error, same, n = 0;

	for (i = 0; i < files; i++) {
		found[i] = open(argv[i + 1], O_PATH | O_CLOEXEC);
		n += found[i] >= 0;
	}
	dprintf(1, "%d of %d\n", n, files);
	while (getchar() != EOF) {
		error = reopen(found[0]);
		same = 1;
		for (i = 1; i < files; i++)
			same += reopen(found[i]) == error;
		dprintf(1, "%d: %d of %d\n", error, same, files);
	}
	return 0;
}

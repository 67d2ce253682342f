// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - functions of the programs that are process 1 of their own
 * boots
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rows.h"

void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("failed: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

void say(const char *name, double value)
{
	printf("row %s %.3f\n", name, value);
	fflush(stdout);
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t len = strlen(text);

	must(fd >= 0 && write(fd, text, len) == len, path);
	close(fd);
}

void load_module(const char *path, const char *args)
{
	int fd = open(path, O_RDONLY);

	must(fd >= 0 && !syscall(SYS_finit_module, fd, args, 0), path);
	close(fd);
}

void all_said(void)
{
	printf("complete\n");
	fflush(stdout);
	reboot(RB_AUTOBOOT);
}

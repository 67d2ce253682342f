// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - a program that waits for signals
 *
 * Usage: sleeper FILE [SIGNAL exit|note|ignore]
 * The program writes its pid to FILE and sleeps in pause(2), 60 seconds at
 * most.  At SIGNAL it exits with status 7, notes it in FILE and goes on, or
 * ignores it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int file;

static void note(int signal)
{
	if (write(file, "noted\n", 6) != 6)
		_exit(1);
}

static void leave(int signal)
{
	_exit(7);
}

int main(int argc, char **argv)
{
	if (argc != 2 && argc != 4)
		return 2;
	file = open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0666);
	if (file < 0)
		return 2;
	if (argc == 4)
		signal(atoi(argv[2]), !strcmp(argv[3], "note") ? note :
		       !strcmp(argv[3], "exit") ? leave : SIG_IGN);
	alarm(60);
	dprintf(file, "%d\n", getpid());
	for (;;)
		pause();
}

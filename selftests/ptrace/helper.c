// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the program that tracees execute
 *
 * helper exit N	exit with N
 * helper pause		sleep until killed
 * helper euid		exit with 10 for the effective user root, with 20 else
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	/* A set-id program has to ask for the signal again. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 2)
		return 100;
	if (!strcmp(argv[1], "exit"))
		return argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(argv[1], "euid"))
		return geteuid() ? 20 : 10;
	if (!strcmp(argv[1], "pause"))
		for (;;)
			pause();
	return 101;
}

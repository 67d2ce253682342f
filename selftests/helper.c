// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - the program that targets execute
 *
 * helper exit N	exit with N
 * helper pause	sleep until killed
 * helper mark	make the marker call, exit with 0
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	/*
	 * An execve() keeps this setting, but a child of a target does not have
	 * it.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 2)
		return 100;
	if (!strcmp(argv[1], "exit"))
		return argc > 2 ? atoi(argv[2]) : 0;
	if (!strcmp(argv[1], "mark"))
		return syscall(SYS_getppid, 7, 7, 7, 7, 7, 7) < 0;
	if (!strcmp(argv[1], "pause"))
		for (;;)
			pause();
	return 101;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - launch the program that is traced
 */
#ifndef UTRACE_CMD_LAUNCH_H
#define UTRACE_CMD_LAUNCH_H

#include <sys/types.h>

/* How a grandchild of this process traces the program, see -D. */
enum daemon {
	DAEMON_NONE,
	DAEMON_GRANDCHILD,
	DAEMON_PGROUP,		/* in a process group of its own */
	DAEMON_SESSION,		/* in a session of its own */
};

/**
 * struct launch - a program to be executed, traced from its start
 * @program: its words, terminated by NULL
 * @user: user to execute it as, or NULL
 * @env: VAR=VALUE to set and VAR to remove, in their order
 * @nenv: number of elements of @env
 * @child: the process that becomes the program, set by launch_prepare()
 * @go: descriptor that @child waits for, set by launch_prepare()
 */
struct launch {
	char **program;
	const char *user;
	char **env;
	unsigned int nenv;
	pid_t child;
	int go;
};

char *launch_look_up(const char *name);
void launch_prepare(struct launch *launch);
void launch_daemon(struct launch *launch, enum daemon how);
void launch_go(struct launch *launch);
int launch_end_like(int status);

#endif /* UTRACE_CMD_LAUNCH_H */

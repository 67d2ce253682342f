/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - parse files in a child process
 */
#ifndef UTRACE_LIB_APART_H
#define UTRACE_LIB_APART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct apart - a child process that parses files
 * @pid: the child, 0 if there is none
 * @fd: a socket to the child
 * @from: a stream from the child
 */
struct apart {
	pid_t pid;
	int fd;
	FILE *from;
};

/* The function of the child.  The child exits when it returns. */
typedef void apart_function(FILE *in, FILE *out, void *data);

void apart_start(struct apart *apart, int keep, apart_function *function,
		 void *data);
void apart_more_time(void);
bool apart_send(const struct apart *apart, const void *data, size_t size);
const char *apart_end(struct apart *apart);

#endif /* UTRACE_LIB_APART_H */

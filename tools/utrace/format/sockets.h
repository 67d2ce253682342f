/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what a socket is, for -yy
 */
#ifndef UTRACE_FORMAT_SOCKETS_H
#define UTRACE_FORMAT_SOCKETS_H

#include <stdbool.h>
#include <sys/types.h>

const char *socket_text(pid_t task, int fd, unsigned long inode, bool before);

#endif /* UTRACE_FORMAT_SOCKETS_H */

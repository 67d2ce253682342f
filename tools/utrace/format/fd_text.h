/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what a descriptor is, for -y and -yy
 */
#ifndef UTRACE_FORMAT_FD_TEXT_H
#define UTRACE_FORMAT_FD_TEXT_H

#include <sys/types.h>

#include <linux/utrace.h>

/* The slot of members of structures, which are printed at once. */
#define FD_TEXT_MEMBER	7

const struct utrace_item *fd_text(unsigned int decode, pid_t tid, int fd,
				  const struct utrace_item *file, unsigned int slot);

const struct utrace_item *fd_text_of_pidfd(unsigned int decode, pid_t tid,
					   int pidfd, int fd);

#endif /* UTRACE_FORMAT_FD_TEXT_H */

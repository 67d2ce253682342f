/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about sockets */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H

#include <linux/uio.h>

/* sendmsg() and recvmsg() */
struct msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	unsigned long msg_iovlen;
	void *msg_control;
	unsigned long msg_controllen;
	unsigned int msg_flags;
};

struct mmsghdr {
	struct msghdr msg_hdr;
	unsigned int msg_len;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_SOCKETS_H */

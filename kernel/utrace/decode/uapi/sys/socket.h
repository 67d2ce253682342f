/* SPDX-License-Identifier: GPL-2.0 */
/* linux/if.h and others take struct sockaddr from the C library. */
#ifndef _KERNEL_UTRACE_DECODE_SYS_SOCKET_H
#define _KERNEL_UTRACE_DECODE_SYS_SOCKET_H

#include <linux/socket.h>

typedef __kernel_sa_family_t sa_family_t;

struct sockaddr {
	sa_family_t sa_family;
	char sa_data[14];
};

#endif /* _KERNEL_UTRACE_DECODE_SYS_SOCKET_H */

/* SPDX-License-Identifier: GPL-2.0 */
#include <sys/socket.h>

#define SOCK_TYPE_MASK	0xf
#define MSG_PROBE	0x10

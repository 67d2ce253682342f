/* SPDX-License-Identifier: GPL-2.0 */
#include <sys/socket.h>
#include_next <linux/socket.h>

#define MSG_PROBE	0x10

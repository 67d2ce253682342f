/* SPDX-License-Identifier: GPL-2.0 */
#include <stddef.h>
#include_next <linux/stddef.h>

#define offsetofend(type, member)					\
	(offsetof(type, member) + sizeof(((type *)0)->member))

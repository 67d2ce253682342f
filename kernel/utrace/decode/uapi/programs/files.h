/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about files */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H

#include <asm/statfs.h>
#include <linux/fanotify.h>
#include <linux/inotify.h>
#include <linux/magic.h>
#include <linux/openat2.h>

struct number_long_long {
	long long n;
};

/* name_to_handle_at(), with the largest handle */
struct file_handle {
	__u32 handle_bytes;
	__s32 handle_type;
	unsigned char f_handle[128];
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H */

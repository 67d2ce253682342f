/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about files */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H

#include <asm/statfs.h>
#include <linux/fanotify.h>
#include <linux/inotify.h>
#include <linux/magic.h>
#include <linux/openat2.h>

/* getdents() and getdents64(), to the length of an entry */
struct dirent_head {
	__kernel_ulong_t d_ino;
	__kernel_ulong_t d_off;
	__u16 d_reclen;
} __packed;

struct dirent64_head {
	__u64 d_ino;
	__u64 d_off;
	__u16 d_reclen;
} __packed;

struct number_long_long {
	long long n;
};

struct number_off {
	__kernel_off_t n;
};

/* name_to_handle_at(), with the largest handle */
struct file_handle {
	__u32 handle_bytes;
	__s32 handle_type;
	unsigned char f_handle[128];
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_FILES_H */

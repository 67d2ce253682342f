/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of ioctl() and fcntl() */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H

#include <stddef.h>
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <asm/termios.h>
#include <linux/blkpg.h>
#include <linux/blktrace_api.h>
#include <linux/close_range.h>
#include <linux/eventfd.h>
#include <linux/fadvise.h>
#include <linux/falloc.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/inotify.h>
#include <linux/input-event-codes.h>
#include <linux/kcmp.h>
#include <linux/kexec.h>
#include <linux/loop.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/module.h>
#include <linux/msg.h>
#include <linux/nbd.h>
#include <linux/net.h>
#include <linux/nsfs.h>
#include <linux/perf_event.h>
#include <linux/pidfd.h>
#include <linux/random.h>
#include <linux/reboot.h>
#include <linux/rtc.h>
#include <linux/seccomp.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include <linux/sockios.h>
#include <linux/tty.h>
#include <linux/userfaultfd.h>
#include <linux/watchdog.h>

/* A number that an argument points to. */
struct one_short {
	unsigned short n;
};

struct one_int {
	int n;
};

struct one_long {
	long n;
};

struct one_u64 {
	__u64 n;
};

struct two_u64 {
	__u64 first;
	__u64 second;
};

struct one_name {
	char name[16];
};

struct one_char {
	char n;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H */

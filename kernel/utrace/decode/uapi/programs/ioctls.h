/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of ioctl() and fcntl() */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H

#include <linux/close_range.h>
#include <linux/eventfd.h>
#include <linux/fadvise.h>
#include <linux/falloc.h>
#include <linux/input-event-codes.h>
#include <linux/kcmp.h>
#include <linux/kexec.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/module.h>
#include <linux/msg.h>
#include <linux/pidfd.h>
#include <linux/random.h>
#include <linux/reboot.h>
#include <linux/sem.h>
#include <linux/shm.h>
#include <linux/userfaultfd.h>

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_IOCTLS_H */

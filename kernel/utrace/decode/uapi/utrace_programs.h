/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - what programs pass to system calls
 *
 * The kernel's headers for programs that decode/tables/ uses, and structures
 * that these headers lack, since the C library declares them: by family in
 * programs/.  They are compiled for each ABI, never used by the kernel.
 */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_H

#include <linux/types.h>
#include <linux/time.h>
#include <linux/time_types.h>
#include <asm/signal.h>
#include <asm/siginfo.h>
#include <asm/stat.h>
#include <linux/stat.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/eventpoll.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <asm/ptrace-abi.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/xattr.h>

/* AF_, MSG_, SOL_ and SOCK_ constants of the kernel's own headers. */
#include "kernel_only.h"

#include <programs/files.h>
#include <programs/times.h>
#include <programs/processes.h>
#include <programs/signals.h>
#include <programs/sockets.h>
#include <programs/io.h>
#include <programs/ioctls.h>
#include <programs/devices.h>
#include <programs/security.h>

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_H */

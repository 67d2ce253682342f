/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SIGNAL_H
#define SHIM_LINUX_SIGNAL_H

#include <signal.h>

/*
 * The C library keeps the first two real-time signals for itself and counts
 * from the third one; the kernel, and other tools, count from 32.
 */
#undef SIGRTMIN
#undef SIGRTMAX
#define SIGRTMIN	32
#define SIGRTMAX	64

#endif

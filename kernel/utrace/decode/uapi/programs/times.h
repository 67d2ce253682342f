/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - headers and structures of calls about time */
#ifndef _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H
#define _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H

#include <linux/ioprio.h>
#include <linux/poll.h>
#include <linux/sched/types.h>
#include <linux/sysinfo.h>
#include <linux/timerfd.h>
#include <linux/times.h>
#include <linux/timex.h>
#include <linux/utime.h>
#include <linux/utsname.h>

/* pselect6() */
struct pselect_sigset {
	void *sigmask;
	__kernel_size_t sigsetsize;
};

/* struct sigevent without its end, which has no members. */
struct sigevent_members {
	union {
		int sival_int;
		void *sival_ptr;
	} sigev_value;
	int sigev_signo;
	int sigev_notify;
	union {
		int tid;
		struct {
			void *function;
			void *attribute;
		} thread;
	} un;
};

#endif /* _KERNEL_UTRACE_DECODE_PROGRAMS_TIMES_H */

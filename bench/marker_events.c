// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a user_event, enabled in one of many processes and in all
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/user_events.h>
#include <linux/utrace_marker.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "markers.h"

#define DATA		TRACING "/user_events_data"
#define NAME		"bench_marked"
#define ENABLE		TRACING "/events/user_events/" NAME "/enable"
#define MOST_ENGINES	"/proc/sys/user/max_utrace_engines"

/* The word of each process that has registered the event. */
static __u32 wanted;

#define WANTED		((unsigned long)&wanted)

static void register_event(void)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 0,
		.enable_size = sizeof(wanted),
		.enable_addr = WANTED,
		.name_args = (unsigned long)NAME,
	};
	int fd = open(DATA, O_RDWR);

	must(fd >= 0 && !ioctl(fd, DIAG_IOCSREG, &reg), "DIAG_IOCSREG");
}

static void arm_event(void)
{
	struct utrace_ioc_user_event event = { .name = (unsigned long)NAME };

	must(!ioctl(words, UTRACE_IOC_USER_EVENT_ARM, &event),
	     "UTRACE_IOC_USER_EVENT_ARM");
}

static void disarm_event(void)
{
	struct utrace_ioc_user_event event = { .name = (unsigned long)NAME };

	must(!ioctl(words, UTRACE_IOC_USER_EVENT_DISARM, &event),
	     "UTRACE_IOC_USER_EVENT_DISARM");
}

static void arm_loop(long n)
{
	while (n--) {
		arm_event();
		disarm_event();
	}
}

/* ftrace enables the event in all processes. */
static void enable_loop(long n)
{
	while (n--) {
		write_file(ENABLE, "1");
		write_file(ENABLE, "0");
	}
}

/* The first process has the bit if @first, and the last one if @last. */
static void look(const struct crowd *crowd, bool first, bool last)
{
	const pid_t *pids = crowd->pids;

	must(value_at(pids[0], WANTED) == first &&
	     (crowd->n == 1 || value_at(pids[crowd->n - 1], WANTED) == last),
	     "the bits of the event");
}

/* All processes have registered the event. */
static void event_rows(const struct crowd *crowd)
{
	arm_event();
	look(crowd, true, false);
	disarm_event();
	look(crowd, false, false);
	write_file(ENABLE, "1");
	look(crowd, true, true);
	write_file(ENABLE, "0");
	look(crowd, false, false);
	arm_row("arm_user_event_one_of", crowd->n, arm_loop, 20, 20);
	arm_row("tracefs_user_event_enable", crowd->n, enable_loop, 1, 2);
}

/* Each process that has registered an event counts as an engine of its user. */
void user_events(void)
{
	write_file(MOST_ENGINES, "10000");
	crowd_rows(register_event, event_rows);
}

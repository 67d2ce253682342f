// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a user_event, enabled in one of many processes and in all, and written
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/user_events.h>
#include <linux/utrace_marker.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "markers.h"

#define DATA		TRACING "/user_events_data"
#define NAME		"bench_marked"
#define ENABLE		TRACING "/events/user_events/" NAME "/enable"
#define MOST_ENGINES	"/proc/sys/user/max_utrace_engines"

/* The word of each process that has registered the event. */
static __u32 wanted;

#define WANTED		((unsigned long)&wanted)

/* Register the lowest bit at an address.  Returns a file to write the event to. */
static int register_at(unsigned long addr, __u32 *index)
{
	struct user_reg reg = {
		.size = sizeof(reg),
		.enable_bit = 0,
		.enable_size = sizeof(wanted),
		.enable_addr = addr,
		.name_args = (unsigned long)NAME,
	};
	int fd = open(DATA, O_RDWR);

	must(fd >= 0 && !ioctl(fd, DIAG_IOCSREG, &reg), "DIAG_IOCSREG");
	*index = reg.write_index;
	return fd;
}

static void register_event(void)
{
	__u32 index;

	register_at(WANTED, &index);
}

static __u32 arm_event(void)
{
	const struct utrace_user_event event = { .name = (unsigned long)NAME };
	struct utrace_ioc_arm arm = {
		.target = owner.target,
		.type = UTRACE_ARM_USER_EVENT,
		.flags = UTRACE_ARM_F_COUNT,
		.spec = (unsigned long)&event,
		.spec_size = sizeof(event),
	};

	must(!ioctl(owner.session, UTRACE_IOC_ARM, &arm),
	     "UTRACE_IOC_ARM of a user_event");
	return arm.id;
}

static void arm_loop(long n)
{
	while (n--)
		disarm(arm_event());
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
	__u32 id = arm_event();

	look(crowd, true, false);
	disarm(id);
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

/* Enabling in processes whose pages are not in memory */

/*
 * One process has registered the word of this page, and each child inherits the
 * registration at fork(2).
 */
static __u32 *page;

/* The answers of the children: their number, and how many had the bit. */
static struct answers {
	_Atomic int all;
	_Atomic int set;
} *answers;

/* In a child: read the word, and drop its page. */
static void give_up(int signal)
{
	unsigned char resident = 0;
	__u32 bits;

	(void)signal;
	bits = *page & 1;
	must(!madvise(page, PAGE, MADV_DONTNEED), "MADV_DONTNEED");
	/* An event that is enabled brings the page back. */
	must(!mincore(page, PAGE, &resident) && (bits || !resident),
	     "a page that is not in memory");
	answers->set += bits;
	answers->all++;
}

static void be_without_page(void)
{
	struct sigaction action = { .sa_handler = give_up };

	must(!sigaction(SIGUSR1, &action, NULL), "sigaction");
}

/* Have all processes read the word, and drop its page. */
static void give_all_up(const struct crowd *crowd, bool enabled)
{
	int i;

	answers->all = 0;
	answers->set = 0;
	for (i = 0; i < crowd->n; i++)
		kill(crowd->pids[i], SIGUSR1);
	while (answers->all < crowd->n)
		usleep(1000);
	must(answers->set == (enabled ? crowd->n : 0), "the bits of the event");
}

static unsigned long switch_cost(int fd, const char *text)
{
	unsigned long begun = cpu_time();

	must(write(fd, text, 1) == 1, ENABLE);
	return cpu_time() - begun;
}

#define SWITCHES	3

static void enable_row(const struct crowd *crowd)
{
	unsigned long least = -1, cost;
	int fd = open(ENABLE, O_WRONLY), i;
	char name[64];

	must(fd >= 0, ENABLE);
	for (i = 0; i < SWITCHES; i++) {
		give_all_up(crowd, false);
		cost = switch_cost(fd, "1");
		if (cost < least)
			least = cost;
		give_all_up(crowd, true);
		switch_cost(fd, "0");
	}
	close(fd);
	snprintf(name, sizeof(name), "enable_user_event_%d", crowd->n);
	say(name, least);
}

static void *map_memory(size_t size, int kind)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED, "mmap");
	return at;
}

void absent_pages(void)
{
	static const int counts[] = { 400, 800 };
	static struct crowd crowd;
	__u32 index;
	int i;

	write_file(MOST_ENGINES, "10000");
	page = map_memory(PAGE, MAP_PRIVATE);
	answers = map_memory(PAGE, MAP_SHARED);
	register_at((unsigned long)page, &index);
	for (i = 0; i < (int)(sizeof(counts) / sizeof(*counts)); i++) {
		grow_crowd(&crowd, counts[i], be_without_page);
		enable_row(&crowd);
	}
	end_crowd(&crowd);
}

/* Writing beside words */

#define OTHER_WORDS	4000

static int data;
static __u32 event_index;
static long all_writes;

static void writes(long n)
{
	const struct { __u32 index, value; } event = { event_index, 1 };

	all_writes += n;
	while (n--)
		must(write(data, &event, sizeof(event)) == sizeof(event), DATA);
}

/* Another session has words in the same process. */
static void arm_others(void)
{
	__u32 *others = map_memory(OTHER_WORDS * sizeof(__u32), MAP_PRIVATE);
	int i;

	memset(others, 0, OTHER_WORDS * sizeof(__u32));
	owner = own(getpid(), 0);
	for (i = 0; i < OTHER_WORDS; i++)
		arm_word((unsigned long)&others[i]);
	must(others[0] == 1 && others[OTHER_WORDS - 1] == 1, "words");
}

/* Rows are refused unless the tracer gets each write. */
void event_writes(void)
{
	struct owner tracer;

	data = register_at(WANTED, &event_index);
	owner = own(getpid(), 0);
	tracer = owner;
	arm_event();
	must(wanted == 1, "the bit of the event");
	say("user_event_write_alone", per_op(tsc, writes, 100, 20));
	arm_others();
	say("user_event_write_among_words", per_op(tsc, writes, 100, 20));
	must(hits_of(&tracer) == (__u64)all_writes, "a count for each write");
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - sessions whose rings become full
 *
 * The tests count the records that they read, and check their order.
 */
#ifndef UTRACE_DEV_STREAM_H
#define UTRACE_DEV_STREAM_H

#include <time.h>

#include "dev.h"

/* The smallest rings. */
#define SMALL		(64 << 10)

/* Marker calls that fill a ring of SMALL by far. */
#define MANY		3000

static inline void choose_mark(int fd, __u64 events)
{
	static const __u32 mark[] = { MARK_NR };

	need(!choose(fd, events, 0, mark, 1), "choose");
}

/* A session with small rings; a task waits if they are full. */
static inline int stopping_session(pid_t pid, __u32 scope, __u64 events)
{
	int fd = session();

	need(!setup_full(fd, SMALL, UTRACE_FULL_DEFAULT), "setup");
	need(attach(fd, pid, scope) > 0, "attach");
	choose_mark(fd, events);
	return fd;
}

/* Wait until the task @tid is held by an engine of /dev/utrace. */
static inline bool is_held(pid_t tid)
{
	char line[512] = "";
	int i;

	for (i = 0; i < DEADLINE_MS / 2; i++) {
		if (of_task(tid, "stat", line, sizeof(line)) &&
		    strrchr(line, ')')[2] == 't')
			return true;
		usleep(2000);
	}
	return false;
}

#define CALL_BITS (UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT))

struct tally {
	__u64 enter, exit, call, lost, records;
	bool good;
	__u64 time;
};

/* The last record of each task. */
static struct { __u64 task; __u32 number; __u64 time; } seen[64];

static inline unsigned int seen_at(__u64 task)
{
	unsigned int i;

	for (i = 0; i < 63 && seen[i].task && seen[i].task != task; i++)
		;
	seen[i].task = task;
	return i;
}

/* A task that has got the number of another one counts its records further. */
static inline void rename_seen(struct utrace_rec_exec *rec)
{
	unsigned int old = seen_at(rec->old_task);
	unsigned int now = seen_at(rec->head.task);

	seen[now].number = seen[old].number;
	seen[now].time = seen[old].time;
}

/*
 * Check whether the clock advances only at ticks.  Then records may have later
 * times than the clock, and a record of another task that is made after these
 * were read may have an earlier time.
 */
static inline bool clock_stands_still(void)
{
	struct timespec step;

	return !clock_getres(CLOCK_MONOTONIC, &step) && step.tv_nsec > 1000;
}

/*
 * Check whether a task made a call between its last record and this one.  If the
 * clock stands still, it may be behind the last record by 1 ns for each record.
 */
static inline bool began_in_time(const struct utrace_rec_sys_enter *enter,
				 __u64 last)
{
	const __u64 ahead = 100000;

	return enter->began <= enter->head.time && enter->began + ahead >= last;
}

/*
 * Add up the records that were read last.  The numbers of each task have no gap
 * and no task's time goes back, nor does that of the stream.
 */
static inline void add_up(struct tally *tally)
{
	struct utrace_rec *rec;

	for_each_record(rec) {
		unsigned int i = seen_at(rec->task);

		if (rec->type == UTRACE_REC_EXEC)
			rename_seen((struct utrace_rec_exec *)rec);
		tally->records++;
		tally->enter += rec->type == UTRACE_REC_SYS_ENTER;
		tally->exit += rec->type == UTRACE_REC_SYS_EXIT;
		tally->call += rec->type == UTRACE_REC_SYS_CALL;
		if (rec->type == UTRACE_REC_LOST)
			tally->lost += ((struct utrace_rec_lost *)rec)->lost;
		if (rec->time < tally->time && !clock_stands_still()) {
			tally->good = false;
			printf("# time goes back\n");
		}
		tally->time = rec->time;
		if (!rec->task)
			continue;
		if (rec->number != seen[i].number + 1 ||
		    rec->time <= seen[i].time) {
			tally->good = false;
			printf("# task %llu: number %u after %u\n", rec->task,
			       rec->number, seen[i].number);
		}
		if (rec->type == UTRACE_REC_SYS_ENTER &&
		    !began_in_time((void *)rec, seen[i].time)) {
			tally->good = false;
			printf("# task %llu: a call of %llu that began at %llu, after %llu\n",
			       rec->task, rec->time,
			       ((struct utrace_rec_sys_enter *)rec)->began,
			       seen[i].time);
		}
		seen[i].number = rec->number;
		seen[i].time = rec->time;
	}
}

static inline void new_tally(struct tally *tally)
{
	*tally = (struct tally){ .good = true };
	memset(seen, 0, sizeof(seen));
}

/* Read until the target has answered, and then the remaining records. */
static inline bool read_until_answer(int fd, struct target *target,
				     enum who who,
				     struct tally *tally)
{
	struct pollfd pfd[] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = target->from[who][0], .events = POLLIN },
	};

	while (!(pfd[1].revents & POLLIN)) {
		if (poll(pfd, 2, DEADLINE_MS) <= 0)
			return false;
		take(fd);
		add_up(tally);
	}
	hear(target, who);
	settle(target, who);
	take(fd);
	add_up(tally);
	return true;
}

#endif /* UTRACE_DEV_STREAM_H */

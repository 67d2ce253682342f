// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - records of UTRACE_IOC_IN_FLIGHT among those of the task
 *
 * Tasks make calls with short sleeps while this program records their calls in
 * flight as often as it can.  Each such record must come after the entry of its
 * call and before the exit, whatever CPUs the caller and the task run on.
 */
#include "dev.h"

/* How long each hammer takes. */
#define HAMMER_MS	2000

/* Tasks that sleep, and the differing arguments by which calls are known. */
#define NSLEEPERS	3
#define NCALLS		64

/*
 * State of a task according to its records so far.  No two calls of a task have
 * the same arguments.
 */
struct seen {
	pid_t tid;
	bool known;	/* it has had a record */
	bool in_call;
	__u32 nr;
	__u64 args[6];	/* of the call that it is in */
	__u64 last;	/* time of its last record */
	__u64 over[6];	/* arguments of the last whole call */
	__u64 began;	/* of the record in flight; 0: there was none */
	__u64 flying[6];
};

static struct seen seen[NSLEEPERS];
static long told, wrong;

static struct utrace_ioc_in_flight in_flight(int fd)
{
	struct utrace_ioc_in_flight arg = {};

	need(!command(fd, UTRACE_IOC_IN_FLIGHT, &arg), "IN_FLIGHT");
	return arg;
}

/* Sleep again and again, by calls that differ, mostly too short to be seen. */
static void sleep_for_ever(int which)
{
	static struct timespec ts[NCALLS];
	int i;

	for (i = 0; i < NCALLS; i++)
		ts[i].tv_nsec = 1 + (i % 8) * 40000 * (which + 1);
	for (i = 0;; i++)
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts[i % NCALLS],
			i, 0, i);
}

static pid_t start_sleepers(void)
{
	pid_t leader;
	int i;

	leader = fork();
	need(leader >= 0, "fork");
	if (leader)
		return leader;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (i = 1; i < NSLEEPERS; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleep_for_ever(i);
	}
	sleep_for_ever(0);
	return 0;
}

static struct seen *seen_of(pid_t tid)
{
	int i;

	for (i = 0; i < NSLEEPERS; i++) {
		if (!seen[i].tid)
			seen[i] = (struct seen){ .tid = tid };
		if (seen[i].tid == tid)
			return &seen[i];
	}
	need(false, "a task that is known");
	return NULL;
}

static void is_wrong(const struct utrace_rec *rec, const char *why)
{
	if (wrong++ < 5)
		printf("#     %s: tid %d, type %d, number %u, time %llu, cpu %d\n",
		       why, rec->tid, rec->type, rec->number,
		       (unsigned long long)rec->time, rec->cpu);
}

static void enter_call(struct seen *s, const struct utrace_rec_sys_enter *rec)
{
	s->in_call = true;
	s->nr = rec->nr;
	memcpy(s->args, rec->args, sizeof(s->args));
}

/* A record in flight: it is about the call that the task is in. */
static void check_in_flight(struct seen *s, struct utrace_rec_sys_enter *rec,
			    bool whole)
{
	told++;
	if (whole) {
		if (!memcmp(s->over, rec->args, sizeof(rec->args)))
			is_wrong(&rec->head, "in a call that is over");
		s->began = rec->began;
		memcpy(s->flying, rec->args, sizeof(rec->args));
		return;
	}
	if (!s->known)
		enter_call(s, rec);
	if (!s->in_call)
		is_wrong(&rec->head, "in no call");
	else if (rec->nr != s->nr || memcmp(rec->args, s->args, sizeof(s->args)))
		is_wrong(&rec->head, "in another call");
}

static void check_call(struct seen *s, struct utrace_rec_sys_call *rec)
{
	if (s->began && (rec->began != s->began ||
			 memcmp(s->flying, rec->args, sizeof(s->flying))))
		is_wrong(&rec->head, "not the call that was in flight");
	s->began = 0;
	memcpy(s->over, rec->args, sizeof(s->over));
}

/* Check the records that take() has read. */
static void check(bool whole)
{
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec *rec;
	struct seen *s;

	for_each_record(rec) {
		if (!rec->tid)
			continue;
		s = seen_of(rec->tid);
		if (rec->time <= s->last)
			is_wrong(rec, "not later than the record before");
		enter = (void *)rec;
		if (rec->type == UTRACE_REC_SYS_ENTER && !rec->number)
			check_in_flight(s, enter, whole);
		else if (rec->type == UTRACE_REC_SYS_CALL)
			check_call(s, (void *)rec);
		else if (rec->type == UTRACE_REC_SYS_ENTER)
			enter_call(s, enter);
		else if (rec->type == UTRACE_REC_SYS_EXIT)
			s->in_call = false;
		s->last = rec->time;
		s->known = true;
	}
}

static long now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Wait until each task has had a record of its own. */
static void until_known(int fd, bool whole)
{
	int i;

	for (i = 0; i < DEADLINE_MS && !seen[NSLEEPERS - 1].known; i++) {
		usleep(1000);
		take(fd);
		check(whole);
	}
	need(seen[NSLEEPERS - 1].known, "tasks that make calls");
}

static void hammer(__u64 events, bool pinned)
{
	bool whole = events & UTRACE_REC_BIT(SYS_CALL);
	struct utrace_ioc_in_flight arg;
	pid_t leader = start_sleepers();
	long end, rounds = 0;
	int fd = session();

	if (pinned)
		pin_to_cpu(0, 0);
	need(!setup_full(fd, 0, UTRACE_FULL_STOP) &&
	     attach(fd, leader, UTRACE_SCOPE_TREE) == 1 &&
	     !choose(fd, events, 0, NULL, 0), "a session");
	memset(seen, 0, sizeof(seen));
	told = 0;
	wrong = 0;
	until_known(fd, whole);
	for (end = now_ms() + HAMMER_MS; now_ms() < end; rounds++) {
		int i;

		for (i = 0; i < 50; i++) {
			arg = in_flight(fd);
			need(!arg.lost, "room for records in flight");
		}
		take(fd);
		check(whole);
	}
	printf("#   %ld records in %ld rounds of 50\n", told, rounds);
	holds(told > 100, "there are records of calls in flight");
	is(0, wrong, "each stands in its call, with that call's arguments");
	close(fd);
	kill(leader, SIGKILL);
	waitpid(leader, NULL, 0);
}

TEST_F(dev, entries_and_exits)
{
	hammer(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT), false);
}

TEST_F(dev, caller_on_one_cpu)
{
	hammer(UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT), true);
}

TEST_F(dev, whole_calls)
{
	hammer(UTRACE_REC_BIT(SYS_CALL), false);
}

/*
 * Check that the record of the call in flight is the first one and is followed
 * by the exit of that call.  Return: false if there is no such record, because
 * the task has made another call since the attach.
 */
static bool check_attach(void)
{
	struct utrace_rec *rec = next_record(NULL), *next;
	struct utrace_rec_sys_enter *flying = (void *)rec;
	struct utrace_rec_sys_exit *exit;

	if (!rec || rec->number)
		return false;
	next = next_record(rec);
	exit = (void *)next;
	if (!next || !next->tid)
		return true;
	if (next->type != UTRACE_REC_SYS_EXIT || exit->nr != flying->nr ||
	    !(next->flags & UTRACE_REC_F_UNPAIRED) || next->task != rec->task)
		is_wrong(next, "not the exit of the call");
	return true;
}

TEST_F(dev, at_the_attach)
{
	long begin = now_ms();
	pid_t leader = start_sleepers();
	int fd;

	told = 0;
	wrong = 0;
	while (now_ms() < begin + HAMMER_MS ||
	       (told < 20 && now_ms() < begin + DEADLINE_MS)) {
		fd = session();
		need(!choose(fd, UTRACE_REC_BIT(SYS_ENTER) |
			     UTRACE_REC_BIT(SYS_EXIT), 0, NULL, 0) &&
		     attach(fd, leader, UTRACE_SCOPE_THREAD) == 1, "a session");
		in_flight(fd);
		usleep(1000);
		take(fd);
		told += check_attach();
		close(fd);
	}
	printf("#   %ld records\n", told);
	holds(told >= 20, "there are records of calls in flight");
	is(0, wrong, "each is followed by the exit of its call");
	kill(leader, SIGKILL);
	waitpid(leader, NULL, 0);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: what wakes a reader that sleeps, and when
 */
#include "asleep.h"

/* Its thread may sleep on when a test has failed. */
static struct asleep asleep;

/*
 * Have a thread sleep on a session whose only target is a process, and kill the process.
 * The session records marker calls, or nothing: no EXIT.  Returns false if nothing has woken
 * the thread.
 */
static bool end_wakes(__u32 scope, bool choose, short events)
{
	struct target target;
	bool woken;
	int fd;

	start(&target);
	fd = session();
	need(!setup(fd, 0) && attach(fd, target.pid, scope) > 0, "attach");
	need(!choose || !choose_marks(fd), "choose");
	fall_asleep(&asleep, fd, events);
	stop(&target);
	woken = is_woken(&asleep);
	close(fd);
	return woken;
}

/* The session records no event of the target's tasks, but reports their end. */
TEST_F(dev, end_without_records)
{
	unsigned int i;

	for (i = 0; i < TASK_SCOPES; i++) {
		if (!holds(end_wakes(task_scopes[i].scope, true, POLLIN),
			   "%s: its end wakes poll()", task_scopes[i].name))
			return;
		is(POLLIN | POLLHUP, asleep.result, "  POLLIN and POLLHUP");
		if (!holds(end_wakes(task_scopes[i].scope, true, 0),
			   "%s: its end wakes read()", task_scopes[i].name))
			return;
		is(sizeof(struct utrace_rec_target_end), asleep.result,
		   "  with a TARGET_END");
	}
	if (holds(end_wakes(UTRACE_SCOPE_PROCESS, false, POLLIN),
		  "a session that has chosen nothing is woken, too"))
		is(POLLIN | POLLHUP, asleep.result, "  POLLIN and POLLHUP");
}

/*
 * By a delay of one second, a reader sleeps on when there is a record.  Half of the delay is
 * what a kernel with a coarse clock cannot miss.
 */
TEST_F(dev, delay)
{
	struct utrace_ioc_setup arg = { .delay = 1000000000 };
	struct utrace_rec *rec;
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(!command(fd, UTRACE_IOC_SETUP, &arg), "setup");
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose_marks(fd), "choose");
	fall_asleep(&asleep, fd, POLLIN);
	have(&target, SELF, mark, 1);
	if (!holds(is_woken(&asleep), "a record wakes poll()"))
		return;
	is(POLLIN, asleep.result, "POLLIN");
	need(!fcntl(fd, F_SETFL, O_NONBLOCK), "F_SETFL");
	is(2, take(fd), "the entry and the exit of a call");
	rec = find(UTRACE_REC_SYS_ENTER, target.pid);
	need(rec, "an entry");
	holds(asleep.woken >= rec->time + arg.delay / 2,
	      "poll() has slept for half of the delay at least (%lld ms)",
	      (long long)(asleep.woken - rec->time) / 1000000);
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: entries that are kept for a whole call
 *
 * A session that wants whole calls keeps the entry until the exit.  If the task
 * is hidden by then, or the session has changed its events in between, the
 * entry must not become part of a later call.
 */
#include "dev.h"

#define WHOLE	UTRACE_REC_BIT(SYS_CALL)

static void on_signal(int signr)
{
}

static long handle_signal(long unused)
{
	signal(SIGUSR1, on_signal);
	return 0;
}

static int start_session(struct target *target)
{
	int fd;

	start(target);
	fd = session();
	need(!setup(fd, 0), "setup");
	return fd;
}

/* Find a record of @type with the call number @nr, in flight or not. */
static struct utrace_rec_sys_enter *find_call(int type, unsigned int nr)
{
	struct utrace_rec *rec;

	for_each_record(rec) {
		struct utrace_rec_sys_enter *enter = (void *)rec;

		if (rec->type == type && enter->nr == nr)
			return enter;
	}
	return NULL;
}

/* The call that hides a process is recorded before the process is hidden. */
static int hides_as_nobody(void *arg)
{
	struct utrace_rec_sys_enter *enter;
	struct target target;
	int fd;

	become_nobody();
	fd = start_session(&target);
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, WHOLE, 0, NULL, 0), "choose");
	have(&target, SELF, set_dumpable, 0);
	have(&target, SELF, mark, 3);
	have(&target, SELF, set_dumpable, 1);
	have(&target, SELF, mark, 5);
	settle(&target, SELF);
	take(fd);
	enter = find_call(UTRACE_REC_SYS_ENTER, SYS_prctl);
	holds(enter && enter->head.flags & UTRACE_REC_F_IN_FLIGHT &&
	      enter->args[0] == PR_SET_DUMPABLE && enter->args[1] == 0,
	      "hidden: the call that hides it was entered");
	is(1, count(UTRACE_REC_SYS_ENTER, 0), "hidden: no other was");
	holds(enter && (void *)enter < (void *)find(UTRACE_REC_HIDDEN, 0),
	      "hidden: after that");
	holds(find_call(UTRACE_REC_SYS_EXIT, SYS_prctl),
	      "seen again: from the exit of the call that shows it");
	holds(!find_call(UTRACE_REC_SYS_CALL, SYS_prctl),
	      "seen again: whose entry was not seen");
	is(5, marks(UTRACE_REC_SYS_CALL, target.pid), "seen again: its calls");
	close(fd);
	stop(&target);
	return 0;
}

TEST_F(dev, hidden_at_the_exit)
{
	set_unprivileged("1");
	is(0, in_child(hides_as_nobody, NULL), "nobody");
}

/*
 * A task is in a call whose entry is kept when the session stops asking for
 * calls.  The task makes calls that are not recorded, then calls that are.
 */
TEST_F(dev, nothing_wanted_for_a_while)
{
	struct target target;
	int fd = start_session(&target);

	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0 &&
	     !choose(fd, WHOLE, 0, NULL, 0), "attach");
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	need(!choose(fd, 0, 0, NULL, 0), "choose nothing");
	have(&target, SELF, mark, 2);
	settle(&target, SELF);
	take(fd);
	is(1, marks(UTRACE_REC_SYS_CALL, 0), "the calls that were wanted");
	need(!choose(fd, WHOLE, 0, NULL, 0), "choose");
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_CALL, 0), "those that are wanted again");
	is(0, count(UTRACE_REC_SYS_ENTER, 0), "no entry of long ago");
	close(fd);
	stop(&target);
}

/* A session that no longer wants calls gets only the other event. */
TEST_F(dev, only_signals_wanted)
{
	struct target target;
	int fd = start_session(&target);

	have(&target, SELF, handle_signal, 0);
	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0 &&
	     !choose(fd, WHOLE, 0, NULL, 0), "attach");
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	need(!choose(fd, UTRACE_REC_BIT(SIGNAL), 0, NULL, 0), "choose signals");
	take(fd);
	kill(target.pid, SIGUSR1);
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	is(1, take(fd), "one record");
	is(1, count(UTRACE_REC_SIGNAL, target.pid), "of the signal");
	need(!choose(fd, WHOLE | UTRACE_REC_BIT(SIGNAL), 0, NULL, 0), "choose");
	kill(target.pid, SIGUSR1);
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	take(fd);
	is(1, count(UTRACE_REC_SIGNAL, target.pid), "both: the signal");
	is(0, count(UTRACE_REC_SYS_ENTER, 0),
	   "both: not the entry of a call that is over");
	close(fd);
	stop(&target);
}

/* A task is in a call while its target is detached and another one is attached. */
TEST_F(dev, another_target)
{
	struct target target;
	int fd = start_session(&target);
	int id = attach(fd, target.pid, UTRACE_SCOPE_PROCESS);

	need(id > 0 && !choose(fd, WHOLE, 0, NULL, 0), "attach");
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	need(!detach(fd, id) &&
	     attach(fd, target.pid, UTRACE_SCOPE_THREAD) > 0, "another target");
	take(fd);
	have(&target, SELF, mark, 3);
	settle(&target, SELF);
	take(fd);
	is(3, marks(UTRACE_REC_SYS_CALL, 0), "calls of the new target");
	is(0, count(UTRACE_REC_SYS_ENTER, 0), "no entry of the old one");
	close(fd);
	stop(&target);
}

/* Whole calls are wanted before and after: the call stays whole. */
TEST_F(dev, wanted_all_the_time)
{
	struct utrace_rec_sys_call *call;
	struct target target;
	int fd = start_session(&target);

	need(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0 &&
	     !choose(fd, WHOLE, 0, NULL, 0), "attach");
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	take(fd);
	need(!choose(fd, WHOLE | UTRACE_REC_BIT(SIGNAL), 0, NULL, 0), "choose");
	have(&target, SELF, mark, 1);
	settle(&target, SELF);
	take(fd);
	call = (void *)find_call(UTRACE_REC_SYS_CALL, SYS_read);
	holds(call && call->began &&
	      call->args[0] == (unsigned int)target.to[SELF][0],
	      "the call in which the settings changed");
	is(0, count(UTRACE_REC_SYS_ENTER, 0), "is one record");
	is(0, count(UTRACE_REC_SYS_EXIT, 0), "and nothing else");
	close(fd);
	stop(&target);
}

TEST_HARNESS_MAIN

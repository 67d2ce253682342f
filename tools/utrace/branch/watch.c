// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - watch the mappings and the end of a process
 *
 * The last branches of a process are read when the process is gone and its
 * mappings no longer exist.  So a session records execve() and mmap(), and this
 * command reads the mappings after each.  The session also records the signal
 * that kills the process.  The process never waits for the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include <asm/unistd.h>
#include <linux/array_size.h>

#include "dev/session.h"
#include "dev/stream.h"
#include "lib/fail.h"
#include "mapped.h"
#include "spaces.h"
#include "watch.h"

/* Numbers of mmap() in both tables. */
static const __u32 mmaps[] = {
	__NR_mmap, UTRACE_NR_IA32 | 192, UTRACE_NR_IA32 | 90,
};

static int choose(int session, unsigned int ncalls)
{
	struct utrace_ioc_events events = {
		.events = UTRACE_REC_BIT(SYS_EXIT) | UTRACE_REC_BIT(EXEC) |
			  UTRACE_REC_BIT(EXIT) | UTRACE_REC_BIT(SIGNAL),
		.calls = (uintptr_t)mmaps,
		.ncalls = ncalls,
	};

	return session_choose(session, &events);
}

/* Start the address space of a new program. */
static void learn_program(const struct watch *watch)
{
	struct mapped mapped = { .pid = watch->pid, .tid = watch->pid };

	mapped_begin(&mapped, 0);
}

/* Read the current mappings, unless the process is gone. */
void watch_learn(const struct watch *watch)
{
	if (!watch->ended)
		mapped_read(space_of(watch->pid), watch->pid);
}

/**
 * watch_begin() - begin to watch a process
 * @watch: filled in
 * @pid: the process
 *
 * The command ends with a message if that is not possible.
 */
void watch_begin(struct watch *watch, pid_t pid)
{
	*watch = (struct watch){
		.pid = pid,
		.session = session_open(0, true),
		.status = -1,
	};
	if (watch->session < 0)
		fail("/dev/utrace", session_why_not(errno));
	fcntl(watch->session, F_SETFL, O_NONBLOCK);
	watch->stream = stream_open(watch->session);
	/* The kernel may lack the table of 32-bit calls. */
	if (choose(watch->session, ARRAY_SIZE(mmaps)) && choose(watch->session, 1))
		fail("choosing events", session_why_not(errno));
	if (session_attach(watch->session, pid, UTRACE_SCOPE_PROCESS))
		fail("attaching to the process", session_why_not(errno));
	learn_program(watch);
}

static void take_signal(struct watch *watch, const struct utrace_rec_signal *rec)
{
	if (rec->handler)
		return;
	memcpy(&watch->info, rec->info, sizeof(watch->info));
	watch->taken_by = rec->head.tid;
}

static void take_record(void *data, const struct utrace_rec *rec)
{
	struct watch *watch = data;

	switch (rec->type) {
	case UTRACE_REC_EXEC:
		watch->executed = true;
		learn_program(watch);
		break;
	case UTRACE_REC_SYS_EXIT:
		watch_learn(watch);
		break;
	case UTRACE_REC_SIGNAL:
		take_signal(watch, (const void *)rec);
		break;
	case UTRACE_REC_EXIT:
		watch->status = ((const struct utrace_rec_exit *)rec)->code;
		break;
	case UTRACE_REC_TARGET_END:
		watch->ended = true;
	}
}

/* Read the records of the session. */
void watch_take(struct watch *watch)
{
	while (stream_take(watch->stream, take_record, watch))
		;
}

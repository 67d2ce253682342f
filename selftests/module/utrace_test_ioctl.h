/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - the ioctls of the module utrace_test
 *
 * <linux/utrace.h> is not for user space, so this file has its values with the
 * prefix UT_; callbacks.c asserts that the values are equal.
 */
#ifndef UTRACE_TEST_IOCTL_H
#define UTRACE_TEST_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define UT_DEVICE	"/dev/utrace_test"

/* The events of the interface, then kinds of records that only the log has. */
enum ut_event {
	UT_EV_QUIESCE,
	UT_EV_REAP,
	UT_EV_CLONE,
	UT_EV_EXEC,
	UT_EV_EXIT,
	UT_EV_DEATH,
	UT_EV_SYSCALL_ENTRY,
	UT_EV_SYSCALL_EXIT,
	UT_EV_SIGNAL,
	UT_EV_SIGNAL_IGN,
	UT_EV_SIGNAL_STOP,
	UT_EV_SIGNAL_TERM,
	UT_EV_SIGNAL_CORE,
	UT_EV_JCTL,
	UT_EV_VFORK_DONE,
	UT_EV_CREDS,
	UT_EV_NR,
	/* report_signal() with UTRACE_SIGNAL_REPORT */
	UT_EV_REPORT = UT_EV_NR,
	/* report_signal() with UTRACE_SIGNAL_HANDLER */
	UT_EV_HANDLER,
	/* release() */
	UT_EV_RELEASE,
	/* A callback that a rule let wait is about to return. */
	UT_EV_RETURN,
	UT_EV_MAX
};

#define UT_BIT(ev)	(1UL << UT_EV_##ev)
#define UT_SYSCALL	(UT_BIT(SYSCALL_ENTRY) | UT_BIT(SYSCALL_EXIT))
#define UT_SIGNAL_ALL	(UT_BIT(SIGNAL) | UT_BIT(SIGNAL_IGN) |		\
			 UT_BIT(SIGNAL_STOP) | UT_BIT(SIGNAL_TERM) |	\
			 UT_BIT(SIGNAL_CORE))
#define UT_ALL		((1UL << UT_EV_NR) - 1)

enum ut_action {
	UT_STOP,
	UT_INTERRUPT,
	UT_REPORT,
	UT_SINGLESTEP,
	UT_BLOCKSTEP,
	UT_RESUME,
	UT_DETACH,
};

#define UT_RESUME_MASK		0x07
#define UT_STOP_HERE		0x400

#define UT_SIGNAL_DELIVER	0x00
#define UT_SIGNAL_IGN		0x10
#define UT_SIGNAL_TERM		0x20
#define UT_SIGNAL_CORE		0x30
#define UT_SIGNAL_STOP		0x40
#define UT_SIGNAL_TSTP		0x50
#define UT_SIGNAL_REPORT	0x60
#define UT_SIGNAL_HANDLER	0x70
#define UT_SIGNAL_MASK		0xf0
#define UT_SIGNAL_HOLD		0x100
#define UT_SIGNAL_RESUMED	0x200

#define UT_SYSCALL_RUN		0x00
#define UT_SYSCALL_ABORT	0x10
#define UT_SYSCALL_MASK		0xf0
#define UT_SYSCALL_RESUMED	0x100
#define UT_SYSCALL_UNPAIRED	0x200
#define UT_JCTL_AGAIN		0x200

/* A bit of a number in a filter: the number is one of the 32-bit table. */
#define UT_SYSCALL_IA32		0x20000000

#define UT_ATTACH_MATCH_OPS	0x0001
#define UT_ATTACH_MATCH_DATA	0x0002
#define UT_ATTACH_CREATE	0x0010
#define UT_ATTACH_EXCLUSIVE	0x0020
#define UT_ATTACH_ANY_SCOPE	0x0040
#define UT_ATTACH_OWN_EVENTS	0x0080
#define UT_ATTACH_PROCESS	0x0100
#define UT_ATTACH_TREE		0x0200
/* Known to this module only: utrace_attach_system(). */
#define UT_ATTACH_SYSTEM	0x10000
#define UT_ATTACH_MUTATOR	0x0000
#define UT_ATTACH_OBSERVER	0x1000
#define UT_ATTACH_ENFORCER	0x2000
#define UT_ATTACH_LAST_RESORT	0x3000

/* The table of callbacks that an engine gets. */
enum ut_ops {
	UT_OPS_FULL,
	/* Without name and owner, like a table of 2010. */
	UT_OPS_BARE,
	/* With a name that must be quoted in /proc. */
	UT_OPS_ODD,
};

/**
 * struct ut_attach - UT_IOC_ATTACH
 * @pid: thread to attach to, in the caller's pid namespace; 0 for the caller
 * @flags: UT_ATTACH_*
 * @ops: enum ut_ops
 * @nolog: bits of enum ut_event that are counted but not logged
 * @data: without UT_ATTACH_CREATE: number of the engine whose data must match;
 *	0 for none
 * @id: out: number of the engine; 0 for an engine of another module
 */
struct ut_attach {
	__s32 pid;
	__u32 flags;
	__u32 ops;
	__u32 nolog;
	__u32 data;
	__u32 id;
};

/* UT_IOC_EVENTS; a @tid of 0 stands for the engine's own target. */
struct ut_events {
	__u32 id;
	__s32 tid;
	__u64 events;
};

/*
 * UT_IOC_CONTROL.  After UT_STOP, or a rule whose answer is UTRACE_STOP,
 * callbacks keep answering UTRACE_STOP, as an engine that holds its task must,
 * until another action is asked for.  After UT_SINGLESTEP and UT_BLOCKSTEP
 * callbacks keep asking for the step until its SIGTRAP is reported.
 */
struct ut_control {
	__u32 id;
	__s32 tid;
	__u32 action;
	__u32 pad;
};

/* UT_IOC_BARRIER; @kind is one of these functions. */
enum {
	UT_BARRIER_PLAIN,
	UT_BARRIER_KILLABLE,
	UT_BARRIER_SYNC,
};

struct ut_barrier {
	__u32 id;
	__s32 tid;
	__u32 kind;
	__u32 pad;
};

/* UT_IOC_FILTER: @nrs points to @n numbers; NULL removes the filter. */
struct ut_filter {
	__u32 id;
	__u32 n;
	__u64 nrs;
};

/* ut_examine.delay_ms: wait until UT_IOC_OPEN. */
#define UT_UNTIL_OPEN	0xffffffff

/*
 * UT_IOC_EXAMINE.  @prepare and @finish return the results of the two
 * functions; the kernel sleeps @delay_ms between them.  All members below are
 * out too.  Before a wait for UT_IOC_OPEN they are stored as well, so that
 * another thread can see that the examination has begun.
 */
struct ut_examine {
	__u32 id;
	__s32 tid;
	__u32 delay_ms;
	__s32 prepare;
	__s32 finish;
	__s32 nr;
	__u64 ip;
	__u64 sp;
	__s64 result;
	__u64 arg[6];
};

/* What a rule changes; the comments name the events. */
#define UT_CHANGE_NR		0x01	/* SYSCALL_ENTRY: @nr */
#define UT_CHANGE_ARG		0x02	/* SYSCALL_ENTRY: argument @argi */
#define UT_CHANGE_RESULT	0x04	/* SYSCALL_ENTRY, _EXIT: @result */
#define UT_CHANGE_SIGNO		0x08	/* signals: @signo */
#define UT_CHANGE_HANDLER	0x10	/* signals: @handler */
#define UT_CHANGE_CODE		0x20	/* EXIT: wait status @code */
#define UT_CHANGE_EVENTS	0x40	/* any: utrace_set_events(current) */
#define UT_CHANGE_CONTROL	0x80	/* any: utrace_control(current) */
#define UT_CHANGE_GATE		0x100	/* any: wait until UT_IOC_OPEN */
#define UT_CHANGE_TOUCH		0x200	/* any: read the byte at @arg */
#define UT_CHANGE_BARRIER	0x400	/* any: utrace_barrier() of @other */

#define UT_ANY		(-1000000)	/* ut_rule.match: any number fits */
#define UT_PASS		0x10000		/* ut_rule.answer: see there */

/**
 * struct ut_rule - UT_IOC_RULE: how an engine answers an event
 * @id: the engine
 * @event: enum ut_event
 * @match: UT_ANY, or the number that ut_record::nr must have: system call,
 *	signal, type of job control stop, argument of report_quiesce()
 * @tid: the only thread that the rule is for; 0 for all
 * @answer: what the callback returns; with UT_PASS only its resume action and
 *	UT_STOP_HERE count, and the rest of the answer so far is passed on
 * @count: how many times the rule is used; 0 for ever
 * @delay_ms: how long the callback sleeps
 * @change: UT_CHANGE_*
 * @nr: new system call number
 * @signo: new signal
 * @argi: index of the argument that UT_CHANGE_ARG changes
 * @control: action of UT_CHANGE_CONTROL
 * @arg: new argument, or address of UT_CHANGE_TOUCH
 * @result: new result
 * @handler: new sa_handler
 * @code: new wait status
 * @events: events of UT_CHANGE_EVENTS
 * @other: number of the engine of UT_CHANGE_BARRIER
 *
 * The first rule that fits is used.  Without a rule the callback answers with
 * the action of the last UT_IOC_CONTROL, see struct ut_control, and passes on
 * the rest of the answer so far.
 *
 * Waits come in the order gate, byte, barrier, delay.  A fatal signal ends the
 * wait at the gate.
 */
struct ut_rule {
	__u32 id;
	__u32 event;
	__s32 match;
	__s32 tid;
	__u32 answer;
	__u32 count;
	__u32 delay_ms;
	__u32 change;
	__s32 nr;
	__s32 signo;
	__u32 argi;
	__u32 control;
	__u64 arg;
	__s64 result;
	__u64 handler;
	__s64 code;
	__u64 events;
	__u32 other;
	__u32 pad;
};

/**
 * struct ut_follow - UT_IOC_FOLLOW: report_clone() attaches to the child
 * @id: the engine
 * @on: 1 to attach to children, 0 not to
 * @flags: UT_ATTACH_* of the child's engine
 * @control: action that is asked of the child before it runs; UT_RESUME for
 *	none
 * @events: events of the child's engine
 *
 * The child's engine gets this setting too.  Its number is in the CLONE record.
 */
struct ut_follow {
	__u32 id;
	__u32 on;
	__u32 flags;
	__u32 control;
	__u64 events;
};

/**
 * struct ut_record - one callback
 * @seq: number of the record in the session, from 0
 * @id: engine
 * @event: enum ut_event
 * @tid: the task that the callback is about, in the initial pid namespace
 * @tgid: its process
 * @runner: the thread that ran the callback; differs from @tid for REAP and
 *	RELEASE
 * @action: argument action
 * @answer: what the callback returns
 * @nr: system call, signal, type of job control stop, event of QUIESCE
 * @val: by event:
 *	QUIESCE: argument event
 *	CLONE: clone flags, child's tid, child's tgid, its new engine, errno
 *	EXEC: ip, fmt == NULL
 *	EXIT: orig_code, *code
 *	DEATH: group_dead, signal
 *	SYSCALL_ENTRY: arguments
 *	SYSCALL_EXIT: result
 *	signals: si_code, si_pid, orig_ka == NULL, sa_handler of orig_ka,
 *	sa_handler of return_ka
 *	JCTL: notify
 *	VFORK_DONE: child_pid
 *	RETURN: the event of the callback, the result of the last wait
 * @comm: name of @tid
 */
struct ut_record {
	__u64 seq;
	__u32 id;
	__u32 event;
	__s32 tid;
	__s32 tgid;
	__s32 runner;
	__u32 action;
	__u32 answer;
	__s32 nr;
	__s64 val[6];
	char comm[16];
};

/**
 * struct ut_log - UT_IOC_LOG: take records out of the ring
 * @buf: struct ut_record *
 * @max: number of records that fit into @buf
 * @timeout_ms: how long to wait for the first record
 * @n: out: number of records taken
 * @pad: 0
 * @lost: out: records of the session that found the ring full
 * @seq: out: number of the next record; lost records have numbers too
 */
struct ut_log {
	__u64 buf;
	__u32 max;
	__u32 timeout_ms;
	__u32 n;
	__u32 pad;
	__u64 lost;
	__u64 seq;
};

/* UT_IOC_COUNTS: how often each event came, whether logged or not. */
struct ut_counts {
	__u32 id;
	__u32 pad;
	__u64 count[UT_EV_MAX];
};

/* UT_IOC_DETACH; out: @ret is the result of utrace_control(UTRACE_DETACH). */
struct ut_detach {
	__u32 id;
	__s32 ret;
};

#define UT_MAGIC		0xb5
#define UT_IOC_ATTACH		_IOWR(UT_MAGIC, 0, struct ut_attach)
#define UT_IOC_EVENTS		_IOW(UT_MAGIC, 1, struct ut_events)
#define UT_IOC_CONTROL		_IOW(UT_MAGIC, 2, struct ut_control)
#define UT_IOC_BARRIER		_IOW(UT_MAGIC, 3, struct ut_barrier)
#define UT_IOC_FILTER		_IOW(UT_MAGIC, 4, struct ut_filter)
#define UT_IOC_EXAMINE		_IOWR(UT_MAGIC, 5, struct ut_examine)
#define UT_IOC_RULE		_IOW(UT_MAGIC, 6, struct ut_rule)
/* Forget the rules of an engine. */
#define UT_IOC_NORULES		_IOW(UT_MAGIC, 7, __u32)
#define UT_IOC_FOLLOW		_IOW(UT_MAGIC, 8, struct ut_follow)
#define UT_IOC_LOG		_IOWR(UT_MAGIC, 9, struct ut_log)
#define UT_IOC_COUNTS		_IOWR(UT_MAGIC, 10, struct ut_counts)
/* UT_IOC_DETACH is a detach, utrace_barrier_sync() and a put. */
#define UT_IOC_DETACH		_IOWR(UT_MAGIC, 11, struct ut_detach)
/*
 * UT_IOC_DETACH_ALL does so for all engines, and returns the number of engines
 * that were not released by that.
 */
#define UT_IOC_DETACH_ALL	_IO(UT_MAGIC, 12)
/* Open the gate of the session, or close it (0). */
#define UT_IOC_OPEN		_IOW(UT_MAGIC, 13, __u32)
/* UT_IOC_LOST returns utrace_lost_events(). */
#define UT_IOC_LOST		_IO(UT_MAGIC, 14)

#endif /* UTRACE_TEST_IOCTL_H */

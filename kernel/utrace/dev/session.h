/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: what their parts share
 *
 * An open /dev/utrace is a session.  It has one ring, and a target with an
 * engine of its own for each thing that it is attached to.
 *
 * Lock order, outermost first: utrace_session.lock, utrace_change_mutex.
 * task_lock(), session_tasks_lock and session_ring.lock are taken inside these
 * two or alone, and never inside each other; a callback takes no other lock of
 * its session.  utrace_session.read_lock is taken by readers only, who hold no
 * other lock of the session.
 *
 * User memory is read and written under read_lock or without a lock, but never
 * under utrace_session.lock: the page fault may be one that user space serves.
 */
#ifndef _KERNEL_UTRACE_DEV_SESSION_H
#define _KERNEL_UTRACE_DEV_SESSION_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"

struct cred;
struct pid;
struct pid_namespace;
struct task_struct;
struct user_struct;
struct utrace_capture;
struct utrace_engine;
struct utrace_engine_ops;

/*
 * Bytes of a ring by default, and of the largest ring that takes no capability.
 */
#define SESSION_RING_DEFAULT	SZ_1M

/**
 * struct session_ring - records on their way to the reader
 * @lock: serializes writers, which are tasks and never interrupts; no lock is
 *	taken inside it
 * @data: memory of @size bytes; NULL while @size is 0.  Set once, under
 *	utrace_session.lock, before the first target; freed with the session.
 * @user: user who is charged with @data, counted; NULL: none
 * @size: bytes, a power of 2; 0: the ring has no memory yet.  Set with @data.
 * @head: bytes ever written, padding included.  Written under @lock with
 *	release; the reader reads it with acquire.
 * @tail: bytes ever read, padding included.  Written by the reader with
 *	release, under utrace_session.read_lock; writers read it with acquire.
 * @seq: number of the last record, lost ones included.  Under @lock.
 * @missed: records lost since the last UTRACE_REC_LOST.  Under @lock.
 * @lost: records ever lost.  Under @lock.
 * @clock: clock of the records' times.  Set with @data.
 */
struct session_ring {
	spinlock_t lock;	/* serializes writers */
	void *data;
	struct user_struct *user;
	size_t size;
	u64 head;
	u64 tail;
	u64 seq;
	u64 missed;
	u64 lost;
	clockid_t clock;
};

/**
 * struct utrace_session - an open /dev/utrace
 * @ref: one reference for the file, one for each target
 * @cred: credentials of the opener, counted; constant
 * @ns: pid namespace of the opener, counted; records have ids of it.  Constant.
 * @owner: process of the opener, counted; constant
 * @lock: serializes ioctls that change the session; guards @targets, @next_id,
 *	@missed, and the settings from @events to @ncalls
 * @targets: struct session_target.  Under @lock.
 * @next_id: id of the target attached last.  Under @lock.
 * @events: UTRACE_REC_BIT() bits.  Under @lock.
 * @capture: UTRACE_CAPTURE_STRINGS and the like.  Written under @lock,
 *	read by callbacks without a lock.
 * @calls: numbers of the system calls that are recorded; NULL: all.  Under
 *	@lock, which also guards its lifetime.
 * @ncalls: number of elements in @calls.  Under @lock.
 * @missed: events that did not come to the engines of targets detached since.
 *	Under @lock.
 * @hidden: how often a task became hidden from the session
 * @uncaptured: items that records lack, for want of room or memory
 * @read_lock: serializes readers; held while records are copied to user memory
 * @ring: the records
 * @wait: readers that wait for a record
 * @wake: timer that wakes @wait some time after a record, so that the reader
 *	finds more of them.  Armed by callbacks; shut down when the session is
 *	freed.
 */
struct utrace_session {
	struct kref ref;
	const struct cred *cred;
	struct pid_namespace *ns;
	struct pid *owner;
	struct mutex lock;	/* serializes ioctls */
	struct list_head targets;
	u32 next_id;
	u64 events;
	u64 capture;
	int *calls;
	unsigned int ncalls;
	u64 missed;
	atomic64_t hidden;
	atomic64_t uncaptured;
	struct mutex read_lock;	/* serializes readers */
	struct session_ring ring;
	wait_queue_head_t wait;
	struct timer_list wake;
};

/**
 * struct session_target - what a session is attached to
 * @list: entry in utrace_session.targets until it is detached.  Under
 *	utrace_session.lock.
 * @session: the session, counted; constant
 * @cred: credentials of the process that attached, counted; constant
 * @engine: the engine.  The reference is dropped when the target is detached;
 *	used under utrace_session.lock until then.
 * @id: id for UTRACE_IOC_DETACH; constant
 * @scope: with @of, says what the target is; constant
 * @of: the task, or the struct pid of the process; NULL: the system.  The
 *	engine has the reference; it is only compared.
 * @tasks: struct session_task, see rights.c.  Under session_tasks_lock.
 * @all: the target is the system.  The session may trace everybody, so no task
 *	is asked about.  Constant.
 *
 * The target is the data of its engine, whose ->release() frees it: not before
 * the last callback has returned.
 */
struct session_target {
	struct list_head list;
	struct utrace_session *session;
	const struct cred *cred;
	struct utrace_engine *engine;
	u32 id;
	enum utrace_scope scope;
	const void *of;
	struct list_head tasks;
	bool all;
};

/* utrace_dev.c */
extern int utrace_dev_unprivileged;
u64 utrace_dev_records(void);
unsigned long utrace_dev_engine_events(u64 asked);

/* session.c */
struct utrace_session *utrace_dev_new(const struct cred *cred);
void utrace_dev_put(struct utrace_session *session);

/* target.c */
int utrace_dev_attach(struct utrace_session *session,
		      struct utrace_ioc_attach *attach);
int utrace_dev_detach(struct utrace_session *session, u32 id);
int utrace_dev_set_events(struct utrace_session *session,
			  const struct utrace_ioc_events *events);
void utrace_dev_detach_all(struct utrace_session *session);

/* rights.c */
bool utrace_dev_sees(struct session_target *target);
bool utrace_dev_may_see(const struct session_target *target);
void utrace_dev_forget_tasks(struct session_target *target);

/* record.c */
void utrace_dev_hide(const struct session_target *target);
extern const struct utrace_engine_ops utrace_dev_ops;

/* ring.c */
int utrace_dev_ring_make(struct session_ring *ring, size_t size,
			 clockid_t clock);
void utrace_dev_ring_free(struct session_ring *ring);
bool utrace_dev_ring_write(struct session_ring *ring,
			   const struct utrace_dev_parts *parts);
bool utrace_dev_ring_has(struct session_ring *ring);
ssize_t utrace_dev_ring_read(struct session_ring *ring, char __user *to,
			     size_t size);

#endif /* _KERNEL_UTRACE_DEV_SESSION_H */

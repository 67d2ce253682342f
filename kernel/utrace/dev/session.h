/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: what their parts share
 *
 * Lock order, outermost first: utrace_session.lock, utrace_change_mutex;
 * utrace_session.read_lock; task_lock(); session_tasks_lock and session_ring.lock,
 * leaves.  Callbacks take the last three only.  User memory is read and written under
 * read_lock, never under utrace_session.lock.
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

struct cred;
struct pid;
struct pid_namespace;
struct task_struct;
struct user_struct;
struct utrace_capture;
struct utrace_engine;
struct utrace_engine_ops;

/* Bytes of a ring if nothing is said, and the most without a capability. */
#define SESSION_RING_DEFAULT	SZ_1M

/**
 * struct session_ring - records on their way to the reader
 * @lock: among writers; taken in tasks only, never in interrupts
 * @data: @size bytes; records do not wrap, UTRACE_REC_PAD fills what is left
 * @user: who is charged with @data, counted; NULL: nobody
 * @size: a power of 2; 0: there is none yet
 * @head: bytes that were ever written; by writers, under @lock
 * @tail: bytes that were ever read; by the reader
 * @seq: number of the last record, under @lock
 * @missed: records that were lost and not yet told of, under @lock
 * @lost: records that were ever lost, under @lock
 * @clock: enum utrace_clock
 */
struct session_ring {
	spinlock_t lock;	/* a leaf */
	void *data;
	struct user_struct *user;
	size_t size;
	u64 head;
	u64 tail;
	u64 seq;
	u64 missed;
	u64 lost;
	enum utrace_clock clock;
};

/* What a record begins with and what follows, both of any length. */
struct session_parts {
	struct utrace_rec *head;
	size_t head_size;
	const void *items;
	size_t items_size;
};

/**
 * struct utrace_session - an open /dev/utrace
 * @ref: one for the file, one for each target
 * @cred: of who opened it; counted, never changes
 * @ns: his pid namespace, in which records have their ids; counted
 * @owner: his process; counted
 * @lock: among ioctls; guards @targets, @next_id and the settings below, which
 *	callbacks read as they are at the moment
 * @targets: struct session_target
 * @next_id: of the next target
 * @events: UTRACE_F_EVENT() bits
 * @capture: UTRACE_F_STRINGS and the like
 * @calls: numbers of the system calls that are recorded, NULL for all
 * @ncalls: how many
 * @missed: events that did not come to the engines of targets of before, under @lock
 * @hidden: how often a task was hidden from it
 * @uncaptured: items that records are without, for want of room or memory
 * @read_lock: among readers
 * @ring: the records
 * @wait: readers
 * @wake: wakes them a little after the first record that they wait for, so that
 *	there are more by then
 */
struct utrace_session {
	struct kref ref;
	const struct cred *cred;
	struct pid_namespace *ns;
	struct pid *owner;
	struct mutex lock;	/* among ioctls */
	struct list_head targets;
	u32 next_id;
	u64 events;
	u64 capture;
	int *calls;
	unsigned int ncalls;
	u64 missed;
	atomic64_t hidden;
	atomic64_t uncaptured;
	struct mutex read_lock;	/* among readers */
	struct session_ring ring;
	wait_queue_head_t wait;
	struct timer_list wake;
};

/**
 * struct session_target - what a session is attached to
 * @list: in utrace_session.targets
 * @session: counted
 * @cred: of who attached; counted, never changes
 * @engine: counted
 * @id: for UTRACE_IOC_DETACH
 * @scope: with @of, what it is
 * @of: the task, or the process's pid; the engine has a reference; to be compared
 *	only
 * @tasks: what is known of tasks, see rights.c
 * @all: the system, with the right to trace everybody
 *
 * Belongs to the engine, whose release() frees it.
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

/* Bytes of the argument of a command, as the kernel knows it, at most. */
#define UTRACE_DEV_ARG_SIZE	128

/**
 * struct utrace_dev_command - an ioctl of /dev/utrace
 * @cmd: as it is now
 * @first: bytes of its structure when it was first published
 * @locked: @run is called with utrace_session.lock
 * @run: does it, with the argument as the kernel knows it; 0 or an error
 * @undo: called if the answer cannot be given to the program; or NULL
 */
struct utrace_dev_command {
	unsigned int cmd;
	unsigned int first;
	bool locked;
	int (*run)(struct utrace_session *session, void *arg);
	void (*undo)(struct utrace_session *session, const void *arg);
};

/* utrace_dev.c */
int utrace_dev_add_commands(const struct utrace_dev_command *command, unsigned int n);
extern int utrace_dev_unprivileged;

/* session.c */
struct utrace_session *utrace_dev_new(const struct cred *cred);
void utrace_dev_put(struct utrace_session *session);

/* target.c */
int utrace_dev_attach(struct utrace_session *session, struct utrace_ioc_attach *attach);
int utrace_dev_detach(struct utrace_session *session, u32 id);
int utrace_dev_set_events(struct utrace_session *session,
			  const struct utrace_ioc_events *events);
void utrace_dev_detach_all(struct utrace_session *session);

/* rights.c */
bool utrace_dev_sees(struct session_target *target);
bool utrace_dev_may_see(const struct session_target *target);
void utrace_dev_forget_tasks(struct session_target *target);

/* record.c */
unsigned long utrace_dev_engine_events(u64 events);
void utrace_dev_hide(const struct session_target *target);
extern const struct utrace_engine_ops utrace_dev_ops;

/* ring.c */
int utrace_dev_ring_make(struct session_ring *ring, size_t size, enum utrace_clock clock);
void utrace_dev_ring_free(struct session_ring *ring);
bool utrace_dev_ring_write(struct session_ring *ring, const struct session_parts *parts);
bool utrace_dev_ring_has(struct session_ring *ring);
ssize_t utrace_dev_ring_read(struct session_ring *ring, char __user *to, size_t size);

#endif /* _KERNEL_UTRACE_DEV_SESSION_H */

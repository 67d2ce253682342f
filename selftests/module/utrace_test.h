/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - types that the two halves of the test module share
 *
 * device.c has the ioctls of user space, callbacks.c what traced tasks run.  An
 * open file of the device is a session; it owns engines and a ring of records.
 */
#ifndef UTRACE_TEST_H
#define UTRACE_TEST_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/utrace.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "utrace_test_ioctl.h"

/* The most unread records of a session; a power of two. */
#define UT_RING		8192
/*
 * These places of the ring are kept for RELEASE, so that no other event makes
 * the log lose a RELEASE.
 */
#define UT_RING_SPARE	64

/* One open file.  The file has a reference, and every ut_engine has one. */
struct ut_session {
	struct kref		kref;
	/* Engines that ut_engine_free() has not freed. */
	atomic_t		live;
	struct xarray		engines;	/* id -> utrace_engine */
	u32			next_id;	/* no id is given twice */
	bool			open;		/* the gate, see UT_IOC_OPEN */
	wait_queue_head_t	wait;
	spinlock_t		lock;		/* protects the members below */
	struct ut_record	*ring;		/* NULL once closed */
	unsigned int		head;
	unsigned int		tail;
	u64			seq;
	u64			lost;
};

/* The data of one engine. */
struct ut_engine {
	struct ut_session	*session;
	struct task_struct	*task;		/* counted */
	u32			id;
	u32			flags;
	u32			ops;
	u32			nolog;
	spinlock_t		lock;		/* protects rules and follow */
	struct list_head	rules;
	struct ut_follow	follow;
	struct xarray		wants;		/* tid -> action */
	atomic64_t		count[UT_EV_MAX];
};

struct ut_rule_node {
	struct list_head	node;
	struct ut_rule		rule;
};

/* callbacks.c */
extern const struct utrace_engine_ops *const ut_ops[3];

/* device.c */
struct utrace_engine *ut_engine_attach(struct ut_session *session,
				       struct task_struct *task,
				       const struct ut_attach *arg, u32 *id);
void ut_engine_free(struct ut_engine *e);
struct utrace_engine *ut_engine_find(struct ut_session *session, u32 id);
void ut_log(struct ut_engine *e, struct ut_record *rec);

#endif /* UTRACE_TEST_H */

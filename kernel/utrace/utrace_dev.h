/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - /dev/utrace: the interface for clients
 *
 * A client may add commands (ioctls) and records to the sessions of
 * /dev/utrace.  Its commands are in the table of utrace_dev.c.  The functions
 * below give clients the targets of a session and check what the session may
 * trace.
 */
#ifndef _KERNEL_UTRACE_UTRACE_DEV_H
#define _KERNEL_UTRACE_UTRACE_DEV_H

#include <linux/fs.h>
#include <linux/types.h>

struct cred;
struct marker_owner;
struct marker_type;
struct pid;
struct pid_namespace;
struct task_struct;
struct utrace_engine;
struct utrace_rows;
struct utrace_session;
struct utrace_where;
struct utrace_viewer;
struct xarray;

/* Bytes of the largest argument of a command, as this kernel knows it. */
#define UTRACE_DEV_ARG_SIZE	256

/* Bytes of the largest record, items included. */
#define UTRACE_DEV_RECORD_SIZE	15872

/**
 * struct utrace_dev_arming - a target, for clients that arm something for it
 * @engine: its engine
 * @viewer: whose rights to see its tasks are checked
 * @scope: enum utrace_scope
 * @process: the process of %UTRACE_SCOPE_PROCESS and _TREE; else NULL
 * @owner: the client's state for everything armed for the target, until
 *	&utrace_dev_owner_ops.end; NULL: nothing was armed yet
 * @ops: functions of @owner; may be NULL if @owner is NULL
 */
struct utrace_dev_arming {
	struct utrace_engine *engine;
	struct utrace_viewer *viewer;
	u32 scope;
	struct pid *process;
	struct marker_owner *owner;
	const struct utrace_dev_owner_ops *ops;
};

/**
 * struct utrace_dev_owner_ops - functions of &utrace_dev_arming.owner
 * @count: count what the owner has armed, for fdinfo; utrace_session.lock is
 *	held
 * @end: disarm all that the owner has armed, and drop the target's reference to
 *	it.  Called without locks; may wait for processes.  Returns 0, or -EINTR
 *	if @killable is set and the caller is killed: the owner stays
 */
struct utrace_dev_owner_ops {
	unsigned int (*count)(const struct marker_owner *owner);
	int (*end)(struct utrace_session *session, struct marker_owner *owner,
		   bool killable);
};

/* dev/user.c */
int utrace_dev_check_size(unsigned int first, unsigned int size);
int utrace_dev_get_struct(void *copy, unsigned int known, unsigned int first,
			  const void __user *user, unsigned int size);
int utrace_dev_put_struct(void __user *user, unsigned int size,
			  const void *copy, unsigned int known);
int utrace_dev_check_rows(const struct utrace_rows *rows, unsigned int first);
int utrace_dev_put_rows(const struct utrace_rows *rows, unsigned int at,
			const void *elements, unsigned int n, size_t known);

/* Commands of clients: branch/file.c, marker/armed.c. */
int utrace_branch_file_make(struct utrace_session *session, void *arg);
int utrace_marker_ioc_arm(struct utrace_session *session, void *data);
void utrace_marker_undo_arm(struct utrace_session *session, const void *data);
int utrace_marker_ioc_disarm(struct utrace_session *session, void *data);
int utrace_marker_ioc_list(struct utrace_session *session, void *data);
int utrace_marker_ioc_hits(struct utrace_session *session, void *data);

#ifdef CONFIG_UTRACE_BTS
u32 utrace_branch_sources(void);
#else
static inline u32 utrace_branch_sources(void)
{
	return 0;
}
#endif

#ifdef CONFIG_UTRACE_MARKERS
u32 utrace_marker_types_here(void);
#else
static inline u32 utrace_marker_types_here(void)
{
	return 0;
}
#endif

/* dev/session.c */
const struct cred *utrace_dev_cred(const struct utrace_session *session);
struct pid_namespace *utrace_dev_ns(const struct utrace_session *session);
struct xarray *utrace_dev_ids(struct utrace_session *session);
int utrace_dev_new_id(struct utrace_session *session, u32 *id);

/* dev/target.c */
typedef struct marker_owner *(*utrace_arm_fn)(struct utrace_session *session,
					      struct utrace_dev_arming *target,
					      const struct marker_type *type);
struct task_struct *utrace_dev_task_of(int fd);
bool utrace_dev_where_is_valid(const struct utrace_where *where);
struct marker_owner *utrace_dev_with_target(struct utrace_session *session,
					    u32 id, utrace_arm_fn fn,
					    const struct marker_type *type);
void utrace_dev_notify_change(struct utrace_engine *engine);
void utrace_dev_know_change(struct utrace_engine *engine);

/* dev/record.c */
bool utrace_dev_sees_current(struct utrace_engine *engine);
bool utrace_dev_record(struct utrace_engine *engine, u16 type, const void *body,
		       size_t size);
void utrace_dev_lose(struct utrace_engine *engine);
bool utrace_dev_knows_current(const struct utrace_engine *engine);
bool utrace_dev_record_now(const struct utrace_engine *engine, u16 type,
			   const void *body, size_t size);

#endif /* _KERNEL_UTRACE_UTRACE_DEV_H */

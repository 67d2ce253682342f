/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - /dev/utrace: what clients add to it
 *
 * A client may have commands (ioctls) and records of its own in the sessions of
 * /dev/utrace.  Its commands are in the table of utrace_dev.c.  The device tells
 * its clients what a session may trace.
 */
#ifndef _KERNEL_UTRACE_UTRACE_DEV_H
#define _KERNEL_UTRACE_UTRACE_DEV_H

#include <linux/fs.h>
#include <linux/types.h>

struct cred;
struct pid_namespace;
struct task_struct;
struct utrace_engine;
struct utrace_rows;
struct utrace_session;

/* Bytes of the largest argument of a command, as this kernel knows it. */
#define UTRACE_DEV_ARG_SIZE	256

/* Bytes of the largest record, items included. */
#define UTRACE_DEV_RECORD_SIZE	15872

/* utrace_dev.c */
int utrace_dev_get_arg(void *copy, unsigned int known, unsigned int first,
		       unsigned int cmd, const void __user *user);
int utrace_dev_put_arg(unsigned int cmd, void __user *user, const void *copy,
		       unsigned int known);
int utrace_dev_check_rows(const struct utrace_rows *rows, unsigned int first);
int utrace_dev_put_rows(const struct utrace_rows *rows, unsigned int at,
			const void *elements, unsigned int n, size_t known);

/* The commands of other clients. */
int utrace_bts_file_make(struct utrace_session *session, void *arg);
int utrace_marker_file_make(struct utrace_session *session, void *arg);

/* dev/session.c */
const struct cred *utrace_dev_cred(const struct utrace_session *session);
struct pid_namespace *utrace_dev_ns(const struct utrace_session *session);

/* dev/target.c */
struct task_struct *utrace_dev_task_of(int fd);

struct utrace_engine *utrace_dev_target_engine(struct utrace_session *session,
					       u32 id);
struct utrace_engine *utrace_dev_system_target(struct utrace_session *session,
					       u32 id);

/* dev/record.c */
bool utrace_dev_sees_current(struct utrace_engine *engine);
bool utrace_dev_record(struct utrace_engine *engine, u16 type, const void *body,
		       size_t size);
void utrace_dev_lose(struct utrace_engine *engine);
bool utrace_dev_knows_current(const struct utrace_engine *engine);
bool utrace_dev_record_now(const struct utrace_engine *engine, u16 type,
			   const void *body, size_t size);

#endif /* _KERNEL_UTRACE_UTRACE_DEV_H */

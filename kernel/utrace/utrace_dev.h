/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - /dev/utrace: what clients add to it
 *
 * A client may have commands (ioctls) and records of its own in the sessions of
 * /dev/utrace.  The client registers them at boot, so that the device knows no
 * client.  The device tells its clients what a session may trace.
 */
#ifndef _KERNEL_UTRACE_UTRACE_DEV_H
#define _KERNEL_UTRACE_UTRACE_DEV_H

#include <linux/fs.h>
#include <linux/types.h>

struct cred;
struct pid_namespace;
struct task_struct;
struct utrace_engine;
struct utrace_session;

/* Bytes of the largest argument of a command, as this kernel knows it. */
#define UTRACE_DEV_ARG_SIZE	256

/* Bytes of the largest record, items included. */
#define UTRACE_DEV_RECORD_SIZE	15872

/**
 * struct utrace_dev_command - an ioctl of /dev/utrace
 * @cmd: number of the ioctl, with the present size of its argument
 * @first: bytes of the argument when the command was first published; programs
 *	may pass that size or more
 * @locked: call @run with utrace_session.lock held.  Such a @run must not touch
 *	user memory, whose page faults user space may hold up
 * @run: carry the command out.  Its argument is a copy in kernel memory, which
 *	is copied back if @cmd says so and it returns 0.  @session is valid
 *	until @run returns.  Returns an error or what the ioctl is to return.
 * @undo: called without a lock if the argument cannot be copied back; may be
 *	NULL
 *
 * Constant.
 */
struct utrace_dev_command {
	unsigned int cmd;
	unsigned int first;
	bool locked;
	int (*run)(struct utrace_session *session, void *arg);
	void (*undo)(struct utrace_session *session, const void *arg);
};

/**
 * struct utrace_dev_record - a type of records that sessions may ask for
 * @type: enum utrace_rec_type
 * @events: UTRACE_EVENT() bits that the engine of a target must report while
 *	the session asks for these records.  Neither DEATH nor QUIESCE, which
 *	utrace_set_events() refuses for a task that is dead already, and no
 *	event of another type: the callbacks in dev/events.c write a record of
 *	their type for each event that they are told of.  0: the client has an
 *	engine of its own.
 *
 * Constant.
 */
struct utrace_dev_record {
	u16 type;
	unsigned long events;
};

/* utrace_dev.c */
int utrace_dev_add_commands(const struct utrace_dev_command *command,
			    unsigned int n);
int utrace_dev_add_records(const struct utrace_dev_record *record,
			   unsigned int n);
int utrace_dev_get_arg(const struct utrace_dev_command *command,
		       unsigned int cmd, const void __user *user, void *copy);
int utrace_dev_put_arg(const struct utrace_dev_command *command,
		       unsigned int cmd, void __user *user, const void *copy);

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

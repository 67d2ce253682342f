/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - markers and user_events for modules
 *
 * A client arms markers in a process or a tree, and is called at each hit.  The
 * rules of <linux/utrace_marker.h> apply, except that the rights of a module
 * are not checked.
 */
#ifndef _LINUX_UTRACE_MARKERS_H
#define _LINUX_UTRACE_MARKERS_H

#include <linux/types.h>
#include <uapi/linux/utrace_marker.h>

struct file;
struct marker_owner;
struct pt_regs;
struct task_struct;

/**
 * struct utrace_marker_hit - a hit of a marker
 * @cookie: see struct utrace_ioc_arm
 * @ip: address of the marker; for %UTRACE_MARKER_F_RETURN, of the function
 * @nargs: number of elements of @args that are used
 * @args_offset: offset of @args in the record of a hit, see
 *	struct utrace_rec_marker
 * @faulted: bit n: argument n could not be read without waiting, and is 0
 * @args: the arguments, extended to 64 bits
 */
struct utrace_marker_hit {
	u64 cookie;
	u64 ip;
	u16 nargs;
	u16 args_offset;
	u32 faulted;
	u64 args[UTRACE_MARKER_ARGS];
};

/**
 * struct utrace_user_write - a write of a user_event
 * @cookie: see struct utrace_ioc_arm
 * @size: bytes that the task has written, without the index of the event
 * @copied: number of these bytes that are in @data
 * @data: the bytes
 */
struct utrace_user_write {
	u64 cookie;
	u32 size;
	u32 copied;
	const void *data;
};

/**
 * struct utrace_markers_ops - callbacks of a client
 * @hit: the current task has hit a marker.  Called in the trap of the
 *	breakpoint, with the registers there; not called for
 *	%UTRACE_ARM_F_COUNT.  May fault, but must not wait for user space: all
 *	probes of the machine wait for the end of this call.  Must call no
 *	function of this file, since some wait for callbacks.  May call
 *	utrace_control() for the current task, which then reports or stops
 *	before it runs user code again.  May be NULL
 * @missed: the current task has entered a function whose return will not be
 *	seen.  The marker has %UTRACE_MARKER_F_RETURN and this cookie; see
 *	&utrace_hit_count.missed.  The rules are those of @hit.  May be NULL
 * @written: the current task has written a user_event, in write(2).  May sleep.
 *	May call utrace_control() for the current task.  May be NULL
 *
 * The structure must not change while it is in use.
 */
struct utrace_markers_ops {
	void (*hit)(void *data, const struct utrace_marker_hit *hit,
		    struct pt_regs *regs);
	void (*missed)(void *data, u64 cookie);
	void (*written)(void *data, const struct utrace_user_write *write);
};

struct marker_owner *
utrace_markers_attach(struct task_struct *task, bool follow,
		      const struct utrace_markers_ops *ops, void *data);
int utrace_markers_arm(struct marker_owner *markers, struct file *file,
		       const struct utrace_marker *site, u64 cookie, u32 flags);
int utrace_markers_disarm(struct marker_owner *markers, struct file *file,
			  const struct utrace_marker *site);
int utrace_markers_arm_user_event(struct marker_owner *markers,
				  const char *name, u64 cookie, u32 flags);
int utrace_markers_disarm_user_event(struct marker_owner *markers,
				     const char *name);
void utrace_markers_detach(struct marker_owner *markers);

#endif /* _LINUX_UTRACE_MARKERS_H */

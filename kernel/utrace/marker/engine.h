/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: engines of owners */
#ifndef _KERNEL_UTRACE_MARKER_ENGINE_H
#define _KERNEL_UTRACE_MARKER_ENGINE_H

#include <linux/types.h>

struct marker_owner;
struct task_struct;
struct utrace_dev_arming;
struct utrace_engine_ops;
struct utrace_markers_ops;
struct utrace_session;

extern const struct utrace_engine_ops utrace_marker_kernel_ops;

struct marker_owner *
utrace_marker_owner_new(struct utrace_session *session,
			const struct utrace_dev_arming *target,
			struct task_struct *task);
struct marker_owner *utrace_marker_owner_of_kernel(void);
struct marker_owner *
utrace_marker_owner_of_system(struct utrace_session *session,
			      const struct utrace_dev_arming *target);
struct marker_owner *
utrace_marker_owner_of_client(struct task_struct *task, bool follow,
			      const struct utrace_markers_ops *client,
			      void *data);

#endif /* _KERNEL_UTRACE_MARKER_ENGINE_H */

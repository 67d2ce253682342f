/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: user_events of processes */
#ifndef _KERNEL_UTRACE_MARKER_USER_EVENT_H
#define _KERNEL_UTRACE_MARKER_USER_EVENT_H

#include <linux/err.h>

struct marker_event;
struct marker_owner;
struct marker_request;

#ifdef CONFIG_USER_EVENTS

int utrace_marker_arm_name(struct marker_owner *owner,
			   struct marker_event *event);
struct marker_event *
utrace_marker_name_arm(struct marker_owner *owner,
		       const struct marker_request *request, const char *name);
int utrace_marker_name_disarm(struct marker_owner *owner, const char *name);

#else

static inline int utrace_marker_arm_name(struct marker_owner *owner,
					 struct marker_event *event)
{
	return 0;
}

static inline struct marker_event *
utrace_marker_name_arm(struct marker_owner *owner,
		       const struct marker_request *request, const char *name)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int utrace_marker_name_disarm(struct marker_owner *owner,
					    const char *name)
{
	return -EOPNOTSUPP;
}

#endif

#endif /* _KERNEL_UTRACE_MARKER_USER_EVENT_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: arming SDT markers and other places of a file */
#ifndef _KERNEL_UTRACE_MARKER_ARM_H
#define _KERNEL_UTRACE_MARKER_ARM_H

#include <linux/err.h>

struct file;
struct marker_event;
struct marker_owner;
struct marker_request;
struct utrace_marker;

#ifdef CONFIG_UTRACE_SITES

struct marker_event *
utrace_marker_site_arm(struct marker_owner *owner,
		       const struct marker_request *request,
		       const struct utrace_marker *arg, struct file *file);
int utrace_marker_site_disarm(struct marker_owner *owner,
			      const struct utrace_marker *arg,
			      struct file *file);

#else

static inline struct marker_event *
utrace_marker_site_arm(struct marker_owner *owner,
		       const struct marker_request *request,
		       const struct utrace_marker *arg, struct file *file)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int utrace_marker_site_disarm(struct marker_owner *owner,
					    const struct utrace_marker *arg,
					    struct file *file)
{
	return -ENOENT;
}

#endif

#endif /* _KERNEL_UTRACE_MARKER_ARM_H */

/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: delivery of hits of sites */
#ifndef _KERNEL_UTRACE_MARKER_HIT_H
#define _KERNEL_UTRACE_MARKER_HIT_H

#include <linux/uprobes.h>

extern const struct uprobe_consumer utrace_marker_consumers[2][2];

#endif /* _KERNEL_UTRACE_MARKER_HIT_H */

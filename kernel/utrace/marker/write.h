/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: writing words */
#ifndef _KERNEL_UTRACE_MARKER_WRITE_H
#define _KERNEL_UTRACE_MARKER_WRITE_H

#include <linux/types.h>

struct marker_mm;
struct marker_owner;

void utrace_marker_settle(struct marker_mm *memory);
void utrace_marker_settle_for(struct marker_mm *memory,
			      struct marker_owner *owner, bool unseen,
			      bool sites);
int utrace_marker_settle_child(struct marker_mm *memory);
void utrace_marker_settle_words(struct marker_mm *memory,
				struct marker_owner *owner, bool unseen,
				bool sites);

#endif /* _KERNEL_UTRACE_MARKER_WRITE_H */

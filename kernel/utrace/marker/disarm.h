/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: disarming in all processes of an owner */
#ifndef _KERNEL_UTRACE_MARKER_DISARM_H
#define _KERNEL_UTRACE_MARKER_DISARM_H

struct marker_event;
struct marker_owner;
struct marker_place;

int utrace_marker_disarm(struct marker_owner *owner,
			 const struct marker_place *place);
void utrace_marker_event_end(struct marker_owner *owner,
			     struct marker_event *event);
void utrace_marker_disarm_all(struct marker_owner *owner);

#endif /* _KERNEL_UTRACE_MARKER_DISARM_H */

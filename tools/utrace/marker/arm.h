/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - arm markers in a process
 */
#ifndef UTRACE_MARKER_ARM_H
#define UTRACE_MARKER_ARM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct marker_set;

/**
 * struct marker_arming - markers that are armed
 * @session: descriptor of the session of /dev/utrace
 * @target: id of the target that they are armed for
 * @count: hits are counted and not recorded
 * @histogram: number of the argument, from 1, whose values the kernel counts; 0
 *	for none.  Writes of user_events are recorded, and this command counts
 *	their values
 */
struct marker_arming {
	int session;
	unsigned int target;
	bool count;
	unsigned int histogram;
};

void marker_attach(struct marker_arming *arming, pid_t pid, bool follow);
void marker_attach_all(struct marker_arming *arming);
size_t marker_arm(struct marker_arming *arming, struct marker_set *set);
void marker_look_at_words(const struct marker_arming *arming);
void marker_read_hits(struct marker_arming *arming, struct marker_set *set);

#endif /* UTRACE_MARKER_ARM_H */

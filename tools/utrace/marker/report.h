/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - print hits, counts and histograms of markers
 */
#ifndef UTRACE_MARKER_REPORT_H
#define UTRACE_MARKER_REPORT_H

#include <stdbool.h>

#include <linux/types.h>

struct marker_set;
struct out;
struct utrace_rec_marker;
struct utrace_rec_user_event;

int markers_name_width(const struct marker_set *set);
void markers_print_hit(struct out *out, const struct marker_set *set,
		       const struct utrace_rec_marker *rec, __u64 time,
		       int width);
void markers_print_user_event(struct out *out, struct marker_set *set,
			      const struct utrace_rec_user_event *rec,
			      __u64 time, int width);
void markers_add_user_event(struct marker_set *set,
			    const struct utrace_rec_user_event *rec,
			    unsigned int n);
void markers_print_counts(struct out *out, const struct marker_set *set);
void markers_print_histograms(struct out *out, const struct marker_set *set,
			      unsigned int n);

#endif /* UTRACE_MARKER_REPORT_H */

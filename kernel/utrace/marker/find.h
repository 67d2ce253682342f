/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: look-up of words and of owners' shares */
#ifndef _KERNEL_UTRACE_MARKER_FIND_H
#define _KERNEL_UTRACE_MARKER_FIND_H

#include <linux/types.h>

struct marker_event;
struct marker_mm;
struct marker_owner;
struct marker_place;
struct marker_share;
struct marker_word;

/**
 * enum marker_tree - which words utrace_marker_visit() visits
 * @MARKER_ALL: all words
 * @MARKER_DIRTY: those in marker_mm.dirty
 */
enum marker_tree {
	MARKER_ALL,
	MARKER_DIRTY,
};

struct marker_word *utrace_marker_from(const struct marker_mm *memory,
				       unsigned long addr);
bool utrace_marker_visit(struct marker_mm *memory, enum marker_tree tree,
			 const struct marker_place *from, unsigned long last,
			 bool (*fn)(struct marker_mm *memory,
				    struct marker_word *word, void *arg),
			 void *arg);
void utrace_marker_touch(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_untouch(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_insert(struct marker_mm *memory, struct marker_word *word);
void utrace_marker_erase(struct marker_mm *memory, struct marker_word *word);
struct marker_word *utrace_marker_find(const struct marker_mm *memory,
				       const struct marker_place *place);
struct marker_share *utrace_marker_find_share(const struct marker_word *word,
					      const struct marker_owner *owner);
struct marker_share *utrace_marker_share_at(const struct marker_mm *memory,
					    const struct marker_owner *owner,
					    const struct marker_place *place);
void utrace_marker_index(struct marker_share *share);
void utrace_marker_unindex(struct marker_share *share);
struct marker_share *utrace_marker_next_of(const struct marker_mm *memory,
					   const void *user_event,
					   const struct marker_event *last);

#endif /* _KERNEL_UTRACE_MARKER_FIND_H */

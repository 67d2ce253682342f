/* SPDX-License-Identifier: GPL-2.0 */
/* utrace - markers: words, and the shares that owners have of them */
#ifndef _KERNEL_UTRACE_MARKER_WORD_H
#define _KERNEL_UTRACE_MARKER_WORD_H

#include <linux/list.h>
#include <linux/types.h>

struct marker_mm;
struct marker_owner;
struct marker_place;
struct marker_share;

/**
 * struct marker_stock - words and shares that are allocated before locks are
 * taken
 * @words: struct marker_word
 * @shares: struct marker_share
 * @nwords: number of elements of @words
 * @nshares: number of elements of @shares
 * @need: number of shares of the next word that fork(2) is to copy
 */
struct marker_stock {
	struct list_head words;
	struct list_head shares;
	unsigned int nwords;
	unsigned int nshares;
	unsigned int need;
};

#define MARKER_STOCK_INIT(stock)				\
	{							\
		.words = LIST_HEAD_INIT((stock).words),		\
		.shares = LIST_HEAD_INIT((stock).shares),	\
	}

int utrace_marker_stock_fill(struct marker_stock *stock, unsigned int nwords,
			     unsigned int nshares);
void utrace_marker_stock_free(struct marker_stock *stock);
u32 utrace_marker_state(const struct marker_share *share, int *error);
int utrace_marker_want(struct marker_mm *memory, struct marker_owner *owner,
		       const struct marker_place *place);
int utrace_marker_want_from(struct marker_stock *stock,
			    struct marker_mm *memory,
			    struct marker_owner *owner,
			    const struct marker_place *place);
bool utrace_marker_matches(const struct marker_share *share,
			   const struct marker_place *place);
void utrace_marker_leave_share(struct marker_share *share);
void utrace_marker_leave(struct marker_mm *memory, struct marker_owner *owner,
			 const struct marker_place *place);
void utrace_marker_abandon(struct marker_mm *memory, struct marker_owner *owner,
			   const struct marker_place *place);
void utrace_marker_clean(struct marker_mm *memory, struct list_head *gone);
void utrace_marker_free(struct list_head *gone);
void utrace_marker_drop(struct marker_mm *memory);
bool utrace_marker_inherit(struct marker_mm *parent, struct marker_mm *child,
			   struct marker_place *from, struct marker_stock *stock);

#endif /* _KERNEL_UTRACE_MARKER_WORD_H */

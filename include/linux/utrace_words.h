/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - bits that the kernel itself sets in the memory of processes
 *
 * Some parts of the kernel, for example user_events, let programs test a bit in
 * their memory.  The engine of markers sets and clears the bit: at once if its
 * page is in memory, otherwise in a thread of the process before the thread
 * runs user code again.  Tracers may set the same bit: it stays set while any
 * user wants it.
 */
#ifndef _LINUX_UTRACE_WORDS_H
#define _LINUX_UTRACE_WORDS_H

#include <linux/jump_label_ratelimit.h>
#include <linux/types.h>

struct iov_iter;
struct marker_owner;
struct mm_struct;
struct pid;

/**
 * struct utrace_bit - a bit in the memory of a process
 * @addr: address of the word, a multiple of @size
 * @size: bytes of the word, 4 or 8
 * @bit: number of the bit, the lowest being 0
 */
struct utrace_bit {
	unsigned long addr;
	u8 size;
	u8 bit;
};

/**
 * enum utrace_bit_state - state of a bit
 * @UTRACE_BIT_OFF: no user wants the bit
 * @UTRACE_BIT_SET: the bit is set in memory
 * @UTRACE_BIT_PENDING: a thread sets the bit before it runs user code again
 * @UTRACE_BIT_FAILED: the bit cannot be set
 */
enum utrace_bit_state {
	UTRACE_BIT_OFF,
	UTRACE_BIT_SET,
	UTRACE_BIT_PENDING,
	UTRACE_BIT_FAILED,
};

#ifdef CONFIG_UTRACE_MARKERS

struct marker_owner *utrace_words_new(void);
struct marker_owner *utrace_words_get(struct marker_owner *words);
void utrace_words_put(struct marker_owner *words);
void utrace_words_want(struct marker_owner *words, struct mm_struct *mm,
		       struct pid *pid, const struct utrace_bit *bit, bool on);
void utrace_words_leave(struct marker_owner *words, struct mm_struct *mm);
void utrace_words_abandon(struct marker_owner *words, struct mm_struct *mm,
			  const struct utrace_bit *bit);
void utrace_words_settle(struct marker_owner *words, struct mm_struct *mm);
void utrace_words_write(struct marker_owner *words, struct mm_struct *mm);
void utrace_words_ask(struct marker_owner *words);
int utrace_words_reset(const struct utrace_bit *bit, bool clear);
enum utrace_bit_state utrace_words_state(struct marker_owner *words,
					 struct mm_struct *mm,
					 const struct utrace_bit *bit,
					 int *error);

#else

static inline struct marker_owner *utrace_words_new(void)
{
	return NULL;
}

static inline struct marker_owner *utrace_words_get(struct marker_owner *words)
{
	return words;
}

static inline void utrace_words_put(struct marker_owner *words) { }

static inline void utrace_words_want(struct marker_owner *words,
				     struct mm_struct *mm, struct pid *pid,
				     const struct utrace_bit *bit, bool on) { }

static inline void utrace_words_leave(struct marker_owner *words,
				      struct mm_struct *mm) { }
static inline void utrace_words_abandon(struct marker_owner *words,
					struct mm_struct *mm,
					const struct utrace_bit *bit) { }
static inline void utrace_words_settle(struct marker_owner *words,
				       struct mm_struct *mm) { }
static inline void utrace_words_write(struct marker_owner *words,
				      struct mm_struct *mm) { }
static inline void utrace_words_ask(struct marker_owner *words) { }

static inline int utrace_words_reset(const struct utrace_bit *bit, bool clear)
{
	return 0;
}

static inline enum utrace_bit_state
utrace_words_state(struct marker_owner *words, struct mm_struct *mm,
		   const struct utrace_bit *bit, int *error)
{
	return UTRACE_BIT_OFF;
}

#endif

#if defined(CONFIG_UTRACE_MARKERS) && defined(CONFIG_USER_EVENTS)

extern struct static_key_false_deferred utrace_user_events_used;

int __utrace_user_event_write(const void *event, const struct iov_iter *from);
void __utrace_user_event_registered(struct marker_owner *words);
void __utrace_user_event_left(struct mm_struct *mm, const void *event,
			      const struct utrace_bit *bit);

/*
 * Called when the current task writes @event.  Returns 1 if a tracer wants the
 * event, 0 if none wants it, -EFAULT or -ENOMEM.
 */
static inline int utrace_user_event_write(const void *event,
					  const struct iov_iter *from)
{
	return static_branch_unlikely(&utrace_user_events_used.key) ?
	       __utrace_user_event_write(event, from) : 0;
}

/*
 * Called when the current process has registered an event; @words sets its
 * bits.
 */
static inline void utrace_user_event_registered(struct marker_owner *words)
{
	if (static_branch_unlikely(&utrace_user_events_used.key))
		__utrace_user_event_registered(words);
}

/* Called when @bit of @mm was unregistered from @event. */
static inline void utrace_user_event_left(struct mm_struct *mm,
					  const void *event,
					  const struct utrace_bit *bit)
{
	if (static_branch_unlikely(&utrace_user_events_used.key))
		__utrace_user_event_left(mm, event, bit);
}

#else

static inline int utrace_user_event_write(const void *event,
					  const struct iov_iter *from)
{
	return 0;
}

static inline void utrace_user_event_registered(struct marker_owner *words) { }
static inline void utrace_user_event_left(struct mm_struct *mm,
					  const void *event,
					  const struct utrace_bit *bit) { }

#endif

#endif /* _LINUX_UTRACE_WORDS_H */

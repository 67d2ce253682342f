/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - replacements in user space for the kernel functions that
 * kernel/utrace/branch and kunit/branch use
 *
 * The barriers are as strong as those of the kernel on x86.
 */
#ifndef BENCH_BRANCHES_SHIMS_H
#define BENCH_BRANCHES_SHIMS_H

#include <errno.h>
#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, val)	__atomic_store_n(&(x), val, __ATOMIC_RELAXED)
/* A plain access; its users check what they have read. */
#define data_race(expr)		(expr)
#define cpu_relax()		__builtin_ia32_pause()
/* No later access comes before it: pairs with the release. */
#define smp_load_acquire(p)	__atomic_load_n(p, __ATOMIC_ACQUIRE)
/* No earlier access comes after it: pairs with the acquire. */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* Keeps the order of loads; pairs with smp_wmb(). */
#define smp_rmb()		__atomic_thread_fence(__ATOMIC_ACQUIRE)
/* Keeps the order of stores; pairs with smp_rmb(). */
#define smp_wmb()		__atomic_thread_fence(__ATOMIC_RELEASE)

/* Each argument is evaluated once. */
#define min_t(type, a, b) \
	({ type _a = (a), _b = (b); _a < _b ? _a : _b; })
#define min(a, b) \
	({ __typeof__((a) + (b)) _x = (a), _y = (b); _x < _y ? _x : _y; })
#define max(a, b) \
	({ __typeof__((a) + (b)) _x = (a), _y = (b); _x > _y ? _x : _y; })

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define hweight32(x)		((unsigned int)__builtin_popcount(x))

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define pr_info(...)		printf("# " __VA_ARGS__)

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *list)
{
	return list->next == list;
}

static inline void list_add_tail(struct list_head *entry, struct list_head *list)
{
	entry->next = list;
	entry->prev = list->prev;
	list->prev->next = entry;
	list->prev = entry;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->prev->next = entry->next;
	entry->next->prev = entry->prev;
	INIT_LIST_HEAD(entry);
}

#define list_for_each_entry(pos, head, member)				      \
	for (pos = container_of((head)->next, __typeof__(*pos), member);      \
	     &pos->member != (head);					      \
	     pos = container_of(pos->member.next, __typeof__(*pos), member))

#endif /* BENCH_BRANCHES_SHIMS_H */

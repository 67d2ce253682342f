/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the kernel's functions and macros for kernel/utrace/capture, outside
 * of the kernel
 *
 * Included before each source of the capture, whose own includes of headers of
 * the kernel find empty files.  User memory is that of the stopped task.
 */
#ifndef UTRACE_TESTS_BY_PTRACE_KERNEL_H
#define UTRACE_TESTS_BY_PTRACE_KERNEL_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <linux/types.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/minmax.h>
#include <linux/unaligned.h>

#include "by_ptrace.h"

/* The stack pointer of the task is that of its last stop. */
#define current_pt_regs()	NULL

static inline unsigned long user_stack_pointer(const void *regs)
{
	unsigned long ip, sp, bp;

	traced_registers(&ip, &sp, &bp);
	return sp;
}

/* Compiler and types */
#define __force
#define noinline		__attribute__((noinline))
#define __maybe_unused		__attribute__((unused))
#define __uninitialized
#define likely(x)		(x)
#define unlikely(x)		(x)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, value)	((x) = (value))
#define WARN_ON(c)		(c)
#define BUILD_BUG_ON(c)		static_assert(!(c), #c)
#define sizeof_field(type, member) sizeof(((type *)0)->member)
#define typeof_member(type, member) __typeof__(((type *)0)->member)
#define struct_size(p, member, n) \
	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define flex_array_size(p, member, n) (sizeof((p)->member[0]) * (n))
#define check_add_overflow(a, b, to)	__builtin_add_overflow(a, b, to)
#define check_sub_overflow(a, b, to)	__builtin_sub_overflow(a, b, to)
#define check_mul_overflow(a, b, to)	__builtin_mul_overflow(a, b, to)
#ifndef offsetofend
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof_field(type, member))
#endif

typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef u32 gfp_t;

#define U8_MAX			UINT8_MAX
#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define U64_MAX			UINT64_MAX
#define SZ_1K			1024
#define SZ_4K			4096

#define ALIGN_DOWN(n, a)	((n) & ~((__typeof__(n))(a) - 1))
#define IS_ALIGNED(n, a)	(!((n) & ((__typeof__(n))(a) - 1)))
#define BITS_PER_BYTE		8
#define clamp_t(type, n, low, high) ({					\
	type __n = (n);							\
									\
	__n < (type)(low) ? (type)(low) : __n > (type)(high) ? (type)(high) : __n; \
})
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(n, a)		ALIGN(n, a)
#define round_down(n, a)	ALIGN_DOWN(n, a)
#define array_index_nospec(index, size)	((void)(size), (index))

static inline size_t size_add(size_t a, size_t b)
{
	return __builtin_add_overflow(a, b, &a) ? SIZE_MAX : a;
}

static inline size_t size_mul(size_t a, size_t b)
{
	return __builtin_mul_overflow(a, b, &a) ? SIZE_MAX : a;
}

#define array_size(a, b)	size_mul(a, b)

#define PAGE_SIZE		4096UL
#define PAGE_MASK		(~(PAGE_SIZE - 1))
#define offset_in_page(at)	((unsigned long)(at) & ~PAGE_MASK)

/* Memory of the kernel */
#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define __GFP_NOWARN		0

static inline void *kmalloc(size_t size, gfp_t gfp)
{
	(void)gfp;
	return malloc(size);
}

static inline void *kmalloc_array(size_t n, size_t size, gfp_t gfp)
{
	(void)gfp;
	return calloc(n, size);
}

static inline void kfree(const void *at)
{
	free((void *)at);
}

#define kzalloc(size, gfp)	kmalloc_array(1, size, gfp)
#define kcalloc(n, size, gfp)	kmalloc_array(n, size, gfp)
#define kvmalloc(size, gfp)	kmalloc(size, gfp)
#define kvfree(at)		kfree(at)

/* Memory of the task */
#define u64_to_user_ptr(n)	((void __user *)(uintptr_t)(n))

static inline bool access_ok(const void __user *at, size_t n)
{
	(void)at;
	(void)n;
	return true;
}

static inline unsigned long copy_from_user(void *to, const void __user *from,
					   unsigned long n)
{
	return n - traced_read(to, (unsigned long)from, n);
}

#define get_user(to, at) ({						\
	unsigned long __value = 0;					\
	int __error = copy_from_user(&__value, at, sizeof(*(at))) ?	\
		      -EFAULT : 0;					\
									\
	if (__error)							\
		__value = 0;						\
	(to) = (__typeof__(*(at)))__value;				\
	__error;							\
})

static inline long strncpy_from_user(char *to, const char __user *from, long n)
{
	size_t got = traced_read(to, (unsigned long)from, n);
	size_t len = strnlen(to, got);

	return len == got && (long)got < n ? -EFAULT : (long)len;
}

/* The ABI of the call */
typedef u32 compat_uptr_t;
typedef u32 compat_size_t;
typedef s32 compat_ssize_t;
typedef s32 compat_int_t;
typedef u32 compat_uint_t;
typedef s32 compat_long_t;
typedef u32 compat_ulong_t;
typedef s64 compat_s64;
typedef u64 compat_u64;

struct compat_iovec {
	compat_uptr_t iov_base;
	compat_size_t iov_len;
};

struct compat_msghdr {
	compat_uptr_t msg_name;
	compat_int_t msg_namelen;
	compat_uptr_t msg_iov;
	compat_size_t msg_iovlen;
	compat_uptr_t msg_control;
	compat_size_t msg_controllen;
	compat_uint_t msg_flags;
};

#define compat_ptr(n)		((void __user *)(unsigned long)(n))
#define in_compat_syscall()	(traced.compat)

#endif /* UTRACE_TESTS_BY_PTRACE_KERNEL_H */

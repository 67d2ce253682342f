/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - what kernel/utrace/pin.h takes from the kernel
 */
#ifndef BENCH_PIN_SHIMS_H
#define BENCH_PIN_SHIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/cdefs.h>

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define barrier()		__atomic_signal_fence(__ATOMIC_SEQ_CST)
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, val)	__atomic_store_n(&(x), val, __ATOMIC_RELAXED)
/* The compiler sees a barrier() before it. */
#define data_race(expr)		(expr)
/* What was loaded before a branch is loaded before all after it. */
#define smp_acquire__after_ctrl_dep()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
/* Pairs with a load before smp_acquire__after_ctrl_dep(). */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* On x86 an exchange, as the kernel's own. */
#define smp_store_mb(var, val) \
	((void)__atomic_exchange_n(&(var), val, __ATOMIC_SEQ_CST))
/* A full one. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#include "../../kernel/utrace/pin.h"

#endif /* BENCH_PIN_SHIMS_H */

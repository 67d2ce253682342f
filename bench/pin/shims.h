/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - kernel macros that kernel/utrace/pin.h uses, for user programs
 *
 * The barriers are as strong as those of the kernel on x86.
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
/* A plain access, which pin.h makes after a barrier(). */
#define data_race(expr)		(expr)
/* Orders a load on which a branch depends before all loads after the branch. */
#define smp_acquire__after_ctrl_dep()	__atomic_thread_fence(__ATOMIC_ACQUIRE)
/* Pairs with a load before smp_acquire__after_ctrl_dep(). */
#define smp_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
/* An exchange on x86, as in the kernel. */
#define smp_store_mb(var, val) \
	((void)__atomic_exchange_n(&(var), val, __ATOMIC_SEQ_CST))
/* A full barrier. */
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)

#include "../../kernel/utrace/pin.h"

#endif /* BENCH_PIN_SHIMS_H */

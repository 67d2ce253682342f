/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace bench - a plain copy, built as the filter is
 */
#ifndef BENCH_BRANCHES_COPY_H
#define BENCH_BRANCHES_COPY_H

void bench_copy(void *to, const void *from, size_t size);

#endif /* BENCH_BRANCHES_COPY_H */

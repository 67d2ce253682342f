// SPDX-License-Identifier: GPL-2.0
/*
 * utrace bench - a plain copy, built as the filter is
 */
#include "copy.h"

void bench_copy(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
}

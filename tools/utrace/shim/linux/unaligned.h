/* SPDX-License-Identifier: GPL-2.0 */
#include <string.h>

#include <linux/types.h>

static inline void put_unaligned_be64(__u64 value, void *to)
{
	value = __builtin_bswap64(value);
	memcpy(to, &value, sizeof(value));
}

static inline __u64 get_unaligned_le64(const void *from)
{
	__u64 value;

	memcpy(&value, from, sizeof(value));
	return value;
}

static inline void put_unaligned_le64(__u64 value, void *to)
{
	memcpy(to, &value, sizeof(value));
}

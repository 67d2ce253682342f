/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sets of system calls, as in -e trace=SET
 */
#ifndef UTRACE_FORMAT_CALLS_H
#define UTRACE_FORMAT_CALLS_H

#include <stdbool.h>
#include <linux/types.h>

/* Maximum number of calls in a set, of both tables together. */
#define CALLS_MAX	1024

/**
 * struct calls - a set of system calls
 * @nr: their numbers, those of the 32-bit table last
 * @n: number of @nr
 * @unpacked: those that are made through another call, as connect() through
 *	socketcall(): bits by the number in UTRACE_NR_UNPACKED.  The other call
 *	is in @nr.  Bit 0: also socketcall() and ipc() that stand for no call
 */
struct calls {
	__u32 nr[CALLS_MAX];
	unsigned int n;
	__u64 unpacked;
};

const char *calls_parse(struct calls *calls, const char *set);
bool calls_have(const struct calls *calls, __u32 nr);
const char *call_name(unsigned int nr);

#endif /* UTRACE_FORMAT_CALLS_H */

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

struct calls {
	__u32 nr[CALLS_MAX];
	unsigned int n;
};

const char *calls_parse(struct calls *calls, const char *set);
bool calls_have(const struct calls *calls, __u32 nr);
const char *call_name(unsigned int nr);

#endif /* UTRACE_FORMAT_CALLS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - one copy of each text
 */
#ifndef UTRACE_LIB_INTERN_H
#define UTRACE_LIB_INTERN_H

#include <linux/types.h>

const char *intern(const char *text);
__u64 intern_number(const char *text);

#endif /* UTRACE_LIB_INTERN_H */

/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_UTRACE_H
#define SHIM_LINUX_UTRACE_H

#include <linux/types.h>

#include "../../../../include/uapi/linux/utrace.h"

#define UTRACE_SYSCALL_IA32	UTRACE_NR_IA32

#endif

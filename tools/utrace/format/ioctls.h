/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - numbers of ioctl() as text
 */
#ifndef UTRACE_FORMAT_IOCTLS_H
#define UTRACE_FORMAT_IOCTLS_H

#include <stdbool.h>

#include "decode/table.h"

struct seq_buf;

bool ioctl_has_name(unsigned int number, enum utrace_abi abi);
void ioctl_print(struct seq_buf *s, unsigned int number, enum utrace_abi abi);

#endif /* UTRACE_FORMAT_IOCTLS_H */

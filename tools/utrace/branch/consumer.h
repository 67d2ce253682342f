/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a consumer of branches of /dev/utrace
 */
#ifndef UTRACE_BRANCH_CONSUMER_H
#define UTRACE_BRANCH_CONSUMER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/utrace.h>
#include <linux/utrace_branch.h>

int consumer_open(pid_t pid, const struct utrace_ioc_branches *how);
ssize_t consumer_read(int consumer, struct utrace_branch *records, size_t n);
const char *consumer_why_not(int error);

#endif /* UTRACE_BRANCH_CONSUMER_H */

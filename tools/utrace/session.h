/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a session of /dev/utrace, by system calls
 */
#ifndef UTRACE_SESSION_H
#define UTRACE_SESSION_H

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include <linux/utrace.h>

int session_open(size_t ring_size);
int session_attach(int session, pid_t pid, enum utrace_scope scope);
int session_attach_system(int session);
int session_choose(int session, const struct utrace_ioc_events *events);
unsigned long long session_lost(int session);
const char *session_why_not(int error);

#endif /* UTRACE_SESSION_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a session of /dev/utrace, by system calls
 */
#ifndef UTRACE_DEV_SESSION_H
#define UTRACE_DEV_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <linux/utrace.h>

int session_open(size_t size, bool drop);
int session_attach(int session, pid_t tid, enum utrace_scope scope);
int session_attach_all(int session);
int session_attach_exe(int session, const char *path);
int session_attach_cgroup(int session, const char *path);
int session_choose(int session, const struct utrace_ioc_events *events);
int session_in_flight(int session);
unsigned long long session_lost(int session);
const char *session_why_not(int error);
const char *session_why_not_all(int error);
const char *session_why_not_exe(int error);
const char *session_why_not_cgroup(int error);

#endif /* UTRACE_DEV_SESSION_H */

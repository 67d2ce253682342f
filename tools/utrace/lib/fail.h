/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - failures of the command itself
 */
#ifndef UTRACE_LIB_FAIL_H
#define UTRACE_LIB_FAIL_H

/* Exit statuses, as of env(1) and timeout(1). */
#define STATUS_FAILED		125
#define STATUS_NOT_EXECUTABLE	126
#define STATUS_NOT_FOUND	127

void say(const char *what, const char *why);
void fail(const char *what, const char *why) __attribute__((noreturn));

#endif /* UTRACE_LIB_FAIL_H */

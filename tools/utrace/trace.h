/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the commands run and attach: follow tasks and print what they do
 */
#ifndef UTRACE_TRACE_H
#define UTRACE_TRACE_H

/*
 * Exit statuses for failures of the command itself, as of env(1) and
 * timeout(1).
 */
#define STATUS_FAILED		125
#define STATUS_NOT_EXECUTABLE	126
#define STATUS_NOT_FOUND	127

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);

#endif /* UTRACE_TRACE_H */

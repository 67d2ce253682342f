/* SPDX-License-Identifier: GPL-2.0 */
#ifndef UTRACE_TRACE_H
#define UTRACE_TRACE_H

/* How failures of the command itself end, as with env(1) and timeout(1). */
#define STATUS_FAILED		125
#define STATUS_NOT_EXECUTABLE	126
#define STATUS_NOT_FOUND	127

int cmd_run(int argc, char **argv);
int cmd_attach(int argc, char **argv);

#endif /* UTRACE_TRACE_H */

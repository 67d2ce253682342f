/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - files that may have markers
 */
#ifndef UTRACE_MARKER_FILES_H
#define UTRACE_MARKER_FILES_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Called for each file.  Returns true to keep @fd; the caller closes it
 * otherwise.
 */
typedef bool marker_file_function(const char *path, int fd, void *data);

const char *marker_file_why_not(int error);
bool marker_file_is(const char *mapped, const char *path);
unsigned int marker_files_of_process(pid_t pid, marker_file_function *function,
				     void *data);

#endif /* UTRACE_MARKER_FILES_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - files that processes and files of records name
 */
#ifndef UTRACE_LIB_FILES_H
#define UTRACE_LIB_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include <linux/types.h>

/**
 * struct maps_line - a line of /proc/PID/maps
 * @start: first address
 * @end: first address after it
 * @offset: offset of @start in the file
 * @device: device of the file, 0 for none
 * @inode: number of its inode, 0 for none
 * @is_code: the memory can be executed
 * @path: path of the file, "[vdso]" or the like, or ""; in the line
 */
struct maps_line {
	__u64 start;
	__u64 end;
	__u64 offset;
	__u64 device;
	__u64 inode;
	bool is_code;
	const char *path;
};

bool maps_parse(struct maps_line *maps, char *line);
int file_open(const char *path);
int file_open_mapped(pid_t pid, const struct maps_line *maps);
const char *file_why_not(int error);

#endif /* UTRACE_LIB_FILES_H */

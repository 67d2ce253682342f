/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a buffer of text that is written in large pieces
 */
#ifndef UTRACE_LIB_OUT_H
#define UTRACE_LIB_OUT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct out - a buffer of text for a descriptor
 * @fd: descriptor that the text is written to; owned by the caller; -1 with
 *	@path
 * @path: file that is opened for each write, so that any number of files may be
 *	in use; NULL with @fd
 * @error: errno of the first write that failed, 0 for none
 * @buffer: the text that is not written yet; allocated on demand
 * @size: size of @buffer in bytes
 * @len: bytes of text in @buffer
 */
struct out {
	int fd;
	char *path;
	int error;
	char *buffer;
	size_t size;
	size_t len;
};

void out_begin(struct out *out, int fd);
void out_begin_file(struct out *out, char *path, bool append);
char *out_room(struct out *out, size_t size);
void out_add(struct out *out, size_t len);
void out_flush(struct out *out);
int out_failed(const struct out *out);
void out_end(struct out *out);

#endif /* UTRACE_LIB_OUT_H */

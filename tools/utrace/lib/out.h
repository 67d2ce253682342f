/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - a buffer of text that is written in large pieces
 */
#ifndef UTRACE_LIB_OUT_H
#define UTRACE_LIB_OUT_H

#include <stddef.h>

/**
 * struct out - a buffer of text for a descriptor
 * @fd: descriptor that the text is written to; owned by the caller
 * @error: errno of the first write that failed, 0 for none
 * @buffer: the text that is not written yet; allocated on demand
 * @size: size of @buffer in bytes
 * @len: bytes of text in @buffer
 */
struct out {
	int fd;
	int error;
	char *buffer;
	size_t size;
	size_t len;
};

void out_begin(struct out *out, int fd);
char *out_room(struct out *out, size_t size);
void out_add(struct out *out, size_t len);
void out_flush(struct out *out);
int out_failed(const struct out *out);
void out_end(struct out *out);

#endif /* UTRACE_LIB_OUT_H */

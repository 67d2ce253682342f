// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a buffer of text that is written in large pieces
 *
 * Lines are put together in the buffer itself.  The buffer is written when it
 * has OUT_PIECE bytes, before the command sleeps and at the end.  The first
 * error is kept for the caller, and the text after it is dropped.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "out.h"

/* As soon as there are this many bytes of text, they are written. */
#define OUT_PIECE	(64 * 1024)

/* Begin with an empty buffer for the descriptor @fd. */
void out_begin(struct out *out, int fd)
{
	*out = (struct out){ .fd = fd };
}

/**
 * out_room() - get room for text
 * @out: the buffer
 * @size: number of bytes
 *
 * Return: room for @size bytes behind the text, valid until the next call of a
 * function of this file.
 */
char *out_room(struct out *out, size_t size)
{
	if (out->size - out->len < size) {
		out->size = out->len + size;
		if (out->size < OUT_PIECE + size)
			out->size = OUT_PIECE + size;
		out->buffer = realloc(out->buffer, out->size);
		if (!out->buffer)
			abort();
	}
	return out->buffer + out->len;
}

/* The caller has written @len bytes to the place that out_room() returned. */
void out_add(struct out *out, size_t len)
{
	out->len += len;
	if (out->len >= OUT_PIECE)
		out_flush(out);
}

/*
 * Write a part of the text.  Returns the number of bytes, 0 if the call is to
 * be made again, -1 after an error.
 */
static ssize_t write_some(int fd, const char *text, size_t len)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };
	ssize_t n = write(fd, text, len);

	if (n >= 0 || errno == EINTR)
		return n < 0 ? 0 : n;
	/* Another program has made the file non-blocking. */
	if (errno == EAGAIN && poll(&pollfd, 1, -1) >= 0)
		return 0;
	return -1;
}

/* Write all text. */
void out_flush(struct out *out)
{
	size_t done = 0;
	ssize_t n;

	while (done < out->len && !out->error) {
		n = write_some(out->fd, out->buffer + done, out->len - done);
		if (n < 0)
			out->error = errno;
		else
			done += n;
	}
	out->len = 0;
}

/* The errno of the first write that failed, 0 if none has. */
int out_failed(const struct out *out)
{
	return out->error;
}

/* Write all text and free the buffer. */
void out_end(struct out *out)
{
	out_flush(out);
	free(out->buffer);
	out->buffer = NULL;
	out->size = 0;
}

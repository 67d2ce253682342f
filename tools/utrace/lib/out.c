// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - a buffer of text that is written in large pieces
 *
 * Lines are written directly to the buffer.  The buffer is flushed when it has
 * OUT_PIECE bytes, before the command sleeps and at the end.  The first error
 * is kept for the caller, and later text is dropped.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "memory.h"
#include "out.h"

/* Size of text at which the buffer is flushed. */
#define OUT_PIECE	(64 * 1024)

/* Begin with an empty buffer for the descriptor @fd. */
void out_begin(struct out *out, int fd)
{
	*out = (struct out){ .fd = fd };
}

/**
 * out_begin_file() - begin with an empty buffer for a file
 * @out: the buffer
 * @path: the file, which is opened for each write; out_end() frees the path
 * @append: keep what the file contains
 */
void out_begin_file(struct out *out, char *path, bool append)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC |
		      (append ? 0 : O_TRUNC), 0666);

	*out = (struct out){ .fd = -1, .path = path };
	if (fd < 0)
		out->error = errno;
	else
		close(fd);
}

/**
 * out_room() - reserve room for text
 * @out: the buffer
 * @size: number of bytes
 *
 * Return: room for @size bytes after the text, valid until the next call of a
 *	function of this file.
 */
char *out_room(struct out *out, size_t size)
{
	if (out->size - out->len < size) {
		out->size = out->len + size;
		if (out->size < OUT_PIECE + size)
			out->size = OUT_PIECE + size;
		out->buffer = checked(realloc(out->buffer, out->size));
	}
	return out->buffer + out->len;
}

/* Add the @len bytes that the caller has written to the room of out_room(). */
void out_add(struct out *out, size_t len)
{
	out->len += len;
	if (out->len >= OUT_PIECE)
		out_flush(out);
}

/*
 * Write a part of the text.  Returns the number of bytes, 0 if the caller must
 * retry, -1 after an error.
 */
static ssize_t write_some(int fd, const char *text, size_t len)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLOUT };
	ssize_t n = write(fd, text, len);

	if (n >= 0 || errno == EINTR)
		return n < 0 ? 0 : n;
	/* Another program may have made the file non-blocking. */
	if (errno == EAGAIN && poll(&pollfd, 1, -1) >= 0)
		return 0;
	return -1;
}

/* Write all text to a descriptor. */
static void write_all(struct out *out, int fd)
{
	size_t done = 0;
	ssize_t n;

	while (done < out->len && !out->error) {
		n = write_some(fd, out->buffer + done, out->len - done);
		if (n < 0)
			out->error = errno;
		else
			done += n;
	}
}

/* Open the file, write all text to it, and close it. */
static void write_file(struct out *out)
{
	int fd = open(out->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0) {
		out->error = errno;
		return;
	}
	write_all(out, fd);
	if (close(fd) && !out->error)
		out->error = errno;
}

/* Write all text. */
void out_flush(struct out *out)
{
	if (out->path && out->len && !out->error)
		write_file(out);
	else
		write_all(out, out->fd);
	out->len = 0;
}

/* Return the errno of the first write that failed, 0 if none has failed. */
int out_failed(const struct out *out)
{
	return out->error;
}

/* Write all text and free the buffer. */
void out_end(struct out *out)
{
	out_flush(out);
	free(out->buffer);
	free(out->path);
	out->path = NULL;
	out->buffer = NULL;
	out->size = 0;
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - read the records of a session from its mapped rings
 */
#ifndef UTRACE_DEV_STREAM_H
#define UTRACE_DEV_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/utrace.h>

struct stream;

/* Handle a record, which is valid until the function returns. */
typedef void (*stream_take_t)(void *data, const struct utrace_rec *rec);

struct stream *stream_open(int session);
bool stream_is_empty(const struct stream *stream);
__u64 stream_now(const struct stream *stream);
size_t stream_take(struct stream *stream, stream_take_t take, void *data);

#endif /* UTRACE_DEV_STREAM_H */

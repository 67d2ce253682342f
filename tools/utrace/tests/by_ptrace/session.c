// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the command on ptrace(2): sessions and streams
 *
 * These functions replace those of dev/session.c and dev/stream.c.  The tracer
 * is a process of its own: a tracer that is not the parent of the program
 * leaves the status of the program to the parent's waitpid().  A session is the
 * reading end of the pipe into which the tracer writes the records.  When the
 * last task has ended the tracer exits, and poll() reports the end of the pipe
 * as it reports the end of a session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dev/session.h"
#include "dev/stream.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "requests.h"

/* Bytes of the pipe; the tasks wait if it is full. */
#define PIPE_SIZE	(1 << 20)

/* Socket to the tracer. */
static int control = -1;

/*
 * Start the tracer as a child of init, so that this command need not wait for
 * it.  The tracer closes @ours and @from, the ends of this command, so that it
 * notices when the command exits.
 */
static void start_tracer(int socket, int records, int ours, int from)
{
	pid_t child = fork();

	if (child < 0)
		fail("fork", strerror(errno));
	if (!child) {
		if (fork())
			_exit(0);
		close(ours);
		close(from);
		tracer_run(socket, records);
	}
	waitpid(child, NULL, 0);
}

int session_open(size_t size, bool drop)
{
	int sockets[2], ends[2];

	(void)size;
	(void)drop;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ||
	    pipe2(ends, O_CLOEXEC))
		return -1;
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE);
	control = sockets[0];
	start_tracer(sockets[1], ends[1], sockets[0], ends[0]);
	close(sockets[1]);
	close(ends[1]);
	return ends[0];
}

/* Not while records wait: the tracer may wait for room in the pipe. */
static int request(const struct request *request)
{
	int error;

	if (send(control, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -1;
	if (request->kind == REQUEST_END)
		return 0;
	if (read(control, &error, sizeof(error)) != sizeof(error))
		error = ESRCH;
	errno = error;
	return error ? -1 : 0;
}

int session_attach(int session, pid_t tid, enum utrace_scope scope)
{
	(void)session;
	return request(&(struct request){
		.kind = REQUEST_ATTACH, .tid = tid, .scope = scope,
	});
}

int session_choose(int session, const struct utrace_ioc_events *events)
{
	struct request what = { .kind = REQUEST_CHOOSE, .events = *events };

	(void)session;
	if (events->count || events->ncalls > REQUEST_CALLS) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (!events->events)
		what.kind = REQUEST_END;
	if (events->ncalls)
		memcpy(what.calls, (const void *)(uintptr_t)events->calls,
		       events->ncalls * sizeof(what.calls[0]));
	return request(&what);
}

static int not_supported(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

int session_attach_all(int session)
{
	(void)session;
	return not_supported();
}

int session_attach_exe(int session, const char *path)
{
	(void)session;
	(void)path;
	return not_supported();
}

int session_attach_cgroup(int session, const char *path)
{
	(void)session;
	(void)path;
	return not_supported();
}

/* The attach interrupts a call, and its entry is reported again. */
int session_in_flight(int session)
{
	(void)session;
	return 0;
}

unsigned long long session_lost(int session)
{
	(void)session;
	return 0;
}

const char *session_why_not(int error)
{
	return strerror(error);
}

const char *session_why_not_all(int error)
{
	return strerror(error);
}

const char *session_why_not_exe(int error)
{
	return strerror(error);
}

const char *session_why_not_cgroup(int error)
{
	return strerror(error);
}

/**
 * struct stream - the records of a session
 * @session: the pipe
 * @buffer: what was read from it
 * @len: bytes in @buffer
 * @ended: the tracer has exited, and all was read
 */
struct stream {
	int session;
	char buffer[PIPE_SIZE] __attribute__((aligned(8)));
	size_t len;
	bool ended;
};

struct stream *stream_open(int session)
{
	struct stream *stream = checked(calloc(1, sizeof(*stream)));

	stream->session = session;
	return stream;
}

bool stream_is_empty(const struct stream *stream)
{
	return stream->ended;
}

__u64 stream_now(const struct stream *stream)
{
	struct timespec time;

	(void)stream;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* Handle the whole records in the buffer, and keep the rest. */
static size_t take_whole(struct stream *stream, stream_take_t take, void *data)
{
	const struct utrace_rec *rec;
	size_t at = 0, n = 0;

	while (stream->len - at >= sizeof(*rec)) {
		rec = (const void *)(stream->buffer + at);
		if (stream->len - at < rec->size)
			break;
		if (rec->type != UTRACE_REC_PAD)
			take(data, rec);
		at += rec->size;
		n++;
	}
	stream->len -= at;
	memmove(stream->buffer, stream->buffer + at, stream->len);
	return n;
}

size_t stream_take(struct stream *stream, stream_take_t take, void *data)
{
	ssize_t got = read(stream->session, stream->buffer + stream->len,
			   sizeof(stream->buffer) - stream->len);

	if (!got)
		stream->ended = true;
	if (got <= 0)
		return 0;
	stream->len += got;
	return take_whole(stream, take, data);
}

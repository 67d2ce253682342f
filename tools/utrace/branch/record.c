// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace branches record': write all branches to a file
 *
 * The ring of the kernel is small and a task waits if the ring is full.  So a
 * task cannot run far ahead of the mappings that this command has read.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/array_size.h>

#include "branches.h"
#include "cmd/target.h"
#include "consumer.h"
#include "file.h"
#include "lib/fail.h"
#include "lib/progress.h"
#include "mapped.h"
#include "spaces.h"

/* Default capacity of the ring, in records. */
#define RING	8192

/* Maximum number of records of one read. */
#define SOME	4096

/**
 * struct recorder - a running recording
 * @target: the process that is recorded
 * @consumer: descriptor of the consumer, -1 when it is closed
 * @mapped: the task whose records are being read
 * @out: the file
 */
struct recorder {
	struct target target;
	int consumer;
	struct mapped mapped;
	struct branches_writer out;
};

/* Write records, each after the mappings that it needs. */
static void take(struct recorder *recorder, const struct utrace_branch *records,
		 size_t n)
{
	struct mapped *mapped = &recorder->mapped;
	size_t i, first = 0;

	for (i = 0; i < n; i++) {
		if (!target_is_ours(&recorder->target, &records[i], mapped->tid)) {
			branches_write(&recorder->out, records + first, i - first);
			first = i + 1;
			continue;
		}
		if (!mapped_learn(mapped, &records[i]))
			continue;
		branches_write(&recorder->out, records + first, i - first);
		branches_write_space(&recorder->out, mapped->space, mapped->flags);
		first = i;
	}
	branches_write(&recorder->out, records + first, n - first);
}

static void stop(struct recorder *recorder)
{
	if (recorder->consumer >= 0)
		close(recorder->consumer);
	recorder->consumer = -1;
}

/* Write all available records.  Returns their number. */
static size_t take_some(struct recorder *recorder)
{
	static struct utrace_branch records[SOME];
	ssize_t n = 0;

	if (recorder->consumer >= 0)
		n = consumer_read(recorder->consumer, records, SOME);
	if (n > 0)
		take(recorder, records, n);
	else if (!n || errno != EAGAIN)
		stop(recorder);
	/* More records could not be written. */
	if (recorder->out.error)
		stop(recorder);
	return n > 0 ? n : 0;
}

static void wait_for_records(const struct recorder *recorder)
{
	struct pollfd fds[] = {
		{ .fd = recorder->consumer, .events = POLLIN },
		{ .fd = recorder->target.signals, .events = POLLIN },
	};

	poll(fds, ARRAY_SIZE(fds), PROGRESS_MS);
}

static void show_progress(const struct recorder *recorder)
{
	__u64 records = recorder->out.records;

	if (progress_is_due())
		progress_show("utrace: %llu records, %llu a second, %llu MiB",
			      records, records * 1000 / progress_ms(),
			      recorder->out.bytes >> 20);
}

/*
 * Check whether the recording has ended.  Always wait for the status of a
 * program.
 */
static bool is_over(const struct recorder *recorder)
{
	const struct target *target = &recorder->target;

	if (target->interrupted)
		return true;
	return recorder->consumer < 0 && (!target->launched || target->status >= 0);
}

static void follow(struct recorder *recorder)
{
	while (!is_over(recorder)) {
		if (!take_some(recorder))
			wait_for_records(recorder);
		target_take_signals(&recorder->target);
		show_progress(recorder);
	}
}

/* After an interrupt, read the records that were written before it. */
static void drain(struct recorder *recorder, __u64 ring)
{
	__u64 n = 0, some;

	do {
		some = take_some(recorder);
		n += some;
	} while (some && n < ring);
	stop(recorder);
	target_let_go(&recorder->target);
}

static void summarize(const struct recorder *recorder)
{
	const struct branches_writer *out = &recorder->out;

	if (out->error) {
		say(out->path, strerror(out->error));
		return;
	}
	fprintf(stderr, "utrace: %s: %llu records, %llu lost, %llu bytes\n",
		out->path, out->records, out->lost, out->bytes);
}

/* Record branches.  Returns the status of the command. */
int branches_record(struct branches_options *options)
{
	static struct recorder recorder;
	struct utrace_ioc_branches how = {
		.where.scope = options->follow ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS,
		.full = options->drop ? UTRACE_FULL_DROP : UTRACE_FULL_DEFAULT,
		.capacity = options->ring ?: RING,
	};

	target_begin(&recorder.target, options->pid, &options->launch);
	recorder.consumer = consumer_open(recorder.target.pid, &how);
	if (recorder.consumer < 0)
		fail(options->pid ? "attaching to the process" : "the program",
		     consumer_why_not(errno));
	branches_create(&recorder.out, options->file, options->command);
	/* A program on the same terminal would write into the progress line. */
	progress_begin(options->pid || !isatty(STDOUT_FILENO));
	target_go(&recorder.target);
	follow(&recorder);
	drain(&recorder, how.capacity);
	branches_finish(&recorder.out, progress_ms());
	progress_end();
	summarize(&recorder);
	return target_end(&recorder.target, recorder.out.error);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - 'utrace branches --last': print the last branches of a process
 *
 * Nothing is read before the process ends or the command is interrupted: the
 * kernel keeps the last branches.  The command only observes the process, so a
 * debugger may trace it at the same time.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/array_size.h>

#include "branches.h"
#include "cmd/target.h"
#include "consumer.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "lib/screen.h"
#include "places.h"
#include "source.h"
#include "spaces.h"
#include "tables.h"
#include "watch.h"

/* How long to wait for the end of a process after its record of the end. */
#define END_MS	100

/**
 * struct last - the last branches of a process
 * @target: the process
 * @watch: its mappings and its end
 * @consumer: descriptor of the consumer
 * @records: records that were read from @consumer
 * @n: number of records
 * @size: allocated elements of @records
 * @most: branches to print
 * @out: where they are printed
 */
struct last {
	struct target target;
	struct watch watch;
	int consumer;
	struct utrace_branch *records;
	size_t n;
	size_t size;
	__u64 most;
	FILE *out;
};

static void wait_for_end(struct last *last)
{
	struct target *target = &last->target;
	struct pollfd fds[] = {
		{ .fd = last->watch.session, .events = POLLIN },
		{ .fd = target->signals, .events = POLLIN },
	};

	while (!target->interrupted &&
	       !(last->watch.ended && (!target->launched || target->status >= 0))) {
		poll(fds, ARRAY_SIZE(fds), END_MS);
		watch_take(&last->watch);
		target_take_signals(target);
	}
}

/*
 * Read the records, at most as many as the ring can have: a running process
 * could add records forever.
 */
static void read_all(struct last *last, __u64 ring)
{
	struct pollfd fd = { .fd = last->consumer };
	struct utrace_branch some[1024];
	unsigned int patience = 10;
	ssize_t n, i;

	while (last->n < 2 * ring) {
		n = consumer_read(last->consumer, some, ARRAY_SIZE(some));
		if (!n || (n < 0 && errno != EAGAIN))
			break;
		if (n < 0 && (last->target.interrupted || !patience--))
			break;
		if (n < 0)
			poll(&fd, 1, END_MS);
		for (i = 0; i < n; i++) {
			last->records = grow(last->records, last->n, &last->size,
					     sizeof(*last->records));
			last->records[last->n++] = some[i];
		}
	}
	close(last->consumer);
}

static bool is_branch(const struct utrace_branch *record)
{
	return UTRACE_BRANCH_TYPE(record->info) == UTRACE_BRANCH;
}

static bool is_exec(const struct utrace_branch *record)
{
	return is_branch(record) && record->from == UTRACE_PC_EXEC;
}

/* Find the record at which the last program with known mappings begins. */
static size_t find_program(const struct last *last)
{
	size_t i;

	for (i = last->n; i--;)
		if (is_exec(&last->records[i]))
			return i;
	return 0;
}

/*
 * Find the first record to print.  Skip what the child did before its execve().
 */
static size_t find_first(const struct last *last, __u64 *branches)
{
	size_t i, least = 0;

	if (last->target.launched && !last->watch.executed)
		least = last->n;
	for (i = last->n; last->target.launched && i--;)
		if (is_exec(&last->records[i]))
			least = i;
	*branches = 0;
	for (i = last->n; i > least && *branches < last->most; i--)
		*branches += is_branch(&last->records[i - 1]);
	return i;
}

/*
 * Return a place as text, with its source line.  Valid until the fourth next
 * call.
 */
static const char *describe(struct space *space, __u64 address, int width)
{
	struct place *place = place_get(place_of(space, address));
	char text[1024];

	if (!place_find_line(place))
		return shorten(place_text(place), width);
	snprintf(text, sizeof(text), "%s %s", place_text(place),
		 source_text(place));
	return shorten(text, width);
}

static void print_branch(const struct last *last, struct space *space,
			 const struct utrace_branch *record, __u64 number)
{
	int half = (screen_width() - 21) / 2;
	const char *from = describe(space, record->from, half);

	fprintf(last->out, "%8lld  %-5s  %s -> ", -(long long)number,
		report_kind(UTRACE_BRANCH_KIND(record->info)), from);
	fprintf(last->out, "%s\n", describe(space, record->to, half));
}

static void print_other(const struct last *last, struct space *space,
			const struct utrace_branch *record)
{
	FILE *out = last->out;

	switch (UTRACE_BRANCH_TYPE(record->info)) {
	case UTRACE_BRANCH_TASK:
		fprintf(out, "%sthread %u%s\n", style(STYLE_HEAD),
			(__u32)record->from, style(STYLE_PLAIN));
		break;
	case UTRACE_BRANCH_END:
		fprintf(out, "%8s  end    %s\n", "",
			describe(space, record->from, screen_width() - 17));
		break;
	case UTRACE_BRANCH_LOST:
		fprintf(out, "%s%llu branches before these%s\n", style(STYLE_DIM),
			record->from, style(STYLE_PLAIN));
		break;
	case UTRACE_BRANCH_HIDDEN:
		fprintf(out, "%shidden%s: the task has privileges that you do not "
			     "have\n",
			style(STYLE_WARN), style(STYLE_PLAIN));
	}
}

/* Find the thread of the records before @first.  Returns a record, or NULL. */
static const struct utrace_branch *thread_before(const struct last *last,
						 size_t first)
{
	while (first--)
		if (UTRACE_BRANCH_TYPE(last->records[first].info) ==
		    UTRACE_BRANCH_TASK)
			return &last->records[first];
	return NULL;
}

static void print_records(const struct last *last)
{
	__u64 branches;
	size_t program = find_program(last), i = find_first(last, &branches);
	struct space *space = space_of(last->target.pid);
	const struct utrace_branch *thread = thread_before(last, i);

	if (thread && i < last->n)
		print_other(last, space, thread);
	for (; i < last->n; i++) {
		const struct utrace_branch *record = &last->records[i];
		/* The mappings of an older program are gone. */
		struct space *of = i < program ? space_of(0) : space;

		if (is_branch(record))
			print_branch(last, of, record, branches--);
		else
			print_other(last, of, record);
	}
}

/* Return the address of the last instruction of a thread, or 0. */
static __u64 end_of(const struct last *last, pid_t tid)
{
	pid_t at = 0;
	__u64 end = 0;
	size_t i;

	for (i = 0; i < last->n; i++) {
		const struct utrace_branch *record = &last->records[i];
		unsigned int type = UTRACE_BRANCH_TYPE(record->info);

		if (type == UTRACE_BRANCH_TASK)
			at = record->from;
		else if (type == UTRACE_BRANCH_END && at == tid)
			end = record->from;
	}
	return end;
}

static bool has_address(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != SI_KERNEL &&
	       (info->si_signo == SIGSEGV || info->si_signo == SIGBUS);
}

/* Print which signal killed the process, and where. */
static void print_death(const struct last *last)
{
	const struct watch *watch = &last->watch;
	const siginfo_t *info = &watch->info;
	int signal = watch->status >= 0 ? WTERMSIG(watch->status) : 0;
	__u64 end;

	if (watch->status < 0 || !WIFSIGNALED(watch->status))
		return;
	fprintf(last->out, "%sProcess %d was killed by SIG%s%s", style(STYLE_WARN),
		watch->pid, sigabbrev_np(signal) ?: "?", style(STYLE_PLAIN));
	if (info->si_signo == signal && has_address(info))
		fprintf(last->out, " for address %#llx",
			(__u64)(unsigned long)info->si_addr);
	end = info->si_signo == signal ? end_of(last, watch->taken_by) : 0;
	if (end)
		fprintf(last->out, ", at %s",
			describe(space_of(watch->pid), end, 200));
	fputc('\n', last->out);
}

/* Print everything.  Returns false if it could not be written. */
static bool print(struct last *last, const char *path)
{
	screen_begin(last->out);
	print_records(last);
	print_death(last);
	if (!fflush(last->out) && !ferror(last->out))
		return true;
	say(path ?: "standard error", strerror(errno));
	return false;
}

/* Print the last branches.  Returns the status of the command. */
int branches_last(struct branches_options *options)
{
	static struct last last;
	struct utrace_ioc_branches how = {
		.where.scope = UTRACE_SCOPE_PROCESS,
		.full = UTRACE_FULL_OVERWRITE,
		/* Records of other types also need room. */
		.capacity = 2 * options->last,
	};
	bool done;

	last.most = options->last;
	last.out = options->file ? fopen(options->file, "we") : stderr;
	if (!last.out)
		fail(options->file, strerror(errno));
	target_begin(&last.target, options->pid, &options->launch);
	watch_begin(&last.watch, last.target.pid);
	last.consumer = consumer_open(last.target.pid, &how);
	if (last.consumer < 0)
		fail(options->pid ? "attaching to the process" : "the program",
		     consumer_why_not(errno));
	target_go(&last.target);
	wait_for_end(&last);
	read_all(&last, how.capacity);
	watch_learn(&last.watch);
	target_let_go(&last.target);
	done = print(&last, options->file);
	return target_end(&last.target, !done);
}

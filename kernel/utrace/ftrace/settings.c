// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: its settings
 *
 * A write to a file of the folder process/ changes a copy of the settings.
 * Making the engine follow the copy may fail; the copy replaces the settings
 * only after that.  So a write takes effect as a whole or not at all, and
 * errors need no rollback.
 */
#include <linux/bitmap.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "../builtin.h"
#include "../capture/capture.h"
#include "../decode/table.h"
#include "../match.h"
#include "instance.h"
#include "settings.h"
#include "targets.h"
#include "words.h"

/* Find the calls with something to capture, by @args and @stack. */
static void process_find_captures(struct process_settings *settings)
{
	unsigned int bit;

	for (bit = 0; bit < PROCESS_CALLS; bit++) {
		const struct utrace_call *call =
			utrace_call_of(process_call_nr(bit));

		__assign_bit(bit, settings->entry_args,
			     settings->stack != PROCESS_STACK_NONE ||
			     (call && call->takes_in & settings->args));
		__assign_bit(bit, settings->exit_args,
			     call && call->takes_out & settings->args);
	}
}

/**
 * utrace_ftrace_init_settings() - initialize the settings of a new instance
 * @settings: the settings, zeroed
 *
 * An instance follows all events and captures the strings of system calls.
 *
 * Context: Any.
 */
void utrace_ftrace_init_settings(struct process_settings *settings)
{
	settings->events = BIT(PROCESS_NRECORDS) - 1;
	settings->args = UTRACE_CAPTURE_STRINGS;
	process_find_captures(settings);
}

/* Applying settings to the engine */

/* Get the events that the engine must report for these settings. */
static unsigned long
process_engine_events(const struct process_settings *settings)
{
	static const unsigned long events[PROCESS_NEVENTS] = {
		[PROCESS_SYS_ENTER]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_SYS_EXIT]	= UTRACE_EVENT_SYSCALL,
		[PROCESS_FORK]		= UTRACE_EVENT(CLONE),
		[PROCESS_EXEC]		= UTRACE_EVENT(EXEC),
		[PROCESS_EXIT]		= UTRACE_EVENT(EXIT),
		[PROCESS_SIGNAL]	= UTRACE_EVENT_SIGNAL_SEEN,
		[PROCESS_JOBCTL]	= UTRACE_EVENT(JCTL),
		[PROCESS_STAT]		= UTRACE_EVENT_SYSCALL,
	};
	unsigned long all = 0;
	unsigned int i;

	for_each_set_bit(i, &settings->events, PROCESS_NEVENTS)
		all |= events[i];
	/* The process_task of a task is dropped when the task exits. */
	if (all & UTRACE_EVENT_SYSCALL)
		all |= UTRACE_EVENT(EXIT);
	/* execve() may change the pid of a thread; see ftrace_engine.c. */
	if (all)
		all |= UTRACE_EVENT(EXEC);
	return all;
}

/*
 * Make the chosen system calls the filter of the engine, so that the core does
 * not report the others.  Return 0 or -ENOMEM.
 */
static int process_set_filter(struct utrace_engine *engine,
			      const struct process_settings *settings)
{
	int *nrs __free(kfree) = kmalloc_array(PROCESS_CALLS, sizeof(*nrs),
					       GFP_KERNEL);
	unsigned int bit, n = 0;

	if (!nrs)
		return -ENOMEM;
	if (settings->chosen)
		for_each_set_bit(bit, settings->calls, PROCESS_CALLS)
			nrs[n++] = process_call_nr(bit);
	return utrace_set_syscall_filter(engine, nrs, n);
}

/*
 * Make @engine follow the settings; @match was made from them.  The step that
 * may fail comes first: after -ENOMEM the engine follows the old settings.
 */
static int process_set_engine(struct utrace_engine *engine,
			      struct utrace_match *match,
			      const struct process_settings *settings)
{
	int ret = process_set_filter(engine, settings);

	if (ret)
		return ret;
	WARN_ON_ONCE(utrace_set_match(engine, match));
	/*
	 * -EINPROGRESS: a running callback may still record by the old
	 * settings.
	 */
	ret = utrace_set_events(NULL, engine, process_engine_events(settings));
	WARN_ON_ONCE(ret && ret != -EINPROGRESS);
	return 0;
}

/**
 * utrace_ftrace_apply() - make the engine of an instance follow settings
 * @pt: the instance.  It has no engine while it uses another tracer, and then
 *	the match is only made, to find an error.
 * @settings: the settings
 *
 * Context: Process context; may sleep.  utrace_ftrace_mutex is held.
 * Return:
 * * 0 - the engine follows @settings
 * * -ENOSPC - there are too many targets; nothing has changed
 * * -ENOMEM - out of memory; nothing has changed
 */
int utrace_ftrace_apply(struct process_trace *pt,
			const struct process_settings *settings)
{
	struct utrace_engine *engine = utrace_ftrace_engine(pt);
	struct utrace_match *match;
	int ret;

	match = utrace_ftrace_make_match(settings);
	if (IS_ERR(match))
		return PTR_ERR(match);
	utrace_match_chooser(match, utrace_ftrace_choose, pt);
	ret = engine ? process_set_engine(engine, match, settings) : 0;
	/* From here on @match is the one that no engine has. */
	if (engine && !ret)
		swap(pt->match, match);
	utrace_match_put(match);
	return ret;
}

/* Changing settings */

static void process_copy_settings(struct process_settings *to,
				  const struct process_settings *from)
{
	unsigned int kind;

	*to = *from;
	for (kind = 0; kind < PROCESS_NTARGETS; kind++)
		utrace_ftrace_get_targets(to->targets[kind]);
}

/* Callbacks may test bits of @to at the same time. */
static void process_publish_calls(unsigned long *to, const unsigned long *from)
{
	unsigned int i;

	for (i = 0; i < BITS_TO_LONGS(PROCESS_CALLS); i++)
		WRITE_ONCE(to[i], from[i]);
}

/*
 * Put @new in force; it gets the old targets, which the caller frees.
 * Callbacks read the settings at the same time: a call in progress may be
 * recorded partly by the old settings.
 */
static void process_set_settings(struct process_trace *pt,
				 struct process_settings *new)
{
	struct process_settings *settings = &pt->settings;
	unsigned int kind;

	lockdep_assert_held(&utrace_ftrace_mutex);

	WRITE_ONCE(settings->events, new->events);
	WRITE_ONCE(settings->args, new->args);
	WRITE_ONCE(settings->stack, new->stack);
	WRITE_ONCE(settings->chosen, new->chosen);
	process_publish_calls(settings->calls, new->calls);
	process_publish_calls(settings->entry_args, new->entry_args);
	process_publish_calls(settings->exit_args, new->exit_args);
	for (kind = 0; kind < PROCESS_NTARGETS; kind++)
		swap(settings->targets[kind], new->targets[kind]);
}

/* Check whether two settings follow the same events and system calls. */
static bool process_same_calls(const struct process_settings *a,
			       const struct process_settings *b)
{
	return a->events == b->events && a->chosen == b->chosen &&
	       bitmap_equal(a->calls, b->calls, PROCESS_CALLS);
}

/*
 * A struct process_targets is immutable, so comparing addresses is enough.
 * Each write to a file of targets allocates a new one, so equal words that are
 * written again count as different, which costs one more utrace_ftrace_apply().
 */
static bool process_same_targets(const struct process_settings *a,
				 const struct process_settings *b)
{
	return !memcmp(a->targets, b->targets, sizeof(a->targets));
}

/* Make the engine follow @new, then put @new in force. */
static int process_take_settings(struct process_trace *pt,
				 struct process_settings *new)
{
	bool same_calls = process_same_calls(new, &pt->settings);
	int ret;

	if (!same_calls || !process_same_targets(new, &pt->settings)) {
		ret = utrace_ftrace_apply(pt, new);
		if (ret)
			return ret;
	}
	process_find_captures(new);
	process_set_settings(pt, new);
	if (!same_calls)
		WRITE_ONCE(pt->started, ktime_get_ns());
	return 0;
}

/*
 * The references of the copy are dropped without the mutex: dropping the last
 * one to a deleted file makes the file system write, which may take long.
 */
static int process_change(struct process_trace *pt, struct process_words *words)
{
	struct process_settings new;
	int ret;

	scoped_guard(mutex, &utrace_ftrace_mutex) {
		process_copy_settings(&new, &pt->settings);
		ret = words->setting->write(&new, words);
		if (!ret)
			ret = process_take_settings(pt, &new);
	}
	utrace_ftrace_free_settings(&new);
	return ret;
}

/**
 * utrace_ftrace_change() - apply a write to a file in process/
 * @pt: the instance
 * @words: the written words, with the file
 *
 * Context: Process context; may sleep.  Takes utrace_ftrace_mutex.
 * Return:
 * * 0 - the new settings are in force
 * * -EINVAL - a word is wrong; the instance's error_log says which and why
 * * -ENOSPC - there are too many targets
 * * -ENOMEM - out of memory
 *
 * After an error nothing has changed.
 */
int utrace_ftrace_change(struct process_trace *pt, struct process_words *words)
{
	const struct process_setting *setting = words->setting;
	int ret = setting->find ? setting->find(words) : 0;

	if (!ret)
		ret = process_change(pt, words);
	utrace_ftrace_put_targets(words->targets);
	return ret;
}

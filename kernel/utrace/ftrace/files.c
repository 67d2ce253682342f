// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: what an instance records
 *
 * The files events, syscalls, args and stacks in process/, and the making of
 * all files in there.
 */
#include <linux/bitmap.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracefs.h>

#include "../capture/capture.h"
#include "process.h"
#include "words.h"
#include "../decode/table.h"

const char * const utrace_ftrace_event_names[PROCESS_NEVENTS] = {
	[PROCESS_SYS_ENTER]	= "sys_enter",
	[PROCESS_SYS_EXIT]	= "sys_exit",
	[PROCESS_FORK]		= "fork",
	[PROCESS_EXEC]		= "exec",
	[PROCESS_EXIT]		= "exit",
	[PROCESS_SIGNAL]	= "signal",
	[PROCESS_JOBCTL]	= "jobctl",
	[PROCESS_STAT]		= "stat",
};

/* By bit of UTRACE_CAPTURE_*. */
static const char * const process_arg_names[] = {
	"strings", "buffers", "sockets", "files",
};

static_assert(BIT(ARRAY_SIZE(process_arg_names)) - 1 == UTRACE_CAPTURE_ARGS);

static const char * const process_stack_names[PROCESS_NSTACKS] = {
	[PROCESS_STACK_NONE]	= "none",
	[PROCESS_STACK_FRAMES]	= "frames",
	[PROCESS_STACK_RAW]	= "raw",
};

enum process_file_error {
	FILE_NO_EVENT,
	FILE_NO_ARG,
	FILE_NO_STACK,
	FILE_NO_CALL,
};

static const char * const process_file_errors[] = {
	[FILE_NO_EVENT]	= "Not sys_enter, sys_exit, fork, exec, exit, signal, jobctl or stat",
	[FILE_NO_ARG]	= "Not strings, buffers, sockets or files",
	[FILE_NO_STACK]	= "Not none, frames or raw",
	[FILE_NO_CALL]	=
		"No such system call; give a name or number, with i386/ before it for 32 bits",
};

/* Words that stand for bits. */

static int process_write_bits(struct process_words *words, unsigned long *bits,
			      const char * const *names, unsigned int n,
			      enum process_file_error error)
{
	unsigned long new = words->replace ? 0 : *bits;
	int i, ret;

	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		i = match_string(names, n, words->word);
		if (i < 0)
			return utrace_ftrace_word_error(words, process_file_errors,
						  error);
		__assign_bit(i, &new, !words->remove);
	}
	if (!ret)
		*bits = new;
	return ret;
}

static void process_show_bits(struct seq_file *m, unsigned long bits,
			      const char * const *names, unsigned int n)
{
	unsigned int i;

	for_each_set_bit(i, &bits, n)
		seq_printf(m, "%s\n", names[i]);
}

static int process_write_events(struct process_trace *pt,
				struct process_words *words)
{
	unsigned long old, new;
	int ret;

	guard(mutex)(&utrace_ftrace_mutex);
	old = pt->events;
	new = old;
	ret = process_write_bits(words, &new, utrace_ftrace_event_names,
				 PROCESS_NEVENTS, FILE_NO_EVENT);
	if (ret)
		return ret;
	WRITE_ONCE(pt->events, new);
	ret = utrace_ftrace_apply(pt);
	if (ret)
		WRITE_ONCE(pt->events, old);
	else
		WRITE_ONCE(pt->started, local_clock());
	return ret;
}

static void process_show_events(struct seq_file *m, struct process_trace *pt,
				unsigned int unused)
{
	process_show_bits(m, pt->events, utrace_ftrace_event_names, PROCESS_NEVENTS);
}

static int process_write_args(struct process_trace *pt,
			      struct process_words *words)
{
	unsigned long args;
	int ret;

	guard(mutex)(&utrace_ftrace_mutex);
	args = pt->args;
	ret = process_write_bits(words, &args, process_arg_names,
				 ARRAY_SIZE(process_arg_names), FILE_NO_ARG);
	if (ret)
		return ret;
	WRITE_ONCE(pt->args, args);
	utrace_ftrace_update_captures(pt);
	return 0;
}

static void process_show_args(struct seq_file *m, struct process_trace *pt,
			      unsigned int unused)
{
	process_show_bits(m, pt->args, process_arg_names,
			  ARRAY_SIZE(process_arg_names));
}

/* One word, the last that is written; without any it is "none". */
static int process_write_stacks(struct process_trace *pt,
				struct process_words *words)
{
	int stack, ret;

	guard(mutex)(&utrace_ftrace_mutex);
	stack = words->replace ? PROCESS_STACK_NONE : pt->stack;
	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		stack = match_string(process_stack_names, PROCESS_NSTACKS,
				     words->word);
		if (stack < 0)
			return utrace_ftrace_word_error(words, process_file_errors,
						  FILE_NO_STACK);
		if (words->remove)
			stack = PROCESS_STACK_NONE;
	}
	if (ret)
		return ret;
	WRITE_ONCE(pt->stack, stack);
	utrace_ftrace_update_captures(pt);
	return 0;
}

static void process_show_stacks(struct seq_file *m, struct process_trace *pt,
				unsigned int unused)
{
	seq_printf(m, "%s\n", process_stack_names[pt->stack]);
}

/* System calls. */

/* Is there a call of this number?  As utrace_call_of(), for any number. */
static bool process_is_call(unsigned int nr)
{
	return (nr & ~UTRACE_SYSCALL_IA32) < PROCESS_CALLS / 2 &&
	       utrace_call_of(nr);
}

/* Set or clear a call by name or number; false if there is none. */
static bool process_choose_call(unsigned long *calls, const char *word, bool set)
{
	size_t prefix = str_has_prefix(word, "i386/");
	int nr, ia32;

	word += prefix;
	if (!kstrtoint(word, 0, &nr)) {
		if (nr < 0 || nr & UTRACE_SYSCALL_IA32)
			return false;
		if (prefix)
			nr |= UTRACE_SYSCALL_IA32;
		if (!process_is_call(nr))
			return false;
		__assign_bit(process_call_bit(nr), calls, set);
		return true;
	}
	/* Without a prefix, of both tables. */
	ia32 = utrace_call_nr(word, true);
	nr = prefix ? -ENOENT : utrace_call_nr(word, false);
	if (nr >= 0)
		__assign_bit(process_call_bit(nr), calls, set);
	if (ia32 >= 0)
		__assign_bit(process_call_bit(ia32), calls, set);
	return nr >= 0 || ia32 >= 0;
}

static int process_write_calls(struct process_trace *pt,
			       struct process_words *words)
{
	unsigned long *calls __free(bitmap) = bitmap_zalloc(PROCESS_CALLS,
							    GFP_KERNEL);
	unsigned long *old __free(bitmap) = bitmap_zalloc(PROCESS_CALLS,
							  GFP_KERNEL);
	int ret;

	if (!calls || !old)
		return -ENOMEM;
	guard(mutex)(&utrace_ftrace_mutex);
	bitmap_copy(old, pt->calls, PROCESS_CALLS);
	if (!words->replace)
		bitmap_copy(calls, pt->calls, PROCESS_CALLS);
	while ((ret = utrace_ftrace_next_word(words)) > 0)
		if (!process_choose_call(calls, words->word, !words->remove))
			return utrace_ftrace_word_error(words, process_file_errors,
						  FILE_NO_CALL);
	if (ret)
		return ret;
	bitmap_copy(pt->calls, calls, PROCESS_CALLS);
	WRITE_ONCE(pt->chosen, !bitmap_empty(calls, PROCESS_CALLS));
	ret = utrace_ftrace_apply(pt);
	if (ret) {
		bitmap_copy(pt->calls, old, PROCESS_CALLS);
		WRITE_ONCE(pt->chosen, !bitmap_empty(old, PROCESS_CALLS));
	} else {
		WRITE_ONCE(pt->started, local_clock());
	}
	return ret;
}

/* Names that stand for calls of both tables are not said twice. */
static void process_show_calls(struct seq_file *m, struct process_trace *pt,
			       unsigned int unused)
{
	unsigned int bit;

	for_each_set_bit(bit, pt->calls, PROCESS_CALLS) {
		unsigned int nr = process_call_nr(bit);
		const char *name = utrace_call_of(nr)->name;
		int other = utrace_call_nr(name, !(nr & UTRACE_SYSCALL_IA32));
		bool both = other >= 0 &&
			    test_bit(process_call_bit(other), pt->calls);

		if (!(nr & UTRACE_SYSCALL_IA32)) {
			if (both || other < 0)
				seq_printf(m, "%s\n", name);
			else
				seq_printf(m, "%u\n", nr);
		} else if (!both) {
			seq_printf(m, "i386/%s\n", name);
		}
	}
}

/**
 * utrace_ftrace_update_captures - which calls have something to capture
 * @pt: the instance; its settings may have changed
 *
 * Context: Process context.  utrace_ftrace_mutex is held.
 */
void utrace_ftrace_update_captures(struct process_trace *pt)
{
	unsigned int bit;

	for (bit = 0; bit < PROCESS_CALLS; bit++) {
		const struct utrace_call *call = utrace_call_of(process_call_nr(bit));

		assign_bit(bit, pt->entry_args, pt->stack != PROCESS_STACK_NONE ||
			   (call && utrace_capture_takes(call, false, pt->args)));
		assign_bit(bit, pt->exit_args,
			   call && utrace_capture_takes(call, true, pt->args));
	}
}

/* The folder. */

static const struct process_setting process_settings[] = {
	{ "events", 0, process_write_events, process_show_events },
	{ "syscalls", 0, process_write_calls, process_show_calls },
	{ "args", 0, process_write_args, process_show_args },
	{ "stacks", 0, process_write_stacks, process_show_stacks },
};

/* Which one it is stands in the inode beside the instance. */
static void process_create_file(struct trace_array *tr, struct dentry *process,
				const struct process_setting *setting)
{
	struct dentry *file = trace_create_file(setting->name, TRACE_MODE_WRITE,
						process, tr, &utrace_ftrace_words_fops);

	if (file)
		d_inode(file)->i_cdev = (void *)setting;
}

/**
 * utrace_ftrace_create_files - make the folder process/ of an instance
 * @tr: the instance
 * @dir: its folder
 *
 * What cannot be made is missing, as with the other files of an instance.
 *
 * Context: Process context.  utrace_ftrace_mutex is held.
 */
void utrace_ftrace_create_files(struct trace_array *tr, struct dentry *dir)
{
	struct dentry *process = tracefs_create_dir("process", dir);
	unsigned int i;

	if (!process) {
		pr_warn("process tracer: no files for an instance\n");
		return;
	}
	for (i = 0; i < PROCESS_NTARGETS; i++)
		process_create_file(tr, process, &utrace_ftrace_target_settings[i]);
	for (i = 0; i < ARRAY_SIZE(process_settings); i++)
		process_create_file(tr, process, &process_settings[i]);
	trace_create_file("stat", TRACE_MODE_WRITE, process, tr,
			  &utrace_ftrace_stat_fops);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: the folder process/
 *
 * What the words of the files events, syscalls, args and stacks mean for the
 * settings, and how the settings are printed.  This file also creates, opens,
 * reads and writes all files of the folder except for stat.
 *
 * If a file is opened with O_TRUNC (">"), the first write replaces its list,
 * and closing it without a write empties the list.  Otherwise (">>") words are
 * added.  A write takes effect as a whole or not at all.
 */
#include <linux/bitmap.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracefs.h>
#include <linux/uaccess.h>

#include "../../trace/trace.h"

#include "../capture/capture.h"
#include "../decode/table.h"
#include "files.h"
#include "instance.h"
#include "settings.h"
#include "stat.h"
#include "targets.h"
#include "words.h"

/* Maximum size of one write in bytes. */
#define PROCESS_WORDS_SIZE	SZ_64K

const char * const utrace_ftrace_event_names[PROCESS_NEVENTS] = {
	[PROCESS_SYS_ENTER]	= "sys_enter",
	[PROCESS_SYS_EXIT]	= "sys_exit",
	[PROCESS_FORK]		= "fork",
	[PROCESS_EXEC]		= "exec",
	[PROCESS_EXIT]		= "exit",
	[PROCESS_SIGNAL]	= "signal",
	[PROCESS_JOBCTL]	= "jobctl",
	[PROCESS_STAT]		= "stat",
	[PROCESS_CPU]		= "cpu",
};

/* Index: number of the bit in UTRACE_CAPTURE_ARGS. */
static const char * const process_arg_names[] = {
	"strings", "buffers", "sockets", "files",
};

static_assert(BIT(ARRAY_SIZE(process_arg_names)) - 1 == UTRACE_CAPTURE_ARGS);

static const char * const process_stack_names[PROCESS_NSTACKS] = {
	[PROCESS_STACK_NONE]	= "none",
	[PROCESS_STACK_FRAMES]	= "frames",
	[PROCESS_STACK_RAW]	= "raw",
};

static const char * const process_no_event =
	"Not sys_enter, sys_exit, fork, exec, exit, signal, jobctl, stat or cpu";
static const char * const process_no_arg =
	"Not strings, buffers, sockets or files";
static const char * const process_no_stack = "Not none, frames or raw";
static const char * const process_no_call =
	"No such system call; give a name or number, with i386/ before it for 32 bits";

/* Files whose words are bits */

/*
 * Set or clear the bits in *@bits whose names were written.  Return 0 or
 * -EINVAL.
 */
static int process_write_bits(struct process_words *words, unsigned long *bits,
			      const char * const *names, unsigned int n,
			      const char * const *error)
{
	int i, ret;

	if (words->replace)
		*bits = 0;
	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		i = match_string(names, n, words->word);
		if (i < 0)
			return utrace_ftrace_word_error(words, error);
		__assign_bit(i, bits, !words->remove);
	}
	return ret;
}

static void process_show_bits(struct seq_file *m, unsigned long bits,
			      const char * const *names, unsigned int n)
{
	unsigned int i;

	for_each_set_bit(i, &bits, n)
		seq_printf(m, "%s\n", names[i]);
}

static int process_write_events(struct process_settings *settings,
				struct process_words *words)
{
	return process_write_bits(words, &settings->events,
				  utrace_ftrace_event_names, PROCESS_NEVENTS,
				  &process_no_event);
}

static void process_show_events(struct seq_file *m,
				const struct process_setting *setting,
				const struct process_settings *settings)
{
	process_show_bits(m, settings->events, utrace_ftrace_event_names,
			  PROCESS_NEVENTS);
}

static int process_write_args(struct process_settings *settings,
			      struct process_words *words)
{
	unsigned long args = settings->args;
	int ret = process_write_bits(words, &args, process_arg_names,
				     ARRAY_SIZE(process_arg_names),
				     &process_no_arg);

	settings->args = args;
	return ret;
}

static void process_show_args(struct seq_file *m,
			      const struct process_setting *setting,
			      const struct process_settings *settings)
{
	process_show_bits(m, settings->args, process_arg_names,
			  ARRAY_SIZE(process_arg_names));
}

/* The file holds one word.  If several are written, the last one counts. */
static int process_write_stacks(struct process_settings *settings,
				struct process_words *words)
{
	int stack, ret;

	if (words->replace)
		settings->stack = PROCESS_STACK_NONE;
	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		stack = match_string(process_stack_names, PROCESS_NSTACKS,
				     words->word);
		if (stack < 0)
			return utrace_ftrace_word_error(words,
							&process_no_stack);
		settings->stack = words->remove ? PROCESS_STACK_NONE : stack;
	}
	return ret;
}

static void process_show_stacks(struct seq_file *m,
				const struct process_setting *setting,
				const struct process_settings *settings)
{
	seq_printf(m, "%s\n", process_stack_names[settings->stack]);
}

/* System calls */

/*
 * Return true if there is a call of this number that has its own bit in the
 * bitmaps.
 */
static bool process_is_call(unsigned int nr)
{
	return (nr & ~UTRACE_SYSCALL_IA32) < PROCESS_CALLS / 2 &&
	       utrace_call_of(nr);
}

/*
 * Set or clear the bit of a call that is given by name or number.  Return false
 * if there is no such call.
 */
static bool process_choose_call(unsigned long *calls, const char *word,
				bool set)
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
	/* A name without a prefix selects the calls of both tables. */
	ia32 = utrace_call_nr(word, true);
	nr = prefix ? -ENOENT : utrace_call_nr(word, false);
	if (nr >= 0)
		__assign_bit(process_call_bit(nr), calls, set);
	if (ia32 >= 0)
		__assign_bit(process_call_bit(ia32), calls, set);
	return nr >= 0 || ia32 >= 0;
}

static int process_write_calls(struct process_settings *settings,
			       struct process_words *words)
{
	unsigned long *calls = settings->calls;
	int ret;

	if (words->replace)
		bitmap_zero(calls, PROCESS_CALLS);
	while ((ret = utrace_ftrace_next_word(words)) > 0)
		if (!process_choose_call(calls, words->word, !words->remove))
			return utrace_ftrace_word_error(words,
							&process_no_call);
	settings->chosen = !bitmap_empty(calls, PROCESS_CALLS);
	return ret;
}

/*
 * Print the calls so that writing the lines back selects the same calls.  A
 * bare name selects both tables; a call of one table only is printed as a
 * number or with "i386/".
 */
static void process_show_calls(struct seq_file *m,
			       const struct process_setting *setting,
			       const struct process_settings *settings)
{
	unsigned int bit;

	for_each_set_bit(bit, settings->calls, PROCESS_CALLS) {
		unsigned int nr = process_call_nr(bit);
		const char *name = utrace_call_of(nr)->name;
		int other = utrace_call_nr(name, !(nr & UTRACE_SYSCALL_IA32));
		bool both = other >= 0 &&
			    test_bit(process_call_bit(other),
				     settings->calls);

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

/* Reading and writing */

/**
 * struct process_open - an open file in process/
 * @tr: the instance, counted (trace_array_get())
 * @setting: the file; constant
 * @replace: the file was opened with O_TRUNC, and no write has replaced the
 *	list yet
 * @failed: the last write has failed, so closing the file does not empty the
 *	list
 *
 * Lives from open to release.  No lock guards @replace and @failed.
 */
struct process_open {
	struct trace_array *tr;
	const struct process_setting *setting;
	bool replace;
	bool failed;
};

static int process_words_show(struct seq_file *m, void *unused)
{
	struct process_open *open = m->private;

	guard(mutex)(&utrace_ftrace_mutex);
	open->setting->show(m, open->setting, &open->tr->process->settings);
	return 0;
}

/*
 * Apply @text.  @shown is a copy for the error_log, which is not split into
 * words.
 */
static int process_words_do(struct process_open *open, char *text, char *shown)
{
	struct process_words words = {
		.tr = open->tr,
		.setting = open->setting,
		.replace = open->replace,
		.shown = shown,
		.text = text,
		.next = text,
	};
	int ret = utrace_ftrace_change(open->tr->process, &words);

	open->failed = ret;
	if (!ret)
		open->replace = false;
	return ret;
}

static ssize_t process_words_write(struct file *file, const char __user *from,
				   size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct process_open *open = m->private;
	char *text, *shown;
	int ret = -ENOMEM;

	if (count > PROCESS_WORDS_SIZE)
		return -EFBIG;
	text = memdup_user_nul(from, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	if (strlen(text) != count) {
		kfree(text);
		return -EINVAL;
	}
	shown = kstrdup(text, GFP_KERNEL);
	if (shown)
		ret = process_words_do(open, text, shown);
	kfree(shown);
	kfree(text);
	if (ret)
		return ret;
	*ppos += count;
	return count;
}

/*
 * @tr may be used only after tracing_check_open_get_tr() has found it in
 * ftrace's list of instances and taken a reference: the instance may have been
 * removed.
 */
static int process_words_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	struct process_open *open;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	open = kzalloc(sizeof(*open), GFP_KERNEL_ACCOUNT);
	ret = open ? single_open(file, process_words_show, open) : -ENOMEM;
	if (ret) {
		kfree(open);
		trace_array_put(tr);
		return ret;
	}
	open->tr = tr;
	open->setting = (void *)inode->i_cdev;
	open->replace = file->f_mode & FMODE_WRITE && file->f_flags & O_TRUNC;
	return 0;
}

static int process_words_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct process_open *open = m->private;
	struct trace_array *tr = open->tr;
	char nothing[] = "";

	if (open->replace && !open->failed)
		process_words_do(open, nothing, nothing);
	kfree(open);
	single_release(inode, file);
	trace_array_put(tr);
	return 0;
}

static const struct file_operations process_words_fops = {
	.open		= process_words_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= process_words_write,
	.release	= process_words_release,
};

/* The folder process/ */

static const struct process_setting process_files[] = {
	{ "events", NULL, process_write_events, process_show_events },
	{ "syscalls", NULL, process_write_calls, process_show_calls },
	{ "args", NULL, process_write_args, process_show_args },
	{ "stacks", NULL, process_write_stacks, process_show_stacks },
};

/*
 * i_private of the inode is the instance, as ftrace expects.  i_cdev, unused in
 * a regular file, is the setting.
 */
static void process_create_file(struct trace_array *tr, struct dentry *process,
				const struct process_setting *setting)
{
	struct dentry *file = trace_create_file(setting->name, TRACE_MODE_WRITE,
						process, tr,
						&process_words_fops);

	if (file)
		d_inode(file)->i_cdev = (void *)setting;
}

/**
 * utrace_ftrace_create_files() - create the folder process/ of an instance
 * @tr: the instance
 * @dir: folder of the instance
 *
 * A file that cannot be created is left out, as with ftrace's own files.
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
		process_create_file(tr, process,
				    utrace_ftrace_target_setting(i));
	for (i = 0; i < ARRAY_SIZE(process_files); i++)
		process_create_file(tr, process, &process_files[i]);
	trace_create_file("stat", TRACE_MODE_WRITE, process, tr,
			  &utrace_ftrace_stat_fops);
}

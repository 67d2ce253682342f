// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: files that are lists of words
 *
 * Words are separated by white space.  A word that contains white space or
 * begins with "!" is written in double quotes.  "!" before a word takes the
 * begins with "!" is written in double quotes.  "!" before a word removes the
 *
 * If a file is opened with O_TRUNC (">"), the first write replaces its list,
 * and closing it without a write empties the list.  Otherwise (">>") words are
 * added.  A write takes effect as a whole or not at all.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "words.h"

/* Maximum size of one write in bytes. */
#define PROCESS_WORDS_SIZE	SZ_64K

/* isspace() is true for 0xa0, which is a byte of some letters in UTF-8. */
#define PROCESS_SPACE		" \t\n\v\f\r"

static const char * const process_no_word = "A word is missing";
static const char * const process_no_quote = "The quote is not closed";

/**
 * utrace_ftrace_word_error() - report a wrong word to the instance's error_log
 * @words: the written words; @words->at is the offset of the wrong one
 * @error: the message.  The error_log keeps the pointer, which must stay valid.
 *
 * Cuts @words->shown after the wrong line, so the caller must not use @words
 * afterwards.
 *
 * Context: Process context; may sleep.
 * Return: -EINVAL, for the caller to return.
 */
int utrace_ftrace_word_error(struct process_words *words,
			     const char * const *error)
{
	/* The error_log shows one line: the one with the wrong word. */
	size_t at = words->at;
	char *line, *end, file[32];

	for (line = words->shown + at; line > words->shown && line[-1] != '\n';)
		line--;
	end = strchrnul(line, '\n');
	*end = '\0';
	snprintf(file, sizeof(file), "process/%s", words->setting->name);
	/*
	 * tracing_log_err() does not change the texts; its parameter only
	 * lacks const.
	 */
	tracing_log_err(words->tr, file, line, (const char **)error, 0,
			words->shown + at - line);
	return -EINVAL;
}

/**
 * utrace_ftrace_next_word() - get the next word
 * @words: the written words; @words->next is where the search starts
 *
 * Context: Process context; may sleep.
 * Return:
 * * 1 - @word, @at and @remove describe the word
 * * 0 - there are no more words
 * * -EINVAL - the next word is malformed, which was reported to the error_log
 */
int utrace_ftrace_next_word(struct process_words *words)
{
	char *p = words->next + strspn(words->next, PROCESS_SPACE);
	bool quoted;
	char *end;

	if (!*p)
		return 0;
	words->at = p - words->text;
	words->remove = *p == '!';
	p += words->remove;
	quoted = *p == '"';
	p += quoted;
	end = p + strcspn(p, quoted ? "\"" : PROCESS_SPACE);
	if (quoted && !*end)
		return utrace_ftrace_word_error(words, &process_no_quote);
	if (end == p)
		return utrace_ftrace_word_error(words, &process_no_word);
	words->word = p;
	words->next = *end ? end + 1 : end;
	*end = '\0';
	return 1;
}

/**
 * utrace_ftrace_show_word() - print a word as it can be written back
 * @m: the file that is read
 * @word: the word
 *
 * Context: Any.
 */
void utrace_ftrace_show_word(struct seq_file *m, const char *word)
{
	bool quote = *word == '!' || strpbrk(word, PROCESS_SPACE);

	seq_printf(m, quote ? "\"%s\"\n" : "%s\n", word);
}

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
 *	ftrace's list of instances and taken a reference: the instance may have
 *	been removed.
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

const struct file_operations utrace_ftrace_words_fops = {
	.open		= process_words_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= process_words_write,
	.release	= process_words_release,
};

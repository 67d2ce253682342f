// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: files that are lists of words
 *
 * Words are separated by white space; one that contains some, or that begins
 * with "!", is written in double quotes.  "!" before a word takes it
 * out of the list.  A file that is opened to be truncated (">") loses its list
 * with the first write, or when it is closed without one; else (">>") words are
 * added.  What is written in one go is done as a whole or not at all.
 */
#include <linux/fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "process.h"
#include "words.h"

/* Bytes that are written in one go. */
#define PROCESS_WORDS_SIZE	SZ_64K

/* Not isspace(), for which a part of some letters in UTF-8 is white space. */
#define PROCESS_SPACE		" \t\n\v\f\r"

static const char * const process_syntax_errors[] = {
	"A word is missing",
	"The quote is not closed",
};

/**
 * utrace_ftrace_word_error - say in the instance's error_log what is wrong
 * @words: the word that was found last is the one
 * @errors: possible errors
 * @error: which of them
 *
 * Context: Process context.
 * Return: -EINVAL.
 */
int utrace_ftrace_word_error(struct process_words *words, const char * const *errors,
			     unsigned int error)
{
	/* One line of it: that of the word. */
	size_t at = words->at;
	char *line, *end, file[32];

	for (line = words->shown + at; line > words->shown && line[-1] != '\n';)
		line--;
	end = strchrnul(line, '\n');
	*end = '\0';
	snprintf(file, sizeof(file), "process/%s", words->setting->name);
	/* It does not change them. */
	tracing_log_err(words->tr, file, line, (const char **)errors, error,
			words->shown + at - line);
	return -EINVAL;
}

/**
 * utrace_ftrace_next_word - find the next word
 * @words: what was written; @next is where to begin
 *
 * Context: Process context.
 * Return: 1 with @word, @at and @remove; 0: there are no more; -EINVAL: what
 * follows is no word, and the error_log says so.
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
		return utrace_ftrace_word_error(words, process_syntax_errors, 1);
	if (end == p)
		return utrace_ftrace_word_error(words, process_syntax_errors, 0);
	words->word = p;
	words->next = *end ? end + 1 : end;
	*end = '\0';
	return 1;
}

/**
 * utrace_ftrace_show_word - print a word the way it can be written
 * @m: where to
 * @word: the word
 */
void utrace_ftrace_show_word(struct seq_file *m, const char *word)
{
	bool quote = *word == '!' || strpbrk(word, PROCESS_SPACE);

	seq_printf(m, quote ? "\"%s\"\n" : "%s\n", word);
}

/**
 * struct process_open - an open file
 * @tr: the instance, counted
 * @setting: which file
 * @replace: nothing was done yet to a file that is to be truncated
 * @failed: a write was refused, so closing it does not truncate it either
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
	open->setting->show(m, open->tr->process, open->setting->what);
	return 0;
}

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
	int ret = open->setting->write(open->tr->process, &words);

	open->failed = ret;
	if (!ret)
		open->replace = false;
	return ret;
}

static ssize_t process_words_write(struct file *file, const char __user *from,
				   size_t count, loff_t *ppos)
{
	struct process_open *open = ((struct seq_file *)file->private_data)->private;
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

/* The instance may be gone: nothing of it is touched before it is found. */
static int process_words_open(struct inode *inode, struct file *file)
{
	struct trace_array *tr = inode->i_private;
	struct process_open *open;
	int ret;

	ret = tracing_check_open_get_tr(tr);
	if (ret)
		return ret;
	open = kzalloc(sizeof(*open), GFP_KERNEL);
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
	struct process_open *open = ((struct seq_file *)file->private_data)->private;
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

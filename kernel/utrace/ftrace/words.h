/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: files that are lists of words
 */
#ifndef _KERNEL_UTRACE_FTRACE_WORDS_H
#define _KERNEL_UTRACE_FTRACE_WORDS_H

#include <linux/types.h>

struct dentry;
struct process_setting;
struct process_trace;
struct seq_file;
struct trace_array;

/**
 * struct process_words - what somebody writes to a file
 * @tr: the instance, for its error_log
 * @setting: the file
 * @replace: the words take the place of the list
 * @remove: there is a "!" before this word
 * @word: this word, without its quotes
 * @at: where it begins
 * @shown: all words, for the error_log
 * @text: the same, cut into words up to @next
 * @next: where the next one is looked for
 */
struct process_words {
	struct trace_array *tr;
	const struct process_setting *setting;
	bool replace;
	bool remove;
	char *word;
	size_t at;
	char *shown;
	char *text;
	char *next;
};

/**
 * struct process_setting - a file in process/
 * @name: of the file
 * @what: for the functions
 * @write: do what all words say, or nothing; takes utrace_ftrace_mutex, but not to
 *	look for files.  0 or an error, which is utrace_ftrace_word_error() if a
 *	word is to blame
 * @show: print the list; utrace_ftrace_mutex is held
 */
struct process_setting {
	const char *name;
	unsigned int what;
	int (*write)(struct process_trace *pt, struct process_words *words);
	void (*show)(struct seq_file *m, struct process_trace *pt,
		     unsigned int what);
};

int utrace_ftrace_next_word(struct process_words *words);
int utrace_ftrace_word_error(struct process_words *words, const char * const *errors,
			     unsigned int error);
void utrace_ftrace_show_word(struct seq_file *m, const char *word);
extern const struct file_operations utrace_ftrace_words_fops;

/* targets.c: PROCESS_NTARGETS of them */
extern const struct process_setting utrace_ftrace_target_settings[];

#endif /* _KERNEL_UTRACE_FTRACE_WORDS_H */

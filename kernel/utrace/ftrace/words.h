/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - the process tracer of ftrace: the words of a file
 *
 * A file in process/ is a struct process_setting: files.c reads the written text,
 * words.c splits it, and the functions of the setting interpret the words.
 */
#ifndef _KERNEL_UTRACE_FTRACE_WORDS_H
#define _KERNEL_UTRACE_FTRACE_WORDS_H

#include <linux/types.h>

struct process_setting;
struct process_settings;
struct process_targets;
struct seq_file;
struct trace_array;

/**
 * struct process_words - the words of one write() to a file
 * @tr: the instance, for its error_log; process_open holds the reference
 * @setting: the file
 * @replace: the words replace the list; false: they change it
 * @remove: @word is prefixed by "!"
 * @word: the current word, without its quotes
 * @at: offset of this word in @text and @shown, with its "!" and quotes
 * @shown: copy of all words for the error_log
 * @text: all words; split into words up to @next
 * @next: position in @text where the search for the next word starts
 * @targets: result of @setting->find(), counted; NULL: none
 *
 * Lives on the stack of the write, which owns both texts.
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
	struct process_targets *targets;
};

/**
 * struct process_setting - a file in process/
 * @name: name of the file
 * @find: optional; look up what the words name, without a lock.  Returns 0 or
 *	an error, as @write.
 * @write: apply the words to @settings, a copy; utrace_ftrace_mutex is held.
 *	Returns 0 or an error, which is that of utrace_ftrace_word_error() if a
 *	word is wrong.
 * @show: print the words of @settings; utrace_ftrace_mutex is held
 */
struct process_setting {
	const char *name;
	int (*find)(struct process_words *words);
	int (*write)(struct process_settings *settings,
		     struct process_words *words);
	void (*show)(struct seq_file *m, const struct process_setting *setting,
		     const struct process_settings *settings);
};

int utrace_ftrace_next_word(struct process_words *words);
int utrace_ftrace_word_error(struct process_words *words,
			     const char * const *error);
void utrace_ftrace_show_word(struct seq_file *m, const char *word);

#endif /* _KERNEL_UTRACE_FTRACE_WORDS_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: the words of a file
 *
 * Words are separated by white space.  A word that contains white space or
 * begins with "!" is written in double quotes.  "!" before a word removes the
 * word from the list.
 */
#include <linux/errno.h>
#include <linux/seq_file.h>
#include <linux/sprintf.h>
#include <linux/string.h>

#include "../../trace/trace.h"

#include "words.h"

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

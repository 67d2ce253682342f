// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sets of words, numbers and signals, as in -e NAME=SET
 *
 * A set is "all", "none" or a list with commas.  A "!" before the set means all
 * that are not in it, "!!" those that are in it.  The functions return NULL, or
 * the word that is no member, which is valid until the next call.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/memory.h"
#include "sets.h"

/* The largest signal. */
#define SIGNALS		64

/* Add a word to a set.  Returns false if it is no member. */
typedef bool add_function(void *set, const char *word);

/*
 * Parse a list of words.  Returns NULL, or the word that is wrong; the list if it
 * has no word.
 */
static const char *parse_list(const char *list, add_function *add, void *set)
{
	char *text = checked(strdup(list)), *rest = text, *word;
	const char *wrong = list;
	static char *kept;

	while ((word = strsep(&rest, ","))) {
		if (!*word)
			continue;
		wrong = NULL;
		if (strcmp(word, "all") && add(set, word))
			continue;
		free(kept);
		kept = checked(strdup(word));
		wrong = kept;
		break;
	}
	free(text);
	return wrong;
}

/*
 * Parse a set.  @others is set to whether the words are those that are not in
 * it.  Returns NULL, or the word that is wrong.
 */
static const char *parse(const char *text, bool *others, add_function *add, void *set)
{
	const char *list = text + strspn(text, "!"), *wrong;

	*others = (list - text) % 2;
	if (!strcmp(list, "none"))
		return NULL;
	if (!strcmp(list, "all"))
		return add(set, list) ? NULL : list;
	wrong = parse_list(list, add, set);
	return wrong == list ? text : wrong;
}

/* Words */

struct word_set {
	const struct set_word *words;
	unsigned int bits;
};

static bool add_word(void *data, const char *text)
{
	struct word_set *set = data;
	const struct set_word *word;
	bool found = false;

	for (word = set->words; word->word; word++) {
		if (strcmp(text, "all") && strcmp(text, word->word))
			continue;
		set->bits |= word->bits;
		found = true;
	}
	return found;
}

/* Parse a set of words.  @bits gets the bits of all that are in the set. */
const char *set_of_words(unsigned int *bits, const struct set_word *words,
			 const char *set)
{
	struct word_set found = { .words = words };
	struct word_set all = { .words = words };
	bool others;
	const char *wrong = parse(set, &others, add_word, &found);

	add_word(&all, "all");
	*bits = others ? all.bits & ~found.bits : found.bits;
	return wrong;
}

/* Signals */

/* Return the number of a signal by its name without "SIG", or 0. */
static int signal_of_name(const char *name)
{
	int i;

	for (i = 1; i < 32; i++)
		if (sigabbrev_np(i) && !strcasecmp(name, sigabbrev_np(i)))
			return i;
	if (!strcasecmp(name, "RTMIN"))
		return 32;
	if (!strncasecmp(name, "RT_", 3) && atoi(name + 3) > 0 &&
	    atoi(name + 3) <= SIGNALS - 32)
		return 32 + atoi(name + 3);
	return 0;
}

static bool add_signal(void *data, const char *word)
{
	char *end;
	long number = strtol(word, &end, 10);
	__u64 *set = data;

	if (!strcmp(word, "all")) {
		*set = ~0ULL;
		return true;
	}
	if (!*word || *end)
		number = signal_of_name(word + 3 * !strncasecmp(word, "SIG", 3));
	if (number < 1 || number > SIGNALS)
		return false;
	*set |= 1ULL << (number - 1);
	return true;
}

/* Parse a set of signals, by names and numbers. */
const char *set_of_signals(__u64 *signals, const char *set)
{
	const char *wrong;
	bool others;

	*signals = 0;
	wrong = parse(set, &others, add_signal, signals);
	if (others)
		*signals = ~*signals;
	return wrong;
}

/* Numbers */

static bool add_number(void *data, const char *word)
{
	struct text_numbers *set = data;
	char *end;
	long number = strtol(word, &end, 10);

	if (!strcmp(word, "all")) {
		set->all = true;
		return true;
	}
	if (!*word || *end || number < 0 || number > INT_MAX)
		return false;
	set->of = checked(reallocarray(set->of, set->n + 1, sizeof(*set->of)));
	set->of[set->n++] = number;
	return true;
}

/* Parse a set of descriptors.  Its array is never freed. */
const char *set_of_numbers(struct text_numbers *numbers, const char *set)
{
	*numbers = (struct text_numbers){};
	return parse(set, &numbers->others, add_number, numbers);
}

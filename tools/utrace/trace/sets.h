/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sets of words, numbers and signals, as in -e NAME=SET
 */
#ifndef UTRACE_TRACE_SETS_H
#define UTRACE_TRACE_SETS_H

#include <stdbool.h>

#include <linux/types.h>

#include "format/text.h"

/**
 * struct set_word - a word of a set
 * @word: the word; NULL ends an array
 * @bits: the bits that it stands for
 */
struct set_word {
	const char *word;
	unsigned int bits;
};

const char *set_of_words(unsigned int *bits, const struct set_word *words,
			 const char *set);
const char *set_of_signals(__u64 *signals, const char *set);
const char *set_of_numbers(struct text_numbers *numbers, const char *set);

#endif /* UTRACE_TRACE_SETS_H */

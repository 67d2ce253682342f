// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - damaged options, one a line
 */
#include <string.h>

#include "fuzz.h"
#include "trace/options.h"

#define WORDS_MAX	200

void fuzz_one(char *data, size_t n)
{
	char *words[WORDS_MAX + 2] = { "utrace" }, *rest = data;
	struct options options;
	int argc = 1;

	(void)n;
	while (rest && argc < WORDS_MAX)
		words[argc++] = strsep(&rest, "\n");
	options_parse(&options, argc, words, COMMAND_NONE);
}

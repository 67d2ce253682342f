// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - tips at the end of a trace
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <linux/array_size.h>

#include "tips.h"

static const char *const tips_texts[] = {
	"A debugger may work on the program while utrace traces it.",
	"'utrace ps' lists who traces what, and who holds a task.",
	"utrace --exe=PATH traces all processes that run a file, now or later.",
	"utrace --unit=NAME traces a systemd unit, and what it starts later.",
	"-c costs the program little: the kernel counts without a record.",
	"utrace -c -U calls,p99-time,errnos shows slow calls and errors by name.",
	"Records are never lost without --drop: the program waits instead.",
	"'utrace branches --last 20 PROGRAM' shows the branches before a crash.",
	"'utrace markers list FILE' lists the SDT markers of a program.",
	"-ff -o FILE writes the log of each task to a file of its own.",
};

/* Parse the number of a tip, or "random".  Returns false if it is neither. */
static bool parse_id(struct tips *tips, const char *word)
{
	char *end;

	if (!strcmp(word, "random")) {
		tips->chosen = false;
		return true;
	}
	tips->id = strtoul(word, &end, 10);
	tips->chosen = *word >= '0' && *word <= '9' && !*end;
	return tips->chosen;
}

static bool parse_format(struct tips *tips, const char *word)
{
	static const char *const words[] = {
		[TIPS_NONE] = "none", [TIPS_COMPACT] = "compact",
		[TIPS_FULL] = "full",
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i], word))
			continue;
		tips->format = i;
		return true;
	}
	return false;
}

static bool parse_word(struct tips *tips, const char *word)
{
	if (!strncmp(word, "id:", 3))
		return parse_id(tips, word + 3);
	if (!strncmp(word, "format:", 7))
		return parse_format(tips, word + 7);
	return parse_id(tips, word) || parse_format(tips, word);
}

/* Parse --tips.  @text is NULL if it has no argument. */
bool tips_parse(struct tips *tips, const char *text)
{
	char *words = text ? strdupa(text) : NULL, *word;

	*tips = (struct tips){ .format = TIPS_COMPACT };
	while (words && (word = strsep(&words, ",")))
		if (!parse_word(tips, word))
			return false;
	return true;
}

/* Show the tip on standard error. */
void tips_show(const struct tips *tips)
{
	unsigned int id = tips->id;
	const char *text;
	size_t i, len;

	if (tips->format == TIPS_NONE)
		return;
	if (!tips->chosen)
		getrandom(&id, sizeof(id), GRND_NONBLOCK);
	text = tips_texts[id % ARRAY_SIZE(tips_texts)];
	len = strlen(text);
	if (tips->format == TIPS_COMPACT) {
		fprintf(stderr, "utrace: tip %zu: %s\n",
			id % ARRAY_SIZE(tips_texts), text);
		return;
	}
	for (i = 0; i < len + 4; i++)
		putc('-', stderr);
	fprintf(stderr, "\n| %s |\n", text);
	for (i = 0; i < len + 4; i++)
		putc('-', stderr);
	putc('\n', stderr);
}

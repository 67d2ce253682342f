// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options of strace that this command does not have
 *
 * Each has a text that names the nearest option, for users of strace.
 */
#include <string.h>

#include <linux/array_size.h>

#include "strace.h"

/* Keys of long options that have no letter. */
enum {
	KEY_ABBREV = 0x200,
	KEY_RAW,
	KEY_INJECT,
	KEY_KVM,
};

#define HIDDEN		OPTION_HIDDEN
#define OPTIONAL	(OPTION_HIDDEN | OPTION_ARG_OPTIONAL)

const struct argp_option strace_options[] = {
	{ "decode-pids", 'Y', "WHAT", OPTIONAL },
	{ "abbrev", KEY_ABBREV, "SET", HIDDEN },
	{ "verbose", KEY_ABBREV, "SET", HIDDEN },
	{ "raw", KEY_RAW, "SET", HIDDEN },
	{ "inject", KEY_INJECT, "SET", HIDDEN },
	{ "fault", KEY_INJECT, "SET", HIDDEN },
	{ "kvm", KEY_KVM, "WHAT", HIDDEN },
	{}
};

static const struct {
	int key;
	const char *instead;
} texts[] = {
	{ 'Y', "no -Y; the nearest is -f, which begins lines with the pid" },
	{ KEY_ABBREV, "no --abbrev or --verbose; the nearest is -v" },
	{ KEY_RAW, "no --raw; the nearest is -s 0, which shows no memory" },
	{ KEY_INJECT, "no injection of errors; the nearest is strace -e inject=" },
	{ KEY_KVM, "no --kvm; the nearest is 'perf kvm stat'" },
};

/*
 * Return what to use instead of an option of strace, or NULL if strace has no
 * such option.
 */
const char *strace_instead(int key)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].key == key)
			return texts[i].instead;
	return NULL;
}

/*
 * Return what to use instead of -e NAME=, where @n is the length of the name.
 */
const char *strace_qualifier(const char *name, size_t n)
{
	const struct argp_option *option;

	for (option = strace_options; option->name; option++)
		if (strlen(option->name) == n && !strncmp(option->name, name, n))
			return strace_instead(option->key);
	return NULL;
}

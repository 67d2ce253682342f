// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - options of strace that this command does not have yet
 *
 * Each has a text that names the nearest option, for users of strace.
 */
#include <string.h>

#include <linux/array_size.h>

#include "strace.h"

/* Keys of long options that have no letter. */
enum {
	KEY_INJECT = 0x200,
	KEY_KVM,
	KEY_SECONTEXT,
};

#define HIDDEN		OPTION_HIDDEN

const struct argp_option strace_options[] = {
	{ "inject", KEY_INJECT, "SET", HIDDEN },
	{ "fault", KEY_INJECT, "SET", HIDDEN },
	{ "kvm", KEY_KVM, "WHAT", HIDDEN },
	{ "secontext", KEY_SECONTEXT, "WHAT", HIDDEN | OPTION_ARG_OPTIONAL },
	{}
};

static const struct {
	int key;
	const char *instead;
} texts[] = {
	{ KEY_INJECT, "injection comes in a later version; the nearest is strace -e inject=" },
	{ KEY_KVM, "--kvm comes in a later version; the nearest is 'perf kvm stat'" },
	{ KEY_SECONTEXT, "--secontext comes in a later version; the nearest is ls -Z" },
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

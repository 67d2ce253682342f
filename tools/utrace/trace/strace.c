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
	KEY_READ,
	KEY_WRITE,
	KEY_INJECT,
	KEY_KVM,
	KEY_TIPS,
};

#define HIDDEN		OPTION_HIDDEN
#define OPTIONAL	(OPTION_HIDDEN | OPTION_ARG_OPTIONAL)

const struct argp_option strace_options[] = {
	{ "detach-on", 'b', "CALL", HIDDEN },
	{ "daemonize", 'D', "HOW", OPTIONAL },
	{ "stack-traces", 'k', NULL, HIDDEN },
	{ "decode-pids", 'Y', "WHAT", OPTIONAL },
	{ "debug", 'd', NULL, HIDDEN },
	{ "abbrev", KEY_ABBREV, "SET", HIDDEN },
	{ "verbose", KEY_ABBREV, "SET", HIDDEN },
	{ "raw", KEY_RAW, "SET", HIDDEN },
	{ "read", KEY_READ, "SET", HIDDEN },
	{ "write", KEY_WRITE, "SET", HIDDEN },
	{ "inject", KEY_INJECT, "SET", HIDDEN },
	{ "fault", KEY_INJECT, "SET", HIDDEN },
	{ "kvm", KEY_KVM, "WHAT", HIDDEN },
	{ "tips", KEY_TIPS, "WHICH", OPTIONAL },
	{}
};

static const struct {
	int key;
	const char *instead;
} texts[] = {
	{ 'b', "no -b; the nearest is no -f: the new program alone is traced" },
	{ 'D', "no -D; the nearest is 'utrace -p PID', which is no parent of the program" },
	{ 'k', "no -k; the nearest is 'perf trace --call-graph fp'" },
	{ 'Y', "no -Y; the nearest is -f, which begins lines with the pid" },
	{ 'd', "no -d; the nearest is 'utrace ps', which lists who traces what" },
	{ KEY_ABBREV, "no --abbrev or --verbose; the nearest is -v" },
	{ KEY_RAW, "no --raw; the nearest is -s 0, which shows no memory" },
	{ KEY_READ, "no --read; the nearest is -s N, of all that is read" },
	{ KEY_WRITE, "no --write; the nearest is -s N, of all that is written" },
	{ KEY_INJECT, "no injection of errors; the nearest is strace -e inject=" },
	{ KEY_KVM, "no --kvm; the nearest is 'perf kvm stat'" },
	{ KEY_TIPS, "no --tips; the nearest is --help" },
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

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sets of system calls, as in -e trace=SET
 *
 * A set is a list of names, %groups and /regular expressions with commas
 * between them.  "all" means all calls and "none" no call.  A "!" before the
 * set selects all calls that are not in the set.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/utrace.h>

#include "calls.h"
#include "decode/table.h"
#include "lib/memory.h"

/* Both tables have numbers below this; higher numbers are those of x32. */
#define TABLE_MAX	512

const char *call_name(unsigned int nr)
{
	const struct utrace_call *call = utrace_call_of(nr);

	return call ? call->name : NULL;
}

static bool takes(const struct utrace_call *call, enum utrace_arg_type type)
{
	unsigned int i;

	for (i = 0; i < call->nargs; i++)
		if (call->arg[i].type == type)
			return true;
	return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

/*
 * Check whether a call is in a group, by the types of its arguments or by a
 * list of names.
 */
static bool in_group(const struct utrace_call *call, const char *group)
{
	static const char *const process[] = {
		"clone", "clone3", "execve", "execveat", "exit", "exit_group",
		"fork", "kill", "pidfd_open", "pidfd_send_signal",
		"rt_sigqueueinfo", "rt_tgsigqueueinfo", "tgkill", "tkill",
		"vfork", "wait4", "waitid", "waitpid", NULL
	};
	static const char *const memory[] = {
		"brk", "get_mempolicy", "madvise", "mbind", "migrate_pages",
		"mincore", "mlock", "mlock2", "mlockall", "mmap", "mmap2",
		"move_pages", "mprotect", "mremap", "mseal", "msync", "munlock",
		"munlockall", "munmap", "pkey_mprotect", "process_madvise",
		"process_mrelease", "remap_file_pages", "set_mempolicy", NULL
	};
	static const char *const network[] = {
		"accept", "accept4", "bind", "connect", "getpeername",
		"getsockname", "getsockopt", "listen", "recv", "recvfrom",
		"recvmmsg", "recvmsg", "send", "sendfile", "sendmmsg", "sendmsg",
		"sendto", "setsockopt", "shutdown", "socket", "socketcall",
		"socketpair", NULL
	};

	if (!strcmp(group, "file"))
		return takes(call, UTRACE_ARG_PATH);
	if (!strcmp(group, "desc"))
		return takes(call, UTRACE_ARG_FD) || takes(call, UTRACE_ARG_DFD) ||
		       call->result == UTRACE_ARG_FD;
	if (!strcmp(group, "process"))
		return is_one_of(call->name, process);
	if (!strcmp(group, "memory"))
		return is_one_of(call->name, memory);
	if (!strcmp(group, "network") || !strcmp(group, "net"))
		return is_one_of(call->name, network);
	if (!strcmp(group, "signal"))
		return strstr(call->name, "sig") || strstr(call->name, "kill") ||
		       !strcmp(call->name, "pause");
	return false;
}

static bool is_group(const char *word)
{
	static const char *const groups[] = {
		"file", "desc", "process", "memory", "network", "net", "signal",
		NULL
	};

	return is_one_of(word, groups);
}

/* A parsed word of a set. */
struct word {
	const char *name;	/* NULL if the word is @regex */
	bool group;
	bool all;
	regex_t regex;
};

static bool fits(const struct word *word, const struct utrace_call *call)
{
	if (word->all)
		return true;
	if (word->group)
		return in_group(call, word->name);
	if (word->name)
		return !strcmp(call->name, word->name);
	return !regexec(&word->regex, call->name, 0, NULL, 0);
}

/* Parse one word.  Returns NULL, or a message that says what is wrong. */
static const char *word_parse(struct word *word, const char *text)
{
	static char wrong[160];

	*word = (struct word){ .name = text };
	if (*text == '/') {
		word->name = NULL;
		if (!regcomp(&word->regex, text + 1, REG_EXTENDED | REG_NOSUB))
			return NULL;
		snprintf(wrong, sizeof(wrong), "'%s' is no regular expression",
			 text);
		return wrong;
	}
	word->group = *text == '%';
	word->name += word->group;
	word->all = !word->group && !strcmp(text, "all");
	if (word->all || (word->group && is_group(word->name)) ||
	    utrace_call_nr(text, false) >= 0 || utrace_call_nr(text, true) >= 0)
		return NULL;
	if (word->group)
		snprintf(wrong, sizeof(wrong),
			 "there is no group '%s'; there are %%file, %%desc, %%process, "
			 "%%memory, %%network and %%signal", text);
	else
		snprintf(wrong, sizeof(wrong),
			 "there is no system call '%s'; groups begin with %%, "
			 "regular expressions with /", text);
	return wrong;
}

static void table_walk(const struct word *word, bool *in, bool ia32)
{
	unsigned int nr;

	for (nr = 0; nr < TABLE_MAX; nr++) {
		const struct utrace_call *call =
			utrace_call_of(nr | (ia32 ? UTRACE_NR_IA32 : 0));

		if (call && fits(word, call))
			in[nr] = true;
	}
}

/**
 * calls_parse() - find the system calls of a set
 * @calls: filled in with the numbers of the calls, the 32-bit table last
 * @set: the set as text, as in -e trace=SET
 *
 * Return:
 * * NULL - done
 * * a message - the error in @set; valid until the next call
 */
const char *calls_parse(struct calls *calls, const char *set)
{
	bool in[2][TABLE_MAX] = {}, others = *set == '!', all = false;
	char *text = checked(strdup(set + others)), *word, *rest = text;
	const char *wrong = NULL;
	unsigned int table, nr;

	while (!wrong && (word = strsep(&rest, ","))) {
		struct word parsed;

		if (!*word || !strcmp(word, "none"))
			continue;
		wrong = word_parse(&parsed, word);
		if (wrong)
			break;
		all |= parsed.all;
		table_walk(&parsed, in[0], false);
		table_walk(&parsed, in[1], true);
		if (!parsed.name)
			regfree(&parsed.regex);
	}
	free(text);
	calls->n = 0;
	/*
	 * The 64-bit table comes first: leave_out_ia32() removes numbers from
	 * the end.
	 */
	if (all != others)
		calls->nr[calls->n++] = UTRACE_NR_NONE;
	for (table = 0; table < 2; table++) {
		for (nr = 0; nr < TABLE_MAX; nr++) {
			unsigned int number = nr | (table ? UTRACE_NR_IA32 : 0);

			if (in[table][nr] != others && utrace_call_of(number))
				calls->nr[calls->n++] = number;
		}
	}
	return wrong;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sets of system calls, as in -e trace=SET
 *
 * A set is a list of names, numbers, %groups and /regular expressions with
 * commas between them.  "all" means all calls and "none" no call.  A "!" before
 * the set selects all calls that are not in the set.  A "?" before a word allows
 * names that no table has; "@64", "@32" and "@x32" behind it select a table.
 */
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/array_size.h>
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

/* Groups */

static const char *const clock_calls[] = {
	"adjtimex", "clock_adjtime", "clock_adjtime64", "clock_getres",
	"clock_getres_time64", "clock_gettime", "clock_gettime64",
	"clock_settime", "clock_settime64", "gettimeofday", "settimeofday",
	"stime", "time", NULL
};

static const char *const creds_calls[] = {
	"capget", "capset", "getegid", "getegid32", "geteuid", "geteuid32",
	"getgid", "getgid32", "getgroups", "getgroups32", "getresgid",
	"getresgid32", "getresuid", "getresuid32", "getuid", "getuid32",
	"prctl", "setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid",
	"setgid32", "setgroups", "setgroups32", "setregid", "setregid32",
	"setresgid", "setresgid32", "setresuid", "setresuid32", "setreuid",
	"setreuid32", "setuid", "setuid32", NULL
};

static const char *const fstat_calls[] = {
	"fstat", "fstat64", "fstatat64", "newfstatat", "oldfstat", "statx", NULL
};

static const char *const fstatfs_calls[] = { "fstatfs", "fstatfs64", NULL };

static const char *const ipc_calls[] = {
	"ipc", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget",
	"semop", "semtimedop", "semtimedop_time64", "shmat", "shmctl", "shmdt",
	"shmget", NULL
};

static const char *const lstat_calls[] = {
	"lstat", "lstat64", "oldlstat", NULL
};

static const char *const memory_calls[] = {
	"brk", "get_mempolicy", "io_destroy", "io_setup", "io_uring_register",
	"madvise", "map_shadow_stack", "mbind", "migrate_pages", "mincore",
	"mlock", "mlock2", "mlockall", "mmap", "mmap2", "move_pages",
	"mprotect", "mremap", "mseal", "msync", "munlock", "munlockall",
	"munmap", "pkey_mprotect", "remap_file_pages", "set_mempolicy",
	"set_mempolicy_home_node", "shmat", "shmdt", NULL
};

static const char *const network_calls[] = {
	"accept", "accept4", "bind", "connect", "getpeername", "getpmsg",
	"getsockname", "getsockopt", "listen", "putpmsg", "recv", "recvfrom",
	"recvmmsg", "recvmmsg_time64", "recvmsg", "send", "sendfile",
	"sendfile64", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
	"socket", "socketpair", NULL
};

static const char *const process_calls[] = {
	"clone", "clone3", "execve", "execveat", "exit", "exit_group", "fork",
	"kill", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo",
	"tgkill", "tkill", "vfork", "wait4", "waitid", "waitpid", NULL
};

static const char *const pure_calls[] = {
	"getegid", "getegid32", "geteuid", "geteuid32", "getgid", "getgid32",
	"getpgrp", "getpid", "getppid", "gettid", "getuid", "getuid32", NULL
};

static const char *const stat_calls[] = { "oldstat", "stat", "stat64", NULL };

static const char *const statfs_calls[] = { "statfs", "statfs64", NULL };

/* Calls that %desc has, besides those with a descriptor. */
static const char *const desc_calls[] = {
	"_newselect", "bpf", "landlock_create_ruleset", "pipe", "pipe2", "poll",
	"ppoll", "ppoll_time64", "pselect6", "pselect6_time64", "select", NULL
};

/* Calls with a descriptor that %desc does not have. */
static const char *const other_desc_calls[] = {
	"close_range", NULL
};

static bool is_desc(const struct utrace_call *call)
{
	if (is_one_of(call->name, desc_calls) ||
	    !strncmp(call->name, "sendfile", 8))
		return true;
	if (is_one_of(call->name, network_calls) ||
	    is_one_of(call->name, other_desc_calls))
		return false;
	return takes(call, UTRACE_ARG_FD) || takes(call, UTRACE_ARG_DFD) ||
	       call->result.type == UTRACE_ARG_FD;
}

static bool is_file(const struct utrace_call *call)
{
	return takes(call, UTRACE_ARG_PATH) || !strcmp(call->name, "getcwd") ||
	       !strcmp(call->name, "fsconfig");
}

static bool is_signal(const struct utrace_call *call)
{
	return strstr(call->name, "sig") || strstr(call->name, "kill") ||
	       !strcmp(call->name, "pause") || strstr(call->name, "getmask") ||
	       strstr(call->name, "setmask") ||
	       !strcmp(call->name, "io_uring_enter");
}

static bool is_any_stat(const struct utrace_call *call)
{
	return is_one_of(call->name, stat_calls) ||
	       is_one_of(call->name, lstat_calls) ||
	       is_one_of(call->name, fstat_calls);
}

static bool is_any_statfs(const struct utrace_call *call)
{
	return is_one_of(call->name, statfs_calls) ||
	       is_one_of(call->name, fstatfs_calls) ||
	       !strcmp(call->name, "ustat");
}

/**
 * struct group - calls that a word of a set means
 * @name: the word without the first "%"
 * @plain: the word may also be given without "%", as in old scripts for strace
 * @names: names of the calls, or NULL
 * @has: if @names is NULL: check whether the group has a call
 */
struct group {
	const char *name;
	bool plain;
	const char *const *names;
	bool (*has)(const struct utrace_call *call);
};

static const struct group groups[] = {
	{ "clock", false, clock_calls },
	{ "creds", false, creds_calls },
	{ "desc", true, NULL, is_desc },
	{ "file", true, NULL, is_file },
	{ "fstat", false, fstat_calls },
	{ "fstatfs", false, fstatfs_calls },
	{ "ipc", true, ipc_calls },
	{ "lstat", false, lstat_calls },
	{ "memory", true, memory_calls },
	{ "net", false, network_calls },
	{ "network", true, network_calls },
	{ "process", true, process_calls },
	{ "pure", false, pure_calls },
	{ "signal", true, NULL, is_signal },
	{ "stat", false, stat_calls },
	{ "%stat", false, NULL, is_any_stat },
	{ "statfs", false, statfs_calls },
	{ "%statfs", false, NULL, is_any_statfs },
};

/* Find the group of a word, which begins with "%" or is an old one without. */
static const struct group *find_group(const char *word)
{
	bool plain = *word != '%';
	size_t i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (!strcmp(groups[i].name, word + !plain) &&
		    (!plain || groups[i].plain))
			return &groups[i];
	return NULL;
}

/* Words of a set */

/* The tables of a word. */
#define IN_NATIVE	1
#define IN_IA32		2

/**
 * struct word - a parsed word of a set
 * @all: all calls
 * @group: a group, or NULL
 * @name: a call, or NULL
 * @has_number: the word is @number
 * @number: number of a call in each table
 * @has_regex: the word is @regex
 * @regex: the names match this
 * @tables: IN_ bits, none for the calls of x32
 */
struct word {
	bool all;
	const struct group *group;
	const char *name;
	bool has_number;
	unsigned long number;
	bool has_regex;
	regex_t regex;
	unsigned int tables;
};

static bool fits(const struct word *word, const struct utrace_call *call,
		 unsigned int nr)
{
	if (word->all)
		return true;
	if (word->group)
		return word->group->names ?
		       is_one_of(call->name, word->group->names) :
		       word->group->has(call);
	if (word->name)
		return !strcmp(call->name, word->name);
	if (word->has_number)
		return nr == word->number;
	return !regexec(&word->regex, call->name, 0, NULL, 0);
}

/* Remove "@64", "@32" or "@x32" from the end of @text.  Returns the tables. */
static unsigned int tables_of(char *text)
{
	char *at = strrchr(text, '@');
	unsigned int tables = IN_NATIVE | IN_IA32;

	if (!at)
		return tables;
	if (!strcmp(at, "@64"))
		tables = IN_NATIVE;
	else if (!strcmp(at, "@32"))
		tables = IN_IA32;
	else if (!strcmp(at, "@x32"))
		tables = 0;
	else
		return tables;
	*at = '\0';
	return tables;
}

static bool parse_number(struct word *word, const char *text)
{
	char *end;

	word->number = strtoul(text, &end, 0);
	word->has_number = *text >= '0' && *text <= '9' && !*end;
	return word->has_number;
}

/* Check whether a table of the word has a call of that name. */
static bool has_call(const struct word *word, const char *name)
{
	unsigned int i = UTRACE_NR_IA32 | UTRACE_NR_UNPACKED;
	const struct utrace_call *call;

	if ((word->tables != IN_IA32 && utrace_call_nr(name, false) >= 0) ||
	    (word->tables & IN_IA32 && utrace_call_nr(name, true) >= 0))
		return true;
	while (word->tables & IN_IA32 && (call = utrace_call_of(++i)))
		if (!strcmp(call->name, name))
			return true;
	return false;
}

/* Parse one word.  Returns NULL, or a message that says what is wrong. */
static const char *word_parse(struct word *word, char *text)
{
	bool optional = *text == '?';
	static char wrong[200];

	text += optional;
	*word = (struct word){ .tables = tables_of(text) };
	if (*text == '/') {
		word->has_regex = !regcomp(&word->regex, text + 1,
					   REG_EXTENDED | REG_NOSUB);
		if (word->has_regex)
			return NULL;
		snprintf(wrong, sizeof(wrong), "'%s' is no regular expression",
			 text);
		return wrong;
	}
	word->all = !strcmp(text, "all");
	word->group = find_group(text);
	if (word->all || word->group || parse_number(word, text))
		return NULL;
	word->name = text;
	if (optional || has_call(word, text))
		return NULL;
	if (*text == '%')
		snprintf(wrong, sizeof(wrong),
			 "there is no group '%s'; there are %%clock, %%creds, %%desc, %%file, "
			 "%%ipc, %%memory, %%net, %%process, %%pure, %%signal, %%%%stat and "
			 "%%%%statfs", text);
	else
		snprintf(wrong, sizeof(wrong),
			 "there is no system call '%s'; groups begin with %%, "
			 "regular expressions with /", text);
	return wrong;
}

static void table_walk(const struct word *word, bool *in, bool ia32)
{
	unsigned int nr;

	if (!(word->tables & (ia32 ? IN_IA32 : IN_NATIVE)))
		return;
	for (nr = 0; nr < TABLE_MAX; nr++) {
		const struct utrace_call *call =
			utrace_call_of(nr | (ia32 ? UTRACE_NR_IA32 : 0));

		if (call && fits(word, call, nr))
			in[nr] = true;
	}
}

/* Add the calls of 32-bit programs that are made through another one. */
static void add_unpacked(struct calls *calls, const struct word *word)
{
	const struct utrace_call *call;
	unsigned int i;

	if (!(word->tables & IN_IA32))
		return;
	for (i = 1; i < 64; i++) {
		call = utrace_call_of(UTRACE_NR_IA32 | UTRACE_NR_UNPACKED | i);
		if (!call)
			break;
		if (fits(word, call, TABLE_MAX))
			calls->unpacked |= 1ULL << i;
	}
}

/* Numbers of socketcall() and ipc() in the 32-bit table. */
#define SOCKETCALL	102
#define IPC		117

/* Check whether a call of the 32-bit table stands for one of @unpacked. */
static bool packs(unsigned int nr, __u64 unpacked)
{
	return utrace_unpacked_by(nr | UTRACE_NR_IA32) & unpacked;
}

/* Check whether a set has a call.  UTRACE_NR_NONE is any unknown number. */
bool calls_have(const struct calls *calls, __u32 nr)
{
	unsigned int i;

	if (!utrace_call_of(nr))
		nr = UTRACE_NR_NONE;
	for (i = 0; i < calls->n; i++)
		if (calls->nr[i] == nr)
			return true;
	return false;
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

	calls->unpacked = 0;
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
		add_unpacked(calls, &parsed);
		if (parsed.has_regex)
			regfree(&parsed.regex);
	}
	free(text);
	calls->n = 0;
	if (in[1][SOCKETCALL] || in[1][IPC])
		calls->unpacked |= 1;
	if (others)
		calls->unpacked = ~calls->unpacked;
	/*
	 * The 64-bit table comes first: leave_out_ia32() removes numbers from
	 * the end.
	 */
	if (all != others)
		calls->nr[calls->n++] = UTRACE_NR_NONE;
	for (table = 0; table < 2; table++) {
		for (nr = 0; nr < TABLE_MAX; nr++) {
			unsigned int number = nr | (table ? UTRACE_NR_IA32 : 0);

			if ((in[table][nr] != others ||
			     (table && packs(nr, calls->unpacked))) &&
			    utrace_call_of(number))
				calls->nr[calls->n++] = number;
		}
	}
	return wrong;
}

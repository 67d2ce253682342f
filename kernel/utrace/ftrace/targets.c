// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: whom an instance follows
 *
 * The files comms, exes, uids and cgroups in process/.  What a word stands for
 * is found when it is written; the lists are made into a match.
 */
#include <linux/cgroup.h>
#include <linux/namei.h>
#include <linux/slab.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "process.h"
#include "words.h"
#include "../match.h"

/**
 * struct process_target_item - one word in one of the lists
 * @list: in process_trace.targets
 * @exe: of PROCESS_EXES, counted
 * @uid: of PROCESS_UIDS
 * @cgroup: of PROCESS_CGROUPS, counted
 * @remove: of what is being written: take it out
 * @at: and where it stands there
 * @text: as it was written
 */
struct process_target_item {
	struct list_head list;
	union {
		struct path exe;
		kuid_t uid;
		struct cgroup *cgroup;
	};
	bool remove;
	size_t at;
	char text[];
};

enum process_target_error {
	TARGET_NO_FILE,
	TARGET_NO_UID,
	TARGET_NO_CGROUP,
	TARGET_LONG_COMM,
	TARGET_NOT_THERE,
};

static const char * const process_target_errors[] = {
	[TARGET_NO_FILE]	= "No such program; give the path of a file",
	[TARGET_NO_UID]		= "Not the number of a user; 'id -u NAME' says it",
	[TARGET_NO_CGROUP]	=
		"No such cgroup; give its path as /proc/PID/cgroup has it behind '0::'",
	[TARGET_LONG_COMM]	= "A name of a task has 15 bytes at most",
	[TARGET_NOT_THERE]	= "Not in the list; read the file to see what is",
};

static void process_free_item(enum process_target kind,
			      struct process_target_item *item)
{
	/* What is to be taken out was not looked for. */
	if (item->remove)
		kind = PROCESS_COMMS;
	if (kind == PROCESS_EXES)
		path_put(&item->exe);
#ifdef CONFIG_CGROUPS
	if (kind == PROCESS_CGROUPS)
		cgroup_put(item->cgroup);
#endif
	kfree(item);
}

static void process_free_list(enum process_target kind, struct list_head *list)
{
	struct process_target_item *item, *next;

	list_for_each_entry_safe(item, next, list, list)
		process_free_item(kind, item);
	INIT_LIST_HEAD(list);
}

void utrace_ftrace_free_targets(struct process_trace *pt)
{
	unsigned int kind;

	for (kind = 0; kind < PROCESS_NTARGETS; kind++)
		process_free_list(kind, &pt->targets[kind]);
}

static int process_find_cgroup(struct process_target_item *item)
{
#ifdef CONFIG_CGROUPS
	const char *path = item->text;
	struct cgroup *cgroup;

	/* Where it is mounted on most systems. */
	if (str_has_prefix(path, "/sys/fs/cgroup/") ||
	    !strcmp(path, "/sys/fs/cgroup"))
		path += strlen("/sys/fs/cgroup");
	cgroup = cgroup_get_from_path(*path ? path : "/");
	if (!IS_ERR(cgroup)) {
		item->cgroup = cgroup;
		return 0;
	}
#endif
	return -ENOENT;
}

static int process_find_exe(struct process_target_item *item)
{
	int ret = kern_path(item->text, LOOKUP_FOLLOW, &item->exe);

	if (ret || d_is_reg(item->exe.dentry))
		return ret;
	path_put(&item->exe);
	return -EACCES;
}

static int process_find_uid(struct process_target_item *item)
{
	uid_t uid;
	int ret = kstrtouint(item->text, 10, &uid);

	if (ret)
		return ret;
	item->uid = make_kuid(current_user_ns(), uid);
	return uid_valid(item->uid) ? 0 : -EINVAL;
}

/* Find what the text stands for; 0 or -EINVAL. */
static int process_resolve(struct process_target_item *item,
			   struct process_words *words)
{
	enum process_target_error error;
	bool bad;

	switch (words->setting->what) {
	case PROCESS_EXES:
		bad = process_find_exe(item);
		error = TARGET_NO_FILE;
		break;
	case PROCESS_UIDS:
		bad = process_find_uid(item);
		error = TARGET_NO_UID;
		break;
	case PROCESS_CGROUPS:
		bad = process_find_cgroup(item);
		error = TARGET_NO_CGROUP;
		break;
	default:
		bad = strlen(item->text) >= TASK_COMM_LEN;
		error = TARGET_LONG_COMM;
	}
	return bad ? utrace_ftrace_word_error(words, process_target_errors, error) : 0;
}

static struct process_target_item *process_find(struct list_head *list,
						const char *text)
{
	struct process_target_item *item;

	list_for_each_entry(item, list, list)
		if (!strcmp(item->text, text))
			return item;
	return NULL;
}

/* The words that were written, as a list; 0, -EINVAL or -ENOMEM. */
static int process_read_words(struct list_head *list, struct process_words *words)
{
	struct process_target_item *item;
	size_t size;
	int ret;

	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		size = strlen(words->word) + 1;
		item = kzalloc(struct_size(item, text, size), GFP_KERNEL);
		if (!item)
			return -ENOMEM;
		memcpy(item->text, words->word, size);
		item->remove = words->remove;
		item->at = words->at;
		ret = item->remove ? 0 : process_resolve(item, words);
		if (ret) {
			kfree(item);
			return ret;
		}
		list_add_tail(&item->list, list);
		cond_resched();
	}
	return ret;
}

/* The same list once more; 0 or -ENOMEM. */
static int process_copy(enum process_target kind, struct list_head *to,
			const struct list_head *from)
{
	const struct process_target_item *item;
	struct process_target_item *copy;

	list_for_each_entry(item, from, list) {
		copy = kmemdup(item, struct_size(item, text,
						 strlen(item->text) + 1),
			       GFP_KERNEL);
		if (!copy)
			return -ENOMEM;
		if (kind == PROCESS_EXES)
			path_get(&copy->exe);
#ifdef CONFIG_CGROUPS
		if (kind == PROCESS_CGROUPS)
			cgroup_get(copy->cgroup);
#endif
		list_add_tail(&copy->list, to);
	}
	return 0;
}

/* Do to @list what the words in @written say; 0, -EINVAL or -ENOSPC. */
static int process_do_words(struct list_head *list, struct list_head *written,
			    struct process_words *words)
{
	struct process_target_item *item, *next, *there;
	size_t n = list_count_nodes(list);

	list_for_each_entry_safe(item, next, written, list) {
		there = process_find(list, item->text);
		if (item->remove && !there) {
			words->at = item->at;
			return utrace_ftrace_word_error(words, process_target_errors,
						  TARGET_NOT_THERE);
		}
		if (item->remove) {
			list_del(&there->list);
			process_free_item(words->setting->what, there);
			n--;
		} else if (!there) {
			if (n++ == UTRACE_MATCH_MAX)
				return -ENOSPC;
			list_move_tail(&item->list, list);
		}
	}
	return 0;
}

/* Files are looked for before: that may take long. */
static int process_write_targets(struct process_trace *pt,
				 struct process_words *words)
{
	enum process_target kind = words->setting->what;
	LIST_HEAD(written);
	LIST_HEAD(list);
	LIST_HEAD(old);
	int ret;

	ret = process_read_words(&written, words);
	if (ret)
		goto out;
	mutex_lock(&utrace_ftrace_mutex);
	if (!words->replace)
		ret = process_copy(kind, &list, &pt->targets[kind]);
	if (!ret)
		ret = process_do_words(&list, &written, words);
	if (!ret) {
		list_splice_init(&pt->targets[kind], &old);
		list_splice_init(&list, &pt->targets[kind]);
		ret = utrace_ftrace_apply(pt);
		if (ret) {
			list_splice_init(&pt->targets[kind], &list);
			list_splice_init(&old, &pt->targets[kind]);
		}
	}
	mutex_unlock(&utrace_ftrace_mutex);
out:
	process_free_list(kind, &old);
	process_free_list(kind, &list);
	process_free_list(kind, &written);
	return ret;
}

static void process_show_targets(struct seq_file *m, struct process_trace *pt,
				 unsigned int kind)
{
	const struct process_target_item *item;

	list_for_each_entry(item, &pt->targets[kind], list)
		utrace_ftrace_show_word(m, item->text);
}

const struct process_setting utrace_ftrace_target_settings[] = {
	{ "comms", PROCESS_COMMS, process_write_targets, process_show_targets },
	{ "exes", PROCESS_EXES, process_write_targets, process_show_targets },
	{ "uids", PROCESS_UIDS, process_write_targets, process_show_targets },
	{ "cgroups", PROCESS_CGROUPS, process_write_targets, process_show_targets },
};

static_assert(ARRAY_SIZE(utrace_ftrace_target_settings) == PROCESS_NTARGETS);

static int process_match_list(struct utrace_match *match,
			      enum process_target kind,
			      const struct list_head *list)
{
	const struct process_target_item *item;
	int ret = 0;

	list_for_each_entry(item, list, list) {
		if (kind == PROCESS_COMMS)
			ret = utrace_match_add_comm(match, item->text);
		else if (kind == PROCESS_EXES)
			ret = utrace_match_add_exe(match, &item->exe);
		else if (kind == PROCESS_UIDS)
			ret = utrace_match_add_uid(match, item->uid);
		else
			ret = utrace_match_add_cgroup(match, item->cgroup);
		if (ret)
			break;
	}
	return ret;
}

/**
 * utrace_ftrace_make_match - a match for the targets of an instance
 * @pt: the instance
 *
 * Context: Process context.  utrace_ftrace_mutex is held.
 * Return: the match; -ENOSPC: there are more than %UTRACE_MATCH_MAX targets;
 * -ENOMEM.
 */
struct utrace_match *utrace_ftrace_make_match(struct process_trace *pt)
{
	struct utrace_match *match = utrace_match_new();
	unsigned int kind;
	int ret;

	lockdep_assert_held(&utrace_ftrace_mutex);

	if (!match)
		return ERR_PTR(-ENOMEM);
	for (kind = 0; kind < PROCESS_NTARGETS; kind++) {
		ret = process_match_list(match, kind, &pt->targets[kind]);
		if (ret) {
			utrace_match_put(match);
			return ERR_PTR(ret);
		}
	}
	return match;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: which tasks it follows
 *
 * The files comms, exes, uids and cgroups in process/.  A word is resolved (to
 * a file, a user, a cgroup) when it is written, and stored with its text.  All
 * targets of an instance are combined into one match for its engine.
 *
 * A kind of target is one row of process_kinds[] and its functions.
 */
#include <linux/cgroup.h>
#include <linux/namei.h>
#include <linux/refcount.h>
#include <linux/slab.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include "../match.h"
#include "settings.h"
#include "targets.h"
#include "words.h"

/**
 * struct process_target - one target: a written word and what it names
 * @ref: one reference for each struct process_targets with the target
 * @kind: its kind
 * @exe: for PROCESS_EXES, the file, counted
 * @uid: for PROCESS_UIDS, the user
 * @cgroup: for PROCESS_CGROUPS, the cgroup, counted
 * @remove: written with "!", to remove the word from the list; such a target is
 *	not resolved and is never added to process_settings.targets
 * @at: offset of the word in the written text, for the error log
 * @text: the word, as it was written
 *
 * Only @ref changes once the target is in a struct process_targets.
 */
struct process_target {
	refcount_t ref;
	const struct process_target_kind *kind;
	union {
		struct path exe;
		kuid_t uid;
		struct cgroup *cgroup;
	};
	bool remove;
	size_t at;
	char text[];
};

/**
 * struct process_targets - targets of one kind
 * @ref: references by settings and by writers
 * @n: number of targets in @target
 * @target: the targets, counted
 *
 * Immutable once it is in a struct process_settings.
 */
struct process_targets {
	refcount_t ref;
	unsigned int n;
	struct process_target *target[];
};

/**
 * struct process_target_kind - a kind of target
 * @setting: the file in process/; its functions are the same for all kinds
 * @type: index of the kind's targets in process_settings.targets
 * @find: resolve process_target.text; returns 0, -ENOMEM, or another error if
 *	the text names nothing
 * @put: optional; drop the reference that @find has taken
 * @add: add a resolved target to a match; returns 0, -ENOSPC or -ENOMEM
 * @error: message for the error_log if @find fails: what the word must be
 */
struct process_target_kind {
	struct process_setting setting;
	enum process_target_type type;
	int (*find)(struct process_target *target);
	void (*put)(struct process_target *target);
	int (*add)(struct utrace_match *match,
		   const struct process_target *target);
	const char *error;
};

static const char * const process_not_there =
	"Not in the list; read the file to see what is";

static const struct process_target_kind *
process_kind_of(const struct process_setting *setting)
{
	return container_of_const(setting, struct process_target_kind, setting);
}

/* One target */

static void process_target_put(struct process_target *target)
{
	if (!refcount_dec_and_test(&target->ref))
		return;
	/*
	 * A target with @remove was not resolved and holds no reference.
	 */
	if (target->kind->put && !target->remove)
		target->kind->put(target);
	kfree(target);
}

/*
 * Make a target of the current word.  Return it, or -ENOMEM, or -EINVAL after a
 * line in the instance's error_log.
 */
static struct process_target *process_target_new(struct process_words *words)
{
	const struct process_target_kind *kind = process_kind_of(words->setting);
	size_t size = strlen(words->word) + 1;
	struct process_target *target;
	int ret = 0;

	target = kzalloc(struct_size(target, text, size), GFP_KERNEL_ACCOUNT);
	if (!target)
		return ERR_PTR(-ENOMEM);
	refcount_set(&target->ref, 1);
	target->kind = kind;
	target->remove = words->remove;
	target->at = words->at;
	memcpy(target->text, words->word, size);
	if (!target->remove)
		ret = kind->find(target);
	if (!ret)
		return target;
	kfree(target);
	/* No line in the error_log: -ENOMEM is not about the word. */
	if (ret == -ENOMEM)
		return ERR_PTR(ret);
	return ERR_PTR(utrace_ftrace_word_error(words, &kind->error));
}

/* Lists of targets */

static struct process_targets *process_targets_new(unsigned int size)
{
	struct process_targets *targets;

	targets = kvzalloc(struct_size(targets, target, size),
			   GFP_KERNEL_ACCOUNT);
	if (targets)
		refcount_set(&targets->ref, 1);
	return targets;
}

/**
 * utrace_ftrace_get_targets() - get a reference to targets
 * @targets: the targets, or NULL
 *
 * Context: Any.
 */
void utrace_ftrace_get_targets(struct process_targets *targets)
{
	if (targets)
		refcount_inc(&targets->ref);
}

/**
 * utrace_ftrace_put_targets() - drop a reference to targets
 * @targets: the targets, or NULL
 *
 * Context: Process context; may sleep.
 */
void utrace_ftrace_put_targets(struct process_targets *targets)
{
	unsigned int i;

	if (!targets || !refcount_dec_and_test(&targets->ref))
		return;
	for (i = 0; i < targets->n; i++)
		process_target_put(targets->target[i]);
	kvfree(targets);
}

/**
 * utrace_ftrace_free_settings() - drop the references that settings hold
 * @settings: the settings, which the caller no longer uses
 *
 * Context: Process context; may sleep.
 */
void utrace_ftrace_free_settings(struct process_settings *settings)
{
	unsigned int kind;

	for (kind = 0; kind < PROCESS_NTARGETS; kind++)
		utrace_ftrace_put_targets(settings->targets[kind]);
}

static unsigned int process_ntargets(const struct process_targets *targets)
{
	return targets ? targets->n : 0;
}

/* Add a target, with a reference of its own.  The caller has reserved room. */
static void process_targets_add(struct process_targets *targets,
				struct process_target *target)
{
	refcount_inc(&target->ref);
	targets->target[targets->n++] = target;
}

static void process_targets_remove(struct process_targets *targets,
				   unsigned int i)
{
	process_target_put(targets->target[i]);
	targets->n--;
	memmove(&targets->target[i], &targets->target[i + 1],
		(targets->n - i) * sizeof(targets->target[0]));
}

/* Return the index of the target with this text, or the number of targets. */
static unsigned int process_targets_find(const struct process_targets *targets,
					 const char *text)
{
	unsigned int i;

	for (i = 0; i < targets->n; i++)
		if (!strcmp(targets->target[i]->text, text))
			break;
	return i;
}

/* Writing */

/*
 * Resolve the written words into @words->targets.  This is done before the
 * mutex is taken, since the look-up of a file may take long.  Return 0, -EINVAL
 * or -ENOMEM.
 */
static int process_find_targets(struct process_words *words)
{
	struct process_target *target;
	struct process_targets *found;
	int ret;

	/* A word takes at least two bytes, with the space after it. */
	found = process_targets_new(strlen(words->text) / 2 + 1);
	if (!found)
		return -ENOMEM;
	words->targets = found;
	while ((ret = utrace_ftrace_next_word(words)) > 0) {
		target = process_target_new(words);
		if (IS_ERR(target))
			return PTR_ERR(target);
		found->target[found->n++] = target;
		cond_resched();
	}
	return ret;
}

/*
 * Add the written targets to @list, and remove those written with "!".  Return
 * 0, -EINVAL or -ENOSPC.
 */
static int process_do_words(struct process_targets *list,
			    struct process_words *words)
{
	struct process_targets *found = words->targets;
	unsigned int i, there;

	for (i = 0; i < found->n; i++) {
		struct process_target *target = found->target[i];

		there = process_targets_find(list, target->text);
		if (!target->remove) {
			if (there < list->n)
				continue;
			if (list->n == UTRACE_MATCH_MAX)
				return -ENOSPC;
			process_targets_add(list, target);
		} else if (there < list->n) {
			process_targets_remove(list, there);
		} else {
			words->at = target->at;
			return utrace_ftrace_word_error(words,
							&process_not_there);
		}
	}
	return 0;
}

static int process_write_targets(struct process_settings *settings,
				 struct process_words *words)
{
	struct process_targets **targets =
		&settings->targets[process_kind_of(words->setting)->type];
	struct process_targets *old = words->replace ? NULL : *targets;
	struct process_targets *list;
	unsigned int i, n;
	int ret;

	n = process_ntargets(old);
	list = process_targets_new(min(n + words->targets->n, UTRACE_MATCH_MAX));
	if (!list)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		process_targets_add(list, old->target[i]);
	ret = process_do_words(list, words);
	/* @settings gets the new list; the old or a failed one is dropped. */
	if (!ret)
		swap(*targets, list);
	utrace_ftrace_put_targets(list);
	return ret;
}

static void process_show_targets(struct seq_file *m,
				 const struct process_setting *setting,
				 const struct process_settings *settings)
{
	const struct process_targets *targets =
		settings->targets[process_kind_of(setting)->type];
	unsigned int i;

	for (i = 0; i < process_ntargets(targets); i++)
		utrace_ftrace_show_word(m, targets->target[i]->text);
}

/* The kinds */

static int process_find_comm(struct process_target *target)
{
	return strlen(target->text) < TASK_COMM_LEN ? 0 : -EINVAL;
}

static int process_add_comm(struct utrace_match *match,
			    const struct process_target *target)
{
	return utrace_match_add_comm(match, target->text);
}

static int process_find_exe(struct process_target *target)
{
	int ret = kern_path(target->text, LOOKUP_FOLLOW, &target->exe);

	if (ret || d_is_reg(target->exe.dentry))
		return ret;
	path_put(&target->exe);
	return -EACCES;
}

static void process_put_exe(struct process_target *target)
{
	path_put(&target->exe);
}

static int process_add_exe(struct utrace_match *match,
			   const struct process_target *target)
{
	return utrace_match_add_exe(match, &target->exe);
}

static int process_find_uid(struct process_target *target)
{
	uid_t uid;
	int ret = kstrtouint(target->text, 10, &uid);

	if (ret)
		return ret;
	target->uid = make_kuid(current_user_ns(), uid);
	return uid_valid(target->uid) ? 0 : -EINVAL;
}

static int process_add_uid(struct utrace_match *match,
			   const struct process_target *target)
{
	return utrace_match_add_uid(match, target->uid);
}

static int process_find_cgroup(struct process_target *target)
{
#ifdef CONFIG_CGROUPS
	const char *path = target->text;
	struct cgroup *cgroup;

	/* Accept the path below the usual mount point, too. */
	if (str_has_prefix(path, "/sys/fs/cgroup/") ||
	    !strcmp(path, "/sys/fs/cgroup"))
		path += strlen("/sys/fs/cgroup");
	cgroup = cgroup_get_from_path(*path ? path : "/");
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	target->cgroup = cgroup;
	return 0;
#else
	return -ENOENT;
#endif
}

static void process_put_cgroup(struct process_target *target)
{
#ifdef CONFIG_CGROUPS
	cgroup_put(target->cgroup);
#endif
}

static int process_add_cgroup(struct utrace_match *match,
			      const struct process_target *target)
{
	return utrace_match_add_cgroup(match, target->cgroup);
}

#define PROCESS_TARGETS_FILE(_name) {		\
	.name	= (_name),			\
	.find	= process_find_targets,		\
	.write	= process_write_targets,	\
	.show	= process_show_targets,		\
}

static const struct process_target_kind process_kinds[PROCESS_NTARGETS] = {
	[PROCESS_COMMS] = {
		.setting = PROCESS_TARGETS_FILE("comms"),
		.type = PROCESS_COMMS,
		.find = process_find_comm,
		.add = process_add_comm,
		.error = "A name of a task has 15 bytes at most",
	},
	[PROCESS_EXES] = {
		.setting = PROCESS_TARGETS_FILE("exes"),
		.type = PROCESS_EXES,
		.find = process_find_exe,
		.put = process_put_exe,
		.add = process_add_exe,
		.error = "No such program; give the path of a file",
	},
	[PROCESS_UIDS] = {
		.setting = PROCESS_TARGETS_FILE("uids"),
		.type = PROCESS_UIDS,
		.find = process_find_uid,
		.add = process_add_uid,
		.error = "Not the number of a user; 'id -u NAME' says it",
	},
	[PROCESS_CGROUPS] = {
		.setting = PROCESS_TARGETS_FILE("cgroups"),
		.type = PROCESS_CGROUPS,
		.find = process_find_cgroup,
		.put = process_put_cgroup,
		.add = process_add_cgroup,
		.error = "No such cgroup; give its path as /proc/PID/cgroup has it behind '0::'",
	},
};

/**
 * utrace_ftrace_target_setting() - get the file of a kind of targets
 * @kind: the kind
 *
 * Context: Any.
 * Return: the file; it is constant.
 */
const struct process_setting *
utrace_ftrace_target_setting(enum process_target_type kind)
{
	return &process_kinds[kind].setting;
}

/* The match */

static int process_match_targets(struct utrace_match *match,
				 const struct process_targets *targets)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < process_ntargets(targets) && !ret; i++)
		ret = targets->target[i]->kind->add(match, targets->target[i]);
	return ret;
}

/**
 * utrace_ftrace_make_match() - make a match from the targets in settings
 * @settings: the settings
 *
 * Context: Process context; may sleep.
 * Return:
 * * the match - with a reference for the caller
 * * -ENOSPC - there are more than %UTRACE_MATCH_MAX targets
 * * -ENOMEM - out of memory
 */
struct utrace_match *
utrace_ftrace_make_match(const struct process_settings *settings)
{
	struct utrace_match *match = utrace_match_new();
	unsigned int kind;
	int ret;

	if (!match)
		return ERR_PTR(-ENOMEM);
	for (kind = 0; kind < PROCESS_NTARGETS; kind++) {
		ret = process_match_targets(match, settings->targets[kind]);
		if (ret) {
			utrace_match_put(match);
			return ERR_PTR(ret);
		}
	}
	return match;
}

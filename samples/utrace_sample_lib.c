// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_sample_lib
 *
 * The life of engines, once for all samples: attached to a process given by
 * number, at load time or later, and all gone before the module is. Not loaded
 * by hand: "modprobe utrace_syscount" brings it along.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/slab.h>

#include "utrace_sample_lib.h"

struct sample_engine {
	struct list_head node;
	struct utrace_engine *engine;
};

/**
 * utrace_sample_attach - watch one more process
 * @sample: a sample that was initialised
 * @pid: number of the process, as the caller sees it
 *
 * A process that an engine of this sample covers already is refused: its
 * events would count twice.
 *
 * Context: Process context. May sleep.
 * Return: 0, -ESRCH (no such process), -EEXIST (watched already), -ENOMEM
 * or an error of utrace_attach_pid().
 */
int utrace_sample_attach(struct utrace_sample *sample, int pid)
{
	struct utrace_engine *engine;
	struct sample_engine *entry;
	struct pid *target;
	int ret;

	target = find_get_pid(pid);
	if (!target)
		return -ESRCH;
	engine = utrace_attach_pid(target, sample->flags |
				   UTRACE_ATTACH_CREATE |
				   UTRACE_ATTACH_EXCLUSIVE |
				   UTRACE_ATTACH_MATCH_OPS |
				   UTRACE_ATTACH_ANY_SCOPE,
				   sample->ops, sample);
	put_pid(target);
	if (IS_ERR(engine))
		return PTR_ERR(engine);

	entry = kzalloc(sizeof(*entry), GFP_KERNEL);
	ret = entry ? 0 : -ENOMEM;
	/* NULL: in all tasks that the engine covers */
	if (!ret)
		ret = utrace_set_events(NULL, engine, sample->events);
	if (ret) {
		utrace_engine_shutdown(engine);
		kfree(entry);
		return ret;
	}
	entry->engine = engine;
	mutex_lock(&sample->lock);
	list_add(&entry->node, &sample->engines);
	mutex_unlock(&sample->lock);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_sample_attach);

static int attach_set(void *data, u64 pid)
{
	if (!pid || pid > INT_MAX)
		return -EINVAL;
	return utrace_sample_attach(data, pid);
}
DEFINE_DEBUGFS_ATTRIBUTE(attach_fops, NULL, attach_set, "%llu\n");

/**
 * utrace_sample_init - set a sample up
 * @sample: filled in as its description says
 * @pid: first process to watch, 0 for none
 *
 * Makes a folder in debugfs, named as the sample's ops are, with its file and
 * the file "attach": a pid written there is watched too.
 *
 * Context: Process context. May sleep.
 * Return: 0 or an error of utrace_sample_attach().
 */
int utrace_sample_init(struct utrace_sample *sample, int pid)
{
	int ret;

	mutex_init(&sample->lock);
	INIT_LIST_HEAD(&sample->engines);
	ret = pid ? utrace_sample_attach(sample, pid) : 0;
	if (ret)
		return ret;
	sample->dir = debugfs_create_dir(sample->ops->name, NULL);
	debugfs_create_file(sample->file, 0400, sample->dir, NULL,
			    sample->fops);
	debugfs_create_file_unsafe("attach", 0200, sample->dir, sample,
				   &attach_fops);
	return 0;
}
EXPORT_SYMBOL_GPL(utrace_sample_init);

/**
 * utrace_sample_exit - let go of everything
 * @sample: a sample that was initialised
 *
 * When it returns no callback of the sample runs or will, so it may go away.
 *
 * Context: Process context. May sleep.
 */
void utrace_sample_exit(struct utrace_sample *sample)
{
	struct sample_engine *entry, *next;

	/* First, so that nobody attaches any more */
	debugfs_remove(sample->dir);
	list_for_each_entry_safe(entry, next, &sample->engines, node) {
		utrace_engine_shutdown(entry->engine);
		kfree(entry);
	}
}
EXPORT_SYMBOL_GPL(utrace_sample_exit);

MODULE_DESCRIPTION("utrace samples: what they share");
MODULE_LICENSE("GPL");

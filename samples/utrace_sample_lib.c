// SPDX-License-Identifier: GPL-2.0
/**
 * DOC: utrace_sample_lib
 *
 * Functions that samples share: attach an engine to the process with a given
 * number, when the module is loaded or later, and detach all engines before the
 * module is unloaded. modprobe loads this module along with a sample, for
 * instance by "modprobe utrace_syscount".
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
 * @pid: number of the process in the pid namespace of the caller
 *
 * A process that an engine of this sample already covers is refused, since its
 * events would be counted twice.
 *
 * Context: Process context. May sleep. Takes @sample->lock.
 * Return:
 * * 0 - the process is watched
 * * -ESRCH - there is no such process
 * * -EEXIST - an engine of the sample covers the process already
 * * -ENOMEM - no memory
 * * other - an error of utrace_attach_pid() or utrace_set_events()
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
	/* NULL means all tasks that the engine covers. */
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
 * @sample: filled in as described at struct utrace_sample
 * @pid: first process to watch, or 0 for none
 *
 * Creates a directory in debugfs with the name of @sample->ops.  The directory
 * has the sample's own file and the file "attach": a write of a pid attaches to
 * one more process.
 *
 * Context: Process context. May sleep. Takes @sample->lock.
 * Return:
 * * 0 - done
 * * other - an error of utrace_sample_attach(); nothing is left behind
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
 * utrace_sample_exit - detach all engines of a sample
 * @sample: a sample that was initialised
 *
 * When this returns, no callback of the sample runs or will run, so its module
 * may be unloaded.
 *
 * Context: Process context. May sleep.
 */
void utrace_sample_exit(struct utrace_sample *sample)
{
	struct sample_engine *entry, *next;

	/*
	 * Remove "attach" first, so that no write adds an engine to the list.
	 */
	debugfs_remove(sample->dir);
	list_for_each_entry_safe(entry, next, &sample->engines, node) {
		utrace_engine_shutdown(entry->engine);
		kfree(entry);
	}
}
EXPORT_SYMBOL_GPL(utrace_sample_exit);

MODULE_DESCRIPTION("utrace samples: common functions");
MODULE_LICENSE("GPL");

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - the process tracer of ftrace: what kernel/trace calls
 *
 * The tracer "process" for register_tracer(), and the hooks for the creation
 * and the end of an instance and for changes of its lists of pids.
 */
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/sprintf.h>
#include <linux/utrace.h>

#include "../../trace/trace.h"

#include "../match.h"
#include "files.h"
#include "instance.h"
#include "record.h"
#include "settings.h"
#include "stat.h"

static struct process_trace *process_trace_new(void)
{
	struct process_trace *pt = kzalloc(sizeof(*pt), GFP_KERNEL_ACCOUNT);

	if (!pt)
		return NULL;
	utrace_ftrace_init_tasks(pt);
	kref_init(&pt->ref);
	utrace_ftrace_init_settings(&pt->settings);
	return pt;
}

/*
 * Get the state of the tracer in @tr.  It is allocated with the files of the
 * instance, or if that failed, when the tracer starts.  NULL: no memory.
 */
static struct process_trace *process_trace_of(struct trace_array *tr)
{
	lockdep_assert_held(&utrace_ftrace_mutex);

	if (!tr->process)
		tr->process = process_trace_new();
	return tr->process;
}

/**
 * utrace_ftrace_create() - create the tracer's state and files of an instance
 * @tr: the instance, which kernel/trace is creating
 * @dir: its folder
 *
 * Context: Process context.  Takes utrace_ftrace_mutex.
 */
void utrace_ftrace_create(struct trace_array *tr, struct dentry *dir)
{
	guard(mutex)(&utrace_ftrace_mutex);
	if (process_trace_of(tr))
		utrace_ftrace_create_files(tr, dir);
}

/**
 * utrace_ftrace_remove() - drop the tracer's state in an instance
 * @tr: the instance, which kernel/trace is removing.  Its tracer was stopped
 *	and its files were removed, so only callbacks can still use the state.
 *
 * Context: Process context.  event_mutex and trace_types_lock are held.
 */
void utrace_ftrace_remove(struct trace_array *tr)
{
	if (tr->process)
		utrace_ftrace_put(tr->process);
	tr->process = NULL;
}

/**
 * utrace_ftrace_pids_changed() - apply new lists of pids to all tasks
 * @tr: the instance.  kernel/trace has replaced one of its lists, and has not
 *	freed the old one yet.
 *
 * Context: Process context.  event_mutex is held.  Takes utrace_ftrace_mutex.
 */
void utrace_ftrace_pids_changed(struct trace_array *tr)
{
	struct utrace_engine *engine;

	guard(mutex)(&utrace_ftrace_mutex);
	engine = tr->process ? utrace_ftrace_engine(tr->process) : NULL;
	if (!engine)
		return;
	/*
	 * Set the same match again: it is evaluated again for all tasks, and
	 * utrace_ftrace_choose() reads the new lists.
	 */
	WARN_ON_ONCE(utrace_set_match(engine, tr->process->match));
}

/* The tracer */

/*
 * Find the instance's file of each event.  ftrace adds and removes these files
 * under event_mutex and trace_types_lock; the caller of ->init() holds
 * trace_types_lock.  A file lives until the instance is removed, after the
 * tracer was stopped.
 */
static int process_find_files(struct process_trace *pt, struct trace_array *tr)
{
	char name[32];
	unsigned int i;

	for (i = 0; i < PROCESS_NRECORDS; i++) {
		snprintf(name, sizeof(name), "utrace_%s",
			 utrace_ftrace_event_names[i]);
		pt->file[i] = __find_event_file(tr, "utrace", name);
		if (!pt->file[i])
			return -ENODEV;
	}
	return 0;
}

static int process_tracer_init(struct trace_array *tr)
{
	struct process_trace *pt;
	struct utrace_engine *engine;
	int ret;

	guard(mutex)(&utrace_ftrace_mutex);
	pt = process_trace_of(tr);
	if (!pt)
		return -ENOMEM;
	ret = process_find_files(pt, tr);
	if (ret)
		return ret;
	engine = utrace_attach_system(UTRACE_ATTACH_OBSERVER,
				      &utrace_ftrace_ops, pt);
	if (IS_ERR(engine))
		return PTR_ERR(engine);
	utrace_ftrace_start(pt, tr, engine);
	ret = utrace_ftrace_apply(pt, &pt->settings);
	if (ret)
		utrace_ftrace_stop(pt);
	return ret;
}

static void process_tracer_reset(struct trace_array *tr)
{
	guard(mutex)(&utrace_ftrace_mutex);
	utrace_ftrace_stop(tr->process);
}

static struct tracer process_tracer __read_mostly = {
	.name		= "process",
	.init		= process_tracer_init,
	.reset		= process_tracer_reset,
	.print_line	= utrace_ftrace_print_line,
	.allow_instances = true,
};

static int __init process_tracer_register(void)
{
	return register_tracer(&process_tracer);
}

/*
 * After core_initcall(), in which the core creates its caches; before
 * ftrace=process on the command line takes effect.
 */
core_initcall_sync(process_tracer_register);

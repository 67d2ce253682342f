// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: making, attaching and closing consumers
 *
 * A consumer owns a ring, and an engine on the tasks that it follows.  It is a
 * descriptor of a program (file.c), or belongs to a part of the kernel
 * (inkernel.c).  The threads that the engine covers join at their next safe
 * point (bts_engine.c).
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/ptrace.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>

#include "../builtin.h"
#include "../utrace_dev.h"
#include "../viewer.h"
#include "attach.h"
#include "consumer.h"
#include "cpu.h"
#include "read.h"
#include "ring.h"
#include "thread.h"
#include "track.h"

#define BRANCH_LEVELS	(UTRACE_LEVEL_USER | UTRACE_LEVEL_KERNEL)

/* The smallest ring of a consumer of a CPU. */
#define BRANCH_CPU_MIN	2048ULL

static const int branch_scopes[] = {
	[UTRACE_SCOPE_THREAD]	= 0,
	[UTRACE_SCOPE_PROCESS]	= UTRACE_ATTACH_PROCESS,
	[UTRACE_SCOPE_TREE]	= UTRACE_ATTACH_TREE,
};

static void branch_put_cpus(struct bts_consumer *consumer)
{
	if (consumer->has_cpus)
		utrace_branch_cpus_put();
	consumer->has_cpus = false;
}

/* No thread is left that could queue bts_consumer.move. */
static void branch_consumer_free(struct work_struct *work)
{
	struct bts_consumer *consumer = container_of(work, struct bts_consumer,
						     free);

	cancel_work_sync(&consumer->move);
	branch_put_cpus(consumer);
	utrace_branch_ring_free(&consumer->ring);
	utrace_reader_end(&consumer->reader);
	put_pid_ns(consumer->ns);
	utrace_viewer_put(consumer->viewer);
	kfree(consumer);
}

/* Settings */

/* Choose the source for a consumer; 0 if there is none. */
static unsigned int branch_source_for(const struct utrace_branches_want *want,
				      bool cpu)
{
	unsigned int recorder = utrace_branch_cpu_source();
	bool kernel = want->levels & UTRACE_LEVEL_KERNEL;

	switch (want->source) {
	case UTRACE_BRANCH_SOURCE_ANY:
		if (recorder == UTRACE_BRANCH_SOURCE_EMULATED)
			recorder = 0;
		/* Single steps are exact and need no shared hardware. */
		if (!cpu && !(kernel && recorder))
			return UTRACE_BRANCH_SOURCE_STEP;
		return recorder;
	case UTRACE_BRANCH_SOURCE_STEP:
		return cpu ? 0 : UTRACE_BRANCH_SOURCE_STEP;
	default:
		return want->source == recorder ? recorder : 0;
	}
}

/* Check whether tasks can wait: not in the kernel, if CPUs record them. */
static bool branch_can_wait(u32 levels, unsigned int source, bool cpu)
{
	return !cpu && (source == UTRACE_BRANCH_SOURCE_STEP ||
			!(levels & UTRACE_LEVEL_KERNEL));
}

/**
 * utrace_branch_check() - check the settings of a consumer
 * @want: settings of the consumer
 * @cpu: the consumer is to follow a CPU, else tasks
 *
 * Context: Any.
 * Return:
 * * enum utrace_branch_source, but not ANY
 * * -EINVAL - there is no such level, policy or source
 * * -EOPNOTSUPP - this machine has no such source, or the tasks cannot wait
 */
int utrace_branch_check(const struct utrace_branches_want *want, bool cpu)
{
	unsigned int source = branch_source_for(want, cpu);

	if (want->levels & ~BRANCH_LEVELS ||
	    want->full > UTRACE_FULL_OVERWRITE ||
	    want->source > UTRACE_BRANCH_SOURCE_EMULATED)
		return -EINVAL;
	if (!source)
		return -EOPNOTSUPP;
	if (want->full == UTRACE_FULL_STOP &&
	    !branch_can_wait(want->levels, source, cpu))
		return -EOPNOTSUPP;
	return source;
}

/* Making */

/**
 * utrace_branch_consumer_new() - allocate a consumer that follows nothing yet
 * @want: settings of the consumer
 * @source: from utrace_branch_check()
 * @cpu: the consumer is to follow a CPU, else tasks
 * @session: the session of the calling program, or NULL for the kernel
 *
 * Context: Process context; may sleep.
 * Return: the consumer, with a reference for the caller; -EINVAL if the ring is
 * too large, -ENOMEM, or an error of utrace_viewer_new().
 */
struct bts_consumer *
utrace_branch_consumer_new(const struct utrace_branches_want *want, u32 source,
			   bool cpu, struct utrace_session *session)
{
	struct utrace_viewer *viewer = NULL;
	struct bts_consumer *consumer;
	u64 capacity = want->capacity;
	int ret;

	if (session)
		viewer = utrace_viewer_new(utrace_dev_cred(session), cpu);
	if (IS_ERR(viewer))
		return ERR_CAST(viewer);
	consumer = kzalloc(sizeof(*consumer), GFP_KERNEL_ACCOUNT);
	if (!consumer) {
		utrace_viewer_put(viewer);
		return ERR_PTR(-ENOMEM);
	}
	consumer->viewer = viewer;
	/* A smaller ring would count as full before half of it is used. */
	if (cpu && capacity)
		capacity = max(capacity, BRANCH_CPU_MIN);
	ret = utrace_branch_ring_init(&consumer->ring, capacity,
				      want->full == UTRACE_FULL_OVERWRITE);
	if (ret) {
		utrace_viewer_put(viewer);
		kfree(consumer);
		return ERR_PTR(ret);
	}
	kref_init(&consumer->ref);
	mutex_init(&consumer->lock);
	spin_lock_init(&consumer->wait_lock);
	utrace_reader_init(&consumer->reader, &consumer->wait_lock,
			   &utrace_branch_reader_ops);
	INIT_LIST_HEAD(&consumer->waiting);
	INIT_LIST_HEAD(&consumer->tracks);
	INIT_WORK(&consumer->move, utrace_branch_tracks_work);
	INIT_WORK(&consumer->free, branch_consumer_free);
	consumer->levels = want->levels ?: UTRACE_LEVEL_USER;
	consumer->source = source;
	consumer->stop = (want->full == UTRACE_FULL_DEFAULT ||
			  want->full == UTRACE_FULL_STOP) &&
			 branch_can_wait(want->levels, source, cpu);
	consumer->ns = get_pid_ns(session ? utrace_dev_ns(session) :
					    &init_pid_ns);
	if (session)
		utrace_reader_start(&consumer->reader);
	return consumer;
}

static bool branch_may_trace(struct task_struct *task, void *data)
{
	struct bts_consumer *consumer = data;

	if (task->exit_state)
		return true;
	/* The reader would wait for itself. */
	if (consumer->stop && same_thread_group(task, current))
		consumer->deadlock = true;
	return !consumer->deadlock &&
	       utrace_viewer_may_attach(consumer->viewer, task);
}

/**
 * utrace_branch_consumer_attach() - attach the engine of a consumer
 * @consumer: the consumer
 * @task: one of the tasks to follow
 * @scope: enum utrace_scope, up to %UTRACE_SCOPE_TREE
 *
 * Requests a report from each thread, so that it joins at its next safe point.
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the threads join at their next safe points
 * * -EINVAL - there is no such scope
 * * -EOPNOTSUPP - the machine has no single steps, or nothing that records CPUs
 * * -EDEADLK - the caller would wait for itself
 * * -ESRCH - @task has exited
 * * -EPERM - the opener of the device may not trace one of the tasks, or @task
 *   is a kernel thread
 * * -ENOSPC, -EUSERS - a task or the user cannot have another engine
 * * -EINTR - the caller is being killed
 * * -EBUSY, -EIO - see utrace_branch_cpus_get()
 * * -ENOMEM - out of memory
 */
int utrace_branch_consumer_attach(struct bts_consumer *consumer,
				  struct task_struct *task, u32 scope)
{
	struct utrace_engine *engine;
	int ret;

	if (!scope || scope >= ARRAY_SIZE(branch_scopes))
		return -EINVAL;
	if (consumer->source == UTRACE_BRANCH_SOURCE_STEP) {
		if (!arch_has_single_step())
			return -EOPNOTSUPP;
	} else {
		ret = utrace_branch_cpus_get();
		if (ret)
			return ret;
		consumer->tracked = true;
		consumer->has_cpus = true;
	}
	engine = utrace_attach_for(consumer->viewer ? consumer->viewer->opener :
						      NULL, task,
				   UTRACE_ATTACH_OBSERVER |
				   UTRACE_ATTACH_OWN_EVENTS |
				   branch_scopes[scope],
				   &utrace_branch_ops, consumer,
				   consumer->viewer ? branch_may_trace : NULL,
				   consumer);
	if (IS_ERR(engine))
		return consumer->deadlock ? -EDEADLK : PTR_ERR(engine);
	kref_get(&consumer->ref);
	consumer->engine = engine;
	utrace_set_owner(engine, task_tgid(current));
	ret = utrace_set_events(NULL, engine, UTRACE_EVENT(QUIESCE) |
					      UTRACE_EVENT(CLONE) |
					      UTRACE_EVENT(EXEC) |
					      UTRACE_EVENT(EXIT) |
					      UTRACE_EVENT(DEATH));
	if (!ret || ret == -EINPROGRESS)
		ret = utrace_control(NULL, engine, UTRACE_REPORT);
	if (!ret || ret == -EINPROGRESS)
		return 0;
	/* A thread may have joined already. */
	scoped_guard(spinlock_irqsave, &consumer->wait_lock)
		WRITE_ONCE(consumer->closed, true);
	utrace_branch_tracks_close(consumer);
	(void)!utrace_control(NULL, engine, UTRACE_DETACH);
	utrace_engine_put(engine);
	return ret == -EALREADY ? -ESRCH : ret;
}

/* Closing */

/**
 * utrace_branch_consumer_close() - stop following threads or a CPU
 * @consumer: the consumer, which is attached
 *
 * The threads leave by themselves, at their next record or when they exit.  A
 * thread that CPUs record may sleep for long before that, so the CPUs are
 * released here.  The records in the ring can still be read.
 *
 * Context: Process context without locks; may sleep.
 */
void utrace_branch_consumer_close(struct bts_consumer *consumer)
{
	int ret;

	utrace_branch_tracks_sync(consumer);
	scoped_guard(spinlock_irqsave, &consumer->wait_lock)
		WRITE_ONCE(consumer->closed, true);
	utrace_reader_end(&consumer->reader);
	if (consumer->cpu) {
		utrace_branch_cpu_detach(consumer);
		return;
	}
	utrace_branch_tracks_close(consumer);
	utrace_branch_let_go(consumer);
	ret = utrace_control(NULL, consumer->engine, UTRACE_DETACH);
	WARN_ON_ONCE(ret && ret != -EINPROGRESS && ret != -ESRCH);
	branch_put_cpus(consumer);
}

/**
 * utrace_branch_consumer_release() - drop the first reference to a consumer
 * @consumer: the consumer, which is closed
 *
 * A thread in a system call may hold a reference to the consumer for long, so
 * the records are freed here.
 *
 * Context: Process context; may sleep.
 */
void utrace_branch_consumer_release(struct bts_consumer *consumer)
{
	if (consumer->cpu) {
		utrace_branch_cpu_free(consumer);
	} else {
		shmem_truncate_range(file_inode(consumer->ring.pages), 0, -1);
		utrace_engine_put(consumer->engine);
	}
	utrace_branch_consumer_put(consumer);
}

/**
 * utrace_branch_consumer_info() - fill in the answer to %UTRACE_IOC_BRANCH_INFO
 * @consumer: the consumer
 * @info: zeroed by the caller
 *
 * Context: Process context; may sleep.  Takes bts_consumer.lock and then
 * bts_consumer.wait_lock.
 */
void utrace_branch_consumer_info(struct bts_consumer *consumer,
				 struct utrace_ioc_branch_info *info)
{
	const struct branch_ring *ring = &consumer->ring;

	info->capacity = ring->size;
	info->map_size = utrace_branch_ring_map_size(ring);
	info->tails_size = ring->shared ? PAGE_SIZE : 0;
	info->source = consumer->source;
	info->levels = consumer->levels;
	info->full = ring->overwrite ? UTRACE_FULL_OVERWRITE :
		     consumer->stop ? UTRACE_FULL_STOP : UTRACE_FULL_DROP;
	if (consumer->cpu) {
		utrace_branch_cpu_info(consumer, info);
		return;
	}
	guard(mutex)(&consumer->lock);
	info->written = ring->head;
	info->overwritten = ring->dropped;
	info->lost = ring->lost_ever;
	utrace_branch_tracks_info(consumer, info);
	scoped_guard(spinlock_irqsave, &consumer->wait_lock)
		info->waiting = consumer->nwaiting;
}

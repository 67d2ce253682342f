// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers of CPUs
 *
 * A CPU that at least one consumer follows has a window (window.c), to which a
 * source records the branches of the CPU.  The interrupt of the source filters
 * the records to the rings of the consumers.  It may be an NMI, so irq_work
 * wakes up the readers.  Tasks never wait for the reader of a CPU.  While CPUs
 * record threads (track.c), every CPU has a window.
 *
 * Only the CPU itself touches its window.  Other CPUs send it an IPI.
 *
 * Lock order: cpu_hotplug_lock, then branch_cpus_lock.  Inside branch_cpu.lock
 * only bts_consumer.wait_lock is taken.  branch_probe_lock is taken alone,
 * since registering a probe takes cpu_hotplug_lock.
 */
#define pr_fmt(fmt) "utrace: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include <trace/events/sched.h>

#include "consumer.h"
#include "cpu.h"
#include "ring.h"
#include "source.h"
#include "thread.h"
#include "track.h"

/* Largest ring, in records; its memory cannot be swapped out: 24 MiB. */
#define BRANCH_CPU_MAX	(1ULL << 20)

/**
 * struct branch_cpu - a CPU that is followed
 * @window: the window of the CPU.  Used by the CPU itself
 * @work: wakes up readers
 * @lock: guards @consumers
 * @consumers: list of struct branch_cpu_link
 * @users: number of elements of @consumers, plus one if CPUs record threads.
 *	Under branch_cpus_lock
 */
struct branch_cpu {
	struct branch_window window;
	struct irq_work work;
	spinlock_t lock;	/* consumers */
	struct list_head consumers;
	unsigned int users;
};

/**
 * struct branch_cpu_link - a consumer of a CPU
 * @list: entry in branch_cpu.consumers
 * @consumer: the consumer, which owns the link
 * @cpu: number of the CPU
 * @over: the CPU has gone offline or the consumer was detached.  Set once
 * @notified: the reader was woken, and has not checked for records since.  Set
 *	under branch_cpu.lock; read and cleared without it
 * @stream: filter for the consumer.  Used by the CPU itself
 * @buffer: ring for the filtered records
 */
struct branch_cpu_link {
	struct list_head list;
	struct bts_consumer *consumer;
	unsigned int cpu;
	bool over;
	bool notified;
	struct branch_stream stream;
	struct branch_buffer buffer;
};

/* The source, or NULL; set at boot. */
static const struct branch_source *branch_source;

/* Followed CPUs.  Written under branch_cpus_lock, by the CPU itself. */
static DEFINE_PER_CPU(struct branch_cpu *, branch_cpu);

static DEFINE_MUTEX(branch_cpus_lock);

/*
 * Recording is off on all CPUs.  Written before the existing windows are
 * changed; a CPU reads it when it gets a window.
 */
static bool branch_cpus_off;

/* Number of consumers for which all CPUs record.  Under branch_cpus_lock. */
static unsigned int branch_cpus_users;

/* CPUs that have a window for these consumers.  Under branch_cpus_lock. */
static struct cpumask branch_cpus_ready;

/* Number of consumers that need the probe.  Under branch_probe_lock. */
static unsigned int branch_probe_users;
static DEFINE_MUTEX(branch_probe_lock);

/**
 * utrace_branch_source_add() - register a source that can record CPUs
 * @source: the source; only the first one is used
 *
 * Context: An initcall.
 */
void utrace_branch_source_add(const struct branch_source *source)
{
	if (!branch_source)
		WRITE_ONCE(branch_source, source);
}

/**
 * utrace_branch_cpu_source() - get the kind of the source that records CPUs
 *
 * Context: Any.
 * Return: enum utrace_branch_source, or 0 if there is no such source.
 */
unsigned int utrace_branch_cpu_source(void)
{
	const struct branch_source *source = READ_ONCE(branch_source);

	return source ? source->id : 0;
}

/* Wake up the readers that have something to read. */
static void branch_cpu_wake(struct irq_work *work)
{
	struct branch_cpu *cpu = container_of(work, struct branch_cpu, work);
	struct branch_cpu_link *link;

	guard(spinlock_irqsave)(&cpu->lock);
	list_for_each_entry(link, &cpu->consumers, list) {
		if (!utrace_branch_buffer_has(&link->buffer))
			continue;
		WRITE_ONCE(link->notified, true);
		utrace_branch_notify(link->consumer);
	}
}

/*
 * Queue work that empties the stages of a thread.  Called with interrupts off
 * on the CPU of the thread, or in an NMI.
 */
static void branch_cpu_notify_tracks(struct list_head *streams)
{
	struct branch_stream *stream;

	list_for_each_entry(stream, streams, list)
		if (utrace_branch_buffer_has(stream->buffer))
			irq_work_queue(&utrace_branch_track_of(stream)->notify);
}

/*
 * Wake up consumers after new records.  An NMI that has interrupted a change of
 * the window must not use its lists.
 */
static void branch_cpu_notify(struct branch_cpu *cpu)
{
	irq_work_queue(&cpu->work);
	if (!READ_ONCE(cpu->window.busy) && cpu->window.thread)
		branch_cpu_notify_tracks(cpu->window.thread);
}

/**
 * utrace_branch_cpu_interrupt() - handle the interrupt of the source
 *
 * Context: NMI, or with interrupts off.
 * Return: false if the interrupt had another cause.
 */
bool utrace_branch_cpu_interrupt(void)
{
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);

	if (!cpu || !utrace_branch_window_interrupt(&cpu->window))
		return false;
	branch_cpu_notify(cpu);
	return true;
}

static void branch_cpu_set_off(void *off)
{
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);

	if (!cpu)
		return;
	utrace_branch_window_off(&cpu->window, *(bool *)off);
	branch_cpu_notify(cpu);
}

/**
 * utrace_branch_cpus_off() - turn recording off or on, on all CPUs
 * @off: true to record nothing, false to continue
 *
 * Context: Process context; interrupts all CPUs.
 */
void utrace_branch_cpus_off(bool off)
{
	WRITE_ONCE(branch_cpus_off, off);
	on_each_cpu(branch_cpu_set_off, &off, true);
}

/* Context switches */

/* pids are those of the initial pid namespace, which all readers are in. */
static struct utrace_branch branch_task_record(struct task_struct *task)
{
	struct pid *pid = task_pid(task);

	return (struct utrace_branch){
		.from = (u64)task_tgid_nr(task) << 32 | task_pid_nr(task),
		.to = pid ? pid->ino : 0,
		.info = UTRACE_BRANCH_TASK,
	};
}

/* Check for a reader that has records and was not woken for them. */
static bool branch_cpu_must_wake(const struct branch_cpu *cpu)
{
	const struct branch_cpu_link *link;

	/* The records before ->notified, see utrace_branch_cpu_has(). */
	smp_mb();
	list_for_each_entry(link, &cpu->window.streams, stream.list)
		if (!READ_ONCE(link->notified) &&
		    utrace_branch_buffer_has(&link->buffer))
			return true;
	return false;
}

static void branch_cpu_switch(void *unused, bool preempt,
			      struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);
	struct list_head *streams = utrace_branch_streams_of(next), *left;
	struct utrace_branch record;

	if (!cpu) {
		if (streams)
			utrace_branch_streams_gap(streams, UTRACE_LOSS_OFF);
		return;
	}
	record = branch_task_record(next);
	left = cpu->window.thread;
	utrace_branch_window_switch(&cpu->window, streams, &record);
	/*
	 * The switch has drained the window.  Wake readers only if one has
	 * records and was not notified of them: with PREEMPT_RT a thread runs
	 * the work, and the switch to that thread would queue it again.
	 */
	if (utrace_branch_window_is_empty(&cpu->window) &&
	    branch_cpu_must_wake(cpu))
		irq_work_queue(&cpu->work);
	if (left)
		branch_cpu_notify_tracks(left);
}

/* Get the probe of context switches for one more consumer. */
static int branch_probe_get(void)
{
	int ret = 0;

	guard(mutex)(&branch_probe_lock);
	if (!branch_probe_users)
		ret = register_trace_sched_switch(branch_cpu_switch, NULL);
	if (!ret)
		branch_probe_users++;
	return ret;
}

static void branch_probe_put(void)
{
	guard(mutex)(&branch_probe_lock);
	if (!--branch_probe_users)
		unregister_trace_sched_switch(branch_cpu_switch, NULL);
}

/* Functions that run on the CPU itself, with interrupts off */

static void branch_cpu_publish(void *data)
{
	struct branch_cpu *cpu = data;

	utrace_branch_window_off(&cpu->window, READ_ONCE(branch_cpus_off));
	__this_cpu_write(branch_cpu, cpu);
}

/* A recorded thread may run here, if its consumer has released the CPUs. */
static void branch_cpu_unpublish(void *unused)
{
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);
	struct list_head *thread = cpu->window.thread;

	utrace_branch_window_end(&cpu->window);
	if (thread)
		branch_cpu_notify_tracks(thread);
	__this_cpu_write(branch_cpu, NULL);
}

/* The stream begins with the running thread. */
static void branch_cpu_add(void *data)
{
	struct branch_cpu_link *link = data;
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);
	struct utrace_branch record = branch_task_record(current);

	utrace_branch_view_filter(&link->stream.view, &record, 1,
				  &link->buffer);
	utrace_branch_window_add(&cpu->window, &link->stream, NULL);
	irq_work_queue(&cpu->work);
}

static void branch_cpu_remove(void *data)
{
	struct branch_cpu_link *link = data;
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);

	utrace_branch_window_remove(&cpu->window, &link->stream);
	utrace_branch_stream_finish(&link->stream);
	irq_work_queue(&cpu->work);
}

static void branch_cpu_drain(void *unused)
{
	struct branch_cpu *cpu = __this_cpu_read(branch_cpu);

	if (!cpu)
		return;
	utrace_branch_window_drain(&cpu->window);
	branch_cpu_notify(cpu);
}

/* Setup */

/* Give a CPU a window, for its first consumer. */
static int branch_cpu_begin(unsigned int nr)
{
	struct branch_cpu *cpu = kzalloc_node(sizeof(*cpu), GFP_KERNEL_ACCOUNT,
					      cpu_to_node(nr));
	struct branch_store *store;
	int ret;

	lockdep_assert_held(&branch_cpus_lock);
	if (!cpu)
		return -ENOMEM;
	ret = branch_source->begin(nr, &store);
	if (ret) {
		kfree(cpu);
		return ret;
	}
	utrace_branch_window_init(&cpu->window, store, &branch_source->ops);
	init_irq_work(&cpu->work, branch_cpu_wake);
	spin_lock_init(&cpu->lock);
	INIT_LIST_HEAD(&cpu->consumers);
	smp_call_function_single(nr, branch_cpu_publish, cpu, true);
	return 0;
}

/* Add a user to a CPU, which is online. */
static int branch_cpu_get(unsigned int nr)
{
	int ret = per_cpu(branch_cpu, nr) ? 0 : branch_cpu_begin(nr);

	lockdep_assert_held(&branch_cpus_lock);
	if (!ret)
		per_cpu(branch_cpu, nr)->users++;
	return ret;
}

static void branch_cpu_put(unsigned int nr)
{
	struct branch_cpu *cpu = per_cpu(branch_cpu, nr);

	lockdep_assert_held(&branch_cpus_lock);
	if (--cpu->users)
		return;
	smp_call_function_single(nr, branch_cpu_unpublish, NULL, true);
	branch_source->end(nr);
	irq_work_sync(&cpu->work);
	kfree(cpu);
}

/* Add one user for all recorded threads. */
static int branch_cpus_get_one(unsigned int nr)
{
	int ret = branch_cpu_get(nr);

	if (!ret)
		cpumask_set_cpu(nr, &branch_cpus_ready);
	return ret;
}

static void branch_cpus_put_one(unsigned int nr)
{
	lockdep_assert_held(&branch_cpus_lock);
	if (cpumask_test_and_clear_cpu(nr, &branch_cpus_ready))
		branch_cpu_put(nr);
}

static void branch_cpus_put_all(void)
{
	unsigned int nr;

	for_each_cpu(nr, &branch_cpus_ready)
		branch_cpus_put_one(nr);
}

static struct branch_cpu_link *
branch_cpu_link_new(struct bts_consumer *consumer, unsigned int nr)
{
	struct branch_cpu_link *link = kzalloc(sizeof(*link),
					       GFP_KERNEL_ACCOUNT);
	u64 size = consumer->ring.size;
	void *records;

	if (!link)
		return NULL;
	records = __vmalloc(size * sizeof(struct utrace_branch),
			    GFP_KERNEL_ACCOUNT);
	if (!records) {
		kfree(link);
		return NULL;
	}
	link->consumer = consumer;
	link->cpu = nr;
	utrace_branch_buffer_init(&link->buffer, records, size,
				  consumer->ring.overwrite, true);
	utrace_branch_stream_init(&link->stream, consumer->levels,
				  &branch_source->entries, &link->buffer, NULL);
	return link;
}

static void branch_cpu_link_free(struct branch_cpu_link *link)
{
	vfree(link->buffer.records);
	kfree(link);
}

/* Follow a CPU, once the probe of context switches is registered. */
static int branch_cpu_follow(struct branch_cpu_link *link)
{
	unsigned int nr = link->cpu;
	struct branch_cpu *cpu;
	int ret;

	guard(cpus_read_lock)();
	if (nr >= nr_cpu_ids || !cpu_online(nr))
		return -ENODEV;
	guard(mutex)(&branch_cpus_lock);
	ret = branch_cpu_get(nr);
	if (ret)
		return ret;
	cpu = per_cpu(branch_cpu, nr);
	scoped_guard(spinlock_irqsave, &cpu->lock)
		list_add_tail(&link->list, &cpu->consumers);
	smp_call_function_single(nr, branch_cpu_add, link, true);
	return 0;
}

/**
 * utrace_branch_cpu_attach() - make a consumer follow a CPU
 * @consumer: the consumer, which follows nothing yet
 * @nr: number of the CPU
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the consumer follows the CPU
 * * -EOPNOTSUPP - nothing can record a CPU
 * * -EINVAL - the ring is too large
 * * -ENODEV - there is no such CPU, or it is offline
 * * -EBUSY - another user holds what the source needs
 * * -EIO - the CPU failed the self-test of the source
 * * -ENOMEM - out of memory
 */
int utrace_branch_cpu_attach(struct bts_consumer *consumer, unsigned int nr)
{
	struct branch_cpu_link *link;
	int ret;

	if (!READ_ONCE(branch_source))
		return -EOPNOTSUPP;
	if (consumer->ring.size > BRANCH_CPU_MAX)
		return -EINVAL;
	link = branch_cpu_link_new(consumer, nr);
	if (!link)
		return -ENOMEM;
	ret = branch_probe_get();
	if (ret)
		goto err_free;
	/* Before the first wake-up, which runs under branch_cpu.lock. */
	consumer->cpu = link;
	ret = branch_cpu_follow(link);
	if (!ret)
		return 0;
	consumer->cpu = NULL;
	branch_probe_put();
err_free:
	branch_cpu_link_free(link);
	return ret;
}

/* Stop the stream of a consumer. */
static void branch_cpu_unlink(struct branch_cpu *cpu,
			      struct branch_cpu_link *link)
{
	lockdep_assert_held(&branch_cpus_lock);
	smp_call_function_single(link->cpu, branch_cpu_remove, link, true);
	scoped_guard(spinlock_irqsave, &cpu->lock)
		list_del(&link->list);
	WRITE_ONCE(link->over, true);
	branch_cpu_put(link->cpu);
}

/**
 * utrace_branch_cpu_detach() - make a consumer stop following its CPU
 * @consumer: the consumer; the records in its ring can still be read
 *
 * Context: Process context; may sleep.
 */
void utrace_branch_cpu_detach(struct bts_consumer *consumer)
{
	struct branch_cpu_link *link = consumer->cpu;

	guard(cpus_read_lock)();
	guard(mutex)(&branch_cpus_lock);
	if (!link->over)
		branch_cpu_unlink(per_cpu(branch_cpu, link->cpu), link);
}

/**
 * utrace_branch_cpu_free() - free the CPU state of a consumer
 * @consumer: the consumer, which is detached from the CPU
 *
 * Context: Process context.
 */
void utrace_branch_cpu_free(struct bts_consumer *consumer)
{
	branch_probe_put();
	branch_cpu_link_free(consumer->cpu);
}

/* A CPU goes offline, which ends the streams of its consumers. */
static int branch_cpu_offline(unsigned int nr)
{
	struct branch_cpu_link *link, *next;
	struct branch_cpu *cpu;

	guard(mutex)(&branch_cpus_lock);
	cpu = per_cpu(branch_cpu, nr);
	if (!cpu)
		return 0;
	/* Removing the last link may free @cpu, so do not use it afterwards. */
	list_for_each_entry_safe(link, next, &cpu->consumers, list) {
		bool last = cpu->users == 1;

		branch_cpu_unlink(cpu, link);
		utrace_branch_notify(link->consumer);
		if (last)
			return 0;
	}
	/* No recorded thread runs here now. */
	branch_cpus_put_one(nr);
	return 0;
}

/*
 * Recorded threads may migrate to a CPU that comes online.  If the CPU cannot
 * record them, their streams report gaps.
 */
static int branch_cpu_online(unsigned int nr)
{
	guard(mutex)(&branch_cpus_lock);
	if (branch_cpus_users && branch_cpus_get_one(nr))
		pr_warn("CPU %u records no branches\n", nr);
	return 0;
}

/* Threads */

static int branch_cpus_begin(void)
{
	unsigned int nr;
	int ret;

	guard(cpus_read_lock)();
	guard(mutex)(&branch_cpus_lock);
	if (branch_cpus_users) {
		branch_cpus_users++;
		return 0;
	}
	for_each_online_cpu(nr) {
		ret = branch_cpus_get_one(nr);
		if (ret) {
			branch_cpus_put_all();
			return ret;
		}
	}
	branch_cpus_users = 1;
	return 0;
}

/**
 * utrace_branch_cpus_get() - prepare all CPUs to record threads
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - until utrace_branch_cpus_put() each CPU has a window, except those that
 *   come online later and cannot record
 * * -EOPNOTSUPP - nothing can record a CPU
 * * -EBUSY - another user holds what the source needs
 * * -EIO - a CPU failed the self-test of the source
 * * -ENOMEM - out of memory
 */
int utrace_branch_cpus_get(void)
{
	int ret;

	if (!READ_ONCE(branch_source))
		return -EOPNOTSUPP;
	ret = branch_probe_get();
	if (ret)
		return ret;
	ret = branch_cpus_begin();
	if (ret)
		branch_probe_put();
	return ret;
}

/**
 * utrace_branch_cpus_put() - release the CPUs after utrace_branch_cpus_get()
 *
 * Context: Process context; may sleep.
 */
void utrace_branch_cpus_put(void)
{
	scoped_guard(cpus_read_lock) {
		guard(mutex)(&branch_cpus_lock);
		if (!--branch_cpus_users)
			branch_cpus_put_all();
	}
	branch_probe_put();
}

/**
 * utrace_branch_cpu_entries() - get the entry points that the source knows
 *
 * Context: Any, after utrace_branch_cpus_get().
 * Return: the entry points.
 */
const struct branch_entries *utrace_branch_cpu_entries(void)
{
	return &branch_source->entries;
}

/**
 * utrace_branch_cpu_track() - start to record current for a consumer
 * @stream: stream of the consumer
 * @streams: branch_thread.streams
 *
 * Context: The task itself, after utrace_branch_cpus_get().
 */
void utrace_branch_cpu_track(struct branch_stream *stream,
			     struct list_head *streams)
{
	struct branch_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(branch_cpu);
	if (!cpu) {
		list_add_tail(&stream->list, streams);
		utrace_branch_streams_gap(streams, UTRACE_LOSS_OFF);
		return;
	}
	/* An empty stage has enough room. */
	WARN_ON_ONCE(utrace_branch_window_add(&cpu->window, stream, streams));
}

/**
 * utrace_branch_cpu_untrack() - stop recording current for a consumer
 * @stream: from utrace_branch_cpu_track()
 *
 * Context: The task itself.
 */
void utrace_branch_cpu_untrack(struct branch_stream *stream)
{
	struct branch_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(branch_cpu);
	if (cpu)
		utrace_branch_window_remove(&cpu->window, stream);
	else
		list_del_init(&stream->list);
}

/**
 * utrace_branch_cpu_drain() - drain the window of the current CPU
 *
 * Context: The task itself, after utrace_branch_cpus_get().
 */
void utrace_branch_cpu_drain(void)
{
	struct branch_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(branch_cpu);
	if (cpu)
		utrace_branch_window_drain(&cpu->window);
}

/**
 * utrace_branch_cpu_resume() - check whether current may run user code
 * @stream: from utrace_branch_cpu_track()
 *
 * Context: The task itself.
 * Return: false if its stage has no room yet.
 */
bool utrace_branch_cpu_resume(struct branch_stream *stream)
{
	struct branch_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(branch_cpu);
	if (cpu)
		return utrace_branch_window_resume(&cpu->window, stream);
	/* A CPU that does not record needs no room. */
	stream->paused = false;
	return true;
}

/**
 * utrace_branch_cpus_drain() - drain the windows of all CPUs
 *
 * Context: Process context; interrupts all CPUs.
 */
void utrace_branch_cpus_drain(void)
{
	on_each_cpu(branch_cpu_drain, NULL, true);
}

/* Reading */

/**
 * utrace_branch_cpu_is_over() - check whether the stream of a CPU has ended
 * @consumer: a consumer of a CPU
 *
 * Context: Any.
 * Return: true if the CPU has gone offline or the consumer is detached; records
 * may still be unread.
 */
bool utrace_branch_cpu_is_over(const struct bts_consumer *consumer)
{
	return READ_ONCE(consumer->cpu->over);
}

/**
 * utrace_branch_cpu_has() - check whether there is something to read
 * @consumer: a consumer of a CPU
 *
 * A reader that waits must call this before it sleeps: records that come later
 * wake it.  utrace_branch_cpu_copy() calls it for readers in the kernel.
 *
 * Context: Any.
 * Return: true if the ring has records for the reader.
 */
bool utrace_branch_cpu_has(const struct bts_consumer *consumer)
{
	struct branch_cpu_link *link = consumer->cpu;

	WRITE_ONCE(link->notified, false);
	/* ->notified before the records, see branch_cpu_must_wake(). */
	smp_mb();
	return utrace_branch_buffer_has(&link->buffer);
}

/**
 * utrace_branch_cpu_copy() - copy the next records without consuming them
 * @consumer: a consumer of a CPU
 * @piece: filled in except for the pointer to its memory
 * @n: maximum number of records, at least 1
 *
 * If the ring is empty, makes the CPU drain its window.
 *
 * Context: Process context, with bts_consumer.lock held.
 * Return: number of records that were copied.
 */
int utrace_branch_cpu_copy(struct bts_consumer *consumer,
			   struct branch_piece *piece, unsigned int n)
{
	struct branch_cpu_link *link = consumer->cpu;

	lockdep_assert_held(&consumer->lock);
	/* This fails if the CPU goes offline. */
	if (!utrace_branch_cpu_has(consumer) && !READ_ONCE(link->over))
		(void)smp_call_function_single(link->cpu, branch_cpu_drain,
					       NULL, true);
	/* There is no other writer now: write pending losses here. */
	if (READ_ONCE(link->over))
		utrace_branch_buffer_write_losses(&link->buffer);
	piece->n = utrace_branch_buffer_copy(&link->buffer, piece->records,
					     min(n, BRANCH_PIECE),
					     &piece->cursor);
	return piece->n;
}

/**
 * utrace_branch_cpu_take() - consume the records that were copied
 * @consumer: a consumer of a CPU
 * @piece: from utrace_branch_cpu_copy()
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_branch_cpu_take(struct bts_consumer *consumer,
			    const struct branch_piece *piece)
{
	lockdep_assert_held(&consumer->lock);
	utrace_branch_buffer_take(&consumer->cpu->buffer, &piece->cursor);
}

/**
 * utrace_branch_cpu_info() - fill in the answer to %UTRACE_IOC_BRANCH_INFO
 * @consumer: a consumer of a CPU
 * @info: the members common to all consumers are filled in
 *
 * Context: Process context.
 */
void utrace_branch_cpu_info(const struct bts_consumer *consumer,
			    struct utrace_ioc_branch_info *info)
{
	const struct branch_buffer *buffer = &consumer->cpu->buffer;

	info->written = READ_ONCE(buffer->head);
	info->overwritten = READ_ONCE(buffer->counts[UTRACE_LOSS_OVERWRITTEN]);
	info->lost = READ_ONCE(buffer->counts[UTRACE_LOSS_FULL]);
	info->gaps = utrace_branch_buffer_gaps(buffer);
}

static int __init branch_cpu_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					    "utrace/branches:online",
					    branch_cpu_online,
					    branch_cpu_offline);

	return min(ret, 0);
}
core_initcall(branch_cpu_init);

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers of CPUs
 *
 * A CPU that at least one consumer follows has a window (window.c), in which a
 * source records what happens on the CPU.  The interrupt of the source gives each
 * consumer what it wants; it may be an NMI, so an interrupt that comes after it
 * wakes up the readers.  No task ever waits for the reader of a CPU.  As long as
 * CPUs record threads (track.c), all of them have a window.
 *
 * Only the CPU itself touches its window.  Others ask it by an interrupt.
 *
 * Lock order: cpu_hotplug_lock, then bts_cpus_lock.  bts_cpu.lock is a leaf but for
 * bts_consumer.wait_lock.  bts_probe_lock is taken alone, since to register a probe
 * takes cpu_hotplug_lock.
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

#include "bts.h"
#include "source.h"
#include "track.h"

/* Records of a ring, which is in memory that is always there: 24 MiB. */
#define BTS_CPU_MAX	(1ULL << 20)

/**
 * struct bts_cpu - a CPU that is followed
 * @window: its window.  Used by the CPU itself
 * @work: wakes up readers
 * @lock: guards @consumers
 * @consumers: struct bts_cpu_link
 * @users: number of elements of @consumers, and one for all threads that CPUs
 *	record.  Under bts_cpus_lock
 */
struct bts_cpu {
	struct bts_window window;
	struct irq_work work;
	spinlock_t lock;	/* consumers */
	struct list_head consumers;
	unsigned int users;
};

/**
 * struct bts_cpu_link - a CPU is followed by a consumer
 * @list: entry in bts_cpu.consumers
 * @consumer: the consumer, to which the link belongs
 * @cpu: number of the CPU
 * @over: the CPU has gone offline.  Set once
 * @stream: what the consumer wants.  Used by the CPU itself
 * @buffer: where it gets it
 */
struct bts_cpu_link {
	struct list_head list;
	struct bts_consumer *consumer;
	unsigned int cpu;
	bool over;
	struct bts_stream stream;
	struct bts_buffer buffer;
};

/* The source, or NULL; set at boot. */
static const struct bts_source *bts_source;

/* CPUs that are followed.  Written under bts_cpus_lock, by the CPU itself. */
static DEFINE_PER_CPU(struct bts_cpu *, bts_cpu);

static DEFINE_MUTEX(bts_cpus_lock);

/*
 * CPUs record nothing for a time.  Written before the windows that are there; a CPU
 * reads it when it gets a window.
 */
static bool bts_cpus_off;

/* Number of consumers whose threads any CPU records.  Under bts_cpus_lock. */
static unsigned int bts_cpus_users;

/* CPUs that have a window for these.  Under bts_cpus_lock. */
static struct cpumask bts_cpus_ready;

/* Number of consumers of CPUs, which need the probe.  Under bts_probe_lock. */
static unsigned int bts_probe_users;
static DEFINE_MUTEX(bts_probe_lock);

/**
 * utrace_bts_source_add() - say what can record a CPU
 * @source: the source; only the first one is taken
 *
 * Context: An initcall.
 */
void utrace_bts_source_add(const struct bts_source *source)
{
	if (!bts_source)
		WRITE_ONCE(bts_source, source);
}

/**
 * utrace_bts_cpu_source() - what can record a CPU
 *
 * Context: Any.
 * Return: enum utrace_branch_source, or 0 if there is no such source.
 */
unsigned int utrace_bts_cpu_source(void)
{
	const struct bts_source *source = READ_ONCE(bts_source);

	return source ? source->id : 0;
}

/* Wake up the readers that have something to read. */
static void bts_cpu_wake(struct irq_work *work)
{
	struct bts_cpu *cpu = container_of(work, struct bts_cpu, work);
	struct bts_cpu_link *link;

	guard(spinlock_irqsave)(&cpu->lock);
	list_for_each_entry(link, &cpu->consumers, list)
		if (utrace_bts_buffer_has(&link->buffer))
			utrace_bts_tell(link->consumer);
}

/*
 * The consumers have got something.  An NMI that has met a change of the window
 * leaves its lists alone.
 */
static void bts_cpu_tell(struct bts_cpu *cpu)
{
	irq_work_queue(&cpu->work);
	if (!READ_ONCE(cpu->window.busy) && cpu->window.thread)
		utrace_bts_tracks_tell(cpu->window.thread);
}

/**
 * utrace_bts_cpu_interrupt() - the source has recorded enough
 *
 * Context: NMI, or with interrupts off.
 * Return: false if the interrupt was for something else.
 */
bool utrace_bts_cpu_interrupt(void)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);

	if (!cpu || !utrace_bts_window_interrupt(&cpu->window))
		return false;
	bts_cpu_tell(cpu);
	return true;
}

static void bts_cpu_set_off(void *off)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);

	if (!cpu)
		return;
	utrace_bts_window_off(&cpu->window, *(bool *)off);
	bts_cpu_tell(cpu);
}

/**
 * utrace_bts_cpus_off() - record nothing for a time, and nowhere
 * @off: whether to record nothing, or to go on
 *
 * Context: Process context; interrupts all CPUs.
 */
void utrace_bts_cpus_off(bool off)
{
	WRITE_ONCE(bts_cpus_off, off);
	on_each_cpu(bts_cpu_set_off, &off, true);
}

/* Context switches */

/* Numbers are those of the initial pid namespace, in which readers are. */
static struct utrace_branch bts_task_record(struct task_struct *task)
{
	struct pid *pid = task_pid(task);

	return (struct utrace_branch){
		.from = (u64)task_tgid_nr(task) << 32 | task_pid_nr(task),
		.to = pid ? pid->ino : 0,
		.info = UTRACE_BRANCH_TASK,
	};
}

static void bts_cpu_switch(void *unused, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);
	struct list_head *streams = utrace_bts_streams_of(next), *left;
	struct utrace_branch record;

	if (!cpu) {
		if (streams)
			utrace_bts_streams_gap(streams, UTRACE_LOSS_OFF);
		return;
	}
	record = bts_task_record(next);
	left = cpu->window.thread;
	utrace_bts_window_switch(&cpu->window, streams, &record);
	/* The window was emptied. */
	if (utrace_bts_window_is_empty(&cpu->window))
		irq_work_queue(&cpu->work);
	if (left)
		utrace_bts_tracks_tell(left);
}

/* Have context switches told, for one more consumer. */
static int bts_probe_get(void)
{
	int ret = 0;

	guard(mutex)(&bts_probe_lock);
	if (!bts_probe_users)
		ret = register_trace_sched_switch(bts_cpu_switch, NULL);
	if (!ret)
		bts_probe_users++;
	return ret;
}

static void bts_probe_put(void)
{
	guard(mutex)(&bts_probe_lock);
	if (!--bts_probe_users)
		unregister_trace_sched_switch(bts_cpu_switch, NULL);
}

/* What the CPU itself does, with interrupts off */

static void bts_cpu_publish(void *data)
{
	struct bts_cpu *cpu = data;

	utrace_bts_window_off(&cpu->window, READ_ONCE(bts_cpus_off));
	__this_cpu_write(bts_cpu, cpu);
}

/* A thread that is recorded may run here, whose consumer has given the CPUs back. */
static void bts_cpu_unpublish(void *unused)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);
	struct list_head *thread = cpu->window.thread;

	utrace_bts_window_end(&cpu->window);
	if (thread)
		utrace_bts_tracks_tell(thread);
	__this_cpu_write(bts_cpu, NULL);
}

/* The stream begins with the thread that runs. */
static void bts_cpu_add(void *data)
{
	struct bts_cpu_link *link = data;
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);
	struct utrace_branch record = bts_task_record(current);

	utrace_bts_view_filter(&link->stream.view, &record, 1, &link->buffer);
	utrace_bts_window_add(&cpu->window, &link->stream, NULL);
	irq_work_queue(&cpu->work);
}

static void bts_cpu_remove(void *data)
{
	struct bts_cpu_link *link = data;
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);

	utrace_bts_window_remove(&cpu->window, &link->stream);
	utrace_bts_stream_finish(&link->stream);
	irq_work_queue(&cpu->work);
}

static void bts_cpu_drain(void *unused)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);

	if (!cpu)
		return;
	utrace_bts_window_drain(&cpu->window);
	bts_cpu_tell(cpu);
}

/* Making */

/* The first consumer of a CPU comes. */
static int bts_cpu_begin(unsigned int nr)
{
	struct bts_cpu *cpu = kzalloc_node(sizeof(*cpu), GFP_KERNEL_ACCOUNT,
					   cpu_to_node(nr));
	struct bts_store *store;
	int ret;

	lockdep_assert_held(&bts_cpus_lock);
	if (!cpu)
		return -ENOMEM;
	ret = bts_source->begin(nr, &store);
	if (ret) {
		kfree(cpu);
		return ret;
	}
	utrace_bts_window_init(&cpu->window, store, &bts_source->ops);
	init_irq_work(&cpu->work, bts_cpu_wake);
	spin_lock_init(&cpu->lock);
	INIT_LIST_HEAD(&cpu->consumers);
	smp_call_function_single(nr, bts_cpu_publish, cpu, true);
	return 0;
}

/* A CPU, which is online, has another user. */
static int bts_cpu_get(unsigned int nr)
{
	int ret = per_cpu(bts_cpu, nr) ? 0 : bts_cpu_begin(nr);

	lockdep_assert_held(&bts_cpus_lock);
	if (!ret)
		per_cpu(bts_cpu, nr)->users++;
	return ret;
}

static void bts_cpu_put(unsigned int nr)
{
	struct bts_cpu *cpu = per_cpu(bts_cpu, nr);

	lockdep_assert_held(&bts_cpus_lock);
	if (--cpu->users)
		return;
	smp_call_function_single(nr, bts_cpu_unpublish, NULL, true);
	bts_source->end(nr);
	irq_work_sync(&cpu->work);
	kfree(cpu);
}

/* The same for threads. */
static int bts_cpus_get_one(unsigned int nr)
{
	int ret = bts_cpu_get(nr);

	if (!ret)
		cpumask_set_cpu(nr, &bts_cpus_ready);
	return ret;
}

static void bts_cpus_put_one(unsigned int nr)
{
	lockdep_assert_held(&bts_cpus_lock);
	if (cpumask_test_and_clear_cpu(nr, &bts_cpus_ready))
		bts_cpu_put(nr);
}

static void bts_cpus_put_all(void)
{
	unsigned int nr;

	for_each_cpu(nr, &bts_cpus_ready)
		bts_cpus_put_one(nr);
}

static struct bts_cpu_link *bts_cpu_link_new(struct bts_consumer *consumer,
					     unsigned int nr)
{
	struct bts_cpu_link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);
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
	utrace_bts_buffer_init(&link->buffer, records, size,
			       consumer->ring.overwrite, true);
	utrace_bts_stream_init(&link->stream, consumer->levels,
			       &bts_source->entries, &link->buffer, NULL);
	return link;
}

static void bts_cpu_link_free(struct bts_cpu_link *link)
{
	vfree(link->buffer.records);
	kfree(link);
}

/* As utrace_bts_cpu_attach(), with the probe. */
static int bts_cpu_follow(struct bts_cpu_link *link)
{
	unsigned int nr = link->cpu;
	struct bts_cpu *cpu;
	int ret;

	guard(cpus_read_lock)();
	if (nr >= nr_cpu_ids || !cpu_online(nr))
		return -ENODEV;
	guard(mutex)(&bts_cpus_lock);
	ret = bts_cpu_get(nr);
	if (ret)
		return ret;
	cpu = per_cpu(bts_cpu, nr);
	scoped_guard(spinlock_irqsave, &cpu->lock)
		list_add_tail(&link->list, &cpu->consumers);
	smp_call_function_single(nr, bts_cpu_add, link, true);
	return 0;
}

/**
 * utrace_bts_cpu_attach() - have a consumer follow a CPU
 * @consumer: the consumer, which follows nothing yet
 * @nr: number of the CPU
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the consumer follows the CPU
 * * -EOPNOTSUPP - nothing can record a CPU
 * * -EINVAL - the ring is too large
 * * -ENODEV - there is no such CPU, or it is offline
 * * -EBUSY - somebody else uses what the source needs
 * * -EIO - the CPU does not record as it should
 * * -ENOMEM - there is no memory
 */
int utrace_bts_cpu_attach(struct bts_consumer *consumer, unsigned int nr)
{
	struct bts_cpu_link *link;
	int ret;

	if (!READ_ONCE(bts_source))
		return -EOPNOTSUPP;
	if (consumer->ring.size > BTS_CPU_MAX)
		return -EINVAL;
	link = bts_cpu_link_new(consumer, nr);
	if (!link)
		return -ENOMEM;
	ret = bts_probe_get();
	if (ret)
		goto err_free;
	/* Before the first wake-up, for which bts_cpu.lock is taken. */
	consumer->cpu = link;
	ret = bts_cpu_follow(link);
	if (!ret)
		return 0;
	consumer->cpu = NULL;
	bts_probe_put();
err_free:
	bts_cpu_link_free(link);
	return ret;
}

/* The consumer gets nothing any more. */
static void bts_cpu_unlink(struct bts_cpu *cpu, struct bts_cpu_link *link)
{
	lockdep_assert_held(&bts_cpus_lock);
	smp_call_function_single(link->cpu, bts_cpu_remove, link, true);
	scoped_guard(spinlock_irqsave, &cpu->lock)
		list_del(&link->list);
	WRITE_ONCE(link->over, true);
	bts_cpu_put(link->cpu);
}

/**
 * utrace_bts_cpu_detach() - have a consumer follow its CPU no more
 * @consumer: the consumer; what it has got can still be read
 *
 * Context: Process context; may sleep.
 */
void utrace_bts_cpu_detach(struct bts_consumer *consumer)
{
	struct bts_cpu_link *link = consumer->cpu;

	guard(cpus_read_lock)();
	guard(mutex)(&bts_cpus_lock);
	if (!link->over)
		bts_cpu_unlink(per_cpu(bts_cpu, link->cpu), link);
}

/**
 * utrace_bts_cpu_free() - free what a consumer has of a CPU
 * @consumer: the consumer, which follows the CPU no more
 *
 * Context: Process context.
 */
void utrace_bts_cpu_free(struct bts_consumer *consumer)
{
	bts_probe_put();
	bts_cpu_link_free(consumer->cpu);
}

/* A CPU goes offline: its consumers are over. */
static int bts_cpu_offline(unsigned int nr)
{
	struct bts_cpu_link *link, *next;
	struct bts_cpu *cpu;

	guard(mutex)(&bts_cpus_lock);
	cpu = per_cpu(bts_cpu, nr);
	if (!cpu)
		return 0;
	/* The last one frees @cpu, so @next is found before. */
	list_for_each_entry_safe(link, next, &cpu->consumers, list) {
		bool last = cpu->users == 1;

		bts_cpu_unlink(cpu, link);
		utrace_bts_tell(link->consumer);
		if (last)
			return 0;
	}
	/* No thread that is recorded runs here any more. */
	bts_cpus_put_one(nr);
	return 0;
}

/*
 * Threads that are recorded may come to a CPU that goes online.  If the CPU cannot
 * record them, they are told of gaps.
 */
static int bts_cpu_online(unsigned int nr)
{
	guard(mutex)(&bts_cpus_lock);
	if (bts_cpus_users && bts_cpus_get_one(nr))
		pr_warn("CPU %u records no branches\n", nr);
	return 0;
}

/* Threads */

static int bts_cpus_begin(void)
{
	unsigned int nr;
	int ret;

	guard(cpus_read_lock)();
	guard(mutex)(&bts_cpus_lock);
	if (bts_cpus_users) {
		bts_cpus_users++;
		return 0;
	}
	for_each_online_cpu(nr) {
		ret = bts_cpus_get_one(nr);
		if (ret) {
			bts_cpus_put_all();
			return ret;
		}
	}
	bts_cpus_users = 1;
	return 0;
}

/**
 * utrace_bts_cpus_get() - get all CPUs ready to record threads
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - until utrace_bts_cpus_put() each CPU has a window, but for those that
 *   come online later and cannot record
 * * -EOPNOTSUPP - nothing can record a CPU
 * * -EBUSY - somebody else uses what the source needs
 * * -EIO - the CPU does not record as it should
 * * -ENOMEM - there is no memory
 */
int utrace_bts_cpus_get(void)
{
	int ret;

	if (!READ_ONCE(bts_source))
		return -EOPNOTSUPP;
	ret = bts_probe_get();
	if (ret)
		return ret;
	ret = bts_cpus_begin();
	if (ret)
		bts_probe_put();
	return ret;
}

/**
 * utrace_bts_cpus_put() - a consumer has no threads that CPUs record any more
 *
 * Context: Process context; may sleep.
 */
void utrace_bts_cpus_put(void)
{
	scoped_guard(cpus_read_lock) {
		guard(mutex)(&bts_cpus_lock);
		if (!--bts_cpus_users)
			bts_cpus_put_all();
	}
	bts_probe_put();
}

/**
 * utrace_bts_cpu_entries() - where the kernel is entered, as the source says
 *
 * Context: Any, after utrace_bts_cpus_get().
 * Return: the addresses.
 */
const struct bts_entries *utrace_bts_cpu_entries(void)
{
	return &bts_source->entries;
}

/**
 * utrace_bts_cpu_track() - record the current thread from here on
 * @stream: what a consumer wants of it
 * @streams: bts_thread.streams
 *
 * Context: The task itself, after utrace_bts_cpus_get().
 */
void utrace_bts_cpu_track(struct bts_stream *stream, struct list_head *streams)
{
	struct bts_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(bts_cpu);
	if (!cpu) {
		list_add_tail(&stream->list, streams);
		utrace_bts_streams_gap(streams, UTRACE_LOSS_OFF);
		return;
	}
	/* There is room in a stage that is empty. */
	WARN_ON_ONCE(utrace_bts_window_add(&cpu->window, stream, streams));
}

/**
 * utrace_bts_cpu_untrack() - record the current thread no more for a consumer
 * @stream: from utrace_bts_cpu_track()
 *
 * Context: The task itself.
 */
void utrace_bts_cpu_untrack(struct bts_stream *stream)
{
	struct bts_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(bts_cpu);
	if (cpu)
		utrace_bts_window_remove(&cpu->window, stream);
	else
		list_del_init(&stream->list);
}

/**
 * utrace_bts_cpu_drain() - get what was recorded of the current thread so far
 *
 * Context: The task itself, after utrace_bts_cpus_get().
 */
void utrace_bts_cpu_drain(void)
{
	struct bts_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(bts_cpu);
	if (cpu)
		utrace_bts_window_drain(&cpu->window);
}

/**
 * utrace_bts_cpu_resume() - may the current thread run user code again?
 * @stream: from utrace_bts_cpu_track()
 *
 * Context: The task itself.
 * Return: false if its stage has no room yet.
 */
bool utrace_bts_cpu_resume(struct bts_stream *stream)
{
	struct bts_cpu *cpu;

	guard(irqsave)();
	cpu = __this_cpu_read(bts_cpu);
	if (cpu)
		return utrace_bts_window_resume(&cpu->window, stream);
	/* Where nothing is recorded, nothing needs room. */
	stream->paused = false;
	return true;
}

/**
 * utrace_bts_cpus_drain() - get what all CPUs have recorded so far
 *
 * Context: Process context; interrupts all CPUs.
 */
void utrace_bts_cpus_drain(void)
{
	on_each_cpu(bts_cpu_drain, NULL, true);
}

/* Reading */

/**
 * utrace_bts_cpu_is_over() - has the CPU of a consumer gone offline?
 * @consumer: a consumer of a CPU
 *
 * Context: Any.
 * Return: true if so; records may be left to read.
 */
bool utrace_bts_cpu_is_over(const struct bts_consumer *consumer)
{
	return READ_ONCE(consumer->cpu->over);
}

/**
 * utrace_bts_cpu_has() - is there something to read?
 * @consumer: a consumer of a CPU
 *
 * Context: Any.
 * Return: true if utrace_bts_cpu_look() would find something in the ring.
 */
bool utrace_bts_cpu_has(const struct bts_consumer *consumer)
{
	return utrace_bts_buffer_has(&consumer->cpu->buffer);
}

/**
 * utrace_bts_cpu_look() - copy what the reader gets next
 * @consumer: a consumer of a CPU
 * @piece: filled in but for its memory
 * @n: number of records at most, at least 1
 *
 * If nothing is in the ring, the CPU is asked for what it has recorded since its
 * last interrupt.
 *
 * Context: Process context, with bts_consumer.lock held.
 * Return: number of records.
 */
int utrace_bts_cpu_look(struct bts_consumer *consumer, struct bts_piece *piece,
			unsigned int n)
{
	struct bts_cpu_link *link = consumer->cpu;

	lockdep_assert_held(&consumer->lock);
	/* It fails if the CPU goes offline. */
	if (!utrace_bts_buffer_has(&link->buffer) && !READ_ONCE(link->over))
		(void)smp_call_function_single(link->cpu, bts_cpu_drain, NULL,
					       true);
	/* Nobody else writes any more, so what is lost can be told from here. */
	if (READ_ONCE(link->over))
		utrace_bts_buffer_settle(&link->buffer);
	piece->n = utrace_bts_buffer_look(&link->buffer, piece->records,
					  min(n, BTS_PIECE), &piece->look);
	return piece->n;
}

/**
 * utrace_bts_cpu_take() - the reader has got a piece
 * @consumer: a consumer of a CPU
 * @piece: from utrace_bts_cpu_look()
 *
 * Context: Process context, with bts_consumer.lock held.
 */
void utrace_bts_cpu_take(struct bts_consumer *consumer,
			 const struct bts_piece *piece)
{
	lockdep_assert_held(&consumer->lock);
	utrace_bts_buffer_take(&consumer->cpu->buffer, &piece->look);
}

/**
 * utrace_bts_cpu_info() - fill in what a program is told of a consumer of a CPU
 * @consumer: the consumer
 * @info: what is the same for all consumers is filled in
 *
 * Context: Process context.
 */
void utrace_bts_cpu_info(const struct bts_consumer *consumer,
			 struct utrace_ioc_branch_info *info)
{
	const struct bts_buffer *buffer = &consumer->cpu->buffer;

	info->written = READ_ONCE(buffer->head);
	info->overwritten = READ_ONCE(buffer->counts[UTRACE_LOSS_OVERWRITTEN]);
	info->lost = READ_ONCE(buffer->counts[UTRACE_LOSS_FULL]);
	info->gaps = utrace_bts_buffer_gaps(buffer);
}

static int __init bts_cpu_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					    "utrace/branches:online",
					    bts_cpu_online, bts_cpu_offline);

	return min(ret, 0);
}
core_initcall(bts_cpu_init);

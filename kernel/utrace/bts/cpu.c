// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers of CPUs
 *
 * A CPU that at least one consumer follows has a window (window.c), in which a
 * source records what happens on the CPU.  The interrupt of the source gives each
 * consumer what it wants; it may be an NMI, so an interrupt that comes after it
 * wakes up the readers.  No task ever waits for the reader of a CPU.
 *
 * Only the CPU itself touches its window.  Others ask it by an interrupt.
 *
 * Lock order: cpu_hotplug_lock, then bts_cpus_lock.  bts_cpu.lock is a leaf but for
 * bts_consumer.wait_lock.  bts_probe_lock is taken alone, since to register a probe
 * takes cpu_hotplug_lock.
 */
#include <linux/cpu.h>
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

/* Records of a ring, which is in memory that is always there: 24 MiB. */
#define BTS_CPU_MAX	(1ULL << 20)

/**
 * struct bts_cpu - a CPU that is followed
 * @window: its window.  Used by the CPU itself
 * @store: where the source writes
 * @records: memory of the window
 * @work: wakes up readers
 * @lock: guards @consumers
 * @consumers: struct bts_cpu_link
 * @users: number of elements of @consumers.  Under bts_cpus_lock
 */
struct bts_cpu {
	struct bts_window window;
	struct bts_store store;
	struct utrace_branch *records;
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

/* Number of consumers of CPUs, which need the probe.  Under bts_probe_lock. */
static unsigned int bts_probe_users;
static DEFINE_MUTEX(bts_probe_lock);

/**
 * utrace_bts_source_add() - say what can record a CPU
 * @source: the source; there is one at most
 *
 * Context: An initcall.
 */
void utrace_bts_source_add(const struct bts_source *source)
{
	WARN_ON(bts_source);
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

/**
 * utrace_bts_cpu_interrupt() - the source has recorded enough
 *
 * Context: NMI, or with interrupts off.
 */
void utrace_bts_cpu_interrupt(void)
{
	struct bts_cpu *cpu = __this_cpu_read(bts_cpu);

	if (!cpu)
		return;
	utrace_bts_window_interrupt(&cpu->window);
	irq_work_queue(&cpu->work);
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
	struct utrace_branch record;

	if (!cpu)
		return;
	record = bts_task_record(next);
	utrace_bts_window_switch(&cpu->window, NULL, &record);
	/* The window was emptied. */
	if (utrace_bts_window_is_empty(&cpu->window))
		irq_work_queue(&cpu->work);
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
	__this_cpu_write(bts_cpu, data);
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
	irq_work_queue(&cpu->work);
}

/* Making */

static void bts_cpu_free(struct bts_cpu *cpu)
{
	vfree(cpu->records);
	kfree(cpu);
}

static struct bts_cpu *bts_cpu_alloc(unsigned int nr)
{
	struct bts_cpu *cpu = kzalloc_node(sizeof(*cpu), GFP_KERNEL,
					   cpu_to_node(nr));

	if (!cpu)
		return NULL;
	cpu->records = vzalloc_node(bts_source->records *
				    sizeof(*cpu->records), cpu_to_node(nr));
	if (!cpu->records ||
	    utrace_bts_window_init(&cpu->window, &cpu->store, cpu->records,
				   bts_source->records, &bts_source->ops)) {
		bts_cpu_free(cpu);
		return NULL;
	}
	init_irq_work(&cpu->work, bts_cpu_wake);
	spin_lock_init(&cpu->lock);
	INIT_LIST_HEAD(&cpu->consumers);
	return cpu;
}

/* The first consumer of a CPU comes. */
static int bts_cpu_begin(unsigned int nr)
{
	struct bts_cpu *cpu = bts_cpu_alloc(nr);
	int ret;

	lockdep_assert_held(&bts_cpus_lock);
	if (!cpu)
		return -ENOMEM;
	ret = bts_source->begin(nr, &cpu->store);
	if (ret) {
		bts_cpu_free(cpu);
		return ret;
	}
	smp_call_function_single(nr, bts_cpu_publish, cpu, true);
	return 0;
}

/* The last consumer of a CPU has gone. */
static void bts_cpu_end(unsigned int nr, struct bts_cpu *cpu)
{
	lockdep_assert_held(&bts_cpus_lock);
	smp_call_function_single(nr, bts_cpu_publish, NULL, true);
	bts_source->end(nr);
	irq_work_sync(&cpu->work);
	bts_cpu_free(cpu);
}

static struct bts_cpu_link *bts_cpu_link_new(struct bts_consumer *consumer,
					     unsigned int nr)
{
	static const enum bts_level levels[] = {
		[UTRACE_BRANCHES_USER]	 = BTS_LEVEL_USER,
		[UTRACE_BRANCHES_KERNEL] = BTS_LEVEL_KERNEL,
		[BTS_LEVELS]		 = BTS_LEVEL_BOTH,
	};
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
	utrace_bts_stream_init(&link->stream, levels[consumer->levels], false,
			       &bts_source->entries, &link->buffer, false);
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
	if (!per_cpu(bts_cpu, nr)) {
		ret = bts_cpu_begin(nr);
		if (ret)
			return ret;
	}
	cpu = per_cpu(bts_cpu, nr);
	cpu->users++;
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
 * * -EINVAL - a task would wait for the reader, or the ring is too large
 * * -ENODEV - there is no such CPU, or it is offline
 * * -EBUSY - somebody else uses what the source needs
 * * -ENOMEM - there is no memory
 */
int utrace_bts_cpu_attach(struct bts_consumer *consumer, unsigned int nr)
{
	struct bts_cpu_link *link;
	int ret;

	if (!READ_ONCE(bts_source))
		return -EOPNOTSUPP;
	if (consumer->stop || consumer->ring.size > BTS_CPU_MAX)
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
	if (!--cpu->users)
		bts_cpu_end(link->cpu, cpu);
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
			break;
	}
	return 0;
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
	piece->n = utrace_bts_buffer_look(&link->buffer, piece->records,
					  min(n, BTS_PIECE), &piece->look);
	/* Nobody else writes any more, so what is lost can be told from here. */
	if (!piece->n && READ_ONCE(link->over) &&
	    utrace_bts_buffer_settle(&link->buffer))
		piece->n = utrace_bts_buffer_look(&link->buffer, piece->records,
						  min(n, BTS_PIECE),
						  &piece->look);
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

	info->source = bts_source->id;
	info->written = READ_ONCE(buffer->head);
	info->overwritten = READ_ONCE(buffer->counts[UTRACE_LOSS_OVERWRITTEN]);
	info->lost = READ_ONCE(buffer->counts[UTRACE_LOSS_FULL]);
	info->gaps = READ_ONCE(buffer->counts[UTRACE_LOSS_OFF]) +
		     READ_ONCE(buffer->counts[UTRACE_LOSS_HARDWARE]) +
		     READ_ONCE(buffer->counts[UTRACE_LOSS_EDGE]);
}

static int __init bts_cpu_init(void)
{
	int ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN,
					    "utrace/branches:online", NULL,
					    bts_cpu_offline);

	return min(ret, 0);
}
core_initcall(bts_cpu_init);

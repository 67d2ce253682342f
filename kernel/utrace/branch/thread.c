// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: followed threads
 *
 * A thread collects records in branch_thread.stage and copies them to its
 * consumers (deliver.c).  If the ring of a consumer is full, the rest stays in
 * the stage: the thread waits at the safe point until the reader has made room,
 * and no other consumer misses anything.
 *
 * How a thread and the reader avoid a lost wake-up:
 *
 *	thread, at the safe point	reader
 *	lock wait_lock			take records, make room
 *	room? then go on		lock wait_lock
 *	UTRACE_STOP, waits		thread waits? then UTRACE_REPORT
 *	unlock				unlock
 */
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "consumer.h"
#include "ring.h"
#include "thread.h"

/* Key of the data of all threads. */
static const char branch_owner;

/* Links */

static void branch_link_free(struct branch_link *link)
{
	list_del(&link->list);
	utrace_branch_consumer_put(link->consumer);
	kfree(link);
}

/*
 * Take the thread of a link off the list of waiting threads.  Returns the
 * thread, whose reference the caller must drop, or NULL if it was not on the
 * list.
 */
static struct task_struct *branch_take_waiting(struct branch_link *link)
{
	struct task_struct *task = link->task;

	lockdep_assert_held(&link->consumer->wait_lock);

	if (task) {
		list_del(&link->waiting);
		link->consumer->nwaiting--;
		link->task = NULL;
	}
	return task;
}

/**
 * utrace_branch_stop_waiting() - cancel the wait of the current thread
 * @link: its link to a consumer
 *
 * A thread that leaves the consumer in a callback of another one may still be
 * about to stop for it.
 *
 * Context: The task itself.  Takes bts_consumer.wait_lock.
 */
void utrace_branch_stop_waiting(struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	struct task_struct *task;

	scoped_guard(spinlock_irqsave, &consumer->wait_lock) {
		task = branch_take_waiting(link);
		/* -ESRCH: the thread is killed. */
		if (task && !consumer->closed)
			(void)!utrace_control(task, consumer->engine,
					      UTRACE_RESUME);
	}
	if (task)
		put_task_struct(task);
}

/**
 * utrace_branch_leave() - make a consumer stop following the current thread
 * @thread: the thread
 * @link: its link to the consumer; the function frees it
 *
 * Context: The task itself.
 */
void utrace_branch_leave(struct branch_thread *thread, struct branch_link *link)
{
	utrace_branch_stop_waiting(link);
	utrace_branch_notify(link->consumer);
	branch_link_free(link);
	if (!list_empty(&thread->links))
		return;
	thread->n = 0;
	utrace_follow_steps(false);
}

/**
 * utrace_branch_link() - find the link of a thread to a consumer
 * @thread: the current thread, or NULL
 * @consumer: the consumer
 *
 * Context: The task itself.
 * Return: the link, or NULL.
 */
struct branch_link *utrace_branch_link(struct branch_thread *thread,
				       const struct bts_consumer *consumer)
{
	struct branch_link *link;

	if (!thread)
		return NULL;
	list_for_each_entry(link, &thread->links, list)
		if (link->consumer == consumer)
			return link;
	return NULL;
}

/**
 * utrace_branch_link_rename() - update the pid of the current thread in a link
 * @link: link of the thread to a consumer
 * @start: address at which the thread continues
 *
 * execve() may give the thread the pid of its group leader, which has ended.
 * The stream of that pid then begins again.  What was lost under the old pid is
 * reported after the records in the ring, since no record of that pid follows.
 *
 * Context: The task itself; may sleep.  Takes bts_consumer.lock.
 */
void utrace_branch_link_rename(struct branch_link *link, u64 start)
{
	u64 ino = task_pid(current)->ino;

	if (link->ino == ino)
		return;
	if (link->lost) {
		guard(mutex)(&link->consumer->lock);
		utrace_branch_ring_lose(&link->consumer->ring, link->lost);
		link->lost = 0;
	}
	link->ino = ino;
	link->pid = utrace_branch_pid(link->consumer);
	link->start = start;
	link->started = false;
}

/**
 * utrace_branch_link_init() - initialize a link, for steps or for CPUs
 * @link: zeroed by the caller
 * @consumer: the consumer that is to follow the current thread
 * @start: address at which the thread continues
 *
 * Context: The task itself.
 */
void utrace_branch_link_init(struct branch_link *link,
			     struct bts_consumer *consumer, u64 start)
{
	kref_get(&consumer->ref);
	link->consumer = consumer;
	utrace_branch_link_rename(link, start);
}

/**
 * utrace_branch_join() - make a consumer follow the current thread
 * @thread: the thread
 * @consumer: the consumer, which may see the thread
 * @ip: address of the next instruction of the thread
 *
 * Context: The task itself; may sleep.
 * Return: false if there is no memory.
 */
bool utrace_branch_join(struct branch_thread *thread,
			struct bts_consumer *consumer, unsigned long ip)
{
	struct branch_link *link = kzalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);

	if (!link)
		return false;
	utrace_branch_link_init(link, consumer, ip);
	link->sent = thread->n;
	list_add_tail(&link->list, &thread->links);
	return true;
}

/* Threads */

static void branch_thread_free(struct utrace_task_data *data)
{
	struct branch_thread *thread = container_of(data, struct branch_thread,
						    data);
	struct branch_link *link, *next;

	list_for_each_entry_safe(link, next, &thread->links, list)
		branch_link_free(link);
	/* The thread has removed them before it exited. */
	WARN_ON_ONCE(!list_empty(&thread->tracked));
	kfree(thread);
}

/**
 * utrace_branch_thread() - get the data of the current thread
 *
 * Context: The task itself.
 * Return: the structure, or NULL if the thread was never followed.
 */
struct branch_thread *utrace_branch_thread(void)
{
	struct utrace_task_data *data = utrace_task_data_find(&branch_owner);

	return data ? container_of(data, struct branch_thread, data) : NULL;
}

/**
 * utrace_branch_streams_of() - get the streams of a thread that CPUs record
 * @task: the thread, which is not running but about to run on this CPU
 *
 * Context: In the scheduler.
 * Return: branch_thread.streams, or NULL if the thread was never followed.
 */
struct list_head *utrace_branch_streams_of(struct task_struct *task)
{
	struct utrace_task_data *data = utrace_task_data_of(task,
							    &branch_owner);

	return data ? &container_of(data, struct branch_thread, data)->streams :
		      NULL;
}

/**
 * utrace_branch_thread_new() - allocate the data of the current thread
 *
 * Context: A callback, in the task itself, which has no data yet; may sleep.
 * Return: the structure, or NULL if there is no memory.
 */
struct branch_thread *utrace_branch_thread_new(void)
{
	struct branch_thread *thread = kzalloc(sizeof(*thread),
					       GFP_KERNEL_ACCOUNT);

	if (!thread)
		return NULL;
	thread->task = current;
	INIT_LIST_HEAD(&thread->links);
	INIT_LIST_HEAD(&thread->tracked);
	INIT_LIST_HEAD(&thread->streams);
	thread->data.owner = &branch_owner;
	thread->data.put = branch_thread_free;
	utrace_task_data_add(&thread->data);
	return thread;
}

/* Waiting for room */

static bool branch_has_room(const struct bts_consumer *consumer)
{
	return !utrace_branch_is_read(consumer) ||
	       READ_ONCE(consumer->ring.head) - READ_ONCE(consumer->ring.tail) <
	       consumer->ring.size;
}

/**
 * utrace_branch_wait() - wait for the reader of a consumer
 * @link: the link of the current thread to the consumer, which has not got all
 *	records
 *
 * Called by report_quiesce of the consumer's engine, which then returns
 * UTRACE_RESUME.  That answer ends a hold that was set before the callback, but
 * not the one that utrace_control() sets here.  If the thread waits already, or
 * there is room by now, this function requests one more report instead.
 *
 * Context: The task itself, at the safe point.  Takes bts_consumer.wait_lock.
 */
void utrace_branch_wait(struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;
	bool report;

	guard(spinlock_irqsave)(&consumer->wait_lock);
	if (consumer->closed)
		return;
	report = link->task || branch_has_room(consumer);
	if (utrace_control(current, consumer->engine, report ? UTRACE_REPORT :
			   UTRACE_STOP) == -ESRCH)
		return;
	if (!report) {
		link->task = get_task_struct(current);
		list_add_tail(&link->waiting, &consumer->waiting);
		consumer->nwaiting++;
	} else if (link->task) {
		put_task_struct(branch_take_waiting(link));
	}
}

/**
 * utrace_branch_wait_at() - make the current thread wait at its safe point
 * @link: its link to a consumer, which has not got all records
 *
 * Context: The task itself.  Takes bts_consumer.wait_lock.
 */
void utrace_branch_wait_at(struct branch_link *link)
{
	struct bts_consumer *consumer = link->consumer;

	guard(spinlock_irqsave)(&consumer->wait_lock);
	/* -ESRCH: the thread is killed. */
	if (!consumer->closed)
		(void)!utrace_control(current, consumer->engine, UTRACE_REPORT);
}

/**
 * utrace_branch_wait_soon() - wait for consumers that lack records
 * @thread: the current thread
 *
 * Context: The task itself.
 */
void utrace_branch_wait_soon(struct branch_thread *thread)
{
	struct branch_link *link;

	list_for_each_entry(link, &thread->links, list)
		if (link->sent != thread->n)
			utrace_branch_wait_at(link);
}

/**
 * utrace_branch_let_go() - wake up the threads that wait for room
 * @consumer: the consumer, which has room or is closed; the caller keeps its
 *	engine
 *
 * Context: Process context; may sleep.  Takes bts_consumer.wait_lock.
 */
void utrace_branch_let_go(struct bts_consumer *consumer)
{
	struct task_struct *task;
	struct branch_link *link;
	unsigned int n;

	if (!list_empty(&consumer->tracks))
		queue_work(system_unbound_wq, &consumer->move);
	scoped_guard(spinlock_irqsave, &consumer->wait_lock)
		n = consumer->nwaiting;
	/* Leave threads that wait again to the next call. */
	while (n--) {
		scoped_guard(spinlock_irqsave, &consumer->wait_lock) {
			link = list_first_entry_or_null(&consumer->waiting,
							struct branch_link,
							waiting);
			if (!link)
				return;
			task = branch_take_waiting(link);
			/*
			 * The thread has records left, which it delivers in
			 * report_quiesce before it continues.
			 * -ESRCH: the thread was killed, or the engine is gone.
			 */
			(void)!utrace_control(task, consumer->engine,
					      UTRACE_REPORT);
		}
		put_task_struct(task);
		cond_resched();
	}
}

/**
 * utrace_branch_lose_rest() - count undelivered records as lost
 * @thread: the current thread
 * @link: its link to the consumer
 *
 * Context: The task itself.
 */
void utrace_branch_lose_rest(struct branch_thread *thread,
			     struct branch_link *link)
{
	for (; link->sent < thread->n; link->sent++)
		link->lost += utrace_branch_wants(link->consumer,
						  &thread->stage[link->sent]);
}

/**
 * utrace_branch_collect() - collect a record
 * @thread: the current thread
 * @from: member of struct utrace_branch
 * @to: member of struct utrace_branch
 * @info: member of struct utrace_branch
 *
 * Context: The task itself.
 */
void utrace_branch_collect(struct branch_thread *thread, u64 from, u64 to,
			   u64 info)
{
	struct branch_link *link;

	/* The wait has ended without room, for example by SIGKILL. */
	if (unlikely(thread->n == BRANCH_STAGE)) {
		list_for_each_entry(link, &thread->links, list) {
			utrace_branch_lose_rest(thread, link);
			link->sent = 0;
		}
		thread->n = 0;
	}
	thread->stage[thread->n++] = (struct utrace_branch){ from, to, info };
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - branches: consumers that are parts of the kernel
 *
 * The interface of <linux/utrace_branches.h>.  A consumer in the kernel may see
 * all tasks, and a callback notifies it of records.
 */
#include <linux/export.h>
#include <linux/sched/task.h>
#include <linux/utrace_branches.h>

#include "attach.h"
#include "consumer.h"
#include "cpu.h"
#include "read.h"
#include "ring.h"
#include "thread.h"

/* Enable the callback of a consumer, which is attached. */
static struct bts_consumer *
branch_enable_ready(struct bts_consumer *consumer,
		    const struct utrace_branches_want *want)
{
	scoped_guard(spinlock_irqsave, &consumer->wait_lock) {
		consumer->data = want->data;
		WRITE_ONCE(consumer->ready, want->ready);
	}
	/* For records that came before. */
	utrace_branch_notify(consumer);
	return consumer;
}

/**
 * utrace_branches_attach() - get the branches of tasks
 * @task: one of the tasks to follow
 * @scope: %UTRACE_SCOPE_THREAD, %UTRACE_SCOPE_PROCESS, or %UTRACE_SCOPE_TREE
 * @want: what the consumer wants; copied
 *
 * The tasks begin at their next return to user mode.
 *
 * Context: Process context without locks; may sleep.
 * Return:
 * * a consumer, for utrace_branches_detach() and then utrace_branches_put()
 * * -EINVAL - there is no such scope, level, policy or source, or too many
 *   records are wanted
 * * -EOPNOTSUPP - the machine has no such source of branches, or
 *   %UTRACE_FULL_STOP is wanted, but the tasks cannot wait
 * * -EBUSY - another user holds what the source needs
 * * -EIO - a CPU failed the self-test of the source
 * * -EPERM - @task is a kernel thread
 * * -ESRCH - @task has exited
 * * -ENOSPC - a task cannot have another engine
 * * -EINTR - the caller is being killed
 * * -ENOMEM - out of memory
 */
struct bts_consumer *
utrace_branches_attach(struct task_struct *task, u32 scope,
		       const struct utrace_branches_want *want)
{
	int source = utrace_branch_check(want, false), ret;
	struct bts_consumer *consumer;

	if (source < 0)
		return ERR_PTR(source);
	consumer = utrace_branch_consumer_new(want, source, false, NULL);
	if (IS_ERR(consumer))
		return consumer;
	ret = utrace_branch_consumer_attach(consumer, task, scope);
	if (!ret)
		return branch_enable_ready(consumer, want);
	utrace_branch_consumer_put(consumer);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(utrace_branches_attach);

/**
 * utrace_branches_attach_cpu() - get the branches of a CPU
 * @cpu: number of the CPU
 * @want: what the consumer wants; copied.  Tasks do not wait for the reader
 *
 * utrace_branches_want.ready() is called in an interrupt.
 *
 * Context: Process context without locks; may sleep.
 * Return:
 * * a consumer, as from utrace_branches_attach()
 * * -EINVAL - there is no such level, policy or source, or too many records
 *   are wanted
 * * -EOPNOTSUPP - the machine cannot record a CPU, or %UTRACE_FULL_STOP is
 *   wanted
 * * -ENODEV - there is no such CPU, or it is offline
 * * -EBUSY - another user holds what the source needs
 * * -EIO - the CPU failed the self-test of the source
 * * -ENOMEM - out of memory
 */
struct bts_consumer *
utrace_branches_attach_cpu(unsigned int cpu,
			   const struct utrace_branches_want *want)
{
	int source = utrace_branch_check(want, true), ret;
	struct bts_consumer *consumer;

	if (source < 0)
		return ERR_PTR(source);
	consumer = utrace_branch_consumer_new(want, source, true, NULL);
	if (IS_ERR(consumer))
		return consumer;
	ret = utrace_branch_cpu_attach(consumer, cpu);
	if (!ret)
		return branch_enable_ready(consumer, want);
	utrace_branch_consumer_put(consumer);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_GPL(utrace_branches_attach_cpu);

/**
 * utrace_branches_read() - read records
 * @consumer: the consumer
 * @records: memory for @n records
 * @n: maximum number of records
 *
 * Tasks that wait for room continue.
 *
 * Context: Process context; may sleep, but does not wait for records.  Not in
 * utrace_branches_want.ready().
 * Return: number of records, 0 if there are none now; -ENOMEM or -EIO if they
 * cannot be swapped in.
 */
int utrace_branches_read(struct bts_consumer *consumer,
			 struct utrace_branch *records, unsigned int n)
{
	struct branch_piece piece;
	unsigned int done = 0;
	int ret = 0;

	guard(mutex)(&consumer->reader.read_lock);
	while (done < n) {
		piece.records = records + done;
		ret = utrace_branch_consumer_copy(consumer, &piece, n - done);
		if (ret <= 0)
			break;
		utrace_branch_consumer_take(consumer, &piece);
		done += ret;
	}
	if (done)
		utrace_branch_let_go(consumer);
	return done ?: ret;
}
EXPORT_SYMBOL_GPL(utrace_branches_read);

/**
 * utrace_branches_over() - check whether the stream of a consumer has ended
 * @consumer: the consumer
 *
 * Context: Process context.
 * Return: true if all tasks have ended or the CPU is offline, so the records
 * that are still unread are the last ones.
 */
bool utrace_branches_over(struct bts_consumer *consumer)
{
	return utrace_branch_consumer_is_over(consumer);
}
EXPORT_SYMBOL_GPL(utrace_branches_over);

/**
 * utrace_branches_detach() - stop getting branches
 * @consumer: the consumer; the records in its ring can still be read
 *
 * When this returns, utrace_branches_want.ready() does not run and will not be
 * called again.  Tasks that waited for room continue.
 *
 * Context: Process context; may sleep.
 */
void utrace_branches_detach(struct bts_consumer *consumer)
{
	utrace_branch_consumer_close(consumer);
}
EXPORT_SYMBOL_GPL(utrace_branches_detach);

/**
 * utrace_branches_put() - free a consumer
 * @consumer: the consumer, which is detached and has no reader
 *
 * Context: Process context; may sleep.
 */
void utrace_branches_put(struct bts_consumer *consumer)
{
	utrace_branch_consumer_release(consumer);
}
EXPORT_SYMBOL_GPL(utrace_branches_put);

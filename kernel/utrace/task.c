// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - struct utrace and the event word of a task
 *
 * A task that an engine covers has a struct utrace, a set (set.c) and an event
 * word.  The hooks test the word to decide whether to call utrace.  A task
 * without a struct utrace is called bare: its word has the events that system
 * engines want, with UTRACE_WORD_RENEW, or UTRACE_WORD_REJECTED if all system
 * engines reject the task.
 */
#include <linux/bitops.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "set.h"
#include "syscall_filter.h"
#include "task.h"
#include "task_data.h"

static struct kmem_cache *utrace_cache __ro_after_init;

static int __init utrace_task_init(void)
{
	utrace_cache = KMEM_CACHE(utrace, SLAB_PANIC | SLAB_ACCOUNT);
	return 0;
}
core_initcall(utrace_task_init);

/* Memory */

static void utrace_init(struct utrace *u)
{
	*u = (struct utrace) { .resume = UTRACE_RESUME,
			       .flags = UTRACE_TASK_SLOW,
			       .task_data = &utrace_task_data_end };
	spin_lock_init(&u->lock);
}

/**
 * utrace_alloc() - allocate a struct utrace
 * @gfp: how to allocate it
 *
 * Context: As @gfp says.
 * Return: the struct utrace, which the caller installs or frees with
 * utrace_free(); or NULL if there is no memory.
 */
struct utrace *utrace_alloc(gfp_t gfp)
{
	struct utrace *u = kmem_cache_alloc(utrace_cache, gfp);

	if (u)
		utrace_init(u);
	return u;
}

/**
 * utrace_alloc_bulk() - allocate several struct utrace
 * @gfp: how to allocate them
 * @n: number of them
 * @u: filled in; see utrace_alloc()
 *
 * Context: As @gfp says.
 * Return: @n, or 0 if there is no memory for all of them.
 */
unsigned int utrace_alloc_bulk(gfp_t gfp, unsigned int n, struct utrace **u)
{
	unsigned int i;

	n = kmem_cache_alloc_bulk(utrace_cache, gfp, n, (void **)u);
	for (i = 0; i < n; i++)
		utrace_init(u[i]);
	return n;
}

/* Empty list for tasks without a struct utrace. */
static struct hlist_head utrace_no_tracers;

/**
 * utrace_tracers_of() - get the list of a task's further tracers by ptrace(2)
 * @task: the task; the caller has a reference, or is under RCU
 *
 * Context: Any.  The list is changed under utrace_tracers_lock(), and read
 * under RCU.
 * Return: the list, which is empty if @task has no struct utrace.
 */
struct hlist_head *utrace_tracers_of(struct task_struct *task)
{
	struct utrace *u = READ_ONCE(task->utrace);

	return u ? &u->tracers : &utrace_no_tracers;
}

/**
 * utrace_tracers_lock() - get the lock of utrace_tracers_of()
 * @task: a task that has a struct utrace; the caller has a reference
 *
 * Context: Any.
 * Return: utrace->lock of @task, which is taken with interrupts off.
 */
spinlock_t *utrace_tracers_lock(struct task_struct *task)
{
	return &task->utrace->lock;
}

/**
 * utrace_newborn_tracers() - get the list of tracers of a task being created
 *
 * For a task that current is creating.
 *
 * Context: A task that has a struct utrace.
 * Return: the list, which only the current task uses.
 */
struct hlist_head *utrace_newborn_tracers(void)
{
	return &current->utrace->newborn;
}

/**
 * utrace_free() - free a struct utrace with the data and the list entry in it
 * @u: a struct utrace that no task has, or whose task is being freed
 *
 * Context: Any.  May call utrace_task_data::put.
 */
void utrace_free(struct utrace *u)
{
	utrace_task_data_drop(u);
	kfree(u->member);
	kmem_cache_free(utrace_cache, u);
}

/**
 * __utrace_free_task() - free the struct utrace of a task
 * @task: a task that is being freed, and has no set
 *
 * Context: Any.
 */
void __utrace_free_task(struct task_struct *task)
{
	WARN_ON_ONCE(task->utrace_set);
	utrace_free(task->utrace);
	task->utrace = NULL;
}

/* Event words */

/* The bits of a word that a thread which runs only in the kernel may have. */
static unsigned long utrace_kernel_events(struct task_struct *task)
{
	unsigned long events = UTRACE_EVENT_KTHREAD;

	/* A worker that never runs user code reports only its end. */
	if (task->flags & PF_USER_WORKER)
		events &= ~UTRACE_EVENT(CLONE);
	return events | UTRACE_WORD_RENEW | UTRACE_WORD_REJECTED;
}

/**
 * utrace_set_word() - write the event word of a task
 * @task: the task
 * @events: the word.  Bits that @task does not report, and bits that must not
 *	be set together with UTRACE_WORD_RENEW, are cleared
 *
 * Context: utrace->lock of the task is held, or utrace_bare_lock for a bare
 * task; or the task is not visible yet.
 */
void utrace_set_word(struct task_struct *task, unsigned long events)
{
	if (unlikely(task->flags & (PF_USER_WORKER | PF_KTHREAD)))
		events &= utrace_kernel_events(task);

	/*
	 * The next set may have engines that need the slow pass, or that want
	 * other system calls.
	 */
	if (events & UTRACE_WORD_RENEW)
		events &= ~(UTRACE_WORD_FAST | UTRACE_WORD_UNWANTED);

	utrace_write_word(task, events);
}

/* Slow path of utrace_word_of(): some engines reject the task. */
static noinline unsigned long utrace_word_muted(const struct utrace_set *set,
						u64 muted)
{
	unsigned long events = UTRACE_EVENT(REAP);
	u64 left, calls = 0;

	for (left = set->members & ~muted; left; left &= left - 1) {
		struct utrace_engine *engine = set->engine[__ffs64(left)];
		unsigned long wants = READ_ONCE(engine->flags);

		events |= utrace_engine_word(engine, wants);
		if (wants & UTRACE_EVENT_SYSCALL)
			calls |= utrace_filter_calls(engine);
	}
	if (events & UTRACE_EVENT_SYSCALL)
		events |= UTRACE_WORD_UNWANTED & ~calls;
	if (!(muted & (set->entry | set->exit)))
		events |= set->events & UTRACE_WORD_FAST;
	return events;
}

/**
 * utrace_word_of() - compute the event word for a set
 * @set: the set; the caller has a reference, or utrace->lock of a task that has
 *	it
 * @muted: slots whose engines reject the task
 *
 * Context: Any.
 * Return: the word.
 */
unsigned long utrace_word_of(const struct utrace_set *set, u64 muted)
{
	muted &= set->members;
	return likely(!muted) ? set->events : utrace_word_muted(set, muted);
}

/**
 * utrace_word_now() - compute the event word of a task that must renew its set
 * @task: the task
 * @u: struct utrace of @task
 *
 * Context: @u->lock is held.
 * Return: the events that engines of the set, muted or not, and system engines
 * want now, with UTRACE_WORD_RENEW.
 */
unsigned long utrace_word_now(struct task_struct *task, struct utrace *u)
{
	const struct utrace_set *set = task->utrace_set;
	unsigned long events = utrace_bare_events(task);
	u64 left;

	lockdep_assert_held(&u->lock);

	for (left = set ? set->members : 0; left; left &= left - 1) {
		struct utrace_engine *engine = set->engine[__ffs64(left)];

		events |= utrace_engine_word(engine, READ_ONCE(engine->flags));
	}
	if (set)
		events |= UTRACE_EVENT(REAP);
	return events | UTRACE_WORD_RENEW;
}

/* Bare tasks */

/*
 * The events that system engines want of user tasks.  Written under
 * utrace_engine_lock, read without a lock.
 */
unsigned long utrace_system_events __read_mostly;
/*
 * The events that system engines with UTRACE_ATTACH_KTHREAD want of kernel
 * threads.  Written under utrace_engine_lock, read without a lock.
 */
unsigned long utrace_kthread_events __read_mostly;

/*
 * Protects the words of bare tasks, which walks and the tasks themselves write,
 * and the store of task->utrace.  A child that is not visible yet needs no
 * lock.  Taken with interrupts off, inside utrace_engine_lock and outside
 * utrace->lock.
 */
DEFINE_SPINLOCK(utrace_bare_lock);

/**
 * utrace_install() - give a bare task a struct utrace
 * @task: the task; the caller has a reference, or it is current
 * @u: the struct utrace; the call consumes it if it succeeds
 *
 * An attach and the task itself may call this concurrently.  An exiting task
 * may have passed the place of its death report, so it is marked as dead: no
 * thread engine can add DEATH.
 *
 * Context: Any but NMI, without utrace->lock.
 * Return: true, or false if @task already had a struct utrace.
 */
bool utrace_install(struct task_struct *task, struct utrace *u)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	/* __utrace_report_death(), which finds @u, waits until DEAD is set. */
	guard(spinlock)(&u->lock);
	/* Contents of @u before the pointer, for readers without the lock. */
	smp_store_release(&task->utrace, u);
	/*
	 * Store the pointer before the load of PF_EXITING.  Pairs with the full
	 * barrier of atomic_dec_and_test() in do_exit(), which is between
	 * PF_EXITING and utrace_report_death(): either the latter sees @u, or
	 * PF_EXITING is seen here.
	 */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING)
		u->flags |= UTRACE_TASK_DEAD;
	return true;
}

/**
 * utrace_bare_events_of() - utrace_bare_events() by flags of a task
 * @task_flags: the PF_* flags
 *
 * Context: Any.
 * Return: see utrace_bare_events().
 */
unsigned long utrace_bare_events_of(unsigned int task_flags)
{
	unsigned long events = READ_ONCE(utrace_system_events);

	if (!events)
		return 0;
	if (task_flags & PF_KTHREAD)
		events = READ_ONCE(utrace_kthread_events);
	return events | UTRACE_WORD_RENEW;
}

/**
 * utrace_bare_events() - compute the event word of a bare task
 * @task: the task
 *
 * Context: Any.
 * Return:
 * * 0 - no system engine wants an event
 * * other - the events that system engines want of @task, with
 *   UTRACE_WORD_RENEW
 */
unsigned long utrace_bare_events(struct task_struct *task)
{
	return utrace_bare_events_of(task->flags);
}

/**
 * utrace_refresh_bare() - update the event word of a bare task
 * @task: the task, which is current, or is in the lists of tasks and kept by
 *	tasklist_lock or RCU
 *
 * Context: Any but NMI, without utrace->lock.
 * Return: true, or false if @task is not bare.
 */
bool utrace_refresh_bare(struct task_struct *task)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	utrace_set_word(task, utrace_bare_events(task));
	return true;
}

/**
 * utrace_want_renewal() - make a task renew its set at its next event
 * @task: the task, which is not bare; it is current, or RCU keeps it
 *
 * Context: Any but NMI.  Takes utrace->lock.
 */
void utrace_want_renewal(struct task_struct *task)
{
	struct utrace *u = task->utrace;

	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return;
	utrace_set_word(task, utrace_bare_events(task) |
			(task->utrace_set ?
			 task->utrace_events | UTRACE_WORD_RENEW : 0));
}

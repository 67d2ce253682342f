// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system scope: one engine for every user task, present and future
 *
 * Nothing is allocated for a task.  Its event word says what the engines of the
 * system want, and that its set is to be rebuilt; a task that never has such an
 * event never gets a struct utrace.  One that has takes it in its own context
 * (utrace_adopt()), and every set that is built from then on contains these
 * engines, behind those that cover the task for reasons of its own.
 *
 * A task without a struct utrace is called bare here.  Its word follows from
 * utrace_system_events, or says that all engines reject the task
 * (utrace_is_rejected()).  It is written by walks, after the events changed or an
 * engine was removed, by whoever has the task asked again, and by copy_process()
 * under tasklist_lock for writing.  The events change before the walk begins, so
 * a child is born with the new word or is there for the walk.
 *
 * Kernel threads are covered by those engines only that asked for them.  Their
 * word always makes them pass the hook in copy_process(), since some of their
 * children are user tasks.
 */
#include <linux/export.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "internal.h"

/* The engines, in the order of attach.  Under utrace_mutex and engine_lock. */
static struct utrace_engine *utrace_system[UTRACE_MAX_ENGINES];
static unsigned int utrace_nsystem;

/* What they want, together.  Written under utrace_engine_lock. */
static unsigned long utrace_system_events;
/* Of that, what is wanted of kernel threads. */
static unsigned long utrace_kthread_events;

/* Events that came to no engine for want of memory. */
static atomic_long_t utrace_lost;

/*
 * The words of bare tasks, and who gives a task its struct utrace.  Interrupts
 * off; outside utrace->lock, inside all others.
 */
static DEFINE_SPINLOCK(utrace_bare_lock);

/**
 * utrace_install - give a bare task a struct utrace
 * @task: the task
 * @u: its struct utrace
 *
 * Context: Any but NMI.
 * Return: false if it has one already.
 */
bool utrace_install(struct task_struct *task, struct utrace *u)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	/* Before the set and the word; pairs with utrace_init_task(). */
	smp_store_release(&task->utrace, u);
	return true;
}

static unsigned long utrace_bare_events_of(unsigned int task_flags)
{
	unsigned long events = READ_ONCE(utrace_system_events);

	if (!events)
		return 0;
	if (task_flags & PF_KTHREAD)
		events = READ_ONCE(utrace_kthread_events);
	return events | UTRACE_WORD_REBUILD;
}

/**
 * utrace_bare_events - the word of a task without a set
 * @task: the task
 *
 * Context: Any.
 * Return: what the engines of the system want of it, and to rebuild; 0 without
 * them.
 */
unsigned long utrace_bare_events(struct task_struct *task)
{
	return utrace_bare_events_of(task->flags);
}

/**
 * utrace_refresh_bare - bring the word of a bare task up to date
 * @task: the task
 *
 * Context: tasklist_lock is held, or rcu_read_lock() and @task is visible, or
 * it is current.
 * Return: false if the task is not bare.
 */
bool utrace_refresh_bare(struct task_struct *task)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	utrace_set_word(task, utrace_bare_events(task));
	return true;
}

/* Bare tasks in a row that a walk writes to with interrupts off. */
#define UTRACE_BARE_RUN		64

/**
 * utrace_system_tell - what the engines of the system want has changed
 * @added: the event bits that are new; 0: some are gone
 *
 * One walk over all tasks, with a few instructions for each that is bare: nobody
 * can be born or reaped meanwhile.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_system_tell(unsigned long added)
{
	unsigned long user, flags;
	struct task_struct *p, *t;
	unsigned int run = 0;

	read_lock(&tasklist_lock);
	spin_lock_irqsave(&utrace_bare_lock, flags);
	user = utrace_bare_events_of(0);
	for_each_process_thread(p, t) {
		if (unlikely(t->utrace)) {
			if (added)
				utrace_want_rebuild(t, added);
		} else if (likely(!(t->flags & (PF_KTHREAD | PF_USER_WORKER)))) {
			utrace_write_word(t, user);
		} else {
			utrace_set_word(t, utrace_bare_events(t));
		}
		if (unlikely(++run % UTRACE_BARE_RUN == 0)) {
			spin_unlock_irqrestore(&utrace_bare_lock, flags);
			spin_lock_irqsave(&utrace_bare_lock, flags);
			user = utrace_bare_events_of(0);
		}
	}
	spin_unlock_irqrestore(&utrace_bare_lock, flags);
	read_unlock(&tasklist_lock);
}

/* What all of them want, after a change in what one wants. */
void utrace_system_recount(void)
{
	unsigned long events = 0, kthread = 0;
	unsigned int i;

	lockdep_assert_held(&utrace_engine_lock);

	for (i = 0; i < utrace_nsystem; i++) {
		struct utrace_engine *engine = utrace_system[i];

		events |= READ_ONCE(engine->flags);
		if (utrace_engine_state(engine) & UTRACE_STATE_KTHREAD)
			kthread |= READ_ONCE(engine->flags);
	}
	WRITE_ONCE(utrace_kthread_events, kthread & UTRACE_EVENT_KTHREAD);
	WRITE_ONCE(utrace_system_events, events);
}

/**
 * utrace_system_add - the next engine of the system
 * @engine: it wants no event yet
 *
 * Context: May sleep.  Takes utrace_mutex.
 * Return: 0; -ENOSPC: there are %UTRACE_MAX_ENGINES.
 */
int utrace_system_add(struct utrace_engine *engine)
{
	guard(mutex)(&utrace_mutex);
	if (utrace_nsystem == UTRACE_MAX_ENGINES)
		return -ENOSPC;
	utrace_core_get(engine);
	scoped_guard(spinlock_irqsave, &utrace_engine_lock)
		utrace_system[utrace_nsystem++] = engine;
	atomic_long_inc(&utrace_generation);
	return 0;
}

/**
 * utrace_system_remove - a detached engine is in no new set any more
 * @engine: the engine, on which the caller has a reference
 *
 * Context: May sleep.  Takes utrace_mutex.
 */
void utrace_system_remove(struct utrace_engine *engine)
{
	bool found = false;
	unsigned int i;

	scoped_guard(mutex, &utrace_mutex) {
		guard(spinlock_irqsave)(&utrace_engine_lock);
		for (i = 0; i < utrace_nsystem; i++) {
			if (found)
				utrace_system[i - 1] = utrace_system[i];
			found |= utrace_system[i] == engine;
		}
		utrace_nsystem -= found;
	}
	if (found)
		utrace_core_put(engine);
}

/**
 * utrace_system_engine - enumerate the engines of the system
 * @i: counts from 0
 *
 * Context: utrace_mutex or utrace_engine_lock is held.
 * Return: the engine, or NULL if there are no more.
 */
struct utrace_engine *utrace_system_engine(unsigned int i)
{
	return i < utrace_nsystem ? utrace_system[i] : NULL;
}

/* An event came to no engine, since there is no memory for a set. */
void utrace_count_lost(void)
{
	atomic_long_inc(&utrace_lost);
}

/* Does any engine of the system want to hear of the current task? */
static bool utrace_is_wanted(void)
{
	bool kthread = current->flags & PF_KTHREAD;
	struct utrace_engine *engine;
	unsigned int i;

	for (i = 0; (engine = utrace_system_engine(i)); i++) {
		if (!READ_ONCE(engine->flags) ||
		    (kthread &&
		     !(utrace_engine_state(engine) & UTRACE_STATE_KTHREAD)))
			continue;
		if (!engine->info->match || !utrace_rejects(engine))
			return true;
	}
	return false;
}

/*
 * A bare task that is rejected by all engines needs no struct utrace.  Who
 * wants it to ask again sets UTRACE_WORD_REBUILD meanwhile.
 */
static bool utrace_is_rejected(void)
{
	unsigned long word;
	bool wanted;

	guard(mutex)(&utrace_mutex);
	do {
		scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
			if (current->utrace)
				return false;
			WRITE_ONCE(current->utrace_events,
				   current->utrace_events & ~UTRACE_WORD_REBUILD);
		}
		wanted = utrace_is_wanted();
		guard(spinlock_irqsave)(&utrace_bare_lock);
		word = current->utrace_events;
		if (wanted)
			utrace_set_word(current, word | UTRACE_WORD_REBUILD);
		else if (!(word & UTRACE_WORD_REBUILD))
			utrace_set_word(current, UTRACE_WORD_REJECTED);
	} while (!wanted && word & UTRACE_WORD_REBUILD);
	return !wanted;
}

/**
 * utrace_adopt - take a struct utrace for the current task
 *
 * Without memory the event at hand is lost, and counted.
 *
 * Context: The task itself, may sleep.
 * Return: false if there is none.
 */
bool utrace_adopt(void)
{
	unsigned int noio;
	struct utrace *u;

	if (current->utrace)
		return true;
	/*
	 * Nobody wants anything of it any more; or it was born with a work bit
	 * that is older than its word, both being copied one after the other.
	 */
	if (!(READ_ONCE(current->utrace_events) & UTRACE_EVENT_ALL)) {
		utrace_refresh_bare(current);
		return false;
	}
	if (utrace_is_rejected())
		return false;
	/* As a rebuild, and in kernel threads which memory may wait for. */
	noio = memalloc_noio_save();
	u = utrace_alloc(GFP_KERNEL_ACCOUNT);
	memalloc_noio_restore(noio);
	if (!u) {
		utrace_count_lost();
		return false;
	}
	if (!utrace_install(current, u))
		utrace_free(u);
	return true;
}

/**
 * utrace_lost_events - how often there was no memory for a task's set
 *
 * Each time may have cost the engines of the system, or those that newly cover the
 * task, an event.
 *
 * Context: Any.
 * Return: how often since the machine was started.
 */
unsigned long utrace_lost_events(void)
{
	return atomic_long_read(&utrace_lost);
}
EXPORT_SYMBOL_GPL(utrace_lost_events);

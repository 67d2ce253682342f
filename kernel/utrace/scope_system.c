// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - system scope: one engine for every user task, present and future
 *
 * Nothing is allocated for a task until it has an event.  A task without struct
 * utrace is called bare: its event word says what the engines of the system
 * want, together with UTRACE_WORD_RENEW, or that all of them reject the task
 * (UTRACE_WORD_REJECTED).  At its first event a bare task takes a struct utrace
 * in its own context (utrace_adopt()).  Every set that is made contains the
 * engines of the system, in slots of their own behind those of the cast.
 *
 * A change of events or of the table is told by one walk over all tasks
 * (utrace_system_tell()).  A removed engine is in no new set; the sets that
 * still have it keep its memory, and no pass calls it.
 */
#include <linux/export.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "builtin.h"
#include "internal.h"

static struct utrace_system utrace_system_empty;
struct utrace_system __rcu *utrace_system =
	RCU_INITIALIZER(&utrace_system_empty);

/*
 * Number of changes of the table, which a set remembers (utrace_set::sysgen).
 * Written under utrace_engine_lock.
 */
unsigned int utrace_system_gen __read_mostly;

/*
 * The events that any engine of the system wants.  Written under
 * utrace_engine_lock, read without a lock.
 */
unsigned long utrace_system_events __read_mostly;
/*
 * The events that engines with UTRACE_ATTACH_KTHREAD want of kernel threads.
 * Written and read as utrace_system_events is.
 */
static unsigned long utrace_kthread_events __read_mostly;

/* Number of events that engines of the system missed, counted per engine. */
static atomic_long_t utrace_lost;

/*
 * Protects the words of bare tasks, which walks and the tasks themselves write,
 * and the moment at which a task gets a struct utrace.  A child that is not
 * visible yet needs no lock.  Taken with interrupts off, inside
 * utrace_engine_lock and outside utrace->lock.
 */
static DEFINE_SPINLOCK(utrace_bare_lock);

/**
 * utrace_install() - give a bare task a struct utrace
 * @task: the task; the caller has a reference, or it is current
 * @u: the struct utrace, which is @task's if the call succeeds
 *
 * An attach and the task itself may call this at the same time.  A task that exits
 * may have passed the place of its death report, so it counts as dead: no thread engine
 * can add DEATH.
 *
 * Context: Any but NMI, without utrace->lock.
 * Return:
 * * true - @task has @u
 * * false - @task had a struct utrace already; @u stays the caller's
 */
bool utrace_install(struct task_struct *task, struct utrace *u)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	/* __utrace_report_death(), which finds @u, waits until DEAD is set. */
	guard(spinlock)(&u->lock);
	/*
	 * The contents of @u before the pointer, for readers without the lock.
	 */
	smp_store_release(&task->utrace, u);
	/*
	 * The pointer before the look at PF_EXITING.  Pairs with the full barrier of
	 * atomic_dec_and_test() in do_exit(), which is between PF_EXITING and
	 * utrace_report_death(): that finds @u, or PF_EXITING is seen here.
	 */
	smp_mb();
	if (READ_ONCE(task->flags) & PF_EXITING)
		u->flags |= UTRACE_TASK_DEAD;
	return true;
}

/* The word of a bare task with these PF_* flags. */
static unsigned long utrace_bare_events_of(unsigned int task_flags)
{
	unsigned long events = READ_ONCE(utrace_system_events);

	if (!events)
		return 0;
	if (task_flags & PF_KTHREAD)
		events = READ_ONCE(utrace_kthread_events);
	return events | UTRACE_WORD_RENEW;
}

/**
 * utrace_bare_events() - what the engines of the system put into a task's word
 * @task: the task
 *
 * Context: Any.
 * Return:
 * * 0 - no engine of the system wants an event
 * * other - the events that they want of @task, with UTRACE_WORD_RENEW
 */
unsigned long utrace_bare_events(struct task_struct *task)
{
	return utrace_bare_events_of(task->flags);
}

/**
 * utrace_refresh_bare() - bring the word of a bare task up to date
 * @task: the task, which is current, or is in the lists of tasks and kept by
 *	tasklist_lock or RCU
 *
 * Context: Any but NMI, without utrace->lock.
 * Return:
 * * true - the word of @task says what the engines of the system want now
 * * false - @task is not bare
 */
bool utrace_refresh_bare(struct task_struct *task)
{
	guard(spinlock_irqsave)(&utrace_bare_lock);
	if (task->utrace)
		return false;
	utrace_set_word(task, utrace_bare_events(task));
	return true;
}

/*
 * The cost, in bare tasks, of what utrace_system_tell() does in one hold of
 * utrace_bare_lock, with interrupts off.
 */
#define UTRACE_BARE_RUN		64
/* The cost of any other task. */
#define UTRACE_OTHER		8

/* Have a task that is not bare renew its set at its next event. */
static void utrace_want_renewal(struct task_struct *task)
{
	struct utrace *u = task->utrace;

	guard(spinlock_irqsave)(&u->lock);
	if (u->flags & UTRACE_TASK_REAPED)
		return;
	utrace_set_word(task, utrace_bare_events(task) |
			(task->utrace_set ?
			 task->utrace_events | UTRACE_WORD_RENEW : 0));
}

/**
 * utrace_system_tell() - tell all tasks what the engines of the system want
 *
 * One walk over all tasks, with a few instructions for each that is bare.  A
 * child that is born meanwhile is met by the walk or has its word made from the
 * new events, see utrace_tasklist_barrier().
 *
 * The events are read anew in each hold of utrace_bare_lock: where two walks
 * run at the same time, the later change stays.
 *
 * Context: Any but NMI, without siglock.  Takes tasklist_lock.
 */
void utrace_system_tell(void)
{
	unsigned long user, flags;
	struct task_struct *p, *t;
	unsigned int run = 0;

	utrace_tasklist_barrier();
	guard(rcu)();
	spin_lock_irqsave(&utrace_bare_lock, flags);
	user = utrace_bare_events_of(0);
	for_each_process_thread(p, t) {
		if (unlikely(t->utrace)) {
			utrace_want_renewal(t);
			run += UTRACE_OTHER;
		} else if (unlikely(t->flags & (PF_KTHREAD | PF_USER_WORKER))) {
			utrace_set_word(t, utrace_bare_events(t));
			run += UTRACE_OTHER;
		} else {
			utrace_write_word(t, user);
			run++;
		}
		if (unlikely(run >= UTRACE_BARE_RUN)) {
			spin_unlock_irqrestore(&utrace_bare_lock, flags);
			run = 0;
			spin_lock_irqsave(&utrace_bare_lock, flags);
			user = utrace_bare_events_of(0);
		}
	}
	spin_unlock_irqrestore(&utrace_bare_lock, flags);
}

/**
 * utrace_system_recount() - compute what the engines of the system want
 *
 * Called after a change of the table or of what one of the engines wants.
 *
 * Context: utrace_engine_lock is held.
 */
void utrace_system_recount(void)
{
	unsigned long events = 0, kthread = 0;
	struct utrace_system *system;
	unsigned int i;

	system = rcu_dereference_protected(utrace_system,
					   lockdep_is_held(&utrace_engine_lock));
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];

		events |= READ_ONCE(engine->flags);
		if (utrace_engine_state(engine) & UTRACE_STATE_KTHREAD)
			kthread |= READ_ONCE(engine->flags);
	}
	WRITE_ONCE(utrace_kthread_events, kthread & UTRACE_EVENT_KTHREAD);
	WRITE_ONCE(utrace_system_events, events);
}

/**
 * utrace_system_reaches() - does an engine of the system cover a kind of task?
 * @engine: the engine; the caller has a reference, or is under RCU
 * @kthread: the kind is kernel threads, else user tasks
 *
 * Context: Any.
 * Return: false if @engine does not cover such tasks, or is detached.
 */
bool utrace_system_reaches(struct utrace_engine *engine, bool kthread)
{
	unsigned int state = utrace_engine_state(engine);

	return !(state & UTRACE_STATE_DETACHED) &&
	       (!kthread || state & UTRACE_STATE_KTHREAD);
}

/* Remove all detached engines from a copy of the table. */
static void utrace_system_leave_out(struct utrace_system *next)
{
	unsigned int i, n = 0;

	for (i = 0; i < next->n; i++) {
		u8 slot = next->all[i];

		if (utrace_engine_detached(next->engine[slot]))
			next->slots &= ~BIT(slot);
		else
			next->all[n++] = slot;
	}
	next->n = n;
}

/* Add an engine to a copy of the table.  Returns false if there is no slot. */
static bool utrace_system_add(struct utrace_system *next,
			      struct utrace_engine *engine)
{
	unsigned int slot = ffz(next->slots);

	if (next->n == UTRACE_MAX_SYSTEM)
		return false;
	next->slots |= BIT(slot);
	next->engine[slot] = engine;
	next->all[next->n++] = slot;
	return true;
}

/**
 * utrace_system_change() - add an engine of the system to the table, or remove it
 * @engine: the engine to be added, which wants no event yet, or removed if it is
 *	detached; the caller has a reference
 *
 * Sets that are made after a removal do not have the engine.  A removal does not
 * fail.
 *
 * Context: May sleep.  Takes utrace_engine_lock.
 * Return:
 * * 0 - done
 * * -ENOSPC - there are %UTRACE_MAX_SYSTEM engines of the system
 * * -ENOMEM - no memory
 */
int utrace_system_change(struct utrace_engine *engine)
{
	bool remove = utrace_engine_detached(engine), done;
	struct utrace_system *next, *old;

	/* Less than two hundred bytes. */
	next = kmalloc(sizeof(*next),
		       GFP_KERNEL | (remove ? __GFP_NOFAIL : 0));
	if (!next)
		return -ENOMEM;
	scoped_guard(spinlock_irqsave, &utrace_engine_lock) {
		old = rcu_dereference_protected(utrace_system,
						lockdep_is_held(&utrace_engine_lock));
		*next = *old;
		utrace_system_leave_out(next);
		done = remove || utrace_system_add(next, engine);
		if (done) {
			rcu_assign_pointer(utrace_system, next);
			/*
			 * The table before the number; pairs with
			 * utrace_census_take().
			 */
			smp_store_release(&utrace_system_gen,
					  utrace_system_gen + 1);
			utrace_system_recount();
		}
	}
	if (!done)
		kfree(next);
	else if (old != &utrace_system_empty)
		kfree_rcu(old, rcu);
	return done ? 0 : -ENOSPC;
}

/**
 * utrace_count_lost() - count an event for the engines that miss it
 * @set: the set that reports the event, which the caller has pinned; NULL if
 *	there is none
 * @events: UTRACE_EVENT() bits, of which the event is one
 *
 * An engine of the system misses the event if it wants one of @events and is
 * not in @set.  It counts as missed also where a match would have rejected the
 * task.
 *
 * Context: The task itself, or its reaper.
 */
void utrace_count_lost(const struct utrace_set *set, unsigned long events)
{
	bool kthread = set ? set->kthread : current->flags & PF_KTHREAD;
	const struct utrace_system *system;
	unsigned int i;

	guard(rcu)();
	system = rcu_dereference(utrace_system);
	for (i = 0; i < system->n; i++) {
		struct utrace_engine *engine = system->engine[system->all[i]];

		if (!(READ_ONCE(engine->flags) & events) ||
		    !utrace_system_reaches(engine, kthread) ||
		    utrace_set_slot(set, engine) >= 0)
			continue;
		atomic_long_inc(&engine->info->lost);
		atomic_long_inc(&utrace_lost);
	}
}

/*
 * Get a reference to the memory of the engine in a slot.  NULL if the slot has
 * none, or one that wants no event or does not cover current.
 */
static struct utrace_engine *utrace_system_get(unsigned int slot)
{
	struct utrace_system *system;
	struct utrace_engine *engine;

	guard(rcu)();
	system = rcu_dereference(utrace_system);
	if (!(system->slots & BIT(slot)))
		return NULL;
	engine = system->engine[slot];
	if (!READ_ONCE(engine->flags) ||
	    !utrace_system_reaches(engine, current->flags & PF_KTHREAD) ||
	    !utrace_shell_tryget(engine))
		return NULL;
	return engine;
}

/* Does an engine of the system want events and not reject the current task? */
static bool utrace_is_wanted(void)
{
	bool wanted = false;
	unsigned int slot;

	for (slot = 0; slot < UTRACE_MAX_SYSTEM && !wanted; slot++) {
		struct utrace_engine *engine = utrace_system_get(slot);

		if (!engine)
			continue;
		wanted = !rcu_access_pointer(engine->info->match) ||
			 !utrace_rejects(engine);
		utrace_shell_put(engine);
	}
	return wanted;
}

/*
 * Do all engines of the system reject the current task?  Such a task stays
 * bare.
 *
 * RENEW is cleared before the matches are asked, which happens under no lock.
 * A change that comes meanwhile sets RENEW again; then REJECTED is not
 * written, and the next event asks again.
 */
static bool utrace_is_rejected(void)
{
	bool wanted;

	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		WRITE_ONCE(current->utrace_events,
			   current->utrace_events & ~UTRACE_WORD_RENEW);
	}
	wanted = utrace_is_wanted();
	scoped_guard(spinlock_irqsave, &utrace_bare_lock) {
		if (current->utrace)
			return false;
		if (wanted)
			utrace_set_word(current, current->utrace_events |
					UTRACE_WORD_RENEW);
		else if (!(current->utrace_events & UTRACE_WORD_RENEW))
			utrace_set_word(current, UTRACE_WORD_REJECTED);
	}
	return !wanted;
}

/*
 * Give the current task a struct utrace.  Returns false if there is none for
 * want of memory, after counting the event as lost.
 */
static bool utrace_adopt_wanted(unsigned long events)
{
	bool kthread = current->flags & PF_KTHREAD;
	unsigned int noio = 0;
	struct utrace *u;

	/* Memory reclaim may wait for this kernel thread. */
	if (kthread)
		noio = memalloc_noio_save();
	u = utrace_alloc(GFP_KERNEL_ACCOUNT);
	if (kthread)
		memalloc_noio_restore(noio);
	if (!u) {
		utrace_count_lost(NULL, events);
		return current->utrace;
	}
	if (!utrace_install(current, u))
		utrace_free(u);
	return true;
}

/**
 * __utrace_adopt() - give the current task a struct utrace if an engine wants it
 * @events: UTRACE_EVENT() bits, of which the event to be reported is one;
 *	without memory it is counted as lost
 *
 * Context: The task itself, which has no struct utrace; may sleep.
 * Return: as utrace_adopt() does.
 */
bool __utrace_adopt(unsigned long events)
{
	/*
	 * The engines that wanted its events are gone.  Or its work bit is
	 * older than its word, since dup_task_struct() copied the two one after
	 * the other.  Writing the word sets the work bit right.
	 */
	if (!(READ_ONCE(current->utrace_events) & UTRACE_EVENT_ALL)) {
		utrace_refresh_bare(current);
		return false;
	}
	return !utrace_is_rejected() && utrace_adopt_wanted(events);
}

/**
 * utrace_adopt_current() - make sure that the current task has a struct utrace
 *
 * For a client that has data for the task (utrace_task_data_add()).
 *
 * Context: The task itself, which is a user task; may sleep.
 * Return: true; or false if there is no memory, which is not counted as a lost event.
 */
bool utrace_adopt_current(void)
{
	if (current->utrace)
		return true;
	if (!utrace_adopt_wanted(0))
		return false;
	/* No event follows that would renew the word of the bare task. */
	utrace_want_renewal(current);
	return true;
}

/**
 * utrace_engine_lost() - how many events did an engine of the system miss?
 * @engine: the engine; the caller has a reference
 *
 * Context: Any.
 * Return: number of events that did not come to @engine since it was attached.
 */
unsigned long utrace_engine_lost(const struct utrace_engine *engine)
{
	return atomic_long_read(&engine->info->lost);
}

/**
 * utrace_lost_events() - how many events did engines of the system miss?
 *
 * An event is lost if there is no memory for the struct utrace or the set of a
 * task, or if the set cannot be renewed because of attaches and detaches.  An
 * event that two engines miss counts twice.
 *
 * Context: Any.
 * Return: number of lost events since the machine was started.
 */
unsigned long utrace_lost_events(void)
{
	return atomic_long_read(&utrace_lost);
}
EXPORT_SYMBOL_GPL(utrace_lost_events);

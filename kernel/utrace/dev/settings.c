// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - sessions of /dev/utrace: what is recorded of each target
 *
 * Settings are immutable objects with a number.  A session refers to the
 * settings of future targets, a target to those that it got last.  User memory
 * is never read under utrace_session.lock: user space may serve the page fault
 * late or never.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>

#include "../builtin.h"
#include "session.h"

/* Maximum number of system calls in one UTRACE_IOC_EVENTS; more than exist. */
#define SESSION_MAX_CALLS	4096

/**
 * utrace_dev_settings_new() - create settings that record nothing
 *
 * Context: Process context; may sleep.
 * Return:
 * * the settings - with one reference
 * * NULL - out of memory
 */
struct session_settings *utrace_dev_settings_new(void)
{
	struct session_settings *settings = kzalloc(sizeof(*settings),
						    GFP_KERNEL_ACCOUNT);

	if (!settings)
		return NULL;
	refcount_set(&settings->ref, 1);
	settings->strings = UTRACE_ITEM_SIZE;
	settings->buffers = UTRACE_ITEM_SIZE;
	return settings;
}

/**
 * utrace_dev_settings_get() - take a reference
 * @settings: the settings; the caller keeps them by utrace_session.lock
 *
 * Context: Any.
 * Return: @settings.
 */
struct session_settings *
utrace_dev_settings_get(struct session_settings *settings)
{
	refcount_inc(&settings->ref);
	return settings;
}

/**
 * utrace_dev_settings_put() - drop a reference
 * @settings: the settings, or NULL
 *
 * Context: Any but NMI.
 */
void utrace_dev_settings_put(struct session_settings *settings)
{
	if (!settings || !refcount_dec_and_test(&settings->ref))
		return;
	kfree(settings->calls);
	kfree(settings);
}

/*
 * UTRACE_EVENT() bits that the engine needs for each type of record that a
 * session may ask for.  No entry may contain DEATH or QUIESCE:
 * utrace_set_events() returns -EALREADY if these are added for a dead task, and
 * session_apply_events() takes that for success.
 */
static const unsigned long session_records[] = {
	[UTRACE_REC_SYS_ENTER]	= UTRACE_EVENT(SYSCALL_ENTRY),
	[UTRACE_REC_SYS_EXIT]	= UTRACE_EVENT(SYSCALL_EXIT),
	[UTRACE_REC_FORK]	= UTRACE_EVENT(CLONE),
	[UTRACE_REC_EXEC]	= UTRACE_EVENT(EXEC),
	[UTRACE_REC_EXIT]	= UTRACE_EVENT(EXIT),
	[UTRACE_REC_SIGNAL]	= UTRACE_EVENT_SIGNAL_SEEN,
	[UTRACE_REC_JOBCTL]	= UTRACE_EVENT(JCTL),
	[UTRACE_REC_SYS_CALL]	= UTRACE_EVENT_SYSCALL,
};

/**
 * utrace_dev_records() - get the types of records that sessions may ask for
 *
 * Context: Any.
 * Return: UTRACE_REC_BIT() bits.
 */
u64 utrace_dev_records(void)
{
	u64 records = 0;
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(session_records); type++)
		if (session_records[type])
			records |= BIT_ULL(type);
	return records;
}

/* UTRACE_EVENT() bits that an engine needs for UTRACE_REC_BIT() bits. */
static unsigned long session_engine_events(u64 asked)
{
	unsigned long all = 0;
	unsigned int type;

	for (type = 0; type < ARRAY_SIZE(session_records); type++)
		if (asked & BIT_ULL(type))
			all |= session_records[type];
	return all;
}

/*
 * Pack settings for callbacks, see session_target.now.  @several: the session
 * has several targets.
 */
static u64 session_now(const struct session_settings *settings, bool several)
{
	u64 now = (u64)settings->number << 32 | settings->capture;

	if (settings->events & UTRACE_REC_BIT(SYS_CALL))
		now |= SESSION_WHOLE_CALLS;
	if (settings->calls || several)
		now |= SESSION_NOT_PLAIN;
	if (settings->count & UTRACE_COUNT_CALLS)
		now |= SESSION_COUNT;
	if (settings->count & UTRACE_COUNT_CPU)
		now |= SESSION_COUNT_CPU;
	if (!(settings->events & UTRACE_REC_BIT(JOBCTL)))
		now |= SESSION_NO_JOBCTL;
	if (!(settings->events & (UTRACE_REC_BIT(SYS_ENTER) |
				  UTRACE_REC_BIT(SYS_CALL))))
		now |= SESSION_NO_ENTER;
	if (!(settings->events & (UTRACE_REC_BIT(SYS_EXIT) |
				  UTRACE_REC_BIT(SYS_CALL))))
		now |= SESSION_NO_EXIT;
	if (!settings->count)
		now |= session_plain_records(now);
	else if (now & SESSION_NO_ENTER && now & SESSION_NO_EXIT && !several &&
		 settings->count == UTRACE_COUNT_CALLS)
		now |= SESSION_PLAIN_COUNT;
	return now;
}

/*
 * Set the events of a target's engine.  DEATH is for utrace_dev_check_ends()
 * and for counts.  Returns 0, or -ESRCH for an engine that has ended.
 */
static int session_apply_events(struct session_target *target,
				const struct session_settings *settings)
{
	unsigned long events = session_engine_events(settings->events);
	int ret;

	/*
	 * Stops of job control may follow each other without a safe point, so
	 * utrace_dev_jobctl() holds the task between them.
	 */
	if (events & UTRACE_EVENT(SIGNAL_STOP))
		events |= UTRACE_EVENT(JCTL);
	if (settings->count)
		events |= UTRACE_EVENT_SYSCALL;
	if (!target->by_match || settings->count)
		events |= UTRACE_EVENT(DEATH);
	ret = utrace_set_events(NULL, target->engine, events);
	/*
	 * -EINPROGRESS: a running callback may record by the old settings, and
	 * stores their number.  -EALREADY: the thread is dead and has no
	 * further events.
	 */
	return ret == -EINPROGRESS || ret == -EALREADY ? 0 : ret;
}

/*
 * Apply settings to the engine of a target.  Returns 0, -ENOMEM, after which
 * some of the settings may be in effect, or -ESRCH for an engine that has
 * ended.
 */
static int session_apply(struct session_target *target,
			 const struct session_settings *settings)
{
	int ret = utrace_set_syscall_filter(target->engine, settings->calls,
					    settings->ncalls);

	return ret ?: session_apply_events(target, settings);
}

/*
 * Publish settings that the engine of the target already uses, so that a
 * callback that reads their number in ->now also finds the engine with these
 * settings.
 */
static void session_adopt(struct session_target *target,
			  struct session_settings *settings)
{
	/* Before ->now, so that a record with the new number has new sizes. */
	WRITE_ONCE(target->strings, settings->strings);
	WRITE_ONCE(target->buffers, settings->buffers);
	/*
	 * Before ->now, so that entries kept by the new settings begin at
	 * ->since or later.
	 */
	WRITE_ONCE(target->since, ktime_get_ns());
	/* Pairs with session_begin() and plain.c. */
	smp_store_release(&target->now,
			  session_now(settings,
				      target->session->ntargets > 1));
	utrace_dev_settings_get(settings);
	utrace_dev_settings_put(target->settings);
	target->settings = settings;
}

/**
 * utrace_dev_update_several() - update session_target.now of all targets
 * @session: the session; its lock is held
 * @several: there are several targets, or another one is about to be attached
 *
 * Context: Process context.
 */
void utrace_dev_update_several(struct utrace_session *session, bool several)
{
	struct session_target *target;

	lockdep_assert_held(&session->lock);

	list_for_each_entry(target, &session->targets, list) {
		if (!target->settings)
			continue;
		/* Pairs with session_begin() and plain.c. */
		smp_store_release(&target->now,
				  session_now(target->settings, several));
	}
}

/**
 * utrace_dev_apply() - apply settings to a target
 * @target: the target; utrace_session.lock is held
 * @settings: the settings; the target takes a reference
 *
 * On -ENOMEM the previous settings are applied again as far as memory allows.
 *
 * Context: Process context; may sleep.
 * Return:
 * * 0 - the target records by @settings
 * * -ENOMEM - out of memory
 * * -ESRCH - the engine has ended
 */
int utrace_dev_apply(struct session_target *target,
		     struct session_settings *settings)
{
	int ret = session_apply(target, settings);

	lockdep_assert_held(&target->session->lock);

	if (!ret)
		session_adopt(target, settings);
	else if (target->settings)
		session_apply(target, target->settings);
	return ret;
}

/* Copy the numbers of calls.  Returns 0, -EFAULT or -ENOMEM. */
static int session_take_calls(struct session_settings *settings,
			      const struct utrace_ioc_events *events)
{
	size_t size = array_size(events->ncalls, sizeof(*settings->calls));

	if (!size)
		return 0;
	settings->calls = kmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!settings->calls)
		return -ENOMEM;
	if (copy_from_user(settings->calls, u64_to_user_ptr(events->calls),
			   size))
		return -EFAULT;
	settings->ncalls = events->ncalls;
	return 0;
}

/**
 * utrace_dev_settings_take() - check and copy the settings of a program
 * @events: a copy of the argument of UTRACE_IOC_EVENTS; its @calls points to
 *	user memory
 *
 * Context: Process context without locks; may fault and sleep.
 * Return: the settings, with a reference for the caller; or -EINVAL, -EFAULT or
 * -ENOMEM.
 */
struct session_settings *
utrace_dev_settings_take(const struct utrace_ioc_events *events)
{
	const u64 apart = UTRACE_REC_BIT(SYS_ENTER) | UTRACE_REC_BIT(SYS_EXIT);
	struct session_settings *settings;
	int ret;

	if (events->events & ~utrace_dev_records() ||
	    events->count & ~SESSION_COUNT_KINDS ||
	    events->count == UTRACE_COUNT_CPU ||
	    (events->events & UTRACE_REC_BIT(SYS_CALL) &&
	     events->events & apart) ||
	    events->capture & ~(u64)SESSION_CAPTURES ||
	    events->string_size > UTRACE_ITEM_SIZE_MAX ||
	    events->buffer_size > UTRACE_ITEM_SIZE_MAX ||
	    events->ncalls > SESSION_MAX_CALLS ||
	    (events->calls && !events->ncalls))
		return ERR_PTR(-EINVAL);
	settings = utrace_dev_settings_new();
	if (!settings)
		return ERR_PTR(-ENOMEM);
	settings->events = events->events;
	settings->capture = events->capture;
	settings->count = events->count;
	settings->strings = events->string_size ?: UTRACE_ITEM_SIZE;
	settings->buffers = events->buffer_size ?: UTRACE_ITEM_SIZE;
	/* A session without targets has no engine that checks the calls. */
	ret = session_take_calls(settings, events) ?:
	      utrace_check_calls(settings->calls, settings->ncalls);
	if (!ret)
		return settings;
	utrace_dev_settings_put(settings);
	return ERR_PTR(ret);
}

/**
 * utrace_dev_apply_all() - apply settings to all present and future targets
 * @session: the session; its lock is held
 * @settings: the settings; the session and its targets take references
 *
 * A target that has ended is no error.  If a target fails, this target and
 * those before it get their previous settings back as far as memory allows.
 *
 * Context: Process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int utrace_dev_apply_all(struct utrace_session *session,
			 struct session_settings *settings)
{
	struct session_target *target;
	int ret;

	lockdep_assert_held(&session->lock);

	list_for_each_entry(target, &session->targets, list) {
		ret = session_apply(target, settings);
		if (!ret || ret == -ESRCH)
			continue;
		list_for_each_entry_from_reverse(target, &session->targets,
						 list)
			session_apply(target, target->settings);
		return ret;
	}
	list_for_each_entry(target, &session->targets, list)
		session_adopt(target, settings);
	utrace_dev_settings_put(session->settings);
	session->settings = utrace_dev_settings_get(settings);
	return 0;
}

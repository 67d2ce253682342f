// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: hits, their arguments, and who is told
 *
 * An owner has a struct marker_event for each marker that it has armed.  A hit is
 * told where the breakpoint traps: the registers are those of the marker there, and
 * no signal has been delivered in between.  uprobes holds up the end of all other
 * probes meanwhile, so nothing here waits for user space: an argument whose memory
 * is not there is missing, and a record without room is parked with its task, which
 * waits at the safe point.
 */
#include <linux/perf_regs.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "marker.h"

/* Markers that one owner may have. */
#define MARKER_MAX_EVENTS	1024

#define MARKER_FLAGS		(UTRACE_MARKER_RETURN | UTRACE_MARKER_COUNT)

/**
 * struct marker_event - a marker that an owner has armed
 * @list: entry in marker_owner.events while the event is armed; written under
 *	marker_owner.mutex and .lock
 * @ref: one reference for the list, one for each share, one for each hit that is
 *	being told
 * @free: frees the event
 * @site: where, counted; constant
 * @id: the owner's number; constant
 * @count: hits are counted only; constant
 * @nargs: number of elements of @args that are used; constant
 * @args: the arguments; constant
 * @hits: number of hits
 */
struct marker_event {
	struct list_head list;
	struct kref ref;
	struct work_struct free;
	struct marker_site *site;
	u64 id;
	bool count;
	unsigned int nargs;
	struct utrace_marker_arg args[UTRACE_MARKER_ARGS];
	atomic64_t hits;
};

/* The last share has gone, so no memory has a breakpoint for the event. */
static void marker_event_free(struct work_struct *work)
{
	struct marker_event *event = container_of(work, struct marker_event,
						  free);
	LIST_HEAD(gone);

	utrace_marker_site_put(event->site, &gone);
	utrace_marker_sites_free(&gone);
	kfree(event);
}

static void marker_event_last(struct kref *ref)
{
	queue_work(system_unbound_wq,
		   &container_of(ref, struct marker_event, ref)->free);
}

/**
 * utrace_marker_event_get() - take a reference to an event
 * @event: the event
 *
 * Context: Any.
 */
void utrace_marker_event_get(struct marker_event *event)
{
	kref_get(&event->ref);
}

/**
 * utrace_marker_event_put() - drop a reference to an event
 * @event: the event
 *
 * Context: Any but NMI, also in handlers of uprobes.
 */
void utrace_marker_event_put(struct marker_event *event)
{
	kref_put(&event->ref, marker_event_last);
}

/**
 * utrace_marker_event_is_over() - is an event disarmed?
 * @event: the event
 *
 * Context: Any; marker_owner.lock is held.
 * Return: true if no share may be added for it.
 */
bool utrace_marker_event_is_over(const struct marker_event *event)
{
	return list_empty(&event->list);
}

/* Arguments */

static bool marker_reg_is_valid(u8 reg)
{
	return reg == UTRACE_MARKER_NO_REG || (reg < PERF_REG_X86_64_MAX &&
					       reg != PERF_REG_X86_DS &&
					       reg != PERF_REG_X86_ES &&
					       reg != PERF_REG_X86_FS &&
					       reg != PERF_REG_X86_GS);
}

static bool marker_arg_is_valid(const struct utrace_marker_arg *arg)
{
	unsigned int size = abs(arg->size);

	if (size > 8 || !is_power_of_2(size) || arg->reserved[0] ||
	    arg->reserved[1] || arg->reserved[2] ||
	    !marker_reg_is_valid(arg->reg) || !marker_reg_is_valid(arg->index))
		return false;
	switch (arg->kind) {
	case UTRACE_MARKER_CONST:
		return true;
	case UTRACE_MARKER_REG:
		return arg->reg != UTRACE_MARKER_NO_REG;
	case UTRACE_MARKER_MEM:
		return arg->index == UTRACE_MARKER_NO_REG ?
		       !arg->scale :
		       arg->scale <= 8 && is_power_of_2(arg->scale);
	default:
		return false;
	}
}

static u64 marker_reg(u8 reg, struct pt_regs *regs)
{
	return reg == UTRACE_MARKER_NO_REG ? 0 : perf_reg_value(regs, reg);
}

/* Extend the low bytes of @value to 64 bits. */
static u64 marker_extend(u64 value, s8 size)
{
	unsigned int rest = 64 - 8 * abs(size);

	return size < 0 ? (u64)((s64)(value << rest) >> rest) :
			  value << rest >> rest;
}

/* Returns false if the argument cannot be read now. */
static bool marker_arg(const struct utrace_marker_arg *arg,
		       struct pt_regs *regs, u64 *value)
{
	unsigned long at;

	*value = 0;
	switch (arg->kind) {
	case UTRACE_MARKER_CONST:
		*value = arg->disp;
		break;
	case UTRACE_MARKER_REG:
		*value = marker_reg(arg->reg, regs);
		break;
	case UTRACE_MARKER_MEM:
		at = arg->disp + marker_reg(arg->reg, regs) +
		     marker_reg(arg->index, regs) * arg->scale;
		if (copy_from_user_nofault(value, (void __user *)at,
					   abs(arg->size))) {
			*value = 0;
			return false;
		}
		break;
	}
	*value = marker_extend(*value, arg->size);
	return true;
}

/* Hits */

/* The body of a UTRACE_REC_MARKER. */
struct marker_hit {
	u64 id;
	u64 ip;
	u32 nargs;
	u32 faulted;
	u64 args[UTRACE_MARKER_ARGS];
};

static_assert(offsetof(struct marker_hit, args) + sizeof(struct utrace_rec) ==
	      offsetof(struct utrace_rec_marker, args));

static bool marker_may_tell(struct marker_owner *owner)
{
	if (owner->target)
		return utrace_dev_sees_current(owner->target);
	return utrace_dev_may_trace_current(owner->opener) &&
	       utrace_dev_may_trace_current(owner->cred);
}

/**
 * utrace_marker_tell_hit() - tell an owner of a hit
 * @owner: the owner
 * @event: its event for the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * Nothing is told, nor counted, of a task that the owner may not trace as it is now.
 *
 * Context: The task that has hit the site, in a handler of uprobes.
 */
void utrace_marker_tell_hit(struct marker_owner *owner,
			    struct marker_event *event, unsigned long ip,
			    struct pt_regs *regs)
{
	struct marker_hit hit = {
		.id = event->id,
		.ip = ip,
		.nargs = event->nargs,
	};
	unsigned int i;

	if (!marker_may_tell(owner))
		return;
	atomic64_inc(&event->hits);
	if (event->count || !owner->target)
		return;
	for (i = 0; i < event->nargs; i++)
		if (!marker_arg(&event->args[i], regs, &hit.args[i]))
			hit.faulted |= BIT(i);
	utrace_dev_record(owner->target, UTRACE_REC_MARKER, &hit,
			  offsetof(struct marker_hit, args) +
			  event->nargs * sizeof(hit.args[0]));
}

/* Arming */

static struct marker_event *
marker_event_new(const struct utrace_ioc_marker *arg, struct marker_site *site)
{
	struct marker_event *event = kzalloc(sizeof(*event),
					     GFP_KERNEL_ACCOUNT);

	if (!event)
		return NULL;
	kref_init(&event->ref);
	INIT_WORK(&event->free, marker_event_free);
	event->site = site;
	event->id = arg->id;
	event->count = arg->flags & UTRACE_MARKER_COUNT;
	event->nargs = arg->nargs;
	memcpy(event->args, arg->args, sizeof(event->args));
	return event;
}

static bool marker_is_valid(const struct utrace_ioc_marker *arg)
{
	unsigned int i;

	if (arg->flags & ~MARKER_FLAGS ||
	    arg->nargs > UTRACE_MARKER_ARGS || arg->reserved ||
	    (s64)arg->offset < 0 || (s64)arg->semaphore < 0)
		return false;
	for (i = 0; i < arg->nargs; i++)
		if (!marker_arg_is_valid(&arg->args[i]))
			return false;
	return true;
}

static struct marker_event *marker_find_event(const struct marker_owner *owner,
					      const struct marker_site *site)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	list_for_each_entry(event, &owner->events, list)
		if (event->site == site)
			return event;
	return NULL;
}

/* Take an event back from all memory, and drop it. */
static void marker_end_event(struct marker_owner *owner,
			     struct marker_event *event)
{
	struct marker_place place = {
		.kind = MARKER_SITE,
		.site = event->site,
	};

	scoped_guard(spinlock, &owner->lock) {
		list_del_init(&event->list);
		owner->nevents--;
	}
	/* -ENOENT: no memory has it, since the process is gone. */
	(void)!utrace_marker_disarm(owner, &place);
	utrace_marker_event_put(event);
}

static int marker_start_event(struct marker_owner *owner,
			      struct marker_event *event)
{
	struct marker_place place = {
		.kind = MARKER_SITE,
		.site = event->site,
		.event = event,
	};
	u32 state;
	int ret, error;

	scoped_guard(spinlock, &owner->lock) {
		list_add_tail(&event->list, &owner->events);
		owner->nevents++;
	}
	ret = utrace_marker_arm(owner, &place, &state, &error);
	if (!ret && state == UTRACE_WORD_FAILED)
		ret = -error;
	if (ret)
		marker_end_event(owner, event);
	else if (owner->follow)
		utrace_marker_ask_all(owner);
	return ret;
}

/* The owner has @site from here on, or drops it. */
static int marker_arm_site(struct marker_owner *owner,
			   const struct utrace_ioc_marker *arg,
			   struct marker_site *site)
{
	struct marker_event *event;
	LIST_HEAD(gone);
	int ret = -ENOMEM;

	if (marker_find_event(owner, site)) {
		ret = -EEXIST;
	} else if (owner->nevents >= MARKER_MAX_EVENTS) {
		ret = -ENOSPC;
	} else {
		event = marker_event_new(arg, site);
		if (event)
			return marker_start_event(owner, event);
	}
	utrace_marker_site_put(site, &gone);
	utrace_marker_sites_free(&gone);
	return ret;
}

/**
 * utrace_marker_event_arm() - arm a marker
 * @owner: the owner; its mutex is held
 * @arg: the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: 0, or an error that is described with &struct utrace_ioc_marker.
 */
int utrace_marker_event_arm(struct marker_owner *owner,
			    const struct utrace_ioc_marker *arg,
			    struct file *file)
{
	struct marker_site *site;

	lockdep_assert_held(&owner->mutex);

	if (!marker_is_valid(arg))
		return -EINVAL;
	site = utrace_marker_site_get(file, arg->offset, arg->semaphore,
				      arg->flags & UTRACE_MARKER_RETURN);
	return IS_ERR(site) ? PTR_ERR(site) :
			      marker_arm_site(owner, arg, site);
}

/**
 * utrace_marker_event_disarm() - disarm a marker
 * @owner: the owner; its mutex is held
 * @arg: the marker
 * @file: the file of the marker
 *
 * Context: Process context; sleeps.
 * Return: 0, -EINVAL or -ENOENT.
 */
int utrace_marker_event_disarm(struct marker_owner *owner,
			       const struct utrace_ioc_marker *arg,
			       struct file *file)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	if (arg->flags & ~MARKER_FLAGS)
		return -EINVAL;
	list_for_each_entry(event, &owner->events, list) {
		if (!utrace_marker_site_is(event->site, file, arg->offset,
					   arg->flags & UTRACE_MARKER_RETURN))
			continue;
		marker_end_event(owner, event);
		return 0;
	}
	return -ENOENT;
}

/* Event number @n of an owner, with a reference; NULL: no more. */
static struct marker_event *marker_nth_event(struct marker_owner *owner,
					     unsigned int n)
{
	struct marker_event *event;

	guard(spinlock)(&owner->lock);
	list_for_each_entry(event, &owner->events, list) {
		if (n--)
			continue;
		utrace_marker_event_get(event);
		return event;
	}
	return NULL;
}

/**
 * utrace_marker_follow() - arm the markers of an owner in the current process
 * @owner: the owner, whose engine covers the process
 *
 * An event that is disarmed meanwhile is not armed any more.  It may make this leave
 * out another one, which is armed when the process reports next: whoever disarms asks
 * for that.
 *
 * Context: A callback, in the task itself; sleeps.
 */
void utrace_marker_follow(struct marker_owner *owner)
{
	struct marker_event *event;
	unsigned int n;

	for (n = 0; (event = marker_nth_event(owner, n)); n++) {
		struct marker_place place = {
			.kind = MARKER_SITE,
			.site = event->site,
			.event = event,
		};

		/* Without memory the process goes on without the marker. */
		utrace_marker_arm_current(owner, &place);
		utrace_marker_event_put(event);
	}
}

/**
 * utrace_marker_counts() - how often the markers of an owner were hit
 * @owner: the owner
 * @counts: filled in
 * @n: number of elements of @counts, which is changed to how many are filled in
 *
 * Context: Process context.  Takes marker_owner.lock.
 * Return: the number of markers.
 */
u32 utrace_marker_counts(struct marker_owner *owner,
			 struct utrace_marker_count *counts, u32 *n)
{
	struct marker_event *event;
	u32 i = 0;

	guard(spinlock)(&owner->lock);
	list_for_each_entry(event, &owner->events, list) {
		if (i == *n)
			break;
		counts[i].id = event->id;
		counts[i++].hits = atomic64_read(&event->hits);
	}
	*n = i;
	return owner->nevents;
}

/**
 * utrace_marker_events_free() - drop the markers of an owner that is gone
 * @owner: the owner, which has no share any more
 *
 * Context: Any but NMI.
 */
void utrace_marker_events_free(struct marker_owner *owner)
{
	struct marker_event *event, *next;

	list_for_each_entry_safe(event, next, &owner->events, list)
		utrace_marker_event_put(event);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: hits of sites, their arguments, and who is told
 *
 * A hit is told where the breakpoint traps: the registers are those of the marker
 * there, and no signal has been delivered in between.  uprobes holds up the end of all
 * other probes meanwhile, so nothing here waits for user space: an argument whose
 * memory is not there is missing, and a record without room is parked with its task,
 * which waits at the safe point.
 */
#include <linux/perf_regs.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/utrace_markers.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "marker.h"

/* Arguments */

static bool marker_reg_is_valid(u8 reg)
{
	return reg == UTRACE_MARKER_NO_REG || (reg < PERF_REG_X86_64_MAX &&
					       reg != PERF_REG_X86_DS &&
					       reg != PERF_REG_X86_ES &&
					       reg != PERF_REG_X86_FS &&
					       reg != PERF_REG_X86_GS);
}

/**
 * utrace_marker_arg_is_valid() - does the description of an argument make sense?
 * @arg: the description
 *
 * Context: Any.
 * Return: true if so.
 */
bool utrace_marker_arg_is_valid(const struct utrace_marker_arg *arg)
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

/* A struct utrace_marker_hit is the body of a UTRACE_REC_MARKER. */
static_assert(offsetof(struct utrace_marker_hit, args) +
	      sizeof(struct utrace_rec) ==
	      offsetof(struct utrace_rec_marker, args));

static bool marker_tell_client(struct marker_owner *owner,
			       const struct utrace_marker_hit *hit,
			       struct pt_regs *regs)
{
	if (!utrace_marker_call_begin(owner))
		return false;
	if (owner->client->hit)
		owner->client->hit(owner->data, hit, regs);
	utrace_marker_call_end(owner);
	return true;
}

/* Returns false if the owner may not trace the task as it is now. */
static bool marker_tell_args(struct marker_owner *owner,
			     const struct marker_event *event, unsigned long ip,
			     struct pt_regs *regs)
{
	struct utrace_marker_hit hit;
	unsigned int i;

	hit.id = event->id;
	hit.ip = ip;
	hit.nargs = event->nargs;
	hit.faulted = 0;
	for (i = 0; i < event->nargs; i++)
		if (!marker_arg(&event->args[i], regs, &hit.args[i]))
			hit.faulted |= BIT(i);
	return owner->client ? marker_tell_client(owner, &hit, regs) :
	       utrace_dev_record(owner->target, UTRACE_REC_MARKER, &hit,
				 offsetof(struct utrace_marker_hit, args) +
				 event->nargs * sizeof(hit.args[0]));
}

/* As marker_tell_args(), for an event that sorts its hits. */
static bool marker_tell_histogram(struct marker_owner *owner,
				  struct marker_event *event,
				  struct pt_regs *regs)
{
	bool readable;
	u64 value;

	if (!utrace_marker_may_tell(owner))
		return false;
	readable = marker_arg(&event->args[0], regs, &value);
	utrace_marker_histogram_add(event, readable, value);
	return true;
}

/*
 * Tell an owner of a hit.  Nothing is told, nor counted, of a task that the owner may
 * not trace as it is now.
 */
static __always_inline void marker_tell_hit(struct marker_owner *owner,
					    struct marker_event *event,
					    unsigned long ip,
					    struct pt_regs *regs)
{
	bool told;

	if (event->histogram)
		told = marker_tell_histogram(owner, event, regs);
	else if (!event->count && (owner->target || owner->client))
		told = marker_tell_args(owner, event, ip, regs);
	else
		told = utrace_marker_may_tell(owner);
	if (told)
		atomic64_inc(&event->hits);
}

/**
 * utrace_marker_wants() - does memory want the breakpoint of a site?
 * @memory: the words
 * @site: the site
 *
 * Context: Process context.  Takes marker_mm.lock.
 * Return: true if an owner wants it.
 */
bool utrace_marker_wants(struct marker_mm *memory, struct marker_site *site)
{
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = utrace_marker_find_site(memory, site);
	return word && word->want;
}

/*
 * The next owner that wants a site, behind the share with the number *@last, and its
 * event, both with references; or NULL.  Sets *@last to U64_MAX if that is the last
 * one, as mostly it is.
 */
static struct marker_owner *marker_next_owner(struct marker_mm *memory,
					      struct marker_site *site,
					      u64 *last,
					      struct marker_event **event)
{
	struct marker_share *share;
	struct marker_word *word;

	guard(spinlock)(&memory->lock);
	word = utrace_marker_find_site(memory, site);
	if (!word)
		return NULL;
	list_for_each_entry(share, &word->shares, of_word) {
		if (share->leaving || share->number <= *last)
			continue;
		*last = list_is_last(&share->of_word, &word->shares) ?
			U64_MAX : share->number;
		kref_get(&share->owner->ref);
		*event = share->place.event;
		utrace_marker_event_get(*event);
		return share->owner;
	}
	return NULL;
}

/**
 * utrace_marker_hit() - tell all owners that want a site of a hit
 * @memory: the words of the current task's memory
 * @site: the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * Context: The task that has hit the site, in a handler of uprobes.
 * Return: true if an owner was told.
 */
bool utrace_marker_hit(struct marker_mm *memory, struct marker_site *site,
		       unsigned long ip, struct pt_regs *regs)
{
	struct marker_event *event;
	struct marker_owner *owner;
	u64 last = 0;

	while (last != U64_MAX &&
	       (owner = marker_next_owner(memory, site, &last, &event))) {
		marker_tell_hit(owner, event, ip, regs);
		utrace_marker_event_put(event);
		utrace_marker_owner_put(owner);
	}
	return last;
}

/**
 * utrace_marker_hit_everywhere() - tell owners of the system of a hit
 * @events: their events at the site
 * @ip: address of the site
 * @regs: the registers there
 *
 * An owner is not told of the process that has made it, whose hits would make records
 * without an end.
 *
 * Context: The task that has hit the site, in a handler of uprobes, in whose section
 * of RCU the events stay.
 * Return: true if the site has an event of an owner of the system, also if that was not
 * told.
 */
bool utrace_marker_hit_everywhere(const struct list_head *events,
				  unsigned long ip, struct pt_regs *regs)
{
	struct marker_event *event;
	bool some = false;

	/* The handler's section of uprobes keeps the events. */
	list_for_each_entry_rcu(event, events, everywhere, true) {
		some = true;
		if (event->owner->process != task_tgid(current))
			marker_tell_hit(event->owner, event, ip, regs);
	}
	return some;
}

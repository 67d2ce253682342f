// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: user_events of processes
 *
 * A program registers a bit for an event by name, and writes the event to
 * user_events_data while the bit is set.  An owner that has armed the name
 * wants all bits that processes of its engine have registered for it: those
 * that exist when the name is armed, and those that are registered later, for
 * which user_events calls a hook.  A write by such a process is delivered to
 * the owner in write(2), where the process may wait for its own memory.
 */
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/user_events.h>
#include <linux/utrace.h>
#include <linux/utrace_markers.h>
#include <linux/utrace_words.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "disarm.h"
#include "event.h"
#include "find.h"
#include "follow.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "process.h"
#include "user_event.h"
#include "word.h"

/* Arming */

/* Arguments and results of arming the bits of a process for an owner. */
struct name_arm {
	struct marker_mm *memory;
	struct marker_owner *owner;
	struct marker_event *event;
	struct marker_stock *stock;
	unsigned int lacks;	/* words and shares that @stock lacked */
	int error;
};

static void name_want(void *data, const void *user_event,
		      const struct utrace_bit *bit)
{
	struct marker_place place = marker_of_bit(bit);
	struct name_arm *arm = data;
	int ret;

	place.event = arm->event;
	place.user_event = user_event;
	ret = utrace_marker_want_from(arm->stock, arm->memory, arm->owner, &place);
	if (ret == -EAGAIN)
		arm->lacks++;
	else if (!arm->error)
		arm->error = ret;
}

/*
 * Want the bits that a process has registered.  Returns 0, -EUSERS if the
 * process has no engine for its bits, or -EEXIST.  After -ENOMEM or -EINTR a
 * retry may succeed.
 */
static int name_want_all(struct name_arm *arm, struct task_struct *process,
			 struct mm_struct *mm)
{
	struct marker_stock stock = MARKER_STOCK_INIT(stock);
	int ret = 0;
	bool all;

	arm->stock = &stock;
	/*
	 * During the visit, user_events holds a lock that tasks need to enable
	 * the event.  An allocation may take long in a memory cgroup at its
	 * limit.  So allocate between visits.
	 */
	do {
		arm->lacks = 0;
		all = user_events_visit_bits(process, mm, arm->event->name,
					     name_want, arm);
		ret = utrace_marker_stock_fill(&stock, arm->lacks, arm->lacks);
		/*
		 * The process may register new bits as fast as this arms them.
		 */
		if (!ret && fatal_signal_pending(current))
			ret = -EINTR;
	} while (arm->lacks && !ret);
	utrace_marker_stock_free(&stock);
	if (ret)
		return ret;
	return all ? arm->error : -EUSERS;
}

/**
 * utrace_marker_arm_name() - arm a user_event in the current process
 * @owner: the owner, whose engine covers the process
 * @event: an event of the owner
 *
 * Nothing is written before utrace_marker_settle().  A bit that the owner wants
 * already is skipped, since there is no caller to return an error to.
 *
 * Context: A callback, in the task itself; sleeps.
 * Return:
 * * 0 - all bits are wanted
 * * -EEXIST - the owner wants a bit for another event already
 * * -EUSERS - the process has no engine that writes its bits
 * * -ENOMEM - out of memory
 * * -EINTR - the task is killed
 */
int utrace_marker_arm_name(struct marker_owner *owner,
			   struct marker_event *event)
{
	struct name_arm arm = {
		.memory = utrace_marker_mm_get(current->mm,
					       task_tgid(current)),
		.owner = owner,
		.event = event,
	};
	int ret;

	if (!arm.memory)
		return -ENOMEM;
	ret = name_want_all(&arm, current, current->mm);
	utrace_marker_mm_put(arm.memory);
	return ret;
}

static int name_arm_process(struct marker_owner *owner,
			    struct marker_event *event)
{
	struct name_arm arm = { .owner = owner, .event = event };
	struct task_struct *process;
	struct mm_struct *mm;
	int ret = -ESRCH;

	arm.memory = utrace_marker_begin(owner, &mm);
	if (IS_ERR(arm.memory))
		return PTR_ERR(arm.memory);
	process = get_pid_task(owner->process, PIDTYPE_TGID);
	if (process) {
		ret = name_want_all(&arm, process, mm);
		put_task_struct(process);
	}
	utrace_marker_finish(owner, arm.memory, mm);
	return ret;
}

static struct marker_event *name_find(const struct marker_owner *owner,
				      const char *name)
{
	struct marker_event *event;

	lockdep_assert_held(&owner->mutex);

	list_for_each_entry(event, &owner->events, list)
		if (event->name && !strcmp(event->name, name))
			return event;
	return NULL;
}

/* Create an event with a name and add it.  Consumes @name on success. */
static struct marker_event *name_new(struct marker_owner *owner,
				     const struct marker_request *request,
				     char *name)
{
	struct marker_event *event;

	if (name_find(owner, name))
		return ERR_PTR(-EEXIST);
	event = utrace_marker_event_new(owner, request);
	if (IS_ERR(event))
		return event;
	static_branch_deferred_inc(&utrace_user_events_used);
	event->name = name;
	utrace_marker_event_add(owner, event);
	return event;
}

/**
 * utrace_marker_name_arm() - arm a user_event
 * @owner: the owner; its mutex is held
 * @request: its parameters; the flags are 0 or %UTRACE_ARM_F_COUNT
 * @name: name of the event
 *
 * Context: Process context; sleeps.
 * Return: the event, or an error of UTRACE_IOC_ARM of a user_event.
 */
struct marker_event *
utrace_marker_name_arm(struct marker_owner *owner,
		       const struct marker_request *request, const char *name)
{
	struct marker_event *event;
	char *copy;
	int ret;

	lockdep_assert_held(&owner->mutex);

	if (request->flags & ~UTRACE_ARM_F_COUNT || !*name)
		return ERR_PTR(-EINVAL);
	copy = kstrdup(name, GFP_KERNEL_ACCOUNT);
	if (!copy)
		return ERR_PTR(-ENOMEM);
	event = name_new(owner, request, copy);
	if (IS_ERR(event)) {
		kfree(copy);
		return event;
	}
	ret = name_arm_process(owner, event);
	if (ret && ret != -EAGAIN) {
		utrace_marker_event_end(owner, event);
		return ERR_PTR(ret);
	}
	/*
	 * After -EAGAIN, the program being executed follows the owner's events
	 * itself.
	 */
	if (ret || owner->follow)
		utrace_marker_ask_all(owner, true);
	return event;
}

/**
 * utrace_marker_name_disarm() - disarm a user_event
 * @owner: the owner; its mutex is held
 * @name: name of the event
 *
 * Context: Process context; sleeps.
 * Return: 0 or -ENOENT.
 */
int utrace_marker_name_disarm(struct marker_owner *owner, const char *name)
{
	struct marker_event *event = name_find(owner, name);

	if (!event)
		return -ENOENT;
	utrace_marker_event_end(owner, event);
	return 0;
}

/* Hooks of user_events */

/**
 * __utrace_user_event_registered() - handle the registration of an event by the
 * current process
 * @words: the kernel owner that writes the bits of the process; NULL:
 *	user_events writes them
 *
 * Makes all owners whose engines cover the process check its registrations
 * before it runs user code again.  The bit is registered before this check.
 * Whoever arms an event adds it to the owner's list before checking the
 * registrations.  So one of the two finds the other.
 *
 * Context: Process context.
 */
void __utrace_user_event_registered(struct marker_owner *words)
{
	struct marker_mm *memory = utrace_marker_mm_find(current->mm);
	struct utrace_engine *engine;

	if (memory) {
		scoped_guard(spinlock, &memory->lock)
			utrace_marker_unfollow(memory, NULL);
		utrace_marker_mm_put(memory);
	}
	engine = words ? utrace_marker_engine_get(words) : NULL;
	if (!engine)
		return;
	/* A report calls all engines.  -ESRCH: the task is dead. */
	(void)!utrace_control(current, engine, UTRACE_REPORT);
	utrace_engine_put(engine);
}

/**
 * __utrace_user_event_left() - handle the end of a registration
 * @mm: the address space; the caller has counted it by mmgrab()
 * @user_event: the event
 * @bit: the bit
 *
 * Nothing is written before utrace_words_settle().
 *
 * Context: Process context.
 */
void __utrace_user_event_left(struct mm_struct *mm, const void *user_event,
			      const struct utrace_bit *bit)
{
	struct marker_place place = marker_of_bit(bit);
	struct marker_mm *memory = utrace_marker_mm_find(mm);
	struct marker_share *share;
	struct marker_word *word;

	if (!memory)
		return;
	scoped_guard(spinlock, &memory->lock) {
		word = utrace_marker_find(memory, &place);
		if (!word)
			break;
		list_for_each_entry(share, &word->shares, of_word)
			if (share->place.user_event == user_event &&
			    !share->leaving)
				utrace_marker_leave_share(share);
	}
	utrace_marker_mm_put(memory);
}

/* Writes */

/* The body of a UTRACE_REC_USER_EVENT. */
struct name_record {
	u64 cookie;
	u32 size;
	u16 data_size;
	u16 data_offset;
	u8 data[UTRACE_USER_EVENT_MAX];
};

static_assert(offsetof(struct name_record, data) + sizeof(struct utrace_rec) ==
	      sizeof(struct utrace_rec_user_event));

/*
 * Find the next event of an owner that wants @user_event in an address space,
 * in the order of the addresses of the events, after @last.  So an owner with
 * several bits gets a write once.  Consumes the reference to @last.  Takes a
 * reference to the result, and one to its @owner.
 */
static struct marker_event *name_next(struct marker_mm *memory,
				      const void *user_event,
				      struct marker_event *last,
				      struct marker_owner **owner)
{
	struct marker_event *next = NULL;
	struct marker_share *share;

	scoped_guard(spinlock, &memory->lock) {
		share = utrace_marker_next_of(memory, user_event, last);
		if (share) {
			next = share->place.event;
			*owner = share->owner;
			utrace_marker_event_get(next);
			kref_get(&(*owner)->ref);
		}
	}
	if (last)
		utrace_marker_event_put(last);
	return next;
}

/* Copy the data that the task writes.  Returns 0, -EFAULT or -ENOMEM. */
static int name_read(const struct iov_iter *from, struct name_record **record)
{
	struct iov_iter copy = *from;
	size_t size = iov_iter_count(from);

	if (fault_in_iov_iter_readable(from, size))
		return -EFAULT;
	*record = kzalloc(sizeof(**record), GFP_KERNEL_ACCOUNT);
	if (!*record)
		return -ENOMEM;
	(*record)->size = size;
	(*record)->data_size = min(size, sizeof((*record)->data));
	(*record)->data_offset = sizeof(struct utrace_rec_user_event);
	if (copy_from_iter((*record)->data, (*record)->data_size, &copy) ==
	    (*record)->data_size)
		return 0;
	kfree(*record);
	*record = NULL;
	return -EFAULT;
}

static bool name_tell_client(struct marker_owner *owner,
			     const struct name_record *record)
{
	struct utrace_user_write write = {
		.cookie = record->cookie,
		.size = record->size,
		.copied = record->data_size,
		.data = record->data,
	};

	if (!utrace_marker_call_begin(owner))
		return false;
	if (owner->client->written)
		owner->client->written(owner->data, &write);
	utrace_marker_call_end(owner);
	return true;
}

/* Deliver a write to an owner, as marker_tell() does with a hit. */
static void name_tell(struct marker_owner *owner, struct marker_event *event,
		      struct name_record *record)
{
	bool told;

	record->cookie = event->cookie;
	if (event->how == MARKER_COUNT)
		told = utrace_marker_may_tell(owner);
	else if (event->how == MARKER_CALL)
		told = name_tell_client(owner, record);
	else
		told = utrace_dev_record(owner->target, UTRACE_REC_USER_EVENT,
					 record,
					 ALIGN(offsetof(struct name_record,
							data) +
					       record->data_size, sizeof(u64)));
	if (told)
		atomic64_inc(&event->hits);
}

static int name_write(struct marker_mm *memory, const void *user_event,
		      const struct iov_iter *from)
{
	struct marker_event *event = NULL;
	struct name_record *record = NULL;
	struct marker_owner *owner;
	int ret = 0;

	while ((event = name_next(memory, user_event, event, &owner))) {
		if (!record)
			ret = name_read(from, &record);
		if (!ret)
			name_tell(owner, event, record);
		utrace_marker_owner_put(owner);
		if (ret) {
			utrace_marker_event_put(event);
			return ret;
		}
	}
	ret = !!record;
	kfree(record);
	return ret;
}

/**
 * __utrace_user_event_write() - deliver a write of the current task to the
 * owners
 * @user_event: the event
 * @from: the data, without the index of the event; not advanced
 *
 * Context: Process context, in write(2); sleeps.
 * Return: 1 if an owner wants the event of this process, 0 if none does, or
 * * -EFAULT - the data cannot be read
 * * -ENOMEM - out of memory
 */
int __utrace_user_event_write(const void *user_event,
			      const struct iov_iter *from)
{
	struct marker_mm *memory;
	int ret;

	/* A kernel thread may write as well. */
	if (!current->mm)
		return 0;
	memory = utrace_marker_mm_find(current->mm);
	if (!memory)
		return 0;
	ret = name_write(memory, user_event, from);
	utrace_marker_mm_put(memory);
	return ret;
}

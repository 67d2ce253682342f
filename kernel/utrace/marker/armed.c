// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: the ioctls that arm, disarm and list for targets of
 * sessions
 *
 * The first ARM for a target creates its owner, which ends with the target.
 * Each armed object has an id, by which DISARM looks it up in a table of the
 * session.
 */
#include <linux/cleanup.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>
#include <uapi/linux/utrace.h>

#include "../utrace_dev.h"
#include "../viewer.h"
#include "arm.h"
#include "disarm.h"
#include "engine.h"
#include "event.h"
#include "marker.h"
#include "mm.h"
#include "owner.h"
#include "process.h"
#include "user_event.h"
#include "word.h"

/*
 * Size of the name of a user_event, including the NUL; user_events has this
 * limit.
 */
#define MARKER_NAME_SIZE	512

/**
 * struct marker_armed - an armed object, which has an id
 * @list: entry in marker_owner.armed, under marker_owner.mutex
 * @owner: the owner, which outlives the entry
 * @event: the marker or the user_event, which stays armed as long as this entry
 *	exists; NULL: a word
 * @place: the word
 * @id: see struct utrace_ioc_arm
 *
 * Constant but for @list.  The entry is in the table of the session while it is
 * in the list.
 */
struct marker_armed {
	struct list_head list;
	struct marker_owner *owner;
	struct marker_event *event;
	struct marker_place place;
	u32 id;
};

/**
 * struct marker_spec - the specification of an object to arm
 * @word: specification of a word
 * @site: specification of a marker
 * @user_event: specification of a user_event
 * @file: for a marker: the file, counted; else NULL
 * @name: for a user_event: its name, to be freed; else NULL
 */
struct marker_spec {
	union {
		struct utrace_word word;
		struct utrace_marker site;
		struct utrace_user_event user_event;
	};
	struct file *file;
	char *name;
};

/* Words */

static const u8 marker_sizes[] = {
	[UTRACE_WORD_BIT32]	= 4,
	[UTRACE_WORD_BIT64]	= 8,
	[UTRACE_WORD_COUNT16]	= 2,
	[UTRACE_WORD_COUNT32]	= 4,
};

/* Number of valid values of utrace_word.bit. */
static const u8 marker_bits[] = {
	[UTRACE_WORD_BIT32]	= 32,
	[UTRACE_WORD_BIT64]	= 64,
	[UTRACE_WORD_COUNT16]	= 1,
	[UTRACE_WORD_COUNT32]	= 1,
};

static int marker_check_word(struct marker_spec *spec)
{
	const struct utrace_word *word = &spec->word;

	return word->kind && word->kind < ARRAY_SIZE(marker_sizes) &&
	       word->addr == (unsigned long)word->addr &&
	       IS_ALIGNED(word->addr, marker_sizes[word->kind]) &&
	       word->bit < marker_bits[word->kind] ? 0 : -EINVAL;
}

static int marker_arm_word(struct marker_armed *armed, struct utrace_ioc_arm *arg,
			   const struct marker_spec *spec)
{
	const struct utrace_word *word = &spec->word;

	armed->place = (struct marker_place){
		.addr = word->addr,
		.kind = word->kind,
		.bit = word->bit,
		.cookie = arg->cookie,
		.id = armed->id,
	};
	return utrace_marker_arm(armed->owner, &armed->place, &arg->state,
				 &arg->error);
}

/* Markers and user_events */

static int marker_get_file(struct marker_spec *spec)
{
	spec->file = fget(spec->site.fd);
	return spec->file ? 0 : -EBADF;
}

static int marker_arm_event(struct marker_armed *armed, struct utrace_ioc_arm *arg,
			    const struct marker_spec *spec)
{
	const struct marker_request request = {
		.cookie = arg->cookie,
		.id = armed->id,
		.flags = arg->flags,
	};
	struct marker_event *event;

	if (spec->file)
		event = utrace_marker_site_arm(armed->owner, &request,
					       &spec->site, spec->file);
	else
		event = utrace_marker_name_arm(armed->owner, &request,
					       spec->name);
	if (IS_ERR(event))
		return PTR_ERR(event);
	armed->event = event;
	return 0;
}

static int marker_get_name(struct marker_spec *spec)
{
	const struct utrace_user_event *arg = &spec->user_event;
	char *name;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	name = strndup_user(u64_to_user_ptr(arg->name), MARKER_NAME_SIZE);
	if (IS_ERR(name))
		return PTR_ERR(name);
	spec->name = name;
	return 0;
}

/**
 * struct marker_type - a type of armed object
 * @size: size of its structure in this kernel
 * @first: size of the structure when it was first published
 * @flags: flags of struct utrace_ioc_arm that are valid for it
 * @everywhere: may be armed for a target of the system
 * @get: check the structure, or get references to what it names
 * @arm: arm it, with marker_owner.mutex held
 */
struct marker_type {
	unsigned int size;
	unsigned int first;
	u32 flags;
	bool everywhere;
	int (*get)(struct marker_spec *spec);
	int (*arm)(struct marker_armed *armed, struct utrace_ioc_arm *arg,
		   const struct marker_spec *spec);
};

static const struct marker_type marker_types[] = {
	[UTRACE_ARM_WORD] = {
		.size	= sizeof(struct utrace_word),
		.first	= UTRACE_WORD_SIZE_VER0,
		.get	= marker_check_word,
		.arm	= marker_arm_word,
	},
	[UTRACE_ARM_MARKER] = {
		.size	= sizeof(struct utrace_marker),
		.first	= UTRACE_MARKER_SIZE_VER0,
		.flags	= UTRACE_ARM_F_COUNT | UTRACE_ARM_F_HISTOGRAM,
		.everywhere = true,
		.get	= marker_get_file,
		.arm	= marker_arm_event,
	},
	[UTRACE_ARM_USER_EVENT] = {
		.size	= sizeof(struct utrace_user_event),
		.first	= UTRACE_USER_EVENT_SIZE_VER0,
		.flags	= UTRACE_ARM_F_COUNT,
		.get	= marker_get_name,
		.arm	= marker_arm_event,
	},
};

/**
 * utrace_marker_types_here() - list the types that this kernel can arm
 *
 * Context: Any.
 * Return: UTRACE_ARM_BIT() bits.
 */
u32 utrace_marker_types_here(void)
{
	u32 types = UTRACE_ARM_BIT(WORD);

	if (IS_ENABLED(CONFIG_UTRACE_SITES))
		types |= UTRACE_ARM_BIT(MARKER);
	if (IS_ENABLED(CONFIG_USER_EVENTS))
		types |= UTRACE_ARM_BIT(USER_EVENT);
	return types;
}

static int marker_get_spec(struct marker_spec *spec,
			   const struct utrace_ioc_arm *arg)
{
	const struct marker_type *type = &marker_types[arg->type];
	int ret;

	ret = utrace_dev_get_struct(spec, type->size, type->first,
				    u64_to_user_ptr(arg->spec), arg->spec_size);
	return ret ?: type->get(spec);
}

static void marker_put_spec(struct marker_spec *spec)
{
	if (spec->file)
		fput(spec->file);
	kfree(spec->name);
}

/* Owners */

/*
 * Record the current process, which counts as the tracer if the one that
 * created the viewer is dead.
 */
static void marker_note_user(struct marker_owner *owner)
{
	struct pid *user = task_tgid(current);

	if (READ_ONCE(owner->user) == user)
		return;
	get_pid(user);
	scoped_guard(spinlock, &owner->lock) {
		struct pid *old = owner->user;

		WRITE_ONCE(owner->user, user);
		user = old;
	}
	put_pid(user);
}

static struct marker_owner *
marker_owner_of_process(struct utrace_session *session,
			const struct utrace_dev_arming *target)
{
	struct task_struct *task = get_pid_task(target->process, PIDTYPE_TGID);
	struct marker_owner *owner;

	if (!task)
		return ERR_PTR(-ESRCH);
	owner = utrace_marker_owner_new(session, target, task);
	put_task_struct(task);
	return owner;
}

static struct marker_owner *
marker_owner_make(struct utrace_session *session,
		  const struct utrace_dev_arming *target,
		  const struct marker_type *type)
{
	switch (target->scope) {
	case UTRACE_SCOPE_PROCESS:
	case UTRACE_SCOPE_TREE:
		return marker_owner_of_process(session, target);
	case UTRACE_SCOPE_SYSTEM:
		if (type->everywhere)
			return utrace_marker_owner_of_system(session, target);
		fallthrough;
	default:
		return ERR_PTR(-EOPNOTSUPP);
	}
}

/*
 * Free an entry.  A look-up without marker_owner.mutex uses the entry only
 * under the lock of the table, so nobody uses it after xa_erase().
 */
static void marker_armed_free(struct utrace_session *session,
			      struct marker_armed *armed, u32 id)
{
	xa_erase(utrace_dev_ids(session), id);
	kfree(armed);
}

static void marker_armed_remove(struct utrace_session *session,
				struct marker_armed *armed)
{
	lockdep_assert_held(&armed->owner->mutex);

	list_del(&armed->list);
	armed->owner->narmed--;
	marker_armed_free(session, armed, armed->id);
}

/* Disarm everything of a target, see &utrace_dev_owner_ops.end. */
static int marker_owner_end(struct utrace_session *session,
			    struct marker_owner *owner, bool killable)
{
	struct marker_armed *armed, *next;

	if (!killable)
		mutex_lock(&owner->mutex);
	else if (mutex_lock_killable(&owner->mutex))
		return -EINTR;
	list_for_each_entry_safe(armed, next, &owner->armed, list) {
		marker_armed_remove(session, armed);
		cond_resched();
	}
	utrace_marker_disarm_all(owner);
	if (atomic_xchg(&owner->changed, MARKER_ENDED) == MARKER_CHANGED)
		utrace_dev_know_change(owner->target);
	mutex_unlock(&owner->mutex);
	utrace_marker_owner_put(owner);
	return 0;
}

/* Count the markers and user_events that are armed. */
static unsigned int marker_owner_count(const struct marker_owner *owner)
{
	return READ_ONCE(owner->nevents);
}

static const struct utrace_dev_owner_ops marker_owner_ops = {
	.count	= marker_owner_count,
	.end	= marker_owner_end,
};

/*
 * Get the owner of a target.  With @type, create a missing one and check that
 * it may arm @type.  Returns the owner with a reference, NULL or an error.
 */
static struct marker_owner *
marker_owner_get(struct utrace_session *session,
		 struct utrace_dev_arming *target,
		 const struct marker_type *type)
{
	struct marker_owner *owner = target->owner;

	/*
	 * What is armed may change programs that are executed later, when the
	 * caller is not checked.  So the caller must have the viewer's
	 * permissions.
	 */
	if (type && !utrace_viewer_is_covered(target->viewer))
		return ERR_PTR(-EPERM);
	if (owner && owner->system && type && !type->everywhere)
		return ERR_PTR(-EOPNOTSUPP);
	if (!owner && type)
		owner = marker_owner_make(session, target, type);
	if (IS_ERR_OR_NULL(owner))
		return owner;
	target->owner = owner;
	target->ops = &marker_owner_ops;
	kref_get(&owner->ref);
	marker_note_user(owner);
	return owner;
}

static struct marker_owner *marker_owner_of(struct utrace_session *session,
					    u32 target,
					    const struct marker_type *type)
{
	return utrace_dev_with_target(session, target, marker_owner_get, type);
}

/* Ids */

/* Create an entry and reserve its id, which look-ups do not find yet. */
static struct marker_armed *marker_armed_new(struct utrace_session *session,
					     struct marker_owner *owner)
{
	struct marker_armed *armed;
	int ret;

	if (owner->narmed >= MARKER_MAX_SHARES)
		return ERR_PTR(-ENOSPC);
	armed = kzalloc(sizeof(*armed), GFP_KERNEL_ACCOUNT);
	if (!armed)
		return ERR_PTR(-ENOMEM);
	armed->owner = owner;
	ret = utrace_dev_new_id(session, &armed->id);
	if (!ret)
		return armed;
	kfree(armed);
	return ERR_PTR(ret == -EBUSY ? -ENOSPC : ret);
}

/* Publish an entry in the table.  Cannot fail, since its slot is reserved. */
static void marker_armed_add(struct utrace_session *session,
			     struct marker_armed *armed)
{
	xa_store(utrace_dev_ids(session), armed->id, armed, 0);
	list_add_tail(&armed->list, &armed->owner->armed);
	armed->owner->narmed++;
}

/* Arming */

static int marker_arm(struct utrace_session *session, struct marker_owner *owner,
		      struct utrace_ioc_arm *arg, const struct marker_spec *spec)
{
	struct marker_armed *armed;
	int ret;

	lockdep_assert_held(&owner->mutex);

	/* The target ended after the look-up. */
	if (owner->closed)
		return -ENOENT;
	armed = marker_armed_new(session, owner);
	if (IS_ERR(armed))
		return PTR_ERR(armed);
	ret = marker_types[arg->type].arm(armed, arg, spec);
	if (ret) {
		marker_armed_free(session, armed, armed->id);
		return ret;
	}
	arg->id = armed->id;
	if (armed->event || armed->place.id == armed->id) {
		marker_armed_add(session, armed);
		return 0;
	}
	/* The word was armed before and had failed: keep its old id. */
	arg->id = armed->place.id;
	arg->cookie = armed->place.cookie;
	marker_armed_free(session, armed, armed->id);
	return 0;
}

static int marker_arm_for(struct utrace_session *session,
			  struct utrace_ioc_arm *arg,
			  const struct marker_spec *spec)
{
	struct marker_owner *owner;
	int ret = -EINTR;

	owner = marker_owner_of(session, arg->target, &marker_types[arg->type]);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (!mutex_lock_killable(&owner->mutex)) {
		ret = marker_arm(session, owner, arg, spec);
		mutex_unlock(&owner->mutex);
	}
	utrace_marker_owner_put(owner);
	return ret;
}

static bool marker_arm_is_valid(const struct utrace_ioc_arm *arg)
{
	return arg->type && arg->type < ARRAY_SIZE(marker_types) &&
	       !(arg->flags & ~marker_types[arg->type].flags) && !arg->reserved;
}

/**
 * utrace_marker_ioc_arm() - handle %UTRACE_IOC_ARM
 * @session: the session; no lock is held
 * @data: struct utrace_ioc_arm
 *
 * Context: Process context; may fault and sleep.  Takes utrace_session.lock,
 * and then marker_owner.mutex.
 * Return: 0, or an error of UTRACE_IOC_ARM.
 */
int utrace_marker_ioc_arm(struct utrace_session *session, void *data)
{
	struct utrace_ioc_arm *arg = data;
	struct marker_spec spec = {};
	int ret;

	if (!marker_arm_is_valid(arg))
		return -EINVAL;
	arg->state = UTRACE_ARM_STATE_ARMED;
	arg->error = 0;
	ret = marker_get_spec(&spec, arg) ?: marker_arm_for(session, arg, &spec);
	marker_put_spec(&spec);
	return ret;
}

/*
 * Find the owner of the object with an id.  Returns it with a reference, or
 * NULL.
 */
static struct marker_owner *marker_owner_by_id(struct utrace_session *session,
					       u32 id)
{
	struct xarray *ids = utrace_dev_ids(session);
	struct marker_owner *owner = NULL;
	struct marker_armed *armed;

	xa_lock(ids);
	armed = xa_load(ids, id);
	if (armed) {
		owner = armed->owner;
		kref_get(&owner->ref);
	}
	xa_unlock(ids);
	return owner;
}

static int marker_disarm(struct utrace_session *session,
			 struct marker_owner *owner, u32 id)
{
	struct xarray *ids = utrace_dev_ids(session);
	struct marker_armed *armed;
	bool ours;

	lockdep_assert_held(&owner->mutex);

	/*
	 * Another thread may have disarmed it first, and another owner may have
	 * reused the id.  Then that owner may free @armed as soon as the lock is
	 * released.
	 */
	xa_lock(ids);
	armed = xa_load(ids, id);
	ours = armed && armed->owner == owner;
	xa_unlock(ids);
	if (!ours)
		return -ENOENT;
	if (armed->event)
		utrace_marker_event_end(owner, armed->event);
	else
		/* -ENOENT: no address space has the word any longer. */
		(void)!utrace_marker_disarm(owner, &armed->place);
	marker_armed_remove(session, armed);
	return 0;
}

/**
 * utrace_marker_ioc_disarm() - handle %UTRACE_IOC_DISARM
 * @session: the session; no lock is held
 * @data: struct utrace_ioc_disarm
 *
 * Context: Process context; sleeps.  Takes marker_owner.mutex.
 * Return: 0, or an error of UTRACE_IOC_DISARM.
 */
int utrace_marker_ioc_disarm(struct utrace_session *session, void *data)
{
	const struct utrace_ioc_disarm *arg = data;
	struct marker_owner *owner;
	int ret = -EINTR;

	if (arg->flags)
		return -EINVAL;
	owner = marker_owner_by_id(session, arg->id);
	if (!owner)
		return -ENOENT;
	marker_note_user(owner);
	if (!mutex_lock_killable(&owner->mutex)) {
		ret = marker_disarm(session, owner, arg->id);
		mutex_unlock(&owner->mutex);
	}
	utrace_marker_owner_put(owner);
	return ret;
}

/**
 * utrace_marker_undo_arm() - disarm an object whose id could not be copied to
 * the program
 * @session: the session; no lock is held
 * @data: struct utrace_ioc_arm
 *
 * Context: As utrace_marker_ioc_disarm().
 */
void utrace_marker_undo_arm(struct utrace_session *session, const void *data)
{
	const struct utrace_ioc_arm *arg = data;
	struct utrace_ioc_disarm disarm = { .id = arg->id };

	/*
	 * -EINTR: the caller was killed, and the session ends unless another
	 * process has it open.
	 */
	(void)!utrace_marker_ioc_disarm(session, &disarm);
}

/* Lists */

static struct utrace_armed marker_row(const struct marker_owner *owner,
				      const struct marker_share *share)
{
	const struct marker_place *place = &share->place;
	const struct marker_event *event = place->event;
	struct utrace_armed row = {
		.cookie = event ? event->cookie : place->cookie,
		.id = event ? event->id : place->id,
		.type = event ? UTRACE_ARM_USER_EVENT : UTRACE_ARM_WORD,
		.pid = pid_nr_ns(READ_ONCE(share->mm->pid), owner->ns),
	};
	int error;

	if (marker_is_site(place)) {
		row.type = UTRACE_ARM_MARKER;
	} else {
		row.addr = place->addr;
		row.kind = place->kind;
		row.bit = place->bit;
	}
	row.state = utrace_marker_state(share, &error);
	row.error = error;
	return row;
}

/*
 * Check whether LIST shows a share.  The share of a marker is shown only if it
 * has failed.
 */
static bool marker_is_listed(const struct marker_share *share)
{
	int error;

	return !marker_is_site(&share->place) ||
	       utrace_marker_state(share, &error) == UTRACE_ARM_STATE_FAILED;
}

/*
 * State of a LIST: @n of @total shares are stored in @rows, which has @room
 * entries.
 */
struct marker_listing {
	struct marker_owner *owner;
	struct utrace_armed *rows;
	u32 room;
	u32 n;
	u32 total;
};

static bool marker_list_share(struct marker_share *share, void *arg)
{
	struct marker_listing *list = arg;

	if (!marker_is_listed(share))
		return false;
	list->total++;
	if (list->n < list->room)
		list->rows[list->n++] = marker_row(list->owner, share);
	return false;
}

static void marker_list_all(struct marker_owner *owner, struct list_head *shares,
			    struct marker_listing *list)
{
	struct marker_share cursor = {};

	/*
	 * marker_list_share() always returns false, so this visits all shares.
	 */
	utrace_marker_next_share(owner, shares, &cursor, marker_list_share, list);
}

static int marker_list(struct marker_owner *owner, struct utrace_rows *rows)
{
	struct marker_listing list = {
		.owner = owner,
		.room = min(rows->n, READ_ONCE(owner->nshares)),
	};
	int ret;

	list.rows = kvcalloc(list.room, sizeof(*list.rows), GFP_KERNEL_ACCOUNT);
	if (list.room && !list.rows)
		return -ENOMEM;
	/* A change from here on raises another POLLPRI. */
	if (atomic_cmpxchg(&owner->changed, MARKER_CHANGED, MARKER_KNOWN) ==
	    MARKER_CHANGED)
		utrace_dev_know_change(owner->target);
	marker_list_all(owner, &owner->shares, &list);
	marker_list_all(owner, &owner->leaving, &list);
	rows->n = list.n;
	rows->total = list.total;
	ret = utrace_dev_put_rows(rows, 0, list.rows, list.n, sizeof(*list.rows));
	kvfree(list.rows);
	return ret;
}

/**
 * utrace_marker_ioc_list() - handle %UTRACE_IOC_LIST
 * @session: the session; no lock is held
 * @data: struct utrace_ioc_list
 *
 * Context: Process context; may fault and sleep.  Takes utrace_session.lock.
 * Return: 0, or an error of UTRACE_IOC_LIST.
 */
int utrace_marker_ioc_list(struct utrace_session *session, void *data)
{
	struct utrace_ioc_list *arg = data;
	struct marker_owner *owner;
	int ret;

	ret = utrace_dev_check_rows(&arg->rows, UTRACE_ARMED_SIZE_VER0);
	if (ret || arg->what != UTRACE_LIST_ARMED)
		return ret ?: -EINVAL;
	owner = marker_owner_of(session, arg->target, NULL);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (!owner) {
		arg->rows.n = 0;
		arg->rows.total = 0;
		return 0;
	}
	ret = marker_list(owner, &arg->rows);
	utrace_marker_owner_put(owner);
	return ret;
}

/* Counts */

static int marker_read_counts(struct marker_owner *owner,
			      struct utrace_ioc_hits *arg)
{
	struct utrace_rows *rows = &arg->rows;
	struct utrace_hit_count *counts;
	u32 n = min(rows->n, READ_ONCE(owner->nevents)), total;
	int ret = -ENOENT;

	counts = kvcalloc(n, sizeof(*counts), GFP_KERNEL_ACCOUNT);
	if (n && !counts)
		return -ENOMEM;
	total = utrace_marker_counts(owner, arg->id, counts, &n);
	if (total || !arg->id) {
		rows->n = n;
		rows->total = total;
		ret = utrace_dev_put_rows(rows, 0, counts, n, sizeof(*counts));
	}
	kvfree(counts);
	return ret;
}

static int marker_read_histogram(struct marker_owner *owner,
				 struct utrace_ioc_hits *arg)
{
	struct utrace_rows *rows = &arg->rows;
	u64 buckets[UTRACE_BUCKETS];
	int ret;

	ret = utrace_marker_histogram_read(owner, arg->id, buckets);
	if (ret)
		return ret;
	rows->n = min(rows->n, UTRACE_BUCKETS);
	rows->total = UTRACE_BUCKETS;
	return utrace_dev_put_rows(rows, 0, buckets, rows->n, sizeof(*buckets));
}

static int marker_read(struct marker_owner *owner, struct utrace_ioc_hits *arg)
{
	if (owner)
		return arg->what == UTRACE_HITS_COUNT ?
		       marker_read_counts(owner, arg) :
		       marker_read_histogram(owner, arg);
	if (arg->id)
		return -ENOENT;
	arg->rows.n = 0;
	arg->rows.total = 0;
	return 0;
}

/**
 * utrace_marker_ioc_hits() - handle %UTRACE_IOC_HITS
 * @session: the session; no lock is held
 * @data: struct utrace_ioc_hits
 *
 * Context: Process context; may fault and sleep.  Takes utrace_session.lock.
 * Return: 0, or an error of UTRACE_IOC_HITS.
 */
int utrace_marker_ioc_hits(struct utrace_session *session, void *data)
{
	static const unsigned int first[] = {
		[UTRACE_HITS_COUNT]	= UTRACE_HIT_COUNT_SIZE_VER0,
		[UTRACE_HITS_HISTOGRAM]	= sizeof(u64),
	};
	struct utrace_ioc_hits *arg = data;
	struct marker_owner *owner;
	int ret;

	if (!arg->what || arg->what >= ARRAY_SIZE(first) || arg->reserved ||
	    (arg->what == UTRACE_HITS_HISTOGRAM && !arg->id))
		return -EINVAL;
	ret = utrace_dev_check_rows(&arg->rows, first[arg->what]);
	if (ret)
		return ret;
	owner = marker_owner_of(session, arg->target, NULL);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	ret = marker_read(owner, arg);
	if (owner)
		utrace_marker_owner_put(owner);
	return ret;
}

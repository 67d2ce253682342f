// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - markers: descriptors for words
 *
 * UTRACE_IOC_WORDS makes an owner, which is closed with its last descriptor.
 */
#include <linux/anon_inodes.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/pid_namespace.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/utrace.h>
#include <uapi/linux/utrace.h>

#include "../builtin.h"
#include "../utrace_dev.h"
#include "marker.h"

/* Bytes of the name of a user_event, with the NUL, which has the same limit there. */
#define MARKER_NAME_SIZE	512

static const u8 marker_sizes[] = {
	[UTRACE_WORD_BIT32]	= 4,
	[UTRACE_WORD_BIT64]	= 8,
	[UTRACE_WORD_COUNT16]	= 2,
	[UTRACE_WORD_COUNT32]	= 4,
};

/* Numbers that a bit may have. */
static const u8 marker_bits[] = {
	[UTRACE_WORD_BIT32]	= 32,
	[UTRACE_WORD_BIT64]	= 64,
	[UTRACE_WORD_COUNT16]	= 1,
	[UTRACE_WORD_COUNT32]	= 1,
};

/* Translate what a program says of a word.  Returns 0 or -EINVAL. */
static int marker_place(const struct utrace_ioc_word *arg,
			struct marker_place *place)
{
	unsigned int size;

	if (arg->kind >= ARRAY_SIZE(marker_sizes) ||
	    arg->addr != (unsigned long)arg->addr)
		return -EINVAL;
	size = marker_sizes[arg->kind];
	*place = (struct marker_place){
		.addr = arg->addr,
		.kind = arg->kind,
		.bit = arg->bit,
	};
	if (!IS_ALIGNED(place->addr, size) || arg->bit >= marker_bits[arg->kind])
		return -EINVAL;
	return 0;
}

static int marker_arm(struct marker_owner *owner, void *data)
{
	struct utrace_ioc_word *arg = data;
	struct marker_place place;
	int ret = marker_place(arg, &place);

	return ret ?: utrace_marker_arm(owner, &place, &arg->state,
					&arg->error);
}

static int marker_disarm(struct marker_owner *owner, void *data)
{
	struct marker_place place;
	int ret = marker_place(data, &place);

	return ret ?: utrace_marker_disarm(owner, &place);
}

static void marker_fill(const struct marker_owner *owner,
			const struct marker_share *share,
			struct utrace_word_status *status)
{
	const struct marker_place *place = &share->place;
	bool is_site = marker_is_site(place);
	int error;

	status->addr = is_site ? place->event->id : place->addr;
	status->kind = is_site ? UTRACE_WORD_MARKER : place->kind;
	status->bit = place->bit;
	status->state = utrace_marker_state(share, &error);
	status->error = error;
	status->pid = pid_nr_ns(READ_ONCE(share->mm->pid), owner->ns);
}

/* Is a share in the list?  That of a marker is if it has failed. */
static bool marker_is_listed(const struct marker_share *share)
{
	int error;

	return !marker_is_site(&share->place) ||
	       utrace_marker_state(share, &error) == UTRACE_WORD_FAILED;
}

/* What a list of words has up to now: @n of @total shares, and room for @room. */
struct marker_listing {
	struct marker_owner *owner;
	struct utrace_word_status *status;
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
		marker_fill(list->owner, share, &list->status[list->n++]);
	return false;
}

static void marker_list_all(struct marker_owner *owner, struct list_head *shares,
			    struct marker_listing *list)
{
	struct marker_share cursor = {};

	/* marker_list_share() looks for none, so this visits all. */
	utrace_marker_next_share(owner, shares, &cursor, marker_list_share, list);
}

static int marker_list(struct marker_owner *owner, void *data)
{
	struct utrace_ioc_word_list *arg = data;
	struct marker_listing list = {
		.owner = owner,
		.room = min(arg->n, READ_ONCE(owner->nshares)),
	};
	int ret = 0;

	list.status = kvcalloc(list.room, sizeof(*list.status),
			       GFP_KERNEL_ACCOUNT);
	if (list.room && !list.status)
		return -ENOMEM;
	/* What changes while the list is made is told by another POLLIN. */
	WRITE_ONCE(owner->changed, false);
	marker_list_all(owner, &owner->shares, &list);
	marker_list_all(owner, &owner->leaving, &list);
	arg->n = list.n;
	arg->total = list.total;
	if (copy_to_user(u64_to_user_ptr(arg->status), list.status,
			 list.n * sizeof(*list.status)))
		ret = -EFAULT;
	kvfree(list.status);
	return ret;
}

/* Run @run with the file of a marker. */
static int marker_with_file(struct marker_owner *owner,
			    const struct utrace_ioc_marker *arg,
			    int (*run)(struct marker_owner *owner,
				       const struct utrace_ioc_marker *arg,
				       struct file *file))
{
	struct file *file = fget(arg->fd);
	int ret;

	if (!file)
		return -EBADF;
	ret = run(owner, arg, file);
	fput(file);
	return ret;
}

static int marker_arm_marker(struct marker_owner *owner, void *data)
{
	return marker_with_file(owner, data, utrace_marker_site_arm);
}

static int marker_disarm_marker(struct marker_owner *owner, void *data)
{
	return marker_with_file(owner, data, utrace_marker_site_disarm);
}

static int marker_arm_user_event(struct marker_owner *owner, void *data)
{
	const struct utrace_ioc_user_event *arg = data;
	char *name;
	int ret;

	if (arg->reserved)
		return -EINVAL;
	name = strndup_user(u64_to_user_ptr(arg->name), MARKER_NAME_SIZE);
	if (IS_ERR(name))
		return PTR_ERR(name);
	ret = utrace_marker_name_arm(owner, name, arg->id, arg->flags);
	kfree(name);
	return ret;
}

static int marker_disarm_user_event(struct marker_owner *owner, void *data)
{
	const struct utrace_ioc_user_event *arg = data;
	char *name;
	int ret;

	name = strndup_user(u64_to_user_ptr(arg->name), MARKER_NAME_SIZE);
	if (IS_ERR(name))
		return PTR_ERR(name);
	ret = utrace_marker_name_disarm(owner, name);
	kfree(name);
	return ret;
}

static int marker_counts(struct marker_owner *owner, void *data)
{
	struct utrace_ioc_marker_counts *arg = data;
	struct utrace_marker_count *counts;
	int ret = 0;

	arg->n = min(arg->n, READ_ONCE(owner->nevents));
	counts = kvcalloc(arg->n, sizeof(*counts), GFP_KERNEL_ACCOUNT);
	if (arg->n && !counts)
		return -ENOMEM;
	arg->total = utrace_marker_counts(owner, counts, &arg->n);
	if (copy_to_user(u64_to_user_ptr(arg->counts), counts,
			 arg->n * sizeof(*counts)))
		ret = -EFAULT;
	kvfree(counts);
	return ret;
}

static int marker_histogram(struct marker_owner *owner, void *data)
{
	struct utrace_ioc_marker_histogram *arg = data;
	u64 buckets[UTRACE_MARKER_BUCKETS];
	int ret;

	ret = utrace_marker_histogram_read(owner, arg->id, buckets);
	if (ret)
		return ret;
	arg->n = min(arg->n, UTRACE_MARKER_BUCKETS);
	arg->total = UTRACE_MARKER_BUCKETS;
	return copy_to_user(u64_to_user_ptr(arg->buckets), buckets,
			    arg->n * sizeof(*buckets)) ? -EFAULT : 0;
}

/**
 * struct marker_command - an ioctl of a descriptor
 * @cmd: its number
 * @first: bytes of its argument when it was first published
 * @locked: call @run with marker_owner.mutex held.  The others access user memory,
 *	and take the lock themselves if they need it
 * @of_process: not for a descriptor of the system
 * @writes: copy the argument back
 * @run: carry the command out
 */
struct marker_command {
	unsigned int cmd;
	unsigned int first;
	bool locked;
	bool of_process;
	bool writes;
	int (*run)(struct marker_owner *owner, void *arg);
};

#define MARKER_COMMAND(name, function, lock, process, back) {		\
	.cmd	= UTRACE_IOC_##name,					\
	.first	= UTRACE_IOC_##name##_SIZE_VER0,			\
	.locked	= lock,							\
	.of_process = process,						\
	.writes	= back,							\
	.run	= function,						\
}

static const struct marker_command marker_commands[] = {
	MARKER_COMMAND(WORD_ARM, marker_arm, true, true, true),
	MARKER_COMMAND(WORD_DISARM, marker_disarm, true, true, false),
	MARKER_COMMAND(WORD_LIST, marker_list, false, false, true),
	MARKER_COMMAND(MARKER_ARM, marker_arm_marker, true, false, false),
	MARKER_COMMAND(MARKER_DISARM, marker_disarm_marker, true, false, false),
	MARKER_COMMAND(MARKER_COUNTS, marker_counts, false, false, true),
	MARKER_COMMAND(MARKER_HISTOGRAM, marker_histogram, false, false, true),
	MARKER_COMMAND(USER_EVENT_ARM, marker_arm_user_event, false, true, false),
	MARKER_COMMAND(USER_EVENT_DISARM, marker_disarm_user_event, false, true, false),
};

static const struct marker_command *marker_command_of(unsigned int cmd)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(marker_commands); i++)
		if (_IOC_TYPE(cmd) == _IOC_TYPE(marker_commands[i].cmd) &&
		    _IOC_NR(cmd) == _IOC_NR(marker_commands[i].cmd))
			return &marker_commands[i];
	return NULL;
}

/* The process is the tracer once the one that has made the owner is dead. */
static void marker_note_user(struct marker_owner *owner)
{
	struct pid *user = task_tgid(current);

	if (!owner->viewer || READ_ONCE(owner->user) == user)
		return;
	get_pid(user);
	scoped_guard(spinlock, &owner->lock) {
		struct pid *old = owner->user;

		WRITE_ONCE(owner->user, user);
		user = old;
	}
	put_pid(user);
}

static int marker_run(struct marker_owner *owner,
		      const struct marker_command *command, void *arg)
{
	int ret;

	if (owner->system && command->of_process)
		return -EOPNOTSUPP;
	if (!command->locked)
		return command->run(owner, arg);
	if (mutex_lock_killable(&owner->mutex))
		return -EINTR;
	ret = command->run(owner, arg);
	mutex_unlock(&owner->mutex);
	return ret;
}

static long marker_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct marker_command *command = marker_command_of(cmd);
	u64 copy[UTRACE_DEV_ARG_SIZE / sizeof(u64)] = {};
	void __user *user = (void __user *)arg;
	int ret;

	BUILD_BUG_ON(sizeof(struct utrace_ioc_marker) > sizeof(copy));
	if (!command)
		return -ENOTTY;
	marker_note_user(file->private_data);
	ret = utrace_dev_get_arg(copy, _IOC_SIZE(command->cmd), command->first,
				 cmd, user);
	ret = ret ?: marker_run(file->private_data, command, copy);
	if (ret || !command->writes)
		return ret;
	return utrace_dev_put_arg(cmd, user, copy, _IOC_SIZE(command->cmd));
}

static __poll_t marker_poll(struct file *file, struct poll_table_struct *table)
{
	struct marker_owner *owner = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &owner->wait, table);
	smp_mb();	/* Pairs with wq_has_sleeper() in utrace_marker_tell(). */
	if (READ_ONCE(owner->changed))
		mask |= EPOLLIN | EPOLLRDNORM;
	/* The engine is there as long as the descriptor is; the system does not end. */
	if (!owner->system && !utrace_has_living(owner->engine))
		mask |= EPOLLHUP;
	return mask;
}

static int marker_release(struct inode *inode, struct file *file)
{
	struct marker_owner *owner = file->private_data;

	utrace_marker_disarm_all(owner);
	utrace_marker_owner_put(owner);
	return 0;
}

/*
 * /proc/PID/fdinfo shows scope and number of what is armed: markers of the system are
 * seen nowhere else.
 */
static void marker_show_fdinfo(struct seq_file *m, struct file *file)
{
	const struct marker_owner *owner = file->private_data;
	const char *scope = owner->follow ? "tree" : "process";

	seq_printf(m, "utrace-scope:\t%s\nutrace-markers:\t%u\n",
		   owner->system ? "system" : scope, READ_ONCE(owner->nevents));
}

static const struct file_operations marker_fops = {
	.owner		= THIS_MODULE,
	.poll		= marker_poll,
	.unlocked_ioctl	= marker_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.release	= marker_release,
	.show_fdinfo	= marker_show_fdinfo,
	.llseek		= noop_llseek,
};

/* Give the owner a descriptor. */
static int marker_install(struct marker_owner *owner)
{
	int fd = anon_inode_getfd("[utrace-words]", &marker_fops, owner,
				  O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	utrace_marker_disarm_all(owner);
	utrace_marker_owner_put(owner);
	return fd;
}

static struct marker_owner *
marker_owner_of_process(struct utrace_session *session,
			const struct utrace_ioc_words *words)
{
	struct task_struct *task = utrace_dev_task_of(words->pidfd);
	struct marker_owner *owner;

	if (IS_ERR(task))
		return ERR_CAST(task);
	owner = utrace_marker_owner_new(session, task,
					words->scope == UTRACE_SCOPE_TREE,
					words->target);
	put_task_struct(task);
	return owner;
}

static struct marker_owner *
marker_owner_for(struct utrace_session *session,
		 const struct utrace_ioc_words *words)
{
	if (words->scope == UTRACE_SCOPE_SYSTEM && words->pidfd == -1)
		return utrace_marker_owner_of_system(session, words->target);
	if (words->scope == UTRACE_SCOPE_PROCESS ||
	    words->scope == UTRACE_SCOPE_TREE)
		return marker_owner_of_process(session, words);
	return ERR_PTR(-EINVAL);
}

/**
 * utrace_marker_file_make() - %UTRACE_IOC_WORDS
 * @session: the session through which the program asks
 * @arg: struct utrace_ioc_words
 *
 * Context: Process context with utrace_session.lock; may sleep.
 * Return: a descriptor, or an error that is described with &struct
 * utrace_ioc_words.
 */
int utrace_marker_file_make(struct utrace_session *session, void *arg)
{
	const struct utrace_ioc_words *words = arg;
	struct marker_owner *owner = ERR_PTR(-EINVAL);

	if (!words->reserved)
		owner = marker_owner_for(session, words);
	return IS_ERR(owner) ? PTR_ERR(owner) : marker_install(owner);
}

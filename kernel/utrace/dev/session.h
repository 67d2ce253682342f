/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - sessions of /dev/utrace: shared structures
 *
 * An open /dev/utrace is a session.  It has a ring for each CPU, a target with
 * its own engine for each attachment, and a session_task for each task that has
 * had an event.
 *
 * Lock order, outermost first: utrace_reader.read_lock, utrace_session.lock,
 * exec_update_lock of a task whose call is recorded (in_flight.c),
 * utrace_change_mutex.  task_lock(), utrace_session.park_lock and
 * session_tasks_lock are taken inside these or alone, and never inside each
 * other.  A callback takes only these three and locks of the core.  Siglock and
 * the locks inside it are taken inside park_lock.
 *
 * User memory is read and written under read_lock or without a lock, but never
 * under utrace_session.lock: user space may serve the page fault.
 */
#ifndef _KERNEL_UTRACE_DEV_SESSION_H
#define _KERNEL_UTRACE_DEV_SESSION_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <uapi/linux/utrace.h>

#include "../capture/capture.h"
#include "../count/count.h"
#include "../reader.h"
#include "../task_data.h"
#include "../utrace_dev.h"
#include "../viewer.h"

struct cred;
struct file;
struct pid;
struct pid_namespace;
struct task_struct;
struct utrace_count_task;
struct user_struct;
struct vm_area_struct;
struct utrace_engine;
struct utrace_engine_ops;

/* Default size of all rings in bytes, and the largest without a capability. */
#define SESSION_RING_DEFAULT	SZ_1M

/*
 * Events of a wake-up of readers.  Any record may be the last one, so readers
 * that poll only for the end are woken too.
 */
#define SESSION_WAKE		(EPOLLIN | EPOLLRDNORM | EPOLLHUP)

/*
 * Targets whose lost records a ring counts separately.  The last element is for
 * all further targets.
 */
#define SESSION_RING_LOSSES	8

/* Valid bits of utrace_ioc_events.capture and .count. */
#define SESSION_CAPTURES	(UTRACE_CAPTURE_STRINGS |		\
				 UTRACE_CAPTURE_BUFFERS |		\
				 UTRACE_CAPTURE_SOCKETS |		\
				 UTRACE_CAPTURE_FILES |			\
				 UTRACE_CAPTURE_STACK |			\
				 UTRACE_CAPTURE_RAW_STACK |		\
				 UTRACE_CAPTURE_STRUCTS)
#define SESSION_COUNT_KINDS	(UTRACE_COUNT_CALLS | UTRACE_COUNT_CPU)

/* Records of one target that a ring has lost since its last written record. */
struct session_loss {
	u32 target;
	u64 lost;
};

/**
 * struct session_ring - the ring of one CPU
 * @data: utrace_session.ring_size bytes; constant
 * @header: the header for readers, in memory that programs may map read-only.
 *	->head is stored with release, ->open is cleared after that; a reader
 *	loads both with acquire.  Only the ring's writer stores there, and it
 *	also reads ->last.
 * @tail: bytes ever read, in memory that programs may map writable, so it may
 *	hold any number.  A reader in the kernel stores it with release, under
 *	utrace_reader.read_lock; the writer loads it with acquire.
 * @at: where the next record goes, if it ends at @limit or before
 * @limit: end of the memory from @at on that is known to be free, or @data if
 *	LOST records must be written before the next record
 * @head: bytes ever written, padding included
 * @seen: *@tail when the writer last read it
 * @records: number of records ever written
 * @lost: number of records ever lost
 * @cpu: number of the CPU shifted to the place of utrace_rec.cpu in the last 8
 *	bytes of the header, read as one number; constant
 * @nlosses: number of used elements of @losses
 * @losses: records lost since the last one that was written, by target
 * @first: *@tail as read(2) has left it.  Under utrace_reader.read_lock.
 * @visible: ->head when the current read(2) loaded it.  Under
 *	utrace_reader.read_lock.
 *
 * The size is a power of 2, so that a shift finds the ring of a CPU.  The
 * members from @at to @losses are written by a task on the ring's CPU with
 * preemption off, so no lock is needed.
 */
struct session_ring {
	void *data;
	struct utrace_map_ring *header;
	u64 *tail;
	void *at;
	void *limit;
	u64 head;
	u64 seen;
	u64 records;
	u64 lost;
	u64 cpu;
	u32 nlosses;
	struct session_loss losses[SESSION_RING_LOSSES];
	u64 first ____cacheline_aligned_in_smp;
	u64 visible;
} __aligned(512);

/**
 * struct session_parked - a record that found no room in its ring
 * @list: entry in utrace_session.parked, under utrace_session.park_lock, and
 *	then in utrace_session.taken, under utrace_reader.read_lock.  Both are
 *	sorted by time.
 * @task: the task that wrote the record, counted; NULL for a record about no
 *	task
 * @time: time of the record in ns
 * @first: the bytes to read: the used elements of @lost, and the record
 * @size: number of these bytes
 * @lost: a struct utrace_rec_lost for each target for which the ring had lost
 *	records.  Only the last elements are used; @data follows them directly
 * @data: the record
 *
 * The task owns the entry until it is in the list, then the reader does.
 */
struct session_parked {
	struct list_head list;
	struct session_task *task;
	u64 time;
	void *first;
	size_t size;
	struct utrace_rec_lost lost[SESSION_RING_LOSSES];
	u8 data[] __aligned(8);
};

/* There is no gap between ->lost and ->data. */
static_assert(offsetof(struct session_parked, data) ==
	      offsetofend(struct session_parked, lost));

/**
 * struct session_settings - what is recorded
 * @ref: one reference for the session, one for each target that uses them
 * @number: see utrace_rec.settings
 * @events: UTRACE_REC_BIT() bits
 * @capture: UTRACE_CAPTURE_ bits
 * @count: UTRACE_COUNT_ bits
 * @strings: bytes captured of a string, without the header
 * @buffers: bytes captured of memory that calls read and write, without the
 *	header
 * @ncalls: number of elements of @calls
 * @calls: numbers of the system calls that are recorded; NULL: all
 *
 * Immutable except for @ref.
 */
struct session_settings {
	refcount_t ref;
	u32 number;
	u64 events;
	u64 capture;
	u32 count;
	u32 strings;
	u32 buffers;
	unsigned int ncalls;
	int *calls;
};

/**
 * struct utrace_session - an open /dev/utrace
 * @ref: one reference for the file, one for each target
 * @cred: credentials of the opener, counted; constant
 * @ns: pid namespace of the opener, counted; the ids in records are of it.
 *	Constant.
 * @owner: process of the opener, counted; constant
 * @lock: serializes ioctls that change the session; protects @targets,
 *	@next_id, @missed and the settings
 * @targets: struct session_target.  Under @lock.
 * @ntargets: number of elements of @targets.  Written under @lock, read by
 *	callbacks without a lock.
 * @next_id: id of the target attached last.  Under @lock.
 * @attached: number of targets that the program ever attached.  Written under
 *	@lock.
 * @settings: settings of future targets, counted.  Under @lock.
 * @last_settings: number of the settings of the last UTRACE_IOC_EVENTS.  Under
 *	@lock.
 * @missed: events that engines of detached targets have missed.  Under @lock.
 * @hidden: how often a task became hidden from the session
 * @uncaptured: items missing from records, for lack of room or memory
 * @waits: how often a task was held for lack of room
 * @ring: a ring for each possible CPU; NULL before the first target or
 *	UTRACE_IOC_SETUP.  Set once, under @lock; freed with the session.
 * @ring_size: bytes of each ring, a power of 2.  Set before @ring.
 * @shared: memory that programs may map read-only: struct utrace_map, struct
 *	utrace_map_ring for each CPU, the data of the rings.  Set and freed with
 *	@ring.
 * @tails: memory that programs may map writable: struct utrace_map_tail for
 *	each CPU.  Set and freed with @ring.
 * @mapped: programs read the rings in mapped memory, so read(2) returns parked
 *	records only.  Set before @ring.
 * @ids: what is armed, see marker/armed.c
 * @next_armed: the id to try next in @ids.  Under the lock of @ids.
 * @nchanged: number of targets whose states have changed since the reader read
 *	them
 * @user: user charged with the rings, counted; NULL: none.  Set before @ring.
 * @delay: jiffies after which a waiting reader is woken.  Set before @ring.
 * @full: enum utrace_full.  Set before @ring.
 * @park_lock: protects @parked, @nparked, @waiting, @walks, @reader, and
 *	.parked, .holder and .waiting of each session_task
 * @parked: struct session_parked, by time
 * @nparked: number of elements of @parked and @taken.  Also read without a
 *	lock.
 * @waiting: struct session_task with a holder.  Under @park_lock.
 * @walks: struct session_walk over @waiting.  Under @park_lock.
 * @reader: the process that reads; its lock is @park_lock
 * @taken: parked records that the reader returns next, by time.  Under
 *	utrace_reader.read_lock.
 * @armed: @wake is armed, or its function has not yet begun
 * @wake: timer that wakes the reader some time after a record, so that the
 *	reader finds more records at once.  Armed by callbacks; shut down when
 *	the session is freed.
 * @check_ends: a task has died since utrace_dev_check_ends() last checked the
 *	targets
 * @alive: number of targets that have not ended.  Written under @lock, read
 *	without it.
 * @busy: number of targets whose engines may still call back
 * @tasks: struct session_task, see task.c.  Under session_tasks_lock.
 * @counts: counts of system calls
 */
struct utrace_session {
	struct kref ref;
	const struct cred *cred;
	struct pid_namespace *ns;
	struct pid *owner;
	struct mutex lock;	/* serializes ioctls */
	struct list_head targets;
	unsigned int ntargets;
	u32 next_id;
	unsigned int attached;
	struct session_settings *settings;
	u32 last_settings;
	u64 missed;
	atomic64_t hidden;
	atomic64_t uncaptured;
	atomic64_t waits;
	struct session_ring *ring;
	size_t ring_size;
	void *shared;
	struct utrace_map_tail *tails;
	bool mapped;
	struct user_struct *user;
	unsigned long delay;
	enum utrace_full full;
	spinlock_t park_lock;	/* parked records and the reader */
	struct list_head parked;
	unsigned int nparked;
	struct list_head waiting;
	struct list_head walks;
	struct utrace_reader reader;
	struct list_head taken;
	atomic_t armed;
	struct timer_list wake;
	bool check_ends;
	unsigned int alive;
	atomic_t busy;
	struct list_head tasks;
	struct utrace_counts counts;
	struct xarray ids;
	u32 next_armed;
	atomic_t nchanged;
};

/**
 * struct session_target - one attachment of a session
 * @list: entry in utrace_session.targets until the target is detached.  Under
 *	utrace_session.lock.
 * @session: the session, counted; constant
 * @viewer: whose rights to see tasks are checked, counted; constant
 * @engine: the engine.  The reference is dropped at the detach; until then used
 *	under utrace_session.lock, and by callbacks.
 * @end: the prepared UTRACE_REC_TARGET_END; NULL once the target has ended.
 *	Under utrace_session.lock.
 * @id: id for UTRACE_IOC_DETACH; constant
 * @key: a number that no other target ever has; constant
 * @scope: enum utrace_scope.  @scope and @of together identify the target.
 *	Constant.
 * @of: the task, or the struct pid of the process; the cgroup or inode of a
 *	match; NULL: the system.  Only compared.  The engine holds the
 *	reference.
 * @settings: what is recorded, counted.  Under utrace_session.lock.
 * @now: @settings packed for callbacks: UTRACE_CAPTURE_ bits, the SESSION_ bits
 *	below, and the number in the upper half.  Stored with release under
 *	utrace_session.lock, after the engine got the settings; loaded with
 *	acquire, before the engine's events are read.
 * @since: time in ns when @now got its settings.  Stored before @now, loaded by
 *	callbacks after it.
 * @lost: number of lost records of the target
 * @stop: a task whose record finds no room waits for the reader.  Constant.
 * @by_match: the target is the system, a cgroup or an executable file: a system
 *	engine with a match.  The session may trace the whole system, so rights
 *	to single tasks are not checked.  Constant.
 * @deadlock: the attach has found the reader of the session among the tasks
 * @gone: the target is detached, so its engine holds no task.  Under
 *	utrace_session.park_lock; read without it.
 * @strings: copy of @settings->strings.  Stored before @now, loaded by
 *	callbacks after it: a record with an older number may have the newer
 *	size.
 * @buffers: copy of @settings->buffers.  Stored and loaded as @strings is.
 * @owner: see struct utrace_dev_arming.  Under utrace_session.lock.
 * @owner_ops: functions of @owner.  Under utrace_session.lock.
 * @ending: the target is being detached, see session_detach().  Under
 *	utrace_session.lock.
 * @rcu: frees the target after a grace period, since session_is_same() may
 *	still read it
 *
 * The target is the data of its engine, whose ->release() frees it after the
 * last callback has returned.
 */
struct session_target {
	struct list_head list;
	struct utrace_session *session;
	struct utrace_viewer *viewer;
	struct utrace_engine *engine;
	struct session_parked *end;
	u32 id;
	u64 key;
	enum utrace_scope scope;
	const void *of;
	struct session_settings *settings;
	u64 now;
	u64 since;
	atomic64_t lost;
	bool stop;
	bool by_match;
	bool deadlock;
	bool gone;
	u32 strings;
	u32 buffers;
	struct marker_owner *owner;
	const struct utrace_dev_owner_ops *owner_ops;
	bool ending;
	struct rcu_head rcu;
};

/*
 * A bit of session_target.now, beside UTRACE_CAPTURE_ bits: record whole calls.
 */
#define SESSION_WHOLE_CALLS	BIT(31)

/*
 * Bit of session_target.now: some calls are left out, or the session has
 * several targets, so no call can be recorded without further checks.
 */
#define SESSION_NOT_PLAIN	BIT(30)

/*
 * Bits of session_target.now: count calls; count their CPU time; record no
 * entries; record no exits.
 */
#define SESSION_COUNT		BIT(29)
#define SESSION_COUNT_CPU	BIT(28)
#define SESSION_NO_ENTER	BIT(27)
#define SESSION_NO_EXIT		BIT(26)
/*
 * Bit of session_target.now: job control is reported only for utrace_dev_hold()
 * and not recorded.
 */
#define SESSION_NO_JOBCTL	BIT(25)

/*
 * Bits of session_target.now that follow from the other bits: the inlined path
 * (plain.c) records entries, exits or whole calls, or counts calls that are not
 * recorded.
 */
#define SESSION_PLAIN_ENTER	BIT(24)
#define SESSION_PLAIN_EXIT	BIT(23)
#define SESSION_PLAIN_WHOLE	BIT(22)
#define SESSION_PLAIN_COUNT	BIT(21)

static_assert(!(SESSION_CAPTURES & GENMASK(31, 21)));

static inline u32 session_capture_of(u64 now)
{
	return now & SESSION_CAPTURES;
}

static inline u32 session_settings_of(u64 now)
{
	return now >> 32;
}

/* Compute the SESSION_PLAIN_ bits of @now for the records of calls. */
static inline u64 session_plain_records(u64 now)
{
	if (now & (SESSION_CAPTURES | SESSION_NOT_PLAIN))
		return 0;
	if (now & SESSION_WHOLE_CALLS)
		return SESSION_PLAIN_WHOLE;
	return (now & SESSION_NO_ENTER ? 0 : SESSION_PLAIN_ENTER) |
	       (now & SESSION_NO_EXIT ? 0 : SESSION_PLAIN_EXIT);
}

/**
 * struct session_writer - a record that is being written
 * @target: the target of the record
 * @task: the session's state of the current task
 * @ring: the ring of this CPU, unless @parked
 * @parked: where the record goes instead of the ring, or NULL
 * @now: session_target.now at the begin of the callback
 * @rec: the record, with its header filled in; the caller fills in the rest
 * @size: bytes of the record, if it is in the ring
 *
 * Lives on the stack of the callback.  Preemption is off between
 * utrace_dev_reserve() and utrace_dev_commit(), unless @parked.
 */
struct session_writer {
	struct session_target *target;
	struct session_task *task;
	struct session_ring *ring;
	struct session_parked *parked;
	u64 now;
	struct utrace_rec *rec;
	size_t size;
};

/* session.c */
struct utrace_session *utrace_dev_new(const struct cred *cred,
				      const struct utrace_reader_ops *ops);
void utrace_dev_put(struct utrace_session *session);

/* commands.c */
int utrace_dev_info(struct utrace_session *session, void *arg);
int utrace_dev_setup(struct utrace_session *session, void *arg);
int utrace_dev_set_events(struct utrace_session *session, void *arg);

/* target.c */
u32 utrace_dev_scopes(void);
int utrace_dev_attach(struct utrace_session *session, void *arg);
void utrace_dev_undo_attach(struct utrace_session *session, const void *arg);
int utrace_dev_detach(struct utrace_session *session, void *arg);
void utrace_dev_detach_all(struct utrace_session *session);
void utrace_dev_show(struct seq_file *m, struct utrace_session *session);
struct session_target *utrace_dev_target(struct utrace_session *session,
					 u32 id);
void utrace_dev_check_ends(struct utrace_session *session);
bool utrace_dev_is_over(struct utrace_session *session);

/* settings.c */
struct session_settings *utrace_dev_settings_new(void);
struct session_settings *
utrace_dev_settings_get(struct session_settings *settings);
void utrace_dev_settings_put(struct session_settings *settings);
void utrace_dev_update_several(struct utrace_session *session, bool several);
int utrace_dev_apply(struct session_target *target,
		     struct session_settings *settings);
int utrace_dev_apply_all(struct utrace_session *session,
			 struct session_settings *settings);
struct session_settings *
utrace_dev_settings_take(const struct utrace_ioc_events *events);
u64 utrace_dev_records(void);

/* task.c */
/* What a task keeps of the entry of a system call. */
enum session_kept {
	SESSION_KEPT_NOT,	/* nothing */
	SESSION_KEPT_PLAIN,	/* number and time */
	SESSION_KEPT_WHOLE,	/* and arguments and captured items */
};

/**
 * struct session_entry - the entry of a system call, kept until the exit
 * @kept: which of the members are valid
 * @nr: number of the call
 * @began: time of the entry in ns
 * @args: arguments
 * @capture: captured items; empty if @kept is not SESSION_KEPT_WHOLE
 * @asked: number that the program asked for, if @nr is UTRACE_SYSCALL_NONE;
 *	valid if @kept is SESSION_KEPT_WHOLE
 */
struct session_entry {
	enum session_kept kept;
	unsigned int nr;
	u64 began;
	unsigned long args[6];
	struct utrace_capture capture;
	unsigned int asked;
};

/**
 * struct session_task - the state of a task in a session
 * @data: entry in the task's data list.  Its owner is the session; NULL once
 *	the session has ended.  Its key is that of the target whose rights were
 *	checked last.
 * @ref: one reference for the task, one for each parked record, one for a
 *	pending @work
 * @list: entry in utrace_session.tasks while there is an owner.  Under
 *	session_tasks_lock.
 * @session: the session; valid while there is an owner, and while @working
 * @task: the task; used by other tasks while @holder is not NULL, and counted
 *	then
 * @id: see &utrace_rec.task; changed by execve() only
 * @ids: see &utrace_rec.pid and &utrace_rec.tid; changed by execve() only
 * @number: see &utrace_rec.number and &utrace_rec.target: the number of the
 *	task's last record, and the id of the target whose rights were checked
 *	last, which the next record gets
 * @last: time of the task's last record
 * @viewed: the cached answer whether that target may see the task
 * @several: rights were checked for several targets, so @viewed is not used and
 *	the task keeps an answer for each viewer
 * @reported: a HIDDEN record was written at the current event.  Maintained like
 *	@first.
 * @first: no other target of the session was called for the current event
 * @claimed: a target of the session records the current event.  Like @first,
 *	only maintained while the session has several targets.
 * @working: @work is pending
 * @work: holds the task at the safe point, see hold.c
 * @entry: the system call that the task is in
 * @count: counts of the task, NULL before its first call
 * @since: time in ns when the task entered a call that is counted; 0: it is in
 *	none
 * @cpu_since: CPU time of the task at @since, 0 if it is not measured
 * @spare: memory to park the task's UTRACE_REC_EXIT
 * @parked: number of the task's records in utrace_session.parked and .taken.
 *	Under utrace_session.park_lock; also read without a lock.
 * @holder: engine that may hold the task while @parked is not 0 and there is a
 *	reader, counted; else NULL.  Under utrace_session.park_lock.
 * @waiting: entry in utrace_session.waiting while @holder is not NULL
 *
 * Members without another rule are used only by the task itself, or by a task
 * that keeps it from running, see in_flight.c.
 */
struct session_task {
	/*
	 * Members needed by each call; the last of them is the begin of @entry.
	 */
	struct utrace_task_data data;
	struct utrace_session *session;
	struct utrace_viewed viewed;
	u64 id;
	struct {
		s32 pid;
		s32 tid;
	} ids;
	struct {
		u32 last;
		u32 target;
	} number;
	u64 last;
	u64 since;
	struct utrace_count_task *count;
	struct session_entry entry;
	u64 cpu_since;
	struct kref ref;
	struct list_head list;
	struct task_struct *task;
	bool reported;
	bool several;
	bool first;
	bool claimed;
	bool working;
	struct callback_head work;
	struct session_parked *spare;
	unsigned int parked;
	struct utrace_engine *holder;
	struct list_head waiting;
};

/*
 * Check whether @task has an entry that was kept under the settings in @now of
 * @target.  If so, the task is still in that call.
 */
static inline bool session_entry_is_of_now(const struct session_target *target,
					   const struct session_task *task,
					   u64 now)
{
	return task->entry.kept && now & SESSION_WHOLE_CALLS &&
	       task->entry.began >= READ_ONCE(target->since);
}

struct session_task *utrace_dev_task(struct session_target *target);
void utrace_dev_task_put(struct session_task *task);
void utrace_dev_task_rename(struct session_task *task);
void utrace_dev_forget_tasks(struct utrace_session *session);

/*
 * Check whether the cached answer hides current, which has an mm, from @target
 * and the HIDDEN record was written.  Nothing is recorded then.
 */
static inline bool session_hides(const struct session_target *target,
				 const struct session_task *task)
{
	return task->data.key == target->key && task->viewed.reported &&
	       utrace_viewed_hidden(&task->viewed, current->mm);
}

bool utrace_dev_sees(struct session_target *target, struct session_task *task);

/* record.c */
void utrace_dev_hide(struct session_target *target, struct session_task *task);

/* plain.c and events.c: callbacks, see struct utrace_engine_ops */
u32 utrace_dev_sys_enter(u32 action, struct utrace_engine *engine,
			 struct pt_regs *regs);
u32 utrace_dev_sys_exit(u32 action, struct utrace_engine *engine,
			struct pt_regs *regs);
u32 utrace_dev_clone(u32 action, struct utrace_engine *engine,
		     unsigned long clone_flags, struct task_struct *child);
u32 utrace_dev_exec(u32 action, struct utrace_engine *engine,
		    const struct linux_binfmt *fmt,
		    const struct linux_binprm *bprm, struct pt_regs *regs);
u32 utrace_dev_exit(u32 action, struct utrace_engine *engine,
		    long orig_code, long *code);
u32 utrace_dev_death(struct utrace_engine *engine, bool group_dead,
		     int signal);
u32 utrace_dev_signal(u32 action, struct utrace_engine *engine,
		      struct pt_regs *regs, kernel_siginfo_t *info,
		      const struct k_sigaction *orig_ka,
		      struct k_sigaction *return_ka);
u32 utrace_dev_jobctl(u32 action, struct utrace_engine *engine, int type,
		      int notify);

/* ring.c */
int utrace_dev_ring_make(struct utrace_session *session,
			 const struct utrace_ioc_setup *setup);
void utrace_dev_ring_free(struct utrace_session *session);
bool utrace_dev_reserve(struct session_writer *w, u16 type, u16 flags,
			size_t size);
void utrace_dev_commit(struct session_writer *w);
void utrace_dev_wake_soon(struct utrace_session *session, bool now);
void utrace_dev_check_ends_soon(struct utrace_session *session);
void utrace_dev_wake(struct utrace_session *session, struct session_ring *ring);
void utrace_dev_lost(struct session_target *target);
bool utrace_dev_write_for(struct session_target *target, struct utrace_rec *rec,
			  struct session_task *task);

/* in_flight.c */
int utrace_dev_in_flight(struct utrace_session *session, void *data);

/* map.c */
int utrace_dev_shared_make(struct utrace_session *session);
void utrace_dev_shared_free(struct utrace_session *session);
size_t utrace_dev_rings_size(const struct utrace_session *session);
size_t utrace_dev_tails_size(void);
size_t utrace_dev_data_offset(void);
int utrace_dev_mmap(struct utrace_session *session,
		    struct vm_area_struct *vma);

/* park.c */
bool utrace_dev_may_wait(const struct session_writer *w, u16 type);
struct session_parked *utrace_dev_parked_new(size_t size);
void utrace_dev_park(struct session_writer *w);
void utrace_dev_hold_again(const struct session_writer *w);
void utrace_dev_park_end(struct session_target *target);
void utrace_dev_take_parked(struct utrace_session *session);
void utrace_dev_count_parked(struct utrace_session *session, int n);

/* hold.c */
void utrace_dev_unpark(struct utrace_session *session,
		       struct session_parked *parked);
void __utrace_dev_hold_soon(struct session_task *task);
bool utrace_dev_hold(struct session_task *task);
void utrace_dev_unhold(struct session_task *task);
void utrace_dev_let_go(struct utrace_session *session, struct pid *process);
void utrace_dev_gone(struct session_target *target);
void utrace_dev_park_free(struct utrace_session *session);

/* stream.c */
extern const struct utrace_reader_ops utrace_dev_reader_ops;

#endif /* _KERNEL_UTRACE_DEV_SESSION_H */

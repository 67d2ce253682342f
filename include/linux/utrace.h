/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - many tracing engines on one user task
 *
 * This is the interface for kernel modules.  A client attaches an engine, which
 * is a table of callbacks, to a task, a process, a tree of processes or the
 * whole system, and chooses events.  Each task calls its engines in its own
 * context; the return value of a callback decides how the task continues.
 *
 * Documentation/trace/utrace/api.rst is the guide to this interface,
 * Documentation/trace/utrace/design.rst describes the implementation.
 */
#ifndef _LINUX_UTRACE_H
#define _LINUX_UTRACE_H

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/signal.h>
#include <uapi/linux/utrace.h>

struct k_sigaction;
struct linux_binfmt;
struct linux_binprm;
struct module;
struct pt_regs;
struct utrace_engine;
struct utrace_engine_info;
struct utrace_engine_ops;
struct utrace_syscall_filter;

/*
 * The date of the interface.  This interface continues that of 2009 and 2010,
 * so "#if UTRACE_API_VERSION >= 20091216" is true here.
 */
#define UTRACE_API_VERSION	20261121

/*
 * The maximum number of engines on one task, not counting engines of the
 * system, and the maximum number of engines of the system.
 */
#define UTRACE_MAX_ENGINES	48
#define UTRACE_MAX_SYSTEM	16

/**
 * enum utrace_events - events that an engine can ask for
 * @_UTRACE_EVENT_QUIESCE: an engine requested a stop or a report, or another
 *	event is about to be reported
 * @_UTRACE_EVENT_REAP: the task is reaped, by another task or by itself
 * @_UTRACE_EVENT_CLONE: the task created a thread or process
 * @_UTRACE_EVENT_EXEC: the task completed an execve()
 * @_UTRACE_EVENT_EXIT: the task begins to exit
 * @_UTRACE_EVENT_DEATH: the task has ended, and is about to become a zombie
 * @_UTRACE_EVENT_SYSCALL_ENTRY: the task is about to make a system call
 * @_UTRACE_EVENT_SYSCALL_EXIT: the task returns from a system call
 * @_UTRACE_EVENT_SIGNAL: a signal will run a handler of the program
 * @_UTRACE_EVENT_SIGNAL_IGN: a signal will be ignored
 * @_UTRACE_EVENT_SIGNAL_STOP: a signal will stop the process
 * @_UTRACE_EVENT_SIGNAL_TERM: a signal will end the process
 * @_UTRACE_EVENT_SIGNAL_CORE: a signal will end the process with a core dump
 * @_UTRACE_EVENT_JCTL: job control stops or continues the process
 * @_UTRACE_EVENT_VFORK_DONE: the child of a vfork() no longer uses the memory
 *	of the task
 * @_UTRACE_EVENT_CREDS: an execve() has committed its credentials, and no other
 *	task can have accessed the new image yet
 * @_UTRACE_NEVENTS: number of events
 *
 * SYSCALL_ENTRY and SYSCALL_EXIT cover all system calls unless
 * utrace_set_syscall_filter() selects some.
 */
enum utrace_events {
	_UTRACE_EVENT_QUIESCE,
	_UTRACE_EVENT_REAP,
	_UTRACE_EVENT_CLONE,
	_UTRACE_EVENT_EXEC,
	_UTRACE_EVENT_EXIT,
	_UTRACE_EVENT_DEATH,
	_UTRACE_EVENT_SYSCALL_ENTRY,
	_UTRACE_EVENT_SYSCALL_EXIT,
	_UTRACE_EVENT_SIGNAL,
	_UTRACE_EVENT_SIGNAL_IGN,
	_UTRACE_EVENT_SIGNAL_STOP,
	_UTRACE_EVENT_SIGNAL_TERM,
	_UTRACE_EVENT_SIGNAL_CORE,
	_UTRACE_EVENT_JCTL,
	_UTRACE_EVENT_VFORK_DONE,
	_UTRACE_EVENT_CREDS,
	_UTRACE_NEVENTS
};

#define UTRACE_EVENT(type)	BIT(_UTRACE_EVENT_##type)

#define UTRACE_EVENT_SYSCALL	(UTRACE_EVENT(SYSCALL_ENTRY) |		\
				 UTRACE_EVENT(SYSCALL_EXIT))
#define UTRACE_EVENT_SIGNAL_ALL	(UTRACE_EVENT(SIGNAL) |			\
				 UTRACE_EVENT(SIGNAL_IGN) |		\
				 UTRACE_EVENT(SIGNAL_STOP) |		\
				 UTRACE_EVENT(SIGNAL_TERM) |		\
				 UTRACE_EVENT(SIGNAL_CORE))
#define UTRACE_EVENT_ALL	(BIT(_UTRACE_NEVENTS) - 1)

/*
 * The return value of a callback is a u32: a resume action in the low three
 * bits and, for signals and system calls, an action for the event above them.
 */

/**
 * enum utrace_resume_action - what a task does next
 * @UTRACE_STOP: the task stays stopped until this engine resumes it
 * @UTRACE_INTERRUPT: the sleep of the task is interrupted, and the task reports
 *	before it runs user code
 * @UTRACE_REPORT: the task reports before it runs user code
 * @UTRACE_SINGLESTEP: the task runs one instruction and reports a step
 * @UTRACE_BLOCKSTEP: the task runs up to the next branch and reports a step
 * @UTRACE_RESUME: the task runs
 * @UTRACE_DETACH: the engine is detached from all its tasks
 * @UTRACE_RESUME_MAX: one more than the last action
 *
 * If the engines of a task return different actions, the smallest one is used.
 * See also %UTRACE_STOP_HERE.
 */
enum utrace_resume_action {
	UTRACE_STOP,
	UTRACE_INTERRUPT,
	UTRACE_REPORT,
	UTRACE_SINGLESTEP,
	UTRACE_BLOCKSTEP,
	UTRACE_RESUME,
	UTRACE_DETACH,
	UTRACE_RESUME_MAX
};

#define UTRACE_RESUME_MASK	0x07

/*
 * Or-ed to UTRACE_STOP in the return value of a callback: the task stops at the
 * event itself, as with ptrace(2), after all engines were called; at CLONE,
 * after the child has started.  Without the flag, a task that an engine stops
 * at CLONE, VFORK_DONE, EXEC or SYSCALL_EXIT stops on its way to user mode,
 * where it handles signals first.
 *
 * At a signal, and at a report of get_signal(), the engine keeps the signal:
 * the task stops before later engines are called, whatever the signal does.
 * When all engines have resumed the task, the engine is called again with
 * %UTRACE_SIGNAL_RESUMED, and the signal action that it returns then is used.
 * Later engines are called after that.  Observers cannot keep a signal that
 * ends the process.
 *
 * At JCTL with CLD_STOPPED the task stops for the engine, and counts as stopped
 * for job control.  At other events the flag has no effect.
 */
#define UTRACE_STOP_HERE	0x400

static inline enum utrace_resume_action utrace_resume_action(u32 action)
{
	return action & UTRACE_RESUME_MASK;
}

/**
 * enum utrace_signal_action - what the task does with a signal
 * @UTRACE_SIGNAL_DELIVER: apply @return_ka of report_signal
 * @UTRACE_SIGNAL_IGN: drop the signal
 * @UTRACE_SIGNAL_TERM: end the process
 * @UTRACE_SIGNAL_CORE: end the process with a core dump
 * @UTRACE_SIGNAL_STOP: stop the process, as SIGSTOP does
 * @UTRACE_SIGNAL_TSTP: stop the process unless its process group is orphaned
 * @UTRACE_SIGNAL_REPORT: there is no signal; an engine requested this report
 * @UTRACE_SIGNAL_HANDLER: there is no signal; the frame of a handler was set up
 * @UTRACE_SIGNAL_HOLD: or-ed to a signal action: put the signal back on the
 *	queue of the thread.  If the action is STOP or TSTP, the process stops
 *	now; any other action is ignored
 * @UTRACE_SIGNAL_RESUMED: this engine has kept the signal until now, see
 *	%UTRACE_STOP_HERE
 *
 * REPORT, HANDLER and RESUMED only appear in the @action argument of
 * report_signal.
 */
enum utrace_signal_action {
	UTRACE_SIGNAL_DELIVER	= 0x00,
	UTRACE_SIGNAL_IGN	= 0x10,
	UTRACE_SIGNAL_TERM	= 0x20,
	UTRACE_SIGNAL_CORE	= 0x30,
	UTRACE_SIGNAL_STOP	= 0x40,
	UTRACE_SIGNAL_TSTP	= 0x50,
	UTRACE_SIGNAL_REPORT	= 0x60,
	UTRACE_SIGNAL_HANDLER	= 0x70,
	UTRACE_SIGNAL_HOLD	= 0x100,
	UTRACE_SIGNAL_RESUMED	= 0x200,
};

#define UTRACE_SIGNAL_MASK	0xf0

static inline enum utrace_signal_action utrace_signal_action(u32 action)
{
	return action & UTRACE_SIGNAL_MASK;
}

/*
 * In @action of report_jctl: the task has reported this stop before, and has
 * received no SIGCONT since.
 */
#define UTRACE_JCTL_AGAIN	0x200

/**
 * enum utrace_syscall_action - what the task does with a system call
 * @UTRACE_SYSCALL_RUN: make the call
 * @UTRACE_SYSCALL_ABORT: skip the call
 * @UTRACE_SYSCALL_RESUMED: in @action of report_syscall_entry: this entry was
 *	reported before, and the task was stopped in between
 * @UTRACE_SYSCALL_UNPAIRED: in @action of report_syscall_exit: the entry was
 *	not reported to this engine.  In @action of report_syscall_entry and
 *	report_exit, for an engine that wants SYSCALL_EXIT: an entry was
 *	reported to this engine, and the exit of that call was not
 */
enum utrace_syscall_action {
	UTRACE_SYSCALL_RUN	= 0x00,
	UTRACE_SYSCALL_ABORT	= 0x10,
	UTRACE_SYSCALL_RESUMED	= 0x100,
	UTRACE_SYSCALL_UNPAIRED	= 0x200,
};

#define UTRACE_SYSCALL_MASK	0xf0

static inline enum utrace_syscall_action utrace_syscall_action(u32 action)
{
	return action & UTRACE_SYSCALL_MASK;
}

/*
 * Flags of utrace_attach_task() and utrace_attach_pid().
 */
#define UTRACE_ATTACH_MATCH_OPS		0x0001	/* Match the same ops */
#define UTRACE_ATTACH_MATCH_DATA	0x0002	/* Match the same data */
#define UTRACE_ATTACH_MATCH_MASK	0x000f
#define UTRACE_ATTACH_CREATE		0x0010	/* Attach a new engine */
#define UTRACE_ATTACH_EXCLUSIVE		0x0020	/* No engine may match */
#define UTRACE_ATTACH_ANY_SCOPE		0x0040	/* Match any scope */
#define UTRACE_ATTACH_OWN_EVENTS	0x0080	/* See report_quiesce */

/* Scope: the tasks that the engine covers.  Without a flag: one thread. */
#define UTRACE_ATTACH_PROCESS		0x0100	/* A thread group */
#define UTRACE_ATTACH_TREE		0x0200	/* And all descendants */
#define UTRACE_ATTACH_SCOPE_MASK	0x0300

/*
 * For engines of the system only: cover kernel threads too, which report CLONE,
 * EXIT, DEATH and REAP.  Memory reclaim may wait for such a thread, so
 * callbacks run under memalloc_noio_save() and must not wait for input and
 * output.
 */
#define UTRACE_ATTACH_KTHREAD		0x0400

/*
 * Class: the order in which engines are called.  At the entry of a system call
 * observers come first, then mutators, then enforcers, each class newest first;
 * at the exit the order is the reverse.  At all other events observers come
 * first, then mutators, then enforcers, each class oldest first.  Engines of
 * last resort come after all other engines at every event.
 *
 * An observer cannot change what a signal that ends the process does: if it
 * returns anything but DETACH for such a signal, the core ignores that.  An
 * observer cannot ask for SIGNAL_IGN.
 */
#define UTRACE_ATTACH_MUTATOR		0x0000
#define UTRACE_ATTACH_OBSERVER		0x1000
#define UTRACE_ATTACH_ENFORCER		0x2000
#define UTRACE_ATTACH_LAST_RESORT	0x3000
#define UTRACE_ATTACH_CLASS_MASK	0x3000
#define UTRACE_ATTACH_CLASS_SHIFT	12

#define UTRACE_ATTACH_ALL	(UTRACE_ATTACH_MATCH_OPS |		\
				 UTRACE_ATTACH_MATCH_DATA |		\
				 UTRACE_ATTACH_CREATE |			\
				 UTRACE_ATTACH_EXCLUSIVE |		\
				 UTRACE_ATTACH_ANY_SCOPE |		\
				 UTRACE_ATTACH_OWN_EVENTS |		\
				 UTRACE_ATTACH_SCOPE_MASK |		\
				 UTRACE_ATTACH_CLASS_MASK)

/* The flags that utrace_attach_system() accepts. */
#define UTRACE_ATTACH_OF_SYSTEM	(UTRACE_ATTACH_OWN_EVENTS |		\
				 UTRACE_ATTACH_KTHREAD |		\
				 UTRACE_ATTACH_CLASS_MASK)

/**
 * struct utrace_engine - an engine on a task, a process, a tree or the system
 * @ops: the callbacks; set at attach, valid until ->release() was called
 * @data: a pointer of the client; the core compares it in utrace_attach_task()
 *	and passes it to ->release()
 * @flags: the events that the engine wants, as UTRACE_EVENT() bits; 0 once the
 *	engine is detached.  Changed by utrace_set_events(), under a lock of the
 *	core; read without a lock
 *
 * An engine is valid as long as a reference to it exists, and in its callbacks.
 * An attach returns a reference, which the caller drops with
 * utrace_engine_put().  The core holds its own reference until the detach is
 * complete.
 */
struct utrace_engine {
	/* private: */
	struct kref kref;
	atomic_t state;		/* UTRACE_STATE_*, see internal.h */
	/* public: */
	const struct utrace_engine_ops *ops;
	void *data;
	unsigned long flags;
	/* private: */
	union {
		struct task_struct *task;	/* thread scope, counted */
		struct pid *tgid;		/* counted; NULL: system */
	};
	struct utrace_syscall_filter __rcu *filter;
	struct utrace_engine_info *info;
	u32 seq;		/* grows when events, filter or match change */
};

static_assert(sizeof(struct utrace_engine) <= 64);

/*
 * Or-ed to a number in utrace_set_syscall_filter(): the number is from the
 * 32-bit table of x86_64, which int $0x80 and 32-bit programs use.
 */
#define UTRACE_SYSCALL_IA32	UTRACE_NR_IA32

/*
 * Means all numbers that are in no table.  The IA32 bit is not set in it.  If
 * the lower half of a 64-bit number has this value, the upper half is the
 * number that the program asked for; see utrace_current_asked().
 */
#define UTRACE_SYSCALL_NONE	UTRACE_NR_NONE

/**
 * struct utrace_engine_ops - callbacks of an engine
 * @report_quiesce: with @event 0, the task is about to return to user mode, and
 *	an engine asked for a report.  Otherwise @event is about to be reported
 *	to an engine of the task; with %UTRACE_ATTACH_OWN_EVENTS only if this
 *	engine wants @event.  The engine may call utrace_set_events() to get
 *	@event too.
 * @report_signal: the task has dequeued a signal.  @orig_ka is the action that
 *	the program has set; the engine may change @return_ka and @info.  For a
 *	report without a signal (%UTRACE_SIGNAL_REPORT, %UTRACE_SIGNAL_HANDLER
 *	in @action) @orig_ka is NULL.  If this engine asked for a step, the end
 *	of the step is reported with %UTRACE_SIGNAL_IGN in @action, SIGTRAP in
 *	@info and NULL as @orig_ka.
 * @report_clone: the task has created @child, which does not run yet; the
 *	engine may attach engines to it.  @clone_flags contains the exit signal
 *	of @child in its low byte.
 * @report_jctl: @type is CLD_STOPPED or CLD_CONTINUED.  @notify is the code
 *	that the task reports to the parent, or 0.  A task that engines hold
 *	reports when it takes part in a stop of its process, and again when the
 *	engines have resumed it and it stops for job control; the return value
 *	of the first report does not end a hold.  A stop may also be reported
 *	again for ptrace(2).  @action contains %UTRACE_JCTL_AGAIN if the task
 *	has reported the stop before.  A thread that completes the stop by
 *	exiting reports after report_exit.
 * @report_exec: the task runs a new program, and @regs are its first registers.
 *	@fmt is NULL on this kernel.
 * @report_syscall_entry: @regs contain the number and the arguments, which the
 *	engine may change.
 * @report_syscall_exit: @regs contain the result, which the engine may change.
 * @report_exit: *@code is the wait status, which the engine may change.  The
 *	status of the process changes with it if the process ends with the
 *	status of this thread.  @action contains %UTRACE_SYSCALL_UNPAIRED if the
 *	task dies in a system call, for example exit_group(2), whose entry this
 *	engine saw and whose exit it wants.
 * @report_death: @group_dead is true if the task is the last thread of its
 *	process.  @signal is the signal that the parent will be sent, -1 if the
 *	task will reap itself, -2 for a leader with living threads; the parent
 *	may change that after the report.  The task is not a zombie yet.  Any
 *	return value but %UTRACE_DETACH is ignored.
 * @report_reap: the task may be freed after this call, which must not block.
 *	When a thread other than the leader calls execve(), that thread makes
 *	the call for the old leader, under cred_guard_mutex.
 * @report_vfork_done: the child of a vfork() no longer uses the memory of the
 *	task.  @child_pid is the id of the child in the initial pid namespace.
 * @report_creds: execve() has installed the new credentials.  No other task can
 *	access the new image yet.  Other changes of credentials, such as
 *	setuid(2), are not reported.  An engine whose owner may not trace the
 *	new credentials detaches here.  cred_guard_mutex and exec_update_lock of
 *	the task are held, here and in the report_quiesce before this call.
 * @release: the last reference to the engine was dropped; the argument is
 *	@data.  Must not attach an engine, nor wait in a barrier or in
 *	utrace_engine_shutdown().  May be NULL.
 * @owner: the module of the callbacks, for display only; may be NULL
 * @name: a name for display; may be NULL
 * @held_for: return the process that must act before @engine resumes the tasks
 *	that it holds, with a reference that the caller drops, or NULL.
 *	/proc/PID/utrace shows it.  Any process that reads the file makes this
 *	call.  May be NULL
 *
 * The traced task makes the report_* calls in its own context; only
 * @report_reap may run in another task.  No locks are held but those that
 * @report_creds and @report_reap name.  A callback may sleep for memory, page
 * faults and mutexes of the kernel, never for user space: an engine that waits
 * for user space returns %UTRACE_STOP.
 *
 * A callback may be NULL.  The core then acts as if the engine had answered
 * %UTRACE_RESUME; instead of a missing @report_signal it calls @report_quiesce.
 * The callbacks of 2010 keep their place in the structure and their meaning.
 */
struct utrace_engine_ops {
	u32 (*report_quiesce)(u32 action, struct utrace_engine *engine,
			      unsigned long event);
	u32 (*report_signal)(u32 action, struct utrace_engine *engine,
			     struct pt_regs *regs, kernel_siginfo_t *info,
			     const struct k_sigaction *orig_ka,
			     struct k_sigaction *return_ka);
	u32 (*report_clone)(u32 action, struct utrace_engine *engine,
			    unsigned long clone_flags,
			    struct task_struct *child);
	u32 (*report_jctl)(u32 action, struct utrace_engine *engine,
			   int type, int notify);
	u32 (*report_exec)(u32 action, struct utrace_engine *engine,
			   const struct linux_binfmt *fmt,
			   const struct linux_binprm *bprm,
			   struct pt_regs *regs);
	u32 (*report_syscall_entry)(u32 action, struct utrace_engine *engine,
				    struct pt_regs *regs);
	u32 (*report_syscall_exit)(u32 action, struct utrace_engine *engine,
				   struct pt_regs *regs);
	u32 (*report_exit)(u32 action, struct utrace_engine *engine,
			   long orig_code, long *code);
	u32 (*report_death)(struct utrace_engine *engine, bool group_dead,
			    int signal);
	void (*report_reap)(struct utrace_engine *engine,
			    struct task_struct *task);
	void (*release)(void *data);
	u32 (*report_vfork_done)(u32 action, struct utrace_engine *engine,
				 pid_t child_pid);
	u32 (*report_creds)(u32 action, struct utrace_engine *engine,
			    const struct linux_binprm *bprm);
	struct module *owner;
	const char *name;
	struct pid *(*held_for)(struct utrace_engine *engine);
};

/**
 * struct utrace_examiner - state of an examination of a stopped task
 *
 * The caller provides the memory, utrace_prepare_examine() fills it in, and
 * utrace_finish_examine() reads it.
 */
struct utrace_examiner {
	/* private: */
	unsigned long ncsw;
};

#ifdef CONFIG_UTRACE

struct utrace_engine *
utrace_attach_task(struct task_struct *target, int flags,
		   const struct utrace_engine_ops *ops, void *data);
struct utrace_engine *
utrace_attach_pid(struct pid *pid, int flags,
		  const struct utrace_engine_ops *ops, void *data);
struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops,
		     void *data);
unsigned long utrace_lost_events(void);
int __must_check utrace_control(struct task_struct *target,
				struct utrace_engine *engine,
				enum utrace_resume_action action);
int __must_check utrace_set_events(struct task_struct *target,
				   struct utrace_engine *engine,
				   unsigned long events);
int __must_check utrace_set_syscall_filter(struct utrace_engine *engine,
					   const int *nrs, unsigned int n);
int __must_check utrace_barrier(struct task_struct *target,
				struct utrace_engine *engine);
int __must_check utrace_barrier_killable(struct utrace_engine *engine);
void utrace_barrier_sync(struct utrace_engine *engine);
void utrace_engine_shutdown(struct utrace_engine *engine);
int __must_check utrace_prepare_examine(struct task_struct *target,
					struct utrace_engine *engine,
					struct utrace_examiner *exam);
int __must_check utrace_finish_examine(struct task_struct *target,
				       struct utrace_engine *engine,
				       struct utrace_examiner *exam);
void utrace_engine_release(struct kref *kref);
unsigned long utrace_syscall_get_arg(struct pt_regs *regs, unsigned int i);
void utrace_syscall_set_arg(struct pt_regs *regs, unsigned int i,
			    unsigned long value);
void utrace_syscall_set_nr(struct pt_regs *regs, int nr);

#else /* !CONFIG_UTRACE */

static inline struct utrace_engine *
utrace_attach_task(struct task_struct *target, int flags,
		   const struct utrace_engine_ops *ops, void *data)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct utrace_engine *
utrace_attach_pid(struct pid *pid, int flags,
		  const struct utrace_engine_ops *ops, void *data)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct utrace_engine *
utrace_attach_system(int flags, const struct utrace_engine_ops *ops, void *data)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline unsigned long utrace_lost_events(void)
{
	return 0;
}

static inline int utrace_control(struct task_struct *target,
				 struct utrace_engine *engine,
				 enum utrace_resume_action action)
{
	return -EOPNOTSUPP;
}

static inline int utrace_set_events(struct task_struct *target,
				    struct utrace_engine *engine,
				    unsigned long events)
{
	return -EOPNOTSUPP;
}

static inline int utrace_set_syscall_filter(struct utrace_engine *engine,
					    const int *nrs, unsigned int n)
{
	return -EOPNOTSUPP;
}

static inline int utrace_barrier(struct task_struct *target,
				 struct utrace_engine *engine)
{
	return -EOPNOTSUPP;
}

static inline int utrace_barrier_killable(struct utrace_engine *engine)
{
	return -EOPNOTSUPP;
}

static inline void utrace_barrier_sync(struct utrace_engine *engine) { }
static inline void utrace_engine_shutdown(struct utrace_engine *engine) { }

static inline int utrace_prepare_examine(struct task_struct *target,
					 struct utrace_engine *engine,
					 struct utrace_examiner *exam)
{
	return -EOPNOTSUPP;
}

static inline int utrace_finish_examine(struct task_struct *target,
					struct utrace_engine *engine,
					struct utrace_examiner *exam)
{
	return -EOPNOTSUPP;
}

static inline void utrace_engine_release(struct kref *kref) { }

static inline unsigned long utrace_syscall_get_arg(struct pt_regs *regs,
						   unsigned int i)
{
	return 0;
}

static inline void utrace_syscall_set_arg(struct pt_regs *regs, unsigned int i,
					  unsigned long value) { }
static inline void utrace_syscall_set_nr(struct pt_regs *regs, int nr) { }

#endif /* CONFIG_UTRACE */

/**
 * utrace_engine_get() - take a reference to an engine
 * @engine: the engine; the caller has a reference, or is a callback of it
 *
 * Context: Any.
 */
static inline void utrace_engine_get(struct utrace_engine *engine)
{
	kref_get(&engine->kref);
}

/**
 * utrace_engine_put() - drop a reference to an engine
 * @engine: the engine; the caller has a reference
 *
 * Context: Any in which ->release() may run, since the last put calls it.
 */
static inline void utrace_engine_put(struct utrace_engine *engine)
{
	kref_put(&engine->kref, utrace_engine_release);
}

/**
 * utrace_control_pid() - utrace_control() for a pid
 * @pid: a pid to which the caller has a reference
 * @engine: see utrace_control()
 * @action: see utrace_control()
 *
 * Context: As utrace_control().
 * Return:
 * * as utrace_control()
 * * -ESRCH - no task has @pid
 */
static inline int __must_check
utrace_control_pid(struct pid *pid, struct utrace_engine *engine,
		   enum utrace_resume_action action)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	int ret = -ESRCH;

	if (task) {
		ret = utrace_control(task, engine, action);
		put_task_struct(task);
	}
	return ret;
}

/**
 * utrace_set_events_pid() - utrace_set_events() for a pid
 * @pid: a pid to which the caller has a reference
 * @engine: see utrace_set_events()
 * @events: see utrace_set_events()
 *
 * Context: As utrace_set_events().
 * Return:
 * * as utrace_set_events()
 * * -ESRCH - no task has @pid
 */
static inline int __must_check
utrace_set_events_pid(struct pid *pid, struct utrace_engine *engine,
		      unsigned long events)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	int ret = -ESRCH;

	if (task) {
		ret = utrace_set_events(task, engine, events);
		put_task_struct(task);
	}
	return ret;
}

/**
 * utrace_barrier_pid() - utrace_barrier() for a pid
 * @pid: a pid to which the caller has a reference
 * @engine: see utrace_barrier()
 *
 * Context: As utrace_barrier().
 * Return:
 * * as utrace_barrier()
 * * -ESRCH - no task has @pid
 */
static inline int __must_check
utrace_barrier_pid(struct pid *pid, struct utrace_engine *engine)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	int ret = -ESRCH;

	if (task) {
		ret = utrace_barrier(task, engine);
		put_task_struct(task);
	}
	return ret;
}

#endif /* _LINUX_UTRACE_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - many tracing engines on one user task
 *
 * The interface for kernel modules.  Documentation/trace/utrace/api.rst is
 * the guide to it, Documentation/trace/utrace/design.rst tells how it works.
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
 * The date of the interface: the values of 2009 and 2010 name the interface
 * that this one continues, so that "#if UTRACE_API_VERSION >= 20091216" is
 * true here.
 */
#define UTRACE_API_VERSION	20261121

/*
 * Engines that one task can have at the same time, those of the system aside;
 * and engines of the system.
 */
#define UTRACE_MAX_ENGINES	48
#define UTRACE_MAX_SYSTEM	16

/**
 * enum utrace_events - events that an engine can ask for
 * @_UTRACE_EVENT_QUIESCE: tracing asked for a stop in the task's way, or
 *	another event is about to be reported
 * @_UTRACE_EVENT_REAP: the task is reaped by its parent or by itself
 * @_UTRACE_EVENT_CLONE: the task created a thread or process
 * @_UTRACE_EVENT_EXEC: the task completed an execve()
 * @_UTRACE_EVENT_EXIT: the task begins to exit
 * @_UTRACE_EVENT_DEATH: the task is dead: a zombie or about to be reaped
 * @_UTRACE_EVENT_SYSCALL_ENTRY: the task is about to make a system call
 * @_UTRACE_EVENT_SYSCALL_EXIT: the task comes back from a system call
 * @_UTRACE_EVENT_SIGNAL: a signal will run a handler of the program
 * @_UTRACE_EVENT_SIGNAL_IGN: a signal will be ignored
 * @_UTRACE_EVENT_SIGNAL_STOP: a signal will stop the process
 * @_UTRACE_EVENT_SIGNAL_TERM: a signal will end the process
 * @_UTRACE_EVENT_SIGNAL_CORE: a signal will end the process with a core dump
 * @_UTRACE_EVENT_JCTL: job control stops or continues the process
 * @_UTRACE_EVENT_VFORK_DONE: a vfork() child let go of the task's memory
 * @_UTRACE_EVENT_CREDS: an execve() has committed its credentials, and nobody
 *	can have looked at the new image yet
 * @_UTRACE_NEVENTS: how many there are
 *
 * Events are classes, not system calls: which calls an engine wants is said
 * by utrace_set_syscall_filter().
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
 * Answers of a callback are one u32: a resume action in the low bits and,
 * for signals and system calls, what becomes of the event above them.
 */

/**
 * enum utrace_resume_action - what a task does next
 * @UTRACE_STOP: stay stopped until this engine lets go
 * @UTRACE_INTERRUPT: break off a sleep, report before user mode
 * @UTRACE_REPORT: report before user mode
 * @UTRACE_SINGLESTEP: run one instruction, then report it as a step
 * @UTRACE_BLOCKSTEP: run up to the next branch, then report it as a step
 * @UTRACE_RESUME: run
 * @UTRACE_DETACH: detach the engine
 * @UTRACE_RESUME_MAX: not an action, one more than the last
 *
 * The engines' actions merge to the smallest one.
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

static inline enum utrace_resume_action utrace_resume_action(u32 action)
{
	return action & UTRACE_RESUME_MASK;
}

/**
 * enum utrace_signal_action - what becomes of a signal
 * @UTRACE_SIGNAL_DELIVER: do what @return_ka says
 * @UTRACE_SIGNAL_IGN: drop it
 * @UTRACE_SIGNAL_TERM: end the process
 * @UTRACE_SIGNAL_CORE: end the process with a core dump
 * @UTRACE_SIGNAL_STOP: stop the process, as SIGSTOP does
 * @UTRACE_SIGNAL_TSTP: stop the process unless its group is orphaned
 * @UTRACE_SIGNAL_REPORT: no signal, a report that was asked for
 * @UTRACE_SIGNAL_HANDLER: no signal, the frame of a handler was just set up
 * @UTRACE_SIGNAL_HOLD: or-ed to an answer: put the signal back on the queue
 *
 * REPORT and HANDLER only appear in the @action argument of report_signal.
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
};

#define UTRACE_SIGNAL_MASK	0xf0

static inline enum utrace_signal_action utrace_signal_action(u32 action)
{
	return action & UTRACE_SIGNAL_MASK;
}

/**
 * enum utrace_syscall_action - what becomes of a system call
 * @UTRACE_SYSCALL_RUN: make it
 * @UTRACE_SYSCALL_ABORT: skip it
 * @UTRACE_SYSCALL_RESUMED: in @action: this entry was reported before, the
 *	task was stopped in between
 * @UTRACE_SYSCALL_UNPAIRED: in @action of report_syscall_exit: this engine
 *	was not told of the entry.  In that of report_syscall_entry and
 *	report_exit, for an engine that wants SYSCALL_EXIT: the exit of the
 *	call it was told of before never came
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
#define UTRACE_ATTACH_MATCH_OPS		0x0001	/* Same ops */
#define UTRACE_ATTACH_MATCH_DATA	0x0002	/* Same data */
#define UTRACE_ATTACH_MATCH_MASK	0x000f
#define UTRACE_ATTACH_CREATE		0x0010	/* Attach a new engine */
#define UTRACE_ATTACH_EXCLUSIVE		0x0020	/* Only if none matches */
#define UTRACE_ATTACH_ANY_SCOPE		0x0040	/* Match any scope */
#define UTRACE_ATTACH_OWN_EVENTS	0x0080	/* See report_quiesce */

/* Scope: which tasks the engine covers.  None of them: the one thread. */
#define UTRACE_ATTACH_PROCESS		0x0100	/* Its thread group */
#define UTRACE_ATTACH_TREE		0x0200	/* And all descendants */
#define UTRACE_ATTACH_SCOPE_MASK	0x0300

/*
 * For the system: kernel threads too, of which CLONE, EXIT, DEATH and REAP are
 * reported.  Callbacks run in threads that memory may wait for, with
 * memalloc_noio_save() in force; they must not wait for input and output.
 */
#define UTRACE_ATTACH_KTHREAD		0x0400

/*
 * An observer changes nothing about signals that end the process: of its
 * answers to them only DETACH is heard.  It cannot ask for SIGNAL_IGN.
 *
 * Class: when the engine is called.  At the entry of a system call observers
 * come first, then mutators, then enforcers, each class newest first; at its
 * exit the order is the reverse.  At all other events observers come first,
 * then mutators, then enforcers, each class oldest first.  Engines of last
 * resort come after all others at every event.
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

/* Of these, the ones that mean something for utrace_attach_system(). */
#define UTRACE_ATTACH_OF_SYSTEM	(UTRACE_ATTACH_OWN_EVENTS |		\
				 UTRACE_ATTACH_KTHREAD |		\
				 UTRACE_ATTACH_CLASS_MASK)

/**
 * struct utrace_engine - one engine, attached to a task, process, tree or all
 * @ops:	the client's callbacks; never changes
 * @data:	the client's; the core does not look at it
 * @flags:	the events the engine wants, as UTRACE_EVENT() bits; read it,
 *		change it by utrace_set_events(); 0 once detached
 *
 * Valid as long as somebody holds a reference.  Attaching gives one to the
 * caller, to be returned by utrace_engine_put(); being attached holds
 * another, dropped when the detach completes.  Within a callback the engine
 * is valid.
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
		struct pid *tgid;		/* process, tree: counted; system: NULL */
	};
	struct utrace_syscall_filter __rcu *filter;
	struct utrace_engine_info *info;
	u32 seq;		/* grows after a change of what it wants */
};

static_assert(sizeof(struct utrace_engine) <= 64);

/*
 * Or-ed to a number in utrace_set_syscall_filter(): it is one of the 32-bit
 * table of x86_64, which int $0x80 and 32-bit programs use.
 */
#define UTRACE_SYSCALL_IA32	0x20000000

/**
 * struct utrace_engine_ops - callbacks of an engine
 * @report_quiesce: @event 0: the task is about to return to user mode and
 *	somebody asked for a report.  Else: that event is about to be
 *	reported, to this or to another engine; with
 *	%UTRACE_ATTACH_OWN_EVENTS only to this one.  utrace_set_events() may
 *	be called to take part in it.
 * @report_signal: the task dequeued a signal.  @orig_ka is what the program
 *	set up, @return_ka may be changed, @info too.  For a report without a
 *	signal (%UTRACE_SIGNAL_REPORT, %UTRACE_SIGNAL_HANDLER in @action)
 *	@orig_ka is NULL.  Also called, with %UTRACE_SIGNAL_IGN in @action and
 *	SIGTRAP in @info, for a step this engine asked for.
 * @report_clone: @child is set up and not yet running; it is safe to attach
 *	to it.  @clone_flags has the child's exit signal in its low byte.
 * @report_jctl: @type is CLD_STOPPED or CLD_CONTINUED, @notify what the
 *	parent is told, or 0.  A task that engines hold reports when it joins
 *	a stop of its process, and again when they let go and it really stops;
 *	an answer in between does not let go.  A thread that completes the stop
 *	by exiting reports too, after report_exit.
 * @report_exec: the new image is in place, @regs are its first registers.
 *	@fmt is NULL on this kernel.
 * @report_syscall_entry: @regs hold number and arguments, both may be
 *	changed.
 * @report_syscall_exit: @regs hold the result, which may be changed.
 * @report_exit: *@code is the wait status and may be changed; that of the
 *	process changes with it if the thread ends with the same status.
 *	@action has %UTRACE_SYSCALL_UNPAIRED if the task dies in a system call
 *	whose entry this engine saw and whose exit it wants, as exit_group(2).
 * @report_death: @group_dead: last thread of its process; @signal: what the
 *	parent is sent, -1 if the task reaps itself, -2 for a leader whose
 *	threads live on.  Only %UTRACE_DETACH means something as answer.
 * @report_reap: the task is gone after this.  Must not block.  That of the old
 *	leader, when another thread calls execve(), runs in that thread and
 *	under cred_guard_mutex.
 * @report_vfork_done: the child of a vfork() with id @child_pid (in the
 *	initial pid namespace) let go of the memory.
 * @report_creds: like @report_exec, but before the new image can be looked at:
 *	an engine whose owner may not trace the new credentials detaches here.
 *	cred_guard_mutex and exec_update_lock of the task are held, here and in
 *	the report_quiesce before it.
 * @release: the last reference to the engine is gone; gets @data.  Must not
 *	attach, and must not wait in a barrier or utrace_engine_shutdown().
 * @owner: the module of the callbacks, for display only; may be NULL
 * @name: a name for display; may be NULL
 *
 * Every callback runs in the traced task itself; only @report_reap may run in
 * another.  No locks are held, save what @report_creds and @report_reap say.
 * A callback may sleep for memory, page faults and mutexes of the kernel,
 * never for user space: to wait for user space, answer %UTRACE_STOP.  A
 * callback may be NULL if its event is never asked for.  The 2010 callbacks
 * keep their place and meaning.
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
};

/**
 * struct utrace_examiner - state of an examination
 *
 * Filled by utrace_prepare_examine() and compared by
 * utrace_finish_examine(); the caller only provides the memory.
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
 * utrace_engine_get - take a reference to an engine
 * @engine: an engine on which the caller has a reference, or which is valid
 *	because the caller is one of its callbacks
 *
 * Context: Any.
 */
static inline void utrace_engine_get(struct utrace_engine *engine)
{
	kref_get(&engine->kref);
}

/**
 * utrace_engine_put - drop a reference to an engine
 * @engine: an engine on which the caller has a reference
 *
 * The last put calls ops->release(), in the context of the caller.
 *
 * Context: Any in which ops->release() may run.
 */
static inline void utrace_engine_put(struct utrace_engine *engine)
{
	kref_put(&engine->kref, utrace_engine_release);
}

/**
 * utrace_control_pid - utrace_control() for a pid
 * @pid: a pid on which the caller has a reference
 * @engine: see utrace_control()
 * @action: see utrace_control()
 *
 * Context: As utrace_control().
 * Return: as utrace_control(), and -ESRCH if no task has @pid.
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
 * utrace_set_events_pid - utrace_set_events() for a pid
 * @pid: a pid on which the caller has a reference
 * @engine: see utrace_set_events()
 * @events: see utrace_set_events()
 *
 * Context: As utrace_set_events().
 * Return: as utrace_set_events(), and -ESRCH if no task has @pid.
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
 * utrace_barrier_pid - utrace_barrier() for a pid
 * @pid: a pid on which the caller has a reference
 * @engine: see utrace_barrier()
 *
 * Context: As utrace_barrier().
 * Return: as utrace_barrier(), and -ESRCH if no task has @pid.
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

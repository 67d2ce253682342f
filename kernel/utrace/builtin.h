/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - functions for built-in clients only
 *
 * Clients in kernel/utrace/ that act on behalf of a process use these functions
 * in addition to those of <linux/utrace.h>.  None of them is exported to
 * modules.
 */
#ifndef _KERNEL_UTRACE_BUILTIN_H
#define _KERNEL_UTRACE_BUILTIN_H

#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/signal.h>
#include <linux/utrace.h>
#include <linux/utrace_hooks.h>

struct cred;
struct pid;
struct pt_regs;

/*
 * The events of signals that an observer may want.  Ignored signals would be
 * queued for it, and break off sleeps of the program.
 */
#define UTRACE_EVENT_SIGNAL_SEEN \
	(UTRACE_EVENT_SIGNAL_ALL & ~UTRACE_EVENT(SIGNAL_IGN))

int utrace_check_calls(const int *nrs, unsigned int n);
unsigned long utrace_engine_lost(const struct utrace_engine *engine);
void utrace_set_owner(struct utrace_engine *engine, struct pid *owner);
struct utrace_engine *
utrace_attach_for(const struct cred *opener, struct task_struct *target,
		  int flags, const struct utrace_engine_ops *ops, void *data,
		  bool (*may)(struct task_struct *task, void *arg), void *arg);
struct utrace_engine *utrace_engine_like(struct utrace_engine *engine,
					 void *data);
void utrace_engine_set_task(struct utrace_engine *engine, struct task_struct *child);
void utrace_engine_abandon(struct utrace_engine *engine);
int utrace_attach_newborn(struct utrace_engine *engine);
bool utrace_has_living(struct utrace_engine *engine);
void utrace_interrupt_cpus(struct utrace_engine *engine);
bool utrace_covers(struct utrace_engine *engine, struct task_struct *task);
bool utrace_adopt_current(void);
bool utrace_was_called(const struct utrace_engine *engine, unsigned int event,
		       bool (*same)(const struct utrace_engine *a,
				    const struct utrace_engine *b));
void utrace_follow_with(bool (*step)(struct pt_regs *regs,
				     enum utrace_step_why why));
void utrace_follow_steps(bool on);
struct hlist_head *utrace_tracers_of(struct task_struct *task);
struct hlist_head *utrace_newborn_tracers(void);
spinlock_t *utrace_tracers_lock(struct task_struct *task);
bool utrace_task_stopped(struct task_struct *task);
void utrace_tasklist_barrier(void);
int utrace_freeze(struct task_struct *task);
int utrace_freeze_if_safe(struct task_struct *task);
void utrace_thaw(struct task_struct *task);
void utrace_ask_report(struct task_struct *task);
void utrace_ask_report_locked(struct task_struct *task);
void utrace_stop_again(struct task_struct *task);
void utrace_ignore_group_stop(struct task_struct *task);
void utrace_rejoin_group_stop(struct task_struct *task);
bool utrace_in_stop(void);
bool utrace_step_is_queued(void);
bool utrace_may_not_stop(void);
bool utrace_parent_ignores(struct task_struct *task);
struct pid *utrace_superseded_by(void);
int utrace_stop_signal(void);
u32 utrace_signal_of(int signr, struct k_sigaction *ka);
bool utrace_chooses_call(struct utrace_engine *engine, unsigned int nr);
bool __utrace_wants_call(struct utrace_engine *engine, struct pt_regs *regs);

/**
 * utrace_engine_tryget() - try to take a reference to an engine under RCU
 * @engine: the engine, whose memory RCU keeps
 *
 * Context: Any.
 * Return: false if the last reference was dropped.
 */
static inline bool utrace_engine_tryget(struct utrace_engine *engine)
{
	return kref_get_unless_zero(&engine->kref);
}

/**
 * utrace_wants_call() - check whether an engine wants the current system call
 * @engine: the engine, whose callback this is
 * @regs: registers of the current task
 *
 * The filter may have changed since the engine was chosen for the callback.
 *
 * Context: report_syscall_entry of @engine.
 * Return: true if the filter of @engine lets the call pass now.
 */
static inline bool utrace_wants_call(struct utrace_engine *engine,
				     struct pt_regs *regs)
{
	return likely(!rcu_access_pointer(engine->filter)) ||
	       __utrace_wants_call(engine, regs);
}

/*
 * Classify a signal by the action @ka of the program.  Returns UTRACE_SIGNAL_*,
 * and sets *@event to the number of the event, _UTRACE_EVENT_SIGNAL*.
 */
static inline u32 utrace_classify(int signr, const struct k_sigaction *ka,
				  unsigned int *event)
{
	if (ka->sa.sa_handler == SIG_IGN ||
	    (ka->sa.sa_handler == SIG_DFL && sig_kernel_ignore(signr))) {
		*event = _UTRACE_EVENT_SIGNAL_IGN;
		return UTRACE_SIGNAL_IGN;
	}
	if (ka->sa.sa_handler != SIG_DFL) {
		*event = _UTRACE_EVENT_SIGNAL;
		return UTRACE_SIGNAL_DELIVER;
	}
	if (sig_kernel_coredump(signr)) {
		*event = _UTRACE_EVENT_SIGNAL_CORE;
		return UTRACE_SIGNAL_CORE;
	}
	if (sig_kernel_stop(signr)) {
		*event = _UTRACE_EVENT_SIGNAL_STOP;
		return signr == SIGSTOP ? UTRACE_SIGNAL_STOP :
					  UTRACE_SIGNAL_TSTP;
	}
	*event = _UTRACE_EVENT_SIGNAL_TERM;
	return UTRACE_SIGNAL_TERM;
}

/*
 * Check whether a group stop is in force or under way.  siglock of @task is
 * held.
 */
static inline bool utrace_group_stops(struct task_struct *task)
{
	struct signal_struct *sig = task->signal;

	lockdep_assert_held(&task->sighand->siglock);

	return sig->group_stop_count || (sig->flags & SIGNAL_STOP_STOPPED);
}

#endif /* _KERNEL_UTRACE_BUILTIN_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - matches: a client chooses tasks by what they are
 *
 * The scope of an engine says by descent which tasks the engine covers; a match
 * excludes those of them that the client does not want.  See match.c.
 */
#ifndef _KERNEL_UTRACE_MATCH_H
#define _KERNEL_UTRACE_MATCH_H

#include <linux/sched.h>
#include <linux/uidgid.h>

struct cgroup;
struct path;
struct pid;
struct utrace_engine;
struct utrace_match;

/* The largest number of items in a match, all kinds together. */
#define UTRACE_MATCH_MAX	1024

struct utrace_match *utrace_match_new(void);
struct utrace_match *utrace_match_get(struct utrace_match *match);
int utrace_match_add_pid(struct utrace_match *match, struct pid *pid);
int utrace_match_add_exe(struct utrace_match *match, const struct path *path);
int utrace_match_add_comm(struct utrace_match *match, const char *comm);
int utrace_match_add_uid(struct utrace_match *match, kuid_t uid);
#ifdef CONFIG_CGROUPS
int utrace_match_add_cgroup(struct utrace_match *match, struct cgroup *cgroup);
#else
static inline int utrace_match_add_cgroup(struct utrace_match *match,
					  struct cgroup *cgroup)
{
	return -EOPNOTSUPP;
}
#endif
void utrace_match_leave_out(struct utrace_match *match, struct pid *tgid);
void utrace_match_chooser(struct utrace_match *match,
			  bool (*choose)(struct task_struct *task, void *data),
			  void *data);

/* set_events.c, scope.c */
int utrace_set_match(struct utrace_engine *engine, struct utrace_match *match);
bool utrace_reports_to(struct utrace_engine *engine, struct task_struct *task);

/* For the core, which calls these also if there are no matches. */
#ifdef CONFIG_UTRACE_MATCH
bool utrace_rejects(struct utrace_engine *engine);
void utrace_match_put(struct utrace_match *match);
#else
static inline bool utrace_rejects(struct utrace_engine *engine)
{
	return false;
}

static inline void utrace_match_put(struct utrace_match *match)
{
}
#endif

#endif /* _KERNEL_UTRACE_MATCH_H */

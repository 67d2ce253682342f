// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - read the tasks of records
 *
 * text.c and line.c print records.
 */
#include <string.h>

#include "calls.h"
#include "cmd/output.h"
#include "record.h"

/*
 * Return the task that a record is about, 0 if it is about none or the task has
 * left.
 */
pid_t record_task(const struct utrace_rec *rec)
{
	if (rec->type == UTRACE_REC_LOST || rec->type == UTRACE_REC_HIDDEN ||
	    rec->type == UTRACE_REC_TARGET_END)
		return 0;
	return rec->tid;
}

/*
 * If the task is outside of the pid namespace, print once that it has no
 * number.
 */
void record_check_number(const struct utrace_rec *rec)
{
	static bool said;

	if (said || rec->pid || !rec->task)
		return;
	said = true;
	output_note("0 means all processes outside of this pid namespace, which "
		    "have no number in it; run this outside of it to see their "
		    "numbers");
}

/* Return the task that the task of a record has created, 0 for none. */
pid_t record_child(const struct utrace_rec *rec)
{
	const struct utrace_rec_fork *fork = (const void *)rec;

	return rec->type == UTRACE_REC_FORK ? fork->child_tid : 0;
}

/* Check whether a record is the last one of its task. */
bool record_is_end(const struct utrace_rec *rec)
{
	return rec->type == UTRACE_REC_EXIT;
}

/* Check whether the task has executed a program. */
bool record_is_exec(const struct utrace_rec *rec)
{
	return rec->type == UTRACE_REC_EXEC;
}

/* Check whether records were lost before this one. */
bool record_is_lost(const struct utrace_rec *rec)
{
	return rec->type == UTRACE_REC_LOST;
}

/* Check whether the task has gained privileges that hide it from this user. */
bool record_is_hidden(const struct utrace_rec *rec)
{
	return rec->type == UTRACE_REC_HIDDEN;
}

/* Check whether a record is the entry or the exit of the system call @name. */
bool record_is_call(const struct utrace_rec *rec, const char *name)
{
	const struct utrace_rec_sys_enter *enter = (const void *)rec;
	const struct utrace_rec_sys_exit *exit = (const void *)rec;
	const char *called = NULL;

	if (rec->type == UTRACE_REC_SYS_ENTER)
		called = call_name(enter->nr);
	else if (rec->type == UTRACE_REC_SYS_EXIT)
		called = call_name(exit->nr);
	return called && !strcmp(called, name);
}

/*
 * Check whether a record is the exit of a successful call @nr.  Both tables
 * must have the same call at this number.
 */
bool record_is_success(const struct utrace_rec *rec, __u32 nr)
{
	const struct utrace_rec_sys_exit *exit = (const void *)rec;

	return rec->type == UTRACE_REC_SYS_EXIT &&
	       (exit->nr & ~UTRACE_NR_IA32) == nr && exit->ret >= 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - whom an engine acts for, and how many a user may have
 *
 * An engine of kernel code acts for the kernel.  One that was attached for a program
 * counts for the user who opened the session, and for the owners of the user
 * namespaces around that user's own: user.max_utrace_engines.  What is counted is
 * the engine, not the tasks that it covers: a fork costs nothing, so it never
 * fails for a limit of somebody who looks on.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/init.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "internal.h"

/* user.max_utrace_engines of the initial user namespace. */
#define UTRACE_ENGINES_OF_USER	1024

static int __init utrace_limit_init(void)
{
	init_user_ns.ucount_max[UCOUNT_UTRACE_ENGINES] = UTRACE_ENGINES_OF_USER;
	return 0;
}
core_initcall(utrace_limit_init);

/* Both who attaches and who opened the session: neither lends rights to the other. */
static bool utrace_acts_privileged(const struct cred *opener)
{
	return !opener ||
	       (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE) &&
		!security_capable(opener, &init_user_ns, CAP_SYS_PTRACE,
				  CAP_OPT_NOAUDIT));
}

/**
 * utrace_charge_engine - count an engine for the user it acts for
 * @engine: an engine that covers nothing yet
 * @opener: credentials of who opened the session, NULL for kernel code
 *
 * Says whether the engine is privileged, too: where a set is built that decides
 * which slots it may have.
 *
 * Context: May sleep.
 * Return: 0; -EUSERS: the user, or the owner of a user namespace around, has as
 * many engines as user.max_utrace_engines allows, or there is no memory.
 */
int utrace_charge_engine(struct utrace_engine *engine, const struct cred *opener)
{
	struct ucounts *ucounts = NULL;

	might_sleep();
	if (opener) {
		ucounts = inc_ucount(opener->user_ns, opener->euid,
				     UCOUNT_UTRACE_ENGINES);
		if (!ucounts)
			return -EUSERS;
	}
	engine->info->ucounts = ucounts;
	engine->info->uid = ucounts ? ucounts->uid : INVALID_UID;
	if (utrace_acts_privileged(opener))
		atomic_or(UTRACE_STATE_PRIVILEGED, &engine->state);
	return 0;
}

/**
 * utrace_uncharge_engine - the engine is gone
 * @engine: the engine, charged or not
 *
 * Context: Any but NMI.
 */
void utrace_uncharge_engine(struct utrace_engine *engine)
{
	if (engine->info->ucounts)
		dec_ucount(engine->info->ucounts, UCOUNT_UTRACE_ENGINES);
}

/**
 * utrace_same_user - do two engines act for one user?
 * @a: an engine that was charged
 * @b: another one
 *
 * Context: Any.
 * Return: true if so; false if either is the kernel's.
 */
bool utrace_same_user(const struct utrace_engine *a, const struct utrace_engine *b)
{
	return uid_valid(a->info->uid) && uid_eq(a->info->uid, b->info->uid);
}

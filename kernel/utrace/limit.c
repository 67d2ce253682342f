// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - limits: the user an engine acts for, and how many engines a user has
 *
 * An engine of kernel code acts for the kernel and is not limited.  An engine
 * that was attached for a program is charged to the user who opened the
 * session, and to the owners of the user namespaces around that user's own, up
 * to user.max_utrace_engines.  Engines are counted, not the tasks that they
 * cover: a fork costs nothing, so it never fails because of the limit of a
 * tracer.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/init.h>
#include <linux/security.h>
#include <linux/user_namespace.h>

#include "internal.h"
#include "limit.h"

/* user.max_utrace_engines of the initial user namespace. */
#define UTRACE_ENGINES_OF_USER	1024

static int __init utrace_limit_init(void)
{
	init_user_ns.ucount_max[UCOUNT_UTRACE_ENGINES] = UTRACE_ENGINES_OF_USER;
	return 0;
}
core_initcall(utrace_limit_init);

/*
 * Check whether an engine is privileged.  The task that attaches and the opener
 * of the session both need CAP_SYS_PTRACE, so that neither lends its rights to
 * the other.
 */
static bool utrace_acts_privileged(const struct cred *opener)
{
	return !opener ||
	       (ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE) &&
		!security_capable(opener, &init_user_ns, CAP_SYS_PTRACE,
				  CAP_OPT_NOAUDIT));
}

/**
 * utrace_charge_engine() - charge an engine to the user it acts for
 * @engine: an engine that covers no task yet
 * @opener: credentials of the task that opened the session, kept by the caller;
 *	NULL: the engine acts for the kernel
 *
 * Also decides whether the engine is privileged, see utrace_is_crowded().
 *
 * Context: Process context of the task that attaches.  May sleep.
 * Return:
 * * 0 - done
 * * -EUSERS - the user, or the owner of a user namespace around, has as many
 *   engines as user.max_utrace_engines allows, or there is no memory
 */
int utrace_charge_engine(struct utrace_engine *engine,
			 const struct cred *opener)
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
 * utrace_uncharge_engine() - undo utrace_charge_engine()
 * @engine: the engine, whose last reference is dropped; charged or not
 *
 * Context: Any but NMI.
 */
void utrace_uncharge_engine(struct utrace_engine *engine)
{
	if (engine->info->ucounts)
		dec_ucount(engine->info->ucounts, UCOUNT_UTRACE_ENGINES);
}

/**
 * utrace_same_user() - check whether two engines act for the same user
 * @a: an engine that was charged; the caller keeps its memory
 * @b: another charged engine; the caller keeps its memory
 *
 * Context: Any.
 * Return: true if they do; false if one of them acts for the kernel.
 */
bool utrace_same_user(const struct utrace_engine *a,
		      const struct utrace_engine *b)
{
	return uid_valid(a->info->uid) && uid_eq(a->info->uid, b->info->uid);
}

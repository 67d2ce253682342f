// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - which arguments of a call are printed, in which order
 *
 * Most calls print the arguments of their rows in their order.  Here are those
 * that do not.
 */
#include <string.h>

#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "shown.h"

static void add(struct utrace_shown *shown, unsigned int arg, const char *name)
{
	shown->args[shown->n].arg = arg;
	shown->args[shown->n].name = name;
	shown->args[shown->n].type = UTRACE_ARG_NONE;
	shown->n++;
}

/* clone() prints names, and only what the flags ask for. */
static void of_clone(struct utrace_shown *shown, const unsigned long args[6],
		     enum utrace_abi abi)
{
	/* The 32-bit table has the last two in another order. */
	unsigned int tls = abi == UTRACE_ABI_IA32 ? 3 : 4;

	add(shown, 1, "child_stack=");
	add(shown, 0, "flags=");
	shown->entry = 2;
	if (args[0] & (CLONE_PARENT_SETTID | CLONE_PIDFD))
		add(shown, 2, "parent_tid=");
	if (args[0] & CLONE_SETTLS)
		add(shown, tls, "tls=");
	if (args[0] & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID))
		add(shown, 7 - tls, "child_tidptr=");
}

/* prctl(PR_SET_SECCOMP) has further arguments only with a filter. */
static void of_seccomp(struct utrace_shown *shown, const unsigned long args[6])
{
	add(shown, 0, NULL);
	add(shown, 1, NULL);
	if (args[1] != SECCOMP_MODE_STRICT)
		add(shown, 2, NULL);
	if (args[1] != SECCOMP_MODE_STRICT && args[1] != SECCOMP_MODE_FILTER) {
		add(shown, 3, NULL);
		add(shown, 4, NULL);
	}
	shown->entry = shown->n;
}

/* Unknown kinds of prctl(PR_SET_VMA) take numbers. */
static void of_set_vma(struct utrace_shown *shown)
{
	unsigned int i;

	for (i = 0; i < 5; i++)
		add(shown, i, NULL);
	shown->args[3].type = UTRACE_ARG_HEX;
	shown->args[4].type = UTRACE_ARG_ADDR;
	shown->entry = shown->n;
}

/**
 * shown_find() - find out which arguments of a call are printed
 * @shown: filled in
 * @call: row of the call
 * @args: its arguments
 * @abi: ABI of the call
 *
 * Return: false if all of them are, in the order of the row.
 */
bool shown_find(struct utrace_shown *shown, const struct utrace_call *call,
		const unsigned long args[6], enum utrace_abi abi)
{
	/* The kernel ignores the upper half of an option of prctl(). */
	__u32 option = args[0];

	shown->n = 0;
	if (call->nargs != 5 || !call->name)
		return false;
	if (!strcmp(call->name, "clone"))
		of_clone(shown, args, abi);
	else if (strcmp(call->name, "prctl"))
		return false;
	else if (option == PR_SET_SECCOMP)
		of_seccomp(shown, args);
	else if (option == PR_SET_VMA && args[1] != PR_SET_VMA_ANON_NAME)
		of_set_vma(shown);
	return shown->n;
}

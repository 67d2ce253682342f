// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - text after the results of system calls
 *
 * Some calls return a number that strace explains: poll() the descriptors that
 * are ready, adjtimex() the state of the clock.  There is one table of the
 * functions that print such a text.
 */
#include <stdbool.h>
#include <string.h>

#include <linux/array_size.h>
#include <linux/utrace.h>

#include "result.h"

typedef void print_function(const struct result *result);

/* A printer begins the text with a blank, or prints nothing. */
static const struct {
	const char *name;
	print_function *print;
} printers[] = {
	{ "_newselect", result_select },
	{ "adjtimex", result_timex },
	{ "clock_adjtime", result_timex },
	{ "clock_adjtime64", result_timex },
	{ "fcntl", result_fcntl },
	{ "fcntl64", result_fcntl },
	{ "ioctl", result_ioctl },
	{ "ioprio_get", result_ioprio },
	{ "poll", result_poll },
	{ "ppoll", result_poll },
	{ "ppoll_time64", result_poll },
	{ "pselect6", result_select },
	{ "pselect6_time64", result_select },
	{ "recvmmsg", result_recvmmsg },
	{ "recvmmsg_time64", result_recvmmsg },
	{ "select", result_select },
	{ "time", result_time },
};

/* Both tables have numbers below this. */
#define TABLE_MAX	640

static print_function *by_number[2][TABLE_MAX];

/* Look up the numbers of the names once, since each call asks. */
static void find_numbers(void)
{
	unsigned int ia32;
	size_t i;
	int nr;

	for (i = 0; i < ARRAY_SIZE(printers); i++) {
		for (ia32 = 0; ia32 < 2; ia32++) {
			nr = utrace_call_nr(printers[i].name, ia32);
			if (nr < 0)
				continue;
			nr &= ~UTRACE_SYSCALL_IA32;
			if (nr < TABLE_MAX)
				by_number[ia32][nr] = printers[i].print;
		}
	}
}

/* Calls that another call stands for have no number in the tables. */
static void print_by_name(const struct result *result)
{
	const struct utrace_call *call = utrace_call_of(result->nr);
	size_t i;

	for (i = 0; call && i < ARRAY_SIZE(printers); i++)
		if (!strcmp(printers[i].name, call->name))
			printers[i].print(result);
}

/**
 * result_print_text() - print the text after the result of a call
 * @result: the call and its result
 */
void result_print_text(const struct result *result)
{
	bool ia32 = result->nr & UTRACE_SYSCALL_IA32;
	__u32 nr = result->nr & ~(UTRACE_SYSCALL_IA32 | UTRACE_X32_BIT);
	static bool found;

	if (!found)
		find_numbers();
	found = true;
	if (result->nr & UTRACE_NR_UNPACKED) {
		print_by_name(result);
		return;
	}
	if (nr < TABLE_MAX && by_number[ia32][nr])
		by_number[ia32][nr](result);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - signals that end the command
 */
#ifndef UTRACE_CMD_SIGNALS_H
#define UTRACE_CMD_SIGNALS_H

#include <stdbool.h>

/* When the command can be interrupted; the values of strace's option -I. */
enum interruptible {
	INTERRUPT_DEFAULT,
	INTERRUPT_ANYWHERE,	/* a signal ends the command at once */
	INTERRUPT_WAITING,	/* it detaches, prints its records, and ends */
	INTERRUPT_NEVER,	/* the signals are ignored */
	INTERRUPT_NEVER_TSTP,	/* and so is SIGTSTP */
};

int signals_set_up(enum interruptible interruptible);
void signals_restore(void);
int signals_take(int fd, bool *child);
void signals_die_of(int number);

#endif /* UTRACE_CMD_SIGNALS_H */

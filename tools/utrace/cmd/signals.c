// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - signals that end the command
 *
 * SIGHUP, SIGINT, SIGQUIT, SIGPIPE and SIGTERM interrupt the command, or are
 * ignored, so that only the traced program handles them: a terminal sends them
 * to both.  Programs that the command starts get the original actions and mask
 * of the command.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <linux/array_size.h>

#include "lib/fail.h"
#include "signals.h"

static const int fatal[] = { SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM };

/* The signals whose actions are changed; @saved has their original actions. */
static const int changed[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGTSTP, SIGCHLD,
};

static struct sigaction saved[ARRAY_SIZE(changed)];
static sigset_t saved_mask;

/**
 * signals_set_up() - begin to take signals
 * @interruptible: which signals interrupt the command, not INTERRUPT_DEFAULT
 *
 * SIGCHLD is set to its default even if the command was started with SIGCHLD
 * ignored: otherwise the status of a child would be lost.
 *
 * Return: a descriptor for poll() and signals_take().
 */
int signals_set_up(enum interruptible interruptible)
{
	bool wait = interruptible == INTERRUPT_WAITING;
	sigset_t set;
	size_t i;
	int fd;

	for (i = 0; i < ARRAY_SIZE(changed); i++)
		sigaction(changed[i], NULL, &saved[i]);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, NULL, &saved_mask);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (i = 0; i < ARRAY_SIZE(fatal); i++) {
		if (interruptible >= INTERRUPT_NEVER)
			signal(fatal[i], SIG_IGN);
		else if (wait)
			signal(fatal[i], SIG_DFL);
		/* What was blocked before the command began stays blocked. */
		if (wait && !sigismember(&saved_mask, fatal[i]))
			sigaddset(&set, fatal[i]);
	}
	if (interruptible == INTERRUPT_NEVER_TSTP)
		signal(SIGTSTP, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		fail("signalfd", strerror(errno));
	return fd;
}

/* Restore what signals_set_up() has changed, for a program to be executed. */
void signals_restore(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(changed); i++)
		sigaction(changed[i], &saved[i], NULL);
	sigprocmask(SIG_SETMASK, &saved_mask, NULL);
}

/**
 * signals_take() - read the pending signals
 * @fd: descriptor of signals_set_up()
 * @child: set to true if a child has changed its state, else unchanged
 *
 * Return: the first signal that interrupts, 0 if there is none.
 */
int signals_take(int fd, bool *child)
{
	struct signalfd_siginfo info;
	int interrupted = 0;

	while (read(fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			*child = true;
		else if (!interrupted)
			interrupted = info.ssi_signo;
	}
	return interrupted;
}

/* End the command by a signal. */
void signals_die_of(int number)
{
	sigset_t set;

	/*
	 * The program may have written a core file; do not write a second one.
	 */
	setrlimit(RLIMIT_CORE, &(struct rlimit){});
	prctl(PR_SET_DUMPABLE, 0);
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

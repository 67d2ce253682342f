/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace - user_events that are registered
 */
#ifndef UTRACE_MARKER_USER_H
#define UTRACE_MARKER_USER_H

#include <stdbool.h>
#include <sys/types.h>

/* Prefix of the names of user_events in the command line and the output. */
#define USER_PREFIX	"user:"

/* Bytes of a state for people, such as "failed EOPNOTSUPP", with the NUL. */
#define USER_STATE_SIZE	48

/**
 * struct user_registration - a user_event that a process has registered
 * @event: name of the event in tracefs, which may have a number at its end
 * @name: the name that the program has given
 * @pid: the process
 * @state: off, enabled, pending, or failed and the reason, as "failed EBUSY"
 */
struct user_registration {
	const char *event;
	const char *name;
	pid_t pid;
	char state[USER_STATE_SIZE];
};

/*
 * Called for each registration.  The names are valid until the function
 * returns.
 */
typedef void user_registration_function(const struct user_registration *reg,
					void *data);

/* Called for each user_event with the name that programs give to it. */
typedef void user_event_function(const char *name, void *data);

int user_events_read(user_event_function *function, void *data);
int user_registrations_read(user_registration_function *function, void *data);

#endif /* UTRACE_MARKER_USER_H */

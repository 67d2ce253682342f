// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - user_events that are registered
 *
 * Two files of tracefs list them: user_events_status has the events, and
 * user_events_processes the processes that have registered them.  If an event
 * may have several formats, tracefs appends a number to its name, as "name.1f",
 * which programs do not use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/errname.h>

#include "lib/memory.h"
#include "tracefs.h"
#include "user.h"

#define STATUS		"user_events_status"
#define PROCESSES	"user_events_processes"

/* Return the name that programs give to an event.  The caller frees it. */
static char *name_of(const char *event)
{
	char *path = xasprintf(TRACEFS "/events/user_events_multi/%s", event);
	char *name = checked(strdup(event)), *dot = strrchr(name, '.');

	if (dot && !access(path, F_OK))
		*dot = '\0';
	free(path);
	return name;
}

/**
 * user_events_read() - list all user_events
 * @function: called for each of them
 * @data: its argument
 *
 * Return: 0, or -1 with errno, see tracefs_why_not().
 */
int user_events_read(user_event_function *function, void *data)
{
	FILE *file = tracefs_open(STATUS);
	char *line = NULL, *name;
	size_t size = 0;

	if (!file)
		return -1;
	/* An empty line precedes the sums. */
	while (getline(&line, &size, file) > 1) {
		line[strcspn(line, "\n ")] = '\0';
		name = name_of(line);
		function(name, data);
		free(name);
	}
	free(line);
	fclose(file);
	return 0;
}

static void read_registration(char *line, user_registration_function *function,
			      void *data)
{
	struct user_registration reg = {};
	char *event = NULL, *name, state[16];
	int error = 0;

	if (sscanf(line, "%ms %d %15s %d", &event, &reg.pid, state, &error) >= 3) {
		name = name_of(event);
		reg.event = event;
		reg.name = name;
		snprintf(reg.state, sizeof(reg.state), "%s%s%s", state,
			 error ? " " : "", error ? errname(error) ?: "?" : "");
		function(&reg, data);
		free(name);
	}
	free(event);
}

/**
 * user_registrations_read() - list the user_events that processes have
 *	registered
 * @function: called for each event and process
 * @data: its argument
 *
 * Return: 0, or -1 with errno, see tracefs_why_not().
 */
int user_registrations_read(user_registration_function *function, void *data)
{
	FILE *file = tracefs_open(PROCESSES);
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return -1;
	while (getline(&line, &size, file) > 0)
		read_registration(line, function, data);
	free(line);
	fclose(file);
	return 0;
}

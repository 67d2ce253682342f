/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - uprobe events of tracefs, at the places of the library
 */
#ifndef UTRACE_SITES_EVENTS_H
#define UTRACE_SITES_EVENTS_H

#include "sites.h"

#include <linux/perf_event.h>

#define TRACEFS		"/sys/kernel/tracing/"

static inline int write_tracefs(const char *name, const char *text)
{
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), TRACEFS "%s", name);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	need(fd >= 0, path);
	ret = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* The name of an event, which no other test has. */
static inline const char *event_name(char kind)
{
	static char name[32];

	snprintf(name, sizeof(name), "%c%d", kind, getpid());
	return name;
}

/* Make an event: 'p' for hits, 'r' for returns.  It has its kind's name. */
static inline int add_event(char kind, enum place place, __u64 semaphore)
{
	char text[256], counter[32] = "";

	if (semaphore)
		snprintf(counter, sizeof(counter), "(0x%llx)", semaphore);
	snprintf(text, sizeof(text), "%c:utrace_test/%s %s:0x%llx%s\n", kind,
		 event_name(kind), library[0], site[place].offset, counter);
	return write_tracefs("uprobe_events", text);
}

static inline int switch_event(char kind, bool on)
{
	char name[64];

	snprintf(name, sizeof(name), "events/utrace_test/%s/enable",
		 event_name(kind));
	return write_tracefs(name, on ? "1" : "0");
}

/* The number of an event for perf_event_open(2). */
static inline int event_id(char kind)
{
	char path[96];
	FILE *file;
	int id;

	snprintf(path, sizeof(path), TRACEFS "events/utrace_test/%s/id",
		 event_name(kind));
	file = fopen(path, "re");
	need(file && fscanf(file, "%d", &id) == 1, path);
	fclose(file);
	return id;
}

static inline void remove_event(char kind)
{
	char text[64];

	snprintf(text, sizeof(text), "-:utrace_test/%s\n", event_name(kind));
	need(!write_tracefs("uprobe_events", text), "remove an event");
}

/* How often an event was hit by all processes, or -1. */
static inline long event_hits(char kind)
{
	FILE *file = fopen(TRACEFS "uprobe_profile", "re");
	char line[512], name[64];
	long hits, found = -1;

	need(file, "uprobe_profile");
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %63s %ld", name, &hits) == 2 &&
		    !strcmp(name, event_name(kind)))
			found = hits;
	fclose(file);
	return found;
}

static inline void begin_event(char kind, enum place place)
{
	need(!add_event(kind, place, site[place].semaphore), "uprobe_events");
	need(!switch_event(kind, true), "enable an event");
}

static inline void end_event(char kind)
{
	need(!switch_event(kind, false), "disable an event");
	remove_event(kind);
}

static inline bool has_tracefs(void)
{
	return !access(TRACEFS "uprobe_events", W_OK);
}

#define NO_TRACEFS	"no uprobe_events in " TRACEFS

/* Events of perf, which count the hits of one process. */

#define PERF_TYPE	"/sys/bus/event_source/devices/uprobe/type"

/* An offset of a file, with a counter; without uprobes of perf, what cannot be opened. */
static inline struct perf_event_attr perf_at(const char *path, __u64 offset, __u64 semaphore)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = semaphore << 32,
		.uprobe_path = (uintptr_t)path,
		.probe_offset = offset,
	};
	FILE *type = fopen(PERF_TYPE, "re");

	if (!type || fscanf(type, "%u", &attr.type) != 1)
		attr.type = -1;
	if (type)
		fclose(type);
	return attr;
}

static inline struct perf_event_attr perf_of(enum place place)
{
	return perf_at(library[0], site[place].offset, site[place].semaphore);
}

/* Open an event; returns its descriptor, or -errno. */
static inline int open_perf(pid_t pid, struct perf_event_attr attr)
{
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static inline long perf_hits(int fd)
{
	__u64 hits;

	need(read(fd, &hits, sizeof(hits)) == sizeof(hits), "a perf event");
	return hits;
}

#endif /* UTRACE_SITES_EVENTS_H */

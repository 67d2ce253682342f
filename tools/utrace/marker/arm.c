// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arm markers in a process
 *
 * The process is a target of a session.  The markers and the user_events are
 * armed for the target.
 */
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/utrace_marker.h>

#include "arm.h"
#include "dev/session.h"
#include "histogram.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "set.h"

/* Add the target.  @what is the start of the message if that fails. */
static void attach(struct marker_arming *arming, enum utrace_scope scope, int pidfd,
		   const char *what)
{
	struct utrace_ioc_attach attach = {
		.where = { .scope = scope, .fd = pidfd },
	};

	if (ioctl(arming->session, UTRACE_IOC_ATTACH, &attach))
		fail(what, scope == UTRACE_SCOPE_SYSTEM ?
			   session_why_not_all(errno) : session_why_not(errno));
	arming->target = attach.id;
}

/**
 * marker_attach() - attach to a process
 * @arming: with the session set; the rest is filled in
 * @pid: the process
 * @follow: trace markers in new processes as well
 *
 * The command ends with a message if that is not possible.
 */
void marker_attach(struct marker_arming *arming, pid_t pid, bool follow)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	char what[48];

	snprintf(what, sizeof(what), "attaching to process %d", pid);
	if (pidfd < 0)
		fail(what, session_why_not(errno));
	attach(arming, follow ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS, pidfd, what);
	close(pidfd);
}

/* Attach to all processes except this one.  See marker_attach(). */
void marker_attach_all(struct marker_arming *arming)
{
	attach(arming, UTRACE_SCOPE_SYSTEM, -1, "attaching to all processes");
}

/*
 * Return the argument of the histogram, or NULL if the marker does not have it.
 */
static const struct marker_arg *sorted_by(const struct marker_arming *arming,
					  const struct site *site)
{
	unsigned int n = arming->histogram;

	return n && n <= site->at.args.n && site->at.args.arg[n - 1].known ?
	       &site->at.args.arg[n - 1] : NULL;
}

/*
 * Return whether the kernel makes a histogram of the hits of a marker, counts
 * them, or records them (0).
 */
static __u32 flags_of(const struct marker_arming *arming, const struct site *site)
{
	if (sorted_by(arming, site))
		return UTRACE_ARM_F_HISTOGRAM;
	if (arming->count || (arming->histogram && !site->user_event))
		return UTRACE_ARM_F_COUNT;
	return 0;
}

/* Fill in the marker, with the arguments that the kernel must read. */
static struct utrace_marker place_of(const struct marker_arming *arming,
				     const struct site *site)
{
	const struct marker_arg *by = sorted_by(arming, site);
	struct utrace_marker place = {
		.fd = site->fd,
		.flags = site->at.flags,
		.offset = site->at.offset,
		.semaphore = site->at.semaphore,
	};

	if (by)
		place.args[place.nargs++] = by->where;
	if (flags_of(arming, site))
		return place;
	for (; place.nargs < site->at.args.n; place.nargs++)
		place.args[place.nargs] = site->at.args.arg[place.nargs].where;
	return place;
}

/* Arm a marker.  Returns 0, or -1 with errno. */
static int arm(const struct marker_arming *arming, const struct marker_set *set,
	       size_t n)
{
	const struct site *site = &set->sites[n];
	const struct utrace_user_event event = {
		.name = (uintptr_t)site->user_event,
	};
	const struct utrace_marker place = place_of(arming, site);
	struct utrace_ioc_arm arm = {
		.target = arming->target,
		.type = UTRACE_ARM_MARKER,
		.flags = flags_of(arming, site),
		.cookie = n,
		.spec = (uintptr_t)&place,
		.spec_size = sizeof(place),
	};

	if (site->user_event) {
		arm.type = UTRACE_ARM_USER_EVENT;
		arm.spec = (uintptr_t)&event;
		arm.spec_size = sizeof(event);
	}
	return ioctl(arming->session, UTRACE_IOC_ARM, &arm);
}

/*
 * Explain why a marker cannot be armed.  @fatal: no other marker can be armed.
 */
static const char *why_not(int error, bool *fatal)
{
	*fatal = false;
	switch (error) {
	case EEXIST:
		return "another MARKER is at the same place";
	case EBUSY:
		return "the process has changed its code there, or a debugger has a "
		       "breakpoint there; remove that breakpoint";
	case EOPNOTSUPP:
		return "no breakpoint is possible there, or this kernel has no "
		       "breakpoints (CONFIG_UTRACE_SITES)";
	case ENXIO:
		return "the process has mapped only a part of the instruction";
	case EACCES:
		return "the file is on FUSE, or on a stacked file system such as "
		       "overlayfs; copy it to another one, or trace as root";
	case EIO:
		return "the file system cannot have breakpoints; copy the file to "
		       "another one";
	case ENOSPC:
		*fatal = true;
		return "there are too many markers for one trace; give fewer "
		       "MARKERs (the kernel takes 1024 markers and "
		       "user_events)";
	case EUSERS:
		*fatal = true;
		return "you trace too many markers, or have too many engines; "
		       "give fewer MARKERs, end other traces, or raise "
		       "/proc/sys/user/max_utrace_sites or max_utrace_engines";
	case ENOTTY:
		*fatal = true;
		return "this kernel has no markers: boot one with "
		       "CONFIG_UTRACE_MARKERS";
	default:
		*fatal = true;
		return session_why_not(error);
	}
}

/* Explain why a user_event cannot be armed.  @fatal: as in why_not(). */
static const char *why_not_user_event(int error, bool *fatal)
{
	*fatal = false;
	switch (error) {
	case EEXIST:
		return "another MARKER is this user_event, or has the same bit";
	case EUSERS:
		return "the program had too many engines when it began; end other "
		       "traces, or raise /proc/sys/user/max_utrace_engines, and start "
		       "the program again";
	case EOPNOTSUPP:
		return "this kernel has no user_events: boot one with "
		       "CONFIG_USER_EVENTS";
	case EINVAL:
		return "a name has at most 511 characters";
	default:
		return why_not(error, fatal);
	}
}

/* Print why a marker is not armed, with its file. */
static void say_of_site(const struct marker_set *set, const struct site *site,
			const char *why)
{
	const char *name = set->markers[site->marker].name;
	char path[PATH_MAX] = "", *what, link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", site->fd);
	if (site->user_event ||
	    readlink(link, path, sizeof(path) - 1) <= 0) {
		say(name, why);
		return;
	}
	what = xasprintf("%s of %s", name, path);
	say(what, why);
	free(what);
}

/**
 * marker_arm() - arm markers
 * @arming: how
 * @set: the markers; sets @armed of those that are armed
 *
 * If a marker cannot be armed, print a message and skip it.  The command ends
 * with a message if none is armed.
 *
 * Return: the number of armed markers.
 */
size_t marker_arm(struct marker_arming *arming, struct marker_set *set)
{
	size_t i, armed = 0;
	const char *why;
	bool fatal;

	for (i = 0; i < set->nsites; i++) {
		struct site *site = &set->sites[i];

		site->armed = !arm(arming, set, i);
		armed += site->armed;
		if (site->armed) {
			set->markers[site->marker].armed = true;
			continue;
		}
		/* The first ARM attaches another engine to the process. */
		if (!armed && errno == ENOSPC)
			fail("arming", session_why_not(errno));
		why = site->user_event ? why_not_user_event(errno, &fatal) :
					 why_not(errno, &fatal);
		say_of_site(set, site, why);
		if (fatal)
			exit(STATUS_FAILED);
	}
	if (!armed)
		fail("arming", "no marker could be armed");
	return armed;
}

/*
 * Make poll(2) report POLLPRI again at the next change of a word, for example
 * when a process registers a user_event.
 */
void marker_look_at_words(const struct marker_arming *arming)
{
	struct utrace_ioc_list list = {
		.what = UTRACE_LIST_ARMED,
		.rows.size = sizeof(struct utrace_armed),
		.target = arming->target,
	};

	ioctl(arming->session, UTRACE_IOC_LIST, &list);
}

/* Add the histogram of a marker to that of its name. */
static void read_histogram(const struct marker_arming *arming,
			   struct marker_set *set,
			   const struct utrace_hit_count *count)
{
	const struct site *site = &set->sites[count->cookie];
	/* Without this argument all values count as unreadable. */
	__u64 buckets[UTRACE_BUCKETS] = {
		[UTRACE_BUCKET_UNREADABLE] = count->hits,
	};
	struct utrace_ioc_hits read = {
		.rows = {
			.at = (uintptr_t)buckets,
			.n = UTRACE_BUCKETS,
			.size = sizeof(*buckets),
		},
		.target = arming->target,
		.id = count->id,
		.what = UTRACE_HITS_HISTOGRAM,
	};

	if (sorted_by(arming, site) &&
	    ioctl(arming->session, UTRACE_IOC_HITS, &read))
		fail("reading a histogram", strerror(errno));
	if (count->hits)
		histogram_add_all(marker_set_histogram(set, site), buckets);
}

/*
 * Read the counts of hits and missed returns, then detach the target, which
 * disarms the markers and ends the recording.
 */
void marker_read_hits(struct marker_arming *arming, struct marker_set *set)
{
	struct utrace_hit_count *count =
		checked(calloc(set->nsites, sizeof(*count)));
	struct utrace_ioc_hits read = {
		.rows = {
			.at = (uintptr_t)count,
			.n = set->nsites,
			.size = sizeof(*count),
		},
		.target = arming->target,
		.what = UTRACE_HITS_COUNT,
	};
	struct utrace_ioc_detach detach = { .id = arming->target };
	struct site *site;
	__u32 i;

	if (ioctl(arming->session, UTRACE_IOC_HITS, &read))
		fail("reading the counts", strerror(errno));
	for (i = 0; i < read.rows.n; i++) {
		site = &set->sites[count[i].cookie];
		set->markers[site->marker].hits += count[i].hits;
		set->markers[site->marker].missed += count[i].missed;
		if (arming->histogram && !site->user_event)
			read_histogram(arming, set, &count[i]);
	}
	free(count);
	ioctl(arming->session, UTRACE_IOC_DETACH, &detach);
}

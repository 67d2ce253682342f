// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - arm markers in a process
 *
 * The process is a target of a session, for the records of hits, and has words
 * by a descriptor, which arms the markers and the user_events.
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

#include "fail.h"
#include "markers_arm.h"
#include "markers_histogram.h"
#include "markers_set.h"
#include "session.h"

/* Add the target.  Returns its id, or -1 with errno. */
static int attach(int session, int pidfd, enum utrace_scope scope)
{
	struct utrace_ioc_attach attach = {
		.where = { .scope = scope, .fd = pidfd },
	};

	return ioctl(session, UTRACE_IOC_ATTACH, &attach) ? -1 : (int)attach.id;
}

/* Attach to what @words says; @what tells the user in an error what was tried. */
static void attach_to(struct marker_arming *arming,
		      struct utrace_ioc_words *words, const char *what)
{
	int target = attach(arming->session, words->pidfd, words->scope);

	if (target < 0)
		fail(what, session_why_not(errno));
	words->target = target;
	arming->words = ioctl(arming->session, UTRACE_IOC_WORDS, words);
	if (arming->words < 0)
		fail(what, errno == ENOTTY ?
		     "this kernel has no markers: boot one with CONFIG_UTRACE_MARKERS" :
		     session_why_not(errno));
}

/**
 * marker_attach() - attach to a process
 * @arming: has the session; the rest is filled in
 * @pid: the process
 * @follow: markers are traced in new processes, too
 *
 * The command ends with a message if that is not possible.
 */
void marker_attach(struct marker_arming *arming, pid_t pid, bool follow)
{
	struct utrace_ioc_words words = {
		.pidfd = syscall(SYS_pidfd_open, pid, 0),
		.scope = follow ? UTRACE_SCOPE_TREE : UTRACE_SCOPE_PROCESS,
	};
	char what[48];

	snprintf(what, sizeof(what), "attaching to process %d", pid);
	if (words.pidfd < 0)
		fail(what, session_why_not(errno));
	attach_to(arming, &words, what);
	close(words.pidfd);
}

/* Attach to all processes; hits of this one are left out.  See marker_attach(). */
void marker_attach_all(struct marker_arming *arming)
{
	struct utrace_ioc_words words = {
		.pidfd = -1,
		.scope = UTRACE_SCOPE_SYSTEM,
	};

	attach_to(arming, &words, "attaching to all processes");
}

/* The argument that the kernel is to sort hits by, NULL if the site has none. */
static const struct marker_arg *sorted_by(const struct marker_arming *arming,
					  const struct site *site)
{
	unsigned int n = arming->histogram;

	return n && n <= site->at.args.n && site->at.args.arg[n - 1].known ?
	       &site->at.args.arg[n - 1] : NULL;
}

static struct utrace_ioc_marker request(const struct marker_arming *arming,
					const struct marker_set *set, size_t n)
{
	const struct site *site = &set->sites[n];
	const struct marker_arg *by = sorted_by(arming, site);
	struct utrace_ioc_marker marker = {
		.fd = site->fd,
		.flags = site->at.flags,
		.offset = site->at.offset,
		.semaphore = site->at.semaphore,
		.id = n,
	};

	if (by) {
		marker.flags |= UTRACE_MARKER_HISTOGRAM;
		marker.args[marker.nargs++] = by->where;
		return marker;
	}
	if (arming->count || arming->histogram) {
		marker.flags |= UTRACE_MARKER_COUNT;
		return marker;
	}
	for (; marker.nargs < site->at.args.n; marker.nargs++)
		marker.args[marker.nargs] =
			site->at.args.arg[marker.nargs].where;
	return marker;
}

static int arm_user_event(const struct marker_arming *arming,
			  const struct marker_set *set, size_t n)
{
	struct utrace_ioc_user_event event = {
		.name = (uintptr_t)set->sites[n].user_event,
		.id = n,
		.flags = arming->count ? UTRACE_MARKER_COUNT : 0,
	};

	return ioctl(arming->words, UTRACE_IOC_USER_EVENT_ARM, &event);
}

/* Arm a site.  Returns 0, or -1 with errno. */
static int arm(const struct marker_arming *arming, const struct marker_set *set,
	       size_t n)
{
	struct utrace_ioc_marker marker;

	if (set->sites[n].user_event)
		return arm_user_event(arming, set, n);
	marker = request(arming, set, n);
	return ioctl(arming->words, UTRACE_IOC_MARKER_ARM, &marker);
}

/* Why a marker cannot be armed; @fatal: neither can the others. */
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
		return "there can be no breakpoint, or this kernel has none "
		       "(CONFIG_UTRACE_SITES)";
	case EIO:
		return "the file system cannot have breakpoints; copy the file to "
		       "another one";
	case ENOSPC:
		*fatal = true;
		return "there are too many sites for one trace; give fewer MARKERs "
		       "(the kernel takes 1024 sites and user_events)";
	case EUSERS:
		*fatal = true;
		return "you trace too many sites; give fewer MARKERs, end other traces, "
		       "or raise /proc/sys/user/max_utrace_sites";
	default:
		*fatal = true;
		return session_why_not(error);
	}
}

/* Likewise, for a user_event. */
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
	case ENOTTY:
		return "this kernel cannot trace user_events of one process: it is "
		       "older than this command";
	case EINVAL:
		return "a name has 511 characters at most";
	default:
		*fatal = true;
		return session_why_not(error);
	}
}

/* Tell the user of a site that is not armed, with its file. */
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
	if (asprintf(&what, "%s of %s", name, path) < 0)
		fail("memory", "there is not enough");
	say(what, why);
	free(what);
}

/**
 * marker_arm() - arm markers
 * @arming: how
 * @set: the markers, whose sites that are armed are noted
 *
 * A site that cannot be armed is told and left out.  The command ends with a
 * message if there is none.
 *
 * Return: the number of sites that are armed.
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
		if (site->user_event && errno != ENOSPC)
			why = why_not_user_event(errno, &fatal);
		else
			why = why_not(errno, &fatal);
		say_of_site(set, site, why);
		if (fatal)
			exit(STATUS_FAILED);
	}
	if (!armed)
		fail("arming", "no marker could be armed");
	return armed;
}

/*
 * Look at the words, so that poll(2) tells again when one of them comes.  A
 * process may have registered a user_event.
 */
void marker_look_at_words(const struct marker_arming *arming)
{
	struct utrace_ioc_word_list list = {};

	ioctl(arming->words, UTRACE_IOC_WORD_LIST, &list);
}

/* Add how the hits of a site are spread to the histogram of its marker. */
static void read_histogram(const struct marker_arming *arming,
			   struct marker_set *set, const struct site *site,
			   __u64 hits)
{
	/* Without this argument no value of the site can be read. */
	__u64 buckets[UTRACE_MARKER_BUCKETS] = { [UTRACE_MARKER_UNREADABLE] = hits };
	struct utrace_ioc_marker_histogram histogram = {
		.id = site - set->sites,
		.buckets = (uintptr_t)buckets,
		.n = UTRACE_MARKER_BUCKETS,
	};

	if (sorted_by(arming, site) &&
	    ioctl(arming->words, UTRACE_IOC_MARKER_HISTOGRAM, &histogram))
		fail("reading a histogram", strerror(errno));
	if (hits)
		histogram_add_all(marker_set_histogram(set, site), buckets);
}

/*
 * Read how often markers were hit and missed, and close the descriptor, which disarms them.
 */
void marker_read_hits(struct marker_arming *arming, struct marker_set *set)
{
	struct utrace_ioc_marker_counts counts = { .n = set->nsites };
	struct utrace_marker_count *count = calloc(set->nsites, sizeof(*count));
	struct site *site;
	__u32 i;

	if (!count)
		fail("memory", "there is not enough");
	counts.counts = (uintptr_t)count;
	if (ioctl(arming->words, UTRACE_IOC_MARKER_COUNTS, &counts))
		fail("reading the counts", strerror(errno));
	for (i = 0; i < counts.n; i++) {
		site = &set->sites[count[i].id];
		set->markers[site->marker].hits += count[i].hits;
		set->markers[site->marker].missed += count[i].missed;
		if (arming->histogram && !site->user_event)
			read_histogram(arming, set, site, count[i].hits);
	}
	free(count);
	close(arming->words);
}

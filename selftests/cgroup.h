/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a cgroup (version 2) for the time of a test
 *
 * The cgroup is made below the file system that is mounted, or below one that
 * is mounted for the test.
 */
#ifndef UTRACE_CGROUP_H
#define UTRACE_CGROUP_H

#include <mntent.h>
#include <sys/mount.h>

#include "common.h"

static char ut_cg_root[PATH_MAX];
static char ut_cg[PATH_MAX + 64];
static bool ut_cg_mounted;

static inline bool ut_cg_find_root(void)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	struct mntent *m;

	ut_cg_root[0] = '\0';
	while (f && (m = getmntent(f)))
		if (!strcmp(m->mnt_type, "cgroup2")) {
			snprintf(ut_cg_root, sizeof(ut_cg_root), "%s",
				 m->mnt_dir);
			break;
		}
	if (f)
		endmntent(f);
	return ut_cg_root[0];
}

/* Make the cgroup; NULL, or why there is none. */
static inline const char *ut_cg_make(const char *controllers)
{
	static char why[256];
	char path[PATH_MAX + 128];
	int ret;

	if (!ut_cg_find_root()) {
		snprintf(ut_cg_root, sizeof(ut_cg_root),
			 "/tmp/utrace_cgroup_XXXXXX");
		if (!mkdtemp(ut_cg_root) ||
		    mount("cgroup2", ut_cg_root, "cgroup2", 0, NULL)) {
			snprintf(why, sizeof(why), "cannot mount cgroup2: %s",
				 strerror(errno));
			return why;
		}
		ut_cg_mounted = true;
	}
	if (controllers) {
		snprintf(path, sizeof(path), "%s/cgroup.subtree_control",
			 ut_cg_root);
		ret = ut_write_file(path, controllers);
		if (ret) {
			snprintf(why, sizeof(why), "no cgroup controller %s: %s",
				 controllers, strerror(-ret));
			return why;
		}
	}
	snprintf(ut_cg, sizeof(ut_cg), "%s/utrace.%d", ut_cg_root, getpid());
	if (mkdir(ut_cg, 0755)) {
		snprintf(why, sizeof(why), "cannot make a cgroup: %s",
			 strerror(errno));
		ut_cg[0] = '\0';
		return why;
	}
	return NULL;
}

/* Write @text to file @name of the cgroup. */
static inline int ut_cg_write(const char *name, const char *text)
{
	char path[PATH_MAX + 128];

	snprintf(path, sizeof(path), "%s/%s", ut_cg, name);
	return ut_write_file(path, text);
}

static inline int ut_cg_add(pid_t pid)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "%d", pid);
	return ut_cg_write("cgroup.procs", buf);
}

/* Is line "@key @value" in file @name of the cgroup? */
static inline bool ut_cg_is(const char *name, const char *key, long value)
{
	char buf[1024], line[128], *p;

	if (ut_read_file(buf, sizeof(buf), "%s/%s", ut_cg, name) <= 0)
		return false;
	snprintf(line, sizeof(line), "%s %ld\n", key, value);
	p = strstr(buf, line);
	return p && (p == buf || p[-1] == '\n');
}

static inline void ut_cg_remove(void)
{
	if (ut_cg[0]) {
		ut_cg_write("cgroup.kill", "1");
		ut_until(!rmdir(ut_cg) || errno == ENOENT);
		ut_cg[0] = '\0';
	}
	if (ut_cg_mounted) {
		umount2(ut_cg_root, MNT_DETACH);
		rmdir(ut_cg_root);
		ut_cg_mounted = false;
	}
}

#endif /* UTRACE_CGROUP_H */

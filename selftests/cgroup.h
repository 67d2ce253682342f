/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a temporary cgroup of a test
 *
 * A cgroup of version 2 is made in the file system that is mounted, or in one
 * that the test mounts.  A cgroup of version 1 is always made in a file system
 * that the test mounts.
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

static char ut_cg_why[256];

static inline const char *ut_cg_no(const char *what)
{
	snprintf(ut_cg_why, sizeof(ut_cg_why), "%s: %s", what, strerror(errno));
	return ut_cg_why;
}

static inline const char *ut_cg_mount(const char *type, const char *controllers)
{
	snprintf(ut_cg_root, sizeof(ut_cg_root), "/tmp/utrace_cgroup_XXXXXX");
	if (!mkdtemp(ut_cg_root) ||
	    mount("none", ut_cg_root, type, 0, controllers))
		return ut_cg_no(type);
	ut_cg_mounted = true;
	return NULL;
}

static inline const char *ut_cg_mkdir(void)
{
	snprintf(ut_cg, sizeof(ut_cg), "%s/utrace.%d", ut_cg_root, getpid());
	if (!mkdir(ut_cg, 0755))
		return NULL;
	ut_cg[0] = '\0';
	return ut_cg_no("cannot make a cgroup");
}

/* Make the cgroup; returns NULL, or why that failed. */
static inline const char *ut_cg_make(const char *controllers)
{
	char path[PATH_MAX + 128];
	const char *why = NULL;

	if (!ut_cg_find_root())
		why = ut_cg_mount("cgroup2", NULL);
	if (why)
		return why;
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", ut_cg_root);
	if (controllers && ut_write_file(path, controllers))
		return ut_cg_no(controllers);
	return ut_cg_mkdir();
}

/*
 * Make a cgroup of version 1 with the freezer; returns NULL, or why that
 * failed.
 */
static inline const char *ut_cg_make_freezer(void)
{
	const char *why = ut_cg_mount("cgroup", "freezer");

	return why ? why : ut_cg_mkdir();
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

/* Check whether file @name of the cgroup has the line "@key @value". */
static inline bool ut_cg_is(const char *name, const char *key, long value)
{
	char buf[1024], line[128], *p;

	if (ut_read_file(buf, sizeof(buf), "%s/%s", ut_cg, name) <= 0)
		return false;
	snprintf(line, sizeof(line), "%s %ld\n", key, value);
	p = strstr(buf, line);
	return p && (p == buf || p[-1] == '\n');
}

/*
 * The number in line "@key number" of memory.stat, -1 if there is none.  The kernel
 * collects the numbers of all CPUs every two seconds, and when cpu.stat is read.
 */
static inline long ut_cg_stat(const char *key)
{
	char buf[8192], line[64], *p;

	if (ut_read_file(buf, sizeof(buf), "%s/cpu.stat", ut_cg) <= 0)
		return -1;
	if (ut_read_file(buf, sizeof(buf), "%s/memory.stat", ut_cg) <= 0)
		return -1;
	snprintf(line, sizeof(line), "\n%s ", key);
	p = strstr(buf, line);
	return p ? atol(p + strlen(line)) : -1;
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

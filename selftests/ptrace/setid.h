/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a set-id program for tests of rights
 */
#ifndef UTRACE_SETID_H
#define UTRACE_SETID_H

#include <sys/sendfile.h>
#include <sys/statvfs.h>

#include "two.h"

#define ELEVATED	two_exit(10)	/* "helper euid" as root */
#define PLAIN		two_exit(20)

/* The set-id program, a copy of the helper. */
static char folder[32];
static char program[64];

static inline bool make_setid(void)
{
	int in, out;
	bool made;

	snprintf(folder, sizeof(folder), "/tmp/two_XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755))
		return false;
	snprintf(program, sizeof(program), "%s/setid", folder);
	in = open(ut_helper(), O_RDONLY | O_CLOEXEC);
	out = open(program, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	made = in >= 0 && out >= 0;
	while (made && sendfile(out, in, NULL, 1 << 20) > 0)
		;
	made = made && !fchmod(out, 04755);
	close(in);
	close(out);
	return made;
}

static inline void remove_setid(void)
{
	unlink(program);
	rmdir(folder);
}

/* Does the file system of the program know no set-id? */
static inline bool setid_is_void(void)
{
	struct statvfs fs;

	return statvfs(folder, &fs) || (fs.f_flag & ST_NOSUID);
}

#endif /* UTRACE_SETID_H */

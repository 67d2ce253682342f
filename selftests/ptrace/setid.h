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

/* Check whether the program's file system ignores set-id bits (nosuid). */
static inline bool setid_is_void(void)
{
	struct statvfs fs;

	return statvfs(folder, &fs) || (fs.f_flag & ST_NOSUID);
}

/* Returns NULL, or why the set-id program cannot be used for a test. */
static inline const char *setid_why_not(void)
{
	if (!two_yama_allows())
		return "yama restricts ptrace";
	if (!make_setid())
		return "no set-id program could be made";
	if (!setid_is_void())
		return NULL;
	remove_setid();
	return "/tmp is a file system without set-id";
}

/* In a child: execute the set-id program with the argument @what. */
static inline __attribute__((noreturn)) void exec_setid(const char *what)
{
	char * const argv[] = { program, (char *)what, NULL };
	char * const envp[] = { NULL };

	execve(program, argv, envp);
	_exit(99);
}

/* Check whether a process of nobody has the rights of the set-id program. */
static inline bool is_elevated(pid_t pid)
{
	char buf[8192], *line;
	int real, effective;

	if (ut_read_file(buf, sizeof(buf), "/proc/%d/status", pid) <= 0)
		return false;
	line = strstr(buf, "\nUid:");
	return line && sscanf(line, "\nUid: %d %d", &real, &effective) == 2 &&
	       real == TWO_NOBODY && !effective;
}

#endif /* UTRACE_SETID_H */

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - launch the program that is traced
 *
 * The program is looked up in PATH before it is started, so that its trace
 * begins with the one execve() that succeeds.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engines.h"
#include "fail.h"
#include "session.h"
#include "trace.h"

static bool is_program(const char *path)
{
	struct stat stat_;

	return !stat(path, &stat_) && S_ISREG(stat_.st_mode) && stat_.st_mode & 0111;
}

/* The status of the command if a program cannot be executed. */
static int status_of(int error)
{
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/*
 * Find the file of a program, in the folders of PATH if the name has no "/".
 * The command ends if there is none.
 */
static char *look_up(const char *name)
{
	const char *folder = getenv("PATH") ?: "/bin:/usr/bin", *end;
	struct stat stat_;
	char *path;

	if (strchr(name, '/')) {
		if (!stat(name, &stat_))
			return strdup(name);
		say(name, strerror(errno));
		exit(status_of(errno));
	}
	for (;; folder = end + 1) {
		end = strchrnul(folder, ':');
		/* An empty folder is the current one. */
		if (asprintf(&path, "%.*s%s%s", (int)(end - folder), folder,
			     end == folder ? "./" : "/", name) < 0)
			abort();
		if (is_program(path))
			return path;
		free(path);
		if (!*end)
			break;
	}
	say(name, "No such file or directory in PATH, nor is it a command of utrace");
	exit(STATUS_NOT_FOUND);
}

static const struct passwd *find_user(const char *name)
{
	const struct passwd *user;

	if (!name)
		return NULL;
	if (getuid())
		fail("-u", "only root can execute a program as another user");
	user = getpwnam(name);
	if (!user)
		fail(name, "there is no such user");
	return user;
}

/* In the child: take the environment, the user and the signals. */
static void prepare(const struct options *options, const struct passwd *user)
{
	unsigned int i;

	for (i = 0; i < options->nenv; i++)
		putenv(options->env[i]);	/* removes what has no "=" */
	if (user && (initgroups(user->pw_name, user->pw_gid) ||
		     setgid(user->pw_gid) || setuid(user->pw_uid))) {
		say(user->pw_name, strerror(errno));
		_exit(STATUS_FAILED);
	}
	signals_restore();
}

/*
 * In the child: say on @ready that all is prepared, wait for @go until it is
 * traced, then become the program.
 */
static void become(const struct options *options, const struct passwd *user,
		   const char *path, int ready, int go)
{
	char byte;
	int error;

	prepare(options, user);
	if (write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(STATUS_FAILED);
	execv(path, options->program);
	error = errno;
	dprintf(STDERR_FILENO, "utrace: %s: %s\n", path, strerror(error));
	_exit(status_of(error));
}

/*
 * Wait until the child waits to be traced, so that none of the calls that it
 * makes before is counted.  It may have died meanwhile.
 */
static void await_child(pid_t child, int ready)
{
	char byte;

	if (read(ready, &byte, 1) != 1)
		return;
	while (task_state(child) == 'R')
		usleep(100);
}

/**
 * trace_launch() - start the program and add it to the trace
 * @trace: the trace, whose events are chosen
 *
 * Without -f the first thread of the program alone is traced.
 */
void trace_launch(struct trace *trace)
{
	const struct options *options = &trace->options;
	const struct passwd *user = find_user(options->user);
	char *path = look_up(options->program[0]);
	int ready[2], go[2];

	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		fail("pipe", strerror(errno));
	trace->child = fork();
	if (trace->child < 0)
		fail("fork", strerror(errno));
	if (!trace->child) {
		close(ready[0]);
		close(go[1]);
		become(options, user, path, ready[1], go[0]);
	}
	close(ready[1]);
	close(go[0]);
	free(path);
	await_child(trace->child, ready[0]);
	close(ready[0]);
	trace->starting = true;
	if (session_attach(trace->session, trace->child, options->follow ?
			   UTRACE_SCOPE_TREE : UTRACE_SCOPE_THREAD))
		fail("attaching to the program", session_why_not(errno));
	if (write(go[1], "", 1) != 1)
		fail("starting the program", strerror(errno));
	close(go[1]);
}

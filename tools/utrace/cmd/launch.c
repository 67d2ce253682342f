// SPDX-License-Identifier: GPL-2.0
/*
 * utrace - launch the program that is traced
 *
 * The command looks up the program in PATH first, so that the trace begins with
 * the one execve() that succeeds.  Between launch_prepare() and launch_go() the
 * child waits until the caller has attached to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines.h"
#include "launch.h"
#include "lib/fail.h"
#include "lib/memory.h"
#include "signals.h"

static bool is_program(const char *path)
{
	struct stat stat_;

	return !stat(path, &stat_) && S_ISREG(stat_.st_mode) && stat_.st_mode & 0111;
}

/* Return the status of the command if a program cannot be executed. */
static int status_of(int error)
{
	return error == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

/*
 * Find the file of a program, in the directories of PATH if the name has no
 * "/".  The command ends if there is none.  Returns a path to be freed.
 */
char *launch_look_up(const char *name)
{
	const char *folder = getenv("PATH") ?: "/bin:/usr/bin", *end;
	struct stat stat_;
	char *path;

	if (strchr(name, '/')) {
		if (!stat(name, &stat_))
			return checked(strdup(name));
		say(name, strerror(errno));
		exit(status_of(errno));
	}
	for (;; folder = end + 1) {
		end = strchrnul(folder, ':');
		/* An empty entry means the current directory. */
		path = xasprintf("%.*s%s%s", (int)(end - folder), folder,
				 end == folder ? "./" : "/", name);
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

/* In the process that becomes the program: set the environment and the user. */
static void prepare(const struct launch *launch, const struct passwd *user)
{
	unsigned int i;

	for (i = 0; i < launch->nenv; i++)
		putenv(launch->env[i]);	/* removes it if there is no "=" */
	if (user && (initgroups(user->pw_name, user->pw_gid) ||
		     setgid(user->pw_gid) || setuid(user->pw_uid))) {
		say(user->pw_name, strerror(errno));
		_exit(STATUS_FAILED);
	}
}

/*
 * In the process that becomes the program: report on @ready that all is
 * prepared, wait on @go until it is traced, then execute the program.
 */
static void become(const struct launch *launch, const struct passwd *user,
		   const char *path, int ready, int go)
{
	char byte;
	int error;

	prepare(launch, user);
	if (write(ready, "", 1) != 1 || read(go, &byte, 1) != 1)
		_exit(STATUS_FAILED);
	execv(path, launch->program);
	error = errno;
	dprintf(STDERR_FILENO, "utrace: %s: %s\n", path, strerror(error));
	_exit(status_of(error));
}

/*
 * Wait until the child waits to be traced, so that its earlier calls are not
 * counted.  The child may also have died.
 */
static void await_child(pid_t child, int ready)
{
	char byte;

	if (read(ready, &byte, 1) != 1)
		return;
	while (task_state(child) == 'R')
		usleep(100);
}

/* In the process that traces: wait for the program's process, and free @path. */
static void take_pipes(struct launch *launch, char *path, const int ready[2],
		       const int go[2])
{
	close(ready[1]);
	close(go[0]);
	free(path);
	await_child(launch->child, ready[0]);
	close(ready[0]);
	launch->go = go[1];
}

/**
 * launch_prepare() - start the child that becomes the program
 * @launch: the program; @child and @go are set
 *
 * The command ends with a message if that fails.
 *
 * Context: after signals_set_up(), which has saved the signal actions of the
 *	program.
 */
void launch_prepare(struct launch *launch)
{
	const struct passwd *user = find_user(launch->user);
	char *path = launch_look_up(launch->program[0]);
	int ready[2], go[2];

	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		fail("pipe", strerror(errno));
	launch->child = fork();
	if (launch->child < 0)
		fail("fork", strerror(errno));
	if (!launch->child) {
		close(ready[0]);
		close(go[1]);
		signals_restore();
		become(launch, user, path, ready[1], go[0]);
	}
	take_pipes(launch, path, ready, go);
}

/**
 * launch_daemon() - start a grandchild that traces this process
 * @launch: the program that this process becomes; @child and @go are set
 * @how: not DAEMON_NONE
 *
 * Only the grandchild returns.  This process waits for launch_go() and executes
 * the program.
 *
 * Context: before signals_set_up().
 */
void launch_daemon(struct launch *launch, enum daemon how)
{
	const struct passwd *user = find_user(launch->user);
	char *path = launch_look_up(launch->program[0]);
	int ready[2], go[2];
	pid_t child;

	if (pipe2(ready, O_CLOEXEC) || pipe2(go, O_CLOEXEC))
		fail("pipe", strerror(errno));
	launch->child = getpid();
	child = fork();
	if (child < 0)
		fail("fork", strerror(errno));
	if (child) {
		close(ready[0]);
		close(go[1]);
		waitpid(child, NULL, 0);
		become(launch, user, path, ready[1], go[0]);
	}
	child = fork();
	if (child)
		_exit(child < 0 ? STATUS_FAILED : 0);
	if (how == DAEMON_SESSION)
		setsid();
	else if (how == DAEMON_PGROUP)
		setpgid(0, 0);
	take_pipes(launch, path, ready, go);
}

/* Let the child execute the program. */
void launch_go(struct launch *launch)
{
	if (write(launch->go, "", 1) != 1)
		fail("starting the program", strerror(errno));
	close(launch->go);
}

/**
 * launch_end_like() - end as the program has ended, by the same signal if a
 *	signal killed it
 * @status: status of the program, as of wait(2)
 *
 * Return: the status of the command, which is that of the program.
 */
int launch_end_like(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (!WIFSIGNALED(status))
		return STATUS_FAILED;
	signals_die_of(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - engines of several users on one task
 *
 * Each user has a limit of engines on a task, and all users together leave
 * places for privileged engines.
 *
 * The task is in a user namespace, where the users have CAP_SYS_PTRACE.  So
 * they may trace the task, but they are not privileged.
 */
#include <linux/capability.h>
#include <sched.h>

#include "dev.h"

/* Limits on a task: for one user, for all users, and the number of places. */
#define OF_ONE		16
#define OF_ALL		40
#define PLACES		48

#define USERS		3
/* The scopes of one process: a session has an engine for each. */
#define SCOPES		3
#define RING		(64 << 10)

static const __u32 scopes[SCOPES] = {
	UTRACE_SCOPE_THREAD, UTRACE_SCOPE_PROCESS, UTRACE_SCOPE_TREE,
};

/*
 * A user that attaches to the task.
 *
 * @engines: the number of engines; each has a session and a scope of its own
 * @fd: the sessions; 0: not opened yet
 */
struct owner {
	int engines;
	int fd[PLACES / SCOPES + 1];
};

/* Attach until an attach fails, or @most times; returns the error or 0. */
static int attach_more(struct owner *owner, pid_t pid, int most)
{
	int i, *fd, ret = 0;

	for (i = 0; i < most; i++) {
		fd = &owner->fd[owner->engines / SCOPES];
		if (!*fd) {
			*fd = session();
			need(!setup(*fd, RING), "setup");
		}
		ret = attach(*fd, pid, scopes[owner->engines % SCOPES]);
		if (ret < 0)
			return ret;
		owner->engines++;
	}
	return 0;
}

static void close_all(struct owner *owner)
{
	unsigned int i;

	for (i = 0; i < sizeof(owner->fd) / sizeof(*owner->fd); i++)
		if (owner->fd[i])
			close(owner->fd[i]);
	memset(owner, 0, sizeof(*owner));
}

/* An order to a user: attach @most more engines, or close all if @most is 0. */
struct wish {
	pid_t pid;
	int most;
};

struct result {
	int engines;
	int error;
};

/* Become a user of the namespace with CAP_SYS_PTRACE only. */
static void become_user(__u32 id)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {};

	need(!prctl(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
	need(!setresgid(id, id, id) && !setresuid(id, id, id), "setresuid");
	data[0].effective = 1U << CAP_SYS_PTRACE;
	data[0].permitted = 1U << CAP_SYS_PTRACE;
	need(!syscall(SYS_capset, &head, data), "capset");
	need(!prctl(PR_SET_DUMPABLE, 1), "PR_SET_DUMPABLE");
}

static int be_user(__u32 id, int socket)
{
	struct owner owner = {};
	struct result result;
	struct wish wish;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	become_user(id);
	while (read(socket, &wish, sizeof(wish)) == sizeof(wish)) {
		result.error = attach_more(&owner, wish.pid, wish.most);
		if (!wish.most)
			close_all(&owner);
		result.engines = owner.engines;
		if (write(socket, &result, sizeof(result)) != sizeof(result))
			return 1;
	}
	return 0;
}

static int pairs[USERS + 1][2];

/* The namespace's init; the last socket pair is for its own messages. */
static int be_namespace(void)
{
	struct target target;
	int own = pairs[USERS][1], i;
	char byte;

	become_nobody();
	need(!unshare(CLONE_NEWUSER) && !prctl(PR_SET_DUMPABLE, 1), "unshare");
	need(write(own, "", 1) == 1 && read(own, &byte, 1) == 1, "maps");
	/* Start the target first, or it would inherit the sessions. */
	start(&target);
	for (i = 0; i < USERS; i++)
		if (!fork())
			_exit(be_user(i + 1, pairs[i][1]));
	need(write(own, &target.pid, sizeof(target.pid)) == sizeof(target.pid),
	     "write");
	/* Wait until the other side closes. */
	if (read(own, &byte, 1))
		return 1;
	stop(&target);
	return 0;
}

static void write_map(pid_t pid, const char *name)
{
	static const char text[] = "0 65534 1\n1 1001 3\n";
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	     path);
	close(fd);
}

static struct result ask(int user, pid_t pid, int most)
{
	struct result result = {};
	struct wish wish = { pid, most };
	int fd = pairs[user][0];

	need(write(fd, &wish, sizeof(wish)) == sizeof(wish) &&
	     read(fd, &result, sizeof(result)) == sizeof(result), "an answer");
	return result;
}

/* Check that a user gets engines up to a total of @want, and no more. */
static void gets(int user, pid_t pid, int want)
{
	struct result result = ask(user, pid, PLACES);

	holds(result.engines == want && result.error == -ENOSPC,
	      "user %d: %d engines of %d, then %d", user + 1, result.engines,
	      want, result.error);
}

static void test_room(pid_t pid)
{
	struct owner root = {};
	int i;

	gets(0, pid, OF_ONE);
	is(OF_ONE, engines(pid), "the first one's");
	gets(1, pid, OF_ONE);
	is(2 * OF_ONE, engines(pid), "and the second one's");
	/* Attach one by one, up to the last place for users. */
	for (i = 2 * OF_ONE; i < OF_ALL && !ask(2, pid, 1).error; i++)
		;
	is(OF_ALL, i, "the third one gets what is left for users");
	is(OF_ALL, engines(pid), "each is there");
	is(-ENOSPC, ask(2, pid, 1).error,
	   "one more is ENOSPC, for the third one");
	is(-ENOSPC, ask(0, pid, 1).error, "as for the others");
	is(OF_ALL, engines(pid), "what is refused leaves no engine");

	is(0, attach_more(&root, pid, PLACES - OF_ALL),
	   "root gets the places that are kept");
	is(PLACES, engines(pid), "then all are taken");
	is(-ENOSPC, attach_more(&root, pid, 1),
	   "and one more is ENOSPC for root, too");
	is(-ENOSPC, ask(2, pid, 1).error, "and for a user");
	is(PLACES, engines(pid), "none has gone for it");

	/* Closing gives places back, up to the same limits. */
	close_all(&root);
	is(OF_ALL, engines(pid), "closed by root");
	is(-ENOSPC, ask(1, pid, 1).error,
	   "the places that are kept are not for users");
	ask(0, pid, 0);
	is(OF_ALL - OF_ONE, engines(pid), "closed by the first one");
	gets(1, pid, OF_ONE);
	gets(2, pid, OF_ONE);
	gets(0, pid, OF_ALL - 2 * OF_ONE);
	is(0, attach_more(&root, pid, PLACES - OF_ALL),
	   "root gets the places again");
	is(-ENOSPC, attach_more(&root, pid, 1), "all of them");
	close_all(&root);
	for (i = 0; i < USERS; i++)
		ask(i, pid, 0);
	is(0, engines(pid), "closed by all: nothing is left");
}

TEST_F(dev, users)
{
	pid_t namespace, pid;
	int i, own, status;
	char byte;

	set_unprivileged("1");
	for (i = 0; i <= USERS; i++)
		need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]),
		     "socketpair");
	fflush(stdout);
	namespace = fork();
	if (!namespace) {
		for (i = 0; i <= USERS; i++)
			close(pairs[i][0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(be_namespace());
	}
	for (i = 0; i <= USERS; i++)
		close(pairs[i][1]);
	own = pairs[USERS][0];
	need(read(own, &byte, 1) == 1, "a namespace");
	write_map(namespace, "uid_map");
	write_map(namespace, "gid_map");
	need(write(own, "", 1) == 1 &&
	     read(own, &pid, sizeof(pid)) == sizeof(pid),
	     "a task");
	test_room(pid);
	for (i = 0; i <= USERS; i++)
		close(pairs[i][0]);
	waitpid(namespace, &status, 0);
	is(0, status, "the namespace ends");
}

TEST_HARNESS_MAIN

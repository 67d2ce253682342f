// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - an unprivileged user fills a process with engines
 *
 * The process belongs to the user.  Either the user gets no session, or the
 * engines do no harm: a session of system scope that comes later sees every
 * call, and a caller with CAP_SYS_PTRACE still gets a place.
 */
#include <sched.h>

#include "dev.h"

/* More engines than any task has room for. */
#define CROWD		64
/* The most engines of one unprivileged user on a task. */
#define MOST		16
#define MARKS		100

/* How the process is filled. */
enum way {
	BY_SESSIONS, /* each attached to the process */
	BY_SCOPES, /* one session on the trees of all ancestors */
	BY_ANCESTORS, /* one session, attached to the trees of all ancestors */
	NWAYS
};

static const char * const ways[] = { "sessions", "scopes", "ancestors" };

struct attack {
	enum way way;
	bool namespace;
	int socket;
};

struct filled {
	int open;	/* 0 or -errno */
	int engines;	/* number of engines */
	int error;	/* of the first attach that is refused, or 0 */
	pid_t pid;	/* the process that is filled */
};

static pid_t *chain;
static int orders[2], answers[2];

/* The last process of a chain makes marker calls. */
static void be_chain(void)
{
	int depth;
	char byte;

	for (depth = 0; ; depth++) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		chain[depth] = getpid();
		if (depth + 1 == CROWD)
			break;
		if (fork())
			for (;;)
				pause();
	}
	if (write(answers[1], "", 1) != 1)
		_exit(1);
	while (read(orders[0], &byte, 1) == 1) {
		mark(MARKS);
		if (write(answers[1], "", 1) != 1)
			break;
	}
	_exit(0);
}

static void add(struct filled *filled, int fd, pid_t pid, __u32 scope)
{
	int ret = attach(fd, pid, scope);

	if (ret > 0)
		filled->engines++;
	else if (!filled->error)
		filled->error = ret;
}

static void fill(struct filled *filled, enum way way)
{
	int i, fd = -1;

	for (i = 0; i < CROWD; i++) {
		if (way != BY_ANCESTORS || !i) {
			fd = try_session();
			if (fd < 0) {
				filled->open = fd;
				return;
			}
			/*
			 * A small ring keeps RLIMIT_MEMLOCK from refusing the
			 * session.
			 */
			if (setup(fd, 64 << 10))
				return;
		}
		if (way == BY_SCOPES) {
			add(filled, fd, filled->pid, UTRACE_SCOPE_THREAD);
			add(filled, fd, filled->pid, UTRACE_SCOPE_TREE);
		}
		if (way == BY_ANCESTORS)
			add(filled, fd, chain[i], UTRACE_SCOPE_TREE);
		else
			add(filled, fd, filled->pid, UTRACE_SCOPE_PROCESS);
	}
}

static int attacker(void *arg)
{
	struct attack *attack = arg;
	struct filled filled = {};
	char byte;
	pid_t pid;

	become_nobody();
	if (attack->namespace &&
	    (unshare(CLONE_NEWUSER) || prctl(PR_SET_DUMPABLE, 1)))
		return 1;
	pid = fork();
	if (!pid)
		be_chain();
	if (read(answers[0], &byte, 1) != 1)
		return 1;
	filled.pid = chain[CROWD - 1];
	fill(&filled, attack->way);
	if (write(attack->socket, &filled, sizeof(filled)) != sizeof(filled))
		return 1;
	/*
	 * The other side orders the marker calls; this side keeps its sessions
	 * open.
	 */
	if (read(attack->socket, &byte, 1) < 0)
		return 1;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

static bool has_marks_made(void)
{
	struct pollfd pfd = { .fd = answers[0], .events = POLLIN };
	char byte;

	return write(orders[1], "", 1) == 1 &&
	       poll(&pfd, 1, DEADLINE_MS) == 1 &&
	       read(answers[0], &byte, 1) == 1;
}

static void test_attack(const char *value, bool namespace, enum way way)
{
	struct attack attack = { .way = way, .namespace = namespace };
	struct filled filled = {};
	int pair[2], fd, one, status;
	pid_t pid;

	printf("# %s: %s, %s\n", value, ways[way],
	       namespace ? "in a namespace" : "in the initial namespace");
	set_unprivileged(value);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	need(!pipe(orders) && !pipe(answers), "pipe");
	attack.socket = pair[1];
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		_exit(attacker(&attack));
	}
	close(pair[1]);
	need(read(pair[0], &filled, sizeof(filled)) == sizeof(filled),
	     "an attack");
	if (*value == '0')
		is(-EPERM, filled.open, "refused: open");
	else
		holds(filled.engines > 0 && filled.engines <= MOST &&
		      filled.error == -ENOSPC,
		      "%d engines on a task of their own, then %d",
		      filled.engines, filled.error);

	fd = session();
	need(!setup(fd, 1 << 20), "setup");
	holds(attach_system(fd) > 0, "a system session comes later");
	need(!choose_marks(fd), "choose");
	holds(has_marks_made(), "the process goes on");
	take(fd);
	is(MARKS, marks(UTRACE_REC_SYS_ENTER, filled.pid),
	   "it sees every call");
	is(MARKS, marks(UTRACE_REC_SYS_EXIT, filled.pid), "and its end");
	is(0, info(fd).lost, "nothing is lost");
	one = session();
	holds(attach(one, filled.pid, UTRACE_SCOPE_PROCESS) > 0,
	      "root gets a place");
	need(!choose_marks(one), "choose");
	has_marks_made();
	take(one);
	is(MARKS, marks(UTRACE_REC_SYS_ENTER, 0), "and sees every call");
	close(one);
	close(fd);
	close(pair[0]);
	waitpid(pid, &status, 0);
	is(0, status, "the attacker ends");
	close(orders[0]);
	close(orders[1]);
	close(answers[0]);
	close(answers[1]);
}

static void test_attacks(const char *value, bool namespace)
{
	int way;

	chain = mmap(NULL, CROWD * sizeof(*chain), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(chain != MAP_FAILED, "mmap");
	for (way = 0; way < NWAYS; way++)
		test_attack(value, namespace, way);
}

/* With the sysctl at 0, users get no session. */
TEST_F(dev, refused)
{
	test_attacks("0", false);
}

TEST_F(dev, refused_in_namespace)
{
	test_attacks("0", true);
}

/* With the sysctl at 1, users get their share of the places. */
TEST_F(dev, allowed)
{
	test_attacks("1", false);
}

TEST_F(dev, allowed_in_namespace)
{
	test_attacks("1", true);
}

TEST_HARNESS_MAIN

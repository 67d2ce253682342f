// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace and security modules
 *
 * A task asks security modules whether the thread that attached to it may trace it.  If
 * that thread has exited, the task asks about another thread of the same process, or about
 * the process that reads the session.  The task keeps the answer until its credentials
 * change.  A target changes them without a change of rights by setuid(2) to its own user.
 */
#include <linux/landlock.h>

#include "dev.h"

/*
 * Enter a domain of Landlock.  It is below the domain that the thread is in already, and
 * forbids only that the thread makes block devices.
 */
static long enter_domain(long unused)
{
	struct landlock_ruleset_attr rules = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK,
	};
	int fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);

	need(fd >= 0, "landlock_create_ruleset");
	need(!syscall(SYS_landlock_restrict_self, fd, 0), "landlock_restrict_self");
	return close(fd);
}

/* Renew the credentials of the task, with the same rights. */
static long renew_creds(long unused)
{
	need(!syscall(SYS_setuid, getuid()), "setuid");
	return 0;
}

/* Attach a session to a target. */
static void follow(int fd, struct target *target)
{
	int ret = attach(fd, target->pid, UTRACE_SCOPE_PROCESS);

	errno = -ret;
	need(ret > 0, "attach");
	need(!choose_marks(fd), "choose");
}

/* Have the target make marker calls.  Returns how many the session has recorded. */
static int recorded(int fd, struct target *target, int n)
{
	have(target, SELF, mark, n);
	take(fd);
	return marks(UTRACE_REC_SYS_ENTER, target->pid);
}

/* As recorded(), after a change of the target's credentials. */
static int recorded_anew(int fd, struct target *target, int n)
{
	have(target, SELF, renew_creds, 0);
	return recorded(fd, target, n);
}

/* Arguments of a function in a thread or in a child. */
struct job {
	struct target *target;
	int fd;		/* a session */
	int socket;	/* takes a session */
};

/* The thread or the process that attached exits */

static void *attach_in_thread(void *arg)
{
	struct job *job = arg;

	follow(job->fd, job->target);
	return NULL;
}

TEST_F(dev, thread_exits)
{
	struct job job = { .fd = session() };
	struct target target;
	pthread_t thread;

	start(&target);
	job.target = &target;
	need(!pthread_create(&thread, NULL, attach_in_thread, &job) &&
	     !pthread_join(thread, NULL), "a thread");
	is(2, recorded(job.fd, &target, 2), "the first question: recorded");
	is(3, recorded_anew(job.fd, &target, 3), "the next one: recorded");
	is(0, info(job.fd).hidden, "never hidden");
	close(job.fd);
	stop(&target);
}

static bool is_zombie(pid_t pid)
{
	char line[512], *state;

	if (!of_task(pid, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')');
	return state && state[2] == 'Z';
}

static void *outlive_leader(void *arg)
{
	struct job *job = arg;
	int i;

	for (i = 0; i < DEADLINE_MS / 2 && !is_zombie(getpid()); i++)
		usleep(2000);
	need(is_zombie(getpid()), "a leader that has exited");
	is(3, recorded_anew(job->fd, job->target, 3), "the leader has exited: recorded");
	is(0, info(job->fd).hidden, "never hidden");
	_exit(dev_test->exit_code);
}

static int attach_as_leader(void *arg)
{
	struct job *job = arg;
	pthread_t thread;

	job->fd = session();
	follow(job->fd, job->target);
	is(2, recorded(job->fd, job->target, 2), "the leader: recorded");
	need(!pthread_create(&thread, NULL, outlive_leader, job), "a thread");
	/* The thread alone: pthread_exit(3) would load a library. */
	syscall(SYS_exit, 0);
	return 1;
}

TEST_F(dev, leader_exits)
{
	struct target target;
	struct job job = { .target = &target };

	start(&target);
	is(0, in_child(attach_as_leader, &job), "a process whose leader exits");
	stop(&target);
}

/* A tracer that sends its session, and exits. */
static int attach_and_exit(void *arg)
{
	struct job *job = arg;
	int fd = session();

	follow(fd, job->target);
	is(2, recorded(fd, job->target, 2), "the tracer lives: recorded");
	return !send_fd(job->socket, fd);
}

/* The session of a process that has attached it to the target, and has exited. */
static int session_left_by(int (*tracer)(void *arg), struct target *target)
{
	struct job job = { .target = target };
	int pair[2], fd;

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	job.socket = pair[1];
	need(!in_child(tracer, &job), "a tracer");
	fd = receive_fd(pair[0]);
	need(fd >= 0, "a session");
	close(pair[0]);
	close(pair[1]);
	return fd;
}

/* If the tracer has exited, the kernel asks about the process that reads. */
TEST_F(dev, process_exits)
{
	struct target target;
	int fd;

	start(&target);
	fd = session_left_by(attach_and_exit, &target);
	take(fd);
	is(3, recorded_anew(fd, &target, 3), "another process reads: recorded");
	is(0, info(fd).hidden, "never hidden");
	close(fd);
	stop(&target);
}

TEST_F(dev, process_exits_and_nobody_reads)
{
	struct target target;
	int fd;

	start(&target);
	fd = session_left_by(attach_and_exit, &target);
	have(&target, SELF, mark, 1);
	have(&target, SELF, renew_creds, 0);
	have(&target, SELF, mark, 3);
	take(fd);
	is(1, marks(UTRACE_REC_SYS_ENTER, target.pid),
	   "recorded as long as the answer holds, and not after that");
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "HIDDEN, once");
	is(4, recorded(fd, &target, 4), "as soon as somebody reads: recorded");
	is(1, info(fd).hidden, "hidden once");
	close(fd);
	stop(&target);
}

static int read_as_nobody(void *arg)
{
	struct job *job = arg;

	become_nobody();
	take(job->fd);
	is(0, recorded_anew(job->fd, job->target, 3), "nobody reads root's session: hidden");
	is(1, count(UTRACE_REC_HIDDEN, job->target->pid), "HIDDEN");
	return dev_test->exit_code;
}

/* A reader that may not trace the target gets nothing in the place of the tracer. */
TEST_F(dev, process_exits_and_another_user_reads)
{
	struct target target;
	struct job job = { .target = &target };

	start(&target);
	job.fd = session_left_by(attach_and_exit, &target);
	is(0, in_child(read_as_nobody, &job), "a user without privileges");
	take(job.fd);
	is(3, recorded_anew(job.fd, &target, 3), "root reads: recorded");
	close(job.fd);
	stop(&target);
}

/*
 * Landlock: a thread may trace what is in its own domain or in one below.  A thread without
 * a domain may trace all.
 */
FIXTURE(landlock) {
};

FIXTURE_SETUP(landlock)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0,
		    LANDLOCK_CREATE_RULESET_VERSION) < 1)
		SKIP(return, "no Landlock (SECURITY_LANDLOCK; landlock in LSM or lsm=): %s",
		     strerror(errno));
	set_unprivileged("0");
}

FIXTURE_TEARDOWN(landlock)
{
	dev_end();
}

static int enter_after_open(void *outside)
{
	pid_t pid = ((struct target *)outside)->pid;
	struct target inside;
	int fd = session();

	enter_domain(0);
	start(&inside);
	is(-EPERM, attach(fd, pid, UTRACE_SCOPE_PROCESS),
	   "opened before: a process outside of the domain");
	is(-EPERM, attach(fd, inside.pid, UTRACE_SCOPE_PROCESS),
	   "opened before: one inside, as the opener was not");
	close(fd);
	fd = session();
	is(-EPERM, attach(fd, pid, UTRACE_SCOPE_PROCESS),
	   "opened in the domain: a process outside");
	holds(attach(fd, inside.pid, UTRACE_SCOPE_PROCESS) > 0,
	      "opened in the domain: one inside");
	close(fd);
	stop(&inside);
	return dev_test->exit_code;
}

TEST_F(landlock, restricted_caller)
{
	struct target target;

	start(&target);
	is(0, in_child(enter_after_open, &target), "a restricted process");
	is(0, engines(target.pid), "no engine is left");
	stop(&target);
}

static int open_in_domain(void *arg)
{
	struct job *job = arg;

	enter_domain(0);
	return !send_fd(job->socket, session());
}

/* The opener was restricted, and the process that attaches is not. */
TEST_F(landlock, restricted_opener)
{
	struct target target;
	int fd;

	start(&target);
	fd = session_left_by(open_in_domain, &target);
	is(-EPERM, attach(fd, target.pid, UTRACE_SCOPE_PROCESS), "a process");
	is(-EPERM, attach(fd, target.pid, UTRACE_SCOPE_TREE), "a tree");
	is(0, engines(target.pid), "no engine is left");
	close(fd);
	stop(&target);
}

static int trace_in_domain(void *unused)
{
	struct target target;
	int fd;

	enter_domain(0);
	start(&target);
	fd = session();
	follow(fd, &target);
	is(2, recorded(fd, &target, 2), "in the same domain: recorded");
	have(&target, SELF, enter_domain, 0);
	is(3, recorded(fd, &target, 3), "in a domain below: recorded");
	enter_domain(0);
	is(1, recorded(fd, &target, 1), "the tracer enters another: recorded as before");
	is(0, recorded_anew(fd, &target, 4), "and hidden at the next question");
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "HIDDEN");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

TEST_F(landlock, domain_of_the_target)
{
	is(0, in_child(trace_in_domain, NULL), "a restricted process");
}

static int enter_after_attach(void *unused)
{
	struct target target;
	int fd = session();

	start(&target);
	follow(fd, &target);
	is(2, recorded(fd, &target, 2), "both without a domain: recorded");
	enter_domain(0);
	is(0, recorded_anew(fd, &target, 3), "the tracer enters one: hidden");
	is(1, count(UTRACE_REC_HIDDEN, target.pid), "HIDDEN");
	have(&target, SELF, enter_domain, 0);
	is(0, recorded(fd, &target, 3), "the target enters another one: hidden");
	is(1, info(fd).hidden, "hidden once");
	close(fd);
	stop(&target);
	return dev_test->exit_code;
}

TEST_F(landlock, domain_of_the_tracer)
{
	is(0, in_child(enter_after_attach, NULL), "a process that restricts itself");
}

/*
 * Yama: with 1 in ptrace_scope a user may trace descendants only, with 2 nobody but who has
 * CAP_SYS_PTRACE.  3 cannot be taken back, so no test sets that.
 */
FIXTURE(yama) {
	char scope[16];
};

FIXTURE_SETUP(yama)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	if (!read_sysctl(YAMA_SCOPE, self->scope, sizeof(self->scope)))
		SKIP(return, "no Yama (SECURITY_YAMA; yama in LSM or lsm=)");
	if (self->scope[0] == '3')
		SKIP(return, "ptrace_scope is 3 for good");
	set_unprivileged("1");
}

/* In the parent: a test that dies must not leave its ptrace_scope to others. */
FIXTURE_TEARDOWN_PARENT(yama)
{
	set_sysctl(YAMA_SCOPE, self->scope);
	dev_end();
}

static int trace_descendant(void *stranger)
{
	struct target own;
	int fd;

	become_nobody();
	start(&own);
	fd = session();
	is(-EPERM, attach(fd, ((struct target *)stranger)->pid, UTRACE_SCOPE_PROCESS),
	   "1: no descendant");
	follow(fd, &own);
	is(2, recorded(fd, &own, 2), "1: a child is recorded");
	is(3, recorded_anew(fd, &own, 3), "1: asked again, it is recorded");
	close(fd);
	stop(&own);
	return dev_test->exit_code;
}

TEST_F(yama, descendants)
{
	struct target stranger;

	start(&stranger);
	have(&stranger, SELF, be_nobody, 0);
	need(!set_sysctl(YAMA_SCOPE, "1"), YAMA_SCOPE);
	is(0, in_child(trace_descendant, &stranger), "a user without privileges");
	stop(&stranger);
}

static int trace_own(void *unused)
{
	struct target own;
	int fd;

	become_nobody();
	start(&own);
	fd = session();
	follow(fd, &own);
	is(2, recorded(fd, &own, 2), "0: recorded");
	have_sysctl(YAMA_SCOPE, "2");
	is(1, recorded(fd, &own, 1), "2: recorded as before");
	is(0, recorded_anew(fd, &own, 3), "2: hidden at the next question");
	is(1, count(UTRACE_REC_HIDDEN, own.pid), "2: HIDDEN");
	have_sysctl(YAMA_SCOPE, "0");
	is(4, recorded_anew(fd, &own, 4), "0: recorded again");
	close(fd);
	stop(&own);
	return dev_test->exit_code;
}

TEST_F(yama, capability)
{
	struct target target;
	int fd = session();

	need(!set_sysctl(YAMA_SCOPE, "0"), YAMA_SCOPE);
	is(0, in_child_with_sysctls(trace_own, NULL), "a user without privileges");
	start(&target);
	follow(fd, &target);
	need(!set_sysctl(YAMA_SCOPE, "2"), YAMA_SCOPE);
	is(2, recorded(fd, &target, 2), "2: root's is recorded");
	is(3, recorded_anew(fd, &target, 3), "2: asked again, it is recorded");
	close(fd);
	stop(&target);
}

static int drop_capability(void *arg)
{
	struct target *target = arg;
	int fd = session();

	follow(fd, target);
	is(2, recorded(fd, target, 2), "2: root's is recorded");
	become_nobody();
	is(1, recorded(fd, target, 1), "2: root becomes nobody: recorded as before");
	is(0, recorded_anew(fd, target, 3), "2: hidden at the next question");
	is(1, count(UTRACE_REC_HIDDEN, target->pid), "2: HIDDEN");
	have_sysctl(YAMA_SCOPE, "0");
	is(4, recorded_anew(fd, target, 4), "0: recorded again");
	close(fd);
	return dev_test->exit_code;
}

/*
 * Yama checks the capabilities that the tracer has now.  The target has none,
 * so that the rule of capabilities(7) for ptrace(2) lets the tracer go on.
 */
TEST_F(yama, capability_is_dropped)
{
	struct target target;

	start(&target);
	have(&target, SELF, be_nobody, 0);
	need(!set_sysctl(YAMA_SCOPE, "2"), YAMA_SCOPE);
	is(0, in_child_with_sysctls(drop_capability, &target), "root, who becomes nobody");
	stop(&target);
}

static int open_as_nobody(void *arg)
{
	struct job *job = arg;

	become_nobody();
	return !send_fd(job->socket, session());
}

static int attach_as_sibling(void *arg)
{
	struct job *job = arg;
	pid_t pid = job->target->pid;
	int own = session();

	is(-EPERM, attach(job->fd, pid, UTRACE_SCOPE_PROCESS),
	   "1: root, by the session of nobody");
	holds(attach(own, pid, UTRACE_SCOPE_PROCESS) > 0, "1: root, by an own session");
	close(own);
	return dev_test->exit_code;
}

/* Root attaches by a session of nobody, who may trace his descendants only. */
TEST_F(yama, opener_without_capability)
{
	struct target target;
	struct job job = { .target = &target };

	start(&target);
	have(&target, SELF, be_nobody, 0);
	need(!set_sysctl(YAMA_SCOPE, "1"), YAMA_SCOPE);
	job.fd = session_left_by(open_as_nobody, &target);
	is(0, in_child(attach_as_sibling, &job), "a process of which it is no descendant");
	holds(attach(job.fd, target.pid, UTRACE_SCOPE_PROCESS) > 0,
	      "1: its parent, by the session of nobody");
	close(job.fd);
	stop(&target);
}

TEST_HARNESS_MAIN

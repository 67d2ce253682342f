// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - /dev/utrace: targets that are a cgroup or an executable
 *
 * Such a target covers the tasks that are in the cgroup, or that run the file.  A task may
 * join or leave while the session records.
 */
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "../cgroup.h"
#include "dev.h"

/* Marker calls that fill the smallest rings by far. */
#define MANY	3000

/*
 * Attach to the file or the directory @path.  The descriptor is closed before the function
 * returns: the target does not need it.  Returns the id of the target or -errno.
 */
static int attach_path(int fd, const char *path, __u32 scope)
{
	int file = open(path, O_PATH | O_CLOEXEC), ret;

	need(file >= 0, path);
	ret = attach_fd(fd, file, scope);
	close(file);
	return ret;
}

/* Entries of the marker call by task @tid, among all records that there are now. */
static int taken_marks(int fd, pid_t tid)
{
	take(fd);
	return marks(UTRACE_REC_SYS_ENTER, tid);
}

/* Programs */

/**
 * struct program - a process that runs ftrace/actor.c, and not the file of the test
 * @pid: the process
 * @to: pipe of commands
 * @from: pipe of answers
 */
struct program {
	pid_t pid;
	int to;
	int from;
};

static const char *actor_path(void)
{
	static char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/actor", ut_dir());
	return path;
}

/* Have a program carry out a command, and wait for its answer. */
static void ask(struct program *program, const char *format, ...)
{
	struct pollfd pfd = { .fd = program->from, .events = POLLIN };
	char text[PATH_MAX + 64];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	need(write(program->to, text, n) == n, "a command");
	need(poll(&pfd, 1, DEADLINE_MS) == 1 &&
	     read(program->from, text, sizeof(text)) > 0, "an answer of a program");
}

static void ask_for_marks(struct program *program, int n)
{
	ask(program, "call %d %d\n", MARK_NR, n);
}

static void start_program(struct program *program, const char *path)
{
	int to[2], from[2];

	need(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC), "pipe");
	program->pid = fork();
	need(program->pid >= 0, "fork");
	if (!program->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execl(path, "actor", NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	program->to = to[1];
	program->from = from[0];
	ask(program, "call %d 1\n", SYS_getpid);
}

static void stop_program(struct program *program)
{
	kill(program->pid, SIGKILL);
	waitpid(program->pid, NULL, 0);
	close(program->to);
	close(program->from);
}

/* Copy the actor to a file that the test removes. */
static void copy_actor(char *path)
{
	int from = open(actor_path(), O_RDONLY | O_CLOEXEC), to = mkostemp(path, O_CLOEXEC);
	struct stat st;
	off_t left;

	need(from >= 0 && to >= 0 && !fstat(from, &st), "a copy of the actor");
	for (left = st.st_size; left > 0;) {
		ssize_t n = sendfile(to, from, NULL, left);

		need(n > 0, "sendfile");
		left -= n;
	}
	need(!fchmod(to, 0755), "fchmod");
	close(from);
	close(to);
}

TEST_F(dev, exe)
{
	char copy[] = "/tmp/utrace_matched_XXXXXX";
	struct program program, later;
	struct target target;
	int fd;

	copy_actor(copy);
	start(&target);
	start_program(&program, actor_path());
	fd = session();
	need(!choose_marks(fd), "choose");
	holds(attach_path(fd, actor_path(), UTRACE_SCOPE_EXE) > 0, "ATTACH to an executable");
	ask_for_marks(&program, 3);
	have(&target, SELF, mark, 2);
	is(3, taken_marks(fd, program.pid), "a process that runs it has records");
	is(0, marks(UTRACE_REC_SYS_ENTER, target.pid), "another process has none");
	start_program(&later, actor_path());
	ask_for_marks(&later, 4);
	is(4, taken_marks(fd, later.pid), "a process that executes it later has records");
	ask(&later, "exec %s copied\n", copy);
	ask_for_marks(&later, 5);
	is(0, taken_marks(fd, later.pid), "it has none while it runs a copy");
	ask(&later, "exec %s back\n", actor_path());
	ask_for_marks(&later, 6);
	is(6, taken_marks(fd, later.pid), "it has records when it runs the file again");
	close(fd);
	stop_program(&program);
	stop_program(&later);
	stop(&target);
	unlink(copy);
}

/* The test and its targets run the same file. */
TEST_F(dev, exe_of_the_caller)
{
	struct target target;
	int fd;

	start(&target);
	fd = session();
	need(!choose_marks(fd), "choose");
	need(attach_path(fd, "/proc/self/exe", UTRACE_SCOPE_EXE) > 0, "attach");
	mark(7);
	have(&target, SELF, mark, 3);
	is(3, taken_marks(fd, target.pid), "a child has records");
	is(0, marks(UTRACE_REC_SYS_ENTER, getpid()), "the caller has none");
	close(fd);
	stop(&target);
}

TEST_F(dev, exe_errors)
{
	int fd = session(), file, id, pair[2];

	is(-EBADF, attach_fd(fd, -1, UTRACE_SCOPE_EXE), "-1 is EBADF");
	is(-EBADF, attach_fd(fd, 9999, UTRACE_SCOPE_EXE), "no descriptor is EBADF");
	is(-EINVAL, attach_path(fd, "/proc/self", UTRACE_SCOPE_EXE), "a directory is EINVAL");
	is(-EINVAL, attach_path(fd, "/dev/null", UTRACE_SCOPE_EXE), "a device is EINVAL");
	need(!pipe2(pair, O_CLOEXEC), "pipe");
	is(-EINVAL, attach_fd(fd, pair[0], UTRACE_SCOPE_EXE), "a pipe is EINVAL");
	is(0, info(fd).targets, "what is refused is no target");
	/* Two open files of one executable. */
	file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	need(file >= 0, "/proc/self/exe");
	id = attach_path(fd, "/proc/self/exe", UTRACE_SCOPE_EXE);
	need(id > 0, "attach");
	is(-EEXIST, attach_fd(fd, file, UTRACE_SCOPE_EXE), "a file twice is EEXIST");
	holds(attach_path(fd, actor_path(), UTRACE_SCOPE_EXE) > id,
	      "another file is another target");
	is(0, detach(fd, id), "DETACH of the first file");
	holds(attach_fd(fd, file, UTRACE_SCOPE_EXE) > id, "it can be attached again");
	close(file);
	close(pair[0]);
	close(pair[1]);
	close(fd);
}

/* Cgroups */

/* A cgroup below that of the test. */
static char below[sizeof(ut_cg) + 16];

/* Make both cgroups; NULL, or why there are none. */
static const char *make_cgroups(void)
{
	const char *why = ut_cg_make(NULL);

	if (why)
		return why;
	snprintf(below, sizeof(below), "%s/below", ut_cg);
	need(!mkdir(below, 0755), below);
	return NULL;
}

static void remove_cgroups(void)
{
	/* A process leaves its cgroup some time after its parent has waited for it. */
	ut_until(!rmdir(below) || errno == ENOENT);
	ut_cg_remove();
}

static void move_to(const char *cgroup, pid_t pid)
{
	char path[sizeof(below) + 32], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", cgroup);
	snprintf(text, sizeof(text), "%d", pid);
	need(!ut_write_file(path, text), path);
}

TEST_F(dev, cgroup)
{
	const char *why = make_cgroups();
	struct target inside, deeper, outside;
	pid_t child;
	int fd;

	if (why)
		SKIP(return, "%s", why);
	start(&inside);
	start(&deeper);
	start(&outside);
	move_to(ut_cg, inside.pid);
	move_to(below, deeper.pid);
	fd = session();
	need(!choose_marks(fd), "choose");
	holds(attach_path(fd, ut_cg, UTRACE_SCOPE_CGROUP) > 0, "ATTACH to a cgroup");
	have(&inside, SELF, mark, 3);
	have(&deeper, SELF, mark, 4);
	have(&outside, SELF, mark, 5);
	child = have(&inside, SELF, fork_and_mark, 6);
	is(3, taken_marks(fd, inside.pid), "a process in it has records");
	is(4, marks(UTRACE_REC_SYS_ENTER, deeper.pid),
	   "one in a cgroup below it has records");
	is(0, marks(UTRACE_REC_SYS_ENTER, outside.pid), "one outside has none");
	is(6, marks(UTRACE_REC_SYS_ENTER, child), "a child that is born in it has records");
	move_to(ut_cg, outside.pid);
	have(&outside, SELF, mark, 7);
	is(7, taken_marks(fd, outside.pid), "a process that comes has records from then on");
	move_to(ut_cg_root, outside.pid);
	have(&outside, SELF, mark, 8);
	is(0, taken_marks(fd, outside.pid), "one that leaves has none");
	close(fd);
	stop(&inside);
	stop(&deeper);
	stop(&outside);
	remove_cgroups();
}

static int attach_from_inside(void *arg)
{
	struct target *inside = arg;
	int fd = session();

	move_to(ut_cg, getpid());
	need(!choose_marks(fd), "choose");
	need(attach_path(fd, ut_cg, UTRACE_SCOPE_CGROUP) > 0, "attach");
	mark(7);
	have(inside, SELF, mark, 3);
	is(3, taken_marks(fd, inside->pid), "a process in the cgroup has records");
	is(0, marks(UTRACE_REC_SYS_ENTER, getpid()), "the caller has none");
	return dev_test->exit_code;
}

TEST_F(dev, cgroup_of_the_caller)
{
	const char *why = make_cgroups();
	struct target inside;

	if (why)
		SKIP(return, "%s", why);
	start(&inside);
	move_to(ut_cg, inside.pid);
	is(0, in_child(attach_from_inside, &inside), "a caller in the cgroup");
	stop(&inside);
	remove_cgroups();
}

TEST_F(dev, cgroup_errors)
{
	const char *why = make_cgroups();
	char path[sizeof(below) + 32];
	int fd, id, dir;

	if (why)
		SKIP(return, "%s", why);
	fd = session();
	is(-EBADF, attach_fd(fd, -1, UTRACE_SCOPE_CGROUP), "-1 is EBADF");
	is(-EBADF, attach_fd(fd, fd, UTRACE_SCOPE_CGROUP), "a session is EBADF");
	is(-EBADF, attach_path(fd, "/proc/self", UTRACE_SCOPE_CGROUP),
	   "another directory is EBADF");
	snprintf(path, sizeof(path), "%s/cgroup.procs", ut_cg);
	is(-EBADF, attach_path(fd, path, UTRACE_SCOPE_CGROUP),
	   "a file of a cgroup is EBADF");
	is(0, info(fd).targets, "what is refused is no target");
	id = attach_path(fd, ut_cg, UTRACE_SCOPE_CGROUP);
	need(id > 0, "attach");
	dir = open(ut_cg, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	is(-EEXIST, attach_fd(fd, dir, UTRACE_SCOPE_CGROUP), "a cgroup twice is EEXIST");
	holds(attach_path(fd, below, UTRACE_SCOPE_CGROUP) > id,
	      "a cgroup below is another target");
	is(0, detach(fd, id), "DETACH of the first cgroup");
	holds(attach_fd(fd, dir, UTRACE_SCOPE_CGROUP) > id, "it can be attached again");
	close(dir);
	close(fd);
	fd = session();
	dir = open(below, O_PATH | O_CLOEXEC);
	need(dir >= 0 && !rmdir(below), "rmdir");
	is(-ENOENT, attach_fd(fd, dir, UTRACE_SCOPE_CGROUP),
	   "a cgroup that was removed is ENOENT");
	close(dir);
	close(fd);
	remove_cgroups();
}

TEST_F(dev, cgroup_of_version_1)
{
	const char *why = ut_cg_make_freezer();
	int fd;

	if (why)
		SKIP(return, "%s", why);
	fd = session();
	is(-EINVAL, attach_path(fd, ut_cg, UTRACE_SCOPE_CGROUP), "EINVAL");
	close(fd);
	ut_cg_remove();
}

/* Tasks of such a target, or of the system, do not wait for the reader. */
TEST_F(dev, no_waiting)
{
	const char *why = make_cgroups();
	struct target target;
	int fd;

	if (why)
		SKIP(return, "%s", why);
	start(&target);
	fd = session();
	need(!setup_full(fd, 0, UTRACE_FULL_STOP), "setup");
	is(-EOPNOTSUPP, attach_path(fd, "/proc/self/exe", UTRACE_SCOPE_EXE),
	   "FULL_STOP: an executable");
	is(-EOPNOTSUPP, attach_path(fd, ut_cg, UTRACE_SCOPE_CGROUP),
	   "FULL_STOP: a cgroup");
	is(-EOPNOTSUPP, attach_system(fd), "FULL_STOP: the system");
	is(0, info(fd).targets, "FULL_STOP: none is a target");
	holds(attach(fd, target.pid, UTRACE_SCOPE_PROCESS) > 0, "FULL_STOP: a process is");
	close(fd);
	fd = session();
	need(!setup_full(fd, 64 << 10, UTRACE_FULL_DEFAULT), "setup");
	need(attach_path(fd, "/proc/self/exe", UTRACE_SCOPE_EXE) > 0, "attach");
	need(!choose_marks(fd), "choose");
	tell(&target, SELF, mark, MANY);
	holds(is_answered(&target, SELF),
	      "FULL_DEFAULT: a task goes on when its ring is full");
	holds(info(fd).lost > 0, "FULL_DEFAULT: its records are lost");
	is(0, info(fd).waits, "FULL_DEFAULT: it has not waited");
	close(fd);
	stop(&target);
	remove_cgroups();
}

TEST_HARNESS_MAIN

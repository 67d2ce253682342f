// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - who may trace which task by /dev/utrace
 *
 * With arguments this is a program to be traced: "mark N" makes N marker calls;
 * "setid N PROGRAM" makes N marker calls and opens a file, takes on its real
 * user, makes the calls again and executes "PROGRAM mark 3".
 */
#include <sched.h>
#include <sys/stat.h>

#include "dev.h"

/* A path that only the set-id program opens. */
#define SECRET	"/what-nobody-is-to-see"

static char folder[32];
static char plain[64], setid[64];

static long be_nobody_with(long cap)
{
	keep_only(cap);
	return 0;
}

static long enter_user_namespace(long unused)
{
	if (unshare(CLONE_NEWUSER))
		_exit(1);
	return set_dumpable(1);
}

static long execute_setid(long unused)
{
	char * const argv[] = { setid, "setid", "5", plain, NULL };
	char * const envp[] = { NULL };

	execve(setid, argv, envp);
	_exit(1);
}

/* Copy this program to a file with a mode. */
static void copy_self(const char *to, mode_t mode)
{
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	char buffer[65536];
	ssize_t n;

	need(in >= 0 && out >= 0, to);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		need(write(out, buffer, n) == n, to);
	need(!fchmod(out, mode), to);
	close(in);
	close(out);
}

/* A process of nobody, one of root, and the programs that both execute. */
FIXTURE(rights) {
	struct target mine, roots;
};

FIXTURE_SETUP(rights)
{
	const char *why = dev_begin(_metadata);

	if (why)
		SKIP(return, "%s", why);
	set_unprivileged("1");
	snprintf(folder, sizeof(folder), "/tmp/utrace-rights.XXXXXX");
	need(mkdtemp(folder) && !chmod(folder, 0755), folder);
	snprintf(plain, sizeof(plain), "%s/plain", folder);
	snprintf(setid, sizeof(setid), "%s/setid", folder);
	copy_self(plain, 0755);
	copy_self(setid, 04755);
	start(&self->roots);
	start(&self->mine);
	have(&self->mine, SELF, be_nobody, 0);
}

FIXTURE_TEARDOWN(rights)
{
	stop(&self->mine);
	stop(&self->roots);
	unlink(plain);
	unlink(setid);
	rmdir(folder);
	dev_end();
}

/* A child acts as nobody and writes its results to this pipe. */
static int pipe_of[2];

struct job {
	void (*fn)(struct job *job);
	struct target *mine, *roots;
	int fd;
	int result[8];
};

static int as_nobody(void *arg)
{
	struct job *job = arg;

	become_nobody();
	job->fn(job);
	return write(pipe_of[1], job->result, sizeof(job->result)) < 0;
}

static void run_as_nobody(struct job *job)
{
	need(!pipe(pipe_of), "pipe");
	if (in_child(as_nobody, job))
		printf("# the child has failed\n");
	close(pipe_of[1]);
	memset(job->result, 0x55, sizeof(job->result));
	if (read(pipe_of[0], job->result, sizeof(job->result)) < 0)
		perror("read");
	close(pipe_of[0]);
}

static void do_attach(struct job *job)
{
	int fd = try_session();

	if (fd < 0) {
		job->result[0] = fd;
		return;
	}
	job->result[0] = attach(fd, job->mine->pid, UTRACE_SCOPE_PROCESS) > 0;
	job->result[1] = attach(fd, job->roots->pid, UTRACE_SCOPE_PROCESS);
	job->result[2] = attach(fd, job->roots->pid, UTRACE_SCOPE_THREAD);
	job->result[3] = attach(fd, job->roots->pid, UTRACE_SCOPE_TREE);
	job->result[4] = attach_system(fd);
	job->result[5] = choose_marks(fd);
	have(job->mine, SELF, mark, 3);
	take(fd);
	job->result[6] = marks(UTRACE_REC_SYS_ENTER, job->mine->pid);
}

static void do_use(struct job *job)
{
	job->result[0] = attach(job->fd, job->mine->pid, UTRACE_SCOPE_PROCESS) >
			 0;
	job->result[1] = attach(job->fd, job->roots->pid, UTRACE_SCOPE_PROCESS);
	job->result[2] = attach_system(job->fd);
}

static int pair_of[2];

static void do_open(struct job *job)
{
	int fd = session();

	job->result[0] = send_fd(pair_of[1], fd);
}

TEST_F(rights, users)
{
	struct target *mine = &self->mine, *roots = &self->roots;
	struct job job = { .fn = do_attach, .mine = mine, .roots = roots };
	int fd;

	run_as_nobody(&job);
	is(1, job.result[0], "one's own process");
	is(-EPERM, job.result[1], "root's process is EPERM");
	is(-EPERM, job.result[2], "root's thread is EPERM");
	is(-EPERM, job.result[3], "root's tree is EPERM");
	is(-EPERM, job.result[4], "the system is EPERM");
	is(0, job.result[5], "EVENTS may be chosen");
	is(3, job.result[6], "one's own process is recorded");

	job = (struct job){
		.fn = do_use, .mine = mine, .roots = roots, .fd = session()};
	run_as_nobody(&job);
	is(1, job.result[0],
	   "opened by root, used by nobody: nobody's process");
	is(-EPERM, job.result[1],
	   "opened by root, used by nobody: root's process");
	is(-EPERM, job.result[2], "opened by root, used by nobody: the system");
	close(job.fd);
	is(0, engines(roots->pid), "root's process has no engine");

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair_of), "socketpair");
	job = (struct job){ .fn = do_open };
	run_as_nobody(&job);
	fd = receive_fd(pair_of[0]);
	need(fd >= 0, "a session of nobody");
	holds(attach(fd, mine->pid, UTRACE_SCOPE_PROCESS) > 0,
	      "opened by nobody, used by root: nobody's process");
	is(-EPERM, attach(fd, roots->pid, UTRACE_SCOPE_PROCESS),
	   "opened by nobody, used by root: root's process");
	is(-EPERM, attach(fd, roots->pid, UTRACE_SCOPE_TREE),
	   "opened by nobody, used by root: root's tree");
	is(-EPERM, attach_system(fd),
	   "opened by nobody, used by root: the system");
	close(fd);
	close(pair_of[0]);
	close(pair_of[1]);

	fd = session();
	holds(attach(fd, mine->pid, UTRACE_SCOPE_PROCESS) > 0,
	      "root: nobody's process");
	holds(attach(fd, roots->pid, UTRACE_SCOPE_PROCESS) > 0,
	      "root: a process of root");
	holds(attach_system(fd) > 0, "root: the system");
	close(fd);
}

TEST_F(rights, dumpable)
{
	struct target *mine = &self->mine, *roots = &self->roots;
	struct job job = { .fn = do_use, .mine = mine, .roots = roots };
	int fd;

	have(mine, SELF, set_dumpable, 0);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair_of), "socketpair");
	job.fn = do_open;
	run_as_nobody(&job);
	fd = receive_fd(pair_of[0]);
	need(fd >= 0, "a session of nobody");
	job = (struct job){
		.fn = do_use, .mine = mine, .roots = roots, .fd = fd};
	run_as_nobody(&job);
	is(0, job.result[0], "PR_SET_DUMPABLE 0: nobody may not");
	is(-EPERM, attach(fd, mine->pid, UTRACE_SCOPE_PROCESS),
	   "PR_SET_DUMPABLE 0: nor root by a session of nobody");
	have(mine, SELF, set_dumpable, 1);
	run_as_nobody(&job);
	is(1, job.result[0], "PR_SET_DUMPABLE 1: nobody may");
	close(fd);
	close(pair_of[0]);
	close(pair_of[1]);
	fd = session();
	have(mine, SELF, set_dumpable, 0);
	holds(attach(fd, mine->pid, UTRACE_SCOPE_PROCESS) > 0,
	      "PR_SET_DUMPABLE 0: root may");
	have(mine, SELF, set_dumpable, 1);
	close(fd);
}

TEST_F(rights, sysctl)
{
	struct target *mine = &self->mine, *roots = &self->roots;
	struct job job = { .fn = do_attach, .mine = mine, .roots = roots };
	int fd;

	is(-EINVAL, set_unprivileged("2"), "unprivileged is 0 or 1");
	is(0, set_unprivileged("0"), "unprivileged is set to 0");
	run_as_nobody(&job);
	is(-EPERM, job.result[0], "unprivileged 0: open is refused");
	fd = session();
	holds(attach(fd, mine->pid, UTRACE_SCOPE_PROCESS) > 0,
	      "unprivileged 0: root may");
	need(!choose_marks(fd), "choose");
	have(mine, SELF, mark, 2);
	take(fd);
	is(2, marks(UTRACE_REC_SYS_ENTER, mine->pid),
	   "unprivileged 0: root gets records");
	close(fd);
	is(0, set_unprivileged("1"), "unprivileged is set to 1");
	run_as_nobody(&job);
	is(1, job.result[0], "unprivileged 1: one's own process");
}

/* Bit 0: the system can be attached to; bit 1: another user's process can. */
static int with_cap(__u32 cap, pid_t other)
{
	int fd, bits = 0;

	keep_only(cap);
	fd = session();
	bits |= attach_system(fd) > 0;
	bits |= (attach(fd, other, UTRACE_SCOPE_PROCESS) > 0) << 1;
	return bits;
}

static int with_perfmon(void *other)
{
	return with_cap(CAP_PERFMON, *(pid_t *)other);
}

static int with_ptrace(void *other)
{
	return with_cap(CAP_SYS_PTRACE, *(pid_t *)other);
}

TEST_F(rights, capabilities)
{
	struct target other;

	start(&other);
	have(&other, SELF, set_dumpable, 0);
	is(1, in_child(with_perfmon, &other.pid),
	   "CAP_PERFMON: the system, and nobody else's");
	stop(&other);
	/* A process of another user without capabilities. */
	start(&other);
	have(&other, SELF, be_nobody, 0);
	have(&other, SELF, set_dumpable, 0);
	is(2, in_child(with_ptrace, &other.pid),
	   "CAP_SYS_PTRACE: others', and not the system");
	stop(&other);
}

/*
 * A process of nobody has a capability.  Root may trace it, but not by a session of nobody,
 * who has no capability.
 */
TEST_F(rights, capability_of_the_target)
{
	struct target able;
	struct job job = { .fn = do_open, .mine = &able, .roots = &self->roots };
	int fd;

	start(&able);
	have(&able, SELF, be_nobody_with, CAP_NET_RAW);
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair_of), "socketpair");
	run_as_nobody(&job);
	fd = receive_fd(pair_of[0]);
	need(fd >= 0, "a session of nobody");
	job.fn = do_use;
	job.fd = fd;
	run_as_nobody(&job);
	is(0, job.result[0], "opened and used by nobody");
	is(-EPERM, attach(fd, able.pid, UTRACE_SCOPE_PROCESS),
	   "opened by nobody, used by root");
	close(fd);
	fd = session();
	job.fd = fd;
	run_as_nobody(&job);
	is(0, job.result[0], "opened by root, used by nobody");
	holds(attach(fd, able.pid, UTRACE_SCOPE_PROCESS) > 0, "opened and used by root");
	close(fd);
	close(pair_of[0]);
	close(pair_of[1]);
	stop(&able);
}

/* A session of nobody is attached to nobody's process, which executes setid. */
static void do_setid(struct job *job)
{
	struct utrace_rec_sys_enter *enter;
	struct utrace_rec *rec, *detached = NULL;
	int fd = session(), i, before = 0, after = 0, between = 0;
	char *from, *end;

	if (attach(fd, job->mine->pid, UTRACE_SCOPE_TREE) < 0 ||
	    choose(fd, ALL_EVENTS, ALL_CAPTURES, NULL, 0))
		return;
	have(job->mine, SELF, mark, 2);
	tell(job->mine, SELF, execute_setid, 0);
	records_size = 0;
	for (i = 0;
	     i < DEADLINE_MS / 50 && !find(UTRACE_REC_EXIT, job->mine->pid);
	     i++) {
		ssize_t n = read(fd, records + records_size,
				 sizeof(records) - records_size);

		if (n > 0)
			records_size += n;
		else
			usleep(50000);
	}
	for_each_record(rec) {
		enter = (void *)rec;
		if (rec->type == UTRACE_REC_HIDDEN) {
			detached = detached ?: rec;
		} else if (rec->type == UTRACE_REC_SYS_ENTER &&
			   enter->nr == MARK_NR) {
			before += !detached;
			after += !!detached;
		}
		/* Of the set-id program only its execve() was asked for. */
		if (rec->type == UTRACE_REC_EXEC && !detached)
			between++;
	}
	end = records + records_size;
	from = (char *)(detached ?: next_record(NULL));
	job->result[0] = !!find(UTRACE_REC_EXIT, job->mine->pid);
	job->result[1] = count(UTRACE_REC_HIDDEN, job->mine->pid);
	job->result[2] = before;
	job->result[3] = after;
	job->result[4] =
		!!memmem(records, end - records, SECRET, strlen(SECRET));
	job->result[5] = between;
	job->result[6] = !!memmem(from, end - from, setid, strlen(setid));
	job->result[7] = count(UTRACE_REC_EXEC, job->mine->pid);
}

TEST_F(rights, setid)
{
	struct target mine;
	struct job job = { .fn = do_setid, .mine = &mine };

	start(&mine);
	have(&mine, SELF, be_nobody, 0);
	run_as_nobody(&job);
	is(1, job.result[0], "set-id: its end, as of a plain program, is seen");
	is(1, job.result[1], "set-id: DETACHED, once");
	is(2, job.result[2], "set-id: marks before it");
	is(3, job.result[3],
	   "set-id: those of the plain program behind it, and no others");
	is(0, job.result[4], "set-id: not a byte of what it opens");
	is(0, job.result[5], "set-id: no EXEC of it");
	is(0, job.result[6], "set-id: nor of itself");
	is(1, job.result[7], "set-id: EXEC of the plain program");
	stop(&mine);
}

/* A set-id program does not hide anything from a session of root. */
TEST_F(rights, setid_by_root)
{
	struct target mine;
	int fd, i;

	start(&mine);
	have(&mine, SELF, be_nobody, 0);
	fd = session();
	need(attach(fd, mine.pid, UTRACE_SCOPE_PROCESS) > 0, "attach");
	need(!choose(fd, ALL_EVENTS, UTRACE_CAPTURE_STRINGS, NULL, 0),
	     "choose");
	tell(&mine, SELF, execute_setid, 0);
	records_size = 0;
	for (i = 0; i < DEADLINE_MS / 50 && !find(UTRACE_REC_EXIT, mine.pid);
	     i++) {
		ssize_t n = read(fd, records + records_size,
				 sizeof(records) - records_size);

		if (n > 0)
			records_size += n;
		else
			usleep(50000);
	}
	is(13, marks(UTRACE_REC_SYS_ENTER, mine.pid),
	   "set-id, by root: all marks");
	is(0, count(UTRACE_REC_HIDDEN, 0), "set-id, by root: never HIDDEN");
	holds(memmem(records, records_size, SECRET, strlen(SECRET)),
	      "set-id, by root: what it opens");
	close(fd);
	stop(&mine);
}

/* Root of a user namespace that the user nobody has made. */
static void do_namespace(struct job *job)
{
	struct target inside;
	int fd;

	fd = session();
	start(&inside);
	have(&inside, SELF, enter_user_namespace, 0);
	job->result[0] = attach(fd, inside.pid, UTRACE_SCOPE_PROCESS) > 0;
	stop(&inside);
	close(fd);
	job->result[1] = unshare(CLONE_NEWUSER);
	prctl(PR_SET_DUMPABLE, 1);
	fd = session();
	start(&inside);
	job->result[2] = attach(fd, inside.pid, UTRACE_SCOPE_PROCESS) > 0;
	job->result[3] = attach(fd, job->mine->pid, UTRACE_SCOPE_PROCESS);
	job->result[4] = attach(fd, job->roots->pid, UTRACE_SCOPE_PROCESS);
	job->result[5] = attach_system(fd);
	stop(&inside);
}

TEST_F(rights, namespace)
{
	struct target *mine = &self->mine, *roots = &self->roots;
	struct job job = { .fn = do_namespace, .mine = mine, .roots = roots };

	run_as_nobody(&job);
	is(1, job.result[0],
	   "user namespace: its owner may trace what is in it");
	is(0, job.result[1], "user namespace: nobody may make one");
	is(1, job.result[2], "user namespace: in it, a process in it");
	is(-EPERM, job.result[3],
	   "user namespace: in it, the same user's outside");
	is(-EPERM, job.result[4], "user namespace: in it, root's outside");
	is(-EPERM, job.result[5], "user namespace: in it, the system");
}

/* Counts the calls of a kernel function by ftrace's function tracer. */
#define TRACING	"/sys/kernel/tracing/instances/rights/"

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
	     path);
	close(fd);
}

static int calls_traced(const char *function)
{
	char line[512];
	FILE *file = fopen(TRACING "trace", "r");
	int n = 0;

	need(file, TRACING "trace");
	while (fgets(line, sizeof(line), file))
		n += line[0] != '#' && strstr(line, function);
	fclose(file);
	return n;
}

/*
 * As for a perf event of all tasks on all CPUs, the security module is called,
 * three times, for the caller and for the opener.
 */
TEST_F(rights, security_module)
{
	static const char hook[] = "security_perf_event_open";
	int fd = session();

	need(!mkdir(TRACING, 0700), TRACING);
	write_file(TRACING "set_ftrace_filter", hook);
	write_file(TRACING "current_tracer", "function");
	need(!setup(fd, 64 << 10) &&
	     attach(fd, getpid(), UTRACE_SCOPE_THREAD) > 0, "attach");
	is(0, calls_traced(hook),
	   "security modules: this hook is not for one's own thread");
	need(attach_system(fd) > 0, "attach");
	is(6, calls_traced(hook),
	   "security modules are asked about the system");
	write_file(TRACING "current_tracer", "nop");
	close(fd);
	rmdir(TRACING);
}

static int be_setid(int n, char *program)
{
	char * const argv[] = { program, "mark", "3", NULL };
	char * const envp[] = { NULL };

	/* Without a set-id bit that works, the result would say nothing. */
	if (geteuid() == getuid())
		return 2;
	mark(n);
	open(SECRET, O_RDONLY);
	if (setresuid(getuid(), getuid(), getuid()))
		return 3;
	mark(n);
	open(SECRET, O_RDONLY);
	execve(program, argv, envp);
	return 4;
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "mark")) {
		mark(atoi(argv[2]));
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "setid"))
		return be_setid(atoi(argv[2]), argv[3]);
	return test_harness_run(argc, argv);
}

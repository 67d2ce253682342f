// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: which files, how many, and who may
 */
#include "../silent.h"
#include "sites.h"

#include <sys/mount.h>

/* A file of instructions, and the set-id copy of this program. */
static char code[64], setid[64];

/* What no debugger can execute elsewhere, and where in the file that is. */
static const struct instruction {
	int offset;
	unsigned char bytes[4];
	const char *name;
} bad[] = {
	{ 0x100, { 0xf4 }, "hlt" },
	{ 0x110, { 0xcc }, "int3" },
	{ 0x120, { 0xcd, 0x80 }, "int" },
	{ 0x130, { 0xfa }, "cli" },
	{ 0x140, { 0x06 }, "an opcode that 64-bit programs do not have" },
};

#define NBAD	((int)ARRAY_SIZE(bad))

static void name_files(void)
{
	snprintf(code, sizeof(code), "%s/code", folder);
	snprintf(setid, sizeof(setid), "%s/setid", folder);
}

/*
 * 'N': map the file of instructions at PLACE, and execute the first ones.  'd':
 * be dumpable, or not.  'n': become nobody.  'X': execute the set-id program.
 */
static void obey_here(struct target *target, struct order *order)
{
	char number[16];
	int fd;

	name_files();
	switch (order->what) {
	case 'N':
		fd = open(code, O_RDONLY | O_CLOEXEC);
		if (mmap(PLACE, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE |
			 MAP_FIXED, fd, 0) != PLACE)
			_exit(95);
		close(fd);
		((void (*)(void))PLACE)();
		break;
	case 'd':
		prctl(PR_SET_DUMPABLE, order->n);
		break;
	case 'n':
		become_nobody();
		break;
	case 'X':
		snprintf(number, sizeof(number), "%d", shared_fd);
		execl(setid, "sites", "setid", number, library[0], NULL);
		_exit(93);
	default:
		obey_sites(target, order);
	}
}

/* Nops, a return after eight of them, and what is not to be executed. */
static int make_code(size_t size)
{
	unsigned char *bytes = malloc(size);
	int i, fd;

	name_files();
	memset(bytes, 0x90, size);
	bytes[8] = 0xc3;
	for (i = 0; i < NBAD; i++)
		memcpy(bytes + bad[i].offset, bad[i].bytes, 2);
	fd = open(code, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	need(fd >= 0 && write(fd, bytes, size) == (ssize_t)size, code);
	free(bytes);
	return fd;
}

static struct utrace_ioc_marker marker_in(int fd, __u64 offset)
{
	return (struct utrace_ioc_marker){
		.fd = fd,
		.offset = offset,
		.id = ID(offset),
	};
}

/* Offset 0 of an empty file is no offset, either. */
static void is_no_file(struct tracer *tracer, int fd, const char *what)
{
	struct utrace_ioc_marker arg = marker_in(fd, 0);
	struct stat file;
	int ret;

	need(fd >= 0 && !fstat(fd, &file), what);
	ret = try_arm(tracer->fd, &arg);
	holds(ret == -EIO || (!file.st_size && ret == -EINVAL), "%s: %d", what,
	      ret);
	close(fd);
}

TEST_F(sites, files_without_code)
{
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	struct tracer tracer;
	int pair[2], ret;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is_no_file(&tracer, open("/proc/self/stat", O_RDONLY), "a /proc file");
	is_no_file(&tracer, open("/proc/self/maps", O_RDONLY), "another one");
	is_no_file(&tracer, open("/proc", O_RDONLY | O_DIRECTORY), "/proc");
	is_no_file(&tracer, open(folder, O_RDONLY | O_DIRECTORY), "a folder");
	is_no_file(&tracer, open("/dev/zero", O_RDONLY), "a device");
	is_no_file(&tracer, session(), "a session");
	is_no_file(&tracer, dup(tracer.fd), "the descriptor itself");
	need(!pipe(pair), "pipe");
	is_no_file(&tracer, pair[0], "a pipe");
	is_no_file(&tracer, socket(AF_UNIX, SOCK_STREAM, 0), "a socket");
	is_no_file(&tracer, pidfd_of(target->pid, 0), "a pidfd");
	arg = marker_in(open(library[0], O_PATH), site[HIT].offset);
	ret = try_arm(tracer.fd, &arg);
	holds(!ret || ret == -EBADF, "a descriptor of O_PATH: %d", ret);
	untrace(&tracer);
}

TEST_F(sites, instructions)
{
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	int fd = make_code(PAGE), i;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, 'N', 0);
	for (i = 0; i < NBAD; i++) {
		arg = marker_in(fd, bad[i].offset);
		is(-EOPNOTSUPP, try_arm(tracer.fd, &arg), bad[i].name);
		is(-ENOENT, try_disarm(tracer.fd, &arg), "  is not armed");
	}
	/* A file that is mapped by hand; each instruction is one of 8 nops. */
	for (i = 0; i < 8; i++)
		arm_marker(&tracer, marker_in(fd, i));
	have(target, SELF, 'N', 0);
	is(8, gather(tracer.session, 8), "nops");
	disarm_marker(&tracer, marker_in(fd, 3));
	have(target, SELF, 'N', 0);
	is(7, gather(tracer.session, 7), "without one of them");
	is(2, hits_of(&tracer, ID(0)), "the first one is hit twice");
	untrace(&tracer);
	have(target, SELF, 'N', 0);
	close(fd);
	unlink(code);
}

/* A place where there can be no breakpoint is found only when it is mapped. */
TEST_F(sites, instructions_mapped_later)
{
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	int fd = make_code(PAGE), i, ret;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < NBAD; i++) {
		arg = marker_in(fd, bad[i].offset);
		ret = try_arm(tracer.fd, &arg);
		holds(!ret || ret == -EOPNOTSUPP, "%s: %d", bad[i].name, ret);
	}
	arm_marker(&tracer, marker_in(fd, 0));
	have(target, SELF, 'N', 0);
	is(1, gather(tracer.session, 1), "mapped: the good one is hit");
	untrace(&tracer);
	have(target, SELF, 'N', 0);
	close(fd);
	unlink(code);
}

/* As many markers as a descriptor may have. */
#define MOST	1024

TEST_F_TIMEOUT(sites, many_markers, LONG_TIMEOUT)
{
	int fd = make_code(MOST + 2 * PAGE), n, i, ret = 0;
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, 'N', 0);
	for (n = 0; n < MOST && !ret; n++) {
		arg = marker_in(fd, n < 8 ? n : n + PAGE);
		ret = try_arm(tracer.fd, &arg);
	}
	is(0, ret, "as many markers as there may be");
	is(MOST, n, "which are 1024");
	arg = marker_in(fd, MOST + PAGE);
	for (i = 0; i < 3; i++)
		is(-ENOSPC, try_arm(tracer.fd, &arg), "one more");
	is(-ENOENT, try_disarm(tracer.fd, &arg), "is not there");
	have(target, SELF, 'N', 0);
	is(8, gather(tracer.session, 8), "the others are");
	disarm_marker(&tracer, marker_in(fd, 0));
	have(target, SELF, 'N', 0);
	is(7, gather(tracer.session, 7), "one is disarmed");
	is(0, try_arm(tracer.fd, &arg), "another one takes its place");
	close(tracer.fd);
	tracer.fd = try_markers(tracer.session, target->pid,
				UTRACE_SCOPE_PROCESS, tracer.target);
	need(tracer.fd >= 0, "a descriptor");
	arm_marker(&tracer, arg);
	have(target, SELF, 'N', 0);
	are_none(&tracer, "hits of a descriptor that is closed");
	untrace(&tracer);
	close(fd);
	unlink(code);
}

/* One marker is one, however often a descriptor arms the marker. */
TEST_F_TIMEOUT(sites, armed_often, LONG_TIMEOUT)
{
	const long end = now_ms() + 3 * DEADLINE_MS;
	struct utrace_ioc_marker arg = marker_of(HIT);
	struct target *target = &self->target;
	struct tracer tracer;
	int i, ret = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < MOST + 10 && now_ms() < end && !ret; i++)
		ret = try_arm(tracer.fd, &arg) ?: try_disarm(tracer.fd, &arg);
	is(0, ret, "a marker that comes and goes");
	holds(i > 0, "%d times", i);
	arm_place(&tracer, HIT);
	is(1, semaphore(target, HIT), "the semaphore");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits");
	untrace(&tracer);
}

/* A file that is deleted, and one that is renamed, keep their markers. */
TEST_F(sites, deleted)
{
	struct target *target = &self->target;
	char other[80];
	struct tracer tracer;

	snprintf(other, sizeof(other), "%s/other", folder);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	need(!rename(library[0], other), "rename");
	arm_place(&tracer, HIT);
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "renamed");
	need(!unlink(other), "unlink");
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "deleted");
	disarm_place(&tracer, HIT);
	is(0, semaphore(target, HIT), "disarmed");
	arm_place(&tracer, HIT);
	/* The marker does not need the descriptor of the file. */
	close(library_fd);
	hit(target, HIT, 3);
	are_hits(&tracer, target, HIT, 3, "closed");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "the end");
}

/* Lay an overlay over the folder of the libraries.  Returns whether there are any. */
static bool lay_over(char *above, size_t size)
{
	char options[256], upper[64], work[64];

	snprintf(above, size, "/tmp/utrace-above.XXXXXX");
	need(mkdtemp(above), above);
	snprintf(upper, sizeof(upper), "%s/upper", above);
	snprintf(work, sizeof(work), "%s/work", above);
	need(!mkdir(upper, 0755) && !mkdir(work, 0755), above);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s",
		 folder, upper, work);
	if (!mount("overlay", folder, "overlay", 0, options))
		return true;
	need(errno == ENODEV, "mount an overlay");
	return false;
}

/* Take the overlay away, with what has been copied to it. */
static void lay_bare(const char *above)
{
	char command_text[64];

	umount2(folder, MNT_DETACH);
	snprintf(command_text, sizeof(command_text), "rm -rf %s", above);
	need(!system(command_text), command_text);
}

/* Put a file system with a copy of the library over the folder. */
static int mount_library(void)
{
	char path[PATH_MAX];
	int fd;

	need(!mount("none", folder, "tmpfs", 0, "mode=0755"), "mount");
	beside("probed.so", path, sizeof(path));
	copy_file(path, library[1], 0755);
	fd = open(library[1], O_RDONLY | O_CLOEXEC);
	need(fd >= 0, library[1]);
	return fd;
}

/* A file system is not busy when its markers are disarmed, nor is one that had returns. */
TEST_F(sites, unmounted)
{
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	struct tracer tracer;
	int fd, i;

	for (i = 0; i < 2; i++) {
		fd = mount_library();
		arg = marker_at(&site[i ? ADD : HIT], fd, ID(HIT));
		arg.flags = i ? UTRACE_MARKER_RETURN : 0;
		trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
		arm_marker(&tracer, arg);
		stage->library = 1;
		have(target, SELF, 'o', 0);
		hit(target, i ? ADD : HIT, 5);
		is(5, gather(tracer.session, 5), "hits");
		holds(umount(folder) && errno == EBUSY, "the target has a file");
		close(fd);
		have(target, SELF, 'x', 0);
		untrace(&tracer);
		stage->library = 0;
		need(until(!umount(folder)), "the file system is not busy");
	}
}

/* A file of an overlay is mapped from the file system that has the pages. */
TEST_F(sites, overlay)
{
	struct target *target = &self->target;
	struct utrace_ioc_marker arg;
	struct tracer tracer;
	char above[40];
	int fd;

	if (!lay_over(above, sizeof(above))) {
		lay_bare(above);
		SKIP(return, "no overlays (OVERLAY_FS)");
	}
	fd = open(library[1], O_RDONLY | O_CLOEXEC);
	need(fd >= 0, library[1]);
	arg = marker_at(&site[HIT], fd, ID(HIT));
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, arg);
	stage->library = 1;
	have(target, SELF, 'o', 0);
	is(1, semaphore(target, HIT), "a file below");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits");
	/* The overlay copies the file, and the mapping is that of the old one. */
	need(!chmod(library[1], 0700), "chmod");
	disarm_marker(&tracer, arg);
	is(0, semaphore(target, HIT), "disarmed");
	arm_marker(&tracer, arg);
	is(0, semaphore(target, HIT), "the copy is not mapped");
	have(target, SELF, 'x', 0);
	have(target, SELF, 'o', 0);
	is(1, semaphore(target, HIT), "the copy");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the copy");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "closed");
	close(fd);
	have(target, SELF, 'x', 0);
	stage->library = 0;
	lay_bare(above);
}

/* Rights. */

/* A process of root, and what root has opened for it. */
static struct target *roots;
static struct tracer roots_tracer;

static void as_nobody(int (*function)(void *arg), void *arg)
{
	need(!set_unprivileged("1") && !chmod("/dev/utrace", 0666),
	     "the device");
	is(0, in_child(function, arg), "a user without privileges");
	set_unprivileged("0");
}

static int arm_roots(void *arg)
{
	struct utrace_ioc_marker marker = marker_of(HIT);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	is(1, semaphore(&own, HIT), "one's own process");
	hit(&own, HIT, 5);
	are_hits(&tracer, &own, HIT, 5, "hits");
	is(-EPERM, try_markers(tracer.session, roots->pid, UTRACE_SCOPE_PROCESS,
			       tracer.target), "WORDS of root's process");
	is(-EPERM, try_markers(tracer.session, roots->pid, UTRACE_SCOPE_TREE,
			       0), "likewise, a tree");
	is(-EPERM, try_arm(roots_tracer.fd, &marker), "ARM of root's process");
	marker = marker_of(PLAIN);
	is(-EPERM, try_arm(roots_tracer.fd, &marker), "ARM of another marker");
	have(roots, SELF, 'h', 3);
	is(5, hits_of(&tracer, ID(HIT)), "hits of root are not counted");
	untrace(&tracer);
	is(0, semaphore(&own, HIT), "closed");
	stop(&own);
	return dev_test->exit_code;
}

/* A file of a server that brings no pages. */
static int arm_silent(void *fd)
{
	struct utrace_ioc_marker marker = marker_in(*(int *)fd, 0);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_PROCESS);
	is(-EIO, try_arm(tracer.fd, &marker), "a file of FUSE");
	arm_place(&tracer, HIT);
	untrace(&tracer);
	stop(&own);
	return dev_test->exit_code;
}

TEST_F(sites, file_of_fuse)
{
	int fd, fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	struct utrace_ioc_marker marker;
	struct tracer tracer;

	need(fuse >= 0, "/dev/fuse");
	fd = silent_open(fuse);
	need(fd >= 0, "a server");
	marker = marker_in(fd, 0);
	as_nobody(arm_silent, &fd);
	trace(&tracer, self->target.pid, UTRACE_SCOPE_PROCESS);
	is(0, try_arm(tracer.fd, &marker), "root may");
	untrace(&tracer);
	close(fd);
	close(fuse);
}

TEST_F(sites, root_process)
{
	roots = &self->target;
	trace(&roots_tracer, roots->pid, UTRACE_SCOPE_PROCESS);
	as_nobody(arm_roots, NULL);
	have(roots, SELF, 'b', 0);
	is(0, semaphore(roots, HIT), "root's process has no semaphore");
	is(0, gather(roots_tracer.session, 0), "nor hits");
	untrace(&roots_tracer);
}

/* The process cannot be traced for a while. */
static int arm_hidden(void *arg)
{
	struct utrace_ioc_marker marker = marker_of(PLAIN);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	hit(&own, HIT, 2);
	are_hits(&tracer, &own, HIT, 2, "hits");
	have(&own, SELF, 'd', 0);
	is(-EPERM, try_arm(tracer.fd, &marker), "hidden: ARM");
	hit(&own, HIT, 10);
	are_none(&tracer, "hidden: hits");
	is(2, hits_of(&tracer, ID(HIT)), "nor are they counted");
	have(&own, SELF, 'd', 1);
	hit(&own, HIT, 2);
	is(2, gather(tracer.session, 2), "not hidden: hits");
	have(&own, SELF, 'd', 0);
	untrace(&tracer);
	is(0, semaphore(&own, HIT), "closed while hidden");
	hit(&own, HIT, 2);
	stop(&own);
	return dev_test->exit_code;
}

TEST_F(sites, process_that_is_hidden)
{
	as_nobody(arm_hidden, NULL);
}

#define HITS	10

/*
 * The set-id program.  number[]: 0: the semaphore at first.  1: hits.  It ends
 * when the test says so.
 */
static int be_setid(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	long (*function)(long a, long b);
	__u16 *semaphore;
	int i, left = 4 * DEADLINE_MS;

	if (geteuid() || !handle)
		return 90;
	function = dlsym(handle, "probed_hit");
	semaphore = dlsym(handle, "utrace_test_hit_semaphore");
	shared->number[0] = load(semaphore, 2);
	for (i = 0; i < HITS; i++)
		function(A + i, B);
	shared->number[1] = HITS;
	for (; !shared->quit && left; left--)
		usleep(1000);
	return load(semaphore, 2) ? 89 : 0;
}

/* Nobody's process becomes a set-id program. */
static int arm_setid(void *arg)
{
	struct utrace_ioc_marker marker = marker_of(PLAIN);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	hit(&own, HIT, 2);
	are_hits(&tracer, &own, HIT, 2, "hits before");
	tell(&own, SELF, 'X', 0);
	need(until(shared->number[1]), "the set-id program");
	are_none(&tracer, "hits of the set-id program");
	is(2, hits_of(&tracer, ID(HIT)), "nor are they counted");
	is(-EPERM, try_arm(tracer.fd, &marker), "ARM");
	holds(true, "its semaphore was %ld", shared->number[0]);
	untrace(&tracer);
	shared->quit = 1;
	is(0, status_of(own.pid), "at the end its semaphore is 0");
	return dev_test->exit_code;
}

TEST_F(sites, setid_program)
{
	copy_file("/proc/self/exe", (name_files(), setid), 04755);
	as_nobody(arm_setid, NULL);
	unlink(setid);
}

/* Root may trace the set-id program. */
TEST_F(sites, setid_program_traced_by_root)
{
	struct target *target = &self->target;
	struct tracer tracer;

	copy_file("/proc/self/exe", (name_files(), setid), 04755);
	have(target, SELF, 'n', 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	tell(target, SELF, 'X', 0);
	need(until(shared->number[1]), "the set-id program");
	is(1, shared->number[0], "its semaphore");
	is(HITS, gather(tracer.session, HITS), "its hits");
	is(HITS, count(UTRACE_REC_MARKER, target->pid), "are its own");
	untrace(&tracer);
	shared->quit = 1;
	is(0, status_of(target->pid), "at the end its semaphore is 0");
	unlink(setid);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "setid")) {
		share_again(argv[2]);
		return be_setid(argv[3]);
	}
	return test_harness_run(argc, argv);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - markers: which files, how many, and who may
 */
#include "../silent.h"
#include "code.h"
#include "sites_events.h"

#include <sys/mount.h>

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

/* The set-id copy of this program. */
static const char *setid_path(void)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/setid", folder);
	return path;
}

/* Orders about the file of code */

static long map_pages(long n)
{
	map_code(code_path(), n * PAGE);
	return 0;
}

static long call_offset(long offset)
{
	return call_code(offset, NULL);
}

/* Map a page, and execute the first instructions. */
static long map_and_call(long unused)
{
	map_pages(1);
	return call_offset(0);
}

static long unmap_pages(long unused)
{
	if (munmap(PLACE, 2 * PAGE))
		_exit(94);
	return 0;
}

/* Lock the second page, which splits the mapping. */
static long lock_second(long unused)
{
	if (mlock(PLACE + PAGE, PAGE))
		_exit(92);
	return 0;
}

static long execute_setid(long unused)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", shared_fd);
	execl(setid_path(), "sites", "setid", number, library[0], NULL);
	_exit(93);
}

/* Eight nops, a return, and instructions that are never executed. */
static int make_nops(size_t size)
{
	int fd = make_code(code_path()), i;

	write_code(fd, size, "", 0);
	put_code(fd, 8, "\xc3", 1);
	for (i = 0; i < NBAD; i++)
		put_code(fd, bad[i].offset, bad[i].bytes, 2);
	return fd;
}

/* Offset 0 of an empty file is no offset, either. */
static void is_no_file(struct tracer *tracer, int fd, const char *what)
{
	struct marker arg = marker_in(fd, 0, 0);
	struct stat file;
	int ret;

	need(fd >= 0 && !fstat(fd, &file), what);
	ret = try_arm(tracer, &arg);
	holds(ret == -EIO || (!file.st_size && ret == -EINVAL), "%s: %d", what,
	      ret);
	close(fd);
}

TEST_F(sites, files_without_code)
{
	struct target *target = &self->target;
	struct marker arg;
	struct tracer tracer;
	int pair[2], ret;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is_no_file(&tracer, open("/proc/self/stat", O_RDONLY), "a /proc file");
	is_no_file(&tracer, open("/proc/self/maps", O_RDONLY), "another one");
	is_no_file(&tracer, open("/proc", O_RDONLY | O_DIRECTORY), "/proc");
	is_no_file(&tracer, open(folder, O_RDONLY | O_DIRECTORY), "a folder");
	is_no_file(&tracer, open("/dev/zero", O_RDONLY), "a device");
	is_no_file(&tracer, session(), "another session");
	is_no_file(&tracer, dup(tracer.session), "the session itself");
	need(!pipe(pair), "pipe");
	is_no_file(&tracer, pair[0], "a pipe");
	is_no_file(&tracer, socket(AF_UNIX, SOCK_STREAM, 0), "a socket");
	is_no_file(&tracer, pidfd_of(target->pid, 0), "a pidfd");
	arg = marker_in(open(library[0], O_PATH), site[HIT].offset, 0);
	ret = try_arm(&tracer, &arg);
	holds(!ret || ret == -EBADF, "a descriptor of O_PATH: %d", ret);
	untrace(&tracer);
}

TEST_F(sites, instructions)
{
	struct target *target = &self->target;
	struct marker arg;
	int fd = make_nops(PAGE), i;
	struct tracer tracer;
	__u32 ids[8];

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_and_call, 0);
	for (i = 0; i < NBAD; i++) {
		arg = marker_in(fd, bad[i].offset, 0);
		is(-EOPNOTSUPP, try_arm(&tracer, &arg), bad[i].name);
		is(-ENOENT, hits_of(&tracer, arg.cookie), "  is not armed");
	}
	/* A file that is mapped by hand; each instruction is one of 8 nops. */
	for (i = 0; i < 8; i++)
		ids[i] = arm_marker(&tracer, marker_in(fd, i, 0));
	have(target, SELF, map_and_call, 0);
	is(8, gather(tracer.session, 8), "nops");
	disarm_marker(&tracer, ids[3]);
	have(target, SELF, map_and_call, 0);
	is(7, gather(tracer.session, 7), "without one of them");
	is(2, hits_of(&tracer, COOKIE(0)), "the first one is hit twice");
	untrace(&tracer);
	have(target, SELF, map_and_call, 0);
	close(fd);
	unlink(code_path());
}

/* A place where there can be no breakpoint is found only when it is mapped. */
TEST_F(sites, instructions_mapped_later)
{
	struct target *target = &self->target;
	struct marker arg;
	int fd = make_nops(PAGE), i, ret;
	struct tracer tracer;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < NBAD; i++) {
		arg = marker_in(fd, bad[i].offset, 0);
		ret = try_arm(&tracer, &arg);
		holds(!ret || ret == -EOPNOTSUPP, "%s: %d", bad[i].name, ret);
	}
	arm_marker(&tracer, marker_in(fd, 0, 0));
	have(target, SELF, map_and_call, 0);
	is(1, gather(tracer.session, 1), "mapped: the good one is hit");
	untrace(&tracer);
	have(target, SELF, map_and_call, 0);
	close(fd);
	unlink(code_path());
}

/* FUNCTION, or an instruction whose first 2 bytes end a page. */
#define CROSSING	((int)PAGE - 2)
#define NUMBER		5

/* A number whose lowest byte is an instruction, too: a nop. */
#define INSIDE		0x90

static int make_crossing(void)
{
	int fd = make_code(code_path());

	write_code(fd, 2 * PAGE, function_of(NUMBER), FUNCTION_SIZE);
	put_code(fd, CROSSING, function_of(NUMBER), FUNCTION_SIZE);
	return fd;
}

/* The target's function at an offset is there, and hits as many markers as it should. */
static void is_called(struct target *target, struct tracer *tracer, int offset, int hits,
		      const char *text)
{
	is(NUMBER, have(target, SELF, call_offset, offset), text);
	is(hits, gather(tracer->session, hits), "  hits");
}

/* The instruction is armed, by @id. */
static void check_crossing(struct target *target, struct tracer *tracer, __u32 id)
{
	struct utrace_rec_marker *rec;

	is(INT3, code_byte(target->pid, CROSSING), "armed");
	is_called(target, tracer, CROSSING, 1, "  the function");
	rec = (void *)find(UTRACE_REC_MARKER, target->pid);
	is((uintptr_t)PLACE + CROSSING, rec ? rec->ip : 0, "  where it is");
	is(1, hits_of(tracer, COOKIE(CROSSING)), "  counted");
	disarm_marker(tracer, id);
	is(MOV, code_byte(target->pid, CROSSING), "disarmed");
	is_called(target, tracer, CROSSING, 0, "  the function");
}

/* An instruction is in two pages, which are mapped before ARM, split, or mapped later. */
TEST_F(sites, across_pages)
{
	struct target *target = &self->target;
	int fd = make_crossing();
	struct tracer tracer;
	__u32 id;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_pages, 2);
	id = arm_marker(&tracer, marker_in(fd, CROSSING, 0));
	check_crossing(target, &tracer, id);
	have(target, SELF, lock_second, 0);
	id = arm_marker(&tracer, marker_in(fd, CROSSING, 0));
	check_crossing(target, &tracer, id);
	have(target, SELF, unmap_pages, 0);
	id = arm_marker(&tracer, marker_in(fd, CROSSING, 0));
	have(target, SELF, map_pages, 2);
	check_crossing(target, &tracer, id);
	untrace(&tracer);
	close(fd);
	unlink(code_path());
}

/* The rest of the instruction is not mapped, so the process cannot execute it. */
static void is_cut_off(struct target *target, struct tracer *tracer,
		       struct marker *marker)
{
	is(-ENXIO, try_arm(tracer, marker), "an instruction without its end");
	is(-ENOENT, hits_of(tracer, marker->cookie), "  is not armed");
	is(MOV, code_byte(target->pid, CROSSING), "  the byte");
}

TEST_F(sites, at_the_end_of_a_mapping)
{
	struct marker marker;
	struct target *target = &self->target;
	int fd = make_crossing();
	struct tracer tracer;

	marker = marker_in(fd, CROSSING, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_pages, 1);
	is_cut_off(target, &tracer, &marker);
	arm_marker(&tracer, marker_in(fd, FUNCTION, 0));
	is_called(target, &tracer, FUNCTION, 1, "another instruction of the page");
	/* The page is the process's own now. */
	is_cut_off(target, &tracer, &marker);
	have(target, SELF, map_pages, 2);
	is_called(target, &tracer, CROSSING, 0, "mapped with its end, and not armed");
	have(target, SELF, unmap_pages, 0);
	marker.id = arm_marker(&tracer, marker);
	have(target, SELF, map_pages, 1);
	is(MOV, code_byte(target->pid, CROSSING), "armed, and mapped without its end");
	have(target, SELF, map_pages, 2);
	is_called(target, &tracer, CROSSING, 1, "armed, and mapped with its end");
	is(0, try_disarm(&tracer, &marker), "disarm");
	is_called(target, &tracer, CROSSING, 0, "  the function");
	untrace(&tracer);
	is(MOV, code_byte(target->pid, FUNCTION), "closed: the byte of the function");
	close(fd);
	unlink(code_path());
}

/*
 * Of an instruction, the target has mapped the first byte, which alone could not be probed.
 * That is no reason to refuse a probe of all processes.
 */
TEST_F(sites, cut_mapping_refuses_nobody)
{
	/* andn %eax, %eax, %eax; ret.  The first byte, and zeros, cannot be decoded. */
	static const unsigned char code[] = { 0xc4, 0xe2, 0x78, 0xf2, 0xc0, 0xc3 };
	const int offset = PAGE - 1;
	struct target *target = &self->target;
	char text[160];
	int fd;

	if (!has_tracefs())
		SKIP(return, NO_TRACEFS);
	fd = make_crossing();
	put_code(fd, offset, code, sizeof(code));
	have(target, SELF, map_pages, 1);
	snprintf(text, sizeof(text), "p:utrace_test/%s %s:0x%x\n", event_name('p'), code_path(),
		 offset);
	need(!write_tracefs("uprobe_events", text), "uprobe_events");
	is(0, switch_event('p', true), "the event is enabled");
	is(code[0], code_byte(target->pid, offset), "  without a breakpoint in the target");
	have(target, SELF, map_pages, 2);
	is(0, have(target, SELF, call_offset, offset), "mapped with its end: the result");
	is(1, event_hits('p'), "  hits");
	end_event('p');
	is(code[0], code_byte(target->pid, offset), "afterwards: the byte");
	close(fd);
	unlink(code_path());
}

/* The function in memory is that of the file, whose bytes no marker has changed. */
static void is_intact(struct target *target, int fd)
{
	unsigned char bytes[FUNCTION_SIZE];

	need(pread(fd, bytes, sizeof(bytes), FUNCTION) == sizeof(bytes), "the file");
	is(0, memcmp(bytes, function_of(INSIDE), sizeof(bytes)), "  the file");
	read_memory(target->pid, PLACE + FUNCTION, bytes, sizeof(bytes));
	is(0, memcmp(bytes, function_of(INSIDE), sizeof(bytes)), "  the memory");
}

/*
 * uprobes allow an offset where no instruction begins.  The process executes the
 * breakpoint as a part of the instruction, here of its number.
 */
TEST_F(sites, inside_an_instruction)
{
	struct target *target = &self->target, other;
	int fd = make_code(code_path());
	struct tracer tracer;
	__u32 inside, whole;

	write_code(fd, PAGE, function_of(INSIDE), FUNCTION_SIZE);
	start_sites(&other);
	have(&other, SELF, map_pages, 1);
	have(target, SELF, map_pages, 1);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	inside = arm_marker(&tracer, marker_in(fd, FUNCTION + 1, 0));
	is(INT3, have(target, SELF, call_offset, FUNCTION), "a breakpoint in the number");
	are_none(&tracer, "  hits");
	is(INSIDE, have(&other, SELF, call_offset, FUNCTION),
	   "  the number in another process");
	is_intact(&other, fd);
	/* The copy that the kernel executes is that of the file. */
	whole = arm_marker(&tracer, marker_in(fd, FUNCTION, 0));
	is(INSIDE, have(target, SELF, call_offset, FUNCTION),
	   "a breakpoint at the instruction, too");
	is(1, gather(tracer.session, 1), "  its hit");
	is(0, hits_of(&tracer, COOKIE(FUNCTION + 1)), "  and none inside");
	disarm_marker(&tracer, inside);
	disarm_marker(&tracer, whole);
	is(INSIDE, have(target, SELF, call_offset, FUNCTION), "disarmed");
	is_intact(target, fd);
	untrace(&tracer);
	stop(&other);
	close(fd);
	unlink(code_path());
}

/* A file of hugetlbfs that has one page; returns its descriptor, or -1. */
static int open_huge(void)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB);
	struct stat file;

	if (fd >= 0)
		need(!fstat(fd, &file) && !ftruncate(fd, file.st_blksize), "a huge page");
	return fd;
}

TEST_F(sites, file_of_huge_pages)
{
	struct target *target = &self->target;
	struct marker marker;
	struct tracer tracer;
	int fd = open_huge();

	if (fd < 0)
		SKIP(return, "no hugetlbfs (HUGETLBFS): %s", strerror(errno));
	marker = marker_in(fd, FUNCTION, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	is(-EIO, try_arm(&tracer, &marker), "a file of hugetlbfs");
	marker.site.flags = UTRACE_MARKER_F_RETURN;
	is(-EIO, try_arm(&tracer, &marker), "  a return");
	is(-ENOENT, hits_of(&tracer, marker.cookie), "  is not armed");
	arm_place(&tracer, HIT);
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of another file");
	untrace(&tracer);
	close(fd);
}

/* As many markers as a target may have. */
#define MOST	1024

TEST_F_TIMEOUT(sites, many_markers, LONG_TIMEOUT)
{
	int fd = make_nops(MOST + 2 * PAGE), n, i, ret = 0;
	struct target *target = &self->target;
	struct tracer tracer, other;
	struct marker arg, first;
	__u32 filled;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	have(target, SELF, map_and_call, 0);
	for (n = 0; n < MOST && !ret; n++) {
		arg = marker_in(fd, n < 8 ? n : n + PAGE, 0);
		ret = try_arm(&tracer, &arg);
		first = n ? first : arg;
	}
	is(0, ret, "as many markers as there may be");
	is(MOST, n, "which are 1024");
	arg = marker_in(fd, MOST + PAGE, 0);
	for (i = 0; i < 3; i++)
		is(-ENOSPC, try_arm(&tracer, &arg), "one more");
	is(MOST, marker_counts(&tracer, NULL, 0, &filled), "is not there");
	have(target, SELF, map_and_call, 0);
	is(8, gather(tracer.session, 8), "the others are");
	trace_by(&other, tracer.session, target->pid, UTRACE_SCOPE_TREE);
	is(0, try_arm(&other, &arg), "another target of the session has room");
	leave(&other);
	disarm_marker(&tracer, first.id);
	have(target, SELF, map_and_call, 0);
	is(7, gather(tracer.session, 7), "one is disarmed");
	is(0, try_arm(&tracer, &arg), "another one takes its place");
	trace_anew(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_marker(&tracer, arg);
	have(target, SELF, map_and_call, 0);
	are_none(&tracer, "hits of a target that is detached");
	untrace(&tracer);
	close(fd);
	unlink(code_path());
}

/* One marker is one, however often a target arms the marker. */
TEST_F_TIMEOUT(sites, armed_often, LONG_TIMEOUT)
{
	const long end = now_ms() + 3 * DEADLINE_MS;
	struct marker arg = marker_of(HIT);
	struct target *target = &self->target;
	struct tracer tracer;
	int i, ret = 0;

	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	for (i = 0; i < MOST + 10 && now_ms() < end && !ret; i++)
		ret = try_arm(&tracer, &arg) ?: try_disarm(&tracer, &arg);
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
	struct marker arg;
	struct tracer tracer;
	int fd, i;

	for (i = 0; i < 2; i++) {
		fd = mount_library();
		arg = marker_at(&site[i ? ADD : HIT], fd, COOKIE(HIT));
		arg.site.flags = i ? UTRACE_MARKER_F_RETURN : 0;
		trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
		arm_marker(&tracer, arg);
		stage->library = 1;
		have(target, SELF, load_library, 1);
		hit(target, i ? ADD : HIT, 5);
		is(5, gather(tracer.session, 5), "hits");
		holds(umount(folder) && errno == EBUSY, "the target has a file");
		close(fd);
		have(target, SELF, unload_library, 1);
		untrace(&tracer);
		stage->library = 0;
		need(until(!umount(folder)), "the file system is not busy");
	}
}

/* A file of an overlay is mapped from the file system that has the pages. */
TEST_F(sites, overlay)
{
	struct target *target = &self->target;
	struct marker arg;
	struct tracer tracer;
	char above[40];
	int fd;

	if (!lay_over(above, sizeof(above))) {
		lay_bare(above);
		SKIP(return, "no overlays (OVERLAY_FS)");
	}
	fd = open(library[1], O_RDONLY | O_CLOEXEC);
	need(fd >= 0, library[1]);
	arg = marker_at(&site[HIT], fd, COOKIE(HIT));
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arg.id = arm_marker(&tracer, arg);
	stage->library = 1;
	have(target, SELF, load_library, 1);
	is(1, semaphore(target, HIT), "a file below");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits");
	/* The overlay copies the file, and the mapping is that of the old one. */
	need(!chmod(library[1], 0700), "chmod");
	disarm_marker(&tracer, arg.id);
	is(0, semaphore(target, HIT), "disarmed");
	arm_marker(&tracer, arg);
	is(0, semaphore(target, HIT), "the copy is not mapped");
	have(target, SELF, unload_library, 1);
	have(target, SELF, load_library, 1);
	is(1, semaphore(target, HIT), "the copy");
	hit(target, HIT, 5);
	are_hits(&tracer, target, HIT, 5, "hits of the copy");
	untrace(&tracer);
	is(0, semaphore(target, HIT), "closed");
	close(fd);
	have(target, SELF, unload_library, 1);
	stage->library = 0;
	lay_bare(above);
}

/* Rights. */

/* A process of root, and what root has opened for it. */
static struct target *roots;
static struct tracer roots_tracer;

static void as_nobody(int (*function)(void *arg), void *arg)
{
	allow_users();
	is(0, in_child_with_sysctls(function, arg), "a user without privileges");
	set_unprivileged("0");
}

static int arm_roots(void *arg)
{
	struct marker marker = marker_of(HIT);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	is(1, semaphore(&own, HIT), "one's own process");
	hit(&own, HIT, 5);
	are_hits(&tracer, &own, HIT, 5, "hits");
	is(-EPERM, attach(tracer.session, roots->pid, UTRACE_SCOPE_PROCESS),
	   "ATTACH to root's process");
	is(-EPERM, attach(tracer.session, roots->pid, UTRACE_SCOPE_TREE),
	   "ATTACH to root's process as a tree");
	is(-EPERM, try_arm(&roots_tracer, &marker), "ARM in root's process");
	marker = marker_of(PLAIN);
	is(-EPERM, try_arm(&roots_tracer, &marker), "ARM of another marker");
	have(roots, SELF, hit_here, 3);
	is(5, hits_of(&tracer, COOKIE(HIT)), "hits of root are not counted");
	untrace(&tracer);
	is(0, semaphore(&own, HIT), "closed");
	stop(&own);
	return dev_test->exit_code;
}

/* A file of a server that brings no pages. */
static int arm_silent(void *fd)
{
	struct marker marker = marker_in(*(int *)fd, 0, 0);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_PROCESS);
	is(-EACCES, try_arm(&tracer, &marker), "a file of FUSE");
	arm_place(&tracer, HIT);
	untrace(&tracer);
	stop(&own);
	return dev_test->exit_code;
}

static int send_session(void *socket)
{
	become_nobody();
	return !send_fd(*(int *)socket, session());
}

/* Root arms in a process of nobody, by a session of nobody. */
static void arm_silent_for_nobody(int fd)
{
	struct marker marker = marker_in(fd, 0, 0);
	struct tracer tracer;
	struct target own;
	int pair[2], lent;

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair), "socketpair");
	allow_users();
	is(0, in_child(send_session, &pair[1]), "a session of nobody");
	lent = receive_fd(pair[0]);
	need(lent >= 0, "a session of nobody");
	start_sites(&own);
	have(&own, SELF, be_nobody, 0);
	trace_by(&tracer, lent, own.pid, UTRACE_SCOPE_PROCESS);
	is(-EACCES, try_arm(&tracer, &marker), "root, by a session of nobody");
	arm_place(&tracer, HIT);
	untrace(&tracer);
	stop(&own);
	close(pair[0]);
	close(pair[1]);
	set_unprivileged("0");
}

TEST_F(sites, file_of_fuse)
{
	int fd, fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	struct marker marker;
	struct tracer tracer;

	need(fuse >= 0, "/dev/fuse");
	fd = silent_open(fuse);
	need(fd >= 0, "a server");
	marker = marker_in(fd, 0, 0);
	as_nobody(arm_silent, &fd);
	arm_silent_for_nobody(fd);
	trace(&tracer, self->target.pid, UTRACE_SCOPE_PROCESS);
	is(0, try_arm(&tracer, &marker), "root may");
	untrace(&tracer);
	close(fd);
	close(fuse);
}

TEST_F(sites, root_process)
{
	roots = &self->target;
	trace(&roots_tracer, roots->pid, UTRACE_SCOPE_PROCESS);
	as_nobody(arm_roots, NULL);
	have(roots, SELF, look_around, 0);
	is(0, semaphore(roots, HIT), "root's process has no semaphore");
	is(0, gather(roots_tracer.session, 0), "nor hits");
	untrace(&roots_tracer);
}

/* The process cannot be traced for a while. */
static int arm_hidden(void *by)
{
	struct marker marker = marker_of(PLAIN);
	const enum hiding hiding = *(enum hiding *)by;
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	hit(&own, HIT, 2);
	are_hits(&tracer, &own, HIT, 2, "hits");
	set_hidden(&own, hiding, true);
	is(-EPERM, try_arm(&tracer, &marker), "hidden: ARM");
	hit(&own, HIT, 10);
	are_none(&tracer, "hidden: hits");
	is(2, hits_of(&tracer, COOKIE(HIT)), "nor are they counted");
	set_hidden(&own, hiding, false);
	hit(&own, HIT, 2);
	is(2, gather(tracer.session, 2), "not hidden: hits");
	is(0, try_arm(&tracer, &marker), "not hidden: ARM");
	set_hidden(&own, hiding, true);
	untrace(&tracer);
	is(0, semaphore(&own, HIT), "closed while hidden");
	hit(&own, HIT, 2);
	stop(&own);
	return dev_test->exit_code;
}

/* The library is mapped while the process cannot be traced. */
static int map_hidden(void *by)
{
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	is(1, semaphore(&own, HIT), "the semaphore");
	set_hidden(&own, *(enum hiding *)by, true);
	have(&own, SELF, unload_library, 0);
	have(&own, SELF, load_library, 0);
	is(0, semaphore(&own, HIT), "mapped while hidden: the semaphore");
	holds((look(&own, address_of(HIT), 2) & 0xff) != INT3, "and no breakpoint");
	hit(&own, HIT, 2);
	are_none(&tracer, "nor hits");
	untrace(&tracer);
	stop(&own);
	return dev_test->exit_code;
}

TEST_F(sites, process_that_is_hidden)
{
	enum hiding by = BY_DUMPABLE;

	as_nobody(arm_hidden, &by);
}

TEST_F(sites, library_of_a_process_that_is_hidden)
{
	enum hiding by[] = { BY_DUMPABLE, BY_SYSCTL };

	as_nobody(map_hidden, &by[0]);
	as_nobody(map_hidden, &by[1]);
}

TEST_F(sites, unprivileged_is_0)
{
	enum hiding by = BY_SYSCTL;

	as_nobody(arm_hidden, &by);
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
	struct marker marker = marker_of(PLAIN);
	struct tracer tracer;
	struct target own;

	become_nobody();
	start_sites(&own);
	trace(&tracer, own.pid, UTRACE_SCOPE_TREE);
	arm_place(&tracer, HIT);
	hit(&own, HIT, 2);
	are_hits(&tracer, &own, HIT, 2, "hits before");
	tell(&own, SELF, execute_setid, 0);
	need(until(shared->number[1]), "the set-id program");
	are_none(&tracer, "hits of the set-id program");
	is(2, hits_of(&tracer, COOKIE(HIT)), "nor are they counted");
	is(-EPERM, try_arm(&tracer, &marker), "ARM");
	is(0, shared->number[0], "its semaphore at first");
	untrace(&tracer);
	shared->quit = 1;
	is(0, status_of(own.pid), "at the end its semaphore is 0");
	return dev_test->exit_code;
}

TEST_F(sites, setid_program)
{
	copy_file("/proc/self/exe", setid_path(), 04755);
	as_nobody(arm_setid, NULL);
	unlink(setid_path());
}

/* Root may trace the set-id program. */
TEST_F(sites, setid_program_traced_by_root)
{
	struct target *target = &self->target;
	struct tracer tracer;

	copy_file("/proc/self/exe", setid_path(), 04755);
	have(target, SELF, be_nobody, 0);
	trace(&tracer, target->pid, UTRACE_SCOPE_PROCESS);
	arm_place(&tracer, HIT);
	tell(target, SELF, execute_setid, 0);
	need(until(shared->number[1]), "the set-id program");
	is(1, shared->number[0], "its semaphore");
	is(HITS, gather(tracer.session, HITS), "its hits");
	is(HITS, count(UTRACE_REC_MARKER, target->pid), "are its own");
	untrace(&tracer);
	shared->quit = 1;
	is(0, status_of(target->pid), "at the end its semaphore is 0");
	unlink(setid_path());
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "setid")) {
		share_again(argv[2]);
		return be_setid(argv[3]);
	}
	return test_harness_run(argc, argv);
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - a process whose mmap_lock is kept by a FUSE server of its user
 *
 * The server answers all requests but reads.  A thread that reads the page of its file
 * through /proc/self/mem holds the mmap_lock for reading until the server ends.  A user
 * without privileges may mount FUSE in a user namespace of his own.
 */
#ifndef UTRACE_FUSE_H
#define UTRACE_FUSE_H

#include "words.h"
#include "../common.h"
#include "../silent.h"

/**
 * struct fuse_server - what the test and the process share
 * @pid: the server
 * @reads: requests that it has not answered
 */
struct fuse_server {
	_Atomic pid_t pid;
	_Atomic int reads;
};

static struct fuse_server *fuse_server;

/* The page, in the process. */
static void *fuse_page;

static inline void fuse_share(void)
{
	fuse_server = mmap(NULL, sizeof(*fuse_server), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(fuse_server != MAP_FAILED, "shared memory");
}

static inline void fuse_serve(int fuse)
{
	static char in[1 << 17];
	struct fuse_in_header *head = (void *)in;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		if (read(fuse, in, sizeof(in)) > 0) {
			fuse_server->reads += head->opcode == FUSE_READ;
			silent_answer(fuse, head);
		} else if (errno != ENOENT && errno != EINTR) {
			_exit(0);
		}
	}
}

/* Start the server, and map the page of its file. */
static inline void *fuse_map_in(int fuse, const char *dir)
{
	char path[64];
	pid_t pid = fork();
	void *at;
	int fd;

	if (!pid)
		fuse_serve(fuse);
	fuse_server->pid = pid;
	snprintf(path, sizeof(path), "%s/page", dir);
	fd = pid < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

/* The file system is mounted only while this runs. */
static inline void *fuse_mount_and_map(int fuse)
{
	char dir[] = "/tmp/utrace-fuse.XXXXXX", options[80];
	void *at = NULL;

	if (!mkdtemp(dir))
		return NULL;
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0",
		 fuse);
	if (!mount("silent", dir, "fuse", MS_NODEV | MS_NOSUID, options)) {
		at = fuse_map_in(fuse, dir);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	return at;
}

/* Become root of a user namespace; returns 0 or -errno. */
static inline int fuse_enter_namespace(void)
{
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %d 1", geteuid());
	snprintf(groups, sizeof(groups), "0 %d 1", getegid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -errno;
	return ut_write_file("/proc/self/setgroups", "deny") ?:
	       ut_write_file("/proc/self/uid_map", users) ?:
	       ut_write_file("/proc/self/gid_map", groups);
}

/*
 * Map the page, as a user without privileges and without threads; returns 0 or -errno.
 */
static inline int fuse_map(void)
{
	int ret = fuse_enter_namespace(), fuse;

	if (ret)
		return ret;
	/* FUSE wants a descriptor that was opened in the namespace of the mount. */
	fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse < 0)
		return -errno;
	fuse_page = fuse_mount_and_map(fuse);
	/* The server alone has the descriptor: so the connection ends with the server. */
	close(fuse);
	return fuse_page ? 0 : -ENODEV;
}

/* Hold the mmap_lock for reading until the server ends. */
static inline void fuse_read_page(void)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	need(fd >= 0, "/proc/self/mem");
	if (pread(fd, &byte, 1, (uintptr_t)fuse_page) == 1)
		printf("# the silent page was read\n");
	close(fd);
}

/* Check whether the task is in state S or D.  @where gets its "syscall". */
static inline bool sleeps(pid_t tid, char *where, int size)
{
	char line[512], *state;

	if (!of_task(tid, "stat", line, sizeof(line)))
		return false;
	state = strrchr(line, ')');
	return state && (state[2] == 'D' || state[2] == 'S') &&
	       of_task(tid, "syscall", where, size);
}

/* Check whether the task sleeps in the call. */
static inline bool waits_in(pid_t tid, long nr)
{
	char where[512];

	return sleeps(tid, where, sizeof(where)) &&
	       *where >= '0' && *where <= '9' && atol(where) == nr;
}

/* Check whether the task sleeps in an exception at the address, in no call. */
static inline bool waits_at(pid_t tid, const void *at)
{
	unsigned long sp, ip;
	char where[512];

	return sleeps(tid, where, sizeof(where)) &&
	       sscanf(where, "-1 %lx %lx", &sp, &ip) == 2 && ip == (uintptr_t)at;
}

/* The server has the request, the reader waits for it, and the writer for the reader. */
static inline bool fuse_keeps(pid_t reader, pid_t writer)
{
	return fuse_server->reads > 0 && waits_in(reader, SYS_pread64) &&
	       waits_in(writer, SYS_mmap);
}

/* End the server, and so the read. */
static inline void fuse_end(void)
{
	if (fuse_server->pid > 0)
		kill(fuse_server->pid, SIGKILL);
}

#endif /* UTRACE_FUSE_H */

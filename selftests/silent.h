/* SPDX-License-Identifier: GPL-2.0 */
/*
 * utrace selftests - pages whose fault never ends
 *
 * A callback that touches such a page stays in its page fault until it is
 * killed.  The page belongs to a userfaultfd that nobody reads, or to a file of
 * a FUSE server that answers all requests but reads.
 *
 * An asynchronous read of such a file keeps execve(2): exit_aio() waits for the read,
 * with exec_update_lock held, and no signal ends that wait.
 */
#ifndef UTRACE_SILENT_H
#define UTRACE_SILENT_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>

enum silent_kind { SILENT_UFFD, SILENT_FUSE, SILENT_KINDS };

static const char * const silent_names[] = { "userfaultfd", "FUSE" };

/* A page of this process that nobody fills; NULL if there is no userfaultfd. */
static inline void *silent_uffd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register arg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page;

	if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
		return NULL;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return NULL;
	arg.range.start = (uintptr_t)page;
	arg.range.len = 4096;
	return ioctl(fd, UFFDIO_REGISTER, &arg) ? NULL : page;
}

static inline void silent_reply(int fd, uint64_t unique, int error,
				void *data, size_t len)
{
	struct fuse_out_header head = {
		.len = sizeof(head) + len, .error = error, .unique = unique,
	};
	struct iovec out[] = { { &head, sizeof(head) }, { data, len } };

	if (writev(fd, out, len ? 2 : 1) < 0)
		_exit(1);
}

/* Inode 1 is the root; every name in it is the one file, inode 2. */
static inline struct fuse_attr silent_attr(uint64_t ino)
{
	return (struct fuse_attr) {
		.ino = ino, .nlink = 1, .size = ino == 1 ? 0 : 4096,
		.mode = ino == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
	};
}

static inline void silent_answer(int fd, const struct fuse_in_header *in)
{
	/*
	 * With readahead a fault waits for the page to be read in, and SIGKILL
	 * ends that wait.
	 */
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096,
		.max_readahead = 1 << 17,
		.flags = FUSE_ASYNC_READ | FUSE_ASYNC_DIO,
	};
	struct fuse_entry_out entry = { .nodeid = 2, .attr = silent_attr(2) };
	struct fuse_attr_out attr = { .attr = silent_attr(in->nodeid) };
	struct fuse_open_out opened = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		silent_reply(fd, in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		silent_reply(fd, in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		silent_reply(fd, in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		silent_reply(fd, in->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		silent_reply(fd, in->unique, -ENOSYS, NULL, 0);
	}
}

/* The server of the file that this process has opened last. */
static pid_t silent_server;

/* The FUSE server, which dies with the process that opens the file. */
static inline void silent_serve(int fd)
{
	static char in[1 << 17];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, in, sizeof(in)) > 0 || errno == ENOENT || errno == EINTR)
		silent_answer(fd, (struct fuse_in_header *)in);
	_exit(0);
}

/*
 * Open a file of the FUSE server @fuse, or return -1.  The file system is mounted only
 * while this runs.
 */
static inline int silent_open(int fuse)
{
	char dir[] = "/tmp/silent.XXXXXX", path[64], options[128];
	int fd = -1;

	if (!mkdtemp(dir))
		return -1;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
	snprintf(path, sizeof(path), "%s/page", dir);
	if (!mount("silent", dir, "fuse", MS_NODEV | MS_NOSUID, options)) {
		silent_server = fork();
		if (!silent_server)
			silent_serve(fuse);
		fd = silent_server < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
		umount2(dir, MNT_DETACH);
	}
	rmdir(dir);
	return fd;
}

/* Open a file of a new server, or return -1.  The server alone has the connection. */
static inline int silent_file(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), fd;

	if (fuse < 0)
		return -1;
	fd = silent_open(fuse);
	close(fuse);
	return fd;
}

/* End the server, and so all reads. */
static inline void silent_end(void)
{
	if (silent_server <= 0)
		return;
	kill(silent_server, SIGKILL);
	waitpid(silent_server, NULL, 0);
	silent_server = 0;
}

/* Begin a read of such a file, which a later execve(2) of this process waits for. */
static inline bool silent_read_async(int fd)
{
	static char page[4096] __attribute__((aligned(4096)));
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = fd,
		.aio_buf = (uintptr_t)page,
		.aio_nbytes = sizeof(page),
	};
	struct iocb *requests[] = { &request };
	aio_context_t context = 0;

	return !fcntl(fd, F_SETFL, O_DIRECT) &&
	       !syscall(SYS_io_setup, 1, &context) &&
	       syscall(SYS_io_submit, context, 1, requests) == 1;
}

/* Read a file of /proc/PID; returns its length, or -1. */
static inline ssize_t silent_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		n = read(fd, text, size - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n;
}

/*
 * Check whether execve(2) of the process waits for such a read.  Then
 * exec_update_lock is held and the link "exe" cannot be read before that read
 * ends.  A child tries to, and is killed.  Most other files, such as "status",
 * take a reference to the mm for a moment.  The task that drops the last
 * reference to the old mm waits for the read, so a reader of these files may
 * wait in the place of the process.
 */
static inline bool silent_keeps(pid_t pid)
{
	char path[64], text[1024];
	pid_t child;
	int looks = 0;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	child = fork();
	if (!child)
		_exit(readlink(path, text, sizeof(text)) < 0);
	if (child < 0)
		return false;
	do {
		usleep(5000);
		if (waitpid(child, NULL, WNOHANG))
			return false;
		silent_proc(child, "status", text, sizeof(text));
		looks = strstr(text, "\nState:\tD") ? looks + 1 : 0;
	} while (looks < 5);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return true;
}

/* Map a page of such a file. */
static inline void *silent_map(int fuse)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE,
			  silent_open(fuse), 0);

	return page == MAP_FAILED ? NULL : page;
}

static inline void *silent_fuse(void)
{
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	void *page;

	if (fuse < 0)
		return NULL;
	page = silent_map(fuse);
	close(fuse);
	return page;
}

static inline void *silent_page(enum silent_kind kind)
{
	return kind == SILENT_FUSE ? silent_fuse() : silent_uffd();
}

#endif /* UTRACE_SILENT_H */

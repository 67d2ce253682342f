// SPDX-License-Identifier: GPL-2.0
/*
 * utrace selftests - system calls with bad pointers
 *
 * Usage: hostile pointers | race ROUNDS | stuck | stuck-exec
 *
 * The pointers are to memory that does not exist, that is unmapped during the
 * call, or that userfaultfd never provides.  "pointers" prints the result of
 * each call, which must not depend on tracers; "race" succeeds if it comes to
 * its end; "stuck" and "stuck-exec" say "ready" and never return.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long page;

static void *map(size_t size, int prot)
{
	void *p = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	return p;
}

static void say(const char *what, long ret)
{
	printf("%s: %ld %s\n", what, ret, ret < 0 ? strerrorname_np(errno) : "");
}

/* Use the pointer as every kind of argument that is captured. */
static void bad_pointer(const char *name, void *p)
{
	struct iovec half[2] = {
		{ .iov_base = p, .iov_len = 64 }, { .iov_base = p, .iov_len = 64 }
	};
	struct msghdr msg = { .msg_name = p, .msg_namelen = 16 };
	char *argv[2] = { p };
	int pipes[2], sock = socket(AF_UNIX, SOCK_DGRAM, 0);

	printf("%s\n", name);
	if (pipe(pipes))
		exit(1);
	say("openat", syscall(SYS_openat, AT_FDCWD, p, O_RDONLY));
	say("rename", syscall(SYS_rename, p, p));
	say("symlink", syscall(SYS_symlink, "/tmp", p));
	say("mount", syscall(SYS_mount, p, p, p, 0, p));
	say("execve", syscall(SYS_execve, p, argv, argv));
	say("execve argv", syscall(SYS_execve, "/bin/true", argv, NULL));
	say("execve vector", syscall(SYS_execve, "/bin/true", p, NULL));
	say("write", syscall(SYS_write, pipes[1], p, 64));
	say("writev", syscall(SYS_writev, pipes[1], half, 2));
	say("writev vector", syscall(SYS_writev, pipes[1], p, 2));
	say("connect", syscall(SYS_connect, sock, p, 16));
	say("bind", syscall(SYS_bind, sock, p, 110));
	say("sendmsg", syscall(SYS_sendmsg, sock, &msg, 0));
	say("sendmsg header", syscall(SYS_sendmsg, sock, p, 0));
	/* Lengths that exceed any memory. */
	say("writev many", syscall(SYS_writev, pipes[1], p, -1L));
	say("bind long", syscall(SYS_bind, sock, p, 0x7fffffff));
	write(pipes[1], "x", 1);
	say("read", syscall(SYS_read, pipes[0], p, 1));
	close(pipes[0]);
	close(pipes[1]);
	close(sock);
}

static int pointers(void)
{
	char *pages = map(2 * page, PROT_READ | PROT_WRITE);
	char *gone = map(page, PROT_READ);

	munmap(gone, page);
	memset(pages, 'x', 2 * page);
	mprotect(pages + page, page, PROT_NONE);
	bad_pointer("gone", gone);
	bad_pointer("protected", pages + page);
	bad_pointer("begins well", pages + page - 7);
	bad_pointer("low", (void *)0x10);
	bad_pointer("kernel", (void *)0xffffffff81000000);
	bad_pointer("between", (void *)0x8000000000000000);
	bad_pointer("last", (void *)-16L);
	/* A string that ends with its page. */
	pages[page - 1] = '\0';
	say("openat at the end",
	    syscall(SYS_openat, AT_FDCWD, pages + page - 8, O_RDONLY));
	return 0;
}

static char *moving;
static atomic_bool over;

static void *mover(void *unused)
{
	while (!over) {
		munmap(moving, page);
		mmap(moving, page, PROT_READ | PROT_WRITE,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		memset(moving, 'y', 16);
	}
	return NULL;
}

static int race(long rounds)
{
	struct iovec vec[2];
	pthread_t thread;
	int null = open("/dev/null", O_WRONLY);
	long i;

	moving = map(page, PROT_READ | PROT_WRITE);
	vec[0] = (struct iovec) { moving, 64 };
	vec[1] = vec[0];
	pthread_create(&thread, NULL, mover, NULL);
	for (i = 0; i < rounds; i++) {
		syscall(SYS_openat, AT_FDCWD, moving, O_RDONLY);
		syscall(SYS_writev, null, vec, 2);
		syscall(SYS_rename, moving, moving + 8);
		syscall(SYS_execve, moving, vec, vec);
	}
	over = true;
	pthread_join(thread, NULL);
	return 0;
}

/* A page that nobody provides. */
static void *unserved(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *p = map(page, PROT_READ | PROT_WRITE);

	reg.range.start = (unsigned long)p;
	reg.range.len = page;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) ||
	    ioctl(fd, UFFDIO_REGISTER, &reg)) {
		perror("userfaultfd");
		exit(1);
	}
	return p;
}

static int stuck(bool exec)
{
	char *argv[2] = { unserved() };

	printf("ready\n");
	fflush(stdout);
	if (exec)
		syscall(SYS_execve, "/bin/true", argv, NULL);
	else
		syscall(SYS_openat, AT_FDCWD, argv[0], O_RDONLY);
	return 1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	page = sysconf(_SC_PAGESIZE);
	if (!strcmp(what, "pointers"))
		return pointers();
	if (!strcmp(what, "race"))
		return race(argc > 2 ? atol(argv[2]) : 1000);
	if (!strcmp(what, "stuck"))
		return stuck(false);
	if (!strcmp(what, "stuck-exec"))
		return stuck(true);
	fprintf(stderr, "usage: hostile pointers | race ROUNDS | stuck | stuck-exec\n");
	return 2;
}
